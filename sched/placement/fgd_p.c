/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "fgd_p": FGD as the first version of the xenna reference computes it, to the last bit.
 *
 * Its books are doubles: what is free on a GPU is 1 less the shares on it one after the other, so
 * five workers of 0.2 leave 5.6e-17, and F of a node or of the cluster is a sum of such remains. No
 * two numbers are equal but by being the same double, so noise decides between places that are
 * equally good; which of the equal places it takes changes how well later workers fit, by some
 * percent of throughput. `fgd_xenna` gives the same answers without the noise. Whether something
 * fits is asked of the whole numbers of the inventory, as everywhere.
 *
 * Place: least F(node after) - F(node before) - 10, then most free in all on the node after it.
 * Evict: least F(cluster after), then most free on its node before. The first of equal ones wins.
 * Shares of unlike size on one GPU are subtracted in the order in which they were given out; the
 * reference does so too, but begins each decision in the order of the stages.
 */
#include "sched/placement/fgd.h"
#include "sched/placement/parts/scan.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/made.h"

#include <math.h>
#include <string.h>

static const double BONUS = 10; /* given to every place: it only costs digits */

/* What is kept of one node; valid while its workers and the mix are those of `stamp` and `mix`. */
struct books {
    uint64_t stamp;
    uint64_t mix;          /* 0 = never filled */
    struct weir_score now; /* F, and what is free in all */
    double free[WEIR_MAX_NODE_GPUS];
};

struct fgd_p {
    struct weir_allocator allocator;
    struct weir_frag frag; /* only says whether the mix changed */
    uint64_t mix;
    struct books *nodes;
    uint32_t capacity;
};

static void destroy(void *state)
{
    struct fgd_p *const fgd = state;

    weir_frag_free(&fgd->frag, &fgd->allocator);
    weir_free(&fgd->allocator, fgd->nodes);
    weir_made_destroy(state);
}

static const struct weir_made made = WEIR_MADE_BARE(struct fgd_p);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    return weir_made_create(&made, given, allocator, state, error);
}

static void move(double *free, const struct weir_device *device, double direction)
{
    free[device->gpu] -= direction * weir_units_amount(device->units);
}

/* The worker of a node that came first of those that came at `since` or later. */
static const struct weir_worker_slot *next_worker(const struct weir_cluster *cluster, uint32_t node,
                                                  uint64_t since)
{
    const struct weir_worker_slot *next = NULL;

    for (uint32_t s = cluster->lists[node].first; s != WEIR_NO_INDEX;
         s = cluster->slots[s].node_next) {
        const struct weir_worker_slot *const slot = &cluster->slots[s];
        if (slot->device_count > 0 && slot->sequence >= since &&
            (next == NULL || slot->sequence < next->sequence))
            next = slot;
    }
    return next;
}

static void read_free(const struct weir_cluster *cluster, uint32_t node, double *free)
{
    const struct weir_node *const seen = &cluster->nodes[node];
    const struct weir_worker_slot *slot;
    struct weir_worker worker;

    for (uint32_t g = 0; g < seen->gpu_count; g++)
        free[g] = weir_units_amount(cluster->gpus[seen->gpu_first + g].units_total);
    for (uint64_t since = 0; (slot = next_worker(cluster, node, since)) != NULL;
         since = slot->sequence + 1) {
        (void)weir_cluster_worker(cluster, slot->id, &worker);
        for (uint32_t d = 0; d < worker.alloc.device_count; d++)
            move(free, &worker.alloc.devices[d], 1);
    }
}

/* What a node has once `alloc` is given out (direction 1) or taken back (-1): F, and what is free
 * in all. `free` is that of its GPUs before, and is brought up to date. */
static struct weir_score look(const struct weir_place_query *query, const struct weir_alloc *alloc,
                              int64_t direction, double *free)
{
    const struct weir_cluster *const cluster = query->cluster;
    const struct weir_node *const node = &cluster->nodes[alloc->node];
    int64_t units = 0; /* of compute, after it */
    double compute = 0;

    for (uint32_t d = 0; d < alloc->device_count; d++) {
        move(free, &alloc->devices[d], (double)direction);
        units -= direction * alloc->devices[d].units;
    }
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        compute += free[g];
        units += cluster->gpus[node->gpu_first + g].units_free;
    }
    const int64_t stock =
        weir_stock_free(cluster, alloc->node) - direction * weir_stock_alloc(alloc);
    const int64_t cpus = node->cpu_free - direction * alloc->cpu_units;
    return (struct weir_score){
        .primary = weir_frag_reference(cluster, query->mix, alloc, direction, free),
        .secondary = weir_units_amount(cpus) + compute + weir_units_amount(stock - cpus - units),
    };
}

