/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Making and taking down a meter, and reading integrals and counters at an instant.
 *
 * The meter owns copies of everything its config points to. Nodes are up at time 0.
 */
#include "sim/record/meter/meter_windows.h"

#include "sim/engine/time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- totals ---- */

static void series_totals(double *totals, const struct amounts_series *series, int64_t now_ns)
{
    memcpy(totals, series->integral, sizeof series->integral);
    series_advance(totals, series->value, SIM_RESOURCE_COUNT, (double)(now_ns - series->since_ns));
}

struct stage_totals sim_meter_stage_totals(const struct stage_meter *stage, int64_t now_ns)
{
    struct stage_totals totals = {
        .tasks = (double)stage->tasks,
        .created = (double)stage->created,
        .deleted = (double)stage->deleted,
        .first_fill = (double)stage->first_fill,
    };
    memcpy(totals.integral, stage->integral, sizeof totals.integral);
    series_advance(totals.integral, stage->value, STAGE_SERIES, (double)(now_ns - stage->since_ns));
    return totals;
}

struct node_totals sim_meter_node_totals(const struct node_meter *node, int64_t now_ns)
{
    struct node_totals totals = { .up = sim_gauge_integral(&node->up, now_ns),
                                  .energy = sim_gauge_integral(&node->power, now_ns) };
    series_totals(totals.assigned, &node->assigned, now_ns);
    series_totals(totals.active, &node->active, now_ns);
    return totals;
}

struct pipeline_totals sim_meter_pipeline_totals(const struct pipeline_meter *pipeline,
                                                 int64_t now_ns)
{
    struct pipeline_totals totals = {
        .in_system = sim_gauge_integral(&pipeline->in_system, now_ns),
        .arrived = (double)pipeline->arrived,
        .done = (double)pipeline->done,
        .dropped = (double)pipeline->dropped,
        .wait_ns = pipeline->wait_ns,
    };
    for (size_t b = 0; b < BALANCES; b++) {
        totals.balance[b] = sim_gauge_integral(&pipeline->balance[b], now_ns);
        totals.balance_known[b] = sim_gauge_integral(&pipeline->balance_known[b], now_ns);
    }
    return totals;
}

struct cluster_totals sim_meter_cluster_totals(const struct sim_meter *meter, int64_t now_ns)
{
    struct cluster_totals totals = {
        .energy = sim_gauge_integral(&meter->power, now_ns),
        .gpu_energy = sim_gauge_integral(&meter->gpu_power, now_ns),
        .spilled_bytes = meter->spilled_bytes,
        .ooms = (double)meter->ooms,
        .gpu_ooms = (double)meter->gpu_ooms,
        .scattered_ooms = (double)meter->scattered_ooms,
        .retries = (double)meter->retries,
        .exhausted = (double)meter->exhausted,
        .decisions = (double)meter->decisions,
        .refused = (double)meter->refused,
        .samples = (double)meter->samples,
        .moving_ns = meter->moving_ns,
        .lost_ns = meter->jobs_lost_ns,
    };
    memcpy(totals.moved_bytes, meter->moved_bytes, sizeof totals.moved_bytes);
    series_totals(totals.capacity, &meter->up_capacity, now_ns);
    memcpy(totals.frag, meter->frag_integral, sizeof totals.frag);
    series_advance(totals.frag, meter->frag_value, FRAG_SERIES,
                   (double)(now_ns - meter->frag_since_ns));
    for (size_t s = 0; s < meter->stage_count; s++)
        totals.lost_ns += meter->stages[s].lost_ns;
    return totals;
}

/* ---- making ---- */

static char *copy_label(const char *name, uint32_t index)
{
    char number[16];
    (void)snprintf(number, sizeof number, "%u", index);
    return strdup(name ? name : number);
}

static int compare_names(const void *left, const void *right)
{
    const struct sim_meter_stage_info *const *one = left;
    const struct sim_meter_stage_info *const *other = right;
    return strcmp((*one)->name ? (*one)->name : "", (*other)->name ? (*other)->name : "");
}

