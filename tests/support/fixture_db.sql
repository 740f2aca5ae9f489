-- SPDX-License-Identifier: GPL-3.0-or-later
-- A small invented result database for the tests of analysis/: load it after sim/record/schema.sql.
-- Three variants x ten replications, two nodes with eight GPUs each, four stages; samples, workers
-- and decisions exist for replication 0 only. One fault: dgx-1 is down from 1h20m to 1h40m.
-- Results of replication 0 are computed from its samples, so that tables and charts must agree;
-- the other replications differ by a known amount: value * (1 + 0.002 * shift(replication)).
PRAGMA foreign_keys = OFF;
INSERT INTO meta VALUES ('weir_version', '0.1.0'), ('sources_measured', '3'),
  ('sources_datasheet', '5'), ('sources_guess', '2');
INSERT INTO experiment VALUES (1, 'video4', 'Four stages on two nodes', 'name: video4
seed: 42
', '00000000deadbeef', 'weir run video4.yaml -n 10 -o video4.db', 'equal_split');
INSERT INTO input_file VALUES (1, 'video4.yaml', 1234, '00000000deadbeef');

CREATE TEMP TABLE variant (v INTEGER, label TEXT, placement TEXT, scaling TEXT, w0 INT, w1 INT,
  w2 INT, w3 INT, rate REAL);
INSERT INTO variant VALUES
  (0, 'equal_split', 'best_fit', 'equal_split', 4, 4, 4, 4, 0.08),
  (1, 'best_fit', 'best_fit', 'xenna', 4, 10, 12, 8, 0.72),
  (2, 'xenna', 'fgd', 'xenna', 4, 10, 13, 10, 0.78);
CREATE TEMP TABLE number AS
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 119) SELECT i FROM n;

INSERT INTO meta VALUES ('work', 'backlog');
INSERT INTO run SELECT v * 10 + i + 1, 1, label, v, i, 42, placement, scaling, 'name: video4
seed: 42
', printf('%016x', v + 4096), 0, 600.0, 7200.0, 7200.0, 'horizon', '', 100000 + v * 1000 + i,
  printf('%016x', v * 100 + i), printf('%016x', v * 100 + i + 7), 60.0, 1, 3600
  FROM variant, number WHERE i < 10;
INSERT INTO run_wall SELECT run_id, 1.5, 1.4, 30.0, '2026-01-01T00:00:00Z', 'host', '0.1.0',
  '0123456789ab' FROM run;
INSERT INTO node SELECT run_id, i, 'dgx-' || i, 'dgx-h100', 96.0, 8, 'h100', 56, 24,
  2199023255552, 85899345920, NULL FROM run, number WHERE i < 2;
INSERT INTO stage
  SELECT run_id, g.i, 'video', g.name, g.i, g.shape, g.cpus, g.gpus, g.dec, g.enc, 1, NULL,
         g.service, CASE v.v WHEN 0 THEN 4 ELSE g.bound END, 0.25
  FROM run JOIN variant v ON v.label = run.variant,
  (SELECT 0 AS i, 'load' AS name, '1 CPU' AS shape, 1.0 AS cpus, 0.0 AS gpus, 0 AS dec, 0 AS enc,
          1.0 AS service, 4 AS bound
   UNION ALL SELECT 1, 'decode', '1 CPU + 2 NVDEC', 1.0, 0.0, 2, 0, 9.6, 10
   UNION ALL SELECT 2, 'caption', '1 CPU + 1 GPU', 1.0, 1.0, 0, 0, 15.4, 13
   UNION ALL SELECT 3, 'encode', '1 CPU + 0.25 GPU + 1 NVENC', 1.0, 0.25, 0, 1, 9.0, 10) g;

