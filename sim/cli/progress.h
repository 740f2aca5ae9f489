/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The progress line: only on a terminal, at most ten times a second, silent in a pipe.
 */
#ifndef SIM_CLI_PROGRESS_H
#define SIM_CLI_PROGRESS_H

#include "sim/world/world.h"

#include <stdbool.h>
#include <stddef.h>

struct sim_progress_line {
    bool is_shown;
    double started_s;
    double drawn_s;
    const char *title;
    size_t runs, runs_done; /* of the experiment */
    uint64_t events_done;   /* of the runs that are done */
    double done, left_s;    /* share of the work, and the time that the rest takes */
};

void sim_progress_begin(struct sim_progress_line *line, const char *title, size_t runs,
                        bool is_quiet);
/* `running` = the runs that go on now; zero where there is none. */
void sim_progress_draw(struct sim_progress_line *line, const struct sim_progress *running,
                       size_t count);
/* Whether it is time for another one. */
bool sim_progress_is_due(const struct sim_progress_line *line);
double sim_progress_now_s(void);
void sim_progress_end(struct sim_progress_line *line);

#endif
