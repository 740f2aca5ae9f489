/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving pipelines: requests to shapes, counts per node to counts, factors by index. Their
 * items: resolve_input.c.
 */
#include "sim/scenario/read/name_set.h"
#include "sim/scenario/resolve/resolve.h"

#include "sim/scenario/read/service_table.h"

#include <math.h>
#include <string.h>

/* ---- requests ---- */

static double either_number(double first, double second)
{
    return isnan(first) ? second : first;
}

static int64_t either_whole(int64_t first, int64_t second)
{
    return first == INT64_MIN ? second : first;
}

static char *either_text(char *first, char *second)
{
    return first == NULL ? second : first;
}

static uint32_t either_flag(uint32_t first, uint32_t second)
{
    return first == SIM_ABSENT_COUNT ? second : first;
}

/* What `first` does not say comes from `second`. */
static struct draft_request merge_requests(const struct draft_request *first,
                                           const struct draft_request *second)
{
    return (struct draft_request){
        .head = first->head,
        .cpus = either_number(first->cpus, second->cpus),
        .gpus = either_number(first->gpus, second->gpus),
        .nvdecs = either_whole(first->nvdecs, second->nvdecs),
        .nvencs = either_whole(first->nvencs, second->nvencs),
        .ram_bytes = either_whole(first->ram_bytes, second->ram_bytes),
        .gpu_mem_bytes = either_whole(first->gpu_mem_bytes, second->gpu_mem_bytes),
        .entire_gpu = either_flag(first->entire_gpu, second->entire_gpu),
        .codec_same_gpu = either_flag(first->codec_same_gpu, second->codec_same_gpu),
        .mig = either_text(first->mig, second->mig),
        .mig_slices = either_flag(first->mig_slices, second->mig_slices),
        .spmd = either_flag(first->spmd, second->spmd),
        .nodes = { either_text(first->nodes.selector, second->nodes.selector),
                   either_text(first->nodes.preference, second->nodes.preference),
                   either_flag(first->nodes.borrows, second->nodes.borrows) },
    };
}

static const struct draft_request absent_request = { .cpus = (double)NAN,
                                                     .gpus = (double)NAN,
                                                     .nvdecs = INT64_MIN,
                                                     .nvencs = INT64_MIN,
                                                     .ram_bytes = INT64_MIN,
                                                     .gpu_mem_bytes = INT64_MIN,
                                                     .entire_gpu = SIM_ABSENT_COUNT,
                                                     .codec_same_gpu = SIM_ABSENT_COUNT,
                                                     .spmd = SIM_ABSENT_COUNT,
                                                     .mig_slices = SIM_ABSENT_COUNT,
                                                     .nodes = { .borrows = SIM_ABSENT_COUNT } };
static const struct draft_request default_request = { .cpus = 1,
                                                      .mig_slices = SIM_ABSENT_COUNT,
                                                      .nodes = { .borrows = SIM_ABSENT_COUNT } };

/* The most frequent number of GPUs of a node that has any, the larger one on ties. */
static uint32_t usual_gpus(const struct sim_scenario *scenario)
{
    uint64_t nodes[WEIR_MAX_NODE_GPUS + 1] = { 0 };
    uint32_t usual = 0;
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[i].type];
        uint32_t gpus = 0;
        for (size_t k = 0; k < type->gpus_count; k++)
            gpus += type->gpus[k].count;
        nodes[gpus <= WEIR_MAX_NODE_GPUS ? gpus : 0] += scenario->node_groups[i].count;
    }
    for (uint32_t gpus = 1; gpus <= WEIR_MAX_NODE_GPUS; gpus++)
        if (nodes[gpus] > 0 && (usual == 0 || nodes[gpus] >= nodes[usual]))
            usual = gpus;
    return usual;
}

static struct weir_request request_of(const struct sim_scenario *scenario,
                                      const struct draft_request *draft)
{
    return (struct weir_request){ .cpus = draft->cpus,
                                  .gpus = draft->gpus,
                                  .nvdecs = draft->nvdecs,
                                  .nvencs = draft->nvencs,
                                  .ram_bytes = draft->ram_bytes,
                                  .gpu_mem_bytes = draft->gpu_mem_bytes,
                                  .entire_gpu = draft->entire_gpu == 1,
                                  .codec_same_gpu = draft->codec_same_gpu == 1,
                                  .spmd = draft->spmd == 1,
                                  .node_gpus = draft->spmd == 1 ? usual_gpus(scenario) : 0 };
}

