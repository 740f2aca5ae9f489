/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of hardware, innermost mappings first. The order of fields is the canonical
 * order of keys and the order of the documentation.
 */
#include "sim/scenario/catalog_cpus.h"
#include "sim/scenario/schema_parts.h"

static const struct sim_field quantum_fields[] = {
    { .key = "step",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_quantum, step),
      .initial = "exact",
      .choices = "exact|xenna|ray|kubernetes",
      .help = "grid that CPU and GPU requests are rounded to: xenna 1/65536, ray 1/10000, "
              "kubernetes 1/1000, exact 1/40960000" },
    { .key = "round",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_quantum, round),
      .initial = "nearest",
      .choices = "nearest|floor",
      .help = "how a request is rounded to the grid" },
};
const struct sim_section sim_schema_quantum = { .name = "resource_quantum",
                                                .help = "How requests become amounts.",
                                                .fields = quantum_fields,
                                                .count = LENGTH(quantum_fields),
                                                .size = sizeof(struct draft_quantum),
                                                .scalar_key = "step" };

#define SHOWS_POWER "power is measured, and slows nothing"

static const struct sim_field gpu_type_fields[] = {
    { .key = "memory",
      .kind = SIM_FIELD_BYTES,
      .unit = SIM_UNIT_BYTES,
      AT(draft_gpu_type, mem_bytes),
      .fallback = "built-in value, else 0",
      .max = LARGEST_BYTES,
      .help = "memory of one GPU" },
    { .key = "nvdec",
      .kind = SIM_FIELD_COUNT,
      AT(draft_gpu_type, nvdecs),
      .fallback = "built-in value, else 0",
      .max = WEIR_MAX_ENGINES,
      .help = "video decoders of one GPU" },
    { .key = "nvenc",
      .kind = SIM_FIELD_COUNT,
      AT(draft_gpu_type, nvencs),
      .fallback = "built-in value, else 0",
      .max = WEIR_MAX_ENGINES,
      .help = "video encoders of one GPU" },
    { .key = "idle",
      .shows = SHOWS_POWER,
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_POWER,
      AT(draft_gpu_type, idle_w),
      .fallback = "built-in value, else 0 W",
      .max = 1e6,
      .help = "power drawn when nothing runs" },
    { .key = "limit",
      .shows = SHOWS_POWER,
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_POWER,
      AT(draft_gpu_type, limit_w),
      .fallback = "built-in value, else 0 W",
      .max = 1e6,
      .help = "power drawn at full load" },
    { .key = "speed",
      .acts = SIM_ACTS_TIMED,
      .kind = SIM_FIELD_NUMBER,
      AT(draft_gpu_type, speed),
      .fallback = "1",
      .min = 1e-6,
      .max = 1e6,
      .help = "speed relative to the GPU the service times were taken on" },
    { .key = "mig",
      .kind = SIM_FIELD_TEXT,
      AT(draft_gpu_type, mig),
      .fallback = "that of the built-in type of this name, else none",
      .help = "table of MIG profiles: a100-40, a100-80, h100, h200, b200, a30, or none" },
};
static const struct sim_section gpu_type_section = { .name = "catalog.gpu_types.NAME",
                                                     .help = "A GPU type. Built-in types may be "
                                                             "changed key by key.",
                                                     .fields = gpu_type_fields,
                                                     .count = LENGTH(gpu_type_fields),
                                                     .size = sizeof(struct draft_gpu_type),
                                                     .has_sources = true };
static const struct sim_section gpu_truth_section = {
    .name = "truth.gpu_types.NAME",
    .help = "What a GPU type really has, where it differs from what the scheduler is told.",
    .fields = gpu_type_fields,
    .count = LENGTH(gpu_type_fields),
    .size = sizeof(struct draft_gpu_type),
    .has_sources = true
};

