/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Closed forms: every value of tests/golden/queueing/values.csv that a pipeline can express, met by
 * the simulator.
 *
 * Each model runs until four standard errors (30 batch means) are at most 2 % of the value, 5 % for
 * variances and probabilities; then |measured - exact| must be within max(4 SE, 0.3 %). Seeds are
 * fixed, so the outcome is the same every time; the chance that a right simulator fails one check
 * with a fresh seed is about 1e-4.
 * A value that needs more than 20 million items for its interval is skipped unless WEIR_SLOW is
 * set.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <csv.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATIONS = 8, BATCHES = 30, FIELD = 160, MODELS = 128, METRICS = 4 };

enum metric { WAIT, SOJOURN, SOJOURN_SQUARED, DELAYED, ELAPSED, SERVED, MOMENTS };

/* Sums by batch of finished items of the last stage (or, for lines, of the first). */
struct tally {
    uint64_t items, warmup, seen;
    int64_t last_end_ns;
    double sums[MOMENTS][BATCHES];
    bool is_line;
};

static void add_span(void *state, const struct sim_span *span)
{
    struct tally *tally = state;
    if (span->stage != 0)
        return;
    const uint64_t number = tally->seen++;
    const int64_t before_ns = tally->last_end_ns;
    tally->last_end_ns = span->end_ns;
    if (number < tally->warmup)
        return;
    const uint64_t batch = (number - tally->warmup) * BATCHES / (tally->items - tally->warmup);
    if (batch >= BATCHES)
        return;
    const double wait = sim_time_s(span->start_ns - span->queued_ns);
    const double sojourn = sim_time_s(span->end_ns - span->queued_ns);
    tally->sums[WAIT][batch] += wait;
    tally->sums[SOJOURN][batch] += sojourn;
    tally->sums[SOJOURN_SQUARED][batch] += sojourn * sojourn;
    tally->sums[DELAYED][batch] += span->start_ns > span->queued_ns ? 1.0 : 0.0;
    tally->sums[ELAPSED][batch] += sim_time_s(span->end_ns - before_ns);
    tally->sums[SERVED][batch] += sim_time_s(span->end_ns - span->start_ns);
}

struct model {
    char name[FIELD], params[FIELD];
    char metric[METRICS][FIELD];
    double value[METRICS];
    size_t metrics;
};

static double param(const char *params, const char *name)
{
    const char *at = strstr(params, name);
    return at == NULL ? (double)NAN : strtod(at + strlen(name), NULL);
}

/* ---- scenarios ---- */

static const char *const head =
    "schema: 1\nname: q\ncluster:\n  nodes:\n    - {name: n, cpus: 2000}\n"
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1000000 h}}\npipelines:\n"
    "  - name: p\n    semantics: event\n";

static bool write_single(FILE *out, const struct model *model, uint64_t items)
{
    double lambda = param(model->params, "lambda=");
    const double servers = strncmp(model->name, "M/M/c", 5) == 0 ? param(model->params, "c=") : 1.0;
    const char *service = "exp(1)";
    const char *arrivals = "exp(%.17g)";
    if (strcmp(model->name, "M/D/1") == 0)
        service = "const(1)";
    else if (strcmp(model->name, "M/LogN(sigma=1)/1") == 0)
        service = "\"lognormal(1, 1.3108324944320862)\""; /* cv = sqrt(e - 1) */
    else if (strcmp(model->name, "D/M/1") == 0)
        arrivals = "const(%.17g)";
    else if (strcmp(model->name, "M/M/1") != 0 && strcmp(model->name, "M/M/c") != 0)
        return false;
    if (isnan(lambda))
        lambda = param(model->params, "rho=");
    char law[64];
    (void)snprintf(law, sizeof(law),
                   strcmp(arrivals, "const(%.17g)") == 0 ? "const(%.17g)" : "exp(%.17g)",
                   1.0 / lambda);
    (void)fprintf(out,
                  "%s    input: {items: %llu, arrivals: \"%s\"}\n    backpressure: {rule: none}\n"
                  "    stages:\n      - {name: a, cpus: 1, workers: %g, service: %s}\n",
                  head, (unsigned long long)items, law, servers, service);
    return true;
}

/* Everybody works on one GPU at once. As many workers as never are there together: at a load of .9
 * more than 400 are once in 10^18. Of service with a mean of 1 only the mean matters for the mean.
 */
