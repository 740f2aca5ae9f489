/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Labels of nodes in a host: asked for, preferred, kept and borrowed, by pools and by jobs.
 */
#include "tests/support/check.h"
#include "tests/support/host_jobs.h"
#include "weir/group.h"
#include "weir/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RED = 1, BLUE = 2 };

/* Three nodes of 4 CPUs: one without labels, one with red, one with blue that is kept. */
static struct weir_host *open_host(const char *placement)
{
    static const uint32_t labels[] = { 0, RED, BLUE | WEIR_LABEL_KEPT };
    struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *host = NULL;

    config.placement = weir_placement_find(placement);
    CHECK_I64(weir_host_create(&config, &host, NULL), WEIR_OK);
    for (uint64_t n = 0; n < 3; n++) {
        const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .cpu_units = 4 * WEIR_ONE,
                                             .topology.labels = labels[n] };
        CHECK_I64(weir_host_add_node(host, &node, NULL, NULL), WEIR_OK);
    }
    CHECK_I64(weir_host_add_workload(host, "w", NULL, NULL), WEIR_OK);
    return host;
}

/* What a job of ranks of so many CPUs asks of nodes. */
struct wanted {
    uint32_t labels, soft_labels, ranks;
    double cpus;
    uint32_t strategy;
};

static weir_status submit(struct weir_host *host, uint64_t id, struct wanted wanted)
{
    struct weir_rank_group group =
        test_rank_group(wanted.ranks > 0 ? wanted.ranks : 1, wanted.cpus > 0 ? wanted.cpus : 1, 0);
    group.shape.labels = wanted.labels;
    group.soft_labels = wanted.soft_labels;
    struct weir_job_spec spec = test_job_spec(id, &group, 1);
    spec.strategy = wanted.strategy;
    return weir_host_submit(host, &spec, NULL);
}

/* The reason of the first DENY. */
static uint32_t denied(const struct weir_plan *plan)
{
    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        if (weir_plan_action(plan, i)->verb == WEIR_VERB_DENY)
            return weir_plan_action(plan, i)->reason;
    return WEIR_REASON_NONE;
}

static void a_job_waits_for_the_label_it_asks_for(void)
{
    struct weir_host *const host = open_host("first_fit");

    CHECK_I64(submit(host, 1, (struct wanted){ .labels = RED, .cpus = 4 }), WEIR_OK);
    test_starts_are(host, "1.0@1");
    CHECK_I64(submit(host, 2, (struct wanted){ .labels = RED }), WEIR_OK);
    CHECK_I64(denied(test_pass(host)), WEIR_REASON_CPU);
    CHECK_I64(weir_host_set_node(host, 1, 0, 1), WEIR_OK);
    CHECK_I64(denied(test_decide(host, WEIR_CAUSE_NODES, 1)), WEIR_REASON_NODE_DOWN);
    CHECK_I64(weir_host_set_node(host, 1, WEIR_NODE_UP, 2), WEIR_OK);
    test_starts_are(host, "2.0@1");
    weir_host_destroy(host);
}

static void a_label_that_no_node_has_is_infeasible(void)
{
    struct weir_host *const host = open_host("first_fit");

    CHECK_I64(submit(host, 1, (struct wanted){ .labels = 4 }), WEIR_EINFEASIBLE);
    CHECK_I64(submit(host, 1, (struct wanted){ .labels = RED | BLUE }), WEIR_EINFEASIBLE);
    CHECK_I64(submit(host, 1, (struct wanted){ .labels = RED, .cpus = 5 }), WEIR_EINFEASIBLE);
    weir_host_destroy(host);
}

