/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine beside an oracle: a plain array whose next event is found by looking at all of them.
 *
 * Schedules, cancels and reschedules are drawn, from outside and from within handlers; every event
 * that fires must be the one the array has next. `mistakes` counts the differences.
 */
#ifndef TESTS_SUPPORT_ORACLE_ENGINE_H
#define TESTS_SUPPORT_ORACLE_ENGINE_H

#include "sim/engine/engine.h"
#include "tests/support/draws.h"

enum { ORACLE_PENDING_MAX = 300, ORACLE_HANDLES = 512 };

struct expected {
    int64_t time_ns;
    uint32_t phase;
    uint64_t sequence;
    uint32_t target;
    sim_handle handle;
};

struct engine_oracle {
    struct sim_engine *engine;
    struct draws draws;
    int64_t spread_ns;    /* delays are uniform below this */
    size_t least_pending; /* handlers schedule when fewer wait */
    uint64_t stop_after;  /* events, then a handler stops the engine; 0 = never */
    struct expected pending[ORACLE_PENDING_MAX];
    size_t count;
    bool is_closing; /* an event was asked for behind all others of this instant */
    uint64_t sequence;
    uint64_t fired, stale;
    uint32_t next_target;
    sim_handle dead[ORACLE_HANDLES]; /* handles of fired and cancelled events */
    size_t dead_count;
    uint64_t mistakes;
};

/* With an empty engine; NULL when out of memory. */
struct engine_oracle *engine_oracle_create(struct draws draws, int64_t spread_ns);
void engine_oracle_destroy(struct engine_oracle *oracle);

/* One drawn event more, when there is room. */
void engine_oracle_schedule(struct engine_oracle *oracle);
/* Up to `most` drawn operations, a drawn span of events, then the checks. */
weir_status engine_oracle_round(struct engine_oracle *oracle, uint64_t most);
/* Events up to `until_ns`. */
weir_status engine_oracle_run(struct engine_oracle *oracle, int64_t until_ns);
/* Whether the engine's own counts are those of the oracle. */
bool engine_oracle_agrees(const struct engine_oracle *oracle);

#endif
