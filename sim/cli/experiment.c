/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Experiments: loading variants, running tasks in processes, merging (see experiment.h). */
#include "sim/cli/experiment.h"

#include "sim/cli/build_info.h"
#include "sim/cli/isolate.h"
#include "sim/cli/options.h"
#include "sim/cli/progress.h"
#include "sim/cli/span_export.h"
#include "sim/record/record.h"
#include "sim/scenario/varies.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The one mutable variable of the program: a signal handler has nowhere else to write. */
static volatile sig_atomic_t interrupt_count;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    if (++interrupt_count > 1)
        _exit(SIM_EXIT_INTERRUPTED);
}

struct shared {
    struct sim_progress *progress;
    struct sim_run_summary *summaries;
};

struct job {
    const struct sim_experiment_options *options;
    struct sim_experiment *experiment;
    struct shared shared;
    int64_t experiment_id;
    size_t count;
    bool *is_done;
    pid_t *pids;
    struct sim_progress_line line;
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
    case WEIR_EDUPLICATE:
    case WEIR_ENOTFOUND:
    case WEIR_EOVERCOMMIT:
    case WEIR_EINVARIANT:
        break;
    }
    return SIM_EXIT_INVARIANT;
}

const struct sim_run_summary *sim_experiment_summary(const struct sim_experiment *experiment,
                                                     size_t variant, uint32_t replication)
{
    return &experiment->summaries[variant * experiment->replications + replication];
}

double sim_experiment_mean(const struct sim_experiment *experiment, size_t variant,
                           const char *metric, const char *label)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t r = 0; r < experiment->replications; r++) {
        const double value =
            sim_run_value(sim_experiment_summary(experiment, variant, r), metric, label);
        if (isnan(value))
            continue;
        sum += value;
        count++;
    }
    return count == 0 ? (double)NAN : sum / count;
}

/* ---- loading ---- */

static int load_one(const struct sim_experiment_options *options, const struct sim_variant *variant,
                    struct sim_scenario **scenario)
{
    const size_t extra = variant == NULL ? 0 : variant->sets_count;
    const char **sets = calloc(options->sets_count + extra + 1, sizeof(*sets));
    if (sets == NULL)
        return SIM_EXIT_INVARIANT;
    for (size_t i = 0; i < options->sets_count; i++)
        sets[i] = options->sets[i];
    for (size_t i = 0; i < extra; i++)
        sets[options->sets_count + i] = variant->sets[i];
    const struct sim_scenario_source source = { .path = options->scenario_path,
                                                .sets = sets,
                                                .sets_count = options->sets_count + extra,
                                                .policies = options->policies,
                                                .is_variant = variant != NULL };
    struct sim_diagnostics diagnostics = { 0 };
    const weir_status status = sim_scenario_load(&source, scenario, &diagnostics);
    if (diagnostics.errors > 0 && variant != NULL)
        (void)fprintf(stderr, "weir: variant %s:\n", variant->label);
    if (diagnostics.errors > 0 || variant == NULL)
        sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    free(sets);
    return sim_exit_for(status);
}

static int load_variants(const struct sim_experiment_options *options,
                         struct sim_experiment *experiment)
{
    struct sim_scenario *base = NULL;
    int code = load_one(options, NULL, &base);
    if (code != SIM_EXIT_OK)
        return code;
    const size_t count =
        options->all_variants && base->variants_count > 0 ? base->variants_count : 1;
    experiment->scenarios = calloc(count + 1, sizeof(struct sim_scenario *));
    experiment->labels = calloc(count + 1, sizeof(*experiment->labels));
    if (experiment->scenarios == NULL || experiment->labels == NULL) {
        sim_scenario_destroy(base);
        return SIM_EXIT_INVARIANT;
    }
    experiment->variant_count = count;
    if (!options->all_variants || base->variants_count == 0) {
        experiment->scenarios[0] = base;
        experiment->labels[0] = strdup("base");
        return SIM_EXIT_OK;
    }
    for (size_t v = 0; v < count && code == SIM_EXIT_OK; v++) {
        experiment->labels[v] = strdup(base->variants[v].label);
        code = load_one(options, &base->variants[v], &experiment->scenarios[v]);
    }
    sim_scenario_destroy(base);
    return code;
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
    free(experiment->summaries);
    free(experiment->database);
    *experiment = (struct sim_experiment){ 0 };
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
                                     .experiment_id = job->experiment_id,
                                     .run_id = (int64_t)task + 1,
                                     .variant = experiment->labels[variant],
                                     .variant_order = (uint32_t)variant,
                                     .recorder = recorder,
                                     .interrupt = &interrupt_count,
                                     .progress = &job->shared.progress[task],
                                     .check_always = job->options->check_always,
                                     .export_at_s = (double)NAN };
}

