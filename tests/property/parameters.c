/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every parameter of every scaling policy is heard: with another value than its default a small
 * pipeline, which loses a node and gets slow for a while, comes to something else. One that is not
 * read, or read and dropped, shows nowhere else.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "weir/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 2000, WORD = 64 };

/* A backlog that outlasts a lost node and a slow stage; arrivals in bursts that a small node serves
 * to their end, with stages that have too few devices at first. */
static const char *const runs[] = {
    "horizon: 10 min\n"
    "cluster: {nodes: [{name: n, cpus: 12, count: 2, gpus: {l40s: 2}}]}\n"
    "sched: {placement: fgd_xenna, scaling: {interval: 30 s, policy: POLICY}}\n"
    "pipelines:\n  - name: p\n    input: {items: 4000}\n    stages:\n"
    "      - {name: cut, cpus: 1, service: 'gamma(2 s, 0.5)', setup: 8 s}\n"
    "      - {name: see, cpus: 1, gpus: 0.25, service: exp(3 s), setup: 20 s,\n"
    "         returns: 'uniform(1, 3)'}\n"
    "      - {name: put, cpus: 0.5, batch: 4, service: 1 s, setup: 5 s}\n"
    "timeline:\n  - {at: 4 min, action: node_down, node: n-1, for: 2 min}\n"
    "  - {at: 3 min, action: stage_slow, stage: see, factor: 2, for: 4 min}\n",
    "horizon: 20 min\n"
    "cluster: {nodes: [{name: n, cpus: 9, count: 2, gpus: {l40s: 1}}]}\n"
    "sched: {placement: fgd_xenna, scaling: {interval: 10 s, policy: POLICY}}\n"
    "pipelines:\n  - name: p\n    semantics: event\n"
    "    input: {items: 600, arrivals: {process: modulated, rate: 1, burst: 5, dwell: 40 s}}\n"
    "    stages:\n"
    "      - {name: cut, cpus: 1, service: exp(2 s), setup: 3 s}\n"
    "      - {name: see, cpus: 1, gpus: 0.5, service: 'lognormal(1 s, 1)', setup: 2 s}\n"
    "      - {name: put, cpus: 2, service: exp(1500 us)}\n"
    "timeline:\n  - {at: 6 min, action: arrivals, factor: 0, for: 5 min}\n"
    "  - {at: 3 min, action: stage_stall, stage: see, for: 30 s}\n",
};
enum { RUNS = sizeof runs / sizeof runs[0] };

/* What comes of it; 0 = it cannot be. */
static uint64_t outcome(size_t run, const char *policy, const char *more)
{
    char text[TEXT];
    const char *rest = strstr(runs[run], "POLICY");
    (void)snprintf(text, sizeof text, "schema: 2\nname: t\n%.*s%s%s%s", (int)(rest - runs[run]),
                   runs[run], policy, more, rest + strlen("POLICY"));
    struct sim_scenario *scenario = test_scenario(text, NULL);
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
    const double values[] = { param->initial / 4, param->initial * 3 + 1, param->min, param->max };
    if (n >= sizeof values / sizeof values[0])
        return false;
    const double value = fmin(fmax(values[n], param->min), param->max);
    (void)snprintf(word, WORD, param->kind == WEIR_PARAM_DURATION ? "%.9g s" : "%.15g",
                   param->kind == WEIR_PARAM_COUNT ? floor(value) : value);
    return true;
}

static bool is_heard(size_t run, const char *policy, const struct weir_param *param)
{
    const uint64_t usual = outcome(run, policy, "");
    char word[WORD];
    for (uint32_t n = 0; value_of(param, n, word); n++) {
        char more[2 * WORD];
        (void)snprintf(more, sizeof more, ", %s: %s", param->name, word);
        const uint64_t other = outcome(run, policy, more);
        if (other != 0 && other != usual)
            return true;
    }
    return false;
}

/* What these runs cannot show: what only a first decision, a pool that is done, equal numbers or a
 * cluster too small for one worker a stage bring out (tests/unit/scaling.c), and a few thresholds.
 */
static bool is_silent(const char *name)
{
    static const char *const names[] = { "default_speed",     "skip_finished",
                                         "arithmetic",        "on_shortage",
                                         "version",           "alpha",
                                         "min_task_duration", "reclaim_confirm_cycles",
                                         "counts_pending" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void every_parameter_is_heard(void)
{
    uint32_t heard = 0;
    for (uint32_t i = 0; i < weir_scaling_count(); i++) {
        const struct weir_scaling_ops *ops = weir_scaling_at(i);
        for (uint32_t p = 0; p < ops->param_count; p++) {
            const struct weir_param *param = &ops->params[p];
            if (is_silent(param->name))
                continue;
            heard++;
            if (!CHECK(is_heard(0, ops->name, param) || is_heard(1, ops->name, param)))
                printf("    nothing hears %s of %s\n", param->name, ops->name);
        }
    }
    CHECK(heard > 50);
}

static const struct test tests[] = {
    { "every parameter is heard", every_parameter_is_heard },
};

TEST_MAIN(tests)
