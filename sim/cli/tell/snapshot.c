/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir snapshot: the state of a stored run at one moment, as the `initial` mapping of a scenario or
 * as what its scheduler knows.
 *
 * Nothing of this is stored: the run is repeated up to that moment. In the mapping workers in
 * set-up count as ready, work in hand waits again in front of its stage, and what has left a stage
 * waits in front of the next one; a scenario begins without jobs. What the scheduler knows, jobs
 * included, is the document of weir decide.
 */
#include "sim/cli/tell/snapshot.h"

#include "sim/cli/commands.h"
#include "sim/cli/experiment/stored_run.h"
#include "sim/cli/plugin.h"
#include "sim/pipeline/pipeline.h"
#include "sim/scenario/read/yaml.h"
#include "sim/world/world.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    struct sim_options common;
    struct sim_run_choice choice;
    const char *database;
    struct an_moment at;
    uint32_t format; /* yaml, json */
};

static void check(const void *given, const struct argp_state *state)
{
    const struct arguments *arguments = given;
    if (arguments->at.kind == AN_MOMENT_NONE)
        argp_error(state, "--at is missing: the moment to take");
}

static const struct sim_option command_rows[] = {
    { "at", 't', "TIME", SIM_OPTION(MOMENT, arguments, at),
      "Simulated time: 90, 15m, 1h30m since the start, 14:05 of the day, a stamp" },
    { "format", 'f', "FORMAT", SIM_OPTION(CHOICE, arguments, format),
      "yaml: the `initial` mapping of a scenario; json: all that the scheduler knows, jobs "
      "included, as weir decide reads it (default: yaml)",
      SIM_OPTION_WORDS_OF("yaml", "json") },
    { .argument = "DB",
      SIM_OPTION(TEXT, arguments, database),
      .missing = "which database?",
      .one = "one database at a time" },
    { SIM_OPTION(OTHERS, arguments, choice), .others = &sim_run_choice_options },
    { SIM_OPTION(OTHERS, arguments, common), .others = &sim_options_plugin },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .check = check,
    .usage = "DB",
    .help = "Write the state of a stored run at one moment as the `initial` mapping of a scenario "
            "(workers by stage and node, queues, estimates), or what its scheduler knows.\v"
            "Append it to the scenario and set input.items to what the comments say to go on from "
            "there. Exit codes: 0, 2 no such run or moment, 3 database, 4 module.",
};

/* ---- writing ---- */

/* "pipeline.stage", quoted where it must be. */
static void put_stage(const struct sim_stage_run *stage, FILE *out)
{
    char *name = NULL;
    if (asprintf(&name, "%s.%s", stage->pipeline->spec->name, stage->spec->name) < 0)
        abort();
    sim_yaml_write_scalar(name, out);
    free(name);
}

/* Whole GPUs before parts of them, so that first fit finds room for all. */
static int compare_size(const void *left, const void *right)
{
    const struct sim_stage_run *const *a = left;
    const struct sim_stage_run *const *b = right;
    const struct weir_shape *x = &(*a)->spec->shape;
    const struct weir_shape *y = &(*b)->spec->shape;
    const int64_t first = x->gpu_count * x->gpu_units;
    const int64_t second = y->gpu_count * y->gpu_units;
    if (first != second)
        return first > second ? -1 : 1;
    return ((*a)->index > (*b)->index) - ((*a)->index < (*b)->index);
}

static uint32_t count_on(const struct sim_stage_run *stage, uint32_t node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < stage->positions; i++)
        count += stage->hands[i] != NULL && stage->hands[i]->worker->node == node;
    return count;
}

static const struct sim_stage_run *stage_at(const struct sim_world *world, uint32_t index)
{
    return sim_pipeline_stage(world->drivers, world->driver_count, index);
}

static void put_workers(const struct sim_world *world, FILE *out)
{
    const uint32_t stages = (uint32_t)world->scenario->stages_total;
    const uint32_t nodes = sim_scenario_node_count(world->scenario);
    const struct sim_stage_run **order =
        calloc((size_t)stages + 1, sizeof(const struct sim_stage_run *));
    if (order == NULL)
        abort();
    for (uint32_t s = 0; s < stages; s++)
        order[s] = stage_at(world, s);
    qsort(order, stages, sizeof(const struct sim_stage_run *), compare_size);
    fputs(sim_workers_alive(world->workers) == 0 ? "  workers: []\n" : "  workers:\n", out);
    for (uint32_t s = 0; s < stages; s++) {
        for (uint32_t n = 0; n < nodes; n++) {
            char node[128];
            const uint32_t count = count_on(order[s], n);
            if (count == 0)
                continue;
            sim_scenario_node_name(world->scenario, n, node, sizeof node);
            fputs("    - stage: ", out);
            put_stage(order[s], out);
            fputs("\n      node: ", out);
            sim_yaml_write_scalar(node, out);
            (void)fprintf(out, "\n      count: %u\n", count);
        }
    }
    free(order);
}

static uint64_t blocked_items(const struct sim_stage_run *stage)
{
    uint64_t items = stage->loop.outbox.count;
    for (uint32_t i = 0; i < stage->positions; i++)
        if (stage->hands[i] != NULL && stage->hands[i]->worker->state == SIM_WORKER_BLOCKED)
            items += stage->hands[i]->task_count;
    return items;
}

