/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run could have reached at most, for the rows of `result`. Nothing is said where what
 * happens on the way moves a bound.
 */
#include "sim/engine/law.h"
#include "sim/lab/load_bound.h"
#include "sim/record/meter/meter_jobs.h"
#include "sim/scenario/bound_placed.h"
#include "sim/world/world.h"

#include <math.h>

/* Who takes no time gives as much as one likes. */
static const double endless_per_s = 1e9;

static void put(struct sim_results *out, const char *metric, const char *unit, double value)
{
    const struct sim_result_row row = {
        .metric = metric, .label = "", .unit = unit, .value = value, .n = 1
    };
    if (isfinite(value))
        sim_results_add(out, &row);
}

/* Items that are finished of one of the source. */
static double finished_of_one(const struct sim_bound_problem *problem)
{
    const struct sim_bound_stage *last = &problem->stages[problem->stages_count - 1];
    return last->visits * sim_law_mean(last->stage->returns);
}

weir_status sim_world_plan_bounds(const struct sim_world *world, struct sim_meter_end *end)
{
    struct sim_bound_problem problem;
    struct sim_bound bound = { .workers = NULL };
    struct sim_placed placed = { .rate_per_s = 0 };
    if (world->scenario->pipelines_count != 1)
        return WEIR_OK;
    WEIR_TRY(sim_bound_problem_create(world->scenario, 0, &problem));
    const bool is_said = sim_bound_is_known(&problem) && !problem.is_batch;
    weir_status status = is_said ? sim_bound_solve(&problem, &bound) : WEIR_OK;
    if (status == WEIR_OK && is_said)
        status = sim_bound_placed(&problem, &bound, &placed);
    if (status == WEIR_OK && placed.in_time_per_s > 0 && placed.in_time_per_s < endless_per_s) {
        end->bound_per_s = placed.in_time_per_s * finished_of_one(&problem);
        end->plan_bound_per_s = placed.rate_per_s * finished_of_one(&problem);
    }
    sim_bound_clear(&bound);
    sim_bound_problem_clear(&problem);
    return status;
}

weir_status sim_world_load_bounds(const struct sim_world *world, struct sim_results *out)
{
    struct sim_load_bound bound;
    if (!sim_load_is_loss(world->scenario))
        return WEIR_OK;
    WEIR_TRY(sim_load_bound_compute(world->context.cluster, world->options->bounds, &bound));
    if (isnan(bound.most))
        return WEIR_OK;
    const double accepted = 1 - sim_meter_all_jobs(world->context.meter)->gpu_s_refused /
                                    sim_meter_all_jobs(world->context.meter)->gpu_s_asked;
    put(out, "jobs.gpu_time_bound", "ratio", bound.most);
    put(out, "jobs.gpu_time_pool", "ratio", bound.one_pool);
    put(out, "jobs.gpu_time_gap", "pp", 100 * (bound.most - accepted));
    return out->status;
}
