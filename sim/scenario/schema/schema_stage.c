/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of stages: what a worker asks for and takes, how long its work is, models and
 * the stage itself, innermost mappings first. The order of fields is the canonical order of keys
 * and the order of the documentation.
 */
#include "sim/scenario/schema/schema_parts.h"

#define SPMD_FIELD(type, base)                                                                     \
    {                                                                                              \
        FLAG("spmd", type, base spmd), ABSENT("0 or false"),                                       \
            HELP(                                                                                  \
                "one process a GPU, which work on a task together: on part of one node, or, as a " \
                "group, on all GPUs of several nodes; cpus are for each process")                  \
    }

#define CODEC_FIELD(type, base)                                                                    \
    {                                                                                              \
        FLAG("codec_same_gpu", type, base codec_same_gpu), ABSENT("0 or false"),                   \
            HELP("codec engines without GPU share all come from one GPU")                          \
    }

#define REQUEST_FIELDS(type, base)                                                                 \
    AMOUNT_FIELDS(type, base, "1", "0 or false"), DEVICE_FIELDS(type, base),                       \
        SPMD_FIELD(type, base), CODEC_FIELD(type, base), NODES_FIELDS(type, base)

static const struct sim_field request_fields[] = {
    REQUEST_FIELDS(draft_request, ),
};
static const struct sim_field uses_fields[] = {
    AMOUNT_FIELDS(draft_request, , "as requested", "as requested"),
};
static const struct sim_section request_section = {
    MAPPING("pipelines[].stages[].request", draft_request, request_fields), SOURCES,
    HELP("What the scheduler is told one worker needs; the same keys may stand in the stage "
         "itself.")
};
static const struct sim_section uses_section = {
    MAPPING("pipelines[].stages[].uses", draft_request, uses_fields), SOURCES,
    HELP("How much one worker really takes."),
    NOT_OF(&request_section, "says how devices are set aside, and acts on the request alone")
};

static const struct sim_field job_request_fields[] = {
    AMOUNT_FIELDS(draft_request, , "1", "0 or false"),
    DEVICE_FIELDS(draft_request, ),
    CODEC_FIELD(draft_request, ),
    NODES_FIELDS(draft_request, ),
};
const struct sim_section sim_schema_job_request = {
    MAPPING("jobs[].classes[].request", draft_request, job_request_fields), SOURCES,
    HELP("What the scheduler is told each member of a job needs."),
    NOT_OF(&request_section, "acts on pipelines alone; a job of several processes has members")
};

static const struct sim_field traffic_fields[] = {
    { NUMBER("bandwidth", draft_memory_traffic, to.bandwidth), UNIT(FRACTION), DEFAULT("0"),
      MOST(16), HELP("memory bandwidth it takes when alone, of the device's") },
    { NUMBER("bound", draft_memory_traffic, to.bound), UNIT(FRACTION), DEFAULT("1"), MOST(1),
      HELP("how much of its time waits for memory: it takes (1 - bound) + bound x S times as long "
           "when S times the bandwidth there is, is asked for") },
    { NUMBER("reserve", draft_memory_traffic, to.reserve), UNIT(FRACTION), DEFAULT("0"), MOST(1),
      HELP("bandwidth set aside for it while it runs; the others share the rest") },
    { NUMBER("cache", draft_memory_traffic, to.cache), UNIT(FRACTION), DEFAULT("0"), MOST(16),
      HELP("cache it wants, of the device's") },
    { NUMBER("penalty", draft_memory_traffic, to.penalty), UNIT(FRACTION), DEFAULT("0"), MOST(1000),
      HELP("so much longer it takes with nothing of that cache; in proportion with a part") },
    { FLAG("pin", draft_memory_traffic, to.is_pinned), DEFAULT("false"),
      HELP("the cache it wants is kept for it") },
};
const struct sim_section sim_schema_traffic = {
    MAPPING("memory_traffic", draft_memory_traffic, traffic_fields), SCALAR("bandwidth"), SOURCES,
    HELP("What work takes of the memory system of its GPU while it runs. An instance of a GPU that "
         "is cut has its part of it to itself.")
};

static const struct sim_field factor_fields[] = {
    { NUMBER("factor", draft_factor, factor), REQUIRED, RANGE(1e-9, 1e9),
      HELP("multiplies the service time") },
};
static const struct sim_section factor_section = {
    MAPPING("factor.NAME", draft_factor, factor_fields), SCALAR("factor"), SOURCES,
    HELP("A factor by name.")
};

