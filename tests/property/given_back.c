/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run took it gives back: a scenario that is loaded and run again leaves not a byte more
 * than the first time, whatever it has in it. (A run of the program is a process: nobody else
 * notices.)
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t taken(void)
{
    const struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

static void run_once(const char *path)
{
    struct sim_scenario *scenario = test_scenario(path, NULL);
    if (CHECK(scenario != NULL))
        free(test_run_fast(scenario, 0, NULL));
    sim_scenario_destroy(scenario);
}

static int is_yaml(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');
    return end != NULL && strcmp(end, ".yaml") == 0;
}

/* The first time takes what the libraries keep for themselves. What malloc keeps in reserve for a
 * thread counts as taken; checked by MALLOC_CHECK_ it keeps nothing. */
static void check_folder(const char *folder)
{
    char path[512];
    struct dirent **entries = NULL;
    (void)snprintf(path, sizeof path, "../%s", folder);
    const int count = scandir(test_data(path), &entries, is_yaml, alphasort);
    const size_t slack = getenv("MALLOC_CHECK_") == NULL ? 256 * 1024 : 0;
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        run_once(path);
        const size_t before = taken();
        run_once(path);
        const size_t after = taken();
        if (!CHECK(after <= before + slack))
            printf("    %s keeps %" PRId64 " bytes\n", path, (int64_t)(after - before));
        free(entries[i]);
    }
    free(entries);
}

static void a_run_gives_back_what_it_took(void)
{
    check_folder("tests/golden/results");
    check_folder("tests/golden/physics");
    check_folder("scenarios/physics");
}

static const struct test tests[] = {
    { "a run gives back what it took", a_run_gives_back_what_it_took },
};

TEST_MAIN(tests)
