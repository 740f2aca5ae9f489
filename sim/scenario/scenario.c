/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loading a scenario: text, tree, --set, draft, scenario, checks, canonical text.
 *
 * The scenario lies in a box together with the arena that owns everything it points to.
 */
#include "sim/scenario/scenario.h"

#include "sim/engine/digest.h"
#include "sim/engine/time.h"
#include "sim/scenario/read/emit.h"
#include "sim/scenario/read/event_file.h"
#include "sim/scenario/read/extends.h"
#include "sim/scenario/read/input_file.h"
#include "sim/scenario/read/set.h"
#include "sim/scenario/resolve/check.h"
#include "sim/scenario/resolve/models.h"
#include "sim/scenario/schema/acts.h"
#include "sim/scenario/schema/words.h"
#include "workloads/limits.h"
#include "workloads/trace_shelf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct box {
    struct sim_scenario scenario; /* first: the public pointer is the box */
    struct sim_arena arena;
};

/* What one load goes through. */
struct loading {
    struct box *box;
    struct sim_report report;
    const struct sim_scenario_source *source;
    const struct sim_policies *policies;
    const char *folder;
    struct wl_trace_shelf *traces;
    bool is_trial;            /* of a variant */
    const char *const *asked; /* sets whose keys must act, as all of the text without any */
    size_t asked_count;
};

/* ---- policies ---- */

static struct sim_policies built_in_policies(struct sim_arena *arena)
{
    struct sim_policies policies = { .placements_count = weir_placement_count(),
                                     .scalings_count = weir_scaling_count(),
                                     .queueings_count = weir_queueing_count(),
                                     .capacities_count = weir_capacity_count() };
    policies.placements =
        sim_arena_alloc(arena, policies.placements_count + 1, sizeof(struct weir_placement_ops *));
    policies.scalings =
        sim_arena_alloc(arena, policies.scalings_count + 1, sizeof(struct weir_scaling_ops *));
    policies.queueings =
        sim_arena_alloc(arena, policies.queueings_count + 1, sizeof(struct weir_queueing_ops *));
    policies.capacities =
        sim_arena_alloc(arena, policies.capacities_count + 1, sizeof(struct weir_capacity_ops *));
    for (uint32_t i = 0; i < policies.capacities_count; i++)
        policies.capacities[i] = weir_capacity_at(i);
    for (uint32_t i = 0; i < policies.placements_count; i++)
        policies.placements[i] = weir_placement_at(i);
    for (uint32_t i = 0; i < policies.queueings_count; i++)
        policies.queueings[i] = weir_queueing_at(i);
    for (uint32_t i = 0; i < policies.scalings_count; i++)
        policies.scalings[i] = weir_scaling_at(i);
    return policies;
}

/* ---- files ---- */

static void note_file(struct sim_arena *arena, struct sim_scenario *scenario, const char *path,
                      struct sim_input_file file)
{
    scenario->files =
        sim_arena_grow(arena, scenario->files, scenario->files_count, sizeof *scenario->files);
    file.path = sim_arena_copy(arena, path);
    scenario->files[scenario->files_count++] = file;
}

static void note_text(struct loading *loading, const char *path, const char *text, size_t length)
{
    note_file(
        &loading->box->arena, &loading->box->scenario, path,
        (struct sim_input_file){ .bytes = (int64_t)length,
                                 .digest = sim_digest_bytes(SIM_DIGEST_START, text, length) });
}

/* Whether a variant that is tried names a file that the scenario itself has noted. */
static bool is_noted(const struct loading *loading, const char *path)
{
    const struct sim_scenario *scenario = loading->is_trial ? loading->source->baseline : NULL;
    for (size_t i = 0; scenario != NULL && i < scenario->files_count; i++)
        if (strcmp(scenario->files[i].path, path) == 0)
            return true;
    return false;
}

/* Of any size: a trace that is another one makes another experiment. Who needs a file that is not
 * there has reported it. */
