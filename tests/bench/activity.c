/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Speed of activities: CPU time of an end and a start (two changes), best of several repetitions,
 * and its ratio to a plain reference that runs in turn with it on the same draws.
 *
 *   shared   R scarce resources with n activities each, weights 1 to 4. Reference: every change
 *            settles all activities of the resource in doubles and looks for the least end
 *   turns      the same where all take turns, 20 to 1 of a switch: 5 000 000 pairs are the 10^7
 * changes of 64 tasks on each of 1 000 GPUs own      R resources with n activities each and room
 * for all; or no resource at all (alone). Reference: the same ends as bare events flows transfers
 * over two links: any two of 1 024 NICs, two of an island of 16, a store and a NIC. Reference: bare
 * events
 *
 *     activity [--format table|json] [--quick] [--only NAME]
 */
#include "sim/engine/activity.h"
#include "sim/engine/time.h"
#include "tests/support/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NICS = 1024, ISLAND = 16, STORE_STARTS = 40, TURN_QUANTUM = 20, TURN_COST = 1 };

enum way { BARE, NAIVE, ALONE, OWN, SHARED, TURNS, FLOW_ANY, FLOW_ISLAND, FLOW_STORE };

struct naive {
    double *left; /* ns of the whole resource */
    int64_t at_ns;
};

struct world {
    enum way way;
    struct sim_engine *engine;
    struct sim_activities *activities;
    struct naive *naive;
    uint32_t resources, each; /* each: activities a resource, a power of two but for flows */
    unsigned each_bits;
    uint64_t part; /* of the capacity, for each */
    uint64_t state;
    uint64_t left; /* ends to come */
};

static uint64_t draw(struct world *world)
{
    world->state ^= world->state << 13;
    world->state ^= world->state >> 7;
    world->state ^= world->state << 17;
    return world->state;
}

static int64_t draw_ns(struct world *world)
{
    return 1 + (int64_t)(draw(world) % 2000000000);
}

/* --- references --------------------------------------------------------------------------------
 */

static weir_status plan(struct world *world, uint32_t target, int64_t time_ns)
{
    const struct sim_event event = { .time_ns = time_ns, .target = target };
    return sim_engine_schedule(world->engine, &event) ? WEIR_OK : WEIR_ENOMEM;
}

static double naive_weight(uint32_t i)
{
    return 1 + i % 4;
}

/* Settles all, replaces the one that has ended, plans the next end. */
static weir_status naive_turn(struct world *world, uint32_t index, bool has_end)
{
    struct naive *naive = &world->naive[index];
    const int64_t now_ns = sim_engine_now(world->engine);
    double weights = 0;
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < world->each; i++)
        weights += naive_weight(i);
    const double done = (double)(now_ns - naive->at_ns) / weights;
    uint32_t first = 0;
    for (uint32_t i = 0; i < world->each; i++) {
        naive->left[i] -= done * naive_weight(i);
        first = naive->left[i] < naive->left[first] ? i : first;
    }
    if (has_end)
        naive->left[first] = (double)draw_ns(world);
    for (uint32_t i = 0; i < world->each; i++)
        least = fmin(least, naive->left[i] / naive_weight(i));
    naive->at_ns = now_ns;
    return plan(world, index, now_ns + (int64_t)ceil(fmax(least, 0) * weights));
}

/* --- activities --------------------------------------------------------------------------------
 */

static void choose_links(struct world *world, uint32_t i, struct sim_activity_spec *spec)
{
    const uint32_t from = (uint32_t)(draw(world) % NICS);
    uint32_t to = (uint32_t)(draw(world) % NICS);
    if (world->way == FLOW_ISLAND)
        to = from / ISLAND * ISLAND + to % ISLAND;
    spec->resource[0] = world->way == FLOW_STORE ? 2 * NICS : from;
    spec->resource[1] = NICS + (world->way == FLOW_STORE ? i : to);
    spec->resources = 2;
}

