/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an experiment is: program, seed, replications, the resolved scenario of every variant, and
 * the files that were read, as named facts. Two experiments with the same facts have the same
 * results, so runs of one may stand beside runs of the other; with others they may not.
 *
 * The facts are rows of meta (`identity_NAME`), their digest is the row `identity`, in shards too.
 */
#ifndef SIM_CLI_IDENTITY_H
#define SIM_CLI_IDENTITY_H

#include "sim/cli/experiment/experiment.h"

struct sim_identity {
    struct sim_fact {
        char *name, *value;
    } * facts;
    size_t count;
    char digest[17];
};

/* `identity` is to be cleared in any case. */
weir_status sim_identity_build(const struct sim_experiment_options *options,
                               const struct sim_experiment *experiment,
                               struct sim_identity *identity, struct weir_error *error);
void sim_identity_clear(struct sim_identity *identity);

weir_status sim_identity_write(const struct sim_identity *identity, struct sim_recorder *recorder,
                               struct weir_error *error);

/* WEIR_EIO with the first difference when the database is of another experiment. */
weir_status sim_identity_compare(const struct sim_identity *identity,
                                 const struct sim_experiment *experiment, struct sqlite3 *database,
                                 struct weir_error *error);

#endif
