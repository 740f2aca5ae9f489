/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The capacity policy threshold: marks and timers, steps, cooldowns, the back-off; and how a host
 * asks it. A cluster of one node that a worker fills to the load of the moment, and of empty nodes
 * that may be given back.
 */
#include "sched/capacity/capacities.h"
#include "sched/capacity/parts/load.h"
#include "tests/support/check.h"
#include "weir/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE = 7, MOST = 40, LEVELS = 10, NO_MORE = 1 << 20 };
static const int64_t NS = 1000000000;

/* The policy and what it sees. */
struct trial {
    const struct weir_capacity_ops *ops;
    void *state;
    double values[64];
    struct weir_cluster *cluster;
    struct weir_plan *plan;
    struct weir_pool_view pool;
    struct weir_node_offer offer;
    int64_t requested, released, woken_ns; /* by the latest decision */
};

static void set_param(struct trial *trial, const char *name, double value)
{
    const uint32_t at = weir_param_find(trial->ops->params, trial->ops->param_count, name);
    if (CHECK(at != WEIR_NO_INDEX))
        trial->values[at] = value;
}

/* Ten CPUs, GPUs and bytes in the first node, nothing in those of the offer. */
static void add_nodes(struct trial *trial)
{
    struct weir_gpu_spec gpus[LEVELS];
    for (int g = 0; g < LEVELS; g++)
        gpus[g] = (struct weir_gpu_spec){ .units = WEIR_ONE };
    for (uint32_t n = 0; n <= MOST; n++) {
        const struct weir_node_spec spec = { .size = sizeof spec,
                                             .id = n,
                                             .type = n == 0 ? 0 : TYPE,
                                             .gpu_count = n == 0 ? LEVELS : 0,
                                             .cpu_units = n == 0 ? LEVELS * WEIR_ONE : 0,
                                             .ram_bytes = n == 0 ? LEVELS : 0,
                                             .gpus = gpus };
        CHECK_I64(weir_cluster_add_node(trial->cluster, &spec, NULL, NULL), WEIR_OK);
    }
}

