/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activities by hand: a script of starts, stops and changes at given times, the ends it must give.
 *
 * Each entry of a script is an event of the world; work is written as ns at speed 1 of a device
 * and speeds as thousandths of a device.
 */
#include "sim/engine/activity.h"

#include "sim/engine/time.h"
#include "tests/support/check.h"

#include <stdlib.h>

enum { KIND_SCRIPT, KIND_END, OWNERS = 64 };

static const int64_t S = SIM_NS_PER_S;

enum verb { START, STOP, SET, CAPACITY, LOOK, SETTLE };

struct entry {
    int64_t at_ns;
    enum verb verb;
    uint32_t owner;     /* CAPACITY: the resource */
    int64_t work_ns;    /* START: its work; STOP, LOOK: what is left */
    int64_t mille;      /* cap or capacity in thousandths of a device; -1: uncapped */
    uint32_t resources; /* START: 0 alone, 1 on resource 0 */
    uint32_t weight;    /* START, SET: 0 means 1 */
    uint8_t priority;
    uint32_t turn_cost;
    uint16_t bound_mille;
    bool is_early; /* before the ends of its instant */
};

struct world {
    struct sim_engine *engine;
    struct sim_activities *activities;
    const struct entry *script;
    sim_handle handles[OWNERS];
    int64_t end_ns[OWNERS];
    uint32_t order[OWNERS]; /* owners in the order of their ends */
    uint32_t ended;
};

static uint64_t speed(int64_t mille)
{
    return mille < 0 ? SIM_UNCAPPED : (uint64_t)mille * (SIM_DEVICE_QPNS / 1000);
}

static sim_quanta work_of(int64_t ns)
{
    return sim_work_of_ns(ns, speed(1000));
}

static void carry_out(struct world *world, const struct entry *entry)
{
    struct sim_activities *activities = world->activities;
    sim_quanta left = 0;
    switch (entry->verb) {
    case START: {
        const struct sim_activity_spec spec = { .work = work_of(entry->work_ns),
                                                .cap_qpns = speed(entry->mille),
                                                .owner = entry->owner,
                                                .weight = entry->weight ? entry->weight : 1,
                                                .turn_cost = entry->turn_cost,
                                                .bound_mille = entry->bound_mille,
                                                .priority = entry->priority,
                                                .resources = (uint8_t)entry->resources };
        CHECK_I64(sim_activity_start(activities, &spec, &world->handles[entry->owner], NULL),
                  WEIR_OK);
        break;
    }
    case STOP:
        CHECK(sim_activity_stop(activities, world->handles[entry->owner], &left));
        CHECK(left == work_of(entry->work_ns));
        break;
    case LOOK:
        CHECK(sim_activity_left(activities, world->handles[entry->owner], &left));
        CHECK(left == work_of(entry->work_ns));
        break;
    case SET:
        CHECK_I64(
            sim_activity_set(activities, world->handles[entry->owner], 1, speed(entry->mille)),
            WEIR_OK);
        break;
    case SETTLE:
        CHECK_I64(sim_activities_settle(activities), WEIR_OK);
        break;
    case CAPACITY:
        CHECK_I64(sim_resource_set_capacity(activities, entry->owner, speed(entry->mille)),
                  WEIR_OK);
        break;
    }
}

static weir_status handle(void *context, const struct sim_event *event)
{
    struct world *world = context;
    if (event->kind == KIND_SCRIPT) {
        carry_out(world, &world->script[event->target]);
    } else {
        const struct sim_ended *ended = NULL;
        uint32_t count = 0;
        WEIR_TRY(sim_activities_fire(world->activities, event, &ended, &count));
        for (uint32_t i = 0; i < count; i++) {
            CHECK(world->handles[ended[i].owner] == ended[i].handle);
            world->end_ns[ended[i].owner] = event->time_ns;
            world->order[world->ended++] = (uint32_t)ended[i].owner;
        }
    }
    struct weir_error error = { 0 };
    CHECK_I64(sim_activities_check(world->activities, &error), WEIR_OK);
    return WEIR_OK;
}

static struct world world_open(void)
{
    struct world world = { .engine = sim_engine_create() };
    world.activities = sim_activities_create(world.engine, KIND_END);
    for (uint32_t i = 0; i < OWNERS; i++)
        world.end_ns[i] = -1;
    return world;
}

static void world_close(struct world *world)
{
    sim_activities_destroy(world->activities);
    sim_engine_destroy(world->engine);
}

/* A device of speed 1 as resource 0, the script, the run. */
static struct world run_script(enum sim_share share, const struct entry *script, size_t count)
{
    struct world world = world_open();
    uint32_t device = 0;
    CHECK_I64(sim_resource_add(world.activities, share, speed(1000), &device), WEIR_OK);
    world.script = script;
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_event event = { .time_ns = script[i].at_ns,
                                         .target = i,
                                         .kind = KIND_SCRIPT,
                                         .phase = script[i].is_early ? SIM_PHASE_COMPLETION
                                                                     : SIM_PHASE_ARRIVAL };
        (void)sim_engine_schedule(world.engine, &event);
    }
    CHECK_I64(sim_engine_run(world.engine, handle, &world, SIM_TIME_MAX), WEIR_OK);
    return world;
}

