/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Spot nodes: those of a supply that their owner takes back (see world.h).
 *
 * The logarithm of the price of a group wanders about its mean,
 *
 *     x(0) = s z(0),  x(n + 1) = r x(n) + s sqrt(1 - r^2) z(n + 1),  z standard normal,
 *
 * a step at a time, and a node that is there is taken away with the hazard exp(k x) times the usual
 * one: high prices mean that others want the nodes. Each time a node comes it draws how much
 * hazard it survives, exponential with mean 1, by its name and how often it was asked for. All
 * nodes of a group have the same price, so they go together.
 *
 * With a notice its owner says so that long before it is taken: the scheduler starts nobody there
 * any more, and jobs with a rank on it are preempted with that time to save what they did. What is
 * said comes true, whatever the price does then.
 *
 * Invariant: what was drawn for a node that is there = what it has survived + what is left. So
 * losses less the hazard of all nodes together is a sum of independent centred steps.
 */
#include "sim/record/record.h"
#include "sim/world/supply.h"

#include <math.h>
#include <stdlib.h>

/* Of a node that is there. */
struct life {
    double left; /* hazard that it survives yet */
    int64_t since_ns;
    bool is_given_up; /* its owner has said so */
};

struct sim_spot_run {
    double *logs;       /* by group: x */
    uint32_t *steps;    /* by group */
    struct life *lives; /* by node */
    uint64_t losses;
    double survived;    /* hazard of all nodes */
    uint32_t wandering; /* groups */
};

static const struct sim_node_group *group_of(const struct sim_world *world, uint32_t node)
{
    return &world->scenario->node_groups[sim_scenario_node_group(world->scenario, node)];
}

static bool wanders(const struct sim_spot *spot)
{
    return spot->hazard_per_s > 0 && spot->volatility > 0 && spot->pressure > 0;
}

static double hazard_per_ns(const struct sim_world *world, const struct sim_node_group *group)
{
    const double x = world->spot->logs[group - world->scenario->node_groups];
    return group->supply.spot.hazard_per_s * exp(group->supply.spot.pressure * x) / 1e9;
}

/* Its part of the hazard since it was looked at last. */
static void live(struct sim_world *world, uint32_t node)
{
    struct life *life = &world->spot->lives[node];
    const int64_t now_ns = sim_engine_now(world->context.engine);
    if (life->is_given_up)
        return;
    const double survived =
        hazard_per_ns(world, group_of(world, node)) * (double)(now_ns - life->since_ns);
    life->left -= survived;
    world->spot->survived += survived;
    life->since_ns = now_ns;
}

/* Within the present step, if it is taken away then at this hazard. */
static void schedule_reclaim(struct sim_world *world, uint32_t node)
{
    const struct sim_node_group *group = group_of(world, node);
    const double wait_ns = fmax(world->spot->lives[node].left, 0) / hazard_per_ns(world, group);
    const struct sim_event event = { .time_ns = sim_engine_now(world->context.engine) +
                                                (int64_t)fmin(ceil(wait_ns), 9e17),
                                     .target = node,
                                     .argument = sim_supply_launches(world, node),
                                     .kind = SIM_KIND_RECLAIM,
                                     .phase = SIM_PHASE_FAULT };
    if (!world->spot->lives[node].is_given_up && group->supply.spot.hazard_per_s > 0 &&
        wait_ns < 9e17 &&
        (!wanders(&group->supply.spot) || wait_ns <= (double)group->supply.spot.step_ns))
        (void)sim_engine_schedule(world->context.engine, &event);
}

void sim_spot_came(struct sim_world *world, uint32_t node)
{
    struct sim_stream stream;
    if (world->spot == NULL)
        return;
    sim_stream_open(&stream, &world->context.random, SIM_DRAW_RECLAIM,
                    sim_scenario_node_key(world->scenario, node, sim_supply_launches(world, node)));
    world->spot->lives[node] = (struct life){ .left = -log1p(-sim_stream_uniform(&stream)),
                                              .since_ns = sim_engine_now(world->context.engine) };
    schedule_reclaim(world, node);
}

void sim_spot_leaves(struct sim_world *world, uint32_t node)
{
    if (world->spot != NULL)
        live(world, node);
}

/* ---- notice ---- */

/* A job hears it once, of whichever of its ranks. */
static weir_status warn(struct sim_world *world, uint32_t node, int64_t notice_ns)
{
    uint64_t *ids = NULL;
    uint32_t count = 0;
    weir_status status = sim_workers_on_node(world->workers, node, WEIR_NO_INDEX, &ids, &count);
    for (uint32_t i = 0; status == WEIR_OK && i < count; i++) {
        const struct sim_worker *worker = sim_workers_find(world->workers, ids[i]);
        if (worker == NULL || worker->owner.kind != WEIR_OWNER_JOB)
            continue;
        const struct sim_driver *driver = &world->drivers[worker->driver];
        status = driver->ops->preempt(driver->self, worker->owner.id, notice_ns);
    }
    free(ids);
    return status;
}

