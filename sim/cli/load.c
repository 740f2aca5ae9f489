/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loading a scenario for a command: see the header.
 */
#include "sim/cli/load.h"

int sim_cli_exit_code(weir_status status)
{
    if (status == WEIR_OK)
        return SIM_EXIT_OK;
    if (status == WEIR_ENOMEM)
        return SIM_EXIT_RESOURCE;
    return status == WEIR_EIO ? SIM_EXIT_INPUT : SIM_EXIT_USAGE;
}

int sim_cli_load(const char *path, const struct sim_options *options,
                 const struct sim_policies *policies, struct sim_scenario **scenario)
{
    const struct sim_scenario_source source = { .path = path,
                                                .sets = options->sets.items,
                                                .sets_count = options->sets.count,
                                                .policies = policies };
    struct sim_diagnostics diagnostics = { .items = NULL };
    const weir_status status = sim_scenario_load(&source, scenario, &diagnostics);
    sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    return sim_cli_exit_code(status);
}
