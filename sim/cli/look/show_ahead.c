/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Planning: how many GPUs, and nodes of those there are, will be asked for in the days to come. The
 * outlook for planning watches what feature_sample says was asked for, hour by hour: level, trend
 * and a week of seasons, so it wants two weeks. Of a variant the first replication is shown.
 */
#include "sim/cli/look/show_ahead.h"

#include "analysis/database/query.h"
#include "analysis/text.h"
#include "sim/cli/tell/analysis_options.h"
#include "weir/forecast.h"

#include <math.h>

static const double NS_PER_S = 1e9;
static const int64_t DAY_NS = INT64_C(86400000000000);

static const char runs_sql[] =
    "SELECT run_id, variant, (SELECT coalesce(sum(gpus), 0) FROM node WHERE run_id = r.run_id),"
    " (SELECT count(*) FROM node WHERE run_id = r.run_id AND gpus > 0),"
    " (SELECT coalesce(max(t_s + dt_s), 0) FROM feature_sample WHERE run_id = r.run_id),"
    " (SELECT coalesce(min(t_s), 0) FROM feature_sample WHERE run_id = r.run_id)"
    " FROM run r WHERE replication = 0 AND status <> 'failed' ORDER BY variant_order";
enum { RUN, VARIANT, GPUS, NODES, LAST_S, FIRST_S };

static const char asked_sql[] =
    "SELECT t_s + dt_s, gpus_asked FROM feature_sample WHERE run_id = :run ORDER BY t_s";

static const struct sim_column columns[] = {
    { "variant", "variant", NULL, false, false },       { "day", "day", NULL, true, true },
    { "GPUs at most", "gpus_most", NULL, true, true },  { "nodes", "nodes", NULL, true, true },
    { "nodes there", "nodes_there", NULL, true, true },
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

struct ahead {
    struct sim_table *table;
    enum sim_format format;
    uint32_t days;
    struct weir_outlook *outlook;
    int64_t now_ns;
    double error; /* of the first variant */
};

static void observe(void *state, const double *numbers)
{
    struct ahead *ahead = state;
    ahead->now_ns = llround(numbers[0] * NS_PER_S);
    weir_outlook_observe(ahead->outlook, ahead->now_ns, numbers[1], NULL);
}

/* The most of the hours of that day, counted from 1. */
static double most_of(const struct ahead *ahead, uint32_t day)
{
    const int64_t hour_ns = weir_horizon_at(WEIR_HORIZON_PLANNING)->interval_ns;
    double most = 0;
    for (int64_t at = hour_ns; at <= DAY_NS; at += hour_ns)
        most = fmax(most, weir_outlook_at(ahead->outlook, ahead->now_ns + (day - 1) * DAY_NS + at));
    return most;
}

static void add_days(struct ahead *ahead, const struct an_frame *runs, size_t row)
{
    const double nodes = an_number(runs, row, NODES);
    const double gpus = an_number(runs, row, GPUS);
    for (uint32_t day = 1; day <= ahead->days; day++) {
        const double most = most_of(ahead, day);
        const double values[] = { day, most, gpus > 0 ? ceil(most * nodes / gpus) : 0, nodes };
        sim_table_add(ahead->table, an_text(runs, row, VARIANT));
        sim_table_add_numbers(ahead->table, ahead->format, values, COLUMNS - 1);
    }
}

static weir_status look_ahead(struct ahead *ahead, struct an_db *db, const struct an_frame *runs,
                              size_t row, struct weir_error *error)
{
    const struct weir_outlook_spec spec = { .size = sizeof spec,
                                            .horizon = WEIR_HORIZON_PLANNING,
                                            .kind = WEIR_FORECAST_HOLT_WINTERS,
                                            .season_ns = 7 * DAY_NS,
                                            .level = 0.05,
                                            .trend = 0.001,
                                            .seasonal = 0.1 };
    const struct an_args args = { .run = llround(an_number(runs, row, RUN)) };
    const double seen_s = an_number(runs, row, LAST_S) - an_number(runs, row, FIRST_S);
    if (!(seen_s > 0))
        return weir_fail(error, WEIR_EFORMAT,
                         "%s: no features were kept: run it with metrics: {features: true, sample: "
                         "1 h}",
                         an_text(runs, row, VARIANT));
    if (seen_s * NS_PER_S < 14.0 * (double)DAY_NS)
        return weir_fail(error, WEIR_EFORMAT,
                         "%s: features of %.1f days: planning reads two weeks",
                         an_text(runs, row, VARIANT), seen_s * NS_PER_S / (double)DAY_NS);
    WEIR_TRY(weir_outlook_create(&spec, NULL, &ahead->outlook, error));
    weir_outlook_judge(ahead->outlook, ahead->days * DAY_NS);
    const weir_status status = an_query_each(db, asked_sql, &args, observe, ahead, error);
    if (status == WEIR_OK)
        add_days(ahead, runs, row);
    if (row == 0)
        ahead->error = weir_outlook_error(ahead->outlook);
    weir_outlook_destroy(ahead->outlook);
    return status;
}

static void print(const struct ahead *ahead)
{
    sim_table_print(ahead->table, ahead->format, stdout);
    if (ahead->format != SIM_FORMAT_TABLE)
        return;
    printf(
        "Level, trend and week of what was asked for, hour by hour; nodes are like those there.\n");
    if (isnan(ahead->error))
        printf("How well it foresees %u day%s is not known yet.\n", ahead->days,
               ahead->days == 1 ? "" : "s");
    else
        printf("About hours %u day%s ahead it was wrong by %s so far, in the mean.\n", ahead->days,
               ahead->days == 1 ? "" : "s", an_word_percent(ahead->error).text);
}

int sim_show_ahead(const char *path, uint32_t days, enum sim_format format)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct ahead ahead = { .format = format, .days = days, .error = NAN };
    struct an_db *db = NULL;
    struct an_frame *runs = NULL;
    ahead.table = sim_table_create(columns, COLUMNS);
    weir_status status = an_open(path, &db, &error);
    if (status == WEIR_OK)
        status = an_query(db, runs_sql, NULL, &runs, &error);
    for (size_t row = 0; status == WEIR_OK && row < runs->row_count; row++)
        status = look_ahead(&ahead, db, runs, row, &error);
    if (status == WEIR_OK)
        print(&ahead);
    sim_table_destroy(ahead.table);
    an_frame_destroy(runs);
    an_close(db);
    return sim_analysis_exit(status, &error);
}
