/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timeline: what the scenario says happens at a time or for an interval (see world.h).
 *
 * What is in force is worked out anew from the entries that are active, so that overlapping entries
 * compose (factors multiply, failures are independent) and each end takes back only its own part.
 * Nodes and the scheduler are the world's; the rest acts on the driver that knows its target.
 */
#include "sim/cluster/link.h"
#include "sim/record/meter/meter_services.h"
#include "sim/record/record.h"
#include "sim/world/world.h"

#include <math.h>

static weir_status schedule(struct sim_world *world, int64_t at_ns, uint16_t kind, uint32_t entry)
{
    const struct sim_event event = {
        .time_ns = at_ns, .target = entry, .kind = kind, .phase = SIM_PHASE_FAULT
    };
    (void)sim_engine_schedule(world->context.engine, &event);
    return WEIR_OK;
}

weir_status sim_timeline_begin(struct sim_world *world)
{
    for (size_t i = 0; i < world->scenario->timeline_count; i++)
        WEIR_TRY(schedule(world, world->scenario->timeline[i].at_ns, SIM_KIND_TIMELINE_BEGIN,
                          (uint32_t)i));
    return WEIR_OK;
}

static bool is_target(const struct sim_driver *driver, const struct sim_timeline_entry *entry,
                      const char **name)
{
    *name = driver->ops->target == NULL ? NULL : driver->ops->target(driver->self, entry);
    return *name != NULL;
}

/* One burst more is to come, or one less. */
static void expect_burst(struct sim_world *world, const struct sim_timeline_entry *entry,
                         bool is_to_come)
{
    const char *name = NULL;
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (entry->action == SIM_ACTION_BURST && is_target(&world->drivers[d], entry, &name))
            world->drivers[d].bursts += is_to_come ? 1 : UINT32_MAX;
}

void sim_timeline_expect(struct sim_world *world)
{
    for (size_t i = 0; i < world->scenario->timeline_count; i++)
        expect_burst(world, &world->scenario->timeline[i], true);
}

/* The first driver that an entry acts on, NULL = none, with the name of what it acts on there. A
 * service is that of those, too, who call it. */
static const struct sim_driver *driver_of(const struct sim_world *world,
                                          const struct sim_timeline_entry *entry, const char **name)
{
    for (uint32_t d = 1; d <= world->driver_count; d++) {
        const struct sim_driver *driver = &world->drivers[d];
        if (is_target(driver, entry, name))
            return driver;
    }
    return NULL;
}

static bool is_about_nics(const struct sim_timeline_entry *entry)
{
    return entry->action >= SIM_ACTION_NIC_DOWN && entry->action <= SIM_ACTION_NIC_SLOW;
}

static bool is_about_stores(const struct sim_timeline_entry *entry)
{
    return entry->action >= SIM_ACTION_STORE_DOWN && entry->action <= SIM_ACTION_STORE_SLOW;
}

static bool is_about_nodes(const struct sim_timeline_entry *entry)
{
    return entry->action == SIM_ACTION_NODE_DOWN || entry->action == SIM_ACTION_NODE_UP ||
           entry->action == SIM_ACTION_NODE_SLOW || entry->action == SIM_ACTION_POWER_CAP ||
           is_about_nics(entry);
}

static void target_name(const struct sim_world *world, const struct sim_timeline_entry *entry,
                        char *text, size_t capacity)
{
    const char *name = NULL;
    if (is_about_nodes(entry))
        sim_scenario_node_name(world->scenario, entry->target, text, capacity);
    else if (is_about_stores(entry))
        (void)snprintf(text, capacity, "%s", world->scenario->stores[entry->target].name);
    else if (driver_of(world, entry, &name) != NULL)
        (void)snprintf(text, capacity, "%s", name);
    else
        (void)snprintf(text, capacity, "sched");
}

double sim_timeline_factor(const struct sim_world *world, uint32_t action, uint32_t target)
{
    double product = 1.0;
    for (size_t i = 0; i < world->scenario->timeline_count; i++) {
        const struct sim_timeline_entry *entry = &world->scenario->timeline[i];
        if (world->is_active[i] && entry->action == action && entry->target == target)
            product *= action == SIM_ACTION_STAGE_FAIL ? 1.0 - entry->probability : entry->factor;
    }
    return product;
}

/* The last entry in force says the cap, else the node's type. */
static double cap_in_force(const struct sim_world *world, uint32_t node)
{
    double cap_w = sim_scenario_node_type(world->scenario, node)->power_cap_w;
    for (size_t i = 0; i < world->scenario->timeline_count; i++) {
        const struct sim_timeline_entry *entry = &world->scenario->timeline[i];
        if (world->is_active[i] && entry->action == SIM_ACTION_POWER_CAP && entry->target == node)
            cap_w = entry->cap_w;
    }
    return cap_w;
}

/* By how many times less it gives, with all that is in force: the last word says whether it is out,
 * each entry with an end takes its own back. */
