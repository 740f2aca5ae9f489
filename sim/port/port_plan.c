/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The half of the port that applies a plan to the truth (see port.h): which action goes
 * first, what becomes of groups, and what the truth refuses.
 */
#include "sim/port/port_state.h"

#include "sim/engine/room.h"
#include "sim/record/record.h"
#include "weir/host.h"
#include "weir/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static weir_status apply_stop(struct sim_port *port, const struct weir_action *action,
                              uint32_t *reason)
{
    struct sim_worker *worker = sim_workers_find(port->config.workers, action->worker);
    if (worker == NULL)
        return WEIR_OK; /* died since the view was taken */
    const struct sim_driver *driver = &port->config.drivers[worker->driver];
    const bool is_whole =
        sim_worker_id(worker) == action->worker; /* a group stops with its first member */
    if (!is_whole ||
        (driver->ops->may_stop != NULL && !driver->ops->may_stop(driver->self, worker))) {
        *reason = WEIR_REASON_GRACE;
        return WEIR_OK;
    }
    return sim_port_end_worker(port, worker, SIM_STOP_PLAN, "stopped");
}

/* Time passes between what a plan knows and what it does: the run that it adds ranks to may be
 * over, and the job wait, or be gone. */
static bool takes_time(const struct sim_port *port)
{
    const struct sim_sched *sched = port->sched;
    return sched->view_age_ns > 0 || sched->latency_ns > 0 || sched->latency_per_worker_ns > 0;
}

/* Whether the job is still what the plan took it for, as far as the scheduler has heard. */
static bool is_known(struct sim_port *port, struct sim_start *start)
{
    struct weir_job job = { .size = sizeof job };
    if (start->owner.kind != WEIR_OWNER_JOB || !takes_time(port))
        return true;
    const struct weir_view *view =
        weir_host_view(port->host, sim_engine_now(port->config.context->engine));
    if (!weir_view_job(view, start->owner.index, start->owner.id, &job))
        return false;
    start->is_more = job.state == WEIR_JOB_RUNNING;
    return job.state != WEIR_JOB_WAITING;
}

static weir_status start_places(struct sim_port *port, struct weir_owner owner,
                                struct sim_places places, uint32_t *reason)
{
    struct sim_start start = { .owner = owner, .places = places };
    const struct sim_driver *driver = sim_port_driver(port, start.owner);
    if (is_known(port, &start))
        WEIR_TRY(driver->ops->start(driver->self, &start, reason));
    else
        *reason = WEIR_REASON_FINISHED;
    return sim_port_tell_places(port, &start, *reason);
}

static weir_status apply_start(struct sim_port *port, const struct weir_action *action,
                               uint32_t *reason)
{
    const struct sim_place place = { action->worker, action->alloc };
    sim_workers_foresee_node(port->config.workers, place.alloc.node);
    return start_places(port, action->owner, (struct sim_places){ &place, 1 }, reason);
}

/* The members of a group follow each other in the plan: the first one starts them all. */
static weir_status start_group(struct sim_port *port, const struct weir_plan *plan, uint32_t first)
{
    const struct weir_action *leader = weir_plan_action(plan, first);
    uint32_t count = 0;
    uint32_t reason = WEIR_REASON_NONE;
    while (first + count < weir_plan_count(plan) &&
           weir_plan_action(plan, first + count)->group == leader->group)
        count++;
    assert(count > 0); /* the first is one of its group */
    struct sim_place *places = malloc(count * sizeof(*places));
    if (places == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_action *action = weir_plan_action(plan, first + i);
        places[i] = (struct sim_place){ action->worker, action->alloc };
    }
    const weir_status status =
        start_places(port, leader->owner, (struct sim_places){ places, count }, &reason);
    free(places);
    for (uint32_t i = 0; i < count; i++)
        port->outcomes[first + i] = reason;
    return status;
}

