/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moving jobs at the end of a static experiment: nothing is lost, nothing appears, every rule does
 * what it says. On the small synthetic trace, and on a cluster worked out by hand.
 */
#include "sim/lab/defrag.h"

#include "sim/lab/lab_state.h"
#include "sim/world/run.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENARIO "scenarios/reference/openb_static.yaml"

enum { PATHS = 2048 };

static const uint32_t rules[] = { SIM_DEFRAG_GREEDY, SIM_DEFRAG_BATCH, SIM_DEFRAG_ONE_POD };
enum { RULES = sizeof rules / sizeof rules[0] };

struct experiment {
    struct sim_scenario *scenario;
    struct sim_lab *run;
};

static bool open_arrived(struct experiment *experiment, uint64_t seed)
{
    static struct sim_run_options options; /* the experiment keeps looking at it */
    options = (struct sim_run_options){ .seed = seed, .export_at_s = (double)NAN };
    struct weir_error error = { .phase = -1 };
    CHECK(experiment->scenario != NULL);
    if (experiment->scenario == NULL)
        return false;
    weir_status status = sim_lab_create(experiment->scenario, &options, &experiment->run, &error);
    if (status == WEIR_OK)
        status = sim_lab_arrive(experiment->run, &error);
    CHECK_STR(status == WEIR_OK ? "" : error.text, "");
    return status == WEIR_OK;
}

static bool open_experiment(struct experiment *experiment, const char *policy, const char *more)
{
    char sets[PATHS];
    char folder[PATHS / 8];
    (void)snprintf(folder, sizeof folder, "%s", test_data("golden/fgd_small"));
    (void)snprintf(sets, sizeof sets,
                   "cluster.nodes_file=%s/nodes.csv fill[0].trace=%s/pods.csv "
                   "fill[0].order=%s/order.txt fill[0].order_key=small:1 "
                   "sched.placement=%s%s%s",
                   folder, folder, folder, policy, test_published_rule(policy), more);
    *experiment = (struct experiment){ .scenario = test_scenario(SCENARIO, sets) };
    return open_arrived(experiment, 1);
}

static void close_experiment(struct experiment *experiment)
{
    sim_lab_destroy(experiment->run);
    sim_scenario_destroy(experiment->scenario);
}

/* ---- conservation ---- */

/* What jobs hold, by the truth, by the belief, by the jobs themselves and by the counts. */
struct held {
    int64_t truth, belief, jobs, counted; /* GPU units */
    int64_t truth_cpus, job_cpus;
    uint32_t workers;
};

static struct held held_now(const struct sim_lab *run)
{
    struct held held = { .counted = (int64_t)run->counts.used_milli * (WEIR_ONE / 1000) };
    const struct weir_amounts total = weir_cluster_total(run->belief);
    held.belief = total.gpu_units - weir_cluster_free(run->belief).gpu_units;
    held.workers = weir_cluster_worker_count(run->belief);
    for (uint32_t g = 0; g < run->truth->gpu_count; g++)
        held.truth += run->truth->gpus[g].units_held;
    for (uint32_t n = 0; n < run->truth->node_count; n++)
        held.truth_cpus += run->truth->nodes[n].cpu_held;
    for (uint64_t i = 0; i < run->order.arrival_count; i++) {
        if (!weir_cluster_worker(run->belief, sim_lab_worker(run, i, 0), NULL))
            continue;
        const struct weir_shape *shape = sim_lab_shape(run, i);
        held.jobs += shape->gpu_units * shape->gpu_count;
        held.job_cpus += shape->cpu_units;
    }
    return held;
}

