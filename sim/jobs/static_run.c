/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The static experiment; see the header. */
#include "sim/jobs/static_run.h"

#include "sim/engine/digest.h"
#include "sim/engine/random.h"
#include "sim/jobs/belief.h"
#include "sim/jobs/job_stream.h"
#include "workloads/openb.h"

#include <stdlib.h>

#define UNITS_PER_MILLI (WEIR_ONE / 1000)

struct sim_static_run {
    const struct sim_scenario *scenario;
    const struct sim_run_options *options;
    const struct sim_workload *workload;
    struct wl_openb_order order;
    struct sim_target target;
    struct sim_cluster *truth;
    struct weir_cluster *belief;
    struct weir_chooser *chooser;
    uint32_t *node_at; /* by rank */
    double *frag;      /* by rank, thousandths of a GPU */
    struct sim_static_counts counts;
    struct sim_arrival_curve curve;
    uint64_t digest;
    struct weir_place_answer answer; /* large */
    struct sim_lease lease;          /* large */
};

/* ---- making ---- */

/* Classes with a count in their order, the others drawn by weight. */
static weir_status generated_order(struct sim_static_run *run)
{
    const struct sim_random root = { .seed = run->options->seed,
                                     .replication = run->options->replication };
    struct sim_job_stream *stream = NULL;
    struct sim_job_arrival job;
    struct wl_openb_order *order = &run->order;
    WEIR_TRY(sim_job_stream_create(run->workload, &root, &stream));
    order->arrivals = calloc(sim_job_stream_total(stream) + 1, sizeof(*order->arrivals));
    while (order->arrivals != NULL && sim_job_stream_next(stream, &job))
        order->arrivals[order->arrival_count++] = job.spec;
    sim_job_stream_destroy(stream);
    return order->arrivals == NULL ? WEIR_ENOMEM : WEIR_OK;
}

static weir_status default_order(struct sim_static_run *run)
{
    const uint32_t nodes = sim_scenario_node_count(run->scenario);
    struct wl_openb_order *order = &run->order;
    order->ranks = calloc((size_t)nodes + 1, sizeof(*order->ranks));
    if (order->ranks == NULL)
        return WEIR_ENOMEM;
    order->rank_count = nodes;
    for (uint32_t n = 0; n < nodes; n++)
        order->ranks[n] = n;
    if (run->workload->kind == SIM_WORKLOAD_GENERATED)
        return generated_order(run);
    order->arrivals = calloc(run->workload->jobs_count + 1, sizeof(*order->arrivals));
    if (order->arrivals == NULL)
        return WEIR_ENOMEM;
    order->arrival_count = run->workload->jobs_count;
    for (size_t i = 0; i < order->arrival_count; i++)
        order->arrivals[i] = (uint32_t)i;
    return WEIR_OK;
}

static weir_status read_order(struct sim_static_run *run, struct weir_error *error)
{
    const struct sim_workload *workload = run->workload;
    const uint32_t nodes = sim_scenario_node_count(run->scenario);
    if (workload->order == NULL)
        return default_order(run);
    WEIR_TRY(wl_openb_read_order(workload->order, workload->order_key, &run->order, error));
    if (run->order.rank_count != nodes)
        return weir_fail(error, WEIR_EFORMAT, "%s: order %s ranks %zu nodes, the cluster has %u",
                         workload->order, workload->order_key, run->order.rank_count, nodes);
    for (size_t i = 0; i < run->order.arrival_count; i++)
        if (run->order.arrivals[i] >= workload->jobs_count)
            return weir_fail(error, WEIR_EFORMAT,
                             "%s: order %s: arrival %zu is row %u, there are %zu jobs",
                             workload->order, workload->order_key, i, run->order.arrivals[i],
                             workload->jobs_count);
    return WEIR_OK;
}

