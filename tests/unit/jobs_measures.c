/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the static experiment measures, worked out by hand: the buckets of F, memory beside them,
 * electric power, why GPUs stay unallocated and what would help.
 */
#include "sim/cluster/target_frag.h"
#include "sim/lab/arrival_curve.h"
#include "sim/lab/free_room.h"
#include "sim/lab/job_kinds.h"
#include "sim/lab/measures.h"
#include "sim/lab/unallocated.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#define MILLI (WEIR_ONE / 1000)
#define GIB   INT64_C(1073741824)

enum { NODES = 3, GPUS_PER_NODE = 2, GPUS = NODES * GPUS_PER_NODE };

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

/* Three nodes of 8 CPUs, 16 GiB and two GPUs; types 0, 0 and 1. All of it free. */
struct lab {
    struct sim_node nodes[NODES];
    struct sim_gpu gpus[GPUS];
    struct sim_cluster cluster;
    char names[2][8];
    struct sim_gpu_type types[2];
    struct sim_scenario scenario;
};

static void open_lab(struct lab *lab)
{
    *lab = (struct lab){ .names = { "red", "blue" } };
    lab->types[0] = (struct sim_gpu_type){ .name = lab->names[0], .idle_w = 10, .limit_w = 70 };
    lab->types[1] = (struct sim_gpu_type){ .name = lab->names[1], .idle_w = 25, .limit_w = 250 };
    lab->scenario = (struct sim_scenario){ .gpu_types = lab->types,
                                           .gpu_truth = lab->types,
                                           .gpu_types_count = 2,
                                           .power = { .cpus_per_core = 2,
                                                      .cores_per_socket = 2,
                                                      .socket_idle_w = 20,
                                                      .socket_full_w = 165 } };
    for (uint32_t n = 0; n < NODES; n++) {
        lab->nodes[n] = (struct sim_node){ .is_up = true,
                                           .gpu_first = n * GPUS_PER_NODE,
                                           .gpu_count = GPUS_PER_NODE,
                                           .cpu_total = 8 * WEIR_ONE,
                                           .ram_total_bytes = 16 * GIB };
        lab->gpus[2 * n].type = lab->gpus[2 * n + 1].type = n == 2 ? 1 : 0;
    }
    lab->cluster = (struct sim_cluster){ .scenario = &lab->scenario,
                                         .nodes = lab->nodes,
                                         .gpus = lab->gpus,
                                         .node_count = NODES,
                                         .gpu_count = GPUS };
}

static void hold(struct lab *lab, uint32_t node, int64_t cpus, int64_t first_milli,
                 int64_t second_milli)
{
    lab->nodes[node].cpu_held = cpus * WEIR_ONE;
    lab->gpus[2 * node].units_held = first_milli * MILLI;
    lab->gpus[2 * node + 1].units_held = second_milli * MILLI;
}

/* ---- buckets ---- */

/* The buckets of one node with 400 and 1000 thousandths free, against one kind. */
static struct sim_buckets buckets_of(int64_t cpus_free, struct weir_shape shape, int64_t ram_bytes)
{
    struct lab lab;
    struct sim_buckets buckets;
    double frequency = 1;
    const struct sim_target target = {
        .shapes = &shape, .frequencies = &frequency, .ram_bytes = &ram_bytes, .count = 1
    };
    open_lab(&lab);
    hold(&lab, 0, 8 - cpus_free, 600, 0);
    lab.nodes[0].ram_used_bytes = 12 * GIB;
    const double frag = sim_target_buckets(&target, &lab.cluster, 0, &buckets);
    double sum = 0;
    for (int b = 0; b < SIM_BUCKET_Q3; b++)
        sum += buckets.milli[b];
    CHECK_NEAR(frag, sum, 1e-9);
    CHECK_NEAR(frag, sim_target_frag_milli(&target, &lab.cluster, 0), 0);
    CHECK_NEAR(frag + buckets.milli[SIM_BUCKET_Q3], 1400, 1e-9); /* all that is free */
    return buckets;
}

