/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Explanations of decisions from what was recorded with them: why a worker is where it is, why a
 * stage got none, what was decided at a time. It repeats the scheduler's own reasons and scores and
 * never guesses any; where nothing was recorded it says so.
 */
#include "analysis/database/query.h"
#include "analysis/explain_parts.h"
#include "analysis/nan.h"
#include "analysis/text.h"

#include <string.h>

weir_status an_explain_json(const struct an_explanation *explanation, const char *sql,
                            const struct an_args *args, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(explanation->keeper, sql, args, &frame, error));
    (void)fputs(frame->row_count > 0 ? an_text(frame, 0, 0) : "null", explanation->out);
    return WEIR_OK;
}

/* The same as the whole answer. */
static weir_status print_json(const struct an_explanation *explanation, const char *sql,
                              const struct an_args *args, struct weir_error *error)
{
    WEIR_TRY(an_explain_json(explanation, sql, args, error));
    (void)fputc('\n', explanation->out);
    return WEIR_OK;
}

/* ---- a worker ---- */

enum { W_STAGE, W_NODE, W_DEVICES, W_CREATED, W_READY, W_ENDED, W_REASON, W_TASKS, W_BUSY };

/* Whose it is: a stage's, or since version 4 a job's. */
#define OF_STAGES " JOIN stage g ON g.run_id = w.run_id AND g.stage = w.stage"
#define OF_ALL                                                                                     \
    " LEFT JOIN stage g ON g.run_id = w.run_id AND g.stage = w.stage"                              \
    " LEFT JOIN workload l ON l.run_id = w.run_id AND l.workload = w.workload"                     \
    " LEFT JOIN job j ON j.run_id = w.run_id AND j.workload = w.workload AND j.job = w.job"
#define OWNER "coalesce(g.name, 'job ' || l.name || '/' || j.name)"

#define WORKER(owner, owners)                                                                      \
    "SELECT " owner ", n.name, w.devices, w.created_s, w.ready_s, w.ended_s, w.end_reason,"        \
    " w.tasks, w.busy_s FROM worker w" owners                                                      \
    " JOIN node n ON n.run_id = w.run_id AND n.node = w.node"                                      \
    " WHERE w.run_id = :run AND w.worker = :id"

static const char worker_sql[] = WORKER(OWNER, OF_ALL);
static const char stage_worker_sql[] = WORKER("g.name", OF_STAGES);

enum {
    A_DECISION,
    A_T,
    A_PHASE,
    A_SEEN,
    A_CANDIDATES,
    A_TIES,
    A_SCORE,
    A_SCORE2,
    A_RUNNER,
    A_RUNNER_SCORE,
    A_RUNNER_SCORE2,
    A_REASONS,
    A_REUSED,
    A_OUTCOME,
    A_PLACEMENT,
    A_SCALING
};

static const char start_sql[] =
    "SELECT a.decision, d.t_s, a.phase, a.nodes_seen, a.candidates, a.ties, a.score, a.score2,"
    " u.name, a.runner_up_score, a.runner_up_score2,"
    " (SELECT group_concat(value || ' ' || key, ' · ') FROM json_each(a.reasons)), a.reused,"
    " a.outcome, d.placement, d.scaling FROM action a"
    " JOIN decision d ON d.run_id = a.run_id AND d.decision = a.decision"
    " LEFT JOIN node u ON u.run_id = a.run_id AND u.node = a.runner_up_node"
    " WHERE a.run_id = :run AND a.worker = :id AND a.verb IN ('start', 'move')"
    " ORDER BY a.decision DESC LIMIT 1";

static const char stop_sql[] =
    "SELECT a.decision, d.t_s, a.verb, a.phase FROM action a"
    " JOIN decision d ON d.run_id = a.run_id AND d.decision = a.decision"
    " WHERE a.run_id = :run AND a.worker = :id AND a.verb IN ('stop', 'preempt')"
    " ORDER BY a.decision DESC LIMIT 1";

#define CANDIDATES                                                                                 \
    "SELECT n.name, c.gpu_mask, c.is_chosen, c.score, c.score2"                                    \
    " FROM candidate c JOIN action a ON a.run_id = c.run_id AND a.decision = c.decision"           \
    " AND a.seq = c.seq LEFT JOIN node n ON n.run_id = c.run_id AND n.node = c.node"               \
    " WHERE c.run_id = :run AND a.worker = :id AND c.decision ="                                   \
    " (SELECT max(decision) FROM action WHERE run_id = :run AND worker = :id"                      \
    "  AND verb IN ('start', 'move')) ORDER BY c.score, c.score2, c.is_chosen DESC, c.rowid"

