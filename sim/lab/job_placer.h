/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding places for a whole job: one worker, the equal members of a gang, or the bundles of a
 * placement group; all or none. Only the scheduler's belief is looked at.
 */
#ifndef SIM_LAB_JOB_PLACER_H
#define SIM_LAB_JOB_PLACER_H

#include "sim/scenario/scenario.h"
#include "weir/group.h"

struct sim_job_placer;

/* By the placement policy of the scenario; room for the largest job of the workload. */
weir_status sim_job_placer_create(const struct sim_scenario *scenario,
                                  const struct sim_workload *workload,
                                  struct sim_job_placer **placer, struct weir_error *error);
void sim_job_placer_destroy(struct sim_job_placer *placer);

struct sim_lab_question {
    struct weir_cluster *belief; /* as it was after the call */
    const struct weir_mix *mix;
    const struct sim_job_spec *job;
    uint64_t row; /* of the job in the workload */
    uint64_t seed;
};

/* WEIR_OK, WEIR_EBUSY, WEIR_EINFEASIBLE (as far as the scenario wants that told), or a failure. */
weir_status sim_job_placer_ask(struct sim_job_placer *placer,
                               const struct sim_lab_question *question, struct weir_error *error);
/* Where member `member` goes after WEIR_OK. */
const struct weir_alloc *sim_job_placer_alloc(const struct sim_job_placer *placer, uint32_t member);

/* Somebody else to ask than the policy here: who runs it in another process. What is put and taken
 * is told; `ask` gives an allocation for each member, which is checked here before it is believed.
 */
struct sim_lab_elsewhere {
    void *state;
    weir_status (*ask)(void *state, const struct sim_lab_question *question,
                       struct weir_alloc *allocs, struct weir_error *error);
    void (*put)(void *state, uint64_t worker, const struct weir_alloc *alloc);
    void (*take)(void *state, uint64_t worker);
};
/* `elsewhere` has to live as long; NULL = nobody else. */
void sim_job_placer_turn(struct sim_job_placer *placer, const struct sim_lab_elsewhere *elsewhere);
/* The belief has one worker more, or one less. */
void sim_job_placer_put(const struct sim_job_placer *placer, uint64_t worker,
                        const struct weir_alloc *alloc);
void sim_job_placer_take(const struct sim_job_placer *placer, uint64_t worker);

#endif
