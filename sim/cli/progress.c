/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress line (see progress.h). */
#include "sim/cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 24 };

double sim_progress_now_s(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0
               ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
               : 0.0;
}

void sim_progress_begin(struct sim_progress_line *line, const char *title, size_t runs,
                        bool is_quiet)
{
    const char *term = getenv("TERM");
    const bool is_dumb = term == NULL || strcmp(term, "dumb") == 0;
    *line = (struct sim_progress_line){ .is_shown = !is_quiet && !is_dumb && isatty(2) != 0,
                                        .started_s = sim_progress_now_s(),
                                        .runs = runs,
                                        .title = title };
}

static void print_duration(char *text, size_t capacity, double seconds)
{
    const long whole = (long)(seconds + 0.5);
    if (whole >= 3600)
        (void)snprintf(text, capacity, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
                       whole % 60);
    else
        (void)snprintf(text, capacity, "%02ld:%02ld", whole / 60, whole % 60);
}

static void print_bar(char *text, double fraction)
{
    size_t at = 0;
    for (int i = 0; i < BAR_WIDTH; i++) {
        const char *cell = i < (int)(fraction * BAR_WIDTH) ? "█" : "░";
        memcpy(text + at, cell, strlen(cell));
        at += strlen(cell);
    }
    text[at] = '\0';
}

static int terminal_width(void)
{
    struct winsize size;
    return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

bool sim_progress_is_due(const struct sim_progress_line *line)
{
    return line->is_shown && sim_progress_now_s() - line->drawn_s >= 0.1 && line->runs > 0;
}

void sim_progress_draw(struct sim_progress_line *line, const struct sim_progress *running,
                       size_t count)
{
    const double now = sim_progress_now_s();
    uint64_t events = line->events_done;
    line->drawn_s = now;
    for (size_t i = 0; i < count; i++)
        events += running[i].events;
    const double elapsed_s = now - line->started_s;
    char bar[BAR_WIDTH * 4 + 1];
    char elapsed[32];
    char eta[32] = "--:--";
    print_bar(bar, line->done);
    print_duration(elapsed, sizeof(elapsed), elapsed_s);
    if (line->done > 0.002)
        print_duration(eta, sizeof(eta), line->left_s);
    (void)fprintf(stderr, "\r[%zu/%zu] %s %3.0f%%", line->runs_done, line->runs, bar,
                  line->done * 100.0);
    if (terminal_width() >= 90)
        (void)fprintf(stderr, "  %.20s · %.1f M events/s · %s · ETA %s", line->title,
                      (double)events / 1e6 / (elapsed_s > 0 ? elapsed_s : 1.0), elapsed, eta);
    else
        (void)fprintf(stderr, "  ETA %s", eta);
    (void)fputs("\033[K", stderr);
    (void)fflush(stderr);
}

void sim_progress_end(struct sim_progress_line *line)
{
    if (line->is_shown && line->drawn_s > 0)
        (void)fputs("\r\033[K", stderr);
}
