/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of charts, in the order of a report. A new chart is one file and one line here.
 */
#include "analysis/plot.h"
#include "analysis/plots/plots.h"

#include <string.h>

static const struct an_plot_ops *const plots[] = {
    &an_plot_policies,     &an_plot_throughput, &an_plot_alloc_vs_used, &an_plot_bottleneck_strip,
    &an_plot_worker_state, &an_plot_queues,     &an_plot_latency,       &an_plot_node_heat,
    &an_plot_frag_time,    &an_plot_autoscaler, &an_plot_placement,     &an_plot_frag_arrival,
    &an_plot_unallocated,  &an_plot_acceptance, &an_plot_bound,         &an_plot_families,
    &an_plot_job_queue,
};

size_t an_plot_count(void)
{
    return sizeof plots / sizeof plots[0];
}

const struct an_plot_info *an_plot_at(size_t index)
{
    return &plots[index]->info;
}

const struct an_plot_ops *an_plot_ops_at(size_t index)
{
    return plots[index];
}

const struct an_plot_ops *an_plot_ops_find(const char *name)
{
    for (size_t i = 0; i < an_plot_count(); i++)
        if (strcmp(plots[i]->info.name, name) == 0)
            return plots[i];
    return NULL;
}
