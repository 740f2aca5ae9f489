/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading whole files: see the header.
 */
#include "sim/scenario/read/input_file.h"

#include "sim/engine/digest.h"
#include "workloads/limits.h"

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

/* A signal that comes meanwhile is no reason to have read less. */
static size_t read_part(void *buffer, size_t size, FILE *in)
{
    size_t used = 0;
    bool is_on = true;
    while (is_on && used < size) {
        errno = 0;
        used += fread((char *)buffer + used, 1, size - used, in);
        is_on = ferror(in) != 0 && errno == EINTR;
        if (is_on)
            clearerr(in);
    }
    return used;
}

static char *read_stream(struct sim_arena *arena, FILE *in, uint64_t most_mib, size_t *length)
{
    enum { CHUNK = 65536 };
    char *buffer = NULL;
    size_t used = 0;
    size_t got = CHUNK;
    while (got == CHUNK && used >> 20 < most_mib) {
        char *grown = realloc(buffer, used + CHUNK);
        if (grown == NULL)
            abort();
        buffer = grown;
        got = read_part(buffer + used, CHUNK, in);
        used += got;
    }
    char *text = sim_arena_text(arena, buffer, used);
    free(buffer);
    *length = used;
    return text;
}

weir_status sim_input_file_digest(const char *path, int64_t *bytes, uint64_t *digest,
                                  struct weir_error *error)
{
    unsigned char part[4096]; /* a multiple of 8 */
    uint64_t so_far = SIM_DIGEST_START;
    uint64_t count = 0;
    size_t got = sizeof part;
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        return weir_fail(error, errno == ENOENT ? WEIR_ENOTFOUND : WEIR_EIO, "%s: %s", path,
                         strerror(errno));
    while (got == sizeof part) {
        got = read_part(part, sizeof part, in);
        so_far = sim_digest_part(so_far, part, got);
        count += got;
    }
    const bool is_broken = ferror(in) != 0;
    const int reason = errno;
    (void)fclose(in);
    if (is_broken)
        return weir_fail(error, WEIR_EIO, "%s: %s", path, strerror(reason));
    *bytes = (int64_t)count;
    *digest = sim_digest_word(so_far, count);
    return WEIR_OK;
}

char *sim_input_file_read_most(struct sim_arena *arena, const char *path, uint64_t most_mib,
                               size_t *length, struct weir_error *error)
{
    const bool is_standard = strcmp(path, "-") == 0;
    FILE *in = is_standard ? stdin : fopen(path, "rb");
    if (in == NULL) {
        (void)weir_fail(error, WEIR_EIO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    errno = 0;
    char *text = read_stream(arena, in, most_mib, length);
    const bool is_broken = ferror(in) != 0;
    const int reason = errno;
    if (!is_standard)
        (void)fclose(in);
    if (is_broken) {
        (void)weir_fail(error, WEIR_EIO, "%s: %s", path, strerror(reason));
        return NULL;
    }
    if (*length >> 20 >= most_mib) {
        (void)weir_fail(error, WEIR_EFORMAT, "%s: larger than %llu MiB", path,
                        (unsigned long long)most_mib);
        return NULL;
    }
    return text;
}

char *sim_input_file_read(struct sim_arena *arena, const char *folder, const char *path,
                          size_t *length, struct weir_error *error)
{
    const char *name = strcmp(path, "-") == 0 ? path : sim_input_file_path(arena, folder, path);
    return sim_input_file_read_most(arena, name, WL_SCENARIO_MIB, length, error);
}
