/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/scaling_problems.h"

#include "sched/scaling/optimum.h"
#include "tests/support/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = (*state ^ (*state >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

uint32_t scaling_draw(uint64_t *state, uint32_t below)
{
    return (uint32_t)(next(state) % below);
}

double scaling_unit(uint64_t *state)
{
    return (double)(next(state) >> 11) / 9007199254740992.0;
}

/* ---- problems ---- */

static struct weir_request draw_request(uint64_t *state)
{
    static const double shares[] = { 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6 };
    static const double wholes[] = { 1, 1, 1, 1, 2, 4 };
    struct weir_request request = { .cpus = 1 + scaling_draw(state, 4) };
    const uint32_t kind = scaling_draw(state, 10);

    if (kind < 4)
        request.cpus = 1 + scaling_draw(state, 8);
    else if (kind < 7)
        request.gpus = shares[scaling_draw(state, 7)];
    else
        request.gpus = wholes[scaling_draw(state, 6)];
    if (kind == 3)
        request.nvdecs = 1 + scaling_draw(state, 2);
    return request;
}

static struct scaling_node_type draw_type(uint64_t *state, uint32_t count)
{
    static const uint32_t gpus[] = { 4, 8, 8, 8 };
    static const int64_t cpus[] = { 32, 64, 96, 128, 240 };

    return (struct scaling_node_type){ .count = count,
                                       .gpus = gpus[scaling_draw(state, 4)],
                                       .nvdecs = 7,
                                       .cpus = cpus[scaling_draw(state, 5)] };
}

static void draw_once(struct scaling_problem *problem, uint64_t *state)
{
    *problem = (struct scaling_problem){ .types = scaling_draw(state, 3) == 0 ? 2 : 1 };
    const uint32_t nodes = 1 + (uint32_t)pow(50, scaling_unit(state)) % 50;

    problem->stages = 4 + scaling_draw(state, 11);
    problem->nodes[0] = draw_type(state, nodes);
    if (problem->types == 2) {
        problem->nodes[1] = draw_type(state, 1 + scaling_draw(state, nodes));
        if (scaling_draw(state, 2) == 0)
            problem->nodes[1].gpus = 0;
    }
    for (uint32_t i = 0; i < problem->stages; i++) {
        const struct weir_request request = draw_request(state);
        problem->fixed[i] = -1;
        (void)weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &problem->shapes[i], NULL);
        problem->speeds_per_s[i] =
            1 /
            exp(1.5 * (scaling_unit(state) + scaling_unit(state) + scaling_unit(state) - 1.5) + 1);
    }
}

struct scaling_problem scaling_problem_draw(uint64_t seed)
{
    uint64_t state = seed * 1000003;

    for (;;) {
        struct scaling_problem problem;
        draw_once(&problem, &state);
        problem.seed = seed;
        struct weir_host *const host = scaling_host(&problem, "pool_optimum", "best_fit");
        struct scaling_pass pass;
        const bool fits =
            host != NULL && scaling_decide(host, &pass) && scaling_throughput(host, &problem) > 0;
        weir_host_destroy(host);
        if (fits)
            return problem;
    }
}

/* ---- in libweir ---- */

static bool add_nodes(struct weir_host *host, const struct scaling_problem *problem)
{
    uint64_t id = 0;

    for (uint32_t t = 0; t < problem->types; t++) {
        const struct scaling_node_type *const type = &problem->nodes[t];
        struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
        for (uint32_t g = 0; g < type->gpus; g++)
            gpus[g] = (struct weir_gpu_spec){ .units = WEIR_ONE,
                                              .nvdecs = type->nvdecs,
                                              .nvencs = type->nvencs,
                                              .type = type->gpu_type,
                                              .mem_bytes = type->gpu_mem_bytes };
        for (uint32_t n = 0; n < type->count; n++) {
            const struct weir_node_spec spec = { .size = sizeof spec,
                                                 .type = t,
                                                 .id = id++,
                                                 .gpu_count = type->gpus,
                                                 .cpu_units = type->cpus * WEIR_ONE,
                                                 .ram_bytes = type->ram_bytes,
                                                 .gpus = gpus };
            if (weir_host_add_node(host, &spec, NULL, NULL) != WEIR_OK)
                return false;
        }
    }
    return true;
}

struct weir_host *scaling_host(const struct scaling_problem *problem, const char *scaling,
                               const char *placement)
{
    const struct weir_host_config config = { .size = sizeof config,
                                             .placement = weir_placement_find(placement),
                                             .scaling = weir_scaling_find(scaling) };
    struct weir_host *host = NULL;

    if (weir_host_create(&config, &host, NULL) != WEIR_OK || !add_nodes(host, problem)) {
        weir_host_destroy(host);
        return NULL;
    }
    for (uint32_t i = 0; i < problem->stages; i++) {
        char name[16];
        const struct weir_pool_spec pool = { .size = sizeof pool,
                                             .name = name,
                                             .shape = problem->shapes[i],
                                             .requested_workers = problem->fixed[i],
                                             .batch_size = 1,
                                             .slots = 2,
                                             .speed_hint_per_s = (double)NAN };
        (void)snprintf(name, sizeof name, "s%u", i);
        (void)weir_host_add_pool(host, &pool, NULL, NULL);
    }
    scaling_set_speeds(host, problem, 1);
    return host;
}

void scaling_set_speeds(struct weir_host *host, const struct scaling_problem *problem, double most)
{
    uint64_t state = problem->seed + 77;

    for (uint32_t i = 0; i < problem->stages; i++) {
        const double factor = pow(most, 2 * scaling_unit(&state) - 1);
        const struct weir_estimate estimate = { .batches_per_s = factor * problem->speeds_per_s[i],
                                                .returns_per_batch = 1,
                                                .points = 5 };
        (void)weir_host_set_estimate(host, i, estimate);
    }
}

