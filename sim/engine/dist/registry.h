/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The distributions, one file each; law.c lists them. A new one is a file here, a line here and a
 * line there; the tests loop over the list.
 *
 * empirical and mixture are built from more than numbers, so the parser calls them by name.
 */
#ifndef SIM_ENGINE_DIST_REGISTRY_H
#define SIM_ENGINE_DIST_REGISTRY_H

#include "sim/engine/law.h"

/* Bounds for parameters. A value of 1e18 is 30 thousand million years or an exabyte. */
#define SIM_LAW_POSITIVE 2.2250738585072014e-308 /* smallest normal double: "must be > 0" */
#define SIM_LAW_LARGEST  1e18
/* A parameter in the unit of what is drawn. */
#define SIM_LAW_QUANTITY(title)                                                                    \
    {                                                                                              \
        .name = (title), .min = SIM_LAW_POSITIVE, .max = SIM_LAW_LARGEST, .is_quantity = true      \
    }

extern const struct sim_distribution sim_distribution_const;
extern const struct sim_distribution sim_distribution_exponential;
extern const struct sim_distribution sim_distribution_lognormal;
extern const struct sim_distribution sim_distribution_gamma;
extern const struct sim_distribution sim_distribution_weibull;
extern const struct sim_distribution sim_distribution_pareto;
extern const struct sim_distribution sim_distribution_uniform;
extern const struct sim_distribution sim_distribution_normal;
extern const struct sim_distribution sim_distribution_empirical;
extern const struct sim_distribution sim_distribution_mixture;

/* Reads `column` (a header name) of the CSV file at `path` into law->values, ascending. Errors name
 * file, line and column. */
weir_status sim_empirical_load(struct sim_law *law, const char *path, const char *column,
                               struct weir_error *error);

#endif
