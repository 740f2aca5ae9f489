/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir policies check: whether the policies of a module keep the contract.
 *
 * Each check drives a host over random clusters and stages in a process of its own: plans fit,
 * equal inputs give equal plans, memory does not grow, hooks may be missing, tables with odd sizes
 * are refused. The trial is reproducible: all of it is drawn from fixed seeds. A policy that is
 * sound here may still be a poor one.
 */
#include "sim/cli/look/policies_check.h"

#include "sim/cli/look/policies_trial.h"
#include "sim/cli/options.h"
#include "sim/cli/plugin.h"
#include "sim/engine/digest.h"
#include "sim/port/command_policy.h"
#include "sim/port/module.h"
#include "weir/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { VIEWS = 200, STEPS = 10, GROWTH_CALLS = 10000, TIMED_CALLS = 2000 };

struct trial {
    const struct weir_placement_ops *placement;
    const struct weir_scaling_ops *scaling;
    bool is_placement; /* which of the two is on trial */
    const struct sim_trial_sheet *sheet;
};

/* A host and what drives it. */
struct drive {
    struct weir_host *host;
    uint64_t random;
    uint64_t digest; /* of all plans */
    uint64_t started;
    uint32_t stages;
    int64_t now_ns;
};

static uint64_t draw(struct drive *drive, uint64_t below)
{
    drive->random = sim_digest_word(drive->random, 0x5bd1e995);
    return (drive->random >> 16) % below;
}

static int fail(const struct trial *trial, const char *what, const char *text)
{
    return sim_trial_fail(trial->sheet, what, text);
}

/* ---- building ---- */

static weir_status add_nodes(struct drive *drive, struct weir_error *error)
{
    struct weir_gpu_spec gpus[8];
    const uint64_t count = 1 + draw(drive, 4);
    for (uint64_t n = 0; n < count; n++) {
        const uint32_t gpu_count = n == 0 ? 8 : (uint32_t)draw(drive, 9);
        const int64_t cpus = n == 0 ? 64 : 1 + (int64_t)draw(drive, 64);
        for (uint32_t g = 0; g < gpu_count; g++)
            gpus[g] = (struct weir_gpu_spec){ .nvdecs = n == 0 ? 7 : (uint32_t)draw(drive, 8),
                                              .units = WEIR_ONE,
                                              .mem_bytes = INT64_C(80) << 30 };
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = 100 + n,
                                             .gpu_count = gpu_count,
                                             .cpu_units = cpus * WEIR_ONE,
                                             .ram_bytes = INT64_C(1) << 40,
                                             .gpus = gpus };
        WEIR_TRY(weir_host_add_node(drive->host, &spec, NULL, error));
    }
    return WEIR_OK;
}

static weir_status add_stages(struct drive *drive, struct weir_error *error)
{
    static const struct weir_request requests[] = {
        { .cpus = 1 },
        { .cpus = 1, .gpus = 0.25 },
        { .cpus = 2, .gpus = 1 },
        { .cpus = 1, .nvdecs = 1 },
        { .cpus = 1, .gpus = 0.5, .nvdecs = 1 },
    };
    drive->stages = 1 + (uint32_t)draw(drive, 4);
    for (uint32_t s = 0; s < drive->stages; s++) {
        char name[] = "stage_0";
        name[6] = (char)('0' + s);
        struct weir_pool_spec stage = { .size = sizeof(struct weir_pool_spec),
                                        .name = name,
                                        .requested_workers = draw(drive, 5) == 0 ? 1 : -1,
                                        .batch_size = 1 + (uint32_t)draw(drive, 4),
                                        .slots = 2,
                                        .speed_hint_per_s = (double)NAN };
        WEIR_TRY(weir_shape_from_request(&requests[draw(drive, 5)], WEIR_QUANTUM_EXACT,
                                         &stage.shape, error));
        WEIR_TRY(weir_host_add_pool(drive->host, &stage, NULL, error));
    }
    return WEIR_OK;
}

static struct weir_host_config config_of(const struct trial *trial, uint64_t seed,
                                         const struct weir_allocator *allocator)
{
    return (struct weir_host_config){ .size = sizeof(struct weir_host_config),
                                      .allocator = allocator,
                                      .placement = trial->placement,
                                      .scaling = trial->scaling,
                                      .seed = seed };
}

