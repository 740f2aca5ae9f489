/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Faults: what fails and comes back by its laws, workers that crash, and when the scheduler hears
 * of it (see world.h).
 *
 * Nodes, GPUs, switches, racks, links and stores fail each on its own: an entity of a kind has a
 * stream by its name and by how often it failed, so that others do not matter. A switch or a rack
 * takes all its nodes; a link or a store takes nobody, but nothing moves over it. A node can be
 * down for several reasons at once (its own failure, its rack, the timeline); it is up when the
 * last one is gone. Work on what is lost dies at once; its driver takes back what it had in hand.
 * The scheduler hears of dead workers at once and of the node or GPU when it is detected; one that
 * is back before was never missed.
 */
#include "sim/cluster/ghosts.h"
#include "sim/cluster/link.h"
#include "sim/cluster/power.h"
#include "sim/record/record.h"
#include "sim/world/supply.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GPU_BITS = 8 }; /* of an entity that is a GPU: node << GPU_BITS | number there */

/* ---- entities ---- */

static const struct fault_kind {
    const char *name; /* in happenings: gpu_fail, gpu_repair */
    const char *fails, *is_back;
    enum sim_purpose failure, repair;
} kinds[SIM_FAULTS] = {
    [SIM_FAULT_NODE] = { "node", "node failed", "node repaired", SIM_DRAW_NODE_FAILURE,
                         SIM_DRAW_NODE_REPAIR },
    [SIM_FAULT_GPU] = { "gpu", NULL, "GPU repaired", SIM_DRAW_GPU_FAILURE, SIM_DRAW_GPU_REPAIR },
    [SIM_FAULT_SWITCH] = { "switch", "switch failed", "switch repaired", SIM_DRAW_SWITCH_FAILURE,
                           SIM_DRAW_SWITCH_REPAIR },
    [SIM_FAULT_RACK] = { "rack", "rack failed", "rack repaired", SIM_DRAW_RACK_FAILURE,
                         SIM_DRAW_RACK_REPAIR },
    [SIM_FAULT_LINK] = { "link", "network interface out", "network interface back",
                         SIM_DRAW_LINK_FAILURE, SIM_DRAW_LINK_REPAIR },
    [SIM_FAULT_STORE] = { "store", "store out", "store back", SIM_DRAW_STORE_FAILURE,
                          SIM_DRAW_STORE_REPAIR },
    [SIM_FAULT_GPU_SLOW] = { "gpu_straggler", NULL, "as fast as before", SIM_DRAW_GPU_SLOW_BEGIN,
                             SIM_DRAW_GPU_SLOW_END },
    [SIM_FAULT_SLOW] = { "straggler", NULL, "as fast as before", SIM_DRAW_SLOW_BEGIN,
                         SIM_DRAW_SLOW_END },
};

/* Why GPUs fail: counts of Llama 3, 54 days on 16 384 H100. */
static const struct {
    const char *text;
    double weight;
} gpu_classes[] = { { "faulty GPU", 148 },           { "HBM3 memory", 72 },
                    { "SRAM memory", 19 },           { "GPU system processor", 17 },
                    { "silent data corruption", 6 }, { "thermal interface or sensor", 6 } };
enum { GPU_CLASSES = sizeof gpu_classes / sizeof gpu_classes[0] };

static bool is_of_gpus(enum sim_fault kind)
{
    return kind == SIM_FAULT_GPU || kind == SIM_FAULT_GPU_SLOW;
}

static bool is_slowness(enum sim_fault kind)
{
    return kind == SIM_FAULT_SLOW || kind == SIM_FAULT_GPU_SLOW;
}

static uint32_t together(const struct sim_world *world, enum sim_fault kind)
{
    const struct sim_failures *failures = &world->scenario->failures;
    return kind == SIM_FAULT_RACK     ? failures->rack_nodes
           : kind == SIM_FAULT_SWITCH ? failures->switch_nodes
                                      : 1;
}

/* A switch or a rack is called by its first node. */
static uint32_t node_of(const struct sim_world *world, enum sim_fault kind, uint32_t entity)
{
    return is_of_gpus(kind) ? entity >> GPU_BITS : entity * together(world, kind);
}

static uint32_t gpu_of(uint32_t entity)
{
    return entity & ((1U << GPU_BITS) - 1);
}

/* Where its failures are counted: entities of a kind in a row. */
static uint32_t *count_of(struct sim_world *world, enum sim_fault kind, uint32_t entity)
{
    const struct sim_cluster *cluster = world->context.cluster;
    return &world->failures[kind][is_of_gpus(kind) ? cluster->nodes[entity >> GPU_BITS].gpu_first +
                                                         gpu_of(entity)
                                                   : entity];
}