/* covers: S0.27 */
static void every_bucket_gets_its_own(void)
{
    struct weir_shape other = job(1000, 1, 500);
    other.gpu_type = 2; /* type 1 alone */
    CHECK_NEAR(buckets_of(0, job(1000, 2, 1000), 0).milli[SIM_BUCKET_Q1], 1400, 1e-9);
    CHECK_NEAR(buckets_of(8, job(1000, 2, 1000), 0).milli[SIM_BUCKET_Q2], 1400, 1e-9);
    CHECK_NEAR(buckets_of(8, job(1000, 1, 500), 0).milli[SIM_BUCKET_Q2], 400, 1e-9);
    CHECK_NEAR(buckets_of(8, job(1000, 1, 500), 0).milli[SIM_BUCKET_Q3], 1000, 1e-9);
    CHECK_NEAR(buckets_of(0, job(1000, 1, 500), 0).milli[SIM_BUCKET_Q4], 1400, 1e-9);
    CHECK_NEAR(buckets_of(8, job(1000, 0, 0), 0).milli[SIM_BUCKET_XL], 1400, 1e-9);
    CHECK_NEAR(buckets_of(0, job(1000, 0, 0), 0).milli[SIM_BUCKET_XR], 1400, 1e-9);
    CHECK_NEAR(buckets_of(8, other, 0).milli[SIM_BUCKET_NA], 1400, 1e-9);
}

static void memory_stands_beside_the_buckets(void)
{
    CHECK_NEAR(buckets_of(8, job(1000, 1, 500), 4 * GIB).milli[SIM_BUCKET_MEMORY], 0, 1e-9);
    CHECK_NEAR(buckets_of(8, job(1000, 1, 500), 5 * GIB).milli[SIM_BUCKET_MEMORY], 1000, 1e-9);
    CHECK_NEAR(buckets_of(8, job(1000, 1, 500), 5 * GIB).milli[SIM_BUCKET_Q3], 1000, 1e-9);
    CHECK_NEAR(buckets_of(0, job(1000, 1, 500), 5 * GIB).milli[SIM_BUCKET_MEMORY], 0, 1e-9);
}

static void a_kind_has_the_memory_of_its_middle_job(void)
{
    struct sim_job_spec jobs[5];
    static const int64_t gib[] = { 9, 1, 7, 30, 2 };
    for (int i = 0; i < 5; i++) {
        jobs[i] = (struct sim_job_spec){ .shape = job(1000, 1, 500), .models = "" };
        jobs[i].shape.ram_bytes = gib[i] * GIB;
    }
    const struct sim_workload workload = {
        .jobs = jobs, .jobs_count = 5, .target_frac = 1, .target_has_cpu_jobs = true
    };
    struct sim_target target;
    CHECK_I64(sim_target_create(&workload, &target), WEIR_OK);
    CHECK_I64(target.count, 1);
    CHECK_I64(target.ram_bytes[0], 7 * GIB);
    CHECK_I64(target.shapes[0].ram_bytes, 0);
    sim_target_clear(&target);
}

