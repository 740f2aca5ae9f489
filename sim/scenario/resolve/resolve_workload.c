/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving jobs, in time and as a fill: file names, orders of arrival, where the jobs come from.
 * The rows of a trace: resolve_trace.c; classes and arrivals: resolve_jobs.c.
 */
#include "sim/scenario/read/input_file.h"
#include "sim/scenario/read/name_set.h"
#include "sim/scenario/resolve/resolve.h"
#include "workloads/job.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- names ---- */

char *sim_resolve_data_path(struct sim_resolver *resolver, const char *path)
{
    char *joined = sim_input_file_path(resolver->arena, resolver->reader->folder, path);
    if (access(joined, R_OK) == 0 || access(path, R_OK) != 0) {
        sim_reader_add_file(resolver->reader, path);
        return joined;
    }
    char *full = realpath(path, NULL);
    if (full != NULL)
        sim_reader_add_file(resolver->reader, full);
    free(full);
    return sim_arena_copy(resolver->arena, path);
}

char *sim_resolve_model(struct sim_resolver *resolver, const char *model)
{
    char *name = sim_arena_copy(resolver->arena, model);
    for (char *c = name; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return name;
}

/* ---- orders ---- */

static void report_order_file(struct sim_resolver *resolver, const struct draft_fill *draft,
                              const char *path)
{
    static const char *const words[] = { "shuffled", "none" };
    const char *near = sim_near_name(draft->order, words, sizeof words / sizeof words[0]);
    sim_report_error(resolver->report, sim_draft_at(&draft->head, "order"), "%s: cannot be read%s",
                     path,
                     near == NULL                    ? ""
                     : strcmp(near, "shuffled") == 0 ? "; did you mean 'shuffled'?"
                                                     : "; did you mean 'none'?");
}

/* The order itself is read when the run begins; here it must be there. */
static void resolve_order(struct sim_resolver *resolver, const struct draft_fill *draft,
                          struct sim_workload *workload)
{
    const bool is_shuffled = draft->order != NULL && strcmp(draft->order, "shuffled") == 0;
    const bool is_file = draft->order != NULL && !is_shuffled && strcmp(draft->order, "none") != 0;
    workload->is_shuffled = is_shuffled;
    if ((is_shuffled || is_file) && workload->kind == SIM_WORKLOAD_GENERATED)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "order"),
                         "acts on the rows of a trace; jobs of classes come as they are drawn");
    if (!is_file) {
        if (draft->order_key != NULL && draft->order != NULL)
            sim_report_error(resolver->report, sim_draft_at(&draft->head, "order_key"),
                             "has no meaning without a file in order");
        return;
    }
    workload->order = sim_resolve_data_path(resolver, draft->order);
    workload->order_key = draft->order_key;
    if (access(workload->order, R_OK) != 0)
        report_order_file(resolver, draft, workload->order);
    if (draft->order_key == NULL)
        sim_report_error(resolver->report, draft->head.node,
                         "order needs order_key: which order of the file (TRACE:SEED)");
}

/* Order of the nodes and demand, which depend on where the order comes from. */
static void resolve_trim(struct sim_resolver *resolver, const struct draft_fill *draft,
                         struct sim_workload *workload)
{
    const bool is_file = workload->order != NULL;
    const bool is_said = draft->node_order != SIM_ABSENT_COUNT;
    workload->ranks = is_said ? draft->node_order : is_file ? SIM_RANKS_FILE : SIM_RANKS_AS_GIVEN;
    workload->demand_frac = draft->demand;
    if (workload->ranks == SIM_RANKS_FILE && !is_file)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "node_order"),
                         "'file' has no meaning without a file in order");
    if (is_file && !isnan(draft->demand))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "demand"),
                         "has no meaning with a kept order, which says what arrives");
}

/* ---- where jobs come from ---- */

static void resolve_source(struct sim_resolver *resolver, const struct sim_job_source *source)
{
    const struct draft_source *draft = source->draft;
    struct sim_workload *workload = source->workload;
    const bool has_classes = draft->classes.count > 0;
    workload->name = source->head->name;
    workload->jobs_limit = draft->count;
    workload->target_frac = draft->target.frac;
    workload->target_has_cpu_jobs = draft->target.has_cpu_jobs == 1;
    workload->kind = has_classes ? SIM_WORKLOAD_GENERATED : SIM_WORKLOAD_TRACE;
    workload->queue_limit = UINT64_MAX;
    workload->service_limit_ns = INT64_MAX;
    workload->starved_after_ns = INT64_MAX;
    workload->deadline_ns = INT64_MAX;
    if (has_classes && draft->trace != NULL)
        sim_report_error(resolver->report, sim_draft_at(source->head, "trace"),
                         "jobs come from a trace or from classes; give one of them");
    else if (!has_classes && draft->trace == NULL)
        sim_report_error(resolver->report, source->head->node,
                         "needs trace or classes: where its jobs come from");
    if (has_classes) {
        sim_resolve_job_classes(resolver, source);
    } else if (draft->trace != NULL) {
        sim_resolve_trace(resolver, source);
        sim_resolve_size_labels(resolver, workload);
    }
}

