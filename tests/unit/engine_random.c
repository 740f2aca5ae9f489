/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Known answers of the generator, names of streams, the ziggurat's tables, the view for GSL.
 * What the numbers look like as a sample is tested in tests/statistical.
 */
#include "sim/engine/random.h"
#include "sim/engine/ziggurat.h"
#include "tests/support/check.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct sim_random ROOT = { .seed = 42, .replication = 3 };

static struct sim_stream open_stream(enum sim_purpose purpose, struct sim_stream_key key)
{
    struct sim_stream stream;
    sim_stream_open(&stream, &ROOT, purpose, key);
    return stream;
}

static uint64_t first_number(const struct sim_random *root, enum sim_purpose purpose,
                             struct sim_stream_key key)
{
    struct sim_stream stream;
    sim_stream_open(&stream, root, purpose, key);
    return sim_stream_u64(&stream);
}

/* Vectors of the authors' Random123 distribution, kat_vectors. */
static void philox_gives_the_published_answers(void)
{
    static const struct {
        uint32_t counter[4], key[2], expected[4];
    } cases[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
          { UINT32_MAX, UINT32_MAX },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t out[4];
        sim_philox4x32(cases[i].counter, cases[i].key, out);
        for (int word = 0; word < 4; word++)
            CHECK_I64(out[word], cases[i].expected[word]);
    }
}

/* Computed from the definition by an independent program: the naming of streams must never change,
 * or every stored result becomes unrepeatable. */
static void a_stream_keeps_its_numbers_for_ever(void)
{
    const struct sim_stream_key key = { .item = UINT64_C(0x123456789A), .stage = 7, .attempt = 2 };
    struct sim_stream stream = open_stream(SIM_DRAW_SERVICE, key);
    CHECK(sim_stream_u64(&stream) == UINT64_C(0x9f810fca8e725f35));
    CHECK(sim_stream_u64(&stream) == UINT64_C(0x1462dfb8609afc2c));
    CHECK(sim_stream_u64(&stream) == UINT64_C(0x32ba9f3d613c1f47));
    CHECK(sim_stream_u64(&stream) == UINT64_C(0xba803f5c020fcae7));
    const struct sim_stream_key wide = { .item = 5, .stage = 70000, .attempt = UINT32_C(1) << 31 };
    CHECK(first_number(&ROOT, SIM_DRAW_SERVICE, wide) == UINT64_C(0xf0840c6233a09333));
}

static void the_same_name_gives_the_same_numbers(void)
{
    const struct sim_stream_key key = { .item = 9, .stage = 1, .attempt = 4 };
    struct sim_stream first = open_stream(SIM_DRAW_SERVICE, key);
    for (int i = 0; i < 1000; i++) /* whatever happened before */
        (void)sim_stream_exponential(&first);
    struct sim_stream again = open_stream(SIM_DRAW_SERVICE, key);
    struct sim_stream other = open_stream(SIM_DRAW_SERVICE, key);
    for (int i = 0; i < 100; i++) {
        CHECK(sim_stream_u64(&again) == sim_stream_u64(&other));
        const double a = sim_stream_normal(&again);
        const double b = sim_stream_normal(&other);
        CHECK(memcmp(&a, &b, sizeof a) == 0);
    }
}

