/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `weir decide --check`: our answers beside known answers of the reference.
 *
 * The reference computes with doubles, we with whole units, so an autoscale case must agree in
 * status, counts, slots and pool optimum, and leave no more fragmentation; whether every placement
 * is the same too is said in the line. All other commands must agree in everything. Where the
 * reference fails by a slip, the table below says what we return instead.
 */
#include "sim/cli/decide_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-9;
static const double SINGLE_TOLERANCE = 1e-6;    /* of 32-bit scores, relative */
static const double HALF_UNIT = 0.5 / 40960000; /* of rounding a request to units */

/* An answer we give on purpose where the reference gives another. */
struct deviation {
    int number; /* case or seed */
    const char *why;
    const char *returns;
    const char *workers; /* workers_after that we return, NULL = not stated */
};

static const struct deviation deviations[] = {
    { 12, "reference dies of rounding", "the plan", NULL },
    { 16, "reference dies of rounding", "the plan", NULL },
    { 22, "reference insists on codec engines 0..k-1", "the plan with free engines", NULL },
    { 32, "reference asserts equal codec counts", "the plan", NULL },
    { 37, "reference divides by zero", "the plan, slots unchanged for no workers", "0,8" },
    { 1030, "reference dies of rounding", "the plan", "1,31,17,4" },
    { 1086, "reference dies of rounding", "the plan", "24,26,5,14,15,12,8" },
    { 1124, "reference dies of rounding", "the plan", "28,3,1,1" },
};

/* Rows of the table of shapes, by index. */
struct shape_deviation {
    size_t row;
    const char *why;
    const char *shape; /* what we return, NULL = an error */
};

static const struct shape_deviation shape_deviations[] = {
    { 9, "0.9999995 GPUs truncate to none", "{\"type\": \"whole_gpu\", \"gpus\": 1}" },
    { 17, "1.9999999 GPUs truncate to one", "{\"type\": \"whole_gpu\", \"gpus\": 2}" },
    { 18, "1e-9 GPUs are less than the smallest share", NULL },
    { 19, "1e-9 GPUs are less than the smallest share", NULL },
    { 22, "half an entire GPU", NULL },
    { 23, "1.7 entire GPUs", NULL },
    { 25, "no entire GPU", NULL },
    { 29, "1e-12 CPUs are less than the smallest share", NULL },
};

/* One comparison: the first difference found. */
struct comparison {
    FILE *out;
    struct decide_tally *tally;
    double tolerance; /* relative above 1, absolute below */
    char difference[512];
};

static void report(struct comparison *comparison, const char *verdict, const char *label,
                   const char *text)
{
    if (comparison->out != NULL)
        fprintf(comparison->out, "%s %s%s%s\n", verdict, label, text[0] != '\0' ? ": " : "", text);
}

static void report_ok(struct comparison *comparison, const char *label, const char *text)
{
    comparison->tally->ok++;
    report(comparison, "ok  ", label, text);
}

static void report_failure(struct comparison *comparison, const char *label)
{
    comparison->tally->failed++;
    report(comparison, "FAIL", label, comparison->difference);
}

static void report_deviation(struct comparison *comparison, const char *label, const char *why,
                             const char *returns)
{
    char text[256];

    snprintf(text, sizeof text, "%s; we return %s", why, returns);
    comparison->tally->deviations++;
    report(comparison, "ok (deviation)", label, text);
}

static bool differ(struct comparison *comparison, const char *path, const char *ours,
                   const char *reference)
{
    snprintf(comparison->difference, sizeof comparison->difference, "%s: we say %s, reference %s",
             path[0] == '.' ? path + 1 : path, ours, reference);
    return false;
}

static bool differ_values(struct comparison *comparison, const char *path, const json_t *ours,
                          const json_t *reference)
{
    char *const a = ours != NULL ? json_dumps(ours, JSON_ENCODE_ANY) : NULL;
    char *const b = json_dumps(reference, JSON_ENCODE_ANY);

    (void)differ(comparison, path, a != NULL ? a : "nothing", b != NULL ? b : "nothing");
    free(a);
    free(b);
    return false;
}

