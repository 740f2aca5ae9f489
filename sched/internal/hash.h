/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One 64-bit mixing function for fingerprints, tables and reproducible draws (the finaliser of
 * splitmix64: a bijection in which every input bit reaches every output bit).
 */
#ifndef SCHED_INTERNAL_HASH_H
#define SCHED_INTERNAL_HASH_H

#include <stdint.h>

static inline uint64_t weir_hash_mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* Continues a hash with one more word; the order of the words matters. */
static inline uint64_t weir_hash_add(uint64_t hash, uint64_t word)
{
    return weir_hash_mix(hash ^ word);
}

/* Of four words at once: odd numbers hold them apart, and one mix does for all. */
static inline uint64_t weir_hash_words(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return weir_hash_mix(a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xd6e8feb86659fd93) +
                         c * UINT64_C(0xc2b2ae3d27d4eb4f) + d * UINT64_C(0xff51afd7ed558ccd));
}

/* Ids are mostly given in a row, and used soon after one another: tables keep a row of eight in
 * one place, in which each is found without a search. Places are spread by one multiplication
 * (Knuth, vol. 3, 6.4). */
enum { WEIR_ID_ROW = 8 };
static inline uint32_t weir_row_home(uint64_t name)
{
    return (uint32_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* Of a text. */
static inline uint64_t weir_hash_text(const char *text)
{
    uint64_t hash = 0;

    for (; *text != '\0'; text++)
        hash = weir_hash_add(hash, (unsigned char)*text);
    return hash;
}

#endif
