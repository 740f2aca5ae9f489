/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The placement policy `command`: the program names the node for each worker, out of those where
 * one fits; which GPUs there is libweir's first choice. Where nothing fits it is not asked.
 *
 * Nodes are as planned so far: workers of a gang see those before them.
 */
#include "sim/port/command_policy.h"
#include "sim/port/command_state.h"

#include <inttypes.h>
#include <stdlib.h>

struct placer {
    struct sim_command *command;
    struct sim_told_nodes told;
    struct weir_chooser *first; /* says why nothing fits */
    bool has_begun;
};

static void destroy(void *state)
{
    struct placer *placer = state;
    sim_command_end(placer->command);
    weir_chooser_destroy(placer->first);
    sim_told_nodes_clear(&placer->told);
    free(placer);
}

static weir_status create(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    struct sim_commands *commands = sim_commands_of(allocator);
    struct placer *placer = calloc(1, sizeof *placer);
    if (placer == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status =
        sim_command_start(commands == NULL ? NULL : &commands->of[SIM_COMMAND_PLACEMENT],
                          params->values[0], &placer->command, error);
    if (status == WEIR_OK)
        status = weir_chooser_create(weir_placement_find("first_fit"), NULL, allocator,
                                     &placer->first, error);
    if (status != WEIR_OK)
        destroy(placer);
    else
        *state = placer;
    return status;
}

/* Nodes where a worker fits now, in order. */
static void write_fits(const struct weir_place_query *query, FILE *out)
{
    const uint32_t count = weir_cluster_node_count(query->cluster);
    const char *between = "";
    struct weir_alloc alloc;
    (void)fputs("\"fits\": [", out);
    for (uint32_t i = 0; i < count; i++) {
        if (weir_place_first(query->cluster, i, query->shape, &alloc) != WEIR_OK)
            continue;
        (void)fprintf(out, "%s\"%" PRIu64 "\"", between, weir_cluster_node(query->cluster, i)->id);
        between = ", ";
    }
    (void)fputs("]}\n", out);
}

struct question {
    struct placer *placer;
    const struct weir_place_query *query;
};

static weir_status write_question(void *state, FILE *out)
{
    const struct question *question = state;
    const struct weir_place_query *query = question->query;
    struct placer *placer = question->placer;
    (void)fputs(placer->has_begun ? "{" : "{\"format\": \"weir-placement\", \"version\": 1, ", out);
    placer->has_begun = true;
    WEIR_TRY(sim_told_nodes_write(&placer->told, query->cluster, out));
    (void)fputs(", \"of\": ", out);
    if (query->owner.kind == WEIR_OWNER_JOB)
        (void)fprintf(out, "{\"job\": \"%u/%" PRIu64 "\"}, ", query->owner.index, query->owner.id);
    else
        (void)fprintf(out, "{\"stage_index\": %u}, ", query->owner.index);
    sim_told_shape_write(query->shape, out);
    (void)fputs(", ", out);
    write_fits(query, out);
    return WEIR_OK;
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    struct placer *placer = state;
    struct sim_command_line line = { NULL, 0 };
    struct question question = { placer, query };
    bool is_refused = false;
    /* Fills in the counts of the choice too. */
    WEIR_TRY(weir_chooser_place(placer->first, query, answer, error));
    WEIR_TRY(sim_command_ask_written(placer->command, write_question, &question, &line, error));
    const weir_status status = sim_command_place(line, query, &answer->alloc, &is_refused, error);
    answer->reused = WEIR_NO_INDEX;
    if (status == WEIR_EPOLICY)
        sim_command_blame(placer->command);
    if (status == WEIR_OK && is_refused)
        return weir_fail(error, WEIR_EBUSY, "its program takes none of the places");
    return status;
}

const struct weir_placement_ops sim_command_placement = {
    .size = sizeof(struct weir_placement_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "command",
    .summary = "a program in any language (argv), one line of JSON a worker: the node",
    .params = sim_command_params,
    .param_count = 1,
    .flags = WEIR_PLACEMENT_WITHOUT_MIX,
    .create = create,
    .destroy = destroy,
    .place = place,
};
