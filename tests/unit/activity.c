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

enum verb { START, STOP, SET, LOOK };

struct entry {
    int64_t at_ns;
    enum verb verb;
    uint32_t owner;
    int64_t work_ns; /* START: its work; STOP, LOOK: what is left */
    int64_t mille;   /* START, SET: rate in thousandths of a device */
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
    return (uint64_t)mille * (SIM_DEVICE_QPNS / 1000);
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
                                                .rate_qpns = speed(entry->mille),
                                                .owner = entry->owner };
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
        CHECK_I64(sim_activity_set(activities, world->handles[entry->owner], speed(entry->mille)),
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
        const uint64_t owner = sim_activities_fire(world->activities, event);
        CHECK_I64(owner, event->argument);
        world->end_ns[owner] = event->time_ns;
        world->order[world->ended++] = (uint32_t)owner;
    }
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

static struct world run_script(const struct entry *script, size_t count)
{
    struct world world = world_open();
    world.script = script;
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_event event = {
            .time_ns = script[i].at_ns, .target = i, .kind = KIND_SCRIPT, .phase = SIM_PHASE_ARRIVAL
        };
        (void)sim_engine_schedule(world.engine, &event);
    }
    CHECK_I64(sim_engine_run(world.engine, handle, &world, SIM_TIME_MAX), WEIR_OK);
    return world;
}

#define RUN(script) run_script((script), sizeof(script) / sizeof((script)[0]))

static void work_alone_ends_after_exactly_its_run_time(void)
{
    static const int64_t run_ns[] = {
        0, 1, 3, 999999999, INT64_C(3600000000001), (INT64_C(1) << 60) - 1
    };
    enum { RUNS = sizeof run_ns / sizeof run_ns[0] };
    struct entry script[RUNS];
    for (uint32_t i = 0; i < RUNS; i++)
        script[i] = (struct entry){ 7 + i, START, i, run_ns[i], 1000 };
    struct world world = RUN(script);
    for (uint32_t i = 0; i < RUNS; i++)
        CHECK_I64(world.end_ns[i], 7 + i + run_ns[i]);
    CHECK_I64(sim_activities_running(world.activities), 0);
    world_close(&world);
}

static void a_slow_device_takes_longer_and_the_end_is_rounded_up_once(void)
{
    const struct entry script[] = {
        { 0, START, 0, 1000 * S, 250 },  /* a quarter of the speed */
        { 0, START, 1, 1000 * S, 3000 }, /* three times: 333.3 s */
        { 0, START, 2, 1000 * S, 1000 }, /* half from 400 s on */
        { 400 * S, SET, 2, 0, 500 },
        { 0, START, 3, 1000 * S, 1000 }, /* frozen from 100 s to 500 s */
        { 100 * S, SET, 3, 0, 0 },
        { 300 * S, LOOK, 3, 900 * S, 0 },
        { 500 * S, SET, 3, 0, 1000 },
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
    const struct sim_activity_spec spec = { .work = work_of(1000003), .rate_qpns = speed(1000) };
    sim_handle activity = SIM_NO_HANDLE;
    CHECK_I64(sim_activity_start(world.activities, &spec, &activity, NULL), WEIR_OK);
    /* Every 7 ns the rate alternates between a third and two thirds, in quanta that do not
     * divide: after 14 ns exactly 14 x (a + b) / 2 are done. */
    const uint64_t slow = SIM_DEVICE_QPNS / 3;
    const uint64_t fast = SIM_DEVICE_QPNS - slow;
    for (int64_t i = 0; i < 100000; i++) {
        CHECK_I64(sim_activity_set(world.activities, activity, i % 2 ? fast : slow), WEIR_OK);
        CHECK_I64(sim_engine_run(world.engine, handle, &world, 7 * (i + 1)), WEIR_OK);
    }
    sim_quanta left = 0;
    CHECK(sim_activity_left(world.activities, activity, &left));
    CHECK(left == spec.work - (sim_quanta)350000 * SIM_DEVICE_QPNS);
    CHECK_I64(sim_activity_set(world.activities, activity, SIM_DEVICE_QPNS), WEIR_OK);
    CHECK_I64(sim_activity_end_ns(world.activities, activity), 700000 + 650003);
    world_close(&world);
}

static void the_same_rate_again_moves_no_event(void)
{
    struct world world = world_open();
    const struct sim_activity_spec spec = { .work = work_of(1000), .rate_qpns = speed(300) };
    sim_handle activity = SIM_NO_HANDLE;
    CHECK_I64(sim_activity_start(world.activities, &spec, &activity, NULL), WEIR_OK);
    for (int64_t i = 1; i < 1000; i++) {
        CHECK_I64(sim_engine_run(world.engine, handle, &world, i), WEIR_OK);
        CHECK_I64(sim_activity_set(world.activities, activity, speed(300)), WEIR_OK);
        CHECK_I64(sim_activity_end_ns(world.activities, activity), 3334);
    }
    CHECK_I64(sim_engine_stats(world.engine).rescheduled, 0);
    world_close(&world);
}

static void endless_work_has_no_event_and_can_be_stopped(void)
{
    struct world world = world_open();
    const struct sim_activity_spec spec = { .work = sim_work_of_ns(INT64_MAX, speed(1000)),
                                            .rate_qpns = speed(1000) };
    sim_handle activity = SIM_NO_HANDLE;
    CHECK_I64(sim_activity_start(world.activities, &spec, &activity, NULL), WEIR_OK);
    CHECK_I64(sim_engine_stats(world.engine).pending, 0);
    CHECK_I64(sim_activity_set(world.activities, activity, speed(10)), WEIR_OK);
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
    const struct sim_activity_spec spec = { .work = work_of(1000), .rate_qpns = 0 };
    sim_handle activity = SIM_NO_HANDLE;
    CHECK_I64(sim_activity_start(world.activities, &spec, &activity, NULL), WEIR_OK);
    CHECK_I64(sim_engine_run(world.engine, handle, &world, SIM_TIME_MAX), WEIR_EINVARIANT);
    world_close(&world);
}

static void a_dead_handle_changes_nothing_and_is_counted(void)
{
    struct world world = world_open();
    const struct sim_activity_spec spec = { .work = work_of(5), .rate_qpns = speed(1000) };
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
    CHECK_I64(sim_activity_set(world.activities, first, speed(1)), WEIR_ENOTFOUND);
    CHECK_I64(sim_activity_end_ns(world.activities, first), SIM_TIME_MAX);
    CHECK_I64(sim_activities_stale(world.activities), 2);
    CHECK(!sim_activity_stop(world.activities, SIM_NO_HANDLE, &left));
    CHECK_I64(sim_activities_stale(world.activities), 2);
    CHECK_I64(sim_activity_end_ns(world.activities, second), 5);
    world_close(&world);
}

static void ends_at_one_instant_come_in_the_order_of_their_events(void)
{
    const struct entry script[] = {
        { 0, START, 3, 8 * S, 250 },
        { 4 * S, START, 1, 7 * S, 250 },
        { 16 * S, START, 2, 4 * S, 250 },
        { 8 * S, START, 0, 6 * S, 250 },
    };
    struct world world = RUN(script);
    const uint32_t order[] = { 3, 1, 0, 2 };
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_I64(world.end_ns[i], 32 * S);
        CHECK_I64(world.order[i], order[i]);
    }
    world_close(&world);
}

