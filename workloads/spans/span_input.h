/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What enters the pipeline: how many items, when, of which size (part of wl_model_fit). */
#ifndef WORKLOADS_SPAN_INPUT_H
#define WORKLOADS_SPAN_INPUT_H

#include "workloads/spans/span_model.h"

/* Fills items, arrivals and size of the model; `first` is the stage of the log that items enter,
 * `values` scratch of one number a span. */
weir_status wl_input_fit(struct wl_model *model, uint32_t first,
                         const struct wl_model_options *options, double *values,
                         struct weir_error *error);

#endif
