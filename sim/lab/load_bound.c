/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds of a steady load; see the header. */
#include "sim/lab/load_bound.h"

#include "sim/cluster/sharing.h"
#include "sim/engine/law.h"
#include "sim/lab/alloc_bound.h"
#include "sim/scenario/belief.h"
#include "sim/scenario/bound.h"
#include "sim/scenario/workload/job_stream.h"
#include "weir/policy.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- what is steady ---- */

static bool is_plain(const struct sim_workload *workload, const struct sim_job_spec *job)
{
    return job->count == UINT64_MAX && job->users == 0 && job->after == 0 && job->think == NULL &&
           job->more_count == 0 && job->elastic == NULL && job->measurements == 0 &&
           (job->shape.gpu_count == 0 || isfinite(sim_job_mean_run_s(workload, job)));
}

static bool is_steady_workload(const struct sim_workload *workload)
{
    const struct sim_arrivals *arrivals = &workload->arrivals;
    bool is_steady = workload->mode != SIM_WORKLOAD_STATIC &&
                     arrivals->kind != SIM_ARRIVALS_TRACE &&
                     arrivals->kind != SIM_ARRIVALS_DIURNAL && isfinite(arrivals->rate_per_s) &&
                     arrivals->measurements == 0 && workload->jobs_limit == UINT64_MAX &&
                     !workload->is_killed_at_estimate && workload->timeout_ns == INT64_MAX;
    for (size_t i = 0; is_steady && i < workload->jobs_count; i++)
        is_steady = !sim_workload_draws_spec(workload, &workload->jobs[i]) ||
                    is_plain(workload, &workload->jobs[i]);
    for (size_t i = 0; is_steady && i < workload->jobs_count; i++)
        is_steady = workload->jobs[i].count == UINT64_MAX;
    return is_steady;
}

static bool is_steady(const struct sim_cluster *cluster)
{
    const struct sim_scenario *scenario = cluster->scenario;
    bool is_calm =
        scenario->timeline_count == 0 && scenario->drifts_count == 0 &&
        scenario->workloads_count > 0 &&
        (scenario->sched.repartition.policy == SIM_REPARTITION_OFF || !sim_cluster_is_cut(cluster));
    for (int f = 0; f < SIM_FAULTS; f++)
        is_calm = is_calm && scenario->failures.of[f].between == NULL;
    for (size_t w = 0; is_calm && w < scenario->workloads_count; w++)
        is_calm = is_steady_workload(&scenario->workloads[w]);
    return is_calm;
}

/* Nobody waits, nobody comes again, and nobody is sent away for another. */
bool sim_load_is_loss(const struct sim_scenario *scenario)
{
    bool is_lost = scenario->workloads_count > 0 && scenario->sched.queueing.queueing->pass == NULL;
    for (size_t w = 0; w < scenario->workloads_count; w++)
        is_lost = is_lost && scenario->workloads[w].queue_limit == 0 &&
                  scenario->workloads[w].retries == 0;
    return is_lost;
}

/* ---- classes ---- */

struct offer {
    uint32_t kind, members;
    uint32_t next; /* of the kind, index + 1 */
    bool is_poisson;
    double load; /* jobs that would run at once */
    double gpus; /* GPUs of them, at speed 1 */
};

struct load {
    const struct sim_cluster *cluster;
    const struct sim_scenario *scenario;
    struct sim_bound_shelf *shelf;
    struct weir_cluster *inventory;
    struct sim_job_spec *jobs; /* of all workloads */
    struct sim_job_kinds kinds;
    struct offer *offers;
    size_t offer_count;
    uint32_t *first;      /* class of a kind, index + 1 */
    double *most, *worth; /* members of a kind that run at once; what each is worth */
};

/* Over its speed where it was measured, on the GPUs that suit it best. */
static double fastest(const struct sim_scenario *scenario, const struct sim_job_spec *job)
{
    double best = 0;
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[g].type];
        for (size_t i = 0; i < type->gpus_count; i++) {
            const uint32_t gpu = type->gpus[i].type;
            if (weir_shape_takes_type(&job->shape, gpu))
                best = fmax(best, sim_speed_at(&job->speed, gpu,
                                               sim_bound_best_part(scenario->gpu_truth[gpu].mig,
                                                                   &job->shape)));
        }
    }
    return best > 0 ? best : 1;
}

static struct offer *offer_of(struct load *load, uint32_t kind, uint32_t members)
{
    uint32_t at = load->first[kind];
    while (at != 0 && load->offers[at - 1].members != members)
        at = load->offers[at - 1].next;
    if (at == 0) {
        load->offers[load->offer_count++] = (struct offer){
            .kind = kind, .members = members, .next = load->first[kind], .is_poisson = true
        };
        at = load->first[kind] = (uint32_t)load->offer_count;
    }
    return &load->offers[at - 1];
}

