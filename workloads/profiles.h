/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profiles of models: what is known of a kind of training before it runs, one row of a CSV file
 * for a model on so many GPUs, thirteen fields in all. A cell that is empty, or a column that is
 * not there, says nothing; only the model is needed.
 */
#ifndef WORKLOADS_PROFILES_H
#define WORKLOADS_PROFILES_H

#include "weir/status.h"

#include <stddef.h>
#include <stdint.h>

/* field, column, least, most, meaning. Amounts are of each GPU. */
#define WL_PROFILE_NUMBERS(X)                                                                      \
    X(gpus, "gpus", 1, 1e6, "GPUs of a job that this row is of; none = however many")              \
    X(cpus, "cpus", 0, 1e6, "CPUs beside a GPU")                                                   \
    X(ram_bytes, "ram_bytes", 0, 9e15, "memory beside a GPU")                                      \
    X(gpu_memory_bytes, "gpu_memory_bytes", 0, 9e15, "memory of a GPU that it asks for")           \
    X(activation_bytes, "activation_bytes", 0, 9e15, "memory that it takes beside while it works") \
    X(bandwidth, "bandwidth", 0, 1, "part of the GPU's memory bandwidth it takes when alone")      \
    X(bound, "bound", 0, 1, "part of its time that waits for memory")                              \
    X(step_s, "step_s", 1e-9, 1e9, "computing of a step where it was measured")                    \
    X(sync_bytes, "sync_bytes", 0, 9e15, "exchanged by every rank at the end of a step")           \
    X(latency_s, "latency_s", 0, 1e9, "of that exchange")                                          \
    X(spread, "spread", 0, 3, "of the logarithm of what a rank takes for a step")

struct wl_profile {
    char *model;
    char *speeds; /* "h100=2.4|a100-80=1": steps by GPU type, in any unit; "" = not said */
#define WL_PROFILE_FIELD(field, column, least, most, meaning) double field; /* NAN = not said */
    WL_PROFILE_NUMBERS(WL_PROFILE_FIELD)
#undef WL_PROFILE_FIELD
};

/* In the order of the file. A zeroed one is empty. */
struct wl_profiles {
    struct wl_profile *profiles;
    size_t count;
};

struct wl_limits;
weir_status wl_profiles_read(const char *path, const struct wl_limits *limits,
                             struct wl_profiles *profiles, struct weir_error *error);
void wl_profiles_clear(struct wl_profiles *profiles);
/* Of this model on so many GPUs, else of the model on any number; NULL = there is none. */
const struct wl_profile *wl_profiles_find(const struct wl_profiles *profiles, const char *model,
                                          uint32_t gpus);
/* Of a GPU type, as the row says it; NAN = it does not. */
double wl_profile_speed(const struct wl_profile *profile, const char *type);

#endif
