/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir new: a small file to start from, which runs as it is, and the commands from it to a report.
 * A template calls itself "template"; in the file it has the file's name. What is there is never
 * replaced.
 */
#include "sim/cli/commands.h"
#include "sim/cli/look/policies_check.h"
#include "sim/cli/tell/analysis_options.h"
#include "sim/files/written.h"
#include "weir_text.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096, STEM = 64 };

struct arguments {
    const char *kind, *name, *policy, *language;
};

struct template
{
    const char *kind, *policy, *ending; /* policy: of which kind; NULL = it is none */
    const char *text;
    /* Commands, a line each; @F the file, @N its name, @H the folder of the headers. */
    const char *commands;
    const char *question, *answer; /* what to ask next, and the command that says it */
};

#define BUILD "gcc -std=c17 -O2 -shared -fPIC -I @H @F -o @N.so\n"
#define CHECK "weir check ./@N.so\n"
#define WITH  "weir compare @N.yaml --plugin ./@N.so --variant "

static const struct template templates[] = {
    { "pipeline", NULL, ".yaml", weir_text_pipeline_yaml, "weir compare @F\nweir report @N.db\n",
      "what limits it, and what would raise that?", "weir show @F\n" },
    { "jobs", NULL, ".yaml", weir_text_jobs_yaml, "weir compare @F\nweir report @N.db\n",
      "how many nodes keep the wait short?",
      "weir search @F --smallest cluster.nodes.dgx.count=2..12:1 --such-that "
      "'wait mean <= 1 h' -o @N-nodes.db\n" },
    { "incident", NULL, ".yaml", weir_text_incident_yaml, "weir compare @F\nweir report @N.db\n",
      "why did captioning get no more workers?",
      "weir explain @N.db --stage caption --from 11:03 --to 11:43\n" },
    { "policy", "scaling", ".c", weir_text_scaling_c,
      BUILD CHECK "weir new pipeline @N.yaml\n" WITH "'@N: sched.scaling=@N'\n",
      "what does the report say of its stages?", "weir report @N.db\n" },
    { "policy", "scaling", ".py", weir_text_scaling_py,
      "weir new pipeline @N.yaml\nweir compare @N.yaml --variant "
      "'@N: sched.scaling={policy: command, argv: [python3, @F]}'\n",
      "what does the report say of its stages?", "weir report @N.db\n" },
    { "policy", "placement", ".py", weir_text_placement_py,
      "weir new jobs @N.yaml\nweir compare @N.yaml --variant "
      "'@N: sched.placement={policy: command, argv: [python3, @F]}'\n",
      "do large jobs still find room?", "weir report @N.db\n" },
    { "policy", "queueing", ".py", weir_text_queueing_py,
      "weir new jobs @N.yaml\nweir compare @N.yaml --variant "
      "'@N: sched.queueing={policy: command, argv: [python3, @F], passes: true}'\n",
      "who waits for it?", "weir report @N.db\n" },
    { "policy", "placement", ".c", weir_text_placement_c,
      BUILD CHECK "weir new jobs @N.yaml\n" WITH "'@N: sched.placement=@N'\n",
      "do large jobs still find room?", "weir report @N.db\n" },
    { "policy", "queueing", ".c", weir_text_queueing_c,
      BUILD CHECK "weir new jobs @N.yaml\n" WITH "'@N: sched.queueing=@N'\n", "who waits for it?",
      "weir report @N.db\n" },
    { "policy", "capacity", ".c", weir_text_capacity_c,
      BUILD CHECK "weir new jobs @N.yaml\nweir compare @N.yaml --plugin ./@N.so "
                  "--set 'cluster.nodes.dgx.supply={min: 1, max: 4, boot: const(5 min)}' "
                  "--variant '@N: sched.capacity=@N'\n",
      "how many nodes were there, and who waited for them?", "weir report @N.db\n" },
    { "policy", "all", ".c", weir_text_template_c,
      BUILD CHECK "weir run SCENARIO --plugin ./@N.so --set sched.scaling=@N_queue_chaser\n", NULL,
      NULL },
};
enum { TEMPLATES = sizeof templates / sizeof templates[0] };

