/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of jobs, in time and as a fill, innermost mappings first. What both have in
 * common stands in macros: a key that means nothing in one of them is not in its table.
 */
#include "sim/scenario/schema_parts.h"

static const struct sim_field target_fields[] = {
    { .key = "share",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_target, frac),
      .initial = "95%",
      .min = 1e-6,
      .max = 1,
      .help = "share of the jobs to cover, most frequent kinds first" },
    { .key = "cpu_jobs",
      .kind = SIM_FIELD_FLAG,
      AT(draft_target, has_cpu_jobs),
      .initial = "true",
      .help = "whether jobs without GPUs count" },
};
static const struct sim_section target_section = {
    .name = "target",
    .help = "The target workload: the kinds of jobs that fragmentation is measured against.",
    .fields = target_fields,
    .count = LENGTH(target_fields),
    .size = sizeof(struct draft_target)
};

static const struct sim_field defrag_fields[] = {
    { .key = "rule",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_defrag, rule),
      .initial = "none",
      .choices = "none|greedy|batch|one_pod",
      .help = "greedy: one by one the moves that lower fragmentation most for the size of the job; "
              "batch: those that take most of it along leave together, then all are placed; "
              "one_pod: the same, one from each of the worst nodes (FGD simulator)" },
    { .key = "budget",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_defrag, budget_frac),
      .initial = "1%",
      .max = 1,
      .help = "share of the placed jobs that may move" },
    { .key = "cost",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_defrag, cost_ns),
      .initial = "2m",
      .max = LARGEST_TIME,
      .help = "time for which the GPUs of a moved job do nothing" },
};
static const struct sim_section defrag_section = {
    .name = "fill[].defrag",
    .help = "What if some jobs were moved at the end: measured after the results of the run, which "
            "do not change.",
    .fields = defrag_fields,
    .count = LENGTH(defrag_fields),
    .size = sizeof(struct draft_defrag),
    .scalar_key = "rule"
};

static const struct sim_field arrivals_fields[] = {
    { .key = "process",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_arrivals, process),
      .fallback = "poisson, with a trace trace",
      .choices = "trace|poisson|renewal|hyperexponential|modulated|diurnal",
      .help = "trace: when the trace says; poisson; renewal: gaps of the law `gap`; "
              "hyperexponential: gaps of variation `cv`; modulated: Poisson that switches between "
              "bursts and lulls; diurnal: Poisson whose rate follows the time of day" },
    { .key = "rate",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_RATE,
      AT(draft_arrivals, rate_per_s),
      .fallback = "by load",
      .min = 1e-12,
      .max = 1e9,
      .help = "jobs per second on average" },
    { .key = "load",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_arrivals, load),
      .fallback = "by rate",
      .min = 1e-9,
      .max = 1e6,
      .help = "instead of rate: demand (rate x mean of GPUs x time) over the cluster's GPUs, of "
              "CPUs when it has no GPU" },
    { .key = "gap",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_arrivals, gap),
      .help = "for renewal: time between arrivals" },
    { .key = "cv",
      .needs = "process: hyperexponential",
      .kind = SIM_FIELD_NUMBER,
      AT(draft_arrivals, cv),
      .fallback = "2",
      .min = 1,
      .max = 1000,
      .help = "for hyperexponential: standard deviation over mean of the gaps" },
    { .key = "burst",
      .needs = "process: modulated",
      .kind = SIM_FIELD_NUMBER,
      AT(draft_arrivals, burst),
      .fallback = "4",
      .min = 1,
      .max = 1e6,
      .help = "for modulated: rate of a burst over the mean rate" },
    { .key = "burst_share",
      .needs = "process: modulated",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_arrivals, burst_share),
      .fallback = "10%",
      .min = 1e-6,
      .max = 0.999999,
      .help = "for modulated: share of the time in bursts; burst x burst_share is at most 1" },
    { .key = "dwell",
      .needs = "process: modulated",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_arrivals, dwell_ns),
      .fallback = "10 min",
      .min = 1e-3,
      .max = LARGEST_TIME,
      .help = "for modulated: mean length of a burst" },
    { .key = "amplitude",
      .needs = "process: diurnal",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_arrivals, amplitude),
      .fallback = "50%",
      .max = 1,
      .help = "for diurnal: swing of the rate about its mean" },
    { .key = "period",
      .needs = "process: diurnal",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_arrivals, period_ns),
      .fallback = "24 h",
      .min = 1e-3,
      .max = LARGEST_TIME,
      .help = "for diurnal" },
    { .key = "peak",
      .needs = "process: diurnal",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_arrivals, peak_ns),
      .fallback = "12 h",
      .max = LARGEST_TIME,
      .help = "for diurnal: when in the period the rate is highest" },
    { .key = "batch",
      .kind = SIM_FIELD_LAW,
      AT(draft_arrivals, batch),
      .fallback = "1",
      .help = "jobs that arrive together, rounded; rate and load stay those of jobs" },
};
static const struct sim_section arrivals_section = {
    .name = "jobs[].arrivals",
    .help = "When jobs arrive. The name of a process, or a mapping.",
    .fields = arrivals_fields,
    .count = LENGTH(arrivals_fields),
    .size = sizeof(struct draft_arrivals),
    .scalar_key = "process",
    .has_sources = true
};

