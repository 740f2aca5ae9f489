/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs a host knows (see jobs.h), but for their queue. */
#include "sched/host/jobs.h"

#include "sched/internal/alloc.h"
#include "sched/internal/by_age.h"
#include "sched/internal/hash.h"
#include "sched/internal/invariant.h"
#include "sched/internal/job_name.h"
#include "sched/internal/size.h"

#include <math.h>
#include <string.h>

weir_status weir_jobs_open(struct weir_jobs *jobs, const struct weir_allocator *allocator)
{
    *jobs = (struct weir_jobs){ .allocator = *allocator,
                                .given_back = 1,
                                .freed = 1,
                                .record_free = WEIR_NO_INDEX,
                                .extra_free = WEIR_NO_INDEX,
                                .placed_free = WEIR_NO_INDEX,
                                .running_root = WEIR_NO_INDEX };
    return weir_tenants_open(&jobs->tenants, allocator);
}

void weir_jobs_close(struct weir_jobs *jobs)
{
    const struct weir_allocator *const memory = &jobs->allocator;

    for (uint32_t i = 0; i < jobs->workload_count; i++)
        weir_free(memory, jobs->workloads[i].name);
    for (uint32_t i = 0; i < jobs->kind_count; i++) {
        weir_free(memory, jobs->kinds[i].groups);
        weir_free(memory, jobs->kinds[i].heap);
    }
    weir_free(memory, jobs->workloads);
    weir_free(memory, jobs->kinds);
    weir_free(memory, jobs->kind_order);
    weir_free(memory, jobs->front);
    weir_free(memory, jobs->refused);
    weir_free(memory, jobs->records);
    weir_free(memory, jobs->extras);
    weir_free(memory, jobs->placed);
    weir_jobs_free_index(jobs);
    weir_id_table_free(&jobs->ids, memory);
    weir_id_table_free(&jobs->kind_ids, memory);
    weir_tenants_close(&jobs->tenants, memory);
    weir_licences_close(&jobs->licences, memory);
    weir_reservations_close(&jobs->reservations, memory);
    weir_memory_pools_close(&jobs->memory_pools, memory);
}

/* ---- workloads ---- */

weir_status weir_jobs_add_workload(struct weir_jobs *jobs, const char *name, uint32_t *index,
                                   struct weir_error *error)
{
    if (name == NULL || name[0] == '\0')
        return weir_fail(error, WEIR_EINVAL, "a workload needs a name");
    for (uint32_t i = 0; i < jobs->workload_count; i++)
        if (strcmp(jobs->workloads[i].name, name) == 0)
            return weir_fail(error, WEIR_EDUPLICATE, "workload %s exists already", name);
    if (jobs->workload_count >= WEIR_JOB_WORKLOADS)
        return weir_fail(error, WEIR_ERANGE, "at most %d workloads are possible",
                         WEIR_JOB_WORKLOADS);
    struct weir_workload *const workloads =
        weir_grow(&jobs->allocator, jobs->workloads, &jobs->workload_capacity,
                  jobs->workload_count + 1, sizeof *workloads);
    if (workloads != NULL)
        jobs->workloads = workloads;
    const size_t size = strlen(name) + 1;
    char *const copy = weir_alloc(&jobs->allocator, size, 1);
    if (workloads == NULL || copy == NULL) {
        weir_free(&jobs->allocator, copy);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    memcpy(copy, name, size);
    workloads[jobs->workload_count] = (struct weir_workload){ .name = copy,
                                                              .seed = weir_hash_text(name),
                                                              .queue_limit = UINT64_MAX };
    if (index != NULL)
        *index = jobs->workload_count;
    jobs->workload_count++;
    return WEIR_OK;
}

/* ---- kinds ---- */

/* What all ranks ask for; WEIR_ERANGE when the sum is no number any more. */
static weir_status check_need(const struct weir_job_spec *spec, struct weir_error *error)
{
    const int64_t most = INT64_MAX / WEIR_MAX_RANKS;

    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct weir_shape *const shape = &spec->groups[i].shape;
        const int64_t gpus = shape->gpu_count > 0 ? shape->gpu_count : 1;
        if (gpus > WEIR_MAX_NODE_GPUS || shape->cpu_units > most || shape->ram_bytes > most ||
            shape->gpu_units > most / gpus || shape->gpu_mem_bytes > most / gpus)
            return weir_fail(error, WEIR_ERANGE, "rank group %u asks for too much", i);
    }
    return WEIR_OK;
}

