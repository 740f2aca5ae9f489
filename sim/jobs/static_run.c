/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The static experiment; see the header. */
#include "sim/jobs/static_run.h"

#include "sim/belief.h"
#include "sim/engine/digest.h"
#include "sim/engine/random.h"
#include "sim/jobs/arrival_order.h"
#include "sim/jobs/job_placer.h"

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
    struct sim_job_placer *placer;
    uint64_t next_worker;
    uint32_t *node_at; /* by rank */
    double *frag;      /* by rank, thousandths of a GPU */
    struct sim_static_counts counts;
    struct sim_arrival_curve curve;
    uint64_t digest;
    struct sim_lease *leases; /* of the members of one job */
};

/* ---- making ---- */

static weir_status find_order(struct sim_static_run *run, struct weir_error *error)
{
    const struct sim_order_query query = { .workload = run->workload,
                                           .random = { .seed = run->options->seed,
                                                       .replication = run->options->replication },
                                           .nodes = run->truth->node_count,
                                           .gpus = run->truth->gpu_count };
    return sim_arrival_order(&query, &run->order, error);
}

static weir_status add_node(struct sim_static_run *run, uint32_t index, struct weir_error *error)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    WEIR_TRY(sim_belief_node(run->scenario, index, gpus, &spec, error));
    return weir_cluster_add_node(run->belief, &spec, NULL, error);
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
        WEIR_TRY(add_node(run, run->node_at[rank], error));
        run->frag[rank] = sim_target_frag_milli(&run->target, run->truth, run->node_at[rank]);
        run->curve.gpus += run->truth->nodes[run->node_at[rank]].gpu_count;
    }
    return WEIR_OK;
}

static weir_status make_room(struct sim_static_run *run)
{
    const struct sim_workload *workload = run->workload;
    uint32_t members = 1;
    for (size_t i = 0; i < workload->jobs_count; i++)
        members = workload->jobs[i].members > members ? workload->jobs[i].members : members;
    run->leases = calloc(members, sizeof(*run->leases));
    run->counts.label_arrived = calloc(workload->labels_count + 1, sizeof(uint64_t));
    run->counts.label_failed = calloc(workload->labels_count + 1, sizeof(uint64_t));
    const bool is_made = run->leases != NULL && run->counts.label_arrived != NULL &&
                         run->counts.label_failed != NULL;
    return is_made ? WEIR_OK : WEIR_ENOMEM;
}

static weir_status prepare(struct sim_static_run *run, struct weir_error *error)
{
    WEIR_TRY(make_room(run));
    WEIR_TRY(sim_target_create(run->workload, &run->target));
    WEIR_TRY(sim_cluster_create(run->scenario, &run->truth));
    WEIR_TRY(find_order(run, error));
    WEIR_TRY(weir_cluster_create(NULL, &run->belief));
    WEIR_TRY(sim_job_placer_create(run->scenario, run->workload, &run->placer, error));
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
    made->counts.density_milli = -1;
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
    sim_job_placer_destroy(run->placer);
    weir_cluster_destroy(run->belief);
    sim_cluster_destroy(run->truth);
    sim_target_clear(&run->target);
    wl_openb_order_clear(&run->order);
    sim_arrival_curve_clear(&run->curve);
    free(run->node_at);
    free(run->frag);
    free(run->leases);
    free(run->counts.label_arrived);
    free(run->counts.label_failed);
    free(run);
}

/* ---- arrivals ---- */

static int64_t gpu_milli(const struct weir_shape *shape)
{
    return shape->gpu_units * shape->gpu_count / UNITS_PER_MILLI;
}

static uint64_t policy_seed(const struct sim_static_run *run, uint64_t arrival)
{
    const struct sim_random root = { .seed = run->options->seed,
                                     .replication = run->options->replication };
    struct sim_stream stream;
    sim_stream_open(&stream, &root, SIM_DRAW_POLICY, (struct sim_stream_key){ .item = arrival });
    return sim_stream_u64(&stream);
}

