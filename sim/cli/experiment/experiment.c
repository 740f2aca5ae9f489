/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Experiments: loading variants, running tasks in processes, merging (see experiment.h). */
#include "sim/cli/experiment/experiment.h"

#include "sim/cli/experiment/experiment_file.h"
#include "sim/cli/experiment/experiment_load.h"
#include "sim/cli/experiment/run_stderr.h"
#include "sim/cli/experiment/run_times.h"
#include "sim/cli/isolate.h"
#include "sim/cli/options.h"
#include "sim/cli/progress.h"
#include "sim/cli/stop.h"
#include "sim/cli/tell/span_export.h"
#include "sim/files/written.h"
#include "sim/lab/bound_shelf.h"
#include "sim/record/record.h"
#include "workloads/trace_shelf.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    JOBS_KEPT = 100000, /* in all runs of a file, when nobody says how much is kept */
    WATCHDOG_LATER_S = 5
};

/* A run that goes on now. What its process writes lies in shared memory, by slot: memory follows
 * the runs at a time, not the runs. */
struct slot {
    pid_t pid; /* 0 = free */
    size_t task;
    double began_s;
};

/* What is left of a run that ended; all else is in the database. */
struct ended {
    weir_status status;
    bool is_done; /* by an earlier program, whose rows are kept */
    bool is_over; /* its process ended, or never comes */
    bool is_merged;
    bool is_over_limit; /* --limit run_cpu or run_memory */
    char *message;      /* why it failed; NULL = it did not */
};

struct job {
    const struct sim_experiment_options *options;
    struct sim_experiment *experiment;
    struct sim_progress *progress;     /* shared, by slot */
    struct sim_run_summary *summaries; /* shared, by slot */
    struct slot *slots;
    size_t slot_count;
    struct ended *ended; /* by task */
    bool *wanted;        /* by task: of this round, or one before */
    size_t merged;       /* tasks before this one are in the database, those that are wanted */
    size_t count;
    bool is_told; /* children know that they are to stop */
    struct sim_experiment_file file;
    struct sim_progress_line line;
    struct sim_run_times times;
    struct sim_bound_shelf *bounds;
};

int sim_exit_for(weir_status status)
{
    switch (status) {
    case WEIR_OK:
        return SIM_EXIT_OK;
    case WEIR_EIO:
        return SIM_EXIT_INPUT;
    case WEIR_EINVAL:
    case WEIR_EFORMAT:
    case WEIR_EINFEASIBLE:
    case WEIR_EBUSY:
    case WEIR_EMANUAL:
    case WEIR_EMINIMUM:
    case WEIR_ERANGE:
        return SIM_EXIT_USAGE;
    case WEIR_EPOLICY:
    case WEIR_EABI:
    case WEIR_EUNSUPPORTED:
        return SIM_EXIT_POLICY;
    case WEIR_EINTERRUPTED:
        return SIM_EXIT_INTERRUPTED;
    case WEIR_ENOMEM:
        return SIM_EXIT_RESOURCE;
    case WEIR_EDUPLICATE:
    case WEIR_ENOTFOUND:
    case WEIR_EOVERCOMMIT:
    case WEIR_EINVARIANT:
        break;
    }
    return SIM_EXIT_INVARIANT;
}

const char *sim_status_text(weir_status status)
{
    return status == WEIR_ENOMEM ? "out of memory or disk" : weir_status_text(status);
}

void sim_experiment_clear(struct sim_experiment *experiment)
{
    for (size_t v = 0; v < experiment->variant_count; v++) {
        sim_scenario_destroy(experiment->scenarios[v]);
        free(experiment->labels[v]);
    }
    for (size_t i = 0; i < experiment->unmet_count; i++)
        free(experiment->unmet[i]);
    free(experiment->unmet);
    free(experiment->scenarios);
    free(experiment->labels);
    sim_points_clear(&experiment->points);
    wl_trace_shelf_close(experiment->traces);
    sim_experiment_close_results(experiment);
    free(experiment->trouble);
    if (experiment->is_temporary)
        (void)unlink(experiment->path);
    free(experiment->path);
    *experiment = (struct sim_experiment){ 0 };
}

/* Without a database, and of many points, nothing is looked at but results; with many jobs a row
 * each is too much. */
