/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir diff: whether two stored runs are the same, and where they first part.
 *
 * Digests decide; then the decisions (what they did for each stage, their actions) and the
 * transitions of workers are walked side by side, and the earliest difference is one sentence.
 */
#include "analysis/database/database.h"
#include "sim/cli/commands.h"
#include "sim/cli/experiment/stored_run.h"
#include "sim/cli/tell/analysis_options.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

enum { SENTENCE = 512 };

struct arguments {
    struct sim_options common;
    struct sim_run_choice choice;
    const char *paths[2];
};

/* One of the two runs. */
struct side {
    struct sim_stored stored;
    sqlite3 *db;
    sqlite3_stmt *rows;
    bool has_row;
};

/* The first difference that one kind of rows shows; at infinity when there is none. */
struct difference {
    bool is_found;
    double t_s;
    char text[SENTENCE];
};

static const struct sim_option command_rows[] = {
    { .argument = "DB1",
      SIM_OPTION(TEXT, arguments, paths[0]),
      .missing = "which two databases? weir diff a.db b.db" },
    { .argument = "DB2",
      SIM_OPTION(TEXT, arguments, paths[1]),
      .missing = "which two databases? weir diff a.db b.db",
      .one = "two databases" },
    { SIM_OPTION(OTHERS, arguments, choice), .others = &sim_run_choice_options },
    { SIM_OPTION(OTHERS, arguments, common), .others = &sim_options_format },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .usage = "DB1 DB2",
    .help = "Compare one run of two result databases: their digests, then the first decision or "
            "worker that differs.\v"
            "Exit codes: 0 the same, 1 they differ, 2 no such run, 3 database.",
};

/* Each row: time, its name in a sentence, what it says. */
static const char *const queries[] = {
    "SELECT d.t_s, printf('decision %d, stage %s', d.decision, g.name), "
    "printf('%d workers started, %d stopped, %d then, %d slots', s.started, s.stopped, "
    "s.workers_after, s.slots) FROM decision d JOIN decision_stage s USING (run_id, decision) "
    "JOIN stage g ON g.run_id = d.run_id AND g.stage = s.stage "
    "WHERE d.run_id = ?1 ORDER BY d.decision, s.stage",
    "SELECT d.t_s, printf('decision %d, action %d', d.decision, a.seq), "
    "printf('%s of worker %s of stage %s on node %s (value %s, %s)', a.verb, "
    "coalesce(a.worker, '-'), coalesce(a.stage, '-'), coalesce(a.node, '-'), "
    "coalesce(a.value, '-'), a.outcome) "
    "FROM decision d JOIN action a USING (run_id, decision) "
    "WHERE d.run_id = ?1 ORDER BY d.decision, a.seq",
    "SELECT t_s, printf('worker %d of stage %s', worker, stage), what FROM ("
    "SELECT created_s AS t_s, worker, stage, 1 AS step, printf('created on node %d (%s)', node, "
    "devices) AS what FROM worker WHERE run_id = ?1 UNION ALL "
    "SELECT ready_s, worker, stage, 2, 'ready' FROM worker WHERE run_id = ?1 AND ready_s NOT NULL "
    "UNION ALL SELECT ended_s, worker, stage, 3, printf('ended (%s) after %d tasks', end_reason, "
    "tasks) FROM worker WHERE run_id = ?1 AND ended_s NOT NULL) ORDER BY t_s, worker, step",
};
enum { QUERIES = sizeof queries / sizeof queries[0] };

static weir_status step(struct side *side, struct weir_error *error)
{
    const int code = sqlite3_step(side->rows);
    side->has_row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return WEIR_OK;
    return weir_fail(error, WEIR_EIO, "%s: %s", side->stored.path, sqlite3_errmsg(side->db));
}

static const char *text_at(const struct side *side, int column)
{
    const char *text = (const char *)sqlite3_column_text(side->rows, column);
    return text == NULL ? "" : text;
}

static bool is_equal(const struct side sides[2])
{
    for (int column = 0; column < 3; column++)
        if (strcmp(text_at(&sides[0], column), text_at(&sides[1], column)) != 0)
            return false;
    return true;
}

static void describe(const struct side sides[2], struct difference *difference)
{
    const bool both = sides[0].has_row && sides[1].has_row;
    const double times[2] = { sides[0].has_row ? sqlite3_column_double(sides[0].rows, 0) : 0,
                              sides[1].has_row ? sqlite3_column_double(sides[1].rows, 0) : 0 };
    /* The side whose row comes first has something that the other has not. Of one moment rows come
     * by the numbers in their names. */
    const bool is_one_moment = both && times[0] <= times[1] && times[1] <= times[0];
    const int order = is_one_moment ? strverscmp(text_at(&sides[0], 1), text_at(&sides[1], 1)) : 0;
    const int first = !sides[0].has_row || (both && times[1] < times[0]) || order > 0 ? 1 : 0;
    const struct side *side = &sides[first];
    const bool is_same_thing = is_one_moment && order == 0;
    difference->is_found = true;
    difference->t_s = times[first];
    if (is_same_thing)
        (void)snprintf(difference->text, SENTENCE, "at %.9g s, %s: %s in %s, %s in %s", times[0],
                       text_at(side, 1), text_at(&sides[0], 2), sides[0].stored.path,
                       text_at(&sides[1], 2), sides[1].stored.path);
    else
        (void)snprintf(difference->text, SENTENCE, "at %.9g s, %s: %s in %s, not in %s",
                       times[first], text_at(side, 1), text_at(side, 2), side->stored.path,
                       sides[1 - first].stored.path);
}

