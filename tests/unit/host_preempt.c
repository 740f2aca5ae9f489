/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a queueing policy with a pass of its own may see and do: jobs in their order, those that run
 * by their ends, what would fit if some had ended, and pre-emption.
 */
#include "sched/internal/seat.h"
#include "tests/support/check.h"
#include "tests/support/host_jobs.h"
#include "tests/support/tenants.h"

#include <stdio.h>
#include <string.h>

static const int64_t s_ns = INT64_C(1000000000);

static void submit_of(struct weir_host *host, uint32_t tenant, uint64_t id, uint32_t gpus,
                      int64_t estimate_s)
{
    const struct weir_rank_group group = test_rank_group(gpus, 1, 1);
    struct weir_job_spec spec = test_job_spec(id, &group, 1);

    spec.tenant = tenant;
    spec.estimate_ns = estimate_s * s_ns;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
}

/* One rank a GPU, so many seconds by estimate; submitted in the order of the ids. */
static void submit(struct weir_host *host, uint64_t id, uint32_t gpus, int64_t estimate_s)
{
    submit_of(host, 0, id, gpus, estimate_s);
}

/* "start 1 preempt 2", of jobs. */
static struct test_text verbs(const struct weir_plan *plan)
{
    struct test_text text = { "" };
    size_t used = 0;

    for (uint32_t i = 0; plan != NULL && i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb == WEIR_VERB_PREEMPT ||
            (action->verb == WEIR_VERB_START && action->rank == 0))
            used += (size_t)snprintf(text.text + used, sizeof text.text - used, "%s%s %llu",
                                     used > 0 ? " " : "", weir_verb_name(action->verb),
                                     (unsigned long long)action->owner.id);
    }
    return text;
}

static struct weir_host *open_with(const char *policy, uint32_t nodes, uint32_t gpus)
{
    const struct weir_host_config config = test_jobs_config(policy);

    return test_jobs_open(&config, nodes, gpus);
}

static const struct weir_plan *pass_gives(struct weir_host *host, int64_t now_s,
                                          const char *expected)
{
    const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, now_s * s_ns);

    CHECK_STR(verbs(plan).text, expected);
    return plan;
}

/* Its ranks stop, it is over, and comes again with what it has done. */
static void give_way(struct weir_host *host, uint64_t id, uint32_t gpus, int64_t done_s)
{
    const struct weir_rank_group group = test_rank_group(gpus, 1, 1);
    struct weir_job_spec spec = test_job_spec(id, &group, 1);

    test_end_job(host, id);
    spec.estimate_ns = 100 * s_ns;
    spec.done_ns = done_s * s_ns;
    spec.attempts = 1;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
}

static void a_longer_job_gives_way_and_goes_on(void)
{
    struct weir_host *const host = open_with("srtf", 2, 2);

    submit(host, 1, 4, 100);
    CHECK_I64(test_carry_out(host, pass_gives(host, 0, "start 1")), WEIR_OK);
    submit(host, 2, 1, 10);
    const struct weir_plan *const plan = pass_gives(host, 30, "preempt 1 start 2");
    give_way(host, 1, 4, 30);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    pass_gives(host, 30, "");
    test_end_job(host, 2);
    CHECK_I64(test_carry_out(host, pass_gives(host, 40, "start 1")), WEIR_OK);
    submit(host, 3, 1, 31);
    pass_gives(host, 40, ""); /* 30 s are left of the first: it is told to have started at 0 */
    submit(host, 4, 1, 29);
    pass_gives(host, 40, "preempt 1 start 4 start 3");
    weir_host_destroy(host);
}

/* Of three that rank behind it those go that are needed, and the better of two equal ones stays. */
static void no_more_jobs_are_preempted_than_needed(void)
{
    struct weir_host *const host = open_with("srtf", 4, 2);

    submit(host, 1, 2, 100);
    submit(host, 2, 4, 200);
    submit(host, 3, 2, 300);
    CHECK_I64(test_carry_out(host, pass_gives(host, 0, "start 1 start 2 start 3")), WEIR_OK);
    submit(host, 4, 4, 50);
    pass_gives(host, 0, "preempt 2 start 4");
    weir_host_destroy(host);
}

