/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Families of problems, each hard in its own way; see scaling_problems.h. */
#include "tests/support/scaling_problems.h"

#include <math.h>

static const int64_t GIB = INT64_C(1) << 30;
#define PICK(state, list) (list)[scaling_draw((state), sizeof(list) / sizeof((list)[0]))]

static uint32_t between(uint64_t *state, uint32_t least, uint32_t most)
{
    return least + scaling_draw(state, most - least + 1);
}

static uint32_t log_between(uint64_t *state, uint32_t least, uint32_t most)
{
    return (uint32_t)(least * pow((most + 0.999) / least, scaling_unit(state)));
}

/* ---- nodes, requests, stages ---- */

static struct scaling_node_type draw_type(uint64_t *state, uint32_t count)
{
    static const uint32_t gpus[] = { 4, 8, 8, 8 };
    static const int64_t cpus[] = { 32, 64, 96, 128, 240 };
    struct scaling_node_type type = {
        .count = count, .nvdecs = 7, .nvencs = 3, .ram_bytes = 1000 * GIB, .gpu_mem_bytes = 80 * GIB
    };

    type.gpus = PICK(state, gpus);
    type.cpus = PICK(state, cpus);
    return type;
}

static void draw_nodes(struct scaling_problem *problem, uint64_t *state, uint32_t most)
{
    problem->types = 1;
    problem->nodes[0] = draw_type(state, log_between(state, 1, most));
    if (scaling_draw(state, 3) != 0)
        return;
    problem->types = 2;
    problem->nodes[1] = draw_type(state, log_between(state, 1, most));
    if (scaling_draw(state, 2) == 0)
        problem->nodes[1].gpus = 0;
}

static struct weir_request draw_request(uint64_t *state)
{
    static const double shares[] = { 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6 };
    static const double wholes[] = { 1, 1, 1, 2, 4 };
    struct weir_request request = { .cpus = between(state, 1, 4) };
    const uint32_t kind = scaling_draw(state, 10);

    if (kind < 4)
        request.cpus = between(state, 1, 8);
    else if (kind < 7)
        request.gpus = PICK(state, shares);
    else
        request.gpus = PICK(state, wholes);
    return request;
}

/* Sizes that leave something over of a GPU and of a node. */
static struct weir_request draw_awkward(uint64_t *state)
{
    static const double shares[] = { 0.34, 0.51, 0.67, 0.81, 0.34, 0.17, 0.26 };
    static const double cpus[] = { 3, 5, 7, 6, 9 };
    struct weir_request request = { .cpus = PICK(state, cpus) };
    const uint32_t kind = scaling_draw(state, 10);

    if (kind < 3)
        return request;
    request.cpus = kind % 2 != 0 ? PICK(state, cpus) : 1;
    request.gpus = kind < 8 ? PICK(state, shares) : 1;
    return request;
}

static void draw_stages(struct scaling_problem *problem, struct weir_request *requests,
                        uint64_t *state, uint32_t count, double decades)
{
    problem->stages = count;
    for (uint32_t i = 0; i < count; i++) {
        requests[i] = draw_request(state);
        problem->speeds_per_s[i] = pow(10, (scaling_unit(state) - 0.5) * decades);
        problem->fixed[i] = -1;
    }
}

/* ---- families ---- */

typedef void drawn(struct scaling_problem *problem, struct weir_request *requests, uint64_t *state);

static void draw_many(struct scaling_problem *problem, struct weir_request *requests,
                      uint64_t *state)
{
    draw_nodes(problem, state, 40);
    draw_stages(problem, requests, state, between(state, 20, 40), 2);
}

static void draw_codec(struct weir_request *request, uint64_t *state)
{
    const uint32_t kind = scaling_draw(state, 4);

    if (kind < 2)
        request->gpus = 0;
    if (kind == 0)
        request->nvdecs = between(state, 1, 2);
    if (kind == 1)
        request->nvencs = 1;
    if (kind == 2 && request->gpus > 0)
        request->nvdecs = 1;
    if (scaling_draw(state, 6) == 0 && request->gpus >= 1) {
        request->entire_gpu = true;
        request->nvdecs = request->nvencs = 0;
    }
}

