/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Orders of static experiments: what is shuffled is a permutation that belongs to the seed and the
 * replication alone, and the arrivals are trimmed to the demand.
 */
#include "sim/lab/arrival_order.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 40, GPUS = 64, NODES = 30 };

/* Jobs of 0, 1, 2 and 4 GPUs and a share in turn. They are the caller's to free. */
static struct sim_workload workload_of_all_kinds(void)
{
    static const uint32_t gpus[] = { 1, 0, 2, 1, 4 };
    struct sim_job_spec *const jobs = calloc(JOBS, sizeof *jobs);
    if (jobs == NULL)
        abort();
    for (uint32_t i = 0; i < JOBS; i++)
        jobs[i] =
            (struct sim_job_spec){ .members = 1,
                                   .shape = { .gpu_count = gpus[i % 5],
                                              .gpu_units = i % 5 == 3 ? WEIR_ONE / 2 : WEIR_ONE },
                                   .models = "" };
    return (struct sim_workload){ .jobs = jobs,
                                  .jobs_count = JOBS,
                                  .is_shuffled = true,
                                  .ranks = SIM_RANKS_SHUFFLED,
                                  .demand_frac = (double)NAN };
}

static struct wl_openb_order order_of(const struct sim_workload *workload, uint64_t replication)
{
    const struct sim_order_query query = { .workload = workload,
                                           .random = { .seed = 7, .replication = replication },
                                           .nodes = NODES,
                                           .gpus = GPUS };
    struct wl_openb_order order = { .arrivals = NULL };
    CHECK_I64(sim_arrival_order(&query, &order, NULL), WEIR_OK);
    return order;
}

static bool is_permutation(const uint32_t *list, size_t count)
{
    bool seen[JOBS] = { false };
    for (size_t i = 0; i < count; i++) {
        if (list[i] >= count || seen[list[i]])
            return false;
        seen[list[i]] = true;
    }
    return true;
}

static bool is_ascending(const uint32_t *list, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (list[i] <= list[i - 1])
            return false;
    return true;
}

static double gpus_of(const struct sim_workload *workload, const struct wl_openb_order *order)
{
    int64_t units = 0;
    for (size_t i = 0; i < order->arrival_count; i++) {
        const struct weir_shape *shape = &workload->jobs[order->arrivals[i]].shape;
        units += shape->gpu_units * shape->gpu_count;
    }
    return (double)units / (double)WEIR_ONE;
}

static void orders_are_permutations_of_seed_and_replication(void)
{
    const struct sim_workload workload = workload_of_all_kinds();
    struct wl_openb_order first = order_of(&workload, 0);
    struct wl_openb_order again = order_of(&workload, 0);
    struct wl_openb_order other = order_of(&workload, 1);
    CHECK_I64(first.arrival_count, JOBS);
    CHECK_I64(first.rank_count, NODES);
    CHECK(is_permutation(first.arrivals, JOBS) && is_permutation(first.ranks, NODES));
    CHECK(!is_ascending(first.arrivals, JOBS) && !is_ascending(first.ranks, NODES));
    CHECK_I64(memcmp(first.arrivals, again.arrivals, JOBS * sizeof(uint32_t)), 0);
    CHECK_I64(memcmp(first.ranks, again.ranks, NODES * sizeof(uint32_t)), 0);
    CHECK(memcmp(first.arrivals, other.arrivals, JOBS * sizeof(uint32_t)) != 0);
    CHECK(memcmp(first.ranks, other.ranks, NODES * sizeof(uint32_t)) != 0);
    wl_openb_order_clear(&first);
    wl_openb_order_clear(&again);
    wl_openb_order_clear(&other);
    free(workload.jobs);
}

static void every_place_is_equally_likely(void)
{
    /* Row 0 comes to each of 40 places 250 times in 10 000: chi-square of 39 degrees, 1e-6
     * above 95. */
    enum { TIMES = 10000 };
    const struct sim_workload workload = workload_of_all_kinds();
    uint32_t places[JOBS] = { 0 };
    for (uint64_t r = 0; r < TIMES; r++) {
        struct wl_openb_order order = order_of(&workload, r);
        for (size_t i = 0; i < JOBS; i++)
            places[i] += order.arrivals[i] == 0 ? 1 : 0;
        wl_openb_order_clear(&order);
    }
    const double expected = (double)TIMES / JOBS;
    double distance = 0;
    for (size_t i = 0; i < JOBS; i++)
        distance += (places[i] - expected) * (places[i] - expected) / expected;
    CHECK(distance < 95);
    free(workload.jobs);
}

static void rows_arrive_again_until_the_demand_is_met(void)
{
    struct sim_workload workload = workload_of_all_kinds();
    workload.is_shuffled = false;
    workload.ranks = SIM_RANKS_AS_GIVEN;
    workload.demand_frac = 1.5; /* of 64 GPUs; the rows ask for 60 */
    struct wl_openb_order order = order_of(&workload, 3);
    struct wl_openb_order other = order_of(&workload, 4);
    CHECK(order.arrival_count > JOBS);
    CHECK(is_ascending(order.arrivals, JOBS)); /* the rows first, as they stand */
    CHECK(is_ascending(order.ranks, NODES));
    CHECK(gpus_of(&workload, &order) > 96 - 4 && gpus_of(&workload, &order) <= 96);
    CHECK(other.arrival_count != order.arrival_count ||
          memcmp(order.arrivals, other.arrivals, order.arrival_count * sizeof(uint32_t)) != 0);
    wl_openb_order_clear(&order);
    wl_openb_order_clear(&other);
    free(workload.jobs);
}

static void rows_are_left_out_when_they_ask_for_more(void)
{
    struct sim_workload workload = workload_of_all_kinds();
    workload.is_shuffled = false;
    workload.demand_frac = 0.5;
    struct wl_openb_order order = order_of(&workload, 3);
    CHECK(order.arrival_count < JOBS);
    CHECK(is_ascending(order.arrivals, order.arrival_count)); /* those left keep their order */
    CHECK(gpus_of(&workload, &order) > 32 - 4 && gpus_of(&workload, &order) <= 32);
    wl_openb_order_clear(&order);
    free(workload.jobs);
}

static void a_demand_nobody_asks_for_is_refused(void)
{
    struct sim_workload workload = workload_of_all_kinds();
    struct weir_error error = { .phase = -1 };
    struct wl_openb_order order = { .arrivals = NULL };
    for (uint32_t i = 0; i < JOBS; i++)
        workload.jobs[i].shape.gpu_count = 0;
    workload.demand_frac = 1;
    const struct sim_order_query query = { .workload = &workload, .nodes = NODES, .gpus = GPUS };
    CHECK_I64(sim_arrival_order(&query, &order, &error), WEIR_EINFEASIBLE);
    CHECK_STR(error.text, "demand: no job asks for GPUs");
    CHECK(order.arrivals == NULL && order.ranks == NULL);
    free(workload.jobs);
}

static const struct test tests[] = {
    { "orders are permutations that belong to seed and replication",
      orders_are_permutations_of_seed_and_replication },
    { "every place in the order is equally likely", every_place_is_equally_likely },
    { "rows arrive again until the demand is met", rows_arrive_again_until_the_demand_is_met },
    { "random rows are left out when they ask for more", rows_are_left_out_when_they_ask_for_more },
    { "a demand that nobody asks for is refused", a_demand_nobody_asks_for_is_refused },
};
TEST_MAIN(tests)
