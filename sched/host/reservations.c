/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes reservations take, and to whom they are closed (see reservations.h). */
#include "sched/host/reservations.h"

#include "sched/cluster/state.h"
#include "sched/host/jobs.h"
#include "sched/internal/alloc.h"

#include <string.h>

void weir_reservations_close(struct weir_reservations *reservations,
                             const struct weir_allocator *allocator)
{
    for (uint32_t r = 0; r < reservations->count; r++) {
        weir_free(allocator, reservations->all[r].name);
        weir_free(allocator, reservations->all[r].nodes);
    }
    weir_free(allocator, reservations->all);
    weir_free(allocator, reservations->closings);
    weir_free(allocator, reservations->is_kept);
    weir_free(allocator, reservations->is_waived);
}

int64_t weir_reservations_next(const struct weir_reservations *reservations, int64_t after_ns)
{
    int64_t next_ns = INT64_MAX;

    for (uint32_t r = 0; r < reservations->count; r++) {
        const struct weir_reservation_entry *const entry = &reservations->all[r];
        if (entry->start_ns > after_ns && entry->start_ns < next_ns)
            next_ns = entry->start_ns;
        if (entry->end_ns > after_ns && entry->end_ns < next_ns)
            next_ns = entry->end_ns;
    }
    return next_ns;
}

void weir_reservations_look_ahead(struct weir_reservations *reservations, int64_t after_ns)
{
    const int64_t next_ns = weir_reservations_next(reservations, after_ns);

    reservations->is_asked = reservations->is_asked && next_ns == reservations->next_ns;
    reservations->next_ns = next_ns;
}

bool weir_reservations_must_wake(const struct weir_reservations *reservations)
{
    return reservations->count > 0 && reservations->next_ns != INT64_MAX && !reservations->is_asked;
}

/* ---- which nodes ---- */

struct choice {
    const struct weir_allocator *allocator;
    struct weir_jobs *jobs;
    const struct weir_cluster *cluster;
    int64_t now_ns;
    int64_t *held; /* by node: GPUs in use when the reservation begins; INT64_MAX = not this one */
};

static bool has_node(const struct weir_reservation_entry *entry, uint32_t node)
{
    for (uint32_t i = 0; i < entry->count; i++)
        if (entry->nodes[i] == node)
            return true;
    return false;
}

/* Of another reservation at some time of this one. */
static bool is_taken(const struct weir_reservations *reservations,
                     const struct weir_reservation_entry *entry, uint32_t node)
{
    for (uint32_t r = 0; r < reservations->count; r++) {
        const struct weir_reservation_entry *const other = &reservations->all[r];
        if (other->start_ns < entry->end_ns && entry->start_ns < other->end_ns &&
            has_node(other, node))
            return true;
    }
    return false;
}

static bool may_have(const struct weir_reservation_entry *entry, const struct choice *choice,
                     uint32_t node)
{
    const struct weir_node *const found = weir_cluster_node(choice->cluster, node);
    const struct weir_shape shape = { .gpu_type = entry->gpu_type };

    if ((found->flags & WEIR_NODE_UP) == 0 || (found->flags & WEIR_NODE_CORDONED) != 0)
        return false;
    if (!weir_node_takes(choice->cluster, node, &shape))
        return false; /* it is kept for others */
    if (found->gpu_count == 0)
        return entry->gpu_limit == 0 && entry->gpu_type == 0;
    return entry->gpu_type == 0 ||
           weir_shape_takes_type(&shape, weir_cluster_gpu(choice->cluster, node, 0)->type);
}

/* What runs on the node when the reservation begins, as far as estimates say. */
static int64_t held_then(const struct weir_reservation_entry *entry, const struct choice *choice,
                         uint32_t node)
{
    struct weir_worker worker;
    uint32_t cursor = 0;
    int64_t units = 0;

    while (weir_cluster_node_worker(choice->cluster, node, &cursor, &worker)) {
        const uint32_t record =
            worker.owner.kind == WEIR_OWNER_JOB
                ? weir_jobs_find(choice->jobs, worker.owner.index, worker.owner.id)
                : WEIR_NO_INDEX;
        struct weir_job job = { .size = sizeof job };
        if (record != WEIR_NO_INDEX)
            weir_jobs_describe(choice->jobs, record, &job);
        if (record != WEIR_NO_INDEX && job.state != WEIR_JOB_WAITING &&
            weir_job_end_ns(&job, choice->now_ns) <= entry->start_ns)
            continue;
        units += 1 + worker.alloc.cpu_units / WEIR_ONE;
        for (uint32_t d = 0; d < worker.alloc.device_count; d++)
            units += worker.alloc.devices[d].units;
    }
    return units;
}

/* Those that are down are no use; *gpus = of the others. */
static void drop_lost(struct weir_reservation_entry *entry, const struct weir_cluster *cluster,
                      uint32_t *gpus)
{
    uint32_t kept = 0;

    *gpus = 0;
    for (uint32_t i = 0; i < entry->count; i++) {
        const struct weir_node *const node = weir_cluster_node(cluster, entry->nodes[i]);
        if ((node->flags & WEIR_NODE_UP) == 0)
            continue;
        *gpus += node->gpu_count;
        entry->nodes[kept++] = entry->nodes[i];
    }
    entry->count = kept;
}

