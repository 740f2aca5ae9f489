/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the meter is told when a run begins: nodes, stages, jobs, tenants, prices, windows. */
#include "sim/world/world.h"

#include "sim/cluster/link.h"
#include "sim/cluster/memory.h"
#include "sim/record/meter/sampling.h"

#include <stdlib.h>

/* Sums driver by driver, so that the sum of one does not depend on the others. */
static double sum_work(const struct sim_port *port)
{
    double total = 0;
    double part = 0;
    for (uint32_t i = 0; i < sim_port_pool_count(port); i++) {
        if (i > 0 && sim_port_pool(port, i)->driver != sim_port_pool(port, i - 1)->driver) {
            total += part;
            part = 0;
        }
        part += sim_port_pool(port, i)->work;
    }
    return total + part;
}

double sim_world_mix(const struct sim_world *world, const struct sim_pool *pool)
{
    return world->work_total > 0 ? pool->work / world->work_total
                                 : 1.0 / sim_port_pool_count(world->port);
}

static void fill_stages(const struct sim_world *world, struct sim_meter_stage_info *stages)
{
    for (uint32_t i = 0; i < sim_port_pool_count(world->port); i++) {
        const struct sim_pool *pool = sim_port_pool(world->port, i);
        stages[i] = (struct sim_meter_stage_info){ .name = pool->name,
                                                   .pipeline = pool->driver - 1,
                                                   .is_first = pool->position == 0,
                                                   .is_last = pool->is_last,
                                                   .mix = sim_world_mix(world, pool),
                                                   .shape = *pool->shape,
                                                   .samples_per_source = pool->samples_per_source,
                                                   .batch = pool->batch,
                                                   .class_names = pool->class_names,
                                                   .class_count = pool->class_count };
    }
}

/* The work that is expected: every workload, and all pipelines together, count the same. */
static weir_status fill_expected(const struct sim_world *world,
                                 const struct sim_meter_stage_info *stages,
                                 struct sim_meter_config *config,
                                 struct sim_meter_stage_info **owned)
{
    const uint32_t workloads = sim_port_workload_count(world->port);
    const double share = 1.0 / (workloads + (config->stage_count > 0 ? 1 : 0));
    size_t count = config->stage_count;
    for (uint32_t w = 0; w < workloads; w++)
        count += sim_port_mix(world->port, w)->count;
    struct sim_meter_stage_info *expected = calloc(count + 1, sizeof(*expected));
    if (expected == NULL)
        return WEIR_ENOMEM;
    for (size_t s = 0; s < config->stage_count; s++) {
        expected[s] = stages[s];
        expected[s].mix *= share;
    }
    size_t filled = config->stage_count;
    for (uint32_t w = 0; w < workloads; w++) {
        const struct weir_mix *mix = sim_port_mix(world->port, w);
        for (uint32_t i = 0; i < mix->count; i++)
            expected[filled++] =
                (struct sim_meter_stage_info){ .shape = mix->shapes[i],
                                               .mix = share * mix->frequencies[i] };
    }
    config->expected = *owned = expected;
    config->expected_count = count;
    return WEIR_OK;
}

/* Whether workers take turns anywhere. */
static bool has_turns(const struct sim_cluster *cluster)
{
    for (uint32_t n = 0; n < cluster->node_count; n++)
        if (cluster->nodes[n].turns != NULL)
            return true;
    return false;
}

enum { NODE_NAME = 128 };

/* Names of all nodes, where memory is modelled in time; the caller frees them. */
static weir_status name_nodes(const struct sim_world *world, struct sim_meter_config *config,
                              const char ***owned)
{
    const struct sim_cluster *cluster = world->context.cluster;
    const size_t nodes = cluster->node_count;
    if (!sim_memory_is_timed(cluster))
        return WEIR_OK;
    const char **names = calloc(1, (nodes + 1) * (sizeof(*names) + NODE_NAME));
    if (names == NULL)
        return WEIR_ENOMEM;
    char *text = (char *)(names + nodes + 1);
    for (uint32_t n = 0; n < nodes; n++, text += NODE_NAME) {
        sim_scenario_node_name(world->scenario, n, text, NODE_NAME);
        names[n] = text;
    }
    config->node_names = *owned = names;
    return WEIR_OK;
}

