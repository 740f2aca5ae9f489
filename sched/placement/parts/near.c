/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs near one another; see near.h. */
#include "sched/placement/parts/near.h"

enum { LEVELS = 2 };

struct search {
    const struct weir_near_query *query;
    weir_near_visit visit;
    void *state;
    uint32_t size[LEVELS]; /* GPUs of an island, of a socket; 0 = there is one of it */
};

/* GPUs `from` .. `from` + `count` - 1. */
static uint64_t bits(uint32_t from, uint32_t count)
{
    return (count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << from;
}

static uint32_t count_of(uint64_t gpus)
{
    return (uint32_t)__builtin_popcountll(gpus);
}

/* Those of the groups at a level that `gpus` touch. */
static uint64_t groups_of(const struct search *search, uint32_t level, uint64_t gpus)
{
    const uint32_t size = search->size[level];
    uint64_t touched = 0;

    for (uint32_t g = 0; size > 0 && g < search->query->gpu_count; g += size)
        touched |= (gpus & bits(g, size)) != 0 ? bits(g, size) : 0;
    return touched;
}

/* What tells groups apart, smaller is better. */
struct rank {
    bool is_elsewhere; /* than the job is */
    bool is_apart;     /* from what is taken */
    bool is_short;     /* of CPUs on the sockets of its GPUs */
    uint32_t room;
};

static bool is_better(const struct rank *a, const struct rank *b)
{
    if (a->is_elsewhere != b->is_elsewhere)
        return b->is_elsewhere;
    if (a->is_apart != b->is_apart)
        return b->is_apart;
    if (a->is_short != b->is_short)
        return b->is_short;
    return a->room < b->room;
}

/* The tightest that holds `coming` comes first, then those with most room. */
static uint32_t room_rank(uint32_t free, uint32_t coming)
{
    return free >= coming ? free : 2 * WEIR_MAX_NODE_GPUS - free;
}

/* Whether the sockets of these GPUs have too few CPUs for the worker. */
static bool is_short(const struct search *search, uint64_t gpus)
{
    const struct weir_near_query *const query = search->query;
    const uint32_t size = search->size[LEVELS - 1];
    int64_t sum = 0;

    if (query->cpu_free == NULL || size == 0)
        return false;
    for (uint32_t g = 0; g < query->gpu_count; g += size)
        sum += (gpus & bits(g, size)) != 0 ? query->cpu_free[g / size] : 0;
    return sum < query->cpu_wanted;
}

/* The best group of `left` with room for `least`, 0 = none. */
static uint64_t best_group(const struct search *search, uint32_t level, uint64_t left,
                           const struct weir_near_set *set, uint32_t least)
{
    const struct weir_near_query *const query = search->query;
    const uint64_t beside = groups_of(search, LEVELS - 1 - level, set->fixed | query->mine);
    const uint32_t taken = count_of(set->fixed);
    struct rank best = { .room = UINT32_MAX };
    uint64_t found = 0;

    for (uint32_t g = 0; g < query->gpu_count; g += search->size[level]) {
        const uint64_t group = bits(g, search->size[level]);
        const uint32_t free = count_of(group & left);
        const struct rank rank = {
            .is_elsewhere = (group & query->mine) == 0,
            .is_apart = beside != 0 && (group & beside) == 0,
            .is_short = is_short(search, set->fixed | (group & left)),
            .room = room_rank(free, query->coming > taken ? query->coming - taken : 0),
        };
        if (free < least || (found != 0 && !is_better(&rank, &best)))
            continue;
        best = rank;
        found = group;
    }
    return found;
}

/* The group with most room, beside what is taken if there is a choice. */
static uint64_t largest_group(const struct search *search, uint32_t level,
                              const struct weir_near_set *set)
{
    const uint64_t beside = groups_of(search, LEVELS - 1 - level, set->fixed | search->query->mine);
    uint32_t most = 0;
    uint64_t found = 0;

    for (uint32_t g = 0; g < search->query->gpu_count; g += search->size[level]) {
        const uint64_t group = bits(g, search->size[level]);
        const uint32_t free = count_of(group & set->open);
        const uint32_t room = 2 * free + ((group & beside) != 0);
        if (free > 0 && room > most) {
            most = room;
            found = group;
        }
    }
    return found;
}

/* Chooses groups at `level` and below; false = stopped. */
static bool visit_level(const struct search *search, uint32_t level, struct weir_near_set set)
{
    if (level == LEVELS)
        return search->visit(search->state, &set);
    if (search->size[level] == 0)
        return visit_level(search, level + 1, set);
    uint64_t group = largest_group(search, level, &set);
    while (group != 0 && count_of(group & set.open) < set.missing) {
        set.fixed |= group & set.open;
        set.missing -= count_of(group & set.open);
        set.open &= ~group;
        group = largest_group(search, level, &set);
    }
    for (uint64_t left = set.open;; left &= ~group) {
        group = best_group(search, level, left, &set, set.missing);
        if (group == 0)
            return true;
        const struct weir_near_set inside = { .fixed = set.fixed,
                                              .open = set.open & group,
                                              .missing = set.missing };
        if (!visit_level(search, level + 1, inside))
            return false;
    }
}

void weir_near_each(const struct weir_near_query *query, weir_near_visit visit, void *state)
{
    const struct weir_topology *const topology = query->topology;
    const uint32_t sockets =
        topology->sockets < query->gpu_count ? topology->sockets : query->gpu_count;
    const uint32_t islands = topology->island_gpus;
    const struct search search = {
        .query = query,
        .visit = visit,
        .state = state,
        .size = { islands < query->gpu_count ? islands : 0,
                  sockets > 1 ? query->gpu_count / sockets : 0 },
    };
    const struct weir_near_set all = { .open = query->usable, .missing = query->wanted };

    (void)visit_level(&search, 0, all);
}
