/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about incidents recomputed, included in the middle of a table: rates, use and queues from
 * samples whose edges are those of the windows, holders from the rows of workers, what only the
 * meter knows (percentiles by arrival, the backlog event by event) from the table of results.
 */
#define T_WINDOWS                                                                                  \
    "WITH w AS (SELECT json_extract(x.value, '$.name') AS n, json_extract(x.value, '$.from_s') AS" \
    " f, ifnull(json_extract(x.value, '$.to_s'), (SELECT end_s FROM run WHERE run_id = :run)) AS"  \
    " t, CAST(x.key AS INTEGER) AS k FROM json_each(ifnull((SELECT value FROM meta WHERE key ="    \
    " 'windows'), '[]')) x), hit AS (SELECT min(k) AS k FROM w, happening h WHERE h.run_id = :run" \
    " AND h.kind <> 'ended_early' AND NOT h.t_s < w.f AND h.t_s < w.t), o AS (SELECT * FROM w"     \
    " WHERE k = ifnull((SELECT k FROM hit), (SELECT min(1, max(k)) FROM w))), b AS (SELECT * FROM" \
    " w WHERE k = (SELECT k FROM o) - 1)"
#define T_IN(metric_id, window)                                                                    \
    "(SELECT r.value FROM result r WHERE r.run_id = :run AND r.label = '' AND r.metric = "         \
    "'" metric_id "@' || " window ".n)"
#define T_N(metric_id, window)                                                                     \
    "(SELECT r.n FROM result r WHERE r.run_id = :run AND r.label = '' AND r.metric = '" metric_id  \
    "@' || " window ".n)"
#define T_OPEN(metric_id)                                                                          \
    "(SELECT r.is_lower_bound FROM result r WHERE r.run_id = :run AND r.label = '' AND r.metric =" \
    " '" metric_id "@' || o.n)"
#define T_RATE(column, window)                                                                     \
    "(SELECT total(" column ") / (" window ".t - " window                                          \
    ".f) FROM cluster_sample c WHERE c.run_id"                                                     \
    " = :run AND c.t_s >= " window ".f - 1e-6 AND c.t_s < " window ".t - 1e-6)"
#define T_OVER "(SELECT count(*) FROM stage WHERE run_id = :run) > 0"
#define T_STAGE(what, window)                                                                      \
    "(SELECT sum(" what " * x.dt_s) FROM stage_sample x WHERE x.run_id = :run AND x.stage ="       \
    " g.stage AND x.t_s >= " window ".f - 1e-6 AND x.t_s < " window ".t - 1e-6)"
#define T_SHARE T_STAGE("x.is_bottleneck", "o") " / (o.t - o.f) AS share"
#define T_READY T_STAGE("(x.workers - x.setup)", "o")
#define T_BUSY  T_STAGE("x.busy", "o") " / nullif(" T_READY ", 0) AS busy"
#define T_COUNT T_STAGE("x.workers", "o") " / (o.t - o.f) AS workers"
#define T_BOUND                                                                                    \
    ", q AS (SELECT g.stage AS i, g.name AS stage, g.gpus AS gpus, " T_SHARE ", " T_BUSY           \
    ", " T_COUNT " FROM o, stage g WHERE g.run_id = :run), s AS (SELECT * FROM q WHERE share >="   \
    " 0.5 AND busy >= 0.8 AND share = (SELECT max(share) FROM q WHERE share >= 0.5 AND busy >="    \
    " 0.8))"
