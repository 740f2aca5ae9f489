/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The upper bound on allocated GPUs against the true optimum of small random instances, found by
 * trying every placement, and on instances where it must be met exactly.
 */
#include "sim/lab/alloc_bound.h"
#include "sim/lab/bound_shelf.h"
#include "sim/lab/dual_feasible.h"
#include "sim/scenario/catalog/catalog_mig.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLI (WEIR_ONE / 1000)

enum { NODES = 3, GPUS_PER_NODE = 2, GPUS = NODES * GPUS_PER_NODE, JOBS = 7, INSTANCES = 400 };

static uint32_t next_draw(uint64_t *state, uint32_t count)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % count;
}

static struct weir_shape job(int64_t cpu_milli, uint32_t gpus, int64_t gpu_milli)
{
    return (struct weir_shape){ .kind = gpus == 1 && gpu_milli < 1000 ? WEIR_SHAPE_FRACTIONAL
                                                                      : WEIR_SHAPE_WHOLE,
                                .gpu_count = gpus,
                                .cpu_units = cpu_milli * MILLI,
                                .gpu_units = gpu_milli * MILLI };
}

struct instance {
    struct sim_node nodes[NODES];
    struct sim_gpu gpus[GPUS];
    struct sim_cluster cluster;
    struct weir_shape shapes[JOBS];
    double counts[JOBS];
    uint32_t kinds;
};

static void open_instance(struct instance *instance, uint32_t nodes, int64_t cpus)
{
    *instance = (struct instance){ .kinds = 0 };
    for (uint32_t n = 0; n < nodes; n++)
        instance->nodes[n] = (struct sim_node){ .is_up = true,
                                                .gpu_first = n * GPUS_PER_NODE,
                                                .gpu_count = GPUS_PER_NODE,
                                                .cpu_total = cpus * WEIR_ONE,
                                                .ram_total_bytes = 100 };
    instance->cluster = (struct sim_cluster){ .nodes = instance->nodes,
                                              .gpus = instance->gpus,
                                              .node_count = nodes,
                                              .gpu_count = nodes * GPUS_PER_NODE };
}

static void add_jobs(struct instance *instance, struct weir_shape shape, uint64_t count)
{
    instance->shapes[instance->kinds] = shape;
    instance->counts[instance->kinds++] = (double)count;
}

static struct sim_alloc_bound bound_of(const struct instance *instance)
{
    struct weir_shape shapes[JOBS];
    memcpy(shapes, instance->shapes, sizeof shapes);
    const struct sim_job_kinds kinds = { .shapes = shapes, .count = instance->kinds };
    const struct sim_alloc_question question = { .cluster = &instance->cluster,
                                                 .kinds = &kinds,
                                                 .jobs = instance->counts };
    struct sim_alloc_bound bound = { .gpus = -1 };
    CHECK_I64(sim_alloc_bound_compute(&question, &bound), WEIR_OK);
    CHECK(bound.gpus <= bound.simple_gpus);
    return bound;
}

/* ---- the optimum, by trying everything ---- */

struct search {
    const struct instance *instance;
    int64_t cpus[NODES], ram[NODES], gpus[GPUS], memory[GPUS]; /* left */
    double best;
};

static void place_next(struct search *search, uint32_t job_index, double gpus, double rest);

static void take_gpus(struct search *search, const struct weir_shape *shape, uint32_t from,
                      int64_t direction)
{
    for (uint32_t g = from; g < from + shape->gpu_count; g++) {
        search->gpus[g] -= direction * shape->gpu_units;
        search->memory[g] -= direction * shape->gpu_mem_bytes;
    }
}

