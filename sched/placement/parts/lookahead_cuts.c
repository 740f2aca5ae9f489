/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs that are cut into instances, as the look-ahead sees them; see lookahead.h. What a job finds
 * on one depends on the instances it has given out alone, so it is kept by that.
 */
#include "sched/placement/parts/lookahead_state.h"

#include "sched/internal/hash.h"

void weir_outlook_give(struct weir_outlook *node, uint32_t gpu, uint32_t profile, uint32_t start,
                       int sign)
{
    node->left[gpu] -= sign * weir_mig_units(node->tables[gpu], profile);
    node->cuts[gpu].held ^= weir_mig_instance(profile, start);
}

/* At the highest slot. */
static struct weir_seen_cut see_cut(const struct weir_mig *table, struct weir_mig_state state,
                                    const struct weir_shape *shape)
{
    const uint32_t profiles = weir_shape_profiles(shape, table, state.cut != 0);
    struct weir_seen_cut seen = { .table = table,
                                  .state = state,
                                  .profile = WEIR_NO_INDEX,
                                  .dead = weir_shape_dead_units(shape, table, state) };

    for (uint32_t p = 0; profiles >> p != 0; p++)
        for (uint32_t s = table->slots; (profiles >> p & 1) != 0 && s-- > 0;)
            if (weir_mig_free(table, state, p, s)) {
                seen.profile = p;
                seen.start = s;
                return seen;
            }
    return seen;
}

const struct weir_seen_cut *weir_lookahead_see(const struct weir_outlook *node, uint32_t gpu,
                                               const struct weir_offer *offer,
                                               struct weir_seen_cut *spare)
{
    const struct weir_mig *const table = node->tables[gpu];
    const struct weir_mig_state state = node->cuts[gpu];
    struct weir_seen_cut *const seen =
        offer->seen == NULL
            ? spare
            : &offer->seen[weir_hash_words(state.held, state.cut, 0, 0) % WEIR_CUTS_SEEN];

    if (seen == spare || seen->table != table || seen->state.held != state.held ||
        seen->state.cut != state.cut)
        *seen = see_cut(table, state, offer->shape);
    return seen;
}

bool weir_lookahead_may_cut(const struct weir_outlook *node, uint32_t gpu,
                            const struct weir_offer *offer)
{
    const bool is_cut = node->has_cuts && node->tables[gpu] != NULL;
    struct weir_seen_cut spare;

    return is_cut == offer->is_slice &&
           (!is_cut || weir_lookahead_see(node, gpu, offer, &spare)->profile != WEIR_NO_INDEX);
}

/* Of a GPU that may: the compute that the job could not use there. */
static int64_t dead_on(const struct weir_outlook *node, uint32_t gpu,
                       const struct weir_offer *offer)
{
    struct weir_seen_cut spare;

    return offer->is_slice ? weir_lookahead_see(node, gpu, offer, &spare)->dead : 0;
}

int64_t weir_lookahead_unusable_cut(const struct weir_outlook *node, const struct weir_offer *offer,
                                    int64_t free)
{
    uint32_t usable = 0;
    int64_t lost = 0;

    if (offer->cpu_units > node->cpu_free)
        return free;
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        const bool is_usable =
            weir_offer_takes(node, g, offer) && weir_lookahead_may_cut(node, g, offer);
        lost += is_usable ? dead_on(node, g, offer) : node->left[g];
        usable += is_usable ? 1 : 0;
    }
    return weir_offer_suffices(node, offer, usable) ? lost : free;
}
