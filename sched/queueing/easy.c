/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "easy": in their order, and when one does not fit, others pass it that do not delay it
 * (aggressive backfilling; Lifka, JSSPP 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001).
 *
 * The first that does not fit is the head. Its shadow is the first release, of running jobs by
 * start + estimate, or the first begin or end of a reservation, at which the placement finds places
 * for it. A job behind it starts when it fits
 * now and either ends by the shadow, or leaves the head places at the shadow: what is over there is
 * counted first, and then the placement is asked with both in place. With an order other than that
 * of submission the head is the first in that order, picked anew in every pass.
 *
 * The shadow is kept while nothing unexpected happens (weir_view_surprises) and the head is the
 * same: a release that was counted on changes nothing of it. While somebody overruns his estimate
 * it moves with the clock and is worked out in every pass.
 *
 * Cost of a pass: O(kinds), and for each job that starts O(log waiting); a new shadow costs its
 * releases, a start that ends behind the shadow lifts them once.
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/backfill.h"
#include "sched/queueing/parts/ranked.h"

#include "weir/reservation.h"

enum { PARAM_ORDER, PARAM_DEPTH, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_ORDER] = WEIR_BACKFILL_ORDER,
    [PARAM_DEPTH] = WEIR_COUNT("depth", "jobs", 0, 1e9, 0,
                               "jobs behind the head that are looked at in a pass; 0 = all"),
};

/* When the head can start, and what is over then. */
struct shadow {
    bool is_known;
    uint32_t workload;
    uint64_t id;
    int64_t at_ns; /* INT64_MAX = no release that is expected makes room */
    uint64_t surprises;
    struct weir_amounts over;
};

struct easy {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_walk walk;
    struct shadow shadow;
};

struct pass {
    struct easy *easy;
    const struct weir_view *view;
    struct weir_placer *placer;
    struct weir_error *error;
    struct weir_job head;
    uint32_t looked; /* at jobs behind it */
};

static const struct weir_made made = WEIR_MADE(struct easy, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    weir_walk_open(&((struct easy *)*state)->walk, allocator);
    return WEIR_OK;
}

static void destroy(void *state)
{
    weir_walk_close(&((struct easy *)state)->walk);
    weir_made_destroy(state);
}

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct easy *const easy = state;

    (void)now_ns;
    return weir_backfill_key((uint32_t)easy->values[PARAM_ORDER], job);
}

/* ---- the shadow ---- */

static weir_status fits(const struct pass *pass, const struct weir_job *job)
{
    return weir_placer_fits_job(pass->placer, job->workload, job->id, pass->error);
}

/* The next running job that is not on its way out anyway. */
static bool next_release(const struct pass *pass, struct weir_job *job)
{
    return weir_view_next_running(pass->view, job->group_count == 0 ? NULL : job, job) &&
           weir_job_end_ns(job, pass->view->now_ns) != INT64_MAX;
}

/* Lifts all that end at the instant of this release; afterwards it is the next one. */
static weir_status lift_instant(const struct pass *pass, struct weir_job *release, bool *has_next,
                                struct weir_amounts *free)
{
    const int64_t now_ns = pass->view->now_ns;
    const int64_t end_ns = weir_job_end_ns(release, now_ns);

    do {
        const struct weir_amounts need = weir_ranked_need(release);
        free->gpu_units += need.gpu_units;
        free->cpu_units += need.cpu_units;
        const weir_status status =
            weir_placer_lift_job(pass->placer, release->workload, release->id, pass->error);
        if (status != WEIR_OK && status != WEIR_ENOTFOUND) /* a late plan starts it */
            return status;
        *has_next = next_release(pass, release);
    } while (*has_next && weir_job_end_ns(release, now_ns) == end_ns);
    return WEIR_OK;
}

/* The next time at which the head may fit: a release, or a reservation begins or ends. */
static int64_t next_time(const struct pass *pass, const struct weir_job *release, bool has_next,
                         int64_t before_ns)
{
    const int64_t boundary_ns = weir_view_next_boundary(pass->view, before_ns);
    const int64_t end_ns = has_next ? weir_job_end_ns(release, pass->view->now_ns) : INT64_MAX;

    return end_ns < boundary_ns ? end_ns : boundary_ns;
}

