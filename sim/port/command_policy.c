/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the policies `command` share, and the one for scaling; see the header. */
#include "sim/port/command_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One kind's program. */
struct scaler {
    const struct sim_commands *commands;
    struct sim_command *command;
};

/* ---- setup ---- */

static void *resize(void *state, void *block, size_t size)
{
    (void)state; /* carries the setups, see the header */
    if (size > 0)
        return realloc(block, size);
    free(block);
    return NULL;
}

struct weir_allocator sim_command_allocator(struct sim_commands *commands)
{
    return (struct weir_allocator){ .resize = resize, .state = commands };
}

struct sim_commands *sim_commands_of(const struct weir_allocator *allocator)
{
    return allocator->resize == resize ? allocator->state : NULL;
}

void sim_commands_clear(struct sim_commands *commands)
{
    free(commands->question);
    commands->question = NULL;
    commands->question_length = 0;
}

weir_status sim_commands_name(const struct sim_commands *commands, weir_status status,
                              struct weir_error *error)
{
    const struct sim_command_setup *named = NULL;
    char text[SIM_COMMAND_TEXT];
    for (size_t i = 0; i < SIM_COMMAND_KINDS; i++)
        if (commands->of[i].argv != NULL && (named == NULL || commands->of[i].is_blamed))
            named = &commands->of[i];
    if (status != WEIR_EPOLICY || named == NULL)
        return status;
    sim_command_text(named, text);
    weir_error_wrap(error, "%s", text);
    return status;
}

/* Line breaks of the document are between its values only: texts have theirs escaped. */
static void flatten(char *text)
{
    char *kept = text;
    for (; *text != '\0'; text++)
        if (*text != '\n')
            *kept++ = *text;
    *kept = '\0';
}

weir_status sim_commands_prepare(struct sim_commands *commands, const char *text, const char *word)
{
    static const char usual[] = "\"autoscale\""; /* the first value of the document */
    const char *value = strstr(text, usual);
    sim_commands_clear(commands);
    if (value == NULL)
        return WEIR_EINVARIANT;
    if (asprintf(&commands->question, "%.*s\"%s\"%s", (int)(value - text), text, word,
                 value + sizeof usual - 1) < 0) {
        commands->question = NULL;
        return WEIR_ENOMEM;
    }
    flatten(commands->question);
    commands->question_length = strlen(commands->question);
    commands->question[commands->question_length++] = '\n'; /* the document had one at its end */
    return WEIR_OK;
}

/* ---- the policy for scaling ---- */

/* The question was made before the host began to plan. */
static weir_status ask(struct scaler *scaler, struct sim_command_line *answer,
                       struct weir_error *error)
{
    const struct sim_commands *commands = scaler->commands;
    return sim_command_ask(
        scaler->command, (struct sim_command_line){ commands->question, commands->question_length },
        answer, error);
}

static void destroy(void *state)
{
    struct scaler *scaler = state;
    sim_command_end(scaler->command);
    free(scaler);
}

static weir_status create(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    struct sim_commands *commands = sim_commands_of(allocator);
    struct sim_command *command = NULL;
    WEIR_TRY(sim_command_start(commands == NULL ? NULL : &commands->of[SIM_COMMAND_SCALING],
                               params->values[0], &command, error));
    struct scaler *scaler = calloc(1, sizeof *scaler);
    if (scaler == NULL) {
        sim_command_end(command);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    *scaler = (struct scaler){ commands, command };
    *state = scaler;
    return WEIR_OK;
}

static weir_status decide(void *state, const struct weir_view *view, struct weir_placer *placer,
                          struct weir_plan *plan, struct weir_error *error)
{
    struct sim_command_line answer;
    (void)placer; /* the program chooses the places too */
    WEIR_TRY(ask(state, &answer, error));
    const weir_status status = sim_command_plan(answer.text, answer.length, view, plan, error);
    if (status == WEIR_EPOLICY)
        sim_command_blame(((struct scaler *)state)->command);
    return status;
}

static weir_status adopt(void *state, const struct weir_view *view, struct weir_error *error)
{
    struct sim_command_line answer;
    (void)view; /* it is in the question */
    WEIR_TRY(ask(state, &answer, error));
    return sim_command_accepted(answer.text, answer.length, error);
}

const struct weir_param sim_command_params[2] = {
    { .name = "timeout",
      .unit = "s",
      .kind = WEIR_PARAM_DURATION,
      .min = 1e-3,
      .max = 3600,
      .initial = 5,
      .help = "time the program has for an answer" },
    { .name = "passes",
      .unit = "",
      .kind = WEIR_PARAM_FLAG,
      .min = 0,
      .max = 1,
      .help = "jobs that fit may pass those that do not" },
};

const struct weir_scaling_ops sim_command_scaling = {
    .size = sizeof(struct weir_scaling_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "command",
    .summary = "a program in any language (argv), one line of JSON a decision",
    .params = sim_command_params,
    .param_count = 1,
    .create = create,
    .destroy = destroy,
    .decide = decide,
    .adopt = adopt,
};
