/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tiles: a figure and what it is. The text is the figure, a line break, and the words.
 */
#include "analysis/claims/claims.h"

#include "analysis/nan.h"

#include <math.h>
#include <string.h>

#define VALUE(m)                                                                                   \
    "(SELECT value FROM v_result WHERE run_id = :run AND metric = '" m "' AND label = '')"
#define BOUND(m)                                                                                   \
    "(SELECT is_lower_bound FROM v_result WHERE run_id = :run AND metric = '" m "' AND label = "   \
    "'')"
#define STAGES              "EXISTS (SELECT 1 FROM stage WHERE run_id = :run)"
#define THR_PIPELINE        VALUE("thr.pipeline")
#define THR_PIPELINE_STEADY VALUE("thr.pipeline.steady")
#define UTIL_GPU_ACTIVE     VALUE("util.gpu.active")
#define UTIL_GPU_ASSIGNED   VALUE("util.gpu.assigned")
#define UTIL_CPU_ACTIVE     VALUE("util.cpu.active")
#define FRAG_GPU_FGD        VALUE("frag.gpu.fgd")
#define JOBS_DONE           VALUE("jobs.done")
#define JOBS_ARRIVED        VALUE("jobs.arrived")
#define WAIT_JOB_P95        VALUE("wait.job.p95")
#define WAIT_JOB_MEAN       VALUE("wait.job.mean")
#define JOBS_ACCEPTANCE     VALUE("jobs.acceptance")
#define JOBS_REFUSED        VALUE("jobs.refused")
#define ALLOC_GPU_PCT       VALUE("alloc.gpu_pct")
#define FRAG_GPU_PCT        VALUE("frag.gpu_pct")
#define JOBS_FAILED         VALUE("jobs.failed")
#define WAIT_JOB_P95_BOUND  BOUND("wait.job.p95")

static struct an_word number_of(const struct an_claim *claim, const char *key)
{
    return an_word_number(an_claim_number(claim, key));
}

static struct an_word percent_of(const struct an_claim *claim, const char *key)
{
    return an_word_percent(an_claim_number(claim, key));
}

enum { BOUNDS = 160 };

static const char *bounds_of(const struct an_claim *claim, char text[BOUNDS])
{
    const double most = an_claim_number(claim, "most");
    text[0] = '\0';
    if (an_claim_number(claim, "done") > 1.005 * most) /* arrivals and services are drawn */
        (void)snprintf(text, BOUNDS, "; by chance more than the %s/s that plans give on average",
                       number_of(claim, "most").text);
    else if (!isnan(most))
        (void)snprintf(text, BOUNDS, "; plans could give %s/s at most, one that stands still %s/s",
                       number_of(claim, "most").text, number_of(claim, "still").text);
    return text;
}

static void say_throughput(struct an_claim *claim)
{
    const double pipelines = an_claim_number(claim, "pipelines");
    char bounds[BOUNDS];
    if (pipelines > 1.5)
        an_claim_say(claim, "%s/s\nitems finished by %.0f pipelines", number_of(claim, "done").text,
                     pipelines);
    else if (isnan(an_claim_number(claim, "steady")))
        an_claim_say(claim, "%s/s\nitems finished, after warm-up%s", number_of(claim, "done").text,
                     bounds_of(claim, bounds));
    else
        an_claim_say(claim, "%s/s\nitems finished; %s/s while the set of workers stayed the same%s",
                     number_of(claim, "done").text, number_of(claim, "steady").text,
                     bounds_of(claim, bounds));
}

/* "64 GPUs", or how many of them are up, where those are not all the time all. */
static void name_devices(const struct an_claim *claim, const char *device, char text[160])
{
    const double there = an_claim_number(claim, "there");
    if (!an_claim_is_up(claim))
        (void)snprintf(text, 160, "the %ss%s (%s of %s on average)", device, an_claim_up(claim),
                       an_word_number(an_claim_number(claim, "up") * there).text,
                       an_word_number(there).text);
    else
        (void)snprintf(text, 160, "%s %s%s", an_word_number(there).text, device, an_plural(there));
}

static void say_device(struct an_claim *claim)
{
    char devices[160];
    name_devices(claim, an_claim_word(claim, "device"), devices);
    an_claim_say(claim, "%s used\nof %s; %s are assigned", percent_of(claim, "used").text, devices,
                 percent_of(claim, "held").text);
}

static void say_slowest(struct an_claim *claim)
{
    an_claim_say(claim, "%s\nslowest stage %s of the time; its workers are busy %s",
                 an_claim_name(claim, "stage").text, percent_of(claim, "share").text,
                 percent_of(claim, "busy").text);
}

static void say_fragments(struct an_claim *claim)
{
    an_claim_say(claim,
                 "%s GPUs\nfragmented: free, but not for every shape; %s are free on average",
                 number_of(claim, "lost").text, number_of(claim, "free").text);
}

static void say_done(struct an_claim *claim)
{
    an_claim_say(claim, "%s\njobs done of %s that arrived", number_of(claim, "done").text,
                 number_of(claim, "arrived").text);
}