/* ---- names ---- */

/* What stands between the last slash and the ending. */
static bool stem_of(const char *name, char stem[STEM])
{
    const char *start = strrchr(name, '/') == NULL ? name : strrchr(name, '/') + 1;
    const char *dot = strrchr(start, '.');
    const size_t length = dot == NULL ? strlen(start) : (size_t)(dot - start);
    bool is_good = length > 0 && length < STEM && isalpha((unsigned char)start[0]) != 0;
    for (size_t i = 0; i < length && is_good; i++) {
        is_good = isalnum((unsigned char)start[i]) || start[i] == '_' || start[i] == '-';
        stem[i] = start[i];
    }
    stem[is_good ? length : 0] = '\0';
    return is_good;
}

/* Names of policies are those of the library; modules are made in the present folder. */
static bool is_identifier(const char *name, const char *stem)
{
    bool is_good = strchr(name, '/') == NULL;
    for (const char *at = stem; *at != '\0'; at++)
        is_good &= islower((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_';
    return is_good;
}

static const char *ending_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot == NULL || strchr(dot, '/') != NULL ? "" : dot;
}

/* ---- writing ---- */

/* Without the line of its licence: what is begun is the user's own. */
static void write_named(const char *text, const char *stem, FILE *out)
{
    static const char mark[] = "template";
    const bool is_licensed = strstr(text, "SPDX") < strchr(text, '\n');
    const char *rest = is_licensed ? strchr(text, '\n') + 1 : text;
    for (const char *at; (at = strstr(rest, mark)) != NULL; rest = at + sizeof mark - 1)
        (void)fprintf(out, "%.*s%s", (int)(at - rest), rest, stem);
    (void)fputs(rest, out);
}

/* Where the public headers are, as seen from the program: installed, or in its source tree. */
static void find_headers(char folder[PATH])
{
    static const char *const places[] = { "../include", "../sched/include", "../../sched/include" };
    static const char header[] = "/weir/policy.h";
    char program[PATH / 2] = "";
    const ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash = size > 0 ? strrchr(program, '/') : NULL;
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        *slash = '\0';
        const int length = snprintf(folder, PATH, "%s/%s%s", program, places[i], header);
        const bool is_there = access(folder, R_OK) == 0;
        folder[(size_t)length - (sizeof header - 1)] = '\0';
        if (is_there)
            return;
    }
    (void)snprintf(folder, PATH, "include");
}

static void say(const char *text, const char *file, const char *stem)
{
    char headers[PATH];
    const char *rest = text;
    find_headers(headers);
    for (const char *at; (at = strchr(rest, '@')) != NULL; rest = at + 2)
        printf("%.*s%s", (int)(at - rest), rest,
               at[1] == 'F'   ? file
               : at[1] == 'N' ? stem
                              : headers);
    (void)fputs(rest, stdout);
}

static int begin(const struct template *begun, const char *name)
{
    char path[PATH];
    char stem[STEM];
    struct written file;
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (!stem_of(name, stem) || (begun->policy != NULL && !is_identifier(name, stem))) {
        (void)fprintf(stderr, "weir new: '%s' is no name: %s, a letter first\n", name,
                      begun->policy == NULL ? "letters, digits, - and _"
                                            : "small letters, digits and _ only");
        return SIM_EXIT_USAGE;
    }
    (void)snprintf(path, sizeof path, "%s%s", name,
                   ending_of(name)[0] == '\0' ? begun->ending : "");
    if (access(path, F_OK) == 0) {
        (void)fprintf(stderr, "weir new: %s is there already, and stays: choose another name\n",
                      path);
        return SIM_EXIT_INPUT;
    }
    weir_status status = written_open_new(path, &file, &error);
    if (status == WEIR_OK) {
        write_named(begun->text, stem, file.out);
        status = written_close(&file, WEIR_OK, &error);
    }
    if (status != WEIR_OK)
        return sim_analysis_exit(status, &error);
    say(begun->commands, path, stem);
    if (begun->question != NULL) {
        printf("# %s\n", begun->question);
        say(begun->answer, path, stem);
    }
    return SIM_EXIT_OK;
}

