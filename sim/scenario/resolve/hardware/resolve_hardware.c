/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving GPU types, node types and nodes. Built-in GPU types that are used are written into the
 * draft's catalogue in the order of their first use, so that the canonical text is complete.
 */
#include "sim/engine/time.h"
#include "sim/scenario/catalog/catalog_codecs.h"
#include "sim/scenario/catalog/catalog_gpus.h"
#include "sim/scenario/read/name_set.h"
#include "sim/scenario/resolve/resolve.h"

#include "workloads/trace_shelf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- GPU types ---- */

static struct draft_gpu_type *find_draft(const struct draft_list *list, const char *name)
{
    struct draft_gpu_type *types = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(types[i].head.name, name) == 0)
            return &types[i];
    return NULL;
}

/* "NVIDIA-A100-SXM4-80GB" for a100-80: of the names whose first part is in it the longest, rather
 * one whose other part is in it too. NULL = none. */
static const char *find_inside(const char *name, const char *const *names, size_t count)
{
    const char *found = NULL;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        char part[64];
        const size_t first = strcspn(names[i], "-");
        const char *rest = names[i] + first;
        (void)snprintf(part, sizeof part, "%.*s", (int)first, names[i]);
        if (first < 2 || strcasestr(name, part) == NULL)
            continue;
        const bool is_whole = *rest == '\0' || strcasestr(name, rest + 1) != NULL;
        if (2 * first + is_whole > most) {
            most = 2 * first + is_whole;
            found = names[i];
        }
    }
    return found;
}

