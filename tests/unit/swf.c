/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SWF in and out: what fields mean, what every mistake says, and that nothing is lost on the way.
 */
#include "workloads/swf.h"
#include "tests/support/check.h"
#include "tests/support/traces.h"
#include "workloads/jobs_write.h"

#include <stdlib.h>
#include <string.h>

#define S INT64_C(1000000000)

static void fields_become_jobs(void)
{
    struct test_trace t = test_trace_text(
        "swf",
        "\xEF\xBB\xBF; Version: 2.2\n;  UnixStartTime: 1027839845 \n; MaxNodes: 120\n"
        "; MaxProcs: 240\n;\n\n"
        "  7  10 5 100 4 99.5 1024 8 300 2048 1 3 4 -1 2 1 6 30\r\n"
        "8 11 60 -1 -1 -1 512 2 -1 -1 5 3 -1 -1 -1 -1 -1 -1\n"
        "9 12.25 0 0 1 -1 -1 -1 -1 -1 3 -1 -1 -1 -1 -1 -1 -1\n"
        "; a comment in between\n"
        "10 13 -1 50 1 -1 -1 -1 20 -1 -1 -1 -1 -1 -1 -1 -1 -1",
        false);
    CHECK_STR(t.error.text, "");
    CHECK_I64(t.jobs.count, 4);
    CHECK_I64(t.jobs.machine_processors, 240);
    CHECK_I64(t.jobs.zero_unix_ns, 1027839845 * S);
    if (t.jobs.count == 4) {
        const struct wl_job *job = t.jobs.jobs;
        CHECK_STR(job[0].name, "7");
        CHECK_STR(job[0].user, "3");
        CHECK_STR(job[0].group, "4");
        CHECK_I64(job[0].submit_ns, 10 * S);
        CHECK_I64(job[0].wait_ns, 5 * S);
        CHECK_I64(job[0].run_ns, 100 * S);
        CHECK_I64(job[0].estimate_ns, 300 * S);
        CHECK_I64(job[0].processors, 8); /* the larger of 4 and 8 */
        CHECK_I64(job[0].memory_bytes, 2048 * 1024 * 8);
        CHECK_I64(job[0].end, WL_JOB_DONE);
        CHECK_I64(job[0].line, 7);
        CHECK_I64(t.jobs.swf[0].preceding, 6);
        CHECK_I64(t.jobs.swf[0].think_ns, 30 * S);
        CHECK_NEAR(t.jobs.swf[0].cpu_s, 99.5, 0);
        CHECK_I64(job[1].end, WL_JOB_NEVER_STARTED); /* cancelled while it waited */
        CHECK_I64(job[1].patience_ns, 60 * S);
        CHECK_I64(job[1].wait_ns, WL_UNKNOWN);
        CHECK_I64(job[1].run_ns, WL_UNKNOWN);
        CHECK_I64(job[1].memory_bytes, 512 * 1024 * 2); /* what it used, nothing was asked for */
        CHECK_I64(job[2].submit_ns, 12 * S + S / 4);
        CHECK_I64(job[2].run_ns, 0);
        CHECK_I64(job[2].end, WL_JOB_DONE);
        CHECK_I64(job[3].run_ns, 50 * S); /* longer than its estimate: kept as it is */
        CHECK_I64(job[3].estimate_ns, 20 * S);
        CHECK_I64(job[3].end, WL_JOB_END_UNKNOWN);
    }
    wl_jobs_clear(&t.jobs);
}

