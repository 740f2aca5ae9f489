/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scenario of schema 1 in the words of today: its text, comments and layout kept.
 *
 * Both texts are loaded, and must resolve to the same: what cannot be said by changing the text
 * here and there is a mistake that is reported, and no text is made.
 */
#ifndef SIM_SCENARIO_UPGRADE_H
#define SIM_SCENARIO_UPGRADE_H

#include "sim/scenario/scenario.h"

/* The text of the file at `path` in *made, malloc'ed; NULL when it is one of today already. Error:
 * WEIR_EIO, WEIR_EFORMAT; the diagnostics say why. */
weir_status sim_scenario_upgrade(const char *path, char **made,
                                 struct sim_diagnostics *diagnostics);

#endif
