/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes of refusals (see refusal.h). */
#include "tests/replay/refusal.h"

#include <ctype.h>
#include <string.h>

/* ---- version P ---- */

/* Our status for an exception of the original; "" = we have no such error. */
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

/* The pool optimum, where there was one before the refusal. */
static const json_t *naive_of(const json_t *reference)
{
    const json_t *const naive = json_object_get(reference, "naive");

    return json_object_get(naive, "workers") != NULL ? naive : NULL;
}

bool replay_same_exception(struct replay_comparison *comparison, const json_t *ours,
                           const json_t *reference)
{
    const char *const exception = replay_text(reference, "error_type");

    if (strcmp(replay_text(ours, "status"), "error") != 0)
        return replay_differ(comparison, "status", "ok", exception);
    if (exception[0] != '\0' && strcmp(replay_text(ours, "error_type"), status_for(exception)) != 0)
        return replay_differ(comparison, "error_type", replay_text(ours, "error_type"), exception);
    return replay_same_key(comparison, "error_phase", ours, reference) &&
           (naive_of(reference) == NULL ||
            replay_same(comparison, "naive", json_object_get(ours, "naive"), naive_of(reference)));
}

/* ---- C and N ---- */

enum refusal { REFUSAL_REQUESTED, REFUSAL_MINIMUM, REFUSAL_POOL, REFUSAL_NAMED };

static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);

    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == word[i])
            i++;
        if (i == length)
            return true;
    }
    return false;
}

static enum refusal class_of(const char *text)
{
    if (has_word(text, "requested worker"))
        return REFUSAL_REQUESTED;
    if (has_word(text, "minimum worker"))
        return REFUSAL_MINIMUM;
    return has_word(text, "feasible") ? REFUSAL_POOL : REFUSAL_NAMED;
}

static bool is_part_of_name(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || letter == '-';
}

/* The stage a sentence speaks of: the longest name of a stage that stands in it after the word
 * stage, as a whole word; -1 = none. */
static int stage_of(const char *text, const json_t *stages)
{
    size_t longest = 0;
    int found = -1;

    for (size_t i = 0; i < json_array_size(stages); i++) {
        const char *const name = replay_text(json_array_get(stages, i), "name");
        const size_t length = strlen(name);
        const char *at = strstr(text, "tage");
        at = at != NULL && length > longest ? strstr(at + 4, name) : NULL;
        while (at != NULL && (is_part_of_name(at[-1]) || is_part_of_name(at[length])))
            at = strstr(at + 1, name);
        if (at == NULL)
            continue;
        longest = length;
        found = (int)i;
    }
    return found;
}

/* Rules are named by one word; what stands after it is explanation. */
static bool same_name(const char *a, const char *b)
{
    const size_t length = strcspn(b, ":({ ");

    return length == strcspn(a, ":({ ") && strncmp(a, b, length) == 0;
}

bool replay_same_refusal(struct replay_comparison *comparison, const json_t *input,
                         const json_t *ours, const json_t *reference)
{
    const char *const expected = replay_text(reference, "error");
    const char *const found = replay_text(ours, "error");
    const json_t *const stages = json_object_get(input, "stages");
    const int stage = stage_of(expected, stages);
    const enum refusal class = class_of(expected);
    const bool is_same = found[0] != '\0' && class == class_of(found) &&
                         (class != REFUSAL_NAMED || same_name(found, expected)) &&
                         (class == REFUSAL_NAMED || stage < 0 || stage == stage_of(found, stages));

    if (is_same)
        return replay_same_key(comparison, "workload_frequencies", ours, reference);
    return replay_differ_values(comparison, "error", ours, reference);
}
