/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host: its life, its policies, and decisions.
 *
 * A decision marks the scratch cluster, lets the policy plan on it, rolls it back, and checks the
 * plan against the inventory. A plan that fails the check, or a placement that cannot be, counts
 * as rejected; then the fallback decides with the default placement policy.
 */
#include "sched/cluster/state.h"
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"
#include "sched/internal/plan_state.h"
#include "sched/internal/size.h"

static const struct weir_window DEFAULT_WINDOW = { .window_ns = INT64_C(180000000000),
                                                   .min_points = 5 };

/* In one of ours, as far as the caller knows of its fields. */
static weir_status take_config(const struct weir_host_config *given,
                               struct weir_host_config *config, struct weir_error *error)
{
    WEIR_TRY(weir_size_check(given == NULL ? 0 : given->size,
                             offsetof(struct weir_host_config, capacity), "the configuration",
                             error));
    weir_size_take(config, sizeof *config, given, given->size);
    if (config->placement == NULL || config->scaling == NULL)
        return weir_fail(error, WEIR_EINVAL, "a host needs a placement and a scaling policy");
    if (config->placement->abi != WEIR_ABI_MAJOR || config->scaling->abi != WEIR_ABI_MAJOR)
        return weir_fail(error, WEIR_EABI, "a policy was built for another interface version");
    if (config->placement->place == NULL && config->placement->score == NULL)
        return weir_fail(error, WEIR_EPOLICY, "placement policy %s has neither score nor place",
                         config->placement->name);
    if ((config->queueing != NULL && config->queueing->abi != WEIR_ABI_MAJOR) ||
        (config->capacity != NULL && config->capacity->abi != WEIR_ABI_MAJOR))
        return weir_fail(error, WEIR_EABI, "a policy was built for another interface version");
    if (config->scaling->decide == NULL)
        return weir_fail(error, WEIR_EPOLICY, "scaling policy %s has no decide",
                         config->scaling->name);
    if (config->window.window_ns < 0)
        return weir_fail(error, WEIR_EINVAL, "the window must be >= 0 ns");
    if (config->explain > WEIR_EXPLAIN_FULL)
        return weir_fail(error, WEIR_EINVAL, "unknown explain level %u", config->explain);
    if (config->hold_mode > WEIR_HOLD_MEMBERS)
        return weir_fail(error, WEIR_EINVAL, "unknown hold mode %u", config->hold_mode);
    if (config->group_devices > WEIR_GROUP_DEVICES_GROUP)
        return weir_fail(error, WEIR_EINVAL, "group_devices is %u", config->group_devices);
    return WEIR_OK;
}

/* Both pairs of a configuration; nothing is left behind on failure. */
static weir_status create_sets(const struct weir_host_config *config,
                               const struct weir_allocator *allocator, struct weir_policy_set *main,
                               struct weir_policy_set *fallback, struct weir_error *error)
{
    const struct weir_host_config second = { .placement = weir_placement_at(0),
                                             .scaling = config->fallback };

    *fallback = (struct weir_policy_set){ 0 };
    WEIR_TRY(weir_policy_set_create(main, config, allocator, error));
    if (config->fallback == NULL)
        return WEIR_OK;
    const weir_status status = weir_policy_set_create(fallback, &second, allocator, error);
    if (status != WEIR_OK)
        weir_policy_set_destroy(main, allocator);
    return status;
}

static void take_settings(struct weir_host *host, const struct weir_host_config *config)
{
    const bool has_window = config->window.window_ns != 0 || config->window.min_points != 0;

    host->window = has_window ? config->window : DEFAULT_WINDOW;
    host->seed = config->seed;
    host->jobs.seed = config->seed;
    host->explain = config->explain;
    host->group_by_policy = config->group_by_policy;
    host->group_report = config->group_report;
    host->group_devices = config->group_devices;
    host->cut_min_gain = config->cut_min_gain;
    host->hold_mode = config->hold_mode;
    host->clock_ns = config->clock_ns;
    host->clock_state = config->clock_state;
}

