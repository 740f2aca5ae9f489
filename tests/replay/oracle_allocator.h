/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The allocator of version N once more, on a plain table of used amounts in steps of 1/65536: a
 * worker or a list is added whole or not at all, and the parts of an allocation on one GPU add up.
 */
#ifndef TESTS_REPLAY_ORACLE_ALLOCATOR_H
#define TESTS_REPLAY_ORACLE_ALLOCATOR_H

#include <jansson.h>
#include <stdbool.h>

/* Whether any allocation of the steps names a GPU more than once. */
bool oracle_names_gpu_twice(const json_t *input);
/* {"steps": [{"result", "cluster"}]}; NULL when a step is not known. */
json_t *oracle_allocator(const json_t *input);

#endif
