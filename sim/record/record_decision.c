/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decisions: one row, a line for every stage the policy left a note on, and all actions with the
 * numbers behind them.
 *
 * `started` and `stopped` count what was applied; `slots` of a stage is what this plan set, 0 when
 * it left them alone. The time of the decision itself goes to decision_wall.
 * A job that waits is denied again by every pass. It has a row when something about it is new: no
 * job of its kind was denied so since one of them started. So rows grow with what happens, not with
 * how long the queue is.
 */
#include "sim/record/record_state.h"

#include "sim/engine/digest.h"
#include "sim/engine/time.h"

#include <stdio.h>
#include <stdlib.h>

struct counts {
    uint32_t started, stopped, denied;
};

static bool is_applied(const struct sim_decision_row *row, uint32_t action)
{
    return !row->outcomes || row->outcomes[action] == WEIR_REASON_NONE;
}

static struct counts count_actions(const struct sim_decision_row *row)
{
    struct counts counts = { 0 };
    const uint32_t count = row->plan ? weir_plan_count(row->plan) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t verb = weir_plan_action(row->plan, i)->verb;
        counts.denied += verb == WEIR_VERB_DENY;
        counts.started += verb == WEIR_VERB_START && is_applied(row, i);
        counts.stopped += verb == WEIR_VERB_STOP && is_applied(row, i);
    }
    return counts;
}

static weir_status write_decision(struct sim_recorder *recorder, const struct sim_decision_row *row,
                                  struct weir_error *error)
{
    const struct counts counts = count_actions(row);
    const struct cell cells[] = { cell_int("decision", (int64_t)row->decision),
                                  cell_real("t_s", sim_time_s(row->t_ns)),
                                  cell_text("placement", row->placement),
                                  cell_text("scaling", row->scaling),
                                  cell_int("started", counts.started),
                                  cell_int("stopped", counts.stopped),
                                  cell_int("denied", counts.denied),
                                  cell_int("refused", row->refused),
                                  cell_text("status", row->status),
                                  cell_text("message", row->message) };
    WEIR_TRY(INSERT(recorder, RECORD_DECISION, cells, error));
    if (row->wall_ns < 0)
        return WEIR_OK; /* it was not timed */
    const struct cell wall[] = { cell_int("decision", (int64_t)row->decision),
                                 cell_real("cpu_ms", (double)row->wall_ns * 1e-6) };
    return INSERT(recorder, RECORD_DECISION_WALL, wall, error);
}

/* ---- stages ---- */

static int64_t slots_set(const struct weir_plan *plan, uint32_t stage)
{
    int64_t slots = 0;
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *action = weir_plan_action(plan, i);
        if (action->verb == WEIR_VERB_SET_SLOTS && action->owner.index == stage)
            slots = action->value;
    }
    return slots;
}

static weir_status write_stage(struct sim_recorder *recorder, const struct sim_decision_row *row,
                               uint32_t stage, struct weir_error *error)
{
    const struct weir_pool_note *note = weir_plan_pool_note(row->plan, stage);
    if (!note)
        return WEIR_OK;
    const struct cell cells[] = { cell_int("decision", (int64_t)row->decision),
                                  cell_int("stage", stage),
                                  cell_int("workers_before", note->workers_before),
                                  cell_int("workers_after", note->workers_after),
                                  cell_int("started", note->started),
                                  cell_int("stopped", note->stopped),
                                  cell_int("slots", slots_set(row->plan, stage)),
                                  cell_int("pool_optimum", note->pool_optimum),
                                  cell_real("speed_per_s", note->speed_per_s),
                                  cell_real("throughput_per_s", note->throughput_per_s),
                                  cell_text("binding", weir_reason_text(note->binding)) };
    return INSERT(recorder, RECORD_DECISION_STAGE, cells, error);
}

/* ---- actions ---- */

struct text_box {
    char text[1024];
};

/* ---- denials ---- */

