/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Throughput bounds: see the header. The closed form of the pool optimum is the same that scaling
 * policies use; a tolerance of 1e-9 keeps an exact quotient from needing one worker more.
 */
#include "sim/scenario/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BISECTIONS = 200 };
static const double count_tolerance = 1e-9;
static const double sum_tolerance = 1e-9; /* relative, for sums of shares */

const char *sim_bound_resource_name(uint32_t resource)
{
#define RESOURCE_TEXT(name, text) text,
    static const char *const names[] = { SIM_BOUND_RESOURCES(RESOURCE_TEXT) "fixed workers",
                                         "arrivals", "store between the stages" };
#undef RESOURCE_TEXT
    return resource <= SIM_BOUND_STORE ? names[resource] : "?";
}

/* ---- the cluster ---- */

static void add_node_totals(struct sim_bound_problem *problem, uint32_t node_type, double count)
{
    const struct sim_scenario *scenario = problem->scenario;
    const struct sim_node_type *type = &scenario->node_types[node_type];
    for (int view = 0; view < SIM_BOUND_VIEWS; view++) {
        const struct sim_gpu_type *types =
            view == SIM_BOUND_USED ? scenario->gpu_truth : scenario->gpu_types;
        double *totals = problem->totals[view];
        totals[SIM_BOUND_CPU] += count * type->cpus;
        totals[SIM_BOUND_RAM] += count * (double)type->ram_bytes;
        for (size_t i = 0; i < type->gpus_count; i++) {
            const struct sim_gpu_type *gpu = &types[type->gpus[i].type];
            const double gpus = count * type->gpus[i].count;
            problem->gpus[view] += gpus;
            totals[SIM_BOUND_GPU] += gpus;
            totals[SIM_BOUND_NVDEC] += gpus * gpu->nvdecs;
            totals[SIM_BOUND_NVENC] += gpus * gpu->nvencs;
            totals[SIM_BOUND_GPU_MEM] += gpus * (double)gpu->mem_bytes;
        }
    }
}

void sim_bound_add_nodes(struct sim_bound_problem *problem, uint32_t node_type, int32_t count)
{
    add_node_totals(problem, node_type, count);
}

/* ---- one worker ---- */

static void shape_needs(const struct sim_bound_problem *problem, enum sim_bound_view view,
                        const struct weir_shape *shape, double needs[SIM_BOUND_RESOURCE_COUNT])
{
    const double gpus = problem->gpus[view];
    const double *totals = problem->totals[view];
    const int64_t nvdecs = gpus > 0 ? (int64_t)(totals[SIM_BOUND_NVDEC] / gpus) : 0;
    const int64_t nvencs = gpus > 0 ? (int64_t)(totals[SIM_BOUND_NVENC] / gpus) : 0;
    const struct weir_amounts amounts = weir_shape_amounts(shape, nvdecs, nvencs);
    needs[SIM_BOUND_CPU] = weir_units_amount(amounts.cpu_units);
    needs[SIM_BOUND_GPU] = weir_units_amount(amounts.gpu_units);
    needs[SIM_BOUND_NVDEC] = (double)amounts.nvdecs;
    needs[SIM_BOUND_NVENC] = (double)amounts.nvencs;
    needs[SIM_BOUND_RAM] = (double)amounts.ram_bytes;
    needs[SIM_BOUND_GPU_MEM] = (double)amounts.gpu_mem_bytes;
}

struct sim_gpu_part sim_bound_best_part(const struct weir_mig *table,
                                        const struct weir_shape *shape)
{
    struct sim_gpu_part best = { 0 };
    for (uint32_t p = 0; table != NULL && p < table->profile_count; p++) {
        const struct sim_gpu_part part = sim_gpu_part(table, &table->profiles[p]);
        if (shape->kind == WEIR_SHAPE_SLICE &&
            weir_shape_takes_profile(shape, &table->profiles[p]) && part.sms > best.sms)
            best = part;
    }
    return best.sms > 0 ? best : (struct sim_gpu_part){ 1, 1 };
}

