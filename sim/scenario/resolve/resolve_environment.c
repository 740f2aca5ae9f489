/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving the environments of actors: the variables that a process is given, those of its system
 * and those of its roles over them, and what its roles need of them.
 */
#include "sim/scenario/read/name_set.h"
#include "sim/scenario/resolve/resolve.h"

#include <ctype.h>
#include <string.h>

static const char *const places[] = { SIM_ENVIRONMENT_RANK, SIM_ENVIRONMENT_LOCAL_RANK,
                                      SIM_ENVIRONMENT_SIZE, SIM_ENVIRONMENT_NODE };
enum { PLACES = sizeof places / sizeof places[0] };

static bool is_name(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if (*at != '_' && !isalpha((unsigned char)*at) &&
            (at == text || !isdigit((unsigned char)*at)))
            return false;
    return text[0] != '\0';
}

/* Whatever stands in braces is one of the words that a process fills in. */
static void check_value(struct sim_resolver *resolver, const struct draft_variable *variable)
{
    for (const char *at = strchr(variable->value, '{'); at != NULL; at = strchr(at + 1, '{')) {
        bool is_known = false;
        for (size_t i = 0; i < PLACES; i++)
            is_known = is_known || strncmp(at, places[i], strlen(places[i])) == 0;
        if (!is_known)
            sim_report_error(resolver->report, sim_draft_at(&variable->head, "value"),
                             "'%s': in braces are {rank}, {local_rank}, {size}, {node}", at);
    }
}

static void check_variables(struct sim_resolver *resolver, const struct draft_list *list)
{
    const struct draft_variable *drafts = list->items;
    for (size_t i = 0; i < list->count; i++) {
        if (drafts[i].head.name == NULL || drafts[i].value == NULL)
            continue; /* reported */
        if (!is_name(drafts[i].head.name))
            sim_report_error(resolver->report, drafts[i].head.node,
                             "'%s' is no name of a variable: letters, digits and _",
                             drafts[i].head.name);
        check_value(resolver, &drafts[i]);
    }
}

static const struct sim_variable *find(const struct sim_actor_set *set, const char *name)
{
    for (size_t i = 0; i < set->variables_count; i++)
        if (strcmp(set->variables[i].name, name) == 0)
            return &set->variables[i];
    return NULL;
}

/* One that is there keeps what it is: roles come before their system. */
static void add_all(struct sim_actor_set *set, const struct draft_list *list)
{
    const struct draft_variable *drafts = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (drafts[i].head.name != NULL && drafts[i].value != NULL &&
            find(set, drafts[i].head.name) == NULL)
            set->variables[set->variables_count++] =
                (struct sim_variable){ .name = drafts[i].head.name, .value = drafts[i].value };
}

/* The first that it needs and does not have. */
static void find_missing(struct sim_resolver *resolver, const struct draft_role *role,
                         struct sim_actor_set *set)
{
    if (role->needs == NULL)
        return;
    char *rest = sim_arena_copy(resolver->arena, role->needs);
    for (char *name = strsep(&rest, "|"); name != NULL; name = strsep(&rest, "|")) {
        if (find(set, name) != NULL || set->missing != NULL)
            continue;
        set->missing = name;
        sim_report_warning(resolver->report, sim_draft_at(&role->head, "needs"),
                           "no variable is called %s: a process of it will end the system", name);
    }
}

void sim_resolve_environments(struct sim_resolver *resolver, const struct draft_actor_system *draft,
                              struct sim_actor_system *system)
{
    const struct draft_role *roles = draft->roles.items;
    size_t most = draft->variables.count;
    check_variables(resolver, &draft->variables);
    for (size_t r = 0; r < system->roles_count; r++) {
        check_variables(resolver, &roles[r].variables);
        most += roles[r].variables.count;
    }
    for (size_t s = 0; s < system->sets_count; s++)
        system->sets[s].variables =
            sim_arena_alloc(resolver->arena, most + 1, sizeof *system->sets[s].variables);
    for (size_t r = 0; r < system->roles_count; r++)
        add_all(&system->sets[system->roles[r].set], &roles[r].variables);
    for (size_t s = 0; s < system->sets_count; s++)
        add_all(&system->sets[s], &draft->variables);
    for (size_t r = 0; r < system->roles_count; r++)
        find_missing(resolver, &roles[r], &system->sets[system->roles[r].set]);
}