enum { C_NODE, C_MASK, C_CHOSEN, C_SCORE, C_SCORE2 };

static const char candidates_sql[] = CANDIDATES;

#define WORKER_JSON(owner, owners, places)                                                         \
    "SELECT json_object('schema', 1, 'worker', w.worker, 'stage', g.name, " owner                  \
    "'node', n.name,"                                                                              \
    " 'devices', w.devices, 'created_s', w.created_s, 'ready_s', w.ready_s, 'ended_s', w.ended_s," \
    " 'end_reason', w.end_reason, 'tasks', w.tasks, 'busy_s', w.busy_s, 'start', json("            \
    " (SELECT json_object('decision', a.decision, 't_s', d.t_s, 'phase', a.phase, 'nodes_seen',"   \
    "   a.nodes_seen, 'candidates', a.candidates, 'ties', a.ties, 'score', a.score, 'score2',"     \
    "   a.score2, 'runner_up', u.name, 'runner_up_score', a.runner_up_score, 'runner_up_score2',"  \
    "   a.runner_up_score2, 'rejected', json(a.reasons), 'reused', a.reused, 'outcome', "          \
    "a.outcome,"                                                                                   \
    "   'placement', d.placement, 'scaling', d.scaling)"                                           \
    "  FROM action a JOIN decision d ON d.run_id = a.run_id AND d.decision = a.decision"           \
    "  LEFT JOIN node u ON u.run_id = a.run_id AND u.node = a.runner_up_node"                      \
    "  WHERE a.run_id = w.run_id AND a.worker = w.worker AND a.verb IN ('start', 'move')"          \
    "  ORDER BY a.decision DESC LIMIT 1))" places ")"                                              \
    " FROM worker w" owners " JOIN node n ON n.run_id = w.run_id AND n.node = w.node"              \
    " WHERE w.run_id = :run AND w.worker = :id"

static const char worker_json_sql[] = WORKER_JSON("", OF_STAGES, "");
static const char worker_places_json_sql[] =
    WORKER_JSON("'owner', " OWNER ", ", OF_ALL,
                ", 'places', json((SELECT json_group_array(json_object('node', name, 'gpu_mask',"
                " gpu_mask, 'is_chosen', is_chosen, 'score', score, 'score2', score2)) FROM"
                " (" CANDIDATES ")))");

static weir_status fail_no_worker(const struct an_explanation *explanation,
                                  struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(
        an_keep_query(explanation->keeper,
                      "SELECT count(*), min(worker), max(worker) FROM worker WHERE run_id = :run",
                      &(struct an_args){ .run = explanation->run->run_id }, &frame, error));
    const double count = an_number(frame, 0, 0);
    const double first = an_number(frame, 0, 1);
    const double last = an_number(frame, 0, 2);
    if (count < 0.5)
        return weir_fail(error, WEIR_ENOTFOUND, "variant %s, replication %u recorded no workers",
                         explanation->run->variant, explanation->run->replication);
    return weir_fail(error, WEIR_ENOTFOUND,
                     "variant %s, replication %u has no worker %lld; its %.0f workers have the ids "
                     "%.0f to %.0f",
                     explanation->run->variant, explanation->run->replication,
                     (long long)explanation->query->worker, count, first, last);
}

static void print_score(FILE *out, const char *what, double primary, double secondary)
{
    (void)fprintf(out, "%s%.6g", what, primary);
    if (!isnan(secondary))
        (void)fprintf(out, ", then %.6g", secondary);
}

static void print_choice(FILE *out, const struct an_frame *start)
{
    if (isnan(an_number(start, 0, A_SEEN))) {
        (void)fputs("  how the place was chosen was not recorded (explain level off)\n", out);
        return;
    }
    const double seen = an_number(start, 0, A_SEEN);
    const double candidates = an_number(start, 0, A_CANDIDATES);
    (void)fprintf(out, "  %.0f node%s looked at: %.0f place%s would fit", seen,
                  seen > 1.5 ? "s" : "", candidates, candidates > 1.5 ? "s" : "");
    if (an_text(start, 0, A_REASONS)[0] != '\0')
        (void)fprintf(out, " · %s", an_text(start, 0, A_REASONS));
    print_score(out, "\n  score (smaller is better): ", an_number(start, 0, A_SCORE),
                an_number(start, 0, A_SCORE2));
    if (an_text(start, 0, A_RUNNER)[0] != '\0') {
        (void)fprintf(out, "; runner-up %s: ", an_text(start, 0, A_RUNNER));
        print_score(out, "", an_number(start, 0, A_RUNNER_SCORE),
                    an_number(start, 0, A_RUNNER_SCORE2));
    } else {
        (void)fputs("; no runner-up", out);
    }
    const double ties = an_number(start, 0, A_TIES);
    if (ties > 1.5)
        (void)fprintf(out, "\n  tie: %.0f places had the best score; the first in order was taken",
                      ties);
    (void)fputc('\n', out);
}

