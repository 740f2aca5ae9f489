/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A template for policies of your own: one placement and one scaling policy as a loadable module.
 *
 * Copy this file, rename things, and build it against the public headers alone:
 *
 *     cc -std=c17 -shared -fPIC -I include mine.c -o mine.so
 *
 * The program that loads it provides libweir. Rules that every policy keeps: no state outside of
 * what `create` makes, no pointers into a view or a cluster after the call, time and randomness
 * only from the view and the query. A plan that breaks the view's capacities is rejected whole.
 * Queueing policies (which waiting job is next: weir/job.h) go into .queueings of the module at the
 * end; docs/policy-howto.md has one.
 */
#include "weir/policy.h"

#include <math.h>

/* ---- placement: where one worker goes ------------------------------------------------------- */

/*
 * `score` is called once for every place that fits; the smallest score wins, ties go to the first.
 * This one fills the node that has the fewest free CPUs, weighted by a parameter.
 */
enum { PARAM_CPU_WEIGHT, PLACEMENT_PARAM_COUNT };

static const struct weir_param placement_params[] = {
    [PARAM_CPU_WEIGHT] = { .name = "cpu_weight",
                           .unit = "",
                           .kind = WEIR_PARAM_NUMBER,
                           .min = 0,
                           .max = 1000,
                           .initial = 1,
                           .help = "how much a free CPU counts beside a free GPU" },
};

/* The state holds the parameters; it comes from the allocator that `create` is given. */
struct fullest_first {
    struct weir_allocator allocator;
    double cpu_weight;
};

static weir_status fullest_first_create(const struct weir_params *params,
                                        const struct weir_allocator *allocator, void **state,
                                        struct weir_error *error)
{
    struct fullest_first *const made = allocator->resize(allocator->state, NULL, sizeof *made);

    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->allocator = *allocator;
    made->cpu_weight = params->values[PARAM_CPU_WEIGHT];
    *state = made;
    return WEIR_OK;
}

static void fullest_first_destroy(void *state)
{
    struct fullest_first *const policy = state;
    const struct weir_allocator allocator = policy->allocator;

    (void)allocator.resize(allocator.state, policy, 0); /* size 0 frees */
}

static struct weir_score fullest_first_score(void *state, const struct weir_place_query *query,
                                             const struct weir_alloc *candidate)
{
    const struct fullest_first *const policy = state;
    const struct weir_node *const node = weir_cluster_node(query->cluster, candidate->node);
    double free_gpus = 0;

    for (uint32_t i = 0; i < node->gpu_count; i++)
        free_gpus +=
            weir_units_amount(weir_cluster_gpu(query->cluster, candidate->node, i)->units_free);
    return (struct weir_score){
        .primary = free_gpus + policy->cpu_weight * weir_units_amount(node->cpu_free),
        .secondary = 0, /* asked only when `primary` is equal; NAN would mean "never here" */
    };
}

static const struct weir_placement_ops fullest_first = {
    .size = sizeof(struct weir_placement_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "template_fullest_first",
    .summary = "template: the fullest node that fits",
    .params = placement_params,
    .param_count = PLACEMENT_PARAM_COUNT,
    .create = fullest_first_create,
    .destroy = fullest_first_destroy,
    .score = fullest_first_score,
    /* .place and .evict are NULL: a scan with `score`, and the youngest worker goes first. */
};

/* ---- scaling: how many workers each pool gets ----------------------------------------------- */

/*
 * One worker more for the pool with the longest queue per worker, one fewer for a pool whose
 * queue is empty and that has idle workers. The placer finds the places and writes the plan.
 */
static weir_status grow_to_minimum(const struct weir_view *view, struct weir_placer *placer,
                                   struct weir_error *error)
{
    for (uint32_t i = 0; i < view->pool_count; i++) {
        const int32_t requested = weir_view_pool(view, i)->requested_workers;
        const uint32_t wanted = requested >= 0 ? (uint32_t)requested : 1;
        while (weir_placer_workers(placer, i) < wanted) {
            const weir_status status = weir_placer_start(placer, i, error);
            if (status == WEIR_EBUSY)
                break; /* full: next time, perhaps; the placer keeps the reason */
            if (status != WEIR_OK)
                return status;
        }
    }
    return WEIR_OK;
}

static uint32_t longest_queue(const struct weir_view *view, const struct weir_placer *placer)
{
    uint32_t longest = WEIR_NO_INDEX;
    double most = 0;

    for (uint32_t i = 0; i < view->pool_count; i++) {
        const struct weir_pool_view *const pool = weir_view_pool(view, i);
        const double queue = (double)pool->queued_items / fmax(weir_placer_workers(placer, i), 1);
        if (pool->requested_workers < 0 && queue > most) {
            longest = i;
            most = queue;
        }
    }
    return longest;
}

static weir_status queue_chaser_decide(void *state, const struct weir_view *view,
                                       struct weir_placer *placer, struct weir_plan *plan,
                                       struct weir_error *error)
{
    (void)state; /* stateless: no create, no destroy */
    (void)plan;  /* written through the placer */
    for (uint32_t i = 0; i < view->pool_count; i++) {
        const struct weir_pool_view *const pool = weir_view_pool(view, i);
        if (pool->requested_workers < 0 && pool->queued_items == 0 && pool->workers > 1 &&
            pool->busy < pool->ready)
            WEIR_TRY(weir_placer_stop(placer, i, error));
    }
    WEIR_TRY(grow_to_minimum(view, placer, error));
    const uint32_t pool = longest_queue(view, placer);
    if (pool == WEIR_NO_INDEX)
        return WEIR_OK;
    const weir_status status = weir_placer_start(placer, pool, error);
    return status == WEIR_EBUSY ? WEIR_OK : status;
}

static const struct weir_scaling_ops queue_chaser = {
    .size = sizeof(struct weir_scaling_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "template_queue_chaser",
    .summary = "template: one more for the longest queue, one fewer where nothing waits",
    .decide = queue_chaser_decide,
    /* .measured, .outcome and .adopt are NULL: the host keeps speeds and inventory. */
};

/* ---- the module: the one exported symbol ------------------------------------------------------
 */

static const struct weir_placement_ops *const placements[] = { &fullest_first, NULL };
static const struct weir_scaling_ops *const scalings[] = { &queue_chaser, NULL };

static const struct weir_module module = {
    .size = sizeof(struct weir_module),
    .abi_major = WEIR_ABI_MAJOR,
    .abi_minor = WEIR_ABI_MINOR,
    .name = "template",
    .version = "1",
    .licence = "Apache-2.0",
    .placements = placements,
    .scalings = scalings,
};

WEIR_API const struct weir_module *weir_policy_module_v1(void);

const struct weir_module *weir_policy_module_v1(void)
{
    return &module;
}