static void every_part_of_a_name_matters(void)
{
    const struct sim_stream_key base = { .item = 9, .stage = 1, .attempt = 4 };
    const uint64_t number = first_number(&ROOT, SIM_DRAW_SERVICE, base);
    struct sim_random root = ROOT;
    root.seed++;
    CHECK(first_number(&root, SIM_DRAW_SERVICE, base) != number);
    root = ROOT;
    root.replication++;
    CHECK(first_number(&root, SIM_DRAW_SERVICE, base) != number);
    CHECK(first_number(&ROOT, SIM_DRAW_ARRIVAL, base) != number);
    root = sim_random_of(&ROOT, SIM_NAME_STAGE, "a");
    CHECK(first_number(&root, SIM_DRAW_SERVICE, base) != number);
    static const struct sim_stream_key others[] = {
        { .item = 10, .stage = 1, .attempt = 4 },
        { .item = 9 + (UINT64_C(1) << 40), .stage = 1, .attempt = 4 },
        { .item = 9, .stage = 2, .attempt = 4 },
        { .item = 9, .stage = 1, .attempt = 5 },
        { .item = 9, .stage = 4, .attempt = 1 },
        { .item = 9, .stage = 1 + 65536, .attempt = 4 },
        { .item = 9, .stage = 1, .attempt = 4 + 65536 },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(first_number(&ROOT, SIM_DRAW_SERVICE, others[i]) != number);
}

/* Names are joined with what they belong to and of which kind they are, not run together. */
static void owners_are_told_apart_by_their_names(void)
{
    const struct sim_random a = sim_random_of(&ROOT, SIM_NAME_PIPELINE, "a");
    const struct sim_random others[] = { ROOT,
                                         sim_random_of(&ROOT, SIM_NAME_JOBS, "a"),
                                         sim_random_of(&ROOT, SIM_NAME_PIPELINE, "b"),
                                         sim_random_of(&ROOT, SIM_NAME_PIPELINE, ""),
                                         sim_random_of(&ROOT, SIM_NAME_PIPELINE, "aa"),
                                         sim_random_of(&a, SIM_NAME_PIPELINE, "a"),
                                         sim_random_of(&a, SIM_NAME_STAGE, "a") };
    CHECK(a.seed == ROOT.seed && a.replication == ROOT.replication);
    CHECK(a.owner == sim_random_of(&ROOT, SIM_NAME_PIPELINE, "a").owner);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CHECK(others[i].owner != a.owner);
        for (size_t k = 0; k < i; k++)
            CHECK(others[i].owner != others[k].owner);
    }
}

