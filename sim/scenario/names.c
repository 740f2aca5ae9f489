/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that own random numbers; see the header. */
#include "sim/scenario/names.h"

#include "sim/scenario/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[] = { [SIM_NAME_PIPELINE] = "pipeline",
                                     [SIM_NAME_STAGE] = "stage",
                                     [SIM_NAME_JOBS] = "workload",
                                     [SIM_NAME_CLASS] = "class",
                                     [SIM_NAME_NODES] = "group of nodes",
                                     [SIM_NAME_GPU] = "GPU",
                                     [SIM_NAME_STORE] = "store",
                                     [SIM_NAME_ACTORS] = "actor system",
                                     [SIM_NAME_ROLE] = "role" };

/* ---- the check ---- */

static int by_hash(const void *left, const void *right)
{
    const struct sim_owner_name *a = left;
    const struct sim_owner_name *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->within != b->within)
        return a->within < b->within ? -1 : 1;
    return strcmp(a->name, b->name);
}

bool sim_names_collide(struct sim_owner_name *names, size_t count, size_t *first)
{
    qsort(names, count, sizeof(*names), by_hash);
    for (size_t i = 1; i < count; i++) {
        if (names[i - 1].hash != names[i].hash || by_hash(&names[i - 1], &names[i]) == 0)
            continue;
        *first = i - 1;
        return true;
    }
    return false;
}

/* ---- collecting them ---- */

struct list {
    struct sim_owner_name *names;
    size_t count;
};

/* Its hash; names that are missing were reported. */
static uint64_t add(struct list *list, uint64_t within, enum sim_name_kind kind, const char *name,
                    const struct draft_head *head)
{
    if (name == NULL)
        return 0;
    const uint64_t hash = sim_random_name(within, kind, name);
    list->names[list->count++] =
        (struct sim_owner_name){ .hash = hash,
                                 .within = within,
                                 .kind = kind,
                                 .name = name,
                                 .at = head == NULL ? NULL : sim_draft_at(head, "name") };
    return hash;
}

static void add_pipelines(struct list *list, const struct draft_scenario *draft)
{
    const struct draft_pipeline *pipelines = draft->pipelines.items;
    for (size_t p = 0; p < draft->pipelines.count; p++) {
        const struct draft_stage *stages = pipelines[p].stages.items;
        const uint64_t owner =
            add(list, 0, SIM_NAME_PIPELINE, pipelines[p].head.name, &pipelines[p].head);
        for (size_t s = 0; s < pipelines[p].stages.count; s++)
            (void)add(list, owner, SIM_NAME_STAGE, stages[s].head.name, &stages[s].head);
    }
}

static void add_source(struct list *list, const struct draft_head *head,
                       const struct draft_source *source)
{
    const struct draft_job_class *classes = source->classes.items;
    const uint64_t owner = add(list, 0, SIM_NAME_JOBS, head->name, head);
    for (size_t c = 0; c < source->classes.count; c++)
        (void)add(list, owner, SIM_NAME_CLASS, classes[c].head.name, &classes[c].head);
}

static void add_jobs(struct list *list, const struct draft_scenario *draft)
{
    const struct draft_jobs *jobs = draft->jobs.items;
    const struct draft_fill *fills = draft->fill.items;
    for (size_t i = 0; i < draft->jobs.count; i++)
        add_source(list, &jobs[i].head, &jobs[i].source);
    for (size_t i = 0; i < draft->fill.count; i++)
        add_source(list, &fills[i].head, &fills[i].source);
}

static void add_actors(struct list *list, const struct draft_scenario *draft)
{
    const struct draft_actor_system *systems = draft->actors.items;
    for (size_t i = 0; i < draft->actors.count; i++) {
        const struct draft_role *roles = systems[i].roles.items;
        const uint64_t owner =
            add(list, 0, SIM_NAME_ACTORS, systems[i].head.name, &systems[i].head);
        for (size_t r = 0; r < systems[i].roles.count; r++)
            (void)add(list, owner, SIM_NAME_ROLE, roles[r].head.name, &roles[r].head);
    }
}

static void add_hardware(struct list *list, const struct sim_scenario *scenario)
{
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_group *group = &scenario->node_groups[g];
        (void)add(list, 0, SIM_NAME_NODES,
                  group->name == NULL ? scenario->node_types[group->type].name : group->name, NULL);
    }
    for (size_t s = 0; s < scenario->stores_count; s++)
        (void)add(list, 0, SIM_NAME_STORE, scenario->stores[s].name, NULL);
}

static size_t most_names(const struct sim_resolver *resolver)
{
    const struct draft_scenario *draft = resolver->draft;
    const struct draft_pipeline *pipelines = draft->pipelines.items;
    const struct draft_jobs *jobs = draft->jobs.items;
    const struct draft_fill *fills = draft->fill.items;
    const struct draft_actor_system *systems = draft->actors.items;
    size_t count = resolver->scenario->node_groups_count + resolver->scenario->stores_count;
    for (size_t p = 0; p < draft->pipelines.count; p++)
        count += 1 + pipelines[p].stages.count;
    for (size_t i = 0; i < draft->jobs.count; i++)
        count += 1 + jobs[i].source.classes.count;
    for (size_t i = 0; i < draft->fill.count; i++)
        count += 1 + fills[i].source.classes.count;
    for (size_t i = 0; i < draft->actors.count; i++)
        count += 1 + systems[i].roles.count;
    return count;
}

void sim_resolve_names(struct sim_resolver *resolver)
{
    struct list list = { .names = sim_arena_alloc(resolver->arena, most_names(resolver) + 1,
                                                  sizeof *list.names) };
    size_t first = 0;
    add_pipelines(&list, resolver->draft);
    add_jobs(&list, resolver->draft);
    add_actors(&list, resolver->draft);
    add_hardware(&list, resolver->scenario);
    if (!sim_names_collide(list.names, list.count, &first))
        return;
    const struct sim_owner_name *one = &list.names[first];
    const struct sim_owner_name *other = &list.names[first + 1];
    sim_report_error(resolver->report,
                     other->at != NULL ? other->at
                     : one->at != NULL ? one->at
                                       : resolver->root,
                     "%s '%s' and %s '%s' would share their random numbers (their names have one "
                     "hash); give one another name",
                     words[one->kind], one->name, words[other->kind], other->name);
}
