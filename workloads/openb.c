/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of the openb trace; see the header. */
#include "workloads/openb.h"

#include "workloads/trace_csv.h"

#include <stdlib.h>
#include <string.h>

enum { MILLI = 1000, NODE_GPUS = 64 };

static const struct wl_range any_milli = { 0, INT64_C(1000000000) };
static const struct wl_range any_mib = { 0, INT64_C(1000000000) };

static weir_status out_of_memory(struct weir_error *error)
{
    return weir_fail(error, WEIR_ENOMEM, "out of memory");
}

/* ---- nodes ---- */

struct node_columns {
    size_t name, cpu, memory, gpu, model;
};

static weir_status find_node_columns(const struct wl_trace *csv, struct node_columns *columns,
                                     struct weir_error *error)
{
    WEIR_TRY(wl_trace_column(csv, "sn", &columns->name, error));
    WEIR_TRY(wl_trace_column(csv, "cpu_milli", &columns->cpu, error));
    WEIR_TRY(wl_trace_column(csv, "memory_mib", &columns->memory, error));
    WEIR_TRY(wl_trace_column(csv, "gpu", &columns->gpu, error));
    return wl_trace_column(csv, "model", &columns->model, error);
}

static weir_status read_node(const struct wl_trace *csv, const struct node_columns *columns,
                             size_t row, struct wl_openb_node *node, struct weir_error *error)
{
    int64_t gpus = 0;
    WEIR_TRY(wl_trace_whole(csv, row, columns->cpu, any_milli, &node->cpu_milli, error));
    WEIR_TRY(wl_trace_whole(csv, row, columns->memory, any_mib, &node->memory_mib, error));
    WEIR_TRY(
        wl_trace_whole(csv, row, columns->gpu, (struct wl_range){ 0, NODE_GPUS }, &gpus, error));
    node->gpus = (uint32_t)gpus;
    node->name = strdup(wl_trace_cell(csv, row, columns->name));
    node->model = strdup(wl_trace_cell(csv, row, columns->model));
    if (node->name == NULL || node->model == NULL)
        return out_of_memory(error);
    if (node->name[0] == '\0')
        return wl_trace_fail(csv, row, columns->name, "a node needs a name", error);
    if (node->gpus > 0 && node->model[0] == '\0')
        return wl_trace_fail(csv, row, columns->model, "GPUs need a model", error);
    return WEIR_OK;
}

static weir_status read_nodes(const struct wl_trace *csv, struct wl_openb_nodes *nodes,
                              struct weir_error *error)
{
    struct node_columns columns;
    WEIR_TRY(find_node_columns(csv, &columns, error));
    nodes->nodes = calloc(wl_trace_rows(csv) + 1, sizeof *nodes->nodes);
    if (nodes->nodes == NULL)
        return out_of_memory(error);
    nodes->count = wl_trace_rows(csv);
    for (size_t row = 0; row < nodes->count; row++)
        WEIR_TRY(read_node(csv, &columns, row, &nodes->nodes[row], error));
    return WEIR_OK;
}

weir_status wl_openb_read_nodes(const char *path, struct wl_openb_nodes *nodes,
                                struct weir_error *error)
{
    struct wl_openb_nodes read = { .count = 0 };
    struct wl_trace *csv = NULL;
    WEIR_TRY(wl_trace_read(path, &csv, error));
    const weir_status status = read_nodes(csv, &read, error);
    wl_trace_destroy(csv);
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

/* ---- pods ---- */

struct pod_columns {
    size_t cpu, memory, gpus, gpu_milli, models;
};

static weir_status find_pod_columns(const struct wl_trace *csv, struct pod_columns *columns,
                                    struct weir_error *error)
{
    columns->models = wl_trace_find(csv, "gpu_spec");
    WEIR_TRY(wl_trace_column(csv, "cpu_milli", &columns->cpu, error));
    WEIR_TRY(wl_trace_column(csv, "memory_mib", &columns->memory, error));
    WEIR_TRY(wl_trace_column(csv, "num_gpu", &columns->gpus, error));
    return wl_trace_column(csv, "gpu_milli", &columns->gpu_milli, error);
}

static weir_status read_pod(const struct wl_trace *csv, const struct pod_columns *columns,
                            size_t row, struct wl_openb_pod *pod, struct weir_error *error)
{
    int64_t gpus = 0;
    int64_t share = 0;
    WEIR_TRY(wl_trace_whole(csv, row, columns->cpu, any_milli, &pod->cpu_milli, error));
    WEIR_TRY(wl_trace_whole(csv, row, columns->memory, any_mib, &pod->memory_mib, error));
    WEIR_TRY(
        wl_trace_whole(csv, row, columns->gpus, (struct wl_range){ 0, NODE_GPUS }, &gpus, error));
    WEIR_TRY(
        wl_trace_whole(csv, row, columns->gpu_milli, (struct wl_range){ 0, MILLI }, &share, error));
    if (gpus > 0 && share == 0)
        return wl_trace_fail(csv, row, columns->gpu_milli, "a pod with GPUs needs a share", error);
    if (gpus > 1 && share < MILLI)
        return wl_trace_fail(csv, row, columns->gpu_milli, "several GPUs are taken whole", error);
    pod->gpus = (uint32_t)gpus;
    pod->gpu_milli = gpus == 0 ? 0 : (uint32_t)share;
    pod->models = strdup(gpus == 0 ? "" : wl_trace_cell(csv, row, columns->models));
    return pod->models == NULL ? out_of_memory(error) : WEIR_OK;
}

static weir_status read_pods(const struct wl_trace *csv, struct wl_openb_pods *pods,
                             struct weir_error *error)
{
    struct pod_columns columns;
    WEIR_TRY(find_pod_columns(csv, &columns, error));
    pods->pods = calloc(wl_trace_rows(csv) + 1, sizeof *pods->pods);
    if (pods->pods == NULL)
        return out_of_memory(error);
    pods->count = wl_trace_rows(csv);
    for (size_t row = 0; row < pods->count; row++)
        WEIR_TRY(read_pod(csv, &columns, row, &pods->pods[row], error));
    return WEIR_OK;
}

weir_status wl_openb_read_pods(const char *path, struct wl_openb_pods *pods,
                               struct weir_error *error)
{
    struct wl_openb_pods read = { .count = 0 };
    struct wl_trace *csv = NULL;
    WEIR_TRY(wl_trace_read(path, &csv, error));
    const weir_status status = read_pods(csv, &read, error);
    wl_trace_destroy(csv);
    if (status != WEIR_OK)
        wl_openb_pods_clear(&read);
    else
        *pods = read;
    return status;
}

void wl_openb_pods_clear(struct wl_openb_pods *pods)
{
    for (size_t i = 0; i < pods->count; i++)
        free(pods->pods[i].models);
    free(pods->pods);
    *pods = (struct wl_openb_pods){ .count = 0 };
}
