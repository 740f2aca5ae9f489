/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about an incident: what happened, what was felt, what bound, who held what was missing,
 * what the decisions saw, whether it was over. Only where the scenario has windows.
 *
 * The incident's window is the first in which the timeline or a fault does something; where none
 * does, the second. "Before" is the window in front of it.
 */
#include "analysis/claims/claims.h"

#include "analysis/nan.h"
#include "analysis/windows.h"

#include <math.h>
#include <string.h>

#define WINDOWS                                                                                    \
    "w AS (SELECT json_extract(j.value, '$.name') AS name, json_extract(j.value, '$.from_s') AS "  \
    "from_s, coalesce(json_extract(j.value, '$.to_s'), (SELECT end_s FROM run WHERE run_id = "     \
    ":run)) AS to_s, j.key AS i FROM meta m, json_each(m.value) j WHERE m.key = 'windows'),"       \
    " o AS (SELECT * FROM w ORDER BY EXISTS (SELECT 1 FROM happening h WHERE h.run_id = :run"      \
    "  AND h.kind <> 'ended_early' AND h.t_s >= w.from_s AND h.t_s < w.to_s) DESC, i <> 1, i"      \
    "  LIMIT 1),"                                                                                  \
    " b AS (SELECT * FROM w WHERE i < (SELECT i FROM o) ORDER BY i DESC LIMIT 1)"
/* A result of a window, :run's. */
#define RESULT(what, metric_id, window, of)                                                        \
    "(SELECT " what " FROM v_window v WHERE v.run_id = :run AND v.metric = '" metric_id            \
    "' AND v.window = " window " AND v.label = " of ")"
/* Of the incident's window and of all, and of the one before. */
#define HERE(what, metric_id) RESULT(what, metric_id, "o.name", "''")
#define THEN(what, metric_id) RESULT(what, metric_id, "b.name", "''")
#define MOST                  HERE("value", "backlog.max") " AS most"
#define MOST_AT               HERE("value", "backlog.max_at") " AS at"
#define USUAL                 HERE("value", "backlog.usual") " AS usual"
#define RECOVER               HERE("value", "backlog.recover") " AS recover"
#define RECOVER_OPEN          HERE("is_lower_bound", "backlog.recover") " AS is_open"
#define HIGH                                                                                       \
    "h AS (SELECT o.name AS window, " MOST ", " MOST_AT ", " USUAL ", " RECOVER ", " RECOVER_OPEN  \
    ", (SELECT start_unix_s FROM run WHERE run_id = :run) AS start FROM o)"
/* What is there from the start is no backlog that rises. */
#define ARRIVES "(SELECT count(*) FROM meta WHERE key = 'work' AND value LIKE '%backlog%') = 0"
#define IS_HIGH "(most > 1.5 * usual + 10 AND " ARRIVES ")"
/* Who bound needed more: items piled up, or wait from the start. */
#define STARVED                                                                                    \
    "(NOT " ARRIVES " OR (SELECT value FROM v_window v WHERE v.run_id = :run AND v.metric = "      \
    "'backlog.max'"                                                                                \
    " AND v.window = s.window) > 10 + 1.5 * (SELECT value FROM v_window v WHERE v.run_id = :run"   \
    " AND v.metric = 'backlog.usual' AND v.window = s.window))"
/* A mean of the stage over a window; the edges of windows are edges of samples. */
#define IN(window, what)                                                                           \
    "(SELECT sum((" what ") * x.dt_s) / sum(x.dt_s) FROM stage_sample x, " window                  \
    " y WHERE x.run_id = :run AND x.stage = g.stage AND x.t_s >= y.from_s - 1e-6"                  \
    " AND x.t_s + x.dt_s <= y.to_s + 1e-6)"
