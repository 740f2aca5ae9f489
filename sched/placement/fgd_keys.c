/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of F as keys; see fgd_keys.h.
 */
#include "sched/placement/fgd_keys.h"

#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"

#include <string.h>

weir_status weir_fgd_keys_open(struct weir_fgd_keys *keys, const struct weir_fgd_rules *rules,
                               const struct weir_allocator *allocator)
{
    *keys = (struct weir_fgd_keys){ .allocator = weir_allocator_copy(allocator), .rules = *rules };
    keys->frag.metric = weir_fgd_is_single(keys) ? WEIR_FRAG_XENNA : rules->metric;
    keys->bonus_steps = weir_fgd_steps(rules, rules->bonus);
    keys->changes = weir_alloc(&keys->allocator, WEIR_MEMO_CHANGES, sizeof *keys->changes);
    keys->books = weir_alloc(&keys->allocator, WEIR_FGD_BOOKS, sizeof *keys->books);
    if (keys->changes != NULL && keys->books != NULL)
        return WEIR_OK;
    weir_fgd_keys_close(keys);
    return WEIR_ENOMEM;
}

void weir_fgd_keys_close(struct weir_fgd_keys *keys)
{
    weir_frag_free(&keys->frag, &keys->allocator);
    weir_free(&keys->allocator, keys->changes);
    weir_free(&keys->allocator, keys->books);
    weir_free(&keys->allocator, keys->counts);
}

/* ---- nodes ---- */

/* The node with its sums, surveyed when no node was in its state lately. */
static struct weir_frag_site site_of(struct weir_fgd_keys *keys, uint32_t node)
{
    const uint64_t version = keys->cluster->nodes[node].version;
    struct weir_frag_book *const book = &keys->books[version % WEIR_FGD_BOOKS];
    struct weir_frag_count *const counts =
        keys->counts + version % WEIR_FGD_BOOKS * keys->frag.distinct;

    if (book->version != version)
        weir_frag_survey(&keys->frag, keys->cluster, node, book, counts);
    return (struct weir_frag_site){
        .frag = &keys->frag, .cluster = keys->cluster, .book = book, .counts = counts
    };
}

weir_status weir_fgd_keys_begin(struct weir_fgd_keys *keys, const struct weir_cluster *cluster,
                                const struct weir_mix *mix, bool *changed)
{
    keys->cluster = cluster;
    WEIR_TRY(weir_frag_prepare(&keys->frag, &keys->allocator, mix, changed));
    const uint32_t counts = WEIR_FGD_BOOKS * keys->frag.distinct + 1; /* one without any shape */
    *changed |= counts > keys->count_capacity;
    if (!*changed)
        return WEIR_OK;
    WEIR_ROOM(&keys->allocator, keys->counts, keys->count_capacity, counts);
    memset(keys->changes, 0, WEIR_MEMO_CHANGES * sizeof *keys->changes);
    memset(keys->books, 0, WEIR_FGD_BOOKS * sizeof *keys->books);
    return WEIR_OK;
}

/* ---- 32-bit floats in the integers of a key ---- */

/* Its own inverse: the bits of a double, so that smaller ones are smaller integers. -0, which would
 * be less than 0, is no difference of two floats. */
