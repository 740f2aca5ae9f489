/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placement without anything kept; see the header. */
#include "tests/support/oracle_plain.h"

#include "sched/cluster/state.h"
#include "sched/placement/parts/candidates.h"
#include "sched/placement/parts/grade_search.h"
#include "sched/placement/parts/scan.h"

#include <math.h>

/* ---- fgd ---- */

/* What the scan hands back to its score function. */
struct plain {
    const struct weir_fgd_rules *rules;
};

static struct weir_score scan_score(void *state, const struct weir_place_query *query,
                                    const struct weir_alloc *candidate)
{
    const struct plain *const plain = state;

    return weir_fgd_plain_score(plain->rules, query, candidate);
}

weir_status plain_fgd_place(const struct weir_fgd_rules *rules,
                            const struct weir_place_query *query, struct weir_place_answer *answer,
                            struct weir_error *error)
{
    struct plain plain = { .rules = rules };
    const struct weir_scan scan = {
        .score = scan_score,
        .state = &plain,
        .reuse_bonus = rules->bonus_applies == WEIR_FGD_REUSED ? rules->bonus : 0,
        .mode = WEIR_CANDIDATES_ALL,
    };

    return weir_scan_place(&scan, query, answer, error);
}

weir_status plain_fgd_evict(const struct weir_fgd_rules *rules,
                            const struct weir_evict_query *query, uint64_t *worker,
                            struct weir_error *error)
{
    const struct weir_cluster *const cluster = query->cluster;
    const uint32_t count = weir_evict_count(query);
    struct weir_key best = WEIR_KEY_ABSENT;
    uint64_t best_worker = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct weir_worker candidate;
        const uint64_t id = weir_evict_candidate(query, i);
        if (!weir_cluster_worker(cluster, id, &candidate))
            return weir_fail(error, WEIR_ENOTFOUND, "there is no worker %llu",
                             (unsigned long long)id);
        const struct weir_alloc *const alloc = &candidate.alloc;
        const double change = weir_frag_change(cluster, query->mix, rules->metric, alloc, -1);
        const struct weir_key key = {
            .primary = weir_fgd_steps(rules, change),
            .secondary = weir_fgd_evict_tie_key(rules, weir_stock_free(cluster, alloc->node),
                                                weir_stock_total(cluster, alloc->node)),
            .order = i,
        };
        if (weir_key_less(&key, &best)) {
            best = key;
            best_worker = id;
        }
    }
    if (count == 0)
        return weir_evict_nobody(query, error);
    *worker = best_worker;
    return WEIR_OK;
}

/* ---- fgd in single precision ---- */

static struct weir_score fresh_score(void *state, const struct weir_place_query *query,
                                     const struct weir_alloc *candidate)
{
    const struct weir_fgd_rules *const *const rules = state;

    return weir_fgd_single_score(*rules, query, candidate, false);
}

static struct weir_score reuse_score(void *state, const struct weir_place_query *query,
                                     const struct weir_alloc *candidate)
{
    const struct weir_fgd_rules *const *const rules = state;

    return weir_fgd_single_score(*rules, query, candidate, true);
}

weir_status plain_single_place(const struct weir_fgd_rules *rules,
                               const struct weir_place_query *query,
                               struct weir_place_answer *answer, struct weir_error *error)
{
    struct weir_place_query asked = *query;
    /* Twins are compared by the number of free engines, which is not enough for the lowest ones. */
    const struct weir_scan scan = {
        .score = fresh_score,
        .reuse_score = reuse_score,
        .state = &rules,
        .mode = rules->engines == WEIR_FGD_LOWEST_ENGINES ? WEIR_CANDIDATES_ALL
                                                          : WEIR_CANDIDATES_DISTINCT,
        .first_whole = rules->whole == WEIR_FGD_FIRST_FREE,
    };

    if (rules->reuse == WEIR_FGD_REUSE_NEVER)
        asked.reusable_count = 0;
    return weir_scan_place(&scan, &asked, answer, error);
}

static bool is_better(struct weir_score a, struct weir_score b)
{
    return a.primary < b.primary || (!(b.primary < a.primary) && a.secondary < b.secondary);
}

/* Of equal workers the one on the earlier node goes, then the one with the lower id. */
static bool comes_first(const struct weir_worker *a, uint32_t node, uint64_t id)
{
    return a->alloc.node < node || (a->alloc.node == node && a->id < id);
}

weir_status plain_single_evict(const struct weir_fgd_rules *rules,
                               const struct weir_evict_query *query, uint64_t *worker,
                               struct weir_error *error)
{
    const uint32_t count = weir_evict_count(query);
    struct weir_score best = { .primary = (double)INFINITY, .secondary = (double)INFINITY };
    uint64_t best_worker = 0;
    uint32_t best_node = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct weir_worker candidate;
        const uint64_t id = weir_evict_candidate(query, i);
        if (!weir_cluster_worker(query->cluster, id, &candidate))
            return weir_fail(error, WEIR_ENOTFOUND, "there is no worker %llu",
                             (unsigned long long)id);
        const struct weir_score score = weir_fgd_single_victim(rules, query, &candidate.alloc);
        if (i == 0 || is_better(score, best) ||
            (!is_better(best, score) && comes_first(&candidate, best_node, best_worker))) {
            best = score;
            best_worker = id;
            best_node = candidate.alloc.node;
        }
    }
    if (count == 0)
        return weir_evict_nobody(query, error);
    *worker = best_worker;
    return WEIR_OK;
}

/* ---- grades ---- */

weir_status plain_grades_place(const struct weir_grader *grader,
                               const struct weir_place_query *query,
                               struct weir_place_answer *answer, struct weir_error *error)
{
    struct weir_grade_search search = weir_grade_search_begin(grader, query);

    for (uint32_t n = 0; n < query->cluster->node_count; n++) {
        const uint32_t reason = weir_candidates_reason(query->cluster, query->shape, n);
        const struct weir_grade_site site = {
            .cluster = query->cluster, .shape = query->shape, .mix = query->mix, .node = n
        };
        if (reason == WEIR_REASON_NONE)
            weir_grade_search_weigh(&search, n, weir_grader_ask(grader, &site));
        else
            weir_grade_search_reject(&search, reason);
    }
    return weir_grade_search_end(&search, answer, error);
}
