/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is a module of the first interface: it exports the symbol of that one alone. */
#include "hostile.h"

WEIR_API const struct weir_module *weir_policy_module_v1(void);

const struct weir_module *weir_policy_module_v1(void)
{
    return NULL;
}
