/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A host that goes on where another one stopped: it is told the document that the other wrote, and
 * both plan the same, now and after what happens next.
 */
#include "sched/cluster/state.h"
#include "sched/internal/memory.h"
#include "sim/cli/decide/decide_document.h"
#include "sim/cli/decide/decide_host.h"
#include "tests/support/check.h"
#include "tests/support/host_jobs.h"
#include "weir/reservation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The other host, with what it was read from. */
struct mirror {
    char *text;
    struct decide_documents documents;
    struct decide_question question;
    struct decide_host made;
};

static weir_status append(void *state, const char *text, size_t length)
{
    return fwrite(text, 1, length, state) == length ? WEIR_OK : WEIR_EIO;
}

/* As the host is about to decide. NULL = it cannot be read back. */
static struct mirror *mirror_open(struct weir_host *host, const struct weir_call *call)
{
    struct mirror *const mirror = calloc(1, sizeof *mirror);
    struct weir_error error = { .phase = -1 };
    size_t size = 0;

    if (mirror == NULL)
        return NULL;
    FILE *const out = open_memstream(&mirror->text, &size);
    const struct weir_sink sink = { .write = append, .state = out };
    CHECK_I64(weir_host_export_call(host, call, &sink), WEIR_OK);
    (void)fclose(out);
    CHECK_I64(decide_documents_parse("f", mirror->text, size, &mirror->documents, &error), WEIR_OK);
    mirror->question.input = json_array_get(mirror->documents.list, 0);
    if (!CHECK_I64(decide_host_open(&mirror->made, &mirror->question, &error), WEIR_OK))
        printf("%s\n", error.text);
    return mirror;
}

static void mirror_close(struct mirror *mirror)
{
    decide_host_close(&mirror->made);
    decide_documents_clear(&mirror->documents);
    free(mirror->text);
    free(mirror);
}

/* "start 3, wake 20, ..." */
static struct test_text say(const struct weir_plan *plan)
{
    struct test_text said = { "" };
    size_t used = 0;

    for (uint32_t i = 0; plan != NULL && i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        const bool is_wake = action->verb == WEIR_VERB_WAKE;
        used += (size_t)snprintf(said.text + used, sizeof said.text - used, "%s%s %lld",
                                 used > 0 ? ", " : "", weir_verb_name(action->verb),
                                 is_wake ? (long long)action->value : (long long)action->owner.id);
    }
    return said;
}

static struct test_text decide(struct weir_host *host, struct weir_call call)
{
    const struct weir_plan *plan = NULL;
    struct weir_error error = { .phase = -1 };

    call.size = sizeof call;
    if (!CHECK_I64(weir_host_decide(host, &call, &plan, &error), WEIR_OK))
        printf("%s\n", error.text);
    return say(plan);
}

static struct weir_call call_at(int64_t now_ns)
{
    return (struct weir_call){ .size = sizeof(struct weir_call),
                               .causes = WEIR_CAUSE_JOBS | WEIR_CAUSE_TIMER,
                               .now_ns = now_ns };
}

/* Both plan this. */
static void both_answer(struct weir_host *host, struct weir_call call, const char *expected)
{
    struct mirror *const mirror = mirror_open(host, &call);

    CHECK_STR(decide(mirror->made.host, call).text, expected);
    CHECK_STR(decide(host, call).text, expected);
    mirror_close(mirror);
}

static void both_plan(struct weir_host *host, int64_t now_ns, const char *expected)
{
    both_answer(host, call_at(now_ns), expected);
}

static void reserve(struct weir_host *host, const char *name, int64_t start_ns, int64_t end_ns)
{
    const struct weir_reservation_spec spec = {
        .size = sizeof spec, .name = name, .start_ns = start_ns, .end_ns = end_ns, .nodes = 1
    };

    CHECK_I64(weir_host_add_reservation(host, &spec, NULL, NULL), WEIR_OK);
}

static void a_reservation_told_since_is_asked_for(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 1);

    both_plan(host, 10, "");
    reserve(host, "r", 1000, 2000);
    both_plan(host, 20, "wake 1000");
    both_plan(host, 30, ""); /* once */
    reserve(host, "s", 500, 1500);
    both_plan(host, 700, "wake 1000"); /* it has begun */
    weir_host_destroy(host);
}

static void calls_of_a_cancelled_plan_are_asked_for(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 1);

    reserve(host, "r", 1000, 2000);
    CHECK_STR(decide(host, call_at(10)).text, "wake 1000");
    CHECK_I64(weir_host_cancel(host, NULL), WEIR_OK);
    both_plan(host, 20, "wake 1000");
    both_plan(host, 30, "");
    weir_host_destroy(host);
}

