/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder's tenants: what was told of them, and their past; licences, reservations. */
#include "sched/host/export.h"

static int64_t amount_of(int64_t amount)
{
    return amount == WEIR_NO_QUOTA ? -1 : amount;
}

/* [GPUs, CPUs, bytes], in units; left out when all are as usual. */
static void put_quota(struct weir_json *json, const char *key, const struct weir_quota *quota,
                      int64_t usual)
{
    if (quota->gpu_units == usual && quota->cpu_units == usual && quota->ram_bytes == usual)
        return;
    weir_json_open(json, key, '[');
    weir_json_integer(json, NULL, amount_of(quota->gpu_units));
    weir_json_integer(json, NULL, amount_of(quota->cpu_units));
    weir_json_integer(json, NULL, amount_of(quota->ram_bytes));
    weir_json_close(json, '[');
}

static void put_tenant(struct weir_json *json, const struct weir_tenant_entry *tenant)
{
    weir_json_open(json, NULL, '{');
    weir_json_text(json, "name", tenant->name == NULL ? "" : tenant->name);
    weir_export_unless(json, "parent", tenant->parent, 0);
    weir_json_number(json, "weight", tenant->weight);
    weir_json_number(json, "tickets", tenant->tickets);
    put_quota(json, "guarantee", &tenant->guarantee, 0);
    put_quota(json, "hard", &tenant->hard, WEIR_NO_QUOTA);
    put_quota(json, "soft", &tenant->soft, WEIR_NO_QUOTA);
    put_quota(json, "borrow", &tenant->borrow, WEIR_NO_QUOTA);
    put_quota(json, "lend", &tenant->lend, WEIR_NO_QUOTA);
    weir_export_unless(json, "gpu_pool_bytes", tenant->gpu_pool_bytes, 0);
    weir_export_unless(json, "priority", tenant->priority, 0);
    weir_json_number(json, "device_s", tenant->device_s);
    weir_export_unless(json, "since_ns", tenant->since_ns, WEIR_UNKNOWN_TIME);
    weir_json_close(json, '{');
}

void weir_export_tenants(const struct weir_export *out)
{
    const struct weir_tenants *const tenants = &out->host->jobs.tenants;

    if (tenants->count < 2)
        return;
    weir_export_unless(out->json, "half_life_ns", tenants->half_life_ns, 0);
    weir_export_unless(out->json, "usage_period_ns", tenants->period_ns, 0);
    if (tenants->rule == WEIR_USAGE_AVERAGE)
        weir_json_text(out->json, "usage_rule", "average");
    weir_json_open(out->json, "tenants", '[');
    for (uint32_t t = 0; t < tenants->count; t++)
        put_tenant(out->json, &tenants->all[t]);
    weir_json_close(out->json, '[');
}

void weir_export_licences(const struct weir_export *out)
{
    const struct weir_licences *const licences = &out->host->jobs.licences;

    if (licences->count == 0)
        return;
    weir_json_open(out->json, "licences", '[');
    for (uint32_t i = 0; i < licences->count; i++) {
        weir_json_open(out->json, NULL, '{');
        weir_json_text(out->json, "name", licences->all[i].name);
        weir_json_integer(out->json, "limit", licences->all[i].limit);
        weir_export_unless(out->json, "priority_threshold", licences->all[i].priority_threshold,
                           WEIR_NO_THRESHOLD);
        weir_json_close(out->json, '{');
    }
    weir_json_close(out->json, '[');
}

static void put_reservation(struct weir_json *json, const struct weir_reservation_entry *entry)
{
    weir_json_open(json, NULL, '{');
    weir_json_text(json, "name", entry->name);
    weir_export_unless(json, "tenant", entry->tenant, 0);
    weir_json_integer(json, "start_ns", entry->start_ns);
    weir_json_integer(json, "end_ns", entry->end_ns);
    weir_export_unless(json, "nodes", entry->node_limit, 0);
    weir_export_unless(json, "gpus", entry->gpu_limit, 0);
    weir_export_unless(json, "gpu_types", entry->gpu_type, 0);
    weir_json_open(json, "held", '[');
    for (uint32_t i = 0; i < entry->count; i++)
        weir_json_integer(json, NULL, entry->nodes[i]);
    weir_json_close(json, '[');
    weir_json_close(json, '{');
}

void weir_export_reservations(const struct weir_export *out)
{
    const struct weir_reservations *const all = &out->host->jobs.reservations;

    if (all->count == 0)
        return;
    weir_json_open(out->json, "reservations", '[');
    for (uint32_t r = 0; r < all->count; r++)
        put_reservation(out->json, &all->all[r]);
    weir_json_close(out->json, '[');
}
