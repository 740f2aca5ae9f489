/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trying changes on the bound's problem: see the header. Each trial starts from the unchanged
 * problem.
 */
#include "sim/scenario/improve.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double small_share = 0.25;

struct trial {
    const struct sim_scenario *scenario;
    const struct sim_bound_problem *base;
    double base_per_s;
    struct sim_changes *changes;
    struct sim_bound_stage *scratch; /* as many as the base has */
};

static struct sim_bound_problem begin_trial(const struct trial *trial)
{
    struct sim_bound_problem problem = *trial->base;
    memcpy(trial->scratch, trial->base->stages, problem.stages_count * sizeof *trial->scratch);
    problem.stages = trial->scratch;
    return problem;
}

/* Solves the changed problem and keeps it under `text` (taken over). */
static weir_status end_trial(struct trial *trial, const struct sim_bound_problem *problem,
                             char *text, enum sim_change_kind kind)
{
    struct sim_bound bound;
    if (text == NULL)
        return WEIR_ENOMEM;
    weir_status status = sim_bound_solve(problem, &bound);
    struct sim_change *grown = NULL;
    if (status == WEIR_OK) {
        grown = reallocarray(trial->changes->items, trial->changes->count + 1, sizeof *grown);
        status = grown == NULL ? WEIR_ENOMEM : WEIR_OK;
    }
    if (grown == NULL) {
        free(text);
        return status;
    }
    const double base = trial->base_per_s;
    trial->changes->items = grown;
    grown[trial->changes->count++] = (struct sim_change){
        .text = text,
        .integer_per_s = bound.integer_per_s,
        .fluid_per_s = bound.fluid_per_s,
        .gain = base > 0 ? bound.integer_per_s / base - 1 : 0,
        .kind = kind,
    };
    sim_bound_clear(&bound);
    return WEIR_OK;
}

static char *print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *print(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : text;
}

/* ---- load ---- */

/* GPUs a stage needs for one item a second. */
static double gpu_load(const struct sim_bound_stage *entry)
{
    return entry->request.gpus / entry->rate_per_s;
}

static bool is_whole(const struct sim_bound_stage *entry)
{
    return fabs(entry->request.gpus - 1) < 1e-9 && !entry->request.entire_gpu &&
           entry->stage->workers < 0;
}

