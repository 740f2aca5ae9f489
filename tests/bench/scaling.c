/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPU seconds, the least of five, of one xenna pass over the 14-stage reference pipeline (variant
 * nvdec) on clusters of 2 to 10 000 nodes with 8 GPUs: from empty with known speeds, the steady
 * state, once more where that changed nothing, and after the speeds have changed; and the most
 * memory that libweir held. Then the same for its later versions, xenna_n with fgd_n and xenna_c
 * with fgd_c, and of scaling weir, to 1 000 nodes, or to 10 000 with --large. `plain` is the
 * placement policy as the tests' oracle computes it; it is run on small clusters only.
 */
#include "sched/internal/alloc.h"
#include "tests/support/clock.h"
#include "tests/support/oracle_fgd.h"
#include "weir/host.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 14 };

static const double seconds[STAGES] = { 3.1, 38.7, 1.5, 20.2, 3.9, 0.1, 1.6,
                                        0.9, 0.9,  3.0, 9.6,  7.7, 0.6, 3.1 };
static const double gpus[STAGES] = { 0, 0, 0.2, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1, 0 };
static const double cpus[STAGES] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4, 1, 1, 1 };
static const int nvdecs[STAGES] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0 };

static void require(weir_status status, const struct weir_error *error)
{
    if (status == WEIR_OK)
        return;
    fprintf(stderr, "%s: %s\n", weir_status_text(status), error->text);
    exit(1);
}

static void add_nodes(struct weir_host *host, uint32_t nodes)
{
    struct weir_error error = { 0 };
    struct weir_gpu_spec list[8] = { 0 };
    const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                         .gpu_count = 8,
                                         .cpu_units = 240 * WEIR_ONE,
                                         .gpus = list };

    for (uint32_t i = 0; i < 8; i++)
        list[i] = (struct weir_gpu_spec){ .units = WEIR_ONE, .nvdecs = 7 };
    for (uint32_t i = 0; i < nodes; i++) {
        struct weir_node_spec spec = node;
        spec.id = i;
        require(weir_host_add_node(host, &spec, NULL, &error), &error);
    }
}

static void add_stages(struct weir_host *host)
{
    struct weir_error error = { 0 };

    for (uint32_t i = 0; i < STAGES; i++) {
        const struct weir_request request = { .cpus = cpus[i],
                                              .gpus = gpus[i],
                                              .nvdecs = nvdecs[i] };
        char name[16];
        struct weir_pool_spec stage = { .size = sizeof(struct weir_pool_spec),
                                        .name = name,
                                        .requested_workers = -1,
                                        .batch_size = 1,
                                        .slots = 2,
                                        .speed_hint_per_s = (double)NAN };
        snprintf(name, sizeof name, "stage%u", i);
        require(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &stage.shape, &error),
                &error);
        require(weir_host_add_pool(host, &stage, NULL, &error), &error);
    }
}

/* Speeds 1 / seconds; `tilt` makes even stages slower and odd ones faster. */
static void set_speeds(struct weir_host *host, double tilt)
{
    for (uint32_t i = 0; i < STAGES; i++) {
        const double factor = i % 2 == 0 ? 1 / tilt : tilt;
        const struct weir_estimate estimate = { .batches_per_s = factor / seconds[i],
                                                .returns_per_batch = 1,
                                                .points = 5 };
        (void)weir_host_set_estimate(host, i, estimate);
    }
}

/* Reports every action as done. */
static void carry_out(struct weir_host *host, const struct weir_plan *plan)
{
    struct weir_error error = { 0 };

    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                        .owner = action->owner,
                                        .worker = action->worker };
        if (action->verb != WEIR_VERB_START && action->verb != WEIR_VERB_STOP)
            continue;
        outcome.kind =
            action->verb == WEIR_VERB_START ? WEIR_OUTCOME_STARTED : WEIR_OUTCOME_STOPPED;
        require(weir_host_outcome(host, &outcome, &action->alloc, &error), &error);
    }
}

/* What came of one pass; all but the time is the same at every repetition. */
struct passed {
    double cpu_s;
    uint64_t tried, started, stopped;
    uint32_t workers;
};

static struct passed pass(struct weir_host *host)
{
    struct weir_error error = { 0 };
    const struct weir_plan *plan;
    const struct weir_host_stats before = weir_host_stats(host);
    const double begin_s = test_cpu_s();

    require(weir_host_decide(host,
                             &(struct weir_call){ .size = sizeof(struct weir_call),
                                                  .causes = WEIR_CAUSE_TIMER,
                                                  .now_ns = 0 },
                             &plan, &error),
            &error);
    const double used_s = test_cpu_s() - begin_s;
    carry_out(host, plan);
    const struct weir_host_stats after = weir_host_stats(host);
    return (struct passed){ .cpu_s = used_s,
                            .tried = after.placements_tried - before.placements_tried,
                            .started = after.started - before.started,
                            .stopped = after.stopped - before.stopped,
                            .workers = weir_cluster_worker_count(weir_host_cluster(host)) };
}

