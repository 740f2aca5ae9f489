/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `weir search`: the smallest or largest value of a path of the scenario that meets a target, by
 * runs that are made as they are needed; for every variant by itself.
 */
#include "analysis/text.h"
#include "sim/cli/ask/best.h"
#include "sim/cli/ask/front.h"
#include "sim/cli/ask/search_plan.h"
#include "sim/cli/ask/tune.h"
#include "sim/cli/ask/tune_split.h"
#include "sim/cli/commands.h"
#include "sim/cli/experiment/axis_option.h"
#include "sim/cli/experiment/simulate_options.h"
#include "sim/cli/load.h"
#include "sim/cli/option_value.h"
#include "sim/cli/plugin.h"
#include "sim/cli/table.h"
#include "weir/version.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct sim_simulate_options simulate;
    struct sim_words such_that, axes, tune, tests;
    const char *smallest, *largest, *cost, *worth;
    uint32_t budget;
    bool front, best;
};

static const struct sim_option command_rows[] = {
    { "such-that", 0, "CONDITION", SIM_OPTION(WORDS, options, such_that),
      "What has to hold, as 'latency p95 <= 30 min'; may be repeated (default: goal.while of the "
      "scenario)" },
    { "smallest", 0, "PATH=FROM..TO:STEP", SIM_OPTION(TEXT, options, smallest),
      "Look for the smallest value, the condition being easier at large ones" },
    { "largest", 0, "PATH=FROM..TO:STEP", SIM_OPTION(TEXT, options, largest),
      "Look for the largest value, the condition being easier at small ones" },
    { "axis", 0, "PATH=POLICIES", SIM_OPTION(WORDS, options, axes),
      "Search for each of these policies; may be repeated" },
    { "best", 0, NULL, SIM_OPTION(FLAG, options, best),
      "Which variant is best by the goal, with as few runs as that takes; -n: at most so many of "
      "each (default: 100)" },
    { "worth", 0, "PERCENT", SIM_OPTION(TEXT, options, worth),
      "With --best: the least difference that matters, of the first variant's mean (default: 5%)",
      .belongs_to = "best" },
    { "front", 0, NULL, SIM_OPTION(FLAG, options, front),
      "Of all combinations of the --axis those that nothing beats in both cost and goal" },
    { "cost", 0, "METRIC", SIM_OPTION(TEXT, options, cost),
      "With --front: what is to be small (default: cost.total, of a scenario with prices)",
      .belongs_to = "front" },
    { "tune", 0, "POLICY,...", SIM_OPTION(WORDS, options, tune),
      "Look for the best parameters of each policy, with one budget for all of them",
      .is_list = true },
    { "budget", 0, "N", SIM_OPTION(COUNT, options, budget),
      "With --tune: runs that each policy may use", .min = 2, .max = 100000, .belongs_to = "tune" },
    { "test", 0, "FILE,...", SIM_OPTION(WORDS, options, tests),
      "With --tune: scenarios to judge on what was found; none was seen while tuning",
      .is_list = true, .belongs_to = "tune" },
    { .argument = "SCENARIO",
      SIM_OPTION(TEXT, options, simulate.path),
      .missing = "which scenario? `weir new jobs my.yaml` writes one to start from",
      .one = "one scenario at a time" },
    { SIM_OPTION(OTHERS, options, simulate), .others = &sim_simulate_table },
};

static void check_options(const void *arguments, const struct argp_state *state)
{
    const struct options *options = arguments;
    const int ways = (options->smallest != NULL) + (options->largest != NULL) + options->front +
                     options->best + (options->tune.count > 0);
    if (ways != 1)
        argp_error(state, "say one of --smallest, --largest, --best, --front and --tune");
    if (options->tune.count > 0 && options->budget == 0)
        argp_error(state, "--tune needs a --budget: the runs that each policy may use");
    if (options->tune.count > 0 && options->axes.count + options->simulate.variants.count > 0)
        argp_error(state, "--tune makes the variants: no --axis and no --variant beside it");
    if (options->front && options->axes.count == 0)
        argp_error(state, "--front goes along one --axis or more");
    if (options->best && options->simulate.replications == 1)
        argp_error(state, "--best needs two replications of each or more to tell what is chance");
    if (options->such_that.count > 0 && options->smallest == NULL && options->largest == NULL)
        argp_error(state, "--such-that belongs to --smallest and --largest");
    if (options->simulate.replications == SIM_REPLICATIONS_AUTO)
        argp_error(state, "-n auto belongs to compare; a search makes more runs where it needs "
                          "them");
    if (options->simulate.no_database)
        argp_error(state, "a search needs its database; drop --no-db");
}

