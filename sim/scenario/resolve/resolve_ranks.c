/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving what classes of jobs say beside their members: other ranks, numbers of members that
 * change, and whom jobs follow. A class whose jobs come because of others takes none of those that
 * arrive by themselves.
 */
#include "sim/engine/number.h"
#include "sim/scenario/read/name_set.h"
#include "sim/scenario/resolve/resolve.h"
#include "workloads/job.h"
#include "workloads/swf.h"

#include <stdlib.h>
#include <string.h>

/* ---- ranks ---- */

static void resolve_groups(struct sim_resolver *resolver, struct draft_job_class *draft,
                           struct sim_job_spec *job)
{
    struct draft_rank_group *drafts = draft->groups.items;
    struct sim_rank_group *groups =
        sim_arena_alloc(resolver->arena, draft->groups.count + 1, sizeof *groups);
    job->more = groups;
    job->more_count = draft->groups.count;
    struct sim_name_set names = sim_name_set_open(resolver->arena);
    for (size_t i = 0; i < draft->groups.count; i++) {
        if (drafts[i].head.name != NULL && !sim_name_set_add(&names, drafts[i].head.name))
            sim_report_error(resolver->report, sim_draft_at(&drafts[i].head, "name"),
                             "two groups are called '%s'", drafts[i].head.name);
        groups[i] = drafts[i].to;
        groups[i].name = drafts[i].head.name;
        sim_resolve_request(resolver, sim_draft_at(&drafts[i].head, "request"), &drafts[i].request,
                            &groups[i].shape, &groups[i].soft_labels);
        if (drafts[i].gpu_types != NULL)
            groups[i].shape.gpu_type =
                sim_resolve_gpu_types(resolver, &drafts[i].head, drafts[i].gpu_types);
    }
}

/* ---- members that change ---- */

/* Numbers of a list, of which `count` are wanted, or any when it is 0. */
static double *read_numbers(struct sim_resolver *resolver, const struct sim_yaml *node,
                            const char *list, uint32_t *count)
{
    const uint32_t wanted = *count;
    char *rest = sim_arena_copy(resolver->arena, list);
    double *numbers = sim_arena_alloc(resolver->arena, strlen(list) + 1, sizeof *numbers);
    *count = 0;
    for (char *word = strsep(&rest, "|"); word != NULL; word = strsep(&rest, "|")) {
        const size_t length = sim_number_scan(word, &numbers[*count]);
        if (length == 0 || word[length] != '\0') {
            sim_report_error(resolver->report, node, "expected a number, found '%s'", word);
            return NULL;
        }
        *count += 1;
    }
    if (wanted != 0 && *count != wanted) {
        sim_report_error(resolver->report, node, "expected %u numbers, found %u", wanted, *count);
        return NULL;
    }
    return numbers;
}

struct speed_law {
    const char *key, *list;
    uint32_t law, count;
};

static void resolve_law(struct sim_resolver *resolver, const struct draft_head *head,
                        const struct speed_law *law, struct sim_elastic *elastic)
{
    struct weir_speedup *speedup = &elastic->speedup;
    struct weir_error error = { .phase = -1, .pool = -1 };
    const struct sim_yaml *node = sim_draft_at(head, law->key);
    speedup->law = law->law;
    speedup->count = law->count;
    speedup->numbers = law->list == NULL ? &elastic->serial
                                         : read_numbers(resolver, node, law->list, &speedup->count);
    if (speedup->numbers != NULL && weir_speedup_check(speedup, &error) != WEIR_OK)
        sim_report_error(resolver->report, node, "%s", error.text);
}

/* One law of speed; by serial without any other. */
static void resolve_speedup(struct sim_resolver *resolver, const struct draft_elastic *draft,
                            struct sim_elastic *elastic)
{
    const struct speed_law laws[] = {
        { "speeds", draft->speeds, WEIR_SPEEDUP_TABLE, 0 },
        { "step_times", draft->step_times, WEIR_SPEEDUP_STEP, 3 },
        { "goodput", draft->goodput, WEIR_SPEEDUP_GOODPUT, WEIR_GOODPUT_COUNT },
    };
    const struct speed_law serial = { "serial", NULL, WEIR_SPEEDUP_AMDAHL, 1 };
    const struct speed_law *said = NULL;
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) {
        if (laws[i].list == NULL)
            continue;
        if (said != NULL || draft->to.serial > 0)
            sim_report_error(resolver->report, sim_draft_at(&draft->head, laws[i].key),
                             "says how fast members are; so does %s: leave one of them out",
                             said != NULL ? said->key : serial.key);
        said = &laws[i];
    }
    resolve_law(resolver, &draft->head, said != NULL ? said : &serial, elastic);
}

