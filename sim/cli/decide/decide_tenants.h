/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tenants of a decide document (see decide_tenants.c). */
#ifndef SIM_CLI_DECIDE_TENANTS_H
#define SIM_CLI_DECIDE_TENANTS_H

#include "weir/tenant.h"

#include <jansson.h>

/* Each is the `place`-th of the list; the usage once the jobs are there. */
weir_status decide_take_tenant(struct weir_host *host, const json_t *json, size_t place,
                               struct weir_error *error);
weir_status decide_take_reservation(struct weir_host *host, const json_t *json,
                                    struct weir_error *error);
weir_status decide_take_licence(struct weir_host *host, const json_t *json,
                                struct weir_error *error);
weir_status decide_take_usage(struct weir_host *host, const json_t *json, size_t place,
                              struct weir_error *error);

#endif
