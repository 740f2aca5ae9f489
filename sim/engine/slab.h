/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of one size in blocks: addresses stay, slots are reused, the latest free one first.
 *
 * A record begins with its slot (uint32_t), which the slab sets. What a record holds stays readable
 * after it was given back, but for the slot, until it is taken again.
 */
#ifndef SIM_ENGINE_SLAB_H
#define SIM_ENGINE_SLAB_H

#include "weir/status.h"

#include <stddef.h>
#include <stdint.h>

enum { SIM_SLAB_BITS = 6 }; /* records of a block */

/* Zeroed but for the size = empty. */
struct sim_slab {
    size_t size; /* of a record */
    char **blocks;
    uint32_t block_count, block_capacity;
    uint32_t used; /* slots handed out so far */
    uint32_t free; /* the slot given back last, plus one; 0 = none */
};

static inline void *sim_slab_at(const struct sim_slab *slab, uint32_t slot)
{
    return slab->blocks[slot >> SIM_SLAB_BITS] +
           (slot & ((UINT32_C(1) << SIM_SLAB_BITS) - 1)) * slab->size;
}

/* *record is zeroed but for its slot. */
weir_status sim_slab_take(struct sim_slab *slab, void **record);
void sim_slab_give(struct sim_slab *slab, void *record);
void sim_slab_clear(struct sim_slab *slab);

#endif
