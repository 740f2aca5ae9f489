/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement groups; see weir/group.h.
 *
 * All work is done on the scratch cluster under one mark. Nodes that a strategy rules out are
 * cordoned there, so that any placement policy can be the scorer; roll-back takes that back too. A
 * bundle without a place yet has WEIR_NO_INDEX as the node of its allocation.
 */
#include "sched/placement/parts/group.h"

#include "sched/cluster/state.h"
#include "sched/internal/hash.h"
#include "sched/internal/size.h"
#include "sched/placement/parts/scan.h"

struct group {
    const struct weir_group_query *query;
    struct weir_chooser *scorer; /* NULL = Ray's */
    struct weir_alloc *allocs;
    struct weir_group_answer *answer;
    uint64_t questions; /* asked of the policy, for seeds */
};

#define WEIR_GROUP_TEXT(name, text) [name] = (text),
static const char *const strategy_names[] = { WEIR_GROUP_STRATEGIES(WEIR_GROUP_TEXT) };
#undef WEIR_GROUP_TEXT

const char *weir_group_strategy_name(uint32_t strategy)
{
    return strategy < WEIR_GROUP_STRATEGY_COUNT ? strategy_names[strategy] : "?";
}

/* ---- the order of bundles ---- */

static bool comes_before(const struct weir_group_query *query, uint32_t a, uint32_t b)
{
    const struct weir_group_demand first = weir_group_demand(&query->bundles[a]);
    const struct weir_group_demand second = weir_group_demand(&query->bundles[b]);

    if (first.gpu_units != second.gpu_units)
        return first.gpu_units > second.gpu_units;
    if (first.ram_bytes != second.ram_bytes)
        return first.ram_bytes > second.ram_bytes;
    if (first.cpu_units != second.cpu_units)
        return first.cpu_units > second.cpu_units;
    return a < b;
}

uint32_t weir_group_next(const struct weir_group_query *query, const struct weir_alloc *allocs,
                         uint32_t last)
{
    uint32_t next = WEIR_NO_INDEX;

    for (uint32_t i = 0; i < query->bundle_count; i++) {
        if (allocs[i].node != WEIR_NO_INDEX)
            continue;
        if (last != WEIR_NO_INDEX && !comes_before(query, last, i))
            continue;
        if (next == WEIR_NO_INDEX || comes_before(query, i, next))
            next = i;
    }
    return next;
}

static uint32_t next_bundle(const struct group *group, uint32_t last)
{
    return weir_group_next(group->query, group->allocs, last);
}

/* ---- scorers ---- */

/* One resource of Ray's score; -1 = not available. */
static double share_left(int64_t free, int64_t request)
{
    if (request > free)
        return -1;
    return request > 0 ? (double)(free - request) / (double)free : 0;
}

static double ray_score(const struct weir_cluster *cluster, uint32_t node,
                        const struct weir_group_demand *demand)
{
    const struct weir_node *const books = &cluster->nodes[node];
    int64_t gpus = 0;

    for (uint32_t g = 0; g < books->gpu_count; g++)
        gpus += cluster->gpus[books->gpu_first + g].units_free;
    const double cpu = share_left(books->cpu_free, demand->cpu_units);
    const double gpu = share_left(gpus, demand->gpu_units);
    const double ram = share_left(books->ram_free_bytes, demand->ram_bytes);
    return cpu < 0 || gpu < 0 || ram < 0 ? -1 : cpu + gpu + ram;
}

/* Where to put a bundle, and those that have no place yet. */
static struct weir_place_query question_of(const struct group *group,
                                           const struct weir_shape *bundle)
{
    struct weir_place_query question = { .size = sizeof(struct weir_place_query),
                                         .cluster = group->query->scratch,
                                         .mix = group->query->mix,
                                         .shape = bundle,
                                         .owner = group->query->owner,
                                         .together =
                                             group->query->bundle_count - group->answer->placed,
                                         .jobs = group->query->jobs };

    question.traffic = weir_place_traffic(&question, &question.owner);
    return question;
}

