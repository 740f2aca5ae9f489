/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the page's script reads; see the header. */
#include "analysis/report/report_script.h"

#include "analysis/text.h"
#include "weir_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More would be more than a page should weigh. */
#define MOST_MARKS     "200"
#define MOST_DECISIONS "300"
enum { MOST_TRACKS = 60000 };

/* ---- other variants ---- */

static const char variants_sql[] =
    "SELECT run_id FROM run WHERE replication = :id AND run_id <> :run AND experiment_id ="
    " (SELECT experiment_id FROM run WHERE run_id = :run) AND end_s > 0"
    " ORDER BY variant_order, variant";

weir_status an_overlays_read(struct an_db *db, const struct an_run *run,
                             struct an_overlays *overlays, struct weir_error *error)
{
    struct an_frame *frame = NULL;
    const struct an_args args = { .run = run->run_id, .id = run->replication };
    overlays->count = 0;
    WEIR_TRY(an_query(db, variants_sql, &args, &frame, error));
    weir_status status = WEIR_OK;
    for (size_t i = 0; status == WEIR_OK && i < frame->row_count && i < AN_OVERLAYS; i++) {
        struct an_run *other = NULL;
        status = an_run_read(db, (int64_t)an_number(frame, i, 0), &other, error);
        if (status != WEIR_OK)
            break;
        overlays->runs[overlays->count] = other;
        overlays->facts[overlays->count++] = NULL;
        status = an_facts_read(db, other, &overlays->facts[overlays->count - 1], error);
    }
    an_frame_destroy(frame);
    return status;
}

void an_overlays_clear(struct an_overlays *overlays)
{
    for (size_t i = 0; i < overlays->count; i++) {
        an_facts_destroy(overlays->facts[i]);
        an_run_destroy(overlays->runs[i]);
    }
    overlays->count = 0;
}

/* ---- charts ---- */

weir_status an_page_tracks(FILE *out, const struct an_plot_ops *plot, const char *own,
                           const struct an_plot_job *job, const struct an_overlays *overlays,
                           struct weir_error *error)
{
    if (own == NULL || own[0] == '\0')
        return WEIR_OK;
    size_t room = MOST_TRACKS > strlen(own) ? MOST_TRACKS - strlen(own) : 0;
    (void)fprintf(out, "<script type=\"application/json\">[[%s]", own);
    weir_status status = WEIR_OK;
    for (size_t i = 0; status == WEIR_OK && i < overlays->count; i++) {
        struct an_plot_job other = *job;
        char *tracks = NULL;
        other.run = overlays->runs[i];
        other.facts = overlays->facts[i];
        status = an_plot_tracks(plot, &other, &tracks, error);
        const size_t length = tracks == NULL ? 0 : strlen(tracks);
        const bool has_room = length > 0 && length <= room;
        (void)fprintf(out, ",[%s]", has_room ? tracks : "");
        room -= has_room ? length : 0;
        free(tracks);
    }
    (void)fputs("]</script>\n", out);
    return status;
}

/* ---- what happened and what was decided ---- */

static const char marks_sql[] =
    "SELECT t_s, until_s, text FROM happening WHERE run_id = :run"
    " AND kind NOT IN " AN_SUPPLY_SQL " ORDER BY kind <> 'set', t_s, text LIMIT " MOST_MARKS;

