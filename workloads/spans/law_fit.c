/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Maximum likelihood of the scenario's laws; see the header. Sufficient sums are computed once for
 * all families. References: Choi and Wette 1969 (gamma); Cohen 1965 (Weibull); Stephens 1974 (why
 * estimated parameters need critical values of their own).
 */
#include "workloads/spans/law_fit.h"

#include "sim/engine/random.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_psi.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOOTSTRAPS = 299, BOOTSTRAP_VALUES = 300, EMPIRICAL_LEAST = 100 };
static const double reject_p = 0.01;  /* below: the law is rejected ... */
static const double reject_ks = 0.05; /* ... and above: by more than matters */
static const double aic_margin = 2.0; /* a simpler law within it is preferred */
static const double const_spread = 1e-6;

struct sums {
    double n, mean, log_mean, log_variance, log_sum;
    const double *sorted;
    double z; /* normal quantile of the interval */
    double tail;
};

static const char *family_name(enum wl_family family)
{
    static const char *const names[WL_FAMILIES] = {
        [WL_CONST] = "const", [WL_EXPONENTIAL] = "exp", [WL_LOGNORMAL] = "lognormal",
        [WL_GAMMA] = "gamma", [WL_WEIBULL] = "weibull", [WL_EMPIRICAL] = "empirical"
    };
    return names[family];
}

static struct sums add_up(const double *sorted, size_t n, double confidence)
{
    struct sums sums = { .n = (double)n, .sorted = sorted, .tail = (1.0 - confidence) / 2.0 };
    sums.z = gsl_cdf_ugaussian_Qinv(sums.tail);
    for (size_t i = 0; i < n; i++) {
        sums.mean += sorted[i] / sums.n;
        sums.log_sum += sorted[i] > 0 ? log(sorted[i]) : 0.0;
    }
    sums.log_mean = sums.log_sum / sums.n;
    for (size_t i = 0; i < n && sorted[0] > 0; i++) {
        const double offset = log(sorted[i]) - sums.log_mean;
        sums.log_variance += offset * offset / sums.n;
    }
    return sums;
}

/* An interval that is symmetric for the logarithm. */
static struct wl_estimate log_estimate(const char *name, double value, double log_se, double z)
{
    return (struct wl_estimate){ name, value, value * exp(-z * log_se), value * exp(z * log_se) };
}

/* ---- families ---- */

static bool is_constant(const double *sorted, size_t n)
{
    const double spread = sorted[n - 1] - sorted[0];
    return spread <= 2e-9 || spread <= const_spread * sorted[n - 1];
}

static bool fit_const(const struct sums *sums, struct wl_law_fit *fit)
{
    const size_t n = (size_t)sums->n;
    if (!is_constant(sums->sorted, n))
        return false;
    fit->parameter[0] =
        (struct wl_estimate){ "value", sums->mean, sums->sorted[0], sums->sorted[n - 1] };
    fit->parameter_count = 1;
    fit->log_likelihood = HUGE_VAL;
    return true;
}

/* 2 n mean / true mean is chi-square with 2 n degrees of freedom: exact. */
static bool fit_exponential(const struct sums *sums, struct wl_law_fit *fit)
{
    if (!(sums->mean > 0))
        return false;
    const double twice = 2.0 * sums->n;
    fit->parameter[0] =
        (struct wl_estimate){ "mean", sums->mean,
                              twice * sums->mean / gsl_cdf_chisq_Qinv(sums->tail, twice),
                              twice * sums->mean / gsl_cdf_chisq_Pinv(sums->tail, twice) };
    fit->parameter_count = 1;
    fit->log_likelihood = -sums->n * (log(sums->mean) + 1.0);
    return true;
}

static double cv_of_log_variance(double variance)
{
    return sqrt(expm1(variance));
}

