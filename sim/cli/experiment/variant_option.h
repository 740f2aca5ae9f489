/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --variant 'LABEL: path=value, path=-': a variant from the command line, beside those of the
 * scenario. Commas within brackets and quotes belong to a value; `-` removes what is there.
 */
#ifndef SIM_CLI_VARIANT_OPTION_H
#define SIM_CLI_VARIANT_OPTION_H

#include "sim/cli/options.h"
#include "sim/scenario/scenario.h"

/* The variants that the words stand for; malloc'ed, to be freed with sim_variants_free. NULL when a
 * word is none: what is wrong with it was printed. */
struct sim_variant *sim_variants_parse(const struct sim_words *words);
/* The length of a setting: up to a comma that stands in no brackets and no quotes. */
size_t sim_setting_length(const char *text);
void sim_variants_free(struct sim_variant *variants, size_t count);

#endif
