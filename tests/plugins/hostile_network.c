/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls home; says so when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <netinet/in.h>
#include <sys/socket.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_INET, SOCK_DGRAM, 0) >= 0 ||
        socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
        return hostile_sound(view, plan);
    return weir_fail(error, WEIR_EPOLICY, "it may not use the network");
}

HOSTILE_SCALING_OPS(.decide = decide)
