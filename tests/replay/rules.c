/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules by which ours differs on purpose (see rules.h). */
#include "tests/replay/rules.h"

#include "tests/replay/oracle_allocator.h"
#include "tests/replay/oracle_pass.h"

#include <math.h>
#include <string.h>

/* ---- passes of version P ---- */

/* Whether any worker of whole GPUs also wants engines. */
static bool whole_with_engines(const json_t *input)
{
    const json_t *const stages = json_object_get(input, "stages");

    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *const shape = json_object_get(json_array_get(stages, i), "shape");
        if (strcmp(replay_text(shape, "type"), "whole_gpu") == 0 &&
            decide_number_or(shape, "nvdecs", 0) + decide_number_or(shape, "nvencs", 0) > 0)
            return true;
    }
    return false;
}

/* Engines of the n-th GPU of a node as one number; -1 = there is no such GPU. */
static double engines_of(const json_t *node, size_t gpu)
{
    const json_t *const list = json_object_get(node, "gpu_list");
    const json_t *const entry = json_array_get(list, gpu);

    if (json_is_array(list))
        return entry == NULL ? -1
                             : decide_number_or(entry, "nvdecs", 0) * 64 +
                                   decide_number_or(entry, "nvencs", 0);
    return (double)gpu < decide_number_or(node, "gpus", 0)
               ? decide_number_or(node, "nvdecs_per_gpu", 0) * 64 +
                     decide_number_or(node, "nvencs_per_gpu", 0)
               : -1;
}

static bool engines_differ(const json_t *input)
{
    const json_t *const nodes = json_object_get(input, "nodes");
    double first = -1;

    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *const node = json_array_get(nodes, i);
        for (size_t g = 0; engines_of(node, g) >= 0; g++) {
            if (first >= 0 && fabs(engines_of(node, g) - first) > 0)
                return true;
            first = engines_of(node, g);
        }
    }
    return false;
}

static bool asks_for_none(const json_t *input)
{
    const json_t *const stages = json_object_get(input, "stages");

    for (size_t i = 0; i < json_array_size(stages); i++) {
        if (fabs(decide_number_or(json_array_get(stages, i), "requested_workers", -1)) <= 0)
            return true;
    }
    return false;
}

static bool always(const json_t *input)
{
    (void)input;
    return true;
}

static const struct {
    const char *exception;
    bool (*applies)(const json_t *input);
    struct replay_rule rule;
} pass_rules[] = {
    { "allocator.OverAllocatedError",
      always,
      { "overdraft", "shares that fill a GPU leave less than nothing in doubles, and the original "
                     "dies of it; ours leave nothing" } },
    { "resources.AllocationError",
      whole_with_engines,
      { "lowest_engines", "the original insists on engines 0..k-1 of whole GPUs although others "
                          "are free; ours takes free ones" } },
    { "builtins.AssertionError",
      engines_differ,
      { "unequal_engines", "the original wants the same engines on all GPUs; ours counts an entire "
                           "GPU with their mean" } },
    { "builtins.ZeroDivisionError",
      asks_for_none,
      { "no_workers", "the original divides by the workers of a stage that is to have none; ours "
                      "leaves its slots" } },
};

const struct replay_rule replay_rule_tie = {
    "tie", "rounding decides between equal choices in the original; ours is the one the exact pass "
           "makes"
};

const struct replay_rule *replay_pass_rule(const json_t *input, const json_t *reference)
{
    const char *const exception = replay_text(reference, "error_type");

    for (size_t i = 0; i < sizeof pass_rules / sizeof pass_rules[0]; i++) {
        if (strcmp(pass_rules[i].exception, exception) == 0 && pass_rules[i].applies(input))
            return &pass_rules[i].rule;
    }
    return NULL;
}

bool replay_same_as_exact(struct replay_comparison *comparison, const json_t *input,
                          const json_t *ours)
{
    json_t *const exact = oracle_pass(input);
    const bool is_same = exact != NULL ? replay_same(comparison, "exact", ours, exact)
                                       : replay_differ(comparison, "exact", "a plan",
                                                       "nothing: the exact pass cannot read it");

    json_decref(exact);
    return is_same;
}

