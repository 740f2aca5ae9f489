/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text form of laws: what is read, what it is written back as, and every complaint.
 */
#include "sim/engine/law.h"
#include "sim/engine/nearest.h"
#include "sim/engine/number.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct sim_law_context TIME = { .is_time = true };
static const struct sim_law_context PLAIN = { .is_time = false };

struct reading {
    const char *text, *canonical;
    double mean, variance; /* NAN = not looked at */
};

static void texts_become_canonical(void)
{
    static const struct reading cases[] = {
        { "3.1", "const(3.1)", 3.1, 0 },
        { "3 s", "const(3)", 3, 0 },
        { "const(250ms)", "const(0.25)", 0.25, 0 },
        { "const(3 us)", "const(3e-06)", 3e-6, 0 },
        { "const(7 ns)", "const(7e-09)", 7e-9, 0 },
        { "exp(2 min)", "exp(120)", 120, 14400 },
        { "exp( 1.5m )", "exp(90)", 90, 8100 },
        { "const(1e-3 h)", "const(3.6)", 3.6, 0 },
        { "const(1d)", "const(86400)", 86400, 0 },
        { "  lognormal( 7.7 , 0.3 ) ", "lognormal(7.7, 0.3)", 7.7, 5.3361 },
        { "gamma(10 s, 2)", "gamma(10, 2)", 10, 400 },
        { "weibull(4 s,1)", "weibull(4, 1)", 4, 16 },
        { "pareto(2, 3)", "pareto(2, 3)", 3, 3 },
        { "pareto(2 s, 3, 1 min)", "pareto(2, 3, 60)", 2.99677765843, (double)NAN },
        { "uniform(1, 3)", "uniform(1, 3)", 2, 1.0 / 3 },
        { "normal(50, 0)", "normal(50, 0)", 50, 0 },
        { "mixture(1: 4, 3: exp(8))", "mixture(1: const(4), 3: exp(8))", 7, 51 },
        { "mixture(0.5: mixture(1: 1, 1: 3), 0.5: 4)",
          "mixture(0.5: mixture(1: const(1), 1: const(3)), 0.5: const(4))", 3, 1.5 },
        { "mixture(1: 1, 1: 2, 1: 3, 1: 4, 1: 5, 1: 6, 1: 7, 1: 8, 1: 9, 1: 10, 1: 11, 1: 12)",
          "mixture(1: const(1), 1: const(2), 1: const(3), 1: const(4), 1: const(5), 1: const(6), "
          "1: const(7), 1: const(8), 1: const(9), 1: const(10), 1: const(11), 1: const(12))",
          6.5, 11.916666666666664 },
        { "weibull(4, 2)", "weibull(4, 2)", 3.5449077018110318, 3.4336293856408275 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_law *law = NULL;
        struct weir_error error = { .text = "" };
        CHECK_I64(sim_law_parse(cases[i].text, &TIME, &law, &error), WEIR_OK);
        CHECK_STR(error.text, "");
        if (!law)
            continue;
        CHECK_STR(law->text, cases[i].canonical);
        CHECK_NEAR(sim_law_mean(law), cases[i].mean, 1e-9 * cases[i].mean);
        if (!isnan(cases[i].variance))
            CHECK_NEAR(sim_law_variance(law), cases[i].variance, 1e-9 * cases[i].variance + 1e-12);
        struct sim_law *again = NULL;
        CHECK_I64(sim_law_parse(law->text, &TIME, &again, NULL), WEIR_OK);
        CHECK_STR(again ? again->text : "", law->text);
        sim_law_destroy(again);
        sim_law_destroy(law);
    }
}

struct complaint {
    const char *text, *message;
};

static void check_complaints(const struct complaint *cases, size_t count,
                             const struct sim_law_context *context)
{
    for (size_t i = 0; i < count; i++) {
        struct sim_law *law = NULL;
        struct weir_error error = { .text = "" };
        CHECK(sim_law_parse(cases[i].text, context, &law, &error) != WEIR_OK);
        CHECK_STR(error.text, cases[i].message);
        CHECK(law == NULL);
        CHECK(sim_law_parse(cases[i].text, context, &law, NULL) != WEIR_OK);
    }
}

static void mistakes_are_named_with_their_position(void)
{
    static const struct complaint cases[] = {
        { "", "position 1: value: expected a number, found ''" },
        { "-3", "position 1: value must be >= 0, got -3" },
        { "nan",
          "position 1: unknown law 'nan' (use const, exp, lognormal, gamma, weibull, pareto, "
          "uniform, normal, empirical or mixture)" },
        { "0x10", "position 1: value: expected a number, found '0x10'" },
        { "1e999", "position 1: value: expected a number, found '1e999'" },
        { "1.2.3", "position 4: unexpected '.3' after the law" },
        { "3 parsecs",
          "position 3: value: unknown time unit 'parsecs' (use ns, us, ms, s, m, min, h "
          "or d)" },
        { "exp(0)", "position 5: mean must be > 0, got 0" },
        { "exp(-3)", "position 5: mean must be > 0, got -3" },
        { "exp(1, 2)", "position 7: exp takes 1 parameters" },
        { "exp()", "position 1: exp needs mean, got 0 of 1 parameters" },
        { "exp(2", "position 6: expected ')', found the end" },
        { "exp 2", "position 5: expected '(', found '2'" },
        { "exp(2 min] ", "position 10: expected ')', found ']'" },
        { "exp(2) + 1", "position 8: unexpected '+ 1' after the law" },
        { "exp(1e30)", "position 5: mean must be <= 1e+18, got 1e+30" },
        { "expo(2)", "position 1: unknown law 'expo'; did you mean 'exp'?" },
        { "lognorml(2, 1)", "position 1: unknown law 'lognorml'; did you mean 'lognormal'?" },
        { "Uniform(2, 1)", "position 1: unknown law 'Uniform'; did you mean 'uniform'?" },
        { "lognormal(7.7)", "position 1: lognormal needs cv, got 1 of 2 parameters" },
        { "lognormal(7.7, 0.3 s)", "position 20: cv takes no unit, got 's'" },
        { "gamma(1, -0.5)", "position 10: cv must be >= 0, got -0.5" },
        { "weibull(1, 0.01)", "position 12: shape must be >= 0.05, got 0.01" },
        { "uniform(3, 2)", "position 1: hi must be >= lo = 3, got 2" },
        { "pareto(3, 2, 3)", "position 1: max must be > min = 3, got 3" },
        { "pareto(3)", "position 1: pareto needs alpha, got 1 of 2 parameters" },
        { "mixture()", "position 9: weight: expected a number, found ')'" },
        { "mixture(1 4)", "position 11: expected ':', found '4'" },
        { "mixture(0: 4)", "position 9: weight must be > 0, got 0" },
        { "mixture(1 s: 4)", "position 11: weight takes no unit, got 's'" },
        { "mixture(1: 4, 2: exp(-1))", "position 22: mean must be > 0, got -1" },
        { "mixture(1: 4, 2: gama(1, 1))",
          "position 18: unknown law 'gama'; did you mean 'gamma'?" },
        { "empirical()", "position 11: file is missing" },
        { "empirical(a.csv)", "position 16: expected ',', found ')'" },
        { "empirical(a.csv, )", "position 18: column is missing" },
        { "empirical(\"a.csv, b)", "position 12: file: the quote is never closed" },
    };
    check_complaints(cases, sizeof cases / sizeof *cases, &TIME);
}

static void pure_numbers_take_no_units(void)
{
    static const struct complaint cases[] = {
        { "3 s", "position 3: value takes no unit, got 's'" },
        { "exp(2 min)", "position 7: mean takes no unit, got 'min'" },
    };
    check_complaints(cases, sizeof cases / sizeof *cases, &PLAIN);
}

static void deep_nesting_is_refused(void)
{
    char text[200] = "";
    for (int i = 0; i < 9; i++)
        strcat(text, "mixture(1:");
    strcat(text, "1");
    struct sim_law *law = NULL;
    struct weir_error error = { .text = "" };
    CHECK_I64(sim_law_parse(text, &TIME, &law, &error), WEIR_EINVAL);
    CHECK_STR(error.text, "position 81: laws nest at most 8 deep");
}

/* --- empirical ---------------------------------------------------------------------------- */

static void write_file(const char *path, const char *content, size_t length)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    if (!file)
        return;
    CHECK(fwrite(content, 1, length, file) == length);
    CHECK(fclose(file) == 0);
}