/* Stages in the order of their names; NULL without memory. */
static const struct sim_meter_stage_info **by_name(const struct sim_meter_config *config)
{
    const struct sim_meter_stage_info **stages = calloc(config->stage_count + 1, sizeof *stages);
    for (size_t s = 0; stages && s < config->stage_count; s++)
        stages[s] = &config->stages[s];
    if (stages)
        qsort(stages, config->stage_count, sizeof *stages, compare_names);
    return stages;
}

/* A stage's name, with its pipeline in front when another stage has the same name. */
static char *stage_label(const struct sim_meter_config *config, size_t s,
                         const struct sim_meter_stage_info **sorted)
{
    const struct sim_meter_stage_info *info = &config->stages[s];
    const struct sim_meter_stage_info **at =
        bsearch(&info, sorted, config->stage_count, sizeof *sorted, compare_names);
    const bool is_shared =
        info->name &&
        ((at > sorted && compare_names(at - 1, &info) == 0) ||
         (at + 1 < sorted + config->stage_count && compare_names(at + 1, &info) == 0));
    if (!is_shared)
        return copy_label(info->name, (uint32_t)s);
    char label[256];
    if (config->pipeline_names && config->pipeline_names[info->pipeline])
        (void)snprintf(label, sizeof label, "%s/%s", config->pipeline_names[info->pipeline],
                       info->name);
    else
        (void)snprintf(label, sizeof label, "%u/%s", info->pipeline, info->name);
    return strdup(label);
}

/* All waits together are exact up to the limit; one stage gets its part of it. */
static weir_status open_stage(const struct sim_meter_config *config, size_t s,
                              const struct sim_meter_stage_info **sorted, struct stage_meter *stage)
{
    stage->batches_per_s = (double)NAN;
    stage->label = stage_label(config, s, sorted);
    if (!stage->label)
        return WEIR_ENOMEM;
    stage->wait = sim_percentiles_open(STORED_VALUES / config->stage_count);
    return WEIR_OK;
}

static weir_status open_pipeline(const struct sim_meter_config *config, size_t p,
                                 struct pipeline_meter *pipeline)
{
    pipeline->first_arrival_ns = pipeline->last_done_ns = -1;
    pipeline->bottleneck = WEIR_NO_INDEX;
    pipeline->label =
        copy_label(config->pipeline_names ? config->pipeline_names[p] : NULL, (uint32_t)p);
    if (!pipeline->label)
        return WEIR_ENOMEM;
    if (config->pipeline_count > 1)
        pipeline->latency = sim_percentiles_open(STORED_VALUES);
    return WEIR_OK;
}

static void open_node(struct sim_meter *meter, size_t n)
{
    meter->nodes[n].is_up = true;
    meter->nodes[n].up.value = 1.0;
    for (size_t r = 0; r < SIM_RESOURCE_COUNT; r++)
        meter->up_capacity.value[r] += meter->capacity[n].amount[r];
}

static void *copy_array(const void *from, size_t count, size_t size)
{
    void *copy = calloc(count > 0 ? count : 1, size);
    if (copy == NULL)
        return NULL;
    if (count > 0)
        memcpy(copy, from, count * size);
    return copy;
}

static weir_status allocate(const struct sim_meter_config *config, struct sim_meter *meter)
{
    meter->stages = calloc(config->stage_count + 1, sizeof *meter->stages);
    meter->nodes = sim_lines(config->node_count + 1, sizeof *meter->nodes);
    meter->pipelines = calloc(config->pipeline_count + 1, sizeof *meter->pipelines);
    meter->capacity =
        copy_array(config->node_capacity, config->node_count, sizeof *config->node_capacity);
    meter->info = copy_array(config->stages, config->stage_count, sizeof *config->stages);
    if (config->expected != NULL)
        meter->expected =
            copy_array(config->expected, config->expected_count, sizeof *config->expected);
    if (config->expected != NULL && !meter->expected)
        return WEIR_ENOMEM;
    if (!meter->stages || !meter->nodes || !meter->pipelines || !meter->capacity || !meter->info)
        return WEIR_ENOMEM;
    meter->stage_count = config->stage_count;
    meter->node_count = config->node_count;
    meter->pipeline_count = config->pipeline_count;
    return WEIR_OK;
}

