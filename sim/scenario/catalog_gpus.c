/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in GPU types: see the header.
 */
#include "sim/scenario/catalog_gpus.h"

#include <string.h>

#define GB INT64_C(1000000000)

/* name, memory, NVDEC, NVENC, idle W, limit W; g1 to g3 are types whose makers' names the openb
 * trace withholds: nothing is known of them, their power is a placeholder. */
static const struct sim_catalog_gpu gpus[] = {
    { "a100-40", 40 * GB, 5, 0, 72, 400 },
    { "a100-80", 80 * GB, 5, 0, 72, 400 },
    { "h100", 80 * GB, 7, 0, 95, 700 },
    { "h200", 141 * GB, 7, 0, 100, 700 },
    { "b200", 180 * GB, 7, 0, 130, 1000 },
    { "l4", 24 * GB, 4, 2, 12, 72 },
    { "l40", 48 * GB, 3, 3, 35, 300 },
    { "l40s", 48 * GB, 3, 3, 45, 350 },
    { "rtx6000ada", 48 * GB, 3, 3, 25, 300 },
    { "rtxa6000", 48 * GB, 2, 1, 25, 300 },
    { "t4", 16 * GB, 2, 1, 12, 70 },
    { "a10", 24 * GB, 2, 1, 30, 150 },
    { "rtx4090", 24 * GB, 1, 2, 20, 450 },
    { "a30", 24 * GB, 4, 0, 30, 165 },
    { "v100m16", 16 * GB, 1, 3, 30, 300 },
    { "v100m32", 32 * GB, 1, 3, 30, 300 },
    { "p100", 16 * GB, 1, 3, 25, 250 },
    { "g1", 0, 0, 0, 25, 250 },
    { "g2", 0, 0, 0, 25, 250 },
    { "g3", 0, 0, 0, 25, 250 },
};

size_t sim_catalog_gpu_count(void)
{
    return sizeof gpus / sizeof gpus[0];
}

const struct sim_catalog_gpu *sim_catalog_gpu_at(size_t index)
{
    return &gpus[index];
}

const struct sim_catalog_gpu *sim_catalog_gpu_find(const char *name)
{
    for (size_t i = 0; i < sim_catalog_gpu_count(); i++)
        if (strcmp(gpus[i].name, name) == 0)
            return &gpus[i];
    return NULL;
}
