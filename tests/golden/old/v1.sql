-- SPDX-License-Identifier: GPL-3.0-or-later
-- A result database of version 1, kept to be read by every later program. The program of commit
-- a9784d0 wrote it: weir compare of two placements, two replications each; wall-clock values and
-- names of the machine are replaced. Never write this file anew.
PRAGMA application_id = 0x77656972;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES
('config_knobs','0'),
('git_commit','a9784d0'),
('gsl_version','2.7.1'),
('rng','philox4x32-10'),
('samples','time-weighted means of [t_s, t_s + dt_s), exact'),
('schema_version','1'),
('sources_datasheet','0'),
('sources_guess','5'),
('sources_measured','0'),
('sources_unstated','3'),
('sqlite_version','3.40.1'),
('weir_version','0.1.0');
CREATE TABLE experiment (
  experiment_id INTEGER PRIMARY KEY,
  scenario TEXT NOT NULL,            -- name
  description TEXT NOT NULL,
  resolved_yaml TEXT NOT NULL,       -- of the base variant
  scenario_digest TEXT NOT NULL,     -- 16 hex digits, of the base variant
  command_line TEXT NOT NULL,
  baseline TEXT NOT NULL             -- label of the variant others are compared with
) STRICT;
INSERT INTO experiment VALUES
(1,'old','a file of version 1',replace('schema: 1\nname: old\ndescription: a file of version 1\nseed: 1\nreplications: 1\nhorizon: 120 s\nwarmup: 0 s\nresource_quantum:\n  step: exact\n  round: nearest\ncatalog:\n  gpu_types:\n    h100:\n      memory: 80 GB\n      nvdec: 7\n      nvenc: 0\n      idle: 95 W\n      limit: 700 W\n      speed: 1\ncluster:\n  nodes:\n    - name: n\n      count: 1\n      cpus: 16\n      gpus:\n        h100: 2\nsched:\n  placement:\n    policy: fgd\n    metric: xenna\n    tie: most_free\n    reuse_bonus: 10\n    reuse_bonus_applies: reused\n    evict_tie: emptiest\n    resolution: 9.094947017729282e-13\n    precision: double\n    whole: all\n    whole_engines: free\n    reuse: same_tie\n    score: change\n    steps: 100\n    device_score: cut\n  scaling:\n    policy: xenna\n    interval: 60 s\n    window: 180 s\n    min_points: 5\n    default_speed: 1\n    slots_min: 2\n    loop_period: 1 s\n    skip_finished: false\n    overallocation: 1.5\n    version: P\n  explain: counts\n  latency:\n    base: 0 s\n    per_worker: 0 s\n  view_age: 0 s\npipelines:\n  - name: p\n    execution: streaming\n    semantics: event\n    tick: 0.1 s\n    tick_rounding: truncate\n    input:\n      items: 40\n      size: const(1)\n    slots_per_worker: 2\n    backpressure:\n      rule: slots\n      multiplier: 1\n      buffer: 1\n      lower_bound: 8\n    worker_choice: oldest\n    loop_hz: 100\n    grace: 60 s\n    backlog_guard: false\n    teardown: parallel\n    teardown_limit: 50 s\n    restart: same_place\n    restart_spacing: 60 s\n    stages:\n      - name: a\n        cpus: 1\n        gpus: 0\n        nvdecs: 0\n        nvencs: 0\n        ram: 0 B\n        gpu_memory: 0 B\n        entire_gpu: false\n        codec_same_gpu: false\n        batch: 1\n        service:\n          law: exp(1)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        teardown: 0 s\n        setup_attempts: 1\n        max_setup_failure: 1\n        on_failure: requeue\n        reset_on_failure: false\n        max_lifetime: 0 s\n      - name: b\n        cpus: 1\n        gpus: 0.5\n        nvdecs: 0\n        nvencs: 0\n        ram: 0 B\n        gpu_memory: 0 B\n        entire_gpu: false\n        codec_same_gpu: false\n        batch: 1\n        service:\n          law: const(4)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        teardown: 0 s\n        setup_attempts: 1\n        max_setup_failure: 1\n        on_failure: requeue\n        reset_on_failure: false\n        max_lifetime: 0 s\nmetrics:\n  sample: 60 s\ncompare:\n  - label: fgd\n    set:\n      sched.placement: fgd\n  - label: spread\n    set:\n      sched.placement: spread\n','\n',char(10)),'6f28f6ed23216f0e','weir compare old.yaml -n 2 -q -o v1.db','fgd');
CREATE TABLE input_file (
  experiment_id INTEGER NOT NULL, path TEXT NOT NULL, bytes INTEGER NOT NULL, digest TEXT NOT NULL
) STRICT;
INSERT INTO input_file VALUES
(1,'old.yaml',518,'fb9593032f2b8082');
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
  status TEXT NOT NULL,              -- running | complete | horizon | interrupted | failed
  message TEXT NOT NULL,             -- why it failed
  events INTEGER, event_digest TEXT, result_digest TEXT,
  sample_s REAL,                     -- interval of the *_sample tables at the end
  is_steady INTEGER,                 -- 0 = depends on the horizon (saturated)
  UNIQUE (experiment_id, variant, replication)
) STRICT;
INSERT INTO run VALUES
(1,1,'fgd',0,0,1,'fgd','xenna',replace('schema: 1\nname: old\ndescription: a file of version 1\nseed: 1\nreplications: 1\nhorizon: 120 s\nwarmup: 0 s\nresource_quantum:\n  step: exact\n  round: nearest\ncatalog:\n  gpu_types:\n    h100:\n      memory: 80 GB\n      nvdec: 7\n      nvenc: 0\n      idle: 95 W\n      limit: 700 W\n      speed: 1\ncluster:\n  nodes:\n    - name: n\n      count: 1\n      cpus: 16\n      gpus:\n        h100: 2\nsched:\n  placement:\n    policy: fgd\n    metric: xenna\n    tie: most_free\n    reuse_bonus: 10\n    reuse_bonus_applies: reused\n    evict_tie: emptiest\n    resolution: 9.094947017729282e-13\n    precision: double\n    whole: all\n    whole_engines: free\n    reuse: same_tie\n    score: change\n    steps: 100\n    device_score: cut\n  scaling:\n    policy: xenna\n    interval: 60 s\n    window: 180 s\n    min_points: 5\n    default_speed: 1\n    slots_min: 2\n    loop_period: 1 s\n    skip_finished: false\n    overallocation: 1.5\n    version: P\n  explain: counts\n  latency:\n    base: 0 s\n    per_worker: 0 s\n  view_age: 0 s\npipelines:\n  - name: p\n    execution: streaming\n    semantics: event\n    tick: 0.1 s\n    tick_rounding: truncate\n    input:\n      items: 40\n      size: const(1)\n    slots_per_worker: 2\n    backpressure:\n      rule: slots\n      multiplier: 1\n      buffer: 1\n      lower_bound: 8\n    worker_choice: oldest\n    loop_hz: 100\n    grace: 60 s\n    backlog_guard: false\n    teardown: parallel\n    teardown_limit: 50 s\n    restart: same_place\n    restart_spacing: 60 s\n    stages:\n      - name: a\n        cpus: 1\n        gpus: 0\n        nvdecs: 0\n        nvencs: 0\n        ram: 0 B\n        gpu_memory: 0 B\n        entire_gpu: false\n        codec_same_gpu: false\n        batch: 1\n        service:\n          law: exp(1)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        teardown: 0 s\n        setup_attempts: 1\n        max_setup_failure: 1\n        on_failure: requeue\n        reset_on_failure: false\n        max_lifetime: 0 s\n      - name: b\n        cpus: 1\n        gpus: 0.5\n        nvdecs: 0\n        nvencs: 0\n        ram: 0 B\n        gpu_memory: 0 B\n        entire_gpu: false\n        codec_same_gpu: false\n        batch: 1\n        service:\n          law: const(4)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        teardown: 0 s\n        setup_attempts: 1\n        max_setup_failure: 1\n        on_failure: requeue\n        reset_on_failure: false\n        max_lifetime: 0 s\nmetrics:\n  sample: 60 s\ncompare:\n  - label: fgd\n    set:\n      sched.placement: fgd\n  - label: spread\n    set:\n      sched.placement: spread\n','\n',char(10)),'6f28f6ed23216f0e',0,0.0,120.0000000000000142,40.202400606000004757,'complete','',91,'5d5112b294946d65','28f28528a8db77ba',60.000000000000007103,1),
(2,1,'fgd',0,1,1,'fgd','xenna',replace('schema: 1\nname: old\ndescription: a file of version 1\nseed: 1\nreplications: 1\nhorizon: 120 s\nwarmup: 0 s\nresource_quantum:\n  step: exact\n  round: nearest\ncatalog:\n  gpu_types:\n    h100:\n      memory: 80 GB\n      nvdec: 7\n      nvenc: 0\n      idle: 95 W\n      limit: 700 W\n      speed: 1\ncluster:\n  nodes:\n    - name: n\n      count: 1\n      cpus: 16\n      gpus:\n        h100: 2\nsched:\n  placement:\n    policy: fgd\n    metric: xenna\n    tie: most_free\n    reuse_bonus: 10\n    reuse_bonus_applies: reused\n    evict_tie: emptiest\n    resolution: 9.094947017729282e-13\n    precision: double\n    whole: all\n    whole_engines: free\n    reuse: same_tie\n    score: change\n    steps: 100\n    device_score: cut\n  scaling:\n    policy: xenna\n    interval: 60 s\n    window: 180 s\n    min_points: 5\n    default_speed: 1\n    slots_min: 2\n    loop_period: 1 s\n    skip_finished: false\n    overallocation: 1.5\n    version: P\n  explain: counts\n  latency:\n    base: 0 s\n    per_worker: 0 s\n  view_age: 0 s\npipelines:\n  - name: p\n    execution: streaming\n    semantics: event\n    tick: 0.1 s\n    tick_rounding: truncate\n    input:\n      items: 40\n      size: const(1)\n    slots_per_worker: 2\n    backpressure:\n      rule: slots\n      multiplier: 1\n      buffer: 1\n      lower_bound: 8\n    worker_choice: oldest\n    loop_hz: 100\n    grace: 60 s\n    backlog_guard: false\n    teardown: parallel\n    teardown_limit: 50 s\n    restart: same_place\n    restart_spacing: 60 s\n    stages:\n      - name: a\n        cpus: 1\n        gpus: 0\n        nvdecs: 0\n        nvencs: 0\n        ram: 0 B\n        gpu_memory: 0 B\n        entire_gpu: false\n        codec_same_gpu: false\n        batch: 1\n        service:\n          law: exp(1)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        teardown: 0 s\n        setup_attempts: 1\n        max_setup_failure: 1\n        on_failure: requeue\n        reset_on_failure: false\n        max_lifetime: 0 s\n      - name: b\n        cpus: 1\n        gpus: 0.5\n        nvdecs: 0\n        nvencs: 0\n        ram: 0 B\n        gpu_memory: 0 B\n        entire_gpu: false\n        codec_same_gpu: false\n        batch: 1\n        service:\n          law: const(4)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        teardown: 0 s\n        setup_attempts: 1\n        max_setup_failure: 1\n        on_failure: requeue\n        reset_on_failure: false\n        max_lifetime: 0 s\nmetrics:\n  sample: 60 s\ncompare:\n  - label: fgd\n    set:\n      sched.placement: fgd\n  - label: spread\n    set:\n      sched.placement: spread\n','\n',char(10)),'6f28f6ed23216f0e',0,0.0,120.0000000000000142,40.526547654000005136,'complete','',91,'d11b6b78be3ca1b8','9390d821351ac161',60.000000000000007103,1),
(3,1,'spread',1,0,1,'spread','xenna',replace('schema: 1\nname: old\ndescription: a file of version 1\nseed: 1\nreplications: 1\nhorizon: 120 s\nwarmup: 0 s\nresource_quantum:\n  step: exact\n  round: nearest\ncatalog:\n  gpu_types:\n    h100:\n      memory: 80 GB\n      nvdec: 7\n      nvenc: 0\n      idle: 95 W\n      limit: 700 W\n      speed: 1\ncluster:\n  nodes:\n    - name: n\n      count: 1\n      cpus: 16\n      gpus:\n        h100: 2\nsched:\n  placement: spread\n  scaling:\n    policy: xenna\n    interval: 60 s\n    window: 180 s\n    min_points: 5\n    default_speed: 1\n    slots_min: 2\n    loop_period: 1 s\n    skip_finished: false\n    overallocation: 1.5\n    version: P\n  explain: counts\n  latency:\n    base: 0 s\n    per_worker: 0 s\n  view_age: 0 s\npipelines:\n  - name: p\n    execution: streaming\n    semantics: event\n    tick: 0.1 s\n    tick_rounding: truncate\n    input:\n      items: 40\n      size: const(1)\n    slots_per_worker: 2\n    backpressure:\n      rule: slots\n      multiplier: 1\n      buffer: 1\n      lower_bound: 8\n    worker_choice: oldest\n    loop_hz: 100\n    grace: 60 s\n    backlog_guard: false\n    teardown: parallel\n    teardown_limit: 50 s\n    restart: same_place\n    restart_spacing: 60 s\n    stages:\n      - name: a\n        cpus: 1\n        gpus: 0\n        nvdecs: 0\n        nvencs: 0\n        ram: 0 B\n        gpu_memory: 0 B\n        entire_gpu: false\n        codec_same_gpu: false\n        batch: 1\n        service:\n          law: exp(1)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        teardown: 0 s\n        setup_attempts: 1\n        max_setup_failure: 1\n        on_failure: requeue\n        reset_on_failure: false\n        max_lifetime: 0 s\n      - name: b\n        cpus: 1\n        gpus: 0.5\n        nvdecs: 0\n        nvencs: 0\n        ram: 0 B\n        gpu_memory: 0 B\n        entire_gpu: false\n        codec_same_gpu: false\n        batch: 1\n        service:\n          law: const(4)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        teardown: 0 s\n        setup_attempts: 1\n        max_setup_failure: 1\n        on_failure: requeue\n        reset_on_failure: false\n        max_lifetime: 0 s\nmetrics:\n  sample: 60 s\ncompare:\n  - label: fgd\n    set:\n      sched.placement: fgd\n  - label: spread\n    set:\n      sched.placement: spread\n','\n',char(10)),'786f4c8e9646feea',0,0.0,120.0000000000000142,40.202400606000004757,'complete','',91,'5d5112b294946d65','28f28528a8db77ba',60.000000000000007103,1),
(4,1,'spread',1,1,1,'spread','xenna',replace('schema: 1\nname: old\ndescription: a file of version 1\nseed: 1\nreplications: 1\nhorizon: 120 s\nwarmup: 0 s\nresource_quantum:\n  step: exact\n  round: nearest\ncatalog:\n  gpu_types:\n    h100:\n      memory: 80 GB\n      nvdec: 7\n      nvenc: 0\n      idle: 95 W\n      limit: 700 W\n      speed: 1\ncluster:\n  nodes:\n    - name: n\n      count: 1\n      cpus: 16\n      gpus:\n        h100: 2\nsched:\n  placement: spread\n  scaling:\n    policy: xenna\n    interval: 60 s\n    window: 180 s\n    min_points: 5\n    default_speed: 1\n    slots_min: 2\n    loop_period: 1 s\n    skip_finished: false\n    overallocation: 1.5\n    version: P\n  explain: counts\n  latency:\n    base: 0 s\n    per_worker: 0 s\n  view_age: 0 s\npipelines:\n  - name: p\n    execution: streaming\n    semantics: event\n    tick: 0.1 s\n    tick_rounding: truncate\n    input:\n      items: 40\n      size: const(1)\n    slots_per_worker: 2\n    backpressure:\n      rule: slots\n      multiplier: 1\n      buffer: 1\n      lower_bound: 8\n    worker_choice: oldest\n    loop_hz: 100\n    grace: 60 s\n    backlog_guard: false\n    teardown: parallel\n    teardown_limit: 50 s\n    restart: same_place\n    restart_spacing: 60 s\n    stages:\n      - name: a\n        cpus: 1\n        gpus: 0\n        nvdecs: 0\n        nvencs: 0\n        ram: 0 B\n        gpu_memory: 0 B\n        entire_gpu: false\n        codec_same_gpu: false\n        batch: 1\n        service:\n          law: exp(1)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        teardown: 0 s\n        setup_attempts: 1\n        max_setup_failure: 1\n        on_failure: requeue\n        reset_on_failure: false\n        max_lifetime: 0 s\n      - name: b\n        cpus: 1\n        gpus: 0.5\n        nvdecs: 0\n        nvencs: 0\n        ram: 0 B\n        gpu_memory: 0 B\n        entire_gpu: false\n        codec_same_gpu: false\n        batch: 1\n        service:\n          law: const(4)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        teardown: 0 s\n        setup_attempts: 1\n        max_setup_failure: 1\n        on_failure: requeue\n        reset_on_failure: false\n        max_lifetime: 0 s\nmetrics:\n  sample: 60 s\ncompare:\n  - label: fgd\n    set:\n      sched.placement: fgd\n  - label: spread\n    set:\n      sched.placement: spread\n','\n',char(10)),'786f4c8e9646feea',0,0.0,120.0000000000000142,40.526547654000005136,'complete','',91,'d11b6b78be3ca1b8','9390d821351ac161',60.000000000000007103,1);
CREATE TABLE run_wall (
  run_id INTEGER PRIMARY KEY, wall_s REAL NOT NULL, cpu_s REAL NOT NULL, peak_rss_mib REAL NOT NULL,
  started_utc TEXT NOT NULL, host TEXT NOT NULL, version TEXT NOT NULL, git_commit TEXT NOT NULL
) STRICT;
INSERT INTO run_wall VALUES
(1,0.010000000000000000208,0.010000000000000000208,5.10546875,'2026-11-21T08:54:31Z','host','0.1.0','a9784d0'),
(2,0.010000000000000000208,0.010000000000000000208,5.10546875,'2026-11-21T08:54:31Z','host','0.1.0','a9784d0'),
(3,0.010000000000000000208,0.010000000000000000208,5.10546875,'2026-11-21T08:54:31Z','host','0.1.0','a9784d0'),
(4,0.010000000000000000208,0.010000000000000000208,4.95703125,'2026-11-21T08:54:31Z','host','0.1.0','a9784d0');
CREATE TABLE node (
  run_id INTEGER NOT NULL, node INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
  cpus REAL NOT NULL, gpus INTEGER NOT NULL, gpu_type TEXT NOT NULL, nvdecs INTEGER NOT NULL,
  nvencs INTEGER NOT NULL, ram_bytes INTEGER NOT NULL, gpu_mem_bytes INTEGER NOT NULL
) STRICT;
INSERT INTO node VALUES
(1,0,'n','n',16.0,2,'h100',14,0,0,160000000000),
(2,0,'n','n',16.0,2,'h100',14,0,0,160000000000),
(3,0,'n','n',16.0,2,'h100',14,0,0,160000000000),
(4,0,'n','n',16.0,2,'h100',14,0,0,160000000000);
CREATE TABLE stage (
  run_id INTEGER NOT NULL, stage INTEGER NOT NULL, pipeline TEXT NOT NULL, name TEXT NOT NULL,
  position INTEGER NOT NULL,         -- within its pipeline, from 0
  shape TEXT NOT NULL,               -- "1 CPU + 0.25 GPU"
  cpus REAL NOT NULL, gpus REAL NOT NULL, nvdecs INTEGER NOT NULL, nvencs INTEGER NOT NULL,
  batch INTEGER NOT NULL, workers_fixed INTEGER, service_mean_s REAL NOT NULL,
  bound_workers INTEGER,             -- in the integer throughput bound
  mix REAL NOT NULL                  -- share in the reference mix of frag.*
) STRICT;
INSERT INTO stage VALUES
(1,0,'p','a',0,'1 CPU',1.0,0.0,0,0,1,NULL,1.0,1,0.2000000000000000111),
(1,1,'p','b',1,'1 CPU + 0.5 GPU',1.0,0.5,0,0,1,NULL,4.0,4,0.8000000000000000444),
(2,0,'p','a',0,'1 CPU',1.0,0.0,0,0,1,NULL,1.0,1,0.2000000000000000111),
(2,1,'p','b',1,'1 CPU + 0.5 GPU',1.0,0.5,0,0,1,NULL,4.0,4,0.8000000000000000444),
(3,0,'p','a',0,'1 CPU',1.0,0.0,0,0,1,NULL,1.0,1,0.2000000000000000111),
(3,1,'p','b',1,'1 CPU + 0.5 GPU',1.0,0.5,0,0,1,NULL,4.0,4,0.8000000000000000444),
(4,0,'p','a',0,'1 CPU',1.0,0.0,0,0,1,NULL,1.0,1,0.2000000000000000111),
(4,1,'p','b',1,'1 CPU + 0.5 GPU',1.0,0.5,0,0,1,NULL,4.0,4,0.8000000000000000444);
CREATE TABLE result (
  run_id INTEGER NOT NULL, metric TEXT NOT NULL, label TEXT NOT NULL, value REAL,
  unit TEXT NOT NULL, n INTEGER NOT NULL, censored INTEGER NOT NULL, is_lower_bound INTEGER NOT NULL
) STRICT;
INSERT INTO result VALUES
(1,'util.cpu.active','',0.30605062243412889388,'ratio',0,0,0),
(1,'util.cpu.assigned','',0.625,'ratio',0,0,0),
(1,'util.gpu.active','',0.99496545970019034665,'ratio',0,0,0),
(1,'util.gpu.assigned','',1.0,'ratio',0,0,0),
(1,'util.nvdec.active','',0.0,'ratio',0,0,0),
(1,'util.nvdec.assigned','',0.0,'ratio',0,0,0),
(1,'util.gpumem.active','',0.0,'ratio',0,0,0),
(1,'util.gpumem.assigned','',0.0,'ratio',0,0,0),
(1,'util.gpu.seed','',0.99496545970019034665,'ratio',0,0,0),
(1,'waste.alloc_unused','',0.005034540299809677627,'ratio',0,0,0),
(1,'frag.gpu.fgd','',0.0,'GPUs',0,0,0),
(1,'frag.codec','',0.0,'engines',0,0,0),
(1,'frag.whole_free','',1.0,'ratio',0,0,0),
(1,'frag.crumbs','',0.0,'GPUs',0,0,0),
(1,'stranded.gpus','',0.0,'GPUs',0,0,0),
(1,'thr.stage','a',0.99496545970019023563,'1/s',0,0,0),
(1,'queue.len.mean','a',0.0,'items',0,0,0),
(1,'queue.len.max','a',0.0,'items',0,0,0),
(1,'queue.bytes.max','a',0.0,'B',0,0,0),
(1,'bp.blocked_frac','a',0.56682632926151788055,'ratio',0,0,0),
(1,'bp.starved_frac','a',0.96481251314159399701,'ratio',0,0,0),
(1,'bp.signal','a',0.13365265852303565008,'',0,0,0),
(1,'bottleneck.share','a',0.0,'ratio',0,0,0),
(1,'wait.stage.mean','a',0.0,'s',40,0,0),
(1,'wait.stage.p95','a',0.0,'s',40,0,0),
(1,'thr.stage','b',0.99496545970019023563,'1/s',0,0,0),
(1,'queue.len.mean','b',8.5575360374786875183,'items',0,0,0),
(1,'queue.len.max','b',12.0,'items',0,0,0),
(1,'queue.bytes.max','b',0.0,'B',0,0,0),
(1,'bp.blocked_frac','b',0.0,'ratio',0,0,0),
(1,'bp.starved_frac','b',0.0094864699682406829206,'ratio',0,0,0),
(1,'bp.signal','b',0.78807623317080077729,'',0,0,0),
(1,'bottleneck.share','b',0.0,'ratio',0,0,0),
(1,'wait.stage.mean','b',8.6008372994749997531,'s',40,0,0),
(1,'wait.stage.p95','b',11.716583195000000117,'s',40,0,0),
(1,'thr.pipeline','',0.99496545970019023563,'1/s',40,0,0),
(1,'thr.pipeline.steady','',0.99496545970019023563,'1/s',40,0,0),
(1,'wait.mean','',8.6008372994749997531,'s',40,0,0),
(1,'lat.e2e.mean','',13.522425191000001732,'s',40,0,0),
(1,'lat.e2e.p50','',15.878351433000000625,'s',40,0,0),
(1,'lat.e2e.p95','',16.178978260000000943,'s',40,0,0),
(1,'lat.e2e.p99','',20.057329692999999793,'s',40,0,0),
(1,'lat.e2e.max','',20.057329692999999793,'s',40,0,0),
(1,'makespan','',40.202400606000004757,'s',0,0,0),
(1,'worker.created','',10.0,'count',0,0,0),
(1,'worker.deleted','',0.0,'count',0,0,0),
(1,'worker.churn','',0.0,'1/h',0,0,0),
(1,'mem.peak_bytes','',0.0,'B',0,0,0),
(1,'waste.setup_s','',0.0,'s',0,0,0),
(1,'work.lost_s','',0.0,'s',0,0,0),
(1,'retry.count','',0.0,'count',0,0,0),
(1,'retry.exhausted','',0.0,'count',0,0,0),
(1,'sched.decisions','',1.0,'count',0,0,0),
(1,'sched.refused','',0.0,'count',0,0,0),
(1,'samples.count','',1.0,'count',0,0,0),
(1,'invariant.violations','',0.0,'count',0,0,0),
(2,'util.cpu.active','',0.33020381474541132815,'ratio',0,0,0),
(2,'util.cpu.assigned','',0.625,'ratio',0,0,0),
(2,'util.gpu.active','',0.98700734001584689014,'ratio',0,0,0),
(2,'util.gpu.assigned','',1.0,'ratio',0,0,0),
(2,'util.nvdec.active','',0.0,'ratio',0,0,0),
(2,'util.nvdec.assigned','',0.0,'ratio',0,0,0),
(2,'util.gpumem.active','',0.0,'ratio',0,0,0),
(2,'util.gpumem.assigned','',0.0,'ratio',0,0,0),
(2,'util.gpu.seed','',0.98700734001584689014,'ratio',0,0,0),
(2,'waste.alloc_unused','',0.012992659984153113322,'ratio',0,0,0),
(2,'frag.gpu.fgd','',0.0,'GPUs',0,0,0),
(2,'frag.codec','',0.0,'engines',0,0,0),
(2,'frag.whole_free','',1.0,'ratio',0,0,0),
(2,'frag.crumbs','',0.0,'GPUs',0,0,0),
(2,'stranded.gpus','',0.0,'GPUs',0,0,0),
(2,'thr.stage','a',0.98700734001584677912,'1/s',0,0,0),
(2,'queue.len.mean','a',0.0,'items',0,0,0),
(2,'queue.len.max','a',0.0,'items',0,0,0),
(2,'queue.bytes.max','a',0.0,'B',0,0,0),
(2,'bp.blocked_frac','a',0.55420814491172598614,'ratio',0,0,0),
(2,'bp.starved_frac','a',0.9490110809180647422,'ratio',0,0,0),
(2,'bp.signal','a',0.10841628982345193066,'',0,0,0),
(2,'bottleneck.share','a',0.0,'ratio',0,0,0),
(2,'wait.stage.mean','a',0.0,'s',40,0,0),
(2,'wait.stage.p95','a',0.0,'s',40,0,0),
(2,'thr.stage','b',0.98700734001584677912,'1/s',0,0,0),
(2,'queue.len.mean','b',8.0914969115469173033,'items',0,0,0),
(2,'queue.len.max','b',12.0,'items',0,0,0),
(2,'queue.bytes.max','b',0.0,'B',0,0,0),
(2,'bp.blocked_frac','b',0.0,'ratio',0,0,0),
(2,'bp.starved_frac','b',0.019552356661739742765,'ratio',0,0,0),
(2,'bp.signal','b',0.77622973149786866908,'',0,0,0),
(2,'bottleneck.share','b',0.0,'ratio',0,0,0),
(2,'wait.stage.mean','b',8.1980108794500008428,'s',40,0,0),
(2,'wait.stage.p95','b',11.553045480999999839,'s',40,0,0),
(2,'thr.pipeline','',0.98700734001584677912,'1/s',40,0,0),
(2,'thr.pipeline.steady','',0.98700734001584677912,'1/s',40,0,0),
(2,'wait.mean','',8.1980108794500008428,'s',40,0,0),
(2,'lat.e2e.mean','',13.550819132975002289,'s',40,0,0),
(2,'lat.e2e.p50','',15.777979125000001659,'s',40,0,0),
(2,'lat.e2e.p95','',19.755464193000001671,'s',40,0,0),
(2,'lat.e2e.p99','',20.222020875000001893,'s',40,0,0),
(2,'lat.e2e.max','',20.222020875000001893,'s',40,0,0),
(2,'makespan','',40.526547654000005136,'s',0,0,0),
(2,'worker.created','',10.0,'count',0,0,0),
(2,'worker.deleted','',0.0,'count',0,0,0),
(2,'worker.churn','',0.0,'1/h',0,0,0),
(2,'mem.peak_bytes','',0.0,'B',0,0,0),
(2,'waste.setup_s','',0.0,'s',0,0,0),
(2,'work.lost_s','',0.0,'s',0,0,0),
(2,'retry.count','',0.0,'count',0,0,0),
(2,'retry.exhausted','',0.0,'count',0,0,0),
(2,'sched.decisions','',1.0,'count',0,0,0),
(2,'sched.refused','',0.0,'count',0,0,0),
(2,'samples.count','',1.0,'count',0,0,0),
(2,'invariant.violations','',0.0,'count',0,0,0),
(3,'util.cpu.active','',0.30605062243412889388,'ratio',0,0,0),
(3,'util.cpu.assigned','',0.625,'ratio',0,0,0),
(3,'util.gpu.active','',0.99496545970019034665,'ratio',0,0,0),
(3,'util.gpu.assigned','',1.0,'ratio',0,0,0),
(3,'util.nvdec.active','',0.0,'ratio',0,0,0),
(3,'util.nvdec.assigned','',0.0,'ratio',0,0,0),
(3,'util.gpumem.active','',0.0,'ratio',0,0,0),
(3,'util.gpumem.assigned','',0.0,'ratio',0,0,0),
(3,'util.gpu.seed','',0.99496545970019034665,'ratio',0,0,0),
(3,'waste.alloc_unused','',0.005034540299809677627,'ratio',0,0,0),
(3,'frag.gpu.fgd','',0.0,'GPUs',0,0,0),
(3,'frag.codec','',0.0,'engines',0,0,0),
(3,'frag.whole_free','',1.0,'ratio',0,0,0),
(3,'frag.crumbs','',0.0,'GPUs',0,0,0),
(3,'stranded.gpus','',0.0,'GPUs',0,0,0),
(3,'thr.stage','a',0.99496545970019023563,'1/s',0,0,0),
(3,'queue.len.mean','a',0.0,'items',0,0,0),
(3,'queue.len.max','a',0.0,'items',0,0,0),
(3,'queue.bytes.max','a',0.0,'B',0,0,0),
(3,'bp.blocked_frac','a',0.56682632926151788055,'ratio',0,0,0),
(3,'bp.starved_frac','a',0.96481251314159399701,'ratio',0,0,0),
(3,'bp.signal','a',0.13365265852303565008,'',0,0,0),
(3,'bottleneck.share','a',0.0,'ratio',0,0,0),
(3,'wait.stage.mean','a',0.0,'s',40,0,0),
(3,'wait.stage.p95','a',0.0,'s',40,0,0),
(3,'thr.stage','b',0.99496545970019023563,'1/s',0,0,0),
(3,'queue.len.mean','b',8.5575360374786875183,'items',0,0,0),
(3,'queue.len.max','b',12.0,'items',0,0,0),
(3,'queue.bytes.max','b',0.0,'B',0,0,0),
(3,'bp.blocked_frac','b',0.0,'ratio',0,0,0),
(3,'bp.starved_frac','b',0.0094864699682406829206,'ratio',0,0,0),
(3,'bp.signal','b',0.78807623317080077729,'',0,0,0),
(3,'bottleneck.share','b',0.0,'ratio',0,0,0),
(3,'wait.stage.mean','b',8.6008372994749997531,'s',40,0,0),
(3,'wait.stage.p95','b',11.716583195000000117,'s',40,0,0),
(3,'thr.pipeline','',0.99496545970019023563,'1/s',40,0,0),
(3,'thr.pipeline.steady','',0.99496545970019023563,'1/s',40,0,0),
(3,'wait.mean','',8.6008372994749997531,'s',40,0,0),
(3,'lat.e2e.mean','',13.522425191000001732,'s',40,0,0),
(3,'lat.e2e.p50','',15.878351433000000625,'s',40,0,0),
(3,'lat.e2e.p95','',16.178978260000000943,'s',40,0,0),
(3,'lat.e2e.p99','',20.057329692999999793,'s',40,0,0),
(3,'lat.e2e.max','',20.057329692999999793,'s',40,0,0),
(3,'makespan','',40.202400606000004757,'s',0,0,0),
(3,'worker.created','',10.0,'count',0,0,0),
(3,'worker.deleted','',0.0,'count',0,0,0),
(3,'worker.churn','',0.0,'1/h',0,0,0),
(3,'mem.peak_bytes','',0.0,'B',0,0,0),
(3,'waste.setup_s','',0.0,'s',0,0,0),
(3,'work.lost_s','',0.0,'s',0,0,0),
(3,'retry.count','',0.0,'count',0,0,0),
(3,'retry.exhausted','',0.0,'count',0,0,0),
(3,'sched.decisions','',1.0,'count',0,0,0),
(3,'sched.refused','',0.0,'count',0,0,0),
(3,'samples.count','',1.0,'count',0,0,0),
(3,'invariant.violations','',0.0,'count',0,0,0),
(4,'util.cpu.active','',0.33020381474541132815,'ratio',0,0,0),
(4,'util.cpu.assigned','',0.625,'ratio',0,0,0),
(4,'util.gpu.active','',0.98700734001584689014,'ratio',0,0,0),
(4,'util.gpu.assigned','',1.0,'ratio',0,0,0),
(4,'util.nvdec.active','',0.0,'ratio',0,0,0),
(4,'util.nvdec.assigned','',0.0,'ratio',0,0,0),
(4,'util.gpumem.active','',0.0,'ratio',0,0,0),
(4,'util.gpumem.assigned','',0.0,'ratio',0,0,0),
(4,'util.gpu.seed','',0.98700734001584689014,'ratio',0,0,0),
(4,'waste.alloc_unused','',0.012992659984153113322,'ratio',0,0,0),
(4,'frag.gpu.fgd','',0.0,'GPUs',0,0,0),
(4,'frag.codec','',0.0,'engines',0,0,0),
(4,'frag.whole_free','',1.0,'ratio',0,0,0),
(4,'frag.crumbs','',0.0,'GPUs',0,0,0),
(4,'stranded.gpus','',0.0,'GPUs',0,0,0),
(4,'thr.stage','a',0.98700734001584677912,'1/s',0,0,0),
(4,'queue.len.mean','a',0.0,'items',0,0,0),
(4,'queue.len.max','a',0.0,'items',0,0,0),
(4,'queue.bytes.max','a',0.0,'B',0,0,0),
(4,'bp.blocked_frac','a',0.55420814491172598614,'ratio',0,0,0),
(4,'bp.starved_frac','a',0.9490110809180647422,'ratio',0,0,0),
(4,'bp.signal','a',0.10841628982345193066,'',0,0,0),
(4,'bottleneck.share','a',0.0,'ratio',0,0,0),
(4,'wait.stage.mean','a',0.0,'s',40,0,0),
(4,'wait.stage.p95','a',0.0,'s',40,0,0),
(4,'thr.stage','b',0.98700734001584677912,'1/s',0,0,0),
(4,'queue.len.mean','b',8.0914969115469173033,'items',0,0,0),
(4,'queue.len.max','b',12.0,'items',0,0,0),
(4,'queue.bytes.max','b',0.0,'B',0,0,0),
(4,'bp.blocked_frac','b',0.0,'ratio',0,0,0),
(4,'bp.starved_frac','b',0.019552356661739742765,'ratio',0,0,0),
(4,'bp.signal','b',0.77622973149786866908,'',0,0,0),
(4,'bottleneck.share','b',0.0,'ratio',0,0,0),
(4,'wait.stage.mean','b',8.1980108794500008428,'s',40,0,0),
(4,'wait.stage.p95','b',11.553045480999999839,'s',40,0,0),
(4,'thr.pipeline','',0.98700734001584677912,'1/s',40,0,0),
(4,'thr.pipeline.steady','',0.98700734001584677912,'1/s',40,0,0),
(4,'wait.mean','',8.1980108794500008428,'s',40,0,0),
(4,'lat.e2e.mean','',13.550819132975002289,'s',40,0,0),
(4,'lat.e2e.p50','',15.777979125000001659,'s',40,0,0),
(4,'lat.e2e.p95','',19.755464193000001671,'s',40,0,0),
(4,'lat.e2e.p99','',20.222020875000001893,'s',40,0,0),
(4,'lat.e2e.max','',20.222020875000001893,'s',40,0,0),
(4,'makespan','',40.526547654000005136,'s',0,0,0),
(4,'worker.created','',10.0,'count',0,0,0),
(4,'worker.deleted','',0.0,'count',0,0,0),
(4,'worker.churn','',0.0,'1/h',0,0,0),
(4,'mem.peak_bytes','',0.0,'B',0,0,0),
(4,'waste.setup_s','',0.0,'s',0,0,0),
(4,'work.lost_s','',0.0,'s',0,0,0),
(4,'retry.count','',0.0,'count',0,0,0),
(4,'retry.exhausted','',0.0,'count',0,0,0),
(4,'sched.decisions','',1.0,'count',0,0,0),
(4,'sched.refused','',0.0,'count',0,0,0),
(4,'samples.count','',1.0,'count',0,0,0),
(4,'invariant.violations','',0.0,'count',0,0,0);
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
  items_done REAL NOT NULL
) STRICT;
INSERT INTO cluster_sample VALUES
(1,0.0,40.202400606000004757,16.0,10.0,4.8968099589460623022,2.0,2.0,1.9899309194003806933,14.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,40.0,40.0),
(2,0.0,40.526547654000005136,16.0,10.0,5.2832610359265812505,2.0,2.0,1.9740146800316937802,14.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,40.0,40.0),
(3,0.0,40.202400606000004757,16.0,10.0,4.8968099589460623022,2.0,2.0,1.9899309194003806933,14.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,40.0,40.0),
(4,0.0,40.526547654000005136,16.0,10.0,5.2832610359265812505,2.0,2.0,1.9740146800316937802,14.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,40.0,40.0);
CREATE TABLE node_sample (
  run_id INTEGER NOT NULL, node INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  up REAL NOT NULL,                  -- share of the interval
  cpu_assigned REAL NOT NULL, cpu_active REAL NOT NULL,
  gpu_assigned REAL NOT NULL, gpu_active REAL NOT NULL,
  nvdec_active REAL NOT NULL, nvenc_active REAL NOT NULL
) STRICT;
INSERT INTO node_sample VALUES
(1,0,0.0,40.202400606000004757,1.0,10.0,4.8968099589460623022,2.0,1.9899309194003806933,0.0,0.0),
(2,0,0.0,40.526547654000005136,1.0,10.0,5.2832610359265812505,2.0,1.9740146800316937802,0.0,0.0),
(3,0,0.0,40.202400606000004757,1.0,10.0,4.8968099589460623022,2.0,1.9899309194003806933,0.0,0.0),
(4,0,0.0,40.526547654000005136,1.0,10.0,5.2832610359265812505,2.0,1.9740146800316937802,0.0,0.0);
CREATE TABLE stage_sample (
  run_id INTEGER NOT NULL, stage INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  queue_items REAL NOT NULL,         -- in front of the stage
  queue_bytes REAL NOT NULL,
  workers REAL NOT NULL, setup REAL NOT NULL, idle REAL NOT NULL, busy REAL NOT NULL,
  blocked REAL NOT NULL,             -- workers that hold a finished item or may not start: no room
  starved REAL NOT NULL,             -- idle workers without input
  is_backpressured REAL NOT NULL,    -- share of the interval
  is_bottleneck REAL NOT NULL,       -- share of the interval
  tasks_done REAL NOT NULL           -- in the interval
) STRICT;
INSERT INTO stage_sample VALUES
(1,0,0.0,40.202400606000004757,0.0,0.0,6.0,0.0,5.0830518798546995284,0.91694812014530080457,0.0,5.0830518798546995284,0.56682632926151788055,0.0,40.0),
(1,1,0.0,40.202400606000004757,8.5575360374786875183,0.0,4.0,0.0,0.020138161199238710508,3.9798618388007613866,0.0,0.020138161199238710508,0.0,0.0,40.0),
(2,0,0.0,40.526547654000005136,0.0,0.0,6.0,0.0,4.6647683241368067541,1.3352316758631936899,0.0,4.6647683241368067541,0.55420814491172598614,0.0,40.0),
(2,1,0.0,40.526547654000005136,8.0914969115469173033,0.0,4.0,0.0,0.051970639936612453291,3.9480293600633875605,0.0,0.051970639936612453291,0.0,0.0,40.0),
(3,0,0.0,40.202400606000004757,0.0,0.0,6.0,0.0,5.0830518798546995284,0.91694812014530080457,0.0,5.0830518798546995284,0.56682632926151788055,0.0,40.0),
(3,1,0.0,40.202400606000004757,8.5575360374786875183,0.0,4.0,0.0,0.020138161199238710508,3.9798618388007613866,0.0,0.020138161199238710508,0.0,0.0,40.0),
(4,0,0.0,40.526547654000005136,0.0,0.0,6.0,0.0,4.6647683241368067541,1.3352316758631936899,0.0,4.6647683241368067541,0.55420814491172598614,0.0,40.0),
(4,1,0.0,40.526547654000005136,8.0914969115469173033,0.0,4.0,0.0,0.051970639936612453291,3.9480293600633875605,0.0,0.051970639936612453291,0.0,0.0,40.0);
CREATE TABLE worker (
  run_id INTEGER NOT NULL, worker INTEGER NOT NULL, stage INTEGER NOT NULL, node INTEGER NOT NULL,
  devices TEXT NOT NULL,             -- "gpu3:0.25 nvdec3.1"
  gpu_mask INTEGER NOT NULL,         -- bit per GPU of the node
  gpu_amount REAL NOT NULL,          -- GPUs held
  created_s REAL NOT NULL, ready_s REAL, ended_s REAL,
  end_reason TEXT NOT NULL,          -- '' | stopped | node lost | crashed | setup failed | run ended
  tasks INTEGER NOT NULL, busy_s REAL NOT NULL
) STRICT;
INSERT INTO worker VALUES
(1,1,0,0,'',0,0.0,0.0,0.0,NULL,'',9,13.726958081000001143),
(1,3,0,0,'',0,0.0,0.0,0.0,NULL,'',13,5.6885907530000006104),
(1,5,0,0,'',0,0.0,0.0,0.0,NULL,'',8,7.1651807470000008493),
(1,7,0,0,'',0,0.0,0.0,0.0,NULL,'',6,4.072826099000000255),
(1,9,0,0,'',0,0.0,0.0,0.0,NULL,'',3,3.4940561670000001015),
(1,10,0,0,'',0,0.0,0.0,0.0,NULL,'',1,2.7159038140000002492),
(1,2,1,0,'gpu0:0.5',1,0.5,0.0,0.0,NULL,'',10,40.0),
(1,4,1,0,'gpu0:0.5',1,0.5,0.0,0.0,NULL,'',10,40.0),
(1,6,1,0,'gpu1:0.5',2,0.5,0.0,0.0,NULL,'',10,40.0),
(1,8,1,0,'gpu1:0.5',2,0.5,0.0,0.0,NULL,'',10,40.0),
(2,1,0,0,'',0,0.0,0.0,0.0,NULL,'',11,14.941254696000001445),
(2,3,0,0,'',0,0.0,0.0,0.0,NULL,'',9,10.141782123000000481),
(2,5,0,0,'',0,0.0,0.0,0.0,NULL,'',9,7.6991254880000008498),
(2,7,0,0,'',0,0.0,0.0,0.0,NULL,'',7,7.4229579390000006711),
(2,9,0,0,'',0,0.0,0.0,0.0,NULL,'',3,11.260660832000001007),
(2,10,0,0,'',0,0.0,0.0,0.0,NULL,'',1,2.6465490630000001459),
(2,2,1,0,'gpu0:0.5',1,0.5,0.0,0.0,NULL,'',10,40.0),
(2,4,1,0,'gpu0:0.5',1,0.5,0.0,0.0,NULL,'',10,40.0),
(2,6,1,0,'gpu1:0.5',2,0.5,0.0,0.0,NULL,'',10,40.0),
(2,8,1,0,'gpu1:0.5',2,0.5,0.0,0.0,NULL,'',10,40.0),
(3,1,0,0,'',0,0.0,0.0,0.0,NULL,'',9,13.726958081000001143),
(3,3,0,0,'',0,0.0,0.0,0.0,NULL,'',13,5.6885907530000006104),
(3,5,0,0,'',0,0.0,0.0,0.0,NULL,'',8,7.1651807470000008493),
(3,7,0,0,'',0,0.0,0.0,0.0,NULL,'',6,4.072826099000000255),
(3,9,0,0,'',0,0.0,0.0,0.0,NULL,'',3,3.4940561670000001015),
(3,10,0,0,'',0,0.0,0.0,0.0,NULL,'',1,2.7159038140000002492),
(3,2,1,0,'gpu0:0.5',1,0.5,0.0,0.0,NULL,'',10,40.0),
(3,4,1,0,'gpu1:0.5',2,0.5,0.0,0.0,NULL,'',10,40.0),
(3,6,1,0,'gpu0:0.5',1,0.5,0.0,0.0,NULL,'',10,40.0),
(3,8,1,0,'gpu1:0.5',2,0.5,0.0,0.0,NULL,'',10,40.0),
(4,1,0,0,'',0,0.0,0.0,0.0,NULL,'',11,14.941254696000001445),
(4,3,0,0,'',0,0.0,0.0,0.0,NULL,'',9,10.141782123000000481),
(4,5,0,0,'',0,0.0,0.0,0.0,NULL,'',9,7.6991254880000008498),
(4,7,0,0,'',0,0.0,0.0,0.0,NULL,'',7,7.4229579390000006711),
(4,9,0,0,'',0,0.0,0.0,0.0,NULL,'',3,11.260660832000001007),
(4,10,0,0,'',0,0.0,0.0,0.0,NULL,'',1,2.6465490630000001459),
(4,2,1,0,'gpu0:0.5',1,0.5,0.0,0.0,NULL,'',10,40.0),
(4,4,1,0,'gpu1:0.5',2,0.5,0.0,0.0,NULL,'',10,40.0),
(4,6,1,0,'gpu0:0.5',1,0.5,0.0,0.0,NULL,'',10,40.0),
(4,8,1,0,'gpu1:0.5',2,0.5,0.0,0.0,NULL,'',10,40.0);
CREATE TABLE decision (
  run_id INTEGER NOT NULL, decision INTEGER NOT NULL, t_s REAL NOT NULL,
  placement TEXT NOT NULL, scaling TEXT NOT NULL,
  started INTEGER NOT NULL, stopped INTEGER NOT NULL, denied INTEGER NOT NULL,
  refused INTEGER NOT NULL,          -- by the cluster
  status TEXT NOT NULL, message TEXT NOT NULL
) STRICT;
INSERT INTO decision VALUES
(1,0,0.0,'fgd','xenna',10,0,1,0,'ok',''),
(2,0,0.0,'fgd','xenna',10,0,1,0,'ok',''),
(3,0,0.0,'spread','xenna',10,0,1,0,'ok',''),
(4,0,0.0,'spread','xenna',10,0,1,0,'ok','');
CREATE TABLE decision_wall (run_id INTEGER NOT NULL, decision INTEGER NOT NULL, cpu_ms REAL NOT NULL)
  STRICT;
