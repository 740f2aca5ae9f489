/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drift: how long everything takes wanders slowly, on each node or on all of them together (see
 * world.h).
 *
 * At every step the logarithm of the factor of an entity is that of an autoregressive process,
 *     x(0) = s z(0),  x(n + 1) = r x(n) + s sqrt(1 - r^2) z(n + 1),  z standard normal,
 * with r the correlation of neighbouring steps and s^2 = ln(1 + cv^2). The factor exp(x - s^2 / 2)
 * then is lognormal with mean 1 and variation cv at any time. z is drawn by entity and step, so
 * that no other draw moves.
 */
#include "sim/cluster/cluster.h"
#include "sim/world/world.h"

#include <math.h>
#include <stdlib.h>

struct sim_drift_run {
    const struct sim_drift *spec;
    double *logs; /* by entity */
    uint32_t steps;
};

static double variance_of(const struct sim_drift *spec)
{
    return log1p(spec->cv * spec->cv);
}

static double normal(const struct sim_world *world, const struct sim_drift_run *run,
                     uint32_t entity)
{
    struct sim_stream stream;
    const bool is_node = run->spec->of == SIM_DRIFT_NODE;
    sim_stream_open(&stream, &world->context.random, SIM_DRAW_DRIFT,
                    is_node ? sim_scenario_node_key(world->scenario, entity, run->steps)
                            : (struct sim_stream_key){ .attempt = run->steps });
    return sim_stream_normal(&stream);
}

static void step(const struct sim_world *world, struct sim_drift_run *run)
{
    const bool is_node = run->spec->of == SIM_DRIFT_NODE;
    const uint32_t count = is_node ? world->context.cluster->node_count : 1;
    const double kept = run->steps == 0 ? 0 : run->spec->correlation;
    const double sd = sqrt(variance_of(run->spec) * (1 - kept * kept));
    for (uint32_t i = 0; i < count; i++)
        run->logs[i] = kept * run->logs[i] + sd * normal(world, run, i);
    run->steps++;
}

double sim_drift_factor(const struct sim_world *world, uint32_t node)
{
    double log = 0;
    if (world->drifts == NULL)
        return 1;
    for (size_t i = 0; i < world->scenario->drifts_count; i++) {
        const struct sim_drift_run *run = &world->drifts[i];
        log += run->logs[run->spec->of == SIM_DRIFT_NODE ? node : 0] - variance_of(run->spec) / 2;
    }
    return exp(log);
}

static void schedule(struct sim_world *world, uint32_t index)
{
    const struct sim_event event = { .time_ns = sim_engine_now(world->context.engine) +
                                                world->drifts[index].spec->step_ns,
                                     .target = index,
                                     .kind = SIM_KIND_DRIFT,
                                     .phase = SIM_PHASE_FAULT };
    (void)sim_engine_schedule(world->context.engine, &event);
}

static weir_status pace_all(struct sim_world *world)
{
    for (uint32_t n = 0; n < world->context.cluster->node_count; n++)
        WEIR_TRY(sim_world_pace_node(world, n));
    return WEIR_OK;
}

weir_status sim_drift_begin(struct sim_world *world)
{
    const struct sim_scenario *scenario = world->scenario;
    if (scenario->drifts_count == 0)
        return WEIR_OK;
    world->drifts = calloc(scenario->drifts_count, sizeof(*world->drifts));
    if (world->drifts == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < scenario->drifts_count; i++) {
        struct sim_drift_run *run = &world->drifts[i];
        run->spec = &scenario->drifts[i];
        run->logs = calloc(world->context.cluster->node_count + 1, sizeof(*run->logs));
        if (run->logs == NULL)
            return WEIR_ENOMEM;
        step(world, run);
        schedule(world, i);
    }
    return pace_all(world);
}

weir_status sim_drift_step(struct sim_world *world, uint32_t index)
{
    step(world, &world->drifts[index]);
    schedule(world, index);
    return pace_all(world);
}

void sim_drift_clear(struct sim_world *world)
{
    for (size_t i = 0; world->drifts != NULL && i < world->scenario->drifts_count; i++)
        free(world->drifts[i].logs);
    free(world->drifts);
}
