/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every part of one run shares: the clock, the physical cluster, the random root, the meter.
 *
 * One world owns it; parts borrow it and keep no other way to each other.
 */
#ifndef SIM_CONTEXT_H
#define SIM_CONTEXT_H

#include "sim/engine/activity.h"
#include "sim/engine/digest.h"
#include "sim/engine/engine.h"
#include "sim/engine/random.h"
#include "sim/engine/time.h"
#include "sim/record/meter/meter.h"

struct sim_cluster;
struct sim_scenario;
struct sim_recorder;

/* Someone who wants to see every finished task: span exports, and tests that compare each item with
 * a recursion. Called once an item, in time order; failed attempts are shown too. */
struct sim_span {
    uint64_t item;
    uint32_t stage; /* over all pipelines */
    uint32_t attempt;
    uint64_t worker;
    int64_t queued_ns, start_ns, end_ns;
    uint32_t node, gpu_type; /* of the worker; WEIR_NO_INDEX = no GPU */
    uint32_t batch;          /* items of the task */
    uint32_t place;          /* of this item among them, from 0 */
    uint32_t returns;        /* items it turned into; 0 when the attempt failed */
    bool has_failed;
    double size;
};
/* A worker became ready; only those that needed time for it. */
struct sim_setup_span {
    uint64_t worker;
    uint32_t stage, node, gpu_type;
    int64_t start_ns, end_ns;
};
struct sim_job_row;
struct sim_job_member {
    uint64_t job;
    uint32_t member;
    uint32_t attempt; /* of the job; 0 for the first */
    const struct weir_alloc *alloc;
};
struct sim_observer {
    void (*span)(void *state, const struct sim_span *span);
    void *state;
    void (*setup)(void *state, const struct sim_setup_span *setup); /* NULL = not wanted */
    /* A job is done, refused or gone, or there at the end; a rank was placed, all ranks of a job
     * one after the other. NULL = not wanted. */
    void (*job)(void *state, const struct sim_job_row *row);
    void (*member)(void *state, const struct sim_job_member *member);
};

struct sim_context {
    const struct sim_scenario *scenario;
    struct sim_engine *engine;
    struct sim_activities *activities; /* all that takes time on what is shared */
    struct sim_cluster *cluster;
    struct sim_meter *meter;
    struct sim_recorder *recorder; /* NULL = nothing is written */
    struct sim_random random;
    uint64_t result_digest;
    const struct sim_observer *observer; /* NULL = nobody watches */
    struct weir_error *error;            /* where a failing handler writes its sentence */
};

/* Events of the world itself; `target` and `argument` as said. A driver has kinds of its own, with
 * its index in the upper byte (sim/world/driver.h). */
enum sim_kind {
    SIM_KIND_SETUP_END = 2,    /* target: worker slot, argument: worker id */
    SIM_KIND_WORKER_CRASH = 3, /* target: worker slot, argument: worker id */
    SIM_KIND_DECIDE = 6,
    SIM_KIND_SAMPLE = 7,
    SIM_KIND_FAIL = 8,            /* target: entity, argument: enum sim_fault */
    SIM_KIND_REPAIR = 9,          /* the same */
    SIM_KIND_TIMELINE_BEGIN = 10, /* target: entry */
    SIM_KIND_TIMELINE_END = 11,   /* target: entry */
    SIM_KIND_WAKE = 13,           /* a decision that a policy or a driver asked for */
    SIM_KIND_APPLY = 14,          /* the plan of a decision that took time */
    SIM_KIND_LOOK = 15,           /* counts are taken for the view of a later decision */
    SIM_KIND_CUT = 16,            /* target: node, argument: GPU */
    SIM_KIND_NEWS = 17,           /* news of jobs are as old as the view */
    SIM_KIND_WORK = 18,           /* of the activities */
    SIM_KIND_POWER = 19,          /* target: node */
    SIM_KIND_DETECT = 20,         /* target: node, argument: loss << 32 | GPU */
    SIM_KIND_DRIFT = 21,          /* target: entry of drift */
    SIM_KIND_MEMORY = 22,         /* target: node */
    SIM_KIND_BOOT = 23,           /* target: node */
    SIM_KIND_RECLAIM = 24,        /* target: node, argument: its launches before */
    SIM_KIND_SPOT = 25,           /* target: group of nodes */
    SIM_KIND_REAP = 26            /* what killed processes left behind is free */
};

/* The result digest adds up one mixed word per transition (what, who, when), so that it depends on
 * what happened and not on the order in which one instant was worked through. */
static inline void sim_context_digest(struct sim_context *context, uint64_t what, uint64_t who,
                                      int64_t when_ns)
{
    uint64_t digest = sim_digest_word(SIM_DIGEST_START, what);
    digest = sim_digest_word(digest, who);
    context->result_digest += sim_digest_word(digest, (uint64_t)when_ns);
}

#endif
