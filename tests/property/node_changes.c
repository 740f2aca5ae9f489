/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nodes that come, change and go, and GPUs that fall ill: however an inventory got into its state,
 * every policy places as on one that was built anew in this state, the caches of the policies
 * included, and never on what is gone or ill.
 */
#include "sim/scenario/catalog/catalog_mig.h"
#include "tests/support/check.h"
#include "weir/policy.h"

#include <stdio.h>
#include <string.h>

enum { IDS = 9, RECORDS = 64, POOLS = 4, MOST_POLICIES = 32, STEPS = 6000, LOOK_EVERY = 20 };

struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *dice, uint32_t below)
{
    dice->state = dice->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((dice->state >> 33) % below);
}

/* What the node of an id looks like when it comes; every second time it has other GPUs. */
struct model {
    struct weir_gpu_spec gpus[8];
    struct weir_node_spec spec;
};

static void model_open(struct model *model, uint32_t id, uint32_t generation)
{
    const struct weir_mig *const table = sim_catalog_mig_find("h100");
    const uint32_t count = (id % 4) * 2 + generation % 2;

    *model = (struct model){ .gpus = { { .type = 0 } } };
    for (uint32_t g = 0; g < count; g++) {
        const bool is_cut = id == 3 && g % 2 == 0;
        model->gpus[g] = (struct weir_gpu_spec){ .type = id % 5 == 4,
                                                 .nvdecs = 3,
                                                 .nvencs = 2,
                                                 .units = WEIR_ONE,
                                                 .mem_bytes = INT64_C(80000000000),
                                                 .mig = is_cut ? table : NULL };
    }
    model->spec = (struct weir_node_spec){ .size = sizeof(struct weir_node_spec),
                                           .id = id,
                                           .gpu_count = count,
                                           .cpu_units = (8 + 4 * (id % 3)) * WEIR_ONE,
                                           .ram_bytes = 64,
                                           .gpus = model->gpus };
}

struct history {
    struct weir_cluster *cluster;
    struct weir_chooser *choosers[MOST_POLICIES]; /* live through all changes */
    uint32_t policies;
    uint32_t generations[IDS];
    uint32_t made_as[RECORDS]; /* generation of the node at an index */
    uint64_t next_worker;
    struct weir_shape slice;
    uint32_t done[8]; /* changes by kind */
};

static const double EVEN[6] = { .25, .25, .125, .125, .125, .125 };

static void fill_shapes(const struct history *history, struct weir_shape shapes[6])
{
    shapes[0] = (struct weir_shape){ .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE };
    shapes[1] = (struct weir_shape){ .kind = WEIR_SHAPE_FRACTIONAL,
                                     .cpu_units = WEIR_ONE / 2,
                                     .gpu_count = 1,
                                     .gpu_units = WEIR_ONE / 4,
                                     .nvdecs = 1,
                                     .gpu_mem_bytes = 1000 };
    shapes[2] = (struct weir_shape){
        .kind = WEIR_SHAPE_WHOLE, .cpu_units = WEIR_ONE, .gpu_count = 2, .gpu_units = WEIR_ONE
    };
    shapes[3] = (struct weir_shape){ .kind = WEIR_SHAPE_CODEC, .cpu_units = WEIR_ONE, .nvdecs = 2 };
    shapes[4] =
        (struct weir_shape){ .kind = WEIR_SHAPE_ENTIRE, .gpu_count = 1, .gpu_units = WEIR_ONE };
    shapes[5] = history->slice;
}

static void create_choosers(struct weir_chooser **choosers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK_I64(weir_chooser_create(weir_placement_at(i), NULL, NULL, &choosers[i], NULL),
                  WEIR_OK);
}

static void destroy_choosers(struct weir_chooser **choosers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        weir_chooser_destroy(choosers[i]);
}

static void open_history(struct history *history)
{
    const struct weir_request request = { .mig_slices = 2, .mig_slices_all = 7 };

    *history = (struct history){ .policies = weir_placement_count(), .next_worker = 1 };
    CHECK(history->policies <= MOST_POLICIES);
    CHECK_I64(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &history->slice, NULL),
              WEIR_OK);
    CHECK_I64(weir_cluster_create(NULL, &history->cluster), WEIR_OK);
    create_choosers(history->choosers, history->policies);
}

static void close_history(struct history *history)
{
    destroy_choosers(history->choosers, history->policies);
    weir_cluster_destroy(history->cluster);
}

/* A policy, a chooser of it and an inventory that it is asked about. */
struct asked {
    const struct history *history;
    struct weir_chooser *chooser;
    struct weir_cluster *cluster;
    uint32_t pool;
    uint64_t seed;
};

