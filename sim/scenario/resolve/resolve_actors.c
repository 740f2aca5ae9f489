/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving actor systems: roles and groups to sets of processes, names of roles to indices. What
 * never fits is no mistake: as on Ray it waits, and is told why.
 */
#include "sim/engine/time.h"
#include "sim/scenario/resolve/resolve.h"

#include <math.h>
#include <string.h>

enum { CONCURRENCY_ALONE = 100, CONCURRENCY_SHARED = 10 };

static const struct draft_role *roles_of(const struct draft_actor_system *draft)
{
    return draft->roles.items;
}

/* ---- sets ---- */

static double either(double first, double second)
{
    return isnan(first) ? second : first;
}

/* An actor may ask for nothing: of a shape without GPUs that is the least there is of a CPU. */
static void resolve_amounts(struct sim_resolver *resolver, const struct sim_yaml *at,
                            const struct weir_request *request, struct weir_shape *shape)
{
    if (request->cpus > 0 || request->gpus > 0)
        sim_resolve_shape(resolver, at, request, shape);
    else
        *shape = (struct weir_shape){ .kind = WEIR_SHAPE_CPU,
                                      .cpu_units = 1,
                                      .ram_bytes = request->ram_bytes };
}

/* Where its model and its context lie. A process that sees GPUs and computes on CPUs is there with
 * its context. */
static void resolve_memory(const struct draft_role *asks, struct sim_actor_set *set)
{
    struct weir_shape *uses = &set->uses;
    set->model_bytes = asks->model_bytes;
    set->context_bytes = asks->context_bytes;
    set->leak_bytes = asks->leak_bytes;
    if (uses->gpu_count > 0) {
        uses->gpu_mem_bytes = asks->model_bytes + asks->context_bytes;
        return;
    }
    uses->ram_bytes += asks->model_bytes;
    if (set->sees == 0 || asks->context_bytes == 0)
        return;
    uses->kind = WEIR_SHAPE_WHOLE; /* of which it uses nothing but memory */
    uses->gpu_count = set->sees;
    uses->gpu_mem_bytes = asks->context_bytes;
}

/* It works on GPUs that it sees. */
static void resolve_visible(struct sim_resolver *resolver, const struct draft_role *asks,
                            const struct sim_yaml *at, struct weir_request *request,
                            struct sim_actor_set *set)
{
    const uint32_t holds = set->shape.gpu_count;
    if (asks->head.node != NULL)
        at = sim_draft_at(&asks->head, "visible_gpus");
    set->sees = asks->visible_gpus == SIM_ABSENT_COUNT ? holds : asks->visible_gpus;
    if (set->sees > holds)
        sim_report_error(resolver->report, at, "sees %u GPUs and holds %u", set->sees, holds);
    else if (set->sees < holds && isnan(asks->uses.gpus))
        request->gpus = set->sees;
    else if (asks->visible_gpus != SIM_ABSENT_COUNT && request->gpus > set->sees)
        sim_report_error(resolver->report, at, "works on %g GPUs and sees %u", request->gpus,
                         set->sees);
}

static void resolve_shapes(struct sim_resolver *resolver, const struct sim_yaml *at,
                           const struct draft_role *asks, struct sim_actor_set *set)
{
    struct weir_request request = { .cpus = asks->asks.cpus,
                                    .gpus = asks->asks.gpus,
                                    .ram_bytes = asks->ram_bytes };
    if (isnan(request.cpus) || isnan(request.gpus))
        return; /* reported */
    resolve_amounts(resolver, at, &request, &set->shape);
    set->uses = set->shape;
    sim_resolve_whole(resolver, at, &set->shape);
    set->soft_labels = sim_resolve_nodes(resolver, asks->head.node, &asks->nodes, &set->shape);
    set->node = sim_resolve_named_node(resolver, &asks->nodes);
    request.cpus = either(asks->uses.cpus, request.cpus);
    request.gpus = either(asks->uses.gpus, request.gpus);
    resolve_visible(resolver, asks, at, &request, set);
    resolve_amounts(resolver, at, &request, &set->uses);
    if (set->uses.gpu_count > set->shape.gpu_count ||
        (set->uses.gpu_count > 0 && set->uses.gpu_units > set->shape.gpu_units))
        sim_report_error(resolver->report, asks->uses.head.node,
                         "an actor works on the GPUs that it asked for, or on fewer");
    resolve_memory(asks, set);
}

