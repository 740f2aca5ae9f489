/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs are of one kind: they ask for the same, for the same tenant, and may have the same. */
#include "sched/host/jobs.h"
#include "sched/internal/hash.h"

#include <string.h>

/* Labels as they were told: those that are preferred come and go. */
static uint32_t told_labels(const struct weir_rank_group *group)
{
    return group->shape.labels | group->soft_labels;
}

static uint64_t hash_labels(uint64_t hash, const struct weir_rank_group *group)
{
    const uint32_t labels = told_labels(group);

    return labels == 0 ? hash : weir_hash_add(hash, (uint64_t)labels << 32 | group->soft_labels);
}

static uint64_t hash_shape(uint64_t hash, const struct weir_shape *shape)
{
    hash = weir_hash_add(hash, (uint64_t)shape->kind << 32 | shape->gpu_count);
    hash = weir_hash_add(hash, (uint64_t)shape->cpu_units);
    hash = weir_hash_add(hash, (uint64_t)shape->gpu_units);
    hash = weir_hash_add(hash, (uint64_t)shape->nvdecs << 32 | shape->nvencs);
    hash = weir_hash_add(hash, (uint64_t)shape->ram_bytes);
    hash = weir_hash_add(hash, (uint64_t)shape->gpu_mem_bytes);
    return weir_hash_add(hash, (uint64_t)shape->gpu_type << 32 | shape->mig_slices);
}

static bool is_same_shape(const struct weir_shape *a, const struct weir_shape *b)
{
    return a->kind == b->kind && a->gpu_count == b->gpu_count && a->cpu_units == b->cpu_units &&
           a->gpu_units == b->gpu_units && a->nvdecs == b->nvdecs && a->nvencs == b->nvencs &&
           a->ram_bytes == b->ram_bytes && a->gpu_mem_bytes == b->gpu_mem_bytes &&
           a->gpu_type == b->gpu_type && a->codec_same_gpu == b->codec_same_gpu &&
           a->node_count == b->node_count && a->node_gpus == b->node_gpus &&
           a->mig_slices == b->mig_slices &&
           strncmp(a->mig_profile, b->mig_profile, WEIR_MIG_NAME) == 0;
}

uint64_t weir_job_kind_hash(const struct weir_job_spec *spec, uint32_t tenant)
{
    const uint64_t strategy = (uint64_t)spec->reservation << 32 | spec->strategy;
    uint64_t hash = weir_hash_add(strategy, (uint64_t)tenant << 32 | spec->group_count);

    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct weir_rank_group *const group = &spec->groups[i];
        hash = weir_hash_add(hash, (uint64_t)group->ranks << 32 | group->ranks_max);
        hash = hash_shape(weir_hash_add(hash, group->ranks_min), &group->shape);
        hash = hash_labels(hash, group);
    }
    for (uint32_t i = 0; i < WEIR_MAX_LICENCES; i++)
        if (spec->licences[i] > 0)
            hash = weir_hash_add(hash, (uint64_t)i << 32 | spec->licences[i]);
    return hash;
}

/* What its jobs ask for beside ranks, and whether they may have it. */
static bool has_same_licences(const struct weir_jobs *jobs, const struct weir_job_kind *kind,
                              const struct weir_job_spec *spec)
{
    return memcmp(kind->licences, spec->licences, sizeof kind->licences) == 0 &&
           kind->is_barred ==
               weir_licences_is_barred(&jobs->licences, spec->licences, spec->priority);
}

bool weir_job_kind_is(const struct weir_jobs *jobs, const struct weir_job_kind *kind,
                      const struct weir_job_spec *spec, uint32_t tenant)
{
    if (kind->tenant != tenant || kind->strategy != spec->strategy ||
        kind->reservation != spec->reservation || kind->group_count != spec->group_count)
        return false;
    for (uint32_t i = 0; i < kind->group_count; i++) {
        const struct weir_rank_group *const a = &kind->groups[i];
        const struct weir_rank_group *const b = &spec->groups[i];
        if (a->ranks != b->ranks || a->ranks_min != b->ranks_min || a->ranks_max != b->ranks_max ||
            !is_same_shape(&a->shape, &b->shape) || told_labels(a) != told_labels(b) ||
            a->soft_labels != b->soft_labels)
            return false;
    }
    return has_same_licences(jobs, kind, spec);
}
