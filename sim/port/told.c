/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weir's side of it (see told.h): the host here is told first, then the line. */
#include "sim/port/told.h"
#include "sim/port/port_state.h"

#include "sim/port/module.h"
#include "sim/record/run_options.h"
#include "sim/scenario/belief.h"

#include <string.h>

enum { TIMEOUT_S = 60 };
static const uint64_t MOST_DOCUMENT = UINT64_C(1) << 32;

/* A part of what is told. */
struct part {
    const void *bytes;
    size_t size;
};

/* Nobody listens any more when a part does not get through: the next question says so. */
static weir_status pass_on(struct sim_port *port, const struct sim_told *told, struct part first,
                           struct part second)
{
    struct sim_line *line = &port->process.line;
    const bool is_through = sim_line_put(line, told, sizeof *told) == WEIR_OK &&
                            sim_line_put(line, first.bytes, first.size) == WEIR_OK &&
                            sim_line_put(line, second.bytes, second.size) == WEIR_OK;
    port->is_lost = port->is_lost || !is_through;
    return (weir_status)told->status;
}

static inline weir_status tell(struct sim_port *port, struct sim_told told, struct part first,
                               struct part second)
{
    if (port->process.line.page == NULL)
        return (weir_status)told.status;
    return pass_on(port, &told, first, second);
}

static inline weir_status tell_short(struct sim_port *port, struct sim_told told)
{
    return tell(port, told, (struct part){ NULL, 0 }, (struct part){ NULL, 0 });
}

static inline weir_status tell_one(struct sim_port *port, struct sim_told told, const void *bytes,
                                   size_t size)
{
    return tell(port, told, (struct part){ bytes, size }, (struct part){ NULL, 0 });
}

static struct weir_error *error_of(const struct sim_port *port)
{
    return port->config.context->error;
}

/* ---- beginning and end ---- */

static bool has_stand_in(const struct sim_sched *sched)
{
    return sim_placement_is_stand_in(sched->placement.placement) ||
           sim_scaling_is_stand_in(sched->scaling.scaling) ||
           sim_queueing_is_stand_in(sched->queueing.queueing) ||
           sim_capacity_is_stand_in(sched->capacity.capacity);
}

static bool has_command(const struct sim_sched *sched)
{
    return sched->placement.argv != NULL || sched->scaling.argv != NULL ||
           sched->queueing.argv != NULL;
}

/* Whether any scheduler of the scenario has a policy of a module: those that come later are told
 * everything from the first moment on, too. */
static weir_status is_needed(const struct sim_scenario *scenario, bool *is_needed,
                             struct weir_error *error)
{
    bool has_program = has_command(&scenario->sched);
    *is_needed = has_stand_in(&scenario->sched);
    for (size_t i = 0; i < scenario->timeline_count; i++) {
        const struct sim_sched *sched = scenario->timeline[i].sched;
        *is_needed = *is_needed || (sched != NULL && has_stand_in(sched));
        has_program |= sched != NULL && has_command(sched);
    }
    if (!*is_needed || !has_program)
        return WEIR_OK;
    return weir_fail(error, WEIR_EPOLICY,
                     "a scenario with the policy 'command' and policies of a module: the process "
                     "of a module may start no program; give --in-process");
}

static weir_status start_process(struct sim_port *port, struct weir_error *error)
{
    const struct sim_policy_work work = { .main = sim_told_child, .state = port };
    return sim_told_start(&port->process, work, port->config.options, error);
}

weir_status sim_told_start(struct sim_policy_process *process, struct sim_policy_work work,
                           const struct sim_run_options *options, struct weir_error *error)
{
    const bool has_limit = options != NULL && options->policy_timeout_s > 0;
    work.timeout_s = has_limit ? options->policy_timeout_s : TIMEOUT_S;
    work.memory_mib = options == NULL ? 0 : options->policy_memory_mib;
    work.cpu_s = options == NULL ? 0 : options->policy_cpu_s;
    work.files = options == NULL ? 0 : options->policy_files;
    return sim_policy_process_start(process, &work, error);
}

/* ---- questions ---- */

static bool is_named(const char *policy, const struct weir_error *error)
{
    char name[WEIR_ERROR_TEXT];
    (void)snprintf(name, sizeof name, "policy %s", policy);
    return strstr(error->text, name) != NULL;
}