static void fail_task(const struct job *job, size_t task, weir_status status, const char *message);

/* Runs once and exports spans on the way. A file that cannot be written fails the run. */
static weir_status run_with_spans(const struct job *job, size_t task,
                                  struct sim_run_options *options)
{
    const struct sim_scenario *scenario =
        job->experiment->scenarios[task / job->experiment->replications];
    struct sim_span_export *spans = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    weir_status status = sim_span_export_open(job->options->spans, job->options->spans_limit,
                                              scenario, &spans, &error);
    if (status == WEIR_OK) {
        options->observer = sim_span_export_observer(spans);
        const weir_status ran = sim_run(scenario, options, &job->shared.summaries[task]);
        status = sim_span_export_close(spans, &error);
        if (ran != WEIR_OK)
            return ran;
    }
    if (status != WEIR_OK)
        fail_task(job, task, status, error.text);
    return status;
}

static weir_status run_task(const struct job *job, size_t task, struct sim_recorder *recorder)
{
    struct sim_run_options options = task_options(job, task, recorder);
    const weir_status status =
        task == 0 && job->options->spans != NULL
            ? run_with_spans(job, task, &options)
            : sim_run(job->experiment->scenarios[task / job->experiment->replications], &options,
                      &job->shared.summaries[task]);
    job->shared.progress[task].is_done = 1;
    return status;
}

static void shard_path(const struct job *job, size_t task, char *path, size_t capacity)
{
    (void)snprintf(path, capacity, "%s.part%zu", job->experiment->database, task + 1);
}

static void fail_task(const struct job *job, size_t task, weir_status status, const char *message)
{
    struct sim_run_summary *summary = &job->shared.summaries[task];
    summary->status = status;
    summary->variant_order = (uint32_t)(task / job->experiment->replications);
    summary->replication = (uint32_t)(task % job->experiment->replications);
    (void)snprintf(summary->outcome, sizeof(summary->outcome), "failed");
    if (message != NULL) /* else it is there */
        (void)snprintf(summary->message, sizeof(summary->message), "%s", message);
    job->shared.progress[task].is_done = 1;
}

/* Facts about the program and the inputs that every database carries, shards included. */
static weir_status stamp(struct sim_recorder *recorder, const struct sim_scenario *scenario,
                         struct weir_error *error)
{
    char commit[64];
    const struct {
        const char *key;
        uint32_t count;
    } sources[] = { { "sources_measured", scenario->sources_measured },
                    { "sources_datasheet", scenario->sources_datasheet },
                    { "sources_guess", scenario->sources_guess },
                    { "sources_unstated", scenario->sources_unstated },
                    { "config_knobs", scenario->knobs } };
    (void)snprintf(commit, sizeof(commit), "%s%s", sim_build_commit(),
                   sim_build_dirty() ? "+" : "");
    WEIR_TRY(sim_recorder_meta(recorder, "git_commit", commit, error));
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%u", sources[i].count);
        WEIR_TRY(sim_recorder_meta(recorder, sources[i].key, text, error));
    }
    return WEIR_OK;
}

/* What the watchdog of an isolated run leaves to the parent. */
struct verdict {
    struct sim_run_summary *summary;
    char message[SIM_ISOLATE_MESSAGE];
};

/* In a signal handler: copies bytes and ends. */
static void on_hang(void *state)
{
    const struct verdict *verdict = state;
    verdict->summary->status = WEIR_EPOLICY;
    memcpy(verdict->summary->message, verdict->message, sizeof(verdict->message));
    _exit(0);
}

