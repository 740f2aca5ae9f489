/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The physical truth (see cluster.h). It keeps its own books in its own arithmetic, so that a slip
 * in the scheduler core shows as a refusal or a broken invariant here.
 */
#include "sim/cluster/cluster.h"

#include "sim/cluster/compute.h"
#include "sim/cluster/exchanges.h"
#include "sim/cluster/extents.h"
#include "sim/cluster/ghosts.h"
#include "sim/cluster/gpu_pools.h"
#include "sim/cluster/link.h"
#include "sim/cluster/memory.h"
#include "sim/cluster/power.h"
#include "sim/cluster/sharing.h"
#include "sim/cluster/topology.h"
#include "sim/cluster/traffic.h"
#include "sim/engine/apart.h"
#include "sim/engine/room.h"
#include "sim/record/meter/fragmentation.h"
#include "sim/record/meter/meter_physics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A GPU of the type's n-th entry as it truly is; memory and engines of a cut one are its table's.
 */
static struct sim_gpu gpu_open(const struct sim_scenario *scenario,
                               const struct sim_node_type *type, size_t entry)
{
    const struct sim_gpu_type *truth = &scenario->gpu_truth[type->gpus[entry].type];
    const struct weir_mig *mig = type->share == SIM_SHARING_MIG ? truth->mig : NULL;
    return (
        struct sim_gpu){ .type = type->gpus[entry].type,
                         .nvdecs = (uint8_t)(mig == NULL ? truth->nvdecs : weir_mig_nvdecs(mig)),
                         .nvencs = (uint8_t)(mig == NULL ? truth->nvencs : 0),
                         .mem_total_bytes = mig == NULL ? truth->mem_bytes : weir_mig_memory(mig),
                         .compute = WEIR_NO_INDEX,
                         .slow = 1,
                         .crowding = 1,
                         .throttle = 1,
                         .counts_sessions = truth->nvenc_sessions != UINT32_MAX,
                         .mig = mig,
                         .mig_cut = type->cuts == NULL ? 0 : type->cuts[entry] };
}

static void node_init(struct sim_cluster *cluster, const struct sim_scenario *scenario,
                      uint32_t index)
{
    const struct sim_node_type *type = sim_scenario_node_type(scenario, index);
    struct sim_node *node = &cluster->nodes[index];
    *node =
        (struct sim_node){ .is_up = true,
                           .gpu_first = cluster->gpu_count,
                           .cpu_total = (int64_t)llround(type->cpus * (double)WEIR_ONE),
                           .ram_total_bytes = type->ram_bytes,
                           .slow = 1.0,
                           .power_cap_w = type->power_cap_w,
                           .thermal = type->thermal.tau_ns > 0 ? &type->thermal : NULL,
                           .sessions_most = UINT32_MAX,
                           .topology = &type->topology,
                           .fabric = &type->fabric,
                           .mps_overhead = type->share == SIM_SHARING_MPS ? type->mps_overhead : 0,
                           .turns =
                               type->share == SIM_SHARING_TIMESLICE ? &type->timeslice : NULL };
    for (size_t i = 0; i < type->gpus_count; i++) {
        struct sim_gpu fresh = gpu_open(scenario, type, i);
        const uint32_t sessions = scenario->gpu_truth[fresh.type].nvenc_sessions;
        node->sessions_most = sessions < node->sessions_most ? sessions : node->sessions_most;
        sim_power_begin(&scenario->gpu_truth[fresh.type], &type->thermal, &fresh);
        for (uint32_t n = 0; n < type->gpus[i].count; n++)
            cluster->gpus[cluster->gpu_count++] = fresh;
    }
    node->gpu_count = cluster->gpu_count - node->gpu_first;
    cluster->has_heat = cluster->has_heat || node->thermal != NULL;
}

static size_t gpu_total(const struct sim_scenario *scenario, uint32_t node_count)
{
    size_t total = 0;
    for (uint32_t n = 0; n < node_count; n++) {
        const struct sim_node_type *type = sim_scenario_node_type(scenario, n);
        for (size_t i = 0; i < type->gpus_count; i++)
            total += type->gpus[i].count;
    }
    return total;
}

