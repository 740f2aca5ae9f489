/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reviews; see the header. */
#include "analysis/report/review.h"

#include "analysis/metrics.h"
#include "analysis/nan.h"
#include "analysis/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What stands there and what it costs, over the runs in focus that did not fail. */
static const char amounts_sql[] =
    "SELECT count(*), avg((SELECT sum(gpus) FROM node n WHERE n.run_id = r.run_id)),"
    " avg((SELECT value FROM v_result v WHERE v.run_id = r.run_id AND metric = 'cost.total'"
    "  AND label = '')), avg(end_s), avg((SELECT value FROM v_result v WHERE v.run_id = r.run_id"
    "  AND metric = :text AND label = '')) FROM run r WHERE status <> 'failed'";

static const char growth_sql[] =
    "SELECT (SELECT CAST(value AS REAL) FROM meta WHERE key = 'growth_month')";

/* "28", "1.4" and "140%"; NAN = no number. */
static double number_of(const char *text)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || !isfinite(value))
        return AN_NAN;
    if (strcmp(end, "%") == 0 || strcmp(end, " %") == 0)
        return value / 100.0;
    return *end == '\0' ? value : AN_NAN;
}

/* ---- one size ---- */

static weir_status read_amounts(struct an_db *db, const struct an_goal *goal,
                                struct an_review_size *size, struct weir_error *error)
{
    struct an_frame *frame = NULL;
    const struct an_args args = { .text = goal->metric };
    WEIR_TRY(an_query(db, amounts_sql, &args, &frame, error));
    size->runs = (uint32_t)an_number(frame, 0, 0);
    size->gpus = an_number(frame, 0, 1);
    size->cost = an_number(frame, 0, 2);
    size->span_s = an_number(frame, 0, 3);
    size->goal = goal->better * an_number(frame, 0, 4);
    an_frame_destroy(frame);
    return WEIR_OK;
}

/* ---- options ---- */

static struct an_review_option *option_of(struct an_review *review, size_t variant)
{
    const struct an_points *points = &review->points;
    for (size_t i = 0; i < review->count; i++)
        if (an_points_is_same_line(points, review->axis, review->options[i].sizes[0].variant,
                                   variant))
            return &review->options[i];
    if (review->count == AN_REVIEW_OPTIONS)
        return NULL;
    struct an_review_option *option = &review->options[review->count];
    option->sizes = calloc(points->variant_count, sizeof *option->sizes);
    if (option->sizes == NULL)
        return NULL;
    an_points_name_line(points, review->axis, variant, option->name, sizeof option->name);
    review->count++;
    return option;
}

static weir_status add_size(struct an_db *db, struct an_review *review, size_t variant,
                            struct weir_error *error)
{
    const struct an_axis *axis = &review->points.axes[review->axis];
    struct an_review_size size = { .variant = variant,
                                   .text = axis->text[variant],
                                   .value = number_of(axis->text[variant]) };
    WEIR_TRY(an_points_focus_runs(db, review->points.labels[variant], 0, UINT32_MAX, error));
    WEIR_TRY(read_amounts(db, &review->goal, &size, error));
    if (size.runs == 0)
        return WEIR_OK;
    WEIR_TRY(an_goal_judge(db, &review->goal, &size.judged, error));
    struct an_review_option *option = option_of(review, variant);
    if (option != NULL)
        option->sizes[option->count++] = size;
    return WEIR_OK;
}