static void note_named_files(struct loading *loading, const struct sim_reader *reader)
{
    struct sim_arena *arena = &loading->box->arena;
    for (size_t i = 0; i < reader->files_count; i++) {
        if (is_noted(loading, reader->files[i]))
            continue;
        struct sim_input_file file = { .path = NULL };
        struct weir_error error = { .phase = -1, .pool = -1 };
        const weir_status status =
            sim_input_file_digest(sim_input_file_path(arena, loading->folder, reader->files[i]),
                                  &file.bytes, &file.digest, &error);
        if (status == WEIR_OK)
            note_file(arena, &loading->box->scenario, reader->files[i], file);
        else if (status != WEIR_ENOTFOUND)
            (void)sim_report_error(&loading->report, NULL, "%s", error.text);
    }
}

/* ---- from tree to scenario ---- */

static void refuse(void *state, struct sim_yaml *node, const char *sentence)
{
    sim_report_near(state, node, SIM_AT_KEY, NULL, "%s", sentence);
}

/* Keys that would change nothing. What a key of the text needs a --set may take away. */
static void check_acts(struct loading *loading, struct sim_yaml *root)
{
    const struct sim_acts_walk walk = { .arena = &loading->box->arena,
                                        .root = root,
                                        .has_needs =
                                            loading->source->sets_count == 0 && !loading->is_trial,
                                        .sets = loading->asked,
                                        .sets_count = loading->asked_count,
                                        .found = refuse,
                                        .state = &loading->report };
    if (!sim_words_are_old(root)) /* there they are left out */
        sim_acts_visit(&walk);
}

/* Needed before the other keys are read; a mistake in it is said when its turn comes. */
static int64_t start_of(const struct sim_yaml *root)
{
    const struct sim_yaml *start = sim_yaml_get(root, "start_time");
    struct weir_error error = { .phase = -1 };
    int64_t unix_s = 0;
    if (start != NULL && start->kind == SIM_YAML_SCALAR)
        (void)sim_timestamp_parse(start->text, &unix_s, &error);
    return unix_s;
}

static void build(struct loading *loading, const struct sim_yaml *given)
{
    struct sim_arena *arena = &loading->box->arena;
    struct sim_words words = { .arena = arena,
                               .report = &loading->report,
                               .root = sim_yaml_clone(arena, given) };
    sim_words_finish(&words);
    struct sim_yaml *root = sim_models_fill(arena, &loading->report, words.root);
    struct sim_scenario *scenario = &loading->box->scenario;
    struct sim_reader reader = { .arena = arena,
                                 .report = &loading->report,
                                 .policies = loading->policies,
                                 .folder = loading->folder,
                                 .moment_since = loading->source->moment_since,
                                 .start_unix_s = start_of(root),
                                 .is_old = sim_words_are_old(root) };
    sim_event_file_fill(&reader, root);
    struct draft_scenario *draft = sim_arena_alloc(arena, 1, sizeof *draft);
    sim_read_section(&reader, root, &sim_schema_scenario, draft);
    draft->schema = SIM_SCHEMA_VERSION; /* of the canonical text, whatever was read */
    struct sim_resolver resolver = { .arena = arena,
                                     .report = &loading->report,
                                     .reader = &reader,
                                     .root = root,
                                     .draft = draft,
                                     .scenario = scenario,
                                     .metric_named = loading->source->metric_named,
                                     .moment_since = loading->source->moment_since,
                                     .baseline = loading->source->baseline,
                                     .lists_variants =
                                         loading->is_trial ? loading->source->baseline : NULL,
                                     .limits = loading->source->limits,
                                     .traces = loading->traces };
    sim_services_enter(&resolver);
    sim_resolve(&resolver);
    sim_check(&resolver);
    sim_services_leave(&resolver);
    check_acts(loading, root);
    scenario->sources_unstated = reader.sources[SIM_SOURCE_UNSTATED];
    scenario->sources_measured = reader.sources[SIM_SOURCE_MEASURED];
    scenario->sources_datasheet = reader.sources[SIM_SOURCE_DATASHEET];
    scenario->sources_guess = reader.sources[SIM_SOURCE_GUESS];
    scenario->knobs = reader.knobs;
    if (loading->report.out->errors > 0)
        return;
    note_named_files(loading, &reader);
    scenario->resolved = sim_emit(arena, draft, root);
    scenario->digest =
        sim_digest_bytes(SIM_DIGEST_START, scenario->resolved, strlen(scenario->resolved));
}

