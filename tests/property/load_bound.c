/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a steady load can get: Erlang's formula where there is one class on one kind of node, the
 * product form for one pool, another programme on random problems, and runs that never do better.
 */
#include "sim/lab/load_bound.h"
#include "sim/lab/dual_feasible.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/runs.h"

#include <glpk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT = 4096, RUNS = 10 };

/* One over the sum of the terms load^n / n!, each over the last of them. */
static double erlang(int places, double load)
{
    double term = 1;
    double sum = 1;
    for (int n = places; n > 0; n--) {
        term *= n / load;
        sum += term;
    }
    return 1 / sum;
}

static struct sim_load_bound of_text(const char *text, const char *sets)
{
    struct sim_load_bound bound = { .most = -1 };
    struct sim_scenario *scenario = test_scenario(text, sets);
    struct sim_cluster *cluster = NULL;
    if (scenario == NULL)
        return bound;
    CHECK_I64(sim_cluster_create(scenario, &cluster), WEIR_OK);
    CHECK_I64(sim_load_bound_compute(cluster, NULL, &bound), WEIR_OK);
    sim_cluster_destroy(cluster);
    sim_scenario_destroy(scenario);
    return bound;
}

#define HEAD(nodes)                                                                                \
    "schema: 2\nname: t\nhorizon: 10 h\nwarmup: 1 h\ncluster:\n  nodes:\n" nodes                   \
    "sched: {queueing: first_fit, placement: best_fit}\njobs:\n  - name: j\n    queue_limit: 0\n"
#define SIX "    - {name: n, count: 3, cpus: 8, gpus: {h100: 2}}\n"
#define CUT "    - {name: n, count: 2, cpus: 64, gpus: {h100: 2}, share: mig}\n"
#define FIXED                                                                                      \
    "    - {name: n, count: 2, cpus: 64, gpus: {h100: 1}, share: mig, partition: [3g, 2g, 2g]}\n"
#define LOAD                                                                                       \
    "    arrivals: {rate: 5/h}\n" CLASSES "      - {name: a, request: {gpus: 1}, run_time: 1 h}\n"
#define CLASSES "    classes:\n"

/* ---- one class on one kind of node ---- */

