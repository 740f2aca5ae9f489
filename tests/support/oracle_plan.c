/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See oracle_plan.h. */
#include "tests/support/oracle_plan.h"

#include "tests/support/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ACTIONS = 8,
    MOST_WORKERS = 5,
    MOST_HELD = MOST_WORKERS + MOST_ACTIONS,
    STAGES = 7,
    JOBS = 3
};
enum { FIRST_NEW = 100, NOW_NS = 50, TRIES = 24 };

static const struct weir_request requests[STAGES] = {
    { .cpus = 1, .ram_bytes = 2 },
    { .cpus = 1, .gpus = 0.5, .gpu_mem_bytes = 3 },
    { .cpus = 0.5, .nvdecs = 1, .codec_same_gpu = true },
    { .cpus = 1, .nvdecs = 2, .nvencs = 1 },
    { .gpus = 1, .nvdecs = 1 },
    { .cpus = 2, .gpus = 2 },
    { .gpus = 1, .entire_gpu = true },
};
/* By stage: asks for a label; may borrow; asks for a label that few nodes have. */
static const uint32_t labels[STAGES] = { 0, 1, WEIR_LABEL_KEPT, 0, 2, 0, 0 };

/* ---- drawing ---- */

static uint32_t draw(struct draws *draws, uint32_t below)
{
    return (uint32_t)draws_below(draws, below);
}

static weir_status draw_nodes(struct draws *draws, struct weir_host *host)
{
    static const uint32_t kinds[] = { 1, 3, 3, 3, 1 | WEIR_LABEL_KEPT, 2 | WEIR_LABEL_KEPT, 0 };
    const uint32_t count = 1 + draw(draws, 2);

    for (uint64_t id = 0; id < count; id++) {
        struct weir_gpu_spec gpus[3];
        const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                             .id = 10 + id,
                                             .gpu_count = 1 + draw(draws, 3),
                                             .gpus = gpus,
                                             .cpu_units = WEIR_ONE * (4 + draw(draws, 4)),
                                             .ram_bytes = 4 + draw(draws, 10),
                                             .topology.labels = kinds[draw(draws, 7)] };
        for (uint32_t i = 0; i < 3; i++)
            gpus[i] = (struct weir_gpu_spec){ .units = WEIR_ONE,
                                              .nvdecs = 2 - draw(draws, 5) / 4,
                                              .nvencs = 2 - draw(draws, 5) / 4,
                                              .mem_bytes = 2 + draw(draws, 8) };
        WEIR_TRY(weir_host_add_node(host, &node, NULL, NULL));
    }
    return WEIR_OK;
}

static weir_status add_stages(struct weir_host *host)
{
    for (uint32_t i = 0; i < STAGES; i++) {
        const char name[] = { (char)('a' + i), '\0' };
        struct weir_pool_spec stage = { .size = sizeof(struct weir_pool_spec),
                                        .name = name,
                                        .requested_workers = -1,
                                        .batch_size = 1,
                                        .slots = 2,
                                        .speed_hint_per_s = (double)NAN };
        WEIR_TRY(weir_shape_from_request(&requests[i], WEIR_QUANTUM_EXACT, &stage.shape, NULL));
        stage.shape.labels = labels[i];
        WEIR_TRY(weir_host_add_pool(host, &stage, NULL, NULL));
    }
    return WEIR_OK;
}

/* Jobs that wait: the number of one is that of its ranks, and they ask for what stage 0 or 1 asks.
 */
static weir_status add_jobs(struct weir_host *host)
{
    WEIR_TRY(weir_host_add_workload(host, "w", NULL, NULL));
    for (uint32_t id = 1; id <= JOBS; id++) {
        struct weir_rank_group group = { .ranks = id, .ranks_min = id, .ranks_max = id };
        const struct weir_job_spec spec = { .size = sizeof spec,
                                            .id = id,
                                            .groups = &group,
                                            .group_count = 1,
                                            .deadline_ns = WEIR_UNKNOWN_TIME };
        WEIR_TRY(
            weir_shape_from_request(&requests[id % 2], WEIR_QUANTUM_EXACT, &group.shape, NULL));
        group.shape.labels = labels[id % 2];
        const weir_status status = weir_host_submit(host, &spec, NULL);
        if (status != WEIR_OK && status != WEIR_EINFEASIBLE)
            return status;
    }
    return WEIR_OK;
}

