/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The front of cost and goal; see the header. */
#include "sim/cli/ask/front.h"

#include "analysis/metrics.h"
#include "analysis/text.h"
#include "sim/cli/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what beats what ---- */

/* At least as good in both and better in one; what has no result beats nothing. */
static bool beats(const struct sim_front *front, const struct sim_tried *cost,
                  const struct sim_tried *goal, const struct sim_tried *other_cost,
                  const struct sim_tried *other_goal)
{
    const double gain = (goal->mean - other_goal->mean) * front->goal.better;
    const double saved = other_cost->mean - cost->mean;
    return gain >= 0 && saved >= 0 && (gain > 0 || saved > 0);
}

static bool has_both(const struct sim_tried *cost, const struct sim_tried *goal)
{
    return !isnan(cost->mean) && !isnan(goal->mean);
}

static void find_front(struct sim_front *front)
{
    for (size_t v = 0; v < front->count; v++) {
        struct sim_front_value *value = &front->values[v];
        value->is_on_front = value->holds && has_both(&value->cost, &value->goal);
        for (size_t o = 0; o < front->count && value->is_on_front; o++) {
            const struct sim_front_value *other = &front->values[o];
            if (other->holds &&
                beats(front, &other->cost, &other->goal, &value->cost, &value->goal)) {
                value->is_on_front = false;
                value->beaten_by = o;
            }
        }
    }
}

static void confirm(struct sim_front *front)
{
    for (size_t v = 0; v < front->count; v++) {
        struct sim_front_value *value = &front->values[v];
        value->is_confirmed = value->is_on_front && value->holds_fresh &&
                              has_both(&value->fresh_cost, &value->fresh_goal);
        for (size_t o = 0; o < front->count && value->is_confirmed; o++) {
            const struct sim_front_value *other = &front->values[o];
            if (other->is_on_front && other->holds_fresh &&
                beats(front, &other->fresh_cost, &other->fresh_goal, &value->fresh_cost,
                      &value->fresh_goal)) {
                value->is_confirmed = false;
                value->beaten_by = o;
            }
        }
    }
}

/* ---- rounds ---- */

static weir_status read_values(struct sim_front *front, const struct sim_experiment *experiment,
                               struct an_db *db, bool is_fresh, struct weir_error *error)
{
    bool has_cost = false;
    for (size_t v = 0; v < front->count; v++) {
        struct sim_front_value *value = &front->values[v];
        struct sim_tried_of of = { .label = experiment->labels[v],
                                   .metric = front->cost,
                                   .first = is_fresh ? front->replications : 0,
                                   .count = front->replications };
        if (is_fresh && !value->is_on_front)
            continue;
        WEIR_TRY(sim_tried_read(db, &of, is_fresh ? &value->fresh_cost : &value->cost, error));
        of.metric = front->goal.metric;
        WEIR_TRY(sim_tried_read(db, &of, is_fresh ? &value->fresh_goal : &value->goal, error));
        struct an_judged judged;
        WEIR_TRY(sim_tried_judge(db, &front->goal, &of, &judged, error));
        *(is_fresh ? &value->holds_fresh : &value->holds) = judged.means_hold;
        has_cost = has_cost || !isnan(value->cost.mean);
    }
    return has_cost || is_fresh
               ? WEIR_OK
               : weir_fail(error, WEIR_EINVAL,
                           "no run has a result \"%s\"; a scenario with prices has cost.total, "
                           "--cost names another measure",
                           front->cost);
}

static void mark(const struct sim_front *front, const struct sim_experiment *experiment,
                 bool *wanted)
{
    for (size_t v = 0; v < front->count; v++)
        for (uint32_t r = 0; r < front->replications; r++) {
            bool *runs = wanted + v * experiment->replications;
            runs[r] = true;
            runs[front->replications + r] = front->values[v].is_on_front;
        }
}

static weir_status next(void *self, const struct sim_experiment *experiment, bool *wanted,
                        bool *is_over, struct weir_error *error)
{
    struct sim_front *front = self;
    struct an_db *db = NULL;
    weir_status status = front->rounds_done == 0 ? WEIR_OK : an_open(experiment->path, &db, error);
    *is_over = front->rounds_done == 2;
    if (status == WEIR_OK && db != NULL)
        status = an_goal_read(db, &front->goal, error);
    if (status == WEIR_OK && db != NULL)
        status = read_values(front, experiment, db, front->rounds_done == 2, error);
    if (status == WEIR_OK && front->rounds_done == 1)
        find_front(front);
    if (status == WEIR_OK && front->rounds_done == 2)
        confirm(front);
    an_close(db);
    mark(front, experiment, wanted);
    front->rounds_done++;
    return status;
}

bool sim_front_begin(struct sim_front *front, size_t count)
{
    front->values = calloc(count + 1, sizeof *front->values);
    front->count = front->values == NULL ? 0 : count;
    (void)snprintf(front->rule, sizeof front->rule, "front of %s and goal, %u at a time",
                   front->cost, front->replications);
    front->rounds = (struct sim_rounds){ .self = front, .next = next, .rule = front->rule };
    return front->values != NULL;
}

void sim_front_end(struct sim_front *front)
{
    free(front->values);
    front->values = NULL;
    front->count = 0;
}

