/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "weir": the node that will lose least of its GPUs in the end, at the price of the room
 * that is taken there from jobs which can go nowhere else.
 *
 * Every node with room is asked how much GPU compute would stay idle on it if jobs went on arriving
 * (lookahead.h), as it is and with the job on it; the least growth wins. All nodes wait for the
 * same jobs: no more of a kind are expected than are to come (`supply`). Growths are compared in
 * steps, because finer differences are noise of the look-ahead. As far as jobs also end, the nodes
 * with least left are preferred: `consolidate` times the share of departures for each GPU that
 * stays free, so that some nodes become empty again; the less, the more jobs of one GPU find no
 * place, since they would fill them at once. Likewise what is left of GPUs in parts is lost to jobs
 * of whole ones (`broken`), and the fuller a GPU is, the better for a share (`tight`): what is on
 * few GPUs leaves whole ones when it ends. What is scarce costs extra (scarce.h). A loss that grows
 * less than not at all is one prevented: others who would waste the place are kept out. `prevent`
 * says how much of that counts. Among equals the
 * state of the node decides, never its place in the inventory: fewest free CPUs, then
 * GPUs, then memory. Nodes that are still equal are the same to every later decision.
 *
 * Grades are kept until the node changes; prices change with every decision and are added for the
 * nodes that could win. Removes the worker whose release makes its node lose least.
 */
#include "sched/internal/alloc.h"
#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/placement/parts/grade_search.h"
#include "sched/placement/parts/lookahead.h"
#include "sched/placement/parts/scan.h"
#include "sched/placement/parts/scarce.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"

#include <math.h>

#include <string.h>

enum {
    PARAM_LINES,
    PARAM_DEPTH,
    PARAM_STEP,
    PARAM_KEEP,
    PARAM_LARGE,
    PARAM_SUPPLY,
    PARAM_SCARCE,
    PARAM_CONSOLIDATE,
    PARAM_HORIZON,
    PARAM_PRIOR,
    PARAM_TURNOVER,
    PARAM_BEYOND,
    PARAM_CROWDED,
    PARAM_BROKEN,
    PARAM_TIGHT,
    PARAM_PREVENT,
    PARAM_COUNT
};

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_LINES] = WEIR_COUNT("lines", "", 1, 1024, 8,
                               "sequences of jobs that are offered to a node, drawn from the mix"),
    [PARAM_DEPTH] = WEIR_COUNT("depth", "", 1, 10000, 100, "jobs in a sequence"),
    [PARAM_STEP] = WEIR_NUMBER("step", "GPU", 0x1p-40, 8, 0.05,
                               "losses that round to the same number of steps are equal"),
    [PARAM_KEEP] =
        WEIR_NUMBER("keep", "", 0, 1000, 0.2, "weight of the room for jobs of several GPUs"),
    [PARAM_LARGE] = WEIR_NUMBER(
        "large", "", 0, 1, 0.03,
        "frequency with which jobs of 2, 4, 8 .. GPUs each are expected on top of the mix"),
    [PARAM_SUPPLY] = WEIR_NUMBER("supply", "", 0, 1000, 1.25,
                                 "jobs of a kind to expect for each that fills the free GPUs; 0 = "
                                 "as many as all nodes could take"),
    [PARAM_SCARCE] =
        WEIR_NUMBER("scarce", "", 0, 1000, 2,
                    "price, in GPUs, of a GPU that jobs which can go nowhere else will "
                    "miss for good; where jobs end as often as they begin it is 1, but for "
                    "types while others find a place"),
    [PARAM_CONSOLIDATE] =
        WEIR_NUMBER("consolidate", "", 0, 1000, 4,
                    "GPUs of loss that each GPU left free on a node counts for, when jobs end as "
                    "often as they begin and all ask for several GPUs"),
    [PARAM_HORIZON] = WEIR_NUMBER("horizon", "", 0, 1000, 0.25,
                                  "mean lives of a job for which room is kept, when jobs end"),
    [PARAM_PRIOR] = WEIR_COUNT("prior", "", 0, 1e9, 100,
                               "arrivals that the mix is worth against those that are seen"),
    [PARAM_TURNOVER] = WEIR_COUNT("turnover", "", 1, 10000, 2,
                                  "jobs in a sequence when jobs end as often as they begin: "
                                  "after so many the node is not as it was"),
    [PARAM_BEYOND] = WEIR_COUNT("beyond", "", 1, 10000, 12,
                                "jobs behind a sequence: what they could not use of a node is "
                                "lost in its end, when jobs end as often as they begin"),
    [PARAM_CROWDED] = WEIR_NUMBER("crowded", "", 0, 1, 0.1,
                                  "share of what jobs of one GPU ask for that finds no place, at "
                                  "which no node is kept empty for larger ones"),
    [PARAM_BROKEN] =
        WEIR_NUMBER("broken", "", 0, 1000, 1,
                    "GPUs of loss that what is left of a GPU in parts counts for, when "
                    "jobs end as often as they begin and all ask for whole ones"),
    [PARAM_TIGHT] =
        WEIR_NUMBER("tight", "", 0, 1000, 0.3,
                    "GPUs of loss that what is free on a GPU counts for against a share "
                    "that comes there, when jobs end as often as they begin"),
    [PARAM_PREVENT] =
        WEIR_NUMBER("prevent", "GPU", 0, 1000, 1000,
                    "most loss to come that a job counts as prevented where it takes a place "
                    "from others; with 0 more is placed before the cluster is full, less in "
                    "the end"),
};

