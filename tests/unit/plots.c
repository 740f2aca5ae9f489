/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts: what they compute, what they write, and that gnuplot draws them. */
#include "analysis/plot.h"

#include "analysis/chart/gnuplot.h"
#include "analysis/chart/svg.h"
#include "tests/support/fixture.h"

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>

/* A folder that remove_folder() takes away with its files. */
static bool make_folder(char path[FIXTURE_PATH])
{
    (void)snprintf(path, FIXTURE_PATH, "/tmp/weir-plots-XXXXXX");
    return mkdtemp(path) != NULL;
}

static void remove_folder(const char *folder)
{
    DIR *list = opendir(folder);
    if (list == NULL)
        return;
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        char path[512];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    (void)closedir(list);
    (void)rmdir(folder);
}

static char *read_in(const char *folder, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return fixture_read(path);
}

static bool has_gnuplot(void)
{
    static const char *const nothing[] = { NULL };
    char folder[FIXTURE_PATH];
    if (!make_folder(folder))
        return false;
    struct weir_error error = { .phase = -1, .pool = -1 };
    const bool is_there = an_gnuplot_run(folder, nothing, 20.0, &error) == WEIR_OK ||
                          strstr(error.text, "cannot be started") == NULL;
    remove_folder(folder);
    if (!is_there)
        test_skip("gnuplot is not installed");
    return is_there;
}

/* Writes one chart and hands out its texts; the caller clears them. */
static struct an_plot_texts write_chart(struct an_db *db, const char *variant, const char *name,
                                        const char *folder)
{
    struct an_run *run = NULL;
    struct an_facts *facts = NULL;
    struct an_plot_texts texts = { .is_empty = true };
    struct weir_error error = { .phase = -1, .pool = -1 };
    const struct an_plot_options options = { .variant = variant, .at_s = (double)NAN };
    CHECK_I64(an_run_find(db, variant, 0, &run, &error), WEIR_OK);
    CHECK_I64(an_facts_read(db, run, &facts, &error), WEIR_OK);
    const struct an_plot_job job = { .db = db,
                                     .run = run,
                                     .facts = facts,
                                     .options = &options,
                                     .folder = folder,
                                     .output = "x.svg" };
    const weir_status status = an_plot_write(an_plot_ops_find(name), &job, &texts, &error);
    if (status != WEIR_OK)
        (void)printf("%s: %s\n", name, error.text);
    CHECK_I64(status, WEIR_OK);
    an_facts_destroy(facts);
    an_run_destroy(run);
    return texts;
}

static void check_drawn(const char *folder, const char *chart)
{
    char script[64];
    const char *const scripts[] = { script, NULL };
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (!has_gnuplot())
        return;
    (void)snprintf(script, sizeof script, "%s.gp", chart);
    const weir_status status = an_gnuplot_run(folder, scripts, 30.0, &error);
    CHECK_STR(status == WEIR_OK ? "" : error.text, "");
}

static void findings_come_from_the_data(void)
{
    static const struct {
        const char *name, *title;
    } cases[] = {
        { "alloc-vs-used",
          "GPUs of nodes that are up are well used: 97\u00a0% assigned, 86\u00a0% at work" },
        { "bottleneck-strip", "caption limits the pipeline 68\u00a0% of the time" },
        { "throughput", "0.708 items per second are finished on average" },
        { "policies", "xenna is better than equal_split at throughput: 9.73x" },
        { "latency",
          "95 % of the items take at most 2m34s with “xenna”, 25m4s with “equal_split”" },
        { "autoscaler", "56 workers started, 0 stopped, 19 lost" },
    };
    char folder[FIXTURE_PATH];
    struct an_db *db = fixture_open(NULL);
    CHECK(make_folder(folder));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct an_plot_texts texts = write_chart(db, "xenna", cases[i].name, folder);
        CHECK_STR(texts.title, cases[i].title);
        an_plot_texts_clear(&texts);
    }
    struct an_plot_texts other = write_chart(db, "equal_split", "alloc-vs-used", folder);
    CHECK_STR(other.title,
              "69\u00a0% of the GPU capacity of nodes that are up is not assigned to anyone");
    an_plot_texts_clear(&other);
    remove_folder(folder);
    an_close(db);
}

/* What static runs record, for every run. */
static const char static_results[] =
    "INSERT INTO result (run_id, metric, label, value, unit, n, censored, is_lower_bound)"
    " SELECT run_id, m.metric, m.label, m.value * (1 + variant_order), '%', 1, 0, 0 FROM run,"
    " (SELECT 'unalloc.fraction_pct' AS metric, '' AS label, 4.0 AS value"
    "  UNION ALL SELECT 'unalloc.cpu_pct', '', 1.0 UNION ALL SELECT 'unalloc.gpu_pct', '', 5.0"
    "  UNION ALL SELECT 'unalloc.fraction_pct', '100 % arrived', 4.5"
    "  UNION ALL SELECT 'unalloc.gpu_pct', '100 % arrived', 4.5"
    "  UNION ALL SELECT 'alloc.gap_pp', '', 6.0 UNION ALL SELECT 'alloc.gap_pp', '100 % arrived', "
    "2.0"
    "  UNION ALL SELECT 'jobs.failed', '', 10.0 UNION ALL SELECT 'jobs.failed', 'share', 2.0"
    "  UNION ALL SELECT 'jobs.failed', '8 gpu', 8.0 UNION ALL SELECT 'jobs.failed', '16 gpu', 0.0) "
    "m;"
    "INSERT INTO result (run_id, metric, label, value, unit, n, censored, is_lower_bound)"
    " SELECT run_id, m.metric, m.label, m.value, '%', 1, 0, 0 FROM run,"
    " (SELECT 'alloc.bound_pct' AS metric, '' AS label, 100.0 AS value"
    "  UNION ALL SELECT 'alloc.bound_pct', '100 % arrived', 97.0"
    "  UNION ALL SELECT 'jobs.arrived', '', 100.0 UNION ALL SELECT 'jobs.arrived', 'share', 60.0"
    "  UNION ALL SELECT 'jobs.arrived', '8 gpu', 40.0 UNION ALL SELECT 'jobs.arrived', '16 gpu', "
    "50.0) m;"
    "INSERT INTO placement_change SELECT run_id, '', 0, '+4 CPUs on 134 p100 nodes', 134, 61 FROM "
    "run;";

