/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of users (see expression.h), read by precedence with a stack of what is still open
 * (Dijkstra's shunting yard).
 */
#include "sched/queueing/parts/expression.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum operation {
    OP_NUMBER,
    OP_VARIABLE,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_NEGATE,
    OP_POWER,
    OP_LOG2,
    OP_LOG10,
    OP_LN,
    OP_SQRT,
    OP_EXP,
    OP_ABS,
    OP_MIN,
    OP_MAX,
    OP_OPEN /* a parenthesis; never in the result */
};

/* Numbers it takes, and how strongly it binds. */
static const struct {
    const char *name;
    uint32_t arity, strength;
} operations[] = {
    [OP_NUMBER] = { "", 0, 0 },     [OP_VARIABLE] = { "", 0, 0 },  [OP_ADD] = { "+", 2, 1 },
    [OP_SUBTRACT] = { "-", 2, 1 },  [OP_MULTIPLY] = { "*", 2, 2 }, [OP_DIVIDE] = { "/", 2, 2 },
    [OP_NEGATE] = { "-", 1, 3 },    [OP_POWER] = { "^", 2, 4 },    [OP_LOG2] = { "log2", 1, 9 },
    [OP_LOG10] = { "log10", 1, 9 }, [OP_LN] = { "ln", 1, 9 },      [OP_SQRT] = { "sqrt", 1, 9 },
    [OP_EXP] = { "exp", 1, 9 },     [OP_ABS] = { "abs", 1, 9 },    [OP_MIN] = { "min", 2, 9 },
    [OP_MAX] = { "max", 2, 9 },     [OP_OPEN] = { "(", 0, 0 },
};

enum { NAME = 32 };

struct reader {
    struct weir_expression *into;
    const char *text, *at;
    const char *const *names;
    uint32_t count;
    struct {
        uint32_t operation;
        uint32_t commas; /* of an OPEN: seen in it */
    } open[WEIR_EXPRESSION_STEPS];
    uint32_t depth;
    bool wants_number; /* else an operation */
    struct weir_error *error;
};

static weir_status refuse(const struct reader *reader, const char *what)
{
    return weir_fail(reader->error, WEIR_EINVAL, "character %zu: %s",
                     (size_t)(reader->at - reader->text) + 1, what);
}

/* ---- the result ---- */

static weir_status emit(struct reader *reader, const struct weir_expression_step *step)
{
    if (reader->into->count == WEIR_EXPRESSION_STEPS)
        return refuse(reader, "the expression is too long");
    reader->into->steps[reader->into->count++] = *step;
    return WEIR_OK;
}

static weir_status push(struct reader *reader, uint32_t operation)
{
    if (reader->depth == WEIR_EXPRESSION_STEPS)
        return refuse(reader, "the expression is nested too deeply");
    reader->open[reader->depth].operation = operation;
    reader->open[reader->depth++].commas = 0;
    return WEIR_OK;
}

static uint32_t top(const struct reader *reader)
{
    return reader->depth == 0 ? OP_OPEN : reader->open[reader->depth - 1].operation;
}

static weir_status pop(struct reader *reader)
{
    const struct weir_expression_step step = { .operation =
                                                   reader->open[--reader->depth].operation };

    return emit(reader, &step);
}

/* What binds at least so strongly is worked out first. */
static weir_status pop_stronger(struct reader *reader, uint32_t strength)
{
    while (top(reader) != OP_OPEN && operations[top(reader)].strength >= strength)
        WEIR_TRY(pop(reader));
    return WEIR_OK;
}

/* ---- names ---- */

/* Letters to change, add or leave out (Levenshtein), of short words. */
static uint32_t distance(const char *left, const char *right)
{
    uint32_t row[NAME + 1];
    const size_t width = strlen(right);

    for (uint32_t j = 0; j <= width && j <= NAME; j++)
        row[j] = j;
    for (uint32_t i = 0; left[i] != '\0'; i++) {
        uint32_t above = row[0]++;
        for (uint32_t j = 0; j < width && j < NAME; j++) {
            const uint32_t change = above + (left[i] != right[j]);
            above = row[j + 1];
            const uint32_t least = row[j] < row[j + 1] ? row[j] + 1 : row[j + 1] + 1;
            row[j + 1] = change < least ? change : least;
        }
    }
    return row[width < NAME ? width : NAME];
}

static void look_near(const char *name, const char *known, uint32_t *best, const char **near_name)
{
    const uint32_t away = distance(name, known);

    if (away >= *best)
        return;
    *best = away;
    *near_name = known;
}