#define RUN_BY(share, script) run_script((share), (script), sizeof(script) / sizeof((script)[0]))
#define RUN(script)           RUN_BY(SIM_SHARE_WEIGHTS, script)

/* --- alone --------------------------------------------------------------------------------- */

static void work_alone_ends_after_exactly_its_run_time(void)
{
    static const int64_t run_ns[] = {
        0, 1, 3, 999999999, INT64_C(3600000000001), (INT64_C(1) << 60) - 1
    };
    enum { RUNS = sizeof run_ns / sizeof run_ns[0] };
    struct entry script[RUNS];
    for (uint32_t i = 0; i < RUNS; i++)
        script[i] = (struct entry){ 7 + i, START, i, run_ns[i], 1000, .resources = 0 };
    struct world world = RUN(script);
    for (uint32_t i = 0; i < RUNS; i++)
        CHECK_I64(world.end_ns[i], 7 + i + run_ns[i]);
    CHECK_I64(sim_activities_running(world.activities), 0);
    world_close(&world);
}

static void a_slow_device_takes_longer_and_the_end_is_rounded_up_once(void)
{
    const struct entry script[] = {
        { 0, START, 0, 1000 * S, 250, .resources = 0 },  /* a quarter of the speed */
        { 0, START, 1, 1000 * S, 3000, .resources = 0 }, /* three times: 333.3 s */
        { 0, START, 2, 1000 * S, 1000, .resources = 0 }, /* half from 400 s on */
        { 400 * S, SET, 2, 0, 500, .resources = 0 },
        { 0, START, 3, 1000 * S, 1000, .resources = 0 }, /* frozen from 100 s to 500 s */
        { 100 * S, SET, 3, 0, 0, .resources = 0 },
        { 300 * S, LOOK, 3, 900 * S, 0, .resources = 0 },
        { 500 * S, SET, 3, 0, 1000, .resources = 0 },
    };
    struct world world = RUN(script);
    CHECK_I64(world.end_ns[0], 4000 * S);
    CHECK_I64(world.end_ns[1], INT64_C(333333333334));
    CHECK_I64(world.end_ns[2], 1600 * S);
    CHECK_I64(world.end_ns[3], 1400 * S);
    world_close(&world);
}

static void changes_that_cut_a_life_lose_nothing(void)
{
    struct world world = world_open();
    const struct sim_activity_spec spec = { .work = work_of(1000003), .cap_qpns = speed(1000) };
    sim_handle activity = SIM_NO_HANDLE;
    CHECK_I64(sim_activity_start(world.activities, &spec, &activity, NULL), WEIR_OK);
    /* Every 7 ns the rate alternates between a third and two thirds, in quanta that do not
     * divide: after 14 ns exactly 14 x (a + b) / 2 are done. */
    const uint64_t slow = SIM_DEVICE_QPNS / 3;
    const uint64_t fast = SIM_DEVICE_QPNS - slow;
    for (int64_t i = 0; i < 100000; i++) {
        CHECK_I64(sim_activity_set(world.activities, activity, 1, i % 2 ? fast : slow), WEIR_OK);
        CHECK_I64(sim_engine_run(world.engine, handle, &world, 7 * (i + 1)), WEIR_OK);
    }
    sim_quanta left = 0;
    CHECK(sim_activity_left(world.activities, activity, &left));
    CHECK(left == spec.work - (sim_quanta)350000 * SIM_DEVICE_QPNS);
    CHECK_I64(sim_activity_set(world.activities, activity, 1, SIM_DEVICE_QPNS), WEIR_OK);
    CHECK_I64(sim_activity_end_ns(world.activities, activity), 700000 + 650003);
    world_close(&world);
}

static void the_same_rate_again_moves_no_event(void)
{
    struct world world = world_open();
    const struct sim_activity_spec spec = { .work = work_of(1000), .cap_qpns = speed(300) };
    sim_handle activity = SIM_NO_HANDLE;
    CHECK_I64(sim_activity_start(world.activities, &spec, &activity, NULL), WEIR_OK);
    for (int64_t i = 1; i < 1000; i++) {
        CHECK_I64(sim_engine_run(world.engine, handle, &world, i), WEIR_OK);
        CHECK_I64(sim_activity_set(world.activities, activity, 1, speed(300)), WEIR_OK);
        CHECK_I64(sim_activity_end_ns(world.activities, activity), 3334);
    }
    CHECK_I64(sim_engine_stats(world.engine).rescheduled, 0);
    world_close(&world);
}