static void every_mistake_has_its_place(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "1 2 3\n", "t:1:3: 3 fields, a job has 18" },
        { ";\n\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19\n",
          "t:3:19: more than 18 fields, a job has 18" },
        { "1 x 3 4 5 6 7 8 9 10 1 12 13 14 15 16 17 18\n",
          "t:1:2: submit time: 'x' is not a number" },
        { "1 2 nan 4 5 6 7 8 9 10 1 12 13 14 15 16 17 18\n",
          "t:1:3: wait time: 'nan' is not a number" },
        { "1 2 3 -4 5 6 7 8 9 10 1 12 13 14 15 16 17 18\n",
          "t:1:4: run time: must be >= 0, or -1 when it is not known, got -4" },
        { "1 2 3 4 5.5 6 7 8 9 10 1 12 13 14 15 16 17 18\n",
          "t:1:5: allocated processors: 5.5 is not a whole number" },
        { "1 9e9 3 4 5 6 7 8 9 10 1 12 13 14 15 16 17 18\n",
          "t:1:2: submit time: 9e9 is too large" },
        { "1 2 3 4 5 6 7 9999999999 9 10 1 12 13 14 15 16 17 18\n",
          "t:1:8: 9999999999 processors are too many" },
        { "1 2 3 4 5 6 7 999999999 9 999999999999 1 12 13 14 15 16 17 18\n",
          "t:1:10: 999999999999 KiB a processor are too much" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct test_trace t = test_trace_text("swf", cases[i].text, false);
        CHECK_I64(t.status, WEIR_EFORMAT);
        CHECK_STR(t.error.text, cases[i].message);
        CHECK(t.jobs.jobs == NULL);
        t = test_trace_text("swf", cases[i].text, true);
        CHECK_I64(t.status, WEIR_OK);
        CHECK_I64(t.jobs.skipped, 1);
        CHECK_STR(t.jobs.messages[0], cases[i].message);
        wl_jobs_clear(&t.jobs);
    }
}

static void zero_bytes_and_huge_lines_are_bad(void)
{
    const char zero[] = "1 2 3 4 5 6 7 8 9 10 1 12 13 14 15 16 17 1\0008\n\0\n";
    struct test_trace t = test_trace_bytes("swf", zero, sizeof zero - 1, true);
    CHECK_I64(t.jobs.skipped, 2);
    CHECK_STR(t.jobs.messages[0], "t:1:1: a zero byte");
    CHECK_STR(t.jobs.messages[1], "t:2:1: a zero byte");
    wl_jobs_clear(&t.jobs);
    const size_t length = 10 << 20;
    char *huge = malloc(length + 64);
    if (huge == NULL)
        return;
    memset(huge, '1', length);
    memcpy(huge + length, "\n1 2 3 4 5 6 7 8 9 10 1 12 13 14 15 16 17 18\n", 46);
    t = test_trace_bytes("swf", huge, length + 46, true);
    CHECK_I64(t.jobs.count, 1);
    CHECK_STR(t.jobs.messages[0], "t:1:1: a line of more than 1048576 bytes");
    wl_jobs_clear(&t.jobs);
    free(huge);
}

static char *write_swf(const struct wl_jobs *jobs, const struct wl_swf_options *options,
                       struct wl_swf_losses *losses)
{
    char *text = NULL;
    size_t size = 0;
    struct weir_error error = { .phase = -1, .pool = -1 };
    FILE *out = open_memstream(&text, &size);
    CHECK_I64(wl_swf_write(jobs, options, out, losses, &error), WEIR_OK);
    (void)fclose(out);
    return text;
}

static const struct wl_swf_options as_cpus = { .note = "by a test" };
static const struct wl_swf_options as_gpus = { .processor = WL_PROCESSOR_GPU, .note = "by a test" };

static void swf_survives_its_own_writer(void)
{
    static const char *const names[] = { "traces/hpc/hpc2n_alea_subset.swf",
                                         "traces/hpc/lublin_256.swf.gz" };
    static const size_t counts[] = { 3170, 10000 };
    for (size_t i = 0; i < 2; i++) {
        struct test_trace t;
        struct wl_swf_losses losses;
        if (!test_trace_shared(names[i], &t))
            return;
        CHECK_I64(t.jobs.count, counts[i]);
        CHECK_I64(t.jobs.machine_processors, i == 0 ? 240 : 256);
        char *text = write_swf(&t.jobs, &as_cpus, &losses);
        struct test_trace again = test_trace_text("swf", text, false);
        CHECK_STR(again.error.text, "");
        test_traces_equal(&again.jobs, &t.jobs);
        for (size_t j = 0; j < t.jobs.count && j < again.jobs.count; j++) {
            CHECK_NEAR(again.jobs.swf[j].cpu_s, t.jobs.swf[j].cpu_s, 0);
            CHECK_I64(again.jobs.swf[j].allocated, t.jobs.swf[j].allocated);
            CHECK_I64(again.jobs.swf[j].partition, t.jobs.swf[j].partition);
            CHECK_I64(again.jobs.swf[j].status, t.jobs.swf[j].status);
        }
        CHECK_I64(again.jobs.zero_unix_ns, t.jobs.zero_unix_ns);
        CHECK(strncmp(again.jobs.comments, t.jobs.comments, strlen(t.jobs.comments)) == 0);
        CHECK(strstr(again.jobs.comments, "; Note: by a test") != NULL);
        wl_jobs_clear(&again.jobs);
        wl_jobs_clear(&t.jobs);
        free(text);
    }
}

