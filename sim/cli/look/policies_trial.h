/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the trials of all kinds of policy share: each check of a policy is a call in a process of
 * its own, and one row of a table.
 */
#ifndef SIM_CLI_POLICIES_TRIAL_H
#define SIM_CLI_POLICIES_TRIAL_H

#include "sim/cli/table.h"
#include "weir/capacity.h"
#include "weir/job.h"

enum { SIM_TRIAL_NOTE = 1024 };

/* `call` gets the trial; 0 = kept, 1 = broken. It may write the sheet's note. */
struct sim_trial_check {
    const char *name;
    int (*call)(void *trial);
};

struct sim_trial_sheet {
    struct sim_table *table;
    char *note; /* SIM_TRIAL_NOTE bytes that children share with their parent */
    /* Called in the process of each check before it: loads what stands for a policy in the trial.
     */
    weir_status (*load)(void *trial, struct weir_error *error);
};

/* Runs the checks (the last has no name) and adds a row for each; stops after the first that
 * crashed. Returns how many were not kept. */
size_t sim_trial_run(const struct sim_trial_sheet *sheet, const char *policy,
                     const struct sim_trial_check *checks, void *trial);

/* Writes "WHAT: TEXT" as note; returns 1. */
int sim_trial_fail(const struct sim_trial_sheet *sheet, const char *what, const char *text);

/* The function of a weir_allocator whose state is an int64_t: the bytes that are allocated now. */
void *sim_trial_resize(void *state, void *block, size_t size);

/* `digest` with an action of a plan added. */
uint64_t sim_trial_digest(uint64_t digest, const struct weir_action *action);

/* Bytes that are allocated now: of the allocator, whose state is `live`, and of the process. */
struct sim_trial_memory {
    int64_t own, process;
};
struct sim_trial_memory sim_trial_memory(int64_t live);
/* Writes what came on top of `before` as note; 1 when that is more than a byte a call. */
int sim_trial_note_growth(const struct sim_trial_sheet *sheet, struct sim_trial_memory before,
                          int64_t live, int calls);

/* Whether a module is refused while the size of its table, `*size`, is too small, and taken when it
 * is larger than any that is known: 0, or 1 with a note. */
int sim_trial_sizes(const struct sim_trial_sheet *sheet, const struct weir_module *module,
                    uint32_t *size);

/* By the clock, from some moment on. */
double sim_trial_us(void);
/* Sorts the times and writes their 50th and 99th percentile as note, "a WHAT" each. */
void sim_trial_note_times(const struct sim_trial_sheet *sheet, double *times_us, size_t count,
                          const char *what);

/* policies_check_queueing.c and policies_check_capacity.c: all checks of one policy. */
size_t sim_trial_queueing(const struct sim_trial_sheet *all, const struct weir_queueing_ops *ops);
size_t sim_trial_capacity(const struct sim_trial_sheet *all, const struct weir_capacity_ops *ops);

#endif