/* The best node for a bundle by `demand`, which is its own or that of the whole group. */
static weir_status ask_ray(const struct group *group, const struct weir_shape *bundle,
                           const struct weir_group_demand *demand, struct weir_alloc *alloc)
{
    const struct weir_place_query question = question_of(group, bundle);
    const struct weir_cluster *const cluster = group->query->scratch;
    uint32_t best = WEIR_NO_INDEX;
    double best_score = -1;

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        const double score = ray_score(cluster, n, demand);
        if (score > best_score && weir_candidates_reason(cluster, bundle, n) == WEIR_REASON_NONE) {
            best = n;
            best_score = score;
        }
    }
    if (best == WEIR_NO_INDEX)
        return WEIR_EBUSY;
    return weir_place_tightest(&question, best, alloc) ? WEIR_OK : WEIR_EBUSY;
}

static weir_status ask_policy(struct group *group, const struct weir_shape *bundle,
                              struct weir_alloc *alloc, struct weir_error *error)
{
    struct weir_place_query question = question_of(group, bundle);
    struct weir_place_answer answer;

    question.seed = weir_hash_add(group->query->seed, group->questions++);

    WEIR_TRY(weir_chooser_place(group->scorer, &question, &answer, error));
    *alloc = answer.alloc;
    return WEIR_OK;
}

static weir_status take(struct group *group, uint32_t bundle, const struct weir_alloc *alloc,
                        struct weir_error *error)
{
    WEIR_TRY(weir_cluster_add_worker(group->query->scratch, UINT64_MAX - bundle,
                                     group->query->owner, alloc, error));
    group->allocs[bundle] = *alloc;
    group->answer->placed++;
    return WEIR_OK;
}

/* The best node for a bundle among those that are not ruled out. WEIR_EBUSY when none fits. */
static weir_status take_best(struct group *group, uint32_t bundle, struct weir_error *error)
{
    const struct weir_shape *const shape = &group->query->bundles[bundle];
    const bool is_sum = group->query->strategy == WEIR_GROUP_STRICT_PACK;
    const struct weir_group_demand demand =
        is_sum ? weir_group_demand_sum(group->query) : weir_group_demand(shape);
    struct weir_alloc alloc;

    if (group->scorer != NULL)
        WEIR_TRY(ask_policy(group, shape, &alloc, error));
    else
        WEIR_TRY(ask_ray(group, shape, &demand, &alloc));
    return take(group, bundle, &alloc, error);
}

/* ---- nodes ruled out ---- */

static weir_status rule_out(const struct group *group, uint32_t node)
{
    return weir_cluster_set_node_flags(
        group->query->scratch, node, group->query->scratch->nodes[node].flags | WEIR_NODE_CORDONED);
}

/* Nodes that hold a bundle of this group: ruled out, or let in again. */
static weir_status rule_chosen(const struct group *group, bool is_out)
{
    struct weir_cluster *const cluster = group->query->scratch;

    for (uint32_t i = 0; i < group->query->bundle_count; i++) {
        const uint32_t node = group->allocs[i].node;
        if (node == WEIR_NO_INDEX)
            continue;
        if (is_out)
            WEIR_TRY(rule_out(group, node));
        else
            WEIR_TRY(weir_cluster_set_node_flags(cluster, node, WEIR_NODE_UP));
    }
    return WEIR_OK;
}

/* ---- strategies ---- */

/* Puts every bundle that is left and fits on the node, in their order. */
static weir_status fill_node(struct group *group, uint32_t node, struct weir_error *error)
{
    const struct weir_group_query *const query = group->query;
    uint32_t bundle = next_bundle(group, WEIR_NO_INDEX);

    while (bundle != WEIR_NO_INDEX) {
        const uint32_t here = bundle;
        const struct weir_place_query question = question_of(group, &query->bundles[here]);
        struct weir_alloc alloc;
        if (weir_place_tightest(&question, node, &alloc))
            WEIR_TRY(take(group, here, &alloc, error));
        bundle = next_bundle(group, here);
    }
    return WEIR_OK;
}