/* The job on a node: a share on any of its GPUs, whole GPUs on the free ones (which are alike). */
static void try_node(struct search *search, uint32_t job_index, uint32_t node, double gpus,
                     double rest)
{
    const struct weir_shape *shape = &search->instance->shapes[job_index];
    const uint32_t first = node * GPUS_PER_NODE;
    const uint32_t last = first + GPUS_PER_NODE - shape->gpu_count;
    if (search->cpus[node] < shape->cpu_units || search->ram[node] < shape->ram_bytes ||
        !weir_shape_takes_type(shape, search->instance->gpus[first].type))
        return;
    search->cpus[node] -= shape->cpu_units;
    search->ram[node] -= shape->ram_bytes;
    for (uint32_t from = first; from <= last; from++) {
        bool fits = true;
        for (uint32_t g = from; g < from + shape->gpu_count; g++)
            fits = fits && search->gpus[g] >= shape->gpu_units &&
                   search->memory[g] >= shape->gpu_mem_bytes;
        if (!fits)
            continue;
        take_gpus(search, shape, from, 1);
        place_next(search, job_index + 1, gpus + sim_kind_gpus(shape), rest);
        take_gpus(search, shape, from, -1);
    }
    search->cpus[node] += shape->cpu_units;
    search->ram[node] += shape->ram_bytes;
}

static void place_next(struct search *search, uint32_t job_index, double gpus, double rest)
{
    search->best = fmax(search->best, gpus);
    if (job_index == search->instance->kinds || gpus + rest <= search->best)
        return;
    rest -= sim_kind_gpus(&search->instance->shapes[job_index]);
    for (uint32_t n = 0; n < search->instance->cluster.node_count; n++)
        try_node(search, job_index, n, gpus, rest);
    place_next(search, job_index + 1, gpus, rest);
}

static double optimum_of(const struct instance *instance)
{
    struct search search = { .instance = instance };
    double all = 0;
    for (uint32_t n = 0; n < NODES; n++) {
        search.cpus[n] = instance->nodes[n].cpu_total;
        search.ram[n] = instance->nodes[n].ram_total_bytes;
    }
    for (uint32_t g = 0; g < GPUS; g++) {
        search.gpus[g] = WEIR_ONE;
        search.memory[g] = instance->gpus[g].mem_total_bytes;
    }
    for (uint32_t k = 0; k < instance->kinds; k++)
        all += sim_kind_gpus(&instance->shapes[k]);
    place_next(&search, 0, 0, all);
    return search.best;
}

static void draw_instance(struct instance *instance, uint64_t *draws)
{
    static const int64_t shares[] = { 100, 200, 300, 340, 400, 470, 500, 600, 650, 810 };
    open_instance(instance, 1 + next_draw(draws, NODES), 0);
    for (uint32_t n = 0; n < NODES; n++) {
        instance->nodes[n].cpu_total = (2 + next_draw(draws, 7)) * WEIR_ONE;
        instance->nodes[n].ram_total_bytes = 40 + 20 * next_draw(draws, 3);
        const uint32_t type = next_draw(draws, 2);
        instance->gpus[2 * n].type = instance->gpus[2 * n + 1].type = type;
        instance->gpus[2 * n].mem_total_bytes = instance->gpus[2 * n + 1].mem_total_bytes =
            40 + 40 * type;
    }
    for (int i = 0; i < JOBS; i++) {
        const bool is_share = next_draw(draws, 3) > 0;
        struct weir_shape shape = is_share ? job(0, 1, shares[next_draw(draws, 10)])
                                           : job(0, 1 + next_draw(draws, 2), 1000);
        shape.cpu_units = (int64_t)next_draw(draws, 6) * WEIR_ONE;
        shape.ram_bytes = 10 * next_draw(draws, 5);
        shape.gpu_mem_bytes = next_draw(draws, 2) == 0 ? 15 * next_draw(draws, 5) : 0;
        shape.gpu_type = next_draw(draws, 4) == 0 ? 1 + next_draw(draws, 2) : 0;
        add_jobs(instance, shape, 1);
    }
}

/* Fixed seeds, so nothing here is left to chance.
 * covers: S1.16 */