/* Soft: busy is waited for, lost is not; it comes back, and is asked for again. */
static void a_preferred_node_is_waited_for_while_it_is_up(void)
{
    struct weir_host *const host = open_host("first_fit");

    CHECK_I64(submit(host, 1, (struct wanted){ .soft_labels = RED, .cpus = 4 }), WEIR_OK);
    test_starts_are(host, "1.0@1");
    CHECK_I64(submit(host, 2, (struct wanted){ .soft_labels = RED }), WEIR_OK);
    CHECK_I64(denied(test_pass(host)), WEIR_REASON_CPU);
    CHECK_I64(weir_host_set_node(host, 1, WEIR_NODE_UP | WEIR_NODE_CORDONED, 1), WEIR_OK);
    test_starts_are(host, "2.0@0");
    CHECK_I64(weir_host_set_node(host, 1, WEIR_NODE_UP, 2), WEIR_OK);
    CHECK_I64(submit(host, 3, (struct wanted){ .soft_labels = RED }), WEIR_OK);
    CHECK_I64(denied(test_decide(host, WEIR_CAUSE_JOBS, 2)), WEIR_REASON_CPU);
    test_end_job(host, 1);
    test_starts_are(host, "3.0@1");
    weir_host_destroy(host);
}

/* What cannot be there at all is not waited for, nor a label that nobody has. */
static void a_preference_that_cannot_be_met_is_dropped(void)
{
    struct weir_host *const host = open_host("first_fit");

    CHECK_I64(submit(host, 1, (struct wanted){ .soft_labels = 4 }), WEIR_OK);
    test_starts_are(host, "1.0@0");
    CHECK_I64(submit(host, 2, (struct wanted){ .labels = BLUE, .soft_labels = RED }), WEIR_OK);
    test_starts_are(host, "2.0@2");
    weir_host_destroy(host);
}

static void a_kept_node_is_for_those_who_ask_or_borrow(void)
{
    struct weir_host *const host = open_host("best_fit");

    CHECK_I64(submit(host, 1, (struct wanted){ .cpus = 4 }), WEIR_OK);
    CHECK_I64(submit(host, 2, (struct wanted){ .cpus = 4 }), WEIR_OK);
    test_starts_are(host, "1.0@0 2.0@1");
    CHECK_I64(submit(host, 3, (struct wanted){ .cpus = 1 }), WEIR_OK);
    CHECK_I64(denied(test_pass(host)), WEIR_REASON_CPU);
    CHECK_I64(submit(host, 4, (struct wanted){ .labels = BLUE }), WEIR_OK);
    test_starts_are(host, "4.0@2");
    CHECK_I64(submit(host, 5, (struct wanted){ .labels = WEIR_LABEL_KEPT }), WEIR_OK);
    test_starts_are(host, "5.0@2");
    weir_host_destroy(host);
}

/* A borrower prefers what is for all, though the policy likes the fuller node. */
static void a_borrower_goes_to_kept_nodes_last(void)
{
    struct weir_host *const host = open_host("best_fit");

    CHECK_I64(submit(host, 1, (struct wanted){ .labels = BLUE, .cpus = 3 }), WEIR_OK);
    test_starts_are(host, "1.0@2");
    CHECK_I64(submit(host, 2, (struct wanted){ .labels = WEIR_LABEL_KEPT }), WEIR_OK);
    test_starts_are(host, "2.0@0");
    weir_host_destroy(host);
}

static void all_that_is_left_is_kept_for_others(void)
{
    struct weir_host *const host = open_host("first_fit");

    CHECK_I64(weir_host_remove_node(host, 0, 0), WEIR_OK);
    CHECK_I64(weir_host_remove_node(host, 1, 0), WEIR_OK);
    CHECK_I64(submit(host, 1, (struct wanted){ .cpus = 1 }), WEIR_EINFEASIBLE);
    weir_host_destroy(host);
}

static void a_group_of_bundles_heeds_labels(void)
{
    const uint32_t pack = WEIR_GROUP_STRICT_PACK + 1;
    const uint32_t apart = WEIR_GROUP_STRICT_SPREAD + 1;
    struct weir_host *const host = open_host("first_fit");

    CHECK_I64(submit(host, 1, (struct wanted){ .labels = RED, .ranks = 2, .strategy = pack }),
              WEIR_OK);
    test_starts_are(host, "1.0@1 1.1@1");
    CHECK_I64(submit(host, 2, (struct wanted){ .labels = 4, .ranks = 2, .strategy = pack }),
              WEIR_EINFEASIBLE);
    CHECK_I64(submit(host, 3, (struct wanted){ .labels = RED, .ranks = 2, .strategy = apart }),
              WEIR_EINFEASIBLE);
    CHECK_I64(submit(host, 4, (struct wanted){ .ranks = 3, .strategy = apart }), WEIR_EINFEASIBLE);
    CHECK_I64(submit(host, 5, (struct wanted){ .ranks = 2, .strategy = apart }), WEIR_OK);
    test_starts_are(host, "5.0@0 5.1@1");
    weir_host_destroy(host);
}

