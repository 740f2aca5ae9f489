/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting GPUs anew; see weir/partition.h. */
#include "weir/partition.h"

#include "sched/cluster/state.h"
#include "sched/internal/bits.h"
#include "sched/internal/size.h"

/* GPUs that can serve the same work: of one table and type, on nodes with the same labels. */
struct likes {
    const struct weir_mig *table;
    uint32_t type;
    uint32_t labels;
};

/* What is asked for of such GPUs, by profile. */
struct demand {
    const struct weir_mig *table;
    uint64_t unmet[WEIR_MIG_PROFILES];
    uint32_t wanted; /* bits of profiles with unmet demand */
    uint32_t known;  /* bits of profiles any kind of work asks for */
};

static bool takes_part(const struct weir_cluster *cluster, uint32_t node, const struct likes *likes)
{
    return cluster->nodes[node].flags == WEIR_NODE_UP &&
           weir_topology_of(cluster, node)->labels == likes->labels;
}

static struct likes likes_of(const struct weir_cluster *cluster, uint32_t node, uint32_t gpu)
{
    const struct weir_gpu *const books = weir_cluster_gpu(cluster, node, gpu);

    return (struct likes){ books->mig, books->type, weir_topology_of(cluster, node)->labels };
}

static bool is_like(const struct likes *a, const struct likes *b)
{
    return a->table == b->table && a->type == b->type && a->labels == b->labels;
}

static void count_waiting(const struct weir_partition_query *query, const struct likes *likes,
                          struct demand *demand)
{
    for (uint32_t i = 0; i < query->shape_count; i++) {
        const struct weir_shape *const shape = &query->shapes[i];
        const uint32_t smallest = weir_shape_profiles(shape, demand->table, false);
        if (smallest == 0 || !weir_shape_takes_type(shape, likes->type) ||
            !weir_shape_takes_labels(shape, likes->labels))
            continue;
        demand->known |= smallest;
        demand->unmet[__builtin_ctz(smallest)] += query->waiting[i];
    }
}

static bool is_pending(const struct weir_partition_query *query, uint32_t node, uint32_t gpu)
{
    for (uint32_t i = 0; i < query->pending_count; i++)
        if (query->pending[i].node == node && query->pending[i].gpu == gpu)
            return true;
    return false;
}

/* Takes off what the instances of a layout serve. */
static void serve(struct demand *demand, weir_mig_layout layout)
{
    for (uint32_t s = 0; s < demand->table->slots; s++) {
        const int profile = weir_mig_at(layout, s);
        if (profile >= 0 && demand->unmet[profile] > 0)
            demand->unmet[profile]--;
    }
}

static void serve_free(const struct weir_partition_query *query, const struct likes *likes,
                       struct demand *demand)
{
    const struct weir_cluster *const cluster = query->cluster;

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        for (uint32_t g = 0; takes_part(cluster, n, likes) && g < cluster->nodes[n].gpu_count;
             g++) {
            const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, n, g);
            if (gpu->mig == demand->table && gpu->is_closed == 0 && !is_pending(query, n, g))
                serve(demand, gpu->mig_state.cut & ~gpu->mig_state.held);
        }
    }
    for (uint32_t i = 0; i < query->pending_count; i++) {
        const struct weir_partition_cut *const pending = &query->pending[i];
        const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, pending->node, pending->gpu);
        if (gpu != NULL && gpu->mig == demand->table &&
            weir_topology_of(cluster, pending->node)->labels == likes->labels)
            serve(demand, pending->cut);
    }
}

static struct demand demand_of(const struct weir_partition_query *query, const struct likes *likes)
{
    struct demand demand = { .table = likes->table };

    count_waiting(query, likes, &demand);
    serve_free(query, likes, &demand);
    for (uint32_t p = 0; p < demand.table->profile_count; p++)
        demand.wanted |= demand.unmet[p] > 0 ? UINT32_C(1) << p : 0;
    return demand;
}

/* ---- the layout ---- */

struct best_layout {
    const struct demand *demand;
    weir_mig_layout layout;
    uint64_t filled;  /* slices the waiting work fills */
    uint64_t offered; /* slices of its profiles */
    bool found;
};