static void refuse_both(struct sim_resolver *resolver, const struct draft_stage *draft)
{
    const struct sim_yaml *request = draft->request.head.node;
    const bool is_mapping = request != NULL && request->kind == SIM_YAML_MAPPING;
    const struct sim_yaml *key = is_mapping ? request->first : NULL;
    for (; key != NULL; key = key->next)
        if (strcmp(key->key, "source") != 0 && sim_yaml_get(draft->head.node, key->key) != NULL)
            sim_report_near(resolver->report, key, SIM_AT_KEY, NULL,
                            "is given in the stage already");
}

/* Memory of a GPU is asked for, and nothing else of one; said where it is asked for. */
static bool refuse_memory_alone(struct sim_resolver *resolver, const struct sim_yaml *at,
                                const struct weir_request *request)
{
    if (request->gpu_mem_bytes == 0 || request->gpus > 0 || request->nvdecs > 0 ||
        request->nvencs > 0 || request->mig_slices > 0)
        return false;
    const struct sim_yaml *own = sim_yaml_get(at, "gpu_memory");
    const struct sim_yaml *asked = sim_yaml_get(sim_yaml_get(at, "request"), "gpu_memory");
    sim_report_error(resolver->report,
                     own != NULL     ? own
                     : asked != NULL ? asked
                                     : at,
                     "%s of GPU memory, but no gpus, nvdecs or nvencs to have it on",
                     sim_quantity_bytes(resolver->arena, request->gpu_mem_bytes));
    return true;
}

/* A request that cannot be read counts as one for nothing, so that nothing is said twice. */
void sim_resolve_shape(struct sim_resolver *resolver, const struct sim_yaml *at,
                       const struct weir_request *request, struct weir_shape *shape)
{
    struct weir_error error = { .phase = -1 };
    if (refuse_memory_alone(resolver, at, request))
        *shape = (struct weir_shape){ .kind = WEIR_SHAPE_CPU };
    else if (weir_shape_from_request(request, resolver->scenario->quantum, shape, &error) !=
             WEIR_OK) {
        *shape = (struct weir_shape){ .kind = WEIR_SHAPE_CPU };
        sim_report_error(resolver->report, at, "%s", error.text);
    } else if (shape->gpu_count > WEIR_MAX_DEVICES) {
        sim_report_error(resolver->report, at, "a worker has %d GPUs of a node at most, got %u",
                         WEIR_MAX_DEVICES, shape->gpu_count);
        *shape = (struct weir_shape){ .kind = WEIR_SHAPE_CPU };
    }
}

/* The same of a draft; a MIG instance is looked up first. */
static void resolve_need(struct sim_resolver *resolver, const struct sim_yaml *at,
                         struct draft_request *draft, struct weir_request *request,
                         struct weir_shape *shape)
{
    *request = request_of(resolver->scenario, draft);
    if (sim_resolve_mig_request(resolver, at, draft, request))
        sim_resolve_shape(resolver, at, request, shape);
    else
        *shape = (struct weir_shape){ .kind = WEIR_SHAPE_CPU };
}

void sim_resolve_whole(struct sim_resolver *resolver, const struct sim_yaml *at,
                       struct weir_shape *shape)
{
    if (!resolver->is_exclusive || shape->kind != WEIR_SHAPE_FRACTIONAL)
        return;
    const struct sim_yaml *gpus = sim_yaml_get(at, "gpus");
    sim_report_warning(resolver->report, gpus != NULL ? gpus : at,
                       "asks for %.10g of a GPU and takes a whole one: share is exclusive",
                       weir_units_amount(shape->gpu_units));
    shape->kind = WEIR_SHAPE_WHOLE;
    shape->gpu_units = WEIR_ONE;
}

