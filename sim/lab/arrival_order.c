/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of a static experiment; see the header. */
#include "sim/lab/arrival_order.h"

#include "sim/scenario/workload/job_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARRIVALS_MOST = 100000000 };

/* Streams of SIM_DRAW_ORDER, by stage. */
enum draw { DRAW_ARRIVALS, DRAW_CLONES, DRAW_REMOVALS, DRAW_RANKS };

static void open_stream(struct sim_stream *stream, const struct sim_order_query *query,
                        enum draw draw)
{
    sim_stream_open(stream, &query->random, SIM_DRAW_ORDER,
                    (struct sim_stream_key){ .stage = (uint32_t)draw });
}

static void count_up(uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        list[i] = (uint32_t)i;
}

static uint32_t pick(struct sim_stream *stream, size_t count)
{
    gsl_rng source = sim_stream_gsl(stream);
    return (uint32_t)gsl_rng_uniform_int(&source, count);
}

/* Fisher and Yates, from the end. */
static void shuffle(uint32_t *list, size_t count, struct sim_stream *stream)
{
    for (size_t i = count; i > 1; i--) {
        const size_t other = pick(stream, i);
        const uint32_t kept = list[i - 1];
        list[i - 1] = list[other];
        list[other] = kept;
    }
}

static int64_t gpu_units(const struct sim_order_query *query, uint32_t row)
{
    const struct sim_job_spec *job = &query->workload->jobs[row];
    return job->shape.gpu_units * job->shape.gpu_count * job->members;
}

static weir_status make_room(struct wl_openb_order *order, size_t *capacity,
                             struct weir_error *error)
{
    if (order->arrival_count < *capacity)
        return WEIR_OK;
    if (*capacity > ARRIVALS_MOST)
        return weir_fail(error, WEIR_EINFEASIBLE,
                         "demand: not reached with %d arrivals; so few jobs ask for GPUs",
                         ARRIVALS_MOST);
    uint32_t *arrivals = realloc(order->arrivals, 2 * (*capacity + 1) * sizeof(*arrivals));
    if (arrivals == NULL)
        return WEIR_ENOMEM;
    order->arrivals = arrivals;
    *capacity = 2 * (*capacity + 1);
    return WEIR_OK;
}

/* ---- kept orders ---- */

static weir_status check_rows(const struct sim_workload *workload,
                              const struct wl_openb_order *order, struct weir_error *error)
{
    for (size_t i = 0; i < order->arrival_count; i++)
        if (order->arrivals[i] >= workload->jobs_count)
            return weir_fail(
                error, WEIR_EFORMAT, "%s: order %s: arrival %zu is row %u, there are %zu jobs",
                workload->order, workload->order_key, i, order->arrivals[i], workload->jobs_count);
    return WEIR_OK;
}

static weir_status read_order(const struct sim_order_query *query, struct wl_openb_order *order,
                              struct weir_error *error)
{
    const struct sim_workload *workload = query->workload;
    WEIR_TRY(wl_openb_read_order(workload->order, workload->order_key, order, error));
    if (workload->ranks == SIM_RANKS_FILE && order->rank_count != query->nodes)
        return weir_fail(error, WEIR_EFORMAT, "%s: order %s ranks %zu nodes, the cluster has %u",
                         workload->order, workload->order_key, order->rank_count, query->nodes);
    return check_rows(workload, order, error);
}

/* ---- orders of our own ---- */

static weir_status own_arrivals(const struct sim_order_query *query, struct wl_openb_order *order)
{
    const size_t jobs = query->workload->jobs_count;
    struct sim_stream stream;
    order->arrivals = calloc(jobs + 1, sizeof(*order->arrivals));
    if (order->arrivals == NULL)
        return WEIR_ENOMEM;
    order->arrival_count = jobs;
    count_up(order->arrivals, jobs);
    open_stream(&stream, query, DRAW_ARRIVALS);
    if (query->workload->is_shuffled)
        shuffle(order->arrivals, jobs, &stream);
    return WEIR_OK;
}

/* Classes with a count in their order, the others drawn by weight, until `target` would be passed.
 */
static weir_status generated_arrivals(const struct sim_order_query *query, int64_t target,
                                      struct wl_openb_order *order, struct weir_error *error)
{
    struct sim_job_stream *stream = NULL;
    struct sim_job_arrival job;
    size_t capacity = 0;
    int64_t demand = 0;
    weir_status status = sim_job_stream_create(query->workload, &query->random, &stream);
    while (status == WEIR_OK && sim_job_stream_next(stream, &job)) {
        demand += gpu_units(query, job.spec);
        if (demand > target)
            break;
        status = make_room(order, &capacity, error);
        if (status == WEIR_OK)
            order->arrivals[order->arrival_count++] = job.spec;
    }
    sim_job_stream_destroy(stream);
    return status;
}

