/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir help WORD: one door to everything that has a name. A word that only others use is explained
 * under ours; of one that nobody knows the nearest are named.
 */
#include "sim/cli/commands.h"
#include "sim/cli/options.h"
#include "sim/cli/words.h"
#include "sim/engine/nearest.h"
#include "sim/scenario/read/diagnostic.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_NAMES = 2048 };

struct arguments {
    struct sim_words words;
};

static const struct sim_option command_rows[] = {
    { .argument = "WORD",
      SIM_OPTION(WORDS, arguments, words),
      .missing = "about which word? a command, key, metric, policy, chart; weir list names them" },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .usage = "WORD",
    .help =
        "Say what a word means: a command, a key of scenarios (service, cluster.nodes.count), a "
        "metric (latency p95), a policy, a law, a chart, a GPU type, a format of traces.",
};

static bool explain(const char *word)
{
    bool is_known = false;
    for (size_t i = 0; i < sim_word_kinds_count; i++)
        is_known |= sim_word_kinds[i].explain(word);
    return is_known;
}

static int refuse(const char *word)
{
    bool is_near = false;
    const char **names = calloc(MOST_NAMES, sizeof *names);
    if (names == NULL)
        return SIM_EXIT_RESOURCE;
    (void)fprintf(stderr, "weir help: there is nothing called '%s'", word);
    for (size_t i = 0; i < sim_word_kinds_count; i++) {
        const struct sim_word_kind *kind = &sim_word_kinds[i];
        const char *near = sim_near_name(word, names, kind->names(names, MOST_NAMES));
        if (near != NULL)
            (void)fprintf(stderr, "%s the %s '%s'", is_near ? "," : "; did you mean", kind->one,
                          near);
        is_near |= near != NULL;
    }
    (void)fprintf(stderr, "%s\nTry 'weir list'.\n", is_near ? "?" : "");
    free(names);
    return SIM_EXIT_USAGE;
}

static bool is_before(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Alike but for capitals, for what joins words, and for one s at the end. */
static bool is_spelt(const char *word, const char *name)
{
    static const char joints[] = " _-";
    for (; *word != '\0' && *name != '\0'; word++, name++)
        if (tolower((unsigned char)*word) != tolower((unsigned char)*name) &&
            (strchr(joints, *word) == NULL || strchr(joints, *name) == NULL))
            return false;
    return (*name == '\0' && (*word == '\0' || strcasecmp(word, "s") == 0)) ||
           (*word == '\0' && strcasecmp(name, "s") == 0);
}

/* Every name that others call so, once. */
static bool explain_called(const char *word)
{
    const struct sim_word called = { word, strlen(word) };
    const char **names = calloc(MOST_NAMES, sizeof *names);
    bool is_known = false;
    for (size_t i = 0; i < sim_word_kinds_count && names != NULL; i++) {
        const size_t count = sim_word_kinds[i].names(names, MOST_NAMES);
        for (size_t n = 0; n < count; n++)
            if ((sim_is_called(called, names[n]) || is_spelt(word, names[n])) &&
                strcmp(names[n], word) != 0 && !is_before(names[n], names, n)) {
                printf("%s is called %s here\n", word, names[n]);
                is_known |= sim_word_kinds[i].explain(names[n]);
            }
    }
    free(names);
    return is_known;
}

int sim_cmd_help(int argc, char **argv)
{
    struct arguments arguments = { .words = { .count = 0 } };
    char word[256] = "";
    sim_options_parse(&command_options, argc, argv, &arguments);
    for (size_t i = 0; i < arguments.words.count; i++) {
        const size_t length = strlen(word);
        (void)snprintf(word + length, sizeof word - length, "%s%s", i == 0 ? "" : " ",
                       arguments.words.items[i]);
    }
    free(arguments.words.items);
    const bool is_ours = explain(word);
    return explain_called(word) || is_ours ? SIM_EXIT_OK : refuse(word);
}
