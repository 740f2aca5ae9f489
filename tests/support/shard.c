/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shards of tests (see shard.h). */
#include "tests/support/shard.h"

#include "tests/support/check.h"

struct sim_recorder *test_open_shard(const char *path, const char *whole, const char *identity)
{
    struct sim_shard_blank blank = { .bytes = NULL };
    struct sim_recorder *recorder = NULL;
    CHECK_I64(sim_recorder_open_blank(&recorder, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_meta(recorder, "identity", identity, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_close_blank(recorder, &blank, NULL), WEIR_OK);
    recorder = NULL;
    CHECK_I64(sim_recorder_open_shard(path, whole, &blank, &recorder, NULL), WEIR_OK);
    sim_shard_blank_clear(&blank);
    return recorder;
}