weir_status sim_cluster_create(const struct sim_scenario *scenario, struct sim_cluster **cluster)
{
    struct sim_cluster *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return WEIR_ENOMEM;
    made->scenario = scenario;
    made->node_count = sim_scenario_node_count(scenario);
    made->nodes = sim_lines((size_t)made->node_count + 1, sizeof(*made->nodes));
    made->gpus = sim_lines(gpu_total(scenario, made->node_count) + 1, sizeof(*made->gpus));
    if (made->nodes == NULL || made->gpus == NULL) {
        sim_cluster_destroy(made);
        return WEIR_ENOMEM;
    }
    for (uint32_t n = 0; n < made->node_count; n++)
        node_init(made, scenario, n);
    if (sim_pools_open(made) != WEIR_OK || sim_exchanges_open(made) != WEIR_OK) {
        sim_cluster_destroy(made);
        return WEIR_ENOMEM;
    }
    *cluster = made;
    return WEIR_OK;
}

void sim_cluster_destroy(struct sim_cluster *cluster)
{
    if (cluster == NULL)
        return;
    sim_links_close(cluster);
    sim_pools_close(cluster);
    sim_exchanges_close(cluster);
    sim_extents_close(cluster);
    sim_ghosts_destroy(cluster);
    free(cluster->cpu_held_on);
    free(cluster->nodes);
    free(cluster->gpus);
    free(cluster);
}

struct sim_meter_amounts sim_cluster_capacity(const struct sim_cluster *cluster, uint32_t node)
{
    const struct sim_node *host = &cluster->nodes[node];
    struct sim_meter_amounts sum = { { 0 } };
    sum.amount[SIM_RESOURCE_CPU] = weir_units_amount(host->cpu_total);
    sum.amount[SIM_RESOURCE_RAM] = (double)host->ram_total_bytes;
    sum.amount[SIM_RESOURCE_GPU] = (double)host->gpu_count;
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        const struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        sum.amount[SIM_RESOURCE_NVDEC] += gpu->nvdecs;
        sum.amount[SIM_RESOURCE_NVENC] += gpu->nvencs;
        sum.amount[SIM_RESOURCE_GPU_MEM] += (double)gpu->mem_total_bytes;
    }
    return sum;
}

/* Share of what is asked for beyond what there is; residues of adding and subtracting fractions
 * must not count as load. */
static const double SLACK = 1e-6;

static double asked_of(const struct sim_gpu *gpu)
{
    return gpu->load + gpu->nvdec_load + gpu->nvenc_load;
}

/* A worker whose request names no GPU but that uses one anyway works on the node's idlest: least
 * runs there, and of equals (while nobody has begun) fewest are to work there. */
static uint32_t idlest_gpu(const struct sim_cluster *cluster, uint32_t node)
{
    const struct sim_node *host = &cluster->nodes[node];
    uint32_t best = 0;
    for (uint32_t g = 1; g < host->gpu_count; g++) {
        const struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        const struct sim_gpu *leader = &cluster->gpus[host->gpu_first + best];
        const double less = asked_of(leader) - asked_of(gpu);
        if (less > SLACK || (less >= -SLACK && gpu->users < leader->users))
            best = g;
    }
    return best;
}

/* An instance bounds what is used of it; who asked for one and says nothing else uses all of it. */
static void fill_slice(struct sim_use *use, const struct sim_gpu *gpu,
                       const struct weir_device *device, const struct weir_shape *uses)
{
    use->slice = sim_slice_profile(gpu, device);
    if (use->slice == NULL)
        return;
    use->slice_share = (double)use->slice->sms / (double)gpu->mig->sms;
    if (uses->kind == WEIR_SHAPE_SLICE)
        use->gpu_share = use->slice_share;
}

static void fill_device(struct sim_use *use, const struct weir_device *device,
                        const struct weir_shape *uses, uint32_t device_count)
{
    const bool per_gpu = uses->gpu_count > 1 || uses->kind == WEIR_SHAPE_WHOLE;
    const double share = per_gpu ? 1.0 : 1.0 / (double)device_count;
    *use = (struct sim_use){ .gpu = device->gpu,
                             .gpu_share = weir_units_amount(uses->gpu_units),
                             .nvdecs = uses->nvdecs * share,
                             .nvencs = uses->nvencs * share,
                             .mem_bytes = uses->gpu_mem_bytes };
    if (uses->kind == WEIR_SHAPE_CODEC) { /* codecs follow the engines that were given */
        use->nvdecs = device->nvdec_mask != 0 ? sim_mask_count(device->nvdec_mask) : use->nvdecs;
        use->nvencs = device->nvenc_mask != 0 ? sim_mask_count(device->nvenc_mask) : use->nvencs;
    }
    if (uses->kind == WEIR_SHAPE_ENTIRE) {
        use->nvdecs = sim_mask_count(device->nvdec_mask);
        use->nvencs = sim_mask_count(device->nvenc_mask);
    }
}

