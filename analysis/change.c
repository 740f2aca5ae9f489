/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each stage had before and after; see the header. */
#include "analysis/change.h"

#include "analysis/facts.h"
#include "analysis/nan.h"

#include <stdlib.h>
#include <string.h>

static const char sql[] =
    "SELECT iif((SELECT min(pipeline) = max(pipeline) FROM stage WHERE run_id = :run), stage_name,"
    " pipeline || '/' || stage_name), sum(workers * dt_s) / sum(dt_s),"
    " sum(tasks_done) / nullif(sum(busy * dt_s), 0),"
    " sum(busy * dt_s) / nullif(sum(workers * dt_s), 0), sum(is_bottleneck * dt_s) / sum(dt_s)"
    " FROM v_stage WHERE run_id = :run AND t_s >= :from GROUP BY stage ORDER BY stage";

static struct an_stage_change *stage_named(struct an_change_of_work *change, const char *name)
{
    static const struct an_stage_side none = { AN_NAN, AN_NAN, AN_NAN, AN_NAN };
    for (size_t i = 0; i < change->count; i++)
        if (strcmp(change->stages[i].name, name) == 0)
            return &change->stages[i];
    struct an_stage_change *grown =
        realloc(change->stages, (change->count + 1) * sizeof *change->stages);
    if (grown == NULL)
        return NULL;
    change->stages = grown;
    struct an_stage_change *stage = &grown[change->count++];
    *stage = (struct an_stage_change){ .sides = { none, none } };
    (void)snprintf(stage->name, sizeof stage->name, "%s", name);
    return stage;
}

static weir_status read_side(struct an_db *db, const struct an_claim_about *about, size_t side,
                             struct an_change_of_work *change, struct weir_error *error)
{
    struct an_frame *frame = NULL;
    const struct an_args args = { .run = about->run->run_id, .from = about->from_s };
    WEIR_TRY(an_query(db, sql, &args, &frame, error));
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < frame->row_count && status == WEIR_OK; i++) {
        struct an_stage_change *stage = stage_named(change, an_text(frame, i, 0));
        if (stage == NULL)
            status = weir_fail(error, WEIR_ENOMEM, "out of memory");
        else
            stage->sides[side] =
                (struct an_stage_side){ an_number(frame, i, 1), an_number(frame, i, 2),
                                        an_number(frame, i, 3), an_number(frame, i, 4) };
    }
    an_frame_destroy(frame);
    return status;
}

static weir_status read_run(struct an_db *db, const char *variant, size_t side,
                            struct an_change_of_work *change, struct weir_error *error)
{
    struct an_run *run = NULL;
    struct an_facts *facts = NULL;
    WEIR_TRY(an_run_find(db, variant, 0, &run, error));
    weir_status status = an_facts_read(db, run, &facts, error);
    if (status == WEIR_OK) {
        const struct an_claim_about about = {
            .db = db, .run = run, .from_s = facts->from_s, .at_s = AN_NAN
        };
        status = read_side(db, &about, side, change, error);
        if (status == WEIR_OK && side == 1)
            status = an_claim_make(&about, "change.limit", &change->limit, error);
        if (status == WEIR_OK && side == 1)
            status = an_claim_make(&about, "change.device", &change->device, error);
    }
    an_facts_destroy(facts);
    an_run_destroy(run);
    return status;
}

weir_status an_change_read(struct an_db *db, const char *variant, struct an_change_of_work *change,
                           struct weir_error *error)
{
    *change = (struct an_change_of_work){ .stages = NULL };
    WEIR_TRY(read_run(db, NULL, 0, change, error));
    return read_run(db, variant, 1, change, error);
}

void an_change_clear(struct an_change_of_work *change)
{
    free(change->stages);
    change->stages = NULL;
    change->count = 0;
}
