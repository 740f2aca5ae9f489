/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir show of a result database; see the header. Figures are means over the replications. */
#include "sim/cli/look/show_results.h"

#include "analysis/database/database.h"
#include "analysis/database/query.h"
#include "analysis/text.h"
#include "sim/cli/experiment/experiment.h"
#include "sim/cli/look/show_actors.h"

#include <math.h>

/* The figures of a tenant hold those of what lies below it. */
static const char tenants_sql[] =
    "SELECT r.variant, x.label, avg(value) FILTER (WHERE metric = 'tenant.done'),"
    " avg(value) FILTER (WHERE metric = 'tenant.gpu_s') / 3600.0,"
    " avg(value) FILTER (WHERE metric = 'wait.tenant.mean'),"
    " avg(value) FILTER (WHERE metric = 'wait.tenant.p95'),"
    " avg(value) FILTER (WHERE metric = 'tenant.share'),"
    " avg(value / nullif(r.end_s - r.warmup_s, 0)) FILTER (WHERE metric = 'tenant.gpu_s'),"
    " avg(value) FILTER (WHERE metric = 'tenant.guarantee'),"
    " max(x.is_lower_bound) FILTER (WHERE metric = 'wait.tenant.p95'),"
    " avg(" AN_LEFT_OUT ") FILTER (WHERE metric = 'wait.tenant.mean')"
    " FROM result x JOIN run r USING (run_id) WHERE x.label <> '' AND (x.metric LIKE 'tenant.%'"
    " OR x.metric LIKE 'wait.tenant.%') AND r.status <> 'failed'"
    " GROUP BY r.variant_order, r.variant, x.label ORDER BY r.variant_order, min(x.rowid)";
enum {
    VARIANT,
    TENANT,
    DONE,
    GPU_H,
    WAIT,
    P95,
    SHARE,
    GPUS,
    GUARANTEE,
    COLUMNS,
    IS_BOUND = COLUMNS,
    LEFT_OUT
};

static const struct sim_column columns[] = {
    { "variant", "variant", NULL, false, false },
    { "tenant", "tenant", NULL, false, false },
    { "jobs done", "jobs_done", NULL, true, true },
    { "GPU hours", "gpu_hours", NULL, true, true },
    { "wait, mean", "wait_mean_s", NULL, true, true },
    { "p95", "wait_p95_s", NULL, true, true },
    { "of the GPU time", "share", NULL, true, true },
    { "GPUs", "gpus", NULL, true, true },
    { "guaranteed", "guarantee", NULL, true, true },
};

/* `is_flagged`: a mean without the rest, a percentile that is at least so much. */
static void add_cell(struct sim_table *table, enum sim_format format, int column, double value,
                     bool is_flagged)
{
    const bool is_time = column == WAIT || column == P95;
    if (format == SIM_FORMAT_JSON || format == SIM_FORMAT_CSV || (!is_time && column != SHARE) ||
        isnan(value)) {
        sim_table_add_numbers(table, format, &value, 1);
        return;
    }
    sim_table_add(table, an_word_known(is_time ? an_word_duration(value) : an_word_percent(value),
                                       is_flagged && column == P95, is_flagged && column == WAIT)
                             .text);
}

static void print_tenants(const struct an_frame *frame, enum sim_format format)
{
    struct sim_table *table = sim_table_create(columns, COLUMNS);
    for (size_t i = 0; i < frame->row_count; i++) {
        sim_table_add(table, an_text(frame, i, VARIANT));
        sim_table_add(table, an_text(frame, i, TENANT));
        for (int c = DONE; c < COLUMNS; c++)
            add_cell(table, format, c, an_number(frame, i, (size_t)c),
                     (c == P95 && an_number(frame, i, IS_BOUND) > 0.5) ||
                         (c == WAIT && AN_IS_PARTIAL(an_number(frame, i, LEFT_OUT))));
    }
    sim_table_print(table, format, stdout);
    sim_table_destroy(table);
}

int sim_show_results(const char *path, enum sim_format format)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_db *db = NULL;
    struct an_frame *frame = NULL;
    bool has_actors = false;
    weir_status status = an_open(path, &db, &error);
    if (status == WEIR_OK)
        status = sim_show_actors(db, format, &has_actors, &error);
    if (status == WEIR_OK)
        status = an_query(db, tenants_sql, NULL, &frame, &error);
    if (status != WEIR_OK)
        (void)fprintf(stderr, "weir: %s\n", error.text);
    else if (has_actors ? frame->row_count > 0 && format == SIM_FORMAT_TABLE
                        : frame->row_count > 0 || format != SIM_FORMAT_TABLE)
        print_tenants(frame, format);
    else if (!has_actors)
        printf("No tenants in %s.\n", path);
    if (status == WEIR_OK && format == SIM_FORMAT_TABLE)
        printf("next: weir compare %s, weir report %s\n", path, path);
    an_frame_destroy(frame);
    an_close(db);
    return sim_exit_for(status);
}
