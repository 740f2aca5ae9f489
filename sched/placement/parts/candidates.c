/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enumeration of candidates on one node, and the reason when there is none.
 *
 * Leaving out candidates that differ only by GPUs in the same state: a GPU may be chosen only after
 * its earlier twin, and with at least the twin's count. Of every set of equal candidates this
 * leaves the one that comes first, and keeps the order of those that are left.
 */
#include "sched/placement/parts/candidates.h"

#include "sched/cluster/state.h"
#include "sched/internal/bits.h"
#include "sched/placement/parts/near.h"

#include <string.h>

/* One enumeration in progress. */
struct walk {
    const struct weir_candidate_query *query;
    const struct weir_shape *shape;
    const struct weir_node *node;
    const struct weir_gpu *gpus;
    weir_candidate_visit visit;
    void *state;
    uint32_t visited;
    bool stopped;
    bool first_alone;         /* one candidate is enough */
    struct weir_near_set set; /* WHOLE, ENTIRE: GPUs to choose from; `missing` of `open` are */
    uint8_t taken_decs[WEIR_MAX_NODE_GPUS]; /* CODEC: engines; WHOLE, ENTIRE: 1 = chosen */
    uint8_t taken_encs[WEIR_MAX_NODE_GPUS];
    uint32_t decs_from[WEIR_MAX_NODE_GPUS + 1]; /* free engines on this GPU and all later ones */
    uint32_t encs_from[WEIR_MAX_NODE_GPUS + 1];
    struct weir_alloc alloc;
};

static uint32_t lowest_bits(uint32_t mask, uint32_t count)
{
    uint32_t bits = 0;

    for (; count > 0; count--) {
        const uint32_t lowest = mask & (~mask + 1);
        bits |= lowest;
        mask ^= lowest;
    }
    return bits;
}

uint32_t weir_slice_places(const struct weir_gpu *gpu, const struct weir_shape *shape,
                           bool low_slots, struct weir_slice_place places[WEIR_MIG_SLOTS])
{
    const struct weir_mig *const table = gpu->mig;
    uint32_t count = 0;

    if (table == NULL || gpu->is_closed != 0)
        return 0;
    const uint32_t profiles = weir_shape_profiles(shape, table, gpu->mig_state.cut != 0);
    for (uint32_t p = 0; profiles >> p != 0; p++) {
        for (uint32_t k = 0; ((profiles >> p) & 1) != 0 && k < table->slots; k++) {
            const uint32_t s = low_slots ? k : table->slots - 1 - k;
            if (weir_mig_free(table, gpu->mig_state, p, s))
                places[count++] = (struct weir_slice_place){ .profile = p, .start = s };
        }
    }
    return count;
}

bool weir_slice_usable(const struct weir_gpu *gpu, const struct weir_shape *shape)
{
    return gpu->mig != NULL && gpu->is_closed == 0 &&
           weir_mig_any_free(gpu->mig, gpu->mig_state,
                             weir_shape_profiles(shape, gpu->mig, gpu->mig_state.cut != 0));
}

/* What a worker holds that gets this place on GPU `index` of its node. */
static void slice_device(const struct weir_gpu *gpu, uint32_t index, struct weir_slice_place place,
                         struct weir_device *device)
{
    const struct weir_mig_profile *const profile = &gpu->mig->profiles[place.profile];

    *device = (struct weir_device){ .gpu = index,
                                    .nvdec_mask = lowest_bits(gpu->nvdec_free, profile->nvdecs),
                                    .mig = weir_device_instance(place.profile, place.start),
                                    .units = weir_mig_units(gpu->mig, place.profile),
                                    .mem_bytes = profile->mem_bytes };
}