/* On a scratch under a mark. */
static weir_status find_shadow(const struct pass *pass, struct shadow *shadow)
{
    const struct weir_amounts need = weir_ranked_need(&pass->head);
    struct weir_amounts free = weir_cluster_free(weir_placer_scratch(pass->placer));
    struct weir_job release = { .size = sizeof release };
    bool has_next = next_release(pass, &release);
    int64_t at_ns = pass->view->now_ns;

    while ((at_ns = next_time(pass, &release, has_next, at_ns)) != INT64_MAX) {
        if (has_next && weir_job_end_ns(&release, pass->view->now_ns) <= at_ns)
            WEIR_TRY(lift_instant(pass, &release, &has_next, &free));
        if (free.gpu_units < need.gpu_units || free.cpu_units < need.cpu_units)
            continue;
        weir_placer_at(pass->placer, at_ns);
        const weir_status status = fits(pass, &pass->head);
        weir_placer_at(pass->placer, 0);
        if (status == WEIR_OK)
            shadow->at_ns = at_ns;
        if (status == WEIR_OK || !weir_backfill_is_no_place(status))
            break;
    }
    shadow->over.gpu_units = free.gpu_units - need.gpu_units;
    shadow->over.cpu_units = free.cpu_units - need.cpu_units;
    return WEIR_OK;
}

static bool is_overrun(const struct pass *pass)
{
    struct weir_job first = { .size = sizeof first };

    return weir_view_next_running(pass->view, NULL, &first) &&
           weir_job_end_ns(&first, INT64_MIN) < pass->view->now_ns;
}

static weir_status update_shadow(const struct pass *pass)
{
    struct shadow *const shadow = &pass->easy->shadow;
    const uint64_t surprises = weir_view_surprises(pass->view);

    if (shadow->is_known && shadow->workload == pass->head.workload &&
        shadow->id == pass->head.id && shadow->surprises == surprises &&
        shadow->at_ns > pass->view->now_ns && !is_overrun(pass))
        return WEIR_OK;
    *shadow = (struct shadow){ .is_known = true,
                               .workload = pass->head.workload,
                               .id = pass->head.id,
                               .at_ns = INT64_MAX,
                               .surprises = surprises };
    if (weir_cluster_mark(weir_placer_scratch(pass->placer)) != WEIR_OK)
        return weir_fail(pass->error, WEIR_ENOMEM, "out of memory");
    const weir_status status = find_shadow(pass, shadow);
    weir_cluster_rollback(weir_placer_scratch(pass->placer));
    shadow->is_known = status == WEIR_OK;
    return status;
}

/* ---- behind the head ---- */

static bool ends_in_time(const struct pass *pass, const struct weir_job *job)
{
    const int64_t left_ns = weir_job_left_ns(job);
    const int64_t at_ns = pass->easy->shadow.at_ns;

    return at_ns == INT64_MAX || (left_ns != INT64_MAX && left_ns <= at_ns - pass->view->now_ns);
}

/* Whether the head finds places at the shadow when this one runs on, on a scratch under a mark. */
static weir_status leaves_room(const struct pass *pass, const struct weir_job *job)
{
    struct weir_amounts free = { 0 };
    struct weir_job release = { .size = sizeof release };
    bool has_next = next_release(pass, &release);

    WEIR_TRY(weir_placer_put_job(pass->placer, job->workload, job->id, pass->error));
    while (has_next && weir_job_end_ns(&release, pass->view->now_ns) <= pass->easy->shadow.at_ns)
        WEIR_TRY(lift_instant(pass, &release, &has_next, &free));
    weir_placer_at(pass->placer, pass->easy->shadow.at_ns);
    const weir_status status = fits(pass, &pass->head);
    weir_placer_at(pass->placer, 0);
    return status;
}

static weir_status may_run_on(const struct pass *pass, const struct weir_job *job)
{
    const struct weir_amounts need = weir_ranked_need(job);
    const struct weir_amounts *const over = &pass->easy->shadow.over;

    if (need.gpu_units > over->gpu_units || need.cpu_units > over->cpu_units)
        return WEIR_EBUSY;
    if (weir_cluster_mark(weir_placer_scratch(pass->placer)) != WEIR_OK)
        return weir_fail(pass->error, WEIR_ENOMEM, "out of memory");
    const weir_status status = leaves_room(pass, job);
    weir_cluster_rollback(weir_placer_scratch(pass->placer));
    return status;
}