/* Who takes turns has all of the GPU while it is his. */
static void fill_turns(struct sim_claim *claim)
{
    for (uint32_t u = 0; u < claim->use_count; u++)
        if (claim->parts[u].use.gpu_share > 0)
            claim->parts[u].use.gpu_share = 1;
}

static void fill_uses(struct sim_claim *claim, const struct sim_cluster *cluster,
                      const struct weir_alloc *alloc, const struct weir_shape *uses)
{
    const struct sim_node *host = &cluster->nodes[alloc->node];
    if (uses->kind == WEIR_SHAPE_CPU)
        return;
    for (uint32_t d = 0; d < alloc->device_count; d++) {
        struct sim_use *use = &claim->parts[claim->use_count++].use;
        fill_device(use, &alloc->devices[d], uses, alloc->device_count);
        if (alloc->devices[d].gpu < host->gpu_count)
            fill_slice(use, &cluster->gpus[host->gpu_first + alloc->devices[d].gpu],
                       &alloc->devices[d], uses);
    }
    if (claim->use_count == 0 && host->gpu_count > 0) {
        const struct weir_device hidden = { .gpu = idlest_gpu(cluster, alloc->node) };
        fill_device(&claim->parts[claim->use_count++].use, &hidden, uses, 1);
    }
    if (host->turns != NULL)
        fill_turns(claim);
}

static struct sim_meter_amounts claim_used(const struct sim_claim *claim)
{
    struct sim_meter_amounts used = { { 0 } };
    used.amount[SIM_RESOURCE_CPU] = claim->cpus_used;
    used.amount[SIM_RESOURCE_RAM] = (double)claim->ram_used_bytes;
    for (uint32_t u = 0; u < claim->use_count; u++) {
        const struct sim_use *use = &claim->parts[u].use;
        used.amount[SIM_RESOURCE_GPU] += use->gpu_share;
        used.amount[SIM_RESOURCE_NVDEC] += use->nvdecs;
        used.amount[SIM_RESOURCE_NVENC] += use->nvencs;
        used.amount[SIM_RESOURCE_GPU_MEM] += (double)use->mem_bytes;
    }
    return used;
}

static bool claim_is_within(const struct sim_claim *claim)
{
    bool is_within = claim->use_count <= claim->device_count &&
                     claim->cpus_used <= weir_units_amount(claim->cpu_units);
    for (uint32_t u = 0; u < claim->use_count && is_within; u++) {
        const struct sim_use *use = &claim->parts[u].use;
        const struct weir_device *device = &claim->parts[u].device;
        is_within = use->slice == NULL && use->gpu == device->gpu &&
                    use->gpu_share <= weir_units_amount(device->units) &&
                    use->nvdecs <= sim_mask_count(device->nvdec_mask) &&
                    use->nvencs <= sim_mask_count(device->nvenc_mask);
    }
    return is_within;
}

struct sim_lease sim_lease_fill(struct sim_claim *claim, const struct sim_cluster *cluster,
                                const struct weir_alloc *alloc, const struct weir_shape *uses)
{
    *claim = (struct sim_claim){ .device_count = alloc->device_count,
                                 .cpu_units = alloc->cpu_units,
                                 .ram_bytes = alloc->ram_bytes,
                                 .cpus_used = weir_units_amount(uses->cpu_units),
                                 .ram_used_bytes = uses->ram_bytes,
                                 .parts = claim->parts };
    memset(claim->parts, 0, sim_claim_parts(claim) * sizeof(*claim->parts));
    for (uint32_t d = 0; d < alloc->device_count; d++)
        claim->parts[d].device = alloc->devices[d];
    fill_uses(claim, cluster, alloc, uses);
    claim->over = 1;
    if (cluster->nodes[alloc->node].mps_overhead > 0)
        sim_mps_limit(claim);
    sim_sockets_choose(cluster, alloc->node, claim);
    claim->used = claim_used(claim);
    claim->is_within = claim_is_within(claim);
    return (struct sim_lease){ .claim = claim, .node = alloc->node };
}