static bool same_state(const struct weir_gpu *a, const struct weir_gpu *b)
{
    return a->units_free == b->units_free && a->mem_free_bytes == b->mem_free_bytes &&
           a->type == b->type && a->units_total == b->units_total &&
           a->mem_total_bytes == b->mem_total_bytes && a->nvdec_all == b->nvdec_all &&
           a->nvenc_all == b->nvenc_all && a->mig == b->mig &&
           a->mig_state.held == b->mig_state.held && a->mig_state.cut == b->mig_state.cut &&
           a->is_closed == b->is_closed &&
           (a->nvdec_free == b->nvdec_free ||
            weir_bit_count(a->nvdec_free) == weir_bit_count(b->nvdec_free)) &&
           (a->nvenc_free == b->nvenc_free ||
            weir_bit_count(a->nvenc_free) == weir_bit_count(b->nvenc_free));
}

static uint8_t nearest_twin(const struct weir_gpu *gpus, uint32_t gpu)
{
    for (uint32_t earlier = gpu; earlier-- > 0;) {
        if (same_state(&gpus[earlier], &gpus[gpu]))
            return (uint8_t)earlier;
    }
    return WEIR_NO_TWIN;
}

void weir_twins_find(const struct weir_cluster *cluster, uint32_t node, struct weir_twins *twins)
{
    const struct weir_node *const books = &cluster->nodes[node];

    for (uint32_t g = 0; g < books->gpu_count; g++)
        twins->previous[g] = nearest_twin(&cluster->gpus[books->gpu_first], g);
}

static uint8_t twin_of(const struct walk *walk, uint32_t gpu)
{
    return walk->query->twins == NULL ? WEIR_NO_TWIN : walk->query->twins->previous[gpu];
}

static void offer(struct walk *walk)
{
    walk->visited++;
    if (!walk->visit(walk->state, &walk->alloc) || walk->visited == WEIR_CANDIDATES_MOST ||
        walk->first_alone)
        walk->stopped = true;
}

static void fill_device(const struct walk *walk, uint32_t gpu, uint32_t nvdecs, uint32_t nvencs,
                        struct weir_device *device)
{
    const struct weir_gpu *const books = &walk->gpus[gpu];

    *device = (struct weir_device){ .gpu = gpu,
                                    .nvdec_mask = lowest_bits(books->nvdec_free, nvdecs),
                                    .nvenc_mask = lowest_bits(books->nvenc_free, nvencs),
                                    .units = walk->shape->gpu_units,
                                    .mem_bytes = walk->shape->gpu_mem_bytes };
}

static void fill_gpu_device(const struct walk *walk, uint32_t gpu, struct weir_device *device)
{
    fill_device(walk, gpu, walk->shape->nvdecs, walk->shape->nvencs, device);
    if (walk->shape->kind == WEIR_SHAPE_ENTIRE) {
        device->nvdec_mask = walk->gpus[gpu].nvdec_all;
        device->nvenc_mask = walk->gpus[gpu].nvenc_all;
    }
}

/* One GPU for everything: FRACTIONAL, and CODEC on one GPU. */
static void visit_single(struct walk *walk)
{
    for (uint32_t g = 0; g < walk->node->gpu_count && !walk->stopped; g++) {
        if (twin_of(walk, g) != WEIR_NO_TWIN || !weir_gpu_usable(&walk->gpus[g], walk->shape))
            continue;
        walk->alloc.device_count = 1;
        fill_gpu_device(walk, g, &walk->alloc.devices[0]);
        offer(walk);
    }
}

/* Instances of GPUs that are cut. */
static void visit_slices(struct walk *walk)
{
    struct weir_slice_place places[WEIR_MIG_SLOTS];

    for (uint32_t g = 0; g < walk->node->gpu_count && !walk->stopped; g++) {
        const struct weir_gpu *const gpu = &walk->gpus[g];
        if (twin_of(walk, g) != WEIR_NO_TWIN || !weir_shape_takes_type(walk->shape, gpu->type))
            continue;
        const uint32_t count = weir_slice_places(gpu, walk->shape, walk->query->low_slots, places);
        for (uint32_t i = 0; i < count && !walk->stopped; i++) {
            walk->alloc.device_count = 1;
            slice_device(gpu, g, places[i], &walk->alloc.devices[0]);
            offer(walk);
        }
    }
}