-- Workers over time: nobody for 3 minutes but one a stage, then the plan; half of it while dgx-1
-- is down. `p` is a small pseudo-random number in [-0.5, 0.5).
-- A curve over arrived demand, as static workloads have it.
INSERT INTO arrival_sample SELECT run_id, i, 80, max(0, i - 95) * 3,
  min(i, 94 + 2 * variant_order), 3 + 0.03 * i, 6 + i * 0.8 FROM run, number;
CREATE TEMP TABLE moment AS SELECT v.*, v.v * 10 + 1 AS run_id, i, i * 60.0 AS t,
  ((i * 7919 + v.v * 4729 + i * i * 31) % 97) / 97.0 - 0.5 AS p,
  CASE WHEN i < 3 THEN 0 WHEN i >= 80 AND i < 100 THEN 2 ELSE 1 END AS era
  FROM variant v, number;
INSERT INTO stage_sample
  SELECT run_id, s, t, 60.0,
    CASE WHEN v = 0 THEN CASE s WHEN 2 THEN i * 0.8 WHEN 0 THEN 2 ELSE 1 END
         WHEN era = 2 THEN CASE s WHEN 2 THEN 24 + (i - 80) * 2 WHEN 1 THEN 12 ELSE 1 END
         ELSE CASE s WHEN 2 THEN 18 + 12 * p WHEN 1 THEN 8 + 6 * p ELSE 2 + 2 * p END END,
    1e6 * (4 - s), w, setup, w - setup - busy - blocked, busy, blocked,
    (w - setup - busy - blocked) * 0.9,
    CASE WHEN era = 2 AND s < 2 THEN 0.8 WHEN s < 2 AND v = 0 THEN 0.9 ELSE 0.02 END,
    CASE WHEN v = 0 THEN s = 2 WHEN era = 2 THEN s = 2
         WHEN p < -0.2 THEN s = 1 ELSE s = 2 END,
    60.0 * rate * (CASE era WHEN 0 THEN 0.1 WHEN 2 THEN 0.5 ELSE 1 END) * (1 + 0.05 * p)
  FROM (SELECT *, CASE WHEN era = 0 OR (era = 1 AND (i < 6 OR i = 100)) THEN w * 0.6 ELSE 0 END AS setup,
          w * (CASE WHEN era = 0 OR (era = 1 AND (i < 6 OR i = 100)) THEN 0.3
               WHEN s = 2 THEN 0.93 + 0.06 * p
               WHEN v = 0 THEN 0.1 * (1 + p) ELSE 0.7 + 0.1 * p - 0.08 * (s = 0) END) AS busy,
          w * (CASE WHEN s < 2 AND era = 2 THEN 0.2 WHEN s < 2 AND v = 0 THEN 0.7
               WHEN s = 1 THEN 0.04 ELSE 0 END) * (era > 0) * (i >= 6 AND i <> 100) AS blocked
        FROM (SELECT m.*, s.i AS s,
                (CASE s.i WHEN 0 THEN w0 WHEN 1 THEN w1 WHEN 2 THEN w2 ELSE w3 END)
                * (CASE era WHEN 0 THEN 0.25 WHEN 2 THEN 0.5 ELSE 1.0 END) AS w
              FROM moment m, number s WHERE s.i < 4));
INSERT INTO cluster_sample
  SELECT m.run_id, t, 60.0, cap * 192, a.cpu, a.cpu_busy, cap * 16, a.gpu, a.gpu_busy,
    cap * 112, a.dec, a.dec_busy, cap * 48, a.enc, a.enc_busy, cap * 4398046511104.0, 0,
    frag, frag * 0.1, 0, frag * 0.6, frag * 0.3, 0, frag * 0.5, max(0, cap * 16 - a.gpu - frag),
    60.0 * (0.8 + 0.1 * p), a.done, 0
  FROM (SELECT *, CASE era WHEN 2 THEN 0.5 ELSE 1.0 END AS cap,
          CASE v WHEN 0 THEN 3.0 WHEN 1 THEN 1.2 ELSE 0.4 END * (1 + 0.5 * p)
          * (CASE era WHEN 2 THEN 0.5 ELSE 1 END) AS frag FROM moment) m
  JOIN (SELECT x.run_id AS run_id, t_s, sum(workers * cpus) AS cpu, sum(busy * cpus) AS cpu_busy,
          sum(workers * gpus) AS gpu, sum(busy * gpus) AS gpu_busy, sum(workers * nvdecs) AS dec,
          sum(busy * nvdecs) AS dec_busy, sum(workers * nvencs) AS enc,
          sum(busy * nvencs) AS enc_busy, sum(tasks_done * (x.stage = 3)) AS done
        FROM stage_sample x JOIN stage g ON g.run_id = x.run_id AND g.stage = x.stage
        GROUP BY x.run_id, t_s) a ON a.run_id = m.run_id AND a.t_s = m.t;
