/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ledger: what a run costs, by stage, class of jobs and tenant, from its start to its end,
 * warm-up or not.
 *
 * A worker pays the GPUs and CPUs that it holds, for its life in whole units of the granularity; of
 * those that still live it is the time so far. When nodes are paid and not what is held, the life
 * of a node is each time that it is up, owners pay their exact part of it and what is left is idle.
 * Either way the parts add up to the whole.
 */
#include "sim/engine/time.h"
#include "sim/record/meter/meter_jobs.h"
#include "sim/record/meter/meter_state.h"

#include <math.h>
#include <stdlib.h>

static const double gib = 1073741824.0;

/* Money of one owner. What lives is kept as the sum of its rates and of rate x begin. */
struct account {
    double paid;
    double rate, begun; /* a second; rate x s */
};

/* Of a node: the lives that are over, and since when it is up. */
struct bill {
    double paid_s;
    int64_t since_ns;
};

struct meter_cost {
    struct sim_meter_prices prices;
    double *gpu_price; /* by node, as the bills */
    struct bill *bills;
    struct account *stages;  /* then classes of jobs, then tenants, the first nobody's */
    struct account *classes; /* in the same memory */
    struct account *tenants;
    const char **names; /* of tenants */
    uint32_t *parents;
    size_t tenant_count;
};

weir_status meter_cost_open(struct sim_meter *meter, const struct sim_meter_config *config)
{
    if (config->prices == NULL)
        return WEIR_OK;
    struct meter_cost *cost = calloc(1, sizeof *cost);
    meter->cost = cost;
    if (!cost)
        return WEIR_ENOMEM;
    cost->prices = *config->prices;
    cost->gpu_price = calloc(config->node_count + 1, sizeof *cost->gpu_price);
    cost->bills = calloc(config->node_count + 1, sizeof *cost->bills);
    cost->stages = calloc(meter->stage_count + meter->class_count + config->tenant_count + 1,
                          sizeof *cost->stages);
    cost->names = calloc(config->tenant_count + 1, sizeof *cost->names);
    cost->parents = calloc(config->tenant_count + 1, sizeof *cost->parents);
    if (!cost->gpu_price || !cost->bills || !cost->stages || !cost->names || !cost->parents)
        return WEIR_ENOMEM;
    cost->classes = cost->stages + meter->stage_count;
    cost->tenants = cost->classes + meter->class_count;
    cost->tenant_count = config->tenant_count;
    for (size_t n = 0; n < config->node_count; n++)
        cost->gpu_price[n] = config->prices->gpu[n];
    for (size_t t = 1; t <= config->tenant_count; t++) {
        cost->names[t] = config->tenants[t - 1].name;
        cost->parents[t] = config->tenants[t - 1].parent;
    }
    return WEIR_OK;
}

void meter_cost_close(struct sim_meter *meter)
{
    if (!meter->cost)
        return;
    free(meter->cost->gpu_price);
    free(meter->cost->bills);
    free(meter->cost->stages);
    free((void *)meter->cost->names);
    free(meter->cost->parents);
    free(meter->cost);
}

/* ---- lives ---- */

static double hourly(const struct meter_cost *cost, uint32_t node,
                     const struct sim_meter_amounts *amounts)
{
    return amounts->amount[SIM_RESOURCE_GPU] * cost->gpu_price[node] +
           amounts->amount[SIM_RESOURCE_CPU] * cost->prices.cpu;
}

/* Seconds that are paid for a time. */
static double billed_s(const struct meter_cost *cost, int64_t time_ns)
{
    const int64_t unit_ns = cost->prices.granularity_ns;
    return sim_time_s((time_ns + unit_ns - 1) / unit_ns * unit_ns);
}

static void book(struct account *account, const struct meter_cost *cost, double rate,
                 int64_t since_ns, int64_t now_ns, bool begins)
{
    const double sign = begins ? 1.0 : -1.0;
    account->rate += sign * rate;
    account->begun += sign * rate * sim_time_s(since_ns);
    if (begins)
        return;
    account->paid += rate * (cost->prices.is_of_nodes ? sim_time_s(now_ns - since_ns)
                                                      : billed_s(cost, now_ns - since_ns));
}

