/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What workers that work together take to exchange bytes (sim/cluster/collective.h). A rank is a
 * GPU of a worker, or a worker without one.
 */
#ifndef SIM_WORKER_EXCHANGE_H
#define SIM_WORKER_EXCHANGE_H

#include "sim/cluster/exchanges.h"
#include "sim/worker/worker.h"

struct sim_exchange {
    uint32_t ranks, nodes;
    double latency_s; /* of an all-reduce between places like these */
    double bytes_s;   /* what its bytes take beside that */
};

/* An all-reduce of so many bytes of each rank, of `count` living workers whose ids follow one
 * another. ENOMEM. O(n log n). */
weir_status sim_workers_all_reduce(const struct sim_workers *workers, uint64_t first,
                                   uint32_t count, double bytes, struct sim_exchange *exchange);

/* A worker of a job that exchanges on several nodes begins to, over the ways out of its nodes; the
 * others there may go at another pace. sim_exchanges_enter says what `chain` is. */
weir_status sim_workers_meet(struct sim_workers *workers, uint64_t id,
                             const struct sim_exchanging *job, uint32_t *chain);
/* What its exchange takes with those that it meets. */
double sim_workers_met_s(const struct sim_workers *workers, uint32_t chain);
/* All workers of the job go. */
void sim_workers_part(struct sim_workers *workers, uint32_t *chain);

/* What an all-reduce of so many bytes takes between ranks that are each on a node like the first,
 * without the latency. */
double sim_exchange_apart_s(const struct sim_scenario *scenario, uint32_t ranks, double bytes);

#endif