static struct sim_stream_key key_of(struct sim_world *world, enum sim_fault kind, uint32_t entity)
{
    if (kind == SIM_FAULT_STORE)
        return (struct sim_stream_key){
            .item = sim_random_name(0, SIM_NAME_STORE, world->scenario->stores[entity].name),
            .attempt = *count_of(world, kind, entity)
        };
    struct sim_stream_key key = sim_scenario_node_key(world->scenario, node_of(world, kind, entity),
                                                      *count_of(world, kind, entity));
    char name[16];
    if (!is_of_gpus(kind))
        return key;
    (void)snprintf(name, sizeof(name), "%u", gpu_of(entity));
    key.item = sim_random_name(key.item, SIM_NAME_GPU, name);
    return key;
}

static void name_of(const struct sim_world *world, enum sim_fault kind, uint32_t entity, char *text,
                    size_t capacity)
{
    char node[128];
    if (kind == SIM_FAULT_SWITCH || kind == SIM_FAULT_RACK) {
        (void)snprintf(text, capacity, "%s-%u", kinds[kind].name, entity);
        return;
    }
    if (kind == SIM_FAULT_STORE) {
        (void)snprintf(text, capacity, "%s", world->scenario->stores[entity].name);
        return;
    }
    sim_scenario_node_name(world->scenario, node_of(world, kind, entity), node, sizeof(node));
    if (is_of_gpus(kind))
        (void)snprintf(text, capacity, "%s GPU %u", node, gpu_of(entity));
    else
        (void)snprintf(text, capacity, "%s", node);
}

/* ---- events ---- */

static weir_status schedule(struct sim_world *world, const struct sim_event *what,
                            const struct sim_law *law, struct sim_stream_key key,
                            enum sim_purpose purpose)
{
    struct sim_event event = *what;
    const int64_t wait_ns =
        sim_time_from_s(sim_law_draw_of(law, &world->context.random, purpose, key));
    const int64_t now_ns = sim_engine_now(world->context.engine);
    if (wait_ns > SIM_TIME_MAX - now_ns)
        return WEIR_OK;
    event.time_ns = now_ns + wait_ns;
    event.phase = SIM_PHASE_FAULT;
    (void)sim_engine_schedule(world->context.engine, &event);
    return WEIR_OK;
}

static weir_status await(struct sim_world *world, enum sim_fault kind, uint32_t entity,
                         bool is_failed)
{
    const struct sim_failure_law *laws = &world->scenario->failures.of[kind];
    const struct sim_law *law = is_failed ? laws->repair : laws->between;
    const struct sim_event event = { .target = entity,
                                     .argument = (uint64_t)kind,
                                     .kind = is_failed ? SIM_KIND_REPAIR : SIM_KIND_FAIL };
    return law == NULL ? WEIR_OK
                       : schedule(world, &event, law, key_of(world, kind, entity),
                                  is_failed ? kinds[kind].repair : kinds[kind].failure);
}

static weir_status begin_gpus(struct sim_world *world, enum sim_fault kind)
{
    const struct sim_cluster *cluster = world->context.cluster;
    for (uint32_t n = 0; n < cluster->node_count; n++)
        for (uint32_t g = 0; g < cluster->nodes[n].gpu_count; g++)
            WEIR_TRY(await(world, kind, n << GPU_BITS | g, false));
    return WEIR_OK;
}

static uint32_t entities(const struct sim_world *world, enum sim_fault kind)
{
    const uint32_t nodes = world->context.cluster->node_count;
    return kind == SIM_FAULT_STORE ? (uint32_t)world->scenario->stores_count
                                   : (nodes + together(world, kind) - 1) / together(world, kind);
}

weir_status sim_faults_begin(struct sim_world *world)
{
    for (uint32_t kind = 0; kind < SIM_FAULTS; kind++) {
        if (is_of_gpus(kind)) {
            WEIR_TRY(begin_gpus(world, kind));
            continue;
        }
        for (uint32_t e = 0; e < entities(world, kind); e++)
            if (kind != SIM_FAULT_LINK || sim_scenario_node_type(world->scenario, e)->nic_per_s > 0)
                WEIR_TRY(await(world, kind, e, false));
    }
    return WEIR_OK;
}

