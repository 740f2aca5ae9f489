/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A licence as a scenario has it (weir/licence.h says what it means). */
#ifndef SIM_SCENARIO_LICENCE_H
#define SIM_SCENARIO_LICENCE_H

#include <stdint.h>

struct sim_licence {
    const char *name;
    uint32_t limit;
    int32_t priority_threshold; /* WEIR_NO_THRESHOLD = none */
};

#endif
