/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of the scheduler, the timeline, the results and the top level, innermost
 * mappings first. The order of fields is the canonical order of keys and of the documentation.
 */
#include "sim/scenario/schema/schema_parts.h"

/* ---- scheduler ---- */

static const struct sim_field placement_fields[] = {
    { TEXT("policy", draft_policy, head.name), DEFAULT("fgd"),
      HELP("name of a placement policy (`weir list policies`); its parameters stand beside it") },
};
static const struct sim_section placement_section = {
    MAPPING("sched.placement", draft_policy, placement_fields), SCALAR("policy"), POLICY(PLACEMENT),
    HELP("Which node and which devices a worker gets, and who is removed. The name of a policy, or "
         "a mapping with its parameters.")
};

static const struct sim_field scaling_fields[] = {
    { TEXT("policy", draft_scaling, policy.head.name), DEFAULT("xenna"),
      HELP("name of a scaling policy (`weir list policies`); its parameters stand beside it") },
    { TIME("interval", draft_scaling, interval_ns), DEFAULT("180 s"), RANGE(1e-3, LARGEST_TIME),
      HELP("time between decisions; the first is at 0") },
    { TIME("window", draft_scaling, window_ns), DEFAULT("180 s"), RANGE(1e-3, LARGEST_TIME),
      ACTS(SIM_ACTS_PIPELINES), HELP("window of the speed estimates") },
    { COUNT("min_points", draft_scaling, min_points), DEFAULT("5"), RANGE(1, LARGEST_COUNT),
      ACTS(SIM_ACTS_PIPELINES),
      HELP("measurements an estimate keeps even when they are older than the window") },
};
static const struct sim_section scaling_section = {
    MAPPING("sched.scaling", draft_scaling, scaling_fields), SCALAR("policy"), POLICY(SCALING),
    HELP("How many workers each stage, or role without a count, gets. The name of a policy, or a "
         "mapping with its "
         "parameters.")
};

static const struct sim_field queueing_fields[] = {
    { TEXT("policy", draft_policy, head.name), DEFAULT("first_fit"),
      HELP("name of a queueing policy (`weir list policies`); its parameters stand beside it") },
};
static const struct sim_section queueing_section = {
    MAPPING("sched.queueing", draft_policy, queueing_fields), SCALAR("policy"), POLICY(QUEUEING),
    HELP("Which of the waiting jobs is next. The name of a policy, or a mapping with its "
         "parameters.")
};

static const struct sim_field capacity_fields[] = {
    { TEXT("policy", draft_policy, head.name), ABSENT("none"),
      HELP("name of a capacity policy (`weir list policies`); its parameters stand beside it") },
};
static const struct sim_section capacity_section = {
    MAPPING("sched.capacity", draft_policy, capacity_fields), SCALAR("policy"), POLICY(CAPACITY),
    HELP("Which nodes are asked for and given back, of groups of nodes with a `supply`. The name "
         "of a policy, or a mapping with its parameters.")
};

static const struct sim_field latency_fields[] = {
    { TIME("base", draft_latency, base_ns), DEFAULT("0 s"), MOST(LARGEST_TIME),
      HELP("from the view of a decision to the application of its plan") },
    { TIME("per_worker", draft_latency, per_worker_ns), DEFAULT("0 s"), MOST(3600),
      HELP("added for every worker there is") },
};
static const struct sim_section latency_section = {
    MAPPING("sched.latency", draft_latency, latency_fields), SCALAR("base"),
    HELP("How long a decision takes. The plan meets the cluster as it is by then; no other "
         "decision starts meanwhile.")
};

