/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Abilities by count; see history.h.
 */
#include "sched/scaling/history.h"

#include <math.h>

static const double CONTRADICTS = 0.5;

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* The count furthest from `workers` goes; those are sorted, so it is the first or the last. */
static void forget_furthest(struct weir_history *history, uint32_t workers)
{
    const uint32_t last = --history->count;

    if (apart(history->workers[0], workers) <= apart(history->workers[last], workers))
        return;
    for (uint32_t i = 0; i < last; i++) {
        history->workers[i] = history->workers[i + 1];
        history->ability[i] = history->ability[i + 1];
    }
}

static uint32_t place_of(const struct weir_history *history, uint32_t workers)
{
    uint32_t at = 0;

    while (at < history->count && history->workers[at] < workers)
        at++;
    return at;
}

void weir_history_add(struct weir_history *history, uint32_t workers, double ability)
{
    uint32_t at = place_of(history, workers);

    if (at < history->count && history->workers[at] == workers) {
        double *const seen = &history->ability[at];
        if (fabs(ability - *seen) <= CONTRADICTS * *seen) {
            *seen = (*seen + ability) / 2;
            return;
        }
        history->count = at = 0;
    }
    if (history->count == WEIR_HISTORY_MOST) {
        forget_furthest(history, workers);
        at = place_of(history, workers);
    }
    for (uint32_t i = history->count++; i > at; i--) {
        history->workers[i] = history->workers[i - 1];
        history->ability[i] = history->ability[i - 1];
    }
    history->workers[at] = workers;
    history->ability[at] = ability;
}

static uint32_t nearest(const struct weir_history *history, uint32_t workers)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < history->count; i++) {
        const uint32_t distance = apart(history->workers[i], workers);
        least = distance < least ? distance : least;
    }
    return least;
}

/* On the first line that reaches the demand; the tolerance keeps an exact count. */
static double reach(const struct weir_history *history, double demand)
{
    double from = 0;
    double least = 0;

    for (uint32_t i = 0; i < history->count; i++) {
        if (history->ability[i] <= least)
            continue; /* fewer can do as much */
        if (history->ability[i] >= demand)
            return from +
                   (demand - least) / (history->ability[i] - least) * (history->workers[i] - from) -
                   1e-9;
        from = history->workers[i];
        least = history->ability[i];
    }
    return least > 0 ? demand / least * from - 1e-9 : INT32_MAX;
}

uint32_t weir_history_least(const struct weir_history *history, double demand, uint32_t *distance)
{
    if (history->count == 0)
        return 0;
    const double due = ceil(reach(history, demand));
    const uint32_t workers = due < 1 ? 1 : due > INT32_MAX ? INT32_MAX : (uint32_t)due;
    *distance = nearest(history, workers);
    return workers;
}

void weir_history_remember(struct weir_history *history, struct weir_memory *memory)
{
    history->count = (uint32_t)weir_memory_count(memory, history->count, 0);
    if (history->count > WEIR_HISTORY_MOST) {
        memory->is_broken = true;
        history->count = 0;
    }
    for (uint32_t i = 0; i < history->count; i++) {
        history->workers[i] = (uint32_t)weir_memory_count(memory, history->workers[i], 1);
        weir_memory_number(memory, &history->ability[i]);
    }
}
