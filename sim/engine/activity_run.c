/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How an activity is carried: on its own, or tagged in a group.
 *
 * On its own it delivers rate x time, all whole numbers, so what is left is exact however often it
 * is looked at, and its end is since + ceil(left / rate). In a group it is done when the clock of
 * the group reaches its tag,
 *
 *     tag = attained + [a carry is on top] + ceil(work / weight) - grace,
 *
 * and what is left is (tag + grace - attained) x weight less what the ceiling added. The grace,
 * 2^20 quanta per unit of weight (2^-21 ns of a device), makes an end that lies on a whole ns come
 * at that ns although every rounding of the clock is downwards: each change of the rate costs less
 * than a quantum, so it covers a million changes in one life.
 *
 * A law of bandwidth has a group for each value of m; weight is then the rate when alone, and the
 * clock counts 2^-24 ns of such time (`group_shift`).
 *
 * Invariant: work + what was delivered before = the work it came with, to the quantum on its own;
 * in a group a quantum per unit of weight may be lost each time it is tagged or settled, never
 * gained. The meter of a resource grows by what its activities have done when they are settled.
 */
#include "sim/engine/activity_heap.h"
#include "sim/engine/activity_state.h"

#include <assert.h>

enum { BANDWIDTH_SHIFT = 24, BANDWIDTH_GRACE_BITS = 8, GRACE_BITS = 20 };

static unsigned group_shift(const struct activity_resource *resource)
{
    return resource->share == SIM_SHARE_BANDWIDTH ? BANDWIDTH_SHIFT : 0;
}

static sim_quanta group_grace(const struct activity_resource *resource)
{
    return (sim_quanta)1 << (resource->share == SIM_SHARE_BANDWIDTH ? BANDWIDTH_GRACE_BITS
                                                                    : GRACE_BITS);
}

static uint64_t group_weight(const struct activity_resource *resource,
                             const struct activity_terms *terms)
{
    return resource->share == SIM_SHARE_BANDWIDTH ? terms->wanted : terms->weight;
}

static sim_quanta quotient_up(sim_quanta a, uint64_t b)
{
    if (b == 1)
        return a;
    if (a >> 63 == 0 && b >> 63 == 0)
        return ((uint64_t)a + b - 1) / b;
    return (a + (b - 1)) / b;
}

/* --- on its own ------------------------------------------------------------------------------ */

int64_t sim_work_ns(sim_quanta work, uint64_t qpns)
{
    if (qpns == 0 || work == SIM_WORK_ENDLESS)
        return SIM_TIME_MAX;
    if (work >> 64 == 0) {
        const uint64_t narrow = (uint64_t)work;
        const uint64_t ns = narrow / qpns + (narrow % qpns != 0);
        return ns < (uint64_t)SIM_TIME_MAX ? (int64_t)ns : SIM_TIME_MAX;
    }
    const sim_quanta ns = (work - 1) / qpns + 1;
    return ns < (sim_quanta)SIM_TIME_MAX ? (int64_t)ns : SIM_TIME_MAX;
}

static int64_t end_ns(int64_t since_ns, sim_quanta work, uint64_t rate)
{
    const int64_t ns = work == 0 ? 0 : sim_work_ns(work, rate);
    return ns < SIM_TIME_MAX - since_ns ? since_ns + ns : SIM_TIME_MAX;
}

/* Work that was in a group may have lost quanta to its clock: the grace forgives them here too. */
int64_t activity_own_end_ns(const struct sim_activities *activities, uint32_t slot)
{
    const struct activity *activity = &activities->list[slot];
    sim_quanta work = activity->work;
    if (activity->resources > 0 && activities->terms[slot].was_tagged && work != SIM_WORK_ENDLESS) {
        const sim_quanta grace = (sim_quanta)activities->terms[slot].weight << GRACE_BITS;
        work = work > grace ? work - grace : 0;
    }
    return end_ns(activity->since_ns, work, activity->rate);
}

/* --- in a group ------------------------------------------------------------------------------ */

/* As of now, without advancing anything. */
static sim_quanta group_attained_now(const struct sim_activities *activities,
                                     const struct activity_group *group)
{
    struct service_clock clock =
        group->pooled ? activities->resources[group->resource].pool : group->clock;
    service_clock_advance(&clock, sim_engine_now(activities->engine));
    return group->pooled ? clock.attained + group->offset : clock.attained;
}

