/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operations on the event queue, taken from the input, against the oracle: the first byte chooses
 * how far times spread, the rest are schedules, cancels, reschedules and uses of dead handles.
 */
#include "tests/support/oracle_engine.h"
#include "tests/support/reached.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t spreads_ns[] = { 1, 4, 256, 1 << 24 };
    struct draws draws = draws_bytes(data, size);
    const int64_t spread_ns = spreads_ns[draws_below(&draws, 4)];
    struct engine_oracle *oracle = engine_oracle_create(draws, spread_ns);
    if (oracle == NULL)
        return 0;
    weir_status status = WEIR_OK;
    while (status == WEIR_OK && !oracle->draws.is_over)
        status = engine_oracle_round(oracle, 40);
    if (status == WEIR_OK)
        status = engine_oracle_run(oracle, INT64_MAX);
    if (status != WEIR_OK || oracle->count > 0 || !engine_oracle_agrees(oracle))
        abort();
    if (size > 0)
        fuzz_reached();
    engine_oracle_destroy(oracle);
    return 0;
}
