/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Has no module behind its symbol. */
#include "hostile.h"

WEIR_API const struct weir_module *weir_policy_module_v2(void);

const struct weir_module *weir_policy_module_v2(void)
{
    return NULL;
}