#define CLASS_FIELDS                                                                               \
    NAME_FIELD(draft_job_class, "name of the class"),                                              \
        { .key = "weight",                                                                         \
          .kind = SIM_FIELD_NUMBER,                                                                \
          .unit = SIM_UNIT_FRACTION,                                                               \
          AT(draft_job_class, weight),                                                             \
          .initial = "1",                                                                          \
          .min = 0,                                                                                \
          .max = 1e9,                                                                              \
          .help = "share of the jobs that arrive without a count, relative to the other "          \
                  "classes" },                                                                     \
        { .key = "count",                                                                          \
          .kind = SIM_FIELD_COUNT64,                                                               \
          AT(draft_job_class, count),                                                              \
          .fallback = "as many as arrive",                                                         \
          .max = 1e9,                                                                              \
          .help = "exactly so many jobs, apart from the others: the first `at`, then one "         \
                  "`every`; all at once in the order of the classes when these are 0" },           \
        { .key = "at",                                                                             \
          .kind = SIM_FIELD_TIME,                                                                  \
          .unit = SIM_UNIT_TIME,                                                                   \
          AT(draft_job_class, at_ns),                                                              \
          .initial = "0 s",                                                                        \
          .max = LARGEST_TIME,                                                                     \
          .help = "with count: when the first arrives; in a fill its place in the order, where "   \
                  "jobs without a count come at 0" },                                              \
        { .key = "every",                                                                          \
          .kind = SIM_FIELD_TIME,                                                                  \
          .unit = SIM_UNIT_TIME,                                                                   \
          AT(draft_job_class, every_ns),                                                           \
          .initial = "0 s",                                                                        \
          .max = LARGEST_TIME,                                                                     \
          .help = "with count: time between two of them" },                                        \
        { .key = "request",                                                                        \
          .kind = SIM_FIELD_SECTION,                                                               \
          AT(draft_job_class, request),                                                            \
          .section = &sim_schema_request,                                                          \
          .help = "what each member of a job takes" },                                             \
        { .key = "gpu_types",                                                                      \
          .was = "models",                                                                         \
          .kind = SIM_FIELD_TEXT,                                                                  \
          .flags = SIM_FIELD_WORDS,                                                                \
          AT(draft_job_class, gpu_types),                                                          \
          .fallback = "any",                                                                       \
          .help = "accepted GPU types: [a100-80, h100]" },                                         \
        { .key = "members",                                                                        \
          .kind = SIM_FIELD_COUNT,                                                                 \
          AT(draft_job_class, members),                                                            \
          .initial = "1",                                                                          \
          .min = 1,                                                                                \
          .max = 100000,                                                                           \
          .help = "equal parts of a job (a gang): all start together or none does" },              \
    {                                                                                              \
        .key = "placement_group", .was = "group", .kind = SIM_FIELD_CHOICE,                        \
        AT(draft_job_class, group), .fallback = "none",                                            \
        .choices = "none|pack|spread|strict_pack|strict_spread",                                   \
        .help = "the members are bundles of a placement group, as Ray has them: on few nodes, on " \
                "many, on one, or each on another; none: the placement policy alone"               \
    }

#define NOT_IN_A_FILL "acts on jobs that run for a time (jobs:); nothing ends in a fill"

