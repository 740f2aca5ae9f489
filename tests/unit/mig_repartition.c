/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cutting GPUs anew: which one is chosen and into what, worked out by hand; and alternating small
 * and large work against every fixed cut there is.
 */
#include "sim/record/record.h"
#include "sim/scenario/catalog/catalog_mig.h"
#include "sim/world/run.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "weir/partition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the choice ---- */

/* GPUs of one node, each with a cut of its own. */
static struct weir_cluster *open_cluster(const struct weir_mig *table, const weir_mig_layout *cuts,
                                         uint32_t count)
{
    struct weir_cluster *cluster = NULL;
    struct weir_gpu_spec gpus[4] = { 0 };
    for (uint32_t g = 0; g < count; g++)
        gpus[g] = (struct weir_gpu_spec){ .units = WEIR_ONE, .mig = table, .mig_cut = cuts[g] };
    const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                         .gpu_count = count,
                                         .cpu_units = WEIR_ONE,
                                         .gpus = gpus };
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_node(cluster, &node, NULL, NULL), WEIR_OK);
    return cluster;
}

static weir_mig_layout layout_of(const struct weir_mig *table, const char *names)
{
    uint32_t counts[WEIR_MIG_PROFILES] = { 0 };
    weir_mig_layout layout = 0;
    char copy[128];
    (void)snprintf(copy, sizeof copy, "%s", names);
    for (const char *name = strtok(copy, " "); name != NULL; name = strtok(NULL, " ")) {
        uint32_t profile = 0;
        CHECK_I64(weir_mig_find(table, name, &profile, NULL), WEIR_OK);
        counts[profile]++;
    }
    CHECK_I64(weir_mig_arrange(table, counts, &layout, NULL), WEIR_OK);
    return layout;
}

static struct weir_shape shape_of(const struct weir_mig *table, const char *name)
{
    struct weir_request request = { .mig_slices_all = table->slices };
    struct weir_shape shape = { .kind = WEIR_SHAPE_CPU };
    uint32_t profile = 0;
    CHECK_I64(weir_mig_find(table, name, &profile, NULL), WEIR_OK);
    request.mig_slices = table->profiles[profile].slices;
    memcpy(request.mig_profile, table->profiles[profile].name, WEIR_MIG_NAME);
    CHECK_I64(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &shape, NULL), WEIR_OK);
    return shape;
}