#define SHARE  RESULT("value", "bottleneck.share", "o.name", "g.name") " AS share"
#define BUSY   IN("o", "x.busy") " / nullif(" IN("o", "x.workers - x.setup") ", 0) AS busy"
#define NOW    RESULT("value", "workers.mean", "o.name", "g.name") " AS workers"
#define BEFORE RESULT("value", "workers.mean", "(SELECT name FROM b)", "g.name") " AS before"
#define SETUP  IN("o", "x.setup") " AS setup, " IN("b", "x.setup") " AS setup_before"
/* The stage that was the slowest for most of the incident, with its workers at work, those in
 * set-up left out. */
#define BOUND                                                                                      \
    "s AS (SELECT g.stage AS i, g.name AS stage, g.gpus AS gpus, o.name AS window, o.from_s AS "   \
    "from_s, o.to_s AS to_s, " SHARE ", " BUSY ", " NOW ", " BEFORE ", " SETUP                     \
    " FROM o, stage g WHERE g.run_id = :run AND share >= 0.5 AND busy >= 0.8"                      \
    " ORDER BY share DESC, i LIMIT 1)"
/* The share of the window in which a link was full; it has no samples before its first use. */
#define FULL(window)                                                                               \
    "(SELECT total(iif(" AN_FULL_SQL ", s.dt_s, 0)) / (y.to_s - y.from_s) FROM " window            \
    " y, link_sample s WHERE s.run_id = :run AND s.link = l.link AND s.t_s >= y.from_s - 1e-6"     \
    " AND s.t_s + s.dt_s <= y.to_s + 1e-6)"
#define LATENCY          HERE("value", "lat.e2e.p95")
#define LATENCY_OPEN     HERE("is_lower_bound", "lat.e2e.p95")
#define LATENCY_N        HERE("n", "lat.e2e.p95")
#define LATENCY_BEFORE   THEN("value", "lat.e2e.p95")
#define LATENCY_N_BEFORE THEN("n", "lat.e2e.p95")
#define DONE             HERE("value", "thr.pipeline")
#define DONE_BEFORE      THEN("value", "thr.pipeline")
#define ARRIVED          HERE("value", "thr.arrived")
#define WAIT             HERE("value", "wait.job.mean")
#define WAIT_N           HERE("n", "wait.job.mean")
#define WAIT_KNOWN       HERE(AN_LEFT_OUT, "wait.job.mean") " <= 0.05"
#define WAIT_KNOWN_THEN  THEN(AN_LEFT_OUT, "wait.job.mean") " <= 0.05"
#define WAIT_BEFORE      THEN("value", "wait.job.mean")
#define WAIT_N_BEFORE    THEN("n", "wait.job.mean")
/* Jobs that came in the window, of which `what` holds; some have a window before, some have none.
 */
#define JOBS(what, window)                                                                         \
    "(SELECT total(" what ") FROM job j, " window " y WHERE j.run_id = :run AND j.outcome <>"      \
    " 'refused' AND j.submit_s >= y.from_s AND j.submit_s < y.to_s)"
#define OWNER "coalesce(g.name, l.name || '/' || c.name) AS owner, w.stage AS owner_stage"
#define OWNERS                                                                                     \
    " LEFT JOIN stage g ON g.run_id = w.run_id AND g.stage = w.stage"                              \
    " LEFT JOIN workload l ON l.run_id = w.run_id AND l.workload = w.workload"                     \
    " LEFT JOIN job j ON j.run_id = w.run_id AND j.workload = w.workload AND j.job = w.job"        \
    " LEFT JOIN job_label c ON c.run_id = w.run_id AND c.label = j.label"

static struct an_word number_of(const struct an_claim *claim, const char *key)
{
    const double value = an_claim_number(claim, key);
    struct an_word word = { "less than 0.01" }; /* a mean of moments nobody saw */
    return value > 0.0 && value < 0.01 ? word : an_word_number(value);
}

static struct an_word time_of(const struct an_claim *claim, const char *key)
{
    return an_word_duration(an_claim_number(claim, key));
}

