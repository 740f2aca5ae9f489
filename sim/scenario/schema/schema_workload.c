/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of jobs, in time and as a fill, innermost mappings first. What both have in
 * common stands in macros: a key that means nothing in one of them is not in its table.
 */
#include "sim/scenario/schema/schema_parts.h"

static const struct sim_field target_fields[] = {
    { NUMBER("share", draft_target, frac), UNIT(FRACTION), DEFAULT("95%"), RANGE(1e-6, 1),
      HELP("share of the jobs to cover, most frequent kinds first") },
    { FLAG("cpu_jobs", draft_target, has_cpu_jobs), DEFAULT("true"),
      HELP("whether jobs without GPUs count") },
};
static const struct sim_section target_section = {
    MAPPING("target", draft_target, target_fields),
    HELP("The target workload: the kinds of jobs that fragmentation is measured against.")
};

static const struct sim_field defrag_fields[] = {
    { CHOICE("rule", draft_defrag, to.rule, "none|greedy|batch|one_pod"), DEFAULT("none"),
      SHOWS("asked after the results, which stay"),
      HELP("greedy: one by one the moves that lower fragmentation most for the size of the job; "
           "batch: those that take most of it along leave together, then all are placed; one_pod: "
           "the same, one from each of the worst nodes (FGD simulator)") },
    { NUMBER("budget", draft_defrag, to.budget_frac), UNIT(FRACTION), DEFAULT("1%"), MOST(1),
      SHOWS("asked after the results, which stay"),
      HELP("share of the placed jobs that may move") },
    { TIME("cost", draft_defrag, to.cost_ns), DEFAULT("2m"), MOST(LARGEST_TIME),
      SHOWS("asked after the results, which stay"),
      HELP("time for which the GPUs of a moved job do nothing") },
};
static const struct sim_section defrag_section = {
    MAPPING("fill[].defrag", draft_defrag, defrag_fields), SCALAR("rule"),
    HELP("What if some jobs were moved at the end: measured after the results of the run, which do "
         "not change.")
};

#define CLASS_FIELDS                                                                               \
    NAME_FIELD(draft_job_class, "name of the class"),                                              \
        { NUMBER("weight", draft_job_class, to.weight), WEIGHT, NEEDS("no count"),                 \
          HELP("share of the jobs that arrive without a count, relative to the other classes") },  \
        { COUNT64("count", draft_job_class, to.count), ABSENT("as many as arrive"), MOST(1e9),     \
          HELP("exactly so many jobs, apart from the others: the first `at`, then one `every`; "   \
               "all at once in the order of the classes when these are 0") },                      \
        { TIME("at", draft_job_class, to.submit_ns), DEFAULT("0 s"), MOST(LARGEST_TIME),           \
          NEEDS("count or users"),                                                                 \
          HELP("when the first arrives; in a fill its place in the order, where jobs without a "   \
               "count come at 0") },                                                               \
        { TIME("every", draft_job_class, to.every_ns), DEFAULT("0 s"), MOST(LARGEST_TIME),         \
          NEEDS("count or users"), HELP("time between two of them") },                             \
        { SECTION("request", draft_job_class, request, &sim_schema_job_request),                   \
          HELP("what each member of a job takes") },                                               \
        { TEXT("gpu_types", draft_job_class, gpu_types), WORDS, ABSENT("any"), WAS("models"),      \
          HELP("accepted GPU types: [a100-80, h100]") },                                           \
        { COUNT("members", draft_job_class, to.members), DEFAULT("1"), RANGE(1, 100000),           \
          HELP("equal parts of a job (a gang): all start together or none does") },                \
    {                                                                                              \
        CHOICE("placement_group", draft_job_class, to.group,                                       \
               "none|pack|spread|strict_pack|strict_spread"),                                      \
            ABSENT("none"), WAS("group"),                                                          \
            HELP("the ranks of a job are bundles of a placement group, as Ray has them: on few "   \
                 "nodes, on many, on one, or each on another; none: the placement policy alone")   \
    }

