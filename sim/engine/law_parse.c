/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text to law.
 *
 *     law      = number [unit] | name "(" arguments ")"
 *     number arguments, or for empirical: word "," word, for mixture: number ":" law {"," ...}
 *     word     = anything without , ( ) or " and blanks at its ends, or "quoted"
 *
 * Recursive descent over one cursor. The first mistake ends the parse; its message starts with the
 * position (bytes from 1) in the whole text, also inside a nested law. The canonical text has
 * quantities in base units, one blank after commas and colons, and reads back as the same law.
 */
#include "sim/engine/dist/registry.h"
#include "sim/engine/law.h"
#include "sim/engine/nearest.h"
#include "sim/engine/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8, PARTS_MAX = 1000 };

struct cursor {
    const char *text;
    const char *at;
    const struct sim_law_context *context;
    struct weir_error *error;
    unsigned depth;
};

static weir_status parse_law(struct cursor *cursor, struct sim_law **law);

/* Puts "position n: " in front of the message just written. */
static weir_status fail_at(const struct cursor *cursor, const char *at, weir_status status)
{
    weir_error_wrap(cursor->error, "position %zu", (size_t)(at - cursor->text) + 1);
    return status;
}

#define FAIL_AT(cursor, at, ...)                                                                   \
    ((void)weir_fail((cursor)->error, WEIR_EINVAL, __VA_ARGS__),                                   \
     fail_at((cursor), (at), WEIR_EINVAL))

static weir_status fail_memory(const struct cursor *cursor)
{
    weir_fail(cursor->error, WEIR_ENOMEM, "out of memory");
    return WEIR_ENOMEM;
}

/* --- words and signs ---------------------------------------------------------------------- */

