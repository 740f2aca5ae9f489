/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about pipelines: what flows, what limits it, where items wait, what workers do. All means
 * are after the warm-up and weighted by time.
 *
 * A stage limits only when it is the slowest, its workers have work while it is, and no more comes
 * out than it lets through: where all that arrives is finished, arrivals limit, whatever is
 * slowest.
 */
#include "analysis/claims/claims.h"

#include <math.h>
#include <string.h>

#define STAGES                                                                                     \
    "s AS (SELECT stage_name AS name, pipeline, stage AS i,"                                       \
    " sum(is_bottleneck * dt_s) / sum(dt_s) AS slowest,"                                           \
    " sum(busy * dt_s) / nullif(sum(workers * dt_s), 0) AS busy,"                                  \
    " sum(busy * is_bottleneck * dt_s) / nullif(sum(workers * is_bottleneck * dt_s), 0) AS "       \
    "at_work,"                                                                                     \
    " sum(blocked * dt_s) / nullif(sum(workers * dt_s), 0) AS blocked,"                            \
    " sum(starved * dt_s) / nullif(sum(workers * dt_s), 0) AS starved,"                            \
    " sum(setup * dt_s) AS setup, sum(workers * dt_s) AS there,"                                   \
    " sum(queue_items * dt_s) / sum(dt_s) AS queue, max(queue_items) AS most,"                     \
    " sum(is_backpressured * dt_s) / sum(dt_s) AS held,"                                           \
    " count(*) OVER (PARTITION BY pipeline) AS mates"                                              \
    " FROM v_stage WHERE run_id = :run AND t_s >= :from GROUP BY stage)"
#define FLOW                                                                                       \
    "f AS (SELECT coalesce((SELECT value FROM v_result WHERE run_id = :run"                        \
    "   AND metric = 'thr.pipeline' AND label = ''), sum(items_done) / sum(dt_s)) AS done,"        \
    " sum(items_arrived) / sum(dt_s) AS arrived, sum(items_left) / sum(dt_s) AS lost,"             \
    " sum(items_left) AS gone,"                                                                    \
    " sum(items_arrived - items_done - items_left) AS more,"                                       \
    " (SELECT count(*) FROM stage WHERE run_id = :run) AS stages,"                                 \
    " coalesce((SELECT ' ' || value || ' ' FROM meta WHERE key = 'work'), '') AS work"             \
    " FROM v_cluster WHERE run_id = :run AND t_s >= :from)"
/* Items come by themselves, and none is there from the start. Files that do not say so are silent
 * about what limits unless hardly anything is idle. */
#define ARRIVE   "f.work LIKE '% arrivals %' AND f.work NOT LIKE '% backlog %'"
#define KEEPS_UP "(" ARRIVE " AND f.done >= 0.97 * f.arrived)"
/* No more is finished than arrives, either: nothing that waited before is worked off. */
#define IN_STEP  "(" KEEPS_UP " AND f.done <= 1.03 * f.arrived)"
#define KNOWN    "(f.work <> '' OR a.at_work >= 0.95)"
#define WHOLE    "(SELECT status FROM run WHERE run_id = :run) <> 'ended early'"

static struct an_word number_of(const struct an_claim *claim, const char *key)
{
    return an_word_number(an_claim_number(claim, key));
}

static struct an_word percent_of(const struct an_claim *claim, const char *key)
{
    return an_word_percent(an_claim_number(claim, key));
}

/* ---- what flows ---- */

static void say_nothing(struct an_claim *claim)
{
    an_claim_say(claim, "No item is finished");
}

static void say_piles_up(struct an_claim *claim)
{
    an_claim_say(claim, "%s of the %s items per second that arrive are finished; the rest piles up",
                 number_of(claim, "done").text, number_of(claim, "arrived").text);
}

static void say_lost(struct an_claim *claim)
{
    an_claim_say(claim, "%s of the %s items per second that arrive are finished; %s leave before",
                 number_of(claim, "done").text, number_of(claim, "arrived").text,
                 number_of(claim, "lost").text);
}