/* Nodes stand in the inventory in the order of their ranks: the first of equals wins. */
static weir_status fill_belief(struct sim_static_run *run, struct weir_error *error)
{
    const uint32_t nodes = run->truth->node_count;
    run->node_at = calloc((size_t)nodes + 1, sizeof(*run->node_at));
    run->frag = calloc((size_t)nodes + 1, sizeof(*run->frag));
    if (run->node_at == NULL || run->frag == NULL)
        return WEIR_ENOMEM;
    for (uint32_t n = 0; n < nodes; n++)
        run->node_at[run->order.ranks[n]] = n;
    for (uint32_t rank = 0; rank < nodes; rank++) {
        WEIR_TRY(sim_belief_add_node(run->belief, run->scenario, run->node_at[rank], error));
        run->frag[rank] = sim_target_frag_milli(&run->target, run->truth, run->node_at[rank]);
        run->curve.gpus += run->truth->nodes[run->node_at[rank]].gpu_count;
    }
    return WEIR_OK;
}

static weir_status prepare(struct sim_static_run *run, struct weir_error *error)
{
    const struct sim_policy_choice *choice = &run->scenario->sched.placement;
    const struct weir_params params = { .values = choice->values,
                                        .count = (uint32_t)choice->count };
    WEIR_TRY(read_order(run, error));
    WEIR_TRY(sim_target_create(run->workload, &run->target));
    WEIR_TRY(sim_cluster_create(run->scenario, &run->truth));
    WEIR_TRY(weir_cluster_create(NULL, &run->belief));
    WEIR_TRY(weir_chooser_create(choice->placement, &params, NULL, &run->chooser, error));
    WEIR_TRY(fill_belief(run, error));
    if (!(run->curve.gpus > 0))
        return weir_fail(error, WEIR_EINFEASIBLE,
                         "no node has a GPU: a static workload is measured against GPU demand");
    return WEIR_OK;
}

weir_status sim_static_create(const struct sim_scenario *scenario,
                              const struct sim_run_options *options, struct sim_static_run **run,
                              struct weir_error *error)
{
    struct sim_static_run *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return WEIR_ENOMEM;
    made->scenario = scenario;
    made->options = options;
    made->workload = &scenario->workloads[0];
    made->digest = SIM_DIGEST_START;
    const weir_status status = prepare(made, error);
    if (status != WEIR_OK) {
        sim_static_destroy(made);
        return status;
    }
    *run = made;
    return WEIR_OK;
}

void sim_static_destroy(struct sim_static_run *run)
{
    if (run == NULL)
        return;
    weir_chooser_destroy(run->chooser);
    weir_cluster_destroy(run->belief);
    sim_cluster_destroy(run->truth);
    sim_target_clear(&run->target);
    wl_openb_order_clear(&run->order);
    sim_arrival_curve_clear(&run->curve);
    free(run->node_at);
    free(run->frag);
    free(run);
}

/* ---- arrivals ---- */

static uint32_t class_of(const struct weir_shape *shape)
{
    const uint32_t last = SIM_JOB_CLASSES - 1;
    if (shape->kind == WEIR_SHAPE_CPU)
        return 0;
    if (shape->kind == WEIR_SHAPE_FRACTIONAL)
        return 1;
    return 1 + shape->gpu_count < last ? 1 + shape->gpu_count : last;
}

static int64_t demand_units(const struct weir_shape *shape)
{
    return shape->gpu_units * shape->gpu_count;
}

/* Without fractions for what traces ask for; slices of a GPU have some. */
static double milli(int64_t units)
{
    return (double)units / (double)UNITS_PER_MILLI;
}

static uint64_t policy_seed(const struct sim_static_run *run, uint64_t arrival)
{
    const struct sim_random root = { .seed = run->options->seed,
                                     .replication = run->options->replication };
    struct sim_stream stream;
    sim_stream_open(&stream, &root, SIM_DRAW_POLICY, (struct sim_stream_key){ .item = arrival });
    return sim_stream_u64(&stream);
}

