/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A host over a long life: nodes go, come again and change, a GPU falls ill and recovers, pools go
 * and come. Decisions never touch what is gone or ill, and the books stay right.
 */
#include "tests/support/check.h"
#include "tests/support/pipeline.h"
#include "weir/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct test_stage stages[] = {
    { .name = "read", .cpus = 1, .speed_per_s = 4 },
    { .name = "infer", .cpus = 1, .gpus = 1, .speed_per_s = 1 },
    { .name = "write", .cpus = 1, .speed_per_s = 8 },
};
static const struct test_pipeline three = {
    .nodes = 3, .gpus = 2, .nvdecs = 2, .cpus = 8, .stages = stages, .stage_count = 3
};

static struct weir_host *open_host(const char *scaling)
{
    const struct weir_host_config config = test_config("fgd", scaling);

    return test_host(&config, &three);
}

static uint32_t workers_on(const struct weir_host *host, uint32_t node)
{
    const struct weir_cluster *const cluster = weir_host_cluster(host);
    struct weir_worker worker;
    uint32_t cursor = 0;
    uint32_t count = 0;

    while (weir_cluster_node_worker(cluster, node, &cursor, &worker))
        count++;
    return count;
}

static void check_books(const struct weir_host *host)
{
    struct weir_error error = { .phase = 0 };

    if (!CHECK_I64(weir_cluster_check(weir_host_cluster(host), &error), WEIR_OK))
        CHECK_STR(error.text, "");
}

static weir_status keep_text(void *state, const char *text, size_t length)
{
    char *const all = state;

    strncat(all, text, length);
    return WEIR_OK;
}

static void a_removed_node_loses_its_workers_and_is_used_no_more(void)
{
    struct weir_host *const host = open_host("xenna");
    char *const document = calloc(1, 1 << 16);
    const struct weir_sink sink = { keep_text, document };
    const struct weir_node_spec again = { .size = sizeof(struct weir_node_spec),
                                          .id = weir_cluster_node(weir_host_cluster(host), 1)->id,
                                          .cpu_units = WEIR_ONE };
    uint32_t index = 0;

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    const struct weir_amounts before = weir_cluster_total(weir_host_cluster(host));
    const uint32_t lost = workers_on(host, 1);
    CHECK(lost > 0);
    CHECK_I64(weir_host_remove_node(host, 1, 5), WEIR_OK);
    CHECK_I64(weir_host_stats(host).lost, lost);
    CHECK_I64(weir_host_remove_node(host, 1, 5), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_set_node(host, 1, WEIR_NODE_UP, 5), WEIR_ENOTFOUND);
    CHECK_I64(weir_cluster_total(weir_host_cluster(host)).gpu_units, before.gpu_units / 3 * 2);
    check_books(host);
    for (int i = 0; i < 3; i++)
        CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_I64(workers_on(host, 1), 0);
    CHECK_I64(weir_host_export(host, 0, &sink), WEIR_OK);
    uint32_t listed = 0;
    for (const char *at = document; (at = strstr(at, "\"gpu_list\"")) != NULL; at++)
        listed++;
    CHECK_I64(listed, 2);
    CHECK_I64(weir_host_add_node(host, &again, &index, NULL), WEIR_OK);
    CHECK_I64(index, 3); /* it has other GPUs than before, so it is another record */
    check_books(host);
    weir_host_destroy(host);
    free(document);
}

static void a_changed_node_is_used_to_its_new_amounts(void)
{
    struct weir_host *const host = open_host("xenna");
    struct weir_error error = { .phase = 0 };

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    const struct weir_node before = *weir_cluster_node(weir_host_cluster(host), 0);
    CHECK(before.cpu_free < before.cpu_total - WEIR_ONE);
    CHECK_I64(weir_host_change_node(host, 0, WEIR_ONE / 2, 0, &error), WEIR_EOVERCOMMIT);
    CHECK(strstr(error.text, "CPUs, 0.5 are too few") != NULL);
    CHECK_I64(weir_host_change_node(host, 0, -1, 0, &error), WEIR_EINVAL);
    CHECK_I64(weir_cluster_node(weir_host_cluster(host), 0)->version, before.version);
    check_books(host);
    /* The others shrink to what they hold: new room is on this node alone. */
    for (uint32_t n = 1; n < 3; n++) {
        const struct weir_node *const node = weir_cluster_node(weir_host_cluster(host), n);
        CHECK_I64(weir_host_change_node(host, n, node->cpu_total - node->cpu_free, 0, &error),
                  WEIR_OK);
    }
    CHECK_I64(weir_host_change_node(host, 0, 80 * WEIR_ONE, 0, &error), WEIR_OK);
    CHECK_I64(weir_cluster_node(weir_host_cluster(host), 0)->cpu_free,
              80 * WEIR_ONE - (before.cpu_total - before.cpu_free));
    CHECK_I64(weir_cluster_free(weir_host_cluster(host)).cpu_units,
              weir_cluster_node(weir_host_cluster(host), 0)->cpu_free);
    check_books(host);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    check_books(host);
    weir_host_destroy(host);
}

