/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening databases, runs, facts, and the comparison of variants, on the invented database. */
#include "analysis/database/query.h"

#include "analysis/facts.h"
#include "analysis/goal.h"
#include "analysis/metrics.h"
#include "analysis/text.h"
#include "tests/support/fixture.h"

#include <math.h>

static void refuses_strangers(void)
{
    char path[FIXTURE_PATH];
    struct an_db *db = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    CHECK_I64(an_open("/nowhere/x.db", &db, &error), WEIR_EIO);
    CHECK(strstr(error.text, "/nowhere/x.db") != NULL);
    CHECK(fixture_empty(path));
    CHECK(fixture_sql(path, "PRAGMA application_id = 1"));
    CHECK_I64(an_open(path, &db, &error), WEIR_EIO);
    CHECK(strstr(error.text, "is not a weir database") != NULL);
    CHECK(fixture_sql(path, "PRAGMA application_id = 0x77656972; PRAGMA user_version = 99"));
    CHECK_I64(an_open(path, &db, &error), WEIR_EIO);
    CHECK(strstr(error.text, "schema 99") != NULL);
    CHECK(db == NULL);
    (void)unlink(path);
}

static void finds_runs(void)
{
    struct an_db *db = fixture_open("UPDATE run SET seed = 9007199254740993");
    struct an_run *run = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    CHECK_I64(an_run_find(db, NULL, 0, &run, &error), WEIR_OK);
    CHECK_STR(run->variant, "equal_split");
    CHECK_I64(run->replications, 10);
    CHECK_I64(run->seed, 9007199254740993);
    an_run_destroy(run);
    CHECK_I64(an_run_find(db, "xenna", 3, &run, &error), WEIR_OK);
    CHECK_I64(run->run_id, 24);
    an_run_destroy(run);
    CHECK_I64(an_run_find(db, "nobody", 0, &run, &error), WEIR_ENOTFOUND);
    CHECK(strstr(error.text, "equal_split, best_fit, xenna") != NULL);
    an_close(db);
}

static void facts_agree_with_samples(void)
{
    struct an_db *db = fixture_open(NULL);
    struct an_run *run = NULL;
    struct an_facts *facts = NULL;
    CHECK_I64(an_run_find(db, "xenna", 0, &run, NULL), WEIR_OK);
    CHECK_I64(an_facts_read(db, run, &facts, NULL), WEIR_OK);
    CHECK_I64(facts->stage_count, 4);
    CHECK_I64(facts->node_count, 2);
    CHECK_NEAR(facts->gpu_count, 16.0, 0.0);
    CHECK_STR(facts->stages[facts->bottleneck].name, "caption");
    CHECK_NEAR(facts->resources[AN_GPU].assigned, 0.96875, 1e-9);
    CHECK_NEAR(facts->stages[2].workers_max, 13.0, 0.0);
    double bottleneck = 0.0;
    for (size_t i = 0; i < 4; i++) {
        const struct an_stage_facts *stage = &facts->stages[i];
        bottleneck += stage->bottleneck;
        CHECK(stage->queue_p95 >= stage->queue_mean && stage->queue_p95 <= stage->queue_max);
        CHECK(stage->busy + stage->blocked + stage->starved + stage->setup <= 1.0 + 1e-9);
    }
    CHECK_NEAR(bottleneck, 1.0, 1e-9);
    an_facts_destroy(facts);
    an_run_destroy(run);
    an_close(db);
}

static const struct an_metric_row *row_of(const struct an_comparison *comparison,
                                          const char *metric)
{
    for (size_t i = 0; i < comparison->row_count; i++)
        if (strcmp(comparison->rows[i].metric, metric) == 0)
            return &comparison->rows[i];
    return NULL;
}

/* The verdict on a variant, -1 where there is no such metric. */
static int verdict_of(const struct an_comparison *comparison, const char *metric, size_t variant)
{
    const struct an_metric_row *row = row_of(comparison, metric);
    return row == NULL ? -1 : (int)row->cells[variant].verdict;
}