uint32_t sim_experiment_keep(const struct sim_experiment *experiment, size_t variant)
{
    if (experiment->is_temporary)
        return SIM_KEEP_RESULTS;
    if (experiment->scenarios[variant]->keep != SIM_KEEP_UNSAID)
        return experiment->scenarios[variant]->keep;
    if (experiment->points.point_count > 1)
        return SIM_KEEP_RESULTS;
    return experiment->jobs > JOBS_KEPT ? SIM_KEEP_SERIES : SIM_KEEP_ALL;
}

/* ---- one task ---- */

static struct sim_run_options task_options(const struct job *job, size_t task,
                                           struct sim_recorder *recorder)
{
    const struct sim_experiment *experiment = job->experiment;
    const size_t variant = task / experiment->replications;
    const struct sim_scenario *scenario = experiment->scenarios[variant];
    return (struct sim_run_options){ .seed = job->options->seed != NULL ? *job->options->seed
                                                                        : scenario->seed,
                                     .replication = (uint32_t)(task % experiment->replications),
                                     .experiment_id = 1,
                                     .run_id = (int64_t)task + 1,
                                     .variant = experiment->labels[variant],
                                     .variant_order = (uint32_t)variant,
                                     .recorder = recorder,
                                     .keep = sim_experiment_keep(experiment, variant),
                                     .interrupt = sim_stop_count(),
                                     .bounds = job->bounds,
                                     .check_always = job->options->check_always,
                                     .policy_timeout_s = job->options->policy_timeout_s,
                                     .policy_memory_mib = job->options->policy_memory_mib,
                                     .policy_cpu_s = job->options->limits.policy_cpu_s,
                                     .policy_files = (uint32_t)job->options->limits.policy_files,
                                     .export_at_s = (double)NAN };
}

/* A run that says so itself, or whose process does not. */
static void fail_run(const struct job *job, size_t slot, weir_status status, const char *message)
{
    struct sim_run_summary *summary = &job->summaries[slot];
    summary->status = status;
    (void)snprintf(summary->outcome, sizeof(summary->outcome), "failed");
    (void)snprintf(summary->message, sizeof(summary->message), "%s", message);
    job->progress[slot].is_done = 1;
}

/* Runs once and exports spans on the way. A file that cannot be written fails the run. */
static weir_status run_with_spans(const struct job *job, size_t slot,
                                  const struct sim_scenario *scenario,
                                  struct sim_run_options *options)
{
    struct sim_span_export *spans = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    weir_status status = sim_span_export_open(job->options->spans, job->options->spans_limit,
                                              scenario, &spans, &error);
    if (status == WEIR_OK) {
        options->observer = sim_span_export_observer(spans);
        const weir_status ran = sim_run(scenario, options, &job->summaries[slot]);
        status = sim_span_export_close(spans, &error);
        if (ran != WEIR_OK)
            return ran;
    }
    if (status != WEIR_OK)
        fail_run(job, slot, status, error.text);
    return status;
}

static void run_task(const struct job *job, size_t slot, struct sim_recorder *recorder)
{
    const size_t task = job->slots[slot].task;
    const struct sim_scenario *scenario =
        job->experiment->scenarios[task / job->experiment->replications];
    struct sim_run_options options = task_options(job, task, recorder);
    options.progress = &job->progress[slot];
    if (task == 0 && job->options->spans != NULL)
        (void)run_with_spans(job, slot, scenario, &options);
    else
        (void)sim_run(scenario, &options, &job->summaries[slot]);
    job->progress[slot].is_done = 1;
}

/* What the watchdog of an isolated run leaves to the parent. */
struct verdict {
    struct sim_run_summary *summary;
    char message[SIM_SANDBOX_TEXT];
};

/* In a signal handler: copies bytes and ends. */
static void on_hang(void *state)
{
    const struct verdict *verdict = state;
    verdict->summary->status = WEIR_EPOLICY;
    memcpy(verdict->summary->message, verdict->message, sizeof(verdict->message));
    _exit(0);
}