#define T_COMES "instr(ifnull((SELECT value FROM meta WHERE key = 'work'), ''), 'backlog') = 0"
#define T_ROSE  T_IN("backlog.max", "o") " > 10 + 1.5 * " T_IN("backlog.usual", "o")
#define T_HIGH  T_COMES " AND " T_ROSE
#define T_NEEDS "(" T_ROSE " OR NOT " T_COMES ")"
#define T_WHO                                                                                      \
    "ifnull((SELECT g.name FROM stage g WHERE g.run_id = z.run_id AND g.stage = z.stage), (SELECT" \
    " l.name || '/' || c.name FROM job j JOIN workload l USING (run_id, workload) JOIN job_label " \
    "c"                                                                                            \
    " USING (run_id, label) WHERE j.run_id = z.run_id AND j.workload = z.workload AND j.job ="     \
    " z.job))"
{ "incident.waiting",
  T_WINDOWS ", j AS (SELECT k, n, count(*) AS came, count(iif(ifnull(first_start_s, 1e300) >= t, 1,"
            " NULL)) AS v FROM w JOIN job ON run_id = :run AND submit_s >= f AND submit_s < t"
            " WHERE outcome <> 'refused' GROUP BY k)"
            " SELECT j.n AS window, v AS waiting, came FROM j JOIN o USING (k) WHERE v >= 5 AND"
            " v >= 0.5 * came AND 0.5 * v / came >= ifnull((SELECT 1.0 * p.v / p.came FROM j p"
            " JOIN b USING (k)), 0)" },
    { "incident.link", T_WINDOWS
      ", u AS (SELECT w.n AS n, x.link AS link, sum(x.dt_s) / (w.t - w.f) AS v FROM w JOIN"
      " link_sample x ON x.run_id = :run AND x.t_s >= w.f - 1e-6 AND x.t_s + x.dt_s <= w.t +"
      " 1e-6 WHERE x.delivered_bytes_per_s > 0 AND x.capacity_bytes_per_s"
      " - x.delivered_bytes_per_s <= 0.01 * x.capacity_bytes_per_s GROUP BY w.k, x.link)"
      " SELECT CASE substr(l.kind, 1, 3) WHEN 'sto' THEN 'Store' WHEN 'nic' THEN 'Interface'"
      " ELSE 'Uplink' END AS kind, l.name AS name, o.n AS window, u.v AS share,"
      " ifnull((SELECT p.v FROM u p JOIN b USING (n) WHERE p.link = u.link), 0) AS before"
      " FROM u JOIN o USING (n) JOIN link l ON l.run_id = :run AND l.link = u.link"
      " WHERE share >= 0.5 AND share / 2 >= before ORDER BY share DESC, u.link LIMIT 1" },
    { "incident.faults", T_WINDOWS
      ", h AS (SELECT h.* FROM happening h, o WHERE h.run_id = :run AND h.kind <>"
      " 'ended_early' AND NOT h.t_s < o.f AND h.t_s < o.t ORDER BY h.t_s, h.text) SELECT"
      " (SELECT count(*) FROM h) AS count, (SELECT min(t_s) FROM h) AS at, (SELECT text FROM h"
      " LIMIT 1) AS what, (SELECT count(*) FROM h WHERE t_s = (SELECT min(t_s) FROM h) AND"
      " replace(text, target, '') = (SELECT replace(text, target, '') FROM h LIMIT 1)) AS alike "
      "WHERE EXISTS (SELECT 1 FROM h)" },
    { "incident.lost", T_WINDOWS
      ", l AS (SELECT DISTINCT j.workload, j.job FROM o JOIN job j ON j.run_id = :run JOIN"
      " worker k ON k.run_id = :run AND k.workload = j.workload AND k.job = j.job AND"
      " k.end_reason = 'node lost' AND NOT k.ended_s < o.f AND k.ended_s < o.t) SELECT o.n"
      " AS window, (SELECT count(*) FROM l) AS jobs FROM o WHERE EXISTS (SELECT 1 FROM l)" },
    { "incident.latency",
      T_WINDOWS " SELECT o.n AS window, " T_IN("lat.e2e.p95", "o") " AS value, " T_IN(
          "lat.e2e.p95",
          "b") " AS before FROM o, b WHERE " T_IN("lat.e2e.p95",
                                                  "o") " / " T_IN("lat.e2e.p95",
                                                                  "b") " >= 1.25"
                                                                       " AND min(" T_N(
                                                                           "lat.e2e.p95",
                                                                           "o") ", " T_N("lat.e2e."
                                                                                         "p95",
                                                                                         "b") ") "
                                                                                              ">= "
                                                                                              "2"
                                                                                              "0" },
    { "incident.unfinished",
      T_WINDOWS " SELECT o.n AS window, " T_RATE("c.items_done", "o") " AS done, " T_RATE(
          "c.items_arrived",
          "o") " AS arrived FROM o WHERE " T_OVER " AND " T_COMES
               " AND " T_RATE("c.items_done", "o") " < 0.97 * " T_RATE(
                   "c.items_arrived",
                   "o") " AND (o.t - o.f) * (" T_RATE("c.items_arrived",
                                                      "o") " - " T_RATE("c.items_done",
                                                                        "o") ") >= 10" },
    { "incident.slower",
      T_WINDOWS " SELECT o.n AS window, " T_RATE("c.items_done", "o") " AS done, " T_RATE(
          "c.items_done", "b") " AS before FROM o, b WHERE " T_OVER " AND NOT " T_COMES
                               " AND " T_RATE("c.items_done",
                                              "o") " <= 0.9 * " T_RATE("c.items_done", "b") },
    { "incident.wait",
      T_WINDOWS ", m AS (SELECT w.k AS k, avg(j.first_start_s - j.submit_s) AS mean,"
                " count(j.first_start_s) AS n, count(iif(j.first_start_s IS NULL AND j.outcome ="
                " 'waiting', 1, NULL)) AS rest"
                " FROM w JOIN job j ON j.run_id = :run AND j.submit_s >= w.f - 1e-9 AND j.submit_s"
                " < w.t GROUP BY w.k)"
                " SELECT o.n AS window, y.mean AS value, x.mean AS before FROM o, b JOIN m x ON x.k"
                " = b.k JOIN m y ON y.k = o.k WHERE y.mean >= 1.25 * x.mean AND y.mean - x.mean >="
                " 60 AND min(x.n, y.n) >= 5 AND 20 * x.rest <= x.n + x.rest AND 20 * y.rest <= y.n"
                " + y.rest" },
    { "incident.backlog",
      T_WINDOWS " SELECT o.n AS window, " T_IN("backlog.max", "o") " AS most, " T_IN(
          "backlog.max_at", "o") " AS at, " T_IN("backlog.usual",
                                                 "o") " AS usual FROM o WHERE " T_HIGH },
    { "incident.back", T_WINDOWS " SELECT o.n AS window, " T_IN(
                           "backlog.recover", "o") " AS recover FROM o WHERE " T_HIGH
                                                   " AND NOT " T_OPEN("backlog.recover") },
    { "incident.not_back", T_WINDOWS
      " SELECT o.n AS window, (SELECT end_s FROM run WHERE run_id = :run) - o.t AS recover"
      " FROM o WHERE " T_HIGH " AND " T_OPEN("backlog.recover") },
    { "incident.binding",
      T_WINDOWS T_BOUND " SELECT s.stage AS stage, o.n AS window, s.share AS share, s.busy AS busy"
                        " FROM s, o" },
    { "incident.workers",
      T_WINDOWS T_BOUND ", p AS (SELECT " T_STAGE(
          "x.workers",
          "b") " / (b.t - b.f) AS before FROM"
               " b, s g0 JOIN stage g ON g.run_id = :run AND g.stage = g0.i)"
               " SELECT s.stage AS stage, o.n AS window, s.workers AS workers, p.before AS"
               " before FROM s, o, p WHERE s.workers / p.before <= 0.9" },
    { "incident.setup",
      T_WINDOWS T_BOUND ", p AS (SELECT " T_STAGE(
          "x.setup", "b") " / (b.t - b.f) AS before FROM b, s g0 JOIN stage g"
                          " ON g.run_id = :run AND g.stage = g0.i), n AS (SELECT " T_STAGE(
                              "x.setup", "o") " / (o.t - o.f) AS setup FROM o, s g0 JOIN stage g "
                                              "ON g.run_id = :run AND g.stage = g0.i)"
                                              " SELECT s.stage AS stage, o.n AS window, s.workers "
                                              "AS workers, n.setup AS setup, p.before AS"
                                              " before FROM s, o, p, n WHERE n.setup / s.workers "
                                              ">= 0.1 AND n.setup >= 2 * p.before" },
    { "incident.holders", T_WINDOWS T_BOUND
      ", y AS (SELECT z.stage AS z, " T_WHO " AS who, sum(z.gpu_amount * (min(ifnull(z.ended_s,"
      " o.t), o.t) - max(z.created_s, o.f))) / (SELECT t - f FROM o) AS held FROM worker z, o"
      " WHERE z.run_id = :run AND max(z.created_s, o.f) < min(ifnull(z.ended_s, o.t), o.t) GROUP BY"
      " who), c AS (SELECT " T_RATE("c.gpu_capacity * c.dt_s", "o") " AS up, " T_RATE(
          "(c.gpu_capacity - c.gpu_assigned) * c.dt_s",
          "o") " AS free FROM o)"
               " SELECT s.stage AS stage, o.n AS window, y.who AS owner, y.held AS held, c.up AS"
               " capacity FROM s, o, c, y WHERE s.gpus > 0 AND c.free / c.up <= 0.05 AND y.held /"
               " c.up >= 0.1 AND ifnull(y.z, -1) <> s.i AND " T_NEEDS
               " ORDER BY held DESC, owner LIMIT 1" },
    { "incident.taken", T_WINDOWS T_BOUND
      ", back AS (SELECT n.node AS node, n.gpus AS gpus, h.until_s AS at FROM o, happening h JOIN"
      " node n ON n.run_id = :run AND n.name = h.target WHERE h.run_id = :run AND h.kind ="
      " 'node_down' AND NOT h.t_s < o.f AND h.t_s < o.t AND h.until_s NOT NULL), y AS (SELECT"
      " z.stage AS z, " T_WHO " AS who, sum(z.gpu_amount) AS taken FROM worker z JOIN back USING"
      " (node) WHERE z.run_id = :run AND z.created_s - back.at >= 0 AND z.created_s - back.at < 600"
      " GROUP BY who) SELECT s.stage AS stage, y.who AS owner, y.taken AS taken, (SELECT "
      "total(gpus)"
      " FROM back) AS back FROM s, o, y WHERE s.gpus > 0 AND ifnull(y.z, -1) <> s.i AND 2 * y.taken"
      " > (SELECT sum(gpus) FROM back) AND " T_NEEDS " ORDER BY taken DESC LIMIT 1" },
    { "incident.decisions", T_WINDOWS T_BOUND
      ", y AS (SELECT d.decision AS d FROM decision d, o WHERE d.run_id = :run AND NOT d.t_s < o.f"
      " AND d.t_s < o.t), r AS (SELECT x.binding AS reason, count(*) AS c FROM decision_stage x"
      " WHERE x.run_id = :run AND x.decision IN (SELECT d FROM y) AND x.stage = (SELECT i FROM s)"
      " AND NOT x.workers_after > x.workers_before AND x.binding <> '' AND x.binding <> 'none'"
      " GROUP BY reason) SELECT s.stage AS stage, o.n AS window, r.c AS count, (SELECT count(*) "
      "FROM"
      " y) AS total, r.reason AS reason FROM s, o, r WHERE 2 * r.c >= (SELECT count(*) FROM y) "
      "ORDER"
      " BY r.c DESC, r.reason LIMIT 1" },
