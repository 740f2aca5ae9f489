/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activities against exact fractions (tests/support/oracle_activity.h): random starts, stops,
 * changes of weight, cap and capacity, and looks that change nothing, on one resource of each law,
 * and on a link of a path. Every end must come at the same ns and, on one resource, in the same
 * order; what is left is never less than it is.
 */
#include "sim/engine/activity.h"

#include "sim/engine/time.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/oracle_activity.h"

#include <stdio.h>
#include <stdlib.h>

enum { KIND_OPERATE, KIND_END, OPERATIONS = 120, LEFT_SLACK_BITS = 44 };

struct duel {
    struct draws draws;
    struct sim_engine *engine;
    struct sim_activities *activities;
    struct oracle_resource oracle;
    sim_handle handles[ORACLE_ACTIVITIES];
    uint32_t ended;
    uint32_t mistakes;
    int64_t reach_ns; /* works are of this length */
    bool is_flow;     /* all use a second, wide link too */
};

static void mistake(struct duel *duel, const char *what, uint32_t index)
{
    if (duel->mistakes++ == 0)
        printf("%s: activity %u at %lld ns\n", what, index,
               (long long)sim_engine_now(duel->engine));
}

static void operate(struct duel *duel);

static weir_status handle(void *context, const struct sim_event *event)
{
    struct duel *duel = context;
    if (event->kind == KIND_OPERATE) {
        operate(duel);
        return WEIR_OK;
    }
    const struct sim_ended *ended = NULL;
    uint32_t count = 0;
    WEIR_TRY(sim_activities_fire(duel->activities, event, &ended, &count));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t index = (uint32_t)ended[i].owner;
        oracle_advance(&duel->oracle, event->time_ns);
        const bool is_in_order = duel->is_flow || duel->oracle.ended[duel->ended] == index;
        if (duel->oracle.ended_count <= duel->ended || !is_in_order ||
            duel->oracle.list[index].end_ns != event->time_ns)
            mistake(duel, "an end out of place", index);
        duel->ended++;
    }
    struct weir_error error = { 0 };
    if (sim_activities_check(duel->activities, &error) != WEIR_OK)
        mistake(duel, error.text, 0);
    return WEIR_OK;
}

/* A device, parts of one that are exact, or these and a number that divides nothing. So at the end
 * of an activity either nothing is left, as a fraction, or far more than the grace. */
static uint64_t draw_rate(struct duel *duel)
{
    static const uint64_t rates[] = { SIM_DEVICE_QPNS, SIM_DEVICE_QPNS / 10,
                                      SIM_DEVICE_QPNS / 10 * 3, SIM_DEVICE_QPNS / 8 };
    const uint64_t rate = rates[draws_below(&duel->draws, 4)];
    if (!draws_one_in(&duel->draws, 3))
        return rate;
    return rate + draws_below(&duel->draws, UINT64_C(1) << 36);
}

static struct sim_activity_spec draw_spec(struct duel *duel)
{
    struct draws *draws = &duel->draws;
    const enum sim_share share = duel->oracle.share;
    const int64_t run_ns = 1 + (int64_t)draws_below(draws, (uint64_t)duel->reach_ns);
    struct sim_activity_spec spec = {
        .work = sim_work_of_ns(run_ns, draw_rate(duel)),
        .cap_qpns = SIM_UNCAPPED,
        .owner = duel->oracle.count,
        .weight = 1 + (uint32_t)draws_below(draws, 4),
        .resources = 1,
    };
    if (share == SIM_SHARE_TURNS)
        spec.turn_cost = (uint32_t)draws_below(draws, 3);
    if (draws_below(draws, 3) > 0)
        spec.cap_qpns = draw_rate(duel);
    if (duel->is_flow)
        spec.resource[spec.resources++] = 1;
    else if (share == SIM_SHARE_WEIGHTS && draws_one_in(draws, 3))
        spec.priority = (uint8_t)draws_below(draws, 4);
    if (share == SIM_SHARE_BANDWIDTH) {
        spec.bound_mille = (uint16_t)(500 * draws_below(draws, 3));
        spec.weight = (1 + (uint32_t)draws_below(draws, 9)) * (SIM_BANDWIDTH_WHOLE / 10);
    }
    return spec;
}

