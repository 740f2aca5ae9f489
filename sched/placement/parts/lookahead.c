/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The look-ahead; see lookahead.h.
 *
 * Lines are Latin hypercube samples: at every place of the sequence the lines divide the mix into
 * equal slices, one each, so that few lines represent it well.
 */
#include "sched/placement/parts/lookahead_state.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"

#include <math.h>
#include <string.h>

enum { PARTS_MOST = 8 }; /* sequences of a line */

weir_status weir_lookahead_create(const struct weir_lookahead_rules *rules,
                                  const struct weir_allocator *allocator,
                                  struct weir_lookahead **ahead)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_lookahead *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return WEIR_ENOMEM;
    made->allocator = memory;
    made->rules = *rules;
    made->depth = rules->depth;
    made->free_before = -1;
    const size_t places = (size_t)rules->lines * rules->depth;
    made->lines = weir_alloc(&memory, places, sizeof *made->lines);
    made->rests = weir_alloc(&memory, places, sizeof *made->rests);
    if (!rules->is_plain)
        made->table = weir_alloc(&memory, WEIR_LOSSES_KEPT, sizeof *made->table);
    if (made->lines == NULL || made->rests == NULL || (made->table == NULL && !rules->is_plain)) {
        weir_lookahead_destroy(made);
        return WEIR_ENOMEM;
    }
    *ahead = made;
    return WEIR_OK;
}

static void forget_mix(struct weir_lookahead *ahead)
{
    weir_free(&ahead->allocator, ahead->shapes);
    weir_free(&ahead->allocator, ahead->frequencies);
    for (uint32_t i = 0; i < ahead->offer_count; i++)
        weir_free(&ahead->allocator, ahead->offers[i].seen);
    weir_free(&ahead->allocator, ahead->offers);
    ahead->shapes = NULL;
    ahead->frequencies = NULL;
    ahead->offers = NULL;
    ahead->count = ahead->offer_count = ahead->reserved_count = 0;
    ahead->is_known = ahead->has_slices = false;
    ahead->round++;
}

void weir_lookahead_destroy(struct weir_lookahead *ahead)
{
    if (ahead == NULL)
        return;
    const struct weir_allocator memory = ahead->allocator;
    forget_mix(ahead);
    weir_free(&memory, ahead->groups);
    weir_free(&memory, ahead->lines);
    weir_free(&memory, ahead->rests);
    weir_free(&memory, ahead->table);
    weir_free(&memory, ahead);
}

/* ---- lines ---- */

static bool same_mix(const struct weir_lookahead *ahead, const struct weir_mix *mix)
{
    /* Bytes are compared: the structs have no padding. */
    return ahead->is_known && ahead->count == mix->count &&
           (mix->count == 0 ||
            (memcmp(ahead->frequencies, mix->frequencies, mix->count * sizeof(double)) == 0 &&
             memcmp(ahead->shapes, mix->shapes, mix->count * sizeof mix->shapes[0]) == 0));
}

static weir_status copy_mix(struct weir_lookahead *ahead, const struct weir_mix *mix)
{
    ahead->shapes = weir_alloc(&ahead->allocator, mix->count, sizeof *ahead->shapes);
    ahead->frequencies = weir_alloc(&ahead->allocator, mix->count, sizeof *ahead->frequencies);
    ahead->offers = weir_alloc(&ahead->allocator, mix->count, sizeof *ahead->offers);
    if (ahead->shapes == NULL || ahead->frequencies == NULL || ahead->offers == NULL)
        return WEIR_ENOMEM;
    if (mix->count > 0) {
        memcpy(ahead->shapes, mix->shapes, mix->count * sizeof *ahead->shapes);
        memcpy(ahead->frequencies, mix->frequencies, mix->count * sizeof *ahead->frequencies);
    }
    ahead->count = mix->count;
    return WEIR_OK;
}

