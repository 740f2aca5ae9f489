/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which jobs of a trace can never run on some nodes, and why. Nodes of one make are looked at once.
 */
#include "workloads/facts_parts.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_PER_MIB INT64_C(1048576)

static int by_make(const void *left, const void *right)
{
    const struct wl_openb_node *const *a = left;
    const struct wl_openb_node *const *b = right;
    const int order = strcmp((*a)->model, (*b)->model);
    if (order != 0)
        return order;
    if ((*a)->gpus != (*b)->gpus)
        return (*a)->gpus < (*b)->gpus ? -1 : 1;
    if ((*a)->cpu_milli != (*b)->cpu_milli)
        return (*a)->cpu_milli < (*b)->cpu_milli ? -1 : 1;
    return (*a)->memory_mib < (*b)->memory_mib ? -1 : (*a)->memory_mib > (*b)->memory_mib;
}

/* One node of each make, in place; returns how many. */
static size_t list_makes(const struct wl_openb_nodes *nodes, const struct wl_openb_node **makes)
{
    size_t count = 0;
    for (size_t n = 0; n < nodes->count; n++)
        makes[n] = &nodes->nodes[n];
    qsort(makes, nodes->count, sizeof(const struct wl_openb_node *), by_make);
    for (size_t n = 0; n < nodes->count; n++)
        if (n == 0 || by_make(&makes[n], &makes[count - 1]) != 0)
            makes[count++] = makes[n];
    return count;
}

/* How far a job gets on a make: 0 its model is not there, 1 too few GPUs, 2 CPUs, 3 memory, 4 fits.
 */
static int steps_on(const struct wl_job *job, const struct wl_openb_node *make)
{
    const bool has_model =
        job->gpus == 0 || (make->gpus > 0 && wl_models_accept(job->models, make->model));
    if (!has_model)
        return 0;
    if (job->gpus > make->gpus)
        return 1;
    if (job->cpu_milli > make->cpu_milli)
        return 2;
    return job->memory_bytes / BYTES_PER_MIB > make->memory_mib ? 3 : 4;
}

struct totals {
    int64_t cpu_milli, memory_mib;
    const struct wl_openb_nodes *nodes;
};

static bool exceeds_cluster(const struct wl_job *job, const struct totals *totals)
{
    uint64_t gpus = 0;
    for (size_t n = 0; job->gpus > 0 && n < totals->nodes->count; n++)
        gpus += wl_models_accept(job->models, totals->nodes->nodes[n].model)
                    ? totals->nodes->nodes[n].gpus
                    : 0;
    return job->gpus > gpus || job->cpu_milli > totals->cpu_milli ||
           job->memory_bytes / BYTES_PER_MIB > totals->memory_mib;
}

static void judge(const struct wl_job *job, const struct wl_openb_node *const *makes, size_t count,
                  struct wl_never_fits *never)
{
    int best = 0;
    for (size_t m = 0; m < count && best < 4; m++) {
        const int steps = steps_on(job, makes[m]);
        best = steps > best ? steps : best;
    }
    never->model += best == 0 ? 1 : 0;
    never->gpus += best == 1 ? 1 : 0;
    never->cpus += best == 2 ? 1 : 0;
    never->memory += best == 3 ? 1 : 0;
}

bool wl_facts_fit(const struct wl_jobs *jobs, const struct wl_openb_nodes *nodes,
                  struct wl_trace_facts *facts)
{
    struct totals totals = { .nodes = nodes };
    const struct wl_openb_node **makes =
        calloc(nodes->count + 1, sizeof(const struct wl_openb_node *));
    if (makes == NULL)
        return false;
    const size_t count = list_makes(nodes, makes);
    for (size_t n = 0; n < nodes->count; n++) {
        totals.cpu_milli += nodes->nodes[n].cpu_milli;
        totals.memory_mib += nodes->nodes[n].memory_mib;
        facts->gpus_there += nodes->nodes[n].gpus;
    }
    facts->has_nodes = true;
    facts->nodes_there = nodes->count;
    facts->cpus_there = (double)totals.cpu_milli / 1000.0;
    facts->memory_there_gib = (double)totals.memory_mib / 1024.0;
    for (size_t i = 0; i < jobs->count; i++) {
        const size_t before =
            facts->never.model + facts->never.gpus + facts->never.cpus + facts->never.memory;
        judge(&jobs->jobs[i], makes, count, &facts->never);
        const size_t after =
            facts->never.model + facts->never.gpus + facts->never.cpus + facts->never.memory;
        facts->never.cluster += after > before && exceeds_cluster(&jobs->jobs[i], &totals) ? 1 : 0;
    }
    free(makes);
    return true;
}