static int by_value(const void *a, const void *b)
{
    const struct an_review_size *x = a;
    const struct an_review_size *y = b;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* The hardest value from which on all that are easier hold. */
static void choose(struct an_review_option *option, bool is_demand)
{
    struct an_review_size swapped;
    qsort(option->sizes, option->count, sizeof *option->sizes, by_value);
    for (size_t i = 0; is_demand && i < option->count / 2; i++) {
        swapped = option->sizes[i];
        option->sizes[i] = option->sizes[option->count - 1 - i];
        option->sizes[option->count - 1 - i] = swapped;
    }
    option->safe = option->likely = option->count;
    for (size_t i = option->count; i > 0 && option->sizes[i - 1].judged.means_hold; i--)
        option->likely = i - 1;
    for (size_t i = option->count; i > option->likely; i--)
        if (option->sizes[i - 1].judged.hold == AN_HOLDS)
            option->safe = i - 1;
}

bool an_review_is_same_cost(double a, double b)
{
    return strcmp(an_word_number(a).text, an_word_number(b).text) == 0;
}

static bool is_better(const struct an_review *review, const struct an_review_size *size,
                      const struct an_review_size *than)
{
    const double more = size->value - than->value;
    if (!an_review_is_same_cost(size->cost, than->cost))
        return size->cost < than->cost;
    return review->is_demand && fabs(more) > 0 ? more > 0 : size->goal > than->goal;
}

/* Of several options money decides, if all that are safe have a price; of those that cost the same,
 * or are as large where nothing has a price, how much work they carry, then the goal. */
static void choose_best(struct an_review *review)
{
    bool has_costs = true;
    bool is_one_size = true;
    const struct an_review_size *best = NULL;
    review->best = review->count;
    for (size_t i = 0; i < review->count; i++) {
        const struct an_review_option *option = &review->options[i];
        if (option->safe == option->count)
            continue;
        const struct an_review_size *size = &option->sizes[option->safe];
        has_costs = has_costs && !isnan(size->cost);
        is_one_size = is_one_size && (best == NULL || (fabs(size->value - best->value) < 1e-9 &&
                                                       fabs(size->gpus - best->gpus) < 1e-9));
        if (best == NULL || is_better(review, size, best)) {
            review->best = i;
            best = size;
        }
    }
    if (!has_costs && !is_one_size)
        review->best = review->count;
}

static weir_status read_options(struct an_db *db, struct an_review *review,
                                struct weir_error *error)
{
    const struct an_axis *axis = &review->points.axes[review->axis];
    for (size_t v = 0; v < review->points.variant_count; v++)
        if (isnan(number_of(axis->text[v])))
            return WEIR_OK;
    const char *arrivals = strstr(axis->path, "arrivals.");
    review->is_demand = arrivals != NULL;
    review->is_scale = arrivals != NULL && strcmp(arrivals, "arrivals.scale") == 0;
    for (size_t v = 0; v < review->points.variant_count; v++)
        WEIR_TRY(add_size(db, review, v, error));
    for (size_t i = 0; i < review->count; i++)
        choose(&review->options[i], review->is_demand);
    choose_best(review);
    return WEIR_OK;
}

weir_status an_review_growth(struct an_db *db, double *growth_month, struct weir_error *error)
{
    struct an_frame *frame = NULL;
    WEIR_TRY(an_query(db, growth_sql, NULL, &frame, error));
    *growth_month = an_number(frame, 0, 0);
    an_frame_destroy(frame);
    return WEIR_OK;
}

weir_status an_review_read(struct an_db *db, struct an_review *review, struct weir_error *error)
{
    *review = (struct an_review){ .growth_month = AN_NAN };
    WEIR_TRY(an_points_read(db, &review->points, error));
    WEIR_TRY(an_goal_read(db, &review->goal, error));
    WEIR_TRY(an_review_growth(db, &review->growth_month, error));
    review->axis = an_points_run_along(&review->points);
    if (review->axis == review->points.axis_count || review->points.is_varied ||
        review->goal.condition_count == 0)
        return WEIR_OK;
    const weir_status status = read_options(db, review, error);
    const weir_status back = an_points_focus(db, SIZE_MAX, status == WEIR_OK ? error : NULL);
    return status == WEIR_OK ? back : status;
}

void an_review_clear(struct an_review *review)
{
    for (size_t i = 0; i < review->count; i++)
        free(review->options[i].sizes);
    an_points_clear(&review->points);
    *review = (struct an_review){ .count = 0 };
}

const struct an_review_size *an_review_choice(const struct an_review *review)
{
    if (review->best >= review->count)
        return NULL;
    const struct an_review_option *option = &review->options[review->best];
    return &option->sizes[option->safe];
}

const struct an_review_size *an_review_nearest(const struct an_review *review, size_t *option)
{
    const struct an_review_size *best = an_review_choice(review);
    *option = review->best;
    if (best != NULL)
        return best;
    int best_rank = -1;
    for (size_t i = 0; i < review->count; i++) {
        const struct an_review_option *one = &review->options[i];
        const int rank = one->safe < one->count ? 2 : one->likely < one->count ? 1 : 0;
        const struct an_review_size *size = &one->sizes[rank == 2   ? one->safe
                                                        : rank == 1 ? one->likely
                                                                    : one->count - 1];
        if (rank > best_rank ||
            (rank == best_rank && best != NULL && is_better(review, size, best))) {
            best = size;
            best_rank = rank;
            *option = i;
        }
    }
    return best;
}

double an_review_weeks(double growth_month, double factor)
{
    static const double weeks_a_month = 30.0 / 7.0;
    if (factor <= 1.0)
        return 0.0;
    return growth_month > 0.0 ? weeks_a_month * log(factor) / log1p(growth_month) : AN_INFINITY;
}

void an_review_conditions(const struct an_review *review, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < review->goal.condition_count && used < size; i++) {
        const struct an_condition *condition = &review->goal.conditions[i];
        const char *of = strchr(condition->metric, ':');
        char id[96];
        (void)snprintf(id, sizeof id, "%.*s", (int)strcspn(condition->metric, ":"),
                       condition->metric);
        const struct an_metric *metric = an_metric_find(id);
        used += (size_t)snprintf(
            text + used, size - used, "%s%s%s%s %s %s", i == 0 ? "" : " and ",
            metric == NULL ? id : metric->label, of == NULL ? "" : " of ", of == NULL ? "" : of + 1,
            condition->op,
            an_word_value(condition->bound, metric == NULL ? "" : metric->unit).text);
    }
}
