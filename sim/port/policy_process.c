/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting, judging and ending it (see policy_process.h). */
#include "sim/port/policy_process.h"

enum { LAST_WAIT_MS = 1000 };

static bool is_over(const void *state)
{
    return sim_sandbox_is_over(state);
}

weir_status sim_policy_process_start(struct sim_policy_process *process,
                                     const struct sim_policy_work *work, struct weir_error *error)
{
    *process = (struct sim_policy_process){ .sandbox = { .life = -1, .output = -1 } };
    if (sim_line_open(&process->line) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    process->line.timeout_s = work->timeout_s;
    const struct sim_sandbox_task task = { .main = work->main,
                                           .state = work->state,
                                           .kept = { -1, -1 },
                                           .pages = { process->line.page },
                                           .is_module = true,
                                           .memory_mib = work->memory_mib,
                                           .cpu_s = work->cpu_s,
                                           .files = work->files };
    const weir_status status = sim_sandbox_start(&task, &process->sandbox, error);
    if (status != WEIR_OK)
        sim_line_close(&process->line);
    process->line.is_over = is_over;
    process->line.state = &process->sandbox;
    process->line.peer = status == WEIR_OK ? sim_sandbox_code(&process->sandbox) : 0;
    return status;
}

bool sim_policy_is_status(int32_t status)
{
#define IS_ONE(name, value, text) || status == (value)
    return false WEIR_STATUSES(IS_ONE);
#undef IS_ONE
}

static void clean(char *text, size_t size)
{
    text[size - 1] = '\0';
    for (char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
}

weir_status sim_policy_process_failure(struct sim_policy_process *process, weir_status status,
                                       struct weir_error *error, bool *is_heard)
{
    struct weir_error said;
    *is_heard = sim_line_get(&process->line, &said, sizeof said) == WEIR_OK;
    if (!*is_heard)
        return WEIR_EPOLICY;
    clean(said.text, sizeof said.text);
    (void)weir_fail(error, status, "%s", said.text);
    if (error != NULL) {
        error->phase = said.phase;
        error->pool = said.pool;
    }
    return status;
}

void sim_policy_process_turn(struct sim_policy_process *process)
{
    process->line.side = SIM_LINE_POLICY;
    process->line.is_over = NULL;
    process->line.peer = 0;
    process->line.timeout_s = 0;
}

weir_status sim_policy_process_lost(struct sim_policy_process *process, struct weir_error *error)
{
    const bool was_over = sim_sandbox_is_over(&process->sandbox);
    char text[SIM_SANDBOX_TEXT];
    if (process->line.page == NULL)
        return weir_fail(error, WEIR_EPOLICY, "its process has ended");
    const int state = sim_sandbox_stop(&process->sandbox, 0);
    sim_line_close(&process->line);
    if (was_over) {
        sim_sandbox_sentence(state, text);
        return weir_fail(error, WEIR_EPOLICY, "%s", text);
    }
    if (process->line.is_late)
        return weir_fail(error, WEIR_EPOLICY,
                         "it gave no answer within %u s (--policy-timeout), and was ended",
                         process->line.timeout_s);
    return weir_fail(error, WEIR_EPOLICY, "its process said what makes no sense, and was ended");
}

void sim_policy_process_stop(struct sim_policy_process *process)
{
    if (process->line.page != NULL) /* a page of nothing is the end */
        sim_line_end(&process->line);
    if (process->sandbox.keeper != 0)
        (void)sim_sandbox_stop(&process->sandbox, LAST_WAIT_MS);
    sim_line_close(&process->line);
}