static bool same_value(struct comparison *comparison, const char *path, const json_t *ours,
                       const json_t *reference);

static bool same_object(struct comparison *comparison, const char *path, const json_t *ours,
                        const json_t *reference)
{
    /* jansson's iterators ask for a mutable object although they change nothing.
     * NOLINTNEXTLINE(performance-no-int-to-ptr): the cast takes away const alone */
    json_t *const object = json_incref((json_t *)(uintptr_t)reference);
    bool is_same = json_is_object(ours) || differ_values(comparison, path, ours, reference);

    for (void *at = json_object_iter(object); is_same && at != NULL;
         at = json_object_iter_next(object, at)) {
        const char *const key = json_object_iter_key(at);
        char inner[256];
        snprintf(inner, sizeof inner, "%s.%s", path, key);
        is_same =
            same_value(comparison, inner, json_object_get(ours, key), json_object_iter_value(at));
    }
    json_decref(object);
    return is_same;
}

/* Ids without an order: the reference keeps those it deletes in a set. */
static bool same_set(struct comparison *comparison, const char *path, const json_t *ours,
                     const json_t *reference)
{
    for (size_t i = 0; i < json_array_size(reference); i++) {
        bool is_there = false;
        for (size_t k = 0; !is_there && k < json_array_size(ours); k++)
            is_there = json_equal(json_array_get(ours, k), json_array_get(reference, i));
        if (!is_there)
            return differ_values(comparison, path, ours, reference);
    }
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    const size_t size = strlen(end);

    return length >= size && strcmp(text + length - size, end) == 0;
}

/* Lists of candidates may be cut earlier in the reference. */
static bool same_array(struct comparison *comparison, const char *path, const json_t *ours,
                       const json_t *reference)
{
    const size_t count = json_array_size(reference);
    const bool may_be_cut = ends_with(path, "candidates");
    const bool is_long = may_be_cut ? json_array_size(ours) >= count && count >= 60 : false;

    if (!json_is_array(ours) || (json_array_size(ours) != count && !is_long))
        return differ_values(comparison, path, ours, reference);
    if (ends_with(path, ".deleted"))
        return same_set(comparison, path, ours, reference);
    for (size_t i = 0; i < count; i++) {
        char inner[256];
        snprintf(inner, sizeof inner, "%s[%zu]", path, i);
        if (!same_value(comparison, inner, json_array_get(ours, i), json_array_get(reference, i)))
            return false;
    }
    return true;
}

/* Everything the reference says; what only we say does not matter. */
static bool same_value(struct comparison *comparison, const char *path, const json_t *ours,
                       const json_t *reference)
{
    if (json_is_object(reference))
        return same_object(comparison, path, ours, reference);
    if (json_is_array(reference))
        return same_array(comparison, path, ours, reference);
    if (json_is_number(reference) && json_is_number(ours)) {
        const double b = json_number_value(reference);
        const double scale = fabs(b) > 1 ? fabs(b) : 1;
        if (fabs(json_number_value(ours) - b) <= comparison->tolerance * scale)
            return true;
    } else if (json_equal(ours, reference) || (ours == NULL && json_is_null(reference))) {
        return true;
    }
    return differ_values(comparison, path, ours, reference);
}

static bool same_key(struct comparison *comparison, const char *key, const json_t *ours,
                     const json_t *reference)
{
    const json_t *const expected = json_object_get(reference, key);

    return expected == NULL || same_value(comparison, key, json_object_get(ours, key), expected);
}

/* ---- errors ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

/* Our status for an exception of the reference; "" = we have no such error. */
static const char *status_for(const char *exception)
{
    static const char *const names[][2] = {
        { "naiive_worker_allocation.AllocationError", "WEIR_EINFEASIBLE" },
        { "autoscaling_algorithms.AllocationError", "WEIR_EMANUAL" },
        { "builtins.RuntimeError", "WEIR_EMINIMUM" },
        { "builtins.ValueError", "WEIR_EINVAL" },
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i][0], exception) == 0)
            return names[i][1];
    }
    return "";
}

