/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the activities share: structures and the calls between them. Private to
 * sim/engine/activity*.c.
 *
 * An activity that is alone is one record. One on resources has terms beside it (what it asks for)
 * and a hook in the list of each resource it uses. All of these, and its place in a heap, are found
 * by its slot, in arrays of their own: what a change writes of others (hooks of its neighbours,
 * places of those that move in a heap) is packed, so that it stays in cache where the records no
 * longer fit. Hooks of a second and further resource are neighbours in an array apart. Slots are
 * reused; the list of a resource is in the order of creation.
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

enum {
    ACTIVITY_LINE = 64,      /* bytes of a cache line: arrays begin on one */
    RESOURCE_FEW_GROUPS = 2, /* listed in the record of the resource itself */
};

/* 64 bytes: one cache line, and all that the end of one that affects nobody looks at. */
struct activity {
    sim_quanta work; /* left at since_ns, or when it was tagged */
    uint64_t owner;
    uint32_t resource; /* the first; of a free slot: the next free one */
    uint32_t weighs;   /* what it counts for in the weights of each of its resources */
    int64_t since_ns;
    uint64_t rate;    /* quanta per ns; 0 when tagged */
    sim_handle event; /* its end; none when endless or tagged */
    uint32_t generation;
    uint32_t resources; /* used; 0: alone, it has no terms */
};

/* What an activity asks of its resources, and its group among those who get less. 64 bytes. */
struct activity_terms {
    sim_quanta tag;  /* of endless work: what its clock had attained when it was tagged */
    uint64_t cap;    /* as asked for */
    uint64_t wanted; /* its rate where nothing is scarce: cap or narrowest resource */
    uint64_t number; /* of creation */
    uint32_t weight;
    uint32_t turn_cost;
    uint32_t further; /* the first of the hooks of the resources after the first, neighbours */
    uint32_t group;   /* ACTIVITY_NONE: carried on its own */
    uint16_t bound_mille;
    uint8_t priority;
    uint8_t resources;
    bool was_tagged; /* ever */
};

/* An activity in the list of one resource. A hook is named by the slot of the activity when the
 * resource is its first, else by ACTIVITY_FURTHER | index in `further`. */
struct activity_hook {
    uint32_t next, previous;
};
#define ACTIVITY_FURTHER (UINT32_C(1) << 31)

struct further_hook {
    struct activity_hook hook; /* of free ones: next, the next free run of that length */
    uint32_t activity;
    uint32_t resource;
};

/* Tags and, behind them in the same memory, the slots they are of. Groups of four children start on
 * a cache line; tags beyond `count` are the greatest. */
struct tag_heap {
    sim_quanta *tags; /* TAG_HEAP_LEAD tags into the allocation */
    uint32_t count, capacity;
};

/* Tags that no clock reaches, least first. */
#define TAG_STILL   (~(sim_quanta)1) /* work that stands still for want of a rate */
#define TAG_ENDLESS (~(sim_quanta)0)

/* Activities of one resource that run at weight x one rate. Where `pooled` that rate is the
 * resource's and the group has attained pool.attained + offset (modulo 2^128); else its clock's.
 * What a pooled group needs is in the first cache line. */
struct activity_group {
    _Alignas(ACTIVITY_LINE) sim_quanta offset;
    struct tag_heap heap;
    uint64_t weights;  /* sum of the weights of its members */
    uint64_t num, den; /* what its members have in common: cap / weight, or m / 1 */
    uint32_t resource; /* of a free group: the next free one */
    uint8_t priority;
    bool pooled;
    bool is_stale;   /* due_ns has to be found anew */
    sim_quanta caps; /* sum of the caps of its members */
    int64_t due_ns;  /* when its first member ends, by its own clock */
    struct service_clock clock;
};

enum resource_mode { RESOURCE_OWN, RESOURCE_SHARED, RESOURCE_FLOW };

/* By cache lines: what all change that come and go, the pool, what is due, the filling. */
struct activity_resource {
    _Alignas(ACTIVITY_LINE) sim_quanta demand; /* sum of `wanted` of all that use it */
    sim_quanta delivered; /* by those gone, and by the others until they were last settled */
    uint64_t capacity;
    uint32_t weights;    /* sum of weights (turns: and of switches) */
    uint32_t head, tail; /* hooks */
    uint32_t count;
    uint32_t networked; /* of them, those that use other resources too */
    uint8_t share;      /* enum sim_share */
    uint8_t mode;       /* enum resource_mode */
    bool is_dirty;      /* waits for the settlement */
    bool was_bound;     /* flow: it took part in the last filling */
    struct service_clock pool;
    union { /* in the order in which they are served */
        uint32_t few[RESOURCE_FEW_GROUPS];
        uint32_t *many;
    } groups;
    uint32_t group_count, group_capacity; /* beyond RESOURCE_FEW_GROUPS: many */
    sim_handle event; /* the first end of a tagged activity; none when they are endless */
    int64_t due_ns;   /* of `event` */
    uint32_t visit;   /* the rest is of a filling */
    uint32_t version;
    uint64_t left;
    uint64_t left_weights;
    uint32_t taken_weights;
    uint32_t first; /* slot that most likely ends at `event`: fetched before */
};

