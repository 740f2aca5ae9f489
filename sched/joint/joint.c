/* SPDX-License-Identifier: Apache-2.0 */
/* What policies that choose ranks have in common; see the header. */
#include "sched/joint/joint.h"

#include "sched/internal/alloc.h"
#include "sched/internal/aside.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/walk.h"
#include "weir/tenant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ns_per_s = 1e9;
static const double day_s = 86400;

/* ---- speeds ---- */

static uint32_t nodes_of(const struct weir_joint *joint, const struct weir_joint_job *job,
                         uint32_t ranks)
{
    const double nodes = joint->node_gpus == 0 ? 1 : ceil(job->gpus * ranks / joint->node_gpus);

    return nodes > 1 ? (uint32_t)nodes : 1;
}

double weir_joint_speed(const struct weir_joint *joint, uint32_t job, uint32_t ranks)
{
    return ranks == 0 ? 0 : joint->speeds[joint->jobs[job].first + ranks - 1];
}

double weir_joint_time(const struct weir_joint *joint, uint32_t job, uint32_t ranks)
{
    const struct weir_joint_job *const one = &joint->jobs[job];

    return one->left_s * weir_joint_speed(joint, job, one->usual) /
           weir_joint_speed(joint, job, ranks);
}

weir_status weir_joint_measure(struct weir_joint *joint)
{
    uint32_t count = 0;

    for (uint32_t j = 0; j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        const uint32_t most =
            job->held > job->most ? job->held : job->most; /* nodes may have gone */
        job->first = count;
        count += most;
        WEIR_ROOM(&joint->allocator, joint->speeds, joint->speed_capacity, count);
        for (uint32_t n = 1; n <= most; n++)
            joint->speeds[job->first + n - 1] =
                job->speedup == NULL ? 1
                                     : weir_speedup_at(job->speedup, n, nodes_of(joint, job, n));
    }
    return WEIR_OK;
}

double *weir_joint_numbers(struct weir_joint *joint, uint32_t count)
{
    if (count < joint->number_capacity)
        return joint->numbers;
    double *const more = weir_grow(&joint->allocator, joint->numbers, &joint->number_capacity,
                                   count + 1, sizeof *more);
    if (more != NULL)
        joint->numbers = more;
    return more;
}

weir_status weir_joint_add_node(struct weir_joint *joint, struct weir_joint_job *job, uint32_t node)
{
    WEIR_ROOM(&joint->allocator, joint->nodes, joint->node_capacity, joint->node_total + 1);
    if (job->node_count == 0)
        job->first_node = joint->node_total;
    joint->nodes[joint->node_total++] = node;
    job->node_count++;
    return WEIR_OK;
}

/* ---- who is there ---- */

