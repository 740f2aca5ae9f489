/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pass of version P, exact and plain (see oracle_pass.h): the pool, the phases, the answer. */
#include "tests/replay/oracle_pass_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static double number(const json_t *object, const char *key, double fallback)
{
    const json_t *const value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : fallback;
}

/* Nothing that is asked about is larger. */
static int64_t units(double amount)
{
    return llround(fmin(fmax(amount, -1e9), 1e9) * ORACLE_ONE);
}

static uint32_t count(const json_t *object, const char *key, double fallback)
{
    return (uint32_t)fmin(fmax(number(object, key, fallback), 0), 1e6);
}

static const char *text(const json_t *object, const char *key)
{
    const char *const value = json_string_value(json_object_get(object, key));

    return value != NULL ? value : "";
}

static void *grow(void *list, size_t count, size_t size)
{
    void *const larger = realloc(list, (count + 1) * size);

    if (larger == NULL)
        abort();
    return larger;
}

static void append(struct oracle_workers *workers, const struct oracle_worker *worker)
{
    if (workers->count == workers->capacity) {
        workers->capacity = workers->capacity * 2 + 8;
        workers->list = grow(workers->list, workers->capacity, sizeof *workers->list);
    }
    workers->list[workers->count++] = *worker;
}

static struct oracle_worker take_out(struct oracle_workers *workers, uint32_t index)
{
    const struct oracle_worker worker = workers->list[index];

    workers->count--;
    memmove(&workers->list[index], &workers->list[index + 1],
            (workers->count - index) * sizeof worker);
    return worker;
}

static bool read_shape(const json_t *json, struct oracle_shape *shape)
{
    static const char *const kinds[] = { "cpu_only", "codec", "fractional_gpu", "whole_gpu",
                                         "entire_gpu" };
    uint32_t kind = 0;

    while (kind < 5 && strcmp(kinds[kind], text(json, "type")) != 0)
        kind++;
    *shape = (struct oracle_shape){ .kind = (enum oracle_kind)kind,
                                    .cpus = units(number(json, "cpus", 0)),
                                    .decs = count(json, "nvdecs", 0),
                                    .encs = count(json, "nvencs", 0) };
    if (kind >= ORACLE_SHARE) {
        shape->units = kind == ORACLE_SHARE ? units(number(json, "gpus", 0)) : ORACLE_ONE;
        shape->count = kind == ORACLE_SHARE ? 1 : count(json, "gpus", 0);
    }
    return kind < 5 && shape->count <= ORACLE_MOST_GPUS;
}

static uint32_t bits(uint32_t engines)
{
    return engines >= 32 ? UINT32_MAX : (UINT32_C(1) << engines) - 1;
}

static bool read_node(const json_t *json, struct oracle_node *node)
{
    const json_t *const list = json_object_get(json, "gpu_list");

    *node = (struct oracle_node){ .id = text(json, "id"),
                                  .cpus = units(number(json, "cpus", 0)),
                                  .count = json_is_array(list) ? (uint32_t)json_array_size(list)
                                                               : count(json, "gpus", 0) };
    if (node->count > ORACLE_MOST_GPUS) {
        node->count = 0;
        return false;
    }
    node->gpus = grow(NULL, node->count, sizeof *node->gpus);
    for (uint32_t g = 0; g < node->count; g++) {
        const json_t *const gpu = json_array_get(list, g);
        const uint32_t decs =
            bits(gpu != NULL ? count(gpu, "nvdecs", 0) : count(json, "nvdecs_per_gpu", 0));
        const uint32_t encs =
            bits(gpu != NULL ? count(gpu, "nvencs", 0) : count(json, "nvencs_per_gpu", 0));
        node->gpus[g] = (struct oracle_gpu){ .units = units(number(gpu, "fraction", 1)),
                                             .decs = decs,
                                             .encs = encs,
                                             .all_decs = decs,
                                             .all_encs = encs };
    }
    return true;
}