weir_status sim_faults_create(struct sim_world *world)
{
    const struct sim_cluster *cluster = world->context.cluster;
    world->straggle = calloc((size_t)cluster->node_count + 1, sizeof(*world->straggle));
    world->losses = calloc((size_t)cluster->node_count + 1, sizeof(*world->losses));
    for (uint32_t kind = 0; kind < SIM_FAULTS; kind++) {
        const size_t count = is_of_gpus(kind) ? cluster->gpu_count : entities(world, kind);
        world->failures[kind] = calloc(count + 1, sizeof(*world->failures[kind]));
        if (world->failures[kind] == NULL)
            return WEIR_ENOMEM;
    }
    if (world->straggle == NULL || world->losses == NULL)
        return WEIR_ENOMEM;
    for (uint32_t n = 0; n < cluster->node_count; n++)
        world->straggle[n] = 1;
    return WEIR_OK;
}

void sim_faults_destroy(struct sim_world *world)
{
    for (uint32_t kind = 0; kind < SIM_FAULTS; kind++)
        free(world->failures[kind]);
    free(world->straggle);
    free(world->losses);
}

/* ---- what is lost ---- */

weir_status sim_faults_worker_crash(struct sim_world *world, struct sim_worker *worker)
{
    const struct sim_driver *driver = &world->drivers[worker->driver];
    worker->crash = SIM_NO_HANDLE;
    WEIR_TRY(sim_port_end_worker(world->port, worker, SIM_STOP_CRASHED, "crashed"));
    return driver->ops->settle(driver->self);
}

/* The loss of one may have taken others with it: each is looked up again. */
static weir_status end_all(struct sim_world *world, const uint64_t *ids, uint32_t count,
                           const char *text)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sim_worker *worker = sim_workers_find(world->workers, ids[i]);
        if (worker != NULL)
            WEIR_TRY(sim_port_end_worker(world->port, worker, SIM_STOP_NODE_LOST, text));
    }
    return WEIR_OK;
}

/* Those with a place on the node, or on one GPU of it. */
static weir_status lose_workers(struct sim_world *world, uint32_t node, uint32_t gpu,
                                const char *text)
{
    uint64_t *ids = NULL;
    uint32_t count = 0;
    for (uint32_t d = 1; gpu == WEIR_NO_INDEX && d <= world->driver_count; d++)
        if (world->drivers[d].ops->node_lost != NULL)
            world->drivers[d].ops->node_lost(world->drivers[d].self, node);
    WEIR_TRY(sim_workers_on_node(world->workers, node, gpu, &ids, &count));
    const weir_status status = end_all(world, ids, count, text);
    free(ids);
    return status;
}

/* ---- what is heard of it ---- */

static bool is_lost(const struct sim_world *world, uint32_t node, uint32_t gpu)
{
    const struct sim_cluster *cluster = world->context.cluster;
    const struct sim_node *host = &cluster->nodes[node];
    return gpu == WEIR_NO_INDEX ? !host->is_up : cluster->gpus[host->gpu_first + gpu].is_lost;
}

static weir_status tell(struct sim_world *world, uint32_t node, uint32_t gpu, bool is_there)
{
    return gpu == WEIR_NO_INDEX ? sim_port_node(world->port, node, is_there)
                                : sim_port_gpu(world->port, node, gpu, is_there);
}

/* The number of its present loss among those of its node. */
static uint32_t *loss_of(const struct sim_world *world, uint32_t node, uint32_t gpu)
{
    const struct sim_cluster *cluster = world->context.cluster;
    struct sim_node *host = &cluster->nodes[node];
    return gpu == WEIR_NO_INDEX ? &host->loss : &cluster->gpus[host->gpu_first + gpu].loss;
}

/* It is lost, or back. Losses on a node are numbered, so that an old one is not taken for a new. */
static weir_status report(struct sim_world *world, uint32_t node, uint32_t gpu)
{
    const struct sim_law *detection = world->scenario->failures.detection;
    if (!is_lost(world, node, gpu) || detection == NULL)
        return tell(world, node, gpu, !is_lost(world, node, gpu));
    const uint32_t loss = world->losses[node]++;
    const struct sim_event event = { .target = node,
                                     .argument = (uint64_t)loss << 32 | gpu,
                                     .kind = SIM_KIND_DETECT };
    *loss_of(world, node, gpu) = loss;
    return schedule(world, &event, detection, sim_scenario_node_key(world->scenario, node, loss),
                    SIM_DRAW_DETECTION);
}

