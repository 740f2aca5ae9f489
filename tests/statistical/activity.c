/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processor sharing has closed forms: M/M/1 (mean and variance), M/D/1 (mean and variance), M/G/1
 * with hyperexponential service (mean: only the mean of the service matters), and two classes of
 * unequal weight (Fayolle, Mitrani and Iasnogorodski, JACM 27(3), 1980). One resource, Poisson
 * arrivals, activities; time in units of the mean service, ends in ns.
 *
 *   M/M/1-PS   E = 1 / (1 - r), Var = (2 + r) / ((2 - r) (1 - r)^2)
 *   M/D/1-PS   Var = 2 / (1 - r)^2 [d^2 / 2 - (1 - r)(e^a - 1 - a) / lambda^2], a = lambda d
 *   two        T1 = [1 + mu1 r2 (g2 - g1) / D] / (mu1 (1 - r)), D = sum mu_i g_i (1 - r_i)
 *
 * Every value must lie within four standard errors (30 batch means); seeds are fixed, a fresh seed
 * fails a right one of these checks once in 10^4. Loads of .9 and .95 need tens of millions of
 * customers and are skipped unless WEIR_SLOW is set.
 */
#include "sim/engine/activity.h"
#include "sim/engine/time.h"
#include "sim/engine/ziggurat.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { KIND_ARRIVAL, KIND_END, BATCHES = 30, CLASSES = 2 };

static const double MEAN_NS = 1e9; /* mean service */

enum service { EXPONENTIAL, CONSTANT, HYPEREXPONENTIAL };

struct line {
    double load;
    enum service service;
    uint32_t weight[CLASSES];
    double share[CLASSES]; /* of the load; class 0 alone where it is 1 */
    double mean[CLASSES];  /* of the service */
    uint64_t customers, warmup;
    uint64_t seed;
};

struct batches {
    double sum[BATCHES], square[BATCHES];
    uint64_t count[BATCHES];
};

struct queue {
    const struct line *line;
    struct sim_engine *engine;
    struct sim_activities *activities;
    uint64_t state[4];
    uint64_t arrived;
    int64_t *arrival_ns; /* by customer */
    struct batches batches[CLASSES];
};