static struct an_word clock_of(const struct an_claim *claim, const char *key)
{
    return an_word_clock((int64_t)an_claim_number(claim, "start"), an_claim_number(claim, key));
}

static struct an_word percent_of(const struct an_claim *claim, const char *key)
{
    return an_word_percent(an_claim_number(claim, key));
}

/* That between --from and --to is called window. */
static struct an_word window_of(const struct an_claim *claim)
{
    struct an_word name = an_claim_name(claim, "window");
    if (strcmp(name.text, "window") == 0)
        (void)snprintf(name.text, sizeof name.text, "the window");
    return name;
}

/* ---- what happened ---- */

/* What came second, with its time where that is another one. */
static void say_second(const struct an_claim *claim, char *text, size_t capacity)
{
    const struct an_word at = clock_of(claim, "second_at");
    const bool is_later = strcmp(at.text, clock_of(claim, "at").text) != 0;
    text[0] = '\0';
    if (an_claim_word(claim, "second")[0] != '\0')
        (void)snprintf(text, capacity, "; %s%s%s", is_later ? at.text : "", is_later ? ": " : "",
                       an_claim_word(claim, "second"));
}

static void say_faults(struct an_claim *claim)
{
    const double alike = an_claim_number(claim, "alike");
    const double more = an_claim_number(claim, "count") - fmax(alike, 2.0);
    char rest[80] = "";
    char second[160];
    say_second(claim, second, sizeof second);
    if (more > 0.5)
        (void)snprintf(rest, sizeof rest, "; and %s more", an_word_number(more).text);
    if (alike > 2.5)
        an_claim_say(claim, "%s: %s and %s more%s%s", clock_of(claim, "at").text,
                     an_claim_word(claim, "target"), an_word_number(alike - 1.0).text,
                     an_claim_word(claim, "tail"), rest);
    else
        an_claim_say(claim, "%s: %s%s%s", clock_of(claim, "at").text, an_claim_word(claim, "what"),
                     second, rest);
}

static void say_lost(struct an_claim *claim)
{
    const double jobs = an_claim_number(claim, "jobs");
    an_claim_say(claim, "%s job%s lost a node under %s in %s", an_word_number(jobs).text,
                 jobs > 1.5 ? "s" : "", jobs > 1.5 ? "them" : "it", window_of(claim).text);
}

static void say_latency(struct an_claim *claim)
{
    an_claim_say(
        claim,
        an_claim_number(claim, "is_open") > 0.5
            ? "One in twenty of the items that came in %s took at least %s, before it %s: %s times "
              "as long"
            : "95 %% of the items that came in %s took %s at most, before it %s: %s times as long",
        window_of(claim).text, time_of(claim, "value").text, time_of(claim, "before").text,
        an_word_number(an_claim_number(claim, "value") / an_claim_number(claim, "before")).text);
}

static void say_unfinished(struct an_claim *claim)
{
    an_claim_say(claim, "%s items per second were finished in %s, and %s came",
                 number_of(claim, "done").text, window_of(claim).text,
                 number_of(claim, "arrived").text);
}

static void say_slower(struct an_claim *claim)
{
    an_claim_say(claim, "%s items per second were finished in %s, before it %s",
                 number_of(claim, "done").text, window_of(claim).text,
                 number_of(claim, "before").text);
}

static void say_wait(struct an_claim *claim)
{
    an_claim_say(claim, "Jobs that came in %s waited %s on average, before it %s",
                 window_of(claim).text, time_of(claim, "value").text,
                 time_of(claim, "before").text);
}

static void say_waiting(struct an_claim *claim)
{
    an_claim_say(claim, "%s of the %s jobs that came in %s had not started when it ended",
                 number_of(claim, "waiting").text, number_of(claim, "came").text,
                 window_of(claim).text);
}