/* covers: S1.138 */
static void compares_variants(void)
{
    struct an_db *db = fixture_open(NULL);
    struct an_comparison *comparison = NULL;
    CHECK_I64(an_compare(db, NULL, &comparison, NULL), WEIR_OK);
    CHECK_I64(comparison->variant_count, 3);
    CHECK_STR(comparison->variants[comparison->baseline], "equal_split");
    const struct an_metric_row *row = row_of(comparison, "thr.pipeline.steady");
    CHECK(row != NULL && comparison->rows[0].is_goal);
    row = &comparison->rows[0];
    CHECK_STR(row->metric, "thr.pipeline");
    CHECK_I64(row->cells[0].verdict, AN_BASELINE);
    CHECK_I64(row->cells[2].verdict, AN_BETTER);
    CHECK(row->cells[2].is_best && !row->cells[1].is_tied_with_best);
    CHECK(row->cells[2].difference_low > 0.0);
    CHECK_NEAR(row->cells[2].difference, row->cells[2].mean - row->cells[0].mean, 1e-12);
    CHECK(strncmp(comparison->finding, "xenna ", 6) == 0);
    CHECK(strstr(comparison->finding, "10 paired replications") != NULL);
    CHECK_I64(verdict_of(comparison, "worker.churn", 2), AN_WORSE);
    CHECK_I64(verdict_of(comparison, "util.gpu.assigned", 2), AN_NEUTRAL);
    CHECK(row_of(comparison, "makespan") == NULL);
    an_comparison_destroy(comparison);
    an_close(db);
}

static void ties_hold_zero(void)
{
    /* Differences +1 and -1 in turn around nothing. */
    struct an_db *db = fixture_open(
        "UPDATE result SET value = 5 + (SELECT CASE variant_order WHEN 0 THEN replication ELSE "
        "replication + 2 * (replication % 2) - 1 END FROM run WHERE run.run_id = result.run_id) "
        "WHERE metric = 'thr.pipeline'");
    const char *const metrics[] = { "thr.pipeline" };
    const struct an_compare_options options = { .baseline = "best_fit",
                                                .metrics = metrics,
                                                .metric_count = 1 };
    struct an_comparison *comparison = NULL;
    CHECK_I64(an_compare(db, &options, &comparison, NULL), WEIR_OK);
    CHECK_I64(comparison->row_count, 1);
    const struct an_cell *cell = &comparison->rows[0].cells[0];
    CHECK(cell->verdict == AN_TIE);
    CHECK(cell->difference_low < 0.0 && cell->difference_high > 0.0);
    CHECK(comparison->rows[0].cells[2].verdict == AN_DETERMINISTIC_TIE);
    an_comparison_destroy(comparison);
    an_close(db);
}

static void deterministic_runs_have_no_interval(void)
{
    struct an_db *db = fixture_open("UPDATE result SET value = run_id / 10 WHERE metric = "
                                    "'thr.pipeline'; UPDATE result SET value = 2 WHERE "
                                    "metric = 'thr.pipeline' AND run_id = 30; "
                                    "UPDATE result SET value = 1 WHERE metric = "
                                    "'thr.pipeline' AND run_id = 20;"
                                    "UPDATE result SET value = 0 WHERE metric = "
                                    "'thr.pipeline' AND run_id = 10;");
    struct an_comparison *comparison = NULL;
    CHECK_I64(an_compare(db, NULL, &comparison, NULL), WEIR_OK);
    const struct an_cell *cell = &comparison->rows[0].cells[2];
    CHECK(cell->is_deterministic);
    CHECK(cell->verdict == AN_DETERMINISTIC_BETTER);
    CHECK(isnan(cell->p_value) && isnan(cell->difference_low) && isnan(cell->half_width));
    CHECK_NEAR(cell->difference, 2.0, 1e-12);
    CHECK(strstr(comparison->finding, "the same difference in all 10 replications") != NULL);
    an_comparison_destroy(comparison);
    an_close(db);
}

static void one_replication_says_nothing_about_chance(void)
{
    struct an_db *db = fixture_open("DELETE FROM run WHERE replication > 0");
    struct an_comparison *comparison = NULL;
    CHECK_I64(an_compare(db, NULL, &comparison, NULL), WEIR_OK);
    CHECK(isnan(comparison->rows[0].cells[2].p_value));
    CHECK(strstr(comparison->finding, "1 replication, so no statement about chance") != NULL);
    an_comparison_destroy(comparison);
    an_close(db);
}

