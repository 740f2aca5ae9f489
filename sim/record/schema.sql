-- SPDX-License-Identifier: GPL-3.0-or-later
-- The result database: the single source of its shape. application_id "weir", user_version = schema.
-- Base tables are written by the recorder; the v_* views are the public interface (units in column
-- names, names joined in, `time` = Unix seconds when the scenario gives start_time, else seconds).
-- Every mean is time-weighted and event-exact over its interval [t_s, t_s + dt_s), never a bare
-- instantaneous sample. Wall-clock columns live in run_wall, result_wall and decision_wall only, so
-- that all other tables are the same bit for bit when a run is repeated.
-- Columns that mean the same wherever nothing else is said:
--   experiment_id: the experiment (table experiment)
--   run_id: the run (table run)
--   variant: label of the variant
--   variant_order: place of the variant in the scenario, from 0
--   replication: number of the replication, from 0; equal numbers of two variants have equal seeds
--   t_s: simulated time since the start; of a sample the beginning of its interval
--   dt_s: length of the interval
--   time: Unix seconds where the scenario gives start_time, else seconds since the start
--   node: number of the node (table node), from 0
--   node_name: its name
--   stage: number of the stage (table stage), from 0 over all pipelines
--   stage_name: its name
--   workload: number of the source of jobs (table workload)
--   workload_name: its name
--   job: number of the job within its workload
--   job_name: its name, as in job.name
--   label: index into job_label
--   label_name: name of the label: a class of jobs, or a size of those of a trace
--   worker: number of the worker (table worker), one for its whole life
--   decision: number of the decision (table decision), from 0
--   seq: place in its plan, from 0
--   placement: placement policy in force
--   scaling: scaling policy in force
--   status: how it ended
--   metric: id of a metric of docs/metrics.md
--   value: the value
--   unit: its unit
--   cpus: CPUs
--   gpus: GPUs, parts of them counted as parts
--   gpu_type: name of the GPU type; '' = no GPU
--   nvdecs: decoding engines
--   nvencs: encoding engines
--   cpu_capacity: CPUs of nodes that are up, mean of the interval
--   cpu_assigned: CPUs set aside for workers, mean
--   cpu_active: CPUs at work, mean
--   gpu_capacity: GPUs of nodes that are up, mean of the interval
--   gpu_assigned: GPUs set aside for workers, mean
--   gpu_active: GPUs at work, mean
--   nvdec_capacity: decoding engines of nodes that are up, mean
--   nvdec_assigned: decoding engines set aside, mean
--   nvdec_active: decoding engines at work, mean
--   nvenc_capacity: encoding engines of nodes that are up, mean
--   nvenc_assigned: encoding engines set aside, mean
--   nvenc_active: encoding engines at work, mean
--   ram_capacity_bytes: memory of nodes that are up, mean
--   ram_assigned_bytes: memory set aside, mean
-- Version 2 added to version 1 the tables candidate, arrival_part, placement_change, defrag_move,
-- job_label, job and job_sample with their views; nothing else changed.
-- Version 3 added the columns workload and job to worker and action, whose stage is NULL for ranks of
-- jobs, workload to job, items_done to run, and the table result_wall.
-- Version 4 added the table workload, what a job is called and asks for, its first start and its kind
-- to job, the holders of a denial to action, and the views v_job_member and v_denial.
-- Version 5 added the column power_w to node_sample.
-- Version 6 added the tables link, link_sample, memory_sample, power_sample and job_pace, the column
-- ram_limit_bytes to node, the view v_link, columns at the end of v_node, and 'model_version' to meta.
-- Version 7 added the column capacity_bytes_per_s to link_sample and v_link.
-- Version 8 added the tables audit and feature_sample and the views v_audit and v_feature.
-- Version 9 added the column items_left to cluster_sample.
PRAGMA application_id = 0x77656972;
PRAGMA user_version = 10;

-- What the file says of itself: versions, and what its experiment has beyond a scenario.
--   key: as model_version, git_commit, windows, axes
--   value: a text, or JSON
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- One experiment = one command: a scenario with its variants and replications.
--   experiment_id: its number
--   description: of the scenario
--   command_line: that made it, without --resume and --force
CREATE TABLE experiment (
  experiment_id INTEGER PRIMARY KEY,
  scenario TEXT NOT NULL,            -- name
  description TEXT NOT NULL,
  resolved_yaml TEXT NOT NULL,       -- of the base variant
  scenario_digest TEXT NOT NULL,     -- 16 hex digits, of the base variant
  command_line TEXT NOT NULL,
  baseline TEXT NOT NULL             -- label of the variant others are compared with
) STRICT;

-- Files that the scenario reads: their content is what was simulated.
--   path: as seen from the scenario
--   bytes: size in bytes
--   digest: of the content, 16 hex digits
CREATE TABLE input_file (
  experiment_id INTEGER NOT NULL, path TEXT NOT NULL, bytes INTEGER NOT NULL, digest TEXT NOT NULL
) STRICT;

-- One simulated run: one variant, one replication.
--   run_id: its number
--   replication: from 0
--   resolved_yaml: the whole scenario of this variant, with all defaults
--   scenario_digest: of that, 16 hex digits
--   warmup_s: left out of all results
--   events: of the simulation
--   event_digest: of their order and content, 16 hex digits
--   result_digest: of what results are made of: every transition of an item, a worker, a job or a
--     node, and when; not of the figures in result, nor of prices, limits and windows that figures
--     are measured by; 16 hex digits
CREATE TABLE run (
  run_id INTEGER PRIMARY KEY,
  experiment_id INTEGER NOT NULL,
  variant TEXT NOT NULL,             -- label
  variant_order INTEGER NOT NULL,
  replication INTEGER NOT NULL,
  seed INTEGER NOT NULL,             -- as signed 64 bits
  placement TEXT NOT NULL, scaling TEXT NOT NULL,
  resolved_yaml TEXT NOT NULL, scenario_digest TEXT NOT NULL,
  start_unix_s INTEGER NOT NULL,     -- of time 0, 0 = not given
  warmup_s REAL NOT NULL,
  horizon_s REAL,                    -- NULL = until the work is done
  end_s REAL,                        -- simulated end, NULL while running
  status TEXT NOT NULL,              -- running | complete | horizon | ended early | interrupted | failed
  message TEXT NOT NULL,             -- why it failed or ended early
  events INTEGER, event_digest TEXT, result_digest TEXT,
  sample_s REAL,                     -- interval of the *_sample tables at the end
  is_steady INTEGER,                 -- 0 = depends on the horizon (saturated)
  items_done INTEGER,                -- items, and jobs, that are over
  UNIQUE (experiment_id, variant, replication)
) STRICT;

