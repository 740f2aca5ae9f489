/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By time of submission. "fcfs" is strict: while the first job does not fit, all wait (head of line
 * blocking). "first_fit" lets every job pass that fits, without any reservation, so a large job may
 * starve.
 */
#include "sched/queueing/queueings.h"

const struct weir_queueing_ops weir_queueing_fcfs = {
    .size = sizeof weir_queueing_fcfs,
    .abi = WEIR_ABI_MAJOR,
    .name = "fcfs",
    .summary = "by submission; while the first job does not fit, all wait",
};

const struct weir_queueing_ops weir_queueing_first_fit = {
    .size = sizeof weir_queueing_first_fit,
    .abi = WEIR_ABI_MAJOR,
    .name = "first_fit",
    .summary = "by submission; jobs that fit pass those that do not",
    .flags = WEIR_QUEUEING_PASSES,
};