static bool write_sharing(FILE *out, const struct model *model, uint64_t items)
{
    const bool is_exponential = strcmp(model->name, "M/M/1-PS") == 0;
    (void)fprintf(out,
                  "schema: 2\nname: q\nhorizon: 1000000 h\n"
                  "catalog: {node_types: {m: {cpus: 400, gpus: {h100: 1}}}}\n"
                  "cluster: {nodes: [{name: n, type: m}]}\n"
                  "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1000000 h}}\n"
                  "pipelines:\n  - name: p\n    semantics: event\n    backpressure: none\n"
                  "    input: {items: %llu, arrivals: exp(%.17g)}\n    stages:\n"
                  "      - {name: a, cpus: 1, gpus: 0.0025, uses: {cpus: 1, gpus: 1}, workers: 400,"
                  " service: %s}\n",
                  (unsigned long long)items, 1.0 / param(model->params, "lambda="),
                  is_exponential ? "exp(1)" : "\"lognormal(1, 1.3108324944320862)\"");
    return true;
}

/* Numbers of a list "name=(2/ 1)"; 0 when there is none. */
static size_t param_list(const char *params, const char *name, double *numbers)
{
    const char *at = strstr(params, name);
    char *end = NULL;
    size_t count = 0;
    for (at = at == NULL ? NULL : at + strlen(name); at != NULL && count < STATIONS; at = end + 1) {
        numbers[count++] = strtod(at, &end);
        if (*end != '/')
            break;
    }
    return count;
}

/* "stations=3;buffer=1;mu=1" or "mu=(1.0/ 1.2/ 0.9);buffers=(2/ 1);BAS" */
static bool write_line(FILE *out, const struct model *model, uint64_t items)
{
    double rates[STATIONS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    double buffers[STATIONS];
    size_t stations = param_list(model->params, "mu=(", rates);
    if (param_list(model->params, "buffers=(", buffers) == 0)
        for (size_t j = 0; j < STATIONS; j++)
            buffers[j] = param(model->params, "buffer=");
    if (stations == 0)
        stations = (size_t)param(model->params, "stations=");
    (void)fprintf(out, "%s    input: {items: %llu}\n    backpressure: blocking\n    stages:\n",
                  head, (unsigned long long)items);
    for (size_t j = 0; j < stations; j++) {
        (void)fprintf(out, "      - {name: s%zu, cpus: 1, workers: 1, service: exp(%.17g)", j,
                      1.0 / rates[j]);
        if (j + 1 < stations)
            (void)fprintf(out, ", buffer: %g", buffers[j]);
        (void)fputs("}\n", out);
    }
    return true;
}

static bool is_line(const struct model *model)
{
    return strcmp(model->name, "exp tandem line") == 0;
}

static bool is_sharing(const struct model *model)
{
    return strstr(model->name, "-PS") != NULL;
}

static bool run_model(const struct model *model, uint64_t items, struct tally *tally)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const bool can = is_line(model)      ? write_line(out, model, items)
                     : is_sharing(model) ? write_sharing(out, model, items)
                                         : write_single(out, model, items);
    (void)fclose(out);
    struct sim_scenario *scenario = can ? test_scenario(text, NULL) : NULL;
    free(text);
    if (scenario == NULL)
        return false;
    *tally = (struct tally){ .items = items, .warmup = items / 50, .is_line = is_line(model) };
    const struct sim_observer observer = { .span = add_span, .state = tally };
    struct sim_run_summary *summary = test_run_fast(scenario, 0, &observer);
    CHECK_I64(summary->status, WEIR_OK);
    free(summary);
    sim_scenario_destroy(scenario);
    return true;
}

/* ---- estimates ---- */

/* The metric within one batch. */
static double batch_value(const struct tally *tally, const struct model *model, const char *metric,
                          size_t batch)
{
    const double n = (double)(tally->items - tally->warmup) / BATCHES;
    const double elapsed = tally->sums[ELAPSED][batch];
    const double wait = tally->sums[WAIT][batch] / n;
    const double sojourn = tally->sums[SOJOURN][batch] / n;
    double lambda = param(model->params, "lambda=");
    lambda = isnan(lambda) ? param(model->params, "rho=") : lambda;
    if (strcmp(metric, "Wq") == 0)
        return wait;
    if (strcmp(metric, "Lq") == 0)
        return wait * lambda;
    if (strcmp(metric, "T") == 0)
        return sojourn;
    if (strcmp(metric, "L") == 0)
        return sojourn * lambda;
    if (strcmp(metric, "P_wait") == 0)
        return tally->sums[DELAYED][batch] / n;
    if (strcmp(metric, "throughput") == 0)
        return n / elapsed;
    if (strcmp(metric, "blocked_1") == 0)
        return 1.0 - tally->sums[SERVED][batch] / elapsed;
    return (double)NAN;
}