sim_quanta activity_group_attained(struct sim_activities *activities, uint32_t index, bool *carry)
{
    struct activity_group *group = &activities->groups[index];
    struct service_clock *clock =
        group->pooled ? &activities->resources[group->resource].pool : &group->clock;
    service_clock_advance(clock, sim_engine_now(activities->engine));
    *carry = clock->carry > 0;
    return group->pooled ? clock->attained + group->offset : clock->attained;
}

/* Endless work has done what its clock has gone since its tag; other work what is not left. */
static sim_quanta tagged_done(const struct sim_activities *activities, uint32_t slot)
{
    const struct activity *activity = &activities->list[slot];
    const struct activity_terms *terms = &activities->terms[slot];
    const struct activity_group *group = &activities->groups[terms->group];
    const struct activity_resource *resource = &activities->resources[group->resource];
    const uint64_t weight = group_weight(resource, terms);
    const unsigned shift = group_shift(resource);
    if (weight == 0)
        return 0;
    const sim_quanta attained = group_attained_now(activities, group);
    if (activity->work == SIM_WORK_ENDLESS) {
        const sim_quanta steps = attained - terms->tag;
        const sim_quanta part = steps - (steps >> shift << shift);
        return (steps >> shift) * weight + (part * weight >> shift);
    }
    const sim_quanta done_at = terms->tag + group_grace(resource);
    if (done_at <= attained)
        return activity->work;
    const sim_quanta steps = done_at - attained;
    const sim_quanta scaled = activity->work << shift;
    const sim_quanta all_steps = quotient_up(scaled, weight);
    if (steps >= all_steps)
        return 0; /* the step above a carry, just after it was tagged */
    const sim_quanta done = (all_steps - steps) * weight >> shift;
    return done < activity->work ? done : activity->work;
}

sim_quanta activity_done(const struct sim_activities *activities, uint32_t slot)
{
    return activity_is_tagged(activities, slot)
               ? tagged_done(activities, slot)
               : activity_own_done(activities, &activities->list[slot]);
}

sim_quanta activity_left(const struct sim_activities *activities, uint32_t slot)
{
    const sim_quanta work = activities->list[slot].work;
    return work == SIM_WORK_ENDLESS ? work : work - activity_done(activities, slot);
}

static void group_leave(struct sim_activities *activities, uint32_t slot)
{
    struct activity_terms *terms = &activities->terms[slot];
    struct activity_group *group = &activities->groups[terms->group];
    struct activity_resource *resource = &activities->resources[group->resource];
    group->weights -= group_weight(resource, terms);
    group->caps -= terms->cap;
    group->is_stale = true;
    tag_heap_remove(&group->heap, activities->places, activities->places[slot]);
    terms->group = ACTIVITY_NONE;
    terms->was_tagged = true;
}

weir_status activity_enter_group(struct sim_activities *activities, uint32_t slot, uint32_t index)
{
    const struct activity *activity = &activities->list[slot];
    struct activity_terms *terms = &activities->terms[slot];
    assert(terms->group == ACTIVITY_NONE && activity->rate == 0);
    struct activity_group *group = &activities->groups[index];
    const struct activity_resource *resource = &activities->resources[group->resource];
    const uint64_t weight = group_weight(resource, terms);
    bool carry = false;
    const sim_quanta attained = activity_group_attained(activities, index, &carry);
    sim_quanta key = TAG_STILL;
    terms->tag = attained;
    if (activity->work == SIM_WORK_ENDLESS) {
        key = TAG_ENDLESS;
    } else if (weight > 0) {
        const sim_quanta scaled = activity->work << group_shift(resource);
        const sim_quanta steps = quotient_up(scaled, weight);
        key = terms->tag = attained + (carry ? 1 : 0) + steps - group_grace(resource);
    }
    if (!tag_heap_push(&group->heap, activities->places, key, slot))
        return WEIR_ENOMEM;
    terms->group = index;
    group->weights += weight;
    group->caps += terms->cap;
    group->is_stale = true;
    return WEIR_OK;
}

/* --- both ------------------------------------------------------------------------------------ */

/* The meters of its resources go on. */
static void meter_done(struct sim_activities *activities, const struct activity_terms *terms,
                       sim_quanta done)
{
    for (uint32_t i = 0; i < terms->resources; i++)
        terms_resource(activities, terms, i)->delivered += done;
}

