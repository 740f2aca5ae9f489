/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was tuned on judges nothing; see the header. */
#include "sim/cli/ask/tune_split.h"

#include "sim/engine/digest.h"
#include "sim/scenario/resolve/varies.h"

#include <stdlib.h>
#include <string.h>

/* Digests of what arrives at a known time: where from does not matter. */
struct arrived {
    uint64_t *digests;
    size_t count;
};

static uint64_t digest_job(const struct sim_job_spec *job)
{
    const double gpus = sim_job_gpus(job);
    uint64_t digest = sim_digest_bytes(SIM_DIGEST_START, job->name, strlen(job->name));
    digest = sim_digest_word(digest, (uint64_t)job->submit_ns);
    digest = sim_digest_word(digest, (uint64_t)job->run_ns);
    return sim_digest_bytes(digest, &gpus, sizeof gpus);
}

static void add_jobs(struct arrived *arrived, const struct sim_scenario *scenario,
                     const struct sim_workload *workload)
{
    const bool is_static = workload->mode == SIM_WORKLOAD_STATIC;
    const size_t count = workload->kind != SIM_WORKLOAD_TRACE          ? 0
                         : workload->jobs_limit < workload->jobs_count ? workload->jobs_limit
                                                                       : workload->jobs_count;
    for (size_t j = 0; j < count; j++) {
        const struct sim_job_spec *job = &workload->jobs[j];
        if (is_static ? job->name[0] != '\0'
                      : job->submit_ns - workload->from_ns < scenario->horizon_ns)
            arrived->digests[arrived->count++] = digest_job(job);
    }
}

static void add_items(struct arrived *arrived, const struct sim_recorded *recorded)
{
    for (size_t i = 0; recorded->has_times && i < recorded->count; i++) {
        const struct sim_item_row *row = &recorded->rows[i];
        const double numbers[] = { (double)row->at_ns, row->size, row->bytes };
        arrived->digests[arrived->count++] =
            sim_digest_bytes(SIM_DIGEST_START, numbers, sizeof numbers);
    }
}

static int by_digest(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a;
    const uint64_t other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

static bool collect(const struct sim_scenario *scenario, struct arrived *arrived)
{
    size_t most = 1;
    for (size_t w = 0; w < scenario->workloads_count; w++)
        most += scenario->workloads[w].jobs_count;
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        most += scenario->pipelines[p].input.recorded.count;
    *arrived = (struct arrived){ .digests = calloc(most, sizeof *arrived->digests) };
    if (arrived->digests == NULL)
        return false;
    for (size_t w = 0; w < scenario->workloads_count; w++)
        add_jobs(arrived, scenario, &scenario->workloads[w]);
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        add_items(arrived, &scenario->pipelines[p].input.recorded);
    qsort(arrived->digests, arrived->count, sizeof *arrived->digests, by_digest);
    return true;
}

static size_t count_seen(const struct arrived *tuned, const struct arrived *judged)
{
    size_t seen = 0;
    for (size_t i = 0; i < judged->count; i++)
        seen += bsearch(&judged->digests[i], tuned->digests, tuned->count, sizeof *tuned->digests,
                        by_digest) != NULL;
    return seen;
}

bool sim_tune_is_tuned(const char *tuned, const char *judge)
{
    const bool is_same = strcmp(tuned, judge) == 0;
    if (is_same)
        (void)fprintf(stderr,
                      "weir: --test: %s is the scenario that is tuned on; without --test other "
                      "replications of it judge\n",
                      judge);
    return is_same;
}

static bool is_unseen(const struct sim_scenario *tuned, const struct arrived *seen,
                      const struct sim_scenario *judge)
{
    struct arrived arrived;
    if (judge->digest == tuned->digest)
        return !sim_tune_is_tuned(judge->path, judge->path);
    if (!collect(judge, &arrived)) {
        (void)fputs("weir: out of memory\n", stderr);
        return false;
    }
    const size_t known = count_seen(seen, &arrived);
    if (known > 0)
        (void)fprintf(stderr,
                      "weir: --test: %zu of the %zu jobs and items of %s are such of %s, which is "
                      "tuned on: take another trace, or other rows of it (first_row, first_date, "
                      "last_date)\n",
                      known, arrived.count, judge->path, tuned->path);
    free(arrived.digests);
    return known == 0;
}

bool sim_tune_split(const struct sim_experiment *experiment, struct sim_tune *tune)
{
    const struct sim_scenario *tuned = experiment->scenarios[0];
    const bool is_drawn =
        sim_scenario_varies(experiment->scenarios, 1, tune->varies, sizeof tune->varies);
    struct arrived seen;
    if (experiment->variant_count == 1 && !is_drawn) {
        (void)fprintf(
            stderr,
            "weir: --tune: replications of %s differ in %s: what judges would be what was "
            "tuned on; --test names other scenarios\n",
            tuned->path, tune->varies);
        return false;
    }
    bool is_split = collect(tuned, &seen);
    for (size_t v = 1; v < experiment->variant_count && is_split; v++)
        is_split = is_unseen(tuned, &seen, experiment->scenarios[v]);
    free(seen.digests);
    return is_split;
}
