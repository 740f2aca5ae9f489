/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One decision of a scaling policy over the pools of a view: what all policies share.
 *
 * A run reads the pools into plain arrays, keeps the worker counts in step with the placer, and
 * at the end writes notes and slots. A policy owns one struct weir_run for its life, so that memory
 * is reused; between decisions it holds nothing that matters.
 *
 * Throughput of a pool is in items of the source per second: workers * speed * k * batch, where
 * k_0 = 1 and k_i = k_(i-1) * batch_(i-1) / returns_(i-1).
 */
#ifndef SCHED_SCALING_RUN_H
#define SCHED_SCALING_RUN_H

#include "sched/internal/params.h"
#include "sched/scaling/optimum.h"
#include "sched/scaling/slots.h"

#include <math.h>

struct weir_run_pool {
    double speed_per_s; /* batches per worker and second that is assumed */
    double ratio;       /* k: items of the source per item of the pool */
    double samples;     /* 1 / k, as the later reference computes it */
    double rate_per_s;  /* of one worker, items of the source per second */
    double batch;
    double head_room; /* work of a policy: throughput allowed above that of the slowest */
    uint32_t workers; /* in the scratch cluster */
    uint32_t before;
    uint32_t target;  /* work of a policy */
    uint32_t binding; /* enum weir_reason */
    uint32_t optimum; /* of the pool, 0 = not computed */
    uint32_t started, stopped;
    uint32_t given;    /* stopped for the first worker of another pool */
    int32_t requested; /* by hand, negative = auto */
    uint8_t is_manual;
    uint8_t is_skipped; /* finished, and the policy leaves finished pools alone */
    uint8_t is_active;  /* work of a policy */
    uint8_t is_tried;   /* work of a policy */
    uint8_t is_divided; /* settings.divides_samples */
    uint8_t is_starved; /* has no worker and can get none */
};

/* What every policy's parameter table begins with; see WEIR_RUN_PARAMS. */
struct weir_run_settings {
    double default_speed_per_s; /* of a pool that is neither measured nor hinted */
    struct weir_slots_rule slots;
    bool skips_finished;
    /* Relative: throughputs that differ by less are equal. 0 = as the references compare. */
    double tolerance;
    /* As the references do: a count or a first worker that cannot be had is an error, no plan. */
    bool fails_whole;
    /* As the later reference does: throughput divides by 1 / k, and a speed of 0 is kept. */
    bool divides_samples;
    /* Slots count a speed that is assumed like one that is measured. */
    bool slots_assume;
};

struct weir_run {
    struct weir_allocator allocator;
    struct weir_run_settings settings;
    const struct weir_view *view;
    const double *speeds; /* by pool, of a policy that judges them itself; NULL = as measured */
    struct weir_placer *placer;
    struct weir_plan *plan;
    struct weir_error *error;
    struct weir_amounts total, supply; /* before anything was planned */
    struct weir_run_pool *pools;
    struct weir_optimum_pool *fluid;
    struct weir_slots_pool *slots;
    double *frequencies;
    struct weir_worker *donors; /* work of first_worker.c */
    uint32_t *order;            /* the same; room for every pool */
    uint32_t count, pool_capacity, fluid_capacity, slot_capacity, frequency_capacity;
    uint32_t donor_capacity, order_capacity;
    bool fixed_may_give; /* the same */
    bool is_anew;        /* all workers were stopped before the phases */
    bool brings_back; /* weir_run_start: whoever was stopped first, before the placement policy */
};

/* The parameters all policies of this folder share, first in their tables, in this order. */
#define WEIR_RUN_PARAMS                                                                            \
    WEIR_NUMBER("default_speed", "batches/s", 1e-9, 1e9, 1.0,                                      \
                "speed of a worker that is neither measured nor hinted"),                          \
        WEIR_COUNT("slots_min", "", 1, 1e6, 2, "tasks a worker may hold at least"),                \
        WEIR_DURATION("loop_period", 0, 3600, 1,                                                   \
                      "period of the control loop that feeds workers; more slots when longer"),    \
        WEIR_FLAG("skip_finished", 0, "leave stages alone that will never get work again"),        \
        WEIR_CHOICE(                                                                               \
            "arithmetic", "tolerant|reference", 1, 0,                                              \
            "throughputs that differ by less than 1e-9 of them are equal, and the first stage "    \
            "goes first; or they are compared to the last bit as the references do"),              \
        WEIR_CHOICE("on_shortage", "best_effort|fail", 1, 0,                                       \
                    "when a stage gets no first worker, or not its fixed count: serve the others " \
                    "and say so, or fail whole as the references do")

enum { WEIR_RUN_PARAM_COUNT = 6 };

/* A state of `size` bytes that begins with a run; all behind it is zero. */
weir_status weir_run_make(size_t size, const struct weir_params *params,
                          const struct weir_allocator *allocator, void **state,
                          struct weir_error *error);
void weir_run_clear(struct weir_run *run);

