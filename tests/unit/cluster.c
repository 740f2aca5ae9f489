/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inventory: books, errors, orders, marks, copies, and what happens without memory.
 */
#include "weir/cluster.h"

#include "sched/cluster/state.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

static const struct weir_gpu_spec GPUS[] = {
    { .nvdecs = 7, .nvencs = 0, .units = WEIR_ONE, .mem_bytes = 80 },
    { .nvdecs = 7, .nvencs = 0, .units = WEIR_ONE, .mem_bytes = 80 },
};

static weir_status add_node(struct weir_cluster *cluster, uint64_t id)
{
    const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                         .id = id,
                                         .gpu_count = 2,
                                         .cpu_units = 4 * WEIR_ONE,
                                         .ram_bytes = 100,
                                         .gpus = GPUS };

    return weir_cluster_add_node(cluster, &spec, NULL, NULL);
}

static struct weir_cluster *two_nodes(void)
{
    struct weir_cluster *cluster = NULL;

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(add_node(cluster, 10), WEIR_OK);
    CHECK_I64(add_node(cluster, 20), WEIR_OK);
    return cluster;
}

static struct weir_alloc share(uint32_t node, uint32_t gpu, int64_t units)
{
    return (struct weir_alloc){ .node = node,
                                .device_count = 1,
                                .cpu_units = WEIR_ONE / 4,
                                .ram_bytes = 1,
                                .devices = { { .gpu = gpu, .units = units } } };
}

static void check_sound(const struct weir_cluster *cluster)
{
    struct weir_error error = { .phase = 0 };

    if (!CHECK_I64(weir_cluster_check(cluster, &error), WEIR_OK))
        CHECK_STR(error.text, "");
}

/* What one node has fits a number; what all have must, too, also of those that are down. */
static void more_than_can_be_counted_is_refused(void)
{
    struct weir_gpu_spec gpus[2] = { { .units = WEIR_ONE, .mem_bytes = INT64_MAX - 400 }, GPUS[0] };
    struct weir_node_spec spec = { .size = sizeof spec,
                                   .id = 30,
                                   .cpu_units = INT64_MAX - 8 * WEIR_ONE,
                                   .ram_bytes = INT64_MAX - 200 };
    struct weir_error error = { .phase = 0 };
    struct weir_cluster *const cluster = two_nodes();
    CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_set_node_flags(cluster, 2, 0), WEIR_OK);
    CHECK_I64(add_node(cluster, 40), WEIR_ERANGE);
    CHECK_I64(weir_cluster_resize_node(cluster, 0, 4 * WEIR_ONE, 101, &error), WEIR_ERANGE);
    CHECK(strstr(error.text, "than can be counted") != NULL);
    CHECK_I64(weir_cluster_resize_node(cluster, 0, 4 * WEIR_ONE, 99, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_remove_node(cluster, 2, NULL), WEIR_OK);
    CHECK_I64(add_node(cluster, 40), WEIR_OK);
    spec = (struct weir_node_spec){ .size = sizeof spec, .id = 50, .gpu_count = 2, .gpus = gpus };
    CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_ERANGE);
    gpus[0].mem_bytes -= 160;
    CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    check_sound(cluster);
    weir_cluster_destroy(cluster);
}

