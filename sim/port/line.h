/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line between two processes: bytes through one shared page, one speaker at a time.
 *
 * The speaker fills the page and passes the turn; the listener reads and passes it back, for more
 * or to answer. Neither waits for ever: weir's end asks `is_over` now and then, and has a deadline.
 *
 * Whoever is at the other end may write to the page at any time. So each byte is read once, into
 * memory of one's own, and only lengths that fit are believed; what was read is judged afterwards.
 */
#ifndef SIM_PORT_LINE_H
#define SIM_PORT_LINE_H

#include "weir/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum sim_line_side { SIM_LINE_WEIR, SIM_LINE_POLICY };

struct sim_line_page;
struct sim_line {
    struct sim_line_page *page; /* NULL = cut: everything fails at once */
    uint32_t side;              /* enum sim_line_side */
    bool is_late;               /* the deadline was missed */
    bool is_last;               /* what lies on the page is the end of what the other one says */
    uint32_t place, length;     /* read or written of it */
    uint64_t heard;             /* bytes since the turn began */
    uint32_t timeout_s;         /* for the other one to pass the turn; 0 = for ever */
    pid_t peer;                 /* who is kept on the processor of this side; 0 = nobody */
    int processor;              /* where it is now */
    bool (*is_over)(const void *state);
    const void *state;
};

/* The page is shared with processes forked from now on; weir speaks first. */
weir_status sim_line_open(struct sim_line *line);
void sim_line_close(struct sim_line *line);

/* WEIR_EPOLICY: the other one is gone, or did not pass the turn in time. */
weir_status sim_line_put(struct sim_line *line, const void *bytes, size_t size);
/* What is put from now on is a new message. */
void sim_line_speak(struct sim_line *line);
/* The first turn of who does not speak first. */
weir_status sim_line_listen(struct sim_line *line);
/* Over to the other side, and until it has answered, or asked. */
weir_status sim_line_pass(struct sim_line *line);
/* Says nothing more, and does not wait: the other side finds an empty message. */
void sim_line_end(struct sim_line *line);
/* WEIR_EPOLICY also when there is no more. */
weir_status sim_line_get(struct sim_line *line, void *bytes, size_t size);

#endif
