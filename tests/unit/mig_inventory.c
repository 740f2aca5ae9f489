/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instances of cut GPUs in the inventory: what is held, what is refused and why, which slot each
 * policy takes, and when a GPU may be cut anew.
 */
#include "sim/scenario/catalog/catalog_mig.h"
#include "tests/support/check.h"
#include "weir/policy.h"

#include <string.h>

struct lab {
    struct weir_cluster *cluster;
    const struct weir_mig *table;
    struct weir_place_answer answer;
    struct weir_error error;
    uint64_t next;
};

/* One node; `cuts` GPUs that are cut (on demand), then one that is not. */
static struct lab open_lab(uint32_t cuts)
{
    struct lab lab = { .table = sim_catalog_mig_find("h100"), .next = 1 };
    struct weir_gpu_spec gpus[4] = { 0 };
    for (uint32_t g = 0; g <= cuts; g++)
        gpus[g] = (struct weir_gpu_spec){ .nvdecs = 7,
                                          .units = WEIR_ONE,
                                          .mem_bytes = INT64_C(80000000000),
                                          .mig = g < cuts ? lab.table : NULL };
    const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                         .id = 5,
                                         .gpu_count = cuts + 1,
                                         .cpu_units = 64 * WEIR_ONE,
                                         .gpus = gpus };
    CHECK_I64(weir_cluster_create(NULL, &lab.cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_node(lab.cluster, &node, NULL, NULL), WEIR_OK);
    return lab;
}

static void close_lab(struct lab *lab)
{
    CHECK_I64(weir_cluster_check(lab->cluster, &lab->error), WEIR_OK);
    weir_cluster_destroy(lab->cluster);
}

static struct weir_shape slice(const struct lab *lab, const char *name)
{
    struct weir_request request = { .mig_slices_all = lab->table->slices };
    struct weir_shape shape = { .kind = WEIR_SHAPE_CPU };
    uint32_t profile = 0;
    CHECK_I64(weir_mig_find(lab->table, name, &profile, NULL), WEIR_OK);
    request.mig_slices = lab->table->profiles[profile].slices;
    memcpy(request.mig_profile, lab->table->profiles[profile].name, WEIR_MIG_NAME);
    CHECK_I64(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &shape, NULL), WEIR_OK);
    CHECK_I64(weir_shape_check(&shape, NULL), WEIR_OK);
    return shape;
}

static struct weir_shape need(uint32_t slices, int64_t mem_bytes)
{
    const struct weir_request request = { .mig_slices = slices,
                                          .mig_slices_all = 7,
                                          .gpu_mem_bytes = mem_bytes };
    struct weir_shape shape = { .kind = WEIR_SHAPE_CPU };
    CHECK_I64(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &shape, NULL), WEIR_OK);
    return shape;
}

/* Places one worker and keeps it; the slot it begins at, or a negative status. */
static int place(struct lab *lab, struct weir_chooser *chooser, const struct weir_shape *shape,
                 const struct weir_mix *mix)
{
    const double one = 1;
    const struct weir_mix alone = { shape, &one, 1, 0 };
    const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                            .cluster = lab->cluster,
                                            .mix = mix == NULL ? &alone : mix,
                                            .shape = shape };
    const weir_status status = weir_chooser_place(chooser, &query, &lab->answer, &lab->error);
    if (status != WEIR_OK)
        return (int)status;
    CHECK_I64(weir_cluster_add_worker(lab->cluster, lab->next++, weir_pool_owner(0),
                                      &lab->answer.alloc, &lab->error),
              WEIR_OK);
    return (int)weir_device_start(&lab->answer.alloc.devices[0]);
}

static struct weir_chooser *open_chooser(const char *name, const double *values, uint32_t count)
{
    const struct weir_params params = { .values = values, .count = count };
    struct weir_chooser *chooser = NULL;
    CHECK_I64(weir_chooser_create(weir_placement_find(name), &params, NULL, &chooser, NULL),
              WEIR_OK);
    return chooser;
}

/* ---- which slot ---- */