static weir_status pack(struct group *group, struct weir_error *error)
{
    uint32_t bundle = next_bundle(group, WEIR_NO_INDEX);

    while (bundle != WEIR_NO_INDEX) {
        WEIR_TRY(take_best(group, bundle, error));
        const uint32_t node = group->allocs[bundle].node;
        WEIR_TRY(fill_node(group, node, error));
        WEIR_TRY(rule_out(group, node));
        bundle = next_bundle(group, WEIR_NO_INDEX);
    }
    return WEIR_OK;
}

static void forget_places(struct group *group)
{
    for (uint32_t i = 0; i < group->query->bundle_count; i++)
        group->allocs[i].node = WEIR_NO_INDEX;
    group->answer->placed = 0;
}

/* One try: the first bundle's best node, and the others there. WEIR_EBUSY also when some do not
 * fit; the node is then in `node`. */
static weir_status try_one_node(struct group *group, uint32_t *node, struct weir_error *error)
{
    const uint32_t first = next_bundle(group, WEIR_NO_INDEX);

    WEIR_TRY(take_best(group, first, error));
    *node = group->allocs[first].node;
    WEIR_TRY(fill_node(group, *node, error));
    return group->answer->placed == group->query->bundle_count ? WEIR_OK : WEIR_EBUSY;
}

static weir_status strict_pack(struct group *group, struct weir_error *error)
{
    struct weir_cluster *const cluster = group->query->scratch;

    for (;;) {
        uint32_t node = WEIR_NO_INDEX;
        if (weir_cluster_mark(cluster) != WEIR_OK)
            return WEIR_ENOMEM;
        const weir_status status = try_one_node(group, &node, error);
        if (status == WEIR_OK) {
            weir_cluster_release(cluster);
            return WEIR_OK;
        }
        weir_cluster_rollback(cluster);
        if (status != WEIR_EBUSY || node == WEIR_NO_INDEX)
            return status;
        forget_places(group);
        const weir_status found = weir_group_search(group->query, node, group->allocs, error);
        if (found != WEIR_EBUSY) {
            group->answer->placed = group->query->bundle_count;
            return found;
        }
        WEIR_TRY(rule_out(group, node));
    }
}

