/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The page of a capacity review: what to do, for how much, when the next one is due, and the values
 * it was chosen from. All of it is from one table (review.h).
 */
#ifndef ANALYSIS_REPORT_REVIEW_H
#define ANALYSIS_REPORT_REVIEW_H

#include "analysis/report/report_tables.h"
#include "analysis/report/review.h"

/* The sentence over the page; "" in claim->text where nothing was sized. */
void an_review_headline(const struct an_review *review, struct an_claim *claim);
/* What to do, the reader's notes (Markdown; NULL = none), the values that were run. */
void an_page_review(const struct an_page *page, const char *notes);
/* The same without a page, as Markdown. */
void an_review_print(const struct an_review *review, const char *scenario, FILE *out);

#endif
