/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place for every rank of a job, or for none.
 *
 * Ranks are placed one after the other on the scratch, each seeing those before it, under a mark;
 * when one finds no place, scratch and plan go back to the mark, and what some of them could have
 * may be reserved (weir_hold_mode). Random choices are named by workload, job, attempt and rank, so
 * that they do not depend on what else was decided before.
 */
#include "sched/host/placer_state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/chooser.h"
#include "sched/internal/explain.h"
#include "sched/internal/hash.h"
#include "sched/internal/plan_state.h"
#include "sched/placement/parts/group.h"
#include "sched/placement/parts/rooms.h"
#include "sched/placement/parts/scan.h"

#include <string.h>

/* Everything the placement of one job walks with. */
struct job_question {
    struct weir_placer *placer;
    const struct weir_job_record *job;
    struct weir_job_kind *kind;
    struct weir_owner owner;
    uint64_t seed;
    int64_t until_ns;  /* of a reservation */
    uint32_t gpu_type; /* as in a shape: its ranks go there alone; 0 = wherever they may */
    struct weir_traffic traffic;
    struct weir_error *error;
};

/* What all ranks together lack, so that there is no need to try; or WEIR_REASON_NONE. */
static uint32_t lacking(const struct job_question *asked)
{
    const struct weir_amounts free = weir_cluster_free(asked->placer->bound.scratch);

    if (free.gpu_units < asked->kind->need.gpu_units)
        return WEIR_REASON_GPU_FREE;
    return free.cpu_units < asked->kind->need.cpu_units ? WEIR_REASON_CPU : WEIR_REASON_NONE;
}

/* Those that both accept; `wanted` is one type (its index + 1) or a set. */
static uint32_t common_types(uint32_t accepted, uint32_t wanted)
{
    if (accepted == 0 || (wanted & WEIR_GPU_TYPE_SET) == 0)
        return wanted;
    if ((accepted & WEIR_GPU_TYPE_SET) != 0)
        return accepted & wanted;
    return WEIR_GPU_TYPE_SET | ((UINT32_C(1) << (accepted - 1)) & wanted);
}

/* What it asks for, on the types that are wanted. */
static const struct weir_shape *shape_of(const struct job_question *asked, uint32_t rank,
                                         struct weir_shape *copy)
{
    const struct weir_shape *const shape = weir_job_kind_shape(asked->kind, rank);

    if (asked->gpu_type == 0 || shape->gpu_count == 0)
        return shape;
    *copy = *shape;
    copy->gpu_type = common_types(shape->gpu_type, asked->gpu_type);
    return copy;
}

static struct weir_place_query query_of(const struct job_question *asked, uint32_t rank)
{
    return (struct weir_place_query){ .size = sizeof(struct weir_place_query),
                                      .cluster = asked->placer->bound.scratch,
                                      .mix = asked->placer->bound.mix,
                                      .shape = weir_job_kind_shape(asked->kind, rank),
                                      .owner = asked->owner,
                                      .seed = asked->kind->ranks == 1
                                                  ? asked->seed
                                                  : weir_hash_add(asked->seed, rank),
                                      .together = asked->kind->ranks - rank,
                                      .traffic = asked->traffic,
                                      .jobs = asked->placer->bound.jobs };
}

static weir_status find_place(const struct job_question *asked,
                              const struct weir_place_query *query)
{
    asked->placer->counts.tried++;
    return weir_placer_ask(asked->placer, query, asked->error);
}

/* On the node that was chosen for it. */
static weir_status take_node(const struct job_question *asked, const struct weir_place_query *query,
                             uint32_t node)
{
    struct weir_place_answer *const answer = &asked->placer->answer;
    weir_status status = WEIR_OK;

    asked->placer->counts.tried++;
    memset(&answer->choice, 0, sizeof answer->choice);
    answer->choice.runner_up_node = WEIR_NO_INDEX;
    answer->reused = WEIR_NO_INDEX;
    answer->choice.nodes_seen = answer->choice.candidates = answer->choice.ties = 1;
    status = weir_place_first(query->cluster, node, query->shape, &answer->alloc);
    if (status != WEIR_OK)
        answer->choice.rejected[WEIR_REASON_GPU_WHOLE] = 1;
    return status;
}

