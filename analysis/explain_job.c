/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What became of a job, and all that waits: reasons and holders as the denials recorded them.
 *
 * Jobs of a kind ask for the same and one of them is denied for all. A denial holds for a job of
 * the kind as long as none of them started since, whatever became of the one that was asked for.
 */
#include "analysis/explain_parts.h"

#include <math.h>
#include <string.h>

/* "4 × (4 CPU + 2 GPU) on a100-80"; of unequal ranks "3 ranks: 4 CPU + 1 GPU, 2 × (1 CPU)" */
#define ASKS(job)                                                                                  \
    "CASE WHEN instr(" job ".request, ', ') > 0 THEN " job ".members || ' ranks: ' || " job        \
    ".request"                                                                                     \
    " WHEN " job ".members > 1 THEN " job ".members || ' × (' || " job ".request || ')'"           \
    " ELSE " job ".request END ||"                                                                 \
    " CASE " job ".gpu_types WHEN '' THEN '' ELSE ' on ' || " job ".gpu_types END"

/* The columns of a denial `v`, one row a holder. */
#define DENIAL                                                                                     \
    "v.t_s AS denied_s, v.decision, v.job_name AS denied_job, v.reason, v.device, v.node_name,"    \
    " v.gpu, v.holder, v.holder_name, v.holder_gpus, v.holder_cpus, v.holder_devices,"             \
    " v.holder_since_s"
enum { D_T, D_DECISION, D_JOB, D_REASON, D_DEVICE, D_NODE, D_GPU, D_HOLDER };
enum { D_NAME = D_HOLDER + 1, D_GPUS, D_CPUS, D_DEVICES, D_SINCE };

/* Of rows that differ by the holder alone. */
#define DENIAL_JSON(reason)                                                                        \
    "'decision', decision, 'denied_s', denied_s, 'denied_job', denied_job, 'reason', " reason ","  \
    " 'device', device, 'node', node_name, 'gpu', gpu, 'holders', json(json_group_array("          \
    "json_object('worker', holder, 'who', holder_name, 'gpus', holder_gpus, 'cpus', holder_cpus,"  \
    " 'devices', holder_devices, 'since_s', holder_since_s)) FILTER (WHERE holder IS NOT NULL))"

/* ---- denials ---- */

/* "0.5 GPU", "2 CPUs", "nvdec3.1": of the device that lacks; without a node it is a limit that
 * lacks, and all is told that who uses it up holds: "2 GPUs and 4 CPUs". */
static void print_amount(FILE *out, const struct an_frame *frame, size_t row, size_t from)
{
    const double gpus = an_number(frame, row, from + D_GPUS);
    const double cpus = an_number(frame, row, from + D_CPUS);
    const char *devices = an_text(frame, row, from + D_DEVICES);
    if (an_text(frame, row, from + D_NODE)[0] == '\0' && gpus > 0.0)
        (void)fprintf(out, "%g GPU%s and ", gpus, an_explain_plural(gpus));
    if (isnan(an_number(frame, row, from + D_GPU)) || (gpus <= 0.0 && devices[0] == '\0'))
        (void)fprintf(out, "%g CPU%s", cpus, an_explain_plural(cpus));
    else if (gpus > 0.0)
        (void)fprintf(out, "%g GPU%s", gpus, an_explain_plural(gpus));
    else
        (void)fputs(devices, out);
}

static void print_holder(const struct an_explanation *explanation, const struct an_frame *frame,
                         size_t row, size_t from)
{
    FILE *out = explanation->out;
    (void)fprintf(out, "      %s: ", an_text(frame, row, from + D_NAME));
    print_amount(out, frame, row, from);
    (void)fprintf(out, " since %s (worker %.0f)\n",
                  an_explain_clock(explanation, an_number(frame, row, from + D_SINCE)).text,
                  an_number(frame, row, from + D_HOLDER));
}

