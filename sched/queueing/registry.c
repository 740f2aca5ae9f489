/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queueing policies this library brings. The first is the default; the strict order follows,
 * then those that look at a job. A new policy is one file and one line here.
 */
#include "sched/queueing/queueings.h"

#include <string.h>

static const struct weir_queueing_ops *const queueings[] = {
    &weir_queueing_first_fit, &weir_queueing_fcfs,     &weir_queueing_sjf,
    &weir_queueing_smallest,  &weir_queueing_priority,
};

uint32_t weir_queueing_count(void)
{
    return (uint32_t)(sizeof queueings / sizeof queueings[0]);
}

const struct weir_queueing_ops *weir_queueing_at(uint32_t index)
{
    return index < weir_queueing_count() ? queueings[index] : NULL;
}

const struct weir_queueing_ops *weir_queueing_find(const char *name)
{
    for (uint32_t i = 0; i < weir_queueing_count(); i++) {
        if (strcmp(queueings[i]->name, name) == 0)
            return queueings[i];
    }
    return NULL;
}
