/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the scenarios of an experiment; see the header. */
#include "sim/cli/experiment/experiment_load.h"

#include "sim/cli/experiment/design.h"
#include "sim/cli/load.h"
#include "sim/cli/options.h"
#include "workloads/trace_shelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SET SIM_AXIS_SCENARIO "="

/* The file that a variant stands on, where an axis goes along files; NULL = that of all. */
static const char *file_of(const struct sim_variant *variant)
{
    for (size_t i = 0; variant != NULL && i < variant->sets_count; i++)
        if (strncmp(variant->sets[i], FILE_SET, strlen(FILE_SET)) == 0)
            return variant->sets[i] + strlen(FILE_SET);
    return NULL;
}

/* The first that stands on the same file: loads are of its cluster. */
static const struct sim_scenario *baseline_of(const struct sim_experiment *experiment,
                                              const char *path)
{
    if (experiment->scenarios == NULL || path == NULL)
        return experiment->scenarios == NULL ? NULL : experiment->scenarios[0];
    for (size_t v = 0; v < experiment->points.count; v++) {
        const char *its = file_of(&experiment->points.variants[v]);
        if (experiment->scenarios[v] != NULL && its != NULL && strcmp(its, path) == 0)
            return experiment->scenarios[v];
    }
    return NULL;
}

/* A variant answers for what it sets, and the scenario as it is for all where no other follows. */
static size_t asked_of(const struct sim_experiment_options *options,
                       const struct sim_variant *variant, size_t count)
{
    if (variant != NULL)
        return count - options->sets_count;
    const bool has_axes = options->axes != NULL && options->axes->count > 0;
    return options->variants_count > 0 || has_axes ? 0 : count;
}

static int load_one(const struct sim_experiment_options *options, const struct sim_variant *variant,
                    const struct sim_experiment *experiment, struct sim_scenario **scenario)
{
    const size_t extra = variant == NULL ? 0 : variant->sets_count;
    const char **sets = calloc(options->sets_count + extra + 1, sizeof(*sets));
    if (sets == NULL)
        return SIM_EXIT_RESOURCE;
    for (size_t i = 0; i < options->sets_count; i++)
        sets[i] = options->sets[i];
    const char *path = file_of(variant);
    size_t count = options->sets_count;
    for (size_t i = 0; i < extra; i++)
        if (path == NULL || variant->sets[i] + strlen(FILE_SET) != path)
            sets[count++] = variant->sets[i];
    const struct sim_scenario_source source = { .path =
                                                    path == NULL ? options->scenario_path : path,
                                                .limits = &options->limits.files,
                                                .text =
                                                    path == NULL ? options->scenario_text : NULL,
                                                .sets = sets,
                                                .sets_count = count,
                                                .asked_sets = asked_of(options, variant, count),
                                                .policies = options->policies,
                                                .metric_named = sim_cli_metric,
                                                .moment_since = sim_cli_moment,
                                                .baseline = baseline_of(experiment, path),
                                                .traces = experiment->traces,
                                                .is_variant = variant != NULL };
    struct sim_diagnostics diagnostics = { 0 };
    const weir_status status = sim_scenario_load(&source, scenario, &diagnostics);
    if (diagnostics.errors > 0 && variant != NULL)
        (void)fprintf(stderr, "weir: variant %s:\n", variant->label);
    if (diagnostics.errors > 0 || variant == NULL)
        sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    free(sets);
    return sim_exit_for(status);
}

/* Whether a label is there already; says so. */
static bool is_repeated(const struct sim_variant *const *variants, size_t count, const char *label)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(variants[i] == NULL ? "base" : variants[i]->label, label) == 0) {
            (void)fprintf(stderr, "weir: --variant: there is a variant '%s' already\n", label);
            return true;
        }
    return false;
}

/* Those of the scenario, or the scenario as it is (NULL), and behind them those of the command
 * line; of one run the latter alone. 0 = they cannot be. */