static bool fit_lognormal(const struct sums *sums, struct wl_law_fit *fit)
{
    const double v = sums->log_variance;
    if (!(sums->sorted[0] > 0) || sums->n < 3 || !(v > 0) || v > 13.0)
        return false;
    const double mean_se = sqrt(v / sums->n + v * v / (2.0 * sums->n));
    fit->parameter[0] = log_estimate("mean", exp(sums->log_mean + v / 2.0), mean_se, sums->z);
    const double squares = sums->n * v;
    fit->parameter[1] = (struct wl_estimate){
        "cv", cv_of_log_variance(v),
        cv_of_log_variance(squares / gsl_cdf_chisq_Qinv(sums->tail, sums->n - 1.0)),
        cv_of_log_variance(squares / gsl_cdf_chisq_Pinv(sums->tail, sums->n - 1.0))
    };
    fit->parameter_count = 2;
    fit->log_likelihood = -sums->n * (sums->log_mean + 0.5 * log(2.0 * acos(-1.0) * v) + 0.5);
    return true;
}

/* ln k - psi(k) = s by Newton's method from the approximation of Minka. */
static double gamma_shape(double s)
{
    double k = (3.0 - s + sqrt((s - 3.0) * (s - 3.0) + 24.0 * s)) / (12.0 * s);
    for (int i = 0; i < 50; i++) {
        const double slope = 1.0 / k - gsl_sf_psi_1(k);
        const double next = k - (log(k) - gsl_sf_psi(k) - s) / slope;
        const double step = fabs(next - k);
        k = next > 0 ? next : k / 2.0;
        if (step <= 1e-12 * k)
            break;
    }
    return k;
}

static bool fit_gamma(const struct sums *sums, struct wl_law_fit *fit)
{
    const double s = log(sums->mean) - sums->log_mean;
    if (!(sums->sorted[0] > 0) || sums->n < 3 || !(s > 1e-12))
        return false;
    const double k = gamma_shape(s);
    if (!(k > 1e-4) || k > 1e8)
        return false;
    const double theta = sums->mean / k;
    const double log_k_se = sqrt(1.0 / (sums->n * (gsl_sf_psi_1(k) - 1.0 / k))) / k;
    fit->parameter[0] = log_estimate("mean", sums->mean, 1.0 / sqrt(k * sums->n), sums->z);
    fit->parameter[1] = log_estimate("cv", 1.0 / sqrt(k), log_k_se / 2.0, sums->z);
    fit->parameter_count = 2;
    fit->log_likelihood =
        (k - 1.0) * sums->log_sum - sums->n * (k + k * log(theta) + gsl_sf_lngamma(k));
    return true;
}

struct weibull_sums {
    double s0, s1, s2;
};

/* Sums of (x / largest)^k, times ln and ln^2: never overflow. */
static struct weibull_sums weibull_sums(const struct sums *sums, double k)
{
    const size_t n = (size_t)sums->n;
    const double log_largest = log(sums->sorted[n - 1]);
    struct weibull_sums result = { 0 };
    for (size_t i = 0; i < n; i++) {
        const double u = log(sums->sorted[i]) - log_largest;
        const double power = exp(k * u);
        result.s0 += power;
        result.s1 += power * u;
        result.s2 += power * u * u;
    }
    return result;
}

static double weibull_shape(const struct sums *sums)
{
    const double centre = sums->log_mean - log(sums->sorted[(size_t)sums->n - 1]);
    double k = 1.2825 / sqrt(sums->log_variance); /* sd of ln x is pi / (sqrt(6) k) */
    for (int i = 0; i < 60; i++) {
        const struct weibull_sums w = weibull_sums(sums, k);
        const double ratio = w.s1 / w.s0;
        const double value = ratio - 1.0 / k - centre;
        const double slope = w.s2 / w.s0 - ratio * ratio + 1.0 / (k * k);
        const double next = k - value / slope;
        const double step = fabs(next - k);
        k = next > 0 ? next : k / 2.0;
        if (step <= 1e-10 * k)
            break;
    }
    return k;
}

