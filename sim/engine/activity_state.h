/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the activities share: structures and the calls between them. Private to
 * sim/engine/activity*.c.
 *
 * An activity that is alone is one record. One on resources has terms beside it (what it asks for)
 * and a hook in the list of each resource it uses. Records are named by index, and are reused; the
 * list of a resource is in the order of creation.
 *
 * An activity is carried in one of two ways:
 *
 *   own       it has a rate of its own; `work` is what was left at since_ns, `event` its end
 *   tagged    it is in a group, whose members all run at weight x one rate; `work` is what was left
 *             when it got its tag, terms.tag is where the clock of the group stands at its end
 *
 * A resource is in one of three modes, and goes back to the first when it is idle:
 *
 *   own       its demand fits into its capacity: all activities there are carried on their own
 *   shared    scarce, used by activities of this one resource only: all are tagged, in one group a
 *             class; a class is a cap per weight within a priority (or what the law tells apart)
 *   flow      scarce at least once, used by activities of several resources: those it limits are
 *             tagged in its one group, others are limited elsewhere
 *
 *   own -> shared -> own, own -> flow -> own, shared -> flow
 */
#ifndef SIM_ENGINE_ACTIVITY_STATE_H
#define SIM_ENGINE_ACTIVITY_STATE_H

#include "sim/engine/activity.h"
#include "sim/engine/activity_clock.h"
#include "sim/engine/time.h"

#include <stddef.h>

static const uint32_t ACTIVITY_NONE = UINT32_MAX;

/* 64 bytes: one cache line. */
struct activity {
    sim_quanta work; /* left at since_ns, or when it was tagged */
    uint64_t owner;
    uint64_t number; /* of creation */
    int64_t since_ns;
    uint64_t rate;    /* quanta per ns; 0 when tagged */
    sim_handle event; /* its end; none when endless or tagged */
    uint32_t generation;
    uint32_t terms; /* ACTIVITY_NONE: alone; of a free record: the next free one */
};

/* What an activity asks of its resources, and its place among those who get less. */
struct activity_terms {
    sim_quanta tag;  /* of endless work: what its clock had attained when it was tagged */
    uint64_t cap;    /* as asked for */
    uint64_t wanted; /* its rate where nothing is scarce: cap or narrowest resource */
    uint64_t rate;   /* flow: the rate found for it */
    uint32_t activity;
    uint32_t weight;
    uint32_t turn_cost;
    uint32_t hooks; /* the first of `resources` neighbours; of free terms: the next free ones */
    uint32_t group; /* ACTIVITY_NONE: carried on its own */
    uint32_t place; /* in the heap of the group */
    uint32_t home;  /* flow: the resource found to limit it */
    uint32_t visit; /* flow: the filling that saw it last */
    uint16_t bound_mille;
    uint8_t priority;
    uint8_t resources;
    bool was_tagged; /* ever */
};

/* One activity in the list of one resource. */
struct activity_hook {
    uint32_t activity;
    uint32_t resource;
    uint32_t next, previous; /* of free hooks: the next free run of that length */
};

struct tag_record {
    sim_quanta tag;
    uint32_t terms;
};

struct tag_heap {
    struct tag_record *records;
    uint32_t count, capacity;
};

/* Tags that no clock reaches, least first. */
#define TAG_STILL   (~(sim_quanta)1) /* work that stands still for want of a rate */
#define TAG_ENDLESS (~(sim_quanta)0)

/* Activities of one resource that run at weight x one rate. Where `pooled` that rate is the
 * resource's and the group has attained pool.attained + offset (modulo 2^128); else its clock's. */
struct activity_group {
    struct service_clock clock;
    sim_quanta offset;
    sim_quanta caps;   /* sum of the caps of its members */
    uint64_t weights;  /* sum of their weights */
    uint64_t num, den; /* what its members have in common: cap / weight, or m / 1 */
    struct tag_heap heap;
    int64_t due_ns;    /* when its first member ends, by its own clock */
    uint32_t resource; /* of a free group: the next free one */
    uint8_t priority;
    bool pooled;
    bool is_stale; /* due_ns has to be found anew */
};

enum resource_mode { RESOURCE_OWN, RESOURCE_SHARED, RESOURCE_FLOW };

struct activity_resource {
    sim_quanta demand;    /* sum of `wanted` of all that use it */
    sim_quanta delivered; /* by those gone, and by the others until they were last settled */
    uint64_t weights;     /* sum of weights (turns: and of switches) */
    uint64_t capacity;
    struct service_clock pool;
    uint32_t *groups; /* in the order in which they are served */
    uint32_t group_count, group_capacity;
    uint32_t head, tail; /* hooks */
    uint32_t count;
    uint32_t networked; /* of them, those that use other resources too */
    sim_handle event;   /* the first end of a tagged activity; none when they are endless */
    int64_t due_ns;     /* of `event` */
    enum sim_share share;
    enum resource_mode mode;
    bool is_dirty;  /* waits for the settlement */
    bool was_bound; /* flow: it took part in the last filling */
    /* During a filling. */
    uint64_t left;
    uint64_t left_weights;
    uint64_t taken_weights;
    uint32_t visit;
    uint32_t version;
};

struct activity_index {
    uint32_t *list;
    uint32_t count, capacity;
};

/* One whose work is done. */
struct activity_ending {
    uint64_t number;
    uint32_t slot;
};

/* A candidate of the filling: a link and its share when it was put there. */
struct flow_share {
    uint64_t left, weights;
    uint32_t resource, version;
};