static weir_status begin(const struct trial *trial, uint64_t seed,
                         const struct weir_allocator *allocator, struct drive *drive,
                         struct weir_error *error)
{
    const struct weir_host_config config = config_of(trial, seed, allocator);
    *drive = (struct drive){ .random = sim_digest_word(SIM_DIGEST_START, seed) };
    WEIR_TRY(weir_host_create(&config, &drive->host, error));
    WEIR_TRY(add_nodes(drive, error));
    return add_stages(drive, error);
}

/* ---- driving ---- */

static weir_status tell(struct drive *drive)
{
    for (uint32_t s = 0; s < drive->stages; s++) {
        const uint32_t workers = weir_cluster_pool_workers(weir_host_cluster(drive->host), s);
        const struct weir_pool_update update = { .size = sizeof(struct weir_pool_update),
                                                 .ready = workers,
                                                 .busy = (uint32_t)draw(drive, workers + 1),
                                                 .slots = 2,
                                                 .queued_items = draw(drive, 1000),
                                                 .requested_workers = -1 };
        WEIR_TRY(weir_host_update_pool(drive->host, s, &update));
        for (uint32_t i = 0; i < 3 && workers > 0; i++) {
            const struct weir_measurement task = {
                .size = sizeof task,
                .pool = s,
                .start_ns = drive->now_ns - (int64_t)(1 + draw(drive, 30)) * 1000000000,
                .end_ns = drive->now_ns,
                .returns = 1,
                .batch = 1
            };
            WEIR_TRY(weir_host_measure(drive->host, &task));
        }
    }
    return WEIR_OK;
}

/* The outcome of one action in a cluster that now and then refuses or loses a worker. */
static weir_status apply(struct drive *drive, const struct weir_action *action,
                         struct weir_error *error)
{
    struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                    .owner = action->owner,
                                    .worker = action->worker,
                                    .node = action->alloc.node,
                                    .time_ns = drive->now_ns };
    if (action->verb == WEIR_VERB_STOP) {
        outcome.kind = WEIR_OUTCOME_STOPPED;
        return weir_host_outcome(drive->host, &outcome, NULL, error);
    }
    if (action->verb != WEIR_VERB_START || action->reused != 0)
        return WEIR_OK;
    drive->started++;
    const bool is_refused = draw(drive, 8) == 0;
    outcome.kind = is_refused ? WEIR_OUTCOME_REFUSED : WEIR_OUTCOME_STARTED;
    outcome.reason = is_refused ? WEIR_REASON_TRUTH : WEIR_REASON_NONE;
    WEIR_TRY(weir_host_outcome(drive->host, &outcome, &action->alloc, error));
    if (is_refused || draw(drive, 16) != 0)
        return WEIR_OK;
    outcome.kind = WEIR_OUTCOME_LOST;
    return weir_host_outcome(drive->host, &outcome, NULL, error);
}

/* Saying that the work does not fit is an answer, too. */
static bool is_answer(weir_status status)
{
    return status == WEIR_OK || status == WEIR_EMANUAL || status == WEIR_EMINIMUM ||
           status == WEIR_EINFEASIBLE || status == WEIR_EBUSY;
}

static weir_status step(struct drive *drive, struct weir_error *error)
{
    const struct weir_plan *plan = NULL;
    drive->now_ns += INT64_C(60000000000);
    WEIR_TRY(tell(drive));
    const weir_status status = weir_host_decide(
        drive->host,
        &(struct weir_call){
            .size = sizeof(struct weir_call), .causes = WEIR_CAUSE_TIMER, .now_ns = drive->now_ns },
        &plan, error);
    if (status != WEIR_OK)
        return is_answer(status) ? WEIR_OK : status;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
            const struct weir_action *action = weir_plan_action(plan, i);
            if ((action->verb == WEIR_VERB_STOP) != (pass == 0))
                continue;
            drive->digest = sim_trial_digest(drive->digest, action);
            WEIR_TRY(apply(drive, action, error));
        }
    }
    return WEIR_OK;
}

