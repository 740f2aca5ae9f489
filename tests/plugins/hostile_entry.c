/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Crashes while it is loaded. */
#include "hostile.h"

WEIR_API const struct weir_module *weir_policy_module_v2(void);

const struct weir_module *weir_policy_module_v2(void)
{
    volatile uintptr_t address = 8;
    *(volatile int *)address = 1;
    return NULL;
}
