/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trial of a capacity policy: hosts to which more jobs come than their nodes hold, and then no
 * more, and a controller that has nodes of two types. It refuses what goes beyond them, and some of
 * those that were asked for never come.
 *
 * Plans fit, hosts that were told the same get equal ones, and what a policy holds does not grow.
 */
#include "sim/cli/look/policies_trial.h"
#include "sim/cli/look/policies_trial_jobs.h"

#include "sim/engine/time.h"
#include "sim/port/module.h"

enum { HOSTS = 20, PASSES = 60, QUIET = 10000, TIMED = 500 };
enum { NODES = 4, TYPES = 2, MOST = 6 };

struct capacity_trial {
    const struct weir_capacity_ops *ops;
    const struct sim_trial_sheet *sheet;
};

struct supply {
    struct sim_trial_queue queue;
    struct weir_node_offer offers[TYPES]; /* of the types 1, 2, ... */
    bool is_up[TYPES][MOST];              /* a node has its id again when it comes again */
    uint64_t asked, given_back, refused;
};

static int failed(const struct capacity_trial *trial, weir_status status,
                  const struct weir_error *error)
{
    return sim_trial_fail(trial->sheet, weir_status_text(status), error->text);
}

/* ---- the controller ---- */

static weir_status tell(struct supply *supply, uint32_t kind, uint32_t node,
                        struct weir_error *error)
{
    const bool is_refusal = kind == WEIR_OUTCOME_REFUSED;
    const struct weir_outcome outcome = { .size = sizeof outcome,
                                          .kind = kind,
                                          .reason =
                                              is_refusal ? WEIR_REASON_TRUTH : WEIR_REASON_NONE,
                                          .node = node,
                                          .owner = weir_pool_owner(WEIR_NO_INDEX),
                                          .time_ns = supply->queue.jobs.now_ns };
    supply->refused += is_refusal ? 1 : 0;
    return weir_host_outcome(supply->queue.host, &outcome, NULL, error);
}

static uint64_t id_of(uint32_t type, uint32_t slot)
{
    return NODES + (uint64_t)type * MOST + slot;
}

static weir_status add(struct supply *supply, uint32_t type, uint32_t *node,
                       struct weir_error *error)
{
    uint32_t slot = 0;
    while (supply->is_up[type][slot])
        slot++;
    supply->is_up[type][slot] = true;
    supply->offers[type].up++;
    return sim_trial_queue_node(&supply->queue, supply->offers[type].type, id_of(type, slot), node,
                                error);
}

/* Who is on the way comes, but for one of four; then the offers are as they are now. */
static weir_status deliver(struct supply *supply, struct weir_error *error)
{
    for (uint32_t i = 0; i < TYPES; i++) {
        struct weir_node_offer *offer = &supply->offers[i];
        for (; offer->coming > 0; offer->coming--) {
            uint32_t node = WEIR_NO_INDEX;
            const bool comes = sim_trial_draw(&supply->queue.jobs, 4) != 0;
            if (comes)
                WEIR_TRY(add(supply, i, &node, error));
            WEIR_TRY(tell(supply, comes ? WEIR_OUTCOME_CAME : WEIR_OUTCOME_FAILED, node, error));
        }
        WEIR_TRY(weir_host_offer_nodes(supply->queue.host, offer, error));
    }
    return WEIR_OK;
}

static struct weir_node_offer *offer_of(struct supply *supply, int64_t type)
{
    return type >= 1 && type <= TYPES ? &supply->offers[type - 1] : NULL;
}

static weir_status request(struct supply *supply, int64_t type, struct weir_error *error)
{
    struct weir_node_offer *offer = offer_of(supply, type);
    if (offer == NULL || offer->up + offer->coming >= offer->max)
        return tell(supply, WEIR_OUTCOME_REFUSED, WEIR_NO_INDEX, error);
    offer->coming++;
    supply->asked++;
    return WEIR_OK;
}

/* A node in use stays: it would cost the work on it. */
static weir_status release(struct supply *supply, uint32_t node, struct weir_error *error)
{
    const struct weir_cluster *cluster = weir_host_cluster(supply->queue.host);
    const struct weir_node *gone = weir_cluster_node(cluster, node);
    struct weir_node_offer *offer = offer_of(supply, gone->type);
    uint64_t worker;
    if (offer == NULL || offer->up <= offer->min ||
        weir_cluster_node_worker_id(cluster, node, &worker))
        return tell(supply, WEIR_OUTCOME_REFUSED, node, error);
    offer->up--;
    supply->is_up[gone->type - 1][(gone->id - NODES) % MOST] = false;
    supply->given_back++;
    WEIR_TRY(weir_host_remove_node(supply->queue.host, node, supply->queue.jobs.now_ns));
    return tell(supply, WEIR_OUTCOME_GONE, node, error);
}

static weir_status carry_out(struct supply *supply, const struct weir_plan *plan,
                             struct weir_error *error)
{
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *action = weir_plan_action(plan, i);
        if (action->verb == WEIR_VERB_REQUEST_NODE)
            WEIR_TRY(request(supply, action->value, error));
        else if (action->verb == WEIR_VERB_RELEASE_NODE)
            WEIR_TRY(release(supply, action->node, error));
    }
    return WEIR_OK;
}

static weir_status pass(struct supply *supply, uint32_t coming, struct weir_error *error)
{
    const struct weir_plan *plan = NULL;
    supply->queue.jobs.now_ns += 60 * SIM_NS_PER_S;
    WEIR_TRY(deliver(supply, error));
    WEIR_TRY(sim_trial_queue_pass(&supply->queue, coming, &plan, error));
    return carry_out(supply, plan, error);
}

