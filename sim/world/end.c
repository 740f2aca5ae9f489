/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a run ends: the one place that decides whether it is done, over, or ended early.
 *
 * Done: every driver that has an end has done its work. Over: the engine stops. Ended early: work
 * is left that nothing will ever do, although neither the horizon nor an interrupt cut it off.
 * Either a driver gave up (see gave_up of driver.h), or nothing happens any more: who waits can be
 * given no room by anybody, or the events to come are looks alone (samples, decisions, late views)
 * and DECISIONS_IN_VAIN decisions in a row changed no item, worker, job or node. A policy may wait
 * for a time to pass; that many intervals are taken to mean that it does not.
 *
 * A horizon is kept: a run that ended early goes on to it, so that means cover the same time.
 */
#include "sim/cluster/cluster.h"
#include "sim/world/supply.h"

enum { DECISIONS_IN_VAIN = 100 };

static bool has_end(const struct sim_driver *driver)
{
    return driver->ops->is_done != NULL;
}

/* What the timeline will yet bring is work that is not done. */
static bool is_done(const struct sim_driver *driver)
{
    return driver->bursts == 0 && driver->ops->is_done(driver->self);
}

static bool waits(const struct sim_driver *driver)
{
    return driver->ops->waits != NULL && driver->ops->waits(driver->self);
}

static const char *gave_up(const struct sim_driver *driver, int64_t *at_ns)
{
    return driver->ops->gave_up == NULL ? NULL : driver->ops->gave_up(driver->self, at_ns);
}

static weir_status note_running(void *state, struct sim_worker *worker)
{
    bool *is_running = state;
    *is_running = *is_running || worker->state == SIM_WORKER_BUSY;
    return WEIR_OK;
}

/* Some jobs never end: they still ran when their trace did, and who waits for their room has met
 * the end of the trace too. */
static bool is_running(const struct sim_world *world)
{
    bool is_found = false;
    (void)sim_workers_each(world->workers, note_running, &is_found);
    return is_found;
}

/* The first driver with work left; NULL = the work is done, or nothing has an end. */
static const struct sim_driver *first_left(const struct sim_world *world)
{
    for (uint32_t d = 1; d <= world->driver_count; d++) {
        const struct sim_driver *driver = &world->drivers[d];
        if (has_end(driver) && (!is_done(driver) || (waits(driver) && !is_running(world))))
            return driver;
    }
    return NULL;
}

static bool is_endless(const struct sim_world *world)
{
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (has_end(&world->drivers[d]))
            return false;
    return true;
}

bool sim_world_is_done(const struct sim_world *world)
{
    return !is_endless(world) && first_left(world) == NULL;
}

/* What is kept for one is there for others before it and after it. */
static bool is_reserved_yet(const struct sim_world *world)
{
    const struct sim_scenario *scenario = world->scenario;
    for (size_t r = 0; r < scenario->reservations_count; r++)
        if (scenario->reservations[r].end_ns > sim_engine_now(world->context.engine))
            return true;
    return false;
}

/* The head is down, and will be back. */
static bool is_head_awaited(const struct sim_world *world)
{
    const struct sim_scenario *scenario = world->scenario;
    for (size_t i = 0; world->heads_down > 0 && i < scenario->timeline_count; i++)
        if (world->is_active[i] && scenario->timeline[i].action == SIM_ACTION_HEAD_DOWN &&
            scenario->timeline[i].for_ns > 0)
            return true;
    return false;
}

/* Whether who waits may still be given room by somebody else than a driver: a node, a cut, the end
 * of a reservation, a head that comes back, a call that the policy asked for. */
static bool may_make_room(const struct sim_world *world)
{
    if (sim_port_looks(world->port) > 0 && world->decisions_in_vain < DECISIONS_IN_VAIN)
        return true;
    return !sim_cluster_is_whole(world->context.cluster) || sim_port_is_busy(world->port) ||
           is_reserved_yet(world) || is_head_awaited(world);
}

/* Every driver that has an end is done, and nobody of it waits for room. */
static bool is_settled(const struct sim_world *world)
{
    for (uint32_t d = 1; d <= world->driver_count; d++) {
        const struct sim_driver *driver = &world->drivers[d];
        if ((has_end(driver) && !is_done(driver)) || waits(driver))
            return false;
    }
    return !is_endless(world);
}

