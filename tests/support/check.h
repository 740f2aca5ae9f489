/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CUnit with values in its messages, and one main() for every test program.
 *
 * CUnit prints the failed expression but no values, its runner returns 0 when tests fail, and it
 * knows no skipped test; all three are mended here. A program all of whose cases were skipped exits
 * with 77. A test program lists its tests once:
 *
 *     static const struct test tests[] = { { "an empty queue pops nothing", empty_pops_nothing } };
 *     TEST_MAIN(tests)
 */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test {
    const char *name;
    void (*run)(void);
};

/* Registers and runs the tests; the exit code says whether any failed. */
int test_main(const char *suite, const struct test *tests, size_t count);

/* Says why the running case does not run, here or in the rest of it: it counts as skipped, not as
 * passed, unless a check fails. A case that checks nothing and is not skipped fails. */
void test_skip(const char *reason);

/* One of the things that a case goes through is left out; the case itself counts by its checks, the
 * part counts as one skipped. */
void test_skip_part(const char *reason);

/* WEIR_SLOW is set: minutes instead of a second. */
bool test_is_slow(void);

/* The same; otherwise the running case is skipped: `if (!test_may_be_slow()) return;`. */
bool test_may_be_slow(void);

/* A path below the shared known answers (WEIR_SHARED, default ../shared from the project root), or
 * NULL when it is not there. The result is static and overwritten by the next call. */
const char *test_shared(const char *relative);

/* A path below the project's tests folder. The result is static and overwritten. */
const char *test_data(const char *relative);

bool check_i64(int64_t actual, int64_t expected, const char *text, const char *file, int line);
bool check_near(double actual, double expected, double tolerance, const char *text,
                const char *file, int line);
bool check_str(const char *actual, const char *expected, const char *text, const char *file,
               int line);
bool check_true(bool value, const char *text, const char *file, int line);

#define CHECK(condition) check_true((condition), #condition, __FILE__, __LINE__)
#define CHECK_I64(actual, expected)                                                                \
    check_i64((int64_t)(actual), (int64_t)(expected), #actual, __FILE__, __LINE__)
#define CHECK_NEAR(actual, expected, tolerance)                                                    \
    check_near((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
#define CHECK_STR(actual, expected) check_str((actual), (expected), #actual, __FILE__, __LINE__)

#define TEST_MAIN(table)                                                                           \
    int main(void)                                                                                 \
    {                                                                                              \
        return test_main(__FILE__, (table), sizeof(table) / sizeof((table)[0]));                   \
    }

#endif