static int compare(const void *left, const void *right)
{
    const struct weir_joint_job *const a = left;
    const struct weir_joint_job *const b = right;

    if (a->submit_ns != b->submit_ns)
        return a->submit_ns < b->submit_ns ? -1 : 1;
    if (a->workload != b->workload)
        return a->workload < b->workload ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void take_types(const struct weir_joint *joint, const struct weir_job *job,
                       struct weir_joint_job *entry)
{
    for (uint32_t t = 0; t < joint->types; t++) {
        const double speed = t < job->throughput_count ? job->throughput[t] : 1;
        bool takes = speed > 0;
        for (uint32_t g = 0; g < job->group_count; g++)
            takes = takes && (job->groups[g].shape.gpu_count == 0 ||
                              weir_shape_takes_type(&job->groups[g].shape, t));
        entry->on_type[t] = takes ? speed : 0;
        entry->may_use |= takes ? UINT32_C(1) << t : 0;
    }
}

/* Numbers of ranks that there are GPUs for, so that tables stay small. */
static void take_ranks(const struct weir_joint *joint, const struct weir_job *job,
                       struct weir_joint_job *entry)
{
    const struct weir_speedup *const speedup = job->strategy > 0 ? NULL : job->speedup;
    const uint32_t ranks = job->groups[0].ranks;
    const double fit = entry->gpus > 0 ? floor(joint->devices / entry->gpus) : ranks;

    entry->speedup = speedup;
    entry->usual = speedup == NULL ? ranks : speedup->usual;
    entry->least = speedup == NULL ? ranks : speedup->least;
    entry->most = speedup == NULL ? ranks : speedup->most;
    if (entry->most > fit)
        entry->most = fit > entry->usual ? (uint32_t)fit : entry->usual;
    entry->held = job->state == WEIR_JOB_WAITING ? 0 : ranks;
}

static struct weir_joint_job entry_of(const struct weir_joint *joint, const struct weir_view *view,
                                      const struct weir_job *job)
{
    const struct weir_shape *const shape = &job->groups[0].shape;
    const double all = weir_units_amount(weir_job_amounts(job).gpu_units);
    const int64_t left_ns = weir_job_left_ns(job);
    struct weir_joint_job entry = {
        .id = job->id,
        .workload = job->workload,
        .state = job->state,
        .is_preempted = job->is_preempted,
        .restarts = job->state == WEIR_JOB_WAITING || job->attempts == 0 ? job->attempts
                                                                         : job->attempts - 1,
        .submit_ns = job->submit_ns,
        .gpus = weir_units_amount(shape->gpu_units) * shape->gpu_count,
        .left_s = left_ns == INT64_MAX ? day_s : (double)left_ns / ns_per_s,
        .age_s = (double)(view->now_ns - job->submit_ns) / ns_per_s,
        .restart_s = (double)job->restart_cost_ns / ns_per_s,
        .is_group = job->strategy > 0,
    };

    entry.total_s = left_ns == INT64_MAX ? day_s : (double)job->estimate_ns / ns_per_s;
    entry.more_gpus = all - entry.gpus * job->groups[0].ranks;
    take_ranks(joint, job, &entry);
    if (entry.gpus > 0)
        take_types(joint, job, &entry);
    return entry;
}

/* What was known of it. */
static void keep(struct weir_joint *joint, struct weir_joint_job *job)
{
    const struct weir_joint_job *const old =
        joint->before_count == 0
            ? NULL
            : bsearch(job, joint->before, joint->before_count, sizeof *joint->before, compare);

    if (old == NULL) {
        joint->has_changed = true;
        return;
    }
    job->ranks = old->ranks;
    job->type = old->type;
    job->first_node = old->first_node;
    job->node_count = old->node_count;
    job->until_s = old->until_s;
    job->memory = old->memory;
    job->held_type = job->held > 0 ? old->held_type : 0;
}

static weir_status collect(struct weir_joint *joint, const struct weir_view *view)
{
    struct weir_joint_job *const spare = joint->before;
    const uint32_t capacity = joint->before_capacity;
    struct weir_job job = { .size = sizeof job };
    uint32_t cursor = 0;

    joint->before = joint->jobs;
    joint->before_count = joint->count;
    joint->before_capacity = joint->job_capacity;
    joint->jobs = spare;
    joint->job_capacity = capacity;
    joint->count = 0;
    while (weir_view_next_job(view, &cursor, &job)) {
        if (weir_view_is_aside(view, &job))
            continue;
        WEIR_ROOM(&joint->allocator, joint->jobs, joint->job_capacity, joint->count + 1);
        joint->jobs[joint->count++] = entry_of(joint, view, &job);
    }
    if (joint->count > 1)
        qsort(joint->jobs, joint->count, sizeof *joint->jobs, compare);
    for (uint32_t j = 0; j < joint->count; j++)
        keep(joint, &joint->jobs[j]);
    joint->has_changed = joint->has_changed || joint->count != joint->before_count;
    return WEIR_OK;
}

/* Those that run have done some of it since they started. */
static void count_progress(struct weir_joint *joint, const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };

    for (uint32_t j = 0; j < joint->count; j++) {
        struct weir_joint_job *const one = &joint->jobs[j];
        if (one->state == WEIR_JOB_WAITING || !weir_view_job(view, one->workload, one->id, &job))
            continue;
        const double ran_s = (double)(view->now_ns - job.start_ns) / ns_per_s;
        const double on_type = one->held_type > 0 ? one->on_type[one->held_type - 1] : 1;
        const double part =
            one->held >= 1 && one->held <= one->most
                ? weir_joint_speed(joint, j, one->held) / weir_joint_speed(joint, j, one->usual)
                : 1;
        one->left_s = fmax(one->left_s - ran_s * part * on_type, 0);
    }
}