static void skip_blanks(struct cursor *cursor)
{
    while (*cursor->at == ' ' || *cursor->at == '\t')
        cursor->at++;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static struct sim_word take_letters(struct cursor *cursor)
{
    const char *start = cursor->at;
    while (is_letter(*cursor->at))
        cursor->at++;
    return (struct sim_word){ start, (size_t)(cursor->at - start) };
}

static bool take_sign(struct cursor *cursor, char sign)
{
    skip_blanks(cursor);
    if (*cursor->at != sign)
        return false;
    cursor->at++;
    return true;
}

static weir_status expect_sign(struct cursor *cursor, char sign)
{
    if (take_sign(cursor, sign))
        return WEIR_OK;
    if (*cursor->at == '\0')
        return FAIL_AT(cursor, cursor->at, "expected '%c', found the end", sign);
    return FAIL_AT(cursor, cursor->at, "expected '%c', found '%c'", sign, *cursor->at);
}

/* --- numbers ------------------------------------------------------------------------------ */

/* A number, and its time unit where `is_quantity` and the law is one of time. */
static weir_status parse_number(struct cursor *cursor, const char *name, bool is_quantity,
                                double *value)
{
    skip_blanks(cursor);
    const char *start = cursor->at;
    double read = 0.0;
    const size_t length = sim_number_scan(start, &read);
    if (length == 0)
        return FAIL_AT(cursor, start, "%s: expected a number, found '%.16s'", name, start);
    cursor->at += length;
    skip_blanks(cursor);
    const char *unit_start = cursor->at;
    const struct sim_word unit = take_letters(cursor);
    if (unit.length > 0) {
        const int width = unit.length < 16 ? (int)unit.length : 16;
        if (!is_quantity || !cursor->context->is_time)
            return FAIL_AT(cursor, unit_start, "%s takes no unit, got '%.*s'", name, width,
                           unit.start);
        if (!sim_number_seconds(read, unit.start, unit.length, &read))
            return FAIL_AT(cursor, unit_start,
                           "%s: unknown time unit '%.*s' (use ns, us, ms, s, m, min, h or d)", name,
                           width, unit.start);
    }
    *value = read;
    return WEIR_OK;
}

static weir_status check_range(const struct cursor *cursor, const char *at,
                               const struct sim_law_parameter *parameter, double value)
{
    if (value < parameter->min) {
        if (!(parameter->min > SIM_LAW_POSITIVE) && parameter->min > 0.0)
            return FAIL_AT(cursor, at, "%s must be > 0, got %g", parameter->name, value);
        return FAIL_AT(cursor, at, "%s must be >= %g, got %g", parameter->name, parameter->min,
                       value);
    }
    if (value > parameter->max)
        return FAIL_AT(cursor, at, "%s must be <= %g, got %g", parameter->name, parameter->max,
                       value);
    return WEIR_OK;
}

static weir_status parse_parameter(struct cursor *cursor, struct sim_law *law, size_t index)
{
    const struct sim_law_parameter *parameter = &law->distribution->parameters[index];
    skip_blanks(cursor);
    const char *start = cursor->at;
    double value = 0.0;
    WEIR_TRY(parse_number(cursor, parameter->name, parameter->is_quantity, &value));
    WEIR_TRY(check_range(cursor, start, parameter, value));
    law->parameter[index] = value;
    return WEIR_OK;
}

/* --- canonical text ----------------------------------------------------------------------- */

static weir_status text_close(const struct cursor *cursor, FILE *out)
{
    const bool written = !ferror(out);
    return fclose(out) == 0 && written ? WEIR_OK : fail_memory(cursor);
}

static void write_word(FILE *out, const char *word)
{
    const size_t length = strlen(word);
    const bool plain = length > 0 && !strpbrk(word, ",()") && word[0] != ' ' && word[0] != '\t' &&
                       word[length - 1] != ' ' && word[length - 1] != '\t';
    fprintf(out, plain ? "%s" : "\"%s\"", word);
}

static weir_status write_parameters(const struct cursor *cursor, struct sim_law *law)
{
    size_t size = 0;
    FILE *out = open_memstream(&law->text, &size);
    if (!out)
        return fail_memory(cursor);
    fprintf(out, "%s(", law->distribution->name);
    for (size_t i = 0; i < law->distribution->parameter_count; i++) {
        char number[SIM_NUMBER_TEXT];
        if (!isnan(law->parameter[i]))
            fprintf(out, "%s%s", i > 0 ? ", " : "", sim_number_text(law->parameter[i], number));
    }
    fputc(')', out);
    return text_close(cursor, out);
}

/* --- the forms ---------------------------------------------------------------------------- */

static weir_status finish_numbers(struct cursor *cursor, struct sim_law *law, const char *start)
{
    if (law->distribution->check) {
        const weir_status status = law->distribution->check(law, cursor->error);
        if (status != WEIR_OK)
            return fail_at(cursor, start, status);
    }
    return write_parameters(cursor, law);
}

static size_t required_count(const struct sim_distribution *distribution)
{
    size_t count = 0;
    while (count < distribution->parameter_count && !distribution->parameters[count].is_optional)
        count++;
    return count;
}

/* Behind "name(". */
static weir_status parse_numbers(struct cursor *cursor, struct sim_law *law, const char *start)
{
    const struct sim_distribution *distribution = law->distribution;
    size_t count = 0;
    bool more = !take_sign(cursor, ')');
    while (more) {
        if (count == distribution->parameter_count)
            return FAIL_AT(cursor, cursor->at, "%s takes %zu parameters", distribution->name,
                           distribution->parameter_count);
        WEIR_TRY(parse_parameter(cursor, law, count));
        count++;
        more = take_sign(cursor, ',');
        if (!more)
            WEIR_TRY(expect_sign(cursor, ')'));
    }
    if (count < required_count(distribution))
        return FAIL_AT(cursor, start, "%s needs %s, got %zu of %zu parameters", distribution->name,
                       distribution->parameters[count].name, count, required_count(distribution));
    return finish_numbers(cursor, law, start);
}

/* A word of empirical(...) as a new string. */
static weir_status parse_word(struct cursor *cursor, const char *what, char **word)
{
    const bool quoted = take_sign(cursor, '"');
    const char *start = cursor->at;
    size_t length = strcspn(start, quoted ? "\"" : ",()\"");
    cursor->at += length;
    if (quoted && *cursor->at++ != '"')
        return FAIL_AT(cursor, start, "%s: the quote is never closed", what);
    while (!quoted && length > 0 && (start[length - 1] == ' ' || start[length - 1] == '\t'))
        length--;
    if (length == 0)
        return FAIL_AT(cursor, start, "%s is missing", what);
    *word = strndup(start, length);
    return *word ? WEIR_OK : fail_memory(cursor);
}

static weir_status load_sample(struct cursor *cursor, struct sim_law *law, const char *file,
                               const char *column)
{
    const char *folder = cursor->context->folder;
    if (!folder || file[0] == '/')
        return sim_empirical_load(law, file, column, cursor->error);
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, file) < 0)
        return fail_memory(cursor);
    const weir_status status = sim_empirical_load(law, path, column, cursor->error);
    free(path);
    return status;
}

