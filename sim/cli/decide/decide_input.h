/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the parts of a decide document: by the tables of the format into structs, and what takes
 * more than a table; and writing what answers are made of.
 *
 * Required keys that are missing, and values of a wrong type, fail with the path of the key; keys
 * that are not known are left alone (decide_format.h has refused them before).
 */
#ifndef SIM_CLI_DECIDE_INPUT_H
#define SIM_CLI_DECIDE_INPUT_H

#include "sim/cli/decide/decide.h"
#include "sim/cli/decide/decide_parts.h"

/* The status; of a failure the message begins with where in the document it is. */
weir_status decide_within(weir_status status, struct weir_error *error, const char *format, ...)
    WEIR_PRINTF(3, 4);

/* Values of an object's keys; they fail when they are missing or null. */
weir_status decide_get(const json_t *object, const char *key, json_t **value,
                       struct weir_error *error);
weir_status decide_get_array(const json_t *object, const char *key, json_t **array,
                             struct weir_error *error);
weir_status decide_get_number(const json_t *object, const char *key, double *value,
                              struct weir_error *error);
weir_status decide_get_text(const json_t *object, const char *key, const char **text,
                            struct weir_error *error);
/* The fallback when the key is missing or null or no number. */
double decide_number_or(const json_t *object, const char *key, double fallback);
bool decide_flag_or(const json_t *object, const char *key, bool fallback);
/* False when it is neither a whole number from 0 on nor a text of its digits. */
bool decide_word(const json_t *value, uint64_t *word);
/* The same of a text, which may be NULL. */
bool decide_digits(const char *text, uint64_t *word);
/* Which of the words separated by '|' it is; -1 = none. */
int decide_choice(const char *choices, const char *word);

/* All keys of a table that have a field; fields of keys that are missing or null stay as they are.
 */
struct decide_keys;
weir_status decide_read(const json_t *object, const struct decide_keys *keys, void *into,
                        struct weir_error *error);

/* CPUs or GPUs in units, exact. */
weir_status decide_units(double amount, int64_t *units, struct weir_error *error);
/* The bits of a list of numbers that decide_read has looked at. */
uint32_t decide_labels(const json_t *object, const char *key);
weir_status decide_shape(const json_t *json, struct weir_shape *shape, struct weir_error *error);
/* The same below a key `shape`, which messages name. */
weir_status decide_shape_of(const json_t *object, struct weir_shape *shape,
                            struct weir_error *error);
/* A list of MIG instances as a layout; 0 for none. */
weir_status decide_layout(const json_t *list, weir_mig_layout *layout, struct weir_error *error);
/* A table of MIG profiles. */
weir_status decide_table(const json_t *json, struct weir_mig *table, struct weir_error *error);
/* A node of this id and its GPUs. `gpus` has room for WEIR_MAX_NODE_GPUS; the tables are those that
 * GPUs may name. */
struct decide_tables {
    const struct weir_mig *items;
    size_t count;
};
weir_status decide_node(const json_t *json, const struct decide_tables *tables,
                        struct weir_gpu_spec *gpus, struct weir_node_spec *spec,
                        struct weir_error *error);
/* Index of an entry of a list by its text under a key, or WEIR_NO_INDEX. */
uint32_t decide_find(const json_t *list, const char *key, const char *name);
/* A worker and what it holds of its node, which is left to the caller. */
weir_status decide_worker(const json_t *json, struct decide_worker *worker,
                          struct weir_alloc *alloc, struct weir_error *error);
/* What a worker holds, of the node of this name in a list. */
weir_status decide_alloc(const json_t *worker, const json_t *nodes, struct weir_alloc *alloc,
                         struct weir_error *error);

/* All values of a policy's parameters, lists included. */
struct decide_values {
    double *all;
    uint32_t count;
};

/* The policies that a document names in `policy`; decide_policy_clear frees the values. */
struct decide_policy {
    const struct weir_placement_ops *placement;
    const struct weir_scaling_ops *scaling;
    const struct weir_queueing_ops *queueing; /* NULL = the usual one */
    const struct weir_scaling_ops *fallback;  /* NULL = none */
    const struct weir_capacity_ops *capacity; /* NULL = the usual one */
    struct decide_values placement_values;
    struct decide_values scaling_values;
    struct decide_values queueing_values;
    struct decide_values capacity_values;
};
weir_status decide_policy(const struct decide_question *question, struct decide_policy *policy,
                          struct weir_error *error);
void decide_policy_clear(struct decide_policy *policy);
/* The parameters of a policy of a kind ("placement", "scaling", "queueing", "capacity") and their
 * number; 0 when there is no such policy. */
uint32_t decide_params_of(const struct sim_policies *policies, const char *kind, const char *name,
                          const struct weir_param **params);

/* {"node", "cpus", "gpus", "nvdecs", "nvencs"} of an allocation, with an "id" when not NULL. */
json_t *decide_alloc_json(const struct weir_alloc *alloc, const json_t *nodes, const char *id);
/* [{node, cpus, gpus}] of what is free. */
json_t *decide_available(const struct weir_cluster *cluster, const json_t *nodes);
/* Name of the n-th entry of a list of objects or texts; "?" when it has none. */
const char *decide_name(const json_t *list, size_t index, const char *key);
json_t *decide_error_json(weir_status status, const struct weir_error *error);

#endif
