/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks of laws, times and modes. See the header.
 */
#include "sim/scenario/resolve/check.h"
#include "sim/scenario/schema/needs.h"

#include "sim/engine/time.h"
#include "sim/scenario/workload/job_stream.h"

#include <math.h>
#include <string.h>

/* ---- laws ---- */

static void check_mean(struct sim_resolver *resolver, const struct sim_yaml *at,
                       const struct sim_law *law)
{
    if (law == NULL)
        return;
    const double mean = sim_law_mean(law);
    if (!(mean > 0))
        sim_report_error(resolver->report, at, "mean must be > 0, got %g", mean);
}

static void check_service(struct sim_resolver *resolver, const struct draft_service *draft,
                          const struct sim_service *service)
{
    if (service->law == NULL || draft->head.node == NULL)
        return; /* reported */
    const double fixed = service->base_s + service->per_item_s + service->per_size_s;
    const double mean = sim_law_mean(service->law);
    const bool has_codecs = draft->decode.head.node != NULL || draft->encode.head.node != NULL;
    if (!(mean > 0) && !(fixed > 0) && service->table_count == 0 && !has_codecs)
        sim_report_error(resolver->report, draft->head.node, "mean must be > 0, got %g", mean);
    if (draft->table != NULL && fixed > 0)
        sim_report_error(resolver->report, draft->head.node,
                         "a table replaces base, per_item and per_size; drop them");
}

/* `count` is what says how many come: items, or count of a service. */
static void check_input(struct sim_resolver *resolver, const struct draft_input *draft,
                        const struct sim_input *input, const char *count)
{
    const struct draft_class *classes = draft->classes.items;
    if (input->arrivals != NULL)
        check_mean(resolver, sim_draft_at(&draft->arrivals.head, "gap"), input->arrivals->gap);
    if (draft->classes.count == 0)
        check_mean(resolver, sim_draft_at(&draft->head, "size"), input->classes[0].size);
    for (size_t i = 0; i < draft->classes.count; i++)
        check_mean(resolver, sim_draft_at(&classes[i].head, "size"), classes[i].to.size);
    const struct sim_yaml *items = sim_yaml_get(draft->head.node, count);
    const bool is_misread =
        items != NULL && items->kind == SIM_YAML_SCALAR && strcmp(items->text, "0") != 0;
    if (input->items > 0 || is_misread || draft->file != NULL)
        return;
    if (input->arrivals == NULL)
        sim_report_error(resolver->report, draft->head.node,
                         "needs items, or arrivals and a horizon");
    else if (resolver->scenario->horizon_ns == SIM_TIME_MAX)
        sim_report_error(resolver->report, draft->head.node,
                         "without %s the input never ends: give %s, or a horizon for the scenario",
                         count, count);
}

/* ---- fixed steps ---- */

static bool is_constant(const struct sim_law *law, double value)
{
    return law == NULL || (strcmp(law->distribution->name, "const") == 0 &&
                           fabs(sim_law_mean(law) - value) < 1e-12);
}

static void check_tick_stage(struct sim_resolver *resolver, const struct draft_stage *draft,
                             const struct sim_stage *stage)
{
    static const char reason[] = "is not possible with semantics: tick";
    if (stage->batch != 1)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "batch"),
                         "a batch above 1 %s", reason);
    if (!is_constant(stage->returns, 1))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "returns"),
                         "anything but 1 %s", reason);
    if (stage->process_failure > 0)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "process_failure"),
                         "a failure %s", reason);
    if (stage->setup_failure > 0)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "setup_failure"),
                         "a failure %s", reason);
    for (uint32_t i = 0; i < SIM_SETUP_LOADS; i++)
        if (stage->loads[i].bytes > 0)
            sim_report_error(resolver->report, draft->setup.loads[i].head.node,
                             "bytes of a set-up are %s", reason + strlen("is "));
    if (stage->worker_between != NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "worker_between"),
                         "a failure %s", reason);
}

static void check_runtime(struct sim_resolver *resolver, const struct draft_pipeline *draft,
                          const struct sim_pipeline *pipeline)
{
    if (pipeline->semantics == SIM_SEMANTICS_RUNTIME &&
        pipeline->backpressure == SIM_BACKPRESSURE_BLOCKING)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "backpressure"),
                         "the rule blocking needs semantics: event");
}

