/* SPDX-License-Identifier: Apache-2.0 */
/* States of policies (see made.h). */
#include "sched/internal/made.h"

#include "sched/internal/alloc.h"
#include "sched/internal/params.h"

#include <string.h>

weir_status weir_made_create(const struct weir_made *made, const struct weir_params *given,
                             const struct weir_allocator *allocator, void **state,
                             struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    char *const block = weir_alloc(&memory, 1, made->size);

    if (block == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    memcpy(block, &memory, sizeof memory);
    const weir_status status = made->count == 0
                                   ? WEIR_OK
                                   : weir_params_resolve(made->params, made->count, given,
                                                         (void *)(block + made->values), error);
    if (status != WEIR_OK)
        weir_free(&memory, block);
    else
        *state = block;
    return status;
}

weir_status weir_made_end(weir_status status, void (*destroy)(void *state), void **state,
                          struct weir_error *error)
{
    if (status == WEIR_OK)
        return WEIR_OK;
    destroy(*state);
    *state = NULL;
    return status == WEIR_ENOMEM ? weir_fail(error, WEIR_ENOMEM, "out of memory") : status;
}

void weir_made_destroy(void *state)
{
    struct weir_allocator allocator;

    memcpy(&allocator, state, sizeof allocator);
    weir_free(&allocator, state);
}
