/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Judging our answers beside stored ones, case by case.
 *
 * A case of version P was computed with doubles, ours with whole units, so an autoscale case must
 * agree in status, counts, slots and pool optimum; where a placement differs, ours must be the one
 * of the exact pass. Everything else must agree in everything, refusals by their class. Where ours
 * differs on purpose a rule says so (rules.h). Nothing here knows a case by its number or name.
 */
#include "sim/cli/decide/decide_document.h"
#include "tests/replay/refusal.h"
#include "tests/replay/rules.h"
#include "tests/replay/tables.h"

#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-9;
static const double SINGLE_TOLERANCE = 1e-6; /* of 32-bit scores, relative */

static void report_exact(struct replay_comparison *comparison, const char *label)
{
    comparison->tally->exact++;
    replay_report_ok(comparison, label, "exact");
}

/* ---- version P ---- */

static bool same_workers(struct replay_comparison *comparison, const json_t *ours,
                         const json_t *reference)
{
    const json_t *const stages = json_object_get(ours, "stages");
    const json_t *const expected = json_object_get(reference, "stages");
    char path[64];

    if (json_array_size(stages) != json_array_size(expected))
        return replay_differ(comparison, "stages", "another number of stages", "");
    for (size_t i = 0; i < json_array_size(expected); i++) {
        (void)snprintf(path, sizeof path, "stages[%zu].workers_after", i);
        if (!replay_same(comparison, path,
                         json_object_get(json_array_get(stages, i), "workers_after"),
                         json_object_get(json_array_get(expected, i), "workers_after")))
            return false;
    }
    return true;
}

static bool no_more_fragments(struct replay_comparison *comparison, const json_t *ours,
                              const json_t *reference)
{
    const json_t *const expected = json_object_get(reference, "fragmentation_after");
    const json_t *const found = json_object_get(ours, "fragmentation_after");

    if (!json_is_number(expected) ||
        json_number_value(found) <= json_number_value(expected) + comparison->tolerance)
        return true;
    return replay_differ_values(comparison, "fragmentation_after", found, expected);
}

static bool same_counts(struct replay_comparison *comparison, const json_t *ours,
                        const json_t *reference)
{
    return same_workers(comparison, ours, reference) &&
           replay_same_key(comparison, "slots", ours, reference) &&
           replay_same_key(comparison, "naive", ours, reference) &&
           replay_same_key(comparison, "workload_frequencies", ours, reference) &&
           no_more_fragments(comparison, ours, reference);
}

static bool same_steps(struct replay_comparison *comparison, const json_t *ours,
                       const json_t *reference)
{
    return replay_same_key(comparison, "stages", ours, reference) &&
           replay_same_key(comparison, "num_attempts", ours, reference) &&
           replay_same_key(comparison, "trace", ours, reference) &&
           replay_same_key(comparison, "available_after", ours, reference);
}

/* Whether the original answers otherwise from run to run. */
static bool is_sensitive(const json_t *entry)
{
    const json_t *const sensitivity = json_object_get(entry, "hash_order_sensitivity");

    return json_is_true(json_object_get(sensitivity, "counts_differ")) ||
           json_is_true(json_object_get(sensitivity, "placements_or_deletions_differ"));
}

static void check_plan(struct replay_comparison *comparison, const char *label, const json_t *entry,
                       const json_t *ours)
{
    const json_t *const reference = json_object_get(entry, "output");
    const json_t *const input = json_object_get(entry, "input");

    if (is_sensitive(entry)) {
        if (same_workers(comparison, ours, reference))
            replay_report_ok(comparison, label, "counts; the rest depends on hash order");
        else
            replay_report_failure(comparison, label);
    } else if (!same_counts(comparison, ours, reference)) {
        replay_report_failure(comparison, label);
    } else if (same_steps(comparison, ours, reference)) {
        report_exact(comparison, label);
    } else if (replay_same_as_exact(comparison, input, ours)) {
        replay_report_deviation(comparison, label, replay_rule_tie.name, replay_rule_tie.why);
    } else {
        replay_report_failure(comparison, label);
    }
}

