/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The facts of one run: every number that more than one sentence, table, tile or chart uses is
 * computed here once, after warm-up, weighted by time.
 *
 * Results of the recorder (event-exact) go first; where a database lacks one, the mean of the
 * samples stands in. NAN = unknown.
 */
#ifndef ANALYSIS_FACTS_H
#define ANALYSIS_FACTS_H

#include "analysis/database/query.h"

enum an_resource { AN_CPU, AN_GPU, AN_NVDEC, AN_NVENC, AN_RESOURCES };
const char *an_resource_name(enum an_resource resource);

struct an_stage_facts {
    const char *pipeline, *name, *shape;
    double gpus;           /* of one worker */
    double service_mean_s; /* declared */
    double bound_workers;  /* in the integer bound, NAN = none */
    double workers_mean, workers_max;
    double busy, blocked, starved, setup; /* shares of worker time */
    double queue_mean, queue_p95, queue_max;
    double bottleneck; /* share of time */
    bool is_alone;     /* the only one of its pipeline: slowest of none */
    double backpressured;
    double tasks_per_s;
};

struct an_resource_facts {
    double capacity;         /* mean, up nodes only */
    double assigned, active; /* shares of capacity */
};

struct an_facts {
    struct an_keeper keeper; /* of the texts */
    double from_s, to_s;     /* what the means are over */
    size_t node_count;
    double gpu_count; /* installed */
    struct an_resource_facts resources[AN_RESOURCES];
    double throughput_per_s, steady_per_s, offered_per_s;
    double items_done, items_censored;
    double frag_gpus, frag_ratio; /* ratio: of the free GPUs */
    size_t stage_count;
    struct an_stage_facts *stages; /* in the order of their index */
    size_t bottleneck;             /* index of the stage that limits longest; stage_count = none */
    size_t sample_count;
};

weir_status an_facts_read(struct an_db *db, const struct an_run *run, struct an_facts **facts,
                          struct weir_error *error);
void an_facts_destroy(struct an_facts *facts);

#endif
