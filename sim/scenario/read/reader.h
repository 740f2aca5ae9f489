/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the tree to the draft, by the schema: one function for every mapping there is.
 *
 * All mistakes are reported; a value that could not be read stays absent, so that later steps can
 * go on as far as they make sense.
 */
#ifndef SIM_SCENARIO_READER_H
#define SIM_SCENARIO_READER_H

#include "sim/scenario/read/draft.h"
#include "sim/scenario/report.h"
#include "sim/scenario/schema/schema.h"

enum sim_source {
    SIM_SOURCE_UNSTATED,
    SIM_SOURCE_MEASURED,
    SIM_SOURCE_DATASHEET,
    SIM_SOURCE_GUESS
};
enum { SIM_SOURCE_COUNT = 4 };

struct sim_reader {
    struct sim_arena *arena;
    struct sim_report *report;
    const struct sim_policies *policies; /* never NULL */
    const char *folder;                  /* of the scenario file, for files it names; NULL = here */
    enum sim_source source;              /* of the mapping being read */
    bool has_sources;
    uint32_t sources[SIM_SOURCE_COUNT];
    uint32_t knobs;
    /* Reads a time of day or a stamp as time since a start; NULL = neither is known. */
    weir_status (*moment_since)(const char *text, int64_t start_unix_s, double *at_s,
                                struct weir_error *error);
    int64_t start_unix_s; /* start_time; 0 = not given */
    bool is_old;          /* the file is of schema 1: its names are suggested */
    /* Whose mapping is being read, and that which it stands in. */
    const struct sim_section *inner, *outer;
    /* Files named by laws and tables. */
    char **files;
    size_t files_count;
};

/* Fills `draft` (zeroed, of section->size bytes) from `node`; NULL or an empty node = defaults. */
void sim_read_section(struct sim_reader *reader, const struct sim_yaml *node,
                      const struct sim_section *section, void *draft);

/* For reader_policy.c: the policy's name is read; its parameters are the keys `section` lacks. */
void sim_read_policy(struct sim_reader *reader, const struct sim_yaml *node,
                     const struct sim_section *section, struct draft_policy *draft);

/* A key nobody knows; `extra` are further names to suggest. */
void sim_report_unknown_key(struct sim_reader *reader, const struct sim_yaml *node,
                            const struct sim_section *section, const char *const *extra,
                            size_t extra_count);

void sim_reader_add_file(struct sim_reader *reader, const char *path);

static inline uint32_t *sim_count_at(void *draft, size_t offset)
{
    return (uint32_t *)(void *)((unsigned char *)draft + offset);
}

#endif
