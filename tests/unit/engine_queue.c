/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event engine: order, handles, cancel, reschedule, errors, memory, digest.
 *
 * Most tests script a world: each fired event is written to a log and may carry out one action
 * (schedule, cancel, reschedule, stop, fail) on another event.
 */
#include "sim/engine/digest.h"
#include "sim/engine/engine.h"
#include "sim/engine/time.h"
#include "tests/support/check.h"

#include <malloc.h>
#include <stdlib.h>

enum { LOG = 4096, HANDLES = 1024 };

enum action {
    NOTHING,
    CANCEL,      /* handles[argument] */
    CANCEL_SELF, /* the event's own handle, handles[target] */
    RESCHEDULE,  /* handles[argument] to world.move_to_ns */
    SPAWN,       /* an event at now in phase `argument` */
    SPAWN_LATER, /* an event 10 ns later */
    STOP,
    FAIL,
};

struct world {
    struct sim_engine *engine;
    uint32_t log[LOG]; /* targets in the order fired */
    int64_t log_ns[LOG];
    size_t count;
    sim_handle handles[HANDLES];
    int64_t move_to_ns;
    bool result; /* of the last cancel or reschedule */
    sim_handle spawned;
};

static sim_handle plan(struct world *world, int64_t time_ns, enum sim_phase phase, uint32_t target)
{
    const struct sim_event event = { .time_ns = time_ns,
                                     .target = target,
                                     .phase = (uint16_t)phase };
    const sim_handle handle = sim_engine_schedule(world->engine, &event);
    if (target < HANDLES)
        world->handles[target] = handle;
    return handle;
}

static void plan_action(struct world *world, int64_t time_ns, uint32_t target, enum action action,
                        uint64_t argument)
{
    const struct sim_event event = {
        .time_ns = time_ns, .target = target, .kind = (uint16_t)action, .argument = argument
    };
    world->handles[target] = sim_engine_schedule(world->engine, &event);
}

static void spawn(struct world *world, const struct sim_event *event, int64_t delay_ns)
{
    const struct sim_event child = { .time_ns = event->time_ns + delay_ns,
                                     .target = 100 + event->target,
                                     .phase = (uint16_t)event->argument };
    world->spawned = sim_engine_schedule(world->engine, &child);
}

static weir_status handle(void *context, const struct sim_event *event)
{
    struct world *world = context;
    if (world->count < LOG) {
        world->log_ns[world->count] = event->time_ns;
        world->log[world->count] = event->target;
    }
    world->count++;
    switch ((enum action)event->kind) {
    case NOTHING:
        break;
    case CANCEL:
        world->result = sim_engine_cancel(world->engine, world->handles[event->argument]);
        break;
    case CANCEL_SELF:
        world->result = sim_engine_cancel(world->engine, world->handles[event->target]);
        break;
    case RESCHEDULE:
        world->result = sim_engine_reschedule(world->engine, world->handles[event->argument],
                                              world->move_to_ns);
        break;
    case SPAWN:
        spawn(world, event, 0);
        break;
    case SPAWN_LATER:
        spawn(world, event, 10);
        break;
    case STOP:
        sim_engine_stop(world->engine);
        break;
    case FAIL:
        return WEIR_EBUSY;
    }
    struct weir_error error = { .text = "" };
    if (sim_engine_check(world->engine, &error) != WEIR_OK)
        CHECK_STR(error.text, "");
    return WEIR_OK;
}

static struct world *world_open(void)
{
    struct world *world = calloc(1, sizeof *world);
    world->engine = sim_engine_create();
    return world;
}

static void world_close(struct world *world)
{
    struct weir_error error = { .text = "" };
    CHECK_I64(sim_engine_check(world->engine, &error), WEIR_OK);
    CHECK_STR(error.text, "");
    sim_engine_destroy(world->engine);
    free(world);
}

static weir_status run(struct world *world)
{
    return sim_engine_run(world->engine, handle, world, SIM_TIME_MAX);
}

