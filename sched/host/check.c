/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a plan fits the view it was made from.
 *
 * Works with its own arithmetic on its own copy of what is free, taken from the view the first time
 * a device is touched; the inventory's add and remove are not used, so that a slip there cannot
 * hide itself. Actions count in plan order. The first contradiction rejects the plan whole.
 * Cost: O(actions). Does not judge whether a plan is any good.
 */
#include "sched/cluster/state.h"
#include "sched/host/covers.h"
#include "sched/host/jobs.h"
#include "sched/internal/alloc.h"
#include "sched/internal/plan_state.h"
#include "weir/group.h"

#include <string.h>

/* Everything one check walks with; lives for one call. */
struct checker {
    struct weir_plan_store *store;
    struct weir_check *books;
    const struct weir_view *view;
    struct weir_error *error;
    const struct weir_action *action;
    uint32_t index;                 /* of the action */
    uint32_t record;                /* of the job that the action is about, or WEIR_NO_INDEX */
    const struct weir_action *gang; /* rank 0 of the job whose ranks are being started, or NULL */
    uint32_t rank;                  /* the next one of the gang */
};

void weir_check_free(const struct weir_allocator *allocator, struct weir_check *check)
{
    weir_id_map_free(allocator, &check->node_map);
    weir_id_map_free(allocator, &check->gpu_map);
    weir_id_map_free(allocator, &check->workers);
    weir_id_map_free(allocator, &check->jobs);
    weir_free(allocator, check->nodes);
    weir_free(allocator, check->gpus);
    *check = (struct weir_check){ 0 };
}

/* "action 3 (start of worker 17, pool caption)" in front of the message that is there. */
static weir_status reject(const struct checker *checker)
{
    const struct weir_action *const action = checker->action;
    const bool has_pool =
        action->owner.kind == WEIR_OWNER_POOL && action->owner.index < checker->view->pool_count;

    weir_error_wrap(checker->error, "action %u (%s of worker %llu%s%s)", checker->index,
                    weir_verb_name(action->verb), (unsigned long long)action->worker,
                    has_pool ? ", stage " : "",
                    has_pool ? weir_view_pool(checker->view, action->owner.index)->name : "");
    return WEIR_EPOLICY;
}

/* The book of a node, opened with what the view says is free. NULL when out of memory. */
static struct weir_check_node *node_book(const struct checker *checker, uint32_t node)
{
    struct weir_check *const books = checker->books;
    const struct weir_allocator *const memory = &checker->store->allocator;
    uint32_t *const place = weir_id_map_at(memory, &books->node_map, node);

    if (place == NULL)
        return NULL;
    if (*place == WEIR_NO_INDEX) {
        struct weir_check_node *const nodes = weir_grow(memory, books->nodes, &books->node_capacity,
                                                        books->node_count + 1, sizeof *nodes);
        if (nodes == NULL)
            return NULL;
        books->nodes = nodes;
        const struct weir_node *const seen = weir_cluster_node(checker->view->cluster, node);
        *place = books->node_count++;
        nodes[*place] = (struct weir_check_node){ .node = node,
                                                  .cpu_free = seen->cpu_free,
                                                  .ram_free_bytes = seen->ram_free_bytes };
    }
    return &books->nodes[*place];
}

static struct weir_check_gpu *gpu_book(const struct checker *checker, uint32_t node, uint32_t gpu)
{
    struct weir_check *const books = checker->books;
    const struct weir_allocator *const memory = &checker->store->allocator;
    const uint64_t key = (uint64_t)node << 32 | gpu;
    uint32_t *const place = weir_id_map_at(memory, &books->gpu_map, key);

    if (place == NULL)
        return NULL;
    if (*place == WEIR_NO_INDEX) {
        struct weir_check_gpu *const gpus = weir_grow(memory, books->gpus, &books->gpu_capacity,
                                                      books->gpu_count + 1, sizeof *gpus);
        if (gpus == NULL)
            return NULL;
        books->gpus = gpus;
        const struct weir_gpu *const seen = weir_cluster_gpu(checker->view->cluster, node, gpu);
        *place = books->gpu_count++;
        gpus[*place] = (struct weir_check_gpu){ .units_free = seen->units_free,
                                                .mem_free_bytes = seen->mem_free_bytes,
                                                .nvdec_free = seen->nvdec_free,
                                                .nvenc_free = seen->nvenc_free,
                                                .seen = seen,
                                                .mig_state = seen->mig_state };
    }
    return &books->gpus[*place];
}

