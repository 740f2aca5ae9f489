/* SPDX-License-Identifier: GPL-3.0-or-later */
/* As many replications as an interval needs; see the header. */
#include "sim/cli/experiment/adaptive.h"

#include "analysis/points.h"
#include "analysis/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static size_t point_of(const struct sim_experiment *experiment, size_t variant)
{
    return experiment->points.count == 0 ? 0 : experiment->points.points[variant].point;
}

static void mark(const struct sim_adaptive *adaptive, const struct sim_experiment *experiment,
                 bool *wanted)
{
    for (size_t v = 0; v < experiment->variant_count; v++)
        for (uint32_t r = 0; r < adaptive->asked[point_of(experiment, v)]; r++)
            wanted[v * experiment->replications + r] = true;
}

/* The widest relative half width of the goal at a point; 0 when nothing varies, NAN when nothing
 * can be said, which more replications do not change. */
static double width_of(const struct an_comparison *comparison)
{
    double widest = (double)NAN;
    if (comparison == NULL || comparison->row_count == 0)
        return widest;
    for (size_t v = 0; v < comparison->variant_count; v++) {
        const struct an_cell *cell = &comparison->rows[0].cells[v];
        /* Of shares the interval is on another scale: half of it stands for the half width. */
        const double half =
            isnan(cell->half_width) ? 0.5 * (cell->high - cell->low) : cell->half_width;
        const double width = isnan(half) ? 0.0 : half / fabs(cell->mean);
        widest = fmax(widest, width);
    }
    return widest;
}

static double target_of(const struct sim_adaptive *adaptive)
{
    return adaptive->relative / (1.0 + adaptive->relative);
}

/* The number that this width asks for, at most twice as many as there are. */
static uint32_t next_number(const struct sim_adaptive *adaptive, size_t point)
{
    const double now = adaptive->asked[point];
    const double ratio = adaptive->reached[point] / target_of(adaptive);
    if (!(ratio > 1.0))
        return adaptive->asked[point];
    const double wanted = fmax(now + 1.0, fmin(ceil(now * ratio * ratio), 2.0 * now));
    return (uint32_t)fmin(wanted, adaptive->most);
}

static weir_status look(struct sim_adaptive *adaptive, struct an_db *db, struct an_points *points,
                        bool *is_over, struct weir_error *error)
{
    const struct an_compare_options query = { .is_short = true };
    WEIR_TRY(an_points_read(db, points, error));
    *is_over = true;
    for (size_t p = 0; p < adaptive->point_count; p++) {
        struct an_comparison *comparison = NULL;
        if (points->axis_count > 0)
            WEIR_TRY(an_points_compare(db, points, p, &query, &comparison, error));
        else
            WEIR_TRY(an_compare(db, &query, &comparison, error));
        adaptive->reached[p] = width_of(comparison);
        an_comparison_destroy(comparison);
        const uint32_t number = next_number(adaptive, p);
        *is_over = *is_over && number == adaptive->asked[p];
        adaptive->asked[p] = number;
    }
    return WEIR_OK;
}

static weir_status next(void *self, const struct sim_experiment *experiment, bool *wanted,
                        bool *is_over, struct weir_error *error)
{
    struct sim_adaptive *adaptive = self;
    struct an_points points = { .axes = NULL };
    struct an_db *db = NULL;
    weir_status status = WEIR_OK;
    *is_over = false;
    if (adaptive->asked[0] == 0) {
        for (size_t p = 0; p < adaptive->point_count; p++)
            adaptive->asked[p] =
                adaptive->most < SIM_ADAPTIVE_FIRST ? adaptive->most : SIM_ADAPTIVE_FIRST;
    } else {
        status = an_open(experiment->path, &db, error);
        if (status == WEIR_OK)
            status = look(adaptive, db, &points, is_over, error);
        an_points_clear(&points);
        an_close(db);
    }
    mark(adaptive, experiment, wanted);
    return status;
}

bool sim_adaptive_begin(struct sim_adaptive *adaptive, size_t points)
{
    adaptive->point_count = points;
    adaptive->asked = calloc(points + 1, sizeof *adaptive->asked);
    adaptive->reached = calloc(points + 1, sizeof *adaptive->reached);
    (void)snprintf(adaptive->rule, sizeof adaptive->rule, "goal within %.9g of its mean, %d to %u",
                   adaptive->relative, SIM_ADAPTIVE_FIRST, adaptive->most);
    adaptive->rounds =
        (struct sim_rounds){ .self = adaptive, .next = next, .rule = adaptive->rule };
    return adaptive->asked != NULL && adaptive->reached != NULL;
}

void sim_adaptive_end(struct sim_adaptive *adaptive)
{
    free(adaptive->asked);
    free(adaptive->reached);
    adaptive->asked = NULL;
    adaptive->reached = NULL;
}

void sim_adaptive_print(const struct sim_adaptive *adaptive)
{
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;
    size_t capped = 0;
    double worst = 0.0;
    for (size_t p = 0; p < adaptive->point_count; p++) {
        least = adaptive->asked[p] < least ? adaptive->asked[p] : least;
        most = adaptive->asked[p] > most ? adaptive->asked[p] : most;
        if (adaptive->reached[p] > target_of(adaptive)) {
            capped++;
            worst = fmax(worst, adaptive->reached[p]);
        }
    }
    printf(
        "Replications: until the 95 %% interval of the goal is within %g %% of its mean (Law and "
        "Kelton), ",
        100.0 * adaptive->relative);
    if (least < most)
        printf("%u to ", least);
    printf("%u of at most %u", most, adaptive->most);
    if (capped == 0)
        (void)puts(".");
    else
        printf("; %zu of %zu point%s stopped at the cap, the widest at %.1f %%.\n", capped,
               adaptive->point_count, an_plural((double)adaptive->point_count), 100.0 * worst);
}