static void check_log(const struct world *world, const uint32_t *expected, size_t count)
{
    CHECK_I64(world->count, count);
    for (size_t i = 0; i < count && i < world->count; i++)
        CHECK_I64(world->log[i], expected[i]);
}

#define CHECK_LOG(world, ...)                                                                      \
    do {                                                                                           \
        const uint32_t expected[] = { __VA_ARGS__ };                                               \
        check_log(world, expected, sizeof expected / sizeof *expected);                            \
    } while (0)

/* --- order -------------------------------------------------------------------------------- */

static void an_empty_engine_runs_nothing(void)
{
    struct world *world = world_open();
    CHECK_I64(run(world), WEIR_OK);
    CHECK_I64(world->count, 0);
    CHECK_I64(sim_engine_now(world->engine), 0);
    CHECK_I64(sim_engine_stats(world->engine).pending, 0);
    world_close(world);
    sim_engine_destroy(NULL); /* allowed */
}

static void events_fire_by_time(void)
{
    struct world *world = world_open();
    const int64_t times_ns[] = { 50, 10, 40, 20, 30, 60, 5 };
    for (uint32_t i = 0; i < 7; i++)
        plan(world, times_ns[i], SIM_PHASE_ARRIVAL, i);
    CHECK_I64(run(world), WEIR_OK);
    CHECK_LOG(world, 6, 1, 3, 4, 2, 0, 5);
    CHECK_I64(sim_engine_now(world->engine), 60);
    world_close(world);
}

static void all_ties_fire_in_the_order_of_scheduling(void)
{
    for (int64_t time_ns = 0; time_ns <= 7; time_ns += 7) { /* ready list and heap */
        struct world *world = world_open();
        for (uint32_t i = 0; i < 1000; i++)
            plan(world, time_ns, SIM_PHASE_FLOW, i);
        CHECK_I64(run(world), WEIR_OK);
        CHECK_I64(world->count, 1000);
        for (uint32_t i = 0; i < 1000; i++)
            CHECK_I64(world->log[i], i);
        world_close(world);
    }
}

static void phases_order_one_instant(void)
{
    static const enum sim_phase phases[] = { SIM_PHASE_SAMPLE,  SIM_PHASE_DECISION,
                                             SIM_PHASE_FLOW,    SIM_PHASE_ARRIVAL,
                                             SIM_PHASE_FAULT,   SIM_PHASE_COMPLETION,
                                             SIM_PHASE_ARRIVAL, SIM_PHASE_COMPLETION };
    for (int64_t time_ns = 0; time_ns <= 3; time_ns += 3) {
        struct world *world = world_open();
        for (uint32_t i = 0; i < 8; i++)
            plan(world, time_ns, phases[i], i);
        CHECK_I64(run(world), WEIR_OK);
        CHECK_LOG(world, 5, 7, 4, 3, 6, 2, 1, 0);
        world_close(world);
    }
}

/* A handler at phase ARRIVAL spawns at now: an earlier phase comes next, its own phase after the
 * tied events scheduled before, a later phase after these. */
static void events_spawned_at_now_respect_phase_and_sequence(void)
{
    static const uint32_t expected[3][4] = {
        { 0, 100, 1, 2 }, /* COMPLETION */
        { 0, 1, 100, 2 }, /* ARRIVAL */
        { 0, 1, 100, 2 }, /* FLOW */
    };
    static const enum sim_phase spawned[] = { SIM_PHASE_COMPLETION, SIM_PHASE_ARRIVAL,
                                              SIM_PHASE_FLOW };
    for (size_t i = 0; i < 3; i++) {
        struct world *world = world_open();
        const struct sim_event first = {
            .time_ns = 9, .kind = SPAWN, .phase = SIM_PHASE_ARRIVAL, .argument = spawned[i]
        };
        CHECK(sim_engine_schedule(world->engine, &first) != SIM_NO_HANDLE);
        plan(world, 9, SIM_PHASE_ARRIVAL, 1);
        plan(world, 9, SIM_PHASE_SAMPLE, 2);
        CHECK_I64(run(world), WEIR_OK);
        check_log(world, expected[i], 4);
        world_close(world);
    }
}

