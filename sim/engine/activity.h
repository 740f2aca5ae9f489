/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activities: work that has a rate.
 *
 * Whatever takes time on something that can be shared, slowed or stopped (a task on a GPU, a run of
 * a job, bytes on a link or from a store) is an activity: work left, and a rate that changes while
 * it runs. Work is counted in quanta of what delivers it, a rate in quanta per nanosecond, both
 * whole numbers, so that rate x time is exact; no double decides an end.
 *
 *   device: SIM_DEVICE_QPNS quanta are one ns of a whole device at speed 1; a house unit of
 *           1 / 40 960 000 device is 2^16 quanta per ns, so a share of 0.3 is exact
 *   link or store: a quantum is 2^-16 nano-bytes, the rate is bytes per second << 16
 *
 * Quanta must be small: where something is scarce 2^20 of them per unit of weight are forgiven at
 * an end (2^-21 ns of a device, 2^-6 ns of a link of one kilobyte per second).
 *
 * An activity uses no resource (alone: it runs at its own cap, which sim_activity_set changes; no
 * resource is paid for), one resource, or several links at once (a transfer). Where the caps of all
 * that use a resource fit into its capacity nothing is scarce, each runs at its cap and has an end
 * event of its own. Where they do not fit, the law of the resource says who gets what:
 *
 *   weights    weighted max-min with caps, priority by priority: a share no one can use goes to the
 *              others in proportion to their weights. Several links: max-min over all of them
 *   turns      one at a time for its quantum `weight`, then a switch of `turn_cost` is paid:
 *              rate = weight x capacity / sum of (weight + turn_cost); alone: the capacity. Who has
 *              a cap below that runs at it, and the rest of his turns passes in vain
 *   bandwidth  slow-down (1 - m) + m S of each, S = max(1, sum of demands / bandwidth): `weight` is
 *              the demand in millionths of the bandwidth, m = bound_mille / 1000
 *
 * What holds, at every instant: what a resource delivers in an interval never exceeds capacity x
 * interval; an end is the first ns at which the work is done, so it is late by less than one ns of
 * the activity's own rate; a change that changes no rate changes no end; activities of one resource
 * that end at one instant end in the order of creation (those of several: if one link limits them).
 * A job of N ns at a constant speed 1 ends exactly N ns after its start.
 *
 * Ends are events of one kind: the handler passes each to sim_activities_fire, which names the
 * ended. Changes where something is scarce take effect together, once an instant, in an event of
 * the same kind in the last phase (sim_activities_settle does it at once); an event that ends
 * nothing is therefore normal.
 *
 * An end beyond the clock, or of work that stands still, waits at SIM_TIME_MAX: a run with nothing
 * else left stops loudly. SIM_WORK_ENDLESS never ends and has no event at all.
 *
 * An activity is 64 bytes beside its event, 76 more on a resource, and 20 where that is scarce.
 */
#ifndef SIM_ENGINE_ACTIVITY_H
#define SIM_ENGINE_ACTIVITY_H

#include "sim/engine/engine.h"
#include "weir/status.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 sim_quanta;

#define SIM_DEVICE_QPNS  (UINT64_C(625) << 32) /* quanta per ns of a whole device at speed 1 */
#define SIM_UNCAPPED     UINT64_MAX            /* as a cap: what there is */
#define SIM_WORK_ENDLESS (~(sim_quanta)0)

/* Bounds; beyond them WEIR_ERANGE. */
#define SIM_WORK_LIMIT     ((sim_quanta)1 << 102) /* 36 years of a device */
#define SIM_CAPACITY_LIMIT (UINT64_C(1) << 60)    /* a device 2^18 times as fast */
#define SIM_WEIGHT_LIMIT   (UINT32_C(1) << 20)    /* a weight or turn cost; this one is allowed */

enum { SIM_ACTIVITY_RESOURCES = 6, SIM_BOUND_WHOLE = 1000, SIM_BANDWIDTH_WHOLE = 1000000 };

enum sim_share { SIM_SHARE_WEIGHTS, SIM_SHARE_TURNS, SIM_SHARE_BANDWIDTH };

struct sim_activity_spec {
    sim_quanta work;      /* < SIM_WORK_LIMIT, or SIM_WORK_ENDLESS */
    uint64_t cap_qpns;    /* most it can use, 0: it stands still; SIM_UNCAPPED: all there is */
    uint64_t owner;       /* comes back at the end, enters the digest */
    uint32_t weight;      /* 1 .. SIM_WEIGHT_LIMIT; turns: the quantum; bandwidth: the demand */
    uint32_t turn_cost;   /* turns: the switch, in the unit of the quantum */
    uint16_t bound_mille; /* bandwidth: how much of its time is bound by it */
    uint8_t priority;     /* 0 first; for one resource that no flow crosses */
    uint8_t resources;    /* used in `resource`; 0: alone, at its cap */
    uint32_t resource[SIM_ACTIVITY_RESOURCES]; /* distinct */
};

