/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples: the bulk of a database. Sixteen rows an INSERT, the rest one by one.
 *
 * Rows wait here until sixteen of their table are there; whoever reads or ends a run flushes first.
 * Coarsening joins pairs of neighbours: means weighted with their length, counts added, the least
 * or the most of extremes.
 */
#include "sim/record/record_state.h"
#include "weir/forecast.h"

#include <string.h>

/* What one sample is of two neighbours. */
enum joined { MEAN, COUNT, LEAST, MOST };

struct column {
    const char *name;
    enum joined joined;
};

struct layout {
    const char *table;
    const char *index; /* column of the index, NULL = none */
    size_t count;
    struct column columns[SAMPLE_VALUES_MAX];
};

#define FEATURE_COLUMN(id, group, name, text) { name, MEAN },
static const struct layout layouts[SAMPLE_KINDS] = {
    [SIM_SAMPLE_CLUSTER] = { "cluster_sample",
                             NULL,
                             25,
                             { { "cpu_capacity", MEAN },       { "cpu_assigned", MEAN },
                               { "cpu_active", MEAN },         { "gpu_capacity", MEAN },
                               { "gpu_assigned", MEAN },       { "gpu_active", MEAN },
                               { "nvdec_capacity", MEAN },     { "nvdec_assigned", MEAN },
                               { "nvdec_active", MEAN },       { "nvenc_capacity", MEAN },
                               { "nvenc_assigned", MEAN },     { "nvenc_active", MEAN },
                               { "ram_capacity_bytes", MEAN }, { "ram_assigned_bytes", MEAN },
                               { "frag_gpu", MEAN },           { "frag_no_cpu", MEAN },
                               { "frag_no_codec", MEAN },      { "frag_fraction", MEAN },
                               { "frag_no_gpu_demand", MEAN }, { "frag_codec", MEAN },
                               { "crumbs_gpu", MEAN },         { "whole_free_gpu", MEAN },
                               { "items_arrived", COUNT },     { "items_done", COUNT },
                               { "items_left", COUNT } } },
    [SIM_SAMPLE_NODE] = { "node_sample",
                          "node",
                          8,
                          { { "up", MEAN },
                            { "cpu_assigned", MEAN },
                            { "cpu_active", MEAN },
                            { "gpu_assigned", MEAN },
                            { "gpu_active", MEAN },
                            { "nvdec_active", MEAN },
                            { "nvenc_active", MEAN },
                            { "power_w", MEAN } } },
    [SIM_SAMPLE_STAGE] = { "stage_sample",
                           "stage",
                           11,
                           { { "queue_items", MEAN },
                             { "queue_bytes", MEAN },
                             { "workers", MEAN },
                             { "setup", MEAN },
                             { "idle", MEAN },
                             { "busy", MEAN },
                             { "blocked", MEAN },
                             { "starved", MEAN },
                             { "is_backpressured", MEAN },
                             { "is_bottleneck", MEAN },
                             { "tasks_done", COUNT } } },
    [SIM_SAMPLE_JOBS] = { "job_sample",
                          "label",
                          8,
                          { { "waiting", MEAN },
                            { "running", MEAN },
                            { "gpus", MEAN },
                            { "arrived", COUNT },
                            { "started", COUNT },
                            { "done", COUNT },
                            { "refused", COUNT },
                            { "gave_up", COUNT } } },
    [SIM_SAMPLE_LINK] = { "link_sample",
                          "link",
                          2,
                          { { "delivered_bytes_per_s", MEAN }, { "capacity_bytes_per_s", MEAN } } },
    [SIM_SAMPLE_MEMORY] = { "memory_sample",
                            "node",
                            3,
                            { { "in_use_bytes", MEAN },
                              { "in_use_max_bytes", MOST },
                              { "spilled_bytes", COUNT } } },
    [SIM_SAMPLE_POWER] = { "power_sample",
                           "node",
                           5,
                           { { "gpu_power_w", MEAN },
                             { "cap_w", LEAST },
                             { "gpu_computing", MEAN },
                             { "gpu_delivered", MEAN },
                             { "temperature_max_c", MOST } } },
    [SIM_SAMPLE_FEATURES] = { "feature_sample",
                              NULL,
                              WEIR_FEATURE_COUNT,
                              { WEIR_FEATURES(FEATURE_COLUMN) } },
};