static void endless_work_has_no_event_and_can_be_stopped(void)
{
    struct world world = world_open();
    const struct sim_activity_spec spec = { .work = sim_work_of_ns(INT64_MAX, speed(1000)),
                                            .cap_qpns = speed(1000) };
    sim_handle activity = SIM_NO_HANDLE;
    CHECK_I64(sim_activity_start(world.activities, &spec, &activity, NULL), WEIR_OK);
    CHECK_I64(sim_engine_stats(world.engine).pending, 0);
    CHECK_I64(sim_activity_set(world.activities, activity, 1, speed(10)), WEIR_OK);
    CHECK_I64(sim_activity_end_ns(world.activities, activity), SIM_TIME_MAX);
    CHECK_I64(sim_engine_run(world.engine, handle, &world, SIM_TIME_MAX), WEIR_OK);
    sim_quanta left = 0;
    CHECK(sim_activity_stop(world.activities, activity, &left));
    CHECK(left == SIM_WORK_ENDLESS);
    CHECK_I64(sim_activities_running(world.activities), 0);
    CHECK(sim_work_of_ns(INT64_MAX - 1, speed(1000)) == SIM_WORK_ENDLESS);
    CHECK(sim_work_of_ns((INT64_C(1) << 60) - 1, speed(1000)) < SIM_WORK_LIMIT);
    world_close(&world);
}

static void work_that_stands_still_stops_the_run_loudly(void)
{
    struct world world = world_open();
    const struct sim_activity_spec spec = { .work = work_of(1000), .cap_qpns = 0 };
    sim_handle activity = SIM_NO_HANDLE;
    CHECK_I64(sim_activity_start(world.activities, &spec, &activity, NULL), WEIR_OK);
    CHECK_I64(sim_engine_run(world.engine, handle, &world, SIM_TIME_MAX), WEIR_EINVARIANT);
    world_close(&world);
}

static void a_dead_handle_changes_nothing_and_is_counted(void)
{
    struct world world = world_open();
    const struct sim_activity_spec spec = { .work = work_of(5), .cap_qpns = speed(1000) };
    sim_handle first = SIM_NO_HANDLE;
    sim_handle second = SIM_NO_HANDLE;
    CHECK_I64(sim_activity_start(world.activities, &spec, &first, NULL), WEIR_OK);
    CHECK(sim_activity_stop(world.activities, first, NULL));
    CHECK_I64(sim_activity_start(world.activities, &spec, &second, NULL), WEIR_OK);
    CHECK(second != first);
    sim_quanta left = 77;
    CHECK(!sim_activity_stop(world.activities, first, &left));
    CHECK(!sim_activity_left(world.activities, first, &left));
    CHECK(left == 77);
    CHECK_I64(sim_activity_set(world.activities, first, 1, speed(1)), WEIR_ENOTFOUND);
    CHECK_I64(sim_activity_end_ns(world.activities, first), SIM_TIME_MAX);
    CHECK_I64(sim_activities_stale(world.activities), 2);
    CHECK(!sim_activity_stop(world.activities, SIM_NO_HANDLE, &left));
    CHECK_I64(sim_activities_stale(world.activities), 2);
    CHECK_I64(sim_activity_end_ns(world.activities, second), 5);
    world_close(&world);
}

/* --- on a resource of which there is enough ------------------------------------------------- */

static void a_slower_device_slows_what_runs_on_it_in_mid_air(void)
{
    const struct entry script[] = {
        { 0, START, 0, 1000 * S, -1, .resources = 1 }, /* all of the device */
        { 400 * S, CAPACITY, 0, 0, 500, .resources = 0 },
        { 600 * S, LOOK, 0, 500 * S, 0, .resources = 0 },
    };
    struct world world = RUN(script);
    CHECK_I64(world.end_ns[0], 1600 * S);
    CHECK(sim_resource_delivered(world.activities, 0) == work_of(1000 * S));
    world_close(&world);
}

static void a_frozen_device_keeps_the_work_that_is_left(void)
{
    const struct entry script[] = {
        { 0, START, 0, 10 * S, 300, .resources = 1 },
        { 0, START, 1, 10 * S, 700, .resources = 1 },
        { 5 * S, CAPACITY, 0, 0, 0, .resources = 0 },
        { 9 * S, LOOK, 1, 6500000000, 0, .resources = 0 },
        { 9 * S, CAPACITY, 0, 0, 1000, .resources = 0 },
        { 10 * S, STOP, 0, 8200000000, 0, .resources = 0 },
        { 11 * S, SET, 1, 0, 1000, .resources = 0 },
    };
    struct world world = RUN(script);
    CHECK_I64(world.end_ns[0], -1);
    CHECK_I64(world.end_ns[1], 11 * S + 5100000000);
    CHECK(sim_resource_delivered(world.activities, 0) == work_of(11800000000));
    world_close(&world);
}

static void ends_at_one_instant_come_by_creation(void)
{
    const struct entry script[] = {
        { 0, START, 3, 8 * S, 250, .resources = 1 },
        { 4 * S, START, 1, 7 * S, 250, .resources = 1 },
        { 16 * S, START, 2, 4 * S, 250, .resources = 1 },
        { 8 * S, START, 0, 6 * S, 250, .resources = 1 },
    };
    struct world world = RUN(script);
    const uint32_t order[] = { 3, 1, 0, 2 };
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_I64(world.end_ns[i], 32 * S);
        CHECK_I64(world.order[i], order[i]);
    }
    world_close(&world);
}