static void check_by_rule(struct replay_comparison *comparison, const char *label,
                          const struct replay_rule *rule, const json_t *entry, const json_t *ours)
{
    const json_t *const reference = json_object_get(entry, "output");

    if (replay_same_as_exact(comparison, json_object_get(entry, "input"), ours) &&
        replay_same_key(comparison, "naive", ours, reference) &&
        replay_same_key(comparison, "workload_frequencies", ours, reference))
        replay_report_deviation(comparison, label, rule->name, rule->why);
    else
        replay_report_failure(comparison, label);
}

/* Questions with one best candidate: all of it, or another of equals. */
static void check_choice(struct replay_comparison *comparison, const char *label,
                         const json_t *entry, const json_t *ours)
{
    const json_t *const reference = json_object_get(entry, "output");
    const json_t *const input = json_object_get(entry, "input");

    if (replay_same(comparison, "", ours, reference))
        report_exact(comparison, label);
    else if (replay_same_key(comparison, "candidates", ours, reference) &&
             replay_same_key(comparison, "num_candidates", ours, reference) &&
             json_object_get(reference, "candidates") != NULL &&
             replay_is_first_best(input, ours, reference))
        replay_report_deviation(comparison, label, replay_rule_tie.name, replay_rule_tie.why);
    else
        replay_report_failure(comparison, label);
}

static void check_command(struct replay_comparison *comparison, const char *label,
                          const json_t *entry, const json_t *ours)
{
    const json_t *const input = json_object_get(entry, "input");
    const json_t *const reference = json_object_get(entry, "output");
    const struct replay_rule *const rule = replay_pass_rule(input, reference);

    if (rule != NULL) {
        check_by_rule(comparison, label, rule, entry, ours);
    } else if (strcmp(replay_text(reference, "status"), "error") == 0) {
        if (replay_same_exception(comparison, ours, reference))
            replay_report_ok(comparison, label, replay_text(ours, "error_message"));
        else
            replay_report_failure(comparison, label);
    } else if (strcmp(replay_text(ours, "status"), "ok") != 0) {
        (void)replay_differ(comparison, "status", replay_text(ours, "error_message"), "ok");
        replay_report_failure(comparison, label);
    } else if (strcmp(replay_text(input, "command"), "autoscale") == 0) {
        check_plan(comparison, label, entry, ours);
    } else {
        check_choice(comparison, label, entry, ours);
    }
}

/* ---- C and N ---- */

/* Counts of a stage over all outcomes of the reference: [new, deleted, after?] each. */
static bool is_in_range(const json_t *outcomes, size_t stage, json_int_t started,
                        json_int_t stopped)
{
    json_int_t least[2] = { INT64_MAX, INT64_MAX };
    json_int_t most[2] = { -1, -1 };

    for (size_t i = 0; i < json_array_size(outcomes); i++) {
        json_t *const counts = json_loads(
            replay_text(json_array_get(outcomes, i), "counts_new_deleted_after"), 0, NULL);
        for (size_t k = 0; k < 2; k++) {
            const json_int_t value =
                json_integer_value(json_array_get(json_array_get(counts, stage), k));
            least[k] = value < least[k] ? value : least[k];
            most[k] = value > most[k] ? value : most[k];
        }
        json_decref(counts);
    }
    return started >= least[0] && started <= most[0] && stopped >= least[1] && stopped <= most[1];
}

static bool all_in_range(const json_t *ours, const json_t *outcomes)
{
    const json_t *const stages = json_object_get(ours, "stages");

    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *const stage = json_array_get(stages, i);
        if (!is_in_range(outcomes, i, json_integer_value(json_object_get(stage, "new")),
                         json_integer_value(json_object_get(stage, "deleted"))))
            return false;
    }
    return json_array_size(stages) > 0;
}

/* An answer, or a list of them. */
static bool same_expected(struct replay_comparison *comparison, const json_t *input,
                          const json_t *ours, const json_t *expected)
{
    if (json_is_array(expected)) {
        bool is_same = json_array_size(ours) == json_array_size(expected) ||
                       replay_differ(comparison, "answers", "another number", "");
        for (size_t i = 0; is_same && i < json_array_size(expected); i++)
            is_same = same_expected(comparison, json_array_get(input, i), json_array_get(ours, i),
                                    json_array_get(expected, i));
        return is_same;
    }
    if (json_object_get(expected, "error") != NULL)
        return replay_same_refusal(comparison, input, ours, expected);
    if (json_object_get(expected, "panic") != NULL)
        return json_object_get(ours, "panic") != NULL ||
               replay_differ_values(comparison, "panic", ours, expected);
    return replay_same(comparison, "", ours, expected);
}

