/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The batcher against a plain oracle: Triton's loop written down over a sorted array, in the order
 * of the original. Random rules, and requests that come, go, return and wait too long.
 */
#include "weir/batching.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, LIST = 4, LISTS_AT = 10, VALUES = LISTS_AT + 2 * LIST, STEPS = 400 };

/* The parameters of "dynamic", as the oracle takes them. */
struct rules {
    uint32_t max_batch, levels, default_level, max_queue;
    uint32_t preferred[LIST], preferred_count;
    int32_t bands[LIST];
    uint32_t bands_count;
    int64_t delay_ns, timeout_ns, ageing_ns;
    bool delays;
};

struct standing {
    struct weir_batch_request request;
    uint32_t level;
    uint32_t level_now; /* that it counts as */
    bool is_late;
    uint64_t came;
};

struct oracle {
    struct rules rules;
    struct standing all[MOST];
    uint32_t count;
    uint64_t came;
};

/* ---- the oracle ---- */

static int by_turn(const void *a, const void *b)
{
    const struct standing *first = a;
    const struct standing *second = b;
    if (first->level != second->level)
        return first->level < second->level ? -1 : 1;
    if (first->is_late != second->is_late)
        return first->is_late ? 1 : -1;
    if (!first->is_late && first->request.queued_ns != second->request.queued_ns)
        return first->request.queued_ns < second->request.queued_ns ? -1 : 1;
    return first->came < second->came ? -1 : 1;
}

/* As they are served now. */
static int by_age(const void *a, const void *b)
{
    const struct standing *first = a;
    const struct standing *second = b;
    if (first->level_now != second->level_now)
        return first->level_now < second->level_now ? -1 : 1;
    if (first->is_late != second->is_late)
        return first->is_late ? 1 : -1;
    if (first->level == second->level)
        return by_turn(a, b);
    if (first->request.queued_ns != second->request.queued_ns)
        return first->request.queued_ns < second->request.queued_ns ? -1 : 1;
    return first->level < second->level ? -1 : 1;
}

static uint32_t level_of(const struct rules *rules, int32_t priority)
{
    if (priority < 0)
        return rules->default_level;
    for (uint32_t i = 0; i < rules->bands_count; i++)
        if (priority >= rules->bands[i])
            return i + 1;
    return rules->levels;
}

static bool oracle_add(struct oracle *oracle, const struct weir_batch_request *request)
{
    const uint32_t level = level_of(&oracle->rules, request->priority);
    uint32_t there = 0;
    for (uint32_t i = 0; i < oracle->count; i++)
        there += oracle->all[i].level == level;
    if (oracle->rules.max_queue > 0 && there >= oracle->rules.max_queue)
        return false;
    oracle->all[oracle->count++] =
        (struct standing){ .request = *request, .level = level, .came = oracle->came++ };
    return true;
}

static int64_t deadline_of(const struct oracle *oracle, const struct standing *standing)
{
    int64_t span_ns = oracle->rules.timeout_ns;
    const int64_t own_ns = standing->request.timeout_ns;
    if (own_ns > 0 && (span_ns == 0 || own_ns < span_ns))
        span_ns = own_ns;
    return span_ns == 0 || standing->is_late ? INT64_MAX : standing->request.queued_ns + span_ns;
}

static void drop(struct oracle *oracle, uint32_t index)
{
    memmove(&oracle->all[index], &oracle->all[index + 1],
            (oracle->count - index - 1) * sizeof oracle->all[0]);
    oracle->count--;
}

/* The ids whose time is over. */
static uint32_t oracle_expire(struct oracle *oracle, int64_t now_ns, uint64_t *ids)
{
    uint32_t expired = 0;
    qsort(oracle->all, oracle->count, sizeof oracle->all[0], by_turn);
    for (uint32_t i = 0; i < oracle->count;) {
        if (deadline_of(oracle, &oracle->all[i]) > now_ns) {
            i++;
        } else if (oracle->rules.delays) {
            oracle->all[i].is_late = true;
            oracle->all[i++].came = oracle->came++;
        } else {
            ids[expired++] = oracle->all[i].request.id;
            drop(oracle, i);
        }
    }
    qsort(oracle->all, oracle->count, sizeof oracle->all[0], by_turn);
    return expired;
}

static bool is_preferred(const struct rules *rules, uint64_t items)
{
    for (uint32_t i = 0; i < rules->preferred_count; i++)
        if (items == rules->preferred[i])
            return true;
    return false;
}