static weir_status start(struct world *world, uint32_t i)
{
    const int64_t run_ns = draw_ns(world);
    struct sim_activity_spec spec = { .work = sim_work_of_ns(run_ns, SIM_DEVICE_QPNS),
                                      .cap_qpns = SIM_UNCAPPED,
                                      .owner = i,
                                      .weight = 1,
                                      .resources = 1,
                                      .resource = { i >> world->each_bits } };
    if (world->way == ALONE) {
        spec.resources = 0;
        spec.cap_qpns = SIM_DEVICE_QPNS;
    } else if (world->way == OWN) {
        spec.cap_qpns = world->part;
    } else if (world->way == SHARED) {
        spec.weight = 1 + i % 4;
    } else if (world->way == TURNS) {
        spec.weight = TURN_QUANTUM;
        spec.turn_cost = TURN_COST;
    } else {
        choose_links(world, i, &spec);
    }
    sim_handle handle = SIM_NO_HANDLE;
    return sim_activity_start(world->activities, &spec, &handle, NULL);
}

static weir_status handle(void *context, const struct sim_event *event)
{
    struct world *world = context;
    const struct sim_ended *ended = NULL;
    uint32_t count = 1;
    if (world->way == BARE) {
        WEIR_TRY(plan(world, event->target, event->time_ns + draw_ns(world)));
    } else if (world->way == NAIVE) {
        WEIR_TRY(naive_turn(world, event->target, true));
    } else {
        WEIR_TRY(sim_activities_fire(world->activities, event, &ended, &count));
        for (uint32_t i = 0; i < count; i++)
            WEIR_TRY(start(world, (uint32_t)ended[i].owner));
    }
    if (world->left <= count)
        sim_engine_stop(world->engine);
    else
        world->left -= count;
    return WEIR_OK;
}

/* As the world does: what the next ends touch is fetched before they come. */
static void foresee(void *context, const struct sim_event *event, uint32_t before)
{
    const struct world *world = context;
    (void)before;
    (void)sim_activities_foresee(world->activities, event);
}

static weir_status world_fill(struct world *world)
{
    const bool is_flow = world->way >= FLOW_ANY;
    const uint32_t links = is_flow ? 2 * NICS + 1 : world->resources;
    for (uint32_t i = 0; i < links && world->way >= OWN; i++) {
        uint32_t index = 0;
        const uint64_t qpns = i == 2 * NICS ? 4 * SIM_DEVICE_QPNS : SIM_DEVICE_QPNS;
        const enum sim_share share = world->way == TURNS ? SIM_SHARE_TURNS : SIM_SHARE_WEIGHTS;
        WEIR_TRY(sim_resource_add(world->activities, share, qpns, &index));
    }
    for (uint32_t r = 0; world->way == NAIVE && r < world->resources; r++) {
        world->naive[r].left = calloc(world->each, sizeof(double));
        for (uint32_t i = 0; i < world->each; i++)
            world->naive[r].left[i] = (double)draw_ns(world);
        WEIR_TRY(naive_turn(world, r, false));
    }
    for (uint32_t i = 0; world->way != NAIVE && i < world->resources * world->each; i++)
        WEIR_TRY(world->way == BARE ? plan(world, i, draw_ns(world)) : start(world, i));
    return WEIR_OK;
}

/* ns an end and a start. */
static double cost(enum way way, uint32_t resources, uint32_t each, uint64_t pairs)
{
    struct world world = { .way = way,
                           .engine = sim_engine_create(),
                           .naive = calloc(resources, sizeof(struct naive)),
                           .resources = resources,
                           .each = each,
                           .each_bits = (unsigned)__builtin_ctz(each),
                           .part = SIM_DEVICE_QPNS / each,
                           .state = UINT64_C(88172645463325252),
                           .left = pairs };
    world.activities = sim_activities_create(world.engine, 1);
    if (way >= ALONE)
        sim_engine_foresee(world.engine, foresee);
    weir_status status = world_fill(&world);
    const double begin = test_cpu_ns();
    if (status == WEIR_OK)
        status = sim_engine_run(world.engine, handle, &world, SIM_TIME_MAX);
    const double spent = test_cpu_ns() - begin;
    if (status != WEIR_OK) {
        fprintf(stderr, "the run failed: %s\n", weir_status_text(status));
        exit(EXIT_FAILURE);
    }
    for (uint32_t r = 0; r < resources; r++)
        free(world.naive[r].left);
    free(world.naive);
    sim_activities_destroy(world.activities);
    sim_engine_destroy(world.engine);
    return spent / (double)pairs;
}