static const struct sim_field groups_fields[] = {
    { CHOICE("scorer", draft_groups, scorer, "ray|placement"), ABSENT("ray"),
      HELP("who says which node is best for a bundle: ray = the emptiest; placement = the "
           "placement policy") },
    { CHOICE("report", draft_groups, report, "all|strict"), ABSENT("all"),
      SHOWS_IN(SIM_ACTS_FILL, "those that never fit are counted apart"),
      HELP("which groups that can never fit are told from those that wait: all, or under "
           "strict_pack and strict_spread alone, as Ray does") },
    { CHOICE("devices", draft_groups, devices, "bundle|group"), ABSENT("bundle"),
      ACTS(SIM_ACTS_IN_TIME),
      HELP("whose the GPUs of a group are: bundle = each has its own from the start; group = the "
           "group has amounts of them, and its members, one after the other, take the least that "
           "is enough: one may find none, and the group keeps all it has while it waits") },
};
static const struct sim_section groups_section = {
    MAPPING("sched.placement_groups", draft_groups, groups_fields), SCALAR("scorer"),
    HELP("How placement groups are placed.")
};

static const struct sim_field repartition_fields[] = {
    { CHOICE("policy", draft_repartition, to.policy, "off|demand"), ABSENT("off"),
      HELP("off: GPUs keep the cut of their nodes; demand: a GPU is drained and cut anew when jobs "
           "wait for other profiles") },
    { COUNT("min_gain", draft_repartition, to.min_gain), ABSENT("2"), RANGE(1, WEIR_MIG_SLOTS),
      HELP("slices that waiting jobs must fill beyond those in use on the GPU now") },
    { TIME("reconfigure", draft_repartition, to.reconfigure_ns), ABSENT("10 s"), MOST(LARGEST_TIME),
      HELP("time a drained GPU is away to be cut") },
};
static const struct sim_section repartition_section = {
    MAPPING("sched.repartition", draft_repartition, repartition_fields), SCALAR("policy"),
    HELP("Whether GPUs that are cut (share: mig with a partition) are cut anew while jobs run. For "
         "jobs in mode: time.")
};

static const struct sim_field sched_fields[] = {
    { SECTION("placement", draft_sched, placement, &placement_section), ABSENT("fgd"),
      HELP("placement policy") },
    { SECTION("scaling", draft_sched, scaling, &scaling_section), ABSENT("xenna"),
      WAS("autoscaler"), ACTS(SIM_ACTS_POOLS), HELP("scaling policy") },
    { SECTION("queueing", draft_sched, queueing, &queueing_section), ABSENT("first_fit"),
      ACTS(SIM_ACTS_JOBS), HELP("queueing policy, for jobs") },
    { SECTION("capacity", draft_sched, capacity, &capacity_section), ABSENT("none"),
      ACTS(SIM_ACTS_TIMED), HELP("capacity policy, for nodes that come and go") },
    { CHOICE("explain", draft_sched, explain, "off|counts|top|full"), DEFAULT("counts"),
      ACTS(SIM_ACTS_IN_TIME), SHOWS("what is kept of decisions, not what they are"),
      HELP("how much of every decision is kept: counts and reasons, the best two places (top), "
           "every place with its score (full)") },
    { SECTION("latency", draft_sched, latency, &latency_section), ABSENT("0 s"),
      ACTS(SIM_ACTS_IN_TIME), HELP("how long a decision takes") },
    { TIME("view_age", draft_sched, view_age_ns), DEFAULT("0 s"), MOST(LARGEST_TIME),
      ACTS(SIM_ACTS_TIMED),
      HELP("how old the queues, counts of busy workers, measurements and news of jobs (come, gone, "
           "over) are that a decision sees; with pipelines at most the interval") },
    { CHOICE("hold_mode", draft_sched, hold_mode, "none|reserve|members"), DEFAULT("none"),
      ACTS(SIM_ACTS_JOBS),
      NEEDS("jobs[].classes[].members > 1 or jobs[].classes[].groups or jobs[].trace"),
      HELP(
          "what a gang (members > 1, no placement group) has while it waits: nothing; or the GPUs, "
          "CPUs and memory that its members find, kept from the jobs behind it and from pipelines "
          "until all have a place (reserve); or the same, where all gangs that wait take turns, a "
          "member each, as pods that are placed by themselves (members: they may wait for each "
          "other for ever, and nobody is preempted for them)") },
    { CHOICE("infeasible", draft_sched, infeasible, "refuse|wait"), DEFAULT("refuse"),
      ACTS(SIM_ACTS_JOBS),
      HELP("what becomes of a job that the nodes there are could not hold if they were empty: it "
           "is refused, as by Slurm; or waits for other nodes and is in nobody's way, as with Ray "
           "and Kubernetes") },
    { TIME("usage_half_life", draft_sched, half_life_ns), ABSENT("168 h"), MOST(LARGEST_TIME),
      ACTS(SIM_ACTS_JOBS),
      HELP("past use of a tenant counts half after so long (fair_share); 0 s: in full for ever") },
    { TIME("usage_period", draft_sched, usage_period_ns), ABSENT("0 s"), MOST(LARGEST_TIME),
      ACTS(SIM_ACTS_JOBS),
      HELP(
          "past use fades in steps of so long, by Slurm's formula (its PriorityCalcPeriod, 300 s); "
          "0 s: all the time") },
    { CHOICE("usage_rule", draft_sched, usage_rule, "sum|average"), ABSENT("sum"),
      ACTS(SIM_ACTS_JOBS),
      HELP("what is counted of the past (fair_share): device-seconds; or devices, an average that "
           "gets a sample at every whole usage_period and a part of every job that starts at once, "
           "as Kueue's admission fair sharing has it") },
    { SECTION("placement_groups", draft_sched, groups, &groups_section), ABSENT("ray"),
      WAS("groups"), ACTS(SIM_ACTS_JOBS | SIM_ACTS_FILL),
      NEEDS("jobs[].classes[].placement_group or fill[].classes[].placement_group"),
      HELP("placement groups, for jobs") },
    { SECTION("repartition", draft_sched, repartition, &repartition_section), ABSENT("off"),
      ACTS(SIM_ACTS_JOBS), HELP("cutting GPUs anew") },
};
const struct sim_section sim_schema_sched = { MAPPING("sched", draft_sched, sched_fields),
                                              HELP("The scheduler.") };

