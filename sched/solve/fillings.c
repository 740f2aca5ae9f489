/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See the header. The knapsack has three tables: what c CPUs are worth without GPUs (`plain`), what
 * one GPU cut into s steps and c CPUs are worth (`parts`), and what g GPUs and c CPUs are worth,
 * each GPU whole or cut (`whole`). A cell keeps what was chosen last, so a way is read backwards.
 * More CPUs are worth something to parts at few numbers alone: `rises`.
 */
#include "sched/solve/fillings.h"

#include "sched/internal/alloc.h"

#include <math.h>
#include <string.h>

enum { NOTHING = -1, PARTS = -2, MOST_WAYS = 400 };
static const double TOLERANCE = 1e-9;

struct weir_filling_cell {
    double value;
    int32_t item;   /* chosen last; NOTHING, or PARTS: one GPU of parts ... */
    uint32_t split; /* ... with so many CPUs */
};

void weir_fillings_open(struct weir_fillings *fillings, const struct weir_allocator *allocator)
{
    memset(fillings, 0, sizeof *fillings);
    weir_program_open(&fillings->program, allocator);
}

void weir_fillings_close(struct weir_fillings *fillings)
{
    const struct weir_allocator *const memory = &fillings->program.allocator;

    weir_free(memory, fillings->plain);
    weir_free(memory, fillings->parts);
    weir_free(memory, fillings->whole);
    weir_free(memory, fillings->rises);
    weir_free(memory, fillings->ways);
    weir_free(memory, fillings->way_nodes);
    weir_program_close(&fillings->program);
}

weir_status weir_fillings_begin(struct weir_fillings *fillings,
                                const struct weir_filling_question *question)
{
    const struct weir_allocator *const memory = &fillings->program.allocator;
    uint32_t cpus = 0;
    uint32_t gpus = 0;

    for (uint32_t t = 0; t < question->node_count; t++) {
        cpus = question->nodes[t].cpus > cpus ? question->nodes[t].cpus : cpus;
        gpus = question->nodes[t].gpus > gpus ? question->nodes[t].gpus : gpus;
    }
    fillings->question = *question;
    fillings->row = cpus + 1;
    fillings->way_count = 0;
    WEIR_ROOM(memory, fillings->plain, fillings->plain_capacity, fillings->row);
    WEIR_ROOM(memory, fillings->rises, fillings->rise_capacity, fillings->row);
    WEIR_ROOM(memory, fillings->parts, fillings->parts_capacity,
              fillings->row * (question->steps + 1));
    WEIR_ROOM(memory, fillings->whole, fillings->whole_capacity, fillings->row * (gpus + 1));
    return WEIR_OK;
}

/* ---- the most valuable way to fill a node ---- */

static struct weir_filling_cell *cell_at(const struct weir_fillings *fillings,
                                         struct weir_filling_cell *table, uint32_t line,
                                         uint32_t cpus)
{
    return &table[(size_t)line * fillings->row + cpus];
}

static void offer(struct weir_filling_cell *cell, double value, int32_t item, uint32_t split)
{
    if (value > cell->value)
        *cell = (struct weir_filling_cell){ .value = value, .item = item, .split = split };
}

/* Items that take nothing would fill a node without end. */
static bool takes_something(const struct weir_filling_item *item)
{
    return item->cpus > 0 || item->part > 0 || item->gpus > 0;
}

static bool may_stand(const struct weir_fillings *fillings, uint32_t node, uint32_t item)
{
    return fillings->question.may_stand[node * fillings->question.item_count + item] &&
           takes_something(&fillings->question.items[item]);
}

static void fill_plain(struct weir_fillings *fillings, uint32_t node, const double *values)
{
    const struct weir_filling_question *const q = &fillings->question;

    for (uint32_t c = 0; c <= q->nodes[node].cpus; c++) {
        fillings->plain[c] = (struct weir_filling_cell){ .item = NOTHING };
        for (uint32_t i = 0; i < q->item_count; i++) {
            const struct weir_filling_item *const item = &q->items[i];
            if (item->part == 0 && item->gpus == 0 && item->cpus <= c &&
                may_stand(fillings, node, i))
                offer(&fillings->plain[c], fillings->plain[c - item->cpus].value + values[i],
                      (int32_t)i, 0);
        }
    }
}