/* ---- grades ---- */

static double free_gpus(const struct weir_outlook *node)
{
    double gpus = 0;

    for (uint32_t g = 0; g < node->gpu_count; g++)
        gpus += weir_units_amount(node->left[g]);
    return gpus;
}

/* Of equal nodes: smaller states are closer to 1. */
static double fullness(const struct weir_outlook *after, int64_t ram_free_bytes)
{
    const double free = weir_units_amount(after->cpu_free) + free_gpus(after) / 64 +
                        (double)ram_free_bytes / (1024.0 * 1024 * 1024 * 1024 * 64);
    return 1 / (1 + free / 8);
}

/* What is left of GPUs in parts: nothing for jobs of whole ones. */
static double broken_gpus(const struct weir_outlook *node)
{
    double gpus = 0;

    for (uint32_t g = 0; g < node->gpu_count; g++)
        gpus += node->left[g] < WEIR_ONE ? weir_units_amount(node->left[g]) : 0;
    return gpus;
}

/* A node before the job comes. */
struct before {
    double lost, broken;
};

static double gain_of(const struct weir_ahead_rules *rules, const struct before *before,
                      const struct weir_outlook *after)
{
    return fmin(before->lost - weir_lookahead_lost(rules->ahead, after), rules->prevent) -
           rules->broken * (broken_gpus(after) - before->broken) -
           rules->consolidate * free_gpus(after);
}

static double steps_of(const struct weir_ahead_rules *rules, const struct before *before,
                       const struct weir_outlook *after)
{
    return rint(gain_of(rules, before, after) / rules->step);
}

/* Whether an earlier GPU of the same state could host it: the same compute may be left on one that
 * lacks memory or engines. */
static bool is_tried(const struct weir_outlook *node, const struct weir_gpu *gpus, uint32_t gpu,
                     const struct weir_shape *shape)
{
    for (uint32_t g = 0; g < gpu; g++)
        if (node->left[g] == node->left[gpu] && node->types[g] == node->types[gpu] &&
            gpus[g].mig_state.held == gpus[gpu].mig_state.held &&
            gpus[g].mig_state.cut == gpus[gpu].mig_state.cut && weir_gpu_usable(&gpus[g], shape))
            return true;
    return false;
}

/* Of a GPU that is cut: the slot at which the node gains most; they differ by less than a step. */
static double try_instances(const struct weir_ahead_rules *rules, const struct weir_gpu *gpu,
                            const struct weir_shape *shape, struct weir_outlook *node,
                            uint32_t index, const struct before *before, uint32_t *mig)
{
    struct weir_slice_place places[WEIR_MIG_SLOTS];
    const uint32_t count = weir_slice_places(gpu, shape, false, places);
    double most = -(double)INFINITY;

    for (uint32_t i = 0; i < count; i++) {
        weir_outlook_give(node, index, places[i].profile, places[i].start, 1);
        const double gain = gain_of(rules, before, node);
        weir_outlook_give(node, index, places[i].profile, places[i].start, -1);
        if (!(gain > most))
            continue;
        most = gain;
        *mig = weir_device_instance(places[i].profile, places[i].start);
    }
    return most;
}

