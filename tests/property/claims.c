/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every claim is true: over small runs of every kind of work each claim that is made is recomputed
 * by another statement (tests/support/claim_truths.c), each claim that such a statement finds true
 * is made, verdicts are judged again by a t test of this file, and what was planted in a run is
 * said.
 */
#include "analysis/claim.h"
#include "analysis/facts.h"
#include "tests/support/check.h"
#include "tests/support/claim_truths.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD       "schema: 2\nname: t\nseed: 7\n"
#define GPUS       "cluster: {nodes: [{name: n, count: 2, cpus: 16, gpus: {h100: 4}}]}\n"
#define CPUS       "cluster: {nodes: [{name: n, cpus: 16}]}\n"
#define FIXED      "scheduler: {scaling: {policy: fixed}}\n"
#define REPEAT     "replications: 5\n"
#define JOBS(rest) "jobs: {w: {" rest "}}\n"

/* What was planted: claims that must be made of the baseline's first run, with a text in them, and
 * claims that would be false. */
struct planted {
    const char *name, *yaml;
    const char *said[6][2];
    const char *unsaid; /* names split by blanks */
};

static const struct planted cases[] = {
#include "tests/property/claims_planted.h"
};
enum { CASES = sizeof cases / sizeof cases[0], MOST_CLAIMS = 100, MOST_VARIANTS = 6 };

/* ---- a database ---- */

struct open_case {
    char folder[64], path[96];
    struct an_db *db;
    sqlite3 *sqlite;
};

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    return file != NULL && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* Jobs of two users on two GPU types, for scenarios that read t.csv: those of `late` come when all
 * others are done. */
static bool write_table(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    (void)fputs(
        "name,submit_s,wait_s,run_s,estimate_s,patience_s,cpu_milli,memory_bytes,gpus,gpu_milli,"
        "gpu_memory_bytes,models,processors,priority,user,group,end\n",
        file);
    for (int i = 0; i < 60; i++)
        (void)fprintf(file, "j%d,%d,,%d,,,,,1,1000,,%s,,,%s,,done\n", i, i < 40 ? i : 1500 + 10 * i,
                      i < 40 ? 100 + i : 10, i % 4 == 0 ? "a100-80" : "h100",
                      i < 40 ? "early" : "late");
    return fclose(file) == 0;
}

static bool run_case(const struct planted *planted, struct open_case *open)
{
    char scenario[96];
    char table[96];
    char command[512];
    struct weir_error error = { .phase = -1, .pool = -1 };
    const char *verb = strstr(planted->yaml, "compare:") == NULL ? "run" : "compare";
    (void)snprintf(open->folder, sizeof open->folder, "/tmp/weir-claims-XXXXXX");
    if (mkdtemp(open->folder) == NULL)
        return false;
    (void)snprintf(scenario, sizeof scenario, "%s/t.yaml", open->folder);
    (void)snprintf(table, sizeof table, "%s/t.csv", open->folder);
    (void)snprintf(open->path, sizeof open->path, "%s/t.db", open->folder);
    (void)snprintf(command, sizeof command, "'%s' %s -q -j 1 -o %s %s >%s/out 2>&1",
                   getenv("WEIR_BIN"), verb, open->path, scenario, open->folder);
    if (!write_text(scenario, planted->yaml) || !write_table(table))
        return false;
    (void)system(command); /* the code of one that ended early is 1 */
    const bool is_open = an_open(open->path, &open->db, &error) == WEIR_OK &&
                         sqlite3_open(open->path, &open->sqlite) == SQLITE_OK;
    if (!is_open)
        (void)printf("    %s: %s\n", planted->name, error.text);
    return is_open;
}

static void close_case(struct open_case *open)
{
    char command[128];
    an_close(open->db);
    sqlite3_close(open->sqlite);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", open->folder);
    (void)system(command);
}

/* ---- recomputing ---- */

struct count {
    int made, falsehoods, silent, planted, said;
};

static void fault(const struct planted *planted, const struct an_claim *claim, const char *what)
{
    (void)printf("    %s: %s \"%s\": %s\n", planted->name, claim->name, claim->text, what);
}

static bool is_close(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-6 * fmax(1.0, fmax(fabs(a), fabs(b)));
}