/* ---- variants ---- */

static struct box *new_box(void)
{
    struct box *box = calloc(1, sizeof *box);
    if (box == NULL)
        abort(); /* as the arena does */
    return box;
}

static void free_box(struct box *box)
{
    sim_arena_clear(&box->arena);
    free(box);
}

/* What a set brings is settled before the next one, which may build on it. */
static bool apply_set(struct loading *loading, struct sim_yaml *root, const char *text)
{
    struct sim_words words = { .arena = &loading->box->arena,
                               .report = &loading->report,
                               .root = root };
    const bool is_applied = sim_set_apply_text(&loading->box->arena, &loading->report, root, text);
    sim_words_settle(&words);
    return is_applied;
}

/* Reports the mistakes a variant has that the scenario itself has not; `root` is without the list
 * of variants, which no variant changes. */
static void check_variant(struct loading *loading, const struct sim_yaml *root,
                          const struct sim_variant *variant, const struct sim_yaml *at)
{
    struct sim_diagnostics found = { .items = NULL };
    struct loading trial = *loading;
    struct sim_scenario_source source = *loading->source;
    source.baseline = &loading->box->scenario;
    trial.source = &source;
    trial.box = new_box();
    trial.report.out = &found;
    trial.is_trial = true;
    trial.asked = (const char *const *)variant->sets;
    trial.asked_count = variant->sets_count;
    struct sim_yaml *tree = sim_yaml_clone(&trial.box->arena, root);
    bool is_applied = true;
    for (size_t i = 0; i < variant->sets_count; i++)
        is_applied &= apply_set(&trial, tree, variant->sets[i]);
    if (is_applied)
        build(&trial, tree);
    for (size_t i = 0; i < found.count; i++)
        if (!found.items[i].is_warning)
            sim_report_near(&loading->report, at, SIM_AT_VALUE, found.items[i].suggestion,
                            "variant '%s': %s", variant->label, found.items[i].message);
    sim_diagnostics_clear(&found);
    free_box(trial.box);
}

static void check_variants(struct loading *loading, const struct sim_yaml *root)
{
    const struct sim_scenario *scenario = &loading->box->scenario;
    const struct sim_yaml *list = sim_yaml_get(root, "compare");
    struct sim_yaml *bare = sim_yaml_clone(&loading->box->arena, root);
    if (list != NULL)
        sim_yaml_remove(sim_yaml_get(bare, "compare"));
    const struct sim_yaml *entry = list == NULL ? NULL : list->first;
    for (size_t i = 0; entry != NULL && i < scenario->variants_count; i++, entry = entry->next) {
        const struct sim_yaml *sets = sim_yaml_get(entry, "set");
        if (scenario->variants[i].sets_count > 0)
            check_variant(loading, bare, &scenario->variants[i], sets == NULL ? entry : sets);
    }
}

/* ---- loading ---- */

static void note_base(void *state, const char *path, const char *text, size_t length)
{
    struct loading *loading = state;
    note_text(loading, path, text, length);
}