/* Variance of the sojourn over the whole run, its error from the batches' deviations. */
static void variance(const struct tally *tally, double *mean, double *error)
{
    const double n = (double)(tally->items - tally->warmup) / BATCHES;
    double total = 0;
    double parts[BATCHES];
    for (size_t b = 0; b < BATCHES; b++)
        total += tally->sums[SOJOURN][b] / n / BATCHES;
    for (size_t b = 0; b < BATCHES; b++)
        parts[b] = tally->sums[SOJOURN_SQUARED][b] / n - 2 * total * tally->sums[SOJOURN][b] / n +
                   total * total;
    *mean = gsl_stats_mean(parts, 1, BATCHES);
    *error = gsl_stats_sd(parts, 1, BATCHES) / sqrt(BATCHES);
}

static void estimate(const struct tally *tally, const struct model *model, const char *metric,
                     double *mean, double *error)
{
    double values[BATCHES];
    if (strcmp(metric, "var_sojourn") == 0) {
        variance(tally, mean, error);
        return;
    }
    for (size_t b = 0; b < BATCHES; b++)
        values[b] = batch_value(tally, model, metric, b);
    *mean = gsl_stats_mean(values, 1, BATCHES);
    *error = gsl_stats_sd(values, 1, BATCHES) / sqrt(BATCHES);
}

static double allowed(const char *metric)
{
    const bool is_loose = strcmp(metric, "var_sojourn") == 0 || strcmp(metric, "P_wait") == 0 ||
                          strcmp(metric, "blocked_1") == 0;
    return is_loose ? 0.05 : 0.02;
}

/* How many times longer the run must be for the widest of its intervals. */
static double shortage(const struct tally *tally, const struct model *model)
{
    double worst = 0;
    for (size_t m = 0; m < model->metrics; m++) {
        double mean = 0;
        double error = 0;
        estimate(tally, model, model->metric[m], &mean, &error);
        worst = fmax(worst, pow(4.0 * error / (allowed(model->metric[m]) * model->value[m]), 2));
    }
    return worst;
}

/* WEIR_ITEMS_MAX: builds without optimisation do less. */
static uint64_t most_items(void)
{
    const char *limit = getenv("WEIR_ITEMS_MAX");
    if (test_is_slow())
        return 4000000000;
    return limit == NULL ? 20000000 : strtoull(limit, NULL, 10);
}

static void report_skip(const struct model *model, uint64_t items)
{
    char text[400];
    if (items <= most_items()) /* not a pipeline at all */
        return;
    (void)snprintf(text, sizeof(text), "%s %s needs %llu items (WEIR_SLOW=1 runs them)",
                   model->name, model->params, (unsigned long long)items);
    test_skip_part(text);
}

static void check_model(const struct model *model)
{
    struct tally *tally = calloc(1, sizeof(*tally));
    uint64_t items = 300000;
    double missing = 2;
    for (int tries = 0; tries < 8 && missing > 1.0; tries++) {
        if (items > most_items() || !run_model(model, items, tally)) {
            report_skip(model, items);
            free(tally);
            return;
        }
        missing = shortage(tally, model);
        items = (uint64_t)((double)items * fmin(fmax(missing * 1.3, 1.1), 30.0));
    }
    for (size_t m = 0; m < model->metrics; m++) {
        double mean = 0;
        double error = 0;
        estimate(tally, model, model->metric[m], &mean, &error);
        const double tolerance = fmax(4.0 * error, 0.003 * model->value[m]);
        if (fabs(mean - model->value[m]) > tolerance || missing > 1.0)
            printf("%s %s %s: %.6g, exact %.6g, SE %.2g, %llu items\n", model->name, model->params,
                   model->metric[m], mean, model->value[m], error,
                   (unsigned long long)tally->items);
        CHECK(missing <= 1.0);
        CHECK_NEAR(mean, model->value[m], tolerance);
    }
    free(tally);
}

/* ---- the file ---- */

struct table {
    struct model models[MODELS];
    size_t count;
    char fields[8][FIELD];
    size_t field;
    size_t row;
};

static void on_field(void *text, size_t length, void *state)
{
    struct table *table = state;
    if (table->field < 8)
        (void)snprintf(table->fields[table->field++], FIELD, "%.*s", (int)length,
                       text == NULL ? "" : (const char *)text);
}

