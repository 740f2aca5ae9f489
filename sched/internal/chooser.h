/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a chooser, for hosts that lend their own placement policy to what asks a chooser.
 */
#ifndef SCHED_INTERNAL_CHOOSER_H
#define SCHED_INTERNAL_CHOOSER_H

#include "sched/internal/policy_state.h"

struct weir_chooser {
    struct weir_policy_alone alone;
};

#endif