/* Workers of the GPU stage on one GPU. */
static uint32_t holders(const struct weir_host *host, uint32_t node, uint32_t gpu)
{
    struct weir_worker worker;
    uint32_t count = 0;

    for (uint32_t i = 0; weir_cluster_pool_worker(weir_host_cluster(host), 1, i, &worker); i++)
        count += worker.alloc.node == node && worker.alloc.device_count > 0 &&
                 worker.alloc.devices[0].gpu == gpu;
    return count;
}

static void an_ill_gpu_keeps_its_worker_and_gets_no_other(void)
{
    struct weir_host *const host = open_host("xenna");
    struct weir_worker worker = { .id = 0 };
    struct weir_outcome gone = { .size = sizeof(struct weir_outcome),
                                 .kind = WEIR_OUTCOME_LOST,
                                 .owner = weir_pool_owner(1) };

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_pool_workers(weir_host_cluster(host), 1), 6);
    CHECK(weir_cluster_pool_worker(weir_host_cluster(host), 1, 0, &worker));
    const uint32_t node = worker.alloc.node;
    const uint32_t gpu = worker.alloc.devices[0].gpu;
    CHECK_I64(weir_host_set_gpu_health(host, node, gpu, false), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_I64(holders(host, node, gpu), 1);
    gone.worker = worker.id;
    CHECK_I64(weir_host_outcome(host, &gone, NULL, NULL), WEIR_OK);
    for (int i = 0; i < 3; i++)
        CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_I64(holders(host, node, gpu), 0);
    CHECK_I64(weir_cluster_total(weir_host_cluster(host)).gpu_units, 5 * WEIR_ONE);
    check_books(host);
    CHECK_I64(weir_host_set_gpu_health(host, node, gpu, true), WEIR_OK);
    for (int i = 0; i < 3; i++)
        CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_I64(holders(host, node, gpu), 1);
    check_books(host);
    weir_host_destroy(host);
}

/* What a worker that started just before the news holds is believed. */
static void a_start_on_a_gpu_that_fell_ill_is_believed(void)
{
    struct weir_host *const host = open_host("xenna");
    const struct weir_alloc alloc = { .device_count = 1,
                                      .cpu_units = WEIR_ONE,
                                      .devices = { { .units = WEIR_ONE } } };
    const struct weir_outcome started = { .size = sizeof(struct weir_outcome),
                                          .kind = WEIR_OUTCOME_STARTED,
                                          .owner = weir_pool_owner(1),
                                          .worker = 500 };

    CHECK_I64(weir_host_set_gpu_health(host, 0, 0, false), WEIR_OK);
    CHECK_I64(weir_host_outcome(host, &started, &alloc, NULL), WEIR_OK);
    check_books(host);
    struct weir_outcome second = started;
    second.worker = 501;
    CHECK_I64(weir_host_outcome(host, &second, &alloc, NULL), WEIR_EOVERCOMMIT);
    check_books(host);
    weir_host_destroy(host);
}

/* Takes all workers of a pool away. */
static void empty_pool(struct weir_host *host, uint32_t pool)
{
    struct weir_outcome stopped = { .size = sizeof(struct weir_outcome),
                                    .kind = WEIR_OUTCOME_STOPPED,
                                    .owner = weir_pool_owner(pool) };

    while (weir_cluster_pool_worker_id(weir_host_cluster(host), pool, 0, &stopped.worker))
        CHECK_I64(weir_host_outcome(host, &stopped, NULL, NULL), WEIR_OK);
}