static weir_status check_groups(const struct weir_job_spec *spec, struct weir_error *error)
{
    uint64_t ranks = 0;

    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct weir_rank_group *const group = &spec->groups[i];
        if (group->ranks == 0 || group->ranks < group->ranks_min || group->ranks > group->ranks_max)
            return weir_fail(error, WEIR_EINVAL, "rank group %u: %u ranks must be within [%u, %u]",
                             i, group->ranks, group->ranks_min, group->ranks_max);
        if (group->shape.kind == WEIR_SHAPE_SPMD_MULTI)
            return weir_fail(error, WEIR_EINVAL, "rank group %u: a rank is on one node", i);
        if ((group->soft_labels & WEIR_LABEL_KEPT) != 0)
            return weir_fail(error, WEIR_EINVAL,
                             "rank group %u: WEIR_LABEL_KEPT cannot be preferred", i);
        WEIR_TRY(weir_shape_check(&group->shape, error));
        ranks += group->ranks;
    }
    if (ranks > WEIR_MAX_RANKS)
        return weir_fail(error, WEIR_ERANGE, "%llu ranks, at most %d are possible",
                         (unsigned long long)ranks, WEIR_MAX_RANKS);
    return check_need(spec, error);
}

/* An order of kinds that does not depend on who came first. */
static int compare_kinds(const struct weir_job_kind *a, const struct weir_job_kind *b)
{
    if (a->ranks != b->ranks)
        return a->ranks < b->ranks ? -1 : 1;
    if (a->strategy != b->strategy)
        return a->strategy < b->strategy ? -1 : 1;
    if (a->group_count != b->group_count)
        return a->group_count < b->group_count ? -1 : 1;
    for (uint32_t g = 0; g < a->group_count; g++) {
        const int order =
            memcmp(&a->groups[g].shape, &b->groups[g].shape, sizeof a->groups[g].shape);
        if (order != 0)
            return order;
    }
    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static void put_in_order(struct weir_jobs *jobs, uint32_t kind)
{
    uint32_t place = kind;

    for (; place > 0 &&
           compare_kinds(&jobs->kinds[kind], &jobs->kinds[jobs->kind_order[place - 1]]) < 0;
         place--)
        jobs->kind_order[place] = jobs->kind_order[place - 1];
    jobs->kind_order[place] = kind;
}

/* One more kind than there are, and every list of kinds. */
static weir_status reserve_kind(struct weir_jobs *jobs)
{
    const struct weir_allocator *const memory = &jobs->allocator;
    const uint32_t count = jobs->kind_count + 1;

    WEIR_ROOM(memory, jobs->kinds, jobs->kind_capacity, count);
    WEIR_ROOM(memory, jobs->kind_order, jobs->order_capacity, count);
    WEIR_ROOM(memory, jobs->front, jobs->front_capacity, count);
    WEIR_ROOM(memory, jobs->refused, jobs->refused_capacity, count);
    return weir_id_table_reserve(&jobs->kind_ids, memory, 1);
}

static weir_status add_kind(struct weir_jobs *jobs, const struct weir_job_spec *spec, uint64_t hash,
                            struct weir_error *error)
{
    struct weir_rank_group *const groups =
        weir_alloc(&jobs->allocator, spec->group_count, sizeof *groups);
    if (groups == NULL || reserve_kind(jobs) != WEIR_OK) {
        weir_free(&jobs->allocator, groups);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    if (weir_id_table_find(&jobs->kind_ids, hash) == WEIR_NO_INDEX)
        weir_id_table_put(&jobs->kind_ids, hash, jobs->kind_count);
    memcpy(groups, spec->groups, spec->group_count * sizeof *groups);
    struct weir_job_kind *const kind = &jobs->kinds[jobs->kind_count++];
    memset(kind, 0, sizeof *kind);
    kind->groups = groups;
    kind->group_count = spec->group_count;
    kind->strategy = spec->strategy;
    kind->reservation = spec->reservation;
    kind->hash = hash;
    memcpy(kind->licences, spec->licences, sizeof kind->licences);
    kind->takes_licences = weir_licences_takes(&jobs->licences, spec->licences);
    kind->is_barred = weir_licences_is_barred(&jobs->licences, spec->licences, spec->priority);
    kind->device_units = weir_rank_group_devices(groups, spec->group_count);
    kind->front = WEIR_NO_INDEX;
    kind->root = WEIR_NO_INDEX;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct weir_shape *const shape = &groups[i].shape;
        kind->ranks += groups[i].ranks;
        const struct weir_amounts rank = weir_shape_amounts(shape, 0, 0);
        weir_amounts_count(&kind->need, &rank, groups[i].ranks);
    }
    put_in_order(jobs, jobs->kind_count - 1);
    return WEIR_OK;
}

/* The newest kind is one of this tenant. */
static void charge_kind(struct weir_jobs *jobs, uint32_t tenant)
{
    struct weir_job_kind *const kind = &jobs->kinds[jobs->kind_count - 1];

    kind->tenant = tenant;
    kind->next_of_tenant = jobs->tenants.all[tenant].first_kind;
    jobs->tenants.all[tenant].first_kind = jobs->kind_count - 1;
}

weir_status weir_jobs_find_kind(struct weir_jobs *jobs, const struct weir_job_spec *spec,
                                uint32_t *index, struct weir_error *error)
{
    const uint32_t tenant = weir_tenants_of(&jobs->tenants, spec->tenant);
    const uint64_t hash = weir_job_kind_hash(spec, tenant);
    const uint32_t first = weir_id_table_find(&jobs->kind_ids, hash);

    for (uint32_t i = first; i < jobs->kind_count; i++) {
        if (jobs->kinds[i].hash == hash && weir_job_kind_is(jobs, &jobs->kinds[i], spec, tenant)) {
            *index = i;
            return WEIR_OK;
        }
    }
    WEIR_TRY(check_groups(spec, error));
    WEIR_TRY(add_kind(jobs, spec, hash, error));
    charge_kind(jobs, tenant);
    *index = jobs->kind_count - 1;
    return WEIR_OK;
}

const struct weir_shape *weir_job_kind_shape(const struct weir_job_kind *kind, uint32_t rank)
{
    for (uint32_t g = 0; g < kind->group_count; g++) {
        if (rank < kind->groups[g].ranks)
            return &kind->groups[g].shape;
        rank -= kind->groups[g].ranks;
    }
    return NULL;
}

/* ---- records ---- */

/* GPUs that jobs of a kind use, of each of which a job takes such a part, whatever it has of the
 * GPU itself; of what cannot be, a thousand. */
static int64_t part_units(const struct weir_job_kind *kind, double part)
{
    const int64_t units = llround(fmin(part, 1000) * (double)WEIR_ONE);
    int64_t sum = 0;

    for (uint32_t g = 0; g < kind->group_count; g++)
        weir_sum_count(&sum, units * kind->groups[g].shape.gpu_count, kind->groups[g].ranks);
    return sum;
}

/* What changes for its tenant when a job does, as it is. */
static struct weir_tenant_change change_by(const struct weir_jobs *jobs, uint32_t record)
{
    const struct weir_job_kind *const kind = &jobs->kinds[jobs->records[record].kind];
    const uint32_t extra = jobs->records[record].extra;
    struct weir_tenant_change change = { .need = &kind->need, .device_units = kind->device_units };

    if (extra != WEIR_NO_INDEX) {
        change.bandwidth_units = part_units(kind, jobs->extras[extra].traffic.bandwidth);
        change.link_units = part_units(kind, jobs->extras[extra].exchange);
    }
    return change;
}

/* It runs or waits now (1), or does so no more (-1). */
static void charge(struct weir_jobs *jobs, uint32_t record, int32_t running, int32_t waiting)
{
    struct weir_tenant_change change = change_by(jobs, record);

    change.running = running;
    change.waiting = waiting;
    weir_tenants_change(&jobs->tenants, jobs->kinds[jobs->records[record].kind].tenant, &change);
}

uint32_t weir_jobs_find(const struct weir_jobs *jobs, uint32_t workload, uint64_t id)
{
    return id >> WEIR_JOB_ID_BITS != 0
               ? WEIR_NO_INDEX
               : weir_id_table_find(&jobs->ids, weir_job_name(workload, id));
}

static weir_status reserve_record(struct weir_jobs *jobs)
{
    WEIR_TRY(weir_id_table_reserve(&jobs->ids, &jobs->allocator, 1));
    WEIR_TRY(weir_jobs_reserve_index(jobs));
    if (jobs->record_free != WEIR_NO_INDEX)
        return WEIR_OK;
    WEIR_ROOM(&jobs->allocator, jobs->records, jobs->record_capacity, jobs->record_count + 1);
    return WEIR_OK;
}

static bool says_extra(const struct weir_job_spec *spec)
{
    return spec->queued_ns != spec->submit_ns || spec->attained_ns != 0 || spec->attempts != 0 ||
           spec->deadline_ns != WEIR_UNKNOWN_TIME || spec->restart_cost_ns != 0 ||
           spec->round_share > 0 || spec->throughput_count > 0 || spec->user != 0 ||
           spec->reservation != 0 || spec->done_ns != 0 || spec->speedup != NULL ||
           spec->traffic.bandwidth > 0 || spec->step_s > 0 || spec->exchange > 0;
}

/* One that runs, or that waits, more or less; those that are not served by age alone are odd. */
static void count_move(struct weir_jobs *jobs, uint32_t record, int32_t running, int32_t waiting)
{
    const struct weir_job_record *const job = &jobs->records[record];
    const bool came_again =
        job->extra != WEIR_NO_INDEX && jobs->extras[job->extra].queued_ns != job->submit_ns;

    if (running != 0)
        weir_amounts_count(&jobs->held, &jobs->kinds[job->kind].need, running);
    if (running != 0)
        weir_licences_count(&jobs->licences, jobs->kinds[job->kind].licences, running);
    charge(jobs, record, running, waiting);
    jobs->workloads[job->workload].waiting += (uint64_t)(int64_t)waiting;
    if (job->priority != 0 || came_again)
        jobs->odd_waiting += (uint32_t)waiting;
}

bool weir_view_is_by_age(const struct weir_view *view)
{
    return view->jobs != NULL && view->jobs->is_indexed && view->jobs->odd_waiting == 0;
}

static weir_status take_extra(struct weir_jobs *jobs, const struct weir_job_spec *spec,
                              uint32_t *index)
{
    *index = WEIR_NO_INDEX;
    if (!says_extra(spec))
        return WEIR_OK;
    if (jobs->extra_free != WEIR_NO_INDEX) {
        *index = jobs->extra_free;
        jobs->extra_free = jobs->extras[*index].next_free;
    } else {
        WEIR_ROOM(&jobs->allocator, jobs->extras, jobs->extra_capacity, jobs->extra_count + 1);
        *index = jobs->extra_count++;
    }
    jobs->extras[*index] = (struct weir_job_extra){ .queued_ns = spec->queued_ns,
                                                    .attained_ns = spec->attained_ns,
                                                    .attempts = spec->attempts,
                                                    .deadline_ns = spec->deadline_ns,
                                                    .restart_cost_ns = spec->restart_cost_ns,
                                                    .round_share = spec->round_share,
                                                    .throughput = spec->throughput,
                                                    .throughput_count = spec->throughput_count,
                                                    .user = spec->user,
                                                    .done_ns = spec->done_ns,
                                                    .speedup = spec->speedup,
                                                    .traffic = spec->traffic,
                                                    .step_s = spec->step_s,
                                                    .exchange = spec->exchange,
                                                    .reservation = spec->reservation };
    return WEIR_OK;
}

static weir_status check_speedup(const struct weir_job_spec *spec, struct weir_error *error)
{
    if (spec->speedup == NULL)
        return WEIR_OK;
    if (spec->strategy > 0)
        return weir_fail(error, WEIR_EUNSUPPORTED,
                         "a placement group runs with all its bundles, whatever its speed");
    const weir_status status = weir_speedup_check(spec->speedup, error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "its speed by ranks");
    return status;
}

static weir_status check_spec(const struct weir_jobs *jobs, const struct weir_job_spec *spec,
                              struct weir_error *error)
{
    if (spec->workload >= jobs->workload_count)
        return weir_fail(error, WEIR_ENOTFOUND, "workload %u of %u", spec->workload,
                         jobs->workload_count);
    if (spec->id >> WEIR_JOB_ID_BITS != 0)
        return weir_fail(error, WEIR_ERANGE, "its number must be below 2^%d", WEIR_JOB_ID_BITS);
    if (spec->group_count == 0 || spec->groups == NULL)
        return weir_fail(error, WEIR_EINVAL, "it has no ranks");
    if (spec->group_count > WEIR_MAX_RANKS)
        return weir_fail(error, WEIR_ERANGE, "%u rank groups, at most %d are possible",
                         spec->group_count, WEIR_MAX_RANKS);
    if (spec->throughput_count > 0 && spec->throughput == NULL)
        return weir_fail(error, WEIR_EINVAL, "it has no throughputs");
    if (spec->strategy > WEIR_MAX_STRATEGY)
        return weir_fail(error, WEIR_EINVAL, "unknown strategy %u", spec->strategy);
    if (weir_jobs_find(jobs, spec->workload, spec->id) != WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EDUPLICATE, "it is known already");
    if (!(spec->traffic.bandwidth >= 0 && spec->traffic.bound >= 0 && spec->traffic.bound <= 1) ||
        isinf(spec->traffic.bandwidth))
        return weir_fail(error, WEIR_EINVAL, "%g of the bandwidth, %g of the time: no traffic",
                         spec->traffic.bandwidth, spec->traffic.bound);
    if (!(spec->exchange >= 0 && spec->exchange <= 1))
        return weir_fail(error, WEIR_EINVAL, "it exchanges %g of a step, not 0 to 1",
                         spec->exchange);
    return check_speedup(spec, error);
}

/* Names the random choices of the next start, so that no other job changes them. */
static uint64_t seed_of(const struct weir_jobs *jobs, const struct weir_job_spec *spec)
{
    const uint64_t name = weir_hash_add(jobs->seed, jobs->workloads[spec->workload].seed);

    return spec->seed != 0 ? spec->seed
                           : weir_hash_add(weir_hash_add(name, spec->id), spec->attempts);
}

weir_status weir_jobs_add(struct weir_jobs *jobs, const struct weir_job_spec *given,
                          uint32_t *record, struct weir_error *error)
{
    struct weir_job_spec full;
    const struct weir_job_spec *const spec = &full;
    uint32_t kind = 0;
    uint32_t extra = 0;

    WEIR_TRY(
        weir_size_check(given->size, offsetof(struct weir_job_spec, done_ns), "the job", error));
    weir_size_take(&full, sizeof full, given, given->size);
    WEIR_TRY(check_spec(jobs, spec, error));
    WEIR_TRY(weir_licences_check(&jobs->licences, spec->licences, error));
    WEIR_TRY(weir_jobs_find_kind(jobs, spec, &kind, error));
    if (reserve_record(jobs) != WEIR_OK || take_extra(jobs, spec, &extra) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    uint32_t index = jobs->record_free;
    if (index != WEIR_NO_INDEX)
        jobs->record_free = jobs->records[index].place;
    else
        index = jobs->record_count++;
    jobs->records[index] =
        (struct weir_job_record){ .id = spec->id,
                                  .seed = seed_of(jobs, spec),
                                  .submit_ns = spec->submit_ns,
                                  .estimate_ns = spec->estimate_ns,
                                  .workload = spec->workload & (WEIR_JOB_WORKLOADS - 1),
                                  .kind = kind,
                                  .tenant = spec->tenant,
                                  .priority = spec->priority,
                                  .place = WEIR_NO_INDEX,
                                  .state = WEIR_JOB_WAITING,
                                  .is_used = 1,
                                  .extra = extra };
    weir_id_table_put(&jobs->ids, weir_job_name(spec->workload, spec->id), index);
    jobs->counts[WEIR_JOB_WAITING]++;
    count_move(jobs, index, 0, 1);
    *record = index;
    return WEIR_OK;
}

static void count_short(struct weir_jobs *jobs, uint32_t record, int32_t change)
{
    const struct weir_job_record *const job = &jobs->records[record];

    if (job->state == WEIR_JOB_RUNNING && weir_job_kind_is_short(&jobs->kinds[job->kind]))
        jobs->short_count += (uint32_t)change;
}

/* It runs no more. */
static void leave_place(struct weir_jobs *jobs, uint32_t record)
{
    struct weir_job_record *const job = &jobs->records[record];

    weir_jobs_index_drop(jobs, record);
    jobs->placed[job->place].next_free = jobs->placed_free;
    jobs->placed_free = job->place;
    job->place = WEIR_NO_INDEX;
}

void weir_jobs_remove(struct weir_jobs *jobs, uint32_t record)
{
    struct weir_job_record *const job = &jobs->records[record];
    const bool waits = job->state == WEIR_JOB_WAITING;

    if (!WEIR_HOLDS(job->is_used != 0 && (!waits || job->place == WEIR_NO_INDEX),
                    &jobs->ids.broken))
        return;
    weir_id_table_remove(&jobs->ids, weir_job_name(job->workload, job->id));
    count_short(jobs, record, -1);
    if (!waits)
        leave_place(jobs, record);
    count_move(jobs, record, waits ? 0 : -1, waits ? -1 : 0);
    jobs->counts[job->state]--;
    if (job->extra != WEIR_NO_INDEX) {
        jobs->extras[job->extra].next_free = jobs->extra_free;
        jobs->extra_free = job->extra;
    }
    job->is_used = 0;
    job->place = jobs->record_free;
    jobs->record_free = record;
}

/* ---- those that start or run ---- */

uint32_t weir_jobs_attempts(const struct weir_jobs *jobs, uint32_t record)
{
    const struct weir_job_record *const job = &jobs->records[record];

    if (job->state != WEIR_JOB_WAITING)
        return jobs->placed[job->place].attempts;
    return job->extra == WEIR_NO_INDEX ? 0 : jobs->extras[job->extra].attempts;
}

weir_status weir_jobs_reserve_placed(struct weir_jobs *jobs)
{
    if (jobs->placed_free == WEIR_NO_INDEX)
        WEIR_ROOM(&jobs->allocator, jobs->placed, jobs->placed_capacity, jobs->placed_count + 1);
    return WEIR_OK;
}

static uint32_t take_placed(struct weir_jobs *jobs, uint32_t attempts)
{
    uint32_t index = jobs->placed_free;

    if (index != WEIR_NO_INDEX)
        jobs->placed_free = jobs->placed[index].next_free;
    else
        index = jobs->placed_count++;
    jobs->placed[index] =
        (struct weir_placed_job){ .attempts = attempts, .first_worker = UINT64_MAX };
    return index;
}

void weir_jobs_change_kind(struct weir_jobs *jobs, uint32_t record, uint32_t kind)
{
    struct weir_job_record *const job = &jobs->records[record];

    count_short(jobs, record, -1);
    weir_amounts_count(&jobs->held, &jobs->kinds[job->kind].need, -1);
    charge(jobs, record, -1, 0);
    job->kind = kind;
    weir_amounts_count(&jobs->held, &jobs->kinds[kind].need, 1);
    charge(jobs, record, 1, 0);
    count_short(jobs, record, 1);
}

void weir_jobs_change_waiting(struct weir_jobs *jobs, uint32_t record, uint32_t kind)
{
    charge(jobs, record, 0, -1);
    jobs->records[record].kind = kind;
    charge(jobs, record, 0, 1);
}

void weir_jobs_set_state(struct weir_jobs *jobs, uint32_t record, enum weir_job_state state)
{
    struct weir_job_record *const job = &jobs->records[record];
    const int32_t change = (state != WEIR_JOB_WAITING) - (job->state != WEIR_JOB_WAITING);

    if (change < 0)
        leave_place(jobs, record);
    if (change > 0)
        job->place = take_placed(jobs, weir_jobs_attempts(jobs, record));
    if (change != 0)
        count_move(jobs, record, change, -change);
    jobs->counts[job->state]--;
    jobs->counts[state]++;
    count_short(jobs, record, -1);
    job->state = (uint32_t)state & 3;
    count_short(jobs, record, 1);
}

struct weir_traffic weir_jobs_traffic(const struct weir_jobs *jobs, uint32_t record)
{
    static const struct weir_traffic none;
    const uint32_t extra = jobs->records[record].extra;

    return extra == WEIR_NO_INDEX ? none : jobs->extras[extra].traffic;
}

void weir_jobs_set_start(struct weir_jobs *jobs, uint32_t record, int64_t start_ns)
{
    weir_jobs_placed(jobs, record)->start_ns = start_ns;
    weir_jobs_index_put(jobs, record);
}

static void describe_extra(const struct weir_job_extra *extra, struct weir_job *job)
{
    job->queued_ns = extra->queued_ns;
    job->attained_ns = extra->attained_ns;
    job->user = extra->user;
    job->done_ns = extra->done_ns;
    job->reservation = extra->reservation;
    job->deadline_ns = extra->deadline_ns;
    job->restart_cost_ns = extra->restart_cost_ns;
    job->round_share = extra->round_share;
    job->throughput = extra->throughput;
    job->throughput_count = extra->throughput_count;
    job->speedup = extra->speedup;
    job->traffic = extra->traffic;
    job->step_s = extra->step_s;
    job->exchange = extra->exchange;
}

static void describe_whole(const struct weir_jobs *jobs, uint32_t record, struct weir_job *job)
{
    const struct weir_job_record *const from = &jobs->records[record];
    const struct weir_job_kind *const kind = &jobs->kinds[from->kind];
    const struct weir_placed_job *const placed =
        from->state != WEIR_JOB_WAITING ? &jobs->placed[from->place] : NULL;

    *job = (struct weir_job){ .size = sizeof *job,
                              .workload = from->workload,
                              .id = from->id,
                              .groups = kind->groups,
                              .group_count = kind->group_count,
                              .strategy = kind->strategy,
                              .ranks = kind->ranks,
                              .kind = from->kind,
                              .tenant = from->tenant,
                              .priority = from->priority,
                              .attempts = weir_jobs_attempts(jobs, record),
                              .state = from->state,
                              .submit_ns = from->submit_ns,
                              .queued_ns = from->submit_ns,
                              .start_ns = placed != NULL ? placed->start_ns : WEIR_UNKNOWN_TIME,
                              .estimate_ns = from->estimate_ns,
                              .deadline_ns = WEIR_UNKNOWN_TIME,
                              .key = placed != NULL ? 0 : from->key,
                              .is_preempted = placed != NULL ? placed->is_preempted : 0 };
    if (from->extra != WEIR_NO_INDEX)
        describe_extra(&jobs->extras[from->extra], job);
}

void weir_jobs_describe(const struct weir_jobs *jobs, uint32_t record, struct weir_job *job)
{
    const uint32_t size = job->size;
    struct weir_job whole;

    if (size == sizeof *job) {
        describe_whole(jobs, record, job);
        return;
    }
    describe_whole(jobs, record, &whole);
    whole.size = size;
    memcpy(job, &whole, size < sizeof whole ? size : sizeof whole);
}

/* ---- the invariant ---- */

/* What jobs of a tenant, and of those below it, hold and want. O(jobs). */
static weir_status check_tenant(const struct weir_jobs *jobs, uint32_t number,
                                struct weir_error *error)
{
    const struct weir_tenant_entry *const tenant = &jobs->tenants.all[number];
    struct weir_amounts used = { 0 };
    struct weir_amounts wanted = { 0 };
    int64_t devices = 0;
    int64_t bandwidth = 0;
    int64_t links = 0;
    uint32_t running = 0;
    uint32_t waiting = 0;

    for (uint32_t i = 0; i < jobs->record_count; i++) {
        const struct weir_job_record *const job = &jobs->records[i];
        const struct weir_job_kind *const kind = &jobs->kinds[job->kind];
        const bool is_running = job->state != WEIR_JOB_WAITING;
        if (job->is_used == 0 || !weir_tenants_is_within(&jobs->tenants, kind->tenant, number))
            continue;
        weir_amounts_count(is_running ? &used : &wanted, &kind->need, 1);
        const struct weir_tenant_change change = change_by(jobs, i);
        devices += is_running ? change.device_units : 0;
        bandwidth += is_running ? change.bandwidth_units : 0;
        links += is_running ? change.link_units : 0;
        running += is_running;
        waiting += !is_running;
    }
    if (memcmp(&used, &tenant->used, sizeof used) != 0 ||
        memcmp(&wanted, &tenant->wanted, sizeof wanted) != 0 || devices != tenant->device_units ||
        bandwidth != tenant->bandwidth_units || links != tenant->link_units ||
        running != tenant->running || waiting != tenant->waiting)
        return weir_fail(error, WEIR_EINVARIANT, "jobs of tenant %u hold other amounts than it has",
                         number);
    return WEIR_OK;
}

static weir_status check_tenants(const struct weir_jobs *jobs, struct weir_error *error)
{
    for (uint32_t t = 0; t < jobs->tenants.count; t++)
        WEIR_TRY(check_tenant(jobs, t, error));
    return WEIR_OK;
}

weir_status weir_jobs_check(const struct weir_jobs *jobs, struct weir_error *error)
{
    uint32_t counts[WEIR_JOB_RUNNING + 1] = { 0 };
    struct weir_amounts held = { 0 };
    uint32_t used = 0;

    for (uint32_t i = 0; i < jobs->record_count; i++) {
        const struct weir_job_record *const job = &jobs->records[i];
        if (job->is_used == 0)
            continue;
        used++;
        counts[job->state]++;
        weir_amounts_count(&held, &jobs->kinds[job->kind].need, job->state != WEIR_JOB_WAITING);
        if (weir_jobs_find(jobs, job->workload, job->id) != i)
            return weir_fail(error, WEIR_EINVARIANT, "job %llu is not found by its number",
                             (unsigned long long)job->id);
        if (job->place >=
            (job->state == WEIR_JOB_WAITING ? jobs->kinds[job->kind].count : jobs->placed_count))
            return weir_fail(error, WEIR_EINVARIANT, "job %llu: state %u, place %u",
                             (unsigned long long)job->id, job->state, job->place);
    }
    for (uint32_t s = 0; s <= WEIR_JOB_RUNNING; s++)
        if (counts[s] != jobs->counts[s])
            return weir_fail(error, WEIR_EINVARIANT, "%u jobs in state %u, counted %u", counts[s],
                             s, jobs->counts[s]);
    uint32_t placed = jobs->placed_count;
    for (uint32_t i = jobs->placed_free; i != WEIR_NO_INDEX; i = jobs->placed[i].next_free)
        placed--;
    if (placed != counts[WEIR_JOB_STARTING] + counts[WEIR_JOB_RUNNING])
        return weir_fail(error, WEIR_EINVARIANT, "%u jobs are kept as starting or running", placed);
    if (used != jobs->ids.count)
        return weir_fail(error, WEIR_EINVARIANT, "%u jobs, %u numbers", used, jobs->ids.count);
    if (memcmp(&held, &jobs->held, sizeof held) != 0)
        return weir_fail(error, WEIR_EINVARIANT, "jobs hold other amounts than were counted");
    WEIR_TRY(weir_jobs_check_licences(jobs, error));
    WEIR_TRY(check_tenants(jobs, error));
    WEIR_TRY(weir_jobs_check_queue(jobs, error));
    return weir_jobs_check_index(jobs, error);
}
