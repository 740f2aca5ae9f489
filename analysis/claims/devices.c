/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about devices: how many are held and used, by node, at one moment, and how much of what is
 * free cannot be used. A job holds its GPUs whatever it does with them, so that of jobs only what
 * is held is said, and whether others wait meanwhile.
 */
#include "analysis/claims/claims.h"

#include <string.h>

#define RESULT(metric)                                                                             \
    "(SELECT value FROM v_result WHERE run_id = :run AND metric = '" metric "' AND label = '')"
#define SHARES(d)                                                                                  \
    "coalesce(" RESULT("util." d                                                                   \
                       ".assigned") ", sum(" d "_assigned * dt_s) / nullif(sum(" d                 \
                                    "_capacity * dt_s), 0)) AS " d "_held, coalesce(" RESULT(      \
                                        "util." d                                                  \
                                        ".active") ", sum(" d "_active * dt_s) / nullif(sum(" d    \
                                                   "_capacity * dt_s), 0)) AS " d "_used, sum(" d  \
                                                   "_capacity * dt_s) / sum(dt_s) /"               \
                                                   " (SELECT nullif(sum(" d                        \
                                                   "s), 0) FROM node WHERE run_id = :run)"         \
                                                   " AS " d "_up"
/* Of GPUs, where there are none of CPUs. */
#define USE                                                                                        \
    "WITH c AS (SELECT max(gpu_capacity) > 0 AS has_gpu, " SHARES("gpu") ", " SHARES(              \
        "cpu") " FROM v_cluster WHERE run_id = :run AND t_s >= :from HAVING count(*) > 0),"        \
               " u AS (SELECT iif(has_gpu, 'GPU', 'CPU') AS device, iif(has_gpu, gpu_held, "       \
               "cpu_held) AS held,"                                                                \
               " iif(has_gpu, gpu_used, cpu_used) AS used, iif(has_gpu, gpu_up, cpu_up) AS up,"    \
               " EXISTS (SELECT 1 FROM stage WHERE run_id = :run) AS has_stages,"                  \
               " " RESULT("queue.len.mean") " AS waiting FROM c) "

static struct an_word percent_of(const struct an_claim *claim, const char *key)
{
    return an_word_percent(an_claim_number(claim, key));
}

static void say_unassigned(struct an_claim *claim)
{
    an_claim_say(claim, "%s of the %s capacity%s is not assigned to anyone",
                 an_word_percent(1.0 - an_claim_number(claim, "held")).text,
                 an_claim_word(claim, "device"), an_claim_up(claim));
}

static void say_jobs_wait(struct an_claim *claim)
{
    an_claim_say(claim, "Jobs hold %s of the %ss%s while %s wait on average",
                 percent_of(claim, "held").text, an_claim_word(claim, "device"), an_claim_up(claim),
                 an_word_number(an_claim_number(claim, "waiting")).text);
}

static void say_jobs(struct an_claim *claim)
{
    const char *up = an_claim_up(claim);
    an_claim_say(claim, "%s hold %s of the %ss%s", up[0] == '\0' ? "Jobs" : "On average jobs",
                 percent_of(claim, "held").text, an_claim_word(claim, "device"),
                 up[0] == '\0' ? " on average" : up);
}

static void say_idle(struct an_claim *claim)
{
    const double held = an_claim_number(claim, "held");
    an_claim_say(claim, "%s of the assigned %s time sits idle: %s assigned, %s used%s",
                 an_word_percent(1.0 - an_claim_number(claim, "used") / held).text,
                 an_claim_word(claim, "device"), an_word_percent(held).text,
                 percent_of(claim, "used").text, an_claim_up(claim));
}

static void say_well(struct an_claim *claim)
{
    an_claim_say(claim, "%ss%s are well used: %s assigned, %s at work",
                 an_claim_word(claim, "device"), an_claim_up(claim), percent_of(claim, "held").text,
                 percent_of(claim, "used").text);
}

static void say_shares(struct an_claim *claim)
{
    an_claim_say(claim, "%s of the %s capacity%s is assigned, %s is at work",
                 percent_of(claim, "held").text, an_claim_word(claim, "device"), an_claim_up(claim),
                 percent_of(claim, "used").text);
}

