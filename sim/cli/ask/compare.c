/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `weir compare`: runs the variants of a scenario under common random numbers and compares them, or
 * compares those of a database without running anything.
 */
#include "analysis/analysis.h"
#include "analysis/metrics.h"
#include "sim/cli/ask/compare_points.h"
#include "sim/cli/ask/compare_pool.h"
#include "sim/cli/ask/compare_print.h"
#include "sim/cli/ask/compare_two.h"
#include "sim/cli/ask/gate.h"
#include "sim/cli/ask/observed.h"
#include "sim/cli/ask/tornado.h"
#include "sim/cli/ask/windows_given.h"
#include "sim/cli/ask/windows_print.h"
#include "sim/cli/commands.h"
#include "sim/cli/experiment/adaptive.h"
#include "sim/cli/experiment/axis_option.h"
#include "sim/cli/experiment/simulate_options.h"
#include "sim/cli/experiment/slurm.h"
#include "sim/cli/experiment/suite_file.h"
#include "sim/cli/load.h"
#include "sim/cli/option_value.h"
#include "sim/cli/plugin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    struct sim_simulate_options simulate;
    const char *baseline;
    struct sim_windows_given windows;
    struct sim_words metrics, files, axes, vary, fail_if;
    uint32_t design, points; /* enum sim_design */
    const char *ci_rel, *min_effect, *shard, *engine;
    uint32_t parts;
    uint32_t most;
    struct sim_gate gate;
    const char *observed;
    bool pool;
    const char *block;
};

static const struct sim_option command_rows[] = {
    { "baseline", 0, "LABEL", SIM_OPTION(TEXT, options, baseline),
      "Variant the others are compared with" },
    { "metric", 0, "ID", SIM_OPTION(WORDS, options, metrics),
      "Metric to compare instead of the default set; may be repeated" },
    { "axis", 0, "PATH=VALUES", SIM_OPTION(WORDS, options, axes),
      "Compare at every value: a,b,c or from..to:step; may be repeated (all combinations); of "
      "policies: which to compare",
      .of = SIM_FILE_SCENARIO },
    { "vary", 0, "PATH=+-20%", SIM_OPTION(WORDS, options, vary),
      "Change one value at a time, so much up and down (or PATH=low,high), and say which moves the "
      "goal most; may be repeated",
      .of = SIM_FILE_SCENARIO },
    { "design", 0, "NAME", SIM_OPTION(CHOICE, options, design),
      "Which combinations of the axes are points: grid = all, list = the k-th value of each, lhs = "
      "a Latin hypercube (of a range without a step any number that may stand there)",
      SIM_OPTION_WORDS_OF("grid", "list", "lhs"), .of = SIM_FILE_SCENARIO },
    { "points", 0, "N", SIM_OPTION(COUNT, options, points), "With --design lhs: so many points",
      .min = 2, .max = SIM_AXIS_VALUES, .of = SIM_FILE_SCENARIO },
    { "ci-rel", 0, "PERCENT", SIM_OPTION(TEXT, options, ci_rel),
      "With -n auto: replications until the interval of the goal is within so much of its mean "
      "(default: 5%)",
      .of = SIM_FILE_SCENARIO },
    { "most", 0, "N", SIM_OPTION(COUNT, options, most),
      "With -n auto: at most so many replications (default: 100)", .min = 2, .max = 100000,
      .of = SIM_FILE_SCENARIO },
    { "pool", 0, NULL, SIM_OPTION(FLAG, options, pool),
      "Points are blocks (traces, scenarios): what they say together about every pair of "
      "variants" },
    { "block", 0, "PATH", SIM_OPTION(TEXT, options, block),
      "With --pool: points with the same value of this axis are one block" },
    { "fail-if", 0, "CONDITION", SIM_OPTION(WORDS, options, fail_if),
      "Exit with 1 when it holds, or may: 'throughput < -2%' (change against the baseline), "
      "'latency p95 > 30 min'; may be repeated" },
    { "min-effect", 0, "PERCENT", SIM_OPTION(TEXT, options, min_effect),
      "With --fail-if and --pool: smaller changes count as none" },
    { "shard", 0, "I/N", SIM_OPTION(TEXT, options, shard),
      "Make the I-th of N parts of the runs alone; weir merge puts them together",
      .of = SIM_FILE_SCENARIO },
    { "engine", 0, "NAME", SIM_OPTION(TEXT, options, engine),
      "Where runs are made: here, or slurm = as an array of jobs and a merge behind it",
      .of = SIM_FILE_SCENARIO },
    { "parts", 0, "N", SIM_OPTION(COUNT, options, parts),
      "With --engine slurm: jobs of the array (default: 8)", .min = 1, .max = 1000,
      .belongs_to = "engine" },
    { "dry-run", 0, NULL, SIM_OPTION(FLAG, options, simulate.dry_run),
      "Say what would be run, and run nothing", .of = SIM_FILE_SCENARIO },
    { "observed", 0, "FILE.csv", SIM_OPTION(TEXT, options, observed),
      "Measured curves (time, metric, stage, value): how far each variant is from them" },
    { .argument = "SCENARIO|DB",
      SIM_OPTION(WORDS, options, files),
      .missing = "which scenario or database? `weir new jobs my.yaml` writes one to start from" },
    { SIM_OPTION(OTHERS, options, windows), .others = &sim_windows_given_options },
    { SIM_OPTION(OTHERS, options, simulate), .others = &sim_simulate_table },
};
/* Ids have a dot, and there are more than the table names; words are labels of the table. */
static void check_metrics(const struct options *options, const struct argp_state *state)
{
    for (size_t i = 0; i < options->metrics.count; i++) {
        const char *word = options->metrics.items[i];
        const char *unit = NULL;
        const char *near = NULL;
        if (strpbrk(word, ".:@") == NULL &&
            an_metric_find(sim_cli_metric(word, &unit, &near)) == NULL)
            argp_error(state, "--metric: there is no '%s'%s%s%s (weir list metrics)", word,
                       near == NULL ? "" : "; did you mean '", near == NULL ? "" : near,
                       near == NULL ? "" : "'?");
    }
}

