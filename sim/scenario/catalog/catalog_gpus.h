/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in GPU types, so that a scenario may just say `gpus: {h100: 8}`.
 *
 * Codec engines follow the vendors' documents (NVIDIA video codec support matrix, MIG user guide);
 * a scenario may change any value under catalog.gpu_types. B200 has no NVENC here; published
 * sources disagree. Idle watts of a100, h100, b200, l40s and t4 are those of NVIDIA's mock
 * profiles; a10, p100 and v100 draw what PWR takes them to (Lettich et al., CCGrid 2025).
 *
 * Speeds are relative to an A100-80 SXM at the same kind of work; 0 = nothing is known. No one
 * factor fits all models: measured ratios of dense work spread by 25 %, of V100 and B200 by 50 %.
 */
#ifndef SIM_SCENARIO_CATALOG_GPUS_H
#define SIM_SCENARIO_CATALOG_GPUS_H

#include <stddef.h>
#include <stdint.h>

#define SIM_CATALOG_GPU_BASE "a100-80" /* of speeds */

/* What bounds work on a GPU, and with it how much faster a better one does it. */
enum sim_gpu_work {
    SIM_GPU_WORK_DENSE,        /* matrix products: training, encoders, prefill */
    SIM_GPU_WORK_MEMORY_BOUND, /* bandwidth: batched decoding, recommendation */
    SIM_GPU_WORK_DECODE,       /* tokens of one sequence at a time */
    SIM_GPU_WORKS
};

struct sim_catalog_gpu {
    const char *name;
    int64_t mem_bytes;
    uint32_t nvdecs;
    uint32_t nvencs;
    double idle_w;
    double limit_w;
    double speed[SIM_GPU_WORKS];
    const char *dense_source;
    double nvlink_per_s, pcie_per_s; /* bytes, one way; 0 = none, not known */
    double nic_per_s;                /* of a node, for each such GPU; 0 = not known */
};

size_t sim_catalog_gpu_count(void);
const struct sim_catalog_gpu *sim_catalog_gpu_at(size_t index);
/* NULL = not built in. */
const struct sim_catalog_gpu *sim_catalog_gpu_find(const char *name);
/* "dense", and where a speed at it is from. */
const char *sim_gpu_work_name(uint32_t work);
const char *sim_catalog_gpu_source(const struct sim_catalog_gpu *gpu, uint32_t work);

#endif
