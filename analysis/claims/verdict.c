/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about which variant is better at the goal. They rest on the paired test of the first row
 * of a comparison, and one of them holds: with one run, with equal differences, with a tie, with a
 * difference that is no chance. What ended early is in none of them, and a variant that misses a
 * condition of the goal wins only over others that do.
 *
 * Each comes as a sentence with its figures ("verdict") and as a short one for charts ("winner").
 */
#include "analysis/claims/claims.h"

#include "analysis/nan.h"

#include <math.h>
#include <string.h>

/* Nothing is left to compare with. */
static bool is_baseline_early(const struct an_comparison *comparison)
{
    return comparison->early[comparison->baseline].sentence != NULL;
}

static bool misses(const struct an_comparison *comparison, size_t variant)
{
    return comparison->missed[variant][0] != '\0';
}

/* What is known only from below, and what misses a condition, comes last. */
static bool is_ahead(const struct an_comparison *comparison, const struct an_metric_row *row,
                     size_t a, size_t b)
{
    const int rank_a = (misses(comparison, a) ? 2 : 0) + (row->cells[a].verdict == AN_OPEN ? 1 : 0);
    const int rank_b = (misses(comparison, b) ? 2 : 0) + (row->cells[b].verdict == AN_OPEN ? 1 : 0);
    if (rank_a != rank_b)
        return rank_a < rank_b;
    return row->cells[a].mean * row->better > row->cells[b].mean * row->better;
}

/* The variant the sentence is about: the best that misses no condition, else the best, of those
 * beside the baseline. What ended early, or has only such a baseline, has no difference. */
static size_t subject_of(const struct an_comparison *comparison, const struct an_metric_row *row)
{
    size_t found = comparison->variant_count;
    for (size_t v = 0; v < comparison->variant_count; v++) {
        const struct an_cell *cell = &row->cells[v];
        if (v == comparison->baseline || (isnan(cell->difference) && cell->verdict != AN_OPEN))
            continue;
        if (found == comparison->variant_count || is_ahead(comparison, row, v, found))
            found = v;
    }
    return found;
}

/* The most that can be said against the variants beside the baseline. */
static const char *const others_same = "the same";
static const char *const others_worse = "one is worse";

static const char *others_of(const struct an_comparison *comparison)
{
    const struct an_metric_row *row = &comparison->rows[0];
    const char *most = others_same;
    for (size_t v = 0; v < comparison->variant_count; v++) {
        const struct an_cell *cell = &row->cells[v];
        if (v == comparison->baseline)
            continue;
        if (cell->verdict == AN_WORSE)
            return others_worse;
        if (isnan(cell->difference) || fabs(cell->difference) > 0.0)
            most = "they differ";
    }
    return most;
}

static bool are_others(const struct an_claim *claim, const char *what)
{
    return strcmp(an_claim_word(claim, "others"), what) == 0;
}

/* "; x misses latency p95 <= 30m (41m)" of the two that are spoken of. */
static void put_missed(const struct an_comparison *comparison, struct an_claim *claim,
                       size_t subject)
{
    const size_t both[] = { comparison->baseline, subject };
    char text[96] = "";
    for (size_t i = 0; i < 2; i++)
        if (both[i] < comparison->variant_count && misses(comparison, both[i]))
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "; %.24s misses %.40s",
                           comparison->variants[both[i]], comparison->missed[both[i]]);
    an_claim_put_word(claim, "missed", text);
}