-- What a run took on the machine it ran on.
--   wall_s: by the clock on the wall
--   cpu_s: of the processor
--   peak_rss_mib: most memory at once
--   started_utc: when
--   host: name of the machine
--   version: of weir
--   git_commit: that it was built from; '' = unknown
CREATE TABLE run_wall (
  run_id INTEGER PRIMARY KEY, wall_s REAL NOT NULL, cpu_s REAL NOT NULL, peak_rss_mib REAL NOT NULL,
  started_utc TEXT NOT NULL, host TEXT NOT NULL, version TEXT NOT NULL, git_commit TEXT NOT NULL
) STRICT;

-- Nodes of the cluster.
--   node: its number, from 0
--   name: its name
--   type: name of its group, or of its node type
--   gpus: devices
--   ram_bytes: memory
--   gpu_mem_bytes: memory of all its GPUs
CREATE TABLE node (
  run_id INTEGER NOT NULL, node INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
  cpus REAL NOT NULL, gpus INTEGER NOT NULL, gpu_type TEXT NOT NULL, nvdecs INTEGER NOT NULL,
  nvencs INTEGER NOT NULL, ram_bytes INTEGER NOT NULL, gpu_mem_bytes INTEGER NOT NULL,
  ram_limit_bytes REAL               -- beyond it somebody is killed; NULL = memory is not modelled in time
) STRICT;

-- What bytes move over, and is scarce: interfaces of nodes, uplinks of racks, stores.
--   link: its number
CREATE TABLE link (
  run_id INTEGER NOT NULL, link INTEGER NOT NULL,
  name TEXT NOT NULL,                -- "n-0 out", "rack 2 in", the name of a store
  kind TEXT NOT NULL,                -- nic out | nic in | uplink out | uplink in | store
  node INTEGER,                      -- whose interface it is
  bytes_per_s REAL NOT NULL          -- capacity
) STRICT;

-- Stages of the pipelines.
--   stage: its number, from 0 over all pipelines
--   pipeline: name of its pipeline
--   name: its name
--   cpus: of one worker
--   gpus: of one worker
--   nvdecs: of one worker
--   nvencs: of one worker
--   batch: items a task takes
--   workers_fixed: number that the scenario asks for; NULL = the scaling policy decides
--   service_mean_s: mean of the law of its service times, of one task
CREATE TABLE stage (
  run_id INTEGER NOT NULL, stage INTEGER NOT NULL, pipeline TEXT NOT NULL, name TEXT NOT NULL,
  position INTEGER NOT NULL,         -- within its pipeline, from 0
  shape TEXT NOT NULL,               -- "1 CPU + 0.25 GPU"
  cpus REAL NOT NULL, gpus REAL NOT NULL, nvdecs INTEGER NOT NULL, nvencs INTEGER NOT NULL,
  batch INTEGER NOT NULL, workers_fixed INTEGER, service_mean_s REAL NOT NULL,
  bound_workers INTEGER,             -- in the integer throughput bound; NULL = there is none
  mix REAL NOT NULL                  -- share in the reference mix of frag.*
) STRICT;

-- Results of a run: metric ids of docs/metrics.md. label = '' for the whole cluster, else a stage,
-- node or pipeline. censored = items not finished that the value could not see.
--   label: '' = the whole cluster, else a stage, node, pipeline, class or tenant
--   value: NULL = it is not defined
--   n: observations behind it
--   censored: items not finished that it could not see
--   is_lower_bound: 1 = the true value is at least this
CREATE TABLE result (
  run_id INTEGER NOT NULL, metric TEXT NOT NULL, label TEXT NOT NULL, value REAL,
  unit TEXT NOT NULL, n INTEGER NOT NULL, censored INTEGER NOT NULL, is_lower_bound INTEGER NOT NULL
) STRICT;
-- Those measured by the wall clock.
--   label: as of result
CREATE TABLE result_wall (
  run_id INTEGER NOT NULL, metric TEXT NOT NULL, label TEXT NOT NULL, value REAL, unit TEXT NOT NULL
) STRICT;

-- The cluster over time.
--   crumbs_gpu: free GPU on devices with less free than the smallest request (frag.crumbs)
--   whole_free_gpu: GPUs of which nothing is set aside
--   items_done: in the interval
--   items_left: in the interval, that are not done: refused, expired, given up
CREATE TABLE cluster_sample (
  run_id INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  cpu_capacity REAL NOT NULL, cpu_assigned REAL NOT NULL, cpu_active REAL NOT NULL,
  gpu_capacity REAL NOT NULL, gpu_assigned REAL NOT NULL, gpu_active REAL NOT NULL,
  nvdec_capacity REAL NOT NULL, nvdec_assigned REAL NOT NULL, nvdec_active REAL NOT NULL,
  nvenc_capacity REAL NOT NULL, nvenc_assigned REAL NOT NULL, nvenc_active REAL NOT NULL,
  ram_capacity_bytes REAL NOT NULL, ram_assigned_bytes REAL NOT NULL,
  frag_gpu REAL NOT NULL,            -- GPUs, frag.gpu.fgd
  frag_no_cpu REAL NOT NULL,         -- its part where CPUs are short
  frag_no_codec REAL NOT NULL,       -- its part where codec engines are short
  frag_fraction REAL NOT NULL,       -- its part left on GPUs too small for a shape
  frag_no_gpu_demand REAL NOT NULL,  -- its part that shapes without GPU cannot use
  frag_codec REAL NOT NULL,          -- engines
  crumbs_gpu REAL NOT NULL, whole_free_gpu REAL NOT NULL,
  items_arrived REAL NOT NULL,       -- in the interval
  items_done REAL NOT NULL, items_left REAL NOT NULL
) STRICT;