/* "GPUs 0, 3" of a mask; nothing without one. */
static void print_gpus(FILE *out, double mask)
{
    const uint64_t bits = isnan(mask) ? 0 : (uint64_t)(int64_t)mask;
    const char *before = bits != 0 && (bits & (bits - 1)) == 0 ? " GPU " : " GPUs ";
    for (uint32_t gpu = 0; gpu < 64; gpu++) {
        if ((bits >> gpu & 1) == 0)
            continue;
        (void)fprintf(out, "%s%u", before, gpu);
        before = ", ";
    }
}

/* The places that were weighed, the best first: what explain levels top and full keep. */
static weir_status print_places(const struct an_explanation *explanation,
                                const struct an_args *args, struct weir_error *error)
{
    enum { MOST = 20 };
    FILE *out = explanation->out;
    const struct an_frame *frame = NULL;
    bool has = false;
    WEIR_TRY(an_has_table(explanation->keeper->db, "candidate", &has, error));
    if (!has)
        return WEIR_OK;
    WEIR_TRY(an_keep_query(explanation->keeper, candidates_sql, args, &frame, error));
    for (size_t row = 0; row < frame->row_count && row < MOST; row++) {
        (void)fprintf(out, "  %s %s", an_number(frame, row, C_CHOSEN) > 0.5 ? "took " : "place",
                      an_text(frame, row, C_NODE));
        print_gpus(out, an_number(frame, row, C_MASK));
        print_score(out, ": ", an_number(frame, row, C_SCORE), an_number(frame, row, C_SCORE2));
        (void)fputc('\n', out);
    }
    if (frame->row_count > MOST)
        (void)fprintf(out, "  … and %zu more places (--format json has all)\n",
                      frame->row_count - MOST);
    return WEIR_OK;
}

static void print_start(const struct an_explanation *explanation, const struct an_frame *start,
                        double created_s)
{
    FILE *out = explanation->out;
    if (start->row_count == 0) {
        (void)fprintf(out, "  no recorded decision started it%s\n",
                      created_s > 0.0 ? "" : ": it was there from the beginning");
        return;
    }
    (void)fprintf(out, "  decision %.0f at %s placed it", an_number(start, 0, A_DECISION),
                  an_explain_clock(explanation, an_number(start, 0, A_T)).text);
    if (an_number(start, 0, A_PHASE) > 0.0)
        (void)fprintf(out, " in phase %.0f", an_number(start, 0, A_PHASE));
    (void)fprintf(out, " (placement %s, scaling %s)%s\n", an_text(start, 0, A_PLACEMENT),
                  an_text(start, 0, A_SCALING),
                  an_number(start, 0, A_REUSED) > 0.5
                      ? "; it had been stopped earlier in the plan and was kept after all"
                      : "");
    print_choice(out, start);
}

static void print_life(const struct an_explanation *explanation, const struct an_frame *worker)
{
    FILE *out = explanation->out;
    const double created = an_number(worker, 0, W_CREATED);
    const double ready = an_number(worker, 0, W_READY);
    const double ended = an_number(worker, 0, W_ENDED);
    if (isnan(ready))
        (void)fputs("  it never became ready\n", out);
    else
        (void)fprintf(out, "  set-up took %s; %.0f tasks, busy %s\n",
                      an_word_duration(ready - created).text, an_number(worker, 0, W_TASKS),
                      an_word_duration(an_number(worker, 0, W_BUSY)).text);
    if (!isnan(ended))
        (void)fprintf(out, "  ended at %s: %s\n", an_explain_clock(explanation, ended).text,
                      an_text(worker, 0, W_REASON));
}

