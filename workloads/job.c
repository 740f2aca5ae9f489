/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of jobs; see the header. Texts lie in blocks: hundreds of thousands of jobs share them. */
#include "workloads/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 65536, FEWEST = 64, MESSAGES = 3, MILLI = 1000 };

struct wl_job_texts {
    struct wl_job_texts *next;
    char *last; /* users and groups repeat from row to row */
    size_t used, capacity;
    char bytes[];
};

void wl_jobs_clear(struct wl_jobs *jobs)
{
    free(jobs->jobs);
    free(jobs->swf);
    while (jobs->texts != NULL) {
        struct wl_job_texts *next = jobs->texts->next;
        free(jobs->texts);
        jobs->texts = next;
    }
    *jobs = (struct wl_jobs){ .count = 0 };
}

void wl_job_take_processors(struct wl_job *job, enum wl_processor processor)
{
    if (job->processors == 0 || job->gpus > 0 || job->cpu_milli > 0)
        return;
    if (processor == WL_PROCESSOR_GPU) {
        job->gpus = job->processors;
        job->gpu_milli = MILLI;
    } else {
        job->cpu_milli = (int64_t)job->processors * MILLI;
    }
}

static bool add_block(struct wl_jobs *jobs, size_t wanted)
{
    const size_t capacity = wanted > BLOCK_BYTES ? wanted : BLOCK_BYTES;
    struct wl_job_texts *block = malloc(sizeof *block + capacity);
    if (block == NULL)
        return false;
    *block = (struct wl_job_texts){ .next = jobs->texts, .capacity = capacity };
    jobs->texts = block;
    return true;
}

char *wl_jobs_text(struct wl_jobs *jobs, const char *text, size_t length)
{
    struct wl_job_texts *block = jobs->texts;
    if (block != NULL && block->last != NULL && strlen(block->last) == length &&
        memcmp(block->last, text, length) == 0)
        return block->last;
    if (block == NULL || block->capacity - block->used < length + 1) {
        if (!add_block(jobs, length + 1))
            return NULL;
        block = jobs->texts;
    }
    char *copy = block->bytes + block->used;
    memcpy(copy, text, length);
    copy[length] = '\0';
    block->used += length + 1;
    block->last = copy;
    return copy;
}

char *wl_jobs_next_name(struct wl_jobs *jobs)
{
    char name[32];
    const int length = snprintf(name, sizeof name, "job-%zu", jobs->count);
    return wl_jobs_text(jobs, name, (size_t)length);
}

struct wl_job wl_job_unknown(size_t line)
{
    return (struct wl_job){ .submit_ns = WL_UNKNOWN,
                            .wait_ns = WL_UNKNOWN,
                            .run_ns = WL_UNKNOWN,
                            .estimate_ns = WL_UNKNOWN,
                            .patience_ns = WL_UNKNOWN,
                            .line = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX };
}

weir_status wl_jobs_add(struct wl_jobs *jobs, const struct wl_job *job, struct weir_error *error)
{
    /* Room doubles whenever the count is a power of two. */
    if (jobs->count == 0 || (jobs->count >= FEWEST && (jobs->count & (jobs->count - 1)) == 0)) {
        const size_t room = jobs->count == 0 ? FEWEST : 2 * jobs->count;
        struct wl_job *grown = realloc(jobs->jobs, room * sizeof *grown);
        if (grown == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
        jobs->jobs = grown;
    }
    char **const texts[] = { &jobs->jobs[jobs->count].name, &jobs->jobs[jobs->count].models,
                             &jobs->jobs[jobs->count].user, &jobs->jobs[jobs->count].group,
                             &jobs->jobs[jobs->count].mig,  &jobs->jobs[jobs->count].model };
    jobs->jobs[jobs->count] = *job;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (*texts[i] == NULL)
            *texts[i] = wl_jobs_text(jobs, "", 0);
        if (*texts[i] == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    jobs->count++;
    return WEIR_OK;
}

weir_status wl_jobs_skip(struct wl_jobs *jobs, const char *message, struct weir_error *error)
{
    if (jobs->skipped < MESSAGES) {
        jobs->messages[jobs->skipped] = wl_jobs_text(jobs, message, strlen(message));
        if (jobs->messages[jobs->skipped] == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    jobs->skipped++;
    return WEIR_OK;
}
