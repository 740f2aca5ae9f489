/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which keys of a tree act on nothing; see the header. */
#include "sim/scenario/schema/acts.h"

#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

bool sim_needs_is_key(const char *needs, const char *key)
{
    const size_t length = strcspn(needs, ":");
    return strlen(key) == length && strncmp(needs, key, length) == 0;
}

bool sim_needs_has_word(const char *needs, const char *word)
{
    return sim_choice_find(needs + strcspn(needs, ":") + strlen(": "), word) != SIM_ABSENT_COUNT;
}

const char *sim_acts_words(struct sim_arena *arena, uint32_t acts)
{
    static const char *const names[] = { "pipelines", "jobs in time", "a fill", "actors" };
    const char *text = "";
    for (uint32_t left = acts, i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((acts & (UINT32_C(1) << i)) == 0)
            continue;
        left &= ~(UINT32_C(1) << i);
        text = sim_arena_printf(arena, "%s%s%s", text,
                                text[0] == '\0' ? ""
                                : left == 0     ? " and "
                                                : ", ",
                                names[i]);
    }
    return text;
}

static uint32_t present(const struct sim_yaml *root, const char *key, uint32_t bit)
{
    const struct sim_yaml *list = sim_yaml_get(root, key);
    return list != NULL && list->count > 0 ? bit : 0;
}

uint32_t sim_acts_present(const struct sim_yaml *root)
{
    return present(root, "pipelines", SIM_ACTS_PIPELINES) |
           present(root, "services", SIM_ACTS_PIPELINES) | present(root, "jobs", SIM_ACTS_JOBS) |
           present(root, "fill", SIM_ACTS_FILL) | present(root, "actors", SIM_ACTS_ACTORS);
}

/* ---- what a key needs ---- */

/* A mapping on the way from the root to where the walk is. */
struct step {
    const struct step *above;
    const struct sim_yaml *node;
    const struct sim_section *section;
};

/* The setting of the other key, nearest first, or those it may have; NULL = nobody knows. */
static const char *setting(struct sim_arena *arena, const struct step *step, const char *needs)
{
    char word[64];
    for (; step != NULL; step = step->above)
        for (size_t i = 0; i < step->section->count; i++) {
            const struct sim_field *field = &step->section->fields[i];
            if (!sim_needs_is_key(needs, field->key))
                continue;
            const struct sim_yaml *given = sim_yaml_get(step->node, field->key);
            if (given == NULL)
                return field->initial == NULL ? field->otherwise : field->initial;
            if (given->origin != NULL || field->section != NULL || given->kind != SIM_YAML_SCALAR)
                return NULL;
            const uint32_t choice = sim_choice_find(field->choices, given->text);
            return sim_choice_word(field->choices, choice, word, sizeof word)
                       ? sim_arena_copy(arena, word)
                       : NULL;
        }
    return NULL;
}

bool sim_needs_is_varied(const struct sim_yaml *root, const char *needs)
{
    const size_t length = strcspn(needs, ":");
    const struct sim_yaml *list = sim_yaml_get(root, "compare");
    for (const struct sim_yaml *entry = list == NULL ? NULL : list->first; entry != NULL;
         entry = entry->next) {
        const struct sim_yaml *sets = sim_yaml_get(entry, "set");
        for (const struct sim_yaml *set = sets == NULL ? NULL : sets->first; set != NULL;
             set = set->next) {
            const char *dot = strrchr(set->key, '.');
            const char *last = dot == NULL ? set->key : dot + 1;
            const bool is_it = strlen(last) == length && strncmp(last, needs, length) == 0;
            if (is_it || set->kind != SIM_YAML_SCALAR || strcmp(last, "backpressure") == 0 ||
                strcmp(last, "arrivals") == 0)
                return true;
        }
    }
    return false;
}

static bool is_asked(const struct sim_acts_walk *walk, const struct sim_yaml *node)
{
    for (size_t i = 0; node->origin != NULL && i < walk->sets_count; i++)
        if (strcmp(node->origin, sim_arena_printf(walk->arena, "--set %s", walk->sets[i])) == 0)
            return true;
    return walk->has_needs;
}

static bool has_any(struct sim_arena *arena, const char *needs, const char *words)
{
    for (size_t length = 0; *words != '\0'; words += length + (words[length] == '|')) {
        length = strcspn(words, "|");
        if (sim_needs_has_word(needs, sim_arena_text(arena, words, length)))
            return true;
    }
    return false;
}

static const char *unmet_need(const struct sim_acts_walk *walk, const struct step *step,
                              const struct sim_field *field, const struct sim_yaml *node)
{
    if (field->needs == NULL || !is_asked(walk, node))
        return NULL;
    const char *words = setting(walk->arena, step, field->needs);
    if (words == NULL || has_any(walk->arena, field->needs, words) ||
        sim_needs_is_varied(walk->root, field->needs))
        return NULL;
    return sim_arena_printf(walk->arena, "acts with %s alone; here that is %s", field->needs,
                            words);
}

