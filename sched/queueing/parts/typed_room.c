/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of the GPUs that jobs insist on (see typed_room.h). */
#include "sched/queueing/parts/typed_room.h"

#include "sched/internal/alloc.h"

void weir_typed_open(struct weir_typed_room *room, const struct weir_allocator *allocator)
{
    *room = (struct weir_typed_room){ .allocator = *allocator };
}

void weir_typed_forget(struct weir_typed_room *room)
{
    while (room->count > 0)
        weir_profile_close(&room->all[--room->count].profile);
}

void weir_typed_close(struct weir_typed_room *room)
{
    weir_typed_forget(room);
    weir_free(&room->allocator, room->all);
}

/* ---- what jobs insist on ---- */

/* 0 = any. */
static uint32_t accepted_by(const struct weir_job *job)
{
    for (uint32_t g = 0; g < job->group_count; g++)
        if (job->groups[g].shape.gpu_count > 0 && job->groups[g].shape.gpu_type != 0)
            return job->groups[g].shape.gpu_type;
    return 0;
}

static int64_t units_of(const struct weir_job *job, uint32_t accepted)
{
    int64_t units = 0;

    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct weir_shape *const shape = &job->groups[g].shape;
        if (shape->gpu_type == accepted && shape->kind != WEIR_SHAPE_SLICE)
            units += shape->gpu_units * shape->gpu_count * job->groups[g].ranks;
    }
    return units;
}

bool weir_typed_find_need(const struct weir_typed_room *room, const struct weir_job *job,
                          struct weir_typed_need *need)
{
    const uint32_t accepted = accepted_by(job);

    *need = (struct weir_typed_need){ 0 };
    for (uint32_t i = 0; accepted != 0 && i < room->count; i++)
        if (room->all[i].accepted == accepted)
            *need = (struct weir_typed_need){ i + 1, units_of(job, accepted) };
    return accepted == 0 || need->place != 0;
}

weir_status weir_typed_add_need(struct weir_typed_room *room, const struct weir_job *job)
{
    struct weir_typed_need need;

    if (weir_typed_find_need(room, job, &need))
        return WEIR_OK;
    WEIR_ROOM(&room->allocator, room->all, room->capacity, room->count + 1);
    struct weir_typed_profile *const made = &room->all[room->count];
    made->accepted = accepted_by(job);
    weir_profile_open(&made->profile, &room->allocator);
    const weir_status status = weir_profile_begin(&made->profile, 0, (struct weir_room){ 0 });
    if (status == WEIR_OK)
        room->count++;
    else
        weir_profile_close(&made->profile);
    return status;
}

/* ---- drawing ---- */

static bool takes(const struct weir_typed_profile *typed, const struct weir_gpu *gpu)
{
    const struct weir_shape shape = { .gpu_type = typed->accepted };

    return weir_shape_takes_type(&shape, gpu->type);
}

static void note_types(struct weir_typed_room *room, const struct weir_cluster *cluster)
{
    const uint32_t nodes = weir_cluster_node_count(cluster);

    room->types = 0;
    for (uint32_t n = 0; n < nodes; n++)
        for (uint32_t g = 0; g < weir_cluster_node(cluster, n)->gpu_count; g++)
            if (weir_cluster_gpu(cluster, n, g)->type < WEIR_GPU_TYPE_SET_MOST)
                room->types |= UINT32_C(1) << weir_cluster_gpu(cluster, n, g)->type;
}

static int64_t free_now(const struct weir_typed_profile *typed, const struct weir_cluster *cluster)
{
    const uint32_t nodes = weir_cluster_node_count(cluster);
    int64_t units = 0;

    for (uint32_t n = 0; n < nodes; n++) {
        const struct weir_node *const node = weir_cluster_node(cluster, n);
        if ((node->flags & WEIR_NODE_UP) == 0 || (node->flags & WEIR_NODE_CORDONED) != 0)
            continue;
        for (uint32_t g = 0; g < node->gpu_count; g++) {
            const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, n, g);
            units += takes(typed, gpu) ? gpu->units_free : 0;
        }
    }
    return units;
}

/* What it holds is free when its job is expected to end. */
static weir_status lift(struct weir_typed_room *room, const struct weir_view *view,
                        const struct weir_cluster *cluster, const struct weir_worker *worker)
{
    struct weir_job job = { .size = sizeof job };

    if (worker->owner.kind != WEIR_OWNER_JOB ||
        !weir_view_job(view, worker->owner.index, worker->owner.id, &job) ||
        job.state == WEIR_JOB_WAITING)
        return WEIR_OK;
    const int64_t end_ns = weir_job_end_ns(&job, view->now_ns);
    for (uint32_t i = 0; end_ns != INT64_MAX && i < room->count; i++) {
        struct weir_room held = { 0 };
        for (uint32_t d = 0; d < worker->alloc.device_count; d++) {
            const struct weir_device *const device = &worker->alloc.devices[d];
            if (takes(&room->all[i], weir_cluster_gpu(cluster, worker->alloc.node, device->gpu)))
                held.gpu_units += device->units;
        }
        if (held.gpu_units > 0)
            WEIR_TRY(weir_profile_add(&room->all[i].profile, end_ns, INT64_MAX, held));
    }
    return WEIR_OK;
}

