/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in GPU types, so that a scenario may just say `gpus: {h100: 8}`.
 *
 * Codec engines follow the vendors' documents (NVIDIA video codec support matrix, MIG user guide);
 * a scenario may change any value under catalog.gpu_types. B200 has no NVENC here; published
 * sources disagree.
 */
#ifndef SIM_SCENARIO_CATALOG_GPUS_H
#define SIM_SCENARIO_CATALOG_GPUS_H

#include <stddef.h>
#include <stdint.h>

struct sim_catalog_gpu {
    const char *name;
    int64_t mem_bytes;
    uint32_t nvdecs;
    uint32_t nvencs;
    double idle_w;
    double limit_w;
};

size_t sim_catalog_gpu_count(void);
const struct sim_catalog_gpu *sim_catalog_gpu_at(size_t index);
/* NULL = not built in. */
const struct sim_catalog_gpu *sim_catalog_gpu_find(const char *name);

#endif
