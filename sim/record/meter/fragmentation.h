/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fragmentation of one node against a reference mix of shapes, by cause.
 *
 * F is that of weir/frag.h, looking at devices (GPU types, memory and engines): sum over the shapes
 * of mix * free GPU the shape cannot use. Each amount goes to exactly one cause, so that the four
 * causes add up to F. The same rule on free codec engines, over the shapes that ask for engines,
 * gives frag.codec.
 */
#ifndef SIM_RECORD_FRAGMENTATION_H
#define SIM_RECORD_FRAGMENTATION_H

#include "sim/record/meter/meter.h"

enum sim_frag_part {
    SIM_FRAG_GPU,           /* F, GPUs */
    SIM_FRAG_NO_CPU,        /* part of F: too few CPUs left */
    SIM_FRAG_NO_CODEC,      /* part of F: compute would do, engines are short */
    SIM_FRAG_FRACTION,      /* part of F: GPUs left too small, of other types, or too few */
    SIM_FRAG_NO_GPU_DEMAND, /* part of F: shapes without GPU demand */
    SIM_FRAG_CODEC,         /* engines */
    SIM_FRAG_CRUMBS,        /* GPU on devices with less free than the smallest request */
    SIM_FRAG_WHOLE,         /* GPUs with all compute free */
    SIM_FRAG_FREE,          /* free GPU, the denominator of the ratios */
    SIM_FRAG_STRANDED,      /* free GPU no GPU shape can reach: CPUs short, or none is asked for */
    SIM_FRAG_DEAD,          /* free compute slices of cut GPUs that no shape can reach */
    SIM_FRAG_COUNT
};

struct sim_frag {
    double part[SIM_FRAG_COUNT];
};

/* The mix, prepared once. `stages` is borrowed and must outlive it. */
struct sim_frag_mix {
    size_t stage_count;
    const struct sim_meter_stage_info *stages; /* those with mix <= 0 are left out */
    int64_t smallest_gpu_units;                /* on one GPU; 0 = no shape wants a GPU */
    int64_t smallest_cpu_units;                /* CPUs of the shape with the smallest GPU demand */
};
void sim_frag_mix_open(struct sim_frag_mix *mix, const struct sim_meter_stage_info *stages,
                       size_t stage_count);

/* The state of one node, as weir_frag_find reads it. O(stages * GPUs). */
struct sim_frag sim_frag_node(const struct sim_frag_mix *mix, const struct weir_node *node,
                              const struct weir_gpu *gpus);

/* What is free of a node in words, for nodes that are alike but for who they are: equal words,
 * equal fragmentation. `count` of them say something. */
enum { SIM_FRAG_KEY_GPUS = 8, SIM_FRAG_KEY_WORDS = 4 + 3 * SIM_FRAG_KEY_GPUS };
struct sim_frag_key {
    uint32_t count;
    uint64_t words[SIM_FRAG_KEY_WORDS];
};

/* What was found lately, by key. */
struct sim_frag_memo;
struct sim_frag_memo *sim_frag_memo_open(void); /* NULL = out of memory */
void sim_frag_memo_close(struct sim_frag_memo *memo);
/* NULL = it is not there. */
const struct sim_frag *sim_frag_memo_find(const struct sim_frag_memo *memo,
                                          const struct sim_frag_key *key);
void sim_frag_memo_keep(struct sim_frag_memo *memo, const struct sim_frag_key *key,
                        const struct sim_frag *frag);

#endif