/* ---- SQL texts ---- */

/* "run_id, node, t_s, dt_s" and the values */
static void add_columns(sqlite3_str *sql, const struct layout *layout)
{
    sqlite3_str_appendf(sql, "run_id, %s%st_s, dt_s", layout->index ? layout->index : "",
                        layout->index ? ", " : "");
    for (size_t c = 0; c < layout->count; c++)
        sqlite3_str_appendf(sql, ", %s", layout->columns[c].name);
}

static void build_insert(sqlite3_str *sql, const struct layout *layout, size_t rows)
{
    sqlite3_str_appendf(sql, "INSERT INTO %s (", layout->table);
    add_columns(sql, layout);
    sqlite3_str_appendall(sql, ") VALUES ");
    const size_t parameters = layout->count + (layout->index ? 4 : 3);
    for (size_t r = 0; r < rows; r++) {
        sqlite3_str_appendall(sql, r ? ", (?" : "(?");
        for (size_t p = 1; p < parameters; p++)
            sqlite3_str_appendall(sql, ", ?");
        sqlite3_str_appendall(sql, ")");
    }
}

/* ---- writing ---- */

static int bind_row(sqlite3_stmt *statement, int *position, const struct layout *layout,
                    int64_t run_id, const struct sample_row *row)
{
    int failed = sqlite3_bind_int64(statement, ++*position, run_id);
    if (layout->index)
        failed |= sqlite3_bind_int64(statement, ++*position, row->index);
    failed |= sqlite3_bind_double(statement, ++*position, row->t_s);
    failed |= sqlite3_bind_double(statement, ++*position, row->dt_s);
    for (size_t c = 0; c < layout->count; c++)
        failed |= sqlite3_bind_double(statement, ++*position, row->values[c]);
    return failed;
}

/* As the manifest of a shard has them. */
static void add_content(struct sim_recorder *recorder, enum sim_sample_kind kind,
                        const struct sample_row *rows, size_t count)
{
    const struct layout *layout = &layouts[kind];
    uint64_t columns[SAMPLE_VALUES_MAX];
    const uint64_t run =
        record_digest_number(record_digest_column("run_id"), (double)recorder->run_id);
    const uint64_t index = layout->index == NULL ? 0 : record_digest_column(layout->index);
    const uint64_t t_s = record_digest_column("t_s");
    const uint64_t dt_s = record_digest_column("dt_s");
    for (size_t c = 0; c < layout->count; c++)
        columns[c] = record_digest_column(layout->columns[c].name);
    for (const struct sample_row *row = rows; row < rows + count; row++) {
        uint64_t sum =
            run + record_digest_number(t_s, row->t_s) + record_digest_number(dt_s, row->dt_s);
        if (layout->index != NULL)
            sum += record_digest_number(index, row->index);
        for (size_t c = 0; c < layout->count; c++)
            sum += record_digest_number(columns[c], row->values[c]);
        record_add_row(&recorder->contents[recorder->samples[kind].table], sum);
    }
}

/* Writes rows [first, first + count) of the waiting ones. */
static weir_status write_rows(struct sim_recorder *recorder, enum sim_sample_kind kind,
                              size_t first, size_t count, struct weir_error *error)
{
    struct sample_table *table = &recorder->samples[kind];
    sqlite3_stmt **statement = count == 1 ? &table->one : &table->batch;
    if (!*statement) {
        sqlite3_str *sql = sqlite3_str_new(recorder->database);
        build_insert(sql, &layouts[kind], count);
        table->table = record_table(layouts[kind].table);
        WEIR_TRY(record_prepare_built(recorder, sql, statement, error));
    }
    int position = 0;
    for (size_t r = first; r < first + count; r++)
        if (bind_row(*statement, &position, &layouts[kind], recorder->run_id, &table->rows[r]) !=
            SQLITE_OK)
            return record_fail(recorder, "bind a sample", error);
    if (recorder->is_shard)
        add_content(recorder, kind, &table->rows[first], count);
    return record_step(recorder, *statement, (uint32_t)count, error);
}

