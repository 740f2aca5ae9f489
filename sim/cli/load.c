/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loading a scenario for a command: see the header.
 */
#include "sim/cli/load.h"

#include "analysis/metrics.h"
#include "analysis/moment.h"
#include "sim/cli/limits.h"
#include "sim/scenario/read/diagnostic.h"

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

weir_status sim_cli_moment(const char *text, int64_t start_unix_s, double *at_s,
                           struct weir_error *error)
{
    struct an_moment moment = { .kind = AN_MOMENT_NONE };
    if (!an_moment_parse(text, &moment))
        return weir_fail(error, WEIR_EFORMAT,
                         "expected a time since the start (90, 1h30m), a time of day (14:05:30) or "
                         "a stamp (2026-03-01T14:05:00Z), found '%s'",
                         text);
    return an_moment_since(&moment, start_unix_s, at_s, error);
}

int sim_cli_load(const char *path, const struct sim_options *options,
                 const struct sim_policies *policies, struct sim_scenario **scenario)
{
    const struct sim_limits limits = sim_limits_of(&options->limits);
    const struct sim_scenario_source source = { .path = path,
                                                .limits = &limits.files,
                                                .sets = options->sets.items,
                                                .sets_count = options->sets.count,
                                                .asked_sets = options->sets.count,
                                                .policies = policies,
                                                .metric_named = sim_cli_metric,
                                                .moment_since = sim_cli_moment };
    struct sim_diagnostics diagnostics = { .items = NULL };
    const weir_status status = sim_scenario_load(&source, scenario, &diagnostics);
    sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    return sim_cli_exit_code(status);
}
