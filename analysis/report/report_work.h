/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sentences and tiles of the report about the work: the pipelines and the sources of jobs of a run.
 */
#ifndef ANALYSIS_REPORT_WORK_H
#define ANALYSIS_REPORT_WORK_H

#include "analysis/report/report_tables.h"

/* Fills page->work, which the caller destroys. */
weir_status an_page_read_work(struct an_page *page, struct weir_error *error);
/* More than one pipeline or source of jobs. */
bool an_page_is_several(const struct an_page *page);

/* The slowest stage of the pipeline where its workers are busiest; NULL = no stage was recorded as
 * the slowest. It limits when they are busy indeed. */
const struct an_stage_facts *an_page_limit(const struct an_page *page);
bool an_page_is_limit(const struct an_stage_facts *stage);

/* A result of the sources of jobs, added up; 0 = there are none. */
double an_page_jobs(const struct an_page *page, const char *metric);

/* For several: what each finishes, for the heading; a sentence each; tiles. */
void an_page_claims(const struct an_page *page);
void an_page_work(const struct an_page *page);
void an_page_work_tiles(const struct an_page *page);

#endif