static const char *near_gpu(struct sim_resolver *resolver, const char *name)
{
    const struct draft_list *list = &resolver->draft->catalog.gpu_types;
    const struct draft_gpu_type *types = list->items;
    const char **names =
        sim_arena_alloc(resolver->arena, list->count + sim_catalog_gpu_count(), sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        names[count++] = types[i].head.name;
    for (size_t i = 0; i < sim_catalog_gpu_count(); i++)
        names[count++] = sim_catalog_gpu_at(i)->name;
    const char *near = sim_near_name(name, names, count);
    return near != NULL ? near : find_inside(name, names, count);
}

/* Makes sure the type is in the draft's catalogue. */
static void use_gpu_type(struct sim_resolver *resolver, const struct draft_head *head)
{
    struct draft_list *list = &resolver->draft->catalog.gpu_types;
    if (find_draft(list, head->name) != NULL)
        return;
    if (sim_catalog_gpu_find(head->name) == NULL) {
        resolver->is_hardware_unclear = true;
        sim_report_near(resolver->report, head->node, SIM_AT_KEY, near_gpu(resolver, head->name),
                        "there is no GPU type '%s'", head->name);
        return;
    }
    struct draft_gpu_type *types = sim_arena_alloc(resolver->arena, list->count + 1, sizeof *types);
    if (list->count > 0)
        memcpy(types, list->items, list->count * sizeof *types);
    types[list->count] = (struct draft_gpu_type){ .head = { NULL, head->name },
                                                  .to = { .mem_bytes = SIM_ABSENT_BYTES,
                                                          .nvdecs = SIM_ABSENT_COUNT,
                                                          .nvencs = SIM_ABSENT_COUNT,
                                                          .nvenc_sessions = SIM_ABSENT_COUNT,
                                                          .idle_w = (double)NAN,
                                                          .limit_w = (double)NAN,
                                                          .speed = (double)NAN } };
    list->items = types;
    list->count++;
}

static void use_counts(struct sim_resolver *resolver, const struct draft_list *gpus)
{
    const struct draft_gpu_count *counts = gpus->items;
    for (size_t i = 0; i < gpus->count; i++)
        use_gpu_type(resolver, &counts[i].head);
}

static void use_factors(struct sim_resolver *resolver, const struct draft_list *stages)
{
    const struct draft_stage *stage = stages->items;
    for (size_t s = 0; s < stages->count; s++) {
        const struct draft_factor *factors = stage[s].service.gpu_factor.items;
        for (size_t i = 0; i < stage[s].service.gpu_factor.count; i++)
            use_gpu_type(resolver, &factors[i].head);
    }
}

/* The type of "h100" or "h100/1g.10gb". */
static void use_measured(struct sim_resolver *resolver, const struct draft_head *head,
                         const char *measured_on)
{
    if (measured_on == NULL)
        return;
    char *name = sim_arena_copy(resolver->arena, measured_on);
    name[strcspn(name, "/")] = '\0';
    const struct draft_head type = { sim_draft_at(head, "measured_on"), name };
    use_gpu_type(resolver, &type);
}

static void use_origins(struct sim_resolver *resolver)
{
    const struct draft_scenario *draft = resolver->draft;
    const struct draft_pipeline *pipelines = draft->pipelines.items;
    const struct draft_jobs *jobs = draft->jobs.items;
    use_measured(resolver, &draft->head, draft->measured_on);
    for (size_t p = 0; p < draft->pipelines.count; p++) {
        const struct draft_stage *stages = pipelines[p].stages.items;
        use_measured(resolver, &pipelines[p].head, pipelines[p].measured_on);
        for (size_t s = 0; s < pipelines[p].stages.count; s++)
            use_measured(resolver, &stages[s].head, stages[s].measured_on);
    }
    for (size_t j = 0; j < draft->jobs.count; j++) {
        const struct draft_job_class *classes = jobs[j].source.classes.items;
        use_measured(resolver, &jobs[j].head, jobs[j].measured_on);
        for (size_t c = 0; c < jobs[j].source.classes.count; c++)
            use_measured(resolver, &classes[c].head, classes[c].measured_on);
    }
}

static void use_all(struct sim_resolver *resolver)
{
    const struct draft_scenario *draft = resolver->draft;
    const struct draft_node_group *types = draft->catalog.node_types.items;
    for (size_t i = 0; i < draft->catalog.node_types.count; i++)
        use_counts(resolver, &types[i].gpus);
    const struct draft_node_group *groups = draft->cluster.nodes.items;
    for (size_t i = 0; i < draft->cluster.nodes.count; i++)
        use_counts(resolver, &groups[i].gpus);
    for (size_t i = 0; i < resolver->nodes->count; i++) {
        const struct wl_openb_node *node = &resolver->nodes->nodes[i];
        const struct draft_head model = { sim_draft_at(&draft->cluster.head, "nodes_file"),
                                          sim_resolve_model(resolver, node->model) };
        if (node->gpus > 0)
            use_gpu_type(resolver, &model);
    }
    const struct draft_gpu_type *truths = draft->truth.gpu_types.items;
    for (size_t i = 0; i < draft->truth.gpu_types.count; i++)
        use_gpu_type(resolver, &truths[i].head);
    const struct draft_pipeline *pipelines = draft->pipelines.items;
    for (size_t i = 0; i < draft->pipelines.count; i++)
        use_factors(resolver, &pipelines[i].stages);
    use_origins(resolver);
}

/* The built-in type whose engines it has. */
static char *codecs_of(struct sim_resolver *resolver, const struct draft_gpu_type *draft,
                       char *usual)
{
    if (draft->codecs == NULL)
        return usual;
    if (!sim_catalog_has_codecs(draft->codecs))
        sim_report_near(resolver->report, sim_draft_at(&draft->head, "codecs"), SIM_AT_VALUE,
                        sim_catalog_near_codecs(draft->codecs),
                        "no built-in GPU type with codec engines is called '%s'", draft->codecs);
    return draft->codecs;
}

/* What `type` does not say comes from `known`. */
static struct sim_gpu_type merge_types(struct sim_gpu_type type, const struct sim_gpu_type *known)
{
    if (type.mem_bytes == SIM_ABSENT_BYTES)
        type.mem_bytes = known->mem_bytes;
    if (type.nvdecs == SIM_ABSENT_COUNT)
        type.nvdecs = known->nvdecs;
    if (type.nvencs == SIM_ABSENT_COUNT)
        type.nvencs = known->nvencs;
    if (type.nvenc_sessions == SIM_ABSENT_COUNT)
        type.nvenc_sessions = known->nvenc_sessions;
    type.speed = isnan(type.speed) ? known->speed : type.speed; /* NAN = by the kind of work */
    type.idle_w = isnan(type.idle_w) ? known->idle_w : type.idle_w;
    type.limit_w = isnan(type.limit_w) ? known->limit_w : type.limit_w;
    type.price = isnan(type.price) ? known->price : type.price;
    return type;
}

/* What is absent comes from the built-in type of this name, else it is nothing. */
static void complete_type(struct sim_resolver *resolver, struct draft_gpu_type *draft)
{
    const struct sim_catalog_gpu *known = sim_catalog_gpu_find(draft->head.name);
    struct sim_gpu_type built_in = { .speed = (double)NAN, .nvenc_sessions = UINT32_MAX };
    if (known != NULL)
        built_in =
            (struct sim_gpu_type){ .mem_bytes = known->mem_bytes,
                                   .nvdecs = known->nvdecs,
                                   .nvencs = known->nvencs,
                                   .nvenc_sessions = sim_catalog_encode_sessions(draft->head.name),
                                   .speed = (double)NAN,
                                   .idle_w = known->idle_w,
                                   .limit_w = known->limit_w };
    draft->to = merge_types(draft->to, &built_in);
    draft->to.name = draft->head.name;
    draft->to.mig = sim_resolve_mig_table(resolver, draft);
    draft->to.codecs = codecs_of(resolver, draft, draft->head.name);
}

static struct sim_gpu_type true_type(struct sim_resolver *resolver,
                                     const struct draft_gpu_type *truth,
                                     const struct sim_gpu_type *believed)
{
    if (truth == NULL)
        return *believed;
    struct sim_gpu_type type = merge_types(truth->to, believed);
    type.name = believed->name;
    type.mig = truth->mig == NULL ? believed->mig : sim_resolve_mig_table(resolver, truth);
    type.codecs = codecs_of(resolver, truth, believed->codecs);
    return type;
}

static void resolve_gpu_types(struct sim_resolver *resolver)
{
    use_all(resolver);
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_list *list = &resolver->draft->catalog.gpu_types;
    struct draft_gpu_type *drafts = list->items;
    scenario->gpu_types_count = list->count;
    scenario->gpu_types =
        sim_arena_alloc(resolver->arena, list->count + 1, sizeof *scenario->gpu_types);
    scenario->gpu_truth =
        sim_arena_alloc(resolver->arena, list->count + 1, sizeof *scenario->gpu_truth);
    for (size_t i = 0; i < list->count; i++) {
        complete_type(resolver, &drafts[i]);
        scenario->gpu_types[i] = drafts[i].to;
        scenario->gpu_truth[i] =
            true_type(resolver, find_draft(&resolver->draft->truth.gpu_types, drafts[i].head.name),
                      &scenario->gpu_types[i]);
        if (drafts[i].to.limit_w < drafts[i].to.idle_w)
            sim_report_error(resolver->report, sim_draft_at(&drafts[i].head, "limit"),
                             "limit (%g W) is below idle (%g W)", drafts[i].to.limit_w,
                             drafts[i].to.idle_w);
    }
}

/* ---- nodes ---- */

static struct sim_node_type node_type(struct sim_resolver *resolver,
                                      const struct draft_node_group *hardware)
{
    const struct draft_head *head = &hardware->head;
    const struct draft_gpu_count *counts = hardware->gpus.items;
    struct sim_node_type type = {
        .name = head->name,
        .cpus = hardware->cpus,
        .ram_bytes = hardware->ram_bytes == SIM_ABSENT_BYTES ? 0 : hardware->ram_bytes,
        .nic_per_s = isnan(hardware->nic_per_s) ? 0 : hardware->nic_per_s,
        .fabric = { hardware->nvlink_per_s, hardware->pcie_per_s, hardware->nic_per_s }
    };
    if (hardware->ram_bytes == SIM_ABSENT_BYTES && sim_yaml_get(head->node, "ram") != NULL)
        resolver->is_hardware_unclear = true; /* was not understood */
    if (isnan(type.cpus)) {
        resolver->is_hardware_unclear = true;
        type.cpus = 0;
        if (sim_yaml_get(head->node, "cpus") == NULL)
            sim_report_error(resolver->report, head->node, "key 'cpus' is missing");
    }
    type.gpus = sim_arena_alloc(resolver->arena, hardware->gpus.count + 1, sizeof *type.gpus);
    uint32_t total = 0;
    for (size_t i = 0; i < hardware->gpus.count; i++) {
        const uint32_t count = counts[i].count == SIM_ABSENT_COUNT ? 0 : counts[i].count;
        if (find_draft(&resolver->draft->catalog.gpu_types, counts[i].head.name) == NULL)
            continue; /* reported when the types were collected */
        type.gpus[type.gpus_count++] = (struct sim_gpu_count){
            sim_resolve_gpu_type(resolver, counts[i].head.node, counts[i].head.name), count
        };
        total += count;
        resolver->is_hardware_unclear |= count == 0;
    }
    sim_resolve_node_power(resolver, hardware, &type);
    sim_resolve_node_topology(resolver, hardware, &type);
    if (total > WEIR_MAX_NODE_GPUS)
        sim_report_error(resolver->report, sim_draft_at(head, "gpus"),
                         "%u GPUs in one node, at most %d are possible", total,
                         (int)WEIR_MAX_NODE_GPUS);
    return type;
}

static uint32_t find_node_type(struct sim_resolver *resolver, const struct draft_node_group *group)
{
    const struct draft_list *list = &resolver->draft->catalog.node_types;
    const struct draft_node_group *types = list->items;
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(types[i].head.name, group->type) == 0)
            return i;
    const char **names = sim_arena_alloc(resolver->arena, list->count + 1, sizeof *names);
    for (uint32_t i = 0; i < list->count; i++)
        names[i] = types[i].head.name;
    sim_report_near(resolver->report, sim_draft_at(&group->head, "type"), SIM_AT_VALUE,
                    sim_near_name(group->type, names, list->count),
                    "there is no node type '%s' in catalog.node_types", group->type);
    return WEIR_NO_INDEX;
}

