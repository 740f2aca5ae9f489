/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each claim recomputed: see the header. The statements read the base tables, never the views, and
 * go another way where there is one: samples for results, workers for counts, correlated
 * subqueries for windows.
 */
#include "tests/support/claim_truths.h"

#include <string.h>

#define STATUS "(SELECT status FROM run WHERE run_id = :run)"
#define WORK   "(SELECT value FROM meta WHERE key = 'work')"
#define VALUE(m)                                                                                   \
    "(SELECT value FROM result WHERE run_id = :run AND metric = '" m "' AND label = '')"
#define HAS_STAGES "(SELECT count(*) FROM stage WHERE run_id = :run) > 0"
#define ARRIVES    "(instr(" WORK ", 'arrivals') > 0 AND instr(" WORK ", 'backlog') = 0)"
#define ITEMS(c)   "(SELECT sum(" c ") FROM cluster_sample WHERE run_id = :run AND t_s >= :from)"
#define SPAN       "(SELECT sum(dt_s) FROM cluster_sample WHERE run_id = :run AND t_s >= :from)"
#define DONE       "coalesce(" VALUE("thr.pipeline") ", " ITEMS("items_done") " / " SPAN ")"
#define KEEPS_UP   "(" ARRIVES " AND " DONE " >= 0.97 * " ITEMS("items_arrived") " / " SPAN ")"
#define IN_STEP    "(" KEEPS_UP " AND " DONE " <= 1.03 * " ITEMS("items_arrived") " / " SPAN ")"
/* Time means of a stage by correlated subqueries. */
#define OF(what)                                                                                   \
    "(SELECT sum(" what " * x.dt_s) FROM stage_sample x WHERE x.run_id = g.run_id"                 \
    " AND x.stage = g.stage AND x.t_s >= :from)"
#define MOST(what)                                                                                 \
    "(SELECT max(" what ") FROM stage_sample x WHERE x.run_id = g.run_id"                          \
    " AND x.stage = g.stage AND x.t_s >= :from)"
#define STAGE(columns)                                                                             \
    "WITH s AS (SELECT g.stage, g.name, g.pipeline, g.gpus, 1.0 * " OF(                            \
        "1") " AS span, " columns " FROM stage g WHERE g.run_id = :run)"
#define SHARE   OF("x.is_bottleneck") " / " OF("1") " AS share"
#define BUSY    OF("x.busy") " / nullif(" OF("x.workers") ", 0) AS busy"
#define HELD_UP OF("x.blocked") " / nullif(" OF("x.workers") ", 0) AS blocked"
#define AT_WORK                                                                                    \
    OF("x.busy * x.is_bottleneck")                                                                 \
    " / nullif(" OF("x.workers * x.is_bottleneck") ", 0) AS "                                      \
                                                   "at_work"
#define MATES                                                                                      \
    "(SELECT count(*) FROM stage h WHERE h.run_id = g.run_id AND h.pipeline = g.pipeline) AS "     \
    "mates"
#define PRESSED OF("x.is_backpressured") " / " OF("1") " AS held"
/* Of all stages, from the samples. */
#define SETUP                                                                                      \
    "(SELECT total(setup * dt_s) / nullif(total(workers * dt_s), 0) FROM stage_sample"             \
    " WHERE run_id = :run AND t_s >= :from)"
#define QUEUE    OF("x.queue_items") " / " OF("1") " AS queue, " MOST("x.queue_items") " AS most"
#define ONE_PIPE "(SELECT min(pipeline) = max(pipeline) FROM s)"
/* Two stages that have workers at one time, by pairs. */
#define T_TURNS                                                                                    \
    "((SELECT count(DISTINCT stage) FROM stage_sample WHERE run_id = :run AND t_s >= :from AND"    \
    " workers > 0) > 1 AND (SELECT total(dt_s) FROM cluster_sample c WHERE run_id = :run AND t_s"  \
    " >= :from AND EXISTS (SELECT 1 FROM stage_sample a JOIN stage_sample b USING (run_id, t_s)"   \
    " WHERE a.run_id = :run AND a.t_s = c.t_s AND a.stage < b.stage AND a.workers > 0 AND"         \
    " b.workers > 0)) <= 0.05 * (SELECT total(dt_s) FROM cluster_sample c WHERE run_id = :run AND" \
    " t_s >= :from AND EXISTS (SELECT 1 FROM stage_sample a WHERE a.run_id = :run AND a.t_s ="     \
    " c.t_s AND a.workers > 0)))"
#define ENDS(what)                                                                                 \
    "(SELECT count(*) FROM worker WHERE run_id = :run AND stage NOT NULL AND " what ")"
#define BEGIN "(SELECT min(created_s) FROM worker WHERE run_id = :run AND stage NOT NULL)"
#define LAST  "(SELECT max(t_s + dt_s) FROM cluster_sample WHERE run_id = :run)"
#define LOSS                                                                                       \
    "end_reason <> '' AND end_reason <> 'run ended' AND end_reason <> 'stopped' AND"               \
    " end_reason <> 'stage done' AND end_reason <> 'done' AND end_reason <> 'system over' AND"     \
    " end_reason <> 'too old' AND end_reason <> 'another version'"
#define RENEWED ENDS("end_reason IN ('too old', 'another version')")
#define MEAN(what)                                                                                 \
    "(SELECT sum((" what ") * dt_s) / sum(dt_s) FROM cluster_sample"                               \
    " WHERE run_id = :run AND t_s >= :from)"