static void workers_take_and_give_back(void)
{
    struct weir_cluster *const cluster = two_nodes();
    struct weir_alloc alloc = share(1, 0, WEIR_ONE / 2);
    struct weir_worker worker;

    alloc.devices[0].nvdec_mask = 5;
    alloc.devices[1] = (struct weir_device){ .gpu = 1, .units = WEIR_ONE, .mem_bytes = 30 };
    alloc.device_count = 2;
    CHECK_I64(weir_cluster_add_worker(cluster, 7, weir_pool_owner(3), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_gpu(cluster, 1, 0)->units_free, WEIR_ONE / 2);
    CHECK_I64(weir_cluster_gpu(cluster, 1, 0)->nvdec_free, 0x7f & ~5);
    CHECK_I64(weir_cluster_gpu(cluster, 1, 1)->mem_free_bytes, 50);
    CHECK_I64(weir_cluster_node(cluster, 1)->cpu_free, 4 * WEIR_ONE - WEIR_ONE / 4);
    CHECK_I64(weir_cluster_free(cluster).gpu_units, 4 * WEIR_ONE - WEIR_ONE * 3 / 2);
    CHECK_I64(weir_cluster_free(cluster).nvdecs, 26);
    CHECK_I64(weir_cluster_total(cluster).nvdecs, 28);
    CHECK(weir_cluster_worker(cluster, 7, &worker));
    CHECK_I64(worker.owner.index, 3);
    CHECK_I64(worker.alloc.device_count, 2);
    CHECK_I64(memcmp(worker.alloc.devices, alloc.devices, 2 * sizeof alloc.devices[0]), 0);
    CHECK(!weir_cluster_fits(cluster, &alloc));
    check_sound(cluster);
    CHECK_I64(weir_cluster_remove_worker(cluster, 7, NULL), WEIR_OK);
    CHECK(weir_cluster_fits(cluster, &alloc));
    CHECK_I64(weir_cluster_free(cluster).gpu_units, 4 * WEIR_ONE);
    CHECK(!weir_cluster_worker(cluster, 7, &worker));
    check_sound(cluster);
    weir_cluster_destroy(cluster);
}

static void check_refused(struct weir_cluster *cluster, uint64_t id, const struct weir_alloc *alloc,
                          weir_status expected, const char *says)
{
    struct weir_error error = { .phase = 0 };
    const uint64_t version = weir_cluster_node(cluster, 0)->version;

    CHECK_I64(weir_cluster_add_worker(cluster, id, weir_pool_owner(0), alloc, &error), expected);
    if (!CHECK(strstr(error.text, says) != NULL))
        CHECK_STR(error.text, says);
    CHECK(weir_cluster_node(cluster, 0)->version == version);
    check_sound(cluster);
}

static void refusals_change_nothing_and_say_why(void)
{
    struct weir_cluster *const cluster = two_nodes();
    struct weir_alloc alloc = share(0, 0, WEIR_ONE * 3 / 4);

    CHECK_I64(weir_cluster_add_worker(cluster, 1, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    check_refused(cluster, 1, &alloc, WEIR_EDUPLICATE, "worker 1 exists already");
    check_refused(cluster, 2, &alloc, WEIR_EOVERCOMMIT,
                  "worker 2: node 10 GPU 0: wants 0.75 GPUs, 0.25 are free (0.5 too many)");
    alloc = share(5, 0, 1);
    check_refused(cluster, 2, &alloc, WEIR_ENOTFOUND, "node index 5: there are 2 nodes");
    alloc = share(0, 2, 1);
    check_refused(cluster, 2, &alloc, WEIR_ENOTFOUND, "node 10 GPU 2: the node has 2 GPUs");
    alloc = share(0, 1, -1);
    check_refused(cluster, 2, &alloc, WEIR_EINVAL, "amounts must be >= 0");
    alloc = share(0, 1, 1);
    alloc.devices[0].nvenc_mask = 4;
    check_refused(cluster, 2, &alloc, WEIR_EOVERCOMMIT, "NVENC 2 is not free");
    alloc = share(0, 1, 1);
    alloc.devices[0].mem_bytes = 81;
    check_refused(cluster, 2, &alloc, WEIR_EOVERCOMMIT, "(1 too many)");
    alloc = share(0, 1, 1);
    alloc.cpu_units = 5 * WEIR_ONE;
    check_refused(cluster, 2, &alloc, WEIR_EOVERCOMMIT,
                  "wants 5 CPUs, 3.75 are free (1.25 too many)");
    alloc = share(0, 1, 1);
    alloc.ram_bytes = 100;
    check_refused(cluster, 2, &alloc, WEIR_EOVERCOMMIT,
                  "wants 100 bytes of memory, 99 are free (1 too many)");
    alloc = share(0, 1, 1);
    alloc.devices[1] = (struct weir_device){ .gpu = 1 };
    alloc.device_count = 2;
    check_refused(cluster, 2, &alloc, WEIR_EINVAL, "devices must ascend");
    CHECK_I64(weir_cluster_remove_worker(cluster, 99, NULL), WEIR_ENOTFOUND);
    CHECK_I64(add_node(cluster, 10), WEIR_EDUPLICATE);
    weir_cluster_destroy(cluster);
}

static uint64_t worker_at(const struct weir_cluster *cluster, uint32_t stage, uint32_t position)
{
    uint64_t id = UINT64_MAX;

    CHECK(weir_cluster_pool_worker_id(cluster, stage, position, &id));
    return id;
}

static void stages_list_workers_in_insertion_order(void)
{
    struct weir_cluster *const cluster = two_nodes();
    static const uint64_t left[] = { 0, 1, 3, 4, 6, 7 };
    const struct weir_alloc alloc = { .node = 0, .cpu_units = 1 };

    for (uint64_t id = 0; id < 8; id++)
        CHECK_I64(weir_cluster_add_worker(cluster, id, weir_pool_owner(1), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_remove_worker(cluster, 5, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_remove_worker(cluster, 2, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_pool_workers(cluster, 1), 6);
    for (uint32_t i = 0; i < 6; i++)
        CHECK_I64(worker_at(cluster, 1, i), left[i]);
    CHECK_I64(weir_cluster_add_worker(cluster, 2, weir_pool_owner(1), &alloc, NULL), WEIR_OK);
    CHECK_I64(worker_at(cluster, 1, 6), 2);
    CHECK_I64(weir_cluster_pool_workers(cluster, 0), 0);
    CHECK_I64(weir_cluster_pool_workers(cluster, 1000), 0);
    CHECK(!weir_cluster_pool_worker(cluster, 1, 7, NULL));
    CHECK_I64(weir_cluster_worker_count(cluster), 7);
    weir_cluster_destroy(cluster);
}

static void marks_nest_and_roll_back(void)
{
    struct weir_cluster *const cluster = two_nodes();
    struct weir_alloc alloc = share(0, 1, WEIR_ONE / 8);
    struct weir_worker worker;

    for (uint64_t id = 0; id < 4; id++)
        CHECK_I64(weir_cluster_add_worker(cluster, id, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    const uint64_t version = weir_cluster_node(cluster, 0)->version;
    CHECK_I64(weir_cluster_mark(cluster), WEIR_OK);
    CHECK_I64(weir_cluster_remove_worker(cluster, 1, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_mark(cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_worker(cluster, 1, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_set_worker_state(cluster, 0, WEIR_WORKER_READY, 5), WEIR_OK);
    CHECK_I64(weir_cluster_set_worker_state(cluster, 0, UINT32_MAX, 5), WEIR_ERANGE);
    CHECK_I64(weir_cluster_set_node_flags(cluster, 1, 0), WEIR_OK);
    CHECK_I64(add_node(cluster, 30), WEIR_EINVAL);
    CHECK_I64(worker_at(cluster, 0, 3), 1);
    weir_cluster_rollback(cluster);
    CHECK_I64(weir_cluster_pool_workers(cluster, 0), 3);
    CHECK(weir_cluster_worker(cluster, 0, &worker));
    CHECK_I64(worker.state, WEIR_WORKER_STARTING);
    CHECK_I64(weir_cluster_node(cluster, 1)->flags, WEIR_NODE_UP);
    check_sound(cluster);
    weir_cluster_rollback(cluster);
    CHECK_I64(worker_at(cluster, 0, 1), 1);
    CHECK(weir_cluster_node(cluster, 0)->version == version);
    check_sound(cluster);
    CHECK_I64(weir_cluster_mark(cluster), WEIR_OK);
    CHECK_I64(weir_cluster_remove_worker(cluster, 2, NULL), WEIR_OK);
    weir_cluster_release(cluster);
    weir_cluster_rollback(cluster); /* no mark: nothing happens */
    CHECK_I64(weir_cluster_pool_workers(cluster, 0), 3);
    CHECK_I64(add_node(cluster, 30), WEIR_OK);
    check_sound(cluster);
    weir_cluster_destroy(cluster);
}

/* As a policy might leave it: marks of its own, ours rolled back and released, workers gone. */
static void what_is_lent_comes_back_whole(void)
{
    struct weir_cluster *const cluster = two_nodes();
    struct weir_cluster *const other = two_nodes();
    const struct weir_alloc alloc = share(0, 1, WEIR_ONE / 8);

    for (uint64_t id = 0; id < 3; id++)
        CHECK_I64(weir_cluster_add_worker(cluster, id, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    const uint64_t version = weir_cluster_node(cluster, 0)->version;
    CHECK_I64(weir_cluster_lend(cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_worker(cluster, 9, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    for (int i = 0; i < 3; i++)
        weir_cluster_rollback(cluster);
    CHECK_I64(weir_cluster_pool_workers(cluster, 0), 3); /* back to the mark, which stays */
    for (int i = 0; i < 3; i++)
        weir_cluster_release(cluster);
    CHECK_I64(weir_cluster_assign(cluster, other), WEIR_EINVAL);
    CHECK_I64(add_node(cluster, 30), WEIR_EINVAL);
    CHECK_I64(weir_cluster_mark(cluster), WEIR_OK);
    CHECK_I64(weir_cluster_remove_worker(cluster, 1, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_set_node_flags(cluster, 1, 0), WEIR_OK);
    CHECK_I64(weir_cluster_set_node_flags(cluster, 1, WEIR_NODE_UP), WEIR_OK);
    CHECK(weir_cluster_take_back(cluster));
    CHECK_I64(worker_at(cluster, 0, 1), 1);
    CHECK(weir_cluster_node(cluster, 0)->version == version);
    CHECK_I64(weir_cluster_lend(cluster), WEIR_OK);
    CHECK_I64(weir_cluster_set_node_flags(cluster, 1, WEIR_NODE_UP | WEIR_NODE_CORDONED), WEIR_OK);
    CHECK(!weir_cluster_take_back(cluster)); /* flags are not a policy's to set */
    CHECK_I64(weir_cluster_node(cluster, 1)->flags, WEIR_NODE_UP);
    check_sound(cluster);
    CHECK_I64(add_node(cluster, 30), WEIR_OK);
    weir_cluster_destroy(cluster);
    weir_cluster_destroy(other);
}

static void copies_are_equal_and_independent(void)
{
    struct weir_cluster *const cluster = two_nodes();
    struct weir_cluster *copy = NULL;
    struct weir_alloc alloc = share(0, 0, WEIR_ONE / 8);

    alloc.devices[1] = (struct weir_device){ .gpu = 1, .units = 3 };
    alloc.device_count = 2;
    for (uint64_t id = 0; id < 5; id++)
        CHECK_I64(weir_cluster_add_worker(cluster, id, weir_pool_owner(2), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_mark(cluster), WEIR_OK);
    CHECK_I64(weir_cluster_remove_worker(cluster, 3, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_copy(cluster, &copy), WEIR_OK);
    weir_cluster_rollback(cluster);
    weir_cluster_rollback(copy); /* copies carry no marks */
    CHECK_I64(weir_cluster_pool_workers(copy, 2), 4);
    CHECK_I64(weir_cluster_pool_workers(cluster, 2), 5);
    check_sound(copy);
    CHECK_I64(weir_cluster_assign(copy, cluster), WEIR_OK);
    CHECK_I64(weir_cluster_pool_workers(copy, 2), 5);
    CHECK_I64(weir_cluster_remove_worker(copy, 0, NULL), WEIR_OK);
    CHECK_I64(worker_at(cluster, 2, 0), 0);
    CHECK_I64(weir_cluster_find_node(copy, 20), 1);
    check_sound(copy);
    check_sound(cluster);
    weir_cluster_destroy(copy);
    weir_cluster_destroy(cluster);
}

static void only_nodes_that_are_up_count_and_receive(void)
{
    struct weir_cluster *const cluster = two_nodes();
    const struct weir_alloc alloc = share(0, 0, WEIR_ONE / 2);
    uint64_t id = 0;

    CHECK_I64(weir_cluster_add_worker(cluster, 1, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_set_node_flags(cluster, 0, 0), WEIR_OK);
    CHECK(!weir_cluster_fits(cluster, &alloc));
    CHECK_I64(weir_cluster_total(cluster).cpu_units, 4 * WEIR_ONE);
    CHECK_I64(weir_cluster_free(cluster).gpu_units, 2 * WEIR_ONE);
    CHECK(weir_cluster_node_worker_id(cluster, 0, &id));
    CHECK_I64(id, 1);
    CHECK_I64(weir_cluster_remove_worker(cluster, 1, NULL), WEIR_OK);
    CHECK(!weir_cluster_node_worker_id(cluster, 0, &id));
    CHECK_I64(weir_cluster_set_node_flags(cluster, 0, WEIR_NODE_UP | WEIR_NODE_CORDONED), WEIR_OK);
    CHECK(!weir_cluster_fits(cluster, &alloc));
    CHECK_I64(weir_cluster_free(cluster).gpu_units, 4 * WEIR_ONE);
    CHECK_I64(weir_cluster_set_node_flags(cluster, 0, WEIR_NODE_UP), WEIR_OK);
    CHECK(weir_cluster_fits(cluster, &alloc));
    CHECK_I64(weir_cluster_set_node_flags(cluster, 9, WEIR_NODE_UP), WEIR_ENOTFOUND);
    CHECK_I64(weir_cluster_set_node_flags(cluster, 0, 8), WEIR_EINVAL);
    check_sound(cluster);
    weir_cluster_destroy(cluster);
}

/* covers: S0.10 */
static void quarters_of_a_cpu_fill_a_node_exactly(void)
{
    struct weir_cluster *cluster = NULL;
    const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                         .id = 1,
                                         .cpu_units = 240 * WEIR_ONE };
    const struct weir_alloc alloc = { .cpu_units = WEIR_ONE / 4 };
    uint64_t count = 0;

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    while (weir_cluster_add_worker(cluster, count, weir_pool_owner(0), &alloc, NULL) == WEIR_OK)
        count++;
    CHECK_I64(count, 960);
    CHECK_I64(weir_cluster_node(cluster, 0)->cpu_free, 0);
    weir_cluster_destroy(cluster);
}

/* covers: S0.19 */
static void cpu_workers_leave_gpus_alone(void)
{
    struct weir_cluster *const cluster = two_nodes();
    struct weir_gpu before[4];
    uint64_t state = 1;
    uint32_t changed = 0;

    for (uint32_t g = 0; g < 4; g++)
        before[g] = *weir_cluster_gpu(cluster, g / 2, g % 2);
    for (uint32_t i = 0; i < 100000; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        const uint64_t id = (state >> 40) % 16;
        const struct weir_alloc alloc = { .node = (uint32_t)(state >> 60) & 1,
                                          .cpu_units = WEIR_ONE / 2 };
        if (weir_cluster_add_worker(cluster, id, weir_pool_owner(0), &alloc, NULL) != WEIR_OK)
            (void)weir_cluster_remove_worker(cluster, id, NULL);
        for (uint32_t g = 0; g < 4; g++)
            changed +=
                memcmp(&before[g], weir_cluster_gpu(cluster, g / 2, g % 2), sizeof before[g]) != 0;
    }
    CHECK_I64(changed, 0);
    check_sound(cluster);
    weir_cluster_destroy(cluster);
}

/* An allocator that fails from a given call on. */
struct failing {
    int64_t calls_left;
    int64_t blocks;
};

static void *failing_resize(void *state, void *block, size_t size)
{
    struct failing *const failing = state;

    if (size == 0) {
        failing->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (failing->calls_left-- <= 0)
        return NULL;
    failing->blocks += block == NULL;
    return realloc(block, size);
}

static weir_status use_everything(const struct weir_allocator *allocator)
{
    struct weir_cluster *cluster = NULL;
    struct weir_cluster *copy = NULL;
    weir_status status = weir_cluster_create(allocator, &cluster);
    struct weir_alloc alloc = share(0, 0, 1);

    alloc.devices[1] = (struct weir_device){ .gpu = 1, .units = 1 };
    alloc.device_count = 2;
    alloc.cpu_units = 1;
    for (uint64_t n = 0; n < 20 && status == WEIR_OK; n++)
        status = add_node(cluster, n);
    if (status == WEIR_OK)
        status = weir_cluster_mark(cluster);
    for (uint64_t w = 0; w < 40 && status == WEIR_OK; w++)
        status =
            weir_cluster_add_worker(cluster, w, weir_pool_owner((uint32_t)w % 3), &alloc, NULL);
    if (status == WEIR_OK)
        status = weir_cluster_remove_worker(cluster, 3, NULL);
    if (cluster != NULL && status == WEIR_OK)
        status = weir_cluster_copy(cluster, &copy);
    if (status == WEIR_OK) /* over one of that size: its memory is used again */
        status = weir_cluster_assign(copy, cluster);
    if (cluster != NULL) {
        if (status != WEIR_OK)
            CHECK(weir_cluster_check(cluster, NULL) != WEIR_EINVARIANT);
        weir_cluster_rollback(cluster);
        CHECK_I64(weir_cluster_worker_count(cluster), 0);
    }
    weir_cluster_destroy(copy);
    weir_cluster_destroy(cluster);
    return status;
}

static void running_out_of_memory_is_harmless(void)
{
    weir_status status = WEIR_ENOMEM;
    int64_t calls = 0;

    for (; status != WEIR_OK && calls < 1000; calls++) {
        struct failing failing = { .calls_left = calls };
        const struct weir_allocator allocator = { failing_resize, &failing };
        status = use_everything(&allocator);
        CHECK(status == WEIR_OK || status == WEIR_ENOMEM);
        CHECK_I64(failing.blocks, 0);
    }
    CHECK_I64(status, WEIR_OK);
    CHECK(calls > 10);
}

static void a_copy_goes_on_counting_its_workers(void)
{
    struct weir_cluster *const cluster = two_nodes();
    struct weir_cluster *copy = NULL;
    const struct weir_alloc alloc = { .node = 0, .cpu_units = WEIR_ONE };
    uint64_t id = 0;

    CHECK_I64(weir_cluster_create(NULL, &copy), WEIR_OK);
    for (uint64_t w = 1; w <= 3; w++)
        CHECK_I64(weir_cluster_add_worker(cluster, w, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_assign(copy, cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_worker(copy, 4, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(weir_cluster_pool_worker_id(copy, 0, i, &id));
        CHECK_I64(id, i + 1);
    }
    weir_cluster_destroy(copy);
    weir_cluster_destroy(cluster);
}

/* Memory and CPUs that workers hold stay held, and may be all there is. */
static void a_resized_node_has_free_what_nobody_holds(void)
{
    struct weir_cluster *const cluster = two_nodes();
    const struct weir_node before = *weir_cluster_node(cluster, 0);
    const struct weir_alloc alloc = { .node = 0, .cpu_units = WEIR_ONE, .ram_bytes = 1 };

    CHECK_I64(weir_cluster_resize_node(cluster, 0, before.cpu_total, 100, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_add_worker(cluster, 1, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_resize_node(cluster, 0, 2 * WEIR_ONE, 50, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_node(cluster, 0)->ram_free_bytes, 49);
    CHECK_I64(weir_cluster_node(cluster, 0)->cpu_free, WEIR_ONE);
    CHECK_I64(weir_cluster_resize_node(cluster, 0, WEIR_ONE, 1, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_node(cluster, 0)->ram_free_bytes, 0);
    CHECK_I64(weir_cluster_node(cluster, 0)->cpu_free, 0);
    CHECK_I64(weir_cluster_resize_node(cluster, 0, WEIR_ONE, 0, NULL), WEIR_EOVERCOMMIT);
    check_sound(cluster);
    weir_cluster_destroy(cluster);
}

static void *counting_resize(void *state, void *block, size_t size)
{
    uint64_t *const calls = state;

    *calls += size > 0;
    if (size > 0)
        return realloc(block, size);
    free(block);
    return NULL;
}

/* Devices of workers that went are those of the next ones: no more is asked for, however often. */
static void what_workers_left_is_used_again(void)
{
    uint64_t calls = 0;
    uint64_t after_first = 0;
    const struct weir_allocator allocator = { counting_resize, &calls };
    struct weir_cluster *cluster = NULL;
    struct weir_alloc alloc = share(0, 0, 1);

    alloc.devices[1] = (struct weir_device){ .gpu = 1, .units = 1 };
    alloc.device_count = 2;
    CHECK_I64(weir_cluster_create(&allocator, &cluster), WEIR_OK);
    CHECK_I64(add_node(cluster, 0), WEIR_OK);
    for (uint32_t round = 0; round < 500; round++) {
        for (uint64_t w = 0; w < 5; w++)
            CHECK_I64(weir_cluster_add_worker(cluster, w, weir_pool_owner(0), &alloc, NULL),
                      WEIR_OK);
        for (uint64_t w = 0; w < 5; w++)
            CHECK_I64(weir_cluster_remove_worker(cluster, w, NULL), WEIR_OK);
        if (round == 0)
            after_first = calls;
    }
    CHECK_I64(calls, after_first);
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "more than can be counted is refused", more_than_can_be_counted_is_refused },
    { "workers take devices and give them back", workers_take_and_give_back },
    { "refusals change nothing and say why", refusals_change_nothing_and_say_why },
    { "stages list workers in insertion order", stages_list_workers_in_insertion_order },
    { "marks nest and roll back exactly", marks_nest_and_roll_back },
    { "what is lent comes back whole", what_is_lent_comes_back_whole },
    { "copies are equal and independent", copies_are_equal_and_independent },
    { "only nodes that are up count and receive", only_nodes_that_are_up_count_and_receive },
    { "quarters of a CPU fill a node exactly", quarters_of_a_cpu_fill_a_node_exactly },
    { "CPU workers leave GPUs alone", cpu_workers_leave_gpus_alone },
    { "running out of memory is harmless", running_out_of_memory_is_harmless },
    { "a copy goes on counting its workers", a_copy_goes_on_counting_its_workers },
    { "a resized node has free what nobody holds", a_resized_node_has_free_what_nobody_holds },
    { "what workers left is used again", what_workers_left_is_used_again },
};
TEST_MAIN(tests)
