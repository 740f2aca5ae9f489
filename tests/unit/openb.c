/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The openb readers: what is read, and what every mistake says. */
#include "workloads/openb.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { PATH = 64 };

/* A file of its own; its name goes to `path`. */
static void write_file(char path[PATH], const char *text, bool is_packed)
{
    (void)snprintf(path, PATH, "/tmp/weir-trace-XXXXXX");
    const int file = mkstemp(path);
    CHECK(file >= 0);
    if (is_packed) {
        gzFile packed = gzdopen(file, "wb");
        CHECK(gzwrite(packed, text, (unsigned)strlen(text)) == (int)strlen(text));
        (void)gzclose(packed);
        return;
    }
    CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(file);
}

/* The part of a message behind the path. */
static const char *behind_path(const char *path, const struct weir_error *error)
{
    const size_t length = strlen(path);
    return strncmp(error->text, path, length) == 0 ? error->text + length : error->text;
}

static struct wl_jobs read_ok(const char *text)
{
    char path[PATH];
    struct wl_jobs jobs = { .count = 0 };
    struct weir_error error = { .phase = -1 };
    write_file(path, text, true);
    const struct wl_trace_options options = { .path = path };
    CHECK_STR(wl_openb_read_jobs(&options, &jobs, &error) == WEIR_OK ? "" : error.text, "");
    (void)unlink(path);
    return jobs;
}

static void check_refusal(const char *text, const char *message)
{
    char path[PATH];
    struct wl_jobs jobs = { .count = 0 };
    struct weir_error error = { .phase = -1 };
    write_file(path, text, false);
    const struct wl_trace_options options = { .path = path };
    CHECK_I64(wl_openb_read_jobs(&options, &jobs, &error), WEIR_EFORMAT);
    CHECK_STR(behind_path(path, &error), message);
    CHECK(jobs.jobs == NULL);
    (void)unlink(path);
}

#define PODS "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
#define TIMES                                                                                      \
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"            \
    "deletion_time,scheduled_time\n"

static void pods_are_read_and_checked(void)
{
    static const struct {
        const char *row, *message;
    } cases[] = {
        { PODS "p,1,1,2,500,\n",
          ":2:5: column 'gpu_milli': several GPUs are taken whole, got 500 of 1000" },
        { PODS "p,1,1,1,0,\n", ":2:5: column 'gpu_milli': a pod with GPUs needs a share, got 0" },
        { PODS "p,x,1,1,1,\n", ":2:2: column 'cpu_milli': 'x' is not a whole number" },
        { PODS "p,,1,1,1,\n",
          ":2:2: column 'cpu_milli': nothing in it; a whole number is expected" },
        { PODS "p,1,1,1,1001,\n", ":2:5: column 'gpu_milli': '1001' is not from 0 to 1000" },
        { PODS "p,1,-3,1,1,\n", ":2:3: column 'memory_mib': '-3' is not from 0 to 1000000000" },
        { PODS "p,1,nan,1,1,\n", ":2:3: column 'memory_mib': 'nan' is not a whole number" },
        { "name,cpu_mili\n", ":1:1: no column 'cpu_milli'; did you mean 'cpu_mili'?" },
        { TIMES "p,1,1,1,1,,LS,Running,9,20,8\n",
          ":2:11: column 'scheduled_time': '8' is before creation_time '9': a negative duration" },
        { TIMES "p,1,1,1,1,,LS,Running,7,7.5,8\n",
          ":2:10: column 'deletion_time': '7.5' is before scheduled_time '8': a negative "
          "duration" },
        { TIMES "p,1,1,1,1,,LS,Pending,9,8,\n",
          ":2:10: column 'deletion_time': '8' is before creation_time '9': a negative duration" },
        { TIMES "p,1,1,1,1,,LS,Pending,soon,8,\n",
          ":2:9: column 'creation_time': 'soon' is not a time in seconds" },
        { TIMES "p,1,1,1,1,,LS,Pending,-1,8,\n",
          ":2:9: column 'creation_time': must be >= 0, got '-1'" },
    };
    struct wl_jobs jobs = read_ok(PODS "a,12000,16384,1,460,T4|A10\nb,1000,512,0,300,T4\n");
    CHECK_I64(jobs.count, 2);
    CHECK_STR(jobs.jobs[0].name, "a");
    CHECK_I64(jobs.jobs[0].gpu_milli, 460);
    CHECK_STR(jobs.jobs[0].models, "T4|A10");
    CHECK_I64(jobs.jobs[0].memory_bytes, 16384 * INT64_C(1048576));
    CHECK_I64(jobs.jobs[0].submit_ns, WL_UNKNOWN);
    CHECK_I64(jobs.jobs[1].gpu_milli, 0); /* without GPUs its row says nothing */
    CHECK_STR(jobs.jobs[1].models, "");
    wl_jobs_clear(&jobs);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_refusal(cases[i].row, cases[i].message);
}