struct weir_alloc sim_lease_alloc(const struct sim_lease *lease)
{
    struct weir_alloc alloc = { .node = lease->node,
                                .device_count = lease->claim->device_count,
                                .cpu_units = lease->claim->cpu_units,
                                .ram_bytes = lease->claim->ram_bytes };
    for (uint32_t d = 0; d < lease->claim->device_count; d++)
        alloc.devices[d] = lease->claim->parts[d].device;
    return alloc;
}

static uint32_t engine_mask(uint32_t count)
{
    return count >= 32 ? UINT32_MAX : (UINT32_C(1) << count) - 1;
}

static uint32_t device_refusal(const struct sim_gpu *gpu, const struct weir_device *device)
{
    if (gpu->is_lost)
        return WEIR_REASON_NO_GPU;
    const uint32_t slice = sim_slice_refusal(gpu, device);
    if (slice != WEIR_REASON_NONE)
        return slice;
    if (gpu->units_held + device->units > WEIR_ONE)
        return WEIR_REASON_GPU_FREE;
    if ((device->nvdec_mask & ~engine_mask(gpu->nvdecs)) != 0 ||
        (device->nvdec_mask & gpu->nvdec_held) != 0)
        return WEIR_REASON_NVDEC;
    if ((device->nvenc_mask & ~engine_mask(gpu->nvencs)) != 0 ||
        (device->nvenc_mask & gpu->nvenc_held) != 0)
        return WEIR_REASON_NVENC;
    return WEIR_REASON_NONE;
}

/* Encode sessions that the driver counts: one for every encoder used. */
static uint32_t sessions_of(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    const struct sim_node *node = &cluster->nodes[lease->node];
    double sessions = 0;
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        const struct sim_use *use = &lease->claim->parts[u].use;
        if (cluster->gpus[node->gpu_first + use->gpu].counts_sessions)
            sessions += use->nvencs;
    }
    return (uint32_t)ceil(sessions);
}

static uint32_t refusal(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    if (lease->node >= cluster->node_count || !cluster->nodes[lease->node].is_up)
        return WEIR_REASON_NODE_DOWN;
    const struct sim_node *node = &cluster->nodes[lease->node];
    if (node->cpu_held + lease->claim->cpu_units > node->cpu_total)
        return WEIR_REASON_CPU;
    if (node->ram_total_bytes > 0 &&
        node->ram_used_bytes + lease->claim->ram_used_bytes > node->ram_total_bytes)
        return WEIR_REASON_RAM;
    for (uint32_t d = 0; d < lease->claim->device_count; d++) {
        const struct weir_device *device = &lease->claim->parts[d].device;
        if (device->gpu >= node->gpu_count)
            return WEIR_REASON_NO_GPU;
        const uint32_t reason =
            device_refusal(&cluster->gpus[node->gpu_first + device->gpu], device);
        if (reason != WEIR_REASON_NONE)
            return reason;
    }
    if (node->sessions_most != UINT32_MAX &&
        node->sessions_held + sessions_of(cluster, lease) > node->sessions_most)
        return WEIR_REASON_NVENC;
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        const struct sim_gpu *gpu =
            &cluster->gpus[node->gpu_first + lease->claim->parts[u].use.gpu];
        const uint32_t reason = sim_slice_use_refusal(&lease->claim->parts[u].use);
        if (reason != WEIR_REASON_NONE)
            return reason;
        const int64_t bytes = lease->claim->parts[u].use.mem_bytes;
        if (gpu->mem_total_bytes > 0 &&
            gpu->mem_used_bytes + sim_pools_kept(cluster, gpu, lease->claim->tenant) + bytes >
                gpu->mem_total_bytes)
            return WEIR_REASON_GPU_MEM;
        if (!sim_extents_fit(cluster, gpu, bytes))
            return WEIR_REASON_GPU_MEM;
    }
    return WEIR_REASON_NONE;
}

