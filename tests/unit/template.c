/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two policies that are there to be copied do what they say: a copy begins with their bugs. */
#include "sched/template/template.c"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

static struct weir_host *host_of(const struct test_stage *stages, uint32_t count)
{
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 16, .stages = stages, .stage_count = count
    };
    struct weir_host_config config = test_config("first_fit", "fixed");

    config.scaling = &queue_chaser;
    config.scaling_params = (struct weir_params){ .count = 0 };
    return test_host(&config, &pipeline);
}

static void set_load(struct weir_host *host, uint32_t stage, uint64_t queued, uint32_t busy,
                     uint32_t ready)
{
    const struct weir_pool_update update = { .size = sizeof(struct weir_pool_update),
                                             .queued_items = queued,
                                             .busy = busy,
                                             .ready = ready,
                                             .slots = 2,
                                             .requested_workers = -1 };

    CHECK_I64(weir_host_update_pool(host, stage, &update), WEIR_OK);
}

/* Workers after a decision that is carried out; `*actions` of its plan. */
static struct test_text decide(struct weir_host *host, int64_t now_ns, uint32_t *actions)
{
    const struct weir_plan *plan = NULL;

    CHECK_I64(test_decide_at(host, now_ns, &plan), WEIR_OK);
    *actions = 0;
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const uint32_t verb = weir_plan_action(plan, i)->verb;
        *actions += verb == WEIR_VERB_START || verb == WEIR_VERB_STOP;
    }
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    return test_workers(host);
}

static void the_longest_queue_by_worker_gets_one_more(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1 }, { .name = "b", .cpus = 1 } };
    struct weir_host *const host = host_of(stages, 2);
    uint32_t actions = 0;

    CHECK_STR(decide(host, 0, &actions).text, "1,1");
    CHECK_STR(decide(host, 1, &actions).text, "1,1");
    CHECK_I64(actions, 0); /* nobody waits, and the last worker stays */
    set_load(host, 0, 9, 1, 1);
    CHECK_STR(decide(host, 2, &actions).text, "2,1");
    CHECK_STR(decide(host, 3, &actions).text, "3,1");
    set_load(host, 0, 12, 3, 3);
    set_load(host, 1, 6, 1, 1);
    CHECK_STR(decide(host, 4, &actions).text, "3,2");
    set_load(host, 1, 0, 2, 2);
    set_load(host, 0, 0, 2, 3);
    CHECK_STR(decide(host, 5, &actions).text, "2,2"); /* b works with both */
    CHECK_I64(actions, 1);
    set_load(host, 0, 0, 0, 2);
    CHECK_STR(decide(host, 6, &actions).text, "1,2");
    set_load(host, 0, 0, 0, 1);
    CHECK_STR(decide(host, 7, &actions).text, "1,2");
    CHECK_I64(actions, 0);
    weir_host_destroy(host);
}

static void a_pool_of_no_workers_gets_none(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .requested = -1 },
                                         { .name = "b", .cpus = 1, .requested = 3 } };
    struct weir_host *const host = host_of(stages, 2);
    uint32_t actions = 0;

    CHECK_STR(decide(host, 0, &actions).text, "0,3");
    weir_host_destroy(host);
}

static void the_fullest_node_comes_first(void)
{
    const struct weir_shape shape = { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE };
    const struct weir_mix mix = { .count = 0 };
    struct weir_cluster *cluster = NULL;
    struct weir_chooser *chooser = NULL;
    struct weir_place_answer answer;

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < 3; n++) {
        const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .cpu_units = (n == 1 ? 4 : 8) * WEIR_ONE };
        CHECK_I64(weir_cluster_add_node(cluster, &node, NULL, NULL), WEIR_OK);
    }
    CHECK_I64(weir_chooser_create(&fullest_first, NULL, NULL, &chooser, NULL), WEIR_OK);
    const struct weir_place_query query = {
        .size = sizeof(struct weir_place_query), .cluster = cluster, .mix = &mix, .shape = &shape
    };
    CHECK_I64(weir_chooser_place(chooser, &query, &answer, NULL), WEIR_OK);
    CHECK_I64(answer.alloc.node, 1);
    weir_chooser_destroy(chooser);
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "the longest queue by worker gets one more", the_longest_queue_by_worker_gets_one_more },
    { "a pool of no workers gets none", a_pool_of_no_workers_gets_none },
    { "the fullest node comes first", the_fullest_node_comes_first },
};

TEST_MAIN(tests)