/* What runs of jobs in time record: five of "large" wait and ten of "small" run, in every run. */
static const char timed_results[] =
    "INSERT INTO job_label SELECT run_id, 0, 'small' FROM run;"
    "INSERT INTO job_label SELECT run_id, 1, 'large' FROM run;"
    "INSERT INTO job_sample SELECT run_id, 0, t_s, dt_s, 0, 10, 5, 1, 1, 1, 0, 0 FROM "
    "cluster_sample;"
    "INSERT INTO job_sample SELECT run_id, 1, t_s, dt_s, 5, 1, 8, 1, 1, 1, 0, 0 FROM "
    "cluster_sample;"
    "INSERT INTO result (run_id, metric, label, value, unit, n, censored, is_lower_bound)"
    " SELECT run_id, 'queue.len.mean', m.label, m.value, 'jobs', 1, 0, 0 FROM run,"
    " (SELECT '' AS label, 5.0 AS value UNION ALL SELECT 'large', 5.0"
    "  UNION ALL SELECT 'small', 0.0) m;";

/* Ten of 20 large jobs are refused; their wait grows with the order of the variant. */
static const char timed_counts[] =
    "INSERT INTO result (run_id, metric, label, value, unit, n, censored, is_lower_bound)"
    " SELECT run_id, m.metric, m.label, m.value, '1', 1, 0, 0 FROM run,"
    " (SELECT 'jobs.arrived' AS metric, '' AS label, 100.0 AS value"
    "  UNION ALL SELECT 'jobs.arrived', 'small', 80.0 UNION ALL SELECT 'jobs.arrived', 'large', "
    "20.0"
    "  UNION ALL SELECT 'jobs.refused', '', 10.0 UNION ALL SELECT 'jobs.refused', 'small', 0.0"
    "  UNION ALL SELECT 'jobs.refused', 'large', 10.0 UNION ALL SELECT 'thr.jobs_h', '', 9.0"
    "  UNION ALL SELECT 'wait.job.p95', '', 7200.0 UNION ALL SELECT 'wait.job.p95', 'large', "
    "9000.0)"
    " m;"
    "INSERT INTO result (run_id, metric, label, value, unit, n, censored, is_lower_bound)"
    " SELECT run_id, 'wait.job.mean', m.label, 3600.0 * (1 + variant_order) / m.part, 's', 1, 0, 0"
    " FROM run, (SELECT '' AS label, 4 AS part UNION ALL SELECT 'large', 1"
    "  UNION ALL SELECT 'small', 8) m;";

/* Run 21: xenna. 120 samples of a minute; a quarter of the time the store is full. */
#define NUMBERS                                                                                    \
    "CREATE TEMP TABLE number AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "  \
    "WHERE i < 119) SELECT i FROM n;"
static const char machine[] = NUMBERS
    "INSERT INTO link VALUES (21, 4, 'outer', 'store', NULL, 10e9),"
    " (21, 0, 'dgx-0 out', 'nic out', 0, 1e9), (21, 1, 'dgx-0 in', 'nic in', 0, 1e9);"
    "INSERT INTO link_sample SELECT 21, 4, i * 60.0, 60.0, CASE WHEN i < 30 THEN 10e9 ELSE 4e9 END,"
    " 10e9 FROM number;"
    "INSERT INTO link_sample SELECT 21, 0, i * 60.0, 60.0, 0.1e9, 1e9 FROM number;"
    "UPDATE node SET ram_limit_bytes = 64e9;"
    "INSERT INTO memory_sample SELECT 21, n.i, t.i * 60.0, 60.0, 20e9 * (n.i + 1), 30e9 * (n.i + "
    "1),"
    " 1e9 * n.i FROM number n, number t WHERE n.i < 2;"
    /* dgx-1 gets warm; dgx-0 has a cap all the time and loses a quarter for half of it. */
    "INSERT INTO power_sample SELECT 21, n.i, t.i * 60.0, 60.0, 4000, CASE n.i WHEN 0 THEN 4500 "
    "END,"
    " 8, CASE WHEN n.i = 0 AND t.i < 60 THEN 6 ELSE 8 END, CASE n.i WHEN 1 THEN 40 + t.i / 10.0 END"
    " FROM number n, number t WHERE n.i < 2;";

