/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of the format (see decide_format.h); docs/decide.md has the same rows. */
#include "sim/cli/decide/decide_format.h"

#include "sim/cli/decide/decide_parts.h"

#include <float.h>
#include <stddef.h>
#include <stdint.h>

/* What the keys of one table are made of. */
#define OPTIONAL(key, type) .name = (key), .kind = (type)
#define REQUIRED(key, type) OPTIONAL(key, type), .is_required = true
#define INTO(type, member)  .field = offsetof(struct type, member) + 1
#define LIST_OF(key, type)  OPTIONAL(key, DECIDE_LIST), .element = (type)
#define TIME(key, type, member)                                                                    \
    OPTIONAL(key, DECIDE_WHOLE), INTO(type, member), .unit = "ns", ANY_TIME
#define ANY_TIME .least = -0x1p62, .most = 0x1p62
#define TABLE(table, title)                                                                        \
    {                                                                                              \
        .name = (title), .keys = (table), .count = sizeof(table) / sizeof(table)[0]                \
    }

static const double MOST_COUNT = UINT32_MAX;
static const double MOST_BYTES = 0x1p62;
static const double MOST_ID = 0x1p53;

static const struct decide_key instance[] = {
    { REQUIRED("profile", DECIDE_COUNT), INTO(decide_instance, profile),
      .most = WEIR_MIG_PROFILES - 1, .help = "place in the table" },
    { REQUIRED("start", DECIDE_COUNT), INTO(decide_instance, start), .most = WEIR_MIG_SLOTS - 1,
      .help = "memory slot where it begins" },
};
const struct decide_keys decide_instance_keys = TABLE(instance, "MIG instance");

static const struct decide_key profile[] = {
    { REQUIRED("name", DECIDE_NAME), INTO(weir_mig_profile, name), .help = "at most 15 bytes" },
    { REQUIRED("slices", DECIDE_COUNT), INTO(weir_mig_profile, slices), .most = WEIR_MIG_SLOTS,
      .help = "of compute" },
    { REQUIRED("slots", DECIDE_COUNT), INTO(weir_mig_profile, slots), .most = WEIR_MIG_SLOTS,
      .help = "of memory" },
    { OPTIONAL("mem_bytes", DECIDE_WHOLE), INTO(weir_mig_profile, mem_bytes), .unit = "B",
      .most = MOST_BYTES, .help = "memory" },
    { OPTIONAL("sms", DECIDE_COUNT), INTO(weir_mig_profile, sms), .most = MOST_COUNT,
      .help = "streaming multiprocessors" },
    { OPTIONAL("nvdecs", DECIDE_COUNT), INTO(weir_mig_profile, nvdecs), .most = WEIR_MAX_ENGINES,
      .help = "video decoders" },
    { REQUIRED("max_count", DECIDE_COUNT), INTO(weir_mig_profile, max_count),
      .most = WEIR_MIG_SLOTS, .help = "on one GPU" },
    { LIST_OF("starts", DECIDE_COUNT), .most = WEIR_MIG_SLOTS - 1,
      .help = "memory slots where it may begin" },
};
const struct decide_keys decide_profile_keys = TABLE(profile, "MIG profile");

static const struct decide_key mig_table[] = {
    { REQUIRED("name", DECIDE_NAME), INTO(weir_mig, name), .help = "of the GPU type" },
    { REQUIRED("slices", DECIDE_COUNT), INTO(weir_mig, slices), .most = WEIR_MIG_SLOTS,
      .help = "of compute" },
    { REQUIRED("slots", DECIDE_COUNT), INTO(weir_mig, slots), .most = WEIR_MIG_SLOTS,
      .help = "of memory" },
    { OPTIONAL("sms", DECIDE_COUNT), INTO(weir_mig, sms), .most = MOST_COUNT,
      .help = "of the whole GPU" },
    { REQUIRED("profiles", DECIDE_LIST), .of = &decide_profile_keys, .help = "small ones first" },
};
const struct decide_keys decide_table_keys = TABLE(mig_table, "MIG table");

static const struct decide_key gpu[] = {
    { REQUIRED("fraction", DECIDE_UNITS), INTO(decide_gpu, spec.units), .unit = "GPU", .most = 1,
      .help = "compute, 1 = all" },
    { OPTIONAL("nvdecs", DECIDE_COUNT), INTO(decide_gpu, spec.nvdecs), .most = WEIR_MAX_ENGINES,
      .help = "video decoders" },
    { OPTIONAL("nvencs", DECIDE_COUNT), INTO(decide_gpu, spec.nvencs), .most = WEIR_MAX_ENGINES,
      .help = "video encoders" },
    { OPTIONAL("type", DECIDE_COUNT), INTO(decide_gpu, spec.type), .most = MOST_COUNT - 1,
      .help = "index of the GPU type" },
    { OPTIONAL("mem_bytes", DECIDE_WHOLE), INTO(decide_gpu, spec.mem_bytes), .unit = "B",
      .most = MOST_BYTES, .help = "memory" },
    { OPTIONAL("idle_w", DECIDE_COUNT), INTO(decide_gpu, idle_w), .unit = "W", .most = UINT16_MAX,
      .help = "power without work; 0 = not known" },
    { OPTIONAL("full_w", DECIDE_COUNT), INTO(decide_gpu, full_w), .unit = "W", .most = UINT16_MAX,
      .help = "power at its limit; 0 = not known" },
    { OPTIONAL("mig", DECIDE_COUNT), INTO(decide_gpu, mig), .most = MOST_COUNT - 1,
      .help = "it is cut: place of its table in `mig_tables`" },
    { OPTIONAL("cut", DECIDE_LIST), .of = &decide_instance_keys,
      .help = "instances there are; without it they are made when they are asked for" },
    { OPTIONAL("healthy", DECIDE_FLAG), INTO(decide_gpu, is_healthy),
      .help = "false: it gives out nothing more (default true)" },
};
const struct decide_keys decide_gpu_keys = TABLE(gpu, "GPU");

