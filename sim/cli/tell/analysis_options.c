/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options of the commands that read result databases; see the header.
 */
#include "sim/cli/tell/analysis_options.h"

static const struct sim_option choice_rows[] = {
    { "variant", 0, "LABEL", SIM_OPTION(TEXT, sim_run_choice, variant),
      "Variant of the run (default: the baseline)" },
    { "replication", 0, "N", SIM_OPTION(COUNT, sim_run_choice, replication),
      "Replication of the run (default: 0)" },
};
const struct sim_option_table sim_run_choice_options = { SIM_OPTION_ROWS(choice_rows) };

int sim_analysis_exit(weir_status status, const struct weir_error *error)
{
    if (status == WEIR_OK)
        return SIM_EXIT_OK;
    (void)fprintf(stderr, "weir: %s\n", error->text);
    if (status == WEIR_EINTERRUPTED)
        return SIM_EXIT_INTERRUPTED;
    if (status == WEIR_ENOMEM)
        return SIM_EXIT_RESOURCE;
    const bool is_usage = status == WEIR_ENOTFOUND || status == WEIR_EINVAL;
    return is_usage ? SIM_EXIT_USAGE : SIM_EXIT_INPUT;
}