static void say_backlog(struct an_claim *claim)
{
    an_claim_say(claim, "The backlog rose to %s at %s; 95 %% of the time before it was %s or less",
                 number_of(claim, "most").text, clock_of(claim, "at").text,
                 number_of(claim, "usual").text);
}

static void say_back(struct an_claim *claim)
{
    if (an_claim_number(claim, "recover") > 0.0)
        an_claim_say(claim, "The backlog was back at its usual level %s after %s had ended",
                     time_of(claim, "recover").text, window_of(claim).text);
    else
        an_claim_say(claim, "The backlog was back at its usual level when %s ended",
                     window_of(claim).text);
}

static void say_not_back(struct an_claim *claim)
{
    an_claim_say(
        claim, "The backlog was not back at its usual level within the run, %s after %s had ended",
        time_of(claim, "recover").text, window_of(claim).text);
}

/* ---- why ---- */

static void say_binding(struct an_claim *claim)
{
    an_claim_say(claim,
                 "%s was the slowest stage %s of %s, and its ready workers were busy %s of it",
                 an_claim_name(claim, "stage").text, percent_of(claim, "share").text,
                 window_of(claim).text, percent_of(claim, "busy").text);
}

static void say_workers(struct an_claim *claim)
{
    an_claim_say(claim, "%s had %s workers on average in %s, before it %s",
                 an_claim_name(claim, "stage").text, number_of(claim, "workers").text,
                 window_of(claim).text, number_of(claim, "before").text);
}

static void say_setup(struct an_claim *claim)
{
    an_claim_say(claim, "%s of the %s workers of %s were in set-up on average in %s, before it %s",
                 number_of(claim, "setup").text, number_of(claim, "workers").text,
                 an_claim_name(claim, "stage").text, window_of(claim).text,
                 number_of(claim, "before").text);
}

static void say_link(struct an_claim *claim)
{
    an_claim_say(claim, "%s %s gave all it could %s of %s, before it %s",
                 an_claim_word(claim, "kind"), an_claim_name(claim, "name").text,
                 percent_of(claim, "share").text, window_of(claim).text,
                 percent_of(claim, "before").text);
}

static void say_holders(struct an_claim *claim)
{
    an_claim_say(claim,
                 "Of the %s GPUs that were up in %s, %s held %s and %s, which needed more, %s; %s "
                 "were free",
                 number_of(claim, "capacity").text, window_of(claim).text,
                 an_claim_name(claim, "owner").text, number_of(claim, "held").text,
                 an_claim_name(claim, "stage").text, number_of(claim, "own").text,
                 number_of(claim, "free").text);
}

static void say_taken(struct an_claim *claim)
{
    an_claim_say(claim,
                 "When %s GPUs came back at %s, %s took %s of them within 10 minutes and %s, which "
                 "needed more, %s",
                 number_of(claim, "back").text, clock_of(claim, "at").text,
                 an_claim_name(claim, "owner").text, number_of(claim, "taken").text,
                 an_claim_name(claim, "stage").text, number_of(claim, "own").text);
}

static void say_decisions(struct an_claim *claim)
{
    an_claim_say(claim, "%s of the %s decisions of %s gave %s no more workers: %s",
                 number_of(claim, "count").text, number_of(claim, "total").text,
                 window_of(claim).text, an_claim_name(claim, "stage").text,
                 an_claim_word(claim, "reason"));
}

/* ---- whether the fix works ---- */

/* So much of what got worse is gone where a fix works: as much as of an incident of ours. */
static const double ENOUGH = 0.8;

/* Of what got worse since the first window the part that is gone; NAN = nothing got worse. */
static double gone_of(const struct an_comparison *comparison, const struct an_metric_row *row,
                      size_t variant)
{
    const size_t length = strcspn(row->metric, "@");
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct an_metric_row *first = &comparison->rows[i];
        if (strncmp(first->metric, row->metric, length + 1) != 0)
            continue;
        const double base = row->cells[comparison->baseline].mean;
        const double worse = (first->cells[comparison->baseline].mean - base) * row->better;
        const double gain = (row->cells[variant].mean - base) * row->better;
        return worse > 0.0 ? fmin(1.0, gain / worse) : AN_NAN;
    }
    return AN_NAN;
}

