/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls of a host in any order with any arguments, taken from the input. Each is accepted or
 * refused with a status of its own; after every decision the inventory and the books of the jobs
 * are added up anew by their plain checks, and a plan that was handed out holds against the view it
 * was made for.
 *
 * No call draws two of its arguments: compilers evaluate them in different orders, and an input
 * that one of them found would be another game to the next.
 */
#include "sched/host/state.h"
#include "tests/support/draws.h"
#include "tests/support/pipeline.h"
#include "tests/support/reached.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_CALLS = 200, WORKERS = 64, NODE_GPUS = 3 };

struct game {
    struct draws draws;
    struct weir_host *host;
    const struct weir_plan *plan; /* the last one, while it is the host's */
    int64_t now_ns;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t draw(struct game *game, uint32_t below)
{
    return (uint32_t)draws_below(&game->draws, below);
}

/* Mostly small; sometimes what nobody should say. */
static int64_t draw_amount(struct game *game)
{
    static const int64_t extremes[] = { 0, -1, INT64_MAX, INT64_MIN, 1 };
    if (draw(game, 16) == 0)
        return extremes[draw(game, 5)];
    return WEIR_ONE / 4 * draw(game, 33);
}

/* No cluster on which a policy starts workers for minutes: that is its good right. */
static int64_t draw_cpus(struct game *game)
{
    const int64_t amount = draw_amount(game);
    return amount == INT64_MAX ? 9 * WEIR_ONE : amount;
}

static double draw_real(struct game *game)
{
    static const double odd[] = { 0, -1, 1e300, -1e300, 1e-300, 0.5, 1, 2 };
    return odd[draw(game, 8)];
}

static uint32_t draw_index(struct game *game)
{
    const uint32_t index = draw(game, 12);
    return index == 11 ? WEIR_NO_INDEX : index;
}

static struct weir_shape draw_shape(struct game *game)
{
    const struct weir_request request = { .cpus = draw(game, 9) / 2.0,
                                          .gpus = draw(game, 9) / 4.0,
                                          .nvdecs = (int32_t)draw(game, 3),
                                          .nvencs = (int32_t)draw(game, 3) / 2,
                                          .ram_bytes = draw(game, 6),
                                          .entire_gpu = draw(game, 16) == 0 };
    struct weir_shape shape = { .cpu_units = WEIR_ONE };
    (void)weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &shape, NULL);
    return shape;
}

static struct weir_alloc draw_alloc(struct game *game)
{
    struct weir_alloc alloc = { .node = draw_index(game),
                                .device_count = draw(game, 18) % 3,
                                .cpu_units = draw_amount(game),
                                .ram_bytes = draw(game, 8) };
    for (uint32_t i = 0; i < 2; i++)
        alloc.devices[i] = (struct weir_device){ .gpu = draw(game, 5),
                                                 .nvdec_mask = draw(game, 5),
                                                 .nvenc_mask = draw(game, 3),
                                                 .units = draw_amount(game),
                                                 .mem_bytes = draw(game, 4) };
    if (draw(game, 32) == 0)
        alloc.device_count = draw(game, 1 << 16);
    return alloc;
}

/* ---- calls ---- */

static void add_node(struct game *game)
{
    struct weir_gpu_spec gpus[NODE_GPUS];
    for (uint32_t i = 0; i < NODE_GPUS; i++)
        gpus[i] = (struct weir_gpu_spec){ .units = WEIR_ONE,
                                          .type = draw(game, 2),
                                          .nvdecs = draw(game, 4),
                                          .nvencs = draw(game, 3),
                                          .mem_bytes = draw(game, 8) };
    const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                         .id = draw(game, 8),
                                         .gpu_count = draw(game, NODE_GPUS + 1),
                                         .gpus = gpus,
                                         .cpu_units = draw_cpus(game),
                                         .ram_bytes = draw_amount(game) };
    (void)weir_host_add_node(game->host, &node, NULL, NULL);
}