/* The whole-GPU stages, least loaded first; returns how many. */
static size_t order_by_load(const struct sim_bound_problem *base, uint32_t *order)
{
    size_t count = 0;
    for (uint32_t i = 0; i < base->stages_count; i++) {
        if (!is_whole(&base->stages[i]))
            continue;
        size_t at = count++;
        for (; at > 0 && gpu_load(&base->stages[order[at - 1]]) > gpu_load(&base->stages[i]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

static void shrink_first(struct sim_bound_problem *problem, const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct weir_request request = problem->stages[order[i]].request;
        request.gpus = small_share;
        (void)sim_bound_set_request(problem, order[i], &request);
    }
}

/* How many of them are loaded less than their mean: those can share GPUs. */
static size_t count_light(const struct sim_bound_problem *base, const uint32_t *order, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += gpu_load(&base->stages[order[i]]);
    size_t light = 0;
    while (light < count && gpu_load(&base->stages[order[light]]) * (double)count < sum)
        light++;
    return light;
}

/* A stage with more than the mean load of the GPU stages: a share would probably slow it down. */
static bool is_heavy(const struct sim_bound_problem *base, uint32_t stage)
{
    double sum = 0;
    double users = 0;
    for (size_t i = 0; i < base->stages_count; i++) {
        sum += gpu_load(&base->stages[i]);
        users += base->stages[i].request.gpus > 0 ? 1 : 0;
    }
    return gpu_load(&base->stages[stage]) * users > sum * (1 + 1e-9);
}

/* ---- smaller requests ---- */

static weir_status try_gpus(struct trial *trial, uint32_t stage, double gpus)
{
    struct sim_bound_problem problem = begin_trial(trial);
    struct weir_request request = problem.stages[stage].request;
    const double before = request.gpus;
    request.gpus = gpus;
    if (!sim_bound_set_request(&problem, stage, &request))
        return WEIR_OK;
    return end_trial(trial, &problem,
                     print("%s: gpus %g -> %g", problem.stages[stage].stage->name, before, gpus),
                     is_heavy(trial->base, stage) ? SIM_CHANGE_HEAVY : SIM_CHANGE_LIGHT);
}

static weir_status try_stage(struct trial *trial, uint32_t stage)
{
    const double gpus = trial->base->stages[stage].request.gpus;
    if (trial->base->stages[stage].request.entire_gpu || !(gpus > 0))
        return WEIR_OK;
    if (gpus > 1)
        return try_gpus(trial, stage, gpus - 1);
    WEIR_TRY(try_gpus(trial, stage, gpus / 2));
    return try_gpus(trial, stage, gpus / 4);
}

/* ---- the least loaded stages together ---- */

static char *combined_text(const struct sim_bound_problem *base, const uint32_t *order,
                           size_t count)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i == 0 ? "" : ", ", base->stages[order[i]].stage->name);
    fprintf(out, ": gpus 1 -> %g each", small_share);
    return fclose(out) == 0 ? text : NULL;
}

static weir_status try_least_loaded(struct trial *trial)
{
    uint32_t *order = calloc(trial->base->stages_count, sizeof *order);
    if (order == NULL)
        return WEIR_ENOMEM;
    const size_t count = count_light(trial->base, order, order_by_load(trial->base, order));
    weir_status status = WEIR_OK;
    if (count > 1) {
        struct sim_bound_problem problem = begin_trial(trial);
        shrink_first(&problem, order, count);
        status =
            end_trial(trial, &problem, combined_text(trial->base, order, count), SIM_CHANGE_LIGHT);
    }
    free(order);
    return status;
}

/* ---- nodes ---- */

static weir_status try_nodes(struct trial *trial, size_t group, int32_t count)
{
    const struct sim_node_group *nodes = &trial->scenario->node_groups[group];
    const struct sim_node_type *type = &trial->scenario->node_types[nodes->type];
    struct sim_bound_problem problem = begin_trial(trial);
    sim_bound_add_nodes(&problem, nodes->type, count);
    return end_trial(trial, &problem,
                     print("%s %s: %u -> %u nodes", count > 0 ? "one more" : "one fewer",
                           nodes->name == NULL ? type->name : nodes->name, nodes->count,
                           nodes->count + (uint32_t)count),
                     SIM_CHANGE_NODE);
}

static weir_status try_all(struct trial *trial)
{
    for (uint32_t i = 0; i < trial->base->stages_count; i++)
        WEIR_TRY(try_stage(trial, i));
    WEIR_TRY(try_least_loaded(trial));
    for (size_t g = 0; g < trial->scenario->node_groups_count; g++) {
        WEIR_TRY(try_nodes(trial, g, 1));
        if (trial->scenario->node_groups[g].count > 1)
            WEIR_TRY(try_nodes(trial, g, -1));
    }
    return WEIR_OK;
}

static void sort_changes(struct sim_changes *changes)
{
    for (size_t i = 1; i < changes->count; i++) {
        const struct sim_change change = changes->items[i];
        size_t at = i;
        for (; at > 0 && changes->items[at - 1].gain < change.gain - 1e-9; at--)
            changes->items[at] = changes->items[at - 1];
        changes->items[at] = change;
    }
}

weir_status sim_improve(const struct sim_scenario *scenario, uint32_t pipeline,
                        struct sim_changes *changes)
{
    struct sim_bound_problem base;
    struct sim_bound bound = { .workers = NULL };
    struct sim_changes made = { .items = NULL };
    WEIR_TRY(sim_bound_problem_create(scenario, pipeline, &base));
    struct trial trial = { .scenario = scenario, .base = &base, .changes = &made };
    trial.scratch = calloc(base.stages_count, sizeof *trial.scratch);
    weir_status status = trial.scratch == NULL ? WEIR_ENOMEM : sim_bound_solve(&base, &bound);
    if (status == WEIR_OK) {
        trial.base_per_s = bound.integer_per_s;
        status = try_all(&trial);
    }
    free(trial.scratch);
    sim_bound_clear(&bound);
    sim_bound_problem_clear(&base);
    if (status != WEIR_OK) {
        sim_changes_clear(&made);
        return status;
    }
    sort_changes(&made);
    *changes = made;
    return WEIR_OK;
}

void sim_changes_clear(struct sim_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        free(changes->items[i].text);
    free(changes->items);
    *changes = (struct sim_changes){ .items = NULL };
}