static void no_placement_beats_the_bound(void)
{
    uint64_t draws = 42;
    uint32_t tight = 0;
    uint32_t tightened = 0;
    double bounds = 0;
    double optima = 0;
    for (int i = 0; i < INSTANCES; i++) {
        struct instance instance;
        draw_instance(&instance, &draws);
        const struct sim_alloc_bound bound = bound_of(&instance);
        const double optimum = optimum_of(&instance);
        CHECK(optimum <= bound.gpus * (1 + 1e-9));
        tight += bound.gpus - optimum < 1e-6 ? 1 : 0;
        tightened += bound.gpus < bound.simple_gpus - 1e-6 ? 1 : 0;
        bounds += bound.gpus;
        optima += optimum;
    }
    printf("  %u of %d bounds met, %u below the simple one; sum %.1f for %.1f GPUs\n", tight,
           INSTANCES, tightened, bounds, optima);
    CHECK(tight > INSTANCES / 3);
    CHECK(tightened > INSTANCES / 3);
    CHECK(bounds < 1.1 * optima);
}

/* ---- instances whose optimum is known ---- */

static void the_bound_is_met_where_it_must_be(void)
{
    struct instance instance;
    open_instance(&instance, 3, 8);
    add_jobs(&instance, job(1000, 1, 600), 50); /* one a GPU */
    CHECK_NEAR(bound_of(&instance).gpus, 6 * 0.6, 1e-6);
    CHECK_NEAR(bound_of(&instance).simple_gpus, 6, 1e-6);
    add_jobs(&instance, job(1000, 1, 400), 3); /* beside three of them */
    CHECK_NEAR(bound_of(&instance).gpus, 6 * 0.6 + 3 * 0.4, 1e-6);

    open_instance(&instance, 3, 8);
    add_jobs(&instance, job(5000, 1, 1000), 50); /* 5 of 8 CPUs: one a node */
    CHECK_NEAR(bound_of(&instance).gpus, 3, 1e-6);
    add_jobs(&instance, job(3000, 1, 500), 2); /* what is left is just enough for these */
    CHECK_NEAR(bound_of(&instance).gpus, 4, 1e-6);

    open_instance(&instance, 3, 64);
    add_jobs(&instance, job(1000, 2, 1000), 2);
    add_jobs(&instance, job(1000, 1, 1000), 9);
    CHECK_NEAR(bound_of(&instance).gpus, 6, 1e-6);
    instance.counts[1] = 1; /* what is asked for is the bound */
    CHECK_NEAR(bound_of(&instance).gpus, 5, 1e-6);
    instance.shapes[0].gpu_type = 2; /* a model that is not there */
    CHECK_NEAR(bound_of(&instance).gpus, 1, 1e-6);
    instance.shapes[1].ram_bytes = 101;
    CHECK_NEAR(bound_of(&instance).gpus, 0, 1e-6);

    /* Of 24 CPUs three jobs take 2 each for a GPU; the 18 that are left are 18 / 8 GPUs. */
    open_instance(&instance, 3, 8);
    add_jobs(&instance, job(8000, 1, 1000), 6);
    add_jobs(&instance, job(2000, 1, 1000), 3);
    CHECK_NEAR(bound_of(&instance).simple_gpus, 3 + 18.0 / 8, 1e-6);
}

static void memory_binds_too(void)
{
    struct instance instance;
    open_instance(&instance, 2, 64);
    add_jobs(&instance, job(0, 1, 1000), 50);
    instance.shapes[0].ram_bytes = 60; /* of 100 */
    CHECK_NEAR(bound_of(&instance).gpus, 2, 1e-6);
    instance.shapes[0].ram_bytes = 50;
    CHECK_NEAR(bound_of(&instance).gpus, 4, 1e-6);
}

/* Shares of a quarter with 30 of 80 GB: two a GPU, not the two and two thirds of divided jobs.
 * covers: S1.11 */
