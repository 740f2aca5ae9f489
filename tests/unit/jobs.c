/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs on shared GPUs: fragmentation worked out by hand, the target workload, graded placement
 * against its plain form, the curve over arrived demand, and the scenario around them.
 */
#include "sched/internal/params.h"
#include "sched/placement/fgd.h"
#include "sched/placement/policies.h"
#include "sim/cluster/target_frag.h"
#include "sim/lab/arrival_curve.h"
#include "tests/support/check.h"
#include "tests/support/oracle_plain.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLI (WEIR_ONE / 1000)

static struct weir_shape job(int64_t cpu_milli, uint32_t gpus, int64_t gpu_milli)
{
    const bool is_share = gpus == 1 && gpu_milli < 1000;
    return (struct weir_shape){ .kind = gpus == 0  ? WEIR_SHAPE_CPU
                                        : is_share ? WEIR_SHAPE_FRACTIONAL
                                                   : WEIR_SHAPE_WHOLE,
                                .gpu_count = gpus,
                                .cpu_units = cpu_milli * MILLI,
                                .gpu_units = gpu_milli * MILLI };
}

/* ---- F by hand ---- */

/* A node with 8 CPUs and three GPUs of which 1000, 500 and 200 thousandths are free. */
struct hand {
    struct sim_node node;
    struct sim_gpu gpus[3];
    struct sim_cluster cluster;
};

static void open_hand(struct hand *hand, int64_t cpus_free)
{
    *hand = (struct hand){ .node = { .is_up = true,
                                     .gpu_count = 3,
                                     .cpu_total = 8 * WEIR_ONE,
                                     .cpu_held = (8 - cpus_free) * WEIR_ONE },
                           .gpus = { { .type = 2 },
                                     { .type = 2, .units_held = 500 * MILLI },
                                     { .type = 2, .units_held = 800 * MILLI } } };
    hand->cluster = (struct sim_cluster){
        .nodes = &hand->node, .gpus = hand->gpus, .node_count = 1, .gpu_count = 3
    };
}

static double frag_of(int64_t cpus_free, struct weir_shape shape)
{
    struct hand hand;
    double frequency = 1;
    const struct sim_target target = { .shapes = &shape, .frequencies = &frequency, .count = 1 };
    open_hand(&hand, cpus_free);
    return sim_target_frag_milli(&target, &hand.cluster, 0);
}

/* covers: S0.27 S1.134 */
static void fragmentation_is_what_a_job_cannot_use(void)
{
    struct weir_shape typed = job(1000, 1, 100);
    CHECK_NEAR(frag_of(8, job(1000, 0, 0)), 1700, 1e-9);    /* asks for no GPU */
    CHECK_NEAR(frag_of(0, job(1000, 0, 0)), 1700, 1e-9);    /* nor finds CPUs */
    CHECK_NEAR(frag_of(8, job(1000, 1, 100)), 0, 1e-9);     /* fits everywhere */
    CHECK_NEAR(frag_of(8, job(1000, 1, 300)), 200, 1e-9);   /* one GPU is too small */
    CHECK_NEAR(frag_of(8, job(1000, 1, 1000)), 700, 1e-9);  /* two are */
    CHECK_NEAR(frag_of(8, job(1000, 2, 1000)), 1700, 1e-9); /* too few whole ones */
    CHECK_NEAR(frag_of(0, job(1000, 1, 100)), 1700, 1e-9);  /* no CPUs */
    CHECK_NEAR(frag_of(0, job(1000, 2, 1000)), 1700, 1e-9); /* neither */
    typed.gpu_type = WEIR_GPU_TYPE_SET | 1u << 2;
    CHECK_NEAR(frag_of(8, typed), 0, 1e-9);
    typed.gpu_type = WEIR_GPU_TYPE_SET | 1u << 1; /* another model */
    CHECK_NEAR(frag_of(8, typed), 1700, 1e-9);
}

/* A GPU with half of its compute and 20 of 80 GB free, and an empty one of 10 GB. */
static void gpu_memory_too_small_is_a_gpu_too_small(void)
{
    struct hand hand;
    struct weir_shape shape = job(1000, 1, 250);
    double frequency = 1;
    const struct sim_target target = { .shapes = &shape, .frequencies = &frequency, .count = 1 };
    open_hand(&hand, 8);
    hand.node.gpu_count = 2;
    hand.gpus[0] =
        (struct sim_gpu){ .units_held = 500 * MILLI, .mem_total_bytes = 80, .mem_used_bytes = 60 };
    hand.gpus[1] = (struct sim_gpu){ .mem_total_bytes = 10 };
    CHECK_NEAR(sim_target_frag_milli(&target, &hand.cluster, 0), 0, 1e-9);
    shape.gpu_mem_bytes = 20;
    CHECK_NEAR(sim_target_frag_milli(&target, &hand.cluster, 0), 1000, 1e-9);
    shape.gpu_mem_bytes = 30;
    CHECK_NEAR(sim_target_frag_milli(&target, &hand.cluster, 0), 1500, 1e-9);
}