/* Of two files a scenario is what something can be set of. */
static uint32_t kind_of(const void *arguments)
{
    const struct options *options = arguments;
    uint32_t kind = SIM_FILE_DATABASE;
    for (size_t i = 0; i < options->files.count && kind == SIM_FILE_DATABASE; i++)
        kind = sim_file_kind(options->files.items[i]);
    return kind;
}

static void check_files(const void *arguments, const struct argp_state *state)
{
    const struct options *options = arguments;
    check_metrics(options, state);
    if (options->simulate.no_database)
        argp_error(state, "a comparison needs its database; drop --no-db");
    if (options->files.count > 2)
        argp_error(state, "one file with variants, or two files; found '%s' too",
                   options->files.items[2]);
    if (options->files.count == 2 && options->simulate.variants.count > 0)
        argp_error(state, "--variant is of one scenario, and there are two files");
    if (options->files.count == 2 && sim_windows_is_given(&options->windows))
        argp_error(state, "--from and --to are of one file, and there are two");
    if (options->files.count == 2 && options->axes.count > 0)
        argp_error(state, "--axis is of one scenario, and there are two files");
    if (options->vary.count > 0 &&
        (options->axes.count > 0 || options->simulate.variants.count > 0))
        argp_error(state, "--vary changes one value at a time: there is no --axis and no --variant "
                          "beside it");
    if (options->vary.count > 0 && (options->files.count == 2 || options->pool))
        argp_error(state, "--vary is of one scenario, at one point");
    if ((options->points > 0) != (options->design == SIM_DESIGN_LHS))
        argp_error(state, "--design lhs and --points N belong together");
    if (options->simulate.output != NULL && options->files.count == 1 &&
        kind_of(options) == SIM_FILE_DATABASE)
        argp_error(state, "--output is of what is run: %s is compared where it lies",
                   options->files.items[0]);
    if (options->simulate.variants.count > 0 && kind_of(options) == SIM_FILE_DATABASE)
        argp_error(state, "--variant says what to run, and %s holds what was run",
                   options->files.items[0]);
}

static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .shown = "output replications set variant format resume force plugin axis vary metric fail-if",
    .usage = "SCENARIO|DB [SCENARIO|DB]",
    .kind_of = kind_of,
    .check = check_files,
    .help =
        "Compare the variants of a scenario (its compare: block), or those of a database; or two "
        "files, each a scenario or a database, stage by stage.\v"
        "Replication r of every variant draws the same numbers, so differences are paired: mean "
        "difference with its 95 % interval over replications, Holm over the variants. A variant "
        "of which a run ended early is not ranked; without an expectation that says so (expect: "
        "run.ended_early) the exit code is 1.",
};

