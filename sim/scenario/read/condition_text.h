/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A condition that stands in no file: of the command line, in the language of `goal` and `expect`
 * (condition.h), about the results of a scenario that was read.
 */
#ifndef SIM_SCENARIO_CONDITION_TEXT_H
#define SIM_SCENARIO_CONDITION_TEXT_H

#include "sim/scenario/arena.h"
#include "sim/scenario/read/diagnostic.h"
#include "sim/scenario/scenario.h"

struct sim_condition_text {
    const char *text;
    const char *origin; /* for messages: "--fail-if" */
    const struct sim_scenario *scenario;
    char *const *labels; /* of the variants there are, the baseline first */
    size_t labels_count;
    /* As of a struct sim_scenario_source. */
    const char *(*metric_named)(const char *name, const char **unit, const char **near);
};

/* Texts of `expect` live in `arena`. False: the diagnostics say why. */
bool sim_condition_parse(const struct sim_condition_text *source, struct sim_arena *arena,
                         struct sim_expect *expect, struct sim_diagnostics *diagnostics);

#endif
