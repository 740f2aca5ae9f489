/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Offers nothing. */
#include "hostile.h"

HOSTILE_MODULE(NULL, NULL)