INSERT INTO node_sample
  SELECT c.run_id, n.i, t_s, dt_s, up, up * cpu_assigned / 2, up * cpu_active / 2,
    CASE WHEN alone THEN gpu_assigned * up ELSE gpu_assigned * (0.55 - 0.1 * n.i) END,
    CASE WHEN alone THEN gpu_active * up ELSE gpu_active * (0.55 - 0.1 * n.i) END,
    up * nvdec_active / 2, up * nvenc_active / 2, up * 1000
  FROM (SELECT *, gpu_capacity < 15 AS alone FROM cluster_sample) c,
       (SELECT i FROM number WHERE i < 2) n,
       (SELECT 1.0 AS up UNION ALL SELECT 0.0) u
  WHERE u.up = (CASE WHEN alone AND n.i = 1 THEN 0.0 ELSE 1.0 END);

-- Workers: first one a stage at 0 (decision 0), the rest at 3 min (decision 1). Those of dgx-1 are
-- lost at 1h20m and started again at 1h40m (ids + 100, decision 34).
CREATE TEMP TABLE place AS
  SELECT run_id, s, k, CASE WHEN s = 3 AND k >= 8 THEN 1 ELSE k % 2 END AS node,
    CASE s WHEN 2 THEN k / 2 WHEN 3 THEN CASE WHEN k >= 8 THEN 6 ELSE 7 END ELSE -1 END AS gpu,
    CASE s WHEN 2 THEN 1.0 WHEN 3 THEN 0.25 ELSE 0.0 END AS amount,
    CASE k WHEN 0 THEN 0.0 ELSE 180.0 END AS created
  FROM (SELECT v.v * 10 + 1 AS run_id, s.i AS s, k.i AS k FROM variant v, number s, number k
        WHERE s.i < 4 AND k.i < (CASE s.i WHEN 0 THEN w0 WHEN 1 THEN w1 WHEN 2 THEN w2 ELSE w3 END));
INSERT INTO worker
  SELECT run_id, s * 20 + k, s, node,
    CASE s WHEN 2 THEN printf('gpu%d', gpu) WHEN 3 THEN printf('gpu%d:0.25 nvenc%d.0', gpu, gpu)
           WHEN 1 THEN printf('nvdec%d.0 nvdec%d.1', k / 2, k / 2) ELSE '' END,
    CASE WHEN gpu < 0 THEN 0 ELSE 1 << gpu END, amount, created, created + 60.0,
    CASE node WHEN 1 THEN 4800.0 END, CASE node WHEN 1 THEN 'node lost' ELSE '' END, 120, 3000.0,
    NULL, NULL
  FROM place;
INSERT INTO worker SELECT run_id, worker + 100, stage, node, devices, gpu_mask, gpu_amount, 6120.0,
    6180.0, NULL, '', 40, 900.0, NULL, NULL FROM worker WHERE node = 1;
INSERT INTO decision
  SELECT d.run_id, d.i, d.i * 180.0, d.placement, d.scaling, 0, 0, 0, 0, 'ok', '' FROM
    (SELECT * FROM moment WHERE i < 40) d;