static void label_of_a_metric(void)
{
    struct an_db *db = fixture_open("DELETE FROM run WHERE replication > 0");
    const char *const metrics[] = { "bp.starved_frac:caption", "bp.starved_frac" };
    const struct an_compare_options options = { .metrics = metrics, .metric_count = 2 };
    struct an_comparison *comparison = NULL;
    CHECK_I64(an_compare(db, &options, &comparison, NULL), WEIR_OK);
    CHECK_STR(comparison->rows[0].label, "starved of caption");
    CHECK_NEAR(comparison->rows[0].cells[0].mean, 0.3, 1e-12);
    CHECK_NEAR(comparison->rows[1].cells[0].mean, 0.25, 1e-12);
    an_comparison_destroy(comparison);
    an_close(db);
}

static void refuses_what_differs(void)
{
    static const struct {
        const char *sql, *text;
    } cases[] = {
        { "UPDATE run SET warmup_s = 0 WHERE run_id = 5",
          "warmup_s differs (--force compares them): 0.0 s and 600.0 s" },
        { "UPDATE run SET horizon_s = NULL WHERE run_id = 5", "horizon_s differs" },
        { "UPDATE run SET seed = 43 WHERE run_id = 5", "seed differs" },
        { "DELETE FROM run WHERE run_id = 5", "replication 4 has 2 of 3 variants" },
        { "UPDATE run SET status = 'running' WHERE run_id = 5",
          "variant equal_split, replication 4 is running" },
        { "UPDATE run SET status = 'failed'", "replication 0 is failed" },
        { "INSERT INTO experiment SELECT 2, 'other', '', '', '', '', '' FROM experiment",
          "scenario differs" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct an_db *db = fixture_open(cases[i].sql);
        struct an_comparison *comparison = NULL;
        struct weir_error error = { .phase = -1, .pool = -1 };
        CHECK_I64(an_compare(db, NULL, &comparison, &error), WEIR_EINVAL);
        CHECK(comparison == NULL);
        CHECK_STR(strstr(error.text, cases[i].text) == NULL ? error.text : "", "");
        an_close(db);
    }
}

static void what_failed_takes_nothing_from_the_others(void)
{
    struct an_db *db = fixture_open("UPDATE run SET status = 'failed', message = 'it broke' "
                                    "WHERE variant = 'equal_split' AND replication = 4");
    struct an_comparison *comparison = NULL;
    CHECK_I64(an_compare(db, NULL, &comparison, NULL), WEIR_OK);
    CHECK_I64(comparison->variant_count, 2);
    for (size_t v = 0; v < comparison->variant_count; v++)
        CHECK(strcmp(comparison->variants[v], "equal_split") != 0);
    CHECK_STR(comparison->left_out, "equal_split is left out, it failed in 1 of 10 runs: it broke");
    CHECK_I64(comparison->rows[0].cells[0].n, 10);
    an_comparison_destroy(comparison);
    an_close(db);
}

static void unbeaten_baseline_is_told(void)
{
    struct an_db *db = fixture_open(NULL);
    const struct an_compare_options options = { .baseline = "xenna" };
    struct an_comparison *comparison = NULL;
    CHECK_I64(an_compare(db, &options, &comparison, NULL), WEIR_OK);
    CHECK(strncmp(comparison->finding, "xenna is not beaten; next best_fit 0.", 37) == 0);
    an_comparison_destroy(comparison);
    an_close(db);
}

/* One replication is a figure, never a finding about chance. */
static void one_run_beats_nothing(void)
{
    struct an_db *db = fixture_open("DELETE FROM run WHERE replication > 0");
    struct an_comparison *comparison = NULL;
    CHECK_I64(an_compare(db, NULL, &comparison, NULL), WEIR_OK);
    for (size_t i = 0; i < comparison->row_count; i++)
        for (size_t v = 1; v < comparison->variant_count; v++) {
            const enum an_verdict verdict = comparison->rows[i].cells[v].verdict;
            CHECK(verdict == AN_ONE_RUN || verdict == AN_DETERMINISTIC_TIE ||
                  verdict == AN_NEUTRAL || verdict == AN_OPEN);
        }
    CHECK_I64(verdict_of(comparison, "thr.pipeline", 2), AN_ONE_RUN);
    CHECK(strstr(comparison->finding, "1 replication, so no statement about chance") != NULL);
    an_comparison_destroy(comparison);
    an_close(db);
}

/* A share is between none and all, so is its interval, and so is what it can gain or lose. What
 * cannot be below nothing is not. */
static void intervals_stay_in_their_range(void)
{
    struct an_db *db = fixture_open(
        "INSERT INTO result SELECT run_id, 'jobs.acceptance', '', CASE variant_order WHEN 0 THEN"
        " iif(replication % 2 = 0, 0.999, 0.4) WHEN 1 THEN 0.99 - 0.2 * (replication % 3 = 0)"
        " ELSE 1 END, 'ratio', 1, 0, 0 FROM run;"
        "INSERT INTO result SELECT run_id, 'wait.job.mean', '', CASE variant_order WHEN 0 THEN 100"
        " ELSE 0.1 + 900 * (replication = 3) END, 's', 100, 0, 0 FROM run");
    struct an_comparison *comparison = NULL;
    const char *const metrics[] = { "jobs.acceptance", "wait.job.mean" };
    const struct an_compare_options options = { .metrics = metrics, .metric_count = 2 };
    CHECK_I64(an_compare(db, &options, &comparison, NULL), WEIR_OK);
    const struct an_cell *cells = comparison->rows[0].cells;
    for (size_t v = 0; v < 2; v++) {
        CHECK(cells[v].low > 0.0 && cells[v].low < cells[v].mean);
        CHECK(cells[v].high > cells[v].mean && cells[v].high < 1.0);
        CHECK(isnan(cells[v].half_width));
    }
    CHECK(isnan(cells[2].low) && isnan(cells[2].high)); /* all agree */
    CHECK(cells[0].mean + cells[1].difference_high <= 1.0 + 1e-12);
    cells = comparison->rows[1].cells;
    CHECK(cells[1].low >= 0.0 && cells[1].high > cells[1].mean);
    CHECK(cells[1].difference_low >= -cells[0].mean - 1e-12);
    an_comparison_destroy(comparison);
    an_close(db);
}

/* Of next to nothing that is free a part says nothing: the row is there only where 5 % are free. */
static void little_that_is_free_is_not_judged(void)
{
    for (int all = 0; all < 2; all++) {
        struct an_db *db = fixture_open(
            all == 0 ? "UPDATE result SET value = 0.6 WHERE metric = 'util.gpu.assigned'"
                     : "UPDATE result SET value = 0.99 WHERE metric = 'util.gpu.assigned'");
        struct an_comparison *comparison = NULL;
        CHECK_I64(an_compare(db, NULL, &comparison, NULL), WEIR_OK);
        CHECK((row_of(comparison, "frag.gpu.fgd_ratio") != NULL) == (all == 0));
        an_comparison_destroy(comparison);
        an_close(db);
    }
}

/* Nobody is better at what has no direction, and of labels the largest of maxima counts. */
static void unknown_directions_have_no_winner(void)
{
    struct an_db *db =
        fixture_open("INSERT INTO result SELECT run_id, 'odd.thing', '', 1 + variant_order, "
                     "'items', 1, 0, 0 FROM "
                     "run; INSERT INTO result SELECT run_id, 'odd.thing.max', g.value, 10 * g.key "
                     "+ variant_order, "
                     "'items', 1, 0, 0 FROM run, json_each('[\"a\",\"b\",\"c\"]') g");
    struct an_comparison *comparison = NULL;
    const char *const odd[] = { "odd.thing", "odd.thing.max" };
    const struct an_compare_options options = { .metrics = odd, .metric_count = 2 };
    CHECK_I64(an_compare(db, &options, &comparison, NULL), WEIR_OK);
    CHECK(strstr(comparison->finding, "nobody says what is better") != NULL);
    CHECK_I64(comparison->rows[0].cells[2].verdict, AN_NEUTRAL);
    CHECK_NEAR(comparison->rows[1].cells[2].mean, 22.0, 1e-12);
    CHECK_STR(comparison->rows[1].label, "odd.thing.max, largest of 3");
    an_comparison_destroy(comparison);
    an_close(db);
}

/* A mean of what was over, where much was not, is above or below that of all: it neither wins nor
 * loses, and who stands beside it does not either. Of 95 % and more it is one of all. */
static void what_is_unfinished_wins_nothing(void)
{
    static const struct {
        int who, censored; /* the variant of which so many of 100 + censored are not over */
        enum an_verdict verdicts[3];
    } cases[] = { { 2, 50, { AN_BASELINE, AN_BETTER, AN_OPEN } },
                  { 1, 6, { AN_BASELINE, AN_OPEN, AN_BETTER } },
                  { 0, 50, { AN_BASELINE, AN_OPEN, AN_OPEN } },
                  { 2, 5, { AN_BASELINE, AN_BETTER, AN_BETTER } } };
    const char *const wait[] = { "wait.job.mean" };
    const struct an_compare_options options = { .metrics = wait, .metric_count = 1 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char sql[300];
        (void)snprintf(sql, sizeof sql,
                       "INSERT INTO result SELECT run_id, 'wait.job.mean', '', 10 - variant_order "
                       "+ 0.01 * (run_id %% 3), 's', 100, iif(variant_order = %d, %d, 0), 0 FROM "
                       "run",
                       cases[i].who, cases[i].censored);
        struct an_db *db = fixture_open(sql);
        struct an_comparison *comparison = NULL;
        CHECK_I64(an_compare(db, &options, &comparison, NULL), WEIR_OK);
        const struct an_metric_row *row = &comparison->rows[0];
        const bool is_whole = cases[i].censored < 6;
        for (int v = 0; v < 3; v++) {
            const struct an_cell *cell = &row->cells[v];
            CHECK_I64(cell->verdict, cases[i].verdicts[v]);
            CHECK(!cell->is_lower_bound && cell->is_partial == (v == cases[i].who && !is_whole));
            CHECK((strstr(an_mean_of(row, cell).text, " so far") != NULL) == cell->is_partial);
            CHECK(cell->is_best == (is_whole && v == 2) && (is_whole || !cell->is_tied_with_best));
            CHECK(isnan(cell->difference) == (cell->verdict == AN_OPEN || v == 0));
            CHECK_I64(
                an_condition_judge(&(struct an_condition){ .op = "<=", .bound = 100.0 }, cell),
                cell->is_partial ? AN_NOT_KNOWN : AN_HOLDS);
            CHECK_I64(an_condition_judge(&(struct an_condition){ .op = "<=", .bound = 1.0 }, cell),
                      cell->is_partial ? AN_NOT_KNOWN : AN_FAILS);
        }
        CHECK((strstr(row->title, "so far") != NULL) == !is_whole);
        CHECK_I64(an_signs_of(comparison).has_partials, !is_whole);
        CHECK_STR(cases[i].who == 0 ? strstr(comparison->finding, "which is better") : "",
                  cases[i].who == 0 ? "which is better depends on what is unfinished" : "");
        an_comparison_destroy(comparison);
        an_close(db);
    }
}

/* At least more than the best is more: who is known wins over it, were it alone. */
static void a_bound_above_the_best_leaves_it_the_best(void)
{
    struct an_db *db = fixture_open(
        "INSERT INTO result SELECT run_id, 'jct.p95', '', 10 - variant_order + 0.1 * "
        "(replication % 3), 's', 100, 0, variant_order < 2 FROM run;"
        "INSERT INTO result SELECT run_id, 'wait.job.p95', '', 10 + iif(variant_order = 1, 0.2 + "
        "iif(replication % 2 = 0, 1, -1), 0), 's', 100, 0, variant_order = 1 FROM run");
    struct an_comparison *comparison = NULL;
    const char *const wait[] = { "jct.p95", "wait.job.p95" };
    const struct an_compare_options options = { .metrics = wait, .metric_count = 2 };
    CHECK_I64(an_compare(db, &options, &comparison, NULL), WEIR_OK);
    const struct an_cell *cells = comparison->rows[0].cells;
    CHECK(cells[0].is_lower_bound && cells[1].is_lower_bound && cells[2].is_best);
    CHECK(!cells[0].is_tied_with_best && !cells[1].is_tied_with_best);
    CHECK_STR(comparison->rows[0].title,
              "95 % of the jobs take at most this long (≥: this or more)");
    cells = comparison->rows[1].cells;
    CHECK(cells[0].is_best && cells[1].is_lower_bound && cells[1].is_tied_with_best);
    an_comparison_destroy(comparison);
    an_close(db);
}

static void unknown_names(void)
{
    struct an_db *db = fixture_open(NULL);
    const char *const metrics[] = { "no.such" };
    const struct an_compare_options metric = { .metrics = metrics, .metric_count = 1 };
    const struct an_compare_options baseline = { .baseline = "no such" };
    struct an_comparison *comparison = NULL;
    CHECK_I64(an_compare(db, &metric, &comparison, NULL), WEIR_EINVAL);
    CHECK_I64(an_compare(db, &baseline, &comparison, NULL), WEIR_EINVAL);
    an_close(db);
}

static void metric_table_is_sound(void)
{
    for (size_t i = 0; i < an_metric_count(); i++) {
        const struct an_metric *metric = an_metric_at(i);
        CHECK(an_metric_find(metric->id) == metric);
        CHECK(metric->better >= -1 && metric->better <= 1);
        CHECK(metric->label[0] != '\0' && metric->unit[0] != '\0' && metric->title[0] != '\0');
    }
}

/* What is shared is made once, and anew for another run or another of the moments it names. */
static void shares_what_several_ask(void)
{
    static const struct an_shared shared = { "weir_shared",
                                             "SELECT :run AS run, :to AS at, random() AS once" };
    static const struct {
        struct an_args args;
        bool is_new;
    } rows[] = { { { .run = 1, .to = 5.0 }, true }, { { .run = 1, .to = 5.0 }, false },
                 { { .run = 1, .to = 6.0 }, true }, { { .run = 1, .from = 1.0, .to = 6.0 }, false },
                 { { .run = 2, .to = 6.0 }, true }, { { .run = 1, .to = 6.0 }, true } };
    struct an_db *db = fixture_open(NULL);
    double once = 0.0;
    for (size_t i = 0; db != NULL && i < sizeof rows / sizeof rows[0]; i++) {
        struct an_frame *frame = NULL;
        CHECK_I64(an_share(db, &shared, &rows[i].args, NULL), WEIR_OK);
        CHECK_I64(an_query(db, "SELECT run, at, once FROM weir_shared", NULL, &frame, NULL),
                  WEIR_OK);
        CHECK_NEAR(an_number(frame, 0, 0), (double)rows[i].args.run, 0);
        CHECK_NEAR(an_number(frame, 0, 1), rows[i].args.to, 0);
        CHECK((fabs(an_number(frame, 0, 2) - once) > 0.0) == rows[i].is_new);
        once = an_number(frame, 0, 2);
        an_frame_destroy(frame);
    }
    an_close(db);
}

static void words(void)
{
    CHECK_STR(an_word_number(0.7789).text, "0.779");
    CHECK_STR(an_word_number(4.0).text, "4");
    CHECK_STR(an_word_number(1234567.0).text, "1\u202f234\u202f567");
    CHECK_STR(an_word_number(1234.0).text, "1234");
    CHECK_STR(an_word_number((double)NAN).text, "-");
    CHECK_STR(an_word_number(0.0).text, "0");
    CHECK_STR(an_word_number(-12.34).text, "-12.3");
    CHECK_STR(an_word_percent(0.625).text, "62\u00a0%");
    CHECK_STR(an_word_percent(0.016).text, "1.6\u00a0%");
    CHECK_STR(an_word_percent(0.9967).text, "99.7\u00a0%"); /* 100 % would be a claim */
    CHECK_STR(an_word_percent(0.99).text, "99\u00a0%");
    CHECK_STR(an_word_percent(1).text, "100\u00a0%");
    CHECK_STR(an_word_bytes(18.3e9).text, "18.3\u00a0GB");
    CHECK_STR(an_word_bytes(999.9e6).text, "1\u00a0GB");
    CHECK_STR(an_word_bytes(0).text, "0\u00a0B");
    CHECK_STR(an_word_duration(5400.0).text, "1h30m");
    CHECK_STR(an_word_duration(2e-9).text, "2\u00a0ns");
    CHECK_STR(an_word_duration(-20e-6).text, "-20\u00a0µs");
    CHECK_STR(an_word_duration(0.001).text, "1\u00a0ms");
    CHECK_STR(an_word_duration(-0.0291).text, "-29.1\u00a0ms");
    CHECK_STR(an_word_duration(0.1).text, "0.1\u00a0s");
    CHECK_STR(an_word_duration(0.0).text, "0\u00a0s");
    CHECK_STR(an_word_duration(200.0).text, "3m20s");
    CHECK_STR(an_word_duration(45.0).text, "45\u00a0s");
    CHECK_STR(an_word_duration(187200.0).text, "2d4h");
    CHECK_STR(an_word_elapsed(4800.0).text, "01:20:00");
    CHECK_STR(an_word_clock(1700000000, 0.0).text, "22:13:20");
    CHECK_STR(an_word_value(1.0, "jobs").text, "1 job");
    CHECK_STR(an_word_value(1.0, "s").text, "1\u00a0s");
    CHECK_STR(an_word_value(1.0, "GPU s").text, "1 GPU s");
    CHECK_STR(an_word_value(2.0, "jobs").text, "2 jobs");
    CHECK_STR(an_word_value(1.0, "1/s").text, "1/s");
    CHECK_STR(an_word_value(230400.0, "GPU*s").text, "64 GPU h");
    CHECK_STR(an_word_value(5e10, "B").text, "50\u00a0GB");
    CHECK_STR(an_word_value(424.0, "count").text, "424");
    CHECK_STR(an_shorten("caption", 7).text, "caption");
    CHECK_STR(an_shorten("captioning", 7).text, "capti…ng");
}

/* Whatever they share, names that are cut stay apart, in the room there is. */
static void cut_names_stay_apart(void)
{
    static const char *const names[] = {
        "caption of long videos, first half",  "caption of long videos, second half",
        "caption of many videos, second half", "caption of loud videos, second half",
        "vila_caption_model_7b_bf16_a",        "vila_caption_model_7b_bf16_b",
        "vila_caption_model_7b_int8_b",        "très très très très long é",
        "très très très très long è",          "short"
    };
    enum { NAMES = sizeof names / sizeof names[0] };
    for (size_t room = 8; room <= AN_NAME_MOST; room++) {
        struct an_word cut[NAMES];
        for (size_t i = 0; i < NAMES; i++) {
            cut[i] = an_shorten_among(names[i], room, names, NAMES);
            CHECK(an_characters(cut[i].text) <= room + 2);
            CHECK(an_characters(names[i]) > room || strcmp(cut[i].text, names[i]) == 0);
            for (size_t k = 0; k < i; k++)
                CHECK_STR(strcmp(cut[i].text, cut[k].text) == 0 ? cut[i].text : "", "");
        }
    }
    CHECK_STR(an_shorten_among(names[3], 12, names, NAMES).text, "…tion of lou…");
}

static const struct test tests[] = {
    { "a missing, foreign or newer file is refused with a sentence", refuses_strangers },
    { "runs are found by variant and replication, seeds keep all bits", finds_runs },
    { "facts agree with the samples", facts_agree_with_samples },
    { "variants are compared with paired tests and a finding", compares_variants },
    { "a tie is an interval that holds 0", ties_hold_zero },
    { "deterministic runs have a difference and no interval", deterministic_runs_have_no_interval },
    { "one replication makes no statement about chance",
      one_replication_says_nothing_about_chance },
    { "a metric may name its label, without one the mean over labels counts", label_of_a_metric },
    { "runs that are not comparable are refused by the field that differs", refuses_what_differs },
    { "a variant that failed is left out, and named", what_failed_takes_nothing_from_the_others },
    { "a baseline that nobody beats is called so", unbeaten_baseline_is_told },
    { "a metric without a direction has no winner, of maxima the largest counts",
      unknown_directions_have_no_winner },
    { "a mean that lacks what is unfinished wins nothing", what_is_unfinished_wins_nothing },
    { "intervals stay in their range", intervals_stay_in_their_range },
    { "little that is free is not judged", little_that_is_free_is_not_judged },
    { "one run beats nothing", one_run_beats_nothing },
    { "cut names stay apart", cut_names_stay_apart },
    { "a bound above the best leaves it the best", a_bound_above_the_best_leaves_it_the_best },
    { "unknown metrics and baselines are refused", unknown_names },
    { "the metric table is complete and has no duplicates", metric_table_is_sound },
    { "what several statements read is made once for its arguments", shares_what_several_ask },
    { "numbers and times read as people write them", words },
};
TEST_MAIN(tests)
