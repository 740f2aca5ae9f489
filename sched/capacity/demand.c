/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "demand": nodes for what waits, by the rules of Ray's cluster autoscaler.
 *
 * What jobs wait for and no node has room for (residual.h, first fit) is given to new nodes, one
 * after the other of the offer that it fills best, as long as offers last. Of these so many are
 * asked for that no more than max(at_once, speed x nodes there) of an offer are on their way. A
 * node on which nobody has been for idle_timeout is given back, down to the offer's minimum. After
 * a request that failed none is made for `backoff`.
 *
 * Ray's later version also looks at labels, at gangs as a whole and at nodes of an old
 * configuration. Stages, services and actors wait for nothing here: it is jobs that ask. Cost:
 * O(nodes) a look, while somebody waits O((nodes + new ones x offers) x kinds of waiting jobs).
 */
#include "sched/capacity/capacities.h"

#include "sched/capacity/parts/pace.h"
#include "sched/capacity/parts/residual.h"
#include "sched/capacity/parts/since.h"
#include "sched/internal/alloc.h"
#include "sched/internal/later.h"
#include "sched/internal/made.h"

#include <math.h>

enum { PARAM_IDLE, PARAM_SPEED, PARAM_AT_ONCE, PARAM_BACKOFF, PARAM_COUNT };

/* clang-format off */
static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_IDLE] = WEIR_DURATION("idle_timeout", 0, 1e9, 300,
        "a node that nobody has used for so long is given back"),
    [PARAM_SPEED] = WEIR_NUMBER("upscaling_speed", "1", 0, 1e6, 1,
        "nodes on their way are at most this part of those that are there, or ..."),
    [PARAM_AT_ONCE] = WEIR_COUNT("at_once", "", 1, 1e6, 5, "... so many, whichever is more"),
    [PARAM_BACKOFF] = WEIR_DURATION("backoff", 1, 1e9, 60,
        "after a request that failed none is made for so long"),
};
/* clang-format on */

struct seeker {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_residual residual;
    struct weir_node_since idle;
    struct weir_node_offer *offers; /* with what is asked for */
    uint32_t *asked;                /* of each */
    uint32_t offer_capacity, asked_capacity;
    int64_t failed_ns; /* WEIR_UNKNOWN_TIME = none did */
    int64_t wake_ns;
};

static const struct weir_made made = WEIR_MADE(struct seeker, params, PARAM_COUNT);

static weir_status seeker_create(const struct weir_params *given,
                                 const struct weir_allocator *allocator, void **state,
                                 struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct seeker *const seeker = *state;
    seeker->residual.allocator = seeker->allocator;
    seeker->failed_ns = seeker->wake_ns = WEIR_UNKNOWN_TIME;
    return WEIR_OK;
}

static void seeker_destroy(void *state)
{
    struct seeker *const seeker = state;

    weir_residual_close(&seeker->residual);
    weir_free(&seeker->allocator, seeker->idle.ns);
    weir_free(&seeker->allocator, seeker->offers);
    weir_free(&seeker->allocator, seeker->asked);
    weir_made_destroy(state);
}

static int64_t after(const struct seeker *seeker, int64_t since_ns, uint32_t param)
{
    return weir_later_ns(since_ns, weir_pace_ns(seeker->values[param]));
}

/* ---- nodes for what waits ---- */

static weir_status read_offers(struct seeker *seeker, const struct weir_view *view)
{
    const uint32_t count = weir_view_offers(view);

    WEIR_ROOM(&seeker->allocator, seeker->offers, seeker->offer_capacity, count);
    WEIR_ROOM(&seeker->allocator, seeker->asked, seeker->asked_capacity, count);
    for (uint32_t i = 0; i < count; i++) {
        seeker->offers[i].size = sizeof *seeker->offers;
        (void)weir_view_offer(view, i, &seeker->offers[i]);
        seeker->asked[i] = 0;
    }
    return WEIR_OK;
}

static bool has_more(const struct seeker *seeker, uint32_t index)
{
    const struct weir_node_offer *const offer = &seeker->offers[index];

    return offer->up + offer->coming + seeker->asked[index] < offer->max;
}

/* The best of the offers that last; WEIR_NO_INDEX = none takes anything. */
static uint32_t best_offer(const struct seeker *seeker, uint32_t count)
{
    struct weir_node_score best = { .fits = false };
    uint32_t index = WEIR_NO_INDEX;

    for (uint32_t i = 0; i < count; i++) {
        if (!has_more(seeker, i))
            continue;
        const struct weir_node_score score =
            weir_residual_score(&seeker->residual, &seeker->offers[i].holds);
        if (score.fits && weir_node_score_is_better(&score, &best)) {
            best = score;
            index = i;
        }
    }
    return index;
}

/* So many more of an offer may be on their way. */
static uint32_t room_for(const struct seeker *seeker, const struct weir_node_offer *offer)
{
    const double most =
        fmax(seeker->values[PARAM_AT_ONCE], floor(seeker->values[PARAM_SPEED] * offer->up));

    return most > offer->coming ? (uint32_t)fmin(most - offer->coming, 1e9) : 0;
}