static void gpu_memory_binds_too(void)
{
    struct instance instance;
    open_instance(&instance, 1, 64);
    for (uint32_t g = 0; g < GPUS_PER_NODE; g++)
        instance.gpus[g].mem_total_bytes = INT64_C(80000000000);
    add_jobs(&instance, job(1000, 1, 250), 6);
    CHECK_NEAR(bound_of(&instance).gpus, 1.5, 1e-6);
    instance.shapes[0].gpu_mem_bytes = INT64_C(30000000000);
    CHECK_NEAR(bound_of(&instance).gpus, 1, 1e-6);
    CHECK_NEAR(bound_of(&instance).simple_gpus, 160 / 30.0 * 0.25, 1e-6);
    instance.shapes[0].gpu_mem_bytes = INT64_C(80000000001); /* on no GPU */
    CHECK_NEAR(bound_of(&instance).gpus, 0, 1e-6);
}

/* ---- GPUs that are cut ---- */

static const char *const profiles[] = { "1g.10gb", "1g.20gb", "2g.20gb",
                                        "3g.40gb", "4g.40gb", "7g.80gb" };
enum { PROFILES = sizeof profiles / sizeof profiles[0] };

/* An instance of this profile, or (not `is_named`) any that has as many slices. */
static struct weir_shape slice(const char *name, bool is_named)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    struct weir_shape shape = { .kind = WEIR_SHAPE_SLICE, .gpu_count = 1 };
    uint32_t profile = 0;
    CHECK_I64(weir_mig_find(table, name, &profile, NULL), WEIR_OK);
    shape.mig_slices = table->profiles[profile].slices;
    shape.gpu_units = weir_mig_units(table, profile);
    if (is_named)
        memcpy(shape.mig_profile, table->profiles[profile].name, sizeof shape.mig_profile);
    return shape;
}

/* Both GPUs of each node are cut; with `cut`, for good. */
static void open_cut(struct instance *instance, uint32_t nodes, weir_mig_layout cut)
{
    open_instance(instance, nodes, 64);
    for (uint32_t g = 0; g < nodes * GPUS_PER_NODE; g++) {
        instance->gpus[g].mig = sim_catalog_mig_find("h100");
        instance->gpus[g].mig_cut = cut;
    }
}

static weir_mig_layout layout_of(const char *const *names, uint32_t count)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    uint32_t counts[WEIR_MIG_PROFILES] = { 0 };
    weir_mig_layout layout = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t profile = 0;
        CHECK_I64(weir_mig_find(table, names[i], &profile, NULL), WEIR_OK);
        counts[profile]++;
    }
    CHECK_I64(weir_mig_arrange(table, counts, &layout, NULL), WEIR_OK);
    return layout;
}

/* covers: S1.16 */
static void instances_bind_too(void)
{
    static const char *const halves[] = { "3g.40gb", "2g.20gb", "2g.20gb" };
    struct instance instance;
    open_cut(&instance, 1, 0);
    add_jobs(&instance, slice("3g.40gb", true), 50); /* four of eight slots each: two a GPU */
    CHECK_NEAR(bound_of(&instance).gpus, 4 * 3 / 7.0, 1e-6);
    open_cut(&instance, 1, 0);
    add_jobs(&instance, job(0, 1, 1000), 50); /* a whole GPU is not to be had there */
    CHECK_NEAR(bound_of(&instance).gpus, 0, 1e-6);
    open_instance(&instance, 1, 64);
    add_jobs(&instance, slice("1g.10gb", true), 50); /* nor an instance where none is cut */
    CHECK_NEAR(bound_of(&instance).gpus, 0, 1e-6);
    open_cut(&instance, 1, layout_of(halves, 3));
    add_jobs(&instance, slice("1g.10gb", true), 50); /* none of these instances */
    CHECK_NEAR(bound_of(&instance).gpus, 0, 1e-6);
    add_jobs(&instance, slice("2g.20gb", true), 50);
    CHECK_NEAR(bound_of(&instance).gpus, 4 * 2 / 7.0, 1e-6);
    add_jobs(&instance, slice("1g.10gb", false), 50); /* any instance will do */
    CHECK_NEAR(bound_of(&instance).gpus, 4 * 2 / 7.0 + 2 * 1 / 7.0, 1e-6);
}