static void fill_parts(struct weir_fillings *fillings, uint32_t node, const double *values)
{
    const struct weir_filling_question *const q = &fillings->question;

    for (uint32_t s = 0; s <= q->steps; s++) {
        for (uint32_t c = 0; c <= q->nodes[node].cpus; c++) {
            struct weir_filling_cell *const cell = cell_at(fillings, fillings->parts, s, c);
            *cell = (struct weir_filling_cell){ .item = NOTHING };
            for (uint32_t i = 0; i < q->item_count; i++) {
                const struct weir_filling_item *const item = &q->items[i];
                if (item->part > 0 && item->part <= s && item->cpus <= c &&
                    may_stand(fillings, node, i))
                    offer(
                        cell,
                        cell_at(fillings, fillings->parts, s - item->part, c - item->cpus)->value +
                            values[i],
                        (int32_t)i, 0);
            }
        }
    }
}

static void find_rises(struct weir_fillings *fillings, uint32_t node)
{
    const struct weir_filling_question *const q = &fillings->question;
    double before = 0;

    fillings->rise_count = 0;
    for (uint32_t c = 0; c <= q->nodes[node].cpus; c++) {
        const double value = cell_at(fillings, fillings->parts, q->steps, c)->value;
        if (value > before)
            fillings->rises[fillings->rise_count++] = c;
        before = value;
    }
}

/* One more GPU: nothing of it, a worker that takes it whole, or parts. */
static void fill_whole_cell(struct weir_fillings *fillings, uint32_t node, const double *values,
                            uint32_t g, uint32_t c)
{
    const struct weir_filling_question *const q = &fillings->question;
    struct weir_filling_cell *const cell = cell_at(fillings, fillings->whole, g, c);

    *cell = (struct weir_filling_cell){ .item = NOTHING };
    if (g == 0)
        return;
    cell->value = cell_at(fillings, fillings->whole, g - 1, c)->value;
    for (uint32_t i = 0; i < q->item_count; i++) {
        const struct weir_filling_item *const item = &q->items[i];
        if (item->gpus > 0 && item->gpus <= g && item->cpus <= c && may_stand(fillings, node, i))
            offer(cell,
                  cell_at(fillings, fillings->whole, g - item->gpus, c - item->cpus)->value +
                      values[i],
                  (int32_t)i, 0);
    }
    for (uint32_t r = 0; r < fillings->rise_count && fillings->rises[r] <= c; r++) {
        const uint32_t k = fillings->rises[r];
        offer(cell,
              cell_at(fillings, fillings->whole, g - 1, c - k)->value +
                  cell_at(fillings, fillings->parts, q->steps, k)->value,
              PARTS, k);
    }
}

static void read_parts(const struct weir_fillings *fillings, uint32_t cpus, double *workers)
{
    const struct weir_filling_question *const q = &fillings->question;
    uint32_t s = q->steps;

    for (int32_t i; (i = cell_at(fillings, fillings->parts, s, cpus)->item) != NOTHING;) {
        workers[i]++;
        s -= q->items[i].part;
        cpus -= q->items[i].cpus;
    }
}

static void read_whole(const struct weir_fillings *fillings, uint32_t gpus, uint32_t cpus,
                       double *workers)
{
    for (uint32_t g = gpus; g > 0;) {
        const struct weir_filling_cell *const cell = cell_at(fillings, fillings->whole, g, cpus);
        if (cell->item == NOTHING || cell->item == PARTS) {
            if (cell->item == PARTS)
                read_parts(fillings, cell->split, workers);
            cpus -= cell->split;
            g--;
        } else {
            workers[cell->item]++;
            cpus -= fillings->question.items[cell->item].cpus;
            g -= fillings->question.items[cell->item].gpus;
        }
    }
}

