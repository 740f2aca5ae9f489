/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random small scenarios with everything that can go wrong, all invariants checked after every
 * event: capacity, conservation of items, states that add up, busy time = service handed out.
 * Each runs twice and must give the same digests.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdlib.h>
#include <string.h>

enum { SCENARIOS = 120 };

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static const char *pick(uint64_t *state, const char *const *words, size_t count)
{
    return words[next(state) % count];
}
#define PICK(state, ...)                                                                           \
    pick((state), (const char *const[]){ __VA_ARGS__ },                                            \
         sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* Every third scenario has nodes for groups of processes, and such a stage. */
static bool has_groups(uint64_t seed)
{
    return seed % 3 == 0;
}

/* Some run within a budget of memory, small enough that one task may exceed it. */
static bool has_budget(uint64_t seed)
{
    return seed % 7 == 5;
}

/* In every second one bytes move, on random numbers of their own. */
static bool has_bytes(uint64_t seed)
{
    return seed % 2 == 0;
}

/* In some places a set-up is more than a time. */
static void write_setup(FILE *out, uint64_t *bytes, const char *time)
{
    if (bytes == NULL || next(bytes) % 4 == 0)
        (void)fprintf(out, ", setup: %s", time);
    else
        (void)fprintf(out, ", setup: {time: %s, %s}", time,
                      PICK(bytes, "image: {bytes: 300 MB, store: s}",
                           "environment: {bytes: 1 GB, store: t}, "
                           "weights: {bytes: 2 GB, store: t, traffic: y}",
                           "weights: {bytes: 200 MB, store: s, cached: true}"));
}

/* `bytes` is NULL where none move. */
static void write_stages(FILE *out, uint64_t *state, uint64_t *bytes, bool is_blocking,
                         bool is_runtime)
{
    const uint64_t stages = 1 + next(state) % 5;
    for (uint64_t s = 0; s < stages; s++) {
        (void)fprintf(out, "      - {name: s%d, %s, service: %s", (int)s,
                      PICK(state, "cpus: 1", "cpus: 0.5", "cpus: 1, gpus: 0.25", "cpus: 1, gpus: 1",
                           "cpus: 1, nvdecs: 1", "cpus: 1, gpus: 0.5, nvdecs: 1"),
                      PICK(state, "exp(1)", "const(1)", "\"lognormal(2, 1)\"", "const(0.5)"));
        write_setup(out, bytes, PICK(state, "0", "3", "exp(5)"));
        (void)fputs(PICK(state, "", "", ", returns: const(2)", ", returns: \"uniform(0, 2)\""),
                    out);
        if (!is_blocking)
            (void)fputs(PICK(state, "", "", ", batch: 3", ", batch: 8"), out);
        (void)fputs(PICK(state, "", "", ", process_failure: 0.1", ", setup_failure: 0.2"), out);
        const char *more = PICK(state, "", "", ", worker_between: exp(60)", ", bytes_out: 1 MB");
        (void)fputs(more, out);
        if (bytes != NULL && strstr(more, "bytes_out") == NULL)
            (void)fputs(PICK(bytes, "", ", bytes_out: 40 MB", ", bytes_out: \"exp(20000000)\""),
                        out);
        if (is_runtime)
            (void)fputs(PICK(state, "", ", setup_attempts: 3, setup_on_node: 9 s",
                             ", max_setup_failure: 0.1", ", on_failure: ignore, max_attempts: 2",
                             ", on_failure: ignore, max_attempts: 1, reset_on_failure: true",
                             ", on_failure: end, max_attempts: 3", ", max_lifetime: 30 s"),
                        out);
        (void)fputs(PICK(state, "", "", "", ", workers: 2", ", over_provision: 1.5"), out);
        (void)fputs("}\n", out);
    }
    if (next(state) % 2 == 0)
        (void)fprintf(out, "timeline:\n  - {at: 40, for: 30, action: %s, stage: s0%s}\n",
                      PICK(state, "stage_slow", "stage_stall", "stage_fail", "setup_slow"), "");
}

static void write_links(FILE *out, uint64_t *bytes)
{
    (void)fputs(
        "  stores: {s: {bandwidth: 50 MB/s, latency: 0.1, per_item: 10 ms}, t: {bandwidth: 1 GB/s, "
        "traffic: {x: 50%, y: {guarantee: 20%, limit: 100 MB/s}}}}\n",
        out);
    (void)fputs(PICK(bytes, "", "  racks: {nodes: 1, uplink: 50 MB/s}\n",
                     "  racks: {nodes: 2, uplink: 200 MB/s}\n"),
                out);
}

/* Nodes, what fails, and the links between them. */
static void write_cluster(FILE *out, uint64_t seed, uint64_t *state, uint64_t *bytes)
{
    (void)fprintf(out, "cluster:\n  nodes:\n");
    (void)fprintf(out, "    - {name: n, cpus: %s, gpus: {l4: %s}, count: %s%s%s}\n",
                  PICK(state, "8", "24", "40"), PICK(state, "2", "4", "8"),
                  PICK(state, "1", "2", "3"), has_budget(seed) ? ", ram: 64 MB" : "",
                  has_bytes(seed) ? PICK(bytes, "", ", nic: 100 MB/s", ", nic: 2 GB/s") : "");
    if (has_groups(seed))
        (void)fputs("    - {name: m, cpus: 8, gpus: {l4: 4}, count: 12}\n", out);
    (void)fputs(PICK(state, "", "", "  failures: {node_between: exp(200), node_repair: exp(40)}\n"),
                out);
    if (has_bytes(seed))
        write_links(out, bytes);
}

static char *write_scenario(uint64_t seed)
{
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    uint64_t bytes = seed * 0xA0761D6478BD642Fu + 1;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < 8; i++) {
        (void)next(&state);
        (void)next(&bytes);
    }
    (void)fprintf(out, "schema: 1\nname: random\nseed: %d\nhorizon: 10 min\n", (int)seed);
    write_cluster(out, seed, &state, &bytes);
    (void)fprintf(out, "sched:\n  placement: %s\n  scaling: {policy: %s, interval: %s}\n",
                  PICK(&state, "fgd", "best_fit", "worst_fit", "random", "spread", "first_fit"),
                  PICK(&state, "xenna", "pool_optimum", "inverse_speed", "equal_split"),
                  PICK(&state, "20", "60", "7"));
    uint64_t more = seed * 0xD1B54A32D192ED03u + 1;
    for (int i = 0; i < 8; i++)
        (void)next(&more);
    (void)fputs(
        PICK(&more, "", "", "  latency: {base: 5, per_worker: 10 ms}\n", "  view_age: 4 s\n"), out);
    const bool is_blocking = next(&state) % 3 == 0 && !has_budget(seed);
    (void)fprintf(
        out, "pipelines:\n  - name: p\n    input: {items: %s%s%s}\n    backpressure: %s\n",
        PICK(&state, "50", "400", "3000"), PICK(&state, "", ", arrivals: exp(0.3)"),
        has_bytes(seed) && !has_budget(seed)
            ? PICK(&bytes, "", ", bytes_per_item: \"uniform(0, 20000000)\", store: t",
                   ", bytes_per_item: 9 MB, store: t, traffic: x")
            : "",
        is_blocking ? PICK(&state, "{rule: blocking, buffer: 0}", "{rule: blocking, buffer: 3}")
        : has_budget(seed) ? PICK(&state, "raydata", "{rule: raydata, ratio: 10, reserved: 1}")
                           : PICK(&state, "slots", "none"));
    const bool is_runtime = !is_blocking && !has_budget(seed) && next(&more) % 4 != 0;
    (void)fprintf(out, "    semantics: %s\n", is_runtime ? "runtime" : "event");
    if (is_runtime)
        (void)fputs(PICK(&more, "", "    grace: 0\n    teardown: serial\n    teardown_limit: 2 s\n",
                         "    loop_hz: 1\n    backlog_guard: true\n    work_stealing: true\n",
                         "    restart: decide\n    restart_spacing: 9 s\n",
                         "    restart: next_plan\n"),
                    out);
    if (has_bytes(seed))
        (void)fputs(PICK(&bytes, "", "    transfers: s\n", "    transfers: t\n",
                         "    transfers: t\n    traffic: y\n"),
                    out);
    (void)fputs("    stages:\n", out);
    if (has_groups(seed))
        (void)fprintf(out, "      - {name: g, cpus: 0.5, gpus: %s, spmd: true, service: 2, %s}\n",
                      PICK(&more, "3", "4", "8", "16"),
                      PICK(&more, "setup: 3", "setup: 1, worker_between: exp(60)",
                           "setup_failure: 0.2, setup: 9"));
    write_stages(out, &state, has_bytes(seed) ? &bytes : NULL, is_blocking, is_runtime);
    return fclose(out) == 0 ? text : NULL;
}

