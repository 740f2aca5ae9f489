/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies that choose a tenant first: the worked examples of their papers, and ours. */
#include "tests/support/check.h"
#include "tests/support/tenants.h"

#include <stdio.h>
#include <string.h>

/* One job of each tenant asks for so much, and there are more than fit. */
struct user {
    double weight, gpus, cpus, ram;
};

static struct test_text drf(const struct test_node *node, const struct user *users, uint32_t count)
{
    struct weir_host *const host = test_tenants_host("drf", node);

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t tenant = test_tenant_of_weight(host, users[i].weight);
        test_ask(host, (struct test_ask){ .tenant = tenant,
                                          .count = 40,
                                          .gpus = users[i].gpus,
                                          .cpus = users[i].cpus,
                                          .ram = users[i].ram });
    }
    const struct test_text order = test_round(host, 0);
    weir_host_destroy(host);
    return order;
}

static uint32_t letters(const struct test_text *order, char letter)
{
    uint32_t count = 0;

    for (const char *c = order->text; *c != '\0'; c++)
        count += *c == letter;
    return count;
}

/* covers: S1.29 S1.79 */
static void drf_divides_the_classic_example_three_to_two(void)
{
    const struct test_node node = { .nodes = 1, .cpus = 9, .ram = 18e9 };
    const struct user users[] = { { 1, 0, 1, 4e9 }, { 1, 0, 3, 1e9 } };

    CHECK_STR(drf(&node, users, 2).text, "ABABA");
}

static void a_weight_of_two_is_twice_the_dominant_share(void)
{
    const struct test_node node = { .nodes = 1, .cpus = 9, .ram = 18e9 };
    const struct user users[] = { { 2, 0, 1, 4e9 }, { 1, 0, 3, 1e9 } };
    const struct test_text order = drf(&node, users, 2);

    CHECK_I64(letters(&order, 'A'), 4);
    CHECK_I64(letters(&order, 'B'), 1);
}

static void drf_divides_gpus_cpus_and_memory(void)
{
    const struct test_node node = { .nodes = 1, .gpus = 8, .cpus = 64, .ram = 512e9 };
    const struct user users[] = { { 1, 1, 4, 32e9 }, { 1, 0, 8, 16e9 }, { 1, 2, 8, 64e9 } };
    const struct test_text order = drf(&node, users, 3);

    CHECK_I64(letters(&order, 'A'), 4);
    CHECK_I64(letters(&order, 'B'), 4);
    CHECK_I64(letters(&order, 'C'), 2);
}

static void drf_follows_the_known_order(void)
{
    const struct test_node node = { .nodes = 1, .gpus = 10, .cpus = 100, .ram = 400e9 };
    const struct user users[] = { { 1, 1, 4, 32e9 }, { 1, 0, 8, 16e9 }, { 2, 2, 4, 8e9 } };

    CHECK_STR(drf(&node, users, 3).text, "ABCBACBACBABBBBB");
}

/* covers: S1.80 */
/* <64 CPUs, 8 GPUs, 640 GB>: shares .5, .625, .547. What is 640 GB there is memory of the GPUs,
 * taken as one pool. */
static void drf_divides_shares_of_gpus_and_a_pool_of_memory(void)
{
    const struct test_node node = { .nodes = 1, .gpus = 8, .cpus = 64, .ram = 640 };
    const struct user users[] = { { 1, 1, 4, 20 }, { 1, 0.25, 8, 20 }, { 1, 0.5, 1, 70 } };
    const struct test_text order = drf(&node, users, 3);

    CHECK_I64(letters(&order, 'A'), 4);
    CHECK_I64(letters(&order, 'B'), 5);
    CHECK_I64(letters(&order, 'C'), 5);
}

