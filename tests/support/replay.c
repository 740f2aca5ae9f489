/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays a fuzz corpus as an ordinary test: `program FOLDER...` gives the empty input and then
 * every file of each folder, in the order of their names, to the fuzz target. The target crashes
 * or aborts on a fault; a folder that cannot be read or holds no file is a fault too, and so is one
 * of which no file comes to what the target is for.
 */
#include "tests/support/reached.h"

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_file(const char *folder, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    uint8_t *data = size < 0 ? NULL : malloc((size_t)size + 1);
    int failed = 1;
    if (data != NULL && fseek(file, 0, SEEK_SET) == 0 &&
        fread(data, 1, (size_t)size, file) == (size_t)size) {
        (void)fprintf(stderr, "%s: %ld bytes\n", path, size);
        (void)LLVMFuzzerTestOneInput(data, (size_t)size);
        failed = 0;
    } else {
        perror(path);
    }
    free(data);
    if (file != NULL)
        (void)fclose(file);
    return failed;
}

static int replay_folder(const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_input, alphasort);
    int failures = count <= 0;
    if (failures)
        (void)fprintf(stderr, "%s: no input to replay\n", folder);
    for (int i = 0; i < count; i++) {
        failures += replay_file(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return failures;
}

int main(int argc, char **argv)
{
    int failures = 0;
    (void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++)
        failures += replay_folder(argv[i]);
    (void)fprintf(stderr, "%zu times what the target is for was reached\n", fuzz_reached_count());
    return failures != 0 || (argc > 1 && fuzz_reached_count() == 0);
}
