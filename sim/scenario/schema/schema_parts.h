/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files with the schema's tables share: shorthands, and the sections that the top level
 * refers to. For the schema_*.c files alone.
 */
#ifndef SIM_SCENARIO_SCHEMA_PARTS_H
#define SIM_SCENARIO_SCHEMA_PARTS_H

#include "sim/scenario/read/draft.h"
#include "sim/scenario/schema/schema.h"

#define LENGTH(array)     (sizeof(array) / sizeof((array)[0]))
#define LARGEST_COUNT     1e6
#define LARGEST_TIME      9.0e9 /* seconds: 285 years */
#define LARGEST_BYTES     9.0e18
#define LARGEST_BANDWIDTH 1e13 /* of a resource, see sim/engine/activity.h */
#define LARGEST_MOVED     7e16 /* bytes of one transfer, likewise */

/* A row of a table is one key: what it holds, first, then whatever else there is to say of it. */
#define KEY(word, type, member, its_kind)                                                          \
    .key = (word), .kind = (its_kind), .offset = offsetof(struct type, member)
#define TEXT(key, type, member)      KEY(key, type, member, SIM_FIELD_TEXT)
#define FLAG(key, type, member)      KEY(key, type, member, SIM_FIELD_FLAG)
#define NUMBER(key, type, member)    KEY(key, type, member, SIM_FIELD_NUMBER)
#define COUNT(key, type, member)     KEY(key, type, member, SIM_FIELD_COUNT)
#define COUNT64(key, type, member)   KEY(key, type, member, SIM_FIELD_COUNT64)
#define WHOLE(key, type, member)     KEY(key, type, member, SIM_FIELD_WHOLE)
#define TIME(key, type, member)      KEY(key, type, member, SIM_FIELD_TIME), UNIT(TIME)
#define BYTES(key, type, member)     KEY(key, type, member, SIM_FIELD_BYTES), UNIT(BYTES)
#define LAW(key, type, member)       KEY(key, type, member, SIM_FIELD_LAW)
#define TIMESTAMP(key, type, member) KEY(key, type, member, SIM_FIELD_TIMESTAMP)
#define SETS(key, type, member)      KEY(key, type, member, SIM_FIELD_SETS)
#define CHOICE(key, type, member, words)                                                           \
    KEY(key, type, member, SIM_FIELD_CHOICE), .choices = (words)
#define SECTION(key, type, member, of) KEY(key, type, member, SIM_FIELD_SECTION), .section = (of)
#define LIST(key, type, member, of)    KEY(key, type, member, SIM_FIELD_LIST), .section = (of)
#define NAMED(key, type, member, of)   KEY(key, type, member, SIM_FIELD_NAMED), .section = (of)

#define UNIT(of)          .unit = SIM_UNIT_##of
#define REQUIRED          .flags = SIM_FIELD_REQUIRED
#define KNOB              .flags = SIM_FIELD_KNOB
#define BY_NAME           .flags = SIM_FIELD_BY_NAME
#define WORDS             .flags = SIM_FIELD_WORDS
#define A_NAME            .flags = SIM_FIELD_IS_NAME
#define REQUIRED_NAME     .flags = SIM_FIELD_REQUIRED | SIM_FIELD_IS_NAME
#define OR_FILE           .flags = SIM_FIELD_OR_FILE
#define MOMENT            .flags = SIM_FIELD_REQUIRED | SIM_FIELD_MOMENT
#define DEFAULT(text)     .initial = (text)
#define ABSENT(means)     .fallback = (means)
#define OTHERWISE(words)  .otherwise = (words)
#define MOST(bound)       .max = (bound)
#define RANGE(low, high)  .min = (low), .max = (high)
#define WAS(old)          .was = (old)
#define ALIAS(other)      .alias = (other)
#define ACTS(on)          .acts = (on)
#define WORD(which, on)   .word = (which), .word_acts = (on)
#define NEEDS(condition)  .needs = (condition)
#define NEEDS_SYNC        .needs_sync = true
#define SHOWS(why)        .shows = (why)
#define SHOWS_IN(on, why) .shows_in = (on), .shows = (why)
#define HELP(text)        .help = (text)
#define WEIGHT            UNIT(FRACTION), DEFAULT("1"), RANGE(0, 1e9)

/* A mapping: its rows, then what else there is to say of it. */
#define MAPPING(title, type, rows)                                                                 \
    .name = (title), .fields = (rows), .count = LENGTH(rows), .size = sizeof(struct type)
#define SCALAR(key)        .scalar_key = (key)
#define SOURCES            .has_sources = true
#define POLICY(of)         .policy = SIM_POLICY_##of
#define NOT_OF(near, says) .other = (near), .other_says = (says)

#define NAME_FIELD(type, text)                                                                     \
    {                                                                                              \
        TEXT("name", type, head.name), REQUIRED_NAME, HELP(text)                                   \
    }