static void start(struct duel *duel)
{
    const struct sim_activity_spec spec = draw_spec(duel);
    const uint32_t asked = duel->oracle.share == SIM_SHARE_BANDWIDTH
                               ? spec.weight / (SIM_BANDWIDTH_WHOLE / 10)
                               : spec.weight + spec.turn_cost;
    const uint32_t limit =
        duel->oracle.share == SIM_SHARE_BANDWIDTH ? ORACLE_TENTHS_MAX : ORACLE_WEIGHTS_MAX;
    if (oracle_weights(&duel->oracle) + asked > limit)
        return;
    if (sim_activity_start(duel->activities, &spec, &duel->handles[duel->oracle.count], NULL) !=
        WEIR_OK)
        mistake(duel, "not started", duel->oracle.count);
    oracle_start(&duel->oracle, &spec);
}

static void compare_left(struct duel *duel, uint32_t index)
{
    sim_quanta left = 0;
    if (!sim_activity_left(duel->activities, duel->handles[index], &left)) {
        mistake(duel, "gone", index);
        return;
    }
    const sim_quanta exact = oracle_left(&duel->oracle, index);
    if (left < exact || left - exact > (sim_quanta)1 << LEFT_SLACK_BITS)
        mistake(duel, "left", index);
}

static void set_terms(struct duel *duel, uint32_t index)
{
    struct oracle_activity *twin = &duel->oracle.list[index];
    twin->cap = draws_one_in(&duel->draws, 3) ? SIM_UNCAPPED : draw_rate(duel);
    if (duel->oracle.share != SIM_SHARE_BANDWIDTH && twin->weight > 1)
        twin->weight--;
    if (sim_activity_set(duel->activities, duel->handles[index], twin->weight, twin->cap) !=
        WEIR_OK)
        mistake(duel, "not set", index);
}

static void set_capacity(struct duel *duel)
{
    duel->oracle.capacity = draws_one_in(&duel->draws, 6) ? 0 : draw_rate(duel);
    if (sim_resource_set_capacity(duel->activities, 0, duel->oracle.capacity) != WEIR_OK)
        mistake(duel, "no capacity", 0);
}

/* One cost for all that live, as far as the oracle can count it. */
static void set_turn_cost(struct duel *duel)
{
    struct oracle_resource *oracle = &duel->oracle;
    uint32_t before[ORACLE_ACTIVITIES];
    const uint32_t cost = (uint32_t)draws_below(&duel->draws, 3);
    for (uint32_t i = 0; i < oracle->count; i++) {
        before[i] = oracle->list[i].turn_cost;
        oracle->list[i].turn_cost = cost;
    }
    if (oracle_weights(oracle) > ORACLE_WEIGHTS_MAX) {
        for (uint32_t i = 0; i < oracle->count; i++)
            oracle->list[i].turn_cost = before[i];
        return;
    }
    if (sim_resource_set_turn_cost(duel->activities, 0, cost) != WEIR_OK)
        mistake(duel, "no turn cost", cost);
}

/* Changes nothing, in ways that could. */
static void look(struct duel *duel, uint32_t index)
{
    struct oracle_activity *twin = &duel->oracle.list[index];
    compare_left(duel, index);
    (void)sim_activity_set(duel->activities, duel->handles[index], twin->weight, twin->cap);
    (void)sim_resource_set_capacity(duel->activities, 0, duel->oracle.capacity / 2);
    (void)sim_resource_set_capacity(duel->activities, 0, duel->oracle.capacity);
    (void)sim_activities_settle(duel->activities);
}

static void operate(struct duel *duel)
{
    oracle_advance(&duel->oracle, sim_engine_now(duel->engine));
    if (duel->oracle.ended_count != duel->ended)
        mistake(duel, "an end is missing", duel->oracle.ended[duel->ended]);
    const uint64_t choice = draws_below(&duel->draws, 12);
    if (choice < 5 || duel->oracle.count == 0) {
        start(duel);
        return;
    }
    const uint32_t index = (uint32_t)draws_below(&duel->draws, duel->oracle.count);
    if (choice == 11) {
        if (duel->oracle.share == SIM_SHARE_TURNS && draws_one_in(&duel->draws, 2))
            set_turn_cost(duel);
        else
            set_capacity(duel);
    } else if (duel->oracle.list[index].lives) {
        if (choice < 7) {
            compare_left(duel, index);
            if (!sim_activity_stop(duel->activities, duel->handles[index], NULL))
                mistake(duel, "not stopped", index);
            duel->oracle.list[index].lives = false;
        } else if (choice < 9) {
            set_terms(duel, index);
        } else {
            look(duel, index);
        }
    }
}