/* --- handles ------------------------------------------------------------------------------ */

static void cancelled_events_do_not_fire(void)
{
    static const uint32_t shares[] = { 8, 7, 2, 1 }; /* 1/8, more than 1/8, half, all */
    for (size_t s = 0; s < 4; s++) {
        for (int tied = 0; tied < 2; tied++) {
            struct world *world = world_open();
            for (uint32_t i = 0; i < 840; i++)
                plan(world, tied ? 5 : (i * 37) % 840, SIM_PHASE_ARRIVAL, i);
            uint32_t kept = 0;
            for (uint32_t i = 0; i < 840; i++) {
                if (i % shares[s] == 0)
                    CHECK(sim_engine_cancel(world->engine, world->handles[i]));
                else
                    kept++;
            }
            CHECK_I64(sim_engine_stats(world->engine).pending, kept);
            CHECK_I64(run(world), WEIR_OK);
            CHECK_I64(world->count, kept);
            for (size_t i = 0; i < world->count; i++)
                CHECK(world->log[i] % shares[s] != 0);
            world_close(world);
        }
    }
}

static void an_event_cannot_cancel_itself(void)
{
    struct world *world = world_open();
    plan_action(world, 1, 0, CANCEL_SELF, 0);
    plan(world, 2, SIM_PHASE_ARRIVAL, 1);
    CHECK_I64(run(world), WEIR_OK);
    CHECK(!world->result);
    CHECK_LOG(world, 0, 1);
    CHECK_I64(sim_engine_stats(world->engine).stale_handles, 1);
    world_close(world);
}

static void a_handler_cancels_a_tied_event(void)
{
    struct world *world = world_open();
    plan_action(world, 4, 0, CANCEL, 1);
    plan(world, 4, SIM_PHASE_COMPLETION, 1);
    plan(world, 4, SIM_PHASE_COMPLETION, 2);
    CHECK_I64(run(world), WEIR_OK);
    CHECK(world->result);
    CHECK_LOG(world, 0, 2);
    world_close(world);
}

static void a_handler_cancels_an_event_spawned_at_now(void)
{
    struct world *world = world_open();
    plan_action(world, 0, 0, CANCEL, 2); /* all three wait in the ready list */
    plan(world, 0, SIM_PHASE_COMPLETION, 1);
    plan(world, 0, SIM_PHASE_COMPLETION, 2);
    plan(world, 0, SIM_PHASE_COMPLETION, 3);
    CHECK_I64(run(world), WEIR_OK);
    CHECK_LOG(world, 0, 1, 3);
    world_close(world);
}

static void a_stale_handle_never_touches_the_next_owner_of_its_slot(void)
{
    struct world *world = world_open();
    const sim_handle old = plan(world, 5, SIM_PHASE_ARRIVAL, 0);
    CHECK(sim_engine_cancel(world->engine, old));
    const sim_handle fresh = plan(world, 6, SIM_PHASE_ARRIVAL, 1);
    CHECK((uint32_t)old == (uint32_t)fresh); /* the slot is used again */
    CHECK(old != fresh);
    CHECK(!sim_engine_cancel(world->engine, old));
    CHECK(!sim_engine_reschedule(world->engine, old, 1));
    CHECK(!sim_engine_cancel(world->engine, UINT64_MAX));
    CHECK_I64(sim_engine_stats(world->engine).stale_handles, 3);
    CHECK(!sim_engine_cancel(world->engine, SIM_NO_HANDLE));
    CHECK_I64(sim_engine_stats(world->engine).stale_handles, 3);
    CHECK_I64(run(world), WEIR_OK);
    CHECK_LOG(world, 1);
    CHECK_I64(world->log_ns[0], 6);
    CHECK(!sim_engine_cancel(world->engine, fresh)); /* fired: dead as well */
    world_close(world);
}

