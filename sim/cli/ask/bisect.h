/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first of `count` ordered trials that succeeds, where trials that come later are easier:
 * bisection, knowing nothing of what a trial is.
 *
 * Looked at are the easiest one (whether there is any), O(log count) in between, and the neighbours
 * of the answer on both sides: the one before it has failed, the one behind it must succeed, or the
 * order is not one. Whoever runs trials asks which is next and tells how it ended.
 */
#ifndef SIM_CLI_BISECT_H
#define SIM_CLI_BISECT_H

#include <stdbool.h>
#include <stddef.h>

enum sim_trial { SIM_TRIAL_UNKNOWN, SIM_TRIAL_FAILS, SIM_TRIAL_HOLDS };

struct sim_bisect {
    unsigned char *trials; /* enum sim_trial, by index */
    size_t count;
};

/* False = out of memory. */
bool sim_bisect_begin(struct sim_bisect *bisect, size_t count);
void sim_bisect_end(struct sim_bisect *bisect);
void sim_bisect_tell(struct sim_bisect *bisect, size_t trial, bool holds);

/* The trial to make next; `count` = none, all is known that is needed. */
size_t sim_bisect_next(const struct sim_bisect *bisect);
/* The answer: the first trial that holds with none before it that is known to; `count` = none. */
size_t sim_bisect_answer(const struct sim_bisect *bisect);
/* Whether a trial that is easier than one that holds failed. */
bool sim_bisect_is_disordered(const struct sim_bisect *bisect);

#endif