static const struct sim_field job_class_fields[] = {
    CLASS_FIELDS,
    { .key = "run_time",
      .was = "service",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_job_class, run_time),
      .fallback = "that of all jobs",
      .help = "how long a job runs" },
    { .key = "patience",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_job_class, patience),
      .fallback = "that of all jobs",
      .help = "a job leaves when it waited so long" },
    { .key = "estimate",
      .kind = SIM_FIELD_NUMBER,
      AT(draft_job_class, estimate),
      .initial = "1",
      .min = 1e-6,
      .max = 1e6,
      .help = "what the scheduler is told of the run time, over the run time" },
    { .key = "priority",
      .kind = SIM_FIELD_WHOLE,
      AT(draft_job_class, priority),
      .initial = "0",
      .min = -1e9,
      .max = 1e9,
      .help = "larger is more urgent" },
};
static const struct sim_section job_class_section = { .name = "jobs[].classes[]",
                                                      .help = "A kind of jobs.",
                                                      .fields = job_class_fields,
                                                      .count = LENGTH(job_class_fields),
                                                      .size = sizeof(struct draft_job_class),
                                                      .has_sources = true };

static const struct sim_field fill_class_fields[] = { CLASS_FIELDS };
static const struct sim_section fill_class_section = { .name = "fill[].classes[]",
                                                       .help = "A kind of jobs.",
                                                       .fields = fill_class_fields,
                                                       .count = LENGTH(fill_class_fields),
                                                       .size = sizeof(struct draft_job_class),
                                                       .has_sources = true,
                                                       .other = &job_class_section,
                                                       .other_says = NOT_IN_A_FILL };

/* Where jobs come from: a trace, or classes. */
#define SOURCE_FIELDS(type, class_section)                                                         \
    NAME_FIELD(type, "what these jobs are called"),                                                \
        { .key = "trace",                                                                          \
          .was = "file",                                                                           \
          .kind = SIM_FIELD_TEXT,                                                                  \
          AT(type, source.trace),                                                                  \
          .fallback = "the jobs are generated: `classes`",                                         \
          .help = "file with the jobs, plain, gzip or zstd (`weir trace info` says what is in "    \
                  "it)" },                                                                         \
        { .key = "format",                                                                         \
          .kind = SIM_FIELD_TEXT,                                                                  \
          AT(type, source.format),                                                                 \
          .fallback = "found by the head of the trace",                                            \
          .help = "format of the trace: openb, swf, or table = any CSV file through `columns` "    \
                  "(`weir trace formats`)" },                                                      \
        { .key = "columns",                                                                        \
          .was = "map",                                                                            \
          .kind = SIM_FIELD_TEXT,                                                                  \
          AT(type, source.columns),                                                                \
          .fallback = "found by the head of the trace",                                            \
          .help = "for table: which column says what, a built-in map by name, or a file "          \
                  "(docs/traces.md)" },                                                            \
        { .key = "on_bad_row",                                                                     \
          .kind = SIM_FIELD_CHOICE,                                                                \
          AT(type, source.on_bad_row),                                                             \
          .fallback = "fail",                                                                      \
          .choices = "fail|skip",                                                                  \
          .help = "a bad row of the trace is an error, or is left out with a warning" },           \
        { .key = "processor",                                                                      \
          .kind = SIM_FIELD_CHOICE,                                                                \
          AT(type, source.processor),                                                              \
          .fallback = "cpu",                                                                       \
          .choices = "cpu|gpu",                                                                    \
          .help = "for formats that count processors (swf): what one of them is" },                \
        { .key = "classes",                                                                        \
          .kind = SIM_FIELD_LIST,                                                                  \
          .flags = SIM_FIELD_BY_NAME,                                                              \
          AT(type, source.classes),                                                                \
          .section = &(class_section),                                                             \
          .fallback = "the jobs are those of the trace",                                           \
          .help = "instead of a trace: the kinds of jobs that are generated" },                    \
        { .key = "target",                                                                         \
          .kind = SIM_FIELD_SECTION,                                                               \
          AT(type, source.target),                                                                 \
          .section = &target_section,                                                              \
          .help = "what fragmentation is measured against" },                                      \
    {                                                                                              \
        .key = "count", .was = "jobs", .kind = SIM_FIELD_COUNT64, AT(type, source.count),          \
        .fallback = "all of the trace; until the horizon", .min = 1, .max = 1e10,                  \
        .help = "jobs that arrive at most"                                                         \
    }

