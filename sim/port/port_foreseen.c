/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the scheduler may forecast from, and how well it did. */
#include "sim/port/port_state.h"
#include "weir/capacity.h"
#include "weir/host.h"

#include <math.h>

void sim_port_features(struct sim_port *port, double *values)
{
    const int64_t now_ns = sim_engine_now(port->config.context->engine);

    weir_view_features(weir_host_view(port->host, now_ns), &port->feature_past, values);
}

double sim_port_forecast_error(const struct sim_port *port)
{
    const double error =
        port->is_isolated ? port->forecast_error : weir_host_forecast_error(port->host);

    return isfinite(error) ? error : (double)NAN;
}