/* false = they cannot be. */
static bool resolve_limits(struct sim_resolver *resolver, const struct draft_head *head,
                           const struct sim_job_spec *job, struct sim_elastic *elastic)
{
    if (elastic->most == SIM_ABSENT_COUNT)
        elastic->most = job->members;
    if (elastic->most < job->members)
        sim_report_error(resolver->report, sim_draft_at(head, "most"),
                         "must be at least its members (%u), got %u", job->members, elastic->most);
    if (elastic->least != SIM_ABSENT_COUNT && elastic->least > job->members)
        sim_report_error(resolver->report, sim_draft_at(head, "least"),
                         "must be at most its members (%u), got %u", job->members, elastic->least);
    elastic->speedup = (struct weir_speedup){ .size = sizeof elastic->speedup,
                                              .least = elastic->least,
                                              .most = elastic->most,
                                              .usual = job->members };
    return elastic->least <= job->members && elastic->most >= job->members;
}

static void resolve_elastic(struct sim_resolver *resolver, const struct draft_job_class *draft,
                            struct sim_job_spec *job)
{
    const struct draft_head *head = &draft->elastic.head;
    struct sim_elastic *elastic = sim_arena_alloc(resolver->arena, 1, sizeof *elastic);
    if (head->node == NULL)
        return;
    *elastic = draft->elastic.to;
    if (elastic->on_loss == SIM_ABSENT_COUNT)
        elastic->on_loss = SIM_ON_LOSS_SHRINK;
    if (!(elastic->serial > 0))
        elastic->serial = 0;
    if (elastic->resize_ns == SIM_ABSENT_TIME)
        elastic->resize_ns = 0;
    job->elastic = elastic;
    if (resolve_limits(resolver, head, job, elastic))
        resolve_speedup(resolver, &draft->elastic, elastic);
    if (draft->step.head.node != NULL || job->group != 0)
        sim_report_error(
            resolver->report, head->node, "%s and members that change do not go together: %s",
            job->group != 0 ? "a placement group" : "step",
            job->group != 0 ? "it is placed whole" : "say with serial what each member is worth");
}

/* ---- whom they follow ---- */

static void check_loop(struct sim_resolver *resolver, const struct draft_job_class *drafts,
                       const struct sim_workload *workload, size_t first)
{
    size_t at = first;
    for (size_t steps = 0; workload->jobs[at].after != 0; steps++) {
        at = workload->jobs[at].after - 1;
        if (steps <= workload->jobs_count && at != first)
            continue;
        if (at == first)
            sim_report_error(resolver->report, sim_draft_at(&drafts[first].head, "after"),
                             "waits for itself: no job of '%s' ever comes",
                             drafts[first].head.name);
        return;
    }
}

/* The class of this name; `key` says who names it. SIZE_MAX, reported, when there is none. */
static size_t class_called(struct sim_resolver *resolver, const struct draft_job_class *drafts,
                           const struct sim_job_source *source, const struct sim_yaml *at,
                           const char *name)
{
    const size_t count = source->workload->jobs_count;
    const char **names = sim_arena_alloc(resolver->arena, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) {
        names[i] = drafts[i].head.name;
        if (strcmp(names[i], name) == 0)
            return i;
    }
    sim_report_near(resolver->report, at, SIM_AT_VALUE, sim_near_name(name, names, count),
                    "there is no class '%s' of these jobs", name);
    return SIZE_MAX;
}

