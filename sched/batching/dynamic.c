/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "dynamic": the dynamic batcher of NVIDIA Triton (triton-inference-server/core,
 * dynamic_batch_scheduler.cc), one decision at a time.
 *
 * The requests in front are walked until one is of another shape or would make the batch too large.
 * On the way the longest prefix of a preferred size is remembered; where none was met yet, that
 * before the one that goes beyond the largest preferred size. Then, in this order: such a prefix
 * goes while no request of the walk has waited for max_delay; all go that were walked when the next
 * cannot join them, when they are as many as the largest preferred size, when there is no max_delay
 * or it is over; else they wait for what is left of it.
 *
 * Levels are numbered as Triton's are, the most urgent first; a priority becomes one by the lowest
 * priorities of the levels (`bands`). A second payload staged behind a busy instance, which Triton
 * knows where nothing can change the order, makes no difference to when a request is served, and is
 * left out.
 */
#include "sched/batching/batchings.h"

#include "sched/internal/later.h"
#include "sched/internal/made.h"
#include "sched/internal/params.h"

#include <math.h>

enum {
    PARAM_MAX_BATCH,
    PARAM_PREFERRED,
    PARAM_MAX_DELAY,
    PARAM_LEVELS,
    PARAM_DEFAULT_LEVEL,
    PARAM_BANDS,
    PARAM_TIMEOUT,
    PARAM_TIMEOUT_ACTION,
    PARAM_MAX_QUEUE,
    PARAM_AGEING,
    PARAM_COUNT
};
enum { LIST_MOST = 64 };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_MAX_BATCH] = WEIR_COUNT("max_batch", "items", 1, 1e6, 8, "most items of a batch"),
    [PARAM_PREFERRED] = WEIR_LIST("preferred", "items", LIST_MOST,
                                  "sizes at which a batch goes at once; without any: max_batch"),
    [PARAM_MAX_DELAY] =
        WEIR_DURATION("max_delay", 0, 1e6, 0, "how long a request waits for others to join it"),
    [PARAM_LEVELS] =
        WEIR_COUNT("levels", "", 1, WEIR_BATCH_LEVELS, 1, "levels of urgency; 1 is served first"),
    [PARAM_DEFAULT_LEVEL] = WEIR_COUNT("default_level", "", 1, WEIR_BATCH_LEVELS, 1,
                                       "level of a request without a priority; one below all "
                                       "bands is on the last level"),
    [PARAM_BANDS] = WEIR_LIST("bands", "", LIST_MOST,
                              "the lowest priority of each level, the first one first; without "
                              "any: 90, 70, 40, 10, as far as there are levels"),
    [PARAM_TIMEOUT] = WEIR_DURATION("timeout", 0, 1e6, 0,
                                    "how long a request may wait; 0 = for "
                                    "ever"),
    [PARAM_TIMEOUT_ACTION] = WEIR_CHOICE("timeout_action", "reject|delay", 1, 0,
                                         "reject: one that waited longer is turned away; delay: it "
                                         "waits on, behind all others of its level"),
    [PARAM_MAX_QUEUE] = WEIR_COUNT("max_queue", "requests", 0, 1e9, 0,
                                   "a request that finds so many of its level waiting is turned "
                                   "away; 0 = none is"),
    [PARAM_AGEING] = WEIR_DURATION("ageing", 0, 1e6, 0,
                                   "a request counts as one level higher for each time it has "
                                   "waited so long; 0 = never, as Triton has it"),
};

struct dynamic {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    double preferred[LIST_MOST];
    double bands[LIST_MOST];
    uint32_t preferred_count, bands_count;
    uint32_t most; /* items of a batch */
    uint32_t preferred_most;
    int64_t delay_ns;
};

/* ---- parameters ---- */

static uint32_t take_list(const struct weir_params *given, uint32_t index, double *list)
{
    const double *numbers = NULL;
    const uint32_t count = weir_params_list(params, PARAM_COUNT, given, index, &numbers);

    for (uint32_t i = 0; i < count; i++)
        list[i] = numbers[i];
    return count;
}

static weir_status check_preferred(struct dynamic *dynamic, struct weir_error *error)
{
    for (uint32_t i = 0; i < dynamic->preferred_count; i++) {
        const double size = dynamic->preferred[i];
        if (!(size >= 1) || size > dynamic->most || fabs(size - nearbyint(size)) > 0)
            return weir_fail(error, WEIR_EINVAL,
                             "preferred must be whole numbers from 1 to max_batch (%u), got %g",
                             dynamic->most, size);
        if (size > dynamic->preferred_most)
            dynamic->preferred_most = (uint32_t)size;
    }
    if (dynamic->preferred_count == 0)
        dynamic->preferred_most = dynamic->most;
    return WEIR_OK;
}

