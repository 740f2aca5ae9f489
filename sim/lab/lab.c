/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The static experiment; see the header. */
#include "sim/lab/lab_state.h"

#include "sim/engine/digest.h"
#include "sim/engine/random.h"
#include "sim/lab/arrival_order.h"
#include "sim/lab/job_placer.h"
#include "sim/scenario/belief.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static weir_status find_order(struct sim_lab *lab, struct weir_error *error)
{
    const struct sim_order_query query = { .workload = lab->workload,
                                           .random = { .seed = lab->options.seed,
                                                       .replication = lab->options.replication },
                                           .nodes = lab->truth->node_count,
                                           .gpus = lab->truth->gpu_count };
    return sim_arrival_order(&query, &lab->order, error);
}

static weir_status add_node(struct sim_lab *lab, uint32_t index, struct weir_error *error)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    WEIR_TRY(sim_belief_node(lab->scenario, index, gpus, &spec, error));
    return weir_cluster_add_node(lab->belief, &spec, NULL, error);
}

/* Nodes stand in the inventory in the order of their ranks: the first of equals wins. */
static weir_status fill_belief(struct sim_lab *lab, struct weir_error *error)
{
    const uint32_t nodes = lab->truth->node_count;
    lab->node_at = calloc((size_t)nodes + 1, sizeof(*lab->node_at));
    if (lab->node_at == NULL)
        return WEIR_ENOMEM;
    WEIR_TRY(sim_measures_create(&lab->measures, &lab->target, lab->truth));
    for (uint32_t n = 0; n < nodes; n++)
        lab->node_at[lab->order.ranks[n]] = n;
    for (uint32_t rank = 0; rank < nodes; rank++) {
        WEIR_TRY(add_node(lab, lab->node_at[rank], error));
        sim_measures_update(&lab->measures, rank, lab->node_at[rank]);
        lab->curve.gpus += lab->truth->nodes[lab->node_at[rank]].gpu_count;
    }
    return WEIR_OK;
}

static weir_status make_room(struct sim_lab *lab)
{
    const struct sim_workload *workload = lab->workload;
    lab->members_max = 1;
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (workload->jobs[i].members > lab->members_max)
            lab->members_max = workload->jobs[i].members;
    lab->leases = calloc(lab->members_max, sizeof(*lab->leases));
    lab->parts = calloc((size_t)lab->members_max * WEIR_MAX_DEVICES, sizeof(*lab->parts));
    lab->claims = calloc(lab->members_max, sizeof(*lab->claims));
    for (uint32_t i = 0; lab->claims != NULL && lab->parts != NULL && i < lab->members_max; i++)
        lab->claims[i].parts = lab->parts + (size_t)i * WEIR_MAX_DEVICES;
    lab->counts.label_arrived = calloc(workload->labels_count + 1, sizeof(uint64_t));
    lab->counts.label_failed = calloc(workload->labels_count + 1, sizeof(uint64_t));
    const bool is_made = lab->leases != NULL && lab->claims != NULL && lab->parts != NULL &&
                         lab->counts.label_arrived != NULL && lab->counts.label_failed != NULL;
    return is_made ? WEIR_OK : WEIR_ENOMEM;
}

static weir_status create_demand(struct sim_lab *lab)
{
    struct sim_lab_demand *demand = &lab->demand;
    WEIR_TRY(sim_job_kinds_create(lab->workload, &demand->kinds));
    demand->arrived = calloc((size_t)demand->kinds.count + 1, sizeof(*demand->arrived));
    demand->refused = calloc((size_t)demand->kinds.count + 1, sizeof(*demand->refused));
    return demand->arrived == NULL || demand->refused == NULL ? WEIR_ENOMEM : WEIR_OK;
}

static weir_status prepare(struct sim_lab *lab, struct weir_error *error)
{
    WEIR_TRY(make_room(lab));
    WEIR_TRY(sim_target_create(lab->workload, &lab->target));
    WEIR_TRY(create_demand(lab));
    WEIR_TRY(sim_cluster_create(lab->scenario, &lab->truth));
    WEIR_TRY(find_order(lab, error));
    WEIR_TRY(weir_cluster_create(NULL, &lab->belief));
    WEIR_TRY(sim_job_placer_create(lab->scenario, lab->workload, &lab->placer, error));
    WEIR_TRY(fill_belief(lab, error));
    if (!(lab->curve.gpus > 0))
        return weir_fail(error, WEIR_EINFEASIBLE,
                         "no node has a GPU: a static workload is measured against GPU demand");
    return WEIR_OK;
}

