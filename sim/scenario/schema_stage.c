/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of stages: what a worker asks for and takes, how long its work is, models and
 * the stage itself, innermost mappings first. The order of fields is the canonical order of keys
 * and the order of the documentation.
 */
#include "sim/scenario/schema_parts.h"

/* How much: */
#define AMOUNT_FIELDS(type, base, cpus_fallback, other_fallback)                                   \
    { .key = "cpus",                                                                               \
      .kind = SIM_FIELD_NUMBER,                                                                    \
      AT(type, base cpus),                                                                         \
      .fallback = cpus_fallback,                                                                   \
      .max = LARGEST_COUNT,                                                                        \
      .help = "CPUs of one worker" },                                                              \
        { .key = "gpus",                                                                           \
          .kind = SIM_FIELD_NUMBER,                                                                \
          AT(type, base gpus),                                                                     \
          .fallback = other_fallback,                                                              \
          .max = 4096,                                                                             \
          .help = "GPUs of one worker: a share below 1, or a whole number" },                      \
        { .key = "nvdecs",                                                                         \
          .kind = SIM_FIELD_WHOLE,                                                                 \
          AT(type, base nvdecs),                                                                   \
          .fallback = other_fallback,                                                              \
          .max = 1024,                                                                             \
          .help = "video decoders of one worker; per GPU when it has whole GPUs" },                \
        { .key = "nvencs",                                                                         \
          .kind = SIM_FIELD_WHOLE,                                                                 \
          AT(type, base nvencs),                                                                   \
          .fallback = other_fallback,                                                              \
          .max = 1024,                                                                             \
          .help = "video encoders of one worker; per GPU when it has whole GPUs" },                \
        { .key = "ram",                                                                            \
          .kind = SIM_FIELD_BYTES,                                                                 \
          .unit = SIM_UNIT_BYTES,                                                                  \
          AT(type, base ram_bytes),                                                                \
          .fallback = other_fallback,                                                              \
          .max = LARGEST_BYTES,                                                                    \
          .help = "memory of one worker" },                                                        \
    {                                                                                              \
        .key = "gpu_memory", .kind = SIM_FIELD_BYTES, .unit = SIM_UNIT_BYTES,                      \
        AT(type, base gpu_mem_bytes), .fallback = other_fallback, .max = LARGEST_BYTES,            \
        .help = "memory on each GPU of one worker"                                                 \
    }

/* How devices are set aside: */
#define DEVICE_FIELDS(type, base, other_fallback)                                                  \
    { .key = "mig",                                                                                \
      .kind = SIM_FIELD_TEXT,                                                                      \
      AT(type, base mig),                                                                          \
      .fallback = "no MIG instance",                                                               \
      .help = "a MIG instance by its profile: 1g.10gb, 1g (the plainest of one slice) or 1/7; "    \
              "excludes gpus" },                                                                   \
        { .key = "mig_slices",                                                                     \
          .kind = SIM_FIELD_COUNT,                                                                 \
          AT(type, base mig_slices),                                                               \
          .fallback = "those of mig",                                                              \
          .min = 1,                                                                                \
          .max = WEIR_MIG_SLOTS,                                                                   \
          .help = "instead of mig: the smallest instance with so many compute slices, gpu_memory " \
                  "and nvdecs" },                                                                  \
    {                                                                                              \
        .key = "entire_gpu", .kind = SIM_FIELD_FLAG, AT(type, base entire_gpu),                    \
        .fallback = other_fallback,                                                                \
        .help = "its GPUs are shared with nobody and all their codec engines are its own"          \
    }

#define SPMD_FIELD(type, base, other_fallback)                                                     \
    {                                                                                              \
        .key = "spmd", .kind = SIM_FIELD_FLAG, AT(type, base spmd), .fallback = other_fallback,    \
        .help = "one process a GPU, which work on a task together: on part of one node, or, as "   \
                "a group, on all GPUs of several nodes; cpus are for each process"                 \
    }

#define CODEC_FIELD(type, base, other_fallback)                                                    \
    {                                                                                              \
        .key = "codec_same_gpu", .kind = SIM_FIELD_FLAG, AT(type, base codec_same_gpu),            \
        .fallback = other_fallback,                                                                \
        .help = "codec engines without GPU share all come from one GPU"                            \
    }

