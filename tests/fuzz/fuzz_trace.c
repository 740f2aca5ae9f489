/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first byte chooses what reads the rest: openb pods, a built-in column map, or - the text up
 * to a zero byte - a map of its own. Whatever is read has known facts, and survives weir's own
 * table.
 */
#include "tests/support/reached.h"
#include "workloads/column_map.h"
#include "workloads/jobs_write.h"
#include "workloads/trace_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static weir_status read_jobs(const struct wl_column_map *map, const uint8_t *data, size_t size,
                             struct wl_jobs *jobs)
{
    static const uint8_t nothing[1] = { 0 };
    const struct wl_trace_options options = { .path = "fuzz.csv",
                                              .bytes = data == NULL ? nothing : data,
                                              .byte_count = size,
                                              .on_bad_row = WL_BAD_ROW_IS_SKIPPED,
                                              .map = map };
    struct weir_error error = { .phase = -1, .pool = -1 };
    const weir_status status = map == NULL ? wl_openb_read_jobs(&options, jobs, &error)
                                           : wl_table_read(&options, jobs, &error);
    if ((status != WEIR_OK) != (error.text[0] != '\0'))
        abort();
    return status;
}

static void check_jobs(const struct wl_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        const struct wl_job *job = &jobs->jobs[i];
        const bool is_share = job->gpus == 1 && job->gpu_milli > 0 && job->gpu_milli < 1000;
        if (job->name == NULL || job->models == NULL || job->user == NULL || job->group == NULL)
            abort();
        if ((job->run_ns < 0 && job->run_ns != WL_UNKNOWN) ||
            (job->gpus > 0 && job->gpu_milli != 1000 && !is_share))
            abort();
    }
}

static void check_facts(const struct wl_jobs *jobs)
{
    struct wl_trace_facts facts;
    if (wl_trace_facts_find(jobs, NULL, &facts, NULL) != WEIR_OK)
        abort();
    size_t sum = 0;
    for (size_t i = 0; i < facts.size_count; i++)
        sum += facts.sizes[i].jobs;
    if (sum != jobs->count || facts.arrivals > jobs->count || facts.gpu_hours < 0)
        abort();
    wl_trace_facts_clear(&facts);
}

static void write_and_read(const struct wl_jobs *jobs)
{
    struct wl_column_map *map = NULL;
    struct wl_jobs again = { .count = 0 };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL || wl_jobs_write(jobs, out, NULL) != WEIR_OK || fclose(out) != 0)
        abort();
    if (wl_column_map_open("weir", &map, NULL) != WEIR_OK ||
        read_jobs(map, (const uint8_t *)text, size, &again) != WEIR_OK)
        abort();
    if (again.count + again.skipped != jobs->count)
        abort();
    for (size_t i = 0; again.skipped == 0 && i < again.count; i++)
        if (again.jobs[i].run_ns != jobs->jobs[i].run_ns ||
            again.jobs[i].gpus != jobs->jobs[i].gpus ||
            strcmp(again.jobs[i].group, jobs->jobs[i].group) != 0)
            abort();
    wl_column_map_destroy(map);
    wl_jobs_clear(&again);
    free(text);
}

/* NULL and `is_openb` false: nothing to read with. Moves behind the choice. */
static struct wl_column_map *choose(const uint8_t **data, size_t *size, bool *is_openb)
{
    struct wl_column_map *map = NULL;
    const size_t choice = *size == 0 ? 0 : **data % (wl_column_maps_count + 2);
    *data += *size == 0 ? 0 : 1;
    *size -= *size == 0 ? 0 : 1;
    *is_openb = choice == 0;
    if (choice == 0)
        return NULL;
    if (choice <= wl_column_maps_count) {
        (void)wl_column_map_open(wl_column_maps[choice - 1].name, &map, NULL);
        return map;
    }
    const uint8_t *end = *size == 0 ? NULL : memchr(*data, '\0', *size);
    if (end != NULL)
        (void)wl_column_map_parse("fuzz.json", (const char *)*data, &map, NULL);
    *size -= end == NULL ? *size : (size_t)(end - *data) + 1;
    *data = end == NULL ? *data : end + 1;
    return map;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool is_openb = false;
    struct wl_jobs jobs = { .count = 0 };
    struct wl_column_map *map = choose(&data, &size, &is_openb);
    if ((is_openb || map != NULL) && read_jobs(map, data, size, &jobs) == WEIR_OK) {
        check_jobs(&jobs);
        check_facts(&jobs);
        write_and_read(&jobs);
        if (jobs.count > 0)
            fuzz_reached();
    }
    wl_jobs_clear(&jobs);
    wl_column_map_destroy(map);
    return 0;
}