static int64_t draw_slip(struct draws *draws)
{
    return draws_one_in(draws, 40) ? (int64_t)draw(draws, 3) - 1 : 0;
}

/* Mostly as many of two engines as are needed. */
static uint32_t draw_mask(struct draws *draws, uint32_t needed)
{
    if (needed == 1)
        return UINT32_C(1) << draw(draws, 2);
    return draws_one_in(draws, 10) ? draw(draws, 8) : needed == 0 ? 0 : 3;
}

/* What a shape needs, now and then a little more, less or negative, on places that mostly exist. */
static struct weir_alloc draw_alloc(struct draws *draws, const struct weir_view *view,
                                    uint32_t stage)
{
    const struct weir_shape *const shape = &view->pools[stage % STAGES].shape;
    const uint32_t devices =
        shape->kind == WEIR_SHAPE_CODEC ? 1 + draw(draws, 2) : shape->gpu_count;
    struct weir_alloc alloc = { .node = draw(draws, draws_one_in(draws, 30) ? 4 : 2),
                                .device_count = draws_one_in(draws, 40) ? 17 : devices,
                                .cpu_units = shape->cpu_units + draw_slip(draws),
                                .ram_bytes = shape->ram_bytes + draw_slip(draws) };
    uint32_t gpu = draw(draws, 3);

    for (uint32_t i = 0; i < devices; i++) {
        alloc.devices[i] =
            (struct weir_device){ .gpu = gpu,
                                  .units = shape->gpu_units + draw_slip(draws),
                                  .nvdec_mask = draw_mask(draws, shape->nvdecs),
                                  .nvenc_mask = draw_mask(draws, shape->nvencs),
                                  .mem_bytes = shape->gpu_mem_bytes + draw_slip(draws) };
        gpu += draws_one_in(draws, 20) ? 0 : 1;
    }
    return alloc;
}

static struct weir_action draw_action(struct draws *draws, const struct weir_view *view)
{
    static const uint32_t verbs[] = { WEIR_VERB_START, WEIR_VERB_START, WEIR_VERB_STOP,
                                      WEIR_VERB_MOVE };
    const bool is_common = draw(draws, 5) > 0;
    const uint64_t old = 1 + draw(draws, MOST_WORKERS + 1);
    const uint64_t new = FIRST_NEW + draw(draws, MOST_ACTIONS);
    struct weir_action action = {
        .size = sizeof(struct weir_action),
        .verb = is_common ? verbs[draw(draws, 4)] : draw(draws, WEIR_VERB_COUNT + 1),
        .owner = weir_pool_owner(draw(draws, draws_one_in(draws, 20) ? STAGES + 1 : STAGES)),
        .reason = draw(draws, WEIR_REASON_COUNT + 1),
        .value = (int64_t)draw(draws, 4) * 50 - 50,
        .node = draw(draws, 12),
        .choice = WEIR_NO_INDEX
    };
    struct weir_worker held;

    action.worker = (action.verb == WEIR_VERB_START) != draws_one_in(draws, 12) ? new : old;
    const bool is_known = weir_cluster_worker(view->cluster, action.worker, &held);
    if (is_known && !draws_one_in(draws, 10))
        action.owner.index = held.owner.index;
    action.reused = draws_one_in(draws, 10) ? !is_known : is_known;
    if (action.verb == WEIR_VERB_START || action.verb == WEIR_VERB_MOVE)
        action.alloc = is_known && draw(draws, 2) > 0 ? held.alloc
                                                      : draw_alloc(draws, view, action.owner.index);
    return action;
}