/* A node goes down: only who the truth refused is asked again. */
static void whom_the_truth_refused_is_known(void)
{
    for (int refused = 0; refused < 2; refused++) {
        const struct weir_host_config config = test_jobs_config("first_fit");
        struct weir_host *const host = test_jobs_open(&config, 3, 1);
        const struct weir_call call = call_at(30);
        struct weir_outcome outcome = { .size = sizeof outcome,
                                        .kind = WEIR_OUTCOME_REFUSED,
                                        .owner = weir_job_owner(0, 1) };
        CHECK_I64(test_submit(host, 1, 2, 1), WEIR_OK);
        if (refused != 0) {
            (void)decide(host, call_at(10));
            CHECK_I64(weir_host_outcome(host, &outcome, NULL, NULL), WEIR_OK);
        } else {
            test_starts_are(host, "1.0@0 1.1@1");
            CHECK_I64(test_submit(host, 2, 2, 1), WEIR_OK);
            (void)decide(host, call_at(10));
        }
        struct mirror *const mirror = mirror_open(host, &call);
        CHECK_I64(mirror->made.host->jobs.has_refused, refused);
        CHECK_I64(weir_host_set_node(host, 2, 0, 20), WEIR_OK);
        CHECK_I64(weir_host_set_node(mirror->made.host, 2, 0, 20), WEIR_OK);
        const struct test_text said = decide(host, call);
        CHECK_STR(decide(mirror->made.host, call).text, said.text);
        CHECK_I64(said.text[0] != '\0', refused);
        mirror_close(mirror);
        weir_host_destroy(host);
    }
}

static void ranks_are_found_where_they_were(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 2);
    const struct weir_call call = call_at(10);

    CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 2, 3, 1), WEIR_OK);
    test_starts_are(host, "1.0@0 2.0@0 2.1@1 2.2@1");
    struct mirror *const mirror = mirror_open(host, &call);
    for (uint64_t id = 1; id < 3; id++) {
        struct weir_host *const both[] = { host, mirror->made.host };
        for (int i = 0; i < 2; i++)
            CHECK_I64(weir_jobs_placed(&both[i]->jobs, weir_jobs_find(&both[i]->jobs, 0, id))
                          ->first_worker,
                      id);
    }
    mirror_close(mirror);
    weir_host_destroy(host);
}

/* The one that says how long it takes goes first, and who does not say may not run into the
 * reservation. */
static void a_job_without_an_estimate_has_none(void)
{
    const struct weir_host_config config = test_jobs_config("sjf");
    struct weir_host *const host = test_jobs_open(&config, 1, 1);
    const struct weir_rank_group group = test_rank_group(1, 1, 1);
    struct weir_job_spec job = test_job_spec(1, &group, 1);

    CHECK_I64(weir_host_submit(host, &job, NULL), WEIR_OK);
    job.id = 2;
    job.estimate_ns = 60;
    CHECK_I64(weir_host_submit(host, &job, NULL), WEIR_OK);
    both_plan(host, 10, "start 2, deny 1");
    weir_host_destroy(host);
}

/* Its policies have decided, or not even that, when a node and a stage come. */
static void grows_alike(struct weir_host_config config, bool has_decided)
{
    static const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 2 },
                                                { .name = "b", .cpus = 1, .gpus = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 2, .gpus = 2, .cpus = 8, .stages = stages, .stage_count = 2
    };
    const struct weir_node_offer offer = {
        .size = sizeof offer, .holds = { .cpu_units = 8 * WEIR_ONE }, .up = 2, .max = 4
    };
    const struct weir_node_spec node = { .size = sizeof node, .id = 77, .cpu_units = 8 * WEIR_ONE };
    struct weir_host *const host = test_host(&config, &pipeline);
    const struct weir_call call = call_at(60 * INT64_C(1000000000));

    CHECK_I64(weir_host_offer_nodes(host, &offer, NULL), WEIR_OK);
    if (has_decided)
        CHECK_I64(test_step(host, NULL), WEIR_OK);
    struct weir_pool_spec last = test_pool_spec(weir_view_pool(weir_host_view(host, 0), 0));
    last.name = "c";
    CHECK_I64(weir_host_add_pool(host, &last, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_add_node(host, &node, NULL, NULL), WEIR_OK);
    struct mirror *const mirror = mirror_open(host, &call);
    const struct test_text said = decide(host, call);
    if (!CHECK(strcmp(decide(mirror->made.host, call).text, said.text) == 0))
        printf("    %s, %s: %s\n", config.scaling->name, config.capacity->name, said.text);
    mirror_close(mirror);
    weir_host_destroy(host);
}