/* ---- nodes ---- */

/* Of thousands of nodes there always is one that is used less: nothing is said, and nothing asked.
 * A node that comes or goes by decision, or never came where nodes do, is away and not down. */
static const struct an_shared nodes = {
    "weir_node_use",
    "WITH few AS (SELECT 1 WHERE (SELECT count(*) FROM node WHERE run_id = :run) <= 2000),"
    " s AS (SELECT node, min(up) AS up, max(up) AS most, sum(gpu_active * dt_s) AS used,"
    "  sum(up * dt_s) AS up_s FROM few CROSS JOIN node_sample WHERE run_id = :run AND t_s >= :from"
    "  GROUP BY node),"
    " e AS (SELECT target, max(kind IN ('node_came', 'node_released', 'node_reclaimed')) AS goes,"
    "  max(kind IN ('node_fail', 'node_down')) AS falls FROM happening"
    "  WHERE run_id = :run AND EXISTS (SELECT 1 FROM few) GROUP BY target)"
    " SELECT d.name, d.node, s.up, s.used / nullif(d.gpus * s.up_s, 0) AS used,"
    "  coalesce(e.goes, 0) OR (s.most <= 0 AND " RESULT(
        "as.nodes") " NOT NULL) AS goes,"
                    " coalesce(e.falls, 0) AS falls FROM s JOIN node d ON d.run_id = :run"
                    " AND d.node = s.node LEFT JOIN e ON e.target = d.name WHERE d.gpus > 0"
};
#define NODES                                                                                      \
    "WITH n AS (SELECT * FROM weir_node_use), h AS (SELECT count(used) AS nodes, min(used) AS "    \
    "low,"                                                                                         \
    " max(used) AS high, total(up < 0.99 AND (falls OR NOT goes)) AS down,"                        \
    " total(up < 0.99 AND goes) AS away, count(*) - count(used) AS never FROM n) "

static struct an_word outage(const struct an_claim *claim)
{
    struct an_word word = { "" };
    const double down = an_claim_number(claim, "down");
    const double away = an_claim_number(claim, "away");
    const double first = away > 0.0 ? away : down;
    char rest[20] = "";
    if (away > 0.0 && down > 0.0)
        (void)snprintf(rest, sizeof rest, ", %u down", (unsigned)down);
    if (first > 0.0)
        (void)snprintf(word.text, sizeof word.text, "; %u node%s %s at times%s", (unsigned)first,
                       first > 1.5 ? "s were" : " was", away > 0.0 ? "away" : "down", rest);
    return word;
}

static void say_node(struct an_claim *claim)
{
    an_claim_say(claim, "%s of the GPUs of %s are used on average%s",
                 percent_of(claim, "high").text, an_claim_name(claim, "node").text,
                 outage(claim).text);
}

static void say_uneven(struct an_claim *claim)
{
    an_claim_say(claim, "Nodes are used unevenly: %s to %s of their GPUs%s",
                 percent_of(claim, "low").text, percent_of(claim, "high").text, outage(claim).text);
}

static void say_even(struct an_claim *claim)
{
    const struct an_word low = percent_of(claim, "low");
    const struct an_word high = percent_of(claim, "high");
    const bool is_one = strcmp(low.text, high.text) == 0;
    const double count = an_claim_number(claim, "nodes");
    char all[32] = "Both";
    if (count > 2.5)
        (void)snprintf(all, sizeof all, "All %.0f", count);
    an_claim_say(claim, "%s nodes%s are used alike, %s%s%s of their GPUs%s", all,
                 an_claim_number(claim, "never") > 0.0 ? " that were up" : "", low.text,
                 is_one ? "" : " to ", is_one ? "" : high.text, outage(claim).text);
}

/* ---- nodes that come and go ---- */

/* A node whose first change is to leave was there from the start; one without any is, if it is up
 * in its first sample. */
