/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitting stages, set-up, fan-out, sizes and nodes; see the header. Arrivals: span_input.c. */
#include "workloads/spans/span_model.h"

#include "workloads/spans/span_input.h"
#include "workloads/spans/span_lives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t largest_batch = 1000000;

struct fitting {
    const struct wl_span_log *log;
    const struct wl_model_options *options;
    struct wl_model *model;
    uint32_t *order; /* stages of the log in the order of the pipeline */
    double *values;  /* scratch, one a span */
    double *sizes;
    struct wl_life *lives;
    size_t life_count;
    struct weir_error *error;
};

/* ---- order ---- */

static weir_status given_order(struct fitting *fitting)
{
    const struct wl_names *stages = &fitting->log->stages;
    const char *at = fitting->options->stages;
    for (size_t i = 0; i < stages->count; i++) {
        const size_t length = strcspn(at, ",");
        uint32_t found = WL_NO_NAME;
        for (size_t s = 0; s < stages->count; s++)
            if (strlen(stages->names[s]) == length && strncmp(stages->names[s], at, length) == 0)
                found = (uint32_t)s;
        for (size_t j = 0; j < i; j++)
            if (found == fitting->order[j])
                found = WL_NO_NAME;
        if (found == WL_NO_NAME)
            return weir_fail(fitting->error, WEIR_EINVAL,
                             "stage '%.*s' is not in the log, or twice in the list; all %zu stages "
                             "of the log must be listed",
                             (int)length, at, stages->count);
        fitting->order[i] = found;
        at += length + (at[length] == ',' ? 1 : 0);
    }
    if (*at != '\0')
        return weir_fail(fitting->error, WEIR_EINVAL, "stage '%s' is not in the log", at);
    return WEIR_OK;
}

/* Insertion by first start; stages are few. */
static void order_by_start(struct fitting *fitting)
{
    const struct wl_span_log *log = fitting->log;
    double *first_s = fitting->values; /* no more stages than spans */
    for (size_t s = 0; s < log->stages.count; s++)
        first_s[s] = HUGE_VAL;
    for (size_t i = 0; i < log->count; i++)
        if (!log->spans[i].is_setup)
            first_s[log->spans[i].stage] =
                fmin(first_s[log->spans[i].stage], log->spans[i].start_s);
    for (size_t s = 0; s < log->stages.count; s++) {
        size_t at = s;
        for (; at > 0 && first_s[fitting->order[at - 1]] > first_s[s]; at--)
            fitting->order[at] = fitting->order[at - 1];
        fitting->order[at] = (uint32_t)s;
    }
}

/* ---- service ---- */

static bool is_task_of(const struct wl_span *span, uint32_t stage)
{
    return span->stage == stage && !span->is_setup && span->task_rows > 0;
}

static double mean_size(const struct wl_span *span)
{
    return span->task_size / span->task_rows;
}

/* Durations (and sizes) of finished tasks of a stage on a GPU type. */
static size_t collect_service(struct fitting *fitting, uint32_t stage, uint32_t gpu)
{
    size_t n = 0;
    for (size_t i = 0; i < fitting->log->count; i++) {
        const struct wl_span *span = &fitting->log->spans[i];
        if (!is_task_of(span, stage) || span->has_failed || span->gpu != gpu)
            continue;
        fitting->values[n] = span->end_s - span->start_s;
        fitting->sizes[n++] = mean_size(span);
    }
    return n;
}

static bool sizes_vary(const struct fitting *fitting, size_t n)
{
    double low = HUGE_VAL;
    double high = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(fitting->sizes[i]))
            return false;
        low = fmin(low, fitting->sizes[i]);
        high = fmax(high, fitting->sizes[i]);
    }
    return n > 0 && high > low * 1.000001;
}

/* -2 ln likelihood plus penalty of the durations under the best law of the choice; of durations
 * divided by size the density of the duration itself is smaller by the size. */
static double criterion(const struct wl_law_choice *choice, const struct fitting *fitting,
                        bool is_divided)
{
    double sum = choice->best.family == WL_EMPIRICAL ? HUGE_VAL : choice->best.aic;
    for (size_t i = 0; i < choice->n && is_divided; i++)
        sum += 2.0 * log(fitting->sizes[i]);
    return sum;
}

