/* SPDX-License-Identifier: Apache-2.0 */
/* Whom the policy "cohorts" preempts (see cohort_preempt.h). */
#include "sched/queueing/parts/cohort_preempt.h"

#include "sched/internal/alloc.h"

#include <stdlib.h>

enum { WAITS, PASSED_OVER, DROPPED, GOES, LEAVES /* an earlier plan said so */ };

/* Both shares are sums of the same few numbers: what differs less is equal. */
static const double tolerance = 1e-9;

struct trial {
    struct weir_cohort_claim *claim;
    const struct weir_job *job;
    struct weir_amounts need;
    struct weir_cohort *cohorts;
};

static struct weir_tenant look_up(const struct weir_view *view, uint32_t number)
{
    struct weir_tenant tenant = { .size = sizeof tenant };

    (void)weir_view_tenant(view, number, &tenant);
    return tenant;
}

static weir_status reserve(struct weir_cohort_claim *claim, uint32_t tenants)
{
    WEIR_ROOM(&claim->allocator, claim->gone, claim->gone_capacity, tenants + 1);
    for (uint32_t t = 0; t <= tenants; t++)
        claim->gone[t] = (struct weir_amounts){ 0 };
    return WEIR_OK;
}

weir_status weir_cohort_claim_begin(struct weir_cohort_claim *claim, const struct weir_view *view,
                                    struct weir_placer *placer)
{
    struct weir_job job = { .size = sizeof job };

    claim->view = view;
    claim->placer = placer;
    WEIR_TRY(reserve(claim, weir_view_tenants(view)));
    if (claim->is_calm)
        return WEIR_OK;
    claim->is_calm = true;
    for (bool more = weir_view_next_running(view, NULL, &job); more;
         more = weir_view_next_running(view, &job, &job)) {
        if (job.is_preempted == 0)
            continue;
        claim->is_calm = false;
        weir_cohorts_leave(view, &job, 1, claim->gone);
    }
    return WEIR_OK;
}

void weir_cohort_claim_close(struct weir_cohort_claim *claim)
{
    weir_free(&claim->allocator, claim->gone);
    weir_free(&claim->allocator, claim->all);
}

/* ---- candidates ---- */

/* The branches of two tenants at the level where they part; false when one is above the other. */
static bool part(const struct weir_view *view, uint32_t *a, uint32_t *b)
{
    struct weir_tenant left = look_up(view, *a);
    struct weir_tenant right = look_up(view, *b);

    while (left.depth > right.depth)
        left = look_up(view, left.parent);
    while (right.depth > left.depth)
        right = look_up(view, right.parent);
    if (left.number == right.number)
        return false;
    while (left.parent != right.parent) {
        left = look_up(view, left.parent);
        right = look_up(view, right.parent);
    }
    *a = left.number;
    *b = right.number;
    return true;
}

static double share_of(const struct trial *trial, uint32_t branch, const struct weir_amounts *more)
{
    return weir_cohort_share(trial->claim->view, trial->cohorts, branch, more);
}

static bool borrows(const struct trial *trial, uint32_t branch)
{
    static const struct weir_amounts nothing = { 0 };

    return share_of(trial, branch, &nothing) > 0;
}