void sim_resolve_request(struct sim_resolver *resolver, const struct sim_yaml *at,
                         struct draft_request *draft, struct weir_shape *shape,
                         uint32_t *soft_labels)
{
    *draft = merge_requests(draft, &default_request);
    struct weir_request request;
    resolve_need(resolver, at, draft, &request, shape);
    sim_resolve_whole(resolver, at, shape);
    *soft_labels = sim_resolve_nodes(resolver, at, &draft->nodes, shape);
}

static void resolve_requests(struct sim_resolver *resolver, struct draft_stage *draft,
                             struct sim_stage *stage)
{
    refuse_both(resolver, draft);
    const struct sim_yaml *request_node = draft->request.head.node;
    const bool has_uses = draft->uses.head.node != NULL;
    const struct draft_request given = merge_requests(&draft->own, &draft->request);
    draft->own = merge_requests(&given, &default_request);
    draft->request = absent_request;
    resolve_need(resolver, request_node == NULL ? draft->head.node : request_node, &draft->own,
                 &stage->request, &stage->shape);
    stage->uses = stage->request;
    stage->uses_shape = stage->shape;
    stage->traffic = draft->traffic.to;
    sim_resolve_whole(resolver, request_node == NULL ? draft->head.node : request_node,
                      &stage->shape);
    stage->soft_labels =
        sim_resolve_nodes(resolver, request_node == NULL ? draft->head.node : request_node,
                          &draft->own.nodes, &stage->shape);
    if (!has_uses)
        return;
    const struct sim_yaml *uses_node = draft->uses.head.node;
    struct draft_request own = draft->own;
    if (!isnan(draft->uses.gpus)) {
        own.mig = NULL; /* how much of a GPU it takes, wherever that is */
        own.mig_slices = SIM_ABSENT_COUNT;
    }
    draft->uses.mig_slices = own.mig_slices; /* how devices are set aside is the request's to say */
    draft->uses.entire_gpu = own.entire_gpu;
    draft->uses.codec_same_gpu = own.codec_same_gpu;
    draft->uses.spmd = own.spmd;
    draft->uses = merge_requests(&draft->uses, &own);
    resolve_need(resolver, uses_node, &draft->uses, &stage->uses, &stage->uses_shape);
}

/* ---- service ---- */

static void resolve_gpu_factors(struct sim_resolver *resolver, const struct draft_list *list,
                                struct sim_service *service)
{
    const size_t count = resolver->scenario->gpu_types_count;
    const struct draft_factor *factors = list->items;
    if (list->count == 0)
        return;
    service->gpu_factor = sim_arena_alloc(resolver->arena, count + 1, sizeof(double));
    for (size_t i = 0; i < count; i++)
        service->gpu_factor[i] = (double)NAN;
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < count; k++)
            if (strcmp(resolver->scenario->gpu_types[k].name, factors[i].head.name) == 0)
                service->gpu_factor[k] = factors[i].factor;
}

static uint32_t find_class(struct sim_resolver *resolver, const struct sim_input *input,
                           const struct draft_head *head)
{
    const char **names = sim_arena_alloc(resolver->arena, input->classes_count, sizeof *names);
    size_t count = 0;
    for (uint32_t i = 0; i < input->classes_count; i++) {
        if (input->classes[i].name == NULL)
            continue;
        names[count++] = input->classes[i].name;
        if (strcmp(input->classes[i].name, head->name) == 0)
            return i;
    }
    sim_report_near(resolver->report, head->node, SIM_AT_KEY,
                    sim_near_name(head->name, names, count), "there is no item class '%s'",
                    head->name);
    return WEIR_NO_INDEX;
}

static void resolve_class_factors(struct sim_resolver *resolver, const struct draft_list *list,
                                  const struct sim_input *input, struct sim_service *service)
{
    const struct draft_factor *factors = list->items;
    if (list->count == 0)
        return;
    service->class_factor = sim_arena_alloc(resolver->arena, input->classes_count, sizeof(double));
    for (size_t i = 0; i < input->classes_count; i++)
        service->class_factor[i] = 1;
    for (size_t i = 0; i < list->count; i++) {
        const uint32_t index = find_class(resolver, input, &factors[i].head);
        if (index != WEIR_NO_INDEX)
            service->class_factor[index] = factors[i].factor;
    }
}