/* ---- the oracle ---- */

/* Whoever has run, before or in the plan. */
struct held {
    struct weir_worker worker;
    bool is_running;
};

struct oracle {
    const struct weir_view *view;
    struct held held[MOST_HELD];
    uint32_t count;
    uint32_t gang, rank; /* the job whose ranks are being started, 0 = none; the next one */
    uint64_t group;
    uint32_t started; /* jobs, as bits */
};

static struct held *find(struct oracle *oracle, uint64_t id)
{
    for (uint32_t i = 0; i < oracle->count; i++)
        if (oracle->held[i].worker.id == id)
            return &oracle->held[i];
    return NULL;
}

static uint32_t bits(uint32_t mask)
{
    uint32_t count = 0;
    for (; mask != 0; mask >>= 1)
        count += mask & 1;
    return count;
}

static bool node_fits(const struct oracle *oracle, uint32_t index)
{
    const struct weir_node *const node = weir_cluster_node(oracle->view->cluster, index);
    int64_t cpu = 0;
    int64_t ram = 0;

    for (uint32_t i = 0; i < oracle->count; i++) {
        const struct held *const one = &oracle->held[i];
        if (one->is_running && one->worker.alloc.node == index) {
            cpu += one->worker.alloc.cpu_units;
            ram += one->worker.alloc.ram_bytes;
        }
    }
    return cpu <= node->cpu_total && ram <= node->ram_total_bytes;
}

/* What one running worker holds of one GPU, NULL when nothing. */
static const struct weir_device *held_device(const struct held *held, uint32_t node, uint32_t gpu)
{
    const struct weir_alloc *const alloc = &held->worker.alloc;

    for (uint32_t i = 0; held->is_running && alloc->node == node && i < alloc->device_count; i++)
        if (alloc->devices[i].gpu == gpu)
            return &alloc->devices[i];
    return NULL;
}

static bool gpu_fits(const struct oracle *oracle, uint32_t node, uint32_t index)
{
    const struct weir_gpu *const gpu = weir_cluster_gpu(oracle->view->cluster, node, index);
    struct weir_device sum = { 0 };

    for (uint32_t i = 0; i < oracle->count; i++) {
        const struct weir_device *const device = held_device(&oracle->held[i], node, index);
        if (device == NULL)
            continue;
        if ((sum.nvdec_mask & device->nvdec_mask) != 0 || (sum.nvenc_mask & device->nvenc_mask))
            return false;
        sum.nvdec_mask |= device->nvdec_mask;
        sum.nvenc_mask |= device->nvenc_mask;
        sum.units += device->units;
        sum.mem_bytes += device->mem_bytes;
    }
    return sum.units <= gpu->units_total && sum.mem_bytes <= gpu->mem_total_bytes &&
           (sum.nvdec_mask & ~gpu->nvdec_all) == 0 && (sum.nvenc_mask & ~gpu->nvenc_all) == 0;
}

/* Places exist, in order, and no amount is negative. */
static bool is_sound(const struct oracle *oracle, const struct weir_alloc *alloc)
{
    const struct weir_cluster *const cluster = oracle->view->cluster;

    if (alloc->node >= weir_cluster_node_count(cluster) || alloc->device_count > WEIR_MAX_DEVICES)
        return false;
    const struct weir_node *const node = weir_cluster_node(cluster, alloc->node);
    bool is_right = node->flags == WEIR_NODE_UP && alloc->cpu_units >= 0 && alloc->ram_bytes >= 0;
    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        is_right = is_right && device->gpu < node->gpu_count && device->units >= 0 &&
                   device->mem_bytes >= 0 && (i == 0 || device[-1].gpu < device->gpu);
    }
    return is_right;
}

/* Whether the stage may be on this node: it has what is asked for, and is for all or for some that
 * ask, or lends. */
