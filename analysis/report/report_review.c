/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The capacity review; see the header. Every sentence is a named claim. */
#include "analysis/report/report_review.h"

#include "analysis/text.h"

#include <math.h>
#include <string.h>

/* ---- sentences ---- */

static void put_option(struct an_claim *claim, const struct an_review *review, size_t index)
{
    const struct an_axis *axis = &review->points.axes[review->axis];
    char goal[96];
    an_review_conditions(review, goal, sizeof goal);
    an_claim_put_word(claim, "option", review->options[index].name);
    an_claim_put_word(claim, "axis", axis->name);
    an_claim_put_word(claim, "path", axis->path);
    an_claim_put_word(claim, "goal", goal);
    an_claim_put(claim, "is_demand", review->is_demand);
}

static void put_size(struct an_claim *claim, const struct an_review_size *size)
{
    an_claim_put_word(claim, "value", size->text);
    an_claim_put_word(claim, "means", size->judged.means);
    an_claim_put(claim, "runs", size->runs);
    an_claim_put(claim, "gpus", size->gpus);
    an_claim_put(claim, "cost", size->cost);
    an_claim_put(claim, "span", size->span_s);
}

void an_review_headline(const struct an_review *review, struct an_claim *claim)
{
    *claim = (struct an_claim){ .name = NULL };
    size_t option = 0;
    const struct an_review_size *size = an_review_nearest(review, &option);
    const bool is_choice = an_review_choice(review) != NULL;
    const bool is_safe =
        size != NULL && review->options[option].safe < review->options[option].count;
    if (size == NULL || (is_safe && !is_choice))
        return; /* several are safe, and nobody can say which is the best */
    put_option(claim, review, option);
    put_size(claim, size);
    an_claim_give(is_choice                 ? "review.choice"
                  : size->judged.means_hold ? "review.nearly"
                                            : "review.nothing",
                  claim);
}

typedef void review_write(FILE *out, const struct an_claim *claim);

static void say_size(FILE *out, review_write *write, const struct an_review *review, size_t index,
                     size_t place, const char *name)
{
    struct an_claim claim = { .name = NULL };
    put_option(&claim, review, index);
    put_size(&claim, &review->options[index].sizes[place]);
    an_claim_give(name, &claim);
    write(out, &claim);
}

/* From the work there is now, of which the axis is a multiple. */
static void say_weeks(FILE *out, review_write *write, const struct an_review *review, size_t index)
{
    const struct an_review_option *option = &review->options[index];
    struct an_claim claim = { .name = NULL };
    const double weeks =
        option->safe == option->count || !review->is_scale
            ? 0.0
            : an_review_weeks(review->growth_month, option->sizes[option->safe].value);
    if (!(weeks > 0.0) || isinf(weeks))
        return;
    put_option(&claim, review, index);
    an_claim_put(&claim, "growth", review->growth_month);
    an_claim_put(&claim, "weeks", weeks);
    an_claim_give("review.weeks", &claim);
    write(out, &claim);
}

static void say_option(FILE *out, review_write *write, const struct an_review *review, size_t index)
{
    const struct an_review_option *option = &review->options[index];
    if (option->likely == option->count)
        say_size(out, write, review, index, option->count - 1, "review.none");
    if (option->safe < option->count)
        say_size(out, write, review, index, option->safe, "review.safe");
    if (option->safe < option->count && !isnan(option->sizes[option->safe].cost))
        say_size(out, write, review, index, option->safe, "review.cost");
    if (option->likely < option->safe)
        say_size(out, write, review, index, option->likely, "review.likely");
    say_weeks(out, write, review, index);
}

/* The best option beside the next one. */
static void say_cheaper(FILE *out, review_write *write, const struct an_review *review)
{
    const struct an_review_size *choice = an_review_choice(review);
    const struct an_review_size *next = NULL;
    size_t other = 0;
    for (size_t i = 0; choice != NULL && i < review->count; i++) {
        const struct an_review_option *option = &review->options[i];
        if (i == review->best || option->safe == option->count)
            continue;
        if (next == NULL || option->sizes[option->safe].cost < next->cost) {
            next = &option->sizes[option->safe];
            other = i;
        }
    }
    if (next == NULL || isnan(next->cost))
        return;
    struct an_claim claim = { .name = NULL };
    put_option(&claim, review, review->best);
    put_size(&claim, choice);
    an_claim_put_word(&claim, "other", review->options[other].name);
    an_claim_put_word(&claim, "other_value", next->text);
    an_claim_put(&claim, "other_cost", next->cost);
    an_claim_give("review.cheaper", &claim);
    write(out, &claim);
}

/* The value before the safe one is what is left when nodes are lost, or what comes when more work
 * does than was thought. */
static void say_loss(FILE *out, review_write *write, const struct an_review *review, size_t index)
{
    const struct an_review_option *option = &review->options[index];
    struct an_claim claim = { .name = NULL };
    if (option->safe == option->count)
        return;
    put_option(&claim, review, index);
    put_size(&claim, &option->sizes[option->safe]);
    const struct an_review_size *harder =
        option->safe == 0 ? NULL : &option->sizes[option->safe - 1];
    if (harder != NULL) {
        an_claim_put_word(&claim, "harder", harder->text);
        an_claim_put_word(&claim, "verdict",
                          an_hold_text(harder->judged.hold, harder->judged.means_hold));
        an_claim_put_word(&claim, "harder_means", harder->judged.means);
    }
    an_claim_give("review.loss", &claim);
    write(out, &claim);
}