/* Of many decisions those that changed something, and of these the ones that changed most. */
static const char decisions_sql[] =
    "WITH kept AS (SELECT * FROM (SELECT *, row_number() OVER (ORDER BY started + stopped + refused"
    "  = 0, status = 'ok', started + stopped + refused DESC, denied DESC, decision) AS place"
    "  FROM decision WHERE run_id = :run) WHERE place <= " MOST_DECISIONS ")"
    " SELECT t_s, started, stopped, denied, refused, iif(status = 'ok', '', message),"
    " (SELECT group_concat(g.name || ' ' || s.workers_before || ' → ' || s.workers_after ||"
    "   iif(s.binding IN ('', 'none'), '', ' (' || s.binding || ')'), ', ')"
    "  FROM decision_stage s JOIN stage g ON g.run_id = s.run_id AND g.stage = s.stage"
    "  WHERE s.run_id = :run AND s.decision = d.decision AND (s.started + s.stopped > 0"
    "   OR s.workers_before <> s.workers_after OR s.binding NOT IN ('', 'none'))),"
    " CASE WHEN denied > 0 THEN (SELECT group_concat(word, ', ') FROM (SELECT"
    "   coalesce(g.name, 'job ' || a.job, 'a worker') || ': ' || substr(a.outcome, 9) AS word"
    "   FROM action a LEFT JOIN stage g ON g.run_id = a.run_id AND g.stage = a.stage"
    "   WHERE a.run_id = :run AND a.decision = d.decision AND a.verb = 'deny' LIMIT 4)) END"
    " FROM kept d ORDER BY decision";

static void write_moment(FILE *out, const struct an_frame *frame, size_t row)
{
    static const char *const words[] = { "started", "stopped", "denied", "refused by the cluster" };
    char text[700] = "";
    for (size_t i = 0; i < 4; i++) {
        const double count = an_number(frame, row, 1 + i);
        const size_t used = strlen(text);
        if (count > 0.0)
            (void)snprintf(text + used, sizeof text - used, "%s%.0f %s", used == 0 ? "" : ", ",
                           count, words[i]);
    }
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s",
                   text[0] == '\0' ? "nothing changed" : "");
    for (size_t i = 5; i < 8; i++) {
        const char *more = an_text(frame, row, i);
        const size_t used = strlen(text);
        if (more[0] != '\0')
            (void)snprintf(text + used, sizeof text - used, ". %s%.200s", i == 7 ? "Denied: " : "",
                           more);
    }
    an_clean(text); /* a character may have been cut in two */
    (void)fprintf(out, "%s[%.9g,", row == 0 ? "" : ",", an_number(frame, row, 0));
    an_write_json(out, text);
    (void)fputc(']', out);
}

static void write_mark(FILE *out, const struct an_frame *frame, size_t row)
{
    const double until = an_number(frame, row, 1);
    (void)fprintf(out, "%s[%.9g,", row == 0 ? "" : ",", an_number(frame, row, 0));
    if (isnan(until))
        (void)fputs("null,", out);
    else
        (void)fprintf(out, "%.9g,", until);
    an_write_json(out, an_text(frame, row, 2));
    (void)fputc(']', out);
}

static weir_status write_list(const struct an_page *page, const char *name, const char *sql,
                              void (*write)(FILE *, const struct an_frame *, size_t),
                              struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    const struct an_args args = { .run = page->run->run_id };
    const weir_status status = an_keep_query(page->keeper, sql, &args, &frame, error);
    if (status != WEIR_OK && status != WEIR_EUNSUPPORTED)
        return status;
    (void)fprintf(page->out, ",\"%s\":[", name);
    for (size_t i = 0; status == WEIR_OK && i < frame->row_count; i++) /* else an older file */
        write(page->out, frame, i);
    (void)fputc(']', page->out);
    return WEIR_OK;
}

void an_page_policy(FILE *out)
{
    (void)fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n",
                out);
}

weir_status an_page_script(const struct an_page *page, const struct an_overlays *overlays,
                           struct weir_error *error)
{
    FILE *out = page->out;
    (void)fprintf(out,
                  "<script type=\"application/json\" id=\"weir-run\">{\"end\":%.9g,\"unix\":%lld,"
                  "\"variants\":[",
                  page->run->end_s, (long long)page->run->start_unix_s);
    for (size_t i = 0; i < overlays->count; i++) {
        (void)fputs(i == 0 ? "" : ",", out);
        an_write_json(out, overlays->runs[i]->variant);
    }
    (void)fputc(']', out);
    WEIR_TRY(write_list(page, "marks", marks_sql, write_mark, error));
    WEIR_TRY(write_list(page, "decisions", decisions_sql, write_moment, error));
    (void)fputs("}</script>\n<script>\n", out);
    (void)fputs(weir_text_report_js, out);
    (void)fputs("</script>\n", out);
    return WEIR_OK;
}