#define HEAD                                                                                       \
    "name,submit_s,wait_s,run_s,estimate_s,patience_s,cpu_milli,memory_bytes,gpus,gpu_milli,"      \
    "gpu_memory_bytes,models,processors,priority,user,group,end\n"

static void other_jobs_are_written_as_far_as_the_format_goes(void)
{
    struct test_trace t =
        test_trace_text("weir",
                        HEAD "late,20,2,10.5,60,,3500,4194304,2,1000,,A|B,,5,zoe,b,"
                             "done\n"
                             "share,10,,5,,,,,1,250,,,,,amy,,failed\n"
                             "cpu,11,,5,,,1000,,,,,,,,amy,a,running\n"
                             "left,12,,,,7,1000,,1,1000,,,,,bob,a,never_started\n"
                             "lost,,,5,,,1000,,1,1000,,,,,bob,a,done\n",
                        false);
    struct wl_swf_losses losses;
    CHECK_STR(t.error.text, "");
    char *text = write_swf(&t.jobs, &as_gpus, &losses);
    CHECK_STR(text, "; Version: 2.2\n; MaxJobs: 3\n; MaxRecords: 3\n; MaxProcs: 2\n"
                    "; Note: the trace does not say how large the machine is; MaxProcs is its "
                    "largest job\n; Note: by a test\n"
                    "1 10 -1 5 1 -1 -1 1 -1 -1 0 1 -1 -1 -1 -1 -1 -1\n"
                    "2 12 7 -1 -1 -1 -1 1 -1 -1 5 2 1 -1 -1 -1 -1 -1\n"
                    "3 20 2 10.5 2 -1 -1 2 60 2048 1 3 2 -1 -1 -1 -1 -1\n");
    CHECK_I64(losses.without_submit, 1);
    CHECK_I64(losses.without_processor, 1);
    CHECK_I64(losses.rounded_up, 1);
    CHECK_I64(losses.fractions, 1);
    CHECK_I64(losses.without_models, 1);
    free(text);
    const struct wl_swf_options options = { .machine_processors = 64,
                                            .has_whole_seconds = true,
                                            .note = "by a test" };
    text = write_swf(&t.jobs, &options, &losses);
    CHECK(strstr(text, "; MaxProcs: 64\n; Note: by a test\n") != NULL);
    CHECK(strstr(text, "\n3 20 2 11 4 -1 -1 4 60 1024 1 3 2 ") != NULL);
    CHECK_I64(losses.without_processor, 1); /* the share says nothing of CPUs */
    free(text);
    wl_jobs_clear(&t.jobs);
}

static void weirs_own_table_loses_nothing(void)
{
    static const char *const names[] = { "traces/openb/openb_pod_list_gpuspec33.csv.gz",
                                         "traces/hpc/hpc2n_alea_subset.swf",
                                         "traces/gavel/continuous_multi_seed0.csv.gz" };
    for (size_t i = 0; i < 3; i++) {
        struct test_trace t;
        char *text = NULL;
        size_t size = 0;
        struct weir_error error = { .phase = -1, .pool = -1 };
        if (!test_trace_shared(names[i], &t))
            return;
        FILE *out = open_memstream(&text, &size);
        CHECK_I64(wl_jobs_write(&t.jobs, out, &error), WEIR_OK);
        (void)fclose(out);
        struct test_trace again = test_trace_text("weir", text, false);
        CHECK_STR(again.error.text, "");
        test_traces_equal(&again.jobs, &t.jobs);
        wl_jobs_clear(&again.jobs);
        wl_jobs_clear(&t.jobs);
        free(text);
    }
}

static const struct test tests[] = {
    { "the 18 fields become jobs", fields_become_jobs },
    { "every mistake has its place, or is counted", every_mistake_has_its_place },
    { "zero bytes and huge lines are bad lines", zero_bytes_and_huge_lines_are_bad },
    { "SWF read, written and read again is the same", swf_survives_its_own_writer },
    { "other jobs are written as far as the format goes, losses counted",
      other_jobs_are_written_as_far_as_the_format_goes },
    { "weir's own table loses nothing", weirs_own_table_loses_nothing },
};
TEST_MAIN(tests)
