/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario of schema 1 in the words of today; see the header. */
#include "sim/scenario/schema/upgrade.h"

#include "sim/scenario/read/input_file.h"
#include "sim/scenario/schema/rewrite.h"
#include "sim/scenario/schema/words.h"

#include <string.h>

/* The digest of what a text means; errors are in the diagnostics. */
static weir_status digest_of(const char *path, const char *text,
                             struct sim_diagnostics *diagnostics, uint64_t *digest)
{
    const struct sim_scenario_source source = { .path = path, .text = text };
    struct sim_scenario *scenario = NULL;
    WEIR_TRY(sim_scenario_load(&source, &scenario, diagnostics));
    *digest = scenario->digest;
    sim_scenario_destroy(scenario);
    return WEIR_OK;
}

/* Warnings of the new text were said of the old one. */
static weir_status compare(const char *path, const char *before, const char *after,
                           struct sim_report *report)
{
    struct sim_diagnostics found = { .items = NULL };
    uint64_t digests[2] = { 0, 1 };
    WEIR_TRY(digest_of(path, before, report->out, &digests[0]));
    const weir_status status = digest_of(path, after, &found, &digests[1]);
    for (size_t i = 0; i < found.count; i++)
        if (!found.items[i].is_warning)
            sim_report_error(report, NULL, "in the words of today, line %d: %s",
                             found.items[i].line, found.items[i].message);
    sim_diagnostics_clear(&found);
    if (status == WEIR_OK && digests[0] == digests[1])
        return WEIR_OK;
    if (status == WEIR_OK)
        sim_report_error(report, NULL, "cannot be put into the words of today word by word");
    return WEIR_EFORMAT;
}

static weir_status rewrite_text(struct sim_arena *arena, struct sim_report *report, char **made)
{
    struct sim_rewrite rewrite = { .arena = arena, .report = report };
    struct sim_words words = { .arena = arena, .report = report, .rewrite = &rewrite };
    words.root = sim_yaml_parse(arena, report->text, report->length, report);
    if (words.root == NULL || report->out->errors > 0)
        return WEIR_EFORMAT;
    if (!sim_words_are_old(words.root))
        return WEIR_OK;
    sim_rewrite_value(&rewrite, sim_yaml_get(words.root, "schema"), "2");
    sim_words_finish(&words);
    if (report->out->errors > 0)
        return WEIR_EFORMAT;
    const char *text = sim_rewrite_apply(&rewrite);
    WEIR_TRY(compare(report->path, report->text, text, report));
    *made = strdup(text);
    return *made == NULL ? WEIR_ENOMEM : WEIR_OK;
}

weir_status sim_scenario_upgrade(const char *path, char **made, struct sim_diagnostics *diagnostics)
{
    struct sim_arena arena = { .blocks = NULL };
    struct sim_report report = { .path = path, .out = diagnostics };
    struct weir_error error = { .phase = -1 };
    *made = NULL;
    report.text = sim_input_file_read(&arena, NULL, path, &report.length, &error);
    if (report.text == NULL)
        sim_report_error(&report, NULL, "%s", error.text);
    const weir_status status = report.text == NULL ? WEIR_EIO : rewrite_text(&arena, &report, made);
    sim_report_finish(&report);
    sim_arena_clear(&arena);
    return status;
}