/* covers: S1.16 */
static void one_class_is_erlangs(void)
{
    static const struct {
        const char *text;
        double load;
        int places;
    } cases[] = {
        { HEAD(SIX) "    arrivals: {rate: 5/h}\n" CLASSES
                    "      - {name: a, request: {gpus: 1, cpus: 1}, run_time: exp(1 h)}\n",
          5, 6 },
        { HEAD(SIX) "    arrivals: {rate: 4/h}\n" CLASSES /* 5 of 8 CPUs: one a node */
                    "      - {name: a, request: {gpus: 1, cpus: 5}, run_time: 30 min}\n",
          2, 3 },
        { HEAD(SIX) "    arrivals: {rate: 9/h}\n" CLASSES /* three shares of 0.3 a GPU */
                    "      - {name: a, request: {gpus: 0.3}, run_time: exp(2 h)}\n",
          18, 18 },
        { HEAD(SIX) "    arrivals: {rate: 2/h}\n" CLASSES /* six GPUs are one gang of four */
                    "      - {name: a, members: 4, request: {gpus: 1}, run_time: exp(1 h)}\n",
          2, 1 },
        { HEAD(CUT) "    arrivals: {rate: 6/h}\n" CLASSES /* two instances a GPU */
                    "      - {name: a, request: {mig: 3g}, run_time: exp(1 h)}\n",
          6, 8 },
        { HEAD(FIXED) "    arrivals: {rate: 6/h}\n" CLASSES
                      "      - {name: a, request: {mig: 2g}, run_time: exp(1 h)}\n",
          6, 4 },
        { HEAD(SIX) "    arrivals: {rate: 5/h}\n" CLASSES /* two of one kind are one class */
                    "      - {name: a, weight: 3, request: {gpus: 1}, run_time: 2 h}\n"
                    "      - {name: b, weight: 2, request: {gpus: 1}, run_time: 30 min}\n",
          7, 6 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct sim_load_bound bound = of_text(cases[i].text, NULL);
        CHECK(bound.is_loss);
        CHECK_NEAR(bound.most, 1 - erlang(cases[i].places, cases[i].load), 1e-9);
    }
}

/* Where jobs wait, as many can run as there is room for. */
static void who_waits_is_not_lost(void)
{
    const char *text = HEAD(SIX) "    arrivals: {rate: 9/h}\n" CLASSES
                                 "      - {name: a, request: {gpus: 1, cpus: 5}, run_time: 1 h}\n";
    const struct sim_load_bound bound = of_text(text, "jobs.j.queue_limit=100");
    CHECK(!bound.is_loss);
    CHECK_NEAR(bound.asked_gpus, 9, 1e-9);
    CHECK_NEAR(bound.most, 3 / 9.0, 1e-9);
    CHECK(isnan(bound.one_pool));
}

/* Twice as fast a GPU is left twice as soon, and what is accepted counts at speed 1. */
static void faster_gpus_hold_more(void)
{
    const char *text = "catalog: {gpu_types: {old: {speed: 1}, new: {speed: 2}}}\n" HEAD(
        "    - {name: n, count: 2, cpus: 8, gpus: {new: 2}}\n") "    arrivals: {rate: 8/h}\n"
                                                                "    measured_on: old\n" CLASSES
                                                                "      - {name: a, request: {gpus: "
                                                                "1}, run_time: 1 h}\n";
    CHECK_NEAR(of_text(text, NULL).most, 1 - erlang(4, 4), 1e-9);
    CHECK_NEAR(of_text(text, NULL).asked_gpus, 8, 1e-9);
}

/* Regular arrivals lose less than random ones: Erlang's formula is not said of them. */
static void other_arrivals_have_no_erlang(void)
{
    const char *text = HEAD(SIX) "    arrivals: {process: renewal, gap: 12 min}\n" CLASSES
                                 "      - {name: a, request: {gpus: 1}, run_time: 1 h}\n";
    CHECK_NEAR(of_text(text, NULL).most, 1, 1e-9);
    CHECK_NEAR(of_text(text, "jobs.j.arrivals.gap=5min").most, 0.5, 1e-9);
}

static void of_what_is_not_steady_nothing_is_said(void)
{
    const char *text = HEAD(SIX) LOAD;
    static const char *const sets[] = {
        "jobs.j.count=100",
        "jobs.j.arrivals.process=diurnal",
        "jobs.j.classes.a.measurements=10",
        "jobs.j.arrivals.measurements=10",
        "cluster.failures.node_between=exp(100h)",
        "jobs.j.estimate=const(0.5) jobs.j.over_estimate=kill",
        "jobs.j.classes.a.members=4 jobs.j.classes.a.elastic=2",
    };
    CHECK(!isnan(of_text(text, NULL).most));
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const double most = of_text(text, sets[i]).most;
        if (!CHECK(isnan(most)))
            printf("  %s: %g\n", sets[i], most);
    }
    CHECK(isnan(of_text(HEAD(SIX "  drift: [{step: 10 min, cv: 5%}]\n") LOAD, NULL).most));
    CHECK(
        isnan(of_text("timeline: [{at: 1 h, action: node_down, node: n-0}]\n" HEAD(SIX) LOAD, NULL)
                  .most));
    CHECK(!of_text(text, "jobs.j.retries=1").is_loss);
}

/* ---- one pool ---- */

/* The product form, state by state: shares of load^n / n!, over all numbers that fit. */
static double product_form_loss(int pool, const int *sizes, const double *loads, int size)
{
    double all = 0;
    double lost = 0;
    for (int a = 0; a * sizes[0] <= pool; a++)
        for (int b = 0; a * sizes[0] + b * sizes[1] <= pool; b++)
            for (int c = 0; a * sizes[0] + b * sizes[1] + c * sizes[2] <= pool; c++) {
                const int used = a * sizes[0] + b * sizes[1] + c * sizes[2];
                const double share = exp(a * log(loads[0]) - lgamma(a + 1) + b * log(loads[1]) -
                                         lgamma(b + 1) + c * log(loads[2]) - lgamma(c + 1));
                all += share;
                lost += used + size > pool ? share : 0;
            }
    return lost / all;
}