-- Nodes over time.
--   power_w: of the node, mean
CREATE TABLE node_sample (
  run_id INTEGER NOT NULL, node INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  up REAL NOT NULL,                  -- share of the interval
  cpu_assigned REAL NOT NULL, cpu_active REAL NOT NULL,
  gpu_assigned REAL NOT NULL, gpu_active REAL NOT NULL,
  nvdec_active REAL NOT NULL, nvenc_active REAL NOT NULL,
  power_w REAL NOT NULL
) STRICT;

-- From the first interval on in which a link delivered something, after one row for all before.
--   link: its number (table link)
--   delivered_bytes_per_s: mean of the interval
--   capacity_bytes_per_s: what it could give, mean: less while it is slow or down
CREATE TABLE link_sample (
  run_id INTEGER NOT NULL, link INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  delivered_bytes_per_s REAL NOT NULL, capacity_bytes_per_s REAL NOT NULL
) STRICT;

-- Only where memory is modelled in time (cluster.memory).
--   in_use_bytes: mean of the interval
CREATE TABLE memory_sample (
  run_id INTEGER NOT NULL, node INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  in_use_bytes REAL NOT NULL,
  in_use_max_bytes REAL NOT NULL,    -- most that lasted in the interval
  spilled_bytes REAL NOT NULL        -- to disk, in the interval
) STRICT;

-- Only where the power of GPUs follows their use (cluster.power.gpu).
CREATE TABLE power_sample (
  run_id INTEGER NOT NULL, node INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  gpu_power_w REAL NOT NULL,         -- of its GPUs; node_sample.power_w has its CPUs, too
  cap_w REAL,                        -- lowest cap of its GPUs in the interval; NULL = none
  gpu_computing REAL NOT NULL,       -- GPUs' worth of compute that ran, at whatever speed
  gpu_delivered REAL NOT NULL,       -- the same times the throttle (1 = none) of each
  temperature_max_c REAL             -- of the hottest GPU, highest in the interval; NULL = not modelled
) STRICT;

-- What a forecast may start from (metrics.features): as the scheduler sees it at the end of the interval.
-- What is asked for is what anybody holds and what jobs wait for; teams are tenants.
CREATE TABLE feature_sample (
  run_id INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  gpus_asked REAL NOT NULL,          -- history: GPUs asked for
  gpus_asked_hour REAL NOT NULL,     -- history: their mean, that of an hour ago counts 1/e
  gpus_asked_day REAL NOT NULL,      -- history: their mean, that of a day ago counts 1/e
  cpus_asked REAL NOT NULL,          -- history: CPUs asked for
  jobs_waiting REAL NOT NULL,        -- queue: jobs that wait
  gpus_waiting REAL NOT NULL,        -- queue: GPUs that they ask for
  jobs_running REAL NOT NULL,        -- queue: jobs that start or run
  tasks_waiting REAL NOT NULL,       -- queue: tasks in front of stages, services and roles
  day_sin REAL NOT NULL,             -- time: sine of the time of day, by the clock of the run
  day_cos REAL NOT NULL,             -- time: cosine of the time of day
  half_day_sin REAL NOT NULL,        -- time: sine of its half
  half_day_cos REAL NOT NULL,        -- time: cosine of its half
  week_sin REAL NOT NULL,            -- time: sine of the time of the week
  week_cos REAL NOT NULL,            -- time: cosine of the time of the week
  teams_active REAL NOT NULL,        -- teams: tenants whose jobs wait or run
  team_share REAL NOT NULL,          -- teams: part of the GPUs asked for that is the largest tenant's
  team_spread REAL NOT NULL,         -- teams: sum of the squares of these parts
  job_gpus REAL NOT NULL,            -- needs: GPUs a job asks for, mean
  job_cpus REAL NOT NULL,            -- needs: CPUs a job asks for, mean
  job_gpu_gib REAL NOT NULL          -- needs: GPU memory a job asks for in GiB, mean
) STRICT;

-- Stages over time; numbers of workers and items are means of the interval.
--   queue_bytes: size of those items
--   workers: that hold their devices
--   setup: workers that are not ready yet
--   idle: ready workers without a task
--   busy: workers at work
CREATE TABLE stage_sample (
  run_id INTEGER NOT NULL, stage INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  queue_items REAL NOT NULL,         -- in front of the stage
  queue_bytes REAL NOT NULL,
  workers REAL NOT NULL, setup REAL NOT NULL, idle REAL NOT NULL, busy REAL NOT NULL,
  blocked REAL NOT NULL,             -- workers that hold a finished item, may not start or wait for an answer
  starved REAL NOT NULL,             -- idle workers without input
  is_backpressured REAL NOT NULL,    -- share of the interval
  is_bottleneck REAL NOT NULL,       -- share of the interval
  tasks_done REAL NOT NULL           -- in the interval
) STRICT;

