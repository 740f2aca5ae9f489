/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results in memory (see results.h). */
#include "tests/support/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 4096 };

struct results {
    struct sim_run_summary summary; /* first: a summary is its results */
    size_t count;
    struct test_value values[VALUES];
};

struct sim_run_summary *test_summary(void)
{
    struct results *results = calloc(1, sizeof *results);
    if (results == NULL)
        abort();
    return &results->summary;
}

void test_listen(void *summary, const struct sim_result_row *row)
{
    struct results *results = summary;
    if (row->is_wall)
        return;
    if (results->count == VALUES)
        abort();
    struct test_value *value = &results->values[results->count++];
    (void)snprintf(value->metric, sizeof value->metric, "%s", row->metric);
    (void)snprintf(value->label, sizeof value->label, "%s", row->label);
    value->value = row->value;
}

const struct test_value *test_value_at(const struct sim_run_summary *summary, size_t index)
{
    const struct results *results = (const void *)summary;
    return index < results->count ? &results->values[index] : NULL;
}

double test_value(const struct sim_run_summary *summary, const char *metric, const char *label)
{
    const struct test_value *value = NULL;
    for (size_t i = 0; (value = test_value_at(summary, i)) != NULL; i++)
        if (strcmp(value->metric, metric) == 0 && strcmp(value->label, label) == 0)
            return value->value;
    return (double)NAN;
}
