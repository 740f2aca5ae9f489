/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about how waits spread: the median of groups of jobs, the tail of all, those who came
 * early against those who came late, and what variants leave undone. Exact, from the rows of the
 * jobs; a job that has not started waits longer than all that have. Refused jobs never wait.
 */
#include "analysis/claims/claims.h"

#include <math.h>
#include <string.h>

/* The lower median of each group of five jobs and more, the twelve largest: those that are drawn.
 * v NULL = most of them never started. */
#define MEDIANS(group, where)                                                                      \
    "WITH j AS (SELECT coalesce(nullif(" group ", ''), 'none given') AS g,"                        \
    "  j.first_start_s - j.submit_s AS v FROM job j JOIN run r USING (run_id) JOIN job_label l"    \
    "  ON l.run_id = j.run_id AND l.label = j.label WHERE j.outcome <> 'refused' AND " where "),"  \
    " k AS (SELECT g, v, row_number() OVER (PARTITION BY g ORDER BY v IS NULL, v) AS k,"           \
    "  count(*) OVER (PARTITION BY g) AS n FROM j),"                                               \
    " m AS (SELECT g, v, n FROM k WHERE k = (n + 1) / 2 AND n >= 5 ORDER BY n DESC, g LIMIT 12),"  \
    " a AS (SELECT * FROM m ORDER BY v IS NULL, v, g LIMIT 1),"                                    \
    " z AS (SELECT * FROM m ORDER BY v IS NOT NULL, v DESC, g DESC LIMIT 1)"                       \
    " SELECT a.g AS least_of, a.v AS least, z.g AS most_of, z.v AS most FROM a, z"                 \
    " WHERE a.g <> z.g AND a.v IS NOT NULL"
#define OF_RUN "j.run_id = :run"

/* "wait 2h at most" or "do not wait"; less than a second is what a decision takes. */
static struct an_word wait_of(double wait)
{
    struct an_word word;
    if (wait >= 1.0)
        (void)snprintf(word.text, sizeof word.text, "wait %.32s at most",
                       an_word_duration(wait).text);
    else
        (void)snprintf(word.text, sizeof word.text,
                       wait > 0.0 ? "wait less than a second" : "do not wait");
    return word;
}

static void say_medians(struct an_claim *claim)
{
    const double least = an_claim_number(claim, "least");
    const double most = an_claim_number(claim, "most");
    const struct an_word first = an_claim_name(claim, "least_of");
    const struct an_word last = an_claim_name(claim, "most_of");
    if (isnan(most))
        an_claim_say(claim, "Half of the jobs of “%s” %s; most of “%s” never start", first.text,
                     wait_of(least).text, last.text);
    else if (most <= least || most < 1.0)
        an_claim_say(claim, "Half of the jobs of each %s", wait_of(most).text);
    else
        an_claim_say(claim, "Half of the jobs of “%s” %s, half of “%s” %s", first.text,
                     wait_of(least).text, last.text, an_word_duration(most).text);
}

#define MEDIAN_THRESHOLD                                                                           \
    "two groups of five jobs and more, most of one of which started: a median of fewer is a job"
#define BY(word, column)                                                                           \
    {                                                                                              \
        .name = "spread." word, .threshold = MEDIAN_THRESHOLD, .sql = MEDIANS(column, OF_RUN),     \
        .say = say_medians                                                                         \
    }

/* ---- all jobs of a run ---- */

#define ALL_WAITS                                                                                  \
    "WITH k AS (SELECT first_start_s - submit_s AS v, row_number() OVER (ORDER BY first_start_s"   \
    "  IS NULL, first_start_s - submit_s) AS k, count(*) OVER () AS n FROM job"                    \
    "  WHERE run_id = :run AND outcome <> 'refused')"