-- Workers: of stages, and ranks of jobs. A row a life.
--   worker: its number
--   created_s: when it got its devices
--   ready_s: when its set-up was done; NULL = never
--   ended_s: when it gave them back; NULL = never
--   tasks: that it did
--   busy_s: time at work, with what was in hand at the end
--   workload: whose rank it is; NULL = of a stage
CREATE TABLE worker (
  run_id INTEGER NOT NULL, worker INTEGER NOT NULL,
  stage INTEGER,                     -- NULL = a rank of a job
  node INTEGER NOT NULL,
  devices TEXT NOT NULL,             -- "gpu3:0.25 nvdec3.1"
  gpu_mask INTEGER NOT NULL,         -- bit per GPU of the node
  gpu_amount REAL NOT NULL,          -- GPUs held
  created_s REAL NOT NULL, ready_s REAL, ended_s REAL,
  end_reason TEXT NOT NULL,          -- '' | stopped | node lost | GPU lost | crashed | setup failed | run ended
  tasks INTEGER NOT NULL, busy_s REAL NOT NULL,
  workload INTEGER, job INTEGER      -- whose rank it is; NULL = of a stage
) STRICT;

-- Decisions of the scheduler: all about stages, and those about jobs that did anything.
--   decision: its number, from 0
--   t_s: when it was made
--   started: workers
--   stopped: workers
--   denied: stages and jobs that got no place
--   status: ok, or what was wrong with the plan
--   message: the same in a sentence
CREATE TABLE decision (
  run_id INTEGER NOT NULL, decision INTEGER NOT NULL, t_s REAL NOT NULL,
  placement TEXT NOT NULL, scaling TEXT NOT NULL,
  started INTEGER NOT NULL, stopped INTEGER NOT NULL, denied INTEGER NOT NULL,
  refused INTEGER NOT NULL,          -- by the cluster
  status TEXT NOT NULL, message TEXT NOT NULL
) STRICT;
-- What decisions took on the machine.
--   cpu_ms: of the processor
CREATE TABLE decision_wall (run_id INTEGER NOT NULL, decision INTEGER NOT NULL, cpu_ms REAL NOT NULL)
  STRICT;

-- What a decision did for each stage, and what bound it.
--   workers_before: before it
--   workers_after: as it wants them
--   started: workers
--   stopped: workers
--   slots: tasks a worker takes at once
--   pool_optimum: workers in the fluid or integer optimum; 0 = not computed
--   speed_per_s: batches a worker does, as it assumed
--   throughput_per_s: of the stage after it, in items of the source
--   binding: why it got no more
CREATE TABLE decision_stage (
  run_id INTEGER NOT NULL, decision INTEGER NOT NULL, stage INTEGER NOT NULL,
  workers_before INTEGER NOT NULL, workers_after INTEGER NOT NULL, started INTEGER NOT NULL,
  stopped INTEGER NOT NULL, slots INTEGER NOT NULL, pool_optimum INTEGER NOT NULL,
  speed_per_s REAL, throughput_per_s REAL, binding TEXT NOT NULL
) STRICT;

-- Single actions with their scores. reasons = JSON object {reason: nodes}. A job that is denied once
-- more for the same reason, with the same holders, has no further row until one of its kind starts.
--   verb: start | stop | move | set_slots | preempt | resize | deny | reserve | cut | wake | ...
--   phase: of the algorithm of the policy; 0 = none
--   stage: whose; NULL = of a job, or nobody's
--   worker: started or stopped; NULL = none
--   reused: 1 = a worker stopped earlier in the plan that is kept after all
--   value: slots, ranks, or a time in ns, by the verb
--   nodes_seen: nodes that were looked at
--   candidates: places that fit
--   ties: of them as good as the best, it included
--   score, score2: of the chosen place, the smaller is better
--   runner_up_node: node of the next best
--   runner_up_score, runner_up_score2: of the next best
--   reasons: JSON {reason: nodes passed over}
--   workload: of the job
CREATE TABLE action (
  run_id INTEGER NOT NULL, decision INTEGER NOT NULL, seq INTEGER NOT NULL, verb TEXT NOT NULL,
  phase INTEGER NOT NULL, stage INTEGER, worker INTEGER,
  node INTEGER,                      -- of a denial: the one that comes nearest to having room, NULL = a
                                     -- limit keeps it waiting; of a stop or preempt: the one that is emptied
  reused INTEGER NOT NULL,
  value INTEGER, outcome TEXT NOT NULL,        -- applied | refused: why
  nodes_seen INTEGER, candidates INTEGER, ties INTEGER, score REAL, score2 REAL,
  runner_up_node INTEGER, runner_up_score REAL, runner_up_score2 REAL, reasons TEXT NOT NULL,
  workload INTEGER, job INTEGER,     -- what it is about; NULL = a stage, or nothing of both
  holders TEXT                       -- of a denial: {"gpu":3,"workers":[12,40]} on the node, or that use
                                     -- the limit up; NULL = none
) STRICT;

-- Places that an action's worker might have got, with sched.explain top (the chosen one and the
-- runner-up) or full (all; of equal GPUs of a node the first). Scores: smaller is better.
--   is_chosen: 1 = the worker got it
--   score, score2: the smaller is better
CREATE TABLE candidate (
  run_id INTEGER NOT NULL, decision INTEGER NOT NULL, seq INTEGER NOT NULL,
  node INTEGER NOT NULL,
  gpu_mask INTEGER,                  -- GPUs of the node; NULL = none, or not kept
  is_chosen INTEGER NOT NULL, score REAL NOT NULL, score2 REAL NOT NULL
) STRICT;

-- Faults, timeline entries, incidents: what happened to the run from outside.
--   until_s: when it was over; NULL = it was not, or had no length
--   kind: what happened: node_down, for one
--   target: what it happened to
--   text: what it was
CREATE TABLE happening (
  run_id INTEGER NOT NULL, t_s REAL NOT NULL, until_s REAL, kind TEXT NOT NULL,
  target TEXT NOT NULL, text TEXT NOT NULL
) STRICT;

