/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where libweir answers otherwise than an original on purpose: rules, not cases. A rule is a
 * predicate on the question and the stored answer; what is right then is computed by an oracle that
 * has nothing of libweir in it, and ours must be that. docs/replay.md lists the rules.
 */
#ifndef TESTS_REPLAY_RULES_H
#define TESTS_REPLAY_RULES_H

#include "tests/replay/compare.h"

struct replay_rule {
    const char *name;
    const char *why;
};

/* The rule that speaks of an `autoscale` question of version P which the original fails on, or
 * NULL. */
const struct replay_rule *replay_pass_rule(const json_t *input, const json_t *reference);
/* The same plan, slots or refusal as the exact pass; `*rule` stays when it is not NULL. */
bool replay_same_as_exact(struct replay_comparison *comparison, const json_t *input,
                          const json_t *ours);
/* Equal counts, another choice: ours is the exact pass's, step by step. */
extern const struct replay_rule replay_rule_tie;

/* A choice among stored candidates with keys that are equal within the tolerance: ours must be the
 * first of the best. Questions place and remove of version P. */
bool replay_is_first_best(const json_t *input, const json_t *ours, const json_t *reference);

/* A row of the table of shapes of version P; `*shape` = what is right, NULL = a refusal. */
const struct replay_rule *replay_shape_rule(const json_t *row, json_t **shape);

/* Allocations that name one GPU twice (N, C); the right steps in `*steps`, a new reference. */
const struct replay_rule *replay_allocator_rule(const json_t *input, json_t **steps);

#endif