/* Takes `amount` off `*free` when there is that much. */
static weir_status take_amount(const struct checker *checker, int64_t *free, int64_t amount,
                               const char *what)
{
    if (amount < 0)
        return weir_fail(checker->error, WEIR_EPOLICY, "asks for a negative amount of %s", what);
    if (amount > *free)
        return weir_fail(checker->error, WEIR_EPOLICY, "needs %.6g %s, %.6g free, %.6g too much",
                         weir_units_amount(amount), what, weir_units_amount(*free),
                         weir_units_amount(amount - *free));
    *free -= amount;
    return WEIR_OK;
}

static weir_status take_bytes(const struct checker *checker, int64_t *free, int64_t bytes,
                              const char *what)
{
    if (bytes < 0)
        return weir_fail(checker->error, WEIR_EPOLICY, "asks for negative %s", what);
    if (bytes > *free)
        return weir_fail(checker->error, WEIR_EPOLICY, "needs %lld bytes of %s, %lld free",
                         (long long)bytes, what, (long long)*free);
    *free -= bytes;
    return WEIR_OK;
}

static weir_status take_engines(const struct checker *checker, uint32_t *free, uint32_t mask,
                                const char *what)
{
    const uint32_t missing = mask & ~*free;

    if (missing != 0)
        return weir_fail(checker->error, WEIR_EPOLICY,
                         "takes %s %d, which is held by another worker or does not exist", what,
                         __builtin_ctz(missing));
    *free &= ~mask;
    return WEIR_OK;
}

/* An instance that the GPU has or can make, and all of it; elsewhere none is named. */
static weir_status take_instance(const struct checker *checker, struct weir_check_gpu *book,
                                 const struct weir_device *device)
{
    const struct weir_mig *const table = book->seen->mig;
    const uint32_t profile = weir_device_profile(device);
    const uint32_t start = weir_device_start(device);

    if (table == NULL && device->mig == 0)
        return WEIR_OK;
    if (table == NULL || device->mig == 0)
        return weir_fail(checker->error, WEIR_EPOLICY, "%s",
                         table == NULL ? "is not cut into MIG instances"
                                       : "is cut into MIG instances, and none is named");
    if (profile >= table->profile_count)
        return weir_fail(checker->error, WEIR_EPOLICY, "MIG profile %u of %u", profile,
                         table->profile_count);
    if (book->seen->is_closed != 0 || book->is_away != 0 ||
        !weir_mig_free(table, book->mig_state, profile, start))
        return weir_fail(checker->error, WEIR_EPOLICY, "MIG instance %s at slot %u is not free",
                         table->profiles[profile].name, start);
    if (device->units != weir_mig_units(table, profile) ||
        device->mem_bytes != table->profiles[profile].mem_bytes)
        return weir_fail(checker->error, WEIR_EPOLICY,
                         "MIG instance %s is taken in part: %.6g GPUs and %lld bytes",
                         table->profiles[profile].name, weir_units_amount(device->units),
                         (long long)device->mem_bytes);
    book->mig_state.held |= weir_mig_instance(profile, start);
    return WEIR_OK;
}

static weir_status take_device(const struct checker *checker, uint32_t node,
                               const struct weir_device *device)
{
    struct weir_check_gpu *const book = gpu_book(checker, node, device->gpu);

    if (book == NULL)
        return weir_fail(checker->error, WEIR_ENOMEM, "out of memory");
    weir_status status = take_instance(checker, book, device);
    if (status == WEIR_OK)
        status = take_amount(checker, &book->units_free, device->units, "GPU");
    if (status == WEIR_OK)
        status = take_bytes(checker, &book->mem_free_bytes, device->mem_bytes, "GPU memory");
    if (status == WEIR_OK)
        status = take_engines(checker, &book->nvdec_free, device->nvdec_mask, "NVDEC");
    if (status == WEIR_OK)
        status = take_engines(checker, &book->nvenc_free, device->nvenc_mask, "NVENC");
    if (status != WEIR_OK)
        weir_error_wrap(checker->error, "GPU %u of node %llu", device->gpu,
                        (unsigned long long)weir_cluster_node(checker->view->cluster, node)->id);
    return status;
}