-- Operations on models: who loaded, unloaded, scaled or deployed which, and who was not allowed to.
--   subject: who; '' = the administrator
--   operation: load, unload, scale or deploy
--   model: the service
--   is_allowed: 0 = denied by the permissions of the scenario: nothing happened
--   text: what it was
CREATE TABLE audit (
  run_id INTEGER NOT NULL, t_s REAL NOT NULL, subject TEXT NOT NULL, operation TEXT NOT NULL,
  model TEXT NOT NULL, is_allowed INTEGER NOT NULL, text TEXT NOT NULL
) STRICT;

-- Static experiments: means over the arrivals at which the jobs so far, placed or not, ask for
-- arrived_pct (whole percent) of the GPUs.
--   arrived_pct: GPUs that jobs so far asked for
CREATE TABLE arrival_sample (
  run_id INTEGER NOT NULL, arrived_pct INTEGER NOT NULL,
  events INTEGER NOT NULL,           -- arrivals averaged
  failed INTEGER NOT NULL,           -- jobs refused so far
  alloc_gpu_pct REAL,                -- of the GPUs
  frag_gpu_pct REAL,                 -- of the GPUs
  frag_idle_pct REAL                 -- of the GPUs that are not allocated
) STRICT;

-- Further means over the same arrivals: metric ids of docs/metrics.md.
--   arrived_pct: as in arrival_sample
CREATE TABLE arrival_part (
  run_id INTEGER NOT NULL, arrived_pct INTEGER NOT NULL, metric TEXT NOT NULL, value REAL
) STRICT;

-- Static experiments: changes of the cluster or of the jobs, and how many more GPUs refused jobs
-- would get with each alone.
--   nodes: that change
--   gpus_freed: more for the refused jobs
CREATE TABLE placement_change (
  run_id INTEGER NOT NULL, label TEXT NOT NULL, -- '' = at the end, else '100 % arrived'
  rank INTEGER NOT NULL,             -- 0 = frees most
  change TEXT NOT NULL,              -- "+8 CPUs on 134 p100 nodes"
  nodes INTEGER NOT NULL, gpus_freed REAL NOT NULL
) STRICT;

-- Static experiments: jobs that a defragmentation at the end would move.
--   seq: order of the moves, from 0
--   arrival: number of the job's arrival
--   from_node: where it was
--   gpus: of the job
--   cpus: of the job
--   frag_before_gpu: F of the cluster before the move
CREATE TABLE defrag_move (
  run_id INTEGER NOT NULL, seq INTEGER NOT NULL, arrival INTEGER NOT NULL,
  from_node INTEGER NOT NULL,
  to_node INTEGER,                   -- NULL = it fitted nowhere and stays out
  gpus REAL NOT NULL, cpus REAL NOT NULL,
  frag_before_gpu REAL NOT NULL, frag_after_gpu REAL NOT NULL -- F of the cluster
) STRICT;

-- Sources of jobs: what the column workload counts.
--   workload: its number, from 0
--   name: its name
CREATE TABLE workload (run_id INTEGER NOT NULL, workload INTEGER NOT NULL, name TEXT NOT NULL) STRICT;

-- What groups of jobs are called.
--   label: its number, from 0
--   name: its name
CREATE TABLE job_label (run_id INTEGER NOT NULL, label INTEGER NOT NULL, name TEXT NOT NULL) STRICT;
-- Jobs in time. label = index into job_label: sizes of the jobs of a trace, names of classes.
--   job: its number within its workload, from 0
--   submit_s: when it was submitted
--   start_s: of the last attempt; NULL = it never started
--   end_s: when it was over; NULL = it was not
--   members: ranks that start together
--   attempts: starts
--   tenant: name; '' = not said
CREATE TABLE job (
  run_id INTEGER NOT NULL, job INTEGER NOT NULL, label INTEGER NOT NULL,
  submit_s REAL NOT NULL, start_s REAL, end_s REAL,  -- start of the last attempt
  node INTEGER,                      -- of its first member
  members INTEGER NOT NULL, attempts INTEGER NOT NULL,
  outcome TEXT NOT NULL,             -- done | refused | left | overrun | oom | exhausted | waiting | running
  workload INTEGER NOT NULL,         -- jobs are numbered within it
  name TEXT NOT NULL,                -- as the trace says, else class and number: gang-3
  tenant TEXT NOT NULL, user TEXT NOT NULL,          -- '' = not said
  model TEXT NOT NULL,               -- GPU models it accepts, as the scenario or the trace says
  request TEXT NOT NULL,             -- of one member, then other ranks: "4 CPU + 2 GPU, 2 × (1 CPU)"
  gpus REAL NOT NULL,                -- asked for by all members
  gpu_types TEXT NOT NULL,           -- types of the cluster it accepts, "a|b"; '' = any
  cpus REAL NOT NULL,                -- asked for by all members
  first_start_s REAL,                -- of the first attempt
  kind INTEGER,                      -- jobs of a kind ask for the same; NULL = it never waited
  run_s REAL                         -- run time that it came with; NULL = none, or it never started
) STRICT;
-- How jobs in steps went: a row for each stretch of time in which all steps of a job were alike.
--   sync: share of the time of its ranks in which they exchange bytes
--   wait: share in which they wait for the slowest
--   bubble: share in which their pipeline is not full
CREATE TABLE job_pace (
  run_id INTEGER NOT NULL, workload INTEGER NOT NULL, job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,          -- from 1 on
  t_s REAL NOT NULL, dt_s REAL NOT NULL,
  first_step REAL NOT NULL,          -- how far it was then, in steps; parts of one count
  steps REAL NOT NULL,               -- done in dt_s
  sync REAL NOT NULL, wait REAL NOT NULL, bubble REAL NOT NULL -- shares of the time of its ranks
) STRICT;
-- Jobs over time, by label.
--   waiting: jobs, mean
--   running: jobs, mean
--   arrived: jobs, in the interval
--   started: jobs, in the interval
--   done: jobs, in the interval
--   refused: jobs, in the interval
CREATE TABLE job_sample (
  run_id INTEGER NOT NULL, label INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  waiting REAL NOT NULL, running REAL NOT NULL,
  gpus REAL NOT NULL,                -- held
  arrived REAL NOT NULL, started REAL NOT NULL, done REAL NOT NULL, refused REAL NOT NULL,
  gave_up REAL NOT NULL              -- in the interval, as the four before
) STRICT;

