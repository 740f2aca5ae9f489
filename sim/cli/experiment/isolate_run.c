/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run in a child process (see isolate_run.h). Its summary comes back through shared memory; the
 * child opens the database itself, because a connection must not cross a fork.
 */
#include "sim/cli/experiment/isolate_run.h"

#include "sim/cli/isolate.h"
#include "sim/record/record.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Shared by both processes. */
struct shared {
    struct sim_run_summary summary;
    struct sim_progress progress;
};

struct task {
    const struct sim_scenario *scenario;
    const struct sim_run_options *options;
    const char *database;
    FILE *out;
    struct shared *shared;
};

bool sim_isolate_needed(const struct sim_policies *policies)
{
    /* Of each kind one is a program. */
    return policies->placements_count > weir_placement_count() + 1 ||
           policies->scalings_count > weir_scaling_count() + 1;
}

/* In a signal handler: copies bytes and ends. */
static void on_hang(void *state)
{
    static const char sentence[] = "nothing happens any more: a policy does not return";
    struct sim_run_summary *summary = state;

    summary->status = WEIR_EPOLICY;
    memcpy(summary->message, sentence, sizeof(sentence));
    _exit(0);
}

static int run_child(void *state)
{
    const struct task *task = state;
    struct sim_run_summary *summary = &task->shared->summary;
    struct sim_run_options options = *task->options;
    struct sim_watchdog watchdog = { .counter = &task->shared->progress.handled,
                                     .expired = on_hang,
                                     .state = summary,
                                     .timeout_s = SIM_ISOLATE_TIMEOUT_S };
    struct weir_error error = { .phase = -1, .pool = -1 };
    weir_status status = WEIR_OK;

    options.progress = &task->shared->progress;
    if (task->database != NULL)
        status = sim_recorder_append(task->database, &options.recorder, &error);
    (void)sim_watchdog_start(&watchdog);
    if (status == WEIR_OK)
        status = sim_run(task->scenario, &options, summary);
    if (status != WEIR_OK && summary->message[0] == '\0')
        (void)snprintf(summary->message, sizeof(summary->message), "%s", error.text);
    watchdog.timeout_s = UINT32_MAX; /* what follows is ours */
    if (sim_recorder_close(options.recorder, &error) != WEIR_OK && status == WEIR_OK) {
        status = WEIR_EIO;
        (void)snprintf(summary->message, sizeof(summary->message), "%s", error.text);
    }
    summary->status = status;
    (void)fflush(task->out);
    return 0;
}

/* A process that died leaves the row of its run as it was. */
static void mark_failed(const char *database, int64_t run_id, const char *message)
{
    struct sim_recorder *recorder = NULL;

    if (database == NULL || sim_recorder_append(database, &recorder, NULL) != WEIR_OK)
        return;
    (void)sim_recorder_fail_run(recorder, run_id, message, NULL);
    (void)sim_recorder_close(recorder, NULL);
}

weir_status sim_isolate_run(const struct sim_scenario *scenario,
                            const struct sim_run_options *options, const char *database, FILE *out,
                            struct sim_run_summary *summary)
{
    char message[SIM_SANDBOX_TEXT] = "";
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return WEIR_ENOMEM;
    struct task task = { scenario, options, database, out, shared };
    if (sim_isolate_call(run_child, &task, message) < 0) {
        if (shared->summary.status == WEIR_OK)
            (void)snprintf(shared->summary.message, sizeof(shared->summary.message),
                           "the process of the run: %s; try weir check on its plug-ins", message);
        shared->summary.status = WEIR_EPOLICY;
        (void)snprintf(shared->summary.outcome, sizeof(shared->summary.outcome), "failed");
        mark_failed(database, options->run_id, shared->summary.message);
    }
    *summary = shared->summary;
    (void)munmap(shared, sizeof(*shared));
    return summary->status;
}
