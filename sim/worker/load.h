/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a worker in set-up reads from stores before it can go on: image, environment, weights.
 *
 * Each place of the worker reads one after the other, all places at once; the slowest decides. What
 * is kept on a node is read there once: who needs it while another reads it waits for that, who
 * comes later finds it. When the reader goes, the first who waits begins anew. A node that is lost
 * keeps nothing.
 */
#ifndef SIM_WORKER_LOAD_H
#define SIM_WORKER_LOAD_H

#include "sim/scenario/scenario.h"
#include "sim/worker/worker.h"

struct sim_load_spec {
    double bytes;
    uint32_t store, traffic; /* class there, 0 = none */
    uint64_t key;            /* what it is, where it is kept on its node; 0 = it is not */
};
enum { SIM_LOADS_MAX = SIM_SETUP_LOADS };

/* A worker in set-up begins to load; when all is there the world calls ops->loaded. *is_there: it
 * was there already, and nobody is called. */
weir_status sim_worker_load(struct sim_workers *workers, struct sim_worker *worker,
                            const struct sim_load_spec *loads, uint32_t count, bool *is_there);
/* An activity of a load is over; its owner is sim_work_owner(0, slot of the worker). */
weir_status sim_workers_load_worked(struct sim_workers *workers, uint32_t slot, sim_handle work);
/* The next one that has loaded all, NULL = none. */
struct sim_worker *sim_workers_take_loaded(struct sim_workers *workers);
/* The node is lost. */
void sim_workers_forget_kept(struct sim_workers *workers, uint32_t node);

#endif