static weir_status start_rank(const struct job_question *asked, uint32_t rank)
{
    struct weir_placer *const placer = asked->placer;
    struct weir_place_query query = query_of(asked, rank);
    struct weir_shape narrowed;
    const struct weir_explained explained = { placer->bound.ops, placer->bound.state, &query,
                                              &placer->answer };

    query.shape = shape_of(asked, rank, &narrowed);
    WEIR_TRY(rank < placer->wanted_node_count ? take_node(asked, &query, placer->wanted_nodes[rank])
                                              : find_place(asked, &query));
    WEIR_TRY(weir_explain_start(placer->bound.plan, &explained));
    const struct weir_placer_start start = { .owner = asked->owner,
                                             .rank = rank,
                                             .alloc = &placer->answer.alloc,
                                             .choice = &placer->answer.choice };
    return weir_placer_start_fresh(placer, &start, asked->error);
}

static weir_status start_ranks(const struct job_question *asked)
{
    for (uint32_t rank = 0; rank < asked->kind->ranks; rank++)
        WEIR_TRY(start_rank(asked, rank));
    return WEIR_OK;
}

/* ---- placement groups ---- */

static weir_status make_room(struct weir_placer *placer, uint32_t count)
{
    const struct weir_allocator *const memory = &placer->allocator;
    WEIR_ROOM(memory, placer->bundles, placer->bundle_capacity, count);
    WEIR_ROOM(memory, placer->allocs, placer->alloc_capacity, count);
    return WEIR_OK;
}

/* Into `allocs` of the placer. */
static weir_status place_bundles(const struct job_question *asked)
{
    struct weir_placer *const placer = asked->placer;
    const uint32_t ranks = asked->kind->ranks;
    struct weir_chooser scorer = { .alone = { .allocator = placer->allocator,
                                              .ops = placer->bound.ops,
                                              .policy.state = placer->bound.state } };
    struct weir_group_answer answer;

    WEIR_TRY(make_room(placer, ranks));
    for (uint32_t rank = 0; rank < ranks; rank++)
        placer->bundles[rank] = *weir_job_kind_shape(asked->kind, rank);
    const struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                            .scratch = placer->bound.scratch,
                                            .mix = placer->bound.mix,
                                            .bundles = placer->bundles,
                                            .bundle_count = ranks,
                                            .strategy = asked->kind->strategy - 1,
                                            .report = placer->bound.group_report,
                                            .owner = asked->owner,
                                            .seed = asked->seed,
                                            .jobs = placer->bound.jobs };
    placer->counts.tried++;
    memset(&placer->answer.choice, 0, sizeof placer->answer.choice);
    placer->answer.choice.runner_up_node = WEIR_NO_INDEX;
    const weir_status status = weir_group_place(placer->bound.group_by_policy != 0 ? &scorer : NULL,
                                                &query, placer->allocs, &answer, asked->error);
    if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE) {
        placer->answer.choice.nodes_seen = weir_cluster_node_count(placer->bound.scratch);
        placer->answer.choice.rejected[answer.reason] = placer->answer.choice.nodes_seen;
    }
    return status;
}

static bool draws_devices(const struct job_question *asked)
{
    return asked->placer->bound.group_devices == WEIR_GROUP_DEVICES_GROUP;
}

/* WEIR_EBUSY: the group has room and one of its members has none in it. */
static weir_status draw_devices(const struct job_question *asked)
{
    struct weir_placer *const placer = asked->placer;
    struct weir_choice *const choice = &placer->answer.choice;
    const uint32_t ranks = asked->kind->ranks;
    struct weir_group_parts parts = { .all = NULL };
    uint32_t devices = 0;

    for (uint32_t rank = 0; rank < ranks; rank++)
        devices += placer->allocs[rank].device_count;
    WEIR_ROOM(&placer->allocator, placer->parts, placer->part_capacity, devices);
    parts.all = placer->parts;
    if (weir_group_draw(&parts, placer->allocs, ranks) == WEIR_NO_INDEX)
        return WEIR_OK;
    choice->nodes_seen = weir_cluster_node_count(placer->bound.scratch);
    choice->rejected[WEIR_REASON_GROUP] = choice->nodes_seen;
    return WEIR_EBUSY;
}