static void isolate(const struct job *job, size_t slot, struct sim_watchdog *watchdog,
                    struct verdict *verdict)
{
    const uint32_t timeout_s =
        job->options->policy_timeout_s > 0 ? job->options->policy_timeout_s : SIM_ISOLATE_TIMEOUT_S;
    /* Who waits for a policy in a process of its own says better what it did. */
    const uint32_t later_s = job->options->in_process ? 0 : WATCHDOG_LATER_S;
    *verdict = (struct verdict){ .summary = &job->summaries[slot] };
    (void)snprintf(verdict->message, sizeof(verdict->message),
                   "nothing happened for %u s: a policy does not return (--policy-timeout)",
                   timeout_s);
    *watchdog = (struct sim_watchdog){ .counter = &job->progress[slot].handled,
                                       .expired = on_hang,
                                       .state = verdict,
                                       .timeout_s = timeout_s + later_s };
    sim_sandbox_limit(job->options->in_process ? job->options->policy_memory_mib : 0);
    (void)sim_watchdog_start(watchdog);
}

/* Of many runs it is said which one printed something, and how to repeat it. */
static bool keeps_stderr(const struct job *job)
{
    return job->count > 1 && !job->experiment->is_temporary;
}

static void run_child(const struct job *job, size_t slot, pid_t parent)
{
    /* Without the parent nobody would start the next one. */
    sim_stop_follow(parent);
    struct sim_watchdog watchdog;
    struct verdict verdict;
    struct sim_recorder *recorder = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (keeps_stderr(job))
        sim_run_stderr_catch(job->experiment, job->slots[slot].task);
    sim_sandbox_limit_run(job->options->limits.run_memory_mib, job->options->limits.run_cpu_s);
    if (job->options->plugins_count > 0) /* whatever a module starts must not keep the lock */
        (void)close(job->file.lock.file);
    const weir_status status = sim_experiment_open_shard(job->experiment, &job->file,
                                                         job->slots[slot].task, &recorder, &error);
    if (status != WEIR_OK) {
        (void)sim_recorder_close(recorder, NULL);
        fail_run(job, slot, status, error.text);
        _exit(0);
    }
    if (job->options->plugins_count > 0)
        isolate(job, slot, &watchdog, &verdict);
    run_task(job, slot, recorder);
    job->progress[slot].handled = NULL;
    watchdog.timeout_s = UINT32_MAX; /* what follows is ours and may take its time */
    const weir_status closed = sim_recorder_close(recorder, &error);
    if (closed != WEIR_OK && job->summaries[slot].status == WEIR_OK)
        fail_run(job, slot, closed, error.text);
    _exit(0);
}

/* ---- all tasks ---- */

static weir_status merge_task(struct job *job, size_t task, struct sim_recorder *recorder,
                              struct weir_error *error)
{
    const struct ended *ended = &job->ended[task];
    WEIR_TRY(sim_experiment_merge_shard(job->experiment, task, recorder, error));
    return ended->status == WEIR_OK
               ? WEIR_OK
               : sim_recorder_fail_run(recorder, (int64_t)task + 1,
                                       ended->message == NULL ? "" : ended->message, error);
}

/* In the order of the tasks, so that the file does not depend on who ended first; as soon as it is
 * their turn, so that shards do not pile up. */
static weir_status merge_ended(struct job *job, struct sim_recorder *recorder,
                               struct weir_error *error)
{
    for (; job->merged < job->count; job->merged++) {
        struct ended *ended = &job->ended[job->merged];
        if (!job->wanted[job->merged] || ended->is_done || ended->is_merged)
            continue;
        if (!ended->is_over)
            return WEIR_OK;
        WEIR_TRY(merge_task(job, job->merged, recorder, error));
        ended->is_merged = true;
    }
    return WEIR_OK;
}

static bool has_plugin_inside(const struct job *job)
{
    return job->options->plugins_count > 0 && job->options->in_process;
}

/* A run whose process ended without saying how; with a plug-in in it, the plug-in is to blame. */
static void judge_child(const struct job *job, size_t slot, int state)
{
    const bool has_plugin = has_plugin_inside(job);
    const bool is_killed = WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL;
    const bool is_short = WIFEXITED(state) && WEXITSTATUS(state) == SIM_EXIT_RESOURCE;
    const weir_status status = is_killed || is_short ? WEIR_ENOMEM
                               : has_plugin          ? WEIR_EPOLICY
                                                     : WEIR_EINVARIANT;
    char message[SIM_SANDBOX_TEXT];
    char sentence[SIM_SANDBOX_TEXT + 144];
    if ((!WIFSIGNALED(state) && job->progress[slot].is_done != 0) ||
        job->summaries[slot].status != WEIR_OK)
        return;
    sim_sandbox_sentence(state, message);
    if (is_short)
        (void)snprintf(message, sizeof(message), "it ended without memory");
    else if (message[0] == '\0')
        (void)snprintf(message, sizeof(message), "it ended with exit code %d before its end",
                       WEXITSTATUS(state));
    (void)snprintf(sentence, sizeof(sentence), "the process of the run: %s%s%s", message,
                   is_killed ? ", as a system does that has no memory left" : "",
                   has_plugin ? "; try weir check on its plug-ins" : "");
    fail_run(job, slot, status, sentence);
}

