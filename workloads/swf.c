/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading SWF; see the header. */
#include "workloads/swf.h"

#include "sim/engine/number.h"
#include "workloads/lines.h"
#include "workloads/timestamp.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

enum { LINE_BYTES = 1 << 20, FEWEST = 64, COMMENT_BYTES = 1 << 20 };

static const char blanks[] = " \t\r\n";
static const int64_t most = INT64_C(1000000000000);

enum field {
    JOB,
    SUBMIT,
    WAIT,
    RUN,
    ALLOCATED,
    CPU_TIME,
    USED_MEMORY,
    REQUESTED,
    REQUESTED_TIME,
    REQUESTED_MEMORY,
    STATUS,
    USER,
    GROUP,
    APPLICATION,
    QUEUE,
    PARTITION,
    PRECEDING,
    THINK
};

static const struct {
    const char *name;
    bool is_time;
} fields[WL_SWF_FIELDS] = {
    [JOB] = { "job number", false },
    [SUBMIT] = { "submit time", true },
    [WAIT] = { "wait time", true },
    [RUN] = { "run time", true },
    [ALLOCATED] = { "allocated processors", false },
    [CPU_TIME] = { "average CPU time", false },
    [USED_MEMORY] = { "used memory", false },
    [REQUESTED] = { "requested processors", false },
    [REQUESTED_TIME] = { "requested time", true },
    [REQUESTED_MEMORY] = { "requested memory", false },
    [STATUS] = { "status", false },
    [USER] = { "user", false },
    [GROUP] = { "group", false },
    [APPLICATION] = { "application", false },
    [QUEUE] = { "queue", false },
    [PARTITION] = { "partition", false },
    [PRECEDING] = { "preceding job", false },
    [THINK] = { "think time", true },
};

struct reading {
    const struct wl_trace_options *options;
    struct wl_jobs *jobs;
    struct weir_error *error;
    struct wl_line line;
    char *comments; /* of the head so far */
    size_t comments_length;
    size_t records_room;
};

/* One line cut into fields; times in ns, the rest as it stands, WL_UNKNOWN for -1. */
struct values {
    int64_t whole[WL_SWF_FIELDS];
    double cpu_s;
    const char *texts[WL_SWF_FIELDS];
};

/* A bad line: the end, or one more that is skipped. */
WEIR_PRINTF(3, 4)
static weir_status bad_line(struct reading *reading, size_t field, const char *format, ...)
{
    char message[WEIR_ERROR_TEXT / 2];
    char full[WEIR_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)snprintf(full, sizeof full, "%.200s:%zu:%zu: %s", reading->options->path,
                   reading->line.number, field, message);
    if (reading->options->on_bad_row == WL_BAD_ROW_FAILS)
        return weir_fail(reading->error, WEIR_EFORMAT, "%s", full);
    WEIR_TRY(wl_jobs_skip(reading->jobs, full, reading->error));
    return WEIR_EFORMAT;
}

/* ---- fields ---- */

static weir_status read_field(struct reading *reading, size_t f, const char *text,
                              struct values *values)
{
    double number = 0;
    values->texts[f] = text;
    values->whole[f] = WL_UNKNOWN;
    if (text[0] == '\0' || sim_number_scan(text, &number) != strlen(text))
        return bad_line(reading, f + 1, "%s: '%.40s' is not a number", fields[f].name, text);
    if (number < 0 && !(number > -1.0 - 1e-9 && number < -1.0 + 1e-9))
        return bad_line(reading, f + 1, "%s: must be >= 0, or -1 when it is not known, got %.40s",
                        fields[f].name, text);
    if (f == CPU_TIME)
        values->cpu_s = number;
    if (number < 0 || f == CPU_TIME)
        return WEIR_OK;
    if (!(number <= (double)most) ||
        !wl_time_scan(text, fields[f].is_time ? NS_PER_S : 1, &values->whole[f]) ||
        (fields[f].is_time && values->whole[f] > WL_TIME_MOST_NS))
        return bad_line(reading, f + 1, "%s: %.40s is too large", fields[f].name, text);
    const size_t whole_digits = strspn(text, "+0123456789.");
    const char *point = strchr(text, '.');
    if (!fields[f].is_time && (whole_digits < strlen(text) ||
                               (point != NULL && strspn(point + 1, "0") < strlen(point + 1))))
        return bad_line(reading, f + 1, "%s: %.40s is not a whole number", fields[f].name, text);
    return WEIR_OK;
}

static weir_status read_fields(struct reading *reading, struct values *values)
{
    char *rest = NULL;
    size_t count = 0;
    char *words[WL_SWF_FIELDS + 1] = { NULL };
    if (strlen(reading->line.text) != reading->line.length)
        return bad_line(reading, 1, "a zero byte");
    for (char *word = strtok_r(reading->line.text, blanks, &rest);
         word != NULL && count <= WL_SWF_FIELDS; word = strtok_r(NULL, blanks, &rest))
        words[count++] = word;
    if (count != WL_SWF_FIELDS)
        return bad_line(reading, count, "%s%d fields, a job has %d",
                        count > WL_SWF_FIELDS ? "more than " : "",
                        count > WL_SWF_FIELDS ? WL_SWF_FIELDS : (int)count, WL_SWF_FIELDS);
    for (size_t f = 0; f < WL_SWF_FIELDS; f++)
        WEIR_TRY(read_field(reading, f, words[f], values));
    return WEIR_OK;
}

