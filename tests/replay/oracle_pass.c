/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pass of version P, exact and plain (see oracle_pass.h): state, places, scores. */
#include "tests/replay/oracle_pass_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

static uint32_t lowest(uint32_t mask, uint32_t count)
{
    uint32_t bits = 0;

    for (; count > 0; count--) {
        bits |= mask & (~mask + 1);
        mask &= mask - 1;
    }
    return bits;
}

void oracle_take(struct oracle_state *state, const struct oracle_place *place, int sign)
{
    struct oracle_node *const node = &state->nodes[place->node];

    node->cpus -= sign * place->cpus;
    for (uint32_t i = 0; i < place->count; i++) {
        const struct oracle_part *const part = &place->parts[i];
        node->gpus[part->gpu].units -= sign * part->units;
        node->gpus[part->gpu].decs ^= part->decs;
        node->gpus[part->gpu].encs ^= part->encs;
    }
}

bool oracle_fits(const struct oracle_state *state, const struct oracle_place *place)
{
    const struct oracle_node *const node = &state->nodes[place->node];

    if (node->cpus < place->cpus)
        return false;
    for (uint32_t i = 0; i < place->count; i++) {
        const struct oracle_part *const part = &place->parts[i];
        const struct oracle_gpu *const gpu = &node->gpus[part->gpu];
        if (gpu->units < part->units || (part->decs & ~gpu->decs) != 0 ||
            (part->encs & ~gpu->encs) != 0)
            return false;
    }
    return true;
}

/* Whether this one GPU can serve the shape. */
static bool is_usable(const struct oracle_gpu *gpu, const struct oracle_shape *shape)
{
    if (shape->kind == ORACLE_ENTIRE)
        return gpu->units == ORACLE_ONE && gpu->decs == gpu->all_decs && gpu->encs == gpu->all_encs;
    return gpu->units >= shape->units && __builtin_popcount(gpu->decs) >= (int)shape->decs &&
           __builtin_popcount(gpu->encs) >= (int)shape->encs;
}

/* ---- scores ---- */

/* GPU compute on the node that the shape could not use, in units. */
static int64_t unusable(const struct oracle_node *node, const struct oracle_shape *shape)
{
    int64_t all = 0;
    int64_t lost = 0;
    uint32_t usable = 0;

    for (uint32_t g = 0; g < node->count; g++) {
        const bool serves = is_usable(&node->gpus[g], shape);
        all += node->gpus[g].units;
        lost += serves ? 0 : node->gpus[g].units;
        usable += serves;
    }
    const bool needs_gpus = shape->kind != ORACLE_CPU && shape->kind != ORACLE_CODEC;
    return needs_gpus && node->cpus >= shape->cpus && usable >= shape->count ? lost : all;
}

/* Fragmentation of the node under the mix, in units times counts. */
static int64_t fragmentation(const struct oracle_state *state, uint32_t node)
{
    int64_t sum = 0;

    for (uint32_t s = 0; s < state->stage_count; s++)
        sum += state->weights[s] * unusable(&state->nodes[node], &state->stages[s].shape);
    return sum;
}

/* All that is free on the node: CPUs, GPUs and engines, each counting 1. */
static int64_t remaining(const struct oracle_node *node)
{
    int64_t sum = node->cpus;

    for (uint32_t g = 0; g < node->count; g++)
        sum += node->gpus[g].units + ORACLE_ONE * (__builtin_popcount(node->gpus[g].decs) +
                                                   __builtin_popcount(node->gpus[g].encs));
    return sum;
}

static bool is_less(struct oracle_score a, struct oracle_score b)
{
    return a.primary != b.primary ? a.primary < b.primary : a.secondary < b.secondary;
}

/* ---- candidates of one node, in order ---- */

struct walk {
    struct oracle_state *state;
    const struct oracle_shape *shape;
    struct oracle_node *node;
    struct oracle_place place;
    uint32_t decs[ORACLE_MOST_GPUS], encs[ORACLE_MOST_GPUS]; /* a split of engines */
    struct oracle_choice *choice;
    uint32_t reused;
};

static void weigh(struct walk *walk)
{
    const uint32_t node = walk->place.node;
    const int64_t before = fragmentation(walk->state, node);

    oracle_take(walk->state, &walk->place, 1);
    const struct oracle_score score = { fragmentation(walk->state, node) - before,
                                        -remaining(&walk->state->nodes[node]) };
    oracle_take(walk->state, &walk->place, -1);
    if (walk->choice->is_found && !is_less(score, walk->choice->score))
        return;
    *walk->choice = (struct oracle_choice){
        .is_found = true, .score = score, .place = walk->place, .reused = walk->reused
    };
}

