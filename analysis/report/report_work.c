/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the page says of the work when a run has more than one kind: each pipeline and each source
 * of jobs by itself, since neither their items nor their waits add up. See report_work.h.
 *
 * A stage is said to limit a pipeline when it is the slowest and its workers are busy; where they
 * idle, what arrives is the limit.
 */
#include "analysis/report/report_work.h"

#include "analysis/nan.h"
#include "analysis/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLAIMS = 3 };

/* ---- which work there is ---- */

static const char work_sql[] =
    "SELECT pipeline, 0 FROM (SELECT pipeline, min(stage) AS first FROM stage WHERE run_id = :run"
    "  GROUP BY pipeline ORDER BY first)"
    " UNION ALL SELECT label, 1 FROM (SELECT label FROM result WHERE run_id = :run"
    "  AND metric = 'jobs.waiting' ORDER BY rowid)";

weir_status an_page_read_work(struct an_page *page, struct weir_error *error)
{
    const struct an_args args = { .run = page->run->run_id };
    return an_keep_query(page->keeper, work_sql, &args, &page->work, error);
}

static bool is_jobs(const struct an_page *page, size_t work)
{
    return an_number(page->work, work, 1) > 0.5;
}

/* The only source of jobs has no name in the results. */
static const char *name_of(const struct an_page *page, size_t work)
{
    const char *name = an_text(page->work, work, 0);
    return name[0] == '\0' ? "jobs" : name;
}

bool an_page_is_several(const struct an_page *page)
{
    return page->work->row_count > 1;
}

static size_t count_work(const struct an_page *page, bool of_jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < page->work->row_count; i++)
        count += is_jobs(page, i) == of_jobs ? 1 : 0;
    return count;
}

/* A result of one kind of work; NAN = it has none, whatever others have. Rows of the only source of
 * jobs have no label. */
static struct an_value value_of(const struct an_page *page, size_t work, const char *metric)
{
    char key[300];
    const char *name = an_text(page->work, work, 0);
    (void)snprintf(key, sizeof key, "%s%s%s", metric, name[0] == '\0' ? "" : ":", name);
    return an_page_value(page, key);
}

static double number_of(const struct an_page *page, size_t work, const char *metric)
{
    return value_of(page, work, metric).value;
}

/* ---- stages ---- */

/* Of one pipeline the stage that is the slowest for longest; NULL = none was, but for moments. */
static const struct an_stage_facts *slowest(const struct an_page *page, size_t work)
{
    const struct an_stage_facts *found = NULL;
    for (size_t i = 0; i < page->facts->stage_count; i++) {
        const struct an_stage_facts *stage = &page->facts->stages[i];
        if (strcmp(stage->pipeline, an_text(page->work, work, 0)) == 0 &&
            stage->bottleneck >= 0.0005 && (found == NULL || stage->bottleneck > found->bottleneck))
            found = stage;
    }
    return found;
}

const struct an_stage_facts *an_page_limit(const struct an_page *page)
{
    const struct an_stage_facts *found = NULL;
    for (size_t i = 0; i < page->work->row_count; i++) {
        const struct an_stage_facts *stage = is_jobs(page, i) ? NULL : slowest(page, i);
        if (stage != NULL && (found == NULL || stage->busy > found->busy))
            found = stage;
    }
    return found;
}

/* ---- sentences ---- */

void an_page_claims(const struct an_page *page)
{
    const size_t pipelines = count_work(page, false);
    const size_t count = page->work->row_count;
    for (size_t i = 0; i < count && i < MOST_CLAIMS + 1; i++) {
        const bool is_first = i == 0 || i == pipelines;
        const double rate = number_of(page, i, is_jobs(page, i) ? "thr.jobs_h" : "thr.pipeline");
        (void)fputs(i == 0 ? ": " : is_first ? "; " : ", ", page->out);
        an_write_html(page->out, name_of(page, i));
        (void)fprintf(page->out, "%s %s%s", is_first ? " finishes" : "", an_word_number(rate).text,
                      !is_first          ? ""
                      : is_jobs(page, i) ? " jobs per hour"
                                         : " items per second");
    }
    if (count > MOST_CLAIMS + 1)
        (void)fprintf(page->out, "; %zu more kinds of work", count - MOST_CLAIMS - 1);
}