static const struct sim_field step_fields[] = {
    { TIME("time", draft_step, to.time_ns), REQUIRED, RANGE(1e-6, LARGEST_TIME),
      HELP("computing of one step; run_time is the computing of all steps of a job") },
    { NUMBER("spread", draft_step, to.spread), ABSENT("0"), MOST(2),
      HELP("how unequal ranks are, as the standard deviation of the logarithm of what a rank takes "
           "for a step (lognormal, mean 1): a step is as long as its slowest rank") },
    { BYTES("sync", draft_step, to.sync_bytes), ABSENT("0 B"), MOST(LARGEST_MOVED),
      HELP("bytes of every rank that are all-reduced at the end of a step, over the links between "
           "the GPUs of the job") },
    { TIME("latency", draft_step, to.latency_ns), ABSENT("50 us on one node, 0.5 ms over several"),
      MOST(3600), NEEDS("sync > 0"), HELP("time of an all-reduce beside that of its bytes") },
};
static const struct sim_section step_section = {
    MAPPING("step", draft_step, step_fields), SOURCES,
    HELP("A job in steps: its ranks (one a GPU) compute, wait for the slowest, exchange, and go "
         "on.")
};

static const struct sim_field parallel_fields[] = {
    { BYTES("model", draft_parallel, model_bytes), REQUIRED, MOST(LARGEST_BYTES),
      HELP("memory of the whole model: parameters, gradients, state of the optimizer") },
    { BYTES("activations", draft_parallel, activations_bytes), ABSENT("0 B"), MOST(LARGEST_BYTES),
      HELP("memory of a rank beside its part of the model") },
    { COUNT("tensor", draft_parallel, tensor), ABSENT("1"), RANGE(1, 1000),
      HELP("ranks that a layer is divided over") },
    { COUNT("pipeline", draft_parallel, pipeline), ABSENT("1"), RANGE(1, 1000),
      HELP("groups of layers, each on other ranks") },
    { COUNT("micro_batches", draft_parallel, micro_batches), ABSENT("no time is lost"),
      RANGE(1, 1000000), NEEDS("pipeline > 1"),
      HELP("parts m of a batch that pass through the pipeline of p groups one behind the other: of "
           "the computing of a step (p - 1) / (m + p - 1) of the time is lost filling and emptying "
           "it") },
};
static const struct sim_section parallel_section = {
    MAPPING("jobs[].classes[].parallel", draft_parallel, parallel_fields), SCALAR("model"), SOURCES,
    HELP(
        "A model divided over ranks: a rank needs model / (tensor x pipeline) + activations of the "
        "memory of its GPU, and has no gpu_memory in its request.")
};

static const struct sim_field rank_group_fields[] = {
    NAME_FIELD(draft_rank_group, "what these ranks are called"),
    { SECTION("request", draft_rank_group, request, &sim_schema_job_request),
      HELP("what each of them takes") },
    { TEXT("gpu_types", draft_rank_group, gpu_types), WORDS, ABSENT("any"),
      HELP("accepted GPU types") },
    { COUNT("members", draft_rank_group, to.members), DEFAULT("1"), RANGE(1, 100000),
      HELP("so many of them") },
};
static const struct sim_section rank_group_section = {
    MAPPING("jobs[].classes[].groups[]", draft_rank_group, rank_group_fields), SOURCES,
    HELP("Ranks that ask for something else than the members: parameter servers, a launcher. They "
         "start and end with them. The work is that of the members; on a slow place another rank "
         "slows it down as a member would.")
};