static const struct decide_key node[] = {
    { REQUIRED("id", DECIDE_ID),
      .help = "name, once in the list; the order of nodes decides ties" },
    { REQUIRED("cpus", DECIDE_UNITS), INTO(decide_node, cpu_units), .unit = "CPU",
      .help = "all it has" },
    { OPTIONAL("ram_bytes", DECIDE_WHOLE), INTO(decide_node, ram_bytes), .unit = "B",
      .most = MOST_BYTES, .help = "memory" },
    { OPTIONAL("type", DECIDE_COUNT), INTO(decide_node, type), .most = MOST_COUNT - 1,
      .help = "index of the node type" },
    { OPTIONAL("up", DECIDE_FLAG), INTO(decide_node, is_up),
      .help = "false: it is lost (default true)" },
    { OPTIONAL("cordoned", DECIDE_FLAG), INTO(decide_node, is_cordoned),
      .help = "true: it takes nothing new" },
    { OPTIONAL("sockets", DECIDE_COUNT), INTO(decide_node, topology.sockets),
      .most = MOST_COUNT - 1,
      .help = "its GPUs are divided over, evenly and in order; 0 = not known" },
    { OPTIONAL("island_gpus", DECIDE_COUNT), INTO(decide_node, topology.island_gpus),
      .most = WEIR_MAX_NODE_GPUS, .help = "GPUs of one NVLink island, likewise; 0 = not known" },
    { OPTIONAL("rack", DECIDE_COUNT), INTO(decide_node, topology.rack), .most = MOST_COUNT - 1,
      .help = "number of the rack it stands in (default 0)" },
    { LIST_OF("labels", DECIDE_COUNT), .most = WEIR_LABELS_MOST - 1,
      .help = "numbers of the labels it has, whatever they mean" },
    { OPTIONAL("kept", DECIDE_FLAG), INTO(decide_node, is_kept),
      .help = "true: only for shapes that ask for one of its labels, or borrow" },
    { OPTIONAL("removed", DECIDE_FLAG), INTO(decide_node, is_removed),
      .help = "true: it was there once, and has a place in the order only" },
    { OPTIONAL("gpus", DECIDE_COUNT), INTO(decide_node, gpu_count), .most = WEIR_MAX_NODE_GPUS,
      .help = "equal whole GPUs ..." },
    { OPTIONAL("nvdecs_per_gpu", DECIDE_COUNT), INTO(decide_node, nvdecs), .most = WEIR_MAX_ENGINES,
      .help = "... each with" },
    { OPTIONAL("nvencs_per_gpu", DECIDE_COUNT), INTO(decide_node, nvencs), .most = WEIR_MAX_ENGINES,
      .help = "... each with" },
    { OPTIONAL("gpu_list", DECIDE_LIST), .of = &decide_gpu_keys, .help = "or every GPU by itself" },
};
const struct decide_keys decide_node_keys = TABLE(node, "node");

#define SHAPE_KINDS                                                                                \
    "cpu_only|codec|fractional_gpu|whole_gpu|entire_gpu|spmd_small|spmd_multi|mig_slice"

static const struct decide_key shape[] = {
    { REQUIRED("type", DECIDE_CHOICE), INTO(decide_shape, shape.kind), .choices = SHAPE_KINDS,
      .help = "what it takes of a GPU" },
    { OPTIONAL("cpus", DECIDE_UNITS), INTO(decide_shape, shape.cpu_units), .unit = "CPU",
      .help = "of one worker" },
    { OPTIONAL("gpus", DECIDE_NUMBER), INTO(decide_shape, gpus), .unit = "GPU",
      .help = "of one worker on one node" },
    { OPTIONAL("nvdecs", DECIDE_COUNT), INTO(decide_shape, shape.nvdecs), .most = MOST_COUNT,
      .help = "whole_gpu: for each GPU" },
    { OPTIONAL("nvencs", DECIDE_COUNT), INTO(decide_shape, shape.nvencs), .most = MOST_COUNT,
      .help = "whole_gpu: for each GPU" },
    { OPTIONAL("ram_bytes", DECIDE_WHOLE), INTO(decide_shape, shape.ram_bytes), .unit = "B",
      .most = MOST_BYTES, .help = "memory" },
    { OPTIONAL("gpu_mem_bytes", DECIDE_WHOLE), INTO(decide_shape, shape.gpu_mem_bytes), .unit = "B",
      .most = MOST_BYTES, .help = "memory on each GPU" },
    { OPTIONAL("gpu_type", DECIDE_TYPES), .may_be_null = true, .most = MOST_COUNT,
      .help = "index of the type it needs, or a list of those that will do; null = any" },
    { OPTIONAL("nodes", DECIDE_COUNT), INTO(decide_shape, shape.node_count), .most = MOST_COUNT,
      .help = "spmd: nodes of a group" },
    { OPTIONAL("node_gpus", DECIDE_COUNT), INTO(decide_shape, shape.node_gpus), .most = MOST_COUNT,
      .help = "spmd: GPUs of a node" },
    { OPTIONAL("mig_slices", DECIDE_COUNT), INTO(decide_shape, shape.mig_slices),
      .most = WEIR_MIG_SLOTS, .help = "mig_slice: compute slices it needs" },
    { OPTIONAL("mig_profile", DECIDE_NAME), INTO(decide_shape, shape.mig_profile),
      .help = "mig_slice: this profile alone" },
    { LIST_OF("labels", DECIDE_COUNT), .most = WEIR_LABELS_MOST - 1,
      .help = "labels that a node must have, all of them" },
    { OPTIONAL("borrows", DECIDE_FLAG), INTO(decide_shape, borrows),
      .help = "true: nodes kept for others will do where no other has room" },
    { OPTIONAL("codec_same_gpu", DECIDE_FLAG), INTO(decide_shape, shape.codec_same_gpu),
      .help = "codec: all engines from one GPU" },
};
const struct decide_keys decide_shape_keys = TABLE(shape, "shape");

