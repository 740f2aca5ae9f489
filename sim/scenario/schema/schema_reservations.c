/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema's table of reservations in advance. */
#include "sim/scenario/schema/schema_parts.h"

static const struct sim_field reservation_fields[] = {
    NAME_FIELD(draft_reservation, "what jobs say in `reservation`"),
    { TEXT("tenant", draft_reservation, tenant),
      ABSENT("the jobs that name it, else nobody: maintenance"), A_NAME,
      HELP("whose jobs may use it: those of the tenant and of the tenants below it") },
    { TIME("start", draft_reservation, start_ns), DEFAULT("0 s"), MOST(LARGEST_TIME),
      HELP("when it begins") },
    { TIME("duration", draft_reservation, duration_ns), REQUIRED, RANGE(1e-9, LARGEST_TIME),
      HELP("how long it lasts") },
    { COUNT("nodes", draft_reservation, nodes), ABSENT("by GPUs"), RANGE(1, 1e9),
      HELP("whole nodes, so many") },
    { COUNT("gpus", draft_reservation, gpus), ABSENT("by nodes"), RANGE(1, 1e9),
      HELP("whole nodes, as many as have so many GPUs") },
    { TEXT("gpu_types", draft_reservation, gpu_types), WORDS, ABSENT("any node"),
      HELP("nodes with GPUs of these types alone") },
};
const struct sim_section sim_schema_reservation = {
    MAPPING("reservations[]", draft_reservation, reservation_fields),
    HELP("Nodes that are somebody's for a time: no job that could still run by then is placed on "
         "them before, and no other while it lasts.")
};
