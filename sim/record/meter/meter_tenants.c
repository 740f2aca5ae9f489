/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is measured of tenants; see the header. */
#include "sim/record/meter/meter_tenants.h"

#include "sim/engine/time.h"
#include "sim/record/meter/meter_state.h"

#include <math.h>
#include <stdlib.h>

enum {
    TENANT_WAITING, /* jobs */
    TENANT_BACKLOG, /* 1 while jobs wait */
    TENANT_GPUS,    /* of jobs that run */
    TENANT_BEHIND,  /* the same while jobs wait */
    TENANT_MOST,    /* dominant share while jobs wait */
    TENANT_BEYOND,  /* above the guarantee */
    TENANT_IDLE,    /* bytes of its pool of GPU memory */
    TENANT_GAUGES
};

struct tenant_meter {
    const char *name;
    uint32_t parent;
    double weight, guarantee;
    bool is_leaf, has_pool;
    struct sim_gauge gauges[TENANT_GAUGES];
    double warm[TENANT_GAUGES];
    struct sim_meter_amounts held; /* by its ranks */
    struct sim_percentiles wait;
    struct sim_percentiles fairness; /* time over that alone, in 1e-9 */
    double part;                     /* GPUs, by weight */
    double below;                    /* weights of its children together */
    double busy_ns;                  /* alone it has work until then */
    struct sim_ages waiting;         /* jobs that never began */
    uint64_t done;
};

struct meter_tenants {
    struct tenant_meter *rows; /* by number, from 1; 0 = all */
    size_t count;
    struct sim_meter_amounts all; /* of the cluster */
};

/* ---- making ---- */

static void open_row(struct meter_tenants *tenants, size_t number,
                     const struct sim_meter_tenant_info *tenant)
{
    struct tenant_meter *row = &tenants->rows[number];
    row->name = tenant->name;
    row->parent = tenant->parent;
    row->weight = tenant->weight;
    row->guarantee = tenant->guarantee;
    row->is_leaf = true;
    tenants->rows[tenant->parent].is_leaf = false;
    row->fairness = sim_percentiles_open(STORED_VALUES);
    row->wait = sim_percentiles_open(STORED_VALUES);
}

static void add(struct sim_meter_amounts *sum, const struct sim_meter_amounts *change, double sign)
{
    for (size_t r = 0; r < SIM_RESOURCE_COUNT; r++)
        sum->amount[r] += sign * change->amount[r];
}

/* Of what the parent has, by weight among its children. */
static void divide(struct meter_tenants *tenants, double gpus)
{
    tenants->rows[0].part = gpus;
    for (size_t i = 1; i <= tenants->count; i++)
        tenants->rows[tenants->rows[i].parent].below += tenants->rows[i].weight;
    for (size_t i = 1; i <= tenants->count; i++) {
        struct tenant_meter *row = &tenants->rows[i];
        const struct tenant_meter *parent = &tenants->rows[row->parent];
        row->part = parent->below > 0 ? parent->part * row->weight / parent->below : 0;
    }
}

weir_status meter_tenants_open(struct sim_meter *meter, const struct sim_meter_config *config)
{
    if (config->tenant_count == 0)
        return WEIR_OK;
    meter->tenants = calloc(1, sizeof *meter->tenants);
    if (!meter->tenants)
        return WEIR_ENOMEM;
    meter->tenants->rows = calloc(config->tenant_count + 1, sizeof *meter->tenants->rows);
    if (!meter->tenants->rows)
        return WEIR_ENOMEM;
    meter->tenants->count = config->tenant_count;
    for (size_t i = 0; i < config->tenant_count; i++)
        open_row(meter->tenants, i + 1, &config->tenants[i]);
    for (size_t n = 0; n < config->node_count; n++)
        add(&meter->tenants->all, &config->node_capacity[n], 1);
    divide(meter->tenants, meter->tenants->all.amount[SIM_RESOURCE_GPU]);
    meter->tenants->rows[0].fairness = sim_percentiles_open(STORED_VALUES);
    return WEIR_OK;
}

