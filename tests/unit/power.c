/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Power caps and heat by hand: when work on throttled GPUs ends, and what the meter says was drawn.
 * Invariants hold at every event, so no cap is broken in between.
 *
 * An H100 draws 95 W idle and 700 W at its limit. Ends are late by less than 10 ns: the rate of a
 * throttled GPU is a whole number.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPANS = 64 };
static const double LATE = 1e-8;

struct ends {
    double end_s[SPANS];
    uint32_t stage[SPANS];
    size_t count;
};

static void add_span(void *state, const struct sim_span *span)
{
    struct ends *ends = state;
    if (ends->count == SPANS)
        return;
    ends->stage[ends->count] = span->stage;
    ends->end_s[ends->count++] = sim_time_s(span->end_ns);
}

/* `node`: GPUs and keys of the one node, of 64 CPUs; `power`: keys of cluster.power. */
static struct sim_run_summary *run(const char *node, const char *power, const char *stages,
                                   const char *rest, struct ends *ends)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\n"
                   "cluster:\n  power: {socket_idle: 0 W, socket_full: 0 W%s}\n"
                   "  nodes: [{name: n, cpus: 64, %s}]\n"
                   "sched: {placement: first_fit, scaling: {policy: fixed, interval: 10000 s}}\n"
                   "pipelines:\n%s%s",
                   power, node, stages, rest);
    *ends = (struct ends){ .count = 0 };
    const struct sim_observer observer = { .span = add_span, .state = ends };
    return test_watch_text(text, &observer);
}

#define PIPELINE(name, items, stage)                                                               \
    "  - name: " name "\n    semantics: event\n    backpressure: none\n"                           \
    "    input: {items: " items "}\n    stages:\n      - {" stage "}\n"
#define EIGHT PIPELINE("p", "8", "name: a, cpus: 1, gpus: 1, workers: 8, service: 405 s")

static void check_ends(const struct ends *ends, size_t count, double end_s)
{
    CHECK_I64(ends->count, count);
    for (size_t i = 0; i < ends->count; i++)
        CHECK_NEAR(ends->end_s[i], end_s, LATE);
}

static void check_energy(const struct sim_run_summary *summary, double watt_s)
{
    CHECK_NEAR(test_value(summary, "energy.gpu_kwh", ""), watt_s / 3.6e6, 1e-9 * watt_s / 3.6e6);
}

/* covers: S1.13 */
/* Eight want 5 600 W and have 4 000: 500 W each, (500 - 95) / (700 - 95) = 405 / 605 of the speed.
 */
static void a_cap_makes_all_as_much_slower(void)
{
    struct ends ends;
    struct sim_run_summary *summary = run("gpus: {h100: 8}, power_cap: 4 kW", "", EIGHT, "", &ends);
    check_ends(&ends, 8, 605);
    check_energy(summary, 605.0 * 4000);
    free(summary);
}

/* Two that want all of a GPU have half each of what the cap leaves of it. */
static void a_capped_gpu_is_shared_as_slow_as_it_is(void)
{
    struct ends ends;
    free(run("gpus: {h100: 8}, power_cap: 4 kW", "",
             PIPELINE("p", "16",
                      "name: a, cpus: 1, gpus: 0.5, uses: {gpus: 1}, workers: 16, service: 405 s"),
             "", &ends));
    check_ends(&ends, 16, 1210);
}

/* Idle ones draw what they draw: (2 500 - 8 x 95) / (4 x 605) = 174 / 242. Who computes on CPUs
 * alone is not throttled. */
static void idle_gpus_take_their_part_and_cpus_none(void)
{
    struct ends ends;
    free(run("gpus: {h100: 8}, power_cap: 2500 W", "",
             PIPELINE("p", "4", "name: a, cpus: 1, gpus: 1, workers: 4, service: 174 s")
                 PIPELINE("q", "1", "name: b, cpus: 1, workers: 1, service: 174 s"),
             "", &ends));
    CHECK_I64(ends.count, 5);
    for (size_t i = 0; i < ends.count; i++)
        CHECK_NEAR(ends.end_s[i], ends.stage[i] == 0 ? 242 : 174, LATE);
}

/* Half of the compute of each is in use: 8 x (95 + 302.5) = 3 180 W are drawn, and nobody notices
 * a cap above that. */
static void what_is_used_counts_and_not_what_is_held(void)
{
    struct ends ends;
    struct sim_run_summary *summary =
        run("gpus: {h100: 8}, power_cap: 3180 W", "",
            PIPELINE("p", "8",
                     "name: a, cpus: 1, gpus: 1, uses: {gpus: 0.5}, workers: 8, service: 100 s"),
            "", &ends);
    check_ends(&ends, 8, 100);
    check_energy(summary, 100.0 * 3180);
    free(summary);
}

