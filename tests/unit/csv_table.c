/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV logs of spans: every trap of real files is read right or refused by place. */
#include "tests/support/check.h"
#include "workloads/spans/span_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct result {
    struct wl_span_log log;
    struct weir_error error;
    weir_status status;
};

static struct result read_bytes(const char *text, size_t length, bool skips)
{
    struct result result = { .error = { .phase = -1, .pool = -1 } };
    const struct wl_span_options options = { .path = "t.csv",
                                             .bytes = (const uint8_t *)text,
                                             .byte_count = length,
                                             .skips_bad_rows = skips };
    result.status = wl_span_log_read(&options, &result.log, &result.error);
    return result;
}

static struct result read_text(const char *text, bool skips)
{
    return read_bytes(text, strlen(text), skips);
}

struct refusal {
    const char *text, *message;
};

static void marks_and_line_ends_are_understood(void)
{
    struct result r = read_text("\xEF\xBB\xBF"
                                "end;stage;start\r\n\r\n2.5;\"a;\"\"b\"\"\";1\r\n\r\n4;c;3",
                                false);
    CHECK_I64(r.status, WEIR_OK);
    CHECK_STR(r.error.text, "");
    CHECK_I64(r.log.count, 2);
    if (r.log.count == 2) {
        CHECK_STR(r.log.stages.names[0], "a;\"b\"");
        CHECK_NEAR(r.log.spans[0].start_s, 1.0, 0);
        CHECK_NEAR(r.log.spans[0].end_s, 2.5, 0);
        CHECK_NEAR(r.log.spans[1].end_s, 4.0, 0);
        CHECK(isnan(r.log.spans[1].size) && r.log.spans[1].worker == WL_NO_NAME);
    }
    wl_span_log_clear(&r.log);
}

static void every_mistake_names_its_place(void)
{
    static const struct refusal refusals[] = {
        { "", "t.csv: empty: a header line is needed" },
        { "stage,strat,end\n", "t.csv:1:1: no column 'start'; did you mean 'strat'?" },
        { "stage,start,end,end\n", "t.csv:1:4: column 'end' is there twice" },
        { "stage,start,end\n\n\na,eight,9\n",
          "t.csv:4:2: column 'start': 'eight' is neither a number nor a stamp" },
        { "stage,start,end\na,nan,9\n",
          "t.csv:2:2: column 'start': 'nan' is neither a number nor a stamp" },
        { "stage,start,end\na,inf,9\n",
          "t.csv:2:2: column 'start': 'inf' is neither a number nor a stamp" },
        { "stage,start,end\na,1,9\na,0x1,9\n",
          "t.csv:3:2: column 'start': '0x1' is neither a number nor a stamp" },
        { "stage,start,end\na,,9\n", "t.csv:2:2: column 'start': nothing in it" },
        { "stage,start,end\na,9,8.5\n",
          "t.csv:2:3: column 'end': 8.5 is before the start 9: a negative duration" },
        { "stage,start,end\na,1\n", "t.csv:2:2: 2 fields, the header has 3" },
        { "stage,start,end\na,1,2,3\n", "t.csv:2:4: 4 fields, the header has 3" },
        { "stage,start,end\n\"a\nb\",1,2\na,x,2\n",
          "t.csv:4:2: column 'start': 'x' is neither a number nor a stamp" },
        { "stage,start,end,size\na,1,2,0\n", "t.csv:2:4: column 'size': must be > 0, got 0" },
        { "stage,start,end,batch\na,1,2,1.5\n",
          "t.csv:2:4: column 'batch': 1.5 is not a whole number from 0 to 1e9" },
        { "stage,start,end,kind\na,1,2,idle\n",
          "t.csv:2:4: column 'kind': 'idle' is neither task nor setup" },
        { "stage,start,end,failed\na,1,2,maybe\n",
          "t.csv:2:4: column 'failed': 'maybe' is neither 0 nor 1" },
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct result r = read_text(refusals[i].text, false);
        CHECK_I64(r.status, WEIR_EFORMAT);
        CHECK_STR(r.error.text, refusals[i].message);
        wl_span_log_clear(&r.log);
    }
}

static void bad_rows_are_skipped_and_counted(void)
{
    struct result r =
        read_text("stage,start,end\na,0,1\na\"b,0,1\na,5,1\na,1\na,nan,2\na,1,2\n", true);
    CHECK_I64(r.status, WEIR_OK);
    CHECK_I64(r.log.counts.rows, 2);
    CHECK_I64(r.log.counts.skipped, 4);
    CHECK(strncmp(r.log.counts.messages[0], "t.csv:3:", 8) == 0);
    CHECK_STR(r.log.counts.messages[2], "t.csv:5:2: 2 fields, the header has 3");
    wl_span_log_clear(&r.log);
}

static void an_open_quote_does_not_swallow_the_file_silently(void)
{
    struct result r = read_text("stage,start,end\na,0,1\n\"a,0,1\na,1,2\n", false);
    CHECK_I64(r.status, WEIR_EFORMAT);
    CHECK(strncmp(r.error.text, "t.csv:3:", 8) == 0);
    wl_span_log_clear(&r.log);
}