/* In run 21: vision has 3 GPUs for the first hour, speech 1 for the second. */
#define OWNED(vision)                                                                              \
    "INSERT INTO workload SELECT 21, 0, 'jobs' WHERE 21 NOT IN (SELECT run_id FROM workload);"     \
    "INSERT INTO job_label SELECT 21, 0, 'a' WHERE 21 NOT IN (SELECT run_id FROM job_label);"      \
    "INSERT INTO job_label SELECT 21, 1, 'b' WHERE NOT EXISTS (SELECT 1 FROM job_label WHERE"      \
    " run_id = 21 AND label = 1);"                                                                 \
    "INSERT INTO job VALUES (21, 0, 0, 0, 0, 3600, 0, 1, 1, 'done', 0, 'a', '" vision              \
    "', 'ann', 'bert', '3 GPU', 3, 'h100', 1, 0, NULL, 3600), (21, 1, 1, 0, 3600, 7200, 0, 1, 1, " \
    "'done',"                                                                                      \
    " 0, 'b', 'speech', 'bob', 'resnet', '1 GPU', 1, '', 1, 3600, NULL, 3600);"                    \
    "INSERT INTO worker VALUES (21, 900, NULL, 0, '', 7, 3, 0, 0, 3600, 'stopped', 0, 0, 0, 0),"   \
    " (21, 901, NULL, 0, '', 1, 1, 3600, 3600, 7200, 'stopped', 0, 0, 0, 1);"

/* All variants as points of an axis, in their order. */
#define POINTS                                                                                     \
    "INSERT INTO meta SELECT 'axes', json_object('axes', json('[{\"path\":"                        \
    " \"cluster.nodes.dgx.count\", \"name\": \"count\", \"is_policy\": false}]'), 'points',"       \
    " json_group_array(json_object('label', variant, 'point', n, 'variant', 'base', 'values',"     \
    " json_array(2 * n + 2)))) FROM (SELECT variant, row_number() OVER (ORDER BY min(run_id)) - 1" \
    " AS n FROM run GROUP BY variant);"

/* The same as changes of one value, at one point. */
#define VARIED                                                                                     \
    "INSERT INTO meta SELECT 'axes', json_object('axes', json('[{\"path\":"                        \
    " \"cluster.nodes.dgx.count\", \"name\": \"count\", \"is_policy\": false}]'), 'is_varied',"    \
    " json('true'), 'points', json_group_array(json_object('label', variant, 'point', 0,"          \
    " 'variant', variant, 'values', json_array(2 * n + 2)))) FROM (SELECT variant, row_number()"   \
    " OVER (ORDER BY min(run_id)) - 1 AS n FROM run GROUP BY variant);"

/* Has the script of the chart a line that begins with both? Labels that are bold are marked up. */
static bool has_line(const char *folder, const char *chart, const char *word, const char *text)
{
    char path[FIXTURE_PATH + 64];
    char line[128];
    (void)snprintf(path, sizeof path, "%s/%s.gp", folder, chart);
    (void)snprintf(line, sizeof line, "\n%s%s", word, text);
    char *script = fixture_read(path);
    const bool has = script != NULL && strstr(script, line) != NULL;
    free(script);
    return has;
}

/* A name that has room is whole; names that share much stay apart, in the part where they differ;
 * what happened is named. */
static void labels_say_what_is_meant(void)
{
    static const struct {
        const char *sql, *chart, *labels[2];
    } cases[] = {
        { "UPDATE stage SET name = 'transcode_of_videos_for_' || stage",
          "bottleneck-strip",
          { "{/:Bold transcode\\_of\\_videos\\_for\\_2}'", "transcode_of_videos_for_1'" } },
        { "UPDATE stage SET name = 'transcode_videos_' || substr('abcdefgh', stage + 1, 1) ||"
          " '_for_captions_of_all_kinds'",
          "bottleneck-strip",
          { "{/:Bold transcode\\_videos\\_c\\_", "transcode_videos_b_" } },
        { "UPDATE run SET variant = 'xenna_with_reserve_' || variant_order || '_and_the_whole_rest'"
          " WHERE variant <> 'xenna'",
          "policies",
          { "xenna_with_reserve_1_", "xenna" } },
        /* A change of policy: alone, beside a fault at the same place, among many faults. */
        { "INSERT INTO happening VALUES (21, 1800, NULL, 'set', '', 'set sched.placement = "
          "spread')",
          "throughput",
          { "placement = spread'", "dgx-1 down'" } },
        { "INSERT INTO happening VALUES (21, 5400, NULL, 'set', '', 'set sched.placement = "
          "spread')",
          "throughput",
          { "dgx-1 down, placement = spread'", "dgx-1 down, placement = spread'" } },
        { "INSERT INTO happening VALUES (21, 1800, NULL, 'set', '', 'set sched.placement = "
          "spread');"
          "INSERT INTO happening SELECT 21, 100 + 50 * i, NULL, 'oom', 'dgx-0', 'killed' FROM"
          " (SELECT row_number() OVER () AS i FROM result LIMIT 30)",
          "throughput",
          { "placement = spread'", "placement = spread'" } },
    };
    char folder[FIXTURE_PATH];
    CHECK(make_folder(folder));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct an_db *db = fixture_open(cases[i].sql);
        struct an_plot_texts texts = write_chart(db, "xenna", cases[i].chart, folder);
        for (size_t k = 0; k < 2; k++)
            CHECK_STR(has_line(folder, cases[i].chart, "set label '", cases[i].labels[k])
                          ? ""
                          : cases[i].labels[k],
                      "");
        an_plot_texts_clear(&texts);
        an_close(db);
    }
    remove_folder(folder);
}

