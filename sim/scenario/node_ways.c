/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three tables: what c CPUs are worth without GPUs, what one GPU of s steps and c CPUs are worth
 * with parts, and what g GPUs and c CPUs are worth with whole GPUs and GPUs cut into parts. Each
 * keeps what was chosen last, so that the way is read backwards.
 */
#include "sim/scenario/node_ways.h"

#include <stdlib.h>
#include <string.h>

enum { NOTHING = -1, PARTS = -2 };

struct cell {
    double value;
    int32_t item;   /* chosen last; NOTHING, or PARTS: one GPU of parts ... */
    uint32_t split; /* ... with so many CPUs */
};

struct sim_node_ways {
    uint32_t row; /* cells of a row: CPUs of the largest node, and 0 */
    struct cell *plain, *parts, *whole;
    uint32_t *rises; /* CPUs at which a GPU of parts is worth more than with one step less */
    uint32_t rise_count;
};

struct sim_node_ways *sim_node_ways_create(const struct sim_way_node *largest)
{
    struct sim_node_ways *ways = calloc(1, sizeof *ways);
    if (ways == NULL)
        return NULL;
    ways->row = largest->cpus + 1;
    ways->plain = calloc(ways->row, sizeof *ways->plain);
    ways->parts = calloc((size_t)ways->row * (largest->steps + 1), sizeof *ways->parts);
    ways->whole = calloc((size_t)ways->row * (largest->gpus + 1), sizeof *ways->whole);
    ways->rises = calloc(ways->row, sizeof *ways->rises);
    if (ways->plain != NULL && ways->parts != NULL && ways->whole != NULL && ways->rises != NULL)
        return ways;
    sim_node_ways_destroy(ways);
    return NULL;
}

void sim_node_ways_destroy(struct sim_node_ways *ways)
{
    if (ways == NULL)
        return;
    free(ways->plain);
    free(ways->parts);
    free(ways->whole);
    free(ways->rises);
    free(ways);
}

static struct cell *cell_at(const struct sim_node_ways *ways, struct cell *table, uint32_t line,
                            uint32_t cpus)
{
    return &table[(size_t)line * ways->row + cpus];
}

static void offer(struct cell *cell, double value, int32_t item, uint32_t split)
{
    if (value > cell->value)
        *cell = (struct cell){ .value = value, .item = item, .split = split };
}

/* Items that take more than nothing, or an item of no size would fill a node without end. */
static bool is_sized(const struct sim_way_item *item)
{
    return item->is_allowed && (item->cpus > 0 || item->part > 0 || item->gpus > 0);
}

static void fill_plain(struct sim_node_ways *ways, const struct sim_way_node *node,
                       const struct sim_way_item *items, size_t count)
{
    for (uint32_t c = 0; c <= node->cpus; c++) {
        ways->plain[c] = (struct cell){ .item = NOTHING };
        for (size_t i = 0; i < count; i++)
            if (is_sized(&items[i]) && items[i].part == 0 && items[i].gpus == 0 &&
                items[i].cpus <= c)
                offer(&ways->plain[c], ways->plain[c - items[i].cpus].value + items[i].value,
                      (int32_t)i, 0);
    }
}

static void fill_parts(struct sim_node_ways *ways, const struct sim_way_node *node,
                       const struct sim_way_item *items, size_t count)
{
    for (uint32_t s = 0; s <= node->steps; s++) {
        for (uint32_t c = 0; c <= node->cpus; c++) {
            struct cell *cell = cell_at(ways, ways->parts, s, c);
            *cell = (struct cell){ .item = NOTHING };
            for (size_t i = 0; i < count; i++)
                if (is_sized(&items[i]) && items[i].part > 0 && items[i].part <= s &&
                    items[i].cpus <= c)
                    offer(cell,
                          cell_at(ways, ways->parts, s - items[i].part, c - items[i].cpus)->value +
                              items[i].value,
                          (int32_t)i, 0);
        }
    }
}

