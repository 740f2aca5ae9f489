/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times of traces: exact numbers, dates, zones with summer time. */
#include "workloads/timestamp.h"
#include "tests/support/check.h"

#define S INT64_C(1000000000)

static void numbers_are_exact(void)
{
    static const struct {
        const char *text;
        int64_t unit_ns, time_ns;
    } cases[] = {
        { "0", S, 0 },
        { "1508223715.123456789", S, 1508223715 * S + 123456789 },
        { "-2.5", S, -2 * S - S / 2 },
        { ".25", S, S / 4 },
        { "7.", S, 7 * S },
        { "0.271762303", 3600 * S, 978344290800 },
        { "1e3", S, 1000 * S },
        { "9223372036.854775807", S, INT64_MAX },
        { "16.0", 1, 16 },
    };
    static const char *const refused[] = { "",    ".",          "-",   "1.2.3", "0x1",
                                           "nan", "inf",        "1 s", " 1 ",   "1e99",
                                           "--1", "9223372037", "1,5", "e5" };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t time_ns = -1;
        CHECK(wl_time_scan(cases[i].text, cases[i].unit_ns, &time_ns));
        CHECK_I64(time_ns, cases[i].time_ns);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        int64_t time_ns = 77;
        CHECK(!wl_time_scan(refused[i], S, &time_ns));
        CHECK_I64(time_ns, 77);
    }
}

static int64_t date_s(const char *text, const char *zone_text)
{
    struct wl_zone zone = { 0 };
    int64_t unix_ns = -1;
    CHECK(wl_zone_scan(zone_text, &zone));
    return wl_date_scan(text, &zone, &unix_ns) ? unix_ns / S : -1;
}

/* Known answers: date -u -d, TZ=America/Los_Angeles, TZ=Europe/Stockholm. */
static void dates_and_zones_are_read(void)
{
    CHECK_I64(date_s("2017-10-09 07:01:55", "Z"), 1507532515);
    CHECK_I64(date_s("2017/10/09T07:01:55.75", "+00:00"), 1507532515);
    CHECK_I64(date_s("2000-02-29 00:00", "Z"), 951782400);
    CHECK_I64(date_s("2000-03-01", "Z"), 951868800);
    CHECK_I64(date_s("2002-07-28 09:04:05", "+01:00 eu"), 1027839845);
    CHECK_I64(date_s("2017-11-05 00:59:59", "-08:00 us"), 1509868799);
    CHECK_I64(date_s("2017-11-05 02:00:00", "-08:00 us"), 1509876000);
    CHECK_I64(date_s("2017-03-12 01:59:59", "-08:00 us"), 1489312799);
    CHECK_I64(date_s("2017-03-12 03:00:00", "-08:00 us"), 1489312800);
    CHECK_I64(date_s("2017-10-29 01:59:59", "+01:00 eu"), 1509235199);
    CHECK_I64(date_s("2017-10-29 03:00:00", "+01:00 eu"), 1509242400);
    CHECK_I64(date_s("2017-10-09 07:01:55+02:00", "-08:00 us"), 1507525315);
    CHECK_I64(date_s("2017-10-09T07:01:55-0330", "Z"), 1507545115);
}

static void what_is_no_date_is_refused(void)
{
    static const char *const refused[] = {
        "",           "2017",       "2017-13-01",           "2017-02-29",           "2017-00-10",
        "1969-12-31", "2201-01-01", "2017-10-09 24:00:00",  "2017-10-09 07:60:00",  "2017-10-09 07",
        "17-10-09",   "2017-10-9",  "2017-10-09 07:01:55x", "2017-10-09 07:01:55.",
    };
    static const char *const zones[] = {
        "", "01:00", "+1", "+25:00", "+01:00 asia", "Europe/Paris"
    };
    struct wl_zone zone = { 0 };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        CHECK_I64(date_s(refused[i], "Z"), -1);
    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++)
        CHECK(!wl_zone_scan(zones[i], &zone));
}

static void dates_print_as_they_are_read(void)
{
    char text[WL_TIMESTAMP_TEXT];
    CHECK_STR(wl_date_text(1507532515 * S, text), "2017-10-09T07:01:55Z");
    for (int64_t day = 0; day < 84000; day += 17) {
        const int64_t unix_s = day * 86400 + day % 86400;
        CHECK_I64(date_s(wl_date_text(unix_s * S, text), "Z"), unix_s);
    }
}

static const struct test tests[] = {
    { "numbers keep every nanosecond", numbers_are_exact },
    { "dates are read in their zone, summer time included", dates_and_zones_are_read },
    { "what is no date is refused", what_is_no_date_is_refused },
    { "dates print as they are read, every day of 230 years", dates_print_as_they_are_read },
};
TEST_MAIN(tests)