static void draw_codecs(struct scaling_problem *problem, struct weir_request *requests,
                        uint64_t *state)
{
    draw_nodes(problem, state, 12);
    for (uint32_t t = 0; t < problem->types; t++) {
        problem->nodes[t].nvdecs = between(state, 1, 7);
        problem->nodes[t].nvencs = scaling_draw(state, 4);
    }
    problem->nodes[0].nvencs = between(state, 1, 3);
    draw_stages(problem, requests, state, between(state, 3, 8), 1.2);
    for (uint32_t i = 0; i < problem->stages; i++)
        draw_codec(&requests[i], state);
}

/* One stage or two in groups of one node or two. */
static void draw_groups(struct scaling_problem *problem, struct weir_request *requests,
                        uint64_t *state)
{
    problem->types = 1;
    problem->nodes[0] = draw_type(state, log_between(state, 4, 24));
    if (scaling_draw(state, 2) == 0) {
        problem->types = 2;
        problem->nodes[1] = (struct scaling_node_type){ .count = between(state, 1, 6),
                                                        .cpus = 64,
                                                        .ram_bytes = 1000 * GIB };
    }
    draw_stages(problem, requests, state, between(state, 2, 6), 1);
    for (uint32_t k = 0; k < 1 + scaling_draw(state, 2) && k < problem->stages; k++)
        requests[k] = (struct weir_request){ .cpus = 1,
                                             .spmd = true,
                                             .gpus = problem->nodes[0].gpus * between(state, 1, 2),
                                             .node_gpus = problem->nodes[0].gpus };
}

static void draw_fixed(struct scaling_problem *problem, struct weir_request *requests,
                       uint64_t *state)
{
    double gpus = 0;
    double cpus = 0;

    draw_nodes(problem, state, 20);
    draw_stages(problem, requests, state, between(state, 3, 9), 1.2);
    for (uint32_t t = 0; t < problem->types; t++) {
        gpus += problem->nodes[t].count * problem->nodes[t].gpus;
        cpus += problem->nodes[t].count * (double)problem->nodes[t].cpus;
    }
    for (uint32_t k = 0; k < between(state, 1, 3) && k + 1 < problem->stages; k++) {
        const double by_gpus = requests[k].gpus > 0 ? gpus / requests[k].gpus : HUGE_VAL;
        const double most = fmin(by_gpus, cpus / requests[k].cpus);
        problem->fixed[k] = (int32_t)fmax(1, most * 0.3 * scaling_unit(state));
    }
}

static void draw_memory(struct scaling_problem *problem, struct weir_request *requests,
                        uint64_t *state)
{
    static const int64_t rams[] = { 64, 128, 250, 333, 501 };
    static const int64_t gpu_mems[] = { 8, 24, 30, 41, 45, 60 };

    draw_nodes(problem, state, 8);
    for (uint32_t t = 0; t < problem->types; t++)
        problem->nodes[t].ram_bytes = (int64_t)between(state, 2, 8) * 256 * GIB;
    problem->nodes[1].gpu_mem_bytes = 40 * GIB;
    draw_stages(problem, requests, state, between(state, 2, 7), 1.2);
    for (uint32_t i = 0; i < problem->stages; i++) {
        if (scaling_draw(state, 2) == 0)
            requests[i].ram_bytes = PICK(state, rams) * GIB;
        if (requests[i].gpus > 0 && scaling_draw(state, 2) == 0)
            requests[i].gpu_mem_bytes = PICK(state, gpu_mems) * GIB;
    }
}