/* Node and GPUs exist, are listed once and in order. */
static weir_status check_places(const struct checker *checker, const struct weir_alloc *alloc)
{
    const struct weir_cluster *const cluster = checker->view->cluster;

    if (alloc->node >= weir_cluster_node_count(cluster))
        return weir_fail(checker->error, WEIR_EPOLICY, "node index %u of %u", alloc->node,
                         weir_cluster_node_count(cluster));
    const struct weir_node *const node = weir_cluster_node(cluster, alloc->node);
    const unsigned long long id = node->id;
    if ((node->flags & WEIR_NODE_UP) == 0 || (node->flags & WEIR_NODE_CORDONED) != 0)
        return weir_fail(checker->error, WEIR_EPOLICY, "node %llu is down or cordoned", id);
    if (alloc->device_count > WEIR_MAX_DEVICES)
        return weir_fail(checker->error, WEIR_EPOLICY, "lists %u devices, at most %d are possible",
                         alloc->device_count, WEIR_MAX_DEVICES);
    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const uint32_t gpu = alloc->devices[i].gpu;
        if (gpu >= node->gpu_count)
            return weir_fail(checker->error, WEIR_EPOLICY, "node %llu has %u GPUs, not GPU %u", id,
                             node->gpu_count, gpu);
        if (i > 0 && gpu <= alloc->devices[i - 1].gpu)
            return weir_fail(checker->error, WEIR_EPOLICY,
                             "GPU %u of node %llu is listed twice or out of order", gpu, id);
    }
    return WEIR_OK;
}

static weir_status take(const struct checker *checker, const struct weir_alloc *alloc)
{
    WEIR_TRY(check_places(checker, alloc));
    struct weir_check_node *const book = node_book(checker, alloc->node);
    if (book == NULL)
        return weir_fail(checker->error, WEIR_ENOMEM, "out of memory");
    weir_status status = take_amount(checker, &book->cpu_free, alloc->cpu_units, "CPU");
    if (status == WEIR_OK)
        status = take_bytes(checker, &book->ram_free_bytes, alloc->ram_bytes, "memory");
    if (status != WEIR_OK) {
        weir_error_wrap(
            checker->error, "node %llu",
            (unsigned long long)weir_cluster_node(checker->view->cluster, alloc->node)->id);
        return status;
    }
    for (uint32_t i = 0; i < alloc->device_count; i++)
        WEIR_TRY(take_device(checker, alloc->node, &alloc->devices[i]));
    return WEIR_OK;
}

static weir_status give_back(const struct checker *checker, const struct weir_alloc *alloc)
{
    struct weir_check_node *const book = node_book(checker, alloc->node);

    if (book == NULL)
        return weir_fail(checker->error, WEIR_ENOMEM, "out of memory");
    book->cpu_free += alloc->cpu_units;
    book->ram_free_bytes += alloc->ram_bytes;
    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        struct weir_check_gpu *const gpu = gpu_book(checker, alloc->node, device->gpu);
        if (gpu == NULL)
            return weir_fail(checker->error, WEIR_ENOMEM, "out of memory");
        if ((gpu->seen->is_closed & WEIR_GPU_UNHEALTHY) == 0) {
            gpu->units_free += device->units;
            gpu->mem_free_bytes += device->mem_bytes;
            gpu->nvdec_free |= device->nvdec_mask;
            gpu->nvenc_free |= device->nvenc_mask;
        }
        if (device->mig != 0)
            gpu->mig_state.held &=
                ~weir_mig_instance(weir_device_profile(device), weir_device_start(device));
    }
    return WEIR_OK;
}

