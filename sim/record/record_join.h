/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two result databases as one comparison: the runs of a variant of each, under labels of their own,
 * with what can be paired paired. Works on copies; the files that people have are never written.
 */
#ifndef SIM_RECORD_RECORD_JOIN_H
#define SIM_RECORD_RECORD_JOIN_H

#include "weir/status.h"

#include <stdbool.h>
#include <stdint.h>

struct sim_join_side {
    const char *path;    /* of a result database of today's version */
    const char *variant; /* NULL = its baseline */
    const char *label;   /* what it is called in the comparison */
};

/* What a side says of itself, for runs that are to be paired with it. */
struct sim_join_facts {
    uint64_t seed;
    uint32_t replications;
};
weir_status sim_join_facts_read(const char *path, const char *variant, struct sim_join_facts *facts,
                                struct weir_error *error);

/* Writes `path` anew: the first side is the baseline. Replications that only one side has are left
 * out. `forces`: warm-up and horizon of the second become those of the first, and of other seeds
 * one run each is left, so that nothing refuses to compare; `forced` says what was different ("" =
 * nothing), at least 160 bytes. */
weir_status sim_record_join(const struct sim_join_side sides[2], const char *path, bool forces,
                            char *forced, struct weir_error *error);

#endif
