/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moving jobs at the end; see the header. */
#include "sim/lab/defrag.h"

#include "sim/cluster/target_frag.h"
#include "sim/lab/lab_state.h"

#include <math.h>
#include <stdlib.h>

/* Candidates that are really tried before one of them is moved. */
enum { TRIALS = 8 };

/* A change of F below this (thousandths of a GPU) is a residue of sums. */
static const double least_milli = 1e-6;

struct candidate {
    uint64_t arrival;
    uint32_t rank;     /* of its node */
    double size;       /* in GPUs */
    double gain_milli; /* F that leaves its node with it */
    bool is_done;      /* tried in vain, or moved */
};

struct mover {
    struct sim_lab *lab;
    struct sim_defrag *defrag;
    struct candidate *candidates; /* by arrival */
    size_t count;
    struct weir_alloc *places; /* by move: where the job was */
    double gpus_per_cpu;
    struct weir_error *error;
};

/* ---- candidates ---- */

/* The truth is changed and changed back; belief and measurements are not touched. */
static double gain_of(struct mover *mover, const struct candidate *candidate)
{
    struct sim_lab *lab = mover->lab;
    const uint32_t node = lab->node_at[candidate->rank];
    struct weir_worker worker;
    if (!weir_cluster_worker(lab->belief, sim_lab_worker(lab, candidate->arrival, 0), &worker))
        return 0;
    worker.alloc.node = node;
    struct sim_lease lease = sim_lease_fill(&lab->claims[0], lab->truth, &worker.alloc,
                                            sim_lab_shape(lab, candidate->arrival));
    sim_cluster_release(lab->truth, &lease);
    const double without = sim_target_frag_milli(&lab->target, lab->truth, node);
    (void)sim_cluster_acquire(lab->truth, &lease); /* it was there a moment ago */
    return lab->measures.frag[candidate->rank] - without;
}

static double size_of(const struct mover *mover, const struct weir_shape *shape)
{
    const double gpus = sim_lab_gpu_milli(shape) / 1000;
    return fmax(fmax(gpus, weir_units_amount(shape->cpu_units) * mover->gpus_per_cpu), 0.01);
}

static void list_candidates(struct mover *mover)
{
    struct sim_lab *lab = mover->lab;
    for (uint64_t i = 0; i < lab->order.arrival_count; i++) {
        struct weir_worker worker;
        const bool is_gang = lab->workload->jobs[lab->order.arrivals[i]].members > 1;
        if (is_gang || !weir_cluster_worker(lab->belief, sim_lab_worker(lab, i, 0), &worker))
            continue;
        struct candidate *candidate = &mover->candidates[mover->count++];
        *candidate = (struct candidate){ .arrival = i, .rank = worker.alloc.node };
        candidate->size = size_of(mover, sim_lab_shape(lab, i));
        candidate->gain_milli = gain_of(mover, candidate);
    }
}

/* Nodes have changed: what was known of their jobs is not true any more. */
static void refresh(struct mover *mover, uint32_t from, uint32_t to)
{
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): sim_lab_defrag frees the candidates */
    for (size_t i = 0; i < mover->count; i++) {
        struct candidate *candidate = &mover->candidates[i];
        if (candidate->rank != from && candidate->rank != to)
            continue;
        candidate->gain_milli = gain_of(mover, candidate);
    }
}

static double frag_gpus(const struct mover *mover)
{
    return sim_lab_frag_milli(mover->lab) / 1000;
}

static struct sim_defrag_move *add_move(struct mover *mover, uint64_t arrival,
                                        const struct weir_alloc *from)
{
    const struct weir_shape *shape = sim_lab_shape(mover->lab, arrival);
    const uint32_t index = mover->defrag->count++;
    struct sim_defrag_move *move = &mover->defrag->moves[index];
    *move = (struct sim_defrag_move){ .arrival = arrival,
                                      .from_node = mover->lab->node_at[from->node],
                                      .to_node = WEIR_NO_INDEX,
                                      .gpus = sim_lab_gpu_milli(shape) / 1000,
                                      .cpus = weir_units_amount(shape->cpu_units) };
    mover->places[index] = *from;
    return move;
}