/* covers: S1.73 */
static void first_fit_from_below_kills_4g_and_from_above_keeps_it(void)
{
    const struct weir_placement_ops *ops = weir_placement_find("first_fit");
    double values[8] = { 0 };
    CHECK(ops->param_count <= 8);
    for (uint32_t i = 0; i < ops->param_count && i < 8; i++)
        values[i] = ops->params[i].initial;
    for (int from_above = 0; from_above < 2; from_above++) {
        struct lab lab = open_lab(1);
        values[weir_param_find(ops->params, ops->param_count, "slots") % 8] = from_above;
        struct weir_chooser *chooser = open_chooser("first_fit", values, ops->param_count);
        const struct weir_shape one = slice(&lab, "1g");
        const struct weir_shape four = slice(&lab, "4g");
        for (int i = 0; i < 3; i++)
            CHECK_I64(place(&lab, chooser, &one, NULL), from_above ? 6 - i : i);
        CHECK_I64(place(&lab, chooser, &four, NULL), from_above ? 0 : WEIR_EBUSY);
        if (!from_above) {
            CHECK_I64(lab.answer.choice.rejected[WEIR_REASON_MIG], 1);
            CHECK_STR(lab.error.text, "fits none of 1 nodes now, 1 of them: no free MIG instance");
        }
        weir_chooser_destroy(chooser);
        close_lab(&lab);
    }
}

/* covers: S1.73 */
static void fgd_puts_small_instances_where_large_ones_stay_possible(void)
{
    struct lab lab = open_lab(1);
    struct weir_chooser *chooser = open_chooser("fgd_xenna", NULL, 0);
    const struct weir_shape shapes[] = { slice(&lab, "1g"), slice(&lab, "3g"), slice(&lab, "4g") };
    const double frequencies[] = { 0.4, 0.3, 0.3 };
    const struct weir_mix mix = { shapes, frequencies, 3, 0 };
    CHECK_I64(place(&lab, chooser, &shapes[0], &mix), 6);
    CHECK_I64(place(&lab, chooser, &shapes[0], &mix), 5);
    CHECK_I64(place(&lab, chooser, &shapes[0], &mix), 4);
    CHECK_I64(place(&lab, chooser, &shapes[2], &mix), 0);
    CHECK_I64(place(&lab, chooser, &shapes[0], &mix), WEIR_EBUSY);
    weir_chooser_destroy(chooser);
    close_lab(&lab);
    lab = open_lab(1);
    chooser = open_chooser("fgd_xenna", NULL, 0);
    CHECK_I64(place(&lab, chooser, &shapes[1], &mix), 4);
    weir_chooser_destroy(chooser);
    close_lab(&lab);
}

/* Grades of nodes cannot tell slots apart: the grader names the instance. Kept grades must too. */
static void graded_policies_take_the_slot_that_they_chose(void)
{
    const struct weir_placement_ops *ops = weir_placement_find("fgd_xenna");
    double values[32] = { 0 };
    CHECK(ops->param_count <= 32);
    for (uint32_t i = 0; i < ops->param_count && i < 32; i++)
        values[i] = ops->params[i].initial;
    values[weir_param_find(ops->params, ops->param_count, "metric") % 32] = 1;
    values[weir_param_find(ops->params, ops->param_count, "score") % 32] = 1;
    struct lab lab = open_lab(1);
    struct weir_chooser *chooser = open_chooser("fgd_xenna", values, ops->param_count);
    const struct weir_shape shapes[] = { slice(&lab, "2g"), slice(&lab, "3g"), slice(&lab, "1g") };
    const double frequencies[] = { 0.5, 0.5, 0 };
    const struct weir_mix mix = { shapes, frequencies, 3, 0 };
    /* 1g at 6 leaves 2g at 0, 2 and 4 and 3g at 0; then 2g at 4 leaves most. */
    CHECK_I64(place(&lab, chooser, &shapes[2], &mix), 6);
    CHECK_I64(place(&lab, chooser, &shapes[0], &mix), 4);
    CHECK_I64(place(&lab, chooser, &shapes[1], &mix), 0);
    weir_chooser_destroy(chooser);
    close_lab(&lab);
    /* first_fit with a device rule is graded too, and still begins at the lowest slot. */
    const struct weir_placement_ops *fit = weir_placement_find("first_fit");
    for (uint32_t i = 0; i < fit->param_count && i < 32; i++)
        values[i] = fit->params[i].initial;
    values[weir_param_find(fit->params, fit->param_count, "device") % 32] = 0;
    lab = open_lab(1);
    chooser = open_chooser("first_fit", values, fit->param_count);
    CHECK_I64(place(&lab, chooser, &shapes[2], &mix), 0);
    CHECK_I64(place(&lab, chooser, &shapes[2], &mix), 1);
    weir_chooser_destroy(chooser);
    close_lab(&lab);
}