/* A run that needed more than --limit gives says which one it was. */
static bool judge_limits(const struct job *job, size_t slot, int state)
{
    char sentence[SIM_LIMIT_SENTENCE];
    if (!sim_limits_judge(&job->options->limits, state, job->summaries[slot].status, sentence))
        return false;
    fail_run(job, slot, WEIR_ENOMEM, sentence);
    return true;
}

/* The run in the slot is over: what is left of it is kept, the slot is free. */
static void end_task(struct job *job, size_t slot)
{
    const struct sim_run_summary *summary = &job->summaries[slot];
    struct ended *ended = &job->ended[job->slots[slot].task];
    ended->is_over = true;
    ended->status = summary->status;
    const char *message = summary->status == WEIR_OK ? NULL : summary->message;
    if (message == NULL)
        sim_run_times_measured(&job->times, job->slots[slot].task / job->experiment->replications,
                               sim_progress_now_s() - job->slots[slot].began_s);
    if (keeps_stderr(job))
        ended->message = sim_run_stderr_take(job->experiment, job->slots[slot].task, message);
    else if (message != NULL)
        ended->message = strdup(message);
    job->line.runs_done++;
    job->line.events_done += job->progress[slot].events;
    memset(&job->progress[slot], 0, sizeof(job->progress[slot]));
    job->slots[slot].pid = 0;
}

static void reap(struct job *job, size_t *running)
{
    int state = 0;
    const pid_t pid = waitpid(-1, &state, WNOHANG);
    if (pid <= 0) {
        (void)usleep(2000);
        return;
    }
    for (size_t slot = 0; slot < job->slot_count; slot++) {
        if (job->slots[slot].pid != pid)
            continue;
        judge_child(job, slot, state);
        job->ended[job->slots[slot].task].is_over_limit = judge_limits(job, slot, state);
        end_task(job, slot);
        (*running)--;
    }
}

static size_t take_slot(struct job *job, size_t task)
{
    size_t slot = 0;
    while (job->slots[slot].pid != 0)
        slot++;
    memset(&job->summaries[slot], 0, sizeof(job->summaries[slot]));
    job->slots[slot].task = task;
    job->slots[slot].began_s = sim_progress_now_s();
    return slot;
}

static weir_status start_child(struct job *job, size_t task, struct sim_recorder *recorder,
                               struct weir_error *error)
{
    const struct sim_run_options options = task_options(job, task, recorder);
    const size_t slot = take_slot(job, task);
    WEIR_TRY(sim_run_announce(job->experiment->scenarios[options.variant_order], &options, error));
    (void)fflush(NULL);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0)
        return weir_fail(error, WEIR_ENOMEM, "cannot start a process: %s", strerror(errno));
    if (pid == 0)
        run_child(job, slot, parent);
    job->slots[slot].pid = pid;
    return WEIR_OK;
}

static bool is_stopped(void)
{
    return *sim_stop_count() > 0;
}

/* A terminal tells all processes, kill(1) only the one it names. */
static void tell_children(struct job *job)
{
    if (!is_stopped() || job->is_told)
        return;
    job->is_told = true;
    for (size_t slot = 0; slot < job->slot_count; slot++)
        if (job->slots[slot].pid > 0)
            (void)kill(job->slots[slot].pid, SIGTERM);
}

/* Nothing is to be done for it in this round. */
static bool is_settled(const struct job *job, size_t task)
{
    return !job->wanted[task] || job->ended[task].is_done || job->ended[task].is_over;
}

static double work_of(const struct job *job, size_t task)
{
    return sim_run_times_s(&job->times, task / job->experiment->replications);
}

