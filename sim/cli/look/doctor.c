/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir doctor: what this machine offers to the program, and what is missing.
 *
 * Looks, and changes nothing but one temporary file in the working folder that is removed at once.
 */
#include "analysis/print.h"
#include "analysis/program.h"
#include "sim/cli/commands.h"
#include "sim/cli/options.h"
#include "weir/version.h"

#include <errno.h>
#include <gsl/gsl_version.h>
#include <jansson.h>
#include <libfyaml.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { CELL = 512, NEEDED_MIB = 100 };

static const struct sim_column columns[] = { { "what", "what", NULL, false, false },
                                             { "state", "state", NULL, false, false },
                                             { "found", "found", NULL, false, false },
                                             { "for", "purpose", NULL, false, false } };
enum { COLUMNS = sizeof columns / sizeof columns[0] };

struct visit {
    struct sim_table *table;
    size_t missing; /* of what is needed */
};

static void note(struct visit *visit, const char *what, bool is_good, const char *found,
                 const char *purpose)
{
    const char *const cells[COLUMNS] = { what, is_good ? "ok" : "MISSING", found, purpose };
    sim_table_row(visit->table, cells);
    visit->missing += is_good ? 0 : 1;
}

static void visit_programs(struct visit *visit)
{
    char path[CELL];
    const bool has_gnuplot = an_program_find("gnuplot", path, sizeof path);
    note(visit, "gnuplot", has_gnuplot, path, "charts and reports");
    note(visit, "browser", true, an_print_check(NULL) == WEIR_OK ? "found" : "none",
         "reports as PDF, if you want them");
}

static void visit_libraries(struct visit *visit)
{
    char interface[CELL];
    note(visit, "SQLite", sqlite3_libversion_number() >= 3037000, sqlite3_libversion(),
         "result databases (3.37: strict tables)");
    note(visit, "GSL", true, gsl_version, "statistics, throughput bounds");
    note(visit, "libfyaml", true, fy_library_version(), "scenarios");
    note(visit, "jansson", true, jansson_version_str(), "weir decide");
    (void)snprintf(interface, CELL, "%d.%d", WEIR_ABI_MAJOR, WEIR_ABI_MINOR);
    note(visit, "module interface", true, interface, "--plugin");
}

static void visit_place(struct visit *visit)
{
    struct statvfs disk;
    char text[CELL] = "cannot be told";
    char name[24];
    int file = -1;
    double free_mib = 0;
    if (statvfs(".", &disk) == 0) {
        free_mib = (double)disk.f_bavail * (double)disk.f_frsize / 1048576.0;
        (void)snprintf(text, CELL, "%.0f MiB free", free_mib);
    }
    note(visit, "disk space", free_mib >= NEEDED_MIB, text, "result databases here");
    do {
        (void)snprintf(name, sizeof name, "./weir-doctor-XXXXXX");
        file = mkstemp(name);
    } while (file < 0 && errno == EINTR);
    note(visit, "write permission", file >= 0, file >= 0 ? "yes" : "no", "result databases here");
    if (file >= 0) {
        (void)close(file);
        (void)unlink(name);
    }
    const char *locale = getenv("LC_ALL") != NULL ? getenv("LC_ALL") : getenv("LANG");
    note(visit, "locale", true, locale == NULL ? "C" : locale, "nothing: it is never used");
}

static const struct sim_option command_rows[] = {
    { .kind = SIM_OPTION_OTHERS, .others = &sim_options_format },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows), .help = "Look for what the program needs on this machine.\v"
                                           "Exit codes: 0 all there, 1 something is missing."
};

int sim_cmd_doctor(int argc, char **argv)
{
    struct sim_options options = { 0 };
    struct visit visit = { .table = sim_table_create(columns, COLUMNS) };
    sim_options_parse(&command_options, argc, argv, &options);
    visit_programs(&visit);
    visit_libraries(&visit);
    visit_place(&visit);
    sim_table_print(visit.table, options.format, stdout);
    sim_table_destroy(visit.table);
    return visit.missing > 0 ? SIM_EXIT_CHECK : SIM_EXIT_OK;
}
