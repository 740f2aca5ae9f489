/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The devices of a worker in JSON, as documents of weir decide and answers of programs have them:
 * `gpus` [{gpu, fraction, mem_bytes, profile, start}], `nvdecs` and `nvencs` [{gpu, index}].
 */
#ifndef SIM_ALLOC_JSON_H
#define SIM_ALLOC_JSON_H

#include "weir/cluster.h"

#include <jansson.h>

/* Adds them to `alloc`, ascending by GPU. A fraction or memory that is left out is that of `shape`;
 * without a shape the fraction is needed. WEIR_EFORMAT with the path of the value,
 * WEIR_EUNSUPPORTED for more GPUs than an allocation can have. */
weir_status sim_alloc_read_devices(const json_t *worker, const struct weir_shape *shape,
                                   struct weir_alloc *alloc, struct weir_error *error);

#endif
