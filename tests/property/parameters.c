/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every parameter of every policy is heard: with another value than its default a small run comes
 * to something else. One that is not read, or read and dropped, shows nowhere else.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "weir/batching.h"
#include "weir/capacity.h"
#include "weir/job.h"
#include "weir/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 512, WORD = 64 };

/* A backlog that outlasts a lost node and a slow stage. */
static const char backlog[] =
    "schema: 2\nname: t\nhorizon: 10 min\n"
    "cluster: {nodes: [{name: n, cpus: 12, count: 2, gpus: {l40s: 2}}]}\n"
    "sched: {placement: fgd_xenna, scaling: {interval: 30 s, policy: fixed}}\n"
    "pipelines:\n  - name: p\n    input: {items: 4000}\n    stages:\n"
    "      - {name: cut, cpus: 1, service: 'gamma(2 s, 0.5)', setup: 8 s}\n"
    "      - {name: see, cpus: 1, gpus: 0.25, service: exp(3 s), setup: 20 s,\n"
    "         returns: 'uniform(1, 3)'}\n"
    "      - {name: put, cpus: 0.5, batch: 4, service: 1 s, setup: 5 s}\n"
    "timeline:\n  - {at: 4 min, action: node_down, node: n-1, for: 2 min}\n"
    "  - {at: 3 min, action: stage_slow, stage: see, factor: 2, for: 4 min}\n";

/* Arrivals in bursts that a small cluster serves to their end, with too few devices at first. */
static const char bursts[] =
    "schema: 2\nname: t\nhorizon: 20 min\n"
    "cluster: {nodes: [{name: n, cpus: 9, count: 2, gpus: {l40s: 1}}]}\n"
    "sched: {placement: fgd_xenna, scaling: {interval: 10 s, policy: fixed}}\n"
    "pipelines:\n  - name: p\n    semantics: event\n"
    "    input: {items: 600, arrivals: {process: modulated, rate: 1, burst: 5, dwell: 40 s}}\n"
    "    stages:\n"
    "      - {name: cut, cpus: 1, service: exp(2 s), setup: 3 s}\n"
    "      - {name: see, cpus: 1, gpus: 0.5, service: 'lognormal(1 s, 1)', setup: 2 s}\n"
    "      - {name: put, cpus: 2, service: exp(1500 us)}\n"
    "timeline:\n  - {at: 6 min, action: arrivals, factor: 0, for: 5 min}\n"
    "  - {at: 3 min, action: stage_stall, stage: see, for: 30 s}\n";

/* Shares, whole GPUs of several, codecs and CPUs alone, on nodes that differ, until none fits. */
static const char filled[] =
    "schema: 2\nname: t\n"
    "catalog: {gpu_types: {own: {memory: 16 GB}}}\n"
    "cluster:\n  share: fraction\n  nodes:\n"
    "    - {name: a, count: 3, cpus: 48, ram: 200 GB, gpus: {a100-80: 4}, source: guess}\n"
    "    - {name: l, count: 3, cpus: 21, ram: 64 GB, gpus: {l40s: 2}, source: guess}\n"
    "    - {name: o, count: 4, cpus: 15, ram: 40 GB, gpus: {own: 2}, source: guess}\n"
    "    - {name: c, count: 2, cpus: 40, ram: 256 GB, source: guess}\n"
    "sched: {placement: fgd}\n"
    "fill:\n  - name: w\n    count: 90\n    node_order: shuffled\n    classes:\n"
    "      - {name: third, weight: 6, request: {cpus: 2, gpus: 0.33, gpu_memory: 5 GB}}\n"
    "      - {name: most, weight: 3, request: {cpus: 3, gpus: 0.7, ram: 10 GB}}\n"
    "      - {name: fifth, weight: 2, request: {cpus: 1, gpus: 0.2}}\n"
    "      - {name: one, weight: 3, request: {cpus: 4, gpus: 1, ram: 24 GB}}\n"
    "      - {name: both, weight: 2, request: {cpus: 4, gpus: 1, nvdecs: 2}, gpu_types: [a100-80, "
    "l40s]}\n"
    "      - {name: two, weight: 2, request: {cpus: 8, gpus: 2, ram: 30 GB}, gpu_types: [a100-80, "
    "l40s]}\n"
    "      - {name: codec, weight: 3, request: {cpus: 2, nvdecs: 1, nvencs: 1}}\n"
    "      - {name: cpus, weight: 3, request: {cpus: 7, ram: 12 GB}}\n";

