/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The analysis room: reads result databases, never scenarios, and never writes to them.
 *
 * One query layer (query.c) feeds sentences, tables, tiles and charts alike, so that they cannot
 * contradict each other. Statistics are honest about dependence: replications and paired
 * differences under common random numbers, never samples of one run taken as independent.
 */
#ifndef ANALYSIS_ANALYSIS_H
#define ANALYSIS_ANALYSIS_H

#include "analysis/moment.h"
#include "weir/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct an_db;

/* Opens read-only. WEIR_EIO: missing, not SQLite, not a weir database, newer schema (says which).
 */
weir_status an_open(const char *path, struct an_db **db, struct weir_error *error);
void an_close(struct an_db *db);

/* ---- comparison of variants ---- */

enum an_verdict {
    AN_BASELINE,
    AN_BETTER,
    AN_WORSE,
    AN_TIE,                  /* the interval of the difference holds 0 */
    AN_DETERMINISTIC_BETTER, /* replications are identical: no interval, plain difference */
    AN_DETERMINISTIC_WORSE,
    AN_DETERMINISTIC_TIE,
    AN_NEUTRAL,     /* the metric has no better direction */
    AN_ENDED_EARLY, /* it, or the baseline, ended before its work was done */
    AN_OPEN,        /* a bound from below on the side that would win, or a mean without the rest */
    AN_ONE_RUN      /* one replication: figures, no statement about chance */
};
/* One or two words: "better", "ended early". */
const char *an_verdict_text(enum an_verdict verdict);
/* The same for people, who are told that two variants are equal in every run. */
const char *an_verdict_word(enum an_verdict verdict);

/* SQL, of a row of worker: another took its place as it was to be; its work was over. */
#define AN_RENEWED_SQL "end_reason IN ('too old', 'another version')"
#define AN_OVER_SQL    "end_reason IN ('stage done', 'done', 'system over')"

/* SQL, of a row of result: the share of the work that is not in a mean, since it was not over when
 * the run ended; 0 of all else. What is not in it may be longer or shorter: from 5 % on, as a mean
 * over the runs, it is neither the mean of all nor a bound of it. */
#define AN_LEFT_OUT                                                                                \
    "iif(metric GLOB '*.mean' OR metric GLOB '*.mean@*', 1.0 * censored / max(n + censored, 1), "  \
    "0.0)"
#define AN_IS_PARTIAL(share) ((share) > 0.05)

struct an_cell {
    double mean, half_width; /* 95 % of the mean over replications; NAN = fewer than 2 */
    double low, high;        /* the same interval, within the range of the metric; NAN = none */
    /* Of shares: "" or what stands for an interval ("in all 5 runs"). */
    char in_all[40];
    double difference, difference_low, difference_high; /* paired, variant - baseline */
    double p_value;      /* paired t, Holm over the variants; NAN when deterministic */
    double sign_p_value; /* sign test */
    uint32_t n;
    bool is_deterministic;
    bool is_lower_bound;
    bool is_partial; /* of what was over alone: nothing is compared with it */
    bool is_best;    /* best mean of the row */
    bool is_tied_with_best;
    enum an_verdict verdict;
};

struct an_metric_row {
    char *metric, *label, *unit, *title;
    int better;            /* +1 more, -1 less, 0 neither */
    bool is_share;         /* a ratio or %: differences are points */
    bool is_goal;          /* of the scenario; conditions of it stand next */
    struct an_cell *cells; /* by variant */
};

/* Runs of a variant that ended before their work was done: it is compared with nothing. */
struct an_early {
    uint32_t runs;
    bool is_unexpected; /* and no expectation of the scenario says so */
    bool was_baseline;  /* another variant took its place */
    char *sentence;     /* "x ended early in 3 of 10 runs: why"; NULL = none did */
};

struct an_comparison {
    char **variants;
    struct an_early *early; /* by variant */
    size_t variant_count;
    size_t baseline;
    struct an_metric_row *rows;
    size_t row_count;
    size_t shown; /* rows that tables show; programs get all */
    char goal_metric[96];
    int goal_better; /* of the goal, whatever the metric says of itself */
    char *goal;      /* "more throughput, while latency p95 <= 30m: the scenario says so" */
    char **missed;   /* by variant: the conditions of the goal it misses; "" = none */
    char *left_out;  /* a line for each variant of which a run failed: "x is left out, ..." */
    char *varies;    /* what differs between replications; "" = the database does not say */
    char *audit;     /* what was tuned, with what budget, on what; "" = nothing */
    char *contest;   /* the finding without what ended early; "" = nothing is left to compare */
    char *finding;   /* "xenna finishes 9.9x more per second than equal_split (95 % CI ...)" */
};