/* With parameters as they are usual, but for `set`, a list that ends with NULL. */
struct setting {
    const char *name;
    double value;
};
static struct trial *open_trial(uint32_t nodes, const struct setting *set)
{
    struct trial *trial = calloc(1, sizeof *trial);
    if (trial == NULL)
        exit(2);
    trial->ops = weir_capacity_find("threshold");
    for (uint32_t i = 0; i < trial->ops->param_count; i++)
        trial->values[i] = trial->ops->params[i].initial;
    for (; set != NULL && set->name != NULL; set++)
        set_param(trial, set->name, set->value);
    const struct weir_params params = { trial->values, trial->ops->param_count, 0 };
    CHECK_I64(trial->ops->create(&params, NULL, &trial->state, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_create(NULL, &trial->cluster), WEIR_OK);
    CHECK_I64(weir_plan_create(NULL, &trial->plan), WEIR_OK);
    add_nodes(trial);
    trial->offer = (struct weir_node_offer){
        .size = sizeof trial->offer, .type = TYPE, .min = 1, .max = MOST, .up = nodes
    };
    trial->pool.estimate.batches_per_s = 1;
    return trial;
}

static void close_trial(struct trial *trial)
{
    trial->ops->destroy(trial->state);
    weir_cluster_destroy(trial->cluster);
    weir_plan_destroy(trial->plan);
    free(trial);
}

/* Tenths of CPUs, GPUs and memory that are assigned from now on. */
static void load(struct trial *trial, uint32_t cpus, uint32_t gpus, uint32_t ram)
{
    struct weir_alloc alloc = {
        .node = 0, .cpu_units = cpus * WEIR_ONE, .ram_bytes = ram, .device_count = gpus
    };
    for (uint32_t g = 0; g < gpus; g++)
        alloc.devices[g] = (struct weir_device){ .gpu = g, .units = WEIR_ONE };
    (void)weir_cluster_remove_worker(trial->cluster, 1, NULL);
    CHECK_I64(weir_cluster_add_worker(trial->cluster, 1, weir_pool_owner(0), &alloc, NULL),
              WEIR_OK);
}

/* A decision; what it asks for is there at once, unless `fails`. */
static void decide(struct trial *trial, int64_t at_s)
{
    const struct weir_view view = { .now_ns = at_s * NS,
                                    .cluster = trial->cluster,
                                    .pools = &trial->pool,
                                    .pool_count = 1,
                                    .offers = &trial->offer,
                                    .offer_count = 1 };
    struct weir_error error = { .phase = -1 };
    weir_plan_reset(trial->plan, 2, 0);
    CHECK_I64(trial->ops->decide(trial->state, &view, trial->plan, &error), WEIR_OK);
    trial->requested = trial->released = 0;
    for (uint32_t i = 0; i < weir_plan_count(trial->plan); i++) {
        const struct weir_action *action = weir_plan_action(trial->plan, i);
        trial->requested += action->verb == WEIR_VERB_REQUEST_NODE && action->value == TYPE;
        trial->released += action->verb == WEIR_VERB_RELEASE_NODE;
        if (action->verb == WEIR_VERB_WAKE)
            trial->woken_ns = action->value;
    }
}

static void hear(struct trial *trial, uint32_t kind, int64_t at_s)
{
    const struct weir_outcome outcome = { .size = sizeof outcome,
                                          .kind = kind,
                                          .node = WEIR_NO_INDEX,
                                          .owner = weir_pool_owner(WEIR_NO_INDEX),
                                          .time_ns = at_s * NS };
    CHECK_I64(trial->ops->outcome(trial->state, &outcome), WEIR_OK);
}

/* What was asked for came, what was given back is gone. */
static void follow(struct trial *trial, int64_t at_s)
{
    if (trial->requested > 0)
        hear(trial, WEIR_OUTCOME_CAME, at_s);
    trial->offer.up += (uint32_t)(trial->requested - trial->released);
}

/* A load that rises by a tenth every two minutes passes its mark at 18 min; that it will is seen
 * before, and nobody foresees a load that stays. */
static int64_t asked_at_s(double ahead_s, bool rises)
{
    const struct setting set[] = { { "t_up", 0 }, { "ahead", ahead_s }, { NULL, 0 } };
    struct trial *trial = open_trial(4, set);
    int64_t at_s = -1;
    for (int64_t t = 0; t < 1200 && at_s < 0; t += 60) {
        load(trial, rises ? (uint32_t)(t / 120) : 7, 1, 1);
        decide(trial, t);
        at_s = trial->requested > 0 ? t : -1;
    }
    close_trial(trial);
    return at_s;
}

static void a_load_that_rises_is_seen_before_it_is_there(void)
{
    CHECK_I64(asked_at_s(0, true), 1080);
    const int64_t at_s = asked_at_s(300, true);
    CHECK(at_s > 600 && at_s < 1000);
    CHECK_I64(asked_at_s(300, false), -1);
}

/* covers: S1.93 */
static void each_number_alone_asks_for_nodes(void)
{
    static const struct setting set[] = { { "t_up", 60 }, { "wait_up", 30 }, { NULL, 0 } };
    for (int metric = 0; metric < WEIR_LOAD_COUNT + 2; metric++) {
        struct trial *trial = open_trial(4, set);
        load(trial, metric == WEIR_LOAD_CPU ? 9 : 1, metric == WEIR_LOAD_GPU ? 9 : 1,
             metric == WEIR_LOAD_RAM ? 9 : 1);
        trial->pool.ready = metric == WEIR_LOAD_WAIT ? 1 : 1000;
        trial->pool.queued_items = metric == WEIR_LOAD_QUEUE  ? 1
                                   : metric == WEIR_LOAD_WAIT ? 40
                                                              : 0;
        if (metric == WEIR_LOAD_WAIT) /* the queue itself is low enough */
            set_param(trial, "queue_up", 50);
        for (int64_t t = 0; t <= 59; t++) {
            decide(trial, t);
            CHECK_I64(trial->requested, 0);
        }
        decide(trial, 60);
        CHECK_I64(trial->requested, metric < WEIR_LOAD_COUNT ? 2 : 0); /* ceil(4 x 0.5) */
        close_trial(trial);
    }
}

/* covers: S1.94 */
static void a_mark_must_be_exceeded_for_all_of_the_time(void)
{
    static const struct setting set[] = { { "t_up", 60 }, { NULL, 0 } };
    for (int64_t high_s = 59; high_s <= 61; high_s += 2) {
        struct trial *trial = open_trial(4, set);
        int64_t asked_at = -1;
        for (int64_t t = 0; t <= 180; t++) {
            load(trial, t < high_s ? 9 : 5, 0, 0);
            decide(trial, t);
            if (trial->requested > 0 && asked_at < 0)
                asked_at = t;
        }
        CHECK_I64(asked_at, high_s == 59 ? -1 : 60);
        close_trial(trial);
    }
}

/* covers: S1.95 */
static void nodes_go_only_when_all_numbers_are_low(void)
{
    static const struct setting set[] = {
        { "wait_up", 1000 }, { "wait_down", 10 }, { "queue_up", 1000 }, { NULL, 0 }
    };
    for (int high = 0; high <= WEIR_LOAD_COUNT; high++) {
        struct trial *trial = open_trial(4, set);
        int64_t released = 0;
        load(trial, high == 0 ? 5 : 1, high == 1 ? 5 : 1, high == 2 ? 5 : 1);
        trial->pool.ready = high == WEIR_LOAD_WAIT ? 1 : 1000;
        trial->pool.queued_items = high == WEIR_LOAD_QUEUE || high == WEIR_LOAD_WAIT ? 20 : 0;
        if (high == WEIR_LOAD_WAIT)
            set_param(trial, "queue_down", 20);
        for (int64_t t = 0; t <= 7200; t += 60) {
            decide(trial, t);
            released += trial->released;
        }
        CHECK((released > 0) == (high == WEIR_LOAD_COUNT));
        close_trial(trial);
    }
}

/* Direction changes of an hour under a load that is high and low for half of 300 s in turn. */
static int changes_in_an_hour(double t_up_s, double t_down_s)
{
    const struct setting set[] = { { "t_up", t_up_s },    { "t_down", t_down_s }, { "backoff", 0 },
                                   { "cooldown_out", 0 }, { "cooldown_in", 0 },   { NULL, 0 } };
    struct trial *trial = open_trial(4, set);
    int64_t way = 1;
    int changes = 0;
    for (int64_t t = 0; t < 3600; t += 10) {
        load(trial, t % 300 < 150 ? 9 : 1, 0, 0);
        decide(trial, t);
        const int64_t now = trial->requested > 0 ? 1 : trial->released > 0 ? -1 : way;
        changes += now != way;
        way = now;
        follow(trial, t);
    }
    close_trial(trial);
    return changes;
}

/* covers: S1.96 */
static void a_long_timer_down_keeps_a_square_wave_from_oscillating(void)
{
    CHECK_I64(changes_in_an_hour(60, 600), 0);
    CHECK(changes_in_an_hour(60, 60) >= 5);
}

/* covers: S1.98 */
static void attempts_that_fail_come_ever_later(void)
{
    static const int64_t expected_min[] = { 0, 1, 3, 7, 15, 31 };
    static const struct setting set[] = { { "t_up", 0 }, { "backoff", 60 }, { NULL, 0 } };
    struct trial *trial = open_trial(1, set);
    size_t attempts = 0;
    load(trial, 9, 0, 0);
    for (int64_t t = 0; t <= 31 * 60; t++) {
        decide(trial, t);
        if (trial->requested == 0)
            continue;
        if (CHECK(attempts < 6))
            CHECK_I64(t, expected_min[attempts++] * 60);
        if (attempts < 6)
            hear(trial, WEIR_OUTCOME_FAILED, t);
    }
    CHECK_I64(attempts, 6);
    hear(trial, WEIR_OUTCOME_CAME, 31 * 60); /* the delay begins anew after the next failure */
    for (int64_t t = 31 * 60 + 1; trial->requested == 0; t++)
        decide(trial, t);
    hear(trial, WEIR_OUTCOME_REFUSED, 36 * 60);
    decide(trial, 37 * 60 - 1);
    CHECK_I64(trial->requested, 0);
    decide(trial, 37 * 60);
    CHECK_I64(trial->requested, 1);
    close_trial(trial);
}

/* covers: S1.98 */
static void steps_that_take_the_one_before_back_come_ever_later(void)
{
    static const struct setting set[] = { { "t_up", 0 },          { "t_down", 0 },
                                          { "cooldown_out", 10 }, { "cooldown_in", 10 },
                                          { "backoff", 60 },      { NULL, 0 } };
    static const int64_t expected_s[] = { 0, 10, 70, 190, 430 }; /* out, in: 60 s, 120 s, 240 s */
    struct trial *trial = open_trial(4, set);
    size_t steps = 0;
    for (int64_t t = 0; t <= 430; t += 10) {
        load(trial, steps % 2 == 0 ? 9 : 1, 0, 0);
        decide(trial, t);
        if (trial->requested + trial->released > 0 && CHECK(steps < 5))
            CHECK_I64(t, expected_s[steps++]);
        follow(trial, t);
    }
    CHECK_I64(steps, 5);
    close_trial(trial);
}

/* covers: S1.99 */
static void a_step_is_a_part_of_what_there_is(void)
{
    static const struct {
        uint32_t nodes;
        int64_t step;
    } rows[] = { { 10, 4 }, { 3, 2 }, { 1, 1 }, { 2, 1 }, { 8, 4 }, { 0, 1 } };
    static const struct setting set[] = { { "t_up", 0 }, { NULL, 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct trial *trial = open_trial(rows[i].nodes, set);
        load(trial, 9, 0, 0);
        decide(trial, 0);
        CHECK_I64(trial->requested, rows[i].step);
        close_trial(trial);
    }
}

/* covers: S1.99 S1.100 */
static void sizes_follow_a_load_as_they_were_worked_out(void)
{
    static const int64_t at_s[] = { 120, 420, 720, 1620, 2520, 3420, 4320, NO_MORE };
    static const uint32_t sizes[] = { 6, 9, 13, 9, 5, 2, 1, 1 };
    struct trial *trial = open_trial(4, NULL);
    size_t next = 0;
    for (int64_t t = 0; t <= 6000; t += 60) {
        const uint32_t before = trial->offer.up;
        load(trial, t < 780 ? 9 : 2, 0, 0);
        decide(trial, t);
        follow(trial, t);
        if (trial->offer.up == before)
            continue;
        CHECK_I64(t, at_s[next]);
        CHECK_I64(trial->offer.up, sizes[next++]);
    }
    CHECK_I64(at_s[next], NO_MORE);
    close_trial(trial);
}

static void a_node_on_its_way_counts_as_there(void)
{
    static const struct setting set[] = { { "t_up", 0 }, { NULL, 0 } };
    struct trial *trial = open_trial(4, set);
    load(trial, 9, 0, 0);
    trial->offer.coming = 1;
    trial->offer.holds.cpu_units = 2 * WEIR_ONE; /* 9 of 12 CPUs are assigned, then 9 of 10 */
    decide(trial, 0);
    CHECK_I64(trial->requested, 0);
    trial->offer.coming = 0;
    decide(trial, 1);
    CHECK_I64(trial->requested, 2);
    close_trial(trial);
}

static void a_node_in_use_is_not_given_back(void)
{
    static const struct setting set[] = { { "t_down", 0 }, { "cooldown_in", 0 }, { NULL, 0 } };
    const struct weir_alloc idler = { .node = MOST };
    struct trial *trial = open_trial(MOST, set);
    load(trial, 1, 0, 0);
    CHECK_I64(weir_cluster_add_worker(trial->cluster, 2, weir_pool_owner(0), &idler, NULL),
              WEIR_OK);
    decide(trial, 0);
    CHECK_I64(trial->released, 4);
    for (uint32_t i = 0; i < weir_plan_count(trial->plan); i++) {
        const struct weir_action *action = weir_plan_action(trial->plan, i);
        CHECK(action->verb != WEIR_VERB_RELEASE_NODE ||
              (action->node < MOST && action->node >= MOST - 4));
    }
    close_trial(trial);
}

static void it_asks_to_look_again_when_a_timer_runs_out(void)
{
    static const struct setting set[] = { { "t_up", 90 }, { NULL, 0 } };
    struct trial *trial = open_trial(4, set);
    load(trial, 9, 0, 0);
    decide(trial, 10);
    CHECK_I64(trial->woken_ns / NS, 70);
    decide(trial, 70);
    CHECK_I64(trial->woken_ns / NS, 100);
    trial->woken_ns = 0;
    decide(trial, 80); /* somebody else asked: one wake is on its way */
    CHECK_I64(trial->woken_ns, 0);
    close_trial(trial);
}

static void another_goes_on_from_what_it_remembers(void)
{
    double numbers[64];
    struct trial *first = open_trial(4, NULL);
    struct trial *second = open_trial(4, NULL);
    load(first, 9, 0, 0);
    load(second, 9, 0, 0);
    for (int64_t t = 0; t <= 120; t += 60)
        decide(first, t);
    follow(first, 120);
    second->offer.up = first->offer.up;
    const uint32_t count = first->ops->save(first->state, numbers, 64);
    CHECK(count > 0 && count <= 64);
    CHECK_I64(second->ops->restore(second->state, NULL, numbers, count, NULL), WEIR_OK);
    CHECK_I64(second->ops->restore(second->state, NULL, numbers, count - 1, NULL), WEIR_EFORMAT);
    CHECK_I64(second->ops->restore(second->state, NULL, numbers, count, NULL), WEIR_OK);
    for (int64_t t = 180; t <= 420; t += 60) {
        decide(first, t);
        decide(second, t);
        CHECK_I64(first->requested, second->requested);
        CHECK_I64(first->requested, t == 420 ? 3 : 0);
    }
    close_trial(first);
    close_trial(second);
}

/* ---- through a host ---- */

static struct weir_host *open_host(const char *capacity)
{
    const struct weir_host_config config = { .size = sizeof config,
                                             .placement = weir_placement_at(0),
                                             .scaling = weir_scaling_find("fixed"),
                                             .capacity = weir_capacity_find(capacity) };
    const struct weir_node_spec node = { .size = sizeof node, .id = 1, .cpu_units = WEIR_ONE };
    const struct weir_node_offer offer = {
        .size = sizeof offer, .type = TYPE, .min = 1, .max = 4, .up = 1
    };
    struct weir_host *host = NULL;
    uint32_t workload;
    CHECK_I64(weir_host_create(&config, &host, NULL), WEIR_OK);
    CHECK_I64(weir_host_add_node(host, &node, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_offer_nodes(host, &offer, NULL), WEIR_OK);
    CHECK_I64(weir_host_add_workload(host, "w", &workload, NULL), WEIR_OK);
    for (uint64_t id = 1; id <= 3; id++) {
        const struct weir_rank_group group = { .ranks = 1,
                                               .ranks_min = 1,
                                               .ranks_max = 1,
                                               .shape = { .kind = WEIR_SHAPE_CPU,
                                                          .cpu_units = WEIR_ONE } };
        const struct weir_job_spec job = { .size = sizeof job,
                                           .id = id,
                                           .groups = &group,
                                           .group_count = 1,
                                           .deadline_ns = WEIR_UNKNOWN_TIME };
        CHECK_I64(weir_host_submit(host, &job, NULL), WEIR_OK);
    }
    return host;
}

/* Verbs of the plan, as bits; *wake of the last WAKE. */
static uint32_t ask(struct weir_host *host, uint32_t causes, int64_t at_s, struct weir_action *wake)
{
    const struct weir_call call = { .size = sizeof call, .causes = causes, .now_ns = at_s * NS };
    const struct weir_plan *plan = NULL;
    uint32_t verbs = 0;
    if (!CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_OK))
        return 0;
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *action = weir_plan_action(plan, i);
        verbs |= UINT32_C(1) << action->verb;
        if (action->verb == WEIR_VERB_WAKE)
            memcpy(wake, action, offsetof(struct weir_action, alloc));
    }
    return verbs;
}

/* One of three jobs finds room; the others make the policy ask, two minutes later. */
static void a_host_asks_it_last_and_at_its_own_times(void)
{
    struct weir_action wake = { .value = 0 };
    struct weir_host *host = open_host("threshold");
    const uint32_t first = ask(host, WEIR_CAUSE_JOBS, 0, &wake);
    CHECK((first & UINT32_C(1) << WEIR_VERB_START) != 0);
    CHECK_I64(wake.value, 60 * NS);
    CHECK_I64(wake.causes, WEIR_CAUSE_CAPACITY);
    CHECK_I64(ask(host, WEIR_CAUSE_CAPACITY, 60, &wake), UINT32_C(1) << WEIR_VERB_WAKE);
    const uint32_t last = ask(host, WEIR_CAUSE_CAPACITY, 120, &wake);
    CHECK_I64(last, UINT32_C(1) << WEIR_VERB_WAKE | UINT32_C(1) << WEIR_VERB_REQUEST_NODE);
    weir_host_destroy(host);
}

/* A plan that is cancelled asked for nothing: it is tried again after the back-off. */
static void what_is_cancelled_is_asked_for_again(void)
{
    static const uint32_t request = UINT32_C(1) << WEIR_VERB_REQUEST_NODE;
    struct weir_action wake = { .value = 0 };
    struct weir_host *host = open_host("threshold");
    (void)ask(host, WEIR_CAUSE_JOBS, 0, &wake);
    CHECK((ask(host, WEIR_CAUSE_CAPACITY, 120, &wake) & request) != 0);
    CHECK_I64(weir_host_cancel(host, NULL), WEIR_OK);
    CHECK((ask(host, WEIR_CAUSE_CAPACITY, 179, &wake) & request) == 0);
    CHECK((ask(host, WEIR_CAUSE_CAPACITY, 180, &wake) & request) != 0);
    weir_host_destroy(host);
}

static void none_asks_for_nothing(void)
{
    struct weir_action wake = { .value = -1 };
    struct weir_host *host = open_host("none");
    for (int64_t t = 0; t < 3600; t += 600)
        CHECK_I64(ask(host, WEIR_CAUSE_JOBS, t, &wake) & UINT32_C(1) << WEIR_VERB_REQUEST_NODE, 0);
    CHECK_I64(wake.value, -1);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "a load that rises is seen before it is there",
      a_load_that_rises_is_seen_before_it_is_there },
    { "each number alone asks for nodes", each_number_alone_asks_for_nodes },
    { "a mark must be exceeded for all of the time", a_mark_must_be_exceeded_for_all_of_the_time },
    { "nodes go only when all numbers are low", nodes_go_only_when_all_numbers_are_low },
    { "a long timer down keeps a square wave from oscillating",
      a_long_timer_down_keeps_a_square_wave_from_oscillating },
    { "attempts that fail come ever later", attempts_that_fail_come_ever_later },
    { "steps that take the one before back come ever later",
      steps_that_take_the_one_before_back_come_ever_later },
    { "a step is a part of what there is", a_step_is_a_part_of_what_there_is },
    { "sizes follow a load as they were worked out", sizes_follow_a_load_as_they_were_worked_out },
    { "a node on its way counts as there", a_node_on_its_way_counts_as_there },
    { "a node in use is not given back", a_node_in_use_is_not_given_back },
    { "it asks to look again when a timer runs out", it_asks_to_look_again_when_a_timer_runs_out },
    { "another goes on from what it remembers", another_goes_on_from_what_it_remembers },
    { "a host asks it last and at its own times", a_host_asks_it_last_and_at_its_own_times },
    { "what is cancelled is asked for again", what_is_cancelled_is_asked_for_again },
    { "none asks for nothing", none_asks_for_nothing },
};
TEST_MAIN(tests)
