/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The static experiment; see the header. */
#include "sim/jobs/static_state.h"

#include "sim/engine/digest.h"
#include "sim/engine/random.h"
#include "sim/jobs/arrival_order.h"
#include "sim/jobs/job_placer.h"
#include "sim/port/belief.h"

#include <stdlib.h>
#include <string.h>

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
    if (run->node_at == NULL)
        return WEIR_ENOMEM;
    WEIR_TRY(sim_measures_create(&run->measures, run->scenario, &run->target, run->truth));
    for (uint32_t n = 0; n < nodes; n++)
        run->node_at[run->order.ranks[n]] = n;
    for (uint32_t rank = 0; rank < nodes; rank++) {
        WEIR_TRY(add_node(run, run->node_at[rank], error));
        sim_measures_update(&run->measures, rank, run->node_at[rank]);
        run->curve.gpus += run->truth->nodes[run->node_at[rank]].gpu_count;
    }
    return WEIR_OK;
}

static weir_status make_room(struct sim_static_run *run)
{
    const struct sim_workload *workload = run->workload;
    run->members_max = 1;
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (workload->jobs[i].members > run->members_max)
            run->members_max = workload->jobs[i].members;
    run->leases = calloc(run->members_max, sizeof(*run->leases));
    run->counts.label_arrived = calloc(workload->labels_count + 1, sizeof(uint64_t));
    run->counts.label_failed = calloc(workload->labels_count + 1, sizeof(uint64_t));
    const bool is_made = run->leases != NULL && run->counts.label_arrived != NULL &&
                         run->counts.label_failed != NULL;
    return is_made ? WEIR_OK : WEIR_ENOMEM;
}

static weir_status create_demand(struct sim_static_run *run)
{
    struct sim_static_demand *demand = &run->demand;
    WEIR_TRY(sim_job_kinds_create(run->workload, &demand->kinds));
    demand->arrived = calloc((size_t)demand->kinds.count + 1, sizeof(*demand->arrived));
    demand->refused = calloc((size_t)demand->kinds.count + 1, sizeof(*demand->refused));
    return demand->arrived == NULL || demand->refused == NULL ? WEIR_ENOMEM : WEIR_OK;
}

static weir_status prepare(struct sim_static_run *run, struct weir_error *error)
{
    WEIR_TRY(make_room(run));
    WEIR_TRY(sim_target_create(run->workload, &run->target));
    WEIR_TRY(create_demand(run));
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
    sim_measures_clear(&run->measures);
    sim_job_kinds_clear(&run->demand.kinds);
    free(run->demand.arrived);
    free(run->demand.refused);
    free(run->full.cluster.nodes);
    free(run->full.cluster.gpus);
    free(run->full.arrived);
    free(run->full.refused);
    free(run->leases);
    free(run->counts.label_arrived);
    free(run->counts.label_failed);
    free(run);
}

/* ---- arrivals ---- */

static uint64_t policy_seed(const struct sim_static_run *run, uint64_t arrival)
{
    const struct sim_random root = { .seed = run->options->seed,
                                     .replication = run->options->replication };
    struct sim_stream stream;
    sim_stream_open(&stream, &root, SIM_DRAW_POLICY, (struct sim_stream_key){ .item = arrival });
    return sim_stream_u64(&stream);
}

static const struct sim_job_spec *job_of(const struct sim_static_run *run, uint64_t arrival)
{
    return &run->workload->jobs[run->order.arrivals[arrival]];
}

const struct weir_shape *sim_static_shape(const struct sim_static_run *run, uint64_t arrival)
{
    return &job_of(run, arrival)->shape;
}

uint64_t sim_static_worker(const struct sim_static_run *run, uint64_t arrival, uint32_t member)
{
    return arrival * run->members_max + member + 1;
}

/* What is allocated after a member was put on a node (sign 1) or taken away (-1). */
static void book(struct sim_static_run *run, uint32_t rank, const struct weir_shape *shape,
                 int64_t sign)
{
    sim_measures_update(&run->measures, rank, run->node_at[rank]);
    run->counts.used_milli += (double)sign * sim_static_gpu_milli(shape);
    run->counts.cpu_units += sign * shape->cpu_units;
    run->counts.ram_bytes += sign * shape->ram_bytes;
}

