/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Claims about jobs in time: who waits, who is refused, and what came out. */
#include "analysis/claims/claims.h"

#include "analysis/nan.h"

#include <math.h>
#include <string.h>

#define JOBS "(SELECT name FROM job_label WHERE run_id = :run)"
#define VALUE(m)                                                                                   \
    "(SELECT value FROM v_result WHERE run_id = :run AND metric = '" m "' AND label = '')"

/* Beside pipelines the queues of items have the same metric. */
#define WAITING                                                                                    \
    "WITH q AS (SELECT " VALUE(                                                                    \
        "queue.len.mean") " AS waiting, (SELECT label FROM v_result WHERE run_id = :run AND "      \
                          "metric = 'queue.len.mean'"                                              \
                          "  AND label IN " JOBS " ORDER BY value DESC, label LIMIT 1) AS most,"   \
                          " iif(EXISTS (SELECT 1 FROM stage WHERE run_id = :run), NULL, " VALUE(   \
                              "util.gpu.assigned") ") AS held, (SELECT sum(gpu_capacity * dt_s) "  \
                                                   "/ sum(dt_s) FROM v_cluster"                    \
                                                   " WHERE run_id = :run AND t_s >= :from) / "     \
                                                   "(SELECT nullif(sum(gpus), 0) FROM node WHERE " \
                                                   "run_id"                                        \
                                                   " = :run) AS up WHERE EXISTS (SELECT 1 FROM "   \
                                                   "job_label WHERE run_id = :run)) "
#define JOBS_DONE    VALUE("jobs.done")
#define JOBS_ARRIVED VALUE("jobs.arrived")
#define JOBS_REFUSED VALUE("jobs.refused")

static const char *name_held(const struct an_claim *claim, char text[96])
{
    const double held = an_claim_number(claim, "held");
    text[0] = '\0';
    if (!isnan(held))
        (void)snprintf(text, 96, "; %s of the GPUs%s are held", an_word_percent(held).text,
                       an_claim_up(claim));
    return text;
}

static void say_hardly(struct an_claim *claim)
{
    char held[96];
    an_claim_say(claim, "hardly a job ever waits%s", name_held(claim, held));
}

static void say_waiting(struct an_claim *claim)
{
    char held[96];
    const char *most = an_claim_word(claim, "most");
    an_claim_say(claim, "%s jobs wait on average%s%s%s%s",
                 an_word_number(an_claim_number(claim, "waiting")).text,
                 most[0] == '\0' ? "" : ", most of them “", an_claim_name(claim, "most").text,
                 most[0] == '\0' ? "" : "”", name_held(claim, held));
}

/* ---- what came out of one run ---- */

/* Beside pipelines the jobs are half of the story. */
static const char rate_sql[] =
    "SELECT value AS rate, (SELECT value FROM v_result WHERE run_id = :run"
    "  AND metric = 'wait.job.p95' AND label = '') AS wait,"
    " (SELECT is_lower_bound FROM v_result WHERE run_id = :run AND metric = 'wait.job.p95'"
    "  AND label = '') AS is_bound FROM v_result WHERE run_id = :run AND metric = 'thr.jobs_h'"
    " AND label = '' AND NOT EXISTS (SELECT 1 FROM stage WHERE run_id = :run)"
    " AND (SELECT status FROM run WHERE run_id = :run) <> 'ended early'"
    " AND " JOBS_DONE " > 0";

static void say_rate(struct an_claim *claim)
{
    const double wait = an_claim_number(claim, "wait");
    const bool is_bound = an_claim_number(claim, "is_bound") > 0.5;
    const struct an_word rate = an_word_number(an_claim_number(claim, "rate"));
    if (isnan(wait))
        an_claim_say(claim, "%s jobs per hour are finished", rate.text);
    else if (wait <= 0.0 && !is_bound)
        an_claim_say(claim, "%s jobs per hour are finished; 95 %% do not wait", rate.text);
    else
        an_claim_say(claim, "%s jobs per hour are finished; %s %s", rate.text,
                     is_bound ? "one in twenty waits at least" : "95 % wait at most",
                     an_word_duration(wait).text);
}

static void say_refused(struct an_claim *claim)
{
    an_claim_say(claim, "All %s jobs that came were refused",
                 an_word_number(an_claim_number(claim, "arrived")).text);
}

static void say_undone(struct an_claim *claim)
{
    an_claim_say(claim, "None of %s jobs that came is done",
                 an_word_number(an_claim_number(claim, "arrived")).text);
}

/* ---- longest waits, by label and variant ---- */

#define WAITS                                                                                      \
    "WITH m AS (SELECT variant, label, avg(value) AS wait FROM v_result x"                         \
    "  WHERE metric = 'wait.job.mean' AND label <> '' AND EXISTS (SELECT 1 FROM v_result j WHERE"  \
    "  j.run_id = x.run_id AND j.metric = 'jobs.refused' AND j.label = x.label)"                   \
    "  GROUP BY variant, label),"                                                                  \
    " l AS (SELECT *, row_number() OVER (PARTITION BY variant ORDER BY wait DESC, label) AS n"     \
    "  FROM m),"                                                                                   \
    " v AS (SELECT variant, min(variant_order) AS place FROM run"                                  \
    "  WHERE variant NOT IN (SELECT variant FROM run WHERE status = 'ended early')"                \
    "  GROUP BY variant),"                                                                         \
    " w AS (SELECT l.variant, l.label, l.wait, v.place FROM l JOIN v USING (variant)"              \
    "  WHERE n = 1),"                                                                              \
    " b AS (SELECT * FROM w ORDER BY place, variant LIMIT 1),"                                     \
    " o AS (SELECT w.* FROM w, b WHERE w.variant <> b.variant"                                     \
    "  ORDER BY abs(w.wait - b.wait) DESC, w.place LIMIT 1) "

