/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in MIG tables: which instances the GPU types that can be cut have.
 *
 * From NVIDIA's MIG user guide, the k8s-test-infra configurations and the mock tables of go-nvml;
 * starts are memory slots. H100, B200 and A30 have nominal sizes. H200 and B200 have the decoders
 * of H100 (the mock of H200 repeats A100's). The 1g of A100-80 has none: the guide and the mock
 * disagree.
 */
#ifndef SIM_SCENARIO_CATALOG_MIG_H
#define SIM_SCENARIO_CATALOG_MIG_H

#include "weir/mig.h"

#include <stddef.h>

size_t sim_catalog_mig_count(void);
const struct weir_mig *sim_catalog_mig_at(size_t index);
/* By GPU type; NULL = it cannot be cut. */
const struct weir_mig *sim_catalog_mig_find(const char *name);

#endif
