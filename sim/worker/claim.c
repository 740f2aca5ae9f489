/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims that are kept once, however many workers make them (see hold.h): those of a stage mostly
 * say the same but for the GPU.
 *
 * Invariant: a kept claim has users. It is in the table unless another of its hash was there.
 */
#include "sim/engine/digest.h"
#include "sim/worker/hold.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct kept {
    uint64_t hash; /* first: its key */
    uint64_t users;
    struct sim_claim claim;
    struct sim_part parts[];
};

static struct kept *kept_of(const struct sim_claim *claim)
{
    /* It was made here, and not as a constant.
     * NOLINTNEXTLINE(performance-no-int-to-ptr): the cast takes away const alone */
    return (struct kept *)((uintptr_t)claim - offsetof(struct kept, claim));
}

static size_t size_of_parts(const struct sim_claim *claim)
{
    return sim_claim_parts(claim) * sizeof(*claim->parts);
}

enum { LANES = 4, WORD = sizeof(uint64_t) };

/* Of whole words, each lane on its own: they need not wait for one another. It is of this process
 * alone. */
static void add_words(uint64_t lanes[LANES], const void *bytes, size_t count)
{
    for (size_t i = 0; i < count / WORD; i++) {
        uint64_t word;
        memcpy(&word, (const char *)bytes + i * WORD, WORD);
        lanes[i % LANES] = sim_digest_word(lanes[i % LANES], word);
    }
}

/* But for where the parts are. */
static uint64_t hash_of(const struct sim_claim *claim)
{
    uint64_t lanes[LANES] = { 1, 2, 3, 4 };
    _Static_assert(offsetof(struct sim_claim, parts) % WORD == 0 &&
                       sizeof(struct sim_part) % WORD == 0,
                   "all of it is hashed");
    add_words(lanes, claim, offsetof(struct sim_claim, parts));
    add_words(lanes, claim->parts, size_of_parts(claim));
    uint64_t hash = SIM_DIGEST_START;
    for (size_t i = 0; i < LANES; i++)
        hash = sim_digest_word(hash, lanes[i]);
    return hash;
}

static bool is_same(const struct sim_claim *a, const struct sim_claim *b)
{
    return memcmp(a, b, offsetof(struct sim_claim, parts)) == 0 &&
           memcmp(a->parts, b->parts, size_of_parts(a)) == 0;
}

/* Who starts mostly takes as much of the same GPU as one before. */
static const struct sim_claim **recent_of(struct sim_workers *workers,
                                          const struct sim_claim *claim)
{
    const struct weir_device *device = &claim->parts[0].device;
    const uint64_t on_gpu = claim->device_count > 0 ? (uint64_t)device->units * 3 + device->gpu : 0;
    const uint64_t what = (uint64_t)claim->cpu_units + on_gpu;
    return &workers->recent[(what * SIM_DIGEST_START >> 32) %
                            (sizeof workers->recent / sizeof workers->recent[0])];
}

const struct sim_claim *sim_claim_share(struct sim_workers *workers)
{
    const struct sim_claim *fresh = &workers->fresh;
    const struct sim_claim **recent = recent_of(workers, fresh);
    if (*recent != NULL && is_same(*recent, fresh)) {
        kept_of(*recent)->users++;
        return *recent;
    }
    const uint64_t hash = hash_of(fresh);
    struct kept *found = sim_key_find(&workers->claims, hash);
    if (found != NULL && is_same(&found->claim, fresh)) {
        found->users++;
        *recent = &found->claim;
        return &found->claim;
    }
    struct kept *made = malloc(sizeof(*made) + size_of_parts(fresh));
    if (made == NULL || sim_key_reserve(&workers->claims) != WEIR_OK) {
        free(made);
        return NULL;
    }
    *made = (struct kept){ .hash = hash, .users = 1, .claim = *fresh };
    made->claim.parts = made->parts;
    memcpy(made->parts, fresh->parts, size_of_parts(fresh));
    if (found == NULL)
        sim_key_add(&workers->claims, &made->hash);
    *recent = &made->claim;
    return &made->claim;
}

void sim_claim_let_go(struct sim_workers *workers, const struct sim_claim *claim)
{
    struct kept *kept = kept_of(claim);
    if (--kept->users > 0)
        return;
    const struct sim_claim **recent = recent_of(workers, claim);
    if (*recent == claim)
        *recent = NULL;
    if (sim_key_find(&workers->claims, kept->hash) == kept)
        sim_key_remove(&workers->claims, kept->hash);
    free(kept);
}