static void oracle_age(struct oracle *oracle, int64_t now_ns)
{
    for (uint32_t i = 0; i < oracle->count; i++) {
        struct standing *one = &oracle->all[i];
        const int64_t ageing_ns = oracle->rules.ageing_ns;
        one->level_now = one->level;
        for (int64_t waited_ns = now_ns - one->request.queued_ns;
             ageing_ns > 0 && !one->is_late && waited_ns >= ageing_ns && one->level_now > 1;
             waited_ns -= ageing_ns)
            one->level_now--;
    }
    qsort(oracle->all, oracle->count, sizeof oracle->all[0], by_age);
}

/* GetDynamicBatch: how many go, 0 = wait. */
static uint32_t oracle_form(const struct oracle *oracle, int64_t now_ns)
{
    const struct rules *rules = &oracle->rules;
    uint64_t most_preferred = rules->preferred_count == 0 ? rules->max_batch : 0;
    uint64_t pending = 0;
    uint32_t count = 0;
    uint32_t best = 0;
    int64_t oldest_ns = INT64_MAX;
    bool send_now = false;
    for (uint32_t i = 0; i < rules->preferred_count; i++)
        if (rules->preferred[i] > most_preferred)
            most_preferred = rules->preferred[i];
    for (; count < oracle->count; count++) {
        const struct weir_batch_request *request = &oracle->all[count].request;
        if (count > 0) {
            if (pending + request->items > most_preferred && best == 0)
                best = count;
            if (pending + request->items > rules->max_batch ||
                request->shape != oracle->all[0].request.shape) {
                send_now = true;
                break;
            }
        }
        pending += request->items;
        if (request->queued_ns < oldest_ns)
            oldest_ns = request->queued_ns;
        if (is_preferred(rules, pending))
            best = count + 1;
    }
    if (count == 0)
        return 0;
    const bool is_late = rules->delay_ns > 0 && now_ns - oldest_ns >= rules->delay_ns;
    if (best > 0 && !is_late)
        return best;
    return send_now || pending >= most_preferred || is_late || rules->delay_ns == 0 ? count : 0;
}

/* ---- the game ---- */

static uint32_t draw(struct draws *draws, uint32_t below)
{
    return (uint32_t)draws_below(draws, below);
}

static struct rules draw_rules(struct draws *draws)
{
    struct rules rules = { .max_batch = 1 + draw(draws, 12), .levels = 1 + draw(draws, 4) };
    rules.default_level = 1 + draw(draws, rules.levels);
    rules.max_queue = draw(draws, 3) == 0 ? 1 + draw(draws, 20) : 0;
    rules.preferred_count = draw(draws, LIST);
    for (uint32_t i = 0; i < rules.preferred_count; i++)
        rules.preferred[i] = 1 + draw(draws, rules.max_batch);
    rules.bands_count = 1 + draw(draws, rules.levels);
    for (uint32_t i = 0; i < rules.bands_count; i++)
        rules.bands[i] = 90 - 20 * (int32_t)i;
    rules.delay_ns = draw(draws, 2) * (1 + (int64_t)draw(draws, 30)) * 1000000;
    rules.timeout_ns = draw(draws, 2) * (1 + (int64_t)draw(draws, 60)) * 1000000;
    rules.ageing_ns = draw(draws, 2) * (1 + (int64_t)draw(draws, 20)) * 1000000;
    rules.delays = draw(draws, 2) == 1;
    return rules;
}

static struct weir_batcher *batcher_of(const struct rules *rules)
{
    double values[VALUES] = { rules->max_batch,
                              rules->preferred_count,
                              (double)rules->delay_ns * 1e-9,
                              rules->levels,
                              rules->default_level,
                              rules->bands_count,
                              (double)rules->timeout_ns * 1e-9,
                              rules->delays,
                              rules->max_queue,
                              (double)rules->ageing_ns * 1e-9 };
    uint32_t count = LISTS_AT;
    for (uint32_t i = 0; i < rules->preferred_count; i++)
        values[count++] = rules->preferred[i];
    for (uint32_t i = 0; i < rules->bands_count; i++)
        values[count++] = rules->bands[i];
    const struct weir_params params = { values, count, 0 };
    struct weir_batcher *batcher = NULL;
    CHECK_I64(weir_batcher_create(weir_batching_find("dynamic"), &params, NULL, &batcher, NULL),
              WEIR_OK);
    return batcher;
}

struct game {
    struct draws draws;
    struct oracle oracle;
    struct weir_batcher *batcher;
    int64_t now_ns;
    uint64_t next_id;
    uint32_t batches, expired, refused;
    bool is_same;
};

