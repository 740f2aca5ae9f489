/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether whole workers stand on a few nodes: every place tried on small problems, and problems
 * where the answer is known.
 */
#include "sim/scenario/node_pack.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <stdio.h>
#include <string.h>

enum { KINDS = 4, NODES = 3, GPUS = 2, STEPS = 4, PROBLEMS = 400, WORK = 2000 };

struct problem {
    struct sim_way_item items[KINDS];
    double workers[KINDS];
    bool may_stand[NODES][KINDS];
    struct sim_pack_node nodes[NODES];
    size_t count, node_count;
};

static enum sim_pack_answer answer_of(const struct problem *problem, int work)
{
    const struct sim_pack_question question = { .items = problem->items,
                                                .workers = problem->workers,
                                                .count = problem->count,
                                                .nodes = problem->nodes,
                                                .node_count = problem->node_count };
    return sim_node_pack(&question, &work);
}

/* ---- every place ---- */

struct room {
    uint32_t cpus[NODES];
    uint32_t steps[NODES][GPUS]; /* of each GPU, free */
};

static bool place(const struct problem *problem, struct room *room, size_t kind, int left);

/* The next worker of a kind on a node: a part on each GPU, whole GPUs on the free ones. */
static bool place_on(const struct problem *problem, struct room *room, size_t kind, int left,
                     size_t node)
{
    const struct sim_way_item *item = &problem->items[kind];
    const struct room before = *room;
    if (!problem->may_stand[node][kind] || room->cpus[node] < item->cpus)
        return false;
    room->cpus[node] -= item->cpus;
    uint32_t missing = item->gpus;
    for (size_t g = 0; g < GPUS && missing > 0; g++)
        if (room->steps[node][g] == STEPS) {
            room->steps[node][g] = 0;
            missing--;
        }
    bool is_done = missing == 0 && item->part == 0 && place(problem, room, kind, left - 1);
    for (size_t g = 0; g < GPUS && !is_done && item->part > 0; g++) {
        if (room->steps[node][g] < item->part)
            continue;
        struct room next = *room;
        next.steps[node][g] -= item->part;
        is_done = place(problem, &next, kind, left - 1);
    }
    *room = before;
    return is_done;
}

static bool place(const struct problem *problem, struct room *room, size_t kind, int left)
{
    if (left == 0) {
        kind++;
        if (kind >= problem->count)
            return true;
        left = (int)problem->workers[kind];
        if (left == 0)
            return place(problem, room, kind, 0);
    }
    for (size_t b = 0; b < problem->node_count; b++)
        if (place_on(problem, room, kind, left, b))
            return true;
    return false;
}

static bool every_place(const struct problem *problem)
{
    struct room room = { 0 };
    for (size_t b = 0; b < problem->node_count; b++) {
        room.cpus[b] = problem->nodes[b].room.cpus;
        for (size_t g = 0; g < problem->nodes[b].room.gpus; g++)
            room.steps[b][g] = STEPS;
    }
    const int first = (int)problem->workers[0];
    return first == 0 ? place(problem, &room, 0, 0) : place(problem, &room, 0, first);
}

static struct problem draw_problem(struct draws *draws)
{
    struct problem problem = { .count = 1 + draws_below(draws, KINDS),
                               .node_count = 1 + draws_below(draws, NODES) };
    const bool is_alike = draws_below(draws, 2) == 0;
    for (size_t b = 0; b < problem.node_count; b++) {
        struct sim_pack_node *node = &problem.nodes[b];
        *node = (struct sim_pack_node){ .room = { .cpus = 2 + (uint32_t)draws_below(draws, 6),
                                                  .gpus = (uint32_t)draws_below(draws, GPUS + 1),
                                                  .steps = STEPS },
                                        .type = (uint32_t)b };
        if (is_alike)
            *node = problem.nodes[0];
    }
    for (size_t i = 0; i < problem.count; i++) {
        const uint64_t kind = draws_below(draws, 3);
        problem.items[i] = (struct sim_way_item){
            .cpus = (uint32_t)draws_below(draws, 4),
            .part = kind == 1 ? 1 + (uint32_t)draws_below(draws, STEPS - 1) : 0,
            .gpus = kind == 2 ? 1 + (uint32_t)draws_below(draws, GPUS) : 0,
        };
        problem.items[i].cpus += kind == 0 && problem.items[i].cpus == 0 ? 1 : 0;
        problem.workers[i] = (double)draws_below(draws, 4);
    }
    return problem;
}