/* xoshiro256** 1.0 (Blackman and Vigna). splitmix64 in its place biases M/D/1. */
static uint64_t next_word(void *source)
{
    uint64_t *s = source;
    const uint64_t product = s[1] * 5;
    const uint64_t result = (product << 7 | product >> 57) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

static double draw_uniform(struct queue *queue)
{
    return (double)(next_word(queue->state) >> 11) * 0x1p-53;
}

static int64_t draw_service_ns(struct queue *queue, uint32_t class)
{
    const double mean_ns = MEAN_NS * queue->line->mean[class];
    double units = 1.0;
    if (queue->line->service != CONSTANT)
        units = sim_ziggurat_exponential(next_word, queue->state);
    if (queue->line->service == HYPEREXPONENTIAL) /* a tenth is 5.5 times as long */
        units *= draw_uniform(queue) < 0.1 ? 5.5 : 0.5;
    return 1 + (int64_t)(units * mean_ns);
}

/* Arrivals of class i: share_i x load / mean_i a unit of time. */
static double rate_of(const struct line *line, uint32_t class)
{
    return line->share[class] * line->load / line->mean[class];
}

static void plan_arrival(struct queue *queue)
{
    const double rate = rate_of(queue->line, 0) + rate_of(queue->line, 1);
    const double gap = sim_ziggurat_exponential(next_word, queue->state) / rate;
    const struct sim_event event = { .time_ns =
                                         sim_engine_now(queue->engine) + (int64_t)(gap * MEAN_NS),
                                     .kind = KIND_ARRIVAL,
                                     .phase = SIM_PHASE_ARRIVAL };
    (void)sim_engine_schedule(queue->engine, &event);
}

static weir_status arrive(struct queue *queue)
{
    const struct line *line = queue->line;
    const double all = rate_of(line, 0) + rate_of(line, 1);
    const uint32_t class = draw_uniform(queue) * all < rate_of(line, 0) ? 0 : 1;
    const int64_t service_ns = draw_service_ns(queue, class);
    const struct sim_activity_spec spec = { .work = sim_work_of_ns(service_ns, SIM_DEVICE_QPNS),
                                            .cap_qpns = SIM_UNCAPPED,
                                            .owner = queue->arrived << 1 | class,
                                            .weight = line->weight[class],
                                            .resources = 1 };
    sim_handle handle = SIM_NO_HANDLE;
    queue->arrival_ns[queue->arrived++] = sim_engine_now(queue->engine);
    if (queue->arrived < line->customers)
        plan_arrival(queue);
    return sim_activity_start(queue->activities, &spec, &handle, NULL);
}

static void depart(struct queue *queue, uint64_t owner)
{
    const uint64_t number = owner >> 1;
    const struct line *line = queue->line;
    const double sojourn =
        (double)(sim_engine_now(queue->engine) - queue->arrival_ns[number]) / MEAN_NS;
    if (number < line->warmup)
        return;
    struct batches *batches = &queue->batches[owner & 1];
    const uint64_t batch = (number - line->warmup) * BATCHES / (line->customers - line->warmup);
    batches->sum[batch] += sojourn;
    batches->square[batch] += sojourn * sojourn;
    batches->count[batch]++;
}

static weir_status handle(void *context, const struct sim_event *event)
{
    struct queue *queue = context;
    const struct sim_ended *ended = NULL;
    uint32_t count = 0;
    if (event->kind == KIND_ARRIVAL)
        return arrive(queue);
    WEIR_TRY(sim_activities_fire(queue->activities, event, &ended, &count));
    for (uint32_t i = 0; i < count; i++)
        depart(queue, ended[i].owner);
    return WEIR_OK;
}

static void run_line(const struct line *line, struct batches *batches)
{
    struct queue queue = { .line = line, .engine = sim_engine_create() };
    uint32_t index = 0;
    queue.activities = sim_activities_create(queue.engine, KIND_END);
    queue.arrival_ns = calloc(line->customers, sizeof *queue.arrival_ns);
    for (int i = 0; i < 4; i++)
        queue.state[i] = (line->seed + (uint64_t)i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    CHECK_I64(sim_resource_add(queue.activities, SIM_SHARE_WEIGHTS, SIM_DEVICE_QPNS, &index),
              WEIR_OK);
    plan_arrival(&queue);
    CHECK_I64(sim_engine_run(queue.engine, handle, &queue, SIM_TIME_MAX), WEIR_OK);
    CHECK_I64(sim_activities_running(queue.activities), 0);
    for (uint32_t class = 0; class < CLASSES; class ++)
        batches[class] = queue.batches[class];
    free(queue.arrival_ns);
    sim_activities_destroy(queue.activities);
    sim_engine_destroy(queue.engine);
}

/* Mean of the batches and four standard errors of it. */
static void check_value(const double *values, double exact, const char *what)
{
    double mean = 0;
    double square = 0;
    for (uint32_t i = 0; i < BATCHES; i++) {
        mean += values[i] / BATCHES;
        square += values[i] * values[i] / BATCHES;
    }
    const double error = sqrt((square - mean * mean) / (BATCHES - 1));
    if (!CHECK_NEAR(mean, exact, 4 * error) || !CHECK(error < 0.03 * exact))
        printf("%s: %.4f, standard error %.4f, exact %.4f\n", what, mean, error, exact);
}

static void check_mean(const struct batches *batches, double exact, const char *what)
{
    double means[BATCHES];
    for (uint32_t i = 0; i < BATCHES; i++)
        means[i] = batches->sum[i] / (double)batches->count[i];
    check_value(means, exact, what);
}

/* About the exact mean: about its own a batch would be low by the variance of its mean. */
static void check_variance(const struct batches *batches, double mean, double exact,
                           const char *what)
{
    double values[BATCHES];
    for (uint32_t i = 0; i < BATCHES; i++) {
        const double count = (double)batches->count[i];
        values[i] = batches->square[i] / count - 2 * mean * batches->sum[i] / count + mean * mean;
    }
    check_value(values, exact, what);
}

/* Whether the slow suite was asked for; says what is left out otherwise. */
static bool is_slow(const char *what)
{
    if (getenv("WEIR_SLOW") != NULL)
        return true;
    char text[96];
    (void)snprintf(text, sizeof text, "%s needs tens of millions (WEIR_SLOW=1 runs them)", what);
    test_skip(text);
    return false;
}

static struct line one_class(double load, enum service service, uint64_t customers)
{
    return (struct line){ .load = load,
                          .service = service,
                          .weight = { 1, 1 },
                          .share = { 1, 0 },
                          .mean = { 1, 1 },
                          .customers = customers,
                          .warmup = customers / 20,
                          .seed = 1 };
}

static void check_exponential(double load, uint64_t customers)
{
    struct batches batches[CLASSES];
    const struct line line = one_class(load, EXPONENTIAL, customers);
    const double idle = 1 - load;
    run_line(&line, batches);
    check_mean(&batches[0], 1 / idle, "M/M/1-PS mean");
    check_variance(&batches[0], 1 / idle, (2 + load) / ((2 - load) * idle * idle),
                   "M/M/1-PS variance");
}

static void exponential_service_has_its_mean_and_variance(void)
{
    check_exponential(0.3, 300000);
    check_exponential(0.6, 500000);
    check_exponential(0.8, 1500000);
    if (!is_slow("M/M/1-PS at .9 and .95"))
        return;
    check_exponential(0.9, 26000000);
    check_exponential(0.95, 60000000);
}

static void check_constant(double load, uint64_t customers)
{
    struct batches batches[CLASSES];
    const struct line line = one_class(load, CONSTANT, customers);
    const double idle = 1 - load;
    const double exact = 2 / (idle * idle) * (0.5 - idle * (exp(load) - 1 - load) / (load * load));
    run_line(&line, batches);
    check_mean(&batches[0], 1 / idle, "M/D/1-PS mean");
    check_variance(&batches[0], 1 / idle, exact, "M/D/1-PS variance");
}

static void constant_service_has_its_mean_and_variance(void)
{
    check_constant(0.5, 500000);
    check_constant(0.8, 1500000);
    if (is_slow("M/D/1-PS at .9"))
        check_constant(0.9, 26000000);
}

static void only_the_mean_of_the_service_matters(void)
{
    struct batches batches[CLASSES];
    const struct line line = one_class(0.8, HYPEREXPONENTIAL, 1500000);
    run_line(&line, batches);
    check_mean(&batches[0], 5.0, "M/H2/1-PS mean");
}

static double fayolle(const struct line *line, uint32_t class)
{
    const uint32_t other = 1 - class;
    const double mu[CLASSES] = { 1 / line->mean[0], 1 / line->mean[1] };
    const double load[CLASSES] = { line->share[0] * line->load, line->share[1] * line->load };
    const double d =
        mu[0] * line->weight[0] * (1 - load[0]) + mu[1] * line->weight[1] * (1 - load[1]);
    const double gain = (double)line->weight[other] - (double)line->weight[class];
    return (1 + mu[class] * load[other] * gain / d) / (mu[class] * (1 - line->load));
}

static void unequal_weights_have_their_two_means(void)
{
    struct batches batches[CLASSES];
    const struct line line = { .load = 0.8,
                               .service = EXPONENTIAL,
                               .weight = { 3, 1 },
                               .share = { 0.5, 0.5 },
                               .mean = { 1, 2 },
                               .customers = 2000000,
                               .warmup = 100000,
                               .seed = 2 };
    run_line(&line, batches);
    check_mean(&batches[0], fayolle(&line, 0), "weight 3");
    check_mean(&batches[1], fayolle(&line, 1), "weight 1");
}

static const struct test tests[] = {
    { "exponential service has its mean and variance",
      exponential_service_has_its_mean_and_variance },
    { "constant service has its mean and variance", constant_service_has_its_mean_and_variance },
    { "only the mean of the service matters", only_the_mean_of_the_service_matters },
    { "unequal weights have their two means", unequal_weights_have_their_two_means },
};

TEST_MAIN(tests)
