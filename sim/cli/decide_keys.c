/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of the format (see decide_format.h); docs/decide.md has the same rows. */
#include "sim/cli/decide_format.h"

#include "weir/cluster.h"

#include <stdint.h>

/* What the keys of one table are made of. */
#define OPTIONAL(key, type) .name = (key), .kind = (type)
#define REQUIRED(key, type) OPTIONAL(key, type), .is_required = true
#define TABLE(table, title)                                                                        \
    {                                                                                              \
        .name = (title), .keys = (table), .count = sizeof(table) / sizeof(table)[0]                \
    }

static const double MOST_COUNT = UINT32_MAX;
static const double MOST_BYTES = 0x1p62;
static const double MOST_ID = 0x1p53;

static const struct decide_key gpu[] = {
    { REQUIRED("fraction", DECIDE_NUMBER), .unit = "GPU", .most = 1, .help = "compute, 1 = all" },
    { OPTIONAL("nvdecs", DECIDE_COUNT), .most = WEIR_MAX_ENGINES, .help = "video decoders" },
    { OPTIONAL("nvencs", DECIDE_COUNT), .most = WEIR_MAX_ENGINES, .help = "video encoders" },
    { OPTIONAL("type", DECIDE_COUNT), .most = MOST_COUNT - 1, .help = "index of the GPU type" },
    { OPTIONAL("mem_bytes", DECIDE_COUNT), .unit = "B", .most = MOST_BYTES, .help = "memory" },
};
static const struct decide_keys gpu_keys = TABLE(gpu, "GPU");

static const struct decide_key node[] = {
    { REQUIRED("id", DECIDE_ID),
      .help = "name, once in the list; the order of nodes decides ties" },
    { REQUIRED("cpus", DECIDE_NUMBER), .unit = "CPU", .help = "all it has" },
    { OPTIONAL("ram_bytes", DECIDE_COUNT), .unit = "B", .most = MOST_BYTES, .help = "memory" },
    { OPTIONAL("type", DECIDE_COUNT), .most = MOST_COUNT - 1, .help = "index of the node type" },
    { OPTIONAL("up", DECIDE_FLAG), .help = "false: it is lost (default true)" },
    { OPTIONAL("cordoned", DECIDE_FLAG), .help = "true: it takes nothing new" },
    { OPTIONAL("gpus", DECIDE_COUNT), .most = WEIR_MAX_NODE_GPUS, .help = "equal whole GPUs ..." },
    { OPTIONAL("nvdecs_per_gpu", DECIDE_COUNT), .most = WEIR_MAX_ENGINES, .help = "... each with" },
    { OPTIONAL("nvencs_per_gpu", DECIDE_COUNT), .most = WEIR_MAX_ENGINES, .help = "... each with" },
    { OPTIONAL("gpu_list", DECIDE_LIST), .of = &gpu_keys, .help = "or every GPU by itself" },
};
static const struct decide_keys node_keys = TABLE(node, "node");

static const struct decide_key shape[] = {
    { REQUIRED("type", DECIDE_TEXT),
      .help = "cpu_only, codec, fractional_gpu, whole_gpu, entire_gpu, spmd_small or spmd_multi" },
    { OPTIONAL("cpus", DECIDE_NUMBER), .unit = "CPU", .help = "of one worker" },
    { OPTIONAL("gpus", DECIDE_NUMBER), .unit = "GPU", .help = "of one worker on one node" },
    { OPTIONAL("nvdecs", DECIDE_COUNT), .most = MOST_COUNT, .help = "whole_gpu: for each GPU" },
    { OPTIONAL("nvencs", DECIDE_COUNT), .most = MOST_COUNT, .help = "whole_gpu: for each GPU" },
    { OPTIONAL("ram_bytes", DECIDE_COUNT), .unit = "B", .most = MOST_BYTES, .help = "memory" },
    { OPTIONAL("gpu_mem_bytes", DECIDE_COUNT), .unit = "B", .most = MOST_BYTES,
      .help = "memory on each GPU" },
    { OPTIONAL("gpu_type", DECIDE_TYPES), .may_be_null = true,
      .help = "index of the type it needs, or a list of those that will do; null = any" },
    { OPTIONAL("nodes", DECIDE_COUNT), .most = MOST_COUNT, .help = "spmd: nodes of a group" },
    { OPTIONAL("node_gpus", DECIDE_COUNT), .most = MOST_COUNT, .help = "spmd: GPUs of a node" },
    { OPTIONAL("codec_same_gpu", DECIDE_FLAG), .help = "codec: all engines from one GPU" },
};
static const struct decide_keys shape_keys = TABLE(shape, "shape");

static const struct decide_key stage[] = {
    { REQUIRED("name", DECIDE_TEXT), .help = "stages of several pipelines may share one" },
    { OPTIONAL("pipeline", DECIDE_COUNT), .most = MOST_COUNT, .help = "index, in order of stages" },
    { REQUIRED("shape", DECIDE_OBJECT), .of = &shape_keys, .help = "what one worker takes" },
    { REQUIRED("batch_size", DECIDE_COUNT), .most = MOST_COUNT, .help = "items of a task" },
    { OPTIONAL("requested_workers", DECIDE_COUNT), .most = INT32_MAX, .may_be_null = true,
      .help = "fixed by hand; null = the policy decides" },
    { OPTIONAL("over_provision_factor", DECIDE_NUMBER), .may_be_null = true,
      .help = "divides the measured speed" },
    { OPTIONAL("speed_hint", DECIDE_NUMBER), .unit = "batches/s", .may_be_null = true,
      .help = "of one worker, until it is measured" },
    { OPTIONAL("finished", DECIDE_FLAG), .help = "no more input will come" },
    { OPTIONAL("ready", DECIDE_COUNT), .most = MOST_COUNT, .help = "workers that are set up" },
    { OPTIONAL("busy", DECIDE_COUNT), .most = MOST_COUNT, .help = "workers with a task" },
    { OPTIONAL("queued_items", DECIDE_COUNT), .most = MOST_ID, .help = "items in front of it" },
};
static const struct decide_keys stage_keys = TABLE(stage, "stage");