struct sim_ended {
    sim_handle handle; /* dead by now */
    uint64_t owner;
};

struct sim_activities;

/* NULL when out of memory. Ends are events of `kind` in phase COMPLETION; the engine is borrowed.
 * Destroying takes no event back: it belongs to the end of the run. */
struct sim_activities *sim_activities_create(struct sim_engine *engine, uint16_t kind);
void sim_activities_destroy(struct sim_activities *activities);

/* A resource of `qpns` quanta per ns; they count from 0. ERANGE, ENOMEM. */
weir_status sim_resource_add(struct sim_activities *activities, enum sim_share share, uint64_t qpns,
                             uint32_t *index);

/* Speeds up, slows down, freezes (0) what runs there, from now on; the present value is a no-op.
 * ENOTFOUND, ERANGE, ENOMEM. O(activities on the resource). */
weir_status sim_resource_set_capacity(struct sim_activities *activities, uint32_t index,
                                      uint64_t qpns);

/* What a switch costs those that take turns there, from now on. EINVAL where no turns are taken,
 * ENOTFOUND, ERANGE, ENOMEM. O(activities on the resource). */
weir_status sim_resource_set_turn_cost(struct sim_activities *activities, uint32_t index,
                                       uint32_t turn_cost);

/* Quanta delivered since the start, less what was forgiven at ends. O(activities there). */
sim_quanta sim_resource_delivered(const struct sim_activities *activities, uint32_t index);

/* EINVAL: weight 0, a resource named twice, alone without a cap, several resources
 * with a law that is not weights or with priorities; ERANGE: a bound; ENOTFOUND; ENOMEM. Work 0
 * ends at this instant, by an event. */
weir_status sim_activity_start(struct sim_activities *activities,
                               const struct sim_activity_spec *spec, sim_handle *handle,
                               struct weir_error *error);

/* Takes it away; `left` (may be NULL) is its work left. False, and counted, for a dead handle;
 * SIM_NO_HANDLE is a no-op. */
bool sim_activity_stop(struct sim_activities *activities, sim_handle handle, sim_quanta *left);

/* Work left now; SIM_WORK_ENDLESS stays. False for a dead handle. */
bool sim_activity_left(const struct sim_activities *activities, sim_handle handle,
                       sim_quanta *left);

/* When it ends if nothing changes (SIM_TIME_MAX: never); as of the last settlement. */
int64_t sim_activity_end_ns(const struct sim_activities *activities, sim_handle handle);

/* Changes weight and cap in mid-air; the present values are a no-op. For one that is alone the cap
 * is its rate, 0 freezes, the weight is not looked at. EINVAL, ERANGE, ENOTFOUND, ENOMEM. */
weir_status sim_activity_set(struct sim_activities *activities, sim_handle handle, uint32_t weight,
                             uint64_t cap_qpns);

/* Fetches what an event of `kind` that is to come will most likely ask for; false when it ends no
 * activity on its own. */
bool sim_activities_foresee(const struct sim_activities *activities, const struct sim_event *event);

/* Takes an event of `kind`. `ended` names those whose work is done, by creation (none: the event
 * settled changes); it is valid until the next call. */
weir_status sim_activities_fire(struct sim_activities *activities, const struct sim_event *event,
                                const struct sim_ended **ended, uint32_t *count);

/* Applies the changes of this instant now instead of in its last phase. */
weir_status sim_activities_settle(struct sim_activities *activities);

uint64_t sim_activities_running(const struct sim_activities *activities);
uint64_t sim_activities_stale(const struct sim_activities *activities); /* uses of dead handles */

/* Checks lists, sums, heaps and that no resource gives more than it has; for tests. EINVARIANT
 * names the fault. */
weir_status sim_activities_check(const struct sim_activities *activities, struct weir_error *error);

/* The work of `duration_ns` at `qpns`; SIM_TIME_MAX, and whatever is beyond the bound, is endless:
 * nothing runs for 36 years. */
static inline sim_quanta sim_work_of_ns(int64_t duration_ns, uint64_t qpns)
{
    const sim_quanta work = (sim_quanta)(uint64_t)duration_ns * qpns;
    return duration_ns < INT64_MAX && work < SIM_WORK_LIMIT ? work : SIM_WORK_ENDLESS;
}

/* For weights that shall be small and exact; that of 0 and a number is the number. */
static inline uint64_t sim_greatest_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The rate of a device that is `speed` times as fast as a whole one at speed 1. */
static inline uint64_t sim_rate_at(double speed)
{
    return islessgreater(speed, 1.0) ? (uint64_t)llround(speed * (double)SIM_DEVICE_QPNS)
                                     : SIM_DEVICE_QPNS;
}

/* `work` at `qpns`, to the end of the ns in which it is done; INT64_MAX when that is beyond the
 * clock, the rate is 0 or the work endless. */
int64_t sim_work_ns(sim_quanta work, uint64_t qpns);

#endif
