/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of what was found for states of nodes; see fgd_memo.h.
 */
#include "sched/placement/fgd_memo.h"

#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"

#include <string.h>

enum { PLACES_MOST = 1024 };

weir_status weir_memo_places_reset(struct weir_memo_places *memo,
                                   const struct weir_allocator *allocator, uint32_t nodes)
{
    uint32_t capacity = 8;

    while (capacity < nodes && capacity < PLACES_MOST)
        capacity *= 2;
    if (capacity != memo->capacity) {
        weir_memo_places_free(memo, allocator);
        memo->places = weir_alloc(allocator, capacity, sizeof *memo->places);
        if (memo->places == NULL)
            return WEIR_ENOMEM;
        memo->capacity = capacity;
    }
    memset(memo->places, 0, capacity * sizeof *memo->places);
    return WEIR_OK;
}

void weir_memo_places_free(struct weir_memo_places *memo, const struct weir_allocator *allocator)
{
    weir_free(allocator, memo->places);
    *memo = (struct weir_memo_places){ .places = NULL };
}

uint64_t weir_memo_change_name(uint64_t state, const struct weir_alloc *alloc, int64_t direction)
{
    uint64_t name = weir_hash_words(state + (direction > 0 ? 1 : 0), (uint64_t)alloc->cpu_units,
                                    (uint64_t)alloc->ram_bytes, alloc->device_count);

    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        const uint64_t engines = (uint64_t)device->nvdec_mask << 32 | device->nvenc_mask;
        const uint64_t where = (uint64_t)device->gpu << 32 | device->mig;
        name = weir_hash_add(name, weir_hash_words(where, engines, (uint64_t)device->units,
                                                   (uint64_t)device->mem_bytes));
    }
    return name | 1;
}