static int compare_u64(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* 2^14 names of one seed: two equal 64-bit first numbers by chance have probability 7e-12. */
static void no_two_names_share_their_first_number(void)
{
    enum { NAMES = 1 << 14 };
    static uint64_t numbers[NAMES];
    for (uint32_t i = 0; i < NAMES; i++) {
        const struct sim_random root = { .seed = ROOT.seed, .replication = i % 4 };
        const struct sim_stream_key key = { .item = i / 256 % 16,
                                            .stage = i / 16 % 16,
                                            .attempt = i / 4096 };
        numbers[i] = first_number(&root, (enum sim_purpose)(1 + i / 4 % 4), key);
    }
    qsort(numbers, NAMES, sizeof *numbers, compare_u64);
    for (size_t i = 1; i < NAMES; i++)
        CHECK(numbers[i] != numbers[i - 1]);
}

/* A 64-bit number takes an even pair of words, also behind a 32-bit one. */
static void numbers_of_both_widths_come_from_one_sequence(void)
{
    const struct sim_stream_key key = { .item = 77 };
    struct sim_stream wide = open_stream(SIM_DRAW_TEST, key);
    uint64_t words[4];
    for (int i = 0; i < 4; i++)
        words[i] = sim_stream_u64(&wide);
    struct sim_stream mixed = open_stream(SIM_DRAW_TEST, key);
    const gsl_rng view = sim_stream_gsl(&mixed);
    CHECK(gsl_rng_get(&view) == (words[0] & UINT32_MAX));
    CHECK(sim_stream_u64(&mixed) == words[1]);
    CHECK(gsl_rng_get(&view) == (words[2] & UINT32_MAX));
    CHECK(gsl_rng_get(&view) == words[2] >> 32);
    CHECK(gsl_rng_get(&view) == (words[3] & UINT32_MAX));
}

static void uniforms_lie_in_the_half_open_interval(void)
{
    struct sim_stream stream = open_stream(SIM_DRAW_TEST, (struct sim_stream_key){ .item = 1 });
    double least = 1.0;
    double largest = 0.0;
    for (int i = 0; i < 200000; i++) {
        const double u = sim_stream_uniform(&stream);
        least = fmin(least, u);
        largest = fmax(largest, u);
    }
    CHECK(least >= 0.0);
    CHECK(largest < 1.0);
    CHECK(least < 1e-4);
    CHECK(largest > 1.0 - 1e-4);
}

static void the_gsl_view_describes_the_generator(void)
{
    struct sim_stream stream = open_stream(SIM_DRAW_TEST, (struct sim_stream_key){ .item = 1 });
    const gsl_rng view = sim_stream_gsl(&stream);
    CHECK_STR(gsl_rng_name(&view), "philox4x32-10");
    CHECK(gsl_rng_min(&view) == 0);
    CHECK(gsl_rng_max(&view) == UINT32_MAX);
    CHECK(gsl_rng_size(&view) == sizeof(struct sim_stream));
    CHECK(gsl_rng_state(&view) == &stream);
}

/* gsl_rng_set is part of the type's contract: equal seeds, equal numbers. */
static void the_gsl_view_can_be_seeded(void)
{
    struct sim_stream first = { .used = 0 };
    struct sim_stream second = { .used = 3 };
    const gsl_rng one = sim_stream_gsl(&first);
    const gsl_rng two = sim_stream_gsl(&second);
    gsl_rng_set(&one, 5);
    gsl_rng_set(&two, 5);
    CHECK(gsl_rng_get(&one) == gsl_rng_get(&two));
    gsl_rng_set(&two, 6);
    gsl_rng_set(&one, 5);
    CHECK(gsl_rng_get(&one) != gsl_rng_get(&two));
}

/* 1e-15 where long double is wider than double; valgrind, for one, computes it as double. */
static double tolerance(void)
{
    volatile long double one = 1.0L;
    one += 0x1p-60L;
    return one > 1.0L ? 1e-15 : 2e-12;
}

/* The layers anew, from R and V = R exp(-R) + exp(-R): long double, other order of operations. */
static void the_ziggurat_tables_follow_from_their_definition(void)
{
    const long double tail = 7.697117470131049714044628L;
    const long double area = tail * expl(-tail) + expl(-tail);
    CHECK_NEAR((double)area, 3.949659822581572e-3, 1e-16);
    CHECK_NEAR(SIM_ZIGGURAT_TAIL, (double)tail, 1e-15);
    long double x = area * expl(tail); /* x[0] */
    for (int i = 0; i < SIM_ZIGGURAT_LAYERS; i++) {
        const bool last = i + 1 == SIM_ZIGGURAT_LAYERS;
        const long double next = last ? 0.0L : i == 0 ? tail : -logl(area / x + expl(-x));
        CHECK_NEAR(SIM_ZIGGURAT_WIDTH[i] * 0x1p53 / (double)x, 1.0, tolerance());
        if (i > 0)
            CHECK_NEAR(SIM_ZIGGURAT_HEIGHT[i] / (double)expl(-x), 1.0, tolerance());
        x = next;
    }
    CHECK_NEAR(SIM_ZIGGURAT_WIDTH[SIM_ZIGGURAT_LAYERS], 0.0, 0.0);
}

static const struct test tests[] = {
    { "owners are told apart by their names", owners_are_told_apart_by_their_names },
    { "Philox gives the published answers", philox_gives_the_published_answers },
    { "a stream keeps its numbers for ever", a_stream_keeps_its_numbers_for_ever },
    { "the same name gives the same numbers", the_same_name_gives_the_same_numbers },
    { "every part of a name matters", every_part_of_a_name_matters },
    { "no two names share their first number", no_two_names_share_their_first_number },
    { "numbers of both widths come from one sequence",
      numbers_of_both_widths_come_from_one_sequence },
    { "uniforms lie in the half-open interval", uniforms_lie_in_the_half_open_interval },
    { "the GSL view describes the generator", the_gsl_view_describes_the_generator },
    { "the GSL view can be seeded", the_gsl_view_can_be_seeded },
    { "the ziggurat tables follow from their definition",
      the_ziggurat_tables_follow_from_their_definition },
};
TEST_MAIN(tests)