/* By a test, or as far as one run can say, or all of them. */
static bool is_better(const struct an_cell *cell, double gain)
{
    return cell->verdict == AN_BETTER || cell->verdict == AN_DETERMINISTIC_BETTER ||
           (cell->verdict == AN_ONE_RUN && gain > 0.0);
}

/* The largest gain of any variant in a window, by the metric of the goal. */
static bool judge_fix(const struct an_comparison *comparison, struct an_claim *claim)
{
    const struct an_metric_row *best = NULL;
    size_t variant = 0;
    double most = 0.0;
    if (comparison->row_count == 0)
        return false;
    const size_t length = strcspn(comparison->rows[0].metric, "@:");
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct an_metric_row *row = &comparison->rows[i];
        if (strncmp(row->metric, comparison->rows[0].metric, length) != 0 ||
            row->metric[length] != '@' || row->better == 0)
            continue;
        for (size_t v = 0; v < comparison->variant_count; v++) {
            const double gain = row->cells[v].difference * row->better;
            if (!is_better(&row->cells[v], gain) || !(gain > most))
                continue;
            most = gain;
            best = row;
            variant = v;
        }
    }
    if (best == NULL)
        return false;
    const struct an_cell *cell = &best->cells[variant];
    const struct an_cell *base = &best->cells[comparison->baseline];
    an_claim_put_word(claim, "metric", best->metric);
    an_claim_put_word(claim, "variant", comparison->variants[variant]);
    an_claim_put_word(claim, "baseline", comparison->variants[comparison->baseline]);
    an_claim_put(claim, "mean", cell->mean);
    an_claim_put(claim, "base", base->mean);
    an_claim_put(claim, "better", best->better);
    an_claim_put(claim, "p", cell->p_value);
    an_claim_put_word(claim, "label", best->label);
    an_claim_put_word(claim, "unit", best->unit);
    an_claim_put_word(claim, "was", an_mean_of(best, base).text);
    an_claim_put_word(claim, "is", an_mean_of(best, cell).text);
    an_claim_put(claim, "n", cell->n);
    an_claim_put(claim, "gone", gone_of(comparison, best, variant));
    return true;
}

static void say_fix(struct an_claim *claim)
{
    const double p = an_claim_number(claim, "p");
    const double gone = an_claim_number(claim, "gone");
    const double n = an_claim_number(claim, "n");
    char chance[64] = "one run: no statement about chance";
    char part[64] = "";
    if (gone < ENOUGH)
        (void)snprintf(part, sizeof part, ", %.16s of what got worse is gone",
                       an_word_percent(gone).text);
    if (n > 1.5 && isnan(p))
        (void)snprintf(chance, sizeof chance, "the same in all %.0f replications", n);
    else if (n > 1.5)
        (void)snprintf(chance, sizeof chance, "%.0f paired replications, p %s %.3f", n,
                       p < 0.001 ? "<" : "=", fmax(p, 0.001));
    an_claim_say(claim, "%s %s: %s is %s instead of %s%s (%s)",
                 an_claim_name(claim, "variant").text,
                 gone < ENOUGH ? "helps, not enough" : "works", an_claim_name(claim, "label").text,
                 an_claim_word(claim, "is"), an_claim_word(claim, "was"), part, chance);
}