/* ---- jobs ---- */

static int64_t known_or(int64_t value, int64_t other)
{
    return value == WL_UNKNOWN ? other : value;
}

static struct wl_swf_record record_of(const struct values *values)
{
    const int64_t *whole = values->whole;
    return (struct wl_swf_record){ .allocated = known_or(whole[ALLOCATED], -1),
                                   .requested = known_or(whole[REQUESTED], -1),
                                   .used_kib = known_or(whole[USED_MEMORY], -1),
                                   .requested_kib = known_or(whole[REQUESTED_MEMORY], -1),
                                   .status = known_or(whole[STATUS], -1),
                                   .application = known_or(whole[APPLICATION], -1),
                                   .queue = known_or(whole[QUEUE], -1),
                                   .partition = known_or(whole[PARTITION], -1),
                                   .preceding = known_or(whole[PRECEDING], -1),
                                   .think_ns = whole[THINK],
                                   .cpu_s = values->cpu_s };
}

static enum wl_job_end end_of(const struct values *values)
{
    static const enum wl_job_end ends[] = { WL_JOB_FAILED, WL_JOB_DONE,   WL_JOB_END_UNKNOWN,
                                            WL_JOB_DONE,   WL_JOB_FAILED, WL_JOB_CANCELLED };
    const int64_t status = values->whole[STATUS];
    if (status < 0 || status > 5)
        return WL_JOB_END_UNKNOWN;
    const bool has_run = values->whole[RUN] != WL_UNKNOWN;
    return status == 5 && !has_run ? WL_JOB_NEVER_STARTED : ends[status];
}

static weir_status job_of(struct reading *reading, const struct values *values,
                          const struct wl_swf_record *record, struct wl_job *job)
{
    const int64_t processors =
        record->allocated > record->requested ? record->allocated : record->requested;
    const int64_t kib = record->requested_kib >= 0 ? record->requested_kib : record->used_kib;
    int64_t kib_of_all = 0;
    if (processors > INT32_MAX)
        return bad_line(reading, REQUESTED + 1, "%lld processors are too many",
                        (long long)processors);
    if (processors > 0 && kib > 0 &&
        (__builtin_mul_overflow(kib, processors, &kib_of_all) || kib_of_all > INT64_MAX / 1024))
        return bad_line(reading, REQUESTED_MEMORY + 1, "%lld KiB a processor are too much",
                        (long long)kib);
    *job = wl_job_unknown(reading->line.number);
    job->submit_ns = values->whole[SUBMIT];
    job->run_ns = values->whole[RUN];
    job->estimate_ns = values->whole[REQUESTED_TIME];
    job->processors = processors > 0 ? (uint32_t)processors : 0;
    job->memory_bytes = kib_of_all * 1024;
    job->end = end_of(values);
    if (job->end == WL_JOB_NEVER_STARTED)
        job->patience_ns = values->whole[WAIT];
    else
        job->wait_ns = values->whole[WAIT];
    return WEIR_OK;
}

static weir_status name_job(struct reading *reading, const struct values *values,
                            struct wl_job *job)
{
    static const enum field named[] = { JOB, USER, GROUP };
    char **const texts[] = { &job->name, &job->user, &job->group };
    for (size_t i = 0; i < 3; i++) {
        const bool is_known = values->whole[named[i]] != WL_UNKNOWN;
        const char *text =
            is_known && values->texts[named[i]] != NULL ? values->texts[named[i]] : "";
        *texts[i] = named[i] == JOB && !is_known ? wl_jobs_next_name(reading->jobs)
                                                 : wl_jobs_text(reading->jobs, text, strlen(text));
        if (*texts[i] == NULL)
            return weir_fail(reading->error, WEIR_ENOMEM, "out of memory");
    }
    return WEIR_OK;
}

static weir_status add_record(struct reading *reading, const struct wl_swf_record *record)
{
    struct wl_jobs *jobs = reading->jobs;
    if (jobs->count == reading->records_room) {
        const size_t room = jobs->count == 0 ? FEWEST : 2 * jobs->count;
        struct wl_swf_record *grown = realloc(jobs->swf, room * sizeof *grown);
        if (grown == NULL)
            return weir_fail(reading->error, WEIR_ENOMEM, "out of memory");
        jobs->swf = grown;
        reading->records_room = room;
    }
    jobs->swf[jobs->count] = *record;
    return WEIR_OK;
}

static weir_status read_job(struct reading *reading)
{
    struct values values = { .cpu_s = -1 };
    struct wl_job job;
    if (reading->line.is_cut)
        return bad_line(reading, 1, "a line of more than %d bytes", LINE_BYTES);
    WEIR_TRY(read_fields(reading, &values));
    const struct wl_swf_record record = record_of(&values);
    WEIR_TRY(job_of(reading, &values, &record, &job));
    WEIR_TRY(name_job(reading, &values, &job));
    WEIR_TRY(add_record(reading, &record));
    return wl_jobs_add(reading->jobs, &job, reading->error);
}

