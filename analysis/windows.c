/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows; see the header. */
#include "analysis/windows.h"

#include "analysis/metrics.h"
#include "analysis/nan.h"
#include "analysis/text.h"

#include <math.h>
#include <string.h>

static const char windows_sql[] =
    "SELECT json_extract(w.value, '$.name'), json_extract(w.value, '$.from_s'),"
    " json_extract(w.value, '$.to_s') FROM meta m, json_each(m.value) w WHERE m.key = 'windows'"
    " ORDER BY w.key LIMIT 16";

weir_status an_windows_read(struct an_db *db, struct an_windows *windows, struct weir_error *error)
{
    struct an_frame *frame = NULL;
    *windows = (struct an_windows){ .count = 0 };
    WEIR_TRY(an_query(db, windows_sql, NULL, &frame, error));
    for (size_t i = 0; i < frame->row_count && i < AN_WINDOWS_MOST; i++) {
        struct an_window *window = &windows->list[windows->count++];
        (void)snprintf(window->name, sizeof window->name, "%s", an_text(frame, i, 0));
        window->from_s = an_number(frame, i, 1);
        window->to_s = an_number(frame, i, 2);
    }
    an_frame_destroy(frame);
    return WEIR_OK;
}

const char *an_window_of(const char *metric)
{
    const char *sign = strrchr(metric, '@');
    return sign == NULL ? NULL : sign + 1;
}

const char *an_window_metric(size_t index)
{
    static const char *const metrics[] = {
        "thr.arrived",    "thr.pipeline",    "lat.e2e.p50",     "lat.e2e.p95",       "items.late",
        "wait.job.mean",  "wait.job.p95",    "slowdown.mean",   "thr.jobs_h",        "backlog.max",
        "backlog.max_at", "backlog.recover", "util.gpu.active", "util.gpu.assigned", "work.lost_s"
    };
    return index < sizeof metrics / sizeof metrics[0] ? metrics[index] : NULL;
}

bool an_windows_metric(const struct an_windows *windows, size_t index, char *metric,
                       size_t capacity)
{
    const char *id = windows->count == 0 ? NULL : an_window_metric(index / windows->count);
    if (id == NULL)
        return false;
    (void)snprintf(metric, capacity, "%s@%s", id, windows->list[index % windows->count].name);
    return true;
}

void an_window_metric_named(const char *name, char *metric, size_t capacity)
{
    char word[96];
    const char *colon = strstr(name, ": ");
    const int window = colon == NULL ? 0 : (int)(colon - name);
    const char *rest = colon == NULL ? name : colon + 2;
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(rest, ":"), rest);
    (void)snprintf(metric, capacity, "%s%s%.*s%s", an_metric_named(word), window > 0 ? "@" : "",
                   window, name, rest + strcspn(rest, ":"));
}

struct an_window_span an_window_span_text(const struct an_window *window, int64_t start_unix_s)
{
    struct an_window_span span;
    (void)snprintf(span.text, sizeof span.text, "%.30s to %.30s",
                   an_word_clock(start_unix_s, window->from_s).text,
                   isnan(window->to_s) ? "the end"
                                       : an_word_clock(start_unix_s, window->to_s).text);
    return span;
}

/* ---- tables ---- */

static const struct an_metric_row *find_row(const struct an_comparison *comparison,
                                            const char *metric, const char *window)
{
    char name[256];
    (void)snprintf(name, sizeof name, "%s@%s", metric, window);
    for (size_t i = 0; i < comparison->row_count; i++)
        if (strcmp(comparison->rows[i].metric, name) == 0)
            return &comparison->rows[i];
    return NULL;
}

/* Two of its values can be laid side by side, of variants in a window or windows of a variant; or
 * there is one variant, of which all is said. */
static bool is_compared(const struct an_comparison *comparison, const struct an_windows *windows,
                        const struct an_window_row *row)
{
    size_t most = 0;
    for (size_t w = 0; w < windows->count; w++)
        for (size_t v = 0, known = 0; row->by_window[w] != NULL && v < comparison->variant_count;
             v++) {
            known += isnan(row->by_window[w]->cells[v].mean) ? 0 : 1;
            most = known > most ? known : most;
        }
    for (size_t v = 0; v < comparison->variant_count; v++)
        for (size_t w = 0, known = 0; w < windows->count; w++) {
            known += row->by_window[w] != NULL && !isnan(row->by_window[w]->cells[v].mean) ? 1 : 0;
            most = known > most ? known : most;
        }
    return most > 1 || comparison->variant_count == 1;
}

static bool fill_row(const struct an_comparison *comparison, const struct an_windows *windows,
                     const char *metric, struct an_window_row *row)
{
    const struct an_metric *known = an_metric_find(metric);
    bool has_any = false;
    (void)snprintf(row->label, sizeof row->label, "%s", known == NULL ? metric : known->label);
    for (size_t w = 0; w < windows->count; w++) {
        row->by_window[w] = find_row(comparison, metric, windows->list[w].name);
        has_any = has_any || row->by_window[w] != NULL;
    }
    return has_any && is_compared(comparison, windows, row);
}

bool an_windows_row(const struct an_comparison *comparison, const struct an_windows *windows,
                    size_t index, struct an_window_row *row)
{
    for (size_t i = 0; an_window_metric(i) != NULL; i++)
        if (fill_row(comparison, windows, an_window_metric(i), row) && index-- == 0)
            return true;
    return false;
}

/* Nothing where nothing is known. */
static const char *verdict_of(const struct an_cell *cell)
{
    if (cell->verdict == AN_BETTER || cell->verdict == AN_DETERMINISTIC_BETTER)
        return "better";
    return cell->verdict == AN_WORSE || cell->verdict == AN_DETERMINISTIC_WORSE ? "worse" : "";
}

struct an_window_cell an_window_cell_of(const struct an_metric_row *row, size_t variant,
                                        int64_t start_unix_s)
{
    struct an_window_cell cell = { .text = "-", .verdict = "" };
    if (row == NULL)
        return cell;
    const struct an_cell *of = &row->cells[variant];
    if (isnan(of->mean))
        return cell;
    if (strncmp(row->metric, "backlog.max_at@", 15) == 0)
        (void)snprintf(cell.text, sizeof cell.text, "%s",
                       an_word_clock(start_unix_s, of->mean).text);
    else if (strncmp(row->metric, "backlog.recover@", 16) == 0 && of->is_lower_bound)
        (void)snprintf(cell.text, sizeof cell.text, "not within the run (%s)",
                       an_mean_of(row, of).text);
    else
        (void)snprintf(cell.text, sizeof cell.text, "%s", an_mean_of(row, of).text);
    cell.verdict = verdict_of(of);
    return cell;
}
