/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tenants of the meter: what each has and waits for, and how evenly it is divided.
 *
 * A tenant has what its own jobs have and those of the tenants below it. Without tenants there are
 * neither rows nor results. Integrals count from the end of the warm-up.
 */
#ifndef SIM_RECORD_METER_TENANTS_H
#define SIM_RECORD_METER_TENANTS_H

#include "sim/record/meter/meter.h"

/* A job of the tenant (counted from 1; 0 = nobody's) that has so many GPUs: so many more wait and
 * run. */
void sim_meter_tenant(struct sim_meter *meter, int64_t now_ns, uint32_t tenant, int waiting,
                      double running_gpus);
/* So many bytes of GPUs are kept for a tenant and not in use, from now on. */
void sim_meter_tenant_pool(struct sim_meter *meter, int64_t now_ns, uint32_t tenant,
                           double idle_bytes);
/* One started for the first time, one is done. */
void sim_meter_tenant_wait(struct sim_meter *meter, uint32_t tenant, int64_t wait_ns);
void sim_meter_tenant_done(struct sim_meter *meter, uint32_t tenant);

/* Jain's index (sum x)^2 / (n sum x^2); NAN when all are 0. */
double sim_jain_index(const double *shares, size_t count);
/* 1 - (max - min)/max of loads; 1 when all are 0. NAN of none. */
double sim_balance_index(const double *loads, size_t count);

#endif
