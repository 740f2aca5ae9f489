/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of the commands that simulate (see simulate_options.h). */
#include "sim/cli/experiment/simulate_options.h"

#include "sim/cli/experiment/variant_option.h"
#include "sim/cli/in_the_way.h"
#include "sim/cli/plugin.h"

#include <stdlib.h>
#include <string.h>

static const struct sim_option command_rows[] = {
    { "output", 'o', "DB", SIM_OPTION(TEXT, sim_simulate_options, output),
      "Result database (default: NAME.db of the scenario's name)" },
    { "no-db", 0, NULL, SIM_OPTION(FLAG, sim_simulate_options, no_database), "Write no database",
      .of = SIM_FILE_SCENARIO },
    { "seed", 's', "SEED", SIM_OPTION(COUNT64, sim_simulate_options, seed),
      "Seed instead of the scenario's (decimal or 0x...)",
      .given = offsetof(struct sim_simulate_options, has_seed), .of = SIM_FILE_SCENARIO },
    { "replications", 'n', "N", SIM_OPTION(COUNT, sim_simulate_options, replications),
      "Replications instead of the scenario's; with compare `auto`: as many as --ci-rel needs",
      .min = 1, .max = 100000, .all = "auto", .of = SIM_FILE_SCENARIO },
    { "jobs", 'j', "N", SIM_OPTION(COUNT, sim_simulate_options, jobs),
      "Runs at the same time (default: one a core)", .min = 1, .max = 1024,
      .of = SIM_FILE_SCENARIO },
    { "variant", 0, "LABEL: PATH=VALUE, ...", SIM_OPTION(WORDS, sim_simulate_options, variants),
      "One more variant; PATH=- removes an entry; may be repeated with compare" },
    { "resume", 0, NULL, SIM_OPTION(FLAG, sim_simulate_options, resume),
      "Keep complete runs of the database, run the rest", .of = SIM_FILE_SCENARIO },
    { "force", 0, NULL, SIM_OPTION(FLAG, sim_simulate_options, force),
      "Replace results that the database holds" },
    { "check", 0, NULL, SIM_OPTION(FLAG, sim_simulate_options, check),
      "Exit with 1 when an expectation is not met", .of = SIM_FILE_SCENARIO },
    { "check-invariants", 0, NULL, SIM_OPTION(FLAG, sim_simulate_options, paranoid),
      "Check all invariants after every event (slow); also by WEIR_CHECK_INVARIANTS=1",
      .of = SIM_FILE_SCENARIO },
    { "policy-timeout", 0, "SECONDS", SIM_OPTION(COUNT, sim_simulate_options, policy_timeout_s),
      "With --plugin: end a policy that does not answer for so long (default: 60)", .min = 1,
      .max = 1000000, .of = SIM_FILE_SCENARIO },
    { "policy-memory", 0, "MIB", SIM_OPTION(COUNT64, sim_simulate_options, policy_memory_mib),
      "With --plugin: memory its process may take (default: 3/4 of the machine's)", .min = 1,
      .max = 1 << 30, .of = SIM_FILE_SCENARIO },
    { "quiet", 'q', NULL, SIM_OPTION(FLAG, sim_simulate_options, quiet),
      "No progress line, no summary" },
    { SIM_OPTION(OTHERS, sim_simulate_options, common), .others = &sim_options_format },
    { SIM_OPTION(OTHERS, sim_simulate_options, common), .others = &sim_options_scenario },
};
const struct sim_option_table sim_simulate_table = { SIM_OPTION_ROWS(command_rows) };

/* The environment lets a whole test suite check without naming the option in every call. */
static bool is_paranoid(const struct sim_simulate_options *options)
{
    const char *const wish = getenv("WEIR_CHECK_INVARIANTS");

    return options->paranoid || (wish != NULL && wish[0] != '\0' && strcmp(wish, "0") != 0);
}

/* Words that a shell would take apart stand in single quotes. */
static void append_word(FILE *out, const char *word)
{
    if (word[0] != '\0' && strpbrk(word, " \t\n\"'$&|;<>()*?[]#~`\\!{}") == NULL) {
        (void)fprintf(out, " %s", word);
        return;
    }
    (void)fputs(" '", out);
    for (const char *c = word; *c != '\0'; c++)
        (void)(*c == '\'' ? fputs("'\\''", out) : fputc(*c, out));
    (void)fputc('\'', out);
}

