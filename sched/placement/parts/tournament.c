/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tournament tree; see tournament.h.
 *
 * Invariant: winners[i] is the better of its children's winners, the left one when both are absent.
 */
#include "sched/placement/parts/tournament.h"

#include "sched/internal/alloc.h"

#include <string.h>

static bool is_absent(const struct weir_tournament *tournament, uint32_t place)
{
    return tournament->keys[place].primary == INT64_MAX;
}

weir_status weir_tournament_reset(struct weir_tournament *tournament,
                                  const struct weir_allocator *allocator, uint32_t count)
{
    uint32_t leaves = tournament->leaves > 0 ? tournament->leaves : 1;

    while (leaves < count)
        leaves *= 2;
    if (leaves != tournament->leaves) {
        const struct weir_tournament larger = {
            .keys = weir_alloc(allocator, leaves, sizeof *larger.keys),
            .winners = weir_alloc(allocator, (size_t)leaves * 2, sizeof *larger.winners),
            .leaves = leaves,
        };
        weir_tournament_free(tournament, allocator);
        *tournament = larger;
        if (larger.keys == NULL || larger.winners == NULL) {
            weir_tournament_free(tournament, allocator);
            return WEIR_ENOMEM;
        }
    }
    tournament->count = count;
    for (uint32_t i = 0; i < leaves; i++) {
        tournament->keys[i] = WEIR_KEY_ABSENT;
        tournament->winners[leaves + i] = i;
    }
    for (uint32_t i = leaves - 1; i > 0; i--)
        tournament->winners[i] = tournament->winners[(size_t)2 * i];
    return WEIR_OK;
}

void weir_tournament_free(struct weir_tournament *tournament,
                          const struct weir_allocator *allocator)
{
    weir_free(allocator, tournament->keys);
    weir_free(allocator, tournament->winners);
    *tournament = (struct weir_tournament){ .keys = NULL };
}

void weir_tournament_set(struct weir_tournament *tournament, uint32_t place,
                         const struct weir_key *key)
{
    uint32_t *const winners = tournament->winners;
    const struct weir_key *const keys = tournament->keys;

    if (memcmp(&keys[place], key, sizeof *key) == 0)
        return;
    tournament->keys[place] = *key;
    for (uint32_t i = (tournament->leaves + place) / 2; i > 0; i /= 2) {
        const uint32_t left = winners[(size_t)2 * i];
        const uint32_t right = winners[(size_t)2 * i + 1];
        const uint32_t winner = weir_key_less(&keys[right], &keys[left]) ? right : left;
        if (winner == winners[i] && winner != place)
            return; /* somebody else won here before and does again */
        winners[i] = winner;
    }
}

uint32_t weir_tournament_best(const struct weir_tournament *tournament)
{
    if (tournament->count == 0)
        return WEIR_NO_INDEX;
    const uint32_t best = tournament->winners[1];
    return is_absent(tournament, best) ? WEIR_NO_INDEX : best;
}

uint32_t weir_tournament_second(const struct weir_tournament *tournament)
{
    const uint32_t best = weir_tournament_best(tournament);
    uint32_t second = WEIR_NO_INDEX;

    if (best == WEIR_NO_INDEX)
        return WEIR_NO_INDEX;
    /* The second lost against the first somewhere on the first one's way up. */
    for (uint32_t i = tournament->leaves + best; i > 1; i /= 2) {
        const uint32_t rival = tournament->winners[i ^ 1];
        if (!is_absent(tournament, rival) &&
            (second == WEIR_NO_INDEX ||
             weir_key_less(&tournament->keys[rival], &tournament->keys[second])))
            second = rival;
    }
    return second;
}
