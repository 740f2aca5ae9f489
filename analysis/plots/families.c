/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart families: do the rules inside a policy matter more than the policy? Variants whose labels
 * begin with the name of their policy are a family ("fgd", "fgd tie=random"): one row, one dot
 * each. The first variant of a family stands for it.
 */
#include "analysis/plots/plots.h"

#include <math.h>
#include <string.h>

enum { MOST_FAMILIES = 12, PITCH = 46 };

static const char means_sql[] =
    "SELECT r.variant, avg(v.value), count(*) FROM result v JOIN run r USING (run_id)"
    " WHERE v.metric = :text AND v.label = '' AND v.value IS NOT NULL"
    " AND substr(r.variant, 1, instr(r.variant || ' ', ' ') - 1) IN (r.placement, r.scaling)"
    " AND EXISTS (SELECT 1 FROM result z WHERE z.metric = :text AND z.label = '' AND z.value > 0)"
    " GROUP BY r.variant ORDER BY min(r.variant_order), r.variant";

/* The first of these that the database has is shown. */
static const struct {
    const char *metric, *words, *unit;
    double scale;
} measures[] = { { "alloc.gpu_pct", "GPUs allocated in the end", "%", 1 },
                 { "pack.density", "GPU in use at the first refusal", "%", 100 },
                 { "thr.pipeline", "items finished per second", "1/s", 1 } };
enum { MEASURES = sizeof measures / sizeof measures[0] };

/* Rows of the frame that belong together. */
struct family {
    char name[32];
    size_t first, count, least, most;
};

struct families {
    const struct an_frame *frame;
    double scale;
    struct family family[MOST_FAMILIES];
    size_t count;
    double low, high; /* of all values */
};

static double value_of(const struct families *families, size_t row)
{
    return families->scale * an_number(families->frame, row, 1);
}

static struct family *family_of(struct families *families, const char *label, size_t row)
{
    char name[sizeof families->family[0].name];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(label, " "), label);
    for (size_t f = 0; f < families->count; f++)
        if (strcmp(families->family[f].name, name) == 0)
            return &families->family[f];
    if (families->count == MOST_FAMILIES)
        return NULL;
    struct family *added = &families->family[families->count++];
    *added = (struct family){ .first = row, .least = row, .most = row };
    (void)snprintf(added->name, sizeof added->name, "%s", name);
    return added;
}

static void collect(struct families *families)
{
    families->low = (double)INFINITY;
    families->high = -(double)INFINITY;
    for (size_t row = 0; row < families->frame->row_count; row++) {
        struct family *family = family_of(families, an_text(families->frame, row, 0), row);
        const double value = value_of(families, row);
        if (family == NULL)
            continue;
        family->count++;
        if (value < value_of(families, family->least))
            family->least = row;
        if (value > value_of(families, family->most))
            family->most = row;
        families->low = fmin(families->low, value);
        families->high = fmax(families->high, value);
    }
}

static double spread(const struct families *families, const struct family *family)
{
    return value_of(families, family->most) - value_of(families, family->least);
}

/* The family whose rules move most. */
static const struct family *widest(const struct families *families)
{
    const struct family *most = &families->family[0];
    for (size_t f = 1; f < families->count; f++)
        if (spread(families, &families->family[f]) > spread(families, most))
            most = &families->family[f];
    return most;
}

static weir_status write_texts(struct an_chart *chart, size_t measure, struct weir_error *error)
{
    WEIR_TRY(an_chart_claim(chart, "families.rules", error));
    an_chart_subtitle(chart,
                      "%s, %s · one dot a variant, mean of its replications · blue: the first "
                      "variant of its family, as published or by default",
                      measures[measure].words, measures[measure].unit);
    return WEIR_OK;
}

/* What a label says after the name of its family. */
static const char *rule_of(const struct families *families, size_t row)
{
    const char *label = an_text(families->frame, row, 0);
    const char *rest = label + strcspn(label, " ");
    return rest[0] == '\0' ? "" : rest + 1;
}

static void label_end(struct an_chart *chart, const struct families *families, size_t row,
                      const struct an_label *at)
{
    const char *rule = rule_of(families, row);
    an_chart_text(chart, at, "%s%s%.1f", an_chart_word(chart, rule, 18).text,
                  rule[0] == '\0' ? "" : "  ", value_of(families, row));
}

