/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queueing policies this library brings. The first is the default; the strict order follows,
 * then those that look at a job. A new policy is one file and one line here.
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/registry.h"

static const struct weir_queueing_ops *const queueings[] = {
    &weir_queueing_first_fit,
    &weir_queueing_fcfs,
    &weir_queueing_sjf,
    &weir_queueing_smallest,
    &weir_queueing_priority,
    &weir_queueing_easy,
    &weir_queueing_conservative,
    &weir_queueing_srtf,
    &weir_queueing_srsf,
    &weir_queueing_las_2d,
    &weir_queueing_las_promoted,
    &weir_queueing_bounded_wait,
    &weir_queueing_formula,
    &weir_queueing_committed,
    &weir_queueing_gittins,
    &weir_queueing_multifactor,
    &weir_queueing_slurm,
    &weir_queueing_hold,
    &weir_queueing_benefit,
    &weir_queueing_strict_priority,
    /* those that choose a tenant first */
    &weir_queueing_drf,
    &weir_queueing_wfq,
    &weir_queueing_stride,
    &weir_queueing_lottery,
    &weir_queueing_fair_share,
    &weir_queueing_quota_queues,
    &weir_queueing_cohorts,
    /* who runs and where together */
    &weir_queueing_gavel,
    /* and with how many ranks */
    &weir_queueing_optimus,
    &weir_queueing_elastic,
    &weir_queueing_pollux,
    &weir_queueing_sia,
    &weir_queueing_themis,
    &weir_queueing_allox,
    &weir_queueing_tesserae,
};

WEIR_REGISTRY(queueing, queueings)