static const struct sim_field elastic_fields[] = {
    { COUNT("least", draft_elastic, to.least), REQUIRED, RANGE(1, 100000),
      HELP("members that the job goes on with; when it has fewer it waits again") },
    { COUNT("most", draft_elastic, to.most), ABSENT("its members"), RANGE(1, 100000),
      HELP("members that a policy which chooses their number may start it with; other policies "
           "start it with `members`") },
    { CHOICE("on_loss", draft_elastic, to.on_loss, "requeue|shrink|heal"), ABSENT("shrink"),
      HELP("what a job does that lost members with their node: waits again, as one that is not "
           "elastic; goes on with the others; or goes on and takes members anew, one at a time, "
           "before all who wait, wherever there is a place") },
    { NUMBER("serial", draft_elastic, to.serial), UNIT(FRACTION), ABSENT("0"), MOST(1),
      HELP("share of the work that more members do not make faster: n of them are "
           "1 / (serial + (1 - serial) / n) times as fast as one (Amdahl)") },
    { TEXT("speeds", draft_elastic, speeds), WORDS, ABSENT("by serial"),
      HELP("instead: how fast 1, 2, 3 ... members are, as measured: [1, 1.9, 2.7]; more than are "
           "listed are as fast as the last") },
    { TEXT("step_times", draft_elastic, step_times), WORDS, ABSENT("by serial"),
      HELP("instead: a, b, c of a step that takes a/n + b + c n with n members (Optimus)") },
    { TEXT("goodput", draft_elastic, goodput), WORDS, ABSENT("by serial"),
      HELP("instead: the 13 numbers of Pollux' goodput, with which the batch grows with the "
           "members: time to compute, fixed and an example; to exchange over nodes, fixed and a "
           "member; on one node, the same; overlap; squared norm and variance of the gradient; "
           "batch it was tuned for, the largest, smallest and largest of one member") },
    { TIME("resize", draft_elastic, to.resize_ns), ABSENT("0 s"), MOST(LARGEST_TIME),
      HELP("time it stands still after each change of its members") },
};
static const struct sim_section elastic_section = {
    MAPPING("jobs[].classes[].elastic", draft_elastic, elastic_fields), SCALAR("least"), SOURCES,
    HELP("A job whose number of members may change while it runs; run_time is that with all.")
};

#define NOT_IN_A_FILL "acts on jobs that run for a time (jobs:); nothing ends in a fill"

