/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate is worse, not worse or undecided by where the interval lies, and says how many more runs
 * would tell. */
#include "sim/cli/ask/gate.h"
#include "tests/support/check.h"

#include <math.h>

struct decision {
    double low, high, bound;
    bool is_less;
    enum sim_gate_verdict verdict;
};

static void the_interval_decides(void)
{
    static const struct decision cases[] = {
        { -5, -3, -2, true, SIM_GATE_WORSE },     { -3, -1, -2, true, SIM_GATE_UNDECIDED },
        { -2, 1, -2, true, SIM_GATE_NOT_WORSE },  { 0, 4, -2, true, SIM_GATE_NOT_WORSE },
        { -3, -2, -2, true, SIM_GATE_UNDECIDED }, { 3, 5, 2, false, SIM_GATE_WORSE },
        { 1, 3, 2, false, SIM_GATE_UNDECIDED },   { -1, 2, 2, false, SIM_GATE_NOT_WORSE },
        { 2.5, 2.6, 2, false, SIM_GATE_WORSE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t more = 0;
        const struct an_cell cell = { .mean = 0.5 * (cases[i].low + cases[i].high),
                                      .low = cases[i].low,
                                      .high = cases[i].high,
                                      .n = 10 };
        CHECK_I64(sim_gate_decide(&cell, cases[i].bound, cases[i].is_less, &more),
                  cases[i].verdict);
        CHECK(cases[i].verdict == SIM_GATE_UNDECIDED || more == 0);
    }
}

/* Half the width needs four times the runs: [-3.5, -1.5] around -2.5 is to end at -2. */
static void what_is_undecided_says_how_many_more(void)
{
    uint32_t more = 0;
    const struct an_cell cell = { .mean = -2.5, .low = -3.5, .high = -1.5, .n = 10 };
    CHECK_I64(sim_gate_decide(&cell, -2.0, true, &more), SIM_GATE_UNDECIDED);
    CHECK_I64(more, 30);
}

/* Replications that all agree need no interval; a single one says nothing. */
static void what_does_not_vary_is_plain(void)
{
    uint32_t more = 0;
    struct an_cell cell = {
        .mean = -2.5, .low = (double)NAN, .high = (double)NAN, .n = 3, .is_deterministic = true
    };
    CHECK_I64(sim_gate_decide(&cell, -2.0, true, &more), SIM_GATE_WORSE);
    CHECK_I64(sim_gate_decide(&cell, -3.0, true, &more), SIM_GATE_NOT_WORSE);
    cell.n = 1;
    CHECK_I64(sim_gate_decide(&cell, -2.0, true, &more), SIM_GATE_UNDECIDED);
}

static const struct test tests[] = {
    { "the interval decides", the_interval_decides },
    { "what is undecided says how many more", what_is_undecided_says_how_many_more },
    { "what does not vary is plain", what_does_not_vary_is_plain },
};
TEST_MAIN(tests)
