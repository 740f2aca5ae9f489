/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement without anything kept: every place is looked at, every score recomputed. The policies
 * that keep what they know must give the same answers.
 */
#ifndef TESTS_SUPPORT_ORACLE_PLAIN_H
#define TESTS_SUPPORT_ORACLE_PLAIN_H

#include "sched/placement/fgd.h"
#include "sched/placement/parts/grades.h"

weir_status plain_fgd_place(const struct weir_fgd_rules *rules,
                            const struct weir_place_query *query, struct weir_place_answer *answer,
                            struct weir_error *error);
weir_status plain_fgd_evict(const struct weir_fgd_rules *rules,
                            const struct weir_evict_query *query, uint64_t *worker,
                            struct weir_error *error);
weir_status plain_single_place(const struct weir_fgd_rules *rules,
                               const struct weir_place_query *query,
                               struct weir_place_answer *answer, struct weir_error *error);
weir_status plain_single_evict(const struct weir_fgd_rules *rules,
                               const struct weir_evict_query *query, uint64_t *worker,
                               struct weir_error *error);
weir_status plain_grades_place(const struct weir_grader *grader,
                               const struct weir_place_query *query,
                               struct weir_place_answer *answer, struct weir_error *error);

#endif