static bool fill(const struct an_comparison *comparison, struct an_claim *claim,
                 const struct an_cell **cell)
{
    if (comparison->row_count == 0)
        return false;
    const struct an_metric_row *row = &comparison->rows[0];
    const struct an_cell *base = &row->cells[comparison->baseline];
    const size_t subject = subject_of(comparison, row);
    if (subject == comparison->variant_count)
        return false;
    *cell = &row->cells[subject];
    an_claim_put_word(claim, "metric", row->metric);
    an_claim_put_word(claim, "label", row->label);
    an_claim_put_word(claim, "unit", row->unit);
    an_claim_put_word(claim, "variant", comparison->variants[subject]);
    an_claim_put_word(claim, "baseline", comparison->variants[comparison->baseline]);
    an_claim_put(claim, "mean", (*cell)->mean);
    an_claim_put(claim, "base", base->mean);
    an_claim_put(claim, "difference", (*cell)->difference);
    an_claim_put(claim, "low", (*cell)->difference_low);
    an_claim_put(claim, "high", (*cell)->difference_high);
    an_claim_put(claim, "p", (*cell)->p_value);
    an_claim_put(claim, "n", (*cell)->n);
    an_claim_put(claim, "better", row->better);
    an_claim_put(claim, "is_bound", (*cell)->is_lower_bound);
    an_claim_put(claim, "is_partial", (*cell)->is_partial);
    an_claim_put(claim, "base_is_bound", base->is_lower_bound);
    an_claim_put(claim, "base_is_partial", base->is_partial);
    an_claim_put(claim, "is_kept", !misses(comparison, comparison->baseline));
    an_claim_put_word(claim, "others", others_of(comparison));
    put_missed(comparison, claim, subject);
    return true;
}

/* Of a metric of which nobody knows what is better nothing is won. */
static bool judge_unknown(const struct an_comparison *comparison, struct an_claim *claim)
{
    const struct an_cell *cell = NULL;
    return fill(comparison, claim, &cell) && comparison->rows[0].better == 0 &&
           cell->verdict != AN_OPEN;
}

static bool fill_known(const struct an_comparison *comparison, struct an_claim *claim,
                       const struct an_cell **cell)
{
    return fill(comparison, claim, cell) && comparison->rows[0].better != 0;
}

/* The baseline misses a condition that the variant keeps: nothing else decides. */
static bool judge_keeps(const struct an_comparison *comparison, struct an_claim *claim)
{
    const struct an_cell *cell = NULL;
    if (!fill_known(comparison, claim, &cell))
        return false;
    const size_t subject = subject_of(comparison, &comparison->rows[0]);
    return misses(comparison, comparison->baseline) && !misses(comparison, subject);
}

static bool judge_open(const struct an_comparison *comparison, struct an_claim *claim)
{
    const struct an_cell *cell = NULL;
    return fill(comparison, claim, &cell) && cell->verdict == AN_OPEN;
}

static bool judge_once(const struct an_comparison *comparison, struct an_claim *claim)
{
    const struct an_cell *cell = NULL;
    return fill_known(comparison, claim, &cell) && cell->n < 2 && cell->verdict != AN_OPEN;
}

static bool judge_same(const struct an_comparison *comparison, struct an_claim *claim)
{
    const struct an_cell *cell = NULL;
    return fill_known(comparison, claim, &cell) && cell->n > 1 && cell->is_deterministic &&
           cell->verdict != AN_OPEN;
}

static bool judge_tie(const struct an_comparison *comparison, struct an_claim *claim)
{
    const struct an_cell *cell = NULL;
    return fill_known(comparison, claim, &cell) && cell->verdict == AN_TIE;
}

static bool judge_better(const struct an_comparison *comparison, struct an_claim *claim)
{
    const struct an_cell *cell = NULL;
    return fill_known(comparison, claim, &cell) && cell->verdict == AN_BETTER;
}

static bool judge_worse(const struct an_comparison *comparison, struct an_claim *claim)
{
    const struct an_cell *cell = NULL;
    return fill_known(comparison, claim, &cell) && cell->verdict == AN_WORSE;
}

/* The rest: a baseline with nothing beside it. */
static bool judge_alone(const struct an_comparison *comparison, struct an_claim *claim)
{
    const struct an_cell *cell = NULL;
    struct an_claim other = { .name = NULL };
    if (is_baseline_early(comparison) || fill(comparison, &other, &cell))
        return false;
    an_claim_put_word(claim, "baseline", comparison->variants[comparison->baseline]);
    an_claim_put(claim, "variants", (double)comparison->variant_count);
    if (comparison->row_count == 0)
        return true;
    const struct an_cell *base = &comparison->rows[0].cells[comparison->baseline];
    an_claim_put_word(claim, "label", comparison->rows[0].label);
    an_claim_put_word(claim, "unit", comparison->rows[0].unit);
    an_claim_put(claim, "base", base->mean);
    an_claim_put(claim, "base_is_bound", base->is_lower_bound);
    an_claim_put(claim, "base_is_partial", base->is_partial);
    return true;
}

