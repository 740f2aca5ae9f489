/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints of jobs: which keys their rule of the interval needs, and where their bytes go. */
#include "sim/scenario/resolve/resolve.h"

static int64_t time_or_none(int64_t given_ns)
{
    return given_ns == SIM_ABSENT_TIME ? 0 : given_ns;
}

/* Whether something fails that a job may stand on. */
static bool jobs_fail(const struct sim_failures *failures)
{
    static const enum sim_fault kinds[] = { SIM_FAULT_NODE, SIM_FAULT_GPU, SIM_FAULT_SWITCH,
                                            SIM_FAULT_RACK };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (failures->of[kinds[i]].between != NULL)
            return true;
    return false;
}

static uint32_t rule_of(const struct draft_checkpoint *draft)
{
    return draft->to.rule == SIM_ABSENT_COUNT ? SIM_CHECKPOINT_FIXED : draft->to.rule;
}

static void check_rule(struct sim_resolver *resolver, const struct draft_checkpoint *draft)
{
    const struct sim_yaml *at = sim_draft_at(&draft->head, "rule");
    const struct sim_checkpoint *to = &draft->to;
    if (rule_of(draft) == SIM_CHECKPOINT_FIXED) {
        if (to->interval_ns == SIM_ABSENT_TIME)
            sim_report_error(resolver->report, draft->head.node,
                             "needs an interval, or a rule that works it out");
        return;
    }
    if (to->mtbf_ns == SIM_ABSENT_TIME && !jobs_fail(&resolver->scenario->failures))
        sim_report_error(resolver->report, at,
                         "goes by the time between failures of a job: give mtbf, or failures to "
                         "the cluster");
    if (time_or_none(to->cost_ns) == 0 && draft->bytes == SIM_ABSENT_BYTES)
        sim_report_error(resolver->report, at,
                         "goes by what a checkpoint costs: give cost, or bytes and a store");
}

static void resolve_bytes(struct sim_resolver *resolver, const struct draft_checkpoint *draft,
                          struct sim_checkpoint *made)
{
    if ((draft->bytes == SIM_ABSENT_BYTES) != (draft->store == NULL))
        sim_report_error(resolver->report, draft->head.node, "bytes and store need each other");
    if (draft->bytes == SIM_ABSENT_BYTES || draft->store == NULL)
        return;
    made->bytes = (double)draft->bytes;
    made->store = sim_resolve_store(resolver, sim_draft_at(&draft->head, "store"), draft->store);
    made->traffic = sim_resolve_traffic(resolver, &draft->head, draft->traffic, made->store);
}

struct sim_checkpoint sim_resolve_checkpoint(struct sim_resolver *resolver,
                                             const struct draft_checkpoint *draft)
{
    struct sim_checkpoint made = { .is_made = draft->head.node != NULL,
                                   .rule = rule_of(draft),
                                   .store = WEIR_NO_INDEX };
    if (!made.is_made)
        return made;
    check_rule(resolver, draft);
    made.interval_ns = time_or_none(draft->to.interval_ns);
    made.mtbf_ns = time_or_none(draft->to.mtbf_ns);
    made.cost_ns = time_or_none(draft->to.cost_ns);
    made.restart_ns = time_or_none(draft->to.restart_ns);
    made.writers = draft->to.writers == SIM_ABSENT_COUNT ? 0 : draft->to.writers;
    resolve_bytes(resolver, draft, &made);
    return made;
}