/* The plan is dropped in part or whole: nobody is preempted after all. */
static void a_plan_that_is_not_carried_out_preempts_nobody(void)
{
    struct weir_host *const host = open_with("srtf", 2, 2);
    struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_JOBS, .max_actions = 1 };
    const struct weir_plan *plan = NULL;
    struct weir_job job = { .size = sizeof job };

    submit(host, 1, 2, 100);
    submit(host, 2, 2, 100);
    CHECK_I64(test_carry_out(host, pass_gives(host, 0, "start 1 start 2")), WEIR_OK);
    submit(host, 3, 4, 10);
    CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_OK);
    CHECK_STR(verbs(plan).text, "preempt 2");
    CHECK(weir_view_job(weir_host_view(host, 0), 0, 1, &job) && job.is_preempted == 0);
    CHECK(weir_view_job(weir_host_view(host, 0), 0, 2, &job) && job.is_preempted == 1);
    CHECK_I64(weir_host_cancel(host, NULL), WEIR_OK);
    CHECK(weir_view_job(weir_host_view(host, 0), 0, 2, &job) && job.is_preempted == 0);
    test_jobs_check(host);
    pass_gives(host, 0, "preempt 2 preempt 1 start 3");
    CHECK_I64(weir_host_cancel(host, NULL), WEIR_OK);
    CHECK_I64(weir_host_withdraw(host, 0, 3), WEIR_OK);
    pass_gives(host, 0, "");
    weir_host_destroy(host);
}

/* A host that knows of a running job only that its workers are there finds them. */
static void a_job_that_was_taken_over_is_preempted_whole(void)
{
    const struct weir_host_config config = test_jobs_config("srtf");
    struct weir_host *const first = test_jobs_open(&config, 2, 2);
    struct weir_host *const second = test_jobs_open(&config, 2, 2);
    const struct weir_rank_group group = test_rank_group(4, 1, 1);
    struct weir_job_spec spec = test_job_spec(1, &group, 1);
    const struct weir_job_past past = {
        .size = sizeof past, .state = WEIR_JOB_RUNNING, .started = 4, .start_ns = 0
    };
    const struct weir_host_past counted = {
        .size = sizeof counted, .decisions = 1, .next_worker = 5, .is_dirty = 1
    };

    submit(first, 1, 4, 100);
    CHECK_I64(test_carry_out(first, pass_gives(first, 0, "start 1")), WEIR_OK);
    for (uint64_t id = 1; id <= 4; id++) {
        struct weir_worker worker;
        CHECK(weir_cluster_worker(weir_host_cluster(first), id, &worker));
        CHECK_I64(weir_host_adopt_worker(second, id, worker.owner, &worker.alloc, NULL), WEIR_OK);
    }
    spec.estimate_ns = 100 * s_ns;
    CHECK_I64(weir_host_restore_job(second, &spec, &past, NULL), WEIR_OK);
    submit(second, 2, 4, 10);
    CHECK_I64(weir_host_restore(second, &counted, NULL), WEIR_OK);
    pass_gives(second, 0, "preempt 1 start 2");
    weir_host_destroy(first);
    weir_host_destroy(second);
}

/* ---- a pass by hand ---- */

struct seen {
    struct test_text waiting, running, brief;
    weir_status (*act)(struct weir_placer *placer, struct weir_plan *plan);
    weir_status status;
};

static weir_status open_seen(const struct weir_params *params,
                             const struct weir_allocator *allocator, void **state,
                             struct weir_error *error)
{
    (void)params;
    (void)allocator;
    (void)error;
    *state = NULL;
    return WEIR_OK;
}

/* Where the pass writes to: one test at a time. */
static struct seen *of_test(struct seen *set)
{
    static struct seen *seen;

    seen = set == NULL ? seen : set;
    return seen;
}

static void add(struct test_text *text, uint64_t id)
{
    const size_t used = strlen(text->text);

    (void)snprintf(text->text + used, sizeof text->text - used, "%s%llu", used > 0 ? " " : "",
                   (unsigned long long)id);
}

static void list_waiting(const struct weir_view *view, int64_t most_ns, struct test_text *text)
{
    struct weir_job job = { .size = sizeof job };
    struct weir_waiting_query query = { .size = sizeof query,
                                        .kind = WEIR_NO_INDEX,
                                        .most_ns = most_ns };

    for (text->text[0] = '\0'; weir_view_find_waiting(view, &query, &job); query.after = &job)
        add(text, job.id);
}

