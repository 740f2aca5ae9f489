/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One scarce resource: classes, what each of them gets, the next end.
 *
 * Idea: the activities of a resource fall into classes of equal cap per weight (within a priority).
 * Weighted max-min gives every class a rate per unit of weight: in ascending order of its cap, a
 * class that asks for no more than its part of what is left gets its cap, the others share the rest
 * in proportion to their weights (progressive filling on one link: Bertsekas and Gallager, Data
 * Networks, 1992, 6.5.2; with equal caps egalitarian, with weights discriminatory processor
 * sharing: Fayolle, Mitrani and Iasnogorodski, JACM 27(3), 1980). Priorities are filled level after
 * level. So only classes are looked at when something changes, never their members.
 *
 * Those that share the rest have one rate, so they have one clock, the pool of the resource; a
 * class that joins the pool takes an offset along. A class with its cap, or with nothing, has its
 * own clock. Turns are classes in the pool but for those with a low cap; the law of bandwidth is a
 * class for each m.
 *
 * Invariant: the sum of the rates, as fractions, is at most the capacity: a capped class takes the
 * sum of its caps, whole; the pool takes what is left. A class that moves between clocks loses less
 * than a quantum per unit of weight and gains none.
 *
 * Cost: O(classes) with a few operations each, and O(log members of the class), a change.
 */
#include "sim/engine/activity_heap.h"
#include "sim/engine/activity_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SHIFT_OF_BANDWIDTH = 24, TAGS_AHEAD = 4 + 16 /* two levels of the heap */ };

static const sim_quanta LEAD = (sim_quanta)1 << 20; /* not below any grace */

/* --- classes --------------------------------------------------------------------------------- */

struct class_key {
    uint64_t num, den;
    uint8_t priority;
};

static struct class_key class_of(const struct activity_resource *resource,
                                 const struct activity_terms *terms)
{
    switch ((enum sim_share)resource->share) {
    case SIM_SHARE_WEIGHTS:
    case SIM_SHARE_TURNS:
        if (terms->cap != SIM_UNCAPPED)
            return (struct class_key){ terms->cap, terms->weight, terms->priority };
        break;
    case SIM_SHARE_BANDWIDTH:
        return (struct class_key){ terms->bound_mille, 1, 0 };
    }
    return (struct class_key){ SIM_UNCAPPED, 1, terms->priority };
}

/* Negative, 0, positive: the key comes before, is that of, comes after the group's. */
static int class_compare(struct class_key key, const struct activity_group *group)
{
    if (key.priority != group->priority)
        return key.priority < group->priority ? -1 : 1;
    const sim_quanta own = (sim_quanta)key.num * group->den;
    const sim_quanta other = (sim_quanta)group->num * key.den;
    return own < other ? -1 : own > other;
}

/* Room for one more group of the resource: its list, NULL when out of memory. */
static uint32_t *groups_reserve(struct activity_resource *resource)
{
    if (resource->group_capacity < RESOURCE_FEW_GROUPS)
        resource->group_capacity = RESOURCE_FEW_GROUPS;
    const bool is_few = resource->group_capacity == RESOURCE_FEW_GROUPS;
    uint32_t *list = is_few ? resource->groups.few : resource->groups.many;
    if (resource->group_count < resource->group_capacity)
        return list;
    const uint32_t capacity = 2 * resource->group_capacity;
    uint32_t *grown = malloc(capacity * sizeof *grown);
    if (!grown)
        return NULL;
    memcpy(grown, list, resource->group_count * sizeof *grown);
    if (!is_few)
        free(list);
    resource->groups.many = grown;
    resource->group_capacity = capacity;
    return grown;
}

