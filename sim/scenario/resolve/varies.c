/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What replications differ in; see the header. */
#include "sim/scenario/resolve/varies.h"

#include "sim/scenario/workload/trace_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* In the order in which they are told. */
enum part {
    PART_ORDER,
    PART_CLONES,
    PART_LEFT_OUT,
    PART_TRIM,
    PART_ARRIVALS,
    PART_DAYS,
    PART_FEW_DAYS,
    PART_COPIES,
    PART_JOBS,
    PART_ITEMS,
    PART_REFUSED,
    PART_SERVICE,
    PART_RETURNS,
    PART_SETUP,
    PART_PATIENCE,
    PART_RETRIES,
    PART_THINK,
    PART_ESTIMATES,
    PART_ACTORS,
    PART_FAULTS,
    PART_LAUNCHES,
    PART_SPOT,
    PART_DRIFT,
    PART_MEANS,
    PART_NODES,
    PARTS
};

static const char few_days[] = "days of the trace (fewer than 20: too few for an interval)";

static const char *const names[PARTS] = { [PART_ORDER] = "order of arrivals",
                                          [PART_CLONES] = "cloned jobs",
                                          [PART_LEFT_OUT] = "jobs left out",
                                          [PART_TRIM] = "jobs cloned or left out",
                                          [PART_ARRIVALS] = "arrivals",
                                          [PART_DAYS] = "days of the trace",
                                          [PART_FEW_DAYS] = few_days,
                                          [PART_COPIES] = "what is added to the trace or left out",
                                          [PART_JOBS] = "kinds of jobs drawn",
                                          [PART_ITEMS] = "items",
                                          [PART_REFUSED] = "who is turned away",
                                          [PART_SERVICE] = "service times",
                                          [PART_RETURNS] = "returns",
                                          [PART_SETUP] = "set-up times",
                                          [PART_PATIENCE] = "patience",
                                          [PART_RETRIES] = "delays of retries",
                                          [PART_THINK] = "think times",
                                          [PART_ESTIMATES] = "estimates of run times",
                                          [PART_ACTORS] = "times of calls and rollouts",
                                          [PART_FAULTS] = "faults",
                                          [PART_LAUNCHES] = "launches of nodes",
                                          [PART_SPOT] = "the spot market",
                                          [PART_DRIFT] = "drift",
                                          [PART_MEANS] = "means of measured laws",
                                          [PART_NODES] = "order of nodes" };

struct varies {
    bool has[PARTS];
};

static void note(struct varies *varies, enum part part, bool is_there)
{
    varies->has[part] = varies->has[part] || is_there;
}

/* An infinite variance is one, an unknown one too. */
static bool is_random(const struct sim_law *law)
{
    return law != NULL && !(sim_law_variance(law) <= 0.0);
}

/* ---- pipelines ---- */

/* Fractions of items are rounded by a draw. */
static bool is_drawn(const struct sim_law *returns)
{
    return returns != NULL && (is_random(returns) || fmod(sim_law_mean(returns), 1.0) > 0.0);
}

static void note_stage(struct varies *varies, const struct sim_stage *stage)
{
    note(varies, PART_SERVICE, is_random(stage->service.law));
    note(varies, PART_MEANS, stage->service.measurements > 0 && is_random(stage->service.law));
    note(varies, PART_RETURNS, is_drawn(stage->returns));
    note(varies, PART_SETUP,
         is_random(stage->setup) || is_random(stage->compile) || is_random(stage->warm_up) ||
             is_random(stage->setup_on_node));
    note(varies, PART_ITEMS, is_random(stage->bytes_out));
    note(varies, PART_FAULTS,
         stage->process_failure > 0 || stage->setup_failure > 0 || stage->miscount > 0 ||
             is_random(stage->worker_between));
}

static bool is_arrival_drawn(const struct sim_arrivals *arrivals)
{
    if (arrivals->kind == SIM_ARRIVALS_TRACE)
        return false;
    return arrivals->kind != SIM_ARRIVALS_RENEWAL || is_random(arrivals->gap) ||
           is_random(arrivals->batch);
}