static weir_status write_empirical(const struct cursor *cursor, struct sim_law *law,
                                   const char *file, const char *column)
{
    size_t size = 0;
    FILE *out = open_memstream(&law->text, &size);
    if (!out)
        return fail_memory(cursor);
    fputs("empirical(", out);
    write_word(out, file);
    fputs(", ", out);
    write_word(out, column);
    fputc(')', out);
    return text_close(cursor, out);
}

static weir_status parse_sample(struct cursor *cursor, struct sim_law *law, const char *start,
                                char **file, char **column)
{
    WEIR_TRY(parse_word(cursor, "file", file));
    WEIR_TRY(expect_sign(cursor, ','));
    WEIR_TRY(parse_word(cursor, "column", column));
    WEIR_TRY(expect_sign(cursor, ')'));
    const weir_status status = load_sample(cursor, law, *file, *column);
    if (status != WEIR_OK)
        return fail_at(cursor, start, status);
    return write_empirical(cursor, law, *file, *column);
}

static weir_status parse_empirical(struct cursor *cursor, struct sim_law *law, const char *start)
{
    char *file = NULL;
    char *column = NULL;
    const weir_status status = parse_sample(cursor, law, start, &file, &column);
    free(file);
    free(column);
    return status;
}

/* One "weight: law"; the weight is still as written. */
static weir_status parse_part(struct cursor *cursor, struct sim_law *law)
{
    static const struct sim_law_parameter weight = { .name = "weight",
                                                     .min = SIM_LAW_POSITIVE,
                                                     .max = SIM_LAW_LARGEST };
    skip_blanks(cursor);
    const char *start = cursor->at;
    if (law->part_count == PARTS_MAX)
        return FAIL_AT(cursor, start, "a mixture has at most %d parts", PARTS_MAX);
    struct sim_law_part part = { .law = NULL };
    WEIR_TRY(parse_number(cursor, weight.name, false, &part.weight));
    WEIR_TRY(check_range(cursor, start, &weight, part.weight));
    WEIR_TRY(expect_sign(cursor, ':'));
    struct sim_law_part *parts = realloc(law->parts, (law->part_count + 1) * sizeof *law->parts);
    if (!parts)
        return fail_memory(cursor);
    law->parts = parts;
    WEIR_TRY(parse_law(cursor, &part.law));
    law->parts[law->part_count++] = part;
    return WEIR_OK;
}

static weir_status write_mixture(const struct cursor *cursor, struct sim_law *law)
{
    size_t size = 0;
    FILE *out = open_memstream(&law->text, &size);
    if (!out)
        return fail_memory(cursor);
    fputs("mixture(", out);
    for (size_t i = 0; i < law->part_count; i++) {
        char number[SIM_NUMBER_TEXT];
        fprintf(out, "%s%s: %s", i > 0 ? ", " : "", sim_number_text(law->parts[i].weight, number),
                law->parts[i].law->text);
    }
    fputc(')', out);
    return text_close(cursor, out);
}