static void change_node(struct game *game)
{
    const uint32_t node = draw_index(game);
    switch (draw(game, 4)) {
    case 0:
        (void)weir_host_set_node(game->host, node, draw(game, 8), game->now_ns);
        break;
    case 1:
        (void)weir_host_remove_node(game->host, node, game->now_ns);
        break;
    case 2: {
        const int64_t cpus = draw_cpus(game);
        (void)weir_host_change_node(game->host, node, cpus, draw_amount(game), NULL);
        break;
    }
    default: {
        const uint32_t gpu = draw(game, 5);
        (void)weir_host_set_gpu_health(game->host, node, gpu, draw(game, 2) == 0);
    }
    }
}

static struct weir_pool_spec draw_pool(struct game *game, char name[2])
{
    name[0] = (char)('a' + draw(game, 6));
    name[1] = '\0';
    return (struct weir_pool_spec){ .size = sizeof(struct weir_pool_spec),
                                    .pipeline = draw(game, 2),
                                    .name = name,
                                    .shape = draw_shape(game),
                                    .requested_workers = (int32_t)draw(game, 6) - 2,
                                    .batch_size = draw(game, 4),
                                    .slots = draw(game, 4),
                                    .over_provision = draw_real(game),
                                    .speed_hint_per_s = draw_real(game) };
}

static void change_pool(struct game *game)
{
    char name[2];
    const struct weir_pool_spec spec = draw_pool(game, name);
    const uint32_t pool = draw_index(game);
    const struct weir_pool_update update = { .size = sizeof(struct weir_pool_update),
                                             .ready = draw(game, 8),
                                             .busy = draw(game, 8),
                                             .finished = draw(game, 8) == 0,
                                             .queued_items = draw(game, 1000),
                                             .slots = draw(game, 4),
                                             .requested_workers = (int32_t)draw(game, 6) - 2 };
    switch (draw(game, 5)) {
    case 0:
        (void)weir_host_add_pool(game->host, &spec, NULL, NULL);
        break;
    case 1:
        (void)weir_host_change_pool(game->host, pool, &spec, NULL);
        break;
    case 2:
        (void)weir_host_remove_pool(game->host, pool, NULL);
        break;
    case 3:
        (void)weir_host_set_estimate(
            game->host, pool,
            (struct weir_estimate){ .batches_per_s = draw_real(game),
                                    .returns_per_batch = draw_real(game) });
        break;
    default:
        (void)weir_host_update_pool(game->host, pool, &update);
    }
}

static void submit(struct game *game)
{
    struct weir_rank_group groups[2];
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t ranks = draw(game, 5);
        groups[i] = (struct weir_rank_group){ .ranks = ranks,
                                              .ranks_min = draw(game, 8) == 0 ? 1 : ranks,
                                              .ranks_max = ranks,
                                              .shape = draw_shape(game) };
    }
    const struct weir_job_spec job = { .size = sizeof(struct weir_job_spec),
                                       .workload = draw(game, 3),
                                       .id = draw(game, 16),
                                       .groups = groups,
                                       .group_count = draw(game, 3),
                                       .strategy = draw(game, WEIR_MAX_STRATEGY + 3),
                                       .tenant = draw(game, 3),
                                       .user = draw(game, 3),
                                       .priority = (int32_t)draw(game, 5) - 2,
                                       .attempts = draw(game, 3),
                                       .submit_ns = draw(game, 100),
                                       .queued_ns = draw(game, 100),
                                       .estimate_ns = draw(game, 4) == 0 ? WEIR_UNKNOWN_TIME
                                                                         : draw(game, 1000),
                                       .deadline_ns = WEIR_UNKNOWN_TIME };
    (void)weir_host_submit(game->host, &job, NULL);
}

static void change_job(struct game *game)
{
    const uint32_t workload = draw(game, 3);
    const uint64_t id = draw(game, 16);
    switch (draw(game, 4)) {
    case 0:
        (void)weir_host_withdraw(game->host, workload, id);
        break;
    case 1:
        (void)weir_host_ended(game->host, workload, id, NULL);
        break;
    case 2:
        (void)weir_host_set_queue_limit(game->host, workload, draw(game, 4));
        break;
    default:
        (void)weir_host_add_workload(game->host, draw(game, 2) == 0 ? "w" : "v", NULL, NULL);
    }
}

static struct weir_owner draw_owner(struct game *game)
{
    if (draw(game, 2) == 0)
        return weir_pool_owner(draw_index(game));
    const uint32_t job = draw(game, 3);
    return weir_job_owner(job, draw(game, 16));
}

