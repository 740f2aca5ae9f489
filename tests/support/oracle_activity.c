/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/oracle_activity.h"

static uint32_t weight_in_use(const struct oracle_resource *resource,
                              const struct oracle_activity *activity)
{
    switch (resource->share) {
    case SIM_SHARE_WEIGHTS:
        return activity->weight;
    case SIM_SHARE_TURNS:
        return activity->weight + activity->turn_cost;
    case SIM_SHARE_BANDWIDTH:
        return activity->weight / (SIM_BANDWIDTH_WHOLE / 10);
    }
    return 0;
}

uint32_t oracle_weights(const struct oracle_resource *resource)
{
    uint32_t weights = 0;
    for (uint32_t i = 0; i < resource->count; i++)
        weights += resource->list[i].lives ? weight_in_use(resource, &resource->list[i]) : 0;
    return weights;
}

static void rates_of_turns(struct oracle_resource *resource)
{
    const uint32_t round = oracle_weights(resource);
    uint32_t count = 0;
    for (uint32_t i = 0; i < resource->count; i++)
        count += resource->list[i].lives;
    for (uint32_t i = 0; round > 0 && i < resource->count; i++) {
        struct oracle_activity *activity = &resource->list[i];
        const sim_quanta whole = (sim_quanta)resource->capacity * resource->scale;
        const sim_quanta cap =
            activity->cap == SIM_UNCAPPED ? whole : (sim_quanta)activity->cap * resource->scale;
        activity->rate = count == 1 ? whole : whole / round * activity->weight;
        activity->rate = cap < activity->rate ? cap : activity->rate;
    }
}

/* m is 0, a half or 1. */
static void rates_of_bandwidth(struct oracle_resource *resource)
{
    const uint32_t tenths = oracle_weights(resource) > 10 ? oracle_weights(resource) : 10;
    for (uint32_t i = 0; i < resource->count; i++) {
        struct oracle_activity *activity = &resource->list[i];
        const uint64_t cap =
            activity->cap < resource->capacity ? activity->cap : resource->capacity;
        const sim_quanta alone = (sim_quanta)cap * resource->scale;
        activity->rate = alone;
        if (activity->bound_mille == 500)
            activity->rate = alone / (10 + tenths) * 20;
        if (activity->bound_mille == 1000)
            activity->rate = alone / tenths * 10;
    }
}

static bool is_unfixed(const struct oracle_activity *activity, uint32_t level)
{
    return activity->lives && activity->priority == level && activity->rate == ~(sim_quanta)0;
}

/* Whoever asks for no more than its part gets its cap; when nobody does, all get their part. */
static uint64_t level_rates(struct oracle_resource *resource, uint32_t level, uint64_t left)
{
    for (;;) {
        uint64_t weights = 0;
        for (uint32_t i = 0; i < resource->count; i++)
            weights += is_unfixed(&resource->list[i], level) ? resource->list[i].weight : 0;
        if (weights == 0)
            return left;
        uint32_t i = 0;
        while (i < resource->count && !(is_unfixed(&resource->list[i], level) &&
                                        (sim_quanta)resource->list[i].cap * weights <=
                                            (sim_quanta)left * resource->list[i].weight))
            i++;
        if (i == resource->count) {
            for (i = 0; i < resource->count; i++) {
                struct oracle_activity *activity = &resource->list[i];
                if (is_unfixed(activity, level))
                    activity->rate =
                        (sim_quanta)left * (resource->scale / weights) * activity->weight;
            }
            return 0;
        }
        resource->list[i].rate = (sim_quanta)resource->list[i].cap * resource->scale;
        left -= resource->list[i].cap;
    }
}

static void rates_of_weights(struct oracle_resource *resource)
{
    for (uint32_t i = 0; i < resource->count; i++)
        resource->list[i].rate = ~(sim_quanta)0;
    uint64_t left = resource->capacity;
    for (uint32_t level = 0; level < 4; level++)
        left = level_rates(resource, level, left);
}

static void find_rates(struct oracle_resource *resource)
{
    switch (resource->share) {
    case SIM_SHARE_WEIGHTS:
        rates_of_weights(resource);
        break;
    case SIM_SHARE_TURNS:
        rates_of_turns(resource);
        break;
    case SIM_SHARE_BANDWIDTH:
        rates_of_bandwidth(resource);
        break;
    }
}

void oracle_start(struct oracle_resource *resource, const struct sim_activity_spec *spec)
{
    resource->list[resource->count++] = (struct oracle_activity){
        .lives = true,
        .left = spec->work * resource->scale,
        .cap = spec->cap_qpns,
        .weight = spec->weight,
        .turn_cost = spec->turn_cost,
        .bound_mille = spec->bound_mille,
        .priority = spec->priority,
        .end_ns = -1,
    };
}

/* The first ns by `to_ns` at which somebody ends; to_ns when nobody does. */
static int64_t next_ns(const struct oracle_resource *resource, int64_t to_ns)
{
    const sim_quanta gap = (sim_quanta)(uint64_t)(to_ns - resource->now_ns);
    sim_quanta least = gap;
    for (uint32_t i = 0; i < resource->count; i++) {
        const struct oracle_activity *activity = &resource->list[i];
        if (!activity->lives || (activity->rate == 0 && activity->left > 0))
            continue;
        const sim_quanta ns = activity->left == 0 ? 0 : (activity->left - 1) / activity->rate + 1;
        least = ns < least ? ns : least;
    }
    return resource->now_ns + (int64_t)least;
}

static void elapse(struct oracle_resource *resource, int64_t to_ns)
{
    const uint64_t elapsed = (uint64_t)(to_ns - resource->now_ns);
    resource->now_ns = to_ns;
    for (uint32_t i = 0; i < resource->count; i++) {
        struct oracle_activity *activity = &resource->list[i];
        if (!activity->lives)
            continue;
        const sim_quanta done = activity->rate * elapsed;
        activity->left -= done < activity->left ? done : activity->left;
        if (activity->left > 0)
            continue;
        activity->lives = false;
        activity->end_ns = to_ns;
        resource->ended[resource->ended_count++] = i;
    }
}

void oracle_advance(struct oracle_resource *resource, int64_t to_ns)
{
    find_rates(resource);
    for (;;) {
        const int64_t next = next_ns(resource, to_ns);
        const uint32_t before = resource->ended_count;
        elapse(resource, next);
        if (next == to_ns && before == resource->ended_count)
            return;
        find_rates(resource);
    }
}

sim_quanta oracle_left(const struct oracle_resource *resource, uint32_t index)
{
    const struct oracle_activity *activity = &resource->list[index];
    return activity->lives ? (activity->left + resource->scale - 1) / resource->scale : 0;
}