void meter_tenants_close(struct sim_meter *meter)
{
    if (!meter->tenants)
        return;
    for (size_t i = 0; meter->tenants->rows && i <= meter->tenants->count; i++) {
        sim_percentiles_close(&meter->tenants->rows[i].wait);
        sim_percentiles_close(&meter->tenants->rows[i].fairness);
        sim_ages_clear(&meter->tenants->rows[i].waiting);
    }
    free(meter->tenants->rows);
    free(meter->tenants);
}

void meter_tenants_warm(struct sim_meter *meter, int64_t now_ns)
{
    if (meter->tenants)
        sim_percentiles_reset(&meter->tenants->rows[0].fairness);
    for (size_t i = 1; meter->tenants && i <= meter->tenants->count; i++) {
        struct tenant_meter *row = &meter->tenants->rows[i];
        for (size_t g = 0; g < TENANT_GAUGES; g++)
            row->warm[g] = sim_gauge_integral(&row->gauges[g], now_ns);
        sim_percentiles_reset(&row->wait);
        sim_percentiles_reset(&row->fairness);
        row->done = 0;
    }
}

/* ---- what happens ---- */

/* The largest part of any resource of the cluster (Ghodsi et al., NSDI 2011). */
static double dominant_share(const struct meter_tenants *tenants, const struct tenant_meter *row)
{
    double most = 0;
    for (size_t r = 0; r < SIM_RESOURCE_COUNT; r++)
        if (tenants->all.amount[r] > 0)
            most = fmax(most, row->held.amount[r] / tenants->all.amount[r]);
    return most;
}

/* What follows from who waits and what is held. */
static void derive(const struct meter_tenants *tenants, struct tenant_meter *row, int64_t now_ns)
{
    const double gpus = row->held.amount[SIM_RESOURCE_GPU];
    const bool waits = row->gauges[TENANT_WAITING].value > 0;
    sim_gauge_set(&row->gauges[TENANT_BACKLOG], now_ns, waits ? 1 : 0);
    sim_gauge_set(&row->gauges[TENANT_BEHIND], now_ns, waits ? gpus : 0);
    sim_gauge_set(&row->gauges[TENANT_MOST], now_ns, waits ? dominant_share(tenants, row) : 0);
}

void sim_meter_tenant_waits(struct sim_meter *meter, int64_t now_ns, uint32_t tenant, int more)
{
    if (!meter->tenants)
        return;
    meter_tick(meter, now_ns);
    for (uint32_t t = tenant; t != 0; t = meter->tenants->rows[t].parent) {
        struct tenant_meter *row = &meter->tenants->rows[t];
        sim_gauge_add(&row->gauges[TENANT_WAITING], now_ns, more);
        derive(meter->tenants, row, now_ns);
    }
}

void meter_tenants_held(struct sim_meter *meter, int64_t now_ns, uint32_t tenant,
                        const struct sim_meter_amounts *change, double sign)
{
    for (uint32_t t = tenant; t != 0; t = meter->tenants->rows[t].parent) {
        struct tenant_meter *row = &meter->tenants->rows[t];
        add(&row->held, change, sign);
        const double gpus = row->held.amount[SIM_RESOURCE_GPU];
        sim_gauge_set(&row->gauges[TENANT_GPUS], now_ns, gpus);
        sim_gauge_set(&row->gauges[TENANT_BEYOND], now_ns, fmax(0, gpus - row->guarantee));
        derive(meter->tenants, row, now_ns);
    }
}

void sim_meter_tenant_pool(struct sim_meter *meter, int64_t now_ns, uint32_t tenant,
                           double idle_bytes)
{
    if (!meter->tenants)
        return;
    meter_tick(meter, now_ns);
    meter->tenants->rows[tenant].has_pool = true;
    sim_gauge_set(&meter->tenants->rows[tenant].gauges[TENANT_IDLE], now_ns, idle_bytes);
}

