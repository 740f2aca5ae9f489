/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in GPU types: see the header.
 */
#include "sim/scenario/catalog_gpus.h"

#include <string.h>

#define GB INT64_C(1000000000)

#define MEASURED                                                                                   \
    "mean of Lambda's benchmark and the GEMM rate that ml-engineering measured [derived]"
#define LAMBDA "mean of Lambda's benchmark and the GEMM rate of the data sheet [derived]"
#define GAVEL  "Gavel's throughputs over those of V100, with its tensor cores' gain [derived]"
#define DIE    "as another card with this die, by the GEMM rate of the data sheet [guess]"
#define SHEET  "GEMM rate of the data sheet, less where power is short [guess]"

/* Memory-bound work goes by bandwidth; decoding attains twice as much of that of GDDR: x 1.8. */
#define HBM(dense, bandwidth)                                                                      \
    {                                                                                              \
        dense, bandwidth, bandwidth                                                                \
    }
#define GDDR(dense, bandwidth)                                                                     \
    {                                                                                              \
        dense, bandwidth, 1.8 * (bandwidth)                                                        \
    }

/* name, memory, NVDEC, NVENC, idle W, limit W, speeds, source of the dense one; g1 to g3 are types
 * whose makers' names the openb trace withholds: nothing is known of them, their power is a
 * placeholder. p100 draws what a PCIe card does (SXM: 300 W). */
static const struct sim_catalog_gpu gpus[] = {
    { "a100-40", 40 * GB, 5, 0, 72, 400, HBM(.92, .76), SHEET },
    { "a100-80", 80 * GB, 5, 0, 72, 400, HBM(1, 1), MEASURED },
    { "h100", 80 * GB, 7, 0, 95, 700, HBM(2.4, 1.64), MEASURED },
    { "h200", 141 * GB, 7, 0, 100, 700, HBM(2.5, 2.35), MEASURED },
    { "b200", 180 * GB, 7, 0, 130, 1000, HBM(4.3, 3.9), MEASURED },
    { "l4", 24 * GB, 4, 2, 12, 72, GDDR(.25, .15), SHEET },
    { "l40", 48 * GB, 3, 3, 35, 300, GDDR(.63, .42), DIE },
    { "l40s", 48 * GB, 3, 3, 45, 350, GDDR(.89, .42), LAMBDA },
    { "rtx6000ada", 48 * GB, 3, 3, 25, 300, GDDR(.89, .42), LAMBDA },
    { "rtxa6000", 48 * GB, 2, 1, 25, 300, GDDR(.51, .38), LAMBDA },
    { "t4", 16 * GB, 2, 1, 12, 70, GDDR(.16, .16), SHEET },
    { "a10", 24 * GB, 2, 1, 30, 150, GDDR(.36, .29), LAMBDA },
    { "rtx4090", 24 * GB, 1, 2, 20, 450, GDDR(.63, .49), LAMBDA },
    { "a30", 24 * GB, 4, 0, 30, 165, HBM(.50, .46), SHEET },
    { "v100m16", 16 * GB, 1, 3, 30, 300, HBM(.39, .44), LAMBDA },
    { "v100m32", 32 * GB, 1, 3, 30, 300, HBM(.39, .44), LAMBDA },
    { "p100", 16 * GB, 1, 3, 25, 250, HBM(.12, .36), GAVEL },
    { "a40", 48 * GB, 2, 1, 30, 300, GDDR(.49, .34), DIE },
    { "k80", 12 * GB, 1, 1, 25, 150, GDDR(.035, .12), GAVEL },
    { "h100-pcie", 80 * GB, 7, 0, 50, 350, HBM(1.7, 1.0), LAMBDA },
    { "g1", 0, 0, 0, 25, 250, { 0 }, NULL },
    { "g2", 0, 0, 0, 25, 250, { 0 }, NULL },
    { "g3", 0, 0, 0, 25, 250, { 0 }, NULL },
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

const char *sim_gpu_work_name(uint32_t work)
{
    static const char *const names[SIM_GPU_WORKS] = { "dense", "memory-bound", "decode" };
    return work < SIM_GPU_WORKS ? names[work] : "?";
}

const char *sim_catalog_gpu_source(const struct sim_catalog_gpu *gpu, uint32_t work)
{
    if (work == SIM_GPU_WORK_DENSE)
        return gpu->dense_source;
    return work == SIM_GPU_WORK_MEMORY_BOUND
               ? "bandwidth of the data sheet [derived]"
               : "bandwidth of the data sheet, x 1.8 for GDDR as llama.cpp shows it [derived]";
}
