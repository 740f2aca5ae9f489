/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimators of laws against values worked out by hand or by another route. */
#include "workloads/spans/law_fit.h"
#include "tests/support/check.h"

#include <math.h>
#include <string.h>

static void exponential_is_the_mean_with_the_exact_interval(void)
{
    /* n = 4, mean 2.5: chi-square with 8 degrees of freedom, 2.5 % and 97.5 %: 2.1797, 17.5345. */
    const double values[] = { 1, 2, 3, 4 };
    struct wl_law_fit fit;
    CHECK(wl_law_fit_family(WL_EXPONENTIAL, values, 4, 0.95, &fit));
    CHECK_NEAR(fit.parameter[0].value, 2.5, 1e-12);
    CHECK_NEAR(fit.parameter[0].low, 20.0 / 17.5345, 1e-4);
    CHECK_NEAR(fit.parameter[0].high, 20.0 / 2.1797, 1e-3);
    CHECK_NEAR(fit.log_likelihood, -4.0 * (log(2.5) + 1.0), 1e-12);
    CHECK_NEAR(fit.aic, 2.0 + 8.0 * (log(2.5) + 1.0), 1e-12);
}

static void lognormal_takes_mean_and_variance_of_logarithms(void)
{
    /* ln x = 0, 1, 2: mean 1, maximum-likelihood variance 2/3. */
    const double values[] = { 1, exp(1.0), exp(2.0) };
    struct wl_law_fit fit;
    CHECK(wl_law_fit_family(WL_LOGNORMAL, values, 3, 0.95, &fit));
    CHECK_NEAR(fit.parameter[0].value, exp(4.0 / 3.0), 1e-12);
    CHECK_NEAR(fit.parameter[1].value, sqrt(exp(2.0 / 3.0) - 1.0), 1e-12);
    const double pi = acos(-1.0);
    CHECK_NEAR(fit.log_likelihood, -3.0 - 1.5 * log(2.0 * pi * 2.0 / 3.0) - 1.5, 1e-12);
    /* chi-square with 2 degrees of freedom: 0.050636 and 7.377759. */
    CHECK_NEAR(fit.parameter[1].low, sqrt(exp(2.0 / 7.377759) - 1.0), 1e-6);
}

/* The derivative of the likelihood is 0 at the estimate and its value is largest there. */
static double gamma_log_likelihood(const double *values, size_t n, double mean, double cv)
{
    const double k = 1.0 / (cv * cv);
    const double theta = mean / k;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (k - 1.0) * log(values[i]) - values[i] / theta - k * log(theta) - lgamma(k);
    return sum;
}

static double weibull_log_likelihood(const double *values, size_t n, double scale, double shape)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += log(shape / scale) + (shape - 1.0) * log(values[i] / scale) -
               pow(values[i] / scale, shape);
    return sum;
}

static const double sample[] = { 0.4, 0.9, 1.3, 1.4, 2.0, 2.2, 3.1, 4.5 };
enum { SAMPLE = sizeof sample / sizeof sample[0] };

static void gamma_and_weibull_stand_on_the_top_of_the_likelihood(void)
{
    static const enum wl_family families[] = { WL_GAMMA, WL_WEIBULL };
    for (size_t f = 0; f < 2; f++) {
        double (*const likelihood)(const double *, size_t, double, double) =
            f == 0 ? gamma_log_likelihood : weibull_log_likelihood;
        struct wl_law_fit fit;
        CHECK(wl_law_fit_family(families[f], sample, SAMPLE, 0.95, &fit));
        const double a = fit.parameter[0].value;
        const double b = fit.parameter[1].value;
        const double top = likelihood(sample, SAMPLE, a, b);
        CHECK_NEAR(fit.log_likelihood, top, 1e-9);
        CHECK(top >= likelihood(sample, SAMPLE, a * 1.001, b));
        CHECK(top >= likelihood(sample, SAMPLE, a / 1.001, b));
        CHECK(top >= likelihood(sample, SAMPLE, a, b * 1.001));
        CHECK(top >= likelihood(sample, SAMPLE, a, b / 1.001));
        CHECK_NEAR(wl_law_cdf(&fit, wl_law_quantile(&fit, 0.3)), 0.3, 1e-9);
    }
}

