/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of pools; see the header. */
#include "sched/scaling/kept.h"

#include "sched/internal/alloc.h"
#include "sched/internal/memory.h"

static weir_status room(struct weir_kept *kept, uint32_t numbers)
{
    WEIR_ROOM(&kept->run.allocator, kept->numbers, kept->capacity, numbers);
    return WEIR_OK;
}

weir_status weir_kept_learn(struct weir_kept *kept, const struct weir_view *view,
                            struct weir_error *error)
{
    if (room(kept, view->pool_count * kept->width) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (; kept->pools < view->pool_count; kept->pools++)
        for (uint32_t i = 0; i < kept->width; i++)
            weir_kept_of(kept, kept->pools)[i] = kept->initial;
    return WEIR_OK;
}

void weir_kept_destroy(void *state)
{
    struct weir_kept *const kept = state;

    weir_free(&kept->run.allocator, kept->numbers);
    weir_run_destroy(state);
}

static void remember(struct weir_kept *kept, struct weir_memory *memory)
{
    kept->pools = weir_memory_length(memory, kept->pools);
    for (uint32_t i = 0; i < kept->pools * kept->width; i++)
        weir_memory_number(memory, &kept->numbers[i]);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the memory writes to them */
uint32_t weir_kept_save(const void *state, double *numbers, uint32_t capacity)
{
    struct weir_memory memory = { .to = numbers, .size = capacity };
    struct weir_kept kept = *(const struct weir_kept *)state;

    remember(&kept, &memory);
    return memory.used;
}

weir_status weir_kept_restore(void *state, const struct weir_view *view, const double *numbers,
                              uint32_t count, struct weir_error *error)
{
    struct weir_memory memory = { .from = numbers, .size = count };

    WEIR_TRY(weir_kept_learn(state, view, error));
    remember(state, &memory);
    for (uint32_t i = 0; i < count; i++)
        memory.is_broken |= !isfinite(numbers[i]);
    return weir_memory_end(&memory, error);
}
