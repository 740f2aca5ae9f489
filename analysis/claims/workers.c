/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about workers of stages. Ranks of jobs begin and end with their job and are no choice of
 * anybody. A worker that its stage has no more work for is done, and one that another takes the
 * place of because of its age or version is renewed: neither is stopped or lost.
 */
#include "analysis/claims/claims.h"

#include <math.h>

/* Read as they lie in the file: by stage would be a look into it for each. */
static const struct an_shared ends = {
    "weir_ends",
    "WITH o AS (SELECT min(created_s) AS at FROM worker NOT INDEXED WHERE run_id = :run"
    " AND stage IS NOT NULL HAVING min(created_s) <= 0.01 * (SELECT max(t_s + dt_s) FROM"
    " cluster_sample WHERE run_id = :run)),"
    " e AS (SELECT count(*) AS started, total(created_s <= (SELECT at FROM o)) AS first,"
    " total(end_reason = '' OR end_reason = 'run ended') AS stayed,"
    " total(end_reason = 'stopped') AS stopped,"
    " total(" AN_RENEWED_SQL ") AS renewed, total(" AN_OVER_SQL ") AS done"
    " FROM worker NOT INDEXED WHERE run_id = :run AND stage IS NOT NULL)"
    " SELECT started, first, stopped, renewed, done,"
    " started - stayed - stopped - renewed - done AS lost FROM e"
};

static struct an_word count_of(const struct an_claim *claim, const char *key)
{
    return an_word_number(an_claim_number(claim, key));
}

/* ", 3 renewed" where there are any. */
static struct an_word also(const struct an_claim *claim, const char *key, const char *what)
{
    struct an_word word = { "" };
    if (an_claim_number(claim, key) > 0.0)
        (void)snprintf(word.text, sizeof word.text, ", %.16s %s", count_of(claim, key).text, what);
    return word;
}

static void say_lost(struct an_claim *claim)
{
    an_claim_say(claim, "%s workers started, %s stopped, %s lost%s%s",
                 count_of(claim, "started").text, count_of(claim, "stopped").text,
                 count_of(claim, "lost").text, also(claim, "renewed", "renewed").text,
                 also(claim, "done", "ended with their stage").text);
}

static void say_still(struct an_claim *claim)
{
    an_claim_say(claim, "No worker is started or stopped after the beginning: %s stay",
                 count_of(claim, "started").text);
}

static void say_changes(struct an_claim *claim)
{
    const double churn = an_claim_number(claim, "churn");
    char rest[120] = "";
    if (!isnan(churn))
        (void)snprintf(rest, sizeof rest, ": %s changes an hour after the start",
                       an_word_number(churn).text);
    an_claim_say(claim, "%s workers started, %s stopped%s%s", count_of(claim, "started").text,
                 count_of(claim, "stopped").text, also(claim, "renewed", "renewed").text, rest);
}

/* Numbers of workers are means of samples: a change shows there with what came of it. */
#define RANGES                                                                                     \
    "WITH s AS (SELECT g.stage, g.name, min(x.workers) AS low, max(x.workers) AS high,"            \
    "  sum(x.workers * x.dt_s) / sum(x.dt_s) AS mean FROM stage g JOIN stage_sample x"             \
    "  ON x.run_id = g.run_id AND x.stage = g.stage WHERE g.run_id = :run AND x.t_s >= :from"      \
    "  GROUP BY g.stage),"                                                                         \
    " n AS (SELECT count(*) AS stages, sum(mean) AS workers, max(high - low) AS width,"            \
    "  (SELECT count(*) > 0 FROM stage_sample e JOIN s USING (stage) WHERE e.run_id = :run"        \
    "  AND e.t_s < :from AND (e.workers < low - 0.005 OR e.workers > high + 0.005)) AS early"      \
    "  FROM s)"

/* Nothing else is meant where nothing else was before. */
static const char *since_when(const struct an_claim *claim)
{
    return an_claim_number(claim, "early") > 0.5 ? " after the warm-up" : "";
}

static void say_range(struct an_claim *claim)
{
    const double stages = an_claim_number(claim, "stages");
    char rest[80] = "";
    if (stages > 1.5)
        (void)snprintf(rest, sizeof rest, ", the widest range of %s stages",
                       an_word_number(stages).text);
    an_claim_say(claim, "%s has %s to %s workers%s%s", an_claim_name(claim, "stage").text,
                 an_word_number(an_claim_number(claim, "low")).text, count_of(claim, "high").text,
                 since_when(claim), rest);
}

static void say_same(struct an_claim *claim)
{
    an_claim_say(claim, "No stage changes the number of its workers%s: %s in all",
                 since_when(claim), count_of(claim, "workers").text);
}

static const struct an_claim_ops rows[] = {
    { .name = "workers.lost",
      .threshold = "1 worker that ended neither by a plan nor with its stage: each is a loss",
      .shared = &ends,
      .sql = "SELECT started, stopped, lost, renewed, done FROM weir_ends WHERE lost > 0",
      .say = say_lost },
    { .name = "workers.still",
      .threshold = "no start after the first instant of starts, which is in the first 1 % of the "
                   "run, no stop, no "
                   "loss: one change would make it false",
      .shared = &ends,
      .sql = "SELECT started FROM weir_ends WHERE started > 0 AND started <= first AND stopped = 0"
             " AND renewed = 0 AND lost = 0",
      .say = say_still },
    { .name = "workers.changes",
      .threshold = "1 start after the first instant of starts or 1 stop, and no loss: losses have "
                   "a sentence of their own",
      .shared = &ends,
      .sql = "SELECT started, stopped, renewed, (SELECT value FROM v_result WHERE run_id = :run"
             "  AND metric = 'worker.churn' AND label = '') AS churn FROM weir_ends"
             " WHERE lost = 0 AND (started > first OR stopped > 0 OR renewed > 0)",
      .say = say_changes },
    { .name = "workers.same",
      .threshold = "no stage whose samples differ by a hundredth of a worker",
      .sql = RANGES " SELECT stages, workers, early FROM n WHERE width < 0.01",
      .say = say_same },
    { .name = "workers.range",
      .threshold = "a stage whose samples differ by a hundredth of a worker: the one with the most",
      .sql = RANGES
      " SELECT stages, early, s.name AS stage, low, high FROM s, n WHERE high - low >= 0.01"
      " AND high - low = width ORDER BY stage LIMIT 1",
      .say = say_range },
};

AN_CLAIM_FAMILY(workers, rows);