/* stage_slow and setup_slow want a factor, stage_fail a probability. */
static void complete_timeline(char **text)
{
    char *grown = NULL;
    const char *at = strstr(*text, ", stage: s0}");
    if (at == NULL)
        return;
    const char *extra = strstr(*text, "action: stage_fail") != NULL    ? ", probability: 0.5"
                        : strstr(*text, "action: stage_stall") != NULL ? ""
                                                                       : ", factor: 3";
    if (asprintf(&grown, "%.*s, stage: s0%s}%s", (int)(at - *text), *text, extra,
                 at + strlen(", stage: s0}")) < 0)
        return;
    free(*text);
    *text = grown;
}

/* covers: S1.4 */
static void invariants_hold_at_every_event(void)
{
    size_t complete = 0;
    for (uint64_t seed = 1; seed <= SCENARIOS; seed++) {
        char *text = write_scenario(seed);
        complete_timeline(&text);
        struct sim_scenario *scenario = test_scenario(text, NULL);
        if (scenario == NULL) {
            printf("seed %d:\n%s\n", (int)seed, text);
            CHECK(scenario != NULL);
            free(text);
            continue;
        }
        struct sim_run_summary *first = test_run(scenario, 0, NULL);
        struct sim_run_summary *again = test_run_fast(scenario, 0, NULL);
        const bool is_room = first->status == WEIR_EMINIMUM || first->status == WEIR_EINFEASIBLE ||
                             first->status == WEIR_EMANUAL;
        if (first->status != WEIR_OK && !is_room)
            printf("seed %d: %s\n%s\n", (int)seed, first->message, text);
        CHECK(first->status == WEIR_OK || is_room);
        CHECK(first->digest == again->digest && first->result_digest == again->result_digest);
        complete += strcmp(first->outcome, "complete") == 0 ? 1 : 0;
        free(first);
        free(again);
        sim_scenario_destroy(scenario);
        free(text);
    }
    CHECK(complete > SCENARIOS / 4); /* the generator makes work that can be finished */
}

static const struct test tests[] = {
    { "invariants hold at every event of random scenarios", invariants_hold_at_every_event },
};
TEST_MAIN(tests)