/* Two end after 242 s; the other two have 100 s of work left, and 2 x 700 + 6 x 95 W fit. */
static void when_one_ends_the_others_go_faster(void)
{
    struct ends ends;
    free(run("gpus: {h100: 8}, power_cap: 2500 W", "",
             PIPELINE("p", "2", "name: a, cpus: 1, gpus: 1, workers: 2, service: 174 s")
                 PIPELINE("q", "2", "name: b, cpus: 1, gpus: 1, workers: 2, service: 274 s"),
             "", &ends));
    CHECK_I64(ends.count, 4);
    for (size_t i = 0; i < ends.count; i++)
        CHECK_NEAR(ends.end_s[i], ends.stage[i] == 0 ? 242 : 342, LATE);
}

#define CAPPED_FROM(at)                                                                            \
    "timeline: [{at: " at ", action: power_cap, node: n, cap: 4 kW, for: 302.5 s}]\n"

/* covers: S1.34 */
/* 100 s at full speed, 302.5 s in which 202.5 s of work are done, and the other 102.5 s. */
static void a_cap_that_comes_and_goes_acts_in_mid_air(void)
{
    struct ends ends;
    struct sim_run_summary *summary =
        run("gpus: {h100: 8}", "", EIGHT, CAPPED_FROM("100 s"), &ends);
    check_ends(&ends, 8, 505);
    check_energy(summary, 202.5 * 5600 + 302.5 * 4000);
    free(summary);
}

/* From 100 s to 402.5 s there is a cap; it is kept from 120 s to 420 s. */
static void throttles_change_once_a_control_period(void)
{
    struct ends ends;
    const double done_s = 120 + 300 * 405.0 / 605;
    struct sim_run_summary *summary = run("gpus: {h100: 8}", ", gpu: used, control_period: 60 s",
                                          EIGHT, CAPPED_FROM("100 s"), &ends);
    check_ends(&ends, 8, 420 + 405 - done_s);
    check_energy(summary, (120 + 405 - done_s) * 5600 + 300.0 * 4000);
    free(summary);
}

/* Of two entries the later one is in force, then the first again, then the node's own. */
static void the_last_cap_in_force_counts(void)
{
    struct ends ends;
    const double slow = 405.0 / 605;
    const double slower = (2380.0 - 760) / (5600 - 760);
    free(run("gpus: {h100: 8}, power_cap: 5 kW", "", EIGHT,
             "timeline:\n  - {at: 0 s, action: power_cap, node: n, cap: 4 kW, for: 200 s}\n"
             "  - {at: 50 s, action: power_cap, node: n, cap: 2380 W, for: 100 s}\n",
             &ends));
    const double left_s = 405 - 100 * slow - 100 * slower;
    check_ends(&ends, 8, 200 + left_s * (5600 - 760) / (5000 - 760));
}

/* covers: S1.34 */
/* 8 x (95 + 605 x 0.6) W for an hour. */
static void energy_is_the_integral_of_power(void)
{
    struct ends ends;
    struct sim_run_summary *summary =
        run("gpus: {h100: 8}", ", gpu: used",
            PIPELINE("p", "8",
                     "name: a, cpus: 1, gpus: 1, uses: {gpus: 0.6}, workers: 8, service: 9999 s"),
            "horizon: 1 h\n", &ends);
    check_energy(summary, 3664.0 * 3600);
    CHECK_NEAR(test_value(summary, "energy.kwh", ""), 3.664, 1e-9);
    free(summary);
}

/* ---- heat ---- */

#define HEAT "thermal: {ambient: 30, rise: 45, limit: 60, tau: 60 s}"
static const double HELD = (700 * 30 / 45.0 - 95) / 605; /* throttle that draws what 60 °C takes */

/* From 30 + 45 x 95 / 700 on the way to 75 °C, until it is at 60. */
static double heated_s(double from_c, double to_c)
{
    return 60 * log((to_c - from_c) / (to_c - 60));
}

/* covers: S1.34 */
static void a_hot_gpu_is_throttled_when_it_is_hot(void)
{
    struct ends ends;
    const double hot_s = heated_s(30 + 45 * 95 / 700.0, 75);
    struct sim_run_summary *summary =
        run("gpus: {h100: 1}, " HEAT, "",
            PIPELINE("p", "1", "name: a, cpus: 1, gpus: 1, workers: 1, service: 200 s"), "", &ends);
    const double end_s = hot_s + (200 - hot_s) / HELD;
    CHECK_I64(ends.count, 1);
    CHECK_NEAR(ends.end_s[0], end_s, 1e-4);
    CHECK_NEAR(test_value(summary, "energy.gpu_kwh", "") * 3.6e6,
               700 * hot_s + (95 + 605 * HELD) * (end_s - hot_s), 0.1);
    free(summary);
}