-- Mergeable log-bucket histogram, 1 % relative error: value in [low, low * 1.01).
--   label: as of result
--   low: lower end of the bucket, in the unit of the metric
--   count: of values in it
CREATE TABLE histogram (
  run_id INTEGER NOT NULL, metric TEXT NOT NULL, label TEXT NOT NULL, low REAL NOT NULL,
  count INTEGER NOT NULL
) STRICT;

-- What `expect` of the scenario asks for, and whether it holds.
--   line: of the scenario file
--   text: as it stands there
--   value: that was found; NULL = none
--   bound: that it has to meet
--   is_met: 1 = it holds
CREATE TABLE expectation (
  experiment_id INTEGER NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL, variant TEXT NOT NULL,
  value REAL, bound REAL, is_met INTEGER NOT NULL
) STRICT;

-- Runs, with what they took.
--   end_s: simulated end; NULL while it runs
--   events: of the simulation
CREATE VIEW v_run AS
  SELECT r.run_id, e.scenario, r.variant, r.variant_order, r.replication, r.seed, r.placement,
         r.scaling, r.status, r.end_s, r.events, r.event_digest, r.result_digest, w.wall_s, w.cpu_s,
         w.peak_rss_mib
  FROM run r JOIN experiment e USING (experiment_id) LEFT JOIN run_wall w USING (run_id);
-- Results by variant.
--   label: '' = the whole cluster, else a stage, node, pipeline, class or tenant
CREATE VIEW v_result AS
  SELECT r.run_id, r.variant, r.replication, x.metric, x.label, x.value, x.unit, x.n, x.censored,
         x.is_lower_bound
  FROM result x JOIN run r USING (run_id);
-- Results of the windows of the scenario (docs/windows.md): those whose metric is ID@WINDOW.
--   window: its name
--   from_s: its beginning
--   to_s: its end
--   label: as of result
CREATE VIEW v_window AS
  SELECT r.run_id, r.variant, r.replication, json_extract(w.value, '$.name') AS window,
         json_extract(w.value, '$.from_s') AS from_s,
         coalesce(json_extract(w.value, '$.to_s'), r.end_s) AS to_s,
         substr(x.metric, 1, instr(x.metric, '@') - 1) AS metric, x.label, x.value, x.unit, x.n,
         x.censored, x.is_lower_bound
  FROM meta m JOIN json_each(m.value) w JOIN run r
  JOIN result x ON x.run_id = r.run_id
    AND substr(x.metric, instr(x.metric, '@') + 1) = json_extract(w.value, '$.name')
  WHERE m.key = 'windows' AND instr(x.metric, '@') > 0;
-- The cluster over time, in shares too.
--   gpu_active_pct: of the GPUs that are there
--   gpu_assigned_pct: of the GPUs that are there
--   cpu_active_pct: of the CPUs that are there
--   cpu_assigned_pct: of the CPUs that are there
--   throughput_per_s: items that left
CREATE VIEW v_cluster AS
  SELECT r.variant, r.replication, r.start_unix_s + s.t_s AS time, s.*,
         100.0 * s.gpu_active / nullif(s.gpu_capacity, 0) AS gpu_active_pct,
         100.0 * s.gpu_assigned / nullif(s.gpu_capacity, 0) AS gpu_assigned_pct,
         100.0 * s.cpu_active / nullif(s.cpu_capacity, 0) AS cpu_active_pct,
         100.0 * s.cpu_assigned / nullif(s.cpu_capacity, 0) AS cpu_assigned_pct,
         s.items_done / s.dt_s AS throughput_per_s
  FROM cluster_sample s JOIN run r USING (run_id);
-- Stages over time, with their names.
--   tasks_per_s: done
CREATE VIEW v_stage AS
  SELECT r.variant, r.replication, r.start_unix_s + s.t_s AS time, g.pipeline, g.name AS stage_name,
         s.*, s.tasks_done / s.dt_s AS tasks_per_s
  FROM stage_sample s JOIN run r USING (run_id)
  JOIN stage g ON g.run_id = s.run_id AND g.stage = s.stage;
-- Nodes over time, with memory and power where they are modelled.
--   gpu_active_pct: of the GPUs of the node
--   gpu_capacity: GPUs of the node
--   ram_capacity_bytes: memory of the node
--   ram_in_use_bytes: mean of the interval; NULL = not modelled
--   ram_in_use_max_bytes: most that lasted in it
--   ram_spilled_bytes: to disk, in it
--   power_cap_w: lowest cap of its GPUs; NULL = none
--   gpu_throttle: speed against that without throttle; 1 = none
--   gpu_temperature_max_c: of its hottest GPU
CREATE VIEW v_node AS
  SELECT r.variant, r.replication, r.start_unix_s + s.t_s AS time, n.name AS node_name, n.type, s.*,
         100.0 * s.gpu_active / nullif(n.gpus, 0) AS gpu_active_pct, n.gpus AS gpu_capacity,
         n.ram_bytes AS ram_capacity_bytes, n.ram_limit_bytes,
         m.in_use_bytes AS ram_in_use_bytes, m.in_use_max_bytes AS ram_in_use_max_bytes,
         m.spilled_bytes AS ram_spilled_bytes, p.gpu_power_w, p.cap_w AS power_cap_w,
         p.gpu_delivered, p.gpu_delivered / nullif(p.gpu_computing, 0) AS gpu_throttle,
         p.temperature_max_c AS gpu_temperature_max_c
  FROM node_sample s JOIN run r USING (run_id) JOIN node n ON n.run_id = s.run_id AND n.node = s.node
  LEFT JOIN memory_sample m ON m.run_id = s.run_id AND m.node = s.node AND m.t_s = s.t_s
  LEFT JOIN power_sample p ON p.run_id = s.run_id AND p.node = s.node AND p.t_s = s.t_s;
