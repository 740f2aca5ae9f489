/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "ray_hybrid": Ray's default. A node's score is its larger utilisation of CPUs and
 * memory (GPUs do not count), 0 below `spread_threshold`. Of the nodes that fit, ordered by score
 * and id, the preferred one is taken when it is as good as the best, else one of the best k drawn
 * uniformly. Requests without GPUs try nodes without GPUs first.
 *
 * On the node: the lowest free GPUs; a share of a GPU goes where least is left. Workers to reuse
 * are not looked at, and the youngest worker is removed: Ray has neither notion.
 *
 * With `fit: node_sum` the node is chosen as the head of a cluster does that knows sums alone; when
 * no GPU of that node has room the request waits, whatever other nodes have.
 */
#include "sched/placement/parts/rooms.h"
#include "sched/placement/parts/scan.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"
#include "sched/internal/made.h"
#include "sched/internal/params.h"

#include <math.h>

enum {
    PARAM_THRESHOLD,
    PARAM_TOP_SHARE,
    PARAM_PREFERRED,
    PARAM_AVOID_GPUS,
    PARAM_FIT,
    PARAM_COUNT
};
enum { FIT_DEVICE, FIT_NODE_SUM };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_THRESHOLD] = WEIR_NUMBER("spread_threshold", "", 0, 1, 0.5,
                                    "utilisation below which nodes are equally good"),
    [PARAM_TOP_SHARE] =
        WEIR_NUMBER("top_k_share", "", 0, 1, 0.2,
                    "share of the nodes among whose best one is drawn, at least one node"),
    [PARAM_PREFERRED] =
        WEIR_COUNT("preferred_node", "", 0, 1e6, 0, "the node that asks, counted from 1; 0 = none"),
    [PARAM_AVOID_GPUS] =
        WEIR_FLAG("avoid_gpu_nodes", 1, "requests without GPUs try nodes without GPUs first"),
    [PARAM_FIT] = WEIR_CHOICE("fit", "device|node_sum", 1, FIT_DEVICE,
                              "what makes a node fit: its devices, or the sum of what is free on "
                              "them; a node chosen by its sum may then refuse"),
};

/* A node in Ray's order. */
struct rank {
    double score;
    uint64_t id;
    uint32_t node;
};

struct hybrid {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct rank *ranks; /* room for all nodes */
    uint32_t capacity;
};

static const struct weir_made made = WEIR_MADE(struct hybrid, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    return weir_made_create(&made, given, allocator, state, error);
}

static void destroy(void *state)
{
    struct hybrid *const hybrid = state;

    weir_free(&hybrid->allocator, hybrid->ranks);
    weir_made_destroy(state);
}

static double used_share(int64_t free, int64_t total)
{
    return total > 0 ? (double)(total - free) / (double)total : 0;
}

static double node_score(const struct hybrid *hybrid, const struct weir_node *node)
{
    const double cpu = used_share(node->cpu_free, node->cpu_total);
    const double ram = used_share(node->ram_free_bytes, node->ram_total_bytes);
    const double score = cpu > ram ? cpu : ram;

    return score < hybrid->values[PARAM_THRESHOLD] ? 0 : score;
}

static bool ranks_before(const struct rank *a, const struct rank *b)
{
    return a->score < b->score || (!(b->score < a->score) && a->id < b->id);
}

/* One question: which nodes take part. */
struct search {
    const struct hybrid *hybrid;
    const struct weir_place_query *query;
    bool without_gpus; /* only nodes without GPUs */
};

/* A cluster that counts GPUs by the node: crumbs on many GPUs look like a GPU. */
static bool fits_in_sum(const struct weir_cluster *cluster, const struct weir_shape *shape,
                        uint32_t node)
{
    const struct weir_node *const books = &cluster->nodes[node];
    int64_t units = 0;

    for (uint32_t g = 0; g < books->gpu_count; g++) {
        const struct weir_gpu *const gpu = &cluster->gpus[books->gpu_first + g];
        units += weir_shape_takes_type(shape, gpu->type) ? gpu->units_free : 0;
    }
    return books->flags == WEIR_NODE_UP && weir_node_takes(cluster, node, shape) &&
           books->cpu_free >= shape->cpu_units && books->ram_free_bytes >= shape->ram_bytes &&
           units >= shape->gpu_units * (int64_t)shape->gpu_count;
}

static bool is_excluded(const struct search *search, uint32_t node)
{
    return search->without_gpus && search->query->cluster->nodes[node].gpu_count > 0;
}

static bool takes_part(const struct search *search, uint32_t node)
{
    const struct weir_cluster *const cluster = search->query->cluster;
    const struct weir_shape *const shape = search->query->shape;

    if (is_excluded(search, node))
        return false;
    return search->hybrid->values[PARAM_FIT] > FIT_DEVICE
               ? fits_in_sum(cluster, shape, node)
               : weir_candidates_reason(cluster, shape, node) == WEIR_REASON_NONE;
}

static struct rank rank_of(const struct search *search, uint32_t node)
{
    const struct weir_node *const books = &search->query->cluster->nodes[node];

