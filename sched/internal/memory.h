/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a policy remembers from one decision to the next, as numbers: written and read by
 * one walk over its fields, so that both have the same order.
 */
#ifndef SCHED_INTERNAL_MEMORY_H
#define SCHED_INTERNAL_MEMORY_H

#include "weir/cluster.h"

/* The walk: out to `to` (at most `size` numbers are written) or in from `from`; `used` counts on.
 * Broken: the numbers were not written by this. */
struct weir_memory {
    double *to;
    const double *from; /* NULL = out */
    uint32_t size, used;
    bool is_broken;
};

/* A time as one number, for memories that are laid out by hand, and back. In nanoseconds since 1970
 * it has 61 bits and a double holds 53: a time beyond those is written as the double that has its
 * bits, a negative one between -2 and 0. INT64_MAX is never, also from no number. */
double weir_memory_of_time(int64_t time_ns);
int64_t weir_memory_to_time(double number);

/* A value on its way out, or in. Beyond the end a reader gets NAN. */
void weir_memory_number(struct weir_memory *memory, double *value);
/* The value, or the one that is read: a whole number of at least `least`; what is none breaks. */
int64_t weir_memory_count(struct weir_memory *memory, int64_t value, int64_t least);
/* How many of something are remembered: of `length` on the way out as many as the latest decision
 * knew; on the way in the number of those, of the `length` there are now. Nodes and pools that came
 * since then are new to the next decision, here as there. */
uint32_t weir_memory_length(struct weir_memory *memory, uint32_t length);
/* An amount that is not negative: a double holds 53 bits, so it goes in two parts. */
void weir_memory_amount(struct weir_memory *memory, int64_t *amount);
void weir_memory_amounts(struct weir_memory *memory, struct weir_amounts *amounts);
/* At the end of a walk in: WEIR_EFORMAT when the numbers cannot be what was saved. */
weir_status weir_memory_end(const struct weir_memory *memory, struct weir_error *error);

#endif
