/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Half of the cluster is lost once and does not come back. One interval after the decision that
 * sees it and the set-up that follows, every scaling policy reaches at least 80 % of what it
 * reaches on the nodes that are left when it starts there: no worker that survived is in the way.
 * Three that look at each stage alone reach less.
 *
 * Random pipelines on 2 to 20 nodes, each with a cold start on what is left beside it.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "weir/policy.h"

#include <stdlib.h>
#include <string.h>

enum { PIPELINES = 100, MOST_STAGES = 6 };

/* Seconds: decisions, the loss, the longest set-up, the way of an item through refilled stages, and
 * how long is measured. */
enum { INTERVAL = 20, LOSS = 400, SETUP = 15, WAY = 60, MEASURED = 300 };
enum { BEGIN = LOSS + 2 * INTERVAL + SETUP + WAY };

static const double SHARE_TO_KEEP = 0.8;
/* Those that look at each stage alone: what their stages have depends on the way there, which is
 * another one after a loss than from nothing. profile_then_scale decides once, by what it saw when
 * all nodes were there. */
static const struct {
    const char *policy;
    double share;
} shares_of_ways[] = { { "raydata", 0.65 },
                       { "pool_feedback", 0.5 },
                       { "hpa", 0.35 },
                       { "profile_then_scale", 0.2 } };

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

struct plan {
    uint32_t nodes, cpu_nodes; /* with GPUs, without */
    bool has_loss;
    const char *policy;
};

static struct plan plan_of(uint64_t seed, uint64_t *state)
{
    struct plan plan = { .nodes = 2 + (uint32_t)(next(state) % 19) };
    *state ^= seed;
    if (plan.nodes >= 6 && next(state) % 3 == 0)
        plan.cpu_nodes = plan.nodes / 3;
    plan.nodes -= plan.cpu_nodes;
    return plan;
}

static void write_stages(FILE *out, uint64_t *state)
{
    const uint64_t stages = 2 + next(state) % (MOST_STAGES - 1);
    for (uint64_t s = 0; s < stages; s++)
        (void)fprintf(out, "      - {name: s%d, %s, service: %s, setup: %s%s%s}\n", (int)s,
                      PICK(state, "cpus: 1", "cpus: 2", "cpus: 0.5, gpus: 0.25", "cpus: 1, gpus: 1",
                           "cpus: 1, gpus: 0.5", "cpus: 1, gpus: 2"),
                      PICK(state, "const(2)", "const(5)", "const(9)", "\"lognormal(4, 1)\""),
                      PICK(state, "0", "3", "15"),
                      PICK(state, "", "", "", ", batch: 4", ", returns: const(2)"),
                      PICK(state, "", "", "", "", ", workers: 2"));
}

static void write_cluster(FILE *out, uint64_t *state, const struct plan *plan)
{
    const uint32_t lost = plan->nodes / 2;
    const uint32_t cpu_lost = plan->cpu_nodes / 2;
    (void)fprintf(out, "    - {name: n, cpus: %s, gpus: {l4: %s}, count: %d}\n",
                  PICK(state, "8", "16"), PICK(state, "4", "8"),
                  (int)(plan->nodes - (plan->has_loss ? 0 : lost)));
    if (plan->cpu_nodes > 0)
        (void)fprintf(out, "    - {name: c, cpus: 16, count: %d}\n",
                      (int)(plan->cpu_nodes - (plan->has_loss ? 0 : cpu_lost)));
}

/* The first nodes or the last ones: where the policy puts its workers first differs. */
static void write_loss(FILE *out, uint64_t seed, const struct plan *plan)
{
    const uint32_t lost = plan->nodes / 2;
    const uint32_t cpu_lost = plan->cpu_nodes / 2;
    const uint32_t first = seed % 2 == 0 ? 0 : plan->nodes - lost;
    (void)fputs("timeline:\n", out);
    for (uint32_t i = 0; i < lost; i++)
        (void)fprintf(out, "  - {at: %d, action: node_down, node: n-%d}\n", LOSS, (int)(first + i));
    for (uint32_t i = 0; i < cpu_lost; i++)
        (void)fprintf(out, "  - {at: %d, action: node_down, node: c-%d}\n", LOSS, (int)i);
}

