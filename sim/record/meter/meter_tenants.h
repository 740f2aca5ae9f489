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

/* So many more jobs of the tenant (counted from 1; 0 = nobody's) wait. What it holds is known by
 * its ranks. */
void sim_meter_tenant_waits(struct sim_meter *meter, int64_t now_ns, uint32_t tenant, int more);
/* So many bytes of GPUs are kept for a tenant and not in use, from now on. */
void sim_meter_tenant_pool(struct sim_meter *meter, int64_t now_ns, uint32_t tenant,
                           double idle_bytes);
/* A job of a tenant comes that needs so many GPUs for so long. Returns how long it would take from
 * now on if the tenant had its part of the cluster by weight for itself, first come, first served,
 * without gaps; 0 = it needs no GPU or never ends, or the tenant has no part. */
int64_t sim_meter_tenant_alone(struct sim_meter *meter, int64_t now_ns, uint32_t tenant,
                               double gpus, int64_t run_ns);
/* One started for the first time; one is done after so long, which alone would have taken that. */
void sim_meter_tenant_wait(struct sim_meter *meter, uint32_t tenant, int64_t wait_ns);
void sim_meter_tenant_done(struct sim_meter *meter, uint32_t tenant, int64_t time_ns,
                           int64_t alone_ns);

/* Jain's index (sum x)^2 / (n sum x^2); NAN when all are 0. */
double sim_jain_index(const double *shares, size_t count);
/* 1 - (max - min)/max of loads; 1 when all are 0. NAN of none. */
double sim_balance_index(const double *loads, size_t count);

#endif