static void finish(struct duel *duel)
{
    if (duel->oracle.capacity == 0) {
        duel->oracle.capacity = SIM_DEVICE_QPNS;
        (void)sim_resource_set_capacity(duel->activities, 0, SIM_DEVICE_QPNS);
    }
    CHECK_I64(sim_engine_run(duel->engine, handle, duel, SIM_TIME_MAX), WEIR_OK);
    CHECK_I64(sim_activities_running(duel->activities), 0);
    CHECK_I64(duel->oracle.ended_count, duel->ended);
}

/* Returns the number of ends. */
static uint32_t run_duel(enum sim_share share, uint64_t seed, int64_t reach_ns, bool is_flow)
{
    struct duel *duel = calloc(1, sizeof *duel);
    uint32_t index = 0;
    duel->draws = draws_seeded(seed);
    duel->engine = sim_engine_create();
    duel->activities = sim_activities_create(duel->engine, KIND_END);
    duel->reach_ns = reach_ns;
    duel->is_flow = is_flow;
    duel->oracle.share = share;
    duel->oracle.capacity = SIM_DEVICE_QPNS;
    duel->oracle.scale = share == SIM_SHARE_BANDWIDTH ? ORACLE_BANDWIDTH_SCALE : ORACLE_SCALE;
    CHECK_I64(sim_resource_add(duel->activities, share, SIM_DEVICE_QPNS, &index), WEIR_OK);
    CHECK_I64(sim_resource_add(duel->activities, SIM_SHARE_WEIGHTS, SIM_CAPACITY_LIMIT - 1, &index),
              WEIR_OK);
    int64_t at_ns = 0;
    for (uint32_t i = 0; i < OPERATIONS && duel->mistakes == 0; i++) {
        if (!draws_one_in(&duel->draws, 3))
            at_ns += (int64_t)draws_below(&duel->draws, (uint64_t)reach_ns);
        const struct sim_event event = { .time_ns = at_ns,
                                         .kind = KIND_OPERATE,
                                         .phase = SIM_PHASE_ARRIVAL };
        (void)sim_engine_schedule(duel->engine, &event);
        CHECK_I64(sim_engine_run(duel->engine, handle, duel, at_ns), WEIR_OK);
    }
    if (duel->mistakes == 0)
        finish(duel);
    const uint32_t ended = duel->ended;
    if (!CHECK_I64(duel->mistakes, 0))
        printf("law %d, seed %llu, reach %lld\n", (int)share, (unsigned long long)seed,
               (long long)reach_ns);
    sim_activities_destroy(duel->activities);
    sim_engine_destroy(duel->engine);
    free(duel);
    return ended;
}

enum { DUELS = 150 };

static void run_duels(enum sim_share share, int64_t reach_ns, bool is_flow)
{
    uint32_t ended = 0;
    for (uint64_t seed = 1; seed <= DUELS; seed++)
        ended += run_duel(share, seed, reach_ns, is_flow);
    CHECK(ended > 20 * DUELS);
}

static void weights_follow_exact_fractions(void)
{
    run_duels(SIM_SHARE_WEIGHTS, 20, false);
    run_duels(SIM_SHARE_WEIGHTS, 3000, false);
    run_duels(SIM_SHARE_WEIGHTS, INT64_C(100000000000), false);
}

static void turns_follow_exact_fractions(void)
{
    run_duels(SIM_SHARE_TURNS, 20, false);
    run_duels(SIM_SHARE_TURNS, 3000, false);
    run_duels(SIM_SHARE_TURNS, INT64_C(100000000000), false);
}

static void bandwidth_follows_exact_fractions(void)
{
    run_duels(SIM_SHARE_BANDWIDTH, 20, false);
    run_duels(SIM_SHARE_BANDWIDTH, 3000, false);
    run_duels(SIM_SHARE_BANDWIDTH, 100000, false);
}

/* The same through the filling of links: who is capped runs beside the group of the link. */
static void flows_on_one_link_follow_exact_fractions(void)
{
    run_duels(SIM_SHARE_WEIGHTS, 20, true);
    run_duels(SIM_SHARE_WEIGHTS, 3000, true);
    run_duels(SIM_SHARE_WEIGHTS, INT64_C(100000000000), true);
}

static const struct test tests[] = {
    { "weights follow exact fractions", weights_follow_exact_fractions },
    { "turns follow exact fractions", turns_follow_exact_fractions },
    { "bandwidth follows exact fractions", bandwidth_follows_exact_fractions },
    { "flows on one link follow exact fractions", flows_on_one_link_follow_exact_fractions },
};

TEST_MAIN(tests)
