/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What jobs ask for; see the header. Run times are those at speed 1, so hours are of GPUs that are
 * as fast as the trace's; no job waits in this arithmetic. */
#include "sim/cli/look/show_jobs.h"

#include "sim/engine/time.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 16, NAME = 96 };

struct demand {
    uint32_t gpu_type; /* of a shape: what is accepted */
    double jobs, gpu_s;
};

struct demands {
    struct demand rows[MOST_ROWS]; /* the last one takes what is beyond */
    size_t count;
};

static struct demand *demand_of(struct demands *demands, uint32_t gpu_type)
{
    for (size_t i = 0; i < demands->count; i++)
        if (demands->rows[i].gpu_type == gpu_type)
            return &demands->rows[i];
    if (demands->count < MOST_ROWS)
        demands->rows[demands->count++] = (struct demand){ .gpu_type = gpu_type };
    return &demands->rows[demands->count - 1];
}

static bool is_by_process(const struct sim_workload *workload, const struct sim_job_spec *job)
{
    return workload->kind == SIM_WORKLOAD_GENERATED && job->count == UINT64_MAX;
}

/* How many of these come until the horizon; the process divides by weight. */
static double jobs_of(const struct sim_workload *workload, const struct sim_job_spec *job,
                      double weights, double horizon_s)
{
    if (workload->kind != SIM_WORKLOAD_GENERATED)
        return sim_time_s(job->submit_ns) <= horizon_s ? 1 : 0;
    if (job->count != UINT64_MAX)
        return (double)job->count;
    const double all =
        fmin(workload->arrivals.rate_per_s * horizon_s,
             workload->jobs_limit == UINT64_MAX ? HUGE_VAL : (double)workload->jobs_limit);
    return isfinite(all) && weights > 0 ? all * job->weight / weights : 0;
}

static void add_workload(struct demands *demands, const struct sim_workload *workload,
                         double horizon_s)
{
    double weights = 0;
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (is_by_process(workload, &workload->jobs[i]))
            weights += workload->jobs[i].weight;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        const struct sim_job_spec *job = &workload->jobs[i];
        const double run_s = sim_job_mean_run_s(workload, job);
        const struct sim_job_spec *first = sim_job_first(workload, job);
        const double count = jobs_of(workload, first, weights, horizon_s) * job->array;
        const bool comes_as_others_leave = first->users > 0;
        if (!(sim_job_gpus(job) > 0) || !isfinite(run_s) || comes_as_others_leave)
            continue;
        struct demand *demand = demand_of(demands, job->shape.gpu_type);
        demand->jobs += count;
        demand->gpu_s += count * run_s * sim_job_gpus(job);
    }
}

/* ---- what there is ---- */

static bool accepts(uint32_t gpu_type, uint32_t type)
{
    const struct weir_shape shape = { .gpu_type = gpu_type };
    return weir_shape_takes_type(&shape, type);
}

/* GPUs that are accepted: in the cluster, and on the node that has most of them. */
static double gpus_there(const struct sim_scenario *scenario, uint32_t gpu_type, double *on_a_node)
{
    double all = 0;
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const struct sim_node_group *group = &scenario->node_groups[i];
        const struct sim_node_type *type = &scenario->node_types[group->type];
        double here = 0;
        for (size_t g = 0; g < type->gpus_count; g++)
            here += accepts(gpu_type, type->gpus[g].type) ? type->gpus[g].count : 0;
        all += here * group->count;
        *on_a_node = fmax(*on_a_node, here);
    }
    return all;
}

static void name_of(const struct sim_scenario *scenario, uint32_t gpu_type, char name[NAME])
{
    size_t length = 0;
    name[0] = '\0';
    if (gpu_type == 0)
        (void)snprintf(name, NAME, "any");
    for (uint32_t t = 0; gpu_type != 0 && t < scenario->gpu_types_count && length < NAME; t++)
        if (accepts(gpu_type, t))
            length += (size_t)snprintf(name + length, NAME - length, "%s%s",
                                       length == 0 ? "" : ", ", scenario->gpu_types[t].name);
    if (name[0] == '\0')
        (void)snprintf(name, NAME, "none of the cluster");
}

static void add_row(struct sim_table *table, const struct sim_scenario *scenario,
                    const struct demand *demand, enum sim_format format, double horizon_s)
{
    char name[NAME];
    double on_a_node = 0;
    const double there_s = gpus_there(scenario, demand->gpu_type, &on_a_node) * horizon_s;
    name_of(scenario, demand->gpu_type, name);
    sim_table_add(table, name);
    sim_table_add_numbers(
        table, format,
        (const double[]){ round(demand->jobs), demand->gpu_s / 3600, there_s / 3600,
                          there_s > 0 ? 100 * demand->gpu_s / there_s : (double)NAN,
                          on_a_node > 0 ? ceil(demand->gpu_s / (on_a_node * horizon_s) - 1e-9)
                                        : (double)NAN },
        5);
}

struct sim_table *sim_show_jobs(const struct sim_scenario *scenario, enum sim_format format)
{
    static const struct sim_column columns[] = {
        { "GPU types accepted", "gpu_types", NULL, false, false },
        { "jobs", "jobs", NULL, true, true },
        { "asked", "gpu_hours_asked", "GPU h", true, true },
        { "there", "gpu_hours_there", "GPU h", true, true },
        { "asked of it", "asked_percent", "%", true, true },
        { "nodes by work", "least_nodes", "at least", true, true },
    };
    struct sim_table *table = sim_table_create(columns, sizeof columns / sizeof columns[0]);
    struct demands demands = { .count = 0 };
    const double horizon_s = sim_time_s(scenario->horizon_ns);
    if (scenario->horizon_ns == SIM_TIME_MAX)
        return table;
    for (size_t i = 0; i < scenario->workloads_count; i++)
        add_workload(&demands, &scenario->workloads[i], horizon_s);
    for (size_t i = 0; i < demands.count; i++)
        add_row(table, scenario, &demands.rows[i], format, horizon_s);
    return table;
}