static void what_came_since_is_new_to_both(void)
{
    for (int has_decided = 0; has_decided < 2; has_decided++) {
        struct weir_host_config config = test_config("first_fit", "fixed");
        config.capacity = weir_capacity_at(0);
        for (uint32_t i = 0; i < weir_scaling_count(); i++) {
            config.scaling = weir_scaling_at(i);
            grows_alike(config, has_decided != 0);
        }
        for (uint32_t i = 0; i < weir_capacity_count(); i++) {
            config.capacity = weir_capacity_at(i);
            grows_alike(config, has_decided != 0);
        }
    }
}

/* Placement weir counts the workers that came and went since it was asked last. */
static void who_ended_since_is_known(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 3, 1);
    const struct weir_call call = call_at(30);
    CHECK_I64(test_submit(host, 1, 2, 1), WEIR_OK);
    test_starts_are(host, "1.0@0 1.1@1");
    test_end_job(host, 1);
    struct mirror *const mirror = mirror_open(host, &call);
    const struct weir_cluster *const inventory = weir_host_cluster(host);
    const struct weir_cluster *const other = weir_host_cluster(mirror->made.host);
    CHECK(inventory->ended > 0);
    CHECK_I64(other->begun, inventory->begun);
    CHECK_I64(other->ended, inventory->ended);
    mirror_close(mirror);
    weir_host_destroy(host);
}

/* Job 1 ends as 2 and 3 come. Arrivals are seen before ends, so 2 is chosen, and while it lacks
 * what 1 gives back the brief 3 starts. */
static void who_ended_now_is_seen_after_who_came(void)
{
    static const double values[] = { 0, 1 }; /* sjf, with backfill */
    struct weir_host_config config = test_jobs_config("committed");
    config.queueing_params = (struct weir_params){ values, 2 };
    struct weir_host *const host = test_jobs_open(&config, 2, 1);
    for (uint32_t id = 1; id <= 3; id++) {
        const struct weir_rank_group group = test_rank_group(id == 2 ? 2 : 1, 1, 1);
        struct weir_job_spec spec = test_job_spec(id, &group, 1);
        spec.estimate_ns = id == 3 ? 10 : 100;
        spec.queued_ns = id == 1 ? 0 : 30;
        CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
        if (id == 1)
            test_starts_are(host, "1.0@0");
    }
    test_end_job(host, 1);
    both_plan(host, 30, "start 3");
    weir_host_destroy(host);
}

/* Nobody runs who could come to another queue: nothing is looked at. */
static void who_waits_for_no_time_is_not_woken(void)
{
    struct weir_host_config config = test_jobs_config("las_promoted");
    struct weir_call call = call_at(30);
    config.hold_mode = WEIR_HOLD_RESERVE;
    call.causes = WEIR_CAUSE_WAKE;
    struct weir_host *const host = test_jobs_open(&config, 2, 1);
    CHECK_I64(weir_host_set_node(host, 1, WEIR_NODE_UP | WEIR_NODE_CORDONED, 0), WEIR_OK);
    CHECK_I64(test_submit(host, 1, 2, 1), WEIR_OK);
    both_plan(host, 20, "reserve 1, deny 1");
    both_answer(host, call, "");
    weir_host_destroy(host);
}

/* One GPU is free, for job 2 too few; with explain off nobody asks the node, which is closed. */
static void reasons_are_as_coarse(void)
{
    for (uint32_t level = WEIR_EXPLAIN_OFF; level <= WEIR_EXPLAIN_COUNTS; level++) {
        struct weir_host_config config = test_jobs_config("first_fit");
        const struct weir_call call = call_at(30);
        struct weir_error error = { .phase = -1 };
        const struct weir_plan *plans[2] = { NULL, NULL };
        config.explain = level;
        struct weir_host *const host = test_jobs_open(&config, 1, 2);
        CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
        test_starts_are(host, "1.0@0");
        CHECK_I64(weir_host_set_node(host, 0, WEIR_NODE_UP | WEIR_NODE_CORDONED, 0), WEIR_OK);
        CHECK_I64(test_submit(host, 2, 1, 2), WEIR_OK);
        struct mirror *const mirror = mirror_open(host, &call);
        CHECK_I64(weir_host_decide(host, &call, &plans[0], &error), WEIR_OK);
        CHECK_I64(weir_host_decide(mirror->made.host, &call, &plans[1], &error), WEIR_OK);
        for (int i = 0; i < 2; i++)
            CHECK_I64(weir_plan_action(plans[i], 0)->reason,
                      level == WEIR_EXPLAIN_OFF ? WEIR_REASON_GPU_FREE : WEIR_REASON_NODE_DOWN);
        mirror_close(mirror);
        weir_host_destroy(host);
    }
}