static bool fit_weibull(const struct sums *sums, struct wl_law_fit *fit)
{
    const size_t n = (size_t)sums->n;
    if (!(sums->sorted[0] > 0) || n < 3 || !(sums->log_variance > 1e-10))
        return false;
    const double k = weibull_shape(sums);
    if (!(k > 0.05) || k > 1000.0)
        return false;
    const double scale = sums->sorted[n - 1] * pow(weibull_sums(sums, k).s0 / sums->n, 1.0 / k);
    /* Inverse of the information matrix: 1.1087 (scale / k)^2 / n and 0.6079 k^2 / n. */
    fit->parameter[0] = log_estimate("scale", scale, sqrt(1.10866 / sums->n) / k, sums->z);
    fit->parameter[1] = log_estimate("shape", k, sqrt(0.60793 / sums->n), sums->z);
    fit->parameter_count = 2;
    fit->log_likelihood = sums->n * (log(k) - k * log(scale) - 1.0) + (k - 1.0) * sums->log_sum;
    return true;
}

/* ---- distribution functions ---- */

static double log_sd(const struct wl_law_fit *fit)
{
    return sqrt(log1p(fit->parameter[1].value * fit->parameter[1].value));
}

static double log_location(const struct wl_law_fit *fit)
{
    return log(fit->parameter[0].value) - log_sd(fit) * log_sd(fit) / 2.0;
}

double wl_law_cdf(const struct wl_law_fit *fit, double x)
{
    const double first = fit->parameter[0].value;
    const double second = fit->parameter[1].value;
    switch (fit->family) {
    case WL_CONST:
        return x < first ? 0.0 : 1.0;
    case WL_EXPONENTIAL:
        return -expm1(-x / first);
    case WL_LOGNORMAL:
        return x > 0 ? gsl_cdf_ugaussian_P((log(x) - log_location(fit)) / log_sd(fit)) : 0.0;
    case WL_GAMMA:
        return gsl_cdf_gamma_P(x, 1.0 / (second * second), first * second * second);
    case WL_WEIBULL:
        return x > 0 ? -expm1(-pow(x / first, second)) : 0.0;
    case WL_EMPIRICAL:
    case WL_FAMILIES:
        break;
    }
    return (double)NAN;
}

double wl_law_quantile(const struct wl_law_fit *fit, double p)
{
    const double first = fit->parameter[0].value;
    const double second = fit->parameter[1].value;
    switch (fit->family) {
    case WL_CONST:
        return first;
    case WL_EXPONENTIAL:
        return -first * log1p(-p);
    case WL_LOGNORMAL:
        return exp(log_location(fit) + log_sd(fit) * gsl_cdf_ugaussian_Pinv(p));
    case WL_GAMMA:
        return gsl_cdf_gamma_Pinv(p, 1.0 / (second * second), first * second * second);
    case WL_WEIBULL:
        return first * pow(-log1p(-p), 1.0 / second);
    case WL_EMPIRICAL:
    case WL_FAMILIES:
        break;
    }
    return (double)NAN;
}

/* ---- goodness ---- */

static void measure(struct wl_law_fit *fit, const double *sorted, size_t n)
{
    const double count = (double)n;
    double sum = 0;
    fit->ks = 0;
    for (size_t i = 0; i < n; i++) {
        const double f = wl_law_cdf(fit, sorted[i]);
        const double upper = 1.0 - wl_law_cdf(fit, sorted[n - 1 - i]);
        const double below = (double)i / count;
        fit->ks = fmax(fit->ks, fmax(f - below, below + 1.0 / count - f));
        sum += (2.0 * (double)i + 1.0) * (log(fmax(f, 1e-300)) + log(fmax(upper, 1e-16)));
    }
    fit->ad = -count - sum / count;
}