static void constants_and_degenerate_samples_are_recognised(void)
{
    const double same[] = { 0.25, 0.25 + 1e-9, 0.25 + 1e-9 };
    struct wl_law_choice choice;
    struct weir_error error = { .phase = -1, .pool = -1 };
    CHECK_I64(wl_law_choose(same, 3, 0.95, &choice, &error), WEIR_OK);
    CHECK_I64(choice.fit.family, WL_CONST);
    char text[WL_LAW_TEXT];
    CHECK_STR(wl_law_text(&choice.fit, " s", text), "const(0.25 s)");
    CHECK(strstr(wl_law_goodness(&choice, text), "fewer than 30") != NULL);
    wl_law_choice_clear(&choice);

    const double zeros[] = { 0, 0, 1, 2, 5 };
    CHECK_I64(wl_law_choose(zeros, 5, 0.95, &choice, &error), WEIR_OK);
    CHECK_I64(choice.fit.family, WL_EXPONENTIAL); /* the only law that can take zeros */
    CHECK(!choice.has_candidate[WL_LOGNORMAL] && !choice.has_candidate[WL_GAMMA]);
    wl_law_choice_clear(&choice);
    CHECK_I64(wl_law_choose(zeros, 0, 0.95, &choice, &error), WEIR_EINVAL);
}

static void distance_and_anderson_darling_follow_their_definitions(void)
{
    /* exp with mean 1 at the two quartile points: F = 1/4 and 3/4 stretched to mean 1. */
    const double values[] = { 0.5, 1.5 };
    struct wl_law_fit fit;
    CHECK(wl_law_fit_family(WL_EXPONENTIAL, values, 2, 0.95, &fit));
    const double f1 = 1.0 - exp(-0.5);
    const double f2 = 1.0 - exp(-1.5);
    const double ad = -2.0 - 0.5 * (log(f1) + log(1.0 - f2) + 3.0 * (log(f2) + log(1.0 - f1)));
    CHECK_NEAR(fit.ks, f1, 1e-12);
    CHECK_NEAR(fit.ad, ad, 1e-12);
}

static void two_humps_are_kept_as_a_sample(void)
{
    double values[400];
    struct wl_law_choice choice;
    struct weir_error error = { .phase = -1, .pool = -1 };
    for (size_t i = 0; i < 400; i++)
        values[i] = (i % 2 == 0 ? 1.0 : 20.0) + (double)i * 0.001;
    CHECK_I64(wl_law_choose(values, 400, 0.95, &choice, &error), WEIR_OK);
    CHECK_I64(choice.fit.family, WL_EMPIRICAL);
    CHECK(choice.best.family != WL_EMPIRICAL && choice.best.ks > 0.05);
    CHECK_NEAR(choice.sorted[0], 1.0, 1e-12);
    wl_law_choice_clear(&choice);
}

static const struct test tests[] = {
    { "exponential: the mean, with the exact chi-square interval",
      exponential_is_the_mean_with_the_exact_interval },
    { "lognormal: mean and variance of the logarithms",
      lognormal_takes_mean_and_variance_of_logarithms },
    { "gamma and Weibull stand on the top of their likelihood",
      gamma_and_weibull_stand_on_the_top_of_the_likelihood },
    { "constants, zeros and empty samples are recognised",
      constants_and_degenerate_samples_are_recognised },
    { "KS distance and A^2 follow their definitions",
      distance_and_anderson_darling_follow_their_definitions },
    { "a sample with two humps is kept as it is", two_humps_are_kept_as_a_sample },
};
TEST_MAIN(tests)
