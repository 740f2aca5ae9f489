/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which value of an axis a review takes for safe, on planted waits. */
#include "analysis/report/review.h"
#include "tests/support/fixture.h"

#include <math.h>

enum { RUNS = 3 };

/* Waits of three runs a value, the bound being 100 s. With t = 4.303 and a spread of d around the
 * mean the half width is 2.484 d. */
struct planted {
    int value;
    double mean, spread;
};

static void plant(FILE *out, const struct planted *sizes, size_t count, const char *path)
{
    (void)fprintf(out,
                  "INSERT INTO meta VALUES ('work', 'replay'), ('growth_month', '0.05'),"
                  " ('goal', '{\"metric\": \"wait.job.p95\", \"better\": -1, \"while\": ["
                  "{\"metric\": \"wait.job.p95\", \"op\": \"<=\", \"bound\": 100, \"slack\": "
                  "0}]}'), ('axes', '{\"axes\": [{\"path\": \"%s\", \"name\": \"n\","
                  " \"is_policy\": false}], \"points\": [",
                  path);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out,
                      "%s{\"label\": \"n=%d\", \"point\": %zu, \"variant\": \"base\","
                      " \"values\": [%d]}",
                      i == 0 ? "" : ", ", sizes[i].value, i, sizes[i].value);
    (void)fputs("]}');", out);
}

static char *planted_sql(const struct planted *sizes, size_t count, const char *path)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    plant(out, sizes, count, path);
    (void)fputs("INSERT INTO experiment VALUES (1, 's', '', '', 'aa', '', 'n=1');", out);
    for (size_t i = 0; i < count; i++)
        for (int r = 0; r < RUNS; r++) {
            const size_t run = i * RUNS + (size_t)r + 1;
            (void)fprintf(out,
                          "INSERT INTO run VALUES (%zu, 1, 'n=%d', %zu, %d, %d, 'fgd', 'none', '',"
                          " 'aa', 0, 0, NULL, 3600, 'complete', '', 1, 'b', 'c', 60, 1, 1);",
                          run, sizes[i].value, i, r, r);
            (void)fprintf(out,
                          "INSERT INTO result VALUES (%zu, 'wait.job.p95', '', %.17g, 's', 9, 0, "
                          "0);",
                          run, sizes[i].mean + sizes[i].spread * (r - 1));
        }
    (void)fclose(out);
    return text;
}

/* The values that are safe and likely; 0 = none. */
static void check(const struct planted *sizes, size_t count, const char *path, double safe,
                  double likely)
{
    char file[FIXTURE_PATH];
    char *sql = planted_sql(sizes, count, path);
    struct an_db *db = NULL;
    struct an_review review;
    CHECK(fixture_empty(file) && fixture_sql(file, sql));
    CHECK_I64(an_open(file, &db, NULL), WEIR_OK);
    CHECK_I64(an_review_read(db, &review, NULL), WEIR_OK);
    CHECK_I64((int64_t)review.count, 1);
    const struct an_review_option *option = &review.options[0];
    CHECK_I64((int64_t)option->count, (int64_t)count);
    CHECK_NEAR(option->safe == option->count ? 0 : option->sizes[option->safe].value, safe, 0);
    CHECK_NEAR(option->likely == option->count ? 0 : option->sizes[option->likely].value, likely,
               0);
    CHECK((an_review_choice(&review) != NULL) == (safe > 0));
    CHECK_NEAR(review.growth_month, 0.05, 0);
    an_review_clear(&review);
    an_close(db);
    (void)unlink(file);
    free(sql);
}
#define CHECK_SIZES(path, safe, likely, ...)                                                       \
    do {                                                                                           \
        static const struct planted sizes[] = { __VA_ARGS__ };                                     \
        check(sizes, sizeof sizes / sizeof sizes[0], path, safe, likely);                          \
    } while (0)

static void the_upper_bound_decides(void)
{
    /* 3: 96 + 2.484 x 1 < 100; 2: 96 + 2.484 x 2 > 100. */
    CHECK_SIZES("cluster.nodes.n.count", 3, 2, { 1, 120, 1 }, { 2, 96, 2 }, { 3, 96, 1 },
                { 4, 50, 1 });
    /* As long as something easier is safe, what lies between need not be. */
    CHECK_SIZES("cluster.nodes.n.count", 2, 2, { 1, 120, 1 }, { 2, 96, 1 }, { 3, 96, 2 });
    CHECK_SIZES("cluster.nodes.n.count", 0, 2, { 1, 120, 1 }, { 2, 99, 1 }, { 3, 98, 2 });
    CHECK_SIZES("cluster.nodes.n.count", 1, 1, { 1, 20, 1 }, { 2, 19, 1 });
}

static void what_is_easier_must_not_fail(void)
{
    CHECK_SIZES("cluster.nodes.n.count", 4, 4, { 1, 20, 1 }, { 2, 20, 1 }, { 3, 101, 1 },
                { 4, 20, 1 });
    CHECK_SIZES("cluster.nodes.n.count", 0, 0, { 1, 20, 1 }, { 2, 20, 1 }, { 3, 101, 1 });
}

static void of_work_less_is_easier(void)
{
    CHECK_SIZES("jobs.w.arrivals.scale", 2, 3, { 1, 20, 1 }, { 2, 90, 1 }, { 3, 99, 1 },
                { 4, 200, 1 });
    CHECK_SIZES("jobs.w.arrivals.scale", 0, 0, { 1, 200, 1 }, { 2, 20, 1 });
}

/* Twice the work at 5 % a month: ln 2 / ln 1.05 = 14.2 months of 30 days. */
static void weeks_are_of_compound_growth(void)
{
    CHECK_NEAR(an_review_weeks(0.05, 2), 60.885, 1e-3);
    CHECK_NEAR(an_review_weeks(0.05, 1), 0, 0);
    CHECK_NEAR(an_review_weeks(0.05, 0.5), 0, 0);
    CHECK(isinf(an_review_weeks(0, 2)) && isinf(an_review_weeks((double)NAN, 2)));
}

static const struct test tests[] = {
    { "the upper bound decides", the_upper_bound_decides },
    { "what is easier must not fail", what_is_easier_must_not_fail },
    { "of work less is easier", of_work_less_is_easier },
    { "weeks are of compound growth", weeks_are_of_compound_growth },
};
TEST_MAIN(tests)