static void label_family(struct an_chart *chart, const struct families *families,
                         const struct family *family, double y, const double *px)
{
    const struct an_label name = { .x = 40, .y = y, .is_bold = true };
    an_chart_name(chart, &name, family->name, 124.0);
    const struct an_label right = { .x = px[1] + 11, .y = y, .size = 11, .color = AN_MUTED };
    label_end(chart, families, family->most, &right);
    if (family->count < 2)
        return;
    const struct an_label left = {
        .x = px[0] - 11, .y = y, .size = 11, .color = AN_MUTED, .align = 'r'
    };
    label_end(chart, families, family->least, &left);
}

static void write_data(struct an_chart *chart, const struct families *families)
{
    (void)an_chart_block(chart, "families", "row least most");
    for (size_t f = 0; f < families->count; f++)
        (void)fprintf(chart->data, "%zu %.9g %.9g\n", f,
                      value_of(families, families->family[f].least),
                      value_of(families, families->family[f].most));
    (void)an_chart_block(chart, "variants", "row value is_first variant");
    for (size_t row = 0; row < families->frame->row_count; row++) {
        const char *label = an_text(families->frame, row, 0);
        const size_t length = strcspn(label, " ");
        for (size_t f = 0; f < families->count; f++) {
            const struct family *family = &families->family[f];
            if (strlen(family->name) != length || strncmp(family->name, label, length) != 0)
                continue;
            (void)fprintf(chart->data, "%zu %.9g %d ", f, value_of(families, row),
                          family->first == row ? 1 : 0);
            an_chart_cell(chart, label);
            (void)fputc('\n', chart->data);
        }
    }
}

static void draw_panel(struct an_chart *chart, const struct families *families)
{
    const struct an_box box = { 180, 10, 970, 10 + PITCH * (double)families->count };
    const double range = fmax(families->high - families->low, 1e-9);
    const double low = families->low - 0.25 * range;
    const double high = families->high + 0.25 * range;
    chart->height = box.y1 + 34;
    an_chart_panel(chart, &box);
    for (size_t f = 0; f < families->count; f++) {
        const struct family *family = &families->family[f];
        const double scale = (box.x1 - box.x0) / (high - low);
        const double px[] = { box.x0 + (value_of(families, family->least) - low) * scale,
                              box.x0 + (value_of(families, family->most) - low) * scale };
        label_family(chart, families, family, box.y0 + PITCH * ((double)f + 0.5), px);
    }
    (void)fprintf(chart->body,
                  "set border 0; unset grid; set grid xtics lc rgb '" AN_GRID "' lw 1 lt 1\n"
                  "set xrange [%.9g:%.9g]; set xtics autofreq %.9g format '%%g'\n"
                  "set yrange [%zu:0]; set ytics ('' 0) scale 0\n"
                  "plot DATA index 0 using 2:($1+0.5):($3-$2):(0) with vectors nohead lw 2.4 "
                  "lc rgb '" AN_PALE "', \\\n"
                  " '' index 1 using ($3==0 ? $2 : NaN):($1+0.5) with points pt 7 ps 0.9 "
                  "lc rgb '" AN_ORANGE "', \\\n"
                  " '' index 1 using ($3==1 ? $2 : NaN):($1+0.5) with points pt 7 ps 1.3 "
                  "lc rgb '" AN_BLUE "'\n",
                  low, high, an_axis_step(high - low, 9.0), families->count);
    an_chart_draw_end(chart);
}

/* MEASURES when the database has none of them. */
static weir_status read_means(struct an_chart *chart, size_t *measure,
                              const struct an_frame **frame, struct weir_error *error)
{
    for (*measure = 0; *measure < MEASURES; (*measure)++) {
        const struct an_args args = { .text = measures[*measure].metric };
        WEIR_TRY(an_chart_query(chart, means_sql, &args, frame, error));
        if ((*frame)->row_count > 0)
            break;
    }
    return WEIR_OK;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct families families = { .frame = NULL };
    size_t measure = 0;
    chart->is_about_all = true;
    WEIR_TRY(read_means(chart, &measure, &families.frame, error));
    if (measure == MEASURES)
        return an_chart_empty(chart, "no run has a result to compare");
    families.scale = measures[measure].scale;
    collect(&families);
    if (widest(&families)->count < 2)
        return an_chart_empty(chart, "no two variants begin with the name of their policy");
    WEIR_TRY(write_texts(chart, measure, error));
    write_data(chart, &families);
    draw_panel(chart, &families);
    return WEIR_OK;
}

const struct an_plot_ops an_plot_families = {
    { "families", "Do the rules inside a policy matter more than the policy?" }, draw
};
