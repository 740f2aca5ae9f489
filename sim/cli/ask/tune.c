/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Equal budgets; see the header. */
#include "sim/cli/ask/tune.h"

#include "analysis/metrics.h"
#include "analysis/statistics.h"
#include "analysis/text.h"
#include "sim/cli/ask/tried.h"
#include "sim/cli/ask/tune_settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the schedule ---- */

static uint32_t cost_of(uint32_t settings)
{
    uint32_t cost = settings;
    for (uint32_t left = settings / 2; left > 1; left /= 2)
        cost += settings / 2;
    return cost;
}

static uint32_t settings_for(uint32_t budget)
{
    uint32_t settings = 2;
    while (2 * settings <= SIM_TUNE_SETTINGS && cost_of(2 * settings) <= budget)
        settings *= 2;
    return settings;
}

/* ---- rounds ---- */

/* The variant of a setting at a point: points by points, as they are laid out. */
static size_t variant_of(const struct sim_tune *tune, size_t point, size_t setting)
{
    return point * tune->setting_count + setting;
}

static weir_status look(struct sim_tune *tune, struct sim_tune_arm *arm,
                        const struct sim_experiment *experiment, struct an_db *db,
                        struct weir_error *error)
{
    for (size_t s = 0; s < arm->count; s++) {
        struct sim_tried trial = { .values = NULL };
        const struct sim_tried_of of = { .label = experiment->labels[arm->first + s],
                                         .metric = tune->goal.metric,
                                         .count = tune->seen };
        if (!arm->is_left[s])
            continue;
        WEIR_TRY(sim_tried_read(db, &of, &trial, error));
        arm->means[s] = trial.runs < tune->seen ? (double)NAN : trial.mean;
        tune->has_bounds =
            tune->has_bounds || (trial.is_bound && tune->goal.better < 0) || trial.is_partial;
    }
    return WEIR_OK;
}

static bool is_ahead(const struct sim_tune *tune, const struct sim_tune_arm *arm, size_t one,
                     size_t other)
{
    if (isnan(arm->means[one]) || isnan(arm->means[other]))
        return !isnan(arm->means[one]) || (isnan(arm->means[other]) && one < other);
    const double gain = (arm->means[one] - arm->means[other]) * tune->goal.better;
    return gain > 0 || (!(gain < 0) && one < other);
}

/* The better half stays; of equals those that came first. */
static void halve(const struct sim_tune *tune, struct sim_tune_arm *arm)
{
    bool stays[SIM_TUNE_SETTINGS] = { false };
    size_t left = 0;
    for (size_t s = 0; s < arm->count; s++)
        left += arm->is_left[s] ? 1 : 0;
    for (size_t s = 0; s < arm->count; s++) {
        size_t before = 0;
        for (size_t o = 0; o < arm->count; o++)
            before += arm->is_left[o] && o != s && is_ahead(tune, arm, o, s) ? 1 : 0;
        stays[s] = arm->is_left[s] && before < (left + 1) / 2;
        if (stays[s] && before == 0)
            arm->winner = s;
    }
    memcpy(arm->is_left, stays, sizeof stays);
}

static void mark(struct sim_tune *tune, const struct sim_experiment *experiment, bool *wanted)
{
    for (size_t a = 0; a < tune->arm_count; a++) {
        struct sim_tune_arm *arm = &tune->arms[a];
        for (size_t s = 0; s < arm->count; s++)
            for (uint32_t r = 0; r < tune->seen && arm->is_left[s] && !tune->is_testing; r++) {
                bool *run = &wanted[(arm->first + s) * experiment->replications + r];
                arm->runs += *run ? 0 : 1;
                *run = true;
            }
        for (size_t p = tune->points > 1 ? 1 : 0; tune->is_testing && p < tune->points; p++)
            for (uint32_t r = 0; r < tune->test; r++) {
                const uint32_t at = tune->train + r;
                wanted[variant_of(tune, p, arm->first) * experiment->replications + at] = true;
                wanted[variant_of(tune, p, arm->first + arm->winner) * experiment->replications +
                       at] = true;
            }
    }
}

static weir_status next(void *self, const struct sim_experiment *experiment, bool *wanted,
                        bool *is_over, struct weir_error *error)
{
    struct sim_tune *tune = self;
    struct an_db *db = NULL;
    *is_over = tune->is_testing;
    weir_status status = WEIR_OK;
    if (tune->has_begun && !tune->is_testing) {
        status = an_open(experiment->path, &db, error);
        if (status == WEIR_OK)
            status = an_goal_read(db, &tune->goal, error);
        for (size_t a = 0; a < tune->arm_count && status == WEIR_OK; a++) {
            status = look(tune, &tune->arms[a], experiment, db, error);
            halve(tune, &tune->arms[a]);
        }
        an_close(db);
        tune->is_testing = tune->seen == tune->train;
        tune->seen *= 2;
    }
    tune->has_begun = true;
    mark(tune, experiment, wanted);
    return status;
}

