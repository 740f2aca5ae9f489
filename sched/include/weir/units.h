/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-point resource amounts.
 *
 * One CPU and one GPU are WEIR_ONE = 2^16 * 5^4 units of int64_t, so that the quanta of the
 * systems we reproduce are all exact: 1/65 536 (xenna), 1/10 000 (Ray), 1/1 000 (Kubernetes).
 * Every fit is decided by comparing integers; floating point only ever ranks what fits.
 * Memory is bytes; codec engines and slices are whole numbers.
 */
#ifndef WEIR_UNITS_H
#define WEIR_UNITS_H

#include "weir/status.h"

#include <stdint.h>

WEIR_BEGIN_DECLS

#define WEIR_ONE INT64_C(40960000)

/* How a request in CPUs or GPUs becomes units. */
enum weir_round { WEIR_ROUND_NEAREST = 0, WEIR_ROUND_FLOOR = 1 };

struct weir_quantum {
    int64_t units;         /* size of one quantum in units, >= 1; must divide WEIR_ONE */
    enum weir_round round; /* to a multiple of the quantum */
};

/* The finest grid: one unit, nearest. */
#define WEIR_QUANTUM_EXACT ((struct weir_quantum){ 1, WEIR_ROUND_NEAREST })

/* `amount` (CPUs or GPUs) as units on the grid of `quantum`.
 * Errors: WEIR_EINVAL for NaN or a quantum that does not divide WEIR_ONE, WEIR_ERANGE beyond
 * +-100 000 000. A negative amount converts; whether it is allowed is the caller's question. */
WEIR_API weir_status weir_units_from_amount(double amount, struct weir_quantum quantum,
                                            int64_t *units, struct weir_error *error);

/* Units as CPUs or GPUs. */
static inline double weir_units_amount(int64_t units)
{
    return (double)units / (double)WEIR_ONE;
}

WEIR_END_DECLS

#endif
