/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * "Unknown" and "beyond all" as doubles: the standard macros are floats, and every silent promotion
 * of a float is a warning here.
 */
#ifndef ANALYSIS_NAN_H
#define ANALYSIS_NAN_H

#include <math.h>

#define AN_NAN      ((double)NAN)
#define AN_INFINITY ((double)INFINITY)

#endif