/* The denial of `count` rows that differ by the holder; its columns begin at `from`. */
static void print_denial(const struct an_explanation *explanation, const struct an_frame *frame,
                         size_t row, size_t count, size_t from)
{
    FILE *out = explanation->out;
    const char *device = an_text(frame, row, from + D_DEVICE);
    const char *node = an_text(frame, row, from + D_NODE);
    const char *job = an_text(frame, row, from + D_JOB);
    (void)fprintf(out, "    denied%s%s by decision %.0f at %s: %s%s%s\n",
                  job[0] == '\0' ? "" : " as ", job, an_number(frame, row, from + D_DECISION),
                  an_explain_clock(explanation, an_number(frame, row, from + D_T)).text,
                  an_text(frame, row, from + D_REASON),
                  device[0] == '\0' ? "" : "; lacks: ", device);
    const bool is_held = !isnan(an_number(frame, row, from + D_HOLDER));
    const char *name = an_text(frame, row, from + D_NAME);
    if (node[0] == '\0') {
        (void)fputs(is_held ? "    used up by ranks that hold\n" : "", out);
    } else {
        (void)fprintf(out, "    nearest to room: %s", node);
        if (!isnan(an_number(frame, row, from + D_GPU)))
            (void)fprintf(out, " GPU %.0f", an_number(frame, row, from + D_GPU));
        if (!is_held && name[0] != '\0')
            (void)fprintf(out, ", reserved for %s\n", name);
        else
            (void)fputs(is_held ? ", held by\n" : ", meant for workers of the same decision\n",
                        out);
    }
    for (size_t i = row; i < row + count; i++)
        if (!isnan(an_number(frame, i, from + D_HOLDER)))
            print_holder(explanation, frame, i, from);
}

/* Rows from `row` on that have the same number in the column `key`. */
static size_t same_rows(const struct an_frame *frame, size_t row, size_t key)
{
    size_t end = row + 1;
    while (end < frame->row_count &&
           !(fabs(an_number(frame, end, key) - an_number(frame, row, key)) > 0.0))
        end++;
    return end - row;
}

/* ---- which job ---- */

static const char find_sql[] =
    "SELECT id, who, rank, count(*) OVER (PARTITION BY rank) FROM (SELECT j.rowid AS id,"
    " l.name || '/' || j.job || ' (' || j.name || ')' AS who,"
    " CASE WHEN j.name = :text OR l.name || '/' || j.name = :text THEN 0 ELSE 1 END AS rank"
    " FROM job j JOIN workload l ON l.run_id = j.run_id AND l.workload = j.workload"
    " WHERE j.run_id = :run AND (j.name = :text OR l.name || '/' || j.name = :text"
    "  OR CAST(j.job AS TEXT) = :text OR l.name || '/' || j.job = :text))"
    " ORDER BY rank, who LIMIT 4";

static const char names_sql[] =
    "SELECT j.name, l.name || '/' || j.name FROM job j"
    " JOIN workload l ON l.run_id = j.run_id AND l.workload = j.workload WHERE j.run_id = :run";

static weir_status fail_no_job(const struct an_explanation *explanation, const struct an_args *args,
                               struct weir_error *error)
{
    const struct an_explain_query *query = explanation->query;
    const struct an_frame *names = NULL;
    const char *near = NULL;
    WEIR_TRY(an_keep_query(explanation->keeper, names_sql, args, &names, error));
    for (size_t i = 0; i < 2 * names->row_count && query->nearer != NULL; i++)
        near = query->nearer(query->job, near, an_text(names, i / 2, i % 2));
    if (near != NULL || names->row_count == 0)
        return weir_fail(error, WEIR_ENOTFOUND, "there is no job '%s' among %zu%s%s%s", query->job,
                         names->row_count, near == NULL ? "" : "; did you mean '",
                         near == NULL ? "" : near, near == NULL ? "" : "'?");
    return weir_fail(error, WEIR_ENOTFOUND,
                     "there is no job '%s' among %zu, the first of which is '%s'", query->job,
                     names->row_count, an_text(names, 0, 1));
}

static weir_status find_job(const struct an_explanation *explanation, int64_t *id,
                            struct weir_error *error)
{
    const struct an_args args = { .run = explanation->run->run_id,
                                  .text = explanation->query->job };
    const struct an_frame *found = NULL;
    WEIR_TRY(an_keep_query(explanation->keeper, find_sql, &args, &found, error));
    if (found->row_count == 0)
        return fail_no_job(explanation, &args, error);
    if (an_number(found, 0, 3) > 1.5)
        return weir_fail(error, WEIR_EINVAL,
                         "%.0f jobs are called '%s': %s, %s%s; say workload/number",
                         an_number(found, 0, 3), args.text, an_text(found, 0, 1),
                         an_text(found, 1, 1), an_number(found, 0, 3) > 2.5 ? " ..." : "");
    *id = (int64_t)an_number(found, 0, 0);
    return WEIR_OK;
}

