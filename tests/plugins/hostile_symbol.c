/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exports another symbol. */
#include "hostile.h"

WEIR_API const struct weir_module *weir_policy_module_v9(void);

const struct weir_module *weir_policy_module_v9(void)
{
    return NULL;
}
