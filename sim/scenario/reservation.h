/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A reservation in advance as a scenario has it (weir/reservation.h says what it means). */
#ifndef SIM_SCENARIO_RESERVATION_H
#define SIM_SCENARIO_RESERVATION_H

#include <stdint.h>

struct sim_reservation {
    const char *name;
    uint32_t tenant; /* counted from 1; 0 = of the jobs that name it */
    int64_t start_ns, end_ns;
    uint32_t nodes, gpus; /* one of them 0 */
    uint32_t gpu_type;    /* as weir_shape.gpu_type */
};

#endif
