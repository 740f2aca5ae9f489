/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trackable resources as Slurm lists them: "billing=8,cpu=8,gres/gpu:h100=2,gres/gpu=2,mem=63000M".
 *
 * GPUs: the untyped gres/gpu when it is there, else the sum of the typed ones (either may be
 * missing, in any order). Memory ends in K, M, G or T, powers of 1024; without one it is MiB.
 */
#ifndef WORKLOADS_TRES_H
#define WORKLOADS_TRES_H

#include <stdbool.h>
#include <stdint.h>

/* *value untouched where nothing is said of it; false when a value is no number. */
bool wl_tres_gpus(const char *tres, int64_t *milli);
bool wl_tres_cpus(const char *tres, int64_t *milli);
bool wl_tres_memory(const char *tres, int64_t *bytes);

#endif