static void on_row(int separator, void *state)
{
    struct table *table = state;
    struct model *last = table->count > 0 ? &table->models[table->count - 1] : NULL;
    (void)separator;
    table->field = 0;
    if (table->row++ == 0)
        return;
    if (last == NULL || strcmp(last->name, table->fields[0]) != 0 ||
        strcmp(last->params, table->fields[1]) != 0) {
        last = &table->models[table->count++];
        memcpy(last->name, table->fields[0], FIELD);
        memcpy(last->params, table->fields[1], FIELD);
    }
    memcpy(last->metric[last->metrics], table->fields[2], FIELD);
    last->value[last->metrics++] = strtod(table->fields[3], NULL);
}

static struct table *read_table(void)
{
    struct table *table = calloc(1, sizeof(*table));
    struct csv_parser parser;
    enum { CAPACITY = 65536 };
    char *buffer = malloc(CAPACITY);
    FILE *file = fopen(test_data("golden/queueing/values.csv"), "rb");
    CHECK(file != NULL && csv_init(&parser, CSV_STRICT | CSV_APPEND_NULL) == 0);
    const size_t length = fread(buffer, 1, CAPACITY, file);
    CHECK(csv_parse(&parser, buffer, length, on_field, on_row, table) == length);
    (void)csv_fini(&parser, on_field, on_row, table);
    csv_free(&parser);
    (void)fclose(file);
    free(buffer);
    return table;
}

static void check_group(const char *prefix, size_t expected)
{
    struct table *table = read_table();
    size_t found = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (strncmp(table->models[i].name, prefix, strlen(prefix)) != 0)
            continue;
        found++;
        check_model(&table->models[i]);
    }
    CHECK_I64(found, expected);
    free(table);
}

/* covers: S1.133 */
static void single_servers(void)
{
    check_group("M/M/1", 11); /* M/M/1 alone has six loads; the others are not FCFS */
    check_group("D/M/1", 1);
}

static void general_service(void)
{
    check_group("M/D/1", 6);
    check_group("M/LogN", 6);
}

/* covers: S1.133 */
static void many_servers(void)
{
    check_group("M/M/c", 9);
}

static void tandem_lines(void)
{
    check_group("exp tandem line", 26);
}

/* One run of so many items: every value within four standard errors. */
static void check_sharing(const struct model *model, uint64_t items)
{
    struct tally *tally = calloc(1, sizeof(*tally));
    if (!CHECK(run_model(model, items, tally))) {
        free(tally);
        return;
    }
    for (size_t m = 0; m < model->metrics; m++) {
        double mean = 0;
        double error = 0;
        estimate(tally, model, model->metric[m], &mean, &error);
        CHECK_NEAR(mean, model->value[m], 4 * error);
        CHECK(error < 0.1 * model->value[m]); /* it says something */
    }
    free(tally);
}

/* A load of .9 takes 2.6 x 10^7 customers, and .95 more. */
static uint64_t sharing_items(double load)
{
    return load > 0.85 ? 26000000 : 400000;
}

/* E[S] / (1 - r), whatever the law of the service. */
static void check_insensitive(void)
{
    struct table *table = read_table();
    size_t found = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct model *model = &table->models[i];
        const double load = param(model->params, "lambda=");
        if (strcmp(model->name, "M/G/1-PS") != 0)
            continue;
        found++;
        if (load < 0.85 || test_is_slow())
            check_sharing(model, sharing_items(load));
    }
    CHECK_I64(found, 6);
    free(table);
}

/* Egalitarian processor sharing; the variance is that of Ott (1984): (2 + r) / ((2 - r)(1 - r)^2).
 */
static void shared_devices(void)
{
    static const double loads[] = { 0.3, 0.5, 0.7, 0.8, 0.9, 0.95 };
    check_insensitive();
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        const double load = loads[i];
        struct model model = { .name = "M/M/1-PS",
                               .metric = { "T", "var_sojourn" },
                               .value = { 1 / (1 - load),
                                          (2 + load) / ((2 - load) * (1 - load) * (1 - load)) },
                               .metrics = 2 };
        (void)snprintf(model.params, sizeof(model.params), "lambda=%g", load);
        if (load < 0.85 || test_is_slow())
            check_sharing(&model, sharing_items(load));
        else
            test_skip_part("shared time at loads of .9 and .95 takes tens of millions of items");
    }
}

static const struct test tests[] = {
    { "M/M/1 and D/M/1", single_servers },
    { "M/D/1 and M/G/1", general_service },
    { "M/M/c", many_servers },
    { "M/M/1 and M/G/1 in shared time", shared_devices },
    { "saturated tandem lines with blocking", tandem_lines },
};
TEST_MAIN(tests)