static int32_t count_of(const struct draft_role *draft)
{
    return draft->count == SIM_ABSENT_COUNT ? -1 : (int32_t)draft->count;
}

static void add_alone(struct sim_resolver *resolver, const struct draft_role *draft,
                      struct sim_actor_system *system, struct sim_role *role)
{
    struct sim_actor_set *set = &system->sets[system->sets_count];
    *set = (struct sim_actor_set){ .name = draft->head.name,
                                   .node = SIM_ACTORS_NOBODY,
                                   .count = count_of(draft),
                                   .concurrency = draft->concurrency == SIM_ABSENT_COUNT
                                                      ? CONCURRENCY_ALONE
                                                      : draft->concurrency };
    set->rate_limit = sim_resolve_rate_limit(&draft->rate_limit);
    resolve_shapes(resolver, draft->head.node, draft, set);
    role->set = (uint32_t)system->sets_count++;
}

/* ---- groups ---- */

static const struct draft_role_group *group_of(const struct draft_actor_system *draft,
                                               const char *name)
{
    const struct draft_role_group *groups = draft->groups.items;
    for (size_t i = 0; i < draft->groups.count; i++)
        if (groups[i].head.name != NULL && strcmp(groups[i].head.name, name) == 0)
            return &groups[i];
    return NULL;
}

static uint32_t set_called(const struct sim_actor_system *system, const char *name)
{
    for (uint32_t i = 0; i < system->sets_count; i++)
        if (system->sets[i].is_group && strcmp(system->sets[i].name, name) == 0)
            return i;
    return SIM_ACTORS_NOBODY;
}

/* A process is on one node: what one of its roles says of nodes holds for all. */
static void share_nodes(struct sim_resolver *resolver, const struct draft_role *role,
                        struct draft_role *cost)
{
    if (role->nodes.selector == NULL && role->nodes.preference == NULL &&
        role->nodes.borrows == SIM_ABSENT_COUNT)
        return;
    if (cost->head.node != NULL)
        sim_report_error(resolver->report, role->head.node,
                         "roles of a group share processes; one of them says on which nodes");
    cost->nodes = role->nodes;
    cost->head = role->head;
}

/* What the process asks for: what is declared, else the most of each thing that a role of it does.
 * One of another count is told of. */
static struct draft_role cost_of(struct sim_resolver *resolver,
                                 const struct draft_actor_system *draft, const char *name,
                                 int32_t count)
{
    const struct draft_role *roles = roles_of(draft);
    struct draft_role cost = { .uses = { .cpus = (double)NAN, .gpus = (double)NAN },
                               .visible_gpus = SIM_ABSENT_COUNT,
                               .nodes = { .borrows = SIM_ABSENT_COUNT } };
    for (size_t i = 0; i < draft->roles.count; i++) {
        if (roles[i].group == NULL || strcmp(roles[i].group, name) != 0)
            continue;
        cost.asks.cpus = fmax(cost.asks.cpus, roles[i].asks.cpus);
        cost.asks.gpus = fmax(cost.asks.gpus, roles[i].asks.gpus);
        cost.ram_bytes += roles[i].ram_bytes;
        cost.model_bytes += roles[i].model_bytes;
        cost.leak_bytes += roles[i].leak_bytes;
        if (roles[i].context_bytes > cost.context_bytes)
            cost.context_bytes = roles[i].context_bytes;
        if (roles[i].visible_gpus != SIM_ABSENT_COUNT)
            cost.visible_gpus = roles[i].visible_gpus;
        share_nodes(resolver, &roles[i], &cost);
        if (roles[i].uses.head.node != NULL)
            cost.uses = roles[i].uses;
        if (count_of(&roles[i]) != count || count < 0)
            sim_report_error(resolver->report, sim_draft_at(&roles[i].head, "count"),
                             "roles of group '%s' share processes, so their counts are given and "
                             "equal",
                             name);
        if (roles[i].concurrency != SIM_ABSENT_COUNT)
            sim_report_near(resolver->report, sim_draft_at(&roles[i].head, "concurrency"),
                            SIM_AT_KEY, NULL, "is that of the process: give it in groups.%s", name);
    }
    return cost;
}

