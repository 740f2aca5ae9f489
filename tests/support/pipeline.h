/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A host with a cluster of equal nodes and a linear pipeline, in a few words; and an allocator that
 * counts and can be told to fail.
 */
#ifndef TESTS_SUPPORT_PIPELINE_H
#define TESTS_SUPPORT_PIPELINE_H

#include "weir/host.h"

struct test_stage {
    const char *name;
    double cpus, gpus;
    int nvdecs;
    double speed_per_s; /* 0 = not measured */
    double returns;     /* 0 = batch */
    int requested;      /* 0 = auto; a count otherwise, -1 = none at all */
    int batch;          /* 0 = 1 */
};

struct test_pipeline {
    uint32_t nodes, gpus, nvdecs; /* per node, per GPU */
    double cpus;
    const struct test_stage *stages;
    uint32_t stage_count;
};

/* Fills a configuration with policies by name, everything else default. */
struct weir_host_config test_config(const char *placement, const char *scaling);

/* Nodes, stages and estimates into a host. */
weir_status test_fill_host(struct weir_host *host, const struct test_pipeline *pipeline,
                           struct weir_error *error);
/* Both at once; NULL on failure. */
struct weir_host *test_host(const struct weir_host_config *config,
                            const struct test_pipeline *pipeline);

/* What would describe a pool as it is. */
struct weir_pool_spec test_pool_spec(const struct weir_pool_view *view);

/* Decides as a timer does at an instant; the status may be a failure. */
weir_status test_decide_at(struct weir_host *host, int64_t now_ns, const struct weir_plan **plan);

/* Reports every START and STOP of a plan as done. */
weir_status test_carry_out(struct weir_host *host, const struct weir_plan *plan);
/* Decides and carries out; the status of the decision. */
weir_status test_step(struct weir_host *host, struct weir_error *error);

/* Workers of every stage: test_workers(host).text is "3,45,2". */
struct test_text {
    char text[512];
};
struct test_text test_workers(struct weir_host *host);

/* Memory that is counted. `fail_at` = which call from now on fails (0 = none). */
struct test_memory {
    uint64_t blocks; /* not given back */
    uint64_t calls;  /* that asked for memory */
    uint64_t fail_at;
    bool has_failed;
    bool is_gone; /* all that come after that one fail, too */
};
struct weir_allocator test_allocator(struct test_memory *memory);

/* The 14-stage reference pipeline on `nodes` nodes; variant plain, or nvdec. */
struct test_pipeline test_reference(uint32_t nodes, bool uses_nvdec);

#endif
