/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about tenants: the largest part of any resource of the cluster that each has (its dominant
 * share), and whether it has its guarantee while it wants it. From the rows of ranks; memory is
 * that of the request.
 */
#include "analysis/claims/claims.h"

#include <math.h>

/* From one change to the next. Waiting: jobs that have not started for the first time. */
const struct an_shared an_share_tenants = {
    "weir_shares",
    "WITH last AS (SELECT coalesce(max(t_s + dt_s), 0.0) AS t FROM cluster_sample"
    "  WHERE run_id = :run),"
    " cap AS (SELECT total(cpus) AS cpu, total(gpus) AS gpu, total(ram_bytes) AS ram FROM node"
    "  WHERE run_id = :run),"
    " j AS NOT MATERIALIZED (SELECT workload, job, tenant, submit_s,"
    "  coalesce(first_start_s, end_s, last.t) AS first_s, cpus / members AS cpu,"
    "  (SELECT total(CAST(value AS REAL) * iif(value GLOB '* GB', 1e9, 1073741824.0))"
    "   FROM json_each('[\"' || replace(replace(request, ', ', ' + '), ' + ', '\",\"') || '\"]')"
    "   WHERE value GLOB '[0-9]* GiB' OR value GLOB '[0-9]* GB') AS ram FROM job, last"
    "  WHERE run_id = :run AND tenant <> '' AND outcome <> 'refused'),"
    /* Jobs by their index, where there are any: SQLite would go through all ranks a job. */
    " rank AS MATERIALIZED (SELECT j.tenant, w.created_s AS a, coalesce(w.ended_s, last.t) AS b,"
    "  j.cpu, w.gpu_amount AS gpu, j.ram FROM last CROSS JOIN worker w CROSS JOIN j"
    "  ON j.workload = w.workload AND j.job = w.job WHERE w.run_id = :run"
    "  AND EXISTS (SELECT 1 FROM job WHERE run_id = :run)),"
    " edge AS (SELECT tenant, a AS t, cpu, gpu, ram, 0 AS waits FROM rank"
    "  UNION ALL SELECT tenant, b, -cpu, -gpu, -ram, 0 FROM rank"
    "  UNION ALL SELECT tenant, submit_s, 0, 0, 0, 1 FROM j WHERE first_s > submit_s"
    "  UNION ALL SELECT tenant, first_s, 0, 0, 0, -1 FROM j WHERE first_s > submit_s"
    "  UNION ALL SELECT DISTINCT rank.tenant, 0.0, 0, 0, 0, 0 FROM rank"
    "  UNION ALL SELECT DISTINCT rank.tenant, last.t, 0, 0, 0, 0 FROM rank, last),"
    " sums AS (SELECT tenant, t, total(cpu) AS cpu, total(gpu) AS gpu, total(ram) AS ram,"
    "  total(waits) AS waits FROM edge GROUP BY tenant, t),"
    " level AS (SELECT tenant, t, lead(t) OVER w AS next, sum(cpu) OVER w AS cpus,"
    "  sum(gpu) OVER w AS gpus, sum(ram) OVER w AS rams, sum(waits) OVER w AS waits FROM sums"
    "  WINDOW w AS (PARTITION BY tenant ORDER BY t))"
    " SELECT tenant, t, next, gpus, waits, max(0.0, coalesce(cpus / nullif(cap.cpu, 0), 0),"
    "  coalesce(gpus / nullif(cap.gpu, 0), 0), coalesce(rams / nullif(cap.ram, 0), 0)) AS dominant,"
    "  coalesce(gpus / nullif(cap.gpu, 0), 0) AS gpu FROM level, cap WHERE next > t"
};

static void say_dominant(struct an_claim *claim)
{
    const struct an_word most = an_claim_name(claim, "tenant");
    const struct an_word share = an_word_percent(an_claim_number(claim, "share"));
    if (an_claim_number(claim, "tenants") > 1.5)
        an_claim_say(claim, "“%s” has a dominant share of %s on average, “%s” of %s", most.text,
                     share.text, an_claim_name(claim, "other").text,
                     an_word_percent(an_claim_number(claim, "other_share")).text);
    else
        an_claim_say(claim, "“%s” has a dominant share of %s on average", most.text, share.text);
}

static void say_short(struct an_claim *claim)
{
    an_claim_say(claim, "“%s” has less than its guaranteed %s GPUs for %s in which its jobs wait",
                 an_claim_name(claim, "tenant").text,
                 an_word_number(an_claim_number(claim, "guarantee")).text,
                 an_word_duration(an_claim_number(claim, "for")).text);
}

static void say_most(struct an_claim *claim)
{
    an_claim_say(claim, "%s has %s of the GPU time of tenants, %s GPUs on average",
                 an_claim_name(claim, "tenant").text,
                 an_word_percent(an_claim_number(claim, "share")).text,
                 an_word_number(an_claim_number(claim, "gpus")).text);
}

static const struct an_claim_ops rows[] = {
    { .name = "tenants.most",
      .threshold = "a tenant whose jobs held GPUs after the warm-up",
      .shared = &an_share_tenants,
      .sql =
          "WITH m AS (SELECT tenant, sum(gpus * (next - max(t, :from))) AS gpu_s FROM weir_shares"
          " WHERE next > :from GROUP BY tenant)"
          " SELECT tenant, gpu_s / (SELECT sum(gpu_s) FROM m) AS share, gpu_s / (SELECT"
          " max(next) - :from FROM weir_shares) AS gpus FROM m WHERE gpu_s > 0"
          " ORDER BY gpu_s DESC, tenant LIMIT 1",
      .say = say_most },
    { .name = "tenants.short",
      .threshold =
          "a minute and a hundredth of the time after the warm-up in which jobs of a tenant wait "
          "and it holds less than its guarantee: less is what a decision and a start take",
      .shared = &an_share_tenants,
      .sql = "SELECT s.tenant, g.value AS guarantee, sum(s.next - max(s.t, :from)) AS 'for'"
             " FROM weir_shares s"
             " JOIN result g ON g.run_id = :run AND g.metric = 'tenant.guarantee'"
             " AND g.label = s.tenant WHERE s.waits > 0 AND s.gpus < g.value - 1e-6"
             " AND s.next > :from GROUP BY s.tenant HAVING sum(s.next - max(s.t, :from)) >="
             " max(60, 0.01 * (SELECT max(next) - :from FROM weir_shares)) ORDER BY 3 DESC, "
             "s.tenant LIMIT 1",
      .say = say_short },
    { .name = "tenants.dominant",
      .threshold = "a tenant whose jobs ran; after the warm-up",
      .shared = &an_share_tenants,
      .sql = "WITH m AS (SELECT tenant, sum(dominant * (next - max(t, :from))) /"
             "  sum(next - max(t, :from)) AS share, count(*) OVER () AS tenants FROM weir_shares"
             "  WHERE next > :from GROUP BY tenant),"
             " a AS (SELECT * FROM m ORDER BY share DESC, tenant LIMIT 1),"
             " z AS (SELECT * FROM m ORDER BY share, tenant DESC LIMIT 1)"
             " SELECT a.tenants, a.tenant, a.share, z.tenant AS other, z.share AS other_share"
             " FROM a, z",
      .say = say_dominant },
};

AN_CLAIM_FAMILY(tenants, rows);
