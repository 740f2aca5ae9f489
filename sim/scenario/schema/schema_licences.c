/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema's tables of licences: how many there are, and how many a job takes. */
#include "sim/scenario/schema/schema_parts.h"

static const struct sim_field licence_fields[] = {
    { COUNT("limit", draft_licence, limit), REQUIRED, RANGE(1, 1e9),
      HELP("how many the whole cluster has") },
    { WHOLE("priority_threshold", draft_licence, priority_threshold), ABSENT("any priority"),
      RANGE(-1e9, 1e9),
      HELP("only jobs of at least this priority take any; others wait for good") },
};
const struct sim_section sim_schema_licence = {
    MAPPING("licences.NAME", draft_licence, licence_fields), SCALAR("limit"),
    HELP("Things of which the cluster has so many and that stand on no node: licences of a program "
         "(Slurm), custom resources (Ray). A job holds them from its start to its end.")
};

static const struct sim_field taken_fields[] = {
    { COUNT("count", draft_taken, count), DEFAULT("1"), RANGE(1, 1e9), HELP("so many of it") },
};
const struct sim_section sim_schema_taken = {
    MAPPING("jobs[].classes[].licences.NAME", draft_taken, taken_fields), SCALAR("count"), SOURCES,
    HELP("Licences that each job takes, whatever its members: {matlab: 2}.")
};
