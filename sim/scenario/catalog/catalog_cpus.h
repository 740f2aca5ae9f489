/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in processors of the power model: cores of a socket, and its watts idle and at full
 * load, as PWR takes them (Lettich et al., CCGrid 2025) from the makers' tables and measurements.
 */
#ifndef SIM_SCENARIO_CATALOG_CPUS_H
#define SIM_SCENARIO_CATALOG_CPUS_H

#include <stddef.h>

/* name, cores, idle W, full W */
#define SIM_CATALOG_CPUS(X)                                                                        \
    X("xeon-8163", 24, 20, 165)                                                                    \
    X("xeon-2682v4", 16, 15, 120)                                                                  \
    X("xeon-6326", 16, 20, 185)                                                                    \
    X("xeon-8369b", 32, 20, 270)                                                                   \
    X("xeon-8269cy", 26, 20, 205)
/* In the same order, for the schema. */
#define SIM_CATALOG_CPU_CHOICES "xeon-8163|xeon-2682v4|xeon-6326|xeon-8369b|xeon-8269cy"

struct sim_catalog_cpu {
    const char *name;
    double cores;
    double idle_w, full_w;
};

size_t sim_catalog_cpu_count(void);
const struct sim_catalog_cpu *sim_catalog_cpu_at(size_t index);

#endif