static void say_keeps_up(struct an_claim *claim)
{
    const double arrived = an_claim_number(claim, "arrived");
    if (an_claim_number(claim, "done") <= 1.03 * arrived)
        an_claim_say(claim, "%s items per second are finished, as many as arrive",
                     number_of(claim, "done").text);
    else
        an_claim_say(claim,
                     "%s items per second are finished, more than the %s that arrive: some were "
                     "there before",
                     number_of(claim, "done").text, an_word_number(arrived).text);
}

static void say_rate(struct an_claim *claim)
{
    an_claim_say(claim, "%s items per second are finished on average",
                 number_of(claim, "done").text);
}

/* ---- what limits ---- */

static void say_limit(struct an_claim *claim)
{
    const double share = an_claim_number(claim, "share");
    if (an_claim_word(claim, "second")[0] != '\0')
        an_claim_say(claim, "%s limits %s of the time, %s %s", an_claim_name(claim, "stage").text,
                     percent_of(claim, "share").text, an_claim_name(claim, "second").text,
                     percent_of(claim, "second_share").text);
    else if (share > 0.995)
        an_claim_say(claim, "%s limits the pipeline all the time",
                     an_claim_name(claim, "stage").text);
    else
        an_claim_say(claim, "%s limits the pipeline %s of the time",
                     an_claim_name(claim, "stage").text, percent_of(claim, "share").text);
}

static void say_turns(struct an_claim *claim)
{
    an_claim_say(claim, "Stages take turns: %s has workers %s of the time, %s %s",
                 an_claim_name(claim, "stage").text, percent_of(claim, "share").text,
                 an_claim_name(claim, "second").text, percent_of(claim, "second_share").text);
}

static void say_arrivals(struct an_claim *claim)
{
    an_claim_say(claim, "What arrives limits it: %s%s is busy %s of its time",
                 an_claim_name(claim, "stage").text,
                 an_claim_number(claim, "mates") > 1.5 ? ", the slowest stage," : "",
                 percent_of(claim, "busy").text);
}

static void say_slowest(struct an_claim *claim)
{
    an_claim_say(claim, "%s is the slowest stage %s of the time; its workers are busy %s",
                 an_claim_name(claim, "stage").text, percent_of(claim, "share").text,
                 percent_of(claim, "busy").text);
}

static void say_pipelines(struct an_claim *claim)
{
    an_claim_say(claim, "%s is the slowest stage of %s %s of the time, %s of %s %s",
                 an_claim_name(claim, "stage").text, an_claim_name(claim, "pipeline").text,
                 percent_of(claim, "share").text, an_claim_name(claim, "second").text,
                 an_claim_name(claim, "second_pipeline").text,
                 percent_of(claim, "second_share").text);
}

static void say_room(struct an_claim *claim)
{
    const double gpus = an_claim_number(claim, "free");
    an_claim_say(claim, "%s could grow: %s GPU%s free on average and one of its workers takes %s",
                 an_claim_name(claim, "stage").text, an_word_number(gpus).text,
                 an_plural(gpus)[0] == '\0' ? " is" : "s are", number_of(claim, "worker").text);
}

static void say_grows(struct an_claim *claim)
{
    an_claim_say(claim,
                 "Not steady: the figures depend on the horizon. More was in the system late "
                 "in the run than in its middle, and the horizon ended it");
}

/* ---- queues ---- */

static void say_no_queue(struct an_claim *claim)
{
    an_claim_say(claim, "No queue to speak of in front of any stage");
}

static void say_held(struct an_claim *claim)
{
    an_claim_say(claim, "Most items wait before %s (mean %s); %s is held back %s",
                 an_claim_name(claim, "stage").text, number_of(claim, "queue").text,
                 an_claim_name(claim, "held_stage").text, percent_of(claim, "held").text);
}

