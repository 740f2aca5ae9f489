/* SPDX-License-Identifier: Apache-2.0 */
/* Steps, cooldowns and back-off; see the header. */
#include "sched/capacity/parts/pace.h"

#include "sched/capacity/parts/since.h"
#include "sched/internal/later.h"

#include <math.h>

enum { MOST_DOUBLINGS = 40 };
static const double NS_PER_S = 1e9;

int64_t weir_pace_ns(double seconds)
{
    return (int64_t)llround(seconds * NS_PER_S);
}

struct weir_pace_rules weir_pace_rules(const double *values)
{
    return (struct weir_pace_rules){ .factor = values[WEIR_PACE_FACTOR],
                                     .most = values[WEIR_PACE_MOST],
                                     .cool_out_ns = weir_pace_ns(values[WEIR_PACE_COOL_OUT]),
                                     .cool_in_ns = weir_pace_ns(values[WEIR_PACE_COOL_IN]),
                                     .delay_ns = weir_pace_ns(values[WEIR_PACE_DELAY]),
                                     .delay_most_ns = weir_pace_ns(values[WEIR_PACE_DELAY_MOST]) };
}

void weir_pace_begin(struct weir_pace *pace)
{
    *pace = (struct weir_pace){ .last_ns = WEIR_UNKNOWN_TIME,
                                .before_ns = WEIR_UNKNOWN_TIME,
                                .not_before_ns = WEIR_UNKNOWN_TIME };
}

/* The tolerance keeps an exact count from being raised by its last bit. */
uint32_t weir_pace_step(const struct weir_pace_rules *rules, uint32_t nodes)
{
    const double step = ceil(fmin(nodes * rules->factor, rules->most) - 1e-9);

    return step < 1 ? 1 : (uint32_t)step;
}

static int64_t cooldown(const struct weir_pace_rules *rules, int way)
{
    return way == WEIR_PACE_OUT ? rules->cool_out_ns : rules->cool_in_ns;
}

int64_t weir_pace_from(const struct weir_pace *pace, const struct weir_pace_rules *rules, int way)
{
    const int64_t cooled_ns = pace->last_ns == WEIR_UNKNOWN_TIME
                                  ? WEIR_UNKNOWN_TIME
                                  : weir_later_ns(pace->last_ns, cooldown(rules, way));

    return cooled_ns > pace->not_before_ns ? cooled_ns : pace->not_before_ns;
}

int64_t weir_pace_delayed(int64_t now_ns, int64_t delay_ns, int64_t most_ns, uint32_t k)
{
    const int doublings = (int)(k < MOST_DOUBLINGS ? k : MOST_DOUBLINGS);
    const double wait_ns = fmin(ldexp((double)delay_ns, doublings), (double)most_ns);

    return weir_later_ns(now_ns, (int64_t)wait_ns);
}

weir_status weir_pace_wake(int64_t *wake_ns, int64_t at_ns, int64_t now_ns, struct weir_plan *plan)
{
    if (at_ns == INT64_MAX || (*wake_ns > now_ns && *wake_ns <= at_ns))
        return WEIR_OK;
    *wake_ns = at_ns;
    return weir_plan_wake(plan, at_ns);
}

static void back_off(struct weir_pace *pace, const struct weir_pace_rules *rules, uint32_t k,
                     int64_t now_ns)
{
    pace->not_before_ns = weir_pace_delayed(now_ns, rules->delay_ns, rules->delay_most_ns, k);
}

void weir_pace_stepped(struct weir_pace *pace, const struct weir_pace_rules *rules, int way,
                       int64_t now_ns)
{
    const int64_t from_ns = weir_pace_from(pace, rules, way);
    const bool is_reversal =
        pace->last_way == -way && now_ns < weir_later_ns(from_ns, cooldown(rules, way));

    pace->before_ns = pace->last_ns;
    pace->before_way = pace->last_way;
    pace->last_ns = now_ns;
    pace->last_way = way;
    pace->has_failed = false;
    if (is_reversal)
        back_off(pace, rules, pace->reversals++, now_ns);
    else
        pace->reversals = 0;
}

