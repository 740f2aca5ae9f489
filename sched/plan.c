/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: growable lists of actions, choices, notes and steps that keep their memory.
 *
 * Indices that callers see are stable until the next append or take-back.
 */
#include "sched/internal/plan_state.h"
#include "sched/internal/size.h"

#include "sched/internal/alloc.h"

#include <string.h>

#define WEIR_VERB_TEXT(name, text) text,
static const char *const VERB_NAMES[] = { WEIR_VERBS(WEIR_VERB_TEXT) };
#undef WEIR_VERB_TEXT

#define WEIR_REASON_TEXT(name, text) text,
static const char *const REASON_TEXTS[] = { WEIR_REASONS(WEIR_REASON_TEXT) };
#undef WEIR_REASON_TEXT

static const uint32_t HOLE = UINT32_MAX; /* the verb of an action that was taken back */

const char *weir_verb_name(uint32_t verb)
{
    return verb < WEIR_VERB_COUNT ? VERB_NAMES[verb] : "?";
}

const char *weir_reason_text(uint32_t reason)
{
    return reason < WEIR_REASON_COUNT ? REASON_TEXTS[reason] : "?";
}

weir_status weir_plan_create(const struct weir_allocator *allocator, struct weir_plan **plan)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_plan *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return WEIR_ENOMEM;
    made->store = weir_alloc(&memory, 1, sizeof *made->store);
    if (made->store == NULL) {
        weir_free(&memory, made);
        return WEIR_ENOMEM;
    }
    made->store->allocator = memory;
    weir_plan_reset(made, 0, WEIR_EXPLAIN_COUNTS);
    *plan = made;
    return WEIR_OK;
}

void weir_plan_destroy(struct weir_plan *plan)
{
    if (plan == NULL)
        return;
    struct weir_plan_store *const store = plan->store;
    const struct weir_allocator memory = store->allocator;
    weir_check_free(&memory, &store->check);
    weir_id_map_free(&memory, &store->starts);
    weir_id_map_free(&memory, &store->stops);
    weir_free(&memory, store->candidates);
    weir_free(&memory, store->holders);
    weir_free(&memory, store->steps);
    weir_free(&memory, store->noted);
    weir_free(&memory, store->notes);
    weir_blocks_free(&store->choices, &memory);
    weir_free(&memory, store->order);
    weir_free(&memory, store->places);
    weir_blocks_free(&store->slots, &memory);
    weir_free(&memory, store);
    weir_free(&memory, plan);
}

void weir_plan_reset(struct weir_plan *plan, uint64_t next_worker, uint32_t explain)
{
    struct weir_plan_store *const store = plan->store;

    store->action_count = 0;
    store->slots_used = 0;
    store->slots_clear = 0;
    store->choice_count = 0;
    store->note_count = 0;
    store->step_count = 0;
    store->candidate_count = 0;
    store->holder_count = 0;
    store->hole_count = 0;
    store->stops_first = 0;
    store->is_settled = 0;
    store->phase = 0;
    store->explain = explain;
    store->first_worker = store->next_worker = next_worker;
    weir_id_map_clear(&store->stops);
    weir_id_map_clear(&store->starts);
}

uint64_t weir_plan_new_worker(struct weir_plan *plan)
{
    return plan->store->next_worker++;
}

uint64_t weir_plan_next_worker(const struct weir_plan *plan)
{
    return plan->store->next_worker;
}

uint32_t weir_plan_explain(const struct weir_plan *plan)
{
    return plan->store->explain;
}

void weir_plan_set_phase(struct weir_plan *plan, uint32_t phase)
{
    plan->store->phase = phase;
}

static weir_status reserve_action(struct weir_plan_store *store)
{
    const size_t size = sizeof(struct weir_action_slot);
    WEIR_TRY(weir_blocks_reserve(&store->slots, &store->allocator, store->slots_clear + 1, size,
                                 (WEIR_ACTION_SPAN - 1) * size));
    WEIR_ROOM(&store->allocator, store->places, store->place_capacity, store->action_count + 1);
    WEIR_ROOM(&store->allocator, store->order, store->order_capacity, store->action_count + 1);
    return WEIR_OK;
}

/* The next action is of this worker. */
static weir_status remember_worker(struct weir_plan_store *store, uint32_t verb, uint64_t worker)
{
    if (verb == WEIR_VERB_START)
        return weir_id_map_put(&store->allocator, &store->starts, worker, store->action_count);
    if (verb == WEIR_VERB_STOP)
        return weir_id_map_put(&store->allocator, &store->stops, worker, store->action_count);
    return WEIR_OK;
}