/* Of whom a 95th percentile says something: of a lower bound it is those above it. */
static const char *who(const struct an_value *value)
{
    return value->is_lower_bound ? "one in twenty" : "95 %";
}

static const char *bound_word(const struct an_value *value)
{
    return value->is_lower_bound ? "at least" : "at most";
}

/* "; refused for good: 3", when there are any. */
static void write_some(const struct an_page *page, size_t work, const char *metric,
                       const char *text)
{
    const double count = number_of(page, work, metric);
    if (count > 0.0)
        (void)fprintf(page->out, "; %s: %s", text, an_word_number(count).text);
}

static void write_pipeline(const struct an_page *page, size_t work)
{
    FILE *out = page->out;
    const struct an_stage_facts *stage = slowest(page, work);
    const struct an_value latency = value_of(page, work, "lat.e2e.p95");
    (void)fprintf(out, " finishes %s items per second",
                  an_word_number(number_of(page, work, "thr.pipeline")).text);
    if (!isnan(latency.value))
        (void)fprintf(out, "; %s of them take%s %s %s", who(&latency),
                      latency.is_lower_bound ? "s" : "", bound_word(&latency),
                      an_word_duration(latency.value).text);
    write_some(page, work, "batch.expired", "waited too long and expired");
    write_some(page, work, "requests.unreachable", "came while it was out of reach");
    write_some(page, work, "requests.unauthorised", "turned away");
    (void)fputc('.', out);
    if (stage == NULL)
        return;
    if (!stage->is_alone) {
        (void)fputs(" Its slowest stage is ", out);
        an_write_html(out, stage->name);
        (void)fprintf(out, ", for %s of the time; its workers are busy %s of theirs",
                      an_word_percent(stage->bottleneck).text, an_word_percent(stage->busy).text);
    } else {
        (void)fprintf(out, " Its workers are busy %s of their time",
                      an_word_percent(stage->busy).text);
    }
    if (stage->starved > 0.005)
        (void)fprintf(out, " and wait for input %s", an_word_percent(stage->starved).text);
    (void)fputc('.', out);
}

static bool is_one(double count)
{
    return fabs(count - 1.0) < 0.5;
}

static void write_jobs(const struct an_page *page, size_t work)
{
    FILE *out = page->out;
    const struct an_value wait = value_of(page, work, "wait.job.p95");
    const struct an_value time = value_of(page, work, "jct.p95");
    const double came = number_of(page, work, "jobs.arrived");
    const double done = number_of(page, work, "jobs.done");
    const double run = number_of(page, work, "jobs.running");
    const double wait_now = number_of(page, work, "jobs.waiting");
    (void)fprintf(out, ": %s job%s came and %s %s done; at the end %s run%s and %s wait%s",
                  an_word_number(came).text, is_one(came) ? "" : "s", an_word_number(done).text,
                  is_one(done) ? "is" : "are", an_word_number(run).text, is_one(run) ? "s" : "",
                  an_word_number(wait_now).text, is_one(wait_now) ? "s" : "");
    write_some(page, work, "jobs.refused", "refused for good");
    write_some(page, work, "jobs.left", "left before they started");
    write_some(page, work, "jobs.restarted", "runs lost");
    (void)fputc('.', out);
    if (!isnan(wait.value))
        (void)fprintf(out,
                      " Jobs that started waited %s on average; %s of these and those that still "
                      "wait do%s so for %s %s.",
                      an_word_duration(number_of(page, work, "wait.job.mean")).text, who(&wait),
                      wait.is_lower_bound ? "es" : "", bound_word(&wait),
                      an_word_duration(wait.value).text);
    if (!isnan(time.value))
        (void)fprintf(out, " From submission to end %s of what is done, runs or waits takes %s %s.",
                      who(&time), bound_word(&time), an_word_duration(time.value).text);
}

