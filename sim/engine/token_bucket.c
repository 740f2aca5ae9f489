/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A token bucket; see the header. */
#include "sim/engine/token_bucket.h"

#include <math.h>

struct sim_token_bucket sim_token_bucket_open(const struct sim_token_rule *rule)
{
    struct sim_token_bucket bucket = { 0 };
    if (rule->per_s > 0) {
        bucket.gap_ns = llround(fmax(1e9 / rule->per_s, 1));
        bucket.slack_ns = (int64_t)(rule->burst - 1) * bucket.gap_ns;
    }
    return bucket;
}

int64_t sim_token_bucket_next(const struct sim_token_bucket *bucket, int64_t now_ns)
{
    const int64_t at_ns = bucket->full_ns - bucket->slack_ns;
    return at_ns > now_ns ? at_ns : now_ns;
}

bool sim_token_bucket_take(struct sim_token_bucket *bucket, int64_t now_ns)
{
    if (sim_token_bucket_next(bucket, now_ns) > now_ns)
        return false;
    bucket->full_ns = (bucket->full_ns > now_ns ? bucket->full_ns : now_ns) + bucket->gap_ns;
    return true;
}
