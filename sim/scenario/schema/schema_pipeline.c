/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of pipelines, their input and back-pressure, innermost mappings first. The
 * order of fields is the canonical order of keys and the order of the documentation.
 */
#include "sim/scenario/schema/schema_parts.h"

static const struct sim_field class_fields[] = {
    NAME_FIELD(draft_class, "name of the class"),
    { NUMBER("weight", draft_class, to.weight), WEIGHT,
      HELP("share of the items, relative to the other classes") },
    { LAW("size", draft_class, to.size), DEFAULT("const(1)"), HELP("size of an item") },
};
static const struct sim_section class_section = { MAPPING("pipelines[].input.classes[]",
                                                          draft_class, class_fields),
                                                  SOURCES, HELP("A kind of items.") };

static const struct sim_field input_fields[] = {
    { COUNT64("items", draft_input, to.items), DEFAULT("0"), MOST(1e12),
      HELP("items to work on; 0 = all of the file, else no end (then `arrivals` and `horizon` are "
           "needed)") },
    { TEXT("file", draft_input, file), ABSENT("items are drawn"),
      HELP("recorded items, a CSV file, plain, gzip or zstd: columns `time` (seconds, when they "
           "arrive), `size`, `class`, `bytes`, each of which may be missing (docs/traces.md)") },
    { SECTION("arrivals", draft_input, arrivals, &sim_schema_item_arrivals),
      ABSENT("as the file says, else all items are there at the start"),
      HELP("time between arrivals, or a process; with a file its times give way to it") },
    { LAW("size", draft_input, size), ABSENT("const(1)"),
      HELP("size of an item, when there are no classes") },
    { LIST("classes", draft_input, classes, &class_section), HELP("kinds of items") },
    { LAW("bytes_per_item", draft_input, to.bytes), UNIT(BYTES), ABSENT("0 B"),
      HELP("bytes of an item at the source; what waits is measured and bounded by them, and with "
           "`store` they are read") },
    { TEXT("store", draft_input, store), ABSENT("the items are where they are needed"),
      HELP("store of the cluster that the first stage reads the items from") },
    { TEXT("traffic", draft_input, traffic), ABSENT("no class"), HELP("its class there") },
};
static const struct sim_section input_section = {
    MAPPING("pipelines[].input", draft_input, input_fields), SOURCES, HELP("The items.")
};

static const struct sim_field backpressure_fields[] = {
    { CHOICE("rule", draft_backpressure, rule,
             "slots/xenna|blocking|none|formula|reservation/raydata"),
      DEFAULT("slots"),
      HELP("slots: a stage takes a task while busy workers plus its output queue are fewer than "
           "workers x slots x multiplier; blocking: a finished task stays on its worker while the "
           "next stage's buffer is full; none: queues are unbounded; formula: as slots, without "
           "the additions that semantics: runtime makes; reservation: a stage takes a task while "
           "bytes of output stay within its part of the object store, as Ray Data budgets it") },
    { NUMBER("multiplier", draft_backpressure, multiplier), DEFAULT("1"), RANGE(1e-3, 1e6),
      NEEDS("rule: slots|formula"), HELP("for slots") },
    { COUNT("buffer", draft_backpressure, buffer), DEFAULT("1"), RANGE(0, 1e9),
      NEEDS("rule: blocking"), HELP("for blocking: places between two stages") },
    { COUNT("lower_bound", draft_backpressure, lower_bound), DEFAULT("8"), RANGE(0, 1e9),
      NEEDS("rule: slots"),
      HELP("for slots with semantics: runtime: a stage may have this many tasks under way, and as "
           "many as the next stage takes at a time") },
    { NUMBER("store", draft_backpressure, store), UNIT(FRACTION), DEFAULT("0.3"), RANGE(1e-3, 1),
      NEEDS("rule: reservation"),
      HELP("for reservation: object store of a node, as a share of its memory; half of it all is "
           "the budget") },
    { NUMBER("reserved", draft_backpressure, reserved), UNIT(FRACTION), DEFAULT("0.5"), RANGE(0, 1),
      NEEDS("rule: reservation"),
      HELP("for reservation: share of the budget reserved for the stages, in equal parts; the rest "
           "is shared") },
    { TIME("refresh", draft_backpressure, refresh_ns), DEFAULT("10 s"), MOST(LARGEST_TIME),
      NEEDS("rule: reservation"),
      HELP("for reservation: the budget follows nodes that come and go this late") },
    { NUMBER("ratio", draft_backpressure, ratio), DEFAULT("2"), RANGE(0, 1e9),
      NEEDS("rule: reservation"),
      HELP("for reservation: a stage stops while the bytes waiting behind it exceed this many "
           "times those the next stage works on") },
};
static const struct sim_section backpressure_section = {
    MAPPING("pipelines[].backpressure", draft_backpressure, backpressure_fields), SCALAR("rule"),
    HELP("What stops a stage from running ahead.")
};

