/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions of users: what they are worth, and what is wrong with others. */
#include "sched/queueing/parts/expression.h"

#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = { "wait", "devices" };

static void expressions_have_their_value(void)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        { "7", 7 },
        { "1 + 2 * 3", 7 },
        { "(1 + 2) * 3", 9 },
        { "10 - 4 - 3", 3 },
        { "16 / 4 / 2", 2 },
        { "-2 ^ 2", -4 },
        { "2 ^ -1", 0.5 },
        { "2 ^ 3 ^ 2", 512 },
        { "- - 5", 5 },
        { "2 * -3", -6 },
        { "wait / devices", 2.5 },
        { "1.5e3", 1500 },
        { "min(wait, devices) + max(1, 2)", 6 },
        { "sqrt(devices) + abs(-1)", 3 },
        { "log2(8) + log10(1000) + ln(exp(2))", 8 },
        { "max(min(3, 1), (2))", 2 },
    };
    const double variables[] = { 10, 4 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weir_expression expression;
        struct weir_error error = { .phase = -1 };
        if (!CHECK(weir_expression_read(&expression, cases[i].text, names, 2, &error) == WEIR_OK) ||
            !CHECK_NEAR(weir_expression_value(&expression, variables), cases[i].value, 1e-12))
            printf("%s: %s\n", cases[i].text, error.text);
    }
}

static void mistakes_are_named_with_their_place(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "character 1: expected a number, a name or (" },
        { "1 +", "character 4: expected a number, a name or (" },
        { "1 2", "character 3: expected an operation: + - * / ^" },
        { "(1", "character 3: expected )" },
        { "1)", "character 2: ) without (" },
        { "wiat", "character 1: there is no 'wiat'; did you mean 'wait'?" },
        { "1 + sqr(2)", "character 5: there is no 'sqr'; did you mean 'sqrt'?" },
        { "elephants", "character 1: there is no 'elephants'" },
        { "sqrt 2", "character 6: expected ( behind the function" },
        { "min(1)", "character 6: another number of arguments is expected" },
        { "sqrt(1, 2)", "character 10: another number of arguments is expected" },
        { "(1, 2)", "character 6: a comma stands in a function only" },
        { "1, 2", "character 2: a comma stands in a function only" },
        { "0x10", "character 1: expected a number, a name or (" },
        { "$(ls)", "character 1: expected a number, a name or (" },
        { "1e999", "character 1: expected a number, a name or (" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weir_expression expression;
        struct weir_error error = { .phase = -1 };
        CHECK_I64(weir_expression_read(&expression, cases[i].text, names, 2, &error), WEIR_EINVAL);
        CHECK_STR(error.text, cases[i].says);
    }
}

/* 64 numbers and operations are the most, however they are nested. */
static void there_is_a_bound(void)
{
    struct weir_expression expression;
    struct weir_error error = { .phase = -1 };
    char text[WEIR_EXPRESSION_TEXT] = "";

    for (uint32_t i = 0; i < 31; i++)
        strcat(text, "1 + ");
    strcat(text, "1");
    CHECK_I64(weir_expression_read(&expression, text, names, 2, &error), WEIR_OK);
    CHECK_I64(expression.count, 63);
    strcat(text, " + 1");
    CHECK_I64(weir_expression_read(&expression, text, names, 2, &error), WEIR_EINVAL);
    memset(text, '(', 65);
    text[65] = '\0';
    CHECK_I64(weir_expression_read(&expression, text, names, 2, &error), WEIR_EINVAL);
    CHECK(strstr(error.text, "nested too deeply") != NULL);
}

static void what_is_no_number_is_none(void)
{
    struct weir_expression expression;
    const double variables[] = { 0, 0 };

    CHECK_I64(weir_expression_read(&expression, "wait / devices", names, 2, NULL), WEIR_OK);
    CHECK(isnan(weir_expression_value(&expression, variables)));
}

static const struct test tests[] = {
    { "expressions have their value", expressions_have_their_value },
    { "mistakes are named with their place", mistakes_are_named_with_their_place },
    { "there is a bound", there_is_a_bound },
    { "what is no number is none", what_is_no_number_is_none },
};
TEST_MAIN(tests)