static bool has_sync(const struct sim_yaml *jobs)
{
    const struct sim_yaml *sync = sim_yaml_get(sim_yaml_get(jobs, "step"), "sync");
    return sync != NULL && !(sync->kind == SIM_YAML_SCALAR && strtod(sync->text, NULL) <= 0);
}

/* Whether any entry of jobs, or a class there, exchanges. */
static bool exchanges(const struct sim_yaml *root)
{
    const struct sim_yaml *jobs = sim_yaml_get(root, "jobs");
    for (const struct sim_yaml *entry = jobs == NULL ? NULL : jobs->first; entry != NULL;
         entry = entry->next) {
        const struct sim_yaml *classes = sim_yaml_get(entry, "classes");
        for (const struct sim_yaml *class = classes == NULL ? NULL : classes->first; class != NULL;
             class = class->next)
            if (has_sync(class))
                return true;
        if (has_sync(entry))
            return true;
    }
    return false;
}

static bool saves_to_a_store(const struct sim_yaml *root)
{
    const struct sim_yaml *jobs = sim_yaml_get(root, "jobs");
    for (const struct sim_yaml *entry = jobs == NULL ? NULL : jobs->first; entry != NULL;
         entry = entry->next)
        if (sim_yaml_get(sim_yaml_get(entry, "checkpoint"), "store") != NULL)
            return true;
    return sim_needs_is_varied(root, "store");
}

/* What acts on pipelines too is on the way to stores. */
static bool is_on_the_way(uint32_t acts)
{
    return (acts & SIM_ACTS_PIPELINES) != 0;
}

bool sim_needs_sync_met(const struct sim_yaml *root, uint32_t acts, uint32_t there)
{
    return (acts & there) != SIM_ACTS_JOBS || exchanges(root) ||
           sim_needs_is_varied(root, "sync") || (is_on_the_way(acts) && saves_to_a_store(root));
}

static const char *unmet_sync(const struct sim_acts_walk *walk, const struct sim_field *field,
                              uint32_t own, uint32_t there)
{
    if (!walk->has_needs || !field->needs_sync || sim_needs_sync_met(walk->root, own, there))
        return NULL;
    return is_on_the_way(own)
               ? "acts on jobs that exchange (step: {time: T, sync: BYTES}) or write "
                 "checkpoints to a store, and none does here"
               : "acts on jobs that exchange, and none does here: give them step: "
                 "{time: T, sync: BYTES}";
}

/* ---- the walk ---- */

static void visit_section(const struct sim_acts_walk *walk, const struct step *step, uint32_t acts,
                          uint32_t there);

static const char *unmet_work(const struct sim_acts_walk *walk, uint32_t acts, uint32_t there,
                              const char *word)
{
    if ((acts & there) != 0)
        return NULL;
    return sim_arena_printf(walk->arena, "%s%sacts on %s, and the scenario has none", word,
                            word[0] == '\0' ? "" : " ", sim_acts_words(walk->arena, acts));
}

static void visit_inside(const struct sim_acts_walk *walk, const struct step *above,
                         const struct sim_field *field, uint32_t acts, uint32_t there,
                         struct sim_yaml *node)
{
    struct step step = { .above = above, .node = node, .section = field->section };
    if (field->kind == SIM_FIELD_SECTION) {
        visit_section(walk, &step, acts, there);
        return;
    }
    for (struct sim_yaml *entry = node->first; entry != NULL; entry = entry->next) {
        step.node = entry;
        visit_section(walk, &step, acts, there);
    }
}

static void visit_field(const struct sim_acts_walk *walk, const struct step *step,
                        const struct sim_field *field, uint32_t acts, uint32_t there,
                        struct sim_yaml *node)
{
    const uint32_t own = field->acts == 0 ? acts : field->acts & acts;
    const char *sentence = unmet_work(walk, own, there, "");
    if (sentence == NULL && field->word != NULL && node->kind == SIM_YAML_SCALAR &&
        sim_choice_find(field->word, node->text) != SIM_ABSENT_COUNT)
        sentence = unmet_work(walk, field->word_acts & own, there, node->text);
    if (sentence == NULL)
        sentence = unmet_need(walk, step, field, node);
    if (sentence == NULL)
        sentence = unmet_sync(walk, field, own, there);
    if (sentence != NULL)
        walk->found(walk->state, node, sentence);
    else if (field->section != NULL)
        visit_inside(walk, step, field, own, there, node);
}

static void visit_section(const struct sim_acts_walk *walk, const struct step *step, uint32_t acts,
                          uint32_t there)
{
    if (step->node->kind != SIM_YAML_MAPPING)
        return;
    for (struct sim_yaml *child = step->node->first, *next; child != NULL; child = next) {
        const struct sim_field *field = sim_schema_find(step->section, child->key);
        next = child->next;
        if (field != NULL)
            visit_field(walk, step, field, acts, there, child);
    }
}

void sim_acts_visit(const struct sim_acts_walk *walk)
{
    const uint32_t there = sim_acts_present(walk->root);
    const struct step step = { .node = walk->root, .section = &sim_schema_scenario };
    if (there != 0)
        visit_section(walk, &step, SIM_ACTS_ALL, there);
}
