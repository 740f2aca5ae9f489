/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers and times in words; see the header. Never touches the locale.
 */
#include "analysis/text.h"

#include "sim/files/utf8.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char narrow_space[] = "\u202f";

/* Copies the digits of an integer text in groups of three. */
static void group_digits(const char *digits, char *text, size_t capacity)
{
    const size_t length = strlen(digits);
    const size_t sign = digits[0] == '-';
    size_t used = 0;
    for (size_t i = 0; i < length && used + 4 < capacity; i++) {
        const bool is_split = i > sign && (length - i) % 3 == 0 && length - sign > 4;
        if (is_split) {
            memcpy(text + used, narrow_space, 3);
            used += 3;
        }
        text[used++] = digits[i];
    }
    text[used] = '\0';
}

struct an_word an_word_number(double value)
{
    struct an_word word = { "-" };
    if (isnan(value))
        return word;
    const double size = fabs(value);
    char digits[40];
    if (size >= 1e15) {
        (void)snprintf(word.text, sizeof word.text, "%.3g", value);
    } else if (size >= 99.95) {
        (void)snprintf(digits, sizeof digits, "%.0f", value);
        group_digits(digits, word.text, sizeof word.text);
    } else if (size < 1e-12) {
        (void)snprintf(word.text, sizeof word.text, "0");
    } else if (size < 1e-4) {
        (void)snprintf(word.text, sizeof word.text, "%.2e", value);
    } else {
        const int before = (int)floor(log10(size)) + 1;
        const int decimals = before >= 3 ? 0 : 3 - before;
        (void)snprintf(word.text, sizeof word.text, "%.*f", decimals, value);
        /* 4.00 -> 4, 0.500 -> 0.5: trailing zeros claim what nobody measured. */
        if (strchr(word.text, '.') != NULL) {
            size_t end = strlen(word.text);
            while (word.text[end - 1] == '0')
                end--;
            end -= word.text[end - 1] == '.';
            word.text[end] = '\0';
        }
    }
    return word;
}

struct an_word an_word_percent(double ratio)
{
    struct an_word word = { "-" };
    if (isnan(ratio))
        return word;
    const double percent = 100.0 * ratio;
    const bool is_small = fabs(percent) < 9.95 && fabs(percent) >= 0.05;
    const bool is_nearly_all = percent > 99.05 && percent < 99.95; /* and not all */
    const bool is_whole = fabs(percent - round(percent)) < 0.05;
    (void)snprintf(word.text, sizeof word.text, "%.*f\u00a0%%",
                   (is_small || is_nearly_all) && !is_whole ? 1 : 0, percent);
    return word;
}

struct an_word an_word_duration(double seconds)
{
    struct an_word word = { "-" };
    if (isnan(seconds))
        return word;
    const char *sign = seconds < 0.0 ? "-" : "";
    const double size = fabs(seconds);
    if (size > 0.0 && size < 0.09995) {
        const int step = size < 9.995e-7 ? 2 : size < 9.995e-4 ? 1 : 0;
        const char *const units[] = { "ms", "µs", "ns" };
        const double factors[] = { 1e3, 1e6, 1e9 };
        (void)snprintf(word.text, sizeof word.text, "%.40s\u00a0%s",
                       an_word_number(seconds * factors[step]).text, units[step]);
        return word;
    }
    if (size < 99.5) {
        (void)snprintf(word.text, sizeof word.text, "%.40s\u00a0s", an_word_number(seconds).text);
        return word;
    }
    const int64_t whole = (int64_t)llround(size);
    const int64_t d = whole / 86400;
    const int64_t h = whole / 3600 % 24;
    const int64_t m = whole / 60 % 60;
    const int64_t s = whole % 60;
    const long long parts[] = { d, h, m, s };
    const char units[] = "dhms";
    size_t first = 0;
    while (parts[first] == 0)
        first++;
    /* Two parts suffice: 2d4h, 1h30m, 3m20s. */
    const bool is_alone = first == 3 || parts[first + 1] == 0;
    if (is_alone)
        (void)snprintf(word.text, sizeof word.text, "%s%lld%s%c", sign, parts[first],
                       first == 3 ? " " : "", units[first]);
    else
        (void)snprintf(word.text, sizeof word.text, "%s%lld%c%lld%c", sign, parts[first],
                       units[first], parts[first + 1], units[first + 1]);
    return word;
}

struct an_word an_word_elapsed(double seconds)
{
    struct an_word word = { "-" };
    if (isnan(seconds))
        return word;
    const long long whole = (long long)floor(seconds);
    const long long days = whole / 86400;
    const long long rest = whole % 86400;
    if (days > 0)
        (void)snprintf(word.text, sizeof word.text, "%lldd %02lld:%02lld:%02lld", days, rest / 3600,
                       rest / 60 % 60, rest % 60);
    else
        (void)snprintf(word.text, sizeof word.text, "%02lld:%02lld:%02lld", rest / 3600,
                       rest / 60 % 60, rest % 60);
    return word;
}

