/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The longest wait, found without a walk over all jobs at every look, against such a walk. */
#include "sched/capacity/parts/load.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/pipeline.h"
#include "weir/host.h"
#include "weir/job.h"

static const int64_t NS = 1000000000;

static void submit(struct weir_host *host, uint64_t id, int64_t now_s)
{
    const struct weir_rank_group group = { .ranks = 1,
                                           .ranks_min = 1,
                                           .ranks_max = 1,
                                           .shape = { .kind = WEIR_SHAPE_CPU,
                                                      .cpu_units = WEIR_ONE } };
    const struct weir_job_spec job = { .size = sizeof job,
                                       .id = id,
                                       .groups = &group,
                                       .group_count = 1,
                                       .submit_ns = now_s * NS,
                                       .queued_ns = now_s * NS,
                                       .estimate_ns = NS,
                                       .deadline_ns = WEIR_UNKNOWN_TIME };
    CHECK_I64(weir_host_submit(host, &job, NULL), WEIR_OK);
}

static int64_t oldest_of_all(const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };
    uint32_t cursor = 0;
    int64_t oldest_ns = INT64_MAX;
    while (weir_view_next_job(view, &cursor, &job))
        if (job.state == WEIR_JOB_WAITING && job.queued_ns < oldest_ns)
            oldest_ns = job.queued_ns;
    return oldest_ns;
}

/* Jobs come a second apart, and go from the front, from anywhere, or all; some come back under
 * their number. */
static void the_longest_wait_is_that_of_a_walk(void)
{
    const struct weir_host_config config = test_config("first_fit", "fixed");
    const struct weir_node_spec node = { .size = sizeof node, .cpu_units = WEIR_ONE };
    struct draws draws = draws_seeded(5);
    struct weir_oldest oldest = { .count = 0 };
    struct weir_host *host = NULL;
    uint32_t workload = 0;
    uint64_t next = 0;
    CHECK_I64(weir_host_create(&config, &host, NULL), WEIR_OK);
    CHECK_I64(weir_host_add_node(host, &node, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_add_workload(host, "w", &workload, NULL), WEIR_OK);
    for (int64_t t = 0; t < 4000; t++) {
        struct weir_load load;
        submit(host, next++, t);
        for (uint32_t i = 0; i < draws_below(&draws, 3); i++) {
            const uint64_t back = draws_below(&draws, 2) == 0 ? 0 : draws_below(&draws, 200);
            const uint64_t id = next > 150 + back ? next - 150 - back : 0;
            if (weir_host_withdraw(host, 0, id) == WEIR_OK && draws_below(&draws, 4) == 0)
                submit(host, id, t);
        }
        if (t % 1000 == 999)
            for (uint64_t id = 0; id < next; id++)
                (void)weir_host_withdraw(host, 0, id);
        const struct weir_view *view = weir_host_view(host, (t + 1) * NS);
        weir_load_look(view, &oldest, &load);
        CHECK_I64(load.oldest_ns, oldest_of_all(view));
    }
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "the longest wait is that of a walk", the_longest_wait_is_that_of_a_walk },
};
TEST_MAIN(tests)