static weir_status print_worker(const struct an_explanation *explanation,
                                const struct an_frame *worker, struct weir_error *error)
{
    const struct an_args args = { .run = explanation->run->run_id,
                                  .id = explanation->query->worker };
    const double created = an_number(worker, 0, W_CREATED);
    const bool has_ended = !isnan(an_number(worker, 0, W_ENDED));
    const char *devices = an_text(worker, 0, W_DEVICES);
    const struct an_frame *start = NULL;
    const struct an_frame *stop = NULL;
    WEIR_TRY(an_keep_query(explanation->keeper, start_sql, &args, &start, error));
    WEIR_TRY(an_keep_query(explanation->keeper, stop_sql, &args, &stop, error));
    (void)fprintf(explanation->out, "worker %lld of %s %s on %s%s%s%s %s %s\n", (long long)args.id,
                  an_text(worker, 0, W_STAGE), has_ended ? "ran" : "runs",
                  an_text(worker, 0, W_NODE), devices[0] == '\0' ? "" : " (", devices,
                  devices[0] == '\0' ? "" : ")", has_ended ? "from" : "since",
                  an_explain_clock(explanation, created).text);
    print_start(explanation, start, created);
    WEIR_TRY(print_places(explanation, &args, error));
    print_life(explanation, worker);
    if (stop->row_count > 0)
        (void)fprintf(
            explanation->out, "  decision %.0f at %s asked to %s it\n", an_number(stop, 0, 0),
            an_explain_clock(explanation, an_number(stop, 0, 1)).text, an_text(stop, 0, 2));
    return WEIR_OK;
}

static weir_status explain_worker(const struct an_explanation *explanation,
                                  struct weir_error *error)
{
    const struct an_args args = { .run = explanation->run->run_id,
                                  .id = explanation->query->worker };
    const struct an_frame *worker = NULL;
    bool has = false;
    WEIR_TRY(an_has_table(explanation->keeper->db, "workload", &has, error));
    WEIR_TRY(an_keep_query(explanation->keeper, has ? worker_sql : stage_worker_sql, &args, &worker,
                           error));
    if (worker->row_count == 0)
        return fail_no_worker(explanation, error);
    if (explanation->query->as_json)
        return print_json(explanation, has ? worker_places_json_sql : worker_json_sql, &args,
                          error);
    return print_worker(explanation, worker, error);
}

/* ---- a stage ---- */

#define STAGE_DECISIONS                                                                            \
    " FROM decision_stage s JOIN decision d ON d.run_id = s.run_id AND d.decision = s.decision"    \
    " JOIN stage g ON g.run_id = s.run_id AND g.stage = s.stage"                                   \
    " WHERE s.run_id = :run AND g.name = :text AND d.t_s >= :from AND d.t_s <= :to"

enum { S_DECISION, S_T, S_BEFORE, S_AFTER, S_STARTED, S_STOPPED, S_BINDING };

static const char stage_sql[] =
    "SELECT s.decision, d.t_s, s.workers_before, s.workers_after, s.started, s.stopped,"
    " s.binding" STAGE_DECISIONS " ORDER BY s.decision";

static const char stage_reasons_sql[] =
    "SELECT s.binding, count(*)" STAGE_DECISIONS
    " AND s.workers_after <= s.workers_before GROUP BY s.binding ORDER BY 2 DESC, 1";

/* What was decided about the stage in that time. */
#define STAGE_ACTIONS                                                                              \
    " FROM action a JOIN decision d ON d.run_id = a.run_id AND d.decision = a.decision"            \
    " JOIN stage g ON g.run_id = a.run_id AND g.stage = a.stage"                                   \
    " WHERE a.run_id = :run AND g.name = :text AND d.t_s >= :from AND d.t_s <= :to"

/* What became of the starts: those the cluster refused ran nowhere. */
#define STAGE_STARTS                                                                               \
    "count(*) AS planned, count(*) FILTER (WHERE a.outcome = 'applied') AS started,"               \
    " count(*) FILTER (WHERE a.outcome LIKE 'refused%') AS refused" STAGE_ACTIONS                  \
    " AND a.verb = 'start'"
static const char stage_starts_sql[] = "SELECT " STAGE_STARTS;

/* What the denied requests found on the nodes. */
#define STAGE_DENIED                                                                               \
    "(SELECT a.reasons AS reasons, count(*) AS n" STAGE_ACTIONS                                    \
    " AND a.verb = 'deny' GROUP BY a.reasons)"

/* The most frequent picture. */
static const char stage_denied_sql[] =
    "SELECT sum(n), (SELECT group_concat(key || ' on ' || value || CASE value WHEN 1 THEN ' node'"
    " ELSE ' nodes' END, ', ') FROM json_each(reasons)), max(n) FROM " STAGE_DENIED;

/* What it said of itself. */
#define STAGE_TOLD                                                                                 \
    "SELECT t_s, text FROM happening WHERE run_id = :run AND target = :text AND t_s <= :to"        \
    " AND kind NOT IN ('load', 'unload', 'scale', 'deploy') ORDER BY t_s LIMIT 10"
