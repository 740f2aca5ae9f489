/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a sample to a law: maximum likelihood, choice by AIC, goodness of fit.
 *
 * Parameters are those of the scenario's laws (sim/engine/law.h), so a fit prints as one. Intervals
 * come from the information matrix on the scale where it is closest to normal (exponential: exact).
 * The p-value of the Anderson-Darling statistic is a parametric bootstrap with a fixed seed,
 * because the parameters were estimated from the same data; see docs/fit.md.
 */
#ifndef WORKLOADS_LAW_FIT_H
#define WORKLOADS_LAW_FIT_H

#include "weir/status.h"

#include <stdbool.h>
#include <stddef.h>

enum wl_family {
    WL_CONST,
    WL_EXPONENTIAL,
    WL_LOGNORMAL,
    WL_GAMMA,
    WL_WEIBULL,
    WL_EMPIRICAL,
    WL_FAMILIES
};

enum { WL_FIT_FEW = 30, WL_LAW_TEXT = 256 };

struct wl_estimate {
    const char *name;
    double value, low, high;
};

struct wl_law_fit {
    enum wl_family family;
    size_t n;
    struct wl_estimate parameter[2];
    size_t parameter_count;
    double log_likelihood, aic;
    double ks, ad;  /* Kolmogorov-Smirnov distance, Anderson-Darling A^2 */
    double p_value; /* of A^2; NAN = not asked */
};

struct wl_law_choice {
    size_t n;
    double mean, sd, min, max;
    struct wl_law_fit fit;  /* the chosen one */
    struct wl_law_fit best; /* the best law with parameters, where the sample itself was chosen */
    struct wl_law_fit candidates[WL_FAMILIES];
    bool has_candidate[WL_FAMILIES];
    double *sorted; /* the sample, ascending; owned */
};

/* One family by maximum likelihood from `n` ascending values; false when it has none (not enough
 * values, zeros, no spread). p_value stays NAN. */
bool wl_law_fit_family(enum wl_family family, const double *sorted, size_t n, double confidence,
                       struct wl_law_fit *fit);

/* Fits all families and chooses; `values` in any order, >= 0 and finite, n >= 1. The choice is to
 * be cleared. */
weir_status wl_law_choose(const double *values, size_t n, double confidence,
                          struct wl_law_choice *choice, struct weir_error *error);
void wl_law_choice_clear(struct wl_law_choice *choice);

double wl_law_cdf(const struct wl_law_fit *fit, double x);
double wl_law_quantile(const struct wl_law_fit *fit, double p);
/* P(A^2 of a sample from the fitted law, fitted again, >= fit->ad). */
double wl_law_p_value(const struct wl_law_fit *fit);

/* "lognormal(7.7, 0.3)"; const and exponential with the unit given ("" or " s"). An empirical law
 * has no text of its own. */
const char *wl_law_text(const struct wl_law_fit *fit, const char *unit, char text[WL_LAW_TEXT]);
/* One sentence about how well the chosen law fits. */
const char *wl_law_goodness(const struct wl_law_choice *choice, char text[WL_LAW_TEXT]);

#endif