static weir_status start_bundles(const struct job_question *asked)
{
    struct weir_placer *const placer = asked->placer;

    WEIR_TRY(place_bundles(asked));
    if (draws_devices(asked))
        WEIR_TRY(draw_devices(asked));
    for (uint32_t rank = 0; rank < asked->kind->ranks; rank++) {
        const struct weir_placer_start start = { .owner = asked->owner,
                                                 .rank = rank,
                                                 .alloc = &placer->allocs[rank] };
        WEIR_TRY(weir_placer_start_fresh(placer, &start, asked->error));
    }
    return WEIR_OK;
}

/* ---- a job ---- */

static void keep_refusal(const struct job_question *asked, uint32_t record, uint32_t reason)
{
    struct weir_placer *const placer = asked->placer;

    placer->counts.failed++;
    weir_jobs_refuse(placer->bound.jobs, asked->job->kind, record);
    asked->kind->reason = reason;
    if (weir_plan_explain(placer->bound.plan) != WEIR_EXPLAIN_OFF)
        asked->kind->refusal = placer->answer.choice;
}

/* Of what was tried. */
static void keep_answer(const struct job_question *asked, uint32_t record)
{
    keep_refusal(asked, record, weir_choice_reason(&asked->placer->answer.choice));
}

/* What the nodes say to a rank; when each has room for one, what all ranks together lack. */
static uint32_t ask_nodes(const struct job_question *asked, uint32_t missing)
{
    const struct weir_cluster *const cluster = asked->placer->bound.scratch;
    struct weir_choice *const choice = &asked->placer->answer.choice;

    memset(choice, 0, sizeof *choice);
    choice->runner_up_node = WEIR_NO_INDEX;
    struct weir_room_walk walk = weir_rooms_begin(cluster, weir_job_kind_shape(asked->kind, 0));
    while (weir_rooms_next(&walk, choice) != WEIR_NO_INDEX) {
    }
    const uint32_t reason = weir_choice_reason(choice);
    if (reason != WEIR_REASON_NONE)
        return reason;
    choice->rejected[missing] = choice->nodes_seen;
    return missing;
}

/* Nothing was even tried. */
static weir_status refuse_hopeless(const struct job_question *asked, uint32_t record,
                                   uint32_t missing)
{
    const bool is_asked = weir_plan_explain(asked->placer->bound.plan) != WEIR_EXPLAIN_OFF;

    keep_refusal(asked, record, is_asked ? ask_nodes(asked, missing) : missing);
    return WEIR_EBUSY;
}

static weir_status start_alone(const struct job_question *asked, uint32_t record)
{
    const weir_status status = start_rank(asked, 0);

    if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE)
        keep_answer(asked, record);
    return status;
}

static struct job_question question_of(struct weir_placer *placer, uint32_t record,
                                       struct weir_error *error)
{
    struct weir_jobs *const jobs = placer->bound.jobs;
    const struct weir_job_record *const job = &jobs->records[record];

    return (struct job_question){ .placer = placer,
                                  .job = job,
                                  .kind = &jobs->kinds[job->kind],
                                  .owner = weir_job_owner(job->workload, job->id),
                                  .seed = job->seed,
                                  .gpu_type = placer->wanted_type,
                                  .traffic = weir_jobs_traffic(jobs, record),
                                  .error = error };
}

static weir_status start_record(struct weir_placer *placer, uint32_t record,
                                struct weir_error *error)
{
    struct weir_plan *const plan = placer->bound.plan;
    const struct job_question asked = question_of(placer, record, error);

    const uint32_t missing = lacking(&asked);
    if (missing != WEIR_REASON_NONE)
        return refuse_hopeless(&asked, record, missing);
    if (asked.kind->ranks == 1 && asked.kind->strategy == 0)
        return start_alone(&asked, record); /* nothing to take back */
    if (weir_cluster_mark(placer->bound.scratch) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const struct weir_plan_mark mark = weir_plan_mark(plan);
    weir_plan_set_group(plan, weir_plan_next_worker(plan));
    const weir_status status =
        asked.kind->strategy > 0 ? start_bundles(&asked) : start_ranks(&asked);
    weir_plan_set_group(plan, 0);
    weir_plan_set_rank(plan, 0);
    if (status == WEIR_OK) {
        weir_cluster_release(placer->bound.scratch);
        return WEIR_OK;
    }
    weir_cluster_rollback(placer->bound.scratch);
    weir_plan_rewind(plan, &mark);
    if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE)
        keep_answer(&asked, record);
    return status;
}