static void sums_follow_single_nodes_without_drift(void)
{
    struct lab lab;
    struct sim_measures kept;
    struct sim_measures fresh;
    struct weir_shape shapes[] = { job(1500, 1, 370), job(3000, 1, 1000), job(500, 0, 0) };
    double frequencies[] = { 0.3, 0.4, 0.3 };
    const struct sim_target target = { .shapes = shapes, .frequencies = frequencies, .count = 3 };
    open_lab(&lab);
    CHECK_I64(sim_measures_create(&kept, &target, &lab.cluster), WEIR_OK);
    CHECK_I64(sim_measures_create(&fresh, &target, &lab.cluster), WEIR_OK);
    for (uint32_t n = 0; n < NODES; n++)
        sim_measures_update(&kept, n, n);
    for (int64_t step = 0; step < 1000; step++) {
        hold(&lab, (uint32_t)step % NODES, step % 9, step * 37 % 1001, step * 91 % 1001);
        sim_measures_update(&kept, (uint32_t)step % NODES, (uint32_t)step % NODES);
    }
    for (uint32_t n = 0; n < NODES; n++)
        sim_measures_update(&fresh, n, n);
    for (uint32_t p = 0; p < SIM_PARTS; p++)
        CHECK_NEAR(sim_measures_part(&kept, p), sim_measures_part(&fresh, p), 0);
    double sum = 0;
    for (uint32_t b = 0; b < SIM_BUCKET_Q3; b++)
        sum += sim_measures_part(&kept, b);
    CHECK_NEAR(sum, sim_measures_part(&kept, SIM_PART_FRAG), 1e-4);
    sim_measures_clear(&kept);
    sim_measures_clear(&fresh);
}

/* ---- power ---- */

static void power_counts_touched_gpus_and_full_sockets(void)
{
    struct lab lab;
    open_lab(&lab);
    struct sim_power_draw draw = sim_power_node(&lab.cluster, 0);
    CHECK_NEAR(draw.gpu_w, 20, 1e-9);
    CHECK_NEAR(draw.cpu_w, 40, 1e-9); /* 8 CPUs = 4 cores = 2 sockets */
    hold(&lab, 0, 1, 10, 0);          /* half a core opens a socket, a hundredth a GPU */
    draw = sim_power_node(&lab.cluster, 0);
    CHECK_NEAR(draw.gpu_w, 80, 1e-9);
    CHECK_NEAR(draw.cpu_w, 185, 1e-9);
    hold(&lab, 0, 4, 1000, 1000);
    draw = sim_power_node(&lab.cluster, 0);
    CHECK_NEAR(draw.gpu_w, 140, 1e-9);
    CHECK_NEAR(draw.cpu_w, 185, 1e-9);
    hold(&lab, 2, 5, 0, 1000);
    draw = sim_power_node(&lab.cluster, 2);
    CHECK_NEAR(draw.gpu_w, 275, 1e-9);
    CHECK_NEAR(draw.cpu_w, 330, 1e-9);
}

/* ---- unallocated ---- */

static void ask(const struct lab *lab, struct weir_shape shape, uint64_t refused,
                double arrived_gpus, struct sim_unallocated *answer)
{
    uint32_t row = 0;
    const struct sim_job_kinds kinds = { .shapes = &shape, .count = 1, .of_row = &row };
    const struct sim_unallocated_question question = { .scenario = &lab->scenario,
                                                       .cluster = &lab->cluster,
                                                       .kinds = &kinds,
                                                       .refused = &refused,
                                                       .arrived_gpus = arrived_gpus };
    CHECK_I64(sim_unallocated_compute(&question, answer), WEIR_OK);
}

static double sum_of(const struct sim_unallocated *answer)
{
    double sum = 0;
    for (int c = 0; c < SIM_CAUSES; c++)
        sum += answer->gpus[c];
    return sum;
}

