/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any line is an answer of a policy that is a program: it becomes a plan or is refused with a
 * sentence, and the check of plans judges every plan without a broken invariant.
 */
#include "sim/port/command_policy.h"
#include "tests/support/pipeline.h"
#include "tests/support/reached.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct test_stage stages[] = {
    { .name = "a", .cpus = 1, .speed_per_s = 1 },
    { .name = "b", .cpus = 1, .gpus = 0.25, .speed_per_s = 2 },
    { .name = "c", .cpus = 2, .gpus = 1, .nvdecs = 1, .speed_per_s = 1, .batch = 4 },
};

/* Two nodes, three stages, and the workers of a first decision. */
static struct weir_host *open_host(void)
{
    const struct test_pipeline pipeline = {
        .nodes = 2, .gpus = 2, .nvdecs = 2, .cpus = 16, .stages = stages, .stage_count = 3
    };
    const struct weir_host_config config = test_config("first_fit", "xenna");
    struct weir_host *host = test_host(&config, &pipeline);
    if (host == NULL || test_step(host, NULL) != WEIR_OK)
        abort();
    return host;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct weir_error judged = { .phase = -1, .pool = -1 };
    struct weir_plan *plan = NULL;
    struct weir_host *host = open_host();
    const struct weir_view *view = weir_host_view(host, 1);
    const char *line = size == 0 ? "" : (const char *)data;
    if (weir_plan_create(NULL, &plan) != WEIR_OK)
        abort();
    weir_plan_reset(plan, 1000, WEIR_EXPLAIN_COUNTS);
    const weir_status status = sim_command_plan(line, size, view, plan, &error);
    if (status != WEIR_OK && error.text[0] == '\0')
        abort();
    const weir_status verdict = status == WEIR_OK ? weir_plan_check(plan, view, &judged) : WEIR_OK;
    if (verdict == WEIR_EINVARIANT || (verdict != WEIR_OK && judged.text[0] == '\0'))
        abort();
    if (status == WEIR_OK && verdict == WEIR_OK && weir_plan_count(plan) > 0)
        fuzz_reached();
    error.text[0] = '\0';
    if (sim_command_accepted(line, size, &error) != WEIR_OK && error.text[0] == '\0')
        abort();
    weir_plan_destroy(plan);
    weir_host_destroy(host);
    return 0;
}
