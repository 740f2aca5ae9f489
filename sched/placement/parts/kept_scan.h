/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default scan (scan.h) without asking every node: for scores that depend on the place, on what
 * is free on its node and on how many of the asker's own workers are there, and on nothing else.
 *
 * The best place of a node is its grade (grades.h), which is kept until the node changes. The
 * answer is that of weir_scan_place; its report counts nodes, not places, as that of every graded
 * policy.
 */
#ifndef SCHED_PLACEMENT_KEPT_SCAN_H
#define SCHED_PLACEMENT_KEPT_SCAN_H

#include "sched/placement/parts/grades.h"
#include "sched/placement/parts/scan.h"

/* `uses_peers`: the score looks at workers of the owner. O(log nodes) for every node that changed
 * since the same was asked; O(nodes) with workers to reuse, and for shapes whose places on a node
 * differ by more than a share of a GPU. */
weir_status weir_kept_scan_place(struct weir_grades *grades, const struct weir_scan *scan,
                                 bool uses_peers, const struct weir_place_query *query,
                                 struct weir_place_answer *answer, struct weir_error *error);

#endif