static void say_wait(struct an_claim *claim)
{
    an_claim_say(claim,
                 "%s\nis the longest wait of 95 %% of the jobs; the mean of those that "
                 "started is %s",
                 an_word_known(an_word_duration(an_claim_number(claim, "wait")),
                               an_claim_number(claim, "is_bound") > 0.5, false)
                     .text,
                 an_word_duration(an_claim_number(claim, "mean")).text);
}

static void say_held(struct an_claim *claim)
{
    char devices[160];
    name_devices(claim, "GPU", devices);
    an_claim_say(claim, "%s\nof %s %s held by jobs", percent_of(claim, "held").text, devices,
                 an_plural(an_claim_number(claim, "there"))[0] == '\0' ? "is" : "are");
}

static void say_accepted(struct an_claim *claim)
{
    an_claim_say(claim, "%s\nof the jobs are accepted; %s were refused for good",
                 percent_of(claim, "accepted").text, number_of(claim, "refused").text);
}

/* A bound that leaves nothing out says nothing. */
static void say_time_accepted(struct an_claim *claim)
{
    const bool is_said = an_claim_number(claim, "most") < 0.9995;
    an_claim_say(claim, "%s\nof the GPU time asked for is accepted%s%s%s",
                 percent_of(claim, "accepted").text,
                 is_said ? "; in the long run any scheduler accepts " : "",
                 is_said ? percent_of(claim, "most").text : "", is_said ? " at most" : "");
}

static void say_allocated(struct an_claim *claim)
{
    an_claim_say(claim, "%.1f %%\nof the GPUs are allocated at the end",
                 an_claim_number(claim, "pct"));
}

static void say_gap(struct an_claim *claim)
{
    an_claim_say(claim,
                 "%.1f points\nbelow the most that any scheduler could allocate when all GPUs "
                 "were asked for",
                 an_claim_number(claim, "gap"));
}

static void say_fill_fragments(struct an_claim *claim)
{
    an_claim_say(claim, "%.1f %%\nof the GPUs are free, but not for the jobs that come",
                 an_claim_number(claim, "pct"));
}

static void say_failed(struct an_claim *claim)
{
    an_claim_say(claim, "%s\njobs were refused", number_of(claim, "failed").text);
}

static const char throughput_sql[] =
    "SELECT coalesce(" THR_PIPELINE
    ", sum(items_done) / sum(dt_s)) AS done, nullif(" THR_PIPELINE_STEADY
    ", 0) AS steady, " VALUE("thr.bound") " AS most, " VALUE(
        "thr.plan_bound") " AS still,"
                          " (SELECT count(DISTINCT pipeline) FROM stage WHERE run_id = :run) AS "
                          "pipelines "
                          "FROM v_cluster WHERE run_id = :run AND t_s >= :from AND " STAGES
                          " HAVING count(*) > 0";

static const char device_sql[] =
    "WITH c AS (SELECT max(gpu_capacity) > 0 AS g, sum(gpu_capacity * dt_s) / sum(dt_s) AS gn,"
    " sum(cpu_capacity * dt_s) / sum(dt_s) AS cn, coalesce(" UTIL_GPU_ACTIVE
    ", sum(gpu_active * dt_s)  / nullif(sum(gpu_capacity * dt_s), 0)) AS gu, "
    "coalesce(" UTIL_GPU_ASSIGNED ", sum(gpu_assigned * dt_s)  / nullif(sum(gpu_capacity * dt_s), "
    "0)) AS gh, coalesce(" UTIL_CPU_ACTIVE
    ", sum(cpu_active * dt_s)  / nullif(sum(cpu_capacity * dt_s), 0)) AS cu, coalesce(" VALUE(
        "util.cpu.assigned") ", sum(cpu_assigned * dt_s)  / nullif(sum(cpu_capacity * dt_s), 0)) "
                             "AS ch FROM v_cluster WHERE run_id = :run  AND t_s >= :from "
                             "AND " STAGES
                             "HAVING count(*) > 0) SELECT iif(g, 'GPU', 'CPU') AS device, iif(g, "
                             "gu, cu) AS used, iif(g, gh, ch) AS held, (SELECT iif(g, sum(gpus), "
                             "sum(cpus)) FROM node WHERE run_id = :run) AS there, iif(g, gn / "
                             "(SELECT sum(gpus) FROM node WHERE run_id = :run),"
                             " cn / (SELECT sum(cpus) FROM node WHERE run_id = :run)) AS up FROM c";

static const char slowest_sql[] =
    "SELECT stage_name AS stage, sum(is_bottleneck * dt_s) / sum(dt_s) AS share, sum(busy * dt_s) "
    "/ nullif(sum(workers * dt_s), 0) AS busy FROM v_stage WHERE run_id = :run AND t_s >= :from "
    "GROUP BY stage HAVING share >= 0.0005 AND (SELECT count(*) FROM stage g WHERE g.run_id = "
    ":run AND g.pipeline = v_stage.pipeline) > 1 AND NOT " AN_TURNS_SQL
    " ORDER BY share DESC, stage LIMIT 1";