/* So many tasks of 1 / `parts` of what each user asks for: A, B and C. */
static void drf_of_parts(const struct test_node *node, const struct user *users, uint32_t count,
                         double parts, const double *divided)
{
    struct weir_host *const host = test_tenants_host("drf", node);

    for (uint32_t i = 0; i < count; i++)
        test_ask(host, (struct test_ask){ .tenant = test_tenant_of_weight(host, users[i].weight),
                                          .count = (uint32_t)(parts * divided[i]) + 10,
                                          .gpus = users[i].gpus / parts,
                                          .cpus = users[i].cpus / parts,
                                          .ram = users[i].ram / parts });
    (void)test_decide(host, WEIR_CAUSE_JOBS, 0);
    for (uint32_t i = 0; i < count; i++)
        CHECK_NEAR(host->jobs.tenants.all[i + 1].running / parts, divided[i], 2 / parts);
    weir_host_destroy(host);
}

/* What divided tasks come to, exact in rationals: 10/3, 55/6, 10/3 and 54/13, 18/13. Tasks of a
 * 64th and a 500th of the size come as near as whole ones can. */
static void small_tasks_come_to_what_divided_ones_have(void)
{
    const struct test_node three = { .nodes = 1, .gpus = 10, .cpus = 100, .ram = 400e9 };
    const struct user users[] = { { 1, 1, 4, 32e9 }, { 1, 0, 8, 16e9 }, { 2, 2, 4, 8e9 } };
    const struct test_node two = { .nodes = 1, .cpus = 9, .ram = 18e9 };
    const struct user weighted[] = { { 2, 0, 1, 4e9 }, { 1, 0, 3, 1e9 } };

    drf_of_parts(&three, users, 3, 64, (const double[]){ 10.0 / 3, 55.0 / 6, 10.0 / 3 });
    drf_of_parts(&two, weighted, 2, 500, (const double[]){ 54.0 / 13, 18.0 / 13 });
}

/* Of 4 GPUs with 80 GB, 2 decoders and 3 encoders each. */
static void every_resource_may_be_dominant(void)
{
    struct weir_host *const host = test_tenants_host("drf", &(struct test_node){ 1, 4, 8, 1000 });
    const struct weir_view *const view = weir_host_view(host, 0);
    const struct weir_amounts amounts[] = {
        { .cpu_units = 2 * WEIR_ONE, .gpu_units = WEIR_ONE / 2 },
        { .cpu_units = WEIR_ONE, .gpu_units = WEIR_ONE },
        { .ram_bytes = 250, .cpu_units = WEIR_ONE },
        { .gpu_mem_bytes = INT64_C(80000000000), .gpu_units = WEIR_ONE / 2 },
        { .nvdecs = 4, .gpu_units = WEIR_ONE / 2 }, /* there are none: left out */
    };

    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(weir_view_dominant_share(view, &amounts[i]), 0.25, 1e-12);
    CHECK_NEAR(weir_view_dominant_share(view, &amounts[4]), 0.125, 1e-12);
    weir_host_destroy(host);
}

/* covers: S1.80 */
/* Eight GPUs. A job of one that exchanges half of the time has 1/16 of the links and 1/8 of the
 * GPUs; one of a quarter that does it all the time has the whole link of its GPU, 1/8 of all; one
 * of half a GPU that takes 0.8 of the bandwidth of its memory a tenth of that. */