static const char stage_told_sql[] = STAGE_TOLD;

static const char stage_json_sql[] =
    "SELECT json_object('schema', 1, 'stage', :text, 'from_s', :from, 'to_s', :to, 'starts',"
    " (SELECT json_object('planned', planned, 'started', started, 'refused', refused) FROM"
    " (SELECT " STAGE_STARTS ")), 'denied',"
    " (SELECT json_group_array(json_object('times', n, 'nodes', CASE WHEN json_valid(reasons)"
    " THEN json(reasons) END)) FROM " STAGE_DENIED "), 'told',"
    " (SELECT json_group_array(json_object('t_s', t_s, 'text', text)) FROM (" STAGE_TOLD
    ")), 'decisions',"
    " (SELECT json_group_array(json_object('decision', s.decision, 't_s', d.t_s, 'workers_before',"
    " s.workers_before, 'workers_after', s.workers_after, 'started', s.started, 'stopped',"
    " s.stopped, 'binding', s.binding))" STAGE_DECISIONS "))";

static weir_status check_stage(const struct an_explanation *explanation, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(
        explanation->keeper,
        "SELECT total(name = :text), group_concat(name, ', ') FROM (SELECT name FROM "
        "stage WHERE run_id = :run ORDER BY stage)",
        &(struct an_args){ .run = explanation->run->run_id, .text = explanation->query->stage },
        &frame, error));
    if (an_text(frame, 0, 1)[0] == '\0')
        return weir_fail(error, WEIR_ENOTFOUND,
                         "there is no stage \"%s\": the run has jobs, and no stages; --job and "
                         "--pending ask about them",
                         explanation->query->stage);
    if (an_number(frame, 0, 0) < 0.5)
        return weir_fail(error, WEIR_ENOTFOUND, "there is no stage \"%s\"; there are: %s",
                         explanation->query->stage, an_text(frame, 0, 1));
    return WEIR_OK;
}

static void print_starts(FILE *out, const struct an_frame *starts)
{
    if (an_number(starts, 0, 0) > 0.5)
        (void)fprintf(out, "  starts: %.0f planned, %.0f started, %.0f refused by the cluster\n",
                      an_number(starts, 0, 0), an_number(starts, 0, 1), an_number(starts, 0, 2));
}

static void print_additions(const struct an_explanation *explanation, const struct an_frame *frame)
{
    double added = 0.0;
    double decisions = 0.0;
    for (size_t i = 0; i < frame->row_count; i++) {
        const double more = an_number(frame, i, S_AFTER) - an_number(frame, i, S_BEFORE);
        added += fmax(more, 0.0);
        decisions += more > 0.0 ? 1.0 : 0.0;
    }
    const double from = an_number(frame, 0, S_T);
    const double to = an_number(frame, frame->row_count - 1, S_T);
    FILE *out = explanation->out;
    if (decisions > 0.0)
        (void)fprintf(
            out, "%.0f more worker%s planned for %s by %.0f of %zu decisions between %s and %s\n",
            added, added > 1.5 ? "s were" : " was", explanation->query->stage, decisions,
            frame->row_count, an_explain_clock(explanation, from).text,
            an_explain_clock(explanation, to).text);
    else
        (void)fprintf(out, "no worker was added to %s between %s and %s\n",
                      explanation->query->stage, an_explain_clock(explanation, from).text,
                      an_explain_clock(explanation, to).text);
}

static void print_reasons(FILE *out, const struct an_frame *reasons)
{
    double decisions = 0.0;
    for (size_t i = 0; i < reasons->row_count; i++)
        decisions += an_number(reasons, i, 1);
    if (decisions <= 0.0)
        return;
    (void)fprintf(out, "  why not: %.0f decision%s added none:", decisions,
                  an_explain_plural(decisions));
    for (size_t i = 0; i < reasons->row_count; i++) {
        const char *text = an_text(reasons, i, 0);
        const bool is_silent = text[0] == '\0' || strcmp(text, "none") == 0;
        (void)fprintf(out, "%s %s (%.0f)", i == 0 ? "" : ",", is_silent ? "no reason given" : text,
                      an_number(reasons, i, 1));
    }
    (void)fputc('\n', out);
}

/* How many decisions behind one that changed nothing changed nothing either, for the same reason.
 */
