/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A timeline that is a file: {file: events.csv} becomes the list that its rows stand for, before
 * the tree is read. So a row is checked by the same table of keys as an entry of a list, and what
 * is wrong in it is said at its line and column.
 *
 * Columns are the keys of an entry of `timeline`, in any order and case; `time`, `when` and others
 * are `at`, `event`, `what` and others `action`. A cell of `node` may name several, by blanks or
 * ';': one entry each. A cell of `set` is "path = value; path = value". Actions may go by the words
 * of logs: `down` of a node is node_down, `slow` of a stage is stage_slow. `note`, `comment`,
 * `reason` ... are for people.
 */
#ifndef SIM_SCENARIO_EVENT_FILE_H
#define SIM_SCENARIO_EVENT_FILE_H

#include "sim/scenario/read/reader.h"

/* What tables of events call these columns. */
#define SIM_EVENT_TIME_WORDS   "time|at|when|timestamp|ts|date|datetime"
#define SIM_EVENT_ACTION_WORDS "event|action|what|state|status"

/* Fills the tree where its timeline is a file, which is noted as an input of the run. Mistakes go
 * to the reader's report. */
void sim_event_file_fill(struct sim_reader *reader, struct sim_yaml *root);

#endif