/* enum sim_gpu_work */
#define WORK_FIELD(type, means)                                                                    \
    {                                                                                              \
        CHOICE("work", type, work, "dense|memory_bound|decode"), ABSENT(means),                    \
            HELP(                                                                                  \
                "what bounds it on a GPU, which decides how much faster it goes on another type: " \
                "matrix products, memory bandwidth, or tokens of one sequence at a time")          \
    }
#define MEASURED_FIELD(type, means)                                                                \
    {                                                                                              \
        TEXT("measured_on", type, measured_on), ABSENT(means),                                     \
            HELP("GPU type its times were measured on, or an instance of it: h100, h100/1g.10gb; " \
                 "on others they are divided by the ratio of the speeds")                          \
    }
/* How much: */
#define AMOUNT_FIELDS(type, base, cpus_fallback, other_fallback)                                   \
    { NUMBER("cpus", type, base cpus), ABSENT(cpus_fallback), MOST(LARGEST_COUNT),                 \
      HELP("CPUs of one worker") },                                                                \
        { NUMBER("gpus", type, base gpus), ABSENT(other_fallback), MOST(4096),                     \
          HELP("GPUs of one worker: a share below 1, or a whole number") },                        \
        { WHOLE("nvdecs", type, base nvdecs), ABSENT(other_fallback), MOST(1024),                  \
          HELP("video decoders of one worker; per GPU when it has whole GPUs") },                  \
        { WHOLE("nvencs", type, base nvencs), ABSENT(other_fallback), MOST(1024),                  \
          HELP("video encoders of one worker; per GPU when it has whole GPUs") },                  \
        { BYTES("ram", type, base ram_bytes), ABSENT(other_fallback), MOST(LARGEST_BYTES),         \
          HELP("memory of one worker") },                                                          \
    {                                                                                              \
        BYTES("gpu_memory", type, base gpu_mem_bytes), ABSENT(other_fallback),                     \
            MOST(LARGEST_BYTES), HELP("memory on each GPU of one worker")                          \
    }

/* How devices are set aside: */
#define DEVICE_FIELDS(type, base)                                                                  \
    { TEXT("mig", type, base mig), ABSENT("no MIG instance"),                                      \
      HELP("a MIG instance by its profile: 1g.10gb, 1g (the plainest of one slice) or 1/7; "       \
           "excludes gpus") },                                                                     \
        { COUNT("mig_slices", type, base mig_slices), ABSENT("those of mig"),                      \
          RANGE(1, WEIR_MIG_SLOTS),                                                                \
          HELP("instead of mig: the smallest instance with so many compute slices, gpu_memory "    \
               "and nvdecs") },                                                                    \
    {                                                                                              \
        FLAG("entire_gpu", type, base entire_gpu), ABSENT("0 or false"),                           \
            HELP("its GPUs are shared with nobody and all their codec engines are its own")        \
    }

/* Which nodes will do: */
#define NODES_FIELDS(type, base)                                                                   \
    { TEXT("node_selector", type, base nodes.selector), WORDS, ABSENT("any node"),                 \
      ACTS(SIM_ACTS_IN_TIME),                                                                      \
      HELP("labels that a node must have, all of them: [storage]. The name of a group of nodes, "  \
           "and that of a node, are labels too. While no such node has room it waits") },          \
        { TEXT("node_preference", type, base nodes.preference), WORDS, ABSENT("none"),             \
          ACTS(SIM_ACTS_IN_TIME),                                                                  \
          HELP("labels that it asks for as well while a node that is up and has them could hold "  \
               "it: it waits for one that is busy, and goes elsewhere when all are down") },       \
    {                                                                                              \
        FLAG("borrow", type, base nodes.borrows), ABSENT("false"), ACTS(SIM_ACTS_IN_TIME),         \
            HELP("where no other node has room it goes to one that is kept for others")            \
    }

#define FIRST_TYPE "the first GPU type of the cluster that can hold it"

extern const struct sim_section sim_schema_quantum;
extern const struct sim_section sim_schema_catalog;
extern const struct sim_section sim_schema_truth;
extern const struct sim_section sim_schema_cluster;
extern const struct sim_section sim_schema_tenant;
extern const struct sim_section sim_schema_licence;
extern const struct sim_section sim_schema_taken;
extern const struct sim_section sim_schema_reservation;
extern const struct sim_section sim_schema_band;
extern const struct sim_section sim_schema_prices;
extern const struct sim_section sim_schema_item_arrivals;
extern const struct sim_section sim_schema_job_arrivals;
extern const struct sim_section sim_schema_model;
extern const struct sim_section sim_schema_served;
extern const struct sim_section sim_schema_permission;
extern const struct sim_section sim_schema_rate_limit;
extern const struct sim_section sim_schema_job_request;
extern const struct sim_section sim_schema_traffic;
extern const struct sim_section sim_schema_jobs;
extern const struct sim_section sim_schema_fill;
extern const struct sim_section sim_schema_actors;

#endif