static bool read_stage(const json_t *input, uint32_t i, struct oracle_stage *stage)
{
    const json_t *const json = json_array_get(json_object_get(input, "stages"), i);
    const json_t *const estimate = json_array_get(json_object_get(input, "estimates"), i);
    const json_t *const slots = json_array_get(json_object_get(input, "slots"), i);
    const double factor = number(json, "over_provision_factor", 0);

    stage->requested = json_is_number(json_object_get(json, "requested_workers"))
                           ? (int64_t)count(json, "requested_workers", 0)
                           : -1;
    stage->batch = number(json, "batch_size", 1);
    stage->is_measured = json_is_number(json_object_get(estimate, "batches_per_s"));
    stage->speed = number(estimate, "batches_per_s", 1);
    if (stage->is_measured && factor > 0)
        stage->speed /= factor;
    stage->returns = number(estimate, "returns_per_batch", 0);
    if (!(stage->returns > 0))
        stage->returns = stage->batch;
    stage->slots = json_is_integer(slots) ? (uint32_t)json_integer_value(slots) : 2;
    return read_shape(json_object_get(json, "shape"), &stage->shape);
}

static struct oracle_part *part_of(struct oracle_place *place, uint32_t gpu)
{
    for (uint32_t i = 0; i < place->count; i++) {
        if (place->parts[i].gpu == gpu)
            return &place->parts[i];
    }
    place->parts[place->count] = (struct oracle_part){ .gpu = gpu };
    return &place->parts[place->count++];
}

static bool read_worker(struct oracle_state *state, const json_t *json)
{
    static const char *const keys[] = { "gpus", "nvdecs", "nvencs" };
    struct oracle_worker worker = { .id = text(json, "id"),
                                    .place.cpus = units(number(json, "cpus", 0)) };

    while (worker.place.node < state->node_count &&
           strcmp(state->nodes[worker.place.node].id, text(json, "node")) != 0)
        worker.place.node++;
    if (worker.place.node == state->node_count)
        return false;
    for (size_t k = 0; k < 3; k++) {
        const json_t *const list = json_object_get(json, keys[k]);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *const entry = json_array_get(list, i);
            const double gpu = number(entry, "gpu", -1);
            if (!(gpu >= 0 && gpu < state->nodes[worker.place.node].count))
                return false;
            struct oracle_part *const part = part_of(&worker.place, (uint32_t)gpu);
            const uint32_t bit = UINT32_C(1) << (count(entry, "index", 0) & 31);
            part->units += k == 0 ? units(number(entry, "fraction", 0)) : 0;
            part->decs |= k == 1 ? bit : 0;
            part->encs |= k == 2 ? bit : 0;
        }
    }
    if (!oracle_fits(state, &worker.place))
        return false;
    oracle_take(state, &worker.place, 1);
    for (uint32_t s = 0; s < state->stage_count; s++) {
        if (strcmp(text(json, "stage"), state->stages[s].name) == 0) {
            append(&state->stages[s].workers, &worker);
            return true;
        }
    }
    return false;
}

/* Source items per second, multiplied in the order of the original: equal throughputs of two stages
 * are common, and its rounding decides them. */
static double throughput(const struct oracle_stage *stage, uint32_t workers)
{
    return workers * stage->speed * stage->ratio * stage->batch;
}

/* False when the question is beyond us. */
static bool read_state(const json_t *input, struct oracle_state *state)
{
    const json_t *const nodes = json_object_get(input, "nodes");
    const json_t *const stages = json_object_get(input, "stages");
    const json_t *const workers = json_object_get(input, "workers");
    double ratio = 1;
    bool is_known = true;

    state->target = number(input, "overallocation_target", 1.5);
    state->node_count = (uint32_t)json_array_size(nodes);
    state->stage_count = (uint32_t)json_array_size(stages);
    state->nodes = calloc(state->node_count + 1, sizeof *state->nodes);
    state->stages = calloc(state->stage_count + 1, sizeof *state->stages);
    state->weights = calloc(state->stage_count + 1, sizeof *state->weights);
    if (state->nodes == NULL || state->stages == NULL || state->weights == NULL)
        abort();
    for (uint32_t i = 0; i < state->node_count; i++)
        is_known = read_node(json_array_get(nodes, i), &state->nodes[i]) && is_known;
    for (uint32_t i = 0; i < state->stage_count; i++) {
        struct oracle_stage *const stage = &state->stages[i];
        is_known = read_stage(input, i, stage) && is_known;
        stage->name = text(json_array_get(stages, i), "name");
        stage->ratio = ratio;
        stage->rate = throughput(stage, 1);
        ratio = ratio * stage->batch / stage->returns;
    }
    for (size_t i = 0; is_known && i < json_array_size(workers); i++)
        is_known = read_worker(state, json_array_get(workers, i));
    return is_known;
}

