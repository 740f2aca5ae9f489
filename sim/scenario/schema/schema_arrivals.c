/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of arrivals, of jobs and of items. What both have in common stands in macros;
 * a load has a meaning for jobs alone.
 */
#include "sim/scenario/schema/schema_parts.h"

#define OF_A_PROCESS NEEDS("process: poisson|renewal|hyperexponential|modulated|diurnal")

#define PROCESS_FIELD(means, words)                                                                \
    {                                                                                              \
        CHOICE("process", draft_arrivals, to.kind,                                                 \
               "trace|poisson|renewal|hyperexponential|modulated|diurnal"),                        \
            ABSENT(means), OTHERWISE(words),                                                       \
            HELP("trace: when the trace says; poisson; renewal: gaps of the law `gap`; "           \
                 "hyperexponential: gaps of variation `cv`; modulated: Poisson that switches "     \
                 "between bursts and lulls; diurnal: Poisson whose rate follows the time of day")  \
    }

#define PARAMETER_FIELDS(what, batch_says)                                                         \
    { NUMBER("scale", draft_arrivals, to.scale), UNIT(FRACTION), ABSENT("1"), RANGE(1e-6, 1e6),    \
      HELP("so many times the rate, whatever says it: 140% = 40 % more load. " what) },            \
        { LAW("gap", draft_arrivals, to.gap), UNIT(TIME),                                          \
          HELP("for renewal: time between arrivals") },                                            \
        { COUNT("measurements", draft_arrivals, to.measurements), ABSENT("its mean is known"),     \
          RANGE(1, 1e9), OF_A_PROCESS,                                                             \
          HELP("gaps that the rate, or gap, rests on: every replication draws it anew, within "    \
               "what they leave open") },                                                          \
        { NUMBER("cv", draft_arrivals, to.cv), ABSENT("2"), RANGE(1, 1000),                        \
          NEEDS("process: hyperexponential"),                                                      \
          HELP("for hyperexponential: standard deviation over mean of the gaps") },                \
        { NUMBER("burst", draft_arrivals, to.burst), ABSENT("4"), RANGE(1, 1e6),                   \
          NEEDS("process: modulated"),                                                             \
          HELP("for modulated: rate of a burst over the mean rate") },                             \
        { NUMBER("burst_share", draft_arrivals, to.burst_share),                                   \
          UNIT(FRACTION),                                                                          \
          ABSENT("10%"),                                                                           \
          RANGE(1e-6, 0.999999),                                                                   \
          NEEDS("process: modulated"),                                                             \
          HELP("for modulated: share of the time in bursts; burst x burst_share is at most 1") },  \
        { TIME("dwell", draft_arrivals, to.dwell_ns), ABSENT("10 min"), RANGE(1e-3, LARGEST_TIME), \
          NEEDS("process: modulated"), HELP("for modulated: mean length of a burst") },            \
        { NUMBER("amplitude", draft_arrivals, to.amplitude),                                       \
          UNIT(FRACTION),                                                                          \
          ABSENT("50%"),                                                                           \
          MOST(1),                                                                                 \
          NEEDS("process: diurnal"),                                                               \
          HELP("for diurnal: swing of the rate about its mean") },                                 \
        { TIME("period", draft_arrivals, to.period_ns), ABSENT("24 h"), RANGE(1e-3, LARGEST_TIME), \
          NEEDS("process: diurnal"), HELP("for diurnal") },                                        \
        { TIME("peak", draft_arrivals, to.peak_ns), ABSENT("12 h"), MOST(LARGEST_TIME),            \
          NEEDS("process: diurnal"),                                                               \
          HELP("for diurnal: when in the period the rate is highest") },                           \
    {                                                                                              \
        LAW("batch", draft_arrivals, to.batch), ABSENT("1"), OF_A_PROCESS, HELP(batch_says)        \
    }

static const struct sim_field job_fields[] = {
    PROCESS_FIELD("poisson, with a trace trace", "poisson|trace"),
    { NUMBER("rate", draft_arrivals, to.rate_per_s), UNIT(RATE), ABSENT("by load"),
      RANGE(1e-12, 1e9), OF_A_PROCESS, HELP("jobs per second on average") },
    { NUMBER("load", draft_arrivals, load), UNIT(FRACTION), ABSENT("by rate"), RANGE(1e-9, 1e6),
      OF_A_PROCESS,
      HELP("instead of rate: demand (rate x mean of GPUs x time) over the cluster's GPUs, of CPUs "
           "when it has no GPU; a variant has the load of the baseline's cluster") },
    PARAMETER_FIELDS("Of a trace so many times the jobs: thinned copies on top, moved by "
                     "whole weeks or days; time is not squeezed",
                     "jobs that arrive together, rounded; rate and load stay those of jobs"),
    { CHOICE("resample", draft_arrivals, to.resample, "none|days"), ABSENT("none"),
      HELP("days: every day is a drawn one of the trace, of the same weekday where it has two "
           "weeks; "
           "the same draw for all variants, another one for each replication") },
};
const struct sim_section sim_schema_job_arrivals = {
    MAPPING("jobs[].arrivals", draft_arrivals, job_fields), SCALAR("process"), SOURCES,
    HELP("When jobs arrive. The name of a process, or a mapping.")
};

static const struct sim_field item_fields[] = {
    PROCESS_FIELD("renewal with gap, trace with a file that has times, else poisson",
                  "renewal|trace|poisson"),
    { NUMBER("rate", draft_arrivals, to.rate_per_s), UNIT(RATE), RANGE(1e-12, 1e9), OF_A_PROCESS,
      HELP("items per second on average; needed by all but renewal and trace") },
    PARAMETER_FIELDS("Times of a file are divided by it; items stay what they are",
                     "items that arrive together, rounded; the rate stays that of items, but with "
                     "renewal `gap` is between batches"),
};
const struct sim_section sim_schema_item_arrivals = {
    MAPPING("pipelines[].input.arrivals", draft_arrivals, item_fields), SCALAR("gap"), SOURCES,
    NOT_OF(&sim_schema_job_arrivals, "acts on jobs (jobs[].arrivals)"),
    HELP("When items arrive. A law of the time between them, or a mapping.")
};
