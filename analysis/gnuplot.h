/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs gnuplot on script files: fork and exec, no shell, nothing on its standard input, a time
 * limit. Also the one place that writes text into gnuplot scripts safely.
 */
#ifndef ANALYSIS_GNUPLOT_H
#define ANALYSIS_GNUPLOT_H

#include "weir/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* While files are about that must not stay, signals that would end the program (INT, HUP, TERM) are
 * held: charts stop when one is pending, the caller removes its files, and release takes the
 * signals away and returns WEIR_EINTERRUPTED; without any it returns `status`. */
struct an_held {
    sigset_t before;
};
void an_signals_hold(struct an_held *held);
bool an_signals_pending(void);
weir_status an_signals_release(const struct an_held *held, weir_status status,
                               struct weir_error *error);

/* Runs `gnuplot scripts...` (names ending with NULL) with `folder` as working folder. WEIR_EIO with
 * gnuplot's own message when it fails, is missing, or takes longer than `timeout_s`. */
weir_status an_gnuplot_run(const char *folder, const char *const *scripts, double timeout_s,
                           struct weir_error *error);

/* A single-quoted gnuplot string: back-ticks are inert, quotes become apostrophes. */
void an_gnuplot_quote(FILE *out, const char *text);
/* The same in bold, with the markup characters of gnuplot's enhanced text made plain. */
void an_gnuplot_quote_bold(FILE *out, const char *text);

#endif