static weir_status ask(const struct asked *asked, struct weir_place_answer *answer)
{
    struct weir_shape shapes[6];

    fill_shapes(asked->history, shapes);
    const struct weir_mix mix = { .shapes = shapes, .frequencies = EVEN, .count = 6 };
    const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                            .cluster = asked->cluster,
                                            .mix = &mix,
                                            .shape = &shapes[asked->pool],
                                            .owner = weir_pool_owner(asked->pool),
                                            .seed = asked->seed };
    return weir_chooser_place(asked->chooser, &query, answer, NULL);
}

/* ---- changes ---- */

static void add_node(struct history *history, struct dice *dice)
{
    const uint32_t id = roll(dice, IDS);
    struct model model;
    uint32_t index = 0;

    if (weir_cluster_find_node(history->cluster, id) != WEIR_NO_INDEX ||
        weir_cluster_node_count(history->cluster) == RECORDS)
        return;
    history->generations[id] += roll(dice, 4) == 0;
    model_open(&model, id, history->generations[id]);
    CHECK_I64(weir_cluster_add_node(history->cluster, &model.spec, &index, NULL), WEIR_OK);
    history->made_as[index] = history->generations[id];
    history->done[0]++;
}

static void remove_node(struct history *history, uint32_t node)
{
    uint64_t worker;

    if (weir_cluster_node_worker_id(history->cluster, node, &worker))
        CHECK_I64(weir_cluster_remove_node(history->cluster, node, NULL), WEIR_EBUSY);
    while (weir_cluster_node_worker_id(history->cluster, node, &worker))
        CHECK_I64(weir_cluster_remove_worker(history->cluster, worker, NULL), WEIR_OK);
    const bool is_there = weir_cluster_node(history->cluster, node)->flags != WEIR_NODE_REMOVED;
    CHECK_I64(weir_cluster_remove_node(history->cluster, node, NULL),
              is_there ? WEIR_OK : WEIR_ENOTFOUND);
    history->done[1] += is_there;
}

static void resize_node(struct history *history, uint32_t node, struct dice *dice)
{
    const struct weir_node before = *weir_cluster_node(history->cluster, node);
    const int64_t cpu_units = roll(dice, 20) * WEIR_ONE;
    const int64_t ram_bytes = 32 + roll(dice, 64);
    const bool fits = cpu_units >= before.cpu_total - before.cpu_free;
    const weir_status status =
        weir_cluster_resize_node(history->cluster, node, cpu_units, ram_bytes, NULL);

    if (before.flags == WEIR_NODE_REMOVED)
        CHECK_I64(status, WEIR_ENOTFOUND);
    else
        CHECK_I64(status, fits ? WEIR_OK : WEIR_EOVERCOMMIT);
    if (status != WEIR_OK)
        CHECK_I64(before.version, weir_cluster_node(history->cluster, node)->version);
    history->done[2] += status == WEIR_OK;
}

static void start_worker(struct history *history, struct dice *dice)
{
    const struct asked asked = { .history = history,
                                 .chooser = history->choosers[roll(dice, history->policies)],
                                 .cluster = history->cluster,
                                 .pool = roll(dice, 6),
                                 .seed = roll(dice, 1000) };
    struct weir_place_answer answer;

    if (ask(&asked, &answer) != WEIR_OK)
        return;
    CHECK_I64(weir_cluster_add_worker(history->cluster, history->next_worker++,
                                      weir_pool_owner(asked.pool), &answer.alloc, NULL),
              WEIR_OK);
    history->done[3]++;
}

static void change(struct history *history, struct dice *dice)
{
    const uint32_t count = weir_cluster_node_count(history->cluster);
    const uint32_t node = count == 0 ? 0 : roll(dice, count);
    uint64_t worker;

    switch (roll(dice, 16)) {
    case 0:
    case 1:
        add_node(history, dice);
        return;
    case 2:
        if (count > 0 && roll(dice, 2) == 0)
            remove_node(history, node);
        return;
    case 3:
        if (count > 0)
            resize_node(history, node, dice);
        return;
    case 4:
    case 5:
        history->done[4] += weir_cluster_set_gpu_health(history->cluster, node, roll(dice, 8),
                                                        roll(dice, 2) != 0) == WEIR_OK;
        return;
    case 6:
        history->done[5] += weir_cluster_set_node_flags(
                                history->cluster, node,
                                roll(dice, 3) == 0 ? roll(dice, 4) : WEIR_NODE_UP) == WEIR_OK;
        return;
    case 7:
    case 8:
        if (weir_cluster_node_worker_id(history->cluster, node, &worker))
            history->done[6] +=
                weir_cluster_remove_worker(history->cluster, worker, NULL) == WEIR_OK;
        return;
    default:
        start_worker(history, dice);
    }
}