/* Compares the columns with the values of the claim; both have what they share under one name. */
static bool is_same(const struct planted *planted, sqlite3_stmt *row, const struct an_claim *claim)
{
    bool is_all = true;
    for (int c = 0; c < sqlite3_column_count(row); c++) {
        const char *key = sqlite3_column_name(row, c);
        const bool is_text = sqlite3_column_type(row, c) == SQLITE_TEXT;
        const double number = sqlite3_column_type(row, c) == SQLITE_NULL
                                  ? (double)NAN
                                  : sqlite3_column_double(row, c);
        const bool is_it = is_text ? strcmp((const char *)sqlite3_column_text(row, c),
                                            an_claim_word(claim, key)) == 0
                                   : is_close(number, an_claim_number(claim, key));
        char what[200];
        (void)snprintf(what, sizeof what, "%s is %s %.9g, recomputed %s %.9g", key,
                       an_claim_word(claim, key), an_claim_number(claim, key),
                       is_text ? (const char *)sqlite3_column_text(row, c) : "", number);
        if (!is_it)
            fault(planted, claim, what);
        is_all = is_all && is_it;
    }
    return is_all;
}

static sqlite3_stmt *ask(const struct open_case *open, const char *sql,
                         const struct an_claim_about *about)
{
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(open->sqlite, sql, -1, &row, NULL) != SQLITE_OK) {
        (void)printf("    %s: %s\n", sqlite3_errmsg(open->sqlite), sql);
        CHECK(false);
        return NULL;
    }
    sqlite3_bind_int64(row, sqlite3_bind_parameter_index(row, ":run"), about->run->run_id);
    const int from = sqlite3_bind_parameter_index(row, ":from");
    const int at = sqlite3_bind_parameter_index(row, ":at");
    if (from > 0)
        sqlite3_bind_double(row, from, about->from_s);
    if (at > 0)
        sqlite3_bind_double(row, at, about->at_s);
    return row;
}

static void check_truth(const struct planted *planted, const struct open_case *open,
                        const struct an_claim_about *about, const struct an_claim *claim,
                        const char *name, struct count *count)
{
    const struct claim_truth *truth = claim_truth_of(name);
    sqlite3_stmt *row = truth == NULL ? NULL : ask(open, truth->sql, about);
    if (row == NULL)
        return;
    const bool is_true = sqlite3_step(row) == SQLITE_ROW;
    if (claim->name != NULL && !is_true) {
        fault(planted, claim, "is not true");
        count->falsehoods++;
    } else if (claim->name != NULL && !is_same(planted, row, claim)) {
        count->falsehoods++;
    } else if (claim->name == NULL && is_true) {
        (void)printf("    %s: %s is true and not said\n", planted->name, name);
        count->silent++;
    }
    sqlite3_finalize(row);
}

/* ---- verdicts ---- */

/* Values of the metric of two variants, by replication. */
static size_t read_pairs(const struct open_case *open, const struct an_claim *claim, double *a,
                         double *b)
{
    static const char sql[] =
        "SELECT x.value, y.value FROM result x JOIN run r ON r.run_id = x.run_id JOIN run q ON"
        " q.replication = r.replication JOIN result y ON y.run_id = q.run_id AND y.metric = "
        "x.metric"
        " AND y.label = x.label WHERE x.label = '' AND x.metric = ?1 AND r.variant = ?2 AND"
        " q.variant = ?3 ORDER BY r.replication";
    sqlite3_stmt *row = NULL;
    size_t n = 0;
    if (sqlite3_prepare_v2(open->sqlite, sql, -1, &row, NULL) != SQLITE_OK)
        return 0;
    sqlite3_bind_text(row, 1, an_claim_word(claim, "metric"), -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 2, an_claim_word(claim, "baseline"), -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 3, an_claim_word(claim, "variant"), -1, SQLITE_STATIC);
    while (n < 32 && sqlite3_step(row) == SQLITE_ROW) {
        a[n] = sqlite3_column_double(row, 0);
        b[n++] = sqlite3_column_double(row, 1);
    }
    sqlite3_finalize(row);
    return n;
}

static double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* Two-sided p of the paired differences; NAN = all are the same, or there is one. */
static double p_of(const double *a, const double *b, size_t n)
{
    double d[32];
    double squares = 0;
    bool is_same_all = true;
    for (size_t i = 0; i < n; i++) {
        d[i] = b[i] - a[i];
        is_same_all = is_same_all && fabs(d[i] - d[0]) <= 1e-12 * fabs(a[0]);
    }
    if (n < 2 || is_same_all)
        return (double)NAN;
    const double mean = mean_of(d, n);
    for (size_t i = 0; i < n; i++)
        squares += (d[i] - mean) * (d[i] - mean);
    const double t = mean / sqrt(squares / (double)(n - 1) / (double)n);
    return 2 * gsl_cdf_tdist_Q(fabs(t), (double)(n - 1));
}

/* Whether, over its runs, more than one in twenty of the work of one of the two is not in its mean.
 */
