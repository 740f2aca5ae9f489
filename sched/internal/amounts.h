/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running sums of amounts: what is added and later taken away leaves the sum as it was, also when
 * it was no number in between (it wraps around).
 */
#ifndef SCHED_INTERNAL_AMOUNTS_H
#define SCHED_INTERNAL_AMOUNTS_H

#include "weir/shape.h"

static inline void weir_sum_count(int64_t *sum, int64_t amount, int64_t count)
{
    int64_t product;

    (void)__builtin_mul_overflow(amount, count, &product);
    (void)__builtin_add_overflow(*sum, product, sum);
}

/* So many times `need` more; less when negative. */
static inline void weir_amounts_count(struct weir_amounts *sum, const struct weir_amounts *need,
                                      int64_t count)
{
    weir_sum_count(&sum->cpu_units, need->cpu_units, count);
    weir_sum_count(&sum->gpu_units, need->gpu_units, count);
    weir_sum_count(&sum->nvdecs, need->nvdecs, count);
    weir_sum_count(&sum->nvencs, need->nvencs, count);
    weir_sum_count(&sum->ram_bytes, need->ram_bytes, count);
    weir_sum_count(&sum->gpu_mem_bytes, need->gpu_mem_bytes, count);
}

#endif