weir_status sim_lab_create(const struct sim_scenario *scenario,
                           const struct sim_run_options *options, struct sim_lab **lab,
                           struct weir_error *error)
{
    struct sim_lab *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return WEIR_ENOMEM;
    made->scenario = scenario;
    made->options = *options;
    made->workload = &scenario->workloads[0];
    made->digest = SIM_DIGEST_START;
    made->counts.density_milli = -1;
    const weir_status status = prepare(made, error);
    if (status != WEIR_OK) {
        sim_lab_destroy(made);
        return status;
    }
    *lab = made;
    return WEIR_OK;
}

void sim_lab_destroy(struct sim_lab *lab)
{
    if (lab == NULL)
        return;
    sim_job_placer_destroy(lab->placer);
    weir_cluster_destroy(lab->belief);
    sim_cluster_destroy(lab->truth);
    sim_target_clear(&lab->target);
    wl_openb_order_clear(&lab->order);
    sim_arrival_curve_clear(&lab->curve);
    free(lab->node_at);
    sim_measures_clear(&lab->measures);
    sim_job_kinds_clear(&lab->demand.kinds);
    free(lab->demand.arrived);
    free(lab->demand.refused);
    free(lab->full.cluster.nodes);
    free(lab->full.cluster.gpus);
    free(lab->full.arrived);
    free(lab->full.refused);
    free(lab->leases);
    free(lab->claims);
    free(lab->parts);
    free(lab->counts.label_arrived);
    free(lab->counts.label_failed);
    free(lab);
}

/* ---- arrivals ---- */

static uint64_t policy_seed(const struct sim_lab *lab, uint64_t arrival)
{
    const struct sim_random root = { .seed = lab->options.seed,
                                     .replication = lab->options.replication };
    struct sim_stream stream;
    sim_stream_open(&stream, &root, SIM_DRAW_POLICY, (struct sim_stream_key){ .item = arrival });
    return sim_stream_u64(&stream);
}

static const struct sim_job_spec *job_of(const struct sim_lab *lab, uint64_t arrival)
{
    return &lab->workload->jobs[lab->order.arrivals[arrival]];
}

const struct weir_shape *sim_lab_shape(const struct sim_lab *lab, uint64_t arrival)
{
    return &job_of(lab, arrival)->shape;
}

uint64_t sim_lab_worker(const struct sim_lab *lab, uint64_t arrival, uint32_t member)
{
    return arrival * lab->members_max + member + 1;
}

/* What is allocated after a member was put on a node (sign 1) or taken away (-1). */
static void book(struct sim_lab *lab, uint32_t rank, const struct weir_shape *shape, int64_t sign)
{
    sim_measures_update(&lab->measures, rank, lab->node_at[rank]);
    lab->counts.used_milli += (double)sign * sim_lab_gpu_milli(shape);
    lab->counts.cpu_units += sign * shape->cpu_units;
    lab->counts.ram_bytes += sign * shape->ram_bytes;
}

static weir_status settle(struct sim_lab *lab, uint64_t worker, const struct weir_alloc *believed,
                          const struct weir_shape *shape, struct weir_error *error)
{
    WEIR_TRY(weir_cluster_add_worker(lab->belief, worker, weir_pool_owner(0), believed, error));
    sim_job_placer_put(lab->placer, worker, believed);
    book(lab, believed->node, shape, 1);
    return WEIR_OK;
}

static bool acquire(struct sim_lab *lab, uint32_t member, const struct weir_alloc *believed,
                    const struct weir_shape *shape)
{
    struct weir_alloc alloc = *believed;
    alloc.node = lab->node_at[alloc.node];
    lab->leases[member] = sim_lease_fill(&lab->claims[member], lab->truth, &alloc, shape);
    return sim_cluster_acquire(lab->truth, &lab->leases[member]) == WEIR_REASON_NONE;
}

weir_status sim_lab_put(struct sim_lab *lab, uint64_t arrival, const struct weir_alloc *place,
                        bool *is_placed, struct weir_error *error)
{
    const struct weir_shape *shape = sim_lab_shape(lab, arrival);
    *is_placed = acquire(lab, 0, place, shape);
    return *is_placed ? settle(lab, sim_lab_worker(lab, arrival, 0), place, shape, error) : WEIR_OK;
}

