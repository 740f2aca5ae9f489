/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The check of a plan against its oracle (tests/support/oracle_plan.h): random plans, some right
 * and some wrong, must be rejected for the same action. A failure prints its seed.
 */
#include "tests/support/check.h"
#include "tests/support/oracle_plan.h"

#include <stdio.h>

enum { ROUNDS = 20000 };

static void the_check_agrees_with_the_oracle(void)
{
    uint32_t right = 0;
    uint32_t actions = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct draws draws = draws_seeded(seed);
        const struct plan_verdict verdict = plan_oracle_play(&draws);
        if (!CHECK(plan_oracle_agrees(&verdict)) || !CHECK(verdict.status != WEIR_ENOMEM))
            fprintf(stderr, "seed %llu: oracle %d, check: %s\n", (unsigned long long)seed,
                    verdict.oracle_accepts, verdict.error.text);
        right += verdict.oracle_accepts;
        actions += verdict.oracle_accepts ? verdict.actions : 0;
    }
    printf("%u of %d plans right, %u actions in them\n", right, ROUNDS, actions);
    CHECK(right > ROUNDS / 10 * 3 && right < ROUNDS / 10 * 7);
    CHECK(actions > 3 * right);
}

static const struct test tests[] = {
    { "random plans are rejected exactly for what does not fit", the_check_agrees_with_the_oracle },
};

TEST_MAIN(tests)
