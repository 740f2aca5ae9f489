/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "kubernetes": nodes for what waits, and back when little of them is used, by the rules
 * of Kubernetes' cluster autoscaler.
 *
 * Out: jobs that no node has room for, rank by rank (residual.h), are laid on new nodes of each
 * offer by itself; the expander picks one offer, and as many of its nodes are asked for as these
 * jobs need. What is left is looked at again a scan later.
 *
 * In: a node is not needed while less of it is assigned than a threshold and whoever is there would
 * find room on other nodes. One that was not needed for unneeded_time goes: of empty ones several
 * at once, of others one, and who is there is preempted or stopped and waits again.
 *
 * Of nodes with GPUs the GPUs alone count, as since its version 1.14. As before that (gpu_aware:
 * false) CPUs and memory do, and nodes whose GPUs are all at work are given back for idle CPUs.
 * `behind_ending` is what a scheduler does to it that lets jobs wait for the place of those that
 * end and says so: they do not count as waiting for a node, however long the others take.
 *
 * Pods that may not be moved, budgets of disruption and the sizes of node groups over zones are not
 * here. Cost of a look: O(nodes + workers), while somebody waits O(offers x new nodes x kinds of
 * waiting jobs), and O(nodes x workers there) for each node that is little used.
 */
#include "sched/capacity/capacities.h"

#include "sched/capacity/parts/pace.h"
#include "sched/capacity/parts/residual.h"
#include "sched/capacity/parts/since.h"
#include "sched/internal/alloc.h"
#include "sched/internal/later.h"
#include "sched/internal/made.h"

#include <math.h>

enum {
    PARAM_SCAN,
    PARAM_EXPANDER,
    PARAM_USED,
    PARAM_GPU_USED,
    PARAM_GPU_AWARE,
    PARAM_UNNEEDED,
    PARAM_EMPTY,
    PARAM_AFTER_ADD,
    PARAM_AFTER_DELETE,
    PARAM_AFTER_FAILURE,
    PARAM_BACKOFF,
    PARAM_BACKOFF_MOST,
    PARAM_BEHIND,
    PARAM_COUNT
};
enum { LEAST_WASTE, MOST_PODS, PRIORITY };

/* clang-format off */
static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_SCAN] = WEIR_DURATION("scan_interval", 1e-3, 3600, 10,
        "it looks no more often than this"),
    [PARAM_EXPANDER] = WEIR_CHOICE("expander", "least_waste|most_pods|priority", PRIORITY,
        LEAST_WASTE, "which of the offers that help is asked: with the least CPUs and memory left "
        "over, for the most ranks, or the first"),
    [PARAM_USED] = WEIR_NUMBER("utilization", "1", 0, 1, 0.5,
        "a node may go while less than this share of its CPUs and of its memory is assigned"),
    [PARAM_GPU_USED] = WEIR_NUMBER("gpu_utilization", "1", 0, 1, 0.5,
        "one with GPUs while less than this share of them is"),
    [PARAM_GPU_AWARE] = WEIR_FLAG("gpu_aware", 1,
        "of nodes with GPUs these alone count; false: CPUs and memory do, as of any node"),
    [PARAM_UNNEEDED] = WEIR_DURATION("unneeded_time", 0, 1e9, 600,
        "a node goes that was not needed for so long"),
    [PARAM_EMPTY] = WEIR_COUNT("empty_at_once", "", 1, 1e6, 10,
        "so many empty nodes go at a time; of others one"),
    [PARAM_AFTER_ADD] = WEIR_DURATION("delay_after_add", 0, 1e9, 600,
        "none goes so soon after one was asked for"),
    [PARAM_AFTER_DELETE] = WEIR_DURATION("delay_after_delete", 0, 1e9, 10,
        "nor so soon after one went"),
    [PARAM_AFTER_FAILURE] = WEIR_DURATION("delay_after_failure", 0, 1e9, 180,
        "nor so soon after one was not taken back"),
    [PARAM_BACKOFF] = WEIR_DURATION("backoff", 1, 1e9, 300,
        "after a request that failed none is made for so long, twice as long after every further "
        "failure"),
    [PARAM_BACKOFF_MOST] = WEIR_DURATION("backoff_most", 1, 1e9, 1800,
        "the back-off grows no longer than this"),
    [PARAM_BEHIND] = WEIR_FLAG("behind_ending", 0,
        "what preempted jobs still hold counts as free for those that wait"),
};
/* clang-format on */

