/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Putting and getting (see module_text.h). Every policy is the same record: name, summary, flags,
 * parameters; so the kinds differ in one line each.
 */
#include "sim/port/module_text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 65536, MOST_POLICIES = 4096, MOST_PARAMS = 4096, MOST_BLOCKS = 1 << 20 };
static const uint32_t NO_TEXT = UINT32_MAX;

struct sim_module_text {
    struct weir_module module;
    struct sim_stand_ins all;
    const struct weir_placement_ops **placements;
    const struct weir_scaling_ops **scalings;
    const struct weir_queueing_ops **queueings;
    const struct weir_capacity_ops **capacities;
    void **blocks;
    size_t block_count;
};

/* What all kinds have. */
struct policy_text {
    const char *name, *summary;
    const struct weir_param *params;
    uint32_t param_count, flags, abi;
};

/* ---- putting ---- */

static weir_status put_text(struct sim_line *line, const char *text)
{
    const uint32_t length = text == NULL ? NO_TEXT : (uint32_t)strnlen(text, MOST_TEXT);
    WEIR_TRY(sim_line_put(line, &length, sizeof length));
    return text == NULL ? WEIR_OK : sim_line_put(line, text, length);
}

static weir_status put_policy(struct sim_line *line, const struct policy_text *policy)
{
    const uint32_t numbers[] = { policy->param_count, policy->flags, policy->abi };
    WEIR_TRY(sim_line_put(line, numbers, sizeof numbers));
    WEIR_TRY(put_text(line, policy->name));
    WEIR_TRY(put_text(line, policy->summary));
    for (uint32_t i = 0; i < policy->param_count; i++) {
        const struct weir_param *param = &policy->params[i];
        WEIR_TRY(sim_line_put(line, param, sizeof *param));
        WEIR_TRY(put_text(line, param->name));
        WEIR_TRY(put_text(line, param->unit));
        WEIR_TRY(put_text(line, param->choices));
        WEIR_TRY(put_text(line, param->help));
    }
    return WEIR_OK;
}

#define TEXT_OF(ops)                                                                               \
    {                                                                                              \
        (ops)->name, (ops)->summary, (ops)->params, (ops)->param_count, (ops)->flags, (ops)->abi   \
    }
#define PUT_POLICIES(line, list)                                                                   \
    do {                                                                                           \
        uint32_t count = 0;                                                                        \
        while ((list) != NULL && (list)[count] != NULL)                                            \
            count++;                                                                               \
        WEIR_TRY(sim_line_put(line, &count, sizeof count));                                        \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            const struct policy_text policy = TEXT_OF((list)[i]);                                  \
            WEIR_TRY(put_policy(line, &policy));                                                   \
        }                                                                                          \
    } while (0)

weir_status sim_module_text_put(struct sim_line *line, const struct weir_module *module)
{
    const struct weir_queueing_ops *const *queueings = weir_module_queueings(module);
    const struct weir_capacity_ops *const *capacities = weir_module_capacities(module);
    WEIR_TRY(put_text(line, module->name));
    PUT_POLICIES(line, module->placements);
    PUT_POLICIES(line, module->scalings);
    PUT_POLICIES(line, queueings);
    PUT_POLICIES(line, capacities);
    return WEIR_OK;
}

/* ---- getting ---- */

/* Memory that goes with the text; zeroed. */
static void *take(struct sim_module_text *text, size_t count, size_t size)
{
    void **blocks = reallocarray(text->blocks, text->block_count + 1, sizeof *blocks);
    if (blocks == NULL)
        return NULL;
    text->blocks = blocks;
    if (text->block_count >= MOST_BLOCKS)
        return NULL;
    return blocks[text->block_count++] = calloc(count + 1, size);
}

static weir_status get_text(struct sim_line *line, struct sim_module_text *text, const char **place)
{
    uint32_t length = 0;
    WEIR_TRY(sim_line_get(line, &length, sizeof length));
    *place = NULL;
    if (length == NO_TEXT)
        return WEIR_OK;
    char *copy = length > MOST_TEXT ? NULL : take(text, length, 1);
    *place = copy;
    return copy == NULL ? WEIR_EPOLICY : sim_line_get(line, copy, length);
}

static weir_status get_params(struct sim_line *line, struct sim_module_text *text,
                              struct weir_param *params, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        WEIR_TRY(sim_line_get(line, &params[i], sizeof params[i]));
        WEIR_TRY(get_text(line, text, &params[i].name));
        WEIR_TRY(get_text(line, text, &params[i].unit));
        WEIR_TRY(get_text(line, text, &params[i].choices));
        WEIR_TRY(get_text(line, text, &params[i].help));
        if (params[i].name == NULL || params[i].help == NULL ||
            (params[i].kind == WEIR_PARAM_CHOICE && params[i].choices == NULL))
            return WEIR_EPOLICY;
        if (params[i].unit == NULL)
            params[i].unit = "";
    }
    return WEIR_OK;
}

