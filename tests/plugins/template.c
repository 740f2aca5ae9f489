/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The template policies as a module, built the way a third party would: public headers only.
 */
#include "../../sched/template/template.c"