/* How fast a task goes on a GPU of the type. */
static double gpu_rate(const struct sim_scenario *scenario, const struct sim_stage *stage,
                       uint32_t type)
{
    const double *factors = stage->service.gpu_factor;
    return factors == NULL || isnan(factors[type])
               ? sim_speed_at(&stage->speed, type,
                              sim_bound_best_part(scenario->gpu_truth[type].mig, &stage->shape))
               : 1 / factors[type];
}

/* How much longer a task takes on the cluster's GPUs than on the reference GPU: the mean of the
 * rates, since each GPU works at its own. */
static double gpu_slowness(const struct sim_scenario *scenario, const struct sim_stage *stage)
{
    double gpus = 0;
    double rate = 0;
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[g].type];
        for (size_t i = 0; i < type->gpus_count; i++) {
            const double count = (double)scenario->node_groups[g].count * type->gpus[i].count;
            gpus += count;
            rate += count * gpu_rate(scenario, stage, type->gpus[i].type);
        }
    }
    return stage->shape.gpu_count == 0 || !(rate > 0) ? 1 : gpus / rate;
}

/* Whether a task takes as long on every GPU of the cluster. */
static bool is_one_speed(const struct sim_scenario *scenario, const struct sim_stage *stage)
{
    double least = (double)INFINITY;
    double most = 0;
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[g].type];
        for (size_t i = 0; i < type->gpus_count; i++) {
            const uint32_t index = type->gpus[i].type;
            const double rate = gpu_rate(scenario, stage, index);
            const double *decode = stage->service.decode.seconds;
            const double *encode = stage->service.encode.seconds;
            const double codecs =
                (decode == NULL ? 0 : decode[index]) + (encode == NULL ? 0 : encode[index]) + 1;
            least = fmin(least, rate / codecs);
            most = fmax(most, rate / codecs);
        }
    }
    return !(most > least * (1 + 1e-9)) && stage->service.table_count == 0;
}

bool sim_bound_is_known(const struct sim_bound_problem *problem)
{
    bool is_known = problem->scenario->timeline_count == 0 && problem->scenario->drifts_count == 0;
    for (size_t i = 0; i < problem->stages_count && is_known; i++)
        is_known = is_one_speed(problem->scenario, problem->stages[i].stage);
    return is_known;
}

/* The row of a service table that is nearest in batch, then in size. */
static double table_seconds(const struct sim_service *service, double batch, double size)
{
    const struct sim_service_point *best = NULL;
    double best_distance = (double)INFINITY;
    for (size_t i = 0; i < service->table_count; i++) {
        const struct sim_service_point *point = &service->table[i];
        const double distance =
            fabs(log(point->batch / batch)) * 1e3 + fabs(log(point->size / size));
        if (distance < best_distance) {
            best_distance = distance;
            best = point;
        }
    }
    return best == NULL ? 0 : best->seconds;
}

/* Mean time of a task whose items are of one class. */
static double class_task_s(const struct sim_stage *stage, double factor, double size)
{
    const struct sim_service *service = &stage->service;
    const double law = sim_law_mean(service->law) * (service->scale_by_size ? size : 1);
    if (service->table_count > 0)
        return factor * sim_law_mean(service->law) * table_seconds(service, stage->batch, size);
    return factor * (law + service->base_s +
                     stage->batch * (service->per_item_s + service->per_size_s * size));
}

/* Of a full task on the engines of the cluster's GPUs that can do it: the mean of the rates. */
static double codec_task_s(const struct sim_scenario *scenario, const struct sim_stage *stage,
                           const struct sim_codec_work *work, double size)
{
    const uint32_t sessions = stage->batch < work->engines ? stage->batch : work->engines;
    double gpus = 0;
    double rate = 0;
    for (size_t g = 0; work->seconds != NULL && g < scenario->node_groups_count; g++) {
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[g].type];
        for (size_t i = 0; i < type->gpus_count; i++) {
            const double count = (double)scenario->node_groups[g].count * type->gpus[i].count;
            const double seconds = work->seconds[type->gpus[i].type];
            gpus += isfinite(seconds) ? count : 0;
            rate += count / seconds;
        }
    }
    return rate > 0 ? gpus / rate * size * stage->batch / sessions : 0;
}

