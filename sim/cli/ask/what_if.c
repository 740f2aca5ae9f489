/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would have helped; see the header. */
#include "sim/cli/ask/what_if.h"

#include "analysis/text.h"
#include "sim/cli/experiment/isolate_run.h"
#include "sim/cli/experiment/stored_run.h"
#include "sim/cli/load.h"
#include "sim/cli/plugin.h"
#include "sim/world/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 5, SET = 256, LABEL = 160 };

/* What is measured of a run: the worst of its windows against the first. */
struct symptom {
    const struct sim_scenario *scenario;
    const char *metric;
    double by_window[SIM_WINDOWS_MOST];
    bool is_open, is_first_open; /* a percentile reaches into what is unfinished: it may be worse */
};

struct trial {
    const struct sim_what_if *asked;
    const struct sim_stored *stored;
    const struct sim_stored_run *run;
    const struct sim_policies *policies;
    struct sim_scenario *baseline;
    char *windows; /* a setting; NULL = those of the scenario */
    struct symptom before;
    double worse; /* of the run as it was, s */
};

/* A change and what became of the symptom. */
struct change {
    char set[SET], label[LABEL];
    double removed; /* share; NAN = it could not be tried */
    double worst;   /* of all windows but the first, s */
    bool is_open;   /* at least that bad */
};

static const double helps = 0.8;

/* ---- one run ---- */

static void take_result(void *state, const struct sim_result_row *row)
{
    struct symptom *symptom = state;
    const size_t length = strlen(symptom->metric);
    if (strncmp(row->metric, symptom->metric, length) != 0 || row->metric[length] != '@' ||
        row->label[0] != '\0')
        return;
    for (size_t w = 0; w < symptom->scenario->windows_count; w++)
        if (strcmp(symptom->scenario->windows[w].name, row->metric + length + 1) == 0) {
            symptom->by_window[w] = row->value;
            bool *is_open = w == 0 ? &symptom->is_first_open : &symptom->is_open;
            *is_open = *is_open || row->is_lower_bound;
        }
}

static double worst_of(const struct symptom *symptom)
{
    double worst = (double)NAN;
    for (size_t w = 1; w < symptom->scenario->windows_count; w++)
        worst = fmax(worst, symptom->by_window[w]);
    return worst;
}