static void come(struct game *game, bool is_back)
{
    struct draws *draws = &game->draws;
    const uint32_t most = game->oracle.rules.max_batch < 4 ? game->oracle.rules.max_batch : 4;
    struct weir_batch_request request = { .size = sizeof request,
                                          .items = 1 + draw(draws, most),
                                          .id = game->next_id++,
                                          .shape = draw(draws, 8) == 0,
                                          .queued_ns = game->now_ns,
                                          .priority = (int32_t)draw(draws, 102) - 1 };
    if (draw(draws, 4) == 0)
        request.timeout_ns = (1 + (int64_t)draw(draws, 40)) * 1000000;
    if (is_back)
        request.queued_ns -= (int64_t)draw(draws, 20) * 1000000;
    if (game->oracle.count == MOST)
        return;
    const bool is_in = weir_batcher_add(game->batcher, &request, NULL) == WEIR_OK;
    game->is_same = game->is_same && is_in == oracle_add(&game->oracle, &request);
    game->refused += !is_in;
}

static void leave(struct game *game)
{
    if (game->oracle.count == 0)
        return;
    const uint32_t index = draw(&game->draws, game->oracle.count);
    CHECK_I64(weir_batcher_remove(game->batcher, game->oracle.all[index].request.id), WEIR_OK);
    drop(&game->oracle, index);
}

static bool are_equal(const uint64_t *first, const uint64_t *second, uint32_t count)
{
    return count == 0 || memcmp(first, second, count * sizeof *first) == 0;
}

/* Both decide; what they send must be the same, and the order of what is left. */
static void decide(struct game *game)
{
    struct oracle *oracle = &game->oracle;
    const struct weir_batch_query query = { .size = sizeof query,
                                            .has_instance = draw(&game->draws, 3) > 0,
                                            .now_ns = game->now_ns };
    uint64_t ids[MOST];
    struct weir_batch batch;
    CHECK_I64(weir_batcher_next(game->batcher, &query, &batch, NULL), WEIR_OK);
    const uint32_t expired = oracle_expire(oracle, game->now_ns, ids);
    game->is_same =
        game->is_same && batch.expired_count == expired && are_equal(batch.expired, ids, expired);
    oracle_age(oracle, game->now_ns);
    const uint32_t count = query.has_instance ? oracle_form(oracle, game->now_ns) : 0;
    for (uint32_t i = 0; i < count; i++)
        ids[i] = oracle->all[i].request.id;
    game->is_same = game->is_same && batch.count == count && are_equal(batch.ids, ids, count);
    for (uint32_t i = 0; i < count; i++)
        drop(oracle, 0);
    for (uint32_t i = 0; count == 0 && i < oracle->count; i++)
        game->is_same = game->is_same && batch.wake_ns <= deadline_of(oracle, &oracle->all[i]);
    game->is_same = game->is_same && weir_batcher_waiting(game->batcher) == oracle->count;
    if (!game->is_same)
        return;
    weir_batcher_list(game->batcher, ids);
    qsort(oracle->all, oracle->count, sizeof oracle->all[0], by_turn);
    for (uint32_t i = 0; i < oracle->count; i++)
        game->is_same = game->is_same && ids[i] == oracle->all[i].request.id;
    game->batches += count > 0;
    game->expired += expired;
}

static void play(struct game *game, uint64_t seed)
{
    game->draws = draws_seeded(seed);
    game->oracle.count = 0;
    game->oracle.rules = draw_rules(&game->draws);
    game->batcher = batcher_of(&game->oracle.rules);
    game->is_same = true;
    for (uint32_t step = 0; step < STEPS && game->is_same; step++) {
        game->now_ns += draw(&game->draws, 4) * INT64_C(1000000);
        const uint32_t what = draw(&game->draws, 10);
        if (what < 6)
            come(game, what == 0);
        else if (what == 6)
            leave(game);
        else
            decide(game);
    }
    if (!CHECK(game->is_same))
        printf("    seed %llu: another batch than the oracle's\n", (unsigned long long)seed);
    weir_batcher_destroy(game->batcher);
}

/* covers: S3.25 S3.26 */
static void batches_are_those_of_the_plain_rules(void)
{
    struct game *game = calloc(1, sizeof *game);
    for (uint64_t seed = 1; game != NULL && seed <= 500; seed++)
        play(game, seed);
    CHECK(game != NULL && game->batches > 10000 && game->expired > 1000 && game->refused > 1000);
    free(game);
}

static const struct test tests[] = {
    { "batches are those of the plain rules", batches_are_those_of_the_plain_rules },
};
TEST_MAIN(tests)