struct an_compare_options {
    const char *baseline;       /* NULL = the experiment's */
    const char *const *metrics; /* NULL = the default set */
    size_t metric_count;
    bool is_short; /* of the default set only what tables show */
};

/* WEIR_EINVAL when runs are not comparable (other scenario, other warm-up, unpaired replications);
 * the sentence names the field that differs. */
weir_status an_compare(struct an_db *db, const struct an_compare_options *options,
                       struct an_comparison **comparison, struct weir_error *error);
/* A mean with its interval as people read it: "2m5s ± 8 s", "95 % [86, 98]", "≥ 3h", "3h so far".
 */
struct an_mean_text {
    char text[160];
};
struct an_mean_text an_mean_of(const struct an_metric_row *row, const struct an_cell *cell);
/* A difference as people read it: of shares in points, of others in their unit; "" = there is
 * none. And the same in percent of the baseline, where that is above 0. */
struct an_change {
    char plain[96], relative[96];
};
struct an_change an_change_of(const struct an_metric_row *row, size_t baseline, size_t variant);
/* Which signs the rows that tables show need a word for. */
struct an_signs {
    bool has_bounds;   /* ≥ */
    bool has_partials; /* so far */
};
struct an_signs an_signs_of(const struct an_comparison *comparison);
/* The row of a metric, NULL when there is none; `comparison` may be NULL. */
const struct an_metric_row *an_comparison_row(const struct an_comparison *comparison,
                                              const char *metric);
void an_comparison_destroy(struct an_comparison *comparison);

/* ---- charts and report ---- */

/* Names of the charts that exist, with the question each answers. */
struct an_plot_info {
    const char *name;
    const char *question;
};
size_t an_plot_count(void);
const struct an_plot_info *an_plot_at(size_t index);

/* What a page answers first. By itself that of an incident where the scenario has windows. */
enum an_page_kind { AN_PAGE_AUTO, AN_PAGE_RUN, AN_PAGE_INCIDENT, AN_PAGE_REVIEW };

struct an_observed;
struct an_plot_options {
    const char *variant; /* NULL = baseline */
    uint32_t replication;
    double at_s;                        /* placement chart; NAN = the busiest moment */
    struct an_moment at;                /* the same as it was given, goes first */
    uint32_t as;                        /* enum an_page_kind: of a page */
    const struct an_observed *observed; /* measured curves; NULL = none */
    const char *what_if;                /* a sentence for the page of an incident; NULL = none */
    const char *notes;                  /* of the reader of a review, Markdown; NULL = none */
};

/* Writes NAME.gp and NAME.dat into `folder` and runs gnuplot on them; `output` ends in .svg, .png
 * or .pdf. An empty result becomes a card that says so. */
weir_status an_plot(struct an_db *db, const char *name, const struct an_plot_options *options,
                    const char *folder, const char *output, struct weir_error *error);

/* One self-contained HTML page: findings, tables, at least eight charts as inline SVG, assumptions,
 * how to repeat. */
weir_status an_report(struct an_db *db, const struct an_plot_options *options, const char *output,
                      struct weir_error *error);

/* What a capacity review finds, as Markdown. */
weir_status an_review_markdown(struct an_db *db, FILE *out, struct weir_error *error);

/* ---- explanations ---- */

struct an_explain_query {
    const char *variant; /* NULL = baseline */
    uint32_t replication;
    int64_t worker;  /* -1 = none: why is it here, and why did it end */
    const char *job; /* name, workload/name or number: its story; NULL = none */
    bool is_pending; /* all that waits at at_s (NAN = at the end) */
    /* "Did you mean": `name` when it is nearer to `word` than `best`. NULL = nothing is near. */
    const char *(*nearer)(const char *word, const char *best, const char *name);
    const char *stage;             /* why was none added between from_s and to_s */
    double from_s, to_s;           /* NAN = open */
    double at_s;                   /* NAN = none: the decision in force at that time */
    struct an_moment from, to, at; /* the same as they were given, go first */
    bool as_json;                  /* one JSON document instead of sentences */
};
/* Prints sentences (and a table of decisions for a stage) to `out`. */
weir_status an_explain(struct an_db *db, const struct an_explain_query *query, FILE *out,
                       struct weir_error *error);

#endif
