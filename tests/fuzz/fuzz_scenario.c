/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any text is either a scenario or refused with remarks: no crash, no leak, no endless work. What
 * loads must have a canonical text that loads to the same canonical text.
 */
#include "sim/scenario/scenario.h"
#include "tests/support/reached.h"

#include <stdlib.h>
#include <string.h>

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
    const weir_status status = sim_scenario_load(&source, &scenario, &diagnostics);
    if ((status == WEIR_OK) != (diagnostics.errors == 0) ||
        (status == WEIR_OK) != (scenario != NULL))
        abort();
    sim_diagnostics_clear(&diagnostics);
    return scenario;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    struct sim_scenario *first = load(text);
    if (first != NULL) {
        fuzz_reached();
        struct sim_scenario *second = load(first->resolved);
        if (second == NULL || strcmp(first->resolved, second->resolved) != 0)
            abort();
        sim_scenario_destroy(second);
    }
    sim_scenario_destroy(first);
    free(text);
    return 0;
}
