/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best of several variants; see the header. */
#include "sim/cli/ask/best.h"

#include "analysis/metrics.h"
#include "analysis/text.h"
#include "sim/cli/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEP = 5 }; /* replications of a round, after the first */

static const double alpha = 0.05;
static const double failed = -1e300; /* worse than any value, and no infinity in sums */

/* ---- the race ---- */

static uint32_t first_of(const struct sim_best *best)
{
    return best->most < SIM_BEST_FIRST ? best->most : SIM_BEST_FIRST;
}

/* Rounds ask for as many of all that are left. */
static uint32_t asked_of(const struct sim_best *best)
{
    uint32_t most = 0;
    for (size_t v = 0; v < best->count; v++)
        most = best->values[v].asked > most ? best->values[v].asked : most;
    return most;
}

static double draw(void *state, size_t alternative, size_t replication)
{
    const struct sim_best *best = state;
    const double value = best->values[best->racers[alternative]].tried.values[replication];
    return isnan(value) ? failed : value * best->goal.better;
}

static weir_status read_values(struct sim_best *best, const struct sim_experiment *experiment,
                               struct an_db *db, struct weir_error *error)
{
    WEIR_TRY(an_goal_read(db, &best->goal, error));
    for (size_t v = 0; v < best->count; v++) {
        struct sim_tried_of of = { .label = experiment->labels[v],
                                   .metric = best->goal.metric,
                                   .count = best->values[v].asked };
        WEIR_TRY(sim_tried_read(db, &of, &best->values[v].tried, error));
        of.count = first_of(best);
        WEIR_TRY(sim_tried_judge(db, &best->goal, &of, &best->values[v].judged, error));
    }
    return WEIR_OK;
}

/* Who has a result on all of the first replications and breaks no condition; what matters is a
 * share of the first mean that is not 0. */
static void find_racers(struct sim_best *best)
{
    best->racer_count = 0;
    best->delta = 0;
    for (size_t v = 0; v < best->count; v++) {
        struct sim_best_value *value = &best->values[v];
        double sum = 0;
        for (uint32_t r = 0; r < first_of(best); r++)
            sum += value->tried.values[r];
        value->takes_part = !isnan(sum) && value->judged.hold != AN_FAILS;
        if (!value->takes_part)
            continue;
        if (!(best->delta > 0))
            best->delta = best->worth * fabs(sum) / first_of(best);
        best->racers[best->racer_count++] = v;
    }
}

/* The same values give the same race, so each round runs all of it. */
static weir_status race(struct sim_best *best, struct weir_error *error)
{
    const struct an_selection selection = { .count = best->racer_count,
                                            .first = first_of(best),
                                            .delta = fmax(best->delta, 1e-300),
                                            .alpha = alpha,
                                            .most = asked_of(best),
                                            .draw = draw,
                                            .state = best };
    best->selected = (struct an_selected){ .is_decided = true, .dropped = best->dropped };
    if (best->racer_count > 1 && !an_select_best(&selection, &best->selected))
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < best->racer_count; i++)
        best->values[best->racers[i]].dropped = best->dropped[i];
    return WEIR_OK;
}

static void ask(struct sim_best *best)
{
    const uint32_t more = asked_of(best) + STEP;
    for (size_t v = 0; v < best->count; v++)
        if (best->values[v].takes_part && best->values[v].dropped == 0)
            best->values[v].asked = more < best->most ? more : best->most;
}

static void mark(const struct sim_best *best, const struct sim_experiment *experiment, bool *wanted)
{
    for (size_t v = 0; v < best->count; v++)
        for (uint32_t r = 0; r < best->values[v].asked; r++)
            wanted[v * experiment->replications + r] = true;
}

static weir_status next(void *self, const struct sim_experiment *experiment, bool *wanted,
                        bool *is_over, struct weir_error *error)
{
    struct sim_best *best = self;
    struct an_db *db = NULL;
    weir_status status = WEIR_OK;
    *is_over = false;
    if (asked_of(best) == 0) {
        for (size_t v = 0; v < best->count; v++)
            best->values[v].asked = first_of(best);
    } else {
        status = an_open(experiment->path, &db, error);
        if (status == WEIR_OK)
            status = read_values(best, experiment, db, error);
        an_close(db);
        if (status == WEIR_OK) {
            find_racers(best);
            status = race(best, error);
        }
        *is_over = best->selected.is_decided || asked_of(best) == best->most;
        if (status == WEIR_OK && !*is_over)
            ask(best);
    }
    mark(best, experiment, wanted);
    return status;
}

bool sim_best_begin(struct sim_best *best, size_t count)
{
    best->values = calloc(count + 1, sizeof *best->values);
    best->racers = calloc(count + 1, sizeof *best->racers);
    best->dropped = calloc(count + 1, sizeof *best->dropped);
    bool is_fine = best->values != NULL && best->racers != NULL && best->dropped != NULL;
    best->count = best->values == NULL ? 0 : count;
    for (size_t v = 0; v < best->count; v++) {
        best->values[v].tried.values = calloc(best->most, sizeof(double));
        is_fine = is_fine && best->values[v].tried.values != NULL;
    }
    (void)snprintf(best->rule, sizeof best->rule, "best of all by %.9g of the first, %u to %u",
                   best->worth, first_of(best), best->most);
    (void)snprintf(best->said, sizeof best->said,
                   "A search for the best: compared are the first %u replications, which all ran.",
                   first_of(best));
    best->rounds = (struct sim_rounds){ .self = best, .next = next, .rule = best->rule };
    best->audit = (struct sim_audit){ .text = best->said, .paired_to = first_of(best) };
    return is_fine;
}

