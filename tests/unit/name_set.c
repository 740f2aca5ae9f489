/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The set of names: whatever its size, what was put into it is in it, and nothing else is. */
#include "sim/scenario/read/name_set.h"

#include "tests/support/check.h"

#include <stdio.h>

enum { NAMES = 700 }; /* it grows six times on the way */

/* Looked at before every name that comes, so that also a set that has just grown is. */
static void what_was_put_in_stays_in(void)
{
    static char names[NAMES][16], again[NAMES][16];
    struct sim_arena arena = { .blocks = NULL };
    struct sim_name_set set = { .arena = &arena };
    uint32_t forgotten = 0, unknown = 0;

    for (size_t n = 0; n < NAMES; n++) {
        (void)snprintf(names[n], sizeof names[n], "stage-%zu", n);
        (void)snprintf(again[n], sizeof again[n], "stage-%zu", n);
        unknown += sim_name_set_add(&set, names[n]) ? 1 : 0;
        for (size_t i = 0; i <= n; i++)
            forgotten += sim_name_set_add(&set, again[i]) ? 1 : 0;
    }
    CHECK_I64(unknown, NAMES);
    CHECK_I64(forgotten, 0);
    CHECK_I64(set.count, NAMES);
    CHECK(sim_name_set_add(&set, NULL)); /* what has no name is like nothing else */
    CHECK(sim_name_set_add(&set, NULL));
    CHECK_I64(set.count, NAMES);
    sim_arena_clear(&arena);
}

static const struct test tests[] = {
    { "what was put in stays in", what_was_put_in_stays_in },
};

TEST_MAIN(tests)