static bool same_error(struct comparison *comparison, const json_t *ours, const json_t *reference)
{
    const char *const expected = status_for(text_of(reference, "error_type"));

    if (strcmp(text_of(ours, "status"), "error") != 0)
        return differ(comparison, "status", "ok", text_of(reference, "error_type"));
    /* An exception without a name is any error (the table of shapes). */
    if (text_of(reference, "error_type")[0] != '\0' &&
        strcmp(text_of(ours, "error_type"), expected) != 0)
        return differ(comparison, "error_type", text_of(ours, "error_type"),
                      text_of(reference, "error_type"));
    return same_key(comparison, "error_phase", ours, reference);
}

/* ---- autoscale ---- */

static bool same_workers(struct comparison *comparison, const json_t *ours, const json_t *reference)
{
    const json_t *const stages = json_object_get(ours, "stages");
    const json_t *const expected = json_object_get(reference, "stages");

    if (json_array_size(stages) != json_array_size(expected))
        return differ(comparison, "stages", "another number of stages", "");
    for (size_t i = 0; i < json_array_size(expected); i++) {
        char path[64];
        snprintf(path, sizeof path, "stages[%zu].workers_after", i);
        if (!same_value(comparison, path,
                        json_object_get(json_array_get(stages, i), "workers_after"),
                        json_object_get(json_array_get(expected, i), "workers_after")))
            return false;
    }
    return true;
}

static bool no_more_fragments(struct comparison *comparison, const json_t *ours,
                              const json_t *reference)
{
    const json_t *const expected = json_object_get(reference, "fragmentation_after");
    const json_t *const found = json_object_get(ours, "fragmentation_after");

    if (!json_is_number(expected) ||
        json_number_value(found) <= json_number_value(expected) + comparison->tolerance)
        return true;
    return differ_values(comparison, "fragmentation_after", found, expected);
}

static bool same_counts(struct comparison *comparison, const json_t *ours, const json_t *reference)
{
    return same_workers(comparison, ours, reference) &&
           same_key(comparison, "slots", ours, reference) &&
           same_key(comparison, "naive", ours, reference) &&
           same_key(comparison, "workload_frequencies", ours, reference) &&
           no_more_fragments(comparison, ours, reference);
}

static bool same_steps(struct comparison *comparison, const json_t *ours, const json_t *reference)
{
    return same_key(comparison, "stages", ours, reference) &&
           same_key(comparison, "num_attempts", ours, reference) &&
           same_key(comparison, "trace", ours, reference) &&
           same_key(comparison, "available_after", ours, reference);
}

static bool workers_are(const json_t *ours, const char *expected)
{
    const json_t *const stages = json_object_get(ours, "stages");
    char text[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *const count = json_object_get(json_array_get(stages, i), "workers_after");
        const int length = snprintf(text + used, sizeof text - used, "%s%lld", i == 0 ? "" : ",",
                                    (long long)json_integer_value(count));
        used += length > 0 ? (size_t)length : 0;
        if (used >= sizeof text)
            return false;
    }
    return strcmp(text, expected) == 0;
}

static const struct deviation *find_deviation(int number)
{
    for (size_t i = 0; i < sizeof deviations / sizeof deviations[0]; i++) {
        if (deviations[i].number == number)
            return &deviations[i];
    }
    return NULL;
}

static void check_deviation(struct comparison *comparison, const char *label,
                            const struct deviation *deviation, const json_t *ours)
{
    if (strcmp(text_of(ours, "status"), "ok") != 0) {
        (void)differ(comparison, "status", text_of(ours, "error_message"), "an intended deviation");
        report_failure(comparison, label);
    } else if (deviation->workers != NULL && !workers_are(ours, deviation->workers)) {
        (void)differ_values(comparison, "stages", json_object_get(ours, "stages"), NULL);
        report_failure(comparison, label);
    } else {
        report_deviation(comparison, label, deviation->why, deviation->returns);
    }
}

