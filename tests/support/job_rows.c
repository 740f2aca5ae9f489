/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of jobs; see the header. */
#include "tests/support/job_rows.h"

#include "sim/engine/digest.h"
#include "sim/record/record.h"
#include "sim/worker/context.h"
#include "sim/world/run.h"
#include "tests/support/results.h"

#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- taking ---- */

static struct test_job_row *row_of(struct test_job_rows *rows, uint64_t job)
{
    if (job >= rows->capacity) {
        const size_t capacity = (job + 1) * 2;
        struct test_job_row *grown = realloc(rows->rows, capacity * sizeof *grown);
        if (grown == NULL)
            abort();
        memset(grown + rows->capacity, 0, (capacity - rows->capacity) * sizeof *grown);
        rows->rows = grown;
        rows->capacity = capacity;
    }
    if (job >= rows->count)
        rows->count = job + 1;
    rows->rows[job].job = job;
    return &rows->rows[job];
}

void test_job_rows_take(struct test_job_rows *rows, const struct sim_job_row *row)
{
    struct test_job_row *kept = row_of(rows, row->job);
    kept->submit_ns = row->submit_ns;
    kept->start_ns = row->start_ns;
    kept->end_ns = row->end_ns;
    kept->attempts = row->attempts;
    kept->members = row->members;
    (void)snprintf(kept->outcome, sizeof kept->outcome, "%s", row->outcome);
}

static uint64_t devices_of(const struct weir_alloc *alloc)
{
    uint64_t hash = SIM_DIGEST_START;
    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *device = &alloc->devices[d];
        hash = sim_digest_word(hash, device->gpu);
        hash = sim_digest_word(hash, device->mig);
        hash = sim_digest_word(hash, (uint64_t)device->units);
        hash = sim_digest_word(hash, (uint64_t)device->mem_bytes);
        hash = sim_digest_word(hash, (uint64_t)device->nvdec_mask << 32 | device->nvenc_mask);
    }
    return hash;
}

void test_job_rows_place(struct test_job_rows *rows, uint64_t job, uint32_t member,
                         const struct weir_alloc *alloc)
{
    struct test_job_row *row = row_of(rows, job);
    struct test_job_place *grown = realloc(row->places, (member + 1) * sizeof *grown);
    if (grown == NULL)
        abort();
    row->places = grown;
    row->members = member + 1;
    grown[member] = (struct test_job_place){ .node = alloc->node,
                                             .device_count = alloc->device_count,
                                             .devices = devices_of(alloc) };
}

void test_job_rows_clear(struct test_job_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->rows[i].places);
    free(rows->rows);
    *rows = (struct test_job_rows){ .rows = NULL };
}

/* ---- the product ---- */

static void see(void *state, const struct sim_job_row *row)
{
    test_job_rows_take(state, row);
}

static void see_member(void *state, const struct sim_job_member *member)
{
    test_job_rows_place(state, member->job, member->member, member->alloc);
}

weir_status test_job_rows_run(const struct sim_scenario *scenario, bool check_always,
                              struct test_job_rows *rows, struct sim_run_summary *summary)
{
    const struct sim_observer observer = { .state = rows, .job = see, .member = see_member };
    const struct sim_run_options options = { .seed = scenario->seed,
                                             .check_always = check_always,
                                             .export_at_s = (double)NAN,
                                             .listen = test_listen,
                                             .listener = summary,
                                             .observer = &observer };
    const weir_status status = sim_run(scenario, &options, summary);
    rows->result_digest = summary->result_digest;
    return status;
}

/* ---- hashing and comparing ---- */

static uint64_t row_hash(const struct test_job_row *row)
{
    uint64_t hash = sim_digest_word(SIM_DIGEST_START, row->job);
    hash = sim_digest_word(hash, (uint64_t)row->submit_ns);
    hash = sim_digest_word(hash, (uint64_t)row->start_ns);
    hash = sim_digest_word(hash, (uint64_t)row->end_ns);
    hash = sim_digest_bytes(hash, row->outcome, strlen(row->outcome));
    hash = sim_digest_word(hash, row->attempts);
    for (uint32_t m = 0; m < row->members && row->places != NULL; m++)
        hash = sim_digest_word(hash, row->places[m].node);
    return hash;
}

uint64_t test_job_rows_hash(const struct test_job_rows *rows, const char *workload)
{
    const uint64_t name = sim_digest_bytes(SIM_DIGEST_START, workload, strlen(workload));
    uint64_t sum = 0;
    for (size_t i = 0; i < rows->count; i++)
        sum += sim_digest_word(name, row_hash(&rows->rows[i]));
    return sum;
}

/* What is not the same, NULL = nothing. */
static const char *difference(const struct test_job_row *a, const struct test_job_row *b)
{
    if (a->submit_ns != b->submit_ns)
        return "submit";
    if (a->start_ns != b->start_ns)
        return "start";
    if (a->end_ns != b->end_ns)
        return "end";
    if (strcmp(a->outcome, b->outcome) != 0)
        return "outcome";
    if (a->attempts != b->attempts)
        return "attempts";
    if ((a->places == NULL) != (b->places == NULL) || a->members != b->members)
        return "members";
    for (uint32_t m = 0; m < a->members && a->places != NULL; m++)
        if (a->places[m].node != b->places[m].node ||
            a->places[m].device_count != b->places[m].device_count ||
            a->places[m].devices != b->places[m].devices)
            return "place of a member";
    return NULL;
}

bool test_job_rows_differ(const struct test_job_rows *actual, const struct test_job_rows *expected,
                          char *text, size_t capacity)
{
    if (actual->count != expected->count) {
        (void)snprintf(text, capacity, "%zu jobs came, not %zu", actual->count, expected->count);
        return true;
    }
    for (size_t i = 0; i < actual->count; i++) {
        const struct test_job_row *a = &actual->rows[i];
        const struct test_job_row *b = &expected->rows[i];
        const char *what = difference(a, b);
        if (what == NULL)
            continue;
        (void)snprintf(text, capacity,
                       "job %zu: %s differs: %s from %lld to %lld in attempt %u, not %s from %lld "
                       "to %lld in attempt %u",
                       i, what, a->outcome, (long long)a->start_ns, (long long)a->end_ns,
                       a->attempts, b->outcome, (long long)b->start_ns, (long long)b->end_ns,
                       b->attempts);
        return true;
    }
    return false;
}