/* Whether a GPU of `open` may be the next that is chosen. */
static bool is_open(const struct walk *walk, uint32_t gpu)
{
    const uint8_t twin = twin_of(walk, gpu);

    if (walk->set.missing == 0 || (walk->set.open >> gpu & 1) == 0)
        return false;
    return twin == WEIR_NO_TWIN || (walk->set.open >> twin & 1) == 0 || walk->taken_decs[twin] != 0;
}

/* Combinations: chooses the next GPU from `start` on. */
static void visit_combinations(struct walk *walk, uint32_t start)
{
    if (walk->alloc.device_count == walk->shape->gpu_count) {
        offer(walk);
        return;
    }
    const uint32_t missing = walk->shape->gpu_count - walk->alloc.device_count;
    for (uint32_t g = start; g + missing <= walk->node->gpu_count && !walk->stopped; g++) {
        const bool is_fixed = (walk->set.fixed >> g & 1) != 0;
        if (!is_fixed && !is_open(walk, g))
            continue;
        if (!weir_gpu_usable(&walk->gpus[g], walk->shape))
            continue;
        walk->taken_decs[g] = 1;
        walk->set.missing -= !is_fixed;
        fill_gpu_device(walk, g, &walk->alloc.devices[walk->alloc.device_count++]);
        visit_combinations(walk, g + 1);
        walk->alloc.device_count--;
        walk->set.missing += !is_fixed;
        walk->taken_decs[g] = 0;
        if (is_fixed)
            return;
    }
}

static bool visit_set(void *state, const struct weir_near_set *set)
{
    struct walk *const walk = state;

    walk->set = *set;
    visit_combinations(walk, 0);
    return !walk->stopped;
}

static uint64_t usable_gpus(const struct walk *walk)
{
    uint64_t usable = 0;

    for (uint32_t g = 0; g < walk->node->gpu_count; g++)
        usable |= (uint64_t)weir_gpu_usable(&walk->gpus[g], walk->shape) << g;
    return usable;
}

/* Whole GPUs, near one another. */
static void visit_whole(struct walk *walk)
{
    const struct weir_cluster *const cluster = walk->query->cluster;
    const struct weir_topology *const topology = weir_topology_of(cluster, walk->query->node);
    const struct weir_place_query *const asked = walk->query->asked;
    const uint32_t wanted = walk->shape->gpu_count;
    int64_t cpu_free[WEIR_MAX_NODE_GPUS];

    if (wanted > WEIR_MAX_DEVICES)
        return;
    if (!weir_near_matters(topology)) {
        walk->set = (struct weir_near_set){ .open = UINT64_MAX, .missing = wanted };
        visit_combinations(walk, 0);
        return;
    }
    const struct weir_near_query query = {
        .topology = topology,
        .gpu_count = walk->node->gpu_count,
        .wanted = wanted,
        .coming = asked != NULL && asked->together > 1 ? asked->together * wanted : wanted,
        .usable = usable_gpus(walk),
        .mine = asked == NULL ? 0 : weir_near_job(cluster, walk->query->node, &asked->owner),
        .cpu_free = weir_near_cpus(cluster, walk->query->node, cpu_free),
        .cpu_wanted = walk->shape->cpu_units,
    };
    if ((uint32_t)__builtin_popcountll(query.usable) >= wanted)
        weir_near_each(&query, visit_set, walk);
}

/* A GPU from which a CODEC worker may take engines at all. */
static bool engines_reachable(const struct weir_gpu *gpu, const struct weir_shape *shape)
{
    return gpu->mem_free_bytes >= shape->gpu_mem_bytes && gpu->mig == NULL &&
           weir_shape_takes_type(shape, gpu->type);
}

static void offer_split(struct walk *walk)
{
    uint32_t count = 0;

    for (uint32_t g = 0; g < walk->node->gpu_count; g++) {
        if (walk->taken_decs[g] == 0 && walk->taken_encs[g] == 0)
            continue;
        if (count == WEIR_MAX_DEVICES)
            return; /* touches more GPUs than one allocation can */
        fill_device(walk, g, walk->taken_decs[g], walk->taken_encs[g],
                    &walk->alloc.devices[count++]);
    }
    walk->alloc.device_count = count;
    offer(walk);
}