static void add_shared(struct sim_resolver *resolver, const struct draft_actor_system *draft,
                       const struct draft_role *first, struct sim_actor_system *system)
{
    const struct draft_role_group *group = group_of(draft, first->group);
    struct sim_actor_set *set = &system->sets[system->sets_count++];
    struct draft_role cost = cost_of(resolver, draft, first->group, count_of(first));
    *set = (struct sim_actor_set){ .name = first->group,
                                   .node = SIM_ACTORS_NOBODY,
                                   .count = count_of(first),
                                   .concurrency = CONCURRENCY_SHARED,
                                   .is_group = true };
    if (group != NULL) {
        cost.asks.cpus = either(group->asks.cpus, cost.asks.cpus);
        cost.asks.gpus = either(group->asks.gpus, cost.asks.gpus);
        set->concurrency = group->concurrency;
    }
    resolve_shapes(resolver, group == NULL ? first->head.node : group->head.node, &cost, set);
}

static void check_groups(struct sim_resolver *resolver, const struct draft_actor_system *draft,
                         const struct sim_actor_system *system)
{
    const struct draft_role_group *groups = draft->groups.items;
    for (size_t i = 0; i < draft->groups.count; i++)
        if (groups[i].head.name != NULL &&
            set_called(system, groups[i].head.name) == SIM_ACTORS_NOBODY)
            sim_report_near(resolver->report, groups[i].head.node, SIM_AT_KEY, NULL,
                            "no role is in the group '%s'", groups[i].head.name);
}

static void resolve_roles(struct sim_resolver *resolver, const struct draft_actor_system *draft,
                          struct sim_actor_system *system)
{
    const struct draft_role *roles = roles_of(draft);
    struct sim_name_set names = sim_name_set_open(resolver->arena);
    system->roles_count = draft->roles.count;
    system->roles =
        sim_arena_alloc(resolver->arena, system->roles_count + 1, sizeof *system->roles);
    system->sets = sim_arena_alloc(resolver->arena, system->roles_count + 1, sizeof *system->sets);
    for (size_t i = 0; i < system->roles_count; i++) {
        struct sim_role *role = &system->roles[i];
        *role = (struct sim_role){ .name = roles[i].head.name, .creation = roles[i].creation };
        if (!sim_name_set_add(&names, role->name))
            sim_report_error(resolver->report, sim_draft_at(&roles[i].head, "name"),
                             "two roles are called '%s'", role->name);
        if (roles[i].group == NULL) {
            add_alone(resolver, &roles[i], system, role);
            continue;
        }
        if (roles[i].rate_limit.head.node != NULL)
            sim_report_error(resolver->report, sim_draft_at(&roles[i].head, "rate_limit"),
                             "acts on roles that stand alone, and '%s' shares a process",
                             role->name);
        if (set_called(system, roles[i].group) == SIM_ACTORS_NOBODY)
            add_shared(resolver, draft, &roles[i], system);
        role->set = set_called(system, roles[i].group);
    }
    check_groups(resolver, draft, system);
    sim_resolve_not_empty(resolver, sim_yaml_get(draft->head.node, "roles"),
                          "a system needs at least one role");
}

/* ---- who calls whom ---- */

static uint32_t role_called(const struct sim_actor_system *system, const char *name)
{
    for (uint32_t i = 0; i < system->roles_count; i++)
        if (system->roles[i].name != NULL && strcmp(system->roles[i].name, name) == 0)
            return i;
    return SIM_ACTORS_NOBODY;
}

static uint32_t resolve_role(struct sim_resolver *resolver, const struct draft_actor_system *draft,
                             const struct sim_actor_system *system, const struct sim_yaml *at,
                             const char *name)
{
    const uint32_t found = name == NULL ? SIM_ACTORS_NOBODY : role_called(system, name);
    if (name != NULL && found == SIM_ACTORS_NOBODY)
        sim_report_near(resolver->report, at, SIM_AT_VALUE,
                        sim_near_draft(resolver, &draft->roles, sizeof(struct draft_role), name),
                        "there is no role '%s'", name);
    return found;
}

/* Calls wait with the actor that they are for, so there is one. */
static void check_called(struct sim_resolver *resolver, const struct sim_actor_system *system,
                         const struct sim_yaml *at, uint32_t role)
{
    if (role != SIM_ACTORS_NOBODY && system->sets[system->roles[role].set].count < 0)
        sim_report_error(resolver->report, at, "role '%s' is called, so it needs a count",
                         system->roles[role].name);
}