static bool is_any_safe(const struct an_review *review)
{
    for (size_t i = 0; i < review->count; i++)
        if (review->options[i].safe < review->options[i].count)
            return true;
    return false;
}

static void say_risks(FILE *out, review_write *write, const struct an_review *review)
{
    for (size_t i = 0; i < review->count; i++)
        say_loss(out, write, review, i);
}

static void say_all(FILE *out, review_write *write, const struct an_review *review)
{
    for (size_t i = 0; i < review->count; i++)
        say_option(out, write, review, i);
    say_cheaper(out, write, review);
    if (!(review->growth_month > 0.0) || review->is_scale)
        return;
    struct an_claim claim = { .name = NULL };
    an_claim_put(&claim, "growth", review->growth_month);
    an_claim_give("review.growth", &claim);
    write(out, &claim);
}

/* ---- the table ---- */

/* Behind the option; the first is named by the axis. */
enum { COLUMNS = 7 };
static const char *const heads[COLUMNS] = { "",        "GPUs",     "cost, $", "means",
                                            "verdict", "to spare", "runs" };

struct cells {
    char text[COLUMNS][AN_JUDGED_TEXT];
};

/* How much harder a value could get and still be safe. */
static double spare_of(const struct an_review *review, const struct an_review_option *option,
                       size_t place)
{
    if (option->safe >= option->count || place < option->safe)
        return (double)NAN;
    const double more = option->sizes[place].value - option->sizes[option->safe].value;
    return review->is_demand ? -more : more;
}

static struct cells cells_of(const struct an_review *review, const struct an_review_option *option,
                             size_t place)
{
    const struct an_review_size *size = &option->sizes[place];
    const double spare = spare_of(review, option, place);
    struct cells cells;
    const char *const words[] = { size->text,
                                  an_word_number(size->gpus).text,
                                  isnan(size->cost) ? "" : an_word_number(size->cost).text,
                                  size->judged.means,
                                  an_hold_text(size->judged.hold, size->judged.means_hold),
                                  isnan(spare) ? "" : an_word_number(spare).text };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        (void)snprintf(cells.text[i], sizeof cells.text[i], "%s", words[i]);
    (void)snprintf(cells.text[6], sizeof cells.text[6], "%u", size->runs);
    return cells;
}

/* One option that has no name needs no column. */
static bool has_names(const struct an_review *review)
{
    return review->options[0].name[0] != '\0';
}

static void write_row(FILE *out, const struct an_review *review,
                      const struct an_review_option *option, size_t index)
{
    const struct cells cells = cells_of(review, option, index);
    (void)fputs(index == option->safe ? "<tr class=\"chosen\">" : "<tr>", out);
    if (has_names(review))
        an_write_element(out, "td", index == 0 ? option->name : "");
    for (size_t c = 0; c < COLUMNS; c++)
        an_write_element(out, c == 3 || c == 4 ? "td class=\"text\"" : "td", cells.text[c]);
    (void)fputs("</tr>\n", out);
}

static void write_table(FILE *out, const struct an_review *review)
{
    (void)fputs("<h2 id=\"sizes\">What was tried</h2>\n<div class=\"scroll\"><table><thead><tr>",
                out);
    (void)fputs(has_names(review) ? "<th>Option</th>" : "", out);
    an_write_element(out, "th", review->points.axes[review->axis].path);
    for (size_t c = 1; c < COLUMNS; c++)
        an_write_element(out, c == 3 || c == 4 ? "th class=\"text\"" : "th", heads[c]);
    (void)fputs("</tr></thead><tbody>\n", out);
    for (size_t i = 0; i < review->count; i++)
        for (size_t k = 0; k < review->options[i].count; k++)
            write_row(out, review, &review->options[i], k);
    (void)fputs(
        "</tbody></table></div>\n<p class=\"note\">Holds, fails: the whole 95 % interval "
        "of every mean lies on that side of its bound. To spare: how far a value lies from "
        "the hardest that holds for certain (marked); of nodes, how many may be lost.</p>\n",
        out);
}

/* ---- notes ---- */

static void write_inline(FILE *out, const char *line, size_t length)
{
    char part[256];
    for (size_t done = 0; done < length; done += sizeof part - 1) {
        (void)snprintf(part, sizeof part, "%.*s", (int)(length - done), line + done);
        an_write_html(out, part);
    }
}

enum block { NOTHING, PARAGRAPH, ITEMS };

static void close_block(FILE *out, enum block *open)
{
    (void)fputs(*open == ITEMS ? "</ul>\n" : *open == PARAGRAPH ? "</p>\n" : "", out);
    *open = NOTHING;
}

static void write_heading(FILE *out, const char *text, size_t length)
{
    (void)fputs("<h3>", out);
    write_inline(out, text, length);
    (void)fputs("</h3>\n", out);
}

