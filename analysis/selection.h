/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Choosing among alternatives while their values are drawn: more is better everywhere.
 *
 * Selection (Kim and Nelson 2001) ends with one alternative and a promise: when the best is better
 * than all others by at least `delta`, it is chosen with probability 1 - alpha. Bandits make no
 * promise about the last choice; they lose little on the way to it.
 */
#ifndef ANALYSIS_SELECTION_H
#define ANALYSIS_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

struct an_selection {
    size_t count; /* alternatives, at least 2 */
    size_t first; /* replications of each before any is dropped, at least 2 */
    double delta; /* the least difference that matters, > 0 */
    double alpha;
    size_t most; /* replications of each after which it ends undecided; 0 = never */
    /* Replication r of an alternative. Draws of one r may be dependent (common random numbers):
     * what is used is the variance of their differences. */
    double (*draw)(void *state, size_t alternative, size_t replication);
    void *state;
};

struct an_selected {
    size_t best;     /* the one that is left; of several the leader */
    size_t draws;    /* of all alternatives */
    bool is_decided; /* false = several are left after `most` */
    size_t *dropped; /* by alternative: after how many replications, 0 = it is left; of the caller,
                      * NULL = not wanted */
};

/* Kim and Nelson's fully sequential procedure with c = 1: after each replication the alternatives
 * go that fall behind another one by more than what the variance of their difference allows.
 * False = out of memory. */
bool an_select_best(const struct an_selection *selection, struct an_selected *selected);

/* ---- bandits ---- */

enum an_bandit_rule {
    AN_BANDIT_UCB1,    /* highest mean + sqrt(2 ln t / n) (Auer and others 2002) */
    AN_BANDIT_GREEDY,  /* any one with probability epsilon, else the highest mean */
    AN_BANDIT_THOMPSON /* highest draw of a normal law around each mean, with its error */
};

struct an_arm {
    size_t pulls;
    double sum, squares; /* of its rewards */
};

struct an_bandit {
    enum an_bandit_rule rule;
    double epsilon;
    struct an_arm *arms; /* zeroed at first */
    size_t count;
    double (*uniform)(void *state); /* in [0, 1) */
    void *state;
};

/* The arm to pull next; each is pulled once before any is twice (Thompson: twice). */
size_t an_bandit_next(const struct an_bandit *bandit);
void an_bandit_tell(struct an_bandit *bandit, size_t arm, double reward);

/* One reward of several objectives: the sum of weight x (value - worst) / (best - worst). */
struct an_objective {
    double value, weight, worst, best;
};
double an_bandit_reward(const struct an_objective *objectives, size_t count);

#endif
