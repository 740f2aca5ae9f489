/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which keys of a tree act on nothing; see the header. */
#include "sim/scenario/schema/acts.h"

#include "sim/scenario/schema/needs.h"

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

/* By itself, or as part of a mapping. */
static bool is_asked(const struct sim_acts_walk *walk, const struct sim_yaml *node)
{
    while (node != NULL && node->origin == NULL)
        node = node->parent;
    for (size_t i = 0; node != NULL && i < walk->sets_count; i++)
        if (strcmp(node->origin, sim_arena_printf(walk->arena, "--set %s", walk->sets[i])) == 0)
            return true;
    return walk->has_needs;
}

static const char *unmet_need(const struct sim_acts_walk *walk, const struct sim_needs_step *step,
                              const struct sim_field *field, const struct sim_yaml *node)
{
    struct sim_needs needs = { .arena = walk->arena, .text = field->needs, .sets_may = true };
    if (field->needs == NULL || !is_asked(walk, node) || sim_needs_met(&needs, step) ||
        sim_needs_is_varied(walk->root, field->needs) ||
        (!sim_needs_is_word(field->needs) && node->kind == SIM_YAML_SCALAR &&
         sim_needs_is_default(field, node->text)))
        return NULL;
    return sim_arena_printf(walk->arena, "acts with %s alone%s%s", field->needs,
                            needs.here == NULL ? ", which is not so here" : "; here that is ",
                            needs.here == NULL ? "" : needs.here);
}

/* What acts on pipelines too is on the way to stores. */
static bool is_on_the_way(uint32_t acts)
{
    return (acts & SIM_ACTS_PIPELINES) != 0;
}

bool sim_needs_sync_met(struct sim_arena *arena, const struct sim_yaml *root, uint32_t acts,
                        uint32_t there)
{
    static const char text[] = "jobs[].step.sync > 0 or jobs[].classes[].step.sync > 0";
    const struct sim_needs_step top = { .node = root, .section = &sim_schema_scenario };
    struct sim_needs needs = { .arena = arena, .text = text };
    if (is_on_the_way(acts))
        needs.text = sim_arena_printf(arena, "%s or jobs[].checkpoint.store", text);
    return (acts & there) != SIM_ACTS_JOBS || sim_needs_met(&needs, &top) ||
           sim_needs_is_varied(root, needs.text);
}

static const char *unmet_sync(const struct sim_acts_walk *walk, const struct sim_field *field,
                              uint32_t own, uint32_t there)
{
    if (!walk->has_needs || !field->needs_sync ||
        sim_needs_sync_met(walk->arena, walk->root, own, there))
        return NULL;
    return is_on_the_way(own)
               ? "acts on jobs that exchange (step: {time: T, sync: BYTES}) or write "
                 "checkpoints to a store, and none does here"
               : "acts on jobs that exchange, and none does here: give them step: "
                 "{time: T, sync: BYTES}";
}

/* ---- the walk ---- */

static void visit_section(const struct sim_acts_walk *walk, const struct sim_needs_step *step,
                          uint32_t acts, uint32_t there);

static const char *unmet_work(const struct sim_acts_walk *walk, uint32_t acts, uint32_t there,
                              const char *word)
{
    if ((acts & there) != 0)
        return NULL;
    return sim_arena_printf(walk->arena, "%s%sacts on %s, and the scenario has none", word,
                            word[0] == '\0' ? "" : " ", sim_acts_words(walk->arena, acts));
}

static void visit_inside(const struct sim_acts_walk *walk, const struct sim_needs_step *above,
                         const struct sim_field *field, uint32_t acts, uint32_t there,
                         struct sim_yaml *node)
{
    struct sim_needs_step step = { .above = above, .node = node, .section = field->section };
    if (field->kind == SIM_FIELD_SECTION) {
        visit_section(walk, &step, acts, there);
        return;
    }
    for (struct sim_yaml *entry = node->first; entry != NULL; entry = entry->next) {
        step.node = entry;
        visit_section(walk, &step, acts, there);
    }
}

static void visit_field(const struct sim_acts_walk *walk, const struct sim_needs_step *step,
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

static void visit_section(const struct sim_acts_walk *walk, const struct sim_needs_step *step,
                          uint32_t acts, uint32_t there)
{
    if (step->node->kind != SIM_YAML_MAPPING)
        return;
    for (struct sim_yaml *child = step->node->first, *next; child != NULL; child = next) {
        const struct sim_field *field = sim_schema_find(step->section, child->key);
        next = child->next;
        if (field == NULL)
            field = sim_needs_of_param(step->section->policy, child->key);
        if (field != NULL)
            visit_field(walk, step, field, acts, there, child);
    }
}

void sim_acts_visit(const struct sim_acts_walk *walk)
{
    const uint32_t there = sim_acts_present(walk->root);
    const struct sim_needs_step step = { .node = walk->root, .section = &sim_schema_scenario };
    if (there != 0)
        visit_section(walk, &step, SIM_ACTS_ALL, there);
}