/* The sentence of a process may be one that its policy wrote over. */
void sim_told_blame(const struct sim_port *port, struct weir_error *error)
{
    const struct sim_sched *sched = port->sched;
    const char *scaling = sched->scaling.scaling->name;
    const char *queueing = sched->queueing.queueing->name;
    const char *placement = sched->placement.placement->name;
    const bool has_capacity = sched->capacity.capacity != NULL;
    if (error == NULL || is_named(scaling, error) || is_named(queueing, error) ||
        is_named(placement, error) ||
        (has_capacity && is_named(sched->capacity.capacity->name, error)))
        return;
    if (sim_scaling_is_stand_in(sched->scaling.scaling))
        weir_error_wrap(error, "scaling policy %s", scaling);
    else if (sim_queueing_is_stand_in(sched->queueing.queueing))
        weir_error_wrap(error, "queueing policy %s", queueing);
    else if (has_capacity && sim_capacity_is_stand_in(sched->capacity.capacity))
        weir_error_wrap(error, "capacity policy %s", sched->capacity.capacity->name);
    else
        weir_error_wrap(error, "placement policy %s", placement);
}

static weir_status lose(struct sim_port *port, struct weir_error *error)
{
    const weir_status status = sim_policy_process_lost(&port->process, error);
    port->is_lost = true;
    sim_told_blame(port, error);
    return status;
}

/* What it said to the question; a failure with its sentence in `error`. */
static weir_status hear(struct sim_port *port, struct sim_told_answer *answer,
                        struct weir_error *error)
{
    struct sim_line *line = &port->process.line;
    bool is_heard = false;
    if (port->is_lost || sim_line_pass(line) != WEIR_OK ||
        sim_line_get(line, answer, sizeof *answer) != WEIR_OK ||
        !sim_policy_is_status(answer->status))
        return lose(port, error);
    port->forecast_error = answer->forecast_error;
    if (answer->status == WEIR_OK)
        return WEIR_OK;
    const weir_status status =
        sim_policy_process_failure(&port->process, (weir_status)answer->status, error, &is_heard);
    if (!is_heard)
        return lose(port, error);
    sim_told_blame(port, error);
    sim_line_speak(line);
    return status;
}

static weir_status ask(struct sim_port *port, struct sim_told told, const struct weir_call *call,
                       struct sim_told_answer *answer, struct weir_error *error)
{
    (void)tell_one(port, told, call, call == NULL ? 0 : sizeof *call);
    return hear(port, answer, error);
}

weir_status sim_told_begin(struct sim_port *port, struct weir_error *error)
{
    struct sim_told_answer answer = { .status = WEIR_OK };
    bool needed = false;
    WEIR_TRY(is_needed(port->config.scenario, &needed, error));
    if (needed) {
        WEIR_TRY(start_process(port, error));
        port->is_isolated = true;
        WEIR_TRY(ask(port, (struct sim_told){ .kind = SIM_TOLD_BEGIN }, NULL, &answer, error));
        sim_line_speak(&port->process.line);
    }
    const struct weir_host_config config = sim_port_host_config(port);
    return sim_port_open_host(port, &config, &port->host, error);
}

void sim_told_end(struct sim_port *port)
{
    sim_policy_process_stop(&port->process);
    sim_told_lists_destroy(port->lists);
    weir_host_destroy(port->host);
}

weir_status sim_told_replace(struct sim_port *port)
{
    const struct weir_host_config config = sim_port_host_config(port);
    struct sim_told_answer answer = { .status = WEIR_OK };
    WEIR_TRY(sim_port_set_usage(port, port->host));
    if (!port->is_isolated)
        return weir_host_replace(port->host, &config, error_of(port));
    const struct sim_told told = { .kind = SIM_TOLD_REPLACE };
    (void)tell_one(port, told, &port->sched, sizeof port->sched);
    WEIR_TRY(hear(port, &answer, error_of(port)));
    sim_line_speak(&port->process.line);
    return weir_host_replace(port->host, &config, error_of(port));
}

weir_status sim_told_decide(struct sim_port *port, const struct weir_call *call,
                            const struct weir_plan **plan, int64_t *wall_ns)
{
    struct weir_error *error = error_of(port);
    if (!port->is_isolated) {
        const weir_status status = weir_host_decide(port->host, call, plan, error);
        *wall_ns = weir_host_stats(port->host).wall_last_ns;
        return status;
    }
    struct weir_plan_lists lists = { .size = sizeof lists };
    struct sim_told_answer answer = { .status = WEIR_OK };
    const weir_status status =
        ask(port, (struct sim_told){ .kind = SIM_TOLD_DECIDE }, call, &answer, error);
    if (status != WEIR_OK) {
        WEIR_TRY(weir_host_follow(port->host, call, NULL, plan, NULL));
        return status;
    }
    if (sim_told_plan_get(&port->process.line, &port->lists, &lists) != WEIR_OK)
        return lose(port, error);
    sim_line_speak(&port->process.line);
    *wall_ns = answer.wall_ns;
    return weir_host_follow(port->host, call, &lists, plan, error);
}

