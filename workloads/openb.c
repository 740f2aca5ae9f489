/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes of the openb trace; see the header. */
#include "workloads/openb.h"

#include "workloads/csv_table.h"

#include <stdlib.h>
#include <string.h>

enum { NODE_GPUS = 64, FEWEST = 64 };

static const struct wl_range any_amount = { 0, INT64_C(1000000000) };

enum column { NAME, CPU, MEMORY, GPUS, MODEL, COLUMNS };
static const struct wl_csv_column columns[COLUMNS] = {
    [NAME] = { .name = "sn", .is_required = true },
    [CPU] = { .name = "cpu_milli", .is_required = true },
    [MEMORY] = { .name = "memory_mib", .is_required = true },
    [GPUS] = { .name = "gpu", .is_required = true },
    [MODEL] = { .name = "model", .is_required = true },
};

static weir_status read_node(const struct wl_csv_row *row, struct wl_openb_node *node,
                             struct weir_error *error)
{
    int64_t gpus = 0;
    WEIR_TRY(wl_csv_whole(row, CPU, any_amount, &node->cpu_milli, error));
    WEIR_TRY(wl_csv_whole(row, MEMORY, any_amount, &node->memory_mib, error));
    WEIR_TRY(wl_csv_whole(row, GPUS, (struct wl_range){ 0, NODE_GPUS }, &gpus, error));
    node->gpus = (uint32_t)gpus;
    if (row->cells[NAME] == NULL)
        return wl_csv_fail(row, NAME, error, "a node needs a name");
    if (gpus > 0 && row->cells[MODEL] == NULL)
        return wl_csv_fail(row, MODEL, error, "GPUs need a model");
    node->name = strdup(row->cells[NAME]);
    node->model = strdup(row->cells[MODEL] == NULL ? "" : row->cells[MODEL]);
    if (node->name != NULL && node->model != NULL)
        return WEIR_OK;
    free(node->name);
    free(node->model);
    return weir_fail(error, WEIR_ENOMEM, "out of memory");
}

static weir_status add_node(void *state, const struct wl_csv_row *row, struct weir_error *error)
{
    struct wl_openb_nodes *nodes = state;
    /* Room doubles whenever the count is a power of two. */
    if (nodes->count == 0 || (nodes->count >= FEWEST && (nodes->count & (nodes->count - 1)) == 0)) {
        const size_t room = nodes->count == 0 ? FEWEST : 2 * nodes->count;
        struct wl_openb_node *grown = realloc(nodes->nodes, room * sizeof *grown);
        if (grown == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
        nodes->nodes = grown;
    }
    WEIR_TRY(read_node(row, &nodes->nodes[nodes->count], error));
    nodes->count++;
    return WEIR_OK;
}

weir_status wl_openb_read_nodes(const char *path, struct wl_openb_nodes *nodes,
                                struct weir_error *error)
{
    struct wl_openb_nodes read = { .count = 0 };
    struct wl_csv_counts counts = { 0 };
    const struct wl_csv_options csv = { .path = path, .columns = columns, .column_count = COLUMNS };
    const struct wl_csv_sink sink = { .row = add_node, .state = &read };
    const weir_status status = wl_csv_read(&csv, &sink, &counts, error);
    if (status != WEIR_OK)
        wl_openb_nodes_clear(&read);
    else
        *nodes = read;
    return status;
}

void wl_openb_nodes_clear(struct wl_openb_nodes *nodes)
{
    for (size_t i = 0; i < nodes->count; i++) {
        free(nodes->nodes[i].name);
        free(nodes->nodes[i].model);
    }
    free(nodes->nodes);
    *nodes = (struct wl_openb_nodes){ .count = 0 };
}
