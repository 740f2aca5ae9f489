/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes on their way; see the header. */
#include "sim/worker/move.h"

#include "sim/cluster/link.h"

static struct sim_way way_of(const struct sim_move *move)
{
    return (struct sim_way){
        .from = move->from, .to = move->to, .store = move->store, .traffic = move->traffic
    };
}

static void arrive(const struct sim_context *context, const struct sim_move *move)
{
    const int64_t now_ns = sim_engine_now(context->engine);
    const enum sim_moved kind = move->store == WEIR_NO_INDEX ? SIM_MOVED_BETWEEN
                                : move->to == WEIR_NO_INDEX  ? SIM_MOVED_WRITTEN
                                                             : SIM_MOVED_READ;
    sim_meter_moved(context->meter, now_ns, kind, move->bytes, now_ns - move->start_ns);
}

/* The bytes themselves. */
static weir_status carry(const struct sim_context *context, struct sim_move *move)
{
    const struct sim_way way = way_of(move);
    struct sim_activity_spec spec = sim_transfer_spec(context->cluster, &way, move->bytes);
    move->is_delayed = false;
    if (spec.resources == 0 || spec.work == 0) {
        arrive(context, move);
        return WEIR_OK;
    }
    spec.owner = move->owner;
    WEIR_TRY(sim_activity_start(context->activities, &spec, &move->work, context->error));
    return sim_links_begun(context->cluster, &way, move->bytes, move->work);
}

weir_status sim_move_begin(const struct sim_context *context, struct sim_move *move)
{
    const struct sim_way way = way_of(move);
    const int64_t delay_ns = sim_way_delay_ns(context->cluster, &way, move->items);
    move->start_ns = sim_engine_now(context->engine);
    move->work = SIM_NO_HANDLE;
    if (delay_ns == 0)
        return carry(context, move);
    const struct sim_activity_spec wait = { .work = sim_work_of_ns(delay_ns, SIM_DEVICE_QPNS),
                                            .cap_qpns = SIM_DEVICE_QPNS,
                                            .owner = move->owner,
                                            .weight = 1 };
    move->is_delayed = true;
    return sim_activity_start(context->activities, &wait, &move->work, context->error);
}

weir_status sim_move_worked(const struct sim_context *context, struct sim_move *move)
{
    const struct sim_way way = way_of(move);
    const sim_handle work = move->work;
    move->work = SIM_NO_HANDLE;
    if (move->is_delayed)
        return carry(context, move);
    WEIR_TRY(sim_links_over(context->cluster, &way, move->bytes, work, 0));
    arrive(context, move);
    return WEIR_OK;
}

weir_status sim_move_drop(const struct sim_context *context, struct sim_move *move)
{
    const struct sim_way way = way_of(move);
    const sim_handle work = move->work;
    sim_quanta left = 0;
    if (!sim_move_is_under_way(move))
        return WEIR_OK;
    (void)sim_activity_stop(context->activities, work, &left);
    move->work = SIM_NO_HANDLE;
    return move->is_delayed ? WEIR_OK
                            : sim_links_over(context->cluster, &way, move->bytes, work, left);
}