static void say_queue(struct an_claim *claim)
{
    an_claim_say(claim, "Most items wait before %s: %s on average, %s at most in an interval",
                 an_claim_name(claim, "stage").text, number_of(claim, "queue").text,
                 number_of(claim, "most").text);
}

/* ---- what workers do ---- */

static void say_idle_all(struct an_claim *claim)
{
    an_claim_say(claim, "Workers of all stages are idle nearly all of their time");
}

static void say_blocked(struct an_claim *claim)
{
    an_claim_say(claim,
                 "Hardly a worker is busy; those of %s wait with work in hand %s of their time",
                 an_claim_name(claim, "stage").text, percent_of(claim, "blocked").text);
}

static void say_setup(struct an_claim *claim)
{
    an_claim_say(claim, "Workers of all stages are in set-up %s of their time",
                 percent_of(claim, "setup").text);
}

static void say_one(struct an_claim *claim)
{
    an_claim_say(claim, "%s workers are busy %s of their time", an_claim_name(claim, "stage").text,
                 percent_of(claim, "busy").text);
}

static void say_busiest(struct an_claim *claim)
{
    const double blocked = an_claim_number(claim, "blocked");
    const double starved = an_claim_number(claim, "starved");
    char why[48] = "";
    if (fmax(blocked, starved) >= 0.005)
        (void)snprintf(why, sizeof why, ": %s %.16s",
                       blocked > starved                                 ? "blocked"
                       : an_claim_number(claim, "held") >= 0.5 * starved ? "held back"
                                                                         : "starved",
                       an_word_percent(fmax(blocked, starved)).text);
    an_claim_say(claim, "%s works %s of the time, %s %s%s", an_claim_name(claim, "stage").text,
                 percent_of(claim, "busy").text, an_claim_name(claim, "idlest").text,
                 percent_of(claim, "least").text, why);
}

#define LONGEST "SELECT name FROM s ORDER BY queue DESC, i LIMIT 1"