static weir_status create_parts(struct weir_host *host, const struct weir_host_config *config,
                                struct weir_error *error)
{
    const struct weir_allocator *const memory = &host->allocator;

    if (weir_cluster_create(memory, &host->inventory) != WEIR_OK ||
        weir_placer_create(memory, &host->placer) != WEIR_OK ||
        weir_plan_create(memory, &host->plan) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(create_sets(config, memory, &host->main, &host->fallback, error));
    return weir_host_index_jobs(host, &host->main, error);
}

weir_status weir_host_create(const struct weir_host_config *given, struct weir_host **host,
                             struct weir_error *error)
{
    struct weir_host_config config;

    if (host == NULL)
        return weir_fail(error, WEIR_EINVAL, "no place for the host");
    WEIR_TRY(take_config(given, &config, error));
    const struct weir_allocator memory = weir_allocator_copy(config.allocator);
    struct weir_host *const made = weir_alloc(&memory, 1, sizeof *made);
    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->allocator = memory;
    made->next_worker = 1;
    made->now_ns = INT64_MIN;
    weir_status status = weir_jobs_open(&made->jobs, &memory);
    if (status != WEIR_OK)
        (void)weir_fail(error, status, "out of memory");
    take_settings(made, &config);
    if (status == WEIR_OK)
        status = create_parts(made, &config, error);
    if (status != WEIR_OK) {
        weir_host_destroy(made);
        return status;
    }
    *host = made;
    return WEIR_OK;
}

void weir_host_destroy(struct weir_host *host)
{
    if (host == NULL)
        return;
    const struct weir_allocator memory = host->allocator;
    if (host->main.placement != NULL)
        weir_policy_set_destroy(&host->main, &memory);
    if (host->fallback.placement != NULL)
        weir_policy_set_destroy(&host->fallback, &memory);
    weir_host_clear_pools(host);
    weir_jobs_close(&host->jobs);
    weir_host_cuts_free(host);
    weir_free(&memory, host->started);
    weir_free(&memory, host->shares);
    weir_free(&memory, host->preempted);
    weir_free(&memory, host->gone);
    weir_free(&memory, host->fresh);
    weir_free(&memory, host->owed);
    weir_free(&memory, host->mix.shapes);
    weir_free(&memory, host->mix.frequencies);
    weir_free(&memory, host->offers);
    weir_plan_destroy(host->plan);
    weir_placer_destroy(host->placer);
    weir_cluster_destroy(host->inventory);
    weir_free(&memory, host);
}

static weir_status adopt_all(struct weir_host *host, struct weir_policy_set *pair,
                             struct weir_error *error)
{
    if (pair->scaling == NULL || pair->scaling->adopt == NULL)
        return WEIR_OK;
    const weir_status status =
        pair->scaling->adopt(pair->scaled.state, weir_host_view(host, host->view.now_ns), error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "scaling policy %s: adopt", pair->scaling->name);
    return status;
}

/* Everything of the new policies that can fail, before the old ones go. */
static weir_status prepare_swap(struct weir_host *host, struct weir_policy_set *main,
                                struct weir_policy_set *fallback, struct weir_error *error)
{
    WEIR_TRY(adopt_all(host, main, error));
    WEIR_TRY(adopt_all(host, fallback, error));
    WEIR_TRY(weir_host_index_jobs(host, main, error));
    const weir_status status = weir_host_rekey(host, main, error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "queueing policy %s", main->queueing->name);
    return status;
}

/* Other policies may start other jobs, and judge anew what can ever fit. */
static void ask_all_again(struct weir_host *host)
{
    for (uint32_t k = 0; k < host->jobs.kind_count; k++)
        host->jobs.kinds[k].room_known = 0;
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
    host->is_foreign = false;
}

weir_status weir_host_replace(struct weir_host *host, const struct weir_host_config *given,
                              struct weir_error *error)
{
    struct weir_host_config config;
    struct weir_policy_set main;
    struct weir_policy_set fallback;

