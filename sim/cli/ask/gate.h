/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --fail-if: whether a condition that must not hold does, as far as the runs can tell.
 *
 *   throughput < -2%        of every variant: its change against the baseline (paired)
 *   fix: latency p95 > 1 h  of one variant: its mean
 *
 * Worse: the whole interval lies where the condition holds. Not worse: none of it does. Undecided:
 * both are possible, and so many more runs would tell if the means stay where they are. A change
 * smaller than the least effect of interest counts as none.
 */
#ifndef SIM_CLI_GATE_H
#define SIM_CLI_GATE_H

#include "analysis/points.h"
#include "sim/cli/experiment/experiment.h"
#include "sim/scenario/read/condition_text.h"

enum sim_gate_verdict { SIM_GATE_NOT_WORSE, SIM_GATE_UNDECIDED, SIM_GATE_WORSE };

struct sim_gate {
    const struct sim_words *conditions;
    double min_effect; /* relative; 0 = every one counts */
    struct sim_arena arena;
    struct sim_expect *expects; /* by condition */
    char **sentences;           /* one a condition, variant and point */
    enum sim_gate_verdict *verdicts;
    size_t count;
};

/* Reads the conditions against the variants there are, the baseline first; windows are those of the
 * scenario (NULL = none). An exit code, mistakes are printed. To be cleared in any case. */
int sim_gate_read(struct sim_gate *gate, const struct sim_scenario *scenario, char *const *labels,
                  size_t count);
/* The same against the variants of an experiment, and against those of a database. */
int sim_gate_read_experiment(struct sim_gate *gate, const struct sim_experiment *experiment);
int sim_gate_read_database(struct sim_gate *gate, struct an_db *db, const struct an_points *points);
/* Judges them on the database. */
weir_status sim_gate_judge(struct sim_gate *gate, struct an_db *db, const struct an_points *points,
                           const char *baseline, struct weir_error *error);
enum sim_gate_verdict sim_gate_verdict(const struct sim_gate *gate);
/* Sentences, the worst first; to `out`. */
void sim_gate_print(const struct sim_gate *gate, FILE *out);
void sim_gate_clear(struct sim_gate *gate);

/* The verdict on an interval [low, high] around `mean` of n runs, when the condition is "less than
 * `bound`" (or more, for `is_less` false). `more` = further runs that would tell, 0 = not known. */
enum sim_gate_verdict sim_gate_decide(const struct an_cell *interval, double bound, bool is_less,
                                      uint32_t *more);

#endif
