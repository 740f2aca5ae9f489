/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of the page that answers after an incident: what happened, why, what the decisions saw,
 * whether it is over, whether a fix works, and all of it by window.
 */
#ifndef ANALYSIS_REPORT_INCIDENT_H
#define ANALYSIS_REPORT_INCIDENT_H

#include "analysis/report/report_tables.h"

/* Writes nothing where the scenario has no windows, or the page is not to be of an incident. */
weir_status an_page_incident(const struct an_page *page, struct weir_error *error);
/* The same sentences, one a line, of a run of a database with windows. */
weir_status an_incident_print(struct an_db *db, const struct an_plot_options *options, FILE *out,
                              struct weir_error *error);
/* The table by window, where there are windows. */
weir_status an_page_windows(const struct an_page *page, struct weir_error *error);

#endif
