/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files with the schema's tables share: shorthands, and the sections that the top level
 * refers to. For the schema_*.c files alone.
 */
#ifndef SIM_SCENARIO_SCHEMA_PARTS_H
#define SIM_SCENARIO_SCHEMA_PARTS_H

#include "sim/scenario/draft.h"
#include "sim/scenario/schema.h"

#define AT(type, member) .offset = offsetof(struct type, member)
#define LENGTH(array)    (sizeof(array) / sizeof((array)[0]))
#define LARGEST_COUNT    1e6
#define LARGEST_TIME     9.0e9 /* seconds: 285 years */
#define LARGEST_BYTES    9.0e18

#define NAME_FIELD(type, text)                                                                     \
    {                                                                                              \
        .key = "name", .kind = SIM_FIELD_TEXT, .flags = SIM_FIELD_REQUIRED, AT(type, head.name),   \
        .help = text                                                                               \
    }

extern const struct sim_section sim_schema_quantum;
extern const struct sim_section sim_schema_catalog;
extern const struct sim_section sim_schema_truth;
extern const struct sim_section sim_schema_cluster;
extern const struct sim_section sim_schema_pipeline;
extern const struct sim_section sim_schema_stage;
extern const struct sim_section sim_schema_model;
extern const struct sim_section sim_schema_job_request;
extern const struct sim_section sim_schema_jobs;
extern const struct sim_section sim_schema_fill;

#endif
