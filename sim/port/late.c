/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * News for the scheduler, as old as its view (sched.view_age): a log of changes that is told up to
 * now - age, in the order in which they happened. Without an age, and with nothing left in the log,
 * they are told at once. A plan that preempts hears how things stand when it is carried out.
 *
 * In the log: tasks that were measured; jobs that came, left and ended, their ranks that went, and,
 * where there are jobs, nodes. What a plan did is known at once, and so are workers of pools. So
 * the scheduler may believe in devices, jobs and nodes that are gone: what it plans with them the
 * truth refuses. It never believes that a device is free which is not.
 */
#include "sim/engine/room.h"
#include "sim/port/port_state.h"
#include "sim/record/meter/meter.h"
#include "weir/host.h"

#include <stdlib.h>
#include <string.h>

static bool is_of_jobs(const struct port_news *news)
{
    return news->kind != PORT_NEWS_TASK;
}

/* ---- telling ---- */

static weir_status tell_host(struct sim_port *port, const struct port_news *news)
{
    switch ((enum port_news_kind)news->kind) {
    case PORT_NEWS_TASK:
        return sim_told_task(port, &news->task);
    case PORT_NEWS_SUBMITTED:
        return sim_told_submit(port, &news->job);
    case PORT_NEWS_WITHDRAWN:
        return sim_told_withdraw(port, news->index, news->id);
    case PORT_NEWS_ENDED:
        return sim_told_ended(port, news->index, news->id);
    case PORT_NEWS_RANK:
        return sim_told_outcome(port, &news->rank, NULL);
    case PORT_NEWS_RESIZED:
        return sim_told_resized(port, news->index, news->id, news->lost);
    case PORT_NEWS_NODE:
        sim_meter_believed(port->config.context->meter,
                           sim_engine_now(port->config.context->engine), news->index,
                           news->id != 0);
        return sim_told_node_flags(port, news->index, news->id != 0 ? WEIR_NODE_UP : 0,
                                   news->at_ns);
    case PORT_NEWS_GPU:
        return sim_told_gpu_health(port, news->index, (uint32_t)(news->id >> 1),
                                   (news->id & 1) != 0);
    }
    return WEIR_EINVARIANT;
}

/* Jobs that wait may start now. */
static weir_status tell(struct sim_port *port, const struct port_news *news)
{
    const weir_status status = tell_host(port, news);
    if (is_of_jobs(news) && status == WEIR_OK)
        sim_port_room_made(port);
    return status;
}

/* A node that is back before it was missed: to believe it down now would lose who came since. */
static bool is_back(const struct port_log *log, const struct port_news *down)
{
    for (size_t i = log->first; i < log->end; i++)
        if (log->news[i].kind == PORT_NEWS_NODE && log->news[i].index == down->index)
            return true; /* the next news of it */
    return false;
}

/* A job that was let wait and can never start is its driver's again; one that left was turned away
 * meanwhile. */
static weir_status tell_late(struct sim_port *port, const struct port_news *news)
{
    if (news->kind == PORT_NEWS_NODE && news->id == 0 && is_back(&port->log, news))
        return WEIR_OK;
    const weir_status status = tell(port, news);
    if (news->kind == PORT_NEWS_WITHDRAWN && status == WEIR_ENOTFOUND)
        return WEIR_OK;
    if (news->kind != PORT_NEWS_SUBMITTED || status != WEIR_EINFEASIBLE)
        return status;
    const struct sim_driver *driver =
        &port->config.drivers[port->workloads[news->job.workload].driver];
    return driver->ops->denied(driver->self, news->job.id, true);
}

/* ---- the log ---- */

/* At most one event: when the oldest news is old enough. Measurements alone wait for a decision. */
static void schedule_telling(struct sim_port *port)
{
    struct port_log *log = &port->log;
    struct sim_engine *engine = port->config.context->engine;
    const int64_t now_ns = sim_engine_now(engine);
    if (log->timer != SIM_NO_HANDLE)
        (void)sim_engine_cancel(engine, log->timer);
    log->timer = SIM_NO_HANDLE;
    if (log->of_jobs == 0)
        return;
    const int64_t due_ns = log->news[log->first].at_ns + port->sched->view_age_ns;
    log->timer = sim_engine_schedule(
        engine, &(struct sim_event){ .time_ns = due_ns > now_ns ? due_ns : now_ns,
                                     .kind = SIM_KIND_NEWS,
                                     .phase = SIM_PHASE_FLOW });
}

static weir_status reserve(struct port_log *log)
{
    if (log->first > log->capacity / 2) {
        memmove(log->news, log->news + log->first, (log->end - log->first) * sizeof(*log->news));
        log->end -= log->first;
        log->first = 0;
    }
    SIM_ROOM(log->news, log->capacity, log->end + 1);
    return WEIR_OK;
}

/* The groups of a job are its driver's until it was told. */
static weir_status keep(struct sim_port *port, const struct port_news *news)
{
    struct port_log *log = &port->log;
    struct weir_rank_group *groups = NULL;
    WEIR_TRY(reserve(log));
    if (news->kind == PORT_NEWS_SUBMITTED) {
        groups = malloc(news->job.group_count * sizeof(*groups));
        if (groups == NULL)
            return WEIR_ENOMEM;
        memcpy(groups, news->job.groups, news->job.group_count * sizeof(*groups));
    }
    log->news[log->end] = *news;
    log->news[log->end].groups = groups;
    if (groups != NULL)
        log->news[log->end].job.groups = groups;
    log->end++;
    log->of_jobs += is_of_jobs(news) ? 1 : 0;
    if (is_of_jobs(news) && log->of_jobs == 1)
        schedule_telling(port);
    return WEIR_OK;
}

static bool is_late(const struct sim_port *port)
{
    return port->sched->view_age_ns > 0 || port->log.first < port->log.end;
}

weir_status sim_port_news(struct sim_port *port, const struct port_news *news)
{
    return is_late(port) && port->workload_count > 0 ? keep(port, news) : tell(port, news);
}

weir_status sim_port_news_now(struct sim_port *port, const struct port_news *news)
{
    return tell(port, news);
}

weir_status sim_port_measure(struct sim_port *port, const struct weir_measurement *task)
{
    if (!is_late(port))
        return sim_told_task(port, task);
    return keep(
        port, &(struct port_news){ .kind = PORT_NEWS_TASK, .at_ns = task->end_ns, .task = *task });
}

static weir_status tell_until(struct sim_port *port, int64_t until_ns)
{
    struct port_log *log = &port->log;
    while (log->first < log->end && log->news[log->first].at_ns <= until_ns) {
        struct port_news news = log->news[log->first++];
        log->of_jobs -= is_of_jobs(&news) ? 1 : 0;
        const weir_status status = tell_late(port, &news); /* may add to the log */
        free(news.groups);
        WEIR_TRY(status);
    }
    schedule_telling(port);
    return WEIR_OK;
}

weir_status sim_port_tell_news(struct sim_port *port)
{
    return tell_until(port,
                      sim_engine_now(port->config.context->engine) - port->sched->view_age_ns);
}

weir_status sim_port_news_due(struct sim_port *port)
{
    port->log.timer = SIM_NO_HANDLE; /* its event has come */
    return sim_port_tell_news(port);
}

weir_status sim_port_tell_all(struct sim_port *port)
{
    return tell_until(port, INT64_MAX);
}

void sim_port_forget_news(struct port_log *log)
{
    for (size_t i = log->first; i < log->end; i++)
        free(log->news[i].groups);
    free(log->news);
}
