/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches; see the header. */
#include "sim/cli/ask/search_plan.h"

#include <stdlib.h>
#include <string.h>

/* ---- one value ---- */

/* Looks at a value that was run; where that does not tell it is run longer once. */
static weir_status settle(struct sim_search *search, struct an_db *db, const char *label,
                          struct sim_search_value *value, struct weir_error *error)
{
    struct an_judged judged;
    const uint32_t count = value->is_longer ? 2 * search->replications : search->replications;
    WEIR_TRY(an_points_focus_runs(db, label, 0, count, error));
    WEIR_TRY(an_goal_judge(db, &search->goal, &judged, error));
    (void)snprintf(value->text, sizeof value->text, "%s", judged.means);
    value->verdict = judged.hold;
    if (value->verdict == AN_UNDECIDED && !value->is_longer) {
        value->is_longer = true;
        value->state = SIM_SEARCH_LONGER;
        return WEIR_OK;
    }
    value->is_by_mean = value->verdict == AN_UNDECIDED;
    if (value->is_by_mean)
        value->verdict = judged.means_hold ? AN_HOLDS : AN_FAILS;
    value->state = SIM_SEARCH_JUDGED;
    return WEIR_OK;
}

static weir_status confirm(struct sim_search *search, struct an_db *db, const char *label,
                           struct sim_search_value *value, struct weir_error *error)
{
    struct an_judged judged;
    WEIR_TRY(
        an_points_focus_runs(db, label, 2 * search->replications, search->replications, error));
    WEIR_TRY(an_goal_judge(db, &search->goal, &judged, error));
    (void)snprintf(value->confirm, sizeof value->confirm, "%s", judged.means);
    value->state = judged.means_hold ? SIM_SEARCH_CONFIRMED : SIM_SEARCH_REFUTED;
    return WEIR_OK;
}

/* ---- rounds ---- */

/* One step with what bisection asks for; true = its runs have to be made first. */
static weir_status step_search(struct sim_search *search, struct sim_search_arm *arm, size_t place,
                               const char *label, struct an_db *db, bool *has_to_run,
                               struct weir_error *error)
{
    struct sim_search_value *value = &arm->values[place];
    *has_to_run = value->state == SIM_SEARCH_NEW;
    if (*has_to_run) {
        value->state = SIM_SEARCH_ASKED;
        return WEIR_OK;
    }
    WEIR_TRY(settle(search, db, label, value, error));
    *has_to_run = value->state == SIM_SEARCH_LONGER;
    if (!*has_to_run)
        sim_bisect_tell(&arm->bisect, place, value->verdict == AN_HOLDS);
    return WEIR_OK;
}

/* The same with an answer. What looked good and is not confirmed has failed. */
static weir_status step_answer(struct sim_search *search, struct sim_search_arm *arm, size_t place,
                               const char *label, struct an_db *db, bool *has_to_run,
                               struct weir_error *error)
{
    struct sim_search_value *value = &arm->values[place];
    *has_to_run = value->state == SIM_SEARCH_JUDGED;
    if (*has_to_run) {
        value->state = SIM_SEARCH_CONFIRMING;
        return WEIR_OK;
    }
    if (value->state == SIM_SEARCH_CONFIRMING)
        WEIR_TRY(confirm(search, db, label, value, error));
    arm->is_through = value->state == SIM_SEARCH_CONFIRMED;
    if (!arm->is_through)
        sim_bisect_tell(&arm->bisect, place, false);
    return WEIR_OK;
}

static weir_status advance(struct sim_search *search, struct sim_search_arm *arm,
                           const struct sim_experiment *experiment, struct an_db *db,
                           struct weir_error *error)
{
    bool has_to_run = false;
    while (!has_to_run && !arm->is_through) {
        size_t place = sim_bisect_next(&arm->bisect);
        const bool is_answer = place == search->value_count;
        if (is_answer)
            place = sim_bisect_answer(&arm->bisect);
        if (place == search->value_count) {
            arm->is_through = true; /* none of them holds */
            return WEIR_OK;
        }
        const char *label = experiment->labels[arm->variants[place]];
        if (is_answer)
            WEIR_TRY(step_answer(search, arm, place, label, db, &has_to_run, error));
        else
            WEIR_TRY(step_search(search, arm, place, label, db, &has_to_run, error));
    }
    return WEIR_OK;
}

static void mark(const struct sim_search *search, const struct sim_experiment *experiment,
                 bool *wanted)
{
    const uint32_t n = search->replications;
    for (size_t a = 0; a < search->arm_count; a++)
        for (size_t i = 0; i < search->value_count; i++) {
            const struct sim_search_value *value = &search->arms[a].values[i];
            bool *runs = wanted + search->arms[a].variants[i] * experiment->replications;
            for (uint32_t r = 0; r < n && value->state != SIM_SEARCH_NEW; r++) {
                runs[r] = true;
                runs[n + r] = runs[n + r] || value->is_longer;
                runs[2 * n + r] = runs[2 * n + r] || value->state >= SIM_SEARCH_CONFIRMING;
            }
        }
}

/* Place i of an arm is the i-th value, or of what is to be largest the last but i. */
static void lay_out(struct sim_search *search)
{
    for (size_t a = 0; a < search->arm_count; a++)
        for (size_t i = 0; i < search->value_count; i++) {
            const size_t value = search->wants_largest ? search->value_count - 1 - i : i;
            search->arms[a].variants[i] = value * search->arm_count + a;
        }
}

static weir_status next(void *self, const struct sim_experiment *experiment, bool *wanted,
                        bool *is_over, struct weir_error *error)
{
    struct sim_search *search = self;
    struct an_db *db = NULL;
    weir_status status = search->has_begun ? an_open(experiment->path, &db, error) : WEIR_OK;
    if (status == WEIR_OK && db != NULL)
        status = an_goal_read(db, &search->goal, error);
    search->has_begun = true;
    *is_over = true;
    for (size_t a = 0; a < search->arm_count && status == WEIR_OK; a++) {
        status = advance(search, &search->arms[a], experiment, db, error);
        *is_over = *is_over && search->arms[a].is_through;
    }
    an_close(db);
    mark(search, experiment, wanted);
    return status;
}

bool sim_search_begin(struct sim_search *search, size_t values, size_t arms)
{
    bool is_complete = true;
    search->arms = calloc(arms + 1, sizeof *search->arms);
    search->arm_count = search->arms == NULL ? 0 : arms;
    search->value_count = values;
    for (size_t a = 0; a < search->arm_count; a++) {
        struct sim_search_arm *arm = &search->arms[a];
        arm->variants = calloc(values + 1, sizeof *arm->variants);
        arm->values = calloc(values + 1, sizeof *arm->values);
        is_complete = sim_bisect_begin(&arm->bisect, values) && arm->variants != NULL &&
                      arm->values != NULL && is_complete;
    }
    (void)snprintf(search->rule, sizeof search->rule, "bisection for the %s of %zu, %u at a time",
                   search->wants_largest ? "largest" : "smallest", values, search->replications);
    search->rounds = (struct sim_rounds){ .self = search, .next = next, .rule = search->rule };
    if (is_complete && search->arms != NULL)
        lay_out(search);
    return is_complete && search->arms != NULL;
}

void sim_search_end(struct sim_search *search)
{
    for (size_t a = 0; a < search->arm_count; a++) {
        sim_bisect_end(&search->arms[a].bisect);
        free(search->arms[a].variants);
        free(search->arms[a].values);
    }
    free(search->arms);
    search->arms = NULL;
    search->arm_count = 0;
}