static weir_status look(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct seen *const seen = of_test(NULL);
    struct weir_job job = { .size = sizeof job };

    (void)state;
    (void)error;
    list_waiting(view, INT64_MAX, &seen->waiting);
    list_waiting(view, 20 * s_ns, &seen->brief);
    seen->running.text[0] = '\0';
    for (bool more = weir_view_next_running(view, NULL, &job); more;
         more = weir_view_next_running(view, &job, &job))
        add(&seen->running, job.id);
    seen->status = seen->act == NULL ? WEIR_OK : seen->act(placer, plan);
    return WEIR_OK;
}

static struct weir_host *open_looking(struct seen *seen)
{
    static const struct weir_queueing_ops looking = { .size = sizeof looking,
                                                      .abi = WEIR_ABI_MAJOR,
                                                      .name = "test",
                                                      .create = open_seen,
                                                      .pass = look };
    struct weir_host_config config = test_jobs_config("fcfs");

    config.queueing = &looking;
    of_test(seen);
    return test_jobs_open(&config, 2, 2);
}

static weir_status start_all(struct weir_placer *placer, struct weir_plan *plan)
{
    (void)plan;
    for (uint64_t id = 1; id <= 3; id++)
        (void)weir_placer_start_job(placer, 0, id, NULL);
    return WEIR_OK;
}

static void jobs_are_seen_in_their_order(void)
{
    struct seen seen = { .act = start_all };
    struct weir_host *const host = open_looking(&seen);

    submit(host, 1, 1, 50);
    submit(host, 2, 1, 20);
    submit(host, 3, 2, 30);
    submit(host, 4, 2, 20);
    submit(host, 5, 1, 21);
    submit(host, 6, 1, 19);
    CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_JOBS, 0)), WEIR_OK);
    CHECK_STR(seen.waiting.text, "1 2 3 4 5 6");
    CHECK_STR(seen.brief.text, "2 4 6");
    CHECK_STR(seen.running.text, "");
    seen.act = NULL;
    CHECK_I64(weir_host_withdraw(host, 0, 4), WEIR_OK);
    (void)test_decide(host, WEIR_CAUSE_JOBS, s_ns);
    CHECK_STR(seen.waiting.text, "5 6");
    CHECK_STR(seen.brief.text, "6");
    CHECK_STR(seen.running.text, "2 3 1");
    weir_host_destroy(host);
}

static weir_status ask_if_ended(struct weir_placer *placer, struct weir_plan *plan)
{
    struct weir_cluster *const scratch = weir_placer_scratch(placer);

    (void)plan;
    CHECK_I64(weir_placer_fits_job(placer, 0, 2, NULL), WEIR_EBUSY);
    CHECK_I64(weir_placer_lift_job(placer, 0, 1, NULL), WEIR_EINVAL);
    CHECK_I64(weir_cluster_mark(scratch), WEIR_OK);
    CHECK_I64(weir_placer_lift_job(placer, 0, 2, NULL), WEIR_ENOTFOUND);
    CHECK_I64(weir_placer_lift_job(placer, 0, 1, NULL), WEIR_OK);
    const weir_status status = weir_placer_fits_job(placer, 0, 2, NULL);
    weir_cluster_rollback(scratch);
    CHECK_I64(weir_placer_fits_job(placer, 0, 2, NULL), WEIR_EBUSY);
    return status;
}

static void what_would_fit_is_asked_and_forgotten(void)
{
    struct seen seen = { .act = start_all };
    struct weir_host *const host = open_looking(&seen);

    submit(host, 1, 4, 50);
    CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_JOBS, 0)), WEIR_OK);
    submit(host, 2, 4, 50);
    seen.act = ask_if_ended;
    const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, 1);
    CHECK_I64(seen.status, WEIR_OK);
    CHECK_I64(weir_plan_count(plan), 0);
    CHECK_I64(weir_host_stats(host).placements_tried, 4);
    weir_host_destroy(host);
}

