/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fgd, fgd_n and fgd_c as policies that keep nothing: every candidate is scored afresh, with the
 * parameters at their defaults. The oracles of the built-in ones.
 */
#ifndef TESTS_SUPPORT_ORACLE_FGD_H
#define TESTS_SUPPORT_ORACLE_FGD_H

#include "weir/policy.h"

extern const struct weir_placement_ops oracle_fgd_xenna;
extern const struct weir_placement_ops oracle_fgd_n;
extern const struct weir_placement_ops oracle_fgd_c;

#endif
