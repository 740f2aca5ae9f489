/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Items: ids of children, places that are used again, and the lists items stand in. */
#include "sim/queue/item.h"
#include "tests/support/check.h"

enum { ITEMS = 200 };

/* All different: of two parents, two stages, and as many children. */
static void children_have_ids_of_their_own(void)
{
    uint64_t ids[ITEMS];
    size_t count = 0;
    for (uint64_t parent = 1; parent <= 2; parent++)
        for (uint64_t stage = 7; stage <= 8; stage++)
            for (uint32_t child = 0; child < ITEMS / 4; child++)
                ids[count++] = sim_item_child_id(parent, stage, child);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (ids[i] == ids[k])
                CHECK_I64(i, k); /* names the two */
    CHECK_I64(count, ITEMS);
}

static void places_are_used_again(void)
{
    struct sim_item_slab slab = { 0 };
    uint32_t index[3];
    for (int i = 0; i < 3; i++)
        CHECK_I64(sim_item_new(&slab, &index[i]), WEIR_OK);
    for (int round = 0; round < ITEMS; round++) {
        slab.items[index[1]].bytes = 5;
        sim_item_free(&slab, index[1]);
        sim_item_free(&slab, index[2]);
        CHECK_I64(slab.alive, 1);
        CHECK_I64(sim_item_new(&slab, &index[2]), WEIR_OK);
        CHECK_I64(sim_item_new(&slab, &index[1]), WEIR_OK);
        CHECK(!(slab.items[index[1]].bytes > 0));
        CHECK(index[1] != index[2] && index[1] != index[0] && index[2] != index[0]);
    }
    CHECK_I64(slab.used, 3);
    CHECK_I64(slab.alive, 3);
    sim_item_slab_clear(&slab);
}

/* First in, first out, but for those that are put in front; bytes are those of who is there. */
static void a_list_keeps_its_order_and_its_bytes(void)
{
    struct sim_item_slab slab = { 0 };
    struct sim_queue queue = SIM_QUEUE_EMPTY;
    uint32_t index[4];
    for (int i = 0; i < 4; i++) {
        CHECK_I64(sim_item_new(&slab, &index[i]), WEIR_OK);
        slab.items[index[i]].bytes = 0.1 * (i + 1);
    }
    for (int round = 0; round < 3; round++) {
        sim_queue_push_front(&queue, &slab, index[1]);
        sim_queue_push(&queue, &slab, index[2]);
        sim_queue_push_front(&queue, &slab, index[0]);
        sim_queue_push(&queue, &slab, index[3]);
        CHECK_NEAR(queue.bytes, 1.0, 1e-12);
        for (int i = 0; i < 4; i++) {
            CHECK_I64(queue.count, 4 - i);
            CHECK_I64(sim_queue_pop(&queue, &slab), index[i]);
        }
        CHECK_NEAR(queue.bytes, 0, 0); /* no rest of roundings */
        CHECK_I64(queue.count, 0);
    }
    sim_item_slab_clear(&slab);
}

static const struct test tests[] = {
    { "children have ids of their own", children_have_ids_of_their_own },
    { "places are used again", places_are_used_again },
    { "a list keeps its order and its bytes", a_list_keeps_its_order_and_its_bytes },
};

TEST_MAIN(tests)