/* Stages whose workers come and go, so that stopped ones may be kept. */
static const char stages[] =
    "schema: 2\nname: t\nhorizon: 3 min\nmeasured_on: a100-80\n"
    "cluster:\n  nodes:\n"
    "    - {name: a, count: 2, cpus: 24, ram: 96 GB, gpus: {a100-80: 4}, source: guess}\n"
    "    - {name: l, count: 3, cpus: 12, ram: 48 GB, gpus: {l40s: 2}, source: guess}\n"
    "sched: {placement: fgd_xenna, scaling: {interval: 10 s, policy: xenna}}\n"
    "pipelines:\n  - name: p\n    semantics: event\n"
    "    input: {items: 900, arrivals: {process: modulated, rate: 3, burst: 4, dwell: 30 s}}\n"
    "    stages:\n"
    "      - {name: cut, cpus: 2, ram: 3 GB, service: 'gamma(1 s, 0.5)', setup: 2 s}\n"
    "      - {name: film, cpus: 1, nvdecs: 1, service: exp(1 s), setup: 1 s}\n"
    "      - {name: see, cpus: 1, gpus: 0.3, gpu_memory: 9 GB, service: exp(1 s), setup: 2 s}\n"
    "      - {name: say, cpus: 1, gpus: 0.6, service: exp(500 ms), setup: 3 s}\n"
    "      - {name: big, cpus: 2, gpus: 1, service: exp(800 ms), setup: 3 s}\n"
    "timeline:\n  - {at: 1 min, action: node_down, node: a-1, for: 30 s}\n"
    "  - {at: 30 s, action: stage_slow, stage: see, factor: 3, for: 40 s}\n"
    "  - {at: 90 s, action: stage_slow, stage: cut, factor: 3, for: 40 s}\n";

#define WEIGHTS "weight_age=100 weight_fair_share=100 weight_size=50 weight_qos=50"

/* More jobs of three tenants than there is room for, each of one GPU or two. */
static const char crowd[] =
    "schema: 2\nname: t\nhorizon: 4 h\nmeasured_on: a100-80\n"
    "cluster:\n  nodes:\n"
    "    - {name: a, count: 2, cpus: 32, gpus: {a100-80: 4}, source: guess}\n"
    "    - {name: h, count: 1, cpus: 32, gpus: {h100: 4}, source: guess}\n"
    "tenants:\n  - {name: blue, weight: 3, guarantee: {gpus: 6}}\n"
    "  - {name: red, weight: 1, guarantee: {gpus: 4}}\n  - {name: green, weight: 2}\n"
    "sched: {placement: best_fit, queueing: fcfs}\n"
    "jobs:\n  - name: w\n    tenant: blue\n    arrivals: {process: poisson, rate: 0.02}\n"
    "    estimate: 1.4\n    checkpoint: {interval: 10 min, restart: 1 min}\n"
    "    preemption: {restart: 45 s}\n    classes:\n"
    "      - {name: one, weight: 4, request: {gpus: 1}, run_time: 'lognormal(20 min, 1)', "
    "priority: 1}\n"
    "      - {name: red, weight: 2, request: {gpus: 1}, run_time: exp(15 min), tenant: red, "
    "priority: 3}\n"
    "      - {name: two, weight: 1, request: {gpus: 2}, run_time: exp(15 min), tenant: green}\n"
    "      - {name: grows, weight: 1, members: 2, elastic: {least: 1, most: 8, serial: 0.05}, "
    "request: {gpus: 1}, run_time: exp(1 h), tenant: green, priority: 2}\n";

/* Requests of three priorities and none, in bursts that a replica does not follow. */
static const char requests[] =
    "schema: 2\nname: t\nhorizon: 10 min\n"
    "cluster: {nodes: [{name: n, cpus: 8}]}\n"
    "sched: {placement: first_fit, scaling: fixed}\n"
    "services:\n  - name: s\n    replicas: 1\n    service: {base: 400 ms, per_item: 100 ms}\n"
    "    requests:\n      arrivals: {process: modulated, rate: 4, burst: 3, dwell: 20 s}\n"
    "      classes:\n"
    "        - {name: first, priority: 95, shape: small}\n"
    "        - {name: last, priority: 15, items: 2}\n"
    "        - {name: usual, weight: 2}\n";
