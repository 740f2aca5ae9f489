/* SPDX-License-Identifier: Apache-2.0 */
/* Scans with kept grades; see kept_scan.h. */
#include "sched/placement/parts/kept_scan.h"

#include "sched/placement/parts/candidates.h"

#include <math.h>

/* The best place of one node so far. */
struct best {
    const struct weir_scan *scan;
    const struct weir_place_query *query;
    struct weir_grade grade;
};

/* Of equals the first. */
static bool weigh(void *state, const struct weir_alloc *candidate)
{
    struct best *const best = state;
    const struct weir_score score = best->scan->score(best->scan->state, best->query, candidate);
    const bool is_share = weir_shape_is_share(best->query->shape);
    const struct weir_grade grade = { .value = -score.primary,
                                      .tie = -score.secondary,
                                      .gpu = is_share ? candidate->devices[0].gpu : 0,
                                      .mig = is_share ? candidate->devices[0].mig : 0 };

    if (grade.value > best->grade.value ||
        (!(grade.value < best->grade.value) && grade.tie > best->grade.tie))
        best->grade = grade;
    return is_share; /* whole GPUs differ in nothing that is left of them */
}

static struct weir_grade grade_node(const void *rules, const struct weir_grade_site *site)
{
    const struct weir_scan *const scan = rules;
    const struct weir_place_query query = { .size = sizeof query,
                                            .cluster = site->cluster,
                                            .mix = site->mix,
                                            .shape = site->shape,
                                            .owner = site->owner };
    struct best best = { .scan = scan,
                         .query = &query,
                         .grade = { .value = -(double)INFINITY, .tie = -(double)INFINITY } };
    struct weir_twins twins;
    const struct weir_candidate_query candidates = { .cluster = site->cluster,
                                                     .shape = site->shape,
                                                     .node = site->node,
                                                     .twins = &twins,
                                                     .asked = &query };

    weir_twins_find(site->cluster, site->node, &twins);
    (void)weir_candidates_visit(&candidates, weigh, &best);
    return best.grade;
}

/* The places of these on one node differ by the one GPU, or in nothing that is left. */
static bool is_kept(const struct weir_place_query *query)
{
    const uint32_t kind = query->shape->kind;

    return query->reusable_count == 0 && (weir_shape_is_share(query->shape) ||
                                          kind == WEIR_SHAPE_CPU || kind == WEIR_SHAPE_WHOLE);
}

weir_status weir_kept_scan_place(struct weir_grades *grades, const struct weir_scan *scan,
                                 bool uses_peers, const struct weir_place_query *query,
                                 struct weir_place_answer *answer, struct weir_error *error)
{
    const struct weir_grader grader = { .grade = grade_node,
                                        .rules = scan,
                                        .uses_workers = uses_peers,
                                        .uses_owner = uses_peers,
                                        .tells_ties = true };

    return is_kept(query) ? weir_grades_place(grades, &grader, query, answer, error)
                          : weir_scan_place(scan, query, answer, error);
}