/* ---- things that happen ---- */

static const struct sim_field event_fields[] = {
    { TIME("at", draft_event, to.at_ns), MOMENT, MOST(LARGEST_TIME),
      HELP("when: since the start, at a time of day (14:05) or a stamp, which needs start_time") },
    { TIME("for", draft_event, to.for_ns), ABSENT("for good"), RANGE(1e-9, LARGEST_TIME),
      HELP("how long") },
    { CHOICE("action", draft_event, to.action,
             "stage_slow|stage_stall|stage_fail|setup_slow|node_down|node_up|node_slow|arrivals|"
             "burst|set|power_cap|nic_down|nic_up|nic_slow|store_down|store_up|store_slow|"
             "service_down|head_down|load|unload|scale|deploy"),
      REQUIRED,
      WORD("stage_slow|stage_stall|stage_fail|setup_slow|service_down|load|unload|scale|deploy",
           SIM_ACTS_PIPELINES),
      HELP("stage_slow, setup_slow, node_slow: times x factor; stage_stall: no task starts or "
           "ends; stage_fail: attempts fail with `probability`; node_down, node_up; arrivals: rate "
           "x factor; burst: `items` arrive at once; set: other scheduler settings; power_cap: the "
           "GPUs of the node may draw `cap` together; nic_down, store_down: what moves over the "
           "interface of the node, or to and from the store, stands still; nic_up, store_up: it is "
           "back; nic_slow, store_slow: its bandwidth / factor; service_down: requests are turned "
           "away, batches stand still, and so do jobs that call it; head_down: nothing is decided, "
           "and jobs that come are refused and come again (`retries`), what runs goes on; load, "
           "unload, scale: a service has its replicas again, none, or `replicas`; deploy: another "
           "version of it, all its replicas start anew") },
    { TEXT("stage", draft_event, stage), ACTS(SIM_ACTS_PIPELINES),
      HELP("stage, or pipeline.stage") },
    { TEXT("node", draft_event, node), HELP("node, such as dgx-0") },
    { TEXT("store", draft_event, store), ACTS(SIM_ACTS_TIMED),
      HELP("store of the cluster, by its name") },
    { TEXT("pipeline", draft_event, pipeline), ABSENT("the only one"), ALIAS("service"),
      ACTS(SIM_ACTS_PIPELINES),
      HELP("for arrivals and burst: pipeline or service; service for service_down, load, unload, "
           "scale and deploy") },
    { TEXT("jobs", draft_event, jobs), ABSENT("the only ones, where there is no pipeline"),
      ACTS(SIM_ACTS_JOBS), HELP("for arrivals and burst: entry of `jobs`") },
    { NUMBER("factor", draft_event, to.factor), MOST(1e9),
      HELP("for the slow actions and arrivals (0 = none arrive)") },
    { NUMBER("probability", draft_event, to.probability), UNIT(FRACTION), MOST(1),
      ACTS(SIM_ACTS_PIPELINES), HELP("for stage_fail") },
    { NUMBER("cap", draft_event, to.cap_w), UNIT(POWER), RANGE(1e-6, 1e9), ACTS(SIM_ACTS_TIMED),
      HELP("for power_cap") },
    { COUNT64("items", draft_event, to.items), RANGE(1, 1e12), ACTS(SIM_ACTS_TIMED),
      HELP("for burst: items, or jobs drawn from the classes or rows") },
    { COUNT("replicas", draft_event, to.replicas), RANGE(1, LARGEST_COUNT),
      ACTS(SIM_ACTS_PIPELINES), HELP("for scale: so many from then on") },
    { TEXT("subject", draft_event, subject), ABSENT("the administrator"), ACTS(SIM_ACTS_PIPELINES),
      HELP("for load, unload, scale and deploy: who does it; `permissions` say who may") },
    { SETS("set", draft_event, sets),
      HELP("for set: paths below sched and their values from then on") },
};
static const struct sim_section event_section = { MAPPING("timeline[]", draft_event, event_fields),
                                                  HELP("Something that happens at a known time.") };