/* ---- a job ---- */

enum { J_WHO, J_NUMBER, J_ASKS, J_GPUS, J_TENANT, J_USER, J_SUBMIT, J_END, J_OUTCOME, J_KIND };

static const char job_sql[] = "SELECT l.name || '/' || j.name, j.job, " ASKS(
    "j") ", j.gpus, j.tenant, j.user, j.submit_s,"
         " j.end_s, j.outcome, j.kind FROM job j"
         " JOIN workload l ON l.run_id = j.run_id AND l.workload = j.workload WHERE j.rowid = :id";

static const char job_json_sql[] =
    "SELECT json_object('job', j.job, 'workload', l.name, 'name', j.name, 'tenant', j.tenant,"
    " 'user', j.user, 'model', j.model, 'asks', " ASKS(
        "j") ", 'members', j.members, 'gpus', j.gpus,"
             " 'gpu_types', j.gpu_types, 'submit_s', j.submit_s, 'first_start_s', j.first_start_s,"
             " 'start_s', j.start_s, 'end_s', j.end_s, 'attempts', j.attempts, 'outcome', "
             "j.outcome)"
             " FROM job j JOIN workload l ON l.run_id = j.run_id AND l.workload = j.workload"
             " WHERE j.rowid = :id";

#define MEMBERS                                                                                    \
    " FROM v_job_member m JOIN job j ON j.run_id = m.run_id AND j.workload = m.workload"           \
    " AND j.job = m.job WHERE j.rowid = :id AND m.run_id = :run AND m.workload = (SELECT workload" \
    " FROM job WHERE rowid = :id) AND m.job = (SELECT job FROM job WHERE rowid = :id)"

enum { M_START, M_END, M_OUTCOME, M_RANK, M_NODE, M_DEVICES };

static const char members_sql[] =
    "SELECT m.start_s, m.end_s, m.outcome, m.rank, m.node_name, m.gpu" MEMBERS
    " ORDER BY m.attempt, m.rank";

static const char members_json_sql[] =
    "SELECT json_group_array(json_object('attempt', attempt, 'start_s', start_s, 'ranks',"
    " json(ranks))) FROM (SELECT m.attempt, m.start_s, json_group_array(json_object('rank', m.rank,"
    " 'worker', m.worker, 'node', m.node_name, 'devices', m.gpu, 'gpus', m.gpu_amount, 'end_s',"
    " m.end_s, 'outcome', m.outcome)) AS ranks" MEMBERS " GROUP BY m.attempt ORDER BY m.attempt)";

/* From when to when it waited (to_s NULL = still), and the denial that held last. The decision that
 * started it is no denial of it. */
#define WAITS                                                                                      \
    "WITH me AS (SELECT * FROM job WHERE rowid = :id), attempt AS (SELECT w.created_s AS start_s," \
    " max(w.ended_s) AS end_s, (SELECT max(a.decision) FROM action a WHERE a.run_id = w.run_id"    \
    "  AND a.workload = w.workload AND a.job = w.job AND a.verb = 'start'"                         \
    "  AND a.worker = min(w.worker)) AS decision FROM worker w JOIN me ON w.run_id = me.run_id"    \
    " AND w.workload = me.workload AND w.job = me.job GROUP BY w.created_s),"                      \
    " wait AS (SELECT coalesce(lag(t.end_s) OVER (ORDER BY t.start_s), submit_s) AS from_s,"       \
    "  t.start_s AS to_s, t.decision FROM attempt t, me"                                           \
    " UNION ALL SELECT coalesce((SELECT max(end_s) FROM attempt), submit_s), end_s, 1e18 FROM me"  \
    "  WHERE outcome IN ('waiting', 'left', 'refused')),"                                          \
    " act AS (SELECT a.rowid AS id, a.decision, a.seq, a.verb, o.end_s, d.t_s FROM me JOIN job o"  \
    " ON o.run_id = me.run_id AND o.kind = me.kind JOIN action a ON a.run_id = o.run_id"           \
    " AND a.workload = o.workload AND a.job = o.job AND a.verb IN ('deny', 'start')"               \
    " JOIN decision d ON d.run_id = a.run_id AND d.decision = a.decision)"                         \
    " SELECT wait.from_s, wait.to_s, " DENIAL " FROM wait LEFT JOIN act ON act.id = (SELECT x.id"  \
    " FROM act x WHERE x.verb = 'deny' AND x.decision < wait.decision"                             \
    " AND x.t_s <= coalesce(wait.to_s, 9e99) AND (x.t_s >= wait.from_s OR x.end_s IS NULL OR "     \
    "x.end_s > wait.from_s) AND NOT EXISTS"                                                        \
    " (SELECT 1 FROM act s WHERE s.verb = 'start' AND s.decision > x.decision"                     \
    "  AND s.decision < wait.decision AND s.t_s <= coalesce(wait.to_s, 9e99)) ORDER BY x.id DESC " \
    "LIMIT 1)"                                                                                     \
    " LEFT JOIN v_denial v ON v.run_id = :run AND v.decision = act.decision AND v.seq = act.seq"   \
    " ORDER BY wait.from_s"

