/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is measured of services: their batches, the requests that were turned away, and how long
 * those of each class took. A service is a stage that has classes of requests.
 */
#ifndef SIM_RECORD_METER_SERVICES_H
#define SIM_RECORD_METER_SERVICES_H

#include "sim/record/meter/meter.h"

enum sim_turned_away {
    SIM_TURNED_AWAY_FULL,         /* too many waited */
    SIM_TURNED_AWAY_EXPIRED,      /* it waited too long */
    SIM_TURNED_AWAY_UNAUTHORISED, /* its caller is not let in */
    SIM_TURNED_AWAY_LIMITED,      /* more came than its rate lets in */
    SIM_TURNED_AWAY_UNREACHABLE,  /* the service is out of reach */
    SIM_TURNED_AWAY_KINDS
};

/* A batch of so many items begins, whose oldest request waited so long. */
void sim_meter_batch(struct sim_meter *meter, int64_t now_ns, uint32_t stage, uint64_t items,
                     int64_t delay_ns);
void sim_meter_request_served(struct sim_meter *meter, int64_t now_ns, uint32_t stage,
                              uint32_t request_class, int64_t latency_ns);
void sim_meter_request_turned_away(struct sim_meter *meter, int64_t now_ns, uint32_t stage,
                                   enum sim_turned_away why);
/* Somebody did something to it, or was not allowed to. Counted from time 0 on. */
void sim_meter_operation(struct sim_meter *meter, uint32_t stage, bool is_denied);

#endif
