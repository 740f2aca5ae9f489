/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The configuration programme of bound_placed.h, with GLPK. Rows of GLPK count from 1: first those
 * of the stages, then those of the node types; column 1 is lambda, the others are ways.
 */
#include "sim/scenario/bound_placed.h"
#include "sim/scenario/node_pack.h"
#include "sim/scenario/node_ways.h"

#include <glpk.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_TYPES = 16, MOST_CPUS = 256, MOST_GPUS = 64, MOST_STEPS = 64, MOST_WAYS = 1000 };
enum { BISECTIONS = 24, SOLVER_LIMIT_MS = 2000, MOST_PACKED = 4, MOST_WORK = 1000 };
static const double tolerance = 1e-9;

struct node_type {
    const struct sim_node_type *type;
    struct sim_way_node room;
    double count;
};

struct placed {
    const struct sim_bound_problem *problem;
    struct node_type types[MOST_TYPES];
    uint32_t type_count;
    struct sim_way_item *items; /* by stage */
    struct sim_node_ways *ways;
    glp_prob *lp;
    double *counts, *prices, *workers; /* by stage */
    bool is_divided;                   /* counts are those of a mean over time */
    double scale;                      /* of the dual prices to `prices` */
    int *indices;                      /* room for a column */
    double *values;
};

/* ---- sizes in whole steps ---- */

static double cpus_of(const struct placed *placed, size_t stage)
{
    return placed->problem->stages[stage].needs[SIM_BOUND_REQUESTED][SIM_BOUND_CPU];
}

static double gpus_of(const struct placed *placed, size_t stage)
{
    return placed->problem->stages[stage].needs[SIM_BOUND_REQUESTED][SIM_BOUND_GPU];
}

static bool is_whole(double value)
{
    return fabs(value - nearbyint(value)) < tolerance;
}

static uint32_t steps_below(double value)
{
    return (uint32_t)floor(value + tolerance);
}

/* Steps of a GPU in which every part is a whole number of them, or many. */
static uint32_t gpu_steps(const struct placed *placed)
{
    for (uint32_t steps = 1; steps < MOST_STEPS; steps++) {
        bool fits = true;
        for (size_t i = 0; i < placed->problem->stages_count && fits; i++)
            fits = gpus_of(placed, i) >= 1 || is_whole(gpus_of(placed, i) * steps);
        if (fits)
            return steps;
    }
    return MOST_STEPS;
}

/* The same for CPUs: steps of one CPU. */
static double cpu_steps(const struct placed *placed)
{
    double largest = 1;
    for (uint32_t t = 0; t < placed->type_count; t++)
        largest = fmax(largest, placed->types[t].type->cpus);
    for (uint32_t steps = 1; steps * largest <= MOST_CPUS; steps *= 2) {
        bool fits = true;
        for (size_t i = 0; i < placed->problem->stages_count && fits; i++)
            fits = is_whole(cpus_of(placed, i) * steps);
        if (fits)
            return steps;
    }
    return MOST_CPUS / largest;
}

static void size_all(struct placed *placed)
{
    const uint32_t steps = gpu_steps(placed);
    const double per_cpu = cpu_steps(placed);
    for (size_t i = 0; i < placed->problem->stages_count; i++) {
        const double gpus = gpus_of(placed, i);
        placed->items[i] = (struct sim_way_item){
            .cpus = steps_below(cpus_of(placed, i) * per_cpu),
            .part = gpus < 1 ? steps_below(gpus * steps) : 0,
            .gpus = gpus < 1 ? 0 : steps_below(gpus),
        };
    }
    for (uint32_t t = 0; t < placed->type_count; t++) {
        placed->types[t].room.cpus =
            (uint32_t)ceil(placed->types[t].type->cpus * per_cpu - tolerance);
        placed->types[t].room.steps = steps;
    }
}

/* ---- the cluster ---- */

