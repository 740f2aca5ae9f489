/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All charts, in the order of a report: one C file each, one name here.
 */
#ifndef ANALYSIS_PLOTS_PLOTS_H
#define ANALYSIS_PLOTS_PLOTS_H

#include "analysis/chart/chart.h"

#define AN_PLOTS(X)                                                                                \
    X(axis)                                                                                        \
    X(tornado)                                                                                     \
    X(headroom)                                                                                    \
    X(windows)                                                                                     \
    X(policies)                                                                                    \
    X(variants)                                                                                    \
    X(throughput)                                                                                  \
    X(workers)                                                                                     \
    X(alloc_vs_used)                                                                               \
    X(bottleneck_strip)                                                                            \
    X(worker_state)                                                                                \
    X(queues)                                                                                      \
    X(latency)                                                                                     \
    X(wait_time)                                                                                   \
    X(cdf)                                                                                         \
    X(cdf_class)                                                                                   \
    X(cdf_tenant)                                                                                  \
    X(cdf_user)                                                                                    \
    X(cdf_model)                                                                                   \
    X(cdf_gpu_type)                                                                                \
    X(nodes)                                                                                       \
    X(node_heat)                                                                                   \
    X(link_use)                                                                                    \
    X(memory)                                                                                      \
    X(power)                                                                                       \
    X(frag_time)                                                                                   \
    X(autoscaler)                                                                                  \
    X(placement)                                                                                   \
    X(frag_arrival)                                                                                \
    X(unallocated)                                                                                 \
    X(acceptance)                                                                                  \
    X(bound)                                                                                       \
    X(families)                                                                                    \
    X(job_queue)                                                                                   \
    X(who_waits)                                                                                   \
    X(gangs)                                                                                       \
    X(tenant_share)                                                                                \
    X(dominant_share)                                                                              \
    X(warm_up)

#define AN_PLOT_DECLARE(name) extern const struct an_plot_ops an_plot_##name;
AN_PLOTS(AN_PLOT_DECLARE)
#undef AN_PLOT_DECLARE

#endif