/* Is there a key that looks like one of these? Then that was said already. */
static bool is_misspelt(const struct sim_yaml *node)
{
    static const char *const keys[] = { "type", "cpus", "gpus" };
    const bool is_mapping = node != NULL && node->kind == SIM_YAML_MAPPING;
    for (const struct sim_yaml *child = is_mapping ? node->first : NULL; child != NULL;
         child = child->next) {
        const char *near = sim_near_name(child->key, keys, sizeof keys / sizeof keys[0]);
        if (near != NULL)
            return true;
    }
    return false;
}

/* Index of the group's node type; appends one for a group with its own hardware. */
static uint32_t group_type(struct sim_resolver *resolver, const struct draft_node_group *group)
{
    struct sim_scenario *scenario = resolver->scenario;
    const bool has_hardware = !isnan(group->cpus) || group->ram_bytes != SIM_ABSENT_BYTES ||
                              !isnan(group->nic_per_s) || !isnan(group->nvlink_per_s) ||
                              !isnan(group->pcie_per_s) || group->gpus.count > 0;
    if (group->type != NULL && has_hardware) {
        sim_report_error(resolver->report, group->head.node,
                         "has a type and hardware of its own; give one of them");
        return WEIR_NO_INDEX;
    }
    if (group->type != NULL)
        return find_node_type(resolver, group);
    if (!has_hardware && is_misspelt(group->head.node))
        return WEIR_NO_INDEX;
    if (!has_hardware) {
        sim_report_error(resolver->report, group->head.node, "needs a type, or cpus and gpus");
        return WEIR_NO_INDEX;
    }
    if (group->head.name == NULL) {
        sim_report_error(resolver->report, group->head.node, "nodes without a type need a name");
        return WEIR_NO_INDEX;
    }
    scenario->node_types[scenario->node_types_count] = node_type(resolver, group);
    return (uint32_t)scenario->node_types_count++;
}