struct sample_case {
    const char *content;
    size_t length; /* 0: up to the terminator */
    const char *law;
    const char *message; /* NULL: accepted; "@" stands for the file */
    double mean;
};

static void check_message(const char *actual, const char *pattern, const char *path)
{
    char expected[WEIR_ERROR_TEXT];
    const char *at = strchr(pattern, '@');
    snprintf(expected, sizeof expected, "%.*s%s%s", (int)(at - pattern), pattern, path, at + 1);
    CHECK_STR(actual, expected);
}

static void check_sample(const struct sample_case *sample, const char *folder)
{
    char path[64];
    snprintf(path, sizeof path, "%s/a.csv", folder);
    write_file(path, sample->content, sample->length ? sample->length : strlen(sample->content));
    const struct sim_law_context context = { .is_time = true, .folder = folder };
    struct sim_law *law = NULL;
    struct weir_error error = { .text = "" };
    const weir_status status = sim_law_parse(sample->law, &context, &law, &error);
    if (sample->message) {
        CHECK(status != WEIR_OK);
        check_message(error.text, sample->message, path);
    } else if (CHECK_I64(status, WEIR_OK)) {
        CHECK_NEAR(sim_law_mean(law), sample->mean, 1e-12);
        CHECK_STR(law->text, sample->law);
    }
    sim_law_destroy(law);
    CHECK(unlink(path) == 0);
}