#define GPUS                                                                                       \
    "(SELECT total(gpu_capacity) FROM cluster_sample WHERE run_id = :run AND t_s >="               \
    " :from) > 0"
#define HELD(d) MEAN(d "_assigned") " / " MEAN(d "_capacity")
#define USED(d) MEAN(d "_active") " / " MEAN(d "_capacity")
/* Which part of what the nodes have is up: node by node. */
#define UP_OF(amount)                                                                              \
    "(SELECT total(x.up * x.dt_s * " amount ") FROM node_sample x JOIN node n USING (run_id, "     \
    "node) WHERE run_id = :run AND x.t_s >= :from) / " SPAN " / (SELECT sum(" amount               \
    ") FROM node n WHERE run_id = :run)"
#define DEVICE                                                                                     \
    "SELECT iif(" GPUS ", 'GPU', 'CPU') AS device, iif(" GPUS                                      \
    ", " HELD("gpu") ", " HELD("cpu") ") AS held, iif(" GPUS ", " USED("gpu") ", " USED(           \
        "cpu") ") AS used, " UP_OF("iif(" GPUS ", n.gpus, n.cpus)") " AS up"
#define WAITING                                                                                    \
    "(SELECT sum(waiting * dt_s) / (SELECT sum(dt_s) FROM cluster_sample WHERE"                    \
    " run_id = :run AND t_s >= :from) FROM job_sample WHERE run_id = :run AND t_s"                 \
    " >= :from)"
#define IS_JOBS "(SELECT count(*) FROM stage WHERE run_id = :run) = 0 AND " SPAN " NOT NULL"
#define HAS_EVENT(kinds)                                                                           \
    "EXISTS (SELECT 1 FROM happening h WHERE h.run_id = :run AND h.target = n.name AND h.kind IN " \
    "(" kinds "))"
#define UPS "node_sample x WHERE x.run_id = n.run_id AND x.node = n.node AND x.t_s >= :from"
#define NODE                                                                                       \
    "SELECT n.node, n.name, (SELECT sum(x.gpu_active * x.dt_s) / nullif(sum(n.gpus * x.up"         \
    " * x.dt_s), 0) FROM " UPS ") AS used, (SELECT min(up) FROM " UPS ") AS up, " HAS_EVENT(       \
        "'node_came', 'node_released', 'node_reclaimed'") " OR ((SELECT max(up) FROM " UPS         \
                                                          ") = 0 AND " VALUE(                      \
                                                              "as.nodes") " NOT NULL) AS "         \
                                                                          "goes, " HAS_EVENT(      \
                                                                              "'no"                \
                                                                              "de_"                \
                                                                              "fai"                \
                                                                              "l',"                \
                                                                              " '"                 \
                                                                              "nod"                \
                                                                              "e_"                 \
                                                                              "dow"                \
                                                                              "n'") " AS falls "   \
                                                                                    "FROM node n " \
                                                                                    "WHERE "       \
                                                                                    "n.run_id = "  \
                                                                                    ":run AND "    \
                                                                                    "n.gpus > 0"   \
                                                                                    " AND " SPAN   \
                                                                                    " NOT NULL"
#define NODES(columns)                                                                             \
    "WITH n AS (" NODE "), h AS (SELECT count(used) AS nodes, min(used) AS low,"                   \
    " max(used) AS high, count(iif(up < 0.99 AND (falls OR NOT goes), 1, NULL)) AS down,"          \
    " count(iif(up < 0.99 AND goes, 1, NULL)) AS away, count(iif(used IS NULL, 1, NULL)) AS"       \
    " never FROM n) SELECT " columns " FROM h"
/* Nodes that are there at each change, node by node: by its last change until then, its next one,
 * or its samples. */
#define CHANGES                                                                                    \
    "happening h WHERE h.run_id = :run AND h.kind IN ('node_came', 'node_released',"               \
    " 'node_reclaimed')"
#define SUPPLY                                                                                     \
    "WITH g AS (SELECT DISTINCT type FROM node n JOIN happening h ON h.target = n.name AND"        \
    " h.run_id = n.run_id WHERE n.run_id = :run AND (h.kind = 'node_requested' OR h.kind ="        \
    " 'node_released' OR h.kind = 'node_reclaimed')), t AS (SELECT :from AS t UNION SELECT t_s"    \
    " FROM " CHANGES " AND t_s > :from), k AS (SELECT t, coalesce((SELECT min(z.t) FROM t z WHERE" \
    " z.t > t.t), (SELECT end_s FROM run WHERE run_id = :run)) - t AS span, (SELECT count(*) FROM" \
    " node d WHERE d.run_id = :run AND d.type IN g AND coalesce((SELECT h.kind = 'node_came' FROM" \
    " " CHANGES " AND target = d.name AND t_s <= t ORDER BY t_s DESC, rowid DESC LIMIT 1),"        \
    " (SELECT h.kind <> 'node_came' FROM " CHANGES " AND target = d.name ORDER BY t_s, rowid"      \
    " LIMIT 1), (SELECT max(up) > 0 FROM node_sample s WHERE s.run_id = :run AND s.node = d.node"  \
    "))) AS there FROM t) SELECT (SELECT count(*) FROM g) AS groups, (SELECT max(type) FROM g) AS" \
    " nodes, total(there * span) / sum(span) AS there, min(there) AS least, max(there) AS most,"   \
    " (SELECT count(*) FROM " CHANGES                                                              \
    " AND h.kind = 'node_reclaimed' AND h.t_s >= :from) AS taken"                                  \
    " FROM k WHERE span > 0 HAVING (SELECT count(*) FROM g) "