static const char long_names[] =
    "UPDATE stage SET name = 'a_stage_with_a_name_that_is_much_too_long_' || stage;"
    "UPDATE node SET name = 'node_with_a_name_that_is_too_long' || node, type = name || '_type';"
    "UPDATE link SET name = 'a_link_with_a_name_that_is_too_long' || link;"
    "UPDATE run SET variant = 'xenna with_rules_that_are_much_too_long' WHERE variant = 'best_fit';"
    "INSERT INTO happening SELECT run_id, 900, NULL, 'node_reclaimed', name, 'taken' FROM node;"
    "INSERT INTO meta VALUES ('windows', '[{\"name\": \"before\", \"from_s\": 0, \"to_s\": "
    "null}]'),"
    " ('growth_month', '0.03');";

static void titles_fit_the_sheet(void)
{
    char folder[FIXTURE_PATH];
    char sql[sizeof static_results + sizeof timed_results + sizeof machine + 2000];
    (void)snprintf(sql, sizeof sql, "%s %s %s %s %s %s", static_results, timed_results, machine,
                   OWNED("a_tenant_with_a_name_that_is_much_too_long"), long_names, POINTS);
    struct an_db *db = fixture_open(sql);
    CHECK(make_folder(folder));
    for (size_t i = 0; i < an_plot_count(); i++) {
        if (strcmp(an_plot_at(i)->name, "tornado") == 0) /* of another experiment */
            continue;
        struct an_plot_texts texts = write_chart(db, "xenna", an_plot_at(i)->name, folder);
        size_t characters = 0;
        for (const char *c = texts.title; *c != '\0'; c++)
            characters += ((unsigned char)*c & 0xc0) != 0x80 ? 1 : 0;
        CHECK_STR(characters <= 190 ? "" : texts.title, ""); /* in two lines of 104 */
        CHECK(characters > 10);
        CHECK_STR(texts.is_empty ? an_plot_at(i)->name : "", "");
        CHECK(texts.data != NULL && strncmp(texts.data, "# ", 2) == 0);
        an_plot_texts_clear(&texts);
    }
    remove_folder(folder);
    an_close(db);
}

static void no_text_can_run_commands(void)
{
    char folder[FIXTURE_PATH];
    struct an_db *db = fixture_open(
        "UPDATE stage SET name = '`touch /tmp/weir-pwned`''); system(\"x\") #' || stage;"
        "UPDATE happening SET text = 'it''s `down` {/:Bold x}' || char(10) || 'system \"x\"'");
    CHECK(make_folder(folder));
    struct an_plot_texts texts = write_chart(db, "xenna", "worker-state", folder);
    an_plot_texts_clear(&texts);
    char *script = read_in(folder, "worker-state.gp");
    CHECK(script != NULL);
    /* Nothing but single-quoted strings holds back-ticks; a doubled quote does not end them. */
    bool is_quoted = false;
    for (const char *c = script; c != NULL && *c != '\0'; c++) {
        if (*c == '\n') {
            CHECK(!is_quoted);
            is_quoted = false;
        }
        if (*c == '\'')
            is_quoted = !is_quoted;
        if (*c == '`' || strncmp(c, "system", 6) == 0)
            CHECK(is_quoted);
    }
    free(script);
    if (has_gnuplot()) {
        const char *const scripts[] = { "worker-state.gp", NULL };
        struct weir_error error = { .phase = -1, .pool = -1 };
        CHECK_I64(an_gnuplot_run(folder, scripts, 30.0, &error), WEIR_OK);
        CHECK(access("/tmp/weir-pwned", F_OK) != 0);
    }
    remove_folder(folder);
    an_close(db);
}

static void empty_runs_become_cards(void)
{
    char folder[FIXTURE_PATH];
    struct an_db *db = fixture_open(
        "DELETE FROM cluster_sample; DELETE FROM stage_sample; DELETE FROM node_sample;"
        "DELETE FROM worker; DELETE FROM result; DELETE FROM happening; DELETE FROM arrival_sample;"
        "DELETE FROM run WHERE run_id > 1");
    CHECK(make_folder(folder));
    const char *scripts[64] = { NULL };
    char names[64][64];
    for (size_t i = 0; i < an_plot_count(); i++) {
        struct an_plot_texts texts = write_chart(db, NULL, an_plot_at(i)->name, folder);
        CHECK(texts.is_empty);
        an_plot_texts_clear(&texts);
        (void)snprintf(names[i], sizeof names[i], "%s.gp", an_plot_at(i)->name);
        scripts[i] = names[i];
    }
    if (has_gnuplot()) {
        struct weir_error error = { .phase = -1, .pool = -1 };
        const weir_status status = an_gnuplot_run(folder, scripts, 30.0, &error);
        CHECK_STR(status == WEIR_OK ? "" : error.text, "");
        char *svg = read_in(folder, "x.svg");
        CHECK(svg != NULL && strstr(svg, "No data:") != NULL);
        free(svg);
    }
    remove_folder(folder);
    an_close(db);
}

