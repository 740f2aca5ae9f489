/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Has no module behind its symbol. */
#include "hostile.h"

WEIR_API const struct weir_module *weir_policy_module_v1(void);

const struct weir_module *weir_policy_module_v1(void)
{
    return NULL;
}
