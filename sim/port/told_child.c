/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process of a module (see told.h): a host with the policies themselves, that does what the
 * line says. Begun as a copy of weir's process, so that the scenario is there.
 *
 * A telling that ends otherwise than on weir's side is remembered until the next question, and is
 * its answer: a policy that fails when it is told something has failed.
 */
#include "sim/port/told.h"

#include "sim/port/module.h"
#include "sim/port/port_state.h"
#include "sim/scenario/belief.h"

#include <stdlib.h>
#include <string.h>

struct child {
    struct sim_port *port;
    struct sim_line *line;
    struct weir_host *host;
    weir_status failed; /* of a telling, the first that did; WEIR_OK = none */
    struct weir_error failure, error;
    void *block; /* of the list that is read */
    size_t block_size;
};

/* ---- reading ---- */

static weir_status get(struct child *child, void *bytes, size_t size)
{
    return sim_line_get(child->line, bytes, size);
}

/* A list of so many bytes, until the next one; NULL when it cannot be had. */
static void *get_list(struct child *child, size_t size)
{
    if (size >= child->block_size) {
        void *grown = realloc(child->block, size * 2 + 1);
        if (grown == NULL)
            return NULL;
        child->block = grown;
        child->block_size = size * 2 + 1;
    }
    return get(child, child->block, size) == WEIR_OK ? child->block : NULL;
}

/* ---- telling the host here ---- */

static weir_status node(struct child *child, const struct sim_told *told)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    WEIR_TRY(
        sim_belief_node(child->port->config.scenario, told->index, gpus, &spec, &child->error));
    return weir_host_add_node(child->host, &spec, NULL, &child->error);
}

static weir_status pool(struct child *child, const struct sim_told *told)
{
    struct weir_pool_spec spec;
    WEIR_TRY(get(child, &spec, sizeof spec));
    spec.name = get_list(child, told->id);
    return weir_host_add_pool(child->host, &spec, NULL, &child->error);
}

static weir_status mix(struct child *child, const struct sim_told *told)
{
    struct weir_mix mix = { .count = told->index };
    const size_t shapes = mix.count * sizeof *mix.shapes;
    char *list = get_list(child, shapes + mix.count * sizeof *mix.frequencies);
    if (list == NULL)
        return WEIR_ENOMEM;
    mix.shapes = (const void *)list;
    mix.frequencies = (const void *)(list + shapes);
    return weir_host_set_mix(child->host, &mix);
}

static weir_status submit(struct child *child)
{
    struct weir_job_spec spec;
    WEIR_TRY(get(child, &spec, sizeof spec));
    spec.groups = get_list(child, spec.group_count * sizeof *spec.groups);
    return weir_host_submit(child->host, &spec, &child->error);
}

static weir_status outcome(struct child *child, const struct sim_told *told)
{
    struct weir_outcome outcome;
    struct weir_alloc alloc;
    WEIR_TRY(get(child, &outcome, sizeof outcome));
    WEIR_TRY(get(child, &alloc, told->id));
    return weir_host_outcome(child->host, &outcome, told->id > 0 ? &alloc : NULL, &child->error);
}

static weir_status adopt(struct child *child, const struct sim_told *told)
{
    struct weir_owner owner;
    struct weir_alloc alloc;
    WEIR_TRY(get(child, &owner, sizeof owner));
    WEIR_TRY(get(child, &alloc, sizeof alloc));
    return weir_host_adopt_worker(child->host, told->id, owner, &alloc, &child->error);
}

static weir_status update(struct child *child, const struct sim_told *told)
{
    struct weir_pool_update update;
    WEIR_TRY(get(child, &update, sizeof update));
    return weir_host_update_pool(child->host, told->index, &update);
}

static weir_status offer(struct child *child)
{
    struct weir_node_offer offer;
    WEIR_TRY(get(child, &offer, sizeof offer));
    return weir_host_offer_nodes(child->host, &offer, &child->error);
}

static weir_status estimate(struct child *child, const struct sim_told *told)
{
    struct weir_estimate estimate;
    WEIR_TRY(get(child, &estimate, sizeof estimate));
    return weir_host_set_estimate(child->host, told->index, estimate);
}

static weir_status task(struct child *child)
{
    struct weir_measurement task;
    WEIR_TRY(get(child, &task, sizeof task));
    return weir_host_measure(child->host, &task);
}

static weir_status workload(struct child *child, const struct sim_told *told)
{
    const char *name = get_list(child, told->id);
    return weir_host_add_workload(child->host, name, NULL, &child->error);
}

static weir_status do_as_told(struct child *child, const struct sim_told *told)
{
    switch ((enum sim_told_kind)told->kind) {
    case SIM_TOLD_NODE:
        return node(child, told);
    case SIM_TOLD_FLAGS:
        return weir_host_set_node(child->host, told->index, (uint32_t)told->value, told->at_ns);
    case SIM_TOLD_OFFER:
        return offer(child);
    case SIM_TOLD_HEALTH:
        return weir_host_set_gpu_health(child->host, told->index, (uint32_t)told->id,
                                        told->value != 0);
    case SIM_TOLD_POOL:
        return pool(child, told);
    case SIM_TOLD_UPDATE:
        return update(child, told);
    case SIM_TOLD_WORKLOAD:
        return workload(child, told);
    case SIM_TOLD_LIMIT:
        return weir_host_set_queue_limit(child->host, told->index, told->id);
    case SIM_TOLD_MIX:
        return mix(child, told);
    case SIM_TOLD_SUBMIT:
        return submit(child);
    case SIM_TOLD_WITHDRAW:
        return weir_host_withdraw(child->host, told->index, told->id);
    case SIM_TOLD_ENDED:
        return weir_host_ended(child->host, told->index, told->id, &child->error);
    case SIM_TOLD_RESIZED:
        return weir_host_resize_job(child->host, told->index, told->id, (uint32_t)told->value,
                                    (uint32_t)told->at_ns, &child->error);
    case SIM_TOLD_TASK:
        return task(child);
    case SIM_TOLD_OUTCOME:
        return outcome(child, told);
    case SIM_TOLD_STATE:
        return weir_host_set_worker_state(child->host, told->id, (uint32_t)told->value,
                                          told->at_ns);
    case SIM_TOLD_ADOPT:
        return adopt(child, told);
    case SIM_TOLD_ESTIMATE:
        return estimate(child, told);
    case SIM_TOLD_BEGIN:
    case SIM_TOLD_REPLACE:
    case SIM_TOLD_DECIDE:
    case SIM_TOLD_EXPORT:
        break;
    }
    return WEIR_EINVARIANT;
}

