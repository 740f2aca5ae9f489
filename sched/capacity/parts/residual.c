/* SPDX-License-Identifier: Apache-2.0 */
/* Demands that find no room; see the header. */
#include "sched/capacity/parts/residual.h"

#include "sched/internal/alloc.h"
#include "sched/internal/amounts.h"
#include "sched/internal/bits.h"
#include "weir/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double GIB = 1024.0 * 1024 * 1024;

static void spread(const struct weir_amounts *amounts, int64_t *of)
{
    of[WEIR_CPUS] = amounts->cpu_units;
    of[WEIR_GPUS] = amounts->gpu_units;
    of[WEIR_MEMORY] = amounts->ram_bytes;
    of[WEIR_NVDECS] = amounts->nvdecs;
    of[WEIR_NVENCS] = amounts->nvencs;
}

/* In CPUs, GPUs, GiB and engines. */
static double whole(uint32_t resource, int64_t amount)
{
    const double one = resource == WEIR_MEMORY                              ? GIB
                       : resource == WEIR_NVDECS || resource == WEIR_NVENCS ? 1
                                                                            : (double)WEIR_ONE;
    return (double)amount / one;
}

/* ---- what waits ---- */

static uint32_t kinds_of(const struct weir_demands *demands)
{
    uint32_t count = 0;

    for (uint32_t r = 0; r < WEIR_LOGICALS; r++)
        count += demands->of[r] > 0;
    return count;
}

static double sum_of(const struct weir_demands *demands)
{
    double sum = 0;

    for (uint32_t r = 0; r < WEIR_LOGICALS; r++)
        sum += whole(r, demands->of[r]);
    return sum;
}

/* Equal ones by each resource, so that no order of the queue shows. */
static int compare(const void *left, const void *right)
{
    const struct weir_demands *const a = left;
    const struct weir_demands *const b = right;
    const uint32_t kinds[] = { kinds_of(a), kinds_of(b) };
    const double sums[] = { sum_of(a), sum_of(b) };

    if (kinds[0] != kinds[1])
        return kinds[0] > kinds[1] ? -1 : 1;
    if (sums[0] < sums[1] || sums[0] > sums[1])
        return sums[0] > sums[1] ? -1 : 1;
    for (uint32_t r = 0; r < WEIR_LOGICALS; r++)
        if (a->of[r] != b->of[r])
            return a->of[r] > b->of[r] ? -1 : 1;
    return a->most != b->most ? (a->most > b->most ? -1 : 1) : 0;
}

static weir_status add(struct weir_residual *residual, const struct weir_amounts *amounts,
                       uint64_t count, uint64_t most)
{
    struct weir_demands demands = { .count = count, .most = most };

    spread(amounts, demands.of);
    if (count == 0 || kinds_of(&demands) == 0)
        return WEIR_OK;
    WEIR_ROOM(&residual->allocator, residual->demands, residual->capacity, residual->count + 1);
    residual->demands[residual->count++] = demands;
    return WEIR_OK;
}

static weir_status add_kind(struct weir_residual *residual, const struct weir_waiting *waiting)
{
    const bool is_apart = waiting->strategy == WEIR_GROUP_STRICT_SPREAD + 1;

    if (waiting->strategy == WEIR_GROUP_STRICT_PACK + 1)
        return add(residual, &waiting->need, waiting->jobs, UINT64_MAX);
    for (uint32_t g = 0; g < waiting->group_count; g++) {
        const struct weir_rank_group *const group = &waiting->groups[g];
        const struct weir_amounts rank = weir_shape_amounts(&group->shape, 0, 0);
        WEIR_TRY(add(residual, &rank, (uint64_t)waiting->jobs * group->ranks,
                     is_apart ? waiting->jobs : UINT64_MAX));
    }
    return WEIR_OK;
}

static void put_in_order(struct weir_residual *residual)
{
    if (residual->count > 0)
        qsort(residual->demands, residual->count, sizeof *residual->demands, compare);
}

