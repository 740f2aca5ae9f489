/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activities: starts, stops, changes, ends.
 *
 * Invariant: an activity has exactly one event, at its end, unless it is endless; `work` is what
 * was left at since_ns, and what was delivered is rate x time, all whole numbers, so what is left
 * is exact however often it is looked at. The generation of a slot grows when its activity is gone,
 * so a handle given out earlier never fits again.
 *
 * Cost: O(1) and one engine operation a start, an end, a change.
 */
#include "sim/engine/activity.h"

#include "sim/engine/room.h"
#include "sim/engine/time.h"

#include <assert.h>

static const uint32_t NONE = UINT32_MAX;

struct activity {
    sim_quanta work; /* left at since_ns */
    uint64_t owner;
    int64_t since_ns;
    uint64_t rate;    /* quanta per ns */
    sim_handle event; /* its end; none when endless */
    uint32_t generation;
    uint32_t next_free;
};

struct sim_activities {
    struct sim_engine *engine;
    struct activity *list;
    uint64_t running, stale;
    uint32_t count, capacity, free;
    uint16_t kind;
};

struct sim_activities *sim_activities_create(struct sim_engine *engine, uint16_t kind)
{
    struct sim_activities *activities = calloc(1, sizeof *activities);
    if (!activities)
        return NULL;
    activities->engine = engine;
    activities->kind = kind;
    activities->free = NONE;
    return activities;
}

void sim_activities_destroy(struct sim_activities *activities)
{
    if (!activities)
        return;
    free(activities->list);
    free(activities);
}

/* ---- handles ---- */

static sim_handle handle_of(const struct sim_activities *activities, uint32_t slot)
{
    return (sim_handle)activities->list[slot].generation << 32 | (slot + 1);
}

/* NULL for a dead handle. */
static struct activity *find(const struct sim_activities *activities, sim_handle handle)
{
    const uint32_t slot = (uint32_t)handle - 1;
    if (slot >= activities->count || handle_of(activities, slot) != handle)
        return NULL;
    return &activities->list[slot];
}

static weir_status take_slot(struct sim_activities *activities, uint32_t *slot)
{
    *slot = activities->free;
    if (*slot == NONE) {
        SIM_ROOM(activities->list, activities->capacity, activities->count + 1);
        *slot = activities->count++;
        activities->list[*slot].generation = 1;
    } else {
        activities->free = activities->list[*slot].next_free;
    }
    activities->running++;
    return WEIR_OK;
}

static void give_slot(struct sim_activities *activities, struct activity *activity)
{
    activity->generation++;
    activity->next_free = activities->free;
    activities->free = (uint32_t)(activity - activities->list);
    activities->running--;
}

/* ---- work and time ---- */

int64_t sim_work_ns(sim_quanta work, uint64_t qpns)
{
    if (qpns == 0 || work == SIM_WORK_ENDLESS)
        return SIM_TIME_MAX;
    const sim_quanta ns = work == 0 ? 0 : (work - 1) / qpns + 1;
    return ns < (sim_quanta)SIM_TIME_MAX ? (int64_t)ns : SIM_TIME_MAX;
}

static int64_t end_ns(const struct activity *activity)
{
    const int64_t ns = activity->work == 0 ? 0 : sim_work_ns(activity->work, activity->rate);
    return ns < SIM_TIME_MAX - activity->since_ns ? activity->since_ns + ns : SIM_TIME_MAX;
}

static sim_quanta left_of(const struct sim_activities *activities, const struct activity *activity)
{
    const int64_t now_ns = sim_engine_now(activities->engine);
    const sim_quanta done = (sim_quanta)activity->rate * (uint64_t)(now_ns - activity->since_ns);
    if (activity->work == SIM_WORK_ENDLESS)
        return SIM_WORK_ENDLESS;
    return done < activity->work ? activity->work - done : 0;
}

/* ---- starts, changes, ends ---- */

weir_status sim_activity_start(struct sim_activities *activities,
                               const struct sim_activity_spec *spec, sim_handle *handle,
                               struct weir_error *error)
{
    uint32_t slot = NONE;
    if (spec->work >= SIM_WORK_LIMIT && spec->work != SIM_WORK_ENDLESS)
        return weir_fail(error, WEIR_ERANGE, "work must be below 2^102 quanta, or endless");
    if (spec->rate_qpns >= SIM_RATE_LIMIT)
        return weir_fail(error, WEIR_ERANGE, "rate %llu must be below 2^60",
                         (unsigned long long)spec->rate_qpns);
    if (take_slot(activities, &slot) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "no room for one more activity");
    struct activity *activity = &activities->list[slot];
    *activity = (struct activity){ .work = spec->work,
                                   .owner = spec->owner,
                                   .since_ns = sim_engine_now(activities->engine),
                                   .rate = spec->rate_qpns,
                                   .event = SIM_NO_HANDLE,
                                   .generation = activity->generation };
    const struct sim_event event = { .time_ns = end_ns(activity),
                                     .argument = spec->owner,
                                     .target = slot,
                                     .kind = activities->kind,
                                     .phase = SIM_PHASE_COMPLETION };
    if (spec->work != SIM_WORK_ENDLESS) {
        activity->event = sim_engine_schedule(activities->engine, &event);
        if (activity->event == SIM_NO_HANDLE) {
            give_slot(activities, activity);
            return weir_fail(error, WEIR_ENOMEM, "no room for one more activity");
        }
    }
    *handle = handle_of(activities, slot);
    return WEIR_OK;
}

bool sim_activity_stop(struct sim_activities *activities, sim_handle handle, sim_quanta *left)
{
    struct activity *activity = find(activities, handle);
    if (handle == SIM_NO_HANDLE)
        return false;
    if (activity == NULL) {
        activities->stale++;
        return false;
    }
    if (left != NULL)
        *left = left_of(activities, activity);
    if (activity->event != SIM_NO_HANDLE)
        (void)sim_engine_cancel(activities->engine, activity->event);
    give_slot(activities, activity);
    return true;
}

bool sim_activity_left(const struct sim_activities *activities, sim_handle handle, sim_quanta *left)
{
    const struct activity *activity = find(activities, handle);
    if (activity == NULL)
        return false;
    *left = left_of(activities, activity);
    return true;
}

int64_t sim_activity_end_ns(const struct sim_activities *activities, sim_handle handle)
{
    const struct activity *activity = find(activities, handle);
    return activity == NULL ? SIM_TIME_MAX : end_ns(activity);
}

weir_status sim_activity_set(struct sim_activities *activities, sim_handle handle,
                             uint64_t rate_qpns)
{
    struct activity *activity = find(activities, handle);
    if (activity == NULL) {
        activities->stale++;
        return WEIR_ENOTFOUND;
    }
    if (rate_qpns >= SIM_RATE_LIMIT)
        return WEIR_ERANGE;
    if (rate_qpns == activity->rate)
        return WEIR_OK;
    activity->work = left_of(activities, activity);
    activity->since_ns = sim_engine_now(activities->engine);
    activity->rate = rate_qpns;
    if (activity->event != SIM_NO_HANDLE)
        (void)sim_engine_reschedule(activities->engine, activity->event, end_ns(activity));
    return WEIR_OK;
}

uint64_t sim_activities_fire(struct sim_activities *activities, const struct sim_event *event)
{
    assert(event->target < activities->count);
    struct activity *activity = &activities->list[event->target];
    give_slot(activities, activity);
    return activity->owner;
}

uint64_t sim_activities_running(const struct sim_activities *activities)
{
    return activities->running;
}

uint64_t sim_activities_stale(const struct sim_activities *activities)
{
    return activities->stale;
}