static void a_set_of_types_accepts_its_members(void)
{
    struct weir_shape shape = job(0, 1, 500);
    CHECK(weir_shape_takes_type(&shape, 0) && weir_shape_takes_type(&shape, 40));
    shape.gpu_type = 3;
    CHECK(weir_shape_takes_type(&shape, 2) && !weir_shape_takes_type(&shape, 3));
    shape.gpu_type = WEIR_GPU_TYPE_SET | 1u << 0 | 1u << 30;
    CHECK(weir_shape_takes_type(&shape, 0) && weir_shape_takes_type(&shape, 30));
    CHECK(!weir_shape_takes_type(&shape, 1) && !weir_shape_takes_type(&shape, 31));
    shape.gpu_type = WEIR_GPU_TYPE_SET; /* models the cluster does not have */
    CHECK(!weir_shape_takes_type(&shape, 0));
}

/* ---- target ---- */

static void the_target_covers_the_most_frequent_kinds(void)
{
    struct sim_job_spec jobs[10];
    for (int i = 0; i < 10; i++)
        jobs[i] = (struct sim_job_spec){ .shape = job(1000, 1, 500), .models = "" };
    jobs[7].shape = job(2000, 0, 0);
    jobs[8].shape = job(2000, 0, 0);
    jobs[9].shape.ram_bytes = 77; /* memory makes no other kind */
    jobs[3].models = "A|B";
    struct sim_workload workload = {
        .jobs = jobs, .jobs_count = 10, .target_frac = 0.8, .target_has_cpu_jobs = true
    };
    struct sim_target target;
    CHECK_I64(sim_target_create(&workload, &target), WEIR_OK);
    CHECK_I64(target.distinct, 3);
    CHECK_I64(target.count, 2); /* 7 + 2 of 10 */
    CHECK_NEAR(target.frequencies[0], 7.0 / 9, 1e-12);
    CHECK_NEAR(target.frequencies[1], 2.0 / 9, 1e-12);
    CHECK_I64(target.shapes[1].kind, WEIR_SHAPE_CPU);
    sim_target_clear(&target);
    jobs[4].shape.gpu_mem_bytes = 30; /* memory of the GPU does, and so do engines */
    jobs[5].shape.nvdecs = 1;
    jobs[6].shape.nvencs = 1;
    CHECK_I64(sim_target_create(&workload, &target), WEIR_OK);
    CHECK_I64(target.distinct, 6);
    sim_target_clear(&target);
    jobs[4].shape = jobs[5].shape = jobs[6].shape = jobs[0].shape;
    workload.target_has_cpu_jobs = false;
    workload.target_frac = 1;
    CHECK_I64(sim_target_create(&workload, &target), WEIR_OK);
    CHECK_I64(target.count, 2);
    CHECK_NEAR(target.frequencies[0], 7.0 / 8, 1e-12);
    sim_target_clear(&target);
}

/* ---- graded placement ---- */

static uint32_t next_draw(uint64_t *state, uint32_t count)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % count;
}

enum { NODES = 40, SHAPES = 7 }; /* blocks of three levels, one of them empty */

static struct weir_cluster *small_cluster(uint64_t *draws)
{
    struct weir_cluster *cluster = NULL;
    struct weir_gpu_spec gpus[8];
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < NODES; n++) {
        const uint32_t count = next_draw(draws, 3) * 4;
        const uint32_t type = next_draw(draws, 3);
        for (uint32_t g = 0; g < count; g++)
            gpus[g] = (struct weir_gpu_spec){ .type = type, .units = WEIR_ONE };
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = count,
                                             .cpu_units = 32 * WEIR_ONE,
                                             .ram_bytes = 1000,
                                             .gpus = gpus };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return cluster;
}

/* One question to both forms, and its answer applied; the worker's id, 0 when nothing fits. */
struct duel {
    struct weir_cluster *cluster;
    struct weir_grades *grades;
    struct weir_grader grader;
    struct weir_mix mix;
    uint64_t next_worker;
};