    if (host == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host");
    WEIR_TRY(take_config(given, &config, error));
    WEIR_TRY(create_sets(&config, &host->allocator, &main, &fallback, error));
    const weir_status status = prepare_swap(host, &main, &fallback, error);
    if (status != WEIR_OK) {
        weir_policy_set_destroy(&main, &host->allocator);
        if (fallback.placement != NULL)
            weir_policy_set_destroy(&fallback, &host->allocator);
        return status;
    }
    weir_policy_set_destroy(&host->main, &host->allocator);
    if (host->fallback.placement != NULL)
        weir_policy_set_destroy(&host->fallback, &host->allocator);
    host->main = main;
    host->fallback = fallback;
    host->answer.is_kept = false;
    take_settings(host, &config);
    for (uint32_t i = 0; i < host->pools.count; i++)
        WEIR_TRY(weir_estimator_set_window(host->pools.pools[i].estimator, host->window));
    ask_all_again(host);
    return WEIR_OK;
}

static void count_placements(struct weir_host *host)
{
    const struct weir_placer_counts counts = weir_placer_counts(host->placer);

    host->stats.placements_tried += counts.tried;
    host->stats.placements_failed += counts.failed;
}

/* What a policy may see but not change, but for pools, as one number. */
static uint64_t fingerprint(const struct weir_host *host)
{
    const struct weir_amounts free = weir_cluster_free(host->inventory);
    const struct weir_view *const view = &host->view;
    const bool is_ours = view->cluster == host->inventory && view->pools == host->pools.views &&
                         view->jobs == &host->jobs && view->live == &host->pools;
    const uint64_t hash = weir_hash_words(view->pool_count, (uint64_t)view->now_ns, view->seed,
                                          (uint64_t)free.cpu_units);

    return weir_hash_words(hash, is_ours, weir_cluster_worker_count(host->inventory),
                           (uint64_t)free.gpu_units);
}

weir_status weir_host_judge_status(weir_status status, struct weir_error *error)
{
    switch (status) {
    case WEIR_OK:
        return WEIR_OK;
    case WEIR_ENOMEM:
    case WEIR_EINVAL:
    case WEIR_EINFEASIBLE:
    case WEIR_EBUSY:
    case WEIR_EDUPLICATE:
    case WEIR_ENOTFOUND:
    case WEIR_EOVERCOMMIT:
    case WEIR_EPOLICY:
    case WEIR_EABI:
    case WEIR_ERANGE:
    case WEIR_EIO:
    case WEIR_EFORMAT:
    case WEIR_EINVARIANT:
    case WEIR_EINTERRUPTED:
    case WEIR_EMANUAL:
    case WEIR_EMINIMUM:
    case WEIR_EUNSUPPORTED:
        if (error->text[0] == '\0')
            (void)weir_fail(error, status, "it failed without a message: %s",
                            weir_status_text(status));
        return status == WEIR_EIO || status == WEIR_EINTERRUPTED ? WEIR_EPOLICY : status;
    }
    return weir_fail(error, WEIR_EPOLICY, "decide returned %d, which is no status", (int)status);
}

static bool concerns_scaling(const struct weir_host *host)
{
    const uint32_t causes = WEIR_CAUSE_TIMER | WEIR_CAUSE_WAKE | WEIR_CAUSE_WORKERS;

    return host->pools.count > 0 && (host->view.causes & causes) != 0;
}

/* Somebody waits, or who runs may get other ranks, or the policy wants to know. */
static bool concerns_jobs(const struct weir_host *host, const struct weir_policy_set *set)
{
    const uint32_t flags = set->queueing->flags;

    return host->jobs.counts[WEIR_JOB_WAITING] > 0 || (flags & WEIR_QUEUEING_FOLLOWS) != 0 ||
           ((flags & WEIR_QUEUEING_RESIZES) != 0 && host->jobs.counts[WEIR_JOB_RUNNING] > 0);
}

static weir_status ask_queueing(struct weir_host *host, const struct weir_policy_set *set,
                                struct weir_error *error)
{
    const weir_status status = weir_host_judge_status(weir_host_pass(host, set, error), error);