weir_status sim_lab_take(struct sim_lab *lab, uint64_t arrival, struct weir_alloc *place,
                         struct weir_error *error)
{
    const uint64_t id = sim_lab_worker(lab, arrival, 0);
    const struct weir_shape *shape = sim_lab_shape(lab, arrival);
    struct weir_worker worker;
    if (!weir_cluster_worker(lab->belief, id, &worker))
        return weir_fail(error, WEIR_ENOTFOUND, "arrival %llu was not placed",
                         (unsigned long long)arrival);
    *place = worker.alloc;
    worker.alloc.node = lab->node_at[place->node];
    struct sim_lease lease = sim_lease_fill(&lab->claims[0], lab->truth, &worker.alloc, shape);
    sim_cluster_release(lab->truth, &lease);
    WEIR_TRY(weir_cluster_remove_worker(lab->belief, id, error));
    sim_job_placer_take(lab->placer, id);
    book(lab, place->node, shape, -1);
    return WEIR_OK;
}

/* Admits all members by the truth and tells the belief; false when the truth refuses one. */
static weir_status admit(struct sim_lab *lab, uint64_t arrival, bool *is_placed,
                         struct weir_error *error)
{
    const struct sim_job_spec *job = job_of(lab, arrival);
    uint32_t taken = 0;
    while (taken < job->members &&
           acquire(lab, taken, sim_job_placer_alloc(lab->placer, taken), &job->shape))
        taken++;
    *is_placed = taken == job->members;
    while (!*is_placed && taken-- > 0)
        sim_cluster_release(lab->truth, &lab->leases[taken]);
    for (uint32_t m = 0; *is_placed && m < job->members; m++)
        WEIR_TRY(settle(lab, sim_lab_worker(lab, arrival, m), sim_job_placer_alloc(lab->placer, m),
                        &job->shape, error));
    return WEIR_OK;
}

weir_status sim_lab_place(struct sim_lab *lab, uint64_t arrival, uint64_t draw,
                          struct sim_lab_answer *answer, struct weir_error *error)
{
    const struct weir_mix mix = sim_target_mix(&lab->target);
    const struct sim_lab_question question = { .belief = lab->belief,
                                               .mix = &mix,
                                               .job = job_of(lab, arrival),
                                               .row = lab->order.arrivals[arrival],
                                               .seed = policy_seed(lab, draw) };
    struct weir_error refused = { .phase = -1 };
    const weir_status status = sim_job_placer_ask(lab->placer, &question, &refused);
    *answer = (struct sim_lab_answer){ .is_infeasible = status == WEIR_EINFEASIBLE };
    if (status == WEIR_OK)
        return admit(lab, arrival, &answer->is_placed, error);
    if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE)
        return WEIR_OK;
    return weir_fail(error, status, "arrival %llu: %s", (unsigned long long)arrival, refused.text);
}

static void digest_places(struct sim_lab *lab, uint64_t arrival)
{
    for (uint32_t m = 0; m < job_of(lab, arrival)->members; m++) {
        const struct weir_alloc *alloc = sim_job_placer_alloc(lab->placer, m);
        const uint64_t node = lab->node_at[alloc->node];
        lab->digest = sim_digest_word(lab->digest, (node << 32) | (uint32_t)arrival);
        for (uint32_t d = 0; d < alloc->device_count; d++)
            lab->digest = sim_digest_word(lab->digest, alloc->devices[d].gpu);
    }
}

static void count_arrival(struct sim_lab *lab, uint64_t arrival,
                          const struct sim_lab_answer *answer)
{
    const struct sim_job_spec *job = job_of(lab, arrival);
    const uint32_t kind = lab->demand.kinds.of_row[lab->order.arrivals[arrival]];
    struct sim_lab_counts *counts = &lab->counts;
    counts->arrived++;
    counts->label_arrived[job->label]++;
    counts->arrived_milli += sim_lab_gpu_milli(&job->shape) * job->members;
    counts->infeasible += answer->is_infeasible ? 1 : 0;
    lab->demand.arrived[kind] += job->members;
    if (answer->is_placed)
        return;
    if (counts->failed++ == 0)
        counts->density_milli = counts->used_milli;
    counts->label_failed[job->label]++;
    lab->demand.refused[kind] += job->members;
}

static void *copy_of(const void *from, size_t size)
{
    void *copy = malloc(size + 1);
    return copy == NULL ? NULL : memcpy(copy, from, size);
}

