-- SPDX-License-Identifier: GPL-3.0-or-later
-- A result database of version 5, kept to be read by every later program: of a scenario with links,
-- memory in time and power, none of which it holds over time. The program of commit bedac6b wrote it:
-- weir compare of two placements; wall-clock values and the name of the machine are replaced. Never
-- write this file anew.
PRAGMA application_id = 0x77656972;
PRAGMA user_version = 5;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('config_knobs','1');
INSERT INTO meta VALUES('git_commit','bedac6b0936f');
INSERT INTO meta VALUES('gsl_version','2.7.1');
INSERT INTO meta VALUES('rng','philox4x32-10');
INSERT INTO meta VALUES('samples','time-weighted means of [t_s, t_s + dt_s), exact');
INSERT INTO meta VALUES('schema_version','5');
INSERT INTO meta VALUES('sources_datasheet','0');
INSERT INTO meta VALUES('sources_guess','1');
INSERT INTO meta VALUES('sources_measured','0');
INSERT INTO meta VALUES('sources_unstated','12');
INSERT INTO meta VALUES('sqlite_version','3.40.1');
INSERT INTO meta VALUES('varies','arrivals and service times');
INSERT INTO meta VALUES('weir_version','0.1.0');
CREATE TABLE experiment (
  experiment_id INTEGER PRIMARY KEY,
  scenario TEXT NOT NULL,            -- name
  description TEXT NOT NULL,
  resolved_yaml TEXT NOT NULL,       -- of the base variant
  scenario_digest TEXT NOT NULL,     -- 16 hex digits, of the base variant
  command_line TEXT NOT NULL,
  baseline TEXT NOT NULL             -- label of the variant others are compared with
) STRICT;
INSERT INTO experiment VALUES(1,'old','a file of version 5',replace('schema: 2\nname: old\ndescription: a file of version 5\nseed: 1\nreplications: 1\nhorizon: 60 s\nwarmup: 0 s\nresource_quantum:\n  step: exact\n  round: nearest\ncatalog:\n  gpu_types:\n    h100:\n      memory: 80 GB\n      nvdec: 7\n      nvenc: 0\n      idle: 95 W\n      limit: 700 W\ncluster:\n  nodes:\n    - name: n\n      count: 2\n      cpus: 8\n      ram: 32 GB\n      power_cap: 400 W\n      nic: 1000000000\n      gpus:\n        h100: 1\n  failures: none\n  memory:\n    rule: oom_killer\n    store: 0.3\n  power:\n    gpu: used\n    cpu: xeon-8163\n    cpus_per_core: 2\n    cores_per_socket: 24\n    socket_idle: 20 W\n    socket_full: 165 W\n  stores:\n    s: 1000000000\nsched:\n  placement:\n    policy: first_fit\n    device: lowest\n    tie: first\n    order_seed: 0\n    slots: low\n  scaling:\n    policy: fixed\n    interval: 3600 s\n    window: 180 s\n    min_points: 5\n    default_speed: 1\n    slots_min: 2\n    loop_period: 1 s\n    skip_finished: false\n    arithmetic: tolerant\n    on_shortage: best_effort\n  explain: counts\n  latency:\n    base: 0 s\n    per_worker: 0 s\n  view_age: 0 s\npipelines:\n  - name: p\n    execution: streaming\n    semantics: event\n    input:\n      items: 0\n      arrivals: exp(4)\n      size: const(1)\n      bytes_per_item: const(1000000000)\n      store: s\n    slots_per_worker: 2\n    backpressure: none\n    worker_choice: oldest\n    stages:\n      - name: a\n        cpus: 1\n        gpus: 1\n        nvdecs: 0\n        nvencs: 0\n        ram: 4 GB\n        gpu_memory: 0 B\n        entire_gpu: false\n        spmd: false\n        codec_same_gpu: false\n        memory_traffic:\n          bandwidth: 0\n          bound: 1\n          reserve: 0\n          cache: 0\n          penalty: 0\n          pin: false\n        workers: 2\n        batch: 1\n        service:\n          law: exp(6)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        on_failure: requeue\nmetrics:\n  keep: series\n  sample: 10 s\ncompare:\n  - label: base\n  - label: worst\n    set:\n      sched.placement: worst_fit\n','\n',char(10)),'bf4882347a402013','weir compare old5.yaml -o v5.db -n 1','base');
CREATE TABLE input_file (
  experiment_id INTEGER NOT NULL, path TEXT NOT NULL, bytes INTEGER NOT NULL, digest TEXT NOT NULL
) STRICT;
INSERT INTO input_file VALUES(1,'old5.yaml',679,'28935a5b068b1ce1');
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
INSERT INTO run VALUES(1,1,'base',0,0,1,'first_fit','fixed',replace('schema: 2\nname: old\ndescription: a file of version 5\nseed: 1\nreplications: 1\nhorizon: 60 s\nwarmup: 0 s\nresource_quantum:\n  step: exact\n  round: nearest\ncatalog:\n  gpu_types:\n    h100:\n      memory: 80 GB\n      nvdec: 7\n      nvenc: 0\n      idle: 95 W\n      limit: 700 W\ncluster:\n  nodes:\n    - name: n\n      count: 2\n      cpus: 8\n      ram: 32 GB\n      power_cap: 400 W\n      nic: 1000000000\n      gpus:\n        h100: 1\n  failures: none\n  memory:\n    rule: oom_killer\n    store: 0.3\n  power:\n    gpu: used\n    cpu: xeon-8163\n    cpus_per_core: 2\n    cores_per_socket: 24\n    socket_idle: 20 W\n    socket_full: 165 W\n  stores:\n    s: 1000000000\nsched:\n  placement:\n    policy: first_fit\n    device: lowest\n    tie: first\n    order_seed: 0\n    slots: low\n  scaling:\n    policy: fixed\n    interval: 3600 s\n    window: 180 s\n    min_points: 5\n    default_speed: 1\n    slots_min: 2\n    loop_period: 1 s\n    skip_finished: false\n    arithmetic: tolerant\n    on_shortage: best_effort\n  explain: counts\n  latency:\n    base: 0 s\n    per_worker: 0 s\n  view_age: 0 s\npipelines:\n  - name: p\n    execution: streaming\n    semantics: event\n    input:\n      items: 0\n      arrivals: exp(4)\n      size: const(1)\n      bytes_per_item: const(1000000000)\n      store: s\n    slots_per_worker: 2\n    backpressure: none\n    worker_choice: oldest\n    stages:\n      - name: a\n        cpus: 1\n        gpus: 1\n        nvdecs: 0\n        nvencs: 0\n        ram: 4 GB\n        gpu_memory: 0 B\n        entire_gpu: false\n        spmd: false\n        codec_same_gpu: false\n        memory_traffic:\n          bandwidth: 0\n          bound: 1\n          reserve: 0\n          cache: 0\n          penalty: 0\n          pin: false\n        workers: 2\n        batch: 1\n        service:\n          law: exp(6)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        on_failure: requeue\nmetrics:\n  keep: series\n  sample: 10 s\ncompare:\n  - label: base\n  - label: worst\n    set:\n      sched.placement: worst_fit\n','\n',char(10)),'bf4882347a402013',0,0.0,60.0,60.0,'horizon','',31,'ae1e2a5cce07e242','1e69dcde8eaf7349',10.0,1,4);
INSERT INTO run VALUES(2,1,'worst',1,0,1,'worst_fit','fixed',replace('schema: 2\nname: old\ndescription: a file of version 5\nseed: 1\nreplications: 1\nhorizon: 60 s\nwarmup: 0 s\nresource_quantum:\n  step: exact\n  round: nearest\ncatalog:\n  gpu_types:\n    h100:\n      memory: 80 GB\n      nvdec: 7\n      nvenc: 0\n      idle: 95 W\n      limit: 700 W\ncluster:\n  nodes:\n    - name: n\n      count: 2\n      cpus: 8\n      ram: 32 GB\n      power_cap: 400 W\n      nic: 1000000000\n      gpus:\n        h100: 1\n  failures: none\n  memory:\n    rule: oom_killer\n    store: 0.3\n  power:\n    gpu: used\n    cpu: xeon-8163\n    cpus_per_core: 2\n    cores_per_socket: 24\n    socket_idle: 20 W\n    socket_full: 165 W\n  stores:\n    s: 1000000000\nsched:\n  placement:\n    policy: worst_fit\n    measure: shares\n    cpu_scale: 128\n    gpu_scale: 8\n    steps: 100\n    device: loosest\n    tie: first\n    order_seed: 0\n  scaling:\n    policy: fixed\n    interval: 3600 s\n    window: 180 s\n    min_points: 5\n    default_speed: 1\n    slots_min: 2\n    loop_period: 1 s\n    skip_finished: false\n    arithmetic: tolerant\n    on_shortage: best_effort\n  explain: counts\n  latency:\n    base: 0 s\n    per_worker: 0 s\n  view_age: 0 s\npipelines:\n  - name: p\n    execution: streaming\n    semantics: event\n    input:\n      items: 0\n      arrivals: exp(4)\n      size: const(1)\n      bytes_per_item: const(1000000000)\n      store: s\n    slots_per_worker: 2\n    backpressure: none\n    worker_choice: oldest\n    stages:\n      - name: a\n        cpus: 1\n        gpus: 1\n        nvdecs: 0\n        nvencs: 0\n        ram: 4 GB\n        gpu_memory: 0 B\n        entire_gpu: false\n        spmd: false\n        codec_same_gpu: false\n        memory_traffic:\n          bandwidth: 0\n          bound: 1\n          reserve: 0\n          cache: 0\n          penalty: 0\n          pin: false\n        workers: 2\n        batch: 1\n        service:\n          law: exp(6)\n          scale_by_size: true\n          base: 0 s\n          per_item: 0 s\n          per_size: 0 s\n        returns: const(1)\n        process_failure: 0\n        setup_failure: 0\n        max_attempts: 4\n        on_failure: requeue\nmetrics:\n  keep: series\n  sample: 10 s\ncompare:\n  - label: base\n  - label: worst\n    set:\n      sched.placement: worst_fit\n','\n',char(10)),'179263bfb50a9b60',0,0.0,60.0,60.0,'horizon','',31,'ae1e2a5cce07e242','1e69dcde8eaf7349',10.0,1,4);
CREATE TABLE run_wall (
  run_id INTEGER PRIMARY KEY, wall_s REAL NOT NULL, cpu_s REAL NOT NULL, peak_rss_mib REAL NOT NULL,
  started_utc TEXT NOT NULL, host TEXT NOT NULL, version TEXT NOT NULL, git_commit TEXT NOT NULL
) STRICT;
INSERT INTO run_wall VALUES(1,0.5,0.5,8.0,'2026-01-01T00:00:00Z','host','0.1.0','bedac6b0936f');
INSERT INTO run_wall VALUES(2,0.5,0.5,8.0,'2026-01-01T00:00:00Z','host','0.1.0','bedac6b0936f');
CREATE TABLE node (
  run_id INTEGER NOT NULL, node INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
  cpus REAL NOT NULL, gpus INTEGER NOT NULL, gpu_type TEXT NOT NULL, nvdecs INTEGER NOT NULL,
  nvencs INTEGER NOT NULL, ram_bytes INTEGER NOT NULL, gpu_mem_bytes INTEGER NOT NULL
) STRICT;
INSERT INTO node VALUES(1,0,'n-0','n',8.0,1,'h100',7,0,32000000000,80000000000);
INSERT INTO node VALUES(1,1,'n-1','n',8.0,1,'h100',7,0,32000000000,80000000000);
INSERT INTO node VALUES(2,0,'n-0','n',8.0,1,'h100',7,0,32000000000,80000000000);
INSERT INTO node VALUES(2,1,'n-1','n',8.0,1,'h100',7,0,32000000000,80000000000);
CREATE TABLE stage (
  run_id INTEGER NOT NULL, stage INTEGER NOT NULL, pipeline TEXT NOT NULL, name TEXT NOT NULL,
  position INTEGER NOT NULL,         -- within its pipeline, from 0
  shape TEXT NOT NULL,               -- "1 CPU + 0.25 GPU"
  cpus REAL NOT NULL, gpus REAL NOT NULL, nvdecs INTEGER NOT NULL, nvencs INTEGER NOT NULL,
  batch INTEGER NOT NULL, workers_fixed INTEGER, service_mean_s REAL NOT NULL,
  bound_workers INTEGER,             -- in the integer throughput bound
  mix REAL NOT NULL                  -- share in the reference mix of frag.*
) STRICT;
INSERT INTO stage VALUES(1,0,'p','a',0,'1 CPU + 1 GPU + 3.725290298 GiB',1.0,1.0,0,0,1,2,6.0,2,1.0);
INSERT INTO stage VALUES(2,0,'p','a',0,'1 CPU + 1 GPU + 3.725290298 GiB',1.0,1.0,0,0,1,2,6.0,2,1.0);
CREATE TABLE result (
  run_id INTEGER NOT NULL, metric TEXT NOT NULL, label TEXT NOT NULL, value REAL,
  unit TEXT NOT NULL, n INTEGER NOT NULL, censored INTEGER NOT NULL, is_lower_bound INTEGER NOT NULL
) STRICT;
INSERT INTO result VALUES(1,'util.cpu.active','',0.11330998676666666213,'ratio',0,0,0);
INSERT INTO result VALUES(1,'util.cpu.assigned','',0.125,'ratio',0,0,0);
INSERT INTO result VALUES(1,'util.gpu.active','',0.90647989413333329711,'ratio',0,0,0);
INSERT INTO result VALUES(1,'util.gpu.assigned','',1.0,'ratio',0,0,0);
INSERT INTO result VALUES(1,'util.nvdec.active','',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(1,'util.nvdec.assigned','',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(1,'util.mem.active','',0.11330998676666666213,'ratio',0,0,0);
INSERT INTO result VALUES(1,'util.mem.assigned','',0.125,'ratio',0,0,0);
INSERT INTO result VALUES(1,'util.gpumem.active','',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(1,'util.gpumem.assigned','',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(1,'util.gpu.seed','',0.90647989413333329711,'ratio',0,0,0);
INSERT INTO result VALUES(1,'waste.alloc_unused','',0.093520105866666661253,'ratio',0,0,0);
INSERT INTO result VALUES(1,'frag.gpu.fgd','',0.0,'GPUs',0,0,0);
INSERT INTO result VALUES(1,'frag.gpu_pct','',0.0,'%',0,0,0);
INSERT INTO result VALUES(1,'frag.codec','',0.0,'engines',0,0,0);
INSERT INTO result VALUES(1,'frag.whole_free','',1.0,'ratio',0,0,0);
INSERT INTO result VALUES(1,'frag.crumbs','',0.0,'GPUs',0,0,0);
INSERT INTO result VALUES(1,'stranded.gpus','',0.0,'GPUs',0,0,0);
INSERT INTO result VALUES(1,'power.mean_kw','',1.0729527354213332923,'kW',0,0,0);
INSERT INTO result VALUES(1,'energy.kwh','',0.017882545590355555797,'kWh',0,0,0);
INSERT INTO result VALUES(1,'energy.gpu_kwh','',0.012382545590355554382,'kWh',0,0,0);
INSERT INTO result VALUES(1,'thr.stage','a',0.066666666666666665741,'1/s',0,0,0);
INSERT INTO result VALUES(1,'queue.len.mean','a',4.6232572969666669848,'items',0,0,0);
INSERT INTO result VALUES(1,'queue.len.max','a',8.0,'items',0,0,0);
INSERT INTO result VALUES(1,'queue.bytes.max','a',8000000000.0,'B',0,0,0);
INSERT INTO result VALUES(1,'bp.blocked_frac','a',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(1,'bp.starved_frac','a',0.066843299316666660025,'ratio',0,0,0);
INSERT INTO result VALUES(1,'bp.signal','a',0.84730503483333330372,'',0,0,0);
INSERT INTO result VALUES(1,'bottleneck.share','a',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(1,'wait.stage.mean','a',17.730910684833332879,'s',6,0,0);
INSERT INTO result VALUES(1,'wait.stage.p95','a',31.276735743999999784,'s',6,0,0);
INSERT INTO result VALUES(1,'thr.pipeline','',0.066666666666666665741,'1/s',4,0,0);
INSERT INTO result VALUES(1,'thr.pipeline.steady','',0.066666666666666665741,'1/s',4,0,0);
INSERT INTO result VALUES(1,'wait.mean','',12.171936516500000635,'s',4,0,0);
INSERT INTO result VALUES(1,'lat.e2e.mean','',31.97637846574999898,'s',4,0,0);
INSERT INTO result VALUES(1,'lat.e2e.p50','',30.908151778000000574,'s',4,8,1);
INSERT INTO result VALUES(1,'lat.e2e.p95','',52.16082017899999812,'s',4,8,1);
INSERT INTO result VALUES(1,'lat.e2e.p99','',52.16082017899999812,'s',4,8,1);
INSERT INTO result VALUES(1,'lat.e2e.max','',52.16082017899999812,'s',4,8,1);
INSERT INTO result VALUES(1,'worker.created','',2.0,'count',0,0,0);
INSERT INTO result VALUES(1,'worker.deleted','',0.0,'count',0,0,0);
INSERT INTO result VALUES(1,'worker.churn','',0.0,'1/h',0,0,0);
INSERT INTO result VALUES(1,'net.bytes','',0.0,'B',0,0,0);
INSERT INTO result VALUES(1,'store.read_bytes','',6000000000.0,'B',0,0,0);
INSERT INTO result VALUES(1,'store.write_bytes','',0.0,'B',0,0,0);
INSERT INTO result VALUES(1,'net.wait_s','',6.0,'s',0,0,0);
INSERT INTO result VALUES(1,'mem.peak_bytes','',8000000000.0,'B',0,0,0);
INSERT INTO result VALUES(1,'materialised.bytes','',0.0,'B',0,0,0);
INSERT INTO result VALUES(1,'store.spill_bytes','',0.0,'B',0,0,0);
INSERT INTO result VALUES(1,'oom.host.count','',0.0,'count',0,0,0);
INSERT INTO result VALUES(1,'waste.setup_s','',0.0,'s',0,0,0);
INSERT INTO result VALUES(1,'work.lost_s','',0.0,'s',0,0,0);
INSERT INTO result VALUES(1,'retry.count','',0.0,'count',0,0,0);
INSERT INTO result VALUES(1,'retry.exhausted','',0.0,'count',0,0,0);
INSERT INTO result VALUES(1,'sched.decisions','',1.0,'count',0,0,0);
INSERT INTO result VALUES(1,'sched.refused','',0.0,'count',0,0,0);
INSERT INTO result VALUES(1,'samples.count','',6.0,'count',0,0,0);
INSERT INTO result VALUES(1,'invariant.violations','',0.0,'count',0,0,0);
INSERT INTO result VALUES(1,'store.use','s',0.10000000000000000555,'ratio',0,0,0);
INSERT INTO result VALUES(1,'nic.use.mean','',0.025000000000000001387,'ratio',0,0,0);
INSERT INTO result VALUES(1,'nic.use.max','',0.066666666666666665741,'ratio',0,0,0);
INSERT INTO result VALUES(1,'run.ended_early','',0.0,'ratio',1,0,0);
INSERT INTO result VALUES(2,'util.cpu.active','',0.11330998676666666213,'ratio',0,0,0);
INSERT INTO result VALUES(2,'util.cpu.assigned','',0.125,'ratio',0,0,0);
INSERT INTO result VALUES(2,'util.gpu.active','',0.90647989413333329711,'ratio',0,0,0);
INSERT INTO result VALUES(2,'util.gpu.assigned','',1.0,'ratio',0,0,0);
INSERT INTO result VALUES(2,'util.nvdec.active','',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(2,'util.nvdec.assigned','',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(2,'util.mem.active','',0.11330998676666666213,'ratio',0,0,0);
INSERT INTO result VALUES(2,'util.mem.assigned','',0.125,'ratio',0,0,0);
INSERT INTO result VALUES(2,'util.gpumem.active','',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(2,'util.gpumem.assigned','',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(2,'util.gpu.seed','',0.90647989413333329711,'ratio',0,0,0);
INSERT INTO result VALUES(2,'waste.alloc_unused','',0.093520105866666661253,'ratio',0,0,0);
INSERT INTO result VALUES(2,'frag.gpu.fgd','',0.0,'GPUs',0,0,0);
INSERT INTO result VALUES(2,'frag.gpu_pct','',0.0,'%',0,0,0);
INSERT INTO result VALUES(2,'frag.codec','',0.0,'engines',0,0,0);
INSERT INTO result VALUES(2,'frag.whole_free','',1.0,'ratio',0,0,0);
INSERT INTO result VALUES(2,'frag.crumbs','',0.0,'GPUs',0,0,0);
INSERT INTO result VALUES(2,'stranded.gpus','',0.0,'GPUs',0,0,0);
INSERT INTO result VALUES(2,'power.mean_kw','',1.0729527354213332923,'kW',0,0,0);
INSERT INTO result VALUES(2,'energy.kwh','',0.017882545590355555797,'kWh',0,0,0);
INSERT INTO result VALUES(2,'energy.gpu_kwh','',0.012382545590355554382,'kWh',0,0,0);
INSERT INTO result VALUES(2,'thr.stage','a',0.066666666666666665741,'1/s',0,0,0);
INSERT INTO result VALUES(2,'queue.len.mean','a',4.6232572969666669848,'items',0,0,0);
INSERT INTO result VALUES(2,'queue.len.max','a',8.0,'items',0,0,0);
INSERT INTO result VALUES(2,'queue.bytes.max','a',8000000000.0,'B',0,0,0);
INSERT INTO result VALUES(2,'bp.blocked_frac','a',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(2,'bp.starved_frac','a',0.066843299316666660025,'ratio',0,0,0);
INSERT INTO result VALUES(2,'bp.signal','a',0.84730503483333330372,'',0,0,0);
INSERT INTO result VALUES(2,'bottleneck.share','a',0.0,'ratio',0,0,0);
INSERT INTO result VALUES(2,'wait.stage.mean','a',17.730910684833332879,'s',6,0,0);
INSERT INTO result VALUES(2,'wait.stage.p95','a',31.276735743999999784,'s',6,0,0);
INSERT INTO result VALUES(2,'thr.pipeline','',0.066666666666666665741,'1/s',4,0,0);
INSERT INTO result VALUES(2,'thr.pipeline.steady','',0.066666666666666665741,'1/s',4,0,0);
INSERT INTO result VALUES(2,'wait.mean','',12.171936516500000635,'s',4,0,0);
INSERT INTO result VALUES(2,'lat.e2e.mean','',31.97637846574999898,'s',4,0,0);
INSERT INTO result VALUES(2,'lat.e2e.p50','',30.908151778000000574,'s',4,8,1);
INSERT INTO result VALUES(2,'lat.e2e.p95','',52.16082017899999812,'s',4,8,1);
INSERT INTO result VALUES(2,'lat.e2e.p99','',52.16082017899999812,'s',4,8,1);
INSERT INTO result VALUES(2,'lat.e2e.max','',52.16082017899999812,'s',4,8,1);
INSERT INTO result VALUES(2,'worker.created','',2.0,'count',0,0,0);
INSERT INTO result VALUES(2,'worker.deleted','',0.0,'count',0,0,0);
INSERT INTO result VALUES(2,'worker.churn','',0.0,'1/h',0,0,0);
INSERT INTO result VALUES(2,'net.bytes','',0.0,'B',0,0,0);
INSERT INTO result VALUES(2,'store.read_bytes','',6000000000.0,'B',0,0,0);
INSERT INTO result VALUES(2,'store.write_bytes','',0.0,'B',0,0,0);
INSERT INTO result VALUES(2,'net.wait_s','',6.0,'s',0,0,0);
INSERT INTO result VALUES(2,'mem.peak_bytes','',8000000000.0,'B',0,0,0);
INSERT INTO result VALUES(2,'materialised.bytes','',0.0,'B',0,0,0);
INSERT INTO result VALUES(2,'store.spill_bytes','',0.0,'B',0,0,0);
INSERT INTO result VALUES(2,'oom.host.count','',0.0,'count',0,0,0);
INSERT INTO result VALUES(2,'waste.setup_s','',0.0,'s',0,0,0);
INSERT INTO result VALUES(2,'work.lost_s','',0.0,'s',0,0,0);
INSERT INTO result VALUES(2,'retry.count','',0.0,'count',0,0,0);
INSERT INTO result VALUES(2,'retry.exhausted','',0.0,'count',0,0,0);
INSERT INTO result VALUES(2,'sched.decisions','',1.0,'count',0,0,0);
INSERT INTO result VALUES(2,'sched.refused','',0.0,'count',0,0,0);
INSERT INTO result VALUES(2,'samples.count','',6.0,'count',0,0,0);
INSERT INTO result VALUES(2,'invariant.violations','',0.0,'count',0,0,0);
INSERT INTO result VALUES(2,'store.use','s',0.10000000000000000555,'ratio',0,0,0);
INSERT INTO result VALUES(2,'nic.use.mean','',0.025000000000000001387,'ratio',0,0,0);
INSERT INTO result VALUES(2,'nic.use.max','',0.066666666666666665741,'ratio',0,0,0);
INSERT INTO result VALUES(2,'run.ended_early','',0.0,'ratio',1,0,0);
CREATE TABLE result_wall (
  run_id INTEGER NOT NULL, metric TEXT NOT NULL, label TEXT NOT NULL, value REAL, unit TEXT NOT NULL
) STRICT;
INSERT INTO result_wall VALUES(1,'sched.cpu_ms.mean','',0.10000000000000000555,'ms');
INSERT INTO result_wall VALUES(1,'sched.cpu_ms.p99','',0.10000000000000000555,'ms');
INSERT INTO result_wall VALUES(1,'sched.wall_max','',0.10000000000000000555,'ms');
INSERT INTO result_wall VALUES(2,'sched.cpu_ms.mean','',0.10000000000000000555,'ms');
INSERT INTO result_wall VALUES(2,'sched.cpu_ms.p99','',0.10000000000000000555,'ms');
INSERT INTO result_wall VALUES(2,'sched.wall_max','',0.10000000000000000555,'ms');
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
INSERT INTO cluster_sample VALUES(1,0.0,10.0,16.0,2.0,1.2777587295999999206,2.0,2.0,1.2777587295999999206,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,4.0,0.0);
INSERT INTO cluster_sample VALUES(1,10.0,10.0,16.0,2.0,2.0,2.0,2.0,2.0,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,2.0,0.0);
INSERT INTO cluster_sample VALUES(1,20.0,10.0,16.0,2.0,2.0,2.0,2.0,2.0,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,4.0,0.0);
INSERT INTO cluster_sample VALUES(1,30.0,10.0,16.0,2.0,1.7000000000000001776,2.0,2.0,1.7000000000000001776,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,3.0);
INSERT INTO cluster_sample VALUES(1,40.0,10.0,16.0,2.0,2.0,2.0,2.0,2.0,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,0.0);
INSERT INTO cluster_sample VALUES(1,50.0,10.0,16.0,2.0,1.8999999999999999111,2.0,2.0,1.8999999999999999111,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0);
INSERT INTO cluster_sample VALUES(2,0.0,10.0,16.0,2.0,1.2777587295999999206,2.0,2.0,1.2777587295999999206,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,4.0,0.0);
INSERT INTO cluster_sample VALUES(2,10.0,10.0,16.0,2.0,2.0,2.0,2.0,2.0,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,2.0,0.0);
INSERT INTO cluster_sample VALUES(2,20.0,10.0,16.0,2.0,2.0,2.0,2.0,2.0,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,4.0,0.0);
INSERT INTO cluster_sample VALUES(2,30.0,10.0,16.0,2.0,1.7000000000000001776,2.0,2.0,1.7000000000000001776,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,3.0);
INSERT INTO cluster_sample VALUES(2,40.0,10.0,16.0,2.0,2.0,2.0,2.0,2.0,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,0.0);
INSERT INTO cluster_sample VALUES(2,50.0,10.0,16.0,2.0,1.8999999999999999111,2.0,2.0,1.8999999999999999111,14.0,0.0,0.0,0.0,0.0,0.0,64000000000.0,8000000000.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0);
CREATE TABLE node_sample (
  run_id INTEGER NOT NULL, node INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  up REAL NOT NULL,                  -- share of the interval
  cpu_assigned REAL NOT NULL, cpu_active REAL NOT NULL,
  gpu_assigned REAL NOT NULL, gpu_active REAL NOT NULL,
  nvdec_active REAL NOT NULL, nvenc_active REAL NOT NULL,
  power_w REAL NOT NULL
) STRICT;
INSERT INTO node_sample VALUES(1,0,0.0,10.0,1.0,1.0,0.77881852549999996959,1.0,0.77881852549999996959,0.0,0.0,497.53965027750001581);
INSERT INTO node_sample VALUES(1,1,0.0,10.0,1.0,1.0,0.49894020410000000653,1.0,0.49894020410000000653,0.0,0.0,412.17676225050001903);
INSERT INTO node_sample VALUES(1,0,10.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(1,1,10.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(1,0,20.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(1,1,20.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(1,0,30.0,10.0,1.0,1.0,0.8000000000000000444,1.0,0.8000000000000000444,0.0,0.0,504.0);
INSERT INTO node_sample VALUES(1,1,30.0,10.0,1.0,1.0,0.9000000000000000222,1.0,0.9000000000000000222,0.0,0.0,534.49999999999999998);
INSERT INTO node_sample VALUES(1,0,40.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(1,1,40.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(1,0,50.0,10.0,1.0,1.0,0.9000000000000000222,1.0,0.9000000000000000222,0.0,0.0,534.49999999999999998);
INSERT INTO node_sample VALUES(1,1,50.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(2,0,0.0,10.0,1.0,1.0,0.77881852549999996959,1.0,0.77881852549999996959,0.0,0.0,497.53965027750001581);
INSERT INTO node_sample VALUES(2,1,0.0,10.0,1.0,1.0,0.49894020410000000653,1.0,0.49894020410000000653,0.0,0.0,412.17676225050001903);
INSERT INTO node_sample VALUES(2,0,10.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(2,1,10.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(2,0,20.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(2,1,20.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(2,0,30.0,10.0,1.0,1.0,0.8000000000000000444,1.0,0.8000000000000000444,0.0,0.0,504.0);
INSERT INTO node_sample VALUES(2,1,30.0,10.0,1.0,1.0,0.9000000000000000222,1.0,0.9000000000000000222,0.0,0.0,534.49999999999999998);
INSERT INTO node_sample VALUES(2,0,40.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(2,1,40.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
INSERT INTO node_sample VALUES(2,0,50.0,10.0,1.0,1.0,0.9000000000000000222,1.0,0.9000000000000000222,0.0,0.0,534.49999999999999998);
INSERT INTO node_sample VALUES(2,1,50.0,10.0,1.0,1.0,1.0,1.0,1.0,0.0,0.0,565.0);
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
INSERT INTO stage_sample VALUES(1,0,0.0,10.0,0.75799712239999994523,757997122.39999997615,2.0,0.0,0.52224127040000001276,1.4777587296000000982,0.0,0.52224127040000001276,0.0,0.0,0.0);
INSERT INTO stage_sample VALUES(1,0,10.0,10.0,2.8420688835000000871,2842068883.4999995231,2.0,0.0,0.0,2.0,0.0,0.0,0.0,0.0,0.0);
INSERT INTO stage_sample VALUES(1,0,20.0,10.0,5.0110239346999998488,5011023934.6999998094,2.0,0.0,0.0,2.0,0.0,0.0,0.0,0.0,0.0);
INSERT INTO stage_sample VALUES(1,0,30.0,10.0,6.8267462167000001471,6826746216.6999988556,2.0,0.0,0.0,2.0,0.0,0.0,0.0,0.0,3.0);
INSERT INTO stage_sample VALUES(1,0,40.0,10.0,6.2837057863999996598,6283705786.4000015259,2.0,0.0,0.0,2.0,0.0,0.0,0.0,0.0,0.0);
INSERT INTO stage_sample VALUES(1,0,50.0,10.0,6.0180018381000000005,6018001838.1000013349,2.0,0.0,0.0,2.0,0.0,0.0,0.0,0.0,1.0);
INSERT INTO stage_sample VALUES(2,0,0.0,10.0,0.75799712239999994523,757997122.39999997615,2.0,0.0,0.52224127040000001276,1.4777587296000000982,0.0,0.52224127040000001276,0.0,0.0,0.0);
INSERT INTO stage_sample VALUES(2,0,10.0,10.0,2.8420688835000000871,2842068883.4999995231,2.0,0.0,0.0,2.0,0.0,0.0,0.0,0.0,0.0);
INSERT INTO stage_sample VALUES(2,0,20.0,10.0,5.0110239346999998488,5011023934.6999998094,2.0,0.0,0.0,2.0,0.0,0.0,0.0,0.0,0.0);
INSERT INTO stage_sample VALUES(2,0,30.0,10.0,6.8267462167000001471,6826746216.6999988556,2.0,0.0,0.0,2.0,0.0,0.0,0.0,0.0,3.0);
INSERT INTO stage_sample VALUES(2,0,40.0,10.0,6.2837057863999996598,6283705786.4000015259,2.0,0.0,0.0,2.0,0.0,0.0,0.0,0.0,0.0);
INSERT INTO stage_sample VALUES(2,0,50.0,10.0,6.0180018381000000005,6018001838.1000013349,2.0,0.0,0.0,2.0,0.0,0.0,0.0,0.0,1.0);
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
CREATE TABLE decision (
  run_id INTEGER NOT NULL, decision INTEGER NOT NULL, t_s REAL NOT NULL,
  placement TEXT NOT NULL, scaling TEXT NOT NULL,
  started INTEGER NOT NULL, stopped INTEGER NOT NULL, denied INTEGER NOT NULL,
  refused INTEGER NOT NULL,          -- by the cluster
  status TEXT NOT NULL, message TEXT NOT NULL
) STRICT;
CREATE TABLE decision_wall (run_id INTEGER NOT NULL, decision INTEGER NOT NULL, cpu_ms REAL NOT NULL)
  STRICT;
CREATE TABLE decision_stage (
  run_id INTEGER NOT NULL, decision INTEGER NOT NULL, stage INTEGER NOT NULL,
  workers_before INTEGER NOT NULL, workers_after INTEGER NOT NULL, started INTEGER NOT NULL,
  stopped INTEGER NOT NULL, slots INTEGER NOT NULL, pool_optimum INTEGER NOT NULL,
  speed_per_s REAL, throughput_per_s REAL, binding TEXT NOT NULL
) STRICT;
CREATE TABLE action (
  run_id INTEGER NOT NULL, decision INTEGER NOT NULL, seq INTEGER NOT NULL, verb TEXT NOT NULL,
  phase INTEGER NOT NULL, stage INTEGER, worker INTEGER,
  node INTEGER,                      -- of a denial: the one that comes nearest to having room
  reused INTEGER NOT NULL,
  value INTEGER, outcome TEXT NOT NULL,        -- applied | refused: why
  nodes_seen INTEGER, candidates INTEGER, ties INTEGER, score REAL, score2 REAL,
  runner_up_node INTEGER, runner_up_score REAL, runner_up_score2 REAL, reasons TEXT NOT NULL,
  workload INTEGER, job INTEGER,     -- what it is about; NULL = a stage, or nothing of both
  holders TEXT                       -- of a denial: {"gpu":3,"workers":[12,40]} on the node; NULL = none
) STRICT;
CREATE TABLE candidate (
  run_id INTEGER NOT NULL, decision INTEGER NOT NULL, seq INTEGER NOT NULL,
  node INTEGER NOT NULL,
  gpu_mask INTEGER,                  -- GPUs of the node; NULL = none, or not kept
  is_chosen INTEGER NOT NULL, score REAL NOT NULL, score2 REAL NOT NULL
) STRICT;
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
CREATE TABLE arrival_part (
  run_id INTEGER NOT NULL, arrived_pct INTEGER NOT NULL, metric TEXT NOT NULL, value REAL
) STRICT;
CREATE TABLE placement_change (
  run_id INTEGER NOT NULL, label TEXT NOT NULL, -- '' = at the end, else '100 % arrived'
  rank INTEGER NOT NULL,             -- 0 = frees most
  change TEXT NOT NULL,              -- "+8 CPUs on 134 p100 nodes"
  nodes INTEGER NOT NULL, gpus_freed REAL NOT NULL
) STRICT;
CREATE TABLE defrag_move (
  run_id INTEGER NOT NULL, seq INTEGER NOT NULL, arrival INTEGER NOT NULL,
  from_node INTEGER NOT NULL,
  to_node INTEGER,                   -- NULL = it fitted nowhere and stays out
  gpus REAL NOT NULL, cpus REAL NOT NULL,
  frag_before_gpu REAL NOT NULL, frag_after_gpu REAL NOT NULL -- F of the cluster
) STRICT;
CREATE TABLE workload (run_id INTEGER NOT NULL, workload INTEGER NOT NULL, name TEXT NOT NULL) STRICT;
CREATE TABLE job_label (run_id INTEGER NOT NULL, label INTEGER NOT NULL, name TEXT NOT NULL) STRICT;
CREATE TABLE job (
  run_id INTEGER NOT NULL, job INTEGER NOT NULL, label INTEGER NOT NULL,
  submit_s REAL NOT NULL, start_s REAL, end_s REAL,  -- start of the last attempt
  node INTEGER,                      -- of its first member
  members INTEGER NOT NULL, attempts INTEGER NOT NULL,
  outcome TEXT NOT NULL,             -- done | refused | left | waiting | running
  workload INTEGER NOT NULL,         -- jobs are numbered within it
  name TEXT NOT NULL,                -- as the trace says, else class and number: gang-3
  tenant TEXT NOT NULL, user TEXT NOT NULL,          -- '' = not said
  model TEXT NOT NULL,               -- GPU models it accepts, as the scenario or the trace says
  request TEXT NOT NULL,             -- of one member: "4 CPU + 2 GPU"
  gpus REAL NOT NULL,                -- asked for by all members
  gpu_types TEXT NOT NULL,           -- types of the cluster it accepts, "a|b"; '' = any
  cpus REAL NOT NULL,                -- asked for by all members
  first_start_s REAL,                -- of the first attempt
  kind INTEGER                       -- jobs of a kind ask for the same; NULL = it never waited
) STRICT;
CREATE TABLE job_sample (
  run_id INTEGER NOT NULL, label INTEGER NOT NULL, t_s REAL NOT NULL, dt_s REAL NOT NULL,
  waiting REAL NOT NULL, running REAL NOT NULL,
  gpus REAL NOT NULL,                -- held
  arrived REAL NOT NULL, started REAL NOT NULL, done REAL NOT NULL, refused REAL NOT NULL,
  gave_up REAL NOT NULL              -- in the interval, as the four before
) STRICT;
CREATE TABLE histogram (
  run_id INTEGER NOT NULL, metric TEXT NOT NULL, label TEXT NOT NULL, low REAL NOT NULL,
  count INTEGER NOT NULL
) STRICT;
INSERT INTO histogram VALUES(1,'lat.e2e','',29.125246975999999677,1);
INSERT INTO histogram VALUES(1,'lat.e2e','',30.198988799999998632,1);
INSERT INTO histogram VALUES(1,'lat.e2e','',30.870077439999999314,1);
INSERT INTO histogram VALUES(1,'lat.e2e','',37.312528383999996606,1);
INSERT INTO histogram VALUES(2,'lat.e2e','',29.125246975999999677,1);
INSERT INTO histogram VALUES(2,'lat.e2e','',30.198988799999998632,1);
INSERT INTO histogram VALUES(2,'lat.e2e','',30.870077439999999314,1);
INSERT INTO histogram VALUES(2,'lat.e2e','',37.312528383999996606,1);
CREATE TABLE expectation (
  experiment_id INTEGER NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL, variant TEXT NOT NULL,
  value REAL, bound REAL, is_met INTEGER NOT NULL
) STRICT;
CREATE INDEX result_by_run ON result (run_id, metric, label);
CREATE INDEX result_wall_by_run ON result_wall (run_id, metric, label);
CREATE INDEX cluster_sample_by_run ON cluster_sample (run_id, t_s);
CREATE INDEX node_sample_by_run ON node_sample (run_id, node, t_s);
CREATE INDEX stage_sample_by_run ON stage_sample (run_id, stage, t_s);
CREATE INDEX worker_by_run ON worker (run_id, stage);
CREATE INDEX decision_by_run ON decision (run_id, decision);
CREATE INDEX decision_stage_by_run ON decision_stage (run_id, decision);
CREATE INDEX candidate_by_run ON candidate (run_id, decision, seq);
CREATE INDEX action_by_run ON action (run_id, decision);
CREATE INDEX histogram_by_run ON histogram (run_id, metric, label);
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
  FROM worker w JOIN run r USING (run_id)
  LEFT JOIN stage g ON g.run_id = w.run_id AND g.stage = w.stage
  JOIN node n ON n.run_id = w.run_id AND n.node = w.node;
CREATE VIEW v_job AS
  SELECT r.variant, r.replication, r.placement, g.name AS label_name, n.name AS node_name,
         j.first_start_s - j.submit_s AS wait_s, j.end_s - j.submit_s AS time_s, j.*,
         w.name AS workload_name
  FROM job j JOIN run r USING (run_id)
  JOIN job_label g ON g.run_id = j.run_id AND g.label = j.label
  LEFT JOIN node n ON n.run_id = j.run_id AND n.node = j.node
  LEFT JOIN workload w ON w.run_id = j.run_id AND w.workload = j.workload;
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
CREATE VIEW v_denial AS
  SELECT r.variant, r.replication, a.run_id, d.t_s, a.decision, a.seq, a.stage, g.name AS stage_name,
         a.workload, a.job, j.name AS job_name, substr(a.outcome, 9) AS reason,
         CASE substr(a.outcome, 9)
           WHEN 'too few CPUs' THEN 'CPU' WHEN 'too little memory' THEN 'memory'
           WHEN 'too little GPU memory' THEN 'GPU memory' WHEN 'no free NVDEC' THEN 'NVDEC'
           WHEN 'no free NVENC' THEN 'NVENC' WHEN 'no free MIG instance' THEN 'MIG instance'
           WHEN 'node is down or cordoned' THEN 'node' WHEN 'no GPU' THEN 'GPU'
           WHEN 'no GPU of the type' THEN 'GPU' WHEN 'too little free on a GPU' THEN 'GPU'
           WHEN 'too few free GPUs' THEN 'GPU' ELSE '' END AS device,
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
CREATE VIEW v_job_sample AS
  SELECT r.variant, r.replication, r.start_unix_s + s.t_s AS time, g.name AS label_name, s.*
  FROM job_sample s JOIN run r USING (run_id)
  JOIN job_label g ON g.run_id = s.run_id AND g.label = s.label;
CREATE VIEW v_arrival AS
  SELECT r.variant, r.replication, r.placement, s.* FROM arrival_sample s JOIN run r USING (run_id);
CREATE VIEW v_arrival_part AS
  SELECT r.variant, r.replication, r.placement, s.* FROM arrival_part s JOIN run r USING (run_id);
CREATE VIEW v_defrag_move AS
  SELECT r.variant, r.replication, f.name AS from_name, t.name AS to_name, m.*
  FROM defrag_move m JOIN run r USING (run_id)
  JOIN node f ON f.run_id = m.run_id AND f.node = m.from_node
  LEFT JOIN node t ON t.run_id = m.run_id AND t.node = m.to_node;
CREATE VIEW v_decision AS
  SELECT r.variant, r.replication, d.*, w.cpu_ms
  FROM decision d JOIN run r USING (run_id)
  LEFT JOIN decision_wall w ON w.run_id = d.run_id AND w.decision = d.decision;
CREATE VIEW v_action AS
  SELECT r.variant, r.replication, d.t_s, g.name AS stage_name, n.name AS node_name, a.*,
         CASE WHEN a.job IS NOT NULL THEN 'queueing' WHEN a.stage IS NOT NULL THEN 'scaling'
              WHEN a.verb IN ('cut', 'request_node', 'release_node') THEN 'capacity'
              ELSE '' END AS level,
         CASE WHEN a.nodes_seen IS NOT NULL THEN d.placement END AS placement
  FROM action a JOIN run r USING (run_id)
  JOIN decision d ON d.run_id = a.run_id AND d.decision = a.decision
  LEFT JOIN stage g ON g.run_id = a.run_id AND g.stage = a.stage
  LEFT JOIN node n ON n.run_id = a.run_id AND n.node = a.node;
COMMIT;
