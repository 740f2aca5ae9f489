/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests that wait for one model, and the policy that makes batches of them (see batching.h).
 *
 * A level has two lists: those that wait within their time, by queued_ns, of equals the first that
 * came; and those that wait beyond it, as they were found there. `nearest_ns` is not later than the
 * first moment at which the time of one of the former is over: it is worked out anew only when that
 * moment has come, so that a request costs O(1) while it waits.
 */
#include "sched/batching/batchings.h"

#include "sched/internal/alloc.h"
#include "sched/internal/later.h"
#include "sched/internal/policy_state.h"
#include "sched/internal/size.h"

#include <string.h>

enum { NONE = UINT32_MAX };

struct waiting {
    struct weir_batch_request request;
    int64_t deadline_ns; /* INT64_MAX = none */
    uint32_t before, behind;
    uint32_t list; /* NONE = nobody stands here */
};

struct list {
    uint32_t head, tail, count;
};

struct weir_batcher {
    struct weir_allocator allocator;
    const struct weir_batching_ops *ops;
    struct weir_policy_state policy;
    struct weir_batch_rules rules;
    struct list
        lists[2 * WEIR_BATCH_LEVELS]; /* of level l: 2 (l - 1), and those beyond their time */
    struct waiting *all;
    uint32_t used, capacity, count;
    uint32_t free; /* first of those that are free, linked by `behind` */
    int64_t nearest_ns;
    uint64_t *ids, *expired;
    uint32_t ids_capacity, expired_capacity, expired_count;
    struct weir_batch_request *front;
    uint32_t front_capacity, front_count;
};

/* ---- life ---- */

static weir_status check_rules(const struct weir_batcher *batcher, struct weir_error *error)
{
    const struct weir_batch_rules *const rules = &batcher->rules;

    if (rules->levels >= 1 && rules->levels <= WEIR_BATCH_LEVELS && rules->most_items >= 1 &&
        rules->timeout_ns >= 0 && rules->ageing_ns >= 0)
        return WEIR_OK;
    return weir_fail(error, WEIR_EPOLICY,
                     "batching policy %s: %u levels (1 to %d), %u items of a batch (at least 1)",
                     batcher->ops->name, rules->levels, WEIR_BATCH_LEVELS, rules->most_items);
}

static weir_status open_policy(struct weir_batcher *batcher, const struct weir_params *params,
                               struct weir_error *error)
{
    const struct weir_batching_ops *const ops = batcher->ops;
    const struct weir_policy_table table = { .kind = "batching policy",
                                             .name = ops->name,
                                             .params = ops->params,
                                             .count = ops->param_count,
                                             .create = ops->create,
                                             .destroy = ops->destroy };

    WEIR_TRY(weir_policy_state_open(&batcher->policy, &table, params, &batcher->allocator, error));
    ops->rules(batcher->policy.state, &batcher->rules);
    return check_rules(batcher, error);
}

weir_status weir_batcher_create(const struct weir_batching_ops *ops,
                                const struct weir_params *params,
                                const struct weir_allocator *allocator,
                                struct weir_batcher **batcher, struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_batcher *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    *made = (struct weir_batcher){ .allocator = memory,
                                   .ops = ops,
                                   .rules = { .size = sizeof(struct weir_batch_rules) },
                                   .free = NONE,
                                   .nearest_ns = INT64_MAX };
    for (uint32_t i = 0; i < 2 * WEIR_BATCH_LEVELS; i++)
        made->lists[i] = (struct list){ NONE, NONE, 0 };
    const weir_status status = open_policy(made, params, error);
    if (status != WEIR_OK)
        weir_batcher_destroy(made);
    else
        *batcher = made;
    return status;
}

void weir_batcher_destroy(struct weir_batcher *batcher)
{
    if (batcher == NULL)
        return;
    const struct weir_allocator memory = batcher->allocator;
    weir_policy_state_close(&batcher->policy, &memory);
    weir_free(&memory, batcher->all);
    weir_free(&memory, batcher->ids);
    weir_free(&memory, batcher->expired);
    weir_free(&memory, batcher->front);
    weir_free(&memory, batcher);
}

const struct weir_batch_rules *weir_batcher_rules(const struct weir_batcher *batcher)
{
    return &batcher->rules;
}

/* ---- lists ---- */

/* Behind all that came no later; beyond its time, behind all. */
static void link_in(struct weir_batcher *batcher, uint32_t index, uint32_t to)
{
    struct waiting *const all = batcher->all;
    struct list *const list = &batcher->lists[to];
    const bool is_late = to % 2 == 1;
    uint32_t before = list->tail;

    while (!is_late && before != NONE &&
           all[before].request.queued_ns > all[index].request.queued_ns)
        before = all[before].before;
    const uint32_t behind = before == NONE ? list->head : all[before].behind;
    all[index].list = to;
    all[index].before = before;
    all[index].behind = behind;
    *(before == NONE ? &list->head : &all[before].behind) = index;
    *(behind == NONE ? &list->tail : &all[behind].before) = index;
    list->count++;
}

