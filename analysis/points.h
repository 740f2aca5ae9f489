/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points of an experiment with axes, as its database has them: which variant stands where, and the
 * comparison of those that stand at one point.
 *
 * Nothing is compared across points: a point is another question. All of them have their random
 * numbers in common all the same, so that a curve over an axis is as smooth as its cause.
 */
#ifndef ANALYSIS_POINTS_H
#define ANALYSIS_POINTS_H

#include "analysis/database/query.h"

enum { AN_AXES = 16 }; /* most of an experiment */

struct an_axis {
    const char *path, *name;
    bool is_policy;    /* it is compared within a point */
    bool is_number;    /* all values are */
    const char **text; /* by variant */
    double *value;     /* by variant; NAN = text */
};

struct an_points {
    struct an_keeper keeper;
    struct an_axis *axes;
    size_t axis_count;
    const char **labels, **arms; /* by variant, in the order of the experiment */
    size_t *point;               /* by variant */
    size_t variant_count, point_count;
    bool is_varied; /* one value is changed at a time; variant 0 is the scenario as it is */
};

/* `points` has no axes when the experiment has none; it is to be cleared in any case. */
weir_status an_points_read(struct an_db *db, struct an_points *points, struct weir_error *error);
void an_points_clear(struct an_points *points);

/* All that is asked from now on is about the runs of one point alone; SIZE_MAX = of all again. */
weir_status an_points_focus(struct an_db *db, size_t point, struct weir_error *error);
/* The same about `count` replications of one variant, from `first` on. */
weir_status an_points_focus_runs(struct an_db *db, const char *variant, uint32_t first,
                                 uint32_t count, struct weir_error *error);
/* The point on which a variant stands, 0 when there is none of that name. */
size_t an_points_of(const struct an_points *points, const char *variant);

/* The first axis that is none of policies: what a curve goes along; axis_count = there is none. */
size_t an_points_run_along(const struct an_points *points);
/* Whether two variants differ in nothing but that axis, and what they have in common as a name (""
 * = nothing that needs one). */
bool an_points_is_same_line(const struct an_points *points, size_t axis, size_t a, size_t b);
void an_points_name_line(const struct an_points *points, size_t axis, size_t variant, char *name,
                         size_t size);

/* The first run that judges what was tuned; *variant is malloc'ed, NULL = nothing was. */
weir_status an_points_judged(struct an_db *db, char **variant, uint32_t *replication,
                             struct weir_error *error);
/* The same for the point of a variant, where the experiment has axes; of one that judges what was
 * tuned, its runs that do. */
weir_status an_points_look_at(struct an_db *db, const char *variant, struct weir_error *error);

/* The comparison at one point, its first variant (or that whose name there is `baseline`) being the
 * baseline; variants go by their names at the point. NULL when no run of the point is there. */
weir_status an_points_compare(struct an_db *db, const struct an_points *points, size_t point,
                              const struct an_compare_options *options,
                              struct an_comparison **comparison, struct weir_error *error);

/* The same of one variant alone, under its label: those of a point need not have as many runs. */
weir_status an_points_alone(struct an_db *db, const struct an_points *points, size_t variant,
                            const struct an_compare_options *options,
                            struct an_comparison **comparison, struct weir_error *error);

#endif
