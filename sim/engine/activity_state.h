/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What activity.c, share.c and flow.c share: the structures of activities and resources. Private
 * to them.
 *
 * An activity that is alone is one record. One on resources has terms beside it (what it asks for)
 * and a hook in the list of each resource it uses. Records are named by index, and are reused; the
 * lists of a resource are in the order of creation.
 *
 * Own path: an activity that is alone, or on resources of which none is scarce, has a rate of its
 * own, `work` is what was left at since_ns, and `event` is its end.
 */
#ifndef SIM_ENGINE_ACTIVITY_STATE_H
#define SIM_ENGINE_ACTIVITY_STATE_H

#include "sim/engine/activity.h"
#include "sim/engine/time.h"

enum { ACTIVITY_FIRST_CAPACITY = 16 };

static const uint32_t ACTIVITY_NONE = UINT32_MAX;

/* 64 bytes: one cache line. */
struct activity {
    sim_quanta work; /* left at since_ns */
    uint64_t owner;
    uint64_t number; /* of creation */
    int64_t since_ns;
    uint64_t rate;    /* quanta per ns */
    sim_handle event; /* its end; none when endless */
    uint32_t generation;
    uint32_t terms; /* ACTIVITY_NONE: alone; of a free record: the next free one */
};

/* What an activity asks of its resources. */
struct activity_terms {
    uint64_t cap;
    uint32_t weight;
    uint32_t hooks; /* the first of `resources` neighbours; of free terms: the next free ones */
    uint32_t turn_cost;
    uint16_t bound_mille;
    uint8_t priority;
    uint8_t resources;
};

/* One activity in the list of one resource. */
struct activity_hook {
    uint32_t activity;
    uint32_t resource;
    uint32_t next, previous; /* of free hooks: the next free run of that length */
};

struct activity_resource {
    sim_quanta demand;    /* sum of what its activities run at when nothing is scarce */
    sim_quanta delivered; /* until metered_ns */
    int64_t metered_ns;
    uint64_t capacity;
    uint32_t head, tail; /* hooks */
    uint32_t count;
    enum sim_share share;
};

struct sim_activities {
    struct sim_engine *engine;
    struct activity *list;
    struct activity_terms *terms;
    struct activity_hook *hooks;
    struct activity_resource *resources;
    struct sim_ended ended;
    uint64_t created, running, stale;
    uint32_t list_count, list_capacity, list_free;
    uint32_t terms_count, terms_capacity, terms_free;
    uint32_t hooks_count, hooks_capacity;
    uint32_t hooks_free[SIM_ACTIVITY_RESOURCES + 1]; /* by length of the run */
    uint32_t resources_count, resources_capacity;
    uint16_t kind;
};

#endif
