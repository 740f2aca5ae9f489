/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims that put the means of variants side by side: latencies, families of rules. Nobody is
 * called better here, that is the verdict's; what ended early is left out, since its items are
 * those that were lucky.
 */
#include "analysis/claims/claims.h"

#include "analysis/nan.h"

#include <math.h>
#include <string.h>

#define LATENCY                                                                                    \
    "WITH x AS (SELECT v.*, r.variant_order AS place FROM v_result v JOIN run r USING (run_id)"    \
    "  WHERE v.value > 0 AND (v.label = '' OR (SELECT count(DISTINCT label) FROM v_result"         \
    "  WHERE metric = v.metric) = 1) AND v.variant NOT IN"                                         \
    "  (SELECT variant FROM run WHERE status = 'ended early')),"                                   \
    " l AS (SELECT variant, min(place) AS place, avg(iif(metric = 'lat.e2e.p50', value, NULL)) "   \
    "AS p50,"                                                                                      \
    "  avg(iif(metric = 'lat.e2e.p95', value, NULL)) AS p95,"                                      \
    "  max(iif(metric = 'lat.e2e.p95', is_lower_bound, 0)) AS is_bound FROM x"                     \
    "  WHERE metric IN ('lat.e2e.p50', 'lat.e2e.p95') GROUP BY variant"                            \
    "  HAVING count(DISTINCT metric) = 2),"                                                        \
    " a AS (SELECT * FROM l ORDER BY p95, place, variant LIMIT 1),"                                \
    " z AS (SELECT * FROM l ORDER BY p95 DESC, place DESC, variant DESC LIMIT 1) "

static struct an_word time_of(const struct an_claim *claim, const char *key)
{
    return an_word_duration(an_claim_number(claim, key));
}

/* Whatever those take that are unfinished: of a bound it is the slow ones that it says something
 * about. */
static void say_two(struct an_claim *claim)
{
    const bool is_bound =
        an_claim_number(claim, "is_bound") > 0.5 || an_claim_number(claim, "other_is_bound") > 0.5;
    an_claim_say(claim, "%s %s with “%s”, %s with “%s”",
                 is_bound ? "One item in twenty takes at least" : "95 % of the items take at most",
                 time_of(claim, "p95").text, an_claim_name(claim, "variant").text,
                 time_of(claim, "other_p95").text, an_claim_name(claim, "other").text);
}

static void say_one(struct an_claim *claim)
{
    const char *variant = an_claim_word(claim, "variant");
    if (an_claim_number(claim, "is_bound") > 0.5)
        an_claim_say(claim, "One item in twenty%s%s takes at least %s",
                     variant[0] == '\0' ? "" : " of ", an_claim_name(claim, "variant").text,
                     time_of(claim, "p95").text);
    else if (!(an_claim_number(claim, "p95") > an_claim_number(claim, "p50")))
        an_claim_say(claim, "95 %% of the items%s%s take %s at most",
                     variant[0] == '\0' ? "" : " of ", an_claim_name(claim, "variant").text,
                     time_of(claim, "p95").text);
    else
        an_claim_say(claim, "Half of the items%s%s take at most %s, one in twenty at least %s",
                     variant[0] == '\0' ? "" : " of ", an_claim_name(claim, "variant").text,
                     time_of(claim, "p50").text, time_of(claim, "p95").text);
}

/* ---- families ---- */

/* The first of these that the file has is what the chart shows; labels up to the first blank, which
 * name the policy of the variant. */
static const char families_sql[] =
    "WITH k AS (SELECT metric, scale FROM (SELECT 'alloc.gpu_pct' AS metric, 1 AS scale, 1 AS n"
    "   UNION ALL SELECT 'pack.density', 100, 2 UNION ALL SELECT 'thr.pipeline', 1, 3) c"
    "  WHERE EXISTS (SELECT 1 FROM v_result v WHERE v.metric = c.metric AND v.label = ''"
    "   AND v.value > 0) ORDER BY n LIMIT 1),"
    " m AS (SELECT r.variant, k.scale * avg(v.value) AS value, min(r.variant_order) AS place,"
    "  substr(r.variant, 1, instr(r.variant || ' ', ' ') - 1) AS family"
    "  FROM k JOIN v_result v USING (metric) JOIN run r USING (run_id) WHERE v.label = ''"
    "  AND v.value IS NOT NULL AND family IN (r.placement, r.scaling) GROUP BY r.variant),"
    " f AS (SELECT family, max(value) - min(value) AS inside, count(*) AS size, min(place) AS "
    "place,"
    "  (SELECT value FROM m o WHERE o.family = m.family ORDER BY place, variant LIMIT 1) AS first"
    "  FROM m GROUP BY family)"
    " SELECT family, inside, (SELECT max(first) - min(first) FROM f) AS choice,"
    " (SELECT metric FROM k) AS metric FROM f WHERE (SELECT max(size) FROM f) > 1"
    " ORDER BY inside DESC, place LIMIT 1";

static void say_families(struct an_claim *claim)
{
    const bool is_rate = strcmp(an_claim_word(claim, "metric"), "thr.pipeline") == 0;
    an_claim_say(claim, "Rules inside %s move its result by %s %s, the choice of policy by %s",
                 an_claim_name(claim, "family").text,
                 an_word_number(an_claim_number(claim, "inside")).text, is_rate ? "1/s" : "points",
                 an_word_number(an_claim_number(claim, "choice")).text);
}

static const struct an_claim_ops rows[] = {
    { .name = "latency.two",
      .threshold = "two variants with different p95 that ran to their end: means, no winner",
      .sql = LATENCY "SELECT a.variant AS variant, a.p95 AS p95, a.is_bound AS is_bound,"
                     " z.variant AS other, z.p95 AS other_p95, z.is_bound AS other_is_bound"
                     " FROM a, z WHERE z.p95 > a.p95",
      .say = say_two },
    { .name = "latency.one",
      .threshold = "a variant that ran to its end",
      .sql = LATENCY "SELECT iif((SELECT count(DISTINCT variant) FROM run) > 1, a.variant, '')"
                     " AS variant, a.p50 AS p50, a.p95 AS p95, a.is_bound AS is_bound FROM a, z"
                     " WHERE z.p95 <= a.p95",
      .say = say_one },
    { .name = "families.rules",
      .threshold = "two variants that begin with the name of their policy",
      .sql = families_sql,
      .say = say_families },
};

AN_CLAIM_FAMILY(variants, rows);