void sim_best_end(struct sim_best *best)
{
    for (size_t v = 0; v < best->count; v++)
        free(best->values[v].tried.values);
    free(best->values);
    free(best->racers);
    free(best->dropped);
    best->values = NULL;
    best->racers = best->dropped = NULL;
    best->count = 0;
}

/* ---- printing ---- */

static const struct sim_column columns[] = {
    { "variant", "variant", NULL, false, false }, { "runs", "runs", NULL, true, true },
    { "mean", "mean", NULL, true, true },         { "dropped after", "dropped", NULL, true, true },
    { "verdict", "verdict", NULL, false, false },
};

static size_t winner(const struct sim_best *best)
{
    return best->racer_count == 0 ? best->count : best->racers[best->selected.best];
}

static bool breaks(const struct sim_best_value *value)
{
    return value->tried.runs >= value->asked && value->judged.hold == AN_FAILS;
}

static void add_value(struct sim_table *table, const struct sim_best *best,
                      const struct sim_experiment *experiment, size_t v, enum sim_format format)
{
    const struct sim_best_value *value = &best->values[v];
    const struct an_metric *known = an_metric_find(best->goal.metric);
    sim_table_add(table, experiment->labels[v]);
    sim_table_addf(table, "%u", value->asked);
    if (!sim_format_is_text(format))
        sim_table_add_numbers(table, format, &value->tried.mean, 1);
    else
        sim_table_add(
            table, an_word_known(an_word_value(value->tried.mean, known == NULL ? "" : known->unit),
                                 value->tried.is_bound, value->tried.is_partial)
                       .text);
    const double dropped = value->dropped == 0 ? (double)NAN : (double)value->dropped;
    sim_table_add_numbers(table, format, &dropped, 1);
    sim_table_add(table, value->tried.runs < value->asked ? "runs without a result"
                         : breaks(value)                  ? "breaks a condition"
                         : value->dropped > 0             ? "dropped"
                         : !best->selected.is_decided     ? "left"
                         : v == winner(best)              ? "best"
                                                          : "as good");
}

/* Of who is named, and who was left out for them. */
static void print_conditions(const struct sim_best *best, const struct sim_experiment *experiment)
{
    size_t broken = 0;
    for (size_t v = 0; v < best->count; v++)
        broken += breaks(&best->values[v]) ? 1 : 0;
    if (broken > 0)
        printf("%zu variant%s a condition of the goal for certain on the first %u replications.\n",
               broken, broken > 1 ? "s break" : " breaks", first_of(best));
    if (best->racer_count == 0)
        return;
    const struct an_judged *judged = &best->values[winner(best)].judged;
    printf("The goal's conditions with %s: %s (%s).\n", experiment->labels[winner(best)],
           an_hold_text(judged->hold, judged->means_hold), judged->means);
}

static void print_verdict(const struct sim_best *best, const struct sim_experiment *experiment)
{
    const struct an_metric *known = an_metric_find(best->goal.metric);
    const char *name = known == NULL ? best->goal.metric : known->label;
    const struct an_word delta = an_word_value(best->delta, known == NULL ? "" : known->unit);
    const char *word = best->goal.better > 0 ? "more" : "less";
    const char *label = best->racer_count == 0 ? "" : experiment->labels[winner(best)];
    size_t runs = 0;
    bool has_bounds = false;
    for (size_t v = 0; v < best->count; v++) {
        runs += best->values[v].asked;
        has_bounds =
            has_bounds || best->values[v].tried.is_bound || best->values[v].tried.is_partial;
    }
    if (best->racer_count < 2)
        printf("%s a result on all of the first replications%s: there is nothing to choose from.",
               best->racer_count == 0 ? "No variant has" : "One variant alone has",
               best->goal.condition_count > 0 ? " and breaks no condition" : "");
    else if (best->selected.is_decided)
        printf("Best by %s (%s): %s; right with 95 %% where the best leads by %s or more (Kim and "
               "Nelson 2001; %g %% of the first mean).",
               name, word, label, delta.text, 100 * best->worth);
    else
        printf("Not decided after %u replications of those that are left; by %s (%s) %s leads. It "
               "takes a larger --worth than %g %% (%s), or a larger -n.",
               best->most, name, word, label, 100 * best->worth, delta.text);
    printf(" %zu run%s.\n", runs, an_plural((double)runs));
    if (best->goal.condition_count > 0)
        print_conditions(best, experiment);
    sim_tried_say_bounds(has_bounds);
}

int sim_best_print(const struct sim_best *best, const struct sim_experiment *experiment,
                   enum sim_format format)
{
    struct sim_table *table = sim_table_create(columns, sizeof columns / sizeof columns[0]);
    for (size_t v = 0; v < best->count; v++)
        add_value(table, best, experiment, v, format);
    sim_table_print(table, format, stdout);
    sim_table_destroy(table);
    if (sim_format_is_text(format))
        print_verdict(best, experiment);
    return best->racer_count > 1 && best->selected.is_decided ? SIM_EXIT_OK : SIM_EXIT_CHECK;
}
