/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are written: what stands under a name is whole, the old one or the new one. */
#include "sim/files/written.h"
#include "sim/files/gzip_stream.h"
#include "tests/support/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct place {
    char folder[32], path[64];
};

static struct place make_place(void)
{
    struct place place = { .folder = "/tmp/weir-written-XXXXXX" };
    CHECK(mkdtemp(place.folder) != NULL);
    (void)snprintf(place.path, sizeof place.path, "%s/x.txt", place.folder);
    return place;
}

static size_t count_files(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    while (dir != NULL && readdir(dir) != NULL)
        count++;
    if (dir != NULL)
        (void)closedir(dir);
    return count - 2;
}

static void remove_place(const struct place *place)
{
    char path[320];
    const struct dirent *entry = NULL;
    DIR *dir = opendir(place->folder);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        (void)snprintf(path, sizeof path, "%s/%s", place->folder, entry->d_name);
        (void)unlink(path);
    }
    if (dir != NULL)
        (void)closedir(dir);
    CHECK(rmdir(place->folder) == 0);
}

/* Its first bytes; "" when there is no such file. gzread reads plain files, too. */
static const char *text_of(const char *path, char text[static 64])
{
    const gzFile in = gzopen(path, "rb");
    const int length = in == NULL ? 0 : gzread(in, text, 63);
    text[length < 0 ? 0 : length] = '\0';
    if (in != NULL)
        (void)gzclose(in);
    return text;
}

static weir_status write_to(const char *path, const char *text, weir_status status)
{
    struct written file;
    const weir_status opened = written_open(path, &file, NULL);
    if (opened != WEIR_OK)
        return opened;
    (void)fputs(text, file.out);
    return written_close(&file, status, NULL);
}

static void a_file_appears_when_it_is_whole(void)
{
    char text[64];
    struct written file;
    const struct place place = make_place();
    for (int round = 0; round < 2; round++) {
        CHECK_I64(written_open(place.path, &file, NULL), WEIR_OK);
        CHECK(fputs("new", file.out) >= 0 && fflush(file.out) == 0);
        CHECK_STR(text_of(place.path, text), round == 0 ? "" : "new and whole");
        CHECK_I64(count_files(place.folder), round);
        (void)fputs(" and whole", file.out);
        CHECK_I64(written_close(&file, WEIR_OK, NULL), WEIR_OK);
        CHECK_STR(text_of(place.path, text), "new and whole");
        CHECK_I64(count_files(place.folder), 1);
    }
    remove_place(&place);
}

static void the_old_file_stays_when_the_writer_fails(void)
{
    char text[64];
    const struct place place = make_place();
    CHECK_I64(write_to(place.path, "half", WEIR_EFORMAT), WEIR_EFORMAT);
    CHECK_I64(count_files(place.folder), 0);
    CHECK_I64(write_to(place.path, "old", WEIR_OK), WEIR_OK);
    CHECK_I64(write_to(place.path, "half", WEIR_EFORMAT), WEIR_EFORMAT);
    CHECK_STR(text_of(place.path, text), "old");
    CHECK_I64(count_files(place.folder), 1);
    remove_place(&place);
}

static void a_replaced_file_keeps_its_mode_and_its_links(void)
{
    char text[64];
    char link_path[64];
    struct stat before;
    struct stat after;
    const struct place place = make_place();
    CHECK_I64(write_to(place.path, "old", WEIR_OK), WEIR_OK);
    CHECK(chmod(place.path, 0640) == 0);
    (void)snprintf(link_path, sizeof link_path, "%s/soft", place.folder);
    CHECK(symlink("x.txt", link_path) == 0);
    CHECK_I64(write_to(link_path, "new", WEIR_OK), WEIR_OK);
    CHECK(lstat(link_path, &after) == 0 && S_ISLNK(after.st_mode));
    CHECK(stat(place.path, &before) == 0);
    CHECK_I64(before.st_mode & 0777, 0640);
    CHECK_STR(text_of(place.path, text), "new");
    (void)snprintf(link_path, sizeof link_path, "%s/hard", place.folder);
    CHECK(link(place.path, link_path) == 0);
    CHECK_I64(write_to(place.path, "both", WEIR_OK), WEIR_OK);
    CHECK_STR(text_of(link_path, text), "both");
    CHECK(stat(place.path, &after) == 0 && after.st_ino == before.st_ino);
    remove_place(&place);
}

static void a_new_file_replaces_nothing(void)
{
    char text[64];
    struct written file;
    const struct place place = make_place();
    CHECK_I64(written_open_new(place.path, &file, NULL), WEIR_OK);
    CHECK_I64(write_to(place.path, "faster", WEIR_OK), WEIR_OK); /* meanwhile */
    CHECK_I64(written_close(&file, WEIR_OK, NULL), WEIR_EIO);
    CHECK_I64(written_open_new(place.path, &file, NULL), WEIR_EIO);
    CHECK_STR(text_of(place.path, text), "faster");
    CHECK_I64(count_files(place.folder), 1);
    remove_place(&place);
}

