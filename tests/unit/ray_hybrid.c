/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policy "ray_hybrid": scores, the draw among the best nodes, GPUs that do not count.
 */
#include "sched/placement/parts/scan.h"
#include "tests/support/check.h"

enum { MOST_NODES = 16 };

static const struct weir_shape CPU = { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE };

/* What a node has, and how much of its CPUs and GPUs is used. */
struct host {
    uint32_t cpus;
    uint32_t gpus;
    double cpu_used;
    double gpu_used;
};

static struct weir_cluster *build(const struct host *hosts, uint32_t count)
{
    struct weir_gpu_spec gpus[8];
    struct weir_cluster *cluster = NULL;

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t g = 0; g < 8; g++)
        gpus[g] = (struct weir_gpu_spec){ .units = WEIR_ONE };
    for (uint32_t n = 0; n < count; n++) {
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = hosts[n].gpus,
                                             .cpu_units = hosts[n].cpus * WEIR_ONE,
                                             .gpus = gpus };
        struct weir_alloc used = {
            .node = n, .cpu_units = (int64_t)(hosts[n].cpu_used * hosts[n].cpus * (double)WEIR_ONE)
        };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
        for (uint32_t g = 0; g < hosts[n].gpus && hosts[n].gpu_used > 0; g++)
            used.devices[used.device_count++] =
                (struct weir_device){ .gpu = g,
                                      .units = (int64_t)(hosts[n].gpu_used * (double)WEIR_ONE) };
        CHECK_I64(weir_cluster_add_worker(cluster, n + 1, weir_pool_owner(1), &used, NULL),
                  WEIR_OK);
    }
    return cluster;
}

/* The fuller of CPUs and memory; up to half of them it is all the same. */
static double plain_score(const struct weir_cluster *cluster, uint32_t node)
{
    const struct weir_node *const books = weir_cluster_node(cluster, node);
    const double used = 1 - (double)books->cpu_free / (double)books->cpu_total;
    return used < 0.5 ? 0 : used;
}

/* How often each node was taken in 2000 questions. */
static void ask(const struct weir_cluster *cluster, const struct weir_shape *shape,
                double preferred, uint32_t taken[MOST_NODES])
{
    const struct weir_placement_ops *const ops = weir_placement_find("ray_hybrid");
    const struct weir_mix mix = { .count = 0 };
    double values[8];
    const struct weir_params params = { .values = values, .count = ops->param_count };
    void *state = NULL;

    for (uint32_t i = 0; i < ops->param_count; i++)
        values[i] = ops->params[i].initial;
    values[weir_param_find(ops->params, ops->param_count, "preferred_node")] = preferred;
    CHECK_I64(ops->create(&params, NULL, &state, NULL), WEIR_OK);
    for (uint32_t n = 0; n < MOST_NODES; n++)
        taken[n] = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                                .cluster = cluster,
                                                .mix = &mix,
                                                .shape = shape,
                                                .seed = seed };
        struct weir_place_answer answer;
        if (weir_placement_place(ops, state, &query, &answer, NULL) != WEIR_OK)
            continue;
        taken[answer.alloc.node]++;
        CHECK_NEAR(answer.choice.primary, plain_score(cluster, answer.alloc.node), 1e-12);
        CHECK_I64(answer.choice.ties, 1);
    }
    ops->destroy(state);
}

static void idle_nodes_share_among_the_best_fifth(void)
{
    struct host hosts[10];
    uint32_t taken[MOST_NODES];

    for (uint32_t n = 0; n < 10; n++)
        hosts[n] = (struct host){ .cpus = 16 };
    struct weir_cluster *const cluster = build(hosts, 10);
    ask(cluster, &CPU, 0, taken);
    CHECK_NEAR((double)taken[0] / 2000, 0.5, 0.05);
    CHECK_I64(taken[0] + taken[1], 2000);
    ask(cluster, &CPU, 7, taken);
    CHECK_I64(taken[6], 2000);
    weir_cluster_destroy(cluster);
}