static const struct sim_field jobs_fields[] = {
    SOURCE_FIELDS(draft_jobs, job_class_section),
    { .key = "arrivals",
      .kind = SIM_FIELD_SECTION,
      AT(draft_jobs, arrivals),
      .section = &arrivals_section,
      .fallback = "as the trace says",
      .help =
          "when jobs arrive. With a trace and another process than `trace`, jobs are drawn from "
          "its rows with replacement" },
    { .key = "run_time",
      .was = "service",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_jobs, run_time),
      .fallback = "as the trace says",
      .help = "how long a job runs" },
    { .key = "run_time_limit",
      .was = "service_limit",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_jobs, run_time_limit_ns),
      .fallback = "none",
      .min = 1e-9,
      .max = LARGEST_TIME,
      .help = "longer run times are cut to this" },
    { .key = "patience",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_jobs, patience),
      .fallback = "as the trace says, else without end",
      .help = "a job leaves when it waited so long" },
    { .key = "deadline",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_jobs, deadline_ns),
      .fallback = "none",
      .min = 1e-9,
      .max = LARGEST_TIME,
      .help = "a job that ends later than this after its submission is late "
              "(sla.violation_rate)" },
    { .key = "from",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_jobs, from_ns),
      .fallback = "0 s",
      .max = LARGEST_TIME,
      .help = "with arrivals: trace: time of the trace that is time 0 of the run; jobs submitted "
              "before are there at the start" },
    { .key = "queue_limit",
      .kind = SIM_FIELD_COUNT64,
      AT(draft_jobs, queue_limit),
      .fallback = "none",
      .max = 1e12,
      .help = "jobs that may wait; one that comes when so many wait and cannot start at once is "
              "refused (0 = a loss system)" },
    { .key = "retries",
      .kind = SIM_FIELD_COUNT,
      AT(draft_jobs, retries),
      .fallback = "0",
      .max = 1e9,
      .help = "how often a refused job comes again" },
    { .key = "retry_delay",
      .kind = SIM_FIELD_LAW,
      .unit = SIM_UNIT_TIME,
      AT(draft_jobs, retry_delay),
      .fallback = "60 s",
      .help = "time until a refused job comes again" },
};
const struct sim_section sim_schema_jobs = {
    .name = "jobs[]",
    .help = "Jobs that arrive, wait, run and end, from a trace or generated.",
    .fields = jobs_fields,
    .count = LENGTH(jobs_fields),
    .size = sizeof(struct draft_jobs),
    .other = &sim_schema_fill,
    .other_says = "acts on a fill alone (fill:), where no job ends"
};

static const struct sim_field fill_fields[] = {
    SOURCE_FIELDS(draft_fill, fill_class_section),
    { .key = "order",
      .kind = SIM_FIELD_TEXT,
      AT(draft_fill, order),
      .initial = "none",
      .help = "order of arrival: none = as the trace has them, shuffled = at random by seed and "
              "replication, or a file with kept orders of arrival and of nodes" },
    { .key = "order_key",
      .kind = SIM_FIELD_TEXT,
      AT(draft_fill, order_key),
      .help = "which order of the file: TRACE:SEED" },
    { .key = "node_order",
      .was = "ranks",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_fill, node_order),
      .fallback = "file when order is a file, else as_given",
      .choices = "file|shuffled|as_given",
      .help = "order of the nodes, which decides ties between them: that of the order file, at "
              "random by seed and replication, or as the cluster has them" },
    { .key = "demand",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_fill, demand),
      .fallback = "what the rows ask for",
      .min = 0,
      .max = 1000,
      .help = "GPU demand that arrives, as a share of the cluster's GPUs: rows drawn at random "
              "arrive again at the end until the next would pass it, or random ones are left out" },
    { .key = "refused",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_fill, refusal),
      .initial = "forget",
      .choices = "forget|stop",
      .help = "a job that fits nowhere is forgotten (its demand has arrived all the same), or "
              "stops the run" },
    { .key = "defrag",
      .kind = SIM_FIELD_SECTION,
      AT(draft_fill, defrag),
      .section = &defrag_section,
      .help = "what if some jobs were moved at the end" },
};
const struct sim_section sim_schema_fill = {
    .name = "fill[]",
    .help =
        "Jobs that are placed one by one, each at once or not at all, and never end: how full a "
        "cluster gets. It stands alone in its scenario.",
    .fields = fill_fields,
    .count = LENGTH(fill_fields),
    .size = sizeof(struct draft_fill),
    .other = &sim_schema_jobs,
    .other_says = NOT_IN_A_FILL
};
