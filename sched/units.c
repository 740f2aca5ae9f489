/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Amounts in CPUs or GPUs to fixed-point units: the one place where a double becomes an amount.
 *
 * A grid point is what the division n / (points in one) gives, so a decimal such as 0.0003 on the
 * grid of 1/10 000 is exactly point 3 although 0.0003 * 10 000 falls below 3 in binary.
 */
#include "weir/units.h"

#include <math.h>

static const double AMOUNT_LIMIT = 1e8;

weir_status weir_units_from_amount(double amount, struct weir_quantum quantum, int64_t *units,
                                   struct weir_error *error)
{
    if (isnan(amount))
        return weir_fail(error, WEIR_EINVAL, "the amount is not a number");
    if (quantum.units < 1 || WEIR_ONE % quantum.units != 0)
        return weir_fail(error, WEIR_EINVAL, "quantum must divide %lld units, got %lld",
                         (long long)WEIR_ONE, (long long)quantum.units);
    if (fabs(amount) > AMOUNT_LIMIT)
        return weir_fail(error, WEIR_ERANGE, "amount must be within +-%.0f, got %g", AMOUNT_LIMIT,
                         amount);
    const double points_in_one = (double)(WEIR_ONE / quantum.units);
    int64_t points = (int64_t)llround(amount * points_in_one);
    if (quantum.round == WEIR_ROUND_FLOOR && (double)points / points_in_one > amount)
        points--;
    *units = points * quantum.units;
    return WEIR_OK;
}