static double mean_task_s(const struct sim_scenario *scenario, const struct sim_pipeline *pipeline,
                          const struct sim_stage *stage)
{
    double sum = 0;
    double codecs = 0;
    for (size_t i = 0; i < pipeline->input.classes_count; i++) {
        const struct sim_item_class *class = &pipeline->input.classes[i];
        const double factor =
            stage->service.class_factor == NULL ? 1 : stage->service.class_factor[i];
        const double size = sim_law_mean(class->size);
        sum += class->weight * class_task_s(stage, factor, size);
        codecs += class->weight * factor *
                  (codec_task_s(scenario, stage, &stage->service.decode, size) +
                   codec_task_s(scenario, stage, &stage->service.encode, size));
    }
    return sum * gpu_slowness(scenario, stage) + codecs;
}

/* Attempts an item takes on average when each fails with probability p and at most m are made. */
static double mean_attempts(const struct sim_stage *stage)
{
    const double p = stage->process_failure;
    return p >= 1 ? stage->max_attempts : (1 - pow(p, stage->max_attempts)) / (1 - p);
}

/* Written to the store by the stage before and read there: for an item of the source. */
static double mean_store_s(const struct sim_pipeline *pipeline, size_t stage, double visits)
{
    const struct sim_law *bytes = stage == 0 ? NULL : pipeline->stages[stage - 1].bytes_out;
    return bytes != NULL && pipeline->store_bytes_per_s > 0
               ? 2 * visits * sim_law_mean(bytes) / pipeline->store_bytes_per_s
               : 0;
}

static void fill_stages(struct sim_bound_problem *problem, const struct sim_pipeline *pipeline)
{
    const double items_of_one = sim_input_mean_items(&pipeline->input);
    double visits = 1;
    for (size_t i = 0; i < problem->stages_count; i++) {
        const struct sim_stage *stage = &pipeline->stages[i];
        struct sim_bound_stage *entry = &problem->stages[i];
        entry->stage = stage;
        entry->request = stage->request;
        entry->task_s = mean_task_s(problem->scenario, pipeline, stage);
        entry->visits = visits;
        entry->rate_per_s =
            stage->batch / (entry->task_s * visits * mean_attempts(stage) * items_of_one);
        entry->store_s = mean_store_s(pipeline, i, visits);
        shape_needs(problem, SIM_BOUND_REQUESTED, &stage->shape, entry->needs[SIM_BOUND_REQUESTED]);
        shape_needs(problem, SIM_BOUND_USED, &stage->uses_shape, entry->needs[SIM_BOUND_USED]);
        visits *= sim_law_mean(stage->returns);
    }
}

/* What workers of other pipelines need at least is not there for this one. */
static void subtract_others(struct sim_bound_problem *problem, uint32_t pipeline)
{
    const struct sim_scenario *scenario = problem->scenario;
    for (size_t p = 0; p < scenario->pipelines_count; p++) {
        const struct sim_pipeline *other = &scenario->pipelines[p];
        for (size_t s = 0; s < other->stages_count && p != pipeline; s++) {
            const struct sim_stage *stage = &other->stages[s];
            double needs[SIM_BOUND_VIEWS][SIM_BOUND_RESOURCE_COUNT];
            shape_needs(problem, SIM_BOUND_REQUESTED, &stage->shape, needs[SIM_BOUND_REQUESTED]);
            shape_needs(problem, SIM_BOUND_USED, &stage->uses_shape, needs[SIM_BOUND_USED]);
            for (int view = 0; view < SIM_BOUND_VIEWS; view++)
                for (int r = 0; r < SIM_BOUND_RESOURCE_COUNT; r++)
                    problem->totals[view][r] -=
                        needs[view][r] * (stage->workers < 0 ? 1 : stage->workers);
        }
    }
}