static void gnuplot_failures_are_told(void)
{
    char folder[FIXTURE_PATH];
    if (!has_gnuplot())
        return;
    CHECK(make_folder(folder));
    char path[512];
    (void)snprintf(path, sizeof path, "%s/bad.gp", folder);
    FILE *file = fopen(path, "w");
    (void)fputs("set nonsense\n", file);
    (void)fclose(file);
    const char *const bad[] = { "bad.gp", NULL };
    struct weir_error error = { .phase = -1, .pool = -1 };
    CHECK_I64(an_gnuplot_run(folder, bad, 30.0, &error), WEIR_EIO);
    CHECK(strstr(error.text, "bad.gp") != NULL);
    file = fopen(path, "w");
    (void)fputs("pause 30\n", file);
    (void)fclose(file);
    CHECK_I64(an_gnuplot_run(folder, bad, 0.05, &error), WEIR_EIO);
    CHECK(strstr(error.text, "took longer than") != NULL);
    CHECK_I64(an_gnuplot_run("/nowhere", bad, 5.0, &error), WEIR_EIO);
    remove_folder(folder);
}

static void ids_get_prefixes(void)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    an_svg_inline(out,
                  "<?xml?><svg width=\"10\" height=\"20\" viewBox=\"0 0 1 1\"><title>Gnuplot"
                  "</title><g id=\"a\"/><use xlink:href='#a' width=\"3\"/><p fill=\"url(#b)\"/>"
                  "</svg>",
                  "p-", "A & B");
    (void)fclose(out);
    CHECK_STR(text, "<svg viewBox=\"0 0 1 1\" role=\"img\" aria-label=\"A &amp; B\">"
                    "<g id=\"p-a\"/><use xlink:href='#p-a' width=\"3\"/><p fill=\"url(#p-b)\"/>"
                    "</svg>\n");
    free(text);
}

static void labels_are_pushed_apart(void)
{
    double y[] = { 50.0, 50.0, 52.0, 90.0 };
    an_push_apart(y, 4, 14.0, 0.0, 100.0);
    CHECK(y[1] - y[0] >= 13.9 && y[2] - y[1] >= 13.9);
    CHECK_NEAR(y[3], 90.0, 3.0);
}

static void means_are_weighted_by_time(void)
{
    double numbers[] = { 0, 2, 10, 2, 1, 40 };
    char *texts[6] = { NULL };
    const struct an_frame frame = {
        .row_count = 2, .column_count = 3, .numbers = numbers, .texts = texts
    };
    const struct an_grid grid = { .from_s = 0.0, .to_s = 4.5, .step_s = 1.5, .bins = 3 };
    double means[3];
    an_grid_means(&grid, &frame, (struct an_span){ 0, 2 }, 2, means);
    CHECK_NEAR(means[0], 10.0, 1e-12);
    CHECK_NEAR(means[1], (0.5 * 10.0 + 1.0 * 40.0) / 1.5, 1e-12);
    CHECK(isnan(means[2]));
}

static void report_is_self_contained(void)
{
    if (!has_gnuplot())
        return;
    char folder[FIXTURE_PATH];
    char path[512];
    struct an_db *db = fixture_open("UPDATE stage SET name = '<b>&caption' WHERE stage = 2");
    struct weir_error error = { .phase = -1, .pool = -1 };
    const struct an_plot_options options = { .variant = "xenna", .at_s = (double)NAN };
    CHECK(make_folder(folder));
    (void)snprintf(path, sizeof path, "%s/report.html", folder);
    CHECK_I64(an_report(db, &options, path, &error), WEIR_OK);
    char *page = fixture_read(path);
    CHECK(page != NULL);
    size_t charts = 0;
    for (const char *c = page; c != NULL && (c = strstr(c, "<svg")) != NULL; c++)
        charts++;
    CHECK(charts >= 8);
    CHECK(strstr(page, "Content-Security-Policy") != NULL && strstr(page, "http-equiv") != NULL);
    CHECK(strstr(page, "src=") == NULL && strstr(page, "url(http") == NULL);
    CHECK(strstr(page, "<link") == NULL && strstr(page, "@import") == NULL);
    CHECK(strstr(page, "<b>&caption") == NULL);
    CHECK(strstr(page, "&lt;b&gt;&amp;caption") != NULL);
    CHECK(strstr(page, "weir run ") != NULL);
    CHECK(strstr(page, "x [") != NULL); /* the ratio with its interval */
    CHECK(strstr(page, "<h1>xenna is better than equal_split at throughput") != NULL);
    free(page);
    /* The folder of the charts is gone: only the page is left. */
    (void)unlink(path);
    CHECK(rmdir(folder) == 0);
    an_close(db);
}

static void static_charts_say_what_they_found(void)
{
    static const struct {
        const char *chart, *title, *subtitle, *data, *line;
    } cases[] = {
        /* Each cause has its part, and each of the two moments its own figure. */
        { "unallocated", "4.0 points: too little", "134 p100 nodes, 61.0 GPUs", " 0 4 ",
          "set label '4.5 %'" },
        { "unallocated", "", "", " 4 5 ", "set label '5.0 %'" },
        { "acceptance", "80 % of the jobs of 8 GPUs, 90 %", "",
          "\n1 80 40 \"8 GPUs\" \n2 100 50 \"16 GPUs\"", NULL },
        { "bound", "stays 2.0 points below the bound on GPU", "linear program", "", NULL },
        { "policies", "", "", "", "set xtics add ('0 points' 0)\n" },
    };
    struct an_db *db = fixture_open(static_results);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char folder[FIXTURE_PATH];
        CHECK(make_folder(folder));
        struct an_plot_texts texts = write_chart(db, NULL, cases[i].chart, folder);
        CHECK(!texts.is_empty);
        CHECK(strstr(texts.title, cases[i].title) != NULL);
        CHECK(strstr(texts.subtitle, cases[i].subtitle) != NULL);
        CHECK(texts.data != NULL && strstr(texts.data, cases[i].data) != NULL);
        CHECK(cases[i].line == NULL || has_line(folder, cases[i].chart, cases[i].line, ""));
        check_drawn(folder, cases[i].chart);
        an_plot_texts_clear(&texts);
        remove_folder(folder);
    }
    an_close(db);
}

