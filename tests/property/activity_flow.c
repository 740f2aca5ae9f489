/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activities over several links against a plain progressive filling: random networks, starts,
 * stops, changes of weight, cap and capacity.
 *
 * The plain filling looks at every link and every flow, and at nothing else: no component, no heap,
 * no pruning of links that cannot limit. After each instant every rate must be the same fraction.
 * Work left is followed beside it; who ends has none left, who has none left has ended. Each rate
 * is also shown to be max-min: a flow has what it wants, or a full link on which no one has more.
 */
#include "sim/engine/activity_state.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_OPERATE, KIND_END, LINKS = 8, FLOWS = 256, OPERATIONS = 80, NETWORKS = 250 };

struct fraction {
    uint64_t num, den;
};

struct flow {
    bool lives, is_open;
    uint8_t links;
    uint32_t link[SIM_ACTIVITY_RESOURCES];
    uint32_t weight;
    uint64_t cap, wanted;
    struct fraction rate; /* per unit of weight; den 0: `wanted` */
    long double left;
};

struct net {
    struct draws draws;
    struct sim_engine *engine;
    struct sim_activities *activities;
    uint32_t links;
    uint64_t capacity[LINKS], left[LINKS];
    uint64_t weights[LINKS];
    struct flow flows[FLOWS];
    sim_handle handles[FLOWS];
    uint32_t count;
    uint32_t ended;
    int64_t at_ns;
    uint32_t mistakes;
};

static void mistake(struct net *net, const char *what, uint32_t index)
{
    if (net->mistakes++ == 0)
        printf("%s: %u at %lld ns\n", what, index, (long long)sim_engine_now(net->engine));
}

/* --- the plain filling ------------------------------------------------------------------------ */

static bool uses(const struct flow *flow, uint32_t link)
{
    for (uint32_t i = 0; i < flow->links; i++) {
        if (flow->link[i] == link)
            return true;
    }
    return false;
}

static void open_flows(struct net *net)
{
    memset(net->weights, 0, sizeof net->weights);
    memcpy(net->left, net->capacity, sizeof net->left);
    for (uint32_t i = 0; i < net->count; i++) {
        struct flow *flow = &net->flows[i];
        flow->is_open = flow->lives;
        flow->wanted = flow->cap;
        for (uint32_t k = 0; flow->lives && k < flow->links; k++) {
            net->weights[flow->link[k]] += flow->weight;
            if (net->capacity[flow->link[k]] < flow->wanted)
                flow->wanted = net->capacity[flow->link[k]];
        }
    }
}

/* The link with the least share; LINKS when all flows have their rate. */
static uint32_t tightest(const struct net *net)
{
    uint32_t best = LINKS;
    for (uint32_t i = 0; i < net->links; i++) {
        if (net->weights[i] > 0 &&
            (best == LINKS || (sim_quanta)net->left[i] * net->weights[best] <
                                  (sim_quanta)net->left[best] * net->weights[i]))
            best = i;
    }
    return best;
}

static uint32_t give_wanted(struct net *net, uint32_t link)
{
    const struct fraction share = { net->left[link], net->weights[link] };
    uint32_t given = 0;
    for (uint32_t i = 0; i < net->count; i++) {
        struct flow *flow = &net->flows[i];
        if (!flow->is_open || !uses(flow, link) ||
            (sim_quanta)flow->wanted * share.den > (sim_quanta)share.num * flow->weight)
            continue;
        flow->is_open = false;
        flow->rate = (struct fraction){ 0, 0 };
        given++;
        for (uint32_t k = 0; k < flow->links; k++) {
            net->left[flow->link[k]] -= flow->wanted;
            net->weights[flow->link[k]] -= flow->weight;
        }
    }
    return given;
}

static void give_share(struct net *net, uint32_t link)
{
    const struct fraction share = { net->left[link], net->weights[link] };
    uint64_t taken[LINKS] = { 0 };
    for (uint32_t i = 0; i < net->count; i++) {
        struct flow *flow = &net->flows[i];
        if (!flow->is_open || !uses(flow, link))
            continue;
        flow->is_open = false;
        flow->rate = share;
        for (uint32_t k = 0; k < flow->links; k++)
            taken[flow->link[k]] += flow->weight;
    }
    for (uint32_t i = 0; i < net->links; i++) {
        const sim_quanta use = (sim_quanta)taken[i] * share.num;
        net->left[i] -= (uint64_t)((use + share.den - 1) / share.den);
        net->weights[i] -= taken[i];
    }
}

static void fill(struct net *net)
{
    open_flows(net);
    for (uint32_t link = tightest(net); link < LINKS; link = tightest(net)) {
        if (give_wanted(net, link) == 0)
            give_share(net, link);
    }
}

static long double rate_of(const struct flow *flow)
{
    if (flow->rate.den == 0)
        return (long double)flow->wanted;
    return (long double)flow->rate.num * flow->weight / (long double)flow->rate.den;
}