static int exit_code(const struct an_comparison *comparison)
{
    bool is_unexpected = false;
    for (size_t v = 0; v < comparison->variant_count; v++)
        is_unexpected = is_unexpected || comparison->early[v].is_unexpected;
    return is_unexpected ? SIM_EXIT_CHECK : SIM_EXIT_OK;
}

/* How far the first replication of every variant is from every curve. */
static weir_status judge_all(const char *path, struct an_db *db,
                             const struct an_comparison *comparison, struct an_observed **observed,
                             struct sim_compare_more *more, struct weir_error *error)
{
    *observed = calloc(1, sizeof **observed);
    if (*observed == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(sim_observed_of(db, path, *observed, error));
    more->errors = calloc(comparison->variant_count * (*observed)->count, sizeof *more->errors);
    if (more->errors == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t v = 0; v < comparison->variant_count; v++) {
        struct an_run *run = NULL;
        WEIR_TRY(an_run_find(db, comparison->variants[v], 0, &run, error));
        weir_status status = WEIR_OK;
        for (size_t i = 0; i < (*observed)->count && status == WEIR_OK; i++) {
            struct sim_compare_error *one = &more->errors[more->error_count++];
            one->variant = comparison->variants[v];
            status = an_observed_judge(db, run, &(*observed)->curves[i], &one->judged, error);
        }
        an_run_destroy(run);
        WEIR_TRY(status);
    }
    return WEIR_OK;
}

/* Why, where two files were given: the last variant against the baseline. By window, where there
 * are any and nobody asked for a metric. */
static weir_status print_all(const struct options *options, struct an_db *db,
                             const struct an_comparison *comparison, struct weir_error *error)
{
    struct an_change_of_work change = { .stages = NULL };
    struct sim_compare_more more = { .change = NULL };
    struct an_observed *observed = NULL;
    const bool has_two = options->files.count == 2;
    const size_t other = comparison->baseline == 0 ? comparison->variant_count - 1 : 0;
    if (has_two)
        WEIR_TRY(an_change_read(db, comparison->variants[other], &change, error));
    more.change = has_two ? &change : NULL;
    const weir_status status =
        options->observed == NULL
            ? WEIR_OK
            : judge_all(options->observed, db, comparison, &observed, &more, error);
    if (status == WEIR_OK)
        sim_compare_print(comparison, &more, options->simulate.common.format, stdout);
    free(more.errors);
    if (observed != NULL)
        an_observed_clear(observed);
    free(observed);
    an_change_clear(&change);
    WEIR_TRY(status);
    return options->metrics.count > 0
               ? WEIR_OK
               : sim_windows_print(db, comparison, options->simulate.common.format, stdout, error);
}

static weir_status print_one(const struct options *options, struct an_db *db,
                             const struct an_compare_options *query, int *code,
                             struct weir_error *error)
{
    struct an_comparison *comparison = NULL;
    weir_status status = an_compare(db, query, &comparison, error);
    if (status == WEIR_OK)
        status = print_all(options, db, comparison, error);
    if (status == WEIR_OK)
        *code = exit_code(comparison);
    an_comparison_destroy(comparison);
    return status;
}

/* Sentences go to where they do not get between rows that programs read. */
static weir_status judge_gate(struct options *options, struct an_db *db,
                              const struct an_points *points, int *code, struct weir_error *error)
{
    struct sim_gate *gate = &options->gate;
    if (options->fail_if.count == 0)
        return WEIR_OK;
    WEIR_TRY(sim_gate_judge(gate, db, points, options->baseline, error));
    const enum sim_format format = options->simulate.common.format;
    sim_gate_print(gate, sim_format_is_text(format) ? stdout : stderr);
    if (sim_gate_verdict(gate) != SIM_GATE_NOT_WORSE && *code == SIM_EXIT_OK)
        *code = SIM_EXIT_CHECK;
    return WEIR_OK;
}

/* Point by point where there are axes. */
static weir_status print_points(struct options *options, struct an_db *db,
                                const struct an_points *points, int *code, struct weir_error *error)
{
    const struct an_compare_options query = { .baseline = options->baseline,
                                              .metrics = options->metrics.items,
                                              .metric_count = options->metrics.count };
    const enum sim_format format = options->simulate.common.format;
    bool is_unexpected = false;
    if (points->axis_count > 0 && options->observed != NULL)
        return weir_fail(error, WEIR_EINVAL,
                         "--observed is beside one comparison, and there is one at every point");
    if (options->pool)
        return sim_pool_print(
            db, points,
            &(struct sim_pool_options){ &query, options->block, options->gate.min_effect, format },
            error);
    if (points->is_varied)
        return sim_tornado_print(db, points, &query, format, error);
    if (points->axis_count == 0)
        return print_one(options, db, &query, code, error);
    WEIR_TRY(sim_points_print(db, points, &query, format, &is_unexpected, error));
    if (is_unexpected)
        *code = SIM_EXIT_CHECK;
    return WEIR_OK;
}

/* A mistake in a condition is told before anything is printed. */
static weir_status print_database(struct options *options, struct an_db *db, int *code,
                                  struct weir_error *error)
{
    struct an_points points;
    weir_status status = an_points_read(db, &points, error);
    if (status == WEIR_OK && options->fail_if.count > 0 && options->gate.expects == NULL)
        *code = sim_gate_read_database(&options->gate, db, &points);
    if (status == WEIR_OK && *code != SIM_EXIT_USAGE)
        status = print_points(options, db, &points, code, error);
    if (status == WEIR_OK && *code != SIM_EXIT_USAGE)
        status = judge_gate(options, db, &points, code, error);
    an_points_clear(&points);
    return status;
}

static int print_comparison(struct options *options, const char *database)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_db *db = NULL;
    int code = SIM_EXIT_OK;
    weir_status status = an_open(database, &db, &error);
    if (status == WEIR_OK)
        status = print_database(options, db, &code, &error);
    if (status != WEIR_OK)
        (void)fprintf(stderr, "weir: %s\n", error.text);
    an_close(db);
    return status == WEIR_OK        ? code
           : status == WEIR_EFORMAT ? SIM_EXIT_INPUT /* of measured curves */
                                    : sim_exit_for(status);
}