/* The first time that as many GPUs were asked for as there are. */
static weir_status keep_when_full(struct sim_lab *lab)
{
    const struct sim_cluster *truth = lab->truth;
    const size_t kinds = lab->demand.kinds.count;
    struct full *full = &lab->full;
    if (full->cluster.nodes != NULL || lab->counts.arrived_milli < lab->curve.gpus * 1000)
        return WEIR_OK;
    *full = (struct full){
        .cluster = { .nodes = copy_of(truth->nodes, truth->node_count * sizeof(*truth->nodes)),
                     .gpus = copy_of(truth->gpus, truth->gpu_count * sizeof(*truth->gpus)),
                     .node_count = truth->node_count,
                     .gpu_count = truth->gpu_count },
        .arrived = copy_of(lab->demand.arrived, kinds * sizeof(*full->arrived)),
        .refused = copy_of(lab->demand.refused, kinds * sizeof(*full->refused)),
        .arrived_milli = lab->counts.arrived_milli,
        .used_milli = lab->counts.used_milli
    };
    return full->cluster.nodes == NULL || full->cluster.gpus == NULL || full->arrived == NULL ||
                   full->refused == NULL
               ? WEIR_ENOMEM
               : WEIR_OK;
}

static weir_status arrive(struct sim_lab *lab, uint64_t arrival, struct weir_error *error)
{
    const struct sim_lab_counts *counts = &lab->counts;
    struct sim_lab_answer answer;
    WEIR_TRY(sim_lab_place(lab, arrival, arrival, &answer, error));
    if (answer.is_placed)
        digest_places(lab, arrival);
    count_arrival(lab, arrival, &answer);
    const struct sim_arrival_state state = { .arrived_milli = counts->arrived_milli,
                                             .used_milli = counts->used_milli,
                                             .frag_milli = sim_lab_frag_milli(lab),
                                             .failed = counts->failed,
                                             .measures = &lab->measures };
    WEIR_TRY(sim_arrival_curve_add(&lab->curve, &state));
    return keep_when_full(lab);
}

weir_status sim_lab_arrive(struct sim_lab *lab, struct weir_error *error)
{
    const struct sim_run_options *options = &lab->options;
    for (uint64_t i = 0; i < lab->order.arrival_count; i++) {
        if (options->interrupt != NULL && *options->interrupt != 0)
            return WEIR_EINTERRUPTED;
        const uint64_t failed = lab->counts.failed;
        WEIR_TRY(arrive(lab, i, error));
        if (options->check_always)
            WEIR_TRY(sim_cluster_check(lab->truth, error));
        if (options->progress != NULL) {
            options->progress->fraction = (double)(i + 1) / (double)lab->order.arrival_count;
            options->progress->events = i + 1;
        }
        if (lab->counts.failed > failed && lab->workload->refusal == SIM_REFUSAL_STOP)
            break;
    }
    return sim_cluster_check(lab->truth, error);
}

/* ---- what became of it ---- */

double sim_lab_frag_milli(const struct sim_lab *lab)
{
    return sim_measures_part(&lab->measures, SIM_PART_FRAG);
}

const struct sim_measures *sim_lab_measures(const struct sim_lab *lab)
{
    return &lab->measures;
}

struct sim_lab_state sim_lab_now(const struct sim_lab *lab)
{
    return (struct sim_lab_state){ .cluster = lab->truth,
                                   .arrived = lab->demand.arrived,
                                   .refused = lab->demand.refused,
                                   .arrived_milli = lab->counts.arrived_milli,
                                   .used_milli = lab->counts.used_milli };
}

struct sim_lab_state sim_lab_full(const struct sim_lab *lab)
{
    const struct full *full = &lab->full;
    return (struct sim_lab_state){ .cluster = full->cluster.nodes == NULL ? NULL : &full->cluster,
                                   .arrived = full->arrived,
                                   .refused = full->refused,
                                   .arrived_milli = full->arrived_milli,
                                   .used_milli = full->used_milli };
}

const struct sim_lab_demand *sim_lab_demand(const struct sim_lab *lab)
{
    return &lab->demand;
}

const struct sim_run_options *sim_lab_options(const struct sim_lab *lab)
{
    return &lab->options;
}

const struct sim_scenario *sim_lab_scenario(const struct sim_lab *lab)
{
    return lab->scenario;
}

const struct sim_cluster *sim_lab_cluster(const struct sim_lab *lab)
{
    return lab->truth;
}

const struct sim_workload *sim_lab_workload(const struct sim_lab *lab)
{
    return lab->workload;
}

const struct sim_lab_counts *sim_lab_counts(const struct sim_lab *lab)
{
    return &lab->counts;
}

const struct sim_arrival_curve *sim_lab_curve(const struct sim_lab *lab)
{
    return &lab->curve;
}

const struct sim_target *sim_lab_target(const struct sim_lab *lab)
{
    return &lab->target;
}

uint64_t sim_lab_digest(const struct sim_lab *lab)
{
    return lab->digest;
}
