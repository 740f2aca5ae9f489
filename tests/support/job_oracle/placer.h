/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding places for a whole job: one worker, the equal members of a gang, or the bundles of a
 * placement group; all or none. Only the scheduler's belief is looked at.
 */
#ifndef TESTS_JOB_ORACLE_PLACER_H
#define TESTS_JOB_ORACLE_PLACER_H

#include "sim/scenario/scenario.h"
#include "weir/group.h"

struct oracle_job_placer;

/* By the placement policy of the scenario; room for the largest job of the workload. */
weir_status oracle_job_placer_create(const struct sim_scenario *scenario,
                                     const struct sim_workload *workload,
                                     struct oracle_job_placer **placer, struct weir_error *error);
void oracle_job_placer_destroy(struct oracle_job_placer *placer);

struct oracle_job_question {
    struct weir_cluster *belief; /* as it was after the call */
    const struct weir_mix *mix;
    const struct sim_job_spec *job;
    uint64_t seed;
};

/* WEIR_OK, WEIR_EBUSY, WEIR_EINFEASIBLE (as far as the scenario wants that told), or a failure. */
weir_status oracle_job_placer_ask(struct oracle_job_placer *placer,
                                  const struct oracle_job_question *question,
                                  struct weir_error *error);
/* Where member `member` goes after WEIR_OK. */
const struct weir_alloc *oracle_job_placer_alloc(const struct oracle_job_placer *placer,
                                                 uint32_t member);

#endif