static void link_out(struct weir_batcher *batcher, uint32_t index)
{
    struct waiting *const all = batcher->all;
    struct list *const list = &batcher->lists[all[index].list];

    *(all[index].before == NONE ? &list->head : &all[all[index].before].behind) = all[index].behind;
    *(all[index].behind == NONE ? &list->tail : &all[all[index].behind].before) = all[index].before;
    list->count--;
}

static void forget(struct weir_batcher *batcher, uint32_t index)
{
    link_out(batcher, index);
    batcher->all[index].list = NONE;
    batcher->all[index].behind = batcher->free;
    batcher->free = index;
    batcher->count--;
}

static weir_status take_place(struct weir_batcher *batcher, uint32_t *index)
{
    if (batcher->free == NONE) {
        WEIR_ROOM(&batcher->allocator, batcher->all, batcher->capacity, batcher->used + 1);
        /* Whoever waits can expire or go at once. */
        WEIR_ROOM(&batcher->allocator, batcher->ids, batcher->ids_capacity, batcher->used + 1);
        WEIR_ROOM(&batcher->allocator, batcher->expired, batcher->expired_capacity,
                  batcher->used + 1);
        WEIR_ROOM(&batcher->allocator, batcher->front, batcher->front_capacity, batcher->used + 1);
        *index = batcher->used++;
        return WEIR_OK;
    }
    *index = batcher->free;
    batcher->free = batcher->all[*index].behind;
    return WEIR_OK;
}

/* ---- requests come and go ---- */

static weir_status check_request(const struct weir_batcher *batcher,
                                 const struct weir_batch_request *request, struct weir_error *error)
{
    WEIR_TRY(weir_size_check(request->size, sizeof *request, "the request", error));
    if (request->items >= 1 && request->items <= batcher->rules.most_items &&
        request->timeout_ns >= 0)
        return WEIR_OK;
    return weir_fail(error, WEIR_EINVAL, "a request counts for 1 to %u items of a batch, got %u",
                     batcher->rules.most_items, request->items);
}

static int64_t deadline_of(const struct weir_batcher *batcher,
                           const struct weir_batch_request *request)
{
    int64_t span_ns = batcher->rules.timeout_ns;

    if (request->timeout_ns > 0 && (span_ns == 0 || request->timeout_ns < span_ns))
        span_ns = request->timeout_ns;
    return span_ns == 0 ? INT64_MAX : weir_later_ns(request->queued_ns, span_ns);
}

weir_status weir_batcher_add(struct weir_batcher *batcher, const struct weir_batch_request *request,
                             struct weir_error *error)
{
    const struct weir_batching_ops *const ops = batcher->ops;
    const uint32_t most = batcher->rules.most_waiting;
    uint32_t index = NONE;

