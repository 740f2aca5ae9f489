/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers that died and pipelines that end (see recovery.h). */
#include "sim/pipeline/recovery.h"

#include "sim/engine/room.h"
#include "sim/pipeline/flow.h"
#include "sim/pipeline/service.h"

#include <math.h>
#include <stdlib.h>

enum { WORKER_DEATHS = 4, TASK_DEATHS = 3 };
static const double SETUP_ALPHA = 0.05; /* of the binomial test */
static const double LONG_TASK = 0.6;    /* of the lifetime: such a task is not interrupted */

static void count_deaths(struct sim_item_slab *slab, uint32_t head, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, head = slab->items[head].next)
        slab->items[head].deaths++;
}

bool sim_recovery_gives_up(const struct sim_item *item)
{
    return item->deaths > TASK_DEATHS;
}

void sim_recovery_ask_for_plan(struct sim_pipeline_run *run)
{
    const int64_t now_ns = sim_engine_now(run->context->engine);
    if (run->asked_ns == now_ns)
        return;
    run->asked_ns = now_ns;
    run->config.services->wake(run->config.world, WEIR_CAUSE_WORKERS);
}

static weir_status plan_return(struct sim_stage_run *stage, const struct sim_hand *hand,
                               uint32_t deaths)
{
    struct sim_loop_stage *loop = &stage->loop;
    SIM_ROOM(loop->returns, loop->return_capacity, loop->return_count + 1);
    const uint32_t count = hand->worker->places;
    struct sim_place *places = malloc(count * sizeof(*places));
    if (places == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        places[i] = sim_worker_place(hand->worker, i);
    loop->returns[loop->return_count++] =
        (struct sim_return){ .places = places, .count = count, .deaths = deaths };
    return WEIR_OK;
}

/* The task it worked on is tried again, unless it is given up. */
static void count_retries(const struct sim_stage_run *stage, const struct sim_hand *hand)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    const bool has_task = hand->worker->state == SIM_WORKER_BUSY && hand->task_count > 0;
    if (!has_task || sim_recovery_gives_up(&run->items.items[hand->task_head]))
        return;
    for (uint32_t i = 0; i < hand->task_count; i++)
        sim_meter_retry(run->context->meter, sim_engine_now(run->context->engine), false);
}

weir_status sim_recovery_died(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    if (run->spec->semantics == SIM_SEMANTICS_RUNTIME) {
        count_deaths(&run->items, hand->task_head, hand->task_count);
        count_deaths(&run->items, hand->held.head, hand->held.count);
    }
    count_retries(stage, hand);
    if (run->spec->semantics != SIM_SEMANTICS_RUNTIME)
        return WEIR_OK;
    switch ((enum sim_restart)run->spec->restart) {
    case SIM_RESTART_SAME_PLACE:
        return plan_return(stage, hand, hand->deaths + 1U);
    case SIM_RESTART_DECIDE:
        sim_recovery_ask_for_plan(run);
        return WEIR_OK;
    case SIM_RESTART_NEXT_PLAN:
        break;
    }
    return WEIR_OK;
}

/* It starts again under its id, in its place, if the cluster lets it. */
static weir_status restart(struct sim_stage_run *stage, const struct sim_return *back,
                           uint32_t *reason)
{
    const struct sim_driver_config *config = &stage->pipeline->config;
    const struct sim_start start = { .owner = sim_stage_owner(stage),
                                     .places = { back->places, back->count } };
    struct sim_hand *hand = NULL;
    WEIR_TRY(sim_pipeline_add_worker(stage, &start, &hand, reason));
    if (hand == NULL)
        return WEIR_OK;
    hand->deaths = (uint16_t)back->deaths;
    return config->services->started(config->world, &start);
}

/* Its node or its GPU is lost, and may come back. */
static bool is_dead(uint32_t reason)
{
    return reason == WEIR_REASON_NODE_DOWN || reason == WEIR_REASON_NO_GPU;
}

weir_status sim_recovery_turn(struct sim_stage_run *stage, bool *has_moved)
{
    struct sim_loop_stage *loop = &stage->loop;
    uint32_t kept = 0;
    if (loop->return_count == 0)
        return WEIR_OK;
    for (uint32_t i = 0; i < loop->return_count; i++) {
        struct sim_return *back = &loop->returns[i];
        uint32_t reason = WEIR_REASON_NONE;
        if (back->deaths < WORKER_DEATHS && !loop->is_done)
            WEIR_TRY(restart(stage, back, &reason));
        if (!is_dead(reason)) {
            free(back->places); /* it runs, or another took its place: the next plan decides */
            continue;
        }
        back->deaths++;
        loop->returns[kept++] = *back;
    }
    loop->return_count = kept;
    *has_moved = *has_moved || kept > 0;
    if (kept > 0 || loop->pool_tasks == 0 || stage->worker_count > 0)
        return WEIR_OK;
    return sim_recovery_give_up(stage->pipeline, "tasks wait, but every worker was given up");
}

int64_t sim_recovery_pause_ns(uint32_t attempt)
{
    return (INT64_C(2) << (attempt < 3 ? attempt : 3)) * SIM_NS_PER_S;
}

/* P(X >= least) of a binomial variable. */
static double upper_tail(uint64_t tried, uint64_t least, double share)
{
    double sum = 0;
    int sign = 0;
    if (!(share > 0) || !(share < 1))
        return share > 0 || least == 0 ? 1 : 0;
    for (uint64_t k = least; k <= tried; k++) {
        const double ways = lgamma_r((double)tried + 1, &sign) - lgamma_r((double)k + 1, &sign) -
                            lgamma_r((double)(tried - k) + 1, &sign);
        sum += exp(ways + (double)k * log(share) + (double)(tried - k) * log1p(-share));
    }
    return sum;
}