static void put_part(struct walk *walk, uint32_t g)
{
    const struct oracle_gpu *const gpu = &walk->node->gpus[g];
    const bool is_entire = walk->shape->kind == ORACLE_ENTIRE;

    walk->place.parts[walk->place.count++] = (struct oracle_part){
        .gpu = g,
        .units = walk->shape->units,
        .decs = is_entire ? gpu->all_decs : lowest(gpu->decs, walk->shape->decs),
        .encs = is_entire ? gpu->all_encs : lowest(gpu->encs, walk->shape->encs),
    };
}

/* All ways to choose the missing GPUs from `start` on, lowest first. */
static void walk_gpus(struct walk *walk, uint32_t start)
{
    if (walk->place.count == walk->shape->count) {
        weigh(walk);
        return;
    }
    for (uint32_t g = start; g < walk->node->count; g++) {
        if (!is_usable(&walk->node->gpus[g], walk->shape))
            continue;
        put_part(walk, g);
        walk_gpus(walk, g + 1);
        walk->place.count--;
    }
}

static void weigh_split(struct walk *walk)
{
    walk->place.count = 0;
    for (uint32_t g = 0; g < walk->node->count; g++) {
        if (walk->decs[g] + walk->encs[g] > 0)
            walk->place.parts[walk->place.count++] =
                (struct oracle_part){ .gpu = g,
                                      .decs = lowest(walk->node->gpus[g].decs, walk->decs[g]),
                                      .encs = lowest(walk->node->gpus[g].encs, walk->encs[g]) };
    }
    weigh(walk);
}

/* All ways to write `rest` engines as counts over the GPUs from `g` on: few on the first GPUs that
 * take any come first, and GPUs that take some before those that take none. */
static void walk_engines(struct walk *walk, uint32_t g, uint32_t rest, bool encoders)
{
    uint32_t *const counts = encoders ? walk->encs : walk->decs;

    if (rest == 0) {
        if (encoders)
            weigh_split(walk);
        else
            walk_engines(walk, 0, walk->shape->encs, true);
        return;
    }
    if (g == walk->node->count)
        return;
    const struct oracle_gpu *const gpu = &walk->node->gpus[g];
    const uint32_t here = (uint32_t)__builtin_popcount(encoders ? gpu->encs : gpu->decs);
    for (uint32_t n = 1; n <= here && n <= rest; n++) {
        counts[g] = n;
        walk_engines(walk, g + 1, rest - n, encoders);
    }
    counts[g] = 0;
    walk_engines(walk, g + 1, rest, encoders);
}

static void walk_node(struct walk *walk, uint32_t n)
{
    walk->node = &walk->state->nodes[n];
    walk->place = (struct oracle_place){ .node = n, .cpus = walk->shape->cpus };
    if (walk->node->cpus < walk->shape->cpus)
        return;
    if (walk->shape->kind == ORACLE_CPU)
        weigh(walk);
    else if (walk->shape->kind == ORACLE_CODEC)
        walk_engines(walk, 0, walk->shape->decs, false);
    else
        walk_gpus(walk, 0);
}

struct oracle_choice oracle_choose(struct oracle_state *state, uint32_t stage)
{
    const struct oracle_workers *const removed = &state->stages[stage].removed;
    struct oracle_choice choice = { .is_found = false };
    struct walk walk = { .state = state, .shape = &state->stages[stage].shape, .choice = &choice };

    for (uint32_t i = 0; i < removed->count; i++) {
        walk.place = removed->list[i].place;
        walk.reused = i;
        if (oracle_fits(state, &walk.place))
            weigh(&walk);
    }
    walk.reused = UINT32_MAX;
    for (uint32_t n = 0; n < state->node_count; n++)
        walk_node(&walk, n);
    return choice;
}

uint32_t oracle_victim(struct oracle_state *state, uint32_t stage)
{
    const struct oracle_workers *const workers = &state->stages[stage].workers;
    struct oracle_score least = { 0, 0 };
    uint32_t found = 0;

    for (uint32_t i = 0; i < workers->count; i++) {
        const struct oracle_place *const place = &workers->list[i].place;
        const int64_t before = fragmentation(state, place->node);
        struct oracle_score score = { .secondary = -remaining(&state->nodes[place->node]) };
        oracle_take(state, place, -1);
        score.primary = fragmentation(state, place->node) - before;
        oracle_take(state, place, 1);
        if (i > 0 && !is_less(score, least))
            continue;
        least = score;
        found = i;
    }
    return found;
}