static const struct sim_field job_class_fields[] = {
    CLASS_FIELDS,
    { LAW("run_time", draft_job_class, to.service), UNIT(TIME), ABSENT("that of all jobs"),
      WAS("service"), HELP("how long a job runs") },
    { COUNT("measurements", draft_job_class, to.measurements), ABSENT("its mean is known"),
      RANGE(1, 1e9),
      HELP("that run_time rests on: every replication draws its mean anew, within what they leave "
           "open") },
    { LAW("patience", draft_job_class, to.patience), UNIT(TIME), ABSENT("that of all jobs"),
      HELP("a job leaves when it waited so long") },
    { NUMBER("estimate", draft_job_class, to.estimate_factor), DEFAULT("1"), RANGE(1e-6, 1e6),
      HELP("what the scheduler is told of the run time, over the run time") },
    { BYTES("activations", draft_job_class, to.activation_bytes), DEFAULT("0 B"),
      MOST(LARGEST_BYTES),
      HELP("memory of each of its GPUs that a rank takes while it works, beside what it asks for; "
           "where so much is not free, or its tenant has a limit below, the job fails") },
    { WHOLE("priority", draft_job_class, priority), DEFAULT("0"), RANGE(-1e9, 1e9),
      HELP("larger is more urgent") },
    { NUMBER("worth", draft_job_class, to.worth), DEFAULT("1"), MOST(1e12), NEEDS("objective"),
      SHOWS("counts in `objective`; no policy looks at it"),
      HELP("of one that is done, to the objective") },
    { TEXT("tenant", draft_job_class, tenant), ABSENT("that of all jobs"), A_NAME,
      HELP("whose jobs they are") },
    { TEXT("reservation", draft_job_class, reservation), ABSENT("those of its tenant"), A_NAME,
      HELP("entry of `reservations` that these jobs may use") },
    { NAMED("licences", draft_job_class, licences, &sim_schema_taken), ABSENT("none"),
      HELP("licences that each of these jobs takes") },
    { SECTION("memory_traffic", draft_job_class, traffic, &sim_schema_traffic), ABSENT("none"),
      HELP("what each member takes of the memory system of its GPU") },
    { SECTION("step", draft_job_class, step, &step_section), ABSENT("that of all jobs"),
      HELP("steps that it goes in") },
    { SECTION("parallel", draft_job_class, parallel, &parallel_section),
      ABSENT("memory as the request says"), HELP("the model that is divided over its ranks") },
    { LIST("groups", draft_job_class, groups, &rank_group_section), BY_NAME, ABSENT("none"),
      HELP("ranks beside the members that ask for something else") },
    { SECTION("elastic", draft_job_class, elastic, &elastic_section),
      ABSENT("it runs with all its ranks or not at all"), HELP("how few members it goes on with") },
    { TEXT("after", draft_job_class, after), ABSENT("jobs come by themselves"),
      HELP("class of these jobs: the n-th job of this one comes when the n-th of that one is over, "
           "however it ended, after `think`") },
    { LAW("think", draft_job_class, to.think), UNIT(TIME), ABSENT("0 s"), NEEDS("after or users"),
      HELP("time from the end of the one before to the submission") },
    { COUNT("users", draft_job_class, to.users), ABSENT("jobs come by themselves"), RANGE(1, 1e6),
      HELP(
          "a closed population: so many submit a job each (the first `at`, then one `every`), wait "
          "until it is over, `think`, and submit the next; `count` jobs in all") },
    { TEXT("until", draft_job_class, until), ABSENT("the job itself"),
      HELP("with users: class behind it, by `after`, whose job is to be over before the user "
           "thinks: "
           "a user goes from one class to the next") },
    { COUNT("array", draft_job_class, to.array), ABSENT("1"), RANGE(1, 1e6),
      HELP("jobs that one submission brings: each waits, starts and ends by itself, and the array "
           "is over with the last") },
    { COUNT("array_limit", draft_job_class, to.array_limit), ABSENT("all"), RANGE(1, 1e6),
      NEEDS("array"),
      HELP("jobs of an array that wait or run at a time; the next comes when one is over") },
    WORK_FIELD(draft_job_class, "that of all jobs"),
    MEASURED_FIELD(draft_job_class, "that of all jobs"),
};
static const struct sim_section job_class_section = {
    MAPPING("jobs[].classes[]", draft_job_class, job_class_fields), SOURCES, HELP("A kind of jobs.")
};

static const struct sim_field fill_class_fields[] = { CLASS_FIELDS };
static const struct sim_section fill_class_section = {
    MAPPING("fill[].classes[]", draft_job_class, fill_class_fields), SOURCES,
    NOT_OF(&job_class_section, NOT_IN_A_FILL), HELP("A kind of jobs.")
};