static bool is_allowed(const struct oracle *oracle, uint32_t stage, uint32_t node)
{
    const uint32_t has = weir_cluster_topology(oracle->view->cluster, node).labels;
    const uint32_t asks = labels[stage] & 3;
    const bool has_all = ((asks & 1) == 0 || (has & 1) != 0) && ((asks & 2) == 0 || (has & 2) != 0);

    return has_all && (has < WEIR_LABEL_KEPT || labels[stage] != 0);
}

/* Whether a worker of the stage gets all its shape asks for. */
static bool is_enough(const struct oracle *oracle, uint32_t stage, const struct weir_alloc *alloc)
{
    const struct weir_shape *const shape = &weir_view_pool(oracle->view, stage)->shape;
    const bool is_codec = shape->kind == WEIR_SHAPE_CODEC;
    uint32_t nvdecs = 0;
    uint32_t nvencs = 0;

    if (alloc->cpu_units < shape->cpu_units || alloc->ram_bytes < shape->ram_bytes)
        return false;
    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        const struct weir_gpu *const gpu =
            weir_cluster_gpu(oracle->view->cluster, alloc->node, device->gpu);
        const bool takes_all = shape->kind == WEIR_SHAPE_ENTIRE;
        nvdecs += bits(device->nvdec_mask);
        nvencs += bits(device->nvenc_mask);
        if (!is_codec &&
            (device->units < shape->gpu_units || device->mem_bytes < shape->gpu_mem_bytes ||
             bits(device->nvdec_mask) < shape->nvdecs || bits(device->nvenc_mask) < shape->nvencs ||
             (takes_all &&
              (device->nvdec_mask != gpu->nvdec_all || device->nvenc_mask != gpu->nvenc_all))))
            return false;
    }
    if (is_codec)
        return nvdecs >= shape->nvdecs && nvencs >= shape->nvencs &&
               (shape->codec_same_gpu == 0 || alloc->device_count == 1);
    return alloc->device_count == shape->gpu_count;
}

/* `one` runs with `alloc` from now on; whether everything still fits. */
static bool run(struct oracle *oracle, struct held *one, uint32_t stage,
                const struct weir_alloc *alloc)
{
    if (!is_sound(oracle, alloc) || !is_allowed(oracle, stage, alloc->node) ||
        !is_enough(oracle, stage, alloc))
        return false;
    one->worker.owner = weir_pool_owner(stage);
    one->worker.alloc = *alloc;
    one->is_running = true;
    bool fits = node_fits(oracle, alloc->node);
    for (uint32_t i = 0; i < alloc->device_count; i++)
        fits = fits && gpu_fits(oracle, alloc->node, alloc->devices[i].gpu);
    return fits;
}

static bool accept_start(struct oracle *oracle, const struct weir_action *action)
{
    struct weir_worker before;
    struct held *one = find(oracle, action->worker);
    const bool is_known = weir_cluster_worker(oracle->view->cluster, action->worker, &before);

    if (action->owner.index >= STAGES || (one != NULL && one->is_running) ||
        is_known != (action->reused != 0) ||
        (is_known && before.owner.index != action->owner.index))
        return false;
    if (one == NULL) {
        one = &oracle->held[oracle->count++];
        one->worker.id = action->worker;
    }
    return run(oracle, one, action->owner.index, &action->alloc);
}

static bool accept_change(struct oracle *oracle, const struct weir_action *action)
{
    struct held *const one = find(oracle, action->worker);

    if (one == NULL || !one->is_running || !weir_owner_is(&one->worker.owner, &action->owner))
        return false;
    one->is_running = false;
    return action->verb == WEIR_VERB_STOP || run(oracle, one, action->owner.index, &action->alloc);
}