weir_status sim_recorder_sample(struct sim_recorder *recorder, enum sim_sample_kind kind,
                                uint32_t index, double t_s, double dt_s, const double *values,
                                size_t value_count, struct weir_error *error)
{
    if (!sim_recorder_keeps(recorder, SIM_KEEP_SERIES))
        return WEIR_OK;
    if (value_count != layouts[kind].count)
        return weir_fail(error, WEIR_EINVAL, "%s: a sample of %zu values, the table has %zu",
                         layouts[kind].table, value_count, layouts[kind].count);
    struct sample_table *table = &recorder->samples[kind];
    struct sample_row *row = &table->rows[table->pending++];
    row->index = index;
    row->t_s = t_s;
    row->dt_s = dt_s;
    memcpy(row->values, values, value_count * sizeof *values);
    if (table->pending < SAMPLE_BATCH)
        return WEIR_OK;
    table->pending = 0;
    return write_rows(recorder, kind, 0, SAMPLE_BATCH, error);
}

weir_status record_flush_samples(struct sim_recorder *recorder, struct weir_error *error)
{
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        struct sample_table *table = &recorder->samples[kind];
        const size_t pending = table->pending;
        table->pending = 0;
        for (size_t r = 0; r < pending; r++)
            WEIR_TRY(write_rows(recorder, (enum sim_sample_kind)kind, r, 1, error));
    }
    return WEIR_OK;
}

void record_close_samples(struct sim_recorder *recorder)
{
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        (void)sqlite3_finalize(recorder->samples[kind].one);
        (void)sqlite3_finalize(recorder->samples[kind].batch);
        recorder->samples[kind].one = recorder->samples[kind].batch = NULL;
    }
}

/* ---- coarsening ---- */

/* The joined rows go through a temporary table, ordered by time and index like the first ones. */
static void build_coarsen(sqlite3_str *sql, const struct layout *layout, int64_t run_id)
{
    const long long run = (long long)run_id;
    static const char *const joins[][2] = { [MEAN] = { "sum(dt_s * ", ") / sum(dt_s)" },
                                            [COUNT] = { "sum(", ")" },
                                            [LEAST] = { "min(", ")" },
                                            [MOST] = { "max(", ")" } };
    const char *index = layout->index ? layout->index : "run_id";
    sqlite3_str_appendf(sql,
                        "CREATE TEMP TABLE coarse AS SELECT run_id, %s%smin(t_s) AS t_s, "
                        "sum(dt_s) AS dt_s",
                        layout->index ? index : "", layout->index ? ", " : "");
    for (size_t c = 0; c < layout->count; c++) {
        const struct column *column = &layout->columns[c];
        const char *const *join = joins[column->joined];
        sqlite3_str_appendf(sql, ", %s%s%s AS %s", join[0], column->name, join[1], column->name);
    }
    sqlite3_str_appendf(sql,
                        " FROM (SELECT *, (row_number() OVER (PARTITION BY %s ORDER BY t_s) - 1) / "
                        "2 AS pair FROM %s WHERE run_id = %lld) GROUP BY pair, %s;"
                        " DELETE FROM %s WHERE run_id = %lld; INSERT INTO %s (",
                        index, layout->table, run, index, layout->table, run, layout->table);
    add_columns(sql, layout);
    sqlite3_str_appendall(sql, ") SELECT ");
    add_columns(sql, layout);
    sqlite3_str_appendf(sql, " FROM coarse ORDER BY t_s, %s; DROP TABLE coarse;", index);
}

weir_status sim_recorder_coarsen(struct sim_recorder *recorder, struct weir_error *error)
{
    if (!sim_recorder_keeps(recorder, SIM_KEEP_SERIES))
        return WEIR_OK;
    WEIR_TRY(record_flush_samples(recorder, error));
    WEIR_TRY(record_begin(recorder, error));
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        sqlite3_str *sql = sqlite3_str_new(recorder->database);
        build_coarsen(sql, &layouts[kind], recorder->run_id);
        recorder->rewritten |= UINT64_C(1) << record_table(layouts[kind].table);
        char *text = sqlite3_str_finish(sql);
        const weir_status status = text == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                                                : record_execute(recorder, text, error);
        sqlite3_free(text);
        WEIR_TRY(status);
    }
    return WEIR_OK;
}