static int64_t in_order(int64_t bits)
{
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

static int64_t key_of(double value)
{
    int64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return in_order(bits);
}

static double value_of(int64_t key)
{
    const int64_t bits = in_order(key);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static struct weir_key single_key(struct weir_score score)
{
    return (struct weir_key){ .primary = key_of(score.primary),
                              .secondary = key_of(score.secondary) };
}

static struct weir_fgd_single_change single_change(const struct weir_frag_site *site,
                                                   const struct weir_alloc *alloc,
                                                   int64_t direction)
{
    return (struct weir_fgd_single_change){ .frag = weir_frag_site_singles(site, alloc, direction),
                                            .stock_free = site->book->stock_free,
                                            .stock_total = site->book->stock_total,
                                            .stock_moved = weir_stock_alloc(alloc) };
}

/* The key of a place, of a stopped worker or a fresh one. */
static struct weir_key place_key(const struct weir_fgd_keys *keys,
                                 const struct weir_frag_site *site, const struct weir_alloc *alloc,
                                 bool is_reused)
{
    const struct weir_fgd_rules *const rules = &keys->rules;

    if (weir_fgd_is_single(keys)) {
        const struct weir_fgd_single_change change = single_change(site, alloc, 1);
        return single_key(weir_fgd_single_of_place(rules, &change, is_reused));
    }
    return (struct weir_key){
        .primary = weir_fgd_steps(rules, weir_frag_site_change(site, alloc, 1)),
        .secondary = weir_fgd_place_tie(rules, site->book->stock_free - weir_stock_alloc(alloc),
                                        site->book->stock_total),
    };
}

static struct weir_key victim_key(const struct weir_fgd_keys *keys,
                                  const struct weir_frag_site *site, const struct weir_alloc *alloc)
{
    if (weir_fgd_is_single(keys)) {
        const struct weir_fgd_single_change change = single_change(site, alloc, -1);
        return single_key(weir_fgd_single_of_victim(&keys->rules, &change));
    }
    return (struct weir_key){
        .primary = weir_fgd_steps(&keys->rules, weir_frag_site_change(site, alloc, -1)),
        .secondary =
            weir_fgd_evict_tie_key(&keys->rules, site->book->stock_free, site->book->stock_total),
    };
}

/* ---- places ---- */

/* The candidates of one node, while they are visited. */
struct visit {
    const struct weir_fgd_keys *keys;
    const struct weir_shape *shape;
    struct weir_frag_site site;
    struct weir_fgd_best *best;
};

static bool weigh(void *state, const struct weir_alloc *candidate)
{
    const struct visit *const visit = state;
    const struct weir_fgd_rules *const rules = &visit->keys->rules;
    struct weir_fgd_best *const best = visit->best;
    const bool is_single = weir_fgd_is_single(visit->keys);
    const bool goes_on =
        !is_single || rules->whole != WEIR_FGD_FIRST_FREE || visit->shape->kind != WEIR_SHAPE_WHOLE;

    if (is_single && weir_fgd_single_refuses(rules, visit->shape, candidate))
        return goes_on;
    struct weir_key key = place_key(visit->keys, &visit->site, candidate, false);
    key.order = candidate->node;
    best->candidates++;
    if (!weir_key_less(&key, &best->key)) {
        best->ties += !weir_key_less(&best->key, &key);
        return goes_on;
    }
    best->key = key;
    best->ties = 1;
    if (best->alloc != NULL)
        weir_place_copy(best->alloc, candidate);
    return goes_on;
}

void weir_fgd_keys_place(struct weir_fgd_keys *keys, const struct weir_shape *shape, uint32_t node,
                         struct weir_fgd_best *best)
{
    struct visit visit = {
        .keys = keys, .shape = shape, .site = site_of(keys, node), .best = best
    };
    /* Twins are alike in how many engines they have free, not in which. */
    const bool has_twins =
        !weir_fgd_is_single(keys) || keys->rules.engines != WEIR_FGD_LOWEST_ENGINES;
    const struct weir_candidate_query candidates = { .cluster = keys->cluster,
                                                     .shape = shape,
                                                     .twins =
                                                         has_twins ? &visit.site.book->twins : NULL,
                                                     .node = node,
                                                     .asked = best->asked };

    best->key = WEIR_KEY_ABSENT;
    best->candidates = 0;
    best->ties = 0;
    (void)weir_candidates_visit(&candidates, weigh, &visit);
}

/* ---- workers ---- */

/* What is kept of the change of a node by so much that goes or comes (1), and whether it is that of
 * another change still. What one device changes depends on the state of its GPU alone. */
static struct weir_memo_change *kept_of(struct weir_fgd_keys *keys, uint32_t node,
                                        const struct weir_memo_hold *hold, uint64_t comes,
                                        bool *is_new)
{
    const struct weir_cluster *const cluster = keys->cluster;
    const struct weir_node *const books = &cluster->nodes[node];
    uint64_t state = hold->device_count > 1 ? books->version : cluster->lists[node].likeness;
    if (hold->device_count == 1)
        state = weir_hash_add(
            state, weir_gpu_likeness(&cluster->gpus[books->gpu_first + hold->gpu], hold->gpu));
    const uint64_t name = weir_hash_words(state, hold->amounts, comes, 0) | 1;
    struct weir_memo_change *const kept = &keys->changes[(name >> 1) % WEIR_MEMO_CHANGES];

    *is_new = kept->change != name;
    kept->change = name;
    return kept;
}

struct weir_key weir_fgd_keys_victim(struct weir_fgd_keys *keys, uint32_t node, uint32_t slot,
                                     const struct weir_memo_hold *hold)
{
    struct weir_alloc alloc;
    bool is_new;
    struct weir_memo_change *const kept = kept_of(keys, node, hold, 0, &is_new);

    if (is_new) {
        weir_slot_alloc(keys->cluster, &keys->cluster->slots[slot], &alloc);
        const struct weir_frag_site site = site_of(keys, node);
        const struct weir_key key = victim_key(keys, &site, &alloc);
        kept->primary = key.primary;
        kept->secondary = key.secondary;
    }
    return (struct weir_key){ kept->primary, kept->secondary, 0 };
}

struct weir_key weir_fgd_keys_held(struct weir_fgd_keys *keys, const struct weir_alloc *alloc,
                                   const struct weir_memo_hold *hold)
{
    bool is_new;
    struct weir_memo_change *const kept = kept_of(keys, alloc->node, hold, 1, &is_new);

    if (is_new) {
        const struct weir_frag_site site = site_of(keys, alloc->node);
        const struct weir_key key = place_key(keys, &site, alloc, true);
        kept->primary = key.primary;
        kept->secondary = key.secondary;
    }
    return (struct weir_key){ kept->primary, kept->secondary, 0 };
}

void weir_fgd_keys_reward(const struct weir_fgd_keys *keys, struct weir_key *key)
{
    /* In single precision the bonus is in the score, for it is rounded with it. */
    if (!weir_fgd_is_single(keys) && keys->rules.bonus_applies == WEIR_FGD_REUSED)
        key->primary -= keys->bonus_steps;
}

struct weir_score weir_fgd_keys_score(const struct weir_fgd_keys *keys, const struct weir_key *key)
{
    struct weir_score score = { .primary = (double)key->primary * keys->rules.resolution,
                                .secondary = weir_units_amount(key->secondary) };

    if (key->primary == INT64_MAX)
        return (struct weir_score){ .primary = 0 };
    if (weir_fgd_is_single(keys))
        return (struct weir_score){ .primary = value_of(key->primary),
                                    .secondary = value_of(key->secondary) };
    if (keys->rules.bonus_applies == WEIR_FGD_EVERYONE)
        score.primary -= keys->rules.bonus;
    return score;
}