static struct sim_meter_tenant_info *tell_tenants(const struct sim_scenario *scenario)
{
    struct sim_meter_tenant_info *told = calloc(scenario->tenants_count + 1, sizeof(*told));
    for (size_t i = 0; told != NULL && i < scenario->tenants_count; i++) {
        const struct sim_tenant *tenant = &scenario->tenants[i];
        told[i] = (struct sim_meter_tenant_info){ tenant->name, tenant->parent, tenant->weight,
                                                  weir_units_amount(tenant->guarantee.gpu_units) };
    }
    return told;
}

static const char **tell_reservations(const struct sim_scenario *scenario)
{
    const char **names = calloc(scenario->reservations_count + 1, sizeof(*names));
    for (size_t i = 0; names != NULL && i < scenario->reservations_count; i++)
        names[i] = scenario->reservations[i].name;
    return names;
}

/* What each node has, then what the scheduler was told of each. */
static void tell_amounts(const struct sim_world *world, struct sim_meter_amounts *amounts)
{
    const uint32_t nodes = sim_scenario_node_count(world->scenario);
    for (uint32_t n = 0; n < nodes; n++) {
        amounts[n] = sim_cluster_capacity(world->context.cluster, n);
        amounts[nodes + n] = sim_port_believed(world->port, n);
    }
}

/* A node with GPUs of several types pays their mean for each. */
static struct sim_meter_prices tell_prices(const struct sim_world *world, double *gpu)
{
    const struct sim_scenario *scenario = world->scenario;
    const struct sim_prices *prices = &scenario->prices;
    for (uint32_t n = 0; n < sim_scenario_node_count(scenario); n++) {
        const struct sim_node_type *type = sim_scenario_node_type(scenario, n);
        double gpus = 0;
        double sum = 0;
        for (size_t i = 0; i < type->gpus_count; i++) {
            gpus += type->gpus[i].count;
            sum += type->gpus[i].count * scenario->gpu_truth[type->gpus[i].type].price;
        }
        const struct sim_supply *supply =
            &scenario->node_groups[sim_scenario_node_group(scenario, n)].supply;
        gpu[n] = gpus > 0 ? sum / gpus * (supply->max > 0 ? supply->spot.price : 1) : 0;
    }
    return (struct sim_meter_prices){ .gpu = gpu,
                                      .cpu = prices->cpu,
                                      .storage = prices->storage,
                                      .network = prices->network,
                                      .granularity_ns = prices->granularity_ns,
                                      .is_of_nodes = prices->billing == SIM_BILLING_NODES };
}

static void tell_windows(const struct sim_scenario *scenario,
                         struct sim_meter_window_info told[SIM_WINDOWS_MOST])
{
    for (size_t w = 0; w < scenario->windows_count; w++)
        told[w] =
            (struct sim_meter_window_info){ scenario->windows[w].name, scenario->windows[w].from_ns,
                                            scenario->windows[w].to_ns };
}

/* Names of drivers, and how many classes of jobs each workload has. */
static void tell_owners(const struct sim_world *world, const char **names, uint32_t *classes)
{
    for (uint32_t d = 1; d <= world->driver_count; d++)
        names[d - 1] = sim_driver_name(&world->drivers[d]);
    for (uint32_t w = 0; w < sim_port_workload_count(world->port); w++)
        classes[w] = sim_port_classes(world->port, w);
}

/* The band of priority of every class of jobs; where there are none *bands stays NULL. */
static weir_status tell_bands(const struct sim_world *world, uint32_t **bands)
{
    const struct sim_scenario *scenario = world->scenario;
    size_t count = 0;
    if (scenario->bands_count == 0)
        return WEIR_OK;
    for (size_t w = 0; w < scenario->workloads_count; w++)
        count += scenario->workloads[w].jobs_count;
    *bands = calloc(count + 1, sizeof **bands);
    if (*bands == NULL)
        return WEIR_ENOMEM;
    count = 0;
    for (size_t w = 0; w < scenario->workloads_count; w++)
        for (size_t c = 0; c < scenario->workloads[w].jobs_count; c++)
            (*bands)[count++] =
                sim_scenario_band(scenario, scenario->workloads[w].jobs[c].priority);
    return WEIR_OK;
}