int sim_policies_new(const char *name)
{
    return begin(&templates[TEMPLATES - 1], name);
}

/* ---- the command ---- */

static const char *language_ending(const struct arguments *given)
{
    const char *ending = ending_of(given->name);
    if (given->language != NULL)
        return strcmp(given->language, "python") == 0 ? ".py" : ".c";
    return ending[0] == '\0' && strcmp(given->kind, "policy") == 0 ? ".c" : ending;
}

static const struct template *find(const struct arguments *given)
{
    const char *policy = given->policy == NULL ? "scaling" : given->policy;
    for (size_t i = 0; i < TEMPLATES; i++)
        if (strcmp(templates[i].kind, given->kind) == 0 &&
            (templates[i].policy == NULL ||
             (strcmp(templates[i].policy, policy) == 0 &&
              strcmp(templates[i].ending, language_ending(given)) == 0)))
            return &templates[i];
    return NULL;
}

static void check(const void *arguments, const struct argp_state *state)
{
    const struct arguments *given = arguments;
    const bool is_policy = strcmp(given->kind, "policy") == 0;
    const char *ending = ending_of(given->name);
    const bool is_yaml = strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0;
    if (!is_policy && (given->policy != NULL || given->language != NULL))
        argp_error(state, "--kind and --language belong to `weir new policy`");
    if (!is_policy && ending[0] != '\0' && !is_yaml)
        argp_error(state, "'%s': scenarios end in .yaml", given->name);
    if (is_policy && strcmp(ending, ".c") != 0 && strcmp(ending, ".py") != 0 && ending[0] != '\0')
        argp_error(state, "'%s': policies end in .c or .py", given->name);
    if (is_policy && ending[0] != '\0' && strcmp(ending, language_ending(given)) != 0)
        argp_error(state, "'%s' is not %s by its ending", given->name, given->language);
    if (find(given) == NULL)
        argp_error(state,
                   "a program in Python is one policy of one kind: scaling, placement or queueing; "
                   "a module of several is written in C: weir new policy NAME.c --kind all");
}

static const struct sim_option command_rows[] = {
    { "kind", 0, "KIND", SIM_OPTION(TEXT, arguments, policy),
      "Of a policy: scaling (how many workers; default), placement (where), queueing (which job "
      "is next), capacity (which nodes are asked for), all (a commented module of two)",
      SIM_OPTION_WORDS_OF("scaling", "placement", "queueing", "capacity", "all") },
    { "language", 0, "LANGUAGE", SIM_OPTION(TEXT, arguments, language),
      "Of a policy: c or python (default: by the ending of the name)",
      SIM_OPTION_WORDS_OF("c", "python") },
    { .argument = "what to begin",
      SIM_OPTION(TEXT, arguments, kind),
      SIM_OPTION_WORDS_OF("pipeline", "jobs", "incident", "policy"),
      .missing = "begin what? pipeline, jobs, incident or policy" },
    { .argument = "NAME",
      SIM_OPTION(TEXT, arguments, name),
      .missing = "under which name? weir new pipeline my.yaml",
      .one = "one file at a time" },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .check = check,
    .usage = "pipeline|jobs|incident|policy NAME",
    .help = "Write a small commented file to start from. It runs as it is; the commands from it to "
            "a report are printed. An existing file is left alone (exit code 3).",
};

int sim_cmd_new(int argc, char **argv)
{
    struct arguments arguments = { .kind = NULL };
    sim_options_parse(&command_options, argc, argv, &arguments);
    const struct template *begun = find(&arguments);
    assert(begun != NULL && "check() has found it");
    return begin(begun, arguments.name);
}
