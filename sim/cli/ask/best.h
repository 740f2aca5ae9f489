/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir search --best: which variant is best by the goal, with as few runs as that takes. Kim and
 * Nelson's procedure (analysis/selection.h) drops what is behind; those that are left go on, a few
 * replications of each at a time, until one is left or there are `most` of each.
 *
 * What matters, delta, is a share of the mean that the first variant has on the first replications.
 * A variant of which a run has no result there takes no part, nor does one that breaks a condition
 * of the goal there for certain (Andradottir and Kim, Naval Research Logistics 57, 2010:
 * feasibility first, then the race); one that fails later is dropped.
 */
#ifndef SIM_CLI_BEST_H
#define SIM_CLI_BEST_H

#include "analysis/goal.h"
#include "analysis/selection.h"
#include "sim/cli/ask/tried.h"
#include "sim/cli/experiment/experiment.h"
#include "sim/cli/table.h"

enum { SIM_BEST_FIRST = 10, SIM_BEST_MOST = 100 };

struct sim_best_value {
    struct sim_tried tried;  /* on all that it was run on */
    struct an_judged judged; /* the conditions of the goal, on the first replications */
    uint32_t asked;          /* replications */
    size_t dropped;          /* after how many; 0 = it is left */
    bool takes_part;
};

struct sim_best {
    double worth;  /* of the first mean */
    uint32_t most; /* replications of each */
    struct an_goal goal;
    struct sim_best_value *values; /* by variant */
    size_t *racers, *dropped;      /* variants that take part; when they go */
    size_t count, racer_count;
    struct an_selected selected; /* among the racers */
    double delta;
    struct sim_rounds rounds;
    struct sim_audit audit;
    char rule[96], said[128];
};

/* `count` variants; `worth` and `most` are set. False = out of memory. */
bool sim_best_begin(struct sim_best *best, size_t count);
void sim_best_end(struct sim_best *best);
/* SIM_EXIT_CHECK when several are left, or fewer than two took part. */
int sim_best_print(const struct sim_best *best, const struct sim_experiment *experiment,
                   enum sim_format format);

#endif