uint32_t activity_group_add(struct sim_activities *activities, uint32_t index, uint32_t at)
{
    struct activity_resource *resource = &activities->resources[index];
    uint32_t group = activities->groups_free;
    uint32_t *list = groups_reserve(resource);
    if (!list)
        return ACTIVITY_NONE;
    if (group != ACTIVITY_NONE) {
        activities->groups_free = activities->groups[group].resource;
    } else {
        if (activities->groups_count == activities->groups_capacity &&
            !activity_array_grow((void **)&activities->groups, &activities->groups_capacity,
                                 sizeof *activities->groups))
            return ACTIVITY_NONE;
        group = activities->groups_count++;
    }
    const int64_t now_ns = sim_engine_now(activities->engine);
    activities->groups[group] = (struct activity_group){
        .clock = service_clock_at(now_ns, LEAD),
        .heap = activities->groups[group].heap,
        .resource = index,
        .due_ns = SIM_TIME_MAX,
    };
    if (resource->group_count == 0)
        resource->pool = service_clock_at(now_ns, LEAD);
    memmove(&list[at + 1], &list[at], (resource->group_count - at) * sizeof *list);
    list[at] = group;
    resource->group_count++;
    return group;
}

static void group_give(struct sim_activities *activities, uint32_t group)
{
    assert(activities->groups[group].heap.count == 0 && activities->groups[group].weights == 0);
    activities->groups[group].resource = activities->groups_free;
    activities->groups_free = group;
}

void activity_groups_clear(struct sim_activities *activities, uint32_t index)
{
    struct activity_resource *resource = &activities->resources[index];
    for (uint32_t i = 0; i < resource->group_count; i++)
        group_give(activities, resource_groups(resource)[i]);
    resource->group_count = 0;
    if (resource->event != SIM_NO_HANDLE)
        (void)sim_engine_cancel(activities->engine, resource->event);
    resource->event = SIM_NO_HANDLE;
}