static int compare(const void *left, const void *right)
{
    const struct weir_job *const a = &((const struct weir_cohort_candidate *)left)->job;
    const struct weir_job *const b = &((const struct weir_cohort_candidate *)right)->job;

    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns > b->start_ns ? -1 : 1;
    if (a->workload != b->workload)
        return a->workload < b->workload ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static weir_status collect(const struct trial *trial)
{
    struct weir_cohort_claim *const claim = trial->claim;
    struct weir_job job = { .size = sizeof job };

    claim->count = 0;
    for (bool more = weir_view_next_running(claim->view, NULL, &job); more;
         more = weir_view_next_running(claim->view, &job, &job)) {
        uint32_t own = trial->job->tenant;
        uint32_t branch = job.tenant;
        const bool leaves = job.is_preempted != 0;
        if (!leaves && (job.tenant == 0 || job.state != WEIR_JOB_RUNNING ||
                        !part(claim->view, &own, &branch) || !borrows(trial, branch)))
            continue;
        WEIR_ROOM(&claim->allocator, claim->all, claim->capacity, claim->count + 1);
        claim->all[claim->count++] = (struct weir_cohort_candidate){
            .job = job, .branch = branch, .state = leaves ? LEAVES : WAITS
        };
    }
    if (claim->count > 1)
        qsort(claim->all, claim->count, sizeof *claim->all, compare);
    return WEIR_OK;
}

/* ---- the trial ---- */

/* As if it had gone, or back. */
static void move(const struct trial *trial, struct weir_cohort_candidate *candidate, bool goes)
{
    weir_cohorts_leave(trial->claim->view, &candidate->job, goes ? 1 : -1, trial->claim->gone);
    weir_cohorts_count(trial->claim->view, trial->claim->gone, trial->cohorts);
}

/* Whether there is quota for the job, and room once all that go have gone. */
static bool fits(const struct trial *trial, weir_status *status)
{
    struct weir_cohort_claim *const claim = trial->claim;
    struct weir_cluster *const scratch = weir_placer_scratch(claim->placer);
    const struct weir_job *const job = trial->job;
    bool found = true;

    if (!weir_cohort_has(claim->view, trial->cohorts, job->tenant, &trial->need))
        return false;
    *status = weir_cluster_mark(scratch);
    if (*status != WEIR_OK)
        return false;
    for (uint32_t i = 0; i < claim->count && found; i++)
        if (claim->all[i].state >= GOES)
            found = weir_placer_lift_job(claim->placer, claim->all[i].job.workload,
                                         claim->all[i].job.id, NULL) == WEIR_OK;
    found = found && weir_placer_fits_job(claim->placer, job->workload, job->id, NULL) == WEIR_OK;
    weir_cluster_rollback(scratch);
    return found;
}

/* The first candidate in this state of the branch with the largest share; NULL = none borrows. */
static struct weir_cohort_candidate *next_victim(const struct trial *trial, uint32_t state)
{
    static const struct weir_amounts nothing = { 0 };
    struct weir_cohort_candidate *best = NULL;
    double most = 0;

    for (uint32_t i = 0; i < trial->claim->count; i++) {
        struct weir_cohort_candidate *const next = &trial->claim->all[i];
        const double share = next->state == state ? share_of(trial, next->branch, &nothing) : 0;
        if (!(share > most + tolerance))
            continue;
        best = next;
        most = share;
    }
    return best;
}

/* Share of the waiting job's branch with it, beside the branch of a candidate. */
static double new_share(const struct trial *trial, const struct weir_cohort_candidate *victim)
{
    uint32_t own = trial->job->tenant;
    uint32_t branch = victim->job.tenant;

    (void)part(trial->claim->view, &own, &branch);
    return share_of(trial, own, &trial->need);
}

/* First rule: at most what the victim's branch has without it. True when the job fits. */
static bool take_by_final_share(const struct trial *trial, weir_status *status)
{
    static const struct weir_amounts nothing = { 0 };
    struct weir_cohort_candidate *victim;

    while (*status == WEIR_OK && (victim = next_victim(trial, WAITS)) != NULL) {
        const double ours = new_share(trial, victim);
        move(trial, victim, true);
        if (ours > 0 && ours > share_of(trial, victim->branch, &nothing) + tolerance) {
            move(trial, victim, false);
            victim->state = PASSED_OVER;
            continue;
        }
        victim->state = GOES;
        if (fits(trial, status))
            return true;
    }
    return false;
}

static void drop_branch(const struct trial *trial, uint32_t branch)
{
    for (uint32_t i = 0; i < trial->claim->count; i++)
        if (trial->claim->all[i].branch == branch && trial->claim->all[i].state == PASSED_OVER)
            trial->claim->all[i].state = DROPPED;
}

/* Second rule: less than the victim's branch has now, one a branch. */
static bool take_by_initial_share(const struct trial *trial, weir_status *status)
{
    static const struct weir_amounts nothing = { 0 };
    struct weir_cohort_candidate *victim;

    while (*status == WEIR_OK && (victim = next_victim(trial, PASSED_OVER)) != NULL) {
        const double theirs = share_of(trial, victim->branch, &nothing);
        drop_branch(trial, victim->branch);
        if (!(new_share(trial, victim) < theirs - tolerance))
            continue;
        victim->state = GOES;
        move(trial, victim, true);
        if (fits(trial, status))
            return true;
    }
    return false;
}

/* Those without whom the job fits stay, the last taken first. */
static void spare(const struct trial *trial, weir_status *status)
{
    for (uint32_t i = trial->claim->count; i-- > 0 && *status == WEIR_OK;) {
        struct weir_cohort_candidate *const victim = &trial->claim->all[i];
        if (victim->state != GOES)
            continue;
        victim->state = DROPPED;
        move(trial, victim, false);
        if (fits(trial, status))
            continue;
        victim->state = GOES;
        move(trial, victim, true);
    }
}

static void take_back(const struct trial *trial)
{
    for (uint32_t i = 0; i < trial->claim->count; i++)
        if (trial->claim->all[i].state == GOES)
            move(trial, &trial->claim->all[i], false);
}

static weir_status let_go(const struct trial *trial, struct weir_error *error)
{
    struct weir_cohort_claim *const claim = trial->claim;

    claim->is_calm = false;
    for (uint32_t i = 0; i < claim->count; i++) {
        const struct weir_job *const job = &claim->all[i].job;
        if (claim->all[i].state != GOES)
            continue;
        WEIR_TRY(claim->grace_ns > 0
                     ? weir_placer_warn_job(claim->placer, job->workload, job->id, claim->grace_ns,
                                            error)
                     : weir_placer_preempt_job(claim->placer, job->workload, job->id, error));
    }
    return claim->grace_ns > 0 ? WEIR_EBUSY : WEIR_OK;
}

weir_status weir_cohort_preempt(struct weir_cohort_claim *claim, const struct weir_job *job,
                                struct weir_cohort *cohorts, struct weir_error *error)
{
    const struct trial trial = {
        .claim = claim, .job = job, .need = weir_job_amounts(job), .cohorts = cohorts
    };
    weir_status status = WEIR_OK;

    if (collect(&trial) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (fits(&trial, &status))
        return WEIR_EBUSY; /* once those have gone that are on their way out */
    const bool found = take_by_final_share(&trial, &status) ||
                       (claim->is_by_either && take_by_initial_share(&trial, &status));
    if (found)
        spare(&trial, &status);
    if (!found || status != WEIR_OK)
        take_back(&trial);
    if (status != WEIR_OK)
        return weir_fail(error, status, "out of memory");
    return found ? let_go(&trial, error) : WEIR_EBUSY;
}
