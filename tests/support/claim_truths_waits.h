/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about waits and tenants recomputed, included in the middle of a table: overlaps of every
 * wait with every hold, medians by counting who is not above, shares at every change.
 */
#define LOW_AND_HIGH                                                                               \
    MOST("x.workers")                                                                              \
    " AS high, (SELECT min(x.workers) FROM stage_sample x WHERE x.run_id ="                        \
    " g.run_id AND x.stage = g.stage AND x.t_s >= :from) AS low"
/* Of some stage there were more before, or fewer. */
#define BEFORE(what)                                                                               \
    "(SELECT " what "(x.workers) FROM stage_sample x WHERE x.run_id = :run AND x.stage = b.stage"  \
    " AND x.t_s < :from)"
#define EARLY                                                                                      \
    "EXISTS (SELECT 1 FROM s b WHERE " BEFORE("max") " > b.high + 0.005 OR " BEFORE(               \
        "min") " < b.low - 0.005) AS early"
#define T_NAME                                                                                     \
    "CASE WHEN (SELECT min(tenant) < max(tenant) FROM job WHERE run_id = :run) THEN CASE j.tenant" \
    " WHEN '' THEN 'no tenant' ELSE j.tenant END ELSE (SELECT name FROM job_label l WHERE"         \
    " l.run_id = j.run_id AND l.label = j.label) END"
#define T_TRIES                                                                                    \
    "x AS (SELECT j.job, j.workload, " T_NAME " AS n, j.submit_s, j.end_s, j.first_start_s,"       \
    " j.outcome FROM job j WHERE j.run_id = :run AND j.outcome <> 'refused'), a AS (SELECT x.n,"   \
    " x.job, x.workload, x.outcome, w.created_s AS s, (SELECT max(ifnull(o.ended_s, " LAST "))"    \
    " FROM worker o WHERE o.run_id = :run AND o.workload = x.workload AND o.job = x.job AND"       \
    " o.created_s = w.created_s) AS e FROM x JOIN worker w ON w.run_id = :run AND w.workload ="    \
    " x.workload AND w.job = x.job GROUP BY x.workload, x.job, w.created_s)"
#define T_IDLE                                                                                     \
    T_TRIES                                                                                        \
    ", i AS (SELECT n, submit_s AS s, ifnull(first_start_s, ifnull(end_s, " LAST ")) AS e FROM x"  \
    " UNION ALL SELECT n, (SELECT p.e FROM a p WHERE p.workload = a.workload AND p.job = a.job"    \
    " AND p.s < a.s ORDER BY p.s DESC LIMIT 1), s FROM a UNION ALL SELECT n, max(e), " LAST        \
    " FROM a WHERE outcome = 'waiting' GROUP BY workload, job), q AS (SELECT * FROM i WHERE e > "  \
    "s)"
#define T_OVERLAP "max(0, min(q.e, h.e) - max(q.s, h.s))"
#define T_LONGEST                                                                                  \
    "f AS (SELECT n, count(*) AS tries, sum(e - s) AS total FROM q GROUP BY n ORDER BY total "     \
    "DESC,"                                                                                        \
    " n LIMIT 1)"

#define T_JOB_WAIT "(ifnull(j.first_start_s, ifnull(j.end_s, " LAST ")) - j.submit_s)"
#define T_GANGS                                                                                    \
    "WITH j AS (SELECT * FROM job k WHERE run_id = :run AND outcome <> 'refused' AND (members > 1" \
    " OR (SELECT max(members) FROM job WHERE run_id = :run AND outcome <> 'refused') < 2)), c AS"  \
    " (SELECT count(*) AS count, count(iif(" T_JOB_WAIT " >= 1, 1, NULL)) AS waited FROM j)"

/* The least wait that half of a group are not above. */
#define T_HALF(group, of)                                                                          \
    "WITH j AS (SELECT CASE " group " WHEN '' THEN 'none given' ELSE " group " END AS g,"          \
    " j.first_start_s - j.submit_s AS v FROM job j JOIN run r USING (run_id) WHERE j.outcome <>"   \
    " 'refused' AND " of "), m AS (SELECT g, count(*) AS n, (SELECT min(a.v) FROM j a WHERE"       \
    " a.g = b.g AND (SELECT count(*) FROM j c WHERE c.g = a.g AND c.v <= a.v) >= ((SELECT"         \
    " count(*) FROM j c WHERE c.g = b.g) + 1) / 2) AS v FROM j b GROUP BY g HAVING count(*) > 4) " \
    "SELECT min(v) AS least, CASE WHEN"                                                            \
    " count(v) = count(*) THEN max(v) END AS most FROM m HAVING count(*) > 1 AND count(v) > 0"
#define T_LABEL "(SELECT name FROM job_label l WHERE l.run_id = j.run_id AND l.label = j.label)"
#define T_QUANTILE(share)                                                                          \
    "(SELECT min(v) FROM j a WHERE (SELECT count(*) FROM j c WHERE c.v <= a.v) >= " share ")"