struct sim_activities {
    struct sim_engine *engine;
    struct activity *list;
    struct activity_terms *terms;
    struct activity_hook *hooks;
    struct activity_resource *resources;
    struct activity_group *groups;
    struct sim_ended *ended;
    struct activity_ending *ending;
    struct activity_index dirty;   /* resources */
    struct activity_index links;   /* of the component being filled */
    struct activity_index flows;   /* terms of that component */
    struct activity_index touched; /* links whose share has changed */
    struct flow_share *shares;     /* heap of the filling */
    uint64_t created, running, stale;
    sim_handle settlement;
    weir_status fault; /* out of memory where no status can be returned */
    uint32_t list_count, list_capacity, list_free;
    uint32_t terms_count, terms_capacity, terms_free;
    uint32_t hooks_count, hooks_capacity;
    uint32_t hooks_free[SIM_ACTIVITY_RESOURCES + 1]; /* by length of the run */
    uint32_t resources_count, resources_capacity;
    uint32_t groups_count, groups_capacity, groups_free;
    uint32_t ended_capacity;
    uint32_t ending_count, ending_capacity;
    uint32_t shares_count, shares_capacity;
    uint32_t visit; /* number of the filling */
    uint16_t kind;
};

/* Which of the three a target of an event is. */
#define ACTIVITY_TARGET_RESOURCE (UINT32_C(1) << 31)
#define ACTIVITY_TARGET_SETTLE   UINT32_MAX

/* --- activity_records.c: memory, lists, handles ---------------------------------------------- */

bool activity_array_grow(void **array, uint32_t *capacity, size_t size);
bool activity_index_push(struct activity_index *index, uint32_t entry);
sim_handle activity_handle(const struct sim_activities *activities, uint32_t slot);
uint32_t activity_slot(const struct sim_activities *activities, sim_handle handle);
uint32_t activity_slot_take(struct sim_activities *activities);
void activity_slot_give(struct sim_activities *activities, uint32_t slot);
/* Terms and hooks, in no list yet; ACTIVITY_NONE: out of memory. */
uint32_t activity_terms_take(struct sim_activities *activities,
                             const struct sim_activity_spec *spec);
void activity_terms_give(struct sim_activities *activities, uint32_t index);
void activity_hook_append(struct sim_activities *activities, uint32_t hook);
void activity_hook_remove(struct sim_activities *activities, uint32_t hook);

static inline struct activity_resource *terms_resource(const struct sim_activities *activities,
                                                       const struct activity_terms *terms,
                                                       uint32_t which)
{
    return &activities->resources[activities->hooks[terms->hooks + which].resource];
}

static inline struct activity_terms *activity_terms_of(const struct sim_activities *activities,
                                                       uint32_t slot)
{
    return &activities->terms[activities->list[slot].terms];
}

static inline bool resource_is_scarce(const struct activity_resource *resource)
{
    if (resource->share == SIM_SHARE_BANDWIDTH)
        return resource->weights > SIM_BANDWIDTH_WHOLE;
    if (resource->share == SIM_SHARE_TURNS)
        return resource->count > 1;
    return resource->demand > resource->capacity;
}

/* --- activity_run.c: how an activity is carried ---------------------------------------------- */

int64_t activity_own_end_ns(const struct sim_activities *activities,
                            const struct activity *activity);
sim_quanta activity_left(const struct sim_activities *activities, uint32_t slot);
/* Work done since `work` was what was left. */
sim_quanta activity_done(const struct sim_activities *activities, uint32_t slot);
/* Makes `work` what is left now, of one carried on its own or about to be. */
void activity_settle(struct sim_activities *activities, uint32_t slot);
/* Carries it on its own at `rate`; the same again is no change. */
void activity_run(struct sim_activities *activities, uint32_t slot, uint64_t rate);
/* Makes it stand still with no event, out of any group. */
void activity_halt(struct sim_activities *activities, uint32_t slot);
/* Halts one whose tag is attained: nothing is left. */
void activity_end_tagged(struct sim_activities *activities, uint32_t slot, sim_quanta attained);
/* Tags it, halted, in a group. */
weir_status activity_enter_group(struct sim_activities *activities, uint32_t slot, uint32_t index);
/* What the members of a group have attained, and whether a carry is on top. Advances the clock. */
sim_quanta activity_group_attained(struct sim_activities *activities, uint32_t index, bool *carry);
void activity_resource_dirty(struct sim_activities *activities, uint32_t index);

/* --- activity_share.c: one scarce resource --------------------------------------------------- */

/* Tags all that run there; the resource becomes shared. */
weir_status activity_share_begin(struct sim_activities *activities, uint32_t index);
/* Halts all that run there; what has no group is left to the caller. */
void activity_share_end(struct sim_activities *activities, uint32_t index);
weir_status activity_share_enter(struct sim_activities *activities, uint32_t slot);
weir_status activity_share_fill(struct sim_activities *activities, uint32_t index);
/* Moves the event of the resource to its first end. */
weir_status activity_share_schedule(struct sim_activities *activities, uint32_t index);
/* Halts those whose tag is attained and lists them in `ending`, by creation. */
weir_status activity_share_due(struct sim_activities *activities, uint32_t index);
int64_t activity_tagged_end_ns(const struct sim_activities *activities, uint32_t slot);
/* An empty group of the resource, served after all before `at`; ACTIVITY_NONE: out of memory. */
uint32_t activity_group_add(struct sim_activities *activities, uint32_t index, uint32_t at);
void activity_groups_clear(struct sim_activities *activities, uint32_t index);
void activity_pool_set_rate(struct sim_activities *activities, struct activity_resource *resource,
                            uint64_t num, uint64_t den);

/* --- activity_flow.c: several links ----------------------------------------------------------- */

/* Fills the components of all marked links. */
weir_status activity_flow_fill(struct sim_activities *activities);

#endif