/* What is left is reckoned in time, so that small points first do not promise an early end. */
static void draw(struct job *job)
{
    double left_s = 0;
    double done_s = 0;
    if (!sim_progress_is_due(&job->line))
        return;
    for (size_t i = 0; i < job->count; i++)
        if (job->wanted[i])
            *(is_settled(job, i) ? &done_s : &left_s) += work_of(job, i);
    for (size_t slot = 0; slot < job->slot_count; slot++) {
        const struct slot *its = &job->slots[slot];
        const double part = its->pid == 0 ? 0 : job->progress[slot].fraction;
        sim_run_times_running(&job->times, its->task / job->experiment->replications, part,
                              sim_progress_now_s() - its->began_s);
        left_s -= part * work_of(job, its->task);
        done_s += part * work_of(job, its->task);
    }
    const size_t runs_left = job->line.runs - job->line.runs_done;
    const size_t at_once = runs_left < job->slot_count ? runs_left : job->slot_count;
    job->line.done = done_s / (done_s + left_s);
    job->line.left_s = left_s / (double)(at_once > 0 ? at_once : 1);
    sim_progress_draw(&job->line, job->progress, job->slot_count);
}

static weir_status run_parallel(struct job *job, struct sim_recorder *recorder,
                                struct weir_error *error)
{
    size_t next = 0;
    size_t running = 0;
    weir_status status = sim_experiment_make_blank(job->experiment, &job->file, error);
    while (running > 0 || (next < job->count && !is_stopped() && status == WEIR_OK)) {
        while (next < job->count && is_settled(job, next))
            next++;
        if (next < job->count && running < job->slot_count && !is_stopped() && status == WEIR_OK) {
            status = start_child(job, next++, recorder, error);
            running += status == WEIR_OK ? 1 : 0;
            continue;
        }
        tell_children(job);
        reap(job, &running);
        draw(job);
        if (status == WEIR_OK)
            status = merge_ended(job, recorder, error);
    }
    for (; next < job->count; next++) /* those that never started */
        job->ended[next].is_over = job->ended[next].is_over || job->wanted[next];
    return status == WEIR_OK ? merge_ended(job, recorder, error) : status;
}

/* What the progress line is about. */
static void count_wanted(struct job *job)
{
    job->line.runs = job->line.runs_done = 0;
    for (size_t i = 0; i < job->count; i++) {
        job->line.runs += job->wanted[i] ? 1 : 0;
        job->line.runs_done +=
            job->wanted[i] && (job->ended[i].is_done || job->ended[i].is_over) ? 1 : 0;
    }
}

/* What is in the file stays there, what lies in shards is merged when its turn comes. */
static weir_status open_database(struct job *job, struct sim_recorder **recorder,
                                 struct weir_error *error)
{
    WEIR_TRY(sim_experiment_file_open(job->options, job->experiment, &job->file, recorder, error));
    for (size_t i = 0; i < job->count; i++) {
        job->ended[i].is_done = job->file.is_done[i];
        job->ended[i].is_over = job->file.has_shard[i];
    }
    count_wanted(job);
    return WEIR_OK;
}

/* Expectations are judged on what was written. */
static weir_status judge(const struct job *job, struct sim_recorder *recorder,
                         struct weir_error *error)
{
    WEIR_TRY(sim_recorder_finish(recorder, error));
    WEIR_TRY(sim_experiment_open_results(job->experiment, error));
    weir_status status = sim_experiment_judge(job->experiment, recorder, error);
    if (status == WEIR_OK)
        status = sim_experiment_check_results(job->experiment, error);
    sim_experiment_close_results(job->experiment);
    return status;
}

static weir_status run_round(struct job *job, struct sim_recorder *recorder,
                             struct weir_error *error)
{
    const struct sim_limits *limits = &job->options->limits;
    const bool is_limited = limits->run_cpu_s > 0 || limits->run_memory_mib > 0;
    const bool is_alone = job->count == 1 && !job->line.is_shown && !is_settled(job, 0) &&
                          job->options->plugins_count == 0 && !is_limited;
    if (!is_alone)
        return run_parallel(job, recorder, error);
    run_task(job, take_slot(job, 0), recorder);
    end_task(job, 0);
    return WEIR_OK;
}

/* Of scenarios that were read. */
static void expect_work(struct job *job, size_t variant)
{
    const struct sim_scenario *scenario = job->experiment->scenarios[variant];
    if (scenario != NULL)
        job->times.prior[variant] = sim_scenario_work(scenario);
}

