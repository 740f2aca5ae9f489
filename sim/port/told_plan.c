/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plan over a line: counts, then the lists. Of an action only the devices in use are sent. The
 * reader takes no more than a stated number of bytes, however large the counts are.
 */
#include "sim/port/told.h"

#include <stdlib.h>
#include <string.h>

enum { LISTS = 7, MOST_NOTES = 1 << 24, FIRST_PART = 256 };
static const uint64_t MOST_BYTES = UINT64_C(1) << 30; /* of one list */

struct counts {
    uint32_t actions, choices, notes, steps, candidates, holders;
    uint64_t next_worker;
};

/* Memory of the lists, kept from plan to plan. */
struct sim_told_lists {
    void *blocks[LISTS];
    size_t sizes[LISTS];
};
enum { ACTIONS, CHOICES, NOTES, NOTED, STEPS, CANDIDATES, HOLDERS };

/* ---- putting ---- */

static size_t head_size(void)
{
    return offsetof(struct weir_action, alloc) + offsetof(struct weir_alloc, devices);
}

static weir_status put_action(struct sim_line *line, const struct weir_action *action)
{
    const uint32_t count = action->alloc.device_count < WEIR_MAX_DEVICES
                               ? action->alloc.device_count
                               : WEIR_MAX_DEVICES;
    WEIR_TRY(sim_line_put(line, action, head_size()));
    WEIR_TRY(sim_line_put(line, &action->group, sizeof action->group));
    return sim_line_put(line, action->alloc.devices, count * sizeof action->alloc.devices[0]);
}

static weir_status put_notes(struct sim_line *line, const struct weir_plan *plan, uint32_t pools)
{
    static const struct weir_pool_note none = { 0 };
    for (uint32_t i = 0; i < pools; i++) {
        const struct weir_pool_note *note = weir_plan_pool_note(plan, i);
        const uint32_t is_noted = note != NULL;
        WEIR_TRY(sim_line_put(line, &is_noted, sizeof is_noted));
        WEIR_TRY(sim_line_put(line, note != NULL ? note : &none, sizeof none));
    }
    return WEIR_OK;
}

weir_status sim_told_plan_put(struct sim_line *line, const struct weir_plan *plan, uint32_t pools)
{
    struct counts counts = { .actions = weir_plan_count(plan),
                             .notes = pools,
                             .steps = weir_plan_step_count(plan),
                             .candidates = weir_plan_candidate_count(plan),
                             .holders = weir_plan_holder_count(plan),
                             .next_worker = weir_plan_next_worker(plan) };
    while (weir_plan_choice(plan, counts.choices) != NULL)
        counts.choices++;
    WEIR_TRY(sim_line_put(line, &counts, sizeof counts));
    for (uint32_t i = 0; i < counts.actions; i++)
        WEIR_TRY(put_action(line, weir_plan_action(plan, i)));
    for (uint32_t i = 0; i < counts.choices; i++)
        WEIR_TRY(sim_line_put(line, weir_plan_choice(plan, i), sizeof(struct weir_choice)));
    WEIR_TRY(put_notes(line, plan, pools));
    for (uint32_t i = 0; i < counts.steps; i++)
        WEIR_TRY(sim_line_put(line, weir_plan_step_at(plan, i), sizeof(struct weir_step)));
    for (uint32_t i = 0; i < counts.candidates; i++)
        WEIR_TRY(
            sim_line_put(line, weir_plan_candidate_at(plan, i), sizeof(struct weir_candidate)));
    for (uint32_t i = 0; i < counts.holders; i++)
        WEIR_TRY(sim_line_put(line, weir_plan_holder_at(plan, i), sizeof(struct weir_holder)));
    return WEIR_OK;
}

/* ---- getting ---- */

/* Room for so many of a list, with what lies in it; NULL when that is too much. */
static void *reserve(struct sim_told_lists *lists, int list, uint64_t count, size_t size)
{
    const uint64_t bytes = (count + 1) * size;
    const size_t old = lists->sizes[list];
    if (bytes > MOST_BYTES)
        return NULL;
    if (bytes > old) {
        char *grown = realloc(lists->blocks[list], bytes * 2);
        if (grown == NULL)
            return NULL;
        memset(grown + old, 0, bytes * 2 - old);
        lists->blocks[list] = grown;
        lists->sizes[list] = bytes * 2;
    }
    return lists->blocks[list];
}