static void a_full_disk_is_told_from_other_errors(void)
{
    struct weir_error error = { .phase = -1 };
    struct written file;
    CHECK_I64(written_open("/dev/full", &file, &error), WEIR_OK);
    (void)fputs("x", file.out);
    CHECK_I64(written_close(&file, WEIR_OK, &error), WEIR_ENOMEM);
    CHECK_STR(error.text, "/dev/full: cannot be written to: No space left on device");
    CHECK_I64(written_open("/nowhere/x", &file, &error), WEIR_EIO);
    CHECK_STR(error.text,
              "/nowhere/x: cannot be written: its folder does not exist; mkdir -p makes it");
}

static void a_name_in_gz_compresses(void)
{
    char text[64];
    char path[80];
    const struct place place = make_place();
    (void)snprintf(path, sizeof path, "%s.gz", place.path);
    CHECK_I64(write_to(path, "packed", WEIR_OK), WEIR_OK);
    CHECK_STR(text_of(path, text), "packed");
    unsigned char magic[2] = { 0 };
    const int file = open(path, O_RDONLY);
    CHECK(read(file, magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b);
    (void)close(file);
    remove_place(&place);
}

/* Bytes that do not compress, in pieces of all sizes, come back as they were. */
static void what_is_compressed_comes_back_whole(void)
{
    enum { BYTES = 300000 };
    static unsigned char bytes[BYTES], back[BYTES + 1];
    const struct place place = make_place();
    uint64_t state = 1;
    for (size_t i = 0; i < BYTES; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        bytes[i] = (unsigned char)(state >> 56);
    }
    FILE *out = gzip_stream_open(open(place.path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    CHECK(out != NULL);
    for (size_t at = 0, piece = 0; out != NULL && at < BYTES; at += piece, piece += 7)
        CHECK(fwrite(bytes + at, 1, at + piece < BYTES ? piece : BYTES - at, out) > 0 ||
              piece == 0);
    CHECK(out != NULL && fclose(out) == 0);
    const gzFile in = gzopen(place.path, "rb");
    CHECK(gzdirect(in) == 0 && gzread(in, back, BYTES + 1) == BYTES);
    CHECK(memcmp(bytes, back, BYTES) == 0);
    (void)gzclose(in);
    remove_place(&place);
}

/* However much is written before the disk says so, its reason stays. */
static void a_full_disk_is_told_of_compressed_files_too(void)
{
    for (size_t bytes = 0; bytes <= 1000000; bytes = 10 * bytes + 1) {
        FILE *out = gzip_stream_open(open("/dev/full", O_WRONLY));
        CHECK(out != NULL);
        uint64_t state = bytes;
        for (size_t i = 0; out != NULL && i < bytes; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            (void)fputc((int)(state >> 56), out);
        }
        errno = 0;
        CHECK(out != NULL && fclose(out) == EOF);
        CHECK_I64(errno, ENOSPC);
    }
    CHECK(gzip_stream_open(-1) == NULL);
}

/* In TMPDIR where its name fits with the last byte, else in /tmp; never a name that is cut off. */
static void a_temporary_file_is_where_its_name_fits(void)
{
    struct weir_error error = { .phase = -1 };
    const struct place place = make_place();
    const size_t whole = strlen(place.folder) + strlen("/weir-XXXXXX") + 1;
    CHECK_I64(setenv("TMPDIR", place.folder, 1), 0);
    for (size_t capacity = whole - 2; capacity <= whole + 2; capacity++) {
        char path[64];
        CHECK_I64(written_temporary(path, capacity, &error), WEIR_OK);
        const bool is_there = strncmp(path, place.folder, strlen(place.folder)) == 0;
        CHECK_I64(is_there, capacity >= whole);
        CHECK_I64(strlen(path), is_there ? whole - 1 : strlen("/tmp/weir-XXXXXX"));
        CHECK_I64(unlink(path), 0);
    }
    CHECK_I64(unsetenv("TMPDIR"), 0);
    remove_place(&place);
}

static const struct test tests[] = {
    { "a temporary file is where its name fits", a_temporary_file_is_where_its_name_fits },
    { "a file appears when it is whole", a_file_appears_when_it_is_whole },
    { "the old file stays when the writer fails", the_old_file_stays_when_the_writer_fails },
    { "a replaced file keeps its mode and its links",
      a_replaced_file_keeps_its_mode_and_its_links },
    { "a new file replaces nothing", a_new_file_replaces_nothing },
    { "a full disk is told from other errors", a_full_disk_is_told_from_other_errors },
    { "a name in .gz compresses", a_name_in_gz_compresses },
    { "what is compressed comes back whole", what_is_compressed_comes_back_whole },
    { "a full disk is told of compressed files, too", a_full_disk_is_told_of_compressed_files_too },
};
TEST_MAIN(tests)