#define FREE                                                                                                              \
    "WITH p AS (SELECT " MEAN("gpu_capacity") " AS gpus, " MEAN(                                                          \
        "gpu_capacity - gpu_assigned") " AS free, coalesce(" VALUE("frag.gpu.fgd") ", " MEAN("fra"                        \
                                                                                             "g_"                         \
                                                                                             "gp"                         \
                                                                                             "u") ") AS lost WHERE " GPUS \
                                                                                                  ")"
/* Latencies: means of replications by variant, without those that ended early. */
#define LIVES                                                                                      \
    "(SELECT count(*) FROM run e WHERE e.variant = r.variant AND e.status ="                       \
    " 'ended early') = 0"
#define PERCENTILE(m)                                                                              \
    "(SELECT avg(value) FROM result x JOIN run q USING (run_id) WHERE"                             \
    " q.variant = r.variant AND x.metric = '" m "' AND x.label = '' AND value > 0)"
#define BOUNDED                                                                                    \
    "(SELECT max(is_lower_bound) FROM result x JOIN run q USING (run_id) WHERE"                    \
    " q.variant = r.variant AND x.metric = 'lat.e2e.p95' AND x.label = '')"
#define LATENCY                                                                                    \
    "WITH l AS (SELECT r.variant, min(r.variant_order) AS place, " PERCENTILE(                     \
        "lat.e2e.p50") " AS p50, " PERCENTILE("lat.e2e.p95") " AS p95, " BOUNDED                   \
                                                             " AS is_bound FROM run r "            \
                                                             "WHERE " LIVES                        \
                                                             " GROUP BY r.variant),"               \
                                                             " k AS (SELECT * FROM l WHERE p50 "   \
                                                             "NOT NULL AND p95 NOT NULL)"
#define JOBS "(SELECT count(*) FROM job_label WHERE run_id = :run) > 0"

#define IS_FILL VALUE("unalloc.gpu_pct") " NOT NULL"
#define FIRST   "variant_order = (SELECT min(variant_order) FROM run)"
/* Of each variant the longest mean wait of a label, means of replications. */
#define WAITS                                                                                      \
    "WITH w AS (SELECT run_id, label, avg(first_start_s - submit_s) AS wait FROM job"              \
    " WHERE first_start_s NOT NULL GROUP BY run_id, label), l AS (SELECT r.variant,"               \
    " min(r.variant_order) AS place, label, avg(wait) AS wait FROM w JOIN run r"                   \
    " USING (run_id) WHERE " LIVES " GROUP BY r.variant, label), v AS (SELECT"                     \
    " variant, place, max(wait) AS longest FROM l GROUP BY variant) "

/* The baseline's run of the same replication; none of the baseline itself, nor where one ended
 * early. */
#define OLD                                                                                        \
    "(SELECT b.run_id FROM run b, run r WHERE r.run_id = :run AND b.replication = r.replication"   \
    " AND b.run_id <> r.run_id AND b.variant = (SELECT baseline FROM experiment) AND"              \
    " 'ended early' NOT IN (b.status, r.status))"
#define IN_STAGE(what)                                                                             \
    "(SELECT " what " FROM stage_sample x WHERE x.run_id = g.run_id AND x.stage = g.stage"         \
    " AND x.t_s >= :from)"
#define SIDES                                                                                      \
    "WITH s AS (SELECT run_id, name, pipeline, " IN_STAGE(                                         \
        "sum(x.is_bottleneck * x.dt_s) / "                                                         \
        "sum(x.dt_s)") " AS share, " IN_STAGE("sum(x.workers * "                                   \
                                              "x.dt_s) / "                                         \
                                              "sum(x.dt_s)") " "                                   \
                                                             "AS workers, " IN_STAGE(              \
                                                                 "sum(x.tasks_done) / "            \
                                                                 "nullif(sum(x.busy * x.dt_s), "   \
                                                                 "0)") " AS pace "                 \
                                                                       "FROM stage g WHERE "       \
                                                                       "run_id IN (:run, " OLD     \
                                                                       "))"
#define MORE(a)                                                                                    \
    "EXISTS (SELECT 1 FROM s b WHERE b.run_id = " a ".run_id AND (b.share > " a                    \
    ".share OR (b.share = " a ".share AND b.name < " a ".name)))"
#define SHARE_OF(d)                                                                                \
    "SELECT run_id, '" d "' AS device, total(" d "_assigned * dt_s) / nullif(total(" d             \
    "_capacity * dt_s), 0) AS held FROM cluster_sample WHERE t_s >= :from GROUP BY run_id"
#define MORE_HELD(a)                                                                               \
    "EXISTS (SELECT 1 FROM d b WHERE b.run_id = " a ".run_id AND (b.held > " a                     \
    ".held OR (b.held = " a ".held AND b.device < " a ".device)))"

