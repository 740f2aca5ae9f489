/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Supply: nodes that are asked for, come, and are given back (see world.h).
 *
 * A group with a supply has as many nodes as there may be:
 *
 *   AWAY -- asked for --> BOOTING -- boot is over --> HERE -- given back --> AWAY
 *    ^                       |
 *    +----- launch failed ---+
 *
 * One that is away is down for that reason beside others: nobody starts there, and it does not
 * fail. Its owner may take one back (spot.c), whoever uses it. The first that is away boots; how
 * long, and whether it comes, is drawn by its name and by how often it was asked for. A node in use
 * is not given back, and no more than `max` are asked for: the truth refuses. The scheduler hears
 * of all of it at once.
 */
#include "sim/world/supply.h"
#include "sim/record/meter/gauge.h"
#include "sim/record/record.h"
#include "sim/scenario/belief.h"

#include <math.h>
#include <stdlib.h>

enum state { THERE, AWAY, BOOTING, HERE }; /* THERE: for good */

/* Of one group. */
struct group {
    uint32_t up, coming;
    uint64_t asked, given_back, failed;
    struct sim_gauge here;
};

struct sim_supply_run {
    enum state *states; /* by node */
    uint32_t *launches; /* by node: so far, names the streams */
    struct group *groups;
    int way; /* of the latest step: 1 = out, -1 = in */
    uint64_t reversals;
};

static const struct sim_node_group *group_of(const struct sim_world *world, uint32_t node,
                                             struct group **run)
{
    const uint32_t index = sim_scenario_node_group(world->scenario, node);
    *run = &world->supply->groups[index];
    return &world->scenario->node_groups[index];
}

static int64_t now(const struct sim_world *world)
{
    return sim_engine_now(world->context.engine);
}

/* ---- telling ---- */

static struct weir_amounts holds(const struct weir_node_spec *spec)
{
    struct weir_amounts sum = { .cpu_units = spec->cpu_units, .ram_bytes = spec->ram_bytes };
    for (uint32_t g = 0; g < spec->gpu_count; g++) {
        sum.gpu_units += spec->gpus[g].units;
        sum.nvdecs += spec->gpus[g].nvdecs;
        sum.nvencs += spec->gpus[g].nvencs;
        sum.gpu_mem_bytes += spec->gpus[g].mem_bytes;
    }
    return sum;
}

static double price(const struct sim_world *world, uint32_t node)
{
    const struct sim_scenario *scenario = world->scenario;
    const struct sim_node_type *type = sim_scenario_node_type(scenario, node);
    double sum = type->cpus * scenario->prices.cpu;
    for (size_t i = 0; i < type->gpus_count; i++)
        sum += type->gpus[i].count * scenario->gpu_truth[type->gpus[i].type].price *
               scenario->node_groups[sim_scenario_node_group(scenario, node)].supply.spot.price;
    return scenario->prices.is_there ? sum : 0;
}

/* How things stand with a group; also what the meter wants to know. */
static weir_status offer(struct sim_world *world, const struct sim_node_group *group)
{
    struct group *run = &world->supply->groups[group - world->scenario->node_groups];
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    WEIR_TRY(sim_belief_node(world->scenario, group->first, gpus, &spec, world->context.error));
    const struct sim_law *boot = group->supply.boot;
    const struct weir_node_offer told = { .size = sizeof(struct weir_node_offer),
                                          .type = spec.type,
                                          .min = group->supply.min,
                                          .max = group->supply.max,
                                          .up = run->up,
                                          .coming = run->coming,
                                          .holds = holds(&spec),
                                          .boot_ns = boot == NULL
                                                         ? 0
                                                         : sim_time_from_s(sim_law_mean(boot)),
                                          .price = price(world, group->first) };
    sim_gauge_set(&run->here, now(world), run->up);
    return sim_port_offer(world->port, &told);
}

weir_status sim_supply_note(struct sim_world *world, uint32_t node, const char *happening,
                            const char *what)
{
    char name[128];
    char text[192];
    sim_scenario_node_name(world->scenario, node, name, sizeof(name));
    (void)snprintf(text, sizeof(text), "%s: %s", name, what);
    return sim_recorder_happening(world->context.recorder, now(world), -1, happening, name, text,
                                  world->context.error);
}

static void step(struct sim_supply_run *supply, int way)
{
    supply->reversals += supply->way == -way;
    supply->way = way;
}

/* ---- nodes come ---- */

