/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a value stands in a JSON text, for messages: jansson forgets it once a text is read.
 */
#ifndef SIM_CLI_JSON_PLACE_H
#define SIM_CLI_JSON_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* One step from a value to one inside it. */
struct sim_json_step {
    const char *key; /* NULL = an element of a list */
    size_t index;
};

struct sim_json_place {
    int line, column;  /* from 1; the column counts bytes */
    const char *start; /* of the line, not terminated */
    size_t length;     /* of the line */
};

/* The place of the value at the end of the steps, of a key rather its name. `text` is valid JSON
 * from `from` on, with a zero at its end. What has no such step ends the way early: the innermost
 * value that is there is meant. O(text). */
struct sim_json_place sim_json_locate(const char *text, size_t from,
                                      const struct sim_json_step *steps, size_t count);

#endif
