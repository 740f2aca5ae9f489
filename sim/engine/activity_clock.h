/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The service clock: service attained per unit of weight, in whole quanta and a carried remainder.
 * Private to the activities.
 *
 * Idea: activities whose rates are weight x one common rate need no look of their own when that
 * rate changes. The clock advances at num / den quanta a ns; an activity of weight w and `work`
 * quanta is done when the clock has gone ceil(work / w) further, its tag. This is the virtual time
 * of generalised processor sharing (Parekh and Gallager, IEEE/ACM ToN 1(3), 1993), in integers.
 *
 * Invariant: den x (change of attained) + (change of carry) = num x dt and 0 <= carry < den while
 * the rate stays, so clock and ends are the same to the bit however often one looks between. The
 * carry is re-expressed for a new den, downwards, only when time has passed: a change taken back at
 * the same instant leaves nothing. What is attained is never more than the exact service.
 *
 * Cost: one division of 128 by 64 bits a look.
 *
 * Bounds: num < 2^60, den <= 2^32, elapsed time < 2^63 ns.
 */
#ifndef SIM_ENGINE_ACTIVITY_CLOCK_H
#define SIM_ENGINE_ACTIVITY_CLOCK_H

#include "sim/engine/activity.h"
#include "sim/engine/time.h"

struct service_clock {
    sim_quanta attained;      /* per unit of weight */
    uint64_t carry, carry_of; /* carry / carry_of of a quantum more */
    uint64_t num, den;        /* quanta a ns */
    int64_t at_ns;
};

/* Starts `lead` ahead of 0, so that tags brought forward by as much stay positive. */
static inline struct service_clock service_clock_at(int64_t now_ns, sim_quanta lead)
{
    return (struct service_clock){ .attained = lead, .carry_of = 1, .den = 1, .at_ns = now_ns };
}

/* The carry in units of 1 / den. */
static inline uint64_t service_clock_carry(const struct service_clock *clock)
{
    if (clock->carry == 0 || clock->carry_of == clock->den)
        return clock->carry;
    return (uint64_t)((sim_quanta)clock->carry * clock->den / clock->carry_of);
}

static inline void service_clock_advance(struct service_clock *clock, int64_t now_ns)
{
    const uint64_t elapsed = (uint64_t)(now_ns - clock->at_ns);
    clock->at_ns = now_ns;
    if (elapsed == 0 || clock->num == 0)
        return;
    const sim_quanta service = (sim_quanta)clock->num * elapsed + service_clock_carry(clock);
    if (service >> 64 == 0) {
        const uint64_t narrow = (uint64_t)service;
        clock->attained += narrow / clock->den;
        clock->carry = narrow % clock->den;
    } else {
        const sim_quanta whole = service / clock->den;
        clock->attained += whole;
        clock->carry = (uint64_t)(service - whole * clock->den);
    }
    clock->carry_of = clock->den;
}

/* The clock must have been advanced to now. */
static inline void service_clock_set_rate(struct service_clock *clock, uint64_t num, uint64_t den)
{
    clock->num = num;
    clock->den = den;
}

/* The first ns at which `tag` is attained; SIM_TIME_MAX when that is beyond the clock. */
static inline int64_t service_clock_end_ns(const struct service_clock *clock, sim_quanta tag)
{
    if (tag <= clock->attained)
        return clock->at_ns;
    if (clock->num == 0)
        return SIM_TIME_MAX;
    /* Beyond 2^127 / den: at fewer than 2^60 quanta a ns that is beyond the clock. */
    const sim_quanta steps = tag - clock->attained;
    if (steps >> 95 != 0 && steps > ((sim_quanta)1 << 127) / clock->den)
        return SIM_TIME_MAX;
    const sim_quanta missing = steps * clock->den - service_clock_carry(clock);
    const int64_t ns = sim_work_ns(missing, clock->num);
    return ns < SIM_TIME_MAX - clock->at_ns ? clock->at_ns + ns : SIM_TIME_MAX;
}

#endif