static bool has_all(const struct weir_reservation_entry *entry, uint32_t gpus)
{
    return entry->gpu_limit > 0 ? gpus >= entry->gpu_limit : entry->count >= entry->node_limit;
}

static uint32_t best_node(const int64_t *held, uint32_t nodes)
{
    uint32_t best = WEIR_NO_INDEX;

    for (uint32_t n = 0; n < nodes; n++)
        if (held[n] != INT64_MAX && (best == WEIR_NO_INDEX || held[n] < held[best]))
            best = n;
    return best;
}

weir_status weir_reservation_take_node(struct weir_reservation_entry *entry,
                                       const struct weir_allocator *allocator, uint32_t node)
{
    WEIR_ROOM(allocator, entry->nodes, entry->capacity, entry->count + 1);
    uint32_t at = entry->count++;
    for (; at > 0 && entry->nodes[at - 1] > node; at--)
        entry->nodes[at] = entry->nodes[at - 1];
    entry->nodes[at] = node;
    return WEIR_OK;
}

static weir_status choose_more(const struct weir_reservations *reservations,
                               struct weir_reservation_entry *entry, struct choice *choice,
                               uint32_t gpus)
{
    const uint32_t nodes = weir_cluster_node_count(choice->cluster);
    uint32_t best;

    for (uint32_t n = 0; n < nodes; n++)
        choice->held[n] = may_have(entry, choice, n) && !is_taken(reservations, entry, n)
                              ? held_then(entry, choice, n)
                              : INT64_MAX;
    while (!has_all(entry, gpus) && (best = best_node(choice->held, nodes)) != WEIR_NO_INDEX) {
        WEIR_TRY(weir_reservation_take_node(entry, choice->allocator, best));
        gpus += weir_cluster_node(choice->cluster, best)->gpu_count;
        choice->held[best] = INT64_MAX;
    }
    return WEIR_OK;
}

static weir_status choose_all(struct weir_reservations *reservations, struct choice *choice)
{
    for (uint32_t r = 0; r < reservations->count; r++) {
        struct weir_reservation_entry *const entry = &reservations->all[r];
        uint32_t gpus = 0;
        if (entry->end_ns <= choice->now_ns)
            continue;
        drop_lost(entry, choice->cluster, &gpus);
        if (has_all(entry, gpus))
            continue;
        if (choice->held == NULL)
            choice->held = weir_alloc(choice->allocator, weir_cluster_node_count(choice->cluster),
                                      sizeof *choice->held);
        if (choice->held == NULL)
            return WEIR_ENOMEM;
        WEIR_TRY(choose_more(reservations, entry, choice, gpus));
    }
    return WEIR_OK;
}

weir_status weir_reservations_choose(struct weir_jobs *jobs, const struct weir_cluster *cluster,
                                     int64_t now_ns)
{
    struct choice choice = {
        .allocator = &jobs->allocator, .jobs = jobs, .cluster = cluster, .now_ns = now_ns
    };
    const weir_status status = choose_all(&jobs->reservations, &choice);

    weir_free(&jobs->allocator, choice.held);
    return status;
}

/* ---- closed to whom ---- */

/* One reservation more, or one less, closes the node. */
static weir_status close_node(struct weir_reservations *reservations, struct weir_cluster *scratch,
                              uint32_t node, bool is_more)
{
    const bool is_first = is_more && reservations->closings[node] == 0;
    const uint32_t flags = weir_cluster_node(scratch, node)->flags;

    reservations->closings[node] += is_more ? 1 : UINT32_MAX;
    if (is_first)
        reservations->is_kept[node] = (flags & WEIR_NODE_CORDONED) == 0;
    if (reservations->is_kept[node] == 0 || (!is_first && reservations->closings[node] > 0))
        return WEIR_OK;
    return weir_cluster_set_node_flags(scratch, node,
                                       is_first ? flags | WEIR_NODE_CORDONED
                                                : flags & ~(uint32_t)WEIR_NODE_CORDONED);
}

static weir_status close_nodes(struct weir_reservations *reservations, uint32_t number,
                               struct weir_cluster *scratch, bool is_more)
{
    const struct weir_reservation_entry *const entry = &reservations->all[number];

    for (uint32_t i = 0; i < entry->count; i++)
        WEIR_TRY(close_node(reservations, scratch, entry->nodes[i], is_more));
    return WEIR_OK;
}

