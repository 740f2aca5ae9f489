/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fits of samples with known laws: intervals cover as often as they say, p-values of true laws are
 * uniform, and a scenario that is run, exported and fitted comes back. Seeds are fixed; the bounds
 * on counts are binomial at a false-alarm rate below 1e-6.
 */
#include "sim/cli/tell/span_export.h"
#include "sim/engine/law.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "workloads/spans/span_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 400, VALUES = 200 };

struct truth {
    const char *law;
    enum wl_family family;
    double parameter[2];
};

static const struct truth truths[] = {
    { "exp(3)", WL_EXPONENTIAL, { 3.0, 0 } },
    { "lognormal(7.7, 0.5)", WL_LOGNORMAL, { 7.7, 0.5 } },
    { "gamma(2, 0.6)", WL_GAMMA, { 2.0, 0.6 } },
    { "weibull(4, 1.7)", WL_WEIBULL, { 4.0, 1.7 } },
};
enum { TRUTHS = sizeof truths / sizeof truths[0] };

static int compare_numbers(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static void draw_sample(const struct sim_law *law, uint64_t number, double values[VALUES])
{
    const struct sim_random root = { .seed = 20 };
    struct sim_stream stream;
    const struct sim_stream_key key = { number, 0, 0 };
    sim_stream_open(&stream, &root, SIM_DRAW_TEST, key);
    for (size_t i = 0; i < VALUES; i++)
        values[i] = sim_law_draw(law, &stream);
    qsort(values, VALUES, sizeof values[0], compare_numbers);
}

static struct sim_law *parse_law(const char *text)
{
    struct sim_law *law = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    const struct sim_law_context context = { .is_time = false };
    CHECK_I64(sim_law_parse(text, &context, &law, &error), WEIR_OK);
    return law;
}

static void intervals_cover_as_often_as_they_say(void)
{
    for (size_t t = 0; t < TRUTHS; t++) {
        struct sim_law *law = parse_law(truths[t].law);
        size_t covered[2] = { 0, 0 };
        size_t count = 0;
        for (uint64_t s = 0; s < SAMPLES; s++) {
            double values[VALUES];
            struct wl_law_fit fit;
            draw_sample(law, s, values);
            CHECK(wl_law_fit_family(truths[t].family, values, VALUES, 0.95, &fit));
            count = fit.parameter_count;
            for (size_t p = 0; p < count; p++)
                covered[p] += fit.parameter[p].low <= truths[t].parameter[p] &&
                                      truths[t].parameter[p] <= fit.parameter[p].high
                                  ? 1
                                  : 0;
        }
        /* Binomial(400, 0.95): mean 380, sd 4.4; a little is left for the asymptotics. */
        for (size_t p = 0; p < count; p++)
            CHECK(covered[p] >= 354 && covered[p] <= 398);
        sim_law_destroy(law);
    }
}

static void the_true_family_is_chosen_and_not_rejected(void)
{
    for (size_t t = 0; t < TRUTHS; t++) {
        struct sim_law *law = parse_law(truths[t].law);
        size_t right = 0;
        size_t rejected = 0;
        for (uint64_t s = 0; s < 20; s++) {
            double values[VALUES];
            struct wl_law_choice choice;
            struct weir_error error = { .phase = -1, .pool = -1 };
            draw_sample(law, 1000 + s, values);
            CHECK_I64(wl_law_choose(values, VALUES, 0.95, &choice, &error), WEIR_OK);
            right += choice.best.family == truths[t].family ? 1 : 0;
            const double p = choice.has_candidate[truths[t].family]
                                 ? wl_law_p_value(&choice.candidates[truths[t].family])
                                 : 0.0;
            rejected += p < 0.01 ? 1 : 0;
            wl_law_choice_clear(&choice);
        }
        CHECK(right >= 13);
        CHECK(rejected <= 4); /* Binomial(20, 0.01): P(> 4) = 1.3e-6 */
        sim_law_destroy(law);
    }
}

/* ---- closed loop ---- */

static const char closed_text[] =
    "schema: 1\nname: closed\nseed: 7\n"
    "catalog:\n  gpu_types: {fast: {speed: 1}, slow: {speed: 1}}\n"
    "  node_types: {a: {cpus: 64, gpus: {fast: 8}}, b: {cpus: 64, gpus: {slow: 8}}}\n"
    "cluster: {nodes: [{type: a}, {type: b}]}\n"
    "sched: {placement: fgd, scaling: {policy: fixed, interval: 1 h}}\n"
    "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 6000, size: \"lognormal(2, "
    "0.5)\"}\n"
    "    stages:\n"
    "      - {name: load, cpus: 1, workers: 40, setup: \"gamma(30 s, 0.3)\", returns: 1.5,\n"
    "         service: {law: \"lognormal(12 s, 0.6)\", scale_by_size: false}}\n"
    "      - {name: decode, cpus: 1, workers: 9, process_failure: 0.05,\n"
    "         service: \"gamma(0.7 s, 0.4)\"}\n"
    "      - {name: embed, cpus: 1, gpus: 1, workers: 14,\n"
    "         service: {law: \"weibull(2 s, 2.5)\", scale_by_size: false,\n"
    "                   gpu_factor: {fast: 1, slow: 1.8}}}\n"
    "      - {name: pack, cpus: 1, batch: 4, workers: 4,\n"
    "         service: {law: exp(3 s), scale_by_size: false}}\n"
    "      - {name: store, cpus: 1, workers: 2,\n"
    "         service: {law: 0.25 s, scale_by_size: false}}\n";

/* Runs, exports to a file, fits. The file is removed. */
static double run_and_fit(const struct sim_scenario *scenario, struct wl_span_log *log,
                          struct wl_model *model)
{
    char path[] = "/tmp/weir-closed-XXXXXX";
    const int file = mkstemp(path);
    CHECK(file >= 0);
    (void)close(file);
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_span_export *spans = NULL;
    CHECK_I64(sim_span_export_open(path, 0, scenario, &spans, &error), WEIR_OK);
    struct sim_run_summary *summary = test_run_fast(scenario, 0, sim_span_export_observer(spans));
    CHECK_I64(sim_span_export_close(spans, &error), WEIR_OK);
    const double per_s = (double)summary->items_done / summary->completion_s;
    free(summary);
    const struct wl_span_options options = { .path = path };
    CHECK_I64(wl_span_log_read(&options, log, &error), WEIR_OK);
    const struct wl_model_options fit = { .confidence = 0.95 };
    CHECK_I64(wl_model_fit(log, &fit, model, &error), WEIR_OK);
    CHECK_STR(error.text, "");
    (void)unlink(path);
    return per_s;
}

static size_t covers(const struct wl_law_choice *choice, size_t parameter, double truth)
{
    return choice->fit.parameter[parameter].low <= truth &&
                   truth <= choice->fit.parameter[parameter].high
               ? 1
               : 0;
}

/* Within two and a half times the interval of 95 %, 4.9 standard deviations: by chance outside in
 * one sample of a million. Intervals are symmetric for the logarithm. */
static bool is_near(const struct wl_law_choice *choice, size_t parameter, double truth)
{
    const double value = choice->fit.parameter[parameter].value;
    const double half = log(choice->fit.parameter[parameter].high / value);
    return half > 0 && fabs(log(truth / value)) <= 2.5 * half;
}

static struct sim_scenario *write_and_load(const struct wl_model *model)
{
    char *text = NULL;
    size_t size = 0;
    struct weir_error error = { .phase = -1, .pool = -1 };
    FILE *out = open_memstream(&text, &size);
    const struct wl_yaml_options options = { .name = "again",
                                             .source = "test",
                                             .fixes_workers = true };
    CHECK_I64(wl_model_write(model, &options, out, &error), WEIR_OK);
    (void)fclose(out);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    free(text);
    return scenario;
}

static void check_truth(const struct wl_model *model)
{
    const struct wl_stage_model *stage = model->stages;
    CHECK_I64(model->stage_count, 5);
    CHECK(model->is_backlog);
    CHECK_I64(model->items, 6000);
    CHECK_STR(stage[0].name, "load");
    CHECK_I64(stage[0].services[0].law.fit.family, WL_LOGNORMAL);
    CHECK(!stage[0].scales_by_size && stage[1].scales_by_size && !stage[2].scales_by_size);
    CHECK_I64(stage[1].services[0].law.fit.family, WL_GAMMA);
    CHECK_I64(stage[2].services[0].law.fit.family, WL_WEIBULL);
    CHECK_I64(stage[3].services[0].law.fit.family, WL_EXPONENTIAL);
    CHECK_I64(stage[4].services[0].law.fit.family, WL_CONST);
    CHECK_I64(stage[3].batch, 4);
    CHECK_I64(stage[0].workers_peak, 40);
    CHECK_I64(stage[2].service_count, 2);
    CHECK_NEAR(stage[2].services[1].factor > 1 ? stage[2].services[1].factor
                                               : 1 / stage[2].services[1].factor,
               1.8, 0.05);
    CHECK_NEAR(stage[0].returns, 1.5, 0.02);
    CHECK(!stage[0].returns_vary);
    const double failures = (double)stage[1].failed / (double)(stage[1].failed + stage[1].tasks);
    CHECK_NEAR(failures, 0.05, 0.012); /* 5 standard errors */
    CHECK_NEAR(stage[4].services[0].law.mean, 0.25, 1e-9);
    CHECK(stage[0].has_setup);
    CHECK_I64(stage[0].setup.n, 40);
}

/* How many of nine true parameters lie within their 95 % intervals. */
static size_t count_covered(const struct wl_model *model)
{
    const struct wl_stage_model *stage = model->stages;
    const double scale =
        model->stages[2].services[0].gpu == 0 && strcmp(model->log->gpus.names[0], "slow") == 0
            ? 3.6
            : 2.0;
    size_t covered = 0;
    covered += covers(&model->size, 0, 2.0) + covers(&model->size, 1, 0.5);
    covered += covers(&stage[0].services[0].law, 0, 12.0);
    covered += covers(&stage[0].services[0].law, 1, 0.6);
    covered += covers(&stage[1].services[0].law, 0, 0.7);
    covered += covers(&stage[1].services[0].law, 1, 0.4);
    covered += covers(&stage[2].services[0].law, 0, scale);
    covered += covers(&stage[2].services[0].law, 1, 2.5);
    covered += covers(&stage[3].services[0].law, 0, 3.0);
    return covered;
}

static void a_known_scenario_comes_back(void)
{
    struct sim_scenario *scenario = test_scenario(closed_text, NULL);
    struct wl_span_log log;
    struct wl_span_log again_log;
    struct wl_model model;
    struct wl_model again;
    if (scenario == NULL)
        return;
    const double per_s = run_and_fit(scenario, &log, &model);
    check_truth(&model);
    CHECK(count_covered(&model) >= 8);
    struct sim_scenario *fitted = write_and_load(&model);
    if (fitted != NULL) {
        const double fitted_per_s = run_and_fit(fitted, &again_log, &again);
        CHECK_NEAR(fitted_per_s / per_s, 1.0, 0.02);
        wl_model_clear(&again);
        wl_span_log_clear(&again_log);
    }
    sim_scenario_destroy(fitted);
    wl_model_clear(&model);
    wl_span_log_clear(&log);
    sim_scenario_destroy(scenario);
}

static const char queue_text[] =
    "schema: 1\nname: queue\nseed: 5\n"
    "cluster: {nodes: [{name: n, cpus: 8}]}\n"
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1 h}}\n"
    "pipelines:\n  - name: q\n    semantics: event\n    input: {items: 20000, arrivals: \"gamma(1 "
    "s, 0.7)\"}\n"
    "    stages:\n      - {name: serve, cpus: 1, workers: 3, service: exp(2 s)}\n";