/* Each point is compared by itself, and its mean is that of its own runs. */
static void an_axis_shows_the_goal_of_every_point(void)
{
    char folder[FIXTURE_PATH];
    struct an_db *db = fixture_open("DELETE FROM run WHERE variant NOT IN ('equal_split',"
                                    " 'xenna');" POINTS);
    CHECK(make_folder(folder));
    struct an_plot_texts texts = write_chart(db, "xenna", "axis", folder);
    struct an_frame *frame = NULL;
    CHECK_I64(an_query(db,
                       "SELECT 'throughput ' || printf('%.3g', avg(value)) FROM v_result WHERE"
                       " variant = 'equal_split' AND metric = 'thr.pipeline' AND label = ''",
                       NULL, &frame, NULL),
              WEIR_OK);
    CHECK(frame != NULL && strstr(texts.title, an_text(frame, 0, 0)) == texts.title);
    CHECK(strstr(texts.title, "at count 2, ") != NULL && strstr(texts.title, " at 4") != NULL);
    check_drawn(folder, "axis");
    an_frame_destroy(frame);
    an_plot_texts_clear(&texts);
    remove_folder(folder);
    an_close(db);
}

/* A bar from the scenario as it is to each value. */
static void a_tornado_shows_every_value(void)
{
    char folder[FIXTURE_PATH];
    struct an_db *db =
        fixture_open("DELETE FROM run WHERE variant NOT IN ('equal_split', 'xenna');" VARIED);
    CHECK(make_folder(folder));
    struct an_plot_texts texts = write_chart(db, "xenna", "tornado", folder);
    CHECK(strstr(texts.title, "cluster.nodes.dgx.count moves throughput most: from ") ==
          texts.title);
    CHECK(texts.data != NULL && strstr(texts.data, "\"cluster.nodes.dgx.count\" \"4\"") != NULL);
    check_drawn(folder, "tornado");
    an_plot_texts_clear(&texts);
    remove_folder(folder);
    an_close(db);
}

static void charts_of_jobs_in_time_say_who_waits(void)
{
    static const struct {
        const char *chart, *title, *data;
    } cases[] = {
        { "job-queue", "equal_split: 5 jobs wait on average, most of them “large”", " 0 5 5 5\n" },
        { "acceptance",
          "Longest mean wait of jobs that began: 1h with equal_split (large), 3h with xenna "
          "(large)",
          "\n2 50 20 3600 9000 \"large\"" },
    };
    char sql[sizeof timed_results + sizeof timed_counts];
    (void)snprintf(sql, sizeof sql, "%s %s", timed_results, timed_counts);
    struct an_db *db = fixture_open(sql);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char folder[FIXTURE_PATH];
        CHECK(make_folder(folder));
        struct an_plot_texts texts = write_chart(db, NULL, cases[i].chart, folder);
        CHECK(!texts.is_empty);
        CHECK_STR(texts.title, cases[i].title);
        CHECK(texts.data != NULL && strstr(texts.data, cases[i].data) != NULL);
        check_drawn(folder, cases[i].chart);
        an_plot_texts_clear(&texts);
        remove_folder(folder);
    }
    an_close(db);
}

/* Sizes stand in the order of size, whatever came most; waits over decades lie on a log axis. */
static void sizes_stand_in_order(void)
{
    static const char *const sizes[] = { "\"no GPU\"", "\"1 GPU\"", "\"2 GPUs\"", "\"8 GPUs\"",
                                         "\"16 GPUs\"" };
    char folder[FIXTURE_PATH];
    struct an_db *db = fixture_open(
        "CREATE TEMP TABLE size AS SELECT key AS k, value AS label FROM json_each('[\"16 gpu\","
        " \"8 gpu\", \"1 gpu\", \"2 gpu\", \"share\", \"cpu only\", \"\"]');"
        "INSERT INTO result SELECT run_id, 'jobs.arrived', label, 70 - 10 * k, '1', 1, 0, 0 FROM "
        "run,"
        " size; INSERT INTO result SELECT run_id, 'jobs.refused', label, 1, '1', 1, 0, 0 FROM run,"
        " size; INSERT INTO result SELECT run_id, 'thr.jobs_h', '', 9, '1/h', 1, 0, 0 FROM run;"
        "INSERT INTO result SELECT run_id, 'wait.job.mean', label, 1e5 / pow(10, k), 's', 1, 0, 0"
        " FROM run, size;"
        "INSERT INTO result SELECT run_id, 'wait.job.p95', label, 3e5 / pow(10, k), 's', 1, 0, 0"
        " FROM run, size");
    CHECK(make_folder(folder));
    struct an_plot_texts texts = write_chart(db, NULL, "acceptance", folder);
    const char *at = texts.data;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && at != NULL; i++) {
        at = strstr(at, sizes[i]);
        CHECK_STR(at == NULL ? sizes[i] : "", "");
    }
    CHECK(has_line(folder, "acceptance", "set label '", "wait, logarithmic'"));
    check_drawn(folder, "acceptance");
    an_plot_texts_clear(&texts);
    remove_folder(folder);
    an_close(db);
}

/* What a chart says of the machine when `sql` has changed it. */
struct machine_case {
    const char *chart, *sql, *title, *data;
};

