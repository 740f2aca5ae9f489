/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading whole files: see the header.
 */
#include "sim/scenario/input_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *sim_input_file_folder(struct sim_arena *arena, const char *path)
{
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    return slash == NULL ? NULL : sim_arena_text(arena, path, (size_t)(slash - path) + 1);
}

char *sim_input_file_path(struct sim_arena *arena, const char *folder, const char *path)
{
    if (folder == NULL || path[0] == '/')
        return sim_arena_copy(arena, path);
    const bool has_slash = folder[0] != '\0' && folder[strlen(folder) - 1] == '/';
    return sim_arena_printf(arena, "%s%s%s", folder, has_slash ? "" : "/", path);
}

static char *read_stream(struct sim_arena *arena, FILE *in, size_t *length)
{
    enum { CHUNK = 65536 };
    char *buffer = NULL;
    size_t used = 0;
    size_t got = CHUNK;
    while (got == CHUNK && used <= SIM_INPUT_FILE_BYTES) {
        char *grown = realloc(buffer, used + CHUNK);
        if (grown == NULL)
            abort();
        buffer = grown;
        got = fread(buffer + used, 1, CHUNK, in);
        used += got;
    }
    char *text = sim_arena_text(arena, buffer, used);
    free(buffer);
    *length = used;
    return text;
}

char *sim_input_file_read(struct sim_arena *arena, const char *folder, const char *path,
                          size_t *length, struct weir_error *error)
{
    const bool is_standard = strcmp(path, "-") == 0;
    const char *name = is_standard ? path : sim_input_file_path(arena, folder, path);
    FILE *in = is_standard ? stdin : fopen(name, "rb");
    if (in == NULL) {
        (void)weir_fail(error, WEIR_EIO, "%s: %s", name, strerror(errno));
        return NULL;
    }
    errno = 0;
    char *text = read_stream(arena, in, length);
    const bool is_broken = ferror(in) != 0;
    const int reason = errno;
    if (!is_standard)
        (void)fclose(in);
    if (is_broken) {
        (void)weir_fail(error, WEIR_EIO, "%s: %s", name, strerror(reason));
        return NULL;
    }
    if (*length > SIM_INPUT_FILE_BYTES) {
        (void)weir_fail(error, WEIR_EFORMAT, "%s: larger than 8 MiB", name);
        return NULL;
    }
    return text;
}
