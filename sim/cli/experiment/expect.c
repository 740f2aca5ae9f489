/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Expectations of a scenario: each is judged on the mean over the replications of a variant, once a
 * variant it applies to. An expectation whose metric does not exist is not met, nor is one that
 * asks for less, or more, of what is not known so far: at least so much is not known to be less.
 *
 * That no run ends early is expected without being said: a variant with such runs that meets no
 * expectation of run.ended_early has one that is not met, in line 0.
 */
#include "analysis/metrics.h"
#include "analysis/text.h"
#include "sim/cli/experiment/experiment.h"
#include "sim/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *op_text(uint32_t op)
{
    static const char *const texts[] = {
        [SIM_EXPECT_EQ] = "=",  [SIM_EXPECT_NEAR] = "near", [SIM_EXPECT_LT] = "<",
        [SIM_EXPECT_LE] = "<=", [SIM_EXPECT_GT] = ">",      [SIM_EXPECT_GE] = ">="
    };
    return texts[op];
}

static bool is_met(const struct sim_expect *expect, double value, double bound)
{
    const double slack =
        expect->tolerance_is_relative ? expect->tolerance * fabs(bound) : expect->tolerance;
    if (isnan(value) || isnan(bound))
        return false;
    switch ((enum sim_expect_op)expect->op) {
    case SIM_EXPECT_EQ:
    case SIM_EXPECT_NEAR:
        return fabs(value - bound) <= slack;
    case SIM_EXPECT_LT:
        return value < bound + slack;
    case SIM_EXPECT_LE:
        return value <= bound + slack;
    case SIM_EXPECT_GT:
        return value > bound - slack;
    case SIM_EXPECT_GE:
        return value >= bound - slack;
    }
    return false;
}

static size_t find_variant(const struct sim_experiment *experiment, const char *label, size_t other)
{
    for (size_t v = 0; label != NULL && v < experiment->variant_count; v++)
        if (strcmp(experiment->labels[v], label) == 0)
            return v;
    return other;
}

static const char *thing_of(const struct sim_expect *expect)
{
    return expect->of == NULL ? "" : expect->of;
}

static struct sim_figure bound_of(const struct sim_experiment *experiment,
                                  const struct sim_expect *expect, size_t variant)
{
    if (expect->than_metric == NULL && expect->than_of == NULL && expect->than_variant == NULL)
        return (struct sim_figure){ .value = expect->value };
    const char *metric = expect->than_metric == NULL ? expect->metric : expect->than_metric;
    struct sim_figure bound =
        sim_experiment_figure(experiment, find_variant(experiment, expect->than_variant, variant),
                              metric, expect->than_of == NULL ? thing_of(expect) : expect->than_of);
    bound.value *= expect->times;
    return bound;
}

/* Whether what is unfinished could break a condition that asks for one side; where it asks for a
 * number, that of what was over is meant. */
static bool is_open(const struct sim_expect *expect, const struct sim_figure *value,
                    const struct sim_figure *bound)
{
    const bool is_less = expect->op == SIM_EXPECT_LT || expect->op == SIM_EXPECT_LE;
    const bool is_more = expect->op == SIM_EXPECT_GT || expect->op == SIM_EXPECT_GE;
    if (!is_less && !is_more)
        return false;
    return value->is_partial || bound->is_partial ||
           (is_less ? value->is_lower_bound : bound->is_lower_bound);
}

/* " (1.05 x best_fit)": whose value the bound is. */
static void write_than(const struct sim_expect *expect, char *text, size_t capacity)
{
    const char *const names[] = { expect->than_variant, expect->than_metric, expect->than_of };
    char who[160] = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i] != NULL)
            (void)snprintf(who + strlen(who), sizeof who - strlen(who), "%s%s",
                           who[0] == '\0' ? "" : " ", names[i]);
    text[0] = '\0';
    if (who[0] != '\0' && fabs(expect->times - 1.0) > 0.0)
        (void)snprintf(text, capacity, " (%.6g x %s)", expect->times, who);
    else if (who[0] != '\0')
        (void)snprintf(text, capacity, " (%s)", who);
}

/* In words, or in figures where words are the same. */
static void write_unmet(const struct sim_experiment *experiment, const struct sim_expect *expect,
                        size_t variant, const struct sim_expectation_row *row,
                        const struct sim_figure *value, char *text, size_t capacity)
{
    const struct an_expected expected = an_expected_of(row->text, row->bound, "");
    const struct an_word got = an_word_value(row->value, expected.unit);
    const bool is_same = strcmp(got.text, an_word_value(row->bound, expected.unit).text) == 0;
    char figure[48];
    (void)snprintf(figure, sizeof figure, "%.6g", row->value);
    (void)snprintf(text, capacity, "%s:%d: variant %s: expected %s, got %s%s%s",
                   experiment->scenarios[0]->path, expect->line, experiment->labels[variant],
                   is_same ? row->text : expected.text, value->is_lower_bound ? "at least " : "",
                   is_same ? figure : got.text, value->is_partial ? " of what is over so far" : "");
}

static weir_status keep_unmet(struct sim_experiment *experiment, const char *text)
{
    char **unmet = realloc(experiment->unmet, (experiment->unmet_count + 1) * sizeof(*unmet));
    if (unmet == NULL)
        return WEIR_ENOMEM;
    experiment->unmet = unmet;
    unmet[experiment->unmet_count] = strdup(text);
    experiment->unmet_count += unmet[experiment->unmet_count] == NULL ? 0 : 1;
    return WEIR_OK;
}