/* ---- laying out ---- */

/* What was tried, what it cost and what was seen: known before anything runs. */
static char *write_audit(const struct sim_tune *tune, const struct sim_words *tests,
                         const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    (void)fputs("Tuned: ", out);
    for (size_t a = 0; a < tune->arm_count; a++)
        (void)fprintf(out, "%s%s (%zu settings)", a == 0 ? "" : ", ", tune->arms[a].name,
                      tune->arms[a].count);
    (void)fprintf(out,
                  ", by successive halving with at most %u of %u runs each, on replications 0 to "
                  "%u of %s. Judged on replications %u to %u",
                  cost_of(tune->settings), tune->budget, tune->train - 1, path, tune->train,
                  tune->train + tune->test - 1);
    for (size_t i = 0; i < tests->count; i++)
        (void)fprintf(out, "%s%s", i == 0 ? " of " : ", ", tests->items[i]);
    if (tests->count == 0)
        (void)fprintf(out, " of the same, which were not seen and differ in %s.", tune->varies);
    else
        (void)fputs(", which were not seen.", out);
    return fclose(out) == 0 ? text : NULL;
}

int sim_tune_begin(struct sim_tune *tune, const struct sim_words *policies,
                   const struct sim_words *tests, const struct sim_simulate_options *simulate)
{
    if (tune->budget < cost_of(2) || policies->count > SIM_TUNE_POLICIES) {
        (void)fprintf(stderr,
                      "weir: --tune takes at most %d policies and a --budget of %u runs or "
                      "more\n",
                      SIM_TUNE_POLICIES, cost_of(2));
        return SIM_EXIT_USAGE;
    }
    tune->settings = settings_for(tune->budget);
    tune->train = tune->settings / 2;
    tune->seen = 1;
    tune->points = 1 + tests->count;
    const int code = sim_tune_settings(tune, policies, simulate);
    if (code != SIM_EXIT_OK)
        return code;
    for (size_t a = 0; a < tune->arm_count; a++)
        for (size_t s = 0; s < tune->arms[a].count; s++)
            tune->arms[a].is_left[s] = true;
    tune->audit = write_audit(tune, tests, simulate->path);
    (void)snprintf(tune->rule, sizeof tune->rule, "successive halving of %u settings, %u to judge",
                   tune->settings, tune->test);
    tune->rounds = (struct sim_rounds){ .self = tune, .next = next, .rule = tune->rule };
    return tune->audit == NULL ? SIM_EXIT_RESOURCE : SIM_EXIT_OK;
}

void sim_tune_end(struct sim_tune *tune)
{
    for (size_t i = 0; i < sizeof tune->words / sizeof tune->words[0]; i++)
        free(tune->words[i]);
    free(tune->audit);
    memset(tune, 0, sizeof *tune);
}

/* ---- printing ---- */

static const struct sim_column columns[] = {
    { "policy", "policy", NULL, false, false },
    { "setting", "setting", NULL, false, false },
    { "tried", "tried", NULL, true, true },
    { "runs", "runs", NULL, true, true },
    { "seen", "train", NULL, true, true },
    { "not seen", "test", NULL, true, true },
    { "default", "default_test", NULL, true, true },
    { "against the best", "difference", NULL, true, true },
    { "+-", "half_width", NULL, true, true },
    { "p (Holm)", "p_holm", NULL, true, true },
};

/* Means over the points of the test, replication by replication. */
static weir_status read_test(struct sim_tune *tune, const struct sim_experiment *experiment,
                             size_t setting, double *values, struct weir_error *error)
{
    struct an_db *db = NULL;
    struct sim_tried trial = { .values = calloc(tune->test + 1, sizeof *trial.values) };
    const size_t from = tune->points > 1 ? 1 : 0;
    weir_status status = an_open(experiment->path, &db, error);
    for (uint32_t r = 0; r < tune->test; r++)
        values[r] = 0;
    for (size_t p = from; p < tune->points && status == WEIR_OK && trial.values != NULL; p++) {
        const struct sim_tried_of of = { .label = experiment->labels[variant_of(tune, p, setting)],
                                         .metric = tune->goal.metric,
                                         .first = tune->train,
                                         .count = tune->test };
        status = sim_tried_read(db, &of, &trial, error);
        tune->has_bounds =
            tune->has_bounds || (trial.is_bound && tune->goal.better < 0) || trial.is_partial;
        for (uint32_t r = 0; r < tune->test; r++)
            values[r] += trial.values[r] / (double)(tune->points - from);
    }
    if (trial.values == NULL && status == WEIR_OK)
        status = weir_fail(error, WEIR_ENOMEM, "out of memory");
    free(trial.values);
    an_close(db);
    return status;
}