static weir_status spread(struct group *group, struct weir_error *error)
{
    const bool is_strict = group->query->strategy == WEIR_GROUP_STRICT_SPREAD;

    for (uint32_t u = 0; is_strict && u < group->query->used_count; u++)
        WEIR_TRY(rule_out(group, group->query->used_nodes[u]));
    for (uint32_t bundle = next_bundle(group, WEIR_NO_INDEX); bundle != WEIR_NO_INDEX;
         bundle = next_bundle(group, WEIR_NO_INDEX)) {
        WEIR_TRY(rule_chosen(group, true));
        weir_status status = take_best(group, bundle, error);
        if (status == WEIR_EBUSY && !is_strict) {
            WEIR_TRY(rule_chosen(group, false));
            status = take_best(group, bundle, error);
        }
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

/* ---- the question ---- */

static weir_status check_query(const struct weir_group_query *query, struct weir_error *error)
{
    if (query->strategy >= WEIR_GROUP_STRATEGY_COUNT)
        return weir_fail(error, WEIR_EINVAL, "unknown strategy %u", query->strategy);
    for (uint32_t i = 0; i < query->bundle_count; i++) {
        if (query->bundles[i].kind == WEIR_SHAPE_SPMD_MULTI)
            return weir_fail(error, WEIR_EINVAL, "bundle %u: must fit one node", i);
    }
    for (uint32_t u = 0; u < query->used_count; u++) {
        if (query->used_nodes[u] >= query->scratch->node_count)
            return weir_fail(error, WEIR_EINVAL, "there is no node %u", query->used_nodes[u]);
    }
    return WEIR_OK;
}

/* What a node lacks for the whole group on it, by sums; shares that do not go together are a lack
 * of GPU. */
static uint32_t lack_of_sum(const struct weir_group_query *query, uint32_t node,
                            const struct weir_group_demand *sum)
{
    const struct weir_node *const books = &query->scratch->nodes[node];
    const uint32_t labels = weir_group_label_reason(query, node);

    if ((books->flags & WEIR_NODE_UP) == 0)
        return books->flags == WEIR_NODE_REMOVED ? WEIR_REASON_NODE_GONE : WEIR_REASON_NODE_DOWN;
    if (labels != WEIR_REASON_NONE)
        return labels;
    if (books->cpu_free < sum->cpu_units)
        return WEIR_REASON_CPU;
    return books->ram_free_bytes < sum->ram_bytes ? WEIR_REASON_RAM : WEIR_REASON_GPU_FREE;
}

/* What most nodes lack for the bundle, or the group, as things stand (enum weir_reason). */
static uint32_t most_lack(const struct group *group, uint32_t bundle)
{
    const struct weir_group_query *const query = group->query;
    const bool is_sum = query->strategy == WEIR_GROUP_STRICT_PACK;
    const struct weir_group_demand sum = weir_group_demand_sum(query);
    uint32_t counts[WEIR_REASON_COUNT] = { 0 };
    uint32_t most = WEIR_REASON_NONE;

    for (uint32_t n = 0; n < query->scratch->node_count; n++) {
        const uint32_t reason =
            is_sum ? lack_of_sum(query, n, &sum)
                   : weir_candidates_reason(query->scratch, &query->bundles[bundle], n);
        counts[reason] += reason == WEIR_REASON_NONE ? 0 : 1;
        most = counts[reason] > counts[most] ? reason : most;
    }
    return most;
}

static weir_status say_failed(struct group *group, struct weir_error *error)
{
    const struct weir_group_query *const query = group->query;
    const char *const name = weir_group_strategy_name(query->strategy);
    const uint32_t bundle = next_bundle(group, WEIR_NO_INDEX);

    if (query->strategy != WEIR_GROUP_STRICT_SPREAD)
        WEIR_TRY(rule_chosen(group, false));
    group->answer->reason = most_lack(group, bundle);
    const char *const text = weir_reason_text(group->answer->reason);
    if (query->strategy == WEIR_GROUP_STRICT_PACK)
        return weir_fail(error, WEIR_EBUSY, "%s: no node has room for all bundles now, most: %s",
                         name, text);
    group->answer->bundle = bundle;
    return weir_fail(error, WEIR_EBUSY,
                     "%s: %u of %u bundles have a place, not bundle %u, most nodes: %s", name,
                     group->answer->placed, query->bundle_count, bundle, text);
}

static weir_status run_strategy(struct group *group, struct weir_error *error)
{
    switch ((enum weir_group_strategy)group->query->strategy) {
    case WEIR_GROUP_PACK:
        return pack(group, error);
    case WEIR_GROUP_STRICT_PACK:
        return group->query->bundle_count == 0 ? WEIR_OK : strict_pack(group, error);
    case WEIR_GROUP_SPREAD:
    case WEIR_GROUP_STRICT_SPREAD:
        return spread(group, error);
    case WEIR_GROUP_STRATEGY_COUNT:
        break;
    }
    return WEIR_EINVAL;
}

weir_status weir_group_place(struct weir_chooser *scorer, const struct weir_group_query *given,
                             struct weir_alloc *allocs, struct weir_group_answer *answer,
                             struct weir_error *error)
{
    struct weir_group_query full;
    const struct weir_group_query *const query = &full;
    struct group group = { .query = query, .scorer = scorer, .allocs = allocs, .answer = answer };

    WEIR_TRY(
        weir_size_check(given->size, offsetof(struct weir_group_query, jobs), "the query", error));
    weir_size_take(&full, sizeof full, given, given->size);
    *answer = (struct weir_group_answer){ .bundle = WEIR_NO_INDEX };
    WEIR_TRY(check_query(query, error));
    WEIR_TRY(weir_group_check_room(query, answer, error));
    if (weir_cluster_mark(query->scratch) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    forget_places(&group);
    weir_status status = run_strategy(&group, error);
    if (status == WEIR_EBUSY)
        status = say_failed(&group, error);
    weir_cluster_rollback(query->scratch);
    return status;
}