static void isolate(const struct job *job, size_t task, struct sim_watchdog *watchdog,
                    struct verdict *verdict)
{
    const uint32_t timeout_s =
        job->options->policy_timeout_s > 0 ? job->options->policy_timeout_s : SIM_ISOLATE_TIMEOUT_S;
    *verdict = (struct verdict){ .summary = &job->shared.summaries[task] };
    (void)snprintf(verdict->message, sizeof(verdict->message),
                   "nothing happened for %u s: a policy does not return (--policy-timeout)",
                   timeout_s);
    *watchdog = (struct sim_watchdog){ .counter = &job->shared.progress[task].handled,
                                       .expired = on_hang,
                                       .state = verdict,
                                       .timeout_s = timeout_s };
    sim_isolate_limit(job->options->policy_memory_mib);
    (void)sim_watchdog_start(watchdog);
}

static void run_child(const struct job *job, size_t task)
{
    /* Without the parent nobody would merge what it finds. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct sim_watchdog watchdog;
    struct verdict verdict;
    struct sim_recorder *recorder = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    char path[4096];
    if (job->experiment->database != NULL) {
        shard_path(job, task, path, sizeof(path));
        weir_status status = sim_recorder_open(path, true, &recorder, &error);
        if (status == WEIR_OK)
            status = stamp(recorder, job->experiment->scenarios[0], &error);
        if (status != WEIR_OK) {
            fail_task(job, task, status, error.text);
            _exit(0);
        }
    }
    if (job->options->plugins_count > 0)
        isolate(job, task, &watchdog, &verdict);
    (void)run_task(job, task, recorder);
    job->shared.progress[task].handled = NULL;
    watchdog.timeout_s = UINT32_MAX; /* what follows is ours and may take its time */
    const weir_status closed = sim_recorder_close(recorder, &error);
    if (closed != WEIR_OK && job->shared.summaries[task].status == WEIR_OK)
        fail_task(job, task, closed, error.text);
    _exit(0);
}

/* ---- all tasks ---- */

static weir_status merge_task(struct job *job, size_t task, struct sim_recorder *recorder,
                              struct weir_error *error)
{
    char path[4096];
    if (recorder == NULL)
        return WEIR_OK;
    shard_path(job, task, path, sizeof(path));
    if (access(path, R_OK) == 0) { /* else the run never got so far; its summary says why */
        WEIR_TRY(sim_recorder_merge(recorder, path, error));
        (void)unlink(path);
    }
    if (job->shared.summaries[task].status != WEIR_OK)
        return sim_recorder_fail_run(recorder, (int64_t)task + 1,
                                     job->shared.summaries[task].message, error);
    return WEIR_OK;
}

/* A run whose process ended without saying how; with a plug-in in it, the plug-in is to blame. */
static void judge_child(const struct job *job, size_t task, int state)
{
    const bool has_plugin = job->options->plugins_count > 0;
    const weir_status status = has_plugin ? WEIR_EPOLICY : WEIR_EINVARIANT;
    char message[SIM_ISOLATE_MESSAGE];
    char sentence[2 * SIM_ISOLATE_MESSAGE];
    if (!WIFSIGNALED(state) && job->shared.progress[task].is_done != 0)
        return;
    if (job->shared.summaries[task].status != WEIR_OK) {
        fail_task(job, task, job->shared.summaries[task].status, NULL);
        return;
    }
    sim_isolate_sentence(state, message);
    if (message[0] == '\0')
        (void)snprintf(message, sizeof(message), "it ended with exit code %d before its end",
                       WEXITSTATUS(state));
    (void)snprintf(sentence, sizeof(sentence), "the process of the run: %s%s", message,
                   has_plugin ? "; try weir policies check on its plug-ins" : "");
    fail_task(job, task, status, sentence);
}

static void reap(struct job *job, size_t *running)
{
    int state = 0;
    const pid_t pid = waitpid(-1, &state, WNOHANG);
    if (pid <= 0) {
        (void)usleep(2000);
        return;
    }
    for (size_t task = 0; task < job->count; task++) {
        if (job->pids[task] != pid)
            continue;
        job->pids[task] = 0;
        (*running)--;
        judge_child(job, task, state);
    }
}