/* ---- the same state, built anew ---- */

static bool is_ill(const struct weir_cluster *cluster, uint32_t node, uint32_t gpu)
{
    return (weir_cluster_gpu(cluster, node, gpu)->is_closed & WEIR_GPU_UNHEALTHY) != 0;
}

/* Nodes that are there, in their order; `anew` says which index each gets. */
static void rebuild_nodes(const struct history *history, struct weir_cluster *built,
                          uint32_t anew[RECORDS])
{
    for (uint32_t n = 0; n < weir_cluster_node_count(history->cluster); n++) {
        const struct weir_node *const node = weir_cluster_node(history->cluster, n);
        struct model model;
        anew[n] = WEIR_NO_INDEX;
        if (node->flags == WEIR_NODE_REMOVED)
            continue;
        model_open(&model, (uint32_t)node->id, history->made_as[n]);
        model.spec.cpu_units = node->cpu_total;
        model.spec.ram_bytes = node->ram_total_bytes;
        CHECK_I64(weir_cluster_add_node(built, &model.spec, &anew[n], NULL), WEIR_OK);
    }
}

static void rebuild_workers(const struct history *history, struct weir_cluster *built,
                            const uint32_t anew[RECORDS])
{
    for (uint32_t pool = 0; pool < 6; pool++) {
        struct weir_worker worker;
        for (uint32_t i = 0; weir_cluster_pool_worker(history->cluster, pool, i, &worker); i++) {
            worker.alloc.node = anew[worker.alloc.node];
            CHECK_I64(weir_cluster_add_worker(built, worker.id, worker.owner, &worker.alloc, NULL),
                      WEIR_OK);
        }
    }
}

/* An ill GPU: told so, or all that is free of it is held by somebody else. */
static void make_ill(struct weir_cluster *built, uint32_t node, uint32_t gpu, bool is_plugged)
{
    const struct weir_gpu *const books = weir_cluster_gpu(built, node, gpu);
    const struct weir_alloc rest = { .node = node,
                                     .device_count = 1,
                                     .devices = { { .gpu = gpu,
                                                    .nvdec_mask = books->nvdec_free,
                                                    .nvenc_mask = books->nvenc_free,
                                                    .units = books->units_free,
                                                    .mem_bytes = books->mem_free_bytes } } };

    if (!is_plugged)
        CHECK_I64(weir_cluster_set_gpu_health(built, node, gpu, false), WEIR_OK);
    else
        CHECK_I64(weir_cluster_add_worker(built, UINT64_MAX - 64 * node - gpu, weir_pool_owner(9),
                                          &rest, NULL),
                  WEIR_OK);
}

static struct weir_cluster *rebuild(const struct history *history, uint32_t anew[RECORDS],
                                    bool is_plugged)
{
    struct weir_cluster *built = NULL;

    CHECK_I64(weir_cluster_create(NULL, &built), WEIR_OK);
    rebuild_nodes(history, built, anew);
    rebuild_workers(history, built, anew);
    for (uint32_t n = 0; n < weir_cluster_node_count(history->cluster); n++) {
        const struct weir_node *const node = weir_cluster_node(history->cluster, n);
        for (uint32_t g = 0; g < node->gpu_count; g++) {
            if (is_ill(history->cluster, n, g))
                make_ill(built, anew[n], g, is_plugged);
        }
        if (anew[n] != WEIR_NO_INDEX)
            CHECK_I64(weir_cluster_set_node_flags(built, anew[n], node->flags), WEIR_OK);
    }
    return built;
}

/* ---- comparison ---- */

static bool is_sound(const struct weir_cluster *cluster, const struct weir_alloc *alloc)
{
    bool sound = weir_cluster_node(cluster, alloc->node)->flags == WEIR_NODE_UP;

    for (uint32_t d = 0; d < alloc->device_count; d++)
        sound = sound && !is_ill(cluster, alloc->node, alloc->devices[d].gpu);
    return sound;
}

static bool same_answer(const struct weir_alloc *live, const struct weir_alloc *built,
                        const uint32_t anew[RECORDS])
{
    return anew[live->node] == built->node && live->device_count == built->device_count &&
           memcmp(live->devices, built->devices, live->device_count * sizeof live->devices[0]) == 0;
}

