/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a module says of itself, on its way over a line: names, parameters and flags of its
 * policies. Lengths and counts are bounded; whether the tables are sound is weir_module_check's.
 */
#ifndef SIM_PORT_MODULE_TEXT_H
#define SIM_PORT_MODULE_TEXT_H

#include "sim/port/line.h"
#include "weir/capacity.h"
#include "weir/job.h"

struct sim_module;

/* `ops` first: its address is the stand-in's. */
struct sim_placement_stand_in {
    struct weir_placement_ops ops;
    const struct sim_module *module;
    uint32_t index; /* in the module's list */
};
struct sim_scaling_stand_in {
    struct weir_scaling_ops ops;
    const struct sim_module *module;
    uint32_t index;
};
struct sim_queueing_stand_in {
    struct weir_queueing_ops ops;
    const struct sim_module *module;
    uint32_t index;
};
struct sim_capacity_stand_in {
    struct weir_capacity_ops ops;
    const struct sim_module *module;
    uint32_t index;
};
struct sim_stand_ins {
    struct sim_placement_stand_in *placements;
    struct sim_scaling_stand_in *scalings;
    struct sim_queueing_stand_in *queueings;
    struct sim_capacity_stand_in *capacities;
    uint32_t placement_count, scaling_count, queueing_count, capacity_count;
};

/* A module and all its strings and tables. */
struct sim_module_text;

weir_status sim_module_text_put(struct sim_line *line, const struct weir_module *module);
/* The operations of the stand-ins are left to the caller. WEIR_EPOLICY when it makes no sense. */
weir_status sim_module_text_get(struct sim_line *line, const struct sim_module *module,
                                struct sim_module_text **text);
void sim_module_text_destroy(struct sim_module_text *text);
const struct weir_module *sim_module_text_policies(const struct sim_module_text *text);
struct sim_stand_ins *sim_module_text_stand_ins(struct sim_module_text *text);

#endif