/* Where jobs come from: a trace, or classes. */
#define SOURCE_FIELDS(type, class_section)                                                         \
    NAME_FIELD(type, "what these jobs are called"),                                                \
        { TEXT("trace", type, source.trace), ABSENT("the jobs are generated: `classes`"),          \
          WAS("file"),                                                                             \
          HELP("file with the jobs, plain, gzip or zstd (`weir show` says what is in it)") },      \
        { TEXT("format", type, source.format), ABSENT("found by the head of the trace"),           \
          NEEDS("trace"),                                                                          \
          HELP("format of the trace: openb, swf, or table = any CSV file through `columns` "       \
               "(`weir list traces`)") },                                                          \
        { TEXT("columns", type, source.columns), ABSENT("found by the head of the trace"),         \
          WAS("map"), NEEDS("trace"),                                                              \
          HELP("for table: which column says what, a built-in map by name, or a file "             \
               "(docs/traces.md)") },                                                              \
        { CHOICE("on_bad_row", type, source.on_bad_row, "fail|skip"), ABSENT("fail"),              \
          NEEDS("trace"),                                                                          \
          HELP("a bad row of the trace is an error, or is left out with a warning") },             \
        { CHOICE("processor", type, source.processor, "cpu|gpu"), ABSENT("cpu"), NEEDS("trace"),   \
          HELP("for formats that count processors (swf): what one of them is") },                  \
        { LIST("classes", type, source.classes, &(class_section)), BY_NAME,                        \
          ABSENT("the jobs are those of the trace"),                                               \
          HELP("instead of a trace: the kinds of jobs that are generated") },                      \
        { SECTION("target", type, source.target, &target_section),                                 \
          HELP("what fragmentation is measured against") },                                        \
    {                                                                                              \
        COUNT64("count", type, source.count), ABSENT("all of the trace; until the horizon"),       \
            RANGE(1, 1e10), WAS("jobs"), HELP("jobs that arrive at most")                          \
    }

static const struct sim_field checkpoint_fields[] = {
    { CHOICE("rule", draft_checkpoint, to.rule, "fixed|young|daly|saxena|optimum"), ABSENT("fixed"),
      OTHERWISE("fixed"),
      HELP("fixed: as `interval` says; the others work it out at every start of a job, from the "
           "cost C of a checkpoint, the restart R and the time M between failures of the job: "
           "young sqrt(2 C M), daly the same with terms of higher order, saxena "
           "C + sqrt(2 (M + R) C + C^2), optimum the least expected time") },
    { TIME("interval", draft_checkpoint, to.interval_ns), ABSENT("needed by the rule fixed"),
      RANGE(1e-3, LARGEST_TIME), NEEDS("rule: fixed"), HELP("work between two checkpoints") },
    { TIME("mtbf", draft_checkpoint, to.mtbf_ns),
      ABSENT("by the failures of the cluster, of the nodes and GPUs that the job holds"),
      RANGE(1e-3, LARGEST_TIME), NEEDS("rule: young|daly|saxena|optimum"),
      HELP("time between failures of a job, for the rule") },
    { TIME("cost", draft_checkpoint, to.cost_ns), ABSENT("0 s"), MOST(LARGEST_TIME),
      HELP("time a job does not work while one is written") },
    { TIME("restart", draft_checkpoint, to.restart_ns), ABSENT("0 s"), MOST(LARGEST_TIME),
      HELP("time before a job that was lost works again, on top of start_latency") },
    { BYTES("bytes", draft_checkpoint, bytes), ABSENT("0 B"), RANGE(1, LARGEST_BYTES),
      HELP("of a checkpoint: its first rank writes them to the store while the job stands still, "
           "and reads them before a job that was lost works again; both on top of the times") },
    { TEXT("store", draft_checkpoint, store), ABSENT("needed by bytes"),
      HELP("store of the cluster that takes the bytes") },
    { TEXT("traffic", draft_checkpoint, traffic), ABSENT("no class"), HELP("its class there") },
    { COUNT("writers", draft_checkpoint, to.writers), ABSENT("any number, none waits"),
      RANGE(1, 1e6),
      HELP("jobs of these that write at a time: the others work on until it is their turn, and "
           "their first checkpoints are spread over the interval") },
};
static const struct sim_section checkpoint_section = {
    MAPPING("jobs[].checkpoint", draft_checkpoint, checkpoint_fields), SCALAR("interval"), SOURCES,
    HELP("Checkpoints: a job that loses a rank goes on from the last one instead of from zero. "
         "docs/model/jobs.md says which rule is whose.")
};