struct autoscaler {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_residual waiting; /* what no node has room for */
    struct weir_residual trial;
    struct weir_node_since unneeded;
    int64_t looked_ns, added_ns, deleted_ns; /* WEIR_UNKNOWN_TIME = never */
    int64_t kept_ns;                         /* a node was not taken back */
    int64_t backoff_ns;                      /* until then nothing is asked for */
    int64_t wake_ns;
    uint32_t failures; /* of requests, in a row */
};

static const struct weir_made made = WEIR_MADE(struct autoscaler, params, PARAM_COUNT);

static weir_status autoscaler_create(const struct weir_params *given,
                                     const struct weir_allocator *allocator, void **state,
                                     struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct autoscaler *const scaler = *state;
    scaler->waiting.allocator = scaler->trial.allocator = scaler->allocator;
    scaler->looked_ns = scaler->added_ns = scaler->deleted_ns = WEIR_UNKNOWN_TIME;
    scaler->kept_ns = scaler->backoff_ns = scaler->wake_ns = WEIR_UNKNOWN_TIME;
    return WEIR_OK;
}

static void autoscaler_destroy(void *state)
{
    struct autoscaler *const scaler = state;

    weir_residual_close(&scaler->waiting);
    weir_residual_close(&scaler->trial);
    weir_free(&scaler->allocator, scaler->unneeded.ns);
    weir_made_destroy(state);
}

/* WEIR_UNKNOWN_TIME = at any time. */
static int64_t after(const struct autoscaler *scaler, int64_t since_ns, uint32_t param)
{
    return since_ns == WEIR_UNKNOWN_TIME
               ? WEIR_UNKNOWN_TIME
               : weir_later_ns(since_ns, weir_pace_ns(scaler->values[param]));
}