static weir_status load_text(struct loading *loading)
{
    struct sim_arena *arena = &loading->box->arena;
    struct sim_report *report = &loading->report;
    struct sim_yaml *root = sim_yaml_parse(arena, report->text, report->length, report);
    if (root != NULL && root->kind != SIM_YAML_MAPPING) {
        sim_report_error(report, root, SIM_NO_MAPPING);
        root = NULL;
    }
    const struct sim_extends extends = { .arena = arena,
                                         .report = report,
                                         .folder = loading->folder,
                                         .found = note_base,
                                         .state = loading };
    if (root != NULL)
        root = sim_extends_apply(&extends, root);
    if (root == NULL)
        return WEIR_EFORMAT;
    struct sim_words words = { .arena = arena, .report = report, .root = root };
    sim_words_settle(&words);
    for (size_t i = 0; i < loading->source->sets_count; i++)
        (void)apply_set(loading, root, loading->source->sets[i]);
    build(loading, root);
    if (report->out->errors == 0 && !loading->source->is_variant)
        check_variants(loading, root);
    return report->out->errors == 0 ? WEIR_OK : WEIR_EFORMAT;
}

static weir_status load_file(struct loading *loading)
{
    struct sim_report *report = &loading->report;
    const struct sim_scenario_source *source = loading->source;
    struct weir_error error = { .phase = -1 };
    const uint64_t most_mib =
        wl_limit(source->limits == NULL ? 0 : source->limits->scenario_mib, WL_SCENARIO_MIB);
    if (source->text != NULL) {
        report->text = source->text;
        report->length = strlen(source->text);
    } else {
        report->text = sim_input_file_read_most(&loading->box->arena, source->path, most_mib,
                                                &report->length, &error);
    }
    if (report->text == NULL) {
        const bool is_large = report->length >> 20 >= most_mib;
        report->length = 0;
        sim_report_error(report, NULL, "%s%s", error.text,
                         is_large ? " (--limit scenario=MIB)" : "");
        return WEIR_EIO;
    }
    if (report->length >> 20 >= most_mib) {
        sim_report_error(report, NULL, "larger than %llu MiB", (unsigned long long)most_mib);
        return WEIR_EFORMAT;
    }
    note_text(loading, report->path, report->text, report->length);
    return load_text(loading);
}

weir_status sim_scenario_load(const struct sim_scenario_source *source,
                              struct sim_scenario **scenario, struct sim_diagnostics *diagnostics)
{
    struct box *box = new_box();
    const struct sim_policies built_in = built_in_policies(&box->arena);
    struct loading loading = {
        .box = box,
        .report = { .path = source->path == NULL ? "(text)" : source->path, .out = diagnostics },
        .source = source,
        .policies = source->policies == NULL ? &built_in : source->policies,
        .folder = sim_input_file_folder(&box->arena, source->path),
        .asked = source->asked_sets == 0 ? NULL
                                         : source->sets + (source->sets_count - source->asked_sets),
        .asked_count = source->asked_sets,
    };
    box->scenario.path = sim_arena_copy(&box->arena, loading.report.path);
    loading.traces = source->traces == NULL ? wl_trace_shelf_open() : source->traces;
    if (loading.traces == NULL)
        abort(); /* as the arena does */
    const weir_status status = load_file(&loading);
    if (source->traces == NULL)
        wl_trace_shelf_close(loading.traces);
    sim_report_finish(&loading.report);
    if (status == WEIR_OK)
        *scenario = &box->scenario;
    else
        free_box(box);
    return status;
}

char *sim_scenario_value(const struct sim_scenario *scenario, const char *path, bool *is_whole,
                         struct sim_diagnostics *diagnostics)
{
    struct sim_arena arena = { .blocks = NULL };
    struct sim_report report = { .path = scenario->path,
                                 .text = scenario->resolved,
                                 .length = strlen(scenario->resolved),
                                 .out = diagnostics };
    struct sim_yaml *root = sim_yaml_parse(&arena, report.text, report.length, &report);
    const char *found = root == NULL ? NULL : sim_set_read(&arena, &report, root, path, is_whole);
    char *text = found == NULL ? NULL : strdup(found);
    sim_report_finish(&report);
    sim_arena_clear(&arena);
    return text;
}

void sim_scenario_destroy(struct sim_scenario *scenario)
{
    if (scenario != NULL)
        free_box((struct box *)(void *)scenario);
}

/* ---- looking things up ---- */