/* Admits the chosen place by the truth and tells the belief; false when it was refused. */
static weir_status admit(struct sim_static_run *run, uint64_t arrival,
                         const struct weir_shape *shape, bool *is_placed, struct weir_error *error)
{
    const uint32_t rank = run->answer.alloc.node;
    struct weir_alloc alloc = run->answer.alloc;
    alloc.node = run->node_at[rank];
    sim_lease_fill(&run->lease, run->truth, &alloc, shape);
    *is_placed = sim_cluster_acquire(run->truth, &run->lease) == WEIR_REASON_NONE;
    if (!*is_placed)
        return WEIR_OK;
    WEIR_TRY(weir_cluster_add_worker(run->belief, arrival + 1, 0, &run->answer.alloc, error));
    run->frag[rank] = sim_target_frag_milli(&run->target, run->truth, alloc.node);
    run->digest = sim_digest_word(run->digest, ((uint64_t)alloc.node << 32) | (uint32_t)arrival);
    for (uint32_t d = 0; d < alloc.device_count; d++)
        run->digest = sim_digest_word(run->digest, alloc.devices[d].gpu);
    for (uint32_t d = 0; d < alloc.device_count; d++)
        run->counts.used_units += alloc.devices[d].units;
    run->counts.cpu_units += shape->cpu_units;
    run->counts.ram_bytes += shape->ram_bytes;
    return WEIR_OK;
}

static weir_status arrive(struct sim_static_run *run, uint64_t arrival, struct weir_error *error)
{
    const uint32_t row = run->order.arrivals[arrival];
    const struct weir_shape *shape = &run->workload->jobs[row].shape;
    const struct weir_mix mix = sim_target_mix(&run->target);
    const struct weir_place_query query = {
        .cluster = run->belief, .mix = &mix, .shape = shape, .seed = policy_seed(run, arrival)
    };
    struct weir_error refused = { .phase = -1 };
    struct sim_static_counts *counts = &run->counts;
    bool is_placed = false;
    const weir_status status = weir_chooser_place(run->chooser, &query, &run->answer, &refused);
    if (status != WEIR_OK && status != WEIR_EBUSY)
        return weir_fail(error, status, "arrival %llu: %s", (unsigned long long)arrival,
                         refused.text);
    if (status == WEIR_OK)
        WEIR_TRY(admit(run, arrival, shape, &is_placed, error));
    counts->arrived++;
    counts->class_arrived[class_of(shape)]++;
    counts->failed += is_placed ? 0 : 1;
    counts->class_failed[class_of(shape)] += is_placed ? 0 : 1;
    counts->arrived_units += demand_units(shape);
    const struct sim_arrival_state state = { .arrived_milli = milli(counts->arrived_units),
                                             .used_milli = milli(counts->used_units),
                                             .frag_milli = sim_static_frag_milli(run),
                                             .failed = counts->failed };
    return sim_arrival_curve_add(&run->curve, &state);
}

weir_status sim_static_arrive(struct sim_static_run *run, struct weir_error *error)
{
    const struct sim_run_options *options = run->options;
    for (uint64_t i = 0; i < run->order.arrival_count; i++) {
        if (options->interrupt != NULL && *options->interrupt != 0)
            return WEIR_EINTERRUPTED;
        const uint64_t failed = run->counts.failed;
        WEIR_TRY(arrive(run, i, error));
        if (options->check_always)
            WEIR_TRY(sim_cluster_check(run->truth, error));
        if (options->progress != NULL) {
            options->progress->fraction = (double)(i + 1) / (double)run->order.arrival_count;
            options->progress->events = i + 1;
        }
        if (run->counts.failed > failed && run->workload->refusal == SIM_REFUSAL_STOP)
            break;
    }
    return sim_cluster_check(run->truth, error);
}

/* ---- what became of it ---- */

double sim_static_frag_milli(const struct sim_static_run *run)
{
    double sum = 0;
    for (uint32_t rank = 0; rank < run->truth->node_count; rank++)
        sum += run->frag[rank];
    return sum;
}

const struct sim_cluster *sim_static_cluster(const struct sim_static_run *run)
{
    return run->truth;
}

const struct sim_static_counts *sim_static_counts(const struct sim_static_run *run)
{
    return &run->counts;
}

const struct sim_arrival_curve *sim_static_curve(const struct sim_static_run *run)
{
    return &run->curve;
}

const struct sim_target *sim_static_target(const struct sim_static_run *run)
{
    return &run->target;
}

uint64_t sim_static_digest(const struct sim_static_run *run)
{
    return run->digest;
}