/* --- report ------------------------------------------------------------------------------------
 */

struct row {
    const char *name;
    enum way way, reference;
    uint32_t resources, each;
    uint64_t pairs; /* quick: a tenth */
    double ns, reference_ns;
};

static void measure(struct row *row, bool quick)
{
    const uint64_t pairs = quick ? row->pairs / 10 : row->pairs;
    row->ns = row->reference_ns = HUGE_VAL;
    for (int i = 0; i < (quick ? 2 : 5); i++) { /* in turn, so that both see the same machine */
        row->ns = fmin(row->ns, cost(row->way, row->resources, row->each, pairs));
        row->reference_ns =
            fmin(row->reference_ns, cost(row->reference, row->resources, row->each, pairs));
    }
}

static void print_row(const struct row *row, bool json, bool is_first)
{
    if (json)
        printf("%s\n  {\"name\": \"%s\", \"ns\": %.2f, \"reference_ns\": %.2f}",
               is_first ? "" : ",", row->name, row->ns, row->reference_ns);
    else
        printf("%-26s %10.1f %12.1f %8.3f\n", row->name, row->ns, row->reference_ns,
               row->ns / row->reference_ns);
}

int main(int count, char **arguments)
{
    bool json = false;
    bool quick = false;
    const char *only = NULL;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(arguments[i], "--format") == 0 && i + 1 < count) {
            json = strcmp(arguments[++i], "json") == 0;
        } else if (strcmp(arguments[i], "--only") == 0 && i + 1 < count) {
            only = arguments[++i];
        } else {
            fprintf(stderr, "usage: %s [--format table|json] [--quick] [--only NAME]\n",
                    arguments[0]);
            return 2;
        }
    }
    struct row rows[] = {
        { "shared 1 x 4", SHARED, NAIVE, 1, 4, 1000000, 0, 0 },
        { "shared 1 x 64", SHARED, NAIVE, 1, 64, 300000, 0, 0 },
        { "shared 1 x 4096", SHARED, NAIVE, 1, 4096, 20000, 0, 0 },
        { "shared 1000 x 64", SHARED, NAIVE, 1000, 64, 500000, 0, 0 },
        { "turns 1000 x 64", TURNS, NAIVE, 1000, 64, 500000, 0, 0 },
        { "alone 1", ALONE, BARE, 1, 1, 2000000, 0, 0 },
        { "alone 64000", ALONE, BARE, 1000, 64, 1000000, 0, 0 },
        { "own 1 x 1", OWN, BARE, 1, 1, 2000000, 0, 0 },
        { "own 1000 x 4", OWN, BARE, 1000, 4, 1000000, 0, 0 },
        { "own 1000 x 64", OWN, BARE, 1000, 64, 1000000, 0, 0 },
        { "flows any two, 512", FLOW_ANY, BARE, 1, 512, 50000, 0, 0 },
        { "flows any two, 1024", FLOW_ANY, BARE, 1, 1024, 5000, 0, 0 },
        { "flows any two, 4096", FLOW_ANY, BARE, 1, 4096, 300, 0, 0 },
        { "flows island of 16, 512", FLOW_ISLAND, BARE, 1, 512, 20000, 0, 0 },
        { "flows one store, 40", FLOW_STORE, BARE, 1, STORE_STARTS, 50000, 0, 0 },
    };
    printf(json ? "{\"schema\": 1, \"benchmark\": \"activity\", \"rows\": ["
                : "an end and a start                 ns reference ns    ratio\n");
    bool is_first = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (only && strcmp(only, rows[i].name) != 0)
            continue;
        measure(&rows[i], quick);
        print_row(&rows[i], json, is_first);
        is_first = false;
    }
    if (json)
        printf("\n]}\n");
    return 0;
}
