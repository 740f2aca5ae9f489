/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate; see the header. */
#include "sim/cli/ask/gate.h"

#include "analysis/text.h"
#include "sim/cli/load.h"
#include "sim/cli/tell/analysis_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MORE = 1000000 };

/* ---- reading ---- */

static bool is_change(const struct sim_expect *expect)
{
    return expect->than_variant != NULL && expect->than_metric == NULL && expect->than_of == NULL;
}

static bool check(const char *baseline, const struct sim_expect *expect, const char *text)
{
    const bool is_side = expect->op != SIM_EXPECT_EQ && expect->op != SIM_EXPECT_NEAR;
    const bool is_ours = isnan(expect->value)
                             ? is_change(expect) && strcmp(expect->than_variant, baseline) == 0
                             : true;
    if (is_side && is_ours)
        return true;
    (void)fprintf(stderr,
                  "weir: --fail-if: '%s': expected < or > and a change against the baseline, or a "
                  "value, as 'throughput < -2%%' or 'latency p95 > 30 min'\n",
                  text);
    return false;
}

int sim_gate_read(struct sim_gate *gate, const struct sim_scenario *scenario, char *const *labels,
                  size_t count)
{
    static const struct sim_scenario nothing = { .name = NULL };
    gate->expects =
        sim_arena_alloc(&gate->arena, gate->conditions->count + 1, sizeof *gate->expects);
    for (size_t i = 0; i < gate->conditions->count; i++) {
        struct sim_diagnostics diagnostics = { .items = NULL };
        const struct sim_condition_text source = { .text = gate->conditions->items[i],
                                                   .origin = "--fail-if",
                                                   .scenario =
                                                       scenario == NULL ? &nothing : scenario,
                                                   .labels = labels,
                                                   .labels_count = count,
                                                   .metric_named = sim_cli_metric };
        const bool is_read =
            sim_condition_parse(&source, &gate->arena, &gate->expects[i], &diagnostics);
        if (!is_read)
            sim_diagnostics_print(&diagnostics, stderr);
        sim_diagnostics_clear(&diagnostics);
        if (!is_read || !check(count == 0 ? "" : labels[0], &gate->expects[i], source.text))
            return SIM_EXIT_USAGE;
    }
    return SIM_EXIT_OK;
}

/* With axes variants go by their names at a point. */
int sim_gate_read_experiment(struct sim_gate *gate, const struct sim_experiment *experiment)
{
    const struct sim_points *points = &experiment->points;
    const size_t count =
        points->count == 0 ? experiment->variant_count : points->count / points->point_count;
    char **labels = sim_arena_alloc(&gate->arena, count + 1, sizeof *labels);
    for (size_t v = 0; v < count; v++)
        labels[v] = points->count == 0 ? experiment->labels[v] : points->points[v].arm;
    return sim_gate_read(gate, experiment->scenarios[0], labels, count);
}

int sim_gate_read_database(struct sim_gate *gate, struct an_db *db, const struct an_points *points)
{
    static const char sql[] = "SELECT variant FROM run JOIN experiment e USING (experiment_id)"
                              " GROUP BY variant ORDER BY variant <> min(e.baseline),"
                              " min(variant_order)";
    struct an_frame *frame = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    const weir_status status =
        points->axis_count == 0 ? an_query(db, sql, NULL, &frame, &error) : WEIR_OK;
    if (status != WEIR_OK)
        return sim_analysis_exit(status, &error);
    const size_t count =
        frame == NULL ? points->variant_count / points->point_count : frame->row_count;
    char **labels = sim_arena_alloc(&gate->arena, count + 1, sizeof *labels);
    for (size_t v = 0; v < count; v++)
        labels[v] =
            sim_arena_copy(&gate->arena, frame == NULL ? points->arms[v] : an_text(frame, v, 0));
    an_frame_destroy(frame);
    return sim_gate_read(gate, NULL, labels, count);
}

/* ---- judging ---- */