#define T_SIDE(is)                                                                                 \
    "(SELECT min(v) FROM s a WHERE side = " is " AND (SELECT count(*) FROM s c WHERE c.v <= a.v"   \
    " AND c.side = " is ") >= ((SELECT count(*) FROM s WHERE side = " is ") + 1) / 2)"

/* What a tenant holds at every moment at which anything changes. */
#define T_AT(what)                                                                                 \
    "(SELECT total(" what ") FROM worker w JOIN job j ON j.run_id = w.run_id AND j.workload ="     \
    " w.workload AND j.job = w.job WHERE w.run_id = :run AND j.tenant = p.tenant AND"              \
    " w.created_s <= p.t AND ifnull(w.ended_s, " LAST ") > p.t)"
#define T_OF_ALL(what)                                                                             \
    "ifnull(1.0 / nullif((SELECT total(" what ") FROM node WHERE run_id = "                        \
    ":run), 0), 0)"
#define T_TENANTS                                                                                  \
    "WITH d AS (SELECT DISTINCT j.tenant FROM worker w JOIN job j ON j.run_id = w.run_id AND"      \
    " j.workload = w.workload AND j.job = w.job WHERE w.run_id = :run AND j.tenant <> ''),"        \
    " c AS (SELECT 0.0 AS t UNION SELECT created_s FROM worker WHERE run_id = :run UNION SELECT"   \
    " ended_s FROM worker WHERE run_id = :run UNION SELECT submit_s FROM job WHERE run_id = :run"  \
    " UNION SELECT first_start_s FROM job WHERE run_id = :run UNION SELECT end_s FROM job WHERE"   \
    " run_id = :run AND first_start_s IS NULL), o AS (SELECT t, ifnull((SELECT min(t) FROM c n"    \
    " WHERE n.t > c.t), " LAST ") - t AS dt FROM c WHERE t IS NOT NULL AND t < " LAST "),"         \
    " p AS (SELECT tenant, t, dt FROM d, o)"
#define T_GIB                                                                                      \
    "iif(instr(j.request, ' GiB') OR instr(j.request, ' GB'), CAST(substr(j.request, 1 + "         \
    "instr(j.request, '+')) AS REAL), 0) * iif(instr(j.request, ' GB'), 1e9, 1073741824.0)"
#define T_DOMINANT                                                                                 \
    "max(" T_AT("j.cpus / j.members") " * " T_OF_ALL("cpus") ", " T_AT(                            \
        "w.gpu_amount") " * " T_OF_ALL("gpus") ", " T_AT(T_GIB) " * " T_OF_ALL("ram_bytes") ")"