static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .shown = "output replications set variant format resume force smallest largest "
             "such-that best tune",
    .usage = "SCENARIO",
    .check = check_options,
    .help = "The smallest or largest value of a path at which a target is met, for each variant of "
            "the scenario; the best variant; the front of cost and goal; the best parameters of "
            "policies.\v"
            "Bisection, so the condition must get easier along the values; the neighbours of the "
            "answer are looked at, and the answer is confirmed on replications that the search has "
            "not seen. A value is run -n times, twice as often where the 95 % interval does not "
            "decide. Exit codes: 0 found, 1 a variant meets the target nowhere.",
};

/* ---- printing ---- */

static const struct sim_column columns[] = {
    { "variant", "variant", NULL, false, false },
    { "value", "value", NULL, true, false },
    { "runs", "runs", NULL, true, true },
    { "means", "means", NULL, false, false },
    { "verdict", "verdict", NULL, false, false },
    { "fresh replications", "confirmed", NULL, false, false },
};

static const char *value_text(const struct sim_experiment *experiment, size_t variant, size_t axis)
{
    return experiment->points.points[variant].values[axis];
}

static uint32_t runs_of(const struct sim_search *search, const struct sim_search_value *value)
{
    uint32_t parts = value->state == SIM_SEARCH_NEW ? 0 : 1;
    parts += value->is_longer ? 1 : 0;
    parts += value->state >= SIM_SEARCH_CONFIRMING ? 1 : 0;
    return parts * search->replications;
}

/* Of runs that failed there is no mean. */
static bool has_failed(const struct sim_search_value *value)
{
    return value->state >= SIM_SEARCH_JUDGED && value->text[0] == '\0';
}

static void add_value(struct sim_table *table, const struct sim_search *search,
                      const struct sim_experiment *experiment, const struct sim_search_arm *arm,
                      size_t place, size_t axis)
{
    const struct sim_search_value *value = &arm->values[place];
    const size_t variant = arm->variants[place];
    const enum an_hold hold = value->is_by_mean ? AN_UNDECIDED : value->verdict;
    sim_table_add(table, experiment->points.points[variant].arm);
    sim_table_add(table, value_text(experiment, variant, axis));
    sim_table_addf(table, "%u", runs_of(search, value));
    sim_table_add(table, value->text);
    sim_table_add(table, has_failed(value) ? "runs failed"
                                           : an_hold_text(hold, value->verdict == AN_HOLDS));
    sim_table_add(table, value->confirm);
}

/* Values that were looked at, in the order of the axis. */
static void add_arm(struct sim_table *table, const struct sim_search *search,
                    const struct sim_experiment *experiment, size_t a, size_t axis)
{
    const struct sim_search_arm *arm = &search->arms[a];
    for (size_t i = 0; i < search->value_count; i++) {
        const size_t place = search->wants_largest ? search->value_count - 1 - i : i;
        if (arm->values[place].state >= SIM_SEARCH_JUDGED)
            add_value(table, search, experiment, arm, place, axis);
    }
}

static bool found(const struct sim_search_arm *arm, size_t count)
{
    return sim_bisect_answer(&arm->bisect) < count;
}

static bool is_certain(const struct sim_search_value *value, enum an_hold verdict)
{
    return value->state >= SIM_SEARCH_JUDGED && value->verdict == verdict && !value->is_by_mean;
}

/* How far chance may move the answer: of the values that were looked at, the last before it that
 * fails whatever the draw, and the first from it on that holds. */