weir_status sim_faults_detect(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t node = event->target;
    const uint32_t gpu = (uint32_t)event->argument;
    if (!is_lost(world, node, gpu) || *loss_of(world, node, gpu) != event->argument >> 32)
        return WEIR_OK; /* it came back before it was missed */
    WEIR_TRY(tell(world, node, gpu, false));
    return sim_world_settle(world);
}

/* ---- up and down ---- */

/* One reason more or less why it is down; *has_changed = it is up now and was not, or was up. */
static weir_status turn_node(struct sim_world *world, uint32_t node, bool is_down,
                             bool *has_changed)
{
    struct sim_context *context = &world->context;
    const int64_t now_ns = sim_engine_now(context->engine);
    struct sim_node *truth = &context->cluster->nodes[node];
    *has_changed = false;
    if (!is_down && world->node_fault[node] == 0)
        return WEIR_OK; /* told to come up while it is up */
    world->node_fault[node] += is_down ? 1 : UINT32_MAX;
    if (truth->is_up == (world->node_fault[node] == 0))
        return WEIR_OK;
    if (truth->is_up)
        WEIR_TRY(lose_workers(world, node, WEIR_NO_INDEX, "node lost"));
    sim_ghosts_forget(context->cluster, node, WEIR_NO_INDEX);
    truth->is_up = !truth->is_up;
    *has_changed = true;
    sim_power_note(context->cluster, node);
    sim_meter_node_up(context->meter, now_ns, node, truth->is_up);
    sim_cluster_meter(context->cluster, context->meter, now_ns, node);
    sim_context_digest(context, truth->is_up ? 0x201 : 0x200, node, now_ns);
    return WEIR_OK;
}

weir_status sim_faults_set_node(struct sim_world *world, uint32_t node, bool is_down)
{
    bool has_changed = false;
    WEIR_TRY(turn_node(world, node, is_down, &has_changed));
    if (!has_changed)
        return WEIR_OK;
    WEIR_TRY(report(world, node, WEIR_NO_INDEX));
    return sim_world_settle(world);
}

weir_status sim_faults_switch_node(struct sim_world *world, uint32_t node, bool is_down)
{
    bool has_changed = false;
    WEIR_TRY(turn_node(world, node, is_down, &has_changed));
    return has_changed ? sim_port_node_supplied(world->port, node, !is_down) : WEIR_OK;
}

static weir_status set_gpu(struct sim_world *world, uint32_t entity, bool is_lost)
{
    struct sim_context *context = &world->context;
    const uint32_t node = entity >> GPU_BITS;
    const uint32_t gpu = gpu_of(entity);
    const int64_t now_ns = sim_engine_now(context->engine);
    if (is_lost)
        WEIR_TRY(lose_workers(world, node, gpu, "GPU lost"));
    sim_ghosts_forget(context->cluster, node, gpu);
    context->cluster->gpus[context->cluster->nodes[node].gpu_first + gpu].is_lost = is_lost;
    sim_cluster_meter(context->cluster, context->meter, now_ns, node);
    sim_context_digest(context, is_lost ? 0x202 : 0x203, entity, now_ns);
    WEIR_TRY(report(world, node, gpu));
    return sim_world_settle(world);
}

/* By how much it is slow this time. */
static double slow_factor(struct sim_world *world, enum sim_fault kind, uint32_t entity)
{
    const double factor =
        sim_law_draw_of(world->scenario->failures.slow_factor, &world->context.random,
                        kind == SIM_FAULT_SLOW ? SIM_DRAW_SLOW_FACTOR : SIM_DRAW_GPU_SLOW_FACTOR,
                        key_of(world, kind, entity));
    return fmax(factor, 1e-6);
}

static weir_status set_slow(struct sim_world *world, enum sim_fault kind, uint32_t entity,
                            bool is_slow)
{
    const struct sim_cluster *cluster = world->context.cluster;
    const uint32_t node = node_of(world, kind, entity);
    const double factor = is_slow ? slow_factor(world, kind, entity) : 1;
    if (kind == SIM_FAULT_SLOW)
        world->straggle[node] = factor;
    else
        cluster->gpus[cluster->nodes[node].gpu_first + gpu_of(entity)].slow = factor;
    sim_context_digest(&world->context, is_slow ? 0x204 : 0x205, entity,
                       sim_engine_now(world->context.engine));
    return sim_world_pace_node(world, node);
}