static const struct sim_field gpu_count_fields[] = {
    { .key = "count",
      .kind = SIM_FIELD_COUNT,
      .flags = SIM_FIELD_REQUIRED,
      AT(draft_gpu_count, count),
      .min = 1,
      .max = WEIR_MAX_NODE_GPUS,
      .help = "GPUs of this type in one node" },
};
static const struct sim_section gpu_count_section = { .name = "gpus.TYPE",
                                                      .help = "How many GPUs of a type.",
                                                      .fields = gpu_count_fields,
                                                      .count = LENGTH(gpu_count_fields),
                                                      .size = sizeof(struct draft_gpu_count),
                                                      .scalar_key = "count" };

#define NODE_HARDWARE(type)                                                                        \
    { .key = "cpus",                                                                               \
      .kind = SIM_FIELD_NUMBER,                                                                    \
      AT(type, cpus),                                                                              \
      .max = LARGEST_COUNT,                                                                        \
      .help = "CPUs of one node" },                                                                \
        { .key = "ram",                                                                            \
          .kind = SIM_FIELD_BYTES,                                                                 \
          .unit = SIM_UNIT_BYTES,                                                                  \
          AT(type, ram_bytes),                                                                     \
          .fallback = "0: stages must not ask for any",                                            \
          .max = LARGEST_BYTES,                                                                    \
          .help = "memory of one node" },                                                          \
    {                                                                                              \
        .key = "gpus", .kind = SIM_FIELD_NAMED, AT(type, gpus), .section = &gpu_count_section,     \
        .help = "GPUs of one node by type: {h100: 8}"                                              \
    }

static const struct sim_field node_type_fields[] = { NODE_HARDWARE(draft_node_type) };
static const struct sim_section node_type_section = { .name = "catalog.node_types.NAME",
                                                      .help = "A node type.",
                                                      .fields = node_type_fields,
                                                      .count = LENGTH(node_type_fields),
                                                      .size = sizeof(struct draft_node_type),
                                                      .has_sources = true };

static const struct sim_field catalog_fields[] = {
    { .key = "gpu_types",
      .kind = SIM_FIELD_NAMED,
      AT(draft_catalog, gpu_types),
      .section = &gpu_type_section,
      .help = "GPU types by name, beside the built-in ones" },
    { .key = "node_types",
      .kind = SIM_FIELD_NAMED,
      AT(draft_catalog, node_types),
      .section = &node_type_section,
      .help = "node types by name" },
    { .key = "models",
      .acts = SIM_ACTS_PIPELINES,
      .kind = SIM_FIELD_NAMED,
      AT(draft_catalog, models),
      .section = &sim_schema_model,
      .help = "models by name: what a stage with `model` does not say itself" },
};
const struct sim_section sim_schema_catalog = {
    .name = "catalog",
    .help = "Hardware as the scheduler is told, and models that stages run.",
    .fields = catalog_fields,
    .count = LENGTH(catalog_fields),
    .size = sizeof(struct draft_catalog)
};

static const struct sim_field truth_fields[] = {
    { .key = "gpu_types",
      .kind = SIM_FIELD_NAMED,
      AT(draft_truth, gpu_types),
      .section = &gpu_truth_section,
      .help = "GPU types whose reality differs from the catalogue" },
};
const struct sim_section sim_schema_truth = { .name = "truth",
                                              .help = "Hardware as it is, where that differs "
                                                      "from the catalogue.",
                                              .fields = truth_fields,
                                              .count = LENGTH(truth_fields),
                                              .size = sizeof(struct draft_truth) };

static const struct sim_field instance_fields[] = {
    { .key = "profile",
      .kind = SIM_FIELD_TEXT,
      .flags = SIM_FIELD_REQUIRED,
      AT(draft_instance, profile),
      .help = "profile of one instance: 1g.10gb, 1g, or 1/7" },
};
static const struct sim_section instance_section = { .name = "partition[]",
                                                     .help = "One MIG instance of each GPU.",
                                                     .fields = instance_fields,
                                                     .count = LENGTH(instance_fields),
                                                     .size = sizeof(struct draft_instance),
                                                     .scalar_key = "profile" };