/* What an experiment in rounds wants next, having seen what there is. The scenarios of variants
 * that nobody looked at yet are read. */
static weir_status plan_round(struct job *job, bool *is_over, struct weir_error *error)
{
    const struct sim_rounds *rounds = job->options->rounds;
    *is_over = rounds == NULL || is_stopped();
    if (*is_over)
        return WEIR_OK;
    WEIR_TRY(rounds->next(rounds->self, job->experiment, job->wanted, is_over, error));
    for (size_t i = 0; i < job->count && !*is_over; i++)
        if (!is_settled(job, i))
            WEIR_TRY(sim_experiment_need(job->options, job->experiment,
                                         i / job->experiment->replications, error));
    for (size_t v = 0; v < job->experiment->variant_count; v++)
        expect_work(job, v);
    job->merged = 0;
    count_wanted(job);
    return WEIR_OK;
}

static weir_status run_rounds(struct job *job, struct sim_recorder *recorder,
                              struct weir_error *error)
{
    bool is_over = false;
    if (job->options->rounds != NULL)
        WEIR_TRY(plan_round(job, &is_over, error));
    while (!is_over) {
        WEIR_TRY(run_round(job, recorder, error));
        WEIR_TRY(plan_round(job, &is_over, error));
    }
    return WEIR_OK;
}

static weir_status run_all(struct job *job, struct weir_error *error)
{
    struct sim_recorder *recorder = NULL;
    weir_status status = open_database(job, &recorder, error);
    if (status == WEIR_OK)
        status = run_rounds(job, recorder, error);
    job->experiment->is_interrupted = is_stopped();
    if (status == WEIR_OK && !is_stopped() && job->options->shards == 0)
        status = judge(job, recorder, error);
    const weir_status closed = sim_recorder_close(recorder, status == WEIR_OK ? error : NULL);
    sim_experiment_file_close(&job->file);
    if (status == WEIR_OK)
        status = closed;
    return status == WEIR_OK ? sim_experiment_open_results(job->experiment, error) : status;
}

static void *share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Without a database there is one all the same, for as long as the program runs: results have one
 * way. */
static weir_status name_temporary(struct sim_experiment *experiment, struct weir_error *error)
{
    char path[PATH_MAX];
    WEIR_TRY(written_temporary(path, sizeof path, error));
    experiment->path = strdup(path);
    if (experiment->path == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    experiment->is_temporary = true;
    return WEIR_OK;
}

static weir_status name_database(const struct sim_experiment_options *options,
                                 struct sim_experiment *experiment, struct weir_error *error)
{
    if (options->database != NULL && options->database[0] == '\0')
        return name_temporary(experiment, error);
    if (options->database != NULL)
        experiment->path = strdup(options->database);
    else if (asprintf(&experiment->path, "%s.db", experiment->scenarios[0]->name) < 0)
        experiment->path = NULL;
    experiment->database = experiment->path;
    return experiment->path == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory") : WEIR_OK;
}

static int report_failures(const struct job *job)
{
    const struct sim_experiment *experiment = job->experiment;
    const bool has_plugin = job->options->plugins_count > 0;
    int code = SIM_EXIT_OK;
    for (size_t i = 0; i < job->count; i++) {
        const struct ended *ended = &job->ended[i];
        if (ended->status == WEIR_OK)
            continue;
        (void)fprintf(stderr, "weir: run %zu (%s, replication %zu): %s: %s\n", i + 1,
                      experiment->labels[i / experiment->replications],
                      i % experiment->replications,
                      ended->is_over_limit ? "over its limit" : sim_status_text(ended->status),
                      ended->message == NULL ? "" : ended->message);
        code = code == SIM_EXIT_OK ? sim_exit_for(ended->status) : code;
    }
    /* Which of the two is wrong, the scheduler or what was given to it, a plug-in leaves open; one
     * in a process of its own takes no memory here. */
    const bool is_scheduler = code == SIM_EXIT_USAGE || code == SIM_EXIT_INVARIANT ||
                              (code == SIM_EXIT_RESOURCE && has_plugin_inside(job));
    return has_plugin && is_scheduler ? SIM_EXIT_POLICY : code;
}

/* Nothing is said about a file that was refused. */
static void print_advice(const struct job *job)
{
    const char *database = job->experiment->database;
    if (database == NULL || job->line.runs_done == 0)
        return;
    (void)fprintf(stderr, "weir: what was finished is kept with %s; go on with: %s --resume\n",
                  database, job->options->command_line);
}

static int run_job(struct job *job)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_experiment *experiment = job->experiment;
    sim_progress_begin(&job->line, experiment->scenarios[0]->name, job->count,
                       job->options->is_quiet);
    const weir_status status = run_all(job, &error);
    sim_progress_end(&job->line);
    if (status != WEIR_OK) {
        (void)fprintf(stderr, "weir: %s: %s\n", sim_status_text(status), error.text);
        print_advice(job);
        return sim_exit_for(status);
    }
    if (experiment->is_interrupted) {
        (void)fprintf(stderr, "weir: interrupted; what was finished is kept%s%s\n",
                      experiment->database == NULL ? "" : " in ",
                      experiment->database == NULL ? "" : experiment->database);
        if (experiment->database != NULL)
            (void)fprintf(stderr, "weir: go on with: %s --resume\n", job->options->command_line);
        return SIM_EXIT_INTERRUPTED;
    }
    return report_failures(job);
}

