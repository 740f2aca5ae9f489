/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packing by branch and bound: every item goes into each bin in use or opens the next one; bins
 * with equal loads are one choice; a branch ends when it cannot beat the best.
 */
#include "tests/support/oracle_packing.h"

#include <stdbool.h>
#include <string.h>

struct search {
    const struct packing_item *items;
    const struct packing_item *capacity;
    size_t count;
    size_t best;
    struct packing_item loads[PACKING_ITEMS];
};

static bool fits(const struct search *search, size_t bin, size_t item)
{
    for (int r = 0; r < PACKING_RESOURCES; r++) {
        if (search->loads[bin].amount[r] + search->items[item].amount[r] >
            search->capacity->amount[r])
            return false;
    }
    return true;
}

static void add(struct search *search, size_t bin, size_t item, int64_t sign)
{
    for (int r = 0; r < PACKING_RESOURCES; r++)
        search->loads[bin].amount[r] += sign * search->items[item].amount[r];
}

static bool has_twin_before(const struct search *search, size_t bin)
{
    for (size_t other = 0; other < bin; other++) {
        if (memcmp(&search->loads[other], &search->loads[bin], sizeof search->loads[0]) == 0)
            return true;
    }
    return false;
}

/* Items from `item` on, `used` bins in use. */
static void branch(struct search *search, size_t item, size_t used)
{
    if (used >= search->best)
        return;
    if (item == search->count) {
        search->best = used;
        return;
    }
    for (size_t bin = 0; bin <= used && bin < PACKING_ITEMS; bin++) {
        if (!fits(search, bin, item) || (bin < used && has_twin_before(search, bin)))
            continue;
        add(search, bin, item, 1);
        branch(search, item + 1, bin == used ? used + 1 : used);
        add(search, bin, item, -1);
    }
}

size_t packing_optimum(const struct packing_item *items, size_t count,
                       const struct packing_item *capacity)
{
    struct search search = {
        .items = items, .capacity = capacity, .count = count, .best = count + 1
    };

    branch(&search, 0, 0);
    return search.best;
}
