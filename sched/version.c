/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which libweir this is, at run time: the headers a program was built with may be others.
 */
#include "weir/status.h"

#include <stddef.h>

const char *weir_version(void)
{
    return WEIR_VERSION;
}

void weir_abi(uint32_t *major, uint32_t *minor)
{
    if (major != NULL)
        *major = WEIR_ABI_MAJOR;
    if (minor != NULL)
        *minor = WEIR_ABI_MINOR;
}