static void nodes_below_the_threshold_are_equal(void)
{
    const struct host hosts[] = { { .cpus = 100, .cpu_used = 0.45 },
                                  { .cpus = 100, .cpu_used = 0.10 } };
    uint32_t taken[MOST_NODES];
    struct weir_cluster *const cluster = build(hosts, 2);

    ask(cluster, &CPU, 0, taken);
    CHECK_I64(taken[0], 2000); /* a tie: the lower id */
    weir_cluster_destroy(cluster);
}

static void above_the_threshold_the_emptier_node_wins(void)
{
    const struct host hosts[] = { { .cpus = 100, .cpu_used = 0.60 },
                                  { .cpus = 100, .cpu_used = 0.55 } };
    uint32_t taken[MOST_NODES];
    struct weir_cluster *const cluster = build(hosts, 2);

    ask(cluster, &CPU, 0, taken);
    CHECK_I64(taken[1], 2000);
    ask(cluster, &CPU, 1, taken); /* the preferred node is worse: not taken */
    CHECK_I64(taken[1], 2000);
    weir_cluster_destroy(cluster);
}

static void busy_gpus_do_not_count(void)
{
    const struct host hosts[] = { { .cpus = 100, .gpus = 8, .cpu_used = 0.1, .gpu_used = 1 },
                                  { .cpus = 100, .gpus = 8 } };
    uint32_t taken[MOST_NODES];
    struct weir_cluster *const cluster = build(hosts, 2);

    ask(cluster, &CPU, 0, taken);
    CHECK_I64(taken[0], 2000);
    weir_cluster_destroy(cluster);
}

static void requests_without_gpus_avoid_gpu_nodes(void)
{
    const struct host hosts[] = { { .cpus = 16, .gpus = 1 }, { .cpus = 16, .cpu_used = 0.8 } };
    uint32_t taken[MOST_NODES];
    struct weir_cluster *const cluster = build(hosts, 2);

    ask(cluster, &CPU, 0, taken);
    CHECK_I64(taken[1], 2000);
    weir_cluster_destroy(cluster);
}

/* 0.25 of a GPU: the GPU with least left. And nothing at all when nothing fits. */
static void a_share_goes_where_least_is_left(void)
{
    static const struct weir_shape share = { .kind = WEIR_SHAPE_FRACTIONAL,
                                             .gpu_count = 1,
                                             .gpu_units = WEIR_ONE / 4 };
    static const struct weir_shape many = { .kind = WEIR_SHAPE_CPU, .cpu_units = 99 * WEIR_ONE };
    const struct weir_placement_ops *const ops = weir_placement_find("ray_hybrid");
    const struct host host = { .cpus = 16, .gpus = 3 };
    const struct weir_mix mix = { .count = 0 };
    const struct weir_params none = { .count = 0 };
    struct weir_alloc used = { .device_count = 2 };
    struct weir_place_answer answer;
    void *state = NULL;
    struct weir_cluster *const cluster = build(&host, 1);

    used.devices[0] = (struct weir_device){ .gpu = 1, .units = WEIR_ONE * 3 / 4 };
    used.devices[1] = (struct weir_device){ .gpu = 2, .units = WEIR_ONE / 4 };
    CHECK_I64(weir_cluster_add_worker(cluster, 9, weir_pool_owner(1), &used, NULL), WEIR_OK);
    CHECK_I64(ops->create(&none, NULL, &state, NULL), WEIR_OK);
    struct weir_place_query query = {
        .size = sizeof(struct weir_place_query), .cluster = cluster, .mix = &mix, .shape = &share
    };
    CHECK_I64(weir_placement_place(ops, state, &query, &answer, NULL), WEIR_OK);
    CHECK_I64(answer.alloc.devices[0].gpu, 1);
    query.shape = &many;
    CHECK_I64(weir_placement_place(ops, state, &query, &answer, NULL), WEIR_EBUSY);
    CHECK_I64(answer.choice.rejected[WEIR_REASON_CPU], 1);
    ops->destroy(state);
    weir_cluster_destroy(cluster);
}