{ "waits.holders",
  "WITH " T_IDLE ", h AS (SELECT ifnull((SELECT x.n FROM x WHERE x.workload = w.workload AND x.job"
  " = w.job), 'stages of ' || (SELECT pipeline FROM stage g WHERE g.run_id = w.run_id AND g.stage ="
  " w.stage)) AS n, created_s AS s, ifnull(ended_s, " LAST
  ") AS e, gpu_amount AS gpus FROM worker w"
  " WHERE run_id = :run), " T_LONGEST
  ", c AS (SELECT sum(gpu_capacity * max(0, min(q.e, t_s + dt_s)"
  " - max(q.s, t_s))) AS v FROM q JOIN f USING (n), cluster_sample WHERE run_id = :run), p AS"
  " (SELECT h.n AS holder, sum(h.gpus * " T_OVERLAP ") AS v FROM q JOIN f USING (n), h GROUP BY h.n"
  " HAVING v > 1e-6 * total) SELECT f.n AS waiter, total AS wait_s, holder, p.v / total AS held,"
  " c.v / total AS capacity, (c.v - (SELECT sum(v) FROM p)) / total AS free FROM f, p, c WHERE"
  " total >= tries AND total >= 0.05 * " LAST
  " AND EXISTS (SELECT 1 FROM h) ORDER BY p.v DESC, holder LIMIT 1" },
    { "gangs.wait", T_GANGS
      " SELECT count, waited, (SELECT name FROM workload l WHERE l.run_id = :run"
      " AND l.workload = j.workload) || '/' || j.name AS name, " T_JOB_WAIT " AS wait_s, gpus,"
      " first_start_s IS NULL AS is_open FROM j, c WHERE " T_JOB_WAIT
      " >= 1 AND NOT EXISTS (SELECT 1"
      " FROM j o WHERE ifnull(o.first_start_s, ifnull(o.end_s, " LAST
      ")) - o.submit_s > " T_JOB_WAIT ")"
      " ORDER BY gpus DESC, name LIMIT 1" },
    { "gangs.start", T_GANGS " SELECT count FROM c WHERE count > 0 AND waited = 0" },
    { "spread.class", T_HALF(T_LABEL, "j.run_id = :run") },
    { "spread.tenant", T_HALF("j.tenant", "j.run_id = :run") },
    { "spread.user", T_HALF("j.user", "j.run_id = :run") },
    { "spread.model", T_HALF("j.model", "j.run_id = :run") },
    { "spread.gpu_types", T_HALF("j.gpu_types", "j.run_id = :run") },
    { "spread.variant",
      T_HALF("r.variant", "r.replication = (SELECT replication FROM run WHERE run_id"
                          " = :run)") },
    { "spread.jobs",
      "WITH j AS (SELECT first_start_s - submit_s AS v FROM job WHERE run_id = :run AND outcome <>"
      " 'refused'), n AS (SELECT count(*) AS n FROM j) SELECT " T_QUANTILE(
          "(n + 1) / 2") " AS half, " T_QUANTILE("(19 * n + 19) / 20") " AS tail FROM n WHERE n > "
                                                                       "19" },
    { "spread.halves",
      "WITH s AS (SELECT 2 * submit_s >= " LAST
      " AS side, first_start_s - submit_s AS v FROM job WHERE"
      " run_id = :run AND outcome <> 'refused'), m AS (SELECT " T_SIDE("0") " AS early, " T_SIDE(
          "1") " AS late) SELECT early, late FROM m WHERE (SELECT count(*) FROM s WHERE side = 0) "
               "> 19 AND"
               " (SELECT count(*) FROM s WHERE side = 1) > 19 AND early NOT NULL AND (late IS NULL "
               "OR late > 2 *"
               " early + 1 OR early > 2 * late + 1)" },
    { "variants.undone",
      "WITH u AS (SELECT r.end_s, ifnull((SELECT sum(items_arrived) FROM cluster_sample s WHERE "
      "s.run_id"
      " = r.run_id), 0) - ifnull((SELECT sum(items_done) + sum(items_left) FROM cluster_sample s "
      "WHERE s.run_id = r.run_id), 0) + (SELECT count(*) - count(iif(outcome IN ('done', "
      "'refused', 'left', "
      "'overrun'),"
      " 1, NULL)) FROM job j WHERE j.run_id = r.run_id) AS left FROM run r WHERE replication = "
      "(SELECT"
      " replication FROM run WHERE run_id = :run) AND status <> 'ended early' AND ((SELECT "
      "count(*) FROM"
      " stage s WHERE s.run_id = r.run_id) > 0 OR (SELECT count(*) FROM job j WHERE j.run_id ="
      " r.run_id) > 0)) SELECT min(left) AS least, max(left) AS most FROM u HAVING count(*) > 1" },
    { "tenants.short", T_TENANTS
      ", g AS (SELECT label AS tenant, value FROM result WHERE run_id = :run AND metric ="
      " 'tenant.guarantee'), s AS (SELECT p.tenant, g.value, sum(dt) AS v FROM p JOIN g USING "
      "(tenant)"
      " WHERE " T_AT(
          "w.gpu_amount") " < g.value - 1e-6 AND EXISTS (SELECT 1 FROM job j WHERE j.run_id ="
                          " :run AND j.tenant = p.tenant AND j.outcome <> 'refused' AND j.submit_s "
                          "<= p.t AND"
                          " ifnull(j.first_start_s, ifnull(j.end_s, " LAST
                          ")) > p.t) GROUP BY p.tenant) SELECT tenant,"
                          " value AS guarantee, v AS 'for' FROM s WHERE v >= 60 AND v >= 0.01 "
                          "* " LAST " AND v = (SELECT"
                          " max(v) FROM s) ORDER BY tenant LIMIT 1" },
    { "tenants.dominant", T_TENANTS ", m AS (SELECT tenant, sum(dt * " T_DOMINANT
                                    ") / sum(dt) AS v FROM p GROUP BY tenant)"
                                    " SELECT count(*) AS tenants, max(v) AS share, min(v) AS "
                                    "other_share FROM m HAVING count(*) > 0" },
    { "workers.same", STAGE(LOW_AND_HIGH ", " OF("x.workers") " / " OF(
                          "1") " AS n") " SELECT count(*) AS stages, "
                                        "sum(n) AS workers, " EARLY " FROM s WHERE low IS NOT NULL "
                                        "HAVING max(high - low) < "
                                        "0.01" },
    { "workers.range",
      STAGE(
          LOW_AND_HIGH) " SELECT (SELECT count(*) FROM s WHERE high IS NOT NULL) AS stages, " EARLY
                        ", name AS stage, low, high FROM s a WHERE high - low >= 0.01 AND NOT "
                        "EXISTS (SELECT 1 FROM s b WHERE b.high - b.low > a.high - a.low OR "
                        "(b.high - b.low = a.high - a.low AND b.name < a.name))" },