static size_t count_same(const struct an_frame *frame, size_t row)
{
    size_t count = 0;
    if (fabs(an_number(frame, row, S_AFTER) - an_number(frame, row, S_BEFORE)) > 0.5 ||
        an_number(frame, row, S_STARTED) + an_number(frame, row, S_STOPPED) > 0.5)
        return 0;
    for (size_t i = row + 1; i < frame->row_count; i++, count++) {
        for (size_t c = S_BEFORE; c <= S_STOPPED; c++)
            if (fabs(an_number(frame, i, c) - an_number(frame, row, c)) > 0.5)
                return count;
        if (strcmp(an_text(frame, i, S_BINDING), an_text(frame, row, S_BINDING)) != 0)
            return count;
    }
    return count;
}

static void print_rows(const struct an_explanation *explanation, const struct an_frame *frame)
{
    enum { FEW = 3 }; /* are told one by one */
    FILE *out = explanation->out;
    (void)fprintf(out, "\n  %-12s %8s %7s %7s %8s %8s  %s\n", "time", "decision", "before", "after",
                  "started", "stopped", "bound by");
    for (size_t i = 0; i < frame->row_count; i++) {
        (void)fprintf(out, "  %-12s %8.0f %7.0f %7.0f %8.0f %8.0f  %s\n",
                      an_explain_clock(explanation, an_number(frame, i, S_T)).text,
                      an_number(frame, i, S_DECISION), an_number(frame, i, S_BEFORE),
                      an_number(frame, i, S_AFTER), an_number(frame, i, S_STARTED),
                      an_number(frame, i, S_STOPPED), an_text(frame, i, S_BINDING));
        const size_t same = count_same(frame, i);
        if (same <= FEW)
            continue;
        i += same;
        (void)fprintf(out, "  %zu more until %s: the same\n", same,
                      an_explain_clock(explanation, an_number(frame, i, S_T)).text);
    }
}

/* What it said of itself; what was done to it is told below. */
static void print_told(const struct an_explanation *explanation, const struct an_frame *told)
{
    for (size_t i = 0; i < told->row_count; i++)
        (void)fprintf(explanation->out, "  %s: %s\n",
                      an_explain_clock(explanation, an_number(told, i, 0)).text,
                      an_text(told, i, 1));
}

static weir_status print_stage(const struct an_explanation *explanation, const struct an_args *args,
                               const struct an_frame *frame, struct weir_error *error)
{
    const struct an_frame *reasons = NULL;
    const struct an_frame *denied = NULL;
    const struct an_frame *told = NULL;
    WEIR_TRY(an_keep_query(explanation->keeper, stage_told_sql, args, &told, error));
    WEIR_TRY(an_keep_query(explanation->keeper, stage_reasons_sql, args, &reasons, error));
    const struct an_frame *starts = NULL;
    WEIR_TRY(an_keep_query(explanation->keeper, stage_denied_sql, args, &denied, error));
    WEIR_TRY(an_keep_query(explanation->keeper, stage_starts_sql, args, &starts, error));
    print_told(explanation, told);
    print_additions(explanation, frame);
    print_starts(explanation->out, starts);
    print_reasons(explanation->out, reasons);
    const double count = an_number(denied, 0, 0);
    if (count > 0.0)
        (void)fprintf(explanation->out, "  no room: denied %.0f time%s: %s\n", count,
                      an_explain_plural(count),
                      an_text(denied, 0, 1)[0] == '\0' ? "no reason recorded"
                                                       : an_text(denied, 0, 1));
    print_rows(explanation, frame);
    return WEIR_OK;
}

/* Who did what to a service, and who was not allowed to. */
static weir_status print_audit(const struct an_explanation *explanation, const struct an_args *args,
                               struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    bool has = false;
    WEIR_TRY(an_has_table(explanation->keeper->db, "audit", &has, error));
    if (!has)
        return WEIR_OK;
    WEIR_TRY(an_keep_query(explanation->keeper,
                           "SELECT t_s, text FROM audit WHERE run_id = :run AND model = :text"
                           " AND t_s >= :from AND t_s <= :to ORDER BY t_s, rowid",
                           args, &frame, error));
    if (frame->row_count > 0)
        (void)fprintf(explanation->out, "\n  what was done to it (table audit):\n");
    for (size_t i = 0; i < frame->row_count; i++)
        (void)fprintf(explanation->out, "  %-12s %s\n",
                      an_explain_clock(explanation, an_number(frame, i, 0)).text,
                      an_text(frame, i, 1));
    return WEIR_OK;
}

