/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A token bucket: so many calls a second in the long run, so many at once.
 *
 * It holds `burst` tokens at first, gets one every 1/rate and never has more; each call takes one.
 * Kept as one time, that at which it would be full again (the generic cell rate algorithm): no rest
 * is rounded away, whenever it is asked. Zeros are a bucket without a limit.
 */
#ifndef SIM_ENGINE_TOKEN_BUCKET_H
#define SIM_ENGINE_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct sim_token_rule {
    double per_s; /* 0 = no limit */
    uint32_t burst;
};

struct sim_token_bucket {
    int64_t gap_ns;   /* between two tokens; 0 = no limit */
    int64_t slack_ns; /* all but the last of a full bucket */
    int64_t full_ns;
};

struct sim_token_bucket sim_token_bucket_open(const struct sim_token_rule *rule);
/* When the next token is there; not before now. */
int64_t sim_token_bucket_next(const struct sim_token_bucket *bucket, int64_t now_ns);
/* Takes one; false = there is none. */
bool sim_token_bucket_take(struct sim_token_bucket *bucket, int64_t now_ns);

#endif