#define S INT64_C(1000000000)

static void phases_say_what_became_of_a_pod(void)
{
    struct wl_jobs jobs = read_ok(TIMES "done,1,1,1,9,,LS,Succeeded,10,25,12\n"
                                        "left,1,1,1,9,,BE,Pending,10,17.25,\n"
                                        "cut,1,1,1,9,,BE,Running,10,100,10\n"
                                        "deleted,1,1,1,9,,BE,Running,10,99,10\n"
                                        "failed,1,1,1,9,,BE,Failed,11,100,99\n");
    CHECK_I64(jobs.count, 5);
    CHECK_I64(jobs.jobs[0].submit_ns, 10 * S);
    CHECK_I64(jobs.jobs[0].wait_ns, 2 * S);
    CHECK_I64(jobs.jobs[0].run_ns, 13 * S);
    CHECK_I64(jobs.jobs[0].end, WL_JOB_DONE);
    CHECK_STR(jobs.jobs[0].group, "LS");
    CHECK_I64(jobs.jobs[1].end, WL_JOB_NEVER_STARTED);
    CHECK_I64(jobs.jobs[1].patience_ns, 7 * S + S / 4);
    CHECK_I64(jobs.jobs[1].run_ns, WL_UNKNOWN);
    CHECK_I64(jobs.jobs[1].wait_ns, WL_UNKNOWN);
    CHECK_I64(jobs.jobs[2].end, WL_JOB_RUNNING);
    CHECK_I64(jobs.jobs[2].run_ns, 90 * S);
    CHECK_I64(jobs.jobs[3].end, WL_JOB_END_UNKNOWN);
    CHECK_I64(jobs.jobs[4].end, WL_JOB_FAILED);
    wl_jobs_clear(&jobs);
}

static void pods_without_names_are_numbered(void)
{
    struct wl_jobs jobs =
        read_ok("\xef\xbb\xbf"
                "gpu_milli;num_gpu;memory_mib;cpu_milli\r\n1000;8;1;2\r\n\r\n0;0;1;2");
    CHECK_I64(jobs.count, 2);
    CHECK(!jobs.has_names);
    CHECK_STR(jobs.jobs[1].name, "job-1");
    CHECK_I64(jobs.jobs[1].line, 4);
    CHECK_I64(jobs.jobs[0].gpus, 8);
    wl_jobs_clear(&jobs);
}

static void bad_rows_can_be_skipped(void)
{
    char path[PATH];
    struct wl_jobs jobs = { .count = 0 };
    struct weir_error error = { .phase = -1 };
    write_file(path, PODS "a,1,1,1,1,\nb,1,1,1\nc,1,1,9000,1,\nd,1,1,1,1,\n", false);
    const struct wl_trace_options options = { .path = path, .on_bad_row = WL_BAD_ROW_IS_SKIPPED };
    CHECK_I64(wl_openb_read_jobs(&options, &jobs, &error), WEIR_OK);
    CHECK_I64(jobs.count, 2);
    CHECK_I64(jobs.skipped, 2);
    CHECK(jobs.messages[0] != NULL && strstr(jobs.messages[0], ":3:4: 4 fields, the header has 6"));
    CHECK(jobs.messages[2] == NULL);
    CHECK_STR(jobs.jobs[1].name, "d");
    wl_jobs_clear(&jobs);
    (void)unlink(path);
}

