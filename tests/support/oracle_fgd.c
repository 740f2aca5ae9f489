/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plain versions of fgd behind the table of operations; see oracle_fgd.h. */
#include "tests/support/oracle_fgd.h"

#include "sched/placement/fgd.h"
#include "tests/support/oracle_plain.h"

static struct weir_fgd_rules rules_of(const char *name)
{
    const struct weir_placement_ops *const ops = weir_placement_find(name);
    double values[WEIR_FGD_PARAM_COUNT];

    for (uint32_t i = 0; i < WEIR_FGD_PARAM_COUNT; i++)
        values[i] = ops->params[i].initial;
    const struct weir_params params = { .values = values, .count = WEIR_FGD_PARAM_COUNT };
    return weir_fgd_rules_read(&params);
}

static weir_status place_as(const char *name, const struct weir_place_query *query,
                            struct weir_place_answer *answer, struct weir_error *error)
{
    const struct weir_fgd_rules rules = rules_of(name);

    if (rules.precision == WEIR_FGD_SINGLE)
        return plain_single_place(&rules, query, answer, error);
    return plain_fgd_place(&rules, query, answer, error);
}

static weir_status evict_as(const char *name, const struct weir_evict_query *query,
                            uint64_t *worker, struct weir_error *error)
{
    const struct weir_fgd_rules rules = rules_of(name);

    if (rules.precision == WEIR_FGD_SINGLE)
        return plain_single_evict(&rules, query, worker, error);
    return plain_fgd_evict(&rules, query, worker, error);
}

#define ORACLE(policy)                                                                             \
    static weir_status place_##policy(void *state, const struct weir_place_query *query,           \
                                      struct weir_place_answer *answer, struct weir_error *error)  \
    {                                                                                              \
        (void)state;                                                                               \
        return place_as(#policy, query, answer, error);                                            \
    }                                                                                              \
    static weir_status evict_##policy(void *state, const struct weir_evict_query *query,           \
                                      uint64_t *worker, struct weir_error *error)                  \
    {                                                                                              \
        (void)state;                                                                               \
        return evict_as(#policy, query, worker, error);                                            \
    }                                                                                              \
    const struct weir_placement_ops oracle_##policy = { .size = sizeof oracle_##policy,            \
                                                        .abi = WEIR_ABI_MAJOR,                     \
                                                        .name = #policy "_plain",                  \
                                                        .summary = #policy " without caches",      \
                                                        .place = place_##policy,                   \
                                                        .evict = evict_##policy }

ORACLE(fgd_xenna);
ORACLE(fgd_n);
ORACLE(fgd_c);
