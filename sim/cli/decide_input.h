/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the parts of a decide document: amounts, shapes, nodes, workers, policies; and writing
 * what answers are made of.
 *
 * Required keys that are missing, and values of a wrong type, fail with the path of the key; keys
 * that are not known are left alone (decide_format.h has refused them before).
 */
#ifndef SIM_CLI_DECIDE_INPUT_H
#define SIM_CLI_DECIDE_INPUT_H

#include "sim/cli/decide.h"

/* Values of an object's keys; `required` ones fail when they are missing or null. */
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

/* CPUs or GPUs in units, exact. */
weir_status decide_units(double amount, int64_t *units, struct weir_error *error);
/* The same of a key that may be missing: 0. */
weir_status decide_optional_units(const json_t *object, const char *key, int64_t *units,
                                  struct weir_error *error);
weir_status decide_shape(const json_t *json, struct weir_shape *shape, struct weir_error *error);
/* A node whose name is its place in the list. `gpus` has room for WEIR_MAX_NODE_GPUS. */
weir_status decide_node(const json_t *json, uint64_t id, struct weir_gpu_spec *gpus,
                        struct weir_node_spec *spec, struct weir_error *error);
/* Index of a node by its name, or WEIR_NO_INDEX. */
uint32_t decide_find(const json_t *list, const char *key, const char *name);
/* What a worker holds. */
weir_status decide_alloc(const json_t *worker, const json_t *nodes, struct weir_alloc *alloc,
                         struct weir_error *error);

/* The policies that a document names in `policy`, with all values of their parameters. */
enum { DECIDE_MAX_PARAMS = 64 };
struct decide_policy {
    const struct weir_placement_ops *placement;
    const struct weir_scaling_ops *scaling;
    double placement_values[DECIDE_MAX_PARAMS];
    double scaling_values[DECIDE_MAX_PARAMS];
};
weir_status decide_policy(const struct decide_question *question, struct decide_policy *policy,
                          struct weir_error *error);
/* The parameters of a policy and their number; 0 when there is no such policy. */
uint32_t decide_params_of(const struct sim_policies *policies, bool is_placement, const char *name,
                          const struct weir_param **params);

/* {"node", "cpus", "gpus", "nvdecs", "nvencs"} of an allocation, with an "id" when not NULL. */
json_t *decide_alloc_json(const struct weir_alloc *alloc, const json_t *nodes, const char *id);
/* [{node, cpus, gpus}] of what is free. */
json_t *decide_available(const struct weir_cluster *cluster, const json_t *nodes);
/* Name of the n-th entry of a list of objects; "?" when it has none. */
const char *decide_name(const json_t *list, size_t index, const char *key);
/* {"status": "error", "error_type", "error_phase", "error_message"}. */
json_t *decide_error_json(weir_status status, const struct weir_error *error);

#endif