#define CODEC_WORK_FIELDS                                                                          \
    { COUNT("width", draft_codec, width), ABSENT("1920"), RANGE(1, 65536),                         \
      HELP("pixels of a line; a frame costs its pixels") },                                        \
        { COUNT("height", draft_codec, height), ABSENT("1080"), RANGE(1, 65536),                   \
          HELP("lines of a frame") },                                                              \
        { NUMBER("frames", draft_codec, frames), REQUIRED, RANGE(1e-6, 1e12),                      \
          HELP("frames of an item of size 1") },                                                   \
    {                                                                                              \
        NUMBER("attained", draft_codec, attained), UNIT(FRACTION), ABSENT("65%"), RANGE(1e-3, 1),  \
            HELP("share of the engine's rate that a program gets: 65 % was measured with ffmpeg, " \
                 "25 % with scaling and conversion of colours")                                    \
    }

static const struct sim_field decode_fields[] = {
    { CHOICE("codec", draft_codec, codec, "h264|hevc|hevc10|vp9|av1"), REQUIRED,
      HELP("what is decoded; hevc10 has 10 bits a sample") },
    CODEC_WORK_FIELDS,
};
static const struct sim_field encode_fields[] = {
    { CHOICE("codec", draft_codec, codec, "h264|hevc|hevc10|vp9|av1"), REQUIRED,
      HELP("what is encoded: h264, hevc or av1") },
    { CHOICE("preset", draft_codec, preset, "p1|p3|p5|p7"), ABSENT("p3"),
      HELP("preset of the encoder, the fastest first") },
    CODEC_WORK_FIELDS,
};
static const struct sim_section decode_section = {
    MAPPING("service.decode", draft_codec, decode_fields), SOURCES,
    HELP("Frames that a decoder works on.")
};
static const struct sim_section encode_section = {
    MAPPING("service.encode", draft_codec, encode_fields), SOURCES,
    HELP("Frames that an encoder works on.")
};

static const struct sim_field service_fields[] = {
    { LAW("law", draft_service, to.law), UNIT(TIME), ABSENT("const(0), with a table const(1)"),
      HELP("random part of the service time; with a table a factor without unit") },
    { COUNT("measurements", draft_service, to.measurements), ABSENT("its mean is known"),
      RANGE(1, 1e9),
      HELP("that the law rests on: every replication draws its mean anew, within what they leave "
           "open") },
    { FLAG("scale_by_size", draft_service, to.scale_by_size), DEFAULT("true"),
      HELP("the law is multiplied by the mean size of the items of the task") },
    { NUMBER("base", draft_service, to.base_s), UNIT(TIME), DEFAULT("0"), MOST(LARGEST_TIME),
      HELP("fixed part of a task") },
    { NUMBER("per_item", draft_service, to.per_item_s), UNIT(TIME), DEFAULT("0"),
      MOST(LARGEST_TIME), HELP("for every item of the task") },
    { NUMBER("per_size", draft_service, to.per_size_s), UNIT(TIME), DEFAULT("0"),
      MOST(LARGEST_TIME), HELP("for every unit of size of the items") },
    { NAMED("gpu_factor", draft_service, gpu_factor, &factor_section),
      HELP("factor by GPU type; replaces the type's speed") },
    { NAMED("class_factor", draft_service, class_factor, &factor_section),
      HELP("factor by item class") },
    { SECTION("decode", draft_service, decode, &decode_section), ABSENT("none"),
      HELP("frames to decode, at the rate of the engines of the GPU type; comes on top") },
    { SECTION("encode", draft_service, encode, &encode_section), ABSENT("none"),
      HELP("frames to encode, at the rate of the engines of the GPU type; comes on top") },
    { TEXT("table", draft_service, table), ABSENT("none"),
      HELP("CSV file with columns gpu_type, batch, size, seconds: replaces base, per_item and "
           "per_size") },
};
static const struct sim_section service_section = {
    MAPPING("pipelines[].stages[].service", draft_service, service_fields), SCALAR("law"), SOURCES,
    HELP("Time one task takes on one worker. A law, or a mapping.")
};

static const struct sim_field load_fields[] = {
    { BYTES("bytes", draft_load, bytes), ABSENT("nothing is read"), RANGE(1, LARGEST_MOVED),
      HELP("bytes that every place of a worker reads") },
    { TEXT("store", draft_load, store), ABSENT("needed"), HELP("store of the cluster") },
    { TEXT("traffic", draft_load, traffic), ABSENT("no class"), HELP("its class there") },
    { FLAG("cached", draft_load, is_kept), ABSENT("true, for weights false"),
      HELP("it stays on the node: the first worker of the stage there reads it, others wait for "
           "that or find it") },
};
static const struct sim_section load_section = {
    MAPPING("setup.LOAD", draft_load, load_fields),
    HELP("Bytes that are read from a store before a worker goes on.")
};

