/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What workers that work together take to exchange bytes (sim/cluster/collective.h). A rank is a
 * GPU of a worker, or a worker without one.
 */
#ifndef SIM_WORKER_EXCHANGE_H
#define SIM_WORKER_EXCHANGE_H

#include "sim/worker/worker.h"

struct sim_exchange {
    uint32_t ranks;
    double latency_s; /* of an all-reduce between places like these */
    double bytes_s;   /* what its bytes take beside that */
};

/* An all-reduce of so many bytes of each rank, of `count` living workers whose ids follow one
 * another. ENOMEM. O(n log n). */
weir_status sim_workers_all_reduce(const struct sim_workers *workers, uint64_t first,
                                   uint32_t count, double bytes, struct sim_exchange *exchange);

#endif