enum { T_FROM, T_TO, T_DENIAL };

/* Of a job without a kind: nobody ever denied it. */
#define NEVER "it would not fit, even if all nodes were up and empty"
#define REASON                                                                                     \
    "coalesce(reason, CASE WHEN (SELECT kind FROM job WHERE rowid = :id) IS NULL THEN '" NEVER     \
    "' END)"

static const char waits_sql[] = WAITS;
static const char waits_json_sql[] =
    "SELECT json_group_array(json(one)) FROM (SELECT json_object('from_s', from_s, 'to_s', to_s,"
    " " DENIAL_JSON(REASON) ") AS one FROM (" WAITS ") GROUP BY from_s ORDER BY from_s)";

/* Why it waits without a denial. */
static const char *silence_of(const struct an_frame *job)
{
    if (isnan(an_number(job, 0, J_KIND)))
        return NEVER;
    return "no denial of what it asks for was recorded: others came first, it was held back, "
           "or the decision was on its way";
}

static void print_wait(const struct an_explanation *explanation, const struct an_frame *job,
                       const struct an_frame *waits, size_t row)
{
    FILE *out = explanation->out;
    const double from = an_number(waits, row, T_FROM);
    const double to = an_number(waits, row, T_TO);
    if (isnan(to))
        (void)fprintf(out, "  waits since %s\n", an_explain_clock(explanation, from).text);
    else if (to > from)
        (void)fprintf(out, "  waited %s\n", an_word_duration(to - from).text);
    if (an_text(waits, row, T_DENIAL + D_REASON)[0] != '\0')
        print_denial(explanation, waits, row, same_rows(waits, row, T_FROM), T_DENIAL);
    else if (!(to <= from) || isnan(an_number(job, 0, J_KIND)))
        (void)fprintf(out, "    %s\n", silence_of(job));
}

/* Its ranks; returns how many rows they are. */
static size_t print_attempt(const struct an_explanation *explanation,
                            const struct an_frame *members, size_t row)
{
    enum { MOST = 16 };
    FILE *out = explanation->out;
    const size_t ranks = same_rows(members, row, M_START);
    size_t last = row;
    (void)fprintf(out, "  started at %s:",
                  an_explain_clock(explanation, an_number(members, row, M_START)).text);
    for (size_t i = row; i < row + ranks; i++) {
        const char *devices = an_text(members, i, M_DEVICES);
        if (i - row < MOST)
            (void)fprintf(out, "%s rank %.0f on %s%s%s%s", i > row ? "," : "",
                          an_number(members, i, M_RANK), an_text(members, i, M_NODE),
                          devices[0] == '\0' ? "" : " (", devices, devices[0] == '\0' ? "" : ")");
        /* The one that was lost, not those that ended because of it. */
        if (strcmp(an_text(members, last, M_OUTCOME), "another rank was lost") == 0)
            last = i;
    }
    if (ranks > MOST)
        (void)fprintf(out, " and %zu more (--format json has all)", ranks - MOST);
    if (isnan(an_number(members, last, M_END)))
        (void)fputs("\n  runs\n", out);
    else
        (void)fprintf(out, "\n  ended at %s: %s (rank %.0f on %s)\n",
                      an_explain_clock(explanation, an_number(members, last, M_END)).text,
                      an_text(members, last, M_OUTCOME), an_number(members, last, M_RANK),
                      an_text(members, last, M_NODE));
    return ranks;
}