/* The whole life of a policy that keeps nothing but a run and its parameters' values. */
weir_status weir_run_create(const struct weir_params *params,
                            const struct weir_allocator *allocator, void **state,
                            struct weir_error *error);
void weir_run_destroy(void *state);

/* The descriptor of a policy whose state is a run, and numbers that never change. */
#define WEIR_RUN_POLICY(title, table, creates, decides, text)                                      \
    {                                                                                              \
        .size = sizeof(struct weir_scaling_ops), .abi = WEIR_ABI_MAJOR, .name = (title),           \
        .summary = (text), .params = (table), .param_count = sizeof(table) / sizeof((table)[0]),   \
        .flags = WEIR_SCALING_REPEATS, .create = (creates), .destroy = weir_run_destroy,           \
        .decide = (decides)                                                                        \
    }

/* Reads the view. */
weir_status weir_run_begin(struct weir_run *run, const struct weir_view *view,
                           struct weir_placer *placer, struct weir_plan *plan,
                           struct weir_error *error);
/* Writes slots by the rule for the counts in `target`, and notes; or for those that came out. */
weir_status weir_run_end(struct weir_run *run);
weir_status weir_run_end_planned(struct weir_run *run);

static inline double weir_run_throughput(const struct weir_run_pool *pool, uint32_t workers)
{
    if (pool->is_divided != 0)
        return workers * pool->speed_per_s * pool->batch / pool->samples;
    return workers * pool->speed_per_s * pool->ratio * pool->batch;
}

/* Whether throughput `a` is less than `b`, by more than rounding. Equal ones leave a choice to the
 * order of pools: loops look for one that is less, so the first stands. */
static inline bool weir_run_less(const struct weir_run *run, double a, double b)
{
    return a < b - run->settings.tolerance * (isinf(b) ? 0 : b);
}

/* One worker more or less; WEIR_EBUSY when nothing fits. */
weir_status weir_run_start(struct weir_run *run, uint32_t pool);
weir_status weir_run_stop(struct weir_run *run, uint32_t pool);
/* This one of its workers. */
weir_status weir_run_stop_worker(struct weir_run *run, uint32_t pool, uint64_t id);

/* Whether a policy chooses the count of this pool, and can. */
static inline bool weir_run_is_free(const struct weir_run_pool *pool)
{
    return pool->is_manual == 0 && pool->is_skipped == 0 && pool->is_starved == 0;
}

/* What one worker takes of a cluster of this size. */
struct weir_amounts weir_run_need(const struct weir_run *run, uint32_t pool);

/* The optimum of the pool into `optimum`, and its shares as the placer's mix. Phase 0. With best
 * effort what cannot be had is left out: fixed counts shrink, then pools drop out (optimum 0). */
weir_status weir_run_optimum(struct weir_run *run);

/* The placer's mix from the counts at the start: those that run, or were requested when
 * `requested`; all equal when there are none. In single precision. Phase 0. */
weir_status weir_run_mix_of_counts(struct weir_run *run, bool requested);

/* first_worker.c: a worker in the room of others that are not the last of their pool, of pools of
 * fixed count only when those may give. WEIR_EBUSY when that does not help, either. */
weir_status weir_run_start_with_donors(struct weir_run *run, uint32_t pool, bool fixed_may_give);

/* Whether a worker of this pool takes more GPUs than one of the other, or as many and more CPUs. */
bool weir_run_is_larger(const struct weir_run *run, uint32_t pool, uint32_t than);

/* Phase 1: counts fixed by hand, in pool order, as far as they fit. Failing whole: WEIR_EMANUAL
 * names the pool. */
weir_status weir_run_manual(struct weir_run *run);
/* Phase 2, first_worker.c: one worker for every pool without any. With best effort others give up
 * workers for it, and who gets none even so is starved. Failing whole: WEIR_EMINIMUM names the
 * pool. */
weir_status weir_run_minimum(struct weir_run *run);
/* Phase 3 of the simple policies: stops what is above `target`, then starts towards it, always the
 * pool that is furthest behind in throughput, or that of the largest shape; pools that do not fit
 * drop out. */
weir_status weir_run_targets(struct weir_run *run, bool by_size);

/* A policy's phases: from a run that was begun to counts, and to `target`, what it would have. */
struct weir_run_phases {
    weir_status (*plan)(struct weir_run *run, void *state);
    void *state;
};
/* anew.c: the phases from what runs or, when that falls short of the targets and it gives more,
 * with all workers placed anew. */
weir_status weir_run_plan_better(struct weir_run *run, const struct weir_run_phases *phases);
/* Takes all back that was done to pools since the scratch's latest mark, which is forgotten, and
 * begins again. */
weir_status weir_run_start_over(struct weir_run *run);

/* A failure in a phase at a pool (WEIR_NO_INDEX = none), with the message that is there. */
weir_status weir_run_fail(const struct weir_run *run, weir_status status, int32_t phase,
                          uint32_t pool);

#endif
