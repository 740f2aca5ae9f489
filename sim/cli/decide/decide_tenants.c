/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tenants of a decide document: who there is, what they used before; licences; what is
 * reserved.
 */
#include "sim/cli/decide/decide_tenants.h"

#include "sim/cli/decide/decide_format.h"
#include "sim/cli/decide/decide_input.h"
#include "sim/cli/decide/decide_parts.h"
#include "weir/reservation.h"

#include <stdlib.h>

static weir_status read_quota(const json_t *json, const char *key, struct weir_quota *quota,
                              struct weir_error *error)
{
    const json_t *const list = json_object_get(json, key);
    int64_t *const amounts[] = { &quota->gpu_units, &quota->cpu_units, &quota->ram_bytes };

    if (list == NULL)
        return WEIR_OK;
    if (json_array_size(list) != 3)
        return weir_fail(error, WEIR_EFORMAT,
                         "%s: expected GPUs, CPUs and bytes, found %zu numbers", key,
                         json_array_size(list));
    for (size_t i = 0; i < 3; i++) {
        const int64_t amount = json_integer_value(json_array_get(list, i));
        *amounts[i] = amount < 0 ? WEIR_NO_QUOTA : amount;
    }
    return WEIR_OK;
}

/* The first is the root, which is there. */
weir_status decide_take_tenant(struct weir_host *host, const json_t *json, size_t place,
                               struct weir_error *error)
{
    struct decide_tenant tenant = { .spec = weir_tenant_default() };

    WEIR_TRY(decide_read(json, &decide_tenant_keys, &tenant, error));
    tenant.spec.priority = (int32_t)tenant.priority;
    WEIR_TRY(read_quota(json, "guarantee", &tenant.spec.guarantee, error));
    WEIR_TRY(read_quota(json, "hard", &tenant.spec.hard, error));
    WEIR_TRY(read_quota(json, "soft", &tenant.spec.soft, error));
    WEIR_TRY(read_quota(json, "borrow", &tenant.spec.borrow, error));
    WEIR_TRY(read_quota(json, "lend", &tenant.spec.lend, error));
    return place == 0 ? WEIR_OK : weir_host_add_tenant(host, &tenant.spec, NULL, error);
}

weir_status decide_take_usage(struct weir_host *host, const json_t *json, size_t place,
                              struct weir_error *error)
{
    struct decide_tenant tenant = { .since_ns = WEIR_UNKNOWN_TIME };

    WEIR_TRY(decide_read(json, &decide_tenant_keys, &tenant, error));
    if (weir_host_restore_usage(host, (uint32_t)place, tenant.device_s, tenant.since_ns) == WEIR_OK)
        return WEIR_OK;
    return weir_fail(error, WEIR_EFORMAT, "device_s: %g is no past use", tenant.device_s);
}

weir_status decide_take_licence(struct weir_host *host, const json_t *json,
                                struct weir_error *error)
{
    const json_t *const threshold = json_object_get(json, "priority_threshold");
    struct weir_licence_spec spec = { .size = sizeof spec };

    WEIR_TRY(decide_read(json, &decide_licence_keys, &spec, error));
    spec.priority_threshold =
        threshold == NULL ? WEIR_NO_THRESHOLD : (int32_t)json_integer_value(threshold);
    return weir_host_add_licence(host, &spec, NULL, error);
}

weir_status decide_take_reservation(struct weir_host *host, const json_t *json,
                                    struct weir_error *error)
{
    const json_t *const held = json_object_get(json, "held");
    struct weir_reservation_spec spec = { .size = sizeof spec };

    WEIR_TRY(decide_read(json, &decide_reservation_keys, &spec, error));
    spec.held_count = (uint32_t)json_array_size(held);
    uint32_t *const nodes = calloc(spec.held_count + 1, sizeof *nodes);
    if (nodes == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < spec.held_count; i++)
        nodes[i] = (uint32_t)json_integer_value(json_array_get(held, i));
    spec.held = nodes;
    const weir_status status = weir_host_add_reservation(host, &spec, NULL, error);
    free(nodes);
    return status;
}