static weir_status walk(struct side sides[2], struct difference *difference,
                        struct weir_error *error)
{
    do {
        WEIR_TRY(step(&sides[0], error));
        WEIR_TRY(step(&sides[1], error));
    } while (sides[0].has_row && sides[1].has_row && is_equal(sides));
    if (sides[0].has_row || sides[1].has_row)
        describe(sides, difference);
    return WEIR_OK;
}

static weir_status compare_rows(struct side sides[2], const char *sql,
                                struct difference *difference, struct weir_error *error)
{
    weir_status status = WEIR_OK;
    for (int i = 0; i < 2 && status == WEIR_OK; i++) {
        if (sqlite3_prepare_v2(sides[i].db, sql, -1, &sides[i].rows, NULL) != SQLITE_OK)
            status = weir_fail(error, WEIR_EIO, "%s: %s", sides[i].stored.path,
                               sqlite3_errmsg(sides[i].db));
        else
            (void)sqlite3_bind_int64(sides[i].rows, 1, sides[i].stored.runs[0].run_id);
    }
    if (status == WEIR_OK)
        status = walk(sides, difference, error);
    for (int i = 0; i < 2; i++) {
        (void)sqlite3_finalize(sides[i].rows);
        sides[i].rows = NULL;
    }
    return status;
}

static weir_status find_first(struct side sides[2], struct difference *first,
                              struct weir_error *error)
{
    for (size_t i = 0; i < QUERIES; i++) {
        struct difference found = { .is_found = false };
        WEIR_TRY(compare_rows(sides, queries[i], &found, error));
        if (found.is_found && (!first->is_found || found.t_s < first->t_s))
            *first = found;
    }
    return WEIR_OK;
}

static void print(const struct arguments *arguments, const struct side sides[2],
                  const struct difference *first, bool is_same)
{
    const char *sentence = first->is_found ? first->text
                           : is_same
                               ? "the two runs are the same"
                               : "the digests differ, every stored decision and worker agrees";
    const uint64_t digests[2] = { sides[0].stored.runs[0].result_digest,
                                  sides[1].stored.runs[0].result_digest };
    if (arguments->common.format != SIM_FORMAT_JSON) {
        printf("%s (result digests %016" PRIx64 ", %016" PRIx64 ")\n", sentence, digests[0],
               digests[1]);
        return;
    }
    char text[20];
    struct sim_json json = { .out = stdout };
    sim_json_begin_object(&json);
    sim_json_flag(sim_json_key(&json, "same"), is_same);
    sim_json_begin_array(sim_json_key(&json, "result_digests"));
    for (int i = 0; i < 2; i++) {
        (void)snprintf(text, sizeof text, "%016" PRIx64, digests[i]);
        sim_json_string(&json, text);
    }
    sim_json_end_array(&json);
    sim_json_key(&json, "first_difference_s");
    if (first->is_found)
        sim_json_number(&json, first->t_s);
    else
        sim_json_null(&json);
    sim_json_string(sim_json_key(&json, "sentence"), sentence);
    sim_json_end_object(&json);
    (void)putchar('\n');
}

static weir_status open_side(const char *path, const struct sim_run_choice *choice,
                             struct side *side, struct weir_error *error)
{
    WEIR_TRY(an_database_open(path, AN_TO_READ, &side->db, error));
    return sim_stored_read(side->db, path, choice->variant == NULL ? "" : choice->variant,
                           choice->replication, &side->stored, error);
}

int sim_cmd_diff(int argc, char **argv)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct arguments arguments = { .paths = { NULL } };
    struct side sides[2] = { 0 };
    struct difference first = { .is_found = false };
    weir_status status = WEIR_OK;
    bool is_same = false;
    sim_options_parse(&command_options, argc, argv, &arguments);
    for (size_t i = 0; i < 2 && status == WEIR_OK; i++)
        status = open_side(arguments.paths[i], &arguments.choice, &sides[i], &error);
    if (status == WEIR_OK) {
        const struct sim_stored_run *runs[2] = { sides[0].stored.runs, sides[1].stored.runs };
        is_same = runs[0]->result_digest == runs[1]->result_digest &&
                  runs[0]->event_digest == runs[1]->event_digest &&
                  strcmp(runs[0]->status, runs[1]->status) == 0;
        status = is_same ? WEIR_OK : find_first(sides, &first, &error);
    }
    if (status == WEIR_OK)
        print(&arguments, sides, &first, is_same);
    for (size_t i = 0; i < 2; i++) {
        (void)sqlite3_close(sides[i].db);
        sim_stored_clear(&sides[i].stored);
    }
    if (status != WEIR_OK)
        return sim_analysis_exit(status, &error);
    return is_same ? SIM_EXIT_OK : SIM_EXIT_CHECK;
}
