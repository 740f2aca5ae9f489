/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a plug-in may be used: interface version, complete operation tables, sound parameters.
 *
 * Loading the file and finding the symbol is the caller's work; nothing here opens anything.
 */
#include "sched/internal/params.h"
#include "weir/capacity.h"
#include "weir/job.h"

#include <stddef.h>
#include <string.h>

static weir_status check_header(uint32_t size, uint32_t least, uint32_t abi,
                                struct weir_error *error)
{
    if (size < least)
        return weir_fail(error, WEIR_EABI, "its table of operations has %u bytes, needed are %u",
                         size, least);
    if (abi != WEIR_ABI_MAJOR)
        return weir_fail(error, WEIR_EABI, "built for interface version %u, this is version %u",
                         abi, (unsigned)WEIR_ABI_MAJOR);
    return WEIR_OK;
}

static weir_status check_name(const char *name, struct weir_error *error)
{
    if (name == NULL || name[0] == '\0')
        return weir_fail(error, WEIR_EPOLICY, "it has no name");
    return WEIR_OK;
}

static weir_status check_placement(const struct weir_placement_ops *ops, struct weir_error *error)
{
    WEIR_TRY(check_header(ops->size, offsetof(struct weir_placement_ops, save), ops->abi, error));
    WEIR_TRY(check_name(ops->name, error));
    if (ops->score == NULL && ops->place == NULL)
        return weir_fail(error, WEIR_EPOLICY, "it has neither score nor place");
    if (ops->flags != 0)
        return weir_fail(error, WEIR_EPOLICY, "its flags must be 0, got %u", ops->flags);
    if ((ops->create == NULL) != (ops->destroy == NULL))
        return weir_fail(error, WEIR_EPOLICY, "create and destroy belong together");
    return weir_params_check_table(ops->params, ops->param_count, error);
}

static weir_status check_scaling(const struct weir_scaling_ops *ops, struct weir_error *error)
{
    WEIR_TRY(check_header(ops->size, offsetof(struct weir_scaling_ops, save), ops->abi, error));
    WEIR_TRY(check_name(ops->name, error));
    if (ops->decide == NULL)
        return weir_fail(error, WEIR_EPOLICY, "it has no decide");
    if ((ops->create == NULL) != (ops->destroy == NULL))
        return weir_fail(error, WEIR_EPOLICY, "create and destroy belong together");
    return weir_params_check_table(ops->params, ops->param_count, error);
}

static weir_status check_queueing(const struct weir_queueing_ops *ops, struct weir_error *error)
{
    WEIR_TRY(check_header(ops->size, offsetof(struct weir_queueing_ops, save), ops->abi, error));
    WEIR_TRY(check_name(ops->name, error));
    if ((ops->create == NULL) != (ops->destroy == NULL))
        return weir_fail(error, WEIR_EPOLICY, "create and destroy belong together");
    return weir_params_check_table(ops->params, ops->param_count, error);
}

static weir_status check_capacity(const struct weir_capacity_ops *ops, struct weir_error *error)
{
    WEIR_TRY(check_header(ops->size, offsetof(struct weir_capacity_ops, save), ops->abi, error));
    WEIR_TRY(check_name(ops->name, error));
    if (ops->flags != 0)
        return weir_fail(error, WEIR_EPOLICY, "its flags must be 0, got %u", ops->flags);
    if ((ops->create == NULL) != (ops->destroy == NULL))
        return weir_fail(error, WEIR_EPOLICY, "create and destroy belong together");
    return weir_params_check_table(ops->params, ops->param_count, error);
}

/* One function a kind: all policies of a list. */
#define CHECK_LIST(kind)                                                                           \
    static weir_status check_##kind##_list(                                                        \
        const char *module, const struct weir_##kind##_ops *const *list, struct weir_error *error) \
    {                                                                                              \
        for (uint32_t i = 0; list != NULL && list[i] != NULL; i++) {                               \
            const weir_status status = check_##kind(list[i], error);                               \
            if (status != WEIR_OK) {                                                               \
                weir_error_wrap(error, "module %s: " #kind " policy %u", module, i);               \
                return status;                                                                     \
            }                                                                                      \
        }                                                                                          \
        return WEIR_OK;                                                                            \
    }
#define HAS_ANY(list) ((list) != NULL && (list)[0] != NULL)

CHECK_LIST(placement)
CHECK_LIST(scaling)
CHECK_LIST(queueing)
CHECK_LIST(capacity)

const struct weir_queueing_ops *const *weir_module_queueings(const struct weir_module *module)
{
    return module->size < offsetof(struct weir_module, capacities) ? NULL : module->queueings;
}

const struct weir_capacity_ops *const *weir_module_capacities(const struct weir_module *module)
{
    return module->size < sizeof *module ? NULL : module->capacities;
}

weir_status weir_module_check(const struct weir_module *module, struct weir_error *error)
{
    if (module == NULL)
        return weir_fail(error, WEIR_EINVAL, "the module is missing");
    if (module->size < offsetof(struct weir_module, queueings))
        return weir_fail(error, WEIR_EABI, "the module describes itself in %u bytes, needed are %u",
                         module->size, (unsigned)offsetof(struct weir_module, queueings));
    if (module->name == NULL || module->name[0] == '\0')
        return weir_fail(error, WEIR_EPOLICY, "the module has no name");
    if (module->abi_major != WEIR_ABI_MAJOR)
        return weir_fail(error, WEIR_EABI,
                         "module %s was built for interface version %u, this is version %u",
                         module->name, module->abi_major, (unsigned)WEIR_ABI_MAJOR);
    if (module->abi_minor > WEIR_ABI_MINOR)
        return weir_fail(error, WEIR_EABI,
                         "module %s was built for interface version %u.%u, this is version %u.%u",
                         module->name, module->abi_major, module->abi_minor,
                         (unsigned)WEIR_ABI_MAJOR, (unsigned)WEIR_ABI_MINOR);
    const struct weir_queueing_ops *const *const queueings = weir_module_queueings(module);
    const struct weir_capacity_ops *const *const capacities = weir_module_capacities(module);
    if (!HAS_ANY(module->placements) && !HAS_ANY(module->scalings) && !HAS_ANY(queueings) &&
        !HAS_ANY(capacities))
        return weir_fail(error, WEIR_EPOLICY, "module %s offers no policy", module->name);
    WEIR_TRY(check_placement_list(module->name, module->placements, error));
    WEIR_TRY(check_scaling_list(module->name, module->scalings, error));
    WEIR_TRY(check_queueing_list(module->name, queueings, error));
    return check_capacity_list(module->name, capacities, error);
}