static void check_autoscale(struct comparison *comparison, const char *label, const json_t *entry,
                            const json_t *ours)
{
    const json_t *const reference = json_object_get(entry, "output");
    const json_t *const sensitivity = json_object_get(entry, "hash_order_sensitivity");
    const bool is_sensitive =
        json_is_true(json_object_get(sensitivity, "counts_differ")) ||
        json_is_true(json_object_get(sensitivity, "placements_or_deletions_differ"));

    if (is_sensitive) {
        if (same_workers(comparison, ours, reference))
            report_ok(comparison, label, "counts; the rest depends on hash order");
        else
            report_failure(comparison, label);
        return;
    }
    if (!same_counts(comparison, ours, reference)) {
        report_failure(comparison, label);
        return;
    }
    if (same_steps(comparison, ours, reference)) {
        comparison->tally->exact++;
        report_ok(comparison, label, "exact");
        return;
    }
    char text[600];
    snprintf(text, sizeof text, "counts; %s", comparison->difference);
    report_ok(comparison, label, text);
}

/* ---- cases ---- */

static void check_answer(struct comparison *comparison, const char *label, int number,
                         const json_t *entry, const json_t *ours)
{
    const json_t *const reference = json_object_get(entry, "output");
    const struct deviation *const deviation = find_deviation(number);
    const bool is_error = strcmp(text_of(reference, "status"), "error") == 0;
    const bool is_autoscale =
        strcmp(text_of(json_object_get(entry, "input"), "command"), "autoscale") == 0;

    if (is_error && deviation != NULL) {
        check_deviation(comparison, label, deviation, ours);
    } else if (is_error) {
        if (same_error(comparison, ours, reference))
            report_ok(comparison, label, text_of(ours, "error_message"));
        else
            report_failure(comparison, label);
    } else if (strcmp(text_of(ours, "status"), "ok") != 0) {
        (void)differ(comparison, "status", text_of(ours, "error_message"), "ok");
        report_failure(comparison, label);
    } else if (is_autoscale) {
        check_autoscale(comparison, label, entry, ours);
    } else if (same_value(comparison, "", ours, reference)) {
        comparison->tally->exact++;
        report_ok(comparison, label, "exact");
    } else {
        report_failure(comparison, label);
    }
}

/* ---- known answers of the later versions ---- */

/* An error matches by its kind and by the stage it names. */
static bool same_refusal(struct comparison *comparison, const json_t *ours, const json_t *reference)
{
    const char *const expected = text_of(reference, "error");
    const char *const found = text_of(ours, "error");
    const size_t length = strcspn(expected, ":");

    if (strlen(found) >= length && strncmp(found, expected, length) == 0 &&
        (found[length] == ':' || found[length] == '\0'))
        return same_key(comparison, "workload_frequencies", ours, reference);
    return differ_values(comparison, "error", ours, reference);
}