static void samples_come_from_a_column_named_in_the_header(void)
{
    static const char with_zero[] = "x,y\n1,2\0005\n";
    static const struct sample_case cases[] = {
        { "x,y\n1,10\n2,20\n6,30\n", 0, "empirical(a.csv, x)", NULL, 3 },
        { "x,y\n1,10\n2,20\n6,30", 0, "empirical(a.csv, y)", NULL, 20 },
        { "\xEF\xBB\xBFx,y\r\n1,10\r\n\r\n2,20\r\n", 0, "empirical(a.csv, x)", NULL, 1.5 },
        { "\"a, b\",y\n\"4\", 5 \n", 0, "empirical(a.csv, \"a, b\")", NULL, 4 },
        { "y\n 5 \n", 0, "empirical(a.csv, y)", NULL, 5 },
        { "x,y\n1,10\n\n2,eight\n", 0, "empirical(a.csv, y)",
          "position 1: @:4: column 'y': 'eight' is not a number", 0 },
        { "x,y\n1,\n", 0, "empirical(a.csv, y)", "position 1: @:2: column 'y': '' is not a number",
          0 },
        { "x,y\n1,0x10\n", 0, "empirical(a.csv, y)",
          "position 1: @:2: column 'y': '0x10' is not a number", 0 },
        { "x,y\n1,inf\n", 0, "empirical(a.csv, y)",
          "position 1: @:2: column 'y': 'inf' is not a number", 0 },
        { "x,y\n1,-2\n", 0, "empirical(a.csv, y)",
          "position 1: @:2: column 'y' must be >= 0, got -2", 0 },
        { "x,y\n1,2,3\n", 0, "empirical(a.csv, y)", "position 1: @:2: 3 fields, the header has 2",
          0 },
        { "x,y\n1,2\n4\n", 0, "empirical(a.csv, x)", "position 1: @:3: 1 fields, the header has 2",
          0 },
        { "duration,y\n1,2\n", 0, "empirical(a.csv, durations)",
          "position 1: @:1: no column 'durations'; did you mean 'duration'?", 0 },
        { "x,y\n1,2\n", 0, "empirical(a.csv, wait)", "position 1: @:1: no column 'wait'", 0 },
        { "x,x\n1,2\n", 0, "empirical(a.csv, x)", "position 1: @:1: column 'x' appears twice", 0 },
        { "x,y\n", 0, "empirical(a.csv, x)", "position 1: @:1: column 'x' has no values", 0 },
        { "", 0, "empirical(a.csv, x)", "position 1: @: column 'x' has no values", 0 },
        { with_zero, sizeof with_zero - 1, "empirical(a.csv, y)",
          "position 1: @:2: field 2 holds a zero byte", 0 },
    };
    char folder[] = "/tmp/weir_law_XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_sample(&cases[i], folder);
    CHECK(rmdir(folder) == 0);
}