/* The first is slowed down and sped up again, so that it ends with the second: still before it. */
static void a_changed_rate_keeps_its_place_at_an_instant(void)
{
    const struct entry script[] = {
        { 0, START, 0, 8 * S, 500, .resources = 1 },
        { 0, START, 1, 4800000000, 300, .resources = 1 },
        { 4 * S, SET, 0, .mille = 250 },
        { 8 * S, SET, 0, .mille = 625 },
    };
    struct world world = RUN(script);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_I64(world.end_ns[i], 16 * S);
        CHECK_I64(world.order[i], i);
    }
    world_close(&world);
}

/* A third of a device for an odd work ends in the middle of a ns: the meter shows the work. */
static void the_meter_shows_the_work_and_no_more(void)
{
    struct world world = world_open();
    uint32_t device = 0;
    CHECK_I64(sim_resource_add(world.activities, SIM_SHARE_WEIGHTS, SIM_DEVICE_QPNS, &device),
              WEIR_OK);
    struct sim_activity_spec spec = { .work = 1000, .weight = 1, .resources = 1, .cap_qpns = 3 };
    CHECK_I64(sim_activity_start(world.activities, &spec, &world.handles[0], NULL), WEIR_OK);
    CHECK_I64(sim_engine_run(world.engine, handle, &world, 333), WEIR_OK);
    CHECK(sim_resource_delivered(world.activities, 0) == 999);
    CHECK_I64(sim_engine_run(world.engine, handle, &world, 1000), WEIR_OK);
    CHECK(sim_resource_delivered(world.activities, 0) == 1000);
    CHECK(sim_resource_delivered(world.activities, 1) == 0);
    world_close(&world);
}

/* --- on a scarce resource -------------------------------------------------------------------- */

static void weights_divide_what_there_is(void)
{
    const struct entry script[] = {
        { 0, START, 0, 3 * S, -1, 1, .weight = 3 }, /* 3/4 of the device: 4 s */
        { 0, START, 1, 2 * S, -1, 1, .weight = 1 }, /* 1 s done by then, alone from there */
    };
    struct world world = RUN(script);
    CHECK_I64(world.end_ns[0], 4 * S);
    CHECK_I64(world.end_ns[1], 5 * S);
    world_close(&world);
}

/* Three thirds never meet a whole ns, yet all three end on it. */
static void thirds_of_a_device_end_on_the_nanosecond(void)
{
    const struct entry script[] = {
        { 0, START, 0, 1000 * S, -1, .resources = 1 },
        { 0, START, 1, 1000 * S, -1, .resources = 1 },
        { 0, START, 2, 1000 * S, -1, .resources = 1 },
    };
    struct world world = RUN(script);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_I64(world.end_ns[i], 3000 * S);
        CHECK_I64(world.order[i], i);
    }
    world_close(&world);
}

/* Caps .1 and .3 leave .6 to two of weights 1 and 2. */
static void what_a_cap_leaves_goes_to_the_others(void)
{
    const struct entry script[] = {
        { 0, START, 0, 10 * S, 100, 1, .weight = 1 }, /* 100 s */
        { 0, START, 1, 30 * S, 300, 1, .weight = 7 }, /* 100 s */
        { 0, START, 2, 20 * S, -1, 1, .weight = 1 },  /* .2: 100 s */
        { 0, START, 3, 41 * S, 450, 1, .weight = 2 }, /* .4 until 100 s, then .45 */
    };
    struct world world = RUN(script);
    CHECK_I64(world.end_ns[0], 100 * S);
    CHECK_I64(world.end_ns[1], 100 * S);
    CHECK_I64(world.end_ns[2], 100 * S);
    CHECK_I64(world.end_ns[3], INT64_C(102222222223));
    world_close(&world);
}

static void a_lower_priority_waits_and_goes_on(void)
{
    const struct entry script[] = {
        { 0, START, 0, 10 * S, -1, 1, .priority = 5 },
        { 4 * S, START, 1, 3 * S, -1, 1, .priority = 1 },
        { 5 * S, START, 2, 1 * S, 250, 1, .priority = 0 }, /* 1/4 for 4 s */
        { 6 * S, LOOK, 0, 6 * S, 0, .resources = 0 },
    };
    struct world world = RUN(script);
    CHECK_I64(world.end_ns[1], 4 * S + 1 * S + 2666666667);
    CHECK_I64(world.end_ns[2], 9 * S);
    CHECK_I64(world.end_ns[0], 14 * S + 1); /* a quarter of the last ns of 1 was for nobody */
    world_close(&world);
}

/* 100 ms each, 5 ms a switch: 2 x 1000 s in 2100 s. One alone pays nothing. */
/* Done in the middle of a ns, at whose end another comes and is settled before the end is told: it
 * is now limited by the pool, which has given nothing yet, and must not seem to lack what it had.
 */
