/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving jobs: classes to specs, labels to report them under, the rate that a load means.
 */
#include "sim/scenario/resolve/resolve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- labels ---- */

static uint32_t label_of(struct sim_resolver *resolver, struct sim_workload *workload,
                         const char *label)
{
    for (size_t i = 0; i < workload->labels_count; i++)
        if (strcmp(workload->labels[i], label) == 0)
            return (uint32_t)i;
    workload->labels = sim_arena_grow(resolver->arena, workload->labels, workload->labels_count,
                                      sizeof *workload->labels);
    workload->labels[workload->labels_count] = sim_arena_copy(resolver->arena, label);
    return (uint32_t)workload->labels_count++;
}

/* By what the whole job asks for: no GPU, an instance, a share, or so many. */
static void size_label(const struct sim_job_spec *job, char *text, size_t capacity)
{
    const uint32_t gpus = job->shape.gpu_count * job->members;
    if (gpus == 0)
        (void)snprintf(text, capacity, "cpu only");
    else if (job->shape.kind == WEIR_SHAPE_SLICE)
        (void)snprintf(text, capacity, "%s", job->shape.mig_profile);
    else if (job->shape.gpu_units < WEIR_ONE)
        (void)snprintf(text, capacity, "share");
    else
        (void)snprintf(text, capacity, "%u gpu", gpus);
}

void sim_resolve_size_labels(struct sim_resolver *resolver, struct sim_workload *workload)
{
    for (size_t i = 0; i < workload->jobs_count; i++) {
        char text[32];
        size_label(&workload->jobs[i], text, sizeof text);
        workload->jobs[i].label = label_of(resolver, workload, text);
    }
}

/* ---- classes ---- */

/* "A|B" as a set of GPU types; all of them must exist. */
uint32_t sim_resolve_gpu_types(struct sim_resolver *resolver, const struct draft_head *head,
                               const char *types)
{
    uint32_t set = WEIR_GPU_TYPE_SET;
    char *rest = sim_arena_copy(resolver->arena, types);
    for (char *name = strsep(&rest, "|"); name != NULL; name = strsep(&rest, "|")) {
        const uint32_t type = sim_resolve_gpu_type(resolver, sim_draft_at(head, "gpu_types"), name);
        if (type < 31)
            set |= UINT32_C(1) << type;
    }
    return set;
}

static void resolve_class(struct sim_resolver *resolver, struct draft_job_class *draft,
                          const struct draft_jobs *timed, struct sim_job_spec *job)
{
    *job = draft->to;
    job->models = draft->gpu_types == NULL ? "" : draft->gpu_types;
    job->name = draft->head.name;
    job->traffic = draft->traffic.to;
    job->tenant = draft->tenant == NULL ? "" : draft->tenant;
    job->user = "";
    job->priority = (int32_t)draft->priority;
    job->run_ns = job->patience_ns = job->estimate_ns = WEIR_UNKNOWN_TIME;
    if (job->group == SIM_ABSENT_COUNT)
        job->group = 0;
    if (timed == NULL) {
        job->estimate_factor = 1;
        job->array = job->array_limit = 1;
    }
    if (timed != NULL && job->service == NULL)
        job->service = timed->run_time;
    job->measurements = 0;
    if (timed != NULL)
        job->measurements =
            sim_resolve_measured(resolver, &draft->head, draft->to.measurements, job->service);
    if (timed != NULL && job->patience == NULL)
        job->patience = timed->patience;
    sim_resolve_request(resolver, sim_draft_at(&draft->head, "request"), &draft->request,
                        &job->shape, &job->soft_labels);
    if (draft->gpu_types != NULL)
        job->shape.gpu_type = sim_resolve_gpu_types(resolver, &draft->head, draft->gpu_types);
    if (timed != NULL) {
        sim_resolve_ranks(resolver, draft, job);
        job->step = sim_resolve_step(resolver, &draft->step);
        sim_resolve_parallel(resolver, draft, job);
    }
    if (timed != NULL && job->service == NULL)
        sim_report_error(resolver->report, draft->head.node,
                         "needs run_time, here or for all of these jobs: how long they run");
}

/* Every step of a gang waits for the member whose turn comes last. */
static void warn_of_turns(struct sim_resolver *resolver, const struct draft_job_class *draft,
                          const struct sim_job_spec *job)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const bool is_gang = job->members > 1 && job->shape.kind == WEIR_SHAPE_FRACTIONAL;
    for (size_t i = 0; i < scenario->node_types_count && is_gang; i++) {
        if (scenario->node_types[i].share != SIM_SHARING_TIMESLICE)
            continue;
        sim_report_warning(resolver->report, draft->head.node,
                           "a gang of %u takes turns on GPUs (share: timeslice): its steps wait "
                           "for the last turn; turns suit inference and trying things out",
                           job->members);
        return;
    }
}

