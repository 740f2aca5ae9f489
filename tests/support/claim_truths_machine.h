/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about what the machine delivered recomputed, included in the middle of a table: a sum for
 * each link and node by itself, none greater by NOT EXISTS.
 */
#define T_LINK(what)                                                                               \
    "(SELECT " what " FROM link_sample x WHERE x.run_id = l.run_id AND x.link = l.link)"
/* Samples that are full are those that lack less than a hundredth. */
#define T_LINKS                                                                                       \
    "WITH k AS (SELECT l.link, l.name, substr(l.kind, 1, 3) AS kind,"                                 \
    " " T_LINK(                                                                                       \
        "avg(capacity_bytes_per_s * dt_s) / avg(dt_s)") " AS most,"                                   \
                                                        " " T_LINK(                                   \
                                                            "avg(delivered_bytes_per_s * dt_s) / "    \
                                                            "avg(dt_s)") " AS mean,"                  \
                                                                         " " T_LINK(                  \
                                                                             "total(iif(capacity_"    \
                                                                             "bytes_per_s > 0 "       \
                                                                             "AND "                   \
                                                                             "capacity_bytes_per_"    \
                                                                             "s"                      \
                                                                             " - "                    \
                                                                             "delivered_bytes_"       \
                                                                             "per_s <= 0.01 * "       \
                                                                             "capacity_bytes_per_"    \
                                                                             "s, dt_s, 0)) / "        \
                                                                             "sum(dt_s)") " AS v "    \
                                                                                          "FROM "     \
                                                                                          "link "     \
                                                                                          "l "        \
                                                                                          "WHERE "    \
                                                                                          "run_"      \
                                                                                          "id = "     \
                                                                                          ":run "     \
                                                                                          "AND"       \
                                                                                          " " T_LINK( \
                                                                                              "co"    \
                                                                                              "un"    \
                                                                                              "t("    \
                                                                                              "*"     \
                                                                                              ")") " > 0)"
#define T_NODE(table, what)                                                                        \
    "(SELECT " what " FROM " table " x WHERE x.run_id = n.run_id AND x.node = n.node)"
#define T_MEMORY                                                                                   \
    "WITH m AS (SELECT n.node, n.name, ram_limit_bytes AS cap, " T_NODE(                           \
        "memory_sample",                                                                           \
        "max(in_use_max_bytes)") " AS most, " T_NODE("memory_sample",                              \
                                                     "total(spilled_bytes)") " AS gone, (SELECT "  \
                                                                             "count(*) FROM "      \
                                                                             "happening WHERE "    \
                                                                             "run_id = :run"       \
                                                                             " AND kind = 'oom' "  \
                                                                             "AND target = "       \
                                                                             "n.name) AS dead "    \
                                                                             "FROM node n WHERE "  \
                                                                             "run_id = :run "      \
                                                                             "AND " T_NODE(        \
                                                                                 "memory_sample",  \
                                                                                 "count(*)") " > " \
                                                                                             "0)"
#define T_POWER                                                                                                                                                                                                                                                                                                   \
    "WITH p AS (SELECT n.node, n.name, " T_NODE(                                                                                                                                                                                                                                                                  \
        "power_sample",                                                                                                                                                                                                                                                                                           \
        "max(gpu_power_w)") " AS top, " T_NODE("power_sample",                                                                                                                                                                                                                                                    \
                                               "total(gpu_computing * dt_s)") " AS ran, " T_NODE("power_sample",                                                                                                                                                                                                  \
                                                                                                 "total(gpu_delivered * dt_s)") " AS got, " T_NODE("power_sample",                                                                                                                                                \
                                                                                                                                                   "min(cap_w)") " AS cap_w, " T_NODE("power_sample",                                                                                                             \
                                                                                                                                                                                      "max(temperature_max_c)") " AS hottest, " T_NODE("power_sample",                                                            \
                                                                                                                                                                                                                                       "min(cap_w IS NOT NULL)") " AS always FROM node n WHERE run_id = :run AND" \
                                                                                                                                                                                                                                                                 " gpus > 0 AND " T_NODE(                         \
                                                                                                                                                                                                                                                                     "power_sample",                              \
                                                                                                                                                                                                                                                                     "count(*)") " > 0)"