static void free_state(struct oracle_state *state)
{
    for (uint32_t i = 0; state->nodes != NULL && i < state->node_count; i++)
        free(state->nodes[i].gpus);
    for (uint32_t i = 0; state->stages != NULL && i < state->stage_count; i++) {
        free(state->stages[i].workers.list);
        free(state->stages[i].removed.list);
    }
    free(state->nodes);
    free(state->stages);
    free(state->weights);
}

/* ---- phase 0: the pool ---- */

/* CPUs, GPUs, decoders, encoders. */
struct sums {
    int64_t of[4];
};

static struct sums total_of(const struct oracle_state *state)
{
    struct sums sums = { { 0 } };

    for (uint32_t n = 0; n < state->node_count; n++) {
        sums.of[0] += state->nodes[n].cpus;
        for (uint32_t g = 0; g < state->nodes[n].count; g++) {
            sums.of[1] += state->nodes[n].gpus[g].units;
            sums.of[2] += __builtin_popcount(state->nodes[n].gpus[g].all_decs);
            sums.of[3] += __builtin_popcount(state->nodes[n].gpus[g].all_encs);
        }
    }
    for (uint32_t s = 0; s < state->stage_count; s++) { /* what workers hold belongs to the pool */
        const struct oracle_workers *const workers = &state->stages[s].workers;
        for (uint32_t i = 0; i < workers->count; i++) {
            sums.of[0] += workers->list[i].place.cpus;
            for (uint32_t p = 0; p < workers->list[i].place.count; p++)
                sums.of[1] += workers->list[i].place.parts[p].units;
        }
    }
    return sums;
}

static struct sums need_of(const struct oracle_shape *shape, const struct sums *total)
{
    const int64_t gpus = total->of[1] / ORACLE_ONE;
    const bool is_entire = shape->kind == ORACLE_ENTIRE;
    const int64_t each = shape->kind == ORACLE_CODEC ? 1 : shape->count;

    return (struct sums){ { shape->cpus, shape->units * shape->count,
                            each * (is_entire && gpus > 0 ? total->of[2] / gpus : shape->decs),
                            each * (is_entire && gpus > 0 ? total->of[3] / gpus : shape->encs) } };
}

static bool fits_pool(const struct oracle_state *state, const struct sums *total)
{
    struct sums used = { { 0 } };

    for (uint32_t i = 0; i < state->stage_count; i++) {
        const struct sums need = need_of(&state->stages[i].shape, total);
        for (size_t k = 0; k < 4; k++)
            used.of[k] += need.of[k] * state->stages[i].optimum;
    }
    for (size_t k = 0; k < 4; k++) {
        if (used.of[k] > total->of[k])
            return false;
    }
    return true;
}

/* Throughput of the slowest automatic stage; INFINITY without any. */
static double slowest(const struct oracle_state *state)
{
    double least = (double)INFINITY;

    for (uint32_t i = 0; i < state->stage_count; i++) {
        if (state->stages[i].requested < 0)
            least = fmin(least, state->stages[i].optimum * state->stages[i].rate);
    }
    return least;
}

/* z - 0.001 times how far all are above z. */
static double objective(const struct oracle_state *state)
{
    const double z = slowest(state);
    double above = 0;

    for (uint32_t i = 0; i < state->stage_count; i++) {
        if (state->stages[i].requested < 0)
            above += state->stages[i].optimum * state->stages[i].rate - z;
    }
    return z - 0.001 * above;
}

/* Raises the slowest stages together until the pool is full; the best on the way is kept. */
static void sweep(struct oracle_state *state, const struct sums *total)
{
    double best = 0;
    bool is_first = true;

    while (fits_pool(state, total)) {
        const double z = slowest(state);
        if (is_first || isinf(z) || objective(state) > best + 1e-12 * fabs(best)) {
            best = objective(state);
            is_first = false;
            for (uint32_t i = 0; i < state->stage_count; i++)
                state->weights[i] = state->stages[i].optimum;
        }
        if (isinf(z))
            break;
        for (uint32_t i = 0; i < state->stage_count; i++) {
            struct oracle_stage *const stage = &state->stages[i];
            if (stage->requested < 0 && stage->optimum * stage->rate <= z * (1 + 1e-12))
                stage->optimum++;
        }
    }
    for (uint32_t i = 0; i < state->stage_count; i++)
        state->stages[i].optimum = (uint32_t)state->weights[i];
}