    if (status == WEIR_EPOLICY)
        weir_error_wrap(error, "queueing policy %s", set->queueing->name);
    return status;
}

static weir_status ask_scaling(struct weir_host *host, const struct weir_policy_set *set,
                               struct weir_error *error)
{
    const weir_status status = weir_host_judge_status(
        set->scaling->decide(set->scaled.state, &host->view, host->placer, host->plan, error),
        error);

    if (status == WEIR_EPOLICY)
        weir_error_wrap(error, "scaling policy %s", set->scaling->name);
    return status;
}

/* Queueing first, then scaling on what the jobs leave. What waiting gangs reserve is theirs for one
 * decision. */
static weir_status ask_policies(struct weir_host *host, const struct weir_policy_set *set,
                                struct weir_error *error)
{
    const bool is_woken = set->queueing->pass != NULL && (host->view.causes & WEIR_CAUSE_WAKE) != 0;
    const bool has_jobs =
        (host->is_dirty || is_woken || weir_host_holds(host)) && concerns_jobs(host, set);

    host->preempted_count = 0;
    host->gone_count = 0;
    if (host->jobs.short_count > 0 && host->is_dirty)
        WEIR_TRY(weir_host_heal(host, error));
    if (has_jobs)
        WEIR_TRY(ask_queueing(host, set, error));
    WEIR_TRY(weir_host_turn_away(host));
    if (concerns_scaling(host) && !weir_host_is_late(host))
        WEIR_TRY(ask_scaling(host, set, error));
    if (has_jobs)
        WEIR_TRY(weir_host_deny_jobs(host));
    WEIR_TRY(weir_host_cuts_choose(host));
    return weir_host_may_grow(host, set) ? weir_host_ask_capacity(host, set, error) : WEIR_OK;
}

weir_status weir_host_blame_plan(const struct weir_host *host, const struct weir_policy_set *set,
                                 weir_status status, struct weir_error *error)
{
    if (status == WEIR_EPOLICY && concerns_scaling(host))
        weir_error_wrap(error, "scaling policy %s", set->scaling->name);
    else if (status == WEIR_EPOLICY)
        weir_error_wrap(error, "queueing policy %s", set->queueing->name);
    return status;
}

/* Whether it fits what was seen. */
static weir_status check_plan(struct weir_host *host, const struct weir_policy_set *set,
                              struct weir_error *error)
{
    weir_status status = weir_plan_check(host->plan, &host->view, error);

