/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether something fits, in every dimension at once: CPUs, memory, and of each GPU compute,
 * memory, decoders and encoders. A million random questions to the inventory and to books that know
 * only what was given and taken. Amounts are drawn around what is free, so that equality and one
 * too much are as frequent as the rest, and every dimension is often the only one that refuses.
 */
#include "tests/support/check.h"
#include "weir/cluster.h"

#include <stdio.h>
#include <string.h>

enum {
    CASES = 1000000,
    CASES_A_CLUSTER = 500,
    NODES = 3,
    GPUS = 4,
    WORKERS = 40,
    DIMENSIONS = 6, /* as `free_of` counts them */
    LEAST = CASES / 100
};

struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *dice, uint32_t below)
{
    dice->state = dice->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((dice->state >> 33) % below);
}

/* What is free, by the books of this test. */
struct books {
    int64_t cpu[NODES], ram[NODES], units[NODES][GPUS], memory[NODES][GPUS];
    uint32_t decoders[NODES][GPUS], encoders[NODES][GPUS];
    struct weir_alloc held[WORKERS]; /* device_count > 0 or cpu_units > 0: worker of this id */
};

/* Which dimensions refuse, as bits: none = it fits. */
static uint32_t refusals(const struct books *books, const struct weir_alloc *wanted)
{
    const uint32_t n = wanted->node;
    uint32_t bits = (uint32_t)(wanted->cpu_units > books->cpu[n]) |
                    (uint32_t)(wanted->ram_bytes > books->ram[n]) << 1;

    for (uint32_t d = 0; d < wanted->device_count; d++) {
        const struct weir_device *const device = &wanted->devices[d];
        const uint32_t g = device->gpu;
        bits |= (uint32_t)(device->units > books->units[n][g]) << 2 |
                (uint32_t)(device->mem_bytes > books->memory[n][g]) << 3 |
                (uint32_t)((device->nvdec_mask & ~books->decoders[n][g]) != 0) << 4 |
                (uint32_t)((device->nvenc_mask & ~books->encoders[n][g]) != 0) << 5;
    }
    return bits;
}

static void book(struct books *books, const struct weir_alloc *alloc, int64_t sign)
{
    const uint32_t n = alloc->node;

    books->cpu[n] -= sign * alloc->cpu_units;
    books->ram[n] -= sign * alloc->ram_bytes;
    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        books->units[n][device->gpu] -= sign * device->units;
        books->memory[n][device->gpu] -= sign * device->mem_bytes;
        books->decoders[n][device->gpu] ^= device->nvdec_mask;
        books->encoders[n][device->gpu] ^= device->nvenc_mask;
    }
}

static struct weir_cluster *open(struct books *books, struct dice *dice)
{
    struct weir_cluster *cluster = NULL;

    memset(books, 0, sizeof *books);
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < NODES; n++) {
        struct weir_gpu_spec gpus[GPUS];
        for (uint32_t g = 0; g < GPUS; g++) {
            gpus[g] = (struct weir_gpu_spec){ .nvdecs = roll(dice, 8),
                                              .nvencs = roll(dice, 4),
                                              .units = WEIR_ONE,
                                              .mem_bytes = 1 + roll(dice, 80) };
            books->units[n][g] = gpus[g].units;
            books->memory[n][g] = gpus[g].mem_bytes;
            books->decoders[n][g] = (1U << gpus[g].nvdecs) - 1;
            books->encoders[n][g] = (1U << gpus[g].nvencs) - 1;
        }
        books->cpu[n] = (1 + roll(dice, 64)) * WEIR_ONE;
        books->ram[n] = 1 + roll(dice, 512);
        const struct weir_node_spec spec = { .size = sizeof spec,
                                             .id = n,
                                             .gpu_count = GPUS,
                                             .cpu_units = books->cpu[n],
                                             .ram_bytes = books->ram[n],
                                             .gpus = gpus };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return cluster;
}

/* Mostly a part of what is free; all of it; or one unit more. */
static int64_t near(struct dice *dice, int64_t free)
{
    const uint32_t how = roll(dice, 16);

    if (how < 2)
        return free + how;
    return how == 2 ? 0 : free * roll(dice, 8) / 16;
}

