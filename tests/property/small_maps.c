/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The maps of one decision against plain arrays: ids to numbers (id_map.h) over many rounds, which
 * grow in the middle of one, and stopped workers by node (stopped.h), which are taken back from
 * anywhere in their chain.
 */
#include "sched/internal/alloc.h"
#include "sched/internal/id_map.h"
#include "sched/internal/stopped.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <string.h>

enum { IDS = 400, ROUNDS = 60, NODES = 3, STOPPED = 40 };

static void ids_of_a_round_are_found_and_no_others(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_id_map map = { .entries = NULL };
    struct draws draws = draws_seeded(4);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t plain[IDS];
        const uint64_t puts = draws_below(&draws, 2 + 8 * (uint64_t)round);
        memset(plain, 0xff, sizeof plain);
        weir_id_map_clear(&map);
        for (uint32_t i = 0; i < puts; i++) {
            const uint64_t id = draws_below(&draws, IDS);
            plain[id] = i;
            CHECK_I64(weir_id_map_put(&memory, &map, id, i), WEIR_OK);
        }
        for (uint32_t id = 0; id < IDS; id++)
            CHECK_I64(weir_id_map_get(&map, id), plain[id]);
    }
    weir_id_map_free(&memory, &map);
}

/* The chain of every node, from its first, is of those that are there, the last stopped first. */
static void check_chains(const struct weir_stopped *stopped, const bool is_there[STOPPED],
                         const uint32_t node_of[STOPPED], uint32_t count)
{
    uint32_t live = 0;
    for (uint32_t n = 0; n < stopped->node_count; n++) {
        uint32_t at = stopped->nodes[n].first;
        for (uint32_t i = count; i-- > 0;) {
            if (!is_there[i] || node_of[i] != n)
                continue;
            CHECK_I64(at, i);
            if (at != i)
                return;
            at = stopped->entries[at].next;
            live++;
        }
        CHECK_I64(at, WEIR_NO_INDEX);
    }
    CHECK_I64(stopped->live, live);
}

static void who_is_taken_back_leaves_its_chain_whole(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_stopped stopped = { .entries = NULL };
    struct draws draws = draws_seeded(5);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        bool is_there[STOPPED] = { false };
        uint32_t node_of[STOPPED] = { 0 };
        weir_stopped_clear(&stopped);
        for (uint32_t i = 0; i < STOPPED; i++) {
            const struct weir_worker worker = {
                .id = i, .alloc = { .node = (uint32_t)draws_below(&draws, NODES) }
            };
            node_of[i] = worker.alloc.node;
            is_there[i] = true;
            CHECK_I64(weir_stopped_add(&stopped, &memory, &worker), WEIR_OK);
            const uint32_t taken = (uint32_t)draws_below(&draws, i + 1);
            if (draws_one_in(&draws, 2) && is_there[taken]) {
                weir_stopped_take(&stopped, taken);
                is_there[taken] = false;
            }
            check_chains(&stopped, is_there, node_of, i + 1);
        }
    }
    weir_stopped_free(&stopped, &memory);
}

static const struct test tests[] = {
    { "ids of a round are found, and no others", ids_of_a_round_are_found_and_no_others },
    { "who is taken back leaves its chain whole", who_is_taken_back_leaves_its_chain_whole },
};

TEST_MAIN(tests)
