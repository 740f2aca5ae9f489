/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What claims are checked against: a statement for each, written apart from its query. It yields a
 * row where the claim is true, with some of the values of the claim as columns of the same names,
 * and none where it is not. Verdicts are no single statement; tests/property/claims.c has them.
 */
#ifndef TESTS_SUPPORT_CLAIM_TRUTHS_H
#define TESTS_SUPPORT_CLAIM_TRUTHS_H

struct claim_truth {
    const char *name;
    const char *sql; /* :run :from :at */
};

/* NULL = there is none for this claim. */
const struct claim_truth *claim_truth_of(const char *name);

#endif