static void book(struct sim_cluster *cluster, const struct sim_lease *lease, int64_t sign)
{
    struct sim_node *node = &cluster->nodes[lease->node];
    node->cpu_held += sign * lease->claim->cpu_units;
    sim_sockets_book(cluster, lease, sign);
    node->ram_used_bytes += sign * lease->claim->ram_used_bytes;
    node->sessions_held += (uint32_t)sign * sessions_of(cluster, lease);
    if (sim_claim_is_beyond(lease->claim))
        node->beyond += (uint32_t)sign;
    if (sign > 0 && sim_memory_is_timed(cluster))
        sim_memory_note(cluster, lease->node);
    assert(node->cpu_held >= 0 && node->cpu_held <= node->cpu_total);
    for (uint32_t d = 0; d < lease->claim->device_count; d++) {
        const struct weir_device *device = &lease->claim->parts[d].device;
        struct sim_gpu *gpu = &cluster->gpus[node->gpu_first + device->gpu];
        gpu->units_held += sign * device->units;
        gpu->nvdec_held ^= device->nvdec_mask;
        gpu->nvenc_held ^= device->nvenc_mask;
        sim_slice_book(gpu, device, sign);
        assert(gpu->units_held >= 0 && gpu->units_held <= WEIR_ONE);
    }
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        struct sim_gpu *gpu = &cluster->gpus[node->gpu_first + lease->claim->parts[u].use.gpu];
        gpu->mem_used_bytes += sign * lease->claim->parts[u].use.mem_bytes;
        gpu->users += (uint32_t)sign;
        sim_pools_book(cluster, gpu, lease->claim->tenant,
                       sign * lease->claim->parts[u].use.mem_bytes);
        sim_extents_book(cluster, gpu, (struct sim_extent_owner){ .lease = lease },
                         sign * lease->claim->parts[u].use.mem_bytes);
        sim_compute_memory(cluster, node, gpu);
    }
}

uint32_t sim_cluster_acquire(struct sim_cluster *cluster, struct sim_lease *lease)
{
    const uint32_t reason = refusal(cluster, lease);
    if (reason == WEIR_REASON_NONE)
        book(cluster, lease, 1);
    return reason;
}

void sim_cluster_release(struct sim_cluster *cluster, struct sim_lease *lease)
{
    sim_cluster_run(cluster, lease, false);
    book(cluster, lease, -1);
}

static double pressure(double load, double capacity)
{
    return load > capacity + SLACK ? load / fmax(capacity, 1e-9) : 1.0;
}

/* Of those that run on a GPU: turns, or a part that shrinks when more is asked for than there is.
 */
static double compute_slowdown(const struct sim_node *node, const struct sim_gpu *gpu)
{
    const double memory = (double)gpu->mem_total_bytes;
    if (node->turns == NULL)
        return pressure(gpu->load, 1.0);
    return sim_turns_slowdown(node->turns, gpu->running,
                              memory > 0 ? (double)gpu->mem_used_bytes / memory : 0);
}

double sim_gpu_used(const struct sim_node *node, const struct sim_gpu *gpu)
{
    return gpu->load / compute_slowdown(node, gpu);
}

/* Who works on it is slowed down by the others there, as far as he has to be told. */
static bool is_scarce(const struct sim_node *node, const struct sim_gpu *gpu)
{
    const bool is_told = gpu->compute == WEIR_NO_INDEX || gpu->apart > 0;
    const bool is_computing = node->turns == NULL ? gpu->load > 1 + SLACK : gpu->running > 1;
    return (is_told && is_computing) || sim_traffic_is_scarce(gpu) ||
           gpu->nvdec_load > gpu->nvdecs + SLACK || gpu->nvenc_load > gpu->nvencs + SLACK;
}

static double sign_of(const struct sim_lease *lease)
{
    return lease->is_running ? 1.0 : -1.0;
}

static void gpu_run(struct sim_gpu *gpu, const struct sim_lease *lease, const struct sim_use *use)
{
    const double sign = sign_of(lease);
    const uint32_t step = lease->is_running ? 1 : UINT32_MAX;
    if (use->slice != NULL) { /* an instance is its own: nobody else notices, but for power */
        gpu->slice_load += sign * fmin(use->gpu_share, use->slice_share);
        return;
    }
    gpu->running += use->gpu_share > 0 ? step : 0;
    gpu->apart += use->gpu_share > 0 && sim_lease_compute(lease) == NULL ? step : 0;
    gpu->load += sign * use->gpu_share;
    gpu->nvdec_load += sign * use->nvdecs;
    gpu->nvenc_load += sign * use->nvencs;
    sim_traffic_run(gpu, lease->claim->traffic, sign);
}

