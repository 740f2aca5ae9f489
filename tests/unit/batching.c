/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Batches of waiting requests: the known answers of the dynamic batcher, with one instance that
 * takes 20 ms for any batch, and what a batcher promises beside them.
 */
#include "weir/batching.h"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <stdio.h>
#include <string.h>

enum { MS = 1000000, SERVICE = 20, TEXT = 256, MOST = 32 };

/* What the policy is told beside its defaults. */
struct settings {
    double max_batch, preferred, max_delay_s, levels, timeout_s, delays, max_queue, ageing_s;
};

static struct weir_batcher *batcher_of(const struct settings *settings)
{
    const double values[] = { settings->max_batch,
                              settings->preferred > 0 ? 1 : 0,
                              settings->max_delay_s,
                              settings->levels > 0 ? settings->levels : 1,
                              1,
                              0,
                              settings->timeout_s,
                              settings->delays,
                              settings->max_queue,
                              settings->ageing_s,
                              settings->preferred };
    const struct weir_params params = { values, settings->preferred > 0 ? 11 : 10, 0 };
    struct weir_batcher *batcher = NULL;
    struct weir_error error = { .phase = -1 };

    if (!CHECK_I64(
            weir_batcher_create(weir_batching_find("dynamic"), &params, NULL, &batcher, &error),
            WEIR_OK))
        printf("    %s\n", error.text);
    return batcher;
}

/* A request that comes at a millisecond. */
struct arrival {
    int64_t at_ms;
    int32_t priority;
    uint64_t shape;
    uint32_t items; /* 0 = 1 */
};

/* What happened, as "at: ids" of batches, "-at: ids" of those whose time was over, "!at: id" of
 * those turned away. */
struct story {
    char text[TEXT];
};

static void tell(struct story *story, const char *mark, int64_t now_ns, const uint64_t *ids,
                 uint32_t count)
{
    size_t used = strlen(story->text);
    used += (size_t)snprintf(story->text + used, TEXT - used, "%s%s%lld:", used == 0 ? "" : " ",
                             mark, (long long)(now_ns / MS));
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(story->text + used, TEXT - used, "%s%llu", i == 0 ? "" : ",",
                                 (unsigned long long)ids[i]);
}

static void add(struct weir_batcher *batcher, const struct arrival *arrival, uint64_t id,
                struct story *story)
{
    const struct weir_batch_request request = { .size = sizeof request,
                                                .items = arrival->items > 0 ? arrival->items : 1,
                                                .id = id,
                                                .shape = arrival->shape,
                                                .queued_ns = arrival->at_ms * MS,
                                                .priority = arrival->priority };
    const weir_status status = weir_batcher_add(batcher, &request, NULL);

    if (status == WEIR_EBUSY)
        tell(story, "!", arrival->at_ms * MS, &id, 1);
    else
        CHECK_I64(status, WEIR_OK);
}

/* One instance, busy from `busy_ms` before the first request on for its service. */
static struct story served(const struct settings *settings, const struct arrival *arrivals,
                           uint32_t count, bool starts_busy)
{
    struct weir_batcher *const batcher = batcher_of(settings);
    struct story story = { "" };
    int64_t free_ns = starts_busy ? (int64_t)SERVICE * MS : 0;
    int64_t wake_ns = INT64_MAX;
    uint32_t next = 0;

    for (int64_t now_ns = 0; now_ns < 1000LL * MS; now_ns += MS) {
        const bool has_come = next < count && arrivals[next].at_ms * MS == now_ns;
        for (; next < count && arrivals[next].at_ms * MS == now_ns; next++)
            add(batcher, &arrivals[next], next, &story);
        if (!has_come && now_ns != free_ns && now_ns < wake_ns)
            continue;
        const struct weir_batch_query query = { .size = sizeof query,
                                                .has_instance = now_ns >= free_ns,
                                                .now_ns = now_ns };
        struct weir_batch batch;
        CHECK_I64(weir_batcher_next(batcher, &query, &batch, NULL), WEIR_OK);
        wake_ns = batch.wake_ns;
        if (batch.expired_count > 0)
            tell(&story, "-", now_ns, batch.expired, batch.expired_count);
        if (batch.count > 0) {
            tell(&story, "", now_ns, batch.ids, batch.count);
            free_ns = now_ns + (int64_t)SERVICE * MS;
        }
    }
    CHECK_I64(weir_batcher_waiting(batcher), 0);
    weir_batcher_destroy(batcher);
    return story;
}

#define SERVED(settings, arrivals, starts_busy)                                                    \
    served(&(settings), (arrivals), sizeof(arrivals) / sizeof((arrivals)[0]), (starts_busy)).text