/* At multiples of the period only: hot at 57.2 s, throttled from 75 s on. */
static void heat_is_controlled_once_a_period(void)
{
    struct ends ends;
    free(run("gpus: {h100: 1}, " HEAT, ", control_period: 25 s",
             PIPELINE("p", "1", "name: a, cpus: 1, gpus: 1, workers: 1, service: 200 s"), "",
             &ends));
    CHECK_I64(ends.count, 1);
    CHECK_NEAR(ends.end_s[0], 75 + (200 - 75) / HELD, LATE);
}

/* The hot one draws what it may; what it leaves of the cap is the other's, who came later. */
static void a_cap_is_shared_by_those_that_are_not_hot(void)
{
    struct ends ends;
    const double cap_f = (1200.0 - 190) / 1210;
    const double hot_s = heated_s(30 + 45 * 95 / 700.0, 75);
    free(run("gpus: {h100: 2}, power_cap: 1200 W, " HEAT, "",
             PIPELINE("p", "1", "name: a, cpus: 1, gpus: 1, workers: 1, service: 150 s") PIPELINE(
                 "q", "1", "name: b, cpus: 1, gpus: 1, workers: 1, setup: 60 s, service: 20 s"),
             "", &ends));
    CHECK_I64(ends.count, 2);
    /* 1 200 - 466.7 W are more than 700 W: no throttle for the second while it is cool. */
    CHECK(cap_f < 1);
    CHECK_NEAR(ends.end_s[0], 80, LATE);
    CHECK_NEAR(ends.end_s[1], hot_s + (150 - hot_s) / HELD, 1e-4);
}

/* ---- instances ---- */

/* covers: S1.70 */
/* Instances do not disturb each other, but the power they share does: seven of them use 112 of 132
 * SMs, and the victim is as much slower as all of them are. */
static void instances_of_one_gpu_share_its_power(void)
{
    struct ends ends;
    const double alone_w = 95 + 605 * 16 / 132.0;
    const double alone_s = 100 * 132 / 16.0; /* measured on a whole GPU */
    const double throttle = (400.0 - 95) / (605 * 112 / 132.0);
    CHECK(alone_w < 400);
#define VICTIM PIPELINE("p", "1", "name: a, cpus: 1, mig: 1g, workers: 1, service: 100 s")
    free(run("gpus: {h100: 1}, share: mig, power_cap: 400 W", "", VICTIM, "", &ends));
    check_ends(&ends, 1, alone_s);
    free(run("gpus: {h100: 1}, share: mig, power_cap: 400 W", "",
             VICTIM PIPELINE("q", "6", "name: b, cpus: 1, mig: 1g, workers: 6, service: 100 s"), "",
             &ends));
    check_ends(&ends, 7, alone_s / throttle);
}

/* ---- what is refused ---- */

static void what_could_never_be_kept_is_refused(void)
{
    static const char *const bad[] = {
        "gpus: {h100: 8}, power_cap: 760 W",
        "gpus: {h100: 1}, thermal: {ambient: 55, limit: 60}",
        "gpus: {h100: 8}, power_cap: 4 kW}]\n  power: {gpu: allocated} #",
        "gpus: {h100: 8}, power_cap: 4 kW}]\ncontention: at_start #",
        "gpus: {h100: 8}}]\n  power: {control_period: 1 s} #",
        "gpus: {h100: 8}}]\ntimeline: [{at: 1 s, action: power_cap, node: n, cap: 700 W}] #",
        "gpus: {h100: 8}}]\ntimeline: [{at: 1 s, action: power_cap, node: n}] #",
        "gpus: {h100: 8}}]\ntimeline: [{at: 1 s, action: node_down, node: n, cap: 7 kW}] #"
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[1000];
        struct sim_scenario *scenario = NULL;
        struct sim_diagnostics diagnostics = { .items = NULL };
        (void)snprintf(text, sizeof(text),
                       "schema: 2\nname: t\npipelines:\n" EIGHT
                       "cluster:\n  nodes: [{name: n, cpus: 64, %s}]\n",
                       bad[i]);
        const struct sim_scenario_source source = { .path = "t.yaml", .text = text };
        if (!CHECK_I64(sim_scenario_load(&source, &scenario, &diagnostics), WEIR_EFORMAT))
            (void)printf("%s\n", bad[i]);
        CHECK_I64(diagnostics.errors, 1);
        sim_diagnostics_clear(&diagnostics);
    }
}