static bool is_without_the_rest(const struct open_case *open, const struct an_claim *claim)
{
    static const char sql[] =
        "SELECT count(*) FROM (SELECT 1 FROM result JOIN run USING (run_id) WHERE label = '' AND"
        " metric = ?1 AND variant IN (?2, ?3) AND (metric LIKE '%.mean' OR metric LIKE '%.mean@%')"
        " GROUP BY variant HAVING 20 * avg(1.0 * censored / (n + censored)) > 1)";
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(open->sqlite, sql, -1, &row, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(row, 1, an_claim_word(claim, "metric"), -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 2, an_claim_word(claim, "baseline"), -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 3, an_claim_word(claim, "variant"), -1, SQLITE_STATIC);
    const bool is_found = sqlite3_step(row) == SQLITE_ROW && sqlite3_column_int(row, 0) > 0;
    sqlite3_finalize(row);
    return is_found;
}

/* "No run differs": of all variants, with what they came to in each replication. */
static bool is_said_of_all(const struct open_case *open, const struct an_claim *claim)
{
    static const char sql[] =
        "SELECT count(*) FROM (SELECT 1 FROM run r LEFT JOIN result x ON x.run_id = r.run_id AND"
        " x.label = '' AND x.metric = ?1 GROUP BY r.replication"
        " HAVING count(DISTINCT x.value) > 1 OR count(x.value) < count(*))";
    sqlite3_stmt *row = NULL;
    if (strncmp(claim->text, "No run differs", 14) != 0)
        return true;
    if (sqlite3_prepare_v2(open->sqlite, sql, -1, &row, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(row, 1, an_claim_word(claim, "metric"), -1, SQLITE_STATIC);
    const bool is_true = sqlite3_step(row) == SQLITE_ROW && sqlite3_column_int(row, 0) == 0;
    sqlite3_finalize(row);
    return is_true;
}

/* The figures, and that the kind of verdict fits them; Holm can only make p larger. */
static bool is_fair(const struct open_case *open, const struct an_claim *claim)
{
    double a[32];
    double b[32];
    const char *kind = strchr(claim->name, '.') + 1;
    const size_t n = read_pairs(open, claim, a, b);
    if (n == 0 || !is_close(mean_of(a, n), an_claim_number(claim, "base")) ||
        !is_close(mean_of(b, n), an_claim_number(claim, "mean")))
        return false;
    if (strcmp(kind, "keeps") != 0 && is_without_the_rest(open, claim))
        return strcmp(kind, "open") == 0;
    const double p = p_of(a, b, n);
    const double gain = (mean_of(b, n) - mean_of(a, n)) * an_claim_number(claim, "better");
    if (strcmp(kind, "window") == 0 && isnan(p))
        return gain > 0;
    if (strcmp(kind, "better") == 0 || strcmp(kind, "window") == 0)
        return p < 0.05 && gain > 0 && an_claim_number(claim, "p") >= p - 1e-9;
    if (strcmp(kind, "worse") == 0)
        return p < 0.05 && gain < 0 && an_claim_number(claim, "p") >= p - 1e-9;
    if (strcmp(kind, "same") == 0)
        return n > 1 && isnan(p) && is_said_of_all(open, claim);
    if (strcmp(kind, "once") == 0)
        return n == 1;
    if (strcmp(kind, "tie") == 0 || strcmp(kind, "none") == 0)
        return an_claim_number(claim, "p") >= 0.05 && an_claim_number(claim, "p") >= p - 1e-9;
    return true;
}

static bool is_verdict(const char *name)
{
    return strncmp(name, "verdict.", 8) == 0 || strncmp(name, "winner.", 7) == 0;
}

/* ---- a run ---- */

static void check_claims(const struct planted *planted, const struct open_case *open,
                         const struct an_claim_about *about, struct count *count)
{
    for (size_t i = 0; i < an_claim_count(); i++) {
        struct an_claim claim;
        struct weir_error error = { .phase = -1, .pool = -1 };
        const char *name = an_claim_at(i)->name;
        CHECK_I64(an_claim_make(about, name, &claim, &error), WEIR_OK);
        CHECK_STR(error.text, "");
        count->made += claim.name != NULL;
        CHECK(claim.name == NULL || claim.text[0] != '\0');
        if (!is_verdict(name)) {
            check_truth(planted, open, about, &claim, name, count);
        } else if (claim.name != NULL && strcmp(name, "verdict.alone") != 0 &&
                   !is_fair(open, &claim)) {
            fault(planted, &claim, "does not follow from the results");
            count->falsehoods++;
        }
    }
}

/* The middle of the run stands for a moment. */
static void check_run(const struct planted *planted, const struct open_case *open,
                      const char *variant, uint32_t replication, struct count *count)
{
    struct an_run *run = NULL;
    struct an_facts *facts = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (an_run_find(open->db, variant, replication, &run, &error) != WEIR_OK)
        return;
    CHECK_I64(an_facts_read(open->db, run, &facts, &error), WEIR_OK);
    if (facts != NULL) {
        const struct an_claim_about about = {
            .db = open->db, .run = run, .from_s = facts->from_s, .at_s = 0.5 * run->end_s
        };
        check_claims(planted, open, &about, count);
    }
    an_facts_destroy(facts);
    an_run_destroy(run);
}

static void check_planted(const struct planted *planted, const struct open_case *open,
                          struct count *count)
{
    struct an_run *run = NULL;
    struct an_facts *facts = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_claim claim;
    CHECK_I64(an_run_find(open->db, NULL, 0, &run, &error), WEIR_OK);
    if (run == NULL)
        return;
    CHECK_I64(an_facts_read(open->db, run, &facts, &error), WEIR_OK);
    const struct an_claim_about about = {
        .db = open->db, .run = run, .from_s = facts->from_s, .at_s = 0.5 * run->end_s
    };
    for (size_t i = 0; i < 6 && planted->said[i][0] != NULL; i++) {
        CHECK_I64(an_claim_make(&about, planted->said[i][0], &claim, &error), WEIR_OK);
        const bool is_said = strstr(claim.text, planted->said[i][1]) != NULL;
        count->planted++;
        count->said += is_said;
        if (!is_said)
            (void)printf("    %s: %s says \"%s\", planted \"%s\"\n", planted->name,
                         planted->said[i][0], claim.text, planted->said[i][1]);
    }
    const char *name = planted->unsaid == NULL ? "" : planted->unsaid;
    for (size_t length = 0; *name != '\0'; name += length + strspn(name + length, " ")) {
        char one[64];
        length = strcspn(name, " ");
        (void)snprintf(one, sizeof one, "%.*s", (int)length, name);
        CHECK_I64(an_claim_make(&about, one, &claim, &error), WEIR_OK);
        CHECK_STR(claim.text, "");
    }
    an_facts_destroy(facts);
    an_run_destroy(run);
}

static void check_case(const struct planted *planted, struct count *count)
{
    static const char *const variants[] = { NULL, "b", "c" };
    struct open_case open = { .db = NULL };
    const bool is_open = run_case(planted, &open);
    CHECK(is_open);
    if (is_open) {
        check_planted(planted, &open, count);
        for (size_t v = 0; v < 3; v++)
            for (uint32_t r = 0; r < 2; r++)
                check_run(planted, &open, variants[v], r, count);
    }
    close_case(&open);
}

static void claims_are_true(void)
{
    struct count count = { 0 };
    CHECK(CASES >= 30);
    for (size_t i = 0; i < CASES; i++)
        check_case(&cases[i], &count);
    (void)printf(
        "    %d databases: %d claims, %d false, %d true and not said; %d of %d planted said\n",
        (int)CASES, count.made, count.falsehoods, count.silent, count.said, count.planted);
    CHECK(count.made >= 400);
    CHECK_I64(count.falsehoods, 0);
    CHECK_I64(count.silent, 0);
    CHECK_I64(count.said, count.planted); /* seeds are fixed: none has an excuse */
}

/* Its figures are given by a chart over many runs or a file of measurements: recomputed by
 * tests/cli/axes.sh, tests/cli/designs.sh, tests/cli/observed.sh and tests/cli/review.sh. */
static bool is_given(const struct an_claim_ops *ops)
{
    return ops->sql == NULL && ops->judge == NULL &&
           (strcmp(ops->name, "axis.ends") == 0 || strncmp(ops->name, "start.", 6) == 0 ||
            strcmp(ops->name, "observed.error") == 0 || strncmp(ops->name, "review.", 7) == 0 ||
            strncmp(ops->name, "vary.", 5) == 0);
}

/* A claim without a statement of its own would be believed. */
static void every_claim_is_checked(void)
{
    for (size_t i = 0; i < an_claim_count(); i++) {
        const char *name = an_claim_at(i)->name;
        const bool is_checked =
            is_verdict(name) || claim_truth_of(name) != NULL || is_given(an_claim_at(i));
        CHECK_STR(is_checked ? "" : name, "");
        CHECK(an_claim_at(i)->threshold != NULL && an_claim_at(i)->say != NULL);
        CHECK(is_given(an_claim_at(i)) ||
              (an_claim_at(i)->sql == NULL) != (an_claim_at(i)->judge == NULL));
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(an_claim_at(k)->name, name) != 0);
    }
}

static const struct test tests[] = {
    { "every claim has a statement to be checked against", every_claim_is_checked },
    { "claims of thirty databases are true, and what was planted is said", claims_are_true },
};
TEST_MAIN(tests)
