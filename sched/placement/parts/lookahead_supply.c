/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many come in the look-ahead of those that nodes would take: all nodes wait for the same jobs;
 * see lookahead.h.
 */
#include "sched/placement/parts/lookahead_state.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"

#include <math.h>
#include <string.h>

static const double anew = 0.8; /* as the free GPUs fall to this, or rise by it */
static const double least_share = 0.05;
static const double few = 0.67;         /* more than that may be noise of so few lines: all come */
static const double least_change = 0.1; /* likewise */

/* ---- types that are kept for others ---- */

static uint32_t bits_of(uint32_t types)
{
    const struct weir_shape shape = { .gpu_type = types };
    uint32_t bits = 0;

    for (uint32_t type = 0; type < WEIR_GPU_TYPE_SET_MOST; type++)
        bits |= (weir_shape_takes_type(&shape, type) ? UINT32_C(1) : 0) << type;
    return bits;
}

bool weir_types_within(uint32_t types, uint32_t others)
{
    const bool is_set = (types & WEIR_GPU_TYPE_SET) != 0;

    if (others == 0 || types == others)
        return true;
    if (types == 0 || (others & WEIR_GPU_TYPE_SET) == 0)
        return false;
    return is_set ? (types & ~others) == 0 : ((others >> (types - 1)) & 1) != 0;
}

static void find_types(struct weir_lookahead *ahead)
{
    for (uint32_t i = 0; i < ahead->offer_count; i++) {
        struct weir_offer *const offer = &ahead->offers[i];
        offer->accepts = bits_of(offer->shape->gpu_type);
        for (uint32_t k = 0; k < ahead->reserved_count; k++)
            if (!weir_types_within(offer->shape->gpu_type, ahead->reserved[k]))
                offer->accepts &= ~bits_of(ahead->reserved[k]);
    }
}

/* ---- groups ---- */

static bool are_alike(const struct weir_offer *offer, const struct weir_offer *other)
{
    return offer->gpu_units == other->gpu_units && offer->gpu_count == other->gpu_count &&
           offer->shape->gpu_type == other->shape->gpu_type && offer->is_slice == other->is_slice;
}

static void find_groups(struct weir_lookahead *ahead)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < ahead->offer_count; i++) {
        uint32_t j = 0;
        while (j < i && !are_alike(&ahead->offers[i], &ahead->offers[j]))
            j++;
        ahead->offers[i].group = j < i ? ahead->offers[j].group : count++;
    }
    ahead->group_count = count;
}

static void note_shortness(struct weir_lookahead *ahead)
{
    ahead->are_short = false;
    for (uint32_t g = 0; g < ahead->group_count && ahead->departures < 1; g++)
        ahead->are_short = ahead->are_short || ahead->groups[g].share < 1;
}

weir_status weir_lookahead_group(struct weir_lookahead *ahead)
{
    const uint32_t restored = ahead->group_count;
    struct weir_offer_group *const groups =
        weir_alloc(&ahead->allocator, ahead->offer_count, sizeof *groups);

    if (groups == NULL)
        return WEIR_ENOMEM;
    find_groups(ahead);
    find_types(ahead);
    const bool is_kept = ahead->groups != NULL && restored == ahead->group_count;
    for (uint32_t g = 0; g < ahead->group_count; g++)
        groups[g].share = is_kept ? ahead->groups[g].share : 1;
    if (!is_kept)
        ahead->free_before = -1;
    weir_free(&ahead->allocator, ahead->groups);
    ahead->groups = groups;
    note_shortness(ahead);
    ahead->round++;
    return WEIR_OK;
}

/* ---- no more than are to come ---- */

/* As far as jobs also end, what is missed comes back. Fractions are rounded to another side in each
 * line, so that over all lines the share is met. */
bool weir_lookahead_limit(const struct weir_lookahead *ahead, uint32_t line)
{
    const uint32_t lines = ahead->rules.lines;
    bool is_less = false;

    for (uint32_t g = 0; g < ahead->group_count; g++) {
        struct weir_offer_group *const group = &ahead->groups[g];
        const double share = 1 - (1 - ahead->departures) * (1 - group->share);
        const double rounding = ((line + 3 * g) % lines + 0.5) / lines;
        group->limit = share < 1 ? floor(share * group->taken + rounding) : (double)INFINITY;
        is_less = is_less || group->limit < group->taken;
    }
    return is_less;
}

static void count_taken(const struct weir_lookahead *ahead, const struct weir_cluster *cluster,
                        double *taken)
{
    struct weir_outlook node;

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        if (cluster->nodes[n].flags != WEIR_NODE_UP)
            continue;
        for (uint32_t l = 0; l < ahead->rules.lines; l++) {
            weir_outlook_load(cluster, n, &node);
            (void)weir_lookahead_fill(ahead, l, 0, &node);
            for (uint32_t g = 0; g < ahead->group_count; g++)
                taken[g] += ahead->groups[g].taken;
        }
    }
}

