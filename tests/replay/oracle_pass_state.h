/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the two halves of the exact pass share: the cluster with what is free, stages with their
 * workers, and the choice of a place or of a victim.
 */
#ifndef TESTS_REPLAY_ORACLE_PASS_STATE_H
#define TESTS_REPLAY_ORACLE_PASS_STATE_H

#include "tests/replay/oracle_pass.h"

#include <stdbool.h>
#include <stdint.h>

enum { ORACLE_ONE = 40960000, ORACLE_MOST_GPUS = 64 };
enum oracle_kind { ORACLE_CPU, ORACLE_CODEC, ORACLE_SHARE, ORACLE_WHOLE, ORACLE_ENTIRE };

struct oracle_shape {
    enum oracle_kind kind;
    int64_t cpus;        /* of a worker */
    int64_t units;       /* of one GPU */
    uint32_t count;      /* GPUs */
    uint32_t decs, encs; /* of one GPU; CODEC: in all */
};
struct oracle_gpu {
    int64_t units;       /* free */
    uint32_t decs, encs; /* free engines, a bit each */
    uint32_t all_decs, all_encs;
};
struct oracle_node {
    const char *id;
    int64_t cpus; /* free */
    struct oracle_gpu *gpus;
    uint32_t count;
};
struct oracle_part {
    uint32_t gpu;
    int64_t units;
    uint32_t decs, encs;
};
struct oracle_place {
    uint32_t node;
    int64_t cpus;
    uint32_t count;
    struct oracle_part parts[ORACLE_MOST_GPUS];
};
struct oracle_worker {
    const char *id; /* NULL = new */
    struct oracle_place place;
};
struct oracle_workers {
    struct oracle_worker *list; /* in the order in which they were added */
    uint32_t count, capacity;
};
struct oracle_stage {
    const char *name;
    struct oracle_shape shape;
    struct oracle_workers workers, removed;
    int64_t requested; /* -1 = automatic */
    double batch, returns, speed;
    double ratio; /* source items for one item here */
    double rate;  /* source items per second of one worker */
    bool is_measured, is_active;
    uint32_t slots, optimum;
};
struct oracle_state {
    struct oracle_node *nodes;
    uint32_t node_count;
    struct oracle_stage *stages;
    uint32_t stage_count;
    int64_t *weights; /* of the mix: the optimum's counts */
    double target;
};

struct oracle_score {
    int64_t primary, secondary; /* the smaller the better */
};
struct oracle_choice {
    bool is_found;
    uint32_t reused; /* place among the removed workers, UINT32_MAX = a new one */
    struct oracle_score score;
    struct oracle_place place;
};

/* Takes a place (1) or gives it back (-1). */
void oracle_take(struct oracle_state *state, const struct oracle_place *place, int sign);
bool oracle_fits(const struct oracle_state *state, const struct oracle_place *place);
/* The best place of one more worker; who was removed in this pass is asked first. */
struct oracle_choice oracle_choose(struct oracle_state *state, uint32_t stage);
/* The worker whose end leaves least fragmentation, then on the emptiest node. */
uint32_t oracle_victim(struct oracle_state *state, uint32_t stage);

#endif
