/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profile of conservative backfilling against an array with an entry a second. */
#include "sched/queueing/parts/profile.h"

#include "sched/internal/alloc.h"
#include "tests/support/check.h"

#include <string.h>

enum { SECONDS = 4000, CHANGES = 3000, GPUS = 64, CPUS = 256 };

static uint64_t next(uint64_t *dice)
{
    *dice = *dice * 6364136223846793005U + 1442695040888963407U;
    return *dice >> 33;
}

static int64_t find_plain(const struct weir_room *free, int64_t from, struct weir_room need,
                          int64_t duration)
{
    int64_t since = from;

    for (int64_t t = from; t < SECONDS && t < since + duration; t++)
        if (free[t].gpu_units < need.gpu_units || free[t].cpu_units < need.cpu_units)
            since = t + 1;
    return since;
}

/* Enough steps for many blocks; behind the last second nothing ever happens. */
static void holes_are_where_a_plain_list_has_them(void)
{
    static struct weir_room free[SECONDS];
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_profile profile;
    uint64_t dice = 7;
    int64_t from = 0;

    weir_profile_open(&profile, &memory);
    CHECK_I64(weir_profile_begin(&profile, 0, (struct weir_room){ GPUS, CPUS }), WEIR_OK);
    for (int t = 0; t < SECONDS; t++)
        free[t] = (struct weir_room){ GPUS, CPUS };
    for (int i = 0; i < CHANGES; i++) {
        const struct weir_room need = { 1 + (int64_t)(next(&dice) % GPUS),
                                        (int64_t)(next(&dice) % CPUS) };
        const int64_t duration = 1 + (int64_t)(next(&dice) % 40);
        const int64_t at = weir_profile_find(&profile, need, duration);
        CHECK_I64(at, find_plain(free, from, need, duration));
        if (at + duration >= SECONDS)
            break;
        CHECK_I64(weir_profile_add(&profile, at, at + duration,
                                   (struct weir_room){ -need.gpu_units, -need.cpu_units }),
                  WEIR_OK);
        for (int64_t t = at; t < at + duration; t++) {
            free[t].gpu_units -= need.gpu_units;
            free[t].cpu_units -= need.cpu_units;
        }
        const int64_t looked = from + (int64_t)next(&dice) % (SECONDS - from);
        CHECK_I64(weir_profile_at(&profile, looked).gpu_units, free[looked].gpu_units);
        if (i % 50 == 49)
            weir_profile_advance(&profile, from += 3);
    }
    CHECK(profile.count > 3);
    CHECK_I64(weir_profile_find(&profile, (struct weir_room){ GPUS + 1, 0 }, 1), INT64_MAX);
    weir_profile_close(&profile);
}

static const struct test tests[] = {
    { "holes are where a plain list has them", holes_are_where_a_plain_list_has_them },
};
TEST_MAIN(tests)