/* What a filling finds for an activity. */
struct flow_found {
    uint64_t rate;  /* SIM_UNCAPPED: to be found */
    uint32_t home;  /* the resource found to limit it */
    uint32_t visit; /* the filling that saw it last */
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
    struct activity *list;        /* this and the next four by slot */
    struct activity_terms *terms; /* from here on only where there are resources */
    struct activity_hook *hooks;
    uint32_t *places;         /* in the heap of the group */
    struct flow_found *found; /* only where there are flows */
    struct further_hook *further;
    struct activity_resource *resources;
    struct activity_group *groups;
    struct sim_ended *ended;
    struct activity_ending *ending;
    struct activity_index dirty;   /* resources */
    struct activity_index links;   /* of the component being filled */
    struct activity_index flows;   /* slots of those on them */
    struct activity_index touched; /* links whose share has changed */
    struct flow_share *shares;     /* heap of the filling */
    uint64_t created, running, stale;
    weir_status fault; /* out of memory where no status can be returned */
    uint32_t list_count, list_capacity, list_free;
    uint32_t terms_capacity; /* of hooks and places too */
    uint32_t found_capacity;
    uint32_t further_count, further_capacity;
    uint32_t further_free[SIM_ACTIVITY_RESOURCES]; /* by length of the run */
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

/* Room for `wanted` records of `size` bytes; new ones are zeros. */
bool activity_array_reserve(void **array, uint32_t *capacity, size_t size, uint32_t wanted);
bool activity_array_grow(void **array, uint32_t *capacity, size_t size);
bool activity_index_push(struct activity_index *index, uint32_t entry);
/* A slot never used before. */
uint32_t activity_slot_fresh(struct sim_activities *activities);
/* Terms and hooks for the activity, in no list yet. */
weir_status activity_terms_take(struct sim_activities *activities, uint32_t slot,
                                const struct sim_activity_spec *spec);
void activity_terms_give(struct sim_activities *activities, uint32_t slot);

static inline sim_handle activity_handle(const struct sim_activities *activities, uint32_t slot)
{
    return (sim_handle)activities->list[slot].generation << 32 | (slot + 1);
}

/* The slot of a live handle, ACTIVITY_NONE for any other. */
static inline uint32_t activity_slot(const struct sim_activities *activities, sim_handle handle)
{
    const uint32_t slot = (uint32_t)handle - 1;
    if (slot >= activities->list_count || activity_handle(activities, slot) != handle)
        return ACTIVITY_NONE;
    return slot;
}

static inline uint32_t activity_slot_take(struct sim_activities *activities)
{
    const uint32_t slot = activities->list_free;
    if (slot == ACTIVITY_NONE)
        return activity_slot_fresh(activities);
    activities->list_free = activities->list[slot].resource;
    return slot;
}

static inline void activity_slot_give(struct sim_activities *activities, uint32_t slot)
{
    struct activity *activity = &activities->list[slot];
    activity->generation++;
    activity->resource = activities->list_free;
    activities->list_free = slot;
}

static inline struct activity_hook *activity_hook(const struct sim_activities *activities,
                                                  uint32_t hook)
{
    return hook & ACTIVITY_FURTHER ? &activities->further[hook & ~ACTIVITY_FURTHER].hook
                                   : &activities->hooks[hook];
}

/* Enters a hook in the list of its resource, or takes it out. */
static inline void activity_hook_append(struct sim_activities *activities,
                                        struct activity_resource *resource, uint32_t hook)
{
    struct activity_hook *appended = activity_hook(activities, hook);
    appended->next = ACTIVITY_NONE;
    appended->previous = resource->tail;
    if (resource->tail == ACTIVITY_NONE)
        resource->head = hook;
    else
        activity_hook(activities, resource->tail)->next = hook;
    resource->tail = hook;
    resource->count++;
}

static inline void activity_hook_remove(struct sim_activities *activities,
                                        struct activity_resource *resource, uint32_t hook)
{
    const struct activity_hook removed = *activity_hook(activities, hook);
    if (removed.previous == ACTIVITY_NONE)
        resource->head = removed.next;
    else
        activity_hook(activities, removed.previous)->next = removed.next;
    if (removed.next == ACTIVITY_NONE)
        resource->tail = removed.previous;
    else
        activity_hook(activities, removed.next)->previous = removed.previous;
    resource->count--;
}

static inline uint32_t hook_next(const struct sim_activities *activities, uint32_t hook)
{
    return activity_hook(activities, hook)->next;
}

/* The slot of the activity whose hook it is. */
static inline uint32_t hook_activity(const struct sim_activities *activities, uint32_t hook)
{
    return hook & ACTIVITY_FURTHER ? activities->further[hook & ~ACTIVITY_FURTHER].activity : hook;
}

/* The hook of the activity in the list of its resource `which`. */
static inline uint32_t terms_hook(const struct activity_terms *terms, uint32_t slot, uint32_t which)
{
    return which == 0 ? slot : ACTIVITY_FURTHER | (terms->further + which - 1);
}

static inline uint32_t terms_index(const struct sim_activities *activities,
                                   const struct activity_terms *terms, uint32_t which)
{
    return which == 0 ? activities->list[terms - activities->terms].resource
                      : activities->further[terms->further + which - 1].resource;
}

static inline struct activity_resource *terms_resource(const struct sim_activities *activities,
                                                       const struct activity_terms *terms,
                                                       uint32_t which)
{
    return &activities->resources[terms_index(activities, terms, which)];
}

static inline const uint32_t *resource_groups(const struct activity_resource *resource)
{
    return resource->group_capacity > RESOURCE_FEW_GROUPS ? resource->groups.many
                                                          : resource->groups.few;
}

/* What the end of an activity touches lies far apart: it comes while something else is done. (As a
 * function of its own gcc would take it for one without effect.) */
__attribute__((always_inline)) static inline void activity_fetch(
    const struct sim_activities *activities, uint32_t slot)
{
    __builtin_prefetch(&activities->list[slot], 1);
    if (slot >= activities->terms_capacity)
        return;
    __builtin_prefetch(&activities->terms[slot], 1);
    __builtin_prefetch(&activities->hooks[slot], 1);
}

static inline bool activity_is_tagged(const struct sim_activities *activities, uint32_t slot)
{
    return activities->list[slot].resources > 0 && activities->terms[slot].group != ACTIVITY_NONE;
}

/* Whether the resource is scarce with these sums. */
static inline bool is_scarce_with(const struct activity_resource *resource, sim_quanta demand,
                                  uint64_t weights, uint32_t count)
{
    if (resource->share == SIM_SHARE_BANDWIDTH)
        return weights > SIM_BANDWIDTH_WHOLE;
    if (resource->share == SIM_SHARE_TURNS)
        return count > 1;
    return demand > resource->capacity;
}

static inline bool resource_is_scarce(const struct activity_resource *resource)
{
    return is_scarce_with(resource, resource->demand, resource->weights, resource->count);
}

/* --- activity_run.c: how an activity is carried ---------------------------------------------- */

/* Work that one carried on its own has done since since_ns. */
static inline sim_quanta activity_own_done(const struct sim_activities *activities,
                                           const struct activity *activity)
{
    const int64_t now_ns = sim_engine_now(activities->engine);
    const sim_quanta done = (sim_quanta)activity->rate * (uint64_t)(now_ns - activity->since_ns);
    return done < activity->work ? done : activity->work;
}

int64_t activity_own_end_ns(const struct sim_activities *activities, uint32_t slot);
sim_quanta activity_left(const struct sim_activities *activities, uint32_t slot);
/* Work done since `work` was what was left. */
sim_quanta activity_done(const struct sim_activities *activities, uint32_t slot);
/* Makes `work` what is left now, of one carried on its own or about to be. */
void activity_settle(struct sim_activities *activities, uint32_t slot);
/* Begins to carry it on its own, with an event at its end. It has none, and is settled. */
void activity_begin(struct sim_activities *activities, uint32_t slot, uint64_t rate);
/* Carries it on its own at `rate`; the same again is no change. */
void activity_run(struct sim_activities *activities, uint32_t slot, uint64_t rate);
/* Makes it stand still with no event, out of any group. */
void activity_halt(struct sim_activities *activities, uint32_t slot);
/* What is left of one whose end event has come is done; it is to be removed. */
void activity_end_own(struct sim_activities *activities, uint32_t slot);
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