static weir_status write_text(void *state, const char *text, size_t length)
{
    return fwrite(text, 1, length, state) == length ? WEIR_OK : WEIR_EIO;
}

weir_status sim_told_export(struct sim_port *port, const struct weir_call *call, FILE *out)
{
    struct weir_error *error = error_of(port);
    const struct weir_sink sink = { write_text, out };
    struct sim_told_answer answer = { .status = WEIR_OK };
    char part[4096];
    if (!port->is_isolated)
        return weir_host_export_call(port->host, call, &sink);
    WEIR_TRY(ask(port, (struct sim_told){ .kind = SIM_TOLD_EXPORT }, call, &answer, error));
    for (uint64_t left = answer.id; left > 0 && answer.id < MOST_DOCUMENT;) {
        const size_t size = left < sizeof part ? (size_t)left : sizeof part;
        if (sim_line_get(&port->process.line, part, size) != WEIR_OK)
            return lose(port, error);
        WEIR_TRY(write_text(out, part, size));
        left -= size;
    }
    sim_line_speak(&port->process.line);
    return WEIR_OK;
}

/* ---- what is told ---- */

weir_status sim_told_node(struct sim_port *port, uint32_t index, struct weir_error *error)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    WEIR_TRY(sim_belief_node(port->config.scenario, index, gpus, &spec, error));
    const weir_status status = weir_host_add_node(port->host, &spec, NULL, error);
    return tell_short(port, (struct sim_told){ SIM_TOLD_NODE, .status = status, .index = index });
}

weir_status sim_told_node_flags(struct sim_port *port, uint32_t node, uint32_t flags,
                                int64_t now_ns)
{
    const weir_status status = weir_host_set_node(port->host, node, flags, now_ns);
    return tell_short(port, (struct sim_told){ SIM_TOLD_FLAGS, .status = status, .index = node,
                                               .value = (int32_t)flags, .at_ns = now_ns });
}

weir_status sim_told_offer(struct sim_port *port, const struct weir_node_offer *offer)
{
    const weir_status status = weir_host_offer_nodes(port->host, offer, error_of(port));
    return tell_one(port, (struct sim_told){ SIM_TOLD_OFFER, .status = status }, offer,
                    sizeof *offer);
}

weir_status sim_told_gpu_health(struct sim_port *port, uint32_t node, uint32_t gpu, bool is_healthy)
{
    const weir_status status = weir_host_set_gpu_health(port->host, node, gpu, is_healthy);
    return tell_short(port, (struct sim_told){ SIM_TOLD_HEALTH, .status = status, .index = node,
                                               .id = gpu, .value = is_healthy });
}

weir_status sim_told_pool(struct sim_port *port, const struct weir_pool_spec *pool)
{
    const size_t length = strlen(pool->name) + 1;
    const weir_status status = weir_host_add_pool(port->host, pool, NULL, error_of(port));
    return tell(port, (struct sim_told){ SIM_TOLD_POOL, .status = status, .id = length },
                (struct part){ pool, sizeof *pool }, (struct part){ pool->name, length });
}

weir_status sim_told_update(struct sim_port *port, uint32_t pool,
                            const struct weir_pool_update *update)
{
    const weir_status status = weir_host_update_pool(port->host, pool, update);
    return tell_one(port, (struct sim_told){ SIM_TOLD_UPDATE, .status = status, .index = pool },
                    update, sizeof *update);
}

weir_status sim_told_workload(struct sim_port *port, const char *name, uint32_t *index)
{
    const size_t length = strlen(name) + 1;
    const weir_status status = weir_host_add_workload(port->host, name, index, error_of(port));
    return tell_one(port, (struct sim_told){ SIM_TOLD_WORKLOAD, .status = status, .id = length },
                    name, length);
}

weir_status sim_told_queue_limit(struct sim_port *port, uint32_t workload, uint64_t limit)
{
    const weir_status status = weir_host_set_queue_limit(port->host, workload, limit);
    return tell_short(port, (struct sim_told){ SIM_TOLD_LIMIT, .status = status, .index = workload,
                                               .id = limit });
}

weir_status sim_told_mix(struct sim_port *port, const struct weir_mix *mix)
{
    const weir_status status = weir_host_set_mix(port->host, mix);
    return tell(port, (struct sim_told){ SIM_TOLD_MIX, .status = status, .index = mix->count },
                (struct part){ mix->shapes, mix->count * sizeof *mix->shapes },
                (struct part){ mix->frequencies, mix->count * sizeof *mix->frequencies });
}

