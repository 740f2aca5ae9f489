/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standard error of runs; see the header. */
#include "sim/cli/experiment/run_stderr.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* Its name is that of the shard and more, so that it goes with stale shards. */
static void name_file(const struct sim_experiment *experiment, size_t task, char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s.part%zu.stderr", experiment->path, task + 1);
}

void sim_run_stderr_catch(const struct sim_experiment *experiment, size_t task)
{
    char path[PATH_BYTES];
    name_file(experiment, task, path);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return;
    (void)dup2(file, STDERR_FILENO);
    (void)close(file);
}

void sim_run_stderr_forget(const struct sim_experiment *experiment, size_t task)
{
    char path[PATH_BYTES];
    name_file(experiment, task, path);
    (void)unlink(path);
}

/* The last bytes of the file. */
static size_t read_end(const char *path, char text[SIM_RUN_STDERR + 1])
{
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return 0;
    if (fseek(in, -(long)SIM_RUN_STDERR, SEEK_END) != 0)
        rewind(in);
    size_t length = fread(text, 1, SIM_RUN_STDERR, in);
    (void)fclose(in);
    while (length > 0 && text[length - 1] == '\n')
        length--;
    text[length] = '\0';
    return length;
}

char *sim_run_stderr_take(const struct sim_experiment *experiment, size_t task, const char *message)
{
    char path[PATH_BYTES];
    char printed[SIM_RUN_STDERR + 1];
    char *text = NULL;
    const size_t variant = task / experiment->replications;
    name_file(experiment, task, path);
    const size_t length = read_end(path, printed);
    (void)unlink(path);
    if (message == NULL && length > 0)
        (void)fprintf(stderr, "%s\n", printed);
    if (message == NULL)
        return NULL;
    const int written =
        asprintf(&text, "%s%s%s; repeat it: weir run %s --variant '%s' --replication %zu", message,
                 length == 0 ? "" : "; it printed: ", length == 0 ? "" : printed, experiment->path,
                 experiment->labels[variant], task % experiment->replications);
    return written < 0 ? strdup(message) : text;
}
