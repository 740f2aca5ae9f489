/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A suite: scenarios x traces x policies as one file, which is read as the options of weir compare
 * that it stands for.
 *
 *   suite: lists                            a name
 *   scenario: ../reference/openb.yaml       seen from the file
 *   set: {compare: null}                    as --set
 *   policies: {sched.placement: [fgd, weir]}
 *   blocks:                                 each one observation; the same paths in all of them
 *     - {fill[0].trace: a.csv, fill[0].order_key: [a1, a2]}     a list: its mean counts
 *     - {fill[0].trace: b.csv, fill[0].order_key: [b1, b2]}
 *   metrics: [alloc.gpu_pct]                default: the goal
 *   min_effect: 0.5%
 *   replications: 5
 *
 * A block may have another `scenario:`. Files that a value names are seen from the scenario, as for
 * --set.
 */
#ifndef SIM_CLI_SUITE_FILE_H
#define SIM_CLI_SUITE_FILE_H

#include "sim/cli/options.h"
#include "sim/scenario/arena.h"

struct sim_suite {
    struct sim_arena arena; /* of all texts */
    const char *name, *scenario, *block, *min_effect;
    struct sim_words sets, axes, metrics;
    uint32_t replications; /* 0 = the scenario's */
};

/* Whether the file begins as a suite does, comments apart. */
bool sim_suite_is(const char *path);
/* An exit code; what is wrong was printed. `suite` is always to be cleared. */
int sim_suite_read(const char *path, struct sim_suite *suite);
void sim_suite_clear(struct sim_suite *suite);

#endif