static const struct sim_field window_fields[] = {
    { TEXT("span", draft_window, span), REQUIRED, SHOWS("results are also given for it alone"),
      HELP(
          "\"..11:03\", \"11:03..11:43\", \"11:43..\"; a side is a moment (90 s, a time of day, a "
          "stamp) or an entry of the timeline by action and target (\"node_down n-3\"), or the "
          "word "
          "timeline for all of them; an entry alone is the window from its beginning to its end") },
};
static const struct sim_section window_section = {
    MAPPING("windows.NAME", draft_window, window_fields), SCALAR("span"), HELP("A part of the run.")
};

static const struct sim_field initial_workers_fields[] = {
    { TEXT("stage", draft_initial_workers, stage), REQUIRED, HELP("stage, or pipeline.stage") },
    { TEXT("node", draft_initial_workers, node), REQUIRED, HELP("node they run on") },
    { COUNT("count", draft_initial_workers, count), DEFAULT("1"), RANGE(1, LARGEST_COUNT),
      HELP("workers, ready at time 0") },
};
static const struct sim_section initial_workers_section = {
    MAPPING("initial.workers[]", draft_initial_workers, initial_workers_fields),
    HELP("Workers that run already.")
};

static const struct sim_field queue_fields[] = {
    { COUNT64("items", draft_queue, items), REQUIRED, MOST(1e12),
      HELP("items waiting in front of the stage") },
};
static const struct sim_section queue_section = {
    MAPPING("initial.queues.STAGE", draft_queue, queue_fields), SCALAR("items"),
    HELP("Items that wait already.")
};

static const struct sim_field estimate_fields[] = {
    { NUMBER("speed", draft_estimate, speed_per_s), UNIT(RATE), ABSENT("none"), RANGE(1e-9, 1e9),
      HELP("tasks per worker and second") },
    { NUMBER("returns", draft_estimate, returns_per_batch), ABSENT("none"), MOST(1e9),
      HELP("items given back for one task") },
};
static const struct sim_section estimate_section = { MAPPING("initial.estimates.STAGE",
                                                             draft_estimate, estimate_fields),
                                                     HELP("What was measured before.") };

static const struct sim_field initial_fields[] = {
    { LIST("workers", draft_initial, workers, &initial_workers_section),
      HELP("workers that run already") },
    { NAMED("queues", draft_initial, queues, &queue_section),
      HELP("items that wait already, by stage, on top of input.items") },
    { NAMED("estimates", draft_initial, estimates, &estimate_section),
      HELP("estimates the scheduler starts with, by stage") },
};
static const struct sim_section initial_section = {
    MAPPING("initial", draft_initial, initial_fields), HELP("The state at time 0.")
};