static const struct decide_key stage[] = {
    { REQUIRED("name", DECIDE_TEXT), INTO(decide_stage, spec.name),
      .help = "stages of several pipelines may share one" },
    { OPTIONAL("pipeline", DECIDE_COUNT), INTO(decide_stage, spec.pipeline), .most = MOST_COUNT,
      .help = "index, in order of stages" },
    { REQUIRED("shape", DECIDE_OBJECT), .of = &decide_shape_keys, .help = "what one worker takes" },
    { LIST_OF("soft_labels", DECIDE_COUNT), .most = WEIR_LABELS_MOST - 1,
      .help = "labels it asks for only while a node that is up and has them could hold it" },
    { REQUIRED("batch_size", DECIDE_COUNT), INTO(decide_stage, spec.batch_size), .most = MOST_COUNT,
      .help = "items of a task" },
    { OPTIONAL("requested_workers", DECIDE_WHOLE), INTO(decide_stage, requested_workers),
      .least = -1, .most = INT32_MAX, .may_be_null = true,
      .help = "fixed by hand; null or -1 = the policy decides" },
    { OPTIONAL("over_provision_factor", DECIDE_NUMBER), INTO(decide_stage, spec.over_provision),
      .may_be_null = true, .help = "divides the measured speed" },
    { OPTIONAL("speed_hint", DECIDE_NUMBER), INTO(decide_stage, spec.speed_hint_per_s),
      .unit = "batches/s", .may_be_null = true, .help = "of one worker, until it is measured" },
    { OPTIONAL("finished", DECIDE_FLAG), INTO(decide_stage, update.finished),
      .help = "no more input will come" },
    { OPTIONAL("removed", DECIDE_FLAG), INTO(decide_stage, is_removed),
      .help = "true: it was there once, and has a place in the order only" },
    { OPTIONAL("ready", DECIDE_COUNT), INTO(decide_stage, update.ready), .most = MOST_COUNT,
      .help = "workers that are set up" },
    { OPTIONAL("busy", DECIDE_COUNT), INTO(decide_stage, update.busy), .most = MOST_COUNT,
      .help = "workers with a task" },
    { OPTIONAL("queued_items", DECIDE_WORD), INTO(decide_stage, update.queued_items),
      .help = "items in front of it" },
    { OPTIONAL("planned", DECIDE_WORD), INTO(decide_stage, planned),
      .help = "starts and stops of it that were planned so far: they name its random choices" },
};
const struct decide_keys decide_stage_keys = TABLE(stage, "stage");

static const struct decide_key estimate[] = {
    { OPTIONAL("batches_per_s", DECIDE_NUMBER), INTO(weir_estimate, batches_per_s),
      .unit = "batches/s", .may_be_null = true, .help = "of one worker; null = not measured" },
    { OPTIONAL("returns_per_batch", DECIDE_NUMBER), INTO(weir_estimate, returns_per_batch),
      .unit = "items", .may_be_null = true, .help = "null = not measured" },
    { OPTIONAL("points", DECIDE_COUNT), INTO(weir_estimate, points), .most = MOST_COUNT,
      .help = "tasks behind it" },
};
const struct decide_keys decide_estimate_keys = TABLE(estimate, "estimate");

static const struct decide_key share[] = {
    { REQUIRED("gpu", DECIDE_COUNT), .most = WEIR_MAX_NODE_GPUS - 1, .help = "place on the node" },
    { REQUIRED("fraction", DECIDE_NUMBER), .unit = "GPU", .most = 1, .help = "compute it holds" },
    { OPTIONAL("mem_bytes", DECIDE_WHOLE), .unit = "B", .most = MOST_BYTES, .help = "memory" },
    { OPTIONAL("profile", DECIDE_COUNT), .most = WEIR_MIG_PROFILES - 1,
      .help = "it is a MIG instance of this profile ..." },
    { OPTIONAL("start", DECIDE_COUNT), .most = WEIR_MIG_SLOTS - 1,
      .help = "... that begins at this memory slot" },
};
static const struct decide_keys share_keys = TABLE(share, "share of a GPU");

static const struct decide_key engine[] = {
    { REQUIRED("gpu", DECIDE_COUNT), .most = WEIR_MAX_NODE_GPUS - 1, .help = "place on the node" },
    { REQUIRED("index", DECIDE_COUNT), .most = WEIR_MAX_ENGINES - 1, .help = "place on the GPU" },
};
static const struct decide_keys engine_keys = TABLE(engine, "engine");

static const struct decide_key worker[] = {
    { REQUIRED("id", DECIDE_ID), .help = "name, once in the list; the order decides ties" },
    { OPTIONAL("stage", DECIDE_TEXT), .help = "name of its stage" },
    { OPTIONAL("stage_index", DECIDE_COUNT), INTO(decide_worker, stage), .most = MOST_COUNT,
      .help = "place of its stage; goes before the name, one of the two is needed ..." },
    { OPTIONAL("workload", DECIDE_COUNT), INTO(decide_worker, workload), .most = MOST_COUNT,
      .help = "... or it is a rank of a job: place of its workload ..." },
    { OPTIONAL("job", DECIDE_WHOLE), INTO(decide_worker, job), .most = MOST_ID,
      .help = "... and number of the job there" },
    { REQUIRED("node", DECIDE_ID), .help = "id of its node" },
    { OPTIONAL("cpus", DECIDE_UNITS), INTO(decide_worker, cpu_units), .unit = "CPU",
      .help = "it holds" },
    { OPTIONAL("ram_bytes", DECIDE_WHOLE), INTO(decide_worker, ram_bytes), .unit = "B",
      .most = MOST_BYTES, .help = "it holds" },
    { OPTIONAL("state", DECIDE_COUNT), INTO(decide_worker, state), .most = WEIR_WORKER_STOPPING,
      .help = "0 starting, 1 ready, 2 stopping" },
    { TIME("since_ns", decide_worker, since_ns), .help = "when it entered the state" },
    { OPTIONAL("gpus", DECIDE_LIST), .of = &share_keys, .help = "compute it holds" },
    { OPTIONAL("nvdecs", DECIDE_LIST), .of = &engine_keys, .help = "decoders it holds" },
    { OPTIONAL("nvencs", DECIDE_LIST), .of = &engine_keys, .help = "encoders it holds" },
};
const struct decide_keys decide_worker_keys = TABLE(worker, "worker");