static double mean_of(const double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no table without memory */
        sum += values[i] / count;
    return sum;
}

struct judged {
    double *test, *base; /* by arm and replication: of the winner, of the default */
    size_t best;
    struct an_paired against[SIM_TUNE_POLICIES]; /* arm - best */
    double holm[SIM_TUNE_POLICIES];
};

static weir_status judge(struct sim_tune *tune, const struct sim_experiment *experiment,
                         struct judged *judged, struct weir_error *error)
{
    double p_values[SIM_TUNE_POLICIES];
    for (size_t a = 0; a < tune->arm_count; a++) {
        const struct sim_tune_arm *arm = &tune->arms[a];
        double *test = judged->test + a * tune->test;
        const double *best = judged->test + judged->best * tune->test;
        WEIR_TRY(read_test(tune, experiment, arm->first + arm->winner, test, error));
        WEIR_TRY(read_test(tune, experiment, arm->first, judged->base + a * tune->test, error));
        const double gain =
            (mean_of(test, tune->test) - mean_of(best, tune->test)) * tune->goal.better;
        judged->best = gain > 0 ? a : judged->best;
    }
    for (size_t a = 0; a < tune->arm_count; a++) {
        judged->against[a] = an_paired_difference(judged->test + judged->best * tune->test,
                                                  judged->test + a * tune->test, tune->test, 0.95);
        p_values[a] = a == judged->best ? (double)NAN : judged->against[a].p_value;
    }
    an_holm(p_values, tune->arm_count, judged->holm);
    return WEIR_OK;
}

/* For people in the unit of the goal. */
static void add_figures(struct sim_table *table, const struct sim_tune *tune,
                        const struct judged *judged, size_t a, enum sim_format format)
{
    enum { MEANS = 5 }; /* the last figure is a p */
    const struct sim_tune_arm *arm = &tune->arms[a];
    const struct an_metric *known = an_metric_find(tune->goal.metric);
    const double figures[] = { arm->means[arm->winner],
                               mean_of(judged->test + a * tune->test, tune->test),
                               mean_of(judged->base + a * tune->test, tune->test),
                               a == judged->best ? (double)NAN : judged->against[a].difference,
                               judged->against[a].half_width,
                               judged->holm[a] };
    if (!sim_format_is_text(format)) {
        sim_table_add_numbers(table, format, figures, sizeof figures / sizeof figures[0]);
        return;
    }
    for (size_t i = 0; i < MEANS; i++)
        sim_table_add(table,
                      isnan(figures[i])
                          ? "-"
                          : an_word_value(figures[i], known == NULL ? "" : known->unit).text);
    sim_table_add_numbers(table, format, figures + MEANS, 1);
}

static void print_table(const struct sim_tune *tune, const struct judged *judged,
                        enum sim_format format)
{
    struct sim_table *table = sim_table_create(columns, sizeof columns / sizeof columns[0]);
    for (size_t a = 0; a < tune->arm_count; a++) {
        const struct sim_tune_arm *arm = &tune->arms[a];
        sim_table_add(table, arm->name);
        sim_table_add(table, sim_tune_setting(tune, a, arm->winner));
        sim_table_addf(table, "%zu", arm->count);
        sim_table_addf(table, "%u", arm->runs);
        add_figures(table, tune, judged, a, format);
    }
    sim_table_print(table, format, stdout);
    sim_table_destroy(table);
    if (!sim_format_is_text(format))
        return;
    const struct an_metric *known = an_metric_find(tune->goal.metric);
    const uint32_t runs = tune->test * (uint32_t)(tune->points > 1 ? tune->points - 1 : 1);
    printf(
        "%s: %s is best where nothing was tuned; %s is better. %u run%s to judge each, paired.\n",
        known == NULL ? tune->goal.metric : known->label, tune->arms[judged->best].name,
        tune->goal.better > 0 ? "more" : "less", runs, an_plural(runs));
    sim_tried_say_bounds(tune->has_bounds);
    printf("%s\n", tune->audit);
}

int sim_tune_print(struct sim_tune *tune, const struct sim_experiment *experiment,
                   enum sim_format format)
{
    const size_t count = tune->arm_count * tune->test + 1;
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct judged judged = { .test = calloc(count, sizeof *judged.test),
                             .base = calloc(count, sizeof *judged.base) };
    weir_status status = judged.test == NULL || judged.base == NULL
                             ? weir_fail(&error, WEIR_ENOMEM, "out of memory")
                             : judge(tune, experiment, &judged, &error);
    if (status == WEIR_OK)
        print_table(tune, &judged, format);
    else
        (void)fprintf(stderr, "weir: %s\n", error.text);
    free(judged.test);
    free(judged.base);
    return status == WEIR_OK ? SIM_EXIT_OK : sim_exit_for(status);
}