static const struct sim_field timeslice_fields[] = {
    { .key = "quantum",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_timeslice, quantum_ns),
      .fallback = "100 ms",
      .min = 1e-6,
      .max = 3600,
      .help = "time one worker has the GPU before the next one gets it" },
    { .key = "switch",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_timeslice, switch_ns),
      .fallback = "1 ms",
      .max = 3600,
      .help = "time a switch takes when nothing is resident" },
    { .key = "switch_memory",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_timeslice, switch_memory_ns),
      .fallback = "9 ms",
      .max = 3600,
      .help = "time a switch takes more when all of the GPU's memory is resident" },
};
static const struct sim_section timeslice_section = {
    .name = "cluster.nodes[].timeslice",
    .help = "Turns on a GPU (share: timeslice). A switch costs switch + switch_memory x share of "
            "the memory that is resident.",
    .fields = timeslice_fields,
    .count = LENGTH(timeslice_fields),
    .size = sizeof(struct draft_timeslice),
    .has_sources = true
};

/* enum sim_sharing */
#define SHARE_CHOICES "fraction|mig|timeslice|exclusive"

static const struct sim_field node_group_fields[] = {
    { .key = "name",
      .kind = SIM_FIELD_TEXT,
      AT(draft_node_group, head.name),
      .fallback = "the name of the type",
      .help = "nodes are called NAME-0, NAME-1 ...; NAME alone when a name is given and count is "
              "1" },
    { .key = "type",
      .kind = SIM_FIELD_TEXT,
      AT(draft_node_group, type),
      .fallback = "the hardware is given here",
      .help = "a node type of the catalogue" },
    { .key = "count",
      .kind = SIM_FIELD_COUNT,
      AT(draft_node_group, count),
      .initial = "1",
      .min = 1,
      .max = 100000,
      .help = "equal nodes" },
    NODE_HARDWARE(draft_node_group),
    { .key = "share",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_node_group, share),
      .fallback = "that of the cluster",
      .choices = SHARE_CHOICES,
      .word = "timeslice",
      .word_acts = SIM_ACTS_TIMED,
      .help =
          "how workers share a GPU: by parts of it; by MIG instances, which do not disturb each "
          "other; in turn; or not at all (exclusive: a stage or class that asks for a part "
          "takes the whole, on all nodes that are not mig alike)" },
    { .key = "partition",
      .kind = SIM_FIELD_LIST,
      AT(draft_node_group, partition),
      .section = &instance_section,
      .fallback = "instances are made on demand",
      .help = "share: mig: the instances every GPU is cut into, [3g, 2g, 1g, 1g]" },
    { .key = "timeslice",
      .acts = SIM_ACTS_TIMED,
      .kind = SIM_FIELD_SECTION,
      AT(draft_node_group, timeslice),
      .section = &timeslice_section,
      .fallback = "quantum 100 ms",
      .help = "share: timeslice: how long turns are and what a switch costs" },
};
static const struct sim_section node_group_section = {
    .name = "cluster.nodes[]",
    .help = "Equal nodes: of a type, or with their hardware written here.",
    .fields = node_group_fields,
    .count = LENGTH(node_group_fields),
    .size = sizeof(struct draft_node_group),
    .has_sources = true
};

static const struct sim_field failures_fields[] = {
    { .key = "node_between",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_failures, node_between),
      .fallback = "nodes never fail",
      .help = "time a node stays up" },
    { .key = "node_repair",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_failures, node_repair),
      .fallback = "const(0)",
      .help = "time until a failed node is back" },
};
static const struct sim_section failures_section = { .name = "cluster.failures",
                                                     .help = "Random failures of nodes.",
                                                     .fields = failures_fields,
                                                     .count = LENGTH(failures_fields),
                                                     .size = sizeof(struct draft_failures),
                                                     .has_sources = true };