/* covers: S1.37 */
static void unallocated_gpus_are_split_by_what_keeps_jobs_away(void)
{
    struct lab lab;
    open_lab(&lab);
    hold(&lab, 0, 8, 1000, 0);  /* 1 free, no CPUs */
    hold(&lab, 1, 0, 700, 0);   /* 0.3 and 1 free */
    hold(&lab, 2, 0, 1000, 50); /* 0.95 free */
    struct sim_unallocated answer;
    ask(&lab, job(1000, 2, 1000), 5, 100, &answer);
    CHECK_NEAR(answer.gpus[SIM_CAUSE_GANG], 2, 1e-9); /* one whole GPU each is too few */
    CHECK_NEAR(answer.gpus[SIM_CAUSE_FRACTION], 1.25, 1e-9);
    CHECK_NEAR(sum_of(&answer), 3.25, 1e-9);
    struct weir_shape red = job(1000, 1, 1000);
    red.gpu_type = 1;
    hold(&lab, 1, 8, 700, 0);
    ask(&lab, red, 5, 100, &answer);
    CHECK_NEAR(answer.gpus[SIM_CAUSE_MODEL], 0.95, 1e-9);
    CHECK_NEAR(answer.gpus[SIM_CAUSE_CPU], 2, 1e-9);
    CHECK_NEAR(answer.gpus[SIM_CAUSE_FRACTION], 0.3, 1e-9);
    red.cpu_units = 0;
    red.ram_bytes = 17 * GIB;
    ask(&lab, red, 5, 100, &answer);
    CHECK_NEAR(answer.gpus[SIM_CAUSE_MEMORY], 2, 1e-9);
}

static void what_nobody_asked_for_has_no_demand(void)
{
    struct lab lab;
    open_lab(&lab);
    struct sim_unallocated answer;
    ask(&lab, job(1000, 1, 1000), 0, 0, &answer);
    CHECK_NEAR(answer.gpus[SIM_CAUSE_NO_DEMAND], 6, 1e-9);
    CHECK_I64(answer.change_count, 0);
    hold(&lab, 0, 8, 0, 0);
    hold(&lab, 1, 8, 0, 0);
    hold(&lab, 2, 8, 0, 0);
    ask(&lab, job(1000, 1, 1000), 2, 2, &answer); /* 4 of the 6 were never asked for */
    CHECK_NEAR(answer.gpus[SIM_CAUSE_NO_DEMAND], 4, 1e-9);
    CHECK_NEAR(answer.gpus[SIM_CAUSE_CPU], 2, 1e-9);
}

static const struct sim_change *find_change(const struct sim_unallocated *answer, const char *text)
{
    for (uint32_t i = 0; i < answer->change_count; i++)
        if (strcmp(answer->changes[i].text, text) == 0)
            return &answer->changes[i];
    return NULL;
}

static double freed_by(const struct sim_unallocated *answer, const char *text)
{
    const struct sim_change *change = find_change(answer, text);
    return change == NULL ? 0 : change->gpus_freed;
}

static void a_change_frees_what_refused_jobs_then_get(void)
{
    struct lab lab;
    open_lab(&lab);
    hold(&lab, 0, 7, 0, 0);
    hold(&lab, 1, 7, 0, 1000);
    hold(&lab, 2, 7, 1000, 1000);
    /* One CPU is left where two are needed for a GPU: 3 GPUs of red nodes could be used. */
    struct sim_unallocated answer;
    ask(&lab, job(2000, 1, 1000), 10, 100, &answer);
    CHECK_NEAR(freed_by(&answer, "+4 CPUs on 2 red nodes"), 3, 1e-9);
    CHECK_I64(answer.changes[0].nodes, 2);
    ask(&lab, job(2000, 1, 1000), 2, 100, &answer); /* two jobs need fewer */
    CHECK_NEAR(freed_by(&answer, "+1 CPU on 2 red nodes"), 2, 1e-9);
}