static void elapse(struct net *net)
{
    const int64_t now_ns = sim_engine_now(net->engine);
    for (uint32_t i = 0; i < net->count; i++) {
        if (net->flows[i].lives)
            net->flows[i].left -= rate_of(&net->flows[i]) * (long double)(now_ns - net->at_ns);
    }
    net->at_ns = now_ns;
}

/* --- comparisons -------------------------------------------------------------------------------
 */

static const long double EPSILON = 1 << 26; /* quanta: 2^-15 ns of a device */

static void compare_rate(struct net *net, uint32_t index)
{
    const struct sim_activities *activities = net->activities;
    const struct flow *flow = &net->flows[index];
    const uint32_t slot = activity_slot(activities, net->handles[index]);
    if (slot == ACTIVITY_NONE) {
        mistake(net, "gone", index);
        return;
    }
    const struct activity_terms *terms = &activities->terms[slot];
    sim_quanta num = activities->list[slot].rate;
    sim_quanta den = 1;
    if (terms->group != ACTIVITY_NONE) {
        const struct activity_group *group = &activities->groups[terms->group];
        const struct service_clock *clock =
            group->pooled ? &activities->resources[group->resource].pool : &group->clock;
        num = (sim_quanta)clock->num * terms->weight;
        den = clock->den;
    }
    const bool is_equal = flow->rate.den == 0 ? num == flow->wanted * den
                                              : num * flow->rate.den ==
                                                    (sim_quanta)flow->rate.num * flow->weight * den;
    if (!is_equal)
        mistake(net, "another rate", index);
    if (flow->left < -EPSILON)
        mistake(net, "has not ended", index);
}

/* A flow with less than it wants has a full link on which no one has more per weight. */
static void check_max_min(struct net *net, uint32_t index)
{
    const struct flow *flow = &net->flows[index];
    if (flow->rate.den == 0)
        return;
    for (uint32_t k = 0; k < flow->links; k++) {
        const uint32_t link = flow->link[k];
        long double sum = 0;
        bool is_most = true;
        for (uint32_t i = 0; i < net->count; i++) {
            const struct flow *other = &net->flows[i];
            if (!other->lives || !uses(other, link))
                continue;
            sum += rate_of(other);
            is_most &= rate_of(other) / other->weight <= rate_of(flow) / flow->weight * (1 + 1e-9L);
        }
        if (is_most && sum > (long double)net->capacity[link] - LINKS - 1)
            return;
    }
    mistake(net, "no link limits it", index);
}

static void compare_all(struct net *net)
{
    struct weir_error error = { 0 };
    if (sim_activities_check(net->activities, &error) != WEIR_OK)
        mistake(net, error.text, 0);
    for (uint32_t i = 0; i < net->count; i++) {
        if (!net->flows[i].lives)
            continue;
        compare_rate(net, i);
        check_max_min(net, i);
    }
}

/* --- operations --------------------------------------------------------------------------------
 */

static uint64_t draw_rate(struct net *net)
{
    static const uint64_t rates[] = { SIM_DEVICE_QPNS, SIM_DEVICE_QPNS / 10, SIM_DEVICE_QPNS / 4,
                                      SIM_DEVICE_QPNS / 3 };
    const uint64_t rate = rates[draws_below(&net->draws, 4)];
    return draws_one_in(&net->draws, 2) ? rate : rate + draws_below(&net->draws, 1 << 30);
}

static void start(struct net *net)
{
    struct flow *flow = &net->flows[net->count];
    struct draws *draws = &net->draws;
    *flow = (struct flow){ .lives = true,
                           .weight = 1 + (uint32_t)draws_below(draws, 3),
                           .cap = draws_one_in(draws, 3) ? draw_rate(net) : SIM_UNCAPPED };
    const int64_t run_ns = 1 + (int64_t)draws_below(draws, 5000);
    struct sim_activity_spec spec = { .work = sim_work_of_ns(run_ns, draw_rate(net)),
                                      .cap_qpns = flow->cap,
                                      .owner = net->count,
                                      .weight = flow->weight };
    for (uint32_t link = 0; link < net->links && flow->links < SIM_ACTIVITY_RESOURCES; link++) {
        if (draws_one_in(draws, 3) || (link + 1 == net->links && flow->links == 0))
            flow->link[flow->links++] = link;
    }
    spec.resources = flow->links;
    memcpy(spec.resource, flow->link, sizeof spec.resource);
    flow->left = (long double)spec.work;
    if (sim_activity_start(net->activities, &spec, &net->handles[net->count], NULL) != WEIR_OK)
        mistake(net, "not started", net->count);
    net->count++;
}