void sim_meter_tenant_wait(struct sim_meter *meter, uint32_t tenant, int64_t wait_ns)
{
    for (uint32_t t = tenant; meter->tenants && t != 0; t = meter->tenants->rows[t].parent)
        sim_percentiles_add(&meter->tenants->rows[t].wait, wait_ns);
}

int64_t sim_meter_tenant_alone(struct sim_meter *meter, int64_t now_ns, uint32_t tenant,
                               double gpus, int64_t run_ns)
{
    struct tenant_meter *row = meter->tenants ? &meter->tenants->rows[tenant] : NULL;
    if (tenant == 0 || !row || !(gpus > 0) || !(row->part > 0) || run_ns == INT64_MAX)
        return 0;
    row->busy_ns = fmax(row->busy_ns, (double)now_ns) + gpus * (double)run_ns / row->part;
    const double least_ns = (double)run_ns * fmax(1, gpus / row->part);
    return llround(fmin(fmax(row->busy_ns - (double)now_ns, least_ns), 9e18));
}

void sim_meter_tenant_done(struct sim_meter *meter, uint32_t tenant, int64_t time_ns,
                           int64_t alone_ns)
{
    if (!meter->tenants || tenant == 0)
        return;
    for (uint32_t t = tenant; t != 0; t = meter->tenants->rows[t].parent)
        meter->tenants->rows[t].done++;
    if (alone_ns <= 0)
        return;
    const int64_t fairness = llround(1e9 * (double)time_ns / (double)alone_ns);
    sim_percentiles_add(&meter->tenants->rows[0].fairness, fairness);
    for (uint32_t t = tenant; t != 0; t = meter->tenants->rows[t].parent)
        sim_percentiles_add(&meter->tenants->rows[t].fairness, fairness);
}

weir_status meter_tenants_waiting(struct sim_meter *meter, uint32_t tenant, int64_t age_ns)
{
    for (uint32_t t = tenant; meter->tenants && t != 0; t = meter->tenants->rows[t].parent)
        WEIR_TRY(sim_ages_add(&meter->tenants->rows[t].waiting, age_ns));
    return WEIR_OK;
}

/* ---- indices ---- */

double sim_jain_index(const double *shares, size_t count)
{
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += shares[i];
        squares += shares[i] * shares[i];
    }
    return squares > 0 ? sum * sum / ((double)count * squares) : (double)NAN;
}

double sim_balance_index(const double *loads, size_t count)
{
    double most = 0;
    double least = HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, loads[i]);
        least = fmin(least, loads[i]);
    }
    if (count == 0)
        return (double)NAN;
    return most > 0 ? 1 - (most - least) / most : 1;
}

/* ---- results ---- */

struct tenant_view {
    struct sim_meter *meter;
    struct sim_results *out;
    int64_t end_ns;
    double span_ns;
    double all_gpus; /* of tenants without a parent */
};

static double integral_of(const struct tenant_view *view, const struct tenant_meter *row,
                          size_t gauge)
{
    return sim_gauge_integral(&row->gauges[gauge], view->end_ns) - row->warm[gauge];
}

static void put(const struct tenant_view *view, const char *metric, const char *label,
                const char *unit, double value)
{
    const struct sim_result_row row = {
        .metric = metric, .label = label, .unit = unit, .value = value
    };
    if (!isnan(value))
        sim_results_add(view->out, &row);
}

/* The mean and the longest are of jobs that began, or ended. */
static void put_three(const struct tenant_view *view, const char *const metrics[3],
                      const char *label, const char *unit, struct sim_percentiles *values,
                      const struct sim_censored *left)
{
    struct sim_result_row p95 = { .metric = metrics[1],
                                  .label = label,
                                  .unit = unit,
                                  .n = values->count,
                                  .censored = left->count };
    struct sim_result_row mean = p95;
    struct sim_result_row most = p95;
    mean.metric = metrics[0];
    most.metric = metrics[2];
    if (values->count > 0) {
        mean.value = values->sum_ns / 1e9 / (double)values->count;
        most.value = sim_time_s(values->max_ns);
        sim_results_add(view->out, &mean);
    }
    p95.value = sim_time_s(sim_percentiles_at(values, 0.95, left, &p95.is_lower_bound));
    if (values->count + left->count > 0)
        sim_results_add(view->out, &p95);
    if (values->count > 0)
        sim_results_add(view->out, &most);
}

