/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Describes itself with a size of 4 bytes. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return WEIR_OK;
}

static const struct weir_scaling_ops ops = {
    .size = 4, .abi = WEIR_ABI_MAJOR, .name = "hostile", .decide = decide
};
static const struct weir_scaling_ops *const scalings[] = { &ops, NULL };
HOSTILE_MODULE(NULL, scalings)
