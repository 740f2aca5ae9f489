/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Idle workers by position: who is there stays there when the set grows. */
#include "sim/worker/ready_set.h"

#include "tests/support/check.h"

static void who_is_there_stays_when_the_set_grows(void)
{
    static const uint32_t rooms[] = { 1, 5000, 9000, 40000 };
    static const uint32_t there[] = { 70, 4100, 8191 };
    struct sim_ready_set set = { 0 };
    uint32_t count = 0;
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_I64(sim_ready_set_reserve(&set, rooms[i]), WEIR_OK);
        for (; count < 3 && there[count] < set.capacity; count++)
            sim_ready_set_add(&set, there[count]);
        CHECK_I64(set.count, count);
        CHECK_I64(sim_ready_set_first(&set), 70);
        CHECK_I64(sim_ready_set_last(&set), there[count - 1]);
    }
    sim_ready_set_remove(&set, 70);
    CHECK_I64(sim_ready_set_first(&set), 4100);
    sim_ready_set_remove(&set, 8191);
    CHECK_I64(sim_ready_set_last(&set), 4100);
    sim_ready_set_clear(&set);
}

static const struct test tests[] = {
    { "who is there stays when the set grows", who_is_there_stays_when_the_set_grows },
};
TEST_MAIN(tests)
