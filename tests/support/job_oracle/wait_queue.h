/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The jobs that wait, by kind.
 *
 * Jobs of one kind (same shape, same members) are interchangeable to the placement: when one of
 * them does not fit, none does until something is given back. So a pass over a long queue asks once
 * a kind, not once a job. Each kind is a binary heap by (key, submission, id); a job that leaves is
 * taken out of the middle by its slot.
 */
#ifndef TESTS_JOB_ORACLE_WAIT_QUEUE_H
#define TESTS_JOB_ORACLE_WAIT_QUEUE_H

#include "weir/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oracle_wait_entry {
    double key;
    int64_t submit_ns;
    uint64_t id;
    uint32_t slot; /* of the job, unique among those that wait */
    uint32_t kind;
};

struct oracle_wait_heap {
    struct oracle_wait_entry *entries;
    size_t count, capacity;
    bool is_settled; /* its jobs did not fit since something was given back last */
};

struct oracle_wait_queue {
    struct oracle_wait_heap *kinds;
    uint32_t kind_count;
    size_t *place; /* in its heap, by slot */
    size_t place_count;
    size_t count;
};

weir_status oracle_wait_queue_open(struct oracle_wait_queue *queue, uint32_t kind_count);
void oracle_wait_queue_close(struct oracle_wait_queue *queue);

/* O(log jobs of the kind), both. */
weir_status oracle_wait_queue_push(struct oracle_wait_queue *queue,
                                   const struct oracle_wait_entry *entry);
void oracle_wait_queue_remove(struct oracle_wait_queue *queue, uint32_t kind, uint32_t slot);

/* The next job: the first of those kinds that are not settled; NULL when there is none. Strict:
 * the first of all, NULL when its kind is settled. O(kinds). */
const struct oracle_wait_entry *oracle_wait_queue_first(const struct oracle_wait_queue *queue,
                                                        bool is_strict);
/* Something was given back: every kind may fit again. */
void oracle_wait_queue_unsettle(struct oracle_wait_queue *queue);
/* Orders a kind anew after its keys were changed in place. */
void oracle_wait_queue_reorder(struct oracle_wait_queue *queue, uint32_t kind);

#endif