/* ---- the known answers ---- */

static const struct settings usual = { .max_batch = 8, .preferred = 4, .max_delay_s = 0.010 };

/* covers: S3.26 */
static void four_requests_are_a_preferred_batch_and_go_at_once(void)
{
    const struct arrival arrivals[] = {
        { .at_ms = 0 }, { .at_ms = 1 }, { .at_ms = 2 }, { .at_ms = 3 }
    };

    CHECK_STR(SERVED(usual, arrivals, false), "3:0,1,2,3");
}

/* covers: S3.26 */
static void three_requests_go_when_the_delay_of_the_oldest_is_over(void)
{
    const struct arrival arrivals[] = { { .at_ms = 0 }, { .at_ms = 1 }, { .at_ms = 2 } };

    CHECK_STR(SERVED(usual, arrivals, false), "10:0,1,2");
}

/* covers: S3.26 */
static void without_a_delay_the_first_goes_alone_and_the_others_when_it_is_done(void)
{
    const struct settings settings = { .max_batch = 8, .preferred = 4 };
    const struct arrival arrivals[] = { { .at_ms = 0 }, { .at_ms = 1 }, { .at_ms = 2 } };

    CHECK_STR(SERVED(settings, arrivals, false), "0:0 20:1,2");
}

/* covers: S3.13 S3.26 */
static void an_urgent_request_goes_before_those_that_came_earlier(void)
{
    const struct settings settings = { .max_batch = 1, .levels = 2 };
    const struct arrival arrivals[] = { { .at_ms = 1, .priority = 75 },
                                        { .at_ms = 2, .priority = 75 },
                                        { .at_ms = 5, .priority = 95 } };

    CHECK_STR(SERVED(settings, arrivals, true), "20:2 40:0 60:1");
}

/* The least urgent of all, though nobody told a band for it. */
static void a_request_below_all_bands_is_served_last(void)
{
    const struct settings settings = { .max_batch = 1, .levels = 2 };
    const struct arrival arrivals[] = { { .at_ms = 1, .priority = 95 },
                                        { .at_ms = 2, .priority = 5 },
                                        { .at_ms = 3, .priority = 75 },
                                        { .at_ms = 4, .priority = 95 } };

    CHECK_STR(SERVED(settings, arrivals, false), "1:0 21:3 41:1 61:2");
}

/* covers: S3.26 */
static void requests_whose_time_is_over_are_turned_away(void)
{
    const struct settings settings = { .max_batch = 8, .timeout_s = 0.005 };
    const struct arrival arrivals[] = { { .at_ms = 1 }, { .at_ms = 2 } };

    CHECK_STR(SERVED(settings, arrivals, true), "-6:0 -7:1");
}

/* covers: S3.26 */
static void the_third_that_would_wait_is_turned_away_at_once(void)
{
    const struct settings settings = { .max_batch = 8, .max_queue = 2 };
    const struct arrival arrivals[] = { { .at_ms = 1 }, { .at_ms = 2 }, { .at_ms = 3 } };

    CHECK_STR(SERVED(settings, arrivals, true), "!3:2 20:0,1");
}

/* ---- what else there is ---- */

/* covers: S3.25 */
static void requests_of_another_shape_never_go_together(void)
{
    const struct arrival arrivals[] = { { .at_ms = 0, .shape = 1 },
                                        { .at_ms = 1, .shape = 1 },
                                        { .at_ms = 2, .shape = 2 },
                                        { .at_ms = 3, .shape = 2 } };

    CHECK_STR(SERVED(usual, arrivals, false), "2:0,1 22:2,3");
}

static void one_that_is_late_may_wait_on_behind_the_others(void)
{
    const struct settings settings = { .max_batch = 1, .timeout_s = 0.030, .delays = 1 };
    const struct arrival arrivals[] = {
        { .at_ms = 1 }, { .at_ms = 2 }, { .at_ms = 25 }, { .at_ms = 26 }
    };

    CHECK_STR(SERVED(settings, arrivals, true), "20:0 40:2 60:1 80:3");
}

static void a_batch_may_be_larger_than_preferred_once_it_is_late(void)
{
    const struct arrival arrivals[] = { { .at_ms = 1 }, { .at_ms = 2 }, { .at_ms = 3 },
                                        { .at_ms = 4 }, { .at_ms = 5 }, { .at_ms = 6 } };

    CHECK_STR(SERVED(usual, arrivals, true), "20:0,1,2,3,4,5");
}