/* The nearest earlier GPU that is still a twin once NVDECs are given out. */
static uint8_t twin_after_decs(const struct walk *walk, uint32_t gpu)
{
    uint8_t twin = twin_of(walk, gpu);

    while (twin != WEIR_NO_TWIN && walk->taken_decs[twin] != walk->taken_decs[gpu])
        twin = twin_of(walk, twin);
    return twin;
}

static void visit_enc_splits(struct walk *walk, uint32_t start, uint32_t rest)
{
    if (rest == 0) {
        offer_split(walk);
        return;
    }
    for (uint32_t g = start; walk->encs_from[g] >= rest && !walk->stopped; g++) {
        const uint32_t here = walk->encs_from[g] - walk->encs_from[g + 1];
        const uint8_t twin = twin_after_decs(walk, g);
        const uint32_t least = twin == WEIR_NO_TWIN ? 1 : walk->taken_encs[twin];
        if (least == 0)
            continue;
        for (uint32_t n = least; n <= here && n <= rest && !walk->stopped; n++) {
            walk->taken_encs[g] = (uint8_t)n;
            visit_enc_splits(walk, g + 1, rest - n);
        }
        walk->taken_encs[g] = 0;
    }
}

static void visit_dec_splits(struct walk *walk, uint32_t start, uint32_t rest)
{
    if (rest == 0) {
        visit_enc_splits(walk, 0, walk->shape->nvencs);
        return;
    }
    for (uint32_t g = start; walk->decs_from[g] >= rest && !walk->stopped; g++) {
        const uint32_t here = walk->decs_from[g] - walk->decs_from[g + 1];
        const uint8_t twin = twin_of(walk, g);
        const uint32_t least = twin == WEIR_NO_TWIN ? 1 : walk->taken_decs[twin];
        if (least == 0)
            continue;
        for (uint32_t n = least; n <= here && n <= rest && !walk->stopped; n++) {
            walk->taken_decs[g] = (uint8_t)n;
            visit_dec_splits(walk, g + 1, rest - n);
        }
        walk->taken_decs[g] = 0;
    }
}

static void visit_splits(struct walk *walk)
{
    const uint32_t gpu_count = walk->node->gpu_count;

    walk->decs_from[gpu_count] = 0;
    walk->encs_from[gpu_count] = 0;
    for (uint32_t g = gpu_count; g-- > 0;) {
        const struct weir_gpu *const gpu = &walk->gpus[g];
        const bool reachable = engines_reachable(gpu, walk->shape);
        walk->decs_from[g] =
            walk->decs_from[g + 1] + (reachable ? weir_bit_count(gpu->nvdec_free) : 0);
        walk->encs_from[g] =
            walk->encs_from[g + 1] + (reachable ? weir_bit_count(gpu->nvenc_free) : 0);
    }
    if (walk->decs_from[0] >= walk->shape->nvdecs && walk->encs_from[0] >= walk->shape->nvencs)
        visit_dec_splits(walk, 0, walk->shape->nvdecs);
}

static void visit_kind(struct walk *walk)
{
    switch (walk->shape->kind) {
    case WEIR_SHAPE_CPU:
        offer(walk);
        return;
    case WEIR_SHAPE_CODEC:
        if (walk->shape->codec_same_gpu)
            visit_single(walk);
        else
            visit_splits(walk);
        return;
    case WEIR_SHAPE_FRACTIONAL:
        visit_single(walk);
        return;
    case WEIR_SHAPE_SLICE:
        visit_slices(walk);
        return;
    case WEIR_SHAPE_SPMD_MULTI:
        if (walk->shape->gpu_count != walk->node->gpu_count)
            return;
        walk->first_alone = true;
        visit_whole(walk);
        return;
    case WEIR_SHAPE_SPMD_SMALL:
        walk->first_alone = true;
        visit_whole(walk);
        return;
    case WEIR_SHAPE_WHOLE:
    case WEIR_SHAPE_ENTIRE:
        visit_whole(walk);
        return;
    default:
        return;
    }
}