static weir_status start(const struct pass *pass, const struct weir_job *job)
{
    return weir_placer_start_job(pass->placer, job->workload, job->id, pass->error);
}

/* Of the kind of this job no other fits now. */
static bool is_hopeless(const struct pass *pass, const struct weir_job *job)
{
    const struct weir_amounts free = weir_cluster_free(weir_placer_scratch(pass->placer));
    const struct weir_amounts need = weir_ranked_need(job);

    return need.gpu_units > free.gpu_units || need.cpu_units > free.cpu_units;
}

/* Those of the kind that come next and may start at all: all, or those that end in time. */
static int64_t most_of(const struct pass *pass, const struct weir_job *job)
{
    const struct weir_amounts need = weir_ranked_need(job);
    const struct shadow *const shadow = &pass->easy->shadow;

    if (pass->easy->values[PARAM_DEPTH] > 0 || shadow->at_ns == INT64_MAX ||
        (need.gpu_units <= shadow->over.gpu_units && need.cpu_units <= shadow->over.cpu_units))
        return INT64_MAX;
    return shadow->at_ns - pass->view->now_ns;
}

static weir_status backfill(struct pass *pass, const struct weir_job *job)
{
    struct shadow *const shadow = &pass->easy->shadow;
    const struct weir_amounts need = weir_ranked_need(job);
    const bool is_brief = ends_in_time(pass, job);
    weir_status status = is_brief ? WEIR_OK : may_run_on(pass, job);

    if (status == WEIR_OK)
        status = start(pass, job);
    if (status != WEIR_OK || is_brief)
        return status;
    shadow->over.gpu_units -= need.gpu_units;
    shadow->over.cpu_units -= need.cpu_units;
    return WEIR_OK;
}

/* ---- the pass ---- */

/* Starts jobs in their order; the first that does not fit is the head. */
static weir_status start_first(struct pass *pass, bool *has_head)
{
    const struct weir_job *job;

    *has_head = false;
    while ((job = weir_walk_free_job(&pass->easy->walk, pass->placer)) != NULL) {
        const weir_status status = start(pass, job);
        if (weir_backfill_is_no_place(status)) {
            pass->head = *job;
            *has_head = true;
            return WEIR_OK;
        }
        WEIR_TRY(status);
        pass->easy->shadow.is_known = false; /* it may run on beyond it */
        weir_walk_next(&pass->easy->walk, INT64_MAX);
    }
    return WEIR_OK;
}

static weir_status pass_head(struct pass *pass)
{
    const double depth = pass->easy->values[PARAM_DEPTH];
    const struct weir_job *job;

    weir_walk_next(&pass->easy->walk, most_of(pass, &pass->head));
    while ((job = weir_walk_free_job(&pass->easy->walk, pass->placer)) != NULL) {
        if (depth > 0 && pass->looked++ >= depth)
            return WEIR_OK;
        if (depth <= 0 && is_hopeless(pass, job)) {
            weir_walk_leave_kind(&pass->easy->walk);
            continue;
        }
        const weir_status status = backfill(pass, job);
        if (status != WEIR_OK && !weir_backfill_is_no_place(status))
            return status;
        weir_walk_next(&pass->easy->walk, most_of(pass, job));
    }
    return WEIR_OK;
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct easy *const easy = state;
    struct pass pass = { .easy = easy, .view = view, .placer = placer, .error = error };
    bool has_head = false;

    (void)plan;
    WEIR_TRY(weir_walk_begin(&easy->walk, view, INT64_MAX));
    WEIR_TRY(start_first(&pass, &has_head));
    if (has_head) {
        WEIR_TRY(update_shadow(&pass));
        WEIR_TRY(pass_head(&pass));
    }
    error->text[0] = '\0'; /* that some found no place is no error */
    return WEIR_OK;
}

const struct weir_queueing_ops weir_queueing_easy = {
    .size = sizeof weir_queueing_easy,
    .abi = WEIR_ABI_MAJOR,
    .name = "easy",
    .summary = "in order; jobs pass the first that does not fit when they do not delay it",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
};
