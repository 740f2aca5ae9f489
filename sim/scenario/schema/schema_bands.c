/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema's table of bands of priority. */
#include "sim/scenario/schema/schema_parts.h"

static const struct sim_field band_fields[] = {
    NAME_FIELD(draft_band, "what the band is called in results"),
    { WHOLE("lo", draft_band, lo), REQUIRED, RANGE(-1e9, 1e9),
      SHOWS("waits are also given for the band"), HELP("its lowest priority") },
    { WHOLE("hi", draft_band, hi), REQUIRED, RANGE(-1e9, 1e9),
      SHOWS("waits are also given for the band"), HELP("its highest priority") },
};
const struct sim_section sim_schema_band = {
    MAPPING("priority_bands[]", draft_band, band_fields),
    HELP("A range of priorities that has a name. Where there are bands every class of jobs has a "
         "priority in one of them, and waits are given for each (wait.band).")
};