static void print_job(const struct an_explanation *explanation, const struct an_frame *job,
                      const struct an_frame *waits, const struct an_frame *members)
{
    FILE *out = explanation->out;
    const char *tenant = an_text(job, 0, J_TENANT);
    const char *user = an_text(job, 0, J_USER);
    (void)fprintf(out, "job %s (number %.0f)%s%s%s%s asks for %s\n  submitted at %s\n",
                  an_text(job, 0, J_WHO), an_number(job, 0, J_NUMBER),
                  user[0] == '\0' ? "" : " of ", user, tenant[0] == '\0' ? "" : " in ", tenant,
                  an_text(job, 0, J_ASKS),
                  an_explain_clock(explanation, an_number(job, 0, J_SUBMIT)).text);
    size_t member = 0;
    for (size_t row = 0; row < waits->row_count; row += same_rows(waits, row, T_FROM)) {
        print_wait(explanation, job, waits, row);
        if (member < members->row_count)
            member += print_attempt(explanation, members, member);
    }
    const char *outcome = an_text(job, 0, J_OUTCOME);
    if (strcmp(outcome, "left") == 0 || strcmp(outcome, "refused") == 0)
        (void)fprintf(out, "  %s at %s\n", outcome,
                      an_explain_clock(explanation, an_number(job, 0, J_END)).text);
}

static weir_status print_job_json(const struct an_explanation *explanation,
                                  const struct an_args *args, struct weir_error *error)
{
    FILE *out = explanation->out;
    (void)fputs("{\"schema\":1,\"job\":", out);
    WEIR_TRY(an_explain_json(explanation, job_json_sql, args, error));
    (void)fputs(",\"waits\":", out);
    WEIR_TRY(an_explain_json(explanation, waits_json_sql, args, error));
    (void)fputs(",\"attempts\":", out);
    WEIR_TRY(an_explain_json(explanation, members_json_sql, args, error));
    (void)fputs("}\n", out);
    return WEIR_OK;
}

weir_status an_explain_job(const struct an_explanation *explanation, struct weir_error *error)
{
    struct an_args args = { .run = explanation->run->run_id };
    WEIR_TRY(find_job(explanation, &args.id, error));
    if (explanation->query->as_json)
        return print_job_json(explanation, &args, error);
    const struct an_frame *job = NULL;
    const struct an_frame *waits = NULL;
    const struct an_frame *members = NULL;
    WEIR_TRY(an_keep_query(explanation->keeper, job_sql, &args, &job, error));
    WEIR_TRY(an_keep_query(explanation->keeper, waits_sql, &args, &waits, error));
    WEIR_TRY(an_keep_query(explanation->keeper, members_sql, &args, &members, error));
    print_job(explanation, job, waits, members);
    return WEIR_OK;
}

/* ---- all that waits ---- */

/* One kind of job after the other, the one that waits longest first; with the denial that holds. */
#define WAITING                                                                                    \
    "WITH life AS (SELECT workload, job, max(ended_s) AS lost_s, max(CASE WHEN ended_s IS NULL"    \
    "  OR ended_s > :from THEN 1 ELSE 0 END) AS runs FROM worker WHERE run_id = :run"              \
    "  AND job IS NOT NULL AND created_s <= :from GROUP BY workload, job),"                        \
    " waiting AS (SELECT j.*, l.name || '/' || j.name AS who, coalesce(f.lost_s, j.submit_s)"      \
    "  AS since_s FROM job j JOIN workload l ON l.run_id = j.run_id AND l.workload = j.workload"   \
    "  LEFT JOIN life f ON f.workload = j.workload AND f.job = j.job WHERE j.run_id = :run"        \
    "  AND j.submit_s <= :from AND (j.end_s IS NULL OR j.end_s > :from) AND coalesce(f.runs, 0) "  \
    "= "                                                                                           \
    "  0), kind AS (SELECT kind, jobs, since_s, who, " ASKS(                                       \
        "waiting") "  AS asks FROM (SELECT *, count(*) OVER (PARTITION BY kind) AS jobs,"          \
                   "   row_number() OVER (PARTITION BY kind ORDER BY since_s, workload, job) AS"   \
                   "   place FROM waiting) waiting WHERE place = 1),"                              \
                   " act AS (SELECT o.kind, a.verb, max(a.rowid) AS id, max(a.decision) AS "       \
                   "decision"                                                                      \
                   "  FROM action a JOIN decision d ON d.run_id = a.run_id AND d.decision = "      \
                   "a.decision"                                                                    \
                   "  JOIN job o ON o.run_id = a.run_id AND o.workload = a.workload AND o.job = "  \
                   "a.job"                                                                         \
                   "  WHERE a.run_id = :run AND a.verb IN ('deny', 'start') AND d.t_s <= :from"    \
                   "  GROUP BY o.kind, a.verb)"                                                    \
                   " SELECT k.kind AS key, k.jobs, k.since_s, k.who, k.asks, " DENIAL              \
                   " FROM kind k"                                                                  \
                   " LEFT JOIN act y ON y.kind = k.kind AND y.verb = 'deny' AND NOT EXISTS "       \
                   "(SELECT 1 FROM act s"                                                          \
                   "  WHERE s.kind = k.kind AND s.verb = 'start' AND s.decision > y.decision)"     \
                   " LEFT JOIN action a ON a.rowid = y.id"                                         \
                   " LEFT JOIN v_denial v ON v.run_id = :run AND v.decision = a.decision AND "     \
                   "v.seq = a.seq"                                                                 \
                   " ORDER BY k.since_s, k.kind"