static void resolve_node_types(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_list *list = &resolver->draft->catalog.node_types;
    const struct draft_node_group *types = list->items;
    scenario->node_types = sim_arena_alloc(resolver->arena,
                                           list->count + 4 * resolver->draft->cluster.nodes.count +
                                               resolver->nodes->count + 1,
                                           sizeof *scenario->node_types);
    for (size_t i = 0; i < list->count; i++)
        scenario->node_types[i] = node_type(resolver, &types[i]);
    scenario->node_types_count = list->count;
}

static void add_group(struct sim_scenario *scenario, struct sim_node_group group)
{
    group.first = sim_scenario_node_count(scenario);
    scenario->node_groups[scenario->node_groups_count++] = group;
}

static void resolve_groups(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_list *list = &resolver->draft->cluster.nodes;
    const struct draft_node_group *drafts = list->items;
    scenario->node_groups = sim_arena_alloc(
        resolver->arena, list->count + resolver->nodes->count + 1, sizeof *scenario->node_groups);
    struct sim_name_set names = sim_name_set_open(resolver->arena);
    for (size_t i = 0; i < list->count; i++) {
        uint32_t type = group_type(resolver, &drafts[i]);
        if (type == WEIR_NO_INDEX) {
            resolver->is_hardware_unclear = true;
            continue;
        }
        type = sim_resolve_share(resolver, &drafts[i], type);
        type = sim_resolve_group_power(resolver, &drafts[i], type);
        type = sim_resolve_group_topology(resolver, &drafts[i], type);
        const char *given = drafts[i].head.name;
        const char *name = given == NULL ? scenario->node_types[type].name : given;
        const struct sim_supply supply = sim_resolve_supply(resolver, &drafts[i]);
        const uint32_t count = supply.max > 0 ? supply.max : drafts[i].count;
        add_group(scenario, (struct sim_node_group){ .name = drafts[i].head.name,
                                                     .type = type,
                                                     .count = count,
                                                     .labels = drafts[i].labels,
                                                     .is_kept = drafts[i].kept == 1,
                                                     .supply = supply });
        if (!sim_name_set_add(&names, name))
            sim_report_error(resolver->report, drafts[i].head.node,
                             "two groups of nodes are called '%s'; give one another name", name);
    }
}

