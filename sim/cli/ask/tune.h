/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir search --tune: every policy gets the same budget of runs to find its parameters, by
 * successive halving (Jamieson and Talwalkar 2016), and what it found is judged where nothing was
 * tuned: on replications that were not seen, and on other scenarios.
 *
 * Of K settings of a policy the first is its default, the others are a Latin hypercube of its
 * numbers (within a quarter and four times of their defaults). All run once; the better half runs
 * as often again, and so on until one is left: K + K/2 * (log2(K) - 1) runs.
 */
#ifndef SIM_CLI_TUNE_H
#define SIM_CLI_TUNE_H

#include "analysis/goal.h"
#include "sim/cli/experiment/experiment.h"
#include "sim/cli/experiment/simulate_options.h"
#include "sim/cli/table.h"

enum { SIM_TUNE_POLICIES = 16, SIM_TUNE_SETTINGS = 64 };

/* One policy on trial. */
struct sim_tune_arm {
    const char *kind, *name;
    size_t first, count; /* its settings, as arms of the experiment; the first is the default */
    bool is_left[SIM_TUNE_SETTINGS];
    double means[SIM_TUNE_SETTINGS]; /* where they were seen last */
    uint32_t runs;
    size_t winner;
};

struct sim_tune {
    struct sim_tune_arm arms[SIM_TUNE_POLICIES];
    size_t arm_count, setting_count; /* settings of all arms */
    uint32_t settings, budget;       /* of a policy */
    uint32_t train, test;            /* replications: 0 .. train - 1, and `test` more */
    uint32_t seen;                   /* replications of what is left, so far */
    size_t points;                   /* the first is what is tuned on, where there are others */
    struct an_goal goal;
    bool has_begun, is_testing;
    bool has_bounds; /* some mean is one from below */
    struct sim_rounds rounds;
    char rule[160];
    char varies[256]; /* what replications of the scenario that is tuned on differ in */
    char *words[SIM_TUNE_POLICIES * SIM_TUNE_SETTINGS]; /* --variant */
    char *audit;
};

/* Lays the settings out: `policies` are names, `budget` is runs of each. Returns an exit code; what
 * is wrong was printed. `tune` is always to be ended. */
int sim_tune_begin(struct sim_tune *tune, const struct sim_words *policies,
                   const struct sim_words *tests, const struct sim_simulate_options *simulate);
void sim_tune_end(struct sim_tune *tune);
int sim_tune_print(struct sim_tune *tune, const struct sim_experiment *experiment,
                   enum sim_format format);

#endif
