/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about a run beside the baseline's of the same replication: why as much comes out as does.
 * What limited before is asked for its workers and for what each of them does in its time of work,
 * since capacity is the product of the two; then which stage limits, and which device is all held.
 */
#include "analysis/claims/claims.h"

#include <math.h>
#include <string.h>

#define RUNS                                                                                       \
    "r AS (SELECT r.run_id AS now, b.run_id AS old FROM run r JOIN experiment e USING "            \
    "(experiment_id) JOIN run b ON b.experiment_id = e.experiment_id AND b.variant = e.baseline "  \
    "AND b.replication = r.replication WHERE r.run_id = :run AND r.variant <> b.variant "          \
    "AND r.status <> 'ended early' AND b.status <> 'ended early')"
#define RATE(run)                                                                                  \
    "(SELECT value FROM v_result WHERE run_id = " run " AND metric = 'thr.pipeline' "              \
    "AND label = '')"
#define STAGES                                                                                     \
    "s AS (SELECT run_id, stage_name AS name, pipeline,"                                           \
    " sum(is_bottleneck * dt_s) / sum(dt_s) AS slowest, sum(workers * dt_s) / sum(dt_s) AS "       \
    "workers,"                                                                                     \
    " sum(tasks_done) / nullif(sum(busy * dt_s), 0) AS pace FROM v_stage, r"                       \
    " WHERE run_id IN (now, old) AND t_s >= :from GROUP BY run_id, stage)"
#define SLOWEST(run)                                                                               \
    "(SELECT * FROM s, r WHERE run_id = " run " ORDER BY slowest DESC, name LIMIT 1)"
#define HELD(device)                                                                               \
    "SELECT run_id, '" device "' AS device, sum(" device "_assigned * dt_s)"                       \
    " / nullif(sum(" device "_capacity * dt_s), 0) AS held FROM v_cluster, r"                      \
    " WHERE run_id IN (now, old) AND t_s >= :from GROUP BY run_id"
#define MOST(run)                                                                                  \
    "(SELECT * FROM d, r WHERE run_id = " run " AND held IS NOT NULL ORDER BY held DESC, device "  \
    "LIMIT 1)"

/* ---- which stage ---- */

static double change_of(const struct an_claim *claim, const char *from, const char *to)
{
    return an_claim_number(claim, to) / an_claim_number(claim, from) - 1.0;
}

enum { SHARE = 320 };

/* "12 workers in place of 8, each 3 % slower" */
static void write_share(const struct an_claim *claim, char text[SHARE])
{
    const double pace = change_of(claim, "old_pace", "new_pace");
    char each[96] = "each as fast";
    if (fabs(pace) >= 0.01)
        (void)snprintf(each, sizeof each, "each %s %s", an_word_percent(fabs(pace)).text,
                       pace < 0 ? "slower" : "faster");
    (void)snprintf(text, SHARE, "%s has %s workers in place of %s, %s",
                   an_claim_name(claim, "before").text,
                   an_word_number(an_claim_number(claim, "has")).text,
                   an_word_number(an_claim_number(claim, "had")).text, each);
}

static void say_limit(struct an_claim *claim)
{
    char share[SHARE];
    const char *before = an_claim_word(claim, "before");
    const char *after = an_claim_word(claim, "after");
    const double change = change_of(claim, "base", "done");
    if (isnan(an_claim_number(claim, "has")))
        (void)snprintf(share, sizeof share, "%s is no more", an_claim_name(claim, "before").text);
    else
        write_share(claim, share);
    an_claim_say(claim, "%s items/s in place of %s (%s%s): %s; %s %s",
                 an_word_number(an_claim_number(claim, "done")).text,
                 an_word_number(an_claim_number(claim, "base")).text, change > 0 ? "+" : "-",
                 an_word_percent(fabs(change)).text, share, an_claim_name(claim, "after").text,
                 strcmp(before, after) == 0 ? "limits before and after" : "limits now");
}

/* ---- which device ---- */

static const char *device_name(const char *device)
{
    static const char *const names[][2] = {
        { "gpu", "GPUs" }, { "cpu", "CPUs" }, { "nvdec", "decoders" }, { "nvenc", "encoders" }
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(device, names[i][0]) == 0)
            return names[i][1];
    return device;
}

static void say_device(struct an_claim *claim)
{
    const char *before = device_name(an_claim_word(claim, "old_device"));
    const char *after = device_name(an_claim_word(claim, "new_device"));
    const struct an_word old = an_word_percent(an_claim_number(claim, "old_held"));
    const struct an_word now = an_word_percent(an_claim_number(claim, "new_held"));
    if (strcmp(before, after) == 0)
        an_claim_say(claim, "%s bind before and after: %s and %s of them are held", before,
                     old.text, now.text);
    else
        an_claim_say(claim, "%s bound before (%s held), %s do now (%s held)", before, old.text,
                     after, now.text);
}

static const struct an_claim_ops rows[] = {
    { .name = "change.limit",
      .threshold =
          "throughput of one pipeline changed by 2 % or more, and in both runs one stage is "
          "the slowest for half of the time or more: else nothing single explains it",
      .sql = "WITH " RUNS ", " STAGES
             " SELECT o.name AS before, n.name AS after, base, done, o.workers AS had,"
             " m.workers AS has, o.pace AS old_pace, m.pace AS new_pace"
             " FROM (SELECT now, " RATE("old") " AS base, " RATE(
                 "now") " AS done FROM r) t,"
                        " " SLOWEST("old") " o, " SLOWEST(
                            "now") " n"
                                   " LEFT JOIN s m ON m.run_id = t.now AND m.name = o.name AND "
                                   "m.pipeline = o.pipeline"
                                   " WHERE abs(done / base - 1) >= 0.02 AND o.slowest >= 0.5 AND "
                                   "n.slowest >= 0.5",
      .say = say_limit },
    { .name = "change.device",
      .threshold = "in both runs 95 % or more of some kind of device is held: below that, room is "
                   "left and none binds",
      .sql = "WITH " RUNS ", d AS (" HELD("cpu") " UNION ALL " HELD("gpu") " UNION ALL " HELD(
          "nvdec") " UNION ALL " HELD("nvenc") ")"
                                               " SELECT o.device AS old_device, n.device AS "
                                               "new_device, o.held AS old_held,"
                                               " n.held AS new_held FROM " MOST("old") " o, " MOST(
                                                   "now") " n"
                                                          " WHERE o.held >= 0.95 AND n.held >= "
                                                          "0.95",
      .say = say_device },
};
AN_CLAIM_FAMILY(change, rows);
