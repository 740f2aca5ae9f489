/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Offers a scaling policy that cannot decide. */
#include "hostile.h"

HOSTILE_SCALING_OPS(.param_count = 0)