/* Policies that look at who the neighbours are see the plug. */
static bool sees_plugs(const struct weir_placement_ops *ops)
{
    return strcmp(ops->name, "first_fit") != 0 && strcmp(ops->name, "fgd") != 0 &&
           strcmp(ops->name, "random") != 0;
}

/* Asks all policies on both; how many answers differ or are unsound. */
static uint32_t compare(const struct history *history, struct weir_cluster *built,
                        const uint32_t anew[RECORDS], bool is_plugged)
{
    struct weir_chooser *fresh[MOST_POLICIES];
    uint32_t wrong = 0;

    create_choosers(fresh, history->policies);
    for (uint32_t i = 0; i < history->policies * 6; i++) {
        struct asked asked = { history, history->choosers[i / 6], history->cluster, i % 6, i };
        struct weir_place_answer live;
        struct weir_place_answer other;
        if (is_plugged && sees_plugs(weir_placement_at(i / 6)))
            continue;
        if (weir_placement_at(i / 6)->save != NULL)
            continue; /* what it learned from who came and went is not of the cluster */
        const weir_status status = ask(&asked, &live);
        asked.chooser = fresh[i / 6];
        asked.cluster = built;
        const bool is_same = ask(&asked, &other) == status &&
                             (status != WEIR_OK || (same_answer(&live.alloc, &other.alloc, anew) &&
                                                    is_sound(history->cluster, &live.alloc)));
        if (!is_same)
            printf("  policy %s shape %u status %d plugged %d\n", weir_placement_at(i / 6)->name,
                   i % 6, status, is_plugged);
        wrong += !is_same;
    }
    destroy_choosers(fresh, history->policies);
    return wrong;
}

static uint32_t compare_sums(const struct weir_cluster *a, const struct weir_cluster *b)
{
    const struct weir_amounts totals[2] = { weir_cluster_total(a), weir_cluster_total(b) };
    const struct weir_amounts rests[2] = { weir_cluster_free(a), weir_cluster_free(b) };

    return memcmp(&totals[0], &totals[1], sizeof totals[0]) != 0 ||
                   memcmp(&rests[0], &rests[1], sizeof rests[0]) != 0 ||
                   weir_cluster_usual_gpus(a) != weir_cluster_usual_gpus(b)
               ? 1
               : 0;
}

/* All that is free of a GPU that is cut cannot be held by one worker. */
static bool can_plug(const struct weir_cluster *cluster)
{
    for (uint32_t n = 0; n < weir_cluster_node_count(cluster); n++) {
        for (uint32_t g = 0; g < weir_cluster_node(cluster, n)->gpu_count; g++) {
            if (is_ill(cluster, n, g) && weir_cluster_gpu(cluster, n, g)->mig != NULL)
                return false;
        }
    }
    return true;
}

static uint32_t look(const struct history *history, uint32_t step)
{
    struct weir_shape shapes[6];
    uint32_t anew[RECORDS];
    uint32_t wrong = 0;

    fill_shapes(history, shapes);
    for (uint32_t plugged = 0; plugged < (can_plug(history->cluster) ? 2 : 1); plugged++) {
        struct weir_error error = { .phase = 0 };
        struct weir_cluster *const built = rebuild(history, anew, plugged != 0);
        wrong += compare(history, built, anew, plugged != 0);
        wrong += plugged == 0 ? compare_sums(history->cluster, built) : 0;
        for (uint32_t s = 0; s < 6; s++)
            wrong += weir_cluster_room(history->cluster, &shapes[s], 1000) !=
                     weir_cluster_room(built, &shapes[s], 1000);
        if (weir_cluster_check(history->cluster, &error) != WEIR_OK) {
            printf("  step %u: %s\n", step, error.text);
            wrong++;
        }
        weir_cluster_destroy(built);
    }
    return wrong;
}

static void a_changed_cluster_places_like_a_new_one(void)
{
    struct dice dice = { .state = 17 };
    struct history history;
    uint32_t wrong = 0;

    open_history(&history);
    for (uint32_t i = 0; i < STEPS && wrong == 0; i++) {
        change(&history, &dice);
        if (i % LOOK_EVERY == 0)
            wrong += look(&history, i);
    }
    CHECK_I64(wrong, 0);
    for (uint32_t kind = 0; kind < 7; kind++)
        CHECK(history.done[kind] > 60);
    close_history(&history);
}

static const struct test tests[] = {
    { "a changed cluster places like a new one", a_changed_cluster_places_like_a_new_one },
};
TEST_MAIN(tests)
