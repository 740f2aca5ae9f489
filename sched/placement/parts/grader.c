/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One node's grade: what graders look at, cutting to steps, and the value that decides ties; see
 * grades.h.
 */
#include "sched/placement/parts/frag_state.h"
#include "sched/placement/parts/grades.h"

#include "sched/cluster/state.h"

#include <math.h>

int64_t weir_grade_gpu_free(const struct weir_grade_site *site)
{
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    int64_t sum = 0;

    for (uint32_t g = 0; g < node->gpu_count; g++)
        sum += site->cluster->gpus[node->gpu_first + g].units_free;
    return sum;
}

int64_t weir_grade_gpu_request(const struct weir_shape *shape)
{
    return shape->gpu_units * (int64_t)shape->gpu_count;
}

double weir_grade_left(const struct weir_grade_site *site, double cpu_scale, double gpu_scale)
{
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const double cpus = weir_units_amount(node->cpu_free - site->shape->cpu_units);
    const double gpus =
        weir_units_amount(weir_grade_gpu_free(site) - weir_grade_gpu_request(site->shape));

    return 0.5 * (cpus / cpu_scale) + 0.5 * (gpus / gpu_scale);
}

uint32_t weir_grade_pick_gpu(const struct weir_grade_site *site, double device)
{
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const uint32_t choice = (uint32_t)device;
    const int64_t sign = choice == WEIR_GRADE_LOOSEST ? -1 : 1;
    uint32_t best = WEIR_NO_INDEX;
    int64_t least = INT64_MAX;

    for (uint32_t g = 0; g < node->gpu_count; g++) {
        const struct weir_gpu *const gpu = &site->cluster->gpus[node->gpu_first + g];
        const int64_t rank = choice == WEIR_GRADE_LOWEST ? 0 : sign * gpu->units_free;
        if (rank >= least || !weir_gpu_usable(gpu, site->shape))
            continue;
        best = g;
        least = rank;
    }
    return best;
}

double weir_grade_cut(double value, double steps, double full)
{
    return steps > 0 ? trunc(steps * value / full) : value;
}

static double free_share(const struct weir_grade_site *site)
{
    const double free = (double)weir_stock_free(site->cluster, site->node);
    const double total = (double)weir_stock_total(site->cluster, site->node);

    return total > 0 ? free / total : 0;
}

/* On a fine grid, so that rounding noise never decides. */
static double frag_of(const struct weir_grade_site *site)
{
    return rint(weir_frag_node(site->cluster, site->node, site->mix, WEIR_FRAG_PAPER) * 0x1p30);
}

static double tie_value(uint32_t tie, const struct weir_grade_site *site)
{
    const struct weir_node *const node = &site->cluster->nodes[site->node];

    switch ((enum weir_tie)tie) {
    case WEIR_TIE_BEST_FIT:
        return -weir_grade_left(site, 128, 8);
    case WEIR_TIE_MOST_USED:
        return -free_share(site);
    case WEIR_TIE_MOST_FREE:
        return free_share(site);
    case WEIR_TIE_LEAST_GPUS:
        return -(double)weir_grade_gpu_free(site);
    case WEIR_TIE_LEAST_CPUS:
        return -(double)node->cpu_free;
    case WEIR_TIE_MOST_CPUS:
        return (double)node->cpu_free;
    case WEIR_TIE_LEAST_FRAG:
        return -frag_of(site);
    case WEIR_TIE_FIRST:
    case WEIR_TIE_RANDOM:
    case WEIR_TIE_COUNT:
        return 0;
    }
    return 0;
}

struct weir_grade weir_grader_ask(const struct weir_grader *grader,
                                  const struct weir_grade_site *site)
{
    struct weir_grade grade = grader->grade(grader->rules, site);

    grade.value = weir_grade_cut(grade.value, grader->steps, grader->full);
    if (!grader->tells_ties)
        grade.tie = tie_value(grader->tie, site);
    return grade;
}
