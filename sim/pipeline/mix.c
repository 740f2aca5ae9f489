/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reference mix (see mix.h). */
#include "sim/pipeline/mix.h"

#include "sim/pipeline/service.h"

void sim_mix_fill(const struct sim_pipeline *pipeline, uint32_t index,
                  struct sim_meter_stage_info *stages)
{
    const double size = sim_input_mean_size(&pipeline->input);
    double source_per_item = 1.0;
    for (size_t s = 0; s < pipeline->stages_count; s++) {
        const struct sim_stage *stage = &pipeline->stages[s];
        stages[s] = (struct sim_meter_stage_info){ .name = stage->name,
                                                   .pipeline = index,
                                                   .is_first = s == 0,
                                                   .is_last = s + 1 == pipeline->stages_count,
                                                   .shape = stage->shape,
                                                   .samples_per_source = source_per_item,
                                                   .batch = stage->batch,
                                                   .mix = sim_service_mean_s(stage, size) /
                                                          (stage->batch * source_per_item) };
        const double returns = stage->returns == NULL ? 1.0 : sim_law_mean(stage->returns);
        if (returns > 0)
            source_per_item /= returns;
    }
}