/* The slot of the event being handled is used again at once by what its handler schedules. */
static void the_handle_of_the_event_being_handled_is_dead_after_reuse(void)
{
    struct world *world = world_open();
    plan_action(world, 1, 0, SPAWN_LATER, SIM_PHASE_ARRIVAL);
    plan_action(world, 2, 1, CANCEL, 0);
    CHECK_I64(run(world), WEIR_OK);
    CHECK(!world->result);
    CHECK((uint32_t)world->spawned == (uint32_t)world->handles[0]);
    CHECK_LOG(world, 0, 1, 100);
    world_close(world);
}

/* --- reschedule --------------------------------------------------------------------------- */

static void rescheduling_moves_in_both_directions(void)
{
    struct world *world = world_open();
    for (uint32_t i = 0; i < 100; i++)
        plan(world, 1000 + i, SIM_PHASE_ARRIVAL, i);
    CHECK(sim_engine_reschedule(world->engine, world->handles[90], 10));
    CHECK(sim_engine_reschedule(world->engine, world->handles[3], 5000));
    CHECK(sim_engine_reschedule(world->engine, world->handles[50], 0));
    CHECK_I64(sim_engine_stats(world->engine).rescheduled, 3);
    CHECK_I64(run(world), WEIR_OK);
    CHECK_I64(world->count, 100);
    CHECK_I64(world->log[0], 50);
    CHECK_I64(world->log[1], 90);
    CHECK_I64(world->log[99], 3);
    world_close(world);
}

static void a_rescheduled_event_comes_last_among_its_ties(void)
{
    for (int64_t time_ns = 0; time_ns <= 8; time_ns += 8) {
        struct world *world = world_open();
        for (uint32_t i = 0; i < 3; i++)
            plan(world, time_ns, SIM_PHASE_ARRIVAL, i);
        CHECK(sim_engine_reschedule(world->engine, world->handles[0], time_ns));
        CHECK_I64(run(world), WEIR_OK);
        CHECK_LOG(world, 1, 2, 0);
        world_close(world);
    }
}

static void a_handler_reschedules_to_now_and_from_now(void)
{
    struct world *world = world_open();
    plan_action(world, 5, 0, RESCHEDULE, 2); /* 2: from 9 to now */
    plan(world, 5, SIM_PHASE_COMPLETION, 1);
    plan(world, 9, SIM_PHASE_COMPLETION, 2);
    world->move_to_ns = 5;
    CHECK_I64(run(world), WEIR_OK);
    CHECK_LOG(world, 0, 1, 2);
    CHECK_I64(world->log_ns[2], 5);
    CHECK(!sim_engine_reschedule(world->engine, world->handles[2], 7));
    plan(world, 5, SIM_PHASE_COMPLETION, 3); /* at now, then later */
    CHECK(sim_engine_reschedule(world->engine, world->handles[3], 12));
    plan(world, 6, SIM_PHASE_COMPLETION, 4);
    CHECK_I64(run(world), WEIR_OK);
    CHECK_LOG(world, 0, 1, 2, 4, 3);
    world_close(world);
}

/* --- errors and limits -------------------------------------------------------------------- */

static void scheduling_in_the_past_breaks_the_run(void)
{
    struct world *world = world_open();
    plan(world, 10, SIM_PHASE_ARRIVAL, 0);
    CHECK_I64(run(world), WEIR_OK);
    CHECK(plan(world, 9, SIM_PHASE_ARRIVAL, 1) == SIM_NO_HANDLE);
    plan(world, 11, SIM_PHASE_ARRIVAL, 2);
    CHECK_I64(run(world), WEIR_EINVARIANT);
    CHECK_LOG(world, 0);
    CHECK_I64(run(world), WEIR_EINVARIANT); /* it stays broken */
    world_close(world);
}

static void rescheduling_to_the_past_breaks_the_run(void)
{
    struct world *world = world_open();
    plan_action(world, 5, 0, RESCHEDULE, 1);
    plan(world, 9, SIM_PHASE_ARRIVAL, 1);
    world->move_to_ns = 4;
    CHECK_I64(run(world), WEIR_EINVARIANT);
    CHECK(!world->result);
    CHECK_LOG(world, 0);
    world_close(world);
}

