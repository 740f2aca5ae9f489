/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What some replications of one variant gave; see the header. */
#include "sim/cli/ask/tried.h"

#include <math.h>
#include <stdio.h>

/* Replications in focus alone. */
static const char values_sql[] =
    "SELECT r.replication, x.value, is_lower_bound, " AN_LEFT_OUT
    " FROM run r JOIN main.result x USING (run_id)"
    " WHERE x.metric = :text AND x.label = '' AND r.status IN ('complete', 'horizon')"
    " ORDER BY r.replication";

static void add_up(struct sim_tried *trial, const struct an_frame *frame, uint32_t first)
{
    trial->mean = frame->row_count == 0 ? (double)NAN : 0.0;
    trial->runs = (uint32_t)frame->row_count;
    trial->is_bound = false;
    double left_out = 0.0;
    for (size_t i = 0; i < frame->row_count; i++) {
        trial->mean += an_number(frame, i, 1) / (double)frame->row_count;
        trial->is_bound = trial->is_bound || an_number(frame, i, 2) > 0.5;
        left_out += an_number(frame, i, 3) / (double)frame->row_count;
        if (trial->values != NULL)
            trial->values[(size_t)an_number(frame, i, 0) - first] = an_number(frame, i, 1);
    }
    trial->is_partial = AN_IS_PARTIAL(left_out);
}

weir_status sim_tried_read(struct an_db *db, const struct sim_tried_of *of, struct sim_tried *trial,
                           struct weir_error *error)
{
    struct an_frame *frame = NULL;
    const struct an_args args = { .text = of->metric };
    for (uint32_t i = 0; trial->values != NULL && i < of->count; i++)
        trial->values[i] = (double)NAN;
    WEIR_TRY(an_points_focus_runs(db, of->label, of->first, of->count, error));
    const weir_status status = an_query(db, values_sql, &args, &frame, error);
    if (status == WEIR_OK)
        add_up(trial, frame, of->first);
    an_frame_destroy(frame);
    const weir_status back = an_points_focus(db, SIZE_MAX, status == WEIR_OK ? error : NULL);
    return status == WEIR_OK ? back : status;
}

weir_status sim_tried_judge(struct an_db *db, const struct an_goal *goal,
                            const struct sim_tried_of *of, struct an_judged *judged,
                            struct weir_error *error)
{
    WEIR_TRY(an_points_focus_runs(db, of->label, of->first, of->count, error));
    const weir_status status = an_goal_judge(db, goal, judged, error);
    const weir_status back = an_points_focus(db, SIZE_MAX, status == WEIR_OK ? error : NULL);
    return status == WEIR_OK ? back : status;
}

void sim_tried_say_bounds(bool has_bounds)
{
    if (has_bounds)
        (void)puts(
            "Not all work was done in all runs: some of these figures are bounds from below, "
            "or means without the rest, and what is unfinished may turn them round.");
}