static void print_certainty(const struct sim_search *search,
                            const struct sim_experiment *experiment, size_t a, size_t axis)
{
    const struct sim_search_arm *arm = &search->arms[a];
    const size_t answer = sim_bisect_answer(&arm->bisect);
    size_t fails = answer;
    size_t holds = answer;
    while (fails > 0 && !is_certain(&arm->values[fails - 1], AN_FAILS))
        fails--;
    while (holds < search->value_count && !is_certain(&arm->values[holds], AN_HOLDS))
        holds++;
    if (fails == answer && holds == answer)
        return;
    (void)fputs(" For certain it", stdout);
    if (fails > 0)
        printf(" fails at %s", value_text(experiment, arm->variants[fails - 1], axis));
    if (holds < search->value_count)
        printf("%s holds at %s", fails > 0 ? " and" : "",
               value_text(experiment, arm->variants[holds], axis));
    else
        printf("%s holds at none that was looked at", fails > 0 ? " and" : "");
    (void)fputs(", each by its 95 % interval.", stdout);
}

/* Of others than the easiest nothing is known where it is not so that it is the easiest. */
static void print_none(const struct sim_search *search, const struct sim_experiment *experiment,
                       size_t a, size_t axis)
{
    const struct sim_search_arm *arm = &search->arms[a];
    const size_t last = search->value_count - 1;
    printf("the target is met at none of the values of %s: ",
           experiment->points.axes->items[axis].path);
    printf(has_failed(&arm->values[last]) ? "runs failed at %s" : "it fails at %s",
           value_text(experiment, arm->variants[last], axis));
    if (last > 0)
        printf(", the easiest if it gets easier along them (where it gets harder, say %s)",
               search->wants_largest ? "--smallest" : "--largest");
    printf("%s%s.\n", arm->values[last].text[0] == '\0' ? "" : ": ", arm->values[last].text);
}

static void print_answer(const struct sim_search *search, const struct sim_experiment *experiment,
                         size_t a, size_t axis)
{
    const struct sim_search_arm *arm = &search->arms[a];
    const size_t answer = sim_bisect_answer(&arm->bisect);
    const size_t count = search->value_count;
    const char *path = experiment->points.axes->items[axis].path;
    const char *word = search->wants_largest ? "largest" : "smallest";
    printf("%s: ", experiment->points.points[arm->variants[0]].arm);
    if (answer == count) {
        print_none(search, experiment, a, axis);
        return;
    }
    printf("the %s %s is %s: %s", word, path, value_text(experiment, arm->variants[answer], axis),
           arm->values[answer].text);
    if (answer == 0)
        (void)fputs("; it is the end of the range", stdout);
    else
        printf("; %s fails: %s", value_text(experiment, arm->variants[answer - 1], axis),
               arm->values[answer - 1].state == SIM_SEARCH_REFUTED ? arm->values[answer - 1].confirm
                                                                   : arm->values[answer - 1].text);
    if (answer + 1 < count)
        printf("; %s holds", value_text(experiment, arm->variants[answer + 1], axis));
    printf(". On %u fresh replication%s: %s.", search->replications,
           search->replications == 1 ? "" : "s", arm->values[answer].confirm);
    print_certainty(search, experiment, a, axis);
    if (sim_bisect_is_disordered(&arm->bisect))
        (void)fputs(" The target does not get easier all along the values: a value before this one "
                    "held, and a larger one failed.",
                    stdout);
    (void)fputc('\n', stdout);
}

static double cost_of(const struct sim_search *search, const struct sim_experiment *experiment,
                      size_t a)
{
    const struct sim_search_arm *arm = &search->arms[a];
    const size_t answer = sim_bisect_answer(&arm->bisect);
    return answer == search->value_count
               ? (double)NAN
               : sim_experiment_mean(experiment, arm->variants[answer], "cost.total", "");
}