static weir_status give_notice(struct sim_world *world, const struct sim_event *event,
                               int64_t notice_ns)
{
    struct sim_event last = *event;
    world->spot->lives[event->target].is_given_up = true;
    last.time_ns = sim_engine_now(world->context.engine) + notice_ns;
    (void)sim_engine_schedule(world->context.engine, &last);
    WEIR_TRY(sim_supply_note(world, event->target, "node_notice", "will be taken back"));
    WEIR_TRY(sim_port_cordon(world->port, event->target));
    WEIR_TRY(warn(world, event->target, notice_ns));
    sim_port_wake(world->port, WEIR_CAUSE_CAPACITY);
    return sim_world_settle(world);
}

weir_status sim_spot_reclaim(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t node = event->target;
    if (!sim_supply_has(world, node) || sim_supply_launches(world, node) != event->argument)
        return WEIR_OK; /* it was given back before */
    const int64_t notice_ns = group_of(world, node)->supply.spot.notice_ns;
    if (world->spot->lives[node].is_given_up)
        return sim_supply_take_back(world, node);
    live(world, node);
    if (world->spot->lives[node].left > 1e-6)
        return WEIR_OK; /* the hazard has changed: it was scheduled anew */
    world->spot->losses++;
    return notice_ns > 0 ? give_notice(world, event, notice_ns) : sim_supply_take_back(world, node);
}

/* ---- prices ---- */

static void draw(struct sim_world *world, const struct sim_node_group *group)
{
    const struct sim_spot *spot = &group->supply.spot;
    const size_t g = (size_t)(group - world->scenario->node_groups);
    struct sim_spot_run *run = world->spot;
    struct sim_stream stream;
    sim_stream_open(&stream, &world->context.random, SIM_DRAW_SPOT_PRICE,
                    sim_scenario_node_key(world->scenario, group->first, run->steps[g]));
    const double kept = run->steps[g]++ == 0 ? 0 : spot->correlation;
    run->logs[g] =
        kept * run->logs[g] + spot->volatility * sqrt(1 - kept * kept) * sim_stream_normal(&stream);
}

static void schedule_step(struct sim_world *world, const struct sim_node_group *group)
{
    const struct sim_event event = { .time_ns = sim_engine_now(world->context.engine) +
                                                group->supply.spot.step_ns,
                                     .target = (uint32_t)(group - world->scenario->node_groups),
                                     .kind = SIM_KIND_SPOT,
                                     .phase = SIM_PHASE_FAULT };
    (void)sim_engine_schedule(world->context.engine, &event);
}

weir_status sim_spot_step(struct sim_world *world, uint32_t index)
{
    const struct sim_node_group *group = &world->scenario->node_groups[index];
    for (uint32_t n = group->first; n < group->first + group->count; n++)
        if (sim_supply_has(world, n))
            live(world, n);
    draw(world, group);
    for (uint32_t n = group->first; n < group->first + group->count; n++)
        if (sim_supply_has(world, n))
            schedule_reclaim(world, n);
    schedule_step(world, group);
    return WEIR_OK;
}

/* ---- life ---- */

static bool is_needed(const struct sim_scenario *scenario)
{
    for (size_t g = 0; g < scenario->node_groups_count; g++)
        if (scenario->node_groups[g].supply.spot.hazard_per_s > 0)
            return true;
    return false;
}

weir_status sim_spot_create(struct sim_world *world)
{
    const struct sim_scenario *scenario = world->scenario;
    if (!is_needed(scenario))
        return WEIR_OK;
    struct sim_spot_run *run = world->spot = calloc(1, sizeof(*run));
    if (run == NULL)
        return WEIR_ENOMEM;
    run->logs = calloc(scenario->node_groups_count + 1, sizeof(*run->logs));
    run->steps = calloc(scenario->node_groups_count + 1, sizeof(*run->steps));
    run->lives = calloc((size_t)sim_scenario_node_count(scenario) + 1, sizeof(*run->lives));
    return run->logs == NULL || run->steps == NULL || run->lives == NULL ? WEIR_ENOMEM : WEIR_OK;
}

void sim_spot_destroy(struct sim_world *world)
{
    if (world->spot == NULL)
        return;
    free(world->spot->logs);
    free(world->spot->steps);
    free(world->spot->lives);
    free(world->spot);
}

void sim_spot_begin(struct sim_world *world, const struct sim_node_group *group)
{
    if (world->spot == NULL || !wanders(&group->supply.spot))
        return;
    draw(world, group);
    schedule_step(world, group);
    world->spot->wandering++;
}

uint32_t sim_spot_steps(const struct sim_world *world)
{
    return world->spot == NULL ? 0 : world->spot->wandering;
}

void sim_spot_results(struct sim_world *world, struct sim_results *out)
{
    if (world->spot == NULL)
        return;
    for (uint32_t n = 0; n < sim_scenario_node_count(world->scenario); n++)
        if (sim_supply_has(world, n) && group_of(world, n)->supply.spot.hazard_per_s > 0)
            live(world, n);
    const struct sim_result_row rows[] = { { .metric = "spot.losses",
                                             .label = "",
                                             .unit = "nodes",
                                             .value = (double)world->spot->losses,
                                             .n = 1 },
                                           { .metric = "spot.expected",
                                             .label = "",
                                             .unit = "nodes",
                                             .value = world->spot->survived,
                                             .n = 1 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        sim_results_add(out, &rows[i]);
}