static void a_stop_gives_back_what_is_left_and_its_place(void)
{
    const struct entry script[] = {
        { 0, START, 0, 10 * S, 300 },      { 5 * S, SET, 0, 0, 0 },
        { 9 * S, SET, 0, 0, 1000 },        { 10 * S, STOP, 0, 7500000000, 0 },
        { 10 * S, START, 1, 2 * S, 1000 },
    };
    struct world world = RUN(script);
    CHECK_I64(world.end_ns[0], -1);
    CHECK_I64(world.end_ns[1], 12 * S);
    CHECK(world.handles[0] != world.handles[1]);
    CHECK_I64((uint32_t)world.handles[0], (uint32_t)world.handles[1]);
    world_close(&world);
}

static void what_is_beyond_a_bound_is_refused(void)
{
    struct world world = world_open();
    const struct sim_activity_spec good = { .work = SIM_WORK_LIMIT - 1,
                                            .rate_qpns = SIM_RATE_LIMIT - 1 };
    struct sim_activity_spec bad[] = { good, good };
    bad[0].work++;
    bad[1].rate_qpns++;
    sim_handle activity = SIM_NO_HANDLE;
    for (int i = 0; i < 2; i++) {
        struct weir_error error = { 0 };
        CHECK_I64(sim_activity_start(world.activities, &bad[i], &activity, &error), WEIR_ERANGE);
        CHECK(error.text[0] != '\0');
    }
    CHECK(activity == SIM_NO_HANDLE);
    CHECK_I64(sim_activity_start(world.activities, &good, &activity, NULL), WEIR_OK);
    CHECK_I64(sim_activity_end_ns(world.activities, activity), (INT64_C(1) << 42) + 1);
    CHECK_I64(sim_activity_set(world.activities, activity, SIM_RATE_LIMIT), WEIR_ERANGE);
    CHECK_I64(sim_activity_end_ns(world.activities, activity), (INT64_C(1) << 42) + 1);
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
    { "ends at one instant come in the order of their events",
      ends_at_one_instant_come_in_the_order_of_their_events },
    { "a stop gives back what is left and its place",
      a_stop_gives_back_what_is_left_and_its_place },
    { "what is beyond a bound is refused", what_is_beyond_a_bound_is_refused },
};

TEST_MAIN(tests)