weir_status sim_told_submit(struct sim_port *port, const struct weir_job_spec *job)
{
    if (!port->is_isolated)
        return weir_host_submit(port->host, job, error_of(port));
    struct weir_job_spec told = *job; /* both hosts know the same */
    told.throughput_count = 0;
    told.throughput = NULL;
    told.speedup = NULL;
    const weir_status status = weir_host_submit(port->host, &told, error_of(port));
    return tell(port, (struct sim_told){ SIM_TOLD_SUBMIT, .status = status },
                (struct part){ &told, sizeof told },
                (struct part){ job->groups, job->group_count * sizeof *job->groups });
}

weir_status sim_told_withdraw(struct sim_port *port, uint32_t workload, uint64_t job)
{
    const weir_status status = weir_host_withdraw(port->host, workload, job);
    return tell_short(port, (struct sim_told){ SIM_TOLD_WITHDRAW, .status = status,
                                               .index = workload, .id = job });
}

weir_status sim_told_ended(struct sim_port *port, uint32_t workload, uint64_t job)
{
    const weir_status status = weir_host_ended(port->host, workload, job, error_of(port));
    return tell_short(
        port, (struct sim_told){ SIM_TOLD_ENDED, .status = status, .index = workload, .id = job });
}

weir_status sim_told_resized(struct sim_port *port, uint32_t workload, uint64_t job,
                             struct sim_ranks_lost ranks)
{
    const struct weir_view *view =
        weir_host_view(port->host, sim_engine_now(port->config.context->engine));
    struct weir_job seen = { .size = sizeof seen };
    if (!weir_view_job(view, workload, job, &seen))
        return weir_fail(error_of(port), WEIR_ENOTFOUND, "job %llu is not known",
                         (unsigned long long)job);
    const uint32_t now = seen.groups[0].ranks - ranks.count;
    const uint32_t most = seen.groups[0].ranks_max - (ranks.may_come_back ? 0 : ranks.count);
    const weir_status status =
        weir_host_resize_job(port->host, workload, job, now, most, error_of(port));
    return tell_short(port,
                      (struct sim_told){ SIM_TOLD_RESIZED, .status = status, .index = workload,
                                         .value = (int32_t)now, .id = job, .at_ns = most });
}

weir_status sim_told_task(struct sim_port *port, const struct weir_measurement *task)
{
    const weir_status status = weir_host_measure(port->host, task);
    return tell_one(port, (struct sim_told){ SIM_TOLD_TASK, .status = status }, task, sizeof *task);
}

/* Devices that are in use alone are written. */
static size_t size_of(const struct weir_alloc *alloc)
{
    return alloc == NULL ? 0
                         : offsetof(struct weir_alloc, devices) +
                               alloc->device_count * sizeof alloc->devices[0];
}

weir_status sim_told_outcome(struct sim_port *port, const struct weir_outcome *outcome,
                             const struct weir_alloc *alloc)
{
    const weir_status status = weir_host_outcome(port->host, outcome, alloc, error_of(port));
    return tell(port, (struct sim_told){ SIM_TOLD_OUTCOME, .status = status, .id = size_of(alloc) },
                (struct part){ outcome, sizeof *outcome }, (struct part){ alloc, size_of(alloc) });
}

weir_status sim_told_state(struct sim_port *port, uint64_t worker, uint32_t state, int64_t now_ns)
{
    const weir_status status = weir_host_set_worker_state(port->host, worker, state, now_ns);
    return tell_short(port, (struct sim_told){ SIM_TOLD_STATE, .status = status, .id = worker,
                                               .value = (int32_t)state, .at_ns = now_ns });
}

weir_status sim_told_adopt(struct sim_port *port, uint64_t worker, struct weir_owner owner,
                           const struct weir_alloc *alloc)
{
    const weir_status status =
        weir_host_adopt_worker(port->host, worker, owner, alloc, error_of(port));
    return tell(port, (struct sim_told){ SIM_TOLD_ADOPT, .status = status, .id = worker },
                (struct part){ &owner, sizeof owner }, (struct part){ alloc, sizeof *alloc });
}

weir_status sim_told_estimate(struct sim_port *port, uint32_t pool, struct weir_estimate estimate)
{
    const weir_status status = weir_host_set_estimate(port->host, pool, estimate);
    return tell_one(port, (struct sim_told){ SIM_TOLD_ESTIMATE, .status = status, .index = pool },
                    &estimate, sizeof estimate);
}