static weir_status refuse_name(const struct reader *reader, const char *name)
{
    const char *near_name = NULL;
    uint32_t best = 3;
    char text[128];

    for (uint32_t i = 0; i < reader->count; i++)
        look_near(name, reader->names[i], &best, &near_name);
    for (uint32_t i = OP_LOG2; i < OP_OPEN; i++)
        look_near(name, operations[i].name, &best, &near_name);
    (void)snprintf(text, sizeof text, "there is no '%s'%s%s%s", name,
                   near_name == NULL ? "" : "; did you mean '", near_name == NULL ? "" : near_name,
                   near_name == NULL ? "" : "'?");
    return refuse(reader, text);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A variable, or a function with the parenthesis behind it. */
static weir_status read_name(struct reader *reader)
{
    char name[NAME] = "";
    size_t length = 0;

    while (is_letter(reader->at[length]) || is_digit(reader->at[length]))
        length++;
    if (length >= NAME)
        return refuse(reader, "the name is too long");
    memcpy(name, reader->at, length);
    for (uint32_t i = 0; i < reader->count; i++) {
        const struct weir_expression_step step = { .operation = OP_VARIABLE, .variable = i };
        if (strcmp(reader->names[i], name) != 0)
            continue;
        reader->at += length;
        reader->wants_number = false;
        return emit(reader, &step);
    }
    for (uint32_t i = OP_LOG2; i < OP_OPEN; i++) {
        if (strcmp(operations[i].name, name) != 0)
            continue;
        reader->at += length + strspn(reader->at + length, " \t");
        if (*reader->at != '(')
            return refuse(reader, "expected ( behind the function");
        reader->at++;
        WEIR_TRY(push(reader, i));
        return push(reader, OP_OPEN);
    }
    return refuse_name(reader, name);
}

/* ---- numbers and operations ---- */

static weir_status read_number(struct reader *reader)
{
    char *end = NULL;
    struct weir_expression_step step = { .operation = OP_NUMBER };
    const bool is_plain =
        strspn(reader->at, "0123456789.") > 0 && reader->at[1] != 'x' && reader->at[1] != 'X';

    if (is_plain)
        step.number = strtod(reader->at, &end);
    if (end == NULL || end == reader->at || !isfinite(step.number))
        return refuse(reader, "expected a number, a name or (");
    reader->at = end;
    reader->wants_number = false;
    return emit(reader, &step);
}

static weir_status read_operand(struct reader *reader)
{
    if (is_letter(*reader->at))
        return read_name(reader);
    if (*reader->at != '(' && *reader->at != '-')
        return read_number(reader);
    return push(reader, *reader->at++ == '(' ? OP_OPEN : OP_NEGATE);
}

/* Behind the parenthesis that is closed a function may wait for what is in it. */
static weir_status close_one(struct reader *reader)
{
    WEIR_TRY(pop_stronger(reader, 0));
    if (reader->depth == 0)
        return refuse(reader, ") without (");
    const uint32_t given = reader->open[--reader->depth].commas + 1;
    const uint32_t function = top(reader);
    const bool has_function = reader->depth > 0 && function >= OP_LOG2 && function < OP_OPEN;
    if (given != (has_function ? operations[function].arity : 1))
        return refuse(reader, has_function ? "another number of arguments is expected"
                                           : "a comma stands in a function only");
    reader->at++;
    return has_function ? pop(reader) : WEIR_OK;
}

static weir_status read_comma(struct reader *reader)
{
    WEIR_TRY(pop_stronger(reader, 0));
    if (reader->depth == 0)
        return refuse(reader, "a comma stands in a function only");
    reader->open[reader->depth - 1].commas++;
    reader->at++;
    reader->wants_number = true;
    return WEIR_OK;
}

static weir_status read_operation(struct reader *reader)
{
    if (*reader->at == ')')
        return close_one(reader);
    if (*reader->at == ',')
        return read_comma(reader);
    for (uint32_t i = OP_ADD; i <= OP_POWER; i++) {
        if (i == OP_NEGATE || *reader->at != operations[i].name[0])
            continue;
        /* a^b^c is a^(b^c) */
        WEIR_TRY(pop_stronger(reader, operations[i].strength + (i == OP_POWER)));
        reader->at++;
        reader->wants_number = true;
        return push(reader, i);
    }
    return refuse(reader, "expected an operation: + - * / ^");
}

weir_status weir_expression_read(struct weir_expression *expression, const char *text,
                                 const char *const *names, uint32_t count, struct weir_error *error)
{
    struct reader reader = { .into = expression,
                             .text = text,
                             .at = text,
                             .names = names,
                             .count = count,
                             .wants_number = true,
                             .error = error };

    expression->count = 0;
    for (;;) {
        reader.at += strspn(reader.at, " \t\n");
        if (*reader.at == '\0')
            break;
        WEIR_TRY(reader.wants_number ? read_operand(&reader) : read_operation(&reader));
    }
    if (reader.wants_number)
        return refuse(&reader, "expected a number, a name or (");
    WEIR_TRY(pop_stronger(&reader, 0));
    return reader.depth == 0 ? WEIR_OK : refuse(&reader, "expected )");
}

/* ---- its value ---- */

static double one(uint32_t operation, double x)
{
    switch (operation) {
    case OP_LOG2:
        return log2(x);
    case OP_LOG10:
        return log10(x);
    case OP_LN:
        return log(x);
    case OP_SQRT:
        return sqrt(x);
    case OP_EXP:
        return exp(x);
    case OP_ABS:
        return fabs(x);
    default:
        return -x;
    }
}

static double two(uint32_t operation, double x, double y)
{
    switch (operation) {
    case OP_ADD:
        return x + y;
    case OP_SUBTRACT:
        return x - y;
    case OP_MULTIPLY:
        return x * y;
    case OP_DIVIDE:
        return x / y;
    case OP_POWER:
        return pow(x, y);
    case OP_MIN:
        return fmin(x, y);
    default:
        return fmax(x, y);
    }
}

double weir_expression_value(const struct weir_expression *expression, const double *variables)
{
    double stack[WEIR_EXPRESSION_STEPS] = { 0.0 };
    uint32_t depth = 0;

    for (uint32_t i = 0; i < expression->count; i++) {
        const struct weir_expression_step *const step = &expression->steps[i];
        const uint32_t arity = operations[step->operation].arity;
        if (arity == 0)
            stack[depth++] =
                step->operation == OP_NUMBER ? step->number : variables[step->variable];
        else if (arity == 1)
            stack[depth - 1] = one(step->operation, stack[depth - 1]);
        else {
            depth--;
            stack[depth - 1] = two(step->operation, stack[depth - 1], stack[depth]);
        }
    }
    return depth == 1 ? stack[0] : (double)NAN;
}
