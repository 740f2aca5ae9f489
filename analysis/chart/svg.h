/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gnuplot's SVG made fit to stand beside others inside one HTML page.
 */
#ifndef ANALYSIS_SVG_H
#define ANALYSIS_SVG_H

#include "weir/status.h"

#include <stdio.h>

/* Writes the svg element of `svg` with every id and reference prefixed by `prefix`, without a fixed
 * size, with `label` for screen readers. Nothing is written when there is no svg element. */
void an_svg_inline(FILE *out, const char *svg, const char *prefix, const char *label);

/* Rewrites an SVG file that stands alone: a list of fonts for bold texts too, images without blur.
 */
weir_status an_svg_finish(const char *path, struct weir_error *error);

/* The text of a file that was just written; malloc'ed. WEIR_EIO, WEIR_ENOMEM: *text is NULL. */
weir_status an_read_text(const char *path, char **text, struct weir_error *error);

#endif
