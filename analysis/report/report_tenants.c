/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables by tenant, and of who waits for whom; see the header. */
#include "analysis/report/report_tenants.h"

#include "analysis/text.h"

#include <math.h>

static const char tenants_sql[] =
    "SELECT label, max(value) FILTER (WHERE metric = 'tenant.share'),"
    " max(value) FILTER (WHERE metric = 'tenant.gpu_s') / nullif((SELECT end_s - warmup_s FROM run"
    "  WHERE run_id = :run), 0),"
    " max(value) FILTER (WHERE metric = 'tenant.guarantee'),"
    " max(value) FILTER (WHERE metric = 'borrow.gpu_s'),"
    " max(value) FILTER (WHERE metric = 'tenant.done'),"
    " max(value) FILTER (WHERE metric = 'wait.tenant.mean'),"
    " max(value) FILTER (WHERE metric = 'wait.tenant.p95'),"
    " max(value) FILTER (WHERE metric = 'tenant.backlog_s'),"
    " max(is_lower_bound) FILTER (WHERE metric = 'wait.tenant.p95'),"
    " max(" AN_LEFT_OUT ") FILTER (WHERE metric = 'wait.tenant.mean') FROM result"
    " WHERE run_id = :run"
    " GROUP BY label HAVING count(*) FILTER (WHERE metric = 'tenant.gpu_s') > 0"
    " ORDER BY min(rowid) FILTER (WHERE metric = 'tenant.gpu_s')";
enum { TENANT, SHARE, GPUS, GUARANTEE, BORROWED, DONE, WAIT, P95, BACKLOG, IS_BOUND, LEFT_OUT };

static const char waits_sql[] =
    "SELECT waiter, waits, wait_s, holder, gpus, place, (SELECT gpus FROM weir_waits c"
    " WHERE c.place = w.place AND c.holder IS NULL) FROM weir_waits w WHERE holder IS NOT NULL"
    " ORDER BY place, gpus DESC, holder";
enum { WAITER, WAITS, WAIT_S, HOLDER, HELD, PLACE, CAPACITY };

static void cell(FILE *out, struct an_word word)
{
    an_write_element(out, "td", word.text);
}

static void write_tenant(FILE *out, const struct an_frame *frame, size_t row)
{
    const bool is_bound = an_number(frame, row, IS_BOUND) > 0.5;
    const bool is_partial = AN_IS_PARTIAL(an_number(frame, row, LEFT_OUT));
    (void)fputs("<tr>", out);
    an_write_element(out, "td", an_text(frame, row, TENANT));
    cell(out, an_word_percent(an_number(frame, row, SHARE)));
    cell(out, an_word_number(an_number(frame, row, GPUS)));
    cell(out, an_word_number(an_number(frame, row, GUARANTEE)));
    cell(out, an_word_number(an_number(frame, row, BORROWED) / 3600.0));
    cell(out, an_word_number(an_number(frame, row, DONE)));
    cell(out, an_word_known(an_word_duration(an_number(frame, row, WAIT)), false, is_partial));
    cell(out, an_word_known(an_word_duration(an_number(frame, row, P95)), is_bound, false));
    cell(out, an_word_duration(an_number(frame, row, BACKLOG)));
    (void)fputs("</tr>\n", out);
}

static weir_status write_tenants(const struct an_page *page, struct weir_error *error)
{
    const struct an_args args = { .run = page->run->run_id };
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(page->keeper, tenants_sql, &args, &frame, error));
    if (frame->row_count == 0)
        return WEIR_OK;
    (void)fputs("<h2 id=\"tenants\">Tenants</h2>\n<p class=\"note\">After warm-up; waits until the "
                "first start; jobs that never started count with their age in the p95 alone (≥: it "
                "reaches into them; so far: a mean without more than 5 % of the jobs). A tenant's "
                "figures hold those below it.</p>\n"
                "<div class=\"scroll\"><table><thead><tr><th>Tenant</th><th>Part of the GPU "
                "time</th><th>GPUs, mean</th><th>guaranteed</th><th>GPU hours above it</th>"
                "<th>Jobs done</th><th>Wait, mean</th><th>p95</th><th>Time in which jobs "
                "wait</th></tr></thead><tbody>\n",
                page->out);
    for (size_t i = 0; i < frame->row_count; i++)
        write_tenant(page->out, frame, i);
    (void)fputs("</tbody></table></div>\n", page->out);
    return WEIR_OK;
}

/* "pretrain 48, finetune 6.6, free 0.2" */
static void write_holders(FILE *out, const struct an_frame *frame, size_t first, size_t end)
{
    double free = an_number(frame, first, CAPACITY);
    (void)fputs("<td class=\"text\">", out);
    for (size_t i = first; i < end; i++) {
        an_write_html(out, an_text(frame, i, HOLDER));
        (void)fprintf(out, " %s, ", an_word_number(an_number(frame, i, HELD)).text);
        free -= an_number(frame, i, HELD);
    }
    (void)fprintf(
        out, "free %s</td>",
        an_word_number(free < 1e-3 * an_number(frame, first, CAPACITY) ? 0.0 : free).text);
}

static weir_status write_waits(const struct an_page *page, struct weir_error *error)
{
    const struct an_args args = { .run = page->run->run_id };
    const struct an_frame *frame = NULL;
    FILE *out = page->out;
    WEIR_TRY(an_share(page->keeper->db, &an_share_waits, &args, error));
    WEIR_TRY(an_keep_query(page->keeper, waits_sql, NULL, &frame, error));
    if (frame->row_count == 0)
        return WEIR_OK;
    (void)fputs("<h2 id=\"waits\">Who waits for whom</h2>\n<p class=\"note\">GPUs that others hold "
                "while jobs of each wait: means over the time in which they do, weighted by how "
                "many wait; of nodes that are up.</p>\n<div class=\"scroll\"><table><thead><tr>"
                "<th>Who waits</th><th>Job hours</th><th>Waits</th><th class=\"text\">Who holds "
                "GPUs meanwhile</th></tr></thead><tbody>\n",
                out);
    for (size_t i = 0; i < frame->row_count;) {
        size_t end = i + 1;
        while (end < frame->row_count &&
               an_number(frame, end, PLACE) < an_number(frame, i, PLACE) + 0.5)
            end++;
        (void)fputs("<tr>", out);
        an_write_element(out, "td", an_text(frame, i, WAITER));
        cell(out, an_word_number(an_number(frame, i, WAIT_S) / 3600.0));
        cell(out, an_word_number(an_number(frame, i, WAITS)));
        write_holders(out, frame, i, end);
        (void)fputs("</tr>\n", out);
        i = end;
    }
    (void)fputs("</tbody></table></div>\n", out);
    return WEIR_OK;
}

weir_status an_page_tenants(const struct an_page *page, struct weir_error *error)
{
    WEIR_TRY(write_tenants(page, error));
    const weir_status status = write_waits(page, error);
    return status == WEIR_EUNSUPPORTED ? WEIR_OK : status; /* an older file cannot say it */
}