/* Waves of jobs that want CPUs, GPUs or memory, on nodes that come late or not at all. */
static const char waves[] =
    "schema: 2\nname: t\nhorizon: 12 h\nmeasured_on: a100-80\n"
    "cluster:\n  nodes:\n"
    "    - {name: a, count: 2, cpus: 32, ram: 64 GB, gpus: {a100-80: 4}, source: guess,\n"
    "       supply: {min: 1, max: 9, boot: exp(4 min), launch_failure: 0.3}}\n"
    "sched: {placement: best_fit, queueing: first_fit, capacity: none}\n"
    "jobs:\n  - name: w\n    arrivals: {process: modulated, rate: 0.01, burst: 4, dwell: 20 min}\n"
    "    classes:\n"
    "      - {name: cpus, request: {cpus: 15}, run_time: exp(9 min)}\n"
    "      - {name: gpus, request: {cpus: 1, gpus: 1}, run_time: exp(15 min)}\n"
    "      - {name: ram, request: {cpus: 1, ram: 30 GB}, run_time: exp(9 min)}\n";

/* Nodes with GPUs and nodes without, and urgent jobs for which others have to go, which takes long.
 */
static const char groups[] =
    "schema: 2\nname: t\nhorizon: 8 h\n"
    "cluster:\n  nodes:\n"
    "    - {name: c, count: 1, cpus: 32, supply: {max: 4, boot: const(2 min)}}\n"
    "    - {name: g, count: 1, cpus: 16, gpus: {l40s: 2}, supply: {max: 4, boot: const(4 min)}}\n"
    "sched: {placement: best_fit, queueing: {policy: strict_priority, grace: 1 h}, capacity: "
    "none}\n"
    "jobs:\n  - name: w\n    checkpoint: {cost: 20 min, restart: 1 s, interval: 2 h, source: "
    "guess}\n"
    "    arrivals: {process: modulated, rate: 0.003, burst: 4, dwell: 30 min}\n"
    "    classes:\n"
    "      - {name: cpus, request: {cpus: 12}, run_time: exp(20 min)}\n"
    "      - {name: gpus, request: {cpus: 2, gpus: 1}, run_time: exp(1 h)}\n"
    "      - {name: urgent, priority: 9, request: {cpus: 2, gpus: 2}, run_time: exp(9 min)}\n";

/* Where the policies of a kind are named, and runs that show what a parameter does. */
struct kind {
    const char *key;
    struct run {
        const char *text, *sets;
    } runs[4]; /* then NULL */
};
static const struct kind scalings = { "sched.scaling",
                                      { { backlog, "" },
                                        { bursts, "" },
                                        { "scenarios/incidents/i26_kill_after_setup.yaml",
                                          "compare=- expect=- horizon=2h" } } };
static const struct kind placements = { "sched.placement",
                                        { { filled, "" },
                                          { stages, "" },
                                          { "tests/golden/results/queueings.yaml",
                                            "compare=- horizon=6h" } } };
static const struct kind queueings = {
    "sched.queueing",
    { { crowd, "" }, { "tests/golden/results/queueings.yaml", "compare=- horizon=6h" } }
};

static const struct kind batchings = { "services.s.batching", { { requests, "" } } };
#define TEAMS                                                                                      \
    "tenants=[{\"name\":\"a\"},{\"name\":\"b\"}] jobs.w.tenant=a jobs.w.classes.gpus.tenant=b"
static const struct kind capacities = { "sched.capacity",
                                        { { waves, "" }, { waves, TEAMS }, { groups, "" } } };

/* What comes of it; 0 = it cannot be. */
static uint64_t outcome(const struct run *run, const char *sets)
{
    struct sim_scenario *scenario = test_scenario(run->text, sets);
    struct sim_run_summary *summary = scenario == NULL ? NULL : test_run_fast(scenario, 0, NULL);
    const uint64_t digest = summary == NULL ? 0 : summary->result_digest;
    free(summary);
    sim_scenario_destroy(scenario);
    return digest;
}

/* The n-th other value, false = there is none. */
static bool value_of(const struct weir_param *param, uint32_t n, char word[WORD])
{
    if (param->kind == WEIR_PARAM_CHOICE) {
        const char *choice = param->choices;
        for (uint32_t i = 0; i < n && choice != NULL; i++) {
            choice = strchr(choice, '|');
            choice += choice == NULL ? 0 : 1;
        }
        (void)snprintf(word, WORD, "%.*s", choice == NULL ? 0 : (int)strcspn(choice, "|"),
                       choice == NULL ? "" : choice);
        return choice != NULL;
    }
    if (param->kind == WEIR_PARAM_FLAG) {
        (void)snprintf(word, WORD, "%s", param->initial > 0 ? "false" : "true");
        return n == 0;
    }
    if (param->kind == WEIR_PARAM_LIST) {
        (void)snprintf(word, WORD, n == 0 ? "[100,1000,5000]" : "[3,2]");
        return n < 2;
    }
    const double values[] = { param->initial / 4, param->initial * 3 + 1, param->min, param->max };
    const double value = fmin(fmax(values[n % 4], param->min), param->max);
    (void)snprintf(word, WORD, param->kind == WEIR_PARAM_DURATION ? "%.17gs" : "%.17g",
                   param->kind == WEIR_PARAM_COUNT ? floor(value) : value);
    return n < (param->kind == WEIR_PARAM_COUNT ? 3 : 4);
}