/* The same GPUs; engines of one are alike. */
static bool is_same_place(const struct weir_alloc *a, const struct weir_alloc *b)
{
    uint32_t d = 0;

    if (a->node != b->node || a->device_count != b->device_count)
        return false;
    while (d < a->device_count && a->devices[d].gpu == b->devices[d].gpu &&
           a->devices[d].mig == b->devices[d].mig)
        d++;
    return d > 0 && d == a->device_count;
}

/* Workers without devices: as many of a stage stopped and started on a node are replaced. */
static bool is_replaced(const struct weir_host *host, const struct weir_plan *plan, uint32_t start)
{
    const struct weir_action *const made = weir_plan_action(plan, start);
    struct weir_worker worker;

    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb != WEIR_VERB_STOP || action->owner.index != made->owner.index ||
            !weir_cluster_worker(weir_host_cluster(host), action->worker, &worker))
            continue;
        if (is_same_place(&worker.alloc, &made->alloc) ||
            (made->alloc.device_count == 0 && worker.alloc.node == made->alloc.node))
            return true;
    }
    return false;
}

static void carry_out(struct weir_host *host, const struct weir_plan *plan)
{
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        const struct weir_outcome outcome = { .size = sizeof outcome,
                                              .kind = action->verb == WEIR_VERB_START
                                                          ? WEIR_OUTCOME_STARTED
                                                          : WEIR_OUTCOME_STOPPED,
                                              .owner = action->owner,
                                              .worker = action->worker };
        if (action->verb == WEIR_VERB_START || action->verb == WEIR_VERB_STOP)
            (void)weir_host_outcome(host, &outcome, &action->alloc, NULL);
    }
}

bool scaling_decide(struct weir_host *host, struct scaling_pass *pass)
{
    const struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_TIMER };
    const struct weir_plan *plan = NULL;
    struct weir_error error = { 0 };

    *pass = (struct scaling_pass){ 0 };
    const double begin_s = test_cpu_s();
    const weir_status status = weir_host_decide(host, &call, &plan, &error);
    const double end_s = test_cpu_s();
    if (status != WEIR_OK) {
        (void)printf("%s: %s\n", weir_status_text(status), error.text);
        return false;
    }
    pass->cpu_s = end_s - begin_s;
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const uint32_t verb = weir_plan_action(plan, i)->verb;
        pass->started += verb == WEIR_VERB_START;
        pass->stopped += verb == WEIR_VERB_STOP;
        pass->replaced += verb == WEIR_VERB_START && is_replaced(host, plan, i);
    }
    carry_out(host, plan);
    return true;
}

uint32_t scaling_workers(const struct weir_host *host, const struct scaling_problem *problem,
                         uint32_t stage)
{
    return weir_cluster_pool_workers(weir_host_cluster(host), stage) /
           weir_shape_members(&problem->shapes[stage]);
}

bool scaling_is_short(const struct weir_host *host, const struct scaling_problem *problem)
{
    for (uint32_t i = 0; i < problem->stages; i++) {
        const int32_t least = problem->fixed[i] >= 0 ? problem->fixed[i] : 1;
        if ((int32_t)scaling_workers(host, problem, i) < least)
            return true;
    }
    return false;
}

double scaling_throughput(const struct weir_host *host, const struct scaling_problem *problem)
{
    double least = (double)INFINITY;

    for (uint32_t i = 0; i < problem->stages; i++)
        if (problem->fixed[i] < 0)
            least = fmin(least, scaling_workers(host, problem, i) * problem->speeds_per_s[i]);
    return least;
}

static struct weir_amounts total_of(const struct scaling_problem *problem)
{
    struct weir_amounts total = { 0 };

    for (uint32_t t = 0; t < problem->types; t++) {
        const struct scaling_node_type *const type = &problem->nodes[t];
        const int64_t gpus = (int64_t)type->count * type->gpus;
        total.cpu_units += type->count * type->cpus * WEIR_ONE;
        total.ram_bytes += type->count * type->ram_bytes;
        total.gpu_units += gpus * WEIR_ONE;
        total.gpu_mem_bytes += gpus * type->gpu_mem_bytes;
        total.nvdecs += gpus * type->nvdecs;
        total.nvencs += gpus * type->nvencs;
    }
    return total;
}

double scaling_wanted(const struct scaling_problem *problem, uint32_t stage, double z_per_s)
{
    return problem->fixed[stage] >= 0
               ? problem->fixed[stage]
               : fmax(1, ceil(z_per_s / problem->speeds_per_s[stage] - 1e-9));
}

static bool pool_holds(const struct scaling_problem *problem, double z_per_s)
{
    const struct weir_amounts total = total_of(problem);
    struct weir_amounts sum = { 0 };

    for (uint32_t i = 0; i < problem->stages; i++) {
        const struct weir_amounts need = weir_shape_amounts(&problem->shapes[i], 0, 0);
        weir_amounts_add(&sum, &need, (int64_t)scaling_wanted(problem, i, z_per_s));
    }
    return weir_amounts_fit(&sum, &total);
}

/* Not that of sched/scaling/optimum.h, which gives a little of it away to be more even. */
double scaling_pool_bound(const struct scaling_problem *problem)
{
    double low = 0;
    double high = 1;

    if (!pool_holds(problem, 0))
        return 0;
    while (pool_holds(problem, high))
        high *= 2;
    while (high - low > 1e-10 * high) {
        const double z_per_s = low + (high - low) / 2;
        *(pool_holds(problem, z_per_s) ? &low : &high) = z_per_s;
    }
    return high;
}