/* Where the memory of one libweir comes from: its own allocator, with the bytes in use counted. */
struct memory {
    struct weir_allocator own;
    size_t used_bytes;
    size_t peak_bytes;
};

static void *resize(void *state, void *block, size_t size)
{
    struct memory *const memory = state;
    const size_t before = block == NULL ? 0 : malloc_usable_size(block);
    void *const larger = memory->own.resize(memory->own.state, block, size);

    if (larger == NULL && size > 0)
        return NULL;
    memory->used_bytes += (larger == NULL ? 0 : malloc_usable_size(larger)) - before;
    if (memory->used_bytes > memory->peak_bytes)
        memory->peak_bytes = memory->used_bytes;
    return larger;
}

enum { REPEATS = 5, PASSES = 4 };

/* The passes over a new cluster; gives the most memory held. */
static size_t play(const struct weir_placement_ops *placement, const char *scaling, uint32_t nodes,
                   struct passed passes[PASSES])
{
    struct weir_error error = { 0 };
    struct weir_host *host;
    struct memory memory = { .own = weir_allocator_copy(NULL) };
    const struct weir_allocator allocator = { .resize = resize, .state = &memory };
    const struct weir_host_config config = { .size = sizeof config,
                                             .allocator = &allocator,

                                             .explain = WEIR_EXPLAIN_COUNTS,
                                             .placement = placement,
                                             .scaling = weir_scaling_find(scaling) };

    require(weir_host_create(&config, &host, &error), &error);
    add_nodes(host, nodes);
    add_stages(host);
    for (size_t i = 0; i < PASSES; i++) {
        set_speeds(host, i < PASSES - 1 ? 1 : 1.3);
        passes[i] = pass(host);
    }
    weir_host_destroy(host);
    return memory.peak_bytes;
}

/* The slowest of its passes, each at its best. */
static double bench(const struct weir_placement_ops *placement, const char *scaling, uint32_t nodes)
{
    static const char *const names[PASSES] = { "empty", "steady", "unchanged", "changed speeds" };
    struct passed best[PASSES];
    size_t peak_bytes = play(placement, scaling, nodes, best);
    double slowest_s = 0;

    for (size_t r = 1; r < REPEATS; r++) {
        struct passed again[PASSES];
        (void)play(placement, scaling, nodes, again);
        for (size_t i = 0; i < PASSES; i++)
            best[i].cpu_s = fmin(best[i].cpu_s, again[i].cpu_s);
    }
    for (size_t i = 0; i < PASSES; i++) {
        printf("%5u nodes  %-13s %-11s %-14s %7u workers  %7llu tried  +%llu -%llu  %10.4f s  "
               "%8.3f us/try\n",
               nodes, scaling, placement->name, names[i], best[i].workers,
               (unsigned long long)best[i].tried, (unsigned long long)best[i].started,
               (unsigned long long)best[i].stopped, best[i].cpu_s,
               best[i].cpu_s / (best[i].tried > 0 ? (double)best[i].tried : 1) * 1e6);
        slowest_s = fmax(slowest_s, best[i].cpu_s);
    }
    printf("%5u nodes  %-13s %-11s memory %.1f MiB\n", nodes, scaling, placement->name,
           (double)peak_bytes / 1048576.0);
    return slowest_s;
}

static const uint32_t sizes[] = { 2, 10, 100, 1000, 10000 };

/* From the size `first` to before `end`, and the power of the nodes that the last step goes by. */
static void climb(const char *placement, const char *scaling, size_t first, size_t end)
{
    double before_s = 0;
    double last_s = 0;

    for (size_t i = first; i < end; i++) {
        before_s = last_s;
        last_s = bench(weir_placement_find(placement), scaling, sizes[i]);
    }
    printf("%-13s exponent %.2f from %u to %u nodes\n", scaling,
           log(last_s / before_s) / log((double)sizes[end - 1] / sizes[end - 2]), sizes[end - 2],
           sizes[end - 1]);
}

/* `--large`: the others on 10 000 nodes, too, which takes minutes. SCALING PLACEMENT NODES: one of
 * them alone. */
int main(int count, char **arguments)
{
    const size_t end = count > 1 && strcmp(arguments[1], "--large") == 0 ? 5 : 4;

    if (count > 3) {
        (void)bench(weir_placement_find(arguments[2]), arguments[1], (uint32_t)atoi(arguments[3]));
        return 0;
    }
    climb("fgd_xenna", "xenna", 0, 5);
    climb("fgd_xenna", "weir", 0, end);
    climb("fgd_n", "xenna_n", 1, end);
    climb("fgd_c", "xenna_c", 1, end);
    for (size_t i = 0; i < 2; i++)
        bench(&oracle_fgd_xenna, "xenna", sizes[i]);
    bench(&oracle_fgd_n, "xenna_n", sizes[1]);
    bench(&oracle_fgd_c, "xenna_c", sizes[1]);
    return 0;
}