/* Engines that are free, now and then one that is not. */
static uint32_t some_engines(struct dice *dice, uint32_t free)
{
    return (free & roll(dice, 256)) | (roll(dice, 16) == 0 ? 1U << roll(dice, 8) : 0);
}

static struct weir_alloc random_alloc(const struct books *books, struct dice *dice)
{
    const uint32_t n = roll(dice, NODES);
    struct weir_alloc alloc = { .node = n,
                                .cpu_units = near(dice, books->cpu[n]),
                                .ram_bytes = near(dice, books->ram[n]) };

    for (uint32_t g = 0; g < GPUS; g++) {
        if (roll(dice, 3) != 0)
            continue;
        alloc.devices[alloc.device_count++] =
            (struct weir_device){ .gpu = g,
                                  .units = near(dice, books->units[n][g]),
                                  .mem_bytes = near(dice, books->memory[n][g]),
                                  .nvdec_mask = some_engines(dice, books->decoders[n][g]),
                                  .nvenc_mask = some_engines(dice, books->encoders[n][g]) };
    }
    return alloc;
}

static bool is_held(const struct weir_alloc *alloc)
{
    return alloc->device_count > 0 || alloc->cpu_units > 0;
}

/* Something comes or goes; false when the inventory says otherwise than the books. */
static bool change(struct weir_cluster *cluster, struct books *books,
                   const struct weir_alloc *alloc, struct dice *dice)
{
    const uint64_t id = roll(dice, WORKERS);
    struct weir_alloc *const held = &books->held[id];
    const bool fits = refusals(books, alloc) == 0;

    if (is_held(held)) {
        book(books, held, -1);
        *held = (struct weir_alloc){ .node = 0 };
        return weir_cluster_remove_worker(cluster, id, NULL) == WEIR_OK;
    }
    if (!is_held(alloc))
        return true;
    const weir_status status =
        weir_cluster_add_worker(cluster, id, weir_pool_owner(0), alloc, NULL);
    if (fits) {
        book(books, alloc, 1);
        *held = *alloc;
    }
    return status == (fits ? WEIR_OK : WEIR_EOVERCOMMIT);
}

/* How often each answer came, and each dimension was the only one to refuse. */
struct seen {
    uint32_t fits, alone[DIMENSIONS], wrong;
};

static void ask(struct weir_cluster *cluster, struct books *books, struct dice *dice,
                struct seen *seen)
{
    const struct weir_alloc alloc = random_alloc(books, dice);
    const uint32_t bits = refusals(books, &alloc);

    seen->wrong += weir_cluster_fits(cluster, &alloc) != (bits == 0);
    seen->fits += bits == 0;
    for (uint32_t d = 0; d < DIMENSIONS; d++)
        seen->alone[d] += bits == 1U << d;
    if (roll(dice, 4) == 0)
        seen->wrong += !change(cluster, books, &alloc, dice);
}

/* covers: S0.29 */
static void a_million_fits_agree_with_the_books(void)
{
    static struct books books;
    struct seen seen = { .wrong = 0 };

    for (uint32_t c = 0; c < CASES / CASES_A_CLUSTER; c++) {
        struct dice dice = { .state = c };
        struct weir_cluster *const cluster = open(&books, &dice);
        for (uint32_t i = 0; i < CASES_A_CLUSTER; i++)
            ask(cluster, &books, &dice, &seen);
        if (weir_cluster_check(cluster, NULL) != WEIR_OK)
            seen.wrong++;
        weir_cluster_destroy(cluster);
        if (seen.wrong > 0 && CHECK_I64(seen.wrong, 0) == false) {
            printf("cluster %u\n", c);
            return;
        }
    }
    printf("%d cases, %u fit; only CPUs refuse %u, memory %u, GPU %u, GPU memory %u, decoders %u, "
           "encoders %u\n",
           CASES, seen.fits, seen.alone[0], seen.alone[1], seen.alone[2], seen.alone[3],
           seen.alone[4], seen.alone[5]);
    CHECK(seen.fits >= CASES / 5);
    for (uint32_t d = 0; d < DIMENSIONS; d++)
        CHECK(seen.alone[d] >= LEAST);
}

static const struct test tests[] = {
    { "a million fits agree with the books", a_million_fits_agree_with_the_books },
};

TEST_MAIN(tests)