/* Counts of a stage over all outcomes of the reference: [new, deleted, after?] each. */
static bool is_in_range(const json_t *outcomes, size_t stage, json_int_t started,
                        json_int_t stopped)
{
    json_int_t least[2] = { INT64_MAX, INT64_MAX };
    json_int_t most[2] = { -1, -1 };

    for (size_t i = 0; i < json_array_size(outcomes); i++) {
        json_t *const counts =
            json_loads(text_of(json_array_get(outcomes, i), "counts_new_deleted_after"), 0, NULL);
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

static void check_known(struct comparison *comparison, const char *label, const json_t *entry,
                        const json_t *ours)
{
    const json_t *const expected = json_object_get(entry, "expected");
    const json_t *const stable = json_object_get(entry, "counts_stable");
    const json_t *const outcomes = json_object_get(entry, "hash_order_outcomes");
    bool is_same;

    if (json_object_get(expected, "error") != NULL)
        is_same = same_refusal(comparison, ours, expected);
    else if (json_object_get(expected, "panic") != NULL)
        is_same = json_object_get(ours, "panic") != NULL ||
                  differ_values(comparison, "panic", ours, expected);
    else
        is_same = same_value(comparison, "", ours, expected);
    if (is_same) {
        comparison->tally->exact++;
        report_ok(comparison, label, "exact");
    } else if (json_is_false(stable) && all_in_range(ours, outcomes)) {
        report_ok(comparison, label, "within the range of the reference's own outcomes");
    } else {
        report_failure(comparison, label);
    }
}

static weir_status check_case(struct comparison *comparison, const json_t *entry,
                              struct weir_error *error)
{
    const json_t *const input = json_object_get(entry, "input");
    const bool has_case = json_object_get(entry, "case") != NULL;
    const int number = (int)decide_number_or(entry, has_case ? "case" : "seed", -1);
    const char *const name = text_of(entry, "name");
    json_t *ours = NULL;
    char label[160];

    snprintf(label, sizeof label, "%2d %s", number, name[0] ? name : text_of(input, "command"));
    comparison->difference[0] = '\0';
    const weir_status status = decide_answer(input, &ours, error);
    if (status != WEIR_OK) {
        weir_error_wrap(error, "case %s: input", label);
        return status;
    }
    if (json_object_get(entry, "expected") != NULL) {
        comparison->tolerance = SINGLE_TOLERANCE;
        check_known(comparison, text_of(entry, "id"), entry, ours);
        comparison->tolerance = TOLERANCE;
    } else {
        check_answer(comparison, label, number, entry, ours);
    }
    json_decref(ours);
    return WEIR_OK;
}

/* ---- tables ---- */

static const struct shape_deviation *find_shape_deviation(size_t row)
{
    for (size_t i = 0; i < sizeof shape_deviations / sizeof shape_deviations[0]; i++) {
        if (shape_deviations[i].row == row)
            return &shape_deviations[i];
    }
    return NULL;
}

static void check_shape_deviation(struct comparison *comparison, const char *label,
                                  const struct shape_deviation *deviation, const json_t *ours)
{
    json_t *const shape = deviation->shape != NULL ? json_loads(deviation->shape, 0, NULL) : NULL;
    const bool is_error = strcmp(text_of(ours, "status"), "error") == 0;
    const bool is_ok = shape != NULL
                           ? same_value(comparison, "shape", json_object_get(ours, "shape"), shape)
                           : is_error || differ(comparison, "status", "ok", "an error");

    json_decref(shape);
    if (is_ok)
        report_deviation(comparison, label, deviation->why,
                         deviation->shape != NULL ? deviation->shape : "an error");
    else
        report_failure(comparison, label);
}

/* One row of a table: its input and output are one object, or {input, output}. */
static void check_row(struct comparison *comparison, const char *label, const json_t *reference,
                      const json_t *ours)
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
    const bool is_error = strcmp(text_of(reference, "status"), "error") == 0;
    bool is_same = is_error
                       ? same_error(comparison, ours, reference)
                       : strcmp(text_of(ours, "status"), "ok") == 0 ||
                             differ(comparison, "status", text_of(ours, "error_message"), "ok");

    for (size_t i = 0; is_same && !is_error && i < sizeof keys / sizeof keys[0]; i++)
        is_same = same_key(comparison, keys[i], ours, reference);
    if (is_same)
        report_ok(comparison, label, text_of(ours, "error_message"));
    else
        report_failure(comparison, label);
}

static weir_status check_rows(struct comparison *comparison, const char *command,
                              const json_t *rows, struct weir_error *error)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *const entry = json_array_get(rows, i);
        const json_t *const output = json_object_get(entry, "output");
        const struct shape_deviation *const deviation =
            strcmp(command, "shape") == 0 ? find_shape_deviation(i) : NULL;
        json_t *const input = json_copy(output != NULL ? json_object_get(entry, "input") : entry);
        json_t *ours = NULL;
        char label[80];

        snprintf(label, sizeof label, "%2zu %s", i, command);
        json_object_set_new(input, "command", json_string(command));
        const weir_status status = decide_answer(input, &ours, error);
        json_decref(input);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "%s", label);
            return status;
        }
        if (deviation != NULL)
            check_shape_deviation(comparison, label, deviation, ours);
        else
            check_row(comparison, label, output != NULL ? output : entry, ours);
        json_decref(ours);
    }
    return WEIR_OK;
}

