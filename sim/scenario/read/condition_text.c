/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditions of the command line; see the header. */
#include "sim/scenario/read/condition_text.h"

#include "sim/scenario/read/condition.h"
#include "sim/scenario/resolve/resolve.h"

#include <math.h>
#include <string.h>

bool sim_condition_parse(const struct sim_condition_text *source, struct sim_arena *arena,
                         struct sim_expect *expect, struct sim_diagnostics *diagnostics)
{
    struct sim_scenario about = *source->scenario;
    struct sim_report report = { .path = source->origin,
                                 .text = source->text,
                                 .length = strlen(source->text),
                                 .out = diagnostics };
    struct sim_resolver resolver = {
        .arena = arena, .report = &report, .scenario = &about, .metric_named = source->metric_named
    };
    struct draft_expect draft = { .that = sim_arena_copy(arena, source->text) };
    struct sim_variant *variants =
        sim_arena_alloc(arena, source->labels_count + 1, sizeof *variants);
    for (size_t v = 0; v < source->labels_count; v++)
        variants[v].label = source->labels[v];
    about.variants = variants;
    about.variants_count = source->labels_count;
    draft.to.op = SIM_ABSENT_COUNT;
    draft.to.value = draft.to.times = (double)NAN;
    sim_resolve_expect(&resolver, &draft, expect);
    sim_report_finish(&report);
    return diagnostics->errors == 0;
}