static void resolve_calls(struct sim_resolver *resolver, const struct draft_actor_system *draft,
                          struct sim_actor_system *system)
{
    const struct draft_role_calls *calls = draft->calls.items;
    system->calls_count = draft->calls.count;
    system->calls =
        sim_arena_alloc(resolver->arena, system->calls_count + 1, sizeof *system->calls);
    for (size_t i = 0; i < system->calls_count; i++) {
        struct sim_role_calls *to = &system->calls[i];
        const struct sim_yaml *at = sim_draft_at(&calls[i].head, "to");
        *to = calls[i].to_be;
        to->from = resolve_role(resolver, draft, system, sim_draft_at(&calls[i].head, "from"),
                                calls[i].from);
        to->to = resolve_role(resolver, draft, system, at, calls[i].to);
        to->limit_ns = to->limit_ns == SIM_ABSENT_TIME ? INT64_MAX : to->limit_ns;
        check_called(resolver, system, at, to->to);
        if (to->think == NULL && to->work == NULL && to->service == NULL && to->cpu == NULL)
            sim_report_error(resolver->report, calls[i].head.node,
                             "takes no time: give think, work, service or cpu");
    }
}

/* ---- the training loop ---- */

static void find_roles(struct sim_resolver *resolver, const struct draft_actor_system *draft,
                       struct sim_actor_system *system)
{
    static const char *const names[SIM_TRAIN_ROLES] = {
        [SIM_TRAIN_ROLLOUT] = "rollout_worker", [SIM_TRAIN_TRAINER] = "trainer",
        [SIM_TRAIN_POOL] = "trajectory_pool",   [SIM_TRAIN_SYNC] = "weight_sync_controller",
        [SIM_TRAIN_LOADER] = "data_loader",     [SIM_TRAIN_VALIDATOR] = "validator"
    };
    const struct sim_yaml *at = draft->training.head.node;
    uint32_t *roles = system->training.roles;
    for (size_t i = 0; i < SIM_TRAIN_ROLES; i++) {
        roles[i] = role_called(system, names[i]);
        if (i != SIM_TRAIN_ROLLOUT)
            check_called(resolver, system, at, roles[i]);
    }
    for (size_t i = SIM_TRAIN_ROLLOUT; i <= SIM_TRAIN_TRAINER; i++)
        if (roles[i] == SIM_ACTORS_NOBODY)
            sim_report_error(resolver->report, at, "a training loop needs a role '%s'", names[i]);
}

static int64_t limit_or_none(int64_t limit_ns)
{
    return limit_ns == SIM_ABSENT_TIME ? INT64_MAX : limit_ns;
}

static uint32_t count_or(uint32_t count, uint32_t usual)
{
    return count == SIM_ABSENT_COUNT ? usual : count;
}

static int64_t time_or(int64_t time_ns, int64_t usual_ns)
{
    return time_ns == SIM_ABSENT_TIME ? usual_ns : time_ns;
}

/* What is not said is as NexRL has it. */
static void fill_in(struct sim_resolver *resolver, struct sim_training *training)
{
    training->batch = count_or(training->batch, 32);
    training->repeat = count_or(training->repeat, 8);
    training->ready_count = count_or(training->ready_count, training->batch * training->repeat);
    training->ready = count_or(training->ready, SIM_READY_DRAINED);
    training->sync = count_or(training->sync, SIM_SYNC_ALWAYS);
    training->threshold = count_or(training->threshold, 0);
    training->validate_every = count_or(training->validate_every, 0);
    training->poll_ns = time_or(training->poll_ns, SIM_NS_PER_S / 10);
    training->turn_ns = time_or(training->turn_ns, SIM_NS_PER_S);
    training->call_limit_ns = limit_or_none(training->call_limit_ns);
    training->client_limit_ns = limit_or_none(training->client_limit_ns);
    training->without_gpu = either(training->without_gpu, 30);
    if (training->trajectory_bytes == SIM_ABSENT_BYTES)
        training->trajectory_bytes = 0;
    if (training->put == NULL)
        training->put = sim_resolve_constant(resolver, "const(0.002)");
}

/* Of n layers every k-th keeps its activations, k the square root of n, and those between two of
 * them are there for one stretch at a time (Chen et al., Training Deep Nets with Sublinear Memory
 * Cost, 2016). The pass back takes twice as long as the one forward. */
static void resolve_checkpointing(uint32_t layers, struct sim_training *training)
{
    training->recomputing = 1;
    if (training->activation_bytes == SIM_ABSENT_BYTES)
        training->activation_bytes = 0;
    if (layers == SIM_ABSENT_COUNT)
        return;
    const double stretch = ceil(sqrt(layers));
    const double kept = fmin(1, (ceil(layers / stretch) + stretch) / layers);
    training->recomputing = 4.0 / 3;
    training->activation_bytes = (int64_t)ceil((double)training->activation_bytes * kept);
}