uint32_t sim_experiment_early(const struct sim_experiment *experiment, size_t variant,
                              char text[SIM_EARLY_TEXT])
{
    char first[SIM_RUN_MESSAGE] = "";
    uint32_t count = 0;
    bool is_same = true;
    for (uint32_t r = 0; r < experiment->replications; r++) {
        struct sim_run_summary run;
        if (!sim_experiment_summary(experiment, variant * experiment->replications + r, &run) ||
            strcmp(run.outcome, SIM_ENDED_EARLY) != 0)
            continue;
        if (count++ == 0)
            (void)snprintf(first, sizeof first, "%s", run.message);
        is_same = is_same && strcmp(first, run.message) == 0;
    }
    if (count > 0 && experiment->replications == 1)
        (void)snprintf(text, SIM_EARLY_TEXT, "ended early: %s", first);
    else if (count > 0)
        (void)snprintf(text, SIM_EARLY_TEXT, "ended early in %u of %u runs: %s%s", count,
                       experiment->replications, is_same ? "" : "the first: ", first);
    return count;
}

/* Whether an expectation of the scenario that is met speaks of early ends of the variant. */
static bool may_end_early(const struct sim_experiment *experiment, size_t variant)
{
    const struct sim_scenario *scenario = experiment->scenarios[0];
    for (size_t i = 0; i < scenario->expects_count; i++) {
        const struct sim_expect *expect = &scenario->expects[i];
        if (strcmp(expect->metric, SIM_METRIC_ENDED_EARLY) == 0 &&
            find_variant(experiment, expect->variant, variant) == variant &&
            is_met(expect, sim_experiment_mean(experiment, variant, expect->metric, ""),
                   bound_of(experiment, expect, variant).value))
            return true;
    }
    return false;
}

static weir_status judge_end(struct sim_experiment *experiment, size_t variant,
                             struct sim_recorder *recorder, struct weir_error *error)
{
    char text[SIM_EARLY_TEXT];
    char sentence[SIM_EARLY_TEXT + 256];
    const uint32_t count = sim_experiment_early(experiment, variant, text);
    if (count == 0 || may_end_early(experiment, variant))
        return WEIR_OK;
    const struct sim_expectation_row row = { .text = SIM_METRIC_ENDED_EARLY " = 0",
                                             .variant = experiment->labels[variant],
                                             .value = (double)count / experiment->replications };
    (void)snprintf(sentence, sizeof sentence, "variant %s %s", row.variant, text);
    experiment->expectations++;
    experiment->unexpected_ends += count;
    WEIR_TRY(keep_unmet(experiment, sentence));
    return sim_recorder_expectation(recorder, &row, error);
}

static weir_status judge(struct sim_experiment *experiment, const struct sim_expect *expect,
                         size_t variant, struct sim_recorder *recorder, struct weir_error *error)
{
    const struct sim_figure value =
        sim_experiment_figure(experiment, variant, expect->metric, thing_of(expect));
    const struct sim_figure bound = bound_of(experiment, expect, variant);
    const bool met = is_met(expect, value.value, bound.value) && !is_open(expect, &value, &bound);
    char text[400];
    char than[180];
    write_than(expect, than, sizeof than);
    (void)snprintf(text, sizeof(text), "%s%s%s%s %s %.6g%s", expect->metric,
                   expect->of == NULL ? "" : "[", expect->of == NULL ? "" : expect->of,
                   expect->of == NULL ? "" : "]", op_text(expect->op), bound.value, than);
    const struct sim_expectation_row row = { .line = expect->line,
                                             .text = text,
                                             .variant = experiment->labels[variant],
                                             .value = value.value,
                                             .bound = bound.value,
                                             .is_met = met };
    experiment->expectations++;
    experiment->expectations_met += met ? 1 : 0;
    if (!met) {
        char sentence[800];
        write_unmet(experiment, expect, variant, &row, &value, sentence, sizeof sentence);
        WEIR_TRY(keep_unmet(experiment, sentence));
    }
    return sim_recorder_expectation(recorder, &row, error);
}

weir_status sim_experiment_judge(struct sim_experiment *experiment, struct sim_recorder *recorder,
                                 struct weir_error *error)
{
    const struct sim_scenario *scenario = experiment->scenarios[0];
    for (size_t i = 0; i < scenario->expects_count; i++) {
        const struct sim_expect *expect = &scenario->expects[i];
        const size_t only = find_variant(experiment, expect->variant, SIZE_MAX);
        if (expect->variant != NULL && only == SIZE_MAX)
            continue; /* that variant is not part of this run */
        if (expect->than_variant != NULL &&
            find_variant(experiment, expect->than_variant, SIZE_MAX) == SIZE_MAX)
            continue;
        for (size_t v = 0; v < experiment->variant_count; v++)
            if (expect->variant == NULL || v == only)
                WEIR_TRY(judge(experiment, expect, v, recorder, error));
    }
    for (size_t v = 0; v < experiment->variant_count; v++)
        WEIR_TRY(judge_end(experiment, v, recorder, error));
    return WEIR_OK;
}