static void divide_by_size(struct fitting *fitting, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fitting->values[i] /= fitting->sizes[i];
}

/* Decides on the reference type whether the law is one of time per size. */
static weir_status fit_reference(struct fitting *fitting, struct wl_stage_model *stage, size_t n)
{
    struct wl_law_choice *law = &stage->services[0].law;
    const double confidence = fitting->options->confidence;
    WEIR_TRY(wl_law_choose(fitting->values, n, confidence, law, fitting->error));
    if (!sizes_vary(fitting, n) || law->best.family == WL_CONST)
        return WEIR_OK;
    struct wl_law_choice scaled = { 0 };
    divide_by_size(fitting, n);
    WEIR_TRY(wl_law_choose(fitting->values, n, confidence, &scaled, fitting->error));
    stage->scales_by_size = criterion(&scaled, fitting, true) < criterion(law, fitting, false);
    wl_law_choice_clear(stage->scales_by_size ? law : &scaled);
    if (stage->scales_by_size)
        *law = scaled;
    return WEIR_OK;
}

static weir_status fit_service(struct fitting *fitting, struct wl_stage_model *stage,
                               uint32_t index, size_t which)
{
    struct wl_service_model *service = &stage->services[which];
    const size_t n = collect_service(fitting, index, service->gpu);
    service->factor = 1.0;
    if (which == 0)
        return fit_reference(fitting, stage, n);
    if (stage->scales_by_size)
        divide_by_size(fitting, n);
    WEIR_TRY(wl_law_choose(fitting->values, n, fitting->options->confidence, &service->law,
                           fitting->error));
    if (stage->services[0].law.mean > 0)
        service->factor = service->law.mean / stage->services[0].law.mean;
    return WEIR_OK;
}

/* The GPU types of a stage, most tasks first. */
static weir_status list_services(struct fitting *fitting, struct wl_stage_model *stage,
                                 uint32_t index)
{
    const size_t types = fitting->log->gpus.count + 1; /* the last: none */
    stage->services = calloc(types, sizeof(*stage->services));
    if (stage->services == NULL)
        return weir_fail(fitting->error, WEIR_ENOMEM, "out of memory");
    for (size_t type = 0; type < types; type++) {
        const uint32_t gpu = type + 1 == types ? WL_NO_NAME : (uint32_t)type;
        const size_t tasks = collect_service(fitting, index, gpu);
        if (tasks == 0)
            continue;
        stage->uses_gpu = stage->uses_gpu || gpu != WL_NO_NAME;
        size_t at = stage->service_count++;
        for (; at > 0 && stage->services[at - 1].tasks < tasks; at--)
            stage->services[at] = stage->services[at - 1];
        stage->services[at] = (struct wl_service_model){ .gpu = gpu, .tasks = tasks };
    }
    if (stage->service_count == 0)
        return weir_fail(fitting->error, WEIR_EFORMAT, "stage '%.80s' has no task that succeeded",
                         stage->name);
    return WEIR_OK;
}

/* ---- set-up, fan-out, batch ---- */

static weir_status fit_setup(struct fitting *fitting, struct wl_stage_model *stage, uint32_t index)
{
    size_t n = 0;
    for (size_t i = 0; i < fitting->log->count; i++) {
        const struct wl_span *span = &fitting->log->spans[i];
        if (span->is_setup && span->stage == index)
            fitting->values[n++] = span->end_s - span->start_s;
    }
    stage->has_setup = n > 0;
    if (n == 0)
        return WEIR_OK;
    return wl_law_choose(fitting->values, n, fitting->options->confidence, &stage->setup,
                         fitting->error);
}

/* Items of a row: a row may stand for a whole batch. */
static uint32_t row_items(const struct wl_span *span)
{
    return span->task_rows == 1 && span->batch > 1 ? span->batch : 1;
}

static weir_status fit_returns(struct fitting *fitting, struct wl_stage_model *stage,
                               uint32_t index)
{
    size_t n = 0;
    double low = HUGE_VAL;
    double high = 0;
    for (size_t i = 0; i < fitting->log->count; i++) {
        const struct wl_span *span = &fitting->log->spans[i];
        if (span->stage != index || span->is_setup || span->has_failed || isnan(span->returns))
            continue;
        fitting->values[n] = span->returns / row_items(span);
        low = fmin(low, fitting->values[n]);
        high = fmax(high, fitting->values[n++]);
    }
    stage->returns = 1.0;
    if (n == 0)
        return WEIR_OK;
    WEIR_TRY(wl_law_choose(fitting->values, n, fitting->options->confidence, &stage->returns_sample,
                           fitting->error));
    stage->returns = stage->returns_sample.mean;
    stage->returns_vary = high - low > 1.0000001;
    return WEIR_OK;
}

