/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir plot: one chart of a result database as SVG, PNG or PDF, or in the terminal; without a name
 * the list of charts.
 */
#include "analysis/chart/svg.h"
#include "sim/cli/ask/observed.h"
#include "sim/cli/commands.h"
#include "sim/cli/in_the_way.h"
#include "sim/cli/tell/analysis_options.h"
#include "sim/cli/words.h"
#include "sim/files/written.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    struct sim_options options;
    struct sim_run_choice choice;
    const char *database, *name, *output, *folder, *observed;
    struct an_moment at;
    bool is_term, force;
};

static const struct sim_option command_rows[] = {
    { "output", 'o', "FILE", SIM_OPTION(TEXT, arguments, output),
      "Picture to write, .svg .png or .pdf (default: NAME.svg)" },
    { "folder", 0, "FOLDER", SIM_OPTION(TEXT, arguments, folder),
      "Keep NAME.dat and NAME.gp there, to edit and draw again with gnuplot" },
    { "term", 0, NULL, SIM_OPTION(FLAG, arguments, is_term), "Draw with letters in the terminal" },
    { "at", 0, "TIME", SIM_OPTION(MOMENT, arguments, at),
      "Moment of the placement chart: 1h30m, 14:05, a stamp (default: the busiest)" },
    { "observed", 0, "FILE.csv", SIM_OPTION(TEXT, arguments, observed),
      "Measured curves (time, metric, stage, value), laid under the simulated ones" },
    { .argument = "DB", SIM_OPTION(TEXT, arguments, database), .missing = "which database?" },
    { .argument = "NAME", SIM_OPTION(TEXT, arguments, name), .one = "one chart at a time" },
    { SIM_OPTION(OTHERS, arguments, force), .others = &sim_force_option },
    { SIM_OPTION(OTHERS, arguments, choice), .others = &sim_run_choice_options },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_format },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .usage = "DB [NAME]",
    .help = "Draw one chart of a result database with gnuplot, or list the charts there are. With "
            "--format csv its series go to standard output.",
};

int sim_list_plots(const struct sim_options *options)
{
    static const struct sim_column columns[] = {
        { "chart", "name", NULL, false, false },
        { "question", "question", NULL, false, false },
    };
    struct sim_table *list = sim_table_create(columns, 2);
    for (size_t i = 0; i < an_plot_count(); i++) {
        const char *const cells[] = { an_plot_at(i)->name, an_plot_at(i)->question };
        sim_table_row(list, cells);
    }
    sim_table_print(list, options->format, stdout);
    sim_table_destroy(list);
    return SIM_EXIT_OK;
}

static weir_status copy_to_stdout(const char *path, struct weir_error *error)
{
    char *text = NULL;
    WEIR_TRY(an_read_text(path, &text, error));
    (void)fputs(text, stdout);
    free(text);
    return WEIR_OK;
}

/* Cells that blanks part, or quotes hold together, as those of CSV. */
static void print_cells(const char *at, size_t length)
{
    bool is_quoted = false;
    while (length > 0 && at[length - 1] == ' ')
        length--;
    for (size_t i = 0; i < length; i++) {
        is_quoted ^= at[i] == '"';
        (void)fputc(at[i] == ' ' && !is_quoted ? ',' : at[i], stdout);
    }
    (void)fputc('\n', stdout);
}

static void print_line(const char *line, size_t length, const char *name)
{
    const bool is_head = strncmp(line, "# ", 2) == 0;
    (void)fprintf(stdout, is_head ? "series," : "\"%.*s\",",
                  name == NULL ? 0 : (int)strcspn(name, "\n"), name);
    print_cells(line + (is_head ? 2 : 0), length - (is_head ? 2 : 0));
}

/* The series of a chart: a table each, which begins with its name. */
static weir_status print_series(const char *path, struct weir_error *error)
{
    char *text = NULL;
    const char *name = NULL; /* of the series; NULL = its line comes next */
    WEIR_TRY(an_read_text(path, &text, error));
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        if (length == 0) {
            name = NULL;
        } else if (name == NULL && strncmp(line, "# ", 2) == 0) {
            name = line + 2;
            (void)fputs(line == text ? "" : "\n", stdout);
        } else {
            print_line(line, length, name);
        }
        line += length + (line[length] == '\n' ? 1 : 0);
    }
    free(text);
    return WEIR_OK;
}

static void remove_in(const char *folder, const char *name, const char *end)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s%s", folder, name, end) < 0)
        return;
    (void)unlink(path);
    free(path);
}

/* No picture is asked for. */
static bool stays_in(const struct arguments *arguments)
{
    return arguments->is_term ||
           (arguments->options.format == SIM_FORMAT_CSV && arguments->output == NULL);
}