static void links_and_bandwidth_of_gpus_may_be_dominant(void)
{
    struct weir_host *const host = test_tenants_host("drf", &(struct test_node){ 1, 8, 64, 1000 });
    const struct weir_view *const view = weir_host_view(host, 0);
    const struct {
        double gpus, bandwidth, exchange, share;
    } cases[] = {
        { 1, 0, 0.5, 1.0 / 8 },
        { 0.25, 0, 1, 1.0 / 8 },
        { 0.5, 0.8, 0, 0.1 },
        { 1, 1, 0.9, 1.0 / 8 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weir_tenant tenant = { .size = sizeof tenant };
        const uint32_t number = test_tenant_of_weight(host, 1);
        test_ask(host, (struct test_ask){ .tenant = number,
                                          .count = 1,
                                          .gpus = cases[i].gpus,
                                          .traffic = { cases[i].bandwidth, 0.5 },
                                          .exchange = cases[i].exchange });
        (void)test_round(host, 0);
        CHECK(weir_view_tenant(view, number, &tenant));
        CHECK_NEAR(tenant.bandwidth, cases[i].bandwidth, 1e-7);
        CHECK_NEAR(tenant.links, cases[i].exchange, 1e-7);
        CHECK_NEAR(weir_view_tenant_share(view, &tenant), cases[i].share, 1e-7);
    }
    weir_host_destroy(host);
}

/* Between teams first, then within them: the members of one team share what it may have. */
static void shares_are_divided_level_by_level(void)
{
    const struct test_node node = { .nodes = 1, .gpus = 12, .cpus = 64, .ram = 1e9 };
    struct weir_host *const host = test_tenants_host("drf", &node);
    struct weir_tenant_spec spec = weir_tenant_default();
    const uint32_t team = test_tenant(host, spec);
    const uint32_t other = test_tenant(host, spec);

    spec.parent = team;
    const uint32_t left = test_tenant(host, spec);
    const uint32_t right = test_tenant(host, spec);
    spec.parent = other;
    const uint32_t alone = test_tenant(host, spec);
    for (uint32_t t = left; t <= alone; t++)
        test_ask(host, (struct test_ask){ .tenant = t, .count = 12, .gpus = 1 });
    (void)test_round(host, 1);
    CHECK_NEAR(test_gpus_of(host, team), 6, 0);
    CHECK_NEAR(test_gpus_of(host, left), 3, 0);
    CHECK_NEAR(test_gpus_of(host, right), 3, 0);
    CHECK_NEAR(test_gpus_of(host, alone), 6, 0);
    weir_host_destroy(host);
}

/* ---- on so many servers, in time ---- */

enum { SERVERS = 8, TEXT = 400 };

struct running {
    uint64_t id;
    int64_t end_s; /* 0 = idle */
};

static int64_t next_end(const struct running *servers)
{
    int64_t next_s = INT64_MAX;

    for (uint32_t s = 0; s < SERVERS; s++)
        if (servers[s].end_s > 0 && servers[s].end_s < next_s)
            next_s = servers[s].end_s;
    return next_s;
}

static void end_those(struct weir_host *host, struct running *servers, int64_t now_s)
{
    for (uint32_t s = 0; s < SERVERS; s++) {
        if (servers[s].end_s != now_s || now_s == 0)
            continue;
        test_end_job(host, servers[s].id);
        servers[s].end_s = 0;
    }
}

/* Starts until nobody waits, "A@0 B@0 B@6", or letters alone; a job runs for its estimate. */
static void serve(struct weir_host *host, bool has_times, char text[TEXT])
{
    struct running servers[SERVERS] = { { 0, 0 } };
    int64_t now_s = 0;
    int used = 0;

    for (text[0] = '\0'; now_s != INT64_MAX && used < TEXT - 20; now_s = next_end(servers)) {
        end_those(host, servers, now_s);
        const struct weir_plan *const plan =
            test_decide(host, WEIR_CAUSE_JOBS, now_s * INT64_C(1000000000));
        for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
            const struct weir_action *const action = weir_plan_action(plan, i);
            struct weir_job job = { .size = sizeof job };
            uint32_t idle = 0;
            if (action->verb != WEIR_VERB_START ||
                !weir_view_job(weir_host_view(host, 0), 0, action->owner.id, &job))
                continue;
            while (servers[idle].end_s > 0)
                idle++;
            servers[idle] =
                (struct running){ job.id, now_s + job.estimate_ns / INT64_C(1000000000) };
            const char letter = (char)('A' + (int)job.tenant - 1);
            used += has_times ? snprintf(text + used, TEXT - (size_t)used, "%s%c@%lld",
                                         used > 0 ? " " : "", letter, (long long)now_s)
                              : snprintf(text + used, TEXT - (size_t)used, "%c", letter);
        }
        CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    }
}