/* Ranks start in order, all of them, once, in one group. */
static bool accept_rank(struct oracle *oracle, const struct weir_action *action)
{
    const uint32_t id = (uint32_t)action->owner.id;
    struct held *one = find(oracle, action->worker);
    struct weir_worker before;

    if (!weir_view_job(oracle->view, action->owner.index, action->owner.id, NULL) ||
        action->rank != oracle->rank || action->rank >= id ||
        (oracle->gang != 0 && oracle->gang != id))
        return false;
    if (action->rank == 0 && ((oracle->started >> id) & 1) != 0)
        return false;
    if (action->rank > 0 && (action->group == 0 || action->group != oracle->group))
        return false;
    if (action->reused != 0 || (one != NULL && one->is_running) ||
        weir_cluster_worker(oracle->view->cluster, action->worker, &before))
        return false;
    if (one == NULL)
        one = &oracle->held[oracle->count++];
    one->worker.id = action->worker;
    oracle->gang = action->rank + 1 < id ? id : 0;
    oracle->rank = oracle->gang != 0 ? action->rank + 1 : 0;
    oracle->group = action->group;
    oracle->started |= UINT32_C(1) << id;
    const bool fits = run(oracle, one, id % 2, &action->alloc);
    one->worker.owner = action->owner;
    return fits;
}

static bool accept(struct oracle *oracle, const struct weir_action *action)
{
    const bool has_stage = action->owner.index < STAGES;

    if (action->verb == WEIR_VERB_START && action->owner.kind == WEIR_OWNER_JOB)
        return accept_rank(oracle, action);
    if (oracle->gang != 0)
        return false;

    switch ((enum weir_verb)action->verb) {
    case WEIR_VERB_START:
        return accept_start(oracle, action);
    case WEIR_VERB_STOP:
    case WEIR_VERB_MOVE:
        return accept_change(oracle, action);
    case WEIR_VERB_SET_SLOTS:
        return has_stage && action->value > 0;
    case WEIR_VERB_RESIZE:
        return has_stage && action->value >= 0;
    case WEIR_VERB_ADMIT:
    case WEIR_VERB_PREEMPT:
        return has_stage;
    case WEIR_VERB_DENY:
        return has_stage && action->reason < WEIR_REASON_COUNT;
    case WEIR_VERB_REQUEST_NODE:
        return action->value >= 0;
    case WEIR_VERB_RELEASE_NODE:
        return action->node < weir_cluster_node_count(oracle->view->cluster);
    case WEIR_VERB_WAKE:
        return action->value >= NOW_NS;
    case WEIR_VERB_ANNOTATE:
        return true;
    case WEIR_VERB_RESERVE: /* there are no jobs, and no GPU is cut */
    case WEIR_VERB_CUT:
    case WEIR_VERB_COUNT:
        break;
    }
    return false;
}

/* ---- one game ---- */

/* Workers that fit; now and then a node that takes no more. */
static void draw_workers(struct draws *draws, struct weir_host *host, struct oracle *oracle)
{
    const struct weir_view *const view = weir_host_view(host, NOW_NS);

    for (uint64_t id = 1; id <= MOST_WORKERS; id++) {
        const uint32_t stage = draw(draws, STAGES);
        struct weir_alloc alloc = draw_alloc(draws, view, stage);
        if (weir_host_adopt_worker(host, id, weir_pool_owner(stage), &alloc, NULL) == WEIR_OK)
            oracle->held[oracle->count++] = (struct held){
                .worker = { .id = id, .owner = weir_pool_owner(stage), .alloc = alloc },
                .is_running = true
            };
    }
    if (draws_one_in(draws, 8))
        (void)weir_host_set_node(host, 0, WEIR_NODE_UP | WEIR_NODE_CORDONED, NOW_NS);
}

/* A rank of a job, mostly the one that is due. */
static struct weir_action draw_rank(struct draws *draws, const struct oracle *oracle)
{
    const bool is_due = oracle->gang != 0 && !draws_one_in(draws, 12);
    const uint32_t id =
        is_due ? oracle->gang : 1 + draw(draws, draws_one_in(draws, 9) ? JOBS + 1 : JOBS);
    struct weir_action action = { .size = sizeof(struct weir_action),
                                  .verb = WEIR_VERB_START,
                                  .owner = weir_job_owner(0, id),
                                  .rank = is_due ? oracle->rank : draws_one_in(draws, 9),
                                  .worker = FIRST_NEW + draw(draws, MOST_ACTIONS),
                                  .group = is_due && !draws_one_in(draws, 12) ? oracle->group
                                                                              : draw(draws, 3),
                                  .choice = WEIR_NO_INDEX };

