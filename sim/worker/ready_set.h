/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The idle workers of one stage, ordered by position in its worker list.
 *
 * A bit a position with a summary bit per 64, so that the oldest or newest idle worker of a
 * thousand is found in a few instructions.
 */
#ifndef SIM_WORKER_READY_SET_H
#define SIM_WORKER_READY_SET_H

#include "weir/status.h"

#include <stdbool.h>
#include <stdint.h>

struct sim_ready_set {
    uint64_t *words;
    uint64_t *summary;
    uint32_t capacity; /* positions, a multiple of 4 096 */
    uint32_t count;
};

weir_status sim_ready_set_reserve(struct sim_ready_set *set, uint32_t positions);
void sim_ready_set_clear(struct sim_ready_set *set);
void sim_ready_set_add(struct sim_ready_set *set, uint32_t position);
void sim_ready_set_remove(struct sim_ready_set *set, uint32_t position);
bool sim_ready_set_has(const struct sim_ready_set *set, uint32_t position);
/* Lowest or highest position; the set must not be empty. */
uint32_t sim_ready_set_first(const struct sim_ready_set *set);
uint32_t sim_ready_set_last(const struct sim_ready_set *set);

#endif
