/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "weighted": the node with the largest weighted sum of the grades of other policies,
 * as plug-ins of the Kubernetes scheduler are combined (FGD 500 and power 500: Lettich et al.,
 * CCGrid 2025). Every part has its defaults; fgd counts as for jobs.
 *
 * Each part is first brought to 0 .. `steps` as its authors do: fgd, dot_product, alignment,
 * gpu_packing and gpu_clustering as they are; best_fit and power stretched so that the worst node
 * with room has 0 and the best has all (when all are equal: best_fit 0, power all). Fgd hardly
 * leaves the middle of the scale, so equal weights are not equal influence.
 *
 * A share goes to the GPU that the part with the largest weight names.
 */
#include "sched/placement/fgd.h"
#include "sched/placement/parts/grade_search.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"
#include "sched/internal/made.h"
#include "sched/internal/params.h"

#include <math.h>

enum { PART_FGD, PART_POWER, PART_BEST_FIT, PART_DOT, PART_ALIGNMENT, PART_PACKING, PARTS = 7 };
enum { PARAM_STEPS = PARTS, PARAM_TIE, PARAM_ORDER, PARAM_CPU_POWER, PARAM_COUNT };
enum { VALUES_MOST = 16 }; /* parameters of one part */

#define WEIGHT(policy, weight)                                                                     \
    WEIR_NUMBER(policy, "", 0, 1e6, weight, "weight of the score of " policy)