/* Its value; `workers` by kind. */
static double fill_node(struct weir_fillings *fillings, uint32_t node, const double *values,
                        double *workers)
{
    const struct weir_filling_node *const room = &fillings->question.nodes[node];
    double most = -1;
    uint32_t split = 0; /* CPUs that go with GPUs */

    memset(workers, 0, fillings->question.item_count * sizeof *workers);
    fill_plain(fillings, node, values);
    fill_parts(fillings, node, values);
    find_rises(fillings, node);
    for (uint32_t g = 0; g <= room->gpus; g++)
        for (uint32_t c = 0; c <= room->cpus; c++)
            fill_whole_cell(fillings, node, values, g, c);
    for (uint32_t c = 0; c <= room->cpus; c++) {
        const double value = cell_at(fillings, fillings->whole, room->gpus, c)->value +
                             fillings->plain[room->cpus - c].value;
        if (value > most) {
            most = value;
            split = c;
        }
    }
    read_whole(fillings, room->gpus, split, workers);
    for (uint32_t c = room->cpus - split; fillings->plain[c].item != NOTHING;) {
        const int32_t item = fillings->plain[c].item;
        workers[item]++;
        c -= fillings->question.items[item].cpus;
    }
    return most;
}

/* ---- the programme ---- */

/* Prices of workers and then of node types for the ways so far, in program.x; *lambda = what they
 * say, NAN = nothing. */
static weir_status price(struct weir_fillings *fillings, const double *counts, double *lambda)
{
    const struct weir_filling_question *const q = &fillings->question;
    struct weir_program *const program = &fillings->program;
    const uint32_t ways = fillings->way_count;
    double most = 0;

    WEIR_TRY(weir_program_begin(program, ways + 1, q->item_count + q->node_count));
    for (uint32_t p = 0; p < ways; p++) {
        for (uint32_t i = 0; i < q->item_count; i++)
            *weir_program_at(program, p, i) = fillings->ways[p * q->item_count + i];
        *weir_program_at(program, p, q->item_count + fillings->way_nodes[p]) = -1;
    }
    for (uint32_t i = 0; i < q->item_count; i++)
        *weir_program_at(program, ways, i) = takes_something(&q->items[i]) ? -counts[i] : 0;
    *weir_program_bound(program, ways) = -1;
    for (uint32_t t = 0; t < q->node_count; t++)
        *weir_program_goal(program, q->item_count + t) = -q->nodes[t].count;
    const weir_status status = weir_program_solve(program, &most);
    *lambda = status == WEIR_OK ? -most : (double)NAN;
    return status == WEIR_ENOMEM ? status : WEIR_OK;
}

weir_status weir_fillings_pass(struct weir_fillings *fillings, const double *counts, bool *passes)
{
    const struct weir_filling_question *const q = &fillings->question;
    const struct weir_allocator *const memory = &fillings->program.allocator;
    bool is_new = true;

    *passes = true;
    while (is_new && fillings->way_count + q->node_count <= MOST_WAYS) {
        double lambda;
        double most = 0;
        WEIR_TRY(price(fillings, counts, &lambda));
        if (!(lambda < 1))
            return WEIR_OK;
        WEIR_ROOM(memory, fillings->ways, fillings->way_capacity,
                  (fillings->way_count + q->node_count) * q->item_count);
        WEIR_ROOM(memory, fillings->way_nodes, fillings->way_node_capacity,
                  fillings->way_count + q->node_count);
        is_new = false;
        for (uint32_t t = 0; t < q->node_count; t++) {
            const double best =
                fill_node(fillings, t, fillings->program.x,
                          &fillings->ways[(size_t)fillings->way_count * q->item_count]);
            most += best * q->nodes[t].count;
            if (best > fillings->program.x[q->item_count + t] + TOLERANCE) {
                fillings->way_nodes[fillings->way_count++] = t;
                is_new = true;
            }
        }
        /* At these prices all nodes together are worth less than the counts. */
        *passes = !(most < 1 - TOLERANCE);
        if (!*passes)
            return WEIR_OK;
    }
    return WEIR_OK;
}
