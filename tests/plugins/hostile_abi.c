/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Was built for an interface of the future. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return WEIR_OK;
}

static const struct weir_scaling_ops ops = {
    .size = sizeof(struct weir_scaling_ops), .abi = 99, .name = "hostile", .decide = decide
};
static const struct weir_scaling_ops *const scalings[] = { &ops, NULL };
HOSTILE_MODULE(NULL, scalings)
