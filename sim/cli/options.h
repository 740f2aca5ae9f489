/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Command lines: each command has one table that says which options and words it takes, where they
 * go and what its help says. Reading, ranges, help, completion and near names come from it.
 *
 * A row with a name is an option, one without is a word of the command line (an operand), and a row
 * of kind OTHERS brings in the rows that many commands share. Wrong usage ends the program with
 * code 2; an unknown option is refused with the nearest known one, and so is one that would do
 * nothing: for want of another option, or with such a file.
 */
#ifndef SIM_CLI_OPTIONS_H
#define SIM_CLI_OPTIONS_H

#include "sim/cli/table.h"

#include <argp.h>
#include <stddef.h>
#include <stdint.h>

enum sim_exit {
    SIM_EXIT_OK = 0,
    SIM_EXIT_CHECK = 1,     /* a check or an expectation failed */
    SIM_EXIT_USAGE = 2,     /* usage or invalid scenario */
    SIM_EXIT_INPUT = 3,     /* input file or database */
    SIM_EXIT_POLICY = 4,    /* scheduler module */
    SIM_EXIT_INVARIANT = 5, /* broken invariant */
    SIM_EXIT_RESOURCE = 6,  /* out of memory or disk */
    SIM_EXIT_INTERRUPTED = 130
};

/* Words in the order in which they were given; they point into the command line. */
struct sim_words {
    const char **items;
    size_t count;
};

enum sim_option_kind {
    SIM_OPTION_TEXT,    /* const char *; one of `words` where there are any */
    SIM_OPTION_FLAG,    /* bool */
    SIM_OPTION_COUNT,   /* uint32_t */
    SIM_OPTION_COUNT64, /* uint64_t, or int64_t with a limit that it can hold */
    SIM_OPTION_CHOICE,  /* uint32_t or an enum: index into `words` */
    SIM_OPTION_MOMENT,  /* struct an_moment: 90, 15m, 1h30m, 14:05:00, a stamp */
    SIM_OPTION_WORDS,   /* struct sim_words; may be repeated */
    SIM_OPTION_OTHERS   /* what the rows of `others` fill */
};

/* What a command was given to work on. */
enum sim_file_kind { SIM_FILE_SCENARIO = 1, SIM_FILE_DATABASE = 2, SIM_FILE_TRACE = 4 };

struct sim_option_table;

/* In the order in which its rows are written.
 * NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct sim_option {
    const char *name;     /* NULL = an operand */
    int letter;           /* 0 = none */
    const char *argument; /* as the help calls it */
    uint32_t kind;        /* enum sim_option_kind */
    size_t offset;
    const char *help;
    const char *const *words;  /* ended by NULL */
    uint64_t min, max;         /* of counts; max 0 = the largest there is */
    bool is_list;              /* WORDS: may be joined by commas */
    const char *all;           /* COUNT: a word that stands for UINT32_MAX; NULL = none */
    const char *without;       /* the argument that an option without one stands for */
    uint32_t of;               /* the kinds of files with which it does something; 0 = all */
    const char *belongs_to;    /* an option that it needs; NULL = none */
    size_t given;              /* of a bool that says whether it was given; 0 = none */
    const char *missing, *one; /* of an operand: what is said when it is not there, or once more */
    const struct sim_option_table *others;
};

struct sim_option_table {
    const struct sim_option *rows;
    size_t count;
    const char *usage, *help;
    /* Names of the options that --help shows, between blanks; the others are in --help-all. NULL =
     * all. */
    const char *shown;
    uint32_t (*kind_of)(const void *arguments); /* enum sim_file_kind; NULL = one kind alone */
    /* What no single row can see: ends the program by argp_error(); NULL = nothing. */
    void (*check)(const void *arguments, const struct argp_state *state);
};

#define SIM_OPTION(its_kind, type, member)                                                         \
    .kind = SIM_OPTION_##its_kind, .offset = offsetof(struct type, member)
#define SIM_OPTION_WORDS_OF(...)                                                                   \
    .words = (const char *const[])                                                                 \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define SIM_OPTION_ROWS(table) .rows = (table), .count = sizeof(table) / sizeof((table)[0])

struct sim_options {
    enum sim_format format;   /* --format; what it was before when not given */
    struct sim_words sets;    /* --set path=value, in order */
    struct sim_words plugins; /* --plugin FILE, in order */
    bool in_process;          /* --in-process: they run in the process of the run */
    struct sim_words limits;  /* --limit NAME=NUMBER */
};

/* Of a struct sim_options: --format table|json|csv|md; --plugin FILE; --set PATH=VALUE with
 * --plugin. */
extern const struct sim_option_table sim_options_format;
extern const struct sim_option_table sim_options_plugin;
extern const struct sim_option_table sim_options_scenario;

/* The only word of a command line that makes sim_options_parse() print the long options, one a
 * line, and end the program: how completion learns them. */
#define SIM_OPTIONS_LIST "--list-options"

/* Fills `arguments`, which holds the defaults. words[0] is the subcommand's name; messages begin
 * with "weir NAME". */
void sim_options_parse(const struct sim_option_table *table, int argc, char **words,
                       void *arguments);

void sim_options_clear(struct sim_options *options);

#endif