/* ---- sentences ---- */

static bool is_share(const struct an_claim *claim)
{
    const char *unit = an_claim_word(claim, "unit");
    return strcmp(unit, "ratio") == 0 || strcmp(unit, "%") == 0 || strcmp(unit, "pp") == 0;
}

static struct an_word value_of(const struct an_claim *claim, const char *key)
{
    return an_word_value(an_claim_number(claim, key), an_claim_word(claim, "unit"));
}

static struct an_word known_of(const struct an_claim *claim, const char *key, const char *bound,
                               const char *partial)
{
    return an_word_known(value_of(claim, key), an_claim_number(claim, bound) > 0.5,
                         an_claim_number(claim, partial) > 0.5);
}

/* "+12.3 % [+8, +16]": of shares in points, of others in percent of the baseline, or times it. */
static void write_change(const struct an_claim *claim, char text[120], bool has_interval)
{
    const double base = an_claim_number(claim, "base");
    const double low = an_claim_number(claim, "low");
    const double high = an_claim_number(claim, "high");
    const double difference = an_claim_number(claim, "difference");
    const bool is_ratio = strcmp(an_claim_word(claim, "unit"), "ratio") == 0;
    const bool is_plain = !is_share(claim) && !(fabs(base) > 0.0);
    const double scale = is_share(claim) ? (is_ratio ? 100.0 : 1.0) : 100.0 / fabs(base);
    const char *unit = is_share(claim) ? "points" : "%";
    char interval[64] = "";
    if (!(fabs(difference) > 0.0) && !(low < 0.0)) {
        (void)snprintf(text, 120, "the same");
        return;
    }
    if (is_plain) {
        (void)snprintf(text, 120, "%s more", value_of(claim, "difference").text);
        return;
    }
    if (!is_share(claim) && base > 0.0 && difference >= base) {
        if (has_interval && !isnan(low))
            (void)snprintf(interval, sizeof interval, " [%.20s, %.20s]",
                           an_word_number(1.0 + low / base).text,
                           an_word_number(1.0 + high / base).text);
        (void)snprintf(text, 120, "%.20sx%s", an_word_number(1.0 + difference / base).text,
                       interval);
        return;
    }
    if (has_interval && !isnan(low))
        (void)snprintf(interval, sizeof interval, " [%+.1f, %+.1f]", scale * low, scale * high);
    if (fabs(scale * difference) < 0.05 && fabs(difference) > 0.0)
        (void)snprintf(text, 120, "less than 0.1 %s %s%s", unit, difference > 0.0 ? "more" : "less",
                       interval);
    else
        (void)snprintf(text, 120, "%+.1f %s%s", scale * difference, unit, interval);
}

static bool is_gain(const struct an_claim *claim)
{
    return an_claim_number(claim, "difference") * an_claim_number(claim, "better") > 0.0;
}

static void say_figures(struct an_claim *claim, const char *method)
{
    char change[120];
    char lead[120] = "";
    write_change(claim, change, true);
    const bool is_times = strchr(change, 'x') != NULL;
    const bool is_kept = an_claim_number(claim, "is_kept") > 0.5;
    if (!is_gain(claim) && is_kept)
        (void)snprintf(lead, sizeof lead, "%.80s is not beaten; next ",
                       an_claim_word(claim, "baseline"));
    an_claim_say(claim, "%s%s %s%s %s, %s %s %s (%s)%s%s", lead, an_claim_word(claim, "variant"),
                 an_claim_number(claim, "is_bound") > 0.5 ? "at least " : "",
                 value_of(claim, "mean").text, an_claim_word(claim, "label"), change,
                 is_times                          ? "of"
                 : strcmp(change, "the same") == 0 ? "as"
                                                   : "against",
                 an_claim_word(claim, "baseline"),
                 known_of(claim, "base", "base_is_bound", "base_is_partial").text, method,
                 an_claim_word(claim, "missed"));
}

