/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema as a reference page, from the same tables as everything else.
 */
#include "sim/scenario/catalog/catalog_gpus.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/schema/acts.h"
#include "sim/scenario/schema/schema.h"
#include "weir_text.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts of one field ---- */

static const char *unit_text(uint32_t unit)
{
    static const char *const texts[] = {
        [SIM_UNIT_NONE] = "",        [SIM_UNIT_TIME] = "time",           [SIM_UNIT_BYTES] = "bytes",
        [SIM_UNIT_POWER] = "power",  [SIM_UNIT_FRACTION] = "fraction",   [SIM_UNIT_RATE] = "rate",
        [SIM_UNIT_ANY] = "any unit", [SIM_UNIT_BANDWIDTH] = "bandwidth",
    };
    return texts[unit];
}

static void put_choices(FILE *out, const char *choices, const char *separator)
{
    char word[64];
    for (uint32_t i = 0; sim_choice_word(choices, i, word, sizeof word); i++)
        fprintf(out, "%s`%s`", i == 0 ? "" : separator, word);
}

static void put_kind(FILE *out, const struct sim_field *field)
{
    switch ((enum sim_field_kind)field->kind) {
    case SIM_FIELD_TEXT:
    case SIM_FIELD_TIMESTAMP:
        fputs("text", out);
        return;
    case SIM_FIELD_FLAG:
        fputs("`true`, `false`", out);
        return;
    case SIM_FIELD_NUMBER:
    case SIM_FIELD_TIME:
    case SIM_FIELD_BYTES:
        fputs(field->unit == SIM_UNIT_NONE ? "number" : unit_text(field->unit), out);
        return;
    case SIM_FIELD_COUNT:
    case SIM_FIELD_COUNT64:
    case SIM_FIELD_WHOLE:
        fputs("whole number", out);
        return;
    case SIM_FIELD_CHOICE:
        put_choices(out, field->choices, ", ");
        return;
    case SIM_FIELD_LAW:
        fprintf(out, "law%s%s", field->unit == SIM_UNIT_NONE ? "" : " of ", unit_text(field->unit));
        return;
    case SIM_FIELD_SECTION:
        fputs("mapping", out);
        return;
    case SIM_FIELD_LIST:
        fputs((field->flags & SIM_FIELD_OR_FILE) != 0 ? "list, or `{file: F.csv}`" : "list", out);
        return;
    case SIM_FIELD_NAMED:
        fputs("mapping by name", out);
        return;
    case SIM_FIELD_SETS:
        fputs("path: value", out);
        return;
    }
}

static void put_default(FILE *out, const struct sim_field *field)
{
    if ((field->flags & SIM_FIELD_REQUIRED) != 0)
        fputs("**required**", out);
    else if (field->initial != NULL)
        fprintf(out, "`%s`", field->initial);
    else if (field->fallback != NULL)
        fputs(field->fallback, out);
}

static void put_range(FILE *out, const struct sim_field *field)
{
    const bool is_number = field->kind == SIM_FIELD_NUMBER || field->kind == SIM_FIELD_TIME ||
                           field->kind == SIM_FIELD_BYTES || field->kind == SIM_FIELD_COUNT ||
                           field->kind == SIM_FIELD_COUNT64 || field->kind == SIM_FIELD_WHOLE;
    if (is_number && (field->min < field->max || field->min > 0))
        fprintf(out, " (%g to %g)", field->min, field->max);
}

/* ---- Markdown ---- */

