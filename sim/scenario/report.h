/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Collecting remarks while a scenario is read: the writing side of diagnostic.h.
 *
 * A remark is placed at a node of the tree (its value or its key); the report finds the source line
 * and the path of the key. Finishing sorts by place and drops what is said twice.
 */
#ifndef SIM_SCENARIO_REPORT_H
#define SIM_SCENARIO_REPORT_H

#include "sim/scenario/read/diagnostic.h"
#include "sim/scenario/read/yaml.h"

struct sim_report {
    const char *path; /* of the file, for messages */
    const char *text; /* of the file */
    size_t length;
    struct sim_diagnostics *out;
};

enum sim_report_place { SIM_AT_VALUE, SIM_AT_KEY };

/* One error about a node; the message gets the node's path in front. Returns false, so that a check
 * is one line. `node` may be NULL (the whole file). */
bool sim_report_error(struct sim_report *report, const struct sim_yaml *node, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));
/* With a place and a suggestion (NULL = none). */
bool sim_report_near(struct sim_report *report, const struct sim_yaml *node,
                     enum sim_report_place place, const char *suggestion, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void sim_report_warning(struct sim_report *report, const struct sim_yaml *node, const char *format,
                        ...) __attribute__((format(printf, 3, 4)));
/* At a place of the text, without a path. */
void sim_report_at(struct sim_report *report, struct sim_yaml_mark mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sorts by place, drops repetitions, counts. */
void sim_report_finish(struct sim_report *report);

#endif