static weir_status explain_stage(const struct an_explanation *explanation, struct weir_error *error)
{
    const struct an_explain_query *query = explanation->query;
    const struct an_args args = { .run = explanation->run->run_id,
                                  .text = query->stage,
                                  .from = isnan(query->from_s) ? 0.0 : query->from_s,
                                  .to =
                                      isnan(query->to_s) ? explanation->run->end_s : query->to_s };
    WEIR_TRY(check_stage(explanation, error));
    if (query->as_json)
        return print_json(explanation, stage_json_sql, &args, error);
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(explanation->keeper, stage_sql, &args, &frame, error));
    if (frame->row_count > 0) {
        WEIR_TRY(print_stage(explanation, &args, frame, error));
        return print_audit(explanation, &args, error);
    }
    (void)fprintf(explanation->out,
                  "no decision about %s was recorded between %s and %s (none was made then, or the "
                  "explain level is off)\n",
                  query->stage, an_explain_clock(explanation, args.from).text,
                  an_explain_clock(explanation, args.to).text);
    return print_audit(explanation, &args, error);
}

/* ---- a moment ---- */

static const char moment_sql[] =
    "SELECT decision, t_s, placement, scaling, started, stopped, denied, refused, status, message,"
    " (SELECT min(t_s) FROM decision n WHERE n.run_id = d.run_id AND n.t_s > d.t_s),"
    " (SELECT count(*) FROM action a WHERE a.run_id = d.run_id AND a.decision = d.decision"
    "  AND a.verb = 'request_node'),"
    " (SELECT count(*) FROM action a WHERE a.run_id = d.run_id AND a.decision = d.decision"
    "  AND a.verb = 'release_node')"
    " FROM decision d WHERE run_id = :run AND t_s <= :from ORDER BY t_s DESC, decision DESC"
    " LIMIT 1";

static const char moment_stages_sql[] =
    "SELECT g.name, s.workers_before, s.workers_after, s.speed_per_s, s.throughput_per_s,"
    " s.binding FROM decision_stage s JOIN stage g ON g.run_id = s.run_id AND g.stage = s.stage"
    " WHERE s.run_id = :run AND s.decision = :id ORDER BY s.stage";

static const char moment_json_sql[] =
    "SELECT json_object('schema', 1, 'decision', d.decision, 't_s', d.t_s, 'placement', placement,"
    " 'scaling', scaling, 'started', started, 'stopped', stopped, 'denied', denied, 'refused',"
    " refused, 'status', status, 'message', message, 'stages',"
    " (SELECT json_group_array(json_object('stage', g.name, 'workers_before', s.workers_before,"
    "  'workers_after', s.workers_after, 'speed_per_s', s.speed_per_s, 'throughput_per_s',"
    "  s.throughput_per_s, 'binding', s.binding)) FROM decision_stage s JOIN stage g"
    "  ON g.run_id = s.run_id AND g.stage = s.stage"
    "  WHERE s.run_id = d.run_id AND s.decision = d.decision))"
    " FROM decision d WHERE d.run_id = :run AND d.t_s <= :from ORDER BY d.t_s DESC,"
    " d.decision DESC LIMIT 1";

static void print_moment(const struct an_explanation *explanation, const struct an_frame *decision)
{
    FILE *out = explanation->out;
    (void)fprintf(out, "decision %.0f at %s was in force at %s (placement %s, scaling %s)\n",
                  an_number(decision, 0, 0),
                  an_explain_clock(explanation, an_number(decision, 0, 1)).text,
                  an_explain_clock(explanation, explanation->query->at_s).text,
                  an_text(decision, 0, 2), an_text(decision, 0, 3));
    (void)fprintf(
        out, "  it started %.0f, stopped %.0f and denied %.0f; the cluster refused %.0f; %s%s%s\n",
        an_number(decision, 0, 4), an_number(decision, 0, 5), an_number(decision, 0, 6),
        an_number(decision, 0, 7), an_text(decision, 0, 8),
        an_text(decision, 0, 9)[0] == '\0' ? "" : ": ", an_text(decision, 0, 9));
    if (an_number(decision, 0, 11) + an_number(decision, 0, 12) > 0)
        (void)fprintf(out, "  of nodes it asked for %.0f and gave back %.0f\n",
                      an_number(decision, 0, 11), an_number(decision, 0, 12));
    if (!isnan(an_number(decision, 0, 10)))
        (void)fprintf(out, "  the next one came at %s\n",
                      an_explain_clock(explanation, an_number(decision, 0, 10)).text);
}

