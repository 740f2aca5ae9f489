/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables and JSON: every format from the same rows, exact numbers, escaped text. */
#include "sim/cli/table.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *print_table(enum sim_format format)
{
    static const struct sim_column columns[] = { { "stage", "stage", NULL, false, false },
                                                 { "rate ±", "rate_per_s", "1/s", true, true } };
    static const char *const rows[][2] = { { "déjà, \"vu\"", "1.5" }, { "a|b", "-" } };
    struct sim_table *table = sim_table_create(columns, 2);
    for (size_t i = 0; i < 2; i++)
        sim_table_row(table, rows[i]);
    CHECK_I64(sim_table_rows(table), 2);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        abort();
    sim_table_print(table, format, out);
    (void)fclose(out);
    sim_table_destroy(table);
    return text;
}

static void one_table_prints_in_every_format(void)
{
    char *text = print_table(SIM_FORMAT_TABLE);
    CHECK_STR(text, "stage       rate ± [1/s]\n"
                    "déjà, \"vu\"           1.5\n"
                    "a|b                    -\n");
    free(text);
    text = print_table(SIM_FORMAT_CSV);
    CHECK_STR(text, "stage,rate_per_s\n\"déjà, \"\"vu\"\"\",1.5\na|b,-\n");
    free(text);
    text = print_table(SIM_FORMAT_MD);
    CHECK_STR(text,
              "| stage | rate ± [1/s] |\n|---|---:|\n| déjà, \"vu\" | 1.5 |\n| a\\|b | - |\n");
    free(text);
    text = print_table(SIM_FORMAT_JSON);
    CHECK(strstr(text, "\"rate_per_s\": 1.5") != NULL);
    CHECK(strstr(text, "\"rate_per_s\": null") != NULL);
    CHECK(strstr(text, "\"stage\": \"déjà, \\\"vu\\\"\"") != NULL);
    free(text);
}

static void numbers_are_rounded_for_people(void)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = { { 0, "0" },
                  { 0.7792, "0.7792" },
                  { 13118.2, "13118" },
                  { 1.5, "1.5" },
                  { 0.02584, "0.02584" },
                  { -2.25, "-2.25" },
                  { 123456789, "1.235e+08" } };
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_STR(sim_table_number(cases[i].value, 4, text, sizeof text), cases[i].text);
    CHECK_STR(sim_table_number((double)NAN, 4, text, sizeof text), "-");
}

static void json_is_exact_and_escaped(void)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        abort();
    struct sim_json json = { .out = out, .compact = true };
    sim_json_begin_object(&json);
    sim_json_key(&json, "numbers");
    sim_json_begin_array(&json);
    sim_json_number(&json, 0.001);
    sim_json_number(&json, 1.0 / 3);
    sim_json_number(&json, (double)NAN);
    sim_json_integer(&json, INT64_MIN);
    sim_json_unsigned(&json, UINT64_MAX);
    sim_json_end_array(&json);
    sim_json_key(&json, "text");
    sim_json_string(&json, "a\"b\\c\n\x01\xFF\xC3\xA9");
    sim_json_key(&json, "empty");
    sim_json_begin_object(&json);
    sim_json_end_object(&json);
    sim_json_key(&json, "none");
    sim_json_string(&json, NULL);
    sim_json_end_object(&json);
    (void)fclose(out);
    CHECK_STR(text, "{\"numbers\":[0.001,0.3333333333333333,null,-9223372036854775808,"
                    "18446744073709551615],\"text\":\"a\\\"b\\\\c\\n\\u0001\xEF\xBF\xBD\xC3\xA9\","
                    "\"empty\":{},\"none\":null}");
    free(text);
}

/* As many digits as asked for, wherever the point is. */
static void numbers_have_as_many_digits_as_asked_for(void)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = { { 1.23456789, "1.235" },   { 12.3456789, "12.35" },  { 123.456789, "123.5" },
                  { 0.123456789, "0.1235" }, { 0.0123456, "0.01235" }, { 1234.56789, "1235" },
                  { -98.7654321, "-98.77" } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        CHECK_STR(sim_table_number(cases[i].value, 4, text, sizeof text), cases[i].text);
    }
}

/* RFC 4180: a line break is inside quotes. What only begins like a number is none. */
static void cells_may_be_broken_or_half_a_number(void)
{
    static const struct sim_column columns[] = { { "a", "a", NULL, false, false },
                                                 { "b", "b", NULL, true, true } };
    static const char *const cells[] = { "two\nlines", "12 of 13" };
    static const enum sim_format formats[] = { SIM_FORMAT_CSV, SIM_FORMAT_MD, SIM_FORMAT_JSON };
    static const char *const texts[] = { "\"two\nlines\",12 of 13\n", "| two lines | 12 of 13 |",
                                         "\"b\": null" };
    for (size_t i = 0; i < 3; i++) {
        struct sim_table *table = sim_table_create(columns, 2);
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        if (out == NULL)
            abort();
        sim_table_row(table, cells);
        sim_table_print(table, formats[i], out);
        (void)fclose(out);
        CHECK(strstr(text, texts[i]) != NULL);
        sim_table_destroy(table);
        free(text);
    }
}

static const struct test tests[] = {
    { "one table prints in every format", one_table_prints_in_every_format },
    { "numbers are rounded for people", numbers_are_rounded_for_people },
    { "JSON is exact and escaped", json_is_exact_and_escaped },
    { "numbers have as many digits as asked for", numbers_have_as_many_digits_as_asked_for },
    { "cells may be broken or half a number", cells_may_be_broken_or_half_a_number },
};
TEST_MAIN(tests)
