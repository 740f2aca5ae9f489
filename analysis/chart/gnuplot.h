/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs gnuplot on script files, and is the one place that writes text into them safely.
 */
#ifndef ANALYSIS_GNUPLOT_H
#define ANALYSIS_GNUPLOT_H

#include "weir/status.h"

#include <stdio.h>

/* Runs `gnuplot scripts...` (names ending with NULL) with `folder` as working folder. WEIR_EIO with
 * gnuplot's own message when it fails, is missing, or takes longer than `timeout_s`. */
weir_status an_gnuplot_run(const char *folder, const char *const *scripts, double timeout_s,
                           struct weir_error *error);

/* A single-quoted gnuplot string: back-ticks are inert, quotes become apostrophes. */
void an_gnuplot_quote(FILE *out, const char *text);
/* The name of a tick, which gnuplot reads as a format. */
void an_gnuplot_quote_tick(FILE *out, const char *text);
/* The same in bold, with the markup characters of gnuplot's enhanced text made plain. */
void an_gnuplot_quote_bold(FILE *out, const char *text);

#endif
