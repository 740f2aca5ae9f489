/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event engine: pending set, clock, run loop, digest.
 *
 * An event is a small value, never a callback: the world gives one handler and switches over
 * `kind`. Order = (time, phase, sequence); the phase gives meaning to the same instant. The
 * pending set is an indexed 4-ary heap of 16-byte records {time, phase | sequence | slot} with a
 * FIFO in front for events at "now"; cancel and reschedule are eager and in place.
 *
 * A handle names one scheduled event and dies with it (fired or cancelled). Using a dead handle
 * changes nothing, returns false and is counted in `stale_handles`: never a wake-up of somebody
 * else. A rescheduled event takes a new sequence number (last scheduled, last served among ties).
 *
 * Limits, asserted: 2^24 pending events, 2^36 scheduled events a run.
 */
#ifndef SIM_ENGINE_ENGINE_H
#define SIM_ENGINE_ENGINE_H

#include "weir/status.h"

#include <stdbool.h>
#include <stdint.h>

/* What happens first at one instant. Outcomes of work come before faults, these before new work,
 * decisions see all of it, samples see the decisions applied. */
enum sim_phase {
    SIM_PHASE_COMPLETION = 0,
    SIM_PHASE_FAULT = 1,
    SIM_PHASE_ARRIVAL = 2,
    SIM_PHASE_FLOW = 3,
    SIM_PHASE_DECISION = 4,
    SIM_PHASE_SAMPLE = 5,
};

struct sim_event {
    int64_t time_ns;
    uint64_t argument;
    uint32_t target; /* index of the entity meant */
    uint16_t kind;   /* the world's own enum */
    uint16_t phase;  /* enum sim_phase */
};

/* Generation and slot; 0 is never a valid handle. */
typedef uint64_t sim_handle;
#define SIM_NO_HANDLE UINT64_C(0)

struct sim_engine;

/* Handles one event; anything but WEIR_OK stops the run with that status. */
typedef weir_status (*sim_handler)(void *world, const struct sim_event *event);

struct sim_engine_stats {
    uint64_t scheduled, fired, cancelled, rescheduled, stale_handles;
    uint64_t pending, pending_peak;
};

/* NULL when out of memory. */
struct sim_engine *sim_engine_create(void);
void sim_engine_destroy(struct sim_engine *engine);

int64_t sim_engine_now(const struct sim_engine *engine);

/* Schedules `event` (all fields are the caller's) at event->time_ns >= now. A time in the past, an
 * unknown phase or a full pending set returns SIM_NO_HANDLE and makes the run stop with
 * WEIR_EINVARIANT (out of memory: WEIR_ENOMEM). SIM_TIME_MAX, which is what sim_time_from_s makes
 * of NaN and of what does not fit, is "never": such an event may wait, be moved or be cancelled,
 * but a run that has nothing else left stops with WEIR_EINVARIANT. O(log n), O(1) for events at
 * now. */
sim_handle sim_engine_schedule(struct sim_engine *engine, const struct sim_event *event);

/* Asks for one event more at the present instant, in the last phase and behind all others there,
 * also those scheduled from now on: for what takes many changes together. Once it was asked for,
 * asking again until it has come changes nothing; an engine has one who asks. O(1), no memory. */
void sim_engine_close_instant(struct sim_engine *engine, uint16_t kind, uint32_t target);

/* Moves a pending event to `time_ns` >= now; a time in the past is a fault as above. False (and
 * counted) for a dead handle. */
bool sim_engine_reschedule(struct sim_engine *engine, sim_handle handle, int64_t time_ns);

/* Removes a pending event. False (and counted) for a dead handle; SIM_NO_HANDLE is a no-op. */
bool sim_engine_cancel(struct sim_engine *engine, sim_handle handle);

/* Fires events in order until the set is empty (the clock stays at the last event), `until_ns` is
 * passed (events at until_ns still fire; the clock then stands at until_ns), the handler fails or
 * sim_engine_stop was called. A fault is final: every later run returns it. Not re-entrant. */
weir_status sim_engine_run(struct sim_engine *engine, sim_handler handler, void *world,
                           int64_t until_ns);

/* A run with so many pending events that what they touch does not stay in the cache tells of the
 * next one before it fires, and with many more of all at the head of the heap, so that their memory
 * is on its way; `before`: how many of them come before this one. The same event may come several
 * times, mostly nearer each time, and may not be fired at all; nothing may be changed. */
typedef void (*sim_foresight)(void *world, const struct sim_event *event, uint32_t before);
void sim_engine_foresee(struct sim_engine *engine, sim_foresight soon);

/* Ends sim_engine_run after the present event; pending events stay. Async-signal-unsafe. */
void sim_engine_stop(struct sim_engine *engine);

/* 64-bit digest of the stream of fired events (time, phase, kind, target, argument). */
uint64_t sim_engine_digest(const struct sim_engine *engine);

struct sim_engine_stats sim_engine_stats(const struct sim_engine *engine);

/* Checks heap order, back pointers and free list; for tests. WEIR_EINVARIANT names the fault. */
weir_status sim_engine_check(const struct sim_engine *engine, struct weir_error *error);

#endif
