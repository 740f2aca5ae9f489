/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A few random jobs (see few_jobs.h). */
#include "tests/support/few_jobs.h"

#include "tests/support/runs.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT = 4000 };

static uint64_t next(uint64_t *dice)
{
    *dice = *dice * 6364136223846793005U + 1442695040888963407U;
    return *dice >> 33;
}

void few_jobs_draw(uint64_t seed, bool is_exact, struct few_jobs *jobs)
{
    uint64_t dice = seed * 2654435769U + 1;
    int submit = 0;

    jobs->count = 3 + next(&dice) % (FEW_JOBS_MOST - 2);
    for (size_t i = 0; i < jobs->count; i++) {
        struct few_job *const job = &jobs->job[i];
        submit += (int)(next(&dice) % 4);
        job->submit = submit;
        job->run = 1 + (int)(next(&dice) % FEW_JOBS_LONGEST);
        job->gpus = 1 + (int)(next(&dice) % FEW_JOBS_GPUS);
        job->estimate = job->run + (is_exact ? 0 : (int)(next(&dice) % 6));
        job->start = job->promised = -1;
        job->end_ns = -1;
    }
}

static void see_job(void *state, const struct sim_job_row *row)
{
    struct few_jobs *const jobs = state;

    jobs->job[row->label].start = (int)(row->first_start_ns / SIM_NS_PER_S);
    jobs->job[row->label].end_ns = row->end_ns;
}

void few_jobs_run(struct few_jobs *jobs, const char *policy)
{
    char text[TEXT];
    int used = snprintf(text, sizeof text,
                        "schema: 2\nname: t\ncluster:\n  nodes: [{name: n, count: %d, cpus: 8, "
                        "gpus: {h100: 1}}]\nsched: {queueing: %s}\njobs:\n  - name: w\n"
                        "    preemption: all\n    classes:\n",
                        FEW_JOBS_GPUS, policy);

    for (size_t i = 0; i < jobs->count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "      - {name: j%zu, count: 1, at: %d s, run_time: %d s, members: %d, "
                         "request: {gpus: 1}, estimate: %.17g}\n",
                         i, jobs->job[i].submit, jobs->job[i].run, jobs->job[i].gpus,
                         (double)jobs->job[i].estimate / jobs->job[i].run);
    const struct sim_observer observer = { .job = see_job, .state = jobs };
    free(test_watch_text(text, &observer));
}