static void say_unknown(struct an_claim *claim)
{
    char change[120];
    write_change(claim, change, true);
    an_claim_say(claim, "%s of %s %s, of %s %s (%s): nobody says what is better",
                 an_claim_word(claim, "label"), an_claim_word(claim, "variant"),
                 value_of(claim, "mean").text, an_claim_word(claim, "baseline"),
                 value_of(claim, "base").text, change);
}

static void say_open(struct an_claim *claim)
{
    an_claim_say(claim, "%s: %s %s, %s %s: which is %s depends on what is unfinished",
                 an_claim_word(claim, "label"), an_claim_word(claim, "variant"),
                 known_of(claim, "mean", "is_bound", "is_partial").text,
                 an_claim_word(claim, "baseline"),
                 known_of(claim, "base", "base_is_bound", "base_is_partial").text,
                 fabs(an_claim_number(claim, "better")) > 0.5 ? "better" : "more");
}

static void say_once(struct an_claim *claim)
{
    say_figures(claim, "; 1 replication, so no statement about chance");
}

static void say_same(struct an_claim *claim)
{
    char method[80];
    (void)snprintf(method, sizeof method, "; the same difference in all %.0f replications",
                   an_claim_number(claim, "n"));
    say_figures(claim, method);
}

static void say_tested(struct an_claim *claim)
{
    char method[96];
    const bool is_tie = strcmp(claim->name, "verdict.tie") == 0;
    (void)snprintf(method, sizeof method, "; %.0f paired replications, paired t, Holm, alpha .05%s",
                   an_claim_number(claim, "n"), is_tie ? ": a tie" : "");
    say_figures(claim, method);
}

static void say_alone(struct an_claim *claim)
{
    if (an_claim_word(claim, "label")[0] == '\0')
        an_claim_say(claim, "the runs share no metric to compare");
    else
        an_claim_say(claim, "%s %s %s; %s to compare with", an_claim_word(claim, "baseline"),
                     known_of(claim, "base", "base_is_bound", "base_is_partial").text,
                     an_claim_word(claim, "label"),
                     an_claim_number(claim, "variants") < 1.5 ? "one variant, nothing"
                                                              : "no variant left");
}

/* ---- short ones ---- */

static void say_keeps(struct an_claim *claim)
{
    const char *missed = an_claim_word(claim, "missed");
    an_claim_say(claim, "%s keeps the goal's conditions%s", an_claim_name(claim, "variant").text,
                 missed);
}

static void say_winner(struct an_claim *claim)
{
    char change[120];
    write_change(claim, change, false);
    if (is_gain(claim))
        an_claim_say(claim, "%s is better than %s at %s: %s", an_claim_name(claim, "variant").text,
                     an_claim_name(claim, "baseline").text, an_claim_word(claim, "label"), change);
    else
        an_claim_say(claim, "%s is not beaten at %s; next %s: %s",
                     an_claim_name(claim, "baseline").text, an_claim_word(claim, "label"),
                     an_claim_name(claim, "variant").text, change);
}

static void say_no_winner(struct an_claim *claim)
{
    if (are_others(claim, others_worse))
        an_claim_say(claim, "%s is not beaten for certain at %s",
                     an_claim_name(claim, "baseline").text, an_claim_word(claim, "label"));
    else
        an_claim_say(claim, "No difference from %s in %s is certain",
                     an_claim_name(claim, "baseline").text, an_claim_word(claim, "label"));
}

static void say_winner_open(struct an_claim *claim)
{
    an_claim_say(claim, "Which is %s at %s depends on what is unfinished",
                 fabs(an_claim_number(claim, "better")) > 0.5 ? "better" : "more",
                 an_claim_word(claim, "label"));
}

