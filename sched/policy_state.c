/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter values and state of one policy; see the header. */
#include "sched/internal/policy_state.h"

#include "sched/internal/alloc.h"
#include "sched/internal/made.h"
#include "sched/internal/params.h"

static weir_status fill(struct weir_policy_state *policy, const struct weir_policy_table *table,
                        const struct weir_params *given, const struct weir_allocator *allocator,
                        struct weir_error *error)
{
    static const struct weir_params none = { .values = NULL };

    WEIR_TRY(weir_params_check_table(table->params, table->count, error));
    const struct weir_params *const all = given == NULL ? &none : given;
    const uint32_t count = all->count > table->count ? all->count : table->count;
    policy->values = weir_alloc(allocator, count, sizeof *policy->values);
    if (policy->values == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(weir_params_resolve(table->params, table->count, all, policy->values, error));
    for (uint32_t i = table->count; i < count; i++)
        policy->values[i] = all->values[i];
    policy->save = table->save;
    policy->restore = table->restore;
    if (table->create == NULL)
        return WEIR_OK;
    const struct weir_params values = { .values = policy->values, .count = count };
    WEIR_TRY(table->create(&values, allocator, &policy->state, error));
    policy->destroy = table->destroy;
    return WEIR_OK;
}

weir_status weir_policy_state_open(struct weir_policy_state *policy,
                                   const struct weir_policy_table *table,
                                   const struct weir_params *given,
                                   const struct weir_allocator *allocator, struct weir_error *error)
{
    struct weir_policy_state made = { .values = NULL };
    const weir_status status = fill(&made, table, given, allocator, error);

    if (status == WEIR_OK) {
        *policy = made;
        return WEIR_OK;
    }
    weir_policy_state_close(&made, allocator);
    weir_error_wrap(error, "%s %s", table->kind, table->name);
    return status;
}

void weir_policy_state_close(struct weir_policy_state *policy,
                             const struct weir_allocator *allocator)
{
    if (policy->destroy != NULL)
        policy->destroy(policy->state);
    weir_free(allocator, policy->values);
    *policy = (struct weir_policy_state){ .values = NULL };
}

weir_status weir_policy_alone_create(const void *ops, const struct weir_policy_table *table,
                                     const struct weir_params *given,
                                     const struct weir_allocator *allocator, void **alone,
                                     struct weir_error *error)
{
    static const struct weir_made bare = WEIR_MADE_BARE(struct weir_policy_alone);
    void *block = NULL;

    WEIR_TRY(weir_made_create(&bare, NULL, allocator, &block, error));
    struct weir_policy_alone *const made = block;
    made->ops = ops;
    const weir_status status =
        weir_policy_state_open(&made->policy, table, given, &made->allocator, error);
    if (status != WEIR_OK)
        weir_made_destroy(block);
    else
        *alone = block;
    return status;
}

void weir_policy_alone_destroy(struct weir_policy_alone *alone)
{
    if (alone == NULL)
        return;
    weir_policy_state_close(&alone->policy, &alone->allocator);
    weir_made_destroy(alone);
}