/* Nobody is refused by a question. */
static weir_status try_ranks(const struct job_question *asked)
{
    if (lacking(asked) != WEIR_REASON_NONE)
        return WEIR_EBUSY;
    return asked->kind->strategy > 0 ? start_bundles(asked) : start_ranks(asked);
}

static weir_status fits_record(struct weir_placer *placer, uint32_t record, bool is_put,
                               struct weir_error *error)
{
    struct weir_plan *const plan = placer->bound.plan;
    const struct job_question asked = question_of(placer, record, error);
    const struct weir_placer_counts counts = placer->counts;
    const struct weir_plan_mark mark = weir_plan_mark(plan);

    if (weir_cluster_mark(placer->bound.scratch) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = try_ranks(&asked);
    if (is_put && status == WEIR_OK)
        weir_cluster_release(placer->bound.scratch);
    else
        weir_cluster_rollback(placer->bound.scratch);
    weir_plan_set_group(plan, 0);
    weir_plan_set_rank(plan, 0);
    weir_plan_rewind(plan, &mark);
    for (uint32_t i = 0; is_put && status == WEIR_OK && i < asked.kind->ranks; i++)
        (void)weir_plan_new_worker(plan); /* its ids are in use on the scratch */
    placer->counts = counts;
    if (status != WEIR_OK && error != NULL && (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE))
        error->text[0] = '\0'; /* an answer */
    return status;
}

/* ---- under reservations ---- */

static struct weir_reserved_question reserved_of(const struct weir_placer *placer, uint32_t record,
                                                 int64_t at_ns)
{
    const int64_t now_ns = placer->bound.view->now_ns;

    return (struct weir_reserved_question){ .jobs = placer->bound.jobs,
                                            .scratch = placer->bound.scratch,
                                            .record = record,
                                            .now_ns = now_ns,
                                            .at_ns = at_ns > now_ns ? at_ns : now_ns };
}

static bool has_reservations(const struct weir_placer *placer)
{
    return placer->bound.jobs->reservations.node_count > 0;
}

/* What is kept from it would have done. */
static weir_status find_blame(struct weir_placer *placer,
                              const struct weir_reserved_question *reserved,
                              struct weir_error *error)
{
    struct weir_jobs *const jobs = placer->bound.jobs;
    struct weir_job_kind *const kind = &jobs->kinds[jobs->records[reserved->record].kind];

    WEIR_TRY(weir_reservations_waive(reserved));
    const weir_status status = fits_record(placer, reserved->record, false, error);
    if (status == WEIR_OK) {
        kind->reason = WEIR_REASON_RESERVED;
        kind->refusal = (struct weir_choice){ .runner_up_node = WEIR_NO_INDEX };
    }
    return status == WEIR_EBUSY || status == WEIR_EINFEASIBLE ? WEIR_OK : status;
}

/* The memory that is kept for its tenant is there for the job alone that is asked about. */
static void open_pool(struct weir_placer *placer, uint32_t record)
{
    struct weir_jobs *const jobs = placer->bound.jobs;

    if (jobs->memory_pools.is_kept)
        weir_memory_pools_let(jobs, placer->bound.scratch, jobs->records[record].tenant);
}

static void close_pool(struct weir_placer *placer)
{
    if (placer->bound.jobs->memory_pools.is_kept)
        weir_memory_pools_let(placer->bound.jobs, placer->bound.scratch, 0);
}

static weir_status start_reserved(struct weir_placer *placer, uint32_t record,
                                  struct weir_error *error)
{
    const struct weir_reserved_question reserved = reserved_of(placer, record, 0);

