/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activities over several links by hand, and the service clock on its own.
 */
#include "sim/engine/activity.h"

#include "sim/engine/activity_clock.h"
#include "sim/engine/time.h"
#include "tests/support/check.h"

enum { KIND_SCRIPT, KIND_END, OWNERS = 64 };

struct transfer {
    int64_t at_ns;
    int64_t bytes;
    int64_t end_ns;
    uint8_t links;
    uint32_t link[3];
};

struct world {
    struct sim_engine *engine;
    struct sim_activities *activities;
    const struct transfer *transfers;
    int64_t end_ns[OWNERS];
};

static weir_status end_transfers(struct world *world, const struct sim_event *event)
{
    const struct sim_ended *ended = NULL;
    uint32_t count = 0;
    WEIR_TRY(sim_activities_fire(world->activities, event, &ended, &count));
    for (uint32_t i = 0; i < count; i++)
        world->end_ns[ended[i].owner] = event->time_ns;
    struct weir_error error = { 0 };
    CHECK_I64(sim_activities_check(world->activities, &error), WEIR_OK);
    return WEIR_OK;
}

/* --- over several links ---------------------------------------------------------------------- */

static const uint64_t BYTE = UINT64_C(1000000000) << 16; /* in quanta of a link */

static weir_status start_transfers(void *context, const struct sim_event *event)
{
    struct world *world = context;
    if (event->kind == KIND_END)
        return end_transfers(world, event);
    const struct transfer *transfer = &(world->transfers)[event->target];
    struct sim_activity_spec spec = { .work = (sim_quanta)(uint64_t)transfer->bytes * BYTE,
                                      .cap_qpns = SIM_UNCAPPED,
                                      .owner = event->target,
                                      .weight = 1,
                                      .resources = transfer->links };
    for (uint32_t i = 0; i < transfer->links; i++)
        spec.resource[i] = transfer->link[i];
    sim_handle handle = SIM_NO_HANDLE;
    return sim_activity_start(world->activities, &spec, &handle, NULL);
}

static void check_transfers(const uint64_t *capacity, uint32_t links,
                            const struct transfer *transfers, uint32_t count)
{
    struct world world = { .engine = sim_engine_create(), .transfers = transfers };
    world.activities = sim_activities_create(world.engine, KIND_END);
    for (uint32_t i = 0; i < links; i++) {
        uint32_t index = 0;
        CHECK_I64(sim_resource_add(world.activities, SIM_SHARE_WEIGHTS, capacity[i] * BYTE, &index),
                  WEIR_OK);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_event event = { .time_ns = transfers[i].at_ns,
                                         .target = i,
                                         .kind = KIND_SCRIPT,
                                         .phase = SIM_PHASE_ARRIVAL };
        (void)sim_engine_schedule(world.engine, &event);
    }
    CHECK_I64(sim_engine_run(world.engine, start_transfers, &world, SIM_TIME_MAX), WEIR_OK);
    for (uint32_t i = 0; i < count; i++)
        CHECK_I64(world.end_ns[i], transfers[i].end_ns);
    for (uint32_t link = 0; link < links; link++) {
        sim_quanta bytes = 0;
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < transfers[i].links; k++)
                bytes += transfers[i].link[k] == link ? (uint64_t)transfers[i].bytes : 0;
        }
        const sim_quanta delivered = sim_resource_delivered(world.activities, link);
        CHECK(delivered <= bytes * BYTE && bytes * BYTE - delivered < (sim_quanta)count << 22);
    }
    sim_activities_destroy(world.activities);
    sim_engine_destroy(world.engine);
}

/* One crosses both links, one is on each: the long one has half, then all is as it was. */
static void a_long_path_gets_what_its_tightest_link_gives(void)
{
    static const uint64_t capacity[] = { 6, 10 };
    static const struct transfer transfers[] = {
        { 0, 3000, 1000, 2, { 0, 1 } }, /* 3 a ns */
        { 0, 6000, 1500, 1, { 0 } },    /* 3 a ns, then 6 */
        { 0, 10000, 1300, 1, { 1 } },   /* 7 a ns, then 10 */
    };
    check_transfers(capacity, 2, transfers, 3);
}

/* A link that stops to be scarce gives those it limited all they want. */
static void a_link_that_is_scarce_no_more_lets_go(void)
{
    static const uint64_t capacity[] = { 4, 2, 2, 3 };
    /* Link 0 is full with the first three: 4/3 each. Without the second, link 1 limits the others.
     */
    static const struct transfer transfers[] = {
        { 0, 6000, 3500, 2, { 0, 2 } }, /* 4/3 until 1500, then 2 */
        { 0, 2000, 1500, 2, { 0, 3 } },     { 0, 2000, 1500, 1, { 0 } },
        { 9000, 3000, 12000, 2, { 0, 1 } }, /* link 1: one each */
        { 9000, 3000, 12000, 2, { 0, 1 } }, { 9000, 3000, 10500, 2, { 0, 2 } },
    };
    check_transfers(capacity, 4, transfers, 6);
}

static void forty_starts_share_a_store(void)
{
    uint64_t capacity[41];
    struct transfer transfers[40];
    capacity[40] = 100; /* the store; NICs of 10 */
    for (uint32_t i = 0; i < 40; i++) {
        capacity[i] = 10;
        transfers[i] = (struct transfer){ 0, 5000, 2000, 2, { 40, i } };
    }
    check_transfers(capacity, 41, transfers, 40);
}

/* --- the clock -------------------------------------------------------------------------------- */

/* den x attained + carry = num x time however the time is cut, narrow and wide; the end it names is
 * the first ns at which the tag is attained. */
static void a_clock_is_the_same_however_often_one_looks(void)
{
    static const uint64_t nums[] = { 10, SIM_DEVICE_QPNS + 1, SIM_CAPACITY_LIMIT - 1 };
    for (int i = 0; i < 3; i++) {
        struct service_clock once = service_clock_at(0, 0);
        struct service_clock often = once;
        service_clock_set_rate(&once, nums[i], 7919);
        service_clock_set_rate(&often, nums[i], 7919);
        const sim_quanta tag = (sim_quanta)nums[i] * 99991 / 7919;
        const int64_t end_ns = service_clock_end_ns(&once, tag);
        for (int64_t t = 1; t <= 100003; t += 1 + t % 13) {
            service_clock_advance(&often, t);
            CHECK((often.attained >= tag) == (t >= end_ns));
            CHECK_I64(often.attained < tag ? service_clock_end_ns(&often, tag) : end_ns, end_ns);
        }
        service_clock_advance(&often, 100003);
        service_clock_advance(&once, 100003);
        CHECK(once.attained == often.attained && once.carry == often.carry);
        CHECK(once.attained * 7919 + once.carry == (sim_quanta)nums[i] * 100003);
    }
}

static const struct test tests[] = {
    { "a long path gets what its tightest link gives",
      a_long_path_gets_what_its_tightest_link_gives },
    { "a link that is scarce no more lets go", a_link_that_is_scarce_no_more_lets_go },
    { "forty starts share a store", forty_starts_share_a_store },
    { "a clock is the same however often one looks", a_clock_is_the_same_however_often_one_looks },
};

TEST_MAIN(tests)