static void check_books(const struct sim_lab *run)
{
    const struct held held = held_now(run);
    struct weir_error error = { .phase = -1 };
    CHECK_I64(held.truth, held.jobs);
    CHECK_I64(held.belief, held.jobs);
    CHECK_I64(held.counted, held.jobs);
    CHECK_I64(held.truth_cpus, held.job_cpus);
    CHECK_I64(weir_cluster_check(run->belief, &error), WEIR_OK);
    CHECK_I64(sim_cluster_check(run->truth, &error), WEIR_OK);
    double frag = 0;
    for (uint32_t rank = 0; rank < run->truth->node_count; rank++)
        frag += sim_target_frag_milli(&run->target, run->truth, run->node_at[rank]);
    /* half a step of fixed point a node (measures.h) */
    CHECK_NEAR(frag, sim_lab_frag_milli(run), run->truth->node_count * 0x1p-29 + 1e-9);
}

static void check_moves(const struct sim_defrag *defrag, const struct sim_lab *run)
{
    double gpus = 0;
    uint32_t out = 0;
    for (uint32_t i = 0; i < defrag->count; i++) {
        const struct sim_defrag_move *move = &defrag->moves[i];
        gpus += move->gpus;
        out += move->to_node == WEIR_NO_INDEX ? 1 : 0;
        CHECK(move->from_node < run->truth->node_count);
        CHECK(move->arrival < run->counts.arrived);
        for (uint32_t k = 0; k < i; k++)
            CHECK(defrag->moves[k].arrival != move->arrival);
    }
    CHECK_NEAR(gpus, defrag->moved_gpus, 1e-9);
    CHECK_I64(out, defrag->out);
    CHECK(defrag->count <= defrag->budget);
}

static void nothing_is_lost_or_made_by_moving(void)
{
    static const char *const policies[] = { "fgd", "best_fit", "random" };
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++)
        for (int r = 0; r < RULES; r++) {
            struct experiment experiment;
            struct sim_defrag defrag = { .moves = NULL };
            struct weir_error error = { .phase = -1 };
            const struct sim_defrag_rule rule = { .rule = rules[r], .budget_frac = 0.25 };
            if (!open_experiment(&experiment, policies[p], ""))
                continue;
            check_books(experiment.run);
            const struct held before = held_now(experiment.run);
            CHECK_I64(sim_lab_defrag(experiment.run, &rule, &defrag, &error), WEIR_OK);
            const struct held after = held_now(experiment.run);
            check_books(experiment.run);
            check_moves(&defrag, experiment.run);
            CHECK_I64(defrag.budget, ceil(0.25 * before.workers));
            CHECK_NEAR(weir_units_amount(before.jobs), defrag.used_before_gpus, 1e-9);
            CHECK_NEAR(weir_units_amount(after.jobs), defrag.used_after_gpus, 1e-9);
            sim_defrag_clear(&defrag);
            close_experiment(&experiment);
        }
}

/* ---- rules ---- */

static void greedy_lowers_fragmentation_with_every_move(void)
{
    struct experiment experiment;
    struct sim_defrag defrag = { .moves = NULL };
    struct weir_error error = { .phase = -1 };
    const struct sim_defrag_rule rule = { .rule = SIM_DEFRAG_GREEDY, .budget_frac = 1 };
    if (!open_experiment(&experiment, "random", ""))
        return;
    const double before = sim_lab_frag_milli(experiment.run) / 1000;
    CHECK_I64(sim_lab_defrag(experiment.run, &rule, &defrag, &error), WEIR_OK);
    CHECK(defrag.count > 3);
    CHECK_I64(defrag.out, 0);
    CHECK_NEAR(defrag.frag_before_gpus, before, 1e-9);
    double last = before;
    for (uint32_t i = 0; i < defrag.count; i++) {
        CHECK_NEAR(defrag.moves[i].frag_before_gpus, last, 1e-9);
        CHECK(defrag.moves[i].frag_after_gpus < defrag.moves[i].frag_before_gpus);
        last = defrag.moves[i].frag_after_gpus;
    }
    CHECK_NEAR(defrag.frag_after_gpus, last, 1e-9);
    sim_defrag_clear(&defrag);
    close_experiment(&experiment);
}

