/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in GPU types: see the header.
 */
#include "sim/scenario/catalog/catalog_gpus.h"

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

/* One way, in bytes a second. NVLink: data sheets; rings of all-reduces attain 82 % of it on 8
 * H200, reductions in the switch 107 % (ml-engineering, measured). PCIe x16: attained. Bridges
 * between pairs of cards are not assumed. */
#define NVLINK_2 150e9
#define NVLINK_3 300e9
#define NVLINK_4 450e9
#define NVLINK_5 900e9
#define PCIE_3   12.3e9
#define PCIE_4   25e9
#define PCIE_5   55e9
/* InfiniBand or RoCE, an interface for each GPU. */
#define HDR      25e9
#define NDR      50e9

/* name, memory, NVDEC, NVENC, idle W, limit W, speeds, source of the dense one, NVLink,
 * PCIe, network; g1 to g3 are types
 * whose makers' names the openb trace withholds: nothing is known of them, their power is a
 * placeholder. p100 draws what a PCIe card does (SXM: 300 W). */
static const struct sim_catalog_gpu gpus[] = {
    { "a100-40", 40 * GB, 5, 0, 72, 400, HBM(.92, .76), SHEET, NVLINK_3, PCIE_4, HDR },
    { "a100-80", 80 * GB, 5, 0, 72, 400, HBM(1, 1), MEASURED, NVLINK_3, PCIE_4, HDR },
    { "h100", 80 * GB, 7, 0, 95, 700, HBM(2.4, 1.64), MEASURED, NVLINK_4, PCIE_5, NDR },
    { "h200", 141 * GB, 7, 0, 100, 700, HBM(2.5, 2.35), MEASURED, NVLINK_4, PCIE_5, NDR },
    { "b200", 180 * GB, 7, 0, 130, 1000, HBM(4.3, 3.9), MEASURED, NVLINK_5, PCIE_5, NDR },
    { "l4", 24 * GB, 4, 2, 12, 72, GDDR(.25, .15), SHEET, 0, PCIE_4, 0 },
    { "l40", 48 * GB, 3, 3, 35, 300, GDDR(.63, .42), DIE, 0, PCIE_4, 0 },
    { "l40s", 48 * GB, 3, 3, 45, 350, GDDR(.89, .42), LAMBDA, 0, PCIE_4, 0 },
    { "rtx6000ada", 48 * GB, 3, 3, 25, 300, GDDR(.89, .42), LAMBDA, 0, PCIE_4, 0 },
    { "rtxa6000", 48 * GB, 2, 1, 25, 300, GDDR(.51, .38), LAMBDA, 0, PCIE_4, 0 },
    { "t4", 16 * GB, 2, 1, 12, 70, GDDR(.16, .16), SHEET, 0, PCIE_3, 0 },
    { "a10", 24 * GB, 2, 1, 30, 150, GDDR(.36, .29), LAMBDA, 0, PCIE_4, 0 },
    { "rtx4090", 24 * GB, 1, 2, 20, 450, GDDR(.63, .49), LAMBDA, 0, PCIE_4, 0 },
    { "a30", 24 * GB, 4, 0, 30, 165, HBM(.50, .46), SHEET, 0, PCIE_4, 0 },
    { "v100m16", 16 * GB, 1, 3, 30, 300, HBM(.39, .44), LAMBDA, NVLINK_2, PCIE_3, 0 },
    { "v100m32", 32 * GB, 1, 3, 30, 300, HBM(.39, .44), LAMBDA, NVLINK_2, PCIE_3, 0 },
    { "p100", 16 * GB, 1, 3, 25, 250, HBM(.12, .36), GAVEL, 0, PCIE_3, 0 },
    { "a40", 48 * GB, 2, 1, 30, 300, GDDR(.49, .34), DIE, 0, PCIE_4, 0 },
    { "k80", 12 * GB, 1, 1, 25, 150, GDDR(.035, .12), GAVEL, 0, PCIE_3, 0 },
    { "h100-pcie", 80 * GB, 7, 0, 50, 350, HBM(1.7, 1.0), LAMBDA, 0, PCIE_5, 0 },
    { "g1", 0, 0, 0, 25, 250, { 0 }, NULL, 0, 0, 0 },
    { "g2", 0, 0, 0, 25, 250, { 0 }, NULL, 0, 0, 0 },
    { "g3", 0, 0, 0, 25, 250, { 0 }, NULL, 0, 0, 0 },
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
