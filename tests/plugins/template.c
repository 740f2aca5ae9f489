/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The template policies as a module, built the way a third party would: public headers only.
 */
#include "../../sched/template/template.c"