/* The class of `key`, made if there is none. */
static uint32_t class_find(struct sim_activities *activities, uint32_t index, struct class_key key)
{
    const struct activity_resource *resource = &activities->resources[index];
    uint32_t low = 0;
    uint32_t high = resource->group_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order =
            class_compare(key, &activities->groups[resource_groups(resource)[middle]]);
        if (order == 0)
            return resource_groups(resource)[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    const uint32_t group = activity_group_add(activities, index, low);
    if (group == ACTIVITY_NONE)
        return ACTIVITY_NONE;
    const uint64_t divisor = sim_greatest_divisor(key.num, key.den);
    activities->groups[group].num = key.num / divisor;
    activities->groups[group].den = key.den / divisor;
    activities->groups[group].priority = key.priority;
    return group;
}

weir_status activity_share_enter(struct sim_activities *activities, uint32_t slot)
{
    const struct activity_terms *terms = &activities->terms[slot];
    const uint32_t index = activities->list[slot].resource;
    const struct class_key key = class_of(&activities->resources[index], terms);
    const uint32_t group = class_find(activities, index, key);
    return group == ACTIVITY_NONE ? WEIR_ENOMEM : activity_enter_group(activities, slot, group);
}

weir_status activity_share_begin(struct sim_activities *activities, uint32_t index)
{
    activities->resources[index].mode = RESOURCE_SHARED;
    uint32_t hook = activities->resources[index].head;
    for (; hook != ACTIVITY_NONE; hook = hook_next(activities, hook)) {
        activity_halt(activities, hook_activity(activities, hook));
        WEIR_TRY(activity_share_enter(activities, hook_activity(activities, hook)));
    }
    activity_resource_dirty(activities, index);
    return WEIR_OK;
}

void activity_share_end(struct sim_activities *activities, uint32_t index)
{
    uint32_t hook = activities->resources[index].head;
    for (; hook != ACTIVITY_NONE; hook = hook_next(activities, hook))
        activity_halt(activities, hook_activity(activities, hook));
    activity_groups_clear(activities, index);
}

/* --- rates ------------------------------------------------------------------------------------ */

/* As fractions: a rate that only looks different changes nothing. */
static bool is_same_rate(const struct service_clock *clock, uint64_t num, uint64_t den)
{
    return (sim_quanta)clock->num * den == (sim_quanta)num * clock->den;
}

/* Gives the class a clock of its own with this rate per unit of weight. */
static void class_run_own(struct sim_activities *activities, uint32_t index, uint64_t num,
                          uint64_t den)
{
    struct activity_group *group = &activities->groups[index];
    if (!group->pooled && is_same_rate(&group->clock, num, den))
        return;
    bool carry = false;
    const sim_quanta attained = activity_group_attained(activities, index, &carry);
    if (group->pooled)
        group->clock = service_clock_at(sim_engine_now(activities->engine), attained);
    group->pooled = false;
    service_clock_set_rate(&group->clock, num, den);
    group->is_stale = true;
}

/* Puts the class on the clock of the pool. */
static void class_run_pooled(struct sim_activities *activities, uint32_t index)
{
    struct activity_group *group = &activities->groups[index];
    if (group->pooled)
        return;
    struct service_clock *pool = &activities->resources[group->resource].pool;
    bool carry = false;
    const sim_quanta attained = activity_group_attained(activities, index, &carry);
    service_clock_advance(pool, sim_engine_now(activities->engine));
    group->offset = attained - pool->attained - (pool->carry > 0 ? 1 : 0);
    group->pooled = true;
}

void activity_pool_set_rate(struct sim_activities *activities, struct activity_resource *resource,
                            uint64_t num, uint64_t den)
{
    if (is_same_rate(&resource->pool, num, den))
        return;
    service_clock_advance(&resource->pool, sim_engine_now(activities->engine));
    service_clock_set_rate(&resource->pool, num, den);
}

/* Sum of the weights of the classes of one priority, from position `from` on; its end in `end`. */
static uint64_t level_weights(const struct sim_activities *activities,
                              const struct activity_resource *resource, uint32_t from,
                              uint32_t *end)
{
    const struct activity_group *groups = activities->groups;
    const uint8_t priority = groups[resource_groups(resource)[from]].priority;
    uint64_t weights = 0;
    uint32_t i = from;
    for (; i < resource->group_count && groups[resource_groups(resource)[i]].priority == priority;
         i++)
        weights += groups[resource_groups(resource)[i]].weights;
    *end = i;
    return weights;
}

/* Water-filling of one priority with `left` quanta a ns; what remains. */
static uint64_t level_fill(struct sim_activities *activities, struct activity_resource *resource,
                           uint32_t from, uint32_t end, uint64_t left, uint64_t weights)
{
    uint32_t i = from;
    for (; i < end; i++) {
        const uint32_t index = resource_groups(resource)[i];
        const struct activity_group *group = &activities->groups[index];
        if (group->num == SIM_UNCAPPED ||
            (sim_quanta)group->num * weights > (sim_quanta)left * group->den)
            break;
        class_run_own(activities, index, group->num, group->den);
        left -= (uint64_t)group->caps;
        weights -= group->weights;
    }
    if (i == end)
        return left;
    for (; i < end; i++)
        class_run_pooled(activities, resource_groups(resource)[i]);
    activity_pool_set_rate(activities, resource, left, weights);
    return 0;
}

static void fill_weights(struct sim_activities *activities, struct activity_resource *resource)
{
    uint64_t left = resource->capacity;
    uint32_t from = 0;
    while (from < resource->group_count) {
        uint32_t end = from;
        const uint64_t weights = level_weights(activities, resource, from, &end);
        if (left > 0) {
            left = level_fill(activities, resource, from, end, left, weights);
        } else {
            for (uint32_t i = from; i < end; i++)
                class_run_own(activities, resource_groups(resource)[i], 0, 1);
        }
        from = end;
    }
}

/* The quantum of each over the round of all; who is alone has it all and pays no switch. Who has a
 * lower cap keeps his place in the round. */
static void fill_turns(struct sim_activities *activities, struct activity_resource *resource)
{
    const struct activity_group *first = &activities->groups[resource_groups(resource)[0]];
    const uint64_t round = resource->count == 1 ? first->weights : resource->weights;
    for (uint32_t i = 0; i < resource->group_count; i++) {
        const struct activity_group *group = &activities->groups[resource_groups(resource)[i]];
        const bool is_capped =
            group->num != SIM_UNCAPPED &&
            (sim_quanta)group->num * round <= (sim_quanta)resource->capacity * group->den;
        if (is_capped)
            class_run_own(activities, resource_groups(resource)[i], group->num, group->den);
        else
            class_run_pooled(activities, resource_groups(resource)[i]);
    }
    activity_pool_set_rate(activities, resource, resource->capacity, round);
}

/* Each at its own speed divided by (1 - m) + m B / K; clocks count 2^-24 ns of it. */
static void fill_bandwidth(struct sim_activities *activities, struct activity_resource *resource)
{
    const uint64_t whole = SIM_BANDWIDTH_WHOLE;
    const uint64_t asked = resource->weights > whole ? resource->weights : whole;
    for (uint32_t i = 0; i < resource->group_count; i++) {
        const uint64_t bound = activities->groups[resource_groups(resource)[i]].num;
        const uint64_t num = whole * SIM_BOUND_WHOLE;
        const uint64_t den = whole * (SIM_BOUND_WHOLE - bound) + asked * bound;
        const uint64_t divisor = sim_greatest_divisor(num, den);
        class_run_own(activities, resource_groups(resource)[i],
                      (num / divisor) << SHIFT_OF_BANDWIDTH, den / divisor);
    }
}

/* Classes nobody is in any more. */
static void classes_prune(struct sim_activities *activities, struct activity_resource *resource)
{
    uint32_t *list = resource->group_capacity > RESOURCE_FEW_GROUPS ? resource->groups.many
                                                                    : resource->groups.few;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < resource->group_count; i++) {
        const uint32_t group = list[i];
        if (activities->groups[group].heap.count > 0)
            list[kept++] = group;
        else
            group_give(activities, group);
    }
    resource->group_count = kept;
}