/* Of one task, from the column or from rows that are one task. */
static uint32_t batch_of(const struct wl_span *span)
{
    const uint32_t batch = span->batch > span->task_rows ? span->batch : span->task_rows;

    return batch > largest_batch ? largest_batch : batch;
}

static uint32_t find_largest_batch(const struct fitting *fitting, uint32_t index)
{
    uint32_t largest = 1;
    for (size_t i = 0; i < fitting->log->count; i++) {
        const struct wl_span *span = &fitting->log->spans[i];
        if (is_task_of(span, index) && batch_of(span) > largest)
            largest = batch_of(span);
    }
    return largest;
}

/* The most frequent batch. */
static weir_status fit_batch(struct fitting *fitting, struct wl_stage_model *stage, uint32_t index)
{
    const uint32_t largest = find_largest_batch(fitting, index);
    uint32_t *counts = calloc((size_t)largest + 1, sizeof(*counts));
    if (counts == NULL)
        return weir_fail(fitting->error, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < fitting->log->count; i++) {
        const struct wl_span *span = &fitting->log->spans[i];
        if (is_task_of(span, index))
            counts[batch_of(span)]++;
    }
    for (uint32_t b = 1; b <= largest; b++)
        if (stage->batch == 0 || counts[b] > counts[stage->batch])
            stage->batch = b;
    stage->batch_share = counts[stage->batch] / (double)(stage->tasks + stage->failed);
    free(counts);
    return WEIR_OK;
}

static void count_tasks(const struct fitting *fitting, struct wl_stage_model *stage, uint32_t index)
{
    for (size_t i = 0; i < fitting->log->count; i++) {
        const struct wl_span *span = &fitting->log->spans[i];
        if (span->stage != index || span->is_setup)
            continue;
        if (is_task_of(span, index))
            *(span->has_failed ? &stage->failed : &stage->tasks) += 1;
        if (!span->has_failed)
            stage->items += row_items(span);
    }
}

static weir_status fit_stage(struct fitting *fitting, struct wl_stage_model *stage, uint32_t index)
{
    stage->name = fitting->log->stages.names[index];
    count_tasks(fitting, stage, index);
    WEIR_TRY(list_services(fitting, stage, index));
    for (size_t i = 0; i < stage->service_count; i++)
        WEIR_TRY(fit_service(fitting, stage, index, i));
    WEIR_TRY(fit_setup(fitting, stage, index));
    WEIR_TRY(fit_returns(fitting, stage, index));
    WEIR_TRY(fit_batch(fitting, stage, index));
    const struct wl_life_count workers = wl_lives_count(
        fitting->lives, fitting->life_count, (struct wl_life_filter){ index, WL_ANY, WL_ANY });
    stage->workers_seen = workers.seen;
    stage->workers_peak = workers.peak;
    fitting->model->workers_peak += workers.peak;
    return WEIR_OK;
}

/* Without a column for it, a stage returns as many items as the next one works on. */
static void guess_returns(struct wl_model *model)
{
    if (model->log->has_returns)
        return;
    for (size_t s = 0; s + 1 < model->stage_count; s++) {
        const double ratio = (double)model->stages[s + 1].items / (double)model->stages[s].items;
        if (fabs(ratio - 1.0) > 0.01)
            model->stages[s].returns = ratio;
    }
}

/* ---- nodes ---- */

/* Workers with GPUs of the type at index `gpu` on the node that `filter` names. */
static void count_gpus(const struct fitting *fitting, struct wl_node_model *node,
                       struct wl_life_filter filter, uint32_t gpu)
{
    filter.gpu = gpu;
    node->gpus[gpu] = wl_lives_count(fitting->lives, fitting->life_count, filter).peak;
    for (size_t s = 0; s < fitting->log->stages.count; s++) {
        filter.stage = (uint32_t)s;
        node->gpus_for_all[gpu] += wl_lives_count(fitting->lives, fitting->life_count, filter).peak;
    }
}

