/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a decision costs beside the placement: CPU time of a decision that starts one worker of a
 * stage, or one job, and of the outcomes that follow (started, stopped), with a placement that
 * answers at once. For 1 to 10 000 stages and with 0 to 100 000 jobs that wait, of four kinds that
 * do not fit; the exponent says how the cost grows with the number of stages.
 */
#include "weir/host.h"
#include "tests/support/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 4, ROUNDS_MOST = 400000 };

static void require(weir_status status)
{
    if (status == WEIR_OK)
        return;
    fprintf(stderr, "%s\n", weir_status_text(status));
    exit(1);
}

static weir_status place_at_once(void *state, const struct weir_place_query *query,
                                 struct weir_place_answer *answer, struct weir_error *error)
{
    (void)state, (void)error;
    answer->alloc.node = 0;
    answer->alloc.device_count = 0;
    answer->alloc.cpu_units = query->shape->cpu_units;
    answer->alloc.ram_bytes = 0;
    return WEIR_OK;
}

static weir_status start_one(void *state, const struct weir_view *view, struct weir_placer *placer,
                             struct weir_plan *plan, struct weir_error *error)
{
    (void)state, (void)plan;
    return weir_placer_start(placer, view->pool_count / 2, error);
}

static const struct weir_placement_ops placement = { .size = sizeof placement,
                                                     .abi = WEIR_ABI_MAJOR,
                                                     .name = "at_once",
                                                     .summary = "the first node",
                                                     .flags = WEIR_PLACEMENT_WITHOUT_MIX,
                                                     .place = place_at_once };
static const struct weir_scaling_ops scaling = { .size = sizeof scaling,
                                                 .abi = WEIR_ABI_MAJOR,
                                                 .name = "one",
                                                 .summary = "one worker more",
                                                 .decide = start_one };

static void submit(struct weir_host *host, uint64_t id, int64_t cpu_units)
{
    const struct weir_rank_group group = { .ranks = 1,
                                           .ranks_min = 1,
                                           .ranks_max = 1,
                                           .shape = { .kind = WEIR_SHAPE_CPU,
                                                      .cpu_units = cpu_units } };
    const struct weir_job_spec spec = { .size = sizeof spec,
                                        .id = id,
                                        .groups = &group,
                                        .group_count = 1,
                                        .submit_ns = (int64_t)id,
                                        .queued_ns = (int64_t)id,
                                        .estimate_ns = WEIR_UNKNOWN_TIME,
                                        .deadline_ns = WEIR_UNKNOWN_TIME };

    require(weir_host_submit(host, &spec, NULL));
}

/* Two nodes: the work that waits asks for more than is free on both, and fits when they are empty.
 */
static struct weir_host *open_host(uint32_t pools, uint32_t waiting)
{
    const struct weir_host_config config = { .size = sizeof config,
                                             .placement = &placement,
                                             .scaling = &scaling };
    const struct weir_alloc taken = { .node = 1, .cpu_units = 100 * WEIR_ONE };
    struct weir_host *host = NULL;

    require(weir_host_create(&config, &host, NULL));
    for (uint64_t id = 0; id < 2; id++) {
        const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                             .id = id,
                                             .cpu_units = 100 * WEIR_ONE };
        require(weir_host_add_node(host, &node, NULL, NULL));
    }
    for (uint32_t i = 0; i < pools; i++) {
        char name[16];
        const struct weir_pool_spec pool = { .size = sizeof(pool),
                                             .name = name,
                                             .pipeline = i,
                                             .requested_workers = -1,
                                             .shape = { .kind = WEIR_SHAPE_CPU,
                                                        .cpu_units = WEIR_ONE },
                                             .batch_size = 1,
                                             .slots = 2,
                                             .speed_hint_per_s = (double)NAN };
        (void)snprintf(name, sizeof name, "s%u", i);
        require(weir_host_add_pool(host, &pool, NULL, NULL));
    }
    require(weir_host_add_workload(host, "w", NULL, NULL));
    for (uint32_t i = 0; i < waiting; i++)
        submit(host, i, 96 * WEIR_ONE + i % KINDS);
    require(weir_host_adopt_worker(host, 1, weir_pool_owner(0), &taken, NULL));
    const struct weir_alloc some = { .node = 0, .cpu_units = 10 * WEIR_ONE };
    require(weir_host_adopt_worker(host, 2, weir_pool_owner(0), &some, NULL));
    return host;
}

static void tell(struct weir_host *host, const struct weir_action *action, uint32_t kind)
{
    const struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                          .kind = kind,
                                          .owner = action->owner,
                                          .worker = action->worker };

    require(weir_host_outcome(host, &outcome, &action->alloc, NULL));
}

/* One decision and what follows from it. */
static void play(struct weir_host *host, bool is_job, int64_t now_ns)
{
    const struct weir_call call = { .size = sizeof call,
                                    .causes = is_job ? WEIR_CAUSE_JOBS : WEIR_CAUSE_TIMER,
                                    .now_ns = now_ns };
    const uint64_t id = 1000000 + (uint64_t)now_ns;
    const struct weir_plan *plan = NULL;

    if (is_job)
        submit(host, id, WEIR_ONE);
    require(weir_host_decide(host, &call, &plan, NULL));
    const struct weir_action *const action = weir_plan_action(plan, 0);
    if (action == NULL || action->verb != WEIR_VERB_START)
        require(WEIR_EINVARIANT);
    tell(host, action, WEIR_OUTCOME_STARTED);
    tell(host, action, WEIR_OUTCOME_STOPPED);
    if (is_job)
        require(weir_host_ended(host, 0, id, NULL));
}

static double measure_ns(uint32_t pools, uint32_t waiting, bool is_job)
{
    struct weir_host *const host = open_host(pools, waiting);
    int64_t now_ns = 0;
    double best_s = HUGE_VAL;

    for (; now_ns < 10; now_ns++)
        play(host, is_job, now_ns);
    for (int repeat = 0; repeat < 5; repeat++) {
        const double begin_s = test_cpu_s();
        uint32_t rounds = 0;
        for (; rounds < ROUNDS_MOST / 5 && (rounds < 20 || test_cpu_s() - begin_s < 0.05);)
            for (uint32_t i = 0; i < 20; i++, rounds++)
                play(host, is_job, now_ns++);
        best_s = fmin(best_s, (test_cpu_s() - begin_s) / rounds);
    }
    weir_host_destroy(host);
    return best_s * 1e9;
}

int main(void)
{
    static const uint32_t pools[] = { 1, 100, 10000 };
    static const uint32_t waiting[] = { 0, 100000 };

    printf("ns a decision that starts one, with its outcomes, by number of stages\n");
    printf("%-6s %8s %10u %10u %10u   exponent\n", "starts", "waiting", pools[0], pools[1],
           pools[2]);
    for (int is_job = 0; is_job < 2; is_job++) {
        for (size_t w = 0; w < 2; w++) {
            double cost_ns[3];
            for (size_t p = 0; p < 3; p++)
                cost_ns[p] = measure_ns(pools[p], waiting[w], is_job != 0);
            printf("%-6s %8u %10.0f %10.0f %10.0f   %.2f\n", is_job ? "job" : "stage", waiting[w],
                   cost_ns[0], cost_ns[1], cost_ns[2], log(cost_ns[2] / cost_ns[0]) / log(1e4));
        }
    }
    return 0;
}
