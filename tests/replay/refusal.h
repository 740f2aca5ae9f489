/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Refusals by class: what could not be done, in which phase, for which stage; never by the words of
 * the sentence.
 */
#ifndef TESTS_REPLAY_REFUSAL_H
#define TESTS_REPLAY_REFUSAL_H

#include "tests/replay/compare.h"

/* Version P: class of the exception, and the phase. An exception without a name is any. */
bool replay_same_exception(struct replay_comparison *comparison, const json_t *ours,
                           const json_t *reference);
/* C and N: a requested count, a first worker, or a named rule; and the stage of `input`. */
bool replay_same_refusal(struct replay_comparison *comparison, const json_t *input,
                         const json_t *ours, const json_t *reference);

#endif
