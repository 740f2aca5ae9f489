/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ahead on one node: how much of its GPU compute will be idle in the end.
 *
 * FGD's fragmentation asks what the *next* job cannot use. Here jobs go on arriving until the node
 * is as full as it gets: `lines` kept sequences of `depth` jobs each, drawn from the mix, are
 * offered to the node one after the other, and every job that fits is taken on the tightest GPUs.
 * What is then still free, averaged over the lines, is what the state will lose. (A rollout in the
 * sense of Bertsekas, Tsitsiklis and Wu 1997, with "take what fits" as the base policy.)
 *
 * From it goes `keep` times the room for jobs of several GPUs, sum of frequency * GPUs over those
 * that fit now: they are rare, so few lines begin with one, and a real cluster, unlike a line,
 * sends small jobs elsewhere while a node is whole. A mix of the most frequent jobs may have none
 * at all, so jobs of 2, 4, 8 .. whole GPUs with the mix's usual CPUs for each are expected on top,
 * each with the frequency `large`.
 *
 * All nodes wait for the same jobs. What all of them would take of a group (jobs that ask for the
 * same GPUs) is compared with what is to come of it while the free GPUs fill: `supply` arrivals for
 * each that fills them. Where that is clearly less, a node gets in each line no more than that
 * share of those it would take, and others may have their places; so a hole that only a job wanted
 * everywhere could fill is not taken for filled. (To leave the group out of as large a part of the
 * lines instead makes the other lines promise a hole more of them than come.) As far as jobs also
 * end, what is missed comes back, and everybody comes again. Found anew when the free GPUs have
 * changed by a fifth.
 *
 * As far as jobs end, a node is never as full as it gets: after a few offers (`set_depth`) it is
 * another one. A line is then cut into sequences of so many, and what is free in the end of one is
 * not lost but for what the next `beyond` jobs of the line could not use: the base policy's rollout
 * with FGD's fragmentation as the cost of where it ends. (Taken for lost it would be less on an
 * empty node for every job that comes, and jobs would be spread.)
 *
 * Jobs do not come to GPUs of types that are reserved for those who insist on them.
 *
 * A GPU that is cut into instances is seen with those it has given out: an instance goes to the
 * tightest GPU that has a place for one, at the highest slot. What the others could not use is what
 * no free place of theirs covers.
 *
 * Only jobs that ask for GPU compute are offered; CPUs, compute and GPU types count, memory and
 * engines do not. The lines are made of the mix and fixed constants alone: the same mix gives the
 * same lines everywhere. Values of states are kept in a table that grows no further.
 */
#ifndef SCHED_PLACEMENT_LOOKAHEAD_H
#define SCHED_PLACEMENT_LOOKAHEAD_H

#include "sched/placement/parts/grades.h"

enum { WEIR_CLAIMS_MOST = 48 }; /* see scarce.h */

struct weir_lookahead_rules {
    uint32_t lines; /* at least 1 */
    uint32_t depth; /* at least 1 */
    double keep, large;
    double supply;   /* 0 = of every group as many as are taken */
    uint32_t beyond; /* jobs that say what is lost where a sequence ends; 0 = all that is free is */
    bool is_plain;   /* no value is kept: the oracle of the tests */
};

/* A node as far as the look-ahead sees it. */
struct weir_outlook {
    int64_t cpu_free;
    uint32_t gpu_count;
    bool has_cuts; /* some GPU is cut into instances; else the last two are not looked at */
    int64_t left[WEIR_MAX_NODE_GPUS];
    uint32_t types[WEIR_MAX_NODE_GPUS];
    const struct weir_mig *tables[WEIR_MAX_NODE_GPUS]; /* NULL = not cut */
    struct weir_mig_state cuts[WEIR_MAX_NODE_GPUS];
};

struct weir_lookahead;

weir_status weir_lookahead_create(const struct weir_lookahead_rules *rules,
                                  const struct weir_allocator *allocator,
                                  struct weir_lookahead **ahead);
void weir_lookahead_destroy(struct weir_lookahead *ahead);
/* Cuts every line into sequences of `depth` jobs, at most as many as it has. */
void weir_lookahead_set_depth(struct weir_lookahead *ahead, uint32_t depth);
/* Takes a mix over; costs little when it is the one before. WEIR_ENOMEM leaves no jobs to offer. */
weir_status weir_lookahead_follow(struct weir_lookahead *ahead, const struct weir_mix *mix);

/* Sets how many come of each group, by what is free; `departures`: of those there are, as a share.
 * O(nodes * lines) when it is found anew. */
weir_status weir_lookahead_share(struct weir_lookahead *ahead, const struct weir_cluster *cluster,
                                 double departures);
/* GPUs of these `count` (at most WEIR_CLAIMS_MOST) sets of types, as shapes have them, are for jobs
 * that insist on them or on some of them. */
void weir_lookahead_reserve(struct weir_lookahead *ahead, const uint32_t *types, uint32_t count);
/* Whether `others` accept all of these types (of shapes; 0 = any). */
bool weir_types_within(uint32_t types, uint32_t others);
/* Of the GPUs that the mix asks for, those that jobs of whole ones ask for, as a share. */
double weir_lookahead_whole(const struct weir_lookahead *ahead);
/* Changes whenever a value could: with the mix, the depth and how many come. */
uint64_t weir_lookahead_round(const struct weir_lookahead *ahead);

/* What was found of how many come, as of weir_placement_ops; `used`: how many of the numbers. */
uint32_t weir_lookahead_save(const struct weir_lookahead *ahead, double *numbers,
                             uint32_t capacity);
weir_status weir_lookahead_restore(struct weir_lookahead *ahead, const double *numbers,
                                   uint32_t count, uint32_t *used);

void weir_outlook_load(const struct weir_cluster *cluster, uint32_t node,
                       struct weir_outlook *outlook);
/* An instance that is given out on a GPU that is cut, and back (sign -1). */
void weir_outlook_give(struct weir_outlook *node, uint32_t gpu, uint32_t profile, uint32_t start,
                       int sign);
/* GPUs lost on a node in that state, less what is kept for large jobs. GPUs in equal states are
 * interchangeable. */
double weir_lookahead_lost(struct weir_lookahead *ahead, const struct weir_outlook *outlook);

/* ---- the policy "weir" ---- */

struct weir_ahead_rules {
    struct weir_lookahead *ahead;
    double step;        /* GPUs: changes that round to the same number of steps are equal */
    double consolidate; /* GPUs of loss that a free GPU left on the node counts for */
    double broken;      /* likewise one more that is left of GPUs in parts */
    double tight;       /* likewise one that is free on the GPU that a share goes to */
    double prevent;     /* GPUs: the most that a loss may shrink by */
};

/* Nodes are graded by how little they lose, by how few GPUs stay free on them, and by how much less
 * of them in parts, and for a share by how full its GPU is, in whole steps; of equal ones by the
 * fewest free CPUs after it, then GPUs, then memory. */
struct weir_grade weir_ahead_grade(const void *rules, const struct weir_grade_site *site);

#endif
