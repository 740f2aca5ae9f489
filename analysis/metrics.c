/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The metric table; see the header. The default set stands first, in the order of the tables.
 */
#include "analysis/metrics.h"

#include "analysis/text.h"
#include "analysis/windows.h"

#include <string.h>
#include <strings.h>

static const struct an_metric metrics[] = {
    { "thr.pipeline", "throughput", "1/s", "items finished per second after warm-up", 1, true,
      true },
    { "thr.pipeline.steady", "steady throughput", "1/s",
      "items per second over the longest time with a constant set of workers", 1, true, false },
    { "thr.of_bound", "of the bound", "ratio",
      "throughput, of the most that plans could give that change over time", 1, true, false },
    { "alloc.gpu_pct", "GPU allocated", "%", "GPUs allocated when all jobs have arrived", 1, true,
      false },
    { "alloc.gap_pp", "below the bound", "pp",
      "GPUs that some scheduler might have allocated and this one did not", -1, true, false },
    { "goodput.frac", "goodput", "ratio", "share of the time of runs whose work was kept", 1, true,
      false },
    { "thr.jobs_h", "jobs done", "1/h", "jobs finished per hour after warm-up", 1, true, true },
    { "sla.violation_rate", "late", "ratio", "jobs that were not done by their deadline", -1, true,
      false },
    { "jobs.gpu_time_accepted", "GPU time accepted", "ratio",
      "GPU time that accepted jobs ask for, of that of all that came", 1, true, false },
    { "jobs.gpu_time_gap", "below the bound on GPU time", "pp",
      "GPU time that some scheduler might have accepted and this one did not", -1, true, false },
    { "jobs.acceptance", "accepted", "ratio", "jobs that were not refused for good", 1, true,
      false },
    { "slowdown.mean", "slowdown mean", "1",
      "mean of time in the system over run time, both at least 10 s", -1, true, false },
    { "wait.job.mean", "wait mean", "s", "mean time from submission to the start", -1, true,
      false },
    { "wait.job.p95", "wait p95", "s", "95 % of the jobs wait at most this long", -1, true, false },
    { "frag.gpu_pct", "fragmented", "%", "GPUs that the target workload cannot use", -1, true,
      false },
    { "jobs.failed", "refused", "jobs", "jobs that fitted nowhere", -1, true, false },
    { "mig.dead_slices", "dead slices", "slices", "free slices of cut GPUs that no shape can reach",
      -1, true, false },
    { "makespan", "makespan", "s", "from the first item in to the last item out", -1, true, false },
    { "lat.e2e.p95", "latency p95", "s", "95 % of the items take at most this long", -1, true,
      false },
    { "util.gpu.active", "GPU used", "ratio", "GPU compute that work is given", 1, true, true },
    { "util.gpu.assigned", "GPU assigned", "ratio", "GPU time set aside for workers", 0, true,
      false },
    { "frag.gpu.fgd_ratio", "fragmentation", "ratio", "free GPU capacity that no shape can use", -1,
      true, false },
    { "bp.starved_frac", "starved", "ratio", "time with an idle worker and no input", -1, true,
      false },
    { "worker.churn", "churn", "1/h", "workers started and stopped per hour after the first fill",
      -1, true, false },
    { "jobs.done", "jobs finished", "jobs", "jobs that came to their end after warm-up", 1, false,
      true },
    { "alloc.cpu_pct", "CPU allocated", "%", "CPUs allocated when all jobs have arrived", 1, false,
      false },
    { "alloc.mem_pct", "memory allocated", "%", "memory allocated when all jobs have arrived", 1,
      false, false },
    { "lat.e2e.mean", "latency mean", "s", "mean time from admission to the end", -1, false,
      false },
    { "lat.e2e.p50", "latency p50", "s", "half of the items take at most this long", -1, false,
      false },
    { "lat.e2e.p99", "latency p99", "s", "99 % of the items take at most this long", -1, false,
      false },
    { "util.cpu.active", "CPU used", "ratio", "CPU time that work is given", 1, false, true },
    { "util.cpu.assigned", "CPU assigned", "ratio", "CPU time set aside for workers", 0, false,
      false },
    { "util.nvdec.active", "NVDEC used", "ratio", "decoder time that work is given", 1, false,
      true },
    { "util.nvdec.assigned", "NVDEC assigned", "ratio", "decoder time set aside", 0, false, false },
    { "util.nvenc.active", "NVENC used", "ratio", "encoder time that work is given", 1, false,
      true },
    { "util.nvenc.assigned", "NVENC assigned", "ratio", "encoder time set aside", 0, false, false },
    { "waste.alloc_unused", "assigned, not used", "ratio", "share of assigned GPU time unused", -1,
      false, false },
    { "waste.setup_s", "set-up wasted", "s", "set-up of workers that never finished a task", -1,
      false, false },
    { "net.wait_s", "waiting for bytes", "s", "time of all transfers together", -1, false, false },
    { "frag.gpu.fgd", "fragmented GPUs", "GPUs", "free GPUs that no shape can use", -1, false,
      false },
    { "bp.blocked_frac", "blocked", "ratio", "time the stage may not hand on its work", -1, false,
      false },
    { "balance.stage", "balance", "ratio", "slowest over fastest stage", 1, false, false },
    { "sched.refused", "starts refused", "count", "starts that the cluster refused", -1, false,
      false },
    { "plan.met_frac", "plan met", "ratio", "workers that the plan wants and that there are", 1,
      false, false },
    { "belief.mismatch_s", "wrong belief", "s",
      "time in which the scheduler was told other amounts than there are", -1, false, false },
    { "starvation.max_wait", "longest wait at the end", "s",
      "longest wait of those that had not started", -1, false, false },
    { "starvation.count", "starved", "1", "jobs that waited longer than `starved_after`", -1, false,
      false },
    { "slowdown.p95", "slowdown p95", "1", "95 % of the jobs have at most this slowdown", -1, false,
      false },
    { "queue.len.mean", "queue mean", "items", "mean number that waits", -1, false, false },
    { "queue.len.max", "queue max", "items", "most that waited at once", -1, false, false },
    { "jct.mean", "job time mean", "s", "mean time from submission to the end", -1, false, false },
    { "jct.p95", "job time p95", "s", "95 % of the jobs take at most this long", -1, false, false },
    { "config.knobs_required", "knobs", "keys", "keys a user must set by hand", -1, false, false },
    { "jobs.sync_share", "exchanging", "ratio", "time of ranks in which they exchange bytes", -1,
      false, false },
    { "jobs.barrier_share", "waiting for ranks", "ratio",
      "time of ranks in which they wait for the slowest of them", -1, false, false },
    { "jobs.step_s", "step", "s", "mean time of a step of a job", -1, false, false },
    { "jobs.bubble_share", "bubble", "ratio", "time of ranks in which their pipeline is not full",
      -1, false, false },
    { "scale.eta_weak", "weak scaling", "ratio", "time of a step alone over that with all ranks", 1,
      false, false },
    { "fair.ftf.p95", "finish-time fairness p95", "ratio", "finish time over that with an own part",
      -1, false, false },
    { "fair.jain", "fairness", "ratio", "Jain's index over tenants", 1, false, false },
    { "fair.dominant_gap", "dominant gap", "ratio",
      "largest less smallest dominant share of tenants over weight", -1, false, false },
    { "cost.total", "cost", "$", "compute, storage, network and lateness together", -1, false,
      false },
    { "cost.compute", "cost of compute", "$", "what workers hold or nodes cost, as it is billed",
      -1, false, false },
    { "cost.idle", "cost of idle nodes", "$", "of nodes that are paid, what nobody held", -1, false,
      false },
    { "cost.storage", "cost of storage", "$", "bytes read from stores and written to them", -1,
      false, false },
    { "cost.network", "cost of network", "$", "bytes that went to another node", -1, false, false },
    { "cost.sla", "cost of lateness", "$", "price of the time that jobs end after their deadline",
      -1, false, false },
    { "energy.kwh", "energy", "kWh", "energy drawn after warm-up", -1, false, false },
    { "energy.gpu_kwh", "energy of GPUs", "kWh", "energy drawn by GPUs after warm-up", -1, false,
      false },
    { "gpu.throttle", "GPU speed", "ratio",
      "compute delivered of what runs on GPUs: 1 = never throttled", 1, false, false },
    { "gpu.temperature.max", "hottest GPU", "°C", "highest temperature of a GPU", -1, false,
      false },
    { "timeslice.switches", "switches", "count", "ends of turns on GPUs that several share", -1,
      false, false },
    { "link.use", "link use", "ratio", "share of the bandwidth of a link that was used", 0, false,
      false },
    { "store.use", "store use", "ratio", "share of the bandwidth of a store that was used", 0,
      false, false },
    { "mem.ram.mean", "memory mean", "B", "memory of nodes in use", 0, false, false },
    { "mem.ram.max", "memory max", "B", "most memory in use, of the fullest node", -1, false,
      false },
    { "oom.gpu.count", "GPU memory short", "count", "attempts that found no memory of a GPU", -1,
      false, false },
    { "oom.gpu.scattered", "GPU memory in pieces", "count",
      "attempts for which enough memory of a GPU was free, but not in one piece", -1, false,
      false },
    { "frag.gpumem", "scattered", "ratio", "free memory of GPUs outside the largest hole", -1,
      false, false },
    { "oom.host.count", "killed", "count", "workers killed because memory ran out", -1, false,
      false },
    { "power.mean_kw", "power mean", "kW", "mean power of all nodes after warm-up", -1, false,
      false },
    { "energy.per_item", "energy per item", "Wh", "energy per finished item", -1, false, false },
    { "alloc.bound_pct", "bound", "%", "GPUs that any scheduler could allocate at most", 0, false,
      false },
    { "thr.bound", "bound on throughput", "1/s",
      "items per second that plans could give at most, changing over time", 0, false, false },
    { "thr.plan_bound", "bound of one plan", "1/s",
      "items per second that a plan that stands still could give at most", 0, false, false },
    { "jobs.gpu_time_bound", "bound on GPU time", "ratio",
      "GPU time that any scheduler could accept at most, in the long run", 0, false, false },
    { "jobs.gpu_time_pool", "GPU time in one pool", "ratio",
      "GPU time that one pool of GPUs without nodes would accept: a guide, no bound", 0, false,
      false },
    { "frag.gpu.gpu_jobs", "fragmented for GPU jobs", "GPUs",
      "free GPUs that jobs with GPUs cannot use", -1, false, false },
    { "frag.gpu.memory", "memory short", "GPUs", "usable GPUs on nodes whose memory is short", -1,
      false, false },
    { "unalloc.gpu_pct", "unallocated", "%", "GPUs not allocated when all jobs have arrived", -1,
      false, false },
    { "unalloc.best_change_gpus", "best change", "GPUs",
      "GPUs that refused jobs would get with the one change that frees most", 0, false, false },
    { "power.end_kw", "power", "kW", "power drawn when all jobs have arrived", -1, false, false },
    { "power.per_gpu_w", "power of a GPU", "W", "power drawn for each allocated GPU", -1, false,
      false },
    { "as.out", "nodes asked for", "nodes", "nodes that the capacity policy asked for", 0, false,
      false },
    { "as.in", "nodes given back", "nodes", "nodes that the capacity policy gave back", 0, false,
      false },
    { "as.failed", "launches failed", "nodes", "nodes that were asked for and did not come", -1,
      false, false },
    { "as.reversals", "reversals of nodes", "count",
      "how often nodes were given back after others were asked for, or the other way round", -1,
      false, false },
    { "as.nodes", "nodes there", "nodes",
      "nodes of groups with a supply that are there, in the mean", 0, false, false },
    { "spot.losses", "spot losses", "nodes", "spot nodes that their owner took back", -1, false,
      false },
    { "spot.expected", "spot losses expected", "nodes",
      "hazard that spot nodes lived under, all together", -1, false, false },
    { "failures", "failures", "count", "how often something failed, by kind", -1, false, false },
    { "thr.arrived", "arrived", "1/s", "items that came per second, in a window", 0, false, false },
    { "thr.stage", "tasks done", "1/s", "tasks of a stage done per second, in a window", 1, false,
      true },
    { "items.late", "items late", "items",
      "items that came in the window and took longer than the goal allows", -1, false, false },
    { "backlog.mean", "backlog mean", "items", "items inside, and jobs that wait", -1, false,
      false },
    { "backlog.max", "backlog at its peak", "items", "most items inside and jobs waiting at once",
      -1, false, false },
    { "backlog.max_at", "the peak was at", "s", "when the backlog was at its peak", 0, false,
      false },
    { "backlog.usual", "usual backlog", "items",
      "what the backlog kept to 95 % of the time before the window", 0, false, false },
    { "backlog.recover", "time to recover", "s",
      "from the end of the window until the backlog is at its usual level", -1, false, false },
    { "work.lost_s", "work lost", "s", "worker time that was thrown away, by cause", -1, false,
      false },
    { "workers.mean", "workers", "workers", "mean number of workers of a stage", 0, false, false },
    { "workers.busy", "workers busy", "ratio", "time of workers of a stage with work in hand", 0,
      false, false },
    { "bottleneck.share", "slowest", "ratio", "time in which the stage was the slowest", 0, false,
      false },
    { "pack.density", "packed", "ratio", "GPUs in use when the first job was refused", 1, false,
      false },
    { "wait.job.max", "longest wait", "s", "longest of those that began", 0, false, false },
    { "jct.max", "longest job time", "s", "longest of those that ended", 0, false, false },
    { "lat.e2e.max", "longest latency", "s", "longest of those that ended", 0, false, false },
    { "slowdown.max", "largest slowdown", "1", "largest of those that ended", 0, false, false },
    { "gpus.held.mean", "GPUs held", "GPUs", "mean number of GPUs that jobs hold", 0, false,
      false },
    { "invariant.violations", "broken invariants", "-", "failed truth checks", -1, false, false },
};

