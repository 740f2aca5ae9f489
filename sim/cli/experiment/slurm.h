/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An experiment on a Slurm cluster: the array of its parts and the merge that waits for them, as
 * scripts beside the database that is asked for, and submitted.
 *
 * A task works on the disk of its node (SLURM_TMPDIR, TMPDIR), goes on from what is there when it
 * is requeued, and on USR1, two minutes before its time is up, keeps what is finished and asks to
 * be requeued. The scripts are plain bash: who wants other limits edits them and submits them
 * again.
 */
#ifndef SIM_CLI_SLURM_H
#define SIM_CLI_SLURM_H

/* `command_line` as sim_command_line() has it. Returns an exit code; messages went to standard
 * error. */
int sim_slurm_submit(const char *command_line, const char *database, unsigned parts);

#endif