static struct weir_host *servers(const char *policy, uint32_t count, double first)
{
    const struct test_node node = { .nodes = 1, .cpus = count, .ram = 1e9 };

    return test_tenants_host_with(policy, &node, &first, 1);
}

/* covers: S1.81 */
static void wfq_serves_by_virtual_ends(void)
{
    struct weir_host *const host = servers("wfq", 1, 0);
    char order[TEXT];

    for (uint32_t t = 1; t <= 2; t++)
        test_ask(host, (struct test_ask){ .tenant = test_tenant_of_weight(host, t),
                                          .count = 3 * t,
                                          .cpus = 1,
                                          .seconds = 10 });
    serve(host, false, order);
    CHECK_STR(order, "BABBABBAB");
    weir_host_destroy(host);
}

/* SFQ(2): A of weight 1, B of weight 2. */
static void wfq_by_start_serves_two_servers(void)
{
    struct weir_host *host = servers("wfq", 2, 1);
    char order[TEXT];

    test_ask(host,
             (struct test_ask){
                 .tenant = test_tenant_of_weight(host, 1), .count = 6, .cpus = 1, .seconds = 10 });
    test_ask(host,
             (struct test_ask){
                 .tenant = test_tenant_of_weight(host, 2), .count = 8, .cpus = 1, .seconds = 10 });
    serve(host, false, order);
    CHECK_STR(order, "ABBABBABBABBAA");
    weir_host_destroy(host);
    host = servers("wfq", 2, 1);
    test_ask(host,
             (struct test_ask){
                 .tenant = test_tenant_of_weight(host, 1), .count = 4, .cpus = 1, .seconds = 6 });
    test_ask(host,
             (struct test_ask){
                 .tenant = test_tenant_of_weight(host, 2), .count = 6, .cpus = 1, .seconds = 10 });
    serve(host, true, order);
    CHECK_STR(order, "A@0 B@0 B@6 A@10 B@16 A@16 B@22 A@26 B@32 B@32");
    weir_host_destroy(host);
}

/* A is the first tenant, B's jobs came first: of equal virtual times theirs are next. */
static void of_equal_flows_the_first_to_come_is_next(void)
{
    for (double by_start = 0; by_start < 2; by_start++) {
        struct weir_host *const host = servers("wfq", 1, by_start);
        const uint32_t a = test_tenant_of_weight(host, 1);
        const uint32_t b = test_tenant_of_weight(host, 1);
        char order[TEXT];
        test_ask(host, (struct test_ask){ .tenant = b, .count = 2, .cpus = 1, .seconds = 10 });
        test_ask(host, (struct test_ask){ .tenant = a, .count = 2, .cpus = 1, .seconds = 10 });
        serve(host, false, order);
        CHECK_STR(order, "BABA");
        weir_host_destroy(host);
    }
}

/* covers: S1.82 */
/* B has nothing to do for an hour; then both take turns, B does not catch up. */
static void an_idle_tenant_gets_no_credit(void)
{
    struct weir_host *const host = servers("wfq", 1, 0);
    const uint32_t a = test_tenant_of_weight(host, 1);
    const uint32_t b = test_tenant_of_weight(host, 1);
    char order[TEXT] = "";

    test_ask(host, (struct test_ask){ .tenant = a, .count = 370, .cpus = 1, .seconds = 10 });
    for (uint32_t i = 0; i < 366; i++) {
        if (i == 360)
            test_ask(host, (struct test_ask){ .tenant = b, .count = 9, .cpus = 1, .seconds = 10 });
        const struct test_text started = test_round(host, 10 * i);
        if (i >= 360)
            strcat(order, started.text);
        test_end_some(host, (uint32_t)(started.text[0] - 'A') + 1, 1);
    }
    CHECK(strcmp(order, "ABABAB") == 0 || strcmp(order, "BABABA") == 0);
    weir_host_destroy(host);
}

