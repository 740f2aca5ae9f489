/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lab in the process of a policy: a copy of the other one as it was before the first arrival,
 * in which the belief alone goes on. It is told what is put and taken, and measures nothing.
 */
#include "sim/lab/lab_state.h"

void sim_lab_turn(struct sim_lab *lab, const struct sim_lab_elsewhere *elsewhere)
{
    sim_job_placer_turn(lab->placer, elsewhere);
}

weir_status sim_lab_copy_open(struct sim_lab *lab, struct weir_error *error)
{
    sim_job_placer_destroy(lab->placer);
    lab->placer = NULL;
    return sim_job_placer_create(lab->scenario, lab->workload, &lab->placer, error);
}

weir_status sim_lab_copy_choose(struct sim_lab *lab, uint64_t row, uint64_t seed,
                                struct weir_error *error)
{
    const struct weir_mix mix = sim_target_mix(&lab->target);
    if (row >= lab->workload->jobs_count)
        return weir_fail(error, WEIR_EINVAL, "there is no such job");
    const struct sim_lab_question question = {
        .belief = lab->belief, .mix = &mix, .job = &lab->workload->jobs[row], .seed = seed
    };
    return sim_job_placer_ask(lab->placer, &question, error);
}

uint32_t sim_lab_copy_members(const struct sim_lab *lab, uint64_t row)
{
    return lab->workload->jobs[row].members;
}

const struct weir_alloc *sim_lab_copy_place(const struct sim_lab *lab, uint32_t member)
{
    return sim_job_placer_alloc(lab->placer, member);
}

weir_status sim_lab_copy_put(struct sim_lab *lab, uint64_t worker, const struct weir_alloc *place,
                             struct weir_error *error)
{
    return weir_cluster_add_worker(lab->belief, worker, weir_pool_owner(0), place, error);
}

weir_status sim_lab_copy_take(struct sim_lab *lab, uint64_t worker, struct weir_error *error)
{
    return weir_cluster_remove_worker(lab->belief, worker, error);
}