/* What keeps the first kind away, whatever is changed, does not keep the second. */
static void a_kind_that_gets_nothing_stands_for_no_smaller_one(void)
{
    struct weir_shape large[] = { job(2000, 1, 1000), job(2000, 1, 1000), job(2000, 1, 1000),
                                  job(2000, 9, 1000), job(2000, 1, 1000), job(2000000, 1, 1000) };
    struct sim_unallocated *alone = calloc(2, sizeof *alone);
    struct sim_unallocated *both = alone + 1;
    struct lab lab;
    open_lab(&lab);
    for (uint32_t n = 0; n < NODES; n++)
        hold(&lab, n, 7, 0, 100);
    large[0].ram_bytes = INT64_MAX;
    large[1].gpu_mem_bytes = INT64_MAX;
    large[2].gpu_type = 3; /* of no node */
    large[4].gpu_units = WEIR_ONE + 1;
    for (size_t i = 0; alone != NULL && i < sizeof large / sizeof large[0]; i++) {
        struct weir_shape shapes[] = { large[i], job(2500, 1, 1000) };
        const uint64_t refused[] = { 3, 10 };
        uint32_t rows[] = { 0, 1 };
        const struct sim_job_kinds kinds = { .shapes = shapes, .count = 2, .of_row = rows };
        const struct sim_unallocated_question question = { .scenario = &lab.scenario,
                                                           .cluster = &lab.cluster,
                                                           .kinds = &kinds,
                                                           .refused = refused,
                                                           .arrived_gpus = 100 };
        ask(&lab, shapes[1], 10, 100, alone);
        CHECK_I64(sim_unallocated_compute(&question, both), WEIR_OK);
        CHECK(alone->change_count > 0);
        for (uint32_t c = 0; c < alone->change_count; c++)
            CHECK_NEAR(freed_by(both, alone->changes[c].text), alone->changes[c].gpus_freed, 1e-9);
    }
    free(alone);
}

static void other_rules_free_gpus_too(void)
{
    struct lab lab;
    open_lab(&lab);
    hold(&lab, 0, 0, 500, 500);
    hold(&lab, 1, 0, 0, 1000);
    hold(&lab, 2, 0, 0, 1000);
    struct sim_unallocated answer;
    ask(&lab, job(1000, 2, 1000), 5, 100, &answer);
    CHECK_NEAR(freed_by(&answer, "jobs of several GPUs that may span nodes"), 2, 1e-9);
    /* One GPU and half of the CPUs and memory on each node: what one part of two asks for. */
    for (uint32_t n = 0; n < NODES; n++)
        hold(&lab, n, 6, 0, 1000);
    struct weir_shape pair = job(4000, 2, 1000);
    pair.ram_bytes = 32 * GIB;
    ask(&lab, pair, 5, 100, &answer);
    CHECK_NEAR(freed_by(&answer, "jobs of several GPUs that may span nodes"), 2, 1e-9);
    hold(&lab, 0, 0, 500, 500);
    hold(&lab, 2, 0, 0, 1000);
    struct weir_shape red = job(1000, 1, 1000);
    red.gpu_type = 1;
    hold(&lab, 1, 0, 1000, 1000);
    ask(&lab, red, 5, 100, &answer);
    CHECK_NEAR(freed_by(&answer, "jobs that accept any GPU model"), 1, 1e-9);
    CHECK_NEAR(freed_by(&answer, "the free parts of each node's GPUs joined"), 1, 1e-9);
    CHECK_I64(answer.change_count, 2);
}

static void a_part_goes_to_the_fullest_gpu_that_has_room(void)
{
    struct lab lab;
    struct sim_free_room room;
    const struct weir_shape half = job(1000, 1, 500);
    const struct weir_shape whole = job(1000, 1, 1000);
    open_lab(&lab);
    lab.gpus[1].units_held = 500 * MILLI;
    CHECK_I64(sim_free_room_create(&lab.cluster, &room), WEIR_OK);
    CHECK(sim_free_room_take(&room, 0, &half));
    CHECK_I64(room.gpu_units[0], WEIR_ONE);
    CHECK_I64(room.gpu_units[1], 0);
    CHECK(sim_free_room_take(&room, 0, &whole));
    CHECK(!sim_free_room_take(&room, 0, &half));
    sim_free_room_clear(&room);
}

