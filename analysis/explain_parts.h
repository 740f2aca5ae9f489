/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the explanations share: explain.c (workers, stages, moments) and explain_job.c (jobs, and
 * all that waits).
 */
#ifndef ANALYSIS_EXPLAIN_PARTS_H
#define ANALYSIS_EXPLAIN_PARTS_H

#include "analysis/database/query.h"
#include "analysis/text.h"

struct an_explanation {
    struct an_keeper *keeper; /* of the frames of the answer */
    const struct an_run *run;
    const struct an_explain_query *query;
    FILE *out;
};

static inline struct an_word an_explain_clock(const struct an_explanation *explanation, double t_s)
{
    return an_word_clock(explanation->run->start_unix_s, t_s);
}

/* "1 decision", "2 decisions" */
static inline const char *an_explain_plural(double count)
{
    return count > 1.5 ? "s" : "";
}

/* Prints the single text of a query: JSON that SQLite built; "null" without a row. */
weir_status an_explain_json(const struct an_explanation *explanation, const char *sql,
                            const struct an_args *args, struct weir_error *error);

weir_status an_explain_job(const struct an_explanation *explanation, struct weir_error *error);
weir_status an_explain_pending(const struct an_explanation *explanation, struct weir_error *error);

#endif
