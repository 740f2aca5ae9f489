/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Graded placement policies by hand: alignment, power, weighted, and what every one of them has:
 * steps, rules for ties, an order of nodes, the choice of the GPU.
 */
#include "tests/support/check.h"
#include "weir/policy.h"

#include <stdio.h>
#include <string.h>

enum { VALUES = 24 };

static const struct weir_shape CPU_ONE = { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE };
static const struct weir_shape CPU_FOUR = { .kind = WEIR_SHAPE_CPU, .cpu_units = 4 * WEIR_ONE };
static const struct weir_shape HALF = {
    .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .cpu_units = WEIR_ONE, .gpu_units = WEIR_ONE / 2
};
static const struct weir_shape WHOLE = {
    .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .cpu_units = WEIR_ONE, .gpu_units = WEIR_ONE
};

/* A cluster of equal nodes and one policy. */
struct lab {
    struct weir_cluster *cluster;
    struct weir_chooser *chooser;
    struct weir_mix mix;
    uint64_t next_worker, seed;
    struct weir_place_answer answer;
    struct weir_error error;
};

static struct lab open_lab(uint32_t nodes, uint32_t cpus, uint32_t gpus)
{
    struct lab lab = { .next_worker = 1 };
    struct weir_gpu_spec specs[8];

    CHECK_I64(weir_cluster_create(NULL, &lab.cluster), WEIR_OK);
    for (uint32_t g = 0; g < gpus; g++)
        specs[g] = (struct weir_gpu_spec){ .idle_w = 50, .full_w = 400, .units = WEIR_ONE };
    for (uint32_t n = 0; n < nodes; n++) {
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = gpus,
                                             .cpu_units = cpus * WEIR_ONE,
                                             .ram_bytes = 100,
                                             .gpus = specs };
        CHECK_I64(weir_cluster_add_node(lab.cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return lab;
}

/* The policy with some parameters changed: "steps=0 tie=2" by number. */
static weir_status use(struct lab *lab, const char *policy, const char *changes)
{
    const struct weir_placement_ops *const ops = weir_placement_find(policy);
    double values[VALUES];
    char name[32];
    double value = 0;
    int length = 0;

    CHECK(ops != NULL && ops->param_count <= VALUES);
    for (uint32_t i = 0; i < ops->param_count; i++)
        values[i] = ops->params[i].initial;
    while (sscanf(changes, " %31[a-z_]=%lf%n", name, &value, &length) == 2) {
        const uint32_t index = weir_param_find(ops->params, ops->param_count, name);
        CHECK(index != WEIR_NO_INDEX);
        if (index != WEIR_NO_INDEX)
            values[index] = value;
        changes += length;
    }
    const struct weir_params params = { .values = values, .count = ops->param_count };
    weir_chooser_destroy(lab->chooser);
    lab->chooser = NULL;
    return weir_chooser_create(ops, &params, NULL, &lab->chooser, &lab->error);
}

static void close_lab(struct lab *lab)
{
    weir_chooser_destroy(lab->chooser);
    weir_cluster_destroy(lab->cluster);
}

/* The node chosen, or -1. */
static int64_t ask(struct lab *lab, const struct weir_shape *shape)
{
    const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                            .cluster = lab->cluster,
                                            .mix = &lab->mix,
                                            .shape = shape,
                                            .seed = lab->seed++ };
    const weir_status status = weir_chooser_place(lab->chooser, &query, &lab->answer, &lab->error);

    return status == WEIR_OK ? (int64_t)lab->answer.alloc.node : -1;
}

/* Something that runs on a node already. */
static void occupy(struct lab *lab, uint32_t node, uint32_t cpus, double gpu)
{
    const struct weir_alloc alloc = { .node = node,
                                      .device_count = gpu > 0 ? 1 : 0,
                                      .cpu_units = cpus * WEIR_ONE,
                                      .devices = { { .units = (int64_t)(gpu * WEIR_ONE) } } };

    CHECK_I64(
        weir_cluster_add_worker(lab->cluster, lab->next_worker++, weir_pool_owner(0), &alloc, NULL),
        WEIR_OK);
}

/* covers: S1.14 */
static void alignment_takes_the_node_that_has_much_of_what_is_asked(void)
{
    struct lab lab = open_lab(3, 8, 2);
    struct weir_shape with_memory = CPU_FOUR;

    occupy(&lab, 0, 4, 0);
    CHECK_I64(use(&lab, "alignment", "steps=0"), WEIR_OK);
    CHECK_I64(ask(&lab, &CPU_FOUR), 1);
    CHECK_NEAR(lab.answer.choice.primary, -(1.0 * 0.5) / 3, 1e-15);
    with_memory.ram_bytes = 50;
    CHECK_I64(ask(&lab, &with_memory), 1);
    CHECK_NEAR(lab.answer.choice.primary, -(1.0 * 0.5 + 1.0 * 0.5) / 3, 1e-15);
    CHECK_I64(ask(&lab, &HALF), 1);
    CHECK_NEAR(lab.answer.choice.primary, -(1.0 / 8 + 0.5 / 2) / 3, 1e-15);
    CHECK_I64(use(&lab, "alignment", "steps=0 scale=1"), WEIR_OK);
    CHECK_I64(ask(&lab, &CPU_FOUR), 1);
    CHECK_NEAR(lab.answer.choice.primary, -(8.0 / 128 * (4.0 / 128)) / 3, 1e-15);
    CHECK_I64(use(&lab, "dot_product", "steps=0"), WEIR_OK);
    CHECK_I64(ask(&lab, &CPU_FOUR), 0);
    close_lab(&lab);
}

/* covers: S1.14 */
static void power_goes_where_the_watts_flow_already(void)
{
    struct lab lab = open_lab(2, 48, 2);

    occupy(&lab, 1, 1, 0.5);
    CHECK_I64(use(&lab, "power", ""), WEIR_OK);
    CHECK_I64(ask(&lab, &HALF), 1);
    CHECK_I64(lab.answer.alloc.devices[0].gpu, 0);
    CHECK_NEAR(lab.answer.choice.primary, 0, 0);
    CHECK_NEAR(lab.answer.choice.runner_up_primary, 350 + 145, 0);
    CHECK_I64(ask(&lab, &WHOLE), 1);
    CHECK_NEAR(lab.answer.choice.primary, 350, 0);
    CHECK_I64(use(&lab, "power", "cpu_power=0"), WEIR_OK);
    CHECK_I64(ask(&lab, &WHOLE), 0);
    CHECK_I64(lab.answer.choice.ties, 2);
    occupy(&lab, 1, 0, 0.5); /* no GPU in use has room left */
    CHECK_I64(ask(&lab, &HALF), 0);
    CHECK_NEAR(lab.answer.choice.runner_up_primary, 350, 0);
    close_lab(&lab);
}

/* Where nobody says what a GPU draws it is what the policy was told: 130 W more at work. */
static void a_gpu_of_unknown_watts_draws_what_is_assumed(void)
{
    struct lab lab = open_lab(1, 48, 1);
    const struct weir_gpu_spec unknown = { .units = WEIR_ONE };
    const struct weir_node_spec spec = { .size = sizeof spec,
                                         .id = 1,
                                         .gpu_count = 1,
                                         .cpu_units = 48 * WEIR_ONE,
                                         .ram_bytes = 100,
                                         .gpus = &unknown };

    CHECK_I64(weir_cluster_add_node(lab.cluster, &spec, NULL, NULL), WEIR_OK);
    CHECK_I64(use(&lab, "power", "cpu_power=0 gpu_idle=20 gpu_full=150"), WEIR_OK);
    CHECK_I64(ask(&lab, &WHOLE), 1);
    CHECK_NEAR(lab.answer.choice.primary, 130, 0);
    CHECK_NEAR(lab.answer.choice.runner_up_primary, 350, 0);
    close_lab(&lab);
}

static void power_opens_a_second_socket_when_the_first_is_full(void)
{
    struct lab lab = open_lab(2, 96, 1);

    occupy(&lab, 0, 48, 0);
    occupy(&lab, 1, 47, 0);
    CHECK_I64(use(&lab, "power", ""), WEIR_OK);
    CHECK_I64(ask(&lab, &CPU_ONE), 1);
    CHECK_NEAR(lab.answer.choice.primary, 0, 0);
    CHECK_NEAR(lab.answer.choice.runner_up_primary, 145, 0);
    CHECK_I64(use(&lab, "power", "socket_cores=25"), WEIR_OK);
    CHECK_I64(ask(&lab, &CPU_ONE), 0);
    CHECK_I64(lab.answer.choice.ties, 2);
    close_lab(&lab);
}

/* covers: S1.14 */
static void weighted_adds_scores_on_the_scales_of_their_authors(void)
{
    struct lab lab = open_lab(2, 48, 1);
    const double one = 1;

    lab.mix = (struct weir_mix){ .shapes = &WHOLE, .frequencies = &one, .count = 1 };
    occupy(&lab, 1, 1, 0.5);
    CHECK_I64(use(&lab, "weighted", ""), WEIR_OK);
    CHECK_I64(ask(&lab, &HALF), 1);
    /* Logistic functions of +0.5 and -0.5 in percent; power is stretched to all and nothing. */
    CHECK_NEAR(lab.answer.choice.primary, -(500.0 * 62 + 500 * 100), 0);
    CHECK_NEAR(lab.answer.choice.runner_up_primary, -(500.0 * 37), 0);
    CHECK_I64(use(&lab, "weighted", "fgd=0 power=0 best_fit=2"), WEIR_OK);
    CHECK_I64(ask(&lab, &HALF), 1);
    CHECK_NEAR(lab.answer.choice.primary, -200, 0);
    CHECK_I64(ask(&lab, &WHOLE), 0); /* the only one with room: best_fit 0 */
    CHECK_NEAR(lab.answer.choice.primary, 0, 0);
    CHECK_I64(use(&lab, "weighted", "fgd=0 dot_product=3"), WEIR_OK);
    CHECK_I64(ask(&lab, &WHOLE), 0); /* power all; 1 - (48/128/128 + 1/64)/2, cut */
    CHECK_NEAR(lab.answer.choice.primary, -(500.0 * 100 + 3 * 99), 0);
    CHECK_I64(use(&lab, "weighted", "fgd=0 power=0"), WEIR_EINVAL);
    CHECK_STR(lab.error.text, "placement policy weighted: at least one weight must be above 0");
    close_lab(&lab);
}

static void every_rule_for_ties_names_its_node(void)
{
    struct lab lab = open_lab(3, 8, 2);
    const double one = 1;
    const struct weir_shape pair = { .kind = WEIR_SHAPE_WHOLE,
                                     .gpu_count = 2,
                                     .gpu_units = WEIR_ONE };
    static const struct {
        const char *policy, *rule;
        int64_t node;
    } rows[] = {
        { "first_fit", "tie=0 device=0", 0 },
        { "first_fit", "tie=2", 0 }, /* best_fit: a GPU less is worth more than four CPUs */
        { "first_fit", "tie=3", 1 }, /* most_used: 6 of 10 free */
        { "first_fit", "tie=4", 2 }, /* most_free */
        { "first_fit", "tie=5", 0 }, /* least_gpus */
        { "first_fit", "tie=6", 1 }, /* least_cpus */
        { "first_fit", "tie=7", 0 }, /* most_cpus: the first of two */
        { "first_fit", "tie=8", 1 }, /* least_frag: a pair does not fit node 0 */
        { "fgd", "metric=1 score=1 steps=1 tie=0", 2 },
        { "fgd", "metric=1 score=1 steps=1 tie=1", 1 },
        { "fgd", "metric=1 score=1 steps=1 tie=2", 0 },
        { "fgd", "metric=1 score=1 steps=1 tie=4", 0 },
        { "fgd", "metric=1 score=1 steps=1 tie=6", 1 },
        { "fgd", "metric=1 score=1 steps=1 tie=8", 1 },
        { "gpu_packing", "tie=6", 1 },
        { "worst_fit", "measure=1 steps=1 tie=3", 1 },
    };

    lab.mix = (struct weir_mix){ .shapes = &pair, .frequencies = &one, .count = 1 };
    occupy(&lab, 0, 0, 1);
    occupy(&lab, 1, 4, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_I64(use(&lab, rows[i].policy, rows[i].rule), WEIR_OK);
        if (!CHECK_I64(ask(&lab, &CPU_ONE), rows[i].node))
            printf("    %s %s\n", rows[i].policy, rows[i].rule);
    }
    close_lab(&lab);
}

/* 3000 draws among three: 1000 each, five standard deviations (26) apart with chance 1e-6. */
static void a_random_tie_draws_evenly_and_repeatably(void)
{
    struct lab lab = open_lab(4, 8, 2);
    uint32_t counts[4] = { 0 };

    occupy(&lab, 2, 8, 0);
    CHECK_I64(use(&lab, "best_fit", "measure=1 tie=1"), WEIR_OK);
    for (int i = 0; i < 3000; i++) {
        const int64_t node = ask(&lab, &HALF);
        lab.seed--;
        CHECK_I64(ask(&lab, &HALF), node);
        if (node >= 0)
            counts[node]++;
    }
    CHECK_I64(counts[2], 0);
    CHECK(counts[0] > 870 && counts[0] < 1130);
    CHECK(counts[1] > 870 && counts[1] < 1130);
    CHECK_I64(lab.answer.choice.ties, 3);
    close_lab(&lab);
}

static void an_order_seed_permutes_the_nodes(void)
{
    int64_t first[2][5];
    uint32_t differences = 0;

    for (int seed = 1; seed <= 2; seed++) {
        struct lab lab = open_lab(5, 1, 0);
        uint32_t seen = 0;
        CHECK_I64(use(&lab, "first_fit", seed == 1 ? "order_seed=1" : "order_seed=2"), WEIR_OK);
        for (int i = 0; i < 5; i++) {
            first[seed - 1][i] = ask(&lab, &CPU_ONE);
            CHECK(first[seed - 1][i] >= 0);
            seen |= UINT32_C(1) << first[seed - 1][i];
            occupy(&lab, lab.answer.alloc.node, 1, 0);
        }
        CHECK_I64(seen, 31);
        CHECK_I64(ask(&lab, &CPU_ONE), -1);
        close_lab(&lab);
    }
    for (int i = 0; i < 5; i++)
        differences += first[0][i] == first[1][i] ? 0 : 1;
    CHECK(differences > 1);
}

static void steps_make_ties_and_full_precision_none(void)
{
    struct lab lab = open_lab(2, 128, 8);

    occupy(&lab, 1, 1, 0);
    CHECK_I64(use(&lab, "best_fit", "measure=1 steps=100"), WEIR_OK);
    CHECK_I64(ask(&lab, &CPU_ONE), 0);
    CHECK_I64(lab.answer.choice.ties, 2);
    CHECK_I64(use(&lab, "best_fit", "measure=1 steps=0"), WEIR_OK);
    CHECK_I64(ask(&lab, &CPU_ONE), 1);
    CHECK_I64(lab.answer.choice.ties, 1);
    CHECK_I64(use(&lab, "worst_fit", "measure=1 steps=0"), WEIR_OK);
    CHECK_I64(ask(&lab, &CPU_ONE), 0);
    close_lab(&lab);
}

static void node_and_gpu_are_two_choices(void)
{
    struct lab lab = open_lab(1, 8, 3);
    static const struct {
        const char *policy, *rule;
        uint32_t gpu;
    } rows[] = {
        { "first_fit", "", 0 },
        { "first_fit", "device=0", 1 },
        { "first_fit", "device=1", 2 },
        { "worst_fit", "measure=1", 2 },
        { "best_fit", "measure=1", 1 },
        { "worst_fit", "measure=1 device=0", 1 },
        { "power", "", 1 },
        { "power", "device=1", 0 },
        { "alignment", "device=2", 0 },
        { "gpu_clustering", "device=1", 2 },
    };
    const struct weir_alloc held = { .device_count = 2,
                                     .devices = { { .gpu = 0, .units = WEIR_ONE / 4 },
                                                  { .gpu = 1, .units = WEIR_ONE / 2 } } };

    CHECK_I64(weir_cluster_add_worker(lab.cluster, 1, weir_pool_owner(0), &held, NULL), WEIR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_I64(use(&lab, rows[i].policy, rows[i].rule), WEIR_OK);
        CHECK_I64(ask(&lab, &HALF), 0);
        if (!CHECK_I64(lab.answer.alloc.devices[0].gpu, rows[i].gpu))
            printf("    %s %s\n", rows[i].policy, rows[i].rule);
    }
    close_lab(&lab);
}

static void rules_of_grades_need_grades(void)
{
    struct lab lab = open_lab(1, 1, 0);

    CHECK_I64(use(&lab, "fgd_xenna", "tie=3"), WEIR_EINVAL);
    CHECK_STR(lab.error.text, "placement policy fgd_xenna: score change knows the ties most_free, "
                              "most_used and first alone");
    CHECK_I64(use(&lab, "fgd_xenna", "order_seed=1"), WEIR_EINVAL);
    CHECK_STR(lab.error.text, "placement policy fgd_xenna: order_seed needs score grade");
    close_lab(&lab);
}

/* Half of the second GPU is taken. Nobody asks for anything, so that fgd takes the first GPU there
 * is; power takes the one that draws its power already. At equal weights the part named first says
 * which, else the heavier one. */
static void the_heaviest_part_says_which_gpu(void)
{
    static const struct {
        const char *policy, *changes;
        uint32_t gpu;
    } cases[] = {
        { "fgd", "", 0 },
        { "power", "", 1 },
        { "weighted", "fgd=500 power=500", 0 },
        { "weighted", "fgd=500 power=501", 1 },
        { "weighted", "fgd=501 power=500", 0 },
    };
    const struct weir_alloc alloc = { .device_count = 1,
                                      .devices = { { .gpu = 1, .units = WEIR_ONE / 2 } } };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab lab = open_lab(1, 8, 2);
        CHECK_I64(weir_cluster_add_worker(lab.cluster, 1, weir_pool_owner(0), &alloc, NULL),
                  WEIR_OK);
        CHECK_I64(use(&lab, cases[i].policy, cases[i].changes), WEIR_OK);
        CHECK_I64(ask(&lab, &HALF), 0);
        if (!CHECK_I64(lab.answer.alloc.devices[0].gpu, cases[i].gpu))
            (void)printf("    case %zu\n", i);
        close_lab(&lab);
    }
}