uint32_t weir_candidates_visit(const struct weir_candidate_query *query, weir_candidate_visit visit,
                               void *state)
{
    const struct weir_cluster *const cluster = query->cluster;
    const struct weir_node *const node = &cluster->nodes[query->node];
    const struct weir_shape *const shape = query->shape;
    static const struct weir_gpu no_gpu; /* what a cluster without GPUs points at */
    struct walk walk;

    if (node->flags != WEIR_NODE_UP || node->cpu_free < shape->cpu_units ||
        node->ram_free_bytes < shape->ram_bytes || !weir_node_takes(cluster, query->node, shape))
        return 0;
    walk.query = query;
    walk.shape = shape;
    walk.node = node;
    walk.gpus = cluster->gpus == NULL ? &no_gpu : &cluster->gpus[node->gpu_first];
    walk.visit = visit;
    walk.state = state;
    walk.visited = 0;
    walk.stopped = false;
    walk.first_alone = false;
    memset(walk.taken_decs, 0, node->gpu_count);
    memset(walk.taken_encs, 0, node->gpu_count);
    walk.alloc.node = query->node;
    walk.alloc.device_count = 0;
    walk.alloc.cpu_units = shape->cpu_units;
    walk.alloc.ram_bytes = shape->ram_bytes;
    visit_kind(&walk);
    return walk.visited;
}

/* How far GPUs of a node get through the tests of a shape, one test after the other. */
struct passed {
    uint32_t type, mig, units, mem, nvdec, nvenc; /* GPUs, or engines for a split */
};

/* Counts one GPU whose type, compute and memory suffice: its engines for a split, else itself. */
static void count_engines(const struct weir_gpu *gpu, const struct weir_shape *shape, bool split,
                          struct passed *passed)
{
    const uint32_t decs = weir_bit_count(gpu->nvdec_free);
    const uint32_t encs = weir_bit_count(gpu->nvenc_free);
    const bool entire = shape->kind == WEIR_SHAPE_ENTIRE;

    if (split) {
        passed->nvdec += decs;
        passed->nvenc += encs;
        return;
    }
    if (entire ? gpu->nvdec_free != gpu->nvdec_all : decs < shape->nvdecs)
        return;
    passed->nvdec++;
    if (entire ? gpu->nvenc_free == gpu->nvenc_all : encs >= shape->nvencs)
        passed->nvenc++;
}

/* Stops at as many as are needed: then there is nothing to say. */
static struct passed count_passed(const struct weir_gpu *gpus, uint32_t gpu_count,
                                  const struct weir_shape *shape, bool split)
{
    const uint32_t enough = split ? UINT32_MAX : shape->gpu_count > 1 ? shape->gpu_count : 1;
    struct passed passed = { .type = 0 };

    for (uint32_t g = 0; g < gpu_count && passed.nvenc < enough; g++) {
        const struct weir_gpu *const gpu = &gpus[g];
        const bool used =
            shape->kind == WEIR_SHAPE_ENTIRE && gpu->mem_free_bytes != gpu->mem_total_bytes;
        if (!weir_shape_takes_type(shape, gpu->type))
            continue;
        passed.type++;
        if (gpu->mig != NULL || shape->kind == WEIR_SHAPE_SLICE) {
            passed.mig += weir_slice_usable(gpu, shape);
            continue;
        }
        if (gpu->units_free < shape->gpu_units)
            continue;
        passed.units++;
        if (used || gpu->mem_free_bytes < shape->gpu_mem_bytes)
            continue;
        passed.mem++;
        count_engines(gpu, shape, split, &passed);
    }
    return passed;
}

/* The same of a shape that looks at types and compute alone, as most do. */
static struct passed count_compute(const struct weir_gpu *gpus, uint32_t gpu_count,
                                   const struct weir_shape *shape, uint32_t enough)
{
    uint32_t types = 0;
    uint32_t passes = 0;

    for (uint32_t g = 0; g < gpu_count && passes < enough; g++) {
        const bool is_type = weir_shape_takes_type(shape, gpus[g].type);
        types += is_type;
        passes += is_type && gpus[g].mig == NULL && gpus[g].units_free >= shape->gpu_units;
    }
    return (struct passed){
        .type = types, .units = passes, .mem = passes, .nvdec = passes, .nvenc = passes
    };
}