/* Tells the belief about a member the truth has taken, and counts it. */
static weir_status settle(struct sim_static_run *run, uint64_t arrival,
                          const struct weir_alloc *believed, const struct weir_shape *shape,
                          struct weir_error *error)
{
    const uint32_t node = run->node_at[believed->node];
    WEIR_TRY(weir_cluster_add_worker(run->belief, ++run->next_worker, 0, believed, error));
    run->frag[believed->node] = sim_target_frag_milli(&run->target, run->truth, node);
    run->digest = sim_digest_word(run->digest, ((uint64_t)node << 32) | (uint32_t)arrival);
    for (uint32_t d = 0; d < believed->device_count; d++)
        run->digest = sim_digest_word(run->digest, believed->devices[d].gpu);
    run->counts.used_milli += gpu_milli(shape);
    run->counts.cpu_units += shape->cpu_units;
    run->counts.ram_bytes += shape->ram_bytes;
    return WEIR_OK;
}

/* Admits all members by the truth and tells the belief; false when the truth refuses one. */
static weir_status admit(struct sim_static_run *run, uint64_t arrival,
                         const struct sim_job_spec *job, bool *is_placed, struct weir_error *error)
{
    uint32_t taken = 0;
    for (; taken < job->members; taken++) {
        struct weir_alloc alloc = *sim_job_placer_alloc(run->placer, taken);
        alloc.node = run->node_at[alloc.node];
        sim_lease_fill(&run->leases[taken], run->truth, &alloc, &job->shape);
        if (sim_cluster_acquire(run->truth, &run->leases[taken]) != WEIR_REASON_NONE)
            break;
    }
    *is_placed = taken == job->members;
    while (!*is_placed && taken-- > 0)
        sim_cluster_release(run->truth, &run->leases[taken]);
    for (uint32_t m = 0; *is_placed && m < job->members; m++)
        WEIR_TRY(settle(run, arrival, sim_job_placer_alloc(run->placer, m), &job->shape, error));
    return WEIR_OK;
}

static void count_arrival(struct sim_static_counts *counts, const struct sim_job_spec *job,
                          weir_status status, bool is_placed)
{
    counts->arrived++;
    counts->label_arrived[job->label]++;
    counts->arrived_milli += gpu_milli(&job->shape) * job->members;
    counts->infeasible += status == WEIR_EINFEASIBLE ? 1 : 0;
    if (is_placed)
        return;
    if (counts->failed++ == 0)
        counts->density_milli = counts->used_milli;
    counts->label_failed[job->label]++;
}

static weir_status arrive(struct sim_static_run *run, uint64_t arrival, struct weir_error *error)
{
    const struct sim_job_spec *job = &run->workload->jobs[run->order.arrivals[arrival]];
    const struct weir_mix mix = sim_target_mix(&run->target);
    const struct sim_job_question question = {
        .belief = run->belief, .mix = &mix, .job = job, .seed = policy_seed(run, arrival)
    };
    struct weir_error refused = { .phase = -1 };
    struct sim_static_counts *counts = &run->counts;
    bool is_placed = false;
    const weir_status status = sim_job_placer_ask(run->placer, &question, &refused);
    if (status != WEIR_OK && status != WEIR_EBUSY && status != WEIR_EINFEASIBLE)
        return weir_fail(error, status, "arrival %llu: %s", (unsigned long long)arrival,
                         refused.text);
    if (status == WEIR_OK)
        WEIR_TRY(admit(run, arrival, job, &is_placed, error));
    count_arrival(counts, job, status, is_placed);
    const struct sim_arrival_state state = { .arrived_milli = counts->arrived_milli,
                                             .used_milli = counts->used_milli,
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

const struct sim_workload *sim_static_workload(const struct sim_static_run *run)
{
    return run->workload;
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