static bool cpus_are_scarce(const struct sim_node *node)
{
    return pressure(node->cpu_load, weir_units_amount(node->cpu_total)) > 1;
}

/* The lease runs or no longer does, on a node on which something may be scarce. */
SIM_APART static uint64_t run_scarce(const struct sim_cluster *cluster, struct sim_node *node,
                                     const struct sim_lease *lease)
{
    const bool had_too_few = cpus_are_scarce(node);
    node->cpu_load += sign_of(lease) * lease->claim->cpus_used;
    uint64_t changed = had_too_few || cpus_are_scarce(node) ? SIM_NODE_GPUS : 0;
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        const struct sim_use *use = &lease->claim->parts[u].use;
        struct sim_gpu *gpu = &cluster->gpus[node->gpu_first + use->gpu];
        const bool was_scarce = gpu->is_scarce;
        gpu_run(gpu, lease, use);
        if (use->slice != NULL)
            continue;
        gpu->is_scarce = is_scarce(node, gpu);
        if (sim_mps_crowd(node, gpu) || was_scarce || gpu->is_scarce)
            changed |= UINT64_C(1) << use->gpu;
    }
    return changed;
}

uint64_t sim_cluster_run(struct sim_cluster *cluster, struct sim_lease *lease, bool is_running)
{
    if (lease->is_running == is_running)
        return 0;
    struct sim_node *node = &cluster->nodes[lease->node];
    lease->is_running = is_running;
    sim_power_note(cluster, lease->node);
    if (node->beyond > 0 || node->turns != NULL || node->mps_overhead > 0)
        return run_scarce(cluster, node, lease);
    /* Everybody there keeps within what he holds, so there is enough. */
    node->cpu_load += sign_of(lease) * lease->claim->cpus_used;
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        const struct sim_use *use = &lease->claim->parts[u].use;
        gpu_run(&cluster->gpus[node->gpu_first + use->gpu], lease, use);
    }
    return 0;
}

void sim_cluster_slow_use(struct sim_cluster *cluster, const struct sim_lease *lease, double change)
{
    const struct sim_use *use = sim_lease_compute(lease);
    const uint32_t first = cluster->nodes[lease->node].gpu_first;
    if (use == NULL || cluster->gpus[first + use->gpu].compute == WEIR_NO_INDEX)
        return;
    cluster->gpus[first + use->gpu].load += change * use->gpu_share;
    sim_power_note(cluster, lease->node);
}

double sim_cluster_contention(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    const struct sim_node *node = &cluster->nodes[lease->node];
    double worst = pressure(node->cpu_load, weir_units_amount(node->cpu_total));
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        const struct sim_use *use = &lease->claim->parts[u].use;
        const struct sim_gpu *gpu = &cluster->gpus[node->gpu_first + use->gpu];
        worst = fmax(worst, sim_traffic_slowdown(gpu, use, lease->claim->traffic));
        if (use->slice != NULL) {
            worst = fmax(worst, sim_slice_slowdown(use));
            continue;
        }
        if (gpu->compute == WEIR_NO_INDEX || sim_lease_compute(lease) == NULL)
            worst = fmax(worst, compute_slowdown(node, gpu));
        if (use->nvdecs > 0)
            worst = fmax(worst, pressure(gpu->nvdec_load, gpu->nvdecs));
        if (use->nvencs > 0)
            worst = fmax(worst, pressure(gpu->nvenc_load, gpu->nvencs));
    }
    return worst;
}

double sim_lease_own_slowness(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    return sim_lease_numa(cluster, lease) * lease->claim->over;
}

/* Who computes on several GPUs waits for the slowest. */
double sim_cluster_slowness(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    const struct sim_node *node = &cluster->nodes[lease->node];
    double least = 1;
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        const struct sim_use *use = &lease->claim->parts[u].use;
        const double speed = sim_gpu_speed(&cluster->gpus[node->gpu_first + use->gpu]);
        if (use->gpu_share > 0 && speed < least)
            least = speed;
    }
    return node->slow * sim_lease_own_slowness(cluster, lease) / least;
}

