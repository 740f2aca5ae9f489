/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three ways into a registry of policies: how many, by index, by name.
 */
#ifndef SCHED_INTERNAL_REGISTRY_H
#define SCHED_INTERNAL_REGISTRY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Defines them for one kind of policy, whose registry is the array `list` of this file. */
#define WEIR_REGISTRY(kind, list)                                                                  \
    uint32_t weir_##kind##_count(void)                                                             \
    {                                                                                              \
        return (uint32_t)(sizeof(list) / sizeof((list)[0]));                                       \
    }                                                                                              \
    const struct weir_##kind##_ops *weir_##kind##_at(uint32_t index)                               \
    {                                                                                              \
        return index < weir_##kind##_count() ? (list)[index] : NULL;                               \
    }                                                                                              \
    const struct weir_##kind##_ops *weir_##kind##_find(const char *name)                           \
    {                                                                                              \
        for (uint32_t i = 0; i < weir_##kind##_count(); i++)                                       \
            if (strcmp((list)[i]->name, name) == 0)                                                \
                return (list)[i];                                                                  \
        return NULL;                                                                               \
    }

#endif