static const struct sim_field setup_fields[] = {
    { SECTION("image", draft_setup, loads[SIM_LOAD_IMAGE], &load_section), ABSENT("none"),
      HELP("the container image") },
    { SECTION("environment", draft_setup, loads[SIM_LOAD_ENVIRONMENT], &load_section),
      ABSENT("none"), HELP("packages") },
    { SECTION("weights", draft_setup, loads[SIM_LOAD_WEIGHTS], &load_section), ABSENT("none"),
      HELP("the weights of the model") },
    { LAW("time", draft_setup, time), UNIT(TIME), ABSENT("0 s"),
      HELP("what else takes time, behind what is read; `setup: 20 s` means this") },
    { LAW("compile", draft_setup, compile), UNIT(TIME), ABSENT("0 s"), HELP("compilation") },
    { LAW("warm_up", draft_setup, warm_up), UNIT(TIME), ABSENT("0 s"), HELP("warm-up") },
};
static const struct sim_section setup_section = {
    MAPPING("pipelines[].stages[].setup", draft_setup, setup_fields), SCALAR("time"),
    HELP("What a worker does before it is ready, in this order. A time, or a mapping.")
};

static const struct sim_field model_fields[] = {
    REQUEST_FIELDS(draft_stage, own.),
    { COUNT("batch", draft_stage, to.batch), ABSENT("1"), RANGE(1, LARGEST_COUNT),
      HELP("items a task takes") },
    { SECTION("service", draft_stage, service, &service_section), ABSENT("that of the stage"),
      HELP("time one task takes: a law or a mapping") },
    WORK_FIELD(draft_stage, "that of the stage"),
    MEASURED_FIELD(draft_stage, "that of the stage"),
    { LAW("returns", draft_stage, to.returns), ABSENT("const(1)"),
      HELP("items that one item turns into") },
    { SECTION("setup", draft_stage, setup, &setup_section), ABSENT("0 s"),
      HELP("what it takes until it is ready: a time, or a mapping") },
    { LAW("bytes_out", draft_stage, to.bytes_out), UNIT(BYTES), ABSENT("0 B"),
      HELP("bytes of one item given back") },
};
const struct sim_section sim_schema_model = {
    MAPPING("catalog.models.NAME", draft_stage, model_fields), SOURCES,
    HELP("A model: keys for the stages that run it.")
};