struct an_word an_word_clock(int64_t start_unix_s, double seconds)
{
    if (start_unix_s == 0 || isnan(seconds))
        return an_word_elapsed(seconds);
    struct an_word word = { "-" };
    const time_t moment = (time_t)(start_unix_s + (int64_t)floor(seconds));
    struct tm parts;
    if (gmtime_r(&moment, &parts) != NULL)
        (void)strftime(word.text, sizeof word.text,
                       seconds < 86400.0 ? "%H:%M:%S" : "%Y-%m-%dT%H:%M:%SZ", &parts);
    return word;
}

struct an_word an_word_bytes(double bytes)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
    const size_t last = sizeof units / sizeof units[0] - 1;
    size_t unit = 0;
    for (; unit < last && fabs(bytes) >= 999.5; unit++)
        bytes /= 1000;
    struct an_word word = an_word_number(bytes);
    const size_t used = strlen(word.text);
    (void)snprintf(word.text + used, sizeof word.text - used, "\u00a0%s", units[unit]);
    return word;
}

bool an_is_size(const char *label)
{
    const size_t digits = strspn(label, "0123456789");
    return strcmp(label, "cpu only") == 0 || strcmp(label, "share") == 0 ||
           (digits > 0 && strcmp(label + digits, " gpu") == 0);
}

struct an_word an_word_known(struct an_word value, bool is_lower_bound, bool is_partial)
{
    struct an_word word;
    (void)snprintf(word.text, sizeof word.text, "%s%.34s%s", is_lower_bound ? "≥ " : "", value.text,
                   is_partial ? " so far" : "");
    return word;
}

struct an_word an_word_size(const char *label)
{
    struct an_word word;
    const int digits = (int)strspn(label, "0123456789");
    if (label[0] == '\0')
        (void)snprintf(word.text, sizeof word.text, "all jobs");
    else if (!an_is_size(label))
        return an_shorten(label, AN_NAME_MOST);
    else if (strcmp(label, "cpu only") == 0)
        (void)snprintf(word.text, sizeof word.text, "no GPU");
    else if (digits == 0)
        (void)snprintf(word.text, sizeof word.text, "a share of a GPU");
    else
        (void)snprintf(word.text, sizeof word.text, "%.*s GPU%s", digits, label,
                       strncmp(label, "1 ", 2) == 0 ? "" : "s");
    return word;
}

struct an_word an_word_value(double value, const char *unit)
{
    if (strcmp(unit, "ratio") == 0)
        return an_word_percent(value);
    if (strcmp(unit, "s") == 0)
        return an_word_duration(value);
    if (strcmp(unit, "GPU*s") == 0)
        return an_word_value(value / 3600.0, "GPU h");
    if (strcmp(unit, "B") == 0 && !isnan(value))
        return an_word_bytes(value);
    if (strcmp(unit, "pp") == 0)
        return an_word_value(value, "points");
    struct an_word word = an_word_number(value);
    const size_t used = strlen(word.text);
    if (unit[0] == '\0' || strcmp(unit, "-") == 0 || strcmp(unit, "1") == 0 ||
        strcmp(unit, "count") == 0 || isnan(value))
        return word;
    const size_t length = strlen(unit);
    const bool is_one = strcmp(word.text, "1") == 0 && length > 2 && unit[length - 1] == 's' &&
                        unit[length - 2] != ' '; /* "1 job" */
    if (strncmp(unit, "1/", 2) == 0)
        (void)snprintf(word.text + used, sizeof word.text - used, "%s", unit + 1);
    else
        (void)snprintf(word.text + used, sizeof word.text - used, " %.*s",
                       (int)(is_one ? length - 1 : length), unit);
    return word;
}

/* Of "a <= b" nothing does. */
static bool begins_html(const char *text)
{
    const int next = text[0] == '<' ? text[1] : '\0';
    return (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
           (next != '\0' && strchr("/!?", next) != NULL);
}

void an_write_markdown(FILE *out, const char *text, const char *line_end)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            (void)fputs(line_end, out);
            continue;
        }
        if (*text == '|' || *text == '\\' || begins_html(text))
            (void)fputc('\\', out);
        (void)fputc(*text, out);
    }
}

void an_clean(char *text)
{
    for (size_t length = 0; *text != '\0'; text += length) {
        uint32_t point = 0;
        length = sim_utf8_decode(text, &point);
        const bool is_fine =
            length > 0 && (point == '\n' || point == '\t' || !sim_utf8_is_unseen(point));
        length += length == 0 ? 1 : 0;
        if (!is_fine)
            memset(text, '?', length);
    }
}