/* What a share on one GPU is worth, in steps; of an instance which one, too. */
static double try_gpu(const struct weir_ahead_rules *rules, const struct weir_grade_site *site,
                      struct weir_outlook *node, uint32_t index, const struct before *before,
                      uint32_t *mig)
{
    const struct weir_gpu *const gpu =
        &site->cluster->gpus[site->cluster->nodes[site->node].gpu_first + index];
    const int64_t left = node->left[index];
    double gain = 0;

    if (site->shape->kind == WEIR_SHAPE_SLICE) {
        gain = try_instances(rules, gpu, site->shape, node, index, before, mig);
    } else {
        node->left[index] -= site->shape->gpu_units;
        gain = gain_of(rules, before, node);
        node->left[index] = left;
    }
    return rint((gain - rules->tight * weir_units_amount(left)) / rules->step);
}

/* The best GPU for a share; of equals the tightest. */
static struct weir_grade grade_share(const struct weir_ahead_rules *rules,
                                     const struct weir_grade_site *site, struct weir_outlook *node,
                                     const struct before *before)
{
    const struct weir_gpu *const gpus =
        site->cluster->gpus + site->cluster->nodes[site->node].gpu_first;
    struct weir_grade best = { .value = -(double)INFINITY, .gpu = WEIR_NO_INDEX };

    for (uint32_t g = 0; g < node->gpu_count; g++) {
        uint32_t mig = 0;
        if (!weir_gpu_usable(&gpus[g], site->shape) || is_tried(node, gpus, g, site->shape))
            continue;
        const double value = try_gpu(rules, site, node, g, before, &mig);
        const bool is_equal = !(value < best.value) && !(value > best.value);
        if (value > best.value || (is_equal && node->left[g] < node->left[best.gpu]))
            best = (struct weir_grade){ .value = value, .gpu = g, .mig = mig };
    }
    return best;
}

static void take_whole(const struct weir_grade_site *site, struct weir_outlook *node)
{
    const struct weir_gpu *const gpus =
        site->cluster->gpus + site->cluster->nodes[site->node].gpu_first;
    uint32_t missing = site->shape->gpu_count;

    for (uint32_t g = 0; g < node->gpu_count && missing > 0; g++) {
        if (!weir_gpu_usable(&gpus[g], site->shape))
            continue;
        node->left[g] -= site->shape->gpu_units;
        missing--;
    }
}

struct weir_grade weir_ahead_grade(const void *rules_given, const struct weir_grade_site *site)
{
    const struct weir_ahead_rules *const rules = rules_given;
    struct weir_grade grade = { .gpu = WEIR_NO_INDEX };
    struct weir_outlook node;

    weir_outlook_load(site->cluster, site->node, &node);
    const struct before before = { weir_lookahead_lost(rules->ahead, &node), broken_gpus(&node) };
    node.cpu_free -= site->shape->cpu_units;
    if (weir_shape_is_share(site->shape)) {
        grade = grade_share(rules, site, &node, &before);
        node.left[grade.gpu] -= site->shape->gpu_units;
    } else {
        take_whole(site, &node);
        grade.value = steps_of(rules, &before, &node);
    }
    grade.value += 0.5 * fullness(&node, site->cluster->nodes[site->node].ram_free_bytes);
    return grade;
}

/* ---- the policy ---- */

struct policy {
    struct weir_allocator allocator;
    struct weir_ahead_rules rules;
    struct weir_grades *grades;
    struct weir_scarce *scarce;
    double consolidate;     /* once as many jobs end as begin, and all are large */
    double broken;          /* likewise, and all are of whole GPUs */
    double tight;           /* once as many jobs end as begin */
    double depth, turnover; /* while none end, and then */
    uint64_t round;         /* of the look-ahead, that the grades are of */
};

static void destroy(void *state)
{
    struct policy *const policy = state;

    weir_lookahead_destroy(policy->rules.ahead);
    weir_grades_destroy(policy->grades);
    weir_scarce_destroy(policy->scarce);
    weir_made_destroy(state);
}

