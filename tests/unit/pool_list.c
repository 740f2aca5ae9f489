/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workers of a pool in blocks, against a plain sorted array: thousands of random insertions and
 * extractions, at the ends and in between, with waves that fill and drain the list.
 */
#include "sched/cluster/pool_list.h"
#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4000, STEPS = 40000 };

struct model {
    struct weir_worker_slot all[SLOTS];
    uint32_t sorted[SLOTS]; /* slots that are in, ascending by sequence */
    uint32_t count;
    uint64_t state;
};

static uint32_t draw(struct model *model, uint32_t below)
{
    model->state = model->state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(model->state >> 33) % below;
}

static uint32_t place_of(const struct model *model, uint32_t slot)
{
    uint32_t place = 0;

    while (place < model->count &&
           model->all[model->sorted[place]].sequence < model->all[slot].sequence)
        place++;
    return place;
}

static bool is_in(const struct model *model, uint32_t slot)
{
    const uint32_t place = place_of(model, slot);

    return place < model->count && model->sorted[place] == slot;
}

static void put_in(struct model *model, uint32_t slot)
{
    const uint32_t place = place_of(model, slot);

    memmove(model->sorted + place + 1, model->sorted + place,
            (model->count - place) * sizeof model->sorted[0]);
    model->sorted[place] = slot;
    model->count++;
}

static void take_out(struct model *model, uint32_t slot)
{
    const uint32_t place = place_of(model, slot);

    model->count--;
    memmove(model->sorted + place, model->sorted + place + 1,
            (model->count - place) * sizeof model->sorted[0]);
}

static bool are_same(struct weir_pool_list *list, const struct model *model)
{
    bool same = CHECK_I64(list->count, model->count);

    for (uint32_t i = 0; i < model->count && same; i++)
        same = CHECK_I64(weir_pool_list_at(list, i), model->sorted[i]);
    return same && CHECK(list->block_count <= 2 * list->count / WEIR_POOL_BLOCK + 1);
}

static void blocks_hold_what_an_array_would(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct model *const model = calloc(1, sizeof *model);
    struct weir_pool_list list = { 0 };
    struct weir_pool_list copy = { 0 };

    if (!CHECK(model != NULL))
        return;
    for (uint32_t s = 0; s < SLOTS; s++)
        model->all[s].sequence = (uint64_t)s * 7919 % SLOTS;
    /* Room for all at once: afterwards nothing may need more, as at a roll-back. */
    CHECK_I64(weir_pool_list_reserve(&list, &memory, SLOTS), WEIR_OK);
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t wave = step / 4000 % 2; /* fill, then drain */
        const uint32_t slot = draw(model, SLOTS);
        const bool in = is_in(model, slot);
        if (!in && draw(model, 10) >= wave * 8) {
            put_in(model, slot);
            CHECK(weir_pool_list_insert(&list, model->all, slot));
        } else if (in && draw(model, 10) >= (1 - wave) * 8) {
            take_out(model, slot);
            CHECK(weir_pool_list_extract(&list, model->all, slot));
        } else if (!in) {
            CHECK(!weir_pool_list_extract(&list, model->all, slot));
        }
        if (step % 997 == 0 && !are_same(&list, model))
            break;
    }
    CHECK_I64(weir_pool_list_copy(&copy, &memory, &list), WEIR_OK);
    (void)are_same(&copy, model);
    weir_pool_list_free(&copy, &memory);
    weir_pool_list_free(&list, &memory);
    free(model);
}

static void those_that_come_at_the_end_fill_their_blocks(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_worker_slot *const all = calloc(SLOTS, sizeof *all);
    struct weir_pool_list list = { 0 };

    if (!CHECK(all != NULL))
        return;
    for (uint32_t s = 0; s < SLOTS; s++) {
        all[s].sequence = s;
        CHECK_I64(weir_pool_list_reserve(&list, &memory, list.count + 1), WEIR_OK);
        CHECK(weir_pool_list_insert(&list, all, s));
    }
    CHECK_I64(list.block_count, (SLOTS + WEIR_POOL_BLOCK - 1) / WEIR_POOL_BLOCK);
    for (uint32_t s = SLOTS; s-- > 0;)
        CHECK(weir_pool_list_extract(&list, all, s));
    CHECK_I64(list.block_count, 0);
    weir_pool_list_free(&list, &memory);
    free(all);
}

static const struct test tests[] = {
    { "blocks hold what an array would", blocks_hold_what_an_array_would },
    { "those that come at the end fill their blocks",
      those_that_come_at_the_end_fill_their_blocks },
};

TEST_MAIN(tests)