/* ---- running ---- */

/* A mistake in a condition is told before anything runs: for that the scenario is read once more.
 */
static int read_gate(struct options *options, const struct sim_simulate_options *simulate,
                     const char *command_line)
{
    struct sim_policies policies = { 0 };
    struct sim_experiment experiment = { 0 };
    struct sim_simulate_options dry = *simulate;
    if (options->fail_if.count == 0)
        return SIM_EXIT_OK;
    dry.dry_run = true;
    int code = sim_simulate(&dry, true, command_line, &policies, &experiment);
    if (code == SIM_EXIT_OK)
        code = sim_gate_read_experiment(&options->gate, &experiment);
    sim_experiment_clear(&experiment);
    sim_plugins_clear(&policies);
    return code;
}

/* -n auto becomes the cap, and rounds. */
static bool begin_adaptive(const struct options *options, struct sim_simulate_options *simulate,
                           struct sim_adaptive *adaptive)
{
    if (simulate->replications != SIM_REPLICATIONS_AUTO) {
        if (options->ci_rel == NULL && options->most == 0)
            return true;
        (void)fprintf(stderr, "weir: --ci-rel and --most belong to -n auto\n");
        return false;
    }
    adaptive->relative = 0.05;
    adaptive->most = options->most > 0 ? options->most : SIM_ADAPTIVE_MOST;
    if (options->ci_rel != NULL &&
        !sim_option_share("--ci-rel", options->ci_rel, &adaptive->relative))
        return false;
    simulate->replications = adaptive->most;
    simulate->rounds = &adaptive->rounds;
    return sim_adaptive_begin(adaptive, sim_axes_points(simulate->axes));
}

/* "2/4": runs 2, 6, 10 ... of the experiment. */
static bool read_part(const char *text, unsigned long *part, unsigned long *parts)
{
    char *end = NULL;
    if (!isdigit((unsigned char)text[0]))
        return false;
    *part = strtoul(text, &end, 10);
    if (*end != '/' || !isdigit((unsigned char)end[1]))
        return false;
    *parts = strtoul(end + 1, &end, 10);
    return *end == '\0' && *part >= 1 && *part <= *parts && *parts <= UINT32_MAX;
}

static bool read_shard(const struct options *options, struct sim_simulate_options *simulate)
{
    unsigned long part = 0;
    unsigned long parts = 0;
    if (options->shard == NULL)
        return true;
    const bool is_read = read_part(options->shard, &part, &parts);
    if (!is_read)
        (void)fprintf(stderr,
                      "weir: --shard: expected I/N with I from 1 to N, as 2/4, found '%s'\n",
                      options->shard);
    else if (simulate->replications == SIM_REPLICATIONS_AUTO || options->fail_if.count > 0)
        (void)fprintf(stderr, "weir: --shard: %s needs all runs\n",
                      options->fail_if.count > 0 ? "--fail-if" : "-n auto");
    else if (simulate->output == NULL)
        (void)fprintf(stderr, "weir: --shard: every part needs a database of its own: -o DB\n");
    else
        simulate->shards = (uint32_t)parts;
    simulate->shard = (uint32_t)part - 1;
    return simulate->shards > 0;
}