-- What every link delivered against what it can.
--   link_name: its name
--   use: delivered against what it could give; NULL where that is nothing
CREATE VIEW v_link AS
  SELECT r.variant, r.replication, r.start_unix_s + s.t_s AS time, l.name AS link_name, l.kind,
         n.name AS node_name, s.*, s.delivered_bytes_per_s / nullif(s.capacity_bytes_per_s, 0) AS use
  FROM link_sample s JOIN run r USING (run_id)
  JOIN link l ON l.run_id = s.run_id AND l.link = s.link
  LEFT JOIN node n ON n.run_id = s.run_id AND n.node = l.node;
-- What forecasts may start from, over time.
CREATE VIEW v_feature AS
  SELECT r.variant, r.replication, r.start_unix_s + s.t_s + s.dt_s AS time, s.*
  FROM feature_sample s JOIN run r USING (run_id);
-- Workers, with their names.
CREATE VIEW v_worker AS
  SELECT r.variant, r.replication, g.name AS stage_name, n.name AS node_name, w.*
  FROM worker w JOIN run r USING (run_id)
  LEFT JOIN stage g ON g.run_id = w.run_id AND g.stage = w.stage
  JOIN node n ON n.run_id = w.run_id AND n.node = w.node;
-- Jobs, with waits and names.
--   wait_s: from submission to the first start
--   time_s: from submission to the end
CREATE VIEW v_job AS
  SELECT r.variant, r.replication, r.placement, g.name AS label_name, n.name AS node_name,
         j.first_start_s - j.submit_s AS wait_s, j.end_s - j.submit_s AS time_s, j.*,
         w.name AS workload_name
  FROM job j JOIN run r USING (run_id)
  JOIN job_label g ON g.run_id = j.run_id AND g.label = j.label
  LEFT JOIN node n ON n.run_id = j.run_id AND n.node = j.node
  LEFT JOIN workload w ON w.run_id = j.run_id AND w.workload = j.workload;
-- Every rank of every attempt, from 0 in their order: where it ran and how that ended.
--   attempt: from 1 on
--   rank: from 0 on
--   gpu: devices, as in worker.devices
--   start_s: of the rank
--   end_s: of the rank
--   outcome: as worker.end_reason
CREATE VIEW v_job_member AS
  SELECT r.variant, r.replication, w.run_id, w.workload, l.name AS workload_name, w.job,
         j.name AS job_name, dense_rank() OVER (PARTITION BY w.run_id, w.workload, w.job
                                                ORDER BY w.created_s) AS attempt,
         row_number() OVER (PARTITION BY w.run_id, w.workload, w.job, w.created_s
                            ORDER BY w.worker) - 1 AS rank,
         w.worker, w.node, n.name AS node_name, w.devices AS gpu, w.gpu_amount,
         w.created_s AS start_s, w.ended_s AS end_s, w.end_reason AS outcome
  FROM worker w JOIN run r USING (run_id)
  JOIN node n ON n.run_id = w.run_id AND n.node = w.node
  LEFT JOIN workload l ON l.run_id = w.run_id AND l.workload = w.workload
  LEFT JOIN job j ON j.run_id = w.run_id AND j.workload = w.workload AND j.job = w.job
  WHERE w.job IS NOT NULL;
-- Steps of jobs, a row each, by their ends; a step that was done anew after a loss has another one.
--   step: its number, from 1
--   end_s: when it ended
--   step_s: how long it took
CREATE VIEW v_job_step AS
  WITH RECURSIVE step AS (
    SELECT rowid AS pace, CAST(first_step + 1e-6 AS INTEGER) + 1 AS step
      FROM job_pace WHERE CAST(first_step + steps + 1e-6 AS INTEGER) >
                          CAST(first_step + 1e-6 AS INTEGER)
    UNION ALL
    SELECT pace, step + 1 FROM step JOIN job_pace p ON p.rowid = pace
      WHERE step + 1 <= CAST(p.first_step + p.steps + 1e-6 AS INTEGER))
  SELECT r.variant, r.replication, p.run_id, p.workload, p.job, j.name AS job_name, p.attempt,
         step.step, p.t_s + (step.step - p.first_step) * p.dt_s / p.steps AS end_s,
         p.dt_s / p.steps AS step_s, p.sync, p.wait, p.bubble
  FROM step JOIN job_pace p ON p.rowid = step.pace JOIN run r USING (run_id)
  LEFT JOIN job j ON j.run_id = p.run_id AND j.workload = p.workload AND j.job = p.job;