static size_t list_variants(const struct sim_experiment_options *options,
                            const struct sim_scenario *base, const struct sim_variant ***variants)
{
    const bool is_one_given = !options->all_variants && options->variants_count > 0;
    const bool is_replaced = options->axes != NULL && options->axes->replaces_variants;
    const size_t own = options->all_variants && !is_replaced ? base->variants_count : 0;
    size_t count = 0;
    const struct sim_variant **list =
        calloc(own + options->variants_count + 1, sizeof(struct sim_variant *));
    *variants = list;
    if (list == NULL)
        return 0;
    for (size_t v = 0; v < own; v++)
        list[count++] = &base->variants[v];
    if (count == 0 && !is_one_given && !(is_replaced && options->variants_count > 0))
        list[count++] = NULL;
    for (size_t v = 0; v < options->variants_count; v++) {
        if (is_repeated(list, count, options->variants[v].label))
            return 0;
        list[count++] = &options->variants[v];
    }
    return count;
}

/* Every arm at every point of the axes, in the place of the arms. */
static bool list_points(const struct sim_experiment_options *options,
                        const struct sim_scenario *base, struct sim_experiment *experiment,
                        const struct sim_variant ***variants, size_t *count)
{
    struct sim_points *points = &experiment->points;
    if (options->axes == NULL || options->axes->count == 0)
        return true;
    if (!sim_design_settle(options->axes, base))
        return false;
    if (!sim_points_make(options->axes, *variants, *count, points))
        return false;
    const struct sim_variant **list = calloc(points->count + 1, sizeof(struct sim_variant *));
    if (list == NULL)
        return false;
    for (size_t v = 0; v < points->count; v++)
        list[v] = &points->variants[v];
    free(*variants);
    *variants = list;
    *count = points->count;
    return true;
}

/* Of those that are read later the last one is looked at all the same: an end of the range. */
static bool is_read_now(const struct sim_experiment_options *options, size_t variant, size_t count)
{
    return !options->is_lazy || variant == 0 || variant + 1 == count;
}

/* The scenario as it is, which is read already, is taken over. */
static int load_all(const struct sim_experiment_options *options, struct sim_experiment *experiment,
                    const struct sim_variant *const *variants, struct sim_scenario **base)
{
    int code = SIM_EXIT_OK;
    const size_t count = experiment->variant_count;
    for (size_t v = 0; v < count && code == SIM_EXIT_OK; v++) {
        experiment->labels[v] = strdup(variants[v] == NULL ? "base" : variants[v]->label);
        if (experiment->labels[v] == NULL)
            return SIM_EXIT_RESOURCE;
        if (variants[v] == NULL) {
            experiment->scenarios[v] = *base;
            *base = NULL;
        } else if (is_read_now(options, v, count))
            code = load_one(options, variants[v], experiment, &experiment->scenarios[v]);
    }
    return code;
}

int sim_experiment_load(const struct sim_experiment_options *options,
                        struct sim_experiment *experiment)
{
    struct sim_scenario *base = NULL;
    experiment->traces = wl_trace_shelf_open();
    if (experiment->traces == NULL)
        return SIM_EXIT_RESOURCE;
    int code = load_one(options, NULL, experiment, &base);
    if (code != SIM_EXIT_OK)
        return code;
    const struct sim_variant **variants = NULL;
    size_t count = list_variants(options, base, &variants);
    if (count == 0 || !list_points(options, base, experiment, &variants, &count))
        code = SIM_EXIT_USAGE;
    experiment->scenarios = calloc(count + 1, sizeof(struct sim_scenario *));
    experiment->labels = calloc(count + 1, sizeof(*experiment->labels));
    if (experiment->scenarios == NULL || experiment->labels == NULL)
        code = SIM_EXIT_RESOURCE;
    experiment->variant_count = experiment->labels == NULL ? 0 : count;
    if (code == SIM_EXIT_OK)
        code = load_all(options, experiment, variants, &base);
    free(variants);
    sim_scenario_destroy(base);
    if (!options->is_lazy) { /* all is read */
        wl_trace_shelf_close(experiment->traces);
        experiment->traces = NULL;
    }
    return code;
}

weir_status sim_experiment_need(const struct sim_experiment_options *options,
                                struct sim_experiment *experiment, size_t variant,
                                struct weir_error *error)
{
    if (experiment->scenarios[variant] != NULL)
        return WEIR_OK;
    const int code = load_one(options, &experiment->points.variants[variant], experiment,
                              &experiment->scenarios[variant]);
    return code == SIM_EXIT_OK ? WEIR_OK
                               : weir_fail(error, WEIR_EFORMAT, "variant %s cannot be read",
                                           experiment->labels[variant]);
}
