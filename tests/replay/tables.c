/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judging tables, row by row (see tables.h). */
#include "tests/replay/tables.h"

#include "tests/replay/refusal.h"
#include "tests/replay/rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double HALF_UNIT = 0.5 / 40960000; /* of rounding a request to units */

/* ---- rows that are questions ---- */

static void check_shape_rule(struct replay_comparison *comparison, const char *label,
                             const struct replay_rule *rule, const json_t *shape,
                             const json_t *ours)
{
    const bool is_error = strcmp(replay_text(ours, "status"), "error") == 0;
    const bool is_right =
        shape != NULL ? replay_same(comparison, "shape", json_object_get(ours, "shape"), shape)
                      : is_error || replay_differ(comparison, "status", "ok", "an error");

    if (is_right)
        replay_report_deviation(comparison, label, rule->name, rule->why);
    else
        replay_report_failure(comparison, label);
}

/* Input and output are one object, or {input, output}. */
static void check_row(struct replay_comparison *comparison, const char *label,
                      const json_t *reference, const json_t *ours)
{
    static const char *const keys[] = { "slots",
                                        "shape",
                                        "workers",
                                        "input_samples_per_sample",
                                        "auto_rates_per_worker",
                                        "reported_throughput",
                                        "min_auto_throughput",
                                        "objective",
                                        "closed_form" };
    const bool is_error = strcmp(replay_text(reference, "status"), "error") == 0;
    bool is_same = is_error ? replay_same_exception(comparison, ours, reference)
                            : strcmp(replay_text(ours, "status"), "ok") == 0 ||
                                  replay_differ(comparison, "status",
                                                replay_text(ours, "error_message"), "ok");

    for (size_t i = 0; is_same && !is_error && i < sizeof keys / sizeof keys[0]; i++)
        is_same = replay_same_key(comparison, keys[i], ours, reference);
    if (is_same)
        replay_report_ok(comparison, label, replay_text(ours, "error_message"));
    else
        replay_report_failure(comparison, label);
}

static weir_status check_entry(struct replay_comparison *comparison, const char *command,
                               const char *label, json_t *entry, struct weir_error *error)
{
    const json_t *const output = json_object_get(entry, "output");
    json_t *const input = json_copy(output != NULL ? json_object_get(entry, "input") : entry);
    json_t *shape = NULL;
    json_t *ours = NULL;
    const struct replay_rule *const rule =
        strcmp(command, "shape") == 0 ? replay_shape_rule(entry, &shape) : NULL;

    json_object_set_new(input, "command", json_string(command));
    const weir_status status = replay_answer(input, &ours, error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "%s", label);
    else if (rule != NULL)
        check_shape_rule(comparison, label, rule, shape, ours);
    else
        check_row(comparison, label, output != NULL ? output : entry, ours);
    json_decref(input);
    json_decref(shape);
    json_decref(ours);
    return status;
}

static weir_status check_rows(struct replay_comparison *comparison, const char *command,
                              const json_t *rows, struct weir_error *error)
{
    char label[80];

    for (size_t i = 0; i < json_array_size(rows); i++) {
        (void)snprintf(label, sizeof label, "%2zu %s", i, command);
        WEIR_TRY(check_entry(comparison, command, label, json_array_get(rows, i), error));
    }
    return WEIR_OK;
}

/* ---- shares of one GPU that fill it exactly ---- */

static const struct replay_rule rule_overdraft = {
    "overdraft", "the original falls below zero by rounding; ours leave exactly nothing"
};

static void check_filling(struct replay_comparison *comparison, const json_t *row, size_t index)
{
    const json_t *const order = json_object_get(row, "order");
    int64_t free_units = WEIR_ONE;
    bool fits = true;
    char label[80];

    (void)snprintf(label, sizeof label, "%2zu overdraft", index);
    for (size_t i = 0; i < json_array_size(order); i++) {
        int64_t share = 0;
        (void)decide_units(json_number_value(json_array_get(order, i)), &share, NULL);
        fits = fits && share > 0 && share <= free_units;
        free_units -= share;
    }
    if (fits && free_units == 0 && decide_number_or(row, "free_after", 0) < 0) {
        replay_report_deviation(comparison, label, rule_overdraft.name, rule_overdraft.why);
        return;
    }
    (void)replay_differ(comparison, "free_after", "not 0", "below 0");
    replay_report_failure(comparison, label);
}