/* Beside which others the parameters of a policy are heard that are not beside the defaults; of
 * every policy whose name begins so. */
static const struct {
    const struct kind *kind;
    const char *policy, *beside;
} company[] = {
    { &placements, "fgd", "tie=random" },
    { &placements, "fgd", "score=change precision=single reuse=same_tie" },
    { &placements, "fgd", "score=change precision=single reuse=same_tie metric=xenna" },
    { &placements, "fgd_", "precision=double" },
    { &placements, "fgd", "metric=paper score=grade" },
    { &placements, "fgd", "metric=paper score=grade tie=random" },
    { &placements, "best_fit", "measure=amounts" },
    { &placements, "best_fit", "measure=amounts tie=random" },
    { &placements, "worst_fit", "measure=amounts" },
    { &placements, "worst_fit", "measure=amounts tie=random" },
    { &placements, "alignment", "scale=common" },
    { &placements, "power", "gpu_full=120.5" },
    { &placements, "weir", "supply=0 broken=0" },
    { &placements, "weir", "step=0.001 broken=0 consolidate=0" },
    { &placements, "", "tie=random" },
    { &queueings, "multifactor", WEIGHTS },
    { &queueings, "slurm", WEIGHTS },
    { &queueings, "benefit", "checkpoint=20s interval=300s" },
    { &queueings, "wfq", "burst=1000" },
    { &queueings, "fair_share", "formula=slurm age=1" },
    { &queueings, "elastic", "limit=best" },
    { &queueings, "elastic", "limit=marginal" },
    { &queueings, "elastic", "dwell=10s" },
    { &queueings, "gittins", "samples=[100,1000,5000]" },
    { &queueings, "tesserae", "worth=0" },
    { &batchings, "dynamic", "max_delay=500ms" },
    { &batchings, "dynamic", "levels=4" },
    { &batchings, "dynamic", "levels=4 default_level=2" },
    { &batchings, "fixed", "size=3" },
    { &batchings, "dynamic", "timeout=3s" },
    { &capacities, "threshold", "wait_up=60s queue_up=0 cpu_up=1 gpu_up=1 ram_up=1" },
    { &capacities, "threshold",
      "wait_up=60s queue_up=0 cpu_up=1 gpu_up=1 ram_up=1 cpu_down=1 gpu_down=1 ram_down=1" },
    { &capacities, "threshold", "queue_up=3 cpu_down=1 gpu_down=1 ram_down=1" },
    { &capacities, "", "backoff=900s backoff_most=1000s" },
    { &capacities, "demand", "at_once=1" },
    { &capacities, "kubernetes", "gpu_aware=false" },
    { &capacities, "forecast", "mode=proactive" },
    { &capacities, "forecast", "forecaster=ar" },
    { &capacities, "forecast", "forecaster=regression season=1800s mode=proactive" },
    { &capacities, "forecast", "forecaster=holt_winters season=1800s" },
};
enum { COMPANY = sizeof company / sizeof company[0] };

/* Adds the words as sets of a kind. */
static int add_sets(char sets[SETS], int length, const char *key, const char *words)
{
    while (*words != 0) {
        const int word = (int)strcspn(words, " ");
        length += snprintf(sets + length, (size_t)(SETS - length), " %s.%.*s", key, word, words);
        words += word + (words[word] == ' ');
    }
    return length;
}

static bool is_heard_in(const struct kind *kind, const struct run *run, const char *policy,
                        const struct weir_param *param, const char *beside)
{
    char sets[SETS];
    const int length =
        add_sets(sets, snprintf(sets, sizeof sets, "%s %s.policy=%s", run->sets, kind->key, policy),
                 kind->key, beside);
    const uint64_t usual = outcome(run, sets);
    char word[WORD];
    for (uint32_t n = 0; usual != 0 && value_of(param, n, word); n++) {
        (void)snprintf(sets + length, sizeof sets - (size_t)length, " %s.%s=%s", kind->key,
                       param->name, word);
        const uint64_t other = outcome(run, sets);
        if (other != 0 && other != usual)
            return true;
    }
    return false;
}

static bool is_heard_beside(const struct kind *kind, const char *policy,
                            const struct weir_param *param, const char *beside)
{
    for (const struct run *run = kind->runs; run->text != NULL; run++)
        if (is_heard_in(kind, run, policy, param, beside))
            return true;
    return false;
}