static void say_tail(struct an_claim *claim)
{
    const double half = an_claim_number(claim, "half");
    const double tail = an_claim_number(claim, "tail");
    if (isnan(half))
        an_claim_say(claim, "More than half of the jobs never start");
    else if (isnan(tail))
        an_claim_say(claim, "Half of the jobs %s, more than one in twenty never start",
                     wait_of(half).text);
    else if (tail <= 0.0)
        an_claim_say(claim, "95 %% of the jobs do not wait");
    else if (tail <= half || tail < 1.0)
        an_claim_say(claim, "95 %% of the jobs %s", wait_of(tail).text);
    else
        an_claim_say(claim, "Half of the jobs %s, 95 %% %s", wait_of(half).text,
                     an_word_duration(tail).text);
}

/* Medians of those that came in the first and in the second half of the run. */
static const char halves_sql[] =
    "WITH e AS (SELECT max(t_s + dt_s) / 2 AS middle FROM cluster_sample WHERE run_id = :run),"
    " k AS (SELECT submit_s >= middle AS side, first_start_s - submit_s AS v, row_number() OVER"
    "  (PARTITION BY submit_s >= middle ORDER BY first_start_s IS NULL, first_start_s - submit_s)"
    "  AS k, count(*) OVER (PARTITION BY submit_s >= middle) AS n FROM job, e"
    "  WHERE run_id = :run AND outcome <> 'refused'),"
    " m AS (SELECT side, v FROM k WHERE k = (n + 1) / 2 AND n >= 20)"
    " SELECT a.v AS early, z.v AS late FROM m a JOIN m z ON a.side = 0 AND z.side = 1"
    " WHERE a.v IS NOT NULL AND (z.v IS NULL OR max(a.v, z.v) > 2 * min(a.v, z.v) + 1)";

static void say_halves(struct an_claim *claim)
{
    const double late = an_claim_number(claim, "late");
    const struct an_word early = wait_of(an_claim_number(claim, "early"));
    if (isnan(late))
        an_claim_say(claim, "Half of the jobs of the first half %s; most of the second never start",
                     early.text);
    else
        an_claim_say(claim, "Half of the jobs of the first half %s, of the second %s", early.text,
                     late >= 1.0  ? an_word_duration(late).text
                     : late > 0.0 ? "less than a second"
                                  : "they do not wait");
}

/* ---- variants ---- */

/* Items and jobs that are in and not done when each run of the replication ends, and those that are
 * over without being done. */
static const char undone_sql[] =
    "WITH o AS (SELECT run_id FROM run WHERE replication = :id),"
    " i AS (SELECT run_id, sum(items_arrived - items_done - items_left) AS undone,"
    "  sum(items_left) AS lost FROM cluster_sample WHERE run_id IN (SELECT run_id FROM o)"
    "  GROUP BY run_id),"
    " j AS (SELECT run_id, sum(outcome IN ('waiting', 'running')) AS undone,"
    "  sum(outcome NOT IN ('done', 'waiting', 'running')) AS lost FROM job WHERE run_id IN"
    "  (SELECT run_id FROM o) GROUP BY run_id),"
    " u AS (SELECT r.variant, r.variant_order AS place, r.end_s,"
    "  i.undone + coalesce(j.undone, 0) AS undone, i.lost + coalesce(j.lost, 0) AS lost"
    "  FROM run r JOIN i USING (run_id) LEFT JOIN j USING (run_id) WHERE r.replication = :id"
    "  AND r.status IN ('complete', 'horizon') AND (j.undone NOT NULL OR EXISTS (SELECT 1 FROM"
    "  stage s WHERE s.run_id = r.run_id))),"
    " a AS (SELECT * FROM u ORDER BY undone, end_s, place LIMIT 1),"
    " z AS (SELECT * FROM u ORDER BY undone DESC, end_s DESC, place DESC LIMIT 1)"
    " SELECT a.variant AS least_of, a.undone AS least, a.end_s AS first, z.variant AS most_of,"
    "  z.undone AS most, z.end_s AS last, (SELECT iif(EXISTS (SELECT 1 FROM stage WHERE run_id ="
    "  :run), iif(EXISTS (SELECT 1 FROM job WHERE run_id = :run), 'item and job', 'item'),"
    "  'job')) AS thing, (SELECT max(lost) FROM u) AS lost, (SELECT count(*) FROM run"
    "  WHERE replication = :id) - (SELECT count(*) FROM u) AS others FROM a, z"
    " WHERE (SELECT count(*) FROM u) > 1";

