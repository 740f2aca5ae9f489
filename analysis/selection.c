/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing among alternatives; see the header. */
#include "analysis/selection.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- Kim and Nelson ---- */

struct race {
    const struct an_selection *selection;
    double *sums;      /* by alternative */
    double *variances; /* of the differences of the first replications, by pair */
    double *first;     /* those replications, alternative by alternative */
    bool *is_in, *is_behind;
    size_t *dropped; /* may be NULL */
    size_t left, draws;
};

static double variance_of_difference(const double *a, const double *b, size_t count)
{
    double mean = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < count; i++)
        mean += (a[i] - b[i]) / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    return squares / (double)(count - 1);
}

static void begin(struct race *race)
{
    const struct an_selection *selection = race->selection;
    const size_t n = selection->first;
    for (size_t i = 0; i < selection->count; i++) {
        race->is_in[i] = true;
        for (size_t r = 0; r < n; r++) {
            const double value = selection->draw(selection->state, i, r);
            race->first[i * n + r] = value;
            race->sums[i] += value;
        }
    }
    for (size_t i = 0; i < selection->count; i++)
        for (size_t k = 0; k < selection->count; k++)
            race->variances[i * selection->count + k] =
                variance_of_difference(race->first + i * n, race->first + k * n, n);
    race->left = selection->count;
    race->draws = selection->count * n;
}

/* h^2 of the paper: 2 eta (n0 - 1), eta = ((2 alpha / (k - 1))^(-2 / (n0 - 1)) - 1) / 2. */
static double squared_h(const struct an_selection *selection)
{
    const double freedom = (double)selection->first - 1.0;
    const double eta =
        0.5 *
        (pow(2.0 * selection->alpha / ((double)selection->count - 1.0), -2.0 / freedom) - 1.0);
    return 2.0 * eta * freedom;
}

/* How far the sum of i may fall behind that of k after r replications. */
static double allowance(const struct race *race, size_t i, size_t k, size_t r)
{
    const struct an_selection *selection = race->selection;
    const double variance = race->variances[i * selection->count + k];
    return fmax(0.0, 0.5 * selection->delta *
                         (squared_h(selection) * variance / (selection->delta * selection->delta) -
                          (double)r));
}

/* All are screened against those that were in before, the leader of which stays. */
static void screen(struct race *race, size_t r)
{
    const size_t count = race->selection->count;
    for (size_t i = 0; i < count; i++) {
        race->is_behind[i] = false;
        for (size_t k = 0; k < count && race->is_in[i] && !race->is_behind[i]; k++)
            race->is_behind[i] = k != i && race->is_in[k] &&
                                 race->sums[i] < race->sums[k] - allowance(race, i, k, r);
    }
    for (size_t i = 0; i < count; i++)
        if (race->is_behind[i]) {
            race->is_in[i] = false;
            race->left--;
            if (race->dropped != NULL)
                race->dropped[i] = r;
        }
}

static size_t leader(const struct race *race)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < race->selection->count; i++)
        if (race->is_in[i] && (best == SIZE_MAX || race->sums[i] > race->sums[best]))
            best = i;
    return best;
}

/* It ends: allowances shrink with r, and at nothing only the leader is left, or equals of it. */
static bool run(struct race *race)
{
    const struct an_selection *selection = race->selection;
    double widest = 0.0;
    begin(race);
    for (size_t i = 0; i < selection->count * selection->count; i++)
        widest = fmax(widest, race->variances[i]);
    const double last = squared_h(selection) * widest / (selection->delta * selection->delta) + 1.0;
    size_t r = selection->first;
    screen(race, r);
    for (; race->left > 1 && (double)r < last; r++) {
        if (r == selection->most)
            return false;
        for (size_t i = 0; i < selection->count; i++) {
            if (!race->is_in[i])
                continue;
            race->sums[i] += selection->draw(selection->state, i, r);
            race->draws++;
        }
        screen(race, r + 1);
    }
    return true;
}

bool an_select_best(const struct an_selection *selection, struct an_selected *selected)
{
    const size_t k = selection->count;
    struct race race = { .selection = selection,
                         .sums = calloc(k, sizeof *race.sums),
                         .variances = calloc(k * k, sizeof *race.variances),
                         .first = calloc(k * selection->first, sizeof *race.first),
                         .is_in = calloc(k, sizeof *race.is_in),
                         .is_behind = calloc(k, sizeof *race.is_behind),
                         .dropped = selected->dropped };
    const bool has_memory = race.sums != NULL && race.variances != NULL && race.first != NULL &&
                            race.is_in != NULL && race.is_behind != NULL;
    for (size_t i = 0; i < k && race.dropped != NULL; i++)
        race.dropped[i] = 0;
    if (has_memory) {
        selected->is_decided = run(&race);
        selected->best = leader(&race);
        selected->draws = race.draws;
    }
    free(race.sums);
    free(race.variances);
    free(race.first);
    free(race.is_in);
    free(race.is_behind);
    return has_memory;
}

/* ---- bandits ---- */

static double mean_of(const struct an_arm *arm)
{
    return arm->sum / (double)arm->pulls;
}

/* What an arm promises under the rule. */
static double promise(const struct an_bandit *bandit, const struct an_arm *arm, size_t total)
{
    const double n = (double)arm->pulls;
    if (bandit->rule == AN_BANDIT_UCB1)
        return mean_of(arm) + sqrt(2.0 * log((double)total) / n);
    if (bandit->rule == AN_BANDIT_GREEDY)
        return mean_of(arm);
    const double variance = fmax(0.0, (arm->squares - arm->sum * mean_of(arm)) / (n - 1.0));
    return mean_of(arm) + sqrt(variance / n) *
                              gsl_cdf_ugaussian_Pinv(fmax(bandit->uniform(bandit->state), 1e-300));
}

size_t an_bandit_next(const struct an_bandit *bandit)
{
    const size_t least = bandit->rule == AN_BANDIT_THOMPSON ? 2 : 1;
    size_t total = 0;
    size_t best = 0;
    double highest = -HUGE_VAL;
    for (size_t i = 0; i < bandit->count; i++) {
        if (bandit->arms[i].pulls < least)
            return i;
        total += bandit->arms[i].pulls;
    }
    if (bandit->rule == AN_BANDIT_GREEDY && bandit->uniform(bandit->state) < bandit->epsilon)
        return (size_t)(bandit->uniform(bandit->state) * (double)bandit->count);
    for (size_t i = 0; i < bandit->count; i++) {
        const double value = promise(bandit, &bandit->arms[i], total);
        if (value > highest) {
            highest = value;
            best = i;
        }
    }
    return best;
}

void an_bandit_tell(struct an_bandit *bandit, size_t arm, double reward)
{
    bandit->arms[arm].pulls++;
    bandit->arms[arm].sum += reward;
    bandit->arms[arm].squares += reward * reward;
}

double an_bandit_reward(const struct an_objective *objectives, size_t count)
{
    double reward = 0.0;
    for (size_t i = 0; i < count; i++)
        reward += objectives[i].weight * (objectives[i].value - objectives[i].worst) /
                  (objectives[i].best - objectives[i].worst);
    return reward;
}
