/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a capacity review decides: the values of one axis of an experiment, each judged by the
 * conditions of the goal, for every option (a variant, or a value of the other axes).
 *
 * Text, tables and charts of a page read this one table, so that a size is the same everywhere. The
 * rule is that of the upper confidence bound: a value is safe when the 95 % interval of every
 * condition holds there and nothing easier that was run fails.
 */
#ifndef ANALYSIS_REVIEW_H
#define ANALYSIS_REVIEW_H

#include "analysis/goal.h"
#include "analysis/points.h"

enum { AN_REVIEW_OPTIONS = 8, AN_REVIEW_NAME = 64 };

struct an_review_size {
    size_t variant;    /* of the points */
    const char *text;  /* its value on the axis, as it was given */
    double value;      /* the same as a number */
    uint32_t runs;     /* at least 1 */
    double gpus, cost; /* installed; $ of a run, the mean; NAN = no prices */
    double span_s;     /* of a run */
    double goal;       /* its metric, the mean; more is better */
    struct an_judged judged;
};

struct an_review_option {
    char name[AN_REVIEW_NAME]; /* "" = there is one */
    struct an_review_size *sizes;
    size_t count;  /* that were run, easiest last */
    size_t safe;   /* the hardest value that holds for certain; count = none */
    size_t likely; /* the same by the means alone */
};

struct an_review {
    struct an_points points;
    struct an_goal goal;
    size_t axis;
    bool is_demand; /* the axis is of work, more of it is harder; else of what is there */
    bool is_scale;  /* and counts in multiples of the work there is now */
    struct an_review_option options[AN_REVIEW_OPTIONS];
    size_t count;        /* 0 = nothing was sized */
    size_t best;         /* safe, of several the cheapest, then the best; count = nobody can say:
                            they have no prices and are not of one size */
    double growth_month; /* of the work, from the scenario; NAN = not said */
};

/* An experiment without a numeric axis, or a goal without conditions, has no options. To be cleared
 * in any case. O(variants) comparisons. */
weir_status an_review_read(struct an_db *db, struct an_review *review, struct weir_error *error);
void an_review_clear(struct an_review *review);

/* The safe size of the best option; NULL = there is none. */
const struct an_review_size *an_review_choice(const struct an_review *review);
/* That, or the best of what comes nearest: of each option its safe value, else the hardest that
 * holds by its mean, else its easiest; NULL = nothing was sized. */
const struct an_review_size *an_review_nearest(const struct an_review *review, size_t *option);
/* As they are read: what is printed alike costs the same. */
bool an_review_is_same_cost(double a, double b);
/* How much the work grows a month, as the scenario says; NAN = it does not. */
weir_status an_review_growth(struct an_db *db, double *growth_month, struct weir_error *error);
/* Weeks until demand that grows so much a month is `factor` times today's: 0 = it is already;
 * INFINITY = never. */
double an_review_weeks(double growth_month, double factor);
/* The conditions of the goal in words: "wait p95 <= 30m"; of the first size that was run. */
void an_review_conditions(const struct an_review *review, char *text, size_t size);

#endif
