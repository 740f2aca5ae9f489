/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loading a scenario for a command: see the header.
 */
#include "sim/cli/load.h"

#include "analysis/metrics.h"
#include "sim/cli/limits.h"
#include "sim/scenario/diagnostic.h"

int sim_cli_exit_code(weir_status status)
{
    if (status == WEIR_OK)
        return SIM_EXIT_OK;
    if (status == WEIR_ENOMEM)
        return SIM_EXIT_RESOURCE;
    return status == WEIR_EIO ? SIM_EXIT_INPUT : SIM_EXIT_USAGE;
}

const char *sim_cli_metric(const char *name, const char **unit, const char **near)
{
    enum { MOST = 256 };
    const char *names[MOST];
    size_t count = 0;
    const char *id = an_metric_named(name);
    const struct an_metric *known = an_metric_find(id);
    *unit = known == NULL ? "" : known->unit;
    for (size_t i = 0; known == NULL && i < an_metric_count() && count + 2 <= MOST; i++) {
        names[count++] = an_metric_at(i)->label;
        names[count++] = an_metric_at(i)->id;
    }
    *near = known == NULL ? sim_near_name(name, names, count) : NULL;
    return id;
}

int sim_cli_load(const char *path, const struct sim_options *options,
                 const struct sim_policies *policies, struct sim_scenario **scenario)
{
    const struct sim_limits limits = sim_limits_of(&options->limits);
    const struct sim_scenario_source source = { .path = path,
                                                .limits = &limits.files,
                                                .sets = options->sets.items,
                                                .sets_count = options->sets.count,
                                                .policies = policies,
                                                .metric_named = sim_cli_metric };
    struct sim_diagnostics diagnostics = { .items = NULL };
    const weir_status status = sim_scenario_load(&source, scenario, &diagnostics);
    sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    return sim_cli_exit_code(status);
}
