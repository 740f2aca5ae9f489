/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Named random streams over Philox4x32-10.
 *
 * Counter = { block number, item low, item high, stage << 16 | attempt }; a stage or attempt
 * beyond 65 535 moves its high half into the hash that makes the key. The block number has 32
 * bits: a stream gives 2^33 doubles before it repeats.
 *
 * Opening computes no block; the first number does. `used` counts the words of the present block
 * that were handed out. 64-bit numbers take an even pair of words, so a 32-bit number (only GSL's
 * samplers ask for them) may leave one word unused; the sequence of a stream is a function of its
 * name and of the calls made on it, nothing else.
 *
 * GSL is used through a view on the stream; nothing global of GSL is read or changed.
 */
#include "sim/engine/random.h"

#include "sim/engine/digest.h"
#include "sim/engine/ziggurat.h"

#include <gsl/gsl_randist.h>
#include <string.h>

enum { PHILOX_ROUNDS = 10, BLOCK_WORDS = 4, STAGE_BITS = 16 };

static const uint32_t PHILOX_MULTIPLIER[2] = { UINT32_C(0xD2511F53), UINT32_C(0xCD9E8D57) };
static const uint32_t PHILOX_WEYL[2] = { UINT32_C(0x9E3779B9), UINT32_C(0xBB67AE85) };

static inline void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0];
    uint32_t c1 = counter[1];
    uint32_t c2 = counter[2];
    uint32_t c3 = counter[3];
    uint32_t k0 = key[0];
    uint32_t k1 = key[1];
#pragma GCC unroll 10
    for (unsigned round = 0; round < PHILOX_ROUNDS; round++) {
        const uint64_t p0 = (uint64_t)PHILOX_MULTIPLIER[0] * c0;
        const uint64_t p1 = (uint64_t)PHILOX_MULTIPLIER[1] * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += PHILOX_WEYL[0];
        k1 += PHILOX_WEYL[1];
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

void sim_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    philox(counter, key, out);
}

/* Finalizer of splitmix64 (Steele et al. 2014): a bijection, every bit depends on every bit. */
static inline uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ word >> 27) * UINT64_C(0x94D049BB133111EB);
    return word ^ word >> 31;
}

uint64_t sim_random_name(uint64_t owner, enum sim_name_kind kind, const char *name)
{
    const uint64_t place =
        sim_digest_word(sim_digest_word(SIM_DIGEST_START, owner), (uint64_t)kind);
    const uint64_t hash = mix(sim_digest_bytes(place, name, strlen(name)));
    return hash == 0 ? 1 : hash;
}

struct sim_random sim_random_of(const struct sim_random *parent, enum sim_name_kind kind,
                                const char *name)
{
    return (struct sim_random){ .seed = parent->seed,
                                .replication = parent->replication,
                                .owner = sim_random_name(parent->owner, kind, name) };
}

/* Small integers times distinct odd constants do not meet, so two names of one owner under one seed
 * have two keys; the outer mix is a bijection. */
static inline uint64_t stream_key(const struct sim_random *root, enum sim_purpose purpose,
                                  uint32_t high_halves)
{
    const uint64_t seed = mix(root->seed + UINT64_C(0x9E3779B97F4A7C15));
    return mix(seed + root->replication * UINT64_C(0xD1342543DE82EF95) +
               (uint64_t)purpose * UINT64_C(0xAEF17502108EF2D9) +
               high_halves * UINT64_C(0xDA942042E4DD58B5) + root->owner);
}

void sim_stream_open(struct sim_stream *stream, const struct sim_random *root,
                     enum sim_purpose purpose, struct sim_stream_key key)
{
    const uint32_t high_halves =
        (key.stage >> STAGE_BITS) << STAGE_BITS | key.attempt >> STAGE_BITS;
    const uint64_t hash = stream_key(root, purpose, high_halves);
    stream->key[0] = (uint32_t)hash;
    stream->key[1] = (uint32_t)(hash >> 32);
    stream->counter[0] = 0;
    stream->counter[1] = (uint32_t)key.item;
    stream->counter[2] = (uint32_t)(key.item >> 32);
    stream->counter[3] = key.stage << STAGE_BITS | (key.attempt & UINT32_C(0xFFFF));
    stream->used = BLOCK_WORDS;
    stream->spare = 0;
}

static inline void block_next(struct sim_stream *stream)
{
    philox(stream->counter, stream->key, stream->block);
    stream->counter[0]++;
    stream->used = 0;
}

static inline uint32_t stream_u32(struct sim_stream *stream)
{
    if (stream->used >= BLOCK_WORDS)
        block_next(stream);
    return stream->block[stream->used++];
}

static inline uint64_t stream_u64(struct sim_stream *stream)
{
    const uint32_t pair = (stream->used + 1) & ~UINT32_C(1);
    if (pair + 1 < BLOCK_WORDS) {
        stream->used = pair + 2;
        return (uint64_t)stream->block[pair + 1] << 32 | stream->block[pair];
    }
    block_next(stream);
    stream->used = 2;
    return (uint64_t)stream->block[1] << 32 | stream->block[0];
}

static inline double stream_uniform(struct sim_stream *stream)
{
    return (double)(stream_u64(stream) >> 11) * 0x1p-53;
}

uint64_t sim_stream_u64(struct sim_stream *stream)
{
    return stream_u64(stream);
}

double sim_stream_uniform(struct sim_stream *stream)
{
    return stream_uniform(stream);
}

static uint64_t source_u64(void *source)
{
    return stream_u64(source);
}

double sim_stream_exponential(struct sim_stream *stream)
{
    return sim_ziggurat_exponential(source_u64, stream);
}

double sim_stream_normal(struct sim_stream *stream)
{
    const gsl_rng view = sim_stream_gsl(stream);
    return gsl_ran_gaussian_ziggurat(&view, 1.0);
}

/* --- the view for GSL --------------------------------------------------------------------- */

static void view_set(void *state, unsigned long seed)
{
    const struct sim_random root = { .seed = seed };
    sim_stream_open(state, &root, SIM_DRAW_TEST, (struct sim_stream_key){ .item = 0 });
}

static unsigned long view_get(void *state)
{
    return stream_u32(state);
}

static double view_get_double(void *state)
{
    return stream_uniform(state);
}

static const gsl_rng_type STREAM_TYPE = {
    .name = "philox4x32-10",
    .max = UINT32_MAX,
    .min = 0,
    .size = sizeof(struct sim_stream),
    .set = view_set,
    .get = view_get,
    .get_double = view_get_double,
};

gsl_rng sim_stream_gsl(struct sim_stream *stream)
{
    return (gsl_rng){ &STREAM_TYPE, stream };
}