static void one_pool_loses_by_the_product_form(void)
{
    static const struct {
        int pool, sizes[3];
        double loads[3];
    } cases[] = {
        { 8, { 1, 2, 4 }, { 2, 1, 0.5 } },
        { 60, { 1, 3, 8 }, { 30, 8, 4 } },
        { 20, { 3, 5, 7 }, { 0.01, 5, 0.2 } },
        { 12, { 1, 1, 16 }, { 3, 4, 5 } }, /* the last one fits never */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_pool_class classes[3];
        for (int k = 0; k < 3; k++)
            classes[k] = (struct sim_pool_class){ .size = cases[i].sizes[k] * WEIR_ONE / 10,
                                                  .load = cases[i].loads[k] };
        CHECK_I64(sim_pool_losses(cases[i].pool * WEIR_ONE / 10, classes, 3), WEIR_OK);
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(
                classes[k].loss,
                product_form_loss(cases[i].pool, cases[i].sizes, cases[i].loads, cases[i].sizes[k]),
                1e-10);
    }
    struct sim_pool_class many = { .size = 1, .load = 99000 }; /* terms far beyond a double */
    CHECK_I64(sim_pool_losses(60000, &many, 1), WEIR_OK);
    CHECK_NEAR(many.loss, sim_erlang_loss(60000, 99000), 1e-9);
}

/* ---- another programme ---- */

enum { KINDS = 5, TYPES = 2, GPUS_A_NODE = 2 };

struct problem {
    int nodes[TYPES], cpus[TYPES]; /* nodes of a type; CPUs of one */
    double share[KINDS];           /* of each of its GPUs */
    int gpus[KINDS], cores[KINDS];
    bool is_bound[KINDS]; /* to GPUs of the second type */
    double load[KINDS];
};

static struct problem draw_problem(struct draws *draws)
{
    static const double shares[] = { 0.25, 0.3, 0.4, 0.5, 0.6, 1 };
    struct problem problem;
    for (int t = 0; t < TYPES; t++) {
        problem.nodes[t] = 1 + (int)draws_below(draws, 4);
        problem.cpus[t] = 4 + (int)draws_below(draws, 12);
    }
    for (int k = 0; k < KINDS; k++) {
        problem.share[k] = shares[draws_below(draws, 6)];
        problem.gpus[k] = problem.share[k] < 1 ? 1 : 1 + (int)draws_below(draws, 2);
        problem.cores[k] = 1 + k + KINDS * (int)draws_below(draws, 2); /* no two alike */
        problem.is_bound[k] = draws_below(draws, 3) == 0;
        problem.load[k] = 0.2 + 0.1 * (double)draws_below(draws, 40);
    }
    return problem;
}

static struct sim_load_bound bound_of(const struct problem *problem)
{
    static const char *const types[TYPES] = { "old", "new" };
    char text[TEXT];
    double rate = 0;
    for (int k = 0; k < KINDS; k++)
        rate += problem->load[k];
    int n = snprintf(text, TEXT,
                     "catalog: {gpu_types: {old: {}, new: {}}}\nschema: 2\nname: t\nhorizon: 10 h\n"
                     "cluster:\n  nodes:\n");
    for (int t = 0; t < TYPES; t++)
        n += snprintf(text + n, (size_t)(TEXT - n),
                      "    - {name: n%d, count: %d, cpus: %d, gpus: {%s: %d}}\n", t,
                      problem->nodes[t], problem->cpus[t], types[t], GPUS_A_NODE);
    n += snprintf(text + n, (size_t)(TEXT - n),
                  "jobs:\n  - name: j\n    queue_limit: 0\n    run_time: 1 h\n"
                  "    arrivals: {rate: %.17g/h}\n    classes:\n",
                  rate);
    for (int k = 0; k < KINDS; k++)
        n += snprintf(text + n, (size_t)(TEXT - n),
                      "      - {name: k%d, weight: %.17g, request: {gpus: %g, cpus: %d}%s}\n", k,
                      problem->load[k], problem->share[k] * problem->gpus[k], problem->cores[k],
                      problem->is_bound[k] ? ", gpu_types: [new]" : "");
    return of_text(text, NULL);
}

