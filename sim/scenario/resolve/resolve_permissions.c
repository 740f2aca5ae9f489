/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving permissions: who may do what to which model, and which entries of the timeline and
 * which callers that leaves out.
 *
 * Services and the timeline are known. Without permissions everybody may do everything; with them a
 * subject that is not listed may do nothing, and what names no subject is the administrator's.
 */
#include "sim/scenario/resolve/resolve.h"

#include "sim/scenario/read/draft.h"

#include <string.h>

static const char *const operations[] = { "load", "unload", "scale", "deploy", "call" };
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* Whether a word is one of a|b|c; of nothing, `absent`. */
static bool is_one_of(const char *words, const char *word, bool absent)
{
    const size_t length = strlen(word);
    if (words == NULL)
        return absent;
    for (const char *at = words; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strcspn(at, "|") == length && strncmp(at, word, length) == 0)
            return true;
    }
    return false;
}

static bool may(const struct sim_resolver *resolver, const char *subject, const char *operation,
                const char *model)
{
    const struct draft_list *list = &resolver->draft->permissions;
    const struct draft_permission *permissions = list->items;
    if (list->count == 0 || subject == NULL)
        return true;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(permissions[i].head.name, subject) == 0)
            return is_one_of(permissions[i].may, operation, true) &&
                   is_one_of(permissions[i].models, model, true);
    return false;
}

/* ---- what is written ---- */

static void check_words(struct sim_resolver *resolver, const struct draft_permission *draft)
{
    char *rest = draft->may == NULL ? NULL : sim_arena_copy(resolver->arena, draft->may);
    for (char *word = strsep(&rest, "|"); word != NULL; word = strsep(&rest, "|")) {
        uint32_t known = 0;
        while (known < OPERATIONS && strcmp(operations[known], word) != 0)
            known++;
        const char *names[OPERATIONS];
        memcpy(names, operations, sizeof names);
        if (known == OPERATIONS)
            sim_report_near(resolver->report, sim_draft_at(&draft->head, "may"), SIM_AT_VALUE,
                            sim_near_name(word, names, OPERATIONS),
                            "there is no operation '%s': load, unload, scale, deploy, call", word);
    }
}

static void check_models(struct sim_resolver *resolver, const struct draft_permission *draft)
{
    char *rest = draft->models == NULL ? NULL : sim_arena_copy(resolver->arena, draft->models);
    for (char *name = strsep(&rest, "|"); name != NULL; name = strsep(&rest, "|"))
        (void)sim_resolve_service(resolver, sim_draft_at(&draft->head, "models"), name);
}

/* ---- whom they leave out ---- */

static void judge_event(struct sim_resolver *resolver, struct sim_timeline_entry *entry)
{
    struct sim_arena *arena = resolver->arena;
    const char *operation = sim_action_name(entry->action);
    if (entry->action < SIM_ACTION_LOAD || entry->target == WEIR_NO_INDEX)
        return;
    const char *model = resolver->scenario->pipelines[entry->target].name;
    entry->is_denied = model != NULL && !may(resolver, entry->subject, operation, model);
    if (entry->is_denied)
        entry->text = sim_arena_printf(arena, "%s may not %s %s", entry->subject, operation, model);
    else if (entry->subject != NULL)
        entry->text = sim_arena_printf(arena, "%s by %s", entry->text, entry->subject);
}

static void judge_callers(struct sim_resolver *resolver)
{
    const struct draft_list *list = &resolver->draft->services;
    const struct draft_served *services = list->items;
    const size_t first = resolver->scenario->pipelines_count - list->count;
    for (size_t s = 0; s < list->count; s++) {
        const struct draft_list *classes = &services[s].requests.classes;
        struct sim_pipeline *pipeline = &resolver->scenario->pipelines[first + s];
        for (size_t c = 0; c < classes->count && pipeline->name != NULL; c++)
            pipeline->input.classes[c].is_denied =
                !may(resolver, ((const struct draft_class *)classes->items)[c].subject, "call",
                     pipeline->name);
    }
}

void sim_resolve_permissions(struct sim_resolver *resolver)
{
    const struct draft_list *list = &resolver->draft->permissions;
    struct sim_scenario *scenario = resolver->scenario;
    sim_resolve_not_empty(resolver, sim_yaml_get(resolver->root, "permissions"),
                          "there are no permissions in it");
    for (size_t i = 0; i < list->count; i++) {
        check_words(resolver, &((const struct draft_permission *)list->items)[i]);
        check_models(resolver, &((const struct draft_permission *)list->items)[i]);
    }
    for (size_t i = 0; i < scenario->timeline_count; i++)
        judge_event(resolver, &scenario->timeline[i]);
    judge_callers(resolver);
}
