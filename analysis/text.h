/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers, durations and clock times as people read them, the same in sentences, tables and charts.
 * Results are small structs by value, so that they can stand inside a printf call.
 */
#ifndef ANALYSIS_TEXT_H
#define ANALYSIS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct an_word {
    char text[48];
};

/* Three significant digits, plain notation, groups of three split by a narrow space; "-" for NAN.
 */
struct an_word an_word_number(double value);
/* "62 %" from 0.62; one decimal below 10 %, and above 99 %. */
struct an_word an_word_percent(double ratio);
/* "1h30m", "3m20s", "45 s", "0.12 s", "20 µs", "2d4h". */
struct an_word an_word_duration(double seconds);
/* "01:20:00" since the start, days in front where needed. */
struct an_word an_word_elapsed(double seconds);
/* The time of day (UTC) when the run has a start time, from the second day on a stamp, as the
 * reader of moments takes it (moment.h); else elapsed time. */
struct an_word an_word_clock(int64_t start_unix_s, double seconds);
/* "18.3 GB", in powers of 1000. */
struct an_word an_word_bytes(double bytes);
/* Is it a size class of jobs: "cpu only", "share", "8 gpu"? */
bool an_is_size(const char *label);
/* "2 GPUs" for the size class "2 gpu", "all jobs" for "". */
struct an_word an_word_size(const char *label);
/* Value with its unit: ratios as percent, seconds as duration. */
struct an_word an_word_value(double value, const char *unit);

/* "≥ 3h" of a bound from below, "3h so far" of a mean of what was over alone. */
struct an_word an_word_known(struct an_word value, bool is_lower_bound, bool is_partial);

/* "" after one, else "s". */
static inline const char *an_plural(double count)
{
    return count > 1.0 - 1e-9 && count < 1.0 + 1e-9 ? "" : "s";
}

size_t an_characters(const char *text);
/* A name, or when it is longer than that what it begins and ends with around an ellipsis, in so
 * many characters. */
enum { AN_NAME_MOST = 40 /* characters that a word has room for */ };
struct an_word an_shorten(const char *name, size_t characters);
/* The same of a name that stands beside others: cut so that it could be none of them. Others may
 * hold the name itself. */
struct an_word an_shorten_among(const char *name, size_t characters, const char *const *others,
                                size_t count);

/* A text in Markdown: what would be HTML, or would end the cell of a table, stays text; a line ends
 * as `line_end` says. */
void an_write_markdown(FILE *out, const char *text, const char *line_end);

/* In place: bytes that are no UTF-8, control characters but line breaks and tabs, and what is not
 * seen (marks of direction, of joining, of order) become '?', so that nothing read from a file
 * steers a terminal or a page. */
void an_clean(char *text);

/* Text in HTML and SVG: & < > " are escaped. */
void an_write_html(FILE *out, const char *text);
/* A string of JSON with its quotes, fit to stand in an element of a page: no < and no &. */
void an_write_json(FILE *out, const char *text);
/* The text between a tag, with its attributes, and its end. */
void an_write_element(FILE *out, const char *tag, const char *text);

/* A growing text: fprintf to `file`, then an_text_take() gives the malloc'ed text or NULL. */
struct an_buffer {
    FILE *file;
    char *text;
    size_t length;
};
/* False when out of memory. */
int an_buffer_open(struct an_buffer *buffer);
char *an_buffer_take(struct an_buffer *buffer);

#endif