const struct an_shared an_share_supply = {
    "weir_supply",
    "WITH e AS MATERIALIZED (SELECT h.t_s, h.kind, d.node, d.type,"
    "  h.kind IN ('node_released', 'node_reclaimed') AS goes FROM happening h JOIN node d"
    "  ON d.run_id = h.run_id AND d.name = h.target WHERE h.run_id = :run AND h.kind IN"
    "  ('node_requested', 'node_came', 'node_launch_fail', 'node_released', 'node_reclaimed')),"
    " n AS (SELECT type, coalesce(min(iif(goes, t_s, NULL)) <= min(iif(kind = 'node_came', t_s,"
    "  NULL)), max(goes) > 0) AS there, max(goes OR kind = 'node_came') AS is_known, node FROM e"
    "  GROUP BY node UNION ALL SELECT type, 0, 0, node FROM node d WHERE run_id = :run AND"
    "  type IN (SELECT type FROM e) AND node NOT IN (SELECT node FROM e)),"
    " c AS (SELECT type, 0.0 AS t_s, iif(is_known, there, EXISTS (SELECT 1 FROM node_sample s WHERE"
    "  s.run_id = :run AND s.node = n.node AND s.t_s <= 0 AND s.up > 0)) AS there, 0 AS coming,"
    "  0 AS taken FROM n UNION ALL SELECT type, t_s, (kind = 'node_came') - goes, (kind ="
    "  'node_requested') - (kind IN ('node_came', 'node_launch_fail')), kind = 'node_reclaimed'"
    "  FROM e), a AS (SELECT * FROM c UNION ALL SELECT '', t_s, there, coming, taken FROM c"
    "  WHERE (SELECT min(type) < max(type) FROM e))"
    " SELECT type, t_s, coalesce(lead(t_s) OVER w, (SELECT end_s FROM run WHERE run_id = :run))"
    "  AS next_s, sum(sum(there)) OVER w AS there, sum(sum(coming)) OVER w AS coming,"
    "  sum(taken) AS taken FROM a GROUP BY type, t_s WINDOW w AS (PARTITION BY type ORDER BY t_s)"
};
#define SUPPLY                                                                                     \
    "WITH g AS (SELECT count(DISTINCT type) AS groups, max(type) AS nodes FROM weir_supply"        \
    " WHERE type <> ''), s AS (SELECT *, max(t_s, :from) AS start_s FROM weir_supply"              \
    " WHERE type = (SELECT min(type) FROM weir_supply)), m AS (SELECT sum(there * (next_s - "      \
    "start_s)) / sum(next_s - start_s)"                                                            \
    " AS there, min(there) AS least, max(there) AS most, (SELECT total(taken) FROM s WHERE"        \
    " t_s >= :from) AS taken FROM s WHERE next_s > start_s)"                                       \
    " SELECT groups, nodes, there, least, most, taken FROM g, m WHERE there NOT NULL AND groups "

static void say_supply(struct an_claim *claim)
{
    const double taken = an_claim_number(claim, "taken");
    const double groups = an_claim_number(claim, "groups");
    const bool is_steady = an_claim_number(claim, "least") >= an_claim_number(claim, "most");
    char whose[sizeof(struct an_word)] = "";
    char range[48] = "";
    char losses[64] = "";
    if (groups > 1.5)
        (void)snprintf(whose, sizeof whose, "%.0f groups", groups);
    else
        (void)snprintf(whose, sizeof whose, "%s", an_claim_name(claim, "nodes").text);
    if (!is_steady)
        (void)snprintf(range, sizeof range, ", %.0f to %.0f", an_claim_number(claim, "least"),
                       an_claim_number(claim, "most"));
    if (taken > 0.0)
        (void)snprintf(losses, sizeof losses, "; %.0f taken back by their owner", taken);
    an_claim_say(claim, "%s nodes of %s are there on average%s%s",
                 an_word_number(an_claim_number(claim, "there")).text, whose, range, losses);
}

/* ---- a moment ---- */

const struct an_shared an_share_moment = {
    "weir_moment",
    "SELECT node, stage, worker, gpu_mask, gpu_amount FROM worker NOT INDEXED WHERE run_id = :run"
    " AND gpu_amount > 0 AND created_s <= :to AND (ended_s IS NULL OR ended_s > :to)"
};