static struct weir_score look_after(const struct fgd_p *fgd, const struct weir_place_query *query,
                                    const struct weir_alloc *alloc, int64_t direction)
{
    double free[WEIR_MAX_NODE_GPUS];

    memcpy(free, fgd->nodes[alloc->node].free, sizeof free);
    return look(query, alloc, direction, free);
}

static weir_status grow_nodes(struct fgd_p *fgd, uint32_t count)
{
    const uint32_t before = fgd->capacity;

    WEIR_ROOM(&fgd->allocator, fgd->nodes, fgd->capacity, count);
    for (uint32_t n = before; n < fgd->capacity; n++)
        fgd->nodes[n].mix = 0;
    return WEIR_OK;
}

static weir_status begin(struct fgd_p *fgd, const struct weir_place_query *query,
                         struct weir_error *error)
{
    const struct weir_cluster *const cluster = query->cluster;
    bool changed;

    if (grow_nodes(fgd, cluster->node_count) != WEIR_OK ||
        weir_frag_prepare(&fgd->frag, &fgd->allocator, query->mix, &changed) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "placement fgd_p: out of memory");
    struct books *const nodes = fgd->nodes;
    fgd->mix += changed;
    for (uint32_t n = 0; n < cluster->node_count; n++) {
        const struct weir_alloc nothing = { .node = n };
        struct books *const books = &nodes[n];
        if (books->mix == fgd->mix && books->stamp == cluster->lists[n].stamp)
            continue;
        read_free(cluster, n, books->free);
        books->now = look(query, &nothing, 1, books->free);
        books->stamp = cluster->lists[n].stamp;
        books->mix = fgd->mix;
    }
    return WEIR_OK;
}

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    const struct fgd_p *const fgd = state;
    const struct weir_score after = look_after(fgd, query, candidate, 1);

    return (struct weir_score){
        .primary = after.primary - fgd->nodes[candidate->node].now.primary - BONUS,
        .secondary = -after.secondary,
    };
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    const struct weir_scan scan = { .score = score, .state = state, .mode = WEIR_CANDIDATES_ALL };

    WEIR_TRY(begin(state, query, error));
    return weir_scan_place(&scan, query, answer, error);
}

/* F of the cluster with one node's replaced: summed anew, in the order of the nodes. */
static double frag_cluster(const struct fgd_p *fgd, const struct weir_cluster *cluster,
                           uint32_t node, double frag)
{
    double sum = 0;

    for (uint32_t n = 0; n < cluster->node_count; n++)
        sum += n == node ? frag : fgd->nodes[n].now.primary;
    return sum;
}

static weir_status evict(void *state, const struct weir_evict_query *query, uint64_t *worker,
                         struct weir_error *error)
{
    const struct weir_place_query seen = { .cluster = query->cluster, .mix = query->mix };
    const struct fgd_p *const fgd = state;
    const uint32_t count = weir_evict_count(query);
    struct weir_score best = { .primary = (double)INFINITY, .secondary = (double)INFINITY };

    WEIR_TRY(begin(state, &seen, error));
    for (uint32_t i = 0; i < count; i++) {
        struct weir_worker candidate;
        const uint64_t id = weir_evict_candidate(query, i);
        if (!weir_cluster_worker(query->cluster, id, &candidate))
            return weir_fail(error, WEIR_ENOTFOUND, "there is no worker %llu",
                             (unsigned long long)id);
        const uint32_t node = candidate.alloc.node;
        const double after = look_after(fgd, &seen, &candidate.alloc, -1).primary;
        const double sum = frag_cluster(fgd, query->cluster, node, after);
        const double left = fgd->nodes[node].now.secondary;
        if (sum < best.primary || (!(best.primary < sum) && -left < best.secondary)) {
            best = (struct weir_score){ .primary = sum, .secondary = -left };
            *worker = id;
        }
    }
    return count > 0 ? WEIR_OK : weir_evict_nobody(query, error);
}

const struct weir_placement_ops weir_placement_fgd_p = {
    .size = sizeof weir_placement_fgd_p,
    .abi = WEIR_ABI_MAJOR,
    .name = "fgd_p",
    .summary = "fgd as the reference had it first: noise of 64-bit sums decides ties",
    .create = create,
    .destroy = destroy,
    .place = place,
    .evict = evict,
};