#define REQUEST_FIELDS(type, base)                                                                 \
    AMOUNT_FIELDS(type, base, "1", "0 or false"), DEVICE_FIELDS(type, base, "0 or false"),         \
        SPMD_FIELD(type, base, "0 or false"), CODEC_FIELD(type, base, "0 or false")

static const struct sim_field request_fields[] = {
    REQUEST_FIELDS(draft_request, ),
};
static const struct sim_field uses_fields[] = {
    AMOUNT_FIELDS(draft_request, , "as requested", "as requested"),
};
static const struct sim_section request_section = {
    .name = "pipelines[].stages[].request",
    .help = "What the scheduler is told one worker needs; the same keys may stand in the stage "
            "itself.",
    .fields = request_fields,
    .count = LENGTH(request_fields),
    .size = sizeof(struct draft_request),
    .has_sources = true
};
static const struct sim_section uses_section = {
    .name = "pipelines[].stages[].uses",
    .help = "How much one worker really takes.",
    .fields = uses_fields,
    .count = LENGTH(uses_fields),
    .size = sizeof(struct draft_request),
    .has_sources = true,
    .other = &request_section,
    .other_says = "says how devices are set aside, and acts on the request alone"
};

static const struct sim_field job_request_fields[] = {
    AMOUNT_FIELDS(draft_request, , "1", "0 or false"),
    DEVICE_FIELDS(draft_request, , "0 or false"),
    CODEC_FIELD(draft_request, , "0 or false"),
};
const struct sim_section sim_schema_job_request = {
    .name = "jobs[].classes[].request",
    .help = "What the scheduler is told each member of a job needs.",
    .fields = job_request_fields,
    .count = LENGTH(job_request_fields),
    .size = sizeof(struct draft_request),
    .has_sources = true,
    .other = &request_section,
    .other_says = "acts on pipelines alone; a job of several processes has members"
};

static const struct sim_field factor_fields[] = {
    { .key = "factor",
      .kind = SIM_FIELD_NUMBER,
      .flags = SIM_FIELD_REQUIRED,
      AT(draft_factor, factor),
      .min = 1e-9,
      .max = 1e9,
      .help = "multiplies the service time" },
};
static const struct sim_section factor_section = { .name = "factor.NAME",
                                                   .help = "A factor by name.",
                                                   .fields = factor_fields,
                                                   .count = LENGTH(factor_fields),
                                                   .size = sizeof(struct draft_factor),
                                                   .scalar_key = "factor",
                                                   .has_sources = true };

static const struct sim_field service_fields[] = {
    { .key = "law",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_service, law),
      .fallback = "const(0), with a table const(1)",
      .help = "random part of the service time; with a table a factor without unit" },
    { .key = "scale_by_size",
      .kind = SIM_FIELD_FLAG,
      AT(draft_service, scale_by_size),
      .initial = "true",
      .help = "the law is multiplied by the mean size of the items of the task" },
    { .key = "base",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_TIME,
      AT(draft_service, base_s),
      .initial = "0",
      .max = LARGEST_TIME,
      .help = "fixed part of a task" },
    { .key = "per_item",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_TIME,
      AT(draft_service, per_item_s),
      .initial = "0",
      .max = LARGEST_TIME,
      .help = "for every item of the task" },
    { .key = "per_size",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_TIME,
      AT(draft_service, per_size_s),
      .initial = "0",
      .max = LARGEST_TIME,
      .help = "for every unit of size of the items" },
    { .key = "gpu_factor",
      .kind = SIM_FIELD_NAMED,
      AT(draft_service, gpu_factor),
      .section = &factor_section,
      .help = "factor by GPU type; replaces the type's speed" },
    { .key = "class_factor",
      .kind = SIM_FIELD_NAMED,
      AT(draft_service, class_factor),
      .section = &factor_section,
      .help = "factor by item class" },
    { .key = "table",
      .kind = SIM_FIELD_TEXT,
      AT(draft_service, table),
      .fallback = "none",
      .help = "CSV file with columns gpu_type, batch, size, seconds: replaces base, per_item and "
              "per_size" },
};
static const struct sim_section service_section = {
    .name = "pipelines[].stages[].service",
    .help = "Time one task takes on one worker. A law, or a mapping.",
    .fields = service_fields,
    .count = LENGTH(service_fields),
    .size = sizeof(struct draft_service),
    .scalar_key = "law",
    .has_sources = true
};