static void an_unknown_phase_breaks_the_run(void)
{
    struct world *world = world_open();
    const struct sim_event event = { .time_ns = 1, .phase = SIM_PHASE_SAMPLE + 1 };
    CHECK(sim_engine_schedule(world->engine, &event) == SIM_NO_HANDLE);
    CHECK_I64(run(world), WEIR_EINVARIANT);
    world_close(world);
}

/* What a NaN or an overflow becomes may wait, but a run that reaches it fails loudly. */
static void an_event_at_never_waits_and_is_never_fired(void)
{
    CHECK_I64(sim_time_from_s((double)NAN), SIM_TIME_MAX);
    CHECK_I64(sim_time_from_s((double)INFINITY), SIM_TIME_MAX);
    CHECK_I64(sim_time_from_s(-(double)INFINITY), -SIM_TIME_MAX);
    struct world *world = world_open();
    const sim_handle never = plan(world, SIM_TIME_MAX, SIM_PHASE_ARRIVAL, 0);
    CHECK(never != SIM_NO_HANDLE);
    plan(world, 7, SIM_PHASE_ARRIVAL, 1);
    CHECK_I64(sim_engine_run(world->engine, handle, world, 100), WEIR_OK);
    CHECK_I64(sim_engine_now(world->engine), 100);
    CHECK(sim_engine_reschedule(world->engine, never, SIM_TIME_MAX));
    CHECK_I64(run(world), WEIR_EINVARIANT);
    CHECK_LOG(world, 1);
    world_close(world);
}

/* By a product with 1e-9 the second would be 469961.00000000006. */
static void whole_seconds_stay_whole(void)
{
    static const int64_t seconds[] = { 0, 1, 469961, 86400 * 365, INT64_C(9000000000) };
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
        const double back_s = sim_time_s(seconds[i] * SIM_NS_PER_S);
        CHECK_NEAR(back_s, (double)seconds[i], 0.0);
        CHECK_I64(sim_time_from_s(back_s), seconds[i] * SIM_NS_PER_S);
    }
}

static void a_failing_handler_stops_the_run(void)
{
    struct world *world = world_open();
    plan_action(world, 1, 0, FAIL, 0);
    plan(world, 2, SIM_PHASE_ARRIVAL, 1);
    CHECK_I64(run(world), WEIR_EBUSY);
    CHECK_LOG(world, 0);
    CHECK_I64(run(world), WEIR_OK);
    CHECK_LOG(world, 0, 1);
    world_close(world);
}

static void stop_ends_the_run_and_keeps_what_is_pending(void)
{
    struct world *world = world_open();
    plan_action(world, 1, 0, STOP, 0);
    plan(world, 1, SIM_PHASE_COMPLETION, 1);
    plan(world, 8, SIM_PHASE_COMPLETION, 2);
    CHECK_I64(sim_engine_run(world->engine, handle, world, 20), WEIR_OK);
    CHECK_LOG(world, 0);
    CHECK_I64(sim_engine_now(world->engine), 1);
    CHECK_I64(sim_engine_stats(world->engine).pending, 2);
    CHECK_I64(sim_engine_run(world->engine, handle, world, 20), WEIR_OK);
    CHECK_LOG(world, 0, 1, 2);
    world_close(world);
}

static void a_run_stops_at_its_horizon_inclusive(void)
{
    struct world *world = world_open();
    plan(world, 10, SIM_PHASE_ARRIVAL, 0);
    plan(world, 11, SIM_PHASE_ARRIVAL, 1);
    CHECK_I64(sim_engine_run(world->engine, handle, world, 10), WEIR_OK);
    CHECK_LOG(world, 0);
    CHECK_I64(sim_engine_now(world->engine), 10);
    plan(world, 10, SIM_PHASE_ARRIVAL, 2); /* at the standing clock */
    CHECK_I64(sim_engine_run(world->engine, handle, world, 4), WEIR_OK);
    CHECK_I64(sim_engine_now(world->engine), 10); /* a horizon in the past fires nothing */
    CHECK_LOG(world, 0);
    CHECK_I64(run(world), WEIR_OK);
    CHECK_LOG(world, 0, 2, 1);
    world_close(world);
}