struct cutting {
    const struct instance *instance;
    weir_mig_layout held[GPUS];
    double best;
};

static void put_next(struct cutting *cutting, uint32_t next, double gpus)
{
    const struct instance *instance = cutting->instance;
    cutting->best = fmax(cutting->best, gpus);
    if (next == instance->kinds)
        return;
    put_next(cutting, next + 1, gpus);
    const struct weir_shape *shape = &instance->shapes[next];
    for (uint32_t g = 0; g < instance->cluster.gpu_count; g++) {
        const struct sim_gpu *gpu = &instance->gpus[g];
        const weir_mig_layout held = cutting->held[g];
        const uint32_t fit = weir_shape_profiles(shape, gpu->mig, gpu->mig_cut != 0);
        for (uint32_t p = 0; fit >> p != 0; p++)
            for (uint32_t s = 0; ((fit >> p) & 1) != 0 && s < gpu->mig->slots; s++) {
                const struct weir_mig_state state = { held, gpu->mig_cut };
                if (!weir_mig_free(gpu->mig, state, p, s))
                    continue;
                cutting->held[g] = held | weir_mig_instance(p, s);
                put_next(cutting, next + 1, gpus + sim_kind_gpus(shape));
                cutting->held[g] = held;
            }
    }
}

static void no_cut_beats_the_bound(void)
{
    static const char *const cuts[][4] = { { "7g.80gb" },
                                           { "4g.40gb", "3g.40gb" },
                                           { "3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb" },
                                           { "2g.20gb", "2g.20gb", "3g.40gb" } };
    static const uint32_t counts[] = { 1, 2, 4, 3 };
    uint64_t draws = 4711;
    uint32_t met = 0;
    for (int i = 0; i < INSTANCES / 2; i++) {
        struct instance instance;
        const uint32_t cut = next_draw(&draws, 6);
        open_cut(&instance, 1, cut < 4 ? layout_of(cuts[cut], counts[cut]) : 0);
        for (int j = 0; j < 5; j++)
            add_jobs(&instance,
                     slice(profiles[next_draw(&draws, PROFILES)], next_draw(&draws, 2) > 0), 1);
        struct cutting cutting = { .instance = &instance };
        put_next(&cutting, 0, 0);
        const double bound = bound_of(&instance).gpus;
        CHECK(cutting.best <= bound * (1 + 1e-9));
        met += bound - cutting.best < 1e-6 ? 1 : 0;
    }
    printf("  %u of %d bounds met\n", met, INSTANCES / 2);
    CHECK(met > INSTANCES / 3);
}

/* ---- answers that are kept ---- */

static struct sim_alloc_bound ask(const struct instance *instance, struct sim_bound_shelf *shelf)
{
    struct weir_shape shapes[JOBS];
    memcpy(shapes, instance->shapes, sizeof shapes);
    const struct sim_job_kinds kinds = { .shapes = shapes, .count = instance->kinds };
    const struct sim_alloc_question question = {
        .cluster = &instance->cluster, .kinds = &kinds, .jobs = instance->counts, .shelf = shelf
    };
    struct sim_alloc_bound bound = { .gpus = -1 };
    CHECK_I64(sim_alloc_bound_compute(&question, &bound), WEIR_OK);
    return bound;
}

/* Each question has its own answer, whoever asked before. */
static void a_kept_answer_is_the_answer(void)
{
    struct sim_bound_shelf *shelf = calloc(1, sim_bound_shelf_size());
    for (int turn = 0; turn < 2; turn++) {
        uint64_t draws = 42;
        for (int i = 0; i < INSTANCES; i++) {
            struct instance instance;
            draw_instance(&instance, &draws);
            const struct sim_alloc_bound plain = ask(&instance, NULL);
            const struct sim_alloc_bound kept = ask(&instance, shelf);
            CHECK(memcmp(&plain.gpus, &kept.gpus, sizeof plain.gpus) == 0);
            CHECK(memcmp(&plain.simple_gpus, &kept.simple_gpus, sizeof plain.gpus) == 0);
            instance.counts[0] += 1; /* one more is another question */
            CHECK(ask(&instance, shelf).gpus >= plain.gpus - 1e-9);
            CHECK_NEAR(ask(&instance, shelf).gpus, ask(&instance, NULL).gpus, 0);
        }
    }
    free(shelf);
}