static void every_policy_gives_instances_and_keeps_the_uncut_gpu_whole(void)
{
    for (uint32_t p = 0; p < weir_placement_count(); p++) {
        struct lab lab = open_lab(2);
        struct weir_chooser *chooser = open_chooser(weir_placement_at(p)->name, NULL, 0);
        const struct weir_shape one = slice(&lab, "1g");
        const struct weir_shape whole = { .kind = WEIR_SHAPE_WHOLE,
                                          .gpu_count = 1,
                                          .gpu_units = WEIR_ONE };
        for (int i = 0; i < 14; i++)
            CHECK(place(&lab, chooser, &one, NULL) >= 0);
        CHECK_I64(place(&lab, chooser, &one, NULL), WEIR_EBUSY);
        CHECK_I64(place(&lab, chooser, &whole, NULL), 0);
        CHECK_I64(lab.answer.alloc.devices[0].gpu, 2);
        weir_chooser_destroy(chooser);
        close_lab(&lab);
    }
}

/* ---- which profile ---- */

static void a_need_gets_the_smallest_profile_that_has_enough(void)
{
    struct lab lab = open_lab(1);
    struct weir_chooser *chooser = open_chooser("first_fit", NULL, 0);
    const struct weir_shape plain = need(1, 0);
    const struct weir_shape large = need(1, INT64_C(15) << 30);
    CHECK_I64(place(&lab, chooser, &plain, NULL), 0);
    CHECK_I64(weir_device_profile(&lab.answer.alloc.devices[0]), 0);
    CHECK_I64(place(&lab, chooser, &large, NULL), 2);
    CHECK_STR(lab.table->profiles[weir_device_profile(&lab.answer.alloc.devices[0])].name,
              "1g.20gb");
    CHECK_I64(lab.answer.alloc.devices[0].mem_bytes, INT64_C(20480) * 1048576);
    CHECK_I64(weir_cluster_gpu(lab.cluster, 0, 0)->units_free, WEIR_ONE - 2 * (WEIR_ONE / 7));
    weir_chooser_destroy(chooser);
    close_lab(&lab);
}

