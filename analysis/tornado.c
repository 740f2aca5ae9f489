/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bars of a tornado; see the header. */
#include "analysis/tornado.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t place_of(const struct an_comparison *comparison, const char *variant)
{
    size_t v = 0;
    while (v < comparison->variant_count && strcmp(comparison->variants[v], variant) != 0)
        v++;
    return v;
}

static void add_value(struct an_tornado_bar *bar, size_t point, size_t variant, double mean)
{
    if (isnan(mean) || bar->count == AN_TORNADO_VALUES)
        return;
    bar->points[bar->count] = point;
    bar->variants[bar->count++] = variant;
    bar->low = fmin(bar->low, mean);
    bar->high = fmax(bar->high, mean);
}

static int by_width(const void *a, const void *b)
{
    const struct an_tornado_bar *one = a;
    const struct an_tornado_bar *other = b;
    const double widths[] = { one->high - one->low, other->high - other->low };
    if (widths[0] > widths[1] || widths[0] < widths[1])
        return widths[0] > widths[1] ? -1 : 1;
    return (one->axis > other->axis) - (one->axis < other->axis); /* as they were given */
}

void an_tornado_make(const struct an_points *points, const struct an_comparison *comparison,
                     const struct an_metric_row *row, struct an_tornado *tornado)
{
    const double base = row->cells[comparison->baseline].mean;
    *tornado = (struct an_tornado){ .count = 0 };
    for (size_t a = 0; a < points->axis_count; a++) {
        const struct an_axis *axis = &points->axes[a];
        struct an_tornado_bar *bar = &tornado->bars[tornado->count];
        *bar = (struct an_tornado_bar){ .axis = axis, .low = base, .high = base };
        for (size_t v = 1; v < points->variant_count; v++) {
            const size_t place = place_of(comparison, points->arms[v]);
            if (strcmp(axis->text[v], axis->text[0]) != 0 && place < comparison->variant_count)
                add_value(bar, v, place, row->cells[place].mean);
        }
        tornado->count += bar->count > 0 ? 1 : 0;
    }
    qsort(tornado->bars, tornado->count, sizeof *tornado->bars, by_width);
}

/* Chance has no say in a single run. */
static bool is_moved(const struct an_tornado_bar *bar, const struct an_metric_row *row)
{
    for (size_t i = 0; i < bar->count; i++) {
        const struct an_cell *cell = &row->cells[bar->variants[i]];
        if (cell->n < 2 || cell->is_deterministic || cell->p_value < 0.05)
            return true;
    }
    return false;
}

void an_tornado_claim(const struct an_tornado *tornado, const struct an_comparison *comparison,
                      const struct an_metric_row *row, struct an_claim *claim)
{
    const struct an_tornado_bar *most = &tornado->bars[0];
    const double base = row->cells[comparison->baseline].mean;
    *claim = (struct an_claim){ .name = NULL };
    if (tornado->count == 0 || isnan(base))
        return;
    an_claim_put_word(claim, "path", most->axis->path);
    an_claim_put_word(claim, "label", row->label);
    an_claim_put_word(claim, "unit", row->unit);
    an_claim_put(claim, "base", base);
    an_claim_put(claim, "low", most->low);
    an_claim_put(claim, "high", most->high);
    an_claim_give(!(most->high > most->low) ? "vary.unmoved"
                  : is_moved(most, row)     ? "vary.most"
                                            : "vary.unsure",
                  claim);
}