/* The draws of a policy go on where the arrivals ended. */
static uint64_t next_draw(const struct mover *mover)
{
    return mover->lab->order.arrival_count + mover->defrag->count;
}

/* ---- greedy ---- */

/* The most promising jobs that were not tried yet; how many. */
static size_t pick(struct mover *mover, struct candidate *picked[TRIALS])
{
    size_t count = 0;
    for (size_t i = 0; i < mover->count; i++) {
        struct candidate *candidate = &mover->candidates[i];
        if (candidate->is_done || !(candidate->gain_milli > least_milli))
            continue;
        const double worth = candidate->gain_milli / candidate->size;
        size_t at = count < TRIALS ? count++ : TRIALS;
        for (; at > 0 && picked[at - 1]->gain_milli / picked[at - 1]->size < worth; at--)
            if (at < TRIALS)
                picked[at] = picked[at - 1];
        if (at < TRIALS)
            picked[at] = candidate;
    }
    return count;
}

struct trial {
    struct candidate *candidate;
    struct weir_alloc from, to;
    double worth; /* F lowered, for its size */
};

/* Moves a job, notes what that brings, and moves it back. */
static weir_status try_move(struct mover *mover, struct candidate *candidate, struct trial *trial)
{
    struct sim_lab *lab = mover->lab;
    const double before = sim_lab_frag_milli(lab);
    struct sim_lab_answer answer;
    bool is_back = false;
    *trial = (struct trial){ .candidate = candidate };
    WEIR_TRY(sim_lab_take(lab, candidate->arrival, &trial->from, mover->error));
    WEIR_TRY(sim_lab_place(lab, candidate->arrival, next_draw(mover), &answer, mover->error));
    if (answer.is_placed) {
        trial->worth = (before - sim_lab_frag_milli(lab)) / candidate->size;
        WEIR_TRY(sim_lab_take(lab, candidate->arrival, &trial->to, mover->error));
    }
    return sim_lab_put(lab, candidate->arrival, &trial->from, &is_back, mover->error);
}

static weir_status make_move(struct mover *mover, const struct trial *trial)
{
    struct sim_lab *lab = mover->lab;
    struct candidate *candidate = trial->candidate;
    struct weir_alloc from;
    bool is_placed = false;
    struct sim_defrag_move *move = add_move(mover, candidate->arrival, &trial->from);
    move->frag_before_gpus = frag_gpus(mover);
    WEIR_TRY(sim_lab_take(lab, candidate->arrival, &from, mover->error));
    WEIR_TRY(sim_lab_put(lab, candidate->arrival, &trial->to, &is_placed, mover->error));
    move->frag_after_gpus = frag_gpus(mover);
    move->to_node = lab->node_at[trial->to.node];
    candidate->rank = trial->to.node;
    candidate->is_done = true;
    refresh(mover, from.node, trial->to.node);
    return WEIR_OK;
}

static weir_status move_greedily(struct mover *mover)
{
    while (mover->defrag->count < mover->defrag->budget) {
        struct candidate *picked[TRIALS];
        struct trial best = { .worth = least_milli };
        const size_t count = pick(mover, picked);
        if (count == 0)
            break;
        for (size_t i = 0; i < count; i++) {
            struct trial trial;
            WEIR_TRY(try_move(mover, picked[i], &trial));
            if (!(trial.worth > least_milli))
                picked[i]->is_done = true;
            if (trial.worth > best.worth)
                best = trial;
        }
        if (best.candidate != NULL)
            WEIR_TRY(make_move(mover, &best));
    }
    return WEIR_OK;
}

/* ---- many at once ---- */

static weir_status evict(struct mover *mover, struct candidate *candidate)
{
    struct weir_alloc from;
    WEIR_TRY(sim_lab_take(mover->lab, candidate->arrival, &from, mover->error));
    (void)add_move(mover, candidate->arrival, &from);
    candidate->is_done = true;
    return WEIR_OK;
}