static weir_status settle(struct sim_static_run *run, uint64_t worker,
                          const struct weir_alloc *believed, const struct weir_shape *shape,
                          struct weir_error *error)
{
    WEIR_TRY(weir_cluster_add_worker(run->belief, worker, 0, believed, error));
    book(run, believed->node, shape, 1);
    return WEIR_OK;
}

static bool acquire(struct sim_static_run *run, struct sim_lease *lease,
                    const struct weir_alloc *believed, const struct weir_shape *shape)
{
    struct weir_alloc alloc = *believed;
    alloc.node = run->node_at[alloc.node];
    sim_lease_fill(lease, run->truth, &alloc, shape);
    return sim_cluster_acquire(run->truth, lease) == WEIR_REASON_NONE;
}

weir_status sim_static_put(struct sim_static_run *run, uint64_t arrival,
                           const struct weir_alloc *place, bool *is_placed,
                           struct weir_error *error)
{
    const struct weir_shape *shape = sim_static_shape(run, arrival);
    *is_placed = acquire(run, &run->leases[0], place, shape);
    return *is_placed ? settle(run, sim_static_worker(run, arrival, 0), place, shape, error)
                      : WEIR_OK;
}

weir_status sim_static_take(struct sim_static_run *run, uint64_t arrival, struct weir_alloc *place,
                            struct weir_error *error)
{
    const uint64_t id = sim_static_worker(run, arrival, 0);
    const struct weir_shape *shape = sim_static_shape(run, arrival);
    struct weir_worker worker;
    if (!weir_cluster_worker(run->belief, id, &worker))
        return weir_fail(error, WEIR_ENOTFOUND, "arrival %llu was not placed",
                         (unsigned long long)arrival);
    *place = worker.alloc;
    worker.alloc.node = run->node_at[place->node];
    sim_lease_fill(&run->leases[0], run->truth, &worker.alloc, shape);
    sim_cluster_release(run->truth, &run->leases[0]);
    WEIR_TRY(weir_cluster_remove_worker(run->belief, id, error));
    book(run, place->node, shape, -1);
    return WEIR_OK;
}

/* Admits all members by the truth and tells the belief; false when the truth refuses one. */
static weir_status admit(struct sim_static_run *run, uint64_t arrival, bool *is_placed,
                         struct weir_error *error)
{
    const struct sim_job_spec *job = job_of(run, arrival);
    uint32_t taken = 0;
    while (taken < job->members &&
           acquire(run, &run->leases[taken], sim_job_placer_alloc(run->placer, taken), &job->shape))
        taken++;
    *is_placed = taken == job->members;
    while (!*is_placed && taken-- > 0)
        sim_cluster_release(run->truth, &run->leases[taken]);
    for (uint32_t m = 0; *is_placed && m < job->members; m++)
        WEIR_TRY(settle(run, sim_static_worker(run, arrival, m),
                        sim_job_placer_alloc(run->placer, m), &job->shape, error));
    return WEIR_OK;
}

weir_status sim_static_place(struct sim_static_run *run, uint64_t arrival, uint64_t draw,
                             struct sim_static_answer *answer, struct weir_error *error)
{
    const struct weir_mix mix = sim_target_mix(&run->target);
    const struct sim_job_question question = { .belief = run->belief,
                                               .mix = &mix,
                                               .job = job_of(run, arrival),
                                               .seed = policy_seed(run, draw) };
    struct weir_error refused = { .phase = -1 };
    const weir_status status = sim_job_placer_ask(run->placer, &question, &refused);
    *answer = (struct sim_static_answer){ .is_infeasible = status == WEIR_EINFEASIBLE };
    if (status == WEIR_OK)
        return admit(run, arrival, &answer->is_placed, error);
    if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE)
        return WEIR_OK;
    return weir_fail(error, status, "arrival %llu: %s", (unsigned long long)arrival, refused.text);
}

static void digest_places(struct sim_static_run *run, uint64_t arrival)
{
    for (uint32_t m = 0; m < job_of(run, arrival)->members; m++) {
        const struct weir_alloc *alloc = sim_job_placer_alloc(run->placer, m);
        const uint64_t node = run->node_at[alloc->node];
        run->digest = sim_digest_word(run->digest, (node << 32) | (uint32_t)arrival);
        for (uint32_t d = 0; d < alloc->device_count; d++)
            run->digest = sim_digest_word(run->digest, alloc->devices[d].gpu);
    }
}