static void resolve_jobs(struct sim_resolver *resolver, struct draft_jobs *draft,
                         struct sim_workload *workload)
{
    const struct sim_job_source source = {
        .head = &draft->head, .draft = &draft->source, .timed = draft, .workload = workload
    };
    workload->mode = SIM_WORKLOAD_TIME;
    workload->ranks = SIM_RANKS_AS_GIVEN;
    workload->demand_frac = (double)NAN;
    resolve_source(resolver, &source);
    workload->queue_limit = draft->queue_limit;
    if (draft->run_time_limit_ns != SIM_ABSENT_TIME)
        workload->service_limit_ns = draft->run_time_limit_ns;
    if (draft->starved_after_ns != SIM_ABSENT_TIME)
        workload->starved_after_ns = draft->starved_after_ns;
    if (draft->deadline_ns != SIM_ABSENT_TIME)
        workload->deadline_ns = draft->deadline_ns;
    sim_resolve_time(resolver, &source);
}

static void resolve_fill(struct sim_resolver *resolver, struct draft_fill *draft,
                         struct sim_workload *workload)
{
    const struct sim_job_source source = { .head = &draft->head,
                                           .draft = &draft->source,
                                           .workload = workload };
    workload->mode = SIM_WORKLOAD_STATIC;
    workload->refusal = draft->refusal;
    workload->defrag = draft->defrag.to;
    resolve_source(resolver, &source);
    resolve_order(resolver, draft, workload);
    resolve_trim(resolver, draft, workload);
    if (workload->kind == SIM_WORKLOAD_GENERATED && sim_resolve_has_process(workload) &&
        workload->jobs_limit == UINT64_MAX && isnan(workload->demand_frac))
        sim_report_error(resolver->report, draft->head.node,
                         "generated jobs of a fill need count or demand: how many arrive");
}

/* ---- all of it ---- */

/* No work, and no key that looks like some (then that was said). */
static void report_no_work(struct sim_resolver *resolver)
{
    static const char *const keys[] = { "pipelines", "services", "jobs",
                                        "fill",      "actors",   "workloads" };
    const struct sim_yaml *child = resolver->root->first;
    for (; child != NULL; child = child->next)
        if (sim_near_name(child->key, keys, sizeof keys / sizeof keys[0]) != NULL)
            return;
    struct sim_yaml place = *resolver->root; /* its first character, not the whole block */
    place.mark.width = 1;
    sim_report_error(resolver->report, &place,
                     "there is no work: give pipelines, jobs, actors, or a fill");
}

static void list_work(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const size_t count =
        scenario->pipelines_count + scenario->workloads_count + scenario->actors_count;
    scenario->work = sim_arena_alloc(resolver->arena, count + 1, sizeof *scenario->work);
    for (uint32_t i = 0; i < scenario->pipelines_count; i++)
        scenario->work[scenario->work_count++] = (struct sim_work){ SIM_WORK_PIPELINE, i };
    for (uint32_t i = 0; i < scenario->workloads_count; i++) {
        const bool is_fill = scenario->workloads[i].mode == SIM_WORKLOAD_STATIC;
        scenario->work[scenario->work_count++] =
            (struct sim_work){ is_fill ? SIM_WORK_FILL : SIM_WORK_JOBS, i };
    }
    for (uint32_t i = 0; i < scenario->actors_count; i++)
        scenario->work[scenario->work_count++] = (struct sim_work){ SIM_WORK_ACTORS, i };
}

/* Where an entry of jobs or fill is named. */
static const struct sim_yaml *name_of(const struct sim_resolver *resolver, size_t workload)
{
    const struct draft_jobs *jobs = resolver->draft->jobs.items;
    const struct draft_fill *fills = resolver->draft->fill.items;
    const size_t timed = resolver->draft->jobs.count;
    return sim_draft_at(workload < timed ? &jobs[workload].head : &fills[workload - timed].head,
                        "name");
}

/* Streams of random numbers and rows of results go by the name, whatever the kind of work. Two of
 * pipelines, and two of actors, were refused where they are resolved. */
static struct sim_name_set check_names(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct draft_actor_system *systems = resolver->draft->actors.items;
    struct sim_name_set names = sim_name_set_open(resolver->arena);
    for (size_t i = 0; i < scenario->pipelines_count; i++)
        (void)sim_name_set_add(&names, scenario->pipelines[i].name);
    for (size_t i = 0; i < scenario->workloads_count; i++)
        if (!sim_name_set_add(&names, scenario->workloads[i].name))
            sim_report_error(resolver->report, name_of(resolver, i), "two entries are called '%s'",
                             scenario->workloads[i].name);
    const uint32_t before = names.count;
    for (size_t i = 0; i < scenario->actors_count; i++) {
        const uint32_t other = sim_name_set_number(&names, scenario->actors[i].name);
        if (other > 0 && other <= before)
            sim_report_error(resolver->report, sim_draft_at(&systems[i].head, "name"),
                             "two entries are called '%s'", scenario->actors[i].name);
        (void)sim_name_set_add(&names, scenario->actors[i].name);
    }
    return names;
}

