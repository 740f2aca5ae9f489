/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan's insides, for plan.c, check.c and the placer.
 *
 * Actions stay where they were appended; callers see them through `order`, rebuilt at the next look
 * after a change. An action that is taken back leaves a hole. When a stop was taken back, all stops
 * come first: a worker started meanwhile may stand on what a *later* stop frees, and with stops
 * first every point between is at most as full as the fuller of start and end. Everything lives
 * behind the handle, so that a look through a const handle may rebuild the order.
 */
#ifndef SCHED_INTERNAL_PLAN_STATE_H
#define SCHED_INTERNAL_PLAN_STATE_H

#include "sched/internal/blocks.h"
#include "sched/internal/id_map.h"
#include "weir/plan.h"

#include <stddef.h>

/* check.c: what is free on the devices that the plan touches, and what became of its workers. */
struct weir_check_node {
    uint32_t node;
    uint32_t rank; /* action that started a rank here last, + 1; 0 = none did */
    int64_t cpu_free;
    int64_t ram_free_bytes;
};

struct weir_check_gpu {
    int64_t units_free;
    int64_t mem_free_bytes;
    uint32_t nvdec_free;
    uint32_t nvenc_free;
    const struct weir_gpu *seen; /* the view's, for what no plan changes */
    struct weir_mig_state mig_state;
    uint32_t is_away; /* the plan cuts it anew */
    uint32_t reserved;
};

struct weir_check {
    struct weir_id_map node_map; /* node -> nodes[] */
    struct weir_id_map gpu_map;  /* node and GPU -> gpus[] */
    struct weir_id_map workers;  /* id -> index of the action that touched it last */
    struct weir_id_map jobs;     /* record -> index of the action that starts rank 0 */
    struct weir_check_node *nodes;
    struct weir_check_gpu *gpus;
    uint32_t node_count, node_capacity;
    uint32_t gpu_count, gpu_capacity;
    int64_t licences_left[WEIR_MAX_LICENCES];
};

/* Actions lie in one another: an action is 624 bytes, because 16 devices stand in it before its
 * last field, and nearly all use one of them or none. Such a one has one slot of its own and its
 * last field in the gap of a later slot; one of several devices has all the slots that it spans. So
 * no two actions use the same byte, as long as devices beyond the count are neither written nor
 * read. A block of slots has a margin for the last that begin there. */
enum { WEIR_ACTION_SLOT = 160, WEIR_ACTION_SPAN = 4, WEIR_ACTION_COMPACT = 1 };

struct weir_action_slot {
    uint64_t words[WEIR_ACTION_SLOT / sizeof(uint64_t)];
};

_Static_assert(sizeof(struct weir_action) <= WEIR_ACTION_SPAN * sizeof(struct weir_action_slot),
               "an action reaches over the slots that it spans");
_Static_assert(offsetof(struct weir_action, alloc) + offsetof(struct weir_alloc, devices) +
                           WEIR_ACTION_COMPACT * sizeof(struct weir_device) <=
                       offsetof(struct weir_action, group) % WEIR_ACTION_SLOT &&
                   offsetof(struct weir_action, group) % WEIR_ACTION_SLOT + sizeof(uint64_t) <=
                       WEIR_ACTION_SLOT,
               "the last field of an action falls into the gap of a slot");

struct weir_plan_store {
    struct weir_allocator allocator;
    struct weir_blocks slots;     /* struct weir_action_slot */
    struct weir_blocks choices;   /* struct weir_choice */
    uint32_t *places;             /* by action: its first slot */
    uint32_t *order;              /* what callers see: numbers of actions */
    struct weir_pool_note *notes; /* by pool */
    uint32_t *noted;              /* by pool: 1 = has a note */
    struct weir_step *steps;
    struct weir_candidate *candidates;
    struct weir_holder *holders;
    uint32_t action_count, place_capacity;
    uint32_t slots_used;  /* the next action of one device begins here */
    uint32_t slots_clear; /* the next one of several: no slot from here on is in use */
    uint32_t choice_count;
    uint32_t note_count, note_capacity, noted_capacity;
    uint32_t step_count, step_capacity;
    uint32_t candidate_count, candidate_capacity;
    uint32_t holder_count, holder_capacity;
    uint32_t order_capacity;
    uint32_t hole_count;
    uint32_t is_settled;  /* 1 = `order` is up to date */
    uint32_t stops_first; /* 1 = a stop was taken back */
    uint32_t phase;
    uint32_t explain;
    uint64_t next_worker;
    uint64_t first_worker; /* what next_worker was at first: who has this id or more only starts */
    uint64_t group;        /* what STARTs carry now */
    uint32_t rank;
    uint32_t reserved;
    struct weir_id_map stops;  /* worker -> its latest STOP */
    struct weir_id_map starts; /* worker -> its latest START */
    struct weir_check check;
};

struct weir_plan {
    struct weir_plan_store *store;
};

static inline struct weir_action *weir_plan_stored(const struct weir_plan_store *store,
                                                   uint32_t number)
{
    return weir_blocks_at(&store->slots, store->places[number], sizeof(struct weir_action_slot));
}

/* Room for so many choices; one of them. */
weir_status weir_plan_reserve_choices(struct weir_plan_store *store, uint32_t count);
static inline struct weir_choice *weir_plan_kept_choice(const struct weir_plan_store *store,
                                                        uint32_t index)
{
    return weir_blocks_at(&store->choices, index, sizeof(struct weir_choice));
}

/* Brings the order that callers see up to date and says how many actions there are; then, until the
 * plan changes, one of them. */
uint32_t weir_plan_settle(const struct weir_plan *plan);
static inline const struct weir_action *weir_plan_settled(const struct weir_plan *plan,
                                                          uint32_t index)
{
    return weir_plan_stored(plan->store, plan->store->order[index]);
}

/* Takes back the latest START of this worker (it was stopped again in the same plan). False when
 * there is none. */
bool weir_plan_unstart(struct weir_plan *plan, uint64_t worker);

/* Drops an action of a settled plan; the others keep their indices until it is settled again. */
void weir_plan_drop(struct weir_plan *plan, uint32_t index);

/* Jobs of a workload of which too many wait. */
static inline bool weir_is_turning_away(const struct weir_action *action)
{
    return action->verb == WEIR_VERB_DENY && action->owner.kind == WEIR_OWNER_JOB &&
           action->reason == WEIR_REASON_QUEUE_FULL;
}

/* STARTs from now on are members of this group; 0 ends it. */
void weir_plan_set_group(struct weir_plan *plan, uint64_t group);

/* The rank of the STARTs from now on. */
void weir_plan_set_rank(struct weir_plan *plan, uint32_t rank);

/* How far a plan is, and back to it: what was appended since is gone, its worker ids are free. Not
 * across a STOP. */
struct weir_plan_mark {
    uint64_t next_worker;
    uint32_t action_count, choice_count, candidate_count;
};
struct weir_plan_mark weir_plan_mark(const struct weir_plan *plan);
void weir_plan_rewind(struct weir_plan *plan, const struct weir_plan_mark *mark);

/* Takes over everything but the actions, into an empty plan. WEIR_ERANGE when a list cannot be. */
struct weir_plan_lists;
weir_status weir_plan_take_lists(struct weir_plan *plan, const struct weir_plan_lists *lists);

/* check.c */
void weir_check_free(const struct weir_allocator *allocator, struct weir_check *check);

#endif
