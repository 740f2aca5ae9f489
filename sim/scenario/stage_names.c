/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages by name; see the header. */
#include "sim/scenario/stage_names.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
    const struct sim_stage_name *a = left;
    const struct sim_stage_name *b = right;
    const int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->stage > b->stage) - (a->stage < b->stage);
}

static void add(struct sim_stage_names *names, const char *name, size_t stage)
{
    names->items[names->count++] = (struct sim_stage_name){ name, (uint32_t)stage };
}

static void sort(struct sim_stage_names *names, struct sim_arena *arena,
                 const struct sim_scenario *scenario)
{
    names->items = sim_arena_alloc(arena, 2 * scenario->stages_total + 1, sizeof *names->items);
    for (size_t p = 0; p < scenario->pipelines_count; p++) {
        const struct sim_pipeline *pipeline = &scenario->pipelines[p];
        for (size_t s = 0; s < pipeline->stages_count; s++) {
            const char *stage = pipeline->stages[s].name;
            if (stage == NULL)
                continue;
            add(names, stage, pipeline->stage_first + s);
            if (pipeline->name != NULL && pipeline->name[0] != '\0')
                add(names, sim_arena_printf(arena, "%s.%s", pipeline->name, stage),
                    pipeline->stage_first + s);
        }
    }
    qsort(names->items, names->count, sizeof *names->items, compare);
}

/* The first item that is not before the name. */
static size_t first_of(const struct sim_stage_names *names, const char *name)
{
    size_t low = 0;
    size_t high = names->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(names->items[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t sim_stage_names_find(struct sim_stage_names *names, struct sim_arena *arena,
                              const struct sim_scenario *scenario, const char *name,
                              uint32_t *found)
{
    uint32_t matches = 0;
    if (names->items == NULL)
        sort(names, arena, scenario);
    for (size_t i = first_of(names, name);
         i < names->count && strcmp(names->items[i].name, name) == 0; i++) {
        *found = names->items[i].stage;
        matches++;
    }
    return matches;
}