/* GPUs that are up, by type. O(GPUs). */
static void count_supply(struct weir_joint *joint, const struct weir_cluster *cluster)
{
    memcpy(joint->before_supply, joint->supply, sizeof joint->supply);
    memset(joint->supply, 0, sizeof joint->supply);
    joint->types = 1;
    joint->devices = 0;
    joint->node_gpus = 0;
    for (uint32_t n = 0; n < weir_cluster_node_count(cluster); n++) {
        const struct weir_node *const node = weir_cluster_node(cluster, n);
        if ((node->flags & WEIR_NODE_UP) == 0 || (node->flags & WEIR_NODE_CORDONED) != 0)
            continue;
        joint->node_gpus = node->gpu_count > joint->node_gpus ? node->gpu_count : joint->node_gpus;
        for (uint32_t g = 0; g < node->gpu_count; g++) {
            const uint32_t type = weir_cluster_gpu(cluster, n, g)->type;
            if (type >= WEIR_JOINT_TYPES)
                continue;
            joint->supply[type]++;
            joint->devices++;
            joint->types = type >= joint->types ? type + 1 : joint->types;
        }
    }
    for (uint32_t t = 0; t < WEIR_JOINT_TYPES; t++)
        joint->has_changed |= islessgreater(joint->before_supply[t], joint->supply[t]);
}

/* ---- the pass ---- */

static bool is_idle(const struct weir_joint *joint)
{
    for (uint32_t j = 0; j < joint->count; j++)
        if (joint->jobs[j].state != WEIR_JOB_WAITING || joint->jobs[j].ranks > 0)
            return false;
    return true;
}

/* Between two choices of all; 0 = there is no such time. */
static double round_of(const struct weir_joint *joint)
{
    return joint->rule->is_eager ? 0 : joint->values[0];
}

static bool is_due(const struct weir_joint *joint)
{
    const double round_s = round_of(joint);

    if (joint->now_s >= joint->wake_s)
        return true;
    return round_s > 0 ? joint->now_s >= joint->round_s || is_idle(joint) : joint->has_changed;
}

/* A rule that is asked between its rounds goes on with the nodes of jobs that wait for them. Lists
 * lie in the order of the jobs. */
static void keep_nodes(struct weir_joint *joint)
{
    joint->node_total = 0;
    for (uint32_t j = 0; j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        const uint32_t kept = joint->rule->is_eager && job->held == 0 ? job->node_count : 0;
        if (kept > 0)
            memmove(joint->nodes + joint->node_total, joint->nodes + job->first_node,
                    kept * sizeof *joint->nodes);
        job->first_node = joint->node_total;
        job->node_count = kept;
        joint->node_total += kept;
    }
}

static weir_status choose(struct weir_joint *joint, const struct weir_view *view,
                          struct weir_plan *plan, struct weir_error *error)
{
    const double round_s = round_of(joint);

