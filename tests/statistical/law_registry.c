/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every distribution of the registry against its own formulas: mean, variance and distribution
 * function of a sample with a fixed seed.
 *
 * False alarms: mean and variance are within 6 standard errors (2e-9 each); the distribution
 * function within the Dvoretzky-Kiefer-Wolfowitz bound at 1e-9, which also holds for laws with
 * jumps. Variances are compared only for laws with a finite fourth moment. The registry is walked,
 * so a distribution without a case here fails.
 */
#include "sim/engine/law.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DRAWS = 100000 };

struct law_case {
    const char *text;
    double mean, variance; /* by hand or by numerical integration elsewhere */
    bool has_fourth_moment;
};

#define NEVER ((double)INFINITY)

static const struct law_case CASES[] = {
    { "const(3)", 3, 0, true },
    { "exp(2)", 2, 4, true },
    { "lognormal(7.7, 0.3)", 7.7, 5.3361, true },
    { "lognormal(2, 0)", 2, 0, true },
    { "lognormal(5, 2)", 5, 100, false },
    { "gamma(10, 0.5)", 10, 25, true },
    { "gamma(10, 2)", 10, 400, true },
    { "gamma(3, 0)", 3, 0, true },
    { "gamma(3, 0.001)", 3, 9e-6, true },
    { "weibull(4, 1)", 4, 16, true },
    { "weibull(2, 2)", 1.7724538509055161, 0.85840734641020688, true },
    { "weibull(1, 0.5)", 2, 20, false },
    { "pareto(2, 5)", 2.5, 0.41666666666666669, false },
    { "pareto(1, 2.5)", 1.6666666666666667, 2.2222222222222223, false },
    { "pareto(1, 1)", NEVER, NEVER, false },
    { "pareto(3, 1.5)", 9, NEVER, false },
    { "pareto(1, 1, 100)", 4.6516870565536, 78.361807527891, true },
    { "pareto(2, 0.5, 50)", 10.0, 106.66666666667, true },
    { "pareto(2, 2, 50)", 3.8461538461538, 10.999374829442, true },
    { "uniform(1, 4)", 2.5, 0.75, true },
    { "uniform(2, 2)", 2, 0, true },
    { "normal(10, 1)", 10, 1, true },
    { "normal(0, 1)", 0.3989422804014327, 0.34084505690810466, true },
    { "normal(1, 2)", 1.39559311480261, 2.21376281781421, true },
    { "normal(5, 0)", 5, 0, true },
    { "empirical(sample.csv, x)", 4, 11, true },
    { "mixture(1: const(4), 3: exp(8))", 7, 51, true },
    { "mixture(1: uniform(0, 1), 1: mixture(2: 5, 1: const(2)))", 2.25, 4.104166666666667, true },
};

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* sup |F_n - F|, from both sides of every jump of either. */
static double distance(const struct sim_law *law, const double *sorted)
{
    double worst = 0.0;
    for (size_t i = 0; i < DRAWS; i++) {
        const bool last_of_ties = i + 1 == DRAWS || sorted[i + 1] > sorted[i];
        const bool first_of_ties = i == 0 || sorted[i] > sorted[i - 1];
        if (last_of_ties)
            worst = fmax(worst, fabs((double)(i + 1) / DRAWS - sim_law_cdf(law, sorted[i])));
        if (first_of_ties) {
            const double before = nextafter(sorted[i], -1.0);
            worst = fmax(worst, fabs((double)i / DRAWS - sim_law_cdf(law, before)));
        }
    }
    return worst;
}

static void draw_sample(const struct sim_law *law, uint64_t item, double *sample)
{
    const struct sim_random root = { .seed = 20240501, .replication = 0 };
    struct sim_stream stream;
    sim_stream_open(&stream, &root, SIM_DRAW_TEST, (struct sim_stream_key){ .item = item });
    for (size_t i = 0; i < DRAWS; i++)
        sample[i] = sim_law_draw(law, &stream);
}

static void check_moments(const struct sim_law *law, const struct law_case *expected,
                          const double *sample)
{
    const double mean = sim_law_mean(law);
    const double variance = sim_law_variance(law);
    if (!isfinite(variance))
        return;
    double sum = 0.0;
    double squares = 0.0;
    double fourth = 0.0;
    for (size_t i = 0; i < DRAWS; i++) {
        const double square = (sample[i] - mean) * (sample[i] - mean);
        sum += sample[i] - mean;
        squares += square;
        fourth += square * square;
    }
    const double tiny = 1e-12 * (1.0 + mean * mean);
    CHECK_NEAR(sum / DRAWS, 0.0, 6.0 * sqrt(variance / DRAWS) + tiny);
    if (!expected->has_fourth_moment)
        return;
    const double error = sqrt(fmax(0.0, fourth / DRAWS - variance * variance) / DRAWS);
    CHECK_NEAR(squares / DRAWS, variance, 6.0 * error + tiny);
    if (!CHECK(6.0 * error <= 0.15 * variance + tiny)) /* or the test is blunt */
        printf("%s: 6 standard errors are %.2f of the variance\n", law->text, 6 * error / variance);
}