void sim_resolve_job_classes(struct sim_resolver *resolver, const struct sim_job_source *source)
{
    struct sim_workload *workload = source->workload;
    struct draft_job_class *drafts = source->draft->classes.items;
    double weight = 0;
    workload->jobs_count = source->draft->classes.count;
    workload->jobs =
        sim_arena_alloc(resolver->arena, workload->jobs_count + 1, sizeof *workload->jobs);
    workload->labels_count = workload->jobs_count;
    workload->labels =
        sim_arena_alloc(resolver->arena, workload->jobs_count + 1, sizeof *workload->labels);
    struct sim_name_set names = sim_name_set_open(resolver->arena);
    for (size_t i = 0; i < workload->jobs_count; i++) {
        if (drafts[i].head.name == NULL)
            return; /* reported */
        resolve_class(resolver, &drafts[i], source->timed, &workload->jobs[i]);
        warn_of_turns(resolver, &drafts[i], &workload->jobs[i]);
        workload->labels[i] = drafts[i].head.name;
        workload->jobs[i].label = (uint32_t)i;
        if (!sim_name_set_add(&names, drafts[i].head.name))
            sim_report_error(resolver->report, sim_draft_at(&drafts[i].head, "name"),
                             "two classes are called '%s'", drafts[i].head.name);
        weight += workload->jobs[i].count == UINT64_MAX ? workload->jobs[i].weight : 1;
    }
    if (source->timed != NULL)
        sim_resolve_followers(resolver, source);
    if (workload->jobs_count > 0 && !(weight > 0))
        sim_report_error(resolver->report, sim_draft_at(source->head, "classes"),
                         "all weights are 0");
}

/* ---- arrivals ---- */

/* Mean of a run time that is cut to `limit_s`: the integral of 1 - F from 0 to there, by the rule
 * of Simpson on a grid that is fine near 0, where laws of run times have most of their mass. */
static double mean_below(const struct sim_law *law, double limit_s)
{
    enum { STEPS = 20000 };
    const double mean = sim_law_mean(law);
    double sum = 0;
    if (isinf(limit_s) || (isfinite(mean) && sim_law_cdf(law, limit_s) >= 1))
        return mean;
    for (int i = 0; i < STEPS; i++) {
        const double from = limit_s * pow((double)i / STEPS, 3);
        const double to = limit_s * pow((double)(i + 1) / STEPS, 3);
        const double middle = 1 - sim_law_cdf(law, (from + to) / 2);
        sum +=
            (to - from) / 6 * (1 - sim_law_cdf(law, from) + 4 * middle + 1 - sim_law_cdf(law, to));
    }
    return sum;
}

double sim_job_mean_run_s(const struct sim_workload *workload, const struct sim_job_spec *job)
{
    const bool is_cut = workload->service_limit_ns != INT64_MAX;
    const double limit_s = is_cut ? 1e-9 * (double)workload->service_limit_ns : HUGE_VAL;
    if (job->service != NULL)
        return mean_below(job->service, limit_s);
    return job->run_ns == WEIR_UNKNOWN_TIME ? (double)NAN
                                            : fmin(1e-9 * (double)job->run_ns, limit_s);
}

const struct sim_job_spec *sim_job_first(const struct sim_workload *workload,
                                         const struct sim_job_spec *job)
{
    const bool is_generated = workload->kind == SIM_WORKLOAD_GENERATED;
    for (size_t steps = 0; is_generated && job->after != 0 && steps < workload->jobs_count; steps++)
        job = &workload->jobs[job->after - 1];
    return job;
}

struct load {
    double gpu_s, cpu_s; /* one job of the process and all that follow it, on average */
    double gpus, cpus;   /* of the cluster */
};

static void add_capacity(const struct sim_scenario *cluster, struct load *load)
{
    for (uint32_t n = 0; n < sim_scenario_node_count(cluster); n++) {
        const struct sim_node_type *type = sim_scenario_node_type(cluster, n);
        load->cpus += type->cpus;
        for (size_t g = 0; g < type->gpus_count; g++)
            load->gpus += type->gpus[g].count;
    }
}