static weir_status make_parts(struct policy *policy, const double *values)
{
    const struct weir_allocator *const memory = &policy->allocator;
    const struct weir_lookahead_rules rules = { .lines = (uint32_t)values[PARAM_LINES],
                                                .depth = (uint32_t)values[PARAM_DEPTH],
                                                .beyond = (uint32_t)values[PARAM_BEYOND],
                                                .keep = values[PARAM_KEEP],
                                                .large = values[PARAM_LARGE],
                                                .supply = values[PARAM_SUPPLY] };
    const struct weir_scarce_rules scarce = { .price = values[PARAM_SCARCE],
                                              .prior = values[PARAM_PRIOR],
                                              .horizon = values[PARAM_HORIZON],
                                              .crowded = values[PARAM_CROWDED] };

    WEIR_TRY(weir_lookahead_create(&rules, memory, &policy->rules.ahead));
    WEIR_TRY(weir_scarce_create(&scarce, memory, &policy->scarce));
    return weir_grades_create(memory, &policy->grades);
}

static const struct weir_made made = WEIR_MADE_BARE(struct policy);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    double values[PARAM_COUNT];

    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct policy *const policy = *state;
    weir_params_read(params, PARAM_COUNT, given, values);
    policy->rules.step = values[PARAM_STEP];
    policy->consolidate = values[PARAM_CONSOLIDATE];
    policy->broken = values[PARAM_BROKEN];
    policy->tight = values[PARAM_TIGHT];
    policy->rules.prevent = values[PARAM_PREVENT];
    policy->depth = values[PARAM_DEPTH];
    policy->turnover = fmin(values[PARAM_TURNOVER], values[PARAM_DEPTH]);
    return weir_made_end(make_parts(policy, values), destroy, state, error);
}

/* Grades depend on the share of departures and of large jobs too: when these change all are
 * forgotten. The more jobs end, the fewer a node is offered before it is another one. */
static weir_status follow_departures(struct policy *policy, const struct weir_cluster *cluster)
{
    struct weir_lookahead *const ahead = policy->rules.ahead;
    const double departures = weir_scarce_departures(policy->scarce);
    const double consolidate = policy->consolidate * departures *
                               weir_scarce_large(policy->scarce) *
                               weir_scarce_slack(policy->scarce);
    const double broken =
        departures > 0 ? policy->broken * departures * weir_lookahead_whole(ahead) : 0;
    const double depth = policy->depth + departures * (policy->turnover - policy->depth);

    weir_lookahead_set_depth(ahead, (uint32_t)depth);
    WEIR_TRY(weir_lookahead_share(ahead, cluster, departures));
    if (!(consolidate < policy->rules.consolidate) && !(consolidate > policy->rules.consolidate) &&
        !(broken < policy->rules.broken) && !(broken > policy->rules.broken) &&
        policy->round == weir_lookahead_round(ahead))
        return WEIR_OK;
    struct weir_grades *grades = NULL;
    WEIR_TRY(weir_grades_create(&policy->allocator, &grades));
    weir_grades_destroy(policy->grades);
    policy->grades = grades;
    policy->rules.consolidate = consolidate;
    policy->rules.broken = broken;
    policy->rules.tight = policy->tight * departures;
    policy->round = weir_lookahead_round(ahead);
    return WEIR_OK;
}

static weir_status follow(struct policy *policy, const struct weir_place_query *query)
{
    WEIR_TRY(weir_lookahead_follow(policy->rules.ahead, query->mix));
    WEIR_TRY(weir_scarce_follow(policy->scarce, query));
    weir_scarce_reserve(policy->scarce, policy->rules.ahead);
    return follow_departures(policy, query->cluster);
}

/* The grade of a node less the price of what is taken there, in whole steps. */
static double priced(const struct policy *policy, const struct weir_place_query *query,
                     uint32_t node, const struct weir_kept_grade *kept)
{
    const struct weir_grade_site site = {
        .cluster = query->cluster, .shape = query->shape, .mix = query->mix, .node = node
    };

    return kept->value -
           rint(weir_scarce_cost(policy->scarce, &site, kept->gpu) / policy->rules.step);
}

/* Prices only make worse: of a node that neither wins nor comes second without one, none is asked
 * for. */
