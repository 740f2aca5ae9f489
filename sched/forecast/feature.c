/* SPDX-License-Identifier: Apache-2.0 */
/* Features, from a view: what the host has summed up of tenants and pools, no walk over jobs. */
#include "sched/forecast/outlook.h"
#include "sched/internal/tasks.h"
#include "weir/tenant.h"

#include <math.h>

static const double GIB = 1024.0 * 1024 * 1024;
static const double DAY_NS = 86400e9;

#define FEATURE_ROW(id, its_group, its_name, text)                                                 \
    [WEIR_FEATURE_##id] = { .name = (its_name), .help = (text), .group = WEIR_FEATURE_##its_group },
static const struct weir_feature features[WEIR_FEATURE_COUNT] = { WEIR_FEATURES(FEATURE_ROW) };
#define GROUP_ROW(id, text) [id] = (text),
static const char *const groups[WEIR_FEATURE_GROUP_COUNT] = { WEIR_FEATURE_GROUPS(GROUP_ROW) };

uint32_t weir_feature_count(void)
{
    return WEIR_FEATURE_COUNT;
}

const struct weir_feature *weir_feature_at(uint32_t index)
{
    return index < WEIR_FEATURE_COUNT ? &features[index] : NULL;
}

const char *weir_feature_group_name(uint32_t group)
{
    return group < WEIR_FEATURE_GROUP_COUNT ? groups[group] : NULL;
}

static double whole(int64_t units)
{
    return (double)units / (double)WEIR_ONE;
}

/* The mean moves towards what was asked for since the last look; at first it is that. */
static void look_back(struct weir_feature_past *past, int64_t now_ns, double asked)
{
    const double passed_ns = past->is_known != 0 ? (double)(now_ns - past->at_ns) : 0;

    if (past->is_known == 0)
        past->hour = past->day = asked;
    past->hour += (past->asked - past->hour) * -expm1(-passed_ns / (DAY_NS / 24));
    past->day += (past->asked - past->day) * -expm1(-passed_ns / DAY_NS);
    past->asked = asked;
    past->at_ns = now_ns;
    past->is_known = 1;
}

static void tell_time(int64_t now_ns, double *values)
{
    const double pi = acos(-1);
    const double day = fmod((double)now_ns, DAY_NS) / DAY_NS;
    const double week = fmod((double)now_ns, 7 * DAY_NS) / (7 * DAY_NS);

    values[WEIR_FEATURE_DAY_SIN] = sin(2 * pi * day);
    values[WEIR_FEATURE_DAY_COS] = cos(2 * pi * day);
    values[WEIR_FEATURE_HALF_DAY_SIN] = sin(4 * pi * day);
    values[WEIR_FEATURE_HALF_DAY_COS] = cos(4 * pi * day);
    values[WEIR_FEATURE_WEEK_SIN] = sin(2 * pi * week);
    values[WEIR_FEATURE_WEEK_COS] = cos(2 * pi * week);
}

/* Those right below the root: what is below them is theirs. */
static void look_at_teams(const struct weir_view *view, double gpus, double *values)
{
    const uint32_t count = weir_view_tenants(view);

    for (uint32_t t = 1; t < count; t++) {
        struct weir_tenant tenant = { .size = sizeof tenant };
        (void)weir_view_tenant(view, t, &tenant);
        if (tenant.running + tenant.waiting == 0 || tenant.depth > 1)
            continue;
        const double asked = whole(tenant.used.gpu_units + tenant.wanted.gpu_units);
        const double share = gpus > 0 ? asked / gpus : 0;
        values[WEIR_FEATURE_TEAMS_ACTIVE]++;
        values[WEIR_FEATURE_TEAM_SHARE] = fmax(values[WEIR_FEATURE_TEAM_SHARE], share);
        values[WEIR_FEATURE_TEAM_SPREAD] += share * share;
    }
}

static void look_at_jobs(const struct weir_tenant *all, double *values)
{
    const double jobs = (double)all->running + all->waiting;
    const double gpus = whole(all->used.gpu_units + all->wanted.gpu_units);

    values[WEIR_FEATURE_JOBS_WAITING] = all->waiting;
    values[WEIR_FEATURE_GPUS_WAITING] = whole(all->wanted.gpu_units);
    values[WEIR_FEATURE_JOBS_RUNNING] = all->running;
    if (!(jobs > 0))
        return;
    values[WEIR_FEATURE_JOB_GPUS] = gpus / jobs;
    values[WEIR_FEATURE_JOB_CPUS] = whole(all->used.cpu_units + all->wanted.cpu_units) / jobs;
    values[WEIR_FEATURE_JOB_GPU_GIB] =
        (double)(all->used.gpu_mem_bytes + all->wanted.gpu_mem_bytes) / GIB / jobs;
}

void weir_view_features(const struct weir_view *view, struct weir_feature_past *past,
                        double *values)
{
    const struct weir_amounts total = weir_cluster_total(view->cluster);
    const struct weir_amounts free = weir_cluster_free(view->cluster);
    struct weir_tenant all = { .size = sizeof all };

    for (uint32_t i = 0; i < WEIR_FEATURE_COUNT; i++)
        values[i] = 0;
    (void)weir_view_tenant(view, 0, &all);
    const double gpus = whole(total.gpu_units - free.gpu_units + all.wanted.gpu_units);
    look_back(past, view->now_ns, gpus);
    values[WEIR_FEATURE_GPUS_ASKED] = gpus;
    values[WEIR_FEATURE_GPUS_ASKED_HOUR] = past->hour;
    values[WEIR_FEATURE_GPUS_ASKED_DAY] = past->day;
    values[WEIR_FEATURE_CPUS_ASKED] =
        whole(total.cpu_units - free.cpu_units + all.wanted.cpu_units);
    look_at_jobs(&all, values);
    for (uint32_t i = 0; i < view->pool_count; i++)
        values[WEIR_FEATURE_TASKS_WAITING] += weir_pool_tasks(weir_view_pool(view, i));
    tell_time(view->now_ns, values);
    look_at_teams(view, gpus, values);
}

void weir_feature_remember(struct weir_feature_past *past, struct weir_memory *memory)
{
    past->is_known = weir_memory_count(memory, past->is_known, 0) > 0;
    weir_memory_amount(memory, &past->at_ns);
    weir_memory_number(memory, &past->asked);
    weir_memory_number(memory, &past->hour);
    weir_memory_number(memory, &past->day);
}
