/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of variants; see the header. */
#include "analysis/plots/rows.h"

#include "analysis/nan.h"

#include <math.h>
#include <string.h>

/* Twelve that can be told apart on paper and with colour blindness as far as twelve can. */
const char *const an_row_colors[AN_ROWS] = { AN_BLUE,   AN_ORANGE, AN_GREEN,  AN_VERMILLION,
                                             AN_SKY,    AN_GREY,   "#004a76", "#8a5a00",
                                             "#00604a", "#8c3d00", "#2b7fae", "#4a545e" };

static const char means_sql[] =
    "SELECT r.variant, x.metric, x.label, avg(x.value), count(*) FROM result x"
    " JOIN run r USING (run_id) WHERE substr(x.metric, 1, length(:text)) = :text"
    " AND x.value IS NOT NULL GROUP BY r.variant, x.metric, x.label"
    /* "100 % arrived" is not of runs that ended before: of some there is no mean for all. */
    " HAVING x.label <> '100 % arrived' OR count(*) = (SELECT count(*) FROM run o WHERE o.variant "
    "= r.variant)"
    " ORDER BY (SELECT min(o.variant_order) FROM run o WHERE o.variant = r.variant), r.variant";

weir_status an_rows_read(struct an_chart *chart, const char *prefix, struct an_rows *rows,
                         struct weir_error *error)
{
    *rows = (struct an_rows){ .count = 0 };
    WEIR_TRY(
        an_chart_query(chart, means_sql, &(struct an_args){ .text = prefix }, &rows->frame, error));
    for (size_t i = 0; i < rows->frame->row_count; i++) {
        const char *name = an_text(rows->frame, i, 0);
        const bool is_new = rows->count == 0 || strcmp(rows->variants[rows->count - 1], name) != 0;
        if (is_new && rows->count == AN_ROWS)
            break;
        if (is_new)
            rows->variants[rows->count++] = name;
        rows->replications = fmax(rows->replications, an_number(rows->frame, i, 4));
    }
    return WEIR_OK;
}

double an_rows_value(const struct an_rows *rows, size_t variant, const char *metric,
                     const char *label)
{
    for (size_t i = 0; i < rows->frame->row_count; i++)
        if (strcmp(an_text(rows->frame, i, 0), rows->variants[variant]) == 0 &&
            strcmp(an_text(rows->frame, i, 1), metric) == 0 &&
            strcmp(an_text(rows->frame, i, 2), label) == 0)
            return an_number(rows->frame, i, 3);
    return AN_NAN;
}

double an_rows_key(struct an_chart *chart, const struct an_key *keys, size_t count,
                   const struct an_label *at)
{
    double x = at->x;
    double y = at->y;
    for (size_t i = 0; i < count; i++) {
        const double width = 32.0 + 7.2 * (double)an_characters(keys[i].text);
        if (x + width > AN_CHART_WIDTH - 10.0) {
            x = at->x;
            y += 18.0;
        }
        an_chart_rectangle(chart, &(struct an_box){ x, y - 5.0, x + 11.0, y + 5.0 }, keys[i].color,
                           "front");
        const struct an_label label = { .x = x + 17.0, .y = y, .color = AN_MUTED };
        an_chart_text(chart, &label, "%s", keys[i].text);
        x += width;
    }
    return y;
}

struct an_word an_rows_runs(const struct an_rows *rows)
{
    struct an_word word;
    if (rows->replications > 1)
        (void)snprintf(word.text, sizeof word.text, "means of %g replications", rows->replications);
    else
        (void)snprintf(word.text, sizeof word.text, "1 run a variant");
    return word;
}