/* A worker holds the same share of each of its GPUs; those on the same ones are one here. */
static const char moment_sql[] =
    "WITH RECURSIVE most AS MATERIALIZED (SELECT max(gpus) AS gpus FROM node WHERE run_id = :run),"
    " bit(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM bit WHERE i + 1 < (SELECT gpus FROM most)),"
    " w AS MATERIALIZED (SELECT node, gpu_mask, sum(gpu_amount) AS gpu_amount FROM weir_moment"
    "  GROUP BY node, gpu_mask),"
    " part AS (SELECT w.node, bit.i, sum(w.gpu_amount / (SELECT count(*) FROM bit b"
    "  WHERE w.gpu_mask >> b.i & 1)) AS held FROM w JOIN bit ON w.gpu_mask >> bit.i & 1"
    "  GROUP BY w.node, bit.i)"
    " SELECT :to AS at_s, (SELECT start_unix_s FROM run WHERE run_id = :run) AS start_s,"
    " (SELECT sum(gpu_amount) FROM w) AS held, (SELECT sum(gpus) FROM node WHERE run_id = :run)"
    "  AS gpus, (SELECT count(*) FROM part WHERE held BETWEEN 0.001 AND 0.999) AS partly"
    " WHERE :to IS NOT NULL AND EXISTS (SELECT 1 FROM w)";

static void say_moment(struct an_claim *claim)
{
    const double partly = an_claim_number(claim, "partly");
    const int64_t start = (int64_t)an_claim_number(claim, "start_s");
    char rest[64] = "none is partly free";
    if (partly > 0.5)
        (void)snprintf(rest, sizeof rest, "%.0f %s partly held", partly,
                       partly > 1.5 ? "are" : "is");
    an_claim_say(claim, "At %s, %s of %s GPUs are held; %s",
                 an_word_clock(start, an_claim_number(claim, "at_s")).text,
                 an_word_number(an_claim_number(claim, "held")).text,
                 an_word_number(an_claim_number(claim, "gpus")).text, rest);
}

/* ---- what is free and cannot be used ---- */

/* The causes are recorded where they were looked at: they count when they add up. */
#define FREE                                                                                       \
    "WITH c AS (SELECT sum(gpu_capacity * dt_s) / sum(dt_s) AS gpus,"                              \
    " sum((gpu_capacity - gpu_assigned) * dt_s) / sum(dt_s) AS free,"                              \
    " coalesce(" RESULT("frag.gpu.fgd") ", sum(frag_gpu * dt_s) / sum(dt_s)) AS lost,"             \
                                        " sum(frag_fraction * dt_s) / sum(dt_s) AS small, "        \
                                        "sum(frag_no_cpu * dt_s) / sum(dt_s) AS cpu,"              \
                                        " sum(frag_no_codec * dt_s) / sum(dt_s) AS codec,"         \
                                        " sum(frag_no_gpu_demand * dt_s) / sum(dt_s) AS none"      \
                                        " FROM v_cluster WHERE run_id = :run AND t_s >= :from "    \
                                        "HAVING sum(gpu_capacity * dt_s) > 0),"                    \
                                        " p AS (SELECT *, small + cpu + codec + none AS "          \
                                        "all_causes, CASE max(small, cpu, codec, none)"            \
                                        " WHEN small THEN 'GPUs too small, too few, of other "     \
                                        "types' WHEN cpu THEN 'CPUs are short'"                    \
                                        " WHEN codec THEN 'codec engines are short' ELSE 'much "   \
                                        "of the mix asks for no GPU' END AS cause,"                \
                                        " max(small, cpu, codec, none) AS most FROM c) "

static void say_full(struct an_claim *claim)
{
    const double free = an_claim_number(claim, "free");
    an_claim_say(claim, "Hardly a GPU is free: %s of %s on average",
                 free < 0.01 ? "less than 0.01" : an_word_number(free).text,
                 an_word_number(an_claim_number(claim, "gpus")).text);
}

static void say_whole(struct an_claim *claim)
{
    an_claim_say(claim, "No free GPU is fragmented: a worker of every shape can use it");
}

static void say_lost(struct an_claim *claim)
{
    const char *cause = an_claim_word(claim, "cause");
    const double lost = an_claim_number(claim, "lost");
    const double free_gpus = an_claim_number(claim, "free");
    an_claim_say(claim, "%s of %s free GPUs are fragmented%s%s", an_word_number(lost).text,
                 an_word_number(free_gpus).text, cause[0] == '\0' ? "" : "; main cause: ", cause);
}

