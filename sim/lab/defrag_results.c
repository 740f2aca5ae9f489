/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What moving jobs at the end brings: rows of `result` and `defrag_move`. */
#include "sim/lab/defrag.h"
#include "sim/lab/result_rows.h"

#include "sim/engine/time.h"

static weir_status put_moves(const struct sim_defrag *defrag, struct sim_recorder *recorder,
                             struct weir_error *error)
{
    for (uint32_t i = 0; i < defrag->count; i++) {
        const struct sim_defrag_move *move = &defrag->moves[i];
        const struct sim_defrag_move_row row = { .seq = i,
                                                 .arrival = move->arrival,
                                                 .from_node = move->from_node,
                                                 .to_node = move->to_node,
                                                 .gpus = move->gpus,
                                                 .cpus = move->cpus,
                                                 .frag_before_gpus = move->frag_before_gpus,
                                                 .frag_after_gpus = move->frag_after_gpus };
        WEIR_TRY(sim_recorder_defrag_move(recorder, &row, error));
    }
    return WEIR_OK;
}

static void put_values(struct sim_lab_rows *results, const struct sim_defrag *defrag,
                       int64_t cost_ns)
{
    const struct {
        const char *metric, *unit;
        double value;
    } rows[] = {
        { "defrag.moves", "1", defrag->count },
        { "defrag.out", "1", defrag->out },
        { "defrag.moved_gpus", "GPUs", defrag->moved_gpus },
        { "defrag.cost_gpu_h", "GPU h", defrag->moved_gpus * sim_time_s(cost_ns) / 3600 },
        { "defrag.frag_before_gpus", "GPUs", defrag->frag_before_gpus },
        { "defrag.frag_after_gpus", "GPUs", defrag->frag_after_gpus },
        { "defrag.regained_gpus", "GPUs", defrag->used_after_gpus - defrag->used_before_gpus },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        sim_lab_row(results, rows[i].metric, "", rows[i].unit, rows[i].value);
}

void sim_lab_defrag_results(struct sim_lab *lab, struct sim_lab_rows *rows)
{
    const struct sim_defrag_rule *rule = &sim_lab_workload(lab)->defrag;
    struct sim_defrag defrag;
    if (rule->rule == SIM_DEFRAG_NONE || rows->out.status != WEIR_OK)
        return;
    rows->out.status = sim_lab_defrag(lab, rule, &defrag, rows->out.error);
    if (rows->out.status != WEIR_OK)
        return;
    rows->out.status = put_moves(&defrag, rows->out.recorder, rows->out.error);
    put_values(rows, &defrag, rule->cost_ns);
    sim_defrag_clear(&defrag);
}