static bool open_job(struct job *job)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    job->slot_count = job->options->jobs > 0 ? job->options->jobs : (cores > 0 ? (size_t)cores : 1);
    job->progress = share(job->slot_count * sizeof(*job->progress));
    job->summaries = share(job->slot_count * sizeof(*job->summaries));
    job->bounds = share(sim_bound_shelf_size()); /* without it each run solves on its own */
    job->slots = calloc(job->slot_count, sizeof(*job->slots));
    job->ended = calloc(job->count + 1, sizeof(*job->ended));
    job->wanted = calloc(job->count + 1, sizeof(*job->wanted));
    if (!sim_run_times_begin(&job->times, job->experiment->variant_count))
        return false;
    for (size_t v = 0; v < job->experiment->variant_count; v++)
        expect_work(job, v);
    for (size_t i = 0; job->wanted != NULL && i < job->count; i++)
        job->wanted[i] =
            job->options->rounds == NULL &&
            (job->options->shards == 0 || i % job->options->shards == job->options->shard);
    return job->wanted != NULL && job->progress != NULL && job->summaries != NULL &&
           job->slots != NULL && job->ended != NULL;
}

static void close_job(struct job *job)
{
    if (job->progress != NULL)
        (void)munmap(job->progress, job->slot_count * sizeof(*job->progress));
    if (job->summaries != NULL)
        (void)munmap(job->summaries, job->slot_count * sizeof(*job->summaries));
    if (job->bounds != NULL)
        (void)munmap(job->bounds, sim_bound_shelf_size());
    for (size_t i = 0; job->ended != NULL && i < job->count; i++)
        free(job->ended[i].message);
    sim_run_times_end(&job->times);
    free(job->ended);
    free(job->wanted);
    free(job->slots);
}

int sim_experiment_run(const struct sim_experiment_options *options,
                       struct sim_experiment *experiment)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    *experiment = (struct sim_experiment){ 0 };
    const int code = sim_experiment_load(options, experiment);
    if (code != SIM_EXIT_OK)
        return code;
    experiment->replications =
        options->replications > 0 ? options->replications : experiment->scenarios[0]->replications;
    if (options->is_dry)
        return SIM_EXIT_OK;
    const weir_status named = name_database(options, experiment, &error);
    if (named != WEIR_OK) {
        (void)fprintf(stderr, "weir: %s\n", error.text);
        return sim_exit_for(named);
    }
    for (size_t v = 0; v < experiment->variant_count; v++)
        experiment->jobs +=
            sim_scenario_jobs(experiment->scenarios[experiment->scenarios[v] == NULL ? 0 : v]) *
            (double)experiment->replications;
    struct job job = { .options = options,
                       .experiment = experiment,
                       .count = experiment->variant_count * experiment->replications };
    int result = SIM_EXIT_RESOURCE;
    if (open_job(&job)) {
        sim_stop_catch();
        result = run_job(&job);
        sim_stop_release_pipe();
    } else {
        (void)fprintf(stderr, "weir: out of memory\n");
    }
    close_job(&job);
    return result;
}
