/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of policies that are tuned; see the header. */
#include "sim/cli/ask/tune_settings.h"

#include "sim/cli/experiment/design.h"
#include "sim/cli/experiment/variant_option.h"
#include "sim/cli/load.h"
#include "sim/cli/plugin.h"
#include "workloads/trace_shelf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWN = 4 * SIM_TUNE_SETTINGS, KNOBS = 12 };

struct policy {
    const char *kind, *name;
    const struct weir_param *params;
    uint32_t count;
};

/* Built in; the first kind that has one of that name. */
static bool find_policy(const char *name, struct policy *policy)
{
    const struct weir_placement_ops *placement = weir_placement_find(name);
    const struct weir_scaling_ops *scaling = weir_scaling_find(name);
    const struct weir_queueing_ops *queueing = weir_queueing_find(name);
    const struct weir_capacity_ops *capacity = weir_capacity_find(name);
    if (placement != NULL)
        *policy = (struct policy){ "placement", name, placement->params, placement->param_count };
    else if (scaling != NULL)
        *policy = (struct policy){ "scaling", name, scaling->params, scaling->param_count };
    else if (queueing != NULL)
        *policy = (struct policy){ "queueing", name, queueing->params, queueing->param_count };
    else if (capacity != NULL)
        *policy = (struct policy){ "capacity", name, capacity->params, capacity->param_count };
    return placement != NULL || scaling != NULL || queueing != NULL || capacity != NULL;
}

static void refuse_policy(const char *name)
{
    struct sim_policies policies;
    const struct sim_words none = { .items = NULL };
    if (sim_plugins_load(&none, false, &policies) == SIM_EXIT_OK)
        sim_policies_refuse("weir search: --tune", &policies, name);
    sim_plugins_clear(&policies);
}

static bool is_knob(const struct weir_param *param)
{
    return (param->kind == WEIR_PARAM_NUMBER || param->kind == WEIR_PARAM_COUNT ||
            param->kind == WEIR_PARAM_DURATION) &&
           isfinite(param->initial) && param->max > param->min;
}

/* From a quarter to four times of the default, on a scale of factors; of 0 up to 1. */
static double value_at(const struct weir_param *param, double place)
{
    const double value = param->initial > 0 ? param->initial * pow(4.0, 2 * place - 1) : place;
    const double within = fmin(fmax(value, param->min), param->max);
    return param->kind == WEIR_PARAM_COUNT ? round(within) : within;
}

/* Places in 0 .. 1 for every knob, as axes of a Latin hypercube. */
static bool draw(const struct policy *policy, struct sim_axes *axes)
{
    *axes = (struct sim_axes){ .items = calloc(KNOBS + 1, sizeof *axes->items),
                               .design = SIM_DESIGN_LHS,
                               .drawn = DRAWN };
    for (uint32_t p = 0; axes->items != NULL && p < policy->count && axes->count < KNOBS; p++) {
        if (!is_knob(&policy->params[p]))
            continue;
        struct sim_axis *axis = &axes->items[axes->count++];
        axis->path = strdup(policy->params[p].name);
        axis->is_span = true;
        axis->to = 1;
        if (axis->path == NULL)
            return false;
    }
    return axes->items != NULL && (axes->count == 0 || sim_design_draw(axes));
}

/* The index-th setting as --variant takes it; 0 is the default. */
static char *write_setting(const struct policy *policy, const struct sim_axes *axes, size_t number,
                           size_t index)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    (void)fprintf(out, "%s %zu: sched.%s=%s", policy->name, number, policy->kind, policy->name);
    for (size_t a = 0; index > 0 && a < axes->count; a++) {
        const struct weir_param *param =
            &policy->params[weir_param_find(policy->params, policy->count, axes->items[a].path)];
        (void)fprintf(out, ", sched.%s.%s=%.4g%s", policy->kind, param->name,
                      value_at(param, strtod(axes->items[a].values[index - 1], NULL)),
                      param->kind == WEIR_PARAM_DURATION ? " s" : "");
    }
    return fclose(out) == 0 ? text : NULL;
}

/* Whether the scenario takes it; nobody hears why not. */
static bool is_taken(const struct sim_simulate_options *simulate, struct wl_trace_shelf *traces,
                     const char *word)
{
    const struct sim_words one = { .items = &word, .count = 1 };
    const size_t own = simulate->common.sets.count;
    struct sim_variant *variant = sim_variants_parse(&one);
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { .items = NULL };
    const char **sets = calloc(own + (variant == NULL ? 0 : variant->sets_count) + 1, sizeof *sets);
    bool is_fine = variant != NULL;
    if (sets == NULL)
        abort();
    for (size_t i = 0; is_fine && i < own; i++)
        sets[i] = simulate->common.sets.items[i];
    for (size_t i = 0; is_fine && i < variant->sets_count; i++)
        sets[own + i] = variant->sets[i];
    const struct sim_scenario_source source = { .path = simulate->path,
                                                .sets = sets,
                                                .sets_count =
                                                    is_fine ? own + variant->sets_count : 0,
                                                .metric_named = sim_cli_metric,
                                                .moment_since = sim_cli_moment,
                                                .traces = traces,
                                                .is_variant = true };
    is_fine = is_fine && sim_scenario_load(&source, &scenario, &diagnostics) == WEIR_OK;
    sim_scenario_destroy(scenario);
    sim_diagnostics_clear(&diagnostics);
    sim_variants_free(variant, 1);
    free(sets);
    return is_fine;
}

static int add_policy(struct sim_tune *tune, const struct policy *policy,
                      const struct sim_simulate_options *simulate, struct wl_trace_shelf *traces)
{
    struct sim_tune_arm *arm = &tune->arms[tune->arm_count++];
    struct sim_axes axes;
    int code = draw(policy, &axes) ? SIM_EXIT_OK : SIM_EXIT_RESOURCE;
    *arm = (struct sim_tune_arm){ .kind = policy->kind,
                                  .name = policy->name,
                                  .first = tune->setting_count };
    const size_t most = axes.count == 0 ? 1 : DRAWN;
    for (size_t i = 0; code == SIM_EXIT_OK && i < most && arm->count < tune->settings; i++) {
        char *word = write_setting(policy, &axes, arm->count, i);
        if (word != NULL && is_taken(simulate, traces, word)) {
            tune->words[tune->setting_count++] = word;
            arm->count++;
            continue;
        }
        if (i == 0) {
            (void)fprintf(stderr, "weir: --tune: the scenario does not take %s\n", policy->name);
            code = SIM_EXIT_USAGE;
        }
        free(word);
    }
    sim_axes_clear(&axes);
    return code;
}

int sim_tune_settings(struct sim_tune *tune, const struct sim_words *policies,
                      const struct sim_simulate_options *simulate)
{
    struct wl_trace_shelf *traces = wl_trace_shelf_open();
    int code = traces == NULL ? SIM_EXIT_RESOURCE : SIM_EXIT_OK;
    for (size_t i = 0; i < policies->count && code == SIM_EXIT_OK; i++) {
        struct policy policy;
        if (find_policy(policies->items[i], &policy)) {
            code = add_policy(tune, &policy, simulate, traces);
            continue;
        }
        refuse_policy(policies->items[i]);
        code = SIM_EXIT_USAGE;
    }
    wl_trace_shelf_close(traces);
    return code;
}

const char *sim_tune_setting(const struct sim_tune *tune, size_t arm, size_t setting)
{
    const char *word = tune->words[tune->arms[arm].first + setting];
    const char *values = strchr(word, ',');
    return setting == 0 || values == NULL ? "default" : values + 2;
}
