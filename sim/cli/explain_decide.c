/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repeating a run up to a decision (see explain_decide.h). Nothing is stored for this: a run is
 * determined by its resolved scenario, seed and replication, all of which are in the database.
 */
#include "sim/cli/explain_decide.h"

#include "sim/cli/isolate_run.h"
#include "sim/cli/plugin.h"
#include "sim/cli/stored_run.h"

#include <stdlib.h>
#include <string.h>

struct question {
    double at_s;
    FILE *out;
    bool is_isolated; /* a plug-in decides */
};

static weir_status repeat(const struct sim_scenario *scenario, const struct sim_stored_run *run,
                          const struct question *question, struct weir_error *error)
{
    struct sim_run_summary *summary = calloc(1, sizeof(*summary));
    const struct sim_run_options options = { .seed = run->seed,
                                             .replication = run->replication,
                                             .variant = "",
                                             .export_at_s = question->at_s,
                                             .export_to = question->out };
    if (summary == NULL)
        return WEIR_ENOMEM;
    weir_status status = question->is_isolated
                             ? sim_isolate_run(scenario, &options, NULL, question->out, summary)
                             : sim_run(scenario, &options, summary);
    if (status != WEIR_OK)
        (void)weir_fail(error, status, "%s", summary->message);
    else if (strcmp(summary->outcome, "complete") == 0 || summary->simulated_s < question->at_s)
        status = weir_fail(error, WEIR_ENOTFOUND,
                           "there was no decision at or after %.9g s; the run ended at %.9g s",
                           question->at_s, summary->simulated_s);
    free(summary);
    return status;
}

int sim_explain_decide(const char *database, const struct sim_run_choice *choice, double at_s,
                       const struct sim_options *options, FILE *out)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_policies policies = { 0 };
    struct sim_stored stored = { 0 };
    struct sim_scenario *scenario = NULL;
    int code = SIM_EXIT_OK;
    weir_status status = sim_stored_open(database, choice->variant == NULL ? "" : choice->variant,
                                         choice->replication, &stored, &error);
    if (status == WEIR_OK)
        code = sim_stored_policies(&stored, options->plugins, options->plugins_count, &policies);
    const struct question question = { at_s, out, sim_isolate_needed(&policies) };
    if (status == WEIR_OK && code == SIM_EXIT_OK) {
        status = sim_stored_scenario(&stored, &stored.runs[0], &policies, &scenario, &error);
        if (status == WEIR_OK)
            status = repeat(scenario, &stored.runs[0], &question, &error);
    }
    sim_scenario_destroy(scenario);
    sim_stored_clear(&stored);
    sim_plugins_clear(&policies);
    if (code == SIM_EXIT_OK)
        code = sim_analysis_exit(status, &error);
    return status == WEIR_EPOLICY ? SIM_EXIT_POLICY : code;
}