double sim_cluster_slowdown(const struct sim_cluster *cluster, const struct sim_lease *lease)
{
    return sim_cluster_contention(cluster, lease) * sim_cluster_slowness(cluster, lease);
}

static struct weir_gpu free_gpu(const struct sim_gpu *gpu)
{
    if (gpu->is_lost)
        return (struct weir_gpu){ .type = gpu->type,
                                  .units_total = WEIR_ONE,
                                  .mem_total_bytes = gpu->mem_total_bytes,
                                  .mig = gpu->mig };
    const uint32_t nvdecs = engine_mask(gpu->nvdecs);
    const uint32_t nvencs = engine_mask(gpu->nvencs);
    return (struct weir_gpu){ .type = gpu->type,
                              .nvdec_free = nvdecs & ~gpu->nvdec_held,
                              .nvenc_free = nvencs & ~gpu->nvenc_held,
                              .nvdec_all = nvdecs,
                              .nvenc_all = nvencs,
                              .units_free = WEIR_ONE - gpu->units_held,
                              .units_total = WEIR_ONE,
                              .mem_free_bytes = gpu->mem_total_bytes - gpu->mem_used_bytes,
                              .mem_total_bytes = gpu->mem_total_bytes,
                              .mig = gpu->mig,
                              .mig_state = { .held = gpu->mig_held, .cut = gpu->mig_cut } };
}

struct weir_node sim_cluster_free(const struct sim_cluster *cluster, uint32_t node,
                                  struct weir_gpu gpus[WEIR_MAX_NODE_GPUS])
{
    const struct sim_node *host = &cluster->nodes[node];
    if (!host->is_up)
        return (struct weir_node){ .id = node, .type = host->type };
    for (uint32_t g = 0; g < host->gpu_count; g++)
        gpus[g] = free_gpu(&cluster->gpus[host->gpu_first + g]);
    const bool has_ram = host->ram_total_bytes > 0;
    return (struct weir_node){ .id = node,
                               .type = host->type,
                               .flags = WEIR_NODE_UP,
                               .gpu_count = host->gpu_count,
                               .cpu_free = host->cpu_total - host->cpu_held,
                               .cpu_total = host->cpu_total,
                               .ram_free_bytes = has_ram
                                                     ? host->ram_total_bytes - host->ram_used_bytes
                                                     : INT64_MAX,
                               .ram_total_bytes = has_ram ? host->ram_total_bytes : INT64_MAX };
}

/* All that sim_cluster_free says of a node that is up, in few words; false where it takes more. */
static bool free_key(const struct sim_cluster *cluster, const struct sim_node *host,
                     struct sim_frag_key *key)
{
    /* cppcheck-suppress ctuuninitvar ; it is written here, not read */
    uint64_t *word = key->words;
    if (!host->is_up || host->gpu_count > SIM_FRAG_KEY_GPUS)
        return false;
    *word++ = (uint64_t)host->type << 32 | host->gpu_count;
    *word++ = (uint64_t)(host->cpu_total - host->cpu_held);
    *word++ = (uint64_t)host->ram_total_bytes;
    *word++ = (uint64_t)host->ram_used_bytes;
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        const struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        if (gpu->is_lost || gpu->mig != NULL)
            return false;
        *word++ = (uint64_t)gpu->type << 32 | (uint64_t)gpu->units_held; /* at most one GPU's */
        *word++ = (uint64_t)(gpu->mem_total_bytes - gpu->mem_used_bytes);
        *word++ = (uint64_t)gpu->nvdec_held << 32 | gpu->nvenc_held;
    }
    key->count = (uint32_t)(word - key->words);
    return true;
}

static void meter_free(const struct sim_cluster *cluster, struct sim_meter *meter, int64_t now_ns,
                       uint32_t node)
{
    struct weir_gpu gpus[WEIR_MAX_NODE_GPUS];
    struct sim_frag_key key;
    const bool has_key = free_key(cluster, &cluster->nodes[node], &key);
    if (has_key && sim_meter_node_recall(meter, now_ns, node, &key))
        return;
    const struct weir_node host = sim_cluster_free(cluster, node, gpus);
    sim_meter_node_free(meter, now_ns, node, &host, gpus);
    if (has_key)
        sim_meter_node_keep(meter, node, &key);
}

