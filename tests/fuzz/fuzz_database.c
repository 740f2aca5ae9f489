/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whatever became of a result database (hostile_db.h), it is refused with a sentence that names it,
 * or what is read from one can be read: runs and facts, and one more thing, which bits 2 to 7 of
 * the first byte choose: a chart, an explanation, the comparison, or the scenarios it stores.
 */
#include "analysis/facts.h"
#include "analysis/plot.h"
#include "sim/cli/experiment/stored_run.h"
#include "tests/support/hostile_db.h"
#include "tests/support/reached.h"
#include "weir_text.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(weir_status status, const struct weir_error *error)
{
    if ((status != WEIR_OK && error->text[0] == '\0') || status == WEIR_EINVARIANT)
        abort();
}

/* All but the first two replications. */
static void drop_most(sqlite3 *db)
{
    sqlite3_stmt *table = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE "
                           "m.type = 'table' AND c.name = 'run_id' AND m.name <> 'run'",
                           -1, &table, NULL) != SQLITE_OK)
        abort();
    while (sqlite3_step(table) == SQLITE_ROW) {
        char *sql = sqlite3_mprintf("DELETE FROM %s WHERE run_id NOT IN (SELECT run_id FROM run "
                                    "WHERE replication < 2)",
                                    sqlite3_column_text(table, 0));
        (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
    }
    (void)sqlite3_finalize(table);
    (void)sqlite3_exec(db, "DELETE FROM run WHERE replication > 1; VACUUM", NULL, NULL, NULL);
}

/* The invented database of the tests, two runs a variant. */
static struct hostile_base make_base(void)
{
    struct hostile_base base = { NULL, 0 };
    const char *root = getenv("WEIR_SOURCE_DIR");
    char path[4096];
    enum { MOST_ROWS = 65536 };
    char *rows = calloc(1, MOST_ROWS);
    sqlite3 *db = NULL;
    (void)snprintf(path, sizeof path, "%s/tests/support/fixture_db.sql", root == NULL ? "." : root);
    FILE *file = fopen(path, "rb");
    const size_t length = file == NULL || rows == NULL ? 0 : fread(rows, 1, MOST_ROWS - 1, file);
    if (length == 0 || fclose(file) != 0 || sqlite3_open(":memory:", &db) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA page_size = 1024", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, weir_text_schema_sql, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, rows, NULL, NULL, NULL) != SQLITE_OK)
        abort();
    drop_most(db);
    hostile_take(db, &base);
    (void)sqlite3_close(db);
    free(rows);
    return base;
}

static void draw(struct an_db *db, size_t chart, const char *folder)
{
    const struct an_plot_options options = { .at_s = (double)NAN };
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_plot_texts texts = { .data = NULL };
    struct an_run *run = NULL;
    struct an_facts *facts = NULL;
    weir_status status = an_run_find(db, NULL, 0, &run, &error);
    if (status == WEIR_OK)
        status = an_facts_read(db, run, &facts, &error);
    if (status == WEIR_OK) {
        const struct an_plot_job job = { .db = db,
                                         .run = run,
                                         .facts = facts,
                                         .options = &options,
                                         .folder = folder,
                                         .output = "out.svg" };
        status = an_plot_write(an_plot_ops_at(chart), &job, &texts, &error);
    }
    check(status, &error);
    an_plot_texts_clear(&texts);
    an_facts_destroy(facts);
    an_run_destroy(run);
}

enum { EXPLANATIONS = 5 };

static void explain(struct an_db *db, size_t which)
{
    struct an_explain_query query = {
        .worker = -1, .from_s = (double)NAN, .to_s = (double)NAN, .at_s = (double)NAN
    };
    struct weir_error error = { .phase = -1, .pool = -1 };
    FILE *out = fopen("/dev/null", "w");
    query.worker = which == 0 ? 1 : -1;
    query.stage = which == 1 ? "caption" : NULL;
    query.at_s = which == 2 ? 100 : (double)NAN;
    query.is_pending = which == 3;
    query.job = which == 4 ? "1" : NULL;
    if (out == NULL)
        return;
    check(an_explain(db, &query, out, &error), &error);
    (void)fclose(out);
}

static void compare(struct an_db *db)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_comparison *comparison = NULL;
    check(an_compare(db, NULL, &comparison, &error), &error);
    an_comparison_destroy(comparison);
}

static void read_stored(const char *path)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_stored stored = { 0 };
    check(sim_stored_open(path, NULL, SIM_ALL_REPLICATIONS, &stored, &error), &error);
    sim_stored_clear(&stored);
}

static void read_one(struct an_db *db, const char *path, size_t which)
{
    if (which < an_plot_count())
        draw(db, which, "/tmp");
    else if (which - an_plot_count() < EXPLANATIONS)
        explain(db, which - an_plot_count());
    else if (which % 2 == 0)
        compare(db);
    else
        read_stored(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct hostile_base base;
    char path[HOSTILE_PATH];
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_db *db = NULL;
    if (base.bytes == NULL)
        base = make_base();
    hostile_name(path, "database");
    if (!hostile_write(&base, data, size, path))
        return 0;
    const weir_status status = an_open(path, &db, &error);
    if ((status == WEIR_OK) != (db != NULL) ||
        (status != WEIR_OK && strncmp(error.text, path, strlen(path)) != 0))
        abort();
    if (db != NULL && size > 1) /* it was changed, and is let in */
        fuzz_reached();
    if (db != NULL)
        read_one(db, path, size == 0 ? 0 : data[0] >> 2);
    an_close(db);
    (void)unlink(path);
    return 0;
}
