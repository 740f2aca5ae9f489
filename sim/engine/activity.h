/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activities: work that has a rate.
 *
 * Whatever takes time and can be slowed or stopped meanwhile (a run of a job) is an activity: work
 * left, and a rate that changes while it runs. Work is counted in quanta of what delivers it, a
 * rate in quanta per nanosecond, both whole numbers, so that rate x time is exact; no double
 * decides an end. SIM_DEVICE_QPNS quanta are one ns of a whole device at speed 1; a house unit of
 * 1 / 40 960 000 device is 2^16 quanta per ns, so a share of 0.3 is exact.
 *
 * What holds, at every instant: an end is the first ns at which the work is done, so it is late by
 * less than one ns of the activity's own rate; a change that changes no rate changes no end. A job
 * of N ns at a constant speed 1 ends exactly N ns after its start.
 *
 * Ends are events of one kind: the handler passes each to sim_activities_fire. An end beyond the
 * clock, or of work that stands still, waits at SIM_TIME_MAX: a run with nothing else left stops
 * loudly. SIM_WORK_ENDLESS never ends and has no event at all.
 */
#ifndef SIM_ENGINE_ACTIVITY_H
#define SIM_ENGINE_ACTIVITY_H

#include "sim/engine/engine.h"
#include "weir/status.h"

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 sim_quanta;

#define SIM_DEVICE_QPNS  (UINT64_C(625) << 32) /* quanta per ns of a whole device at speed 1 */
#define SIM_WORK_ENDLESS (~(sim_quanta)0)

/* Bounds; beyond them WEIR_ERANGE. */
#define SIM_WORK_LIMIT ((sim_quanta)1 << 102) /* 36 years of a device */
#define SIM_RATE_LIMIT (UINT64_C(1) << 60)    /* a device 2^18 times as fast */

struct sim_activity_spec {
    sim_quanta work;    /* < SIM_WORK_LIMIT, or SIM_WORK_ENDLESS */
    uint64_t rate_qpns; /* 0 stands still */
    uint64_t owner;     /* comes back at the end, enters the digest */
};

struct sim_activities;

/* NULL when out of memory. Ends are events of `kind` in phase COMPLETION; the engine is borrowed.
 * Destroying takes no event back: it belongs to the end of the run. */
struct sim_activities *sim_activities_create(struct sim_engine *engine, uint16_t kind);
void sim_activities_destroy(struct sim_activities *activities);

/* ERANGE: a bound; ENOMEM. Work 0 ends at this instant, by an event. */
weir_status sim_activity_start(struct sim_activities *activities,
                               const struct sim_activity_spec *spec, sim_handle *handle,
                               struct weir_error *error);

/* Takes it away; `left` (may be NULL) is its work left. False, and counted, for a dead handle;
 * SIM_NO_HANDLE is a no-op. */
bool sim_activity_stop(struct sim_activities *activities, sim_handle handle, sim_quanta *left);

/* Work left now; SIM_WORK_ENDLESS stays. False for a dead handle. */
bool sim_activity_left(const struct sim_activities *activities, sim_handle handle,
                       sim_quanta *left);

/* When it ends if nothing changes (SIM_TIME_MAX: never). */
int64_t sim_activity_end_ns(const struct sim_activities *activities, sim_handle handle);

/* Changes the rate in mid-air; the present value is a no-op, 0 freezes. ERANGE, ENOTFOUND. */
weir_status sim_activity_set(struct sim_activities *activities, sim_handle handle,
                             uint64_t rate_qpns);

/* Takes an event of `kind`: the work of the owner that it gives back is done, its handle dead. */
uint64_t sim_activities_fire(struct sim_activities *activities, const struct sim_event *event);

uint64_t sim_activities_running(const struct sim_activities *activities);
uint64_t sim_activities_stale(const struct sim_activities *activities); /* uses of dead handles */

/* The work of `duration_ns` at `qpns`; SIM_TIME_MAX, and whatever is beyond the bound, is endless:
 * nothing runs for 36 years. */
static inline sim_quanta sim_work_of_ns(int64_t duration_ns, uint64_t qpns)
{
    const sim_quanta work = (sim_quanta)(uint64_t)duration_ns * qpns;
    return duration_ns < INT64_MAX && work < SIM_WORK_LIMIT ? work : SIM_WORK_ENDLESS;
}

/* `work` at `qpns`, to the end of the ns in which it is done; INT64_MAX when that is beyond the
 * clock, the rate is 0 or the work endless. */
int64_t sim_work_ns(sim_quanta work, uint64_t qpns);

#endif