/* Jobs that a node of the type holds, when it is empty. */
static int holds(const struct problem *problem, int kind, int type)
{
    const int by_gpus = problem->share[kind] < 1
                            ? GPUS_A_NODE * (int)floor(1 / problem->share[kind] + 1e-9)
                            : GPUS_A_NODE / problem->gpus[kind];
    const int by_cpus = problem->cpus[type] / problem->cores[kind];
    if (problem->is_bound[kind] && type == 0)
        return 0;
    return by_gpus < by_cpus ? by_gpus : by_cpus;
}

/* No more of a kind than find a place on an empty cluster of their own; what it asks for. */
static double add_kind(glp_prob *lp, const struct problem *problem, int k)
{
    int ind[TYPES + 1];
    double val[TYPES + 1];
    int places = 0;
    const int row = glp_add_rows(lp, 1);
    for (int t = 0; t < TYPES; t++) {
        const int most = holds(problem, k, t);
        places += problem->nodes[t] * most;
        ind[t + 1] = k * TYPES + t + 1;
        val[t + 1] = 1;
        glp_set_col_bnds(lp, ind[t + 1], most > 0 ? GLP_LO : GLP_FX, 0, 0);
        glp_set_obj_coef(lp, ind[t + 1], problem->share[k] * problem->gpus[k]);
    }
    glp_set_row_bnds(lp, row, GLP_UP, 0,
                     problem->load[k] * (1 - (places > 0 ? erlang(places, problem->load[k]) : 1)));
    glp_set_mat_row(lp, row, TYPES, ind, val);
    return problem->load[k] * problem->share[k] * problem->gpus[k];
}

/* What a type has of a measure (a GPU, the GPUs of a node, its CPUs), sizes stretched: plainly, by
 * steps 1 to 6, by a threshold at the size of each kind. */
static void add_measure(glp_prob *lp, const struct problem *problem, int t, int measure, int s)
{
    const int64_t whole = measure == 0   ? WEIR_ONE
                          : measure == 1 ? WEIR_ONE * GPUS_A_NODE
                                         : problem->cpus[t];
    int64_t sizes[KINDS];
    int ind[KINDS + 1];
    double val[KINDS + 1];
    int count = 0;
    for (int k = 0; k < KINDS; k++)
        sizes[k] = measure == 2 ? problem->cores[k]
                                : (int64_t)(problem->share[k] * (double)WEIR_ONE) *
                                      (measure == 1 ? problem->gpus[k] : 1);
    const struct sim_stretch stretch = { .steps = s <= 6 ? s : 0,
                                         .threshold = s > 6 ? sizes[s - 7] : 0 };
    if (stretch.threshold > whole / 2)
        return;
    const int row = glp_add_rows(lp, 1);
    for (int k = 0; k < KINDS; k++) {
        if (sizes[k] > whole)
            continue;
        ind[++count] = k * TYPES + t + 1;
        val[count] =
            sim_stretched(stretch, sizes[k], whole) * (measure == 0 ? problem->gpus[k] : 1);
    }
    glp_set_row_bnds(lp, row, GLP_UP, 0,
                     (double)problem->nodes[t] * (measure == 0 ? GPUS_A_NODE : 1));
    glp_set_mat_row(lp, row, count, ind, val);
}

/* All stretched sizes at once, or none. */
static double program(const struct problem *problem, bool is_stretched)
{
    glp_prob *lp = glp_create_prob();
    double asked = 0;
    (void)glp_term_out(GLP_OFF);
    glp_set_obj_dir(lp, GLP_MAX);
    glp_add_cols(lp, KINDS * TYPES);
    for (int k = 0; k < KINDS; k++)
        asked += add_kind(lp, problem, k);
    for (int t = 0; t < TYPES; t++)
        for (int measure = 0; measure < 3; measure++)
            for (int s = 0; s <= (is_stretched ? 6 + KINDS : 0); s++)
                add_measure(lp, problem, t, measure, s);
    CHECK_I64(glp_simplex(lp, NULL), 0);
    const double most = glp_get_obj_val(lp) / asked;
    glp_delete_prob(lp);
    (void)glp_free_env();
    return most;
}