static weir_status own_ranks(const struct sim_order_query *query, struct wl_openb_order *order)
{
    struct sim_stream stream;
    uint32_t *ranks = calloc((size_t)query->nodes + 1, sizeof(*ranks));
    if (ranks == NULL)
        return WEIR_ENOMEM;
    free(order->ranks);
    order->ranks = ranks;
    order->rank_count = query->nodes;
    count_up(ranks, query->nodes);
    open_stream(&stream, query, DRAW_RANKS);
    if (query->workload->ranks == SIM_RANKS_SHUFFLED)
        shuffle(ranks, query->nodes, &stream);
    return WEIR_OK;
}

/* ---- demand ---- */

static int64_t demand_of(const struct sim_order_query *query, const struct wl_openb_order *order)
{
    int64_t units = 0;
    for (size_t i = 0; i < order->arrival_count; i++)
        units += gpu_units(query, order->arrivals[i]);
    return units;
}

/* Clones arrive behind the rows until the next one would pass `target`. */
static weir_status add_clones(const struct sim_order_query *query, struct wl_openb_order *order,
                              int64_t target, struct weir_error *error)
{
    size_t capacity = order->arrival_count;
    int64_t demand = demand_of(query, order);
    struct sim_stream stream;
    if (demand == 0)
        return weir_fail(error, WEIR_EINFEASIBLE, "demand: no job asks for GPUs");
    open_stream(&stream, query, DRAW_CLONES);
    for (;;) {
        const uint32_t row = pick(&stream, query->workload->jobs_count);
        const int64_t units = gpu_units(query, row);
        if (demand + units > target)
            return WEIR_OK;
        WEIR_TRY(make_room(order, &capacity, error));
        order->arrivals[order->arrival_count++] = row;
        demand += units;
    }
}

/* Arrivals are left out in random order until `target` is not passed; the others keep their order.
 */
static weir_status leave_out(const struct sim_order_query *query, struct wl_openb_order *order,
                             int64_t target)
{
    const size_t count = order->arrival_count;
    int64_t demand = demand_of(query, order);
    struct sim_stream stream;
    uint32_t *leavers = calloc(count + 1, sizeof(*leavers));
    if (leavers == NULL)
        return WEIR_ENOMEM;
    count_up(leavers, count);
    open_stream(&stream, query, DRAW_REMOVALS);
    shuffle(leavers, count, &stream);
    for (size_t i = 0; i < count && demand > target; i++) {
        demand -= gpu_units(query, order->arrivals[leavers[i]]);
        order->arrivals[leavers[i]] = UINT32_MAX;
    }
    order->arrival_count = 0;
    for (size_t i = 0; i < count; i++)
        if (order->arrivals[i] != UINT32_MAX)
            order->arrivals[order->arrival_count++] = order->arrivals[i];
    free(leavers);
    return WEIR_OK;
}

static double target_of(const struct sim_order_query *query)
{
    return query->workload->demand_frac * (double)query->gpus * (double)WEIR_ONE;
}

static weir_status trim(const struct sim_order_query *query, struct wl_openb_order *order,
                        struct weir_error *error)
{
    const double target = target_of(query);
    if (isnan(target) || query->workload->kind == SIM_WORKLOAD_GENERATED)
        return WEIR_OK;
    if ((double)demand_of(query, order) > target)
        return leave_out(query, order, (int64_t)target);
    return add_clones(query, order, (int64_t)target, error);
}

static weir_status fill(const struct sim_order_query *query, struct wl_openb_order *order,
                        struct weir_error *error)
{
    const struct sim_workload *workload = query->workload;
    const double target = target_of(query);
    if (workload->kind == SIM_WORKLOAD_GENERATED)
        WEIR_TRY(
            generated_arrivals(query, isnan(target) ? INT64_MAX : (int64_t)target, order, error));
    else if (workload->order != NULL)
        WEIR_TRY(read_order(query, order, error));
    else
        WEIR_TRY(own_arrivals(query, order));
    if (workload->ranks != SIM_RANKS_FILE)
        WEIR_TRY(own_ranks(query, order));
    return trim(query, order, error);
}

weir_status sim_arrival_order(const struct sim_order_query *query, struct wl_openb_order *order,
                              struct weir_error *error)
{
    struct wl_openb_order made = { .arrivals = NULL };
    const weir_status status = fill(query, &made, error);
    if (status != WEIR_OK)
        wl_openb_order_clear(&made);
    else
        *order = made;
    return status;
}
