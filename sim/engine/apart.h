/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is rare, or needs many registers, stays out of short paths that are taken for every event:
 * compilers would put it into them, and each then saves and restores those registers.
 */
#ifndef SIM_ENGINE_APART_H
#define SIM_ENGINE_APART_H

#define SIM_APART __attribute__((noinline))
#define SIM_COLD  __attribute__((cold, noinline))

#endif