static uint32_t actions_for(struct weir_host *host, uint32_t pool)
{
    const struct weir_call call = { .size = sizeof(struct weir_call),
                                    .causes = WEIR_CAUSE_TIMER,
                                    .now_ns = 0 };
    const struct weir_plan *plan = NULL;
    uint32_t count = 0;

    CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_OK);
    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        count += weir_plan_action(plan, i)->owner.index == pool;
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    return count;
}

static void a_removed_pool_is_left_alone_by_every_policy(void)
{
    for (uint32_t s = 0; s < weir_scaling_count(); s++) {
        struct weir_host *const host = open_host(weir_scaling_at(s)->name);
        const struct weir_pool_update update = { .size = sizeof(struct weir_pool_update) };
        struct weir_pool_spec spec = test_pool_spec(weir_view_pool(weir_host_view(host, 0), 1));
        uint32_t index = 0;

        spec.name = "infer";
        CHECK_I64(test_step(host, NULL), WEIR_OK);
        CHECK(weir_cluster_pool_workers(weir_host_cluster(host), 1) > 0);
        CHECK_I64(weir_host_remove_pool(host, 1, NULL), WEIR_EBUSY);
        empty_pool(host, 1);
        CHECK_I64(weir_host_remove_pool(host, 1, NULL), WEIR_OK);
        CHECK_I64(weir_host_remove_pool(host, 1, NULL), WEIR_ENOTFOUND);
        CHECK_I64(weir_host_update_pool(host, 1, &update), WEIR_ENOTFOUND);
        CHECK_I64(weir_view_pool(weir_host_view(host, 0), 1)->batch_size, 1);
        CHECK_I64(weir_view_pool(weir_host_view(host, 0), 1)->finished, WEIR_POOL_REMOVED);
        for (int i = 0; i < 4; i++)
            CHECK_I64(actions_for(host, 1), 0);
        CHECK(weir_cluster_pool_workers(weir_host_cluster(host), 0) > 0);
        CHECK(weir_cluster_pool_workers(weir_host_cluster(host), 2) > 0);
        CHECK_I64(weir_host_add_pool(host, &spec, &index, NULL), WEIR_OK);
        CHECK_I64(index, 1);
        empty_pool(host, 0);
        empty_pool(host, 2);
        CHECK(actions_for(host, 1) > 0);
        CHECK(weir_cluster_pool_workers(weir_host_cluster(host), 1) > 0);
        weir_host_destroy(host);
    }
}

static void a_changed_pool_keeps_what_runs(void)
{
    struct weir_host *const host = open_host("xenna");
    struct weir_pool_spec spec = test_pool_spec(weir_view_pool(weir_host_view(host, 0), 1));
    struct weir_worker worker;
    struct weir_error error = { .phase = 0 };

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    spec.shape.gpu_units = WEIR_ONE / 2;
    spec.shape.kind = WEIR_SHAPE_FRACTIONAL;
    spec.name = "infer half";
    CHECK_I64(weir_host_change_pool(host, 1, &spec, &error), WEIR_OK);
    CHECK_STR(weir_view_pool(weir_host_view(host, 0), 1)->name, "infer half");
    CHECK(weir_cluster_pool_worker(weir_host_cluster(host), 1, 0, &worker));
    CHECK_I64(worker.alloc.devices[0].units, WEIR_ONE);
    spec.name = "read";
    CHECK_I64(weir_host_change_pool(host, 1, &spec, &error), WEIR_EDUPLICATE);
    CHECK_STR(error.text, "stage read exists already");
    spec.name = "infer half";
    spec.batch_size = 0;
    CHECK_I64(weir_host_change_pool(host, 1, &spec, &error), WEIR_EINVAL);
    CHECK_I64(weir_view_pool(weir_host_view(host, 0), 1)->batch_size, 1);
    empty_pool(host, 1);
    for (int i = 0; i < 3; i++)
        CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK(weir_cluster_pool_worker(weir_host_cluster(host), 1, 0, &worker));
    CHECK_I64(worker.alloc.devices[0].units, WEIR_ONE / 2);
    weir_host_destroy(host);
}

enum { NAMES = 200, RECORDS = 2 * NAMES };