weir_status weir_residual_read(struct weir_residual *residual, const struct weir_view *view)
{
    struct weir_waiting waiting = { .size = sizeof waiting };

    residual->count = 0;
    for (uint32_t i = 0; weir_view_waiting(view, i, &waiting); i++)
        WEIR_TRY(add_kind(residual, &waiting));
    put_in_order(residual);
    return WEIR_OK;
}

static struct weir_amounts held_by(const struct weir_alloc *alloc)
{
    struct weir_amounts held = { .cpu_units = alloc->cpu_units, .ram_bytes = alloc->ram_bytes };

    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        held.gpu_units += device->units;
        held.nvdecs += weir_bit_count(device->nvdec_mask);
        held.nvencs += weir_bit_count(device->nvenc_mask);
    }
    return held;
}

weir_status weir_residual_read_node(struct weir_residual *residual, const struct weir_view *view,
                                    uint32_t node)
{
    struct weir_worker worker;
    uint32_t cursor = 0;

    residual->count = 0;
    while (weir_cluster_node_worker(view->cluster, node, &cursor, &worker)) {
        const struct weir_amounts held = held_by(&worker.alloc);
        WEIR_TRY(add(residual, &held, 1, UINT64_MAX));
    }
    put_in_order(residual);
    return WEIR_OK;
}

weir_status weir_residual_copy(struct weir_residual *residual, const struct weir_residual *from)
{
    WEIR_ROOM(&residual->allocator, residual->demands, residual->capacity, from->count);
    if (from->count > 0)
        memcpy(residual->demands, from->demands, from->count * sizeof *from->demands);
    residual->count = from->count;
    return WEIR_OK;
}

void weir_residual_close(struct weir_residual *residual)
{
    weir_free(&residual->allocator, residual->demands);
}

/* ---- where it fits ---- */

/* How many of these fit into the room; it gets smaller by them. */
static uint64_t fit(const struct weir_demands *demands, int64_t *room)
{
    uint64_t count = demands->count < demands->most ? demands->count : demands->most;

    for (uint32_t r = 0; r < WEIR_LOGICALS; r++)
        if (demands->of[r] > 0) {
            const int64_t most = room[r] > 0 ? room[r] / demands->of[r] : 0;
            count = (uint64_t)most < count ? (uint64_t)most : count;
        }
    for (uint32_t r = 0; r < WEIR_LOGICALS; r++)
        room[r] -= (int64_t)count * demands->of[r];
    return count;
}

/* Whoever is taken out is no longer there. */
static uint64_t take(struct weir_residual *residual, int64_t *room)
{
    uint32_t left = 0;
    uint64_t taken = 0;

    for (uint32_t i = 0; i < residual->count; i++) {
        struct weir_demands demands = residual->demands[i];
        const uint64_t count = fit(&demands, room);
        taken += count;
        demands.count -= count;
        if (demands.count > 0)
            residual->demands[left++] = demands;
    }
    residual->count = left;
    return taken;
}

uint64_t weir_residual_take(struct weir_residual *residual, const struct weir_amounts *holds)
{
    int64_t room[WEIR_LOGICALS];

    spread(holds, room);
    return take(residual, room);
}

struct weir_amounts weir_residual_sum(const struct weir_residual *residual)
{
    struct weir_amounts sum = { .cpu_units = 0 };

    for (uint32_t i = 0; i < residual->count; i++) {
        const struct weir_demands *const demands = &residual->demands[i];
        weir_sum_count(&sum.cpu_units, demands->of[WEIR_CPUS], (int64_t)demands->count);
        weir_sum_count(&sum.ram_bytes, demands->of[WEIR_MEMORY], (int64_t)demands->count);
    }
    return sum;
}