static weir_status choose_offers(struct weir_lookahead *ahead)
{
    for (uint32_t i = 0; i < ahead->count; i++) {
        const struct weir_shape *const shape = &ahead->shapes[i];
        if (shape->gpu_units == 0 || !(ahead->frequencies[i] > 0))
            continue;
        struct weir_offer *const offer = &ahead->offers[ahead->offer_count++];
        *offer = (struct weir_offer){
            .cpu_units = shape->cpu_units,
            .gpu_units = shape->gpu_units,
            .shape = shape,
            .gpu_count = shape->gpu_count,
            .is_share = weir_shape_is_share(shape),
            .is_slice = shape->kind == WEIR_SHAPE_SLICE,
            .needs_all = shape->kind == WEIR_SHAPE_SPMD_MULTI,
            .frequency = ahead->frequencies[i],
        };
        ahead->has_slices |= offer->is_slice;
        if (!offer->is_slice || ahead->rules.is_plain)
            continue;
        offer->seen = weir_alloc(&ahead->allocator, WEIR_CUTS_SEEN, sizeof *offer->seen);
        if (offer->seen == NULL)
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

static void find_usual_cpus(struct weir_lookahead *ahead)
{
    double cpus = 0;
    double gpus = 0;

    for (uint32_t i = 0; i < ahead->offer_count; i++) {
        const struct weir_offer *const offer = &ahead->offers[i];
        cpus += offer->frequency * (double)offer->cpu_units;
        gpus += offer->frequency * weir_units_amount(offer->gpu_units) * offer->gpu_count;
    }
    ahead->cpu_units_each = gpus > 0 ? cpus / gpus : 0;
}

/* The offer at `share` (0 .. 1) of the mix. */
static uint32_t offer_at(const struct weir_lookahead *ahead, double share, double all)
{
    double sum = 0;
    uint32_t i = 0;

    while (i + 1 < ahead->offer_count) {
        sum += ahead->offers[i].frequency;
        if (share * all < sum)
            break;
        i++;
    }
    return i;
}

/* Place `at` of every line. Which line has which slice is dealt by Fisher and Yates on hashes of
 * fixed numbers; where in its slice a line stands follows the golden ratio. */
static void deal(struct weir_lookahead *ahead, uint32_t at, double all)
{
    const uint32_t lines = ahead->rules.lines;
    const uint32_t depth = ahead->rules.depth;
    const double turns = (double)at * 0.6180339887498949;
    const double within = turns - floor(turns);

    for (uint32_t l = 0; l < lines; l++)
        ahead->lines[(size_t)l * depth + at] = l;
    for (uint32_t l = lines; l > 1; l--) {
        uint32_t *const last = &ahead->lines[(size_t)(l - 1) * depth + at];
        const uint64_t draw = weir_hash_add(weir_hash_mix(at), l) % l;
        uint32_t *const other = &ahead->lines[draw * depth + at];
        const uint32_t slice = *last;
        *last = *other;
        *other = slice;
    }
    for (uint32_t l = 0; l < lines; l++) {
        uint32_t *const place = &ahead->lines[(size_t)l * depth + at];
        *place = offer_at(ahead, ((double)*place + within) / (double)lines, all);
    }
}

static void note_rests(struct weir_lookahead *ahead, size_t first)
{
    struct weir_line_rest rest = { .cpu_units = INT64_MAX, .gpu_units = INT64_MAX };

    for (size_t at = first + ahead->rules.depth; at-- > first;) {
        const struct weir_offer *const offer = &ahead->offers[ahead->lines[at]];
        if (offer->gpu_units < rest.gpu_units)
            rest.gpu_units = offer->gpu_units;
        if (offer->cpu_units < rest.cpu_units)
            rest.cpu_units = offer->cpu_units;
        ahead->rests[at] = rest;
    }
}

static void deal_all(struct weir_lookahead *ahead)
{
    double all = 0;

    if (ahead->offer_count == 0)
        return;
    for (uint32_t i = 0; i < ahead->offer_count; i++)
        all += ahead->offers[i].frequency;
    for (uint32_t at = 0; at < ahead->rules.depth; at++)
        deal(ahead, at, all);
    for (uint32_t l = 0; l < ahead->rules.lines; l++)
        note_rests(ahead, (size_t)l * ahead->rules.depth);
}

weir_status weir_lookahead_follow(struct weir_lookahead *ahead, const struct weir_mix *mix)
{
    if (same_mix(ahead, mix))
        return WEIR_OK;
    forget_mix(ahead);
    if (copy_mix(ahead, mix) != WEIR_OK || choose_offers(ahead) != WEIR_OK) {
        forget_mix(ahead);
        return WEIR_ENOMEM;
    }
    find_usual_cpus(ahead);
    deal_all(ahead);
    if (weir_lookahead_group(ahead) != WEIR_OK) {
        forget_mix(ahead);
        return WEIR_ENOMEM;
    }
    ahead->is_known = true;
    return WEIR_OK;
}

void weir_lookahead_set_depth(struct weir_lookahead *ahead, uint32_t depth)
{
    const uint32_t wanted = depth < ahead->rules.depth ? depth : ahead->rules.depth;

    if (wanted == ahead->depth)
        return;
    ahead->depth = wanted;
    ahead->round++;
}

/* ---- filling a node ---- */

void weir_outlook_load(const struct weir_cluster *cluster, uint32_t node,
                       struct weir_outlook *outlook)
{
    const struct weir_node *const books = &cluster->nodes[node];

    outlook->cpu_free = books->cpu_free;
    outlook->gpu_count = books->gpu_count;
    outlook->has_cuts = false;
    for (uint32_t g = 0; g < books->gpu_count; g++) {
        const struct weir_gpu *const gpu = &cluster->gpus[books->gpu_first + g];
        outlook->left[g] = gpu->units_free;
        outlook->types[g] = gpu->type;
        outlook->has_cuts |= gpu->mig != NULL;
    }
    for (uint32_t g = 0; outlook->has_cuts && g < books->gpu_count; g++) {
        outlook->tables[g] = cluster->gpus[books->gpu_first + g].mig;
        outlook->cuts[g] = cluster->gpus[books->gpu_first + g].mig_state;
    }
}

/* The GPUs of a node; what the others hold is not looked at. */
static void copy_outlook(const struct weir_outlook *from, struct weir_outlook *to)
{
    to->cpu_free = from->cpu_free;
    to->gpu_count = from->gpu_count;
    to->has_cuts = from->has_cuts;
    memcpy(to->left, from->left, from->gpu_count * sizeof to->left[0]);
    memcpy(to->types, from->types, from->gpu_count * sizeof to->types[0]);
    if (!from->has_cuts)
        return;
    memcpy(to->tables, from->tables, from->gpu_count * sizeof to->tables[0]);
    memcpy(to->cuts, from->cuts, from->gpu_count * sizeof to->cuts[0]);
}

static bool can_host(const struct weir_outlook *node, uint32_t gpu, const struct weir_offer *offer)
{
    return weir_offer_takes(node, gpu, offer) &&
           ((!node->has_cuts && !offer->is_slice) || weir_lookahead_may_cut(node, gpu, offer));
}

static int64_t take_instance(struct weir_outlook *node, uint32_t gpu,
                             const struct weir_offer *offer)
{
    struct weir_seen_cut spare;
    const struct weir_seen_cut *const seen = weir_lookahead_see(node, gpu, offer, &spare);

    weir_outlook_give(node, gpu, seen->profile, seen->start, 1);
    return weir_mig_units(seen->table, seen->profile);
}

/* Compute taken, 0 when it does not fit. */
static int64_t take_share(struct weir_outlook *node, const struct weir_offer *offer)
{
    uint32_t best = WEIR_NO_INDEX;
    int64_t least = INT64_MAX;

    for (uint32_t g = 0; g < node->gpu_count; g++) {
        if (node->left[g] < least && can_host(node, g, offer)) {
            best = g;
            least = node->left[g];
        }
    }
    if (best == WEIR_NO_INDEX)
        return 0;
    if (offer->is_slice)
        return take_instance(node, best, offer);
    node->left[best] -= offer->gpu_units;
    return offer->gpu_units;
}

static bool has_whole(const struct weir_outlook *node, const struct weir_offer *offer)
{
    uint32_t count = 0;

    for (uint32_t g = 0; g < node->gpu_count && count < offer->gpu_count; g++)
        count += can_host(node, g, offer) ? 1 : 0;
    return count == offer->gpu_count && (!offer->needs_all || count == node->gpu_count);
}

static int64_t take_whole(struct weir_outlook *node, const struct weir_offer *offer)
{
    uint32_t missing = offer->gpu_count;

    if (!has_whole(node, offer))
        return 0;
    for (uint32_t g = 0; g < node->gpu_count && missing > 0; g++) {
        if (!can_host(node, g, offer))
            continue;
        node->left[g] -= offer->gpu_units;
        missing--;
    }
    return offer->gpu_units * offer->gpu_count;
}

static int64_t compute_left(const struct weir_outlook *node)
{
    int64_t sum = 0;

    for (uint32_t g = 0; g < node->gpu_count; g++)
        sum += node->left[g];
    return sum;
}

static int64_t most_left(const struct weir_outlook *node)
{
    int64_t most = 0;

    for (uint32_t g = 0; g < node->gpu_count; g++)
        most = node->left[g] > most ? node->left[g] : most;
    return most;
}

/* Puts the jobs of a sequence on a node, within the limits of their groups or without; the compute
 * that is free then. */
static int64_t take_jobs(const struct weir_lookahead *ahead, size_t first, bool is_limited,
                         struct weir_outlook *node)
{
    int64_t free = compute_left(node);
    int64_t most = most_left(node);

    for (uint32_t g = 0; g < ahead->group_count; g++)
        ahead->groups[g].taken = 0;
    for (size_t at = first; at < first + ahead->depth && free > 0; at++) {
        const struct weir_line_rest *const rest = &ahead->rests[at];
        if (rest->gpu_units > most || rest->cpu_units > node->cpu_free)
            break; /* nobody fits any more */
        const struct weir_offer *const offer = &ahead->offers[ahead->lines[at]];
        struct weir_offer_group *const group = &ahead->groups[offer->group];
        if (offer->cpu_units > node->cpu_free || offer->gpu_units > most ||
            (is_limited && group->taken >= group->limit))
            continue;
        const int64_t units = offer->is_share ? take_share(node, offer) : take_whole(node, offer);
        if (units == 0)
            continue;
        group->taken++;
        free -= units;
        node->cpu_free -= offer->cpu_units;
        most = most_left(node);
    }
    return free;
}

int64_t weir_lookahead_fill(const struct weir_lookahead *ahead, uint32_t line, uint32_t from,
                            struct weir_outlook *node)
{
    const size_t first = (size_t)line * ahead->rules.depth + from;
    struct weir_outlook as_it_was;

    if (!ahead->are_short)
        return take_jobs(ahead, first, false, node);
    copy_outlook(node, &as_it_was);
    const int64_t free = take_jobs(ahead, first, false, node);
    if (!weir_lookahead_limit(ahead, line))
        return free;
    copy_outlook(&as_it_was, node);
    return take_jobs(ahead, first, true, node);
}

/* What of `free` on a node one job cannot use: all where it finds no place, else that of the GPUs
 * which are no good for it (Weng et al. 2023). */
static int64_t unusable(const struct weir_outlook *node, const struct weir_offer *offer,
                        int64_t free)
{
    uint32_t usable = 0;
    int64_t lost = 0;

    if (offer->cpu_units > node->cpu_free)
        return free;
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        if (weir_offer_takes(node, g, offer))
            usable++;
        else
            lost += node->left[g];
    }
    return weir_offer_suffices(node, offer, usable) ? lost : free;
}

/* What is lost of a node in the end of a sequence of line `line` that began at place `from`: all
 * that is free, but as far as jobs end what the next jobs of the line could not use. */
static double lost_of(const struct weir_lookahead *ahead, uint32_t line, uint32_t from,
                      const struct weir_outlook *state)
{
    const size_t first = (size_t)line * ahead->rules.depth;
    struct weir_outlook node;
    double sum = 0;

    copy_outlook(state, &node);
    const bool is_about_cuts = node.has_cuts || ahead->has_slices;
    const int64_t free = weir_lookahead_fill(ahead, line, from, &node);
    if (!(ahead->departures > 0) || free == 0)
        return (double)free;
    for (size_t i = 0; i < ahead->rules.beyond; i++) {
        const size_t at = first + (from + ahead->depth + i) % ahead->rules.depth;
        const struct weir_offer *const offer = &ahead->offers[ahead->lines[at]];
        sum += (double)(is_about_cuts ? weir_lookahead_unusable_cut(&node, offer, free)
                                      : unusable(&node, offer, free));
    }
    const double ended = ahead->rules.beyond > 0 ? sum / ahead->rules.beyond : (double)free;
    return (double)free + ahead->departures * (ended - (double)free);
}

/* GPUs that jobs of 2, 4, 8 .. GPUs would find now, summed. */
static double usual_room(const struct weir_lookahead *ahead, const struct weir_outlook *node)
{
    uint32_t whole = 0;
    double sum = 0;

    for (uint32_t g = 0; g < node->gpu_count; g++)
        whole += node->left[g] == WEIR_ONE && !(node->has_cuts && node->tables[g] != NULL);
    for (uint32_t gpus = 2; gpus <= whole; gpus *= 2)
        sum += (double)node->cpu_free >= gpus * ahead->cpu_units_each ? gpus : 0;
    return sum;
}

/* GPUs that jobs of several GPUs would find now, by their frequencies. */
static double room(const struct weir_lookahead *ahead, const struct weir_outlook *node)
{
    double sum = 0;

    for (uint32_t i = 0; i < ahead->offer_count; i++) {
        const struct weir_offer *const offer = &ahead->offers[i];
        if (offer->gpu_count > 1 && offer->cpu_units <= node->cpu_free && has_whole(node, offer))
            sum += offer->frequency * (double)offer->gpu_count;
    }
    return sum + ahead->rules.large * usual_room(ahead, node);
}

static double compute_lost(const struct weir_lookahead *ahead, const struct weir_outlook *node)
{
    const uint32_t fit = ahead->rules.depth / ahead->depth;
    const uint32_t parts = fit < PARTS_MOST ? fit : PARTS_MOST;
    double left = 0;

    if (ahead->offer_count == 0)
        return weir_units_amount(compute_left(node));
    for (uint32_t l = 0; l < ahead->rules.lines; l++)
        for (uint32_t p = 0; p < parts; p++)
            left += lost_of(ahead, l, p * ahead->depth, node);
    return left / WEIR_ONE / ((double)ahead->rules.lines * parts) -
           ahead->rules.keep * room(ahead, node);
}

/* ---- kept values ---- */

static weir_mig_layout held_on(const struct weir_outlook *node, uint32_t gpu)
{
    return node->has_cuts ? node->cuts[gpu].held : 0;
}

static bool is_before(const struct weir_outlook *node, uint32_t gpu,
                      const struct weir_outlook *other, uint32_t at)
{
    if (node->types[gpu] != other->types[at])
        return node->types[gpu] < other->types[at];
    if (node->left[gpu] != other->left[at])
        return node->left[gpu] < other->left[at];
    return held_on(node, gpu) < held_on(other, at);
}

static void copy_gpu(const struct weir_outlook *from, uint32_t gpu, struct weir_outlook *to,
                     uint32_t at)
{
    to->left[at] = from->left[gpu];
    to->types[at] = from->types[gpu];
    if (!from->has_cuts)
        return;
    to->tables[at] = from->tables[gpu];
    to->cuts[at] = from->cuts[gpu];
}

/* The same for all states that differ in the order of their GPUs alone. */
static void sort_gpus(const struct weir_outlook *node, struct weir_outlook *sorted)
{
    sorted->cpu_free = node->cpu_free;
    sorted->gpu_count = node->gpu_count;
    sorted->has_cuts = node->has_cuts;
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        uint32_t at = g;
        for (; at > 0 && is_before(node, g, sorted, at - 1); at--)
            copy_gpu(sorted, at - 1, sorted, at);
        copy_gpu(node, g, sorted, at);
    }
}