char *sim_command_line(const char *command, int argc, char **argv)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    (void)fprintf(out, "weir %s", command);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--resume") != 0 && strcmp(argv[i], "--force") != 0)
            append_word(out, argv[i]);
    return fclose(out) == 0 ? text : NULL;
}

/* NULL = the options go together. */
static const char *misfit(const struct sim_simulate_options *options, bool all_variants)
{
    if (options->resume && options->force)
        return "--resume keeps results, --force replaces them: say one";
    if (!all_variants && options->variants.count > 1)
        return "one --variant for a run; weir compare takes several";
    if (options->replications == SIM_REPLICATIONS_AUTO)
        return "-n auto belongs to compare";
    return NULL;
}

int sim_simulate(const struct sim_simulate_options *options, bool all_variants,
                 const char *command_line, struct sim_policies *policies,
                 struct sim_experiment *experiment)
{
    const char *wrong = misfit(options, all_variants);
    *experiment = (struct sim_experiment){ 0 };
    if (wrong != NULL) {
        (void)fprintf(stderr, "weir: %s\n", wrong);
        return SIM_EXIT_USAGE;
    }
    int code = sim_in_the_way("weir run", options->spans, options->force);
    if (code == SIM_EXIT_OK)
        code = sim_plugins_load(&options->common.plugins, options->common.in_process, policies);
    if (code != SIM_EXIT_OK)
        return code;
    struct sim_variant *variants = sim_variants_parse(&options->variants);
    if (variants == NULL)
        return SIM_EXIT_USAGE;
    const struct sim_experiment_options run = { .scenario_path = options->path,
                                                .sets = options->common.sets.items,
                                                .sets_count = options->common.sets.count,
                                                .policies = policies,
                                                .database =
                                                    options->no_database ? "" : options->output,
                                                .command_line = command_line,
                                                .replications = options->replications,
                                                .seed = options->has_seed ? &options->seed : NULL,
                                                .jobs = options->jobs,
                                                .variants = variants,
                                                .variants_count = options->variants.count,
                                                .axes = options->axes,
                                                .rounds = options->rounds,
                                                .is_lazy = options->is_lazy,
                                                .audit = options->audit,
                                                .shard = options->shard,
                                                .shards = options->shards,
                                                .all_variants = all_variants,
                                                .resume = options->resume,
                                                .force = options->force,
                                                .is_dry = options->dry_run,
                                                .is_quiet = options->quiet,
                                                .check_always = is_paranoid(options),
                                                .spans = options->spans,
                                                .spans_limit = options->spans_limit,
                                                .plugins = options->common.plugins.items,
                                                .plugins_count = options->common.plugins.count,
                                                .in_process = options->common.in_process,
                                                .policy_timeout_s = options->policy_timeout_s,
                                                .policy_memory_mib = options->policy_memory_mib,
                                                .limits = sim_limits_of(&options->common.limits) };
    code = sim_experiment_run(&run, experiment);
    sim_variants_free(variants, options->variants.count);
    return code;
}

int sim_simulate_read(const struct sim_experiment *experiment, int code)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (sim_experiment_check_results(experiment, &error) == WEIR_OK)
        return code;
    (void)fprintf(stderr, "weir: %s\n", error.text);
    return code == SIM_EXIT_OK || code == SIM_EXIT_CHECK ? SIM_EXIT_INPUT : code;
}

int sim_simulate_verdict(const struct sim_simulate_options *options,
                         const struct sim_experiment *experiment, int code)
{
    const int read = sim_simulate_read(experiment, code);
    if (read != code)
        return read;
    for (size_t i = 0; i < experiment->unmet_count; i++)
        (void)fprintf(stderr, "✗ %s\n", experiment->unmet[i]);
    if (options->check && experiment->expectations > 0)
        (void)fprintf(stderr, "weir: %zu of %zu expectations met\n", experiment->expectations_met,
                      experiment->expectations);
    if (code == SIM_EXIT_OK &&
        ((options->check && experiment->unmet_count > 0) || experiment->unexpected_ends > 0))
        return SIM_EXIT_CHECK;
    return code;
}
