/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Laws: the distributions a scenario can name.
 *
 * A distribution is a static descriptor (one file each in dist/, one line in the registry); a law
 * is a distribution with its parameters. Text form: "lognormal(7.7, 0.3)", "const(3 s)", "3.1",
 * "exp(2 min)"; numbers may carry a time unit (ns us ms s m min h d) when the law is one of time.
 *   const(v)  exp(mean)  lognormal(mean, cv)  gamma(mean, cv)  weibull(scale, shape)
 *   pareto(min, alpha)  pareto(min, alpha, max)  uniform(lo, hi)  normal(mean, sd) cut at 0
 *   empirical(file.csv, column)  mixture(w1: law1, w2: law2, ...)
 * All draws are >= 0. A law is immutable after parsing and may be shared; draws only change the
 * stream. Moments are of the law as drawn (a normal cut at 0 gives the moments after the cut).
 */
#ifndef SIM_ENGINE_LAW_H
#define SIM_ENGINE_LAW_H

#include "sim/engine/random.h"
#include "weir/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_LAW_PARAMETERS = 4 };

struct sim_law;

struct sim_law_parameter {
    const char *name;
    double min, max;  /* allowed closed range */
    bool is_quantity; /* has the unit of the law (seconds); else a pure number */
    bool is_optional; /* absent = NAN */
};

struct sim_distribution {
    const char *name;
    const char *summary;
    struct sim_law_parameter parameters[SIM_LAW_PARAMETERS];
    size_t parameter_count;
    /* Conditions between parameters, and what is derived from them; NULL = none. */
    weir_status (*check)(struct sim_law *law, struct weir_error *error);
    double (*draw)(const struct sim_law *law, struct sim_stream *stream);
    double (*mean)(const struct sim_law *law);     /* NULL = its first parameter */
    double (*variance)(const struct sim_law *law); /* may be +inf */
    double (*cdf)(const struct sim_law *law, double x);
    bool is_certain; /* draw asks for no number: its stream may be NULL */
};

struct sim_law_part {
    double weight; /* normalised and cumulative in the order written; the last is 1 */
    struct sim_law *law;
};

struct sim_law {
    const struct sim_distribution *distribution;
    double parameter[SIM_LAW_PARAMETERS];
    double
        derived[SIM_LAW_PARAMETERS]; /* filled by check (mu, sigma ...), so that a draw is cheap */
    double *values;                  /* empirical: sorted sample */
    size_t value_count;
    struct sim_law_part *parts; /* mixture */
    size_t part_count;
    char *text; /* canonical text, parameters in base units */
};

/* The registry, in documentation order. */
size_t sim_distribution_count(void);
const struct sim_distribution *sim_distribution_at(size_t index);

/* How to read a law's text. */
struct sim_law_context {
    bool is_time;       /* quantities take time units; a bare number is seconds */
    const char *folder; /* empirical files are relative to it; NULL = working directory */
};

/* Parses a text form. Errors name the position in the text and, for an unknown name, the nearest
 * known one. The law is the caller's: sim_law_destroy. */
weir_status sim_law_parse(const char *text, const struct sim_law_context *context,
                          struct sim_law **law, struct weir_error *error);
void sim_law_destroy(struct sim_law *law);

static inline double sim_law_draw(const struct sim_law *law, struct sim_stream *stream)
{
    return law->distribution->draw(law, stream);
}
/* From a stream of its own, which is opened only where the law asks for numbers. */
double sim_law_draw_of(const struct sim_law *law, const struct sim_random *root,
                       enum sim_purpose purpose, struct sim_stream_key key);
double sim_law_mean(const struct sim_law *law);
double sim_law_variance(const struct sim_law *law);
double sim_law_cdf(const struct sim_law *law, double x);
/* Standard deviation over mean; 0 for none of either. */
double sim_law_cv(const struct sim_law *law);

/* A mean that so many measurements of variation `cv` leave open, over the mean they gave: lognormal
 * with mean 1 and variation cv / sqrt(measurements), from a stream of its own. 1 without any, and
 * where nothing varies. */
double sim_mean_factor(double cv, uint32_t measurements, const struct sim_random *root,
                       struct sim_stream_key key);

#endif