/* Who holds what a denied owner asked for: a run of the plan's holders. */
struct holders {
    const struct weir_plan *plan;
    uint32_t first, count;
};

/* Those of this action, behind those of the actions before; none when it is no denial. */
static void find_holders(struct holders *holders, const struct weir_action *action)
{
    const struct weir_holder *next = NULL;
    holders->first += holders->count;
    holders->count = 0;
    while (action->verb == WEIR_VERB_DENY &&
           (next = weir_plan_holder_at(holders->plan, holders->first + holders->count)) != NULL &&
           weir_owner_is(&next->denied, &action->owner))
        holders->count++;
}

static const struct weir_holder *holder_at(const struct holders *holders, uint32_t index)
{
    return weir_plan_holder_at(holders->plan, holders->first + index);
}

/* {"gpu":3,"workers":[12,40]}; a few holders, so that it fits. */
static void print_holders(struct text_box *box, const struct holders *holders)
{
    char gpu[32] = "";
    size_t length = 0;
    if (holders->count > 0 && holder_at(holders, 0)->gpu != WEIR_NO_INDEX)
        (void)snprintf(gpu, sizeof gpu, "\"gpu\":%u,", holder_at(holders, 0)->gpu);
    length = (size_t)snprintf(box->text, sizeof box->text, "{%s\"workers\":[", gpu);
    for (uint32_t i = 0; i < holders->count && length + 32 < sizeof box->text; i++)
        length +=
            (size_t)snprintf(box->text + length, sizeof box->text - length, "%s%llu",
                             i == 0 ? "" : ",", (unsigned long long)holder_at(holders, i)->worker);
    (void)snprintf(box->text + length, sizeof box->text - length, "]}");
}

static uint64_t digest_denial(const struct weir_action *deny, const struct holders *holders)
{
    uint64_t digest = sim_digest_word(SIM_DIGEST_START, deny->reason);
    digest = sim_digest_word(digest, deny->owner.index);
    digest = sim_digest_word(digest, deny->owner.id);
    for (uint32_t i = 0; i < holders->count; i++)
        digest = sim_digest_word(digest, holder_at(holders, i)->worker);
    return digest;
}

/* Room for the latest denial of this kind of job; 0 = none since one of them started. */
static weir_status reserve_kind(struct sim_recorder *recorder, uint32_t kind)
{
    if (kind < recorder->denial_capacity)
        return WEIR_OK;
    const uint32_t capacity = kind * 2 + 64;
    uint64_t *grown = realloc(recorder->denials, capacity * sizeof *grown);
    if (grown == NULL)
        return WEIR_ENOMEM;
    for (uint32_t k = recorder->denial_capacity; k < capacity; k++)
        grown[k] = 0;
    recorder->denials = grown;
    recorder->denial_capacity = capacity;
    return WEIR_OK;
}

/* Whether an action has a row; of a job: notes its start or denial. */
static weir_status has_row_of(struct sim_recorder *recorder, const struct weir_action *action,
                              uint32_t kind, const struct holders *holders, bool *has_row)
{
    const bool is_denial = action->verb == WEIR_VERB_DENY;
    *has_row = sim_recorder_keeps(recorder, SIM_KEEP_ALL);
    if (!*has_row || kind == WEIR_NO_INDEX || (!is_denial && action->verb != WEIR_VERB_START))
        return WEIR_OK;
    const uint64_t digest = is_denial ? digest_denial(action, holders) : 0;
    WEIR_TRY(reserve_kind(recorder, kind));
    *has_row = !is_denial || recorder->denials[kind] != digest;
    recorder->denials[kind] = digest;
    return WEIR_OK;
}