static const struct weir_param params[PARAM_COUNT] = {
    [PART_FGD] = WEIGHT("fgd", 500),
    [PART_POWER] = WEIGHT("power", 500),
    [PART_BEST_FIT] = WEIGHT("best_fit", 0),
    [PART_DOT] = WEIGHT("dot_product", 0),
    [PART_ALIGNMENT] = WEIGHT("alignment", 0),
    [PART_PACKING] = WEIGHT("gpu_packing", 0),
    [PARTS - 1] = WEIGHT("gpu_clustering", 0),
    [PARAM_STEPS] = WEIR_GRADE_STEPS_PARAM("of each part: ", 100),
    [PARAM_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [PARAM_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
    [PARAM_CPU_POWER] =
        WEIR_CHOICE("cpu_power", "off|on", 1, 1, "power: whether CPU sockets count"),
};

enum stretch { STRETCH_NOT, STRETCH_EQUAL_IS_NONE, STRETCH_EQUAL_IS_ALL };

static const struct {
    const struct weir_graded_kind *kind; /* NULL = fgd */
    enum stretch stretch;
} rules_of_parts[PARTS] = {
    [PART_FGD] = { NULL, STRETCH_NOT },
    [PART_POWER] = { &weir_graded_kinds[WEIR_GRADED_POWER], STRETCH_EQUAL_IS_ALL },
    [PART_BEST_FIT] = { &weir_graded_kinds[WEIR_GRADED_BEST_FIT], STRETCH_EQUAL_IS_NONE },
    [PART_DOT] = { &weir_graded_kinds[WEIR_GRADED_DOT_PRODUCT], STRETCH_NOT },
    [PART_ALIGNMENT] = { &weir_graded_kinds[WEIR_GRADED_ALIGNMENT], STRETCH_NOT },
    [PART_PACKING] = { &weir_graded_kinds[WEIR_GRADED_GPU_PACKING], STRETCH_NOT },
    [PARTS - 1] = { &weir_graded_kinds[WEIR_GRADED_GPU_CLUSTERING], STRETCH_NOT },
};

/* One score with a weight above 0. */
struct part {
    double weight;
    enum stretch stretch;
    struct weir_grades *grades;
    struct weir_grader grader;
    double values[VALUES_MOST];
    /* During one question: */
    const struct weir_kept_grade *all;
    double least, most;
};

struct weighted {
    struct weir_allocator allocator;
    struct weir_fgd_rules fgd;
    double steps;
    uint32_t count;
    uint32_t heaviest; /* whose GPU is taken */
    struct part parts[PARTS];
};

static void destroy(void *state)
{
    struct weighted *const weighted = state;

    for (uint32_t i = 0; i < weighted->count; i++)
        weir_grades_destroy(weighted->parts[i].grades);
    weir_made_destroy(state);
}

/* Grades of a part between 0 and `steps`, or whole watts; in full precision when there are none. */
static struct weir_grader grader_of(const struct weighted *weighted, struct part *part,
                                    uint32_t which, const double *values)
{
    const struct weir_graded_kind *const kind = rules_of_parts[which].kind;
    struct weir_grader grader = weir_fgd_grader(&weighted->fgd);

    if (kind != NULL) {
        weir_params_read(kind->params, kind->count, NULL, part->values);
        if (which == PART_POWER)
            part->values[0] = values[PARAM_CPU_POWER];
        grader = weir_graded_grader(kind, part->values);
        if (which != PART_POWER || !(weighted->steps > 0))
            grader.steps = weighted->steps;
    }
    grader.tie = (uint32_t)values[PARAM_TIE];
    grader.order_seed = (uint64_t)values[PARAM_ORDER];
    return grader;
}

static weir_status add_part(struct weighted *weighted, uint32_t which, const double *values)
{
    struct part *const part = &weighted->parts[weighted->count];

    if (!(values[which] > 0))
        return WEIR_OK;
    WEIR_TRY(weir_grades_create(&weighted->allocator, &part->grades));
    part->weight = values[which];
    part->stretch = rules_of_parts[which].stretch;
    part->grader = grader_of(weighted, part, which, values);
    if (part->weight > weighted->parts[weighted->heaviest].weight)
        weighted->heaviest = weighted->count;
    weighted->count++;
    return WEIR_OK;
}

static weir_status add_parts(struct weighted *weighted, const double *values,
                             struct weir_error *error)
{
    weighted->steps = values[PARAM_STEPS];
    weighted->fgd = (struct weir_fgd_rules){ .metric = WEIR_FRAG_PAPER,
                                             .tie = WEIR_FGD_FIRST,
                                             .score = WEIR_FGD_SCORE_GRADE,
                                             .steps = values[PARAM_STEPS] };
    for (uint32_t which = 0; which < PARTS; which++) {
        WEIR_TRY(add_part(weighted, which, values));
    }
    if (weighted->count == 0)
        return weir_fail(error, WEIR_EINVAL, "at least one weight must be above 0");
    return WEIR_OK;
}

static const struct weir_made made = WEIR_MADE_BARE(struct weighted);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    double values[PARAM_COUNT];

    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    weir_params_read(params, PARAM_COUNT, given, values);
    return weir_made_end(add_parts(*state, values, error), destroy, state, error);
}

/* ---- one question ---- */

/* Why the node has no room (enum weir_reason). */
static uint32_t refusal(const struct weighted *weighted, const struct weir_place_query *query,
                        uint32_t node)
{
    const struct weir_kept_grade *const kept = &weighted->parts[0].all[node];

    if (isinf(kept->value))
        return kept->gpu;
    return query->cluster->nodes[node].ram_free_bytes < query->shape->ram_bytes ? WEIR_REASON_RAM
                                                                                : WEIR_REASON_NONE;
}

/* Brings all parts up to date and finds the range of each over the nodes that have room. */
static weir_status survey(struct weighted *weighted, const struct weir_place_query *query)
{
    for (uint32_t i = 0; i < weighted->count; i++) {
        struct part *const part = &weighted->parts[i];
        part->all = weir_grades_all(part->grades, &part->grader, query);
        part->least = (double)INFINITY;
        part->most = -(double)INFINITY;
        if (part->all == NULL)
            return WEIR_ENOMEM;
        for (uint32_t n = 0; n < query->cluster->node_count; n++) {
            if (refusal(weighted, query, n) != WEIR_REASON_NONE)
                continue;
            part->least = fmin(part->least, part->all[n].value);
            part->most = fmax(part->most, part->all[n].value);
        }
    }
    return WEIR_OK;
}

static double scaled(const struct part *part, uint32_t node, double steps)
{
    const double value = part->all[node].value;
    const double range = part->most - part->least;
    const double all = steps > 0 ? steps : 1;

    if (part->stretch == STRETCH_NOT)
        return value;
    if (!(range > 0))
        return part->stretch == STRETCH_EQUAL_IS_ALL ? all : 0;
    const double stretched = all * (value - part->least) / range;
    return steps > 0 ? trunc(stretched) : stretched;
}

/* Sums of fractions lie on a grid, so that rounding noise never decides. */
static struct weir_grade sum_of(const struct weighted *weighted, uint32_t node)
{
    double sum = 0;

    for (uint32_t i = 0; i < weighted->count; i++) {
        const struct part *const part = &weighted->parts[i];
        sum += part->weight * scaled(part, node, weighted->steps);
    }
    return (struct weir_grade){ .value = rint(sum * 0x1p20) * 0x1p-20,
                                .tie = weighted->parts[0].all[node].tie,
                                .gpu = weighted->parts[weighted->heaviest].all[node].gpu };
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    struct weighted *const weighted = state;
    struct weir_grade_search search = weir_grade_search_begin(&weighted->parts[0].grader, query);

    if (survey(weighted, query) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t n = 0; n < query->cluster->node_count; n++) {
        const uint32_t reason = refusal(weighted, query, n);
        if (reason == WEIR_REASON_NONE)
            weir_grade_search_weigh(&search, n, sum_of(weighted, n));
        else
            weir_grade_search_reject(&search, reason);
    }
    return weir_grade_search_end(&search, answer, error);
}

const struct weir_placement_ops weir_placement_weighted = {
    .size = sizeof weir_placement_weighted,
    .abi = WEIR_ABI_MAJOR,
    .name = "weighted",
    .summary = "the node with the largest weighted sum of scores: fgd, power, best_fit and others",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .place = place,
};
