/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast nodes may come and go: the step, the cooldowns, and the back-off.
 *
 * A step is max(1, ceil(min(nodes x factor, most))). After a step the next one out waits
 * cool_out, the next one in cool_in, whichever way the step before went. A request that came to
 * nothing was no step: what waits for room may ask again at once, but not before delay x 2^k after
 * the k-th failure in a row. A step against the one before, not
 * later than a cooldown after it may be, is a reversal: the step after it waits delay x 2^k too, k
 * counting reversals in a row.
 */
#ifndef SCHED_CAPACITY_PARTS_PACE_H
#define SCHED_CAPACITY_PARTS_PACE_H

#include "sched/internal/memory.h"
#include "sched/internal/params.h"
#include "weir/capacity.h"

enum weir_pace_way { WEIR_PACE_IN = -1, WEIR_PACE_NONE, WEIR_PACE_OUT };

struct weir_pace_rules {
    double factor;
    double most; /* nodes a step */
    int64_t cool_out_ns, cool_in_ns;
    int64_t delay_ns, delay_most_ns;
};

/* Their rows of a policy's table, and the rules of values that begin with them. */
enum {
    WEIR_PACE_FACTOR,
    WEIR_PACE_MOST,
    WEIR_PACE_COOL_OUT,
    WEIR_PACE_COOL_IN,
    WEIR_PACE_DELAY,
    WEIR_PACE_DELAY_MOST,
    WEIR_PACE_PARAMS
};
/* clang-format off */
#define WEIR_PACE_ROWS                                                                             \
    [WEIR_PACE_FACTOR] = WEIR_NUMBER("step", "1", 0, 10, 0.5,                                      \
        "a step is this part of the nodes that there are, rounded up"),                            \
    [WEIR_PACE_MOST] = WEIR_COUNT("step_most", "", 1, 1e6, 4, "nodes that one step asks for or "   \
        "gives back at most"),                                                                     \
    [WEIR_PACE_COOL_OUT] = WEIR_DURATION("cooldown_out", 0, 1e9, 300,                              \
        "no node is asked for so soon after a step in either direction"),                          \
    [WEIR_PACE_COOL_IN] = WEIR_DURATION("cooldown_in", 0, 1e9, 900,                                \
        "no node is given back so soon after a step in either direction"),                         \
    [WEIR_PACE_DELAY] = WEIR_DURATION("backoff", 0, 1e9, 60,                                       \
        "after a request that failed the next one waits so long, twice as long after every "       \
        "further failure; likewise after steps that take the one before back"),                    \
    [WEIR_PACE_DELAY_MOST] = WEIR_DURATION("backoff_most", 0, 1e9, 3600,                           \
        "the back-off grows no longer than this")
/* clang-format on */
struct weir_pace_rules weir_pace_rules(const double *values);
/* A duration of such a table. */
int64_t weir_pace_ns(double seconds);

struct weir_pace {
    int64_t last_ns;   /* of the latest step; WEIR_UNKNOWN_TIME = none */
    int64_t before_ns; /* of the one before it */
    int32_t last_way, before_way;
    int64_t not_before_ns;        /* WEIR_UNKNOWN_TIME = no back-off */
    uint32_t failures, reversals; /* in a row */
    bool has_failed;              /* the latest request, or a part of it */
};

void weir_pace_begin(struct weir_pace *pace);
uint32_t weir_pace_step(const struct weir_pace_rules *rules, uint32_t nodes);
/* From when on a step that way may be; WEIR_UNKNOWN_TIME = at any time. */
int64_t weir_pace_from(const struct weir_pace *pace, const struct weir_pace_rules *rules, int way);
void weir_pace_stepped(struct weir_pace *pace, const struct weir_pace_rules *rules, int way,
                       int64_t now_ns);
/* What became of a request. */
void weir_pace_heard(struct weir_pace *pace, const struct weir_pace_rules *rules,
                     const struct weir_outcome *outcome);
void weir_pace_remember(struct weir_pace *pace, struct weir_memory *memory);

/* When a wait of delay x 2^k that begins now is over; it is no longer than `most_ns`. */
int64_t weir_pace_delayed(int64_t now_ns, int64_t delay_ns, int64_t most_ns, uint32_t k);
/* Asks to be woken, unless it was already and not for later: one wake is on its way at any time
 * (*wake_ns, WEIR_UNKNOWN_TIME at first). INT64_MAX = there is nothing to wake for. */
weir_status weir_pace_wake(int64_t *wake_ns, int64_t at_ns, int64_t now_ns, struct weir_plan *plan);

/* Whether a node of this type is up and nobody is on it, as the plan leaves it. */
bool weir_pace_is_idle(const struct weir_view *view, uint32_t node, uint32_t type);

/* Kinds of offers; bits. */
enum weir_pace_kind { WEIR_PACE_WITHOUT_GPUS = 1, WEIR_PACE_WITH_GPUS = 2 };

/* Asks for `count` nodes of the offers in their order, as far as these go; with `kinds` for as many
 * of each of these that there is. The answer is how many were asked for. Gives back idle ones, of
 * the last offer first and the last node first. */
weir_status weir_pace_request(const struct weir_view *view, uint32_t kinds, uint32_t count,
                              struct weir_plan *plan, uint32_t *done);
weir_status weir_pace_release(const struct weir_view *view, uint32_t count, struct weir_plan *plan,
                              uint32_t *done);

#endif
