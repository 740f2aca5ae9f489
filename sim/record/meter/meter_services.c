/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is measured of services; see the header. */
#include "sim/record/meter/meter_services.h"

#include "sim/record/meter/meter_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct service_meter {
    uint64_t batches, items, away[SIM_TURNED_AWAY_KINDS];
    uint64_t operations[2]; /* done, denied */
    struct sim_percentiles delay;
    struct sim_percentiles *latency; /* by class */
    char **labels;                   /* by class: "service.class" */
    uint32_t class_count;
};

static weir_status open_service(const struct sim_meter_stage_info *info, const char *label,
                                struct service_meter *service)
{
    service->delay = sim_percentiles_open(STORED_VALUES);
    service->latency = calloc(info->class_count, sizeof *service->latency);
    service->labels = calloc(info->class_count, sizeof *service->labels);
    if (!service->latency || !service->labels)
        return WEIR_ENOMEM;
    for (; service->class_count < info->class_count; service->class_count++) {
        const uint32_t c = service->class_count;
        const size_t room = strlen(label) + strlen(info->class_names[c]) + 2;
        service->latency[c] = sim_percentiles_open(STORED_VALUES);
        service->labels[c] = malloc(room);
        if (!service->labels[c])
            return WEIR_ENOMEM;
        (void)snprintf(service->labels[c], room, "%s.%s", label, info->class_names[c]);
    }
    return WEIR_OK;
}

static void close_service(struct service_meter *service)
{
    sim_percentiles_close(&service->delay);
    for (uint32_t c = 0; c < service->class_count; c++) {
        sim_percentiles_close(&service->latency[c]);
        free(service->labels[c]);
    }
    free(service->latency);
    free(service->labels);
    free(service);
}

weir_status meter_services_open(struct sim_meter *meter, const struct sim_meter_config *config)
{
    meter->services = calloc(config->stage_count + 1, sizeof(struct service_meter *));
    if (!meter->services)
        return WEIR_ENOMEM;
    for (size_t s = 0; s < config->stage_count; s++) {
        if (config->stages[s].class_count == 0)
            continue;
        meter->services[s] = calloc(1, sizeof *meter->services[s]);
        if (!meter->services[s])
            return WEIR_ENOMEM;
        WEIR_TRY(open_service(&config->stages[s], meter->stages[s].label, meter->services[s]));
    }
    return WEIR_OK;
}

void meter_services_close(struct sim_meter *meter)
{
    for (size_t s = 0; meter->services && s < meter->stage_count; s++)
        if (meter->services[s])
            close_service(meter->services[s]);
    free(meter->services);
}

void meter_services_warm(struct sim_meter *meter)
{
    for (size_t s = 0; s < meter->stage_count; s++) {
        struct service_meter *service = meter->services[s];
        if (!service)
            continue;
        service->batches = service->items = 0;
        memset(service->away, 0, sizeof service->away);
        sim_percentiles_reset(&service->delay);
        for (uint32_t c = 0; c < service->class_count; c++)
            sim_percentiles_reset(&service->latency[c]);
    }
}

/* ---- what happens ---- */

void sim_meter_batch(struct sim_meter *meter, int64_t now_ns, uint32_t stage, uint64_t items,
                     int64_t delay_ns)
{
    meter_tick(meter, now_ns);
    struct service_meter *service = meter->services[stage];
    service->batches++;
    service->items += items;
    sim_percentiles_add(&service->delay, delay_ns);
}

void sim_meter_request_served(struct sim_meter *meter, int64_t now_ns, uint32_t stage,
                              uint32_t request_class, int64_t latency_ns)
{
    meter_tick(meter, now_ns);
    sim_percentiles_add(&meter->services[stage]->latency[request_class], latency_ns);
}

void sim_meter_request_turned_away(struct sim_meter *meter, int64_t now_ns, uint32_t stage,
                                   enum sim_turned_away why)
{
    meter_tick(meter, now_ns);
    meter->services[stage]->away[why]++;
}

void sim_meter_operation(struct sim_meter *meter, uint32_t stage, bool is_denied)
{
    meter->services[stage]->operations[is_denied]++;
}

/* ---- results ---- */

double meter_services_items(const struct sim_meter *meter, size_t stage, double otherwise)
{
    const struct service_meter *service = meter->services[stage];
    return service ? (double)service->items : otherwise;
}

static void put(struct sim_results *out, const char *metric, const char *label, const char *unit,
                double value)
{
    sim_results_add(out, &(struct sim_result_row){
                             .metric = metric, .label = label, .unit = unit, .value = value });
}

static void put_delay(struct sim_results *out, struct sim_percentiles *delay, const char *label)
{
    struct sim_result_row row = {
        .metric = "batch.delay_p95", .label = label, .unit = "s", .n = delay->count
    };
    row.value = 1e-9 * (double)sim_percentiles_at(delay, 0.95, &(struct sim_censored){ 0 },
                                                  &row.is_lower_bound);
    sim_results_add(out, &row);
}

static void put_service(const struct sim_meter *meter, size_t stage, struct sim_results *out)
{
    struct service_meter *service = meter->services[stage];
    const char *label = meter->stages[stage].label;
    if (service->batches > 0) {
        const double mean = (double)service->items / (double)service->batches;
        put(out, "batch.size.mean", label, "items", mean);
        put(out, "batch.fill", label, "ratio", mean / (double)meter->info[stage].batch);
        put_delay(out, &service->delay, label);
    }
    put(out, "batch.rejected", label, "count", (double)service->away[SIM_TURNED_AWAY_FULL]);
    put(out, "batch.expired", label, "count", (double)service->away[SIM_TURNED_AWAY_EXPIRED]);
    put(out, "requests.unauthorised", label, "count",
        (double)service->away[SIM_TURNED_AWAY_UNAUTHORISED]);
    put(out, "requests.unreachable", label, "count",
        (double)service->away[SIM_TURNED_AWAY_UNREACHABLE]);
    if (service->away[SIM_TURNED_AWAY_LIMITED] > 0)
        put(out, "requests.limited", label, "count",
            (double)service->away[SIM_TURNED_AWAY_LIMITED]);
    if (service->operations[0] + service->operations[1] > 0) {
        put(out, "operations.done", label, "count", (double)service->operations[0]);
        put(out, "operations.denied", label, "count", (double)service->operations[1]);
    }
    for (uint32_t c = 0; service->class_count > 1 && c < service->class_count; c++)
        meter_latency_results(&service->latency[c], service->labels[c], &(struct sim_censored){ 0 },
                              out);
}

void meter_services_results(const struct sim_meter *meter, struct sim_results *out)
{
    for (size_t s = 0; s < meter->stage_count; s++)
        if (meter->services[s])
            put_service(meter, s, out);
}