void meter_cost_life(struct sim_meter *meter, int64_t now_ns, const struct sim_meter_worker *worker,
                     bool begins)
{
    struct meter_cost *cost = meter->cost;
    const double rate = hourly(cost, worker->node, worker->holds) / 3600.0;
    if (worker->stage != WEIR_NO_INDEX) {
        book(&cost->stages[worker->stage], cost, rate, worker->since_ns, now_ns, begins);
        return;
    }
    book(&cost->classes[worker->job_class], cost, rate, worker->since_ns, now_ns, begins);
    for (uint32_t t = worker->tenant; t != 0; t = cost->parents[t])
        book(&cost->tenants[t], cost, rate, worker->since_ns, now_ns, begins);
}

void meter_cost_node(struct sim_meter *meter, int64_t now_ns, uint32_t node, bool is_up)
{
    struct bill *bill = &meter->cost->bills[node];
    if (is_up)
        bill->since_ns = now_ns;
    else
        bill->paid_s += billed_s(meter->cost, now_ns - bill->since_ns);
}

/* ---- results ---- */

static double balance_of(const struct account *account, int64_t now_ns)
{
    return account->paid + account->rate * sim_time_s(now_ns) - account->begun;
}

double sim_meter_job_cost(const struct sim_meter *meter, uint32_t job_class, int64_t now_ns)
{
    return meter->cost ? balance_of(&meter->cost->classes[job_class], now_ns) : (double)NAN;
}

static void put(struct sim_results *out, const char *metric, const char *label, double value)
{
    const struct sim_result_row row = {
        .metric = metric, .label = label, .unit = "$", .value = value
    };
    sim_results_add(out, &row);
}

static double cost_of_nodes(const struct sim_meter *meter, int64_t end_ns)
{
    double sum = 0;
    for (size_t n = 0; n < meter->node_count; n++) {
        const struct bill *bill = &meter->cost->bills[n];
        const double so_far_s = meter->nodes[n].is_up ? sim_time_s(end_ns - bill->since_ns) : 0;
        const double up_s = bill->paid_s + so_far_s;
        sum += hourly(meter->cost, (uint32_t)n, &meter->capacity[n]) / 3600.0 * up_s;
    }
    return sum;
}

/* What owners hold, all together; stages have rows of their own here, classes where jobs write
 * theirs. */
static double put_owners(const struct sim_meter *meter, int64_t end_ns, struct sim_results *out)
{
    const struct meter_cost *cost = meter->cost;
    double sum = 0;
    for (size_t s = 0; s < meter->stage_count; s++) {
        const double money = balance_of(&cost->stages[s], end_ns);
        put(out, "cost.compute", meter->stages[s].label, money);
        sum += money;
    }
    for (size_t c = 0; c < meter->class_count; c++)
        sum += balance_of(&cost->classes[c], end_ns);
    for (size_t t = 1; t <= cost->tenant_count; t++)
        put(out, "cost.tenant", cost->names[t], balance_of(&cost->tenants[t], end_ns));
    return sum;
}

void meter_cost_results(struct sim_meter *meter, int64_t end_ns, struct sim_results *out)
{
    const struct meter_cost *cost = meter->cost;
    double late = 0;
    if (!cost)
        return;
    const double held = put_owners(meter, end_ns, out);
    const double nodes = cost->prices.is_of_nodes ? cost_of_nodes(meter, end_ns) : held;
    const double storage =
        cost->prices.storage *
        (meter->moved_bytes[SIM_MOVED_READ] + meter->moved_bytes[SIM_MOVED_WRITTEN]) / gib;
    const double network = cost->prices.network * meter->moved_bytes[SIM_MOVED_BETWEEN] / gib;
    for (size_t w = 0; w < meter->workload_count; w++)
        late += sim_meter_workload(meter, (uint32_t)w)->late_cost;
    put(out, "cost.compute", "", nodes);
    if (cost->prices.is_of_nodes)
        put(out, "cost.idle", "", nodes - held);
    put(out, "cost.storage", "", storage);
    put(out, "cost.network", "", network);
    put(out, "cost.sla", "", late);
    put(out, "cost.total", "", nodes + storage + network + late);
}
