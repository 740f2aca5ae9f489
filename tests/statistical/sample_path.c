/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sample-path oracles: the simulator against a recursion, item by item, exact in nanoseconds.
 *
 * The recursions get the same arrivals and service times as the run (taken from its spans) and must
 * reproduce every start and every end: Lindley (one server), Kiefer and Wolfowitz (c servers), and
 * the tandem line with blocking after service.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 20000, STAGES = 4, SERVERS = 8 };

struct path {
    int64_t queued[STAGES][ITEMS], start[STAGES][ITEMS], end[STAGES][ITEMS];
    uint64_t seen;
};

static void keep_span(void *state, const struct sim_span *span)
{
    struct path *path = state;
    if (span->item >= ITEMS)
        return;
    path->queued[span->stage][span->item] = span->queued_ns;
    path->start[span->stage][span->item] = span->start_ns;
    path->end[span->stage][span->item] = span->end_ns;
    path->seen++;
}

static struct path *run_path(const char *text, const char *sets)
{
    struct path *path = calloc(1, sizeof(*path));
    struct sim_scenario *scenario = test_scenario(text, sets);
    const struct sim_observer observer = { .span = keep_span, .state = path };
    CHECK(scenario != NULL);
    if (scenario != NULL) {
        struct sim_run_summary *summary = test_run_fast(scenario, 0, &observer);
        CHECK_I64(summary->status, WEIR_OK);
        free(summary);
    }
    sim_scenario_destroy(scenario);
    return path;
}

#define QUEUE(cpus, workers, arrivals, service, backpressure)                                      \
    "schema: 1\nname: q\ncluster:\n  nodes:\n    - {name: n, cpus: " cpus                          \
    "}\nsched: {placement: first_fit, scaling: {policy: fixed, interval: 1000000 h}}\n"            \
    "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 20000" arrivals             \
    "}\n    backpressure: " backpressure "\n    stages:\n"                                         \
    "      - {name: a, cpus: 1, workers: " workers ", service: \"" service "\"}\n"

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void one_server_follows_lindley(void)
{
    struct path *path = run_path(
        QUEUE("4", "1", ", arrivals: exp(1)", "lognormal(0.9, 1.5)", "{rule: none}"), NULL);
    int64_t wrong = 0;
    CHECK_I64(path->seen, ITEMS);
    for (size_t n = 1; n < ITEMS; n++) {
        /* W(n+1) = max(0, W(n) + S(n) - A(n+1)), here as absolute times */
        const int64_t start = max64(path->queued[0][n], path->end[0][n - 1]);
        wrong += start != path->start[0][n];
    }
    CHECK_I64(wrong, 0);
    free(path);
}

static int compare_times(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left;
    const int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void many_servers_follow_kiefer_and_wolfowitz(void)
{
    struct path *path =
        run_path(QUEUE("16", "8", ", arrivals: exp(1)", "gamma(7.4, 0.8)", "{rule: none}"), NULL);
    int64_t free_at[SERVERS] = { 0 };
    int64_t wrong = 0;
    CHECK_I64(path->seen, ITEMS);
    for (size_t n = 0; n < ITEMS; n++) {
        const int64_t start = max64(path->queued[0][n], free_at[0]);
        wrong += start != path->start[0][n];
        free_at[0] = start + (path->end[0][n] - path->start[0][n]);
        qsort(free_at, SERVERS, sizeof(free_at[0]), compare_times);
    }
    CHECK_I64(wrong, 0);
    free(path);
}

/* D_j(n) = max(max(D_(j-1)(n), D_j(n-1)) + S_j(n), D_(j+1)(n-b-1)) */
static void check_tandem(const char *text, size_t stages, size_t buffer)
{
    struct path *path = run_path(text, NULL);
    int64_t(*left)[ITEMS] = calloc(stages + 1, sizeof(*left));
    int64_t wrong = 0;
    CHECK_I64(path->seen, ITEMS * stages);
    for (size_t n = 0; n < ITEMS; n++) {
        for (size_t j = 0; j < stages; j++) {
            const int64_t before = j == 0 ? 0 : left[j - 1][n];
            const int64_t start = max64(before, n == 0 ? 0 : left[j][n - 1]);
            int64_t out = start + (path->end[j][n] - path->start[j][n]);
            if (j + 1 < stages && n > buffer)
                out = max64(out, left[j + 1][n - buffer - 1]);
            left[j][n] = out;
            wrong += start != path->start[j][n];
        }
    }
    CHECK_I64(wrong, 0);
    free(left);
    free(path);
}

#define LINE(buffer)                                                                               \
    QUEUE("16", "1", "", "exp(1)", "{rule: blocking, buffer: " #buffer "}")                        \
    "      - {name: b, cpus: 1, workers: 1, service: exp(1)}\n"                                    \
    "      - {name: c, cpus: 1, workers: 1, service: exp(1)}\n"

static void saturated_tandem_lines_follow_the_blocking_recursion(void)
{
    check_tandem(LINE(0), 3, 0);
    check_tandem(LINE(1), 3, 1);
    check_tandem(LINE(3), 3, 3);
}

/* One worker with b + 1 slots is the same line as a buffer of b with blocking after service. */
static void slots_of_one_worker_are_a_buffer(void)
{
    check_tandem("schema: 1\nname: q\ncluster:\n  nodes:\n    - {name: n, cpus: 16}\n"
                 "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1000000 h}}\n"
                 "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 20000}\n    "
                 "slots_per_worker: 3\n"
                 "    backpressure: {rule: slots}\n    stages:\n"
                 "      - {name: a, cpus: 1, workers: 1, service: exp(1)}\n"
                 "      - {name: b, cpus: 1, workers: 1, service: exp(1)}\n",
                 2, 2);
}

#define SATURATED                                                                                  \
    "schema: 1\nname: crn\ncluster:\n  nodes:\n    - {name: n, cpus: 64}\n"                        \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1000000 h}}\n"               \
    "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 5000}\n    stages:\n"       \
    "      - {name: a, cpus: 1, workers: 4, service: exp(1)}\n"                                    \
    "      - {name: b, cpus: 1, workers: 10, service: exp(2.4)}\n"                                 \
    "      - {name: c, cpus: 1, workers: 4, service: exp(1)}\n"