static void check_fillings(struct replay_comparison *comparison, const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        check_filling(comparison, json_array_get(rows, i), i);
}

/* ---- the estimator ---- */

static weir_status feed_estimator(struct weir_estimator *estimator, const json_t *tasks)
{
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        const json_t *const task = json_array_get(tasks, i);
        const struct weir_measurement measurement = {
            .size = sizeof measurement,
            .start_ns = llround(json_number_value(json_array_get(task, 0)) * 1e9),
            .end_ns = llround(json_number_value(json_array_get(task, 1)) * 1e9),
            .returns = (uint32_t)json_integer_value(json_array_get(task, 2)),
        };
        WEIR_TRY(weir_estimator_add(estimator, &measurement));
    }
    return WEIR_OK;
}

static json_t *number_or_null(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static void check_query(struct replay_comparison *comparison, struct weir_estimator *estimator,
                        const json_t *row, size_t index)
{
    const struct weir_estimate estimate =
        weir_estimator_query(estimator, llround(decide_number_or(row, "query_time", 0) * 1e9));
    json_t *const ours = json_pack("[o, o]", number_or_null(estimate.batches_per_s),
                                   number_or_null(estimate.returns_per_batch));
    char label[80];

    (void)snprintf(label, sizeof label, "%2zu estimator", index);
    if (replay_same(comparison, "speed_and_returns", ours,
                    json_object_get(row, "speed_and_returns")))
        replay_report_ok(comparison, label, "");
    else
        replay_report_failure(comparison, label);
    json_decref(ours);
}

/* The name says the window in seconds and the least number of tasks. */
static weir_status check_estimator(struct replay_comparison *comparison, const char *name,
                                   const json_t *rows)
{
    struct weir_window window = { .window_ns = INT64_C(180000000000), .min_points = 5 };
    struct weir_estimator *estimator;
    int64_t window_s = 0;

    if (sscanf(name, "estimator_window%" SCNd64 "_min%" SCNu32, &window_s, &window.min_points) == 2)
        window.window_ns = window_s * 1000000000;
    WEIR_TRY(weir_estimator_create(NULL, window, &estimator));
    weir_status status = WEIR_OK;
    for (size_t i = 0; status == WEIR_OK && i < json_array_size(rows); i++) {
        const json_t *const row = json_array_get(rows, i);
        status = feed_estimator(estimator, json_object_get(row, "feed_start_end_returns"));
        if (status == WEIR_OK && json_object_get(row, "speed_and_returns") != NULL)
            check_query(comparison, estimator, row, i);
    }
    weir_estimator_destroy(estimator);
    return status;
}

/* ---- a document ---- */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static weir_status check_table(struct replay_comparison *comparison, const char *name,
                               const json_t *rows, struct weir_error *error)
{
    weir_status status = WEIR_OK;

    if (strcmp(name, "resources_to_shape") == 0) {
        comparison->tolerance = HALF_UNIT;
        status = check_rows(comparison, "shape", rows, error);
        comparison->tolerance = 1e-9;
    } else if (strcmp(name, "slots") == 0 || strcmp(name, "naive") == 0) {
        status = check_rows(comparison, name, rows, error);
    } else if (begins_with(name, "overdraft_sequences")) {
        check_fillings(comparison, rows);
    } else if (begins_with(name, "estimator")) {
        status = check_estimator(comparison, name, rows);
    } else if (json_is_array(rows)) { /* anything but rows is a remark */
        status = weir_fail(error, WEIR_EFORMAT, "unknown table %s", name);
    }
    return status;
}

bool replay_is_tables(const json_t *document)
{
    static const char *const names[] = { "resources_to_shape", "slots", "naive",
                                         "overdraft_sequences_below_zero" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (json_is_array(json_object_get(document, names[i])) &&
            json_object_get(document, "input") == NULL)
            return true;
    }
    return false;
}

weir_status replay_check_tables(struct replay_comparison *comparison, const json_t *tables,
                                struct weir_error *error)
{
    json_t *const copy = replay_copy(tables);
    weir_status status = WEIR_OK;

    for (void *at = json_object_iter(copy); status == WEIR_OK && at != NULL;
         at = json_object_iter_next(copy, at))
        status =
            check_table(comparison, json_object_iter_key(at), json_object_iter_value(at), error);
    json_decref(copy);
    return status;
}