/* False where there are too many node types, or GPUs in one. */
static bool list_types(struct placed *placed)
{
    const struct sim_scenario *scenario = placed->problem->scenario;
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_group *group = &scenario->node_groups[g];
        const struct sim_node_type *type = &scenario->node_types[group->type];
        uint32_t t = 0;
        while (t < placed->type_count && placed->types[t].type != type)
            t++;
        if (t == MOST_TYPES)
            return false;
        if (t == placed->type_count)
            placed->types[placed->type_count++] = (struct node_type){ .type = type };
        placed->types[t].count += group->count;
    }
    for (uint32_t t = 0; t < placed->type_count; t++) {
        const struct sim_node_type *type = placed->types[t].type;
        for (size_t i = 0; i < type->gpus_count; i++)
            placed->types[t].room.gpus += type->gpus[i].count;
        if (placed->types[t].room.gpus > MOST_GPUS)
            return false;
    }
    return placed->type_count > 0;
}

/* Whether workers of the stage can stand on such nodes at all. */
static bool may_stand(const struct weir_shape *shape, const struct sim_node_type *type)
{
    if (shape->kind == WEIR_SHAPE_CPU)
        return true;
    for (size_t i = 0; i < type->gpus_count; i++)
        if (weir_shape_takes_type(shape, type->gpus[i].type))
            return true;
    return false;
}

/* One that takes nothing in whole steps is no row of the programme. */
static bool takes_something(const struct sim_way_item *item)
{
    return item->cpus > 0 || item->part > 0 || item->gpus > 0;
}

/* ---- the programme ---- */

static void open_program(struct placed *placed)
{
    const int stages = (int)placed->problem->stages_count;
    placed->lp = glp_create_prob();
    glp_set_obj_dir(placed->lp, GLP_MAX);
    glp_add_rows(placed->lp, stages + (int)placed->type_count);
    for (int i = 1; i <= stages; i++)
        glp_set_row_bnds(placed->lp, i, GLP_LO, 0, 0);
    for (uint32_t t = 0; t < placed->type_count; t++)
        glp_set_row_bnds(placed->lp, stages + (int)t + 1, GLP_UP, 0, placed->types[t].count);
    glp_add_cols(placed->lp, 1);
    glp_set_col_bnds(placed->lp, 1, GLP_LO, 0, 0);
    glp_set_obj_coef(placed->lp, 1, 1);
}

/* A column with these entries of the stages, and `more` further ones behind them. */
static void set_column(struct placed *placed, int column, const double *entries, double factor,
                       int more)
{
    int count = more;
    for (size_t i = 0; i < placed->problem->stages_count; i++) {
        if (!(entries[i] > 0) || !takes_something(&placed->items[i]))
            continue;
        placed->indices[++count] = (int)i + 1;
        placed->values[count] = factor * entries[i];
    }
    glp_set_mat_col(placed->lp, column, count, placed->indices, placed->values);
}

static void add_way(struct placed *placed, uint32_t type)
{
    const int column = glp_add_cols(placed->lp, 1);
    glp_set_col_bnds(placed->lp, column, GLP_LO, 0, 0);
    placed->indices[1] = (int)placed->problem->stages_count + (int)type + 1;
    placed->values[1] = 1;
    set_column(placed, column, placed->workers, 1, 1);
}

/* Lambda of the ways so far, and the prices of workers: what one more of each would add. */
static bool solve(struct placed *placed, double *lambda)
{
    glp_smcp control;
    double sum = 0;
    glp_init_smcp(&control);
    control.msg_lev = GLP_MSG_OFF;
    control.tm_lim = SOLVER_LIMIT_MS;
    if (glp_simplex(placed->lp, &control) != 0 || glp_get_status(placed->lp) != GLP_OPT)
        return false;
    *lambda = glp_get_obj_val(placed->lp);
    for (size_t i = 0; i < placed->problem->stages_count; i++) {
        placed->prices[i] = fmax(-glp_get_row_dual(placed->lp, (int)i + 1), 0);
        sum += placed->prices[i] * placed->counts[i];
    }
    placed->scale = 1 / sum; /* any prices make a bound, when the counts cost 1 */
    for (size_t i = 0; i < placed->problem->stages_count; i++)
        placed->prices[i] *= placed->scale;
    return sum > 0;
}

