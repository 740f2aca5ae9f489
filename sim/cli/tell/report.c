/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir report: one self-contained HTML page from a result database.
 */
#include "analysis/claim.h"
#include "analysis/database/query.h"
#include "analysis/text.h"
#include "analysis/windows.h"
#include "sim/cli/ask/observed.h"
#include "sim/cli/ask/what_if.h"
#include "sim/cli/ask/windows_given.h"
#include "sim/cli/commands.h"
#include "sim/cli/in_the_way.h"
#include "sim/cli/tell/analysis_options.h"
#include "sim/scenario/read/input_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, NOTES_MIB = 1 };
enum { FORMAT_HTML, FORMAT_JSON, FORMAT_MARKDOWN };

struct arguments {
    struct sim_run_choice choice;
    struct sim_windows_given windows;
    struct sim_options options; /* modules: for windows */
    const char *database, *output, *observed, *notes;
    uint32_t format; /* html, json, md */
    uint32_t as;     /* enum an_page_kind */
    bool what_if, force;
};

static const struct sim_option command_rows[] = {
    { "output", 'o', "FILE.html", SIM_OPTION(TEXT, arguments, output),
      "Page to write (default: beside the database); FILE.pdf: printed by chromium, where it is "
      "installed" },
    { "format", 'f', "FORMAT", SIM_OPTION(CHOICE, arguments, format),
      "html; json: the claims that a page may make, with their figures; md: what a review finds; "
      "both to stdout (default: html)",
      SIM_OPTION_WORDS_OF("html", "json", "md") },
    { "as", 0, "KIND", SIM_OPTION(CHOICE, arguments, as),
      "What the page answers first: incident (what happened, why, does a fix work), review (how "
      "much is enough, for how much, until when), run; auto: incident where the scenario has "
      "windows (default: auto)",
      SIM_OPTION_WORDS_OF("auto", "run", "incident", "review") },
    { "notes", 0, "FILE.md", SIM_OPTION(TEXT, arguments, notes),
      "With --as review: your own words, headings, lists and paragraphs in Markdown" },
    { "observed", 0, "FILE.csv", SIM_OPTION(TEXT, arguments, observed),
      "Measured curves (time, metric, stage, value), laid under the simulated ones; how far it is "
      "from them" },
    { "what-if", 0, NULL, SIM_OPTION(FLAG, arguments, what_if),
      "Say on the page of an incident which change would have helped, the smallest, found by "
      "trying" },
    { .argument = "DB",
      SIM_OPTION(TEXT, arguments, database),
      .missing = "which database?",
      .one = "one database, please" },
    { SIM_OPTION(OTHERS, arguments, force), .others = &sim_force_option },
    { SIM_OPTION(OTHERS, arguments, windows), .others = &sim_windows_given_options },
    { SIM_OPTION(OTHERS, arguments, choice), .others = &sim_run_choice_options },
};

/* A page is no document of an office, whatever its name says. */
static bool is_page(const char *path)
{
    const char *dot = strrchr(path, '.');
    return strncmp(path, "/dev/", 5) == 0 ||
           (dot != NULL &&
            (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0 || strcmp(dot, ".pdf") == 0));
}

static void check_options(const void *arguments, const struct argp_state *state)
{
    const struct arguments *given = arguments;
    if (given->output != NULL && given->format != FORMAT_HTML)
        argp_error(state, "--output names a page; --format %s goes to standard output: > %s",
                   given->format == FORMAT_JSON ? "json" : "md", given->output);
    if (given->output != NULL && !is_page(given->output))
        argp_error(state,
                   "--output: %s: a page ends in .html or .pdf; as text: --as review --format md",
                   given->output);
    if (given->notes != NULL && (given->as != AN_PAGE_REVIEW || given->format != FORMAT_HTML))
        argp_error(state, "--notes belongs to a page of --as review");
    if (given->format == FORMAT_MARKDOWN && given->as != AN_PAGE_REVIEW)
        argp_error(state, "--format md belongs to --as review");
}

static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .usage = "DB",
    .check = check_options,
    .help = "Write a report about one run of a result database and the comparison it belongs to: "
            "findings, tables, charts with their data, assumptions, how to repeat. The page loads "
            "nothing and needs no script.",
};

/* review.db -> review.html */
static void default_output(const char *database, char path[PATH_ROOM])
{
    const char *slash = strrchr(database, '/');
    const char *dot = strrchr(database, '.');
    const bool has_ending = dot != NULL && (slash == NULL || dot > slash + 1) && dot != database;
    const size_t stem = has_ending ? (size_t)(dot - database) : strlen(database);
    (void)snprintf(path, PATH_ROOM, "%.*s.html", (int)stem, database);
}

