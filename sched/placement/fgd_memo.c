/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of what was found for states of nodes; see fgd_memo.h.
 */
#include "sched/placement/fgd_memo.h"

#include "sched/internal/alloc.h"
#include "sched/internal/bits.h"
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

struct weir_memo_hold weir_memo_hold(const struct weir_alloc *alloc)
{
    const bool is_one = alloc->device_count == 1;
    uint64_t amounts = weir_hash_words((uint64_t)alloc->cpu_units, (uint64_t)alloc->ram_bytes,
                                       alloc->device_count, 0);

    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        const uint64_t engines =
            (uint64_t)weir_bit_count(device->nvdec_mask) << 32 | weir_bit_count(device->nvenc_mask);
        const uint64_t where = (uint64_t)(is_one ? 0 : device->gpu) << 32 | device->mig;
        amounts = weir_hash_add(amounts, weir_hash_words(where, engines, (uint64_t)device->units,
                                                         (uint64_t)device->mem_bytes));
    }
    return (struct weir_memo_hold){ amounts, alloc->device_count,
                                    is_one ? alloc->devices[0].gpu : 0 };
}