INSERT INTO decision_wall SELECT run_id, decision, 0.2 + 0.01 * (decision % 7) FROM decision;
INSERT INTO action
  SELECT run_id, CAST(created_s / 180 AS INTEGER), worker, 'start',
    CASE WHEN created_s > 0 THEN 3 ELSE 2 END, stage, worker, node, 0, NULL, 'applied', 2,
    CASE WHEN gpu_amount > 0 THEN 1 ELSE 2 END, 1, 0.002 * stage, -1.5,
    CASE WHEN gpu_amount > 0 THEN NULL ELSE 1 - node END,
    CASE WHEN gpu_amount > 0 THEN NULL ELSE 0.031 END, NULL,
    CASE WHEN gpu_amount > 0 THEN '{"too few free GPUs":1}' ELSE '{}' END, NULL, NULL, NULL FROM worker;
INSERT INTO action
  SELECT run_id, decision, 900, 'deny', 3, 2, NULL, NULL, 0, NULL, 'denied: too few free GPUs', 2, 0, 0, NULL, NULL,
    NULL, NULL, NULL, '{"too few free GPUs":2}', NULL, NULL, NULL FROM decision WHERE decision BETWEEN 2 AND 20;
UPDATE decision SET
  started = (SELECT count(*) FROM action a WHERE a.run_id = decision.run_id
             AND a.decision = decision.decision AND verb = 'start'),
  denied = (SELECT count(*) FROM action a WHERE a.run_id = decision.run_id
            AND a.decision = decision.decision AND verb = 'deny');
INSERT INTO decision_stage
  SELECT d.run_id, d.decision, g.stage,
    (SELECT count(*) FROM worker w WHERE w.run_id = d.run_id AND w.stage = g.stage
      AND w.created_s < d.t_s AND (w.ended_s IS NULL OR w.ended_s > d.t_s)),
    (SELECT count(*) FROM worker w WHERE w.run_id = d.run_id AND w.stage = g.stage
      AND w.created_s <= d.t_s AND (w.ended_s IS NULL OR w.ended_s > d.t_s)),
    (SELECT count(*) FROM worker w WHERE w.run_id = d.run_id AND w.stage = g.stage
      AND w.created_s = d.t_s), 0, 2, g.bound_workers, 1.0 / g.service_mean_s,
    CASE WHEN d.decision = 0 THEN NULL ELSE 0.78 END,
    CASE WHEN g.stage <> 2 THEN 'not the bottleneck' WHEN d.decision < 2 THEN 'speed not measured yet'
         WHEN d.decision % 3 = 0 THEN 'no stage can give a worker up' ELSE 'too few free GPUs' END
  FROM decision d JOIN stage g ON g.run_id = d.run_id;
INSERT INTO happening SELECT v * 10 + 1, 4800.0, 6000.0, 'node_down', 'dgx-1', 'dgx-1 down'
  FROM variant;

-- Results of replication 0 from its samples after warm-up, then the other replications.
CREATE TEMP TABLE after AS SELECT run_id, sum(dt_s) AS span, sum(gpu_active * dt_s)
    / sum(gpu_capacity * dt_s) AS ga, sum(gpu_assigned * dt_s) / sum(gpu_capacity * dt_s) AS gg,
    sum(cpu_active * dt_s) / sum(cpu_capacity * dt_s) AS ca,
    sum(cpu_assigned * dt_s) / sum(cpu_capacity * dt_s) AS cg,
    sum(nvdec_active * dt_s) / sum(nvdec_capacity * dt_s) AS da,
    sum(nvdec_assigned * dt_s) / sum(nvdec_capacity * dt_s) AS dg,
    sum(nvenc_active * dt_s) / sum(nvenc_capacity * dt_s) AS na,
    sum(nvenc_assigned * dt_s) / sum(nvenc_capacity * dt_s) AS ng,
    sum(items_done) / sum(dt_s) AS thr, sum(frag_gpu * dt_s) / sum(dt_s) AS frag,
    sum(frag_gpu * dt_s) / sum((gpu_capacity - gpu_assigned) * dt_s) AS ratio
  FROM cluster_sample WHERE t_s >= 600 GROUP BY run_id;