/* Of the answers, which costs least; where something is reckoned in money. */
static void print_cheapest(const struct sim_search *search, const struct sim_experiment *experiment,
                           size_t axis)
{
    size_t best = search->arm_count;
    for (size_t a = 0; a < search->arm_count; a++)
        if (!isnan(cost_of(search, experiment, a)) &&
            (best == search->arm_count ||
             cost_of(search, experiment, a) < cost_of(search, experiment, best)))
            best = a;
    if (best == search->arm_count)
        return;
    for (size_t i = 0; i < search->arm_count; i++) {
        const size_t a = i == 0 ? best : i - (i <= best ? 1 : 0);
        const struct sim_search_arm *arm = &search->arms[a];
        const size_t answer = sim_bisect_answer(&arm->bisect);
        if (answer < search->value_count)
            printf("%s%s at %s costs %.*f $", i == 0 ? "Cheapest: " : ", ",
                   experiment->points.points[arm->variants[0]].arm,
                   value_text(experiment, arm->variants[answer], axis),
                   cost_of(search, experiment, a) < 1000 ? 2 : 0, cost_of(search, experiment, a));
    }
    (void)puts(".");
}

static int print_search(const struct sim_search *search, const struct sim_experiment *experiment,
                        size_t axis, enum sim_format format)
{
    struct sim_table *table = sim_table_create(columns, sizeof columns / sizeof columns[0]);
    size_t looked = 0;
    uint64_t runs = 0;
    int code = SIM_EXIT_OK;
    for (size_t a = 0; a < search->arm_count; a++) {
        add_arm(table, search, experiment, a, axis);
        for (size_t i = 0; i < search->value_count; i++) {
            looked += search->arms[a].values[i].state == SIM_SEARCH_NEW ? 0 : 1;
            runs += runs_of(search, &search->arms[a].values[i]);
        }
        code = found(&search->arms[a], search->value_count) ? code : SIM_EXIT_CHECK;
    }
    sim_table_print(table, format, stdout);
    sim_table_destroy(table);
    if (!sim_format_is_text(format))
        return code;
    for (size_t a = 0; a < search->arm_count; a++)
        print_answer(search, experiment, a, axis);
    print_cheapest(search, experiment, axis);
    const size_t values = search->arm_count * search->value_count;
    printf("%zu of %zu value%s looked at, %llu run%s.\n", looked, values, an_plural((double)values),
           (unsigned long long)runs, an_plural((double)runs));
    return code;
}

/* ---- running ---- */

/* goal.while='[...]' of the conditions; NULL = none are given. */
static char *write_conditions(const struct sim_words *conditions)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = conditions->count == 0 ? NULL : open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    (void)fputs("goal.while=[", out);
    for (size_t i = 0; i < conditions->count; i++) {
        (void)fputs(i == 0 ? "'" : ", '", out);
        for (const char *c = conditions->items[i]; *c != '\0'; c++)
            (void)fputs(*c == '\'' ? "''" : (const char[]){ *c, '\0' }, out);
        (void)fputc('\'', out);
    }
    (void)fputc(']', out);
    return fclose(out) == 0 ? text : NULL;
}

/* Numbers with one unit have to rise; of others only who names them knows. */
static bool rises(const struct sim_axis *axis)
{
    for (size_t i = 1; i < axis->count; i++) {
        char *low_unit = NULL;
        char *high_unit = NULL;
        const double low = strtod(axis->values[i - 1], &low_unit);
        const double high = strtod(axis->values[i], &high_unit);
        const bool is_known = low_unit != axis->values[i - 1] && high_unit != axis->values[i] &&
                              strcmp(low_unit, high_unit) == 0;
        if (!is_known || low < high)
            continue;
        (void)fprintf(stderr,
                      "weir: %s: values of a search have to rise, and %s stands behind %s\n",
                      axis->path, axis->values[i], axis->values[i - 1]);
        return false;
    }
    return true;
}

/* The axis that is searched along behind those of policies. */
static bool read_axes(const struct options *options, struct sim_axes *axes)
{
    const char *word = options->smallest != NULL ? options->smallest : options->largest;
    struct sim_words words = { .items = calloc(options->axes.count + 1, sizeof *words.items) };
    if (words.items == NULL)
        return false;
    for (size_t i = 0; i < options->axes.count; i++)
        words.items[words.count++] = options->axes.items[i];
    words.items[words.count++] = word;
    bool is_fine = sim_axes_parse(&words, axes);
    free(words.items);
    for (size_t a = 0; is_fine && a < axes->count; a++) {
        const bool is_searched = a + 1 == axes->count;
        if (axes->items[a].is_policy != is_searched) {
            is_fine = !is_searched || rises(&axes->items[a]);
            continue;
        }
        (void)fprintf(stderr, "weir: %s: %s\n", axes->items[a].path,
                      is_searched ? "a search goes along numbers; policies are an --axis"
                                  : "an --axis of a search is one of policies, as "
                                    "sched.placement=fgd,best_fit");
        is_fine = false;
    }
    return is_fine;
}