static const char introduction[] =
    "# Scenario files\n\n"
    "<!-- Made by `weir schema --format markdown`; change sim/scenario/schema_*.c instead. -->\n\n"
    "A scenario is one YAML file. `weir check FILE` checks it and reports every mistake with "
    "its "
    "line and column; `weir check --resolved FILE` prints it with all defaults filled in.\n\n"
    "- **Numbers** are decimal and may carry a unit, with or without a blank: time `ns us ms s m "
    "min h d` (also put together: `1h30m`), bytes `B KB MB GB TB PB KiB MiB GiB TiB PiB`, power `W "
    "kW MW`, fractions `%`, rates `/s /min /h`. A bare number is in the base unit: seconds, bytes, "
    "watts, 1, per second.\n"
    "- **Laws** are distributions: `3.1`, `const(3.1 s)`, `exp(mean)`, `lognormal(mean, cv)`, "
    "`gamma(mean, cv)`, `weibull(scale, shape)`, `pareto(min, alpha)`, `pareto(min, alpha, max)`, "
    "`uniform(lo, hi)`, `normal(mean, sd)` cut at 0, `empirical(file.csv, column)`, `mixture(w1: "
    "law1, w2: law2)`. Inside `{...}` a law with commas needs quotes.\n"
    "- **Sources**: any value may be written `{value: X, source: S}`, any mapping may have a key "
    "`source`; S is `measured`, `datasheet` or `guess`. Results say how much of a scenario was "
    "guessed.\n"
    "- **Names** have 1 to 100 bytes of UTF-8 that is seen, none of `/ \\ ' \" ` < > | $ ;`, no "
    "blank "
    "at their ends, and do not begin with `. - = @`.\n"
    "- **Paths** for `--set`, `compare` and `timeline` are keys with dots. Entries of lists go by "
    "`[index]`, or by their name, type or label: `cluster.nodes.dgx.count`, "
    "`pipelines.curation.stages.caption.gpus`. A path that leads nowhere is a mistake. "
    "A policy that is set by its name alone has its own defaults; `sched.placement.policy` sets "
    "the name and keeps what else is written.\n"
    "- **Work** is any number of `pipelines` and `jobs`, or one `fill`. Each of them is a list, or "
    "a "
    "mapping by name.\n"
    "- **A key acts or is refused**: what acts on nothing in a scenario, or not beside its other "
    "settings, is a mistake.\n"
    "- Files of `schema: 1` are read in their own words; `weir check --write FILE` puts them "
    "into "
    "those of today.\n"
    "- **Examples** below are complete but for what stands in another file, which they go over "
    "(`extends`, [feed.md](feed.md)): that has a cluster of nodes called node, a pipeline video of "
    "stages decode and caption, and jobs called train of classes small and large, or a fill called "
    "static.\n"
    "- Not supported, and refused with a sentence: anchors, aliases, merge keys, tags, duplicate "
    "keys, several documents, files above 8 MiB.\n"
    "\n## In an editor\n\n"
    "An editor that speaks YAML by a JSON Schema completes keys, words and policies, shows what "
    "they mean, and marks what is wrong while one types:\n\n"
    "    weir schema --format json > weir.schema.json\n\n"
    "and at the head of the scenario the line that the YAML language server reads (in VS Code, "
    "Neovim, Emacs, Helix and others), with the path from the scenario to that file:\n\n"
    "    # yaml-language-server: $schema=weir.schema.json\n\n"
    "JetBrains: Settings, Languages, Schemas and DTDs, JSON Schema Mappings. In a pipeline: "
    "`check-jsonschema --schemafile weir.schema.json my.yaml`. With `--plugin FILE` the policies "
    "of a module are known too. It is about files of `schema: 2` and about one key at a time: "
    "unknown and missing keys, forms, units, ranges of bare numbers, words, policies with their "
    "parameters. What keys say of each other, and ranges of values with units, is left to `weir "
    "check`.\n";

/* What the key is called elsewhere, and what it acts on when not on all. */
static void put_acts(FILE *out, const struct sim_field *field)
{
    struct sim_arena arena = { .blocks = NULL };
    if (field->alias != NULL)
        fprintf(out, " (also `%s`)", field->alias);
    if (field->acts != 0 && field->kind < SIM_FIELD_LIST)
        fprintf(out, ". Acts on %s", sim_acts_words(&arena, field->acts));
    if (field->word != NULL)
        fprintf(out, ". `%s` acts on %s", field->word, sim_acts_words(&arena, field->word_acts));
    if (field->needs != NULL)
        fprintf(out, ". Acts with `%s`", field->needs);
    if (field->shows != NULL)
        fprintf(out, ". Changes nothing that happens%s%s: %s", field->shows_in == 0 ? "" : " in ",
                sim_acts_words(&arena, field->shows_in), field->shows);
    sim_arena_clear(&arena);
}

/* What stands in schema_examples.yaml behind "# == NAME". */
static void put_example(FILE *out, const char *name)
{
    char head[128];
    (void)snprintf(head, sizeof head, "\n# == %s\n", name);
    const char *text = strstr(weir_text_schema_examples_yaml, head);
    if (text == NULL)
        return;
    text += strlen(head);
    const char *end = strstr(text, "\n# == ");
    const int length = end == NULL ? (int)strlen(text) : (int)(end + 1 - text);
    fprintf(out, "\n```yaml\n%.*s```\n", length, text);
}

static void put_section(FILE *out, const struct sim_section *section)
{
    fprintf(out, "\n## `%s`\n\n%s", section->name, section->help);
    if (section->scalar_key != NULL)
        fprintf(out, " A bare value stands for `%s`.", section->scalar_key);
    if (section->policy != SIM_POLICY_NONE)
        fputs(" Parameters of the policy are further keys: `weir help NAME`.", out);
    fputs("\n\n| key | value | default | meaning |\n|---|---|---|---|\n", out);
    for (size_t i = 0; i < section->count; i++) {
        const struct sim_field *field = &section->fields[i];
        fprintf(out, "| `%s` | ", field->key);
        put_kind(out, field);
        put_range(out, field);
        fputs(" | ", out);
        put_default(out, field);
        fprintf(out, " | %s", field->help);
        put_acts(out, field);
        fputs(" |\n", out);
    }
    put_example(out, section->name);
}

