/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who comes by in the look-ahead: all nodes wait for the same jobs; see lookahead.h.
 */
#include "sched/placement/parts/lookahead_state.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"

#include <math.h>
#include <string.h>

static const double anew = 0.8;          /* as the free GPUs fall to this, or rise by it */
static const double least_change = 0.75; /* lines; less is noise */

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

weir_status weir_lookahead_group(struct weir_lookahead *ahead)
{
    const uint32_t restored = ahead->group_count;
    uint32_t *const levels = weir_alloc(&ahead->allocator, ahead->offer_count, sizeof *levels);

    if (levels == NULL)
        return WEIR_ENOMEM;
    find_groups(ahead);
    find_types(ahead);
    const bool is_kept = ahead->levels != NULL && restored == ahead->group_count;
    for (uint32_t g = 0; g < ahead->group_count; g++)
        levels[g] = is_kept ? ahead->levels[g] : ahead->rules.lines;
    if (!is_kept)
        ahead->free_before = -1;
    weir_free(&ahead->allocator, ahead->levels);
    ahead->levels = levels;
    weir_lookahead_show(ahead);
    return WEIR_OK;
}

/* ---- what is shown of the lines ---- */

/* Lines in which a group comes by: in all, as far as jobs also end. */
static uint32_t lines_of(const struct weir_lookahead *ahead, uint32_t group)
{
    const double absent = ahead->rules.lines - ahead->levels[group];

    return ahead->rules.lines - (uint32_t)rint((1 - ahead->departures) * absent);
}

static void note_rests(struct weir_lookahead *ahead, size_t first)
{
    struct weir_line_rest rest = { .cpu_units = INT64_MAX, .gpu_units = INT64_MAX };

    for (size_t at = first + ahead->rules.depth; at-- > first;) {
        const struct weir_offer *const offer = &ahead->offers[ahead->shown[at]];
        if (offer->gpu_units < rest.gpu_units)
            rest.gpu_units = offer->gpu_units;
        if (offer->cpu_units < rest.cpu_units)
            rest.cpu_units = offer->cpu_units;
        ahead->rests[at] = rest;
    }
}

/* Groups are absent from different lines. */
void weir_lookahead_show(struct weir_lookahead *ahead)
{
    const uint32_t lines = ahead->rules.lines;
    const uint32_t depth = ahead->rules.depth;

    for (uint32_t l = 0; l < lines && ahead->offer_count > 0; l++) {
        const size_t first = (size_t)l * depth;
        for (size_t at = first; at < first + depth; at++) {
            const uint32_t offer = ahead->lines[at];
            const uint32_t group = ahead->offers[offer].group;
            const bool comes = (l + 3 * group) % lines < lines_of(ahead, group);
            ahead->shown[at] = comes ? offer : ahead->offer_count;
        }
        note_rests(ahead, first);
    }
    ahead->round++;
}

/* ---- no more than are to come ---- */

static void count_taken(const struct weir_lookahead *ahead, const struct weir_cluster *cluster,
                        double *taken)
{
    struct weir_outlook node;

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        if (cluster->nodes[n].flags != WEIR_NODE_UP)
            continue;
        for (uint32_t l = 0; l < ahead->rules.lines; l++) {
            weir_outlook_load(cluster, n, &node);
            (void)weir_lookahead_fill(ahead, (size_t)l * ahead->rules.depth, &node, taken);
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
static bool set_levels(struct weir_lookahead *ahead, const double *taken, const double *supply)
{
    const double lines = ahead->rules.lines;
    bool is_changed = false;

    for (uint32_t g = 0; g < ahead->group_count; g++) {
        if (!(supply[g] > 0))
            continue;
        const double came = taken[g] > 0 ? ahead->levels[g] * supply[g] * lines / taken[g] : lines;
        const double level = fmin(fmax(came, 1), lines);
        if (!(fabs(level - ahead->levels[g]) > least_change))
            continue;
        ahead->levels[g] = (uint32_t)rint(level);
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
    *is_changed = set_levels(ahead, taken, supply) || *is_changed;
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
    if (is_changed)
        weir_lookahead_show(ahead);
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
        numbers[2 + g] = ahead->levels[g];
    return count;
}

static bool are_sound(const struct weir_lookahead *ahead, const double *numbers, uint32_t count)
{
    if (!(numbers[0] >= -(double)count && numbers[0] <= -2 && numbers[1] >= 0))
        return false;
    for (uint32_t i = 2; i < (uint32_t)-numbers[0]; i++)
        if (!(numbers[i] >= 1 && numbers[i] <= ahead->rules.lines))
            return false;
    return true;
}

weir_status weir_lookahead_restore(struct weir_lookahead *ahead, const double *numbers,
                                   uint32_t count, uint32_t *used)
{
    *used = 0;
    if (count == 0 || numbers[0] >= 0)
        return WEIR_OK;
    if (!are_sound(ahead, numbers, count))
        return WEIR_EFORMAT;
    *used = (uint32_t)-numbers[0];
    uint32_t *const levels = weir_alloc(&ahead->allocator, *used, sizeof *levels);
    if (levels == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 2; i < *used; i++)
        levels[i - 2] = (uint32_t)numbers[i];
    weir_free(&ahead->allocator, ahead->levels);
    ahead->levels = levels;
    ahead->group_count = *used - 2;
    ahead->free_before = numbers[1];
    return WEIR_OK;
}
