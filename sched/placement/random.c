/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "random": a node drawn uniformly among those that fit, then one of its candidates,
 * uniformly too; to remove, any candidate. All draws come from the query's seed. Workers to reuse
 * are not preferred: a worker comes back only when exactly its place is drawn.
 */
#include "sched/placement/parts/rooms.h"
#include "sched/placement/parts/scan.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"
#include "sched/internal/hash.h"

/* Draw number `which` below `count`. The bias of the remainder is below count / 2^64. */
static uint32_t draw(uint64_t seed, uint64_t which, uint32_t count)
{
    return (uint32_t)(weir_hash_mix(weir_hash_mix(seed) + which) % count);
}

struct pick {
    struct weir_alloc *alloc;
    uint32_t skip; /* candidates still to pass over */
};

static bool count_all(void *state, const struct weir_alloc *candidate)
{
    (void)state;
    (void)candidate;
    return true;
}

static bool pick_one(void *state, const struct weir_alloc *candidate)
{
    struct pick *const pick = state;

    if (pick->skip-- > 0)
        return true;
    weir_place_copy(pick->alloc, candidate);
    return false;
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    struct weir_choice *const choice = &answer->choice;
    struct weir_candidate_query candidates = { .cluster = query->cluster,
                                               .shape = query->shape,
                                               .asked = query };

    (void)state; /* there is none */
    weir_answer_begin(answer);
    const struct weir_room_walk walk = weir_rooms_begin(query->cluster, query->shape);
    const uint32_t fitting = weir_rooms_survey(&walk, choice);
    if (fitting == 0)
        return weir_scan_busy(choice, error);
    candidates.node = weir_rooms_at(&walk, draw(query->seed, 1, fitting));
    const uint32_t count = weir_candidates_visit(&candidates, count_all, NULL);
    struct pick pick = { .alloc = &answer->alloc, .skip = draw(query->seed, 0, count) };
    (void)weir_candidates_visit(&candidates, pick_one, &pick);
    choice->candidates = choice->ties = count;
    answer->reused = weir_scan_find_reused(query, &answer->alloc);
    return WEIR_OK;
}

static weir_status evict(void *state, const struct weir_evict_query *query, uint64_t *worker,
                         struct weir_error *error)
{
    const uint32_t count = weir_evict_count(query);

    (void)state; /* there is none */
    if (count == 0)
        return weir_evict_nobody(query, error);
    *worker = weir_evict_candidate(query, draw(query->seed, 0, count));
    return WEIR_OK;
}

const struct weir_placement_ops weir_placement_random = {
    .size = sizeof weir_placement_random,
    .abi = WEIR_ABI_MAJOR,
    .name = "random",
    .summary = "any node that fits, any of its places; the floor that every policy must beat",
    .flags = WEIR_PLACEMENT_WITHOUT_MIX,
    .place = place,
    .evict = evict,
};