static bool is_same_place(const struct weir_alloc *a, const struct weir_alloc *b)
{
    bool is_same = a->node == b->node && a->device_count == b->device_count;
    for (uint32_t d = 0; d < a->device_count && is_same; d++)
        is_same = a->devices[d].gpu == b->devices[d].gpu;
    return is_same;
}

/* In the order in which they went. Who comes back to the old place did not move. */
static weir_status place_evicted(struct mover *mover)
{
    struct sim_lab *lab = mover->lab;
    struct sim_defrag *defrag = mover->defrag;
    const uint32_t evicted = defrag->count;
    defrag->count = 0;
    for (uint32_t i = 0; i < evicted; i++) {
        struct sim_defrag_move move = defrag->moves[i];
        struct sim_lab_answer answer;
        move.frag_before_gpus = frag_gpus(mover);
        WEIR_TRY(
            sim_lab_place(lab, move.arrival, lab->order.arrival_count + i, &answer, mover->error));
        const struct weir_alloc *place = sim_job_placer_alloc(lab->placer, 0);
        move.frag_after_gpus = frag_gpus(mover);
        if (answer.is_placed && is_same_place(place, &mover->places[i]))
            continue;
        if (answer.is_placed)
            move.to_node = lab->node_at[place->node];
        defrag->out += answer.is_placed ? 0 : 1;
        defrag->moves[defrag->count++] = move;
    }
    return WEIR_OK;
}

static struct candidate *most_gain(struct mover *mover)
{
    struct candidate *best = NULL;
    double most = least_milli;
    for (size_t i = 0; i < mover->count; i++) {
        struct candidate *candidate = &mover->candidates[i];
        if (!candidate->is_done && candidate->gain_milli > most) {
            best = candidate;
            most = candidate->gain_milli;
        }
    }
    return best;
}

static weir_status move_batch(struct mover *mover)
{
    while (mover->defrag->count < mover->defrag->budget) {
        struct candidate *candidate = most_gain(mover);
        if (candidate == NULL)
            break;
        WEIR_TRY(evict(mover, candidate));
        refresh(mover, candidate->rank, candidate->rank);
    }
    return place_evicted(mover);
}

/* ---- one pod a node ---- */

struct victim {
    struct candidate *candidate; /* NULL = the node gives none away */
    double frag_milli;           /* of the node */
    uint32_t rank;
};

