/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A page on paper: A4 as PDF, printed by a browser.
 */
#ifndef ANALYSIS_PRINT_H
#define ANALYSIS_PRINT_H

#include "weir/status.h"

/* WEIR_EIO, with what to do, when no browser is installed that can. */
weir_status an_print_check(struct weir_error *error);
/* Prints "folder/NAME.html" to "folder/NAME.pdf". WEIR_EIO when it fails. */
weir_status an_print(const char *folder, const char *name, struct weir_error *error);
/* Removes both, and what the browser said. */
void an_print_clear(const char *folder, const char *name);

#endif