/* What is expected of jobs, names of nodes and how often they are sampled, bands of priority, then
 * the meter itself. */
static weir_status open_meter(struct sim_world *world, const struct sim_meter_stage_info *stages,
                              struct sim_meter_config *config)
{
    struct sim_meter_stage_info *expected = NULL;
    const char **node_names = NULL;
    uint32_t *bands = NULL;
    weir_status status = tell_bands(world, &bands);
    config->class_bands = bands;
    config->band_count = world->scenario->bands_count;
    if (status == WEIR_OK && config->workload_count > 0)
        status = fill_expected(world, stages, config, &expected);
    if (status == WEIR_OK)
        status = name_nodes(world, config, &node_names);
    /* Memory and power of nodes stand beside their samples: those are not joined. */
    if (world->scenario->sample_ns == 0 && !config->has_power && node_names == NULL)
        config->node_every = sim_sampling_node_every(config->node_count);
    if (status == WEIR_OK)
        status = sim_meter_create(config, &world->context.meter);
    free(bands);
    free(node_names);
    free(expected);
    return status;
}

weir_status sim_world_create_meter(struct sim_world *world)
{
    const struct sim_scenario *scenario = world->scenario;
    const size_t nodes = sim_scenario_node_count(scenario);
    const size_t pools = sim_port_pool_count(world->port);
    struct sim_meter_amounts *capacity = calloc(2 * nodes + 1, sizeof(*capacity));
    struct sim_meter_stage_info *stages = calloc(pools + 1, sizeof(*stages));
    const size_t workloads = sim_port_workload_count(world->port);
    const char **names = calloc((size_t)world->driver_count + 1, sizeof(*names));
    uint32_t *classes = calloc(workloads + 1, sizeof(*classes));
    struct sim_meter_tenant_info *tenants = tell_tenants(scenario);
    const char **reservations = tell_reservations(scenario);
    struct sim_meter_window_info windows[SIM_WINDOWS_MOST];
    double *gpu_prices = calloc(nodes + 1, sizeof(*gpu_prices));
    weir_status status = gpu_prices == NULL || capacity == NULL || stages == NULL ||
                                 names == NULL || classes == NULL || tenants == NULL ||
                                 reservations == NULL
                             ? WEIR_ENOMEM
                             : WEIR_OK;
    if (status == WEIR_OK) {
        tell_owners(world, names, classes);
        tell_amounts(world, capacity);
        tell_windows(scenario, windows);
        const struct sim_meter_prices prices = tell_prices(world, gpu_prices);
        world->work_total = sum_work(world->port);
        fill_stages(world, stages);
        struct sim_meter_config config = { .node_count = nodes,
                                           .node_capacity = capacity,
                                           .node_believed = capacity + nodes,
                                           .stage_count = pools,
                                           .stages = stages,
                                           .pipeline_count = world->driver_count,
                                           .pipeline_names = names,
                                           .workload_count = workloads,
                                           .workload_classes = classes,
                                           .prices = scenario->prices.is_there ? &prices : NULL,
                                           .tenants = tenants,
                                           .tenant_count = scenario->tenants_count,
                                           .reservations = reservations,
                                           .reservation_count = scenario->reservations_count,
                                           .has_power = scenario->power.gpu == SIM_GPU_POWER_USED,
                                           .has_turns = has_turns(world->context.cluster),
                                           .has_addresses =
                                               scenario->gpu_addresses != SIM_ADDRESSES_PAGED,
                                           .link_count = sim_links_count(world->context.cluster),
                                           .warmup_ns = scenario->warmup_ns,
                                           .windows = windows,
                                           .window_count = scenario->windows_count,
                                           .late_ns = scenario->late_ns };
        status = open_meter(world, stages, &config);
    }
    free(gpu_prices);
    free(capacity);
    free(stages);
    free(names);
    free(tenants);
    free(reservations);
    free(classes);
    return status;
}