weir_status weir_typed_draw(struct weir_typed_room *room, const struct weir_view *view,
                            const struct weir_cluster *cluster)
{
    const uint32_t nodes = room->count == 0 ? 0 : weir_cluster_node_count(cluster);
    struct weir_worker worker;

    if (room->count > 0)
        note_types(room, cluster);
    for (uint32_t i = 0; i < room->count; i++)
        WEIR_TRY(weir_profile_begin(&room->all[i].profile, view->now_ns,
                                    (struct weir_room){ free_now(&room->all[i], cluster), 0 }));
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t cursor = 0;
        while (weir_cluster_node_worker(cluster, n, &cursor, &worker))
            WEIR_TRY(lift(room, view, cluster, &worker));
    }
    return WEIR_OK;
}

/* ---- changes and questions ---- */

void weir_typed_advance(struct weir_typed_room *room, int64_t now_ns)
{
    for (uint32_t i = 0; i < room->count; i++)
        weir_profile_advance(&room->all[i].profile, now_ns);
}

weir_status weir_typed_change(struct weir_typed_room *room, const struct weir_typed_need *need,
                              int64_t from_ns, int64_t to_ns, int sign)
{
    if (need->place == 0)
        return WEIR_OK;
    return weir_profile_add(&room->all[need->place - 1].profile, from_ns, to_ns,
                            (struct weir_room){ sign * need->gpu_units, 0 });
}

int64_t weir_typed_find(const struct weir_typed_room *room, const struct weir_typed_need *need,
                        int64_t from_ns, int64_t duration_ns)
{
    if (need->place == 0)
        return from_ns;
    return weir_profile_find_from(&room->all[need->place - 1].profile, from_ns,
                                  (struct weir_room){ need->gpu_units, 0 }, duration_ns);
}

/* ---- starting ---- */

/* Bit i for type i. */
static uint32_t types_of(const struct weir_typed_room *room, uint32_t accepted)
{
    if (accepted == 0)
        return room->types;
    return (accepted & WEIR_GPU_TYPE_SET) != 0 ? accepted & ~WEIR_GPU_TYPE_SET
                                               : UINT32_C(1) << (accepted - 1);
}

static int64_t gpu_units(const struct weir_job *job)
{
    int64_t units = 0;

    for (uint32_t g = 0; g < job->group_count; g++)
        if (job->groups[g].shape.kind != WEIR_SHAPE_SLICE)
            units += job->groups[g].shape.gpu_units * job->groups[g].shape.gpu_count *
                     job->groups[g].ranks;
    return units;
}

/* Types of which others have reserved too much for this job to have all it needs of them. */
static uint32_t short_types(const struct weir_typed_room *room, const struct weir_job *job,
                            int64_t now_ns)
{
    const uint32_t accepted = accepted_by(job);
    const uint32_t mine = types_of(room, accepted);
    const struct weir_room need = { gpu_units(job), 0 };
    const int64_t left_ns = weir_job_left_ns(job);
    uint32_t types = 0;

    for (uint32_t i = 0; need.gpu_units > 0 && i < room->count; i++) {
        const uint32_t others = types_of(room, room->all[i].accepted);
        if (room->all[i].accepted != accepted && (mine & others) != 0 &&
            weir_profile_find_from(&room->all[i].profile, now_ns, need, left_ns) > now_ns)
            types |= others;
    }
    return types;
}

weir_status weir_typed_start(const struct weir_typed_room *room, struct weir_placer *placer,
                             const struct weir_job *job, int64_t now_ns, struct weir_error *error)
{
    const uint32_t avoided = room->count == 0 ? 0 : short_types(room, job, now_ns);
    const uint32_t types = types_of(room, accepted_by(job)) & ~avoided;

    if (avoided == 0)
        return weir_placer_start_job(placer, job->workload, job->id, error);
    if (types == 0)
        return WEIR_EBUSY;
    const weir_status status =
        weir_placer_start_job_on(placer, job->workload, job->id, WEIR_GPU_TYPE_SET | types, error);
    return status == WEIR_EUNSUPPORTED ? WEIR_EBUSY : status;
}