    WEIR_TRY(check_request(batcher, request, error));
    const uint32_t level = ops->level == NULL ? 1 : ops->level(batcher->policy.state, request);
    if (level < 1 || level > batcher->rules.levels)
        return weir_fail(error, WEIR_EPOLICY, "batching policy %s: level %u of %u", ops->name,
                         level, batcher->rules.levels);
    const uint32_t list = 2 * (level - 1);
    if (most > 0 && !request->is_back &&
        batcher->lists[list].count + batcher->lists[list + 1].count >= most)
        return weir_fail(error, WEIR_EBUSY, "%u requests of level %u wait already", most, level);
    if (take_place(batcher, &index) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    batcher->all[index] =
        (struct waiting){ .request = *request, .deadline_ns = deadline_of(batcher, request) };
    link_in(batcher, index, list);
    batcher->count++;
    if (batcher->all[index].deadline_ns < batcher->nearest_ns)
        batcher->nearest_ns = batcher->all[index].deadline_ns;
    return WEIR_OK;
}

weir_status weir_batcher_remove(struct weir_batcher *batcher, uint64_t id)
{
    for (uint32_t i = 0; i < batcher->used; i++)
        if (batcher->all[i].list != NONE && batcher->all[i].request.id == id) {
            forget(batcher, i);
            return WEIR_OK;
        }
    return WEIR_ENOTFOUND;
}

uint32_t weir_batcher_waiting(const struct weir_batcher *batcher)
{
    return batcher->count;
}

void weir_batcher_list(const struct weir_batcher *batcher, uint64_t *ids)
{
    uint32_t count = 0;

    for (uint32_t l = 0; l < 2 * batcher->rules.levels; l++)
        for (uint32_t i = batcher->lists[l].head; i != NONE; i = batcher->all[i].behind)
            ids[count++] = batcher->all[i].request.id;
}

/* ---- what happens now ---- */

static void expire(struct weir_batcher *batcher, uint32_t index)
{
    const uint32_t list = batcher->all[index].list;

    if (batcher->rules.keeps_expired) {
        link_out(batcher, index);
        link_in(batcher, index, list + 1);
        return;
    }
    batcher->expired[batcher->expired_count++] = batcher->all[index].request.id;
    forget(batcher, index);
}

/* Those whose time is over, level after level. */
static void expire_all(struct weir_batcher *batcher, int64_t now_ns)
{
    batcher->expired_count = 0;
    if (now_ns < batcher->nearest_ns)
        return;
    batcher->nearest_ns = INT64_MAX;
    for (uint32_t l = 0; l < 2 * batcher->rules.levels; l += 2)
        for (uint32_t i = batcher->lists[l].head, next; i != NONE; i = next) {
            const int64_t deadline_ns = batcher->all[i].deadline_ns;
            next = batcher->all[i].behind;
            if (deadline_ns <= now_ns)
                expire(batcher, i);
            else if (deadline_ns < batcher->nearest_ns)
                batcher->nearest_ns = deadline_ns;
        }
}

/* The level it counts as now, from 0 on. Beyond its time it ages no more. */
static int64_t level_now(const struct weir_batcher *batcher, uint32_t index, int64_t now_ns)
{
    const struct waiting *const one = &batcher->all[index];
    const int64_t level = one->list / 2;
    const int64_t waited_ns = now_ns - one->request.queued_ns;
    const bool ages = batcher->rules.ageing_ns > 0 && one->list % 2 == 0 && waited_ns > 0;
    const int64_t aged = ages ? waited_ns / batcher->rules.ageing_ns : 0;

    return aged < level ? level - aged : 0;
}

/* Whether the first of one list goes before that of another: by the level they count as, within
 * their time or beyond it, and since when they wait. */
static bool goes_before(const struct weir_batcher *batcher, uint32_t first, uint32_t second,
                        int64_t now_ns)
{
    const int64_t one = level_now(batcher, first, now_ns);
    const int64_t other = level_now(batcher, second, now_ns);
    const bool is_late = batcher->all[first].list % 2 == 1;
    const bool is_other_late = batcher->all[second].list % 2 == 1;

    if (one != other)
        return one < other;
    if (is_late != is_other_late)
        return is_other_late;
    return batcher->all[first].request.queued_ns < batcher->all[second].request.queued_ns;
}

/* The front of the queue, as far as a batch goes and one further; places of them in `ids`. */
static void look(struct weir_batcher *batcher, int64_t now_ns)
{
    uint32_t next[2 * WEIR_BATCH_LEVELS]; /* of each list */
    const uint32_t lists = 2 * batcher->rules.levels;
    uint64_t items = 0;

    for (uint32_t l = 0; l < lists; l++)
        next[l] = batcher->lists[l].head;
    batcher->front_count = 0;
    while (items <= batcher->rules.most_items) {
        uint32_t best = NONE;
        for (uint32_t l = 0; l < lists; l++)
            if (next[l] != NONE && (best == NONE || goes_before(batcher, next[l], best, now_ns)))
                best = next[l];
        if (best == NONE)
            return;
        next[batcher->all[best].list] = batcher->all[best].behind;
        items += batcher->all[best].request.items;
        batcher->ids[batcher->front_count] = best;
        batcher->front[batcher->front_count++] = batcher->all[best].request;
    }
}

static weir_status take(struct weir_batcher *batcher, uint32_t count, struct weir_batch *batch,
                        struct weir_error *error)
{
    for (uint32_t i = 0; i < count && i < batcher->front_count; i++)
        batch->items += batcher->front[i].items;
    if (count > batcher->front_count || batch->items > batcher->rules.most_items)
        return weir_fail(error, WEIR_EPOLICY,
                         "batching policy %s sends %u of %u requests, %llu items of at most %u",
                         batcher->ops->name, count, batcher->front_count,
                         (unsigned long long)batch->items, batcher->rules.most_items);
    for (uint32_t i = 0; i < count; i++) {
        forget(batcher, (uint32_t)batcher->ids[i]);
        batcher->ids[i] = batcher->front[i].id;
    }
    batch->count = count;
    return WEIR_OK;
}

weir_status weir_batcher_next(struct weir_batcher *batcher, const struct weir_batch_query *query,
                              struct weir_batch *batch, struct weir_error *error)
{
    struct weir_batch_answer answer = { .wake_ns = INT64_MAX };

    WEIR_TRY(weir_size_check(query->size, sizeof *query, "the query", error));
    expire_all(batcher, query->now_ns);
    *batch = (struct weir_batch){ .expired_count = batcher->expired_count,
                                  .ids = batcher->ids,
                                  .expired = batcher->expired };
    if (query->has_instance && batcher->count > 0) {
        look(batcher, query->now_ns);
        const struct weir_batch_view view = { .size = sizeof view,
                                              .count = batcher->front_count,
                                              .requests = batcher->front,
                                              .now_ns = query->now_ns,
                                              .is_last = query->is_last };
        batcher->ops->form(batcher->policy.state, &view, &answer);
    }
    batch->wake_ns = answer.wake_ns < batcher->nearest_ns ? answer.wake_ns : batcher->nearest_ns;
    return answer.take == 0 ? WEIR_OK : take(batcher, answer.take, batch, error);
}
