/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goals; see the header. */
#include "analysis/goal.h"

#include "analysis/metrics.h"

#include <math.h>
#include <string.h>

/* The second metric stands in where a file lacks the first. */
static const struct kind {
    const char *name, *metric, *stand_in, *reason;
    int better;
    const char *rows[AN_GOAL_ROWS];
} kinds[] = {
    { "backlog",
      "thr.pipeline",
      "makespan",
      "a backlog wants to be done",
      1,
      { "thr.pipeline", "thr.of_bound", "makespan", "util.gpu.active", "bp.starved_frac",
        "worker.churn" } },
    { "arrivals",
      "lat.e2e.p95",
      "thr.pipeline",
      "what arrives wants to be soon through",
      -1,
      { "lat.e2e.p95", "lat.e2e.p99", "thr.pipeline", "sla.violation_rate", "util.gpu.active",
        "worker.churn" } },
    { "replay",
      "slowdown.mean",
      "wait.job.mean",
      "of jobs in a queue each counts by its own length",
      -1,
      { "slowdown.mean", "jct.mean", "wait.job.mean", "wait.job.p95", "thr.jobs_h",
        "util.gpu.assigned" } },
    { "loss",
      "jobs.gpu_time_accepted",
      "jobs.acceptance",
      "of jobs that cannot wait, what they would have held is what is lost",
      1,
      { "jobs.gpu_time_accepted", "jobs.gpu_time_gap", "jobs.acceptance", "util.gpu.assigned",
        "thr.jobs_h", "frag.gpu.fgd_ratio" } },
    { "actors",
      "thr.pipeline",
      "rl.steps",
      "of actors the rounds count that they finish",
      1,
      { "thr.pipeline", "rl.cycle_s", "rl.rollout_util", "lat.e2e.p95", "rpc.timeouts",
        "util.gpu.active" } },
    { "fill",
      "alloc.gpu_pct",
      "alloc.cpu_pct",
      "a fill asks how much fits",
      1,
      { "alloc.gpu_pct", "alloc.gap_pp", "frag.gpu_pct", "jobs.failed", "alloc.cpu_pct",
        "mig.dead_slices" } },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The first kind of work; files that do not say it are told by their results. */
static const char kind_sql[] =
    "SELECT coalesce((SELECT substr(value, 1, instr(value || ' ', ' ') - 1) FROM meta"
    "  WHERE key = 'work' AND value <> ''),"
    " CASE WHEN EXISTS (SELECT 1 FROM stage) THEN 'backlog'"
    "  WHEN EXISTS (SELECT 1 FROM result WHERE metric = 'alloc.gpu_pct') THEN 'fill'"
    "  WHEN EXISTS (SELECT 1 FROM result WHERE metric = 'thr.jobs_h') THEN 'replay'"
    "  ELSE 'backlog' END)";

static const char given_sql[] =
    "SELECT json_extract(value, '$.metric'), json_extract(value, '$.better') FROM meta"
    " WHERE key = 'goal'";

static const char conditions_sql[] =
    "SELECT json_extract(c.value, '$.metric'), json_extract(c.value, '$.op'),"
    " json_extract(c.value, '$.bound'), json_extract(c.value, '$.slack')"
    " FROM meta m, json_each(m.value, '$.while') c WHERE m.key = 'goal'";

/* Fewer refused jobs than this share change no other figure by more than its last digit. */
static const char refused_sql[] =
    "SELECT count(*) FROM result WHERE metric = 'jobs.acceptance' AND label = '' AND value < 0.99";

/* Of a fill that asks for no GPU the GPUs say nothing. */
static const char has_sql[] = "SELECT count(*) FROM (SELECT 1 FROM result WHERE metric = :text"
                              " AND iif(metric = 'alloc.gpu_pct', value > 0, value IS NOT NULL)"
                              " LIMIT 1)";

static weir_status has_result(struct an_keeper *keeper, const char *metric, bool *has,
                              struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(keeper, has_sql, &(struct an_args){ .text = metric }, &frame, error));
    *has = an_number(frame, 0, 0) > 0.5;
    return WEIR_OK;
}

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return &kinds[0];
}

static weir_status take_default(struct an_keeper *keeper, struct an_goal *goal,
                                struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    bool has = false;
    WEIR_TRY(an_keep_query(keeper, kind_sql, NULL, &frame, error));
    const struct kind *kind = kind_of(an_text(frame, 0, 0));
    goal->kind = kind->name;
    goal->reason = kind->reason;
    goal->better = kind->better;
    WEIR_TRY(has_result(keeper, kind->metric, &has, error));
    (void)snprintf(goal->metric, sizeof goal->metric, "%s", has ? kind->metric : kind->stand_in);
    const struct an_metric *known = an_metric_find(goal->metric);
    goal->better = known == NULL ? kind->better : known->better;
    return WEIR_OK;
}

static void take_conditions(const struct an_frame *frame, struct an_goal *goal)
{
    for (size_t i = 0; i < frame->row_count && i < AN_GOAL_CONDITIONS; i++) {
        struct an_condition *condition = &goal->conditions[goal->condition_count++];
        (void)snprintf(condition->metric, sizeof condition->metric, "%s", an_text(frame, i, 0));
        (void)snprintf(condition->op, sizeof condition->op, "%s", an_text(frame, i, 1));
        condition->bound = an_number(frame, i, 2);
        condition->slack = an_number(frame, i, 3);
    }
}