/* Stages that the latest decision about them denied a worker, unless they have no more work. */
#define SHORT                                                                                      \
    "WITH latest AS (SELECT s.stage, max(s.decision) AS decision FROM decision_stage s"            \
    "  JOIN decision d ON d.run_id = s.run_id AND d.decision = s.decision"                         \
    "  WHERE s.run_id = :run AND d.t_s <= :from GROUP BY s.stage)"                                 \
    " SELECT g.stage AS key, (SELECT count(*) FROM worker w WHERE w.run_id = :run"                 \
    "  AND w.stage = g.stage AND w.created_s <= :from AND (w.ended_s IS NULL OR w.ended_s > :from" \
    " )) AS workers, NULL AS since_s, g.pipeline || '/' || g.name AS who, g.shape AS "             \
    "asks, " DENIAL " FROM latest y JOIN stage g ON g.run_id = :run AND g.stage = y.stage"         \
    " JOIN v_denial v ON v.run_id = :run AND v.decision = y.decision AND v.stage = y.stage"        \
    " WHERE NOT EXISTS (SELECT 1 FROM action x WHERE x.run_id = :run AND x.decision = y.decision"  \
    "  AND x.stage = y.stage AND x.outcome = 'refused: stage has no more work')"                   \
    " AND NOT EXISTS (SELECT 1 FROM worker d WHERE d.run_id = :run AND d.stage = y.stage"          \
    "  AND d.end_reason = 'stage done' AND d.ended_s <= :from) ORDER BY g.stage"

enum { P_KEY, P_COUNT, P_SINCE, P_WHO, P_ASKS, P_DENIAL };

#define PENDING_JSON(rows, count)                                                                  \
    "SELECT json_group_array(json(one)) FROM (SELECT json_object('who', who, '" count "', " count  \
    ", 'since_s', since_s, 'asks', asks, " DENIAL_JSON(                                            \
        "reason") ") AS one FROM (" rows ") GROUP BY key ORDER BY since_s, key)"

static const char jobs_sql[] = WAITING;
static const char jobs_json_sql[] = PENDING_JSON(WAITING, "jobs");
static const char stages_sql[] = SHORT;
static const char stages_json_sql[] = PENDING_JSON(SHORT, "workers");

/* Who waits for room may wait for a node that is lost, and who is held back for a service. */
#define DOWN                                                                                       \
    "SELECT h.target AS name, min(h.t_s) AS since_s, h.kind = 'node_down' AS is_node FROM"         \
    " happening h WHERE h.run_id = :run AND h.kind IN ('node_down', 'service_down')"               \
    " AND h.t_s <= :from AND coalesce(h.until_s, 1e18) > :from"                                    \
    " AND NOT EXISTS (SELECT 1 FROM happening u WHERE u.run_id = :run AND u.kind = 'node_up'"      \
    " AND u.target = h.target AND u.t_s BETWEEN h.t_s AND :from) GROUP BY h.kind, h.target"        \
    " ORDER BY 2, 1"
static const char down_sql[] = DOWN;
#define DOWN_JSON(what, which)                                                                     \
    "SELECT json_group_array(json_object('" what "', name, 'since_s', since_s)) FROM (" DOWN       \
    ") WHERE is_node = " which
