/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gnuplot's SVG in few bytes, with colours that follow the page.
 *
 * A page of ten charts would be megabytes as gnuplot writes it: absolute positions in hundredths, a
 * group for every pen. Here positions become relative tenths of a pixel, which nobody sees, and
 * groups without content go. Colours of the house become variables of the style sheet, so that one
 * picture serves a light page, a dark one and paper.
 */
#ifndef ANALYSIS_SVG_SMALL_H
#define ANALYSIS_SVG_SMALL_H

#include <stdio.h>

/* Writes what lies between the opening and the closing svg tag, from `text` to `end`; every id and
 * every reference to one gets `prefix`. */
void an_svg_small(FILE *out, const char *text, const char *end, const char *prefix);

#endif