static void draw_typed(struct scaling_problem *problem, struct weir_request *requests,
                       uint64_t *state)
{
    problem->types = between(state, 2, 4);
    for (uint32_t t = 0; t < problem->types; t++) {
        problem->nodes[t] = draw_type(state, log_between(state, 1, 15));
        problem->nodes[t].gpu_type = t;
        if (t > 1 && scaling_draw(state, 2) == 0)
            problem->nodes[t].gpus = 0;
    }
    draw_stages(problem, requests, state, between(state, 2, 8), 1.2);
    for (uint32_t i = 0; i < problem->stages; i++) {
        if (requests[i].gpus > 0 && scaling_draw(state, 2) == 0)
            problem->shapes[i].gpu_type =
                scaling_draw(state, 3) != 0 ? 1 + scaling_draw(state, 2) : WEIR_GPU_TYPE_SET | 3;
        requests[i].gpus = fmin(requests[i].gpus, 4);
    }
}

static void draw_large(struct scaling_problem *problem, struct weir_request *requests,
                       uint64_t *state)
{
    problem->types = between(state, 1, 3);
    for (uint32_t t = 0; t < problem->types; t++)
        problem->nodes[t] = draw_type(state, between(state, 100, 300) / problem->types);
    if (problem->types > 1 && scaling_draw(state, 2) == 0)
        problem->nodes[1].gpus = 0;
    draw_stages(problem, requests, state, between(state, 3, 12), 1.5);
    if (scaling_draw(state, 2) != 0)
        return;
    for (uint32_t i = 0; i < problem->stages; i++)
        requests[i] = draw_awkward(state);
}

static void draw_tiny(struct scaling_problem *problem, struct weir_request *requests,
                      uint64_t *state)
{
    problem->types = between(state, 1, 2);
    for (uint32_t t = 0; t < problem->types; t++) {
        struct scaling_node_type *const type = &problem->nodes[t];
        *type = (struct scaling_node_type){ .nvdecs = 7,
                                            .ram_bytes = 256 * GIB,
                                            .gpu_mem_bytes = 80 * GIB };
        type->count = between(state, 1, 3);
        type->gpus = between(state, 1, 4);
        type->cpus = between(state, 8, 24);
    }
    draw_stages(problem, requests, state, between(state, 2, 5), 0.8);
    for (uint32_t i = 0; i < problem->stages; i++)
        if (scaling_draw(state, 3) != 0)
            requests[i] = draw_awkward(state);
        else
            requests[i].gpus = fmin(requests[i].gpus, 2);
}

/* The number keeps a family's problems as they are when another is added. */
static const struct {
    const char *name;
    drawn *draw;
    uint64_t number;
} FAMILIES[SCALING_FAMILIES] = {
    [SCALING_MANY] = { "many", draw_many, 2 },
    [SCALING_CODECS] = { "codecs", draw_codecs, 6 },
    [SCALING_GROUPS] = { "groups", draw_groups, 8 },
    [SCALING_FIXED] = { "fixed", draw_fixed, 9 },
    [SCALING_MEMORY] = { "memory", draw_memory, 10 },
    [SCALING_TYPED] = { "typed", draw_typed, 11 },
    [SCALING_LARGE] = { "large", draw_large, 14 },
    [SCALING_TINY] = { "tiny", draw_tiny, 16 },
};

const char *scaling_family_name(enum scaling_family family)
{
    return FAMILIES[family].name;
}

static bool make_shapes(struct scaling_problem *problem, struct weir_request *requests)
{
    for (uint32_t i = 0; i < problem->stages; i++) {
        const uint32_t gpu_type = problem->shapes[i].gpu_type;
        if (weir_shape_from_request(&requests[i], WEIR_QUANTUM_EXACT, &problem->shapes[i], NULL) !=
            WEIR_OK)
            return false;
        problem->shapes[i].gpu_type = gpu_type;
    }
    return true;
}

struct scaling_problem scaling_family_draw(enum scaling_family family, uint64_t seed)
{
    uint64_t state = seed * 1000003 + FAMILIES[family].number * UINT64_C(7777777777);

    for (;;) {
        struct scaling_problem problem = { .seed = seed };
        struct weir_request requests[SCALING_STAGES] = { 0 };
        FAMILIES[family].draw(&problem, requests, &state);
        if (make_shapes(&problem, requests) && scaling_bound(&problem) > 0)
            return problem;
    }
}