/* What a rank of the job needs that the action is about; NULL when there is none. */
static const struct weir_shape *rank_shape(const struct checker *checker, uint32_t rank)
{
    const struct weir_jobs *const jobs = checker->view->jobs;

    if (checker->record == WEIR_NO_INDEX)
        return NULL;
    return weir_job_kind_shape(&jobs->kinds[jobs->records[checker->record].kind], rank);
}

/* What the worker that starts needs. */
static const struct weir_shape *shape_of(const struct checker *checker)
{
    const struct weir_action *const action = checker->action;

    if (action->owner.kind == WEIR_OWNER_POOL)
        return &weir_view_pool(checker->view, action->owner.index)->shape;
    return rank_shape(checker, action->rank);
}

static weir_status check_covers(const struct checker *checker, const struct weir_alloc *alloc)
{
    const struct weir_shape *const shape = shape_of(checker);

    if (shape == NULL)
        return weir_fail(checker->error, WEIR_EPOLICY, "nobody knows what it needs");
    return weir_check_covers(checker->view->cluster, shape, alloc, checker->error);
}

/* What the worker holds after the actions so far: false when it does not run. */
static bool find_holding(const struct checker *checker, uint64_t worker, struct weir_worker *held)
{
    const uint32_t last = weir_id_map_get(&checker->books->workers, worker);

    if (last == WEIR_NO_INDEX)
        return weir_cluster_worker(checker->view->cluster, worker, held);
    const struct weir_action *const action =
        weir_plan_stored(checker->store, checker->store->order[last]);
    if (action->verb != WEIR_VERB_START && action->verb != WEIR_VERB_MOVE)
        return false;
    held->id = worker;
    held->owner = action->owner;
    memcpy(&held->alloc, &action->alloc,
           offsetof(struct weir_alloc, devices) +
               action->alloc.device_count * sizeof action->alloc.devices[0]);
    return true;
}