static const struct decide_key workload[] = {
    { REQUIRED("name", DECIDE_TEXT), INTO(decide_workload, name),
      .help = "names the random choices for its jobs" },
    { OPTIONAL("queue_limit", DECIDE_WHOLE), INTO(decide_workload, queue_limit), .most = 0x1p62,
      .help = "jobs that may wait; without it all" },
};
const struct decide_keys decide_workload_keys = TABLE(workload, "workload");

static const struct decide_key group[] = {
    { REQUIRED("ranks", DECIDE_COUNT), INTO(weir_rank_group, ranks), .most = WEIR_MAX_RANKS,
      .help = "that start together" },
    { OPTIONAL("ranks_min", DECIDE_COUNT), INTO(weir_rank_group, ranks_min), .most = WEIR_MAX_RANKS,
      .help = "the job runs with any number from here ... (ranks)" },
    { OPTIONAL("ranks_max", DECIDE_COUNT), INTO(weir_rank_group, ranks_max), .most = WEIR_MAX_RANKS,
      .help = "... to here (ranks)" },
    { REQUIRED("shape", DECIDE_OBJECT), .of = &decide_shape_keys, .help = "what one rank takes" },
    { LIST_OF("soft_labels", DECIDE_COUNT), .most = WEIR_LABELS_MOST - 1,
      .help = "labels it asks for only while a node that is up and has them could hold it" },
};
const struct decide_keys decide_group_keys = TABLE(group, "rank group");

#define QUOTA(key, says)                                                                           \
    {                                                                                              \
        LIST_OF(key, DECIDE_WHOLE), .least = -1, .most = 0x1p60, .help = says                      \
    }

static const struct decide_key tenant[] = {
    { REQUIRED("name", DECIDE_TEXT), INTO(decide_tenant, spec.name),
      .help = "of the first, the root of all, empty" },
    { OPTIONAL("parent", DECIDE_COUNT), INTO(decide_tenant, spec.parent), .most = MOST_COUNT,
      .help = "place of its parent; 0 = the root" },
    { OPTIONAL("weight", DECIDE_NUMBER), INTO(decide_tenant, spec.weight),
      .help = "beside its siblings (1)" },
    { OPTIONAL("tickets", DECIDE_NUMBER), INTO(decide_tenant, spec.tickets),
      .help = "of draws and turns (its weight)" },
    QUOTA("guarantee", "GPUs and CPUs in units of 1/40960000, memory in bytes"),
    QUOTA("hard", "it never has more; the same, -1 = no limit"),
    QUOTA("soft", "beyond it after all others; the same"),
    QUOTA("borrow", "above the guarantee; the same"),
    QUOTA("lend", "of the guarantee, to others; the same"),
    { OPTIONAL("gpu_pool_bytes", DECIDE_WHOLE), INTO(decide_tenant, spec.gpu_pool_bytes),
      .unit = "B", .most = MOST_BYTES, .help = "of the memory of every GPU, kept for its jobs" },
    { OPTIONAL("priority", DECIDE_WHOLE), INTO(decide_tenant, priority), .least = -1e6, .most = 1e6,
      .help = "its band beside its siblings" },
    { OPTIONAL("device_s", DECIDE_NUMBER), INTO(decide_tenant, device_s),
      .help = "past use up to since_ns" },
    { TIME("since_ns", decide_tenant, since_ns), .help = "when past use was counted last" },
};
const struct decide_keys decide_tenant_keys = TABLE(tenant, "tenant");

static const struct decide_key licence[] = {
    { REQUIRED("name", DECIDE_TEXT), INTO(weir_licence_spec, name), .help = "once" },
    { REQUIRED("limit", DECIDE_COUNT), INTO(weir_licence_spec, limit), .most = MOST_COUNT,
      .help = "how many there are" },
    { OPTIONAL("priority_threshold", DECIDE_WHOLE), .least = INT32_MIN, .most = INT32_MAX,
      .help = "only jobs of at least this priority take any (none)" },
};
const struct decide_keys decide_licence_keys = TABLE(licence, "licence");

static const struct decide_key reservation[] = {
    { REQUIRED("name", DECIDE_TEXT), INTO(weir_reservation_spec, name), .help = "once" },
    { OPTIONAL("tenant", DECIDE_COUNT), INTO(weir_reservation_spec, tenant), .most = MOST_COUNT,
      .help = "whose jobs may use it: place in `tenants`; 0 = of jobs that name it" },
    { TIME("start_ns", weir_reservation_spec, start_ns), .help = "begins" },
    { TIME("end_ns", weir_reservation_spec, end_ns), .help = "ends" },
    { OPTIONAL("nodes", DECIDE_COUNT), INTO(weir_reservation_spec, nodes), .most = MOST_COUNT,
      .help = "so many nodes, or" },
    { OPTIONAL("gpus", DECIDE_COUNT), INTO(weir_reservation_spec, gpus), .most = MOST_COUNT,
      .help = "as many nodes as have so many GPUs" },
    { OPTIONAL("gpu_types", DECIDE_COUNT), INTO(weir_reservation_spec, gpu_type),
      .most = 0xffffffff, .help = "with GPUs of these types alone, as in a shape (0 = any node)" },
    { LIST_OF("held", DECIDE_COUNT), .most = MOST_COUNT,
      .help = "nodes that it has: places in `nodes`" },
};
const struct decide_keys decide_reservation_keys = TABLE(reservation, "reservation");

