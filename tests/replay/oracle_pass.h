/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pass of the xenna scheduler, version P, once more: written from its specification alone, with
 * nothing of libweir in it, plain and slow. It says what is right where the original fails by a
 * slip, or where the rounding of its doubles decides a tie.
 *
 * Amounts are whole units of 1/40 960 000 of a CPU or GPU and fragmentation is weighted by whole
 * counts, so every score is an exact integer: where two are equal they are, and the first stays.
 * Every candidate is scored afresh for every question.
 *
 * What it does otherwise than the original, on purpose: shares that fill a GPU leave exactly
 * nothing; whole GPUs take free engines, not engines 0 to k-1; an entire GPU counts in the pool
 * with the mean of its engines, rounded down; a stage without workers keeps its slots.
 */
#ifndef TESTS_REPLAY_ORACLE_PASS_H
#define TESTS_REPLAY_ORACLE_PASS_H

#include <jansson.h>

/* The answer to an `autoscale` question of version P in the keys of known answers: `slots`,
 * `stages` (workers_after, new, deleted) and `status`; a refusal has `error_type` (the name of our
 * status) and `error_phase`. NULL when the question is beyond it (more than 64 GPUs on a node, a
 * shape it does not know). */
json_t *oracle_pass(const json_t *input);

#endif
