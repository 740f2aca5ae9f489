/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repeating a run up to a decision (see explain_decide.h). Nothing is stored for this: a run is
 * determined by its resolved scenario, seed and replication, all of which are in the database.
 */
#include "sim/cli/ask/explain_decide.h"

#include "sim/cli/experiment/isolate_run.h"
#include "sim/cli/experiment/stored_run.h"
#include "sim/cli/plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shown {
    const struct sim_decide_question *question;
    uint32_t count;
};

/* Line breaks of a document are between its values only: texts have theirs escaped. */
static weir_status write_document(void *self, const char *text, size_t length, bool *is_enough)
{
    struct shown *shown = self;
    FILE *out = shown->question->out;
    const bool is_line = shown->question->count > 1;
    for (size_t i = 0; i < length; i++)
        if (!is_line || text[i] != '\n')
            (void)fputc(text[i], out);
    if (is_line)
        (void)fputc('\n', out);
    *is_enough = ++shown->count == shown->question->count;
    return ferror(out) ? WEIR_EIO : WEIR_OK;
}

static weir_status repeat(const struct sim_scenario *scenario, const struct sim_stored_run *run,
                          const struct sim_decide_question *question, bool is_isolated,
                          struct weir_error *error)
{
    struct sim_run_summary *summary = calloc(1, sizeof(*summary));
    struct shown shown = { .question = question };
    double at_s = 0;
    if (summary == NULL)
        return WEIR_ENOMEM;
    weir_status status =
        an_moment_in(&question->at, scenario->start_unix_s, (double)INFINITY, &at_s, error);
    if (status != WEIR_OK) {
        free(summary);
        return status;
    }
    const struct sim_witness witness = { .self = &shown, .document = write_document };
    const struct sim_run_options options = { .seed = run->seed,
                                             .replication = run->replication,
                                             .variant = "",
                                             .export_at_s = at_s,
                                             .witness = &witness };
    status = is_isolated ? sim_isolate_run(scenario, &options, NULL, question->out, summary)
                         : sim_run(scenario, &options, summary);
    const bool is_none = question->count == 1 || (!is_isolated && shown.count == 0);
    if (status != WEIR_OK)
        (void)weir_fail(error, status, "%s", summary->message);
    else if (is_none && strcmp(summary->outcome, SIM_WAS_ENOUGH) != 0)
        status = weir_fail(error, WEIR_ENOTFOUND,
                           "there was no decision at or after %.9g s; the run ended at %.9g s",
                           at_s, summary->simulated_s);
    free(summary);
    return status;
}

int sim_explain_decide(const struct sim_decide_question *question,
                       const struct sim_options *options)
{
    const struct sim_run_choice *choice = question->choice;
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_policies policies = { 0 };
    struct sim_stored stored = { 0 };
    struct sim_scenario *scenario = NULL;
    int code = SIM_EXIT_OK;
    weir_status status =
        sim_stored_open(question->database, choice->variant == NULL ? "" : choice->variant,
                        choice->replication, &stored, &error);
    if (status == WEIR_OK)
        code = sim_stored_policies(&stored, options, &policies);
    if (status == WEIR_OK && code == SIM_EXIT_OK) {
        status = sim_stored_scenario(&stored, &stored.runs[0], &policies, &scenario, &error);
        if (status == WEIR_OK)
            status =
                repeat(scenario, &stored.runs[0], question, sim_isolate_needed(&policies), &error);
    }
    sim_scenario_destroy(scenario);
    sim_stored_clear(&stored);
    sim_plugins_clear(&policies);
    if (code == SIM_EXIT_OK)
        code = sim_analysis_exit(status, &error);
    return status == WEIR_EPOLICY ? SIM_EXIT_POLICY : code;
}
