/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power of a node, its cap and its heat; see the header. */
#include "sim/cluster/power.h"

#include "sim/cluster/compute.h"
#include "sim/engine/time.h"
#include "sim/record/meter/meter_physics.h"

#include <math.h>

/* Closer than this a temperature is the limit; throttles that differ by less are the same. */
static const double HEAT_STEP_C = 1e-6;
static const double THROTTLE_STEP = 1e-9;

/* ---- what is drawn ---- */

/* Sockets that these CPUs fill; a residue of rounding opens no other one. */
static double sockets_of(const struct sim_power *power, int64_t cpu_units)
{
    const double cores = weir_units_amount(cpu_units) / power->cpus_per_core;
    return ceil(cores / power->cores_per_socket - 1e-9);
}

static const struct sim_gpu_type *type_of(const struct sim_cluster *cluster,
                                          const struct sim_gpu *gpu)
{
    return &cluster->scenario->gpu_truth[gpu->type];
}

static double gpu_draw_w(const struct sim_cluster *cluster, const struct sim_gpu *gpu)
{
    const struct sim_gpu_type *type = type_of(cluster, gpu);
    const bool is_idle = gpu->units_held == 0 && gpu->nvdec_held == 0 && gpu->nvenc_held == 0;
    if (cluster->scenario->power.gpu == SIM_GPU_POWER_USED)
        return gpu->draw_w;
    return is_idle ? type->idle_w : type->limit_w;
}

struct sim_power_draw sim_power_node(const struct sim_cluster *cluster, uint32_t node)
{
    const struct sim_power *power = &cluster->scenario->power;
    const struct sim_node *host = &cluster->nodes[node];
    struct sim_power_draw draw = { .gpu_w = 0 };
    if (!host->is_up)
        return draw;
    for (uint32_t g = 0; g < host->gpu_count; g++)
        draw.gpu_w += gpu_draw_w(cluster, &cluster->gpus[host->gpu_first + g]);
    const double sockets = sockets_of(power, host->cpu_total);
    const double active = sockets_of(power, host->cpu_held);
    draw.cpu_w = active * power->socket_full_w + (sockets - active) * power->socket_idle_w;
    return draw;
}

/* ---- temperatures ---- */

/* Where the temperature goes at this power. */
static double settled_c(const struct sim_thermal *thermal, const struct sim_gpu_type *type,
                        double draw_w)
{
    const double part = type->limit_w > 0 ? draw_w / type->limit_w : 0;
    return thermal->ambient_c + thermal->rise_c * part;
}

void sim_power_begin(const struct sim_gpu_type *type, const struct sim_thermal *thermal,
                     struct sim_gpu *gpu)
{
    gpu->draw_w = type->idle_w;
    gpu->heat_c = settled_c(thermal, type, type->idle_w);
}

static double heat_at(const struct sim_cluster *cluster, const struct sim_node *host,
                      const struct sim_gpu *gpu, int64_t now_ns)
{
    const struct sim_thermal *thermal = host->thermal;
    const double left = exp(-(double)(now_ns - host->heated_ns) / (double)thermal->tau_ns);
    const double to_c = settled_c(thermal, type_of(cluster, gpu), gpu->draw_w);
    return to_c + (gpu->heat_c - to_c) * left;
}

static void heat_up(struct sim_cluster *cluster, struct sim_node *host, int64_t now_ns)
{
    if (host->thermal == NULL || now_ns == host->heated_ns)
        return;
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        gpu->heat_c = heat_at(cluster, host, gpu, now_ns);
    }
    host->heated_ns = now_ns;
}

/* Until a GPU that draws what it does is at the limit; infinity = never, or it is. */
static double crossing_ns(const struct sim_cluster *cluster, const struct sim_node *host,
                          const struct sim_gpu *gpu)
{
    const struct sim_thermal *thermal = host->thermal;
    const double to_c = settled_c(thermal, type_of(cluster, gpu), gpu->draw_w);
    if (to_c <= thermal->limit_c || gpu->heat_c >= thermal->limit_c - HEAT_STEP_C)
        return (double)INFINITY;
    return (double)thermal->tau_ns * log((to_c - gpu->heat_c) / (to_c - thermal->limit_c));
}

/* ---- throttles ---- */

/* What a node is made of while its throttles are found. */
struct throttling {
    double more_w[WEIR_MAX_NODE_GPUS]; /* above idle, unthrottled */
    double most[WEIR_MAX_NODE_GPUS];   /* throttle that heat allows */
    double idle_w;                     /* of all */
};

/* Share of its compute that is in use; residues of sums are none. */
static double used_of(const struct sim_node *host, const struct sim_gpu *gpu)
{
    const double used = gpu->mig != NULL ? gpu->slice_load : sim_gpu_used(host, gpu);
    return used < 1e-9 ? 0 : fmin(used, 1);
}

static double most_by_heat(const struct sim_thermal *thermal, const struct sim_gpu_type *type,
                           const struct sim_gpu *gpu, double more_w)
{
    if (thermal == NULL || gpu->heat_c < thermal->limit_c - HEAT_STEP_C)
        return 1;
    const double hold_w = type->limit_w * (thermal->limit_c - thermal->ambient_c) / thermal->rise_c;
    return more_w > 0 ? fmin(1, (hold_w - type->idle_w) / more_w) : 1;
}

static struct throttling throttling_of(const struct sim_cluster *cluster,
                                       const struct sim_node *host)
{
    struct throttling made = { .idle_w = 0 };
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        const struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        const struct sim_gpu_type *type = type_of(cluster, gpu);
        made.idle_w += type->idle_w;
        made.more_w[g] = (type->limit_w - type->idle_w) * used_of(host, gpu);
        made.most[g] = most_by_heat(host->thermal, type, gpu, made.more_w[g]);
    }
    return made;
}

