/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The families of claims: one file each; a new claim is a row in the table of its family. */
#ifndef ANALYSIS_CLAIMS_CLAIMS_H
#define ANALYSIS_CLAIMS_CLAIMS_H

#include "analysis/claim.h"
#include "analysis/text.h"

struct an_claim_family {
    const struct an_claim_ops *claims;
    size_t count;
};

extern const struct an_claim_family an_claims_workers, an_claims_flow, an_claims_devices,
    an_claims_jobs, an_claims_change, an_claims_fill, an_claims_variants, an_claims_verdict,
    an_claims_tiles, an_claims_incident, an_claims_waits, an_claims_spread, an_claims_tenants,
    an_claims_machine, an_claims_given, an_claims_review;

/* The claim that says which variant the comparison is for; "" when there is nothing to compare. */
void an_verdict(const struct an_comparison *comparison, struct an_claim *claim);

/* SQL: stages take turns, as in a batch: two of them have workers in 5 % of the intervals in which
 * one has at most, which is the change from one to the next. Then none waits for another, and none
 * limits what comes out. */
#define AN_TURNS_SQL                                                                               \
    "(SELECT total((n > 1) * dt) <= 0.05 * total((n > 0) * dt) AND max(last) > min(first) FROM "   \
    "(SELECT"                                                                                      \
    " max(dt_s) AS dt, count(iif(workers > 0, 1, NULL)) AS n, min(iif(workers > 0, stage, NULL))"  \
    " AS first, max(iif(workers > 0, stage, NULL)) AS last FROM stage_sample WHERE run_id = :run " \
    "AND t_s >= :from GROUP BY t_s))"

/* SQL: what a link is called. */
#define AN_LINK_KIND_SQL                                                                           \
    "CASE WHEN l.kind = 'store' THEN 'Store' WHEN l.kind LIKE 'nic%' THEN 'Interface' ELSE "       \
    "'Uplink' END"

/* SQL: in all of this sample the link gave 99 % of what it could: less may be the end of a
 * transfer. */
#define AN_FULL_SQL                                                                                \
    "(s.delivered_bytes_per_s >= 0.99 * s.capacity_bytes_per_s AND s.delivered_bytes_per_s > 0)"

/* Shares are of the nodes that are up, which is said where those are not all the time all: fact
 * `up` is the part of all that they have on average. */
static inline bool an_claim_is_up(const struct an_claim *claim)
{
    return !(an_claim_number(claim, "up") < 0.9995);
}

static inline const char *an_claim_up(const struct an_claim *claim)
{
    return an_claim_is_up(claim) ? "" : " of nodes that are up";
}

#define AN_CLAIM_FAMILY(name, rows)                                                                \
    const struct an_claim_family an_claims_##name = { rows, sizeof(rows) / sizeof((rows)[0]) }

#endif
