/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Least number of equal bins for a few items with several resources, by branch and bound.
 */
#ifndef TESTS_SUPPORT_ORACLE_PACKING_H
#define TESTS_SUPPORT_ORACLE_PACKING_H

#include <stddef.h>
#include <stdint.h>

enum { PACKING_ITEMS = 12, PACKING_RESOURCES = 3 };

struct packing_item {
    int64_t amount[PACKING_RESOURCES];
};

/* At most PACKING_ITEMS items, each of which fits a bin of `capacity`. */
size_t packing_optimum(const struct packing_item *items, size_t count,
                       const struct packing_item *capacity);

#endif
