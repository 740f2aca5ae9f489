/* SPDX-License-Identifier: Apache-2.0 */
/* What the controller tells a host of tenants: who there is, limits, what they used before. */
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/size.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Of those that were built before tenants had pools. */
#define LEAST_SIZE offsetof(struct weir_tenant_spec, gpu_pool_bytes)

enum { MOST_PRIORITY = 1000000 };

struct weir_tenant_spec weir_tenant_default(void)
{
    static const struct weir_quota unlimited = { WEIR_NO_QUOTA, WEIR_NO_QUOTA, WEIR_NO_QUOTA };

    return (struct weir_tenant_spec){ .size = sizeof(struct weir_tenant_spec),
                                      .weight = 1,
                                      .hard = unlimited,
                                      .soft = unlimited,
                                      .borrow = unlimited,
                                      .lend = unlimited };
}

/* ---- checks ---- */

static bool is_limited(const struct weir_quota *quota)
{
    return quota->gpu_units != WEIR_NO_QUOTA || quota->cpu_units != WEIR_NO_QUOTA ||
           quota->ram_bytes != WEIR_NO_QUOTA;
}

/* Sums of two of them stay numbers. */
static bool is_amount(int64_t amount)
{
    return amount >= 0 && (amount < INT64_MAX / 4 || amount == WEIR_NO_QUOTA);
}

static bool is_quota(const struct weir_quota *quota)
{
    return is_amount(quota->gpu_units) && is_amount(quota->cpu_units) &&
           is_amount(quota->ram_bytes);
}

static bool is_share(double share)
{
    return share >= 0 && share <= 1e12; /* false for NaN */
}

static weir_status check_values(const struct weir_tenant_spec *tenant, struct weir_error *error)
{
    if (!is_share(tenant->weight) || !is_share(tenant->tickets))
        return weir_fail(error, WEIR_EINVAL, "weight %g, tickets %g: both must be within [0, 1e12]",
                         tenant->weight, tenant->tickets);
    if (!is_quota(&tenant->guarantee) || !is_quota(&tenant->hard) || !is_quota(&tenant->soft) ||
        !is_quota(&tenant->borrow) || !is_quota(&tenant->lend))
        return weir_fail(error, WEIR_EINVAL, "a limit is no amount");
    if (tenant->guarantee.gpu_units == WEIR_NO_QUOTA ||
        tenant->guarantee.cpu_units == WEIR_NO_QUOTA ||
        tenant->guarantee.ram_bytes == WEIR_NO_QUOTA)
        return weir_fail(error, WEIR_EINVAL, "a guarantee has an end");
    if (abs(tenant->priority) > MOST_PRIORITY || tenant->priority == INT32_MIN)
        return weir_fail(error, WEIR_EINVAL, "priority %d must be within [-%d, %d]",
                         tenant->priority, MOST_PRIORITY, MOST_PRIORITY);
    if (tenant->gpu_pool_bytes < 0 || tenant->gpu_pool_bytes >= INT64_MAX / 4)
        return weir_fail(error, WEIR_EINVAL, "%lld bytes are no pool of memory",
                         (long long)tenant->gpu_pool_bytes);
    return WEIR_OK;
}

static weir_status check_name(const struct weir_tenants *tenants,
                              const struct weir_tenant_spec *tenant, struct weir_error *error)
{
    if (tenant->name == NULL || tenant->name[0] == '\0')
        return weir_fail(error, WEIR_EINVAL, "a tenant needs a name");
    for (uint32_t t = 1; t < tenants->count; t++)
        if (strcmp(tenants->all[t].name, tenant->name) == 0)
            return weir_fail(error, WEIR_EDUPLICATE, "there is one of this name");
    if (tenants->count > WEIR_MAX_TENANTS)
        return weir_fail(error, WEIR_ERANGE, "at most %d tenants are possible", WEIR_MAX_TENANTS);
    if (tenant->parent >= tenants->count)
        return weir_fail(error, WEIR_ENOTFOUND, "parent %u of %u", tenant->parent, tenants->count);
    if (tenants->all[tenant->parent].depth >= WEIR_MAX_TENANT_DEPTH)
        return weir_fail(error, WEIR_ERANGE, "at most %d levels are possible",
                         WEIR_MAX_TENANT_DEPTH);
    return WEIR_OK;
}

/* ---- telling ---- */

static void take_values(struct weir_tenant_entry *entry, const struct weir_tenant_spec *tenant)
{
    entry->weight = tenant->weight;
    entry->tickets = tenant->tickets > 0 ? tenant->tickets : tenant->weight;
    entry->guarantee = tenant->guarantee;
    entry->hard = tenant->hard;
    entry->soft = tenant->soft;
    entry->borrow = tenant->borrow;
    entry->lend = tenant->lend;
    entry->gpu_pool_bytes = tenant->gpu_pool_bytes;
    entry->priority = tenant->priority;
}

