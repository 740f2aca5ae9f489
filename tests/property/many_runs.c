/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory does not grow with the number of runs, and no result of a wide pipeline is lost on the way
 * from a run to the database. `./dev bench many_runs` is the same at 200 and 2000 runs.
 */
#include "tests/support/many_runs.h"
#include "tests/support/check.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

enum { STAGES = 200, FEW = 20, MANY = 200 };

static int64_t count_of(const char *database, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    int64_t count = -1;
    if (sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
        count = sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(db);
    return count;
}

static void ten_times_the_runs_take_no_more_memory(void)
{
    char database[64];
    (void)snprintf(database, sizeof database, "many_runs_%d.db", (int)getpid());
    const long few = test_many_runs_kib(STAGES, FEW, "metrics.keep=results", database);
    const long many = test_many_runs_kib(STAGES, MANY, "metrics.keep=results", database);
    CHECK(few > 0 && many > 0);
#ifdef __SANITIZE_ADDRESS__
    test_skip_part("memory: the sanitizer keeps what was freed for a while");
#else
    CHECK(many < 40 * 1024);
    CHECK_NEAR((double)many / (double)few, 1.0, 0.05);
#endif
    CHECK_I64(count_of(database, "SELECT count(*) FROM run WHERE status = 'horizon'"), MANY);
    CHECK_I64(count_of(database, "SELECT count(*) FROM result WHERE metric = 'thr.stage'"),
              (int64_t)MANY * STAGES);
    (void)unlink(database);
}

static const struct test tests[] = {
    { "ten times the runs take no more memory", ten_times_the_runs_take_no_more_memory },
};

TEST_MAIN(tests)
