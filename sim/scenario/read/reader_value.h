/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Single values of a scenario file: text to number, law, choice and so on, checked against the
 * field's range. Used by the reader of mappings alone.
 */
#ifndef SIM_SCENARIO_READER_VALUE_H
#define SIM_SCENARIO_READER_VALUE_H

#include "sim/scenario/read/reader.h"

/* Sets the value at `target` to absent. */
void sim_value_clear(const struct sim_field *field, void *target);
/* Reads the text of `node` (a scalar); reports what is wrong and leaves `target` alone then. */
bool sim_value_read(struct sim_reader *reader, const struct sim_yaml *node,
                    const struct sim_field *field, void *target);
/* Whether a scalar ends within a bracket: in a flow mapping a comma ends it that is not quoted. */
bool sim_value_is_cut(const struct sim_yaml *node);
/* Reports a key that is a name (name_rule.h) and may not be one. */
void sim_read_key_name(struct sim_reader *reader, const struct sim_yaml *node);
/* Numbers and laws: what a source can be stated for. */
bool sim_value_is_quantity(const struct sim_field *field);

#endif