static weir_status request(void *self, uint32_t type, uint32_t *reason)
{
    struct sim_world *world = self;
    struct sim_supply_run *supply = world->supply;
    *reason = WEIR_REASON_NO_SUPPLIER;
    if (type == 0 || type > world->scenario->node_groups_count)
        return WEIR_OK;
    const struct sim_node_group *group = &world->scenario->node_groups[type - 1];
    struct group *run = &supply->groups[type - 1];
    if (group->supply.max == 0)
        return WEIR_OK;
    uint32_t node = group->first;
    while (node < group->first + group->count && supply->states[node] != AWAY)
        node++;
    *reason = node == group->first + group->count ? WEIR_REASON_NO_NODES : WEIR_REASON_NONE;
    if (*reason != WEIR_REASON_NONE)
        return WEIR_OK;
    const struct sim_stream_key key =
        sim_scenario_node_key(world->scenario, node, supply->launches[node]);
    const double boot_s =
        group->supply.boot == NULL
            ? 0
            : sim_law_draw_of(group->supply.boot, &world->context.random, SIM_DRAW_BOOT, key);
    const struct sim_event event = { .time_ns = now(world) + sim_time_from_s(boot_s),
                                     .target = node,
                                     .kind = SIM_KIND_BOOT,
                                     .phase = SIM_PHASE_FAULT };
    supply->states[node] = BOOTING;
    run->coming++;
    run->asked++;
    step(supply, 1);
    (void)sim_engine_schedule(world->context.engine, &event);
    WEIR_TRY(sim_supply_note(world, node, "node_requested", "asked for"));
    return offer(world, group);
}

static bool launch_fails(struct sim_world *world, uint32_t node, double probability)
{
    struct sim_stream stream;
    if (probability <= 0)
        return false;
    sim_stream_open(&stream, &world->context.random, SIM_DRAW_LAUNCH,
                    sim_scenario_node_key(world->scenario, node, world->supply->launches[node]));
    return sim_stream_uniform(&stream) < probability;
}

weir_status sim_supply_booted(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t node = event->target;
    struct group *run;
    const struct sim_node_group *group = group_of(world, node, &run);
    const bool has_failed = launch_fails(world, node, group->supply.launch_failure);
    world->supply->launches[node]++;
    world->supply->states[node] = has_failed ? AWAY : HERE;
    run->coming--;
    run->failed += has_failed;
    run->up += !has_failed;
    WEIR_TRY(sim_supply_note(world, node, has_failed ? "node_launch_fail" : "node_came",
                             has_failed ? "did not start" : "is there"));
    if (!has_failed) {
        sim_spot_came(world, node);
        WEIR_TRY(sim_faults_switch_node(world, node, false));
    }
    WEIR_TRY(offer(world, group));
    WEIR_TRY(has_failed
                 ? sim_port_supply_outcome(world->port, WEIR_OUTCOME_FAILED, WEIR_NO_INDEX,
                                           WEIR_REASON_LAUNCH)
                 : sim_port_supply_outcome(world->port, WEIR_OUTCOME_CAME, node, WEIR_REASON_NONE));
    sim_port_wake(world->port, WEIR_CAUSE_CAPACITY);
    return sim_world_settle(world);
}

/* ---- and go ---- */

/* It is away from now on, and what ran there is lost. */
static weir_status leave(struct sim_world *world, uint32_t node, const char *happening,
                         const char *what)
{
    struct group *run;
    const struct sim_node_group *group = group_of(world, node, &run);
    world->supply->states[node] = AWAY;
    run->up--;
    WEIR_TRY(sim_supply_note(world, node, happening, what));
    WEIR_TRY(sim_faults_switch_node(world, node, true));
    WEIR_TRY(offer(world, group));
    return sim_port_supply_outcome(world->port, WEIR_OUTCOME_GONE, node, WEIR_REASON_NONE);
}

weir_status sim_supply_take_back(struct sim_world *world, uint32_t node)
{
    WEIR_TRY(leave(world, node, "node_reclaimed", "taken back by its owner"));
    sim_port_wake(world->port, WEIR_CAUSE_CAPACITY);
    return sim_world_settle(world);
}

/* Why it is not given back. */
static weir_status find_reason(const struct sim_world *world, uint32_t node, uint32_t *reason)
{
    uint64_t *ids = NULL;
    uint32_t count = 0;
    *reason = world->supply->states[node] == THERE  ? WEIR_REASON_NO_SUPPLIER
              : world->supply->states[node] != HERE ? WEIR_REASON_NODE_DOWN
                                                    : WEIR_REASON_NONE;
    if (*reason != WEIR_REASON_NONE)
        return WEIR_OK;
    WEIR_TRY(sim_workers_on_node(world->workers, node, WEIR_NO_INDEX, &ids, &count));
    free(ids);
    *reason = count > 0 ? WEIR_REASON_NODE_USED : WEIR_REASON_NONE;
    return WEIR_OK;
}

