/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's multifactor priorities, on the tree of tenants that was worked out by another program. */
#include "sched/queueing/multifactor.h"

#include "sched/internal/alloc.h"
#include "tests/support/check.h"
#include "tests/support/tenants.h"

#include <string.h>

enum { A = 1, B, A1, A2, B1, B2 };

struct row {
    uint32_t parent;
    double weight, used;
};

/* A has 40 of 100 shares and two users of one each; B 60, and users of 3 and 1. */
static const struct row tree[] = { { 0, 40, 400 }, { 0, 60, 500 }, { A, 1, 100 },
                                   { A, 1, 300 },  { B, 3, 400 },  { B, 1, 100 } };

static struct weir_host *open_tree(const struct row *rows, uint32_t count)
{
    const struct test_node node = { .nodes = 100, .cpus = 8, .ram = 1e9 };
    const double values[] = { 0, 604800, 2000 }; /* the fair share alone */
    struct weir_host *const host = test_tenants_host_with("multifactor", &node, values, 3);

    for (uint32_t t = 0; t < count; t++) {
        struct weir_tenant_spec spec = weir_tenant_default();
        spec.parent = rows[t].parent;
        spec.weight = rows[t].weight;
        (void)test_tenant(host, spec);
        CHECK_I64(weir_host_restore_usage(host, t + 1, rows[t].used, 0), WEIR_OK);
    }
    return host;
}

struct shares {
    double of[8];
};

static struct shares shares_of(const struct row *rows, uint32_t count, bool is_classic)
{
    struct weir_host *const host = open_tree(rows, count);
    struct weir_fair_branch branches[8];
    struct shares shares = { { 0 } };

    if (is_classic)
        weir_fair_classic(weir_host_view(host, 0), shares.of);
    else
        weir_fair_tree(weir_host_view(host, 0), shares.of, branches);
    weir_host_destroy(host);
    return shares;
}

static void the_fair_tree_is_slurms(void)
{
    static const double known[] = { 0.5, 0.25, 0.75, 1 };
    const struct shares shares = shares_of(tree, 6, false);

    for (uint32_t i = 0; i < 4; i++)
        CHECK_NEAR(shares.of[A1 + i], known[i], 0);
    CHECK_NEAR(shares.of[A], 0.5, 0); /* what its better user has */
    CHECK_NEAR(shares.of[B], 1, 0);
}

static void classic_shares_are_slurms(void)
{
    static const double known[] = { 0.381859, 0.259815, 0.443547, 0.358121 };
    const struct shares shares = shares_of(tree, 6, true);

    for (uint32_t i = 0; i < 4; i++)
        CHECK_NEAR(shares.of[A1 + i], known[i], 5e-7);
}

/* Both accounts are as far from their shares, so their users are ranked together; b2 and a1 are
 * equal, and share a rank. */
static void equal_accounts_are_merged(void)
{
    static const struct row rows[] = { { 0, 1, 400 }, { 0, 1, 400 }, { A, 1, 100 },
                                       { A, 1, 300 }, { B, 1, 300 }, { B, 1, 100 } };
    static const double known[] = { 1, 0.5, 0.5, 1 };
    const struct shares shares = shares_of(rows, 6, false);

    for (uint32_t i = 0; i < 4; i++)
        CHECK_NEAR(shares.of[A1 + i], known[i], 0);
}

/* A user beside an account that is as far from its share goes first. Who has no share is last, who
 * has used nothing first. */
static void users_come_before_accounts(void)
{
    static const struct row rows[] = {
        { 0, 1, 200 }, { 0, 1, 200 }, { A, 1, 0 }, { A, 0, 0 }, { A, 1, 200 }
    };
    static const double known[] = { 0.75, 0.25, 0.5 };
    const struct shares shares = shares_of(rows, 5, false);

    CHECK_NEAR(shares.of[B], 1, 0);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_NEAR(shares.of[A1 + i], known[i], 0);
}

/* covers: S1.116 */
static void priorities_are_slurms(void)
{
    static const struct {
        double wait_s;
        uint32_t tenant, nodes, cpus;
        int32_t priority;
        double favour, known;
    } cases[] = {
        { 86400, A1, 4, 32, 0, 0, 1162 }, { 86400, A1, 4, 32, 0, 1, 1622 },
        { 3600, B2, 1, 8, 0, 0, 2010 },   { 14 * 86400, A2, 50, 400, 0, 0, 1750 },
        { 0, A2, 1, 8, -2000, 0, 1 },
    };
    struct weir_host *const host = open_tree(tree, 6);
    double values[WEIR_MULTIFACTOR_PARAMS] = { [WEIR_MULTIFACTOR_AGE] = 1000,
                                               [WEIR_MULTIFACTOR_MAX_AGE] = 604800,
                                               [WEIR_MULTIFACTOR_FAIR_SHARE] = 2000,
                                               [WEIR_MULTIFACTOR_SIZE] = 500,
                                               [WEIR_MULTIFACTOR_QOS_MAX] = 100 };
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_multifactor factors;

    weir_multifactor_open(&factors, &memory, values);
    CHECK_I64(weir_multifactor_begin(&factors, weir_host_view(host, 0)), WEIR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct weir_rank_group group = {
            .ranks = cases[i].nodes,
            .shape = { .cpu_units = (int64_t)(cases[i].cpus / cases[i].nodes) * WEIR_ONE }
        };
        const struct weir_job job = { .size = sizeof job,
                                      .groups = &group,
                                      .group_count = 1,
                                      .ranks = cases[i].nodes,
                                      .tenant = cases[i].tenant,
                                      .priority = cases[i].priority,
                                      .estimate_ns = WEIR_UNKNOWN_TIME };
        values[WEIR_MULTIFACTOR_FAVOUR] = cases[i].favour;
        CHECK_NEAR(weir_multifactor_of(&factors, &job, (int64_t)(cases[i].wait_s * 1e9)),
                   cases[i].known, 0);
    }
    weir_multifactor_close(&factors);
    weir_host_destroy(host);
}

/* One job a user and room for one: fair shares 1, .75, .5, .25 are b2, b1, a1, a2. */
static void the_policy_follows_them(void)
{
    static const char *const order[] = { "F", "E", "C", "D" };
    struct weir_host *const host = open_tree(tree, 6);

    for (uint32_t t = A1; t <= B2; t++)
        test_ask(host, (struct test_ask){ .tenant = t, .count = 1, .cpus = 8, .ranks = 100 });
    for (uint32_t i = 0; i < 4; i++) {
        const struct test_text started = test_round(host, 0);
        CHECK_STR(started.text, order[i]);
        test_end_some(host, (uint32_t)(order[i][0] - 'A') + 1, 1);
    }
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "the fair tree is Slurm's", the_fair_tree_is_slurms },
    { "classic shares are Slurm's", classic_shares_are_slurms },
    { "equal accounts are merged", equal_accounts_are_merged },
    { "users come before accounts", users_come_before_accounts },
    { "priorities are Slurm's", priorities_are_slurms },
    { "the policy follows them", the_policy_follows_them },
};
TEST_MAIN(tests)