static void count_arrival(struct sim_static_run *run, uint64_t arrival,
                          const struct sim_static_answer *answer)
{
    const struct sim_job_spec *job = job_of(run, arrival);
    const uint32_t kind = run->demand.kinds.of_row[run->order.arrivals[arrival]];
    struct sim_static_counts *counts = &run->counts;
    counts->arrived++;
    counts->label_arrived[job->label]++;
    counts->arrived_milli += sim_static_gpu_milli(&job->shape) * job->members;
    counts->infeasible += answer->is_infeasible ? 1 : 0;
    run->demand.arrived[kind] += job->members;
    if (answer->is_placed)
        return;
    if (counts->failed++ == 0)
        counts->density_milli = counts->used_milli;
    counts->label_failed[job->label]++;
    run->demand.refused[kind] += job->members;
}

static void *copy_of(const void *from, size_t size)
{
    void *copy = malloc(size + 1);
    return copy == NULL ? NULL : memcpy(copy, from, size);
}

/* The first time that as many GPUs were asked for as there are. */
static weir_status keep_when_full(struct sim_static_run *run)
{
    const struct sim_cluster *truth = run->truth;
    const size_t kinds = run->demand.kinds.count;
    struct full *full = &run->full;
    if (full->cluster.nodes != NULL || run->counts.arrived_milli < run->curve.gpus * 1000)
        return WEIR_OK;
    *full = (struct full){
        .cluster = { .nodes = copy_of(truth->nodes, truth->node_count * sizeof(*truth->nodes)),
                     .gpus = copy_of(truth->gpus, truth->gpu_count * sizeof(*truth->gpus)),
                     .node_count = truth->node_count,
                     .gpu_count = truth->gpu_count },
        .arrived = copy_of(run->demand.arrived, kinds * sizeof(*full->arrived)),
        .refused = copy_of(run->demand.refused, kinds * sizeof(*full->refused)),
        .arrived_milli = run->counts.arrived_milli,
        .used_milli = run->counts.used_milli
    };
    return full->cluster.nodes == NULL || full->cluster.gpus == NULL || full->arrived == NULL ||
                   full->refused == NULL
               ? WEIR_ENOMEM
               : WEIR_OK;
}

static weir_status arrive(struct sim_static_run *run, uint64_t arrival, struct weir_error *error)
{
    const struct sim_static_counts *counts = &run->counts;
    struct sim_static_answer answer;
    WEIR_TRY(sim_static_place(run, arrival, arrival, &answer, error));
    if (answer.is_placed)
        digest_places(run, arrival);
    count_arrival(run, arrival, &answer);
    const struct sim_arrival_state state = { .arrived_milli = counts->arrived_milli,
                                             .used_milli = counts->used_milli,
                                             .frag_milli = sim_static_frag_milli(run),
                                             .failed = counts->failed,
                                             .measures = &run->measures };
    WEIR_TRY(sim_arrival_curve_add(&run->curve, &state));
    return keep_when_full(run);
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
    return sim_measures_frag_milli(&run->measures);
}

const struct sim_measures *sim_static_measures(const struct sim_static_run *run)
{
    return &run->measures;
}

struct sim_static_state sim_static_now(const struct sim_static_run *run)
{
    return (struct sim_static_state){ .cluster = run->truth,
                                      .arrived = run->demand.arrived,
                                      .refused = run->demand.refused,
                                      .arrived_milli = run->counts.arrived_milli,
                                      .used_milli = run->counts.used_milli };
}

struct sim_static_state sim_static_full(const struct sim_static_run *run)
{
    const struct full *full = &run->full;
    return (struct sim_static_state){ .cluster =
                                          full->cluster.nodes == NULL ? NULL : &full->cluster,
                                      .arrived = full->arrived,
                                      .refused = full->refused,
                                      .arrived_milli = full->arrived_milli,
                                      .used_milli = full->used_milli };
}

const struct sim_static_demand *sim_static_demand(const struct sim_static_run *run)
{
    return &run->demand;
}

const struct sim_scenario *sim_static_scenario(const struct sim_static_run *run)
{
    return run->scenario;
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