static const struct an_claim_ops rows[] = {
    { .name = "use.unassigned",
      .threshold = "less than half is assigned: the larger part is the finding",
      .sql = USE "SELECT device, held, up FROM u WHERE held < 0.5",
      .say = say_unassigned },
    { .name = "use.jobs_wait",
      .threshold =
          "jobs alone, of which 1 waits on average: what they hold is used by construction",
      .sql = USE "SELECT device, held, waiting, up FROM u WHERE NOT has_stages AND waiting >= 1",
      .say = say_jobs_wait },
    { .name = "use.jobs",
      .threshold = "jobs alone: what they hold is used by construction",
      .sql = USE "SELECT device, held, up FROM u WHERE NOT has_stages AND held > 0",
      .say = say_jobs },
    { .name = "use.idle",
      .threshold = "a quarter of what workers of stages hold is idle",
      .sql = USE "SELECT device, held, used, up FROM u WHERE has_stages AND held > 0"
                 " AND used <= 0.75 * held",
      .say = say_idle },
    { .name = "use.well",
      .threshold = "three quarters of what workers of stages hold, and 70 % of all, is at work; a "
                   "run with windows is judged by window",
      .sql = USE "SELECT device, held, used, up FROM u WHERE has_stages AND used > 0.75 * held"
                 " AND used >= 0.7 AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'windows')",
      .say = say_well },
    { .name = "use.shares",
      .threshold = "something is assigned to workers of stages",
      .sql = USE "SELECT device, held, used, up FROM u WHERE has_stages AND held > 0",
      .say = say_shares },
    { .name = "nodes.one",
      .threshold = "one node with GPUs",
      .shared = &nodes,
      .sql =
          NODES "SELECT (SELECT name FROM n WHERE used NOT NULL) AS node, high, down, away FROM h"
                " WHERE nodes = 1",
      .say = say_node },
    { .name = "nodes.uneven",
      .threshold = "10 points between the least and the most used",
      .shared = &nodes,
      .sql = NODES
      "SELECT nodes, low, high, down, away, never FROM h WHERE nodes > 1 AND high - low > 0.1",
      .say = say_uneven },
    { .name = "nodes.even",
      .threshold = "at most 10 points between the least and the most used",
      .shared = &nodes,
      .sql = NODES
      "SELECT nodes, low, high, down, away, never FROM h WHERE nodes > 1 AND high - low <= 0.1",
      .say = say_even },
    { .name = "supply.group",
      .threshold = "one group has a node that comes or goes",
      .shared = &an_share_supply,
      .sql = SUPPLY "= 1",
      .say = say_supply },
    { .name = "supply.groups",
      .threshold = "several groups have nodes that come or go",
      .shared = &an_share_supply,
      .sql = SUPPLY "> 1",
      .say = say_supply },
    { .name = "moment.held",
      .threshold = "1 worker holds a GPU then",
      .shared = &an_share_moment,
      .sql = moment_sql,
      .say = say_moment },
    { .name = "free.hardly",
      .threshold = "less than 5 % of the GPUs are free: a share of so little misleads",
      .sql = FREE "SELECT gpus, free FROM p WHERE free < 0.05 * gpus",
      .say = say_full },
    { .name = "free.whole",
      .threshold = "5 % free, and less than 0.005 GPUs of it fragmented",
      .sql = FREE "SELECT gpus, free, lost FROM p WHERE free >= 0.05 * gpus AND lost < 0.005",
      .say = say_whole },
    { .name = "free.lost",
      .threshold = "5 % free and 0.005 GPUs fragmented; a cause when the causes add up within 10 % "
                   "and one is more than half of them",
      .sql = FREE "SELECT gpus, free, lost, iif(abs(all_causes - lost) <= 0.1 * lost"
                  " AND most > 0.5 * all_causes, cause, NULL) AS cause FROM p"
                  " WHERE free >= 0.05 * gpus AND lost >= 0.005",
      .say = say_lost },
};

AN_CLAIM_FAMILY(devices, rows);
