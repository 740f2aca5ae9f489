/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trace tables and the openb readers: what is read, and what every mistake says. */
#include "workloads/trace_csv.h"
#include "tests/support/check.h"
#include "workloads/openb.h"

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

static void cells_are_found_by_heading(void)
{
    char path[PATH];
    for (int packed = 0; packed < 2; packed++) {
        struct wl_trace *csv = NULL;
        struct weir_error error = { .phase = -1 };
        size_t column = 0;
        int64_t value = 0;
        write_file(path,
                   "\xef\xbb\xbf"
                   "a,\"b,c\",d\r\n1,\"x\ny\",-3\n\n4,,5",
                   packed == 1);
        CHECK_STR(wl_trace_read(path, &csv, &error) == WEIR_OK ? "" : error.text, "");
        CHECK_I64(wl_trace_rows(csv), 2);
        CHECK_I64(wl_trace_find(csv, "a"), 0);
        CHECK_I64(wl_trace_find(csv, "b,c"), 1);
        CHECK(wl_trace_find(csv, "e") == WL_NO_COLUMN);
        CHECK_STR(wl_trace_cell(csv, 0, 1), "x\ny");
        CHECK_STR(wl_trace_cell(csv, 1, WL_NO_COLUMN), "");
        CHECK_I64(wl_trace_column(csv, "e", &column, &error), WEIR_EFORMAT);
        CHECK_STR(behind_path(path, &error), ":1:1: the heading has no column 'e'");
        CHECK_I64(wl_trace_whole(csv, 0, 2, (struct wl_range){ -5, 5 }, &value, &error), WEIR_OK);
        CHECK_I64(value, -3);
        CHECK_I64(wl_trace_whole(csv, 1, 2, (struct wl_range){ 0, 4 }, &value, &error),
                  WEIR_EFORMAT);
        CHECK_STR(behind_path(path, &error),
                  ":5:3: column 'd': expected 0 to 4, found '5' (row 2)");
        wl_trace_destroy(csv);
        (void)unlink(path);
    }
}

static void every_mistake_has_its_place(void)
{
    char path[PATH];
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", ":1:1: the file is empty, a heading is expected" },
        { "a,b\n1\n", ":2:1: 1 cells, the heading has 2" },
        { "a,b\n1,2,3\n", ":2:3: 3 cells, the heading has 2" },
        { "a,b\n1,\"2\n", ":2:2: a quote is not closed" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wl_trace *csv = NULL;
        struct weir_error error = { .phase = -1 };
        write_file(path, cases[i].text, false);
        CHECK_I64(wl_trace_read(path, &csv, &error), WEIR_EFORMAT);
        CHECK_STR(behind_path(path, &error), cases[i].message);
        (void)unlink(path);
    }
}

static void packed_files_are_known_by_their_bytes(void)
{
    char path[PATH];
    struct wl_trace *csv = NULL;
    struct weir_error error = { .phase = -1 };
    write_file(path, "\x28\xb5\x2f\xfd nothing of ours", false);
    CHECK_I64(wl_trace_read(path, &csv, &error), WEIR_EUNSUPPORTED);
    (void)unlink(path);
    write_file(path, "a,b\n1,2\n3,4\n5,6\n7,8\n", true);
    CHECK_I64(truncate(path, 25), 0);
    CHECK_I64(wl_trace_read(path, &csv, &error), WEIR_EIO);
    CHECK(strstr(error.text, "ends early") != NULL);
    (void)unlink(path);
    CHECK_I64(wl_trace_read(path, &csv, &error), WEIR_EIO);
}

#define PODS "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"

static void pods_are_read_and_checked(void)
{
    char path[PATH];
    static const struct {
        const char *row, *message;
    } cases[] = {
        { "p,1,1,2,500,\n", ":2:5: column 'gpu_milli': several GPUs are taken whole, found '500' "
                            "(row 1)" },
        { "p,1,1,1,0,\n", ":2:5: column 'gpu_milli': a pod with GPUs needs a share, found '0' "
                          "(row 1)" },
        { "p,x,1,1,1,\n", ":2:2: column 'cpu_milli': expected a whole number, found 'x' (row 1)" },
        { "p,1,1,1,1001,\n", ":2:5: column 'gpu_milli': expected 0 to 1000, found '1001' (row 1)" },
    };
    struct wl_openb_pods pods = { .count = 0 };
    struct weir_error error = { .phase = -1 };
    write_file(path, PODS "a,12000,16384,1,460,T4|A10\nb,1000,512,0,300,T4\n", false);
    CHECK_I64(wl_openb_read_pods(path, &pods, &error), WEIR_OK);
    (void)unlink(path);
    CHECK_I64(pods.count, 2);
    CHECK_I64(pods.pods[0].gpu_milli, 460);
    CHECK_STR(pods.pods[0].models, "T4|A10");
    CHECK_I64(pods.pods[1].gpu_milli, 0); /* without GPUs its row says nothing */
    CHECK_STR(pods.pods[1].models, "");
    wl_openb_pods_clear(&pods);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, PODS "%s", cases[i].row);
        write_file(path, text, false);
        CHECK_I64(wl_openb_read_pods(path, &pods, &error), WEIR_EFORMAT);
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
    { "cells are found by heading, plain or packed", cells_are_found_by_heading },
    { "every mistake has its place", every_mistake_has_its_place },
    { "packed files are known by their bytes", packed_files_are_known_by_their_bytes },
    { "pods are read and checked", pods_are_read_and_checked },
    { "orders of arrival are read by key", orders_are_read_by_key },
};
TEST_MAIN(tests)