static const struct sim_field preemption_fields[] = {
    { CHOICE("keeps", draft_preemption, keeps, "checkpoint|all"), ABSENT("checkpoint"),
      HELP("what a preempted job goes on with: its last checkpoint (none: it begins anew), or all "
           "that it has done") },
    { TIME("restart", draft_preemption, restart_ns), ABSENT("that of the checkpoint"),
      MOST(LARGEST_TIME),
      HELP("time before a job that was preempted works again, on top of start_latency") },
};
static const struct sim_section preemption_section = {
    MAPPING("jobs[].preemption", draft_preemption, preemption_fields), SCALAR("keeps"), SOURCES,
    HELP("What it costs a job when a queueing policy gives its place to others.")
};

static const struct sim_field calls_fields[] = {
    { TEXT("service", draft_calls, service), REQUIRED, HELP("a service of the scenario") },
    { TIME("timeout", draft_calls, to.timeout_ns), ABSENT("30 s"), RANGE(1e-9, LARGEST_TIME),
      HELP("after which a call that nobody answers has failed") },
    { COUNT("attempts", draft_calls, to.attempts), ABSENT("3"), RANGE(1, LARGEST_COUNT),
      HELP("calls that fail in a row before the run of the job does") },
    { FLAG("gate", draft_calls, to.is_gated), ABSENT("false"),
      HELP("whether jobs ask first: while the service cannot be reached none of them waits for a "
           "place or holds one, and those that work give it back at once") },
};
static const struct sim_section calls_section = {
    MAPPING("jobs[].calls", draft_calls, calls_fields), SCALAR("service"), SOURCES,
    HELP("A service that jobs call while they run. While it cannot be reached they stand still, "
         "with all that they hold.")
};

#define COUNTED SHOWS("counts in `objective`; no policy looks at it")

static const struct sim_field objective_fields[] = {
    { NUMBER("late", draft_objective, to.late), DEFAULT("0"), MOST(1e12), NEEDS("deadline"),
      COUNTED, HELP("for each job that is done after its `deadline`") },
    { NUMBER("scattered", draft_objective, to.scattered), DEFAULT("0"), MOST(1e12), COUNTED,
      HELP("for each start that is not where its `placement_group` prefers it") },
    { NUMBER("preempted", draft_objective, to.preempted), DEFAULT("0"), MOST(1e12), COUNTED,
      HELP("each time a job gives its place to others") },
    { NUMBER("refused", draft_objective, to.refused), DEFAULT("0"), MOST(1e12), COUNTED,
      HELP("for each job that is refused for good") },
};
static const struct sim_section objective_section = {
    MAPPING("jobs[].objective", draft_objective, objective_fields),
    HELP(
        "What is to be maximised: the sum of `worth` over the jobs that are done, less so much for "
        "each violation.")
};