static weir_status check_levels(struct dynamic *dynamic, struct weir_error *error)
{
    enum { USUAL = 4 };
    static const double usual[USUAL] = { 90, 70, 40, 10 };
    const double levels = dynamic->values[PARAM_LEVELS];

    if (dynamic->values[PARAM_DEFAULT_LEVEL] > levels)
        return weir_fail(error, WEIR_EINVAL, "default_level must be at most levels (%g), got %g",
                         levels, dynamic->values[PARAM_DEFAULT_LEVEL]);
    if (dynamic->bands_count == 0) {
        dynamic->bands_count = (uint32_t)fmin(levels, USUAL);
        for (uint32_t i = 0; i < dynamic->bands_count; i++)
            dynamic->bands[i] = usual[i];
    }
    if (dynamic->bands_count > levels)
        return weir_fail(error, WEIR_EINVAL, "bands are more than levels (%g), got %u", levels,
                         dynamic->bands_count);
    for (uint32_t i = 1; i < dynamic->bands_count; i++)
        if (!(dynamic->bands[i] < dynamic->bands[i - 1]))
            return weir_fail(error, WEIR_EINVAL, "bands must fall, got %g after %g",
                             dynamic->bands[i], dynamic->bands[i - 1]);
    return WEIR_OK;
}

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    static const struct weir_made made = WEIR_MADE(struct dynamic, params, PARAM_COUNT);
    void *block = NULL;

    WEIR_TRY(weir_made_create(&made, given, allocator, &block, error));
    struct dynamic *const dynamic = block;
    dynamic->most = (uint32_t)dynamic->values[PARAM_MAX_BATCH];
    dynamic->delay_ns = llround(1e9 * dynamic->values[PARAM_MAX_DELAY]);
    dynamic->preferred_count = take_list(given, PARAM_PREFERRED, dynamic->preferred);
    dynamic->bands_count = take_list(given, PARAM_BANDS, dynamic->bands);
    weir_status status = check_preferred(dynamic, error);
    if (status == WEIR_OK)
        status = check_levels(dynamic, error);
    *state = block;
    return weir_made_end(status, weir_made_destroy, state, error);
}

static void rules_of(const void *state, struct weir_batch_rules *rules)
{
    const struct dynamic *const dynamic = state;

    rules->levels = (uint32_t)dynamic->values[PARAM_LEVELS];
    rules->most_items = dynamic->most;
    rules->most_waiting = (uint32_t)dynamic->values[PARAM_MAX_QUEUE];
    rules->timeout_ns = llround(1e9 * dynamic->values[PARAM_TIMEOUT]);
    rules->ageing_ns = llround(1e9 * dynamic->values[PARAM_AGEING]);
    rules->keeps_expired = dynamic->values[PARAM_TIMEOUT_ACTION] > 0;
}

static uint32_t level_of(const void *state, const struct weir_batch_request *request)
{
    const struct dynamic *const dynamic = state;

    if (request->priority < 0)
        return (uint32_t)dynamic->values[PARAM_DEFAULT_LEVEL];
    for (uint32_t i = 0; i < dynamic->bands_count; i++)
        if (request->priority >= dynamic->bands[i])
            return i + 1;
    return (uint32_t)dynamic->values[PARAM_LEVELS];
}

/* ---- one decision ---- */

static bool is_preferred(const struct dynamic *dynamic, uint64_t items)
{
    for (uint32_t i = 0; i < dynamic->preferred_count; i++)
        if (items == (uint64_t)dynamic->preferred[i])
            return true;
    return false;
}

/* How many requests in front make a batch that is worth sending at once; 0 = none do. */
static uint32_t best_of(const struct dynamic *dynamic, const struct weir_batch_view *view,
                        const struct weir_batch_front *front)
{
    uint64_t items = 0;
    uint32_t best = 0;

    for (uint32_t i = 0; i < front->count; i++) {
        if (best == 0 && i > 0 && items + view->requests[i].items > dynamic->preferred_most)
            best = i;
        items += view->requests[i].items;
        if (is_preferred(dynamic, items))
            best = i + 1;
    }
    return best;
}

static int64_t oldest_of(const struct weir_batch_view *view, uint32_t count)
{
    int64_t oldest_ns = view->requests[0].queued_ns;

    for (uint32_t i = 1; i < count; i++)
        if (view->requests[i].queued_ns < oldest_ns)
            oldest_ns = view->requests[i].queued_ns;
    return oldest_ns;
}

static void form(const void *state, const struct weir_batch_view *view,
                 struct weir_batch_answer *answer)
{
    const struct dynamic *const dynamic = state;
    const struct weir_batch_front front = weir_batch_front_of(view, dynamic->most);
    const uint32_t best = best_of(dynamic, view, &front);
    const int64_t due_ns = weir_later_ns(oldest_of(view, front.count), dynamic->delay_ns);
    const bool is_late = dynamic->delay_ns > 0 && view->now_ns >= due_ns;
    const bool is_full = front.is_closed || front.items >= dynamic->preferred_most;

    answer->wake_ns = due_ns;
    if (best > 0 && !is_late)
        answer->take = best;
    else if (is_full || is_late || dynamic->delay_ns == 0)
        answer->take = front.count;
}

const struct weir_batching_ops weir_batching_dynamic = {
    .size = sizeof(struct weir_batching_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "dynamic",
    .summary = "preferred sizes at once, else what there is after a delay, as Triton's batcher",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_made_destroy,
    .rules = rules_of,
    .level = level_of,
    .form = form,
};
