/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay FILE...: known cases of the schedulers that weir repeats, judged one line a case.
 *
 * Exit codes: 0 all agree (or differ by a stated rule), 1 a case failed, 2 usage, or a file that is
 * not of the formats. docs/replay.md has the formats and the rules.
 */
#include "tests/replay/replay.h"

#include <string.h>

enum { EXIT_AGREED, EXIT_FAILED, EXIT_USAGE };

static void print_count(const char *path, const struct replay_tally *tally)
{
    printf("%s: %u ok (%u of them exact), %u by a stated rule, %u failed\n", path, tally->ok,
           tally->exact, tally->deviations, tally->failed);
}

static void add(struct replay_tally *sum, const struct replay_tally *tally)
{
    sum->ok += tally->ok;
    sum->exact += tally->exact;
    sum->deviations += tally->deviations;
    sum->failed += tally->failed;
}

int main(int argc, char **argv)
{
    struct replay_tally sum = { 0 };
    bool is_broken = false;

    if (argc < 2 || (argv[1][0] == '-' && argv[1][1] != '\0')) {
        const bool is_help = argc == 2 && strcmp(argv[1], "--help") == 0;
        fputs("usage: replay FILE...\n"
              "Judges known decisions of other schedulers, one line a case; '-' reads standard "
              "input.\nExit codes: 0 all agree, 1 a case failed, 2 usage or unreadable file.\n",
              is_help ? stdout : stderr);
        return is_help ? EXIT_AGREED : EXIT_USAGE;
    }
    for (int i = 1; i < argc; i++) {
        struct weir_error error = { .phase = -1, .pool = -1 };
        struct replay_tally tally = { 0 };
        if (replay_check_file(argv[i], stdout, &tally, &error) != WEIR_OK) {
            fprintf(stderr, "replay: %s\n", error.text);
            is_broken = true;
        }
        if (argc > 2)
            print_count(argv[i], &tally);
        add(&sum, &tally);
    }
    print_count("all", &sum);
    return is_broken ? EXIT_USAGE : sum.failed > 0 ? EXIT_FAILED : EXIT_AGREED;
}
