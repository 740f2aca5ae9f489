/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version of libweir and the one place for compiler attributes.
 *
 * WEIR_ABI_MAJOR changes when a plug-in built earlier can no longer be loaded;
 * WEIR_ABI_MINOR grows when something is appended (a field, a function, an operation, a status). A
 * plug-in says both numbers of the headers it was built with: it is loaded by a library of the same
 * major and of the same or a higher minor.
 *
 *   1.0  placement and scaling policies, host, plans, modules
 *   1.1  weir_chooser_*, weir_cluster_usual_gpus, weir_estimator_set_window, weir_plan_candidate*;
 *        sets of GPU types; SPMD shapes and groups (weir_action.group); weir_place_query.stopped
 *        and flags of placement policies; queueing policies and rankers; weir_mig_*,
 *        weir_partition_decide, weir_shape_profiles, weir_shape_dead_units,
 *        weir_cluster_{close,cut}_gpu and shapes of kind SLICE; weir_frag_find
 *   2.0  pools and jobs (weir/work.h), owners of workers, queueing by `key` and `pass`, cuts in the
 *        host; nodes, GPUs and pools that change and go (weir_cluster_{remove,resize}_node,
 *        weir_cluster_set_gpu_health, weir_host_{remove,change}_node, weir_host_set_gpu_health,
 *        weir_host_{change,remove}_pool, weir_pool_spec); a deadline and a cap on actions of a
 * call, weir_host_cancel; `size` first in every struct the caller fills; symbols of version WEIR_2,
 * weir_version, weir_abi. Modules of version 1 are refused
 *   2.1  weir_host_export_call, weir_host_restore*; `save` and `restore` of policies;
 *        weir_measurement.duration_s
 *   2.2  weir_node_spec.topology, weir_cluster_topology; weir_place_query.together
 *   2.3  for a queueing `pass`: weir_placer_{fits,put,preempt,warn,lift,reserve}_job,
 *        weir_placer_start_job_on and
 *        weir_view_{find_waiting,waiting_kinds,waiting_kind,next_running,surprises};
 *        weir_job_{left,end}_ns; the field done_ns of jobs, weir_job.is_preempted; PREEMPT of a
 *        job, with a grace. weir_host_follow, weir_plan_lists; weir_host_resize_job;
 *        weir/tenant.h: tenants, limits, what policies read of them; weir_kind_past.tenant;
 *        WEIR_REASON_QUOTA; parameters that are lists or texts (WEIR_PARAM_{LIST,TEXT},
 *        weir_params_list); weir_host_past.{surprises,
 *        none_refused,begun,ended}, weir_host_restore_wake; weir/commit.h: gangs on nodes that answer
 *        for themselves; weir/speedup.h, weir_job_spec.speedup, weir_placer_start_job_as,
 *        WEIR_QUEUEING_RESIZES: policies that choose how many ranks a job has;
 *        weir/reservation.h, WEIR_REASON_RESERVED; weir_tenant_spec.{gpu_pool_bytes,priority};
 *        weir_job_spec.traffic, weir_place_query.traffic, weir_place_traffic; weir/needs.h;
 *        weir_job_spec.{step_s,exchange}; weir_host_set_usage_{period,rule}; WEIR_QUEUEING_FOLLOWS;
 * weir_place_{job,end_ns,now_ns}; weir_tenant.{bandwidth,links}, weir_view_tenant_share;
 *        weir_scaling_ops.flags, WEIR_SCALING_REPEATS, WEIR_PLACEMENT_REPEATS; weir/batching.h;
 *        weir/capacity.h, weir_module.capacities;
 *        weir_host_keep_infeasible, WEIR_REASON_INFEASIBLE;
 *        weir/licence.h, weir_job_spec.licences, WEIR_REASON_{PRIO_THRESHOLD,CUSTOM_LIMIT};
 *        weir/forecast.h, weir_capacity_ops.forecast_error, weir_host_forecast_error;
 *        weir_view_waiting;
 *        weir_topology.labels, weir_shape.labels, WEIR_LABEL_KEPT, weir_shape_takes_labels,
 *        soft_labels of weir_pool_{spec,view} and weir_rank_group, WEIR_REASON_{LABEL,KEPT}
 *
 * Structs that begin with `size` (the caller sets it to sizeof) grow at the end: a library takes
 * what lies beyond the caller's size as 0, and says WEIR_EABI when it is smaller than in 2.0.
 * Structs without it stand in arrays or inside others; they are frozen, and say so.
 */
#ifndef WEIR_VERSION_H
#define WEIR_VERSION_H

#define WEIR_VERSION   "0.1.0"
#define WEIR_ABI_MAJOR 2
#define WEIR_ABI_MINOR 3

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#define WEIR_PRINTF(format_index, first_argument)                                                  \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define WEIR_API
#define WEIR_PRINTF(format_index, first_argument)
#endif

#include <stdint.h>

#ifdef __cplusplus
#define WEIR_BEGIN_DECLS extern "C" {
#define WEIR_END_DECLS   }
#else
#define WEIR_BEGIN_DECLS
#define WEIR_END_DECLS
#endif

WEIR_BEGIN_DECLS

/* Of the library that runs: its version, and that of its interface (either may be NULL). A program
 * may run with a library of the same major and of the same or a higher minor than its headers. */
WEIR_API const char *weir_version(void);
WEIR_API void weir_abi(uint32_t *major, uint32_t *minor);

WEIR_END_DECLS

#endif