static void what_would_go_beyond_the_preferred_size_is_left(void)
{
    const struct settings settings = { .max_batch = 8, .preferred = 4, .max_delay_s = 0.1 };
    const struct arrival arrivals[] = { { .at_ms = 0, .items = 3 }, { .at_ms = 1, .items = 3 } };

    CHECK_STR(SERVED(settings, arrivals, false), "1:0 101:1");
}

/* covers: S3.13 */
static void priorities_become_levels_by_their_bands(void)
{
    const struct settings settings = { .max_batch = 1, .levels = 4 };
    const struct arrival arrivals[] = {
        { .at_ms = 1, .priority = 10 }, { .at_ms = 1, .priority = 39 },
        { .at_ms = 2, .priority = 40 }, { .at_ms = 2, .priority = 69 },
        { .at_ms = 3, .priority = 70 }, { .at_ms = 3, .priority = 89 },
        { .at_ms = 4, .priority = 90 }, { .at_ms = 4, .priority = 100 }
    };

    CHECK_STR(SERVED(settings, arrivals, true), "20:6 40:7 60:4 80:5 100:2 120:3 140:0 160:1");
}

/* One of the last level counts as one of the first after 60 ms, and then goes before those that
 * came later. */
static void who_has_waited_long_counts_as_more_urgent(void)
{
    const struct settings settings = { .max_batch = 1, .levels = 4, .ageing_s = 0.020 };
    const struct arrival arrivals[] = {
        { .at_ms = 1, .priority = 10 },  { .at_ms = 2, .priority = 95 },
        { .at_ms = 21, .priority = 95 }, { .at_ms = 41, .priority = 95 },
        { .at_ms = 61, .priority = 95 }, { .at_ms = 62, .priority = 95 },
    };

    CHECK_STR(SERVED(settings, arrivals, true), "20:1 40:2 60:3 80:0 100:4 120:5");
}

static void a_fixed_batch_waits_until_it_is_full_or_nothing_comes(void)
{
    const double size = 3;
    const struct weir_params params = { &size, 1, 0 };
    struct weir_batcher *batcher = NULL;
    struct weir_batch batch;
    struct weir_batch_query query = { .size = sizeof query, .has_instance = 1 };
    struct weir_batch_request request = { .size = sizeof request, .items = 1 };

    CHECK_I64(weir_batcher_create(weir_batching_find("fixed"), &params, NULL, &batcher, NULL),
              WEIR_OK);
    for (; request.id < 5; request.id++)
        CHECK_I64(weir_batcher_add(batcher, &request, NULL), WEIR_OK);
    CHECK_I64(weir_batcher_next(batcher, &query, &batch, NULL), WEIR_OK);
    CHECK_I64(batch.count, 3);
    CHECK_I64(batch.ids[2], 2);
    CHECK_I64(weir_batcher_next(batcher, &query, &batch, NULL), WEIR_OK);
    CHECK_I64(batch.count, 0);
    CHECK(batch.wake_ns == INT64_MAX);
    query.is_last = 1;
    CHECK_I64(weir_batcher_next(batcher, &query, &batch, NULL), WEIR_OK);
    CHECK_I64(batch.count, 2);
    weir_batcher_destroy(batcher);
}

static void one_that_comes_back_stands_where_it_stood(void)
{
    struct weir_batcher *const batcher = batcher_of(&usual);
    struct weir_batch_request request = { .size = sizeof request, .items = 1 };
    uint64_t ids[MOST];

    for (request.id = 1; request.id < 4; request.id++) {
        request.queued_ns = (int64_t)request.id * MS;
        CHECK_I64(weir_batcher_add(batcher, &request, NULL), WEIR_OK);
    }
    CHECK_I64(weir_batcher_remove(batcher, 2), WEIR_OK);
    CHECK_I64(weir_batcher_remove(batcher, 2), WEIR_ENOTFOUND);
    request.id = 2;
    request.queued_ns = 2 * MS;
    CHECK_I64(weir_batcher_add(batcher, &request, NULL), WEIR_OK);
    weir_batcher_list(batcher, ids);
    for (uint64_t i = 0; i < 3; i++)
        CHECK_I64(ids[i], i + 1);
    weir_batcher_destroy(batcher);
}

static weir_status refused(const double *values, uint32_t count, const char *sentence)
{
    const struct weir_params params = { values, count, 0 };
    struct weir_batcher *batcher = NULL;
    struct weir_error error = { .phase = -1 };
    const weir_status status =
        weir_batcher_create(weir_batching_find("dynamic"), &params, NULL, &batcher, &error);

    if (!CHECK(strstr(error.text, sentence) != NULL))
        printf("    %s\n", error.text);
    weir_batcher_destroy(batcher);
    return status;
}

