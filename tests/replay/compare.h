/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One answer beside a stored one: everything the stored one says must be the same, numbers within a
 * tolerance; what only ours says does not matter. The first difference is kept as a sentence.
 */
#ifndef TESTS_REPLAY_COMPARE_H
#define TESTS_REPLAY_COMPARE_H

#include "tests/replay/replay.h"

struct replay_comparison {
    FILE *out; /* NULL = silent */
    struct replay_tally *tally;
    double tolerance; /* relative above 1, absolute below */
    char difference[512];
};

/* Both return false, so that a check is one line. */
bool replay_differ(struct replay_comparison *comparison, const char *path, const char *ours,
                   const char *reference);
bool replay_differ_values(struct replay_comparison *comparison, const char *path,
                          const json_t *ours, const json_t *reference);

bool replay_same(struct replay_comparison *comparison, const char *path, const json_t *ours,
                 const json_t *reference);
/* The value of a key; true when the reference has none. */
bool replay_same_key(struct replay_comparison *comparison, const char *key, const json_t *ours,
                     const json_t *reference);

/* The line of a case, and its place in the tally. */
void replay_report_ok(struct replay_comparison *comparison, const char *label, const char *text);
void replay_report_deviation(struct replay_comparison *comparison, const char *label,
                             const char *rule, const char *why);
void replay_report_failure(struct replay_comparison *comparison, const char *label);

#endif