static const struct machine_case machine_cases[] = {
    { "link-use", "",
      "Store outer is full 25\u00a0% of the time; mean 5.5\u00a0GB/s of 10\u00a0GB/s",
      "# outer\n# t_s use_pct none full_pct\n0 100 nan 100\n" },
    { "link-use", "UPDATE link_sample SET delivered_bytes_per_s = 9.8e9 WHERE link = 4",
      "No link is full; the most used, outer, gives 98\u00a0% of what it can on average",
      "0 98 nan 100\n" },
    { "link-use",
      "UPDATE link_sample SET delivered_bytes_per_s = 1e9 WHERE link = 0 AND t_s < 4500",
      "Interface dgx-0 out is full 62\u00a0% of the time; mean 662\u00a0MB/s of 1\u00a0GB/s",
      "# dgx-0 out\n" },
    { "tenant-share", OWNED("vision"),
      "vision has 71\u00a0% of the GPU time of tenants, 1.36 GPUs on average",
      "# vision\n# t_s gpus none mean_gpus\n0 3 nan 1.36" },
    { "windows",
      "INSERT INTO meta VALUES ('windows', '[{\"name\": \"before\", \"from_s\": 0, \"to_s\": 1800},"
      " {\"name\": \"outage\", \"from_s\": 1800, \"to_s\": null}]'); DELETE FROM happening;"
      "INSERT INTO happening VALUES (21, 2000, NULL, 'node_down', 'dgx-1', 'dgx-1 down'),"
      " (21, 2500, NULL, 'set', 'sched', 'set sched.scaling = xenna')",
      "How high was the backlog before, during and after, with each variant?",
      "# backlog\n# t_s " },
    { "nodes",
      "INSERT INTO happening VALUES (21, 1800, NULL, 'node_reclaimed', 'dgx-1', 'gone'),"
      " (21, 1800, NULL, 'node_requested', 'dgx-1', 'asked for'), (21, 3600, NULL, 'node_came',"
      " 'dgx-1', 'is there'), (21, 5400, NULL, 'node_released', 'dgx-0', 'given back')",
      "xenna: 1.45 nodes of dgx-h100 are there on average, 1 to 2; 1 taken back by their owner",
      "# nodes\n# t_s \"dgx-h100\" \"coming\" \"needed\"" },
    { "memory", "", "What waits goes to disk: 120\u00a0GB, all of it from dgx-1",
      "# dgx-1\n# t_s in_use_bytes in_use_max_bytes limit_bytes\n0 4e+10 6e+10 6.4e+10\n" },
    { "memory", "UPDATE memory_sample SET spilled_bytes = 0",
      "Memory suffices: the fullest node, dgx-1, holds 60\u00a0GB of 64\u00a0GB at most", "" },
    { "memory",
      "UPDATE memory_sample SET spilled_bytes = 0; UPDATE node SET ram_limit_bytes = NULL",
      "Nobody is killed and nothing goes to disk: dgx-1 holds 60\u00a0GB at most", "" },
    { "memory",
      "INSERT INTO happening SELECT 21, i * 60.0, NULL, 'oom', 'dgx-' || (i > 2), 'killed' "
      "FROM "
      "number WHERE i < 5",
      "Memory ran out: 5 workers were killed, 3 of them on dgx-0", "" },
    { "power", "",
      "GPUs that compute have 94\u00a0% of their speed; dgx-0 loses most: "
      "88\u00a0%",
      "# dgx-0 speed\n# t_s value none limit\n0 75 nan 100\n" },
    { "power", "DELETE FROM power_sample WHERE node = 1",
      "GPUs of dgx-0 that compute have 88\u00a0% of their speed; capped at 4.5 kW",
      "# dgx-0 power\n# t_s value none limit\n0 4000 nan 4500\n" },
    { "power",
      "DELETE FROM power_sample WHERE node = 1; UPDATE power_sample SET cap_w = NULL "
      "WHERE t_s > 3000",
      "GPUs of dgx-0 that compute have 88\u00a0% of their speed; capped at 4.5 kW at "
      "times",
      "" },
    { "power", "UPDATE power_sample SET gpu_delivered = 8, gpu_power_w = 3000 + 100 * node",
      "No GPU is held back: those of dgx-1 draw 3.1 kW at most", "# dgx-1 heat\n" },
    { "power", "DELETE FROM power_sample WHERE node = 0; UPDATE power_sample SET gpu_delivered = 4",
      "GPUs of dgx-1 that compute have 50\u00a0% of their speed; they reach 51.9 °C", "" },
};

static void check_machine_case(const struct machine_case *given)
{
    char folder[FIXTURE_PATH];
    char sql[sizeof machine + 1200];
    (void)snprintf(sql, sizeof sql, "%s %s", machine, given->sql);
    struct an_db *db = fixture_open(sql);
    CHECK(make_folder(folder));
    struct an_plot_texts texts = write_chart(db, "xenna", given->chart, folder);
    CHECK(!texts.is_empty);
    CHECK_STR(texts.title, given->title);
    CHECK(texts.data != NULL && strstr(texts.data, given->data) != NULL);
    check_drawn(folder, given->chart);
    an_plot_texts_clear(&texts);
    remove_folder(folder);
    an_close(db);
}

static void what_the_machine_gave_is_told(void)
{
    for (size_t i = 0; i < sizeof machine_cases / sizeof machine_cases[0]; i++)
        check_machine_case(&machine_cases[i]);
}