/* Bytes that some stage hands on; in files of schema 1 nobody asked. */
static bool has_bytes(const struct sim_resolver *resolver, const struct sim_pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->stages_count; i++)
        if (pipeline->stages[i].bytes_out != NULL)
            return true;
    return resolver->reader->is_old;
}

/* Its budget is a share of the memory there is. */
static void check_reservation(struct sim_resolver *resolver, const struct draft_pipeline *draft,
                              const struct sim_pipeline *pipeline)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct sim_yaml *at = sim_draft_at(&draft->head, "backpressure");
    if (pipeline->backpressure != SIM_BACKPRESSURE_RESERVATION)
        return;
    if (pipeline->semantics == SIM_SEMANTICS_RUNTIME)
        sim_report_error(resolver->report, at, "the rule reservation needs semantics: event");
    if (!has_bytes(resolver, pipeline))
        sim_report_error(resolver->report, at,
                         "the rule reservation counts bytes of output: no stage has bytes_out");
    for (size_t i = 0; i < scenario->node_groups_count && !resolver->is_hardware_unclear; i++)
        if (scenario->node_types[scenario->node_groups[i].type].ram_bytes > 0)
            return;
    if (!resolver->is_hardware_unclear)
        sim_report_error(resolver->report, at,
                         "the rule reservation needs nodes whose memory is given (ram)");
}

static void check_tick(struct sim_resolver *resolver, const struct draft_pipeline *draft,
                       const struct sim_pipeline *pipeline)
{
    const struct draft_stage *stages = draft->stages.items;
    if (pipeline->semantics != SIM_SEMANTICS_TICK)
        return;
    for (size_t i = 0; i < pipeline->stages_count; i++)
        check_tick_stage(resolver, &stages[i], &pipeline->stages[i]);
    if (pipeline->backpressure != SIM_BACKPRESSURE_SLOTS)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "backpressure"),
                         "only the rule slots is possible with semantics: tick");
    if (pipeline->input.arrivals != NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->input.head, "arrivals"),
                         "is not possible with semantics: tick");
    for (size_t f = 0; f < SIM_FAULTS; f++)
        if (resolver->scenario->failures.of[f].between != NULL)
            sim_report_error(resolver->report,
                             sim_draft_at(&resolver->draft->cluster.head, "failures"),
                             "failures are not possible with semantics: tick");
}

static void check_line(struct sim_resolver *resolver, const struct draft_stage *stages,
                       size_t index)
{
    const char *after = stages[index].after;
    const char *above = index == 0 ? NULL : stages[index - 1].head.name;
    if (after == NULL || (above != NULL && strcmp(after, above) == 0))
        return;
    sim_report_error(resolver->report, sim_draft_at(&stages[index].head, "after"),
                     "stages form a line: %s%s%s%s feeds this one; joins and branches are not "
                     "possible",
                     above == NULL ? "the input" : "'", above == NULL ? "" : above,
                     above == NULL ? "" : "'", above == NULL ? "" : ", the one above,");
}

/* Its rule knows two pools: stages with a share of a GPU, and all others. */
static void check_pools(struct sim_resolver *resolver, const struct draft_stage *draft,
                        const struct sim_stage *stage)
{
    const struct weir_scaling_ops *scaling = resolver->scenario->sched.scaling.scaling;
    if (scaling == NULL || strcmp(scaling->name, "inverse_speed") != 0 ||
        stage->shape.kind != WEIR_SHAPE_CODEC)
        return;
    sim_report_warning(resolver->report, draft->head.node,
                       "inverse_speed counts a stage with codec engines alone as a CPU stage");
}

/* Overlap in the code of the user changes where barriers are. */
static void check_overlap(struct sim_resolver *resolver, const struct draft_pipeline *draft,
                          const struct sim_pipeline *pipeline)
{
    const struct sim_yaml *at = sim_draft_at(&draft->head, "user_overlap");
    const size_t last = pipeline->stages_count;
    if (pipeline->has_user_overlap == 0 || sim_needs_is_varied(resolver->root, "execution"))
        return;
    if (!sim_pipeline_is_batch(pipeline))
        sim_report_error(resolver->report, at, "acts with execution: batch alone");
    else if (last > 0 && pipeline->stages[last - 1].barriers + 1 == last)
        sim_report_error(resolver->report, at,
                         "changes nothing: every stage has GPUs, or there is one alone");
}