static void hold(struct weir_cluster *cluster, uint32_t gpu, uint32_t slot, uint64_t id)
{
    const struct weir_gpu *books = weir_cluster_gpu(cluster, 0, gpu);
    const uint32_t profile = (uint32_t)weir_mig_at(books->mig_state.cut, slot);
    const struct weir_alloc alloc = {
        .device_count = 1,
        .devices = { { .gpu = gpu,
                       .mig = weir_device_instance(profile, slot),
                       .units = weir_mig_units(books->mig, profile),
                       .mem_bytes = books->mig->profiles[profile].mem_bytes } }
    };
    CHECK_I64(weir_cluster_add_worker(cluster, id, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
}

/* covers: S1.74 */
static void the_emptiest_gpu_is_cut_into_what_waits(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    const weir_mig_layout small = layout_of(table, "1g 1g 1g 1g 1g 1g 1g");
    const weir_mig_layout cuts[] = { small, small, layout_of(table, "7g") };
    struct weir_cluster *cluster = open_cluster(table, cuts, 3);
    const struct weir_shape shapes[] = { shape_of(table, "1g"), shape_of(table, "4g"),
                                         shape_of(table, "3g") };
    uint64_t waiting[] = { 0, 1, 1 };
    struct weir_partition_query query = { .size = sizeof(struct weir_partition_query),
                                          .cluster = cluster,
                                          .shapes = shapes,
                                          .waiting = waiting,
                                          .shape_count = 3,
                                          .min_gain = 2 };
    struct weir_partition_cut cut = { .gpu = 9 };
    hold(cluster, 0, 0, 1);
    hold(cluster, 0, 1, 2);
    hold(cluster, 1, 5, 3);
    hold(cluster, 2, 0, 4);
    CHECK_I64(weir_partition_decide(&query, &cut, NULL), WEIR_OK);
    CHECK_I64(cut.gpu, 1);
    CHECK(cut.cut == layout_of(table, "4g 3g"));
    /* What is pending serves them already. */
    query.pending = &cut;
    query.pending_count = 1;
    struct weir_partition_cut second;
    CHECK_I64(weir_cluster_close_gpu(cluster, 0, 1, true), WEIR_OK);
    CHECK_I64(weir_partition_decide(&query, &second, NULL), WEIR_EBUSY);
    waiting[1] = 2;
    CHECK_I64(weir_partition_decide(&query, &second, NULL), WEIR_OK);
    CHECK_I64(second.gpu, 0);
    /* 4g in slots 0-3; of what else was asked for, 3g fills the rest. */
    CHECK(second.cut == layout_of(table, "4g 3g"));
    weir_cluster_destroy(cluster);
}

/* Of two types that are cut by one table only that which the waiting work takes is cut. */
static void only_gpus_of_the_type_that_is_asked_for_are_cut(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    const weir_mig_layout small = layout_of(table, "1g 1g 1g 1g 1g 1g 1g");
    const struct weir_gpu_spec gpus[] = {
        { .units = WEIR_ONE, .mig = table, .mig_cut = small },
        { .units = WEIR_ONE, .type = 1, .mig = table, .mig_cut = small }
    };
    const struct weir_node_spec node = {
        .size = sizeof(struct weir_node_spec), .gpu_count = 2, .cpu_units = WEIR_ONE, .gpus = gpus
    };
    struct weir_cluster *cluster = NULL;
    struct weir_shape shape = shape_of(table, "3g");
    const uint64_t waiting = 2;
    const struct weir_partition_query query = { .size = sizeof(struct weir_partition_query),
                                                .cluster = cluster,
                                                .shapes = &shape,
                                                .waiting = &waiting,
                                                .shape_count = 1,
                                                .min_gain = 2 };
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_node(cluster, &node, NULL, NULL), WEIR_OK);
    for (uint32_t type = 0; type < 3; type++) {
        struct weir_partition_query asked = query;
        struct weir_partition_cut cut = { .gpu = 9 };
        asked.cluster = cluster;
        shape.gpu_type = type + 1; /* 0 is any */
        CHECK_I64(weir_partition_decide(&asked, &cut, NULL), type < 2 ? WEIR_OK : WEIR_EBUSY);
        CHECK_I64(cut.gpu, type < 2 ? type : 9);
    }
    weir_cluster_destroy(cluster);
}

static void nothing_is_cut_for_less_than_it_costs(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    const weir_mig_layout small = layout_of(table, "1g 1g 1g 1g 1g 1g 1g");
    struct weir_cluster *cluster = open_cluster(table, &small, 1);
    const struct weir_shape three = shape_of(table, "3g");
    const uint64_t one = 1;
    const uint64_t none = 0;
    struct weir_partition_query query = { .size = sizeof(struct weir_partition_query),
                                          .cluster = cluster,
                                          .shapes = &three,
                                          .waiting = &none,
                                          .shape_count = 1,
                                          .min_gain = 2 };
    struct weir_partition_cut cut;
    CHECK_I64(weir_partition_decide(&query, &cut, NULL), WEIR_EBUSY);
    query.waiting = &one;
    CHECK_I64(weir_partition_decide(&query, &cut, NULL), WEIR_OK);
    CHECK(cut.cut == layout_of(table, "3g 3g"));
    hold(cluster, 0, 6, 1);
    CHECK_I64(weir_partition_decide(&query, &cut, NULL), WEIR_OK); /* 3 for 1 */
    hold(cluster, 0, 5, 2);
    CHECK_I64(weir_partition_decide(&query, &cut, NULL), WEIR_EBUSY); /* 3 for 2 */
    CHECK_I64(weir_cluster_set_node_flags(cluster, 0, 0), WEIR_OK);
    query.min_gain = 1;
    CHECK_I64(weir_partition_decide(&query, &cut, NULL), WEIR_EBUSY); /* the node is down */
    weir_cluster_destroy(cluster);
}

static void a_free_instance_is_no_reason_to_cut(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("a30");
    const weir_mig_layout cuts[] = { layout_of(table, "2g 2g"), layout_of(table, "4g") };
    struct weir_cluster *cluster = open_cluster(table, cuts, 2);
    const struct weir_shape half = shape_of(table, "1/2");
    uint64_t waiting = 2;
    const struct weir_partition_query query = { .size = sizeof(struct weir_partition_query),
                                                .cluster = cluster,
                                                .shapes = &half,
                                                .waiting = &waiting,
                                                .shape_count = 1,
                                                .min_gain = 1 };
    struct weir_partition_cut cut;
    CHECK_I64(weir_partition_decide(&query, &cut, NULL), WEIR_EBUSY);
    waiting = 3;
    CHECK_I64(weir_partition_decide(&query, &cut, NULL), WEIR_OK);
    CHECK_I64(cut.gpu, 1);
    CHECK(cut.cut == cuts[0]);
    weir_cluster_destroy(cluster);
}

/* ---- in time ---- */

enum { PARTITIONS_MOST = 32, PARTITION_TEXT = 64 };

/* The distinct multisets of instances a GPU can be cut into, as text. */
struct partitions {
    const struct weir_mig *table;
    uint32_t counts[PARTITIONS_MOST][WEIR_MIG_PROFILES];
    char text[PARTITIONS_MOST][PARTITION_TEXT];
    uint32_t count;
};

static bool collect(void *state, weir_mig_layout layout)
{
    struct partitions *all = state;
    uint32_t *counts = all->counts[all->count];
    char *text = all->text[all->count];
    int length = 0;
    memset(counts, 0, sizeof all->counts[0]);
    for (uint32_t s = 0; s < all->table->slots; s++)
        if (weir_mig_at(layout, s) >= 0)
            counts[weir_mig_at(layout, s)]++;
    for (uint32_t i = 0; i < all->count; i++)
        if (memcmp(all->counts[i], counts, sizeof all->counts[0]) == 0)
            return true;
    for (uint32_t p = 0; p < all->table->profile_count; p++)
        for (uint32_t k = 0; k < counts[p]; k++)
            length += snprintf(text + length, PARTITION_TEXT - (size_t)length, "%s%ug",
                               length == 0 ? "" : ", ", all->table->profiles[p].slices);
    all->count++;
    return all->count < PARTITIONS_MOST;
}

struct gain {
    double held; /* GPUs in use on average */
    double good; /* goodput: jobs that ended in time */
    double cuts;
};

/* Jobs that ended within their deadline. */
static double in_time(const struct sim_run_summary *summary, const char *label)
{
    const double late = test_value(summary, "sla.violation_rate", label);
    return test_value(summary, "jobs.done", label) * (1 - late);
}

/* With these two cuts; `anew` = they may be cut anew. */
static struct gain run_with(const char *first, const char *second, bool anew)
{
    static const char format[] =
        "schema: 1\nname: t\nhorizon: 2 h\ncluster:\n  nodes:\n"
        "    - {name: a, cpus: 64, gpus: {h100: 1}, share: mig, partition: [%s]}\n"
        "    - {name: b, cpus: 64, gpus: {h100: 1}, share: mig, partition: [%s]}\n"
        "sched: {placement: first_fit, repartition: {policy: %s, reconfigure: 10 s}}\n"
        "workloads:\n  - name: w\n    kind: generated\n    mode: time\n    patience: 2 min\n    "
        "deadline: 4 min\n"
        "    classes:\n"
        "      - {name: s1, count: 360, every: 5 s, service: exp(90), request: {mig: 1g}}\n"
        "      - {name: l1, count: 90, at: 30 min, every: 20 s, service: exp(90), request: {mig: "
        "3g}}\n"
        "      - {name: s2, count: 360, at: 60 min, every: 5 s, service: exp(90), request: {mig: "
        "1g}}\n"
        "      - {name: l2, count: 90, at: 90 min, every: 20 s, service: exp(90), request: {mig: "
        "3g}}\n";
    char text[sizeof format + 2 * PARTITION_TEXT];
    struct sim_run_summary *summary = test_summary();
    const struct sim_run_options options = { .seed = 1,
                                             .listen = test_listen,
                                             .listener = summary };
    (void)snprintf(text, sizeof text, format, first, second, anew ? "demand" : "\"off\"");
    struct sim_scenario *scenario = test_scenario(text, "");
    struct gain gain = { .held = (double)NAN, .good = (double)NAN };
    CHECK(scenario != NULL && summary != NULL);
    if (scenario != NULL && summary != NULL) {
        CHECK_I64(sim_run(scenario, &options, summary), WEIR_OK);
        gain.cuts = test_value(summary, "mig.cuts", "");
        gain.held = test_value(summary, "gpus.held.mean", "");
        gain.good = in_time(summary, "");
    }
    sim_scenario_destroy(scenario);
    free(summary);
    return gain;
}

/* covers: S1.74 */
static void cutting_anew_beats_every_fixed_cut_on_alternating_work(void)
{
    struct partitions all = { .table = sim_catalog_mig_find("h100") };
    uint32_t five = 0;
    struct gain best = { .held = 0 };
    for (uint32_t p = 0; p < all.table->profile_count; p++)
        if (strchr(all.table->profiles[p].name, '+') == NULL &&
            strcmp(all.table->profiles[p].name, "1g.20gb") != 0)
            five |= UINT32_C(1) << p;
    (void)weir_mig_maximal(all.table, five, collect, &all);
    CHECK_I64(all.count, 14);
    for (uint32_t i = 0; i < all.count; i++)
        for (uint32_t k = i; k < all.count; k++) {
            const struct gain fixed = run_with(all.text[i], all.text[k], false);
            best.held = fmax(best.held, fixed.held);
            best.good = fmax(best.good, fixed.good);
            CHECK(!(fixed.cuts > 0));
        }
    const struct gain anew = run_with("7g", "7g", true);
    printf("  anew with %.0f cuts %.3f GPUs in use, %.0f jobs in time; the best fixed cuts %.3f, "
           "%.0f\n",
           anew.cuts, anew.held, anew.good, best.held, best.good);
    CHECK(anew.held >= 1.1 * best.held);
    CHECK(anew.good >= 1.1 * best.good);
    CHECK(anew.cuts >= 6);
}

static void note_start(void *state, const struct sim_job_row *row)
{
    double *start_s = state;
    *start_s = sim_time_s(row->start_ns);
}

/* A job that comes at 5 s to a GPU of one instance waits until that is cut, for 10 and for 40 s. */
static void a_cut_takes_its_time(void)
{
    static const struct {
        const char *sets;
        double start_s;
    } cases[] = { { NULL, 15 }, { "sched.repartition.reconfigure=40s", 45 } };
    for (size_t i = 0; i < 2; i++) {
        double start_s = -1;
        const struct sim_observer observer = { .job = note_start, .state = &start_s };
        struct sim_scenario *scenario = test_scenario(
            "schema: 2\nname: t\nhorizon: 100 s\ncluster:\n  nodes:\n"
            "    - {name: a, cpus: 64, gpus: {h100: 1}, share: mig, partition: [7g]}\n"
            "sched: {placement: first_fit, repartition: {policy: demand}}\n"
            "jobs: [{name: w, classes: [{name: a, count: 1, at: 5 s, run_time: 10 s, "
            "request: {mig: 3g}}]}]\n",
            cases[i].sets);
        if (!CHECK(scenario != NULL))
            return;
        free(test_run(scenario, 0, &observer));
        CHECK_NEAR(start_s, cases[i].start_s, 0);
        sim_scenario_destroy(scenario);
    }
}

static const struct test tests[] = {
    { "only GPUs of the type that is asked for are cut",
      only_gpus_of_the_type_that_is_asked_for_are_cut },
    { "the emptiest GPU is cut into what waits", the_emptiest_gpu_is_cut_into_what_waits },
    { "nothing is cut for less than it costs", nothing_is_cut_for_less_than_it_costs },
    { "a free instance is no reason to cut", a_free_instance_is_no_reason_to_cut },
    { "cutting anew beats every fixed cut on alternating work",
      cutting_anew_beats_every_fixed_cut_on_alternating_work },
    { "a cut takes its time", a_cut_takes_its_time },
};

TEST_MAIN(tests)