/* ---- comments ---- */

/* "; Key: 240"; false when the line is about something else. */
static bool read_key(const char *comment, const char *key, int64_t *value)
{
    const size_t length = strlen(key);
    comment += strspn(comment, "; \t");
    if (strncmp(comment, key, length) != 0 || comment[length] != ':')
        return false;
    char *end = NULL;
    const long long read = strtoll(comment + length + 1, &end, 10);
    if (end == comment + length + 1 || end[strspn(end, blanks)] != '\0' || read < 0 || read > most)
        return false;
    *value = read;
    return true;
}

static weir_status read_comment(struct reading *reading)
{
    struct wl_jobs *jobs = reading->jobs;
    const struct wl_line *line = &reading->line;
    int64_t value = 0;
    if (jobs->count > 0 || reading->comments_length + line->length > COMMENT_BYTES)
        return WEIR_OK;
    if (read_key(line->text, "UnixStartTime", &value) && value <= 9000000000)
        jobs->zero_unix_ns = value * NS_PER_S;
    else if ((read_key(line->text, "MaxProcs", &value) ||
              (jobs->machine_processors == 0 && read_key(line->text, "MaxNodes", &value))) &&
             value <= UINT32_MAX)
        jobs->machine_processors = (uint32_t)value;
    const size_t length = reading->comments_length + line->length;
    char *grown = realloc(reading->comments, length + 1);
    if (grown == NULL)
        return weir_fail(reading->error, WEIR_ENOMEM, "out of memory");
    memcpy(grown + reading->comments_length, line->text, line->length);
    grown[length] = '\0';
    reading->comments = grown;
    reading->comments_length = length;
    return WEIR_OK;
}

/* ---- files ---- */

static weir_status next_line(struct reading *reading, struct wl_lines *lines)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    const size_t before = reading->line.number;
    const weir_status status = wl_lines_next(lines, &reading->line, &error);
    if (status != WEIR_OK)
        return weir_fail(reading->error, status, "%s: %s (after %zu lines, %zu jobs)",
                         reading->options->path, error.text, before, reading->jobs->count);
    if (reading->line.number == 1 && before == 0 && reading->line.text != NULL &&
        strncmp(reading->line.text, "\xEF\xBB\xBF", 3) == 0) {
        reading->line.text += 3;
        reading->line.length -= 3;
    }
    return WEIR_OK;
}

static weir_status read_lines(struct reading *reading, struct wl_lines *lines)
{
    for (;;) {
        WEIR_TRY(next_line(reading, lines));
        if (reading->line.text == NULL)
            return WEIR_OK;
        const size_t blank = strspn(reading->line.text, blanks);
        reading->line.text += blank;
        reading->line.length -= blank;
        if (reading->line.text[0] == ';') {
            WEIR_TRY(read_comment(reading));
            continue;
        }
        if (reading->line.length == 0 && !reading->line.is_cut)
            continue;
        const weir_status status = read_job(reading);
        if (status != WEIR_OK &&
            (status != WEIR_EFORMAT || reading->options->on_bad_row == WL_BAD_ROW_FAILS))
            return status;
    }
}

static weir_status keep_comments(struct reading *reading)
{
    if (reading->comments == NULL)
        return WEIR_OK;
    reading->jobs->comments =
        wl_jobs_text(reading->jobs, reading->comments, reading->comments_length);
    return reading->jobs->comments != NULL
               ? WEIR_OK
               : weir_fail(reading->error, WEIR_ENOMEM, "out of memory");
}

weir_status wl_swf_read(const struct wl_trace_options *options, struct wl_jobs *jobs,
                        struct weir_error *error)
{
    struct wl_jobs read = { .zero_unix_ns = WL_UNKNOWN, .has_names = true };
    struct reading reading = { .options = options, .jobs = &read, .error = error };
    struct wl_source *source = NULL;
    struct wl_lines *lines = NULL;
    if (options->bytes == NULL)
        WEIR_TRY(wl_source_open(options->path, &source, error));
    else
        WEIR_TRY(wl_source_open_memory(options->bytes, options->byte_count, &source, error));
    wl_source_limit(source, options->limits);
    WEIR_TRY(wl_lines_open(source, LINE_BYTES, &lines, error));
    weir_status status = read_lines(&reading, lines);
    if (status == WEIR_OK)
        status = keep_comments(&reading);
    free(reading.comments);
    wl_lines_close(lines);
    if (status != WEIR_OK)
        wl_jobs_clear(&read);
    else
        *jobs = read;
    return status;
}

bool wl_swf_is_this(const struct wl_trace_head *head)
{
    double number = 0;
    size_t count = 0;
    const char *at = head->line + strspn(head->line, blanks);
    if (*at == ';')
        return true;
    for (; *at != '\0'; at += strspn(at, blanks), count++) {
        const size_t length = sim_number_scan(at, &number);
        if (length == 0 || strchr(blanks, at[length]) == NULL)
            return false;
        at += length;
    }
    return count == WL_SWF_FIELDS;
}