static const char down_json_sql[] = DOWN_JSON("node", "1");
static const char out_json_sql[] = DOWN_JSON("service", "0");

static void print_down(const struct an_explanation *explanation, const struct an_frame *down)
{
    for (size_t row = 0; row < down->row_count; row++)
        (void)fprintf(
            explanation->out, "%s is %s since %s%s\n", an_text(down, row, 0),
            an_number(down, row, 2) > 0.5 ? "down" : "out of reach",
            an_explain_clock(explanation, an_number(down, row, 1)).text,
            an_number(down, row, 2) > 0.5 ? "" : ": jobs that call it with a gate are held back");
}

static void print_waiting(const struct an_explanation *explanation, const struct an_frame *jobs)
{
    FILE *out = explanation->out;
    for (size_t row = 0; row < jobs->row_count; row += same_rows(jobs, row, P_KEY)) {
        const double count = an_number(jobs, row, P_COUNT);
        const double since = an_number(jobs, row, P_SINCE);
        (void)fprintf(out, "%.0f job%s wait%s for %s, %s%s since %s\n", count,
                      an_explain_plural(count), count > 1.5 ? "" : "s", an_text(jobs, row, P_ASKS),
                      count > 1.5 ? "the longest " : "", an_text(jobs, row, P_WHO),
                      an_explain_clock(explanation, since).text);
        if (an_text(jobs, row, P_DENIAL + D_REASON)[0] == '\0')
            (void)fputs(
                "    no denial of what they ask for was recorded: others came first, they are held "
                "back, or the decision was on its way\n",
                out);
        else
            print_denial(explanation, jobs, row, same_rows(jobs, row, P_KEY), P_DENIAL);
    }
}

static void print_short(const struct an_explanation *explanation, const struct an_frame *stages)
{
    for (size_t row = 0; row < stages->row_count; row += same_rows(stages, row, P_KEY)) {
        const double count = an_number(stages, row, P_COUNT);
        (void)fprintf(explanation->out, "stage %s has %.0f worker%s and is to have more of %s\n",
                      an_text(stages, row, P_WHO), count, an_explain_plural(count),
                      an_text(stages, row, P_ASKS));
        print_denial(explanation, stages, row, same_rows(stages, row, P_KEY), P_DENIAL);
    }
}

static weir_status print_pending_json(const struct an_explanation *explanation,
                                      const struct an_args *args, struct weir_error *error)
{
    FILE *out = explanation->out;
    (void)fprintf(out, "{\"schema\":1,\"at_s\":%.17g,\"jobs\":", args->from);
    WEIR_TRY(an_explain_json(explanation, jobs_json_sql, args, error));
    (void)fputs(",\"stages\":", out);
    WEIR_TRY(an_explain_json(explanation, stages_json_sql, args, error));
    (void)fputs(",\"nodes_down\":", out);
    WEIR_TRY(an_explain_json(explanation, down_json_sql, args, error));
    (void)fputs(",\"services_down\":", out);
    WEIR_TRY(an_explain_json(explanation, out_json_sql, args, error));
    (void)fputs("}\n", out);
    return WEIR_OK;
}

weir_status an_explain_pending(const struct an_explanation *explanation, struct weir_error *error)
{
    const double at_s = explanation->query->at_s;
    const struct an_args args = { .run = explanation->run->run_id,
                                  .from = isnan(at_s) ? explanation->run->end_s : at_s };
    if (explanation->query->as_json)
        return print_pending_json(explanation, &args, error);
    const struct an_frame *jobs = NULL;
    const struct an_frame *stages = NULL;
    const struct an_frame *down = NULL;
    WEIR_TRY(an_keep_query(explanation->keeper, jobs_sql, &args, &jobs, error));
    WEIR_TRY(an_keep_query(explanation->keeper, stages_sql, &args, &stages, error));
    WEIR_TRY(an_keep_query(explanation->keeper, down_sql, &args, &down, error));
    if (jobs->row_count + stages->row_count == 0)
        (void)fprintf(explanation->out, "nothing waits at %s\n",
                      an_explain_clock(explanation, args.from).text);
    print_waiting(explanation, jobs);
    print_short(explanation, stages);
    if (jobs->row_count + stages->row_count > 0)
        print_down(explanation, down);
    return WEIR_OK;
}
