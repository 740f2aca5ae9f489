/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conservation: identities that hold in every run whatever the policy did.
 *
 * They tie reports of different parts of the world to each other: states to lives, busy time to
 * service, the number in the system to latencies, what workers hold to what nodes have.
 */
#include "sim/record/meter/meter_state.h"

#include <inttypes.h>
#include <math.h>

/* Sums of millions of terms: a millionth, and a microsecond for short runs. */
static bool is_close(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)) + 1e3;
}

static weir_status check_states(const struct stage_meter *stage, struct weir_error *error)
{
    int64_t alive = 0;
    for (int state = SIM_METER_SETUP; state < SIM_METER_STATES; state++) {
        if (stage->count[state] < 0)
            return weir_fail(error, WEIR_EINVARIANT, "stage %s: %" PRId64 " workers in state %d",
                             stage->label, stage->count[state], state);
        alive += stage->count[state];
    }
    const int64_t expected = (int64_t)(stage->created - stage->deleted);
    if (alive != expected)
        return weir_fail(error, WEIR_EINVARIANT,
                         "stage %s: %" PRId64 " workers in all states, %" PRId64
                         " created and not ended",
                         stage->label, alive, expected);
    return WEIR_OK;
}

/* Busy time = service of finished tasks + work thrown away + tasks under way. The last is known to
 * be 0 only when nobody is busy. */
static weir_status check_busy(const struct stage_meter *stage, int64_t now_ns,
                              struct weir_error *error)
{
    const double busy = sim_meter_stage_totals(stage, now_ns).integral[SERIES_BUSY];
    const double most =
        stage->count[SIM_METER_BUSY] > 0 ? (double)INFINITY : stage->service_ns + stage->lost_ns;
    const bool is_enough = busy >= stage->service_ns || is_close(busy, stage->service_ns);
    if (is_enough && (busy <= most || is_close(busy, most)))
        return WEIR_OK;
    return weir_fail(error, WEIR_EINVARIANT,
                     "stage %s: workers were busy for %.9g s, but tasks took %.9g s and %.9g s "
                     "were lost",
                     stage->label, busy * 1e-9, stage->service_ns * 1e-9, stage->lost_ns * 1e-9);
}

static weir_status check_node(const struct sim_meter *meter, size_t n, struct weir_error *error)
{
    for (size_t r = 0; r < SIM_RESOURCE_COUNT; r++) {
        const double held = meter->nodes[n].assigned.value[r];
        const double has = meter_belief_most(meter, n, r);
        const double slack = 1e-9 * has + 1e-6;
        if (held < -slack || held > has + slack)
            return weir_fail(error, WEIR_EINVARIANT,
                             "node %zu: workers hold %.9g of resource %zu, it has %.9g", n, held, r,
                             has);
    }
    return WEIR_OK;
}

bool sim_meter_little_holds(const struct sim_meter *meter, int64_t now_ns, double inside_ns)
{
    double latency_ns = inside_ns;
    for (size_t p = 0; p < meter->pipeline_count; p++)
        latency_ns += meter->pipelines[p].latency_ns;
    return is_close(latency_ns, sim_gauge_integral(&meter->in_system, now_ns));
}

static weir_status check_items(const struct sim_meter *meter, int64_t now_ns,
                               uint64_t items_in_system, struct weir_error *error)
{
    uint64_t arrived = 0;
    uint64_t left = 0;
    for (size_t p = 0; p < meter->pipeline_count; p++) {
        arrived += meter->pipelines[p].arrived;
        left += meter->pipelines[p].done + meter->pipelines[p].dropped;
    }
    if (arrived != left + items_in_system)
        return weir_fail(error, WEIR_EINVARIANT,
                         "%" PRIu64 " items arrived, but %" PRIu64 " left and %" PRIu64
                         " are in the system",
                         arrived, left, items_in_system);
    if (items_in_system == 0 && !sim_meter_little_holds(meter, now_ns, 0.0))
        return weir_fail(error, WEIR_EINVARIANT,
                         "the latencies of all items do not add up to the time integral of the "
                         "number in the system, %.9g s",
                         sim_gauge_integral(&meter->in_system, now_ns) * 1e-9);
    return WEIR_OK;
}

weir_status sim_meter_check(const struct sim_meter *meter, int64_t now_ns, uint64_t items_in_system,
                            struct weir_error *error)
{
    if (meter->illegal > 0)
        return weir_fail(error, WEIR_EINVARIANT,
                         "%" PRIu64 " transitions from a state nobody was in", meter->illegal);
    for (size_t s = 0; s < meter->stage_count; s++) {
        WEIR_TRY(check_states(&meter->stages[s], error));
        WEIR_TRY(check_busy(&meter->stages[s], now_ns, error));
    }
    for (size_t n = 0; n < meter->node_count; n++)
        WEIR_TRY(check_node(meter, n, error));
    return check_items(meter, now_ns, items_in_system, error);
}