static weir_status read_goal(struct an_keeper *keeper, struct an_goal *goal,
                             struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(keeper, refused_sql, NULL, &frame, error));
    goal->is_refusing = an_number(frame, 0, 0) > 0.5;
    WEIR_TRY(take_default(keeper, goal, error));
    WEIR_TRY(an_keep_query(keeper, given_sql, NULL, &frame, error));
    if (frame->row_count == 0)
        return WEIR_OK;
    goal->is_given = true;
    goal->reason = "the scenario says so";
    if (an_text(frame, 0, 0)[0] != '\0') {
        (void)snprintf(goal->metric, sizeof goal->metric, "%s", an_text(frame, 0, 0));
        goal->better = an_number(frame, 0, 1) > 0.0 ? 1 : -1;
    }
    WEIR_TRY(an_keep_query(keeper, conditions_sql, NULL, &frame, error));
    take_conditions(frame, goal);
    return WEIR_OK;
}

weir_status an_goal_read(struct an_db *db, struct an_goal *goal, struct weir_error *error)
{
    struct an_keeper keeper = { .db = db };
    *goal = (struct an_goal){ .better = 1 };
    const weir_status status = read_goal(&keeper, goal, error);
    an_keep_clear(&keeper);
    return status;
}

bool an_condition_holds(const struct an_condition *condition, double value)
{
    const double bound = condition->bound;
    const double slack = isnan(condition->slack) ? 0.0 : condition->slack;
    switch (condition->op[0]) {
    case '<':
        return condition->op[1] == '=' ? value <= bound + slack : value < bound + slack;
    case '>':
        return condition->op[1] == '=' ? value >= bound - slack : value > bound - slack;
    default:
        return fabs(value - bound) <= slack;
    }
}

enum an_hold an_condition_judge(const struct an_condition *condition, const struct an_cell *cell)
{
    const bool is_less = condition->op[0] == '<';
    const bool has_side = is_less || condition->op[0] == '>';
    if (isnan(cell->mean))
        return AN_FAILS;
    if (cell->is_partial)
        return AN_NOT_KNOWN;
    if (is_less && cell->is_lower_bound && an_condition_holds(condition, cell->mean))
        return AN_NOT_KNOWN;
    if (!has_side || isnan(cell->high - cell->low))
        return an_condition_holds(condition, cell->mean) ? AN_HOLDS : AN_FAILS;
    const double worst = is_less ? cell->high : cell->low;
    const double best = is_less ? cell->low : cell->high;
    if (an_condition_holds(condition, worst))
        return AN_HOLDS;
    return an_condition_holds(condition, best) ? AN_UNDECIDED : AN_FAILS;
}

const char *an_hold_text(enum an_hold hold, bool means_hold)
{
    if (hold == AN_NOT_KNOWN)
        return "not known: not all was over at the end";
    if (hold == AN_UNDECIDED)
        return means_hold ? "holds by its mean, not for certain"
                          : "fails by its mean, not for certain";
    return hold == AN_HOLDS ? "holds" : "fails";
}

static void append_mean(struct an_judged *judged, const struct an_metric_row *row)
{
    const size_t used = strlen(judged->means);
    (void)snprintf(judged->means + used, AN_JUDGED_TEXT - used, "%s%s %s", used == 0 ? "" : ", ",
                   row->label, an_mean_of(row, &row->cells[0]).text);
}

static bool is_worse(enum an_hold hold, enum an_hold than)
{
    static const int ranks[] = {
        [AN_HOLDS] = 0, [AN_UNDECIDED] = 1, [AN_NOT_KNOWN] = 2, [AN_FAILS] = 3
    };
    return ranks[hold] > ranks[than];
}

static weir_status judge(struct an_db *db, const struct an_condition *condition,
                         struct an_judged *judged, struct weir_error *error)
{
    const char *const metrics[] = { condition->metric };
    const struct an_compare_options query = { .metrics = metrics, .metric_count = 1 };
    struct an_comparison *comparison = NULL;
    struct weir_error why = { .phase = -1, .pool = -1 };
    const weir_status status = an_compare(db, &query, &comparison, &why);
    if (status != WEIR_OK && status != WEIR_EINVAL)
        return weir_fail(error, status, "%s", why.text);
    const struct an_cell *cell = status == WEIR_OK ? &comparison->rows[0].cells[0] : NULL;
    const bool is_judged = cell != NULL && comparison->early[0].sentence == NULL;
    const enum an_hold hold = is_judged ? an_condition_judge(condition, cell) : AN_FAILS;
    judged->means_hold = judged->means_hold && hold != AN_FAILS && hold != AN_NOT_KNOWN &&
                         an_condition_holds(condition, cell->mean);
    if (cell != NULL)
        append_mean(judged, &comparison->rows[0]);
    if (is_worse(hold, judged->hold))
        judged->hold = hold;
    an_comparison_destroy(comparison);
    return WEIR_OK;
}

weir_status an_goal_judge(struct an_db *db, const struct an_goal *goal, struct an_judged *judged,
                          struct weir_error *error)
{
    *judged = (struct an_judged){ .hold = AN_HOLDS, .means_hold = true };
    for (size_t i = 0; i < goal->condition_count; i++)
        WEIR_TRY(judge(db, &goal->conditions[i], judged, error));
    return WEIR_OK;
}

const char *an_goal_row(const struct an_goal *goal, size_t index)
{
    const size_t foremost = goal->is_refusing ? 2 : 1;
    if (index < foremost)
        return index == 0 ? "cost.total" : "jobs.acceptance";
    index -= foremost;
    return index < AN_GOAL_ROWS ? kind_of(goal->kind)->rows[index] : NULL;
}