static weir_status run_once(const struct trial *trial, const struct sim_scenario *scenario,
                            const char *metric, struct symptom *symptom, struct weir_error *error)
{
    struct sim_run_summary *summary = calloc(1, sizeof *summary);
    if (summary == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    *symptom = (struct symptom){ .scenario = scenario, .metric = metric };
    for (size_t w = 0; w < SIM_WINDOWS_MOST; w++)
        symptom->by_window[w] = (double)NAN;
    const struct sim_run_options options = { .seed = trial->run->seed,
                                             .replication = trial->run->replication,
                                             .experiment_id = 1,
                                             .run_id = 1,
                                             .variant = trial->run->variant,
                                             .listen = take_result,
                                             .listener = symptom,
                                             .export_at_s = (double)NAN };
    const weir_status status = sim_run(scenario, &options, summary);
    if (status != WEIR_OK)
        (void)weir_fail(error, status, "%s", summary->message);
    free(summary);
    return status;
}

/* The stored scenario with a setting; NULL = without. What cannot be is no error of the user. */
static weir_status load(const struct trial *trial, const char *set, struct sim_scenario **scenario)
{
    struct sim_diagnostics diagnostics = { 0 };
    const char *sets[MOST_SETS];
    size_t count = 0;
    sets[count++] = "expect=[]"; /* nobody expects anything of what was not asked for */
    sets[count++] = "compare=[]";
    if (trial->windows != NULL && strstr(trial->run->resolved, "\ngoal:") != NULL)
        sets[count++] = "goal=-"; /* it may be about windows that are gone */
    if (trial->windows != NULL)
        sets[count++] = trial->windows;
    if (set != NULL)
        sets[count++] = set;
    const struct sim_stored *stored = trial->stored;
    const bool has_file = stored->files_count > 0 && !stored->files[0].is_module;
    const struct sim_scenario_source source = { .path =
                                                    has_file ? stored->files[0].path : stored->path,
                                                .text = trial->run->resolved,
                                                .sets = sets,
                                                .sets_count = count,
                                                .policies = trial->policies,
                                                .metric_named = sim_cli_metric,
                                                .moment_since = sim_cli_moment,
                                                .baseline = trial->baseline };
    const weir_status status = sim_scenario_load(&source, scenario, &diagnostics);
    if (set == NULL && diagnostics.errors > 0)
        sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    return status;
}

/* ---- as it was ---- */

static weir_status look(struct trial *trial, struct weir_error *error)
{
    static const char *const metrics[] = { "lat.e2e.p95", "wait.job.p95" };
    if (load(trial, NULL, &trial->baseline) != WEIR_OK)
        return weir_fail(error, WEIR_EINVAL, "%s: its scenario cannot be read any more",
                         trial->stored->path);
    if (trial->baseline->windows_count < 2)
        return weir_fail(error, WEIR_EINVAL,
                         "%s: what helps is judged by windows; give them by --from and --to, or "
                         "in the scenario (docs/windows.md)",
                         trial->stored->path);
    for (size_t m = 0; m < 2; m++) {
        WEIR_TRY(run_once(trial, trial->baseline, metrics[m], &trial->before, error));
        trial->worse = worst_of(&trial->before) - trial->before.by_window[0];
        if (!isnan(trial->worse))
            break;
    }
    return WEIR_OK;
}

/* ---- changes ---- */

/* As it is known: "≥ 3 h". */
static struct an_word known(double value_s, bool is_open)
{
    return an_word_known(an_word_duration(value_s), is_open, false);
}

static struct an_word before(const struct trial *trial, bool is_first)
{
    const struct symptom *symptom = &trial->before;
    return is_first ? known(symptom->by_window[0], symptom->is_first_open)
                    : known(worst_of(symptom), symptom->is_open);
}

static void print_change(const struct trial *trial, const struct change *change)
{
    if (trial->asked->out != NULL && isnan(change->removed))
        (void)fprintf(trial->asked->out, "  %-40s cannot be tried\n", change->label);
    else if (trial->asked->out != NULL)
        (void)fprintf(trial->asked->out, "  %-40s %-*s %s%.0f %% of what got worse is gone\n",
                      change->label, change->is_open ? 14 : 12, /* the sign has three bytes */
                      known(change->worst, change->is_open).text,
                      change->removed >= helps ? "helps: " : "",
                      floor(100.0 * fmax(change->removed, 0.0)));
}

static weir_status try_change(const struct trial *trial, struct change *change,
                              struct weir_error *error)
{
    struct sim_scenario *scenario = NULL;
    struct symptom symptom;
    change->removed = (double)NAN;
    if (load(trial, change->set, &scenario) == WEIR_OK) {
        const weir_status status = run_once(trial, scenario, trial->before.metric, &symptom, error);
        if (status == WEIR_ENOMEM || status == WEIR_EINTERRUPTED) {
            sim_scenario_destroy(scenario);
            return status;
        }
        if (status == WEIR_OK) {
            change->worst = worst_of(&symptom);
            change->removed =
                1.0 - fmax(change->worst - trial->before.by_window[0], 0.0) / trial->worse;
            change->is_open = symptom.is_open;
            if (change->is_open)
                change->removed = fmin(change->removed, 0.0);
        }
    }
    sim_scenario_destroy(scenario);
    print_change(trial, change);
    return WEIR_OK;
}

static weir_status try_policies(const struct trial *trial, struct change *best,
                                struct weir_error *error)
{
    static const char *const places[] = { "best_fit", "fgd", "first_fit", "spread" };
    static const char *const queues[] = { "fcfs", "first_fit", "easy", "conservative" };
    const bool has_jobs = trial->baseline->workloads_count > 0;
    for (size_t i = 0; i < 8; i++) {
        const char *kind = i < 4 ? "placement" : "queueing";
        const char *name = i < 4 ? places[i] : queues[i - 4];
        struct change change;
        if (i >= 4 && !has_jobs)
            break;
        (void)snprintf(change.set, sizeof change.set, "sched.%s=%s", kind, name);
        (void)snprintf(change.label, sizeof change.label, "%s %s", kind, name);
        WEIR_TRY(try_change(trial, &change, error));
        if (change.removed >= helps && !(best->removed >= change.removed))
            *best = change;
    }
    return WEIR_OK;
}

static weir_status try_count(const struct trial *trial, const struct sim_node_group *group,
                             uint32_t more, struct change *change, struct weir_error *error)
{
    (void)snprintf(change->set, sizeof change->set, "cluster.nodes.%.120s.count=%u", group->name,
                   group->count + more);
    (void)snprintf(change->label, sizeof change->label, "%u node%s %.80s more, %u in all", more,
                   more == 1 ? "" : "s", group->name, group->count + more);
    return try_change(trial, change, error);
}

/* Twice as many until it helps, then the least in between; up to twice the group. 0 = none helps.
 */
static weir_status try_nodes(const struct trial *trial, const struct sim_node_group *group,
                             uint32_t *least, struct change *found, struct weir_error *error)
{
    uint32_t low = 0;
    uint32_t more = 1;
    *least = 0;
    for (; more <= group->count; low = more, more *= 2) {
        struct change change;
        WEIR_TRY(try_count(trial, group, more, &change, error));
        if (change.removed >= helps) {
            *least = more;
            *found = change;
            break;
        }
    }
    while (*least > low + 1) {
        struct change change;
        const uint32_t middle = low + (*least - low) / 2;
        WEIR_TRY(try_count(trial, group, middle, &change, error));
        if (change.removed >= helps) {
            *least = middle;
            *found = change;
        } else {
            low = middle;
        }
    }
    return WEIR_OK;
}

static weir_status try_all(const struct trial *trial, struct change *best, struct weir_error *error)
{
    uint32_t fewest = UINT32_MAX;
    best->removed = (double)NAN;
    WEIR_TRY(try_policies(trial, best, error));
    if (best->removed >= helps)
        return WEIR_OK;
    for (size_t g = 0; g < trial->baseline->node_groups_count; g++) {
        struct change change;
        uint32_t least = 0;
        WEIR_TRY(try_nodes(trial, &trial->baseline->node_groups[g], &least, &change, error));
        if (least > 0 && least < fewest) {
            fewest = least;
            *best = change;
        }
    }
    return WEIR_OK;
}

/* ---- the answer ---- */

static const char *what_of(const struct trial *trial)
{
    return strcmp(trial->before.metric, "lat.e2e.p95") == 0 ? "latency p95" : "wait p95";
}

/* Nothing else was looked at: all the rest may have got worse. */
static void say_no_worse(const struct trial *trial, char text[SIM_WHAT_IF_TEXT])
{
    const char *what = what_of(trial);
    if (isnan(trial->worse))
        (void)snprintf(text, SIM_WHAT_IF_TEXT,
                       "Nothing is tried: no window after the first has a latency p95 or a wait "
                       "p95 to compare");
    else
        (void)snprintf(text, SIM_WHAT_IF_TEXT,
                       "Nothing is tried: %s, which is all that is looked at, got no worse by a "
                       "tenth (%s at worst, before it %s)",
                       what, before(trial, false).text, before(trial, true).text);
}

static void say(const struct trial *trial, const struct change *best, char text[SIM_WHAT_IF_TEXT])
{
    const char *what = what_of(trial);
    if (best->removed >= helps)
        (void)snprintf(text, SIM_WHAT_IF_TEXT,
                       "The smallest change tried that helps: %s. %s is %s at worst instead of %s "
                       "(before it %s; one run each)",
                       best->label, what, known(best->worst, best->is_open).text,
                       before(trial, false).text, before(trial, true).text);
    else
        (void)snprintf(text, SIM_WHAT_IF_TEXT,
                       "Neither another policy nor up to twice the nodes of a kind takes four "
                       "fifths of it: %s is %s at worst, before it %s",
                       what, before(trial, false).text, before(trial, true).text);
}

static weir_status answer(struct trial *trial, char text[SIM_WHAT_IF_TEXT],
                          struct weir_error *error)
{
    struct change best = { .removed = (double)NAN };
    WEIR_TRY(look(trial, error));
    if (!(trial->worse > 0.1 * trial->before.by_window[0])) {
        say_no_worse(trial, text);
        return WEIR_OK;
    }
    if (trial->asked->out != NULL)
        (void)fprintf(trial->asked->out, "  %-40s %s\n", "as it was", before(trial, false).text);
    WEIR_TRY(try_all(trial, &best, error));
    say(trial, &best, text);
    return WEIR_OK;
}

int sim_what_if(const struct sim_what_if *asked, char text[SIM_WHAT_IF_TEXT])
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_policies policies = { 0 };
    struct sim_stored stored = { 0 };
    const char *variant = asked->choice->variant == NULL ? "" : asked->choice->variant;
    weir_status status =
        sim_stored_open(asked->database, variant, asked->choice->replication, &stored, &error);
    int code = sim_analysis_exit(status, &error);
    if (code == SIM_EXIT_OK)
        code = sim_stored_policies(&stored, asked->options, &policies);
    struct trial trial = {
        .asked = asked, .stored = &stored, .run = stored.runs, .policies = &policies
    };
    if (code == SIM_EXIT_OK && asked->windows != NULL && sim_windows_is_given(asked->windows))
        trial.windows = sim_windows_setting(asked->windows);
    if (code == SIM_EXIT_OK && sim_isolate_needed(&policies))
        code = sim_analysis_exit(
            weir_fail(&error, WEIR_EINVAL, "%s: was made with modules", stored.path), &error);
    if (code == SIM_EXIT_OK)
        code = sim_analysis_exit(answer(&trial, text, &error), &error);
    sim_scenario_destroy(trial.baseline);
    free(trial.windows);
    sim_plugins_clear(&policies);
    sim_stored_clear(&stored);
    return code;
}