static weir_status release(void *self, uint32_t node, uint32_t *reason)
{
    struct sim_world *world = self;
    struct group *run;
    WEIR_TRY(find_reason(world, node, reason));
    if (*reason != WEIR_REASON_NONE)
        return WEIR_OK;
    (void)group_of(world, node, &run);
    run->given_back++;
    step(world->supply, -1);
    sim_spot_leaves(world, node);
    return leave(world, node, "node_released", "given back");
}

struct sim_supplier sim_supply_supplier(struct sim_world *world)
{
    struct sim_supplier supplier = { .self = NULL };
    if (world->supply != NULL)
        supplier = (struct sim_supplier){ request, release, world };
    return supplier;
}

bool sim_supply_has(const struct sim_world *world, uint32_t node)
{
    return world->supply == NULL || world->supply->states[node] == THERE ||
           world->supply->states[node] == HERE;
}

uint32_t sim_supply_launches(const struct sim_world *world, uint32_t node)
{
    return world->supply->launches[node];
}

/* ---- life ---- */

static bool is_needed(const struct sim_scenario *scenario)
{
    for (size_t g = 0; g < scenario->node_groups_count; g++)
        if (scenario->node_groups[g].supply.max > 0)
            return true;
    return false;
}

weir_status sim_supply_create(struct sim_world *world)
{
    const struct sim_scenario *scenario = world->scenario;
    if (!is_needed(scenario))
        return WEIR_OK;
    struct sim_supply_run *supply = world->supply = calloc(1, sizeof(*supply));
    if (supply == NULL)
        return WEIR_ENOMEM;
    const size_t nodes = sim_scenario_node_count(scenario);
    supply->states = calloc(nodes + 1, sizeof(*supply->states));
    supply->launches = calloc(nodes + 1, sizeof(*supply->launches));
    supply->groups = calloc(scenario->node_groups_count + 1, sizeof(*supply->groups));
    if (supply->states == NULL || supply->launches == NULL || supply->groups == NULL)
        return WEIR_ENOMEM;
    return sim_spot_create(world);
}

void sim_supply_destroy(struct sim_world *world)
{
    sim_spot_destroy(world);
    if (world->supply == NULL)
        return;
    free(world->supply->states);
    free(world->supply->launches);
    free(world->supply->groups);
    free(world->supply);
}

static weir_status begin_group(struct sim_world *world, const struct sim_node_group *group)
{
    struct group *run = &world->supply->groups[group - world->scenario->node_groups];
    run->up = group->supply.initial;
    sim_spot_begin(world, group);
    for (uint32_t n = 0; n < group->count; n++) {
        const bool is_here = n < group->supply.initial;
        world->supply->states[group->first + n] = is_here ? HERE : AWAY;
        if (is_here)
            sim_spot_came(world, group->first + n);
        else
            WEIR_TRY(sim_faults_switch_node(world, group->first + n, true));
    }
    return offer(world, group);
}

weir_status sim_supply_begin(struct sim_world *world)
{
    const struct sim_scenario *scenario = world->scenario;
    if (world->supply == NULL)
        return WEIR_OK;
    for (size_t g = 0; g < scenario->node_groups_count; g++)
        if (scenario->node_groups[g].supply.max > 0)
            WEIR_TRY(begin_group(world, &scenario->node_groups[g]));
    sim_port_wake(world->port, WEIR_CAUSE_CAPACITY);
    return WEIR_OK;
}

/* ---- results ---- */

static void put(struct sim_results *out, const char *metric, const char *unit, double value)
{
    const struct sim_result_row row = {
        .metric = metric, .label = "", .unit = unit, .value = value, .n = 1
    };
    sim_results_add(out, &row);
}

void sim_supply_results(struct sim_world *world, int64_t end_ns, struct sim_results *out)
{
    struct group sum = { .up = 0 };
    double node_ns = 0;
    if (world->supply == NULL)
        return;
    for (size_t g = 0; g < world->scenario->node_groups_count; g++) {
        struct group *run = &world->supply->groups[g];
        sum.asked += run->asked;
        sum.given_back += run->given_back;
        sum.failed += run->failed;
        node_ns += sim_gauge_integral(&run->here, end_ns);
    }
    sim_spot_results(world, out);
    put(out, "as.out", "nodes", (double)sum.asked);
    put(out, "as.in", "nodes", (double)sum.given_back);
    put(out, "as.failed", "nodes", (double)sum.failed);
    put(out, "as.reversals", "count", (double)world->supply->reversals);
    put(out, "as.nodes", "nodes", end_ns > 0 ? node_ns / (double)end_ns : sum.up);
    const double error = sim_port_forecast_error(world->port);
    if (!isnan(error))
        put(out, "as.forecast_error", "1", error);
}