static void arrivals_come_back(void)
{
    struct sim_scenario *scenario = test_scenario(queue_text, NULL);
    struct wl_span_log log;
    struct wl_model model;
    if (scenario == NULL)
        return;
    const double per_s = run_and_fit(scenario, &log, &model);
    CHECK(!model.is_backlog && !model.arrivals_from_starts);
    CHECK_I64(model.arrivals.fit.family, WL_GAMMA);
    CHECK(is_near(&model.arrivals, 0, 1.0) && is_near(&model.arrivals, 1, 0.7));
    CHECK(is_near(&model.stages[0].services[0].law, 0, 2.0));
    struct sim_scenario *fitted = write_and_load(&model);
    if (fitted != NULL) {
        struct sim_run_summary *summary = test_run_fast(fitted, 0, NULL);
        CHECK_NEAR((double)summary->items_done / summary->completion_s / per_s, 1.0, 0.02);
        free(summary);
    }
    sim_scenario_destroy(fitted);
    wl_model_clear(&model);
    wl_span_log_clear(&log);
    sim_scenario_destroy(scenario);
}

static const struct test tests[] = {
    { "95 % intervals hold the true parameters in 95 % of samples",
      intervals_cover_as_often_as_they_say },
    { "the true family is chosen and not rejected", the_true_family_is_chosen_and_not_rejected },
    { "a scenario that is run, exported and fitted comes back with its throughput",
      a_known_scenario_comes_back },
    { "arrivals of a queue come back with its throughput", arrivals_come_back },
};
TEST_MAIN(tests)