static void accumulate_weights(struct sim_law *law)
{
    double total = 0.0;
    for (size_t i = 0; i < law->part_count; i++)
        total += law->parts[i].weight;
    double sum = 0.0;
    for (size_t i = 0; i < law->part_count; i++) {
        sum += law->parts[i].weight;
        law->parts[i].weight = i + 1 < law->part_count ? sum / total : 1.0;
    }
}

static weir_status parse_mixture(struct cursor *cursor, struct sim_law *law)
{
    do {
        WEIR_TRY(parse_part(cursor, law));
    } while (take_sign(cursor, ','));
    WEIR_TRY(expect_sign(cursor, ')'));
    WEIR_TRY(write_mixture(cursor, law));
    accumulate_weights(law);
    return WEIR_OK;
}

/* --- dispatch ----------------------------------------------------------------------------- */

static weir_status fail_unknown(const struct cursor *cursor, struct sim_word name)
{
    const char *nearest = NULL;
    for (size_t i = 0; i < sim_distribution_count(); i++)
        nearest = sim_nearer(name, nearest, sim_distribution_at(i)->name);
    const int width = name.length < 32 ? (int)name.length : 32;
    if (nearest)
        return FAIL_AT(cursor, name.start, "unknown law '%.*s'; did you mean '%s'?", width,
                       name.start, nearest);
    return FAIL_AT(
        cursor, name.start,
        "unknown law '%.*s' (use const, exp, lognormal, gamma, weibull, pareto, uniform, "
        "normal, empirical or mixture)",
        width, name.start);
}

static const struct sim_distribution *find_distribution(struct sim_word name)
{
    for (size_t i = 0; i < sim_distribution_count(); i++) {
        const struct sim_distribution *candidate = sim_distribution_at(i);
        if (strlen(candidate->name) == name.length &&
            memcmp(candidate->name, name.start, name.length) == 0)
            return candidate;
    }
    return NULL;
}

static weir_status parse_form(struct cursor *cursor, struct sim_law *law)
{
    skip_blanks(cursor);
    const char *start = cursor->at;
    if (!is_letter(*start)) {
        law->distribution = &sim_distribution_const;
        WEIR_TRY(parse_parameter(cursor, law, 0));
        return finish_numbers(cursor, law, start);
    }
    const struct sim_word name = take_letters(cursor);
    law->distribution = find_distribution(name);
    if (!law->distribution)
        return fail_unknown(cursor, name);
    WEIR_TRY(expect_sign(cursor, '('));
    if (law->distribution == &sim_distribution_empirical)
        return parse_empirical(cursor, law, start);
    if (law->distribution == &sim_distribution_mixture)
        return parse_mixture(cursor, law);
    return parse_numbers(cursor, law, start);
}

static weir_status parse_law(struct cursor *cursor, struct sim_law **law)
{
    if (cursor->depth == DEPTH_MAX)
        return FAIL_AT(cursor, cursor->at, "laws nest at most %d deep", DEPTH_MAX);
    struct sim_law *made = calloc(1, sizeof *made);
    if (!made)
        return fail_memory(cursor);
    for (size_t i = 0; i < SIM_LAW_PARAMETERS; i++)
        made->parameter[i] = (double)NAN;
    cursor->depth++;
    const weir_status status = parse_form(cursor, made);
    cursor->depth--;
    if (status != WEIR_OK) {
        sim_law_destroy(made);
        return status;
    }
    *law = made;
    return WEIR_OK;
}

weir_status sim_law_parse(const char *text, const struct sim_law_context *context,
                          struct sim_law **law, struct weir_error *error)
{
    struct cursor cursor = { .text = text, .at = text, .context = context, .error = error };
    struct sim_law *made = NULL;
    WEIR_TRY(parse_law(&cursor, &made));
    skip_blanks(&cursor);
    if (*cursor.at != '\0') {
        sim_law_destroy(made);
        return FAIL_AT(&cursor, cursor.at, "unexpected '%.16s' after the law%s", cursor.at,
                       *cursor.at == '/' ? "; a rate of arrivals is {rate: 5/s}" : "");
    }
    *law = made;
    return WEIR_OK;
}