static void weigh(const struct policy *policy, struct weir_grade_search *search, uint32_t node,
                  const struct weir_kept_grade *kept)
{
    const struct weir_place_query *const query = search->query;
    struct weir_grade grade = {
        .value = kept->value, .tie = kept->tie, .gpu = kept->gpu, .mig = kept->mig
    };

    if (isinf(kept->value)) {
        weir_grade_search_reject(search, kept->gpu);
    } else if (query->cluster->nodes[node].ram_free_bytes < query->shape->ram_bytes) {
        weir_grade_search_reject(search, WEIR_REASON_RAM);
    } else {
        if (grade.value >= search->tally.second.value)
            grade.value = priced(policy, query, node, kept);
        weir_grade_search_weigh(search, node, grade);
    }
}

static weir_status choose(void *state, const struct weir_place_query *query,
                          struct weir_place_answer *answer, struct weir_error *error)
{
    struct policy *const policy = state;
    const struct weir_grader grader = { .grade = weir_ahead_grade,
                                        .rules = &policy->rules,
                                        .uses_mix = true };

    if (follow(policy, query) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "placement weir: out of memory");
    if (!weir_scarce_is_dear(policy->scarce))
        return weir_grades_place(policy->grades, &grader, query, answer, error);
    const struct weir_kept_grade *const all = weir_grades_all(policy->grades, &grader, query);
    struct weir_grade_search search = weir_grade_search_begin(&grader, query);
    if (all == NULL)
        return weir_fail(error, WEIR_ENOMEM, "placement weir: out of memory");
    for (uint32_t n = 0; n < query->cluster->node_count; n++)
        weigh(policy, &search, n, &all[n]);
    return weir_grade_search_end(&search, answer, error);
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    const weir_status status = choose(state, query, answer, error);

    weir_scarce_note_answer(((struct policy *)state)->scarce, query, status == WEIR_OK);
    return status;
}

/* By how many steps a node loses more when it takes `held` back. */
static double release_steps(const struct policy *policy, const struct weir_cluster *cluster,
                            const struct weir_alloc *held)
{
    struct weir_outlook node;

    weir_outlook_load(cluster, held->node, &node);
    const struct before before = { weir_lookahead_lost(policy->rules.ahead, &node),
                                   broken_gpus(&node) };
    node.cpu_free += held->cpu_units;
    for (uint32_t d = 0; d < held->device_count; d++) {
        const struct weir_device *const device = &held->devices[d];
        if (device->mig != 0)
            weir_outlook_give(&node, device->gpu, weir_device_profile(device),
                              weir_device_start(device), -1);
        else
            node.left[device->gpu] += device->units;
    }
    return -steps_of(&policy->rules, &before, &node);
}

static weir_status evict(void *state, const struct weir_evict_query *query, uint64_t *worker,
                         struct weir_error *error)
{
    const struct policy *const policy = state;
    const uint32_t count = weir_evict_count(query);
    double least = (double)INFINITY;

    if (weir_lookahead_follow(policy->rules.ahead, query->mix) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "placement weir: out of memory");
    for (uint32_t i = 0; i < count; i++) {
        struct weir_worker candidate;
        const uint64_t id = weir_evict_candidate(query, i);
        if (!weir_cluster_worker(query->cluster, id, &candidate))
            return weir_fail(error, WEIR_ENOTFOUND, "there is no worker %llu",
                             (unsigned long long)id);
        const double steps = release_steps(policy, query->cluster, &candidate.alloc);
        if (steps > least)
            continue;
        least = steps; /* of equal ones the youngest */
        *worker = id;
    }
    return count == 0 ? weir_evict_nobody(query, error) : WEIR_OK;
}

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    const struct policy *const policy = state;
    const uint32_t own = weir_lookahead_save(policy->rules.ahead, numbers, capacity);

    return own + (capacity < own ? weir_scarce_save(policy->scarce, NULL, 0)
                                 : weir_scarce_save(policy->scarce, numbers + own, capacity - own));
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    const struct policy *const policy = state;
    uint32_t own = 0;
    const weir_status status = weir_lookahead_restore(policy->rules.ahead, numbers, count, &own);

    (void)view;
    if (status != WEIR_OK)
        return weir_fail(error, status, "%u numbers are not what this policy remembers", count);
    return weir_scarce_restore(policy->scarce, numbers + own, count - own, error);
}

const struct weir_placement_ops weir_placement_weir = {
    .size = sizeof weir_placement_weir,
    .abi = WEIR_ABI_MAJOR,
    .name = "weir",
    .summary = "least GPU compute idle in the end, and room kept for jobs that are hard to place",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .place = place,
    .evict = evict,
    .save = save,
    .restore = restore,
};