/* ---- results ---- */

static const struct sim_field metrics_fields[] = {
    { CHOICE("keep", draft_metrics, keep, "results|series|jobs|all"),
      ABSENT("all, but series when more than 10^5 jobs come in all runs together"),
      SHOWS("how much of a run is kept"),
      HELP("what is kept: result values; with samples over time; with a row a job, worker and "
           "decision; with single actions and the places they had to choose from") },
    { TIME("sample", draft_metrics, sample_ns), ABSENT("chosen by the length of the run"),
      RANGE(1e-3, LARGEST_TIME), ACTS(SIM_ACTS_IN_TIME), SHOWS("how often series are kept"),
      HELP("time between samples of the series") },
    { FLAG("features", draft_metrics, has_features), DEFAULT("false"), ACTS(SIM_ACTS_IN_TIME),
      SHOWS("whether features of forecasts are kept"),
      HELP("at every sample what a forecast may start from is kept, too (table feature_sample); "
           "needs sample") },
};
static const struct sim_section metrics_section = {
    MAPPING("metrics", draft_metrics, metrics_fields), HELP("What is recorded.")
};

static const struct sim_field variant_fields[] = {
    { TEXT("label", draft_variant, label), REQUIRED_NAME, HELP("name of the variant in results") },
    { SETS("set", draft_variant, sets), HELP("paths and their values, as --set takes them") },
};
static const struct sim_section variant_section = {
    MAPPING("compare[]", draft_variant, variant_fields),
    HELP("A variant, run with the same random numbers as the others.")
};

static const struct sim_field expect_fields[] = {
    { TEXT("that", draft_expect, that), ABSENT("by the other keys"),
      HELP(
          "a condition in one line: \"latency p95 <= 30 min\", \"fix: throughput > broken\", "
          "\"throughput < -2%\" (against the baseline), \"throughput near 4/s +- 2%\"; a metric by "
          "its printed name or its id") },
    { TEXT("metric", draft_expect, to.metric), ABSENT("by that"),
      HELP("name of a metric; one of run.ended_early that is met says that runs may end early") },
    { TEXT("of", draft_expect, to.of), ABSENT("the whole cluster"),
      HELP("stage, pipeline or other thing it is about") },
    { TEXT("variant", draft_expect, to.variant), ABSENT("every variant"),
      HELP("label of a variant") },
    { CHOICE("op", draft_expect, to.op, "eq|near|lt|le|gt|ge"), ABSENT("by that"),
      HELP("how it compares; near needs `tol`") },
    { NUMBER("value", draft_expect, to.value), UNIT(ANY),
      HELP("what it is compared with, in base units") },
    { TEXT("tol", draft_expect, tol),
      HELP("allowed difference: a number, or a percentage of the value") },
    { TEXT("than", draft_expect, to.than_metric), ABSENT("the same metric"),
      HELP("compare with another metric instead of a value") },
    { TEXT("than_of", draft_expect, to.than_of), ABSENT("the same thing"),
      HELP("compare with another thing") },
    { TEXT("than_variant", draft_expect, to.than_variant), ABSENT("the same variant"),
      HELP("compare with another variant") },
    { NUMBER("times", draft_expect, to.times), ABSENT("1"), MOST(1e12),
      HELP("what `than...` finds is multiplied by this: 0.2 and lt = at least 80 % less") },
};
static const struct sim_section expect_section = {
    MAPPING("expect[]", draft_expect, expect_fields), SCALAR("that"),
    HELP("A check on the results; decides the exit code.")
};