static weir_status judge_setups(struct sim_stage_run *stage)
{
    struct sim_loop_stage *loop = &stage->loop;
    const double share = stage->spec->max_setup_failure;
    if (stage->pipeline->spec->semantics != SIM_SEMANTICS_RUNTIME)
        return WEIR_OK;
    loop->setups_tried++;
    loop->setups_failed++;
    if ((double)loop->setups_failed <= share * (double)loop->setups_tried ||
        upper_tail(loop->setups_tried, loop->setups_failed, share) >= SETUP_ALPHA)
        return WEIR_OK;
    return sim_recovery_give_up(stage->pipeline, "too many set-ups failed");
}

static bool may_repeat(const struct sim_stage_run *stage, const struct sim_hand *hand)
{
    return stage->pipeline->spec->semantics == SIM_SEMANTICS_RUNTIME &&
           hand->setup_tries + 1U < stage->spec->setup_attempts;
}

weir_status sim_recovery_setup_failed(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    if (may_repeat(stage, hand)) {
        const double pause_s = sim_time_s(sim_recovery_pause_ns(hand->setup_tries++));
        return run->flow->begin_setup(stage, hand,
                                      pause_s + sim_service_setup_s(stage, hand->ordinal));
    }
    WEIR_TRY(sim_pipeline_end_worker(stage, hand, SIM_STOP_SETUP_FAILED, "setup failed"));
    WEIR_TRY(run->flow->changed(run, stage->position));
    return judge_setups(stage);
}

/* The oldest worker above the limit; those that will be above it later give the time to look. */
static struct sim_hand *oldest(const struct sim_stage_run *stage, int64_t now_ns, int64_t *next_ns)
{
    const int64_t limit_ns = stage->spec->max_lifetime_ns;
    struct sim_hand *found = NULL;
    for (uint32_t i = 0; i < stage->positions; i++) {
        struct sim_hand *hand = stage->hands[i];
        if (hand == NULL || hand->worker->state == SIM_WORKER_SETUP)
            continue;
        if (now_ns - hand->worker->ready_ns <= limit_ns)
            *next_ns = hand->worker->ready_ns + limit_ns + 1 < *next_ns
                           ? hand->worker->ready_ns + limit_ns + 1
                           : *next_ns;
        else if (found == NULL || hand->worker->ready_ns < found->worker->ready_ns)
            found = hand;
    }
    return found;
}

weir_status sim_recovery_retire(struct sim_stage_run *stage, int64_t *next_ns)
{
    struct sim_pipeline_run *run = stage->pipeline;
    struct sim_loop_stage *loop = &stage->loop;
    const int64_t now_ns = sim_engine_now(run->context->engine);
    const int64_t limit_ns = stage->spec->max_lifetime_ns;
    if (limit_ns == 0 || stage->ranks > 1)
        return WEIR_OK; /* the original does not restart groups for their age */
    struct sim_hand *hand = oldest(stage, now_ns, next_ns);
    if (hand == NULL)
        return WEIR_OK;
    if (loop->restarted_ns >= 0 && now_ns - loop->restarted_ns < run->spec->restart_gap_ns) {
        const int64_t due_ns = loop->restarted_ns + run->spec->restart_gap_ns;
        *next_ns = due_ns < *next_ns ? due_ns : *next_ns;
        return WEIR_OK;
    }
    if (hand->worker->state == SIM_WORKER_BUSY &&
        (double)(now_ns - hand->task_start_ns) >= LONG_TASK * (double)limit_ns)
        return WEIR_OK; /* its end brings the next turn */
    loop->restarted_ns = now_ns;
    if (now_ns + run->spec->restart_gap_ns < *next_ns)
        *next_ns = now_ns + run->spec->restart_gap_ns;
    WEIR_TRY(plan_return(stage, hand, hand->deaths));
    return sim_pipeline_end_worker(stage, hand, SIM_STOP_GIVEN_UP, "too old");
}

weir_status sim_recovery_replace(struct sim_stage_run *stage, const char *why)
{
    stage->batching.missing = 0;
    for (uint32_t i = 0; i < stage->positions; i++)
        if (stage->hands[i] != NULL)
            WEIR_TRY(sim_pipeline_end_worker(stage, stage->hands[i], SIM_STOP_GIVEN_UP, why));
    return WEIR_OK;
}

static void forget_returns(struct sim_loop_stage *loop)
{
    for (uint32_t i = 0; i < loop->return_count; i++)
        free(loop->returns[i].places);
    loop->return_count = 0;
}

weir_status sim_recovery_give_up(struct sim_pipeline_run *run, const char *why)
{
    if (run->gave_up[0] != '\0')
        return WEIR_OK;
    (void)snprintf(run->gave_up, sizeof(run->gave_up), "%s", why);
    run->gave_up_ns = sim_engine_now(run->context->engine);
    for (uint32_t s = 0; s < run->stage_count; s++) {
        struct sim_stage_run *stage = &run->stages[s];
        stage->loop.is_done = true;
        forget_returns(&stage->loop);
        for (uint32_t i = 0; i < stage->positions; i++)
            if (stage->hands[i] != NULL)
                WEIR_TRY(
                    sim_pipeline_end_worker(stage, stage->hands[i], SIM_STOP_OVER, "stage done"));
    }
    return WEIR_OK;
}
