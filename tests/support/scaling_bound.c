/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What no scaling policy can exceed: the largest rate z for which fractions of nodes, each filled
 * in a way that one node can be filled, hold x_i(z) = ceil(z / c_i) workers of each stage
 * (Gilmore and Gomory, Operations Research 9, 1961; one set of columns a node type).
 *
 * For given counts x the programme is max lambda: sum_p n_ip y_p >= lambda x_i, sum of y over a
 * type
 * <= its nodes. Its dual is min sum_t N_t m_t over prices v >= 0 with sum x_i v_i = 1 and, for
 * every way to fill a node of type t, sum n_i v_i <= m_t. Ways are found as they are needed: the
 * most valuable one under the prices is a knapsack, exact for CPUs in whole numbers and shares in
 * steps of 1/20; of codecs only that they are on nodes with GPUs (so it stays a bound). lambda < 1
 * says that x does not fit; any prices show it as soon as sum N_t (best way of t) < 1.
 */
#include "sched/internal/alloc.h"
#include "sched/solve/program.h"
#include "tests/support/scaling_problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CPUS = 256, MOST_GPUS = 8, STEPS = 20, MOST_WAYS = 400, BISECTIONS = 24 };

struct way {
    uint32_t type;
    double workers[SCALING_STAGES];
};

struct knapsack {
    const struct scaling_problem *problem;
    const double *value;
    uint32_t cpus[SCALING_STAGES], share[SCALING_STAGES], gpus[SCALING_STAGES];
    /* Best value with g GPUs that are in use and c CPUs, and how it was reached. */
    double share_value[STEPS + 1][MOST_CPUS + 1];
    int share_choice[STEPS + 1][MOST_CPUS + 1];
    double best[MOST_GPUS + 1][MOST_CPUS + 1];
    int choice[MOST_GPUS + 1][MOST_CPUS + 1], split[MOST_GPUS + 1][MOST_CPUS + 1];
    double cpu_value[MOST_CPUS + 1];
    int cpu_choice[MOST_CPUS + 1];
};

enum { NOTHING = -1, SHARES = -2 };

static void describe(struct knapsack *sack, const struct scaling_problem *problem)
{
    sack->problem = problem;
    for (uint32_t i = 0; i < problem->stages; i++) {
        const struct weir_shape *const shape = &problem->shapes[i];
        sack->cpus[i] = (uint32_t)(shape->cpu_units / WEIR_ONE);
        sack->gpus[i] = shape->gpu_units == WEIR_ONE ? shape->gpu_count : 0;
        sack->share[i] = shape->gpu_units > 0 && shape->gpu_units < WEIR_ONE
                             ? (uint32_t)lround((double)shape->gpu_units * STEPS / WEIR_ONE)
                             : 0;
    }
}

/* One GPU's shares, and CPU stages: unbounded knapsacks. */
static void fill_small(struct knapsack *sack, uint32_t cpus, bool has_gpus)
{
    for (uint32_t c = 0; c <= cpus; c++) {
        sack->cpu_value[c] = 0;
        sack->cpu_choice[c] = NOTHING;
        for (uint32_t s = 0; s <= STEPS; s++) {
            sack->share_value[s][c] = 0;
            sack->share_choice[s][c] = NOTHING;
        }
        for (uint32_t i = 0; i < sack->problem->stages; i++) {
            if (sack->cpus[i] > c || (sack->problem->shapes[i].nvdecs > 0 && !has_gpus))
                continue;
            const uint32_t left = c - sack->cpus[i];
            if (sack->gpus[i] == 0 && sack->share[i] == 0 &&
                sack->cpu_value[left] + sack->value[i] > sack->cpu_value[c]) {
                sack->cpu_value[c] = sack->cpu_value[left] + sack->value[i];
                sack->cpu_choice[c] = (int)i;
            }
            for (uint32_t s = sack->share[i]; sack->share[i] > 0 && s <= STEPS; s++) {
                const double value = sack->share_value[s - sack->share[i]][left] + sack->value[i];
                if (value > sack->share_value[s][c]) {
                    sack->share_value[s][c] = value;
                    sack->share_choice[s][c] = (int)i;
                }
            }
        }
    }
}

static void fill_gpus(struct knapsack *sack, uint32_t gpus, uint32_t cpus)
{
    memset(sack->best[0], 0, sizeof sack->best[0]);
    for (uint32_t g = 1; g <= gpus; g++) {
        for (uint32_t c = 0; c <= cpus; c++) {
            sack->best[g][c] = sack->best[g - 1][c];
            sack->choice[g][c] = NOTHING;
            for (uint32_t i = 0; i < sack->problem->stages; i++) {
                if (sack->gpus[i] == 0 || sack->gpus[i] > g || sack->cpus[i] > c)
                    continue;
                const double value =
                    sack->best[g - sack->gpus[i]][c - sack->cpus[i]] + sack->value[i];
                if (value > sack->best[g][c]) {
                    sack->best[g][c] = value;
                    sack->choice[g][c] = (int)i;
                }
            }
            for (uint32_t k = 1; k <= c; k++) {
                const double value = sack->best[g - 1][c - k] + sack->share_value[STEPS][k];
                if (value > sack->best[g][c]) {
                    sack->best[g][c] = value;
                    sack->choice[g][c] = SHARES;
                    sack->split[g][c] = (int)k;
                }
            }
        }
    }
}