/* Lays the experiment out to see how many variants and replications there are. */
static int measure(const struct sim_simulate_options *simulate, const char *command_line,
                   struct sim_search *search)
{
    struct sim_policies policies = { 0 };
    struct sim_experiment experiment = { 0 };
    struct sim_simulate_options dry = *simulate;
    dry.dry_run = true;
    int code = sim_simulate(&dry, true, command_line, &policies, &experiment);
    if (code == SIM_EXIT_OK && experiment.scenarios[0]->goal.conditions_count == 0) {
        (void)fprintf(stderr, "weir: search: nothing has to hold: --such-that 'latency p95 <= 30 "
                              "min', or goal.while in the scenario\n");
        code = SIM_EXIT_USAGE;
    }
    if (code == SIM_EXIT_OK) {
        search->replications = experiment.replications;
        code = sim_search_begin(search, experiment.points.point_count,
                                experiment.variant_count / experiment.points.point_count)
                   ? SIM_EXIT_OK
                   : SIM_EXIT_RESOURCE;
    }
    sim_experiment_clear(&experiment);
    sim_plugins_clear(&policies);
    return code;
}

static int run_search(struct sim_simulate_options *simulate, const char *command_line,
                      struct sim_search *search)
{
    struct sim_policies policies = { 0 };
    struct sim_experiment experiment = { 0 };
    simulate->replications = SIM_SEARCH_PARTS * search->replications;
    simulate->rounds = &search->rounds;
    int code = sim_simulate(simulate, true, command_line, &policies, &experiment);
    if (sim_experiment_has_results(&experiment)) {
        const int searched =
            print_search(search, &experiment, simulate->axes->count - 1, simulate->common.format);
        code = code == SIM_EXIT_OK ? searched : code;
    }
    code = sim_simulate_read(&experiment, code);
    if (experiment.database != NULL && simulate->common.format == SIM_FORMAT_TABLE &&
        (code == SIM_EXIT_OK || code == SIM_EXIT_CHECK))
        printf("next: weir report %s --as review\n", experiment.database);
    sim_experiment_clear(&experiment);
    sim_plugins_clear(&policies);
    return code;
}

static int search_along(struct options *options, const char *command_line)
{
    struct sim_simulate_options simulate = options->simulate;
    struct sim_search search = { .wants_largest = options->largest != NULL };
    struct sim_axes axes = { 0 };
    char *conditions = write_conditions(&options->such_that);
    const char **sets = calloc(simulate.common.sets.count + 2, sizeof *sets);
    int code = SIM_EXIT_USAGE;
    if (sets != NULL && read_axes(options, &axes)) {
        for (size_t i = 0; i < simulate.common.sets.count; i++)
            sets[i] = simulate.common.sets.items[i];
        if (conditions != NULL)
            sets[simulate.common.sets.count++] = conditions;
        simulate.common.sets.items = sets;
        simulate.axes = &axes;
        simulate.is_lazy = true;
        code = measure(&simulate, command_line, &search);
    }
    if (code == SIM_EXIT_OK)
        code = run_search(&simulate, command_line, &search);
    sim_search_end(&search);
    sim_axes_clear(&axes);
    free(conditions);
    free(sets);
    return code;
}

/* ---- fronts and equal budgets ---- */

/* How many variants and replications there are; what is wrong is told before anything runs, of a
 * `tune` (may be NULL) what judges, too. */
