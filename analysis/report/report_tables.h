/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of the report page, as HTML. Each reads the facts or asks the query layer, writes one
 * section, and writes nothing when it has nothing to say.
 */
#ifndef ANALYSIS_REPORT_TABLES_H
#define ANALYSIS_REPORT_TABLES_H

#include "analysis/claim.h"
#include "analysis/facts.h"

#include <stdio.h>

struct an_review;
struct an_page {
    FILE *out;
    struct an_keeper *keeper; /* of the frames of the page */
    const struct an_run *run;
    const struct an_facts *facts;
    const struct an_frame *work;            /* name, 1 = jobs: pipelines first (report_work.h) */
    const struct an_comparison *comparison; /* NULL = not comparable */
    const char *why_not;                    /* then: the reason */
    const char *grows;                      /* the claim that it filled up; "" = none */
    uint32_t as;                            /* enum an_page_kind */
    const char *what_if;                    /* what would have helped; NULL = nobody asked */
    const struct an_review *review;         /* of a capacity review; NULL = this page is none */
};

/* Jobs that arrive, wait, run and end: neither a pipeline nor a static experiment. */
bool an_page_is_timed(const struct an_page *page);
/* The run ended before its warm-up did. */
bool an_page_is_warmup(const struct an_page *page);
/* A result of the page's run, "metric" or "metric:label"; NAN when there is none. */
struct an_value an_page_value(const struct an_page *page, const char *metric);
double an_page_result(const struct an_page *page, const char *metric);
void an_page_tile(const struct an_page *page, const char *value, const char *text);
/* The first claim that holds of names split by blanks, about the page's run. */
weir_status an_page_claim(const struct an_page *page, const char *names, struct an_claim *claim,
                          struct weir_error *error);
weir_status an_page_tiles(const struct an_page *page, struct weir_error *error);
void an_page_comparison(const struct an_page *page);
void an_page_stages(const struct an_page *page);
/* False too where results alone were kept: there is nothing to say of them then. */
bool an_page_has_stages(const struct an_page *page);
weir_status an_page_decisions(const struct an_page *page, struct weir_error *error);
weir_status an_page_events(const struct an_page *page, struct weir_error *error);
weir_status an_page_assumptions(const struct an_page *page, struct weir_error *error);
weir_status an_page_repeat(const struct an_page *page, struct weir_error *error);

/* A table of the data of a chart (the text of NAME.dat), thinned where it is long. */
void an_page_data(FILE *out, const char *data);

#endif