static void apply_wake(struct sim_port *port, const struct weir_action *action)
{
    const int64_t now_ns = sim_engine_now(port->config.context->engine);
    const struct sim_event event = { .time_ns = action->value > now_ns ? action->value : now_ns + 1,
                                     .kind = SIM_KIND_WAKE,
                                     .argument = action->causes == 0 ? (uint64_t)WEIR_CAUSE_WAKE
                                                                     : action->causes,
                                     .phase = SIM_PHASE_DECISION };
    sim_port_plan_look(port, &event);
}

static void set_slots(struct sim_port *port, const struct weir_action *action)
{
    const struct sim_driver *driver = sim_port_driver(port, action->owner);
    if (driver->ops->set_slots != NULL)
        driver->ops->set_slots(driver->self, action->owner.index, (uint32_t)action->value);
}

/* A job that may not wait is its driver's again. */
static weir_status apply_deny(struct sim_port *port, const struct weir_action *action)
{
    if (action->owner.kind != WEIR_OWNER_JOB || action->reason != WEIR_REASON_QUEUE_FULL)
        return WEIR_OK;
    const struct sim_driver *driver = sim_port_driver(port, action->owner);
    return driver->ops->denied(driver->self, action->owner.id, false);
}

static weir_status apply_preempt(struct sim_port *port, const struct weir_action *action)
{
    const struct sim_driver *driver = sim_port_driver(port, action->owner);
    if (driver->ops->preempt == NULL)
        return weir_fail(port->config.context->error, WEIR_EUNSUPPORTED,
                         "the plan preempts a stage; stages are scaled");
    WEIR_TRY(sim_port_tell_all(port)); /* what it held is given to others under the same plan */
    return driver->ops->preempt(driver->self, action->owner.id, action->value);
}

/* The supplier says what comes of it, now or later; without one nodes come from nowhere. */
static weir_status apply_nodes(struct sim_port *port, const struct weir_action *action,
                               uint32_t *reason)
{
    const struct sim_supplier *supplier = &port->config.supplier;
    *reason = WEIR_REASON_NO_SUPPLIER;
    if (supplier->request != NULL && action->verb == WEIR_VERB_REQUEST_NODE)
        WEIR_TRY(supplier->request(supplier->self, (uint32_t)action->value, reason));
    else if (supplier->request != NULL)
        WEIR_TRY(supplier->release(supplier->self, action->node, reason));
    return *reason == WEIR_REASON_NONE
               ? WEIR_OK
               : sim_port_supply_outcome(port, WEIR_OUTCOME_REFUSED, action->node, *reason);
}

static weir_status apply_action(struct sim_port *port, const struct weir_action *action,
                                uint32_t *reason)
{
    switch ((enum weir_verb)action->verb) {
    case WEIR_VERB_STOP:
        return apply_stop(port, action, reason);
    case WEIR_VERB_START:
        return apply_start(port, action, reason);
    case WEIR_VERB_SET_SLOTS:
        set_slots(port, action);
        return WEIR_OK;
    case WEIR_VERB_WAKE:
        apply_wake(port, action);
        return WEIR_OK;
    case WEIR_VERB_DENY:
        return apply_deny(port, action);
    case WEIR_VERB_CUT:
        return sim_port_apply_cut(port, action);
    case WEIR_VERB_RESERVE:
        sim_port_apply_reserve(port, action);
        return WEIR_OK;
    case WEIR_VERB_ANNOTATE:
        return WEIR_OK;
    case WEIR_VERB_REQUEST_NODE:
    case WEIR_VERB_RELEASE_NODE:
        return apply_nodes(port, action, reason);
    case WEIR_VERB_MOVE:
    case WEIR_VERB_PREEMPT:
        return apply_preempt(port, action);
    case WEIR_VERB_ADMIT:
    case WEIR_VERB_RESIZE:
    case WEIR_VERB_COUNT:
        break;
    }
    return weir_fail(port->config.context->error, WEIR_EUNSUPPORTED,
                     "the plan says %s, which no worker here knows", weir_verb_name(action->verb));
}