static struct weir_outlook_key key_of(const struct weir_outlook *sorted)
{
    struct weir_outlook_key key = { .cpu_free = sorted->cpu_free, .gpu_count = sorted->gpu_count };

    memcpy(key.left, sorted->left, sorted->gpu_count * sizeof key.left[0]);
    memcpy(key.types, sorted->types, sorted->gpu_count * sizeof key.types[0]);
    for (uint32_t g = 0; sorted->has_cuts && g < sorted->gpu_count; g++)
        if (sorted->tables[g] != NULL)
            key.left[g] =
                (int64_t)weir_hash_add(weir_hash_mix(sorted->cuts[g].cut), sorted->cuts[g].held);
    return key;
}

static uint32_t slot_of(const struct weir_outlook_key *key)
{
    uint64_t hash = weir_hash_mix((uint64_t)key->cpu_free);

    for (uint32_t i = 0; i < key->gpu_count; i++)
        hash = weir_hash_add(hash, (uint64_t)key->left[i] << 8 ^ key->types[i]);
    return (uint32_t)(hash & (WEIR_LOSSES_KEPT - 1));
}

double weir_lookahead_lost(struct weir_lookahead *ahead, const struct weir_outlook *outlook)
{
    struct weir_outlook sorted;

    sort_gpus(outlook, &sorted);
    if (ahead->table == NULL || outlook->gpu_count > WEIR_KEY_GPUS)
        return compute_lost(ahead, &sorted);
    const struct weir_outlook_key key = key_of(&sorted);
    struct weir_kept_loss *const kept = &ahead->table[slot_of(&key)];
    if (kept->round != ahead->round || memcmp(&kept->key, &key, sizeof key) != 0) {
        kept->key = key;
        kept->round = ahead->round;
        kept->lost = compute_lost(ahead, &sorted);
    }
    return kept->lost;
}