/* Bytes of the first `characters` of a text. */
static size_t bytes_of(const char *text, size_t characters)
{
    size_t bytes = 0;
    for (size_t seen = 0; text[bytes] != '\0'; bytes++) {
        seen += ((unsigned char)text[bytes] & 0xc0) != 0x80;
        if (seen > characters)
            break;
    }
    return bytes;
}

size_t an_characters(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* A cut of a name: so much of its head and its tail is kept, or a part within. */
struct cut {
    const char *head, *tail;
    size_t head_bytes, tail_bytes;
    bool is_within; /* the head stands somewhere in it */
};

static struct cut cut_ends(const char *name, size_t head, size_t tail)
{
    const size_t from = bytes_of(name, an_characters(name) - tail);
    return (struct cut){ name, name + from, bytes_of(name, head), strlen(name + from), false };
}

static struct cut cut_within(const char *name, size_t first, size_t characters)
{
    const size_t from = bytes_of(name, first);
    return (struct cut){ name + from, "", bytes_of(name + from, characters), 0, true };
}

static bool could_be(const struct cut *cut, const char *name)
{
    const size_t length = strlen(name);
    if (cut->is_within)
        return memmem(name, length, cut->head, cut->head_bytes) != NULL;
    return length >= cut->head_bytes + cut->tail_bytes &&
           memcmp(name, cut->head, cut->head_bytes) == 0 &&
           memcmp(name + length - cut->tail_bytes, cut->tail, cut->tail_bytes) == 0;
}

struct others {
    const char *name;
    const char *const *items;
    size_t count;
};

static bool is_only(const struct cut *cut, const struct others *others)
{
    for (size_t i = 0; i < others->count; i++)
        if (strcmp(others->items[i], others->name) != 0 && could_be(cut, others->items[i]))
            return false;
    return true;
}

/* Two parts of the head and one of the tail; where that is not clear other parts, then what stands
 * within. */
static struct cut find_cut(const struct others *others, size_t kept)
{
    const size_t length = an_characters(others->name);
    const size_t third = kept / 3;
    const struct cut halves = cut_ends(others->name, kept - third, third);
    if (is_only(&halves, others))
        return halves;
    for (size_t tail = 0; tail < kept; tail++) {
        const struct cut cut = cut_ends(others->name, kept - tail, tail);
        if (is_only(&cut, others))
            return cut;
    }
    for (size_t first = 1; kept > 2 && first + kept <= length; first++) {
        const struct cut cut = cut_within(others->name, first, kept - 1);
        if (is_only(&cut, others))
            return cut;
    }
    return halves;
}

struct an_word an_shorten_among(const char *name, size_t characters, const char *const *others,
                                size_t count)
{
    struct an_word word;
    size_t room = characters;
    while (room > 1 && bytes_of(name, room) + 8 > sizeof word.text)
        room--;
    if (an_characters(name) <= room) {
        (void)snprintf(word.text, sizeof word.text, "%s", name);
        return word;
    }
    const struct cut cut = find_cut(&(struct others){ name, others, count }, room);
    (void)snprintf(word.text, sizeof word.text, "%s%.*s…%.*s", cut.is_within ? "…" : "",
                   (int)cut.head_bytes, cut.head, (int)cut.tail_bytes, cut.tail);
    return word;
}

struct an_word an_shorten(const char *name, size_t characters)
{
    return an_shorten_among(name, characters, NULL, 0);
}

void an_write_html(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        switch (*c) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        default:
            (void)fputc(*c, out);
        }
    }
}

void an_write_json(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        /* < and & so that no text ends the element it stands in. */
        if (byte < ' ' || strchr("\"\\<>&", *c) != NULL)
            (void)fprintf(out, "\\u%04x", byte);
        else
            (void)fputc(byte, out);
    }
    (void)fputc('"', out);
}

void an_write_element(FILE *out, const char *tag, const char *text)
{
    (void)fprintf(out, "<%s>", tag);
    an_write_html(out, text);
    (void)fprintf(out, "</%.*s>", (int)strcspn(tag, " "), tag);
}

int an_buffer_open(struct an_buffer *buffer)
{
    *buffer = (struct an_buffer){ 0 };
    buffer->file = open_memstream(&buffer->text, &buffer->length);
    return buffer->file != NULL;
}

char *an_buffer_take(struct an_buffer *buffer)
{
    if (buffer->file == NULL)
        return NULL;
    const bool is_broken = ferror(buffer->file) != 0;
    if (fclose(buffer->file) != 0 || is_broken) {
        free(buffer->text);
        buffer->text = NULL;
    }
    buffer->file = NULL;
    char *text = buffer->text;
    buffer->text = NULL;
    return text;
}