/* A had a job of 100 s while nobody else asked. When all is over it is forgotten: A and B, who come
 * then, take turns, and B does not have 100 s first. */
static void what_was_before_an_idle_hour_is_forgotten(void)
{
    struct weir_host *const host = servers("wfq", 1, 0);
    const uint32_t a = test_tenant_of_weight(host, 1);
    const uint32_t b = test_tenant_of_weight(host, 1);
    char order[TEXT] = "";

    test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .cpus = 1, .seconds = 100 });
    CHECK_STR(test_round(host, 0).text, "A");
    test_end_some(host, a, 1);
    CHECK_STR(test_round(host, 100).text, "");
    test_ask(host, (struct test_ask){ .tenant = a, .count = 4, .cpus = 1, .seconds = 10 });
    test_ask(host, (struct test_ask){ .tenant = b, .count = 4, .cpus = 1, .seconds = 10 });
    for (uint32_t i = 0; i < 8; i++) {
        const struct test_text started = test_round(host, 3700 + 10 * i);
        strcat(order, started.text);
        test_end_some(host, started.text[0] == 'A' ? a : b, 1);
    }
    CHECK_STR(order, "ABABABAB");
    weir_host_destroy(host);
}

/* covers: S1.83 */
/* A starts gangs of eight, B single jobs of the same length and weight: eight for one. */
static void a_gang_of_eight_counts_eight_times(void)
{
    struct weir_host *const host = servers("wfq", 8, 0);
    const uint32_t a = test_tenant_of_weight(host, 1);
    const uint32_t b = test_tenant_of_weight(host, 1);
    uint32_t of_a = 0;
    uint32_t of_b = 0;

    test_ask(host,
             (struct test_ask){ .tenant = a, .count = 9, .cpus = 1, .seconds = 10, .ranks = 8 });
    test_ask(host, (struct test_ask){ .tenant = b, .count = 64, .cpus = 1, .seconds = 10 });
    for (uint32_t i = 0; i < 10; i++) {
        const struct test_text started = test_round(host, 10 * i);
        of_a += letters(&started, 'A');
        of_b += letters(&started, 'B');
        test_end_some(host, a, letters(&started, 'A'));
        test_end_some(host, b, letters(&started, 'B'));
    }
    CHECK_I64(of_a, 5);
    CHECK_NEAR(of_b, 8 * of_a, 1);
    weir_host_destroy(host);
}

/* covers: S1.83 */
/* A first has a job of 20 s, then jobs of 10 s as B. Charged for, the first one costs A its turns
 * before B's second. With buckets of 20 it moves A no further than nothing would, nor do two jobs
 * of B: then they take turns from the beginning. Who gets back what he spends is never charged. */
static void a_burst_within_the_bucket_changes_no_order(void)
{
    static const struct {
        double burst, refill;
        const char *order;
    } cases[] = { { 0, 0, "BABABABAA" }, { 20, 0, "ABBABABAA" }, { 20, 1, "AAAAABBBB" } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double values[] = { 0, 1, 3600, cases[i].burst, cases[i].refill };
        const struct test_node node = { .nodes = 1, .cpus = 1, .ram = 1e9 };
        struct weir_host *const host = test_tenants_host_with("wfq", &node, values, 5);
        const uint32_t a = test_tenant_of_weight(host, 1);
        const uint32_t b = test_tenant_of_weight(host, 1);
        char order[TEXT] = "";
        test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .cpus = 1, .seconds = 20 });
        test_ask(host, (struct test_ask){ .tenant = a, .count = 4, .cpus = 1, .seconds = 10 });
        test_ask(host, (struct test_ask){ .tenant = b, .count = 4, .cpus = 1, .seconds = 10 });
        serve(host, false, order);
        if (!CHECK_STR(order, cases[i].order))
            printf("case %zu\n", i);
        weir_host_destroy(host);
    }
}

