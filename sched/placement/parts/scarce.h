/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prices of scarce room: what a placement takes from jobs that can run in few places only.
 *
 * A *claim* is a kind of job that is hard to place: one of several GPUs, by count, CPUs, memory and
 * types, or all those that insist on the same types, by what they ask for on average. Claims are
 * learned from the jobs that arrive; the mix counts as `prior` arrivals. Every claim has
 *   room    what the nodes would give it now, in GPUs, if nobody else came;
 *   demand  what is to be expected of it, and of claims at least as hard, while a place that is
 *           taken now stays taken: until the cluster is full, or, the more jobs end, for as many
 *           arrivals as there are residents (by Little's law one mean life of a job), `horizon`
 *           times;
 *   price   of a GPU of room: the chance that demand exceeds room, times `price` while nothing
 * ends, since what is missed then is missed for good, and 1 when as many jobs end as begin. Types
 * keep their price then too while jobs of one GPU find a place elsewhere (slack), and cost 8 GPUs
 * while all others do, for whom it is nothing to go elsewhere: consolidation would fill small nodes
 * of a type first.
 * (Littlewood 1972, for seats: protect until the chance that a late, dear customer wants the last
 * one is worth less than the early, cheap one.) Demand is taken as normal with the variance of a
 *           Poisson process of such jobs and a relative doubt of `doubt`.
 * A placement costs the dearest of the claims whose room it takes: one place serves one of them.
 *
 * Room is counted in whole thousandths of a GPU and follows the changes of the inventory, so it is
 * the same by whatever way a state was reached. Nothing depends on the order or the names of nodes.
 */
#ifndef SCHED_PLACEMENT_SCARCE_H
#define SCHED_PLACEMENT_SCARCE_H

#include "sched/placement/parts/lookahead.h"

enum { WEIR_CLAIM_WORKLOADS = 16 };

struct weir_scarce_rules {
    double price;   /* in GPUs, of a GPU that is certainly missed, for good */
    double prior;   /* arrivals */
    double horizon; /* mean lives of a job */
    double crowded; /* share of what jobs of one GPU ask for that is lost where there is no slack */
};

/* Whom room is kept for. Sums are over arrivals seen. */
struct weir_claim {
    uint32_t gpu_count; /* of one job; 0 = all that insist on `types`, in amounts */
    uint32_t types;     /* as a shape has them */
    int64_t cpu_units;  /* of a job, or of each GPU of amounts */
    int64_t ram_bytes;  /* of a job; 0 for amounts */
    int64_t need_units; /* amounts: GPUs with less left are of no use */
    double jobs, gpus, squares, cpus;
    int64_t room;   /* thousandths of a GPU, of all nodes */
    double price;   /* of a GPU of room, in GPUs */
    bool is_closed; /* amounts: nobody else is expected there */
};

struct weir_scarce;

weir_status weir_scarce_create(const struct weir_scarce_rules *rules,
                               const struct weir_allocator *allocator, struct weir_scarce **scarce);
void weir_scarce_destroy(struct weir_scarce *scarce);

/* Learns from a question, follows the inventory and sets prices. O(claims) for a node that changed.
 */
weir_status weir_scarce_follow(struct weir_scarce *scarce, const struct weir_place_query *query);
/* Workers that ended lately, over a few mean lives, as a share of those there are, 1 at most: 0
 * while a cluster fills, 1 when as many end as begin. Changes in steps, seldom. */
double weir_scarce_departures(const struct weir_scarce *scarce);
/* The share of the GPUs asked for that jobs of several GPUs want. Changes by a quarter of itself,
 * seldom. */
double weir_scarce_large(const struct weir_scarce *scarce);
/* 1 while jobs of one GPU that insist on no type find a place, 0 where `crowded` of what they ask
 * for lately is lost: then they fill what is kept empty for others. What waits is not lost. Changes
 * in steps, seldom. */
double weir_scarce_slack(const struct weir_scarce *scarce);
/* What became of the question that weir_scarce_follow was told last. */
void weir_scarce_note_answer(struct weir_scarce *scarce, const struct weir_place_query *query,
                             bool is_placed);
bool weir_scarce_is_dear(const struct weir_scarce *scarce); /* anything costs anything */
/* What a placement on a node costs, in GPUs; `gpu` for a share of one. */
double weir_scarce_cost(const struct weir_scarce *scarce, const struct weir_grade_site *site,
                        uint32_t gpu);

/* Tells a look-ahead of types whose GPUs cost others more than they could gain there: 1.25 GPUs, as
 * long as it is more than one. Where as many jobs end as begin there are none: prices come and go.
 */
void weir_scarce_reserve(const struct weir_scarce *scarce, struct weir_lookahead *ahead);

const struct weir_claim *weir_scarce_claims(const struct weir_scarce *scarce, uint32_t *count);
/* GPUs, in thousandths, that a node in that state has for a claim. */
int64_t weir_claim_room(const struct weir_claim *claim, const struct weir_outlook *node,
                        int64_t ram_free_bytes);

/* What it has learned, as of weir_placement_ops. */
uint32_t weir_scarce_save(const struct weir_scarce *scarce, double *numbers, uint32_t capacity);
weir_status weir_scarce_restore(struct weir_scarce *scarce, const double *numbers, uint32_t count,
                                struct weir_error *error);

#endif
