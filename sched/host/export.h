/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder's insides, for export.c and export_jobs.c.
 */
#ifndef SCHED_HOST_EXPORT_H
#define SCHED_HOST_EXPORT_H

#include "sched/host/state.h"
#include "sched/internal/json.h"

struct weir_export {
    struct weir_host *host; /* its view is of the call's time */
    struct weir_json *json;
    const struct weir_mig **tables;
    uint32_t table_count, table_capacity;
};

/* A number, unless it is the usual one. */
void weir_export_unless(struct weir_json *json, const char *key, int64_t value, int64_t usual);
/* Bits as a list of numbers, without WEIR_LABEL_KEPT; nothing when there are none. */
void weir_export_labels(struct weir_json *json, const char *key, uint32_t labels);
/* Without labels that are only preferred. */
void weir_export_shape(struct weir_json *json, const struct weir_shape *shape,
                       uint32_t soft_labels);
/* The instances of a layout; nothing when there are none. */
void weir_export_layout(struct weir_json *json, const char *key, weir_mig_layout layout);

/* Workloads, kinds of jobs, jobs, what is expected of them, GPUs to be cut; nothing when there is
 * nothing of all this. */
void weir_export_jobs(const struct weir_export *out);
/* Nothing when there are none. */
void weir_export_reservations(const struct weir_export *out);
void weir_export_tenants(const struct weir_export *out);
void weir_export_licences(const struct weir_export *out);

#endif