/* What is drawn, malloc'ed; a terminal picture is a file in `folder`. NULL = no memory. */
static char *picture_path(const struct arguments *arguments, const char *folder)
{
    char *path = NULL;
    const int length = arguments->output != NULL && !arguments->is_term
                           ? asprintf(&path, "%s", arguments->output)
                           : asprintf(&path, "%s/%s.%s", stays_in(arguments) ? folder : ".",
                                      arguments->name, arguments->is_term ? "txt" : "svg");
    return length < 0 ? NULL : path;
}

/* The picture, and a script that somebody may have edited; an exit code. */
static int check_outputs(const struct arguments *arguments)
{
    char *script = NULL;
    char *picture = stays_in(arguments) ? strdup("-") : picture_path(arguments, ".");
    const bool has_script = arguments->folder != NULL;
    const int length =
        has_script ? asprintf(&script, "%s/%s.gp", arguments->folder, arguments->name) : 0;
    int code = picture == NULL || length < 0
                   ? SIM_EXIT_RESOURCE
                   : sim_in_the_way("weir plot", picture, arguments->force);
    if (code == SIM_EXIT_OK && has_script)
        code = sim_in_the_way("weir plot", script, arguments->force);
    free(picture);
    if (length > 0)
        free(script);
    return code;
}

static weir_status print_data(const struct arguments *arguments, const char *folder,
                              struct weir_error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s.dat", folder, arguments->name) < 0)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = print_series(path, error);
    free(path);
    return status;
}

/* Draws into `folder`; a terminal picture goes through a file there. */
static weir_status draw_in(struct an_db *db, const struct arguments *arguments,
                           const struct an_observed *observed, const char *folder,
                           struct weir_error *error)
{
    const struct an_plot_options options = { .variant = arguments->choice.variant,
                                             .replication = arguments->choice.replication,
                                             .at_s = (double)NAN,
                                             .at = arguments->at,
                                             .observed = observed };
    char *path = picture_path(arguments, folder);
    if (path == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = an_plot(db, arguments->name, &options, folder, path, error);
    if (status == WEIR_OK && arguments->is_term)
        status = copy_to_stdout(path, error);
    else if (status == WEIR_OK && arguments->options.format == SIM_FORMAT_CSV)
        status = print_data(arguments, folder, error);
    else if (status == WEIR_OK)
        (void)printf("%s\n", path);
    free(path);
    return status;
}

static weir_status draw_open(struct an_db *db, const struct arguments *arguments,
                             const struct an_observed *observed, struct weir_error *error)
{
    char folder[] = "/tmp/weir-plot-XXXXXX";
    if (arguments->folder != NULL)
        return draw_in(db, arguments, observed, arguments->folder, error);
    if (mkdtemp(folder) == NULL)
        return weir_fail(error, written_status(errno), "no folder can be made in /tmp: %s",
                         strerror(errno));
    const weir_status status = draw_in(db, arguments, observed, folder, error);
    remove_in(folder, arguments->name, ".dat");
    remove_in(folder, arguments->name, ".gp");
    remove_in(folder, arguments->name, ".txt");
    remove_in(folder, arguments->name, ".svg");
    remove_in(folder, "gnuplot", ".log");
    (void)rmdir(folder);
    return status;
}

static weir_status draw(const struct arguments *arguments, struct weir_error *error)
{
    struct an_db *db = NULL;
    struct an_observed *observed = calloc(1, sizeof *observed);
    if (observed == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = an_open(arguments->database, &db, error);
    if (status == WEIR_OK)
        status = sim_observed_of(db, arguments->observed, observed, error);
    if (status == WEIR_OK)
        status = draw_open(db, arguments, observed, error);
    an_observed_clear(observed);
    free(observed);
    an_close(db);
    return status;
}

int sim_cmd_plot(int argc, char **argv)
{
    struct arguments arguments = { .is_term = false };
    sim_options_parse(&command_options, argc, argv, &arguments);
    if (arguments.name == NULL)
        return sim_list_plots(&arguments.options);
    if (arguments.options.format != SIM_FORMAT_TABLE &&
        arguments.options.format != SIM_FORMAT_CSV) {
        (void)fputs(
            "weir plot: --format csv prints the series of a chart; -o FILE.svg, .png or .pdf "
            "draws it\n",
            stderr);
        return SIM_EXIT_USAGE;
    }
    struct weir_error error = { .phase = -1, .pool = -1 };
    const int code = check_outputs(&arguments);
    if (code != SIM_EXIT_OK)
        return code;
    const weir_status status = draw(&arguments, &error);
    if (status == WEIR_ENOTFOUND && strstr(error.text, "there is no chart") != NULL) {
        (void)fprintf(stderr, "weir: %s; `weir plot %s` lists them\n", error.text,
                      arguments.database);
        return SIM_EXIT_USAGE;
    }
    return sim_analysis_exit(status, &error);
}