static void note_pipeline(struct varies *varies, const struct sim_pipeline *pipeline)
{
    const struct sim_input *input = &pipeline->input;
    const bool is_class_drawn = input->classes_count > 1 && !input->recorded.has_classes;
    note(varies, PART_ARRIVALS, input->arrivals != NULL && is_arrival_drawn(input->arrivals));
    note(varies, PART_MEANS, input->arrivals != NULL && input->arrivals->measurements > 0);
    note(varies, PART_ITEMS, is_class_drawn || is_random(input->bytes));
    note(varies, PART_REFUSED, input->unauthorised > 0);
    for (size_t c = 0; c < input->classes_count; c++)
        note(varies, PART_ITEMS, is_random(input->classes[c].size));
    for (size_t s = 0; s < pipeline->stages_count; s++)
        note_stage(varies, &pipeline->stages[s]);
}

/* ---- jobs ---- */

/* Kinds that are drawn by weight, and not brought in exact numbers. */
static size_t drawn_kinds(const struct sim_workload *workload)
{
    size_t kinds = 0;
    for (size_t i = 0; i < workload->jobs_count; i++)
        kinds += workload->jobs[i].count == UINT64_MAX && workload->jobs[i].weight > 0 ? 1 : 0;
    return kinds;
}

static double gpus_of_nodes(const struct sim_scenario *scenario)
{
    double gpus = 0;
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_group *group = &scenario->node_groups[g];
        const struct sim_node_type *type = &scenario->node_types[group->type];
        for (size_t i = 0; i < type->gpus_count; i++)
            gpus += (double)group->count * type->gpus[i].count;
    }
    return gpus;
}

static double gpus_of_rows(const struct sim_workload *workload)
{
    double gpus = 0;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        const struct sim_job_spec *job = &workload->jobs[i];
        gpus += sim_job_gpus(job);
    }
    return gpus;
}

static void note_static(struct varies *varies, const struct sim_scenario *scenario,
                        const struct sim_workload *workload)
{
    note(varies, PART_NODES, workload->ranks == SIM_RANKS_SHUFFLED);
    if (workload->kind == SIM_WORKLOAD_GENERATED) {
        note(varies, PART_JOBS, drawn_kinds(workload) > 1);
        return;
    }
    note(varies, PART_ORDER, workload->order == NULL && workload->is_shuffled);
    if (isnan(workload->demand_frac))
        return;
    /* What a kept order asks for is not known before it is read. */
    const double asked = gpus_of_rows(workload);
    const double wanted = workload->demand_frac * gpus_of_nodes(scenario);
    note(varies, PART_TRIM, workload->order != NULL);
    note(varies, PART_CLONES, workload->order == NULL && asked < wanted);
    note(varies, PART_LEFT_OUT, workload->order == NULL && asked > wanted);
}

static void note_trace(struct varies *varies, const struct sim_workload *workload)
{
    const bool has_days = workload->arrivals.resample == SIM_RESAMPLE_DAYS;
    const bool are_few = has_days && sim_trace_days(workload) < 20;
    note(varies, PART_DAYS, has_days && !are_few);
    note(varies, PART_FEW_DAYS, are_few);
    note(varies, PART_COPIES, workload->arrivals.scale < 1 || workload->arrivals.scale > 1);
}

static void note_timed(struct varies *varies, const struct sim_workload *workload)
{
    const bool is_generated = workload->kind == SIM_WORKLOAD_GENERATED;
    const size_t kinds = is_generated ? drawn_kinds(workload) : workload->jobs_count;
    const bool has_process = is_generated || workload->arrivals.kind != SIM_ARRIVALS_TRACE;
    note(varies, PART_ARRIVALS, kinds > 0 && is_arrival_drawn(&workload->arrivals));
    note(varies, PART_MEANS, kinds > 0 && workload->arrivals.measurements > 0);
    note(varies, PART_JOBS, has_process && kinds > 1);
    if (!has_process)
        note_trace(varies, workload);
    note(varies, PART_RETRIES, workload->retries > 0 && is_random(workload->retry_delay));
    for (size_t i = 0; i < workload->jobs_count; i++) {
        note(varies, PART_SERVICE, is_random(workload->jobs[i].service));
        note(varies, PART_MEANS,
             workload->jobs[i].measurements > 0 && is_random(workload->jobs[i].service));
        note(varies, PART_PATIENCE, is_random(workload->jobs[i].patience));
        note(varies, PART_THINK, is_random(workload->jobs[i].think));
    }
    note(varies, PART_SETUP, is_random(workload->start_latency));
    note(varies, PART_ESTIMATES, is_random(workload->estimate));
}