static const struct decide_key kind[] = {
    { OPTIONAL("strategy", DECIDE_CHOICE), INTO(weir_kind_past, strategy),
      .choices = "any|pack|spread|strict_pack|strict_spread",
      .help = "of a placement group; any = any places, all or none" },
    { OPTIONAL("settled", DECIDE_FLAG), INTO(weir_kind_past, is_settled),
      .help = "such a job found no place, and nothing was given back since" },
    { OPTIONAL("denied", DECIDE_COUNT), INTO(weir_kind_past, denied), .most = WEIR_REASON_COUNT - 1,
      .help = "the reason a plan gave since then, a number of weir/plan.h; it is not given again" },
    { OPTIONAL("tenant", DECIDE_COUNT), INTO(weir_kind_past, tenant), .most = MOST_COUNT,
      .help = "whose: place in `tenants`; 0 = nobody's" },
    { OPTIONAL("reservation", DECIDE_COUNT), INTO(weir_kind_past, reservation), .most = MOST_COUNT,
      .help = "that its jobs name: place in `reservations` + 1" },
    { LIST_OF("licences", DECIDE_COUNT), .most = MOST_COUNT,
      .help = "how many of each its jobs take, by place in `licences`" },
    { OPTIONAL("barred", DECIDE_FLAG), INTO(weir_kind_past, is_barred),
      .help = "the priority of its jobs is below the threshold of one" },
    { REQUIRED("groups", DECIDE_LIST), .of = &decide_group_keys,
      .help = "ranks are numbered over them in this order" },
};
const struct decide_keys decide_kind_keys = TABLE(kind, "kind of jobs");

static const struct decide_key job[] = {
    { REQUIRED("workload", DECIDE_COUNT), INTO(decide_job, spec.workload), .most = MOST_COUNT,
      .help = "place of its workload" },
    { REQUIRED("id", DECIDE_WHOLE), INTO(decide_job, id), .most = MOST_ID,
      .help = "number, once in the workload" },
    { REQUIRED("kind", DECIDE_COUNT), INTO(decide_job, kind), .most = MOST_COUNT,
      .help = "what it asks for: place in `job_kinds`" },
    { OPTIONAL("state", DECIDE_CHOICE), INTO(decide_job, past.state),
      .choices = "waiting|starting|running", .help = "default waiting" },
    { TIME("submit_ns", decide_job, spec.submit_ns), .help = "came for the first time" },
    { TIME("queued_ns", decide_job, spec.queued_ns), .help = "waits since, this time (submit_ns)" },
    { TIME("start_ns", decide_job, past.start_ns), .help = "began to start or run" },
    { TIME("estimate_ns", decide_job, spec.estimate_ns),
      .help = "run time, by its user; not known without it" },
    { TIME("deadline_ns", decide_job, spec.deadline_ns), .help = "is to be over" },
    { TIME("attained_ns", decide_job, spec.attained_ns), .help = "has run so far, times its GPUs" },
    { TIME("done_ns", decide_job, spec.done_ns), .help = "of its estimate, and kept" },
    { TIME("restart_cost_ns", decide_job, spec.restart_cost_ns),
      .help = "to start again from its last checkpoint" },
    { OPTIONAL("step_s", DECIDE_NUMBER), INTO(decide_job, spec.step_s), .most = 1e9,
      .help = "what one step of its estimate takes; none without" },
    { OPTIONAL("exchange", DECIDE_NUMBER), INTO(decide_job, spec.exchange), .most = 1,
      .help = "part of a step in which its ranks exchange over links of GPUs" },
    { OPTIONAL("bandwidth", DECIDE_NUMBER), INTO(decide_job, spec.traffic.bandwidth),
      .help = "of the memory of each GPU, as a part of what it has" },
    { OPTIONAL("bound", DECIDE_NUMBER), INTO(decide_job, spec.traffic.bound), .most = 1,
      .help = "part of its time that waits for it" },
    { OPTIONAL("tenant", DECIDE_COUNT), INTO(decide_job, spec.tenant), .most = MOST_COUNT,
      .help = "place in `tenants`" },
    { OPTIONAL("user", DECIDE_COUNT), INTO(decide_job, spec.user), .most = MOST_COUNT,
      .help = "number" },
    { OPTIONAL("priority", DECIDE_WHOLE), INTO(decide_job, priority), .least = INT32_MIN,
      .most = INT32_MAX, .help = "larger is more urgent" },
    { OPTIONAL("attempts", DECIDE_COUNT), INTO(decide_job, spec.attempts), .most = MOST_COUNT,
      .help = "starts so far" },
    { OPTIONAL("reservation", DECIDE_COUNT), INTO(decide_job, spec.reservation), .most = MOST_COUNT,
      .help = "it may use, counted from 1; 0 = none" },
    { OPTIONAL("round_share", DECIDE_NUMBER), INTO(decide_job, spec.round_share),
      .help = "of the present round" },
    { LIST_OF("throughput", DECIDE_NUMBER),
      .help = "steps per second on each GPU type, relative to the first" },
    { OPTIONAL("speedup_law", DECIDE_CHOICE), INTO(decide_job, speedup.law),
      .choices = "amdahl|table|step|goodput", .help = "of its speed by ranks; default amdahl" },
    { OPTIONAL("speedup_least", DECIDE_COUNT), INTO(decide_job, speedup.least),
      .most = WEIR_MAX_RANKS, .help = "ranks that it may start with, at least" },
    { OPTIONAL("speedup_most", DECIDE_COUNT), INTO(decide_job, speedup.most),
      .most = WEIR_MAX_RANKS, .help = "and at most" },
    { OPTIONAL("speedup_usual", DECIDE_COUNT), INTO(decide_job, speedup.usual),
      .most = WEIR_MAX_RANKS, .help = "ranks that its estimate is of" },
    { LIST_OF("speedup", DECIDE_NUMBER), .help = "numbers of the law (`weir/speedup.h`)" },
    { OPTIONAL("started", DECIDE_COUNT), INTO(decide_job, past.started), .most = WEIR_MAX_RANKS,
      .help = "ranks that hold places" },
    { OPTIONAL("preempted", DECIDE_FLAG), INTO(decide_job, past.is_preempted),
      .help = "a plan stops it" },
    { OPTIONAL("seed", DECIDE_WORD), INTO(decide_job, spec.seed),
      .help = "of its random choices; 0 = named by workload, id, attempts" },
};
const struct decide_keys decide_job_keys = TABLE(job, "job");