/* Laid out here first, so that a mistake is told before it waits in a queue. */
static int run_elsewhere(const struct options *options, const struct sim_simulate_options *simulate,
                         const char *command_line)
{
    struct sim_policies policies = { 0 };
    struct sim_experiment experiment = { 0 };
    struct sim_simulate_options dry = *simulate;
    const char *wrong = strcmp(options->engine, "slurm") != 0 ? "expected here or slurm"
                        : simulate->output == NULL            ? "say where to: -o DB"
                        : options->fail_if.count > 0 || simulate->rounds != NULL
                            ? "--fail-if and -n auto need all runs"
                            : NULL;
    if (wrong != NULL) {
        (void)fprintf(stderr, "weir: --engine %s: %s\n", options->engine, wrong);
        return SIM_EXIT_USAGE;
    }
    dry.dry_run = true;
    const int code = sim_simulate(&dry, true, command_line, &policies, &experiment);
    sim_experiment_clear(&experiment);
    sim_plugins_clear(&policies);
    return code != SIM_EXIT_OK ? code
                               : sim_slurm_submit(command_line, simulate->output,
                                                  options->parts > 0 ? options->parts : 8);
}

static int run_and_print(struct options *options, struct sim_simulate_options *simulate,
                         const struct sim_adaptive *adaptive, const char *command_line)
{
    if (options->engine != NULL && strcmp(options->engine, "here") != 0)
        return run_elsewhere(options, simulate, command_line);
    struct sim_policies policies = { 0 };
    struct sim_experiment experiment = { 0 };
    const bool is_table = simulate->common.format == SIM_FORMAT_TABLE;
    int code = sim_simulate(simulate, true, command_line, &policies, &experiment);
    if (simulate->dry_run && code == SIM_EXIT_OK)
        sim_points_plan(&experiment, simulate->common.format);
    else if (simulate->shards > 0 && code == SIM_EXIT_OK)
        printf("%s: part %u of %u; when all are made: weir merge PARTS... -o DB\n",
               experiment.database, simulate->shard + 1, simulate->shards);
    else if (simulate->shards == 0 &&
             sim_experiment_has_results(&experiment)) { /* what failed takes nothing from others */
        const int compared = print_comparison(options, experiment.database);
        code = code == SIM_EXIT_OK ? compared : code;
        if (simulate->rounds != NULL && is_table)
            sim_adaptive_print(adaptive);
    }
    if (experiment.database != NULL && !simulate->dry_run && simulate->shards == 0 && is_table &&
        (code == SIM_EXIT_OK || code == SIM_EXIT_CHECK))
        printf("next: weir report %s\n", experiment.database);
    code = sim_simulate_verdict(simulate, &experiment, code);
    sim_experiment_clear(&experiment);
    sim_plugins_clear(&policies);
    return code;
}

static int run_and_compare(struct options *options, const char *command_line)
{
    struct sim_simulate_options simulate = options->simulate;
    struct sim_axes axes = { .design = options->vary.count > 0 ? SIM_DESIGN_VARY : options->design,
                             .drawn = options->points,
                             .replaces_variants = options->vary.count > 0 };
    const struct sim_words *words = options->vary.count > 0 ? &options->vary : &options->axes;
    struct sim_adaptive adaptive = { .relative = 0 };
    int code = SIM_EXIT_USAGE;
    simulate.axes = &axes;
    if (sim_axes_parse(words, &axes) && read_shard(options, &simulate) &&
        begin_adaptive(options, &simulate, &adaptive))
        code = read_gate(options, &simulate, command_line);
    if (code == SIM_EXIT_OK)
        code = run_and_print(options, &simulate, &adaptive, command_line);
    sim_adaptive_end(&adaptive);
    sim_axes_clear(&axes);
    return code;
}