static double link_slowness(const struct sim_world *world, const struct sim_timeline_entry *about)
{
    const bool is_nic = is_about_nics(about);
    const uint32_t down = is_nic ? SIM_ACTION_NIC_DOWN : SIM_ACTION_STORE_DOWN;
    bool is_out = false;
    for (size_t i = 0; i < world->scenario->timeline_count; i++) {
        const struct sim_timeline_entry *entry = &world->scenario->timeline[i];
        if (world->is_active[i] && entry->target == about->target &&
            (entry->action == down || entry->action == down + 1))
            is_out = entry->action == down;
    }
    const double slow = sim_timeline_factor(
        world, is_nic ? SIM_ACTION_NIC_SLOW : SIM_ACTION_STORE_SLOW, about->target);
    return is_out ? (double)INFINITY : fmax(1.0, slow);
}

static weir_status replace_sched(struct sim_world *world, const struct sim_sched *sched)
{
    const int64_t interval_ns = sim_port_interval_ns(world->port);
    WEIR_TRY(sim_port_replace(world->port, sched));
    if (sim_port_interval_ns(world->port) != interval_ns && world->timer != SIM_NO_HANDLE)
        sim_world_restart_timer(world);
    return WEIR_OK;
}

/* `is_on` true at the beginning of the entry, false at its end. */
static weir_status turn(struct sim_world *world, const struct sim_timeline_entry *entry, bool is_on)
{
    const double factor = sim_timeline_factor(world, entry->action, entry->target);
    const char *name = NULL;
    if (entry->action == SIM_ACTION_NODE_DOWN || entry->action == SIM_ACTION_NODE_UP)
        return sim_faults_set_node(world, entry->target,
                                   is_on == (entry->action == SIM_ACTION_NODE_DOWN));
    if (entry->action == SIM_ACTION_SET)
        return replace_sched(world, is_on ? entry->sched : &world->scenario->sched);
    if (entry->action == SIM_ACTION_HEAD_DOWN) {
        world->heads_down += is_on ? 1 : -1;
        if (world->heads_down == 0)
            sim_port_wake(world->port, WEIR_CAUSE_JOBS | world->causes_kept);
        world->causes_kept = world->heads_down == 0 ? 0 : world->causes_kept;
        return WEIR_OK;
    }
    if (entry->action == SIM_ACTION_NODE_SLOW)
        return sim_world_pace_node(world, entry->target);
    if (is_about_stores(entry) || is_about_nics(entry)) {
        WEIR_TRY((is_about_nics(entry) ? sim_links_slow_node : sim_links_slow_store)(
            world->context.cluster, entry->target, link_slowness(world, entry)));
        sim_links_meter(world->context.cluster, world->context.meter,
                        sim_engine_now(world->context.engine));
        return WEIR_OK;
    }
    if (entry->action == SIM_ACTION_POWER_CAP) {
        sim_world_cap_power(world, entry->target, cap_in_force(world, entry->target));
        return WEIR_OK;
    }
    if (driver_of(world, entry, &name) == NULL)
        return WEIR_EINVARIANT;
    for (uint32_t d = 1; d <= world->driver_count; d++)
        if (is_target(&world->drivers[d], entry, &name))
            WEIR_TRY(world->drivers[d].ops->act(world->drivers[d].self, entry, factor, is_on));
    return WEIR_OK;
}

/* Who did what to a model, or may not. */
static weir_status audit(struct sim_world *world, const struct sim_timeline_entry *entry,
                         const char *model)
{
    const struct sim_audit_row row = { .t_ns = entry->at_ns,
                                       .subject = entry->subject,
                                       .operation = sim_action_name(entry->action),
                                       .model = model,
                                       .is_allowed = !entry->is_denied,
                                       .text = entry->text };
    const uint32_t stage = (uint32_t)world->scenario->pipelines[entry->target].stage_first;
    sim_meter_operation(world->context.meter, stage, entry->is_denied);
    return sim_recorder_audit(world->context.recorder, &row, world->context.error);
}

weir_status sim_timeline_apply(struct sim_world *world, uint32_t index)
{
    const struct sim_timeline_entry *entry = &world->scenario->timeline[index];
    char target[128];
    expect_burst(world, entry, false);
    target_name(world, entry, target, sizeof(target));
    const int64_t until_ns = entry->for_ns > 0 ? entry->at_ns + entry->for_ns : -1;
    WEIR_TRY(sim_recorder_happening(world->context.recorder, entry->at_ns, until_ns,
                                    sim_action_name(entry->action), target, entry->text,
                                    world->context.error));
    sim_context_digest(&world->context, 0x300 + entry->action, entry->target, entry->at_ns);
    if (entry->action >= SIM_ACTION_LOAD)
        WEIR_TRY(audit(world, entry, target));
    if (entry->is_denied)
        return WEIR_OK;
    if (until_ns >= 0)
        WEIR_TRY(schedule(world, until_ns, SIM_KIND_TIMELINE_END, index));
    world->is_active[index] = true;
    return turn(world, entry, true);
}

weir_status sim_timeline_end(struct sim_world *world, uint32_t index)
{
    world->is_active[index] = false;
    return turn(world, &world->scenario->timeline[index], false);
}
