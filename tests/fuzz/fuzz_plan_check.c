/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cluster, its workers and a plan taken from the input: the check must reject exactly what the
 * brute-force oracle rejects, for the same action.
 */
#include "tests/support/oracle_plan.h"
#include "tests/support/reached.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct draws draws = draws_bytes(data, size);
    const struct plan_verdict verdict = plan_oracle_play(&draws);

    if (!plan_oracle_agrees(&verdict))
        abort();
    if (verdict.oracle_accepts && verdict.actions > 0)
        fuzz_reached();
    return 0;
}