static void resolve_service(struct sim_resolver *resolver, struct draft_service *draft,
                            const struct sim_input *input, struct sim_service *service)
{
    const bool is_given =
        draft->head.node != NULL && (draft->head.node->kind == SIM_YAML_SCALAR ||
                                     sim_yaml_get(draft->head.node, "law") != NULL ||
                                     sim_yaml_get(draft->head.node, "value") != NULL);
    if (draft->to.law == NULL && !is_given)
        draft->to.law =
            sim_resolve_constant(resolver, draft->table == NULL ? "const(0)" : "const(1)");
    *service = draft->to;
    service->measurements =
        sim_resolve_measured(resolver, &draft->head, draft->to.measurements, draft->to.law);
    resolve_gpu_factors(resolver, &draft->gpu_factor, service);
    resolve_class_factors(resolver, &draft->class_factor, input, service);
    if (draft->table != NULL)
        sim_service_table_read(resolver, sim_draft_at(&draft->head, "table"), draft->table,
                               service);
}

/* ---- stages ---- */

static int32_t resolve_workers(struct sim_resolver *resolver, const struct draft_stage *draft)
{
    if (draft->workers != SIM_ABSENT_COUNT && !isnan(draft->workers_per_node))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "workers_per_node"),
                         "excludes workers; give one of them");
    if (draft->workers != SIM_ABSENT_COUNT)
        return (int32_t)draft->workers;
    if (isnan(draft->workers_per_node))
        return -1;
    const double exact = draft->workers_per_node * sim_scenario_node_count(resolver->scenario);
    const double count = ceil(exact - 1e-9);
    if (count > 1e9) {
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "workers_per_node"),
                         "makes %g workers", count);
        return 1;
    }
    return (int32_t)count;
}

static void resolve_stage(struct sim_resolver *resolver, struct draft_stage *draft,
                          const struct sim_input *input, struct sim_stage *stage)
{
    *stage = draft->to;
    stage->name = draft->head.name;
    stage->workers = resolve_workers(resolver, draft);
    if (stage->batch == SIM_ABSENT_COUNT)
        stage->batch = 1;
    if (isnan(stage->over_provision))
        stage->over_provision = 0;
    resolve_requests(resolver, draft, stage);
    resolve_service(resolver, &draft->service, input, &stage->service);
    sim_resolve_setup(resolver, &draft->setup, stage);
}

static void resolve_stages(struct sim_resolver *resolver, const struct draft_pipeline *draft,
                           struct sim_pipeline *pipeline)
{
    struct draft_stage *stages = draft->stages.items;
    pipeline->stages_count = draft->stages.count;
    pipeline->stages =
        sim_arena_alloc(resolver->arena, pipeline->stages_count + 1, sizeof *pipeline->stages);
    struct sim_name_set names = sim_name_set_open(resolver->arena);
    for (size_t i = 0; i < pipeline->stages_count; i++) {
        resolve_stage(resolver, &stages[i], &pipeline->input, &pipeline->stages[i]);
        if (pipeline->stages[i].buffer == SIM_ABSENT_COUNT)
            pipeline->stages[i].buffer = draft->backpressure.buffer;
        if (!sim_name_set_add(&names, pipeline->stages[i].name))
            sim_report_error(resolver->report, sim_draft_at(&stages[i].head, "name"),
                             "two stages are called '%s'", pipeline->stages[i].name);
    }
    sim_resolve_not_empty(resolver, sim_yaml_get(draft->head.node, "stages"),
                          "a pipeline needs at least one stage");
}

/* auto: one machine with one GPU cannot hold two stages that want it, so they run one after the
 * other, where there is an end of the input to wait for. */