static int lay_out(const struct sim_simulate_options *simulate, const char *command_line,
                   size_t *variants, uint32_t *replications, struct sim_tune *tune)
{
    struct sim_policies policies = { 0 };
    struct sim_experiment experiment = { 0 };
    struct sim_simulate_options dry = *simulate;
    dry.dry_run = true;
    int code = sim_simulate(&dry, true, command_line, &policies, &experiment);
    *variants = experiment.variant_count;
    *replications = experiment.replications;
    if (code == SIM_EXIT_OK && tune != NULL && !sim_tune_split(&experiment, tune))
        code = SIM_EXIT_USAGE;
    sim_experiment_clear(&experiment);
    sim_plugins_clear(&policies);
    return code;
}

static int finish(struct sim_experiment *experiment, struct sim_policies *policies,
                  enum sim_format format, int code)
{
    code = sim_simulate_read(experiment, code);
    if (experiment->database != NULL && format == SIM_FORMAT_TABLE &&
        (code == SIM_EXIT_OK || code == SIM_EXIT_CHECK))
        printf("next: weir report %s\n", experiment->database);
    sim_experiment_clear(experiment);
    sim_plugins_clear(policies);
    return code;
}

static int run_front(struct sim_simulate_options *simulate, const char *command_line,
                     struct sim_front *front)
{
    struct sim_policies policies = { 0 };
    struct sim_experiment experiment = { 0 };
    simulate->replications = 2 * front->replications;
    simulate->rounds = &front->rounds;
    int code = sim_simulate(simulate, true, command_line, &policies, &experiment);
    if (code == SIM_EXIT_OK)
        code = sim_front_print(front, &experiment, simulate->common.format);
    return finish(&experiment, &policies, simulate->common.format, code);
}

static int search_front(struct options *options, const char *command_line)
{
    struct sim_simulate_options simulate = options->simulate;
    struct sim_axes axes = { 0 };
    struct sim_front front = { .cost = "cost.total" };
    const char *unit = "";
    const char *near = NULL;
    size_t variants = 0;
    if (options->cost != NULL)
        front.cost = sim_cli_metric(options->cost, &unit, &near);
    if (near != NULL) {
        (void)fprintf(stderr, "weir: --cost: there is no metric '%s'; did you mean '%s'?\n",
                      options->cost, near);
        return SIM_EXIT_USAGE;
    }
    int code = sim_axes_parse(&options->axes, &axes) ? SIM_EXIT_OK : SIM_EXIT_USAGE;
    simulate.axes = &axes;
    if (code == SIM_EXIT_OK)
        code = lay_out(&simulate, command_line, &variants, &front.replications, NULL);
    if (code == SIM_EXIT_OK)
        code = sim_front_begin(&front, variants) ? run_front(&simulate, command_line, &front)
                                                 : SIM_EXIT_RESOURCE;
    sim_front_end(&front);
    sim_axes_clear(&axes);
    return code;
}

static int run_best(struct sim_simulate_options *simulate, const char *command_line,
                    struct sim_best *best)
{
    struct sim_policies policies = { 0 };
    struct sim_experiment experiment = { 0 };
    simulate->replications = best->most;
    simulate->rounds = &best->rounds;
    simulate->audit = &best->audit;
    int code = sim_simulate(simulate, true, command_line, &policies, &experiment);
    if (code == SIM_EXIT_OK)
        code = sim_best_print(best, &experiment, simulate->common.format);
    return finish(&experiment, &policies, simulate->common.format, code);
}

static int search_best(struct options *options, const char *command_line)
{
    struct sim_simulate_options simulate = options->simulate;
    struct sim_axes axes = { 0 };
    struct sim_best best = { .worth = 0.05 };
    size_t variants = 0;
    bool is_fine = sim_axes_parse(&options->axes, &axes);
    if (options->worth != NULL)
        is_fine = sim_option_share("--worth", options->worth, &best.worth) && is_fine;
    int code = is_fine ? SIM_EXIT_OK : SIM_EXIT_USAGE;
    simulate.axes = &axes;
    if (code == SIM_EXIT_OK)
        code = lay_out(&simulate, command_line, &variants, &best.most, NULL);
    if (simulate.replications == 0)
        best.most = SIM_BEST_MOST;
    if (code == SIM_EXIT_OK && variants < 2) {
        (void)fprintf(stderr, "weir: --best chooses among variants: compare: in the scenario, "
                              "--variant or --axis\n");
        code = SIM_EXIT_USAGE;
    }
    if (code == SIM_EXIT_OK)
        code = sim_best_begin(&best, variants) ? run_best(&simulate, command_line, &best)
                                               : SIM_EXIT_RESOURCE;
    sim_best_end(&best);
    sim_axes_clear(&axes);
    return code;
}