weir_status activity_share_fill(struct sim_activities *activities, uint32_t index)
{
    struct activity_resource *resource = &activities->resources[index];
    classes_prune(activities, resource);
    if (resource->group_count > 0) {
        switch ((enum sim_share)resource->share) {
        case SIM_SHARE_WEIGHTS:
            fill_weights(activities, resource);
            break;
        case SIM_SHARE_TURNS:
            fill_turns(activities, resource);
            break;
        case SIM_SHARE_BANDWIDTH:
            fill_bandwidth(activities, resource);
            break;
        }
    }
    return activity_share_schedule(activities, index);
}

/* --- ends ------------------------------------------------------------------------------------- */

/* A tag of a pooled class on the clock of the pool; one that is reached may lie before it began. */
static sim_quanta pool_tag_of(const struct service_clock *pool, const struct activity_group *group,
                              sim_quanta tag)
{
    const bool is_reached = tag <= pool->attained + group->offset;
    return is_reached ? pool->attained : tag - group->offset;
}

/* The first end of a resource, and whether there is any finite work to wait for. */
static int64_t first_end_ns(struct sim_activities *activities, struct activity_resource *resource,
                            bool *waits)
{
    int64_t due_ns = SIM_TIME_MAX;
    sim_quanta pool_tag = TAG_STILL;
    for (uint32_t i = 0; i < resource->group_count; i++) {
        struct activity_group *group = &activities->groups[resource_groups(resource)[i]];
        if (group->heap.count == 0 || group->heap.tags[0] == TAG_ENDLESS)
            continue;
        const sim_quanta tag = group->heap.tags[0];
        *waits = true;
        if (tag == TAG_STILL)
            continue;
        if (group->pooled) {
            const sim_quanta own = pool_tag_of(&resource->pool, group, tag);
            if (own < pool_tag) {
                pool_tag = own;
                resource->first = tag_heap_slots(&group->heap)[0];
            }
            continue;
        }
        if (group->is_stale)
            group->due_ns = service_clock_end_ns(&group->clock, tag);
        group->is_stale = false;
        due_ns = group->due_ns < due_ns ? group->due_ns : due_ns;
    }
    if (pool_tag == TAG_STILL)
        return due_ns;
    const int64_t pool_ns = service_clock_end_ns(&resource->pool, pool_tag);
    return pool_ns < due_ns ? pool_ns : due_ns;
}