weir_status sim_bound_problem_create(const struct sim_scenario *scenario, uint32_t pipeline,
                                     struct sim_bound_problem *problem)
{
    const struct sim_pipeline *source = &scenario->pipelines[pipeline];
    struct sim_bound_problem made = { .scenario = scenario,
                                      .stages_count = source->stages_count,
                                      .is_batch = sim_pipeline_is_batch(source) };
    made.stages = calloc(source->stages_count, sizeof *made.stages);
    if (made.stages == NULL)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < scenario->node_groups_count; i++)
        add_node_totals(&made, scenario->node_groups[i].type, scenario->node_groups[i].count);
    made.arrivals_per_s =
        source->input.arrivals == NULL ? (double)INFINITY : source->input.arrivals->rate_per_s;
    fill_stages(&made, source);
    subtract_others(&made, pipeline);
    *problem = made;
    return WEIR_OK;
}

void sim_bound_problem_clear(struct sim_bound_problem *problem)
{
    free(problem->stages);
    *problem = (struct sim_bound_problem){ .stages = NULL };
}

bool sim_bound_set_request(struct sim_bound_problem *problem, uint32_t stage,
                           const struct weir_request *request)
{
    struct sim_bound_stage *entry = &problem->stages[stage];
    struct weir_shape shape;
    if (weir_shape_from_request(request, problem->scenario->quantum, &shape, NULL) != WEIR_OK)
        return false;
    const bool uses_differ =
        memcmp(&entry->stage->shape, &entry->stage->uses_shape, sizeof(struct weir_shape)) != 0;
    entry->request = *request;
    shape_needs(problem, SIM_BOUND_REQUESTED, &shape, entry->needs[SIM_BOUND_REQUESTED]);
    if (!uses_differ)
        shape_needs(problem, SIM_BOUND_USED, &shape, entry->needs[SIM_BOUND_USED]);
    return true;
}

/* ---- fluid ---- */

/* Rate that resource r of one view allows: what fixed workers leave, over the demand of the rest.
 */
static double fluid_limit(const struct sim_bound_problem *problem, int view, int resource)
{
    double left = problem->totals[view][resource];
    double demand = 0;
    for (size_t i = 0; i < problem->stages_count; i++) {
        const struct sim_bound_stage *entry = &problem->stages[i];
        if (entry->stage->workers >= 0)
            left -= entry->needs[view][resource] * entry->stage->workers;
        else
            demand += entry->needs[view][resource] / entry->rate_per_s;
    }
    return demand > 0 ? fmax(left, 0) / demand : (double)INFINITY;
}

static void solve_fluid(const struct sim_bound_problem *problem, struct sim_bound *bound)
{
    bound->fluid_per_s = problem->arrivals_per_s;
    bound->binding = SIM_BOUND_ARRIVALS;
    for (uint32_t r = 0; r < SIM_BOUND_RESOURCE_COUNT; r++) {
        bound->limit_per_s[r] = fmin(fluid_limit(problem, SIM_BOUND_REQUESTED, (int)r),
                                     fluid_limit(problem, SIM_BOUND_USED, (int)r));
        if (bound->limit_per_s[r] < bound->fluid_per_s) {
            bound->fluid_per_s = bound->limit_per_s[r];
            bound->binding = r;
        }
    }
    for (size_t i = 0; i < problem->stages_count; i++) {
        const struct sim_bound_stage *entry = &problem->stages[i];
        const double limit = entry->stage->workers * entry->rate_per_s;
        if (entry->stage->workers >= 0 && limit < bound->fluid_per_s) {
            bound->fluid_per_s = limit;
            bound->binding = SIM_BOUND_FIXED;
        }
    }
}

/* ---- whole workers ---- */

