/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in queueing policies; the registry lists them. */
#ifndef SCHED_QUEUEING_QUEUEINGS_H
#define SCHED_QUEUEING_QUEUEINGS_H

#include "weir/job.h"

extern const struct weir_queueing_ops weir_queueing_first_fit;
extern const struct weir_queueing_ops weir_queueing_fcfs;
extern const struct weir_queueing_ops weir_queueing_sjf;
extern const struct weir_queueing_ops weir_queueing_smallest;
extern const struct weir_queueing_ops weir_queueing_priority;
extern const struct weir_queueing_ops weir_queueing_easy;
extern const struct weir_queueing_ops weir_queueing_conservative;
extern const struct weir_queueing_ops weir_queueing_srtf;
extern const struct weir_queueing_ops weir_queueing_srsf;
extern const struct weir_queueing_ops weir_queueing_las_2d;
extern const struct weir_queueing_ops weir_queueing_las_promoted;
extern const struct weir_queueing_ops weir_queueing_bounded_wait;
extern const struct weir_queueing_ops weir_queueing_formula;
extern const struct weir_queueing_ops weir_queueing_committed;
extern const struct weir_queueing_ops weir_queueing_gittins;
extern const struct weir_queueing_ops weir_queueing_multifactor;
extern const struct weir_queueing_ops weir_queueing_slurm;
extern const struct weir_queueing_ops weir_queueing_hold;
extern const struct weir_queueing_ops weir_queueing_benefit;
extern const struct weir_queueing_ops weir_queueing_strict_priority;
extern const struct weir_queueing_ops weir_queueing_drf;
extern const struct weir_queueing_ops weir_queueing_wfq;
extern const struct weir_queueing_ops weir_queueing_stride;
extern const struct weir_queueing_ops weir_queueing_lottery;
extern const struct weir_queueing_ops weir_queueing_fair_share;
extern const struct weir_queueing_ops weir_queueing_quota_queues;
extern const struct weir_queueing_ops weir_queueing_cohorts;
extern const struct weir_queueing_ops weir_queueing_gavel;
extern const struct weir_queueing_ops weir_queueing_optimus;
extern const struct weir_queueing_ops weir_queueing_elastic;
extern const struct weir_queueing_ops weir_queueing_pollux;
extern const struct weir_queueing_ops weir_queueing_sia;
extern const struct weir_queueing_ops weir_queueing_themis;
extern const struct weir_queueing_ops weir_queueing_allox;
extern const struct weir_queueing_ops weir_queueing_tesserae;

#endif