static void a_budget_of_nothing_moves_nothing(void)
{
    for (int r = 0; r < RULES; r++) {
        struct experiment experiment;
        struct sim_defrag defrag = { .moves = NULL };
        struct weir_error error = { .phase = -1 };
        const struct sim_defrag_rule rule = { .rule = rules[r] };
        if (!open_experiment(&experiment, "fgd", ""))
            continue;
        CHECK_I64(sim_lab_defrag(experiment.run, &rule, &defrag, &error), WEIR_OK);
        CHECK_I64(defrag.count, 0);
        CHECK_NEAR(defrag.used_after_gpus, defrag.used_before_gpus, 0);
        CHECK_NEAR(defrag.frag_after_gpus, defrag.frag_before_gpus, 0);
        sim_defrag_clear(&defrag);
        close_experiment(&experiment);
    }
}

/* From each node at most one, the worst nodes first. */
static void one_pod_takes_one_job_a_node(void)
{
    struct experiment experiment;
    struct sim_defrag defrag = { .moves = NULL };
    struct weir_error error = { .phase = -1 };
    const struct sim_defrag_rule rule = { .rule = SIM_DEFRAG_ONE_POD, .budget_frac = 1 };
    if (!open_experiment(&experiment, "random", ""))
        return;
    CHECK_I64(sim_lab_defrag(experiment.run, &rule, &defrag, &error), WEIR_OK);
    CHECK(defrag.count > 3);
    for (uint32_t i = 0; i < defrag.count; i++)
        for (uint32_t k = 0; k < i; k++)
            CHECK(defrag.moves[k].from_node != defrag.moves[i].from_node);
    sim_defrag_clear(&defrag);
    close_experiment(&experiment);
}

/* Who goes from each node: whose leaving lowers F by most whole thousandths, the first of these. */
static void find_victims(struct sim_lab *run, uint64_t *victim_of, double *gain_of)
{
    struct weir_error error = { .phase = -1 };
    for (uint64_t i = 0; i < run->order.arrival_count; i++) {
        struct weir_alloc place;
        bool is_back = false;
        if (!weir_cluster_worker(run->belief, sim_lab_worker(run, i, 0), NULL))
            continue;
        const double before = sim_lab_frag_milli(run);
        CHECK_I64(sim_lab_take(run, i, &place, &error), WEIR_OK);
        const double gain = trunc(before - sim_lab_frag_milli(run) + 1e-6);
        CHECK_I64(sim_lab_put(run, i, &place, &is_back, &error), WEIR_OK);
        CHECK(is_back);
        const uint32_t node = run->node_at[place.node];
        if (gain >= 1 && gain > gain_of[node]) {
            gain_of[node] = gain;
            victim_of[node] = i;
        }
    }
}

static void one_pod_takes_the_first_of_those_that_free_most(void)
{
    struct experiment experiment;
    struct sim_defrag defrag = { .moves = NULL };
    struct weir_error error = { .phase = -1 };
    const struct sim_defrag_rule rule = { .rule = SIM_DEFRAG_ONE_POD, .budget_frac = 1 };
    if (!open_experiment(&experiment, "random", ""))
        return;
    const uint32_t nodes = experiment.run->truth->node_count;
    uint64_t *victim_of = calloc((size_t)nodes + 1, sizeof(*victim_of));
    double *gain_of = calloc((size_t)nodes + 1, sizeof(*gain_of));
    if (victim_of == NULL || gain_of == NULL)
        abort();
    find_victims(experiment.run, victim_of, gain_of);
    CHECK_I64(sim_lab_defrag(experiment.run, &rule, &defrag, &error), WEIR_OK);
    for (uint32_t i = 0; i < defrag.count; i++) {
        CHECK(gain_of[defrag.moves[i].from_node] >= 1);
        CHECK_I64(defrag.moves[i].arrival, victim_of[defrag.moves[i].from_node]);
    }
    free(victim_of);
    free(gain_of);
    sim_defrag_clear(&defrag);
    close_experiment(&experiment);
}

