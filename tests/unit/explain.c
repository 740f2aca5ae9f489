/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Explanations say what was recorded, counted and in words. */
#include "analysis/analysis.h"

#include "tests/support/fixture.h"

#include <math.h>

static const struct an_explain_query nothing = { .variant = "xenna",
                                                 .worker = -1,
                                                 .from_s = (double)NAN,
                                                 .to_s = (double)NAN,
                                                 .at_s = (double)NAN };

/* The printed text, malloc'ed; "" when the query failed. */
static char *explain(struct an_db *db, const struct an_explain_query *query, weir_status wanted,
                     struct weir_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    CHECK_I64(an_explain(db, query, out, error), wanted);
    (void)fclose(out);
    return text;
}

static void check_has(const char *text, const char *part)
{
    CHECK_STR(strstr(text, part) == NULL ? text : part, part);
}

static void explains_a_worker(void)
{
    struct an_db *db =
        fixture_open("UPDATE action SET ties = 3, runner_up_node = 0, "
                     "runner_up_score = 0.5, runner_up_score2 = 1 WHERE worker = 41");
    struct an_explain_query query = nothing;
    query.worker = 41;
    char *text = explain(db, &query, WEIR_OK, NULL);
    check_has(text, "worker 41 of caption ran on dgx-1 (gpu0) from 00:03:00");
    check_has(text, "decision 1 at 00:03:00 placed it in phase 3 (placement fgd, scaling xenna)");
    check_has(text, "2 nodes looked at: 1 place would fit · 1 too few free GPUs");
    check_has(text, "score (smaller is better): 0.004, then -1.5; runner-up dgx-0: 0.5, then 1");
    check_has(text, "tie: 3 places had the best score");
    check_has(text, "ended at 01:20:00: node lost");
    free(text);
    query.as_json = true;
    text = explain(db, &query, WEIR_OK, NULL);
    check_has(text, "\"worker\":41");
    check_has(text, "\"rejected\":{\"too few free GPUs\":1}");
    free(text);
    an_close(db);
}

static void worker_without_a_decision(void)
{
    struct an_db *db = fixture_open("DELETE FROM action");
    struct an_explain_query query = nothing;
    query.worker = 40;
    char *text = explain(db, &query, WEIR_OK, NULL);
    check_has(text, "runs on dgx-0 (gpu0) since 00:00:00");
    check_has(text, "it was there from the beginning");
    free(text);
    an_close(db);
}

static void explains_a_stage(void)
{
    struct an_db *db = fixture_open(NULL);
    struct an_explain_query query = nothing;
    query.stage = "caption";
    query.from_s = 600.0;
    query.to_s = 3600.0;
    char *text = explain(db, &query, WEIR_OK, NULL);
    check_has(text, "no worker was added to caption between 00:12:00 and 01:00:00");
    check_has(text, "17 decisions added none: too few free GPUs (12), no stage can give a worker "
                    "up (5)");
    check_has(text, "denied 17 times: too few free GPUs on 2 nodes");
    free(text);
    query.from_s = (double)NAN;
    query.to_s = (double)NAN;
    text = explain(db, &query, WEIR_OK, NULL);
    check_has(text, "19 more workers were planned for caption by 3 of 40 decisions");
    free(text);
    query.as_json = true;
    text = explain(db, &query, WEIR_OK, NULL);
    check_has(text, "\"stage\":\"caption\"");
    check_has(text, "\"workers_before\":13,\"workers_after\":13");
    free(text);
    an_close(db);
}

static void explains_a_moment(void)
{
    struct an_db *db = fixture_open(NULL);
    struct an_explain_query query = nothing;
    query.at_s = 4800.0;
    char *text = explain(db, &query, WEIR_OK, NULL);
    check_has(text, "decision 26 at 01:18:00 was in force at 01:20:00");
    check_has(text, "the next one came at 01:21:00");
    check_has(text, "too few free GPUs");
    free(text);
    an_close(db);
}

static void silence_is_told(void)
{
    struct an_db *db = fixture_open("DELETE FROM decision_stage");
    struct an_explain_query query = nothing;
    query.stage = "caption";
    char *text = explain(db, &query, WEIR_OK, NULL);
    check_has(text, "no decision about caption was recorded");
    free(text);
    an_close(db);
}

static void unknown_names_are_refused(void)
{
    struct an_db *db = fixture_open(NULL);
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_explain_query query = nothing;
    query.stage = "captoin";
    free(explain(db, &query, WEIR_ENOTFOUND, &error));
    check_has(error.text, "there are: load, decode, caption, encode");
    query = nothing;
    query.worker = 9999;
    free(explain(db, &query, WEIR_ENOTFOUND, &error));
    check_has(error.text, "has no worker 9999");
    free(explain(db, &nothing, WEIR_EINVAL, &error));
    an_close(db);
}

static const struct test tests[] = {
    { "a worker's place, scores, runner-up, tie and end are told", explains_a_worker },
    { "a worker without a decision was there from the beginning", worker_without_a_decision },
    { "a stage's missing workers are told by counted reasons", explains_a_stage },
    { "the decision in force at a time is told", explains_a_moment },
    { "what was not recorded is not invented", silence_is_told },
    { "unknown stages and workers are refused with what there is", unknown_names_are_refused },
};
TEST_MAIN(tests)
