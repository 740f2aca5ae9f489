/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes in lines of JSON; see the header. */
#include "sim/port/command_state.h"

#include <inttypes.h>
#include <stdlib.h>

void sim_told_nodes_clear(struct sim_told_nodes *told)
{
    free(told->versions);
    free(told->flags);
    *told = (struct sim_told_nodes){ 0 };
}

static weir_status make_room(struct sim_told_nodes *told, uint32_t count)
{
    if (count <= told->capacity)
        return WEIR_OK;
    uint64_t *versions = realloc(told->versions, count * sizeof *versions);
    if (versions == NULL)
        return WEIR_ENOMEM;
    told->versions = versions;
    uint32_t *flags = realloc(told->flags, count * sizeof *flags);
    if (flags == NULL)
        return WEIR_ENOMEM;
    told->flags = flags;
    told->capacity = count;
    return WEIR_OK;
}

/* A GPU that is closed gives out nothing. */
static void write_gpus(const struct weir_cluster *cluster, uint32_t index, FILE *out)
{
    const struct weir_node *node = weir_cluster_node(cluster, index);
    (void)fputs(", \"gpus\": [", out);
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        const struct weir_gpu *gpu = weir_cluster_gpu(cluster, index, g);
        (void)fprintf(out, "%s%.12g", g > 0 ? ", " : "",
                      gpu->is_closed != 0 ? 0.0 : weir_units_amount(gpu->units_free));
    }
    (void)fputs("], \"gpu_mem_bytes\": [", out);
    for (uint32_t g = 0; g < node->gpu_count; g++)
        (void)fprintf(out, "%s%" PRId64, g > 0 ? ", " : "",
                      weir_cluster_gpu(cluster, index, g)->mem_free_bytes);
}

/* As numbers, with what their last bit means; nothing of who has none. */
static void write_labels(uint32_t labels, const char *last, FILE *out)
{
    const char *between = ", \"labels\": [";
    for (uint32_t i = 0; i < WEIR_LABELS_MOST; i++) {
        if ((labels >> i & 1) == 0)
            continue;
        (void)fprintf(out, "%s%u", between, i);
        between = ", ";
    }
    if ((labels & ~WEIR_LABEL_KEPT) != 0)
        (void)fputs("]", out);
    if ((labels & WEIR_LABEL_KEPT) != 0)
        (void)fprintf(out, ", \"%s\": true", last);
}

static void write_node(const struct weir_cluster *cluster, uint32_t index, FILE *out)
{
    const struct weir_node *node = weir_cluster_node(cluster, index);
    const uint32_t state = node->flags & (WEIR_NODE_UP | WEIR_NODE_CORDONED | WEIR_NODE_REMOVED);
    (void)fprintf(out,
                  "{\"id\": \"%" PRIu64 "\", \"up\": %s, \"cpus\": %.12g, \"ram_bytes\": %" PRId64,
                  node->id, state == WEIR_NODE_UP ? "true" : "false",
                  weir_units_amount(node->cpu_free), node->ram_free_bytes);
    write_gpus(cluster, index, out);
    (void)fputs("]", out);
    write_labels(weir_cluster_topology(cluster, index).labels, "kept", out);
    (void)fputs("}", out);
}

weir_status sim_told_nodes_write(struct sim_told_nodes *told, const struct weir_cluster *cluster,
                                 FILE *out)
{
    const uint32_t count = weir_cluster_node_count(cluster);
    const char *between = "";
    WEIR_TRY(make_room(told, count));
    (void)fputs("\"nodes\": [", out);
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_node *node = weir_cluster_node(cluster, i);
        if (i < told->count && told->versions[i] == node->version && told->flags[i] == node->flags)
            continue;
        (void)fputs(between, out);
        write_node(cluster, i, out);
        told->versions[i] = node->version;
        told->flags[i] = node->flags;
        between = ", ";
    }
    told->count = count;
    (void)fputs("]", out);
    return WEIR_OK;
}

void sim_told_shape_write(const struct weir_shape *shape, FILE *out)
{
    (void)fprintf(out,
                  "\"shape\": {\"cpus\": %.12g, \"gpus\": %.12g, \"gpu_count\": %u, "
                  "\"ram_bytes\": %" PRId64 ", \"gpu_mem_bytes\": %" PRId64,
                  weir_units_amount(shape->cpu_units), weir_units_amount(shape->gpu_units),
                  shape->gpu_count, shape->ram_bytes, shape->gpu_mem_bytes);
    write_labels(shape->labels, "borrows", out);
    (void)fputs("}", out);
}