/* Of the queueing policy, as texts. */
static struct test_text memory_of(struct weir_host *host)
{
    const struct weir_policy_state *const policy = weir_host_policy(host, WEIR_POLICY_QUEUEING);
    struct test_text said = { "" };
    double numbers[64];
    const uint32_t count = policy->save(policy->state, numbers, 64);
    size_t used = 0;

    for (uint32_t i = 0; i < count && i < 64 && used < sizeof said.text - 30; i++)
        used += (size_t)snprintf(said.text + used, sizeof said.text - used, "%.17g ", numbers[i]);
    return said;
}

/* gavel before its first pass, and a flow of a tenant without weight. */
static void infinite_numbers_come_back(void)
{
    static const double flow[] = { HUGE_VAL, -HUGE_VAL, 1, 5, 2 };
    static const char *const names[] = { "gavel", "wfq" };
    static const struct weir_tenant_spec tenant = { .size = sizeof tenant, .name = "t" };
    const struct weir_call call = call_at(0);

    for (int i = 0; i < 2; i++) {
        const struct weir_host_config config = test_jobs_config(names[i]);
        struct weir_host *const host = test_jobs_open(&config, 1, 1);
        CHECK_I64(weir_host_add_tenant(host, &tenant, NULL, NULL), WEIR_OK);
        if (i == 1)
            CHECK_I64(weir_host_restore_policy(host, WEIR_POLICY_QUEUEING, flow, 5, NULL), WEIR_OK);
        struct mirror *const mirror = mirror_open(host, &call);
        CHECK(strstr(memory_of(host).text, "-inf") != NULL);
        CHECK_STR(memory_of(mirror->made.host).text, memory_of(host).text);
        mirror_close(mirror);
        weir_host_destroy(host);
    }
}

/* A number that a document holds, as `weir decide` reads it. */
static double read_again(double number)
{
    char text[40];

    (void)snprintf(text, sizeof text, "%.17g", number);
    return strtod(text, NULL);
}

static void times_come_back_to_the_nanosecond(void)
{
    static const int64_t times[] = { 0,
                                     1,
                                     -1,
                                     INT64_C(1) << 53,
                                     (INT64_C(1) << 53) + 1,
                                     INT64_C(1790000000123456789),
                                     (INT64_C(1) << 62) - 1,
                                     INT64_MAX,
                                     INT64_MIN };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        CHECK_I64(weir_memory_to_time(read_again(weir_memory_of_time(times[i]))), times[i]);
    CHECK_I64(weir_memory_to_time(12), 12);
    CHECK_I64(weir_memory_to_time((double)NAN), INT64_MAX);
    CHECK_I64(weir_memory_to_time(-HUGE_VAL), INT64_MIN);
}

/* Since 1970: what a gang holds is its for a minute, to the nanosecond. */
static void a_hold_ends_at_its_nanosecond(void)
{
    const struct weir_host_config config = test_jobs_config("hold");
    struct weir_host *const host = test_jobs_open(&config, 1, 1);
    const int64_t now_ns = INT64_C(1790000000123456789);

    CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
    CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_JOBS, now_ns)), WEIR_OK);
    CHECK_I64(test_submit(host, 2, 2, 0.5), WEIR_OK);
    both_plan(host, now_ns + 1, "wake 1790000060123456790, deny 2");
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
    both_plan(host, now_ns + INT64_C(59999999999), "deny 2");
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "a reservation told since the latest decision is asked for",
      a_reservation_told_since_is_asked_for },
    { "calls of a cancelled plan are asked for", calls_of_a_cancelled_plan_are_asked_for },
    { "whom the truth refused is known", whom_the_truth_refused_is_known },
    { "ranks are found where they were", ranks_are_found_where_they_were },
    { "a job without an estimate has none", a_job_without_an_estimate_has_none },
    { "what came since is new to both", what_came_since_is_new_to_both },
    { "infinite numbers come back", infinite_numbers_come_back },
    { "times come back to the nanosecond", times_come_back_to_the_nanosecond },
    { "a hold ends at its nanosecond", a_hold_ends_at_its_nanosecond },
    { "who ended since is known", who_ended_since_is_known },
    { "who ended now is seen after who came", who_ended_now_is_seen_after_who_came },
    { "who waits for no time is not woken", who_waits_for_no_time_is_not_woken },
    { "reasons are as coarse", reasons_are_as_coarse },
};

TEST_MAIN(tests)