/* An incident has a before and a during. */
static weir_status check_windows(struct an_db *db, const char *path, struct weir_error *error)
{
    struct an_windows windows;
    WEIR_TRY(an_windows_read(db, &windows, error));
    if (windows.count > 0)
        return WEIR_OK;
    return weir_fail(error, WEIR_EINVAL,
                     "%s: a page of an incident needs windows in the scenario, as \"windows: "
                     "{before: ..11:03, outage: 11:03..11:43}\" (docs/windows.md)",
                     path);
}

static weir_status write_output(const struct arguments *arguments, struct an_db *db,
                                const struct an_plot_options *options, const char *output,
                                struct weir_error *error)
{
    switch (arguments->format) {
    case FORMAT_JSON:
        return an_claims_print(db, options, stdout, error);
    case FORMAT_MARKDOWN:
        return an_review_markdown(db, stdout, error);
    default:
        return an_report(db, options, output, error);
    }
}

/* What the reader of a review says himself. */
static weir_status read_notes(const char *path, struct sim_arena *arena, const char **notes,
                              struct weir_error *error)
{
    size_t length = 0;
    char *text = sim_input_file_read_most(arena, path, NOTES_MIB, &length, error);
    if (text == NULL)
        return WEIR_EIO;
    if (strlen(text) < length)
        return weir_fail(error, WEIR_EFORMAT, "%s: is no text: a byte 0", path);
    an_clean(text);
    *notes = text;
    return WEIR_OK;
}

/* The page, or its claims, of a database that has its windows. */
static int report(const struct arguments *arguments, const char *database, const char *output,
                  const char *what_if)
{
    struct sim_arena arena = { .blocks = NULL };
    struct an_observed *observed = calloc(1, sizeof *observed);
    struct an_plot_options options = { .variant = arguments->choice.variant,
                                       .replication = arguments->choice.replication,
                                       .at_s = (double)NAN,
                                       .as = arguments->as,
                                       .what_if = what_if,
                                       .observed = arguments->observed == NULL ? NULL : observed };
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_db *db = NULL;
    weir_status status = observed == NULL ? weir_fail(&error, WEIR_ENOMEM, "out of memory")
                                          : an_open(database, &db, &error);
    if (status == WEIR_OK)
        status = an_db_rename(db, arguments->database, &error);
    if (status == WEIR_OK)
        status = sim_observed_of(db, arguments->observed, observed, &error);
    if (status == WEIR_OK && arguments->as == AN_PAGE_INCIDENT)
        status = check_windows(db, arguments->database, &error);
    if (status == WEIR_OK && arguments->notes != NULL)
        status = read_notes(arguments->notes, &arena, &options.notes, &error);
    if (status == WEIR_OK)
        status = write_output(arguments, db, &options, output, &error);
    sim_arena_clear(&arena);
    an_close(db);
    if (observed != NULL)
        an_observed_clear(observed);
    free(observed);
    if (status == WEIR_OK && arguments->format == FORMAT_HTML)
        (void)printf("%s\n", output);
    return sim_analysis_exit(status, &error);
}

int sim_cmd_report(int argc, char **argv)
{
    struct arguments arguments = { .choice = { .variant = NULL } };
    sim_options_parse(&command_options, argc, argv, &arguments);
    char path[PATH_ROOM];
    char copy[SIM_WINDOWS_COPY];
    char what_if[SIM_WHAT_IF_TEXT] = "";
    default_output(arguments.database, path);
    if (arguments.output == NULL)
        arguments.output = path;
    copy[0] = '\0';
    int code = arguments.format == FORMAT_HTML
                   ? sim_in_the_way("weir report", arguments.output, arguments.force)
                   : SIM_EXIT_OK;
    if (code == SIM_EXIT_OK)
        code =
            sim_windows_measure(arguments.database, &arguments.windows, &arguments.options, copy);
    if (code == SIM_EXIT_OK && arguments.what_if) {
        const struct sim_what_if asked = { .database = arguments.database,
                                           .choice = &arguments.choice,
                                           .windows = &arguments.windows,
                                           .options = &arguments.options };
        code = sim_what_if(&asked, what_if);
    }
    if (code == SIM_EXIT_OK)
        code = report(&arguments, copy[0] == '\0' ? arguments.database : copy, arguments.output,
                      what_if);
    if (copy[0] != '\0')
        (void)unlink(copy);
    return code;
}