static const struct decide_key new_job[] = {
    { REQUIRED("workload", DECIDE_COUNT), INTO(decide_job, spec.workload), .most = MOST_COUNT,
      .help = "place of its workload" },
    { REQUIRED("id", DECIDE_WHOLE), INTO(decide_job, id), .most = MOST_ID,
      .help = "number, once in the workload" },
};
const struct decide_keys decide_new_job_keys = TABLE(new_job, "new job");

static const struct decide_key expected[] = {
    { REQUIRED("frequency", DECIDE_NUMBER), .help = "how often it comes; all together 1" },
    { REQUIRED("shape", DECIDE_OBJECT), .of = &decide_shape_keys, .help = "what it asks for" },
};
static const struct decide_keys expected_keys = TABLE(expected, "expected work");

static const struct decide_key cut[] = {
    { REQUIRED("node", DECIDE_ID), .help = "id of its node" },
    { REQUIRED("gpu", DECIDE_COUNT), INTO(decide_cut, gpu), .most = WEIR_MAX_NODE_GPUS - 1,
      .help = "place on the node" },
    { OPTIONAL("cut", DECIDE_LIST), .of = &decide_instance_keys,
      .help = "instances it is to have" },
    { TIME("since_ns", decide_cut, since_ns),
      .help = "it is away since; without it it is to be drained first" },
    { OPTIONAL("over", DECIDE_FLAG), INTO(decide_cut, is_over),
      .help = "true: it was cut at that time, and is not cut again at the same" },
};
const struct decide_keys decide_cut_keys = TABLE(cut, "cut");

static const struct decide_key offer[] = {
    { REQUIRED("type", DECIDE_COUNT), INTO(decide_offer, offer.type), .most = MOST_COUNT - 1,
      .help = "node type that may be asked for" },
    { OPTIONAL("min", DECIDE_COUNT), INTO(decide_offer, offer.min), .most = MOST_COUNT,
      .help = "nodes that are kept" },
    { REQUIRED("max", DECIDE_COUNT), INTO(decide_offer, offer.max), .most = MOST_COUNT,
      .help = "nodes there may be" },
    { OPTIONAL("up", DECIDE_COUNT), INTO(decide_offer, offer.up), .most = MOST_COUNT,
      .help = "that are there" },
    { OPTIONAL("coming", DECIDE_COUNT), INTO(decide_offer, offer.coming), .most = MOST_COUNT,
      .help = "that were asked for" },
    { OPTIONAL("cpus", DECIDE_UNITS), INTO(decide_offer, offer.holds.cpu_units), .unit = "CPU",
      .help = "of one node" },
    { OPTIONAL("gpus", DECIDE_UNITS), INTO(decide_offer, offer.holds.gpu_units), .unit = "GPU",
      .help = "of one node" },
    { OPTIONAL("ram_bytes", DECIDE_WHOLE), INTO(decide_offer, offer.holds.ram_bytes), .unit = "B",
      .most = MOST_BYTES, .help = "of one node" },
    { OPTIONAL("boot_ns", DECIDE_WHOLE), INTO(decide_offer, offer.boot_ns), .unit = "ns",
      .most = MOST_BYTES, .help = "from a request until the node is there, on average" },
    { OPTIONAL("price", DECIDE_NUMBER), INTO(decide_offer, offer.price),
      .help = "of a node for an hour" },
};
const struct decide_keys decide_offer_keys = TABLE(offer, "offer");

static const struct decide_key policy[] = {
    { REQUIRED("placement", DECIDE_TEXT), .help = "name of the placement policy" },
    { OPTIONAL("placement_params", DECIDE_PARAMS), .help = "its parameters by name" },
    { LIST_OF("placement_memory", DECIDE_NUMBER), .least = -DBL_MAX, .help = "what it remembered" },
    { REQUIRED("scaling", DECIDE_TEXT), .help = "name of the scaling policy" },
    { OPTIONAL("scaling_params", DECIDE_PARAMS), .help = "its parameters by name" },
    { LIST_OF("scaling_memory", DECIDE_NUMBER), .least = -DBL_MAX, .help = "what it remembered" },
    { OPTIONAL("queueing", DECIDE_TEXT), .help = "name of the queueing policy (first_fit)" },
    { OPTIONAL("queueing_params", DECIDE_PARAMS), .help = "its parameters by name" },
    { LIST_OF("queueing_memory", DECIDE_NUMBER), .least = -DBL_MAX, .help = "what it remembered" },
    { OPTIONAL("capacity", DECIDE_TEXT), .help = "name of the capacity policy (none)" },
    { OPTIONAL("capacity_params", DECIDE_PARAMS), .help = "its parameters by name" },
    { LIST_OF("capacity_memory", DECIDE_NUMBER), .least = -DBL_MAX, .help = "what it remembered" },
    { OPTIONAL("fallback", DECIDE_TEXT),
      .help = "scaling policy that decides when a plan is rejected" },
    { LIST_OF("fallback_memory", DECIDE_NUMBER), .least = -DBL_MAX, .help = "what it remembered" },
    { OPTIONAL("group_scorer", DECIDE_CHOICE), INTO(decide_policy_rest, group_scorer),
      .choices = "ray|placement", .help = "who says where bundles of placement groups go" },
    { OPTIONAL("group_report", DECIDE_CHOICE), INTO(decide_policy_rest, group_report),
      .choices = "all|strict", .help = "when groups that can never fit are told apart" },
    { OPTIONAL("group_devices", DECIDE_CHOICE), INTO(decide_policy_rest, group_devices),
      .choices = "bundle|group", .help = "whose the GPUs of placement groups are" },
    { OPTIONAL("cut_min_gain", DECIDE_COUNT), INTO(decide_policy_rest, cut_min_gain),
      .most = MOST_COUNT, .help = "slices that cutting a GPU anew must win; 0 = none is cut" },
    { OPTIONAL("hold_mode", DECIDE_CHOICE), INTO(decide_policy_rest, hold_mode),
      .choices = "none|reserve|members", .help = "what gangs hold while they wait" },
    { OPTIONAL("infeasible", DECIDE_CHOICE), INTO(decide_policy_rest, infeasible),
      .choices = "refuse|wait", .help = "what becomes of jobs that no nodes there are hold" },
    { OPTIONAL("explain", DECIDE_CHOICE), INTO(decide_policy_rest, explain), .choices = "full|off",
      .help = "off: reasons of denied jobs are coarse, and there is no trace" },
};
const struct decide_keys decide_policy_keys = TABLE(policy, "policy");