static weir_status open_stages(const struct sim_meter_config *config, struct sim_meter *meter)
{
    const struct sim_meter_stage_info **sorted = by_name(config);
    weir_status status = sorted ? WEIR_OK : WEIR_ENOMEM;
    for (size_t s = 0; status == WEIR_OK && s < config->stage_count; s++)
        status = open_stage(config, s, sorted, &meter->stages[s]);
    free(sorted);
    return status;
}

static weir_status fill(const struct sim_meter_config *config, struct sim_meter *meter)
{
    WEIR_TRY(allocate(config, meter));
    WEIR_TRY(open_stages(config, meter));
    for (size_t p = 0; p < config->pipeline_count; p++)
        WEIR_TRY(open_pipeline(config, p, &meter->pipelines[p]));
    for (size_t n = 0; n < config->node_count; n++)
        open_node(meter, n);
    WEIR_TRY(sim_meter_capacity_open(meter));
    WEIR_TRY(meter_jobs_open(meter, config));
    WEIR_TRY(meter_services_open(meter, config));
    WEIR_TRY(meter_tenants_open(meter, config));
    WEIR_TRY(meter_reserved_open(meter, config));
    WEIR_TRY(meter_cost_open(meter, config));
    WEIR_TRY(meter_belief_open(meter, config));
    WEIR_TRY(meter_physics_open(meter, config));
    WEIR_TRY(meter_windows_open(meter, config));
    meter->latency = sim_percentiles_open(STORED_VALUES);
    meter->decision = sim_percentiles_open(STORED_VALUES);
    if (meter->expected)
        sim_frag_mix_open(&meter->mix, meter->expected, config->expected_count);
    else
        sim_frag_mix_open(&meter->mix, meter->info, meter->stage_count);
    meter->memo = sim_frag_memo_open();
    if (!meter->memo)
        return WEIR_ENOMEM;
    meter->frag_value[FRAG_RATIO] = 1.0;
    meter->warmup_ns = config->warmup_ns > 0 ? config->warmup_ns : 0;
    meter->is_warm = meter->warmup_ns == 0;
    meter->first_ns = meter->last_ns = -1;
    meter->node_every = config->node_every;
    meter->is_steady = true;
    meter->growth.step_ns = SIM_NS_PER_S / 1000;
    sim_meter_wake(meter, 0);
    return WEIR_OK;
}

weir_status sim_meter_create(const struct sim_meter_config *config, struct sim_meter **meter)
{
    for (size_t s = 0; s < config->stage_count; s++)
        if (config->stages[s].pipeline >= config->pipeline_count)
            return WEIR_EINVAL;
    struct sim_meter *made = calloc(1, sizeof *made);
    if (!made)
        return WEIR_ENOMEM;
    const weir_status status = fill(config, made);
    if (status != WEIR_OK) {
        sim_meter_destroy(made);
        return status;
    }
    *meter = made;
    return WEIR_OK;
}

void sim_meter_destroy(struct sim_meter *meter)
{
    if (!meter)
        return;
    for (size_t s = 0; s < meter->stage_count; s++) {
        sim_percentiles_close(&meter->stages[s].wait);
        free(meter->stages[s].label);
    }
    for (size_t p = 0; p < meter->pipeline_count; p++) {
        sim_percentiles_close(&meter->pipelines[p].latency);
        free(meter->pipelines[p].capacities);
        free(meter->pipelines[p].label);
    }
    free(meter->stale);
    sim_frag_memo_close(meter->memo);
    meter_jobs_close(meter);
    meter_services_close(meter);
    meter_tenants_close(meter);
    meter_reserved_close(meter);
    meter_cost_close(meter);
    meter_belief_close(meter);
    meter_physics_close(meter);
    meter_windows_close(meter);
    sim_percentiles_close(&meter->latency);
    sim_percentiles_close(&meter->decision);
    free(meter->stages);
    free(meter->nodes);
    free(meter->pipelines);
    free(meter->capacity);
    free(meter->info);
    free(meter->expected);
    free(meter);
}