/* Events at times of their own; who fires one schedules the next far behind. */
enum { FEW = 500, MANY = 1000, VERY_MANY = 5000, AHEAD_FIRED = 20000 };

struct foreseen {
    struct sim_engine *engine;
    uint64_t seed;
    uint32_t told_next; /* target told of as the next one, and at the event before */
    uint32_t expected;
    uint32_t told, right, fired, near;
};

static int64_t drawn_ns(struct foreseen *world)
{
    world->seed = world->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 1 + (int64_t)(world->seed >> 30);
}

static void note_foreseen(void *context, const struct sim_event *event, uint32_t before)
{
    struct foreseen *world = context;
    world->told++;
    CHECK(event->kind == 3 && event->argument == event->target * UINT64_C(5));
    CHECK(event->time_ns >= sim_engine_now(world->engine));
    CHECK(before < 4);
    world->near += before < 2;
    if (before == 0)
        world->told_next = event->target;
}

static void plan_foreseen(struct foreseen *world, uint32_t target)
{
    const struct sim_event event = { .time_ns = sim_engine_now(world->engine) + drawn_ns(world),
                                     .target = target,
                                     .kind = 3,
                                     .argument = target * UINT64_C(5) };
    CHECK(sim_engine_schedule(world->engine, &event) != SIM_NO_HANDLE);
}

/* Nearly always what comes is not before what was to come next. */
static weir_status fire_foreseen(void *context, const struct sim_event *event)
{
    struct foreseen *world = context;
    world->right += world->expected == event->target;
    world->expected = world->told_next;
    plan_foreseen(world, event->target);
    return ++world->fired < AHEAD_FIRED ? WEIR_OK : WEIR_EINTERRUPTED;
}

static uint64_t digest_foreseen(sim_foresight soon, struct foreseen *world, uint32_t pending)
{
    *world = (struct foreseen){
        .engine = sim_engine_create(), .seed = 1, .told_next = UINT32_MAX, .expected = UINT32_MAX
    };
    for (uint32_t i = 0; i < pending; i++)
        plan_foreseen(world, i);
    sim_engine_foresee(world->engine, soon);
    CHECK_I64(sim_engine_run(world->engine, fire_foreseen, world, SIM_TIME_MAX), WEIR_EINTERRUPTED);
    const uint64_t digest = sim_engine_digest(world->engine);
    sim_engine_destroy(world->engine);
    return digest;
}

/* `near` events of each that fires, and at most `far` of those further off, not each time. */
static void check_foreseen(uint32_t pending, uint32_t near, uint32_t far)
{
    struct foreseen blind;
    struct foreseen seeing;
    CHECK(digest_foreseen(NULL, &blind, pending) ==
          digest_foreseen(note_foreseen, &seeing, pending));
    CHECK_I64(blind.told, 0);
    CHECK_I64(seeing.near, near * AHEAD_FIRED);
    CHECK(seeing.told - seeing.near <= far * AHEAD_FIRED);
    CHECK(far == 0 || seeing.told > seeing.near);
    CHECK(near == 0 || seeing.right > AHEAD_FIRED / 100 * 99);
}

static void what_comes_next_is_told_of_and_changes_nothing(void)
{
    check_foreseen(FEW, 0, 0);
    check_foreseen(MANY, 1, 0);
    check_foreseen(VERY_MANY, 2, 1);
}

/* --- memory, counts, digest --------------------------------------------------------------- */