static void one_that_is_done_stays_done_in_a_new_pool(void)
{
    const int64_t end_ns = 3003003004; /* 1 s of work at 0.333 of a device */
    const struct entry script[] = {
        { 0, CAPACITY, 0, .mille = 333 },
        { 0, START, 0, S, 333, .resources = 1 },
        { 0, START, 1, S, -1, .resources = 1, .priority = 1 },
        { end_ns, START, 2, S, -1, .resources = 1, .is_early = true },
        { end_ns, SETTLE, 0, .is_early = true },
    };
    struct world world = RUN(script);
    CHECK_I64(world.end_ns[0], end_ns);
    world_close(&world);
}

static void turns_pay_their_switches(void)
{
    const struct entry script[] = {
        { 0, START, 0, 1000 * S, -1, 1, .weight = 100000, .turn_cost = 5000 },
        { 0, START, 1, 1000 * S, -1, 1, .weight = 100000, .turn_cost = 5000 },
        { 3000 * S, START, 2, 10 * S, -1, 1, .weight = 100000, .turn_cost = 5000 },
    };
    struct world world = RUN_BY(SIM_SHARE_TURNS, script);
    CHECK_I64(world.end_ns[0], 2100 * S);
    CHECK_I64(world.end_ns[1], 2100 * S);
    CHECK_I64(world.end_ns[2], 3010 * S);
    world_close(&world);
}

static void bandwidth_slows_what_is_bound_by_it(void)
{
    const struct entry two[] = {
        { 0, START, 0, 10 * S, -1, 1, .weight = 900000, .bound_mille = 1000 },
        { 0, START, 1, 10 * S, 500, 1, .weight = 900000, .bound_mille = 1000 },
    };
    struct world world = RUN_BY(SIM_SHARE_BANDWIDTH, two);
    CHECK_I64(world.end_ns[0], 18 * S);
    CHECK_I64(world.end_ns[1], 28 * S); /* half of it done; the rest at half speed, alone */
    world_close(&world);

    struct entry five[5];
    for (uint32_t i = 0; i < 5; i++)
        five[i] = (struct entry){ .owner = i,
                                  .work_ns = 10 * S,
                                  .mille = -1,
                                  .resources = 1,
                                  .weight = SIM_BANDWIDTH_WHOLE,
                                  .bound_mille = i < 4 ? 1000 : 50 };
    world = RUN_BY(SIM_SHARE_BANDWIDTH, five);
    CHECK_I64(world.end_ns[4], 12 * S);                    /* 1 + .05 x 4 */
    CHECK_I64(world.end_ns[0], 12 * S + 30400 * S / 1000); /* 12 s at 1/5, then at 1/4 */
    world_close(&world);

    const struct entry enough[] = {
        { 0, START, 0, 10 * S, -1, 1, .weight = 900000, .bound_mille = 1000 },
        { 0, START, 1, 10 * S, -1, 1, .weight = 100000, .bound_mille = 1000 },
    };
    world = RUN_BY(SIM_SHARE_BANDWIDTH, enough);
    CHECK_I64(world.end_ns[0], 10 * S);
    CHECK_I64(world.end_ns[1], 10 * S);
    world_close(&world);
}

static void a_pause_and_a_slower_device_keep_what_is_done(void)
{
    const struct entry script[] = {
        { 0, START, 0, 10 * S, -1, .resources = 1 },
        { 0, START, 1, 10 * S, -1, .resources = 1 },
        { 4 * S, CAPACITY, 0, 0, 0, .resources = 0 },
        { 5 * S, LOOK, 1, 8 * S, 0, .resources = 0 },
        { 6 * S, CAPACITY, 0, 0, 500, .resources = 0 },
        { 10 * S, STOP, 0, 7 * S, 0, .resources = 0 },
        { 10 * S, CAPACITY, 0, 0, 1000, .resources = 0 },
    };
    struct world world = RUN(script);
    CHECK_I64(world.end_ns[0], -1);
    CHECK_I64(world.end_ns[1], 17 * S);
    CHECK(sim_resource_delivered(world.activities, 0) <= work_of(13 * S));
    world_close(&world);
}

static void one_that_replaces_another_at_one_instant_changes_no_end(void)
{
    const struct entry script[] = {
        { 0, START, 0, 10 * S, -1, .resources = 1 },
        { 0, START, 1, 10 * S, -1, .resources = 1 },
        { 0, START, 2, 10 * S, -1, .resources = 1 },
        { 9 * S, STOP, 1, 7 * S, 0, .resources = 0 },
        { 9 * S, START, 3, 7 * S, -1, .resources = 1 },
    };
    struct world world = RUN(script);
    CHECK_I64(world.end_ns[0], 30 * S);
    CHECK_I64(world.end_ns[2], 30 * S);
    CHECK_I64(world.end_ns[3], 30 * S);
    CHECK_I64(world.order[2], 3);
    CHECK_I64(sim_engine_stats(world.engine).rescheduled, 0);
    world_close(&world);
}

