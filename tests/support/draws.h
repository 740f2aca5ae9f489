/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where an oracle test takes its choices from: a seeded generator in property tests, the bytes of
 * the input in fuzz targets. The same test code serves both.
 *
 * Invariant: bytes that are used up give 0 for ever and `is_over` is set, so a test that stops
 * then ends for every input.
 */
#ifndef TESTS_SUPPORT_DRAWS_H
#define TESTS_SUPPORT_DRAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draws {
    const uint8_t *bytes; /* the next one */
    size_t left;
    uint64_t state; /* of the generator */
    bool is_seeded;
    bool is_over;
};

static inline struct draws draws_seeded(uint64_t seed)
{
    return (struct draws){ .is_seeded = true, .state = seed * UINT64_C(0x9e3779b97f4a7c15) };
}

static inline struct draws draws_bytes(const uint8_t *bytes, size_t count)
{
    return (struct draws){ .bytes = bytes, .left = count };
}

static inline uint64_t draws_next_byte(struct draws *draws)
{
    draws->is_over = draws->left == 0;
    if (draws->is_over)
        return 0;
    draws->left--;
    return *draws->bytes++;
}

/* A whole number below `limit` >= 1; as many bytes are taken as `limit` needs. */
static inline uint64_t draws_below(struct draws *draws, uint64_t limit)
{
    uint64_t number = 0;

    if (draws->is_seeded) {
        draws->state = draws->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return (draws->state >> 20) % limit;
    }
    for (uint64_t rest = limit - 1; rest > 0; rest >>= 8)
        number = number << 8 | draws_next_byte(draws);
    return number % limit;
}

/* True once in `odds` draws. */
static inline bool draws_one_in(struct draws *draws, uint64_t odds)
{
    return draws_below(draws, odds) == odds - 1;
}

#endif