static const struct replay_rule *known_rule(struct replay_comparison *comparison,
                                            const json_t *input, const json_t *ours)
{
    json_t *right = NULL;
    const struct replay_rule *const rule = strcmp(replay_text(input, "op"), "allocator") == 0
                                               ? replay_allocator_rule(input, &right)
                                               : NULL;
    const bool is_right = rule != NULL && replay_same(comparison, "", ours, right);

    json_decref(right);
    return is_right ? rule : NULL;
}

static void check_known(struct replay_comparison *comparison, const char *label,
                        const json_t *entry, const json_t *ours)
{
    const json_t *const input = json_object_get(entry, "input");
    const json_t *const outcomes = json_object_get(entry, "hash_order_outcomes");
    const struct replay_rule *rule = NULL;

    if (same_expected(comparison, input, ours, json_object_get(entry, "expected")))
        report_exact(comparison, label);
    else if (json_is_false(json_object_get(entry, "counts_stable")) && all_in_range(ours, outcomes))
        replay_report_ok(comparison, label, "within the range of the original's own outcomes");
    else if ((rule = known_rule(comparison, input, ours)) != NULL)
        replay_report_deviation(comparison, label, rule->name, rule->why);
    else
        replay_report_failure(comparison, label);
}

/* ---- documents ---- */

/* What stands at the beginning of a case's line; for people only. */
static void write_label(const json_t *entry, char *label, size_t size)
{
    const json_t *const input = json_object_get(entry, "input");
    const bool has_case = json_object_get(entry, "case") != NULL;
    const char *const name = replay_text(entry, "name");

    if (json_object_get(entry, "expected") != NULL)
        (void)snprintf(label, size, "%s", replay_text(entry, "id"));
    else
        (void)snprintf(label, size, "%2.0f %s",
                       decide_number_or(entry, has_case ? "case" : "seed", -1),
                       name[0] != '\0' ? name : replay_text(input, "command"));
}

static weir_status check_case(struct replay_comparison *comparison, const json_t *entry,
                              struct weir_error *error)
{
    const bool is_known = json_object_get(entry, "expected") != NULL;
    json_t *ours = NULL;
    char label[160];

    write_label(entry, label, sizeof label);
    comparison->difference[0] = '\0';
    if (!is_known && json_object_get(entry, "output") == NULL)
        return weir_fail(error, WEIR_EFORMAT, "case %s: output or expected is missing", label);
    const weir_status status = replay_answer(json_object_get(entry, "input"), &ours, error);
    if (status != WEIR_OK) {
        weir_error_wrap(error, "case %s: input", label);
        return status;
    }
    comparison->tolerance = is_known ? SINGLE_TOLERANCE : TOLERANCE;
    if (is_known)
        check_known(comparison, label, entry, ours);
    else
        check_command(comparison, label, entry, ours);
    comparison->tolerance = TOLERANCE;
    json_decref(ours);
    return WEIR_OK;
}

weir_status replay_check_documents(const struct decide_documents *documents, FILE *out,
                                   struct replay_tally *tally, struct weir_error *error)
{
    struct replay_comparison comparison = { .out = out, .tally = tally, .tolerance = TOLERANCE };
    weir_status status = WEIR_OK;

    for (size_t i = 0; status == WEIR_OK && i < json_array_size(documents->list); i++) {
        const json_t *const document = json_array_get(documents->list, i);
        if (json_object_get(document, "input") != NULL)
            status = check_case(&comparison, document, error);
        else if (replay_is_tables(document))
            status = replay_check_tables(&comparison, document, error);
        else
            status = weir_fail(error, WEIR_EFORMAT, "input is missing");
        if (status != WEIR_OK) {
            const struct sim_json_place place = decide_documents_place(documents, i, NULL, 0);
            weir_error_wrap(error, "%s:%d", documents->path, place.line);
        }
    }
    return status;
}

weir_status replay_check_file(const char *path, FILE *out, struct replay_tally *tally,
                              struct weir_error *error)
{
    struct decide_documents documents;
    weir_status status = decide_documents_load(path, &documents, error);

    if (status == WEIR_OK)
        status = replay_check_documents(&documents, out, tally, error);
    decide_documents_clear(&documents);
    return status;
}
