/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Actors of a scenario and of a result database; see the header. */
#include "sim/cli/look/show_actors.h"

#include "analysis/database/query.h"

#include <math.h>
#include <stdio.h>

/* The first run of each variant, its sets of actors, and those of their processes that are there at
 * the end, or were until the system was over. */
#define WITH_ACTORS                                                                                \
    "WITH first AS (SELECT min(run_id) AS run_id, variant, variant_order FROM run"                 \
    "  WHERE status <> 'failed' GROUP BY variant),"                                                \
    " there AS (SELECT f.variant, f.variant_order, s.*, w.worker, w.node, w.devices FROM first f"  \
    "  JOIN stage s USING (run_id) JOIN worker w ON w.run_id = s.run_id AND w.stage = s.stage"     \
    "  WHERE w.ended_s IS NULL OR w.end_reason = 'system over'),"                                  \
    " pending AS (SELECT f.variant, f.variant_order, s.stage, s.name, s.shape,"                    \
    "  s.workers_fixed - (SELECT count(*) FROM there t WHERE t.run_id = s.run_id"                  \
    "   AND t.stage = s.stage) AS count FROM first f JOIN stage s USING (run_id)"                  \
    "  WHERE s.workers_fixed IS NOT NULL) "

static const char has_sql[] = "SELECT count(*) FROM meta WHERE key = 'work' AND"
                              " ' ' || value || ' ' LIKE '% actors %'";

static const char usage_sql[] = WITH_ACTORS
    "SELECT variant, 'CPU' AS resource, coalesce((SELECT sum(t.cpus) FROM there t"
    "  WHERE t.run_id = f.run_id), 0) AS used, (SELECT sum(cpus) FROM node n"
    "  WHERE n.run_id = f.run_id) AS total, variant_order FROM first f"
    " UNION ALL SELECT variant, 'GPU', coalesce((SELECT sum(t.gpus) FROM there t"
    "  WHERE t.run_id = f.run_id), 0), (SELECT sum(gpus) FROM node n WHERE n.run_id = f.run_id),"
    "  variant_order FROM first f ORDER BY variant_order, variant, resource";

static const char places_sql[] =
    WITH_ACTORS "SELECT variant, n.name, t.name, count(*), t.shape FROM there t"
                " JOIN node n ON n.run_id = t.run_id AND n.node = t.node"
                " GROUP BY variant_order, variant, t.node, t.stage"
                " ORDER BY variant_order, variant, t.node, t.stage";

static const char pending_sql[] = WITH_ACTORS "SELECT variant, name, count, shape FROM pending"
                                              " WHERE count > 0"
                                              " ORDER BY variant_order, variant, stage";

static const char actors_sql[] =
    WITH_ACTORS "SELECT variant, t.name, t.worker, n.name, t.devices, t.shape FROM there t"
                " JOIN node n ON n.run_id = t.run_id AND n.node = t.node"
                " ORDER BY variant_order, variant, t.stage, t.worker";

static const struct sim_column usage_columns[] = { { "variant", "variant", NULL, false, false },
                                                   { "resource", "resource", NULL, false, false },
                                                   { "used", "used", NULL, true, true },
                                                   { "total", "total", NULL, true, true },
                                                   { "available", "available", NULL, true, true } };
static const struct sim_column place_columns[] = { { "variant", "variant", NULL, false, false },
                                                   { "node", "node", NULL, false, false },
                                                   { "role", "role", NULL, false, false },
                                                   { "actors", "actors", NULL, true, true },
                                                   { "each asks for", "request", NULL, false,
                                                     false } };
static const struct sim_column pending_columns[] = { { "variant", "variant", NULL, false, false },
                                                     { "pending", "role", NULL, false, false },
                                                     { "actors", "actors", NULL, true, true },
                                                     { "each asks for", "request", NULL, false,
                                                       false } };
static const struct sim_column actor_columns[] = {
    { "variant", "variant", NULL, false, false }, { "role", "role", NULL, false, false },
    { "actor", "actor", NULL, true, true },       { "node", "node", NULL, false, false },
    { "devices", "devices", NULL, false, false }, { "each asks for", "request", NULL, false, false }
};

/* ---- a scenario ---- */

static const struct sim_column role_columns[] = {
    { "system", "system", NULL, false, false },
    { "role or group", "role", NULL, false, false },
    { "each asks for", "request", NULL, false, false },
    { "actors", "actors", NULL, true, true },
    { "calls at once", "concurrency", NULL, true, true },
    { "CPUs", "cpus", NULL, true, true },
    { "GPUs", "gpus", NULL, true, true },
};
enum { ROLE_COLUMNS = sizeof role_columns / sizeof role_columns[0], REQUEST = 288 };

