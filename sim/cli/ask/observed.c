/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured curves from a file; see the header. */
#include "sim/cli/ask/observed.h"

#include "analysis/database/query.h"
#include "sim/scenario/read/diagnostic.h"
#include "workloads/csv_table.h"

#include <string.h>

enum column { TIME, METRIC, STAGE, VALUE, COLUMNS };

static const struct wl_csv_column columns[COLUMNS] = { [TIME] = { "time", true, NULL, NULL },
                                                       [METRIC] = { "metric", false, NULL, NULL },
                                                       [STAGE] = { "stage", false, NULL, NULL },
                                                       [VALUE] = { "value", true, NULL, NULL } };

struct reading {
    struct an_observed *observed;
    int64_t start_unix_s;
};

/* Without a metric what is measured of a stage is its queue, of none the throughput. */
static const struct an_observed_metric *metric_of(const struct wl_csv_row *row)
{
    const char *stage = row->cells[STAGE];
    const char *name = row->cells[METRIC] != NULL ? row->cells[METRIC]
                       : stage == NULL            ? "throughput"
                                                  : "queue";
    for (size_t i = 0; i < an_observed_metric_count(); i++)
        if (strcmp(an_observed_metric_at(i)->name, name) == 0)
            return an_observed_metric_at(i);
    return NULL;
}

static weir_status fail_metric(const struct wl_csv_row *row, struct weir_error *error)
{
    const char *names[8];
    size_t count = 0;
    for (; count < an_observed_metric_count(); count++)
        names[count] = an_observed_metric_at(count)->name;
    const char *near = sim_near_name(row->cells[METRIC], names, count);
    return wl_csv_fail(row, METRIC, error,
                       "expected throughput, queue or workers, found '%s'%s%s%s",
                       row->cells[METRIC], near == NULL ? "" : "; did you mean '",
                       near == NULL ? "" : near, near == NULL ? "" : "'?");
}

static weir_status read_time(const struct reading *reading, const struct wl_csv_row *row,
                             double *t_s, struct weir_error *error)
{
    struct an_moment moment = { .kind = AN_MOMENT_NONE };
    struct weir_error why = { .phase = -1, .pool = -1 };
    if (row->cells[TIME] == NULL || !an_moment_parse(row->cells[TIME], &moment))
        return wl_csv_fail(row, TIME, error,
                           "expected a time as 90, 15m, 14:05:00 or 2026-03-01T14:05:00Z, found "
                           "'%s'",
                           row->cells[TIME] == NULL ? "" : row->cells[TIME]);
    return an_moment_since(&moment, reading->start_unix_s, t_s, &why) == WEIR_OK
               ? WEIR_OK
               : wl_csv_fail(row, TIME, error, "%s", why.text);
}

static weir_status take_row(void *state, const struct wl_csv_row *row, struct weir_error *error)
{
    struct reading *reading = state;
    struct weir_error why = { .phase = -1, .pool = -1 };
    double t_s = 0.0;
    double value = 0.0;
    const struct an_observed_metric *metric = metric_of(row);
    const char *stage = row->cells[STAGE] == NULL ? "" : row->cells[STAGE];
    WEIR_TRY(read_time(reading, row, &t_s, error));
    if (metric == NULL)
        return fail_metric(row, error);
    if (metric->is_of_stage != (stage[0] != '\0'))
        return wl_csv_fail(row, STAGE, error,
                           metric->is_of_stage ? "%s is of a stage: which?"
                                               : "%s is of the whole run, and not of a stage",
                           metric->name);
    if (row->cells[VALUE] == NULL)
        return wl_csv_fail(row, VALUE, error, "expected a number");
    WEIR_TRY(wl_csv_number(row, VALUE, &value, error));
    if (value < 0.0)
        return wl_csv_fail(row, VALUE, error, "expected 0 or more, found %g", value);
    const weir_status status = an_observed_add(reading->observed, metric, stage, t_s, value, &why);
    return status == WEIR_EINVAL
               ? wl_csv_fail(row, TIME, error, "'%s' %s", row->cells[TIME], why.text)
               : status;
}

weir_status sim_observed_read(const char *path, int64_t start_unix_s, struct an_observed *observed,
                              struct weir_error *error)
{
    memset(observed, 0, sizeof *observed);
    if (path == NULL)
        return WEIR_OK;
    struct reading reading = { observed, start_unix_s };
    struct wl_csv_counts counts = { 0 };
    const struct wl_csv_options options = { .path = path,
                                            .columns = columns,
                                            .column_count = COLUMNS };
    const struct wl_csv_sink sink = { .row = take_row, .state = &reading };
    WEIR_TRY(wl_csv_read(&options, &sink, &counts, error));
    if (observed->count == 0)
        return weir_fail(error, WEIR_EFORMAT, "%s: holds no point", path);
    an_observed_end(observed);
    return WEIR_OK;
}

weir_status sim_observed_of(struct an_db *db, const char *path, struct an_observed *observed,
                            struct weir_error *error)
{
    struct an_run *run = NULL;
    memset(observed, 0, sizeof *observed);
    if (path == NULL)
        return WEIR_OK;
    WEIR_TRY(an_run_find(db, NULL, 0, &run, error));
    const weir_status status = sim_observed_read(path, run->start_unix_s, observed, error);
    an_run_destroy(run);
    return status;
}
