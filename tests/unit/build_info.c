/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The facts the build puts into the program: version and commit (sim/cli/build_info.h) and the
 * embedded texts (weir_text.h), which must be the bytes of their files.
 */
#include "sim/cli/build_info.h"
#include "tests/support/check.h"
#include "weir/version.h"
#include "weir_text.h"

#include <stdio.h>
#include <string.h>

static void version_is_that_of_the_library(void)
{
    CHECK_STR(sim_build_version(), WEIR_VERSION);
}

static void commit_is_twelve_digits_or_unknown(void)
{
    const char *commit = sim_build_commit();
    const size_t digits = strspn(commit, "0123456789abcdef");
    CHECK(strcmp(commit, "unknown") == 0 || (digits == 12 && commit[digits] == '\0'));
}

static void compiler_has_a_name_and_a_version(void)
{
    const char *space = strchr(sim_build_compiler(), ' ');
    CHECK(space != NULL && strspn(space + 1, "0123456789.") == strlen(space + 1));
    CHECK(space != NULL && space[1] != '\0');
}

static void embedded_schema_is_its_file(void)
{
    FILE *file = fopen(test_data("../sim/record/schema.sql"), "rb");
    CHECK(file != NULL);
    if (file == NULL)
        return;
    const char *text = weir_text_schema_sql;
    size_t equal = 0;
    int byte = getc(file);
    while (byte != EOF && text[equal] != '\0' && (unsigned char)text[equal] == byte) {
        equal++;
        byte = getc(file);
    }
    (void)fclose(file);
    CHECK_I64(byte, EOF);
    CHECK_I64(equal, strlen(text));
    CHECK(equal > 0);
}

static const struct test tests[] = {
    { "the version is that of the library", version_is_that_of_the_library },
    { "the commit is twelve digits or unknown", commit_is_twelve_digits_or_unknown },
    { "the compiler has a name and a version", compiler_has_a_name_and_a_version },
    { "the embedded schema is its file", embedded_schema_is_its_file },
};
TEST_MAIN(tests)