bool wl_law_fit_family(enum wl_family family, const double *sorted, size_t n, double confidence,
                       struct wl_law_fit *fit)
{
    static bool (*const fitters[WL_FAMILIES])(const struct sums *, struct wl_law_fit *) = {
        [WL_CONST] = fit_const, [WL_EXPONENTIAL] = fit_exponential, [WL_LOGNORMAL] = fit_lognormal,
        [WL_GAMMA] = fit_gamma, [WL_WEIBULL] = fit_weibull,         [WL_EMPIRICAL] = NULL
    };
    *fit = (struct wl_law_fit){ .family = family, .n = n, .p_value = (double)NAN };
    if (n == 0 || fitters[family] == NULL || (family != WL_CONST && is_constant(sorted, n)))
        return false;
    const struct sums sums = add_up(sorted, n, confidence);
    if (!fitters[family](&sums, fit))
        return false;
    fit->aic = 2.0 * (double)fit->parameter_count - 2.0 * fit->log_likelihood;
    if (family != WL_CONST)
        measure(fit, sorted, n);
    return true;
}

static double draw(const struct wl_law_fit *fit, struct sim_stream *stream)
{
    const double first = fit->parameter[0].value;
    const double second = fit->parameter[1].value;
    if (fit->family == WL_LOGNORMAL)
        return exp(log_location(fit) + log_sd(fit) * sim_stream_normal(stream));
    if (fit->family == WL_GAMMA) {
        gsl_rng view = sim_stream_gsl(stream);
        return gsl_ran_gamma(&view, 1.0 / (second * second), first * second * second);
    }
    const double e = sim_stream_exponential(stream);
    return first * (fit->family == WL_WEIBULL ? pow(e, 1.0 / second) : e);
}