static struct an_word size_of(const struct an_claim *claim, const char *key)
{
    return an_word_size(an_claim_word(claim, key));
}

static struct an_word time_of(const struct an_claim *claim, const char *key)
{
    return an_word_duration(an_claim_number(claim, key));
}

static void say_no_wait(struct an_claim *claim)
{
    an_claim_say(claim, "No job that starts waits%s",
                 an_claim_number(claim, "variants") > 1.5 ? ", with any variant" : "");
}

static void say_longest(struct an_claim *claim)
{
    an_claim_say(claim, "Longest mean wait of jobs that began: %s (%s)",
                 time_of(claim, "wait").text, an_word_size(an_claim_word(claim, "size")).text);
}

static void say_longest_two(struct an_claim *claim)
{
    an_claim_say(claim, "Longest mean wait of jobs that began: %s with %s (%s), %s with %s (%s)",
                 time_of(claim, "wait").text, an_claim_name(claim, "variant").text,
                 size_of(claim, "size").text, time_of(claim, "other_wait").text,
                 an_claim_name(claim, "other").text, size_of(claim, "other_size").text);
}

/* ---- acceptance ---- */

#define SHARES(metric)                                                                             \
    "WITH a AS (SELECT variant, label, avg(value) AS came FROM v_result"                           \
    "  WHERE metric = 'jobs.arrived' GROUP BY variant, label),"                                    \
    " r AS (SELECT variant, label, avg(value) AS gone FROM v_result"                               \
    "  WHERE metric = '" metric "' GROUP BY variant, label),"                                      \
    " s AS (SELECT a.variant, a.label, 1 - gone / came AS share FROM a"                            \
    "  JOIN r USING (variant, label) WHERE came > 0),"                                             \
    " f AS (SELECT variant FROM run ORDER BY variant_order, variant LIMIT 1) "

static void say_placed(struct an_claim *claim)
{
    an_claim_say(claim, "%s places %.0f %% of the jobs of %s, %.0f %% of all",
                 an_claim_name(claim, "variant").text, 100.0 * an_claim_number(claim, "least"),
                 an_word_size(an_claim_word(claim, "size")).text,
                 100.0 * an_claim_number(claim, "all"));
}

static const struct an_claim_ops rows[] = {
    { .name = "jobs.none_done",
      .threshold = "jobs came, and none is done",
      .sql = "SELECT " JOBS_ARRIVED " AS arrived WHERE " JOBS_ARRIVED " > 0 AND " JOBS_DONE
             " = 0 AND " JOBS_REFUSED " < " JOBS_ARRIVED,
      .say = say_undone },
    { .name = "jobs.all_refused",
      .threshold = "jobs came, and all were refused",
      .sql = "SELECT " JOBS_ARRIVED " AS arrived WHERE " JOBS_ARRIVED " > 0 AND " JOBS_REFUSED
             " = " JOBS_ARRIVED,
      .say = say_refused },
    { .name = "jobs.rate",
      .threshold = "jobs and no pipeline, one of them done",
      .sql = rate_sql,
      .say = say_rate },
    { .name = "jobs.hardly_wait",
      .threshold = "less than 0.05 jobs wait on average",
      .sql = WAITING "SELECT waiting, held, up FROM q WHERE waiting < 0.05",
      .say = say_hardly },
    { .name = "jobs.wait",
      .threshold = "0.05 jobs wait on average",
      .sql = WAITING "SELECT waiting, most, held, up FROM q WHERE waiting >= 0.05",
      .say = say_waiting },
    { .name = "waits.none",
      .threshold = "no label of any variant has a mean wait",
      .sql = WAITS "SELECT max(wait) AS wait, count(*) AS variants FROM w HAVING max(wait) <= 0",
      .say = say_no_wait },
    { .name = "waits.two",
      .threshold = "two variants, and somebody waits with one of them",
      .sql = WAITS "SELECT b.variant AS variant, b.label AS size, b.wait AS wait, "
                   "o.variant AS other,"
                   " o.label AS other_size, o.wait AS other_wait FROM b, o"
                   " WHERE max(b.wait, o.wait) > 0",
      .say = say_longest_two },
    { .name = "waits.longest",
      .threshold = "somebody waits with the first variant",
      .sql = WAITS "SELECT variant, label AS size, wait FROM b WHERE wait > 0",
      .say = say_longest },
    { .name = "fill.placed",
      .threshold = "two sizes of jobs in a fill",
      .sql = SHARES("jobs.failed") "SELECT s.variant AS variant, s.label AS size, "
                                   "s.share AS least,"
                                   " t.share AS 'all' FROM s JOIN f USING (variant) "
                                   "JOIN s t ON t.variant = s.variant"
                                   " AND t.label = '' WHERE s.label <> '' ORDER BY "
                                   "s.share, s.label LIMIT 1",
      .say = say_placed },
};

AN_CLAIM_FAMILY(jobs, rows);