/* Whether a variant tries another cluster than the one its load is of. */
static bool is_other_cluster(const struct sim_resolver *resolver)
{
    struct load own = { 0 };
    struct load base = { 0 };
    if (resolver->baseline == NULL)
        return false;
    add_capacity(resolver->scenario, &own);
    add_capacity(resolver->baseline, &base);
    return fabs(own.gpus - base.gpus) > 0 || fabs(own.cpus - base.cpus) > 0;
}

static struct load load_of(const struct sim_resolver *resolver, const struct sim_workload *workload)
{
    const struct sim_scenario *scenario = resolver->scenario;
    struct load load = { 0 };
    double weight = 0;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        const struct sim_job_spec *job = &workload->jobs[i];
        const struct sim_job_spec *first = sim_job_first(workload, job);
        const double run_s = sim_job_mean_run_s(workload, job);
        if (first->count != UINT64_MAX || job->is_endless || isnan(run_s))
            continue;
        const double work = first->weight * run_s * job->array;
        weight += first == job ? job->weight : 0;
        load.gpu_s += work * sim_job_gpus(job);
        load.cpu_s += work * sim_job_cpus(job);
    }
    load.gpu_s /= weight;
    load.cpu_s /= weight;
    add_capacity(resolver->baseline == NULL ? scenario : resolver->baseline, &load);
    return load;
}

static double rate_by_load(struct sim_resolver *resolver, const struct draft_arrivals *draft,
                           const struct sim_workload *workload)
{
    if (resolver->is_hardware_unclear)
        return 1;
    if (draft->load >= 20)
        sim_report_warning(resolver->report, sim_draft_at(&draft->head, "load"),
                           "is %g %% of what the GPUs can do; a load of %g %% is written %g%%",
                           100 * draft->load, draft->load, draft->load);
    const struct load load = load_of(resolver, workload);
    const double rate = load.gpus > 0 && load.gpu_s > 0 ? draft->load * load.gpus / load.gpu_s
                                                        : draft->load * load.cpus / load.cpu_s;
    if (isfinite(rate) && rate > 0)
        return rate;
    sim_report_error(resolver->report, sim_draft_at(&draft->head, "load"),
                     "cannot be met: the jobs have no finite mean demand for GPUs or CPUs");
    return 1;
}

static void resolve_arrivals(struct sim_resolver *resolver, struct draft_arrivals *draft,
                             struct sim_workload *workload)
{
    const bool is_generated = workload->kind == SIM_WORKLOAD_GENERATED;
    const bool is_by_load = isnan(draft->to.rate_per_s) && !isnan(draft->load);
    if (draft->to.kind == SIM_ABSENT_COUNT)
        draft->to.kind = is_generated || sim_arrivals_say_rate(draft) ? SIM_ARRIVALS_POISSON
                                                                      : SIM_ARRIVALS_TRACE;
    if (draft->to.kind == SIM_ARRIVALS_TRACE && is_generated)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "process"),
                         "generated jobs follow no trace");
    sim_resolve_arrivals(resolver, draft, &workload->arrivals);
    if (draft->to.kind != SIM_ARRIVALS_TRACE && draft->to.kind != SIM_ARRIVALS_RENEWAL &&
        is_by_load) {
        const double rate_per_s = rate_by_load(resolver, draft, workload);
        workload->arrivals.rate_per_s = rate_per_s * workload->arrivals.scale;
        if (is_other_cluster(resolver)) { /* what the text says alone must mean the same */
            draft->to.rate_per_s = rate_per_s;
            draft->load = (double)NAN;
        }
    }
}

/* ---- in time ---- */

bool sim_resolve_has_process(const struct sim_workload *workload)
{
    if (workload->kind != SIM_WORKLOAD_GENERATED)
        return true;
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (workload->jobs[i].count == UINT64_MAX)
            return true;
    return false;
}

static void take_preemption(const struct draft_preemption *draft, struct sim_workload *workload)
{
    const bool is_there = draft->head.node != NULL;
    workload->preemption =
        (struct sim_preemption){ .keeps_all = is_there && draft->keeps == PREEMPTION_KEEPS_ALL,
                                 .restart_ns = is_there && draft->restart_ns != SIM_ABSENT_TIME
                                                   ? draft->restart_ns
                                                   : workload->checkpoint.restart_ns };
}

static void take_objective(const struct draft_objective *draft, struct sim_workload *workload)
{
    const bool is_there = draft->head.node != NULL;
    if (is_there)
        workload->objective = draft->to;
    workload->objective.is_there = is_there;
}