/* "2 CPU on storage"; "nothing" of what asks for nothing. */
static void print_request(const struct sim_scenario *scenario, const struct sim_actor_set *set,
                          char text[REQUEST])
{
    const bool is_nothing = set->shape.gpu_count == 0 && set->shape.cpu_units <= 1;
    char nodes[SIM_NODES_TEXT];
    const size_t length = is_nothing ? (size_t)snprintf(text, REQUEST, "nothing")
                                     : weir_shape_print(&set->shape, text, REQUEST);
    sim_scenario_print_nodes(scenario, set->shape.labels, set->soft_labels, nodes);
    if (length < REQUEST)
        (void)snprintf(text + length, REQUEST - length, "%s", nodes);
}

static void add_role(struct sim_table *table, enum sim_format format, const char *system,
                     const char *request, const struct sim_actor_set *set)
{
    const struct weir_amounts one = weir_shape_amounts(&set->shape, 0, 0);
    const double count = set->count < 0 ? (double)NAN : (double)set->count;
    const bool is_nothing = set->shape.gpu_count == 0 && set->shape.cpu_units <= 1;
    sim_table_add(table, system);
    sim_table_add(table, set->name);
    sim_table_add(table, request);
    sim_table_add_numbers(
        table, format,
        (const double[]){ count, set->concurrency,
                          is_nothing ? 0 : count * weir_units_amount(one.cpu_units),
                          count * weir_units_amount(one.gpu_units) },
        4);
}

struct sim_table *sim_show_roles(const struct sim_scenario *scenario, enum sim_format format)
{
    if (scenario->actors_count == 0)
        return NULL;
    struct sim_table *table = sim_table_create(role_columns, ROLE_COLUMNS);
    for (size_t i = 0; i < scenario->actors_count; i++) {
        const struct sim_actor_system *system = &scenario->actors[i];
        for (size_t s = 0; s < system->sets_count; s++) {
            char request[REQUEST];
            print_request(scenario, &system->sets[s], request);
            add_role(table, format, system->name, request, &system->sets[s]);
        }
    }
    return table;
}

/* ---- a database ---- */

struct page {
    const char *sql;
    const struct sim_column *columns;
    int count;
    bool is_usage; /* what is available is worked out */
};

static weir_status print_page(struct an_db *db, const struct page *page, enum sim_format format,
                              struct weir_error *error)
{
    struct an_frame *frame = NULL;
    WEIR_TRY(an_query(db, page->sql, NULL, &frame, error));
    struct sim_table *table = sim_table_create(page->columns, (size_t)page->count);
    for (size_t i = 0; i < frame->row_count; i++) {
        for (int c = 0; c < page->count; c++) {
            const size_t column = (size_t)c;
            const double value = page->is_usage && c == 4
                                     ? an_number(frame, i, 3) - an_number(frame, i, 2)
                                     : an_number(frame, i, column);
            if (page->columns[c].is_number)
                sim_table_add_numbers(table, format, &value, 1);
            else
                sim_table_add(table, an_text(frame, i, column));
        }
    }
    if (frame->row_count > 0 || format != SIM_FORMAT_TABLE) {
        sim_table_print(table, format, stdout);
        if (format == SIM_FORMAT_TABLE)
            printf("\n");
    }
    sim_table_destroy(table);
    an_frame_destroy(frame);
    return WEIR_OK;
}

weir_status sim_show_actors(struct an_db *db, enum sim_format format, bool *has_any,
                            struct weir_error *error)
{
    static const struct page pages[] = { { usage_sql, usage_columns, 5, true },
                                         { places_sql, place_columns, 5, false },
                                         { pending_sql, pending_columns, 4, false } };
    static const struct page rows = { actors_sql, actor_columns, 6, false };
    struct an_frame *frame = NULL;
    WEIR_TRY(an_query(db, has_sql, NULL, &frame, error));
    *has_any = an_number(frame, 0, 0) > 0.5;
    an_frame_destroy(frame);
    if (!*has_any)
        return WEIR_OK;
    if (format != SIM_FORMAT_TABLE)
        return print_page(db, &rows, format, error);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        WEIR_TRY(print_page(db, &pages[i], format, error));
    return WEIR_OK;
}