    joint->wake_s = HUGE_VAL;
    joint->has_changed = false;
    keep_nodes(joint);
    if (weir_joint_measure(joint) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    count_progress(joint, view);
    for (uint32_t j = 0; j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        job->type = 0;
        job->moves = false;
        job->ranks = job->may_use == 0 ? job->usual : 0;
    }
    WEIR_TRY(joint->rule->choose(joint, error));
    if (!joint->rule->is_eager)
        joint->round_s = joint->now_s + round_s;
    const double wake_s = round_s > 0 ? fmin(joint->round_s, joint->wake_s) : joint->wake_s;
    if (isinf(wake_s) || joint->count == 0)
        return WEIR_OK;
    return weir_plan_wake(plan, (int64_t)ceil(wake_s * ns_per_s));
}

/* Who has other ranks than he is to have, or another type. */
static weir_status stop_others(struct weir_joint *joint, struct weir_placer *placer,
                               struct weir_error *error)
{
    for (uint32_t j = 0; j < joint->count; j++) {
        const struct weir_joint_job *const job = &joint->jobs[j];
        if (job->state != WEIR_JOB_RUNNING || job->is_preempted != 0 || job->may_use == 0 ||
            (job->ranks == job->held && !job->moves &&
             (job->type == 0 || job->type == job->held_type)))
            continue;
        WEIR_TRY(weir_placer_preempt_job(placer, job->workload, job->id, error));
    }
    return WEIR_OK;
}

/* Every rank on its node. */
static weir_status start_on_nodes(const struct weir_joint *joint, const struct weir_joint_job *job,
                                  struct weir_placer *placer, struct weir_error *error)
{
    const struct weir_job_start how = { .size = sizeof how,
                                        .ranks = job->ranks,
                                        .node_count = job->ranks,
                                        .nodes = joint->nodes + job->first_node };

    return weir_placer_start_job_as(placer, job->workload, job->id, &how, error);
}

static weir_status start(const struct weir_joint *joint, struct weir_joint_job *job,
                         struct weir_placer *placer, struct weir_error *error)
{
    weir_status status = WEIR_EBUSY;

    if (job->node_count > 0 && job->node_count == job->ranks && !job->is_group)
        status = start_on_nodes(joint, job, placer, error);
    if (status != WEIR_EBUSY)
        return status;

    for (uint32_t ranks = job->ranks; ranks >= job->least && ranks > 0; ranks /= 2) {
        const struct weir_job_start how = { .size = sizeof how,
                                            .ranks = job->speedup == NULL ? 0 : ranks,
                                            .gpu_type = job->type };
        status = job->is_group
                     ? weir_placer_start_job(placer, job->workload, job->id, error)
                     : weir_placer_start_job_as(placer, job->workload, job->id, &how, error);
        if (status == WEIR_OK)
            job->held_type = job->type;
        if (job->speedup == NULL || (status != WEIR_EBUSY && status != WEIR_EINFEASIBLE))
            break;
    }
    if (status != WEIR_EBUSY && status != WEIR_EINFEASIBLE)
        return status;
    error->text[0] = '\0'; /* an answer */
    return WEIR_OK;
}

/* Of one that is not to start: the reason, when it is a limit. */
static void say_what_limits(const struct weir_view *view, struct weir_placer *placer,
                            const struct weir_joint_job *job)
{
    struct weir_job seen = { .size = sizeof seen };
    uint32_t reason = WEIR_REASON_NONE;

    if (weir_view_job(view, job->workload, job->id, &seen))
        reason = weir_walk_limit(view, &seen);
    if (reason != WEIR_REASON_NONE)
        (void)weir_placer_deny_job(placer, job->workload, job->id, reason);
}

weir_status weir_joint_pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                            struct weir_plan *plan, struct weir_error *error)
{
    struct weir_joint *const joint = state;

    joint->now_s = (double)view->now_ns / ns_per_s;
    joint->cluster = view->cluster;
    joint->placer = placer;
    count_supply(joint, view->cluster);
    if (collect(joint, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (is_due(joint)) {
        WEIR_TRY(choose(joint, view, plan, error));
        WEIR_TRY(stop_others(joint, placer, error));
    }
    for (uint32_t j = 0; j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        if (job->state == WEIR_JOB_WAITING && job->ranks > 0)
            WEIR_TRY(start(joint, job, placer, error));
        else if (job->state == WEIR_JOB_WAITING)
            say_what_limits(view, placer, job);
    }
    return WEIR_OK;
}
