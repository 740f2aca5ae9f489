/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nodes that come and go: supply.c, whoever wants it, and spot.c, where their owner takes them
 * back. One life of a node lasts from when it is there until it is given or taken back.
 */
#ifndef SIM_WORLD_SUPPLY_H
#define SIM_WORLD_SUPPLY_H

#include "sim/world/world.h"

weir_status sim_supply_create(struct sim_world *world);
void sim_supply_destroy(struct sim_world *world);
weir_status sim_supply_begin(struct sim_world *world);
struct sim_supplier sim_supply_supplier(struct sim_world *world);
/* The boot of a node is over. */
weir_status sim_supply_booted(struct sim_world *world, const struct sim_event *event);
/* Whether it is there, as far as that was asked for: what is not there does not fail. */
bool sim_supply_has(const struct sim_world *world, uint32_t node);
/* How often it was asked for before. */
uint32_t sim_supply_launches(const struct sim_world *world, uint32_t node);
/* What happened to a node is written down. */
weir_status sim_supply_note(struct sim_world *world, uint32_t node, const char *happening,
                            const char *what);
/* Its owner takes it back: what runs on it is lost. */
weir_status sim_supply_take_back(struct sim_world *world, uint32_t node);
void sim_supply_results(struct sim_world *world, int64_t end_ns, struct sim_results *out);

weir_status sim_spot_create(struct sim_world *world);
void sim_spot_destroy(struct sim_world *world);
/* Before its nodes come. */
void sim_spot_begin(struct sim_world *world, const struct sim_node_group *group);
/* A node is there; it is given back. */
void sim_spot_came(struct sim_world *world, uint32_t node);
void sim_spot_leaves(struct sim_world *world, uint32_t node);
weir_status sim_spot_reclaim(struct sim_world *world, const struct sim_event *event);
/* Another price of a group. */
weir_status sim_spot_step(struct sim_world *world, uint32_t index);
/* Prices whose next step is always on its way. */
uint32_t sim_spot_steps(const struct sim_world *world);
void sim_spot_results(struct sim_world *world, struct sim_results *out);

#endif