static const struct sim_field stage_fields[] = {
    NAME_FIELD(draft_stage, "name of the stage, unique in its pipeline"),
    { TEXT("after", draft_stage, after), ABSENT("the stage above"),
      HELP("the stage that feeds it: stages form a line, so only the one above is possible") },
    { TEXT("model", draft_stage, model), ABSENT("none"),
      HELP("a model of the catalogue: keys that the stage does not give come from it") },
    REQUEST_FIELDS(draft_stage, own.),
    { SECTION("request", draft_stage, request, &request_section), ABSENT("the keys above"),
      HELP("what the scheduler is told, as a mapping") },
    { SECTION("uses", draft_stage, uses, &uses_section), ABSENT("as requested"),
      HELP("what a worker really takes") },
    { SECTION("memory_traffic", draft_stage, traffic, &sim_schema_traffic), ABSENT("none"),
      HELP("what a task takes of the memory system of its GPU") },
    { BYTES("activations", draft_stage, to.activation_bytes), DEFAULT("0 B"), RANGE(0, 1e12),
      HELP("memory on each of its GPUs that a task takes while it runs, on top of gpu_memory, for "
           "every item of a full batch; where so much is not free the attempt fails") },
    { COUNT("workers", draft_stage, workers), KNOB, ABSENT("the scaling policy decides"),
      RANGE(1, LARGEST_COUNT), HELP("fixed number of workers") },
    { NUMBER("workers_per_node", draft_stage, workers_per_node), KNOB,
      ABSENT("the scaling policy decides"), RANGE(1e-6, LARGEST_COUNT),
      HELP("fixed number of workers for each node; the product is rounded up") },
    { COUNT("batch", draft_stage, to.batch), DEFAULT("1"), RANGE(1, LARGEST_COUNT),
      HELP("items a task takes") },
    { SECTION("service", draft_stage, service, &service_section), REQUIRED,
      HELP("time one task takes: a law or a mapping") },
    WORK_FIELD(draft_stage, "dense"),
    MEASURED_FIELD(draft_stage, "that of the pipeline"),
    { LAW("returns", draft_stage, to.returns), DEFAULT("const(1)"),
      HELP("items that one item turns into") },
    { SECTION("setup", draft_stage, setup, &setup_section), ABSENT("0 s"),
      HELP("from the start of a worker until it is ready: a time, or a mapping") },
    { LAW("bytes_out", draft_stage, to.bytes_out), UNIT(BYTES), ABSENT("0 B"),
      HELP("bytes of one item given back") },
    { NUMBER("speed_hint", draft_stage, to.speed_hint_per_s), UNIT(RATE), KNOB, ABSENT("none"),
      RANGE(1e-9, 1e9),
      HELP("tasks per worker and second told to the scheduler before anything is measured") },
    { NUMBER("over_provision", draft_stage, to.over_provision), KNOB, ABSENT("none"),
      RANGE(1e-6, 1e6),
      HELP("divides the measured speed: above 1 the stage gets more workers than it needs") },
    { COUNT("buffer", draft_stage, to.buffer), ABSENT("that of the pipeline"), RANGE(0, 1e9),
      NEEDS("rule: blocking"), HELP("for blocking: places between this stage and the next") },
    { NUMBER("process_failure", draft_stage, to.process_failure), UNIT(FRACTION), DEFAULT("0"),
      MOST(1), HELP("probability that an attempt at a task fails") },
    { NUMBER("setup_failure", draft_stage, to.setup_failure), UNIT(FRACTION), DEFAULT("0"), MOST(1),
      HELP("probability that a set-up fails and is tried again") },
    { COUNT("max_attempts", draft_stage, to.max_attempts), DEFAULT("4"), RANGE(1, LARGEST_COUNT),
      HELP("an item whose attempts failed so often is dropped") },
    { LAW("worker_between", draft_stage, to.worker_between), UNIT(TIME), ABSENT("never"),
      HELP("time between crashes of a ready worker") },
    { TIME("teardown", draft_stage, to.teardown_ns), DEFAULT("0 s"), MOST(3600),
      NEEDS("semantics: runtime"), HELP("runtime: time to end one worker") },
    { COUNT("setup_attempts", draft_stage, to.setup_attempts), DEFAULT("1"),
      RANGE(1, LARGEST_COUNT), NEEDS("semantics: runtime"),
      HELP("runtime: a set-up that fails is tried so often, after pauses of 2, 4, 8, 16, 16 ... "
           "seconds, before the worker is gone") },
    { NUMBER("max_setup_failure", draft_stage, to.max_setup_failure), UNIT(FRACTION), DEFAULT("1"),
      MOST(1), NEEDS("semantics: runtime"),
      HELP("runtime: the pipeline ends when a larger share of its workers failed in set-up and a "
           "one-sided binomial test at 5 % agrees; 0 = at the first failure") },
    { LAW("setup_on_node", draft_stage, to.setup_on_node), UNIT(TIME), ABSENT("0 s"),
      HELP("work that the first worker of the stage on a node does before its set-up; the others "
           "wait for it") },
    { CHOICE("on_failure", draft_stage, to.on_failure, "requeue|ignore|end"), DEFAULT("requeue"),
      HELP("requeue: the items try again from the front of the queue; runtime: ignore, end: the "
           "worker tries the task max_attempts times, after pauses of 2, 4, 8, 16, 16 ... seconds, "
           "then the task is dropped, or the pipeline ends") },
    { FLAG("reset_on_failure", draft_stage, to.resets_on_failure), DEFAULT("false"),
      NEEDS("semantics: runtime"),
      HELP("runtime: a worker that dropped a task is gone too, until the next plan") },
    { TIME("max_lifetime", draft_stage, to.max_lifetime_ns), DEFAULT("0 s"), MOST(LARGEST_TIME),
      NEEDS("semantics: runtime"),
      HELP("runtime: a worker ready for longer starts again in its place, unless its task has run "
           "for 0.6 of this; 0 = never") },
    { TEXT("env", draft_stage, env), ABSENT("that of the pipeline runner"),
      HELP("environment of its workers; a stage with one of its own cannot run in batch_debug") },
};
const struct sim_section sim_schema_stage = { MAPPING("pipelines[].stages[]", draft_stage,
                                                      stage_fields),
                                              SOURCES, HELP("A stage: one kind of worker.") };
