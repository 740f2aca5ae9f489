/* SPDX-License-Identifier: Apache-2.0 */
/* States of policies with parameters (see made.h). */
#include "sched/queueing/parts/made.h"

#include "sched/internal/alloc.h"
#include "sched/internal/params.h"

#include <string.h>

weir_status weir_made_create(const struct weir_made *made, const struct weir_params *given,
                             const struct weir_allocator *allocator, void **state,
                             struct weir_error *error)
{
    char *const block = weir_alloc(allocator, 1, made->size);

    if (block == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    memcpy(block, allocator, sizeof *allocator);
    double *const values = (void *)(block + made->values);
    const weir_status status = weir_params_resolve(made->params, made->count, given, values, error);
    if (status != WEIR_OK)
        weir_free(allocator, block);
    else
        *state = block;
    return status;
}

void weir_made_destroy(void *state)
{
    struct weir_allocator allocator;

    memcpy(&allocator, state, sizeof allocator);
    weir_free(&allocator, state);
}
