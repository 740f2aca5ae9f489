/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reservations of the meter: GPU time kept for somebody, and how much of it nobody used.
 *
 * A reservation counts from its begin to its end, or to the end of the run, warm-up or not, on the
 * nodes that it has; when those change it begins anew with the others.
 */
#ifndef SIM_RECORD_METER_RESERVED_H
#define SIM_RECORD_METER_RESERVED_H

#include "sim/record/meter/meter.h"

/* From now on it has these nodes, until this is said again; none = it is over. The number counts
 * from 0. WEIR_ENOMEM. */
weir_status sim_meter_reserved(struct sim_meter *meter, int64_t now_ns, size_t number,
                               const uint32_t *nodes, size_t node_count);

#endif
