/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about who waits for whom: jobs by tenant where there are several, else by label, and what
 * others held of the GPUs while they waited.
 *
 * With W(t) the jobs of a group that wait, what another holds meanwhile is the mean of its GPUs
 * weighted by W. The integral of W up to a moment is t * sum(d) - sum(d * t) over the changes d so
 * far, which is one pass over all changes in the order of time.
 */
#include "analysis/claims/claims.h"

#include <math.h>

#define GROUP                                                                                      \
    "iif((SELECT count(DISTINCT tenant) FROM job WHERE run_id = :run) > 1,"                        \
    " coalesce(nullif(j.tenant, ''), 'no tenant'), l.name)"

/* Waits of every attempt: before the first start, between two, and after the last of a job that
 * waits still. */
#define WAITS                                                                                      \
    "WITH last AS (SELECT coalesce(max(t_s + dt_s), 0.0) AS t FROM cluster_sample"                 \
    "  WHERE run_id = :run),"                                                                      \
    " who AS MATERIALIZED (SELECT j.workload, j.job, " GROUP " AS name, j.submit_s,"               \
    "  coalesce(j.first_start_s, j.end_s, e.t) AS first_s, j.outcome FROM last e, job j"           \
    "  JOIN job_label l ON l.run_id = j.run_id AND l.label = j.label"                              \
    "  WHERE j.run_id = :run AND j.outcome <> 'refused'),"                                         \
    " rank AS MATERIALIZED (SELECT workload, job, stage, created_s AS a,"                          \
    "  coalesce(ended_s, e.t) AS b, gpu_amount AS gpus FROM worker, last e WHERE run_id = :run),"  \
    " try AS (SELECT workload, job, a, max(b) AS b FROM rank WHERE job IS NOT NULL"                \
    "  GROUP BY workload, job, a),"                                                                \
    " gap AS (SELECT workload, job, lag(b) OVER (PARTITION BY workload, job ORDER BY a) AS a,"     \
    "   a AS b FROM try"                                                                           \
    "  UNION ALL SELECT workload, job, max(b), (SELECT t FROM last) FROM try"                      \
    "   JOIN who USING (workload, job) WHERE outcome = 'waiting' GROUP BY workload, job),"         \
    " wait AS MATERIALIZED (SELECT name, submit_s AS a, first_s AS b FROM who"                     \
    "   WHERE first_s > submit_s"                                                                  \
    "  UNION ALL SELECT name, g.a, g.b FROM gap g JOIN who USING (workload, job) WHERE g.b > "     \
    "g.a),"

/* Rows of workers are needed: without them nobody would hold anything. Those of stages will do:
 * jobs that never start wait for them. */
static const char waits_sql[] = WAITS
    " waiter AS (SELECT name, count(*) AS waits, sum(b - a) AS wait_s,"
    "  row_number() OVER (ORDER BY sum(b - a) DESC, name) AS place FROM wait"
    "  WHERE EXISTS (SELECT 1 FROM rank) GROUP BY name),"
    " long AS (SELECT * FROM waiter WHERE wait_s >= waits"
    "  AND place <= 8),"
    " hold AS MATERIALIZED (SELECT coalesce(w.name, 'stages of ' || g.pipeline) AS name, r.a, r.b,"
    "   sum(r.gpus) AS gpus FROM rank r LEFT JOIN who w USING (workload, job)"
    "   LEFT JOIN stage g ON g.run_id = :run AND g.stage = r.stage WHERE r.gpus > 0"
    "   GROUP BY 1, 2, 3"
    "  UNION ALL SELECT NULL, t_s, t_s + dt_s, gpu_capacity FROM cluster_sample"
    "   WHERE run_id = :run),"
    " edge AS (SELECT w.name AS waiter, t, d, holder, gpus FROM long w JOIN ("
    "   SELECT name AS who, a AS t, 1 AS d, NULL AS holder, 0.0 AS gpus FROM wait"
    "   UNION ALL SELECT name, b, -1, NULL, 0.0 FROM wait"
    "   UNION ALL SELECT NULL, a, 0, name, -gpus FROM hold"
    "   UNION ALL SELECT NULL, b, 0, name, gpus FROM hold) x"
    "  ON x.who IS NULL OR x.who = w.name),"
    " level AS (SELECT waiter, holder, gpus, t * sum(d) OVER o - sum(d * t) OVER o AS jobs_s"
    "  FROM edge WINDOW o AS (PARTITION BY waiter ORDER BY t)),"
    " part AS (SELECT waiter, holder, sum(gpus * jobs_s) AS gpu_s FROM level WHERE gpus <> 0"
    "  GROUP BY waiter, holder)"
    " SELECT w.name AS waiter, w.place, w.waits, w.wait_s, p.holder, p.gpu_s / w.wait_s AS gpus"
    " FROM long w JOIN part p ON p.waiter = w.name WHERE p.gpu_s > 1e-9 * w.wait_s";

const struct an_shared an_share_waits = { "weir_waits", waits_sql };