/* ---- nodes of a file ---- */

static bool is_node_type(const struct sim_node_type *type, const struct sim_node_type *wanted)
{
    return fabs(type->cpus - wanted->cpus) < 1e-9 && type->ram_bytes == wanted->ram_bytes &&
           type->gpus_count == wanted->gpus_count &&
           (type->gpus_count == 0 || (type->gpus[0].type == wanted->gpus[0].type &&
                                      type->gpus[0].count == wanted->gpus[0].count));
}

/* Index of the type with this hardware among those from `first` on; appended when it is new. */
static uint32_t file_node_type(struct sim_resolver *resolver, const struct wl_openb_node *node,
                               size_t first)
{
    struct sim_scenario *scenario = resolver->scenario;
    struct sim_gpu_count gpus = { .type = 0, .count = node->gpus };
    const char *model = "cpu";
    if (node->gpus > 0) {
        model = sim_resolve_model(resolver, node->model);
        gpus.type = sim_resolve_gpu_type(
            resolver, sim_draft_at(&resolver->draft->cluster.head, "nodes_file"), model);
    }
    struct sim_node_type type = { .cpus = (double)node->cpu_milli / 1000,
                                  .ram_bytes = node->memory_mib * INT64_C(1048576),
                                  .gpus = &gpus,
                                  .gpus_count = node->gpus > 0 ? 1 : 0,
                                  .fabric = { (double)NAN, (double)NAN, (double)NAN } };
    for (size_t i = first; i < scenario->node_types_count; i++)
        if (is_node_type(&scenario->node_types[i], &type))
            return (uint32_t)i;
    type.name = sim_arena_printf(resolver->arena, "%s-%u-%gcpu-%lldgib", model, node->gpus,
                                 type.cpus, (long long)node->memory_mib / 1024);
    type.gpus = sim_arena_alloc(resolver->arena, 1, sizeof *type.gpus);
    type.gpus[0] = gpus;
    scenario->node_types[scenario->node_types_count] = type;
    return (uint32_t)scenario->node_types_count++;
}

