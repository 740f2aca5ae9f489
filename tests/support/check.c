/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * See check.h. The folders come from the environment (WEIR_SOURCE_DIR, WEIR_SHARED), so that a
 * test program runs from anywhere; without it the source folder of the build counts.
 */
#include "tests/support/check.h"

#include <CUnit/Basic.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE_SIZE = 1024, PATH_SIZE = 4096 };

int test_main(const char *suite, const struct test *tests, size_t count)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return EXIT_FAILURE;
    CU_pSuite registered = CU_add_suite(suite, NULL, NULL);
    bool ready = registered != NULL && count > 0;
    for (size_t i = 0; ready && i < count; i++)
        ready = CU_add_test(registered, tests[i].name, tests[i].run) != NULL;
    if (ready) {
        CU_basic_set_mode(CU_BRM_VERBOSE);
        ready = CU_basic_run_tests() == CUE_SUCCESS;
    } else {
        (void)fprintf(stderr, "%s: cannot register the tests: %s\n", suite, CU_get_error_msg());
    }
    /* CU_basic_run_tests() returns success when tests fail; only the count tells. */
    const bool failed = !ready || CU_get_number_of_failures() != 0 ||
                        CU_get_number_of_tests_run() != (unsigned int)count;
    CU_cleanup_registry();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

void test_skip(const char *reason)
{
    printf("SKIPPED: %s\n", reason);
    const char *path = getenv("WEIR_SKIP_LOG");
    FILE *log = path != NULL ? fopen(path, "a") : NULL;
    if (log == NULL)
        return;
    (void)fprintf(log, "SKIPPED: %s\n", reason);
    (void)fclose(log);
}

static const char *source_dir(void)
{
    const char *folder = getenv("WEIR_SOURCE_DIR");
    return folder != NULL && folder[0] != '\0' ? folder : TEST_SOURCE_DIR;
}

const char *test_shared(const char *relative)
{
    static char path[PATH_SIZE];
    const char *shared = getenv("WEIR_SHARED");
    if (shared != NULL && shared[0] != '\0')
        (void)snprintf(path, sizeof path, "%s/%s", shared, relative);
    else
        (void)snprintf(path, sizeof path, "%s/../shared/%s", source_dir(), relative);
    return access(path, R_OK) == 0 ? path : NULL;
}

const char *test_data(const char *relative)
{
    static char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/tests/%s", source_dir(), relative);
    return path;
}

/* Counts one assertion and prints the message of a failed one. CUnit keeps the texts until the
 * registry is cleaned up and copies them, so a local buffer is enough. */
__attribute__((format(printf, 4, 5))) static bool assert_that(bool passed, const char *file,
                                                              int line, const char *format, ...)
{
    char message[MESSAGE_SIZE] = "";
    if (!passed) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(message, sizeof message, format, arguments);
        va_end(arguments);
    }
    (void)CU_assertImplementation(passed ? CU_TRUE : CU_FALSE, (unsigned int)line, message, file,
                                  "", CU_FALSE);
    return passed;
}

bool check_i64(int64_t actual, int64_t expected, const char *text, const char *file, int line)
{
    return assert_that(actual == expected, file, line, "%s is %lld, expected %lld", text,
                       (long long)actual, (long long)expected);
}

bool check_near(double actual, double expected, double tolerance, const char *text,
                const char *file, int line)
{
    /* The first case lets equal infinities pass; a NaN fails both. */
    const bool same = isinf(expected) && isinf(actual) && signbit(expected) == signbit(actual);
    const bool near = same || fabs(actual - expected) <= tolerance;
    return assert_that(near, file, line, "%s is %.17g, expected %.17g within %g (off by %g)", text,
                       actual, expected, tolerance, actual - expected);
}

bool check_str(const char *actual, const char *expected, const char *text, const char *file,
               int line)
{
    const bool same =
        actual != NULL && expected != NULL ? strcmp(actual, expected) == 0 : actual == expected;
    return assert_that(same, file, line, "%s is \"%s\", expected \"%s\"", text,
                       actual != NULL ? actual : "(null)", expected != NULL ? expected : "(null)");
}

bool check_true(bool value, const char *text, const char *file, int line)
{
    return assert_that(value, file, line, "%s does not hold", text);
}