/* Whose end lets the users of a class think. */
static void resolve_until(struct sim_resolver *resolver, const struct sim_job_source *source,
                          size_t index)
{
    const struct draft_job_class *drafts = source->draft->classes.items;
    struct sim_job_spec *jobs = source->workload->jobs;
    const struct sim_yaml *at = sim_draft_at(&drafts[index].head, "until");
    if (drafts[index].until == NULL) {
        if (jobs[index].users > 0) /* else it may free those of another class */
            jobs[index].frees = (uint32_t)index + 1;
        return;
    }
    const size_t last = class_called(resolver, drafts, source, at, drafts[index].until);
    if (last == SIZE_MAX)
        return;
    size_t first = last;
    for (size_t steps = 0; jobs[first].after != 0 && steps <= source->workload->jobs_count; steps++)
        first = jobs[first].after - 1;
    if (jobs[index].users == 0)
        sim_report_error(resolver->report, at, "needs users: who waits until then");
    else if (first != index || last == index)
        sim_report_error(resolver->report, at, "'%s' does not come after '%s'", drafts[index].until,
                         drafts[index].head.name);
    else
        jobs[last].frees = (uint32_t)index + 1;
}

static void resolve_after(struct sim_resolver *resolver, const struct sim_job_source *source,
                          size_t index)
{
    const struct draft_job_class *drafts = source->draft->classes.items;
    const struct draft_job_class *draft = &drafts[index];
    const struct sim_workload *workload = source->workload;
    const size_t before =
        class_called(resolver, drafts, source, sim_draft_at(&draft->head, "after"), draft->after);
    workload->jobs[index].after = before == SIZE_MAX ? 0 : (uint32_t)before + 1;
    if (workload->jobs[index].users > 0 || draft->to.count != UINT64_MAX)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "after"),
                         "as many come as of '%s': leave %s out", draft->after,
                         workload->jobs[index].users > 0 ? "users" : "count");
}

/* They come when others are over, and never by themselves. */
static void take_out(struct sim_job_spec *job)
{
    job->limit = job->count;
    job->count = 0;
}

void sim_resolve_followers(struct sim_resolver *resolver, const struct sim_job_source *source)
{
    const struct draft_job_class *drafts = source->draft->classes.items;
    struct sim_workload *workload = source->workload;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        struct sim_job_spec *job = &workload->jobs[i];
        if (drafts[i].after != NULL)
            resolve_after(resolver, source, i);
        if (drafts[i].after != NULL || sim_yaml_get(drafts[i].head.node, "users") != NULL)
            take_out(job);
    }
    for (size_t i = 0; i < workload->jobs_count; i++) {
        check_loop(resolver, drafts, workload, i);
        resolve_until(resolver, source, i);
    }
}

void sim_resolve_ranks(struct sim_resolver *resolver, struct draft_job_class *draft,
                       struct sim_job_spec *job)
{
    if (job->users == SIM_ABSENT_COUNT)
        job->users = 0;
    if (job->array == SIM_ABSENT_COUNT)
        job->array = 1;
    if (job->array_limit > job->array)
        job->array_limit = job->array;
    resolve_groups(resolver, draft, job);
    resolve_elastic(resolver, draft, job);
}

/* ---- rows of a trace ---- */

struct numbered {
    int64_t number;
    uint32_t row;
};

static int by_number(const void *left, const void *right)
{
    const struct numbered *a = left;
    const struct numbered *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* The row of that number that comes last before `row`; `row` when there is none. */
static uint32_t row_of(const struct numbered *all, size_t count, int64_t number, uint32_t row)
{
    size_t low = 0;
    size_t high = count; /* the first that is not before (number, row) */
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct numbered wanted = { number, row };
        if (by_number(&all[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && all[low - 1].number == number ? all[low - 1].row : row;
}

void sim_resolve_rows_follow(struct sim_resolver *resolver, const struct wl_jobs *rows,
                             const uint32_t *places, struct sim_workload *workload)
{
    struct numbered *all = NULL;
    size_t links = 0;
    for (size_t i = 0; rows->swf != NULL && i < rows->count; i++)
        links += rows->swf[i].preceding > 0;
    if (links == 0)
        return;
    all = sim_arena_alloc(resolver->arena, rows->count + 1, sizeof *all);
    for (uint32_t i = 0; i < rows->count; i++)
        all[i] = (struct numbered){ strtoll(rows->jobs[i].name, NULL, 10), i };
    qsort(all, rows->count, sizeof *all, by_number);
    for (uint32_t i = 0; i < rows->count; i++) {
        const uint32_t before = row_of(all, rows->count, rows->swf[i].preceding, i);
        if (rows->swf[i].preceding <= 0 || before == i || places[i] == 0 || places[before] == 0)
            continue;
        struct sim_job_spec *job = &workload->jobs[places[i] - 1];
        job->after = places[before];
        job->think_ns = rows->swf[i].think_ns;
    }
}