static const struct sim_field jobs_fields[] = {
    SOURCE_FIELDS(draft_jobs, job_class_section),
    { TEXT("tenant", draft_jobs, tenant), ABSENT("as the trace says, else nobody's"), A_NAME,
      HELP("whose jobs they are: the name of an entry of tenants; where the scenario has none, any "
           "name, of a tenant without limits") },
    { SECTION("arrivals", draft_jobs, arrivals, &sim_schema_job_arrivals),
      ABSENT("as the trace says"),
      HELP("when jobs arrive. With a trace and another process than `trace`, jobs are drawn from "
           "its rows with replacement") },
    { LAW("run_time", draft_jobs, run_time), UNIT(TIME), ABSENT("as the trace says"),
      WAS("service"), HELP("how long a job runs") },
    { TIME("run_time_limit", draft_jobs, run_time_limit_ns), ABSENT("none"),
      RANGE(1e-9, LARGEST_TIME), WAS("service_limit"), HELP("longer run times are cut to this") },
    { LAW("estimate", draft_jobs, estimate), ABSENT("as the trace or the class says"),
      HELP("what its submitter says a job runs, times what it does: const(1) = exact; "
           "`over_estimate` says what becomes of one that runs longer") },
    { CHOICE("over_estimate", draft_jobs, over_estimate, "run|kill"), ABSENT("run"),
      HELP(
          "a job that runs longer than its estimate, in one go and its start included, runs on, or "
          "ends there undone (jobs.overrun)") },
    { TIME("timeout", draft_jobs, timeout_ns), ABSENT("none"), RANGE(1e-9, LARGEST_TIME),
      HELP("a job that runs longer than this, in one go and its start included, whatever its "
           "estimate, ends there undone (jobs.overrun)") },
    { LAW("patience", draft_jobs, patience), UNIT(TIME),
      ABSENT("as the trace says, else without end"), HELP("a job leaves when it waited so long") },
    { TIME("starved_after", draft_jobs, starved_after_ns), ABSENT("none"),
      RANGE(1e-9, LARGEST_TIME), SHOWS("counts who starves; no policy looks at it"),
      HELP("a job that waits longer for its first start is starved (starvation.count)") },
    { TIME("deadline", draft_jobs, deadline_ns), ABSENT("none"), RANGE(1e-9, LARGEST_TIME),
      SHOWS("counts who is late; no policy looks at it"),
      HELP("a job that ends later than this after its submission is late (sla.violation_rate)") },
    { NUMBER("late_price", draft_jobs, late_price), UNIT(RATE), ABSENT("0"), RANGE(0, 1e9),
      NEEDS("deadline"), SHOWS("it is reckoned afterwards"),
      HELP("price of the time by which a job ends after its deadline: 2/min; with prices") },
    { TIME("from", draft_jobs, from_ns), ABSENT("0 s"), MOST(LARGEST_TIME),
      HELP("with arrivals: trace: time of the trace that is time 0 of the run; jobs submitted "
           "before are there at the start") },
    { COUNT64("first_row", draft_jobs, first_row), ABSENT("1"), RANGE(1, 1e12), NEEDS("trace"),
      HELP("of a trace: rows before this one are left out, and its submission is time 0 (`count` "
           "says how many come)") },
    { TEXT("first_job", draft_jobs, first_job), ABSENT("the first row"), NEEDS("trace"),
      HELP("the same by the name of the job in the trace") },
    { TIMESTAMP("first_date", draft_jobs, first_date_s), ABSENT("the first row"), NEEDS("trace"),
      HELP("the same by a date (2017-10-09T08:00:00Z), of a trace that says its dates: rows "
           "submitted "
           "before it are left out, and it is time 0") },
    { TIMESTAMP("last_date", draft_jobs, last_date_s), ABSENT("the last row"), NEEDS("trace"),
      HELP("rows of a trace submitted from this date on are left out") },
    { TEXT("profiles", draft_jobs, profiles), ABSENT("none"), NEEDS("trace"),
      HELP("a CSV file of models (docs/traces.md): what a job of a trace asks for, exchanges and "
           "how fast it is on each GPU type, by its model and number of GPUs") },
    { CHOICE("ties", draft_jobs, ties, "as_given|shortest|smallest"), ABSENT("as_given"),
      HELP("order of rows of a trace that are submitted at one instant: that of the trace; the "
           "shorter run time, then fewer GPUs; or fewer GPUs, then the shorter run time") },
    { CHOICE("dependencies", draft_jobs, dependencies, "follow|ignore"), ABSENT("follow"),
      HELP(
          "a row of a trace that names a job before it (swf: fields 17 and 18) comes when that one "
          "is over, after its think time, or where none is said not before its own time; or as "
          "any other row") },
    { COUNT64("queue_limit", draft_jobs, queue_limit), ABSENT("none"), MOST(1e12),
      HELP("jobs that may wait; one that comes when so many wait and cannot start at once is "
           "refused (0 = a loss system)") },
    { COUNT("retries", draft_jobs, retries), DEFAULT("0"), MOST(1e9),
      NEEDS("queue_limit or timeline[].action: head_down"),
      HELP("how often a refused job comes again") },
    { NUMBER("retry_growth", draft_jobs, retry_growth), ABSENT("1: always as long"), RANGE(1, 1000),
      NEEDS("retries > 1"),
      HELP("retry_delay becomes so many times longer from one refusal of a job to the next: 2 = "
           "exponential back-off") },
    { LAW("retry_delay", draft_jobs, retry_delay), UNIT(TIME), ABSENT("60 s"), NEEDS("retries > 0"),
      HELP("time until a refused job comes again") },
    { COUNT("max_attempts", draft_jobs, max_attempts), ABSENT("no limit"), RANGE(1, LARGEST_COUNT),
      HELP(
          "how often a job is started at most: one that loses that run, to a failure or to others, "
          "is given up undone (retry.exhausted)") },
    WORK_FIELD(draft_jobs, "dense"),
    MEASURED_FIELD(draft_jobs, "that of the scenario; run times of a trace are as recorded"),
    { LAW("start_latency", draft_jobs, start_latency), UNIT(TIME), ABSENT("none"),
      HELP("time from the placement of a job to its work, at each of its starts; its devices are "
           "held") },
    { SECTION("checkpoint", draft_jobs, checkpoint, &checkpoint_section),
      ABSENT("none: a job that is lost begins anew"), HELP("checkpoints of running jobs") },
    { SECTION("preemption", draft_jobs, preemption, &preemption_section),
      ABSENT("a job goes on from its last checkpoint"),
      HELP("what a job keeps when a policy stops it for others") },
    { SECTION("calls", draft_jobs, calls, &calls_section), ABSENT("none"),
      HELP("a service that the jobs call while they run") },
    { SECTION("objective", draft_jobs, objective, &objective_section), ABSENT("not reckoned"),
      HELP("what is to be maximised, as the result `objective`") },
    { SECTION("step", draft_jobs, step, &step_section), ABSENT("jobs compute to their end"),
      HELP("steps that jobs go in: compute, wait for all ranks, exchange") },
};
const struct sim_section sim_schema_jobs = {
    MAPPING("jobs[]", draft_jobs, jobs_fields),
    NOT_OF(&sim_schema_fill, "acts on a fill alone (fill:), where no job ends"),
    HELP("Jobs that arrive, wait, run and end, from a trace or generated.")
};