/* Shares of one GPU that fill it exactly: every worker must fit, and nothing may be left. */
static void check_filling(struct comparison *comparison, const json_t *row, size_t index)
{
    const json_t *const order = json_object_get(row, "order");
    int64_t free_units = WEIR_ONE;
    bool fits = true;
    char label[80];

    snprintf(label, sizeof label, "%2zu overdraft_sequences_below_zero", index);
    for (size_t i = 0; i < json_array_size(order); i++) {
        int64_t units = 0;
        (void)decide_units(json_number_value(json_array_get(order, i)), &units, NULL);
        fits = fits && units > 0 && units <= free_units;
        free_units -= units;
    }
    if (fits && free_units == 0) {
        report_deviation(comparison, label, "reference falls below zero by rounding",
                         "exactly nothing free");
        return;
    }
    (void)differ(comparison, "free_after", "not 0", "0");
    report_failure(comparison, label);
}

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

static weir_status check_estimator(struct comparison *comparison, const json_t *rows)
{
    const struct weir_window window = { .window_ns = INT64_C(180000000000), .min_points = 5 };
    struct weir_estimator *estimator;
    char label[80];

    WEIR_TRY(weir_estimator_create(NULL, window, &estimator));
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *const row = json_array_get(rows, i);
        const json_t *const expected = json_object_get(row, "speed_and_returns");
        const weir_status status =
            feed_estimator(estimator, json_object_get(row, "feed_start_end_returns"));
        if (status != WEIR_OK) {
            weir_estimator_destroy(estimator);
            return status;
        }
        if (expected == NULL)
            continue;
        const struct weir_estimate estimate =
            weir_estimator_query(estimator, llround(decide_number_or(row, "query_time", 0) * 1e9));
        json_t *const ours = json_pack("[o, o]", number_or_null(estimate.batches_per_s),
                                       number_or_null(estimate.returns_per_batch));
        snprintf(label, sizeof label, "%2zu estimator", i);
        if (same_value(comparison, "speed_and_returns", ours, expected))
            report_ok(comparison, label, "");
        else
            report_failure(comparison, label);
        json_decref(ours);
    }
    weir_estimator_destroy(estimator);
    return WEIR_OK;
}

static weir_status check_tables(struct comparison *comparison, const json_t *tables,
                                struct weir_error *error)
{
    const json_t *const fillings = json_object_get(tables, "overdraft_sequences_below_zero");

    comparison->tolerance = HALF_UNIT;
    WEIR_TRY(check_rows(comparison, "shape", json_object_get(tables, "resources_to_shape"), error));
    comparison->tolerance = TOLERANCE;
    WEIR_TRY(check_rows(comparison, "slots", json_object_get(tables, "slots"), error));
    WEIR_TRY(check_rows(comparison, "naive", json_object_get(tables, "naive"), error));
    for (size_t i = 0; i < json_array_size(fillings); i++)
        check_filling(comparison, json_array_get(fillings, i), i);
    return check_estimator(comparison, json_object_get(tables, "estimator_window180_min5"));
}

weir_status decide_check_file(const char *path, FILE *out, struct decide_tally *tally,
                              struct weir_error *error)
{
    struct comparison comparison = { .out = out, .tally = tally, .tolerance = TOLERANCE };
    json_t *documents = NULL;

    WEIR_TRY(decide_load(path, &documents, error));
    weir_status status = WEIR_OK;
    for (size_t i = 0; status == WEIR_OK && i < json_array_size(documents); i++) {
        const json_t *const document = json_array_get(documents, i);
        if (json_object_get(document, "input") != NULL)
            status = check_case(&comparison, document, error);
        else if (json_object_get(document, "resources_to_shape") != NULL)
            status = check_tables(&comparison, document, error);
        else
            status = weir_fail(error, WEIR_EFORMAT, "input is missing");
    }
    if (status != WEIR_OK)
        weir_error_wrap(error, "%s", path);
    json_decref(documents);
    return status;
}