void an_page_work(const struct an_page *page)
{
    if (!an_page_is_several(page) || an_page_is_warmup(page))
        return;
    (void)fputs("<h2>What became of each kind of work</h2>\n", page->out);
    if (page->run->warmup_s > 0.0)
        (void)fputs("<p class=\"note\">After warm-up.</p>\n", page->out);
    (void)fputs("<ul>\n", page->out);
    for (size_t i = 0; i < page->work->row_count; i++) {
        (void)fputs("<li>", page->out);
        an_write_element(page->out, "b", name_of(page, i));
        if (is_jobs(page, i))
            write_jobs(page, i);
        else
            write_pipeline(page, i);
        (void)fputs("</li>\n", page->out);
    }
    (void)fputs("</ul>\n", page->out);
}

/* ---- tiles ---- */

double an_page_jobs(const struct an_page *page, const char *metric)
{
    double sum = 0.0;
    for (size_t i = 0; i < page->work->row_count; i++)
        if (is_jobs(page, i))
            sum += fmax(number_of(page, i, metric), 0.0);
    return sum;
}

static void write_job_tiles(const struct an_page *page)
{
    char text[300];
    char value[96];
    size_t worst = page->work->row_count;
    for (size_t i = 0; i < page->work->row_count; i++)
        if (is_jobs(page, i) && !isnan(number_of(page, i, "wait.job.p95")) &&
            (worst == page->work->row_count ||
             number_of(page, i, "wait.job.p95") > number_of(page, worst, "wait.job.p95")))
            worst = i;
    (void)snprintf(text, sizeof text, "jobs done of %s that arrived; %s wait at the end",
                   an_word_number(an_page_jobs(page, "jobs.arrived")).text,
                   an_word_number(an_page_jobs(page, "jobs.waiting")).text);
    an_page_tile(page, an_word_number(an_page_jobs(page, "jobs.done")).text, text);
    if (worst == page->work->row_count)
        return;
    const struct an_value wait = value_of(page, worst, "wait.job.p95");
    (void)snprintf(value, sizeof value, "%s",
                   an_word_known(an_word_duration(wait.value), wait.is_lower_bound, false).text);
    (void)snprintf(text, sizeof text, "is the longest wait of 95 %% of the jobs of %s%s",
                   name_of(page, worst), count_work(page, true) > 1 ? ", which wait longest" : "");
    an_page_tile(page, value, text);
}

/* A service is one stage of its own name: that it is the slowest of itself says nothing. */
void an_page_work_tiles(const struct an_page *page)
{
    const size_t pipelines = count_work(page, false);
    const size_t sources = count_work(page, true);
    const struct an_stage_facts *limit = an_page_limit(page);
    char value[96];
    char text[300];
    if (pipelines > 0) {
        (void)snprintf(value, sizeof value, "%s/s",
                       an_word_number(page->facts->throughput_per_s).text);
        (void)snprintf(text, sizeof text, "items finished by %zu pipeline%s", pipelines,
                       pipelines == 1 ? "" : "s");
        an_page_tile(page, value, text);
    }
    if (sources > 0)
        write_job_tiles(page);
    if (sources == 0 && limit != NULL && !limit->is_alone) {
        (void)snprintf(text, sizeof text,
                       "slowest stage of %s, %s of the time; its workers are "
                       "busy %s",
                       limit->pipeline, an_word_percent(limit->bottleneck).text,
                       an_word_percent(limit->busy).text);
        an_page_tile(page, an_shorten(limit->name, AN_NAME_MOST).text, text);
    }
}