static uint32_t devices_of(const struct weir_alloc *alloc)
{
    return alloc->device_count < WEIR_MAX_DEVICES ? alloc->device_count : WEIR_MAX_DEVICES;
}

/* The next action, for which there is room. */
static struct weir_action *take_slots(struct weir_plan_store *store, uint32_t device_count)
{
    const bool is_compact = device_count <= WEIR_ACTION_COMPACT;
    const uint32_t first = is_compact ? store->slots_used : store->slots_clear;

    store->slots_clear = first + WEIR_ACTION_SPAN;
    store->slots_used = is_compact ? first + 1 : store->slots_clear;
    store->places[store->action_count] = first;
    return weir_plan_stored(store, store->action_count++);
}

weir_status weir_plan_append(struct weir_plan *plan, const struct weir_action *action)
{
    if (plan == NULL || action == NULL)
        return WEIR_EINVAL;
    WEIR_TRY(weir_size_check(action->size, sizeof *action, "the action", NULL));
    if (action->verb == HOLE) /* other verbs that nobody knows are named by the check */
        return WEIR_ERANGE;
    struct weir_plan_store *const store = plan->store;
    WEIR_TRY(reserve_action(store));
    WEIR_TRY(remember_worker(store, action->verb, action->worker));
    const uint32_t devices = devices_of(&action->alloc);
    struct weir_action *const added = take_slots(store, devices);
    memcpy(added, action,
           offsetof(struct weir_action, alloc) + offsetof(struct weir_alloc, devices) +
               devices * sizeof action->alloc.devices[0]);
    added->group = action->group;
    store->is_settled = 0;
    return WEIR_OK;
}

weir_status weir_plan_reserve_choices(struct weir_plan_store *store, uint32_t count)
{
    return weir_blocks_reserve(&store->choices, &store->allocator, count,
                               sizeof(struct weir_choice), 0);
}

/* Index of a kept copy of `choice`, or WEIR_NO_INDEX when none is kept at this level. */
static weir_status keep_choice(struct weir_plan_store *store, const struct weir_choice *choice,
                               uint32_t *index)
{
    *index = WEIR_NO_INDEX;
    if (choice == NULL || store->explain == WEIR_EXPLAIN_OFF)
        return WEIR_OK;
    WEIR_TRY(weir_plan_reserve_choices(store, store->choice_count + 1));
    *weir_plan_kept_choice(store, store->choice_count) = *choice;
    *index = store->choice_count++;
    return WEIR_OK;
}

/* Adds an action with this allocation (NULL = none) where it stays, for which there is room. */
static struct weir_action *add_action(struct weir_plan_store *store, uint32_t verb,
                                      struct weir_owner owner, const struct weir_alloc *alloc)
{
    const uint32_t devices = alloc == NULL ? 0 : devices_of(alloc);
    struct weir_action *const action = take_slots(store, devices);

    memset(action, 0, offsetof(struct weir_action, alloc));
    if (alloc == NULL)
        memset(&action->alloc, 0, offsetof(struct weir_alloc, devices));
    else
        memcpy(&action->alloc, alloc,
               offsetof(struct weir_alloc, devices) + devices * sizeof alloc->devices[0]);
    action->size = sizeof *action;
    action->group = 0;
    action->verb = verb;
    action->owner = owner;
    action->phase = store->phase;
    action->choice = WEIR_NO_INDEX;
    store->is_settled = 0;
    return action;
}

weir_status weir_plan_start(struct weir_plan *plan, struct weir_owner owner, uint64_t worker,
                            const struct weir_alloc *alloc, const struct weir_choice *choice)
{
    struct weir_plan_store *const store = plan->store;
    uint32_t kept = WEIR_NO_INDEX;

    WEIR_TRY(reserve_action(store));
    WEIR_TRY(keep_choice(store, choice, &kept));
    WEIR_TRY(remember_worker(store, WEIR_VERB_START, worker));
    struct weir_action *const action = add_action(store, WEIR_VERB_START, owner, alloc);
    action->worker = worker;
    action->group = store->group;
    action->rank = store->rank;
    action->reused = weir_id_map_get(&store->stops, worker) != WEIR_NO_INDEX;
    action->choice = kept;
    return WEIR_OK;
}

void weir_plan_set_group(struct weir_plan *plan, uint64_t group)
{
    plan->store->group = group;
}

void weir_plan_set_rank(struct weir_plan *plan, uint32_t rank)
{
    plan->store->rank = rank;
}