void weir_pace_heard(struct weir_pace *pace, const struct weir_pace_rules *rules,
                     const struct weir_outcome *outcome)
{
    const bool is_failure =
        outcome->kind == WEIR_OUTCOME_FAILED || outcome->kind == WEIR_OUTCOME_REFUSED;

    if (outcome->kind == WEIR_OUTCOME_CAME && !pace->has_failed)
        pace->failures = 0;
    if (!is_failure || pace->has_failed || pace->last_way != WEIR_PACE_OUT)
        return; /* of several of one step one counts */
    pace->has_failed = true;
    pace->last_ns = pace->before_ns;
    pace->last_way = pace->before_way;
    back_off(pace, rules, pace->failures++, outcome->time_ns);
}

/* ---- which nodes ---- */

static uint32_t kind_of(const struct weir_node_offer *offer)
{
    return offer->holds.gpu_units > 0 ? WEIR_PACE_WITH_GPUS : WEIR_PACE_WITHOUT_GPUS;
}

/* Of any of these kinds together. */
static weir_status request_any(const struct weir_view *view, uint32_t kinds, uint32_t count,
                               struct weir_plan *plan, uint32_t *done)
{
    uint32_t left = count;

    for (uint32_t i = 0; i < weir_view_offers(view); i++) {
        struct weir_node_offer offer = { .size = sizeof offer };
        (void)weir_view_offer(view, i, &offer);
        if ((kind_of(&offer) & kinds) == 0)
            continue;
        for (; offer.up + offer.coming < offer.max && left > 0; offer.coming++, left--)
            WEIR_TRY(weir_plan_request_node(plan, offer.type));
    }
    *done += count - left;
    return WEIR_OK;
}

weir_status weir_pace_request(const struct weir_view *view, uint32_t kinds, uint32_t count,
                              struct weir_plan *plan, uint32_t *done)
{
    const uint32_t all = WEIR_PACE_WITHOUT_GPUS | WEIR_PACE_WITH_GPUS;
    uint32_t there = 0;

    *done = 0;
    for (uint32_t i = 0; i < weir_view_offers(view); i++) {
        struct weir_node_offer offer = { .size = sizeof offer };
        (void)weir_view_offer(view, i, &offer);
        there |= kind_of(&offer) & kinds;
    }
    for (uint32_t kind = 1; kind <= there; kind <<= 1)
        if ((kind & there) != 0)
            WEIR_TRY(request_any(view, kind, count, plan, done));
    return there != 0 ? WEIR_OK : request_any(view, all, count, plan, done);
}

bool weir_pace_is_idle(const struct weir_view *view, uint32_t node, uint32_t type)
{
    const struct weir_node *const seen = weir_cluster_node(view->cluster, node);
    uint64_t worker;

    return seen->type == type && seen->flags == WEIR_NODE_UP &&
           !weir_cluster_node_worker_id(view->cluster, node, &worker);
}

weir_status weir_pace_release(const struct weir_view *view, uint32_t count, struct weir_plan *plan,
                              uint32_t *done)
{
    *done = 0;
    for (uint32_t i = weir_view_offers(view); i-- > 0;) {
        struct weir_node_offer offer = { .size = sizeof offer };
        (void)weir_view_offer(view, i, &offer);
        for (uint32_t n = weir_cluster_node_count(view->cluster); n-- > 0;) {
            if (*done == count || offer.up <= offer.min)
                break;
            if (!weir_pace_is_idle(view, n, offer.type))
                continue;
            WEIR_TRY(weir_plan_release_node(plan, n));
            offer.up--;
            ++*done;
        }
    }
    return WEIR_OK;
}

/* ---- memory ---- */

void weir_pace_remember(struct weir_pace *pace, struct weir_memory *memory)
{
    weir_since_remember(memory, &pace->last_ns);
    weir_since_remember(memory, &pace->before_ns);
    weir_since_remember(memory, &pace->not_before_ns);
    pace->last_way = (int32_t)weir_memory_count(memory, pace->last_way + 1, 0) - 1;
    pace->before_way = (int32_t)weir_memory_count(memory, pace->before_way + 1, 0) - 1;
    pace->failures = (uint32_t)weir_memory_count(memory, pace->failures, 0);
    pace->reversals = (uint32_t)weir_memory_count(memory, pace->reversals, 0);
    pace->has_failed = weir_memory_count(memory, pace->has_failed, 0) > 0;
}