/* Classes that say nothing of steps, and rows of a trace, go in those of all jobs. */
static void take_step(struct sim_resolver *resolver, const struct draft_jobs *draft,
                      struct sim_workload *workload)
{
    const struct sim_step *step = sim_resolve_step(resolver, &draft->step);
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (workload->jobs[i].step == NULL)
            workload->jobs[i].step = step;
    const struct draft_job_class *classes = draft->source.classes.items;
    for (size_t i = 0; i < draft->source.classes.count && i < workload->jobs_count; i++)
        if (workload->jobs[i].bubble > 0 && workload->jobs[i].step == NULL)
            sim_report_error(resolver->report,
                             sim_draft_at(&classes[i].parallel.head, "micro_batches"),
                             "needs step: how long the ranks compute");
}

/* A copy would have to have followers of its own. */
static void check_copies(struct sim_resolver *resolver, const struct sim_job_source *source)
{
    const struct sim_workload *workload = source->workload;
    const struct sim_arrivals *arrivals = &workload->arrivals;
    const bool has_copies =
        arrivals->kind == SIM_ARRIVALS_TRACE &&
        (arrivals->scale < 1 || arrivals->scale > 1 || arrivals->resample != SIM_RESAMPLE_NONE);
    for (size_t i = 0; has_copies && i < workload->jobs_count; i++)
        if (workload->jobs[i].after != 0) {
            sim_report_error(resolver->report, source->timed->arrivals.head.node,
                             "jobs of this trace follow one another, and copies of them would not "
                             "(dependencies: ignore)");
            return;
        }
}

static bool is_without_end(const struct sim_workload *workload)
{
    bool is_endless =
        workload->arrivals.kind != SIM_ARRIVALS_TRACE && workload->jobs_limit == UINT64_MAX;
    for (size_t i = 0; i < workload->jobs_count; i++)
        is_endless =
            is_endless || (workload->jobs[i].users > 0 && workload->jobs[i].limit == UINT64_MAX);
    return is_endless;
}

void sim_resolve_time(struct sim_resolver *resolver, const struct sim_job_source *source)
{
    struct draft_jobs *draft = source->timed;
    struct sim_workload *workload = source->workload;
    const bool is_by_row = draft->first_date_s != INT64_MIN || draft->last_date_s != INT64_MIN ||
                           draft->first_job != NULL || draft->first_row != UINT64_MAX;
    if (draft->from_ns == SIM_ABSENT_TIME)
        draft->from_ns = is_by_row ? workload->from_ns : 0;
    if (draft->retry_delay == NULL && draft->retries > 0)
        draft->retry_delay = sim_resolve_constant(resolver, "const(60)");
    if (sim_resolve_has_process(workload)) {
        resolve_arrivals(resolver, &draft->arrivals, workload);
    } else {
        workload->arrivals = (struct sim_arrivals){ .kind = SIM_ARRIVALS_TRACE, .scale = 1 };
        if (draft->arrivals.head.node != NULL)
            sim_report_error(resolver->report, draft->arrivals.head.node,
                             "every class has a count: none arrives by a process");
    }
    if (draft->from_ns > 0 && !is_by_row &&
        (workload->kind == SIM_WORKLOAD_GENERATED || workload->arrivals.kind != SIM_ARRIVALS_TRACE))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "from"),
                         "acts on a trace whose own times count (arrivals: trace)");
    check_copies(resolver, source);
    workload->from_ns = draft->from_ns;
    if (is_by_row)
        draft->from_ns = SIM_ABSENT_TIME; /* the text says it by the row */
    workload->ties = draft->ties == SIM_ABSENT_COUNT ? SIM_TIES_AS_GIVEN : draft->ties;
    workload->retries = draft->retries;
    workload->retry_delay = draft->retry_delay;
    workload->retry_growth = isnan(draft->retry_growth) ? 1 : draft->retry_growth;
    workload->max_attempts = draft->max_attempts;
    workload->estimate = draft->estimate;
    workload->timeout_ns = draft->timeout_ns == SIM_ABSENT_TIME ? INT64_MAX : draft->timeout_ns;
    workload->is_killed_at_estimate = draft->over_estimate == OVER_ESTIMATE_KILL;
    workload->start_latency = draft->start_latency;
    workload->checkpoint = sim_resolve_checkpoint(resolver, &draft->checkpoint);
    take_preemption(&draft->preemption, workload);
    take_objective(&draft->objective, workload);
    take_step(resolver, draft, workload);
    sim_resolve_calls(resolver, &draft->calls, workload);
    if (is_without_end(workload) && resolver->scenario->horizon_ns == INT64_MAX)
        sim_report_error(resolver->report, draft->head.node,
                         "arrivals never end: give count, or a horizon for the run");
}