/* NULL, or the name of the status. */
static const char *solve_pool(struct oracle_state *state, const json_t *given)
{
    const struct sums total = total_of(state);

    for (uint32_t i = 0; i < state->stage_count; i++) {
        struct oracle_stage *const stage = &state->stages[i];
        if (!(stage->speed > 0))
            return "WEIR_EINVAL";
        stage->optimum = stage->requested >= 0 ? (uint32_t)stage->requested : 1;
        if (given != NULL)
            stage->optimum = (uint32_t)json_integer_value(json_array_get(given, i));
    }
    if (given == NULL && !fits_pool(state, &total))
        return "WEIR_EINFEASIBLE";
    if (given == NULL)
        sweep(state, &total);
    int64_t sum = 0;
    for (uint32_t i = 0; i < state->stage_count; i++)
        sum += state->weights[i] = state->stages[i].optimum;
    for (uint32_t i = 0; sum == 0 && i < state->stage_count; i++)
        state->weights[i] = 1;
    return NULL;
}

static void set_slots(struct oracle_state *state)
{
    double least = (double)INFINITY;

    for (uint32_t i = 0; i < state->stage_count; i++) {
        if (!state->stages[i].is_measured)
            return;
        least = fmin(least, state->stages[i].optimum * state->stages[i].speed);
    }
    for (uint32_t i = 0; i < state->stage_count; i++) {
        struct oracle_stage *const stage = &state->stages[i];
        const double wanted = stage->optimum > 0 ? ceil(2 * least / stage->optimum) : 2;
        stage->slots = (uint32_t)fmax(fmax(wanted, stage->slots), 2);
    }
}

/* ---- phases 1 to 4 ---- */

static bool add_worker(struct oracle_state *state, uint32_t stage)
{
    struct oracle_stage *const at = &state->stages[stage];
    const struct oracle_choice choice = oracle_choose(state, stage);
    struct oracle_worker worker = { .place = choice.place };

    if (!choice.is_found)
        return false;
    oracle_take(state, &choice.place, 1);
    if (choice.reused != UINT32_MAX)
        worker = take_out(&at->removed, choice.reused);
    append(&at->workers, &worker);
    return true;
}

static void remove_worker(struct oracle_state *state, uint32_t stage)
{
    struct oracle_stage *const at = &state->stages[stage];
    const struct oracle_worker worker = take_out(&at->workers, oracle_victim(state, stage));

    oracle_take(state, &worker.place, -1);
    append(&at->removed, &worker);
}

static bool set_manual(struct oracle_state *state)
{
    for (uint32_t i = 0; i < state->stage_count; i++) {
        const struct oracle_stage *const stage = &state->stages[i];
        while (stage->requested >= 0 && stage->workers.count < stage->requested) {
            if (!add_worker(state, i))
                return false;
        }
        while (stage->requested >= 0 && stage->workers.count > stage->requested)
            remove_worker(state, i);
    }
    return true;
}

static bool set_first(struct oracle_state *state)
{
    for (uint32_t i = 0; i < state->stage_count; i++) {
        state->stages[i].is_active = state->stages[i].requested < 0;
        if (state->stages[i].is_active && state->stages[i].workers.count == 0 &&
            !add_worker(state, i))
            return false;
    }
    return true;
}

/* The first of the active stages with the least throughput that may have one more worker without
 * passing `most`; stage_count = none. */
static uint32_t least_active(const struct oracle_state *state, double most)
{
    uint32_t found = state->stage_count;
    double least = (double)INFINITY;

    for (uint32_t i = 0; i < state->stage_count; i++) {
        const struct oracle_stage *const stage = &state->stages[i];
        const double now = throughput(stage, stage->workers.count);
        if (!stage->is_active || !(now < least) ||
            throughput(stage, stage->workers.count + 1) > most)
            continue;
        least = now;
        found = i;
    }
    return found;
}

static uint32_t donor(const struct oracle_state *state, uint32_t receiver)
{
    const struct oracle_stage *const poor = &state->stages[receiver];
    double best = throughput(poor, poor->workers.count);
    uint32_t found = state->stage_count;

    for (uint32_t i = 0; i < state->stage_count; i++) {
        const struct oracle_stage *const stage = &state->stages[i];
        if (!stage->is_active || i == receiver || stage->workers.count <= 1 ||
            !(throughput(stage, stage->workers.count - 1) > best))
            continue;
        best = throughput(stage, stage->workers.count - 1);
        found = i;
    }
    return found;
}