-- Denials, one row a holder of what was asked for (one row with holder NULL when nobody is known).
-- device = the kind of device that lacks; node and gpu = where it lacks least; a limit lacks on
-- no node, and its holders are those who use it up. A place that a gang has reserved has no holder,
-- but the name of one.
--   reason: why it got no place
--   device: that lacks
--   gpu: its index in the node; NULL = none
--   holder: worker that holds it
--   holder_stage: its stage
--   holder_workload, holder_job: whose rank it is
--   holder_name: of the holder, in words
--   holder_gpus, holder_cpus: that it holds
--   holder_devices: as in worker.devices
--   holder_since_s, holder_until_s: how long it holds them
CREATE VIEW v_denial AS
  SELECT r.variant, r.replication, a.run_id, d.t_s, a.decision, a.seq, a.stage, g.name AS stage_name,
         a.workload, a.job, j.name AS job_name, substr(a.outcome, 9) AS reason,
         CASE substr(a.outcome, 9)
           WHEN 'too few CPUs' THEN 'CPU' WHEN 'too little memory' THEN 'memory'
           WHEN 'too little GPU memory' THEN 'GPU memory' WHEN 'no free NVDEC' THEN 'NVDEC'
           WHEN 'no free NVENC' THEN 'NVENC' WHEN 'no free MIG instance' THEN 'MIG instance'
           WHEN 'node is down or cordoned' THEN 'node' WHEN 'no GPU' THEN 'GPU'
           WHEN 'no GPU of the type' THEN 'GPU' WHEN 'too little free on a GPU' THEN 'GPU'
           WHEN 'too few free GPUs' THEN 'GPU'
           WHEN 'no such label on the node' THEN 'a node with its labels'
           WHEN 'node is kept for others' THEN 'a node that is not kept for others'
           ELSE '' END AS device,
         n.name AS node_name, json_extract(a.holders, '$.gpu') AS gpu, w.worker AS holder,
         w.stage AS holder_stage, w.workload AS holder_workload, w.job AS holder_job,
         CASE WHEN x.job IS NOT NULL THEN 'job ' || y.name || '/' || coalesce(z.name, x.job)
              WHEN w.job IS NULL THEN 'stage ' || p.pipeline || '/' || p.name
              ELSE 'job ' || l.name || '/' || coalesce(k.name, w.job) END AS holder_name,
         w.gpu_amount AS holder_gpus, coalesce(p.cpus, k.cpus / k.members) AS holder_cpus,
         w.devices AS holder_devices, w.created_s AS holder_since_s, w.ended_s AS holder_until_s
  FROM action a JOIN run r USING (run_id)
  JOIN decision d ON d.run_id = a.run_id AND d.decision = a.decision
  LEFT JOIN stage g ON g.run_id = a.run_id AND g.stage = a.stage
  LEFT JOIN job j ON j.run_id = a.run_id AND j.workload = a.workload AND j.job = a.job
  LEFT JOIN node n ON n.run_id = a.run_id AND n.node = a.node
  LEFT JOIN json_each(a.holders, '$.workers') h
  LEFT JOIN worker w ON w.run_id = a.run_id AND w.worker = h.value
  LEFT JOIN stage p ON p.run_id = a.run_id AND p.stage = w.stage
  LEFT JOIN workload l ON l.run_id = a.run_id AND l.workload = w.workload
  LEFT JOIN job k ON k.run_id = a.run_id AND k.workload = w.workload AND k.job = w.job
  LEFT JOIN action x ON w.worker IS NULL AND x.run_id = a.run_id AND x.decision = a.decision
    AND x.verb = 'reserve' AND x.worker = h.value
  LEFT JOIN workload y ON y.run_id = a.run_id AND y.workload = x.workload
  LEFT JOIN job z ON z.run_id = a.run_id AND z.workload = x.workload AND z.job = x.job
  WHERE a.verb = 'deny';
-- Jobs over time, with names of labels.
CREATE VIEW v_job_sample AS
  SELECT r.variant, r.replication, r.start_unix_s + s.t_s AS time, g.name AS label_name, s.*
  FROM job_sample s JOIN run r USING (run_id)
  JOIN job_label g ON g.run_id = s.run_id AND g.label = s.label;
-- Operations on models: audit by variant.
CREATE VIEW v_audit AS
  SELECT r.variant, r.replication, a.* FROM audit a JOIN run r USING (run_id);
-- Static experiments: arrival_sample by variant.
CREATE VIEW v_arrival AS
  SELECT r.variant, r.replication, r.placement, s.* FROM arrival_sample s JOIN run r USING (run_id);
-- Static experiments: arrival_part by variant.
CREATE VIEW v_arrival_part AS
  SELECT r.variant, r.replication, r.placement, s.* FROM arrival_part s JOIN run r USING (run_id);
-- Static experiments: moves of a defragmentation, with names of nodes.
--   from_name: of from_node
--   to_name: of to_node; NULL = none
CREATE VIEW v_defrag_move AS
  SELECT r.variant, r.replication, f.name AS from_name, t.name AS to_name, m.*
  FROM defrag_move m JOIN run r USING (run_id)
  JOIN node f ON f.run_id = m.run_id AND f.node = m.from_node
  LEFT JOIN node t ON t.run_id = m.run_id AND t.node = m.to_node;
-- Decisions, with what they took.
CREATE VIEW v_decision AS
  SELECT r.variant, r.replication, d.*, w.cpu_ms
  FROM decision d JOIN run r USING (run_id)
  LEFT JOIN decision_wall w ON w.run_id = d.run_id AND w.decision = d.decision;
-- level = who wanted it: queueing (of a job), scaling (of a stage), capacity (of nodes and cuts, and of
-- whom a node is emptied that is given back), '' = none.
-- placement = the policy that looked for its place, NULL = nobody did.
--   level: who wanted it
--   placement: policy that looked for its place; NULL = nobody did
CREATE VIEW v_action AS
  SELECT r.variant, r.replication, d.t_s, g.name AS stage_name, n.name AS node_name, a.*,
         CASE WHEN a.verb IN ('stop', 'preempt') AND a.node IS NOT NULL THEN 'capacity'
              WHEN a.job IS NOT NULL THEN 'queueing' WHEN a.stage IS NOT NULL THEN 'scaling'
              WHEN a.verb IN ('cut', 'request_node', 'release_node') THEN 'capacity'
              ELSE '' END AS level,
         CASE WHEN a.nodes_seen IS NOT NULL THEN d.placement END AS placement
  FROM action a JOIN run r USING (run_id)
  JOIN decision d ON d.run_id = a.run_id AND d.decision = a.decision
  LEFT JOIN stage g ON g.run_id = a.run_id AND g.stage = a.stage
  LEFT JOIN node n ON n.run_id = a.run_id AND n.node = a.node;