/* The first one that went otherwise than there: what fails after it may follow from it. */
static void note_failure(struct child *child, const struct sim_told *told, weir_status status)
{
    if (status == (weir_status)told->status || child->failed != WEIR_OK)
        return;
    child->failed = status == WEIR_OK ? WEIR_EINVAL : status;
    if (child->error.text[0] == '\0')
        (void)weir_fail(&child->error, status, "it failed when it was told of something: %s",
                        weir_status_text(child->failed));
    child->failure = child->error;
}

/* ---- questions ---- */

static weir_status answer(struct child *child, weir_status status, uint64_t id)
{
    const struct sim_told_answer said = { .status = status,
                                          .id = id,
                                          .wall_ns = weir_host_stats(child->host).wall_last_ns,
                                          .forecast_error = weir_host_forecast_error(child->host) };
    const struct weir_error *error = child->failed == WEIR_OK ? &child->error : &child->failure;
    sim_line_speak(child->line);
    WEIR_TRY(sim_line_put(child->line, &said, sizeof said));
    return status == WEIR_OK ? WEIR_OK : sim_line_put(child->line, error, sizeof *error);
}

/* The configuration with the policies themselves in it. */
static weir_status load_policies(struct child *child, struct weir_host_config *config)
{
    *config = sim_port_host_config(child->port);
    WEIR_TRY(sim_placement_load(&config->placement, &child->error));
    WEIR_TRY(sim_scaling_load(&config->scaling, &child->error));
    WEIR_TRY(sim_queueing_load(&config->queueing, &child->error));
    return sim_capacity_load(&config->capacity, &child->error);
}

static weir_status begin(struct child *child)
{
    struct weir_host_config config;
    weir_status status = load_policies(child, &config);
    if (status == WEIR_OK)
        status = sim_port_open_host(child->port, &config, &child->host, &child->error);
    return answer(child, status, 0);
}

static weir_status replace(struct child *child)
{
    struct weir_host_config config;
    WEIR_TRY(get(child, &child->port->sched, sizeof child->port->sched));
    weir_status status = child->failed != WEIR_OK ? child->failed : load_policies(child, &config);
    if (status == WEIR_OK)
        status = sim_port_set_usage(child->port, child->host);
    if (status == WEIR_OK)
        status = weir_host_replace(child->host, &config, &child->error);
    return answer(child, status, 0);
}

static weir_status decide(struct child *child)
{
    const struct weir_plan *plan = NULL;
    struct weir_call call;
    WEIR_TRY(get(child, &call, sizeof call));
    const weir_status status = child->failed != WEIR_OK
                                   ? child->failed
                                   : weir_host_decide(child->host, &call, &plan, &child->error);
    WEIR_TRY(answer(child, status, 0));
    const uint32_t pools = weir_host_view(child->host, call.now_ns)->pool_count;
    return status == WEIR_OK ? sim_told_plan_put(child->line, plan, pools) : WEIR_OK;
}

static weir_status write_text(void *state, const char *text, size_t length)
{
    return fwrite(text, 1, length, state) == length ? WEIR_OK : WEIR_EIO;
}

static weir_status export(struct child *child)
{
    struct weir_call call;
    char *text = NULL;
    size_t length = 0;
    WEIR_TRY(get(child, &call, sizeof call));
    FILE *out = open_memstream(&text, &length);
    const struct weir_sink sink = { write_text, out };
    weir_status status =
        out == NULL ? WEIR_ENOMEM : weir_host_export_call(child->host, &call, &sink);
    if (out == NULL || fclose(out) != 0)
        status = WEIR_ENOMEM;
    weir_status said = answer(child, status, length);
    if (said == WEIR_OK && status == WEIR_OK)
        said = sim_line_put(child->line, text, length);
    free(text);
    return said;
}

static weir_status serve(struct child *child, const struct sim_told *told)
{
    static weir_status (*const questions[])(struct child *) = { begin, replace, decide, export };
    child->error.text[0] = '\0';
    if (told->kind < SIM_TOLD_BEGIN) {
        note_failure(child, told, do_as_told(child, told));
        return WEIR_OK;
    }
    WEIR_TRY(questions[told->kind - SIM_TOLD_BEGIN](child));
    return sim_line_pass(child->line);
}

int sim_told_child(void *state)
{
    struct sim_port *port = state;
    struct child child = { .port = port,
                           .line = &port->process.line,
                           .error = { .phase = -1, .pool = -1 } };
    struct sim_told told;
    sim_policy_process_turn(&port->process);
    weir_status status = sim_line_listen(child.line);
    while (status == WEIR_OK) {
        status = get(&child, &told, sizeof told);
        if (status == WEIR_OK)
            status = serve(&child, &told);
    }
    weir_host_destroy(child.host);
    free(child.block);
    return 0;
}