/* More CPUs are worth something to parts at few numbers alone. */
static void find_rises(struct sim_node_ways *ways, const struct sim_way_node *node)
{
    double before = 0;
    ways->rise_count = 0;
    for (uint32_t c = 0; c <= node->cpus; c++) {
        const double value = cell_at(ways, ways->parts, node->steps, c)->value;
        if (value > before)
            ways->rises[ways->rise_count++] = c;
        before = value;
    }
}

static void fill_whole(struct sim_node_ways *ways, const struct sim_way_node *node,
                       const struct sim_way_item *items, size_t count)
{
    for (uint32_t c = 0; c <= node->cpus; c++)
        *cell_at(ways, ways->whole, 0, c) = (struct cell){ .item = NOTHING };
    for (uint32_t g = 1; g <= node->gpus; g++) {
        for (uint32_t c = 0; c <= node->cpus; c++) {
            struct cell *cell = cell_at(ways, ways->whole, g, c);
            *cell = (struct cell){ .value = cell_at(ways, ways->whole, g - 1, c)->value,
                                   .item = NOTHING };
            for (size_t i = 0; i < count; i++)
                if (is_sized(&items[i]) && items[i].gpus > 0 && items[i].gpus <= g &&
                    items[i].cpus <= c)
                    offer(cell,
                          cell_at(ways, ways->whole, g - items[i].gpus, c - items[i].cpus)->value +
                              items[i].value,
                          (int32_t)i, 0);
            for (uint32_t r = 0; r < ways->rise_count && ways->rises[r] <= c; r++) {
                const uint32_t k = ways->rises[r];
                offer(cell,
                      cell_at(ways, ways->whole, g - 1, c - k)->value +
                          cell_at(ways, ways->parts, node->steps, k)->value,
                      PARTS, k);
            }
        }
    }
}

/* ---- reading a way ---- */

static void read_parts(const struct sim_node_ways *ways, const struct sim_way_node *node,
                       const struct sim_way_item *items, uint32_t cpus, double *workers)
{
    uint32_t s = node->steps;
    for (int32_t i; (i = cell_at(ways, ways->parts, s, cpus)->item) != NOTHING;) {
        workers[i]++;
        s -= items[i].part;
        cpus -= items[i].cpus;
    }
}

static void read_whole(const struct sim_node_ways *ways, const struct sim_way_node *node,
                       const struct sim_way_item *items, uint32_t cpus, double *workers)
{
    for (uint32_t g = node->gpus; g > 0;) {
        const struct cell *cell = cell_at(ways, ways->whole, g, cpus);
        if (cell->item == NOTHING || cell->item == PARTS) {
            if (cell->item == PARTS)
                read_parts(ways, node, items, cell->split, workers);
            cpus -= cell->split;
            g--;
        } else {
            workers[cell->item]++;
            cpus -= items[cell->item].cpus;
            g -= items[cell->item].gpus;
        }
    }
}

double sim_node_ways_fill(struct sim_node_ways *ways, const struct sim_way_node *node,
                          const struct sim_way_item *items, size_t count, double *workers)
{
    double best = -1;
    uint32_t split = 0; /* CPUs that go with GPUs */

    memset(workers, 0, count * sizeof *workers);
    fill_plain(ways, node, items, count);
    fill_parts(ways, node, items, count);
    find_rises(ways, node);
    fill_whole(ways, node, items, count);
    for (uint32_t c = 0; c <= node->cpus; c++) {
        const double value =
            cell_at(ways, ways->whole, node->gpus, c)->value + ways->plain[node->cpus - c].value;
        if (value > best) {
            best = value;
            split = c;
        }
    }
    read_whole(ways, node, items, split, workers);
    for (uint32_t c = node->cpus - split; ways->plain[c].item != NOTHING;) {
        workers[ways->plain[c].item]++;
        c -= items[ways->plain[c].item].cpus;
    }
    return best;
}