/* Job 1 has all four GPUs, 2 waits for as many. */
static weir_status pack_anew(struct weir_placer *placer, struct weir_plan *plan)
{
    const struct weir_job_start how = { .size = sizeof how };
    struct weir_cluster *const scratch = weir_placer_scratch(placer);

    (void)plan;
    CHECK_I64(weir_placer_seat_job(placer, 0, 2, &how, NULL), WEIR_EINVAL);
    CHECK_I64(weir_cluster_mark(scratch), WEIR_OK);
    CHECK_I64(weir_placer_seat_job(placer, 0, 1, &how, NULL), WEIR_ENOTFOUND);
    CHECK_I64(weir_placer_seat_job(placer, 0, 3, &how, NULL), WEIR_ENOTFOUND);
    CHECK_I64(weir_placer_lift_job(placer, 0, 1, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_mark(scratch), WEIR_OK);
    CHECK_I64(weir_placer_seat_job(placer, 0, 2, &how, NULL), WEIR_OK);
    CHECK_I64(weir_placer_seat_job(placer, 0, 1, &how, NULL), WEIR_EBUSY);
    weir_cluster_rollback(scratch);
    CHECK_I64(weir_placer_seat_job(placer, 0, 1, &how, NULL), WEIR_OK);
    CHECK_I64(weir_placer_seat_job(placer, 0, 1, &how, NULL), WEIR_ENOTFOUND);
    const weir_status status = weir_placer_seat_job(placer, 0, 2, &how, NULL);
    weir_cluster_rollback(scratch);
    return status;
}

static void who_was_lifted_is_put_back(void)
{
    struct seen seen = { .act = start_all };
    struct weir_host *const host = open_looking(&seen);

    submit(host, 1, 4, 50);
    CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_JOBS, 0)), WEIR_OK);
    submit(host, 2, 4, 50);
    seen.act = pack_anew;
    const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, 1);
    CHECK_I64(seen.status, WEIR_EBUSY);
    CHECK_I64(weir_plan_count(plan), 0);
    CHECK_I64(weir_host_stats(host).placements_tried, 4);
    weir_host_destroy(host);
}

static weir_status warn(struct weir_placer *placer, struct weir_plan *plan)
{
    (void)plan;
    CHECK_I64(weir_placer_warn_job(placer, 0, 1, 0, NULL), WEIR_EINVAL);
    CHECK_I64(weir_placer_warn_job(placer, 0, 1, 30 * s_ns, NULL), WEIR_OK);
    CHECK_I64(weir_placer_preempt_job(placer, 0, 1, NULL), WEIR_EDUPLICATE);
    CHECK_I64(weir_placer_preempt_job(placer, 0, 2, NULL), WEIR_ENOTFOUND);
    return weir_placer_fits_job(placer, 0, 2, NULL);
}

/* It keeps what it holds until it is gone, and a second plan does not warn it again. */
static void who_is_warned_keeps_its_place(void)
{
    struct seen seen = { .act = start_all };
    struct weir_host *const host = open_looking(&seen);

    submit(host, 1, 4, 50);
    CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_JOBS, 0)), WEIR_OK);
    submit(host, 2, 4, 50);
    seen.act = warn;
    const struct weir_plan *plan = pass_gives(host, 0, "preempt 1");
    CHECK_I64(seen.status, WEIR_EBUSY);
    CHECK_I64(weir_plan_action(plan, 0)->value, 30 * s_ns);
    seen.act = start_all;
    submit(host, 3, 4, 50);
    pass_gives(host, 0, "");
    test_end_job(host, 1);
    pass_gives(host, 0, "start 2");
    weir_host_destroy(host);
}

static weir_status reserve_two(struct weir_placer *placer, struct weir_plan *plan)
{
    (void)plan;
    CHECK_I64(weir_placer_reserve_job(placer, 0, 2, -1, NULL), WEIR_EINVAL);
    CHECK_I64(weir_placer_reserve_job(placer, 0, 2, 7 * s_ns, NULL), WEIR_OK);
    CHECK_I64(weir_placer_reserve_job(placer, 0, 2, 0, NULL), WEIR_OK); /* until now */
    return weir_placer_start_job(placer, 0, 3, NULL);
}

static void what_is_reserved_is_kept_away_from_others(void)
{
    struct seen seen = { .act = start_all };
    struct weir_host *const host = open_looking(&seen);

    submit(host, 1, 2, 50);
    CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_JOBS, 0)), WEIR_OK);
    submit(host, 2, 4, 50);
    submit(host, 3, 1, 50);
    seen.act = reserve_two;
    const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, 0);
    CHECK_I64(seen.status, WEIR_EBUSY);
    CHECK_I64(weir_plan_action(plan, 0)->verb, WEIR_VERB_RESERVE);
    CHECK_I64(weir_plan_action(plan, 0)->value, 7 * s_ns);
    weir_host_destroy(host);
}

/* ---- plans that are wrong ---- */

