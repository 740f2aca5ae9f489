/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A 64-bit order-sensitive fingerprint of a stream of words. Not cryptographic: it tells two runs
 * apart, and names a scenario.
 */
#ifndef SIM_ENGINE_DIGEST_H
#define SIM_ENGINE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define SIM_DIGEST_START UINT64_C(0x9E3779B97F4A7C15)

/* One multiply and two shifts a word (finalizer of splitmix64, Steele et al. 2014). */
static inline uint64_t sim_digest_word(uint64_t digest, uint64_t word)
{
    uint64_t mixed = (digest ^ word) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed ^= mixed >> 29;
    return mixed * UINT64_C(0x94D049BB133111EB) + UINT64_C(0x2545F4914F6CDD1D);
}

/* The fingerprint of a byte string, independent of the machine's byte order. */
uint64_t sim_digest_bytes(uint64_t digest, const void *bytes, size_t count);
/* The same in parts: each but the last is a multiple of 8 bytes; then the word of their whole
 * count.
 */
uint64_t sim_digest_part(uint64_t digest, const void *bytes, size_t count);

#endif