static bool visit_nothing(void *state, const struct weir_alloc *candidate)
{
    (void)state;
    (void)candidate;
    return false;
}

static uint32_t gpu_reason(const struct weir_gpu *gpus, uint32_t gpu_count,
                           const struct weir_shape *shape)
{
    const bool split = shape->kind == WEIR_SHAPE_CODEC && !shape->codec_same_gpu;
    const bool wants_compute_alone =
        shape->gpu_mem_bytes == 0 && shape->nvdecs + shape->nvencs == 0 &&
        shape->kind != WEIR_SHAPE_ENTIRE && shape->kind != WEIR_SHAPE_SLICE;
    const uint32_t needed = shape->gpu_count > 1 ? shape->gpu_count : 1;
    const struct passed passed = wants_compute_alone ? count_compute(gpus, gpu_count, shape, needed)
                                                     : count_passed(gpus, gpu_count, shape, split);

    if (passed.type < needed)
        return passed.type == 0 ? WEIR_REASON_GPU_TYPE : WEIR_REASON_GPU_WHOLE;
    if (shape->kind == WEIR_SHAPE_SLICE)
        return passed.mig > 0 ? WEIR_REASON_NONE : WEIR_REASON_MIG;
    if (passed.units < needed || shape->gpu_count > WEIR_MAX_DEVICES ||
        (shape->kind == WEIR_SHAPE_SPMD_MULTI && gpu_count != shape->gpu_count))
        return shape->kind == WEIR_SHAPE_FRACTIONAL ? WEIR_REASON_GPU_FREE : WEIR_REASON_GPU_WHOLE;
    if (passed.mem < needed)
        return WEIR_REASON_GPU_MEM;
    if (passed.nvdec < (split ? shape->nvdecs : needed))
        return WEIR_REASON_NVDEC;
    if (passed.nvenc < (split ? shape->nvencs : needed))
        return WEIR_REASON_NVENC;
    return WEIR_REASON_NONE;
}

uint32_t weir_label_reason(const struct weir_cluster *cluster, uint32_t node,
                           const struct weir_shape *shape)
{
    const uint32_t labels = weir_topology_of(cluster, node)->labels;

    if (weir_shape_takes_labels(shape, labels))
        return WEIR_REASON_NONE;
    return weir_shape_takes_labels(shape, labels & ~WEIR_LABEL_KEPT) ? WEIR_REASON_KEPT
                                                                     : WEIR_REASON_LABEL;
}

uint32_t weir_candidates_reason(const struct weir_cluster *cluster, const struct weir_shape *shape,
                                uint32_t node)
{
    const struct weir_node *const books = &cluster->nodes[node];

    if (books->flags == WEIR_NODE_REMOVED)
        return WEIR_REASON_NODE_GONE;
    if (!weir_node_takes(cluster, node, shape))
        return weir_label_reason(cluster, node, shape);
    if (books->flags != WEIR_NODE_UP)
        return WEIR_REASON_NODE_DOWN;
    if (books->cpu_free < shape->cpu_units)
        return WEIR_REASON_CPU;
    if (books->ram_free_bytes < shape->ram_bytes)
        return WEIR_REASON_RAM;
    if (shape->kind == WEIR_SHAPE_CPU)
        return WEIR_REASON_NONE;
    if (books->gpu_count == 0)
        return WEIR_REASON_NO_GPU;
    const uint32_t reason = gpu_reason(&cluster->gpus[books->gpu_first], books->gpu_count, shape);
    /* Only on very large nodes can a split exist that touches too many GPUs. */
    if (reason == WEIR_REASON_NONE && shape->kind == WEIR_SHAPE_CODEC &&
        books->gpu_count > WEIR_MAX_DEVICES) {
        const struct weir_candidate_query query = { .cluster = cluster,
                                                    .shape = shape,
                                                    .node = node };
        if (weir_candidates_visit(&query, visit_nothing, NULL) == 0)
            return shape->nvdecs > 0 ? WEIR_REASON_NVDEC : WEIR_REASON_NVENC;
    }
    return reason;
}
