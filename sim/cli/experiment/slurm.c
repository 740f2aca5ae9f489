/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scripts for Slurm, and their submission; see the header. */
#include "sim/cli/experiment/slurm.h"

#include "sim/cli/tell/analysis_options.h"
#include "sim/files/written.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where things are; absolute, for a task begins elsewhere. */
enum { PLACE = 768, WITHIN = 900 }; /* bytes of a path; longer ones are refused */
struct places {
    char here[PLACE], program[PLACE], folder[WITHIN];
    const char *database;
};

static int refuse(const char *what, const char *name)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    return sim_analysis_exit(weir_fail(&error, written_status(errno), "--engine slurm: %s: %s: %s",
                                       name, what, strerror(errno)),
                             &error);
}

static int find_places(struct places *places, const char *database)
{
    const ssize_t length = readlink("/proc/self/exe", places->program, sizeof places->program - 1);
    if (length < 0 || length == sizeof places->program - 1 ||
        getcwd(places->here, sizeof places->here) == NULL)
        return refuse("cannot be found", "the program or its folder");
    places->program[length] = '\0';
    places->database = database;
    const int written =
        snprintf(places->folder, sizeof places->folder, "%s%s%s.slurm",
                 database[0] == '/' ? "" : places->here, database[0] == '/' ? "" : "/", database);
    if (written < 0 || (size_t)written >= sizeof places->folder) {
        (void)fprintf(stderr, "weir: --engine slurm: a path is too long: %s\n", database);
        return SIM_EXIT_USAGE;
    }
    if (strchr(places->folder, '\'') != NULL || strchr(places->program, '\'') != NULL) {
        (void)fprintf(stderr, "weir: --engine slurm: a path has a quote: %s\n", places->folder);
        return SIM_EXIT_USAGE;
    }
    if (mkdir(places->folder, 0777) != 0 && errno != EEXIST)
        return refuse("cannot be made", places->folder);
    return SIM_EXIT_OK;
}

static void write_head(FILE *out, const struct places *places)
{
    (void)fprintf(
        out,
        "#!/bin/bash\n"
        "#SBATCH --job-name=weir\n"
        "#SBATCH --requeue\n"
        "#SBATCH --open-mode=append\n"
        "# Written by weir compare --engine slurm. Further #SBATCH lines may follow here.\n"
        "cd '%s' || exit 3\n"
        "folder='%s'\n",
        places->here, places->folder);
}

static void write_array(FILE *out, const struct places *places, const char *command_line,
                        unsigned parts)
{
    write_head(out, places);
    (void)fprintf(
        out,
        "part=$folder/part$SLURM_ARRAY_TASK_ID.db\n"
        "work=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/weir-$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID\n"
        "mkdir -p \"$work\" || exit 3\n"
        "[ ! -e \"$part\" ] || cp \"$part\" \"$work/part.db\"\n"
        "more=()\n"
        "[ ! -e \"$work/part.db\" ] || more=(--resume)\n"
        "is_late=\n"
        "trap 'is_late=1; kill -TERM $run' USR1\n"
        "trap 'kill -TERM $run' TERM\n"
        "'%s'%s -q --engine here --shard $SLURM_ARRAY_TASK_ID/%u -o \"$work/part.db\" "
        "\"${more[@]}\" &\n"
        "run=$!\n"
        "wait $run; code=$?\n"
        "while kill -0 $run 2>/dev/null; do wait $run; code=$?; done # a signal ends wait before "
        "it\n"
        "[ ! -e \"$work/part.db\" ] || { cp \"$work/part.db\" \"$part.new\" && mv \"$part.new\" "
        "\"$part\"; }\n"
        "rm -rf \"$work\"\n"
        "[ -z \"$is_late\" ] || scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\"\n"
        "exit $code\n",
        places->program, command_line + strlen("weir"), parts);
}

static void write_merge(FILE *out, const struct places *places)
{
    write_head(out, places);
    (void)fprintf(out, "exec '%s' merge \"$folder\"/part*.db -o '%s' --force\n", places->program,
                  places->database);
}

/* The job that sbatch names, 0 = it did not. */
static unsigned long submit(const char *command)
{
    char text[64] = "";
    FILE *answer = popen(command, "r"); /* NOLINT(cert-env33-c): words of ours, paths quoted */
    if (answer == NULL)
        return 0;
    const bool is_told = fgets(text, sizeof text, answer) != NULL;
    return pclose(answer) == 0 && is_told ? strtoul(text, NULL, 10) : 0;
}

static int submit_all(const struct places *places, unsigned parts)
{
    char command[3 * WITHIN];
    (void)snprintf(command, sizeof command,
                   "sbatch --parsable --array=1-%u --signal=B:USR1@120 --output='%s/part%%a.log' "
                   "'%s/array.sh'",
                   parts, places->folder, places->folder);
    const unsigned long array = submit(command);
    if (array > 0)
        (void)snprintf(command, sizeof command,
                       "sbatch --parsable --dependency=afterany:%lu --output='%s/merge.log' "
                       "'%s/merge.sh'",
                       array, places->folder, places->folder);
    const unsigned long merge = array > 0 ? submit(command) : 0;
    if (merge == 0) {
        (void)fprintf(stderr,
                      "weir: --engine slurm: sbatch did not take it; the scripts are %s/"
                      "array.sh and merge.sh\n",
                      places->folder);
        return SIM_EXIT_INPUT;
    }
    printf("job %lu: %u parts; job %lu then puts them together: %s. Scripts and logs: %s\n", array,
           parts, merge, places->database, places->folder);
    return SIM_EXIT_OK;
}

int sim_slurm_submit(const char *command_line, const char *database, unsigned parts)
{
    struct places places;
    int code = find_places(&places, database);
    for (int i = 0; i < 2 && code == SIM_EXIT_OK; i++) {
        struct weir_error error = { .phase = -1, .pool = -1 };
        struct written file;
        weir_status status =
            written_open_in(places.folder, i == 0 ? "array" : "merge", "sh", &file, &error);
        if (status == WEIR_OK && i == 0)
            write_array(file.out, &places, command_line, parts);
        else if (status == WEIR_OK)
            write_merge(file.out, &places);
        if (status == WEIR_OK)
            status = written_close(&file, WEIR_OK, &error);
        code = sim_analysis_exit(status, &error);
    }
    return code == SIM_EXIT_OK ? submit_all(&places, parts) : code;
}
