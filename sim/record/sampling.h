/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often series are sampled: a round interval that gives some 400 samples of the expected run;
 * when the run turns out longer, samples are joined in pairs.
 */
#ifndef SIM_RECORD_SAMPLING_H
#define SIM_RECORD_SAMPLING_H

#include <stdint.h>

enum { SIM_SAMPLES_AIMED_AT = 400, SIM_SAMPLES_MAX = 1024 };

int64_t sim_sampling_interval_ns(double expected_s);

#endif