static void say_one_run(struct an_claim *claim)
{
    char change[120];
    write_change(claim, change, false);
    if (are_others(claim, others_same))
        an_claim_say(claim, "In one run: nothing differs from %s in %s",
                     an_claim_name(claim, "baseline").text, an_claim_word(claim, "label"));
    else if (is_gain(claim))
        an_claim_say(claim, "In one run: %s %s against %s at %s",
                     an_claim_name(claim, "variant").text, change,
                     an_claim_name(claim, "baseline").text, an_claim_word(claim, "label"));
    else
        an_claim_say(claim, "In one run: %s is not beaten at %s; next %s: %s",
                     an_claim_name(claim, "baseline").text, an_claim_word(claim, "label"),
                     an_claim_name(claim, "variant").text, change);
}

static void say_equal(struct an_claim *claim)
{
    char change[120];
    write_change(claim, change, false);
    if (are_others(claim, others_same))
        an_claim_say(claim, "No run differs from %s in %s", an_claim_name(claim, "baseline").text,
                     an_claim_word(claim, "label"));
    else if (is_gain(claim))
        an_claim_say(claim, "In every run: %s %s against %s at %s",
                     an_claim_name(claim, "variant").text, change,
                     an_claim_name(claim, "baseline").text, an_claim_word(claim, "label"));
    else
        an_claim_say(claim, "%s is not beaten in any run at %s; next %s: %s",
                     an_claim_name(claim, "baseline").text, an_claim_word(claim, "label"),
                     an_claim_name(claim, "variant").text, change);
}

#define CHANCE "p < 0.05 after Holm: what chance does in one of twenty cases is no finding"

#define OPEN                                                                                       \
    "a bound from below on the side that would win, or a mean without more than 5 % of the work"
static const struct an_claim_ops rows[] = {
    { .name = "verdict.better", .threshold = CHANCE, .judge = judge_better, .say = say_tested },
    { .name = "verdict.worse", .threshold = CHANCE, .judge = judge_worse, .say = say_tested },
    { .name = "verdict.tie",
      .threshold = "p of 0.05 or more: no winner is named",
      .judge = judge_tie,
      .say = say_tested },
    { .name = "verdict.same",
      .threshold = "the same difference in every replication (1e-12): no test is needed",
      .judge = judge_same,
      .say = say_same },
    { .name = "verdict.once",
      .threshold = "one replication: figures, no statement about chance",
      .judge = judge_once,
      .say = say_once },
    { .name = "verdict.open", .threshold = OPEN, .judge = judge_open, .say = say_open },
    { .name = "verdict.unknown",
      .threshold = "a metric without a better direction: figures, no winner",
      .judge = judge_unknown,
      .say = say_unknown },
    { .name = "verdict.alone",
      .threshold = "nothing beside the baseline",
      .judge = judge_alone,
      .say = say_alone },
    { .name = "winner.keeps",
      .threshold = "the baseline misses a condition of the goal, and the variant misses none",
      .judge = judge_keeps,
      .say = say_keeps },
    { .name = "winner.open", .threshold = OPEN, .judge = judge_open, .say = say_winner_open },
    { .name = "winner.better", .threshold = CHANCE, .judge = judge_better, .say = say_winner },
    { .name = "winner.worse", .threshold = CHANCE, .judge = judge_worse, .say = say_winner },
    { .name = "winner.none",
      .threshold = "p of 0.05 or more: no winner is named",
      .judge = judge_tie,
      .say = say_no_winner },
    { .name = "winner.same",
      .threshold = "the same difference in every replication (1e-12)",
      .judge = judge_same,
      .say = say_equal },
    { .name = "winner.once",
      .threshold = "one replication: figures, no statement about chance",
      .judge = judge_once,
      .say = say_one_run },
};

void an_verdict(const struct an_comparison *comparison, struct an_claim *claim)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *claim = (struct an_claim){ .name = NULL };
        if (!rows[i].judge(comparison, claim))
            continue;
        claim->name = rows[i].name;
        rows[i].say(claim);
        return;
    }
    *claim = (struct an_claim){ .name = NULL };
}

AN_CLAIM_FAMILY(verdict, rows);