/* The large job keeps the second GPU of its node from all, 1 GPU; the small one four of its node,
 * less for the large one, which never fits there, 1.6 GPUs. So the small one goes first, comes back
 * first, to the first node, and the large one is out. */
static void who_finds_no_place_again_is_out(void)
{
    static const char text[] =
        "schema: 2\nname: out\n"
        "cluster:\n  nodes:\n    - {name: y, cpus: 8, gpus: {l4: 2}}\n"
        "    - {name: x, cpus: 7, gpus: {l4: 4}}\nsched: {placement: first_fit}\n"
        "fill:\n  - name: w\n    count: 2\n    classes:\n"
        "      - {name: large, request: {cpus: 8, gpus: 1}}\n"
        "      - {name: small, request: {cpus: 7, gpus: 0.4}}\n";
    struct experiment experiment = { .scenario = test_scenario(text, NULL) };
    struct sim_defrag defrag = { .moves = NULL };
    struct weir_error error = { .phase = -1 };
    const struct sim_defrag_rule rule = { .rule = SIM_DEFRAG_BATCH, .budget_frac = 1 };
    if (!open_arrived(&experiment, 5)) /* draws the large one first */
        return;
    CHECK_I64(sim_lab_defrag(experiment.run, &rule, &defrag, &error), WEIR_OK);
    CHECK_I64(defrag.count, 2);
    CHECK_I64(defrag.out, 1);
    check_moves(&defrag, experiment.run);
    check_books(experiment.run);
    CHECK_NEAR(defrag.used_before_gpus, 1.4, 1e-9);
    CHECK_NEAR(defrag.used_after_gpus, 0.4, 1e-9);
    sim_defrag_clear(&defrag);
    close_experiment(&experiment);
}

/* ---- results ---- */

static void moving_leaves_the_results_of_the_run_alone(void)
{
    struct experiment a;
    struct experiment b;
    if (!open_experiment(&a, "random", "") ||
        !open_experiment(&b, "random", " fill[0].defrag=batch fill[0].defrag.budget=20%"))
        return;
    struct sim_run_summary *plain = test_run_fast(a.scenario, 0, NULL);
    struct sim_run_summary *moved = test_run_fast(b.scenario, 0, NULL);
    CHECK_I64(plain->digest, moved->digest);
    size_t count = 0;
    for (; test_value_at(plain, count) != NULL; count++) {
        const struct test_value *value = test_value_at(moved, count);
        CHECK_STR(test_value_at(plain, count)->metric, value == NULL ? "" : value->metric);
        if (value != NULL)
            CHECK(memcmp(&test_value_at(plain, count)->value, &value->value, sizeof(double)) == 0);
    }
    CHECK(test_value_at(moved, count) != NULL);
    CHECK(isnan(test_value(plain, "defrag.moves", "")));
    CHECK(test_value(moved, "defrag.moves", "") > 0);
    CHECK_NEAR(test_value(moved, "defrag.cost_gpu_h", ""),
               test_value(moved, "defrag.moved_gpus", "") / 30, 1e-9); /* 2 minutes each */
    free(plain);
    free(moved);
    close_experiment(&a);
    close_experiment(&b);
}

static const struct test tests[] = {
    { "nothing is lost or made by moving", nothing_is_lost_or_made_by_moving },
    { "greedy lowers fragmentation with every move", greedy_lowers_fragmentation_with_every_move },
    { "a budget of nothing moves nothing", a_budget_of_nothing_moves_nothing },
    { "one_pod takes one job a node", one_pod_takes_one_job_a_node },
    { "one_pod takes the first of those that free most",
      one_pod_takes_the_first_of_those_that_free_most },
    { "who finds no place again is out", who_finds_no_place_again_is_out },
    { "moving leaves the results of the run alone", moving_leaves_the_results_of_the_run_alone },
};
TEST_MAIN(tests)
