/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Service times (see service.h and struct sim_service). */
#include "sim/pipeline/service.h"

#include "sim/pipeline/batching.h"

#include <math.h>

static double mean_size(const struct sim_task *task)
{
    double sum = 0;
    for (uint32_t i = task->head, n = 0; n < task->count; n++, i = task->slab->items[i].next)
        sum += task->slab->items[i].size;
    return sum / task->count;
}

/* Nearest point of the table: same GPU type (or any) first, then batch, then size. */
static double table_s(const struct sim_service *service, uint32_t gpu_type, double batch,
                      double size)
{
    double best_distance = (double)INFINITY;
    double seconds = (double)NAN;
    for (size_t i = 0; i < service->table_count; i++) {
        const struct sim_service_point *point = &service->table[i];
        const double type_cost =
            point->gpu_type == gpu_type ? 0.0 : (point->gpu_type == WEIR_NO_INDEX ? 1e6 : 1e12);
        const double distance =
            type_cost + 1e3 * fabs(point->batch - batch) + fabs(point->size - size);
        if (distance < best_distance) {
            best_distance = distance;
            seconds = point->seconds;
        }
    }
    return seconds;
}

static double formula_s(const struct sim_service *service, double law, double size, uint32_t batch)
{
    return law * (service->scale_by_size ? size : 1.0) + service->per_size_s * size * batch +
           service->base_s + service->per_item_s * batch;
}

/* A factor stated for the type wins. */
static double device_factor(const struct sim_stage_run *stage, const struct sim_worker *worker)
{
    const double *factors = stage->spec->service.gpu_factor;
    const uint32_t type = worker->gpu_type;
    if (type != WEIR_NO_INDEX && factors != NULL && !isnan(factors[type]))
        return factors[type];
    if (stage->spec->speed.on_type == NULL)
        return 1.0;
    return 1.0 / sim_speed_at(&stage->spec->speed, type,
                              sim_worker_part(stage->pipeline->config.workers, worker));
}

/* Items are sessions, and no session is faster than an engine. WEIR_NO_INDEX = the fastest type. */
static double codec_s(const struct sim_codec_work *work, uint32_t gpu_type, double size,
                      uint32_t batch)
{
    if (work->seconds == NULL)
        return 0;
    const double seconds = gpu_type == WEIR_NO_INDEX ? work->fastest_s : work->seconds[gpu_type];
    const uint32_t sessions = batch < work->engines ? batch : work->engines;
    return seconds * size * batch / sessions;
}

static double codecs_s(const struct sim_service *service, uint32_t gpu_type, double size,
                       uint32_t batch)
{
    return codec_s(&service->decode, gpu_type, size, batch) +
           codec_s(&service->encode, gpu_type, size, batch);
}

static double draw_law(const struct sim_stage_run *stage, const struct sim_item *item)
{
    const struct sim_stream_key key = { item->id, 0, item->attempt };
    return sim_law_draw_of(stage->spec->service.law, &stage->random, SIM_DRAW_SERVICE, key) *
           stage->mean_factor;
}

struct sim_service_time sim_service_draw(const struct sim_stage_run *stage,
                                         const struct sim_task *task,
                                         const struct sim_worker *worker)
{
    const struct sim_service *service = &stage->spec->service;
    const struct sim_item *first = &task->slab->items[task->head];
    const double law = draw_law(stage, first);
    const double size = task->count == 1 ? first->size : mean_size(task);
    const uint32_t batch = sim_batching_items(stage, task->head, task->count);
    const double class_factor =
        service->class_factor == NULL ? 1.0 : service->class_factor[first->item_class];
    struct sim_service_time time;
    if (service->table_count > 0) {
        time.demand_s = law * class_factor * table_s(service, WEIR_NO_INDEX, batch, size);
        time.actual_s = law * class_factor * table_s(service, worker->gpu_type, batch, size);
    } else {
        time.demand_s = formula_s(service, law, size, batch) * class_factor;
        time.actual_s = time.demand_s * device_factor(stage, worker);
    }
    time.demand_s += class_factor * codecs_s(service, WEIR_NO_INDEX, size, batch);
    time.actual_s += class_factor * codecs_s(service, worker->gpu_type, size, batch);
    return time;
}

uint32_t sim_service_returns(const struct sim_stage_run *stage, const struct sim_item *item)
{
    const struct sim_law *law = stage->spec->returns;
    if (law == NULL)
        return 1;
    if (law->distribution->is_certain) {
        const double certain = sim_law_draw(law, NULL);
        const uint32_t whole = certain < 1e6 ? (uint32_t)certain : 1000000;
        if (!(certain > whole))
            return whole;
    }
    struct sim_stream stream;
    const struct sim_stream_key key = { item->id, 0, item->attempt };
    sim_stream_open(&stream, &stage->random, SIM_DRAW_RETURNS, key);
    const double drawn = sim_law_draw(law, &stream);
    const double whole = floor(drawn);
    const double part = drawn - whole;
    const bool up = part > 0.0 && sim_stream_uniform(&stream) < part;
    return (uint32_t)fmin(whole + (up ? 1.0 : 0.0), 1e6);
}

double sim_service_bytes(const struct sim_stage_run *stage, const struct sim_item *item)
{
    if (stage->spec->bytes_out == NULL)
        return 0.0;
    const struct sim_stream_key key = { item->id, 0, item->attempt };
    return sim_law_draw_of(stage->spec->bytes_out, &stage->random, SIM_DRAW_BYTES, key);
}

double sim_service_setup_s(const struct sim_stage_run *stage, uint32_t ordinal)
{
    const struct sim_law *const parts[] = { stage->spec->setup, stage->spec->compile,
                                            stage->spec->warm_up };
    double sum = 0;
    for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct sim_stream_key key = { ordinal, i, 0 };
        if (parts[i] == NULL)
            continue;
        sum += sim_law_draw_of(parts[i], &stage->random, SIM_DRAW_SETUP, key) * stage->setup_slow;
    }
    return sum;
}

double sim_service_node_setup_s(const struct sim_stage_run *stage, uint32_t node)
{
    const struct sim_stream_key key =
        sim_scenario_node_key(stage->pipeline->context->scenario, node, 0);
    return sim_law_draw_of(stage->spec->setup_on_node, &stage->random, SIM_DRAW_NODE_SETUP, key) *
           stage->setup_slow;
}

double sim_service_mean_s(const struct sim_stage *stage, double size)
{
    const struct sim_service *service = &stage->service;
    const double law = sim_law_mean(service->law);
    const double codecs = codecs_s(service, WEIR_NO_INDEX, size, stage->batch);
    if (service->table_count > 0)
        return law * table_s(service, WEIR_NO_INDEX, stage->batch, size) + codecs;
    return formula_s(service, law, size, stage->batch) + codecs;
}

double sim_input_mean_size(const struct sim_input *input)
{
    double mean = 0;
    for (size_t i = 0; i < input->classes_count; i++)
        mean += input->classes[i].weight *
                (input->classes[i].size == NULL ? 1.0 : sim_law_mean(input->classes[i].size));
    return mean;
}
