/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graded policies: one row a policy with its name, summary, parameters and grade. How a node is
 * found, ties, steps, device and order of nodes are the same for all of them (grades.h); all remove
 * the youngest worker.
 *
 * best_fit and worst_fit have a second measure, and it is their default: what a place leaves as
 * shares of its GPUs, then of its node (leftover.h), asked of every place. first_fit without rules
 * of its own stops at the first place it meets.
 */
#include "sched/internal/params.h"
#include "sched/placement/parts/grade_rules.h"
#include "sched/placement/parts/kept_scan.h"
#include "sched/placement/parts/leftover.h"
#include "sched/placement/parts/rooms.h"
#include "sched/placement/parts/scan.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"

/* ---- parameters ---- */

static const struct weir_param best_fit_params[BEST_FIT_COUNT] = {
    [BEST_FIT_MEASURE] = WEIR_LEFTOVER_MEASURE_PARAM,
    [BEST_FIT_CPU_SCALE] = WEIR_GRADE_CPU_SCALE_PARAM("amounts: "),
    [BEST_FIT_GPU_SCALE] = WEIR_GRADE_GPU_SCALE_PARAM("amounts: "),
    [BEST_FIT_STEPS] = WEIR_GRADE_STEPS_PARAM("amounts: ", 100),
    [BEST_FIT_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [BEST_FIT_TIE] = WEIR_GRADE_TIE_PARAM("amounts: "),
    [BEST_FIT_ORDER] = WEIR_GRADE_ORDER_PARAM("amounts: "),
};

static const struct weir_param worst_fit_params[WORST_FIT_COUNT] = {
    [WORST_FIT_MEASURE] = WEIR_LEFTOVER_MEASURE_PARAM,
    [WORST_FIT_CPU_SCALE] = WEIR_GRADE_CPU_SCALE_PARAM("amounts: "),
    [WORST_FIT_GPU_SCALE] = WEIR_GRADE_GPU_SCALE_PARAM("amounts: "),
    [WORST_FIT_STEPS] = WEIR_GRADE_STEPS_PARAM("amounts: ", 100),
    [WORST_FIT_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_LOOSEST),
    [WORST_FIT_TIE] = WEIR_GRADE_TIE_PARAM("amounts: "),
    [WORST_FIT_ORDER] = WEIR_GRADE_ORDER_PARAM("amounts: "),
};

static const struct weir_param first_fit_params[FIRST_FIT_COUNT] = {
    [FIRST_FIT_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_LOWEST),
    [FIRST_FIT_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [FIRST_FIT_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
    [FIRST_FIT_SLOTS] = WEIR_CHOICE("slots", "low|high", 1, 0,
                                    "where a MIG instance begins on its GPU: at the lowest or at "
                                    "the highest slot that is free"),
};

static const struct weir_param dot_product_params[DOT_PRODUCT_COUNT] = {
    [DOT_PRODUCT_CPU_SCALE] = WEIR_GRADE_CPU_SCALE_PARAM(""),
    [DOT_PRODUCT_GPU_SCALE] = WEIR_GRADE_GPU_SCALE_PARAM(""),
    [DOT_PRODUCT_STEPS] = WEIR_GRADE_STEPS_PARAM("", 100),
    [DOT_PRODUCT_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [DOT_PRODUCT_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [DOT_PRODUCT_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
};

static const struct weir_param gpu_packing_params[GPU_PACKING_COUNT] = {
    [GPU_PACKING_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [GPU_PACKING_STEPS] = WEIR_GRADE_STEPS_PARAM("", 100),
    [GPU_PACKING_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [GPU_PACKING_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
};

static const struct weir_param gpu_clustering_params[GPU_CLUSTERING_COUNT] = {
    [GPU_CLUSTERING_GPU_SCALE] = WEIR_COUNT("gpu_scale", "GPU", 1, WEIR_MAX_NODE_GPUS, 8,
                                            "GPUs of a node that counts as empty"),
    [GPU_CLUSTERING_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [GPU_CLUSTERING_STEPS] = WEIR_GRADE_STEPS_PARAM("", 100),
    [GPU_CLUSTERING_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [GPU_CLUSTERING_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
};

static const struct weir_param alignment_params[ALIGNMENT_COUNT] = {
    [ALIGNMENT_SCALE] =
        WEIR_CHOICE("scale", "node|common", 1, ALIGNMENT_NODE,
                    "amounts are shares of what the node has, or of a scale common to all nodes"),
    [ALIGNMENT_CPU_SCALE] = WEIR_GRADE_CPU_SCALE_PARAM("common: "),
    [ALIGNMENT_GPU_SCALE] = WEIR_GRADE_GPU_SCALE_PARAM("common: "),
    [ALIGNMENT_RAM_SCALE] =
        WEIR_NUMBER("memory_scale", "GiB", 1e-3, 1e9, 1024, "common: memory that counts as 1"),
    [ALIGNMENT_STEPS] = WEIR_GRADE_STEPS_PARAM("", 100),
    [ALIGNMENT_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [ALIGNMENT_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [ALIGNMENT_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
};

#define WATTS(param_name, watts, text) WEIR_NUMBER(param_name, "W", 0, 1e5, watts, text)

static const struct weir_param power_params[POWER_COUNT] = {
    [POWER_CPU_POWER] = WEIR_CHOICE("cpu_power", "off|on", 1, 1, "whether CPU sockets count"),
    [POWER_SOCKET_CORES] =
        WEIR_COUNT("socket_cores", "", 1, 1024, 24, "cores of one CPU socket; a core is two CPUs"),
    [POWER_SOCKET_IDLE] = WATTS("socket_idle", 20, "power of a CPU socket without work"),
    [POWER_SOCKET_FULL] = WATTS("socket_full", 165, "power of a CPU socket with work"),
    [POWER_GPU_IDLE] = WATTS("gpu_idle", 25, "power of a GPU without work whose type says nothing"),
    [POWER_GPU_FULL] = WATTS("gpu_full", 250, "power of a GPU with work whose type says nothing"),
    [POWER_STEPS] = WEIR_GRADE_STEPS_PARAM("steps a watt: ", 1),
    [POWER_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [POWER_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [POWER_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
};

/* ---- measures of their own ---- */

static struct weir_score least_left(void *state, const struct weir_place_query *query,
                                    const struct weir_alloc *candidate)
{
    (void)state; /* not looked at */
    return weir_leftover(query->cluster, candidate);
}

static struct weir_score most_left(void *state, const struct weir_place_query *query,
                                   const struct weir_alloc *candidate)
{
    const struct weir_score left = weir_leftover(query->cluster, candidate);

    (void)state; /* not looked at */
    return (struct weir_score){ .primary = -left.primary, .secondary = -left.secondary };
}

static bool take_first(void *state, const struct weir_alloc *candidate)
{
    struct weir_alloc *const alloc = state;

    weir_place_copy(alloc, candidate);
    return false;
}

static bool has_rules(const double *values)
{
    return values[FIRST_FIT_DEVICE] < WEIR_GRADE_LOWEST || values[FIRST_FIT_TIE] > WEIR_TIE_FIRST ||
           values[FIRST_FIT_ORDER] > 0;
}

static weir_status place_first(const double *values, const struct weir_place_query *query,
                               struct weir_place_answer *answer, struct weir_error *error)
{
    struct weir_choice *const choice = &answer->choice;
    const bool low_slots = !(values[FIRST_FIT_SLOTS] > 0);

    weir_answer_begin(answer);
    for (uint32_t r = 0; r < query->reusable_count; r++) {
        const struct weir_alloc *const alloc = &query->reusable[r].alloc;
        if (!weir_cluster_fits(query->cluster, alloc))
            continue;
        answer->reused = r;
        choice->candidates = choice->ties = 1;
        (void)take_first(&answer->alloc, alloc);
        return WEIR_OK;
    }
    struct weir_candidate_query candidates = {
        .cluster = query->cluster, .shape = query->shape, .low_slots = low_slots, .asked = query
    };
    struct weir_room_walk walk = weir_rooms_begin(query->cluster, query->shape);
    do {
        candidates.node = weir_rooms_next(&walk, choice);
        if (candidates.node == WEIR_NO_INDEX)
            return weir_scan_busy(choice, error);
    } while (weir_candidates_visit(&candidates, take_first, &answer->alloc) == 0);
    choice->candidates = choice->ties = 1;
    return WEIR_OK;
}

/* ---- the table ---- */

/* Policy, its name, steps and what counts as all of them, whether grades depend on the memory asked
 * for, whether on who is there, the score of a place (NULL = none), summary. Every policy has TIE
 * and ORDER. */
#define GRADED_POLICIES(ROW)                                                                       \
    ROW(BEST_FIT, best_fit, BEST_FIT_STEPS, 1, false, false, least_left,                           \
        "the place that leaves the smallest share free, on its GPUs, then on its node")            \
    ROW(WORST_FIT, worst_fit, WORST_FIT_STEPS, 1, false, false, most_left,                         \
        "the place that leaves the largest share free, on its GPUs, then on its node")             \
    ROW(FIRST_FIT, first_fit, WEIR_NO_INDEX, 1, false, false, NULL,                                \
        "the first place that fits, nodes and GPUs in order")                                      \
    ROW(DOT_PRODUCT, dot_product, DOT_PRODUCT_STEPS, 1, false, false, NULL,                        \
        "the node whose free CPUs and GPUs are least aligned with the request")                    \
    ROW(GPU_PACKING, gpu_packing, GPU_PACKING_STEPS, 100, false, false, NULL,                      \
        "GPUs in use first, then free GPUs of nodes in use, an empty node last")                   \
    ROW(GPU_CLUSTERING, gpu_clustering, GPU_CLUSTERING_STEPS, 100, false, true, NULL,              \
        "work of one kind together: shares of GPUs, or the same number of whole GPUs")             \
    ROW(ALIGNMENT, alignment, ALIGNMENT_STEPS, 1, true, false, NULL,                               \
        "the node whose free CPUs, GPUs and memory are most aligned with the request")             \
    ROW(POWER, power, POWER_STEPS, 1, false, false, NULL,                                          \
        "the node whose power grows least: GPUs and CPU sockets in use first")

#define KIND_ROW(policy, lower, steps_place, all, needs_ram, needs_workers, score_of, text)        \
    [WEIR_GRADED_##policy] = { .params = lower##_params,                                           \
                               .count = policy##_COUNT,                                            \
                               .steps = (steps_place),                                             \
                               .tie = policy##_TIE,                                                \
                               .order_seed = policy##_ORDER,                                       \
                               .grade = weir_grade_##lower,                                        \
                               .full = (all),                                                      \
                               .uses_ram = (needs_ram),                                            \
                               .uses_workers = (needs_workers) },

const struct weir_graded_kind weir_graded_kinds[WEIR_GRADED_COUNT] = { GRADED_POLICIES(KIND_ROW) };

/* ---- descriptors ---- */

/* Whether the parameters leave the policy its own measure. */
static bool is_plain(const struct weir_graded_kind *kind, const double *values)
{
    if (kind == &weir_graded_kinds[WEIR_GRADED_FIRST_FIT])
        return !has_rules(values);
    return (kind == &weir_graded_kinds[WEIR_GRADED_BEST_FIT] ||
            kind == &weir_graded_kinds[WEIR_GRADED_WORST_FIT]) &&
           !(values[BEST_FIT_MEASURE] > WEIR_LEFTOVER_SHARES);
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    const struct weir_graded_kind *const kind = weir_graded_kind_of(state);
    const double *const values = weir_graded_values(state);

    if (!is_plain(kind, values))
        return weir_graded_place(state, query, answer, error);
    if (kind == &weir_graded_kinds[WEIR_GRADED_FIRST_FIT])
        return place_first(values, query, answer, error);
    const struct weir_scan scan = { .score = kind == &weir_graded_kinds[WEIR_GRADED_BEST_FIT]
                                                 ? least_left
                                                 : most_left,
                                    .mode = WEIR_CANDIDATES_DISTINCT };
    return weir_kept_scan_place(weir_graded_grades(state), &scan, false, query, answer, error);
}

#define CREATE_ROW(policy, lower, steps_place, all, needs_ram, needs_workers, score_of, text)      \
    static weir_status create_##lower(const struct weir_params *given,                             \
                                      const struct weir_allocator *allocator, void **state,        \
                                      struct weir_error *error)                                    \
    {                                                                                              \
        return weir_graded_create(&weir_graded_kinds[WEIR_GRADED_##policy], given, allocator,      \
                                  state, error);                                                   \
    }

GRADED_POLICIES(CREATE_ROW)

#define POLICY_ROW(policy, lower, steps_place, all, needs_ram, needs_workers, score_of, text)      \
    [WEIR_GRADED_##policy] = { .size = sizeof(struct weir_placement_ops),                          \
                               .abi = WEIR_ABI_MAJOR,                                              \
                               .name = #lower,                                                     \
                               .summary = (text),                                                  \
                               .params = lower##_params,                                           \
                               .param_count = policy##_COUNT,                                      \
                               .flags = WEIR_PLACEMENT_REPEATS,                                    \
                               .create = create_##lower,                                           \
                               .destroy = weir_graded_destroy,                                     \
                               .score = (score_of),                                                \
                               .place = place },

const struct weir_placement_ops weir_placement_graded[WEIR_GRADED_COUNT] = { GRADED_POLICIES(
    POLICY_ROW) };