    if (status == WEIR_OK)
        status = weir_host_pass_check(host, error);
    return weir_host_blame_plan(host, set, status, error);
}

/* Under reservations; the scratch is lent. Whatever fails, nodes are open again behind it. */
static weir_status ask_reserved(struct weir_host *host, const struct weir_policy_set *set,
                                struct weir_error *error)
{
    weir_status status = weir_reservations_begin(&host->jobs, host->inventory, host->now_ns);
    if (status == WEIR_OK)
        status = weir_memory_pools_begin(&host->jobs, host->inventory);
    if (status == WEIR_OK)
        status = ask_policies(host, set, error);
    else
        (void)weir_fail(error, status, "%s", weir_status_text(status));
    weir_memory_pools_end(&host->jobs, host->inventory);
    if (weir_reservations_end(&host->jobs.reservations, host->inventory) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    return status == WEIR_OK ? weir_host_ask_wakes(host) : status;
}

/* Nobody waits or lacks ranks, and nothing is to be cut. */
static bool is_about_stages(const struct weir_host *host, const struct weir_policy_set *set)
{
    return !concerns_jobs(host, set) && host->fresh_count == 0 && host->cut_min_gain == 0 &&
           host->cuts.count == 0 && host->jobs.short_count == 0 && !weir_host_must_wake(host) &&
           !weir_host_may_grow(host, set);
}

/* There is nothing to scale, either: what is planned is nothing. */
static bool has_nothing_to_plan(const struct weir_host *host, const struct weir_policy_set *set)
{
    return is_about_stages(host, set) && host->pools.count == 0;
}

/* What was planned before is what would be planned. */
static bool is_answered(const struct weir_host *host, const struct weir_policy_set *set)
{
    return is_about_stages(host, set) && concerns_scaling(host) && weir_host_is_answered(host, set);
}

static void accept_plan(struct weir_host *host)
{
    weir_host_turned_away(host);
    weir_host_pass_accepted(host);
    host->is_dirty = host->limits.is_cut_short;
}

/* On the scratch that is lent, within the limits of the call; what was seen is to be as before. */
static weir_status make_plan(struct weir_host *host, const struct weir_policy_set *set,
                             const struct weir_placer_binding *binding, struct weir_error *error)
{
    weir_status status = weir_placer_begin(host->placer, binding);
    const uint64_t before = fingerprint(host);

    error->text[0] = '\0';
    if (status == WEIR_OK)
        status = ask_reserved(host, set, error);
    else
        (void)weir_fail(error, status, "%s", weir_status_text(status));
    if (status == WEIR_OK)
        status = weir_host_limit_plan(host);
    if (status == WEIR_OK)
        status = weir_placer_finish(host->placer);
    count_placements(host);
    const bool is_whole = weir_cluster_take_back(host->inventory);
    /* Nodes that there was no memory to open again are nobody's doing. */
    if (status == WEIR_ENOMEM ||
        (is_whole && fingerprint(host) == before && weir_pools_are_whole(&host->pools)))
        return status;
    return weir_host_blame_plan(
        host, set, weir_fail(error, WEIR_EPOLICY, "it changed the view, which is not its own"),
        error);
}

/* Lets one set of policies plan and checks what it planned. */
static weir_status plan_with(struct weir_host *host, const struct weir_policy_set *set,
                             struct weir_error *error)
{
    const bool is_done = is_answered(host, set);
    if (!is_done)
        weir_host_clear_plan(host);
    if (is_done || has_nothing_to_plan(host, set)) {
        accept_plan(host);
        return WEIR_OK;
    }
    const struct weir_mix mix = { .shapes = host->mix.shapes,
                                  .frequencies = host->mix.frequencies,
                                  .count = host->mix.count };
    const struct weir_placer_binding binding = { .ops = set->placement,
                                                 .state = set->placed.state,
                                                 .view = &host->view,
                                                 .scratch = host->inventory,
                                                 .plan = host->plan,
                                                 .host = host,
                                                 .jobs = &host->jobs,
                                                 .mix = &mix,
                                                 .group_by_policy = host->group_by_policy,
                                                 .group_report = host->group_report,
                                                 .group_devices = host->group_devices,
                                                 .seed = host->seed };
    if (weir_cluster_lend(host->inventory) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = make_plan(host, set, &binding, error);
    if (status == WEIR_OK)
        status = check_plan(host, set, error);
    if (status == WEIR_OK)
        status = weir_host_cuts_accepted(host);
    if (status == WEIR_OK) {
        weir_placer_accept(host->placer);
        accept_plan(host);
        if (is_about_stages(host, set) && concerns_scaling(host))
            weir_host_keep_answer(host, set);
        return WEIR_OK;
    }
    weir_host_cuts_dropped(host);
    WEIR_TRY(weir_host_pass_dropped(host));
    WEIR_TRY(weir_host_owe_wakes(host));
    return status;
}

static weir_status decide(struct weir_host *host, struct weir_error *error)
{
    const struct weir_view seen = host->view;
    const weir_status status = plan_with(host, &host->main, error);

    if (status != WEIR_EPOLICY)
        return status;
    host->view = seen; /* it may have been written to */
    host->stats.rejected++;
    if (host->fallback.scaling == NULL)
        return status;
    host->stats.fallbacks++;
    return plan_with(host, &host->fallback, error);
}

static int64_t read_clock(const struct weir_host *host)
{
    return host->clock_ns == NULL ? 0 : host->clock_ns(host->clock_state);
}

/* Of a decision that began then; negative = it is not timed. */
static void count_time(struct weir_host *host, int64_t begin_ns)
{
    const int64_t wall_ns = begin_ns < 0 ? -1 : read_clock(host) - begin_ns;

    host->stats.wall_last_ns = wall_ns;
    if (wall_ns < 0)
        return;
    host->stats.wall_total_ns += wall_ns;
    if (wall_ns > host->stats.wall_max_ns)
        host->stats.wall_max_ns = wall_ns;
}

static weir_status check_call(const struct weir_host *host, const struct weir_call *call,
                              struct weir_error *error)
{
    if (call->size < sizeof *call)
        return weir_fail(error, WEIR_EABI, "the call has %u bytes, needed are %u", call->size,
                         (unsigned)sizeof *call);
    if (call->now_ns < host->now_ns)
        return weir_fail(error, WEIR_EINVAL, "time runs backwards: %lld ns after %lld ns",
                         (long long)call->now_ns, (long long)host->now_ns);
    if (call->causes == 0)
        return weir_fail(error, WEIR_EINVAL, "a decision needs a cause");
    return WEIR_OK;
}

/* Where one begins or ends others fit. */
static weir_status notice_reservations(struct weir_host *host)
{
    struct weir_reservations *const reservations = &host->jobs.reservations;

    if (reservations->count == 0)
        return WEIR_OK;
    WEIR_TRY(weir_reservations_choose(&host->jobs, host->inventory, host->now_ns));
    if (host->now_ns < reservations->next_ns)
        return WEIR_OK;
    weir_reservations_look_ahead(reservations, host->now_ns);
    weir_jobs_unsettle(&host->jobs);
    host->view.causes |= WEIR_CAUSE_JOBS; /* it is not the wake that some policy asked for */
    host->is_dirty = true;
    return WEIR_OK;
}

weir_status weir_host_begin_call(struct weir_host *host, const struct weir_call *call,
                                 struct weir_error *error)
{
    WEIR_TRY(check_call(host, call, error));
    host->now_ns = call->now_ns;
    weir_tenants_at(&host->jobs.tenants, call->now_ns);
    host->view.causes = call->causes;
    if (notice_reservations(host) != WEIR_OK || weir_host_reserve_wakes(host) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_host_settle_labels(host);
    weir_host_limits_begin(host, call);
    (void)weir_host_view(host, call->now_ns);
    host->view.seed = weir_hash_add(host->seed, host->stats.decisions);
    host->view.decision = host->stats.decisions++;
    return WEIR_OK;
}

void weir_host_hand_out(struct weir_host *host, const struct weir_plan **plan)
{
    const uint32_t count = weir_plan_settle(host->plan);

    for (uint32_t i = 0; i < count; i++)
        host->stats.denied += weir_plan_settled(host->plan, i)->verb == WEIR_VERB_DENY;
    host->next_worker = weir_plan_next_worker(host->plan);
    weir_host_asked_wakes(host);
    host->limits.is_open = true;
    *plan = host->plan;
}

weir_status weir_host_decide(struct weir_host *host, const struct weir_call *call,
                             const struct weir_plan **plan, struct weir_error *error)
{
    struct weir_error unread;
    /* cppcheck-suppress uninitvar ; only what was written of it is read */
    struct weir_error *const box = error != NULL ? error : &unread;

    if (host == NULL || call == NULL || plan == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host, no call or no plan");
    const int64_t begin_ns = read_clock(host);
    WEIR_TRY(weir_host_begin_call(host, call, error));
    box->phase = -1;
    box->pool = -1;
    unread.text[0] = '\0';
    const weir_status status = decide(host, box);
    count_time(host, begin_ns);
    if (status != WEIR_OK) {
        weir_host_clear_plan(host);
        return status;
    }
    weir_host_hand_out(host, plan);
    return WEIR_OK;
}

struct weir_host_stats weir_host_stats(const struct weir_host *host)
{
    static const struct weir_host_stats none = { 0 };
    return host == NULL ? none : host->stats;
}

const struct weir_cluster *weir_host_cluster(const struct weir_host *host)
{
    return host == NULL ? NULL : host->inventory;
}