static int compare_two(struct options *options, const char *command_line)
{
    char *database = NULL;
    int code = sim_compare_join(&options->simulate, &options->files, command_line, &database);
    if (code == SIM_EXIT_OK)
        code = print_comparison(options, database);
    if (options->simulate.output == NULL && database != NULL)
        (void)unlink(database);
    else if (code == SIM_EXIT_OK && options->simulate.common.format == SIM_FORMAT_TABLE)
        printf("next: weir report %s\n", database);
    free(database);
    return code;
}

/* What was run before, with windows that it may not have had. */
static int compare_stored(struct options *options)
{
    char copy[SIM_WINDOWS_COPY];
    int code = sim_windows_measure(options->simulate.path, &options->windows,
                                   &options->simulate.common, copy);
    if (code == SIM_EXIT_OK)
        code = print_comparison(options, copy[0] == '\0' ? options->simulate.path : copy);
    if (copy[0] != '\0')
        (void)unlink(copy);
    return code;
}

/* A scenario gets them as a setting, before those of the user. */
static int compare_scenario(struct options *options, const char *command_line)
{
    if (!sim_windows_is_given(&options->windows))
        return run_and_compare(options, command_line);
    struct sim_words *sets = &options->simulate.common.sets;
    char *setting = sim_windows_setting(&options->windows);
    const char **items = reallocarray(sets->items, sets->count + 1, sizeof *items);
    int code = SIM_EXIT_RESOURCE;
    if (items != NULL)
        sets->items = items;
    if (items != NULL && setting != NULL) {
        sets->items[sets->count++] = setting;
        code = run_and_compare(options, command_line);
    }
    free(setting);
    return code;
}

static bool read_effect(struct options *options)
{
    return options->min_effect == NULL ||
           sim_option_share("--min-effect", options->min_effect, &options->gate.min_effect);
}

/* What the file says goes before what the command line says. */
static bool prepend(struct sim_words *words, const struct sim_words *before)
{
    const char **items =
        reallocarray(words->items, words->count + before->count + 1, sizeof *items);
    if (items == NULL)
        return false;
    memmove(items + before->count, items, words->count * sizeof *items);
    for (size_t i = 0; i < before->count; i++)
        items[i] = before->items[i];
    words->items = items;
    words->count += before->count;
    return true;
}

static int compare_suite(struct options *options, const char *command_line)
{
    struct sim_suite suite;
    if (options->axes.count + options->vary.count + options->points + options->design > 0) {
        (void)fprintf(stderr, "weir: --axis, --vary, --design and --points: what is run stands in "
                              "the suite\n");
        return SIM_EXIT_USAGE;
    }
    int code = sim_suite_read(options->simulate.path, &suite);
    const bool is_its_metric = options->metrics.count == 0;
    if (code == SIM_EXIT_OK &&
        (!prepend(&options->simulate.common.sets, &suite.sets) ||
         !prepend(&options->axes, &suite.axes) ||
         (is_its_metric && suite.metrics.count > 0 && !prepend(&options->metrics, &suite.metrics))))
        code = SIM_EXIT_RESOURCE;
    if (code == SIM_EXIT_OK && options->min_effect == NULL && suite.min_effect != NULL &&
        !sim_option_share("min_effect", suite.min_effect, &options->gate.min_effect))
        code = SIM_EXIT_USAGE;
    options->simulate.path = suite.scenario;
    options->design = SIM_DESIGN_LIST;
    options->pool = true;
    options->block = options->block == NULL ? suite.block : options->block;
    if (options->simulate.replications == 0)
        options->simulate.replications = suite.replications;
    if (code == SIM_EXIT_OK)
        code = compare_scenario(options, command_line);
    sim_suite_clear(&suite);
    return code;
}

int sim_cmd_compare(int argc, char **argv)
{
    struct options options = { 0 };
    options.gate.conditions = &options.fail_if;
    sim_options_parse(&command_options, argc, argv, &options);
    char *command_line = sim_command_line("compare", argc, argv);
    options.simulate.path = options.files.items[0];
    const int code = !read_effect(&options)                   ? SIM_EXIT_USAGE
                     : options.files.count == 2               ? compare_two(&options, command_line)
                     : sim_is_database(options.simulate.path) ? compare_stored(&options)
                     : sim_suite_is(options.simulate.path)
                         ? compare_suite(&options, command_line)
                         : compare_scenario(&options, command_line);
    sim_options_clear(&options.simulate.common);
    free(options.simulate.variants.items);
    free(options.metrics.items);
    free(options.axes.items);
    free(options.vary.items);
    free(options.fail_if.items);
    sim_gate_clear(&options.gate);
    free(options.files.items);
    free(command_line);
    return code;
}
