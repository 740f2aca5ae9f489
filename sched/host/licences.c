/* SPDX-License-Identifier: Apache-2.0 */
/* Licences: what is told of them, how many are held, what is left (see licences.h). */
#include "sched/host/licences.h"

#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/plan_state.h"
#include "sched/internal/size.h"

#include <string.h>

void weir_licences_close(struct weir_licences *licences, const struct weir_allocator *allocator)
{
    for (uint32_t i = 0; i < licences->count; i++)
        weir_free(allocator, licences->all[i].name);
}

bool weir_licences_takes(const struct weir_licences *licences, const uint32_t *need)
{
    for (uint32_t i = 0; i < licences->count; i++)
        if (need[i] > 0)
            return true;
    return false;
}

bool weir_licences_is_barred(const struct weir_licences *licences, const uint32_t *need,
                             int32_t priority)
{
    for (uint32_t i = 0; i < licences->count; i++)
        if (need[i] > 0 && priority < licences->all[i].priority_threshold)
            return true;
    return false;
}

weir_status weir_licences_check(const struct weir_licences *licences, const uint32_t *need,
                                struct weir_error *error)
{
    for (uint32_t i = 0; i < WEIR_MAX_LICENCES; i++) {
        if (need[i] > 0 && i >= licences->count)
            return weir_fail(error, WEIR_EINVAL, "licence %u of %u", i, licences->count);
        if (need[i] > 0 && need[i] > licences->all[i].limit)
            return weir_fail(error, WEIR_EINFEASIBLE, "takes %u of licence %s, there are %u",
                             need[i], licences->all[i].name, licences->all[i].limit);
    }
    return WEIR_OK;
}

void weir_licences_count(struct weir_licences *licences, const uint32_t *need, int32_t jobs)
{
    for (uint32_t i = 0; i < licences->count; i++)
        licences->all[i].used += (int64_t)need[i] * jobs;
}

bool weir_licences_lack(const struct weir_licences *licences, const uint32_t *need)
{
    for (uint32_t i = 0; i < licences->count; i++)
        if (need[i] > 0 && licences->all[i].used + need[i] > licences->all[i].limit)
            return true;
    return false;
}

/* ---- telling and asking ---- */

static weir_status check_spec(const struct weir_jobs *jobs, const struct weir_licence_spec *spec,
                              struct weir_error *error)
{
    const struct weir_licences *const licences = &jobs->licences;

    if (spec->name == NULL || spec->name[0] == '\0')
        return weir_fail(error, WEIR_EINVAL, "a licence needs a name");
    for (uint32_t i = 0; i < licences->count; i++)
        if (strcmp(licences->all[i].name, spec->name) == 0)
            return weir_fail(error, WEIR_EDUPLICATE, "there is one of this name");
    if (licences->count >= WEIR_MAX_LICENCES)
        return weir_fail(error, WEIR_ERANGE, "at most %d licences are possible", WEIR_MAX_LICENCES);
    if (jobs->kind_count > 0)
        return weir_fail(error, WEIR_EBUSY, "jobs came before it");
    return WEIR_OK;
}