static void check_execution(struct sim_resolver *resolver, const struct draft_pipeline *draft,
                            const struct sim_pipeline *pipeline)
{
    const struct draft_stage *stages = draft->stages.items;
    const struct sim_yaml *at = sim_draft_at(&draft->head, "execution");
    if (pipeline->store_bytes_per_s > 0 && draft->to.execution == SIM_EXECUTION_AUTO &&
        !sim_pipeline_is_batch(pipeline) && !sim_needs_is_varied(resolver->root, "execution"))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "store_bandwidth"),
                         "acts with execution: batch|batch_debug alone; here auto is streaming");
    check_overlap(resolver, draft, pipeline);
    if (pipeline->execution == SIM_EXECUTION_STREAMING)
        return;
    if (pipeline->semantics != SIM_SEMANTICS_RUNTIME)
        sim_report_error(resolver->report, at, "other than streaming needs semantics: runtime");
    if (sim_pipeline_is_batch(pipeline) && pipeline->input.items == 0)
        sim_report_error(resolver->report, at, "batch needs an end of the input: give it items");
    if (pipeline->execution == SIM_EXECUTION_SERVING &&
        resolver->scenario->horizon_ns == SIM_TIME_MAX)
        sim_report_error(resolver->report, at,
                         "a served pipeline is never done: give the scenario a horizon");
    for (size_t i = 0; i < pipeline->stages_count; i++)
        if (pipeline->execution == SIM_EXECUTION_BATCH_DEBUG && stages[i].env != NULL)
            sim_report_error(resolver->report, sim_draft_at(&stages[i].head, "env"),
                             "batch_debug runs every stage in one process and cannot start the "
                             "environment '%s'",
                             stages[i].env);
}

/* A backlog is a list that one process holds. */
static void check_input_size(struct sim_resolver *resolver, const struct draft_pipeline *draft,
                             const struct sim_pipeline *pipeline)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct sim_input *input = &pipeline->input;
    int64_t ram_bytes = 0;
    if (input->bytes == NULL || input->arrivals != NULL || resolver->is_hardware_unclear)
        return;
    for (size_t i = 0; i < scenario->node_groups_count; i++)
        if (scenario->node_types[scenario->node_groups[i].type].ram_bytes > ram_bytes)
            ram_bytes = scenario->node_types[scenario->node_groups[i].type].ram_bytes;
    const double bytes = (double)input->items * sim_law_mean(input->bytes);
    if (ram_bytes > 0 && bytes > (double)ram_bytes)
        sim_report_error(resolver->report, sim_draft_at(&draft->input.head, "bytes_per_item"),
                         "the input is too large: %llu items of %g bytes are %s, the largest node "
                         "has %s; let items be pointers, or let them arrive",
                         (unsigned long long)input->items, sim_law_mean(input->bytes),
                         sim_quantity_bytes(resolver->arena, (int64_t)bytes),
                         sim_quantity_bytes(resolver->arena, ram_bytes));
}

/* ---- pipelines ---- */

static void check_stage(struct sim_resolver *resolver, const struct draft_stage *draft,
                        const struct sim_stage *stage, uint32_t semantics)
{
    check_service(resolver, &draft->service, &stage->service);
    check_mean(resolver, sim_draft_at(&draft->head, "returns"), stage->returns);
    check_mean(resolver, sim_draft_at(&draft->head, "worker_between"), stage->worker_between);
    if (stage->on_failure != SIM_FAILURE_REQUEUE && semantics != SIM_SEMANTICS_RUNTIME)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "on_failure"),
                         "other than requeue needs semantics: runtime");
    if (stage->setup_failure >= 1)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "setup_failure"),
                         "at 1 no worker would ever be ready");
}

static void check_pipelines(struct sim_resolver *resolver)
{
    const struct draft_pipeline *drafts = resolver->draft->pipelines.items;
    const struct sim_scenario *scenario = resolver->scenario;
    for (size_t p = 0; p < scenario->pipelines_count; p++) {
        const struct sim_pipeline *pipeline = &scenario->pipelines[p];
        const struct draft_stage *stages = drafts[p].stages.items;
        if (drafts[p].input.head.node != NULL && drafts[p].input.head.node->kind != SIM_YAML_SCALAR)
            check_input(resolver, &drafts[p].input, &pipeline->input,
                        drafts[p].served == NULL ? "items" : "count");
        for (size_t s = 0; s < pipeline->stages_count; s++) {
            check_stage(resolver, &stages[s], &pipeline->stages[s], pipeline->semantics);
            check_line(resolver, stages, s);
            check_pools(resolver, &stages[s], &pipeline->stages[s]);
        }
        check_tick(resolver, &drafts[p], pipeline);
        check_runtime(resolver, &drafts[p], pipeline);
        check_reservation(resolver, &drafts[p], pipeline);
        check_execution(resolver, &drafts[p], pipeline);
        check_input_size(resolver, &drafts[p], pipeline);
    }
}

