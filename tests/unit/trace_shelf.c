/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces that are read once. */
#include "workloads/trace_shelf.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char row[] = "1 0 0 60 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1\n";
static const char two_rows[] = "1 0 0 60 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1\n"
                               "2 9 0 60 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1\n";

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static const struct wl_jobs *read_it(struct wl_trace_shelf *shelf, const char *path,
                                     enum wl_bad_row on_bad_row)
{
    const struct wl_shelved *rows = NULL;
    struct weir_error error = { .phase = -1 };
    const struct wl_trace_options options = { .path = path, .on_bad_row = on_bad_row };
    const weir_status status =
        wl_trace_shelf_read(shelf, wl_trace_format_find("swf"), NULL, &options, &rows, &error);
    return status == WEIR_OK ? &rows->jobs : NULL;
}

static void the_same_is_read_once(void)
{
    char path[] = "/tmp/weir-shelf-XXXXXX";
    (void)close(mkstemp(path));
    struct wl_trace_shelf *shelf = wl_trace_shelf_open();
    write_file(path, row);
    const struct wl_jobs *first = read_it(shelf, path, WL_BAD_ROW_FAILS);
    if (CHECK(first != NULL))
        CHECK_I64((int64_t)first->count, 1);
    CHECK(read_it(shelf, path, WL_BAD_ROW_FAILS) == first);
    CHECK(read_it(shelf, path, WL_BAD_ROW_IS_SKIPPED) != first);
    write_file(path, two_rows);
    const struct wl_jobs *second = read_it(shelf, path, WL_BAD_ROW_FAILS);
    CHECK(second != first);
    if (CHECK(second != NULL))
        CHECK_I64((int64_t)second->count, 2);
    if (first != NULL) /* lent rows stay */
        CHECK_I64((int64_t)first->count, 1);
    wl_trace_shelf_close(shelf);
    (void)unlink(path);
}

static void a_failure_is_not_kept(void)
{
    char path[] = "/tmp/weir-shelf-XXXXXX";
    (void)close(mkstemp(path));
    struct wl_trace_shelf *shelf = wl_trace_shelf_open();
    (void)unlink(path);
    CHECK(read_it(shelf, path, WL_BAD_ROW_FAILS) == NULL);
    write_file(path, row);
    CHECK(read_it(shelf, path, WL_BAD_ROW_FAILS) != NULL);
    wl_trace_shelf_close(shelf);
    (void)unlink(path);
}

static const struct wl_shelved *read_nodes(struct wl_trace_shelf *shelf, const char *path)
{
    const struct wl_shelved *rows = NULL;
    struct weir_error error = { .phase = -1 };
    const struct wl_trace_options options = { .path = path };
    const weir_status status = wl_trace_shelf_read(shelf, NULL, NULL, &options, &rows, &error);
    return status == WEIR_OK ? rows : NULL;
}

static void a_table_of_nodes_is_read_once(void)
{
    char path[] = "/tmp/weir-shelf-XXXXXX";
    (void)close(mkstemp(path));
    struct wl_trace_shelf *shelf = wl_trace_shelf_open();
    write_file(path, "sn,cpu_milli,memory_mib,gpu,model\na,64000,262144,2,P100\n");
    const struct wl_shelved *first = read_nodes(shelf, path);
    if (CHECK(first != NULL && first->nodes.count == 1))
        CHECK_STR(first->nodes.nodes[0].model, "P100");
    CHECK(read_nodes(shelf, path) == first);
    CHECK(read_it(shelf, path, WL_BAD_ROW_FAILS) == NULL); /* as a trace it is another thing */
    wl_trace_shelf_close(shelf);
    (void)unlink(path);
}

static const struct test tests[] = {
    { "the same is read once", the_same_is_read_once },
    { "a table of nodes is read once", a_table_of_nodes_is_read_once },
    { "a failure is not kept", a_failure_is_not_kept },
};

TEST_MAIN(tests)
