/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to do, in nodes; see the header. */
#include "sched/capacity/parts/demand.h"

#include "sched/internal/amounts.h"
#include "weir/tenant.h"

#include <math.h>

static struct weir_amounts asked_for(const struct weir_view *view)
{
    const struct weir_amounts free = weir_cluster_free(view->cluster);
    struct weir_amounts sum = weir_cluster_total(view->cluster);
    struct weir_tenant all = { .size = sizeof all };

    weir_amounts_count(&sum, &free, -1);
    if (weir_view_tenant(view, 0, &all))
        weir_amounts_count(&sum, &all.wanted, 1);
    return sum;
}

static struct weir_amounts for_good(const struct weir_view *view)
{
    struct weir_amounts sum = weir_cluster_total(view->cluster);

    for (uint32_t i = 0; i < weir_view_offers(view); i++) {
        struct weir_node_offer offer = { .size = sizeof offer };
        (void)weir_view_offer(view, i, &offer);
        weir_amounts_count(&sum, &offer.holds, -(int64_t)offer.up);
    }
    return sum;
}

static double nodes(int64_t amount, int64_t here, int64_t one)
{
    return one > 0 && amount > here ? (double)(amount - here) / (double)one : 0;
}

double weir_node_demand(const struct weir_view *view)
{
    const struct weir_amounts asked = asked_for(view);
    const struct weir_amounts here = for_good(view);
    struct weir_node_offer offer = { .size = sizeof offer };

    if (!weir_view_offer(view, 0, &offer))
        return 0;
    const struct weir_amounts *const one = &offer.holds;
    return fmax(nodes(asked.gpu_units, here.gpu_units, one->gpu_units),
                fmax(nodes(asked.cpu_units, here.cpu_units, one->cpu_units),
                     nodes(asked.ram_bytes, here.ram_bytes, one->ram_bytes)));
}

uint32_t weir_node_held(const struct weir_view *view)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < weir_view_offers(view); i++) {
        struct weir_node_offer offer = { .size = sizeof offer };
        (void)weir_view_offer(view, i, &offer);
        sum += offer.up + offer.coming;
    }
    return sum;
}