/* ---- printing ---- */

static const struct sim_column columns[] = {
    { "variant", "variant", NULL, false, false },
    { "cost", "cost", NULL, true, true },
    { "goal", "goal", NULL, true, true },
    { "on the front", "front", NULL, false, false },
    { "cost, fresh", "fresh_cost", NULL, true, true },
    { "goal, fresh", "fresh_goal", NULL, true, true },
    { "on fresh replications", "confirmed", NULL, false, false },
};

static void add_mean(struct sim_table *table, const struct sim_tried *trial, const char *metric,
                     enum sim_format format)
{
    const struct an_metric *known = an_metric_find(metric);
    if (trial->runs == 0)
        sim_table_add(table, "-");
    else if (sim_format_is_text(format))
        sim_table_add(table,
                      an_word_known(an_word_value(trial->mean, known == NULL ? "" : known->unit),
                                    trial->is_bound, trial->is_partial)
                          .text);
    else
        sim_table_add_numbers(table, format, &trial->mean, 1);
}

static bool has_bound(const struct sim_front_value *value)
{
    const struct sim_tried *const of[] = { &value->cost, &value->goal, &value->fresh_cost,
                                           &value->fresh_goal };
    bool found = false;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        found = found || of[i]->is_bound || of[i]->is_partial;
    return found;
}

static void add_value(struct sim_table *table, const struct sim_front *front,
                      const struct sim_experiment *experiment, size_t v, enum sim_format format)
{
    const struct sim_front_value *value = &front->values[v];
    char words[200];
    sim_table_add(table, experiment->labels[v]);
    add_mean(table, &value->cost, front->cost, format);
    add_mean(table, &value->goal, front->goal.metric, format);
    sim_table_add(table, value->is_on_front ? "yes" : "no");
    add_mean(table, &value->fresh_cost, front->cost, format);
    add_mean(table, &value->fresh_goal, front->goal.metric, format);
    const bool misses = !value->holds || (value->is_on_front && !value->holds_fresh);
    (void)snprintf(words, sizeof words, "beaten by %.150s", experiment->labels[value->beaten_by]);
    sim_table_add(table, value->is_confirmed && has_bound(value) ? "confirmed so far"
                         : value->is_confirmed                   ? "confirmed"
                         : !has_both(&value->cost, &value->goal) ? "no result"
                         : misses                                ? "misses the conditions"
                                                                 : words);
}

/* By rising cost: the front goes from the cheapest to the best. */
static size_t next_by_cost(const struct sim_front *front, const bool *is_printed)
{
    size_t found = front->count;
    for (size_t v = 0; v < front->count; v++)
        if (!is_printed[v] &&
            (found == front->count || front->values[v].cost.mean < front->values[found].cost.mean))
            found = v;
    return found;
}

static const char *name_of(const char *metric)
{
    const struct an_metric *known = an_metric_find(metric);
    return known == NULL ? metric : known->label;
}

struct tally {
    size_t on_front, confirmed, missing, bounds;
};

static void count_value(const struct sim_front_value *value, struct tally *tally)
{
    tally->on_front += value->is_on_front ? 1 : 0;
    tally->confirmed += value->is_confirmed ? 1 : 0;
    tally->missing += value->holds ? 0 : 1;
    tally->bounds += value->is_on_front && has_bound(value) ? 1 : 0;
}

static void print_tally(const struct sim_front *front, const struct tally *tally)
{
    const size_t runs = (front->count + tally->on_front) * front->replications;
    printf("%zu of %zu combinations %s on the front of %s (less) and %s (%s), %zu of them "
           "still on %u fresh replication%s; %zu run%s.\n",
           tally->on_front, front->count, tally->on_front == 1 ? "is" : "are", name_of(front->cost),
           name_of(front->goal.metric), front->goal.better > 0 ? "more" : "less", tally->confirmed,
           front->replications, an_plural(front->replications), runs, an_plural((double)runs));
    if (tally->missing > 0)
        printf("%zu of the others %s a condition of the goal.\n", tally->missing,
               tally->missing == 1 ? "misses" : "miss");
    if (tally->bounds > 0)
        printf("Of %zu of them not all work was done: ≥ is a bound from below, 'so far' a mean "
               "without the rest, and what is unfinished may take them off the front.\n",
               tally->bounds);
}

int sim_front_print(const struct sim_front *front, const struct sim_experiment *experiment,
                    enum sim_format format)
{
    bool *is_printed = calloc(front->count + 1, sizeof *is_printed);
    struct sim_table *table = sim_table_create(columns, sizeof columns / sizeof columns[0]);
    struct tally tally = { 0 };
    for (size_t i = 0; is_printed != NULL && i < front->count; i++) {
        const size_t v = next_by_cost(front, is_printed);
        is_printed[v] = true;
        count_value(&front->values[v], &tally);
        if (front->values[v].is_on_front || !sim_format_is_text(format))
            add_value(table, front, experiment, v, format);
    }
    sim_table_print(table, format, stdout);
    sim_table_destroy(table);
    free(is_printed);
    if (sim_format_is_text(format))
        print_tally(front, &tally);
    return tally.confirmed > 0 ? SIM_EXIT_OK : SIM_EXIT_CHECK;
}
