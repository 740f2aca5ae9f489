/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hands out a list of policies that lies nowhere. */
#include "hostile.h"
#include <string.h>

WEIR_API const struct weir_module *weir_policy_module_v2(void);

static const uintptr_t nowhere = 64;
static struct weir_module module = { .size = sizeof(struct weir_module),
                                     .abi_major = WEIR_ABI_MAJOR,
                                     .name = "hostile" };

const struct weir_module *weir_policy_module_v2(void)
{
    memcpy(&module.scalings, &nowhere, sizeof nowhere);
    return &module;
}
