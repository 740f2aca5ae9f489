/* SPDX-License-Identifier: Apache-2.0 */
/* What is free from when on; see profile.h. */
#include "sched/queueing/parts/profile.h"

#include "sched/internal/alloc.h"

#include <string.h>

typedef struct weir_profile_block block;

static struct weir_room plus(struct weir_room a, struct weir_room b)
{
    return (struct weir_room){ a.gpu_units + b.gpu_units, a.cpu_units + b.cpu_units };
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool holds(struct weir_room room, struct weir_room need)
{
    return room.gpu_units >= need.gpu_units && room.cpu_units >= need.cpu_units;
}

static void sum_up(block *at)
{
    struct weir_room least = at->free[0];
    struct weir_room most = at->free[0];

    for (uint32_t i = 1; i < at->count; i++) {
        least.gpu_units = lesser(least.gpu_units, at->free[i].gpu_units);
        least.cpu_units = lesser(least.cpu_units, at->free[i].cpu_units);
        most.gpu_units = larger(most.gpu_units, at->free[i].gpu_units);
        most.cpu_units = larger(most.cpu_units, at->free[i].cpu_units);
    }
    at->least = plus(least, at->more);
    at->most = plus(most, at->more);
}

/* ---- blocks ---- */

void weir_profile_open(struct weir_profile *profile, const struct weir_allocator *allocator)
{
    *profile = (struct weir_profile){ .allocator = *allocator };
}

void weir_profile_close(struct weir_profile *profile)
{
    for (uint32_t i = 0; i < profile->made; i++)
        weir_free(&profile->allocator, profile->blocks[i]);
    weir_free(&profile->allocator, profile->blocks);
}

/* Room for one more block. */
static weir_status reserve(struct weir_profile *profile)
{
    if (profile->made > profile->count)
        return WEIR_OK;
    WEIR_ROOM(&profile->allocator, profile->blocks, profile->capacity, profile->made + 1);
    profile->blocks[profile->made] = weir_alloc(&profile->allocator, 1, sizeof *profile->blocks[0]);
    if (profile->blocks[profile->made] == NULL)
        return WEIR_ENOMEM;
    profile->made++;
    return WEIR_OK;
}

/* An empty one, which is there, at this place. */
static block *insert_block(struct weir_profile *profile, uint32_t place)
{
    block *const fresh = profile->blocks[profile->count];

    memmove(profile->blocks + place + 1, profile->blocks + place,
            (profile->count - place) * sizeof *profile->blocks);
    profile->blocks[place] = fresh;
    profile->count++;
    fresh->count = 0;
    fresh->more = (struct weir_room){ 0 };
    return fresh;
}

weir_status weir_profile_begin(struct weir_profile *profile, int64_t origin_ns,
                               struct weir_room free)
{
    profile->count = 0;
    WEIR_TRY(reserve(profile));
    block *const first = insert_block(profile, 0);
    first->count = 1;
    first->at_ns[0] = origin_ns;
    first->free[0] = free;
    sum_up(first);
    return WEIR_OK;
}

/* The block that has the step in force at this instant, which is not before the origin. */
static uint32_t block_of(const struct weir_profile *profile, int64_t at_ns)
{
    uint32_t low = 0;
    uint32_t high = profile->count;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (profile->blocks[middle]->at_ns[0] <= at_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t step_of(const block *at, int64_t at_ns)
{
    uint32_t low = 0;
    uint32_t high = at->count;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (at->at_ns[middle] <= at_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The upper half goes to a block of its own. */
static void halve(struct weir_profile *profile, uint32_t place)
{
    block *const upper = insert_block(profile, place + 1);
    block *const lower = profile->blocks[place];
    const uint32_t kept = lower->count / 2;

    upper->count = lower->count - kept;
    upper->more = lower->more;
    memcpy(upper->at_ns, lower->at_ns + kept, upper->count * sizeof *upper->at_ns);
    memcpy(upper->free, lower->free + kept, upper->count * sizeof *upper->free);
    lower->count = kept;
    sum_up(lower);
    sum_up(upper);
}

/* Makes a step begin at this instant; it changes nothing. There is room for a block. */
static void cut(struct weir_profile *profile, int64_t at_ns)
{
    uint32_t place = block_of(profile, at_ns);

    if (profile->blocks[place]->count == WEIR_PROFILE_BLOCK) {
        halve(profile, place);
        place = block_of(profile, at_ns);
    }
    block *const at = profile->blocks[place];
    const uint32_t step = step_of(at, at_ns);
    if (at->at_ns[step] == at_ns)
        return;
    memmove(at->at_ns + step + 2, at->at_ns + step + 1, (at->count - step - 1) * sizeof *at->at_ns);
    memmove(at->free + step + 2, at->free + step + 1, (at->count - step - 1) * sizeof *at->free);
    at->at_ns[step + 1] = at_ns;
    at->free[step + 1] = at->free[step];
    at->count++;
}

static void add_within(block *at, int64_t from_ns, int64_t to_ns, struct weir_room more)
{
    for (uint32_t i = 0; i < at->count; i++)
        if (at->at_ns[i] >= from_ns && at->at_ns[i] < to_ns)
            at->free[i] = plus(at->free[i], more);
    sum_up(at);
}

weir_status weir_profile_add(struct weir_profile *profile, int64_t from_ns, int64_t to_ns,
                             struct weir_room more)
{
    if (from_ns < profile->blocks[0]->at_ns[0])
        from_ns = profile->blocks[0]->at_ns[0];
    if (from_ns >= to_ns)
        return WEIR_OK;
    WEIR_TRY(reserve(profile));
    cut(profile, from_ns);
    if (to_ns != INT64_MAX) {
        WEIR_TRY(reserve(profile));
        cut(profile, to_ns);
    }
    for (uint32_t b = block_of(profile, from_ns);
         b < profile->count && profile->blocks[b]->at_ns[0] < to_ns; b++) {
        block *const at = profile->blocks[b];
        const bool is_whole = at->at_ns[0] >= from_ns && b + 1 < profile->count &&
                              profile->blocks[b + 1]->at_ns[0] <= to_ns;
        if (!is_whole) {
            add_within(at, from_ns, to_ns, more);
            continue;
        }
        at->more = plus(at->more, more);
        at->least = plus(at->least, more);
        at->most = plus(at->most, more);
    }
    return WEIR_OK;
}

void weir_profile_advance(struct weir_profile *profile, int64_t now_ns)
{
    if (profile->blocks[0]->at_ns[0] >= now_ns)
        return;
    const uint32_t gone = block_of(profile, now_ns);
    for (uint32_t i = 0; i < gone; i++) { /* to the end, for later */
        block *const first = profile->blocks[0];
        memmove(profile->blocks, profile->blocks + 1,
                (profile->count - 1) * sizeof *profile->blocks);
        profile->blocks[--profile->count] = first;
    }
    block *const at = profile->blocks[0];
    const uint32_t step = step_of(at, now_ns);
    at->count -= step;
    memmove(at->at_ns, at->at_ns + step, at->count * sizeof *at->at_ns);
    memmove(at->free, at->free + step, at->count * sizeof *at->free);
    at->at_ns[0] = now_ns;
    sum_up(at);
}

/* ---- questions ---- */

struct weir_room weir_profile_at(const struct weir_profile *profile, int64_t at_ns)
{
    const block *const at = profile->blocks[block_of(profile, at_ns)];

    return plus(at->free[step_of(at, at_ns)], at->more);
}

/* Goes through the steps of a block: *since_ns is the begin of the present hole, INT64_MAX = none;
 * no hole begins before `from_ns`. True when the hole is long enough before the last step of the
 * block ends. */
static bool search_block(const block *at, struct weir_room need, int64_t duration_ns,
                         int64_t from_ns, int64_t *since_ns)
{
    const struct weir_room wanted = { need.gpu_units - at->more.gpu_units,
                                      need.cpu_units - at->more.cpu_units };

    for (uint32_t i = from_ns > at->at_ns[0] ? step_of(at, from_ns) : 0; i < at->count; i++) {
        if (*since_ns != INT64_MAX && at->at_ns[i] - *since_ns >= duration_ns)
            return true;
        if (!holds(at->free[i], wanted))
            *since_ns = INT64_MAX;
        else if (*since_ns == INT64_MAX)
            *since_ns = at->at_ns[i] > from_ns ? at->at_ns[i] : from_ns;
    }
    return false;
}

int64_t weir_profile_find_from(const struct weir_profile *profile, int64_t from_ns,
                               struct weir_room need, int64_t duration_ns)
{
    int64_t since_ns = INT64_MAX;

    for (uint32_t b = block_of(profile, from_ns); b < profile->count; b++) {
        const block *const at = profile->blocks[b];
        if (since_ns != INT64_MAX && at->at_ns[0] - since_ns >= duration_ns)
            return since_ns;
        if (!holds(at->most, need)) /* no step of it is a hole */
            since_ns = INT64_MAX;
        else if (!holds(at->least, need) || since_ns == INT64_MAX) {
            if (search_block(at, need, duration_ns, from_ns, &since_ns))
                return since_ns;
        }
    }
    return since_ns;
}

int64_t weir_profile_find(const struct weir_profile *profile, struct weir_room need,
                          int64_t duration_ns)
{
    return weir_profile_find_from(profile, profile->blocks[0]->at_ns[0], need, duration_ns);
}

int64_t weir_profile_until(const struct weir_profile *profile, int64_t from_ns,
                           struct weir_room need)
{
    for (uint32_t b = block_of(profile, from_ns); b < profile->count; b++) {
        const block *const at = profile->blocks[b];
        if (holds(at->least, need))
            continue;
        for (uint32_t i = from_ns > at->at_ns[0] ? step_of(at, from_ns) : 0; i < at->count; i++)
            if (!holds(plus(at->free[i], at->more), need))
                return at->at_ns[i] > from_ns ? at->at_ns[i] : from_ns;
    }
    return INT64_MAX;
}
