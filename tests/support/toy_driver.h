/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A kind of work in one file: a batch of TOY_TASKS equal tasks of TOY_TASK_S seconds, on
 * TOY_WORKERS workers of one CPU that need TOY_SETUP_S seconds of set-up. A task that is lost
 * begins again. It shows what sim/world/driver.h asks of a newcomer; every scenario has one of it.
 */
#ifndef TESTS_SUPPORT_TOY_DRIVER_H
#define TESTS_SUPPORT_TOY_DRIVER_H

#include "sim/world/driver.h"

enum { TOY_TASKS = 100, TOY_WORKERS = 4, TOY_TASK_S = 10, TOY_SETUP_S = 5 };

extern const struct sim_driver_ops test_toy_driver;

#endif