/* Somebody says what became of a worker, whoever asked for it. */
static void tell(struct game *game)
{
    const struct weir_alloc alloc = draw_alloc(game);
    const struct weir_owner owner = draw_owner(game);
    const struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                          .kind = draw(game, 7),
                                          .reason = draw(game, 30),
                                          .node = draw_index(game),
                                          .owner = owner,
                                          .gpu = draw(game, 5),
                                          .worker = draw(game, WORKERS),
                                          .time_ns = game->now_ns };
    const struct weir_measurement task = { .size = sizeof(struct weir_measurement),
                                           .pool = draw_index(game),
                                           .start_ns = draw(game, 1000),
                                           .end_ns = draw(game, 1000),
                                           .returns = draw(game, 4),
                                           .batch = draw(game, 4),
                                           .worker = draw(game, WORKERS) };
    switch (draw(game, 4)) {
    case 0:
        (void)weir_host_outcome(game->host, &outcome, draw(game, 8) == 0 ? NULL : &alloc, NULL);
        break;
    case 1:
        (void)weir_host_adopt_worker(game->host, draw(game, WORKERS), owner, &alloc, NULL);
        break;
    case 2:
        (void)weir_host_measure(game->host, &task);
        break;
    default: {
        const uint32_t worker = draw(game, WORKERS);
        (void)weir_host_set_worker_state(game->host, worker, draw(game, 4), game->now_ns);
    }
    }
}

static void check(struct game *game)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (weir_jobs_check(&game->host->jobs, &error) == WEIR_OK &&
        weir_cluster_check(game->host->inventory, &error) == WEIR_OK)
        return;
    (void)fprintf(stderr, "%s\n", error.text);
    abort();
}

static void decide(struct game *game)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    game->now_ns += draw(game, 2) == 0 ? 0 : (int64_t)draw(game, 200) * INT64_C(1000000000);
    const struct weir_call call = { .size = sizeof call,
                                    .causes = 1 + draw(game, 255),
                                    .now_ns = game->now_ns - (draw(game, 16) == 0),
                                    .max_actions = draw(game, 8) };
    game->plan = NULL;
    const weir_status status = weir_host_decide(game->host, &call, &game->plan, &error);
    if ((status == WEIR_OK) != (game->plan != NULL) || status == WEIR_EINVARIANT ||
        (status != WEIR_OK && error.text[0] == '\0')) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    check(game);
}

/* The plan comes true, or is called off. */
static void carry_out(struct game *game)
{
    if (game->plan == NULL)
        return;
    if (draw(game, 4) == 0)
        (void)weir_host_cancel(game->host, NULL);
    else if (test_carry_out(game->host, game->plan) != WEIR_OK)
        abort();
    else if (weir_plan_count(game->plan) > 0)
        fuzz_reached();
    game->plan = NULL;
    check(game);
}

static void play(struct game *game)
{
    static void (*const calls[])(struct game *) = { add_node, change_node, change_pool, submit,
                                                    submit,   change_job,  tell,        decide,
                                                    decide,   carry_out };
    for (uint32_t i = 0; i < MOST_CALLS && !game->draws.is_over; i++) {
        const uint32_t which = draw(game, sizeof calls / sizeof calls[0]);
        /* What is told in between may contradict the plan: then it is not carried out. */
        if (which < 7 && which != 3 && which != 4)
            game->plan = NULL;
        calls[which](game);
    }
    check(game);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const scalings[] = { "fixed", "equal_split", "xenna" };
    struct game game = { .draws = draws_bytes(data, size) };
    const uint32_t placement = draw(&game, weir_placement_count());
    struct weir_host_config config =
        test_config(weir_placement_at(placement)->name, scalings[draw(&game, 3)]);
    config.queueing = weir_queueing_at(draw(&game, weir_queueing_count()));
    config.hold_mode = draw(&game, 3);
    config.cut_min_gain = draw(&game, 3);
    config.explain = draw(&game, 4);
    if (weir_host_create(&config, &game.host, NULL) != WEIR_OK)
        return 0;
    play(&game);
    weir_host_destroy(game.host);
    return 0;
}