static weir_status set_out(struct sim_world *world, enum sim_fault kind, uint32_t entity,
                           bool is_out)
{
    struct sim_cluster *cluster = world->context.cluster;
    sim_context_digest(&world->context, is_out ? 0x206 : 0x207, entity,
                       sim_engine_now(world->context.engine));
    WEIR_TRY((kind == SIM_FAULT_LINK ? sim_links_set_node : sim_links_set_store)(cluster, entity,
                                                                                 is_out));
    sim_links_meter(cluster, world->context.meter, sim_engine_now(world->context.engine));
    return WEIR_OK;
}

static weir_status set(struct sim_world *world, enum sim_fault kind, uint32_t entity,
                       bool is_failed)
{
    const uint32_t count = together(world, kind);
    if (kind == SIM_FAULT_LINK || kind == SIM_FAULT_STORE)
        return set_out(world, kind, entity, is_failed);
    if (kind == SIM_FAULT_GPU)
        return set_gpu(world, entity, is_failed);
    if (is_slowness(kind))
        return set_slow(world, kind, entity, is_failed);
    for (uint32_t n = entity * count;
         n < world->context.cluster->node_count && n - entity * count < count; n++)
        WEIR_TRY(sim_faults_set_node(world, n, is_failed));
    return WEIR_OK;
}

/* ---- failures and repairs ---- */

static const char *gpu_class(struct sim_world *world, uint32_t entity)
{
    struct sim_stream stream;
    double total = 0;
    uint32_t c = 0;
    for (uint32_t i = 0; i < GPU_CLASSES; i++)
        total += gpu_classes[i].weight;
    sim_stream_open(&stream, &world->context.random, SIM_DRAW_GPU_CLASS,
                    key_of(world, SIM_FAULT_GPU, entity));
    double at = sim_stream_uniform(&stream) * total;
    while (c + 1 < GPU_CLASSES && at >= gpu_classes[c].weight)
        at -= gpu_classes[c++].weight;
    return gpu_classes[c].text;
}

static weir_status note(struct sim_world *world, enum sim_fault kind, uint32_t entity,
                        bool is_failed)
{
    char happening[32];
    char name[160];
    char slow[48];
    char text[256]; /* one who reads it alone knows what failed */
    const char *what = is_failed ? kinds[kind].fails : kinds[kind].is_back;
    (void)snprintf(happening, sizeof(happening), "%s_%s", kinds[kind].name,
                   is_failed ? "fail" : "repair");
    name_of(world, kind, entity, name, sizeof(name));
    if (is_failed && kind == SIM_FAULT_GPU)
        what = gpu_class(world, entity);
    if (is_failed && is_slowness(kind)) {
        (void)snprintf(slow, sizeof(slow), "slow x%.4g", slow_factor(world, kind, entity));
        what = slow;
    }
    (void)snprintf(text, sizeof(text), "%s: %s", name, what);
    return sim_recorder_happening(world->context.recorder, sim_engine_now(world->context.engine),
                                  -1, happening, name, text, world->context.error);
}

/* Of one node that is not there: nothing of it fails. */
static bool is_away(const struct sim_world *world, enum sim_fault kind, uint32_t entity)
{
    return kind != SIM_FAULT_STORE && kind != SIM_FAULT_RACK && kind != SIM_FAULT_SWITCH &&
           !sim_supply_has(world, node_of(world, kind, entity));
}

weir_status sim_faults_fail(struct sim_world *world, const struct sim_event *event)
{
    const enum sim_fault kind = (enum sim_fault)event->argument;
    if (is_away(world, kind, event->target)) {
        ++*count_of(world, kind, event->target);
        return await(world, kind, event->target, false);
    }
    world->failed[kind]++;
    WEIR_TRY(note(world, kind, event->target, true));
    WEIR_TRY(set(world, kind, event->target, true));
    return await(world, kind, event->target, true);
}

weir_status sim_faults_repair(struct sim_world *world, const struct sim_event *event)
{
    const enum sim_fault kind = (enum sim_fault)event->argument;
    WEIR_TRY(note(world, kind, event->target, false));
    ++*count_of(world, kind, event->target);
    WEIR_TRY(set(world, kind, event->target, false));
    return await(world, kind, event->target, false);
}

/* ---- results ---- */

void sim_faults_results(const struct sim_world *world, struct sim_results *out)
{
    for (uint32_t kind = 0; kind < SIM_FAULTS; kind++) {
        const struct sim_result_row row = { .metric = "failures",
                                            .label = kinds[kind].name,
                                            .unit = "count",
                                            .value = (double)world->failed[kind],
                                            .n = 1 };
        if (world->scenario->failures.of[kind].between != NULL)
            sim_results_add(out, &row);
    }
}