static void zero_bytes_and_huge_lines_are_bad_rows(void)
{
    const char zero[] = "stage,start,end\na\0b,0,1\na,0,1\n";
    struct result r = read_bytes(zero, sizeof zero - 1, true);
    CHECK_I64(r.status, WEIR_OK);
    CHECK_I64(r.log.counts.rows, 1);
    CHECK_STR(r.log.counts.messages[0], "t.csv:2:1: a zero byte in a field");
    wl_span_log_clear(&r.log);

    const size_t length = 3 * (size_t)WL_CSV_ROW_BYTES;
    char *huge = malloc(length + 64);
    if (huge == NULL)
        return;
    memset(huge, 'x', length);
    memcpy(huge, "stage,start,end\n", 16);
    memcpy(huge + length, "\na,0,1\n", 7);
    r = read_bytes(huge, length + 7, true);
    CHECK_I64(r.status, WEIR_OK);
    CHECK_I64(r.log.counts.rows, 1);
    CHECK_STR(r.log.counts.messages[0], "t.csv:2:1: a row of more than 1048576 bytes");
    wl_span_log_clear(&r.log);
    free(huge);
}

static struct result read_corpus(const char *name)
{
    struct result result = { .error = { .phase = -1, .pool = -1 } };
    char path[4096];
    (void)snprintf(path, sizeof path, "fuzz/corpus/csv/%s", name);
    const struct wl_span_options options = { .path = test_data(path) };
    result.status = wl_span_log_read(&options, &result.log, &result.error);
    return result;
}

static void compressed_files_are_known_by_their_bytes(void)
{
    static const char *const names[] = { "plain.csv", "plain.csv.gz", "plain.csv.zst" };
    for (size_t i = 0; i < 3; i++) {
        struct result r = read_corpus(names[i]);
        CHECK_STR(r.error.text, "");
        CHECK_I64(r.log.count, 3);
        wl_span_log_clear(&r.log);
    }
    struct result r = read_corpus("two_members.csv.gz");
    CHECK_STR(r.error.text, "");
    CHECK_I64(r.log.count, 4);
    wl_span_log_clear(&r.log);
    static const char *const cut[] = { "cut.csv.gz", "cut.csv.zst" };
    for (size_t i = 0; i < 2; i++) {
        r = read_corpus(cut[i]);
        CHECK_I64(r.status, WEIR_EFORMAT);
        CHECK(strstr(r.error.text, "the compressed file ends early") != NULL);
        wl_span_log_clear(&r.log);
    }
}

static void columns_may_have_other_names_and_units(void)
{
    static const char *const columns[] = { "stage=op", "start=ts" };
    const char *text = "op,ts,end\na,1000,1500\n";
    struct wl_span_options options = { .path = "t.csv",
                                       .bytes = (const uint8_t *)text,
                                       .byte_count = strlen(text),
                                       .columns = columns,
                                       .columns_count = 2,
                                       .unit_s = 1e-3 };
    struct wl_span_log log;
    struct weir_error error = { .phase = -1, .pool = -1 };
    CHECK_I64(wl_span_log_read(&options, &log, &error), WEIR_OK);
    CHECK_NEAR(log.spans[0].end_s - log.spans[0].start_s, 0.5, 1e-12);
    wl_span_log_clear(&log);
    static const char *const wrong[] = { "strat=ts" };
    options.columns = wrong;
    options.columns_count = 1;
    CHECK_I64(wl_span_log_read(&options, &log, &error), WEIR_EINVAL);
    CHECK(strstr(error.text, "did you mean 'start'") != NULL);
    wl_span_log_clear(&log);
}

static void rows_of_one_worker_at_one_time_are_one_task(void)
{
    struct result r = read_text("stage,worker,start,end,size\na,w,0,2,1\na,w,0,2,3\na,v,0,2,1\n"
                                "a,w,2,3,1\na,,0,2,1\na,,0,2,1\n",
                                false);
    CHECK_I64(r.log.count, 6);
    CHECK_I64(r.log.spans[0].task_rows, 2);
    CHECK_NEAR(r.log.spans[0].task_size, 4.0, 0);
    CHECK_I64(r.log.spans[1].task_rows, 0);
    CHECK_I64(r.log.spans[2].task_rows, 1);
    CHECK_I64(r.log.spans[4].task_rows, 1);
    CHECK_I64(r.log.spans[5].task_rows, 1);
    wl_span_log_clear(&r.log);
}

static const struct test tests[] = {
    { "byte-order mark, CR LF, empty lines, quotes and semicolons are understood",
      marks_and_line_ends_are_understood },
    { "every mistake names file, line and field", every_mistake_names_its_place },
    { "bad rows are skipped and counted when asked", bad_rows_are_skipped_and_counted },
    { "an open quote is reported where it opens",
      an_open_quote_does_not_swallow_the_file_silently },
    { "zero bytes and huge lines are bad rows", zero_bytes_and_huge_lines_are_bad_rows },
    { "gzip and zstd are known by their bytes, cut files are refused",
      compressed_files_are_known_by_their_bytes },
    { "columns may have other names and times other units",
      columns_may_have_other_names_and_units },
    { "rows of one worker at one time are one task", rows_of_one_worker_at_one_time_are_one_task },
};
TEST_MAIN(tests)