static void the_shelf_has_an_end(void)
{
    struct sim_bound_shelf *shelf = calloc(1, sim_bound_shelf_size());
    struct sim_alloc_bound found = { .gpus = -1 };
    uint32_t kept = 0;
    CHECK(!sim_bound_shelf_find(shelf, 0, &found));
    for (uint64_t key = 0; key < 10000; key++)
        sim_bound_shelf_put(shelf, key, &(struct sim_alloc_bound){ .gpus = (double)key });
    for (uint64_t key = 0; key < 10000; key++) {
        if (!sim_bound_shelf_find(shelf, key, &found))
            continue;
        CHECK_NEAR(found.gpus, (double)key, 0);
        kept++;
    }
    CHECK(kept > 4000 && kept < 5000);
    sim_bound_shelf_put(NULL, 1, &found);
    CHECK(!sim_bound_shelf_find(NULL, 1, &found));
    free(shelf);
}

/* ---- stretched sizes ---- */

static double stretched_sum(struct sim_stretch stretch, const int64_t *sizes, uint32_t count,
                            int64_t whole)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += sim_stretched(stretch, sizes[i], whole);
    return sum;
}

static void what_fits_still_fits_when_stretched(void)
{
    uint64_t draws = 7;
    for (int i = 0; i < 20000; i++) {
        const int64_t whole = 1 + next_draw(&draws, 60);
        int64_t sizes[12];
        int64_t left = whole;
        uint32_t count = 0;
        while (count < 12) {
            sizes[count] = next_draw(&draws, (uint32_t)left + 1);
            left -= sizes[count++];
        }
        for (int64_t k = 1; k <= 6; k++)
            CHECK(stretched_sum((struct sim_stretch){ .steps = k }, sizes, count, whole) <=
                  1 + 1e-12);
        for (int64_t e = 1; e <= whole / 2; e++)
            CHECK(stretched_sum((struct sim_stretch){ .threshold = e }, sizes, count, whole) <=
                  1 + 1e-12);
    }
    CHECK_NEAR(sim_stretched((struct sim_stretch){ .steps = 1 }, 6, 10), 1, 0);
    CHECK_NEAR(sim_stretched((struct sim_stretch){ .steps = 1 }, 5, 10), 0.5, 0);
    CHECK_NEAR(sim_stretched((struct sim_stretch){ .steps = 2 }, 34, 100), 0.5, 0);
    CHECK_NEAR(sim_stretched((struct sim_stretch){ .threshold = 3 }, 8, 10), 1, 0);
    CHECK_NEAR(sim_stretched((struct sim_stretch){ .threshold = 3 }, 2, 10), 0, 0);
    CHECK_NEAR(sim_stretched((struct sim_stretch){ .threshold = 3 }, 3, 10), 0.3, 0);
}

static const struct test tests[] = {
    { "no placement beats the bound", no_placement_beats_the_bound },
    { "the bound is met where it must be", the_bound_is_met_where_it_must_be },
    { "memory binds too", memory_binds_too },
    { "GPU memory binds too", gpu_memory_binds_too },
    { "instances bind too", instances_bind_too },
    { "no cut beats the bound", no_cut_beats_the_bound },
    { "a kept answer is the answer", a_kept_answer_is_the_answer },
    { "the shelf has an end", the_shelf_has_an_end },
    { "what fits still fits when stretched", what_fits_still_fits_when_stretched },
};
TEST_MAIN(tests)