/* The throttle of those that heat does not hold below it: the sum of what is drawn is the cap, or
 * it is 1. It begins as if heat held nobody, and grows with each that it does. */
static double throttle_by_cap(const struct sim_node *host, const struct throttling *node)
{
    double throttle = 0;
    for (uint32_t round = 0; round <= host->gpu_count; round++) {
        double budget_w = host->power_cap_w - node->idle_w;
        double free_w = 0;
        for (uint32_t g = 0; g < host->gpu_count; g++)
            if (node->most[g] < throttle)
                budget_w -= node->more_w[g] * node->most[g];
            else
                free_w += node->more_w[g];
        const double fits = free_w > budget_w ? budget_w / free_w : 1;
        if (fits <= throttle)
            break;
        throttle = fits;
    }
    return throttle;
}

/* ---- control ---- */

void sim_power_note(struct sim_cluster *cluster, uint32_t node)
{
    struct sim_node *host = &cluster->nodes[node];
    if (host->is_drawing || cluster->scenario->power.gpu != SIM_GPU_POWER_USED)
        return;
    host->is_drawing = true;
    host->next_drawing = cluster->first_drawing;
    cluster->first_drawing = node + 1;
}

bool sim_power_take(struct sim_cluster *cluster, uint32_t *node)
{
    if (cluster->first_drawing == 0)
        return false;
    *node = cluster->first_drawing - 1;
    cluster->first_drawing = cluster->nodes[*node].next_drawing;
    cluster->nodes[*node].is_drawing = false;
    return true;
}

/* Sets throttles as they should be, or says that it may not do so yet. */
static bool set_throttles(struct sim_cluster *cluster, const struct sim_node *host,
                          const struct throttling *node, bool may_change)
{
    const double cap = host->power_cap_w > 0 ? throttle_by_cap(host, node) : 1;
    bool is_due = false;
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        const double throttle = fmin(cap, node->most[g]);
        if (fabs(throttle - gpu->throttle) < THROTTLE_STEP)
            continue;
        is_due = true;
        if (may_change)
            gpu->throttle = throttle;
    }
    return is_due;
}

static void set_draws(struct sim_cluster *cluster, const struct sim_node *host,
                      const struct throttling *node)
{
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        gpu->draw_w =
            host->is_up ? type_of(cluster, gpu)->idle_w + node->more_w[g] * gpu->throttle : 0;
    }
}

weir_status sim_power_control(struct sim_cluster *cluster, uint32_t node, int64_t now_ns,
                              struct sim_power_look *look)
{
    struct sim_node *host = &cluster->nodes[node];
    const int64_t period_ns = cluster->scenario->power.control_ns;
    const bool may_change = period_ns == 0 || now_ns % period_ns == 0;
    double next_ns = (double)INFINITY;
    heat_up(cluster, host, now_ns);
    const struct throttling found = throttling_of(cluster, host);
    const bool is_due = set_throttles(cluster, host, &found, may_change);
    set_draws(cluster, host, &found);
    for (uint32_t g = 0; host->thermal != NULL && g < host->gpu_count; g++)
        next_ns = fmin(next_ns, crossing_ns(cluster, host, &cluster->gpus[host->gpu_first + g]));
    const int64_t wait_ns = sim_time_from_s(next_ns / 1e9);
    *look = (struct sim_power_look){ .is_paced = is_due && may_change,
                                     .next_ns = wait_ns >= SIM_TIME_MAX - now_ns
                                                    ? SIM_TIME_MAX
                                                    : now_ns + wait_ns + 1 };
    if (is_due && !may_change)
        look->next_ns = (now_ns / period_ns + 1) * period_ns;
    return look->is_paced ? sim_compute_pace(cluster, node) : WEIR_OK;
}

/* ---- the meter ---- */

void sim_power_meter(const struct sim_cluster *cluster, struct sim_meter *meter, int64_t now_ns,
                     uint32_t node)
{
    const struct sim_node *host = &cluster->nodes[node];
    if (cluster->scenario->power.gpu != SIM_GPU_POWER_USED)
        return;
    struct sim_meter_gpus now = { .power_w = sim_power_node(cluster, node).gpu_w,
                                  .cap_w = host->power_cap_w };
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        const struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        const double used = used_of(host, gpu);
        now.computing += used;
        now.delivered += used * gpu->throttle;
    }
    sim_meter_gpus(meter, now_ns, node, &now);
}

void sim_power_meter_heat(const struct sim_cluster *cluster, struct sim_meter *meter,
                          int64_t now_ns, uint32_t node)
{
    const struct sim_node *host = &cluster->nodes[node];
    double hottest_c = -(double)INFINITY;
    if (host->thermal == NULL || host->gpu_count == 0)
        return;
    if (now_ns < host->heated_ns) /* the run was over before its last event */
        now_ns = host->heated_ns;
    for (uint32_t g = 0; g < host->gpu_count; g++)
        hottest_c =
            fmax(hottest_c, heat_at(cluster, host, &cluster->gpus[host->gpu_first + g], now_ns));
    sim_meter_heat(meter, node, hottest_c);
}

weir_status sim_power_check(const struct sim_cluster *cluster, uint32_t node,
                            struct weir_error *error)
{
    const struct sim_node *host = &cluster->nodes[node];
    const double draw_w = sim_power_node(cluster, node).gpu_w;
    if (host->power_cap_w <= 0 || cluster->scenario->power.control_ns > 0 ||
        draw_w <= host->power_cap_w * (1 + 1e-6))
        return WEIR_OK;
    return weir_fail(error, WEIR_EINVARIANT, "its GPUs draw %g W, the cap is %g W", draw_w,
                     host->power_cap_w);
}