static weir_status fit_nodes(struct fitting *fitting)
{
    struct wl_model *model = fitting->model;
    const struct wl_span_log *log = fitting->log;
    const size_t count = log->nodes.count > 0 ? log->nodes.count : 1;
    model->nodes = calloc(count, sizeof(*model->nodes));
    if (model->nodes == NULL)
        return weir_fail(fitting->error, WEIR_ENOMEM, "out of memory");
    model->node_count = count;
    for (size_t n = 0; n < count; n++) {
        struct wl_node_model *node = &model->nodes[n];
        const struct wl_life_filter filter = { WL_ANY, log->nodes.count > 0 ? (uint32_t)n : WL_ANY,
                                               WL_ANY };
        node->name = log->nodes.count > 0 ? log->nodes.names[n] : "seen";
        node->gpus = calloc(log->gpus.count + 1, sizeof(*node->gpus));
        node->gpus_for_all = calloc(log->gpus.count + 1, sizeof(*node->gpus_for_all));
        if (node->gpus == NULL || node->gpus_for_all == NULL)
            return weir_fail(fitting->error, WEIR_ENOMEM, "out of memory");
        node->workers = wl_lives_count(fitting->lives, fitting->life_count, filter).peak;
        for (size_t g = 0; g < log->gpus.count; g++)
            count_gpus(fitting, node, filter, (uint32_t)g);
    }
    return WEIR_OK;
}

/* ---- all ---- */

static weir_status fit_all(struct fitting *fitting)
{
    struct wl_model *model = fitting->model;
    const struct wl_span_log *log = fitting->log;
    if (fitting->options->stages != NULL)
        WEIR_TRY(given_order(fitting));
    else
        order_by_start(fitting);
    WEIR_TRY(wl_lives_find(log, &fitting->lives, &fitting->life_count, fitting->error));
    model->stages = calloc(log->stages.count, sizeof(*model->stages));
    if (model->stages == NULL)
        return weir_fail(fitting->error, WEIR_ENOMEM, "out of memory");
    model->stage_count = log->stages.count;
    for (size_t s = 0; s < model->stage_count; s++)
        WEIR_TRY(fit_stage(fitting, &model->stages[s], fitting->order[s]));
    guess_returns(model);
    WEIR_TRY(fit_nodes(fitting));
    return wl_input_fit(model, fitting->order[0], fitting->options, fitting->values,
                        fitting->error);
}

weir_status wl_model_fit(const struct wl_span_log *log, const struct wl_model_options *options,
                         struct wl_model *model, struct weir_error *error)
{
    *model = (struct wl_model){ .log = log };
    if (log->stages.count == 0)
        return weir_fail(error, WEIR_EFORMAT, "the log has no rows");
    struct fitting fitting = { .log = log,
                               .options = options,
                               .model = model,
                               .order = calloc(log->stages.count, sizeof(uint32_t)),
                               .values = calloc(log->count, sizeof(double)),
                               .sizes = calloc(log->count, sizeof(double)),
                               .error = error };
    weir_status status = WEIR_ENOMEM;
    if (fitting.order == NULL || fitting.values == NULL || fitting.sizes == NULL)
        (void)weir_fail(error, WEIR_ENOMEM, "out of memory");
    else
        status = fit_all(&fitting);
    free(fitting.order);
    free(fitting.values);
    free(fitting.sizes);
    free(fitting.lives);
    return status;
}

void wl_model_clear(struct wl_model *model)
{
    for (size_t s = 0; s < model->stage_count; s++) {
        struct wl_stage_model *stage = &model->stages[s];
        for (size_t i = 0; i < stage->service_count; i++)
            wl_law_choice_clear(&stage->services[i].law);
        wl_law_choice_clear(&stage->setup);
        wl_law_choice_clear(&stage->returns_sample);
        free(stage->services);
    }
    for (size_t n = 0; n < model->node_count; n++) {
        free(model->nodes[n].gpus);
        free(model->nodes[n].gpus_for_all);
    }
    wl_law_choice_clear(&model->arrivals);
    wl_law_choice_clear(&model->size);
    free(model->stages);
    free(model->nodes);
    *model = (struct wl_model){ 0 };
}