/* Depth first; the tables are a tree. A section used twice in a row is printed once. */
static void put_sections(FILE *out, const struct sim_section *section)
{
    put_section(out, section);
    for (size_t i = 0; i < section->count; i++) {
        const struct sim_section *inner = section->fields[i].section;
        const bool is_shared =
            inner != NULL && strchr(inner->name, '.') != NULL &&
            (strncmp(inner->name, "gpus.", 5) == 0 || strncmp(inner->name, "factor.", 7) == 0);
        if (inner != NULL && !is_shared)
            put_sections(out, inner);
    }
}

/* ---- one key ---- */

/* "cluster.nodes.count", "cluster.nodes[].count" or "count". */
static bool is_named(const struct sim_section *section, const struct sim_field *field,
                     const char *word)
{
    char path[160];
    if (strcmp(field->key, word) == 0 || (field->alias != NULL && strcmp(field->alias, word) == 0))
        return true;
    (void)snprintf(path, sizeof path, "%s.%s", section->name, field->key);
    if (strcmp(path, word) == 0 ||
        (field->section != NULL && strcmp(field->section->name, word) == 0))
        return true;
    for (char *at; (at = strstr(path, "[]")) != NULL;)
        memmove(at, at + 2, strlen(at + 2) + 1);
    return strcmp(path, word) == 0;
}

static void put_explanation(FILE *out, const struct sim_section *section,
                            const struct sim_field *field)
{
    fprintf(out, "%s.%s: ", section->name, field->key);
    put_kind(out, field);
    put_range(out, field);
    if (field->initial != NULL || (field->flags & SIM_FIELD_REQUIRED) != 0) {
        fputs((field->flags & SIM_FIELD_REQUIRED) != 0 ? ", " : ", default ", out);
        put_default(out, field);
    }
    fprintf(out, "\n  %s", field->help);
    put_acts(out, field);
    for (size_t i = 0; field->section != NULL && i < field->section->count; i++)
        fprintf(out, "%s%s", i == 0 ? "\n  keys: " : ", ", field->section->fields[i].key);
    fputc('\n', out);
}

static size_t explain_in(FILE *out, const struct sim_section *section, const char *word)
{
    size_t count = 0;
    for (size_t i = 0; i < section->count; i++) {
        const struct sim_field *field = &section->fields[i];
        if (is_named(section, field, word)) {
            put_explanation(out, section, field);
            count++;
        }
        count += field->section == NULL ? 0 : explain_in(out, field->section, word);
    }
    return count;
}

size_t sim_schema_explain(FILE *out, const char *word)
{
    return explain_in(out, &sim_schema_scenario, word);
}

static size_t keys_in(const struct sim_section *section, const char **keys, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < section->count && count < capacity; i++) {
        keys[count++] = section->fields[i].key;
        if (section->fields[i].section != NULL)
            count += keys_in(section->fields[i].section, keys + count, capacity - count);
    }
    return count;
}

size_t sim_schema_keys(const char **keys, size_t capacity)
{
    return keys_in(&sim_schema_scenario, keys, capacity);
}

static void put_gpus(FILE *out)
{
    fputs("\n## Built-in GPU types\n\n"
          "Speeds are relative to an A100-80 SXM at the same kind of work (`work`).\n\n"
          "| name | memory [GB] | NVDEC | NVENC | idle [W] | limit [W] | dense | memory-bound | "
          "decode | source of dense |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n",
          out);
    for (size_t i = 0; i < sim_catalog_gpu_count(); i++) {
        const struct sim_catalog_gpu *gpu = sim_catalog_gpu_at(i);
        fprintf(out, "| `%s` | %lld | %u | %u | %g | %g |", gpu->name,
                (long long)(gpu->mem_bytes / 1000000000), gpu->nvdecs, gpu->nvencs, gpu->idle_w,
                gpu->limit_w);
        for (uint32_t work = 0; work < SIM_GPU_WORKS; work++)
            fprintf(out, gpu->speed[work] > 0 ? " %g |" : " - |", gpu->speed[work]);
        fprintf(out, " %s |\n", gpu->dense_source == NULL ? "nothing known" : gpu->dense_source);
    }
}

char *sim_schema_markdown(void)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return NULL;
    fputs(introduction, out);
    put_sections(out, &sim_schema_scenario);
    put_gpus(out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