uint32_t sim_scenario_node_count(const struct sim_scenario *scenario)
{
    if (scenario->node_groups_count == 0)
        return 0;
    const struct sim_node_group *last = &scenario->node_groups[scenario->node_groups_count - 1];
    return last->first + last->count;
}

/* The group of node `index`, which becomes the index within the group. */
static const struct sim_node_group *find_group(const struct sim_scenario *scenario, uint32_t *index)
{
    size_t low = 0;
    size_t high = scenario->node_groups_count - 1;
    while (low < high) {
        const size_t middle = low + (high - low + 1) / 2;
        if (*index < scenario->node_groups[middle].first)
            high = middle - 1;
        else
            low = middle;
    }
    *index -= scenario->node_groups[low].first;
    return &scenario->node_groups[low];
}

static const char *group_name(const struct sim_scenario *scenario,
                              const struct sim_node_group *group)
{
    return group->name == NULL ? scenario->node_types[group->type].name : group->name;
}

uint32_t sim_scenario_node_group(const struct sim_scenario *scenario, uint32_t index)
{
    return (uint32_t)(find_group(scenario, &index) - scenario->node_groups);
}

struct sim_stream_key sim_scenario_node_key(const struct sim_scenario *scenario, uint32_t index,
                                            uint32_t attempt)
{
    const struct sim_node_group *group = find_group(scenario, &index);
    return (struct sim_stream_key){ .item = sim_random_name(0, SIM_NAME_NODES,
                                                            group_name(scenario, group)),
                                    .stage = index,
                                    .attempt = attempt };
}

void sim_scenario_node_name(const struct sim_scenario *scenario, uint32_t index, char *text,
                            size_t capacity)
{
    const struct sim_node_group *group = find_group(scenario, &index);
    const char *name = group_name(scenario, group);
    if (group->name != NULL && group->count == 1)
        (void)snprintf(text, capacity, "%s", name);
    else
        (void)snprintf(text, capacity, "%s-%u", name, index);
}

static size_t print_labels(const struct sim_scenario *scenario, const char *lead, uint32_t labels,
                           char text[SIM_NODES_TEXT], size_t length)
{
    for (uint32_t i = 0; i < scenario->labels_count; i++) {
        if ((labels >> i & 1) == 0 || length >= SIM_NODES_TEXT)
            continue;
        length += (size_t)snprintf(text + length, SIM_NODES_TEXT - length, "%s%s", lead,
                                   scenario->labels[i]);
        lead = ", ";
    }
    return length;
}

void sim_scenario_print_nodes(const struct sim_scenario *scenario, uint32_t labels, uint32_t soft,
                              char text[SIM_NODES_TEXT])
{
    text[0] = '\0';
    const size_t length = print_labels(scenario, " on ", labels & ~soft, text, 0);
    (void)print_labels(scenario, ", rather on ", soft, text, length);
}

const struct sim_node_type *sim_scenario_node_type(const struct sim_scenario *scenario,
                                                   uint32_t index)
{
    return &scenario->node_types[find_group(scenario, &index)->type];
}

const struct sim_stage *sim_scenario_stage(const struct sim_scenario *scenario, uint32_t index)
{
    /* The first pipeline that ends behind the stage: stages are numbered through all of them. */
    size_t low = 0;
    size_t high = scenario->pipelines_count - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct sim_pipeline *pipeline = &scenario->pipelines[middle];
        if (index >= pipeline->stage_first + pipeline->stages_count)
            low = middle + 1;
        else
            high = middle;
    }
    return &scenario->pipelines[low].stages[index - scenario->pipelines[low].stage_first];
}

double sim_job_gpus(const struct sim_job_spec *job)
{
    double gpus = weir_units_amount(job->shape.gpu_units) * job->shape.gpu_count * job->members;
    for (size_t i = 0; i < job->more_count; i++)
        gpus += weir_units_amount(job->more[i].shape.gpu_units) * job->more[i].shape.gpu_count *
                job->more[i].members;
    return gpus;
}