static void what_cannot_be_is_refused_with_a_sentence(void)
{
    const double too_large[] = { 8, 1, 0, 1, 1, 0, 0, 0, 0, 0, 9 };
    const double broken[] = { 8, 1, 0, 1, 1, 0, 0, 0, 0, 0, 2.5 };
    const double no_level[] = { 8, 0, 0, 2, 3, 0, 0, 0, 0, 0 };
    const double rising[] = { 8, 0, 0, 2, 1, 2, 0, 0, 0, 0, 10, 20 };
    const double many[] = { 8, 0, 0, 1, 1, 2, 0, 0, 0, 0, 20, 10 };
    struct weir_batcher *const batcher = batcher_of(&usual);
    const struct weir_batch_request request = { .size = sizeof request, .items = 9 };

    CHECK_I64(refused(too_large, 11, "preferred must be whole numbers from 1 to max_batch (8)"),
              WEIR_EINVAL);
    CHECK_I64(refused(broken, 11, "got 2.5"), WEIR_EINVAL);
    CHECK_I64(refused(no_level, 10, "default_level must be at most levels (2), got 3"),
              WEIR_EINVAL);
    CHECK_I64(refused(rising, 12, "bands must fall, got 20 after 10"), WEIR_EINVAL);
    CHECK_I64(refused(many, 12, "bands are more than levels (1), got 2"), WEIR_EINVAL);
    CHECK_I64(weir_batcher_add(batcher, &request, NULL), WEIR_EINVAL);
    weir_batcher_destroy(batcher);
}

/* Whatever allocation fails, what stood in it still does. */
static void running_out_of_memory_leaves_it_whole(void)
{
    bool has_failed = true;

    for (uint32_t n = 1; has_failed; n++) {
        struct test_memory memory = { .fail_at = n };
        const struct weir_allocator allocator = test_allocator(&memory);
        struct weir_batch_request request = { .size = sizeof request, .items = 1 };
        struct weir_batcher *batcher = NULL;
        uint32_t refused = 0;
        has_failed = weir_batcher_create(weir_batching_find("dynamic"), NULL, &allocator, &batcher,
                                         NULL) != WEIR_OK;
        for (; batcher != NULL && request.id < MOST; request.id++) {
            const weir_status status = weir_batcher_add(batcher, &request, NULL);
            CHECK(status == WEIR_OK || status == WEIR_ENOMEM);
            refused += status != WEIR_OK;
        }
        if (batcher != NULL)
            CHECK_I64(weir_batcher_waiting(batcher), MOST - refused);
        has_failed = has_failed || refused > 0;
        weir_batcher_destroy(batcher);
        CHECK_I64(memory.blocks, 0);
    }
}

static const struct test tests[] = {
    { "four requests are a preferred batch and go at once",
      four_requests_are_a_preferred_batch_and_go_at_once },
    { "three requests go when the delay of the oldest is over",
      three_requests_go_when_the_delay_of_the_oldest_is_over },
    { "without a delay the first goes alone and the others when it is done",
      without_a_delay_the_first_goes_alone_and_the_others_when_it_is_done },
    { "an urgent request goes before those that came earlier",
      an_urgent_request_goes_before_those_that_came_earlier },
    { "a request below all bands is served last", a_request_below_all_bands_is_served_last },
    { "requests whose time is over are turned away", requests_whose_time_is_over_are_turned_away },
    { "the third that would wait is turned away at once",
      the_third_that_would_wait_is_turned_away_at_once },
    { "requests of another shape never go together", requests_of_another_shape_never_go_together },
    { "one that is late may wait on behind the others",
      one_that_is_late_may_wait_on_behind_the_others },
    { "a batch may be larger than preferred once it is late",
      a_batch_may_be_larger_than_preferred_once_it_is_late },
    { "what would go beyond the preferred size is left",
      what_would_go_beyond_the_preferred_size_is_left },
    { "priorities become levels by their bands", priorities_become_levels_by_their_bands },
    { "who has waited long counts as more urgent", who_has_waited_long_counts_as_more_urgent },
    { "a fixed batch waits until it is full or nothing comes",
      a_fixed_batch_waits_until_it_is_full_or_nothing_comes },
    { "one that comes back stands where it stood", one_that_comes_back_stands_where_it_stood },
    { "what cannot be is refused with a sentence", what_cannot_be_is_refused_with_a_sentence },
    { "running out of memory leaves it whole", running_out_of_memory_leaves_it_whole },
};
TEST_MAIN(tests)
