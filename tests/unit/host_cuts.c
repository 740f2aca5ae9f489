/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * GPUs that a host has cut anew for the jobs that wait.
 */
#include "sim/scenario/catalog/catalog_mig.h"
#include "tests/support/check.h"
#include "tests/support/host_jobs.h"

#include <string.h>

/* ---- GPUs that are cut anew ---- */

static struct weir_rank_group slice_of(const struct weir_mig *table, const char *name,
                                       uint32_t ranks, double cpus)
{
    struct weir_request request = { .cpus = cpus, .mig_slices_all = table->slices };
    struct weir_rank_group group = { .ranks = ranks, .ranks_min = ranks, .ranks_max = ranks };
    uint32_t profile = 0;

    CHECK_I64(weir_mig_find(table, name, &profile, NULL), WEIR_OK);
    request.mig_slices = table->profiles[profile].slices;
    memcpy(request.mig_profile, table->profiles[profile].name, WEIR_MIG_NAME);
    CHECK_I64(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &group.shape, NULL), WEIR_OK);
    return group;
}

/* One node with GPUs that are whole MIG instances. */
static struct weir_host *open_mig(const struct weir_mig *table, uint32_t gpu_count, uint32_t gain)
{
    struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *host = NULL;
    struct weir_gpu_spec gpus[4] = { 0 };
    uint32_t counts[WEIR_MIG_PROFILES] = { 0 };
    weir_mig_layout whole = 0;
    const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                         .gpu_count = gpu_count,
                                         .cpu_units = 8 * WEIR_ONE,
                                         .gpus = gpus };

    counts[table->profile_count - 1] = 1;
    CHECK_I64(weir_mig_arrange(table, counts, &whole, NULL), WEIR_OK);
    for (uint32_t g = 0; g < gpu_count; g++)
        gpus[g] = (struct weir_gpu_spec){ .units = WEIR_ONE, .mig = table, .mig_cut = whole };
    config.cut_min_gain = gain;
    CHECK_I64(weir_host_create(&config, &host, NULL), WEIR_OK);
    CHECK_I64(weir_host_add_node(host, &node, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_add_workload(host, "trace", NULL, NULL), WEIR_OK);
    return host;
}

static const struct weir_action *find_cut(const struct weir_plan *plan)
{
    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        if (weir_plan_action(plan, i)->verb == WEIR_VERB_CUT)
            return weir_plan_action(plan, i);
    return NULL;
}

static weir_status tell_cut(struct weir_host *host, const struct weir_action *cut, uint32_t kind)
{
    const struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                          .kind = kind,
                                          .owner = cut->owner,
                                          .node = cut->node,
                                          .gpu = cut->gpu };

    return weir_host_outcome(host, &outcome, NULL, NULL);
}

static void a_gpu_is_closed_drained_cut_and_opened(void)
{
    const struct weir_mig *const table = sim_catalog_mig_find("h100");
    struct weir_host *const host = open_mig(table, 1, 1);
    const struct weir_rank_group large = slice_of(table, "7g", 1, 1);
    const struct weir_rank_group small = slice_of(table, "1g", 1, 1);
    struct weir_job_spec spec = test_job_spec(1, &large, 1);

    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    test_starts_are(host, "1.0@0");
    spec.groups = &small;
    for (spec.id = 2; spec.id <= 8; spec.id++)
        CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK); /* no instance yet: it waits */
    CHECK(find_cut(test_pass(host)) == NULL);
    CHECK_I64(weir_cluster_gpu(host->inventory, 0, 0)->is_closed, 0); /* 7 are used, 7 wait */
    test_end_job(host, 1);
    const struct weir_action *cut = find_cut(test_pass(host));
    CHECK(cut != NULL);
    CHECK_I64(weir_cluster_gpu(host->inventory, 0, 0)->is_closed, 1);
    CHECK(cut != NULL && tell_cut(host, cut, WEIR_OUTCOME_UNCUT) == WEIR_OK); /* keeps the old */
    CHECK_I64(weir_cluster_gpu(host->inventory, 0, 0)->is_closed, 0);
    CHECK(find_cut(test_pass(host)) == NULL); /* not again at this instant */
    cut = find_cut(test_decide(host, WEIR_CAUSE_JOBS, 6));
    CHECK(cut != NULL && tell_cut(host, cut, WEIR_OUTCOME_CUT) == WEIR_OK);
    CHECK_I64(weir_mig_at(weir_cluster_gpu(host->inventory, 0, 0)->mig_state.cut, 0), 0);
    test_starts_are(host, "2.0@0 3.0@0 4.0@0 5.0@0 6.0@0 7.0@0 8.0@0");
    weir_host_destroy(host);
}