static void stride_takes_turns_by_tickets(void)
{
    struct weir_host *const host = servers("stride", 1, 0);
    char order[TEXT];

    for (uint32_t t = 1; t <= 3; t++) {
        struct weir_tenant_spec spec = weir_tenant_default();
        spec.tickets = 4 - t;
        test_ask(host, (struct test_ask){ .tenant = test_tenant(host, spec),
                                          .count = 2 * (4 - t),
                                          .cpus = 1,
                                          .seconds = 1 });
    }
    serve(host, false, order);
    CHECK_STR(order, "ABAABCABAABC");
    weir_host_destroy(host);
}

/* ---- lottery ---- */

/* Draws of one pass over tenants with 3, 2 and 1 tickets: how often each won. */
static void draw(uint32_t draws, uint32_t wins[3])
{
    struct weir_host *const host = servers("lottery", draws, 0);

    for (uint32_t t = 1; t <= 3; t++) {
        struct weir_tenant_spec spec = weir_tenant_default();
        spec.tickets = 4 - t;
        test_ask(host,
                 (struct test_ask){ .tenant = test_tenant(host, spec), .count = draws, .cpus = 1 });
    }
    const struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_JOBS };
    const struct weir_plan *plan = NULL;
    CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_OK);
    for (uint32_t t = 0; t < 3; t++)
        wins[t] = host->jobs.tenants.all[t + 1].running;
    weir_host_destroy(host);
}

/* covers: S1.31 */
/* 10 000 draws; chi-square with 2 degrees of freedom: above 18.42 once in 10 000 seeds. */
static void a_lottery_draws_in_proportion_to_tickets(void)
{
    static const double expected[] = { 5000, 3333.333333, 1666.666667 };
    uint32_t wins[3];
    double chi = 0;

    draw(10000, wins);
    for (uint32_t t = 0; t < 3; t++)
        chi += (wins[t] - expected[t]) * (wins[t] - expected[t]) / expected[t];
    CHECK_I64(wins[0] + wins[1] + wins[2], 10000);
    CHECK(chi < 18.42);
    CHECK_NEAR(wins[0], 5000, 100);
    CHECK_NEAR(wins[1], 3333.3, 95);
    CHECK_NEAR(wins[2], 1666.7, 75);
}

/* covers: S1.31 */
/* A's job has most tickets and no place: the others are drawn around it, none is lost. */
static void a_winner_without_a_place_is_drawn_around(void)
{
    struct weir_host *const host = servers("lottery", 10, 0);
    struct weir_tenant_spec spec = weir_tenant_default();

    spec.tickets = 1000;
    const uint32_t a = test_tenant(host, spec);
    test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .cpus = 4 });
    CHECK_STR(test_round(host, 0).text, "A");
    test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .cpus = 10 });
    test_ask(host,
             (struct test_ask){ .tenant = test_tenant_of_weight(host, 1), .count = 6, .cpus = 1 });
    CHECK_STR(test_round(host, 1).text, "BBBBBB");
    test_end_some(host, a, 1);
    test_end_some(host, 2, 6);
    CHECK_STR(test_round(host, 2).text, "A");
    weir_host_destroy(host);
}

/* Equal tickets; A asks for four times as much of the cluster, and is drawn a quarter as often. */
static void a_resource_aware_lottery_divides_by_the_dominant_share(void)
{
    struct weir_host *const host = servers("lottery", 10000, 1);
    const struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_JOBS };
    const struct weir_plan *plan = NULL;

    test_ask(host, (struct test_ask){
                       .tenant = test_tenant_of_weight(host, 1), .count = 2000, .cpus = 4 });
    test_ask(host, (struct test_ask){
                       .tenant = test_tenant_of_weight(host, 1), .count = 9000, .cpus = 1 });
    CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_OK);
    const double share = (double)host->jobs.tenants.all[1].running /
                         (host->jobs.tenants.all[1].running + host->jobs.tenants.all[2].running);
    CHECK_NEAR(share, 0.2, 0.025); /* 5 sd of 6 250 draws */
    weir_host_destroy(host);
}