INSERT INTO result
  SELECT run_id, metric, '', value, unit, n, 0, 0 FROM (
    SELECT run_id, 'util.gpu.active' AS metric, ga AS value, 'ratio' AS unit, 110 AS n FROM after
    UNION ALL SELECT run_id, 'util.gpu.assigned', gg, 'ratio', 110 FROM after
    UNION ALL SELECT run_id, 'util.cpu.active', ca, 'ratio', 110 FROM after
    UNION ALL SELECT run_id, 'util.cpu.assigned', cg, 'ratio', 110 FROM after
    UNION ALL SELECT run_id, 'util.nvdec.active', da, 'ratio', 110 FROM after
    UNION ALL SELECT run_id, 'util.nvdec.assigned', dg, 'ratio', 110 FROM after
    UNION ALL SELECT run_id, 'util.nvenc.active', na, 'ratio', 110 FROM after
    UNION ALL SELECT run_id, 'util.nvenc.assigned', ng, 'ratio', 110 FROM after
    UNION ALL SELECT run_id, 'thr.pipeline', thr, '1/s', 110 FROM after
    UNION ALL SELECT run_id, 'frag.gpu.fgd', frag, 'GPUs', 110 FROM after
    UNION ALL SELECT run_id, 'frag.gpu.fgd_ratio', ratio, 'ratio', 110 FROM after
    UNION ALL SELECT v * 10 + 1, 'thr.pipeline.steady', rate, '1/s', 4000 FROM variant
    UNION ALL SELECT v * 10 + 1, 'lat.e2e.mean', 60.0 / rate, 's', 4000 FROM variant
    UNION ALL SELECT v * 10 + 1, 'lat.e2e.p50', 50.0 / rate, 's', 4000 FROM variant
    UNION ALL SELECT v * 10 + 1, 'lat.e2e.p95', 120.0 / rate, 's', 4000 FROM variant
    UNION ALL SELECT v * 10 + 1, 'lat.e2e.p99', 160.0 / rate, 's', 4000 FROM variant
    UNION ALL SELECT v * 10 + 1, 'worker.churn', 10.0 + v, '1/h', 30 FROM variant);
UPDATE result SET censored = 57, is_lower_bound = 1
  WHERE metric = 'lat.e2e.p99' AND run_id = 1;
INSERT INTO result
  SELECT r.run_id, x.metric, x.label, x.value * (1 + 0.002 * (((r.replication * 7 + 3 * length(x.metric))
    % 11) - 5) + 0.0004 * ((r.replication * 5 + r.variant_order * 3) % 7)), x.unit, x.n, x.censored,
    x.is_lower_bound
  FROM run r JOIN result x ON x.run_id = r.variant_order * 10 + 1 WHERE r.replication > 0;
INSERT INTO result SELECT run_id, 'config.knobs_required', '', 2.0 * (variant_order = 0), '-', 1, 0, 0
  FROM run;
INSERT INTO result
  SELECT run_id, 'bp.starved_frac', g.name, 0.1 * (1 + g.stage), 'ratio', 110, 0, 0
  FROM stage g WHERE run_id IN (SELECT run_id FROM run WHERE replication = 0);
INSERT INTO histogram
  SELECT v * 10 + 1, 'lat.e2e', '', 10.0 / rate * (1 + i * 0.1), 200 - i * 5 / 3 FROM variant, number;
INSERT INTO expectation VALUES (1, 12, 'thr.pipeline.steady of xenna >= 0.7', 'xenna', 0.78, 0.7, 1);
DROP TABLE variant; DROP TABLE number; DROP TABLE moment; DROP TABLE place; DROP TABLE after;