/* No driver has anything to do but wait for room, and nobody makes any. */
static bool is_hopeless(const struct sim_world *world, bool may_give_up)
{
    bool is_waiting = false;
    int64_t at_ns = 0;
    for (uint32_t d = 1; d <= world->driver_count; d++) {
        const struct sim_driver *driver = &world->drivers[d];
        if (has_end(driver) && !is_done(driver) &&
            !(may_give_up && gave_up(driver, &at_ns) != NULL))
            return false;
        is_waiting |= waits(driver);
    }
    return !is_endless(world) && !(is_waiting && may_make_room(world));
}

/* Only looks are to come, and they see what they saw; drift moves nothing that stands. */
static bool finds_still(const struct sim_world *world)
{
    const struct sim_port *port = world->port;
    const bool is_timed = sim_port_pool_count(port) > 0 && sim_port_interval_ns(port) > 0;
    const uint64_t looks = sim_port_looks(port) + (is_timed ? 1 : 0);
    const uint64_t samples = 1;
    const uint64_t steps = world->scenario->drifts_count + sim_spot_steps(world);
    return sim_engine_stats(world->context.engine).pending <= looks + samples + steps &&
           !sim_port_is_busy(port) && !is_reserved_yet(world) &&
           (looks == 0 || world->decisions_in_vain >= DECISIONS_IN_VAIN);
}

/* The result digest holds every transition of an item, a worker, a job and a node. */
void sim_world_note_event(struct sim_world *world, const struct sim_event *event)
{
    if (world->context.result_digest != world->stirred_digest ||
        event->phase == SIM_PHASE_ARRIVAL) {
        world->stirred_digest = world->context.result_digest;
        world->stirred_ns = event->time_ns;
        world->decisions_in_vain = 0;
        world->is_still = false;
    } else if (sim_driver_of_event(event) == 0 &&
               (event->kind == SIM_KIND_DECIDE || event->kind == SIM_KIND_WAKE)) {
        world->decisions_in_vain++;
    } else if (event->phase == SIM_PHASE_SAMPLE) {
        world->is_still = world->is_still || finds_still(world);
    }
}

bool sim_world_is_over(const struct sim_world *world, const struct sim_event *event)
{
    const bool is_open = world->scenario->horizon_ns == SIM_TIME_MAX;
    if (event->phase == SIM_PHASE_SAMPLE)
        return is_open && world->is_still;
    /* Jobs may find at a decision that nothing will ever start them. */
    return (event->phase <= SIM_PHASE_FLOW || sim_port_workload_count(world->port) > 0) &&
           (is_open ? is_hopeless(world, true) : is_settled(world));
}

struct sim_early_end sim_world_early_end(const struct sim_world *world)
{
    struct sim_early_end end = { .why = NULL };
    if (world->is_interrupted)
        return end;
    for (uint32_t d = 1; d <= world->driver_count; d++) {
        int64_t at_ns = 0;
        const char *why = gave_up(&world->drivers[d], &at_ns);
        if (why != NULL && (end.why == NULL || at_ns < end.at_ns))
            end = (struct sim_early_end){ &world->drivers[d], why, at_ns };
    }
    if (end.why == NULL && first_left(world) != NULL &&
        (is_hopeless(world, false) || world->is_still))
        end = (struct sim_early_end){ first_left(world), "work waits, but nothing will start it",
                                      world->stirred_ns };
    return end;
}

int64_t sim_world_end_ns(const struct sim_world *world)
{
    int64_t end_ns = 0;
    const int64_t now_ns = sim_engine_now(world->context.engine);
    if (!sim_world_is_done(world))
        return now_ns;
    for (uint32_t d = 1; d <= world->driver_count; d++) {
        const struct sim_driver *driver = &world->drivers[d];
        if (!has_end(driver))
            continue;
        const int64_t own_ns =
            driver->ops->end_ns == NULL ? now_ns : driver->ops->end_ns(driver->self);
        end_ns = own_ns > end_ns ? own_ns : end_ns;
    }
    return end_ns;
}