static const struct decide_key estimate[] = {
    { OPTIONAL("batches_per_s", DECIDE_NUMBER), .unit = "batches/s", .may_be_null = true,
      .help = "of one worker; null = not measured" },
    { OPTIONAL("returns_per_batch", DECIDE_NUMBER), .unit = "items", .may_be_null = true,
      .help = "null = not measured" },
    { OPTIONAL("points", DECIDE_COUNT), .most = MOST_COUNT, .help = "tasks behind it" },
};
static const struct decide_keys estimate_keys = TABLE(estimate, "estimate");

static const struct decide_key share[] = {
    { REQUIRED("gpu", DECIDE_COUNT), .most = WEIR_MAX_NODE_GPUS - 1, .help = "place on the node" },
    { REQUIRED("fraction", DECIDE_NUMBER), .unit = "GPU", .most = 1, .help = "compute it holds" },
    { OPTIONAL("mem_bytes", DECIDE_COUNT), .unit = "B", .most = MOST_BYTES, .help = "memory" },
};
static const struct decide_keys share_keys = TABLE(share, "share of a GPU");

static const struct decide_key engine[] = {
    { REQUIRED("gpu", DECIDE_COUNT), .most = WEIR_MAX_NODE_GPUS - 1, .help = "place on the node" },
    { REQUIRED("index", DECIDE_COUNT), .most = WEIR_MAX_ENGINES - 1, .help = "place on the GPU" },
};
static const struct decide_keys engine_keys = TABLE(engine, "engine");

static const struct decide_key worker[] = {
    { REQUIRED("id", DECIDE_ID), .help = "name, once in the list" },
    { OPTIONAL("stage", DECIDE_TEXT), .help = "name of its stage" },
    { OPTIONAL("stage_index", DECIDE_COUNT), .most = MOST_COUNT,
      .help = "place of its stage; goes before the name, one of the two is needed" },
    { REQUIRED("node", DECIDE_ID), .help = "id of its node" },
    { OPTIONAL("cpus", DECIDE_NUMBER), .unit = "CPU", .help = "it holds" },
    { OPTIONAL("ram_bytes", DECIDE_COUNT), .unit = "B", .most = MOST_BYTES, .help = "it holds" },
    { OPTIONAL("state", DECIDE_COUNT), .most = MOST_COUNT, .help = "for readers; not looked at" },
    { OPTIONAL("gpus", DECIDE_LIST), .of = &share_keys, .help = "compute it holds" },
    { OPTIONAL("nvdecs", DECIDE_LIST), .of = &engine_keys, .help = "decoders it holds" },
    { OPTIONAL("nvencs", DECIDE_LIST), .of = &engine_keys, .help = "encoders it holds" },
};
static const struct decide_keys worker_keys = TABLE(worker, "worker");

static const struct decide_key policy[] = {
    { REQUIRED("placement", DECIDE_TEXT), .help = "name of the placement policy" },
    { OPTIONAL("placement_params", DECIDE_PARAMS), .help = "its parameters by name" },
    { REQUIRED("scaling", DECIDE_TEXT), .help = "name of the scaling policy" },
    { OPTIONAL("scaling_params", DECIDE_PARAMS), .help = "its parameters by name" },
};
static const struct decide_keys policy_keys = TABLE(policy, "policy");

static const struct decide_key document[] = {
    { OPTIONAL("format", DECIDE_TEXT), .help = "`weir-decision`; left out in version 1" },
    { OPTIONAL("version", DECIDE_COUNT), .most = MOST_COUNT, .help = "2; left out in version 1" },
    { REQUIRED("command", DECIDE_TEXT), .help = "`autoscale`" },
    { OPTIONAL("time_s", DECIDE_NUMBER), .unit = "s", .help = "time of the decision (default 0)" },
    { OPTIONAL("next_worker", DECIDE_COUNT), .most = MOST_ID,
      .help = "number of the first new worker; without it new ones are n0, n1, ..." },
    { OPTIONAL("seed", DECIDE_COUNT), .most = MOST_ID, .help = "for policies that draw" },
    { REQUIRED("nodes", DECIDE_LIST), .of = &node_keys, .help = "the cluster" },
    { REQUIRED("stages", DECIDE_LIST), .of = &stage_keys, .help = "in order of the pipelines" },
    { OPTIONAL("slots", DECIDE_LIST), .help = "tasks a worker may hold, one count a stage (2)" },
    { OPTIONAL("estimates", DECIDE_LIST), .of = &estimate_keys, .help = "measured, one a stage" },
    { OPTIONAL("workers", DECIDE_LIST), .of = &worker_keys, .help = "those that live" },
    { REQUIRED("policy", DECIDE_OBJECT), .of = &policy_keys, .help = "who decides" },
};
static const struct decide_keys document_keys = TABLE(document, "document");

const struct decide_keys *const decide_formats[] = {
    &document_keys, &node_keys,   &gpu_keys,   &stage_keys,  &shape_keys,
    &estimate_keys, &worker_keys, &share_keys, &engine_keys, &policy_keys,
};
const size_t decide_formats_count = sizeof decide_formats / sizeof decide_formats[0];