size_t an_metric_count(void)
{
    return sizeof metrics / sizeof metrics[0];
}

const struct an_metric *an_metric_at(size_t index)
{
    return &metrics[index];
}

const struct an_metric *an_metric_find(const char *id)
{
    const size_t length = strcspn(id, "@");
    for (size_t i = 0; i < an_metric_count(); i++)
        if (strlen(metrics[i].id) == length && strncmp(metrics[i].id, id, length) == 0)
            return &metrics[i];
    return NULL;
}

const char *an_metric_named(const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < an_metric_count(); i++)
        if (strcmp(metrics[i].id, name) == 0)
            return metrics[i].id;
    for (size_t i = 0; i < an_metric_count(); i++)
        if (strlen(metrics[i].label) == length && strcasecmp(metrics[i].label, name) == 0)
            return metrics[i].id;
    return name;
}

struct an_expected an_expected_of(const char *said, double bound, const char *unit)
{
    char id[96];
    const char *op = strchr(said, ' ');
    (void)snprintf(id, sizeof id, "%.*s", (int)strcspn(said, "@[ "), said);
    const struct an_metric *metric = an_metric_find(id);
    const char *window = an_window_of(said);
    const int window_length = window == NULL ? 0 : (int)strcspn(window, "[ ");
    const char *of = strchr(said, '[');
    const int of_length = of == NULL ? 0 : (int)strcspn(of + 1, "]");
    const int op_length = op == NULL ? 0 : (int)strcspn(op + 1, " ");
    const char *than = strstr(said, " (");
    struct an_expected expected = { .unit = metric == NULL ? unit : metric->unit };
    (void)snprintf(expected.text, sizeof expected.text, "%.*s%s%s%s%.*s %.*s %s%.90s",
                   window_length, window == NULL ? "" : window, window_length > 0 ? ": " : "",
                   metric == NULL ? id : metric->label, of_length > 0 ? " of " : "", of_length,
                   of == NULL ? "" : of + 1, op_length, op == NULL ? "" : op + 1,
                   an_word_value(bound, expected.unit).text, than == NULL ? "" : than);
    return expected;
}