/* An image of one row is drawn as nothing, and looked as if the node were down. */
static void a_single_node_is_drawn(void)
{
    char folder[FIXTURE_PATH];
    struct an_db *db =
        fixture_open("DELETE FROM node WHERE node = 1; DELETE FROM node_sample WHERE node = 1;"
                     "DELETE FROM worker WHERE node = 1; DELETE FROM action WHERE node = 1 OR "
                     "runner_up_node = 1;"
                     "UPDATE node_sample SET gpu_active = 4, up = 1");
    CHECK(make_folder(folder));
    struct an_plot_texts texts = write_chart(db, "xenna", "node-heat", folder);
    CHECK_STR(texts.title, "50\u00a0% of the GPUs of dgx-0 are used on average");
    char *script = read_in(folder, "node-heat.gp");
    CHECK(script != NULL && strstr(script, "with image") == NULL &&
          strstr(script, "with boxxyerror") != NULL);
    free(script);
    an_plot_texts_clear(&texts);
    remove_folder(folder);
    an_close(db);
}

static void what_is_equal_or_nothing_is_not_told_as_more(void)
{
    static const struct {
        const char *chart, *sql, *title; /* "" = it is empty */
    } cases[] = {
        { "latency",
          "DELETE FROM run WHERE variant_order < 2; UPDATE result SET value = 7 WHERE metric LIKE "
          "'lat.e2e.p%'",
          "95 % of the items take 7\u00a0s at most" },
        { "latency", "UPDATE result SET is_lower_bound = 1 WHERE metric = 'lat.e2e.p95'",
          "One item in twenty takes at least 2m34s with “xenna”, 25m4s with “equal_split”" },
        { "worker-state", "UPDATE stage_sample SET busy = 0",
          "Workers of all stages are idle nearly all of their time" },
        { "frag-time", "UPDATE cluster_sample SET gpu_assigned = gpu_capacity", "" },
        { "acceptance", "UPDATE result SET value = 0 WHERE metric LIKE 'wait.job.%'",
          "No job that starts waits, with any variant" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char folder[FIXTURE_PATH];
        char sql[sizeof timed_results + sizeof timed_counts + 300];
        const bool is_timed = strcmp(cases[i].chart, "acceptance") == 0;
        (void)snprintf(sql, sizeof sql, "%s %s %s", is_timed ? timed_results : "",
                       is_timed ? timed_counts : "", cases[i].sql);
        struct an_db *db = fixture_open(sql);
        CHECK(make_folder(folder));
        struct an_plot_texts texts = write_chart(db, "xenna", cases[i].chart, folder);
        CHECK(texts.is_empty == (cases[i].title[0] == '\0'));
        if (!texts.is_empty)
            CHECK_STR(texts.title, cases[i].title);
        an_plot_texts_clear(&texts);
        remove_folder(folder);
        an_close(db);
    }
}

/* Of many things the first are drawn, and the subtitle says how many there are. */
static void of_many_links_the_most_used_are_drawn(void)
{
    static const char many[] = NUMBERS "INSERT INTO link SELECT 21, i, 'node-' || i || ' in', 'nic "
                                       "in', 0, 100 FROM number WHERE i "
                                       "< 40; INSERT INTO link_sample SELECT 21, l.i, t.i * 60.0, "
                                       "60.0, l.i, 100 FROM number l, number t "
                                       "WHERE l.i < 40";
    char folder[FIXTURE_PATH];
    struct an_db *db = fixture_open(many);
    CHECK(make_folder(folder));
    struct an_plot_texts texts = write_chart(db, "xenna", "link-use", folder);
    CHECK(strstr(texts.subtitle, "the 12 most used of 40") != NULL);
    CHECK(texts.data != NULL && strstr(texts.data, "# node-39 in\n") != NULL &&
          strstr(texts.data, "# node-28 in\n") != NULL &&
          strstr(texts.data, "# node-27 in\n") == NULL);
    an_plot_texts_clear(&texts);
    remove_folder(folder);
    an_close(db);
}

static const struct test tests[] = {
    { "what the machine gave is told", what_the_machine_gave_is_told },
    { "a single node is drawn", a_single_node_is_drawn },
    { "what is equal or nothing is not told as more",
      what_is_equal_or_nothing_is_not_told_as_more },
    { "of many links the most used are drawn", of_many_links_the_most_used_are_drawn },
    { "an axis shows the goal of every point", an_axis_shows_the_goal_of_every_point },
    { "labels say what is meant", labels_say_what_is_meant },
    { "a tornado shows every value", a_tornado_shows_every_value },
    { "charts of jobs in time say who waits", charts_of_jobs_in_time_say_who_waits },
    { "sizes stand in order", sizes_stand_in_order },
    { "static charts say what they found", static_charts_say_what_they_found },
    { "titles state what the data say", findings_come_from_the_data },
    { "titles fit even with long names, and every chart has data", titles_fit_the_sheet },
    { "names and texts cannot run gnuplot or shell commands", no_text_can_run_commands },
    { "a run without data gives cards that say so", empty_runs_become_cards },
    { "failures and endless scripts of gnuplot are told", gnuplot_failures_are_told },
    { "ids of an inline picture carry the prefix of their chart", ids_get_prefixes },
    { "labels keep their distance", labels_are_pushed_apart },
    { "means of a bin are weighted by time", means_are_weighted_by_time },
    { "the report is one page with all charts that loads nothing", report_is_self_contained },
};
TEST_MAIN(tests)