enum sim_gate_verdict sim_gate_decide(const struct an_cell *interval, double bound, bool is_less,
                                      uint32_t *more)
{
    const double sign = is_less ? 1.0 : -1.0;
    const double mean = sign * (interval->mean - bound);
    const double half = 0.5 * (interval->high - interval->low);
    const double far = is_less ? interval->high : interval->low;
    const double near = is_less ? interval->low : interval->high;
    *more = 0;
    if (isnan(half) && interval->is_deterministic && interval->n > 1)
        return mean < 0.0 ? SIM_GATE_WORSE : SIM_GATE_NOT_WORSE;
    if (isnan(half))
        return SIM_GATE_UNDECIDED;
    if (sign * (far - bound) < 0.0)
        return SIM_GATE_WORSE;
    if (sign * (near - bound) >= 0.0)
        return SIM_GATE_NOT_WORSE;
    const double ratio = half / fabs(mean);
    const double wanted = ceil((double)interval->n * (ratio * ratio - 1.0));
    *more = wanted < MOST_MORE ? (uint32_t)fmax(wanted, 1.0) : 0;
    return SIM_GATE_UNDECIDED;
}

static weir_status keep(struct sim_gate *gate, char *sentence, enum sim_gate_verdict verdict,
                        struct weir_error *error)
{
    char **sentences = reallocarray(gate->sentences, gate->count + 1, sizeof *sentences);
    if (sentences != NULL)
        gate->sentences = sentences;
    enum sim_gate_verdict *verdicts =
        reallocarray(gate->verdicts, gate->count + 1, sizeof *verdicts);
    if (verdicts != NULL)
        gate->verdicts = verdicts;
    if (sentences == NULL || verdicts == NULL || sentence == NULL) {
        free(sentence);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    sentences[gate->count] = sentence;
    verdicts[gate->count++] = verdict;
    return WEIR_OK;
}

/* What is judged, in the unit of the metric: the mean, or the change against the baseline. */
static struct an_cell subject_of(const struct sim_expect *expect, const struct an_metric_row *row,
                                 size_t variant)
{
    struct an_cell cell = row->cells[variant];
    if (!is_change(expect))
        return cell;
    cell.mean = cell.difference;
    cell.low = cell.difference_low;
    cell.high = cell.difference_high;
    return cell;
}

/* Where the condition begins to hold; a change counts from the least effect of interest on, and of
 * nothing every change is one. */
static double bound_of(const struct sim_gate *gate, const struct sim_expect *expect, bool is_less,
                       double base)
{
    if (!is_change(expect))
        return expect->value;
    const double bound = expect->times - 1.0;
    return base * (is_less ? fmin(bound, -gate->min_effect) : fmax(bound, gate->min_effect));
}

static bool is_partial(const struct sim_expect *expect, const struct an_metric_row *row,
                       size_t baseline, size_t variant)
{
    return row->cells[variant].is_partial || (is_change(expect) && row->cells[baseline].is_partial);
}

/* What is unfinished makes a percentile larger than it is known to be: that of the variant, or, of
 * a change, that of the baseline; a mean it makes larger or smaller. Neither more nor fewer runs
 * tell how much. */
static bool is_open(const struct sim_expect *expect, const struct an_metric_row *row,
                    size_t baseline, size_t variant, enum sim_gate_verdict verdict, bool is_less)
{
    const bool may_grow = row->cells[variant].is_lower_bound;
    const bool may_shrink = is_change(expect) && row->cells[baseline].is_lower_bound;
    if (is_partial(expect, row, baseline, variant))
        return true;
    if (verdict == SIM_GATE_UNDECIDED)
        return may_grow || may_shrink;
    return (verdict == SIM_GATE_WORSE) == is_less ? may_grow : may_shrink;
}

static void write_value(FILE *out, double value, double base, const char *unit)
{
    if (base > 0.0)
        (void)fprintf(out, "%+.2f", 100.0 * value / base);
    else
        (void)fprintf(out, "%s", an_word_value(value, unit).text);
}

/* A change in percent of `base`, all else in the unit. */
static void write_interval(FILE *out, const struct an_cell *cell, const char *unit, double base)
{
    write_value(out, cell->mean, base, unit);
    (void)fputs(base > 0.0 ? " %" : "", out);
    if (isnan(cell->low))
        return;
    (void)fputs(" [", out);
    write_value(out, cell->low, base, unit);
    (void)fputs(", ", out);
    write_value(out, cell->high, base, unit);
    (void)fputc(']', out);
}

struct judgement {
    struct an_cell cell;
    enum sim_gate_verdict verdict;
    double base; /* what a change is told in percent of; 0 = in the unit */
    uint32_t more;
    bool is_open;
    bool is_partial;
};

static char *write_sentence(const struct judgement *judgement, const struct an_metric_row *row,
                            const char *name, const char *condition)
{
    static const char *const words[] = { "not worse", "undecided", "worse" };
    struct an_buffer buffer;
    if (!an_buffer_open(&buffer))
        return NULL;
    (void)fprintf(buffer.file, "%s: %s, %s ", words[judgement->verdict], name, row->label);
    write_interval(buffer.file, &judgement->cell, row->unit, judgement->base);
    (void)fprintf(buffer.file, " in %u run%s; it fails if %s", judgement->cell.n,
                  judgement->cell.n == 1 ? "" : "s", condition);
    if (judgement->is_partial)
        (void)fputs("; more than 5 % was unfinished and is not in it: a later horizon would tell",
                    buffer.file);
    else if (judgement->is_open)
        (void)fputs("; not all work was done, so that it is a bound: a later horizon would tell",
                    buffer.file);
    else if (judgement->verdict == SIM_GATE_UNDECIDED && judgement->more > 0)
        (void)fprintf(buffer.file, "; about %u more replications would tell", judgement->more);
    return an_buffer_take(&buffer);
}

static struct judgement judge_variant(const struct sim_gate *gate, const struct sim_expect *expect,
                                      const struct an_comparison *comparison, size_t variant)
{
    const bool is_less = expect->op == SIM_EXPECT_LT || expect->op == SIM_EXPECT_LE;
    const struct an_metric_row *row = &comparison->rows[0];
    const size_t baseline = comparison->baseline;
    struct judgement judgement = { .cell = subject_of(expect, row, variant),
                                   .base =
                                       is_change(expect) ? fabs(row->cells[baseline].mean) : 0.0 };
    judgement.is_partial = is_partial(expect, row, baseline, variant);
    if (judgement.is_partial) { /* there is no change to tell */
        judgement.cell = row->cells[variant];
        judgement.base = 0.0;
    }
    judgement.verdict = sim_gate_decide(
        &judgement.cell, bound_of(gate, expect, is_less, judgement.base), is_less, &judgement.more);
    judgement.is_open = is_open(expect, row, baseline, variant, judgement.verdict, is_less);
    if (judgement.is_open)
        judgement.verdict = SIM_GATE_UNDECIDED;
    if (comparison->early[variant].sentence != NULL)
        judgement.verdict = SIM_GATE_WORSE;
    return judgement;
}

static weir_status judge_row(struct sim_gate *gate, size_t index,
                             const struct an_comparison *comparison, const char *where,
                             struct weir_error *error)
{
    const struct sim_expect *expect = &gate->expects[index];
    for (size_t v = 0; v < comparison->variant_count; v++) {
        char name[200];
        if (expect->variant == NULL ? v == comparison->baseline && is_change(expect)
                                    : strcmp(expect->variant, comparison->variants[v]) != 0)
            continue;
        const struct judgement judgement = judge_variant(gate, expect, comparison, v);
        (void)snprintf(name, sizeof name, "%s%s%s", comparison->variants[v],
                       where[0] == '\0' ? "" : " at ", where);
        WEIR_TRY(keep(
            gate,
            write_sentence(&judgement, &comparison->rows[0], name, gate->conditions->items[index]),
            judgement.verdict, error));
    }
    return WEIR_OK;
}

/* What a point is called: the values of its axes. */
static void name_point(const struct an_points *points, size_t point, char *text, size_t capacity)
{
    size_t v = 0;
    size_t used = 0;
    text[0] = '\0';
    while (v < points->variant_count && points->point[v] != point)
        v++;
    for (size_t a = 0; v < points->variant_count && a < points->axis_count; a++)
        if (!points->axes[a].is_policy && used < capacity)
            used += (size_t)snprintf(text + used, capacity - used, "%s%s=%s", used == 0 ? "" : ", ",
                                     points->axes[a].name, points->axes[a].text[v]);
}

static weir_status judge_point(struct sim_gate *gate, struct an_db *db,
                               const struct an_points *points, size_t point, const char *baseline,
                               struct weir_error *error)
{
    char where[128] = "";
    if (points->axis_count > 0)
        name_point(points, point, where, sizeof where);
    for (size_t i = 0; i < gate->conditions->count; i++) {
        char metric[256];
        const struct sim_expect *expect = &gate->expects[i];
        (void)snprintf(metric, sizeof metric, "%s%s%s", expect->metric,
                       expect->of == NULL ? "" : ":", expect->of == NULL ? "" : expect->of);
        const char *const metrics[] = { metric };
        const struct an_compare_options query = { .baseline = baseline,
                                                  .metrics = metrics,
                                                  .metric_count = 1 };
        struct an_comparison *comparison = NULL;
        if (points->axis_count > 0)
            WEIR_TRY(an_points_compare(db, points, point, &query, &comparison, error));
        else
            WEIR_TRY(an_compare(db, &query, &comparison, error));
        const weir_status status =
            comparison == NULL ? WEIR_OK : judge_row(gate, i, comparison, where, error);
        an_comparison_destroy(comparison);
        WEIR_TRY(status);
    }
    return WEIR_OK;
}

static weir_status keep_lost(struct sim_gate *gate, size_t index, const char *name,
                             const struct an_frame *frame, size_t row, struct weir_error *error)
{
    char *sentence = NULL;
    if (asprintf(&sentence, "worse: %s failed in %.0f of %.0f runs; it fails if %s", name,
                 an_number(frame, row, 1), an_number(frame, row, 2),
                 gate->conditions->items[index]) < 0)
        sentence = NULL;
    return keep(gate, sentence, SIM_GATE_WORSE, error);
}

/* Variants of which a run failed stand in no comparison: what they would have shown is not known,
 * and they passed nothing. */
static weir_status judge_lost(struct sim_gate *gate, struct an_db *db,
                              const struct an_points *points, struct weir_error *error)
{
    static const char sql[] = "SELECT variant, sum(status = 'failed'), count(*) FROM main.run"
                              " GROUP BY variant HAVING sum(status = 'failed') > 0"
                              " ORDER BY min(variant_order)";
    struct an_frame *frame = NULL;
    weir_status status = an_query(db, sql, NULL, &frame, error);
    for (size_t row = 0; status == WEIR_OK && row < frame->row_count; row++) {
        const char *label = an_text(frame, row, 0);
        char where[128] = "";
        char name[200];
        size_t v = 0;
        while (v < points->variant_count && strcmp(points->labels[v], label) != 0)
            v++;
        const char *arm = v < points->variant_count ? points->arms[v] : label;
        if (v < points->variant_count && points->axis_count > 0)
            name_point(points, points->point[v], where, sizeof where);
        (void)snprintf(name, sizeof name, "%s%s%s", arm, where[0] == '\0' ? "" : " at ", where);
        for (size_t i = 0; i < gate->conditions->count && status == WEIR_OK; i++)
            if (gate->expects[i].variant == NULL || strcmp(gate->expects[i].variant, arm) == 0)
                status = keep_lost(gate, i, name, frame, row, error);
    }
    an_frame_destroy(frame);
    return status;
}

weir_status sim_gate_judge(struct sim_gate *gate, struct an_db *db, const struct an_points *points,
                           const char *baseline, struct weir_error *error)
{
    const size_t count = points->axis_count == 0 ? 1 : points->point_count;
    for (size_t p = 0; p < count; p++)
        WEIR_TRY(judge_point(gate, db, points, p, baseline, error));
    return judge_lost(gate, db, points, error);
}

enum sim_gate_verdict sim_gate_verdict(const struct sim_gate *gate)
{
    /* Where nothing could be judged nothing was shown. */
    enum sim_gate_verdict worst =
        gate->count == 0 && gate->conditions->count > 0 ? SIM_GATE_UNDECIDED : SIM_GATE_NOT_WORSE;
    for (size_t i = 0; i < gate->count; i++)
        worst = gate->verdicts[i] > worst ? gate->verdicts[i] : worst;
    return worst;
}

void sim_gate_print(const struct sim_gate *gate, FILE *out)
{
    static const enum sim_gate_verdict order[] = { SIM_GATE_WORSE, SIM_GATE_UNDECIDED,
                                                   SIM_GATE_NOT_WORSE };
    for (size_t o = 0; o < 3; o++)
        for (size_t i = 0; i < gate->count; i++)
            if (gate->verdicts[i] == order[o])
                (void)fprintf(out, "Gate: %s.\n", gate->sentences[i]);
    if (gate->count == 0 && gate->conditions->count > 0)
        (void)fputs("Gate: undecided: there is no variant beside the baseline.\n", out);
}

void sim_gate_clear(struct sim_gate *gate)
{
    for (size_t i = 0; i < gate->count; i++)
        free(gate->sentences[i]);
    free(gate->sentences);
    free(gate->verdicts);
    sim_arena_clear(&gate->arena);
    gate->sentences = NULL;
    gate->verdicts = NULL;
    gate->count = 0;
}
