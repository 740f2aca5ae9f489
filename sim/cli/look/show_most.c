/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bounds of jobs in words; see the header. */
#include "sim/cli/look/show_most.h"

#include "sim/lab/alloc_bound.h"

#include <math.h>
#include <stdlib.h>

/* Of a list every row comes once, as far as it goes. */
static bool is_counted(const struct sim_workload *workload)
{
    bool is_known = workload->mode == SIM_WORKLOAD_STATIC && workload->jobs_limit == UINT64_MAX;
    for (size_t i = 0; is_known && i < workload->jobs_count; i++)
        is_known = workload->kind != SIM_WORKLOAD_GENERATED || workload->jobs[i].count < UINT64_MAX;
    return is_known;
}

static double jobs_of(const struct sim_workload *workload, size_t row)
{
    const struct sim_job_spec *job = &workload->jobs[row];
    return (double)job->members *
           (workload->kind == SIM_WORKLOAD_GENERATED ? (double)job->count : 1);
}

static weir_status ask(const struct sim_cluster *cluster, const struct sim_workload *workload,
                       struct sim_most *most)
{
    struct sim_job_kinds kinds = { .shapes = NULL };
    struct sim_alloc_bound bound = { .gpus = 0 };
    WEIR_TRY(sim_job_kinds_create(workload, &kinds));
    double *jobs = calloc((size_t)kinds.count + 1, sizeof *jobs);
    const struct sim_alloc_question question = { .cluster = cluster,
                                                 .kinds = &kinds,
                                                 .jobs = jobs };
    weir_status status = jobs == NULL ? WEIR_ENOMEM : WEIR_OK;
    most->asked_gpus = 0;
    for (size_t i = 0; status == WEIR_OK && i < workload->jobs_count; i++) {
        const double members = jobs_of(workload, i);
        jobs[kinds.of_row[i]] += members;
        most->asked_gpus += members * sim_kind_gpus(&workload->jobs[i].shape);
    }
    if (status == WEIR_OK)
        status = sim_alloc_bound_compute(&question, &bound);
    most->gpus = cluster->gpu_count;
    most->most_gpus = bound.gpus;
    free(jobs);
    sim_job_kinds_clear(&kinds);
    return status;
}

weir_status sim_show_most(const struct sim_scenario *scenario, struct sim_most *most)
{
    struct sim_cluster *cluster = NULL;
    *most = (struct sim_most){ .most_gpus = (double)NAN };
    WEIR_TRY(sim_cluster_create(scenario, &cluster));
    weir_status status = sim_load_bound_compute(cluster, NULL, &most->load);
    if (status == WEIR_OK && scenario->workloads_count > 0 && is_counted(&scenario->workloads[0]) &&
        cluster->gpu_count > 0)
        status = ask(cluster, &scenario->workloads[0], most);
    sim_cluster_destroy(cluster);
    return status;
}

void sim_print_most(const struct sim_most *most, FILE *out)
{
    const struct sim_load_bound *load = &most->load;
    if (sim_load_bound_says(load->most) && load->is_loss)
        (void)fprintf(out,
                      "In the long run any scheduler accepts at most %.1f %% of the GPU time asked "
                      "for (one pool of GPUs without nodes %.1f %%, no bound).\n\n",
                      100 * load->most, 100 * load->one_pool);
    else if (sim_load_bound_says(load->most))
        (void)fprintf(out,
                      "In the long run at most %.1f %% of the GPU time asked for can run, whoever "
                      "schedules: jobs that wait become more and more.\n\n",
                      100 * load->most);
    if (!isnan(most->most_gpus))
        (void)fprintf(
            out,
            "Its jobs, each once, ask for %.1f GPUs; any scheduler allocates at most %.1f "
            "of the %.0f there are (%.1f %%).\n\n",
            most->asked_gpus, most->most_gpus, most->gpus, 100 * most->most_gpus / most->gpus);
}