static bool is_poisson(const struct sim_workload *workload, const struct sim_job_spec *job)
{
    const struct sim_law *batch = workload->arrivals.batch;
    return workload->arrivals.kind == SIM_ARRIVALS_POISSON && job->array == 1 &&
           sim_law_mean(batch) < 1.5 && !(sim_law_variance(batch) > 0);
}

static void add_workload(struct load *load, const struct sim_workload *workload,
                         const uint32_t *kinds)
{
    double weights = 0;
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (sim_workload_draws_spec(workload, &workload->jobs[i]))
            weights += workload->jobs[i].weight;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        const struct sim_job_spec *job = &workload->jobs[i];
        if (job->shape.gpu_count == 0 || !sim_workload_draws_spec(workload, job))
            continue;
        struct offer *offer = offer_of(load, kinds[i], job->members);
        const double gpus = sim_kind_gpus(&job->shape);
        const double speed = fastest(load->scenario, job);
        const double asked = workload->arrivals.rate_per_s * job->weight / weights * job->array *
                             sim_job_mean_run_s(workload, job);
        offer->load += asked / speed;
        offer->gpus += asked * job->members * gpus;
        offer->is_poisson = offer->is_poisson && is_poisson(workload, job);
        load->worth[kinds[i]] = fmax(load->worth[kinds[i]], gpus * speed);
    }
}

/* Jobs of a class that an empty cluster holds; of many that nobody would miss, fewer are counted.
 */
static uint64_t places_of(const struct load *load, const struct offer *offer)
{
    const double enough = fmin(ceil(offer->load + 12 * sqrt(offer->load) + 60), UINT32_MAX);
    return weir_cluster_room(load->inventory, &load->kinds.shapes[offer->kind],
                             (uint64_t)enough * offer->members) /
           offer->members;
}

static double running(const struct load *load, const struct offer *offer, bool is_lost)
{
    return is_lost && offer->is_poisson
               ? offer->load * (1 - sim_erlang_loss(places_of(load, offer), offer->load))
               : offer->load;
}

/* ---- making ---- */

static weir_status fill_inventory(struct load *load)
{
    WEIR_TRY(weir_cluster_create(NULL, &load->inventory));
    for (uint32_t n = 0; n < load->cluster->node_count; n++) {
        struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
        struct weir_node_spec spec;
        WEIR_TRY(sim_belief_node(load->scenario, n, gpus, &spec, NULL));
        WEIR_TRY(weir_cluster_add_node(load->inventory, &spec, NULL, NULL));
    }
    return WEIR_OK;
}

static weir_status fill_classes(struct load *load)
{
    size_t count = 0;
    for (size_t w = 0; w < load->scenario->workloads_count; w++)
        count += load->scenario->workloads[w].jobs_count;
    load->jobs = calloc(count + 1, sizeof *load->jobs);
    load->offers = calloc(count + 1, sizeof *load->offers);
    if (load->jobs == NULL || load->offers == NULL)
        return WEIR_ENOMEM;
    const struct sim_workload all = { .jobs = load->jobs, .jobs_count = count };
    count = 0;
    for (size_t w = 0; w < load->scenario->workloads_count; w++)
        for (size_t i = 0; i < load->scenario->workloads[w].jobs_count; i++)
            load->jobs[count++] = load->scenario->workloads[w].jobs[i];
    WEIR_TRY(sim_job_kinds_create(&all, &load->kinds));
    load->first = calloc((size_t)load->kinds.count + 1, sizeof *load->first);
    load->most = calloc((size_t)load->kinds.count + 1, sizeof *load->most);
    load->worth = calloc((size_t)load->kinds.count + 1, sizeof *load->worth);
    if (load->first == NULL || load->most == NULL || load->worth == NULL)
        return WEIR_ENOMEM;
    count = 0;
    for (size_t w = 0; w < load->scenario->workloads_count; w++) {
        add_workload(load, &load->scenario->workloads[w], load->kinds.of_row + count);
        count += load->scenario->workloads[w].jobs_count;
    }
    return WEIR_OK;
}

static weir_status solve_pool(const struct load *load, struct sim_load_bound *bound)
{
    struct sim_pool_class *classes = calloc(load->offer_count + 1, sizeof *classes);
    double accepted = 0;
    if (classes == NULL)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < load->offer_count; i++) {
        const struct weir_shape *shape = &load->kinds.shapes[load->offers[i].kind];
        classes[i].size = shape->gpu_units * shape->gpu_count * load->offers[i].members;
        classes[i].load = load->offers[i].load;
    }
    const weir_status status =
        sim_pool_losses(load->cluster->gpu_count * WEIR_ONE, classes, load->offer_count);
    for (size_t i = 0; i < load->offer_count; i++)
        accepted += load->offers[i].gpus * (1 - classes[i].loss);
    bound->one_pool = accepted / bound->asked_gpus;
    free(classes);
    return status;
}