struct weir_plan_mark weir_plan_mark(const struct weir_plan *plan)
{
    const struct weir_plan_store *const store = plan->store;

    return (struct weir_plan_mark){ .next_worker = store->next_worker,
                                    .action_count = store->action_count,
                                    .choice_count = store->choice_count,
                                    .candidate_count = store->candidate_count };
}

void weir_plan_rewind(struct weir_plan *plan, const struct weir_plan_mark *mark)
{
    struct weir_plan_store *const store = plan->store;

    store->next_worker = mark->next_worker;
    if (mark->action_count < store->action_count) {
        store->slots_used = store->places[mark->action_count];
        store->slots_clear = store->slots_used + WEIR_ACTION_SPAN;
    }
    store->action_count = mark->action_count;
    store->choice_count = mark->choice_count;
    store->candidate_count = mark->candidate_count;
    store->is_settled = 0;
}

weir_status weir_plan_stop(struct weir_plan *plan, struct weir_owner owner, uint64_t worker)
{
    WEIR_TRY(reserve_action(plan->store));
    WEIR_TRY(remember_worker(plan->store, WEIR_VERB_STOP, worker));
    add_action(plan->store, WEIR_VERB_STOP, owner, NULL)->worker = worker;
    return WEIR_OK;
}

weir_status weir_plan_set_slots(struct weir_plan *plan, uint32_t pool, uint32_t slots)
{
    WEIR_TRY(reserve_action(plan->store));
    add_action(plan->store, WEIR_VERB_SET_SLOTS, weir_pool_owner(pool), NULL)->value = slots;
    return WEIR_OK;
}

weir_status weir_plan_deny(struct weir_plan *plan, struct weir_owner owner, uint32_t reason,
                           const struct weir_choice *choice)
{
    uint32_t kept = WEIR_NO_INDEX;

    WEIR_TRY(reserve_action(plan->store));
    WEIR_TRY(keep_choice(plan->store, choice, &kept));
    struct weir_action *const action = add_action(plan->store, WEIR_VERB_DENY, owner, NULL);
    action->reason = reason;
    action->choice = kept;
    return WEIR_OK;
}

weir_status weir_plan_wake(struct weir_plan *plan, int64_t at_ns)
{
    WEIR_TRY(reserve_action(plan->store));
    add_action(plan->store, WEIR_VERB_WAKE, weir_pool_owner(WEIR_NO_INDEX), NULL)->value = at_ns;
    return WEIR_OK;
}

weir_status weir_plan_note(struct weir_plan *plan, uint32_t pool, const struct weir_pool_note *note)
{
    struct weir_plan_store *const store = plan->store;

    if (pool == WEIR_NO_INDEX)
        return WEIR_EINVAL;
    WEIR_ROOM(&store->allocator, store->notes, store->note_capacity, pool + 1);
    WEIR_ROOM(&store->allocator, store->noted, store->noted_capacity, pool + 1);
    for (uint32_t i = store->note_count; i <= pool; i++)
        store->noted[i] = 0;
    if (pool >= store->note_count)
        store->note_count = pool + 1;
    store->notes[pool] = *note;
    store->noted[pool] = 1;
    return WEIR_OK;
}

weir_status weir_plan_step(struct weir_plan *plan, const struct weir_step *step)
{
    struct weir_plan_store *const store = plan->store;

    if (store->explain != WEIR_EXPLAIN_FULL)
        return WEIR_OK;
    WEIR_ROOM(&store->allocator, store->steps, store->step_capacity, store->step_count + 1);
    store->steps[store->step_count] = *step;
    store->steps[store->step_count++].phase = store->phase;
    return WEIR_OK;
}

weir_status weir_plan_candidate(struct weir_plan *plan, const struct weir_candidate *candidate)
{
    struct weir_plan_store *const store = plan->store;

    if (store->explain < WEIR_EXPLAIN_TOP)
        return WEIR_OK;
    WEIR_ROOM(&store->allocator, store->candidates, store->candidate_capacity,
              store->candidate_count + 1);
    store->candidates[store->candidate_count] = *candidate;
    store->candidates[store->candidate_count++].choice = store->choice_count;
    return WEIR_OK;
}

weir_status weir_plan_holder(struct weir_plan *plan, const struct weir_holder *holder)
{
    struct weir_plan_store *const store = plan->store;

    if (store->explain == WEIR_EXPLAIN_OFF)
        return WEIR_OK;
    WEIR_ROOM(&store->allocator, store->holders, store->holder_capacity, store->holder_count + 1);
    store->holders[store->holder_count++] = *holder;
    return WEIR_OK;
}

