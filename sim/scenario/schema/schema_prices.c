/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema's table of prices; those of GPUs stand with their types. */
#include "sim/scenario/schema/schema_parts.h"

#define LARGEST_PRICE 1e9

static const struct sim_field prices_fields[] = {
    { CHOICE("billing", draft_prices, to.billing, "use|nodes"), DEFAULT("use"),
      SHOWS("it is reckoned afterwards"),
      HELP("what is paid: what workers hold, or the nodes that are up, whoever uses them") },
    { CHOICE("granularity", draft_prices, granularity, "second|minute|hour"), DEFAULT("second"),
      SHOWS("it is reckoned afterwards"),
      HELP("the life of a worker, or each time that a node is up, is paid in whole ones of these, "
           "the "
           "last one begun counts; what still lives at the end has no bill yet and is paid "
           "exactly") },
    { NUMBER("cpu", draft_prices, to.cpu), DEFAULT("0"), MOST(LARGEST_PRICE),
      SHOWS("it is reckoned afterwards"), HELP("price of a CPU for an hour") },
    { NUMBER("storage", draft_prices, to.storage), DEFAULT("0"), MOST(LARGEST_PRICE),
      ACTS(SIM_ACTS_TIMED), SHOWS("it is reckoned afterwards"),
      HELP("price of a GiB read from a store or written to one") },
    { NUMBER("network", draft_prices, to.network), DEFAULT("0"), MOST(LARGEST_PRICE),
      ACTS(SIM_ACTS_PIPELINES), SHOWS("it is reckoned afterwards"),
      HELP("price of a GiB that goes to another node") },
};
const struct sim_section sim_schema_prices = {
    MAPPING("prices", draft_prices, prices_fields),
    HELP("What is paid, in any currency; with it results have cost.*. GPUs have their `price` in "
         "the catalogue, lateness in `jobs[].late_price`.")
};