static const struct sim_field model_fields[] = {
    REQUEST_FIELDS(draft_model, own.),
    { .key = "batch",
      .kind = SIM_FIELD_COUNT,
      AT(draft_model, batch),
      .fallback = "1",
      .min = 1,
      .max = LARGEST_COUNT,
      .help = "items a task takes" },
    { .key = "service",
      .kind = SIM_FIELD_SECTION,
      AT(draft_model, service),
      .section = &service_section,
      .fallback = "that of the stage",
      .help = "time one task takes: a law or a mapping" },
    { .key = "returns",
      .kind = SIM_FIELD_LAW,
      AT(draft_model, returns),
      .fallback = "const(1)",
      .help = "items that one item turns into" },
    { .key = "setup",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_model, setup),
      .fallback = "0 s",
      .help = "time to load it" },
    { .key = "bytes_out",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_BYTES,
      AT(draft_model, bytes_out),
      .fallback = "0 B",
      .help = "bytes of one item given back" },
};
const struct sim_section sim_schema_model = { .name = "catalog.models.NAME",
                                              .help = "A model: keys for the stages that run it.",
                                              .fields = model_fields,
                                              .count = LENGTH(model_fields),
                                              .size = sizeof(struct draft_model),
                                              .has_sources = true };

static const struct sim_field stage_fields[] = {
    NAME_FIELD(draft_stage, "name of the stage, unique in its pipeline"),
    { .key = "after",
      .kind = SIM_FIELD_TEXT,
      AT(draft_stage, after),
      .fallback = "the stage above",
      .help = "the stage that feeds it: stages form a line, so only the one above is possible" },
    { .key = "model",
      .kind = SIM_FIELD_TEXT,
      AT(draft_stage, model),
      .fallback = "none",
      .help = "a model of the catalogue: keys that the stage does not give come from it" },
    REQUEST_FIELDS(draft_stage, own.),
    { .key = "request",
      .kind = SIM_FIELD_SECTION,
      AT(draft_stage, request),
      .section = &request_section,
      .fallback = "the keys above",
      .help = "what the scheduler is told, as a mapping" },
    { .key = "uses",
      .kind = SIM_FIELD_SECTION,
      AT(draft_stage, uses),
      .section = &uses_section,
      .fallback = "as requested",
      .help = "what a worker really takes" },
    { .key = "workers",
      .kind = SIM_FIELD_COUNT,
      .flags = SIM_FIELD_KNOB,
      AT(draft_stage, workers),
      .fallback = "the scaling policy decides",
      .min = 1,
      .max = LARGEST_COUNT,
      .help = "fixed number of workers" },
    { .key = "workers_per_node",
      .kind = SIM_FIELD_NUMBER,
      .flags = SIM_FIELD_KNOB,
      AT(draft_stage, workers_per_node),
      .fallback = "the scaling policy decides",
      .min = 1e-6,
      .max = LARGEST_COUNT,
      .help = "fixed number of workers for each node; the product is rounded up" },
    { .key = "batch",
      .kind = SIM_FIELD_COUNT,
      AT(draft_stage, batch),
      .initial = "1",
      .min = 1,
      .max = LARGEST_COUNT,
      .help = "items a task takes" },
    { .key = "service",
      .kind = SIM_FIELD_SECTION,
      .flags = SIM_FIELD_REQUIRED,
      AT(draft_stage, service),
      .section = &service_section,
      .help = "time one task takes: a law or a mapping" },
    { .key = "returns",
      .kind = SIM_FIELD_LAW,
      AT(draft_stage, returns),
      .initial = "const(1)",
      .help = "items that one item turns into" },
    { .key = "setup",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_stage, setup),
      .fallback = "0 s",
      .help = "time from the start of a worker until it is ready" },
    { .key = "bytes_out",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_BYTES,
      AT(draft_stage, bytes_out),
      .fallback = "0 B",
      .help = "bytes of one item given back" },
    { .key = "speed_hint",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_RATE,
      .flags = SIM_FIELD_KNOB,
      AT(draft_stage, speed_hint_per_s),
      .fallback = "none",
      .min = 1e-9,
      .max = 1e9,
      .help = "tasks per worker and second told to the scheduler before anything is measured" },
    { .key = "over_provision",
      .kind = SIM_FIELD_NUMBER,
      .flags = SIM_FIELD_KNOB,
      AT(draft_stage, over_provision),
      .fallback = "none",
      .min = 1e-6,
      .max = 1e6,
      .help = "divides the measured speed: above 1 the stage gets more workers than it needs" },
    { .key = "buffer",
      .needs = "rule: blocking",
      .kind = SIM_FIELD_COUNT,
      AT(draft_stage, buffer),
      .fallback = "that of the pipeline",
      .min = 0,
      .max = 1e9,
      .help = "for blocking: places between this stage and the next" },
    { .key = "process_failure",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_stage, process_failure),
      .initial = "0",
      .max = 1,
      .help = "probability that an attempt at a task fails" },
    { .key = "setup_failure",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_stage, setup_failure),
      .initial = "0",
      .max = 1,
      .help = "probability that a set-up fails and is tried again" },
    { .key = "max_attempts",
      .kind = SIM_FIELD_COUNT,
      AT(draft_stage, max_attempts),
      .initial = "4",
      .min = 1,
      .max = LARGEST_COUNT,
      .help = "an item whose attempts failed so often is dropped" },
    { .key = "worker_between",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_stage, worker_between),
      .fallback = "never",
      .help = "time between crashes of a ready worker" },
    { .key = "teardown",
      .needs = "semantics: runtime",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_stage, teardown_ns),
      .initial = "0 s",
      .max = 3600,
      .help = "runtime: time to end one worker" },
    { .key = "setup_attempts",
      .needs = "semantics: runtime",
      .kind = SIM_FIELD_COUNT,
      AT(draft_stage, setup_attempts),
      .initial = "1",
      .min = 1,
      .max = LARGEST_COUNT,
      .help = "runtime: a set-up that fails is tried so often, after pauses of 2, 4, 8, 16, 16 ... "
              "seconds, before the worker is gone" },
    { .key = "max_setup_failure",
      .needs = "semantics: runtime",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_stage, max_setup_failure),
      .initial = "1",
      .max = 1,
      .help =
          "runtime: the pipeline ends when a larger share of its workers failed in set-up and a "
          "one-sided binomial test at 5 % agrees; 0 = at the first failure" },
    { .key = "setup_on_node",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_stage, setup_on_node),
      .fallback = "0 s",
      .help =
          "work that the first worker of the stage on a node does before its set-up; the others "
          "wait for it" },
    { .key = "on_failure",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_stage, on_failure),
      .initial = "requeue",
      .choices = "requeue|ignore|end",
      .help = "requeue: the items try again from the front of the queue; runtime: ignore, end: the "
              "worker tries the task max_attempts times, after pauses of 2, 4, 8, 16, 16 ... "
              "seconds, then the task is dropped, or the pipeline ends" },
    { .key = "reset_on_failure",
      .needs = "semantics: runtime",
      .kind = SIM_FIELD_FLAG,
      AT(draft_stage, reset_on_failure),
      .initial = "false",
      .help = "runtime: a worker that dropped a task is gone too, until the next plan" },
    { .key = "max_lifetime",
      .needs = "semantics: runtime",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_stage, max_lifetime_ns),
      .initial = "0 s",
      .max = LARGEST_TIME,
      .help = "runtime: a worker ready for longer starts again in its place, unless its task has "
              "run for 0.6 of this; 0 = never" },
    { .key = "env",
      .kind = SIM_FIELD_TEXT,
      AT(draft_stage, env),
      .fallback = "that of the pipeline runner",
      .help = "environment of its workers; a stage with one of its own cannot run in batch_debug" },
};
const struct sim_section sim_schema_stage = { .name = "pipelines[].stages[]",
                                              .help = "A stage: one kind of worker.",
                                              .fields = stage_fields,
                                              .count = LENGTH(stage_fields),
                                              .size = sizeof(struct draft_stage),
                                              .has_sources = true };