static void check_part(struct sim_resolver *resolver, const struct sim_name_set *names,
                       const char *owner, const struct draft_head *part)
{
    if (owner == NULL || part->name == NULL)
        return; /* said before */
    const char *label = sim_arena_printf(resolver->arena, "%s.%s", owner, part->name);
    if (sim_name_set_number(names, label) > 0)
        sim_report_error(resolver->report, sim_draft_at(part, "name"),
                         "is reported as '%s', and so is an entry that is called so", label);
}

/* Classes of requests are reported as SERVICE.CLASS, roles of several systems as SYSTEM.ROLE. */
static void check_parts(struct sim_resolver *resolver, const struct sim_name_set *names)
{
    const struct draft_pipeline *drafts = resolver->draft->pipelines.items;
    const struct draft_actor_system *systems = resolver->draft->actors.items;
    for (size_t i = 0; i < resolver->draft->pipelines.count; i++) {
        const struct draft_list *list = &drafts[i].input.classes;
        const struct draft_class *classes = list->items;
        const bool is_served = resolver->scenario->pipelines[i].stages[0].batching != NULL;
        for (size_t c = 0; is_served && list->count > 1 && c < list->count; c++)
            check_part(resolver, names, drafts[i].head.name, &classes[c].head);
    }
    for (size_t i = 0; resolver->draft->actors.count > 1 && i < resolver->draft->actors.count;
         i++) {
        const struct draft_role *roles = systems[i].roles.items;
        for (size_t r = 0; r < systems[i].roles.count; r++)
            check_part(resolver, names, systems[i].head.name, &roles[r].head);
    }
}

/* Of one entry of jobs classes are reported by their names alone, as stages and roles are. */
static void check_classes(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct draft_jobs *jobs = resolver->draft->jobs.items;
    struct sim_name_set pools = sim_name_set_open(resolver->arena);
    if (scenario->workloads_count != 1 || resolver->draft->jobs.count != 1)
        return;
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        for (size_t s = 0; s < scenario->pipelines[p].stages_count; s++)
            (void)sim_name_set_add(&pools, scenario->pipelines[p].stages[s].name);
    for (size_t a = 0; a < scenario->actors_count; a++)
        for (size_t s = 0; s < scenario->actors[a].sets_count; s++)
            (void)sim_name_set_add(&pools, scenario->actors[a].sets[s].name);
    const struct draft_job_class *classes = jobs[0].source.classes.items;
    for (size_t c = 0; c < jobs[0].source.classes.count; c++)
        if (sim_name_set_number(&pools, classes[c].head.name) > 0)
            sim_report_error(resolver->report, sim_draft_at(&classes[c].head, "name"),
                             "a class of jobs and a stage, service or role are both called '%s'",
                             classes[c].head.name);
}

/* What a run could not hold is no scenario. */
static void check_count(const struct sim_resolver *resolver)
{
    const size_t pipelines = resolver->draft->pipelines.count;
    const size_t count = pipelines + resolver->draft->jobs.count + resolver->draft->actors.count;
    if (count > SIM_WORK_MAX)
        sim_report_error(
            resolver->report,
            sim_yaml_get(resolver->root, pipelines > SIM_WORK_MAX ? "pipelines" : "jobs"),
            "%zu pipelines, lists of jobs and actor systems in one scenario, %d are possible",
            count, SIM_WORK_MAX);
}

void sim_resolve_workloads(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_scenario *draft = resolver->draft;
    struct draft_jobs *jobs = draft->jobs.items;
    struct draft_fill *fills = draft->fill.items;
    const size_t count = draft->jobs.count + draft->fill.count;
    scenario->workloads = sim_arena_alloc(resolver->arena, count + 1, sizeof *scenario->workloads);
    for (size_t i = 0; i < draft->jobs.count; i++)
        resolve_jobs(resolver, &jobs[i], &scenario->workloads[scenario->workloads_count++]);
    for (size_t i = 0; i < draft->fill.count; i++)
        resolve_fill(resolver, &fills[i], &scenario->workloads[scenario->workloads_count++]);
    const struct sim_name_set names = check_names(resolver);
    check_parts(resolver, &names);
    check_classes(resolver);
    check_count(resolver);
    list_work(resolver);
    const struct sim_yaml *has_jobs = sim_yaml_get(resolver->root, "jobs");
    const struct sim_yaml *has_fill = sim_yaml_get(resolver->root, "fill");
    if (has_jobs == NULL && has_fill == NULL && sim_yaml_get(resolver->root, "pipelines") == NULL &&
        sim_yaml_get(resolver->root, "services") == NULL &&
        sim_yaml_get(resolver->root, "actors") == NULL)
        report_no_work(resolver);
    sim_resolve_not_empty(resolver, sim_yaml_get(resolver->root, "services"),
                          "there are no services in it");
    sim_resolve_not_empty(resolver, has_jobs, "there are no jobs in it");
    sim_resolve_not_empty(resolver, has_fill, "there are no jobs in it");
    if (draft->fill.count > 0 && draft->timeline.count > 0)
        sim_report_error(resolver->report, sim_yaml_get(resolver->root, "timeline"),
                         "a fill has no time at which something could happen");
}