double sim_job_cpus(const struct sim_job_spec *job)
{
    double cpus = weir_units_amount(job->shape.cpu_units) * job->members;
    for (size_t i = 0; i < job->more_count; i++)
        cpus += weir_units_amount(job->more[i].shape.cpu_units) * job->more[i].members;
    return cpus;
}

/* Rows of a trace and classes with a count are known, and up to the horizon the process is. */
static double jobs_of(const struct sim_workload *workload, int64_t horizon_ns)
{
    double jobs = 0;
    if (workload->mode == SIM_WORKLOAD_STATIC)
        return 0;
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (workload->jobs[i].count != UINT64_MAX)
            jobs += (double)workload->jobs[i].count;
        else if (workload->jobs[i].submit_ns != WEIR_UNKNOWN_TIME)
            jobs += workload->jobs[i].submit_ns - workload->from_ns < horizon_ns ? 1 : 0;
    if (workload->arrivals.kind == SIM_ARRIVALS_TRACE)
        jobs *= workload->arrivals.scale;
    if (workload->arrivals.rate_per_s > 0)
        jobs += workload->arrivals.rate_per_s *
                (horizon_ns == SIM_TIME_MAX ? (double)INFINITY : sim_time_s(horizon_ns));
    return fmin(jobs, (double)workload->jobs_limit);
}

bool sim_pipeline_has_bytes(const struct sim_pipeline *pipeline)
{
    for (size_t s = 0; s + 1 < pipeline->stages_count; s++)
        if (pipeline->stages[s].bytes_out != NULL)
            return true;
    return false;
}

double sim_input_mean_items(const struct sim_input *input)
{
    double items = 1; /* exact where all count for one */
    for (size_t i = 0; i < input->classes_count; i++)
        items += input->classes[i].weight * (input->classes[i].items - 1.0);
    return items;
}

bool sim_scenario_moves_bytes(const struct sim_scenario *scenario,
                              const struct sim_pipeline *pipeline)
{
    bool has_links = scenario->racks.uplink_per_s > 0;
    for (size_t t = 0; t < scenario->node_types_count; t++)
        has_links = has_links || scenario->node_types[t].nic_per_s > 0;
    const bool has_way = pipeline->transfers == SIM_TRANSFERS_STORE ||
                         (pipeline->transfers == SIM_TRANSFERS_DIRECT && has_links);
    return pipeline->input.store != WEIR_NO_INDEX || (has_way && sim_pipeline_has_bytes(pipeline));
}

double sim_scenario_jobs(const struct sim_scenario *scenario)
{
    double jobs = 0;
    for (size_t i = 0; i < scenario->workloads_count; i++)
        jobs += jobs_of(&scenario->workloads[i], scenario->horizon_ns);
    return jobs;
}

/* Of a pipeline that nothing limits the nodes say how much goes through. */
static double items_of(const struct sim_pipeline *pipeline, double horizon_s, double nodes)
{
    double items = pipeline->input.items > 0 ? (double)pipeline->input.items : nodes * horizon_s;
    if (pipeline->input.arrivals != NULL && pipeline->input.arrivals->rate_per_s > 0)
        items = fmin(items, pipeline->input.arrivals->rate_per_s * horizon_s);
    return items * (double)pipeline->stages_count;
}

double sim_scenario_work(const struct sim_scenario *scenario)
{
    enum { A_DAY_S = 86400 };
    const double horizon_s =
        scenario->horizon_ns == SIM_TIME_MAX ? A_DAY_S : sim_time_s(scenario->horizon_ns);
    const double nodes = sim_scenario_node_count(scenario);
    double work = fmin(sim_scenario_jobs(scenario), nodes * horizon_s);
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        work += items_of(&scenario->pipelines[p], horizon_s, nodes);
    for (size_t i = 0; i < scenario->workloads_count; i++)
        work += scenario->workloads[i].mode == SIM_WORKLOAD_STATIC ? nodes : 0;
    return 1 + work * (1 + log2(1 + nodes));
}