static void read_gpus(const struct knapsack *sack, uint32_t gpus, uint32_t cpus, struct way *way)
{
    uint32_t g = gpus;
    uint32_t c = cpus;

    while (g > 0) {
        const int choice = sack->choice[g][c];
        if (choice == NOTHING) {
            g--;
        } else if (choice == SHARES) {
            uint32_t left = (uint32_t)sack->split[g][c];
            uint32_t s = STEPS;
            c -= left;
            g--;
            while (sack->share_choice[s][left] != NOTHING) {
                const int i = sack->share_choice[s][left];
                way->workers[i]++;
                s -= sack->share[i];
                left -= sack->cpus[i];
            }
        } else {
            way->workers[choice]++;
            g -= sack->gpus[choice];
            c -= sack->cpus[choice];
        }
    }
}

/* The most valuable way to fill a node. */
static double fill_node(struct knapsack *sack, uint32_t type, struct way *way)
{
    const struct scaling_node_type *const node = &sack->problem->nodes[type];
    const uint32_t cpus = (uint32_t)node->cpus;
    double most = -1;
    uint32_t split = 0;

    *way = (struct way){ .type = type };
    fill_small(sack, cpus, node->gpus > 0);
    fill_gpus(sack, node->gpus, cpus);
    for (uint32_t c = 0; c <= cpus; c++) {
        if (sack->best[node->gpus][c] + sack->cpu_value[cpus - c] > most) {
            most = sack->best[node->gpus][c] + sack->cpu_value[cpus - c];
            split = c;
        }
    }
    read_gpus(sack, node->gpus, split, way);
    for (uint32_t c = cpus - split; sack->cpu_choice[c] != NOTHING;) {
        const int i = sack->cpu_choice[c];
        way->workers[i]++;
        c -= sack->cpus[i];
    }
    return most;
}

/* Prices v and m for the ways so far; what they say of lambda. */
static double price(struct weir_program *program, const struct scaling_problem *problem,
                    const double *counts, const struct way *ways, uint32_t way_count)
{
    double most = 0;

    if (weir_program_begin(program, way_count + 1, problem->stages + problem->types) != WEIR_OK)
        abort();
    for (uint32_t p = 0; p < way_count; p++) {
        for (uint32_t i = 0; i < problem->stages; i++)
            *weir_program_at(program, p, i) = ways[p].workers[i];
        *weir_program_at(program, p, problem->stages + ways[p].type) = -1;
    }
    for (uint32_t i = 0; i < problem->stages; i++)
        *weir_program_at(program, way_count, i) = -counts[i];
    *weir_program_bound(program, way_count) = -1;
    for (uint32_t t = 0; t < problem->types; t++)
        *weir_program_goal(program, problem->stages + t) = -(double)problem->nodes[t].count;
    if (weir_program_solve(program, &most) != WEIR_OK)
        return (double)NAN;
    return -most;
}

/* Whether the counts pass. Unsure = yes: it stays a bound. */
static bool passes(const struct scaling_problem *problem, const double *counts)
{
    static struct way ways[MOST_WAYS];
    static struct knapsack sack;
    struct weir_program program;
    uint32_t way_count = 0;
    bool fits = true;

    describe(&sack, problem);
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    weir_program_open(&program, &memory);
    for (bool is_new = true; is_new && way_count + SCALING_NODE_TYPES <= MOST_WAYS;) {
        const double lambda = price(&program, problem, counts, ways, way_count);
        double most = 0;
        if (isnan(lambda) || lambda >= 1)
            break;
        is_new = false;
        sack.value = program.x;
        for (uint32_t t = 0; t < problem->types; t++) {
            const double best = fill_node(&sack, t, &ways[way_count]);
            most += best * problem->nodes[t].count;
            if (best > program.x[problem->stages + t] + 1e-9) {
                way_count++;
                is_new = true;
            }
        }
        fits = !(most < 1 - 1e-9);
        if (!fits)
            break;
    }
    weir_program_close(&program);
    return fits;
}

double scaling_bound(const struct scaling_problem *problem)
{
    double low = 0;
    double high = scaling_pool_bound(problem);
    double counts[SCALING_STAGES];

    for (uint32_t i = 0; i < BISECTIONS && high - low > 1e-5 * high; i++) {
        const double z_per_s = i == 0 ? high : low + (high - low) / 2;
        for (uint32_t k = 0; k < problem->stages; k++)
            counts[k] = fmax(1, ceil(z_per_s / problem->speeds_per_s[k] - 1e-9));
        if (passes(problem, counts))
            low = z_per_s;
        else
            high = z_per_s;
    }
    return high;
}
