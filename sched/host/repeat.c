/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question that was answered with nothing, asked again: the plan stands.
 *
 * Policies that say so (WEIR_SCALING_REPEATS, WEIR_PLACEMENT_REPEATS) plan by the inventory and by
 * a few numbers of every pool alone. While these are as they were when a plan came to nothing, the
 * next one would be the same, denials, notes and choices included, so it is not worked out again: a
 * controller that calls every few seconds pays for what changed.
 *
 * Invariant: while the answer is kept, the host's plan is the one that it belongs to.
 * Cost: O(pools).
 */
#include "sched/cluster/state.h"
#include "sched/host/state.h"
#include "sched/internal/plan_state.h"
#include "sched/internal/shape_hash.h"

#include <string.h>

void weir_host_clear_plan(struct weir_host *host)
{
    weir_plan_reset(host->plan, host->next_worker, host->explain);
    host->answer.is_kept = false;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* All of a pool that those policies read; how many workers it has is in the inventory. */
static uint64_t pool_hash(const struct weir_pool_view *pool)
{
    const struct weir_estimate *const estimate = &pool->estimate;
    const uint64_t told =
        weir_hash_words((uint64_t)pool->pipeline << 32 | (uint32_t)pool->requested_workers,
                        (uint64_t)pool->batch_size << 32 | pool->slots, pool->finished,
                        weir_shape_hash(&pool->shape));
    const uint64_t speed =
        weir_hash_words(bits_of(estimate->batches_per_s), bits_of(estimate->returns_per_batch),
                        bits_of(pool->over_provision), bits_of(pool->speed_hint_per_s));

    return weir_hash_add(told, speed);
}

static uint64_t question(const struct weir_host *host)
{
    uint64_t hash = host->pools.count;

    for (uint32_t i = 0; i < host->pools.count; i++)
        hash = weir_hash_add(hash, pool_hash(weir_view_pool(&host->view, i)));
    return hash;
}

static bool may_repeat(const struct weir_host *host, const struct weir_policy_set *set)
{
    return set == &host->main && (set->scaling->flags & WEIR_SCALING_REPEATS) != 0 &&
           (set->placement->flags & WEIR_PLACEMENT_REPEATS) != 0 && host->limits.deadline_ns == 0 &&
           host->limits.max_actions == 0;
}

bool weir_host_is_answered(const struct weir_host *host, const struct weir_policy_set *set)
{
    const struct weir_change_mark now = weir_cluster_change_mark(host->inventory);
    const struct weir_host_answer *const answer = &host->answer;

    return answer->is_kept && may_repeat(host, set) && answer->changes == now.count &&
           answer->stamp == now.stamp && answer->question == question(host);
}

/* Slots are set anew with every plan. */
static bool changes_nothing(uint32_t verb)
{
    return verb == WEIR_VERB_DENY || verb == WEIR_VERB_SET_SLOTS;
}

void weir_host_keep_answer(struct weir_host *host, const struct weir_policy_set *set)
{
    const uint32_t count = weir_plan_settle(host->plan);
    bool is_nothing = may_repeat(host, set);

    for (uint32_t i = 0; is_nothing && i < count; i++)
        is_nothing = changes_nothing(weir_plan_settled(host->plan, i)->verb);
    if (!is_nothing)
        return;
    const struct weir_change_mark now = weir_cluster_change_mark(host->inventory);
    host->answer = (struct weir_host_answer){
        .is_kept = true, .changes = now.count, .stamp = now.stamp, .question = question(host)
    };
}