/* After one of them changed. */
static void look_at_limits(struct weir_host *host)
{
    struct weir_tenants *const tenants = &host->jobs.tenants;

    tenants->has_limits = false;
    tenants->has_soft = false;
    tenants->has_pools = false;
    for (uint32_t t = 0; t < tenants->count; t++)
        tenants->all[t].weights_below = 0;
    for (uint32_t t = 1; t < tenants->count; t++) {
        const struct weir_tenant_entry *const entry = &tenants->all[t];
        tenants->all[entry->parent].weights_below += entry->weight;
        tenants->has_limits |=
            is_limited(&entry->hard) || is_limited(&entry->borrow) || is_limited(&entry->lend);
        tenants->has_soft |= is_limited(&entry->soft);
        tenants->has_pools |= entry->gpu_pool_bytes > 0;
    }
    weir_tenants_keep(tenants);
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
}

static weir_status add_entry(struct weir_host *host, const struct weir_tenant_spec *tenant)
{
    struct weir_tenants *const tenants = &host->jobs.tenants;
    const size_t size = strlen(tenant->name) + 1;

    WEIR_ROOM(&host->allocator, tenants->all, tenants->capacity, tenants->count + 1);
    char *const name = weir_alloc(&host->allocator, size, 1);
    if (name == NULL)
        return WEIR_ENOMEM;
    memcpy(name, tenant->name, size);
    struct weir_tenant_entry *const entry = &tenants->all[tenants->count++];
    *entry = (struct weir_tenant_entry){ .name = name,
                                         .parent = tenant->parent,
                                         .depth = tenants->all[tenant->parent].depth + 1,
                                         .since_ns = WEIR_UNKNOWN_TIME,
                                         .first_kind = WEIR_NO_INDEX };
    take_values(entry, tenant);
    return WEIR_OK;
}

weir_status weir_host_add_tenant(struct weir_host *host, const struct weir_tenant_spec *tenant,
                                 uint32_t *number, struct weir_error *error)
{
    struct weir_tenant_spec taken;

    if (host == NULL || tenant == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no tenant");
    WEIR_TRY(weir_size_check(tenant->size, LEAST_SIZE, "the tenant", error));
    weir_size_take(&taken, sizeof taken, tenant, tenant->size);
    WEIR_TRY(check_name(&host->jobs.tenants, &taken, error));
    WEIR_TRY(check_values(&taken, error));
    if (add_entry(host, &taken) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (number != NULL)
        *number = host->jobs.tenants.count - 1;
    look_at_limits(host);
    return WEIR_OK;
}

weir_status weir_host_set_tenant(struct weir_host *host, uint32_t number,
                                 const struct weir_tenant_spec *tenant, struct weir_error *error)
{
    struct weir_tenant_spec taken;

    if (host == NULL || tenant == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no tenant");
    WEIR_TRY(weir_size_check(tenant->size, LEAST_SIZE, "the tenant", error));
    weir_size_take(&taken, sizeof taken, tenant, tenant->size);
    if (number == 0 || number >= host->jobs.tenants.count)
        return weir_fail(error, WEIR_ENOTFOUND, "tenant %u of %u", number,
                         host->jobs.tenants.count);
    WEIR_TRY(check_values(&taken, error));
    take_values(&host->jobs.tenants.all[number], &taken);
    look_at_limits(host);
    return WEIR_OK;
}

weir_status weir_host_set_half_life(struct weir_host *host, int64_t half_life_ns)
{
    if (host == NULL || half_life_ns < 0)
        return WEIR_EINVAL;
    host->jobs.tenants.half_life_ns = half_life_ns;
    return WEIR_OK;
}

weir_status weir_host_set_usage_period(struct weir_host *host, int64_t period_ns)
{
    if (host == NULL || period_ns < 0)
        return WEIR_EINVAL;
    host->jobs.tenants.period_ns = period_ns;
    return WEIR_OK;
}

weir_status weir_host_set_usage_rule(struct weir_host *host, enum weir_usage_rule rule)
{
    if (host == NULL || (rule != WEIR_USAGE_SUM && rule != WEIR_USAGE_AVERAGE))
        return WEIR_EINVAL;
    host->jobs.tenants.rule = rule;
    return WEIR_OK;
}

weir_status weir_host_restore_usage(struct weir_host *host, uint32_t number, double device_s,
                                    int64_t now_ns)
{
    if (host == NULL || !(device_s >= 0) || isinf(device_s))
        return WEIR_EINVAL;
    if (number >= host->jobs.tenants.count)
        return WEIR_ENOTFOUND;
    host->jobs.tenants.all[number].device_s = device_s;
    host->jobs.tenants.all[number].since_ns = now_ns;
    weir_tenants_at(&host->jobs.tenants, now_ns);
    return WEIR_OK;
}