static weir_status run(const struct trial *trial, uint64_t seed, uint32_t steps,
                       struct drive *drive, struct weir_error *error)
{
    WEIR_TRY(begin(trial, seed, NULL, drive, error));
    for (uint32_t i = 0; i < steps; i++)
        WEIR_TRY(step(drive, error));
    const struct weir_host_config config = config_of(trial, seed, NULL);
    WEIR_TRY(weir_host_replace(drive->host, &config, error)); /* adopt */
    WEIR_TRY(step(drive, error));
    return weir_cluster_check(weir_host_cluster(drive->host), error);
}

/* ---- the checks: 0 = kept, 1 = broken, with a note ---- */

static int over_views(const struct trial *trial, uint32_t views, uint64_t *started)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    for (uint32_t seed = 1; seed <= views; seed++) {
        struct drive drive;
        const weir_status status = run(trial, seed, STEPS, &drive, &error);
        weir_host_destroy(drive.host);
        *started += drive.started;
        if (status != WEIR_OK)
            return fail(trial, weir_status_text(status), error.text);
    }
    return 0;
}

static int check_capacity(void *state)
{
    const struct trial *trial = state;
    uint64_t started = 0;
    if (over_views(trial, VIEWS, &started) != 0)
        return 1;
    if (started == 0)
        return fail(trial, "no worker was started", "in any view");
    (void)snprintf(trial->sheet->note, SIM_TRIAL_NOTE, "%d views, %llu workers started", VIEWS,
                   (unsigned long long)started);
    return 0;
}

static int check_repeats(void *state)
{
    const struct trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    for (uint32_t seed = 1; seed <= VIEWS / 4; seed++) {
        uint64_t digests[2];
        for (int i = 0; i < 2; i++) {
            struct drive drive;
            const weir_status status = run(trial, seed, STEPS, &drive, &error);
            weir_host_destroy(drive.host);
            if (status != WEIR_OK)
                return fail(trial, weir_status_text(status), error.text);
            digests[i] = drive.digest;
        }
        if (digests[0] != digests[1])
            return fail(trial, "equal inputs", "gave two different plans");
    }
    return 0;
}

static int check_growth(void *state)
{
    const struct trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    int64_t live = 0;
    struct sim_trial_memory half = { 0, 0 };
    struct drive drive;
    const struct weir_allocator allocator = { sim_trial_resize, &live };
    weir_status status = begin(trial, 1, &allocator, &drive, &error);
    for (uint32_t i = 0; i < GROWTH_CALLS && status == WEIR_OK; i++) {
        if (i == GROWTH_CALLS / 2)
            half = sim_trial_memory(live);
        status = step(&drive, &error);
    }
    if (status != WEIR_OK)
        return fail(trial, weir_status_text(status), error.text);
    const int result = sim_trial_note_growth(trial->sheet, half, live, GROWTH_CALLS / 2);
    weir_host_destroy(drive.host);
    return result;
}

static int check_hooks(void *state)
{
    struct trial trial = *(const struct trial *)state;
    struct weir_placement_ops placement = *trial.placement;
    struct weir_scaling_ops scaling = *trial.scaling;
    uint64_t started = 0;
    if (trial.is_placement) {
        placement.evict = NULL;
        if (placement.score != NULL)
            placement.place = NULL;
    } else {
        scaling.measured = NULL;
        scaling.outcome = NULL;
        scaling.adopt = NULL;
    }
    trial.placement = &placement;
    trial.scaling = &scaling;
    return over_views(&trial, VIEWS / 10, &started);
}

static int check_sizes(void *state)
{
    const struct trial *trial = state;
    struct weir_placement_ops placement = *trial->placement;
    struct weir_scaling_ops scaling = *trial->scaling;
    const struct weir_placement_ops *const placements[] = { &placement, NULL };
    const struct weir_scaling_ops *const scalings[] = { &scaling, NULL };
    const struct weir_module module = { .size = sizeof module,
                                        .abi_major = WEIR_ABI_MAJOR,
                                        .name = "trial",
                                        .placements = trial->is_placement ? placements : NULL,
                                        .scalings = trial->is_placement ? NULL : scalings };
    return sim_trial_sizes(trial->sheet, &module,
                           trial->is_placement ? &placement.size : &scaling.size);
}