/* Works in proportion to weights, a million looks and changes on the way: one ns, by creation. */
static void proportional_work_ends_together_after_many_changes(void)
{
    struct world world = world_open();
    uint32_t device = 0;
    CHECK_I64(sim_resource_add(world.activities, SIM_SHARE_WEIGHTS, speed(1000), &device), WEIR_OK);
    for (uint32_t i = 0; i < 7; i++) {
        const struct sim_activity_spec spec = { .work = work_of((7 - i) * 10 * S),
                                                .cap_qpns = SIM_UNCAPPED,
                                                .owner = i,
                                                .weight = 7 - i,
                                                .resources = 1 };
        CHECK_I64(sim_activity_start(world.activities, &spec, &world.handles[i], NULL), WEIR_OK);
    }
    enum { CHANGES = 100000 };
    for (int64_t i = 1; i <= CHANGES; i++) {
        const uint64_t qpns = i == CHANGES ? speed(1000) : speed(1 + i * 7919 % 1000);
        CHECK_I64(sim_engine_run(world.engine, handle, &world, i * 1000), WEIR_OK);
        CHECK_I64(sim_resource_set_capacity(world.activities, 0, qpns), WEIR_OK);
    }
    CHECK_I64(sim_engine_run(world.engine, handle, &world, SIM_TIME_MAX), WEIR_OK);
    CHECK_I64(world.ended, 7);
    for (uint32_t i = 0; i < 7; i++) {
        CHECK_I64(world.end_ns[i], world.end_ns[0]);
        CHECK_I64(world.order[i], i);
    }
    world_close(&world);
}

static void a_crowd_that_starts_together_is_settled_once(void)
{
    struct world world = world_open();
    uint32_t device = 0;
    CHECK_I64(sim_resource_add(world.activities, SIM_SHARE_WEIGHTS, speed(1000), &device), WEIR_OK);
    for (uint32_t i = 0; i < OWNERS; i++) {
        const struct sim_activity_spec spec = {
            .work = work_of(1000), .cap_qpns = SIM_UNCAPPED, .owner = i, .weight = 1, .resources = 1
        };
        CHECK_I64(sim_activity_start(world.activities, &spec, &world.handles[i], NULL), WEIR_OK);
    }
    CHECK_I64(sim_engine_run(world.engine, handle, &world, 1), WEIR_OK);
    const struct sim_engine_stats stats = sim_engine_stats(world.engine);
    CHECK_I64(stats.scheduled, 3); /* the first ran alone; the settlement; the end of all */
    CHECK_I64(stats.pending, 1);
    CHECK_I64(sim_activity_end_ns(world.activities, world.handles[5]), 1000 * OWNERS);
    world_close(&world);
}

/* Looks of every kind between changes: nothing moves, the stream of events is the same. */
static uint64_t digest_with_looks(bool looks)
{
    struct world world = world_open();
    uint32_t device = 0;
    sim_quanta left = 0;
    CHECK_I64(sim_resource_add(world.activities, SIM_SHARE_WEIGHTS, speed(1000), &device), WEIR_OK);
    for (uint32_t i = 0; i < 7; i++) {
        const struct sim_activity_spec spec = { .work = work_of(1000 + 77 * i),
                                                .cap_qpns = i < 3 ? speed(100) : SIM_UNCAPPED,
                                                .owner = i,
                                                .weight = 1 + i,
                                                .resources = 1 };
        CHECK_I64(sim_activity_start(world.activities, &spec, &world.handles[i], NULL), WEIR_OK);
    }
    for (int64_t t = 1; t < 2000; t++) {
        CHECK_I64(sim_engine_run(world.engine, handle, &world, t), WEIR_OK);
        if (!looks)
            continue;
        for (uint32_t i = 0; i < 7; i++) {
            if (world.end_ns[i] >= 0)
                continue;
            CHECK(sim_activity_left(world.activities, world.handles[i], &left));
            (void)sim_activity_set(world.activities, world.handles[i], 1 + i,
                                   i < 3 ? speed(100) : SIM_UNCAPPED);
        }
        (void)sim_resource_delivered(world.activities, 0);
        (void)sim_resource_set_capacity(world.activities, 0, speed(1000));
        (void)sim_activities_settle(world.activities);
    }
    CHECK_I64(sim_engine_run(world.engine, handle, &world, SIM_TIME_MAX), WEIR_OK);
    const uint64_t digest = sim_engine_digest(world.engine);
    CHECK_I64(world.ended, 7);
    world_close(&world);
    return digest;
}

static void looks_that_change_nothing_leave_no_trace(void)
{
    CHECK_I64(digest_with_looks(true), digest_with_looks(false));
}

