/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fingerprint of byte strings.
 *
 * Bytes are read as little-endian words whatever the machine; the length closes the string, so
 * that "a" and "a\0" differ.
 */
#include "sim/engine/digest.h"

enum { WORD_BYTES = 8 };

static uint64_t load_word(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

/* Written out: compilers make one load of it. */
static uint64_t load_whole(const unsigned char *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

uint64_t sim_digest_part(uint64_t digest, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    size_t left = count;
    for (; left >= WORD_BYTES; left -= WORD_BYTES, at += WORD_BYTES)
        digest = sim_digest_word(digest, load_whole(at));
    if (left > 0)
        digest = sim_digest_word(digest, load_word(at, left));
    return digest;
}

uint64_t sim_digest_bytes(uint64_t digest, const void *bytes, size_t count)
{
    return sim_digest_word(sim_digest_part(digest, bytes, count), count);
}
