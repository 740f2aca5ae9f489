/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of policies as calls in processes of their own; see the header. */
#include "sim/cli/look/policies_trial.h"

#include "sim/cli/isolate.h"
#include "sim/engine/digest.h"

#include <malloc.h>
#include <stdlib.h>
#include <time.h>

enum { CHECK_TIMEOUT_S = 20, COLUMNS = 4 };

int sim_trial_fail(const struct sim_trial_sheet *sheet, const char *what, const char *text)
{
    (void)snprintf(sheet->note, SIM_TRIAL_NOTE, "%s: %s", what, text);
    return 1;
}

struct attempt {
    const struct sim_trial_sheet *sheet;
    const struct sim_trial_check *check;
    void *trial;
};

/* The policy itself takes the place of its stand-in first. */
static int attempt_main(void *state)
{
    const struct attempt *attempt = state;
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (attempt->sheet->load(attempt->trial, &error) != WEIR_OK)
        return sim_trial_fail(attempt->sheet, "it cannot be loaded", error.text);
    return attempt->check->call(attempt->trial);
}

size_t sim_trial_run(const struct sim_trial_sheet *sheet, const char *policy,
                     const struct sim_trial_check *checks, void *trial)
{
    size_t failures = 0;
    for (size_t i = 0; checks[i].name != NULL; i++) {
        char message[SIM_SANDBOX_TEXT] = "";
        sheet->note[0] = '\0';
        struct attempt attempt = { sheet, &checks[i], trial };
        const struct sim_isolated_call call = { .call = attempt_main,
                                                .state = &attempt,
                                                .page = sheet->note,
                                                .timeout_s = CHECK_TIMEOUT_S };
        const int result = sim_isolate_module(&call, message);
        const char *const cells[COLUMNS] = { policy, checks[i].name, result == 0 ? "ok" : "FAILED",
                                             result < 0 ? message : sheet->note };
        sim_table_row(sheet->table, cells);
        failures += result != 0 ? 1 : 0;
        if (result < 0)
            break; /* who crashes once has said enough */
    }
    return failures;
}

/* By block: the size stands in front of it. */
void *sim_trial_resize(void *state, void *block, size_t size)
{
    int64_t *live = state;
    size_t *head = block == NULL ? NULL : (size_t *)block - 2;
    *live -= head == NULL ? 0 : (int64_t)head[0];
    if (size == 0) {
        free(head);
        return NULL;
    }
    size_t *grown = realloc(head, size + 2 * sizeof(size_t));
    if (grown == NULL) {
        *live += head == NULL ? 0 : (int64_t)head[0];
        return NULL;
    }
    grown[0] = size;
    *live += (int64_t)size;
    return grown + 2;
}

uint64_t sim_trial_digest(uint64_t digest, const struct weir_action *action)
{
    digest = sim_digest_word(digest, (uint64_t)action->verb << 32 | action->owner.index);
    digest = sim_digest_word(digest, action->owner.id);
    digest = sim_digest_word(digest, action->worker);
    digest = sim_digest_word(digest, (uint64_t)action->value);
    if (action->verb != WEIR_VERB_START)
        return digest;
    digest = sim_digest_word(digest, action->alloc.node);
    for (uint32_t i = 0; i < action->alloc.device_count; i++)
        digest = sim_digest_word(digest, action->alloc.devices[i].gpu);
    return digest;
}

struct sim_trial_memory sim_trial_memory(int64_t live)
{
    return (struct sim_trial_memory){ live, (int64_t)mallinfo2().uordblks };
}

int sim_trial_note_growth(const struct sim_trial_sheet *sheet, struct sim_trial_memory before,
                          int64_t live, int calls)
{
    const struct sim_trial_memory now = sim_trial_memory(live);
    const int64_t growth[2] = { now.own - before.own, now.process - before.process };
    (void)snprintf(sheet->note, SIM_TRIAL_NOTE,
                   "%lld bytes of its allocator and %lld of the process in the last %d calls",
                   (long long)growth[0], (long long)growth[1], calls);
    return growth[0] > calls || growth[1] > calls ? 1 : 0;
}

int sim_trial_sizes(const struct sim_trial_sheet *sheet, const struct weir_module *module,
                    uint32_t *size)
{
    static const uint32_t sizes[] = { 0, 4, UINT32_MAX };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        *size = sizes[i];
        const bool is_taken = weir_module_check(module, NULL) == WEIR_OK;
        if (is_taken != (sizes[i] == UINT32_MAX))
            return sim_trial_fail(sheet, "a table of a wrong size",
                                  is_taken ? "was taken" : "was refused");
    }
    return 0;
}

double sim_trial_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare_doubles(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;
    return (*left > *right) - (*left < *right);
}

void sim_trial_note_times(const struct sim_trial_sheet *sheet, double *times_us, size_t count,
                          const char *what)
{
    qsort(times_us, count, sizeof *times_us, compare_doubles);
    (void)snprintf(sheet->note, SIM_TRIAL_NOTE, "p50 %.3g us, p99 %.3g us a %s",
                   times_us[count / 2], times_us[count * 99 / 100], what);
}