    action.alloc = draw_alloc(draws, oracle->view, id % 2);
    return action;
}

static struct weir_action draw_any(struct draws *draws, const struct oracle *oracle)
{
    const bool is_rank = oracle->gang != 0 ? !draws_one_in(draws, 16) : draws_one_in(draws, 4);

    return is_rank ? draw_rank(draws, oracle) : draw_action(draws, oracle->view);
}

/* Without care few plans of several actions are right: with it an action is drawn again until it
 * fits, a few times. `trial` is memory. */
static struct weir_action draw_carefully(struct draws *draws, const struct oracle *oracle,
                                         struct oracle *trial)
{
    struct weir_action action = { .size = sizeof(struct weir_action), .verb = WEIR_VERB_COUNT };
    bool is_right = false;

    for (int tries = 0; !is_right && tries < TRIES; tries++) {
        action = draw_any(draws, oracle);
        *trial = *oracle;
        is_right = accept(trial, &action);
    }
    return action;
}

static void judge(struct draws *draws, struct weir_plan *plan, struct oracle *oracle,
                  struct oracle *trial, struct plan_verdict *verdict)
{
    const bool is_careful = !draws_one_in(draws, 3);
    uint32_t right = 0;

    verdict->actions = 1 + draw(draws, MOST_ACTIONS);
    for (uint32_t i = 0; i < verdict->actions; i++) {
        const struct weir_action action = is_careful && !draws_one_in(draws, 24)
                                              ? draw_carefully(draws, oracle, trial)
                                              : draw_any(draws, oracle);
        if (weir_plan_append(plan, &action) != WEIR_OK)
            return;
        if (right == i && accept(oracle, &action))
            right++;
    }
    char expected[32];
    if (right == verdict->actions)
        (void)snprintf(expected, sizeof expected, "rank %u of job %u ", oracle->rank, oracle->gang);
    else
        (void)snprintf(expected, sizeof expected, "action %u (", right);
    verdict->oracle_accepts = right == verdict->actions && oracle->gang == 0;
    verdict->status = weir_plan_check(plan, oracle->view, &verdict->error);
    verdict->is_same_action = strncmp(verdict->error.text, expected, strlen(expected)) == 0;
}

struct plan_verdict plan_oracle_play(struct draws *draws)
{
    const struct weir_host_config config = test_config("first_fit", "fixed");
    struct plan_verdict verdict = { .status = WEIR_ENOMEM };
    struct oracle *oracle = calloc(2, sizeof *oracle);
    struct weir_host *host = NULL;
    struct weir_plan *plan = NULL;

    if (oracle != NULL && weir_host_create(&config, &host, NULL) == WEIR_OK &&
        add_stages(host) == WEIR_OK && draw_nodes(draws, host) == WEIR_OK &&
        add_jobs(host) == WEIR_OK && weir_plan_create(NULL, &plan) == WEIR_OK) {
        draw_workers(draws, host, oracle);
        oracle->view = weir_host_view(host, NOW_NS);
        weir_plan_reset(plan, FIRST_NEW + MOST_ACTIONS, WEIR_EXPLAIN_OFF);
        judge(draws, plan, oracle, oracle + 1, &verdict);
    }
    weir_plan_destroy(plan);
    weir_host_destroy(host);
    free(oracle);
    return verdict;
}

bool plan_oracle_agrees(const struct plan_verdict *verdict)
{
    if (verdict->status == WEIR_ENOMEM)
        return true;
    if (verdict->oracle_accepts)
        return verdict->status == WEIR_OK;
    return verdict->status == WEIR_EPOLICY && verdict->is_same_action;
}