/* The best way of a node type under the prices into `workers`. */
static double best_way(struct placed *placed, uint32_t type)
{
    for (size_t i = 0; i < placed->problem->stages_count; i++) {
        placed->items[i].value = placed->prices[i];
        placed->items[i].is_allowed =
            may_stand(&placed->problem->stages[i].stage->shape, placed->types[type].type);
    }
    return sim_node_ways_fill(placed->ways, &placed->types[type].room, placed->items,
                              placed->problem->stages_count, placed->workers);
}

/* Whether the counts pass. Unsure = yes. */
static bool passes(struct placed *placed)
{
    const int first_type = (int)placed->problem->stages_count + 1;
    set_column(placed, 1, placed->counts, -1, 0);
    while (glp_get_num_cols(placed->lp) < MOST_WAYS) {
        double lambda = 1;
        double most = 0;
        bool is_new = false;
        if (!solve(placed, &lambda) || lambda >= 1)
            return true;
        for (uint32_t t = 0; t < placed->type_count; t++) {
            const double price = placed->scale * glp_get_row_dual(placed->lp, first_type + (int)t);
            const double best = best_way(placed, t);
            most += best * placed->types[t].count;
            if (best > price + tolerance) {
                add_way(placed, t);
                is_new = true;
            }
        }
        if (most < 1 - tolerance)
            return false; /* at these prices all nodes together are worth less than the counts */
        if (!is_new)
            return true;
    }
    return true;
}

static void set_counts(struct placed *placed, double rate)
{
    for (size_t i = 0; i < placed->problem->stages_count; i++) {
        const struct sim_bound_stage *stage = &placed->problem->stages[i];
        const double workers = rate / stage->rate_per_s;
        if (stage->stage->workers >= 0)
            placed->counts[i] = stage->stage->workers;
        else
            placed->counts[i] = placed->is_divided ? workers : fmax(1, ceil(workers - tolerance));
    }
}

static double largest_rate(struct placed *placed, double high)
{
    double low = 0;
    for (int k = 0; k < BISECTIONS && high - low > 1e-6 * high; k++) {
        const double rate = k == 0 ? high : (low + high) / 2;
        set_counts(placed, rate);
        if (passes(placed))
            low = rate;
        else
            high = rate;
    }
    return high;
}

/* ---- whole workers on few nodes ---- */

static double node_count(const struct placed *placed)
{
    double sum = 0;
    for (uint32_t t = 0; t < placed->type_count; t++)
        sum += placed->types[t].count;
    return sum;
}

static size_t list_nodes(const struct placed *placed, bool *may,
                         struct sim_pack_node nodes[MOST_PACKED])
{
    const size_t stages = placed->problem->stages_count;
    size_t count = 0;
    for (uint32_t t = 0; t < placed->type_count; t++) {
        for (size_t i = 0; i < stages; i++)
            may[t * stages + i] =
                may_stand(&placed->problem->stages[i].stage->shape, placed->types[t].type);
        for (uint64_t n = 0; (double)n < placed->types[t].count; n++)
            nodes[count++] = (struct sim_pack_node){ .room = placed->types[t].room,
                                                     .type = t,
                                                     .may_stand = &may[t * stages] };
    }
    return count;
}

/* Where the largest of the counts goes down; 0 = each is 1, or fixed. */
static double next_lower(const struct placed *placed)
{
    double rate = 0;
    for (size_t i = 0; i < placed->problem->stages_count; i++) {
        const struct sim_bound_stage *stage = &placed->problem->stages[i];
        if (stage->stage->workers < 0)
            rate = fmax(rate, (placed->counts[i] - 1) * stage->rate_per_s);
    }
    return rate;
}

