/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The half of the port that is about jobs: telling the host of them, why a decision is due, and
 * GPUs that a plan cuts anew.
 */
#include "sim/engine/room.h"
#include "sim/port/port_state.h"
#include "sim/record/meter/meter_jobs.h"
#include "sim/record/record.h"
#include "weir/host.h"
#include "weir/licence.h"

#include <stdlib.h>
#include <string.h>

/* ---- why a decision is due ---- */

void sim_port_plan_look(struct sim_port *port, const struct sim_event *event)
{
    port->looks++;
    (void)sim_engine_schedule(port->config.context->engine, event);
}

uint32_t sim_port_looks(const struct sim_port *port)
{
    return port->looks;
}

weir_status sim_port_looked(struct sim_port *port)
{
    port->looks--;
    return sim_port_note_reservations(port);
}

void sim_port_wake(struct sim_port *port, uint32_t causes)
{
    const struct sim_event event = { .time_ns = sim_engine_now(port->config.context->engine),
                                     .kind = SIM_KIND_WAKE,
                                     .phase = SIM_PHASE_DECISION };
    const bool is_asked = port->causes != 0;
    port->causes |= causes;
    if (is_asked || port->pending != NULL)
        return; /* asked at the plan's application, if it is on its way */
    sim_port_plan_look(port, &event);
}

uint32_t sim_port_take_causes(struct sim_port *port)
{
    const uint32_t causes = port->causes;
    port->causes = 0;
    return causes;
}

bool sim_port_is_busy(const struct sim_port *port)
{
    return port->causes != 0 || port->pending != NULL || port->cut_count > 0 ||
           port->log.of_jobs > 0;
}

void sim_port_room_made(struct sim_port *port)
{
    uint32_t causes = port->workload_count > 0 ? WEIR_CAUSE_JOBS : 0;
    for (uint32_t d = 1; d <= port->config.driver_count; d++) {
        const struct sim_driver *driver = &port->config.drivers[d];
        if (driver->ops->wants_back != NULL && driver->ops->wants_back(driver->self))
            causes |= WEIR_CAUSE_WORKERS;
    }
    if (causes != 0)
        sim_port_wake(port, causes);
}

/* ---- jobs ---- */

weir_status sim_port_add_workload(struct sim_port *port, uint32_t driver,
                                  const struct sim_driver_workload *workload, uint32_t *index)
{
    struct port_workload *workloads =
        realloc(port->workloads, ((size_t)port->workload_count + 1) * sizeof(*workloads));
    if (workloads == NULL)
        return WEIR_ENOMEM;
    port->workloads = workloads;
    WEIR_TRY(sim_told_workload(port, workload->name, index));
    WEIR_TRY(sim_told_queue_limit(port, *index, workload->queue_limit));
    WEIR_TRY(sim_told_mix(port, &workload->mix));
    workloads[port->workload_count++] =
        (struct port_workload){ driver, workload->classes, workload->mix, 0 };
    return *index + 1 == port->workload_count ? WEIR_OK : WEIR_EINVARIANT;
}

uint32_t sim_port_workload_count(const struct sim_port *port)
{
    return port->workload_count;
}

uint32_t sim_port_classes(const struct sim_port *port, uint32_t workload)
{
    return port->workloads[workload].classes;
}

const struct weir_mix *sim_port_mix(const struct sim_port *port, uint32_t workload)
{
    return &port->workloads[workload].mix;
}

uint32_t sim_port_job_kind(struct sim_port *port, uint32_t workload, uint64_t id)
{
    struct weir_job job = { .size = sizeof job };
    const struct weir_view *view =
        weir_host_view(port->host, sim_engine_now(port->config.context->engine));
    return weir_view_job(view, workload, id, &job) ? job.kind : WEIR_NO_INDEX;
}

weir_status sim_port_submit(struct sim_port *port, const struct weir_job_spec *job, uint32_t *kind)
{
    WEIR_TRY(sim_port_news(
        port,
        &(struct port_news){ .kind = PORT_NEWS_SUBMITTED, .at_ns = job->queued_ns, .job = *job }));
    const struct sim_context *context = port->config.context;
    if (context->observer != NULL || sim_recorder_keeps(context->recorder, SIM_KEEP_JOBS))
        *kind =
            sim_port_job_kind(port, job->workload, job->id); /* not yet, when the view is late */
    return WEIR_OK;
}

static weir_status tell_of_job(struct sim_port *port, uint32_t kind, uint32_t workload,
                               uint64_t job)
{
    return sim_port_news(
        port, &(struct port_news){ .kind = kind,
                                   .index = workload,
                                   .id = job,
                                   .at_ns = sim_engine_now(port->config.context->engine) });
}

weir_status sim_port_withdraw(struct sim_port *port, uint32_t workload, uint64_t job)
{
    return tell_of_job(port, PORT_NEWS_WITHDRAWN, workload, job); /* it may have stood in the way */
}

weir_status sim_port_job_ended(struct sim_port *port, uint32_t workload, uint64_t job)
{
    return tell_of_job(port, PORT_NEWS_ENDED, workload, job);
}