/* Arrivals of each group, as a share of what fills the free GPUs exactly with jobs of one GPU. */
static void find_supply(const struct weir_lookahead *ahead, double free, double *supply)
{
    double gpus = 0;

    for (uint32_t i = 0; i < ahead->offer_count; i++) {
        const struct weir_offer *const offer = &ahead->offers[i];
        gpus += offer->gpu_count == 1 ? offer->frequency * weir_units_amount(offer->gpu_units) : 0;
    }
    for (uint32_t i = 0; i < ahead->offer_count && gpus > 0; i++)
        supply[ahead->offers[i].group] +=
            ahead->rules.supply * free / gpus * ahead->offers[i].frequency;
}

/* Whether anything changed. Without jobs of one GPU nothing is shared out. */
static bool set_shares(struct weir_lookahead *ahead, const double *taken, const double *supply)
{
    bool is_changed = false;

    for (uint32_t g = 0; g < ahead->group_count; g++) {
        struct weir_offer_group *const group = &ahead->groups[g];
        if (!(supply[g] > 0))
            continue;
        const double come =
            taken[g] > 0 ? group->share * supply[g] * ahead->rules.lines / taken[g] : 1;
        const double share = come > few ? 1 : fmax(come, least_share);
        if (!(fabs(share - group->share) > least_change))
            continue;
        group->share = share;
        is_changed = true;
    }
    return is_changed;
}

static bool is_due(const struct weir_lookahead *ahead, double free, double departures)
{
    return ahead->rules.supply > 0 && ahead->group_count > 0 && departures < 1 &&
           !(free >= ahead->free_before * anew && free <= ahead->free_before / anew);
}

static weir_status share_out(struct weir_lookahead *ahead, const struct weir_cluster *cluster,
                             double free, bool *is_changed)
{
    const size_t groups = ahead->group_count;
    double *const taken = weir_alloc(&ahead->allocator, 2 * groups, sizeof *taken);

    if (taken == NULL)
        return WEIR_ENOMEM;
    double *const supply = taken + groups;
    count_taken(ahead, cluster, taken);
    find_supply(ahead, free, supply);
    *is_changed = set_shares(ahead, taken, supply) || *is_changed;
    ahead->free_before = free;
    weir_free(&ahead->allocator, taken);
    return WEIR_OK;
}

weir_status weir_lookahead_share(struct weir_lookahead *ahead, const struct weir_cluster *cluster,
                                 double departures)
{
    const double free = weir_units_amount(cluster->free.gpu_units);
    bool is_changed = departures < ahead->departures || departures > ahead->departures;

    if (is_due(ahead, free, departures))
        WEIR_TRY(share_out(ahead, cluster, free, &is_changed));
    ahead->departures = departures;
    note_shortness(ahead);
    ahead->round += is_changed ? 1 : 0;
    return WEIR_OK;
}

void weir_lookahead_reserve(struct weir_lookahead *ahead, const uint32_t *types, uint32_t count)
{
    if (count == ahead->reserved_count &&
        memcmp(types, ahead->reserved, count * sizeof *types) == 0)
        return;
    memcpy(ahead->reserved, types, count * sizeof *types);
    ahead->reserved_count = count;
    find_types(ahead);
    ahead->round++;
}

double weir_lookahead_whole(const struct weir_lookahead *ahead)
{
    double all = 0;
    double whole = 0;

    for (uint32_t i = 0; i < ahead->offer_count; i++) {
        const struct weir_offer *const offer = &ahead->offers[i];
        const double gpus =
            offer->frequency * weir_units_amount(offer->gpu_units) * (double)offer->gpu_count;
        all += gpus;
        whole += offer->is_share && offer->gpu_units < WEIR_ONE ? 0 : gpus;
    }
    return all > 0 ? whole / all : 0;
}

uint64_t weir_lookahead_round(const struct weir_lookahead *ahead)
{
    return ahead->round;
}

/* ---- from one decision to the next ---- */

uint32_t weir_lookahead_save(const struct weir_lookahead *ahead, double *numbers, uint32_t capacity)
{
    const uint32_t count = ahead->free_before < 0 ? 0 : 2 + ahead->group_count;

    if (count == 0 || capacity < count)
        return count;
    numbers[0] = -(double)count; /* what others save begins with no such number */
    numbers[1] = ahead->free_before;
    for (uint32_t g = 0; g < ahead->group_count; g++)
        numbers[2 + g] = ahead->groups[g].share;
    return count;
}

static bool are_sound(const double *numbers, uint32_t count)
{
    if (!(numbers[0] >= -(double)count && numbers[0] <= -2 && numbers[1] >= 0))
        return false;
    for (uint32_t i = 2; i < (uint32_t)-numbers[0]; i++)
        if (!(numbers[i] >= least_share && numbers[i] <= 1))
            return false;
    return true;
}

weir_status weir_lookahead_restore(struct weir_lookahead *ahead, const double *numbers,
                                   uint32_t count, uint32_t *used)
{
    *used = 0;
    if (count == 0 || numbers[0] >= 0)
        return WEIR_OK;
    if (!are_sound(numbers, count))
        return WEIR_EFORMAT;
    *used = (uint32_t)-numbers[0];
    struct weir_offer_group *const groups = weir_alloc(&ahead->allocator, *used, sizeof *groups);
    if (groups == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 2; i < *used; i++)
        groups[i - 2].share = numbers[i];
    weir_free(&ahead->allocator, ahead->groups);
    ahead->groups = groups;
    ahead->group_count = *used - 2;
    ahead->free_before = numbers[1];
    return WEIR_OK;
}