INSERT INTO decision_wall VALUES
(1,0,0.010000000000000000208),
(2,0,0.010000000000000000208),
(3,0,0.010000000000000000208),
(4,0,0.010000000000000000208);
CREATE TABLE decision_stage (
  run_id INTEGER NOT NULL, decision INTEGER NOT NULL, stage INTEGER NOT NULL,
  workers_before INTEGER NOT NULL, workers_after INTEGER NOT NULL, started INTEGER NOT NULL,
  stopped INTEGER NOT NULL, slots INTEGER NOT NULL, pool_optimum INTEGER NOT NULL,
  speed_per_s REAL, throughput_per_s REAL, binding TEXT NOT NULL
) STRICT;
INSERT INTO decision_stage VALUES
(1,0,0,0,6,6,0,0,4,1.0,6.0,'over-allocation target reached'),
(1,0,1,0,4,4,0,0,4,1.0,4.0,'too little free on a GPU'),
(2,0,0,0,6,6,0,0,4,1.0,6.0,'over-allocation target reached'),
(2,0,1,0,4,4,0,0,4,1.0,4.0,'too little free on a GPU'),
(3,0,0,0,6,6,0,0,4,1.0,6.0,'over-allocation target reached'),
(3,0,1,0,4,4,0,0,4,1.0,4.0,'too little free on a GPU'),
(4,0,0,0,6,6,0,0,4,1.0,6.0,'over-allocation target reached'),
(4,0,1,0,4,4,0,0,4,1.0,4.0,'too little free on a GPU');
CREATE TABLE action (
  run_id INTEGER NOT NULL, decision INTEGER NOT NULL, seq INTEGER NOT NULL, verb TEXT NOT NULL,
  phase INTEGER NOT NULL, stage INTEGER, worker INTEGER, node INTEGER, reused INTEGER NOT NULL,
  value INTEGER, outcome TEXT NOT NULL,        -- applied | refused: why
  nodes_seen INTEGER, candidates INTEGER, ties INTEGER, score REAL, score2 REAL,
  runner_up_node INTEGER, runner_up_score REAL, runner_up_score2 REAL, reasons TEXT NOT NULL
) STRICT;
INSERT INTO "action" VALUES(1,0,0,'start',2,0,1,0,0,NULL,'applied',1,1,1,0.0,-31.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(1,0,1,'start',2,1,2,0,0,NULL,'applied',1,1,1,-0.25,-29.5,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(1,0,2,'start',3,0,3,0,0,NULL,'applied',1,1,1,0.0,-28.499999999999999999,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(1,0,3,'start',3,1,4,0,0,NULL,'applied',1,2,2,-0.25,-27.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(1,0,4,'start',3,0,5,0,0,NULL,'applied',1,1,1,0.0,-26.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(1,0,5,'start',3,1,6,0,0,NULL,'applied',1,1,1,-0.25,-24.5,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(1,0,6,'start',3,0,7,0,0,NULL,'applied',1,1,1,0.0,-23.499999999999999999,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(1,0,7,'start',3,1,8,0,0,NULL,'applied',1,1,1,-0.25,-22.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(1,0,8,'start',3,0,9,0,0,NULL,'applied',1,1,1,0.0,-21.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(1,0,9,'start',4,0,10,0,0,NULL,'applied',1,1,1,0.0,-20.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(1,0,10,'deny',4,1,NULL,NULL,0,NULL,'denied: too little free on a GPU',1,0,0,0.0,0.0,NULL,NULL,NULL,'{"too little free on a GPU":1}');
INSERT INTO "action" VALUES(2,0,0,'start',2,0,1,0,0,NULL,'applied',1,1,1,0.0,-31.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(2,0,1,'start',2,1,2,0,0,NULL,'applied',1,1,1,-0.25,-29.5,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(2,0,2,'start',3,0,3,0,0,NULL,'applied',1,1,1,0.0,-28.499999999999999999,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(2,0,3,'start',3,1,4,0,0,NULL,'applied',1,2,2,-0.25,-27.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(2,0,4,'start',3,0,5,0,0,NULL,'applied',1,1,1,0.0,-26.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(2,0,5,'start',3,1,6,0,0,NULL,'applied',1,1,1,-0.25,-24.5,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(2,0,6,'start',3,0,7,0,0,NULL,'applied',1,1,1,0.0,-23.499999999999999999,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(2,0,7,'start',3,1,8,0,0,NULL,'applied',1,1,1,-0.25,-22.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(2,0,8,'start',3,0,9,0,0,NULL,'applied',1,1,1,0.0,-21.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(2,0,9,'start',4,0,10,0,0,NULL,'applied',1,1,1,0.0,-20.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(2,0,10,'deny',4,1,NULL,NULL,0,NULL,'denied: too little free on a GPU',1,0,0,0.0,0.0,NULL,NULL,NULL,'{"too little free on a GPU":1}');
INSERT INTO "action" VALUES(3,0,0,'start',2,0,1,0,0,NULL,'applied',1,1,1,0.0,-1269760000.4999999999,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(3,0,1,'start',2,1,2,0,0,NULL,'applied',1,1,1,0.0,-1208320000.25,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(3,0,2,'start',3,0,3,0,0,NULL,'applied',1,1,1,1.0,-1167360000.5,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(3,0,3,'start',3,1,4,0,0,NULL,'applied',1,2,1,1.0,-1105920000.25,0,1.0,-1105920000.0,'{}');
INSERT INTO "action" VALUES(3,0,4,'start',3,0,5,0,0,NULL,'applied',1,1,1,2.0,-1064960000.5,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(3,0,5,'start',3,1,6,0,0,NULL,'applied',1,1,1,2.0,-1003520000.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(3,0,6,'start',3,0,7,0,0,NULL,'applied',1,1,1,3.0,-962560000.49999999998,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(3,0,7,'start',3,1,8,0,0,NULL,'applied',1,1,1,3.0,-901120000.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(3,0,8,'start',3,0,9,0,0,NULL,'applied',1,1,1,4.0,-860160000.50000000001,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(3,0,9,'start',4,0,10,0,0,NULL,'applied',1,1,1,5.0,-819200000.49999999996,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(3,0,10,'deny',4,1,NULL,NULL,0,NULL,'denied: too little free on a GPU',1,0,0,0.0,0.0,NULL,NULL,NULL,'{"too little free on a GPU":1}');
INSERT INTO "action" VALUES(4,0,0,'start',2,0,1,0,0,NULL,'applied',1,1,1,0.0,-1269760000.4999999999,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(4,0,1,'start',2,1,2,0,0,NULL,'applied',1,1,1,0.0,-1208320000.25,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(4,0,2,'start',3,0,3,0,0,NULL,'applied',1,1,1,1.0,-1167360000.5,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(4,0,3,'start',3,1,4,0,0,NULL,'applied',1,2,1,1.0,-1105920000.25,0,1.0,-1105920000.0,'{}');
INSERT INTO "action" VALUES(4,0,4,'start',3,0,5,0,0,NULL,'applied',1,1,1,2.0,-1064960000.5,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(4,0,5,'start',3,1,6,0,0,NULL,'applied',1,1,1,2.0,-1003520000.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(4,0,6,'start',3,0,7,0,0,NULL,'applied',1,1,1,3.0,-962560000.49999999998,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(4,0,7,'start',3,1,8,0,0,NULL,'applied',1,1,1,3.0,-901120000.0,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(4,0,8,'start',3,0,9,0,0,NULL,'applied',1,1,1,4.0,-860160000.50000000001,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(4,0,9,'start',4,0,10,0,0,NULL,'applied',1,1,1,5.0,-819200000.49999999996,NULL,NULL,NULL,'{}');
INSERT INTO "action" VALUES(4,0,10,'deny',4,1,NULL,NULL,0,NULL,'denied: too little free on a GPU',1,0,0,0.0,0.0,NULL,NULL,NULL,'{"too little free on a GPU":1}');
CREATE TABLE happening (
  run_id INTEGER NOT NULL, t_s REAL NOT NULL, until_s REAL, kind TEXT NOT NULL,
  target TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
CREATE TABLE arrival_sample (
  run_id INTEGER NOT NULL, arrived_pct INTEGER NOT NULL,
  events INTEGER NOT NULL,           -- arrivals averaged
  failed INTEGER NOT NULL,           -- jobs refused so far
  alloc_gpu_pct REAL,                -- of the GPUs
  frag_gpu_pct REAL,                 -- of the GPUs
  frag_idle_pct REAL                 -- of the GPUs that are not allocated
) STRICT;
CREATE TABLE histogram (
  run_id INTEGER NOT NULL, metric TEXT NOT NULL, label TEXT NOT NULL, low REAL NOT NULL,
  count INTEGER NOT NULL
) STRICT;
INSERT INTO histogram VALUES
(1,'lat.e2e','',4.009754624000000156,1),
(1,'lat.e2e','',4.0768634879999998688,1),
(1,'lat.e2e','',4.1439723520000004697,1),
(1,'lat.e2e','',4.1943040000000006983,1),
(1,'lat.e2e','',7.8181826560000002857,1),
(1,'lat.e2e','',7.851737088000000142,1),
(1,'lat.e2e','',7.8852915200000008866,1),
(1,'lat.e2e','',8.1537269759999997376,1),
(1,'lat.e2e','',11.140071424000000277,1),
(1,'lat.e2e','',11.408506880000000904,1),
(1,'lat.e2e','',12.012486656000000096,2),
(1,'lat.e2e','',12.079595520000001585,1),
(1,'lat.e2e','',14.763950080000000752,1),
(1,'lat.e2e','',15.03238553600000138,1),
(1,'lat.e2e','',15.770583040000001773,2),
(1,'lat.e2e','',15.837691904000001485,3),
(1,'lat.e2e','',15.904800768000001198,3),
(1,'lat.e2e','',15.971909632000000911,11),
(1,'lat.e2e','',16.106127360000002113,2),
(1,'lat.e2e','',16.173236224000000049,3),
(1,'lat.e2e','',19.998441471999999663,1),
(2,'lat.e2e','',4.2278584320000005547,1),
(2,'lat.e2e','',4.2446356480000000388,1),
(2,'lat.e2e','',4.2781900799999998952,1),
(2,'lat.e2e','',4.4627394560000004375,1),
(2,'lat.e2e','',7.7510737920000005729,1),
(2,'lat.e2e','',7.8852915200000008866,1),
(2,'lat.e2e','',8.2543902720000001949,1),
(2,'lat.e2e','',8.4557168640000011095,1),
(2,'lat.e2e','',10.938744832000001139,2),
(2,'lat.e2e','',11.207180287999999989,1),
(2,'lat.e2e','',11.676942336000001532,1),
(2,'lat.e2e','',11.945377792000000383,1),
(2,'lat.e2e','',12.146704384000001297,1),
(2,'lat.e2e','',12.21381324800000101,2),
(2,'lat.e2e','',15.703474176000000283,2),
(2,'lat.e2e','',15.770583040000001773,3),
(2,'lat.e2e','',15.904800768000001198,2),
(2,'lat.e2e','',15.971909632000000911,7),
(2,'lat.e2e','',16.039018496000000624,2),
(2,'lat.e2e','',16.173236224000000049,2),
(2,'lat.e2e','',16.240345088000001539,2),
(2,'lat.e2e','',18.924699648000000706,1),
(2,'lat.e2e','',19.730006016000000812,1),
(2,'lat.e2e','',19.998441471999999663,1),
(2,'lat.e2e','',20.132659200000002641,1),
(3,'lat.e2e','',4.009754624000000156,1),
(3,'lat.e2e','',4.0768634879999998688,1),
(3,'lat.e2e','',4.1439723520000004697,1),
(3,'lat.e2e','',4.1943040000000006983,1),
(3,'lat.e2e','',7.8181826560000002857,1),
(3,'lat.e2e','',7.851737088000000142,1),
(3,'lat.e2e','',7.8852915200000008866,1),
(3,'lat.e2e','',8.1537269759999997376,1),
(3,'lat.e2e','',11.140071424000000277,1),
(3,'lat.e2e','',11.408506880000000904,1),
(3,'lat.e2e','',12.012486656000000096,2),
(3,'lat.e2e','',12.079595520000001585,1),
(3,'lat.e2e','',14.763950080000000752,1),
(3,'lat.e2e','',15.03238553600000138,1),
(3,'lat.e2e','',15.770583040000001773,2),
(3,'lat.e2e','',15.837691904000001485,3),
(3,'lat.e2e','',15.904800768000001198,3),
(3,'lat.e2e','',15.971909632000000911,11),
(3,'lat.e2e','',16.106127360000002113,2),
(3,'lat.e2e','',16.173236224000000049,3),
(3,'lat.e2e','',19.998441471999999663,1),
(4,'lat.e2e','',4.2278584320000005547,1),
(4,'lat.e2e','',4.2446356480000000388,1),
(4,'lat.e2e','',4.2781900799999998952,1),
(4,'lat.e2e','',4.4627394560000004375,1),
(4,'lat.e2e','',7.7510737920000005729,1),
(4,'lat.e2e','',7.8852915200000008866,1),
(4,'lat.e2e','',8.2543902720000001949,1),
(4,'lat.e2e','',8.4557168640000011095,1),
(4,'lat.e2e','',10.938744832000001139,2),
(4,'lat.e2e','',11.207180287999999989,1),
(4,'lat.e2e','',11.676942336000001532,1),
(4,'lat.e2e','',11.945377792000000383,1),
(4,'lat.e2e','',12.146704384000001297,1),
(4,'lat.e2e','',12.21381324800000101,2),
(4,'lat.e2e','',15.703474176000000283,2),
(4,'lat.e2e','',15.770583040000001773,3),
(4,'lat.e2e','',15.904800768000001198,2),
(4,'lat.e2e','',15.971909632000000911,7),
(4,'lat.e2e','',16.039018496000000624,2),
(4,'lat.e2e','',16.173236224000000049,2),
(4,'lat.e2e','',16.240345088000001539,2),
(4,'lat.e2e','',18.924699648000000706,1),
(4,'lat.e2e','',19.730006016000000812,1),
(4,'lat.e2e','',19.998441471999999663,1),
(4,'lat.e2e','',20.132659200000002641,1);
CREATE TABLE expectation (
  experiment_id INTEGER NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL, variant TEXT NOT NULL,
  value REAL, bound REAL, is_met INTEGER NOT NULL
) STRICT;
CREATE VIEW v_run AS
  SELECT r.run_id, e.scenario, r.variant, r.variant_order, r.replication, r.seed, r.placement,
         r.scaling, r.status, r.end_s, r.events, r.event_digest, r.result_digest, w.wall_s, w.cpu_s,
         w.peak_rss_mib
  FROM run r JOIN experiment e USING (experiment_id) LEFT JOIN run_wall w USING (run_id);
CREATE VIEW v_result AS
  SELECT r.run_id, r.variant, r.replication, x.metric, x.label, x.value, x.unit, x.n, x.censored,
         x.is_lower_bound
  FROM result x JOIN run r USING (run_id);
CREATE VIEW v_cluster AS
  SELECT r.variant, r.replication, r.start_unix_s + s.t_s AS time, s.*,
         100.0 * s.gpu_active / nullif(s.gpu_capacity, 0) AS gpu_active_pct,
         100.0 * s.gpu_assigned / nullif(s.gpu_capacity, 0) AS gpu_assigned_pct,
         100.0 * s.cpu_active / nullif(s.cpu_capacity, 0) AS cpu_active_pct,
         100.0 * s.cpu_assigned / nullif(s.cpu_capacity, 0) AS cpu_assigned_pct,
         s.items_done / s.dt_s AS throughput_per_s
  FROM cluster_sample s JOIN run r USING (run_id);
CREATE VIEW v_stage AS
  SELECT r.variant, r.replication, r.start_unix_s + s.t_s AS time, g.pipeline, g.name AS stage_name,
         s.*, s.tasks_done / s.dt_s AS tasks_per_s
  FROM stage_sample s JOIN run r USING (run_id)
  JOIN stage g ON g.run_id = s.run_id AND g.stage = s.stage;
CREATE VIEW v_node AS
  SELECT r.variant, r.replication, r.start_unix_s + s.t_s AS time, n.name AS node_name, n.type, s.*,
         100.0 * s.gpu_active / nullif(n.gpus, 0) AS gpu_active_pct
  FROM node_sample s JOIN run r USING (run_id) JOIN node n ON n.run_id = s.run_id AND n.node = s.node;
CREATE VIEW v_worker AS
  SELECT r.variant, r.replication, g.name AS stage_name, n.name AS node_name, w.*
  FROM worker w JOIN run r USING (run_id) JOIN stage g ON g.run_id = w.run_id AND g.stage = w.stage
  JOIN node n ON n.run_id = w.run_id AND n.node = w.node;
CREATE VIEW v_arrival AS
  SELECT r.variant, r.replication, r.placement, s.* FROM arrival_sample s JOIN run r USING (run_id);
CREATE VIEW v_decision AS
  SELECT r.variant, r.replication, d.*, w.cpu_ms
  FROM decision d JOIN run r USING (run_id)
  LEFT JOIN decision_wall w ON w.run_id = d.run_id AND w.decision = d.decision;
CREATE VIEW v_action AS
  SELECT r.variant, r.replication, d.t_s, g.name AS stage_name, n.name AS node_name, a.*
  FROM action a JOIN run r USING (run_id)
  JOIN decision d ON d.run_id = a.run_id AND d.decision = a.decision
  LEFT JOIN stage g ON g.run_id = a.run_id AND g.stage = a.stage
  LEFT JOIN node n ON n.run_id = a.run_id AND n.node = a.node;
CREATE INDEX result_by_run ON result (run_id, metric, label);
CREATE INDEX cluster_sample_by_run ON cluster_sample (run_id, t_s);
CREATE INDEX node_sample_by_run ON node_sample (run_id, node, t_s);
CREATE INDEX stage_sample_by_run ON stage_sample (run_id, stage, t_s);
CREATE INDEX worker_by_run ON worker (run_id, stage);
CREATE INDEX decision_by_run ON decision (run_id, decision);
CREATE INDEX decision_stage_by_run ON decision_stage (run_id, decision);
CREATE INDEX action_by_run ON action (run_id, decision);
CREATE INDEX histogram_by_run ON histogram (run_id, metric, label);
COMMIT;