/* Places shares of 0.18 GPU one after the other; how many found a place, and how many on node 1. */
static void place_shares(const char *fit, uint32_t placed[2], struct weir_error *error)
{
    const struct weir_placement_ops *const ops = weir_placement_find("ray_hybrid");
    const struct host hosts[] = { { .cpus = 400, .gpus = 8 }, { .cpus = 400, .gpus = 8 } };
    const struct weir_shape share = { .kind = WEIR_SHAPE_FRACTIONAL,
                                      .gpu_count = 1,
                                      .cpu_units = WEIR_ONE,
                                      .gpu_units = WEIR_ONE * 18 / 100 };
    const struct weir_mix mix = { .count = 0 };
    struct weir_cluster *const cluster = build(hosts, 2);
    struct weir_chooser *chooser = NULL;
    double values[8];

    for (uint32_t i = 0; i < ops->param_count; i++)
        values[i] = ops->params[i].initial;
    values[weir_param_find(ops->params, ops->param_count, "fit")] = fit[0] == 'n' ? 1 : 0;
    const struct weir_params params = { .values = values, .count = ops->param_count };
    CHECK_I64(weir_chooser_create(ops, &params, NULL, &chooser, NULL), WEIR_OK);
    for (uint64_t i = 0; i < 80; i++) {
        const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                                .cluster = cluster,
                                                .mix = &mix,
                                                .shape = &share,
                                                .seed = i };
        struct weir_place_answer answer;
        if (weir_chooser_place(chooser, &query, &answer, error) != WEIR_OK)
            continue;
        CHECK_I64(
            weir_cluster_add_worker(cluster, 100 + i, weir_pool_owner(0), &answer.alloc, NULL),
            WEIR_OK);
        placed[answer.alloc.node]++;
    }
    weir_chooser_destroy(chooser);
    weir_cluster_destroy(cluster);
}

/* 80 actors of 0.18 GPU on two nodes of eight GPUs: five fit a GPU, forty a node, and 0.8 GPU of
 * crumbs in sum look like room for four more. */
static void sums_of_nodes_are_fooled_by_crumbs(void)
{
    uint32_t by_sum[2] = { 0 };
    uint32_t by_device[2] = { 0 };
    struct weir_error error = { .phase = -1 };

    place_shares("node_sum", by_sum, &error);
    CHECK_I64(by_sum[0], 40);
    CHECK_I64(by_sum[1], 0);
    CHECK_STR(error.text, "node 0 has enough in sum, but too little free on a GPU");
    place_shares("device", by_device, &error);
    CHECK_I64(by_device[0], 40);
    CHECK_I64(by_device[1], 40);
}

/* "Below" the threshold is not "at" it. */
static void a_node_at_the_threshold_is_not_idle(void)
{
    const struct host hosts[2] = { { .cpus = 8, .cpu_used = 0.5 },
                                   { .cpus = 8, .cpu_used = 0.25 } };
    struct weir_cluster *const cluster = build(hosts, 2);
    uint32_t taken[MOST_NODES];

    ask(cluster, &CPU, 0, taken);
    CHECK_I64(taken[0], 0);
    CHECK_I64(taken[1], 2000);
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "idle nodes share among the best fifth", idle_nodes_share_among_the_best_fifth },
    { "nodes below the threshold are equal", nodes_below_the_threshold_are_equal },
    { "above the threshold the emptier node wins", above_the_threshold_the_emptier_node_wins },
    { "busy GPUs do not count", busy_gpus_do_not_count },
    { "requests without GPUs avoid GPU nodes", requests_without_gpus_avoid_gpu_nodes },
    { "a share goes where least is left", a_share_goes_where_least_is_left },
    { "sums of nodes are fooled by crumbs", sums_of_nodes_are_fooled_by_crumbs },
    { "a node at the threshold is not idle", a_node_at_the_threshold_is_not_idle },
};

TEST_MAIN(tests)