/* Work is running on the GPU that is worth cutting: it gives out nothing more and drains first. */
static void a_gpu_in_use_is_drained_first(void)
{
    const struct weir_mig *const table = sim_catalog_mig_find("h100");
    struct weir_host *const host = open_mig(table, 1, 1);
    const struct weir_rank_group small = slice_of(table, "1g", 1, 1);
    const struct weir_rank_group large = slice_of(table, "7g", 1, 1);
    struct weir_job_spec spec = test_job_spec(1, &small, 1);

    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    const struct weir_action *cut = find_cut(test_pass(host));
    CHECK(cut != NULL && tell_cut(host, cut, WEIR_OUTCOME_CUT) == WEIR_OK);
    test_starts_are(host, "1.0@0");
    spec = test_job_spec(2, &large, 1);
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    spec = test_job_spec(3, &small, 1);
    CHECK(find_cut(test_pass(host)) == NULL);
    CHECK_I64(weir_cluster_gpu(host->inventory, 0, 0)->is_closed, 1);
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    test_starts_are(host, ""); /* closed: the small one has to wait as well */
    test_end_job(host, 1);
    cut = find_cut(test_pass(host));
    CHECK(cut != NULL && tell_cut(host, cut, WEIR_OUTCOME_CUT) == WEIR_OK);
    test_starts_are(host, "2.0@0");
    weir_host_destroy(host);
}

/* Two gangs want different cuts of one GPU, and neither will ever get the CPUs it needs. */
static void a_gpu_is_not_cut_to_and_fro(void)
{
    const struct weir_mig *const table = sim_catalog_mig_find("h100");
    struct weir_host *const host = open_mig(table, 1, 1);
    const struct weir_rank_group small = slice_of(table, "1g", 7, 1);
    const struct weir_rank_group large = slice_of(table, "3g", 2, 4);
    const struct weir_rank_group cpus = test_rank_group(1, 4, 0);
    struct weir_job_spec spec = test_job_spec(1, &cpus, 1);
    uint32_t cuts = 0;

    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    test_starts_are(host, "1.0@0");
    spec = test_job_spec(2, &small, 1);
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    spec = test_job_spec(3, &large, 1);
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    for (uint32_t i = 0; i < 100; i++) {
        const struct weir_action *const cut = find_cut(test_pass(host));
        if (cut == NULL)
            break;
        CHECK_I64(tell_cut(host, cut, i % 3 == 2 ? WEIR_OUTCOME_UNCUT : WEIR_OUTCOME_CUT), WEIR_OK);
        cuts++;
    }
    CHECK_I64(cuts, 1);
    test_end_job(host, 1);
    for (uint32_t i = 0; i < 4 && test_job_state(host, 2) + test_job_state(host, 3) == 0; i++) {
        const struct weir_plan *const plan = test_pass(host);
        const struct weir_action *const cut = find_cut(plan);
        CHECK_I64(test_carry_out(host, plan), WEIR_OK);
        if (cut != NULL)
            CHECK_I64(tell_cut(host, cut, WEIR_OUTCOME_CUT), WEIR_OK);
    }
    CHECK(test_job_state(host, 2) + test_job_state(host, 3) > 0);
    weir_host_destroy(host);
}

/* Two nodes of seven small instances each; one is in use on the second node, where the first has
 * too few CPUs for it. For two large jobs the first node is cut at once, and the second one waits
 * for its job. When the first is gone the cut of the second is still to be sent. */
static void cuts_of_other_nodes_go_on_when_a_node_is_gone(void)
{
    const struct weir_mig *const table = sim_catalog_mig_find("h100");
    struct weir_host_config config = test_jobs_config("first_fit");
    const struct weir_rank_group small = slice_of(table, "1g", 1, 2);
    const struct weir_rank_group large = slice_of(table, "7g", 1, 1);
    struct weir_job_spec spec = test_job_spec(1, &small, 1);
    uint32_t counts[WEIR_MIG_PROFILES] = { 7 };
    struct weir_gpu_spec gpu = { .units = WEIR_ONE, .mig = table };
    struct weir_host *host = NULL;

    CHECK_I64(weir_mig_arrange(table, counts, &gpu.mig_cut, NULL), WEIR_OK);
    config.cut_min_gain = 1;
    CHECK_I64(weir_host_create(&config, &host, NULL), WEIR_OK);
    for (uint32_t n = 0; n < 2; n++) {
        const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = 1,
                                             .cpu_units = (n == 0 ? 1 : 8) * WEIR_ONE,
                                             .gpus = &gpu };
        CHECK_I64(weir_host_add_node(host, &node, NULL, NULL), WEIR_OK);
    }
    CHECK_I64(weir_host_add_workload(host, "trace", NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    test_starts_are(host, "1.0@1");
    for (uint64_t id = 2; id <= 3; id++) {
        spec = test_job_spec(id, &large, 1);
        CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    }
    const struct weir_action *cut = find_cut(test_pass(host));
    CHECK(cut != NULL && cut->node == 0);
    CHECK_I64(weir_cluster_gpu(host->inventory, 1, 0)->is_closed, 1);
    CHECK_I64(weir_host_remove_node(host, 0, 0), WEIR_OK);
    CHECK(find_cut(test_pass(host)) == NULL);
    test_end_job(host, 1);
    cut = find_cut(test_pass(host));
    CHECK(cut != NULL && cut->node == 1);
    CHECK(cut != NULL && tell_cut(host, cut, WEIR_OUTCOME_CUT) == WEIR_OK);
    test_starts_are(host, "2.0@1");
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "a GPU is closed, drained, cut and opened", a_gpu_is_closed_drained_cut_and_opened },
    { "a GPU in use is drained before it is cut", a_gpu_in_use_is_drained_first },
    { "a GPU is not cut to and fro at one instant", a_gpu_is_not_cut_to_and_fro },
    { "cuts of other nodes go on when a node is gone",
      cuts_of_other_nodes_go_on_when_a_node_is_gone },
};

TEST_MAIN(tests)
