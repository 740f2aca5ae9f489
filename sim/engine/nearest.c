/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Edit distance with one row of the Wagner-Fischer table. Names are short; longer words are never
 * near.
 */
#include "sim/engine/nearest.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 63 };

static size_t least(size_t a, size_t b, size_t c)
{
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

size_t sim_edit_distance(struct sim_word word, const char *name)
{
    const size_t name_length = strlen(name);
    if (word.length > WORD_MAX || name_length > WORD_MAX)
        return SIZE_MAX;
    size_t row[WORD_MAX + 1];
    for (size_t j = 0; j <= name_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= word.length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= name_length; j++) {
            const size_t substituted = diagonal + (word.start[i - 1] != name[j - 1]);
            diagonal = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, substituted);
        }
    }
    return row[name_length];
}

bool sim_begins_name(struct sim_word word, const char *name)
{
    return word.length > 2 && strlen(name) > word.length &&
           strncasecmp(word.start, name, word.length) == 0 &&
           strchr("-.", name[word.length]) != NULL;
}

/* What others call it, and ours. */
static const char *const pairs[][2] = {
    { "memory", "ram" },
    { "mem", "ram" },
    { "vram", "gpu_memory" },
    { "gpu_memory", "gpu_mem" },
    { "cores", "cpus" },
    { "vcpus", "cpus" },
    { "accelerators", "gpus" },
    { "replicas", "workers" },
    { "replicas", "count" },
    { "instances", "count" },
    { "parallelism", "workers" },
    { "scheduler", "sched" },
    { "tasks", "items" },
    { "tasks", "count" },
    { "tasks", "workers" },
    { "nodes", "members" },
    { "gang", "members" },
    { "gpu_type", "gpu_types" },
    { "ranks", "members" },
    { "steps", "stages" },
    { "depends_on", "after" },
    { "queue_size", "buffer" },
    { "service_time", "service" },
    { "time", "service" },
    { "duration", "run_time" },
    { "duration", "service" },
    { "duration", "horizon" },
    { "runtime", "run_time" },
    { "max_retries", "max_attempts" },
    { "warm_up", "warmup" },
    { "startup", "setup" },
    { "resources", "request" },
    { "runs", "replications" },
    { "repeat", "replications" },
    { "variants", "compare" },
    { "events", "timeline" },
    { "simulate", "run" },
    { "start", "run" },
    { "init", "new" },
    { "create", "new" },
    { "lint", "check" },
    { "verify", "check" },
    { "test", "check" },
    { "html", "report" },
    { "chart", "plot" },
    { "graph", "plot" },
    { "draw", "plot" },
    { "info", "show" },
    { "inspect", "show" },
    { "describe", "show" },
    { "optimise", "search" },
    { "optimize", "search" },
    { "tune", "search" },
    { "size", "search" },
    { "why", "explain" },
    { "load", "import" },
    { "utilization", "GPU used" },
    { "utilisation", "GPU used" },
    { "jct", "job time mean" },
    { "qps", "throughput" },
    { "delay", "latency p95" },
    { "latency", "latency p95" },
    { "wait", "wait mean" },
    { "fifo", "fcfs" },
    { "backfill", "easy" },
    { "binpack", "best_fit" },
    { "drain", "cordon" },
    { "duration", "for" },
    { "until", "for" },
    { "maximize", "max" },
    { "maximise", "max" },
    { "minimize", "min" },
    { "minimise", "min" },
    { "prometheus", "openmetrics" },
    { "chrome", "perfetto" },
    { "poisson", "exp" },
    { "exponential", "exp" },
    { "p50", "latency p50" },
    { "p95", "latency p95" },
    { "p99", "latency p99" },
    { "tail", "latency p99" },
    { "slo", "goal" },
    { "sla", "goal" },
    { "objective", "goal" },
    { "fault", "failures" },
    { "chaos", "failures" },
    { "outage", "timeline" },
    { "autoscaling", "scaling" },
    { "preempt", "preemption" },
    { "heatmap", "node-heat" },
    { "knee", "axis" },
    { "capacity", "search" },
    { "pareto", "search" },
    { "prometheus", "export" },
    { "grafana", "export" },
    { "perfetto", "export" },
    { "csv", "export" },
    { "openmetrics", "export" },
    { "pdf", "report" },
    { "review", "report" },
    { "incident", "report" },
    { "whatif", "explain" },
    { "gpu utilization", "GPU used" },
    { "gpu utilisation", "GPU used" },
    { "batch size", "batch" },
    { "sensitivity", "tornado" },
    { "transient", "warm-up" },
    { "welch", "warm-up" },
};

bool sim_is_called(struct sim_word word, const char *name)
{
    const size_t length = strlen(name);
    if (word.length == length && strncasecmp(word.start, name, length) == 0)
        return true;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strcmp(pairs[i][1], name) == 0 && strlen(pairs[i][0]) == word.length &&
            strncasecmp(word.start, pairs[i][0], word.length) == 0)
            return true;
    return false;
}

/* Half edits: so that what is called so, and what begins so, come before any that is misspelt. */
static size_t rank_of(struct sim_word word, const char *name)
{
    const size_t distance = sim_edit_distance(word, name);
    if (sim_is_called(word, name))
        return 0;
    return sim_begins_name(word, name) ? 1 : distance == SIZE_MAX ? SIZE_MAX : 2 * distance;
}

const char *sim_nearer(struct sim_word word, const char *best, const char *name)
{
    const size_t rank = rank_of(word, name);
    const bool is_any = rank == SIZE_MAX || (rank > 1 && rank >= 2 * word.length);
    if (rank > (size_t)2 * SIM_NEAREST_LIMIT || is_any)
        return best;
    return !best || rank < rank_of(word, best) ? name : best;
}
