/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A YAML text as a tree of our own, with the place of every key and value.
 *
 * Only the plain part of YAML is taken: one document, mappings with text keys, lists, scalars.
 * Anchors, aliases, merge keys, tags and complex keys are refused with a sentence, duplicate keys
 * too. The tree knows nothing of the schema. Nodes live in an arena.
 */
#ifndef SIM_SCENARIO_YAML_H
#define SIM_SCENARIO_YAML_H

#include "sim/scenario/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum sim_yaml_kind { SIM_YAML_NULL, SIM_YAML_SCALAR, SIM_YAML_MAPPING, SIM_YAML_LIST };

struct sim_yaml_mark {
    int line; /* from 1; 0 = not from the file */
    int column;
    int width;
};

/* A file that a part of the tree came from. */
struct sim_yaml_file {
    const char *path;
    const char *text; /* NULL = not to be shown */
    size_t length;
};

struct sim_yaml {
    enum sim_yaml_kind kind;
    bool is_quoted;
    bool is_alias;      /* NULL in place of an alias, which was reported */
    bool is_tolerated;  /* an unknown key is no mistake here: left over from another policy */
    const char *origin; /* the --set it came from, NULL = the file */
    const struct sim_yaml_file *file; /* NULL = that of the report */
    char *text;                       /* SCALAR */
    char *key;                        /* within a mapping */
    const char *written; /* how the text calls the key, where that differs; for messages */
    size_t index;        /* within a list or mapping */
    struct sim_yaml_mark key_mark;
    struct sim_yaml_mark mark;
    struct sim_yaml *parent;
    struct sim_yaml *first;
    struct sim_yaml *last;
    struct sim_yaml *next;
    size_t count; /* children */
};

struct sim_report;

/* Parses a text. NULL when it is not a tree (reported); mistakes that leave a tree are reported and
 * parsing goes on. An empty text gives an empty mapping. */
struct sim_yaml *sim_yaml_parse(struct sim_arena *arena, const char *text, size_t length,
                                struct sim_report *report);

struct sim_yaml *sim_yaml_get(const struct sim_yaml *mapping, const char *key); /* or NULL */
struct sim_yaml *sim_yaml_item(const struct sim_yaml *list, size_t index);      /* or NULL */
void sim_yaml_append(struct sim_yaml *parent, struct sim_yaml *child);
/* Puts `child` behind its sibling `node`. */
void sim_yaml_insert(struct sim_yaml *node, struct sim_yaml *child);
/* Takes the child out of its parent. */
void sim_yaml_remove(struct sim_yaml *child);
struct sim_yaml *sim_yaml_new(struct sim_arena *arena, enum sim_yaml_kind kind, const char *text);
/* Notes the file that the node and all below it are from. */
void sim_yaml_is_of(struct sim_yaml *node, const struct sim_yaml_file *file);
/* A deep copy without parent. */
struct sim_yaml *sim_yaml_clone(struct sim_arena *arena, const struct sim_yaml *node);
/* Puts the value of `value` in place of that of `node`; key and place in the parent stay. */
void sim_yaml_assign(struct sim_yaml *target, const struct sim_yaml *value);

/* "pipelines[0].stages[2].service"; "" for the root. */
char *sim_yaml_path(struct sim_arena *arena, const struct sim_yaml *node);
/* The value in flow style on one line: "{policy: fgd, bonus: 1}". */
void sim_yaml_write_flow(const struct sim_yaml *node, FILE *out);
/* A scalar, quoted where a plain one would read differently. */
void sim_yaml_write_scalar(const char *text, FILE *out);

#endif
