/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of pipelines, innermost mappings first. The order of fields is the canonical
 * order of keys and the order of the documentation.
 */
#include "sim/scenario/schema_parts.h"

static const struct sim_field class_fields[] = {
    NAME_FIELD(draft_class, "name of the class"),
    { .key = "weight",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_class, weight),
      .initial = "1",
      .min = 0,
      .max = 1e9,
      .help = "share of the items, relative to the other classes" },
    { .key = "size",
      .kind = SIM_FIELD_LAW,
      AT(draft_class, size),
      .initial = "const(1)",
      .help = "size of an item" },
};
static const struct sim_section class_section = { .name = "pipelines[].input.classes[]",
                                                  .help = "A kind of items.",
                                                  .fields = class_fields,
                                                  .count = LENGTH(class_fields),
                                                  .size = sizeof(struct draft_class),
                                                  .has_sources = true };

static const struct sim_field input_fields[] = {
    { .key = "items",
      .kind = SIM_FIELD_COUNT64,
      AT(draft_input, items),
      .initial = "0",
      .max = 1e12,
      .help = "items to work on; 0 = no end (then `arrivals` and `horizon` are needed)" },
    { .key = "arrivals",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_input, arrivals),
      .fallback = "all items are there at the start",
      .help = "time between arrivals" },
    { .key = "size",
      .kind = SIM_FIELD_LAW,
      AT(draft_input, size),
      .fallback = "const(1)",
      .help = "size of an item, when there are no classes" },
    { .key = "classes",
      .kind = SIM_FIELD_LIST,
      AT(draft_input, classes),
      .section = &class_section,
      .help = "kinds of items" },
    { .key = "bytes_per_item",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_BYTES,
      AT(draft_input, bytes),
      .fallback = "0 B",
      .help = "bytes of an item at the source" },
};
static const struct sim_section input_section = { .name = "pipelines[].input",
                                                  .help = "The items.",
                                                  .fields = input_fields,
                                                  .count = LENGTH(input_fields),
                                                  .size = sizeof(struct draft_input),
                                                  .has_sources = true };

static const struct sim_field backpressure_fields[] = {
    { .key = "rule",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_backpressure, rule),
      .initial = "slots",
      .choices = "slots/xenna|blocking|none|formula|reservation/raydata",
      .help =
          "slots: a stage takes a task while busy workers plus its output queue are fewer than "
          "workers x slots x multiplier; blocking: a finished task stays on its worker while "
          "the next stage's buffer is full; none: queues are unbounded; formula: as slots, without "
          "the additions that semantics: runtime makes; reservation: a stage takes a task while "
          "bytes of output stay within its part of the object store, as Ray Data budgets it" },
    { .key = "multiplier",
      .kind = SIM_FIELD_NUMBER,
      AT(draft_backpressure, multiplier),
      .initial = "1",
      .min = 1e-3,
      .max = 1e6,
      .help = "for slots" },
    { .key = "buffer",
      .kind = SIM_FIELD_COUNT,
      AT(draft_backpressure, buffer),
      .initial = "1",
      .min = 0,
      .max = 1e9,
      .help = "for blocking: places between two stages" },
    { .key = "lower_bound",
      .kind = SIM_FIELD_COUNT,
      AT(draft_backpressure, lower_bound),
      .initial = "8",
      .min = 0,
      .max = 1e9,
      .help = "for slots with semantics: runtime: a stage may have this many tasks under way, and "
              "as many as the next stage takes at a time" },
    { .key = "store",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_backpressure, store),
      .initial = "0.3",
      .min = 1e-3,
      .max = 1,
      .help =
          "for reservation: object store of a node, as a share of its memory; half of it all is "
          "the budget" },
    { .key = "reserved",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_backpressure, reserved),
      .initial = "0.5",
      .min = 0,
      .max = 1,
      .help = "for reservation: share of the budget reserved for the stages, in equal parts; the "
              "rest is shared" },
    { .key = "refresh",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_backpressure, refresh_ns),
      .initial = "10 s",
      .max = LARGEST_TIME,
      .help = "for reservation: the budget follows nodes that come and go this late" },
    { .key = "ratio",
      .kind = SIM_FIELD_NUMBER,
      AT(draft_backpressure, ratio),
      .initial = "2",
      .min = 0,
      .max = 1e9,
      .help = "for reservation: a stage stops while the bytes waiting behind it exceed this many "
              "times those the next stage works on" },
};
static const struct sim_section backpressure_section = { .name = "pipelines[].backpressure",
                                                         .help = "What stops a stage from running "
                                                                 "ahead.",
                                                         .fields = backpressure_fields,
                                                         .count = LENGTH(backpressure_fields),
                                                         .size = sizeof(struct draft_backpressure),
                                                         .scalar_key = "rule" };