static weir_status seek(struct seeker *seeker, const struct weir_view *view, struct weir_plan *plan)
{
    const uint32_t count = weir_view_offers(view);
    uint32_t best = 0;

    WEIR_TRY(read_offers(seeker, view));
    WEIR_TRY(weir_residual_read(&seeker->residual, view));
    weir_residual_fill(&seeker->residual, view, WEIR_NO_INDEX, WEIR_FILL_COMING);
    while (seeker->residual.count > 0 && (best = best_offer(seeker, count)) != WEIR_NO_INDEX) {
        seeker->asked[best]++;
        (void)weir_residual_take(&seeker->residual, &seeker->offers[best].holds);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t room = room_for(seeker, &seeker->offers[i]);
        for (uint32_t n = 0; n < seeker->asked[i] && n < room; n++)
            WEIR_TRY(weir_plan_request_node(plan, seeker->offers[i].type));
    }
    return WEIR_OK;
}

/* ---- nodes that nobody needs ---- */

static weir_status look_at_nodes(struct seeker *seeker, const struct weir_view *view)
{
    WEIR_TRY(weir_node_since_grow(&seeker->idle, &seeker->allocator, view));
    for (uint32_t n = 0; n < seeker->idle.count; n++) {
        const uint32_t type = weir_cluster_node(view->cluster, n)->type;
        weir_since_follow(&seeker->idle.ns[n], weir_pace_is_idle(view, n, type), view->now_ns);
    }
    return WEIR_OK;
}

/* Those that have idled long enough go; *next_ns = when the next one has. */
static weir_status release(struct seeker *seeker, const struct weir_view *view,
                           struct weir_plan *plan, int64_t *next_ns)
{
    for (uint32_t i = 0; i < weir_view_offers(view); i++) {
        struct weir_node_offer offer = { .size = sizeof offer };
        (void)weir_view_offer(view, i, &offer);
        for (uint32_t n = 0; n < seeker->idle.count && offer.up > offer.min; n++) {
            if (weir_cluster_node(view->cluster, n)->type != offer.type ||
                seeker->idle.ns[n] == WEIR_UNKNOWN_TIME)
                continue;
            const int64_t due_ns = after(seeker, seeker->idle.ns[n], PARAM_IDLE);
            if (due_ns > view->now_ns) {
                *next_ns = due_ns < *next_ns ? due_ns : *next_ns;
                continue;
            }
            WEIR_TRY(weir_plan_release_node(plan, n));
            seeker->idle.ns[n] = WEIR_UNKNOWN_TIME;
            offer.up--;
        }
    }
    return WEIR_OK;
}

/* ---- a decision ---- */

static weir_status decide(struct seeker *seeker, const struct weir_view *view,
                          struct weir_plan *plan)
{
    int64_t next_ns = INT64_MAX;
    const int64_t from_ns = seeker->failed_ns == WEIR_UNKNOWN_TIME
                                ? view->now_ns
                                : after(seeker, seeker->failed_ns, PARAM_BACKOFF);

    if (weir_view_waiting_jobs(view) > 0 && from_ns > view->now_ns)
        next_ns = from_ns;
    else if (weir_view_waiting_jobs(view) > 0)
        WEIR_TRY(seek(seeker, view, plan));
    WEIR_TRY(look_at_nodes(seeker, view));
    WEIR_TRY(release(seeker, view, plan, &next_ns));
    return weir_pace_wake(&seeker->wake_ns, next_ns, view->now_ns, plan);
}

static weir_status seeker_decide(void *state, const struct weir_view *view, struct weir_plan *plan,
                                 struct weir_error *error)
{
    const weir_status status = decide(state, view, plan);

    return status == WEIR_OK ? WEIR_OK : weir_fail(error, status, "out of memory");
}

static weir_status seeker_outcome(void *state, const struct weir_outcome *outcome)
{
    struct seeker *const seeker = state;

    if (outcome->kind == WEIR_OUTCOME_FAILED || outcome->kind == WEIR_OUTCOME_REFUSED)
        seeker->failed_ns = outcome->time_ns;
    return WEIR_OK;
}

/* ---- memory ---- */

static void remember(struct seeker *seeker, struct weir_memory *memory)
{
    weir_node_since_remember(&seeker->idle, memory);
    weir_since_remember(memory, &seeker->failed_ns);
    weir_since_remember(memory, &seeker->wake_ns);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the memory writes to them */
static uint32_t seeker_save(const void *state, double *numbers, uint32_t capacity)
{
    struct weir_memory memory = { .to = numbers, .size = capacity };
    struct seeker seeker = *(const struct seeker *)state;

    remember(&seeker, &memory);
    return memory.used;
}

static weir_status seeker_restore(void *state, const struct weir_view *view, const double *numbers,
                                  uint32_t count, struct weir_error *error)
{
    struct weir_memory memory = { .from = numbers, .size = count };

    if (look_at_nodes(state, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    remember(state, &memory);
    return weir_memory_end(&memory, error);
}

const struct weir_capacity_ops weir_capacity_demand = {
    .size = sizeof(struct weir_capacity_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "demand",
    .summary = "nodes for what jobs wait for, back when idle, as Ray's cluster autoscaler does",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = seeker_create,
    .destroy = seeker_destroy,
    .decide = seeker_decide,
    .outcome = seeker_outcome,
    .save = seeker_save,
    .restore = seeker_restore,
};