/* Of the ways of sharing nodes of a file know those that need no more keys. */
static void share_file_nodes(struct sim_resolver *resolver)
{
    const struct draft_cluster *cluster = &resolver->draft->cluster;
    const bool is_exclusive = cluster->share == SIM_SHARING_EXCLUSIVE;
    const bool is_fraction =
        cluster->share == SIM_ABSENT_COUNT || cluster->share == SIM_SHARING_FRACTION;
    if (!is_exclusive && !is_fraction)
        sim_report_error(resolver->report, sim_draft_at(&cluster->head, "share"),
                         "nodes of nodes_file are shared as fraction or exclusive; give another "
                         "way to groups in nodes");
    else if (resolver->has_gpus && is_exclusive != resolver->is_exclusive)
        sim_report_error(resolver->report, sim_draft_at(&cluster->head, "share"),
                         "GPUs are exclusive all or none (but for share: mig): those of nodes_file "
                         "take this key, groups in nodes say otherwise");
    else
        resolver->is_exclusive = is_exclusive;
}

static void append_file_nodes(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    if (resolver->nodes->count > 0)
        share_file_nodes(resolver);
    const size_t first = scenario->node_types_count;
    for (size_t i = 0; i < resolver->nodes->count; i++) {
        const struct wl_openb_node *node = &resolver->nodes->nodes[i];
        const uint32_t type = file_node_type(resolver, node, first);
        char *name = sim_arena_copy(resolver->arena, node->name);
        add_group(scenario, (struct sim_node_group){ .name = name, .type = type, .count = 1 });
    }
}

/* Neither nodes nor nodes_file, and no key that looks like one of them (then that was said). */
static void report_no_nodes(struct sim_resolver *resolver)
{
    static const char *const keys[] = { "nodes", "nodes_file" };
    const struct sim_yaml *node = resolver->draft->cluster.head.node;
    if (node == NULL || node->kind != SIM_YAML_MAPPING)
        return;
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next)
        if (strcmp(child->key, "nodes") == 0 || sim_near_name(child->key, keys, 2) != NULL)
            return;
    struct sim_yaml place = *node; /* its first character, not the whole block */
    place.mark.width = 1;
    sim_report_error(resolver->report, &place,
                     "needs nodes, groups of equal nodes in the order that decides ties, or "
                     "nodes_file");
}

static int by_stock(const void *left, const void *right)
{
    const struct wl_openb_node *a = left;
    const struct wl_openb_node *b = right;
    const int models = strcmp(a->model, b->model);
    if (models != 0)
        return models;
    if (a->gpus != b->gpus)
        return a->gpus < b->gpus ? -1 : 1;
    if (a->cpu_milli != b->cpu_milli)
        return a->cpu_milli < b->cpu_milli ? -1 : 1;
    if (a->memory_mib != b->memory_mib)
        return a->memory_mib < b->memory_mib ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct wl_openb_node *)left)->name,
                  ((const struct wl_openb_node *)right)->name);
}

/* A stratified subset: sorted by what they have, every k-th node stays. */
static void thin_out(const struct draft_cluster *cluster, struct wl_openb_nodes *nodes)
{
    size_t kept = 0;
    if (cluster->nodes_every == SIM_ABSENT_COUNT || cluster->nodes_every < 2 || nodes->count == 0)
        return;
    qsort(nodes->nodes, nodes->count, sizeof *nodes->nodes, by_stock);
    for (size_t i = 0; i < nodes->count; i += cluster->nodes_every)
        nodes->nodes[kept++] = nodes->nodes[i];
    nodes->count = kept;
    qsort(nodes->nodes, kept, sizeof *nodes->nodes, by_name);
}