static void it_is_that_of_another_programme(void)
{
    struct draws draws = draws_seeded(2026);
    uint32_t met = 0;
    uint32_t below = 0;
    for (int i = 0; i < 100; i++) {
        const struct problem problem = draw_problem(&draws);
        const double bound = bound_of(&problem).most;
        const double tight = program(&problem, true);
        const double loose = program(&problem, false);
        CHECK(tight <= bound * (1 + 1e-5));
        CHECK(bound <= loose * (1 + 1e-5));
        met += bound <= tight * (1 + 1e-5) ? 1 : 0;
        below += tight < loose * 0.999 ? 1 : 0;
    }
    printf("  %u of 100 the same, %u tighter than without stretched sizes\n", met, below);
    CHECK(met > 90);
    CHECK(below > 10);
}

/* ---- runs ---- */

/* covers: S1.16 */
static void no_run_beats_the_bound(void)
{
    static const char *const texts[] = {
        HEAD(SIX) "    arrivals: {rate: 6/h}\n" CLASSES
                  "      - {name: a, request: {gpus: 1, cpus: 1}, run_time: exp(1 h)}\n",
        HEAD(SIX) "    arrivals: {rate: 24/h}\n" CLASSES
                  "      - {name: a, weight: 4, request: {gpus: 0.6, cpus: 1}, run_time: exp(20 "
                  "min)}\n"
                  "      - {name: b, weight: 2, request: {gpus: 1, cpus: 5}, run_time: 30 min}\n"
                  "      - {name: c, request: {gpus: 2, cpus: 2}, run_time: exp(1 h)}\n",
        HEAD(CUT) "    arrivals: {rate: 20/h}\n" CLASSES
                  "      - {name: a, weight: 3, request: {mig: 1g}, run_time: exp(1 h)}\n"
                  "      - {name: b, request: {mig: 3g}, run_time: exp(1 h)}\n",
        HEAD(FIXED) "    arrivals: {rate: 12/h}\n" CLASSES
                    "      - {name: a, request: {mig: 2g}, run_time: exp(30 min)}\n"
                    "      - {name: b, request: {mig_slices: 1}, run_time: exp(1 h)}\n",
    };
    static const char *const rules[] = { "sched.placement=best_fit", "sched.placement=first_fit" };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
            char sets[128];
            double sum = 0;
            double squares = 0;
            (void)snprintf(sets, sizeof sets, "horizon=260h warmup=10h %s", rules[r]);
            struct sim_scenario *scenario = test_scenario(texts[i], sets);
            if (scenario == NULL)
                return;
            double bound = (double)NAN;
            for (uint32_t n = 0; n < RUNS; n++) {
                struct sim_run_summary *summary = test_run_fast(scenario, n, NULL);
                const double value = test_value(summary, "jobs.gpu_time_accepted", "");
                bound = test_value(summary, "jobs.gpu_time_bound", "");
                CHECK_NEAR(test_value(summary, "jobs.gpu_time_gap", ""), 100 * (bound - value),
                           1e-9);
                sum += value;
                squares += value * value;
                free(summary);
            }
            const double mean = sum / RUNS;
            const double error = sqrt((squares / RUNS - mean * mean) / (RUNS - 1));
            printf("  %.3f of at most %.3f\n", mean, bound);
            CHECK(error < 0.02);
            CHECK(mean <= bound + 4 * error);
            CHECK(i > 0 || mean >= bound - 4 * error); /* one class alone reaches it */
            CHECK(mean > 0.6 * bound);
            sim_scenario_destroy(scenario);
        }
}

static const struct test tests[] = {
    { "one class is Erlang's", one_class_is_erlangs },
    { "who waits is not lost", who_waits_is_not_lost },
    { "faster GPUs hold more", faster_gpus_hold_more },
    { "other arrivals have no Erlang", other_arrivals_have_no_erlang },
    { "of what is not steady nothing is said", of_what_is_not_steady_nothing_is_said },
    { "one pool loses by the product form", one_pool_loses_by_the_product_form },
    { "it is that of another programme", it_is_that_of_another_programme },
    { "no run beats the bound", no_run_beats_the_bound },
};

TEST_MAIN(tests)