static const struct an_claim_ops rows[] = {
    { .name = "incident.faults",
      .threshold = "1 entry of the timeline or fault that begins in the incident's window",
      .sql = "WITH " WINDOWS ", e AS (SELECT h.t_s AS t_s, h.text AS text, row_number() OVER"
             "  (ORDER BY h.t_s, h.text) AS n, target, iif(substr(text, 1, length(target)) ="
             "  target, substr(text, length(target) + 1), text) AS tail FROM happening h, o"
             "  WHERE h.run_id = :run AND h.kind <> 'ended_early' AND h.t_s >= o.from_s AND h.t_s <"
             "  o.to_s), f AS (SELECT * FROM e WHERE n = 1)"
             " SELECT (SELECT substr(target, 1, 60) FROM f) AS target, (SELECT substr(tail, 1, 60)"
             "  FROM f) AS tail, (SELECT count(*) FROM e JOIN f USING (t_s, tail)) AS alike,"
             "  count(*) AS count, min(t_s) AS at, (SELECT substr(text, 1, 90) FROM e WHERE n"
             "  = 1) AS what, (SELECT substr(text, 1, 90) FROM e WHERE n = 2) AS second,"
             "  (SELECT t_s FROM e WHERE n = 2) AS second_at,"
             "  (SELECT start_unix_s FROM run WHERE run_id = :run) AS start"
             " FROM e HAVING count(*) > 0",
      .say = say_faults },
    { .name = "incident.lost",
      .threshold = "1 job that ran on a node that went down in the incident's window",
      .sql = "WITH " WINDOWS " SELECT o.name AS window, (SELECT count(DISTINCT k.workload || ' ' ||"
             "  k.job) FROM worker k WHERE k.run_id = :run AND k.job NOT NULL AND k.end_reason ="
             "  'node lost' AND k.ended_s >= o.from_s AND k.ended_s < o.to_s) AS jobs FROM o"
             " WHERE jobs > 0",
      .say = say_lost },
    { .name = "incident.latency",
      .threshold = "a quarter longer than before, and 20 items finished of each window: a p95 of "
                   "less is one item",
      .sql = "WITH " WINDOWS " SELECT o.name AS window, " LATENCY " AS value, " LATENCY_OPEN
             " AS is_open, " LATENCY_BEFORE " AS before FROM o, b WHERE value >= 1.25 * before AND "
             "before > 0 AND " LATENCY_N " >= 20 AND " LATENCY_N_BEFORE " >= 20",
      .say = say_latency },
    { .name = "incident.unfinished",
      .threshold = "3 % and 10 items less finished than came: less may be on its way",
      .sql = "WITH " WINDOWS " SELECT o.name AS window, " DONE " AS done, " ARRIVED
             " AS arrived FROM o WHERE " ARRIVES " AND done < 0.97 * arrived AND (arrived - done) *"
             " (o.to_s - o.from_s) >= 10",
      .say = say_unfinished },
    { .name = "incident.slower",
      .threshold = "all was there from the start, and a tenth less was finished than before",
      .sql = "WITH " WINDOWS " SELECT o.name AS window, " DONE " AS done, " DONE_BEFORE
             " AS before FROM o, b WHERE done <= 0.9 * before AND NOT " ARRIVES,
      .say = say_slower },
    { .name = "incident.wait",
      .threshold = "a quarter and a minute longer than before, and 5 jobs of each window, of which "
                   "5 % at most never began",
      .sql =
          "WITH " WINDOWS " SELECT o.name AS window, " WAIT " AS value, " WAIT_BEFORE
          " AS before FROM o, b WHERE value >= 1.25 * before AND value >= before + 60 AND " WAIT_N
          " >= 5 AND " WAIT_N_BEFORE " >= 5 AND " WAIT_KNOWN " AND " WAIT_KNOWN_THEN,
      .say = say_wait },
    { .name = "incident.waiting",
      .threshold = "5 jobs and half of those that came, and of those that came before half the "
                   "share at most",
      .sql = "WITH " WINDOWS ", c AS (SELECT o.name AS window, " JOBS("1", "o") " AS came, " JOBS(
          "j.first_start_s IS NULL OR j.first_start_s >= y.to_s",
          "o") " AS waiting, " JOBS("1",
                                    "b") " AS came_before, " JOBS("j.first_start_s IS NULL OR"
                                                                  " j.first_start_s >= y.to_s",
                                                                  "b") " AS waited_before FROM"
                                                                       " o) SELECT window, "
                                                                       "waiting, came FROM c WHERE "
                                                                       "waiting >= 5 AND waiting "
                                                                       ">= 0.5 * came"
                                                                       " AND waiting * came_before "
                                                                       ">= 2 * waited_before * "
                                                                       "came",
      .say = say_waiting },
    { .name = "incident.backlog",
      .threshold = "items that arrive, 1.5 times their usual level and 10 more: less is how it "
                   "always goes",
      .sql =
          "WITH " WINDOWS ", " HIGH " SELECT window, most, at, usual, start FROM h WHERE " IS_HIGH,
      .say = say_backlog },
    { .name = "incident.back",
      .threshold = "the backlog rose, and came back within the run",
      .sql = "WITH " WINDOWS ", " HIGH " SELECT window, recover FROM h WHERE " IS_HIGH
             " AND is_open = 0",
      .say = say_back },
    { .name = "incident.not_back",
      .threshold = "the backlog rose, and the run ended first",
      .sql = "WITH " WINDOWS ", " HIGH " SELECT window, recover FROM h WHERE " IS_HIGH
             " AND is_open = 1",
      .say = say_not_back },
    { .name = "incident.binding",
      .threshold =
          "the slowest for half of the window, and its ready workers busy 80 % of it: below, "
          "it could do more than it is given",
      .sql = "WITH " WINDOWS ", " BOUND " SELECT stage, window, share, busy FROM s",
      .say = say_binding },
    { .name = "incident.workers",
      .threshold = "the stage that bound had a tenth fewer workers than before",
      .sql = "WITH " WINDOWS ", " BOUND " SELECT stage, window, workers, before FROM s"
             " WHERE workers <= 0.9 * before",
      .say = say_workers },
    { .name = "incident.setup",
      .threshold = "a tenth of the workers of the stage that bound, and twice as many as before",
      .sql = "WITH " WINDOWS ", " BOUND " SELECT stage, window, workers, setup, setup_before AS"
             " before FROM s WHERE setup >= 0.1 * workers AND setup >= 2 * setup_before",
      .say = say_setup },
    { .name = "incident.link",
      .threshold = "half of the window full, 99 % of what it could give, and twice as long as "
                   "before: the one that was for longest",
      .sql = "WITH " WINDOWS " SELECT " AN_LINK_KIND_SQL " AS kind, l.name AS name, o.name AS"
             " window, " FULL("o") " AS share, coalesce(" FULL(
                 "b") ", 0) AS before FROM o, link l"
                      " WHERE l.run_id = :run AND share >= 0.5 AND share >= 2 * before"
                      " ORDER BY share DESC, l.link LIMIT 1",
      .say = say_link },
    { .name = "incident.holders",
      .threshold = "95 % of the GPUs that were up were held, the stage that bound needs some, the "
                   "backlog rose, and another holds a tenth of them",
      .sql =
          "WITH " WINDOWS ", " BOUND
          ", c AS (SELECT sum(k.gpu_capacity * k.dt_s) / sum(k.dt_s) AS capacity,"
          "   sum((k.gpu_capacity - k.gpu_assigned) * k.dt_s) / sum(k.dt_s) AS free"
          "  FROM cluster_sample k, s WHERE k.run_id = :run AND k.t_s >= s.from_s"
          "  AND k.t_s + k.dt_s <= s.to_s),"
          " h AS (SELECT " OWNER ", sum(w.gpu_amount * (min(coalesce(w.ended_s, 1e300), s.to_s)"
          "   - max(w.created_s, s.from_s)) / (s.to_s - s.from_s)) AS held"
          "  FROM s, worker w" OWNERS " WHERE w.run_id = :run AND w.created_s < s.to_s"
          "  AND coalesce(w.ended_s, 1e300) > s.from_s GROUP BY owner)"
          " SELECT s.stage AS stage, s.window AS window, h.owner AS owner, h.held AS held,"
          "  (SELECT held FROM h WHERE owner_stage = s.i) AS own, c.capacity AS capacity,"
          "  round(c.free, 3) AS free FROM s, c, h WHERE s.gpus > 0 AND c.free <= 0.05 * c.capacity"
          "  AND " STARVED
          " AND (h.owner_stage IS NULL OR h.owner_stage <> s.i) AND h.held >= 0.1 * c.capacity"
          " ORDER BY h.held DESC, h.owner LIMIT 1",
      .say = say_holders },
    { .name = "incident.taken",
      .threshold = "nodes with GPUs came back, the backlog rose, and others than the stage that "
                   "bound took more than half of them within 10 minutes",
      .sql = "WITH " WINDOWS ", " BOUND ", n AS (SELECT n.node AS node, n.gpus AS gpus, h.until_s"
             "   AS at FROM happening h JOIN o ON h.t_s >= o.from_s AND h.t_s < o.to_s"
             "  JOIN node n ON n.run_id = h.run_id AND n.name = h.target"
             "  WHERE h.run_id = :run AND h.kind = 'node_down' AND h.until_s IS NOT NULL"
             "  AND n.gpus > 0),"
             " t AS (SELECT " OWNER ", sum(w.gpu_amount) AS taken FROM n JOIN worker w"
             "   ON w.run_id = :run AND w.node = n.node AND w.created_s >= n.at"
             "   AND w.created_s < n.at + 600" OWNERS " GROUP BY owner)"
             " SELECT s.stage AS stage, t.owner AS owner, t.taken AS taken,"
             "  coalesce((SELECT taken FROM t WHERE owner_stage = s.i), 0) AS own,"
             "  (SELECT sum(gpus) FROM n) AS back, (SELECT min(at) FROM n) AS at,"
             "  (SELECT start_unix_s FROM run WHERE run_id = :run) AS start FROM s, t"
             " WHERE s.gpus > 0 AND " STARVED " AND (t.owner_stage IS NULL OR t.owner_stage <> s.i)"
             "  AND t.taken > 0.5 * (SELECT sum(gpus) FROM n) ORDER BY t.taken DESC LIMIT 1",
      .say = say_taken },
    { .name = "incident.decisions",
      .threshold = "the same reason in half of the decisions of the window, which recorded one",
      .sql = "WITH " WINDOWS ", " BOUND ", d AS (SELECT x.binding AS reason, count(*) AS n"
             "  FROM s JOIN decision_stage x ON x.run_id = :run AND x.stage = s.i"
             "  JOIN decision y ON y.run_id = x.run_id AND y.decision = x.decision"
             "  WHERE y.t_s >= s.from_s AND y.t_s < s.to_s AND x.workers_after <= x.workers_before"
             "  AND x.binding NOT IN ('', 'none') GROUP BY x.binding ORDER BY n DESC, reason"
             "  LIMIT 1), a AS (SELECT count(*) AS n FROM decision y, s WHERE y.run_id = :run"
             "  AND y.t_s >= s.from_s AND y.t_s < s.to_s)"
             " SELECT s.stage AS stage, s.window AS window, d.n AS count, a.n AS total,"
             "  d.reason AS reason FROM s, d, a WHERE d.n >= 0.5 * a.n",
      .say = say_decisions },
    { .name = "winner.window",
      .threshold =
          "better in a window by the metric of the goal: paired t, Holm, alpha .05; of one "
          "run, and where all replications agree, its figures",
      .judge = judge_fix,
      .say = say_fix },
};

AN_CLAIM_FAMILY(incident, rows);