/* Every node takes part or says why not. */
static uint32_t counted(const struct weir_choice *choice)
{
    uint32_t sum = choice->candidates;
    for (uint32_t r = 0; r < WEIR_REASON_COUNT; r++)
        sum += choice->rejected[r];
    return sum;
}

static void ask_both(struct duel *duel, const struct weir_shape *shape)
{
    const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                            .cluster = duel->cluster,
                                            .mix = &duel->mix,
                                            .shape = shape,
                                            .seed = duel->next_worker };
    struct weir_place_answer kept;
    struct weir_place_answer plain;
    const weir_status status = weir_grades_place(duel->grades, &duel->grader, &query, &kept, NULL);
    CHECK_I64(status, plain_grades_place(&duel->grader, &query, &plain, NULL));
    CHECK_I64(kept.choice.ties, plain.choice.ties);
    CHECK_I64(counted(&kept.choice), NODES);
    CHECK_I64(kept.choice.candidates, plain.choice.candidates);
    if (status != WEIR_OK)
        return;
    CHECK_I64(kept.alloc.node, plain.alloc.node);
    CHECK_I64(kept.alloc.device_count, plain.alloc.device_count);
    CHECK_I64(memcmp(kept.alloc.devices, plain.alloc.devices,
                     kept.alloc.device_count * sizeof kept.alloc.devices[0]),
              0);
    CHECK_NEAR(kept.choice.primary, plain.choice.primary, 0.0);
    CHECK_NEAR(kept.choice.secondary, plain.choice.secondary, 0.0);
    /* Of equal runners-up either may be named. */
    CHECK_NEAR(kept.choice.runner_up_primary, plain.choice.runner_up_primary, 0.0);
    CHECK_NEAR(kept.choice.runner_up_secondary, plain.choice.runner_up_secondary, 0.0);
    CHECK_I64(weir_cluster_add_worker(duel->cluster, duel->next_worker++, weir_pool_owner(0),
                                      &kept.alloc, NULL),
              WEIR_OK);
}

static void duel_of(struct weir_grader grader, uint64_t seed)
{
    struct weir_shape shapes[SHAPES] = { job(1000, 0, 0),   job(500, 1, 250),   job(2000, 1, 500),
                                         job(500, 1, 810),  job(1000, 1, 1000), job(4000, 2, 1000),
                                         job(8000, 4, 1000) };
    const double frequencies[SHAPES] = { 0.1, 0.2, 0.2, 0.1, 0.2, 0.1, 0.1 };
    uint64_t draws = seed;
    struct duel duel = { .cluster = small_cluster(&draws),
                         .grader = grader,
                         .mix = { shapes, frequencies, SHAPES, 0 },
                         .next_worker = 1 };
    CHECK_I64(weir_grades_create(NULL, &duel.grades), WEIR_OK);
    shapes[2].gpu_type = WEIR_GPU_TYPE_SET | 3;
    shapes[3].ram_bytes = 300;
    shapes[6].ram_bytes = 90;
    for (int i = 0; i < 400; i++) {
        ask_both(&duel, &shapes[next_draw(&draws, SHAPES)]);
        const uint64_t leaver = next_draw(&draws, 200);
        if (leaver > 0 && next_draw(&draws, 2) == 0)
            (void)weir_cluster_remove_worker(duel.cluster, leaver, NULL);
        if (i == 200)
            duel.mix.count = SHAPES - 1; /* another mix: everything is graded anew */
    }
    CHECK(duel.next_worker > 50);
    weir_grades_destroy(duel.grades);
    weir_cluster_destroy(duel.cluster);
}

/* covers: S0.25 S0.28 */
static void kept_grades_equal_plain_ones(void)
{
    struct weir_fgd_rules rules = { .metric = WEIR_FRAG_PAPER,
                                    .score = WEIR_FGD_SCORE_GRADE,
                                    .steps = 100 };
    for (uint64_t seed = 1; seed <= WEIR_FGD_TIE_COUNT; seed++) {
        rules.device_score = seed % 2 == 0 ? WEIR_FGD_DEVICE_FULL : WEIR_FGD_DEVICE_CUT;
        rules.tie = (uint32_t)seed - 1;
        rules.steps = seed % 5 == 0 ? 0 : 100;
        rules.order_seed = seed % 3;
        duel_of(weir_fgd_grader(&rules), seed);
    }
}

