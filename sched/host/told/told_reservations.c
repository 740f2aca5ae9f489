/* SPDX-License-Identifier: Apache-2.0 */
/* What the controller tells a host of reservations in advance. */
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/size.h"

#include <string.h>

static weir_status check_values(const struct weir_reservation_spec *spec, struct weir_error *error)
{
    if (spec->name == NULL || spec->name[0] == '\0')
        return weir_fail(error, WEIR_EINVAL, "a reservation needs a name");
    if (spec->end_ns <= spec->start_ns)
        return weir_fail(error, WEIR_EINVAL, "it ends before it begins");
    if ((spec->nodes == 0) == (spec->gpus == 0))
        return weir_fail(error, WEIR_EINVAL, "it is of nodes or of GPUs: %u nodes, %u GPUs",
                         spec->nodes, spec->gpus);
    return WEIR_OK;
}

static weir_status check(const struct weir_host *host, const struct weir_reservation_spec *spec,
                         struct weir_error *error)
{
    const struct weir_jobs *const jobs = &host->jobs;
    const uint32_t nodes = weir_cluster_node_count(host->inventory);
    const struct weir_reservations *const all = &jobs->reservations;

    WEIR_TRY(check_values(spec, error));
    if (spec->tenant >= jobs->tenants.count)
        return weir_fail(error, WEIR_ENOTFOUND, "tenant %u of %u", spec->tenant,
                         jobs->tenants.count);
    if (all->count >= WEIR_MAX_RESERVATIONS)
        return weir_fail(error, WEIR_ERANGE, "at most %d are possible", WEIR_MAX_RESERVATIONS);
    for (uint32_t i = 0; i < spec->held_count; i++)
        if (spec->held[i] >= nodes)
            return weir_fail(error, WEIR_ENOTFOUND, "node %u of %u", spec->held[i], nodes);
    for (uint32_t r = 0; r < all->count; r++)
        if (strcmp(all->all[r].name, spec->name) == 0)
            return weir_fail(error, WEIR_EDUPLICATE, "there is one of this name");
    return WEIR_OK;
}

static weir_status add(struct weir_jobs *jobs, const struct weir_reservation_spec *spec)
{
    struct weir_reservations *const all = &jobs->reservations;
    const size_t size = strlen(spec->name) + 1;

    WEIR_ROOM(&jobs->allocator, all->all, all->capacity, all->count + 1);
    char *const name = weir_alloc(&jobs->allocator, size, 1);
    if (name == NULL)
        return WEIR_ENOMEM;
    memcpy(name, spec->name, size);
    all->all[all->count++] = (struct weir_reservation_entry){ .name = name,
                                                              .start_ns = spec->start_ns,
                                                              .end_ns = spec->end_ns,
                                                              .tenant = spec->tenant,
                                                              .node_limit = spec->nodes,
                                                              .gpu_limit = spec->gpus,
                                                              .gpu_type = spec->gpu_type };
    for (uint32_t i = 0; i < spec->held_count; i++)
        WEIR_TRY(
            weir_reservation_take_node(&all->all[all->count - 1], &jobs->allocator, spec->held[i]));
    return WEIR_OK;
}

weir_status weir_host_add_reservation(struct weir_host *host,
                                      const struct weir_reservation_spec *reservation,
                                      uint32_t *number, struct weir_error *error)
{
    if (host == NULL || reservation == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no reservation");
    WEIR_TRY(weir_size_check(reservation->size, sizeof *reservation, "the reservation", error));
    WEIR_TRY(check(host, reservation, error));
    if (add(&host->jobs, reservation) != WEIR_OK || weir_jobs_index(&host->jobs, true) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (number != NULL)
        *number = host->jobs.reservations.count;
    weir_reservations_look_ahead(&host->jobs.reservations, host->now_ns);
    host->jobs.surprises++;
    host->is_dirty = true;
    return WEIR_OK;
}