weir_status weir_reservations_begin(struct weir_jobs *jobs, struct weir_cluster *scratch,
                                    int64_t now_ns)
{
    const struct weir_allocator *const allocator = &jobs->allocator;
    struct weir_reservations *const all = &jobs->reservations;
    const uint32_t nodes = weir_cluster_node_count(scratch);

    if (all->count == 0)
        return WEIR_OK;
    WEIR_ROOM(allocator, all->closings, all->node_capacity, nodes);
    WEIR_ROOM(allocator, all->is_kept, all->kept_capacity, nodes);
    WEIR_ROOM(allocator, all->is_waived, all->waived_capacity, all->count);
    memset(all->closings, 0, nodes * sizeof *all->closings);
    memset(all->is_kept, 0, nodes);
    memset(all->is_waived, 0, all->count);
    all->node_count = nodes;
    for (uint32_t r = 0; r < all->count; r++)
        if (all->all[r].end_ns > now_ns)
            WEIR_TRY(close_nodes(all, r, scratch, true));
    return WEIR_OK;
}

weir_status weir_reservations_end(struct weir_reservations *reservations,
                                  struct weir_cluster *scratch)
{
    for (uint32_t n = 0; n < reservations->node_count; n++)
        if (reservations->is_kept[n] != 0)
            WEIR_TRY(weir_cluster_set_node_flags(
                scratch, n, weir_cluster_node(scratch, n)->flags & ~(uint32_t)WEIR_NODE_CORDONED));
    reservations->node_count = 0;
    return WEIR_OK;
}

/* ---- a job ---- */

static bool is_owner(const struct weir_jobs *jobs, const struct weir_job *job, uint32_t number)
{
    const uint32_t tenant = jobs->reservations.all[number].tenant;

    return job->reservation == number + 1 ||
           (tenant != 0 && weir_tenants_is_within(&jobs->tenants, job->tenant, tenant));
}

/* The job may not have its nodes if it starts then. One that is over is in nobody's way, but the
 * nodes of one that ends later than now are closed until somebody asks about that time. */
static bool keeps_out(const struct weir_jobs *jobs, const struct weir_job *job, uint32_t number,
                      int64_t at_ns)
{
    const struct weir_reservation_entry *const entry = &jobs->reservations.all[number];
    const int64_t left_ns = weir_job_left_ns(job);

    if (entry->end_ns <= at_ns)
        return false;
    if (left_ns != INT64_MAX && at_ns < entry->start_ns && left_ns <= entry->start_ns - at_ns)
        return false;
    return at_ns < entry->start_ns || !is_owner(jobs, job, number);
}

static weir_status waive(const struct weir_reserved_question *asked, uint32_t number)
{
    struct weir_reservations *const all = &asked->jobs->reservations;

    if (all->is_waived[number] != 0)
        return WEIR_OK;
    all->is_waived[number] = 1;
    return close_nodes(all, number, asked->scratch, false);
}

weir_status weir_reservations_let(const struct weir_reserved_question *asked, int64_t *blocked_ns)
{
    const struct weir_reservations *const all = &asked->jobs->reservations;
    struct weir_job job = { .size = sizeof job };

    *blocked_ns = INT64_MAX;
    weir_jobs_describe(asked->jobs, asked->record, &job);
    for (uint32_t r = 0; r < all->count; r++) {
        if (all->all[r].end_ns <= asked->now_ns)
            continue;
        if (!keeps_out(asked->jobs, &job, r, asked->at_ns))
            WEIR_TRY(waive(asked, r));
        else if (all->all[r].start_ns < *blocked_ns)
            *blocked_ns = all->all[r].start_ns;
    }
    return WEIR_OK;
}

weir_status weir_reservations_waive(const struct weir_reserved_question *asked)
{
    const struct weir_reservations *const all = &asked->jobs->reservations;

    for (uint32_t r = 0; r < all->count; r++)
        if (all->all[r].end_ns > asked->now_ns)
            WEIR_TRY(waive(asked, r));
    return WEIR_OK;
}

weir_status weir_reservations_bar(const struct weir_reserved_question *asked)
{
    struct weir_reservations *const all = &asked->jobs->reservations;

    for (uint32_t r = 0; r < all->count; r++) {
        if (all->is_waived[r] == 0)
            continue;
        all->is_waived[r] = 0;
        WEIR_TRY(close_nodes(all, r, asked->scratch, true));
    }
    return WEIR_OK;
}

/* ---- what policies read ---- */

uint32_t weir_view_reservations(const struct weir_view *view)
{
    return view->jobs == NULL ? 0 : view->jobs->reservations.count;
}

bool weir_view_reservation(const struct weir_view *view, uint32_t number,
                           struct weir_reservation *reservation)
{
    if (number == 0 || number > weir_view_reservations(view))
        return false;
    const struct weir_reservation_entry *const entry = &view->jobs->reservations.all[number - 1];
    const struct weir_reservation full = { .size = reservation->size,
                                           .number = number,
                                           .tenant = entry->tenant,
                                           .node_count = entry->count,
                                           .name = entry->name,
                                           .start_ns = entry->start_ns,
                                           .end_ns = entry->end_ns,
                                           .nodes = entry->nodes };
    memcpy(reservation, &full, reservation->size < sizeof full ? reservation->size : sizeof full);
    return true;
}

int64_t weir_view_next_boundary(const struct weir_view *view, int64_t after_ns)
{
    return view->jobs == NULL ? INT64_MAX
                              : weir_reservations_next(&view->jobs->reservations, after_ns);
}