/* ---- actors ---- */

static void note_actors(struct varies *varies, const struct sim_actor_system *system)
{
    const struct sim_training *loop = &system->training;
    const struct sim_law *of_loop[] = { loop->rollout,   loop->rollout_cpu, loop->get,
                                        loop->put,       loop->step,        loop->transfer,
                                        loop->validation };
    for (size_t r = 0; r < system->roles_count; r++)
        note(varies, PART_SETUP, is_random(system->roles[r].creation));
    for (size_t c = 0; c < system->calls_count; c++) {
        const struct sim_role_calls *calls = &system->calls[c];
        note(varies, PART_ACTORS,
             is_random(calls->think) || is_random(calls->work) || is_random(calls->service) ||
                 is_random(calls->cpu));
    }
    for (size_t i = 0; loop->is_there && i < sizeof of_loop / sizeof of_loop[0]; i++)
        note(varies, PART_ACTORS, is_random(of_loop[i]));
}

/* ---- nodes ---- */

static void note_nodes(struct varies *varies, const struct sim_scenario *scenario)
{
    const struct sim_failures *failures = &scenario->failures;
    for (size_t f = 0; f < SIM_FAULTS; f++) {
        const struct sim_failure_law *of = &failures->of[f];
        const bool is_slow = f == SIM_FAULT_SLOW || f == SIM_FAULT_GPU_SLOW;
        note(varies, PART_FAULTS,
             of->between != NULL && (is_random(of->between) || is_random(of->repair) ||
                                     (is_slow && is_random(failures->slow_factor))));
    }
    note(varies, PART_FAULTS, is_random(failures->detection));
    note(varies, PART_DRIFT, scenario->drifts_count > 0);
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_supply *supply = &scenario->node_groups[g].supply;
        note(varies, PART_LAUNCHES, is_random(supply->boot) || supply->launch_failure > 0);
        note(varies, PART_SPOT, supply->spot.hazard_per_s > 0 || supply->spot.volatility > 0);
    }
}

static void note_scenario(struct varies *varies, const struct sim_scenario *scenario)
{
    bool has_time = scenario->pipelines_count > 0 || scenario->actors_count > 0;
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        note_pipeline(varies, &scenario->pipelines[p]);
    for (size_t w = 0; w < scenario->workloads_count; w++) {
        const struct sim_workload *workload = &scenario->workloads[w];
        if (workload->mode == SIM_WORKLOAD_STATIC)
            note_static(varies, scenario, workload);
        else
            note_timed(varies, workload);
        has_time |= workload->mode == SIM_WORKLOAD_TIME;
    }
    for (size_t a = 0; a < scenario->actors_count; a++)
        note_actors(varies, &scenario->actors[a]);
    if (has_time)
        note_nodes(varies, scenario);
    for (size_t i = 0; i < scenario->timeline_count; i++)
        note(varies, PART_FAULTS,
             scenario->timeline[i].action == SIM_ACTION_STAGE_FAIL &&
                 scenario->timeline[i].probability < 1.0);
}

/* ---- the sentence ---- */

bool sim_scenario_varies(struct sim_scenario *const *scenarios, size_t count, char *text,
                         size_t capacity)
{
    struct varies varies = { .has = { false } };
    size_t left = 0;
    size_t told = 0;
    for (size_t s = 0; s < count; s++)
        note_scenario(&varies, scenarios[s]);
    for (size_t p = 0; p < PARTS; p++)
        left += varies.has[p] ? 1 : 0;
    const bool is_drawn = left > 0;
    (void)snprintf(text, capacity, "%s", is_drawn ? "" : "only the policies' own draws");
    for (size_t p = 0; p < PARTS; p++) {
        if (!varies.has[p])
            continue;
        const size_t used = strlen(text);
        left--;
        (void)snprintf(text + used, capacity - used, "%s%s",
                       told == 0   ? ""
                       : left == 0 ? " and "
                                   : ", ",
                       names[p]);
        told++;
    }
    return is_drawn;
}