static uint64_t waiting_items(const struct sim_stage_run *stage)
{
    uint64_t items = stage->queue.count + stage->loop.pool.count;
    for (uint32_t i = 0; i < stage->positions; i++) {
        const struct sim_hand *hand = stage->hands[i];
        if (hand != NULL && hand->worker->state != SIM_WORKER_BLOCKED)
            items += hand->task_count + hand->held.count;
    }
    return stage->position == 0 ? items : items + blocked_items(stage - 1);
}

static void put_queues(const struct sim_world *world, FILE *out)
{
    fputs("  queues:\n", out);
    for (uint32_t s = 0; s < world->scenario->stages_total; s++) {
        fputs("    ", out);
        put_stage(stage_at(world, s), out);
        (void)fprintf(out, ": %" PRIu64 "\n", waiting_items(stage_at(world, s)));
    }
}

static void put_estimates(const struct sim_world *world, FILE *out)
{
    bool has_any = false;
    for (uint32_t s = 0; s < world->scenario->stages_total; s++) {
        const struct weir_estimate estimate = sim_port_estimate(world->port, s);
        if (isnan(estimate.batches_per_s))
            continue;
        fputs(has_any ? "    " : "  estimates:\n    ", out);
        has_any = true;
        put_stage(stage_at(world, s), out);
        (void)fprintf(out, ": {speed: %.9g", estimate.batches_per_s);
        if (!isnan(estimate.returns_per_batch))
            (void)fprintf(out, ", returns: %.9g", estimate.returns_per_batch);
        fputs("}\n", out);
    }
}

static void put_all(const struct sim_world *world, const struct sim_stored_run *run, double at_s,
                    FILE *out)
{
    (void)fprintf(out, "# %s at %.9g s: variant %s, replication %u, seed %" PRIu64 "\n",
                  world->scenario->name, at_s, run->variant, run->replication, run->seed);
    for (size_t p = 0; p < world->scenario->pipelines_count; p++)
        if (world->scenario->pipelines[p].input.items != 0)
            (void)fprintf(out, "# pipelines.%s.input.items: %" PRIu64 " are still to come\n",
                          world->scenario->pipelines[p].name,
                          stage_at(world, (uint32_t)world->scenario->pipelines[p].stage_first)
                              ->pipeline->source_left);
    if (world->scenario->workloads_count > 0)
        fputs("# jobs are left out: a scenario begins without any; --format json has them\n", out);
    fputs("initial:\n", out);
    put_workers(world, out);
    put_queues(world, out);
    put_estimates(world, out);
}

/* ---- repeating ---- */

static weir_status take(const struct sim_scenario *scenario, const struct sim_stored_run *run,
                        const struct sim_snapshot *asked, struct weir_error *error)
{
    double at_s = 0;
    assert(scenario != NULL);
    WEIR_TRY(an_moment_in(&asked->at, scenario->start_unix_s, (double)INFINITY, &at_s, error));
    const struct sim_run_options options = { .seed = run->seed,
                                             .replication = run->replication,
                                             .variant = run->variant,
                                             .export_at_s = (double)NAN };
    const int64_t at_ns = llround(at_s * 1e9);
    struct sim_world *world = NULL;
    WEIR_TRY(sim_world_create(scenario, &options, &world, error));
    weir_status status = sim_world_begin(world);
    if (status == WEIR_OK)
        status = sim_world_advance(world, at_ns);
    if (status == WEIR_OK &&
        (sim_world_is_done(world) || sim_engine_now(world->context.engine) < at_ns))
        status = weir_fail(error, WEIR_ENOTFOUND, "the run is over at %.9g s; it ended at %.9g s",
                           at_s, (double)sim_world_end_ns(world) / 1e9);
    if (status == WEIR_OK && asked->is_document)
        status = sim_port_export(world->port, asked->out);
    else if (status == WEIR_OK)
        put_all(world, run, at_s, asked->out);
    sim_world_destroy(world);
    return status;
}

int sim_snapshot(const struct sim_snapshot *asked)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_policies policies = { 0 };
    struct sim_stored stored = { 0 };
    struct sim_scenario *scenario = NULL;
    const char *variant = asked->choice.variant == NULL ? "" : asked->choice.variant;
    weir_status status =
        sim_stored_open(asked->database, variant, asked->choice.replication, &stored, &error);
    int code = SIM_EXIT_OK;
    if (status == WEIR_OK)
        code = sim_stored_policies(&stored, asked->options, &policies);
    if (status == WEIR_OK && code == SIM_EXIT_OK)
        status = sim_stored_scenario(&stored, &stored.runs[0], &policies, &scenario, &error);
    if (status == WEIR_OK && code == SIM_EXIT_OK)
        status = take(scenario, &stored.runs[0], asked, &error);
    sim_scenario_destroy(scenario);
    sim_plugins_clear(&policies);
    sim_stored_clear(&stored);
    if (code == SIM_EXIT_OK && status == WEIR_EPOLICY)
        (void)fprintf(stderr, "weir: %s\n", error.text);
    return code != SIM_EXIT_OK      ? code
           : status == WEIR_EPOLICY ? SIM_EXIT_POLICY
                                    : sim_analysis_exit(status, &error);
}

int sim_cmd_snapshot(int argc, char **argv)
{
    struct arguments arguments = { .format = 0 };
    sim_options_parse(&command_options, argc, argv, &arguments);
    const struct sim_snapshot asked = { .database = arguments.database,
                                        .choice = arguments.choice,
                                        .at = arguments.at,
                                        .is_document = arguments.format == 1,
                                        .options = &arguments.common,
                                        .out = stdout };
    const int code = sim_snapshot(&asked);
    sim_options_clear(&arguments.common);
    return code;
}