#define REQUEST_FIELDS(type, base, cpus_fallback, other_fallback)                                  \
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
        { .key = "gpu_memory",                                                                     \
          .kind = SIM_FIELD_BYTES,                                                                 \
          .unit = SIM_UNIT_BYTES,                                                                  \
          AT(type, base gpu_mem_bytes),                                                            \
          .fallback = other_fallback,                                                              \
          .max = LARGEST_BYTES,                                                                    \
          .help = "memory on each GPU of one worker" },                                            \
        { .key = "mig",                                                                            \
          .kind = SIM_FIELD_TEXT,                                                                  \
          AT(type, base mig),                                                                      \
          .fallback = "no MIG instance",                                                           \
          .help =                                                                                  \
              "a MIG instance by its profile: 1g.10gb, 1g (the plainest of one slice) or 1/7; "    \
              "excludes gpus" },                                                                   \
        { .key = "mig_slices",                                                                     \
          .kind = SIM_FIELD_COUNT,                                                                 \
          AT(type, base mig_slices),                                                               \
          .fallback = "those of mig",                                                              \
          .min = 1,                                                                                \
          .max = WEIR_MIG_SLOTS,                                                                   \
          .help = "instead of mig: the smallest instance with so many compute slices, gpu_memory " \
                  "and nvdecs" },                                                                  \
        { .key = "entire_gpu",                                                                     \
          .kind = SIM_FIELD_FLAG,                                                                  \
          AT(type, base entire_gpu),                                                               \
          .fallback = other_fallback,                                                              \
          .help = "its GPUs are shared with nobody and all their codec engines are its own" },     \
        { .key = "spmd",                                                                           \
          .kind = SIM_FIELD_FLAG,                                                                  \
          AT(type, base spmd),                                                                     \
          .fallback = other_fallback,                                                              \
          .help = "one process a GPU, which work on a task together: on part of one node, or, as " \
                  "a group, on all GPUs of several nodes; cpus are for each process" },            \
    {                                                                                              \
        .key = "codec_same_gpu", .kind = SIM_FIELD_FLAG, AT(type, base codec_same_gpu),            \
        .fallback = other_fallback,                                                                \
        .help = "codec engines without GPU share all come from one GPU"                            \
    }

