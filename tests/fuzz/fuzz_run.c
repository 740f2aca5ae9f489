/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any text that is a scenario of a small cluster can be run: the run ends, with a sentence when it
 * fails, never with a broken invariant, and the same once more. It is told to stop after its first
 * 4 096 events. A scenario that starts a program of its own is left alone.
 */
#include "sim/scenario/scenario.h"
#include "sim/world/run.h"
#include "tests/support/reached.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 32, MOST_STAGES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libfyaml 0.7.12 loses a buffer when a quoted text with many quotes ends in a syntax error. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml.so";
}

static struct sim_scenario *load(const char *text)
{
    const struct sim_scenario_source source = { .path = "fuzz.yaml", .text = text };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    (void)sim_scenario_load(&source, &scenario, &diagnostics);
    sim_diagnostics_clear(&diagnostics);
    return scenario;
}

static bool is_small(const struct sim_scenario *scenario)
{
    return sim_scenario_node_count(scenario) <= MOST_NODES && scenario->stages_total <= MOST_STAGES;
}

static void run_once(const struct sim_scenario *scenario, struct sim_run_summary *summary)
{
    static const volatile sig_atomic_t at_once = 1;
    const struct sim_run_options options = {
        .seed = 1, .variant = "", .interrupt = &at_once, .export_at_s = (double)NAN
    };
    const weir_status status = sim_run(scenario, &options, summary);
    if (status == WEIR_EINVARIANT || (status != WEIR_OK && summary->message[0] == '\0'))
        abort();
    if (summary->digest != 0)
        fuzz_reached();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The name of that policy in any quotes: its program would really be started. */
    if (memmem(data, size, "command", 7) != NULL || memchr(data, '\\', size) != NULL)
        return 0;
    char *text = strndup((const char *)data, size);
    struct sim_scenario *scenario = text == NULL ? NULL : load(text);
    struct sim_run_summary *first = calloc(2, sizeof(*first));
    if (scenario != NULL && first != NULL && is_small(scenario)) {
        run_once(scenario, &first[0]);
        run_once(scenario, &first[1]);
        if (first[0].digest != first[1].digest || first[0].result_digest != first[1].result_digest)
            abort();
    }
    free(first);
    sim_scenario_destroy(scenario);
    free(text);
    return 0;
}