static weir_status print_moment_stages(const struct an_explanation *explanation, int64_t decision,
                                       struct weir_error *error)
{
    FILE *out = explanation->out;
    const struct an_frame *frame = NULL;
    const struct an_args args = { .run = explanation->run->run_id, .id = decision };
    WEIR_TRY(an_keep_query(explanation->keeper, moment_stages_sql, &args, &frame, error));
    int width = 5;
    for (size_t i = 0; i < frame->row_count; i++)
        width =
            (int)strlen(an_text(frame, i, 0)) > width ? (int)strlen(an_text(frame, i, 0)) : width;
    if (frame->row_count > 0)
        (void)fprintf(out, "\n  %-*s %7s %7s %12s %12s  %s\n", width, "stage", "before", "after",
                      "speed /s", "stage /s", "bound by");
    for (size_t i = 0; i < frame->row_count; i++)
        (void)fprintf(out, "  %-*s %7.0f %7.0f %12s %12s  %s\n", width, an_text(frame, i, 0),
                      an_number(frame, i, 1), an_number(frame, i, 2),
                      an_word_number(an_number(frame, i, 3)).text,
                      an_word_number(an_number(frame, i, 4)).text, an_text(frame, i, 5));
    return WEIR_OK;
}

static weir_status explain_moment(const struct an_explanation *explanation,
                                  struct weir_error *error)
{
    const struct an_args args = { .run = explanation->run->run_id,
                                  .from = explanation->query->at_s + 1e-9 };
    const struct an_frame *decision = NULL;
    WEIR_TRY(an_keep_query(explanation->keeper, moment_sql, &args, &decision, error));
    if (decision->row_count == 0)
        return weir_fail(error, WEIR_ENOTFOUND, "no decision had been made by %s",
                         an_explain_clock(explanation, explanation->query->at_s).text);
    if (explanation->query->as_json)
        return print_json(explanation, moment_json_sql, &args, error);
    print_moment(explanation, decision);
    return print_moment_stages(explanation, (int64_t)an_number(decision, 0, 0), error);
}

/* Nothing can be said of decisions that were made and not kept. */
static weir_status check_kept(const struct an_explanation *explanation, struct weir_error *error)
{
    const struct an_frame *kept = NULL;
    struct an_value made;
    const struct an_args args = { .run = explanation->run->run_id };
    WEIR_TRY(an_result(explanation->keeper->db, args.run, "sched.decisions", &made, error));
    WEIR_TRY(
        an_keep_query(explanation->keeper,
                      "SELECT count(*) FROM (SELECT 1 FROM decision WHERE run_id = :run LIMIT 1)",
                      &args, &kept, error));
    const bool is_kept = an_number(kept, 0, 0) > 0 || !(made.value > 0);
    return is_kept ? WEIR_OK
                   : weir_fail(error, WEIR_ENOTFOUND,
                               "the %.0f decisions of this run are not in the file: run it with "
                               "metrics.keep: all",
                               made.value);
}

static weir_status explain(const struct an_explanation *explanation, struct weir_error *error)
{
    const struct an_explain_query *query = explanation->query;
    WEIR_TRY(check_kept(explanation, error));
    if (query->worker >= 0)
        return explain_worker(explanation, error);
    if (query->job != NULL)
        return an_explain_job(explanation, error);
    if (query->is_pending)
        return an_explain_pending(explanation, error);
    if (query->stage != NULL)
        return explain_stage(explanation, error);
    if (!isnan(query->at_s))
        return explain_moment(explanation, error);
    return weir_fail(error, WEIR_EINVAL, "name a worker, a job, a stage or a time to explain");
}

static weir_status find_moments(const struct an_run *run, struct an_explain_query *query,
                                struct weir_error *error)
{
    WEIR_TRY(an_moment_in(&query->from, run->start_unix_s, run->end_s, &query->from_s, error));
    WEIR_TRY(an_moment_in(&query->to, run->start_unix_s, run->end_s, &query->to_s, error));
    return an_moment_in(&query->at, run->start_unix_s, run->end_s, &query->at_s, error);
}

weir_status an_explain(struct an_db *db, const struct an_explain_query *query, FILE *out,
                       struct weir_error *error)
{
    struct an_keeper keeper = { .db = db };
    struct an_run *run = NULL;
    WEIR_TRY(an_run_find(db, query->variant, query->replication, &run, error));
    struct an_explain_query asked = *query;
    const struct an_explanation explanation = {
        .keeper = &keeper, .run = run, .query = &asked, .out = out
    };
    weir_status status = find_moments(run, &asked, error);
    if (status == WEIR_OK)
        status = explain(&explanation, error);
    an_keep_clear(&keeper);
    an_run_destroy(run);
    return status;
}