static void a_fixed_cut_serves_names_exactly_and_needs_with_what_is_left(void)
{
    struct lab lab = open_lab(1);
    struct weir_chooser *chooser = open_chooser("first_fit", NULL, 0);
    const uint32_t counts[WEIR_MIG_PROFILES] = { 1, 0, 0, 0, 0, 1 }; /* 1g and 4g */
    const struct weir_shape one = slice(&lab, "1g");
    const struct weir_shape any = need(1, 0);
    weir_mig_layout cut = 0;
    CHECK_I64(weir_mig_arrange(lab.table, counts, &cut, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_cut_gpu(lab.cluster, 0, 0, cut, NULL), WEIR_OK);
    CHECK_I64(place(&lab, chooser, &one, NULL), 6);
    CHECK_I64(place(&lab, chooser, &one, NULL), WEIR_EBUSY);
    CHECK_I64(place(&lab, chooser, &any, NULL), 0);
    CHECK_I64(weir_device_profile(&lab.answer.alloc.devices[0]), 5);
    CHECK_I64(place(&lab, chooser, &any, NULL), WEIR_EBUSY);
    weir_chooser_destroy(chooser);
    close_lab(&lab);
}

/* ---- what is refused ---- */

static weir_status add(struct lab *lab, uint32_t gpu, uint32_t profile, uint32_t start)
{
    const struct weir_alloc alloc = {
        .device_count = 1,
        .devices = { { .gpu = gpu,
                       .mig = weir_device_instance(profile, start),
                       .units = weir_mig_units(lab->table, profile),
                       .mem_bytes = lab->table->profiles[profile].mem_bytes } }
    };
    const bool fits = weir_cluster_fits(lab->cluster, &alloc);
    const weir_status status =
        weir_cluster_add_worker(lab->cluster, lab->next++, weir_pool_owner(0), &alloc, &lab->error);
    CHECK(fits == (status == WEIR_OK));
    return status;
}

static void an_instance_is_held_once_and_not_beside_one_that_overlaps(void)
{
    struct lab lab = open_lab(1);
    CHECK_I64(add(&lab, 0, 4, 4), WEIR_OK); /* 3g at 4 */
    CHECK_I64(add(&lab, 0, 4, 4), WEIR_EOVERCOMMIT);
    CHECK_STR(lab.error.text, "worker 2: node 5 GPU 0: instance 3g.40gb at slot 4 is not free");
    CHECK_I64(add(&lab, 0, 0, 6), WEIR_EOVERCOMMIT);
    CHECK_I64(add(&lab, 0, 3, 1), WEIR_EOVERCOMMIT); /* 2g begins at 0, 2 and 4 alone */
    CHECK_I64(add(&lab, 0, 0, 3), WEIR_OK);
    CHECK_I64(add(&lab, 0, 15, 0), WEIR_EINVAL);
    CHECK_I64(add(&lab, 1, 0, 0), WEIR_EINVAL);
    CHECK_STR(lab.error.text, "worker 7: node 5 GPU 1: is not cut into instances");
    CHECK_I64(weir_cluster_remove_worker(lab.cluster, 1, NULL), WEIR_OK);
    CHECK_I64(add(&lab, 0, 0, 6), WEIR_OK);
    close_lab(&lab);
}

/* covers: S1.72 */
static void an_instance_is_held_in_full_and_nothing_beside_it(void)
{
    struct lab lab = open_lab(1);
    struct weir_alloc alloc = { .device_count = 1, .devices = { { .units = WEIR_ONE / 7 } } };
    CHECK_I64(weir_cluster_add_worker(lab.cluster, 1, weir_pool_owner(0), &alloc, &lab.error),
              WEIR_EINVAL);
    CHECK_STR(lab.error.text, "worker 1: node 5 GPU 0: is cut, and the device names no instance");
    alloc.devices[0].mig = weir_device_instance(0, 0);
    CHECK_I64(weir_cluster_add_worker(lab.cluster, 1, weir_pool_owner(0), &alloc, &lab.error),
              WEIR_EINVAL);
    CHECK(strstr(lab.error.text, "has 0.1428571289 GPUs and 10737418240 bytes") != NULL);
    alloc.devices[0].mem_bytes = lab.table->profiles[0].mem_bytes + 1;
    CHECK_I64(weir_cluster_add_worker(lab.cluster, 1, weir_pool_owner(0), &alloc, &lab.error),
              WEIR_EINVAL);
    alloc.devices[0].mem_bytes--;
    CHECK_I64(weir_cluster_add_worker(lab.cluster, 1, weir_pool_owner(0), &alloc, &lab.error),
              WEIR_OK);
    close_lab(&lab);
}

static void a_table_that_is_broken_is_refused_with_its_node(void)
{
    struct lab lab = open_lab(1);
    struct weir_mig broken = *lab.table;
    struct weir_gpu_spec gpu = { .units = WEIR_ONE, .mig = &broken };
    const struct weir_node_spec node = {
        .size = sizeof(struct weir_node_spec), .id = 9, .gpu_count = 1, .gpus = &gpu
    };
    broken.profiles[1].slots = 9;
    CHECK_I64(weir_cluster_add_node(lab.cluster, &node, NULL, &lab.error), WEIR_EINVAL);
    CHECK(strstr(lab.error.text, "node 9 GPU 0: MIG table h100: profile 1 ") != NULL);
    gpu = (struct weir_gpu_spec){ .units = WEIR_ONE,
                                  .mig = lab.table,
                                  .mig_cut = weir_mig_instance(4, 1) };
    CHECK_I64(weir_cluster_add_node(lab.cluster, &node, NULL, &lab.error), WEIR_EINVAL);
    CHECK_STR(lab.error.text, "node 9 GPU 0: h100 cannot be cut like this");
    close_lab(&lab);
}

/* ---- cutting anew ---- */

static void a_gpu_is_cut_anew_only_when_it_is_drained(void)
{
    struct lab lab = open_lab(1);
    struct weir_chooser *chooser = open_chooser("first_fit", NULL, 0);
    const struct weir_shape one = slice(&lab, "1g");
    const weir_mig_layout halves = weir_mig_instance(4, 0) | weir_mig_instance(4, 4);
    const uint64_t version = weir_cluster_node(lab.cluster, 0)->version;
    CHECK_I64(place(&lab, chooser, &one, NULL), 0);
    CHECK_I64(weir_cluster_cut_gpu(lab.cluster, 0, 0, halves, &lab.error), WEIR_EBUSY);
    CHECK_I64(weir_cluster_close_gpu(lab.cluster, 0, 0, true), WEIR_OK);
    CHECK_I64(place(&lab, chooser, &one, NULL), WEIR_EBUSY);
    CHECK_I64(weir_cluster_remove_worker(lab.cluster, 1, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_cut_gpu(lab.cluster, 0, 0, weir_mig_instance(4, 2), NULL), WEIR_EINVAL);
    CHECK_I64(weir_cluster_cut_gpu(lab.cluster, 0, 0, halves, &lab.error), WEIR_OK);
    CHECK_I64(weir_cluster_close_gpu(lab.cluster, 0, 0, false), WEIR_OK);
    CHECK_I64(place(&lab, chooser, &one, NULL), WEIR_EBUSY);
    CHECK(weir_cluster_node(lab.cluster, 0)->version != version);
    CHECK_I64(weir_cluster_cut_gpu(lab.cluster, 0, 0, 0, NULL), WEIR_OK);
    CHECK(weir_cluster_node(lab.cluster, 0)->version == version);
    CHECK_I64(weir_cluster_close_gpu(lab.cluster, 0, 1, true), WEIR_EINVAL);
    CHECK_I64(weir_cluster_close_gpu(lab.cluster, 0, 2, true), WEIR_ENOTFOUND);
    CHECK_I64(weir_cluster_mark(lab.cluster), WEIR_OK);
    CHECK_I64(weir_cluster_cut_gpu(lab.cluster, 0, 0, halves, NULL), WEIR_EINVAL);
    weir_chooser_destroy(chooser);
    close_lab(&lab);
}

/* ---- plans ---- */

static weir_status check_starts(const struct lab *lab, const struct weir_alloc *allocs,
                                uint32_t count, struct weir_error *error)
{
    const struct weir_pool_view stage = { .name = "serve", .shape = slice(lab, "3g") };
    const struct weir_view view = { .cluster = lab->cluster, .pools = &stage, .pool_count = 1 };
    struct weir_plan *plan = NULL;
    CHECK_I64(weir_plan_create(NULL, &plan), WEIR_OK);
    weir_plan_reset(plan, 50, WEIR_EXPLAIN_OFF);
    for (uint32_t i = 0; i < count; i++)
        CHECK_I64(
            weir_plan_start(plan, weir_pool_owner(0), weir_plan_new_worker(plan), &allocs[i], NULL),
            WEIR_OK);
    const weir_status status = weir_plan_check(plan, &view, error);
    weir_plan_destroy(plan);
    return status;
}

static void a_plan_with_instances_that_overlap_is_rejected(void)
{
    struct lab lab = open_lab(1);
    struct weir_alloc allocs[2] = { { .device_count = 1 }, { .device_count = 1 } };
    for (uint32_t i = 0; i < 2; i++)
        allocs[i].devices[0] = (struct weir_device){ .nvdec_mask = 7u << (3 * i),
                                                     .mig = weir_device_instance(4, 4 * i),
                                                     .units = weir_mig_units(lab.table, 4),
                                                     .mem_bytes = INT64_C(40960) * 1048576 };
    CHECK_I64(check_starts(&lab, allocs, 2, &lab.error), WEIR_OK);
    allocs[1].devices[0].mig = weir_device_instance(4, 0);
    CHECK_I64(check_starts(&lab, allocs, 2, &lab.error), WEIR_EPOLICY);
    CHECK_STR(lab.error.text, "action 1 (start of worker 51, stage serve): GPU 0 of node 5: MIG "
                              "instance 3g.40gb at slot 0 is not free");
    allocs[0].devices[0].mem_bytes--;
    CHECK_I64(check_starts(&lab, allocs, 1, &lab.error), WEIR_EPOLICY);
    CHECK(strstr(lab.error.text, "is taken in part") != NULL);
    allocs[0].devices[0] = (struct weir_device){ .mig = weir_device_instance(0, 0),
                                                 .units = weir_mig_units(lab.table, 0),
                                                 .mem_bytes = INT64_C(10240) * 1048576 };
    CHECK_I64(check_starts(&lab, allocs, 1, &lab.error), WEIR_EPOLICY);
    CHECK(strstr(lab.error.text, "gives less than the 1 3g.40gb that it needs") != NULL);
    allocs[0].devices[0].gpu = 1;
    CHECK_I64(check_starts(&lab, allocs, 1, &lab.error), WEIR_EPOLICY);
    CHECK(strstr(lab.error.text, "GPU 1 of node 5: is not cut") != NULL);
    close_lab(&lab);
}

/* ---- requests ---- */

static void a_request_for_an_instance_excludes_other_gpus(void)
{
    const struct weir_request broken[] = {
        { .mig_slices = 1, .mig_slices_all = 7, .gpus = 1 },
        { .mig_slices = 1, .mig_slices_all = 7, .nvencs = 1 },
        { .mig_slices = 8, .mig_slices_all = 7 },
        { .mig_slices = 1, .mig_slices_all = 0 },
    };
    const struct weir_shape shape = need(2, INT64_C(20) << 30);
    struct weir_shape made;
    char text[64];
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        CHECK_I64(weir_shape_from_request(&broken[i], WEIR_QUANTUM_EXACT, &made, NULL),
                  WEIR_EINVAL);
    (void)weir_shape_print(&shape, text, sizeof text);
    CHECK_STR(text, "2 MIG slices + 20 GiB of GPU memory");
}

static const struct test tests[] = {
    { "first_fit from below kills 4g, and from above keeps it",
      first_fit_from_below_kills_4g_and_from_above_keeps_it },
    { "fgd puts small instances where large ones stay possible",
      fgd_puts_small_instances_where_large_ones_stay_possible },
    { "graded policies take the slot that they chose",
      graded_policies_take_the_slot_that_they_chose },
    { "every policy gives instances and keeps the uncut GPU whole",
      every_policy_gives_instances_and_keeps_the_uncut_gpu_whole },
    { "a need gets the smallest profile that has enough",
      a_need_gets_the_smallest_profile_that_has_enough },
    { "a fixed cut serves names exactly, and needs with what is left",
      a_fixed_cut_serves_names_exactly_and_needs_with_what_is_left },
    { "an instance is held once, and not beside one that overlaps",
      an_instance_is_held_once_and_not_beside_one_that_overlaps },
    { "an instance is held in full, and nothing beside it",
      an_instance_is_held_in_full_and_nothing_beside_it },
    { "a table that is broken is refused with its node",
      a_table_that_is_broken_is_refused_with_its_node },
    { "a GPU is cut anew only when it is drained", a_gpu_is_cut_anew_only_when_it_is_drained },
    { "a plan with instances that overlap is rejected",
      a_plan_with_instances_that_overlap_is_rejected },
    { "a request for an instance excludes other GPUs",
      a_request_for_an_instance_excludes_other_gpus },
};

TEST_MAIN(tests)
