/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How workers share one GPU, beyond parts of it: instances of a GPU that is cut (MIG), and turns.
 *
 * An instance has slots, memory, SMs and decoders of its own. Who asks for more than his instance
 * has is slowed down (or refused, for memory) alone; nobody else notices. The books here are slots,
 * kept apart from the scheduler's layouts.
 *
 * Turns: with n workers running, each has the GPU for one quantum and then waits for the others. A
 * switch saves and restores what is resident, so that a quantum q costs q + c, c = switch + share
 * of the memory resident x switch_memory; each worker progresses at q / (n (q + c)). One worker
 * alone never switches.
 *
 * MPS: a client has the part of the SMs it asked for and no more
 * (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE); who wants more is slower alone. While several run each takes
 * `mps_overhead` times as long. Memory bandwidth and cache are everybody's (traffic.h).
 */
#ifndef SIM_CLUSTER_SHARING_H
#define SIM_CLUSTER_SHARING_H

#include "sim/cluster/cluster.h"

/* What a device of a worker takes of the GPU as it truly is: NULL = the GPU is not cut, or has no
 * such profile. */
const struct weir_mig_profile *sim_slice_profile(const struct sim_gpu *gpu,
                                                 const struct weir_device *device);

/* Why an instance cannot be given out (enum weir_reason), WEIR_REASON_NONE = it can. */
uint32_t sim_slice_refusal(const struct sim_gpu *gpu, const struct weir_device *device);
/* Why what a worker takes does not go into its instance. */
uint32_t sim_slice_use_refusal(const struct sim_use *use);

/* Books the instance out (sign 1) or in (-1). */
void sim_slice_book(struct sim_gpu *gpu, const struct weir_device *device, int64_t sign);
/* Cuts a GPU anew; WEIR_EINVARIANT when an instance is in use. */
weir_status sim_cluster_cut(struct sim_cluster *cluster, uint32_t node, uint32_t gpu,
                            weir_mig_layout cut, struct weir_error *error);
/* Slots, held instances and the cut agree. */
bool sim_slice_is_sound(const struct sim_gpu *gpu);

/* How much longer a task takes because it asks for more than its instance has; >= 1. */
double sim_slice_slowdown(const struct sim_use *use);

/* What a switch costs. */
double sim_turns_switch_ns(const struct sim_timeslice *turns, double resident_frac);

/* Ends of turns a second on the GPUs of the node, where two or more take them: one a quantum and
 * switch. */
double sim_turns_rate(const struct sim_cluster *cluster, uint32_t node);

/* How much longer a task takes when so many run on a GPU, `resident_frac` of its memory being in
 * use; >= 1. */
double sim_turns_slowdown(const struct sim_timeslice *turns, uint32_t running,
                          double resident_frac);

/* What it uses of its GPUs is limited to what it holds of them. */
void sim_mps_limit(struct sim_claim *claim);
/* Others are there, or no longer are: true when that makes all of them slower or faster. */
bool sim_mps_crowd(const struct sim_node *node, struct sim_gpu *gpu);

/* Free compute slices of a node that no free place of any of these shapes covers. Shapes with
 * frequency 0 do not count. */
uint32_t sim_cluster_dead_slices(const struct sim_cluster *cluster, uint32_t node,
                                 const struct weir_mix *mix);
/* Whether it has a GPU that is cut at all. */
bool sim_cluster_is_cut(const struct sim_cluster *cluster);

#endif
