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
    an_claims_tiles, an_claims_incident, an_claims_waits, an_claims_spread, an_claims_tenants;

/* The claim that says which variant the comparison is for; "" when there is nothing to compare. */
void an_verdict(const struct an_comparison *comparison, struct an_claim *claim);

#define AN_CLAIM_FAMILY(name, rows)                                                                \
    const struct an_claim_family an_claims_##name = { rows, sizeof(rows) / sizeof((rows)[0]) }

#endif
