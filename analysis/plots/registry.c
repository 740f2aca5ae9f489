/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The charts by index and by name. A new one is one file and one name in plots.h.
 */
#include "analysis/plot.h"
#include "analysis/plots/plots.h"

#include <string.h>

#define PLOT_ROW(name) &an_plot_##name,
static const struct an_plot_ops *const plots[] = { AN_PLOTS(PLOT_ROW) };

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