weir_status sim_port_job_resized(struct sim_port *port, uint32_t workload, uint64_t job,
                                 struct sim_ranks_lost lost)
{
    return sim_port_news(port,
                         &(struct port_news){ .kind = PORT_NEWS_RESIZED,
                                              .index = workload,
                                              .id = job,
                                              .at_ns = sim_engine_now(port->config.context->engine),
                                              .lost = lost });
}

uint64_t sim_port_passes(const struct sim_port *port)
{
    return port->passes;
}

/* ---- what gangs hold while they wait ---- */

void sim_port_apply_reserve(struct sim_port *port, const struct weir_action *action)
{
    for (uint32_t i = 0; i < action->alloc.device_count; i++)
        port->workloads[action->owner.index].reserved_units += action->alloc.devices[i].units;
}

void sim_port_count_reserved(struct sim_port *port)
{
    const struct sim_context *context = port->config.context;
    for (uint32_t w = 0; w < port->workload_count; w++) {
        sim_meter_jobs_reserved(context->meter, sim_engine_now(context->engine), w,
                                weir_units_amount(port->workloads[w].reserved_units));
        port->workloads[w].reserved_units = 0;
    }
}

/* ---- GPUs cut anew ---- */

weir_status sim_port_apply_cut(struct sim_port *port, const struct weir_action *action)
{
    const struct sim_context *context = port->config.context;
    const struct sim_event event = { .time_ns = sim_engine_now(context->engine) +
                                                port->sched->repartition.reconfigure_ns,
                                     .target = action->node,
                                     .argument = action->gpu,
                                     .kind = SIM_KIND_CUT,
                                     .phase = SIM_PHASE_FAULT };
    SIM_ROOM(port->cuts, port->cut_capacity, port->cut_count + 1);
    port->cuts[port->cut_count++] =
        (struct port_cut){ action->node, action->gpu, (weir_mig_layout)action->value };
    (void)sim_engine_schedule(context->engine, &event);
    return WEIR_OK;
}

static weir_status record_cut(const struct sim_port *port, const struct port_cut *cut)
{
    const struct sim_context *context = port->config.context;
    const struct weir_mig *table =
        weir_cluster_gpu(weir_host_cluster(port->host), cut->node, cut->gpu)->mig;
    char name[128];
    char text[WEIR_MIG_SLOTS * (WEIR_MIG_NAME + 1) + 32];
    int length = snprintf(text, sizeof text, "GPU %u cut into", cut->gpu);
    for (uint32_t s = 0; s < table->slots; s++)
        if (weir_mig_at(cut->layout, s) >= 0 && length > 0 && (size_t)length < sizeof text)
            length += snprintf(text + length, sizeof text - (size_t)length, " %s",
                               table->profiles[weir_mig_at(cut->layout, s)].name);
    sim_scenario_node_name(context->scenario, cut->node, name, sizeof name);
    return sim_recorder_happening(context->recorder, sim_engine_now(context->engine), -1, "mig_cut",
                                  name, text, context->error);
}

weir_status sim_port_cut_done(struct sim_port *port, uint32_t node, uint32_t gpu)
{
    struct sim_context *context = port->config.context;
    uint32_t index = 0;
    while (index < port->cut_count &&
           (port->cuts[index].node != node || port->cuts[index].gpu != gpu))
        index++;
    if (index == port->cut_count)
        return weir_fail(context->error, WEIR_EINVARIANT, "node %u GPU %u was not to be cut", node,
                         gpu);
    const struct port_cut cut = port->cuts[index];
    const struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                          .kind = WEIR_OUTCOME_CUT,
                                          .owner = weir_pool_owner(WEIR_NO_INDEX),
                                          .node = node,
                                          .gpu = gpu,
                                          .time_ns = sim_engine_now(context->engine) };
    WEIR_TRY(sim_workers_cut(port->config.workers, node, gpu, cut.layout));
    WEIR_TRY(sim_told_outcome(port, &outcome, NULL));
    port->cut_count--;
    memmove(&port->cuts[index], &port->cuts[index + 1],
            (port->cut_count - index) * sizeof(*port->cuts));
    port->cuts_done++;
    sim_port_wake(port, WEIR_CAUSE_JOBS);
    return record_cut(port, &cut);
}

uint64_t sim_port_cuts(const struct sim_port *port)
{
    return port->cuts_done;
}

/* ---- what they take beside their places ---- */

weir_status sim_port_add_licences(const struct sim_port *port, struct weir_host *host,
                                  struct weir_error *error)
{
    const struct sim_scenario *scenario = port->config.scenario;
    for (size_t i = 0; i < scenario->licences_count; i++) {
        const struct sim_licence *licence = &scenario->licences[i];
        const struct weir_licence_spec spec = { .size = sizeof(struct weir_licence_spec),
                                                .limit = licence->limit,
                                                .name = licence->name,
                                                .priority_threshold = licence->priority_threshold };
        const weir_status status = weir_host_add_licence(host, &spec, NULL, error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "licence %s", licence->name);
            return status;
        }
    }
    return WEIR_OK;
}