static void kept_grades_of_every_policy_equal_plain_ones(void)
{
    static const uint32_t policies[] = { WEIR_GRADED_BEST_FIT,    WEIR_GRADED_DOT_PRODUCT,
                                         WEIR_GRADED_GPU_PACKING, WEIR_GRADED_GPU_CLUSTERING,
                                         WEIR_GRADED_ALIGNMENT,   WEIR_GRADED_POWER };
    for (size_t k = 0; k < sizeof policies / sizeof policies[0]; k++) {
        const struct weir_graded_kind *const kind = &weir_graded_kinds[policies[k]];
        double values[16];
        weir_params_read(kind->params, kind->count, NULL, values);
        for (uint32_t tie = 0; tie < WEIR_TIE_COUNT; tie += 4) {
            values[kind->tie] = tie;
            duel_of(weir_graded_grader(kind, values), k + 1);
        }
    }
}

/* Both nodes have the same left, one from a worker of two GPUs, the other one from two of one. */
static void equal_nodes_with_other_workers_are_graded_apart(void)
{
    const struct weir_graded_kind *const kind = &weir_graded_kinds[WEIR_GRADED_GPU_CLUSTERING];
    const struct weir_gpu_spec gpu = { .units = WEIR_ONE };
    const struct weir_gpu_spec gpus[4] = { gpu, gpu, gpu, gpu };
    const struct weir_shape shapes[] = { job(2000, 2, 1000), job(1000, 1, 1000) };
    struct duel duel = { .next_worker = 10 };
    double values[16];
    weir_params_read(kind->params, kind->count, NULL, values);
    duel.grader = weir_graded_grader(kind, values);
    CHECK_I64(weir_cluster_create(NULL, &duel.cluster), WEIR_OK);
    CHECK_I64(weir_grades_create(NULL, &duel.grades), WEIR_OK);
    for (uint32_t n = 0; n < 2; n++) {
        const struct weir_node_spec spec = {
            .size = sizeof spec, .id = n, .gpu_count = 4, .cpu_units = 8 * WEIR_ONE, .gpus = gpus
        };
        CHECK_I64(weir_cluster_add_node(duel.cluster, &spec, NULL, NULL), WEIR_OK);
    }
    for (uint32_t w = 0; w < 3; w++) {
        struct weir_alloc alloc;
        CHECK_I64(weir_place_first(duel.cluster, w > 0, &shapes[w > 0], &alloc), WEIR_OK);
        CHECK_I64(weir_cluster_add_worker(duel.cluster, w, weir_pool_owner(0), &alloc, NULL),
                  WEIR_OK);
    }
    const struct weir_place_query query = {
        .size = sizeof query, .cluster = duel.cluster, .mix = &duel.mix, .shape = &shapes[1]
    };
    struct weir_place_answer answer;
    CHECK_I64(weir_grades_place(duel.grades, &duel.grader, &query, &answer, NULL), WEIR_OK);
    CHECK_I64(answer.alloc.node, 1);
    weir_grades_destroy(duel.grades);
    weir_cluster_destroy(duel.cluster);
}

static void a_chooser_refuses_what_a_policy_may_not_be_asked(void)
{
    struct weir_chooser *chooser = NULL;
    struct weir_error error = { .phase = -1 };
    const struct weir_placement_ops *const fgd = weir_placement_find("fgd_xenna");
    double values[16];
    for (uint32_t i = 0; i < fgd->param_count; i++)
        values[i] = fgd->params[i].initial;
    values[weir_param_find(fgd->params, fgd->param_count, "score")] = WEIR_FGD_SCORE_GRADE;
    const struct weir_params params = { .values = values, .count = fgd->param_count };
    CHECK_I64(weir_chooser_create(fgd, &params, NULL, &chooser, &error), WEIR_EINVAL);
    CHECK_STR(error.text, "placement policy fgd_xenna: score grade needs metric paper");
    CHECK(chooser == NULL);
}

/* ---- the curve ---- */