static char *write_scenario(uint64_t seed, const struct plan *asked)
{
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < 8; i++)
        (void)next(&state);
    struct plan plan = plan_of(seed, &state);
    plan.has_loss = asked->has_loss;
    (void)fprintf(out,
                  "schema: 1\nname: loss\nseed: %d\nwarmup: %d s\nhorizon: %d s\n"
                  "cluster:\n  nodes:\n",
                  (int)seed, BEGIN, BEGIN + MEASURED);
    write_cluster(out, &state, &plan);
    (void)fprintf(out, "sched:\n  placement: %s\n  scaling: {policy: %s, interval: %d s}\n",
                  PICK(&state, "fgd", "best_fit", "worst_fit", "spread", "first_fit"),
                  asked->policy, INTERVAL);
    (void)fprintf(out, "pipelines:\n  - name: p\n    semantics: %s\n    input: {items: 10000000}\n",
                  PICK(&state, "runtime", "event"));
    (void)fputs("    stages:\n", out);
    write_stages(out, &state);
    if (plan.has_loss)
        write_loss(out, seed, &plan);
    return fclose(out) == 0 ? text : NULL;
}

/* Items a second in the measured time; negative when it cannot run at all. */
static double throughput_per_s(uint64_t seed, const struct plan *plan, const char *sets)
{
    char *text = write_scenario(seed, plan);
    struct sim_scenario *scenario = test_scenario(text, sets);
    double value = -1;
    if (scenario == NULL) {
        printf("seed %d: refused\n%s\n", (int)seed, text);
    } else {
        struct sim_run_summary *summary = test_run_fast(scenario, 0, NULL);
        if (summary->status == WEIR_OK)
            value = test_value(summary, "thr.pipeline", "");
        else if (getenv("WEIR_VERBOSE") != NULL)
            printf("seed %d: %s\n", (int)seed, summary->message);
        free(summary);
    }
    sim_scenario_destroy(scenario);
    free(text);
    return value;
}

struct tally {
    uint32_t compared;
    double least; /* kept share */
};

static void check_pipeline(uint64_t seed, const char *policy, struct tally *tally)
{
    const struct plan before = { .has_loss = true, .policy = policy };
    const struct plan left = { .has_loss = false, .policy = policy };
    const double cold = throughput_per_s(seed, &left, NULL);
    if (!(cold > 0))
        return; /* what is left is too small for this pipeline */
    const double kept = throughput_per_s(seed, &before, NULL) / cold;
    tally->compared++;
    tally->least = kept < tally->least ? kept : tally->least;
    double least = SHARE_TO_KEEP;
    for (size_t i = 0; i < sizeof shares_of_ways / sizeof shares_of_ways[0]; i++)
        if (strcmp(policy, shares_of_ways[i].policy) == 0)
            least = shares_of_ways[i].share;
    if (!CHECK(kept >= least)) {
        char *text = write_scenario(seed, &before);
        printf("seed %d, %s: %.3f of %.4f/s\n%s\n", (int)seed, policy, kept, cold, text);
        free(text);
    }
}

static void half_of_the_cluster_is_lost(void)
{
    for (uint32_t p = 0; p < weir_scaling_count(); p++) {
        const char *policy = weir_scaling_at(p)->name;
        struct tally tally = { .least = 1 };
        for (uint64_t seed = 1; seed <= PIPELINES; seed++)
            check_pipeline(seed, policy, &tally);
        printf("%-18s %d pipelines, at least %.3f kept\n", policy, (int)tally.compared,
               tally.least);
        CHECK(tally.compared * 2 > PIPELINES);
    }
}

static const struct test tests[] = {
    { "policies keep 80 % of a cold start when half of the cluster is lost",
      half_of_the_cluster_is_lost },
};
TEST_MAIN(tests)