uint32_t weir_plan_holder_count(const struct weir_plan *plan)
{
    return plan->store->holder_count;
}

const struct weir_holder *weir_plan_holder_at(const struct weir_plan *plan, uint32_t index)
{
    return index < plan->store->holder_count ? &plan->store->holders[index] : NULL;
}

/* Makes a hole of an action that `map` remembers. */
static bool take_back(struct weir_plan_store *store, const struct weir_id_map *map, uint32_t verb,
                      uint64_t worker)
{
    const uint32_t index = weir_id_map_get(map, worker);

    if (index == WEIR_NO_INDEX)
        return false;
    struct weir_action *const action = weir_plan_stored(store, index);
    if (action->verb != verb || action->worker != worker)
        return false;
    action->verb = HOLE;
    store->hole_count++;
    store->is_settled = 0;
    return true;
}

/* Lists the actions of one kind of verb (stops, or all others), in the order they were made. */
static uint32_t list_verbs(struct weir_plan_store *store, uint32_t count, bool stops)
{
    for (uint32_t i = 0; i < store->action_count; i++) {
        const uint32_t verb = weir_plan_stored(store, i)->verb;
        if (verb != HOLE && (verb == WEIR_VERB_STOP) == stops)
            store->order[count++] = i;
    }
    return count;
}

static void list_all(struct weir_plan_store *store)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < store->action_count; i++) {
        if (weir_plan_stored(store, i)->verb != HOLE)
            store->order[count++] = i;
    }
}

/* `order` has room for every action. */
uint32_t weir_plan_settle(const struct weir_plan *plan)
{
    struct weir_plan_store *const store = plan->store;

    if (store->is_settled != 0)
        return store->action_count - store->hole_count;
    if (store->stops_first != 0)
        (void)list_verbs(store, list_verbs(store, 0, true), false);
    else
        list_all(store);
    store->is_settled = 1;
    return store->action_count - store->hole_count;
}

bool weir_plan_unstop(struct weir_plan *plan, uint64_t worker)
{
    if (!take_back(plan->store, &plan->store->stops, WEIR_VERB_STOP, worker))
        return false;
    plan->store->stops_first = 1;
    return true;
}

bool weir_plan_unstart(struct weir_plan *plan, uint64_t worker)
{
    return take_back(plan->store, &plan->store->starts, WEIR_VERB_START, worker);
}

void weir_plan_drop(struct weir_plan *plan, uint32_t index)
{
    struct weir_plan_store *const store = plan->store;

    weir_plan_stored(store, store->order[index])->verb = HOLE;
    store->hole_count++;
    store->is_settled = 0;
}

uint32_t weir_plan_count(const struct weir_plan *plan)
{
    return plan == NULL ? 0 : plan->store->action_count - plan->store->hole_count;
}

const struct weir_action *weir_plan_action(const struct weir_plan *plan, uint32_t index)
{
    if (plan == NULL || index >= weir_plan_settle(plan))
        return NULL;
    return weir_plan_settled(plan, index);
}

const struct weir_action *weir_plan_shortage(const struct weir_plan *plan)
{
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action != NULL && action->verb == WEIR_VERB_DENY)
            return action;
    }
    return NULL;
}

const struct weir_choice *weir_plan_choice(const struct weir_plan *plan, uint32_t index)
{
    return plan != NULL && index < plan->store->choice_count
               ? weir_plan_kept_choice(plan->store, index)
               : NULL;
}

const struct weir_pool_note *weir_plan_pool_note(const struct weir_plan *plan, uint32_t pool)
{
    const struct weir_plan_store *const store = plan == NULL ? NULL : plan->store;

    return store != NULL && pool < store->note_count && store->noted[pool] != 0
               ? &store->notes[pool]
               : NULL;
}

uint32_t weir_plan_step_count(const struct weir_plan *plan)
{
    return plan->store->step_count;
}

const struct weir_step *weir_plan_step_at(const struct weir_plan *plan, uint32_t index)
{
    return index < plan->store->step_count ? &plan->store->steps[index] : NULL;
}

uint32_t weir_plan_candidate_count(const struct weir_plan *plan)
{
    return plan->store->candidate_count;
}

const struct weir_candidate *weir_plan_candidate_at(const struct weir_plan *plan, uint32_t index)
{
    return index < plan->store->candidate_count ? &plan->store->candidates[index] : NULL;
}