static void it_is_what_every_place_says(void)
{
    struct draws draws = draws_seeded(11);
    uint32_t fits = 0;
    for (int n = 0; n < PROBLEMS; n++) {
        struct problem problem = draw_problem(&draws);
        for (size_t b = 0; b < problem.node_count; b++) {
            for (size_t i = 0; i < problem.count; i++)
                problem.may_stand[b][i] = draws_below(&draws, 8) > 0;
            if (b > 0 && problem.nodes[b].type == problem.nodes[0].type)
                memcpy(problem.may_stand[b], problem.may_stand[0], sizeof problem.may_stand[0]);
            problem.nodes[b].may_stand = problem.may_stand[b];
        }
        const bool is_there = every_place(&problem);
        CHECK_I64(answer_of(&problem, WORK), is_there ? SIM_PACK_FITS : SIM_PACK_NEVER);
        fits += is_there ? 1 : 0;
    }
    printf("  %u of %d fit\n", fits, PROBLEMS);
    CHECK(fits > PROBLEMS / 5 && fits < PROBLEMS * 4 / 5);
}

/* ---- by hand ---- */

static struct problem even_problem(size_t nodes, uint32_t cpus, uint32_t gpus)
{
    struct problem problem = { .count = 2, .node_count = nodes };
    for (size_t b = 0; b < nodes; b++) {
        problem.may_stand[b][0] = problem.may_stand[b][1] = true;
        problem.nodes[b].room = (struct sim_way_node){ cpus, gpus, STEPS };
    }
    return problem;
}

static enum sim_pack_answer of_even(struct problem problem, int work)
{
    for (size_t b = 0; b < problem.node_count; b++)
        problem.nodes[b].may_stand = problem.may_stand[b];
    return answer_of(&problem, work);
}

/* Halves of two nodes make no room: three workers of 4 CPUs on nodes of 6. */
static void parts_of_nodes_are_no_node(void)
{
    struct problem problem = even_problem(2, 6, 0);
    problem.items[0].cpus = 4;
    problem.workers[0] = 3;
    CHECK_I64(of_even(problem, WORK), SIM_PACK_NEVER);
    problem.workers[0] = 2;
    problem.items[1].cpus = 1;
    problem.workers[1] = 4;
    CHECK_I64(of_even(problem, WORK), SIM_PACK_FITS);
    problem.workers[1] = 5;
    CHECK_I64(of_even(problem, WORK), SIM_PACK_NEVER);
}

/* Three quarters and a half lie on no GPU together, and a whole one needs one that is not cut. */
static void parts_of_gpus_are_no_gpu(void)
{
    struct problem problem = even_problem(1, 64, 2);
    problem.items[0].part = 3;
    problem.items[1].part = 2;
    problem.workers[0] = 1;
    problem.workers[1] = 2;
    CHECK_I64(of_even(problem, WORK), SIM_PACK_FITS);
    problem.workers[1] = 3;
    CHECK_I64(of_even(problem, WORK), SIM_PACK_NEVER);
    problem.items[1] = (struct sim_way_item){ .gpus = 2 };
    problem.workers[1] = 1;
    CHECK_I64(of_even(problem, WORK), SIM_PACK_NEVER);
    problem.workers[0] = 0;
    CHECK_I64(of_even(problem, WORK), SIM_PACK_FITS);
}

static void without_work_nobody_knows(void)
{
    struct problem problem = even_problem(2, 6, 0);
    problem.items[0].cpus = 4;
    problem.workers[0] = 3;
    CHECK_I64(of_even(problem, 0), SIM_PACK_UNSURE);
}

static const struct test tests[] = {
    { "it is what every place says", it_is_what_every_place_says },
    { "parts of nodes are no node", parts_of_nodes_are_no_node },
    { "parts of GPUs are no GPU", parts_of_gpus_are_no_gpu },
    { "without work nobody knows", without_work_nobody_knows },
};

TEST_MAIN(tests)
