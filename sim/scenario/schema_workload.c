/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of workloads (jobs), innermost mappings first.
 */
#include "sim/scenario/schema_parts.h"

static const struct sim_field target_fields[] = {
    { .key = "share",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_target, frac),
      .initial = "95%",
      .min = 1e-6,
      .max = 1,
      .help = "share of the jobs to cover, most frequent kinds first" },
    { .key = "cpu_jobs",
      .kind = SIM_FIELD_FLAG,
      AT(draft_target, has_cpu_jobs),
      .initial = "true",
      .help = "whether jobs without GPUs count" },
};
static const struct sim_section target_section = {
    .name = "workloads[].target",
    .help = "The target workload: the kinds of jobs that fragmentation is measured against.",
    .fields = target_fields,
    .count = LENGTH(target_fields),
    .size = sizeof(struct draft_target)
};

static const struct sim_field defrag_fields[] = {
    { .key = "rule",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_defrag, rule),
      .initial = "none",
      .choices = "none|greedy|batch|one_pod",
      .help = "greedy: one by one the moves that lower fragmentation most for the size of the job; "
              "batch: those that take most of it along leave together, then all are placed; "
              "one_pod: the same, one from each of the worst nodes (FGD simulator)" },
    { .key = "budget",
      .kind = SIM_FIELD_NUMBER,
      .unit = SIM_UNIT_FRACTION,
      AT(draft_defrag, budget_frac),
      .initial = "1%",
      .max = 1,
      .help = "share of the placed jobs that may move" },
    { .key = "cost",
      .kind = SIM_FIELD_TIME,
      .unit = SIM_UNIT_TIME,
      AT(draft_defrag, cost_ns),
      .initial = "2m",
      .max = LARGEST_TIME,
      .help = "time for which the GPUs of a moved job do nothing" },
};
static const struct sim_section defrag_section = {
    .name = "workloads[].defrag",
    .help = "What if some jobs were moved at the end: measured after the results of the run, which "
            "do not change.",
    .fields = defrag_fields,
    .count = LENGTH(defrag_fields),
    .size = sizeof(struct draft_defrag),
    .scalar_key = "rule"
};

static const struct sim_field workload_fields[] = {
    NAME_FIELD(draft_workload, "name of the workload"),
    { .key = "kind",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_workload, kind),
      .initial = "openb",
      .choices = "openb",
      .help = "format of the trace: openb = Alibaba cluster-trace-gpu-v2023" },
    { .key = "pods",
      .kind = SIM_FIELD_TEXT,
      .flags = SIM_FIELD_REQUIRED,
      AT(draft_workload, pods),
      .help = "table of the jobs: cpu_milli, memory_mib, num_gpu, gpu_milli, and gpu_spec where "
              "jobs ask for models (plain or gzip)" },
    { .key = "order",
      .kind = SIM_FIELD_TEXT,
      AT(draft_workload, order),
      .initial = "none",
      .help = "file with orders of arrival and ranks of nodes, which decide ties; none = jobs and "
              "nodes as their files have them" },
    { .key = "order_key",
      .kind = SIM_FIELD_TEXT,
      AT(draft_workload, order_key),
      .help = "which order of the file: TRACE:SEED" },
    { .key = "mode",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_workload, mode),
      .initial = "static",
      .choices = "static",
      .help = "static: jobs arrive one by one, each is placed at once or refused, none ends" },
    { .key = "refused",
      .kind = SIM_FIELD_CHOICE,
      AT(draft_workload, refusal),
      .initial = "forget",
      .choices = "forget|stop",
      .help = "a job that fits nowhere is forgotten (its demand has arrived all the same), or "
              "stops the run" },
    { .key = "target",
      .kind = SIM_FIELD_SECTION,
      AT(draft_workload, target),
      .section = &target_section,
      .help = "what fragmentation is measured against" },
    { .key = "defrag",
      .kind = SIM_FIELD_SECTION,
      AT(draft_workload, defrag),
      .section = &defrag_section,
      .help = "what if some jobs were moved at the end" },
};
const struct sim_section sim_schema_workload = {
    .name = "workloads[]",
    .help = "Jobs from a trace. Placement policies that know several rules take those made for "
            "jobs unless told otherwise: fgd {metric: paper, tie: first, score: grade}, best_fit "
            "{measure: amounts}.",
    .fields = workload_fields,
    .count = LENGTH(workload_fields),
    .size = sizeof(struct draft_workload)
};