static int by_frag(const void *left, const void *right)
{
    const struct victim *a = left;
    const struct victim *b = right;
    if (a->frag_milli > b->frag_milli || a->frag_milli < b->frag_milli)
        return a->frag_milli > b->frag_milli ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static void choose_victims(struct mover *mover, struct victim *victims)
{
    const struct sim_lab *lab = mover->lab;
    for (uint32_t rank = 0; rank < lab->truth->node_count; rank++)
        victims[rank] = (struct victim){ .frag_milli = lab->measures.frag[rank], .rank = rank };
    for (size_t i = 0; i < mover->count; i++) {
        struct candidate *candidate = &mover->candidates[i];
        struct victim *victim = &victims[candidate->rank];
        const double gain = trunc(candidate->gain_milli);
        if (gain >= 1 && (victim->candidate == NULL || gain > trunc(victim->candidate->gain_milli)))
            victim->candidate = candidate;
    }
    qsort(victims, lab->truth->node_count, sizeof(*victims), by_frag);
}

static weir_status move_one_a_node(struct mover *mover)
{
    const uint32_t nodes = mover->lab->truth->node_count;
    struct victim *victims = calloc((size_t)nodes + 1, sizeof(*victims));
    weir_status status = victims == NULL ? WEIR_ENOMEM : WEIR_OK;
    if (status == WEIR_OK)
        choose_victims(mover, victims);
    for (uint32_t i = 0; i < nodes && status == WEIR_OK; i++)
        if (victims[i].candidate != NULL && mover->defrag->count < mover->defrag->budget)
            status = evict(mover, victims[i].candidate);
    free(victims);
    return status == WEIR_OK ? place_evicted(mover) : status;
}

/* ---- refused jobs once more ---- */

/* Room only shrinks, so a kind that was refused stays refused. */
static weir_status offer_again(struct mover *mover)
{
    struct sim_lab *lab = mover->lab;
    bool *is_refused = calloc((size_t)lab->demand.kinds.count + 1, sizeof(*is_refused));
    weir_status status = is_refused == NULL ? WEIR_ENOMEM : WEIR_OK;
    for (uint64_t i = 0; i < lab->counts.arrived && status == WEIR_OK; i++) {
        const uint32_t kind = lab->demand.kinds.of_row[lab->order.arrivals[i]];
        struct sim_lab_answer answer = { .is_placed = false };
        if (is_refused[kind] || weir_cluster_worker(lab->belief, sim_lab_worker(lab, i, 0), NULL))
            continue;
        status = sim_lab_place(lab, i, 2 * lab->order.arrival_count + i, &answer, mover->error);
        /* A gang that finds no room says nothing about its members. */
        is_refused[kind] =
            !answer.is_placed && lab->workload->jobs[lab->order.arrivals[i]].members == 1;
    }
    free(is_refused);
    return status;
}

static void open_mover(struct mover *mover)
{
    const struct sim_cluster *truth = mover->lab->truth;
    double cpus = 0;
    for (uint32_t n = 0; n < truth->node_count; n++)
        cpus += weir_units_amount(truth->nodes[n].cpu_total);
    mover->gpus_per_cpu = cpus > 0 ? truth->gpu_count / cpus : 0;
    list_candidates(mover);
}

static weir_status move_by_rule(struct mover *mover, uint32_t rule)
{
    switch ((enum sim_defrag_kind)rule) {
    case SIM_DEFRAG_GREEDY:
        return move_greedily(mover);
    case SIM_DEFRAG_BATCH:
        return move_batch(mover);
    case SIM_DEFRAG_ONE_POD:
        return move_one_a_node(mover);
    case SIM_DEFRAG_NONE:
        break;
    }
    return WEIR_OK;
}

static weir_status move_all(struct mover *mover, const struct sim_defrag_rule *rule)
{
    struct sim_lab *lab = mover->lab;
    struct sim_defrag *defrag = mover->defrag;
    const uint32_t resident = weir_cluster_worker_count(lab->belief);
    defrag->budget = (uint32_t)ceil(rule->budget_frac * resident - 1e-9);
    defrag->moves = calloc((size_t)defrag->budget + 1, sizeof(*defrag->moves));
    mover->candidates = calloc((size_t)resident + 1, sizeof(*mover->candidates));
    mover->places = calloc((size_t)defrag->budget + 1, sizeof(*mover->places));
    if (defrag->moves == NULL || mover->candidates == NULL || mover->places == NULL)
        return WEIR_ENOMEM;
    open_mover(mover);
    defrag->frag_before_gpus = frag_gpus(mover);
    defrag->used_before_gpus = lab->counts.used_milli / 1000;
    WEIR_TRY(move_by_rule(mover, rule->rule));
    for (uint32_t i = 0; i < defrag->count; i++)
        defrag->moved_gpus += defrag->moves[i].gpus;
    defrag->frag_after_gpus = frag_gpus(mover);
    WEIR_TRY(offer_again(mover));
    defrag->used_after_gpus = lab->counts.used_milli / 1000;
    return sim_cluster_check(lab->truth, mover->error);
}

weir_status sim_lab_defrag(struct sim_lab *lab, const struct sim_defrag_rule *rule,
                           struct sim_defrag *defrag, struct weir_error *error)
{
    struct sim_defrag made = { .count = 0 };
    struct mover mover = { .lab = lab, .defrag = &made, .error = error };
    const weir_status status = move_all(&mover, rule);
    free(mover.candidates);
    free(mover.places);
    if (status != WEIR_OK)
        sim_defrag_clear(&made);
    else
        *defrag = made;
    return status;
}

void sim_defrag_clear(struct sim_defrag *defrag)
{
    free(defrag->moves);
    *defrag = (struct sim_defrag){ .moves = NULL };
}