static weir_status remember(const struct checker *checker)
{
    if (weir_id_map_put(&checker->store->allocator, &checker->books->workers,
                        checker->action->worker, checker->index) != WEIR_OK)
        return weir_fail(checker->error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

static weir_status check_pool(const struct checker *checker)
{
    const struct weir_owner *const owner = &checker->action->owner;

    if (owner->kind != WEIR_OWNER_POOL || owner->index >= checker->view->pool_count)
        return weir_fail(checker->error, WEIR_EPOLICY, "stage %u of %u", owner->index,
                         checker->view->pool_count);
    const struct weir_pool_view *const pool = weir_view_pool(checker->view, owner->index);
    if (pool->finished == WEIR_POOL_REMOVED)
        return weir_fail(checker->error, WEIR_EPOLICY, "stage %s was removed", pool->name);
    return WEIR_OK;
}

static weir_status check_job(const struct checker *checker)
{
    const struct weir_owner *const owner = &checker->action->owner;

    if (rank_shape(checker, checker->action->rank) == NULL)
        return weir_fail(checker->error, WEIR_EPOLICY, "there is no rank %u of job %llu",
                         checker->action->rank, (unsigned long long)owner->id);
    return WEIR_OK;
}

static weir_status check_owner(const struct checker *checker)
{
    return checker->action->owner.kind == WEIR_OWNER_JOB ? check_job(checker) : check_pool(checker);
}

/* The ranks of a job start once, together and in order: this is rank 0 of a job that waits or the
 * next rank of the one before. `is_planned`: the pass that made this plan has started it. */
static weir_status check_rank(const struct checker *checker)
{
    const struct weir_action *const action = checker->action;
    const struct weir_action *const first = checker->gang;
    const struct weir_jobs *const jobs = checker->view->jobs;

    if (first != NULL && first != action)
        return action->group == first->group && action->group != 0
                   ? WEIR_OK
                   : weir_fail(checker->error, WEIR_EPOLICY, "is not of the group of rank 0");
    const struct weir_job_record *const job = &jobs->records[checker->record];
    if (job->state != WEIR_JOB_WAITING && weir_jobs_placed(jobs, checker->record)->is_planned == 0)
        return weir_fail(checker->error, WEIR_EPOLICY, "job %llu does not wait",
                         (unsigned long long)job->id);
    uint32_t *const started =
        weir_id_map_at(&checker->store->allocator, &checker->books->jobs, checker->record);
    if (started == NULL)
        return weir_fail(checker->error, WEIR_ENOMEM, "out of memory");
    if (*started != WEIR_NO_INDEX)
        return weir_fail(checker->error, WEIR_EPOLICY, "job %llu starts twice",
                         (unsigned long long)job->id);
    *started = checker->index;
    return weir_licences_take(jobs, checker->record, checker->books->licences_left, checker->error);
}

/* A rank for a job that runs and lacks some: by itself, and no more than it lacks. */
static bool is_growth(const struct checker *checker)
{
    const struct weir_action *const action = checker->action;

    return checker->gang == NULL && action->verb == WEIR_VERB_START &&
           action->owner.kind == WEIR_OWNER_JOB && action->group == 0 && action->rank == 0 &&
           weir_jobs_may_grow(checker->view->jobs, checker->record);
}

static weir_status check_growth(const struct checker *checker)
{
    const struct weir_jobs *const jobs = checker->view->jobs;
    const struct weir_rank_group *const group =
        &jobs->kinds[jobs->records[checker->record].kind].groups[0];
    struct weir_id_map *const grown = &checker->books->jobs;
    const uint32_t before = weir_id_map_get(grown, checker->record);
    const uint32_t more = before == WEIR_NO_INDEX ? 1 : before + 1;

    if (more > group->ranks_max - group->ranks)
        return weir_fail(checker->error, WEIR_EPOLICY, "job %llu has all its %u ranks",
                         (unsigned long long)checker->action->owner.id, group->ranks_max);
    if (weir_id_map_put(&checker->store->allocator, grown, checker->record, more) != WEIR_OK)
        return weir_fail(checker->error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

/* Ranks of a placement group are on one node, or on a node each, where its strategy says so. What
 * they take is in the books. */
static weir_status check_strategy(const struct checker *checker)
{
    const struct weir_action *const action = checker->action;
    const struct weir_jobs *const jobs = checker->view->jobs;
    const uint32_t strategy = jobs->kinds[jobs->records[checker->record].kind].strategy;
    struct weir_check_node *const book = node_book(checker, action->alloc.node);
    const bool is_shared = book->rank > checker->index - action->rank;

    book->rank = checker->index + 1;
    if ((strategy == WEIR_GROUP_STRICT_PACK + 1 && action->rank > 0 && !is_shared) ||
        (strategy == WEIR_GROUP_STRICT_SPREAD + 1 && is_shared))
        return weir_fail(
            checker->error, WEIR_EPOLICY, "node %llu %s: its placement group is %s",
            (unsigned long long)weir_cluster_node(checker->view->cluster, book->node)->id,
            is_shared ? "has another rank" : "is not that of rank 0",
            weir_group_strategy_name(strategy - 1));
    return WEIR_OK;
}

static weir_status check_start(const struct checker *checker)
{
    const struct weir_action *const action = checker->action;
    struct weir_worker held;

    WEIR_TRY(check_owner(checker));
    if (is_growth(checker))
        WEIR_TRY(check_growth(checker));
    else if (action->owner.kind == WEIR_OWNER_JOB)
        WEIR_TRY(check_rank(checker));
    if (find_holding(checker, action->worker, &held))
        return weir_fail(checker->error, WEIR_EPOLICY, "this worker runs already");
    /* Whom the plan has not named and who does not run is new. */
    const bool is_known =
        weir_id_map_get(&checker->books->workers, action->worker) != WEIR_NO_INDEX &&
        weir_cluster_worker(checker->view->cluster, action->worker, &held);
    if (is_known && action->reused == 0)
        return weir_fail(checker->error, WEIR_EPOLICY,
                         "the id belongs to a worker that was "
                         "stopped, and the start is not a reuse");
    if (!is_known && action->reused != 0)
        return weir_fail(checker->error, WEIR_EPOLICY, "reuses a worker that does not exist");
    if (is_known && !weir_owner_is(&held.owner, &action->owner))
        return weir_fail(checker->error, WEIR_EPOLICY, "reuses a worker of another stage (%u)",
                         held.owner.index);
    WEIR_TRY(take(checker, &action->alloc));
    WEIR_TRY(check_covers(checker, &action->alloc));
    if (checker->gang != NULL)
        WEIR_TRY(check_strategy(checker));
    return remember(checker);
}

/* What STOP and MOVE begin with: the worker runs, for the pool named, and frees what it holds. */
static weir_status free_running(const struct checker *checker)
{
    struct weir_worker held;

    if (!find_holding(checker, checker->action->worker, &held))
        return weir_fail(checker->error, WEIR_EPOLICY, "no such worker runs");
    if (!weir_owner_is(&held.owner, &checker->action->owner))
        return weir_fail(checker->error, WEIR_EPOLICY, "the worker belongs to stage %u, not %u",
                         held.owner.index, checker->action->owner.index);
    return give_back(checker, &held.alloc);
}

static weir_status check_stop(const struct checker *checker)
{
    WEIR_TRY(free_running(checker));
    return remember(checker);
}

static weir_status check_move(const struct checker *checker)
{
    WEIR_TRY(check_owner(checker));
    WEIR_TRY(free_running(checker));
    WEIR_TRY(take(checker, &checker->action->alloc));
    WEIR_TRY(check_covers(checker, &checker->action->alloc));
    return remember(checker);
}

static weir_status check_value(const struct checker *checker, int64_t least, int64_t most,
                               const char *what)
{
    const int64_t value = checker->action->value;

    if (value < least || value > most)
        return weir_fail(checker->error, WEIR_EPOLICY, "%s must be within [%lld, %lld], got %lld",
                         what, (long long)least, (long long)most, (long long)value);
    return WEIR_OK;
}

static weir_status check_node(const struct checker *checker)
{
    const uint32_t node = checker->action->node;
    const struct weir_node *const books = weir_cluster_node(checker->view->cluster, node);

    if (books == NULL || books->flags == WEIR_NODE_REMOVED)
        return weir_fail(checker->error, WEIR_EPOLICY, "there is no node %u", node);
    return WEIR_OK;
}

/* A place that a waiting rank reserves is taken for the rest of the plan. */
static weir_status check_reserve(const struct checker *checker)
{
    const struct weir_alloc *const alloc = &checker->action->alloc;

    WEIR_TRY(check_job(checker));
    WEIR_TRY(check_value(checker, checker->view->now_ns, INT64_MAX, "time"));
    if (alloc->device_count == 0 && alloc->cpu_units == 0 && alloc->ram_bytes == 0)
        return WEIR_OK;
    WEIR_TRY(take(checker, alloc));
    return check_covers(checker, alloc);
}

/* A GPU that can be cut, that nothing holds after the actions so far. */
static weir_status check_cut(const struct checker *checker)
{
    const struct weir_action *const action = checker->action;
    const struct weir_cluster *const cluster = checker->view->cluster;

    if (action->node >= weir_cluster_node_count(cluster) ||
        action->gpu >= weir_cluster_node(cluster, action->node)->gpu_count)
        return weir_fail(checker->error, WEIR_EPOLICY, "there is no GPU %u on node %u", action->gpu,
                         action->node);
    struct weir_check_gpu *const book = gpu_book(checker, action->node, action->gpu);
    if (book == NULL)
        return weir_fail(checker->error, WEIR_ENOMEM, "out of memory");
    if (book->seen->mig == NULL)
        return weir_fail(checker->error, WEIR_EPOLICY, "GPU %u of node %u cannot be cut",
                         action->gpu, action->node);
    if (book->mig_state.held != 0)
        return weir_fail(checker->error, WEIR_EPOLICY, "GPU %u of node %u is still held",
                         action->gpu, action->node);
    if (!weir_mig_is_sound(book->seen->mig, (weir_mig_layout)action->value))
        return weir_fail(checker->error, WEIR_EPOLICY, "GPU %u of node %u cannot be cut so",
                         action->gpu, action->node);
    if (book->is_away != 0)
        return weir_fail(checker->error, WEIR_EPOLICY, "GPU %u of node %u is cut twice",
                         action->gpu, action->node);
    book->is_away = 1;
    return WEIR_OK;
}

/* Follows the ranks of a job: WEIR_EPOLICY when another action comes before its last rank, or a
 * rank without those before. */
static weir_status follow_gang(struct checker *checker)
{
    const struct weir_action *const action = checker->action;
    const bool is_rank = action->verb == WEIR_VERB_START && action->owner.kind == WEIR_OWNER_JOB;
    const uint32_t due = checker->rank;

    if (is_growth(checker))
        return WEIR_OK;
    if (checker->gang != NULL &&
        (!is_rank || !weir_owner_is(&action->owner, &checker->gang->owner) || action->rank != due))
        return weir_fail(checker->error, WEIR_EPOLICY, "rank %u of job %llu should start here", due,
                         (unsigned long long)checker->gang->owner.id);
    if (!is_rank)
        return WEIR_OK;
    if (checker->gang == NULL && action->rank != 0)
        return weir_fail(checker->error, WEIR_EPOLICY, "rank 0 of job %llu should start first",
                         (unsigned long long)action->owner.id);
    if (checker->gang == NULL)
        checker->gang = action;
    checker->rank = action->rank + 1;
    return WEIR_OK;
}

/* After a rank: whether it was the last. */
static void close_gang(struct checker *checker)
{
    if (checker->gang != NULL && rank_shape(checker, checker->rank) == NULL)
        checker->gang = NULL;
}

static weir_status free_rank(const struct checker *checker, const struct weir_worker *rank)
{
    if (weir_id_map_get(&checker->books->workers, rank->id) != WEIR_NO_INDEX)
        return weir_fail(checker->error, WEIR_EPOLICY, "worker %llu of it is in the plan already",
                         (unsigned long long)rank->id);
    WEIR_TRY(give_back(checker, &rank->alloc));
    if (weir_id_map_put(&checker->store->allocator, &checker->books->workers, rank->id,
                        checker->index) != WEIR_OK)
        return weir_fail(checker->error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

/* All that a job holds is free for the actions that follow. Ids that its plan gave in a row; of one
 * that was taken over every node is asked. */
static weir_status free_ranks(const struct checker *checker, const struct weir_placed_job *placed)
{
    const struct weir_cluster *const cluster = checker->view->cluster;
    const struct weir_owner *const owner = &checker->action->owner;
    const uint32_t nodes = weir_cluster_node_count(cluster);
    struct weir_worker rank;
    uint32_t found = 0;

    for (uint32_t i = 0; placed->first_worker != UINT64_MAX && rank_shape(checker, i) != NULL; i++)
        found += weir_cluster_worker(cluster, placed->first_worker + i, &rank) &&
                 weir_owner_is(&rank.owner, owner);
    if (found == placed->started) {
        for (uint32_t i = 0; rank_shape(checker, i) != NULL; i++)
            if (weir_cluster_worker(cluster, placed->first_worker + i, &rank) &&
                weir_owner_is(&rank.owner, owner))
                WEIR_TRY(free_rank(checker, &rank));
        return WEIR_OK;
    }
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t cursor = 0;
        while (weir_cluster_node_worker(cluster, n, &cursor, &rank))
            if (weir_owner_is(&rank.owner, owner))
                WEIR_TRY(free_rank(checker, &rank));
    }
    return WEIR_OK;
}

static weir_status check_preempt(const struct checker *checker)
{
    const struct weir_jobs *const jobs = checker->view->jobs;

    if (checker->action->owner.kind != WEIR_OWNER_JOB)
        return check_pool(checker);
    WEIR_TRY(check_value(checker, 0, INT64_MAX, "grace"));
    if (checker->record == WEIR_NO_INDEX ||
        jobs->records[checker->record].state == WEIR_JOB_WAITING ||
        weir_jobs_placed(jobs, checker->record)->started == 0)
        return weir_fail(checker->error, WEIR_EPOLICY, "job %llu holds nothing",
                         (unsigned long long)checker->action->owner.id);
    const struct weir_placed_job *const placed = weir_jobs_placed(jobs, checker->record);
    if (checker->action->value > 0)
        return WEIR_OK;
    weir_licences_give_back(jobs, checker->record, checker->books->licences_left);
    return free_ranks(checker, placed);
}

static weir_status check_action(const struct checker *checker)
{
    switch ((enum weir_verb)checker->action->verb) {
    case WEIR_VERB_START:
        return check_start(checker);
    case WEIR_VERB_STOP:
        return check_stop(checker);
    case WEIR_VERB_MOVE:
        return check_move(checker);
    case WEIR_VERB_SET_SLOTS:
        WEIR_TRY(check_pool(checker));
        return check_value(checker, 1, UINT32_MAX, "slots");
    case WEIR_VERB_RESIZE:
        WEIR_TRY(check_owner(checker));
        return check_value(checker, 0, UINT32_MAX, "ranks");
    case WEIR_VERB_ADMIT:
        return check_owner(checker);
    case WEIR_VERB_PREEMPT:
        return check_preempt(checker);
    case WEIR_VERB_REQUEST_NODE:
        return check_value(checker, 0, UINT32_MAX, "node type");
    case WEIR_VERB_RELEASE_NODE:
        return check_node(checker);
    case WEIR_VERB_WAKE:
        return check_value(checker, checker->view->now_ns, INT64_MAX, "time");
    case WEIR_VERB_DENY:
        if (checker->action->reason >= WEIR_REASON_COUNT)
            return weir_fail(checker->error, WEIR_EPOLICY, "unknown reason %u",
                             checker->action->reason);
        return check_owner(checker);
    case WEIR_VERB_RESERVE:
        return check_reserve(checker);
    case WEIR_VERB_CUT:
        return check_cut(checker);
    case WEIR_VERB_ANNOTATE:
        return WEIR_OK;
    case WEIR_VERB_COUNT:
        break;
    }
    return weir_fail(checker->error, WEIR_EPOLICY, "unknown verb %u", checker->action->verb);
}

static uint32_t find_job(const struct checker *checker)
{
    const struct weir_owner *const owner = &checker->action->owner;

    return owner->kind == WEIR_OWNER_JOB && checker->view->jobs != NULL
               ? weir_jobs_find(checker->view->jobs, owner->index, owner->id)
               : WEIR_NO_INDEX;
}

static void open_books(struct weir_check *books)
{
    weir_id_map_clear(&books->node_map);
    weir_id_map_clear(&books->gpu_map);
    weir_id_map_clear(&books->workers);
    weir_id_map_clear(&books->jobs);
    books->node_count = 0;
    books->gpu_count = 0;
}

weir_status weir_plan_check(const struct weir_plan *plan, const struct weir_view *view,
                            struct weir_error *error)
{
    if (plan == NULL || view == NULL)
        return weir_fail(error, WEIR_EINVAL, "no plan or no view");
    struct checker checker = {
        .store = plan->store, .books = &plan->store->check, .view = view, .error = error
    };
    const uint32_t count = weir_plan_settle(plan);

    if (weir_cluster_broken(view->cluster) > 0)
        return weir_fail(error, WEIR_EINVARIANT, "the inventory is broken: %u invariants of it",
                         weir_cluster_broken(view->cluster));
    open_books(checker.books);
    weir_licences_open_check(plan, view, checker.books->licences_left);
    for (uint32_t i = 0; i < count; i++) {
        checker.index = i;
        checker.action = weir_plan_settled(plan, i);
        checker.record = find_job(&checker);
        weir_status status = follow_gang(&checker);
        if (status == WEIR_OK)
            status = check_action(&checker);
        if (status == WEIR_ENOMEM)
            return status;
        if (status != WEIR_OK)
            return reject(&checker);
        close_gang(&checker);
    }
    if (checker.gang == NULL)
        return WEIR_OK;
    return weir_fail(error, WEIR_EPOLICY, "rank %u of job %llu does not start", checker.rank,
                     (unsigned long long)checker.gang->owner.id);
}