static bool weigh_layout(void *state, weir_mig_layout layout)
{
    struct best_layout *const best = state;
    const struct weir_mig *const table = best->demand->table;
    uint64_t left[WEIR_MIG_PROFILES];
    uint64_t filled = 0;
    uint64_t offered = 0;

    for (uint32_t p = 0; p < table->profile_count; p++)
        left[p] = best->demand->unmet[p];
    for (uint32_t s = 0; s < table->slots; s++) {
        const int profile = weir_mig_at(layout, s);
        if (profile < 0)
            continue;
        offered += table->profiles[profile].slices;
        if (left[profile] == 0)
            continue;
        left[profile]--;
        filled += table->profiles[profile].slices;
    }
    if (!best->found || filled > best->filled ||
        (filled == best->filled && offered > best->offered)) {
        best->found = true;
        best->layout = layout;
        best->filled = filled;
        best->offered = offered;
    }
    return true;
}

/* What room is left goes to other profiles that were asked for, large ones first. */
static weir_mig_layout fill_up(const struct demand *demand, weir_mig_layout layout)
{
    const struct weir_mig *const table = demand->table;

    for (uint32_t p = table->profile_count; p-- > 0;) {
        for (uint32_t s = 0; ((demand->known >> p) & 1) != 0 && s < table->slots; s++) {
            if (weir_mig_fits(table, layout, p, s))
                layout |= weir_mig_instance(p, s);
        }
    }
    return layout;
}

static struct best_layout find_layout(const struct demand *demand)
{
    struct best_layout best = { .demand = demand };

    if (demand->wanted == 0)
        return best;
    (void)weir_mig_maximal(demand->table, demand->wanted, weigh_layout, &best);
    best.layout = fill_up(demand, best.layout);
    return best;
}

/* ---- the GPU ---- */

struct choice {
    const struct weir_partition_query *query;
    struct weir_partition_cut *cut;
    int64_t gain;
    bool found;
};

static uint32_t slices_in_use(const struct weir_gpu *gpu)
{
    return weir_bit_count(weir_mig_slices(gpu->mig, gpu->mig_state.held));
}

static void look_at_likes(struct choice *choice, const struct likes *likes,
                          const struct best_layout *best)
{
    const struct weir_cluster *const cluster = choice->query->cluster;

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        for (uint32_t g = 0; takes_part(cluster, n, likes) && g < cluster->nodes[n].gpu_count;
             g++) {
            const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, n, g);
            if (gpu->mig != likes->table || gpu->type != likes->type || gpu->is_closed != 0 ||
                is_pending(choice->query, n, g) || gpu->mig_state.cut == 0 ||
                gpu->mig_state.cut == best->layout)
                continue;
            const int64_t gain = (int64_t)best->filled - (int64_t)slices_in_use(gpu);
            if (gain < (int64_t)choice->query->min_gain || (choice->found && gain <= choice->gain))
                continue;
            choice->found = true;
            choice->gain = gain;
            *choice->cut = (struct weir_partition_cut){ .node = n, .gpu = g, .cut = best->layout };
        }
    }
}

/* Whether a GPU before this one is like it. */
static bool is_known(const struct weir_cluster *cluster, uint32_t node, uint32_t gpu)
{
    const struct likes likes = likes_of(cluster, node, gpu);

    for (uint32_t n = 0; n <= node; n++) {
        for (uint32_t g = 0; g < (n < node ? cluster->nodes[n].gpu_count : gpu); g++) {
            const struct likes other = likes_of(cluster, n, g);
            if (is_like(&other, &likes))
                return true;
        }
    }
    return false;
}

/* The best cut for work that GPUs like this one can serve. */
static void look_at_gpu(struct choice *choice, uint32_t node, uint32_t gpu)
{
    const struct likes likes = likes_of(choice->query->cluster, node, gpu);

    if (likes.table == NULL || is_known(choice->query->cluster, node, gpu))
        return;
    const struct demand demand = demand_of(choice->query, &likes);
    const struct best_layout best = find_layout(&demand);
    if (best.found)
        look_at_likes(choice, &likes, &best);
}

weir_status weir_partition_decide(const struct weir_partition_query *query,
                                  struct weir_partition_cut *cut, struct weir_error *error)
{
    WEIR_TRY(weir_size_check(query->size, sizeof *query, "the query", error));
    const struct weir_cluster *const cluster = query->cluster;
    struct choice choice = { .query = query, .cut = cut };

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        for (uint32_t g = 0; g < cluster->nodes[n].gpu_count; g++)
            look_at_gpu(&choice, n, g);
    }
    if (choice.found)
        return WEIR_OK;
    return weir_fail(error, WEIR_EBUSY, "no GPU is worth cutting anew");
}