static double workers_for(const struct sim_bound_stage *entry, double rate_per_s)
{
    if (entry->stage->workers >= 0)
        return entry->stage->workers;
    return fmax(1, ceil(rate_per_s / entry->rate_per_s - count_tolerance));
}

static bool is_feasible(const struct sim_bound_problem *problem, double rate_per_s)
{
    for (int view = 0; view < SIM_BOUND_VIEWS; view++)
        for (int r = 0; r < SIM_BOUND_RESOURCE_COUNT; r++) {
            double sum = 0;
            for (size_t i = 0; i < problem->stages_count; i++)
                sum += problem->stages[i].needs[view][r] *
                       workers_for(&problem->stages[i], rate_per_s);
            if (sum > problem->totals[view][r] * (1 + sum_tolerance) + sum_tolerance)
                return false;
        }
    return true;
}

static void solve_integer(const struct sim_bound_problem *problem, struct sim_bound *bound)
{
    double low = 0;
    double high = bound->fluid_per_s * (1 + count_tolerance);
    if (!is_feasible(problem, 0))
        return;
    if (is_feasible(problem, high))
        low = high;
    for (int i = 0; i < BISECTIONS && high - low > 1e-12 * high; i++) {
        const double middle = (low + high) / 2;
        if (is_feasible(problem, middle))
            low = middle;
        else
            high = middle;
    }
    bound->integer_per_s = problem->arrivals_per_s;
    for (uint32_t i = 0; i < problem->stages_count; i++) {
        const double workers = workers_for(&problem->stages[i], low);
        const double rate = workers * problem->stages[i].rate_per_s;
        bound->workers[i] = (uint32_t)workers;
        if (rate < bound->integer_per_s) {
            bound->integer_per_s = rate;
            bound->slowest = i;
        }
    }
}

/* ---- one stage after the other ---- */

/* Workers of one stage that the pools take, divided at will; the resource that says so. */
static double most_workers(const struct sim_bound_problem *problem, uint32_t stage,
                           uint32_t *binding)
{
    const struct sim_bound_stage *entry = &problem->stages[stage];
    double most = entry->stage->workers >= 0 ? entry->stage->workers : (double)INFINITY;
    *binding = SIM_BOUND_FIXED;
    for (int view = 0; view < SIM_BOUND_VIEWS; view++)
        for (uint32_t r = 0; r < SIM_BOUND_RESOURCE_COUNT; r++) {
            const double need = entry->needs[view][r];
            const double workers =
                need > 0 ? problem->totals[view][r] / need * (1 + sum_tolerance) : (double)INFINITY;
            if (workers < most) {
                most = workers;
                *binding = r;
            }
        }
    return most;
}

/* Time of an item in the stages from `first` to before `end`, which lie between two barriers. */
struct bound_part {
    double fluid_s, integer_s;
    uint32_t slowest, binding;
};

static struct bound_part solve_stage(const struct sim_bound_problem *problem, uint32_t stage,
                                     struct sim_bound *bound)
{
    struct bound_part part = { .slowest = stage };
    const double most = most_workers(problem, stage, &part.binding);

    bound->workers[stage] = (uint32_t)fmin(floor(most), 1e9);
    part.fluid_s = 1 / (most * problem->stages[stage].rate_per_s);
    part.integer_s = 1 / (bound->workers[stage] * problem->stages[stage].rate_per_s);
    return part;
}

/* Several are open together, and share the cluster as those of a stream do. */
static struct bound_part solve_overlap(const struct sim_bound_problem *problem, uint32_t first,
                                       uint32_t end, struct sim_bound *bound)
{
    struct sim_bound_problem open = *problem;
    struct sim_bound found = { .workers = bound->workers + first };

    open.stages += first;
    open.stages_count = end - first;
    open.arrivals_per_s = (double)INFINITY;
    solve_fluid(&open, &found);
    solve_integer(&open, &found);
    return (struct bound_part){ .fluid_s = 1 / found.fluid_per_s,
                                .integer_s = 1 / found.integer_per_s,
                                .slowest = first + found.slowest,
                                .binding = found.binding };
}