static void files_that_end_early_are_refused(void)
{
    char path[PATH];
    struct wl_jobs jobs = { .count = 0 };
    struct weir_error error = { .phase = -1 };
    write_file(path, PODS "a,1,1,1,1,\nb,1,1,1,1,\nc,1,1,9000,1,\nd,1,1,1,1,\n", true);
    CHECK_I64(truncate(path, 70), 0);
    const struct wl_trace_options options = { .path = path, .on_bad_row = WL_BAD_ROW_IS_SKIPPED };
    CHECK_I64(wl_openb_read_jobs(&options, &jobs, &error), WEIR_EFORMAT);
    CHECK(strstr(error.text, ": the compressed file ends early (after ") != NULL);
    (void)unlink(path);
    CHECK_I64(wl_openb_read_jobs(&options, &jobs, &error), WEIR_EIO);
}

static void nodes_are_read_and_checked(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "sn,cpu_milli,memory_mib,gpu,model\n,1,1,0,\n",
          ":2:1: column 'sn': a node needs a name" },
        { "sn,cpu_milli,memory_mib,gpu,model\nn,1,1,2,\n",
          ":2:5: column 'model': GPUs need a model" },
        { "sn,cpu_milli,memory_mib,gpu,model\nn,1,1,65,T4\n",
          ":2:4: column 'gpu': '65' is not from 0 to 64" },
        { "", ": empty: a header line is needed" },
    };
    char path[PATH];
    struct wl_openb_nodes nodes = { .count = 0 };
    struct weir_error error = { .phase = -1 };
    write_file(path, "sn,cpu_milli,memory_mib,gpu,model\nn,96000,4096,2,T4\nm,1,1,0,\n", false);
    CHECK_I64(wl_openb_read_nodes(path, &nodes, &error), WEIR_OK);
    CHECK_I64(nodes.count, 2);
    CHECK_STR(nodes.nodes[0].model, "T4");
    CHECK_STR(nodes.nodes[1].model, "");
    wl_openb_nodes_clear(&nodes);
    (void)unlink(path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(path, cases[i].text, false);
        CHECK_I64(wl_openb_read_nodes(path, &nodes, &error), WEIR_EFORMAT);
        CHECK_STR(behind_path(path, &error), cases[i].message);
        (void)unlink(path);
    }
}

static void orders_are_read_by_key(void)
{
    char path[PATH];
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "t 1 P 2 0 1\n", ": has no order 't:1'" },
        { "t 1 P 3 0 1\n", ":1:1: fewer numbers than announced" },
        { "t 1 P 1 0 1\n", ":1:1: more behind the announced numbers" },
        { "t 1 P 1 0\nt 1 N 2 0 0\n", ":2:1: the ranks are not 0 to n - 1, each once" },
    };
    struct wl_openb_order order = { .arrivals = NULL };
    struct weir_error error = { .phase = -1 };
    write_file(path, "t 2 P 1 9\nt 1 P 3 2 0 2\nt 1 N 2 1 0\n", true);
    CHECK_I64(wl_openb_read_order(path, "t:1", &order, &error), WEIR_OK);
    (void)unlink(path);
    CHECK_I64(order.arrival_count, 3);
    CHECK_I64(order.arrivals[2], 2);
    CHECK_I64(order.rank_count, 2);
    CHECK_I64(order.ranks[0], 1);
    wl_openb_order_clear(&order);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(path, cases[i].text, false);
        CHECK(wl_openb_read_order(path, "t:1", &order, &error) != WEIR_OK);
        CHECK_STR(behind_path(path, &error), cases[i].message);
        (void)unlink(path);
    }
}

static const struct test tests[] = {
    { "pods are read and every mistake has its place", pods_are_read_and_checked },
    { "the last phase and the times say what became of a pod", phases_say_what_became_of_a_pod },
    { "pods without names are numbered", pods_without_names_are_numbered },
    { "bad rows are skipped when asked, and counted", bad_rows_can_be_skipped },
    { "a compressed file that ends early is refused, whatever bad rows do",
      files_that_end_early_are_refused },
    { "nodes are read and every mistake has its place", nodes_are_read_and_checked },
    { "orders of arrival are read by key", orders_are_read_by_key },
};
TEST_MAIN(tests)