#define T_PACE "(SELECT total(got) / total(ran) FROM p)"

{ "links.full",
  T_LINKS " SELECT CASE kind WHEN 'sto' THEN 'Store' WHEN 'nic' THEN 'Interface' ELSE 'Uplink' END"
          " AS kind, name, v AS 'full', mean, most FROM k a WHERE v > 0 AND NOT EXISTS (SELECT 1"
          " FROM k b WHERE b.v > a.v) ORDER BY mean / most DESC, link LIMIT 1" },
    { "links.free",
      T_LINKS " SELECT name, mean / most AS share FROM k a WHERE NOT EXISTS (SELECT 1 FROM k b"
              " WHERE b.v > 0 OR b.mean / b.most > a.mean / a.most) ORDER BY link LIMIT 1" },
    { "memory.killed",
      T_MEMORY " SELECT (SELECT total(dead) FROM m) AS killed, dead AS here, name FROM m a WHERE"
               " dead > 0 AND NOT EXISTS (SELECT 1 FROM m b WHERE b.dead > a.dead) ORDER BY node"
               " LIMIT 1" },
    { "memory.spilled",
      T_MEMORY " SELECT (SELECT total(gone) FROM m) AS spilled, gone AS here, name FROM m a WHERE"
               " gone > 0 AND NOT EXISTS (SELECT 1 FROM m b WHERE b.dead > 0 OR b.gone > a.gone)"
               " ORDER BY node LIMIT 1" },
    { "memory.suffices",
      T_MEMORY " SELECT name, most, cap AS 'limit' FROM m a WHERE NOT EXISTS (SELECT 1 FROM m b"
               " WHERE b.dead > 0 OR b.gone > 0 OR b.most / ifnull(b.cap, 1) > a.most /"
               " ifnull(a.cap, 1)) ORDER BY node LIMIT 1" },
    { "power.idle",
      T_POWER " SELECT count(*) AS nodes FROM p HAVING count(*) > 0 AND total(ran) <= 0" },
    { "power.free",
      T_POWER " SELECT name, top AS most_w FROM p a WHERE " T_PACE " >= 0.9995 AND NOT EXISTS"
              " (SELECT 1 FROM p b WHERE b.top > a.top) ORDER BY node LIMIT 1" },
    { "power.node",
      T_POWER " SELECT name, got / ran AS speed, cap_w, hottest, always FROM p WHERE got / ran <"
              " 0.9995 AND (SELECT count(*) FROM p) = 1" },
    { "power.nodes",
      T_POWER " SELECT " T_PACE " AS speed, name, got / ran AS worst FROM p a WHERE " T_PACE
              " < 0.9995 AND (SELECT count(*) FROM p) > 1 AND NOT EXISTS (SELECT 1 FROM p b WHERE"
              " b.ran - b.got > a.ran - a.got)" },
    { "tenants.most",
      "WITH g AS (SELECT j.tenant, total(w.gpu_amount * (ifnull(w.ended_s, " LAST ") -"
      " w.created_s)) AS v FROM worker w JOIN job j ON j.run_id = w.run_id AND j.workload ="
      " w.workload AND j.job = w.job WHERE w.run_id = :run AND j.tenant <> '' GROUP BY j.tenant)"
      " SELECT tenant, v / (SELECT total(v) FROM g) AS share, v / " LAST " AS gpus FROM g a WHERE"
      " v > 0 AND NOT EXISTS (SELECT 1 FROM g b WHERE b.v > a.v OR (b.v = a.v AND b.tenant <"
      " a.tenant))" },
    { "limit.turns",
      STAGE(OF("(x.workers > 0)") " / " OF(
          "1") " AS v") " SELECT a.name AS stage, a.v AS share,"
                        " b.name AS second, b.v AS second_share FROM s a, s b WHERE " T_TURNS
                        " AND NOT EXISTS"
                        " (SELECT 1 FROM s o WHERE o.v > a.v OR (o.v = a.v AND o.stage < a.stage)) "
                        "AND a.stage <>"
                        " b.stage AND b.v > 0.005 AND NOT EXISTS (SELECT 1 FROM s o WHERE o.stage "
                        "<> a.stage AND"
                        " (o.v > b.v OR (o.v = b.v AND o.stage < b.stage)))" },