/* The scenario that is tuned on, and those that judge, as an axis. */
static bool name_files(const struct options *options, struct sim_axes *axes)
{
    char *word = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&word, &size);
    if (out == NULL)
        return false;
    (void)fprintf(out, SIM_AXIS_SCENARIO "=%s", options->simulate.path);
    bool is_fine = true;
    for (size_t i = 0; i < options->tests.count; i++) {
        (void)fprintf(out, ",%s", options->tests.items[i]);
        is_fine = is_fine && !sim_tune_is_tuned(options->simulate.path, options->tests.items[i]);
    }
    is_fine = fclose(out) == 0 && is_fine;
    const char *items[] = { word }; /* now that it is written */
    const struct sim_words words = { .items = items, .count = 1 };
    is_fine = is_fine && sim_axes_parse(&words, axes);
    free(word);
    return is_fine;
}

static int run_tune(struct sim_simulate_options *simulate, const char *command_line,
                    struct sim_tune *tune)
{
    struct sim_policies policies = { 0 };
    struct sim_experiment experiment = { 0 };
    simulate->replications = tune->train + tune->test;
    simulate->rounds = &tune->rounds;
    const struct sim_audit audit = { .text = tune->audit, .judged_from = tune->train };
    const char **words = calloc(tune->setting_count + 1, sizeof *words);
    if (words == NULL)
        return SIM_EXIT_RESOURCE;
    simulate->audit = &audit;
    for (size_t i = 0; i < tune->setting_count; i++)
        words[i] = tune->words[i];
    simulate->variants = (struct sim_words){ .items = words, .count = tune->setting_count };
    simulate->is_lazy = true;
    int code = sim_simulate(simulate, true, command_line, &policies, &experiment);
    if (code == SIM_EXIT_OK)
        code = sim_tune_print(tune, &experiment, simulate->common.format);
    free(words);
    simulate->audit = NULL;
    simulate->variants = (struct sim_words){ .count = 0 };
    return finish(&experiment, &policies, simulate->common.format, code);
}

static int search_tune(struct options *options, const char *command_line)
{
    struct sim_simulate_options simulate = options->simulate;
    struct sim_axes axes = { .replaces_variants = true };
    struct sim_tune *tune = calloc(1, sizeof *tune);
    size_t variants = 0;
    if (tune == NULL)
        return SIM_EXIT_RESOURCE;
    tune->budget = options->budget;
    int code = name_files(options, &axes) ? SIM_EXIT_OK : SIM_EXIT_USAGE;
    simulate.axes = &axes;
    if (code == SIM_EXIT_OK)
        code = lay_out(&simulate, command_line, &variants, &tune->test, tune);
    if (code == SIM_EXIT_OK)
        code = sim_tune_begin(tune, &options->tune, &options->tests, &simulate);
    if (code == SIM_EXIT_OK)
        code = run_tune(&simulate, command_line, tune);
    sim_tune_end(tune);
    free(tune);
    sim_axes_clear(&axes);
    return code;
}

int sim_cmd_search(int argc, char **argv)
{
    struct options options = { 0 };
    sim_options_parse(&command_options, argc, argv, &options);
    char *command_line = sim_command_line("search", argc, argv);
    const int code = options.front            ? search_front(&options, command_line)
                     : options.best           ? search_best(&options, command_line)
                     : options.tune.count > 0 ? search_tune(&options, command_line)
                                              : search_along(&options, command_line);
    sim_options_clear(&options.simulate.common);
    free(options.simulate.variants.items);
    free(options.such_that.items);
    free(options.axes.items);
    free(options.tune.items);
    free(options.tests.items);
    free(command_line);
    return code;
}