static void raise_slowest(struct oracle_state *state)
{
    for (;;) {
        const uint32_t stage = least_active(state, (double)INFINITY);
        if (stage == state->stage_count)
            return;
        if (add_worker(state, stage))
            continue;
        const uint32_t giver = donor(state, stage);
        if (giver == state->stage_count)
            return;
        remove_worker(state, giver);
    }
}

static void give_head_room(struct oracle_state *state)
{
    const uint32_t first = least_active(state, (double)INFINITY);
    const struct oracle_stage *const slow = &state->stages[first];
    const double most =
        first == state->stage_count ? 0 : throughput(slow, slow->workers.count) * state->target;

    for (;;) {
        const uint32_t stage = least_active(state, most);
        if (stage == state->stage_count)
            return;
        if (!add_worker(state, stage))
            state->stages[stage].is_active = false;
    }
}

/* ---- the answer ---- */

static json_t *engines_json(const struct oracle_place *place, bool encoders)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < place->count; i++) {
        uint32_t mask = encoders ? place->parts[i].encs : place->parts[i].decs;
        for (; mask != 0; mask &= mask - 1)
            json_array_append_new(list, json_pack("{s:i, s:i}", "gpu", (int)place->parts[i].gpu,
                                                  "index", __builtin_ctz(mask)));
    }
    return list;
}

static json_t *place_json(const struct oracle_state *state, const struct oracle_place *place)
{
    json_t *const gpus = json_array();

    for (uint32_t i = 0; i < place->count; i++) {
        if (place->parts[i].units > 0)
            json_array_append_new(gpus, json_pack("{s:i, s:f}", "gpu", (int)place->parts[i].gpu,
                                                  "fraction",
                                                  (double)place->parts[i].units / ORACLE_ONE));
    }
    return json_pack("{s:s, s:f, s:o, s:o, s:o}", "node", state->nodes[place->node].id, "cpus",
                     (double)place->cpus / ORACLE_ONE, "gpus", gpus, "nvdecs",
                     engines_json(place, false), "nvencs", engines_json(place, true));
}

static json_t *stage_json(const struct oracle_state *state, const struct oracle_stage *stage)
{
    json_t *const started = json_array();
    json_t *const deleted = json_array();

    for (uint32_t i = 0; i < stage->workers.count; i++) {
        if (stage->workers.list[i].id == NULL)
            json_array_append_new(started, place_json(state, &stage->workers.list[i].place));
    }
    for (uint32_t i = 0; i < stage->removed.count; i++) {
        if (stage->removed.list[i].id != NULL)
            json_array_append_new(deleted, json_string(stage->removed.list[i].id));
    }
    return json_pack("{s:s, s:i, s:o, s:o}", "name", stage->name, "workers_after",
                     (int)stage->workers.count, "new", started, "deleted", deleted);
}

static json_t *plan_json(const struct oracle_state *state)
{
    json_t *const stages = json_array();
    json_t *const slots = json_array();

    for (uint32_t i = 0; i < state->stage_count; i++) {
        json_array_append_new(stages, stage_json(state, &state->stages[i]));
        json_array_append_new(slots, json_integer(state->stages[i].slots));
    }
    return json_pack("{s:s, s:o, s:o}", "status", "ok", "slots", slots, "stages", stages);
}

static json_t *refusal_json(const char *type, int phase)
{
    return json_pack("{s:s, s:s, s:i}", "status", "error", "error_type", type, "error_phase",
                     phase);
}

json_t *oracle_pass(const json_t *input)
{
    struct oracle_state state = { .nodes = NULL };
    json_t *answer = NULL;

    if (read_state(input, &state)) {
        const char *const refusal = solve_pool(&state, json_object_get(input, "naive_workers"));
        if (refusal != NULL) {
            answer = refusal_json(refusal, 0);
        } else {
            set_slots(&state);
            if (!set_manual(&state)) {
                answer = refusal_json("WEIR_EMANUAL", 1);
            } else if (!set_first(&state)) {
                answer = refusal_json("WEIR_EMINIMUM", 2);
            } else {
                raise_slowest(&state);
                give_head_room(&state);
                answer = plan_json(&state);
            }
        }
    }
    free_state(&state);
    return answer;
}
