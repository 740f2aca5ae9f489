/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of the nodes; see the header. */
#include "sched/capacity/parts/load.h"

#include "sched/internal/tasks.h"

static const double NS_PER_S = 1e9;

static double share(int64_t all, int64_t free, int64_t coming)
{
    return all + coming > 0 ? (double)(all - free) / (double)(all + coming) : 0;
}

static void look_at_nodes(const struct weir_view *view, struct weir_load *load)
{
    const struct weir_amounts all = weir_cluster_total(view->cluster);
    const struct weir_amounts free = weir_cluster_free(view->cluster);
    struct weir_amounts coming = { 0 };

    load->nodes = 0;
    for (uint32_t i = 0; i < weir_view_offers(view); i++) {
        struct weir_node_offer offer = { .size = sizeof offer };
        (void)weir_view_offer(view, i, &offer);
        load->nodes += offer.up + offer.coming;
        coming.cpu_units += offer.coming * offer.holds.cpu_units;
        coming.gpu_units += offer.coming * offer.holds.gpu_units;
        coming.ram_bytes += offer.coming * offer.holds.ram_bytes;
    }
    load->of[WEIR_LOAD_CPU] = share(all.cpu_units, free.cpu_units, coming.cpu_units);
    load->of[WEIR_LOAD_GPU] = share(all.gpu_units, free.gpu_units, coming.gpu_units);
    load->of[WEIR_LOAD_RAM] = share(all.ram_bytes, free.ram_bytes, coming.ram_bytes);
}

static void look_at_pools(const struct weir_view *view, struct weir_load *load)
{
    for (uint32_t i = 0; i < view->pool_count; i++) {
        const struct weir_pool_view *const pool = weir_view_pool(view, i);
        const double tasks = weir_pool_tasks(pool);
        const double per_s = pool->ready * pool->estimate.batches_per_s;
        load->of[WEIR_LOAD_QUEUE] += tasks;
        if (per_s > 0)
            load->of[WEIR_LOAD_WAIT] = fmax(load->of[WEIR_LOAD_WAIT], tasks / per_s);
    }
}

enum {
    OLDEST = sizeof((struct weir_oldest){ 0 }.jobs) / sizeof((struct weir_oldest){ 0 }.jobs[0])
};

/* Puts it among the oldest that were found, where it is one of them. */
static void rank(struct weir_oldest *oldest, const struct weir_job *job)
{
    uint32_t at = oldest->count;

    if (at == OLDEST && oldest->jobs[at - 1].queued_ns <= job->queued_ns)
        return;
    at -= at == OLDEST;
    for (; at > 0 && oldest->jobs[at - 1].queued_ns > job->queued_ns; at--)
        oldest->jobs[at] = oldest->jobs[at - 1];
    oldest->jobs[at].id = job->id;
    oldest->jobs[at].queued_ns = job->queued_ns;
    oldest->jobs[at].workload = job->workload;
    oldest->count += oldest->count < OLDEST;
}

static void walk(const struct weir_view *view, struct weir_oldest *oldest)
{
    struct weir_job job = { .size = sizeof job };
    uint32_t cursor = 0;

    *oldest = (struct weir_oldest){ .count = 0 };
    while (weir_view_next_job(view, &cursor, &job))
        if (job.state == WEIR_JOB_WAITING)
            rank(oldest, &job);
}

/* Those that are gone, or came to wait anew, are passed over. */
static bool find_oldest(const struct weir_view *view, struct weir_oldest *oldest)
{
    for (; oldest->next < oldest->count; oldest->next++) {
        struct weir_job job = { .size = sizeof job };
        const uint32_t workload = oldest->jobs[oldest->next].workload;
        if (weir_view_job(view, workload, oldest->jobs[oldest->next].id, &job) &&
            job.state == WEIR_JOB_WAITING && job.queued_ns == oldest->jobs[oldest->next].queued_ns)
            return true;
    }
    return false;
}

static void look_at_jobs(const struct weir_view *view, struct weir_oldest *oldest,
                         struct weir_load *load)
{
    if (weir_view_waiting_jobs(view) == 0)
        return;
    if (!find_oldest(view, oldest)) {
        walk(view, oldest);
        (void)find_oldest(view, oldest);
    }
    load->oldest_ns = oldest->jobs[oldest->next].queued_ns;
    if (load->oldest_ns < view->now_ns)
        load->of[WEIR_LOAD_WAIT] =
            fmax(load->of[WEIR_LOAD_WAIT], (double)(view->now_ns - load->oldest_ns) / NS_PER_S);
}

void weir_load_look(const struct weir_view *view, struct weir_oldest *oldest,
                    struct weir_load *load)
{
    *load = (struct weir_load){ .oldest_ns = INT64_MAX };
    load->of[WEIR_LOAD_QUEUE] = weir_view_waiting_jobs(view);
    look_at_nodes(view, load);
    look_at_pools(view, load);
    if (oldest != NULL)
        look_at_jobs(view, oldest, load);
    else
        load->of[WEIR_LOAD_WAIT] = 0;
}
