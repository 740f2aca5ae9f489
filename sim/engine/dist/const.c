/* SPDX-License-Identifier: GPL-3.0-or-later */
/* const(v): always v. A bare number in a scenario is this law. */
#include "sim/engine/dist/registry.h"

static double draw(const struct sim_law *law, struct sim_stream *stream)
{
    (void)stream;
    return law->parameter[0];
}

static double variance(const struct sim_law *law)
{
    (void)law;
    return 0.0;
}

static double cdf(const struct sim_law *law, double x)
{
    return x < law->parameter[0] ? 0.0 : 1.0;
}

const struct sim_distribution sim_distribution_const = {
    .name = "const",
    .summary = "always the same value",
    .parameters = { { .name = "value", .min = 0, .max = SIM_LAW_LARGEST, .is_quantity = true } },
    .parameter_count = 1,
    .draw = draw,
    .variance = variance,
    .cdf = cdf,
    .is_certain = true,
};