static const struct an_claim_ops rows[] = {
    { .name = "flow.nothing",
      .threshold = "0 items: one would make it false",
      .sql = "SELECT sum(items_done) AS items FROM v_cluster WHERE run_id = :run"
             " AND EXISTS (SELECT 1 FROM stage WHERE run_id = :run) HAVING sum(items_done) = 0",
      .say = say_nothing },
    { .name = "flow.piles_up",
      .threshold = "3 % and 10 items less finished than arrived: less may be on its way",
      .sql = "WITH " FLOW " SELECT done, arrived, more AS left FROM f WHERE stages > 0 AND " ARRIVE
             " AND done + lost < 0.97 * arrived AND more >= 10 AND done > 0 AND " WHOLE,
      .say = say_piles_up },
    { .name = "flow.lost",
      .threshold = "3 % of what arrives and 10 items leave without being done, and hardly any "
                   "piles up",
      .sql = "WITH " FLOW " SELECT done, arrived, lost FROM f WHERE stages > 0 AND " ARRIVE
             " AND lost > 0.03 * arrived AND gone >= 10 AND (done + lost >= 0.97 * arrived"
             " OR more < 10) AND done > 0 AND " WHOLE,
      .say = say_lost },
    { .name = "flow.keeps_up",
      .threshold = "97 % of what arrived is finished: the rest may be on its way",
      .sql = "WITH " FLOW " SELECT done, arrived FROM f WHERE stages > 0 AND done > 0 AND " KEEPS_UP
             " AND " WHOLE,
      .say = say_keeps_up },
    { .name = "flow.rate",
      .threshold = "more than 0 items",
      .sql = "WITH " FLOW " SELECT done FROM f WHERE stages > 0 AND done > 0",
      .say = say_rate },
    { .name = "limit.turns",
      .threshold = "two stages have workers together in at most 5 % of the time: then one follows "
                   "the other",
      .sql = "WITH w AS (SELECT stage_name AS name, stage AS i, total((workers > 0) * dt_s)"
             " / sum(dt_s) AS share FROM v_stage WHERE run_id = :run AND t_s >= :from GROUP BY"
             " stage), a AS (SELECT * FROM w ORDER BY share DESC, i LIMIT 1)"
             " SELECT a.name AS stage, a.share AS share, w.name AS second, w.share AS second_share"
             " FROM a, w WHERE w.i <> a.i AND w.share > 0.005 AND " AN_TURNS_SQL
             " ORDER BY w.share DESC, w.i LIMIT 1",
      .say = say_turns },
    { .name = "limit.stage",
      .threshold =
          "slowest half of the time with 80 % of its workers busy meanwhile, one pipeline, "
          "and not just what arrives is finished: below, it could do more than it is given",
      .sql =
          "WITH " STAGES ", " FLOW ", l AS (SELECT *, row_number() OVER (ORDER BY slowest DESC, i)"
          "  AS n FROM s WHERE at_work >= 0.8 AND slowest >= 0.005)"
          " SELECT a.name AS stage, a.slowest AS share, a.at_work AS busy, b.name AS second,"
          "  b.slowest AS second_share FROM (SELECT * FROM l WHERE n = 1) a LEFT JOIN (SELECT * "
          "FROM l WHERE n = 2) b, f WHERE a.n = 1"
          " AND a.slowest >= 0.5 AND NOT " AN_TURNS_SQL " AND NOT " IN_STEP " AND " WHOLE
          " AND " KNOWN " AND (SELECT count(DISTINCT pipeline) FROM s) = 1",
      .say = say_limit },
    { .name = "limit.arrivals",
      .threshold = "97 to 103 % of what arrived is finished, and no stage is busy 95 % of its "
                   "time: more could be done",
      .sql = "WITH " STAGES ", " FLOW
             " SELECT s.name AS stage, s.busy AS busy, s.mates AS mates FROM s, f WHERE " IN_STEP
             " AND (SELECT max(busy) FROM s) < 0.95 AND slowest > 0 AND " WHOLE
             " AND (SELECT count(DISTINCT pipeline) FROM s) = 1 ORDER BY slowest DESC, i LIMIT 1",
      .say = say_arrivals },
    { .name = "limit.pipelines",
      .threshold = "two pipelines of several stages, each with a slowest one",
      .sql = "WITH " STAGES
             ", a AS (SELECT * FROM s WHERE slowest >= 0.0005 AND mates > 1 ORDER BY slowest DESC,"
             "  i LIMIT 1) SELECT a.name AS stage, a.pipeline AS pipeline, a.slowest AS share,"
             "  s.name AS second, s.pipeline AS second_pipeline, s.slowest AS second_share"
             " FROM a, s WHERE s.pipeline <> a.pipeline AND s.slowest >= 0.0005 AND s.mates > 1"
             " ORDER BY s.slowest DESC, s.i LIMIT 1",
      .say = say_pipelines },
    { .name = "limit.slowest",
      .threshold =
          "recorded as the slowest of several at all; it need not limit. Not where stages take "
          "turns",
      .sql = "WITH " STAGES " SELECT name AS stage, slowest AS share, busy FROM s"
             " WHERE slowest >= 0.0005 AND mates > 1 AND NOT " AN_TURNS_SQL
             " ORDER BY slowest DESC, i LIMIT 1",
      .say = say_slowest },
    { .name = "limit.room",
      .threshold =
          "the stage limits, and a worker of it more fits into what is free on average and "
          "not fragmented",
      .sql = "WITH " STAGES ", " FLOW ", c AS (SELECT"
             " sum((gpu_capacity - gpu_assigned) * dt_s) / sum(dt_s) AS free,"
             " sum(frag_gpu * dt_s) / sum(dt_s) AS lost FROM v_cluster WHERE run_id = :run"
             "  AND t_s >= :from)"
             " SELECT s.name AS stage, c.free AS free, g.gpus AS worker FROM s, f, c JOIN stage g"
             "  ON g.run_id = :run AND g.stage = s.i WHERE s.slowest >= 0.5 AND s.at_work >= 0.8"
             " AND NOT " AN_TURNS_SQL " AND NOT " IN_STEP " AND " WHOLE
             " AND g.gpus > 0 AND c.free >= g.gpus + c.lost"
             " AND (SELECT count(DISTINCT pipeline) FROM s) = 1 ORDER BY s.slowest DESC LIMIT 1",
      .say = say_room },
    { .name = "run.grows",
      .threshold = "cut off by the horizon, and marked as filling up (docs/metrics.md)",
      .sql = "SELECT end_s AS end FROM run WHERE run_id = :run AND is_steady = 0"
             " AND status = 'horizon'",
      .say = say_grows },
    { .name = "queue.none",
      .threshold = "no interval with 1 item waiting on average",
      .sql = "WITH " STAGES " SELECT max(most) AS most FROM s HAVING max(most) < 1",
      .say = say_no_queue },
    { .name = "queue.held",
      .threshold =
          "1 item waits somewhere in an interval, and another stage is held back 5 % of the "
          "time: less is no finding",
      .sql =
          "WITH " STAGES " SELECT (" LONGEST ") AS stage, max(queue) AS queue, (SELECT name FROM s"
          " ORDER BY held DESC, i LIMIT 1) AS held_stage, max(held) AS held FROM s"
          " HAVING max(most) >= 1 AND max(held) > 0.05 AND held_stage <> stage",
      .say = say_held },
    { .name = "queue.longest",
      .threshold = "1 item waits somewhere in an interval",
      .sql = "WITH " STAGES " SELECT name AS stage, queue, most FROM s WHERE"
             " (SELECT max(most) FROM s) >= 1 ORDER BY queue DESC, i LIMIT 1",
      .say = say_queue },
    { .name = "workers.idle",
      .threshold = "busy less than 0.5 % and blocked less than a tenth of the time everywhere, and "
                   "not for set-up",
      .sql = "WITH " STAGES " SELECT max(busy) AS busy FROM s HAVING max(busy) < 0.005"
             " AND max(blocked) < 0.1 AND sum(setup) < 0.5 * sum(there)",
      .say = say_idle_all },
    { .name = "workers.blocked",
      .threshold =
          "busy less than 0.5 % of the time everywhere, and blocked a tenth of it somewhere",
      .sql = "WITH " STAGES " SELECT name AS stage, blocked FROM s WHERE (SELECT max(busy) FROM s)"
             " < 0.005 AND blocked >= 0.1 ORDER BY blocked DESC, i LIMIT 1",
      .say = say_blocked },
    { .name = "workers.setup",
      .threshold = "busy less than 0.5 % of the time everywhere, and half of it is set-up",
      .sql = "WITH " STAGES " SELECT max(busy) AS busy, sum(setup) / sum(there) AS setup FROM s"
             " HAVING max(busy) < 0.005 AND sum(setup) >= 0.5 * sum(there)",
      .say = say_setup },
    { .name = "workers.one",
      .threshold = "one stage",
      .sql = "WITH " STAGES " SELECT name AS stage, busy FROM s WHERE (SELECT count(*) FROM s) = 1"
             " AND busy >= 0.005",
      .say = say_one },
    { .name = "workers.busiest",
      .threshold = "two stages, and one busy 0.5 % of the time",
      .sql =
          "WITH " STAGES ", a AS (SELECT * FROM s WHERE busy >= 0.005 ORDER BY busy DESC, i"
          "  LIMIT 1), z AS (SELECT * FROM s WHERE busy IS NOT NULL ORDER BY busy, i LIMIT 1)"
          " SELECT a.name AS stage, a.busy AS busy, z.name AS idlest, z.busy AS least,"
          "  z.blocked AS blocked, z.starved AS starved, z.held AS held FROM a, z WHERE a.i <> z.i",
      .say = say_busiest },
};

AN_CLAIM_FAMILY(flow, rows);
