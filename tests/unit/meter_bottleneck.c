/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose capacity is the least, against a walk over all stages after each change. */
#include "sim/engine/time.h"
#include "sim/record/meter/meter.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/results.h"

#include <math.h>
#include <stdlib.h>

enum { PIPELINES = 2, STAGES = 8, STEPS = 4000 };

static const uint32_t pipeline_of[STAGES] = { 0, 0, 0, 0, 0, 1, 1, 1 };
static const char *const names[STAGES] = { "a", "b", "c", "d", "e", "f", "g", "h" };
static const struct sim_meter_amounts one_cpu = { { [SIM_RESOURCE_CPU] = 1.0 } };

struct plain_stage {
    int workers;
    uint64_t queue, tasks;
    double per_s;
    double least_s; /* how long its capacity was the least */
};

struct play {
    struct sim_meter *meter;
    struct plain_stage stages[STAGES];
    uint32_t least[PIPELINES]; /* stage; STAGES = none */
    int64_t now_ns;
    struct draws draws;
};

static struct sim_meter *open_meter(void)
{
    const struct sim_meter_amounts node = { { [SIM_RESOURCE_CPU] = 1e6 } };
    struct sim_meter_stage_info stages[STAGES] = { 0 };
    for (uint32_t s = 0; s < STAGES; s++) {
        stages[s] = (struct sim_meter_stage_info){ .name = names[s],
                                                   .pipeline = pipeline_of[s],
                                                   .samples_per_source = 1.0,
                                                   .mix = 1.0 / STAGES,
                                                   .batch = 1 };
        stages[s].shape.cpu_units = WEIR_ONE;
    }
    const struct sim_meter_config config = { .node_count = 1,
                                             .node_capacity = &node,
                                             .stage_count = STAGES,
                                             .stages = stages,
                                             .pipeline_count = PIPELINES };
    struct sim_meter *meter = NULL;
    CHECK_I64(sim_meter_create(&config, &meter), WEIR_OK);
    return meter;
}

/* The first of the least; nobody while nobody can work anywhere. */
static uint32_t find_least(const struct play *play, uint32_t pipeline)
{
    uint32_t found = STAGES;
    bool may_work = false;
    double least = 0;
    for (uint32_t s = 0; s < STAGES; s++) {
        const struct plain_stage *stage = &play->stages[s];
        if (pipeline_of[s] != pipeline ||
            (stage->workers == 0 && stage->queue == 0 && stage->tasks > 0))
            continue;
        const double capacity = stage->workers == 0 ? 0 : stage->workers * stage->per_s;
        may_work |= isnan(capacity) || capacity > 0;
        if (isnan(capacity) || (found < STAGES && capacity >= least))
            continue;
        found = s;
        least = capacity;
    }
    return may_work ? found : STAGES;
}

static void wait_a_while(struct play *play)
{
    const int64_t step_ns = (int64_t)draws_below(&play->draws, 3) * SIM_NS_PER_S;
    for (uint32_t p = 0; p < PIPELINES; p++)
        if (play->least[p] < STAGES)
            play->stages[play->least[p]].least_s += sim_time_s(step_ns);
    play->now_ns += step_ns;
}

static void change(struct play *play)
{
    static const double speeds[] = { 0.5, 1, 2 };
    const uint32_t s = (uint32_t)draws_below(&play->draws, STAGES);
    const struct sim_meter_worker worker = { .stage = s, .holds = &one_cpu, .uses = &one_cpu };
    struct plain_stage *stage = &play->stages[s];
    bool is_weighed = true;
    switch (draws_below(&play->draws, 6)) {
    case 0:
        stage->workers++;
        sim_meter_worker_state(play->meter, play->now_ns, &worker, SIM_METER_GONE, SIM_METER_IDLE);
        break;
    case 1:
    case 2:
        is_weighed = stage->workers > 0;
        if (!is_weighed)
            break;
        stage->workers--;
        sim_meter_worker_state(play->meter, play->now_ns, &worker, SIM_METER_IDLE, SIM_METER_GONE);
        break;
    case 3:
        is_weighed = false;
        stage->queue = draws_below(&play->draws, 2);
        sim_meter_queue(play->meter, play->now_ns, s, stage->queue, 0);
        break;
    case 4:
        is_weighed = false;
        stage->tasks++;
        sim_meter_task_done(play->meter, play->now_ns, s, 0);
        break;
    default: {
        const double before = stage->per_s;
        stage->per_s = speeds[draws_below(&play->draws, 3)];
        is_weighed = isnan(before) || before < stage->per_s || before > stage->per_s;
        sim_meter_speed(play->meter, play->now_ns, s, stage->per_s);
    }
    }
    if (is_weighed)
        play->least[pipeline_of[s]] = find_least(play, pipeline_of[s]);
}

static void the_least_is_that_of_a_walk_over_all(void)
{
    struct play play = { .meter = open_meter(),
                         .least = { STAGES, STAGES },
                         .draws = draws_seeded(7) };
    for (uint32_t s = 0; s < STAGES; s++)
        play.stages[s].per_s = (double)NAN;
    for (int i = 0; i < STEPS; i++) {
        wait_a_while(&play);
        change(&play);
    }
    const struct sim_meter_end end = { .end_ns = play.now_ns };
    struct sim_run_summary *found = test_summary();
    struct sim_results out = { .listen = test_listen, .listener = found };
    CHECK_I64(sim_meter_results(play.meter, &end, &out), WEIR_OK);
    for (uint32_t s = 0; s < STAGES; s++) {
        CHECK_NEAR(test_value(found, "bottleneck.share", names[s]),
                   play.stages[s].least_s / sim_time_s(play.now_ns), 1e-9);
        CHECK(play.stages[s].least_s > 0);
    }
    free(found);
    sim_meter_destroy(play.meter);
}

static const struct test tests[] = {
    { "the least capacity is that of a walk over all stages",
      the_least_is_that_of_a_walk_over_all },
};

TEST_MAIN(tests)