/* `high` has passed up to the last bits of the bisection. */
static weir_status pack_whole(struct placed *placed, double high, struct sim_placed *answer)
{
    const size_t stages = placed->problem->stages_count;
    bool *may = calloc(stages * MOST_PACKED, sizeof *may);
    struct sim_pack_node nodes[MOST_PACKED];
    const struct sim_pack_question question = {
        .items = placed->items,
        .workers = placed->counts,
        .count = stages,
        .nodes = nodes,
        .node_count = may == NULL ? 0 : list_nodes(placed, may, nodes)
    };
    enum sim_pack_answer packed = SIM_PACK_NEVER;
    double rate = high;
    double next = high * (1 - 2e-6);
    int work = MOST_WORK;
    if (may == NULL)
        return WEIR_ENOMEM;
    while (packed == SIM_PACK_NEVER) {
        set_counts(placed, next);
        packed = next > 0 ? sim_node_pack(&question, &work) : SIM_PACK_FITS;
        if (packed == SIM_PACK_NEVER)
            rate = next = next_lower(placed);
    }
    answer->rate_per_s = rate;
    answer->by = packed == SIM_PACK_FITS ? SIM_PLACED_WHOLE : SIM_PLACED_LIMIT;
    free(may);
    return WEIR_OK;
}

/* ---- all of it ---- */

static bool can_be_said(const struct placed *placed, const struct sim_bound *bound)
{
    if (placed->problem->is_batch || !(bound->integer_per_s > 0))
        return false;
    for (size_t i = 0; i < placed->problem->stages_count; i++)
        if (placed->problem->stages[i].stage->shape.kind == WEIR_SHAPE_SPMD_MULTI)
            return false;
    return true;
}

static bool reserve(struct placed *placed)
{
    const size_t stages = placed->problem->stages_count;
    struct sim_way_node largest = { 0 };
    placed->items = calloc(stages, sizeof *placed->items);
    placed->counts = calloc(stages, sizeof *placed->counts);
    placed->prices = calloc(stages, sizeof *placed->prices);
    placed->workers = calloc(stages, sizeof *placed->workers);
    placed->indices = calloc(stages + 2, sizeof *placed->indices);
    placed->values = calloc(stages + 2, sizeof *placed->values);
    if (placed->items == NULL || placed->counts == NULL || placed->prices == NULL ||
        placed->workers == NULL || placed->indices == NULL || placed->values == NULL)
        return false;
    size_all(placed);
    for (uint32_t t = 0; t < placed->type_count; t++) {
        const struct sim_way_node *room = &placed->types[t].room;
        largest.cpus = room->cpus > largest.cpus ? room->cpus : largest.cpus;
        largest.gpus = room->gpus > largest.gpus ? room->gpus : largest.gpus;
        largest.steps = room->steps;
    }
    placed->ways = sim_node_ways_create(&largest);
    return placed->ways != NULL;
}

weir_status sim_bound_placed(const struct sim_bound_problem *problem, const struct sim_bound *bound,
                             struct sim_placed *answer)
{
    struct placed placed = { .problem = problem };
    weir_status status = WEIR_OK;
    *answer = (struct sim_placed){ .rate_per_s = bound->integer_per_s,
                                   .in_time_per_s = bound->fluid_per_s,
                                   .by = SIM_PLACED_POOL };
    if (!list_types(&placed) || !can_be_said(&placed, bound))
        return WEIR_OK;
    if (reserve(&placed)) {
        (void)glp_term_out(GLP_OFF);
        open_program(&placed);
        placed.is_divided = true;
        answer->in_time_per_s = largest_rate(&placed, bound->fluid_per_s);
        placed.is_divided = false;
        answer->rate_per_s = largest_rate(&placed, bound->integer_per_s);
        answer->by = SIM_PLACED_PARTS;
        glp_delete_prob(placed.lp);
        if (node_count(&placed) <= MOST_PACKED)
            status = pack_whole(&placed, answer->rate_per_s, answer);
        (void)glp_free_env();
    } else {
        status = WEIR_ENOMEM;
    }
    sim_node_ways_destroy(placed.ways);
    free(placed.items);
    free(placed.counts);
    free(placed.prices);
    free(placed.workers);
    free(placed.indices);
    free(placed.values);
    return status;
}
