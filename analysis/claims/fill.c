/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about fills: jobs that arrive until nothing fits and never end. Means over the
 * replications of each variant; two variants are named, the one that leaves least and the one that
 * leaves most, which says nothing about chance.
 */
#include "analysis/claims/claims.h"

#include "analysis/nan.h"

#include <math.h>
#include <string.h>

/* ---- why GPUs stay unallocated, of the run's variant ---- */

static const char unallocated_sql[] =
    "WITH m AS (SELECT metric, avg(value) AS pct FROM v_result WHERE metric GLOB 'unalloc.*_pct'"
    "  AND label = '' AND variant = (SELECT variant FROM run WHERE run_id = :run) GROUP BY metric),"
    " c AS (SELECT * FROM m WHERE metric <> 'unalloc.gpu_pct' AND pct > 0 ORDER BY pct DESC,"
    "  metric LIMIT 1)"
    " SELECT (SELECT variant FROM run WHERE run_id = :run) AS variant, m.pct AS 'all',"
    " c.metric AS cause, c.pct AS part FROM m LEFT JOIN c WHERE m.metric = 'unalloc.gpu_pct'";

static const char *cause_text(const char *metric)
{
    static const char *const causes[][2] = {
        { "unalloc.fraction_pct", "too little left on a GPU" },
        { "unalloc.gang_pct", "too few whole GPUs on a node" },
        { "unalloc.cpu_pct", "CPUs short" },
        { "unalloc.gpumem_pct", "GPU memory short" },
        { "unalloc.mem_pct", "memory short" },
        { "unalloc.model_pct", "no accepted model" },
        { "unalloc.policy_pct", "refused by the policy" },
        { "unalloc.no_demand_pct", "not asked for" },
    };
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (strcmp(causes[i][0], metric) == 0)
            return causes[i][1];
    return metric;
}

static void say_unallocated(struct an_claim *claim)
{
    if (an_claim_word(claim, "cause")[0] == '\0')
        an_claim_say(claim, "%s allocates every GPU", an_claim_name(claim, "variant").text);
    else
        an_claim_say(claim, "%s leaves %.1f %% of the GPUs unallocated; %.1f points: %s",
                     an_claim_name(claim, "variant").text, an_claim_number(claim, "all"),
                     an_claim_number(claim, "part"), cause_text(an_claim_word(claim, "cause")));
}

/* ---- two variants ---- */

#define LEAST                                                                                      \
    " , a AS (SELECT * FROM m ORDER BY value, place, variant LIMIT 1),"                            \
    " z AS (SELECT * FROM m ORDER BY value DESC, place, variant LIMIT 1)"                          \
    " SELECT a.variant AS variant, a.value AS least, iif(z.value > a.value, z.variant, NULL) AS "  \
    "other,"                                                                                       \
    " z.value AS most"
#define ENDS     LEAST " FROM a, z WHERE a.value IS NOT NULL"
#define VARIANTS "v AS (SELECT variant, min(variant_order) AS place FROM run GROUP BY variant)"

/* At the last percent of demand that every run reached: a mean over those that got further would be
 * of the lucky ones. */
static const char curve_sql[] =
    "WITH " VARIANTS ", s AS (SELECT run_id, variant, arrived_pct, 100 - alloc_gpu_pct AS value"
    "  FROM v_arrival), l AS (SELECT max(arrived_pct) AS asked FROM (SELECT arrived_pct FROM s"
    "   GROUP BY arrived_pct HAVING count(*) = (SELECT count(DISTINCT run_id) FROM s) AND"
    "   count(DISTINCT iif(value IS NULL, NULL, variant)) = (SELECT count(DISTINCT variant) FROM"
    "    s))), m AS (SELECT s.variant, avg(s.value) AS value, v.place FROM s JOIN l ON"
    "  s.arrived_pct = l.asked JOIN v USING (variant) WHERE s.value IS NOT NULL"
    "  GROUP BY s.variant)" LEAST ", (SELECT asked FROM l) AS asked"
    "  FROM a, z WHERE a.value IS NOT NULL";

/* When all GPUs had been asked for, if that was so in every run. */
static const char bound_sql[] =
    "WITH " VARIANTS ", g AS (SELECT variant, label, avg(value) AS value FROM v_result"
    "  WHERE metric = 'alloc.gap_pp' AND value IS NOT NULL GROUP BY variant, label),"
    " c AS (SELECT label, count(*) AS runs FROM v_result WHERE metric = 'alloc.gap_pp'"
    "  AND value IS NOT NULL GROUP BY label),"
    " w AS (SELECT iif((SELECT runs FROM c WHERE label = '100 % arrived') = (SELECT runs FROM c"
    "  WHERE label = ''), '100 % arrived', '') AS label), m AS (SELECT g.variant, g.value, v.place "
    "FROM g JOIN v USING (variant) JOIN w"
    "  USING (label))" ENDS;

static void say_two(struct an_claim *claim, const char *verb, const char *what, const char *unit)
{
    char other[80] = "";
    if (an_claim_word(claim, "other")[0] != '\0')
        (void)snprintf(other, sizeof other, ", %s %.1f %s", an_claim_name(claim, "other").text,
                       an_claim_number(claim, "most"), unit);
    an_claim_say(claim, "%s %s %.1f %s %s%s", an_claim_name(claim, "variant").text, verb,
                 an_claim_number(claim, "least"), unit, what, other);
}

static void say_curve(struct an_claim *claim)
{
    char what[80];
    (void)snprintf(what, sizeof what, "of the GPUs unallocated at %.0f %% demand",
                   an_claim_number(claim, "asked"));
    say_two(claim, "leaves", what, "%");
}

static void say_bound(struct an_claim *claim)
{
    say_two(claim, "stays", "below the bound on GPU allocation", "points");
}

static const char rate_sql[] =
    "SELECT value AS pct, (SELECT value FROM v_result WHERE run_id = :run"
    "  AND metric = 'alloc.gap_pp' AND label = '100 % arrived') AS gap FROM v_result"
    " WHERE run_id = :run AND metric = 'alloc.gpu_pct' AND label = ''";

static void say_rate(struct an_claim *claim)
{
    const double gap = an_claim_number(claim, "gap");
    char rest[80] = "";
    if (!isnan(gap))
        (void)snprintf(rest, sizeof rest, "; %.1f points below the bound when all were asked for",
                       gap);
    an_claim_say(claim, "%.1f %% of the GPUs are allocated%s", an_claim_number(claim, "pct"), rest);
}

static const struct an_claim_ops rows[] = {
    { .name = "fill.rate", .threshold = "a fill of one run", .sql = rate_sql, .say = say_rate },
    { .name = "fill.unallocated",
      .threshold = "a fill: the cause is the one with most of what is unallocated",
      .sql = unallocated_sql,
      .say = say_unallocated },
    { .name = "fill.curve",
      .threshold = "a fill: means, no statement about chance",
      .sql = curve_sql,
      .say = say_curve },
    { .name = "fill.bound",
      .threshold = "a fill with a bound: means, no statement about chance",
      .sql = bound_sql,
      .say = say_bound },
};

AN_CLAIM_FAMILY(fill, rows);