/* Random numbers belong to items: on a saturated 18-worker line at cv 1, taking the newest idle
 * worker instead of the oldest changes nothing at all. */
static void which_idle_worker_is_taken_makes_no_difference(void)
{
    struct sim_scenario *oldest = test_scenario(SATURATED, NULL);
    struct sim_scenario *newest = test_scenario(SATURATED, "pipelines[0].worker_choice=newest");
    CHECK(oldest != NULL && newest != NULL);
    if (oldest == NULL || newest == NULL)
        return;
    for (uint32_t r = 0; r < 3; r++) {
        struct sim_run_summary *a = test_run(oldest, r, NULL);
        struct sim_run_summary *b = test_run(newest, r, NULL);
        CHECK_NEAR(a->completion_s, b->completion_s, 0.0);
        CHECK(a->completion_s > 1000);
        CHECK_NEAR(test_value(a, "lat.e2e.p95", ""), test_value(b, "lat.e2e.p95", ""), 0.0);
        CHECK(a->digest != b->digest); /* the events did differ: other workers */
        free(a);
        free(b);
    }
    sim_scenario_destroy(oldest);
    sim_scenario_destroy(newest);
}

struct demand {
    int64_t service[STAGES][ITEMS];
};

static void keep_demand(void *state, const struct sim_span *span)
{
    struct demand *demand = state;
    if (span->item < ITEMS)
        demand->service[span->stage][span->item] = span->end_ns - span->start_ns;
}

static struct demand *run_demand(const char *sets)
{
    static const char text[] =
        "schema: 1\nname: demand\ncluster:\n  nodes:\n    - {name: n, cpus: 12, count: 2}\n"
        "  failures: {node_between: exp(400), node_repair: exp(60)}\n"
        "sched: {placement: best_fit, scaling: {policy: xenna, interval: 30 s}}\n"
        "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 3000, size: "
        "\"lognormal(1, 0.5)\"}\n    "
        "stages:\n"
        "      - {name: a, cpus: 1, service: exp(1), worker_between: exp(300)}\n"
        "      - {name: b, cpus: 1, service: \"gamma(3, 0.5)\", process_failure: 0.02, setup: 4}\n"
        "      - {name: c, cpus: 2, service: exp(2)}\n";
    struct demand *demand = calloc(1, sizeof(*demand));
    struct sim_scenario *scenario = test_scenario(text, sets);
    const struct sim_observer observer = { .span = keep_demand, .state = demand };
    CHECK(scenario != NULL);
    if (scenario != NULL) {
        struct sim_run_summary *summary = test_run(scenario, 0, &observer);
        CHECK_STR(summary->outcome, "complete");
        free(summary);
    }
    sim_scenario_destroy(scenario);
    return demand;
}

/* Crashes, node losses, retries and rescaling: every item is served for the same time in the end.
 */
static void demand_of_an_item_is_the_same_for_every_policy(void)
{
    struct demand *first = run_demand(NULL);
    static const char *const others[] = { "sched.scaling.policy=equal_split",
                                          "sched.placement=worst_fit",
                                          "pipelines[0].worker_choice=newest" };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct demand *other = run_demand(others[i]);
        CHECK(memcmp(first, other, sizeof(*first)) == 0);
        free(other);
    }
    free(first);
}

static const struct test tests[] = {
    { "one server follows Lindley", one_server_follows_lindley },
    { "many servers follow Kiefer and Wolfowitz", many_servers_follow_kiefer_and_wolfowitz },
    { "saturated tandem lines follow the blocking recursion",
      saturated_tandem_lines_follow_the_blocking_recursion },
    { "slots of one worker are a buffer", slots_of_one_worker_are_a_buffer },
    { "which idle worker is taken makes no difference",
      which_idle_worker_is_taken_makes_no_difference },
    { "the demand of an item is the same for every policy",
      demand_of_an_item_is_the_same_for_every_policy },
};
TEST_MAIN(tests)