/* What a host was told of pools, as a list that is searched from its beginning. */
struct told_pool {
    uint32_t pipeline, name;
    bool is_removed;
};
struct told {
    struct weir_host *host;
    struct told_pool pools[RECORDS];
    uint32_t count;
    uint32_t added, refused, changed, removed;
};

static uint32_t record_of(const struct told *told, const struct told_pool *pool)
{
    uint32_t i = 0;

    while (i < told->count &&
           (told->pools[i].pipeline != pool->pipeline || told->pools[i].name != pool->name))
        i++;
    return i;
}

static struct weir_pool_spec spec_of(const struct told_pool *pool, char text[8])
{
    (void)snprintf(text, 8, "n%u", pool->name % NAMES);
    return (struct weir_pool_spec){ .size = sizeof(struct weir_pool_spec),
                                    .pipeline = pool->pipeline,
                                    .name = text,
                                    .shape = { .kind = WEIR_SHAPE_CPU, .cpu_units = 1 },
                                    .batch_size = 1,
                                    .slots = 2,
                                    .speed_hint_per_s = (double)NAN };
}

static void add_named(struct told *told, const struct told_pool *pool)
{
    char text[8];
    const struct weir_pool_spec spec = spec_of(pool, text);
    const uint32_t place = record_of(told, pool);
    const bool is_there = place < told->count && !told->pools[place].is_removed;
    uint32_t index = place;

    CHECK_I64(weir_host_add_pool(told->host, &spec, &index, NULL),
              is_there ? WEIR_EDUPLICATE : WEIR_OK);
    CHECK_I64(index, place);
    told->refused += is_there;
    told->added += !is_there;
    told->count += place == told->count;
    told->pools[place] = *pool;
}

static void rename_one(struct told *told, uint32_t index, const struct told_pool *pool)
{
    char text[8];
    const struct weir_pool_spec spec = spec_of(pool, text);
    const uint32_t place = record_of(told, pool);
    const bool is_taken = place < told->count && place != index;

    CHECK_I64(weir_host_change_pool(told->host, index, &spec, NULL),
              is_taken ? WEIR_EDUPLICATE : WEIR_OK);
    if (is_taken)
        return;
    told->pools[index] = *pool;
    told->changed++;
}

static void a_pool_is_known_by_pipeline_and_name_whatever_is_told(void)
{
    const struct weir_host_config config = test_config("first_fit", "fixed");
    struct told told = { .host = NULL };
    uint64_t draws = 7;

    CHECK_I64(weir_host_create(&config, &told.host, NULL), WEIR_OK);
    for (int i = 0; i < 3000; i++) {
        draws = draws * UINT64_C(6364136223846793005) + 1442695040888963407;
        const struct told_pool pool = { .pipeline = (uint32_t)(draws >> 40) % 2,
                                        .name = (uint32_t)(draws >> 33) % NAMES };
        const uint32_t index = (uint32_t)(draws >> 45) % RECORDS;
        const bool is_there = index < told.count && !told.pools[index].is_removed;
        if (draws >> 63 != 0) {
            add_named(&told, &pool);
        } else if (draws >> 62 != 0 && is_there) {
            rename_one(&told, index, &pool);
        } else if (is_there) {
            CHECK_I64(weir_host_remove_pool(told.host, index, NULL), WEIR_OK);
            told.pools[index].is_removed = true;
            told.removed++;
        }
    }
    CHECK(told.added > 50 && told.refused > 50 && told.changed > 20 && told.removed > 50);
    CHECK_I64(weir_host_view(told.host, 0)->pool_count, told.count);
    weir_host_destroy(told.host);
}

static const struct test tests[] = {
    { "a removed node loses its workers and is used no more",
      a_removed_node_loses_its_workers_and_is_used_no_more },
    { "a changed node is used to its new amounts", a_changed_node_is_used_to_its_new_amounts },
    { "an ill GPU keeps its worker and gets no other",
      an_ill_gpu_keeps_its_worker_and_gets_no_other },
    { "a start on a GPU that fell ill is believed", a_start_on_a_gpu_that_fell_ill_is_believed },
    { "a removed pool is left alone by every policy",
      a_removed_pool_is_left_alone_by_every_policy },
    { "a changed pool keeps what runs", a_changed_pool_keeps_what_runs },
    { "a pool is known by pipeline and name whatever is told",
      a_pool_is_known_by_pipeline_and_name_whatever_is_told },
};
TEST_MAIN(tests)