static void change(struct net *net, uint32_t index)
{
    struct flow *flow = &net->flows[index];
    sim_quanta left = 0;
    switch (draws_below(&net->draws, 4)) {
    case 0:
        if (!sim_activity_stop(net->activities, net->handles[index], &left))
            mistake(net, "not stopped", index);
        flow->lives = false;
        if ((long double)left < flow->left - EPSILON || (long double)left > flow->left + EPSILON)
            mistake(net, "left", index);
        break;
    case 1:
        flow->weight = 1 + (uint32_t)draws_below(&net->draws, 4);
        flow->cap = draws_one_in(&net->draws, 2) ? draw_rate(net) : SIM_UNCAPPED;
        if (sim_activity_set(net->activities, net->handles[index], flow->weight, flow->cap) !=
            WEIR_OK)
            mistake(net, "not set", index);
        break;
    default: /* a look */
        if (!sim_activity_left(net->activities, net->handles[index], &left))
            mistake(net, "gone", index);
        (void)sim_activity_set(net->activities, net->handles[index], flow->weight, flow->cap);
        break;
    }
}

static void operate(struct net *net)
{
    const uint64_t choice = draws_below(&net->draws, 10);
    elapse(net);
    if (choice < 5 || net->count == 0) {
        start(net);
    } else if (choice == 9) {
        const uint32_t link = (uint32_t)draws_below(&net->draws, net->links);
        net->capacity[link] = draws_one_in(&net->draws, 5) ? 0 : draw_rate(net);
        if (sim_resource_set_capacity(net->activities, link, net->capacity[link]) != WEIR_OK)
            mistake(net, "no capacity", link);
    } else {
        const uint32_t index = (uint32_t)draws_below(&net->draws, net->count);
        if (net->flows[index].lives)
            change(net, index);
    }
    fill(net);
}

static weir_status handle(void *context, const struct sim_event *event)
{
    struct net *net = context;
    const struct sim_ended *ended = NULL;
    uint32_t count = 0;
    if (event->kind == KIND_OPERATE) {
        operate(net);
        return WEIR_OK;
    }
    elapse(net);
    WEIR_TRY(sim_activities_fire(net->activities, event, &ended, &count));
    for (uint32_t i = 0; i < count; i++) {
        struct flow *flow = &net->flows[ended[i].owner];
        if (!flow->lives || flow->left > EPSILON)
            mistake(net, "has ended too soon", (uint32_t)ended[i].owner);
        flow->lives = false;
        net->ended++;
    }
    fill(net);
    if (event->target == UINT32_MAX) /* the settlement */
        compare_all(net);
    return WEIR_OK;
}

static void unfreeze(struct net *net)
{
    for (uint32_t link = 0; link < net->links; link++) {
        if (net->capacity[link] == 0)
            net->capacity[link] = SIM_DEVICE_QPNS;
        CHECK_I64(sim_resource_set_capacity(net->activities, link, net->capacity[link]), WEIR_OK);
    }
    fill(net);
    CHECK_I64(sim_engine_run(net->engine, handle, net, SIM_TIME_MAX), WEIR_OK);
    CHECK_I64(sim_activities_running(net->activities), 0);
}

static uint32_t run_network(uint64_t seed)
{
    struct net *net = calloc(1, sizeof *net);
    net->draws = draws_seeded(seed);
    net->engine = sim_engine_create();
    net->activities = sim_activities_create(net->engine, KIND_END);
    net->links = 1 + (uint32_t)draws_below(&net->draws, LINKS);
    for (uint32_t link = 0; link < net->links; link++) {
        uint32_t index = 0;
        net->capacity[link] = draw_rate(net);
        CHECK_I64(sim_resource_add(net->activities, SIM_SHARE_WEIGHTS, net->capacity[link], &index),
                  WEIR_OK);
    }
    int64_t at_ns = 0;
    for (uint32_t i = 0; i < OPERATIONS && net->mistakes == 0; i++) {
        if (!draws_one_in(&net->draws, 3))
            at_ns += (int64_t)draws_below(&net->draws, 3000);
        const struct sim_event event = { .time_ns = at_ns,
                                         .kind = KIND_OPERATE,
                                         .phase = SIM_PHASE_ARRIVAL };
        (void)sim_engine_schedule(net->engine, &event);
        CHECK_I64(sim_engine_run(net->engine, handle, net, at_ns), WEIR_OK);
    }
    if (net->mistakes == 0)
        unfreeze(net);
    if (!CHECK_I64(net->mistakes, 0))
        printf("seed %llu\n", (unsigned long long)seed);
    const uint32_t ended = net->ended;
    sim_activities_destroy(net->activities);
    sim_engine_destroy(net->engine);
    free(net);
    return ended;
}

static void networks_follow_the_plain_filling(void)
{
    uint32_t ended = 0;
    for (uint64_t seed = 1; seed <= NETWORKS; seed++)
        ended += run_network(seed);
    CHECK(ended > 20 * NETWORKS);
}

static const struct test tests[] = {
    { "networks follow the plain filling", networks_follow_the_plain_filling },
};

TEST_MAIN(tests)