static weir_status start_child(struct job *job, size_t task, struct sim_recorder *recorder,
                               struct weir_error *error)
{
    const struct sim_run_options options = task_options(job, task, recorder);
    WEIR_TRY(sim_run_announce(job->experiment->scenarios[options.variant_order], &options, error));
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid < 0)
        return weir_fail(error, WEIR_EIO, "cannot start a process: %s", strerror(errno));
    if (pid == 0)
        run_child(job, task);
    job->pids[task] = pid;
    return WEIR_OK;
}

static weir_status run_parallel(struct job *job, struct sim_recorder *recorder,
                                struct weir_error *error)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t jobs =
        job->options->jobs > 0 ? job->options->jobs : (cores > 0 ? (size_t)cores : 1);
    size_t next = 0;
    size_t running = 0;
    weir_status status = WEIR_OK;
    while (running > 0 || (next < job->count && interrupt_count == 0 && status == WEIR_OK)) {
        while (next < job->count && job->is_done[next])
            next++;
        if (next < job->count && running < jobs && interrupt_count == 0 && status == WEIR_OK) {
            status = start_child(job, next++, recorder, error);
            running += status == WEIR_OK ? 1 : 0;
            continue;
        }
        reap(job, &running);
        sim_progress_draw(&job->line, job->shared.progress, job->count);
    }
    for (size_t task = 0; task < job->count && status == WEIR_OK; task++)
        if (!job->is_done[task])
            status = merge_task(job, task, recorder, error);
    return status;
}

static weir_status write_experiment(struct job *job, struct sim_recorder *recorder,
                                    struct weir_error *error)
{
    const struct sim_scenario *scenario = job->experiment->scenarios[0];
    const struct sim_experiment_row row = { .scenario = scenario->name,
                                            .description = scenario->description == NULL
                                                               ? ""
                                                               : scenario->description,
                                            .resolved_yaml = scenario->resolved,
                                            .command_line = job->options->command_line,
                                            .baseline = job->experiment->labels[0],
                                            .scenario_digest = scenario->digest };
    char varies[256];
    sim_scenario_varies(job->experiment->scenarios, job->experiment->variant_count, varies,
                        sizeof(varies));
    WEIR_TRY(stamp(recorder, scenario, error));
    WEIR_TRY(sim_recorder_meta(recorder, "varies", varies, error));
    WEIR_TRY(sim_recorder_experiment(recorder, &row, &job->experiment_id, error));
    for (size_t i = 0; i < scenario->files_count; i++)
        WEIR_TRY(sim_recorder_input_file(recorder, scenario->files[i].path,
                                         scenario->files[i].bytes, scenario->files[i].digest,
                                         error));
    return sim_experiment_record_files(recorder, job->options->plugins, job->options->plugins_count,
                                       error);
}

static weir_status open_database(struct job *job, struct sim_recorder **recorder,
                                 struct weir_error *error)
{
    job->experiment_id = 1;
    if (job->experiment->database == NULL)
        return WEIR_OK;
    if (job->options->resume && access(job->experiment->database, F_OK) == 0) {
        /* First: it refuses a file of another version before a row is removed. */
        WEIR_TRY(sim_recorder_append(job->experiment->database, recorder, error));
        WEIR_TRY(sim_experiment_resume(job->experiment, job->is_done, error));
        for (size_t i = 0; i < job->count; i++) {
            job->shared.summaries[i] = job->experiment->summaries[i];
            job->shared.progress[i].is_done = job->is_done[i] ? 1 : 0;
        }
        return WEIR_OK;
    }
    WEIR_TRY(sim_recorder_open(job->experiment->database, true, recorder, error));
    return write_experiment(job, *recorder, error);
}