static uint32_t resolve_execution(const struct sim_scenario *scenario,
                                  const struct draft_pipeline *draft,
                                  const struct sim_pipeline *pipeline)
{
    uint64_t nodes = 0;
    uint64_t gpus = 0;
    if (draft->to.execution != SIM_EXECUTION_AUTO)
        return draft->to.execution;
    if (pipeline->semantics != SIM_SEMANTICS_RUNTIME || pipeline->input.items == 0 ||
        draft->stages.count < 2)
        return SIM_EXECUTION_STREAMING;
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[i].type];
        nodes += scenario->node_groups[i].count;
        for (size_t k = 0; k < type->gpus_count; k++)
            gpus += (uint64_t)scenario->node_groups[i].count * type->gpus[k].count;
    }
    return nodes == 1 && gpus == 1 ? SIM_EXECUTION_BATCH : SIM_EXECUTION_STREAMING;
}

/* Batch: a barrier lies before every stage; with overlap in the code of the user only before one
 * with GPUs that would come beside another. */
static void put_barriers(struct sim_pipeline *pipeline)
{
    bool has_gpus = false;
    for (size_t i = 0; i < pipeline->stages_count; i++) {
        struct sim_stage *stage = &pipeline->stages[i];
        const bool wants = stage->shape.gpu_count > 0;
        const bool is_behind = pipeline->has_user_overlap == 0 || (wants && has_gpus);
        stage->barriers = i == 0 ? 0 : stage[-1].barriers + (is_behind ? 1 : 0);
        has_gpus = wants || (has_gpus && !is_behind);
    }
}

/* Plain loops: one worker, which goes through the tasks without waiting for a turn of the loop. */
static void debug_one_by_one(struct sim_pipeline *pipeline)
{
    pipeline->slots_per_worker = 1000000;
    for (size_t i = 0; i < pipeline->stages_count; i++)
        pipeline->stages[i].workers = 1;
}

static void resolve_pipeline(struct sim_resolver *resolver, struct draft_pipeline *draft,
                             struct sim_pipeline *pipeline)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_backpressure *rule = &draft->backpressure;
    *pipeline = draft->to;
    pipeline->name = draft->head.name;
    pipeline->store_bytes_per_s = (double)draft->store_bandwidth_bytes;
    pipeline->backpressure = rule->rule;
    pipeline->slots_multiplier = rule->multiplier;
    pipeline->buffer = rule->buffer;
    pipeline->lower_bound = rule->lower_bound;
    pipeline->store_of_ram = rule->store;
    pipeline->reserved = rule->reserved;
    pipeline->downstream_ratio = rule->ratio;
    pipeline->budget_refresh_ns = rule->refresh_ns;
    pipeline->turn_ns = llround(1e9 / draft->loop_hz);
    pipeline->stops_serially = draft->teardown == 0;
    pipeline->stage_first = scenario->stages_total;
    sim_resolve_input(resolver, &draft->input, &pipeline->input);
    pipeline->execution = resolve_execution(scenario, draft, pipeline);
    sim_resolve_transfers(resolver, draft, pipeline);
    resolve_stages(resolver, draft, pipeline);
    put_barriers(pipeline);
    if (draft->served != NULL)
        sim_resolve_served(resolver, draft, pipeline);
    if (pipeline->execution == SIM_EXECUTION_BATCH_DEBUG)
        debug_one_by_one(pipeline);
    scenario->stages_total += pipeline->stages_count;
}

void sim_resolve_pipelines(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_list *list = &resolver->draft->pipelines;
    struct draft_pipeline *drafts = list->items;
    scenario->pipelines_count = list->count;
    scenario->pipelines =
        sim_arena_alloc(resolver->arena, list->count + 1, sizeof *scenario->pipelines);
    struct sim_name_set names = sim_name_set_open(resolver->arena);
    for (size_t i = 0; i < list->count; i++) {
        resolve_pipeline(resolver, &drafts[i], &scenario->pipelines[i]);
        if (!sim_name_set_add(&names, scenario->pipelines[i].name))
            sim_report_error(resolver->report, sim_draft_at(&drafts[i].head, "name"),
                             "two pipelines%s are called '%s'",
                             resolver->draft->services.count > 0 ? " or services" : "",
                             scenario->pipelines[i].name);
    }
    if (resolver->draft->jobs.count == 0 && resolver->draft->fill.count == 0 &&
        resolver->draft->services.count == 0)
        sim_resolve_not_empty(resolver, sim_yaml_get(resolver->root, "pipelines"),
                              "a scenario needs at least one pipeline");
}