/* How far a list grows beyond what has come: a count alone costs no memory. */
static uint32_t next_stop(uint32_t done, uint32_t count)
{
    const uint32_t step = done < FIRST_PART ? FIRST_PART : done;
    return count - done < step ? count : done + step;
}

static weir_status get_list(struct sim_line *line, struct sim_told_lists *lists, int list,
                            uint32_t count, size_t size)
{
    uint32_t done = 0;
    do {
        const uint32_t stop = next_stop(done, count);
        char *block = reserve(lists, list, stop, size);
        if (block == NULL)
            return WEIR_EPOLICY;
        WEIR_TRY(sim_line_get(line, block + done * size, (stop - done) * size));
        done = stop;
    } while (done < count);
    return WEIR_OK;
}

static weir_status get_action(struct sim_line *line, struct weir_action *action)
{
    WEIR_TRY(sim_line_get(line, action, head_size()));
    WEIR_TRY(sim_line_get(line, &action->group, sizeof action->group));
    if (action->alloc.device_count > WEIR_MAX_DEVICES || action->size != sizeof *action)
        return WEIR_EPOLICY;
    return sim_line_get(line, action->alloc.devices,
                        action->alloc.device_count * sizeof action->alloc.devices[0]);
}

static weir_status get_actions(struct sim_line *line, struct sim_told_lists *lists, uint32_t count)
{
    uint32_t done = 0;
    do {
        const uint32_t stop = next_stop(done, count);
        struct weir_action *actions = reserve(lists, ACTIONS, stop, sizeof *actions);
        if (actions == NULL)
            return WEIR_EPOLICY;
        for (; done < stop; done++)
            WEIR_TRY(get_action(line, &actions[done]));
    } while (done < count);
    return WEIR_OK;
}

static weir_status get_notes(struct sim_line *line, struct sim_told_lists *lists, uint32_t count)
{
    if (count > MOST_NOTES)
        return WEIR_EPOLICY;
    uint32_t done = 0;
    do {
        const uint32_t stop = next_stop(done, count);
        struct weir_pool_note *notes = reserve(lists, NOTES, stop, sizeof *notes);
        uint32_t *noted = reserve(lists, NOTED, stop, sizeof *noted);
        if (notes == NULL || noted == NULL)
            return WEIR_EPOLICY;
        for (; done < stop; done++) {
            WEIR_TRY(sim_line_get(line, &noted[done], sizeof noted[done]));
            WEIR_TRY(sim_line_get(line, &notes[done], sizeof notes[done]));
        }
    } while (done < count);
    return WEIR_OK;
}

weir_status sim_told_plan_get(struct sim_line *line, struct sim_told_lists **lists,
                              struct weir_plan_lists *plan)
{
    struct counts counts;
    if (*lists == NULL)
        *lists = calloc(1, sizeof **lists);
    if (*lists == NULL)
        return WEIR_ENOMEM;
    WEIR_TRY(sim_line_get(line, &counts, sizeof counts));
    WEIR_TRY(get_actions(line, *lists, counts.actions));
    WEIR_TRY(get_list(line, *lists, CHOICES, counts.choices, sizeof *plan->choices));
    WEIR_TRY(get_notes(line, *lists, counts.notes));
    WEIR_TRY(get_list(line, *lists, STEPS, counts.steps, sizeof *plan->steps));
    WEIR_TRY(get_list(line, *lists, CANDIDATES, counts.candidates, sizeof *plan->candidates));
    WEIR_TRY(get_list(line, *lists, HOLDERS, counts.holders, sizeof *plan->holders));
    *plan = (struct weir_plan_lists){ .size = sizeof *plan,
                                      .action_count = counts.actions,
                                      .choice_count = counts.choices,
                                      .note_count = counts.notes,
                                      .step_count = counts.steps,
                                      .candidate_count = counts.candidates,
                                      .holder_count = counts.holders,
                                      .next_worker = counts.next_worker,
                                      .actions = (*lists)->blocks[ACTIONS],
                                      .choices = (*lists)->blocks[CHOICES],
                                      .notes = (*lists)->blocks[NOTES],
                                      .noted = (*lists)->blocks[NOTED],
                                      .steps = (*lists)->blocks[STEPS],
                                      .candidates = (*lists)->blocks[CANDIDATES],
                                      .holders = (*lists)->blocks[HOLDERS] };
    return WEIR_OK;
}

void sim_told_lists_destroy(struct sim_told_lists *lists)
{
    if (lists == NULL)
        return;
    for (int i = 0; i < LISTS; i++)
        free(lists->blocks[i]);
    free(lists);
}