static weir_status get_policy(struct sim_line *line, struct sim_module_text *text,
                              struct policy_text *policy)
{
    uint32_t numbers[3];
    WEIR_TRY(sim_line_get(line, numbers, sizeof numbers));
    WEIR_TRY(get_text(line, text, &policy->name));
    WEIR_TRY(get_text(line, text, &policy->summary));
    if (numbers[0] > MOST_PARAMS || policy->name == NULL)
        return WEIR_EPOLICY;
    struct weir_param *params = take(text, numbers[0], sizeof *params);
    policy->params = params;
    policy->param_count = numbers[0];
    policy->flags = numbers[1];
    policy->abi = numbers[2];
    if (policy->summary == NULL)
        policy->summary = "";
    return params == NULL ? WEIR_EPOLICY : get_params(line, text, params, numbers[0]);
}

#define GET_POLICIES(kind, list)                                                                   \
    static weir_status get_##list(struct sim_line *line, const struct sim_module *module,          \
                                  struct sim_module_text *text)                                    \
    {                                                                                              \
        uint32_t count = 0;                                                                        \
        WEIR_TRY(sim_line_get(line, &count, sizeof count));                                        \
        if (count > MOST_POLICIES)                                                                 \
            return WEIR_EPOLICY;                                                                   \
        text->all.list = take(text, count, sizeof *text->all.list);                                \
        text->list = take(text, count, sizeof *text->list);                                        \
        if (text->all.list == NULL || text->list == NULL)                                          \
            return WEIR_EPOLICY;                                                                   \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            struct sim_##kind##_stand_in *stand_in = &text->all.list[i];                           \
            struct policy_text policy = { .name = NULL };                                          \
            WEIR_TRY(get_policy(line, text, &policy));                                             \
            stand_in->module = module;                                                             \
            stand_in->index = i;                                                                   \
            stand_in->ops.size = sizeof stand_in->ops;                                             \
            stand_in->ops.abi = policy.abi;                                                        \
            stand_in->ops.name = policy.name;                                                      \
            stand_in->ops.summary = policy.summary;                                                \
            stand_in->ops.params = policy.param_count == 0 ? NULL : policy.params;                 \
            stand_in->ops.param_count = policy.param_count;                                        \
            stand_in->ops.flags = policy.flags;                                                    \
            text->list[i] = &stand_in->ops;                                                        \
        }                                                                                          \
        text->all.kind##_count = count;                                                            \
        return WEIR_OK;                                                                            \
    }

GET_POLICIES(placement, placements)
GET_POLICIES(scaling, scalings)
GET_POLICIES(queueing, queueings)
GET_POLICIES(capacity, capacities)

static weir_status get_all(struct sim_line *line, const struct sim_module *module,
                           struct sim_module_text *text)
{
    text->module = (struct weir_module){ .size = sizeof text->module,
                                         .abi_major = WEIR_ABI_MAJOR,
                                         .abi_minor = WEIR_ABI_MINOR };
    WEIR_TRY(get_text(line, text, &text->module.name));
    WEIR_TRY(get_placements(line, module, text));
    WEIR_TRY(get_scalings(line, module, text));
    WEIR_TRY(get_queueings(line, module, text));
    WEIR_TRY(get_capacities(line, module, text));
    text->module.placements = text->placements;
    text->module.scalings = text->scalings;
    text->module.queueings = text->queueings;
    text->module.capacities = text->capacities;
    return WEIR_OK;
}

weir_status sim_module_text_get(struct sim_line *line, const struct sim_module *module,
                                struct sim_module_text **text)
{
    struct sim_module_text *made = calloc(1, sizeof *made);
    if (made == NULL)
        return WEIR_ENOMEM;
    const weir_status status = get_all(line, module, made);
    if (status != WEIR_OK)
        sim_module_text_destroy(made);
    else
        *text = made;
    return status;
}

void sim_module_text_destroy(struct sim_module_text *text)
{
    if (text == NULL)
        return;
    for (size_t i = 0; i < text->block_count; i++)
        free(text->blocks[i]);
    free(text->blocks);
    free(text);
}

const struct weir_module *sim_module_text_policies(const struct sim_module_text *text)
{
    return &text->module;
}

struct sim_stand_ins *sim_module_text_stand_ins(struct sim_module_text *text)
{
    return &text->all;
}
