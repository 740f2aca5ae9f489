/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result file of an experiment: locked, refused, replaced or gone on with.
 *
 * Every run writes a shard, PATH.partN for run id N, and shards are joined in the order of the
 * runs. A finished run is in the file or in its shard from the moment its last row is committed, so
 * the end of the program at any time, however it ends, loses none.
 */
#ifndef SIM_CLI_EXPERIMENT_FILE_H
#define SIM_CLI_EXPERIMENT_FILE_H

#include "sim/cli/experiment/experiment.h"
#include "sim/cli/experiment/identity.h"
#include "sim/cli/experiment/result_lock.h"
#include "sim/record/record.h"

struct sim_experiment_file {
    struct sim_result_lock lock;
    struct sim_identity identity;
    struct sim_shard_blank blank;
    bool *is_done;   /* by run id - 1: finished, in the file */
    bool *has_shard; /* finished, in a shard that an earlier program left */
};

/* Locks and opens the file, with the rows of the experiment. `file` is to be closed in any case,
 * after the recorder. */
weir_status sim_experiment_file_open(const struct sim_experiment_options *options,
                                     const struct sim_experiment *experiment,
                                     struct sim_experiment_file *file,
                                     struct sim_recorder **recorder, struct weir_error *error);
void sim_experiment_file_close(struct sim_experiment_file *file);

/* What shards begin with: the facts that every database of the experiment carries. Once made it
 * stays, for all that follow. */
weir_status sim_experiment_make_blank(const struct sim_experiment *experiment,
                                      struct sim_experiment_file *file, struct weir_error *error);
weir_status sim_experiment_open_shard(const struct sim_experiment *experiment,
                                      const struct sim_experiment_file *file, size_t task,
                                      struct sim_recorder **recorder, struct weir_error *error);
/* The shard of a run into the file, and away with it. Without one nothing happens. */
weir_status sim_experiment_merge_shard(const struct sim_experiment *experiment, size_t task,
                                       struct sim_recorder *recorder, struct weir_error *error);

#endif