/* ---- times ---- */

static void check_times(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct draft_scenario *draft = resolver->draft;
    const struct draft_event *events = draft->timeline.items;
    if (scenario->warmup_ns > 0 && scenario->warmup_ns >= scenario->horizon_ns)
        sim_report_error(resolver->report, sim_yaml_get(resolver->root, "warmup"),
                         "must end before the horizon (%s)",
                         sim_quantity_time(resolver->arena, scenario->horizon_ns));
    for (size_t i = 0; i < draft->timeline.count; i++)
        if (events[i].to.at_ns != SIM_ABSENT_TIME && events[i].to.at_ns >= scenario->horizon_ns)
            sim_report_error(resolver->report, sim_draft_at(&events[i].head, "at"),
                             "is not before the horizon (%s)%s",
                             sim_quantity_time(resolver->arena, scenario->horizon_ns),
                             scenario->start_unix_s == 0
                                 ? "; times of the day count from start_time, which is not given"
                                 : "");
}

/* What a change of arrivals, or a burst, acts on. */
static void check_source(struct sim_resolver *resolver, const struct draft_event *event,
                         uint32_t source)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const bool is_burst = event->to.action == SIM_ACTION_BURST;
    if (source < scenario->pipelines_count) {
        if (!is_burst && scenario->pipelines[source].input.arrivals == NULL)
            sim_report_error(resolver->report, event->head.node,
                             "the pipeline has no arrivals that could change");
        return;
    }
    const struct sim_workload *workload = &scenario->workloads[source - scenario->pipelines_count];
    const bool is_trace = workload->arrivals.kind == SIM_ARRIVALS_TRACE;
    if (workload->kind != SIM_WORKLOAD_GENERATED && is_trace)
        sim_report_error(resolver->report, event->head.node,
                         "jobs of a trace come when it says; with a process (arrivals: {process: "
                         "poisson, rate: R}) they are drawn from its rows, and this acts on it");
    else if (!sim_workload_draws(workload) || (!is_burst && is_trace))
        sim_report_error(resolver->report, event->head.node,
                         "all these jobs come at times of their own; this acts on classes without "
                         "a count, with a rate of arrivals");
}

static void check_sources(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct draft_event *events = resolver->draft->timeline.items;
    if (scenario->timeline_count != resolver->draft->timeline.count)
        return; /* not all were understood */
    for (size_t i = 0; i < scenario->timeline_count; i++) {
        const uint32_t action = events[i].to.action;
        const bool is_of_sources = action == SIM_ACTION_ARRIVALS || action == SIM_ACTION_BURST;
        if (is_of_sources && scenario->timeline[i].target != WEIR_NO_INDEX)
            check_source(resolver, &events[i], scenario->timeline[i].target);
    }
}

/* The fixed-step loop knows no moved ends: a stall needs events. */
static void check_stalls(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct draft_event *events = resolver->draft->timeline.items;
    bool has_ticks = false;
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        has_ticks = has_ticks || scenario->pipelines[p].semantics == SIM_SEMANTICS_TICK;
    for (size_t i = 0; has_ticks && i < resolver->draft->timeline.count; i++)
        if (events[i].to.action == SIM_ACTION_STAGE_STALL)
            sim_report_error(resolver->report, sim_draft_at(&events[i].head, "action"),
                             "stage_stall is not possible with semantics: tick");
}

static void check_view(struct sim_resolver *resolver)
{
    const struct sim_sched *sched = &resolver->scenario->sched;
    if (resolver->scenario->pipelines_count > 0 && sched->view_age_ns > sched->interval_ns)
        sim_report_error(resolver->report, sim_draft_at(&resolver->draft->sched.head, "view_age"),
                         "must not be above the interval of the scaling policy");
}

void sim_check(struct sim_resolver *resolver)
{
    check_pipelines(resolver);
    check_times(resolver);
    check_sources(resolver);
    check_stalls(resolver);
    check_view(resolver);
    sim_check_fit(resolver);
    sim_check_jobs(resolver);
}