static void the_curve_rounds_half_to_even(void)
{
    struct sim_arrival_curve curve = { .gpus = 10 };
    const int64_t arrived[] = { 40, 50, 150, 160 }; /* 0.4, 0.5, 1.5 and 1.6 percent */
    for (int i = 0; i < 4; i++) {
        const struct sim_arrival_state state = { .arrived_milli = (double)arrived[i],
                                                 .used_milli = (double)arrived[i],
                                                 .frag_milli = 10.006,
                                                 .failed = (uint64_t)i };
        CHECK_I64(sim_arrival_curve_add(&curve, &state), WEIR_OK);
    }
    CHECK_I64(curve.count, 3);
    CHECK_I64(sim_arrival_curve_at(&curve, 0).events, 2);
    CHECK_NEAR(sim_arrival_curve_at(&curve, 0).alloc_pct, 0.45, 1e-12);
    CHECK_NEAR(sim_arrival_curve_at(&curve, 0).frag_pct, 0.1, 1e-12);
    CHECK_I64(sim_arrival_curve_at(&curve, 2).failed, 3);
    CHECK_I64(sim_arrival_curve_at(&curve, 1).events, 4); /* empty: its neighbours stand in */
    CHECK(isnan(sim_arrival_curve_at(&curve, 9).alloc_pct));
    sim_arrival_curve_clear(&curve);
}

/* Ten thousand arrivals of a tenth of a percent each: every percent has its ten, and their mean. */
static void a_long_curve_keeps_all_its_arrivals(void)
{
    struct sim_arrival_curve curve = { .gpus = 10 };
    for (int i = 0; i < 10000; i++) {
        const struct sim_arrival_state state = { .arrived_milli = i * 10.0,
                                                 .used_milli = (i % 1000) * 10.0,
                                                 .failed = (uint64_t)i };
        CHECK_I64(sim_arrival_curve_add(&curve, &state), WEIR_OK);
    }
    for (size_t x = 1; x < 999; x++) { /* from x - 0.5 on, halves to the even one */
        const bool is_even = x % 2 == 0;
        const int first = (int)x * 10 - (is_even ? 5 : 4);
        const int count = is_even ? 11 : 9;
        double sum = 0;
        for (int i = first; i < first + count; i++)
            sum += (i % 1000) / 10.0;
        CHECK_I64(sim_arrival_curve_at(&curve, x).events, count);
        CHECK_I64(sim_arrival_curve_at(&curve, x).failed, first + count - 1);
        CHECK_NEAR(sim_arrival_curve_at(&curve, x).alloc_pct, sum / count, 0.006);
    }
    sim_arrival_curve_clear(&curve);
}

/* ---- the scenario ---- */

static void mistakes_of_a_job_scenario_are_reported(void)
{
    static const char *const texts[] = {
        "schema: 1\nname: x\ncluster: {nodes: [{name: a, cpus: 4}]}\n",
        "schema: 1\nname: x\ncluster: {nodes_file: /no}\nworkloads: [{pods: /x, name: a}]\n",
        "schema: 1\nname: x\ncluster: {nodes: [{name: a, cpus: 4}]}\nworkloads: [{name: a}]\n",
    };
    static const char *const expected[] = {
        "there is no work: give pipelines, jobs, actors, or a fill",
        "/no: ", "needs trace or classes: where its jobs come from"
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct sim_scenario *scenario = NULL;
        struct sim_diagnostics diagnostics = { 0 };
        const struct sim_scenario_source source = { .path = "x.yaml", .text = texts[i] };
        bool is_said = false;
        CHECK_I64(sim_scenario_load(&source, &scenario, &diagnostics), WEIR_EFORMAT);
        for (size_t d = 0; d < diagnostics.count; d++)
            is_said |= strstr(diagnostics.items[d].message, expected[i]) != NULL;
        CHECK_STR(is_said ? "" : expected[i], "");
        sim_diagnostics_clear(&diagnostics);
    }
}

static const struct test tests[] = {
    { "a long curve keeps all its arrivals", a_long_curve_keeps_all_its_arrivals },
    { "fragmentation is what a job cannot use", fragmentation_is_what_a_job_cannot_use },
    { "GPU memory too small is a GPU too small", gpu_memory_too_small_is_a_gpu_too_small },
    { "a set of types accepts its members", a_set_of_types_accepts_its_members },
    { "the target covers the most frequent kinds", the_target_covers_the_most_frequent_kinds },
    { "kept grades equal plain ones", kept_grades_equal_plain_ones },
    { "kept grades of every policy equal plain ones",
      kept_grades_of_every_policy_equal_plain_ones },
    { "equal nodes with other workers are graded apart",
      equal_nodes_with_other_workers_are_graded_apart },
    { "a chooser refuses parameters that do not go together",
      a_chooser_refuses_what_a_policy_may_not_be_asked },
    { "the curve rounds half to even and fills gaps", the_curve_rounds_half_to_even },
    { "mistakes of a scenario with jobs are reported", mistakes_of_a_job_scenario_are_reported },
};
TEST_MAIN(tests)