static int check_time(void *state)
{
    const struct trial *trial = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    double *times_us = calloc(TIMED_CALLS, sizeof(*times_us));
    struct drive drive;
    weir_status status = begin(trial, 1, NULL, &drive, &error);
    for (uint32_t i = 0; i < TIMED_CALLS && status == WEIR_OK && times_us != NULL; i++) {
        const double from_us = sim_trial_us();
        status = step(&drive, &error);
        times_us[i] = sim_trial_us() - from_us;
    }
    if (status != WEIR_OK || times_us == NULL) {
        free(times_us);
        return fail(trial, weir_status_text(status), error.text);
    }
    sim_trial_note_times(trial->sheet, times_us, TIMED_CALLS, "decision");
    free(times_us);
    weir_host_destroy(drive.host);
    return 0;
}

static const struct sim_trial_check checks[] = {
    { "plans fit", check_capacity },
    { "same input, same plan", check_repeats },
    { "no growth", check_growth },
    { "hooks may be missing", check_hooks },
    { "sizes are told", check_sizes },
    { "time", check_time },
    { NULL, NULL },
};

/* ---- the table ---- */

static const struct sim_column columns[] = { { "policy", "policy", NULL, false, false },
                                             { "check", "check", NULL, false, false },
                                             { "result", "result", NULL, false, false },
                                             { "note", "note", NULL, false, false } };
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static weir_status load(void *state, struct weir_error *error)
{
    struct trial *trial = state;
    WEIR_TRY(sim_placement_load(&trial->placement, error));
    return sim_scaling_load(&trial->scaling, error);
}

static size_t try_scalings(const struct sim_policies *policies, const struct sim_trial_sheet *sheet)
{
    struct trial trial = { .placement = weir_placement_find("fgd_xenna"), .sheet = sheet };
    size_t failures = 0;
    for (size_t i = weir_scaling_count(); i < policies->scalings_count; i++) {
        trial.scaling = policies->scalings[i];
        if (trial.scaling == &sim_command_scaling)
            continue; /* ours, and of no use without its program */
        failures += sim_trial_run(sheet, trial.scaling->name, checks, &trial);
    }
    return failures;
}

static size_t try_placements(const struct sim_policies *policies,
                             const struct sim_trial_sheet *sheet)
{
    struct trial trial = { .scaling = weir_scaling_find("xenna"),
                           .is_placement = true,
                           .sheet = sheet };
    size_t failures = 0;
    for (size_t i = weir_placement_count(); i < policies->placements_count; i++) {
        trial.placement = policies->placements[i];
        if (trial.placement == &sim_command_placement)
            continue;
        failures += sim_trial_run(sheet, trial.placement->name, checks, &trial);
    }
    return failures;
}

static size_t try_queueings(const struct sim_policies *policies,
                            const struct sim_trial_sheet *sheet)
{
    size_t failures = 0;
    for (size_t i = weir_queueing_count(); i < policies->queueings_count; i++)
        if (policies->queueings[i] != &sim_command_queueing)
            failures += sim_trial_queueing(sheet, policies->queueings[i]);
    return failures;
}

static size_t try_capacities(const struct sim_policies *policies,
                             const struct sim_trial_sheet *sheet)
{
    size_t failures = 0;
    for (size_t i = weir_capacity_count(); i < policies->capacities_count; i++)
        failures += sim_trial_capacity(sheet, policies->capacities[i]);
    return failures;
}

int sim_policies_check(const char *path, enum sim_format format)
{
    struct sim_policies policies = { 0 };
    const int code = sim_plugins_load(&(struct sim_words){ &path, 1 }, false, &policies);
    if (code != SIM_EXIT_OK)
        return code;
    char *note =
        mmap(NULL, SIM_TRIAL_NOTE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (note == MAP_FAILED) {
        (void)fprintf(stderr,
                      "weir: out of memory: no page to share with the process of a policy\n");
        sim_plugins_clear(&policies);
        return SIM_EXIT_RESOURCE;
    }
    const struct sim_trial_sheet sheet = { .table = sim_table_create(columns, COLUMNS),
                                           .note = note,
                                           .load = load };
    const size_t failures = try_scalings(&policies, &sheet) + try_placements(&policies, &sheet) +
                            try_queueings(&policies, &sheet) + try_capacities(&policies, &sheet);
    sim_table_print(sheet.table, format, stdout);
    sim_table_destroy(sheet.table);
    (void)munmap(note, SIM_TRIAL_NOTE);
    sim_plugins_clear(&policies);
    return failures > 0 ? SIM_EXIT_POLICY : SIM_EXIT_OK;
}
