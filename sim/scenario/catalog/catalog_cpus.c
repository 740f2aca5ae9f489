/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in processors: see the header.
 */
#include "sim/scenario/catalog/catalog_cpus.h"

#define ENTRY(name, cores, idle_w, full_w) { name, cores, idle_w, full_w },
static const struct sim_catalog_cpu cpus[] = { SIM_CATALOG_CPUS(ENTRY) };
#undef ENTRY

size_t sim_catalog_cpu_count(void)
{
    return sizeof cpus / sizeof cpus[0];
}

const struct sim_catalog_cpu *sim_catalog_cpu_at(size_t index)
{
    return &cpus[index];
}