    placer->blocked_ns = INT64_MAX;
    if (!has_reservations(placer))
        return start_record(placer, record, error);
    weir_status status = weir_reservations_let(&reserved, &placer->blocked_ns);
    if (status == WEIR_OK)
        status = start_record(placer, record, error);
    const bool is_kept_out =
        (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE) && placer->blocked_ns != INT64_MAX;
    if (is_kept_out)
        WEIR_TRY(find_blame(placer, &reserved, error));
    if (weir_reservations_bar(&reserved) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    return is_kept_out ? WEIR_EBUSY : status;
}

weir_status weir_placer_start_record(struct weir_placer *placer, uint32_t record,
                                     struct weir_error *error)
{
    open_pool(placer, record);
    const weir_status status = start_reserved(placer, record, error);
    close_pool(placer);
    return status;
}

static weir_status fits_reserved(struct weir_placer *placer, uint32_t record, bool is_put,
                                 struct weir_error *error)
{
    const struct weir_reserved_question reserved = reserved_of(placer, record, placer->at_ns);
    int64_t blocked_ns = INT64_MAX;

    if (!has_reservations(placer))
        return fits_record(placer, record, is_put, error);
    weir_status status = weir_reservations_let(&reserved, &blocked_ns);
    if (status == WEIR_OK)
        status = fits_record(placer, record, is_put, error);
    if (weir_reservations_bar(&reserved) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    return status == WEIR_EINFEASIBLE && blocked_ns != INT64_MAX ? WEIR_EBUSY : status;
}

weir_status weir_placer_fits_record(struct weir_placer *placer, uint32_t record, bool is_put,
                                    struct weir_error *error)
{
    open_pool(placer, record);
    const weir_status status = fits_reserved(placer, record, is_put, error);
    close_pool(placer);
    return status;
}

int64_t weir_placer_blocked(const struct weir_placer *placer)
{
    return placer->blocked_ns;
}

void weir_placer_at(struct weir_placer *placer, int64_t at_ns)
{
    placer->at_ns = at_ns;
}

/* ---- a gang that waits ---- */

/* A group that has been created, though one of its members has no GPU in it: all its bundles. */
static weir_status reserve_bundles(const struct job_question *asked)
{
    struct weir_placer *const placer = asked->placer;
    const weir_status status = place_bundles(asked);

    if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE)
        return WEIR_OK;
    WEIR_TRY(status);
    for (uint32_t rank = 0; rank < asked->kind->ranks; rank++) {
        const struct weir_placer_start start = { .owner = asked->owner,
                                                 .rank = rank,
                                                 .alloc = &placer->allocs[rank],
                                                 .until_ns = asked->until_ns };
        WEIR_TRY(weir_placer_reserve(placer, &start, asked->error));
    }
    return WEIR_OK;
}

static weir_status reserve_rank(const struct job_question *asked, uint32_t rank)
{
    struct weir_placer *const placer = asked->placer;
    const struct weir_place_query query = query_of(asked, rank);
    const struct weir_placer_start start = { .owner = asked->owner,
                                             .rank = rank,
                                             .alloc = &placer->answer.alloc,
                                             .until_ns = asked->until_ns };

    WEIR_TRY(find_place(asked, &query));
    return weir_placer_reserve(placer, &start, asked->error);
}

/* Of ranks that ask for the same none finds a place after one that did not. */
static weir_status reserve_group(const struct job_question *asked, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const weir_status status = reserve_rank(asked, first + i);
        if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE)
            return WEIR_OK;
        WEIR_TRY(status);
    }
    return WEIR_OK;
}

weir_status weir_placer_reserve_record(struct weir_placer *placer, uint32_t record,
                                       int64_t until_ns, struct weir_error *error)
{
    struct job_question asked = question_of(placer, record, error);
    uint32_t first = 0;

    asked.until_ns = until_ns;
    if (asked.kind->strategy > 0)
        return draws_devices(&asked) ? reserve_bundles(&asked) : WEIR_OK;
    if (!weir_job_kind_is_gang(asked.kind))
        return WEIR_OK;
    for (uint32_t g = 0; g < asked.kind->group_count; g++) {
        WEIR_TRY(reserve_group(&asked, first, asked.kind->groups[g].ranks));
        first += asked.kind->groups[g].ranks;
    }
    return WEIR_OK;
}

weir_status weir_placer_reserve_rank(struct weir_placer *placer, uint32_t record, uint32_t rank,
                                     struct weir_error *error)
{
    struct job_question asked = question_of(placer, record, error);

    asked.until_ns = INT64_MAX;
    return reserve_rank(&asked, rank);
}

uint32_t weir_placer_last_reason(const struct weir_placer *placer)
{
    return weir_choice_reason(&placer->answer.choice);
}
