/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packing jobs anew under a mark: weir_placer_put_job for policies of our own, that puts jobs back
 * which were lifted, and asks for the limits of tenants with all that were put.
 */
#ifndef SCHED_INTERNAL_SEAT_H
#define SCHED_INTERNAL_SEAT_H

#include "weir/job.h"

/* A job that waits, or was lifted, takes places on the scratch, in the way that `how` says; one
 * that waits has so many ranks from then on. Its workers get ids that follow one another, in the
 * order of its ranks. Errors as of weir_placer_fits_job and weir_placer_start_job_as;
 * WEIR_ENOTFOUND also for one that holds something on the scratch. */
weir_status weir_placer_seat_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                 const struct weir_job_start *how, struct weir_error *error);

#endif
