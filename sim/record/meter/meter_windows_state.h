/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of windows, shared by meter_windows*.c alone. */
#ifndef SIM_RECORD_METER_WINDOWS_STATE_H
#define SIM_RECORD_METER_WINDOWS_STATE_H

#include "sim/record/meter/meter_state.h"

/* Integrals and counters at an edge. */
struct meter_window_edge {
    struct cluster_totals cluster;
    struct node_totals nodes;    /* of all nodes together */
    struct stage_totals *stages; /* by stage */
    double arrived, done, jobs_done;
    double backlog;
};

enum { METER_CAUSES = 8 };

struct meter_window {
    char *name;
    int64_t from_ns, to_ns; /* SIM_TIME_MAX = the end of the run */
    bool is_over;
    struct meter_window_edge begin, end;
    uint64_t *queue_max; /* by stage */
    /* Of what came in it. Slowdown in 1e-9. */
    struct sim_percentiles latency, job_wait, job_time, slowdown;
    struct sim_ages jobs_waiting, jobs_left; /* that never began; that are not over */
    uint64_t late;
    double usual, most; /* backlog: before, NAN = nothing was before; in the window */
    int64_t most_ns;
    int64_t back_ns; /* when it was back at its usual level, -1 = not yet */
    struct {
        const char *name;
        double lost_ns;
    } causes[METER_CAUSES];
    size_t cause_count;
};

struct meter_windows {
    struct meter_window *list;
    size_t count;
    size_t next;               /* edge: window * 2, + 1 for its end */
    struct meter_window *open; /* NULL = none */
    size_t waiting_back;       /* windows that are over and whose backlog is not back */
    int64_t late_ns;           /* 0 = nothing is late */
    struct sim_gauge backlog;
    struct sim_histogram *levels; /* of the backlog, in us of time */
    int64_t level_since_ns;
    bool is_warm;
};

void meter_window_edge(const struct sim_meter *meter, int64_t now_ns,
                       struct meter_window_edge *edge);

#endif