/* ---- fair share ---- */

/* covers: S1.26 */
/* A had 4 GPUs for 1000 s, B 1: B's jobs are next, with weight 5 of A they are level. */
static void who_had_least_for_its_weight_is_next(void)
{
    for (uint32_t formula = 0; formula < 2; formula++) {
        struct weir_host *const host = servers("fair_share", 4, formula);
        const uint32_t a = test_tenant_of_weight(host, 1);
        const uint32_t b = test_tenant_of_weight(host, 1);
        CHECK_I64(weir_host_restore_usage(host, a, 4000, 0), WEIR_OK);
        CHECK_I64(weir_host_restore_usage(host, b, 1000, 0), WEIR_OK);
        CHECK_I64(weir_host_restore_usage(host, 0, 5000, 0), WEIR_OK);
        test_ask(host, (struct test_ask){ .tenant = a, .count = 9, .cpus = 1 });
        test_ask(host, (struct test_ask){ .tenant = b, .count = 9, .cpus = 1 });
        CHECK_STR(test_round(host, 0).text, "BBBB");
        test_end_some(host, b, 4);
        struct weir_tenant_spec spec = weir_tenant_default();
        spec.weight = 5;
        CHECK_I64(weir_host_set_tenant(host, a, &spec, NULL), WEIR_OK);
        CHECK_STR(test_round(host, 0).text, "AAAA");
        weir_host_destroy(host);
    }
}

/* At first nobody has a past: those who have least now are next. */
static void without_a_past_the_present_counts(void)
{
    struct weir_host *const host = servers("fair_share", 6, 0);

    test_ask(host,
             (struct test_ask){ .tenant = test_tenant_of_weight(host, 1), .count = 9, .cpus = 1 });
    test_ask(host,
             (struct test_ask){ .tenant = test_tenant_of_weight(host, 2), .count = 9, .cpus = 1 });
    CHECK_STR(test_round(host, 0).text, "ABBABB");
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "DRF divides the classic example three to two",
      drf_divides_the_classic_example_three_to_two },
    { "a weight of two is twice the dominant share", a_weight_of_two_is_twice_the_dominant_share },
    { "DRF divides GPUs, CPUs and memory", drf_divides_gpus_cpus_and_memory },
    { "DRF follows the known order", drf_follows_the_known_order },
    { "DRF divides shares of GPUs and a pool of memory",
      drf_divides_shares_of_gpus_and_a_pool_of_memory },
    { "small tasks come to what divided ones have", small_tasks_come_to_what_divided_ones_have },
    { "every resource may be dominant", every_resource_may_be_dominant },
    { "links and bandwidth of GPUs may be dominant", links_and_bandwidth_of_gpus_may_be_dominant },
    { "shares are divided level by level", shares_are_divided_level_by_level },
    { "WFQ serves by virtual ends", wfq_serves_by_virtual_ends },
    { "WFQ by start serves two servers", wfq_by_start_serves_two_servers },
    { "of equal flows the first to come is next", of_equal_flows_the_first_to_come_is_next },
    { "an idle tenant gets no credit", an_idle_tenant_gets_no_credit },
    { "what was before an idle hour is forgotten", what_was_before_an_idle_hour_is_forgotten },
    { "a gang of eight counts eight times", a_gang_of_eight_counts_eight_times },
    { "a burst within the bucket changes no order", a_burst_within_the_bucket_changes_no_order },
    { "stride takes turns by tickets", stride_takes_turns_by_tickets },
    { "a lottery draws in proportion to tickets", a_lottery_draws_in_proportion_to_tickets },
    { "a winner without a place is drawn around", a_winner_without_a_place_is_drawn_around },
    { "a resource-aware lottery divides by the dominant share",
      a_resource_aware_lottery_divides_by_the_dominant_share },
    { "who had least for its weight is next", who_had_least_for_its_weight_is_next },
    { "without a past the present counts", without_a_past_the_present_counts },
};
TEST_MAIN(tests)