static void read_nodes_file(struct sim_resolver *resolver, struct wl_openb_nodes *nodes)
{
    const struct draft_cluster *cluster = &resolver->draft->cluster;
    struct weir_error error = { .phase = -1 };
    resolver->nodes = nodes;
    if (cluster->nodes_file == NULL) {
        report_no_nodes(resolver);
        return;
    }
    const char *path = sim_resolve_data_path(resolver, cluster->nodes_file);
    const struct sim_yaml *at = sim_draft_at(&cluster->head, "nodes_file");
    const struct wl_trace_options options = { .path = path };
    const struct wl_shelved *table = NULL;
    weir_status status =
        wl_trace_shelf_read(resolver->traces, NULL, NULL, &options, &table, &error);
    if (status == WEIR_OK && table->nodes.count == 0)
        status = weir_fail(&error, WEIR_EFORMAT, "%s: the table has no rows", path);
    if (status != WEIR_OK) {
        resolver->is_hardware_unclear = true;
        sim_report_error(resolver->report, at, "%s", error.text);
        return;
    }
    nodes->count = table->nodes.count;
    nodes->nodes = sim_arena_alloc(resolver->arena, nodes->count, sizeof *nodes->nodes);
    memcpy(nodes->nodes, table->nodes.nodes, nodes->count * sizeof *nodes->nodes);
    thin_out(cluster, nodes);
}

/* What no rule asks for stays out of the canonical text. */
static void resolve_memory(struct sim_resolver *resolver)
{
    struct draft_memory *draft = &resolver->draft->cluster.memory;
    struct sim_memory *memory = &draft->to;
    const uint32_t addresses = resolver->draft->cluster.gpu_addresses;
    resolver->scenario->gpu_addresses =
        addresses == SIM_ABSENT_COUNT ? SIM_ADDRESSES_PAGED : addresses;
    const int64_t reap_ns = resolver->draft->cluster.gpu_reap_ns;
    resolver->scenario->gpu_reap_ns = reap_ns == SIM_ABSENT_TIME ? 0 : reap_ns;
    if (resolver->scenario->gpu_reap_ns > 0 &&
        resolver->scenario->gpu_addresses != SIM_ADDRESSES_PAGED)
        sim_report_error(resolver->report, resolver->draft->cluster.head.node,
                         "gpu_reap and gpu_addresses: what killed workers leave has no address; "
                         "one of the two");
    if (memory->rule == SIM_ABSENT_COUNT) {
        if (draft->head.node != NULL)
            sim_report_error(resolver->report, draft->head.node,
                             "needs a rule: admit, oom_killer or memory_monitor");
        return;
    }
    const bool is_monitor = memory->rule == SIM_MEMORY_MONITOR;
    if (is_monitor && isnan(memory->threshold))
        memory->threshold = 0.95;
    if (is_monitor && memory->min_free_bytes == SIM_ABSENT_BYTES)
        memory->min_free_bytes = INT64_C(1) << 30;
    if (is_monitor && memory->refresh_ns == SIM_ABSENT_TIME)
        memory->refresh_ns = SIM_NS_PER_S / 4;
    if (memory->rule != SIM_MEMORY_ADMIT && isnan(memory->store_frac))
        memory->store_frac = 0.3;
    resolver->scenario->memory = *memory;
}

static void resolve_drift(struct sim_resolver *resolver)
{
    const struct draft_list *list = &resolver->draft->cluster.drifts;
    const struct draft_drift *drafts = list->items;
    struct sim_scenario *scenario = resolver->scenario;
    scenario->drifts = sim_arena_alloc(resolver->arena, list->count + 1, sizeof *scenario->drifts);
    scenario->drifts_count = list->count;
    for (size_t i = 0; i < list->count; i++) {
        scenario->drifts[i] = drafts[i].to;
        for (size_t k = 0; k < i; k++) /* they would draw the same */
            if (drafts[k].to.of == drafts[i].to.of)
                sim_report_error(resolver->report, drafts[i].head.node,
                                 "is a second drift of the same kind; one of each is possible");
    }
}

void sim_resolve_hardware(struct sim_resolver *resolver)
{
    struct wl_openb_nodes nodes = { .count = 0 };
    read_nodes_file(resolver, &nodes);
    resolve_gpu_types(resolver);
    resolve_node_types(resolver);
    resolve_groups(resolver);
    sim_resolve_capacity(resolver);
    append_file_nodes(resolver);
    sim_resolve_topology(resolver);
    resolve_drift(resolver);
    resolve_memory(resolver);
    sim_resolve_stores(resolver);
    sim_resolve_failures(resolver);
    sim_resolve_not_empty(resolver, sim_yaml_get(resolver->draft->cluster.head.node, "nodes"),
                          "a cluster needs at least one node");
}
