/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `weir import` says about a fitted model: a table, warnings, QQ plots. */
#ifndef SIM_CLI_FIT_REPORT_H
#define SIM_CLI_FIT_REPORT_H

#include "sim/cli/table.h"
#include "workloads/spans/span_model.h"

/* One row a fitted law, with intervals and goodness; to be destroyed. */
struct sim_table *sim_fit_table(const struct wl_model *model);
/* Sentences on standard error: few samples, what was assumed. */
void sim_fit_warn(const struct wl_model *model);
/* FOLDER/qq-NUMBER-WHAT.svg for each law with spread. */
weir_status sim_fit_plot(const struct wl_model *model, const char *folder,
                         struct weir_error *error);

#endif
