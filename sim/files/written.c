/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that appear when they are whole; see the header. */
#include "sim/files/written.h"

#include "sim/files/gzip_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 65536, RIGHTS = 0666, HEAD = 512 };

weir_status written_status(int reason)
{
    const bool is_full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
    return is_full ? WEIR_ENOMEM : WEIR_EIO;
}

/* ---- opening ---- */

/* In the folder of `path`. */
static int open_unnamed(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL   ? strdup(".")
                   : slash == path ? strdup("/")
                                   : strndup(path, (size_t)(slash - path));
    if (folder == NULL)
        return -1;
    const int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, RIGHTS);
    free(folder);
    return file;
}

/* The new file has to be what the old one is to others. */
static bool takes_after(int file, const struct stat *before)
{
    return fchown(file, before->st_uid, before->st_gid) == 0 &&
           fchmod(file, before->st_mode & 0777) == 0;
}

/* -1 where a file without a name cannot take the place of what is there. */
static int open_apart(const struct written *made)
{
    struct stat before;
    const bool is_there = stat(made->path, &before) == 0;
    if (access("/proc/self/fd", X_OK) != 0) /* by which it gets its name */
        return -1;
    if (is_there &&
        (!S_ISREG(before.st_mode) || before.st_nlink != 1 || access(made->path, W_OK) != 0))
        return -1;
    const int file = open_unnamed(made->path);
    if (file >= 0 && is_there && !takes_after(file, &before)) {
        (void)close(file);
        return -1;
    }
    return file;
}

bool written_ends(const char *path, const char *ending)
{
    const size_t length = strlen(path);
    const size_t tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

/* The stream has a descriptor of its own, so that all is written when it is closed. */
static FILE *stream_of(const struct written *made)
{
    const int place = made->is_new ? O_EXCL : O_TRUNC;
    const int file = made->file >= 0
                         ? fcntl(made->file, F_DUPFD_CLOEXEC, 0)
                         : open(made->path, O_WRONLY | O_CREAT | O_CLOEXEC | place, RIGHTS);
    if (file < 0)
        return NULL;
    FILE *out = written_ends(made->path, ".gz") ? gzip_stream_open(file) : fdopen(file, "w");
    if (out == NULL) {
        const int reason = errno;
        (void)close(file);
        errno = reason;
        return NULL;
    }
    (void)setvbuf(out, NULL, _IOFBF, BUFFER);
    return out;
}

static void clear(struct written *made)
{
    if (made->file >= 0)
        (void)close(made->file);
    free(made->path);
    *made = (struct written){ .file = -1 };
}

static weir_status open_as(const char *path, bool is_new, struct written *made,
                           struct weir_error *error)
{
    struct stat there;
    char *behind = is_new ? NULL : realpath(path, NULL);
    *made = (struct written){ .path = behind == NULL ? strdup(path) : behind,
                              .file = -1,
                              .is_new = is_new };
    if (made->path == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    errno = EEXIST;
    if (!is_new || lstat(path, &there) != 0) {
        made->file = open_apart(made);
        made->out = stream_of(made);
    }
    if (made->out != NULL)
        return WEIR_OK;
    const int reason = errno;
    clear(made);
    return weir_fail(error, written_status(reason), "%s: cannot be written: %s", path,
                     reason == ENOENT ? "its folder does not exist; mkdir -p makes it"
                                      : strerror(reason));
}

weir_status written_open(const char *path, struct written *made, struct weir_error *error)
{
    return open_as(path, false, made, error);
}

weir_status written_open_new(const char *path, struct written *made, struct weir_error *error)
{
    return open_as(path, true, made, error);
}

weir_status written_open_in(const char *folder, const char *name, const char *end,
                            struct written *made, struct weir_error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s.%s", folder, name, end) < 0)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = written_open(path, made, error);
    free(path);
    return status;
}

/* ---- closing ---- */

static int link_as(const struct written *made, const char *path)
{
    char from[64];
    (void)snprintf(from, sizeof(from), "/proc/self/fd/%d", made->file);
    return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* What was there stays until what replaces it is on the disk. */
static int replace(const struct written *made)
{
    char *beside = NULL;
    if (asprintf(&beside, "%s.%ld.new", made->path, (long)getpid()) < 0)
        return ENOMEM;
    (void)unlink(beside); /* of a process that had this number and is gone */
    int reason = fsync(made->file) == 0 ? link_as(made, beside) : errno;
    if (reason == 0 && rename(beside, made->path) != 0) {
        reason = errno;
        (void)unlink(beside);
    }
    free(beside);
    return reason;
}

static int give_name(const struct written *made)
{
    const int reason = link_as(made, made->path);
    return reason == EEXIST && !made->is_new ? replace(made) : reason;
}

/* Why not all of it was written; 0 = it was. */
static int end_stream(FILE *out)
{
    const bool is_broken = ferror(out) != 0;
    errno = 0; /* what was not written yet is tried again, and tells why it cannot be */
    const bool is_closed = fclose(out) == 0;
    if (is_closed && !is_broken)
        return 0;
    return is_closed || errno == 0 ? EIO : errno;
}

weir_status written_close(struct written *made, weir_status status, struct weir_error *error)
{
    int reason = end_stream(made->out);
    if (reason == 0 && status == WEIR_OK && made->file >= 0)
        reason = give_name(made);
    if ((reason != 0 || status != WEIR_OK) && made->file < 0 && made->is_new)
        (void)unlink(made->path); /* or the next attempt would be refused */
    if (reason != 0)
        status = weir_fail(error, written_status(reason), "%s: cannot be written to: %s",
                           made->path, strerror(reason));
    clear(made);
    return status;
}

bool written_is_marked(const char *path)
{
    char head[HEAD] = "";
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const size_t size = fread(head, 1, sizeof head, file);
    (void)fclose(file);
    return memmem(head, size, WRITTEN_MARK, sizeof WRITTEN_MARK - 1) != NULL;
}

/* ---- files of no name that anybody chose ---- */

weir_status written_temporary(char *path, size_t capacity, struct weir_error *error)
{
    static const char name[] = "weir-XXXXXX";
    const char *folder = getenv("TMPDIR");
    if (folder == NULL || folder[0] == '\0' || strlen(folder) + 1 + sizeof name > capacity)
        folder = "/tmp";
    (void)snprintf(path, capacity, "%s/%s", folder, name);
    const int file = mkstemp(path);
    if (file < 0)
        return weir_fail(error, written_status(errno),
                         "%s: cannot create a temporary file: %s (TMPDIR)", path, strerror(errno));
    (void)close(file);
    return WEIR_OK;
}