static void check_formulas(const struct sim_law *law, const struct law_case *expected)
{
    const double mean = sim_law_mean(law);
    const double variance = sim_law_variance(law);
    if (isfinite(expected->mean))
        CHECK_NEAR(mean, expected->mean, 1e-9 * expected->mean);
    if (isfinite(expected->variance))
        CHECK_NEAR(variance, expected->variance, 1e-9 * expected->variance);
    CHECK(isinf(expected->mean) == isinf(mean));
    CHECK(isinf(expected->variance) == isinf(variance));
    CHECK_NEAR(sim_law_cdf(law, -1.0), 0.0, 0.0);
    CHECK(sim_law_cdf(law, 1e17) > 0.9999);
}

static void check_law(const struct law_case *expected, uint64_t item, const char *folder)
{
    static double sample[DRAWS];
    const struct sim_law_context context = { .folder = folder };
    struct sim_law *law = NULL;
    struct weir_error error = { .text = "" };
    if (!CHECK_I64(sim_law_parse(expected->text, &context, &law, &error), WEIR_OK)) {
        printf("%s: %s\n", expected->text, error.text);
        return;
    }
    check_formulas(law, expected);
    draw_sample(law, item, sample);
    check_moments(law, expected, sample);
    qsort(sample, DRAWS, sizeof *sample, compare);
    CHECK(sample[0] >= 0.0);
    CHECK(isfinite(sample[DRAWS - 1]));
    const double bound = sqrt(log(2.0 / 1e-9) / (2.0 * DRAWS));
    if (!CHECK_NEAR(distance(law, sample), 0.0, bound))
        printf("%s: seed 20240501, item %llu\n", expected->text, (unsigned long long)item);
    sim_law_destroy(law);
}

static void every_law_draws_what_its_formulas_say(void)
{
    char folder[] = "/tmp/weir_law_XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    char path[64];
    snprintf(path, sizeof path, "%s/sample.csv", folder);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (!file)
        return;
    fputs("x\n1\n1\n5\n9\n", file);
    CHECK(fclose(file) == 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        check_law(&CASES[i], i, folder);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
}

static void every_distribution_of_the_registry_has_a_case(void)
{
    for (size_t i = 0; i < sim_distribution_count(); i++) {
        const char *name = sim_distribution_at(i)->name;
        bool found = false;
        for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++)
            found = found || (strncmp(CASES[c].text, name, strlen(name)) == 0 &&
                              CASES[c].text[strlen(name)] == '(');
        if (!CHECK(found))
            printf("%s has no case\n", name);
    }
}

/* The same stream gives the same value whatever was drawn from other streams: the demand of an
 * item is the same in every policy. */
static void a_draw_depends_on_its_name_alone(void)
{
    struct sim_law *law = NULL;
    CHECK_I64(
        sim_law_parse("gamma(10, 0.5)", &(struct sim_law_context){ .is_time = true }, &law, NULL),
        WEIR_OK);
    const struct sim_random root = { .seed = 5, .replication = 1 };
    double forward[100];
    for (uint64_t item = 0; item < 100; item++) {
        struct sim_stream stream;
        sim_stream_open(&stream, &root, SIM_DRAW_SERVICE, (struct sim_stream_key){ .item = item });
        forward[item] = sim_law_draw(law, &stream);
    }
    for (uint64_t item = 100; item-- > 0;) {
        struct sim_stream stream;
        sim_stream_open(&stream, &root, SIM_DRAW_SERVICE, (struct sim_stream_key){ .item = item });
        CHECK_NEAR(sim_law_draw(law, &stream), forward[item], 0.0);
    }
    sim_law_destroy(law);
}

/* Where the gamma law changes its method: both sides of shape 1e5 (cv 0.0031623), far tails, and a
 * GSL that would abort on an error. */
static void the_gamma_law_is_smooth_over_its_methods(void)
{
    static const double points[] = { 9.85, 9.9, 9.95, 9.99, 10.0, 10.01, 10.05, 10.1, 10.15 };
    struct sim_law *below = NULL;
    struct sim_law *above = NULL;
    const struct sim_law_context plain = { .is_time = false };
    CHECK_I64(sim_law_parse("gamma(10, 0.00316227766)", &plain, &above, NULL), WEIR_OK);
    CHECK_I64(sim_law_parse("gamma(10, 0.00316227767)", &plain, &below, NULL), WEIR_OK);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        CHECK_NEAR(sim_law_cdf(above, points[i]), sim_law_cdf(below, points[i]), 1e-6);
    sim_law_destroy(above);
    sim_law_destroy(below);
    for (double cv = 1e-7; cv < 101.0; cv *= 10.0) {
        char text[40];
        struct sim_law *law = NULL;
        snprintf(text, sizeof text, "gamma(10, %g)", cv);
        CHECK_I64(sim_law_parse(text, &plain, &law, NULL), WEIR_OK);
        double last = 0.0;
        for (double x = 1e-300; x < 1e300; x *= 1.37) {
            const double next = sim_law_cdf(law, x);
            CHECK(next >= last - 1e-12 && next <= 1.0);
            last = next;
        }
        CHECK_NEAR(last, 1.0, 1e-12);
        sim_law_destroy(law);
    }
}

static const struct test tests[] = {
    { "the gamma law is smooth over its methods", the_gamma_law_is_smooth_over_its_methods },
    { "every law draws what its formulas say", every_law_draws_what_its_formulas_say },
    { "every distribution of the registry has a case",
      every_distribution_of_the_registry_has_a_case },
    { "a draw depends on its name alone", a_draw_depends_on_its_name_alone },
};
TEST_MAIN(tests)
