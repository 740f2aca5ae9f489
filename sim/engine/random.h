/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random numbers belong to the work.
 *
 * A stream is not seeded and drawn from in turn: it is *named* by a key (seed, replication, owner,
 * purpose, item, stage, attempt), and the same name gives the same numbers in every policy and
 * whatever happened before. So every item asks for the same service in all variants of a
 * comparison (common random numbers), also after crashes and rescaling. The owner is a pipeline, a
 * stage, a workload, a class of jobs: the hash of its names, never an index over the scenario, so
 * that adding or removing one changes no number of another.
 *
 * Generator: Philox4x32-10 (Salmon et al., SC 2011). Key = 64-bit hash of (seed, replication,
 * owner, purpose); counter = (item, stage and attempt, draw number), so distinct names of one owner
 * are disjoint streams by construction; owners are told apart by their hashes, and a scenario in
 * which two are the same is refused (sim/scenario/names.h). It is wrapped as a gsl_rng_type so that
 * every gsl_ran_* sampler works.
 */
#ifndef SIM_ENGINE_RANDOM_H
#define SIM_ENGINE_RANDOM_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* What a number is for. Append-only: the value is part of every stream's name. */
enum sim_purpose {
    SIM_DRAW_ARRIVAL = 1,
    SIM_DRAW_ITEM_SIZE = 2,
    SIM_DRAW_ITEM_CLASS = 3,
    SIM_DRAW_SERVICE = 4,
    SIM_DRAW_RETURNS = 5,
    SIM_DRAW_SETUP = 6,
    SIM_DRAW_NODE_FAILURE = 7,
    SIM_DRAW_NODE_REPAIR = 8,
    SIM_DRAW_PROCESS_FAILURE = 9,
    SIM_DRAW_SETUP_FAILURE = 10,
    SIM_DRAW_WORKER_FAILURE = 11,
    SIM_DRAW_POLICY = 12,
    SIM_DRAW_BYTES = 13,
    SIM_DRAW_NODE_SETUP = 14,
    SIM_DRAW_DRIFT = 15,
    SIM_DRAW_MEAN = 16,  /* of a law, as its measurements leave it open */
    SIM_DRAW_ORDER = 20, /* of static arrivals: rows, clones, ranks of nodes */
    SIM_DRAW_JOB_ARRIVAL = 21,
    SIM_DRAW_JOB_CLASS = 22,
    SIM_DRAW_PATIENCE = 23,
    SIM_DRAW_RETRY = 24,
    SIM_DRAW_JOB_START = 25, /* latency of a start */
    SIM_DRAW_JOB_STEP = 26,  /* slowest ranks of its steps */
    SIM_DRAW_GPU_FAILURE = 30,
    SIM_DRAW_GPU_REPAIR = 31,
    SIM_DRAW_GPU_CLASS = 32, /* why it failed */
    SIM_DRAW_SWITCH_FAILURE = 33,
    SIM_DRAW_SWITCH_REPAIR = 34,
    SIM_DRAW_RACK_FAILURE = 35,
    SIM_DRAW_RACK_REPAIR = 36,
    SIM_DRAW_SLOW_BEGIN = 37,
    SIM_DRAW_SLOW_END = 38,
    SIM_DRAW_SLOW_FACTOR = 39,
    SIM_DRAW_DETECTION = 40,
    SIM_DRAW_GPU_SLOW_BEGIN = 41,
    SIM_DRAW_GPU_SLOW_END = 42,
    SIM_DRAW_GPU_SLOW_FACTOR = 43,
    SIM_DRAW_LINK_FAILURE = 44,
    SIM_DRAW_LINK_REPAIR = 45,
    SIM_DRAW_STORE_FAILURE = 46,
    SIM_DRAW_STORE_REPAIR = 47,
    SIM_DRAW_ESTIMATE = 48,
    SIM_DRAW_THINK = 49,
    SIM_DRAW_TRACE = 50, /* copies and days of a trace */
    SIM_DRAW_BOOT = 51,
    SIM_DRAW_LAUNCH = 52, /* whether a node that was asked for comes */
    SIM_DRAW_CALL = 53,   /* what an actor is called for */
    SIM_DRAW_AUTHORISATION = 54,
    SIM_DRAW_RECLAIM = 55, /* how much hazard a spot node survives */
    SIM_DRAW_SPOT_PRICE = 56,
    SIM_DRAW_MISCOUNT = 57, /* whether a batcher loses count of a replica */
    SIM_DRAW_FIT = 90,      /* bootstrap samples of fitted laws */
    SIM_DRAW_TEST = 99,
};

/* Whose numbers: the kind of a name. It keeps apart what may be called the same, a stage and a
 * class of jobs. Append-only. */
enum sim_name_kind {
    SIM_NAME_PIPELINE = 1,
    SIM_NAME_STAGE = 2,
    SIM_NAME_JOBS = 3,
    SIM_NAME_CLASS = 4, /* of jobs */
    SIM_NAME_NODES = 5, /* a group of equal nodes */
    SIM_NAME_GPU = 6,   /* its number, within a group of nodes */
    SIM_NAME_STORE = 7,
    SIM_NAME_ACTORS = 8,
    SIM_NAME_ROLE = 9,
};

struct sim_stream_key {
    uint64_t item;    /* id of the work or entity, the same in every policy */
    uint32_t stage;   /* a part of the owner (phase, number of a node in its group) or 0 */
    uint32_t attempt; /* 0 for the first */
};

/* The streams of one replication, or of one owner in it: a value, shared freely. */
struct sim_random {
    uint64_t seed;
    uint64_t replication;
    uint64_t owner; /* sim_random_name of its names, outermost first; 0 = the root */
};

/* The hash of a name below `owner` (0 = the root). Never 0. */
uint64_t sim_random_name(uint64_t owner, enum sim_name_kind kind, const char *name);
/* The streams of `name`, which belongs to whom `parent` is for. Once for every owner: the hashing
 * is not part of opening a stream. */
struct sim_random sim_random_of(const struct sim_random *parent, enum sim_name_kind kind,
                                const char *name);

/* A stream; 48 bytes, lives on the stack or inside an entity. Read-only but for its functions. */
struct sim_stream {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t block[4];
    uint32_t used; /* words of `block` handed out */
    uint32_t spare;
};

/* Names a stream. No allocation, no failure; about 10 ns. */
void sim_stream_open(struct sim_stream *stream, const struct sim_random *root,
                     enum sim_purpose purpose, struct sim_stream_key key);

uint64_t sim_stream_u64(struct sim_stream *stream);

/* Uniform on [0, 1) with 53 bits. */
double sim_stream_uniform(struct sim_stream *stream);

/* Exponential with mean 1: 256-layer ziggurat (Marsaglia and Tsang 2000). */
double sim_stream_exponential(struct sim_stream *stream);

/* Standard normal (ziggurat of GSL). */
double sim_stream_normal(struct sim_stream *stream);

/* The stream behind a gsl_rng for any gsl_ran_* sampler; `view` must not outlive the stream. */
gsl_rng sim_stream_gsl(struct sim_stream *stream);

/* The bare function, for known-answer tests: 10 rounds of Philox4x32. */
void sim_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