/* The same slots serve all cycles: the peak of the set tells, and the allocator agrees. */
static void ten_million_schedule_cancel_cycles_use_constant_memory(void)
{
    struct world *world = world_open();
    for (uint32_t i = 0; i < 40; i++)
        plan(world, 1000 + i, SIM_PHASE_ARRIVAL, i);
    const size_t before = mallinfo2().uordblks;
    const struct sim_event later = { .time_ns = 500, .phase = SIM_PHASE_COMPLETION };
    const struct sim_event now = { .time_ns = 0, .phase = SIM_PHASE_COMPLETION };
    bool cancelled = true;
    for (int i = 0; i < 5000000; i++) {
        const sim_handle first = sim_engine_schedule(world->engine, &later);
        const sim_handle second = sim_engine_schedule(world->engine, &now);
        cancelled = cancelled && sim_engine_cancel(world->engine, first);
        cancelled = cancelled && sim_engine_cancel(world->engine, second);
    }
    CHECK(cancelled);
    CHECK_I64(mallinfo2().uordblks, before);
    CHECK_I64(sim_engine_stats(world->engine).cancelled, 10000000);
    CHECK_I64(sim_engine_stats(world->engine).pending_peak, 42);
    CHECK_I64(run(world), WEIR_OK);
    CHECK_I64(world->count, 40);
    world_close(world);
}

static void statistics_count_what_happened(void)
{
    struct world *world = world_open();
    plan_action(world, 1, 0, SPAWN, SIM_PHASE_ARRIVAL);
    plan_action(world, 2, 1, SPAWN_LATER, SIM_PHASE_ARRIVAL);
    plan(world, 3, SIM_PHASE_ARRIVAL, 2);
    plan(world, 4, SIM_PHASE_ARRIVAL, 3);
    CHECK(sim_engine_cancel(world->engine, world->handles[2]));
    CHECK(sim_engine_reschedule(world->engine, world->handles[3], 6));
    CHECK_I64(run(world), WEIR_OK);
    const struct sim_engine_stats stats = sim_engine_stats(world->engine);
    CHECK_I64(stats.scheduled, 6);
    CHECK_I64(stats.fired, 5);
    CHECK_I64(stats.cancelled, 1);
    CHECK_I64(stats.rescheduled, 1);
    CHECK_I64(stats.stale_handles, 0);
    CHECK_I64(stats.pending, 0);
    CHECK_I64(stats.pending_peak, 4);
    world_close(world);
}

static uint64_t digest_of(const struct sim_event *events, size_t count)
{
    struct world *world = world_open();
    for (size_t i = 0; i < count; i++)
        CHECK(sim_engine_schedule(world->engine, &events[i]) != SIM_NO_HANDLE);
    CHECK_I64(run(world), WEIR_OK);
    const uint64_t digest = sim_engine_digest(world->engine);
    world_close(world);
    return digest;
}

static void the_digest_names_the_event_stream(void)
{
    const struct sim_event base[2] = { { .time_ns = 5, .target = 1, .argument = 3 },
                                       { .time_ns = 9, .target = 2, .argument = 4 } };
    const uint64_t digest = digest_of(base, 2);
    CHECK(digest == digest_of(base, 2));
    CHECK(digest == UINT64_C(0x178b74ce296eab99)); /* kept: stored digests must stay comparable */
    for (int field = 0; field < 5; field++) {
        struct sim_event other[2] = { base[0], base[1] };
        other[1].time_ns += field == 0;
        other[1].target += field == 1;
        other[1].argument += field == 2;
        other[1].kind = (uint16_t)(field == 3 ? STOP : NOTHING); /* the last event: no effect */
        other[1].phase = (uint16_t)(field == 4 ? SIM_PHASE_SAMPLE : 0);
        CHECK(digest != digest_of(other, 2));
    }
    const struct sim_event swapped[2] = { { .time_ns = 5, .target = 2, .argument = 4 },
                                          { .time_ns = 9, .target = 1, .argument = 3 } };
    CHECK(digest != digest_of(swapped, 2));
}

