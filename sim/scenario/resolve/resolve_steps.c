/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving jobs in steps: the steps of a class or of all jobs, the memory of a rank whose model is
 * divided, and what ranks exchange bytes over
 * where nobody gave it.
 */
#include "sim/scenario/catalog/catalog_gpus.h"
#include "sim/scenario/resolve/resolve.h"

#include <inttypes.h>
#include <math.h>

/* ---- steps ---- */

const struct sim_step *sim_resolve_step(struct sim_resolver *resolver,
                                        const struct draft_step *draft)
{
    if (draft->head.node == NULL)
        return NULL;
    struct sim_step *step = sim_arena_alloc(resolver->arena, 1, sizeof *step);
    *step = draft->to;
    if (step->time_ns == SIM_ABSENT_TIME)
        step->time_ns = 1; /* missing: reported */
    if (isnan(step->spread))
        step->spread = 0;
    if (step->sync_bytes == SIM_ABSENT_BYTES)
        step->sync_bytes = 0;
    if (step->latency_ns == SIM_ABSENT_TIME)
        step->latency_ns = SIM_LATENCY_BY_PLACE;
    return step;
}

/* ---- memory of a rank ---- */

/* Parts that the model is divided into. */
static uint32_t parts_of(const struct draft_parallel *parallel)
{
    const uint32_t tensor = parallel->tensor == SIM_ABSENT_COUNT ? 1 : parallel->tensor;
    return parallel->pipeline == SIM_ABSENT_COUNT ? tensor : tensor * parallel->pipeline;
}

static void check_parts(struct sim_resolver *resolver, const struct draft_job_class *draft,
                        const struct sim_job_spec *job)
{
    const struct draft_parallel *parallel = &draft->parallel;
    const uint32_t parts = parts_of(parallel);
    if (job->shape.gpu_count == 0)
        sim_report_error(resolver->report, parallel->head.node, "needs GPUs in the request");
    else if (sim_job_ranks(job) % parts != 0)
        sim_report_error(resolver->report, parallel->head.node,
                         "%u parts (tensor x pipeline) do not divide the %u GPUs of a job evenly",
                         parts, sim_job_ranks(job));
    if (draft->request.gpu_mem_bytes > 0)
        sim_report_error(resolver->report, sim_draft_at(&draft->request.head, "gpu_memory"),
                         "follows from parallel; give one of them");
}

/* Memory of the largest GPU that it accepts; 0 = there is none. */
static int64_t largest_gpu_bytes(const struct sim_scenario *scenario,
                                 const struct weir_shape *shape)
{
    int64_t largest = 0;
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_type *node = &scenario->node_types[scenario->node_groups[g].type];
        for (size_t i = 0; i < node->gpus_count; i++) {
            const int64_t bytes = scenario->gpu_types[node->gpus[i].type].mem_bytes;
            if (weir_shape_takes_type(shape, node->gpus[i].type) && bytes > largest)
                largest = bytes;
        }
    }
    return largest;
}

/* It is no mistake of the file: such a job is refused, and counted. */
static void warn_of_memory(struct sim_resolver *resolver, const struct draft_parallel *parallel,
                           const struct weir_shape *shape, int64_t activations)
{
    const int64_t largest = largest_gpu_bytes(resolver->scenario, shape);
    const int64_t rest = largest - activations;
    const char *need = sim_quantity_bytes(resolver->arena, shape->gpu_mem_bytes);
    if (largest == 0 || shape->gpu_mem_bytes <= largest || shape->kind == WEIR_SHAPE_SLICE)
        return;
    if (rest <= 0)
        sim_report_warning(resolver->report, parallel->head.node,
                           "will never start: a rank needs %s and the largest GPU has %s, which "
                           "the activations alone exceed",
                           need, sim_quantity_bytes(resolver->arena, largest));
    else
        sim_report_warning(resolver->report, parallel->head.node,
                           "will never start: a rank needs %s and the largest GPU has %s; the "
                           "model fits in %" PRId64 " parts (tensor x pipeline)",
                           need, sim_quantity_bytes(resolver->arena, largest),
                           (parallel->model_bytes - 1) / rest + 1);
}

/* Groups of layers wait for the first part of a batch, and for the others after their last. */
static void resolve_bubble(const struct draft_parallel *parallel, struct sim_job_spec *job)
{
    const double groups = parallel->pipeline == SIM_ABSENT_COUNT ? 1 : parallel->pipeline;
    if (parallel->micro_batches == SIM_ABSENT_COUNT)
        return;
    job->bubble = (groups - 1) / (parallel->micro_batches + groups - 1);
}

