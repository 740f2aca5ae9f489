/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What if: at the end of a static experiment some jobs are moved to where they fragment less.
 *
 * The budget is a share of the jobs that are placed, rounded up. Rules:
 *   greedy   Again and again the job whose move lowers the cluster's F most for its size. Jobs are
 *            ranked by the F that leaves their node with them; the first few are really taken out
 *            and placed anew by the policy, the best of these moves is made, the others are undone.
 *            A move that does not lower F is never made, no job moves twice. The size of a job is
 *            its GPUs, or its CPUs counted as the GPUs that come with so many in this cluster,
 *            whichever is more.
 *   batch    Again and again the job with which most F leaves its node is taken out; when the
 *            budget is used up, they are placed in that order by the policy. Jobs that keep each
 *            other in place can move, but F may rise.
 *   one_pod  The rule of the FGD simulator: nodes in the order of falling F, from each the job that
 *            takes most F with it (in whole thousandths, at least one); all of them go, then they
 *            are placed in that order by the policy.
 * Jobs of several members stay. A job that comes back to its old place did not move; one that fits
 * nowhere stays out. Then the refused jobs arrive once more, in their order: what they get, less
 * what stayed out, are the GPUs regained.
 *
 * The results of the experiment itself do not change: it is asked after they are written.
 */
#ifndef SIM_LAB_DEFRAG_H
#define SIM_LAB_DEFRAG_H

#include "sim/lab/lab.h"

struct sim_defrag_move {
    uint64_t arrival;
    uint32_t from_node;
    uint32_t to_node; /* WEIR_NO_INDEX = stays out */
    double gpus, cpus;
    /* F of the cluster in GPUs: before the job leaves (batch, one_pod: before it is placed) and
     * after. */
    double frag_before_gpus, frag_after_gpus;
};

struct sim_defrag {
    struct sim_defrag_move *moves;
    uint32_t count, budget, out; /* out: of the moves, those that stay out */
    double frag_before_gpus;     /* F of the cluster */
    double frag_after_gpus;      /* before refused jobs come again */
    double moved_gpus;           /* held by the jobs that moved */
    double used_before_gpus;     /* allocated */
    double used_after_gpus;      /* after refused jobs came again */
};

/* Changes the lab for good. Errors: WEIR_ENOMEM, those of the policy. */
weir_status sim_lab_defrag(struct sim_lab *lab, const struct sim_defrag_rule *rule,
                           struct sim_defrag *defrag, struct weir_error *error);
void sim_defrag_clear(struct sim_defrag *defrag);

#endif