static int64_t later_of(int64_t a_ns, int64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

/* ---- out ---- */

/* What nodes of one offer would do for those that wait. */
struct option {
    uint32_t type;
    uint32_t nodes; /* 0 = nothing */
    uint64_t ranks;
    double waste; /* part of their CPUs that is left over, and that of their memory */
};

static double part_left(int64_t used, int64_t of_one, uint32_t nodes)
{
    return of_one > 0 ? 1 - (double)used / ((double)of_one * nodes) : 0;
}

static weir_status look_at_offer(struct autoscaler *scaler, const struct weir_node_offer *offer,
                                 struct option *option)
{
    struct weir_amounts before;
    struct weir_amounts left;
    uint64_t ranks = 1;

    *option = (struct option){ .type = offer->type };
    WEIR_TRY(weir_residual_copy(&scaler->trial, &scaler->waiting));
    before = weir_residual_sum(&scaler->trial);
    while (offer->up + offer->coming + option->nodes < offer->max && ranks > 0) {
        ranks = weir_residual_take(&scaler->trial, &offer->holds);
        option->nodes += ranks > 0;
        option->ranks += ranks;
    }
    if (option->nodes == 0)
        return WEIR_OK;
    left = weir_residual_sum(&scaler->trial);
    option->waste =
        part_left(before.cpu_units - left.cpu_units, offer->holds.cpu_units, option->nodes) +
        part_left(before.ram_bytes - left.ram_bytes, offer->holds.ram_bytes, option->nodes);
    return WEIR_OK;
}

static bool is_better(const struct autoscaler *scaler, const struct option *option,
                      const struct option *than)
{
    const double expander = scaler->values[PARAM_EXPANDER];

    if (option->nodes == 0 || than->nodes == 0)
        return than->nodes == 0 && option->nodes > 0;
    if (expander < MOST_PODS)
        return option->waste < than->waste;
    return expander < PRIORITY && option->ranks > than->ranks;
}

static weir_status find_waiting(struct autoscaler *scaler, const struct weir_view *view)
{
    const uint32_t ending = scaler->values[PARAM_BEHIND] > 0 ? WEIR_FILL_ENDING : 0;

    WEIR_TRY(weir_residual_read(&scaler->waiting, view));
    weir_residual_fill(&scaler->waiting, view, WEIR_NO_INDEX, WEIR_FILL_COMING | ending);
    return WEIR_OK;
}

/* Asks for nodes of one offer; false in *is_asked = for none. */
static weir_status grow(struct autoscaler *scaler, const struct weir_view *view,
                        struct weir_plan *plan, bool *is_asked)
{
    struct option best = { .nodes = 0 };

    WEIR_TRY(find_waiting(scaler, view));
    for (uint32_t i = 0; scaler->waiting.count > 0 && i < weir_view_offers(view); i++) {
        struct weir_node_offer offer = { .size = sizeof offer };
        struct option option;
        (void)weir_view_offer(view, i, &offer);
        WEIR_TRY(look_at_offer(scaler, &offer, &option));
        if (is_better(scaler, &option, &best))
            best = option;
    }
    for (uint32_t n = 0; n < best.nodes; n++)
        WEIR_TRY(weir_plan_request_node(plan, best.type));
    *is_asked = best.nodes > 0;
    if (*is_asked)
        scaler->added_ns = view->now_ns;
    return WEIR_OK;
}

/* ---- in ---- */

static double part_used(int64_t free, int64_t total)
{
    return total > 0 ? 1 - (double)free / (double)total : 0;
}

static bool is_little_used(const struct autoscaler *scaler, const struct weir_view *view,
                           uint32_t node)
{
    const struct weir_node *const seen = weir_cluster_node(view->cluster, node);
    int64_t free = 0;
    int64_t total = 0;

    for (uint32_t g = 0; g < seen->gpu_count; g++) {
        const struct weir_gpu *const gpu = weir_cluster_gpu(view->cluster, node, g);
        free += gpu->units_free;
        total += gpu->units_total;
    }
    if (total > 0 && scaler->values[PARAM_GPU_AWARE] > 0)
        return part_used(free, total) < scaler->values[PARAM_GPU_USED];
    return fmax(part_used(seen->cpu_free, seen->cpu_total),
                part_used(seen->ram_free_bytes, seen->ram_total_bytes)) <
           scaler->values[PARAM_USED];
}

/* Whether all who are there would find room on other nodes. */
static weir_status find_room(struct autoscaler *scaler, const struct weir_view *view, uint32_t node,
                             bool *have_room)
{
    WEIR_TRY(weir_residual_read_node(&scaler->trial, view, node));
    weir_residual_fill(&scaler->trial, view, node, 0);
    *have_room = scaler->trial.count == 0;
    return WEIR_OK;
}

static bool is_of_offer(const struct weir_view *view, uint32_t node)
{
    bool is_found = false;

    for (uint32_t i = 0; i < weir_view_offers(view) && !is_found; i++) {
        struct weir_node_offer offer = { .size = sizeof offer };
        (void)weir_view_offer(view, i, &offer);
        is_found = offer.type == weir_cluster_node(view->cluster, node)->type;
    }
    return is_found;
}

static weir_status look_at_nodes(struct autoscaler *scaler, const struct weir_view *view,
                                 const struct weir_plan *plan)
{
    WEIR_TRY(weir_node_since_grow(&scaler->unneeded, &scaler->allocator, view));
    for (uint32_t n = 0; n < scaler->unneeded.count; n++) {
        bool is_unneeded = weir_cluster_node(view->cluster, n)->flags == WEIR_NODE_UP &&
                           is_of_offer(view, n) && is_little_used(scaler, view, n) &&
                           weir_plan_may_empty(plan, view, n);
        if (is_unneeded)
            WEIR_TRY(find_room(scaler, view, n, &is_unneeded));
        weir_since_follow(&scaler->unneeded.ns[n], is_unneeded, view->now_ns);
    }
    return WEIR_OK;
}

static weir_status give_back(struct autoscaler *scaler, const struct weir_view *view, uint32_t node,
                             struct weir_plan *plan)
{
    WEIR_TRY(weir_plan_empty_node(plan, view, node));
    WEIR_TRY(weir_plan_release_node(plan, node));
    scaler->unneeded.ns[node] = WEIR_UNKNOWN_TIME;
    scaler->deleted_ns = view->now_ns;
    return WEIR_OK;
}

/* Empty nodes, or those with somebody on them, that were not needed for long enough. */
static weir_status shrink_some(struct autoscaler *scaler, const struct weir_view *view,
                               bool are_empty, uint32_t most, struct weir_plan *plan,
                               uint32_t *gone)
{
    for (uint32_t i = 0; i < weir_view_offers(view); i++) {
        struct weir_node_offer offer = { .size = sizeof offer };
        (void)weir_view_offer(view, i, &offer);
        for (uint32_t n = 0; n < scaler->unneeded.count && offer.up > offer.min; n++) {
            const int64_t since_ns = scaler->unneeded.ns[n];
            if (*gone == most || since_ns == WEIR_UNKNOWN_TIME ||
                weir_cluster_node(view->cluster, n)->type != offer.type ||
                after(scaler, since_ns, PARAM_UNNEEDED) > view->now_ns ||
                weir_pace_is_idle(view, n, offer.type) != are_empty)
                continue;
            WEIR_TRY(give_back(scaler, view, n, plan));
            offer.up--;
            ++*gone;
        }
    }
    return WEIR_OK;
}

/* From when on a node may go, whichever it is. */
static int64_t cooled_ns(const struct autoscaler *scaler)
{
    const int64_t added_ns = after(scaler, scaler->added_ns, PARAM_AFTER_ADD);
    const int64_t deleted_ns = after(scaler, scaler->deleted_ns, PARAM_AFTER_DELETE);
    const int64_t kept_ns = after(scaler, scaler->kept_ns, PARAM_AFTER_FAILURE);

    return later_of(added_ns, later_of(deleted_ns, kept_ns));
}

static weir_status shrink(struct autoscaler *scaler, const struct weir_view *view,
                          struct weir_plan *plan)
{
    uint32_t gone = 0;

    if (cooled_ns(scaler) > view->now_ns)
        return WEIR_OK;
    WEIR_TRY(shrink_some(scaler, view, true, (uint32_t)scaler->values[PARAM_EMPTY], plan, &gone));
    return gone > 0 ? WEIR_OK : shrink_some(scaler, view, false, 1, plan, &gone);
}

/* ---- a decision ---- */

/* When a node may go next that is not needed now; INT64_MAX = there is none. Those that were due
 * and did not go wait for the next decision, whatever it is for. */
static int64_t next_shrink(const struct autoscaler *scaler, int64_t now_ns)
{
    const int64_t from_ns = cooled_ns(scaler);
    int64_t next_ns = INT64_MAX;

    for (uint32_t n = 0; n < scaler->unneeded.count; n++) {
        if (scaler->unneeded.ns[n] == WEIR_UNKNOWN_TIME)
            continue;
        const int64_t due_ns =
            later_of(from_ns, after(scaler, scaler->unneeded.ns[n], PARAM_UNNEEDED));
        next_ns = due_ns > now_ns && due_ns < next_ns ? due_ns : next_ns;
    }
    return next_ns;
}

static weir_status decide(struct autoscaler *scaler, const struct weir_view *view,
                          struct weir_plan *plan)
{
    const int64_t now_ns = view->now_ns;
    const int64_t scan_ns = after(scaler, scaler->looked_ns, PARAM_SCAN);
    bool is_asked = false;

    if (scan_ns > now_ns)
        return weir_pace_wake(&scaler->wake_ns, scan_ns, now_ns, plan);
    scaler->looked_ns = now_ns;
    const bool does_wait = weir_view_waiting_jobs(view) > 0;
    const bool is_held = scaler->backoff_ns > now_ns;
    if (does_wait && !is_held)
        WEIR_TRY(grow(scaler, view, plan, &is_asked));
    WEIR_TRY(look_at_nodes(scaler, view, plan));
    if (!is_asked)
        WEIR_TRY(shrink(scaler, view, plan));
    int64_t next_ns = next_shrink(scaler, now_ns);
    if (is_asked)
        next_ns = after(scaler, now_ns, PARAM_SCAN);
    else if (does_wait && is_held && scaler->backoff_ns < next_ns)
        next_ns = scaler->backoff_ns;
    return weir_pace_wake(&scaler->wake_ns, next_ns, now_ns, plan);
}

static weir_status autoscaler_decide(void *state, const struct weir_view *view,
                                     struct weir_plan *plan, struct weir_error *error)
{
    const weir_status status = decide(state, view, plan);

    return status == WEIR_OK ? WEIR_OK : weir_fail(error, status, "out of memory");
}

static weir_status autoscaler_outcome(void *state, const struct weir_outcome *outcome)
{
    struct autoscaler *const scaler = state;
    const bool is_release = outcome->node != WEIR_NO_INDEX;

    if (outcome->kind == WEIR_OUTCOME_CAME)
        scaler->failures = 0;
    if (outcome->kind == WEIR_OUTCOME_REFUSED && is_release)
        scaler->kept_ns = outcome->time_ns;
    if ((outcome->kind != WEIR_OUTCOME_REFUSED && outcome->kind != WEIR_OUTCOME_FAILED) ||
        is_release || scaler->backoff_ns > outcome->time_ns)
        return WEIR_OK; /* of several that fail together one counts */
    scaler->backoff_ns =
        weir_pace_delayed(outcome->time_ns, weir_pace_ns(scaler->values[PARAM_BACKOFF]),
                          weir_pace_ns(scaler->values[PARAM_BACKOFF_MOST]), scaler->failures++);
    return WEIR_OK;
}

/* ---- memory ---- */

static void remember(struct autoscaler *scaler, struct weir_memory *memory)
{
    int64_t *const times[] = { &scaler->looked_ns, &scaler->added_ns,   &scaler->deleted_ns,
                               &scaler->kept_ns,   &scaler->backoff_ns, &scaler->wake_ns };

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        weir_since_remember(memory, times[i]);
    scaler->failures = (uint32_t)weir_memory_count(memory, scaler->failures, 0);
    weir_node_since_remember(&scaler->unneeded, memory);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the memory writes to them */
static uint32_t autoscaler_save(const void *state, double *numbers, uint32_t capacity)
{
    struct weir_memory memory = { .to = numbers, .size = capacity };
    struct autoscaler scaler = *(const struct autoscaler *)state;

    remember(&scaler, &memory);
    return memory.used;
}

static weir_status autoscaler_restore(void *state, const struct weir_view *view,
                                      const double *numbers, uint32_t count,
                                      struct weir_error *error)
{
    struct weir_memory memory = { .from = numbers, .size = count };
    struct autoscaler *const scaler = state;

    if (weir_node_since_grow(&scaler->unneeded, &scaler->allocator, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    remember(scaler, &memory);
    return weir_memory_end(&memory, error);
}

const struct weir_capacity_ops weir_capacity_kubernetes = {
    .size = sizeof(struct weir_capacity_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "kubernetes",
    .summary =
        "nodes for what waits, back when little used, as Kubernetes' cluster autoscaler does",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = autoscaler_create,
    .destroy = autoscaler_destroy,
    .decide = autoscaler_decide,
    .outcome = autoscaler_outcome,
    .save = autoscaler_save,
    .restore = autoscaler_restore,
};