static const char fragments_sql[] =
    "WITH c AS (SELECT sum(gpu_capacity * dt_s) / sum(dt_s) AS gpus, sum((gpu_capacity - "
    "gpu_assigned) * dt_s) / sum(dt_s) AS free, coalesce(" FRAG_GPU_FGD
    ", sum(frag_gpu * dt_s) / sum(dt_s)) AS lost FROM v_cluster WHERE run_id = :run AND t_s >= "
    ":from AND " STAGES ") SELECT free, lost FROM c WHERE gpus > 0 AND free >= 0.05 * gpus";

static const char jobs_done_sql[] =
    "SELECT " JOBS_DONE " AS done, " JOBS_ARRIVED " AS arrived WHERE " JOBS_ARRIVED
    " > 0 AND " VALUE("jobs.done") " IS NOT NULL";

static const char wait_sql[] =
    "SELECT " WAIT_JOB_P95 " AS wait, " WAIT_JOB_P95_BOUND " AS is_bound, " WAIT_JOB_MEAN
    " AS mean WHERE " WAIT_JOB_P95 " IS NOT NULL";

static const char held_sql[] =
    "SELECT " UTIL_GPU_ASSIGNED
    " AS held, (SELECT sum(gpus) FROM node WHERE run_id = :run) AS there, (SELECT sum(gpu_capacity"
    " * dt_s) / sum(dt_s) / (SELECT sum(gpus) FROM node WHERE run_id = :run) FROM v_cluster WHERE "
    "run_id = :run AND t_s >= :from) AS up"
    " WHERE " UTIL_GPU_ASSIGNED
    " IS NOT NULL AND " VALUE("thr.jobs_h") " IS NOT NULL AND NOT " STAGES;

static const char accepted_sql[] =
    "SELECT " JOBS_ACCEPTANCE " AS accepted, " JOBS_REFUSED " AS refused WHERE " JOBS_ARRIVED
    " > 0 AND " VALUE("jobs.acceptance") " IS NOT NULL";

static const char time_accepted_sql[] =
    "SELECT " VALUE("jobs.gpu_time_accepted") " AS accepted, " VALUE(
        "jobs.gpu_time_bound") " AS most WHERE " VALUE("jobs.gpu_time_bound") " IS NOT NULL";

static const char allocated_sql[] =
    "SELECT " ALLOC_GPU_PCT " AS pct WHERE " ALLOC_GPU_PCT " IS NOT NULL";

static const char gap_sql[] = "SELECT value AS gap FROM v_result WHERE run_id = :run AND metric = "
                              "'alloc.gap_pp' AND label = '100 % arrived' AND value IS NOT NULL";

static const char fill_fragments_sql[] = "SELECT " FRAG_GPU_PCT " AS pct WHERE " FRAG_GPU_PCT
                                         " IS NOT NULL AND " ALLOC_GPU_PCT " IS NOT NULL";

static const char failed_sql[] =
    "SELECT " JOBS_FAILED " AS failed WHERE " JOBS_FAILED " IS NOT NULL";

static const struct an_claim_ops rows[] = {
    { .name = "tile.throughput",
      .threshold = "a run with stages",
      .sql = throughput_sql,
      .say = say_throughput },
    { .name = "tile.device",
      .threshold = "a run with stages: of GPUs, where there are none of CPUs",
      .sql = device_sql,
      .say = say_device },
    { .name = "tile.slowest",
      .threshold = "recorded as the slowest of several; it need not limit",
      .sql = slowest_sql,
      .say = say_slowest },
    { .name = "tile.fragments",
      .threshold = "5 % of the GPUs are free: a share of less misleads",
      .sql = fragments_sql,
      .say = say_fragments },
    { .name = "tile.jobs_done",
      .threshold = "one source of jobs, and jobs came",
      .sql = jobs_done_sql,
      .say = say_done },
    { .name = "tile.wait", .threshold = "a job started", .sql = wait_sql, .say = say_wait },
    { .name = "tile.held",
      .threshold = "jobs alone: what they hold is used by construction",
      .sql = held_sql,
      .say = say_held },
    { .name = "tile.accepted",
      .threshold = "one source of jobs, and jobs came",
      .sql = accepted_sql,
      .say = say_accepted },
    { .name = "tile.time_accepted",
      .threshold = "jobs of a steady load are lost: means of the run, no statement about chance",
      .sql = time_accepted_sql,
      .say = say_time_accepted },
    { .name = "tile.allocated", .threshold = "a fill", .sql = allocated_sql, .say = say_allocated },
    { .name = "tile.gap",
      .threshold = "a fill that was asked for all GPUs, with a bound",
      .sql = gap_sql,
      .say = say_gap },
    { .name = "tile.fill_fragments",
      .threshold = "a fill",
      .sql = fill_fragments_sql,
      .say = say_fill_fragments },
    { .name = "tile.failed", .threshold = "a fill", .sql = failed_sql, .say = say_failed },
};

AN_CLAIM_FAMILY(tiles, rows);
