/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shards of tests. */
#ifndef TESTS_SUPPORT_SHARD_H
#define TESTS_SUPPORT_SHARD_H

#include "sim/record/record.h"

/* A shard of `whole` as an experiment of this identity opens it. */
struct sim_recorder *test_open_shard(const char *path, const char *whole, const char *identity);

#endif
