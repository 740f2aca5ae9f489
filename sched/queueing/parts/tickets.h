/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets of tenants, for policies that draw (lottery) or take turns (stride). */
#ifndef SCHED_QUEUEING_TICKETS_H
#define SCHED_QUEUEING_TICKETS_H

#include "sched/internal/params.h"
#include "weir/tenant.h"

#define WEIR_RESOURCE_AWARE                                                                        \
    WEIR_FLAG("resource_aware", 0,                                                                 \
              "tickets are divided by the dominant share of the job: who asks for more of the "    \
              "cluster has his turn less often")

/* Of a tenant whose next job this is; `is_aware` = they count less the more the job asks for. */
static inline double weir_tickets(const struct weir_view *view, const struct weir_tenant *tenant,
                                  const struct weir_job *job, bool is_aware)
{
    const struct weir_amounts need = weir_job_amounts(job);
    const double share = is_aware ? weir_view_dominant_share(view, &need) : 1;

    return share > 0 ? tenant->tickets / share : tenant->tickets;
}

#endif