static weir_status preempt_by_hand(struct weir_placer *placer, struct weir_plan *plan)
{
    const struct weir_action action = { .size = sizeof action,
                                        .verb = WEIR_VERB_PREEMPT,
                                        .owner = weir_job_owner(0, 1),
                                        .choice = WEIR_NO_INDEX };
    (void)placer;
    return weir_plan_append(plan, &action);
}

static weir_status preempt_who_waits(struct weir_placer *placer, struct weir_plan *plan)
{
    const struct weir_action action = { .size = sizeof action,
                                        .verb = WEIR_VERB_PREEMPT,
                                        .owner = weir_job_owner(0, 2),
                                        .choice = WEIR_NO_INDEX };
    (void)placer;
    return weir_plan_append(plan, &action);
}

/* Lifted without being preempted, it is still there. */
static weir_status start_where_one_runs(struct weir_placer *placer, struct weir_plan *plan)
{
    (void)plan;
    CHECK_I64(weir_cluster_mark(weir_placer_scratch(placer)), WEIR_OK);
    CHECK_I64(weir_placer_lift_job(placer, 0, 1, NULL), WEIR_OK);
    return weir_placer_start_job(placer, 0, 2, NULL);
}

static void a_plan_that_preempts_wrongly_is_rejected(void)
{
    static const struct {
        weir_status (*act)(struct weir_placer *placer, struct weir_plan *plan);
        const char *says;
    } wrong[] = { { preempt_by_hand, "1 jobs are preempted, 0 of them through the placer" },
                  { preempt_who_waits, "job 2 holds nothing" },
                  { start_where_one_runs, "needs 1 GPU, 0 free" } };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct seen seen = { .act = start_all };
        struct weir_host *const host = open_looking(&seen);
        const struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_JOBS };
        struct weir_error error = { .phase = -1 };
        const struct weir_plan *plan = NULL;
        submit(host, 1, 4, 50);
        CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_JOBS, 0)), WEIR_OK);
        submit(host, 2, 4, 50);
        seen.act = wrong[i].act;
        CHECK_I64(weir_host_decide(host, &call, &plan, &error), WEIR_EPOLICY);
        if (!CHECK(strstr(error.text, wrong[i].says) != NULL))
            printf("%s\n", error.text);
        CHECK_I64(test_job_state(host, 2), WEIR_JOB_WAITING);
        test_jobs_check(host);
        weir_host_destroy(host);
    }
}

/* What one tenant does not lend is no room for another, however short its job. */
static void nobody_goes_for_a_job_that_a_limit_keeps(void)
{
    struct weir_host *const host = open_with("srtf", 2, 2);
    struct weir_tenant_spec kept = weir_tenant_default();

    kept.guarantee.gpu_units = 3 * WEIR_ONE;
    kept.lend.gpu_units = 0;
    const uint32_t a = test_tenant(host, kept);
    const uint32_t b = test_tenant_of_weight(host, 1);
    submit_of(host, a, 1, 1, 200);
    submit_of(host, a, 2, 2, 100);
    submit_of(host, b, 3, 1, 50);
    CHECK_I64(test_carry_out(host, pass_gives(host, 0, "start 3 start 2 start 1")), WEIR_OK);
    submit_of(host, b, 4, 1, 10);
    /* Without 1 a GPU is free, and kept; so is a second one without 2. */
    const struct weir_plan *const plan = pass_gives(host, 1, "preempt 3 start 4");
    give_way(host, 3, 1, 1);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    pass_gives(host, 1, "");
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "a longer job gives way and goes on", a_longer_job_gives_way_and_goes_on },
    { "no more jobs are preempted than needed", no_more_jobs_are_preempted_than_needed },
    { "a plan that is not carried out preempts nobody",
      a_plan_that_is_not_carried_out_preempts_nobody },
    { "a job that was taken over is preempted whole",
      a_job_that_was_taken_over_is_preempted_whole },
    { "jobs are seen in their order", jobs_are_seen_in_their_order },
    { "what would fit is asked and forgotten", what_would_fit_is_asked_and_forgotten },
    { "who was lifted is put back", who_was_lifted_is_put_back },
    { "who is warned keeps its place", who_is_warned_keeps_its_place },
    { "nobody goes for a job that a limit keeps", nobody_goes_for_a_job_that_a_limit_keeps },
    { "what is reserved is kept away from others", what_is_reserved_is_kept_away_from_others },
    { "a plan that preempts wrongly is rejected", a_plan_that_preempts_wrongly_is_rejected },
};

TEST_MAIN(tests)
