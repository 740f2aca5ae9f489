/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records in blocks against a plain list: slots, addresses, what is readable afterwards. */
#include "sim/engine/slab.h"

#include "tests/support/check.h"

#include <stdlib.h>

enum { RECORDS = 300 };

struct record {
    uint32_t slot;
    uint32_t value;
    uint64_t more[5];
};

static struct record *take(struct sim_slab *slab, uint32_t value)
{
    void *taken = NULL;
    CHECK_I64(sim_slab_take(slab, &taken), WEIR_OK);
    struct record *record = taken;
    CHECK_I64(record->value, 0);
    CHECK(sim_slab_at(slab, record->slot) == record);
    record->value = value;
    record->more[4] = value;
    return record;
}

static void addresses_stay_and_the_latest_free_slot_comes_first(void)
{
    struct sim_slab slab = { .size = sizeof(struct record) };
    struct record *records[RECORDS];
    for (uint32_t i = 0; i < RECORDS; i++) {
        records[i] = take(&slab, i + 1);
        CHECK_I64(records[i]->slot, i);
    }
    for (uint32_t i = 0; i < RECORDS; i++)
        CHECK_I64(records[i]->value + records[i]->more[4], 2 * (i + 1));
    for (uint32_t i = 0; i < RECORDS; i += 3)
        sim_slab_give(&slab, records[i]);
    CHECK_I64(records[0]->value, 1); /* readable until it is taken */
    for (uint32_t i = (RECORDS - 1) / 3 * 3;; i -= 3) {
        CHECK(take(&slab, i + 1) == records[i]);
        CHECK_I64(records[i]->slot, i);
        if (i == 0)
            break;
    }
    CHECK_I64(slab.used, RECORDS);
    CHECK_I64(take(&slab, 1)->slot, RECORDS);
    sim_slab_clear(&slab);
    CHECK_I64(take(&slab, 1)->slot, 0);
    sim_slab_clear(&slab);
}

static const struct test tests[] = {
    { "addresses stay, and the latest free slot comes first",
      addresses_stay_and_the_latest_free_slot_comes_first },
};
TEST_MAIN(tests)