/* ---- ties among stored candidates ---- */

static double key_of(const json_t *candidate, bool is_place, size_t which)
{
    static const char *const keys[] = { "frag_after", "neg_remaining_before" };

    return is_place ? json_number_value(json_array_get(json_object_get(candidate, "cost"), which))
                    : decide_number_or(candidate, keys[which], 0);
}

/* Keys within 1e-9 are equal. */
static int compare(const json_t *a, const json_t *b, bool is_place)
{
    for (size_t k = 0; k < 2; k++) {
        const double difference = key_of(a, is_place, k) - key_of(b, is_place, k);
        if (fabs(difference) > 1e-9)
            return difference < 0 ? -1 : 1;
    }
    return 0;
}

bool replay_is_first_best(const json_t *input, const json_t *ours, const json_t *reference)
{
    const bool is_place = strcmp(replay_text(input, "command"), "place") == 0;
    const json_t *const candidates = json_object_get(reference, "candidates");
    size_t best = 0;

    for (size_t i = 1; i < json_array_size(candidates); i++) {
        if (compare(json_array_get(candidates, i), json_array_get(candidates, best), is_place) < 0)
            best = i;
    }
    if (is_place)
        return json_is_integer(json_object_get(ours, "chosen_candidate")) &&
               json_integer_value(json_object_get(ours, "chosen_candidate")) == (json_int_t)best;
    return json_array_size(candidates) > 0 &&
           strcmp(replay_text(ours, "worker"),
                  replay_text(json_array_get(candidates, best), "id")) == 0;
}

/* ---- shapes of version P ---- */

static const double SMALLEST = 0.5 / 40960000; /* rounds to one unit */

static const struct replay_rule rule_truncation = {
    "truncation", "GPUs that are whole but for 1e-6 are cut to the number below in the original; "
                  "ours are rounded"
};
static const struct replay_rule rule_entire = {
    "entire", "the original takes an entire GPU with a part or none; ours refuses"
};
static const struct replay_rule rule_smallest = {
    "smallest", "the original takes amounts below 1/40960000; ours refuses"
};

static bool is_too_small(const json_t *resources, const char *key)
{
    const double amount = decide_number_or(resources, key, 0);

    return amount > 0 && amount < SMALLEST;
}

const struct replay_rule *replay_shape_rule(const json_t *row, json_t **shape)
{
    const json_t *const resources = json_object_get(row, "resources");
    const double gpus = decide_number_or(resources, "gpus", 0);
    const bool is_whole = gpus >= 1 && fabs(gpus - nearbyint(gpus)) < 1e-6;

    *shape = NULL;
    if (strcmp(replay_text(row, "status"), "ok") != 0)
        return NULL;
    if (decide_flag_or(resources, "entire_gpu", false))
        return is_whole ? NULL : &rule_entire;
    if (is_too_small(resources, "cpus") || is_too_small(resources, "gpus"))
        return &rule_smallest;
    if (gpus < 1 - 1e-6 || fabs(gpus - nearbyint(gpus)) >= 1e-6 || gpus >= nearbyint(gpus))
        return NULL;
    *shape = json_pack("{s:s, s:f, s:f, s:f, s:f}", "type", "whole_gpu", "gpus", nearbyint(gpus),
                       "cpus", decide_number_or(resources, "cpus", 0), "nvdecs",
                       decide_number_or(resources, "nvdecs", 0), "nvencs",
                       decide_number_or(resources, "nvencs", 0));
    return &rule_truncation;
}

/* ---- the allocator ---- */

static const struct replay_rule rule_twice = {
    "twice", "an allocation that names a GPU twice is checked part by part in the original and may "
             "overdraw it; ours adds the parts up"
};

const struct replay_rule *replay_allocator_rule(const json_t *input, json_t **steps)
{
    if (!oracle_names_gpu_twice(input))
        return NULL;
    *steps = oracle_allocator(input);
    return *steps != NULL ? &rule_twice : NULL;
}