static const struct sim_section condition_section = {
    MAPPING("goal.while[]", draft_expect, expect_fields), SCALAR("that"),
    HELP("A bound that the mean of a metric has to keep.")
};
static const struct sim_field goal_fields[] = {
    { TEXT("max", draft_goal, more), ABSENT("by min"), SHOWS("which measure decides a comparison"),
      HELP("metric of which more is better") },
    { TEXT("min", draft_goal, less), ABSENT("by max"), SHOWS("which measure decides a comparison"),
      HELP("metric of which less is better") },
    { TEXT("of", draft_goal, of), ABSENT("the whole cluster"),
      SHOWS("which measure decides a comparison"),
      HELP("stage, pipeline or other thing it is about") },
    { LIST("while", draft_goal, conditions, &condition_section), ABSENT("none"),
      HELP("conditions; a variant that misses one wins only over others that do") },
};
static const struct sim_section goal_section = {
    MAPPING("goal", draft_goal, goal_fields),
    HELP("What the scenario is about: the verdict of a comparison, its headline, the order of its "
         "tables and charts follow it. Without it: of a backlog max throughput, of items that "
         "arrive min latency p95, of jobs in a queue min slowdown mean, of jobs that cannot wait "
         "max GPU time accepted, of a fill max GPU allocated, of actors max throughput; of several "
         "the first.")
};

/* ---- the file ---- */