/* Whether the plan keeps this worker after all: a later START takes it back under its id. */
static bool is_kept(const struct weir_plan *plan, const struct weir_action *stop)
{
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *action = weir_plan_action(plan, i);
        if (action->verb == WEIR_VERB_START && action->reused != 0 &&
            action->worker == stop->worker)
            return true;
    }
    return false;
}

/* Stops, then slots and the rest, then starts: what stops make room for must be free first. */
enum { TURN_STOP, TURN_REST, TURN_START, TURN_COUNT, TURN_NEVER };

static int turn_of(const struct weir_action *action)
{
    if (action->verb == WEIR_VERB_START)
        return action->reused != 0 ? TURN_NEVER : TURN_START;
    return action->verb == WEIR_VERB_STOP || action->verb == WEIR_VERB_PREEMPT ? TURN_STOP
                                                                               : TURN_REST;
}

/* Before jobs of the plan leave, for its rows. */
static void note_kinds(struct sim_port *port, const struct weir_plan *plan)
{
    if (!sim_recorder_keeps(port->config.context->recorder, SIM_KEEP_JOBS))
        return;
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_owner *owner = &weir_plan_action(plan, i)->owner;
        const bool is_job = owner->kind == WEIR_OWNER_JOB && owner->index != WEIR_NO_INDEX;
        port->kinds[i] = is_job ? sim_port_job_kind(port, owner->index, owner->id) : WEIR_NO_INDEX;
    }
}

/* A group is started by its first member, which says so for all. */
static weir_status take_turn(struct sim_port *port, const struct weir_plan *plan, uint32_t index)
{
    const struct weir_action *action = weir_plan_action(plan, index);
    if (turn_of(action) == TURN_START && action->group != 0)
        return action->group == action->worker ? start_group(port, plan, index) : WEIR_OK;
    port->outcomes[index] = WEIR_REASON_NONE;
    return apply_action(port, action, &port->outcomes[index]);
}

/* The turns that some action of the plan has, as bits. */
static uint32_t turns_of(const struct weir_plan *plan, uint32_t count)
{
    uint32_t turns = 0;
    for (uint32_t i = 0; i < count; i++)
        turns |= UINT32_C(1) << turn_of(weir_plan_action(plan, i));
    return turns;
}

/* The actions of one turn, in their order. */
static weir_status apply_turn(struct sim_port *port, const struct weir_plan *plan, int turn,
                              bool keeps_some)
{
    const uint32_t count = weir_plan_count(plan);
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_action *action = weir_plan_action(plan, i);
        if (turn_of(action) != turn || (turn == TURN_STOP && keeps_some && is_kept(plan, action)))
            continue;
        WEIR_TRY(take_turn(port, plan, i));
    }
    return WEIR_OK;
}

weir_status sim_port_apply_plan(struct sim_port *port, const struct weir_plan *plan,
                                uint32_t *refused)
{
    const uint32_t count = weir_plan_count(plan);
    if (count == 0) {
        sim_port_count_reserved(port);
        return WEIR_OK;
    }
    const uint32_t turns = turns_of(plan, count);
    SIM_ROOM(port->outcomes, port->outcome_capacity, count + 1);
    SIM_ROOM(port->kinds, port->kind_capacity, count + 1);
    memset(port->outcomes, 0, count * sizeof(*port->outcomes));
    note_kinds(port, plan);
    for (int turn = 0; turn < TURN_COUNT; turn++)
        if ((turns >> turn & 1) != 0)
            WEIR_TRY(apply_turn(port, plan, turn, (turns >> TURN_NEVER & 1) != 0));
    for (uint32_t i = 0; i < count; i++)
        *refused += port->outcomes[i] != WEIR_REASON_NONE ? 1 : 0;
    sim_port_count_reserved(port);
    return WEIR_OK;
}

uint32_t sim_port_count_refused(const struct sim_port *port, const struct weir_plan *plan)
{
    uint32_t refused = 0;
    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        if (weir_plan_action(plan, i)->verb == WEIR_VERB_START &&
            port->outcomes[i] != WEIR_REASON_NONE && port->outcomes[i] != WEIR_REASON_FINISHED)
            refused++;
    return refused;
}
