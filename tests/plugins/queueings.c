/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Queueing policies of a module: one that is sound, and four that each break a rule of weir/job.h:
 * a key that is no number, keys that depend on how often was asked, keys that change with time
 * although nothing says so, and a pointer that may be NULL is followed.
 */
#include "weir/job.h"

#include <math.h>

static double widest_key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    (void)now_ns;
    return -(double)job->ranks;
}

static double unknown_key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    (void)now_ns;
    return job->estimate_ns == WEIR_UNKNOWN_TIME ? (double)NAN : (double)job->estimate_ns;
}

static double counted_key(void *state, const struct weir_job *job, int64_t now_ns)
{
    static uint32_t calls;
    (void)state;
    (void)job;
    (void)now_ns;
    return ++calls;
}

static double waited_key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    return -(double)(now_ns - job->queued_ns) * job->ranks;
}

static double fastest_key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    (void)now_ns;
    return -job->throughput[0];
}

#define QUEUEING(id, text, call)                                                                   \
    static const struct weir_queueing_ops id = { .size = sizeof(struct weir_queueing_ops),         \
                                                 .abi = WEIR_ABI_MAJOR,                            \
                                                 .name = #id,                                      \
                                                 .summary = text,                                  \
                                                 .key = call }

QUEUEING(widest_first, "most members first", widest_key);
QUEUEING(estimate_or_nothing, "no key without an estimate", unknown_key);
QUEUEING(by_calls, "in the order of the questions", counted_key);
QUEUEING(by_wait, "by the wait, and does not say that it changes", waited_key);
QUEUEING(fastest_first, "by the speed on the first GPU type, which may be unknown", fastest_key);

static const struct weir_queueing_ops *const queueings[] = { &widest_first,  &estimate_or_nothing,
                                                             &by_calls,      &by_wait,
                                                             &fastest_first, NULL };

static const struct weir_module module = {
    .size = sizeof(struct weir_module),
    .abi_major = WEIR_ABI_MAJOR,
    .abi_minor = WEIR_ABI_MINOR,
    .name = "queueings",
    .version = "1",
    .licence = "GPL-3.0-or-later",
    .queueings = queueings,
};

WEIR_API const struct weir_module *weir_policy_module_v2(void);

const struct weir_module *weir_policy_module_v2(void)
{
    return &module;
}