static const struct sim_field scenario_fields[] = {
    { COUNT("schema", draft_scenario, schema), REQUIRED, RANGE(1, SIM_SCHEMA_VERSION),
      HELP("version of this format: 2; files of version 1 are read in their own words") },
    { TEXT("extends", draft_scenario, extends), ABSENT("nothing"),
      HELP("another scenario, which this one goes over: keys and named entries are merged, null "
           "removes one (docs/feed.md)") },
    NAME_FIELD(draft_scenario, "name of the scenario"),
    { TEXT("description", draft_scenario, description), ABSENT("none"),
      HELP("one sentence for lists and reports") },
    { COUNT64("seed", draft_scenario, seed), DEFAULT("1"), MOST(1.8446744073709550e19),
      HELP("of all random numbers") },
    { COUNT("replications", draft_scenario, replications), DEFAULT("1"), RANGE(1, 100000),
      HELP("independent repetitions") },
    { TIME("horizon", draft_scenario, horizon_ns), ABSENT("until the work is done"),
      RANGE(1e-9, LARGEST_TIME), ACTS(SIM_ACTS_IN_TIME), HELP("when a run ends at the latest") },
    { TIME("warmup", draft_scenario, warmup_ns), DEFAULT("0 s"), MOST(LARGEST_TIME),
      ACTS(SIM_ACTS_IN_TIME), SHOWS("results leave it out"),
      HELP("left out of steady-state results") },
    { TIMESTAMP("start_time", draft_scenario, start_unix_s), ABSENT("not given"),
      SHOWS("the day and hour of stamps"),
      HELP("time of day at time 0 (RFC 3339), for stamps; rows of a trace keep their distance from "
           "time 0, and a trace that says another date for it is told of") },
    { SECTION("resource_quantum", draft_scenario, quantum, &sim_schema_quantum), ABSENT("exact"),
      HELP("how requests become amounts") },
    { CHOICE("contention", draft_scenario, contention, "shared|at_start"),
      ABSENT("shared; at_start with semantics: tick"), ACTS(SIM_ACTS_IN_TIME),
      HELP(
          "work on devices that others use too: its rate follows what happens there while it runs, "
          "or stays as its start found them") },
    { TEXT("measured_on", draft_scenario, measured_on), ABSENT(FIRST_TYPE), ACTS(SIM_ACTS_TIMED),
      HELP("GPU type that times were measured on where nothing nearer says it, or an instance of "
           "it: h100, h100/1g.10gb") },
    { SECTION("catalog", draft_scenario, catalog, &sim_schema_catalog),
      HELP("hardware as the scheduler is told") },
    { SECTION("truth", draft_scenario, truth, &sim_schema_truth),
      HELP("hardware as it is, where that differs") },
    { SECTION("cluster", draft_scenario, cluster, &sim_schema_cluster), REQUIRED,
      HELP("the nodes there are") },
    { SECTION("sched", draft_scenario, sched, &sim_schema_sched), ALIAS("scheduler"),
      HELP("the scheduler") },
    { LIST("tenants", draft_scenario, tenants, &sim_schema_tenant), BY_NAME, ABSENT("none"),
      ACTS(SIM_ACTS_JOBS), HELP("whose jobs they are: teams and what each may have") },
    { NAMED("licences", draft_scenario, licences, &sim_schema_licence), ABSENT("none"),
      ACTS(SIM_ACTS_JOBS), NEEDS("jobs[].classes[].licences"),
      HELP("things of which the whole cluster has so many") },
    { LIST("reservations", draft_scenario, reservations, &sim_schema_reservation), BY_NAME,
      ABSENT("none"), ACTS(SIM_ACTS_JOBS), HELP("nodes that are kept for somebody for a time") },
    { NAMED("permissions", draft_scenario, permissions, &sim_schema_permission),
      ABSENT("everybody may do everything"), ACTS(SIM_ACTS_PIPELINES),
      HELP("who may load, unload, scale, deploy and call which model") },
    { LIST("priority_bands", draft_scenario, bands, &sim_schema_band), BY_NAME, ABSENT("none"),
      ACTS(SIM_ACTS_JOBS), SHOWS("waits are also given for each; a class outside them is refused"),
      HELP("ranges of priorities that have a name: critical, batch") },
    { SECTION("prices", draft_scenario, prices, &sim_schema_prices),
      ABSENT("nothing is reckoned in money"), ACTS(SIM_ACTS_IN_TIME),
      HELP("what GPUs, CPUs, bytes and lateness cost") },
    { LIST("pipelines", draft_scenario, pipelines, &sim_schema_pipeline), BY_NAME, ABSENT("none"),
      ACTS(SIM_ACTS_PIPELINES), HELP("the work: items through stages") },
    { LIST("services", draft_scenario, services, &sim_schema_served), BY_NAME, ABSENT("none"),
      ACTS(SIM_ACTS_PIPELINES),
      HELP("the work: requests that replicas of a model serve in batches") },
    { LIST("jobs", draft_scenario, jobs, &sim_schema_jobs), BY_NAME, ABSENT("none"),
      WAS("workloads"), ACTS(SIM_ACTS_JOBS),
      HELP("the work: jobs that arrive, wait, run and end") },
    { LIST("fill", draft_scenario, fill, &sim_schema_fill), BY_NAME, ABSENT("none"),
      ACTS(SIM_ACTS_FILL),
      HELP("the static experiment: jobs arrive until nothing fits, none ends") },
    { LIST("actors", draft_scenario, actors, &sim_schema_actors), BY_NAME, ABSENT("none"),
      ACTS(SIM_ACTS_ACTORS), HELP("the work: actors that call one another, and training loops") },
    { LIST("timeline", draft_scenario, timeline, &event_section), OR_FILE, ACTS(SIM_ACTS_IN_TIME),
      HELP(
          "things that happen at known times; or a table of them, a row an entry (docs/feed.md)") },
    { NAMED("windows", draft_scenario, windows, &window_section), ABSENT("none"),
      ACTS(SIM_ACTS_IN_TIME), SHOWS("results are also given for each"),
      HELP("parts of the run, as before, outage and after: what happened in each, the same moments "
           "in all variants (docs/windows.md)") },
    { SECTION("initial", draft_scenario, initial, &initial_section), ACTS(SIM_ACTS_PIPELINES),
      HELP("the state at time 0") },
    { SECTION("metrics", draft_scenario, metrics, &metrics_section), HELP("what is recorded") },
    { LIST("compare", draft_scenario, compare, &variant_section),
      HELP("variants to run side by side") },
    { SECTION("goal", draft_scenario, goal, &goal_section), ABSENT("by the kind of work"),
      HELP("what the scenario is about") },
    { TEXT("growth", draft_scenario, growth), ABSENT("not said"),
      SHOWS("when a capacity review says that the GPUs are used up"),
      HELP("how much more work comes, as 3%/month (a day, week, month, year); changes no run") },
    { LIST("expect", draft_scenario, expect, &expect_section), HELP("checks on the results") },
};
const struct sim_section sim_schema_scenario = {
    MAPPING("scenario", draft_scenario, scenario_fields), HELP("The keys of a scenario file.")
};
