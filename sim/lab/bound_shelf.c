/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of the programme, by the digest of the question; see the header. */
#include "sim/lab/bound_shelf.h"

#include <stdatomic.h>

enum { PLACES = 4096, TRIES = 16 };
enum { FREE, TAKEN, READY };

struct place {
    atomic_uint state; /* FREE -> TAKEN -> READY; what follows belongs to who took it until then */
    uint64_t key;
    struct sim_alloc_bound bound;
};

struct sim_bound_shelf {
    struct place places[PLACES];
};

size_t sim_bound_shelf_size(void)
{
    return sizeof(struct sim_bound_shelf);
}

bool sim_bound_shelf_find(struct sim_bound_shelf *shelf, uint64_t key,
                          struct sim_alloc_bound *bound)
{
    for (uint64_t i = 0; shelf != NULL && i < TRIES; i++) {
        struct place *place = &shelf->places[(key + i) % PLACES];
        if (atomic_load_explicit(&place->state, memory_order_acquire) != READY || place->key != key)
            continue;
        *bound = place->bound;
        return true;
    }
    return false;
}

void sim_bound_shelf_put(struct sim_bound_shelf *shelf, uint64_t key,
                         const struct sim_alloc_bound *bound)
{
    for (uint64_t i = 0; shelf != NULL && i < TRIES; i++) {
        struct place *place = &shelf->places[(key + i) % PLACES];
        unsigned free = FREE;
        if (!atomic_compare_exchange_strong(&place->state, &free, TAKEN))
            continue;
        place->key = key;
        place->bound = *bound;
        atomic_store_explicit(&place->state, READY, memory_order_release);
        return;
    }
}