static weir_status begin(const struct capacity_trial *trial, uint64_t seed,
                         const struct weir_allocator *allocator, struct supply *supply,
                         struct weir_error *error)
{
    const struct weir_host_config config = { .size = sizeof config,
                                             .allocator = allocator,
                                             .placement = weir_placement_find("best_fit"),
                                             .scaling = weir_scaling_find("fixed"),
                                             .queueing = weir_queueing_find("fcfs"),
                                             .capacity = trial->ops,
                                             .seed = seed };
    *supply = (struct supply){ .asked = 0 };
    for (uint32_t i = 0; i < TYPES; i++)
        supply->offers[i] = (struct weir_node_offer){
            .size = sizeof(struct weir_node_offer),
            .type = i + 1,
            .max = MOST,
            .holds = { .cpu_units = SIM_TRIAL_NODE_CPUS * WEIR_ONE,
                       .gpu_units = SIM_TRIAL_NODE_GPUS * WEIR_ONE },
        };
    return sim_trial_queue_open(&config, NODES, &supply->queue, error);
}

static weir_status run(const struct capacity_trial *trial, uint64_t seed,
                       const struct weir_allocator *allocator, struct supply *supply,
                       struct weir_error *error)
{
    WEIR_TRY(begin(trial, seed, allocator, supply, error));
    for (uint32_t i = 0; i < 2 * PASSES; i++)
        WEIR_TRY(pass(supply, i < PASSES ? 1 : 0, error));
    return weir_cluster_check(weir_host_cluster(supply->queue.host), error);
}

/* ---- the checks: 0 = kept, 1 = broken, with a note ---- */

static int check_plans(void *state)
{
    const struct capacity_trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    uint64_t asked = 0;
    uint64_t given_back = 0;
    uint64_t refused = 0;
    for (uint32_t seed = 1; seed <= HOSTS; seed++) {
        uint64_t digests[2];
        for (int i = 0; i < 2; i++) {
            struct supply supply;
            const weir_status status = run(trial, seed, NULL, &supply, &error);
            weir_host_destroy(supply.queue.host);
            if (status != WEIR_OK)
                return failed(trial, status, &error);
            digests[i] = supply.queue.digest;
            asked += supply.asked;
            given_back += supply.given_back;
            refused += supply.refused;
        }
        if (digests[0] != digests[1])
            return sim_trial_fail(trial->sheet, "equal inputs", "gave two different plans");
    }
    (void)snprintf(trial->sheet->note, SIM_TRIAL_NOTE,
                   "%d hosts, %llu nodes asked for, %llu given back, %llu refused", 2 * HOSTS,
                   (unsigned long long)asked, (unsigned long long)given_back,
                   (unsigned long long)refused);
    return 0;
}

static int check_growth(void *state)
{
    const struct capacity_trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    int64_t live = 0;
    struct sim_trial_memory half = { 0, 0 };
    struct supply supply;
    const struct weir_allocator allocator = { sim_trial_resize, &live };
    weir_status status = run(trial, 1, &allocator, &supply, &error);
    for (uint32_t i = 0; i < QUIET && status == WEIR_OK; i++) {
        if (i == QUIET / 2)
            half = sim_trial_memory(live);
        status = pass(&supply, 0, &error);
    }
    if (status != WEIR_OK)
        return failed(trial, status, &error);
    const int result = sim_trial_note_growth(trial->sheet, half, live, QUIET / 2);
    weir_host_destroy(supply.queue.host);
    return result;
}

static int check_sizes(void *state)
{
    const struct capacity_trial *trial = state;
    struct weir_capacity_ops ops = *trial->ops;
    const struct weir_capacity_ops *const capacities[] = { &ops, NULL };
    const struct weir_module module = { .size = sizeof module,
                                        .abi_major = WEIR_ABI_MAJOR,
                                        .name = "trial",
                                        .capacities = capacities };
    return sim_trial_sizes(trial->sheet, &module, &ops.size);
}

static int check_time(void *state)
{
    const struct capacity_trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    double times_us[TIMED] = { 0 };
    struct supply supply;
    weir_status status = run(trial, 1, NULL, &supply, &error);
    for (uint32_t i = 0; i < TIMED && status == WEIR_OK; i++) {
        const double from_us = sim_trial_us();
        status = pass(&supply, 0, &error);
        times_us[i] = sim_trial_us() - from_us;
    }
    if (status != WEIR_OK)
        return failed(trial, status, &error);
    sim_trial_note_times(trial->sheet, times_us, TIMED, "decision");
    weir_host_destroy(supply.queue.host);
    return 0;
}

static weir_status load(void *state, struct weir_error *error)
{
    struct capacity_trial *trial = state;
    return sim_capacity_load(&trial->ops, error);
}

size_t sim_trial_capacity(const struct sim_trial_sheet *all, const struct weir_capacity_ops *ops)
{
    const struct sim_trial_sheet sheet = { all->table, all->note, load };
    static const struct sim_trial_check checks[] = {
        { "plans fit", check_plans },
        { "no growth", check_growth },
        { "sizes are told", check_sizes },
        { "time", check_time },
        { NULL, NULL },
    };
    struct capacity_trial trial = { .ops = ops, .sheet = &sheet };
    return sim_trial_run(&sheet, ops->name, checks, &trial);
}
