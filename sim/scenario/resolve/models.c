/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages completed from the model catalogue (see models.h). */
#include "sim/scenario/resolve/models.h"

enum { NEAR_NAMES = 64 };

/* NULL for a key that is not there or holds something else; such mistakes are the reader's. */
static const struct sim_yaml *child_of(const struct sim_yaml *node, const char *key,
                                       enum sim_yaml_kind kind)
{
    const struct sim_yaml *child =
        node == NULL || node->kind != SIM_YAML_MAPPING ? NULL : sim_yaml_get(node, key);
    return child != NULL && child->kind == kind ? child : NULL;
}

static void report_unknown(struct sim_report *report, const struct sim_yaml *models,
                           const struct sim_yaml *model)
{
    const char *names[NEAR_NAMES];
    size_t count = 0;
    for (const struct sim_yaml *entry = models == NULL ? NULL : models->first;
         entry != NULL && count < NEAR_NAMES; entry = entry->next)
        names[count++] = entry->key;
    sim_report_near(report, model, SIM_AT_VALUE, sim_near_name(model->text, names, count),
                    "there is no model '%s' in the catalogue", model->text);
}

static void fill_stage(struct sim_arena *arena, struct sim_report *report,
                       const struct sim_yaml *models, struct sim_yaml *stage)
{
    const struct sim_yaml *model = child_of(stage, "model", SIM_YAML_SCALAR);
    const struct sim_yaml *entry =
        model == NULL ? NULL : child_of(models, model->text, SIM_YAML_MAPPING);
    if (model != NULL && entry == NULL)
        report_unknown(report, models, model);
    for (const struct sim_yaml *key = entry == NULL ? NULL : entry->first; key != NULL;
         key = key->next)
        if (sim_yaml_get(stage, key->key) == NULL)
            sim_yaml_append(stage, sim_yaml_clone(arena, key));
}

struct sim_yaml *sim_models_fill(struct sim_arena *arena, struct sim_report *report,
                                 const struct sim_yaml *root)
{
    struct sim_yaml *filled = sim_yaml_clone(arena, root);
    const struct sim_yaml *catalog = child_of(filled, "catalog", SIM_YAML_MAPPING);
    const struct sim_yaml *models = child_of(catalog, "models", SIM_YAML_MAPPING);
    const struct sim_yaml *pipelines = child_of(filled, "pipelines", SIM_YAML_LIST);
    for (const struct sim_yaml *pipeline = pipelines == NULL ? NULL : pipelines->first;
         pipeline != NULL; pipeline = pipeline->next) {
        const struct sim_yaml *stages = child_of(pipeline, "stages", SIM_YAML_LIST);
        for (struct sim_yaml *stage = stages == NULL ? NULL : stages->first; stage != NULL;
             stage = stage->next)
            fill_stage(arena, report, models, stage);
    }
    return filled;
}