static const struct decide_key wake[] = {
    { REQUIRED("at_ns", DECIDE_WHOLE), INTO(decide_wake, at_ns), .unit = "ns", ANY_TIME,
      .help = "time of the call" },
    { LIST_OF("causes", DECIDE_CHOICE), .choices = "timer|wake|jobs|nodes|workers|capacity",
      .help = "why it is asked for (wake)" },
};
const struct decide_keys decide_wake_keys = TABLE(wake, "wake");

static const struct decide_key document[] = {
    { REQUIRED("format", DECIDE_TEXT), .help = "`weir-decision`" },
    { REQUIRED("version", DECIDE_COUNT), .most = MOST_COUNT, .help = "3" },
    { REQUIRED("command", DECIDE_TEXT), .help = "`autoscale`" },
    { TIME("time_ns", decide_document, time_ns), .help = "time of the decision (default 0)" },
    { LIST_OF("causes", DECIDE_CHOICE), .choices = "timer|wake|jobs|nodes|workers|capacity",
      .help = "why it is asked for (timer)" },
    { OPTIONAL("max_actions", DECIDE_COUNT), INTO(decide_document, max_actions), .most = MOST_COUNT,
      .help = "cap on the actions of the plan; 0 = none" },
    { TIME("time_left_ns", decide_document, time_left_ns),
      .help = "wall clock time for the decision; without it no deadline" },
    { OPTIONAL("seed", DECIDE_WORD), INTO(decide_document, seed),
      .help = "for policies that draw" },
    { OPTIONAL("decision", DECIDE_WORD), INTO(decide_document, decision),
      .help = "decisions before this one" },
    { TIME("last_ns", decide_document, last_ns), .help = "time of the one before" },
    { OPTIONAL("next_worker", DECIDE_WORD), INTO(decide_document, next_worker),
      .help = "number of the first new worker; ids of nodes and workers are then numbers. "
              "Without it new workers are n0, n1, ..." },
    { OPTIONAL("surprises", DECIDE_WORD), INTO(decide_document, surprises),
      .help = "how often jobs and capacity came or went otherwise than was expected" },
    { OPTIONAL("workers_begun", DECIDE_WORD), INTO(decide_document, workers_begun),
      .help = "workers that ever started; without it those that are there" },
    { OPTIONAL("workers_ended", DECIDE_WORD), INTO(decide_document, workers_ended),
      .help = "workers that ever ended" },
    { OPTIONAL("may_start_jobs", DECIDE_FLAG), INTO(decide_document, may_start_jobs),
      .help = "a job may start that could not before (default true)" },
    { OPTIONAL("none_refused", DECIDE_FLAG), INTO(decide_document, none_refused),
      .help = "no start of a job that is settled was refused by the controller" },
    { OPTIONAL("wakes", DECIDE_LIST), .of = &decide_wake_keys,
      .help = "calls that are needed and that no plan has asked for yet" },
    { OPTIONAL("mig_tables", DECIDE_LIST), .of = &decide_table_keys,
      .help = "how GPUs may be cut" },
    { REQUIRED("nodes", DECIDE_LIST), .of = &decide_node_keys, .help = "the cluster" },
    { OPTIONAL("offers", DECIDE_LIST), .of = &decide_offer_keys,
      .help = "nodes that may be asked for" },
    { REQUIRED("stages", DECIDE_LIST), .of = &decide_stage_keys,
      .help = "in order of the pipelines" },
    { LIST_OF("slots", DECIDE_COUNT), .most = MOST_COUNT,
      .help = "tasks a worker may hold, one count a stage (2)" },
    { OPTIONAL("estimates", DECIDE_LIST), .of = &decide_estimate_keys,
      .help = "measured, one a stage" },
    { OPTIONAL("workers", DECIDE_LIST), .of = &decide_worker_keys, .help = "those that live" },
    { TIME("half_life_ns", decide_document, half_life_ns),
      .help = "past use of tenants counts half after it (0 = in full)" },
    { TIME("usage_period_ns", decide_document, usage_period_ns),
      .help = "it fades at whole ones, as Slurm has it (0 = all the time)" },
    { OPTIONAL("usage_rule", DECIDE_CHOICE), INTO(decide_document, usage_rule),
      .choices = "sum|average",
      .help =
          "what it counts: device-seconds, or devices, a sample at every whole usage_period_ns" },
    { OPTIONAL("tenants", DECIDE_LIST), .of = &decide_tenant_keys,
      .help = "whose jobs they are, parents first; the first is the root of all" },
    { OPTIONAL("licences", DECIDE_LIST), .of = &decide_licence_keys,
      .help = "things of which the whole cluster has so many" },
    { OPTIONAL("reservations", DECIDE_LIST), .of = &decide_reservation_keys,
      .help = "nodes that are somebody's for a time" },
    { OPTIONAL("workloads", DECIDE_LIST), .of = &decide_workload_keys, .help = "sources of jobs" },
    { OPTIONAL("job_kinds", DECIDE_LIST), .of = &decide_kind_keys,
      .help = "what jobs ask for, in the order in which it was known" },
    { OPTIONAL("jobs", DECIDE_LIST), .of = &decide_job_keys,
      .help = "those that wait, start or run" },
    { OPTIONAL("new_jobs", DECIDE_LIST), .of = &decide_new_job_keys,
      .help = "of these the ones that the plan may turn away, as they came" },
    { OPTIONAL("mix", DECIDE_LIST), .of = &expected_keys, .help = "jobs that are expected" },
    { OPTIONAL("cuts", DECIDE_LIST), .of = &decide_cut_keys, .help = "GPUs that are to be cut" },
    { REQUIRED("policy", DECIDE_OBJECT), .of = &decide_policy_keys, .help = "who decides" },
};
const struct decide_keys decide_document_keys = TABLE(document, "document");

