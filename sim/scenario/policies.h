/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kinds of policies, and what all kinds have in common: a name and a table of parameters. A
 * kind more is a row here and in policies.c.
 */
#ifndef SIM_SCENARIO_POLICIES_H
#define SIM_SCENARIO_POLICIES_H

#include "sim/scenario/scenario.h"

enum sim_policy_kind {
    SIM_POLICY_NONE,
    SIM_POLICY_PLACEMENT,
    SIM_POLICY_SCALING,
    SIM_POLICY_QUEUEING,
    SIM_POLICY_BATCHING,
    SIM_POLICY_CAPACITY,
    SIM_POLICY_KINDS
};

/* Borrowed from the policy. */
struct sim_policy_table {
    const char *name; /* NULL = there is no policy */
    const char *summary;
    const struct weir_param *params;
    uint32_t count;
};

const char *sim_policy_kind_name(uint32_t kind);
size_t sim_policy_count(const struct sim_policies *policies, uint32_t kind);
/* The policy of a kind at an index below its count; it becomes the choice, unless that is NULL. */
struct sim_policy_table sim_policy_at(const struct sim_policies *policies, uint32_t kind,
                                      size_t index, struct sim_policy_choice *choice);
struct sim_policy_table sim_policy_chosen(const struct sim_policy_choice *choice);

#endif