/* Whoever asks for something else, if only for another model, is of another kind. */
static void kinds_differ_by_all_that_is_asked_for(void)
{
    struct sim_job_spec jobs[12] = { 0 };
    struct sim_workload workload = { .jobs = jobs, .jobs_count = 12 };
    struct sim_job_kinds kinds;
    for (size_t i = 0; i < 12; i++)
        jobs[i].shape = job(1000, 1, 1000);
    jobs[1].shape.gpu_units = 500 * MILLI;
    jobs[2].shape.gpu_count = 2;
    jobs[3].shape.cpu_units = 2000 * MILLI;
    jobs[4].shape.ram_bytes = GIB;
    jobs[5].shape.gpu_mem_bytes = GIB;
    jobs[6].shape.nvdecs = 1;
    jobs[7].shape.nvencs = 1;
    jobs[8].shape.kind = WEIR_SHAPE_ENTIRE;
    jobs[9].shape.gpu_type = 1;
    jobs[10].shape.gpu_type = 2;
    CHECK_I64(sim_job_kinds_create(&workload, &kinds), WEIR_OK);
    CHECK_I64(kinds.count, 11);
    CHECK_I64(kinds.of_row[11], kinds.of_row[0]);
    for (size_t i = 1; i < 11; i++)
        CHECK(kinds.of_row[i] != kinds.of_row[i - 1]);
    sim_job_kinds_clear(&kinds);
}

static void a_point_of_a_curve_has_the_failures_up_to_it(void)
{
    struct sim_arrival_curve curve = { .gpus = 1 };
    for (uint64_t i = 1; i <= 3; i++)
        CHECK_I64(sim_arrival_curve_add(
                      &curve, &(struct sim_arrival_state){ .arrived_milli = 500, .failed = i }),
                  WEIR_OK);
    CHECK_I64(sim_arrival_curve_at(&curve, 50).failed, 3);
    CHECK_I64(sim_arrival_curve_at(&curve, 50).events, 3);
    sim_arrival_curve_clear(&curve);
}

/* Five GPUs were never asked for, but only two are idle: no cause has more than there is. */
static void no_more_is_without_demand_than_is_idle(void)
{
    struct lab lab;
    struct sim_unallocated answer;
    double sum = 0;
    open_lab(&lab);
    for (uint32_t g = 0; g < 4; g++)
        lab.gpus[g].units_held = WEIR_ONE;
    ask(&lab, job(1000, 1, 1000), 1, 1, &answer);
    CHECK_NEAR(answer.gpus[SIM_CAUSE_NO_DEMAND], 2, 1e-9);
    for (int c = 0; c < SIM_CAUSES; c++)
        sum += answer.gpus[c];
    CHECK_NEAR(sum, 2, 1e-9);
}

static const struct test tests[] = {
    { "every bucket gets its own", every_bucket_gets_its_own },
    { "memory stands beside the buckets", memory_stands_beside_the_buckets },
    { "a kind has the memory of its middle job", a_kind_has_the_memory_of_its_middle_job },
    { "sums follow single nodes without drift", sums_follow_single_nodes_without_drift },
    { "power counts touched GPUs and full sockets", power_counts_touched_gpus_and_full_sockets },
    { "unallocated GPUs are split by what keeps jobs away",
      unallocated_gpus_are_split_by_what_keeps_jobs_away },
    { "what nobody asked for has no demand", what_nobody_asked_for_has_no_demand },
    { "a change frees what refused jobs then get", a_change_frees_what_refused_jobs_then_get },
    { "a kind that gets nothing stands for no smaller one",
      a_kind_that_gets_nothing_stands_for_no_smaller_one },
    { "other rules for jobs free GPUs too", other_rules_free_gpus_too },
    { "a part goes to the fullest GPU that has room",
      a_part_goes_to_the_fullest_gpu_that_has_room },
    { "kinds differ by all that is asked for", kinds_differ_by_all_that_is_asked_for },
    { "a point of a curve has the failures up to it",
      a_point_of_a_curve_has_the_failures_up_to_it },
    { "no more is without demand than is idle", no_more_is_without_demand_than_is_idle },
};
TEST_MAIN(tests)
