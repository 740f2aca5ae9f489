/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sandbox with a line to it: where the code of a module runs. Each talk begins on weir's side and
 * ends there; one that fails is the end of the process, and of every talk after it.
 */
#ifndef SIM_PORT_POLICY_PROCESS_H
#define SIM_PORT_POLICY_PROCESS_H

#include "sim/port/line.h"
#include "sim/port/sandbox.h"

struct sim_policy_process {
    struct sim_sandbox sandbox;
    struct sim_line line;
};

/* `main` is called there and talks over the line, which is its own then; it ends when the line says
 * no more. */
struct sim_policy_work {
    int (*main)(void *state);
    void *state;
    uint64_t memory_mib; /* 0 = three quarters of the machine's */
    uint32_t timeout_s;  /* for each turn */
    uint64_t cpu_s;      /* as of a sandbox */
    uint32_t files;
};
weir_status sim_policy_process_start(struct sim_policy_process *process,
                                     const struct sim_policy_work *work, struct weir_error *error);
/* A call on the line failed: says why, and ends it. Returns WEIR_EPOLICY. */
weir_status sim_policy_process_lost(struct sim_policy_process *process, struct weir_error *error);
/* After the last talk. */
void sim_policy_process_stop(struct sim_policy_process *process);
/* Whether what came over the line is a status at all. */
bool sim_policy_is_status(int32_t status);
/* What follows a status that is a failure: its sentence, without what steers a terminal. Returns
 * `status`, or WEIR_EPOLICY with `*is_heard` false when nothing came. */
weir_status sim_policy_process_failure(struct sim_policy_process *process, weir_status status,
                                       struct weir_error *error, bool *is_heard);
/* In `main`: the other end of the line. */
void sim_policy_process_turn(struct sim_policy_process *process);

#endif
