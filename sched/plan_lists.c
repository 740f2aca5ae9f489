/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands beside the actions of a plan, from lists (struct weir_plan_lists). They come from
 * outside: an index that is looked at later is bounded here.
 */
#include "sched/internal/alloc.h"
#include "sched/internal/plan_state.h"
#include "weir/host.h"

#include <string.h>

static bool are_sound(const struct weir_plan_lists *lists)
{
    for (uint32_t i = 0; i < lists->candidate_count; i++)
        if (lists->candidates[i].choice >= lists->choice_count ||
            (i > 0 && lists->candidates[i].choice < lists->candidates[i - 1].choice))
            return false;
    return true;
}

static weir_status reserve(struct weir_plan_store *store, const struct weir_plan_lists *lists)
{
    const struct weir_allocator *const memory = &store->allocator;
    WEIR_TRY(weir_plan_reserve_choices(store, lists->choice_count));
    WEIR_ROOM(memory, store->notes, store->note_capacity, lists->note_count + 1);
    WEIR_ROOM(memory, store->noted, store->noted_capacity, lists->note_count + 1);
    WEIR_ROOM(memory, store->steps, store->step_capacity, lists->step_count + 1);
    WEIR_ROOM(memory, store->candidates, store->candidate_capacity, lists->candidate_count + 1);
    WEIR_ROOM(memory, store->holders, store->holder_capacity, lists->holder_count + 1);
    return WEIR_OK;
}

static void copy(void *to, const void *from, size_t count, size_t size)
{
    if (count > 0)
        memcpy(to, from, count * size);
}

weir_status weir_plan_take_lists(struct weir_plan *plan, const struct weir_plan_lists *lists)
{
    struct weir_plan_store *const store = plan->store;

    if (!are_sound(lists))
        return WEIR_ERANGE;
    WEIR_TRY(reserve(store, lists));
    for (uint32_t i = 0; i < lists->choice_count; i++)
        *weir_plan_kept_choice(store, i) = lists->choices[i];
    copy(store->notes, lists->notes, lists->note_count, sizeof *store->notes);
    copy(store->noted, lists->noted, lists->note_count, sizeof *store->noted);
    copy(store->steps, lists->steps, lists->step_count, sizeof *store->steps);
    copy(store->candidates, lists->candidates, lists->candidate_count, sizeof *store->candidates);
    copy(store->holders, lists->holders, lists->holder_count, sizeof *store->holders);
    store->choice_count = lists->choice_count;
    store->note_count = lists->note_count;
    store->step_count = lists->step_count;
    store->candidate_count = lists->candidate_count;
    store->holder_count = lists->holder_count;
    store->next_worker = lists->next_worker;
    return WEIR_OK;
}
