/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * See check.h. The folders come from the environment (WEIR_SOURCE_DIR, WEIR_SHARED), so that a
 * test program runs from anywhere; without it the source folder of the build counts.
 */
#include "tests/support/check.h"

#include <CUnit/TestDB.h>
#include <CUnit/TestRun.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE_SIZE = 1024, PATH_SIZE = 4096 };

/* What became of the cases of this program, and whether the one that runs was skipped. */
struct tally {
    unsigned int passed, failed, skipped, parts_skipped;
    unsigned int asserts_before;
    bool is_skipped;
};

/* CUnit's handlers have no argument for a state of ours, nor has test_skip(). */
static struct tally *tally(void)
{
    static struct tally cases;
    return &cases;
}

/* A line for the summary of `./dev test`, which counts cases and not programs. */
__attribute__((format(printf, 1, 2))) static void log_line(const char *format, ...)
{
    const char *path = getenv("WEIR_CASE_LOG");
    FILE *log = path != NULL ? fopen(path, "a") : NULL;
    va_list arguments;
    if (log == NULL)
        return;
    va_start(arguments, format);
    (void)vfprintf(log, format, arguments);
    va_end(arguments);
    (void)fclose(log);
}

static const char *running_case(void)
{
    const CU_pTest test = CU_get_current_test();
    return test != NULL ? test->pName : "";
}

static void skip(const char *reason)
{
    printf("SKIPPED: %s\n", reason);
    log_line("SKIPPED: %s: %s\n", running_case(), reason);
}

void test_skip(const char *reason)
{
    skip(reason);
    tally()->is_skipped = true;
}

void test_skip_part(const char *reason)
{
    skip(reason);
    tally()->parts_skipped++;
}

bool test_is_slow(void)
{
    const char *slow = getenv("WEIR_SLOW");
    return slow != NULL && slow[0] != '\0';
}

bool test_may_be_slow(void)
{
    if (!test_is_slow())
        test_skip("WEIR_SLOW=1 runs it");
    return test_is_slow();
}

static void start_case(const CU_pTest test, const CU_pSuite suite)
{
    (void)suite;
    tally()->is_skipped = false;
    tally()->asserts_before = CU_get_number_of_asserts();
    printf("%s\n", test->pName);
    (void)fflush(stdout);
}

/* A case fails by a failed check, and also when it checks nothing and does not say why. */
static void end_case(const CU_pTest test, const CU_pSuite suite, const CU_pFailureRecord failures)
{
    struct tally *const cases = tally();
    const bool is_empty = CU_get_number_of_asserts() == cases->asserts_before;
    (void)test;
    (void)suite;
    for (CU_pFailureRecord failure = failures; failure != NULL; failure = failure->pNext)
        printf("    %s:%u: %s\n", failure->strFileName, failure->uiLineNumber,
               failure->strCondition);
    if (failures == NULL && cases->is_skipped) {
        cases->skipped++;
        printf("    skipped\n");
    } else if (failures == NULL && !is_empty) {
        cases->passed++;
        printf("    passed\n");
    } else {
        cases->failed++;
        printf("    FAILED%s\n", is_empty ? ": it checks nothing" : "");
    }
}

/* CUnit's own way of running tells the failed checks alone; which cases were skipped, and whether
 * one checked anything at all, is seen here. */
static int run_cases(void)
{
    CU_set_test_start_handler(start_case);
    CU_set_test_complete_handler(end_case);
    return CU_run_all_tests() == CUE_SUCCESS ? 0 : 1;
}

int test_main(const char *suite, const struct test *tests, size_t count)
{
    enum { SKIPPED = 77 }; /* what ctest takes for a skipped program */
    if (CU_initialize_registry() != CUE_SUCCESS)
        return EXIT_FAILURE;
    CU_pSuite registered = CU_add_suite(suite, NULL, NULL);
    bool ready = registered != NULL && count > 0;
    for (size_t i = 0; ready && i < count; i++)
        ready = CU_add_test(registered, tests[i].name, tests[i].run) != NULL;
    if (ready)
        ready = run_cases() == 0;
    else
        (void)fprintf(stderr, "%s: cannot register the tests: %s\n", suite, CU_get_error_msg());
    CU_cleanup_registry();
    const struct tally *const cases = tally();
    ready = ready && cases->passed + cases->failed + cases->skipped == (unsigned int)count;
    const unsigned int skipped = cases->skipped + cases->parts_skipped;
    printf("%s: %u passed, %u failed, %u skipped\n", suite, cases->passed, cases->failed, skipped);
    log_line("CASES %u %u %u %s\n", cases->passed, cases->failed, skipped, suite);
    if (!ready || cases->failed > 0)
        return EXIT_FAILURE;
    return cases->passed > 0 ? EXIT_SUCCESS : SKIPPED;
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