static const char *const wait_names[3] = { "wait.tenant.mean", "wait.tenant.p95",
                                           "wait.tenant.max" };
static const char *const fairness_names[3] = { "fair.ftf.mean", "fair.ftf.p95", "fair.ftf.max" };

static void put_tenant(const struct tenant_view *view, struct tenant_meter *row)
{
    const double gpus = integral_of(view, row, TENANT_GPUS);
    put(view, "tenant.gpu_s", row->name, "GPU*s", gpus / 1e9);
    put(view, "tenant.share", row->name, "ratio",
        view->all_gpus > 0 ? gpus / view->all_gpus : (double)NAN);
    put(view, "tenant.backlog_s", row->name, "s", integral_of(view, row, TENANT_BACKLOG) / 1e9);
    put(view, "tenant.done", row->name, "1", (double)row->done);
    if (row->has_pool)
        put(view, "pool.idle_bytes", row->name, "B",
            integral_of(view, row, TENANT_IDLE) / view->span_ns);
    if (row->guarantee > 0)
        put(view, "tenant.guarantee", row->name, "GPU", row->guarantee);
    if (row->guarantee > 0)
        put(view, "borrow.gpu_s", row->name, "GPU*s", integral_of(view, row, TENANT_BEYOND) / 1e9);
    const struct sim_censored waiting = sim_ages_censored(&row->waiting);
    const struct sim_censored none = { .count = 0 };
    put_three(view, wait_names, row->name, "s", &row->wait, &waiting);
    put_three(view, fairness_names, row->name, "ratio", &row->fairness, &none);
}

/* What tenants without others below them had over their weight, on average over the time in which
 * jobs of theirs waited: their GPUs, and their dominant share. */
static void put_indices(const struct tenant_view *view)
{
    const struct meter_tenants *tenants = view->meter->tenants;
    double *shares = calloc(tenants->count + 1, sizeof *shares);
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    size_t count = 0;
    if (!shares) {
        view->out->status = WEIR_ENOMEM;
        return;
    }
    for (size_t i = 1; i <= tenants->count; i++) {
        const struct tenant_meter *row = &tenants->rows[i];
        const double weighted = integral_of(view, row, TENANT_BACKLOG) * row->weight;
        if (!row->is_leaf || !(weighted > 0))
            continue;
        shares[count++] = integral_of(view, row, TENANT_BEHIND) / weighted;
        least = fmin(least, integral_of(view, row, TENANT_MOST) / weighted);
        most = fmax(most, integral_of(view, row, TENANT_MOST) / weighted);
    }
    put(view, "fair.jain", "", "ratio", sim_jain_index(shares, count));
    if (count > 1)
        put(view, "fair.dominant_gap", "", "ratio", most - least);
    free(shares);
}

void meter_tenants_results(struct sim_meter *meter, int64_t end_ns, double span_ns,
                           struct sim_results *out)
{
    struct tenant_view view = { meter, out, end_ns, span_ns, 0 };
    if (!meter->tenants)
        return;
    for (size_t i = 1; i <= meter->tenants->count; i++)
        if (meter->tenants->rows[i].parent == 0)
            view.all_gpus += integral_of(&view, &meter->tenants->rows[i], TENANT_GPUS);
    for (size_t i = 1; i <= meter->tenants->count; i++)
        put_tenant(&view, &meter->tenants->rows[i]);
    put_three(&view, fairness_names, "", "ratio", &meter->tenants->rows[0].fairness,
              &(struct sim_censored){ 0 });
    put_indices(&view);
}