/* ---- what happened since ---- */

static const struct decide_key outcome[] = {
    { REQUIRED("id", DECIDE_ID), .help = "of a worker, as the plan or the document has it" },
    { REQUIRED("outcome", DECIDE_CHOICE), INTO(decide_change, outcome),
      .choices = "started|refused|stopped|lost|ready",
      .help = "started: it holds its place; refused: there was no room; ready: it is set up" },
};
const struct decide_keys decide_outcome_keys = TABLE(outcome, "outcome");

static const struct decide_key changed_node[] = {
    { REQUIRED("id", DECIDE_ID), .help = "of a node that is known" },
    { OPTIONAL("up", DECIDE_FLAG), .help = "false: it and its workers are lost" },
    { OPTIONAL("cordoned", DECIDE_FLAG), .help = "true: it takes nothing new" },
    { OPTIONAL("removed", DECIDE_FLAG), .help = "true: it is gone for good" },
};
static const struct decide_keys changed_node_keys = TABLE(changed_node, "changed node");

static const struct decide_key changed_stage[] = {
    { REQUIRED("stage_index", DECIDE_COUNT), INTO(decide_change, stage), .most = MOST_COUNT,
      .help = "place of the stage" },
    { OPTIONAL("ready", DECIDE_COUNT), INTO(decide_change, update.ready), .most = MOST_COUNT,
      .help = "workers that are set up; here as below: as before without the key" },
    { OPTIONAL("busy", DECIDE_COUNT), INTO(decide_change, update.busy), .most = MOST_COUNT,
      .help = "workers with a task; as before" },
    { OPTIONAL("queued_items", DECIDE_WORD), INTO(decide_change, update.queued_items),
      .help = "items in front of it; as before" },
    { OPTIONAL("slots", DECIDE_COUNT), INTO(decide_change, update.slots), .most = MOST_COUNT,
      .help = "tasks a worker may hold; as before" },
    { OPTIONAL("finished", DECIDE_FLAG), INTO(decide_change, update.finished),
      .help = "no more input will come; as before" },
    { OPTIONAL("requested_workers", DECIDE_WHOLE), INTO(decide_change, requested_workers),
      .least = -1, .most = INT32_MAX, .help = "-1 = the policy decides; as before" },
};
const struct decide_keys decide_changed_stage_keys = TABLE(changed_stage, "changed stage");

static const struct decide_key change[] = {
    { REQUIRED("format", DECIDE_TEXT), .help = "`weir-decision`" },
    { REQUIRED("version", DECIDE_COUNT), .most = MOST_COUNT, .help = "3" },
    { REQUIRED("command", DECIDE_TEXT), .help = "`next`" },
    { TIME("time_ns", decide_document, time_ns), .help = "of the decision; never before the last" },
    { LIST_OF("causes", DECIDE_CHOICE), .choices = "timer|wake|jobs|nodes|workers|capacity",
      .help = "why it is asked for (timer)" },
    { OPTIONAL("max_actions", DECIDE_COUNT), INTO(decide_document, max_actions), .most = MOST_COUNT,
      .help = "cap on the actions of the plan; 0 = none" },
    { TIME("time_left_ns", decide_document, time_left_ns),
      .help = "wall clock time for the decision; without it no deadline" },
    { OPTIONAL("carried_out", DECIDE_FLAG),
      .help = "true: every start and stop of the plan before has happened" },
    { OPTIONAL("outcomes", DECIDE_LIST), .of = &decide_outcome_keys, .help = "of workers" },
    { OPTIONAL("ended", DECIDE_LIST), .of = &decide_new_job_keys,
      .help = "jobs that are over, once their workers are gone" },
    { OPTIONAL("withdrawn", DECIDE_LIST), .of = &decide_new_job_keys,
      .help = "jobs that wait no more" },
    { OPTIONAL("new_nodes", DECIDE_LIST), .of = &decide_node_keys, .help = "that came" },
    { OPTIONAL("changed_nodes", DECIDE_LIST), .of = &changed_node_keys,
      .help = "that are lost, back, cordoned or gone" },
    { OPTIONAL("offers", DECIDE_LIST), .of = &decide_offer_keys,
      .help = "of the types whose counts changed" },
    { OPTIONAL("changed_stages", DECIDE_LIST), .of = &decide_changed_stage_keys,
      .help = "their queues and workers" },
    { OPTIONAL("estimates", DECIDE_LIST), .of = &decide_estimate_keys,
      .help = "measured anew, one a stage" },
    { OPTIONAL("job_kinds", DECIDE_LIST), .of = &decide_kind_keys,
      .help = "more of them, behind those there are" },
    { OPTIONAL("submitted", DECIDE_LIST), .of = &decide_job_keys,
      .help = "jobs that came; `submit_ns` is the time of the document where it is left out" },
};
const struct decide_keys decide_change_keys = TABLE(change, "change");

const struct decide_keys *const decide_formats[] = {
    &decide_document_keys, &decide_node_keys,
    &decide_gpu_keys,      &decide_table_keys,
    &decide_profile_keys,  &decide_instance_keys,
    &decide_stage_keys,    &decide_shape_keys,
    &decide_estimate_keys, &decide_worker_keys,
    &share_keys,           &engine_keys,
    &decide_workload_keys, &decide_kind_keys,
    &decide_group_keys,    &decide_job_keys,
    &decide_new_job_keys,  &expected_keys,
    &decide_cut_keys,      &decide_policy_keys,
    &decide_tenant_keys,   &decide_reservation_keys,
    &decide_change_keys,   &decide_outcome_keys,
    &changed_node_keys,    &decide_changed_stage_keys,
    &decide_offer_keys,    &decide_licence_keys,
    &decide_wake_keys,
};
const size_t decide_formats_count = sizeof decide_formats / sizeof decide_formats[0];
