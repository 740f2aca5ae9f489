/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a comparison is about: the goal that the scenario gives (`goal:`), or the default of its
 * first kind of work. The verdict, the headline, the order of charts and the rows of tables follow
 * it.
 */
#ifndef ANALYSIS_GOAL_H
#define ANALYSIS_GOAL_H

#include "analysis/database/query.h"

enum { AN_GOAL_CONDITIONS = 4, AN_GOAL_ROWS = 6 };

/* A mean that has to keep a bound. */
struct an_condition {
    char metric[96]; /* "id" or "id:label" */
    char op[4];      /* < <= > >= = near */
    double bound, slack;
};

struct an_goal {
    char metric[96];
    int better;         /* +1 more, -1 less */
    bool is_given;      /* by the scenario */
    bool is_refusing;   /* 1 % of the jobs or more */
    const char *kind;   /* of work: backlog, arrivals, replay, loss, fill, actors */
    const char *reason; /* why this is the default of the kind */
    struct an_condition conditions[AN_GOAL_CONDITIONS];
    size_t condition_count;
};

weir_status an_goal_read(struct an_db *db, struct an_goal *goal, struct weir_error *error);
bool an_condition_holds(const struct an_condition *condition, double value);
/* What the 95 % interval of a mean says: holds where all of it does, fails where none of it does. A
 * mean without an interval speaks for itself. One that is a lower bound never holds "less than",
 * since what is not seen yet may be longer: where it does not fail, nobody can say. Nor can anybody
 * of a mean of what was over alone. */
enum an_hold { AN_FAILS, AN_HOLDS, AN_UNDECIDED, AN_NOT_KNOWN };
enum an_hold an_condition_judge(const struct an_condition *condition, const struct an_cell *cell);
/* All conditions on the runs in focus (points.h) of one variant: the worst of them. A run that
 * ended early, or is not comparable, fails. */
enum { AN_JUDGED_TEXT = 160 };
struct an_judged {
    enum an_hold hold;
    bool means_hold;
    char means[AN_JUDGED_TEXT]; /* of what the conditions are about, as people read them */
};
/* "holds", "fails", which of both by its mean alone, or that nobody can say yet. */
const char *an_hold_text(enum an_hold hold, bool means_hold);
weir_status an_goal_judge(struct an_db *db, const struct an_goal *goal, struct an_judged *judged,
                          struct weir_error *error);
/* Metrics that the tables of a kind of work show after the goal, the index-th; NULL = no more. In
 * front what nobody may overlook: the cost, where there are prices, and that jobs were refused,
 * since all other figures are of those that were not. */
const char *an_goal_row(const struct an_goal *goal, size_t index);

#endif
