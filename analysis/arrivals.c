/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts of arrivals; see the header. The script stands on its own. */
#include "analysis/arrivals.h"

#include "analysis/chart/chart.h"
#include "analysis/chart/gnuplot.h"
#include "analysis/chart/svg.h"
#include "sim/files/written.h"
#include "weir_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DAY_HOURS = 24, MOST_BINS = 900, PATH = 4096 };

static const double timeout_s = 60.0;

/* Where things go: FOLDER/NAME.svg, .gp, .dat. */
struct place {
    char folder[PATH];
    char name[256];
};

struct bins {
    size_t hours; /* of one bin: 1, or a divisor or multiple of the day */
    size_t count;
    double most;
    double day_mean[DAY_HOURS], day_most;
    int busiest, quietest; /* hours of the day */
};

static weir_status find_place(const char *path, struct place *place, struct weir_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const size_t length = strlen(name);
    if (length < 5 || strcmp(name + length - 4, ".svg") != 0 || length >= sizeof place->name ||
        strlen(path) >= PATH)
        return weir_fail(error, WEIR_EINVAL, "%.200s: a name that ends in .svg is expected", path);
    (void)snprintf(place->folder, PATH, "%.*s", slash == NULL ? 1 : (int)(slash - path),
                   slash == NULL ? "." : path);
    (void)snprintf(place->name, sizeof place->name, "%.*s", (int)length - 4, name);
    return WEIR_OK;
}

static double day_hour(const struct an_arrivals *arrivals, size_t hour)
{
    const double zero_s = isnan(arrivals->zero_unix_s) ? 0 : arrivals->zero_unix_s;
    return fmod(floor((zero_s + arrivals->from_s) / 3600.0) + (double)hour, DAY_HOURS);
}

static void count_days(const struct an_arrivals *arrivals, struct bins *bins)
{
    double hours[DAY_HOURS] = { 0 };
    for (size_t h = 0; h < arrivals->hour_count; h++) {
        const int hour = (int)day_hour(arrivals, h);
        bins->day_mean[hour] += arrivals->hours[h];
        hours[hour]++;
    }
    for (int h = 0; h < DAY_HOURS; h++) {
        bins->day_mean[h] /= hours[h] > 0 ? hours[h] : 1;
        bins->day_most = fmax(bins->day_most, bins->day_mean[h]);
        bins->busiest = bins->day_mean[h] > bins->day_mean[bins->busiest] ? h : bins->busiest;
        bins->quietest = bins->day_mean[h] < bins->day_mean[bins->quietest] ? h : bins->quietest;
    }
}

static double bin_rate(const struct an_arrivals *arrivals, const struct bins *bins, size_t bin)
{
    double sum = 0;
    for (size_t h = bin * bins->hours; h < (bin + 1) * bins->hours; h++)
        sum += arrivals->hours[h];
    return sum / (double)bins->hours;
}

static struct bins find_bins(const struct an_arrivals *arrivals)
{
    static const size_t widths[] = { 1, 2, 3, 6, 12, 24, 168, 672, 8760 };
    struct bins bins = { .hours = 1 };
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        bins.hours = widths[w];
        if (arrivals->hour_count / bins.hours <= MOST_BINS)
            break;
    }
    bins.count = arrivals->hour_count / bins.hours;
    for (size_t b = 0; b < bins.count; b++)
        bins.most = fmax(bins.most, bin_rate(arrivals, &bins, b));
    count_days(arrivals, &bins);
    return bins;
}

static weir_status write_data(const struct place *place, const struct an_arrivals *arrivals,
                              const struct bins *bins, struct weir_error *error)
{
    struct written file;
    WEIR_TRY(written_open_in(place->folder, place->name, "dat", &file, error));
    FILE *out = file.out;
    (void)fputs("# day rate_per_h\n", out);
    for (size_t b = 0; b < bins->count; b++)
        (void)fprintf(out, "%.6f %.9g\n",
                      (arrivals->from_s / 3600.0 + ((double)b + 0.5) * (double)bins->hours) /
                          DAY_HOURS,
                      bin_rate(arrivals, bins, b));
    (void)fputs("\n\n# hour_of_day rate_per_h\n", out);
    for (int h = 0; h < DAY_HOURS; h++)
        (void)fprintf(out, "%d %.9g\n", h, bins->day_mean[h]);
    return written_close(&file, WEIR_OK, error);
}

static void write_label(FILE *out, const char *text, double x, double y, const char *style)
{
    (void)fputs("set label ", out);
    an_gnuplot_quote(out, text);
    (void)fprintf(out, " at screen %.4f, %.4f left noenhanced %s\n", x / 1000.0, 1.0 - y / 560.0,
                  style);
}