static bool is_refused(const char *content, const char *folder, const char *expected)
{
    char path[64];
    snprintf(path, sizeof path, "%s/a.csv", folder);
    write_file(path, content, strlen(content));
    const struct sim_law_context context = { .folder = folder };
    struct sim_law *law = NULL;
    struct weir_error error = { .text = "" };
    const bool refused =
        sim_law_parse("empirical(a.csv, x)", &context, &law, &error) == WEIR_EFORMAT;
    CHECK(strstr(error.text, expected) != NULL);
    sim_law_destroy(law);
    CHECK(unlink(path) == 0);
    return refused;
}

/* A stray quote would otherwise swallow the rest of the file. */
static void broken_quotes_are_refused_with_their_line(void)
{
    char folder[] = "/tmp/weir_law_XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    CHECK(is_refused("x\n1\n\"2\"3\n4\n", folder, "a.csv:3: "));
    CHECK(is_refused("x\n1\n2\"3\n4\n", folder, "a.csv:3: "));
    CHECK(is_refused("x\n1\n\"2\n4\n", folder, "a.csv:4: "));
    CHECK(rmdir(folder) == 0);
}

static void a_missing_file_is_an_input_error(void)
{
    struct sim_law *law = NULL;
    struct weir_error error = { .text = "" };
    const struct sim_law_context context = { .folder = "/nowhere" };
    CHECK_I64(sim_law_parse("empirical(a.csv, x)", &context, &law, &error), WEIR_EIO);
    CHECK_STR(error.text, "position 1: /nowhere/a.csv: No such file or directory");
    CHECK_I64(sim_law_parse("empirical(/not/here.csv, x)", &context, &law, &error), WEIR_EIO);
    CHECK_STR(error.text, "position 1: /not/here.csv: No such file or directory");
}

/* --- registry, numbers, names ------------------------------------------------------------- */

static void the_registry_describes_every_distribution(void)
{
    CHECK_I64(sim_distribution_count(), 10);
    CHECK(sim_distribution_at(sim_distribution_count()) == NULL);
    for (size_t i = 0; i < sim_distribution_count(); i++) {
        const struct sim_distribution *distribution = sim_distribution_at(i);
        CHECK(strlen(distribution->name) > 0);
        CHECK(strlen(distribution->summary) > 0);
        CHECK(distribution->draw && distribution->variance && distribution->cdf);
        CHECK(distribution->parameter_count <= SIM_LAW_PARAMETERS);
        for (size_t p = 0; p < distribution->parameter_count; p++) {
            CHECK(distribution->parameters[p].name != NULL);
            CHECK(distribution->parameters[p].min < distribution->parameters[p].max);
        }
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(distribution->name, sim_distribution_at(j)->name) != 0);
    }
}