weir_status activity_share_schedule(struct sim_activities *activities, uint32_t index)
{
    struct activity_resource *resource = &activities->resources[index];
    bool waits = false;
    const int64_t due_ns = first_end_ns(activities, resource, &waits);
    if (resource->event != SIM_NO_HANDLE) {
        if (!waits) {
            (void)sim_engine_cancel(activities->engine, resource->event);
            resource->event = SIM_NO_HANDLE;
        } else if (due_ns != resource->due_ns) {
            (void)sim_engine_reschedule(activities->engine, resource->event, due_ns);
        }
    } else if (waits) {
        const struct sim_event event = {
            .time_ns = due_ns,
            .argument = resource->count,
            .target = index | ACTIVITY_TARGET_RESOURCE,
            .kind = activities->kind,
            .phase = SIM_PHASE_COMPLETION,
        };
        resource->event = sim_engine_schedule(activities->engine, &event);
        if (resource->event == SIM_NO_HANDLE)
            return WEIR_ENOMEM;
    }
    resource->due_ns = due_ns;
    return WEIR_OK;
}

static int ending_compare(const void *left, const void *right)
{
    const struct activity_ending *a = left;
    const struct activity_ending *b = right;
    return a->number < b->number ? -1 : 1;
}

static weir_status ending_add(struct sim_activities *activities, uint32_t slot)
{
    if (activities->ending_count == activities->ending_capacity &&
        !activity_array_grow((void **)&activities->ending, &activities->ending_capacity,
                             sizeof *activities->ending))
        return WEIR_ENOMEM;
    activities->ending[activities->ending_count++] =
        (struct activity_ending){ activities->terms[slot].number, slot };
    return WEIR_OK;
}

weir_status activity_share_due(struct sim_activities *activities, uint32_t index)
{
    const struct activity_resource *resource = &activities->resources[index];
    activity_fetch(activities, resource->first);
    activities->ending_count = 0;
    for (uint32_t i = 0; i < resource->group_count; i++) {
        const uint32_t at = resource_groups(resource)[i];
        struct activity_group *group = &activities->groups[at];
        if (group->heap.count == 0)
            continue;
        for (uint32_t tag = 1; tag < group->heap.count && tag <= TAGS_AHEAD; tag += TAG_HEAP_WAYS)
            __builtin_prefetch(&group->heap.tags[tag], 1);
        bool carry = false;
        const sim_quanta attained = activity_group_attained(activities, at, &carry);
        while (group->heap.count > 0 && group->heap.tags[0] <= attained) {
            const uint32_t slot = tag_heap_slots(&group->heap)[0];
            WEIR_TRY(ending_add(activities, slot));
            activity_end_tagged(activities, slot, attained);
        }
    }
    if (activities->ending_count > 1)
        qsort(activities->ending, activities->ending_count, sizeof *activities->ending,
              ending_compare);
    return WEIR_OK;
}

int64_t activity_tagged_end_ns(const struct sim_activities *activities, uint32_t slot)
{
    const struct activity_terms *terms = &activities->terms[slot];
    const struct activity_group *group = &activities->groups[terms->group];
    const sim_quanta tag = group->heap.tags[activities->places[slot]];
    if (tag >= TAG_STILL)
        return SIM_TIME_MAX;
    if (!group->pooled)
        return service_clock_end_ns(&group->clock, tag);
    const struct service_clock *pool = &activities->resources[group->resource].pool;
    return service_clock_end_ns(pool, pool_tag_of(pool, group, tag));
}