/* What jobs on their way out hold of a node. */
static void add_ending(const struct weir_view *view, uint32_t node, struct weir_amounts *free)
{
    struct weir_worker worker;
    uint32_t cursor = 0;

    while (weir_cluster_node_worker(view->cluster, node, &cursor, &worker)) {
        struct weir_job job = { .size = sizeof job };
        if (worker.owner.kind != WEIR_OWNER_JOB ||
            !weir_view_job(view, worker.owner.index, worker.owner.id, &job) ||
            job.is_preempted == 0)
            continue;
        const struct weir_amounts held = held_by(&worker.alloc);
        weir_amounts_count(free, &held, 1);
    }
}

static void free_of(const struct weir_view *view, uint32_t node, uint32_t fill, int64_t *room)
{
    const struct weir_cluster *const cluster = view->cluster;
    const struct weir_node *const seen = weir_cluster_node(cluster, node);
    struct weir_amounts free = { .cpu_units = seen->cpu_free, .ram_bytes = seen->ram_free_bytes };

    for (uint32_t g = 0; g < seen->gpu_count; g++) {
        const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, node, g);
        free.gpu_units += gpu->units_free;
        free.nvdecs += weir_bit_count(gpu->nvdec_free);
        free.nvencs += weir_bit_count(gpu->nvenc_free);
    }
    if ((fill & WEIR_FILL_ENDING) != 0)
        add_ending(view, node, &free);
    spread(&free, room);
}

void weir_residual_fill(struct weir_residual *residual, const struct weir_view *view,
                        uint32_t except, uint32_t fill)
{
    for (uint32_t n = 0; residual->count > 0 && n < weir_cluster_node_count(view->cluster); n++) {
        int64_t room[WEIR_LOGICALS];
        if (n == except || weir_cluster_node(view->cluster, n)->flags != WEIR_NODE_UP)
            continue;
        free_of(view, n, fill, room);
        (void)take(residual, room);
    }
    for (uint32_t i = 0; (fill & WEIR_FILL_COMING) != 0 && i < weir_view_offers(view); i++) {
        struct weir_node_offer offer = { .size = sizeof offer };
        (void)weir_view_offer(view, i, &offer);
        for (uint32_t n = 0; residual->count > 0 && n < offer.coming; n++)
            (void)weir_residual_take(residual, &offer.holds);
    }
}

/* ---- which node is best for it ---- */

static uint32_t wanted_kinds(const struct weir_residual *residual)
{
    uint32_t kinds = 0;

    for (uint32_t i = 0; i < residual->count; i++)
        for (uint32_t r = 0; r < WEIR_LOGICALS; r++)
            kinds |= residual->demands[i].of[r] > 0 ? 1U << r : 0;
    return kinds;
}

struct weir_node_score weir_residual_score(const struct weir_residual *residual,
                                           const struct weir_amounts *holds)
{
    const uint32_t wanted = wanted_kinds(residual);
    struct weir_node_score score = { .least = HUGE_VAL };
    int64_t all[WEIR_LOGICALS];
    int64_t room[WEIR_LOGICALS];
    uint32_t count = 0;

    spread(holds, all);
    spread(holds, room);
    for (uint32_t i = 0; i < residual->count; i++)
        score.fits |= fit(&residual->demands[i], room) > 0;
    score.gpu_ok = all[WEIR_GPUS] == 0 || (wanted >> WEIR_GPUS & 1) != 0;
    for (uint32_t r = 0; r < WEIR_LOGICALS; r++) {
        const double amount = whole(r, all[r]);
        if (amount < 1)
            continue;
        const double used = (double)(all[r] - room[r]) / (double)all[r];
        const double value = amount * used * used * used;
        score.kinds += wanted >> r & 1;
        score.least = fmin(score.least, value);
        score.mean += value;
        count++;
    }
    score.mean /= count > 0 ? count : 1;
    return score;
}

bool weir_node_score_is_better(const struct weir_node_score *score,
                               const struct weir_node_score *than)
{
    if (score->fits != than->fits)
        return score->fits;
    if (score->gpu_ok != than->gpu_ok)
        return score->gpu_ok;
    if (score->kinds != than->kinds)
        return score->kinds > than->kinds;
    if (score->least < than->least || score->least > than->least)
        return score->least > than->least;
    return score->mean > than->mean;
}
