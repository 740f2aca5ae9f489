/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A host with tenants A, B, C ... on one node, in a few words. Jobs of a tenant are told by the
 * letter; plans are read as letters, one a start.
 */
#ifndef TESTS_SUPPORT_TENANTS_H
#define TESTS_SUPPORT_TENANTS_H

#include "tests/support/host_jobs.h"
#include "weir/tenant.h"

/* So many nodes of so much each; GPUs have 80 GB. */
struct test_node {
    uint32_t nodes, gpus;
    double cpus, ram;
};
struct weir_host *test_tenants_open(const struct weir_host_config *config,
                                    const struct test_node *node);
struct weir_host *test_tenants_host(const char *queueing, const struct test_node *node);
/* With this value of the policy's first parameters. */
struct weir_host *test_tenants_host_with(const char *queueing, const struct test_node *node,
                                         const double *values, uint32_t count);
/* The next letter, from A on: told as `spec` says but for its name; its number. */
uint32_t test_tenant(struct weir_host *host, struct weir_tenant_spec spec);
uint32_t test_tenant_of_weight(struct weir_host *host, double weight);
/* Only GPUs are limited. */
struct weir_quota test_gpus(double gpus);

/* What one of `count` equal jobs asks for. */
struct test_ask {
    uint32_t tenant, count;
    double gpus, cpus, ram;
    int64_t seconds; /* estimate, 0 = none */
    int64_t at_s;    /* submitted */
    uint32_t ranks;  /* 0 = 1 */
    int32_t priority;
    struct weir_traffic traffic;
    double exchange;
};
/* Their ids follow each other over all calls. */
void test_ask(struct weir_host *host, struct test_ask ask);
/* A pass at that time whose starts come true, as letters. */
struct test_text test_round(struct weir_host *host, double at_s);
/* The first so many jobs of a tenant that run end. */
void test_end_some(struct weir_host *host, uint32_t tenant, uint32_t count);
struct weir_tenant test_tenant_now(struct weir_host *host, uint32_t number, double at_s);
double test_gpus_of(struct weir_host *host, uint32_t number);

#endif