static const struct sim_field power_fields[] = {
    { .key = "cpu",
      .shows = SHOWS_POWER,
      .kind = SIM_FIELD_CHOICE,
      AT(draft_power, cpu),
      .initial = "xeon-8163",
      .choices = SIM_CATALOG_CPU_CHOICES,
      .help = "processor of all nodes: gives cores and watts of a socket" },
    { .key = "cpus_per_core",
      .shows = SHOWS_POWER,
      .kind = SIM_FIELD_NUMBER,
      AT(draft_power, cpus_per_core),
      .initial = "2",
      .min = 1,
      .max = 64,
      .help = "CPUs (hardware threads) that one core is" },
    { .key = "cores_per_socket",
      .shows = SHOWS_POWER,
      .kind = SIM_FIELD_NUMBER,
      AT(draft_power, cores_per_socket),
      .fallback = "that of the processor",
      .min = 1,
      .max = 4096,
      .help = "cores of one socket" },
    { .key = "socket_idle",
      .shows = SHOWS_POWER,
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_POWER,
      AT(draft_power, socket_idle_w),
      .fallback = "that of the processor",
      .max = 1e6,
      .help = "power of a socket without allocated cores" },
    { .key = "socket_full",
      .shows = SHOWS_POWER,
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_POWER,
      AT(draft_power, socket_full_w),
      .fallback = "that of the processor",
      .max = 1e6,
      .help = "power of a socket with allocated cores" },
};
static const struct sim_section power_section = {
    .name = "cluster.power",
    .help =
        "Electric power of CPUs, for the power metrics; that of GPUs is idle and limit of their "
        "types.",
    .fields = power_fields,
    .count = LENGTH(power_fields),
    .size = sizeof(struct draft_power),
    .scalar_key = "cpu"
};

static const struct sim_field cluster_fields[] = {
    { .key = "nodes",
      .kind = SIM_FIELD_LIST,
      AT(draft_cluster, nodes),
      .section = &node_group_section,
      .fallback = "those of nodes_file; one of the two is needed",
      .help = "groups of equal nodes, in the order that decides ties" },
    { .key = "nodes_file",
      .kind = SIM_FIELD_TEXT,
      AT(draft_cluster, nodes_file),
      .fallback = "none",
      .help = "more nodes, from a table with the columns sn, cpu_milli, memory_mib, gpu, model "
              "(openb; plain or gzip)" },
    { .key = "nodes_every",
      .kind = SIM_FIELD_COUNT,
      AT(draft_cluster, nodes_every),
      .fallback = "1: all of them",
      .min = 1,
      .max = LARGEST_COUNT,
      .help = "of the table only every so many: a smaller cluster of the same mixture (nodes by "
              "model, GPUs, CPUs and memory, beginning with the first), by name" },
    { .key = "failures",
      .acts = SIM_ACTS_TIMED,
      .kind = SIM_FIELD_SECTION,
      AT(draft_cluster, failures),
      .section = &failures_section,
      .help = "random failures of nodes" },
    { .key = "power",
      .kind = SIM_FIELD_SECTION,
      AT(draft_cluster, power),
      .section = &power_section,
      .help = "electric power of CPUs" },
    { .key = "share",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_cluster, share),
      .fallback = "fraction",
      .choices = SHARE_CHOICES,
      .word = "timeslice",
      .word_acts = SIM_ACTS_TIMED,
      .help = "how workers share the GPUs of all nodes; groups of nodes may say otherwise" },
};
const struct sim_section sim_schema_cluster = { .name = "cluster",
                                                .help = "The nodes there are.",
                                                .fields = cluster_fields,
                                                .count = LENGTH(cluster_fields),
                                                .size = sizeof(struct draft_cluster) };
