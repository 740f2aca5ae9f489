/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparing answers (see compare.h). */
#include "tests/replay/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void report(struct replay_comparison *comparison, const char *verdict, const char *label,
                   const char *text)
{
    if (comparison->out != NULL)
        fprintf(comparison->out, "%s %s%s%s\n", verdict, label, text[0] != '\0' ? ": " : "", text);
}

void replay_report_ok(struct replay_comparison *comparison, const char *label, const char *text)
{
    comparison->tally->ok++;
    report(comparison, "ok  ", label, text);
}

void replay_report_failure(struct replay_comparison *comparison, const char *label)
{
    comparison->tally->failed++;
    report(comparison, "FAIL", label, comparison->difference);
}

void replay_report_deviation(struct replay_comparison *comparison, const char *label,
                             const char *rule, const char *why)
{
    char text[400];

    (void)snprintf(text, sizeof text, "by rule %s: %s", rule, why);
    comparison->tally->deviations++;
    report(comparison, "ok (deviation)", label, text);
}

bool replay_differ(struct replay_comparison *comparison, const char *path, const char *ours,
                   const char *reference)
{
    snprintf(comparison->difference, sizeof comparison->difference, "%s: we say %s, reference %s",
             path[0] == '.' ? path + 1 : path, ours, reference);
    return false;
}

bool replay_differ_values(struct replay_comparison *comparison, const char *path,
                          const json_t *ours, const json_t *reference)
{
    char *const a = ours != NULL ? json_dumps(ours, JSON_ENCODE_ANY) : NULL;
    char *const b = json_dumps(reference, JSON_ENCODE_ANY);

    (void)replay_differ(comparison, path, a != NULL ? a : "nothing", b != NULL ? b : "nothing");
    free(a);
    free(b);
    return false;
}

static bool same_object(struct replay_comparison *comparison, const char *path, const json_t *ours,
                        const json_t *reference)
{
    /* jansson's iterators ask for a mutable object although they change nothing.
     * NOLINTNEXTLINE(performance-no-int-to-ptr): the cast takes away const alone */
    json_t *const object = json_incref((json_t *)(uintptr_t)reference);
    bool is_same = json_is_object(ours) || replay_differ_values(comparison, path, ours, reference);

    for (void *at = json_object_iter(object); is_same && at != NULL;
         at = json_object_iter_next(object, at)) {
        const char *const key = json_object_iter_key(at);
        char inner[256];
        snprintf(inner, sizeof inner, "%s.%s", path, key);
        is_same =
            replay_same(comparison, inner, json_object_get(ours, key), json_object_iter_value(at));
    }
    json_decref(object);
    return is_same;
}

/* Ids without an order: the reference keeps those it deletes in a set. */
static bool same_set(struct replay_comparison *comparison, const char *path, const json_t *ours,
                     const json_t *reference)
{
    for (size_t i = 0; i < json_array_size(reference); i++) {
        bool is_there = false;
        for (size_t k = 0; !is_there && k < json_array_size(ours); k++)
            is_there = json_equal(json_array_get(ours, k), json_array_get(reference, i));
        if (!is_there)
            return replay_differ_values(comparison, path, ours, reference);
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
static bool same_array(struct replay_comparison *comparison, const char *path, const json_t *ours,
                       const json_t *reference)
{
    const size_t count = json_array_size(reference);
    const bool may_be_cut = ends_with(path, "candidates");
    const bool is_long = may_be_cut ? json_array_size(ours) >= count && count >= 60 : false;

    if (!json_is_array(ours) || (json_array_size(ours) != count && !is_long))
        return replay_differ_values(comparison, path, ours, reference);
    if (ends_with(path, ".deleted"))
        return same_set(comparison, path, ours, reference);
    for (size_t i = 0; i < count; i++) {
        char inner[256];
        snprintf(inner, sizeof inner, "%s[%zu]", path, i);
        if (!replay_same(comparison, inner, json_array_get(ours, i), json_array_get(reference, i)))
            return false;
    }
    return true;
}

/* Everything the reference says; what only we say does not matter. */
bool replay_same(struct replay_comparison *comparison, const char *path, const json_t *ours,
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
    return replay_differ_values(comparison, path, ours, reference);
}

bool replay_same_key(struct replay_comparison *comparison, const char *key, const json_t *ours,
                     const json_t *reference)
{
    const json_t *const expected = json_object_get(reference, key);

    return expected == NULL || replay_same(comparison, key, json_object_get(ours, key), expected);
}