static weir_status solve(struct load *load, struct sim_load_bound *bound)
{
    const struct sim_alloc_question question = { .cluster = load->cluster,
                                                 .kinds = &load->kinds,
                                                 .jobs = load->most,
                                                 .worth = load->worth,
                                                 .shelf = load->shelf };
    struct sim_alloc_bound program;
    bound->is_loss = sim_load_is_loss(load->scenario);
    for (size_t i = 0; i < load->offer_count; i++) {
        const struct offer *offer = &load->offers[i];
        load->most[offer->kind] += offer->members * running(load, offer, bound->is_loss);
        bound->asked_gpus += offer->gpus;
    }
    if (!(bound->asked_gpus > 0))
        return WEIR_OK;
    WEIR_TRY(sim_alloc_bound_compute(&question, &program));
    bound->most = fmin(program.gpus / bound->asked_gpus, 1);
    return bound->is_loss ? solve_pool(load, bound) : WEIR_OK;
}

weir_status sim_load_bound_compute(const struct sim_cluster *cluster, struct sim_bound_shelf *shelf,
                                   struct sim_load_bound *bound)
{
    struct load load = { .cluster = cluster, .scenario = cluster->scenario, .shelf = shelf };
    *bound = (struct sim_load_bound){ .most = (double)NAN, .one_pool = (double)NAN };
    if (!is_steady(cluster))
        return WEIR_OK;
    weir_status status = fill_inventory(&load);
    if (status == WEIR_OK)
        status = fill_classes(&load);
    if (status == WEIR_OK)
        status = solve(&load, bound);
    weir_cluster_destroy(load.inventory);
    sim_job_kinds_clear(&load.kinds);
    free(load.jobs);
    free(load.offers);
    free(load.first);
    free(load.most);
    free(load.worth);
    return status;
}

/* ---- closed forms ---- */

double sim_erlang_loss(uint64_t places, double load)
{
    double loss = 1;
    for (uint64_t n = 1; n <= places; n++)
        loss = load * loss / ((double)n + load * loss);
    return loss;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* j q(j) = sum of load x size x q(j - size), with one entry a size; `q` is scaled down before it
 * overflows. */
static void fill_shares(double *q, int64_t pool, const struct sim_pool_class *sizes, size_t count)
{
    q[0] = 1;
    for (int64_t j = 1; j <= pool; j++) {
        q[j] = 0;
        for (size_t k = 0; k < count; k++)
            if (sizes[k].size <= j)
                q[j] += sizes[k].load * (double)sizes[k].size * q[j - sizes[k].size] / (double)j;
        for (int64_t i = 0; q[j] > 1e200 && i <= j; i++)
            q[i] = i < j ? q[i] * 1e-200 : q[i];
        q[j] *= q[j] > 1e200 ? 1e-200 : 1;
    }
}

/* The loads of classes of one size, in units, together; how many sizes there are. */
static size_t merge_sizes(const struct sim_pool_class *classes, size_t count, int64_t unit,
                          struct sim_pool_class *sizes)
{
    size_t merged = 0;
    assert(unit > 0);
    for (size_t i = 0; i < count; i++) {
        const int64_t size = classes[i].size / unit;
        size_t k = 0;
        while (k < merged && sizes[k].size != size)
            k++;
        if (k == merged)
            sizes[merged++] = (struct sim_pool_class){ .size = size };
        sizes[k].load += classes[i].load;
    }
    return merged;
}

weir_status sim_pool_losses(int64_t pool, struct sim_pool_class *classes, size_t count)
{
    enum { MOST_UNITS = 65536 };
    int64_t unit = pool;
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        unit = common_divisor(classes[k].size, unit);
    unit = unit < pool / MOST_UNITS ? pool / MOST_UNITS : unit;
    const int64_t units = unit > 0 ? pool / unit : 0;
    double *q = calloc((size_t)units + 1, sizeof *q);
    struct sim_pool_class *sizes = calloc(count + 1, sizeof *sizes);
    if (q == NULL || sizes == NULL) {
        free(q);
        free(sizes);
        return WEIR_ENOMEM;
    }
    fill_shares(q, units, sizes, merge_sizes(classes, count, unit, sizes));
    free(sizes);
    for (int64_t j = 0; j <= units; j++)
        sum += q[j];
    for (size_t k = 0; k < count; k++) {
        double lost = 0;
        for (int64_t j = units; j >= 0 && j > units - classes[k].size / unit; j--)
            lost += q[j];
        classes[k].loss = lost / sum;
    }
    free(q);
    return WEIR_OK;
}
