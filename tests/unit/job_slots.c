/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs found by number against a plain list; numbers whose low halves are equal among them. */
#include "sim/jobs/jobs.h"

#include "tests/support/check.h"

enum { MOST = 400, STEPS = 20000, NUMBERS = 1000 };

struct pair {
    uint64_t id;
    uint32_t slot;
};

static uint32_t draw(uint64_t *state, uint32_t count)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % count;
}

/* Every number below NUMBERS in three sizes: two of them differ in the high half alone. */
static uint64_t number(uint64_t *state)
{
    return draw(state, NUMBERS) + ((uint64_t)draw(state, 3) << 32);
}

static uint32_t find(const struct pair *list, uint32_t count, uint64_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].id == id)
            return i;
    return WEIR_NO_INDEX;
}

static void take(struct sim_job_slots *slots, struct pair *added, uint64_t id)
{
    struct sim_job *job = NULL;
    CHECK_I64(sim_job_slots_take(slots, id, &job), WEIR_OK);
    CHECK(job->id == id);
    *added = (struct pair){ id, job->slot };
}

static void jobs_are_found_by_number(void)
{
    struct sim_job_slots slots;
    struct pair list[MOST];
    uint32_t count = 0;
    uint32_t twins = 0;
    uint64_t state = 7;
    sim_job_slots_open(&slots);
    CHECK_I64(sim_job_slots_find(&slots, 1), WEIR_NO_INDEX);
    for (int step = 0; step < STEPS; step++) {
        const uint64_t id = number(&state);
        const uint32_t at = find(list, count, id);
        CHECK_I64(sim_job_slots_find(&slots, id), at == WEIR_NO_INDEX ? at : list[at].slot);
        twins += find(list, count, id ^ UINT64_C(1) << 32) != WEIR_NO_INDEX;
        if (at != WEIR_NO_INDEX) {
            sim_job_slots_give(&slots, sim_slab_at(&slots.jobs, list[at].slot));
            list[at] = list[--count];
        } else if (count < MOST) {
            take(&slots, &list[count++], id);
        }
        CHECK_I64(slots.alive, count);
    }
    CHECK(count > MOST / 2 && twins > STEPS / 20);
    sim_job_slots_close(&slots);
}

static const struct test tests[] = { { "jobs are found by number", jobs_are_found_by_number } };
TEST_MAIN(tests)