void sim_resolve_parallel(struct sim_resolver *resolver, const struct draft_job_class *draft,
                          struct sim_job_spec *job)
{
    const struct draft_parallel *parallel = &draft->parallel;
    if (parallel->head.node == NULL || parallel->model_bytes == SIM_ABSENT_BYTES)
        return;
    const int64_t parts = parts_of(parallel);
    const int64_t activations =
        parallel->activations_bytes == SIM_ABSENT_BYTES ? 0 : parallel->activations_bytes;
    check_parts(resolver, draft, job);
    resolve_bubble(parallel, job);
    job->shape.gpu_mem_bytes =
        parallel->model_bytes / parts + (parallel->model_bytes % parts != 0) + activations;
    if (!resolver->is_hardware_unclear)
        warn_of_memory(resolver, parallel, &job->shape, activations);
}

/* ---- what they exchange over ---- */

/* Known of no type: a PCIe 3 slot, one interface of 100 Gb/s a node. */
static const double USUAL_PCIE_PER_S = 12.3e9, USUAL_NIC_PER_S = 12.5e9;

static bool exchanges(const struct sim_scenario *scenario)
{
    for (size_t w = 0; w < scenario->workloads_count; w++)
        for (size_t j = 0; j < scenario->workloads[w].jobs_count; j++) {
            const struct sim_step *step = scenario->workloads[w].jobs[j].step;
            if (step != NULL && step->sync_bytes > 0)
                return true;
        }
    return false;
}

static const struct sim_catalog_gpu *known_of(const struct sim_scenario *scenario,
                                              const struct sim_node_type *type)
{
    return type->gpus_count == 0
               ? NULL
               : sim_catalog_gpu_find(scenario->gpu_types[type->gpus[0].type].name);
}

static uint32_t gpus_of(const struct sim_node_type *type)
{
    uint32_t count = 0;
    for (size_t i = 0; i < type->gpus_count; i++)
        count += type->gpus[i].count;
    return count;
}

struct fabric_default {
    const char *key;
    double per_s;
    const char *source;
};

static void assume(struct sim_resolver *resolver, const struct sim_node_type *type,
                   const struct fabric_default *what)
{
    sim_resolve_assume(
        resolver,
        sim_arena_printf(resolver->arena, "%s of %s is %g GB/s: %s; %s of the nodes says otherwise",
                         what->key, type->name, what->per_s / 1e9, what->source, what->key));
}

static struct fabric_default nic_of(const struct sim_catalog_gpu *known, uint32_t gpus)
{
    if (known == NULL || !(known->nic_per_s > 0))
        return (struct fabric_default){ "nic", USUAL_NIC_PER_S,
                                        "one interface of 100 Gb/s [guess]" };
    return (struct fabric_default){ "nic", known->nic_per_s * gpus,
                                    "an interface for each GPU of this generation [guess]" };
}

/* What nobody gave; said where ranks may exchange over it. */
static void complete(struct sim_resolver *resolver, struct sim_node_type *type, bool is_alone)
{
    const struct sim_catalog_gpu *known = known_of(resolver->scenario, type);
    const uint32_t gpus = gpus_of(type);
    const uint32_t island = type->topology.island_gpus;
    struct sim_fabric *fabric = &type->fabric;
    const struct fabric_default nvlink = { "nvlink", known == NULL ? 0 : known->nvlink_per_s,
                                           "its data sheet; all-reduces attain 82 to 107 % of it" };
    struct fabric_default pcie = { "pcie", known == NULL ? 0 : known->pcie_per_s,
                                   "what copies over 16 lanes of its generation attain" };
    const struct fabric_default nic = nic_of(known, gpus);
    if (!(pcie.per_s > 0))
        pcie = (struct fabric_default){ "pcie", USUAL_PCIE_PER_S, "PCIe 3 [guess]" };
    if (isnan(fabric->nvlink_per_s)) {
        fabric->nvlink_per_s = nvlink.per_s;
        if (gpus > 1 && nvlink.per_s > 0)
            assume(resolver, type, &nvlink);
    }
    if (isnan(fabric->pcie_per_s)) {
        fabric->pcie_per_s = pcie.per_s;
        if (gpus > 1 && (!(fabric->nvlink_per_s > 0) || (island > 0 && island < gpus)))
            assume(resolver, type, &pcie);
    }
    if (isnan(fabric->nic_per_s)) {
        fabric->nic_per_s = nic.per_s;
        if (!is_alone)
            assume(resolver, type, &nic);
    }
}

void sim_resolve_fabric(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const bool is_alone = sim_scenario_node_count(scenario) < 2;
    if (resolver->is_hardware_unclear || !exchanges(scenario))
        return;
    for (size_t g = 0; g < scenario->node_groups_count; g++)
        complete(resolver, &scenario->node_types[scenario->node_groups[g].type], is_alone);
}