/* "2 items and jobs are", "1 job is" */
static void write_count(char text[64], double count, const char *thing)
{
    const bool is_both = strcmp(thing, "item and job") == 0;
    (void)snprintf(text, 64, "%s %s%s %s", an_word_number(count).text,
                   !is_both                      ? thing
                   : an_plural(count)[0] == '\0' ? "item or job"
                                                 : "items and job",
                   an_plural(count), an_plural(count)[0] == '\0' ? "is" : "are");
}

static void say_undone(struct an_claim *claim)
{
    const double least = round(an_claim_number(claim, "least"));
    const double most = round(an_claim_number(claim, "most"));
    const double first = an_claim_number(claim, "first");
    const double last = an_claim_number(claim, "last");
    const char *thing = an_claim_word(claim, "thing");
    const struct an_word best = an_claim_name(claim, "least_of");
    const struct an_word worst = an_claim_name(claim, "most_of");
    const char *whose = an_claim_number(claim, "others") > 0.5 ? " that ran to its end" : "";
    const char *over = an_claim_number(claim, "lost") > 0.5 ? "over" : "done";
    const char *all = strcmp(thing, "item and job") == 0 ? "item and every job" : thing;
    char count[64];
    /* Of a list of items some may not be in yet. */
    const char *inside = strcmp(thing, "job") == 0 ? "" : " in and";
    write_count(count, most, thing);
    if (most > least)
        an_claim_say(claim, "At the end %s%s not done with “%s”, %s with “%s”", count, inside,
                     worst.text, least > 0.0 ? an_word_number(least).text : "none", best.text);
    else if (most > 0.0)
        an_claim_say(claim, "With every variant%s %s%s not done at the end", whose, count, inside);
    else if (last > 1.01 * first)
        an_claim_say(claim, "Every %s is %s after %s with “%s”, after %s with “%s”", all, over,
                     an_word_duration(first).text, best.text, an_word_duration(last).text,
                     worst.text);
    else
        an_claim_say(claim, "Every %s is %s with every variant%s, after %s", all, over, whose,
                     an_word_duration(last).text);
}

static const struct an_claim_ops rows[] = {
    BY("class", "l.name"),
    BY("tenant", "j.tenant"),
    BY("user", "j.user"),
    BY("model", "j.model"),
    BY("gpu_types", "j.gpu_types"),
    { .name = "spread.variant",
      .threshold = MEDIAN_THRESHOLD,
      .sql = MEDIANS("r.variant", "r.replication = :id"),
      .say = say_medians },
    { .name = "spread.jobs",
      .threshold = "20 jobs: of fewer one in twenty is none",
      .sql = ALL_WAITS " SELECT (SELECT v FROM k WHERE k = (n + 1) / 2) AS half,"
                       " (SELECT v FROM k WHERE k = (19 * n + 19) / 20) AS tail"
                       " WHERE (SELECT max(n) FROM k) >= 20",
      .say = say_tail },
    { .name = "spread.halves",
      .threshold = "20 jobs in each half of the run, and medians that differ by a second and a "
                   "factor of two: less is within what a few jobs do",
      .sql = halves_sql,
      .say = say_halves },
    { .name = "variants.undone",
      .threshold = "two variants of one replication that ran to their end or to the horizon",
      .sql = undone_sql,
      .say = say_undone },
};

AN_CLAIM_FAMILY(spread, rows);