static void the_meter_never_shows_more_than_the_capacity(void)
{
    struct world world = world_open();
    uint32_t device = 0;
    const uint64_t qpns = SIM_DEVICE_QPNS / 7;
    sim_quanta before = 0;
    CHECK_I64(sim_resource_add(world.activities, SIM_SHARE_WEIGHTS, qpns, &device), WEIR_OK);
    for (uint32_t i = 0; i < 5; i++) {
        const struct sim_activity_spec spec = { .work = sim_work_of_ns(100 + i, qpns),
                                                .cap_qpns = i == 4 ? qpns / 9 : SIM_UNCAPPED,
                                                .owner = i,
                                                .weight = 1 + i,
                                                .resources = 1 };
        CHECK_I64(sim_activity_start(world.activities, &spec, &world.handles[i], NULL), WEIR_OK);
    }
    for (int64_t t = 1; t <= 1000; t++) {
        CHECK_I64(sim_engine_run(world.engine, handle, &world, t), WEIR_OK);
        const sim_quanta now = sim_resource_delivered(world.activities, 0);
        CHECK(now >= before);
        CHECK(now <= (sim_quanta)qpns * (uint64_t)t);
        /* What runs counts as it runs: while one without a cap does, no more than the rest of the
         * ns in which others ended is left over. */
        CHECK(t > 400 || now + 5 * (sim_quanta)qpns >= (sim_quanta)qpns * (uint64_t)t);
        before = now;
    }
    CHECK_I64(world.ended, 5);
    /* Less what the grace forgives: 2^20 quanta per unit of weight. */
    const sim_quanta work = sim_work_of_ns(100 + 101 + 102 + 103 + 104, qpns);
    CHECK(before <= work && work - before < (sim_quanta)15 << 21);
    world_close(&world);
}

static void endless_work_takes_its_share_and_has_no_event(void)
{
    const struct entry script[] = {
        { 0, START, 0, INT64_MAX, -1, .resources = 1 },
        { 0, START, 1, 10 * S, -1, .resources = 1 },
        { 5 * S, LOOK, 1, 7500000000, 0, .resources = 0 },
    };
    struct world world = RUN(script);
    CHECK_I64(world.end_ns[1], 20 * S);
    CHECK_I64(sim_activities_running(world.activities), 1);
    CHECK_I64(sim_engine_stats(world.engine).pending, 0);
    CHECK(sim_resource_delivered(world.activities, 0) > work_of(20 * S - 1));
    world_close(&world);
}

static void weights_beyond_what_a_clock_can_count_are_refused(void)
{
    struct world world = world_open();
    uint32_t device = 0;
    CHECK_I64(sim_resource_add(world.activities, SIM_SHARE_TURNS, speed(1000), &device), WEIR_OK);
    struct sim_activity_spec spec = { .work = SIM_WORK_LIMIT - 1,
                                      .cap_qpns = SIM_UNCAPPED,
                                      .weight = SIM_WEIGHT_LIMIT,
                                      .turn_cost = SIM_WEIGHT_LIMIT,
                                      .resources = 1 };
    sim_handle first = SIM_NO_HANDLE;
    sim_handle other = SIM_NO_HANDLE;
    for (int i = 0; i < 2047; i++)
        CHECK_I64(sim_activity_start(world.activities, &spec, i ? &other : &first, NULL), WEIR_OK);
    spec.weight--;
    spec.turn_cost--;
    CHECK_I64(sim_activity_start(world.activities, &spec, &first, NULL), WEIR_OK);
    spec.turn_cost = 0;
    spec.weight = 2;
    CHECK_I64(sim_activity_start(world.activities, &spec, &other, NULL), WEIR_ERANGE);
    CHECK_I64(sim_activity_set(world.activities, first, SIM_WEIGHT_LIMIT, SIM_UNCAPPED), WEIR_OK);
    CHECK_I64(sim_activities_settle(world.activities), WEIR_OK);
    /* 36 years of a device, a 4096th each: beyond the clock. */
    CHECK_I64(sim_activity_end_ns(world.activities, first), SIM_TIME_MAX);
    CHECK_I64(sim_activities_check(world.activities, NULL), WEIR_OK);
    world_close(&world);
}

/* --- refusals -------------------------------------------------------------------------------- */

