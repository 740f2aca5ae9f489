/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links, memory, GPUs and turns of the meter; see the header. */
#include "sim/record/meter/meter_physics.h"

#include "sim/engine/time.h"
#include "sim/record/meter/meter_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static weir_status open_memory(struct sim_meter *meter, const struct sim_meter_config *config)
{
    meter->memory = calloc(config->node_count + 1, sizeof *meter->memory);
    if (!meter->memory)
        return WEIR_ENOMEM;
    for (size_t n = 0; n < config->node_count; n++) {
        meter->memory[n].label = strdup(config->node_names[n]);
        if (!meter->memory[n].label)
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

weir_status meter_physics_open(struct sim_meter *meter, const struct sim_meter_config *config)
{
    meter->node_count = config->node_count;
    if (config->node_names != NULL)
        WEIR_TRY(open_memory(meter, config));
    if (config->has_power)
        meter->gpus = calloc(config->node_count + 1, sizeof *meter->gpus);
    if (config->has_turns)
        meter->turns = calloc(config->node_count + 1, sizeof *meter->turns);
    if (config->link_count > 0)
        meter->links = calloc(config->link_count, sizeof *meter->links);
    meter->link_count = config->link_count;
    meter->has_addresses = config->has_addresses;
    if ((config->has_power && !meter->gpus) || (config->has_turns && !meter->turns) ||
        (config->link_count > 0 && !meter->links))
        return WEIR_ENOMEM;
    for (size_t n = 0; config->has_power && n < config->node_count; n++)
        meter->gpus[n].heat_most = meter->gpus[n].heat = meter->gpus[n].cap_least = (double)NAN;
    meter->heat_most = (double)NAN;
    return WEIR_OK;
}

void meter_physics_close(struct sim_meter *meter)
{
    for (size_t n = 0; meter->memory && n < meter->node_count; n++)
        free(meter->memory[n].label);
    free(meter->memory);
    free(meter->gpus);
    free(meter->turns);
    free(meter->links);
}

/* ---- reports ---- */

void sim_meter_link(struct sim_meter *meter, int64_t now_ns, uint32_t link, double bytes,
                    double capacity_per_s)
{
    if (link >= meter->link_count)
        return;
    meter->links[link].bytes = bytes;
    sim_gauge_set(&meter->links[link].capacity, now_ns, capacity_per_s);
}

/* Only what lasts counts: within an event a node may be over its limit, until somebody dies. */
static void last_until(struct memory_meter *memory, int64_t now_ns)
{
    if (now_ns == memory->in_use.since_ns)
        return;
    memory->most = fmax(memory->most, memory->in_use.value);
    memory->sampled_most = fmax(memory->sampled_most, memory->in_use.value);
}

void sim_meter_memory(struct sim_meter *meter, int64_t now_ns, uint32_t node, double bytes)
{
    meter_tick(meter, now_ns);
    if (!meter->memory)
        return;
    last_until(&meter->memory[node], now_ns);
    sim_gauge_set(&meter->memory[node].in_use, now_ns, bytes);
}

void sim_meter_node_spilled(struct sim_meter *meter, int64_t now_ns, uint32_t node, double bytes)
{
    sim_meter_spilled(meter, now_ns, bytes);
    if (meter->memory)
        meter->memory[node].spilled += bytes;
}

void sim_meter_gpus(struct sim_meter *meter, int64_t now_ns, uint32_t node,
                    const struct sim_meter_gpus *now)
{
    meter_tick(meter, now_ns);
    if (!meter->gpus)
        return;
    struct gpus_meter *gpus = &meter->gpus[node];
    if (now_ns > gpus->power.since_ns && gpus->cap_w > 0)
        gpus->cap_least = fmin(gpus->cap_least, gpus->cap_w);
    gpus->cap_w = now->cap_w;
    sim_gauge_set(&gpus->power, now_ns, now->power_w);
    sim_gauge_set(&gpus->computing, now_ns, now->computing);
    sim_gauge_set(&gpus->delivered, now_ns, now->delivered);
}

void sim_meter_heat(struct sim_meter *meter, uint32_t node, double hottest_c)
{
    if (!meter->gpus)
        return;
    struct gpus_meter *gpus = &meter->gpus[node];
    gpus->heat = hottest_c;
    gpus->heat_most = fmax(gpus->heat_most, hottest_c);
    meter->heat_most = fmax(meter->heat_most, hottest_c);
}

void sim_meter_turns(struct sim_meter *meter, int64_t now_ns, uint32_t node, double per_s)
{
    meter_tick(meter, now_ns);
    if (!meter->turns || !islessgreater(meter->turns[node], per_s))
        return;
    sim_gauge_add(&meter->turning, now_ns, per_s - meter->turns[node]);
    meter->turns[node] = per_s;
}

void sim_meter_scattered(struct sim_meter *meter, int64_t now_ns, double mean)
{
    meter_tick(meter, now_ns);
    sim_gauge_set(&meter->scattered, now_ns, mean);
}

/* ---- warm-up ---- */

static struct gpus_totals totals_of(const struct gpus_meter *gpus, int64_t now_ns)
{
    return (struct gpus_totals){ .power = sim_gauge_integral(&gpus->power, now_ns),
                                 .computing = sim_gauge_integral(&gpus->computing, now_ns),
                                 .delivered = sim_gauge_integral(&gpus->delivered, now_ns) };
}

void meter_physics_warm(struct sim_meter *meter, int64_t now_ns)
{
    for (size_t n = 0; meter->memory && n < meter->node_count; n++) {
        struct memory_meter *memory = &meter->memory[n];
        last_until(memory, now_ns);
        memory->base = sim_gauge_integral(&memory->in_use, now_ns);
        memory->most = memory->in_use.value;
    }
    for (size_t n = 0; meter->gpus && n < meter->node_count; n++)
        meter->gpus[n].base = totals_of(&meter->gpus[n], now_ns);
    meter->turning_base = sim_gauge_integral(&meter->turning, now_ns);
    meter->scattered_base = sim_gauge_integral(&meter->scattered, now_ns);
}

/* ---- samples ---- */

static weir_status sample_link(struct sim_meter *meter, const struct sample_interval *interval,
                               uint32_t index, struct weir_error *error)
{
    struct link_meter *link = &meter->links[index];
    const double given = sim_gauge_integral(&link->capacity, interval->to_ns);
    const double last = link->sampled_capacity;
    link->sampled_capacity = given;
    if (!link->is_used && !(link->bytes > 0))
        return WEIR_OK;
    const struct sample_interval before = { interval->recorder, 0, interval->from_ns };
    if (!link->is_used && interval->from_ns > 0) {
        const double values[] = { 0.0, meter_mean(&before, last, 0.0) };
        WEIR_TRY(meter_write_row(&before, SIM_SAMPLE_LINK, index, values, error));
    }
    link->is_used = true;
    const double values[] = { (link->bytes - link->sampled) /
                                  sim_time_s(interval->to_ns - interval->from_ns),
                              meter_mean(interval, given, last) };
    link->sampled = link->bytes;
    return meter_write_row(interval, SIM_SAMPLE_LINK, index, values, error);
}

static weir_status sample_memory(struct sim_meter *meter, const struct sample_interval *interval,
                                 uint32_t node, struct weir_error *error)
{
    struct memory_meter *memory = &meter->memory[node];
    const double integral = sim_gauge_integral(&memory->in_use, interval->to_ns);
    last_until(memory, interval->to_ns);
    const double values[] = { meter_mean(interval, integral, memory->sampled), memory->sampled_most,
                              memory->spilled - memory->sampled_spilled };
    memory->sampled = integral;
    memory->sampled_most = 0;
    memory->sampled_spilled = memory->spilled;
    return meter_write_row(interval, SIM_SAMPLE_MEMORY, node, values, error);
}

static weir_status sample_gpus(struct sim_meter *meter, const struct sample_interval *interval,
                               uint32_t node, struct weir_error *error)
{
    struct gpus_meter *gpus = &meter->gpus[node];
    const struct gpus_totals now = totals_of(gpus, interval->to_ns);
    const struct gpus_totals last = gpus->last;
    const bool is_capped = gpus->cap_w > 0 && interval->to_ns > gpus->power.since_ns;
    const double values[] = { meter_mean(interval, now.power, last.power),
                              is_capped ? fmin(gpus->cap_least, gpus->cap_w) : gpus->cap_least,
                              meter_mean(interval, now.computing, last.computing),
                              meter_mean(interval, now.delivered, last.delivered),
                              gpus->heat_most };
    gpus->last = now;
    gpus->cap_least = (double)NAN;
    gpus->heat_most = gpus->heat;
    return meter_write_row(interval, SIM_SAMPLE_POWER, node, values, error);
}

weir_status meter_physics_sample(struct sim_meter *meter, const struct sample_interval *interval,
                                 struct weir_error *error)
{
    for (uint32_t n = 0; meter->memory && n < meter->node_count; n++)
        WEIR_TRY(sample_memory(meter, interval, n, error));
    for (uint32_t n = 0; meter->gpus && n < meter->node_count; n++)
        WEIR_TRY(sample_gpus(meter, interval, n, error));
    for (uint32_t l = 0; l < meter->link_count; l++)
        WEIR_TRY(sample_link(meter, interval, l, error));
    return WEIR_OK;
}

/* ---- results ---- */

static void put(struct sim_results *out, const char *metric, const char *label, const char *unit,
                double value)
{
    const struct sim_result_row row = {
        .metric = metric, .label = label, .unit = unit, .value = value
    };
    if (!isnan(value))
        sim_results_add(out, &row);
}

static void put_memory(struct sim_meter *meter, int64_t end_ns, double span_ns,
                       struct sim_results *out)
{
    double all = 0;
    double most = 0;
    for (size_t n = 0; n < meter->node_count; n++) {
        struct memory_meter *memory = &meter->memory[n];
        last_until(memory, end_ns);
        const double mean = (sim_gauge_integral(&memory->in_use, end_ns) - memory->base) / span_ns;
        all += mean;
        most = fmax(most, memory->most);
        put(out, "mem.ram.mean", memory->label, "B", mean);
        put(out, "mem.ram.max", memory->label, "B", memory->most);
    }
    put(out, "mem.ram.mean", "", "B", all);
    put(out, "mem.ram.max", "", "B", most);
}

static void put_gpus(const struct sim_meter *meter, int64_t end_ns, struct sim_results *out)
{
    struct gpus_totals sum = { .power = 0 };
    for (size_t n = 0; n < meter->node_count; n++) {
        const struct gpus_totals now = totals_of(&meter->gpus[n], end_ns);
        sum.computing += now.computing - meter->gpus[n].base.computing;
        sum.delivered += now.delivered - meter->gpus[n].base.delivered;
    }
    if (sum.computing > 0)
        put(out, "gpu.throttle", "", "ratio", sum.delivered / sum.computing);
    put(out, "gpu.temperature.max", "", "°C", meter->heat_most);
}

void meter_physics_results(struct sim_meter *meter, int64_t end_ns, double span_ns,
                           struct sim_results *out)
{
    if (meter->memory)
        put_memory(meter, end_ns, span_ns, out);
    if (meter->gpus)
        put_gpus(meter, end_ns, out);
    if (meter->turns)
        put(out, "timeslice.switches", "", "count",
            (sim_gauge_integral(&meter->turning, end_ns) - meter->turning_base) / 1e9);
    if (meter->has_addresses && span_ns > 0)
        put(out, "frag.gpumem", "", "ratio",
            (sim_gauge_integral(&meter->scattered, end_ns) - meter->scattered_base) / span_ns);
}
