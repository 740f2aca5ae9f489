/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lock of a result file, when its holder lets go while another one takes it. */
#include "sim/cli/experiment/result_lock.h"
#include "tests/support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What happens between opening the file of a lock and locking it. */
static struct {
    const char *path; /* it loses this name; NULL = nothing */
    bool is_taken;    /* and a third one has made and locked another file of that name */
    int third;
} between = { .third = -1 };

/* That of the library, for this program: what is called after the file was opened. */
int flock(int file, int operation)
{
    if (between.path != NULL) {
        CHECK(unlink(between.path) == 0);
        if (between.is_taken) {
            between.third = open(between.path, O_RDWR | O_CREAT | O_EXCL, 0600);
            CHECK(syscall(SYS_flock, between.third, LOCK_EX) == 0);
            CHECK(dprintf(between.third, "%ld the third one\n", (long)getpid()) > 0);
        }
        between.path = NULL;
    }
    return (int)syscall(SYS_flock, file, operation);
}

static weir_status lock_while(bool is_taken, struct sim_result_lock *lock, struct weir_error *error)
{
    char folder[] = "/tmp/weir-lock-XXXXXX";
    char database[64];
    char path[80];
    struct stat held = { 0 };
    struct stat named = { 0 };
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(database, sizeof(database), "%s/x.db", folder);
    (void)snprintf(path, sizeof(path), "%s.lock", database);
    between.path = path;
    between.is_taken = is_taken;
    const weir_status status = sim_result_lock(database, "the second one", lock, error);
    CHECK(between.path == NULL);
    CHECK(stat(path, &named) == 0);
    if (status == WEIR_OK)
        CHECK(fstat(lock->file, &held) == 0 && held.st_ino == named.st_ino);
    sim_result_unlock(lock);
    if (is_taken) {
        CHECK(close(between.third) == 0);
        CHECK(unlink(path) == 0); /* it was not ours to remove */
    }
    CHECK(rmdir(folder) == 0);
    return status;
}

static void a_file_that_is_gone_is_made_again(void)
{
    struct sim_result_lock lock;
    struct weir_error error = { 0 };
    CHECK_I64(lock_while(false, &lock, &error), WEIR_OK);
}

static void a_file_that_is_gone_is_no_lock(void)
{
    struct sim_result_lock lock;
    struct weir_error error = { 0 };
    CHECK_I64(lock_while(true, &lock, &error), WEIR_EIO);
    CHECK(strstr(error.text, "is writing it (the third one)") != NULL);
}

static const struct test tests[] = {
    { "the file of a lock that is gone is made again", a_file_that_is_gone_is_made_again },
    { "who locks the file that is gone is refused by who has its name",
      a_file_that_is_gone_is_no_lock },
};

TEST_MAIN(tests)