static void resolve_health(const struct draft_health *draft, struct sim_training *training)
{
    if (draft->head.node == NULL)
        return;
    training->health_ns = draft->interval_ns;
    training->probe_ns = time_or(draft->probe_ns, SIM_NS_PER_S / 1000 * 80);
    training->probes = count_or(draft->probes, 2);
    training->probes_at_once = draft->order == HEALTH_PARALLEL;
}

/* What a step waits for must come, and have room. */
static void check_pool(struct sim_resolver *resolver, const struct draft_training *from,
                       const struct sim_training *training)
{
    const uint32_t batch = training->batch * training->repeat;
    const uint32_t wanted = training->ready == SIM_READY_BATCH ? training->ready_count : batch;
    if (training->keeps_order && training->ready != SIM_READY_DRAINED &&
        training->ready_count > batch)
        sim_report_error(resolver->report, sim_draft_at(&from->head, "ready_count"),
                         "is more than a batch has (%u), and the next batch waits for the step",
                         batch);
    else if (training->pool_limit < wanted)
        sim_report_error(resolver->report, sim_draft_at(&from->head, "pool_limit"),
                         "is less than a step waits for (%u)", wanted);
}

static void resolve_training(struct sim_resolver *resolver, const struct draft_actor_system *draft,
                             struct sim_actor_system *system)
{
    const struct draft_training *from = &draft->training;
    struct sim_training *training = &system->training;
    if (from->head.node == NULL)
        return;
    *training = from->to;
    training->is_there = true;
    training->keeps_order = from->keeps_order != 0;
    fill_in(resolver, training);
    resolve_checkpointing(from->checkpointed_layers, training);
    resolve_health(&from->health, training);
    find_roles(resolver, draft, system);
    check_pool(resolver, from, training);
}

/* A set without a count has a policy that counts it by its work. */
static void check_counts(struct sim_resolver *resolver, const struct draft_actor_system *draft,
                         const struct sim_actor_system *system)
{
    const uint32_t rollouts =
        system->training.is_there ? system->training.roles[SIM_TRAIN_ROLLOUT] : SIM_ACTORS_NOBODY;
    for (uint32_t r = 0; r < system->roles_count; r++) {
        bool has_work = r == rollouts;
        for (size_t c = 0; c < system->calls_count; c++)
            has_work = has_work || system->calls[c].from == r;
        if (system->sets[system->roles[r].set].count < 0 && !has_work)
            sim_report_error(resolver->report, roles_of(draft)[r].head.node,
                             "needs a count: it calls nobody, so nothing says how many are needed");
    }
}

static void resolve_system(struct sim_resolver *resolver, struct draft_actor_system *draft,
                           struct sim_actor_system *system)
{
    system->name = draft->head.name;
    system->ends_on_loss = draft->on_loss == ON_LOSS_STOP;
    system->environment_bytes = draft->environment_bytes;
    system->creation_per_s = (double)draft->creation_bytes;
    system->ready_limit_ns = limit_or_none(draft->ready_limit_ns);
    system->group_limit_ns = limit_or_none(draft->group_limit_ns);
    resolve_roles(resolver, draft, system);
    sim_resolve_environments(resolver, draft, system);
    resolve_calls(resolver, draft, system);
    resolve_training(resolver, draft, system);
    check_counts(resolver, draft, system);
}

void sim_resolve_actors(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    struct draft_list *list = &resolver->draft->actors;
    struct draft_actor_system *systems = list->items;
    struct sim_name_set names = sim_name_set_open(resolver->arena);
    size_t pools = scenario->stages_total;
    scenario->actors_count = list->count;
    scenario->actors = sim_arena_alloc(resolver->arena, list->count + 1, sizeof *scenario->actors);
    for (size_t i = 0; i < list->count; i++) {
        resolve_system(resolver, &systems[i], &scenario->actors[i]);
        scenario->actors[i].set_first = pools;
        pools += scenario->actors[i].sets_count;
        if (!sim_name_set_add(&names, scenario->actors[i].name))
            sim_report_error(resolver->report, sim_draft_at(&systems[i].head, "name"),
                             "two systems are called '%s'", scenario->actors[i].name);
    }
    sim_resolve_not_empty(resolver, sim_yaml_get(resolver->root, "actors"),
                          "there is no system in it");
}