/* {"too few CPUs":3}; the texts are constants without quotes or backslashes. */
static void print_reasons(struct text_box *box, const struct weir_choice *choice)
{
    size_t length = (size_t)snprintf(box->text, sizeof box->text, "{");
    for (uint32_t r = 0; choice && r < WEIR_REASON_COUNT; r++) {
        if (choice->rejected[r] == 0 || length >= sizeof box->text)
            continue;
        length += (size_t)snprintf(box->text + length, sizeof box->text - length, "%s\"%s\":%u",
                                   length > 1 ? "," : "", weir_reason_text(r), choice->rejected[r]);
    }
    if (length < sizeof box->text)
        (void)snprintf(box->text + length, sizeof box->text - length, "}");
}

static void print_outcome(struct text_box *box, const struct sim_decision_row *row, uint32_t index,
                          const struct weir_action *action)
{
    if (action->verb == WEIR_VERB_DENY)
        (void)snprintf(box->text, sizeof box->text, "denied: %s", weir_reason_text(action->reason));
    else if (is_applied(row, index))
        (void)snprintf(box->text, sizeof box->text, "applied");
    else
        (void)snprintf(box->text, sizeof box->text, "refused: %s",
                       weir_reason_text(row->outcomes[index]));
}

static bool has_place(const struct weir_action *action)
{
    return action->verb == WEIR_VERB_START || action->verb == WEIR_VERB_MOVE ||
           action->verb == WEIR_VERB_RESERVE;
}

static bool has_worker(const struct weir_action *action)
{
    return has_place(action) || action->verb == WEIR_VERB_STOP || action->verb == WEIR_VERB_PREEMPT;
}

/* From a node that is given back. */
static bool is_sent_away(const struct weir_action *action)
{
    return (action->verb == WEIR_VERB_STOP || action->verb == WEIR_VERB_PREEMPT) &&
           action->causes == WEIR_CAUSE_CAPACITY;
}

static bool has_value(const struct weir_action *action)
{
    return action->verb == WEIR_VERB_SET_SLOTS || action->verb == WEIR_VERB_WAKE ||
           action->verb == WEIR_VERB_RESIZE || action->verb == WEIR_VERB_REQUEST_NODE;
}

/* Of a denial: room on no node would help. */
static bool is_limit(const struct weir_action *action)
{
    return action->reason == WEIR_REASON_QUOTA || action->reason == WEIR_REASON_CUSTOM_LIMIT;
}

/* A node that is given back, or that somebody is sent away from; a denial's node is the one that
 * comes nearest to having room. */
static struct cell cell_node(const char *column, const struct weir_action *action,
                             const struct holders *holders)
{
    if (has_place(action))
        return cell_int(column, action->alloc.node);
    if (action->verb == WEIR_VERB_RELEASE_NODE || is_sent_away(action))
        return cell_int(column, action->node);
    const bool has_node = holders->count > 0 && !is_limit(action);
    return cell_if(has_node, cell_int(column, has_node ? holder_at(holders, 0)->node : 0));
}