static bool is_heard(const struct kind *kind, const char *policy, const struct weir_param *param)
{
    if (is_heard_beside(kind, policy, param, ""))
        return true;
    for (size_t i = 0; i < COMPANY; i++)
        if (strncmp(policy, company[i].policy, strlen(company[i].policy)) == 0 &&
            company[i].kind == kind && is_heard_beside(kind, policy, param, company[i].beside))
            return true;
    return false;
}

/* What these runs cannot show: what only a first decision, a pool that is done, equal numbers or a
 * cluster too small for one worker a stage bring out (tests/unit/scaling.c), which of equal devices
 * is taken (tests/golden/fgd_rules.c, tests/unit/graded.c), that many nodes wait for the same jobs
 * (tests/unit/weir_supply.c), where shares that come and go are best (tests/unit/placement_weir.c),
 * what a run tells of every job (an estimate), a node that is not taken back
 * (tests/unit/node_kubernetes.c), and a few thresholds. Nobody is told to go by cohorts in these
 * runs. */
static bool is_silent(const char *policy, const char *name)
{
    static const char *const names[][2] = {
        { "cohorts", "grace" },      { "kubernetes", "delay_after_failure" },
        { "", "default_speed" },     { "", "skip_finished" },
        { "", "arithmetic" },        { "", "on_shortage" },
        { "", "version" },           { "", "alpha" },
        { "", "min_task_duration" }, { "", "reclaim_confirm_cycles" },
        { "", "counts_pending" },    { "fgd", "metric" },
        { "fgd", "whole" },          { "fgd", "whole_engines" },
        { "fgd", "device_score" },   { "first_fit", "slots" },
        { "power", "steps" },        { "weir", "prior" },
        { "weir", "crowded" },       { "weir", "supply" },
        { "weir", "broken" },        { "weir", "tight" },
        { "weir", "prevent" },       { "wfq", "unknown" },
        { "formula", "expression" },
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(policy, names[i][0], strlen(names[i][0])) == 0 &&
            strcmp(names[i][1], name) == 0)
            return true;
    return false;
}

static uint32_t hear(const struct kind *kind, const char *policy, const struct weir_param *params,
                     uint32_t count)
{
    uint32_t heard = 0;
    for (uint32_t p = 0; p < count; p++) {
        if (!CHECK(is_silent(policy, params[p].name) || is_heard(kind, policy, &params[p])))
            printf("    nothing hears %s of %s\n", params[p].name, policy);
        heard += !is_silent(policy, params[p].name);
    }
    return heard;
}

static void scaling_hears(void)
{
    uint32_t heard = 0;
    for (uint32_t i = 0; i < weir_scaling_count(); i++) {
        const struct weir_scaling_ops *ops = weir_scaling_at(i);
        heard += hear(&scalings, ops->name, ops->params, ops->param_count);
    }
    CHECK(heard > 50);
}

static void placement_hears(void)
{
    uint32_t heard = 0;
    for (uint32_t i = 0; i < weir_placement_count(); i++) {
        const struct weir_placement_ops *ops = weir_placement_at(i);
        heard += hear(&placements, ops->name, ops->params, ops->param_count);
    }
    CHECK(heard > 50);
}

static void queueing_hears(void)
{
    uint32_t heard = 0;
    for (uint32_t i = 0; i < weir_queueing_count(); i++) {
        const struct weir_queueing_ops *ops = weir_queueing_at(i);
        heard += hear(&queueings, ops->name, ops->params, ops->param_count);
    }
    CHECK(heard > 50);
}

static void batching_hears(void)
{
    uint32_t heard = 0;
    for (uint32_t i = 0; i < weir_batching_count(); i++) {
        const struct weir_batching_ops *ops = weir_batching_at(i);
        heard += hear(&batchings, ops->name, ops->params, ops->param_count);
    }
    CHECK(heard >= 10);
}

static void capacity_hears(void)
{
    uint32_t heard = 0;
    for (uint32_t i = 0; i < weir_capacity_count(); i++) {
        const struct weir_capacity_ops *ops = weir_capacity_at(i);
        heard += hear(&capacities, ops->name, ops->params, ops->param_count);
    }
    CHECK(heard > 30);
}

static const struct test tests[] = {
    { "every parameter of batching is heard", batching_hears },
    { "every parameter of scaling is heard", scaling_hears },
    { "every parameter of placement is heard", placement_hears },
    { "every parameter of queueing is heard", queueing_hears },
    { "every parameter of capacity is heard", capacity_hears },
};

TEST_MAIN(tests)