static const struct claim_truth truths[] = {
    { "change.limit",
      SIDES " SELECT a.name AS before, z.name AS after, x.value AS base, y.value AS done,"
            " a.workers AS had, m.workers AS has, a.pace AS old_pace, m.pace AS new_pace"
            " FROM s a, s z, result x, result y LEFT JOIN s m ON m.run_id = :run AND"
            " m.name = a.name AND m.pipeline = a.pipeline WHERE a.run_id = " OLD
            " AND z.run_id = :run AND x.run_id = a.run_id AND y.run_id = :run AND"
            " x.metric = 'thr.pipeline' AND y.metric = x.metric AND x.label = '' AND y.label = ''"
            " AND a.share >= 0.5 AND z.share >= 0.5 AND abs(y.value - x.value) >= 0.02 * x.value"
            " AND NOT " MORE("a") " AND NOT " MORE("z") },
    { "change.device",
      "WITH d AS (" SHARE_OF("cpu") " UNION ALL " SHARE_OF("gpu") " UNION ALL " SHARE_OF(
          "nvdec") " UNION ALL " SHARE_OF("nvenc") ")"
                                                   " SELECT a.device AS old_device, z.device AS "
                                                   "new_device, a.held AS old_held, z.held AS"
                                                   " new_held FROM d a, d z WHERE a.run_id = " OLD
                                                   " AND z.run_id = :run AND a.held >= 0.95"
                                                   " AND z.held >= 0.95 AND NOT " MORE_HELD(
                                                       "a") " AND NOT " MORE_HELD("z") },
    { "workers.lost",
      "SELECT " ENDS("1") " AS started, " ENDS("end_reason = 'stopped'") " AS stopped, " ENDS(
          LOSS) " AS lost, " RENEWED
                " AS renewed, " ENDS(
                    "end_reason IN ('stage done', 'done', 'system over')") " AS done "
                                                                           "WHERE " ENDS(
                                                                               LOSS) " > 0" },
    { "workers.still", "SELECT " ENDS("1") " AS started WHERE " ENDS("1") " > 0 AND " ENDS(
                           "created_s > " BEGIN) " = 0 AND " BEGIN " <= 0.01 * " LAST
                                                 " AND " ENDS(LOSS) " + " RENEWED " + " ENDS(
                                                     "end_reason = 'stopped'") " = 0" },
    { "workers.changes",
      "SELECT " ENDS("1") " AS started, " ENDS(
          "end_reason = 'stopped'") " AS stopped, " RENEWED
                                    " AS renewed, " VALUE("worker.churn") " AS churn WHERE " ENDS(
                                        LOSS) " = 0 AND "
                                              "(" ENDS("created_s > " BEGIN
                                                       " OR end_reason IN ('stopped', 'too old', "
                                                       "'another version')") " > "
                                                                             "0 "
                                                                             "OR"
                                                                             " " BEGIN " > "
                                                                             "0."
                                                                             "01 "
                                                                             "*"
                                                                             " " LAST ")" },
    { "flow.nothing", "SELECT 0 AS items WHERE " HAS_STAGES " AND (SELECT sum(items_done) FROM"
                      " cluster_sample WHERE run_id = :run) = 0" },
    { "flow.piles_up",
      "SELECT " DONE " AS done, " ITEMS(
          "items_arrived") " / " SPAN " AS arrived"
                           " WHERE " HAS_STAGES " AND " ARRIVES " AND " DONE
                           " + " ITEMS("items_left") " / " SPAN " < 0.97 * " ITEMS(
                               "items_arrived") " / " SPAN
                                                " AND " ITEMS("items_arrived - items_done - "
                                                              "items_left") " >= 10 AND " DONE
                                                                            " > 0 AND " STATUS
                                                                            " <> 'ended early'" },
    { "flow.lost",
      "SELECT " DONE " AS done, " ITEMS("items_left") " / " SPAN " AS lost, " ITEMS(
          "items_arrived") " / " SPAN " AS arrived WHERE " HAS_STAGES " AND " ARRIVES
                           " AND " ITEMS("items_left") " > 0.03 * " ITEMS(
                               "items_"
                               "arrived") " AND " ITEMS("items_left") " >= 10 AND (" DONE
                                                                      " + " ITEMS(
                                                                          "items_left") " / " SPAN
                                                                                        " >= 0.97 "
                                                                                        "* " ITEMS("items_arrived") " / " SPAN " OR " ITEMS(
                                                                                            "items_"
                                                                                            "arrive"
                                                                                            "d - "
                                                                                            "items_"
                                                                                            "done "
                                                                                            "- "
                                                                                            "items_"
                                                                                            "left") " <"
                                                                                                    " 1"
                                                                                                    "0)"
                                                                                                    " A"
                                                                                                    "ND"
                                                                                                    " " DONE
                                                                                                    " >"
                                                                                                    " 0"
                                                                                                    " A"
                                                                                                    "ND"
                                                                                                    " " STATUS
                                                                                                    " <"
                                                                                                    "> "
                                                                                                    "'e"
                                                                                                    "nd"
                                                                                                    "ed"
                                                                                                    " e"
                                                                                                    "ar"
                                                                                                    "ly"
                                                                                                    "'" },
    { "flow.keeps_up", "SELECT " DONE " AS done WHERE " HAS_STAGES " AND " KEEPS_UP " AND " DONE
                       " > 0 AND " STATUS " <> 'ended early'" },
    { "flow.rate", "SELECT " DONE " AS done WHERE " HAS_STAGES " AND " DONE " > 0" },
    { "limit.stage",
      STAGE(SHARE ", " AT_WORK) " SELECT name AS stage, share, at_work AS busy FROM s"
                                " a WHERE share >= 0.5 AND at_work >= 0.8 AND NOT " T_TURNS
                                " AND " ONE_PIPE " AND NOT " IN_STEP " AND " STATUS
                                " <> 'ended early' AND NOT EXISTS (SELECT 1 FROM s b WHERE "
                                "b.at_work >= 0.8 AND (b.share >"
                                " a.share OR (b.share = a.share AND b.stage < a.stage)))" },
    { "limit.arrivals",
      STAGE(SHARE ", " BUSY
                  ", " MATES) " SELECT name AS stage, busy, mates FROM s a WHERE " IN_STEP
                              " AND share > 0 AND " ONE_PIPE
                              " AND NOT EXISTS (SELECT 1 FROM s b WHERE b.busy >= 0.95)"
                              " AND NOT EXISTS (SELECT 1 FROM s b WHERE b.share > a.share OR "
                              "(b.share = a.share AND"
                              " b.stage < a.stage)) AND " STATUS " <> 'ended early'" },
    { "limit.pipelines",
      STAGE(
          SHARE
          ", " MATES) " SELECT name AS stage, pipeline, share FROM s a WHERE NOT " ONE_PIPE
                      " AND share >= 0.0005 AND mates > 1 AND NOT EXISTS (SELECT 1 FROM s b WHERE "
                      "b.mates > 1 AND (b.share > a.share OR (b.share = a.share AND b.stage < "
                      "a.stage))) AND EXISTS (SELECT 1 FROM s b WHERE b.pipeline <> a.pipeline AND "
                      "b.mates > 1 AND b.share >= 0.0005)" },
    { "limit.slowest",
      STAGE(SHARE ", " BUSY
                  ", " MATES) " SELECT name AS stage, share, busy FROM s a WHERE share"
                              " >= 0.0005 AND mates > 1 AND NOT " T_TURNS
                              " AND NOT EXISTS (SELECT 1 FROM s b WHERE b.mates > 1 AND (b.share > "
                              "a.share OR (b.share = a.share AND b.stage < a.stage)))" },
    { "limit.room", STAGE(SHARE ", " AT_WORK) " SELECT name AS stage, gpus AS worker, " MEAN(
                        "gpu_capacity - gpu_assigned") " AS free FROM s WHERE share >= 0.5 AND "
                                                       "at_work >= 0.8 AND"
                                                       " gpus > 0 AND NOT " T_TURNS " AND " ONE_PIPE
                                                       " AND NOT " IN_STEP " AND " STATUS
                                                       " <> 'ended early' AND " MEAN(
                                                           "gpu_capacity - gpu_assigned - "
                                                           "frag_gpu") " >= gpus ORDER BY "
                                                                       "share DESC LIMIT 1" },
    { "run.grows", "SELECT end_s AS 'end' FROM run WHERE run_id = :run AND status = 'horizon' AND"
                   " NOT is_steady" },
    { "queue.none", STAGE(QUEUE) " SELECT max(most) AS most FROM s HAVING max(most) < 1" },
    { "queue.held", STAGE(QUEUE ", " OF("x.is_backpressured") " / " OF(
                        "1") " AS held") ", a AS (SELECT * FROM s ORDER BY queue DESC, stage "
                                         "LIMIT 1), h AS (SELECT * FROM s ORDER BY"
                                         " held DESC, stage LIMIT 1) SELECT a.name AS stage, "
                                         "a.queue AS queue, h.name AS held_stage,"
                                         " h.held AS held FROM a, h WHERE h.held > 0.05 AND "
                                         "a.name <> h.name AND (SELECT max(most)"
                                         " FROM s) >= 1" },
    { "queue.longest", STAGE(QUEUE) " SELECT name AS stage, queue, most FROM s a WHERE (SELECT"
                                    " max(most) FROM s) >= 1 AND NOT EXISTS (SELECT 1 FROM s b "
                                    "WHERE b.queue > a.queue OR"
                                    " (b.queue = a.queue AND b.stage < a.stage))" },
    /* Windows over the variants, where the claim groups. */
    { "families.rules",
      "WITH m AS (SELECT r.variant AS v, min(r.variant_order) AS place, avg(x.value) * iif(x.metric"
      " = 'pack.density', 100, 1) AS value FROM result x JOIN run r USING (run_id) WHERE x.label ="
      " '' AND (r.variant || ' ' GLOB r.placement || ' *' OR r.variant || ' ' GLOB r.scaling || ' "
      "*')"
      " AND x.value NOT NULL AND x.metric = CASE WHEN EXISTS (SELECT 1 FROM result WHERE metric"
      " = 'alloc.gpu_pct' AND label = '' AND value NOT NULL) THEN 'alloc.gpu_pct' WHEN EXISTS"
      " (SELECT 1 FROM result WHERE metric = 'pack.density' AND label = '' AND value NOT NULL) THEN"
      " 'pack.density' ELSE 'thr.pipeline' END GROUP BY r.variant), f AS (SELECT *, CASE WHEN"
      " instr(v, ' ') > 0 THEN substr(v, 1, instr(v, ' ') - 1) ELSE v END AS family FROM m), g AS"
      " (SELECT DISTINCT family, max(value) OVER w - min(value) OVER w AS inside, "
      "first_value(value)"
      " OVER (PARTITION BY family ORDER BY place, v) AS first, min(place) OVER w AS place, count(*)"
      " OVER w AS size FROM f WINDOW w AS (PARTITION BY family)) SELECT family, inside, (SELECT"
      " max(first) - min(first) FROM g) AS choice FROM g WHERE (SELECT max(size) FROM g) > 1 ORDER"
      " BY inside DESC, place LIMIT 1" },
    { "workers.idle",
      STAGE(BUSY ", " HELD_UP) " SELECT max(busy) AS busy FROM s WHERE " SETUP
                               " < 0.5 HAVING max(busy) < 0.005 AND max(blocked) < 0.1" },
    { "workers.blocked",
      STAGE(BUSY ", " HELD_UP) " SELECT name AS stage, blocked FROM s a WHERE "
                               "blocked >= 0.1 AND NOT EXISTS (SELECT 1 FROM s b WHERE b.busy >= "
                               "0.005 OR b.blocked > "
                               "a.blocked OR (b.blocked = a.blocked AND b.stage < a.stage))" },
    { "workers.setup",
      STAGE(BUSY) " SELECT max(busy) AS busy, " SETUP " AS setup FROM s WHERE " SETUP
                  " >= 0.5 HAVING max(busy) < 0.005" },
    { "workers.one", STAGE(BUSY) " SELECT min(name) AS stage, busy FROM s GROUP BY 1 = 1 HAVING"
                                 " count(*) = 1 AND busy >= 0.005" },
    { "workers.busiest",
      STAGE(
          BUSY
          ", " PRESSED) " SELECT a.name AS stage, a.busy AS busy, z.name AS idlest,"
                        " z.busy AS least, z.held AS held FROM s a JOIN s z ON a.stage <> z.stage "
                        "WHERE a.busy >= "
                        "0.005 AND NOT EXISTS"
                        " (SELECT 1 FROM s b WHERE b.busy > a.busy OR (b.busy = a.busy AND b.stage "
                        "< "
                        "a.stage)) AND NOT"
                        " EXISTS (SELECT 1 FROM s b WHERE b.busy < z.busy OR (b.busy = z.busy AND "
                        "b.stage < z.stage))" },
    { "use.unassigned", "SELECT device, held, up FROM (" DEVICE ") WHERE held < 0.5" },
    { "use.jobs_wait", "SELECT device, held, up, " WAITING " AS waiting FROM (" DEVICE
                       ") WHERE " IS_JOBS " AND " WAITING " >= 1" },
    { "use.jobs", "SELECT device, held, up FROM (" DEVICE ") WHERE " IS_JOBS " AND held > 0" },
    { "use.idle", "SELECT device, held, used, up FROM (" DEVICE ") WHERE " HAS_STAGES
                  " AND held > 0 AND 1 - used / held >= 0.25" },
    { "use.well", "SELECT device, held, used, up FROM (" DEVICE ") WHERE " HAS_STAGES
                  " AND used / held > 0.75 AND used >= 0.7 AND (SELECT count(*) FROM meta WHERE"
                  " key = 'windows') = 0" },
    { "use.shares",
      "SELECT device, held, used, up FROM (" DEVICE ") WHERE " HAS_STAGES " AND held > 0" },
    { "nodes.one",
      NODES(
          "(SELECT max(name) FROM n WHERE used NOT NULL) AS node, high, down, away") " WHERE nodes "
                                                                                     "= 1" },
    { "nodes.uneven",
      NODES("nodes, low, high, down, away, never") " WHERE nodes > 1 AND high > low + 0.1" },
    { "nodes.even",
      NODES("nodes, low, high, down, away, never") " WHERE nodes > 1 AND high <= low + 0.1" },
    { "supply.group", SUPPLY "= 1" },
    { "supply.groups", SUPPLY "> 1" },
    { "free.hardly", FREE " SELECT gpus, free FROM p WHERE free / gpus < 0.05" },
    { "free.whole",
      FREE " SELECT gpus, free, lost FROM p WHERE free / gpus >= 0.05 AND lost < 0.005" },
    { "free.lost",
      FREE " SELECT gpus, free, lost FROM p WHERE free / gpus >= 0.05 AND lost >= 0.005" },
    { "jobs.none_done",
      "SELECT " VALUE("jobs.arrived") " AS arrived WHERE (SELECT count(*) FROM job"
                                      " WHERE run_id = :run) > 0 AND (SELECT count(*) FROM job "
                                      "WHERE run_id = :run AND outcome ="
                                      " 'done') = 0 AND (SELECT count(*) FROM job WHERE run_id "
                                      "= :run AND outcome <> 'refused') > 0" },
    { "jobs.all_refused",
      "SELECT count(*) AS arrived FROM job WHERE run_id = :run HAVING count(*) > 0"
      " AND count(*) = count(iif(outcome = 'refused', 1, NULL))" },
    { "jobs.rate",
      "SELECT 3600.0 * count(iif(outcome = 'done', 1, NULL)) / (SELECT end_s FROM run"
      " WHERE run_id = :run) AS rate, " VALUE(
          "wait.job.p95") " AS wait FROM job WHERE run_id = :run"
                          " HAVING count(iif(outcome = 'done', 1, NULL)) > 0 AND (SELECT "
                          "count(*) FROM stage WHERE run_id"
                          " = :run) = 0 AND " STATUS
                          " <> 'ended early' AND (SELECT count(*) FROM workload WHERE run_id ="
                          " :run) = 1" },
    { "jobs.hardly_wait", "SELECT " WAITING " AS waiting, " UP_OF(
                              "n.gpus") " AS up WHERE " JOBS " AND " WAITING " < 0.05" },
    { "jobs.wait", "SELECT " WAITING " AS waiting, " UP_OF("n.gpus") " AS up WHERE " JOBS
                                                                     " AND " WAITING " >= 0.05" },
    { "latency.two", LATENCY
      " SELECT a.variant AS variant, a.p95 AS p95, z.variant AS other, z.p95 AS"
      " other_p95 FROM k a, k z WHERE a.p95 = (SELECT min(p95) FROM k) AND z.p95 = (SELECT "
      "max(p95)"
      " FROM k) AND a.p95 < z.p95 AND NOT EXISTS (SELECT 1 FROM k WHERE p95 = a.p95 AND place <"
      " a.place) AND NOT EXISTS (SELECT 1 FROM k WHERE p95 = z.p95 AND place > z.place)" },
    { "latency.one",
      LATENCY " SELECT p50, p95, is_bound FROM k WHERE (SELECT max(p95) = min(p95) FROM"
              " k) ORDER BY place LIMIT 1" },
    { "fill.rate",
      "SELECT 100 - " VALUE(
          "unalloc.gpu_pct") " AS pct, (SELECT b.value - 100 + u.value"
                             " FROM result b JOIN result u USING (run_id, label) WHERE run_id "
                             "= :run AND b.metric ="
                             " 'alloc.bound_pct' AND u.metric = 'unalloc.gpu_pct' AND label = "
                             "'100 % arrived') AS gap WHERE " IS_FILL },
    { "fill.unallocated",
      "WITH m AS (SELECT metric, avg(value) AS pct FROM result JOIN run USING"
      " (run_id) WHERE variant = (SELECT variant FROM run WHERE run_id = :run) AND label = '' "
      "GROUP BY"
      " metric) SELECT 100 - (SELECT pct FROM m WHERE metric = 'alloc.gpu_pct') AS 'all',"
      " (SELECT nullif(max(pct), 0) FROM m WHERE metric LIKE 'unalloc.%_pct' AND metric <>"
      " 'unalloc.gpu_pct') AS part WHERE " IS_FILL },
    { "fill.placed",
      "WITH c AS (SELECT label, sum(value) AS came FROM result JOIN run USING (run_id)"
      " WHERE metric = 'jobs.arrived' AND " FIRST
      " GROUP BY label), f AS (SELECT label, sum(value) AS"
      " gone FROM result JOIN run USING (run_id) WHERE metric = 'jobs.failed' AND " FIRST
      " GROUP BY"
      " label) SELECT min(1 - gone / came) AS least, (SELECT 1 - gone / came FROM c JOIN f "
      "USING"
      " (label) WHERE label = '') AS 'all' FROM c JOIN f USING (label) WHERE label <> '' "
      "HAVING " IS_FILL },
    { "fill.curve",
      "WITH p AS (SELECT min(pct) AS pct FROM (SELECT max(arrived_pct) AS pct FROM arrival_sample"
      " GROUP BY run_id)), q AS (SELECT max(pct) AS pct FROM (SELECT min(s.last) AS pct FROM"
      " (SELECT max(iif(x.alloc_gpu_pct NOT NULL, arrived_pct, -1)) AS last, r.variant FROM"
      " arrival_sample x JOIN run r USING (run_id) JOIN p ON arrived_pct <= p.pct GROUP BY"
      " r.variant) s)), e AS (SELECT r.variant, avg(s.alloc_gpu_pct) AS got FROM arrival_sample s"
      " JOIN run r USING (run_id) WHERE arrived_pct = (SELECT pct FROM q) AND"
      " s.alloc_gpu_pct NOT NULL GROUP BY r.variant) SELECT 100 - max(got) AS least,"
      " 100 - min(got) AS most FROM e HAVING count(*) > 0" },
    { "fill.bound",
      "WITH g AS (SELECT variant, avg(b.value - 100 + u.value) AS gap FROM result b JOIN"
      " result u USING (run_id, label) JOIN run USING (run_id) WHERE b.metric = "
      "'alloc.bound_pct' AND"
      " u.metric = 'unalloc.gpu_pct' AND label = iif((SELECT min(n) FROM (SELECT count(*) AS n FROM"
      " result WHERE metric = 'alloc.gap_pp' AND value NOT NULL GROUP BY run_id)) > 1,"
      " '100 % arrived', '') GROUP BY variant) SELECT min(gap) AS least, "
      "max(gap) AS most"
      " FROM g HAVING count(*) > 0" },
    { "waits.none", WAITS "SELECT max(longest) AS wait FROM v HAVING max(longest) <= 0" },
    { "waits.two",
      WAITS ", o AS (SELECT max(longest) AS high, min(longest) AS low FROM v WHERE place >"
            " (SELECT min(place) FROM v)) SELECT b.longest AS wait,"
            " iif(high - b.longest > b.longest - low, high, low) AS other_wait FROM v b, o"
            " WHERE place = (SELECT min(place) FROM v) AND (SELECT count(*)"
            " FROM v) > 1 AND (SELECT max(longest) FROM v) > 0" },
    { "waits.longest",
      WAITS "SELECT longest AS wait FROM v WHERE place = (SELECT min(place) FROM v) AND"
            " longest > 0" },
    { "tile.gap", "SELECT b.value - 100 + u.value AS gap FROM result b JOIN result u USING (run_id,"
                  " label) WHERE run_id = :run AND b.metric = 'alloc.bound_pct' AND u.metric = "
                  "'unalloc.gpu_pct'"
                  " AND label = '100 % arrived'" },
    { "tile.fill_fragments",
      "SELECT 100.0 * " VALUE("frag.gpu.fgd") " / (SELECT sum(gpus) FROM node"
                                              " WHERE run_id = :run) AS pct WHERE " IS_FILL },
    { "families.rules",
      "WITH m AS (SELECT variant, min(variant_order) AS place, avg(value) AS value"
      " FROM result JOIN run USING (run_id) WHERE metric = 'thr.pipeline' AND label = '' AND"
      " (variant || ' ' GLOB placement || ' *' OR variant || ' ' GLOB scaling || ' *') GROUP BY"
      " variant), f AS (SELECT CASE WHEN instr(variant, ' ') THEN substr(variant, 1, instr(variant,"
      " ' ') - 1) ELSE variant END AS family, value, place FROM m), g AS (SELECT family, "
      "max(value) -"
      " min(value) AS inside, count(*) AS n FROM f GROUP BY family), h AS (SELECT value FROM f a "
      "WHERE"
      " NOT EXISTS (SELECT 1 FROM f b WHERE b.family = a.family AND b.place < a.place)) SELECT "
      "inside,"
      " (SELECT max(value) - min(value) FROM h) AS choice FROM g WHERE (SELECT max(n) FROM g) > 1 "
      "AND"
      " NOT EXISTS (SELECT 1 FROM result WHERE metric IN ('alloc.gpu_pct', 'pack.density')) AND "
      "inside"
      " = (SELECT max(inside) FROM g) LIMIT 1" },
    { "moment.held",
      "SELECT total(gpu_amount) AS held, (SELECT sum(gpus) FROM node WHERE run_id = :run)"
      " AS gpus FROM worker WHERE run_id = :run AND created_s <= :at AND coalesce(ended_s, "
      "1e300) > :at"
      " HAVING total(gpu_amount) > 0" },
    { "tile.throughput", "SELECT " DONE " AS done WHERE " HAS_STAGES " AND " SPAN " > 0" },
    { "tile.device",
      "SELECT device, held, used, up FROM (" DEVICE ") WHERE " HAS_STAGES " AND " SPAN " > 0" },
    { "tile.slowest",
      STAGE(SHARE ", " BUSY
                  ", " MATES) " SELECT name AS stage, share, busy FROM s a WHERE share"
                              " >= 0.0005 AND mates > 1 AND NOT " T_TURNS
                              " AND NOT EXISTS (SELECT 1 FROM s b WHERE b.mates > 1 AND (b.share > "
                              "a.share OR (b.share = a.share AND b.stage < a.stage)))" },
    { "tile.fragments",
      FREE " SELECT free, lost FROM p WHERE " HAS_STAGES " AND free / gpus >= 0.05" },
    { "tile.jobs_done",
      "SELECT count(iif(outcome = 'done', 1, NULL)) AS done, count(*) AS arrived FROM"
      " job WHERE run_id = :run HAVING count(*) > 0 AND (SELECT count(*) FROM workload WHERE "
      "run_id ="
      " :run) = 1" },
    { "tile.accepted",
      "SELECT 1.0 - 1.0 * count(iif(outcome = 'refused', 1, NULL)) / count(*) AS"
      " accepted, count(iif(outcome = 'refused', 1, NULL)) AS refused FROM job WHERE run_id = "
      ":run"
      " HAVING count(*) > 0 AND (SELECT count(*) FROM workload WHERE run_id = :run) = 1" },
    { "tile.time_accepted",
      "SELECT accepted, accepted + gap / 100 AS most FROM (SELECT " VALUE(
          "jobs.gpu_time_accepted") " AS accepted, " VALUE("jobs.gpu_time_gap") " AS gap) WHERE"
                                                                                " gap IS NOT "
                                                                                "NULL" },
    { "tile.held", "SELECT held, up FROM (" DEVICE ") WHERE " IS_JOBS " AND " GPUS },
    { "tile.wait",
      "SELECT avg(first_start_s - submit_s) AS mean FROM job WHERE run_id = :run AND"
      " first_start_s NOT NULL HAVING count(*) > 0 AND (SELECT count(*) FROM workload WHERE "
      "run_id ="
      " :run) = 1" },
    { "tile.allocated", "SELECT 100 - " VALUE("unalloc.gpu_pct") " AS pct WHERE " IS_FILL },
    { "tile.failed",
      "SELECT " VALUE("jobs.arrived") " - " VALUE("jobs.placed") " AS failed WHERE " IS_FILL },
#include "tests/support/claim_truths_incident.h"
#include "tests/support/claim_truths_machine.h"
#include "tests/support/claim_truths_waits.h"
};

const struct claim_truth *claim_truth_of(const char *name)
{
    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++)
        if (strcmp(truths[i].name, name) == 0)
            return &truths[i];
    return NULL;
}