/* ---- pools ---- */

static void add_pool(struct weir_host *host, const char *name, struct wanted wanted, int32_t count)
{
    struct weir_pool_spec spec = { .size = sizeof spec,
                                   .name = name,
                                   .requested_workers = count,
                                   .batch_size = 1,
                                   .slots = 1,
                                   .soft_labels = wanted.soft_labels,
                                   .speed_hint_per_s = 1 };

    spec.shape = test_rank_group(1, wanted.cpus > 0 ? wanted.cpus : 1, 0).shape;
    spec.shape.labels = wanted.labels;
    CHECK_I64(weir_host_add_pool(host, &spec, NULL, NULL), WEIR_OK);
}

static uint32_t on_node(const struct weir_host *host, uint32_t pool, uint32_t node)
{
    return weir_cluster_peers(weir_host_cluster(host), node, weir_pool_owner(pool));
}

static void pools_heed_labels_and_preferences(void)
{
    struct weir_host *const host = open_host("first_fit");

    add_pool(host, "hard", (struct wanted){ .labels = BLUE }, 2);
    add_pool(host, "soft", (struct wanted){ .soft_labels = RED }, 6);
    add_pool(host, "any", (struct wanted){ .cpus = 1 }, 6);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_I64(on_node(host, 0, 2), 2);
    CHECK_I64(on_node(host, 1, 1), 4);
    CHECK_I64(weir_cluster_pool_workers(weir_host_cluster(host), 1), 4);
    CHECK_I64(on_node(host, 2, 0), 4);
    CHECK_I64(weir_cluster_pool_workers(weir_host_cluster(host), 2), 4);
    CHECK_I64(weir_view_pool(weir_host_view(host, 0), 1)->shape.labels, RED);
    CHECK_I64(weir_host_set_node(host, 1, 0, 0), WEIR_OK);
    CHECK_I64(weir_host_remove_node(host, 1, 0), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_I64(weir_view_pool(weir_host_view(host, 0), 1)->shape.labels, 0);
    weir_host_destroy(host);
}

static void what_cannot_be_preferred_is_refused(void)
{
    struct weir_host *const host = open_host("first_fit");
    struct weir_pool_spec spec = { .size = sizeof spec,
                                   .name = "p",
                                   .batch_size = 1,
                                   .slots = 1,
                                   .soft_labels = WEIR_LABEL_KEPT,
                                   .speed_hint_per_s = 1 };

    spec.shape = test_rank_group(1, 1, 0).shape;
    CHECK_I64(weir_host_add_pool(host, &spec, NULL, NULL), WEIR_EINVAL);
    CHECK_I64(submit(host, 1, (struct wanted){ .soft_labels = WEIR_LABEL_KEPT }), WEIR_EINVAL);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "a job waits for the label it asks for", a_job_waits_for_the_label_it_asks_for },
    { "a label that no node has is infeasible", a_label_that_no_node_has_is_infeasible },
    { "a preferred node is waited for while it is up",
      a_preferred_node_is_waited_for_while_it_is_up },
    { "a preference that cannot be met is dropped", a_preference_that_cannot_be_met_is_dropped },
    { "a kept node is for those who ask or borrow", a_kept_node_is_for_those_who_ask_or_borrow },
    { "a borrower goes to kept nodes last", a_borrower_goes_to_kept_nodes_last },
    { "who finds kept nodes alone never fits", all_that_is_left_is_kept_for_others },
    { "a group of bundles heeds labels", a_group_of_bundles_heeds_labels },
    { "pools heed labels and preferences", pools_heed_labels_and_preferences },
    { "what cannot be preferred is refused", what_cannot_be_preferred_is_refused },
};
TEST_MAIN(tests)