static void numbers_are_strict_decimals(void)
{
    static const struct {
        const char *text;
        size_t length;
        double value;
    } cases[] = {
        { "3", 1, 3 },       { "-3.5", 4, -3.5 }, { "+.5", 3, 0.5 }, { "5.", 2, 5 },
        { "1e3x", 3, 1000 }, { "1e-2", 4, 0.01 }, { "3em", 1, 3 },   { "042", 3, 42 },
        { "", 0, 0 },        { ".", 0, 0 },       { "-", 0, 0 },     { " 3", 0, 0 },
        { "inf", 0, 0 },     { "nan", 0, 0 },     { "0x10", 0, 0 },  { "1e999", 0, 0 },
        { "5x", 1, 5 },      { "1,5", 1, 1 },     { "1e+", 1, 1 },   { "--3", 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 0.0;
        CHECK_I64(sim_number_scan(cases[i].text, &value), cases[i].length);
        CHECK_NEAR(value, cases[i].value, 0.0);
    }
}

static void numbers_are_written_as_short_as_they_read_back(void)
{
    char text[SIM_NUMBER_TEXT];
    CHECK_STR(sim_number_text(0.1, text), "0.1");
    CHECK_STR(sim_number_text(120, text), "120");
    CHECK_STR(sim_number_text(0.1 + 0.2, text), "0.30000000000000004");
    CHECK_STR(sim_number_text(1e18, text), "1e+18");
}

/* A standard deviation above the mean. */
static void gamma_of_a_large_shape_is_nearly_normal(void)
{
    struct sim_law *law = NULL;
    CHECK_I64(sim_law_parse("gamma(10, 0.001)", &TIME, &law, NULL), WEIR_OK);
    CHECK_NEAR(sim_law_cdf(law, 10.01), 0.8413, 5e-4);
    CHECK_NEAR(sim_law_cdf(law, 9.99), 0.1587, 5e-4);
    sim_law_destroy(law);
}

static void near_names_are_found_within_two_edits(void)
{
    const struct sim_word gama = { "gamaXX", 4 };
    CHECK_I64(sim_edit_distance(gama, "gamma"), 1);
    CHECK_I64(sim_edit_distance(gama, "gama"), 0);
    CHECK_I64(sim_edit_distance((struct sim_word){ "kitten", 6 }, "sitting"), 3);
    CHECK_I64(sim_edit_distance((struct sim_word){ "", 0 }, "abc"), 3);
    CHECK(sim_nearer(gama, NULL, "uniform") == NULL);
    CHECK_STR(sim_nearer(gama, "gummi", "gamma"), "gamma");
    CHECK_STR(sim_nearer(gama, "gamba", "gamma"), "gamba"); /* of equally near ones the first */
    CHECK(sim_nearer((struct sim_word){ "a", 1 }, NULL, "b") == NULL); /* too short to guess */
    const struct sim_word a100 = { "A100", 4 };
    CHECK_STR(sim_nearer(a100, "h100", "a100-80"), "a100-80"); /* a beginning beats one letter */
    CHECK_STR(sim_nearer(a100, "a100-80", "h100"), "a100-80");
    CHECK_STR(sim_nearer(a100, "a100-80", "a100-40"), "a100-80");
    CHECK(sim_nearer(a100, NULL, "A1000000") == NULL);
}

static const struct test tests[] = {
    { "texts become canonical", texts_become_canonical },
    { "mistakes are named with their position", mistakes_are_named_with_their_position },
    { "pure numbers take no units", pure_numbers_take_no_units },
    { "deep nesting is refused", deep_nesting_is_refused },
    { "samples come from a column named in the header",
      samples_come_from_a_column_named_in_the_header },
    { "broken quotes are refused with their line", broken_quotes_are_refused_with_their_line },
    { "a missing file is an input error", a_missing_file_is_an_input_error },
    { "the registry describes every distribution", the_registry_describes_every_distribution },
    { "numbers are strict decimals", numbers_are_strict_decimals },
    { "numbers are written as short as they read back",
      numbers_are_written_as_short_as_they_read_back },
    { "gamma of a large shape is nearly normal", gamma_of_a_large_shape_is_nearly_normal },
    { "near names are found within two edits", near_names_are_found_within_two_edits },
};
TEST_MAIN(tests)