static void the_digest_does_not_depend_on_how_a_stream_came_about(void)
{
    const struct sim_event event = { .time_ns = 50, .target = 3, .argument = 8 };
    const uint64_t expected = digest_of(&event, 1);
    struct world *world = world_open();
    struct sim_event early = event;
    early.time_ns = 20;
    const sim_handle doomed = sim_engine_schedule(world->engine, &event);
    const sim_handle moved = sim_engine_schedule(world->engine, &early);
    CHECK(sim_engine_cancel(world->engine, doomed));
    CHECK(sim_engine_reschedule(world->engine, moved, 50));
    CHECK_I64(run(world), WEIR_OK);
    CHECK(sim_engine_digest(world->engine) == expected);
    world_close(world);
}

static void byte_digests_tell_strings_apart(void)
{
    const char text[] = "pipeline:stage-17\0";
    const uint64_t digest = sim_digest_bytes(SIM_DIGEST_START, text, 17);
    CHECK(digest == sim_digest_bytes(SIM_DIGEST_START, "pipeline:stage-17", 17));
    CHECK(digest != sim_digest_bytes(SIM_DIGEST_START, text, 18)); /* a zero more */
    CHECK(digest != sim_digest_bytes(SIM_DIGEST_START, text, 16));
    CHECK(digest != sim_digest_bytes(SIM_DIGEST_START + 1, text, 17));
    CHECK(sim_digest_bytes(SIM_DIGEST_START, "", 0) != SIM_DIGEST_START);
    CHECK(digest == UINT64_C(0xf1fdf63636ac0148)); /* kept */
}

static const struct test tests[] = {
    { "an empty engine runs nothing", an_empty_engine_runs_nothing },
    { "events fire by time", events_fire_by_time },
    { "all ties fire in the order of scheduling", all_ties_fire_in_the_order_of_scheduling },
    { "phases order one instant", phases_order_one_instant },
    { "events spawned at now respect phase and sequence",
      events_spawned_at_now_respect_phase_and_sequence },
    { "cancelled events do not fire", cancelled_events_do_not_fire },
    { "an event cannot cancel itself", an_event_cannot_cancel_itself },
    { "a handler cancels a tied event", a_handler_cancels_a_tied_event },
    { "a handler cancels an event that waits at now", a_handler_cancels_an_event_spawned_at_now },
    { "a stale handle never touches the next owner of its slot",
      a_stale_handle_never_touches_the_next_owner_of_its_slot },
    { "the handle of the event being handled is dead after reuse",
      the_handle_of_the_event_being_handled_is_dead_after_reuse },
    { "rescheduling moves in both directions", rescheduling_moves_in_both_directions },
    { "a rescheduled event comes last among its ties",
      a_rescheduled_event_comes_last_among_its_ties },
    { "a handler reschedules to now and from now", a_handler_reschedules_to_now_and_from_now },
    { "scheduling in the past breaks the run", scheduling_in_the_past_breaks_the_run },
    { "rescheduling to the past breaks the run", rescheduling_to_the_past_breaks_the_run },
    { "an unknown phase breaks the run", an_unknown_phase_breaks_the_run },
    { "an event at never waits and is never fired", an_event_at_never_waits_and_is_never_fired },
    { "whole seconds stay whole", whole_seconds_stay_whole },
    { "a failing handler stops the run", a_failing_handler_stops_the_run },
    { "stop ends the run and keeps what is pending", stop_ends_the_run_and_keeps_what_is_pending },
    { "a run stops at its horizon inclusive", a_run_stops_at_its_horizon_inclusive },
    { "what comes next is told of and changes nothing",
      what_comes_next_is_told_of_and_changes_nothing },
    { "ten million schedule and cancel cycles use constant memory",
      ten_million_schedule_cancel_cycles_use_constant_memory },
    { "statistics count what happened", statistics_count_what_happened },
    { "the digest names the event stream", the_digest_names_the_event_stream },
    { "the digest does not depend on how a stream came about",
      the_digest_does_not_depend_on_how_a_stream_came_about },
    { "byte digests tell strings apart", byte_digests_tell_strings_apart },
};
TEST_MAIN(tests)