static int compare_numbers(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

double wl_law_p_value(const struct wl_law_fit *fit)
{
    const size_t n = fit->n < BOOTSTRAP_VALUES ? fit->n : BOOTSTRAP_VALUES;
    const struct sim_random root = { .seed = 1 };
    double values[BOOTSTRAP_VALUES] = { 0 };
    size_t beyond = 0;
    for (uint32_t b = 0; b < BOOTSTRAPS; b++) {
        struct sim_stream stream;
        const struct sim_stream_key key = { b, (uint32_t)fit->family, 0 };
        sim_stream_open(&stream, &root, SIM_DRAW_FIT, key);
        for (size_t i = 0; i < n; i++)
            values[i] = draw(fit, &stream);
        qsort(values, n, sizeof values[0], compare_numbers);
        struct wl_law_fit again;
        if (!wl_law_fit_family(fit->family, values, n, 0.95, &again) || again.ad >= fit->ad)
            beyond++;
    }
    return (double)(beyond + 1) / (BOOTSTRAPS + 1);
}

/* ---- choice ---- */

static void summarise(struct wl_law_choice *choice)
{
    const double n = (double)choice->n;
    double squares = 0;
    for (size_t i = 0; i < choice->n; i++)
        choice->mean += choice->sorted[i] / n;
    for (size_t i = 0; i < choice->n; i++)
        squares += (choice->sorted[i] - choice->mean) * (choice->sorted[i] - choice->mean);
    choice->sd = choice->n > 1 ? sqrt(squares / (n - 1.0)) : 0.0;
    choice->min = choice->sorted[0];
    choice->max = choice->sorted[choice->n - 1];
}

/* The best AIC; a law with fewer parameters that is as good but for the margin wins. */
static enum wl_family choose_family(const struct wl_law_choice *choice)
{
    enum wl_family best = WL_EMPIRICAL;
    for (enum wl_family f = WL_EXPONENTIAL; f < WL_EMPIRICAL; f++)
        if (choice->has_candidate[f] &&
            (best == WL_EMPIRICAL || choice->candidates[f].aic < choice->candidates[best].aic))
            best = f;
    if (best != WL_EMPIRICAL && choice->has_candidate[WL_EXPONENTIAL] &&
        choice->candidates[WL_EXPONENTIAL].aic < choice->candidates[best].aic + aic_margin)
        best = WL_EXPONENTIAL;
    return best;
}

static void choose(struct wl_law_choice *choice, double confidence)
{
    for (enum wl_family f = WL_CONST; f < WL_EMPIRICAL; f++)
        choice->has_candidate[f] =
            wl_law_fit_family(f, choice->sorted, choice->n, confidence, &choice->candidates[f]);
    const enum wl_family best = choice->has_candidate[WL_CONST] ? WL_CONST : choose_family(choice);
    const struct wl_law_fit sample = { .family = WL_EMPIRICAL,
                                       .n = choice->n,
                                       .p_value = (double)NAN };
    choice->best = best == WL_EMPIRICAL ? sample : choice->candidates[best];
    if (best != WL_CONST && best != WL_EMPIRICAL)
        choice->best.p_value = wl_law_p_value(&choice->best);
    const bool is_rejected = choice->n >= EMPIRICAL_LEAST && choice->best.ks > reject_ks &&
                             choice->best.p_value < reject_p;
    choice->fit = is_rejected ? sample : choice->best;
}

weir_status wl_law_choose(const double *values, size_t n, double confidence,
                          struct wl_law_choice *choice, struct weir_error *error)
{
    if (n == 0)
        return weir_fail(error, WEIR_EINVAL, "no values to fit a law to");
    *choice = (struct wl_law_choice){ .n = n };
    choice->sorted = malloc(n * sizeof(*choice->sorted));
    if (choice->sorted == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    memcpy(choice->sorted, values, n * sizeof(*values));
    qsort(choice->sorted, n, sizeof(*values), compare_numbers);
    summarise(choice);
    choose(choice, confidence);
    return WEIR_OK;
}

void wl_law_choice_clear(struct wl_law_choice *choice)
{
    free(choice->sorted);
    choice->sorted = NULL;
}

/* ---- texts ---- */

const char *wl_law_text(const struct wl_law_fit *fit, const char *unit, char text[WL_LAW_TEXT])
{
    const char *name = family_name(fit->family);
    if (fit->parameter_count == 2)
        (void)snprintf(text, WL_LAW_TEXT, "%s(%.8g%s, %.8g)", name, fit->parameter[0].value, unit,
                       fit->parameter[1].value);
    else if (fit->parameter_count == 1)
        (void)snprintf(text, WL_LAW_TEXT, "%s(%.8g%s)", name, fit->parameter[0].value, unit);
    else
        (void)snprintf(text, WL_LAW_TEXT, "%s", name);
    return text;
}

const char *wl_law_goodness(const struct wl_law_choice *choice, char text[WL_LAW_TEXT])
{
    const struct wl_law_fit *fit = &choice->best;
    const char *few = choice->n < WL_FIT_FEW ? "; fewer than 30 values, do not trust it" : "";
    if (fit->family == WL_CONST)
        (void)snprintf(text, WL_LAW_TEXT, "all %zu values are the same%s", choice->n, few);
    else if (fit->family == WL_EMPIRICAL)
        (void)snprintf(text, WL_LAW_TEXT, "no law can be fitted to these %zu values%s", choice->n,
                       few);
    else if (choice->fit.family == WL_EMPIRICAL)
        (void)snprintf(text, WL_LAW_TEXT,
                       "the best law, %s, is off by %.1f %% (KS) and rejected (Anderson-Darling "
                       "%.2f, p %.3f): the sample itself is kept",
                       family_name(fit->family), 100.0 * fit->ks, fit->ad, fit->p_value);
    else
        (void)snprintf(text, WL_LAW_TEXT, "%s: KS %.1f %%, Anderson-Darling %.2f, p %.3f%s",
                       fit->p_value >= reject_p ? "not rejected"
                       : fit->ks <= reject_ks   ? "rejected, yet near enough"
                                                : "rejected",
                       100.0 * fit->ks, fit->ad, fit->p_value, few);
    return text;
}
