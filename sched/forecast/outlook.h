/* SPDX-License-Identifier: Apache-2.0 */
/* What outlooks and features remember; see weir/forecast.h. */
#ifndef SCHED_FORECAST_OUTLOOK_H
#define SCHED_FORECAST_OUTLOOK_H

#include "sched/internal/memory.h"
#include "weir/forecast.h"

/* Whether it wants features. */
bool weir_outlook_reads(const struct weir_outlook *outlook);
/* How well it did is not remembered. */
void weir_outlook_remember(struct weir_outlook *outlook, struct weir_memory *memory);
void weir_feature_remember(struct weir_feature_past *past, struct weir_memory *memory);

#endif