static uint32_t end_of_part(const struct sim_bound_problem *problem, uint32_t first)
{
    uint32_t end = first + 1;

    while (end < problem->stages_count &&
           problem->stages[end].stage->barriers == problem->stages[first].stage->barriers)
        end++;
    return end;
}

static void solve_batch(const struct sim_bound_problem *problem, struct sim_bound *bound)
{
    double store_s = 0;
    double fluid_s = 0;
    double integer_s = 0;
    double longest_s = 0;
    for (uint32_t r = 0; r < SIM_BOUND_RESOURCE_COUNT; r++)
        bound->limit_per_s[r] = fmin(fluid_limit(problem, SIM_BOUND_REQUESTED, (int)r),
                                     fluid_limit(problem, SIM_BOUND_USED, (int)r));
    for (uint32_t first = 0, end = 0; first < problem->stages_count; first = end) {
        end = end_of_part(problem, first);
        const struct bound_part part = end - first == 1 ? solve_stage(problem, first, bound)
                                                        : solve_overlap(problem, first, end, bound);
        store_s += problem->stages[first].store_s;
        fluid_s += part.fluid_s;
        integer_s += part.integer_s;
        if (part.fluid_s > longest_s) {
            longest_s = part.fluid_s;
            bound->slowest = part.slowest;
            bound->binding = part.binding;
        }
    }
    if (store_s > longest_s)
        bound->binding = SIM_BOUND_STORE;
    bound->fluid_per_s = fmin(1 / (fluid_s + store_s), problem->arrivals_per_s);
    bound->integer_per_s = fmin(1 / (integer_s + store_s), problem->arrivals_per_s);
}

uint32_t sim_bound_shared(const struct sim_bound_problem *problem)
{
    double sums[SIM_BOUND_RESOURCE_COUNT] = { 0 };
    const double *totals = problem->totals[SIM_BOUND_REQUESTED];
    uint32_t shared = SIM_BOUND_RESOURCE_COUNT;
    double largest = 1 + 2 * sum_tolerance;
    for (uint32_t i = 0; i < problem->stages_count; i++) {
        uint32_t binding = SIM_BOUND_FIXED;
        const double most = most_workers(problem, i, &binding);
        for (uint32_t r = 0; r < SIM_BOUND_RESOURCE_COUNT && isfinite(most); r++)
            sums[r] += most * problem->stages[i].needs[SIM_BOUND_REQUESTED][r];
    }
    for (uint32_t r = 0; r < SIM_BOUND_RESOURCE_COUNT && !problem->is_batch; r++) {
        const double ratio = totals[r] > 0 ? sums[r] / totals[r] : 0;
        if (ratio > largest) {
            largest = ratio;
            shared = r;
        }
    }
    return shared;
}

weir_status sim_bound_solve(const struct sim_bound_problem *problem, struct sim_bound *bound)
{
    struct sim_bound made = { .stages_count = problem->stages_count };
    made.workers = calloc(problem->stages_count, sizeof *made.workers);
    if (made.workers == NULL)
        return WEIR_ENOMEM;
    if (problem->is_batch) {
        solve_batch(problem, &made);
    } else {
        solve_fluid(problem, &made);
        solve_integer(problem, &made);
    }
    *bound = made;
    return WEIR_OK;
}

void sim_bound_clear(struct sim_bound *bound)
{
    free(bound->workers);
    *bound = (struct sim_bound){ .workers = NULL };
}

weir_status sim_bound_compute(const struct sim_scenario *scenario, uint32_t pipeline,
                              struct sim_bound *bound)
{
    struct sim_bound_problem problem;
    WEIR_TRY(sim_bound_problem_create(scenario, pipeline, &problem));
    const weir_status status = sim_bound_solve(&problem, bound);
    sim_bound_problem_clear(&problem);
    return status;
}