weir_status weir_host_add_licence(struct weir_host *host, const struct weir_licence_spec *licence,
                                  uint32_t *number, struct weir_error *error)
{
    if (host == NULL || licence == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no licence");
    WEIR_TRY(weir_size_check(licence->size, sizeof *licence, "the licence", error));
    WEIR_TRY(check_spec(&host->jobs, licence, error));
    struct weir_licences *const licences = &host->jobs.licences;
    const size_t size = strlen(licence->name) + 1;
    char *const name = weir_alloc(&host->allocator, size, 1);
    if (name == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    memcpy(name, licence->name, size);
    if (number != NULL)
        *number = licences->count;
    licences->all[licences->count++] = (struct weir_licence_entry){
        .name = name, .limit = licence->limit, .priority_threshold = licence->priority_threshold
    };
    return WEIR_OK;
}

uint32_t weir_view_licences(const struct weir_view *view)
{
    return view->jobs == NULL ? 0 : view->jobs->licences.count;
}

bool weir_view_licence(const struct weir_view *view, uint32_t number, struct weir_licence *licence)
{
    if (number >= weir_view_licences(view))
        return false;
    const struct weir_licence_entry *const entry = &view->jobs->licences.all[number];
    const struct weir_licence full = { .size = licence->size,
                                       .number = number,
                                       .limit = entry->limit,
                                       .used = (uint32_t)entry->used,
                                       .name = entry->name,
                                       .priority_threshold = entry->priority_threshold };
    memcpy(licence, &full, licence->size < sizeof full ? licence->size : sizeof full);
    return true;
}

/* ---- checks ---- */

weir_status weir_jobs_check_licences(const struct weir_jobs *jobs, struct weir_error *error)
{
    struct weir_licences counted = jobs->licences;

    for (uint32_t i = 0; i < counted.count; i++)
        counted.all[i].used = 0;
    for (uint32_t i = 0; i < jobs->record_count; i++)
        if (jobs->records[i].is_used != 0 && jobs->records[i].state != WEIR_JOB_WAITING)
            weir_licences_count(&counted, jobs->kinds[jobs->records[i].kind].licences, 1);
    for (uint32_t i = 0; i < counted.count; i++)
        if (counted.all[i].used != jobs->licences.all[i].used)
            return weir_fail(error, WEIR_EINVARIANT, "jobs hold %lld of licence %s, %lld counted",
                             (long long)counted.all[i].used, counted.all[i].name,
                             (long long)jobs->licences.all[i].used);
    return WEIR_OK;
}

/* Those that the pass has started hold theirs already: what is left without them. */
void weir_licences_open_check(const struct weir_plan *plan, const struct weir_view *view,
                              int64_t left[WEIR_MAX_LICENCES])
{
    const struct weir_jobs *const jobs = view->jobs;
    const uint32_t actions = weir_view_licences(view) == 0 ? 0 : weir_plan_settle(plan);

    for (uint32_t i = 0; i < weir_view_licences(view); i++)
        left[i] = jobs->licences.all[i].limit - jobs->licences.all[i].used;
    for (uint32_t a = 0; a < actions; a++) {
        const struct weir_action *const action = weir_plan_settled(plan, a);
        if (action->verb != WEIR_VERB_START || action->owner.kind != WEIR_OWNER_JOB ||
            action->rank != 0)
            continue;
        const uint32_t record = weir_jobs_find(jobs, action->owner.index, action->owner.id);
        if (record != WEIR_NO_INDEX && jobs->records[record].state == WEIR_JOB_STARTING &&
            weir_jobs_placed(jobs, record)->is_planned != 0)
            weir_licences_give_back(jobs, record, left);
    }
}

weir_status weir_licences_take(const struct weir_jobs *jobs, uint32_t record, int64_t *left,
                               struct weir_error *error)
{
    const struct weir_job_kind *const kind = &jobs->kinds[jobs->records[record].kind];

    if (kind->is_barred != 0)
        return weir_fail(error, WEIR_EPOLICY, "priority %d is below the threshold of a licence",
                         jobs->records[record].priority);
    for (uint32_t i = 0; i < jobs->licences.count; i++) {
        if (kind->licences[i] > 0 && left[i] < kind->licences[i])
            return weir_fail(error, WEIR_EPOLICY, "takes %u of licence %s, %lld are left",
                             kind->licences[i], jobs->licences.all[i].name, (long long)left[i]);
        left[i] -= kind->licences[i];
    }
    return WEIR_OK;
}

void weir_licences_give_back(const struct weir_jobs *jobs, uint32_t record, int64_t *left)
{
    const struct weir_job_kind *const kind = &jobs->kinds[jobs->records[record].kind];

    for (uint32_t i = 0; i < jobs->licences.count; i++)
        left[i] += kind->licences[i];
}
