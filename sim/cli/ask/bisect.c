/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bisection; see the header. */
#include "sim/cli/ask/bisect.h"

#include <stdlib.h>

bool sim_bisect_begin(struct sim_bisect *bisect, size_t count)
{
    *bisect = (struct sim_bisect){ .trials = calloc(count + 1, 1), .count = count };
    return bisect->trials != NULL;
}

void sim_bisect_end(struct sim_bisect *bisect)
{
    free(bisect->trials);
    *bisect = (struct sim_bisect){ .trials = NULL };
}

void sim_bisect_tell(struct sim_bisect *bisect, size_t trial, bool holds)
{
    bisect->trials[trial] = holds ? SIM_TRIAL_HOLDS : SIM_TRIAL_FAILS;
}

/* One behind the last trial that fails; all before it are taken to fail. */
static size_t first_open(const struct sim_bisect *bisect)
{
    size_t first = bisect->count;
    while (first > 0 && bisect->trials[first - 1] != SIM_TRIAL_FAILS)
        first--;
    return first;
}

static size_t first_that_holds(const struct sim_bisect *bisect, size_t from)
{
    while (from < bisect->count && bisect->trials[from] != SIM_TRIAL_HOLDS)
        from++;
    return from;
}

size_t sim_bisect_answer(const struct sim_bisect *bisect)
{
    return first_that_holds(bisect, first_open(bisect));
}

size_t sim_bisect_next(const struct sim_bisect *bisect)
{
    const size_t low = first_open(bisect);
    const size_t high = first_that_holds(bisect, low);
    if (bisect->count == 0 || low == bisect->count)
        return bisect->count;
    if (high == bisect->count)
        return bisect->count - 1; /* the easiest, which is not known to fail */
    if (low < high)
        return low + (high - low) / 2; /* low .. high - 1 are open */
    return high + 1 < bisect->count && bisect->trials[high + 1] == SIM_TRIAL_UNKNOWN
               ? high + 1
               : bisect->count;
}

bool sim_bisect_is_disordered(const struct sim_bisect *bisect)
{
    bool has_held = false;
    for (size_t i = 0; i < bisect->count; i++) {
        if (has_held && bisect->trials[i] == SIM_TRIAL_FAILS)
            return true;
        has_held = has_held || bisect->trials[i] == SIM_TRIAL_HOLDS;
    }
    return false;
}
