/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All charts: one C file each, listed in registry.c.
 */
#ifndef ANALYSIS_PLOTS_PLOTS_H
#define ANALYSIS_PLOTS_PLOTS_H

#include "analysis/chart.h"

extern const struct an_plot_ops an_plot_alloc_vs_used;
extern const struct an_plot_ops an_plot_throughput;
extern const struct an_plot_ops an_plot_bottleneck_strip;
extern const struct an_plot_ops an_plot_worker_state;
extern const struct an_plot_ops an_plot_queues;
extern const struct an_plot_ops an_plot_node_heat;
extern const struct an_plot_ops an_plot_frag_time;
extern const struct an_plot_ops an_plot_frag_arrival;
extern const struct an_plot_ops an_plot_autoscaler;
extern const struct an_plot_ops an_plot_placement;
extern const struct an_plot_ops an_plot_latency;
extern const struct an_plot_ops an_plot_policies;
extern const struct an_plot_ops an_plot_unallocated;
extern const struct an_plot_ops an_plot_acceptance;
extern const struct an_plot_ops an_plot_bound;
extern const struct an_plot_ops an_plot_families;
extern const struct an_plot_ops an_plot_job_queue;

#endif