/* The finding and what is drawn. */
static void write_texts(FILE *out, const struct an_arrivals *arrivals, const struct bins *bins)
{
    char text[320];
    (void)snprintf(text, sizeof text,
                   "%s jobs an hour; their hourly counts vary %s times as much as Poisson's",
                   an_word_number(arrivals->per_hour).text,
                   an_word_number(arrivals->dispersion).text);
    write_label(out, text, 30, 26, "font ',16'");
    (void)snprintf(text, sizeof text, "%s; %zu hours; busiest at %d:00, quietest at %d:00 (%s)",
                   an_shorten(arrivals->name, 40).text, arrivals->hour_count, bins->busiest,
                   bins->quietest,
                   isnan(arrivals->zero_unix_s) ? "hours of trace time" : "UTC, or as written");
    write_label(out, text, 30, 50, "textcolor rgb '" AN_MUTED "'");
    (void)snprintf(text, sizeof text, "jobs an hour%s%s", bins->hours == 1 ? "" : ", means of ",
                   bins->hours == 1 ? "" : an_word_duration(3600.0 * (double)bins->hours).text);
    write_label(out, text, 30, 78, "font ',13'");
    write_label(out, "jobs an hour by hour of the day", 30, 336, "font ',13'");
}

static void write_panels(FILE *out, const struct place *place, const struct an_arrivals *arrivals,
                         const struct bins *bins)
{
    const double from = arrivals->from_s / 86400.0;
    const double days = (double)(bins->count * bins->hours) / DAY_HOURS;
    const double top = an_axis_top(bins->most);
    const double day_top = an_axis_top(bins->day_most);
    (void)fprintf(out,
                  "set multiplot\nset lmargin at screen 0.06\nset rmargin at screen 0.97\n"
                  "set tmargin at screen %.4f\nset bmargin at screen %.4f\n"
                  "set xrange [%.9g:%.9g]\nset yrange [0:%.9g]\nset ytics %.9g\n"
                  "set xlabel 'day of the trace' noenhanced\n"
                  "plot '%s.dat' index 0 using 1:2 with %s lc rgb '" AN_BLUE "' notitle\n"
                  "unset label\n",
                  1.0 - 96.0 / 560, 1.0 - 276.0 / 560, from, from + days, top, an_axis_step(top, 4),
                  place->name, bins->count > 200 ? "impulses lw 1" : "boxes");
    (void)fprintf(out,
                  "set tmargin at screen %.4f\nset bmargin at screen %.4f\n"
                  "set xrange [-0.6:23.6]\nset yrange [0:%.9g]\nset ytics %.9g\nset xtics 3\n"
                  "set xlabel 'hour of the day' noenhanced\nset boxwidth 0.7\n"
                  "plot '%s.dat' index 1 using 1:2 with boxes lc rgb '" AN_SKY
                  "' notitle\nunset multiplot\nunset output\n",
                  1.0 - 356.0 / 560, 1.0 - 500.0 / 560, day_top, an_axis_step(day_top, 4),
                  place->name);
}

static weir_status write_script(const struct place *place, const struct an_arrivals *arrivals,
                                const struct bins *bins, struct weir_error *error)
{
    struct written file;
    WEIR_TRY(written_open_in(place->folder, place->name, "gp", &file, error));
    FILE *out = file.out;
    (void)fprintf(out,
                  "# Arrivals of a trace. Draw it again: gnuplot %s.gp\nreset session\n"
                  "set terminal svg enhanced standalone size 1000,560 dynamic fontscale 1 font "
                  "'Inter, Helvetica, Arial, sans-serif,12' background '#ffffff'\nset output "
                  "'%s.svg'\n",
                  place->name, place->name);
    (void)fputs(weir_text_house_gp, out);
    write_texts(out, arrivals, bins);
    write_panels(out, place, arrivals, bins);
    return written_close(&file, WEIR_OK, error);
}

weir_status an_arrivals_plot(const char *path, const struct an_arrivals *arrivals,
                             struct weir_error *error)
{
    struct place place;
    char script[260];
    WEIR_TRY(find_place(path, &place, error));
    if (arrivals->hour_count == 0)
        return weir_fail(error, WEIR_EINVAL, "%.200s: less than an hour of arrivals is no chart",
                         arrivals->name);
    const struct bins bins = find_bins(arrivals);
    WEIR_TRY(write_data(&place, arrivals, &bins, error));
    WEIR_TRY(write_script(&place, arrivals, &bins, error));
    (void)snprintf(script, sizeof script, "%s.gp", place.name);
    WEIR_TRY(an_gnuplot_run(place.folder, (const char *const[]){ script, NULL }, timeout_s, error));
    return an_svg_finish(path, error);
}