static void say_holders(struct an_claim *claim)
{
    const double free = an_claim_number(claim, "free");
    const double hours = an_claim_number(claim, "wait_s") / 3600.0;
    char rest[64] = "";
    if (free >= 0.05 * an_claim_number(claim, "capacity"))
        (void)snprintf(rest, sizeof rest, ", %s are free", an_word_number(free).text);
    an_claim_say(claim, "“%s” waits longest, %s job hour%s; “%s” holds %s of %s GPUs%s",
                 an_claim_name(claim, "waiter").text, an_word_number(hours).text, an_plural(hours),
                 an_claim_name(claim, "holder").text,
                 an_word_number(an_claim_number(claim, "held")).text,
                 an_word_number(an_claim_number(claim, "capacity")).text, rest);
}

/* ---- gangs ---- */

/* Waits until the first start; of those that never started, so far. Where there is no gang it is
 * about the other jobs. */
#define GANGS                                                                                      \
    "WITH any AS (SELECT EXISTS (SELECT 1 FROM job WHERE run_id = :run AND members > 1"            \
    "  AND outcome <> 'refused') AS gang),"                                                        \
    " g AS (SELECT l.name || '/' || j.name AS name, j.gpus,"                                       \
    "  coalesce(j.first_start_s, j.end_s, (SELECT max(t_s + dt_s) FROM cluster_sample"             \
    "   WHERE run_id = :run)) - j.submit_s AS wait_s, j.first_start_s IS NULL AS is_open"          \
    "  FROM any, job j JOIN workload l ON l.run_id = j.run_id AND l.workload = j.workload"         \
    "  WHERE j.run_id = :run AND (j.members > 1 OR NOT any.gang) AND j.outcome <> 'refused'),"     \
    " n AS (SELECT count(*) AS count, total(wait_s >= 1) AS waited,"                               \
    "  (SELECT iif(gang, 'gang', 'job') FROM any) AS kind FROM g)"

static void say_gangs_wait(struct an_claim *claim)
{
    const double count = an_claim_number(claim, "count");
    const double waited = an_claim_number(claim, "waited");
    const double gpus = an_claim_number(claim, "gpus");
    const char *most = an_claim_number(claim, "is_open") > 0.5 ? "at least " : "";
    const struct an_word name = an_claim_name(claim, "name");
    const struct an_word wait = an_word_duration(an_claim_number(claim, "wait_s"));
    char lead[120] = "";
    char what[80] = "";
    if (count > 1.5)
        (void)snprintf(lead, sizeof lead, "%s of %s %ss wait%s, longest ",
                       an_word_number(waited).text, an_word_number(count).text,
                       an_claim_word(claim, "kind"), waited < 1.5 ? "s" : "");
    if (gpus > 0.0)
        (void)snprintf(what, sizeof what, " for %s GPU%s", an_word_number(gpus).text,
                       an_plural(gpus));
    an_claim_say(claim, "%s%s%s %s%s%s", lead, name.text, count > 1.5 ? ":" : " waits", most,
                 wait.text, what);
}

static void say_gangs_start(struct an_claim *claim)
{
    const double count = an_claim_number(claim, "count");
    if (count < 1.5)
        an_claim_say(claim, "The %s starts when it comes", an_claim_word(claim, "kind"));
    else
        an_claim_say(claim, "Each of %s %ss starts within a second of its coming",
                     an_word_number(count).text, an_claim_word(claim, "kind"));
}

static const struct an_claim_ops rows[] = {
    { .name = "waits.holders",
      .threshold =
          "0.05 jobs wait on average over the run, and somebody holds GPUs meanwhile; free "
          "ones are told from 5 % of the GPUs on: below, they are hardly a reason",
      .shared = &an_share_waits,
      .sql = "SELECT w.waiter, w.wait_s, w.holder, w.gpus AS held, c.gpus AS capacity,"
             " c.gpus - (SELECT total(gpus) FROM weir_waits x WHERE x.place = 1 AND x.holder"
             "  IS NOT NULL) AS free FROM weir_waits w JOIN weir_waits c ON c.place = 1"
             " AND c.holder IS NULL WHERE w.place = 1 AND w.holder IS NOT NULL AND w.wait_s >= 0.05"
             " * (SELECT max(t_s + dt_s) FROM cluster_sample WHERE run_id = :run)"
             " ORDER BY w.gpus DESC, w.holder LIMIT 1",
      .say = say_holders },
    { .name = "gangs.wait",
      .threshold = "a gang, or where there are none a job, waits a second or more",
      .sql = GANGS " SELECT count, waited, kind, name, wait_s, gpus, is_open FROM g, n WHERE"
                   " wait_s >= 1 ORDER BY wait_s DESC, gpus DESC, name LIMIT 1",
      .say = say_gangs_wait },
    { .name = "gangs.start",
      .threshold = "there are gangs, or else jobs, and none waits a second",
      .sql = GANGS " SELECT count, kind FROM n WHERE count > 0 AND waited = 0",
      .say = say_gangs_start },
};

AN_CLAIM_FAMILY(waits, rows);