/* Two nodes. The first is capped for good, the second to less and for 100 s only: when that is over
 * it is not capped as the first one is. */
static void a_cap_is_that_of_its_own_node(void)
{
    struct ends ends;
    const double slow = 405.0 / 605;
    const double slower = (2380.0 - 760) / (5600 - 760);
    free(run("gpus: {h100: 8}, count: 2", "",
             PIPELINE("p", "16", "name: a, cpus: 1, gpus: 1, workers: 16, service: 405 s"),
             "timeline:\n  - {at: 0 s, action: power_cap, node: n-0, cap: 4 kW, for: 9000 s}\n"
             "  - {at: 0 s, action: power_cap, node: n-1, cap: 2380 W, for: 100 s}\n",
             &ends));
    CHECK_I64(ends.count, 16);
    for (size_t i = 0; i < ends.count; i++)
        CHECK_NEAR(ends.end_s[i], i < 8 ? 100 + 405 - 100 * slower : 405 / slow, LATE);
}

/* Twenty tasks of 1 s do not heat a GPU to its limit, which takes it a minute: it is never looked
 * at for its heat, though every task that began had a look planned. */
static void a_look_that_is_planned_anew_is_not_taken_twice(void)
{
    static const char *const nodes[] = { "gpus: {h100: 1}", "gpus: {h100: 1}, " HEAT };
    uint64_t events[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) {
        struct ends ends;
        struct sim_run_summary *summary =
            run(nodes[i], ", gpu: used",
                PIPELINE("p", "20", "name: a, cpus: 1, gpus: 1, workers: 1, service: 1 s")
                    PIPELINE("q", "1", "name: b, cpus: 1, workers: 1, service: 200 s"),
                "", &ends);
        CHECK_I64(ends.count, 21);
        events[i] = summary->events;
        free(summary);
    }
    CHECK_I64(events[1], events[0]);
}

/* Of types whose draw is published (NVIDIA's data sheets and mock profiles): an hour in which a
 * quarter of the GPU is used, and three in which none is. */
static void each_type_draws_its_published_watts(void)
{
    static const struct {
        const char *name;
        double idle_w, limit_w;
    } published[] = { { "a100-40", 72, 400 }, { "h100", 95, 700 }, { "b200", 130, 1000 },
                      { "l40s", 45, 350 },    { "l4", 12, 72 },    { "t4", 12, 70 },
                      { "a10", 30, 150 },     { "h200", 100, 700 } };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        char gpus[64];
        struct ends ends;
        (void)snprintf(gpus, sizeof gpus, "gpus: {%s: 1}", published[i].name);
        struct sim_run_summary *summary =
            run(gpus, ", gpu: used",
                PIPELINE("p", "1",
                         "name: a, gpus: 1, uses: {gpus: 0.25}, workers: 1, setup: 3 h,"
                         " service: 1 h"),
                "", &ends);
        const double used_w = 0.25 * (published[i].limit_w - published[i].idle_w);
        check_ends(&ends, 1, 4.0 * 3600);
        check_energy(summary, 3600 * (4 * published[i].idle_w + used_w));
        free(summary);
    }
}

static const struct test tests[] = {
    { "each type draws its published watts", each_type_draws_its_published_watts },
    { "a capped GPU is shared as slow as it is", a_capped_gpu_is_shared_as_slow_as_it_is },
    { "a cap makes all as much slower", a_cap_makes_all_as_much_slower },
    { "idle GPUs take their part of a cap, and CPUs none",
      idle_gpus_take_their_part_and_cpus_none },
    { "what is used counts, and not what is held", what_is_used_counts_and_not_what_is_held },
    { "when one ends the others go faster", when_one_ends_the_others_go_faster },
    { "a cap that comes and goes acts in mid-air", a_cap_that_comes_and_goes_acts_in_mid_air },
    { "throttles change once a control period", throttles_change_once_a_control_period },
    { "the last cap in force counts", the_last_cap_in_force_counts },
    { "energy is the integral of power", energy_is_the_integral_of_power },
    { "a hot GPU is throttled when it is hot", a_hot_gpu_is_throttled_when_it_is_hot },
    { "heat is controlled once a period", heat_is_controlled_once_a_period },
    { "a cap is shared by those that are not hot", a_cap_is_shared_by_those_that_are_not_hot },
    { "instances of one GPU share its power", instances_of_one_gpu_share_its_power },
    { "what could never be kept is refused", what_could_never_be_kept_is_refused },
    { "a cap is that of its own node", a_cap_is_that_of_its_own_node },
    { "a look that is planned anew is not taken twice",
      a_look_that_is_planned_anew_is_not_taken_twice },
};
TEST_MAIN(tests)