static const struct sim_field pipeline_fields[] = {
    NAME_FIELD(draft_pipeline, "name of the pipeline"),
    { CHOICE("execution", draft_pipeline, to.execution, "streaming|batch|batch_debug|serving|auto"),
      DEFAULT("auto"),
      HELP("streaming: all stages run at once; batch: a stage starts when the one before is "
           "through, with the whole cluster for itself; batch_debug: the same with one worker, one "
           "task at a time; serving: streaming that takes one request a turn and is never done; "
           "auto: batch for several stages with semantics: runtime and an end of the input on one "
           "node with one GPU, else streaming") },
    { CHOICE("semantics", draft_pipeline, to.semantics, "event|tick|runtime"), DEFAULT("runtime"),
      HELP("event: things happen when they are due; tick: as a loop with fixed steps would see "
           "them; runtime: a main loop feeds pools of workers that hold tasks ahead, last stage "
           "first, and applies plans a turn later") },
    { TIME("tick", draft_pipeline, to.tick_ns), DEFAULT("0.1 s"), RANGE(1e-6, 3600),
      NEEDS("semantics: tick"), HELP("step of the tick semantics") },
    { CHOICE("tick_rounding", draft_pipeline, to.tick_rounding, "truncate|nearest"),
      DEFAULT("truncate"), NEEDS("semantics: tick"), HELP("how durations become ticks") },
    { SECTION("input", draft_pipeline, input, &input_section), REQUIRED, HELP("the items") },
    { COUNT("slots_per_worker", draft_pipeline, to.slots_per_worker), DEFAULT("2"),
      RANGE(1, LARGEST_COUNT),
      HELP("tasks a worker may hold at the start, the running one included; a scaling policy may "
           "change it") },
    { SECTION("backpressure", draft_pipeline, backpressure, &backpressure_section), ABSENT("slots"),
      HELP("the name of a rule, or a mapping") },
    { CHOICE("worker_choice", draft_pipeline, to.worker_choice, "oldest|newest"), DEFAULT("oldest"),
      NEEDS("semantics: event|tick"), HELP("which idle worker takes the next task") },
    { NUMBER("loop_hz", draft_pipeline, loop_hz), DEFAULT("100"), RANGE(1e-3, 1e6),
      NEEDS("semantics: runtime"), HELP("runtime: turns of the main loop in a second") },
    { TIME("grace", draft_pipeline, to.grace_ns), DEFAULT("60 s"), MOST(LARGEST_TIME),
      NEEDS("semantics: runtime"),
      HELP("runtime: a worker in set-up, or ready for less than this, is not stopped; 0 = any "
           "worker is") },
    { FLAG("backlog_guard", draft_pipeline, to.has_backlog_guard), DEFAULT("false"),
      NEEDS("semantics: runtime"),
      HELP("runtime: stops leave max(1, tasks in hand / slots, waiting items / (slots x batch)) "
           "ready workers") },
    { CHOICE("teardown", draft_pipeline, teardown, "serial|parallel"), DEFAULT("parallel"),
      NEEDS("semantics: runtime"),
      HELP("runtime: serial: the main loop stands still while the workers of a plan end one by "
           "one") },
    { TIME("teardown_limit", draft_pipeline, to.teardown_limit_ns), DEFAULT("50 s"), MOST(3600),
      NEEDS("semantics: runtime"), HELP("runtime: a worker that takes longer to end is killed") },
    { FLAG("work_stealing", draft_pipeline, to.steals_work), DEFAULT("false"),
      NEEDS("semantics: runtime"),
      HELP("runtime: a worker that has held nothing for 1 s takes the last task, not begun, of a "
           "worker that holds several") },
    { CHOICE("restart", draft_pipeline, to.restart, "same_place|next_plan|decide"),
      DEFAULT("decide"), NEEDS("semantics: runtime"),
      HELP("runtime: a worker that died starts again at the next turn in its old place and is "
           "given up after 4 deaths in a row (same_place); is left to the next plan (next_plan), "
           "or to a plan made at once (decide)") },
    { TIME("restart_spacing", draft_pipeline, to.restart_gap_ns), DEFAULT("60 s"),
      MOST(LARGEST_TIME), NEEDS("semantics: runtime"),
      HELP("runtime: time between restarts of workers of one stage because of their age") },
    { BYTES("store", draft_pipeline, to.store_bytes), DEFAULT("0 B"), MOST(LARGEST_BYTES),
      NEEDS("semantics: runtime"),
      HELP("runtime: the pipeline ends when more than this lies between its stages; 0 = any") },
    { CHOICE("store_full", draft_pipeline, to.store_spills, "end|spill"), DEFAULT("end"),
      NEEDS("semantics: runtime"),
      HELP("what happens when the store is full: the pipeline ends, or the rest is written "
           "elsewhere, which takes no time and is counted") },
    { BYTES("store_bandwidth", draft_pipeline, store_bandwidth_bytes), DEFAULT("0 B"),
      MOST(LARGEST_BYTES), NEEDS("execution: batch|batch_debug|auto"),
      HELP("batch: bytes a second of the store that takes what lies between two stages, written "
           "and read while nothing is processed; 0 = takes no time") },
    { FLAG("user_overlap", draft_pipeline, to.has_user_overlap), DEFAULT("false"),
      NEEDS("execution: batch|auto"),
      HELP("batch: stages without GPUs run at the same time as the stage with GPUs in front of "
           "them, or at the start behind them, as where the code of the user fetches the next "
           "input while the model works; barriers are left in front of the other stages with "
           "GPUs") },
    MEASURED_FIELD(draft_pipeline, "that of the scenario"),
    { TEXT("transfers", draft_pipeline, transfers), ABSENT("direct; off with semantics: tick"),
      HELP("how bytes_out of a stage come to the next: direct: from the node where they were made, "
           "over the network interfaces that are given (nic); off: in no time; or the name of a "
           "store of the cluster: written there by who made them, read by who takes them") },
    { TEXT("traffic", draft_pipeline, traffic), ABSENT("no class"),
      HELP("class of `transfers` at their store") },
    { LIST("stages", draft_pipeline, stages, &sim_schema_stage), REQUIRED,
      HELP("the stages in order; each feeds the next") },
};
const struct sim_section sim_schema_pipeline = {
    MAPPING("pipelines[]", draft_pipeline, pipeline_fields), HELP("A linear pipeline.")
};