/* A line of a list or of a paragraph, which begins with it unless it is open. */
static void write_words(FILE *out, const char *text, size_t length, enum block *open, bool is_item)
{
    if (*open == NOTHING)
        (void)fputs(is_item ? "<ul>\n" : "<p>", out);
    *open = is_item ? ITEMS : PARAGRAPH;
    (void)fputs(is_item ? "<li>" : "", out);
    write_inline(out, is_item ? text + 2 : text, is_item ? length - 2 : length);
    (void)fputs(is_item ? "</li>\n" : "\n", out);
}

/* Headings, lists and paragraphs; all else is text. */
static void write_notes(FILE *out, const char *notes)
{
    enum block open = NOTHING;
    (void)fputs("<section class=\"notes\"><h2 id=\"notes\">Notes</h2>\n", out);
    for (const char *line = notes; *line != '\0';) {
        const size_t length = strcspn(line, "\r\n");
        const size_t marks = strspn(line, "#");
        const bool is_item = length > 1 && (line[0] == '-' || line[0] == '*') && line[1] == ' ';
        const bool is_head = marks > 0 && marks < 7 && line[marks] == ' ';
        const bool goes_on = length > 0 && !is_head && (open == ITEMS) == is_item;
        if (!goes_on)
            close_block(out, &open);
        if (is_head)
            write_heading(out, line + marks + 1, length - marks - 1);
        else if (length > 0)
            write_words(out, line, length, &open, is_item);
        line += length;
        line += *line == '\r' ? 1 : 0;
        line += *line == '\n' ? 1 : 0;
    }
    close_block(out, &open);
    (void)fputs("</section>\n", out);
}

/* ---- the page ---- */

static void write_item(FILE *out, const struct an_claim *claim)
{
    (void)fprintf(out, "<li data-claim=\"%s\">", claim->name);
    an_write_html(out, claim->text);
    (void)fputs(".</li>\n", out);
}

static void write_hint(FILE *out, const struct an_review *review)
{
    (void)fputs("<p class=\"note\">Nothing was sized here: ", out);
    (void)fputs(review->goal.condition_count == 0
                    ? "the goal of the scenario has no condition to meet, as <code>goal: {while: "
                      "[\"wait p95 &lt;= 30 min\"]}</code>.</p>\n"
                    : "<code>weir search SCENARIO --smallest PATH=FROM..TO:STEP</code> makes a "
                      "database that says how much is enough.</p>\n",
                out);
}

void an_page_review(const struct an_page *page, const char *notes)
{
    const struct an_review *review = page->review;
    if (review == NULL)
        return;
    if (review->count > 0) {
        (void)fputs("<h2 id=\"recommendation\">What to do</h2>\n<ul>\n", page->out);
        say_all(page->out, write_item, review);
        (void)fputs("</ul>\n", page->out);
    } else {
        write_hint(page->out, review);
    }
    if (notes != NULL && notes[0] != '\0')
        write_notes(page->out, notes);
    if (review->count == 0)
        return;
    write_table(page->out, review);
    if (!is_any_safe(review))
        return;
    (void)fputs("<h2 id=\"risks\">Risks</h2>\n<ul>\n", page->out);
    say_risks(page->out, write_item, review);
    (void)fputs("</ul>\n", page->out);
}

/* ---- Markdown ---- */

static void print_item(FILE *out, const struct an_claim *claim)
{
    (void)fputs("- ", out);
    an_write_markdown(out, claim->text, " ");
    (void)fputs(".\n", out);
}

static void print_cell(FILE *out, const char *text)
{
    an_write_markdown(out, text, " ");
    (void)fputs(" | ", out);
}

void an_review_print(const struct an_review *review, const char *scenario, FILE *out)
{
    struct an_claim headline;
    an_review_headline(review, &headline);
    (void)fputs("# ", out);
    an_write_markdown(out, scenario, " ");
    (void)fputs(": ", out);
    an_write_markdown(out, headline.text[0] == '\0' ? "capacity review" : headline.text, " ");
    (void)fputs("\n\n", out);
    if (review->count == 0) {
        (void)fputs("Nothing was sized here.\n", out);
        return;
    }
    say_all(out, print_item, review);
    (void)fprintf(out, "\n| option | %s |", review->points.axes[review->axis].path);
    for (size_t c = 1; c < COLUMNS; c++)
        (void)fprintf(out, " %s |", heads[c]);
    (void)fputs("\n|---|", out);
    for (size_t c = 0; c < COLUMNS; c++)
        (void)fputs("---|", out);
    for (size_t i = 0; i < review->count; i++)
        for (size_t k = 0; k < review->options[i].count; k++) {
            const struct cells cells = cells_of(review, &review->options[i], k);
            (void)fputs("\n| ", out);
            print_cell(out, review->options[i].name);
            for (size_t c = 0; c < COLUMNS; c++)
                print_cell(out, cells.text[c]);
        }
    (void)fputs(is_any_safe(review) ? "\n\n## Risks\n\n" : "\n", out);
    say_risks(out, print_item, review);
}