static const struct sim_field request_fields[] = {
    REQUEST_FIELDS(draft_request, , "1", "0 or false"),
};
static const struct sim_field uses_fields[] = {
    REQUEST_FIELDS(draft_request, , "as requested", "as requested"),
};
const struct sim_section sim_schema_request = {
    .name = "pipelines[].stages[].request",
    .help = "What the scheduler is told one worker needs; the same keys may stand in the stage "
            "itself.",
    .fields = request_fields,
    .count = LENGTH(request_fields),
    .size = sizeof(struct draft_request),
    .has_sources = true
};
static const struct sim_section uses_section = { .name = "pipelines[].stages[].uses",
                                                 .help = "What one worker really takes.",
                                                 .fields = uses_fields,
                                                 .count = LENGTH(uses_fields),
                                                 .size = sizeof(struct draft_request),
                                                 .has_sources = true };

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
    REQUEST_FIELDS(draft_model, own., "1", "0 or false"),
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
    REQUEST_FIELDS(draft_stage, own., "1", "0 or false"),
    { .key = "request",
      .kind = SIM_FIELD_SECTION,
      AT(draft_stage, request),
      .section = &sim_schema_request,
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
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_stage, teardown_ns),
      .initial = "0 s",
      .max = 3600,
      .help = "runtime: time to end one worker" },
    { .key = "setup_attempts",
      .kind = SIM_FIELD_COUNT,
      AT(draft_stage, setup_attempts),
      .initial = "1",
      .min = 1,
      .max = LARGEST_COUNT,
      .help = "runtime: a set-up that fails is tried so often, after pauses of 2, 4, 8, 16, 16 ... "
              "seconds, before the worker is gone" },
    { .key = "max_setup_failure",
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
      .kind = SIM_FIELD_FLAG,
      AT(draft_stage, reset_on_failure),
      .initial = "false",
      .help = "runtime: a worker that dropped a task is gone too, until the next plan" },
    { .key = "max_lifetime",
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
static const struct sim_section stage_section = { .name = "pipelines[].stages[]",
                                                  .help = "A stage: one kind of worker.",
                                                  .fields = stage_fields,
                                                  .count = LENGTH(stage_fields),
                                                  .size = sizeof(struct draft_stage),
                                                  .has_sources = true };

static const struct sim_field pipeline_fields[] = {
    NAME_FIELD(draft_pipeline, "name of the pipeline"),
    { .key = "execution",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_pipeline, execution),
      .initial = "streaming",
      .choices = "streaming|batch|batch_debug|serving|auto",
      .help = "streaming: all stages run at once; batch: a stage starts when the one before is "
              "through, with the whole cluster for itself; batch_debug: the same with one worker, "
              "one task at a time; serving: streaming that takes one request a turn and is never "
              "done; auto: batch on one node with at most one GPU, else streaming" },
    { .key = "semantics",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_pipeline, semantics),
      .initial = "runtime",
      .choices = "event|tick|runtime",
      .help = "event: things happen when they are due; tick: as a loop with fixed steps would see "
              "them; runtime: a main loop feeds pools of workers that hold tasks ahead, last stage "
              "first, and applies plans a turn later" },
    { .key = "tick",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_pipeline, tick_ns),
      .initial = "0.1 s",
      .min = 1e-6,
      .max = 3600,
      .help = "step of the tick semantics" },
    { .key = "tick_rounding",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_pipeline, tick_rounding),
      .initial = "truncate",
      .choices = "truncate|nearest",
      .help = "how durations become ticks" },
    { .key = "input",
      .kind = SIM_FIELD_SECTION,
      .flags = SIM_FIELD_REQUIRED,
      AT(draft_pipeline, input),
      .section = &input_section,
      .help = "the items" },
    { .key = "slots_per_worker",
      .kind = SIM_FIELD_COUNT,
      AT(draft_pipeline, slots_per_worker),
      .initial = "2",
      .min = 1,
      .max = LARGEST_COUNT,
      .help =
          "tasks a worker may hold at the start, the running one included; a scaling policy may "
          "change it" },
    { .key = "backpressure",
      .kind = SIM_FIELD_SECTION,
      AT(draft_pipeline, backpressure),
      .section = &backpressure_section,
      .fallback = "slots",
      .help = "the name of a rule, or a mapping" },
    { .key = "worker_choice",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_pipeline, worker_choice),
      .initial = "oldest",
      .choices = "oldest|newest",
      .help = "which idle worker takes the next task" },
    { .key = "loop_hz",
      .kind = SIM_FIELD_NUMBER,
      AT(draft_pipeline, loop_hz),
      .initial = "100",
      .min = 1e-3,
      .max = 1e6,
      .help = "runtime: turns of the main loop in a second" },
    { .key = "grace",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_pipeline, grace_ns),
      .initial = "60 s",
      .max = LARGEST_TIME,
      .help = "runtime: a worker in set-up, or ready for less than this, is not stopped; 0 = any "
              "worker is" },
    { .key = "backlog_guard",
      .kind = SIM_FIELD_FLAG,
      AT(draft_pipeline, backlog_guard),
      .initial = "false",
      .help = "runtime: stops leave max(1, tasks in hand / slots, waiting items / (slots x batch)) "
              "ready workers" },
    { .key = "teardown",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_pipeline, teardown),
      .initial = "parallel",
      .choices = "serial|parallel",
      .help = "runtime: serial: the main loop stands still while the workers of a plan end one by "
              "one" },
    { .key = "teardown_limit",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_pipeline, teardown_limit_ns),
      .initial = "50 s",
      .max = 3600,
      .help = "runtime: a worker that takes longer to end is killed" },
    { .key = "work_stealing",
      .kind = SIM_FIELD_FLAG,
      AT(draft_pipeline, work_stealing),
      .initial = "false",
      .help =
          "runtime: a worker that has held nothing for 1 s takes the last task, not begun, of a "
          "worker that holds several" },
    { .key = "restart",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_pipeline, restart),
      .initial = "same_place",
      .choices = "same_place|next_plan|decide",
      .help = "runtime: a worker that died starts again at the next turn in its old place and is "
              "given up after 4 deaths in a row (same_place); is left to the next plan "
              "(next_plan), or to a plan made at once (decide)" },
    { .key = "restart_spacing",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_pipeline, restart_gap_ns),
      .initial = "60 s",
      .max = LARGEST_TIME,
      .help = "runtime: time between restarts of workers of one stage because of their age" },
    { .key = "store",
      .kind = SIM_FIELD_BYTES,
      .unit = SIM_UNIT_BYTES,
      AT(draft_pipeline, store_bytes),
      .initial = "0 B",
      .max = LARGEST_BYTES,
      .help = "runtime: the pipeline ends when more than this lies between its stages; 0 = any" },
    { .key = "store_full",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_pipeline, store_full),
      .initial = "end",
      .choices = "end|spill",
      .help = "what happens when the store is full: the pipeline ends, or the rest is written "
              "elsewhere, which takes no time and is counted" },
    { .key = "store_bandwidth",
      .kind = SIM_FIELD_BYTES,
      .unit = SIM_UNIT_BYTES,
      AT(draft_pipeline, store_bandwidth_bytes),
      .initial = "0 B",
      .max = LARGEST_BYTES,
      .help = "batch: bytes a second of the store that takes what lies between two stages, written "
              "and read while nothing is processed; 0 = takes no time" },
    { .key = "stages",
      .kind = SIM_FIELD_LIST,
      .flags = SIM_FIELD_REQUIRED,
      AT(draft_pipeline, stages),
      .section = &stage_section,
      .help = "the stages in order; each feeds the next" },
};
const struct sim_section sim_schema_pipeline = { .name = "pipelines[]",
                                                 .help = "A linear pipeline.",
                                                 .fields = pipeline_fields,
                                                 .count = LENGTH(pipeline_fields),
                                                 .size = sizeof(struct draft_pipeline) };
