/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A document of `weir decide` as a host: all that it says is told, and the host is ready for the
 * call that the document is about.
 *
 * With `next_worker` (as hosts export) ids of nodes and workers are the host's own; else they are
 * names, and workers have the numbers 1, 2, ... in list order.
 */
#ifndef SIM_CLI_DECIDE_HOST_H
#define SIM_CLI_DECIDE_HOST_H

#include "sim/cli/decide_input.h"

struct decide_host {
    const struct decide_question *question;
    const json_t *input;
    json_t *nodes;
    json_t *stages;
    const json_t *workers;
    struct decide_document head;
    struct decide_tables tables;
    double *throughputs; /* of jobs, and numbers of their speeds; the host looks at them */
    struct weir_speedup *speedups;
    size_t throughput_count, speedup_count;
    bool is_numbered;
    struct weir_host *host;
    struct weir_call call;
};

/* Whatever comes, release it with decide_host_close. WEIR_EFORMAT and the like with the path of
 * what is wrong. */
weir_status decide_host_open(struct decide_host *made, const struct decide_question *question,
                             struct weir_error *error);
void decide_host_close(struct decide_host *host);

#endif