void sim_cluster_meter(const struct sim_cluster *cluster, struct sim_meter *meter, int64_t now_ns,
                       uint32_t node)
{
    const struct sim_power_draw power = sim_power_node(cluster, node);
    meter_free(cluster, meter, now_ns, node);
    sim_meter_node_power(meter, now_ns, node, power.gpu_w, power.cpu_w);
    sim_power_meter(cluster, meter, now_ns, node);
    sim_power_meter_heat(cluster, meter, now_ns, node);
    if (sim_memory_is_timed(cluster))
        sim_meter_memory(meter, now_ns, node, (double)sim_memory_in_use(cluster, node));
    sim_pools_meter(cluster, meter, now_ns);
    sim_extents_meter(cluster, meter, now_ns);
    if (cluster->nodes[node].turns != NULL)
        sim_meter_turns(meter, now_ns, node, sim_turns_rate(cluster, node));
}

void sim_cluster_foresee(const struct sim_cluster *cluster, uint32_t node)
{
    const struct sim_node *host = &cluster->nodes[node];
    for (uint32_t g = 0; g < host->gpu_count; g++)
        __builtin_prefetch(&cluster->gpus[host->gpu_first + g], 1);
}

bool sim_cluster_is_whole(const struct sim_cluster *cluster)
{
    for (uint32_t n = 0; n < cluster->node_count; n++)
        if (!cluster->nodes[n].is_up)
            return false;
    for (uint32_t g = 0; g < cluster->gpu_count; g++)
        if (cluster->gpus[g].is_lost)
            return false;
    return true;
}

static bool is_within(int64_t used, int64_t total)
{
    return used >= 0 && (total == 0 || used <= total); /* 0 = not known */
}

static weir_status check_gpu(const struct sim_gpu *gpu, struct weir_error *error)
{
    if (gpu->units_held < 0 || gpu->units_held > WEIR_ONE || gpu->load < -1e-6 ||
        (gpu->nvdec_held & ~engine_mask(gpu->nvdecs)) != 0 ||
        (gpu->nvenc_held & ~engine_mask(gpu->nvencs)) != 0)
        return weir_fail(error, WEIR_EINVARIANT, "holds %g of 1, engines %x of %u and %x of %u",
                         weir_units_amount(gpu->units_held), gpu->nvdec_held, gpu->nvdecs,
                         gpu->nvenc_held, gpu->nvencs);
    if (!is_within(gpu->mem_used_bytes, gpu->mem_total_bytes))
        return weir_fail(error, WEIR_EINVARIANT, "%lld of %lld bytes of memory are in use",
                         (long long)gpu->mem_used_bytes, (long long)gpu->mem_total_bytes);
    if (!sim_slice_is_sound(gpu))
        return weir_fail(error, WEIR_EINVARIANT, "instances overlap or are not of its cut");
    return WEIR_OK;
}

static weir_status check_node(const struct sim_node *node, struct weir_error *error)
{
    if (node->cpu_held < 0 || node->cpu_held > node->cpu_total || node->cpu_load < -1e-6)
        return weir_fail(error, WEIR_EINVARIANT, "holds %g of %g CPUs, load %g",
                         weir_units_amount(node->cpu_held), weir_units_amount(node->cpu_total),
                         node->cpu_load);
    if (!is_within(node->ram_used_bytes, node->ram_total_bytes))
        return weir_fail(error, WEIR_EINVARIANT, "%lld of %lld bytes of memory are in use",
                         (long long)node->ram_used_bytes, (long long)node->ram_total_bytes);
    return WEIR_OK;
}

weir_status sim_cluster_check(const struct sim_cluster *cluster, struct weir_error *error)
{
    for (uint32_t n = 0; n < cluster->node_count; n++) {
        const struct sim_node *node = &cluster->nodes[n];
        weir_status status = check_node(node, error);
        for (uint32_t g = 0; status == WEIR_OK && g < node->gpu_count; g++) {
            status = check_gpu(&cluster->gpus[node->gpu_first + g], error);
            if (status != WEIR_OK)
                weir_error_wrap(error, "GPU %u", g);
        }
        if (status == WEIR_OK)
            status = sim_sockets_check(cluster, n, error);
        if (status == WEIR_OK)
            status = sim_power_check(cluster, n, error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "node %u", n);
            return status;
        }
    }
    WEIR_TRY(sim_extents_check(cluster, error));
    return sim_pools_check(cluster, error);
}