static weir_status write_action(struct sim_recorder *recorder, const struct sim_decision_row *row,
                                uint32_t index, const struct holders *holders,
                                struct weir_error *error)
{
    static const struct weir_choice none = { .runner_up_node = WEIR_NO_INDEX };
    const struct weir_action *action = weir_plan_action(row->plan, index);
    const struct weir_choice *kept =
        action->choice == WEIR_NO_INDEX ? NULL : weir_plan_choice(row->plan, action->choice);
    const struct weir_choice *choice = kept ? kept : &none;
    const bool has_runner_up = choice->runner_up_node != WEIR_NO_INDEX;
    struct text_box reasons;
    struct text_box outcome;
    struct text_box held;
    print_holders(&held, holders);
    print_reasons(&reasons, kept);
    print_outcome(&outcome, row, index, action);
    const struct cell cells[] = {
        cell_int("decision", (int64_t)row->decision),
        cell_int("seq", index),
        cell_text("verb", weir_verb_name(action->verb)),
        cell_int("phase", action->phase),
        cell_pool("stage", &action->owner),
        cell_if(has_worker(action), cell_int("worker", (int64_t)action->worker)),
        cell_node("node", action, holders),
        cell_int("reused", action->reused),
        cell_if(has_value(action), cell_int("value", action->value)),
        cell_text("outcome", outcome.text),
        cell_if(kept != NULL, cell_int("nodes_seen", choice->nodes_seen)),
        cell_if(kept != NULL, cell_int("candidates", choice->candidates)),
        cell_if(kept != NULL, cell_int("ties", choice->ties)),
        cell_if(kept != NULL, cell_real("score", choice->primary)),
        cell_if(kept != NULL, cell_real("score2", choice->secondary)),
        cell_index("runner_up_node", choice->runner_up_node),
        cell_if(has_runner_up, cell_real("runner_up_score", choice->runner_up_primary)),
        cell_if(has_runner_up, cell_real("runner_up_score2", choice->runner_up_secondary)),
        cell_text("reasons", reasons.text),
        cell_workload("workload", &action->owner),
        cell_job("job", &action->owner),
        cell_if(holders->count > 0, cell_text("holders", held.text))
    };
    return INSERT(recorder, RECORD_ACTION, cells, error);
}

/* The first candidate of a choice or a later one. */
static uint32_t first_candidate(const struct weir_plan *plan, uint32_t choice)
{
    uint32_t low = 0;
    uint32_t high = weir_plan_candidate_count(plan);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (weir_plan_candidate_at(plan, middle)->choice < choice)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static weir_status write_candidates(struct sim_recorder *recorder,
                                    const struct sim_decision_row *row, uint32_t index,
                                    struct weir_error *error)
{
    const uint32_t choice = weir_plan_action(row->plan, index)->choice;
    if (choice == WEIR_NO_INDEX)
        return WEIR_OK;
    const uint32_t count = weir_plan_candidate_count(row->plan);
    for (uint32_t i = first_candidate(row->plan, choice); i < count; i++) {
        const struct weir_candidate *candidate = weir_plan_candidate_at(row->plan, i);
        if (candidate->choice != choice)
            break;
        const struct cell cells[] = { cell_int("decision", (int64_t)row->decision),
                                      cell_int("seq", index),
                                      cell_int("node", candidate->node),
                                      cell_if(candidate->gpu_mask != 0,
                                              cell_int("gpu_mask", (int64_t)candidate->gpu_mask)),
                                      cell_int("is_chosen", candidate->is_chosen),
                                      cell_real("score", candidate->primary),
                                      cell_real("score2", candidate->secondary) };
        WEIR_TRY(INSERT(recorder, RECORD_CANDIDATE, cells, error));
    }
    return WEIR_OK;
}

weir_status sim_recorder_decision(struct sim_recorder *recorder, const struct sim_decision_row *row,
                                  uint32_t stage_count, struct weir_error *error)
{
    if (!sim_recorder_keeps(recorder, SIM_KEEP_JOBS))
        return WEIR_OK; /* none of its tables is kept */
    WEIR_TRY(write_decision(recorder, row, error));
    if (!row->plan)
        return WEIR_OK;
    for (uint32_t s = 0; s < stage_count; s++)
        WEIR_TRY(write_stage(recorder, row, s, error));
    struct holders holders = { .plan = row->plan };
    for (uint32_t i = 0; i < weir_plan_count(row->plan); i++) {
        const struct weir_action *action = weir_plan_action(row->plan, i);
        const uint32_t kind = row->kinds == NULL ? WEIR_NO_INDEX : row->kinds[i];
        bool has_row = false;
        find_holders(&holders, action);
        if (has_row_of(recorder, action, kind, &holders, &has_row) != WEIR_OK)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
        if (!has_row)
            continue;
        WEIR_TRY(write_action(recorder, row, i, &holders, error));
        WEIR_TRY(write_candidates(recorder, row, i, error));
    }
    return WEIR_OK;
}