static weir_status run_all(struct job *job, struct weir_error *error)
{
    struct sim_recorder *recorder = NULL;
    weir_status status = open_database(job, &recorder, error);
    if (status == WEIR_OK && job->count == 1 && !job->line.is_shown && !job->is_done[0] &&
        job->options->plugins_count == 0)
        (void)run_task(job, 0, recorder);
    else if (status == WEIR_OK)
        status = run_parallel(job, recorder, error);
    memcpy(job->experiment->summaries, job->shared.summaries,
           job->count * sizeof(*job->shared.summaries));
    job->experiment->is_interrupted = interrupt_count > 0;
    if (status == WEIR_OK && interrupt_count == 0)
        status = sim_experiment_judge(job->experiment, recorder, job->experiment_id, error);
    const weir_status closed = sim_recorder_close(recorder, status == WEIR_OK ? error : NULL);
    return status == WEIR_OK ? closed : status;
}

static void *share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void name_database(const struct sim_experiment_options *options,
                          struct sim_experiment *experiment)
{
    if (options->database != NULL && options->database[0] == '\0')
        return;
    if (options->database != NULL) {
        experiment->database = strdup(options->database);
        return;
    }
    if (asprintf(&experiment->database, "%s.db", experiment->scenarios[0]->name) < 0)
        experiment->database = NULL;
}

static int report_failures(const struct sim_experiment *experiment, bool has_plugin)
{
    int code = SIM_EXIT_OK;
    const size_t count = experiment->variant_count * experiment->replications;
    for (size_t i = 0; i < count; i++) {
        const struct sim_run_summary *summary = &experiment->summaries[i];
        if (summary->status == WEIR_OK)
            continue;
        (void)fprintf(stderr, "weir: run %zu (%s, replication %u): %s: %s\n", i + 1,
                      experiment->labels[summary->variant_order], summary->replication,
                      weir_status_text(summary->status), summary->message);
        code = code == SIM_EXIT_OK ? sim_exit_for(summary->status) : code;
    }
    /* Which of the two is wrong, the scheduler or what was given to it, a plug-in leaves open. */
    const bool is_scheduler = code == SIM_EXIT_USAGE || code == SIM_EXIT_INVARIANT;
    return has_plugin && is_scheduler ? SIM_EXIT_POLICY : code;
}

static int run_job(struct job *job)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_experiment *experiment = job->experiment;
    sim_progress_begin(&job->line, experiment->scenarios[0]->name, job->options->is_quiet);
    const weir_status status = run_all(job, &error);
    sim_progress_end(&job->line);
    if (status != WEIR_OK) {
        (void)fprintf(stderr, "weir: %s: %s\n", weir_status_text(status), error.text);
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
    return report_failures(experiment, job->options->plugins_count > 0);
}

int sim_experiment_run(const struct sim_experiment_options *options,
                       struct sim_experiment *experiment)
{
    *experiment = (struct sim_experiment){ 0 };
    const int code = load_variants(options, experiment);
    if (code != SIM_EXIT_OK)
        return code;
    experiment->replications =
        options->replications > 0 ? options->replications : experiment->scenarios[0]->replications;
    name_database(options, experiment);
    struct job job = { .options = options,
                       .experiment = experiment,
                       .count = experiment->variant_count * experiment->replications };
    experiment->summaries = calloc(job.count, sizeof(*experiment->summaries));
    job.shared.progress = share(job.count * sizeof(*job.shared.progress));
    job.shared.summaries = share(job.count * sizeof(*job.shared.summaries));
    job.is_done = calloc(job.count, sizeof(*job.is_done));
    job.pids = calloc(job.count, sizeof(*job.pids));
    int result = SIM_EXIT_INVARIANT;
    if (experiment->summaries != NULL && job.shared.progress != NULL &&
        job.shared.summaries != NULL && job.is_done != NULL && job.pids != NULL) {
        const struct sigaction action = { .sa_handler = on_interrupt };
        (void)sigaction(SIGINT, &action, NULL);
        (void)sigaction(SIGTERM, &action, NULL);
        result = run_job(&job);
    }
    if (job.shared.progress != NULL)
        (void)munmap(job.shared.progress, job.count * sizeof(*job.shared.progress));
    if (job.shared.summaries != NULL)
        (void)munmap(job.shared.summaries, job.count * sizeof(*job.shared.summaries));
    free(job.is_done);
    free(job.pids);
    return result;
}