    return (
        struct rank){ .score = node_score(search->hybrid, books), .id = books->id, .node = node };
}

/* Those with room that are not excluded. */
static uint32_t rank_roomy(const struct search *search)
{
    struct weir_room_walk walk = weir_rooms_begin(search->query->cluster, search->query->shape);
    struct weir_choice nothing = { .candidates = 0 };
    uint32_t count = 0;

    for (uint32_t n = weir_rooms_next(&walk, &nothing); n != WEIR_NO_INDEX;
         n = weir_rooms_next(&walk, &nothing))
        if (!is_excluded(search, n))
            search->hybrid->ranks[count++] = rank_of(search, n);
    return count;
}

/* All that take part; how many. */
static uint32_t rank_all(const struct search *search)
{
    uint32_t count = 0;

    if (!(search->hybrid->values[PARAM_FIT] > FIT_DEVICE))
        return rank_roomy(search);
    for (uint32_t n = 0; n < search->query->cluster->node_count; n++)
        if (takes_part(search, n))
            search->hybrid->ranks[count++] = rank_of(search, n);
    return count;
}

/* The one with `place` others before it, by parts (Hoare's selection); O(count) on average. */
static struct rank select_rank(struct rank *ranks, uint32_t count, uint32_t place)
{
    uint32_t from = 0;
    uint32_t end = count;

    while (end - from > 1) {
        const struct rank middle = ranks[from + (end - from - 1) / 2]; /* never the last */
        uint32_t left = from;
        uint32_t right = end - 1;
        for (;; left++, right--) {
            while (ranks_before(&ranks[left], &middle))
                left++;
            while (ranks_before(&middle, &ranks[right]))
                right--;
            if (left >= right)
                break;
            const struct rank moved = ranks[left];
            ranks[left] = ranks[right];
            ranks[right] = moved;
        }
        if (place <= right)
            end = right + 1;
        else
            from = right + 1;
    }
    return ranks[from];
}

/* The node to take, or WEIR_NO_INDEX. */
static uint32_t choose_node(const struct search *search)
{
    const struct hybrid *const hybrid = search->hybrid;
    const struct weir_cluster *const cluster = search->query->cluster;
    const uint32_t preferred = (uint32_t)hybrid->values[PARAM_PREFERRED];
    const uint32_t count = rank_all(search);

    if (count == 0)
        return WEIR_NO_INDEX;
    if (preferred > 0 && preferred <= cluster->node_count && takes_part(search, preferred - 1) &&
        rank_of(search, preferred - 1).score <= select_rank(hybrid->ranks, count, 0).score)
        return preferred - 1;
    const uint32_t nodes = cluster->node_count - cluster->removed_count;
    const uint32_t share = (uint32_t)floor(hybrid->values[PARAM_TOP_SHARE] * nodes + 1e-9);
    const uint32_t most = share > 1 ? share : 1;
    const uint32_t place =
        (uint32_t)(weir_hash_mix(search->query->seed) % (count < most ? count : most));
    return select_rank(hybrid->ranks, count, place).node;
}

static weir_status reserve_ranks(struct hybrid *hybrid, uint32_t nodes)
{
    WEIR_ROOM(&hybrid->allocator, hybrid->ranks, hybrid->capacity, nodes);
    return WEIR_OK;
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    struct hybrid *const hybrid = state;
    const bool wants_gpu = query->shape->kind != WEIR_SHAPE_CPU;
    struct search search = { .hybrid = hybrid, .query = query };
    uint32_t node = WEIR_NO_INDEX;

    weir_answer_begin(answer);
    if (reserve_ranks(hybrid, query->cluster->node_count) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "placement ray_hybrid: out of memory");
    const struct weir_room_walk walk = weir_rooms_begin(query->cluster, query->shape);
    answer->choice.candidates = weir_rooms_survey(&walk, &answer->choice);
    if (answer->choice.candidates == 0 && hybrid->values[PARAM_FIT] < FIT_NODE_SUM)
        return weir_scan_busy(&answer->choice, error);
    search.without_gpus = !wants_gpu && hybrid->values[PARAM_AVOID_GPUS] > 0;
    if (search.without_gpus)
        node = choose_node(&search);
    search.without_gpus = false;
    if (node == WEIR_NO_INDEX)
        node = choose_node(&search);
    if (node == WEIR_NO_INDEX)
        return weir_scan_busy(&answer->choice, error);
    if (!weir_place_tightest(query, node, &answer->alloc))
        return weir_fail(
            error, WEIR_EBUSY, "node %u has enough in sum, but %s", node,
            weir_reason_text(weir_candidates_reason(query->cluster, query->shape, node)));
    answer->choice.ties = 1;
    answer->choice.primary = node_score(hybrid, &query->cluster->nodes[node]);
    return WEIR_OK;
}

const struct weir_placement_ops weir_placement_ray_hybrid = {
    .size = sizeof weir_placement_ray_hybrid,
    .abi = WEIR_ABI_MAJOR,
    .name = "ray_hybrid",
    .summary = "Ray's default: pack up to half of a node's CPUs and memory, then spread",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .flags = WEIR_PLACEMENT_WITHOUT_MIX,
    .place = place,
};