static void what_is_beyond_a_bound_is_refused(void)
{
    struct world world = world_open();
    uint32_t device = 0;
    uint32_t turns = 0;
    CHECK_I64(
        sim_resource_add(world.activities, SIM_SHARE_WEIGHTS, SIM_CAPACITY_LIMIT - 1, &device),
        WEIR_OK);
    CHECK_I64(sim_resource_add(world.activities, SIM_SHARE_TURNS, 1, &turns), WEIR_OK);
    CHECK_I64(sim_resource_add(world.activities, SIM_SHARE_WEIGHTS, SIM_CAPACITY_LIMIT, &device),
              WEIR_ERANGE);
    const struct sim_activity_spec good = { .work = SIM_WORK_LIMIT - 1,
                                            .cap_qpns = SIM_CAPACITY_LIMIT - 1,
                                            .weight = SIM_WEIGHT_LIMIT,
                                            .turn_cost = SIM_WEIGHT_LIMIT,
                                            .bound_mille = 1000,
                                            .resources = 1 };
    struct sim_activity_spec bad[10];
    for (int i = 0; i < 10; i++)
        bad[i] = good;
    bad[0].work++;
    bad[1].weight++;
    bad[2].turn_cost++;
    bad[3].bound_mille++;
    bad[4].weight = 0;
    bad[5].resource[0] = 2;
    bad[6].resources = 2;
    bad[7].resource[0] = turns;
    bad[7].resources = 2;
    bad[8].resources = 0;
    bad[8].cap_qpns = SIM_UNCAPPED;
    bad[9].resources = 0;
    bad[9].cap_qpns++;
    static const weir_status status[] = { WEIR_ERANGE, WEIR_ERANGE,    WEIR_ERANGE, WEIR_ERANGE,
                                          WEIR_EINVAL, WEIR_ENOTFOUND, WEIR_EINVAL, WEIR_EINVAL,
                                          WEIR_EINVAL, WEIR_ERANGE };
    sim_handle activity = SIM_NO_HANDLE;
    for (int i = 0; i < 10; i++) {
        struct weir_error error = { 0 };
        CHECK_I64(sim_activity_start(world.activities, &bad[i], &activity, &error), status[i]);
        CHECK(error.text[0] != '\0');
    }
    CHECK(activity == SIM_NO_HANDLE);
    CHECK_I64(sim_activity_start(world.activities, &good, &activity, NULL), WEIR_OK);
    CHECK_I64(sim_activity_end_ns(world.activities, activity), (INT64_C(1) << 42) + 1);
    CHECK_I64(sim_resource_set_capacity(world.activities, 0, SIM_CAPACITY_LIMIT), WEIR_ERANGE);
    CHECK_I64(sim_resource_set_capacity(world.activities, 9, 1), WEIR_ENOTFOUND);
    CHECK_I64(sim_resource_set_turn_cost(world.activities, 0, 1), WEIR_EINVAL);
    CHECK_I64(sim_resource_set_turn_cost(world.activities, turns, SIM_WEIGHT_LIMIT + 1),
              WEIR_ERANGE);
    CHECK_I64(sim_resource_set_turn_cost(world.activities, 9, 1), WEIR_ENOTFOUND);
    CHECK_I64(sim_activity_set(world.activities, activity, 0, 1), WEIR_EINVAL);
    CHECK_I64(sim_activity_set(world.activities, activity, SIM_WEIGHT_LIMIT + 1, 1), WEIR_ERANGE);
    CHECK_I64(sim_activities_check(world.activities, NULL), WEIR_OK);
    world_close(&world);
}

static const struct test tests[] = {
    { "work alone ends after exactly its run time", work_alone_ends_after_exactly_its_run_time },
    { "a slow device takes longer and the end is rounded up once",
      a_slow_device_takes_longer_and_the_end_is_rounded_up_once },
    { "changes that cut a life lose nothing", changes_that_cut_a_life_lose_nothing },
    { "the same rate again moves no event", the_same_rate_again_moves_no_event },
    { "endless work has no event and can be stopped",
      endless_work_has_no_event_and_can_be_stopped },
    { "work that stands still stops the run loudly", work_that_stands_still_stops_the_run_loudly },
    { "a dead handle changes nothing and is counted",
      a_dead_handle_changes_nothing_and_is_counted },
    { "a slower device slows what runs on it in mid-air",
      a_slower_device_slows_what_runs_on_it_in_mid_air },
    { "a frozen device keeps the work that is left", a_frozen_device_keeps_the_work_that_is_left },
    { "ends at one instant come by creation", ends_at_one_instant_come_by_creation },
    { "a changed rate keeps its place at an instant",
      a_changed_rate_keeps_its_place_at_an_instant },
    { "the meter shows the work and no more", the_meter_shows_the_work_and_no_more },
    { "weights divide what there is", weights_divide_what_there_is },
    { "thirds of a device end on the nanosecond", thirds_of_a_device_end_on_the_nanosecond },
    { "what a cap leaves goes to the others", what_a_cap_leaves_goes_to_the_others },
    { "a lower priority waits and goes on", a_lower_priority_waits_and_goes_on },
    { "one that is done stays done in a new pool", one_that_is_done_stays_done_in_a_new_pool },
    { "turns pay their switches", turns_pay_their_switches },
    { "bandwidth slows what is bound by it", bandwidth_slows_what_is_bound_by_it },
    { "a pause and a slower device keep what is done",
      a_pause_and_a_slower_device_keep_what_is_done },
    { "one that replaces another at one instant changes no end",
      one_that_replaces_another_at_one_instant_changes_no_end },
    { "proportional work ends together after many changes",
      proportional_work_ends_together_after_many_changes },
    { "a crowd that starts together is settled once",
      a_crowd_that_starts_together_is_settled_once },
    { "looks that change nothing leave no trace", looks_that_change_nothing_leave_no_trace },
    { "the meter never shows more than the capacity",
      the_meter_never_shows_more_than_the_capacity },
    { "endless work takes its share and has no event",
      endless_work_takes_its_share_and_has_no_event },
    { "weights beyond what a clock can count are refused",
      weights_beyond_what_a_clock_can_count_are_refused },
    { "what is beyond a bound is refused", what_is_beyond_a_bound_is_refused },
};

TEST_MAIN(tests)