static const struct sim_field fill_fields[] = {
    SOURCE_FIELDS(draft_fill, fill_class_section),
    { TEXT("order", draft_fill, order), DEFAULT("none"),
      HELP("order of arrival: none = as the trace has them, shuffled = at random by seed and "
           "replication, or a file with kept orders of arrival and of nodes") },
    { TEXT("order_key", draft_fill, order_key), HELP("which order of the file: TRACE:SEED") },
    { CHOICE("node_order", draft_fill, node_order, "file|shuffled|as_given"),
      ABSENT("file when order is a file, else as_given"), WAS("ranks"),
      HELP("order of the nodes, which decides ties between them: that of the order file, at random "
           "by seed and replication, or as the cluster has them") },
    { NUMBER("demand", draft_fill, demand), UNIT(FRACTION), ABSENT("what the rows ask for"),
      RANGE(0, 1000),
      HELP("GPU demand that arrives, as a share of the cluster's GPUs: rows drawn at random arrive "
           "again at the end until the next would pass it, or random ones are left out") },
    { CHOICE("refused", draft_fill, refusal, "forget|stop"), DEFAULT("forget"),
      HELP("a job that fits nowhere is forgotten (its demand has arrived all the same), or stops "
           "the run") },
    { SECTION("defrag", draft_fill, defrag, &defrag_section),
      HELP("what if some jobs were moved at the end") },
};
const struct sim_section sim_schema_fill = {
    MAPPING("fill[]", draft_fill, fill_fields), NOT_OF(&sim_schema_jobs, NOT_IN_A_FILL),
    HELP("Jobs that are placed one by one, each at once or not at all, and never end: how full a "
         "cluster gets. It stands alone in its scenario.")
};
