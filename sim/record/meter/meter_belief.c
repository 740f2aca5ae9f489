/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the scheduler believes and wants beside what there is: amounts of nodes by resource, and
 * workers of stages.
 *
 * A node counts as believed wrongly, by resource, while the amount that the scheduler was told
 * differs from the true one; a node that is down has nothing, one that is told as down is believed
 * to have nothing. GPUs out of order count on neither side.
 */
#include "sim/record/meter/meter_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = SIM_RESOURCE_COUNT, KINDS }; /* of a mismatch: by resource, and of any */

struct node_belief {
    struct sim_meter_amounts told;
    bool is_up;
    uint32_t wrong; /* bits by resource */
};
struct meter_belief {
    struct node_belief *nodes;
    size_t wrong_nodes[KINDS];
    struct sim_gauge wrong[KINDS]; /* 1 while there is one */
    double base[KINDS];
};

static uint32_t find_wrong(const struct node_belief *belief, const struct sim_meter_amounts *truth,
                           bool is_up)
{
    uint32_t wrong = 0;
    for (uint32_t r = 0; r < SIM_RESOURCE_COUNT; r++) {
        const double told = belief->is_up ? belief->told.amount[r] : 0.0;
        const double there = is_up ? truth->amount[r] : 0.0;
        if (islessgreater(told, there))
            wrong |= UINT32_C(1) << r;
    }
    return wrong != 0 ? wrong | UINT32_C(1) << ALL : 0;
}

void meter_belief_check(struct sim_meter *meter, int64_t now_ns, uint32_t node)
{
    struct meter_belief *belief = meter->belief;
    if (belief == NULL)
        return;
    struct node_belief *one = &belief->nodes[node];
    const uint32_t wrong = find_wrong(one, &meter->capacity[node], meter->nodes[node].is_up);
    const uint32_t changed = wrong ^ one->wrong;
    for (uint32_t k = 0; k < KINDS; k++) {
        if ((changed >> k & 1) == 0)
            continue;
        belief->wrong_nodes[k] += (wrong >> k & 1) != 0 ? 1 : (size_t)-1;
        sim_gauge_set(&belief->wrong[k], now_ns, belief->wrong_nodes[k] > 0 ? 1.0 : 0.0);
    }
    one->wrong = wrong;
}

double meter_belief_most(const struct sim_meter *meter, size_t node, size_t resource)
{
    const double has = meter->capacity[node].amount[resource];
    if (resource != SIM_RESOURCE_GPU_MEM || meter->belief == NULL)
        return has;
    return fmax(has, meter->belief->nodes[node].told.amount[resource]);
}

weir_status meter_belief_open(struct sim_meter *meter, const struct sim_meter_config *config)
{
    if (config->node_believed == NULL)
        return WEIR_OK;
    meter->belief = calloc(1, sizeof(*meter->belief));
    if (meter->belief == NULL)
        return WEIR_ENOMEM;
    meter->belief->nodes = calloc(meter->node_count + 1, sizeof(*meter->belief->nodes));
    if (meter->belief->nodes == NULL)
        return WEIR_ENOMEM;
    for (uint32_t n = 0; n < meter->node_count; n++) {
        meter->belief->nodes[n].told = config->node_believed[n];
        meter->belief->nodes[n].is_up = true;
        meter_belief_check(meter, 0, n);
    }
    return WEIR_OK;
}

void meter_belief_close(struct sim_meter *meter)
{
    if (meter->belief != NULL)
        free(meter->belief->nodes);
    free(meter->belief);
}

void meter_belief_warm(struct sim_meter *meter, int64_t now_ns)
{
    for (size_t k = 0; meter->belief != NULL && k < KINDS; k++)
        meter->belief->base[k] = sim_gauge_integral(&meter->belief->wrong[k], now_ns);
}

void meter_belief_results(const struct sim_meter *meter, int64_t end_ns, struct sim_results *out)
{
    static const char *const labels[KINDS] = { "cpu",    "gpu",        "nvdec", "nvenc",
                                               "memory", "gpu memory", "" };
    for (size_t k = 0; meter->belief != NULL && k < KINDS; k++) {
        const double wrong_ns =
            sim_gauge_integral(&meter->belief->wrong[k], end_ns) - meter->belief->base[k];
        if (k == ALL || wrong_ns > 0.0)
            sim_results_add(out, &(struct sim_result_row){ .metric = "belief.mismatch_s",
                                                           .label = labels[k],
                                                           .unit = "s",
                                                           .value = wrong_ns / 1e9 });
    }
}

void sim_meter_believed(struct sim_meter *meter, int64_t now_ns, uint32_t node, bool is_up)
{
    if (meter->belief == NULL || meter->belief->nodes[node].is_up == is_up)
        return;
    meter_tick(meter, now_ns);
    meter->belief->nodes[node].is_up = is_up;
    meter_belief_check(meter, now_ns, node);
}

void meter_belief_workers(struct stage_meter *stage, int64_t now_ns)
{
    double missing = stage->planned.value;
    for (size_t s = SIM_METER_SETUP; s < SIM_METER_STATES; s++)
        missing -= (double)stage->count[s];
    sim_gauge_set(&stage->missing, now_ns, fmax(missing, 0.0));
}

void sim_meter_planned(struct sim_meter *meter, int64_t now_ns, uint32_t stage, uint64_t workers)
{
    meter_tick(meter, now_ns);
    sim_gauge_set(&meter->stages[stage].planned, now_ns, (double)workers);
    meter_belief_workers(&meter->stages[stage], now_ns);
}
