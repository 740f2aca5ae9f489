/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema: one table of fields for each mapping of a scenario file.
 *
 * Reading, defaults, ranges, near names, --set paths, the canonical text, `weir schema` and
 * docs/scenario.md all come from these tables. A field says where its value lies in the draft
 * (draft.h); every draft struct begins with a struct draft_head.
 *
 * A value that is not given and has no default is *absent*: NULL for text and laws, NAN for
 * numbers, the largest value for counts and choices, the smallest for times and bytes.
 */
#ifndef SIM_SCENARIO_SCHEMA_H
#define SIM_SCENARIO_SCHEMA_H

#include "sim/scenario/policies.h"
#include "sim/scenario/read/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_ABSENT_COUNT UINT32_MAX
#define SIM_ABSENT_TIME  INT64_MIN
#define SIM_ABSENT_BYTES INT64_MIN

enum { SIM_SCHEMA_VERSION = 2 };

enum sim_field_kind {
    SIM_FIELD_TEXT,      /* char * */
    SIM_FIELD_FLAG,      /* uint32_t: 0, 1 */
    SIM_FIELD_NUMBER,    /* double, with `unit` */
    SIM_FIELD_COUNT,     /* uint32_t */
    SIM_FIELD_COUNT64,   /* uint64_t; absent = UINT64_MAX */
    SIM_FIELD_WHOLE,     /* int64_t; absent = INT64_MIN */
    SIM_FIELD_TIME,      /* int64_t ns */
    SIM_FIELD_BYTES,     /* int64_t */
    SIM_FIELD_CHOICE,    /* uint32_t: index into `choices` */
    SIM_FIELD_LAW,       /* struct sim_law *, of `unit` */
    SIM_FIELD_TIMESTAMP, /* int64_t unix seconds */
    SIM_FIELD_SECTION,   /* a mapping: the struct of `section` in place */
    SIM_FIELD_LIST,      /* a list of mappings: struct draft_list of `section` */
    SIM_FIELD_NAMED, /* a mapping by name: struct draft_list of `section`, the key is its name */
    SIM_FIELD_SETS   /* a mapping of --set paths to values: struct draft_list of draft_set */
};

enum sim_field_flag {
    SIM_FIELD_REQUIRED = 1,
    SIM_FIELD_KNOB = 2,     /* giving it is a decision the user had to make about the machine */
    SIM_FIELD_BY_NAME = 4,  /* LIST: a mapping by name means the same */
    SIM_FIELD_WORDS = 8,    /* TEXT: a list of words means the same as "A|B" */
    SIM_FIELD_IS_NAME = 16, /* TEXT: a name that the user gives (name_rule.h) */
    SIM_FIELD_MOMENT = 32,  /* TIME since the start: a time of day or a stamp means the same */
    SIM_FIELD_OR_FILE = 64  /* LIST: {file: F.csv}, a row an entry, means the same */
};

/* What there can be in a scenario for a key to act on. */
enum sim_acts {
    SIM_ACTS_PIPELINES = 1,
    SIM_ACTS_JOBS = 2, /* in time */
    SIM_ACTS_FILL = 4,
    SIM_ACTS_ACTORS = 8,
    SIM_ACTS_TIMED = SIM_ACTS_PIPELINES | SIM_ACTS_JOBS,
    SIM_ACTS_POOLS = SIM_ACTS_PIPELINES | SIM_ACTS_ACTORS, /* whose workers a policy counts */
    SIM_ACTS_IN_TIME = SIM_ACTS_TIMED | SIM_ACTS_ACTORS,
    SIM_ACTS_WORK = SIM_ACTS_TIMED | SIM_ACTS_FILL,
    SIM_ACTS_ALL = SIM_ACTS_IN_TIME | SIM_ACTS_FILL
};

struct sim_section;

struct sim_field {
    const char *key;
    const char *alias; /* another name that means the same; NULL = none */
    const char *was;   /* its name in files of schema 1, where that differs */
    uint32_t kind;     /* enum sim_field_kind */
    uint32_t unit;     /* enum sim_unit */
    uint32_t flags;
    uint32_t acts;      /* enum sim_acts; 0 = on what the mapping around it acts on */
    uint32_t word_acts; /* enum sim_acts: of `word` */
    uint32_t shows_in;  /* enum sim_acts: where `shows` holds; 0 = everywhere */
    size_t offset;
    const char *initial;   /* default as text, NULL = absent */
    const char *fallback;  /* what absent means, for the documentation */
    const char *otherwise; /* CHOICE: words "a|b" that absent may mean; NULL = nobody knows */
    double min, max;       /* of numbers, counts, times (s) and bytes; both 0 = not limited */
    const char *choices;   /* "a|b/older-name|c" */
    const struct sim_section *section;
    const char *help;
    const char *word;  /* CHOICE: words "a|b" that act on less: on `word_acts` */
    const char *needs; /* "key: a|b", "x > 0 or trace": acts only where that is so (needs.h) */
    bool needs_sync;   /* acts on jobs only where some exchange (step.sync), or save to a store */
    const char *shows; /* why it changes nothing that happens: it is about what is kept */
};

struct sim_section {
    const char *name; /* in the documentation */
    const char *help;
    const struct sim_field *fields;
    size_t count;
    size_t size;            /* of its draft struct */
    const char *scalar_key; /* the key a bare value stands for, NULL = a mapping is needed */
    bool has_sources;       /* its numbers count as measured, datasheet, guess or unstated */
    uint32_t policy;        /* enum sim_policy_kind: unknown keys are parameters of the policy */
    const struct sim_section *other; /* one much like it: its keys are refused here ... */
    const char *other_says;          /* ... with this sentence */
};

extern const struct sim_section sim_schema_scenario;
extern const struct sim_section sim_schema_sched;
extern const struct sim_section sim_schema_pipeline;
extern const struct sim_section sim_schema_stage;

/* The field with this key (or its alias), or NULL. */
const struct sim_field *sim_schema_find(const struct sim_section *section, const char *key);
/* The same in a file of schema 1, by the name it had there too. */
const struct sim_field *sim_schema_find_old(const struct sim_section *section, const char *key);

/* The k-th word of a choice list into `text`; false when there are fewer. Words behind '/' are
 * older names and skipped. */
bool sim_choice_word(const char *choices, uint32_t index, char *text, size_t capacity);
/* Index of a word (older names too), or SIM_ABSENT_COUNT. */
uint32_t sim_choice_find(const char *choices, const char *word);

#endif