/* When nobody asks for anything every GPU is as good for a share as another one: the tightest. */
static void of_equal_gpus_weir_takes_the_tightest(void)
{
    const struct weir_alloc alloc = { .device_count = 1,
                                      .devices = { { .gpu = 1, .units = WEIR_ONE / 4 } } };
    struct lab lab = open_lab(1, 8, 3);

    CHECK_I64(weir_cluster_add_worker(lab.cluster, 1, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    CHECK_I64(use(&lab, "weir", ""), WEIR_OK);
    CHECK_I64(ask(&lab, &HALF), 0);
    CHECK_I64(lab.answer.alloc.devices[0].gpu, 1);
    close_lab(&lab);
}

/* Of two GPUs with as much compute left the second alone has memory. */
static void of_equal_gpus_fgd_takes_the_one_that_can_host_it(void)
{
    const struct weir_gpu_spec gpus[] = { { .units = WEIR_ONE, .mem_bytes = 10 },
                                          { .units = WEIR_ONE, .mem_bytes = 80 } };
    const struct weir_node_spec spec = {
        .size = sizeof spec, .gpu_count = 2, .cpu_units = 8 * WEIR_ONE, .gpus = gpus
    };
    struct lab lab = open_lab(0, 0, 0);
    struct weir_shape share = HALF;

    share.gpu_mem_bytes = 40;
    CHECK_I64(weir_cluster_add_node(lab.cluster, &spec, NULL, NULL), WEIR_OK);
    CHECK_I64(use(&lab, "fgd", ""), WEIR_OK);
    CHECK_I64(ask(&lab, &share), 0);
    CHECK_I64(lab.answer.alloc.devices[0].gpu, 1);
    close_lab(&lab);
}

static const struct test tests[] = {
    { "alignment takes the node that has much of what is asked",
      alignment_takes_the_node_that_has_much_of_what_is_asked },
    { "power goes where the watts flow already", power_goes_where_the_watts_flow_already },
    { "a gpu of unknown watts draws what is assumed",
      a_gpu_of_unknown_watts_draws_what_is_assumed },
    { "power opens a second socket when the first is full",
      power_opens_a_second_socket_when_the_first_is_full },
    { "weighted adds scores on the scales of their authors",
      weighted_adds_scores_on_the_scales_of_their_authors },
    { "every rule for ties names its node", every_rule_for_ties_names_its_node },
    { "a random tie draws evenly and repeatably", a_random_tie_draws_evenly_and_repeatably },
    { "an order seed permutes the nodes", an_order_seed_permutes_the_nodes },
    { "steps make ties and full precision none", steps_make_ties_and_full_precision_none },
    { "node and GPU are two choices", node_and_gpu_are_two_choices },
    { "rules of grades need grades", rules_of_grades_need_grades },
    { "the heaviest part says which GPU", the_heaviest_part_says_which_gpu },
    { "of equal GPUs fgd takes the one that can host it",
      of_equal_gpus_fgd_takes_the_one_that_can_host_it },
    { "of equal GPUs weir takes the tightest", of_equal_gpus_weir_takes_the_tightest },
};
TEST_MAIN(tests)