void activity_settle(struct sim_activities *activities, uint32_t slot)
{
    struct activity *activity = &activities->list[slot];
    const bool stood_still = activity->rate == 0 && !activity_is_tagged(activities, slot);
    const sim_quanta done = stood_still ? 0 : activity_done(activities, slot);
    if (activity->work != SIM_WORK_ENDLESS)
        activity->work -= done;
    activity->since_ns = sim_engine_now(activities->engine);
    if (activity->resources > 0)
        meter_done(activities, &activities->terms[slot], done);
}

void activity_end_own(struct sim_activities *activities, uint32_t slot)
{
    struct activity *activity = &activities->list[slot];
    activity->event = SIM_NO_HANDLE;
    if (activity->resources > 0)
        meter_done(activities, &activities->terms[slot], activity_own_done(activities, activity));
}

/* The meters count what the clock gave it: all but what the grace forgives. */
void activity_end_tagged(struct sim_activities *activities, uint32_t slot, sim_quanta attained)
{
    struct activity *activity = &activities->list[slot];
    const struct activity_terms *terms = &activities->terms[slot];
    const struct activity_group *group = &activities->groups[terms->group];
    const struct activity_resource *resource = &activities->resources[group->resource];
    const sim_quanta done_at = terms->tag + group_grace(resource);
    sim_quanta left = 0;
    if (done_at > attained)
        left = (done_at - attained) * group_weight(resource, terms) >> group_shift(resource);
    const sim_quanta done = left < activity->work ? activity->work - left : 0;
    meter_done(activities, terms, done);
    activity->work = 0;
    group_leave(activities, slot);
}

void activity_begin(struct sim_activities *activities, uint32_t slot, uint64_t rate)
{
    struct activity *activity = &activities->list[slot];
    activity->rate = rate;
    if (activity->work == SIM_WORK_ENDLESS)
        return;
    const struct sim_event event = {
        .time_ns = activity->resources == 0 || !activities->terms[slot].was_tagged
                       ? end_ns(activity->since_ns, activity->work, rate)
                       : activity_own_end_ns(activities, slot),
        .argument = activity->owner,
        .target = slot,
        .kind = activities->kind,
        .phase = SIM_PHASE_COMPLETION,
    };
    activity->event = sim_engine_schedule(activities->engine, &event);
    if (activity->event == SIM_NO_HANDLE)
        activities->fault = WEIR_ENOMEM;
}

void activity_run(struct sim_activities *activities, uint32_t slot, uint64_t rate)
{
    struct activity *activity = &activities->list[slot];
    const bool has_event = activity->event != SIM_NO_HANDLE || activity->work == SIM_WORK_ENDLESS;
    if (rate == activity->rate && has_event)
        return;
    if (activity->rate > 0)
        activity_settle(activities, slot);
    activity->since_ns = sim_engine_now(activities->engine);
    if (activity->event == SIM_NO_HANDLE) {
        activity_begin(activities, slot, rate);
        return;
    }
    activity->rate = rate;
    (void)sim_engine_reschedule(activities->engine, activity->event,
                                activity_own_end_ns(activities, slot));
}

void activity_halt(struct sim_activities *activities, uint32_t slot)
{
    struct activity *activity = &activities->list[slot];
    activity_settle(activities, slot);
    activity->rate = 0;
    if (activity->event != SIM_NO_HANDLE)
        (void)sim_engine_cancel(activities->engine, activity->event);
    activity->event = SIM_NO_HANDLE;
    if (activity_is_tagged(activities, slot))
        group_leave(activities, slot);
}

void activity_resource_dirty(struct sim_activities *activities, uint32_t index)
{
    struct activity_resource *resource = &activities->resources[index];
    if (resource->is_dirty)
        return;
    if (!activity_index_push(&activities->dirty, index)) {
        activities->fault = WEIR_ENOMEM;
        return;
    }
    resource->is_dirty = true;
    sim_engine_close_instant(activities->engine, activities->kind, ACTIVITY_TARGET_SETTLE);
}

bool sim_activities_foresee(const struct sim_activities *activities, const struct sim_event *event)
{
    if (event->kind != activities->kind || event->target == ACTIVITY_TARGET_SETTLE)
        return false;
    const bool is_own = event->target < ACTIVITY_TARGET_RESOURCE;
    const uint32_t slot =
        is_own ? event->target
               : activities->resources[event->target & ~ACTIVITY_TARGET_RESOURCE].first;
    activity_fetch(activities, slot);
    return is_own;
}
